// Written by Memory Plane, for OpenCode 1 (from 1.18.29 on) and 2. It tells the memory what a turn was about and did, and
// the turn what the other agents did. Whatever goes wrong here is dropped: the agent must not notice.
import { spawn } from "node:child_process"

const SHIM = __SHIM__
const PATIENCE = 3000 // milliseconds that a turn waits for it at most
const LONGEST = 200000 // characters of a prompt or an answer
const MOST = 100 // turns that are under way

// Runs the shim with what happened; resolves with what it answered.
function tell(event, turn) {
  return new Promise((resolve) => {
    let said = ""
    const child = spawn(SHIM[0], [...SHIM.slice(1, -1), event, SHIM.at(-1)], {
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    })
    const late = setTimeout(() => child.kill(), PATIENCE)
    const done = () => (clearTimeout(late), resolve(said))
    child.on("error", done).on("close", done)
    child.stdout.on("data", (chunk) => (said += chunk))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ turn }))
  }).catch(() => "")
}

// `opencode run` puts each word of its command line that has a space in it between quotes.
function asTyped(prompt) {
  const inner = prompt.match(/^"((?:[^"]|(?<=\\)")*)"$/)?.[1]
  return inner === undefined ? prompt : inner.replaceAll('\\"', '"')
}

const quietly =
  (task) =>
  async (...words) => {
    try {
      await task(...words)
    } catch {}
  }

// The turns that are under way, by their session. `about` says where a session works, and which one began it.
// The system prompt is made anew for each request, so it holds the whole page each time: the shim, which would tell a
// session only what is new, is asked as at a start and is not shown which session asks.
function watch(about) {
  const turns = new Map()
  return {
    async asked(session, id, prompt) {
      turns.delete(session)
      const { folder, parent } = await about(session)
      if (parent) return // what one agent asks another is no word of the person's
      const turn = { session, id, folder, prompt: asTyped(prompt).slice(0, LONGEST) }
      if (turns.size >= MOST) turns.delete(turns.keys().next().value)
      turns.set(session, turn)
      const said = await tell("SessionStart", turn)
      turn.page = JSON.parse(said).hookSpecificOutput?.additionalContext
    },
    page: (session) => turns.get(session)?.page,
    said(session, text) {
      const turn = turns.get(session)
      if (turn) turn.answer = text.slice(0, LONGEST)
    },
    async done(session) {
      const { page, ...turn } = turns.get(session) ?? {}
      turns.delete(session)
      if (turn.answer) await tell("Stop", turn)
    },
  }
}

const textOf = (parts) =>
  parts
    .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
    .map((part) => part.text)
    .join("\n")

// OpenCode 1 calls this.
async function server({ client, directory }) {
  let told = Promise.resolve()
  const memory = watch(async (id) => {
    const { data } = await client.session.get({ path: { id } })
    return { folder: directory, parent: data?.parentID }
  })
  return {
    "chat.message": quietly((input, { message, parts }) => memory.asked(input.sessionID, message.id, textOf(parts))),
    "experimental.chat.system.transform": quietly((input, { system }) => {
      const page = memory.page(input.sessionID)
      if (page) system.push(page)
    }),
    "experimental.text.complete": quietly((input, { text }) => memory.said(input.sessionID, text)),
    event: quietly(({ event }) => {
      if (event.type === "session.idle") told = Promise.all([told, memory.done(event.properties.sessionID)])
    }),
    dispose: () => told,
  }
}

// OpenCode 2 calls this.
async function setup(ctx) {
  const memory = watch(async (sessionID) => {
    const session = await ctx.session.get({ sessionID })
    return { folder: session.location?.directory, parent: session.parentID }
  })
  await ctx.session.hook(
    "prompt",
    quietly((event) => memory.asked(event.sessionID, event.messageID, event.prompt.text)),
  )
  await ctx.session.hook(
    "context",
    quietly((event) => {
      const text = memory.page(event.sessionID)
      if (text) event.system.push({ type: "text", text })
    }),
  )
  const over = new AbortController()
  const listen = quietly(async () => {
    for await (const { type, data } of ctx.event.subscribe({ signal: over.signal })) {
      if (type === "session.text.ended") memory.said(data.sessionID, data.text)
      else if (type === "session.execution.succeeded") await memory.done(data.sessionID)
    }
  })
  const listening = listen()
  return () => (over.abort(), listening)
}

export default { id: "memory-plane", server, setup }
