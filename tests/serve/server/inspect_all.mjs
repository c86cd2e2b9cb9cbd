// The Inspector's command line, several times in one process, which saves loading it for each: its own `runCli`.
//
//     node inspect_all.mjs < a JSON list of its arguments, one list for each time      prints a list of its outputs
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const place = `${process.env.NODE_MODULES}/@modelcontextprotocol/inspector/clients/cli/build/index.js`;
const { runCli } = await import(pathToFileURL(place).href);
const print = process.stdout.write.bind(process.stdout);
const outputs = [];
for (const given of JSON.parse(readFileSync(0, "utf8"))) {
  let said = "";
  process.stdout.write = (text, ...more) => {
    said += text;
    more.filter((one) => typeof one === "function").forEach((done) => done());
    return true;
  };
  await runCli(["node", "mcp-inspector", ...given]);
  outputs.push(JSON.parse(said));
}
print(JSON.stringify(outputs), () => process.exit(0));
