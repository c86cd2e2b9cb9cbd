// deia for OpenCode: tells the hook what happens, in deia's generic JSON, and applies what it answers.
// Put this file into .opencode/plugins/ and set DEIA_HOOK to the hook's command as a JSON list, for instance
// ["/usr/bin/python3", "-I", "-S", "/…/deia/serve/hook.py"]; without it `deia-hook` is looked for.
// Whatever goes wrong with the hook, OpenCode goes on as if it were not there. It is plain JavaScript, which TypeScript reads as well.
import { spawn } from "node:child_process"

const HOST = "opencode"
const PATIENCE = 5_000 // milliseconds; the hook gives up by itself after one second

function command() {
  try {
    const told = JSON.parse(process.env.DEIA_HOOK ?? "")
    if (Array.isArray(told) && told.length && told.every((word) => typeof word === "string")) return told
  } catch {}
  return ["deia-hook"]
}

/** Gives what the hook answers, or an empty answer. */
export function ask(event) {
  return new Promise((resolve) => {
    const [program, ...rest] = command()
    const told = []
    try {
      const child = spawn(program, [...rest, HOST], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      const timer = setTimeout(() => child.kill(), PATIENCE)
      child.on("error", () => (clearTimeout(timer), resolve({})))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (part) => told.push(part))
      child.on("close", () => {
        clearTimeout(timer)
        try {
          const answer = JSON.parse(Buffer.concat(told).toString("utf8"))
          resolve(answer !== null && typeof answer === "object" ? answer : {})
        } catch {
          resolve({})
        }
      })
      child.stdin.end(JSON.stringify(event))
    } catch {
      resolve({})
    }
  })
}

export const Deia = async ({ directory }) => {
  const folder = directory ?? process.cwd()
  return {
    "chat.message": async (input, output) => {
      const parts = Array.isArray(output?.parts) ? output.parts : []
      const written = parts.filter((part) => part?.type === "text" && !part.synthetic)
      const text = written.map((part) => part.text).join("\n")
      if (!text) return
      const conversation = input?.sessionID ?? output?.message?.sessionID
      const { context } = await ask({ event: "prompt", conversation, folder, text, id: output?.message?.id })
      if (!context) return
      const last = written[written.length - 1] // a part of its own behind it leaves the person's words as they are
      parts.push({ ...last, id: `${last.id}deia`, text: context, synthetic: true })
    },
    event: async ({ event }) => {
      if (event?.type !== "session.compacted") return
      await ask({ event: "session", conversation: event.properties?.sessionID, folder, reset: true })
    },
    "tool.execute.before": async (input, output) => {
      const about = { conversation: input?.sessionID, folder, tool: input?.tool, id: input?.callID }
      const { hold } = await ask({ event: "before_tool", ...about, input: output?.args })
      if (hold) throw new Error(hold)
    },
    "tool.execute.after": async (input, output) => {
      const about = { conversation: input?.sessionID, folder, tool: input?.tool, id: input?.callID }
      const exit = output?.metadata?.exit
      const failed = output?.isError === true || (typeof exit === "number" && exit !== 0)
      const content = Array.isArray(output?.content) ? output.content : [] // of an MCP tool, which has no output
      const said = content.map((part) => part?.text).filter((text) => typeof text === "string")
      const text = typeof output?.output === "string" ? output.output : said.join("\n")
      const { context } = await ask({ event: "after_tool", ...about, input: input?.args, text, failed })
      if (!context) return
      if (typeof output?.output === "string") output.output = `${output.output}\n\n${context}`
      else if (Array.isArray(output?.content)) content.push({ type: "text", text: context })
    },
  }
}
