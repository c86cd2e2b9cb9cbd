// deia for Amp: tells the hook of every tool call, in deia's generic JSON, and rejects a call that is held.
// Put this file into .amp/plugins/ and set DEIA_HOOK to the hook's command as a JSON list, for instance
// ["/usr/bin/python3", "-I", "-S", "/…/deia/serve/hook.py"]; without it `deia-hook` is looked for.
// Whatever goes wrong with the hook, Amp goes on as if it were not there. It is plain JavaScript, which TypeScript reads as well.
import { spawn } from "node:child_process"

const HOST = "amp"
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

export default function deia(amp) {
  amp.on("tool.call", async (event, context) => {
    const conversation = event?.thread?.id ?? event?.threadID ?? context?.thread?.id
    const about = { conversation, folder: process.cwd(), id: event?.toolUseID ?? event?.id }
    const { hold } = await ask({ event: "before_tool", ...about, tool: event?.tool, input: event?.input })
    return hold ? { action: "reject-and-continue", message: hold } : { action: "allow" }
  })
}
