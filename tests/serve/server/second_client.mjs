// The official TypeScript clients: everything that is listed, read and called once, over either transport.
//
//     node second_client.mjs GENERATION stdio COMMAND… | http URL
//
// GENERATION is `handshake` (@modelcontextprotocol/sdk) or `stateless` (@modelcontextprotocol/client). NODE_MODULES is
// the folder that holds both.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.NODE_MODULES}/`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/${name}`)).href);
const about = { name: "second", version: "1" };
const able = { capabilities: { elicitation: {} } };
const asked = [];
const agree = async (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: { proceed: true } };
};

async function handshake() {
  const { Client } = await load("sdk/client/index.js");
  const { ElicitRequestSchema } = await load("sdk/types.js");
  const { StdioClientTransport } = await load("sdk/client/stdio.js");
  const { StreamableHTTPClientTransport } = await load("sdk/client/streamableHttp.js");
  const client = new Client(about, able);
  client.setRequestHandler(ElicitRequestSchema, agree);
  return { client, StdioClientTransport, StreamableHTTPClientTransport };
}

async function stateless() {
  const { Client, StreamableHTTPClientTransport } = await load("client");
  const { StdioClientTransport } = await load("client/stdio");
  const client = new Client(about, { ...able, versionNegotiation: { mode: { pin: "2026-07-28" } } });
  client.setRequestHandler("elicitation/create", agree);
  return { client, StdioClientTransport, StreamableHTTPClientTransport };
}

const [generation, kind, first, ...rest] = process.argv.slice(2);
const { client, StdioClientTransport, StreamableHTTPClientTransport } = await { handshake, stateless }[generation]();
const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(first), {
        requestInit: { headers: { Authorization: `Bearer ${process.env.SHOWN}` } },
      })
    : new StdioClientTransport({ command: first, args: rest, env: process.env, cwd: process.cwd() });
await client.connect(transport);
const call = (name, given) => client.callTool({ name, arguments: given });
const calls = {
  query_global_commons: { query: "delete a site" },
  answer: { question: "How is a site deleted?" },
  read_document: { document: "queue-purge" },
  check_triggers: { conversation: ["User: I will delete the shop site now"] },
  list_documents: {},
  save_lesson: { title: `Lesson by ${generation} ${kind}`, text: "What was learned." },
  suggest_location: { text: "purging a queue" },
  feedback: { id: "queue-purge", verdict: "useful" },
  index_source: { source: "pumps.md", content: "# Pumps" },
  list_sources: {},
  entities: {},
  relations: { entity: "bok/queues/queue-purge.md" },
  trace: { entity: "bok/queues/queue-purge.md" },
  path: { from: "bok/queues/queue-purge.md", to: "bok/queues/queue-purge.md" },
  stats: {},
  export: {},
  protocol: { step: "audit" },
  repair: {},
  remove_document: { id: `lesson-by-${generation}-${kind}` },
};
const answered = {};
for (const [name, given] of Object.entries(calls)) answered[name] = !(await call(name, given)).isError;
const resources = (await client.listResources()).resources.map((one) => one.uri);
const templates = (await client.listResourceTemplates()).resourceTemplates.length;
const read = {};
for (const uri of [...resources, "deia://document/queue-purge", "deia://cluster/queues"]) {
  read[uri] = (await client.readResource({ uri })).contents[0].text.length;
}
const prompts = {};
for (const { name, arguments: takes } of (await client.listPrompts()).prompts) {
  const given = Object.fromEntries(takes.filter((one) => one.required).map((one) => [one.name, "delete the shop site"]));
  prompts[name] = (await client.getPrompt({ name, arguments: given })).messages[0].content.text.length > 100;
}
const refused = (await call("read_document", { document: "nonesuch" })).isError;
const tools = (await client.listTools()).tools.map((one) => one.name);
const server = client.getServerVersion()?.name;
console.log(JSON.stringify({ server, tools, answered, asked, templates, read, prompts, refused }));
await client.close();
