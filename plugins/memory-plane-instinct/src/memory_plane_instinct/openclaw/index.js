// Puts before the model what the user's other agents did, and hands in what came of the turn. It needs nothing but
// Node.js; each step is bounded in time and size, and whatever fails costs the turn nothing.

import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const SETTINGS = "memory-plane.json"; // beside this file: the home of the memory, and the command that takes a turn
const READING = 500; // milliseconds for a file: a disk may be dead
const HANDING_IN = 5000; // milliseconds for that command
const TICK = 50; // of these milliseconds
const BRIEF = 2048; // bytes
const MESSAGES = 20; // of a turn
const TEXT = 8000; // characters of a message
const BACK = 50; // how many messages before a turn are looked at
const RUNS = 100; // of how many runs it is noted who began them

export default {
  id: "memory-plane",
  name: "Memory Plane",
  description: "What the user's other agents did, and word of what this one does",
  register(api) {
    const begunBy = new Map();
    const place = join(api.rootDir ?? import.meta.dirname, SETTINGS);
    const settings = async () => JSON.parse(await inTime(readFile(place, "utf8")));
    const tell = once((error) => api.logger?.warn?.(`memory-plane: ${error?.message ?? error}`));

    api.on(
      "before_prompt_build",
      quietly(tell, async (event, ctx = {}) => {
        note(begunBy, ctx);
        // as with MEMORY.md, which OpenClaw keeps out of conversations that others read
        if (isApart(ctx) || isShared(ctx)) return undefined;
        const brief = await briefOf((await settings()).home);
        return brief ? { prependContext: `<memory-plane>\n${brief}\n</memory-plane>` } : undefined;
      }),
      { timeoutMs: 5000 },
    );

    api.on(
      "agent_end",
      quietly(tell, async (event, ctx = {}) => {
        const turn = isApart(ctx) ? undefined : turnOf(event, ctx, begunBy.get(ctx.runId));
        begunBy.delete(ctx.runId);
        if (turn) await handIn((await settings()).shim, turn);
      }),
      { timeoutMs: 2 * HANDING_IN },
    );
  },
};

function quietly(tell, task) {
  return async (...given) => {
    try {
      return await task(...given);
    } catch (error) {
      tell(error);
      return undefined;
    }
  };
}

function once(task) {
  let done = false;
  return (...given) => {
    if (!done) task(...given);
    done = true;
  };
}

function inTime(promise) {
  let callOff;
  const late = new Promise((_, reject) => {
    callOff = after(READING, () => reject(new Error(`a file was not read within ${READING} ms`)));
  });
  return Promise.race([promise, late]).finally(() => callOff());
}

/** Call `late` once the time is up, and return what calls that off. While OpenClaw is too busy to look, no time passes. */
function after(milliseconds, late) {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    if (ticks * TICK < milliseconds) return;
    clearInterval(timer);
    late();
  }, TICK);
  return () => clearInterval(timer);
}

// --- what a turn is ---------------------------------------------------------------------------------------------

/** A helper's run, whose outcome its parent tells; or OpenClaw writing down its own memory. */
function isApart(ctx) {
  return ctx.trigger === "memory" || /:subagent:/.test(ctx.sessionKey ?? "");
}

function isShared(ctx) {
  return /:(group|channel):/.test(ctx.sessionKey ?? "");
}

/** Note who began a run: only the hook before it is told. */
function note(begunBy, ctx) {
  if (!ctx.runId || !ctx.inputProvenance?.kind) return;
  begunBy.set(ctx.runId, ctx.inputProvenance.kind);
  if (begunBy.size > RUNS) begunBy.delete(begunBy.keys().next().value);
}

function turnOf(event, ctx, begunBy) {
  const all = Array.isArray(event?.messages) ? event.messages : [];
  const start = all.findLastIndex((message) => message?.role === "user" && isPrompt(textOf(message)));
  if (start < 0) return undefined;
  const said = all.slice(start).map(saidBy).filter(Boolean);
  const earlier = all.slice(Math.max(0, start - BACK), start);
  return {
    sessionId: ctx.sessionId ?? ctx.sessionKey,
    sessionKey: ctx.sessionKey,
    runId: ctx.runId ?? event.runId,
    trigger: ctx.trigger,
    begunBy,
    channel: ctx.channel ?? ctx.messageProvider,
    workspaceDir: ctx.workspaceDir,
    success: event.success === true,
    shared: isShared(ctx),
    owner: [...earlier, all[start]].map((one) => one?.__openclaw?.senderIsOwner).findLast((one) => one !== undefined),
    before: saidBy(earlier.findLast((message) => message?.role === "assistant" && textOf(message)))?.text,
    messages: [said[0], ...said.slice(1).slice(1 - MESSAGES)],
  };
}

function saidBy(message) {
  const text = message?.role === "user" || message?.role === "assistant" ? textOf(message) : "";
  return text ? { role: message.role, text: text.slice(0, TEXT) } : undefined;
}

/** What OpenClaw tells the model of its own is no prompt. */
function isPrompt(text) {
  return text !== "" && !text.startsWith("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>");
}

function textOf(message) {
  const content = message?.content;
  if (typeof content === "string") return content;
  const blocks = Array.isArray(content) ? content : [];
  const texts = blocks.filter((block) => block?.type === "text" && typeof block.text === "string");
  return texts.map((block) => block.text).join("\n\n");
}

// --- the memory's side ------------------------------------------------------------------------------------------

async function briefOf(home) {
  let page;
  try {
    page = await inTime(readFile(join(home, "brief", "instinct.md")));
  } catch (error) {
    if (error?.code === "ENOENT") return "";
    throw error;
  }
  const text = page.subarray(0, BRIEF).toString("utf8").trim();
  // what somebody wrote must not end the fence around it
  return text.startsWith("Nothing new for ") ? "" : text.replace(/<(?=\/?memory-plane)/gi, "‹");
}

/** Run the hook shim with the turn on its stdin, and wait until it has ended or its time is up. */
function handIn([program, ...words], turn) {
  return new Promise((resolve, reject) => {
    const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("PYTHON"));
    const child = spawn(program, words, {
      env: Object.fromEntries(kept),
      stdio: ["pipe", "ignore", "ignore"],
      windowsHide: true,
    });
    const callOff = after(HANDING_IN, () => {
      child.kill("SIGKILL");
      reject(new Error(`the turn was not taken within ${HANDING_IN} ms`));
    });
    child.on("error", (error) => {
      callOff();
      reject(error);
    });
    child.on("close", () => {
      callOff();
      resolve();
    });
    child.stdin.on("error", () => {}); // one that is gone does not read: that it ended is told above
    child.stdin.end(JSON.stringify(turn));
  });
}
