// Runs the plugin as OpenCode does: `node opencode.mjs PLUGIN 1` (or 2) with [{session, parent, id, prompt, answer}] on stdin
// prints what was added to the system prompt of each request, two a turn. Time passes slower, for a machine that is busy.
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const [path, version] = process.argv.slice(2)
const later = globalThis.setTimeout
globalThis.setTimeout = (task, ms) => later(task, 20 * ms)
const { default: plugin } = await import(pathToFileURL(path))
const turns = JSON.parse(readFileSync(0, "utf8"))
const given = []

function parentOf(session) {
  if (session === "gone") throw new Error("no such session")
  return turns.find((turn) => turn.session === session).parent
}

async function one() {
  const get = async ({ path }) => ({ data: { id: path.id, parentID: parentOf(path.id) } })
  const hooks = await plugin.server({ client: { session: { get } }, directory: "/w/shop", worktree: "/" })
  for (const { session: sessionID, id, prompt, answer } of turns) {
    const parts = [
      { type: "text", text: prompt },
      { type: "text", text: "what a file holds", synthetic: true },
      { type: "file", url: "file:///w/shop/a" },
    ]
    await hooks["chat.message"]({ sessionID, agent: "build" }, { message: { id, role: "user" }, parts })
    for (const text of ["Let me look.", answer]) {
      const output = { system: ["You are OpenCode"] }
      await hooks["experimental.chat.system.transform"]({ sessionID, model: {} }, output)
      given.push(output.system.slice(1))
      await hooks["experimental.text.complete"]({ sessionID, messageID: "m", partID: "p" }, { text })
    }
    for (const type of ["session.status", "session.idle"]) await hooks.event({ event: { type, properties: { sessionID } } })
  }
  await hooks.dispose()
}

async function two() {
  const hooks = {}
  const events = []
  const session = {
    get: async ({ sessionID }) => ({ id: sessionID, parentID: parentOf(sessionID), location: { directory: "/w/shop" } }),
    hook: async (name, handler) => (hooks[name] = handler),
  }
  async function* subscribe({ signal }) {
    while (events.length || !signal.aborted) {
      if (events.length) yield events.shift()
      else await new Promise((resolve) => later(resolve, 5))
    }
  }
  const over = await plugin.setup({ session, event: { subscribe } })
  for (const { session: sessionID, id, prompt, answer } of turns) {
    await hooks.prompt({ sessionID, messageID: id, prompt: { text: prompt } })
    for (const text of ["Let me look.", answer]) {
      const event = { sessionID, system: [{ type: "text", text: "You are OpenCode" }] }
      await hooks.context(event)
      given.push(event.system.slice(1).map((part) => part.text))
      events.push({ type: "session.text.ended", data: { sessionID, text } })
    }
    events.push({ type: "session.execution.succeeded", data: { sessionID } })
    while (events.length) await new Promise((resolve) => later(resolve, 5))
  }
  await over()
}

await (version === "1" ? one() : two())
console.log(JSON.stringify(given))
