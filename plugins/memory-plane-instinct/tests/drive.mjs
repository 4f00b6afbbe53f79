// Runs the plugin as OpenClaw does: `node drive.mjs FOLDER [impatient]` with [{hook, event, ctx}] on stdin prints what each
// answered. All waits are longer, so that a busy machine does not matter; impatient, those of seconds are over at once.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, impatient] = process.argv.slice(2);
const wait = globalThis.setTimeout;
globalThis.setTimeout = (task, ms) => wait(task, impatient && ms >= 1000 ? 10 : 20 * ms);
const { default: plugin } = await import(pathToFileURL(join(folder, "index.js")));
const hooks = {};
const told = [];
plugin.register({
  rootDir: folder,
  on: (name, handler) => (hooks[name] = handler),
  logger: { warn: (text) => told.push(text) },
});
const answers = [];
for (const { hook, event, ctx } of JSON.parse(readFileSync(0, "utf8"))) {
  answers.push((await hooks[hook](event, ctx)) ?? null);
}
console.log(JSON.stringify({ answers, told, id: plugin.id }));
