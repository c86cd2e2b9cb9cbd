// The official TypeScript client: everything that is listed, read and called once, over either transport.
// NODE_MODULES is the folder that holds @modelcontextprotocol/sdk.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.NODE_MODULES}/`);
const load = (path) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${path}.js`)).href);
const { Client } = await load("index");
const { StdioClientTransport } = await load("stdio");
const { StreamableHTTPClientTransport } = await load("streamableHttp");

const [kind, first, ...rest] = process.argv.slice(2);
const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(first))
    : new StdioClientTransport({ command: first, args: rest, env: process.env, cwd: process.cwd() });
const client = new Client({ name: "second", version: "1" });
await client.connect(transport);
const call = (name, given) => client.callTool({ name, arguments: given });
const calls = {
  query_global_commons: { query: "delete a site" },
  read_document: { document: "queue-purge" },
  check_triggers: { conversation: ["User: I will delete the shop site now"] },
  list_documents: {},
  save_lesson: { title: `Lesson by ${kind}`, text: "What was learned." },
  suggest_location: { text: "purging a queue" },
  feedback: { id: "queue-purge", verdict: "useful" },
  remove_document: { id: `lesson-by-${kind}` },
};
const answered = {};
for (const [name, given] of Object.entries(calls)) answered[name] = !(await call(name, given)).isError;
const resources = (await client.listResources()).resources.map((one) => one.uri);
for (const uri of [...resources, "deia://document/queue-purge", "deia://cluster/queues"]) {
  await client.readResource({ uri });
}
const prompts = {};
for (const { name, arguments: takes } of (await client.listPrompts()).prompts) {
  const given = Object.fromEntries(takes.filter((one) => one.required).map((one) => [one.name, "delete the shop site"]));
  prompts[name] = (await client.getPrompt({ name, arguments: given })).messages[0].content.text.length > 100;
}
const refused = (await call("read_document", { document: "nonesuch" })).isError;
const tools = (await client.listTools()).tools.map((one) => one.name);
console.log(JSON.stringify({ tools, answered, resources, prompts, refused }));
await client.close();
