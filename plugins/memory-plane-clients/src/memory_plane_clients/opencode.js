// Written by Memory Plane. It tells the memory what a turn was about and did, and OpenCode what the other agents did.
// Whatever goes wrong here is dropped: the agent must not notice.
import { spawn } from "node:child_process"

const SHIM = __SHIM__
const PATIENCE = 3000
const LONGEST = 200000

// Runs the shim with what happened; resolves with what it answered, "" after the deadline.
function tell(event, payload) {
  return new Promise((resolve) => {
    let said = ""
    const done = () => resolve(said)
    try {
      const words = [...SHIM.slice(1, -1), event, SHIM.at(-1)]
      const child = spawn(SHIM[0], words, { stdio: ["pipe", "pipe", "ignore"], timeout: PATIENCE })
      child.on("error", done)
      child.on("close", done)
      child.stdout.on("data", (chunk) => (said += chunk))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done()
    }
  })
}

const textOf = (parts) =>
  (parts ?? [])
    .filter((part) => part?.type === "text" && !part.synthetic && typeof part.text === "string")
    .map((part) => part.text)
    .join("\n")
    .slice(0, LONGEST)

export const MemoryPlane = async ({ client, directory }) => {
  const briefs = new Map() // session -> the brief that its next prompt is given
  return {
    "chat.message": async (input, output) => {
      const payload = { session_id: input.sessionID, cwd: directory, prompt: textOf(output?.parts) }
      const said = await tell("UserPromptSubmit", payload)
      try {
        const brief = JSON.parse(said)?.hookSpecificOutput?.additionalContext
        if (brief) briefs.set(input.sessionID, brief)
      } catch {}
    },
    "experimental.chat.system.transform": async (input, output) => {
      const brief = briefs.get(input?.sessionID)
      if (brief) output.system.push(brief)
    },
    event: async ({ event }) => {
      if (event?.type !== "session.idle") return
      const session = event.properties?.sessionID
      briefs.delete(session)
      try {
        const { data } = await client.session.messages({ path: { id: session } })
        const last = (role) => data.findLast((one) => one.info.role === role)
        const answer = last("assistant")
        await tell("idle", {
          session_id: session,
          message_id: answer?.info.id,
          cwd: directory,
          prompt: textOf(last("user")?.parts),
          answer: textOf(answer?.parts),
        })
      } catch {}
    },
  }
}
