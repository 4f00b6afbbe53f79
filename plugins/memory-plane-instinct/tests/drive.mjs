// Runs the plugin as OpenClaw does: `node drive.mjs FOLDER [impatient]` with [{hook, event, ctx}] on stdin prints what each
// answered. Time passes slower, so that a busy machine does not matter; impatient, much faster once a program was started.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, impatient] = process.argv.slice(2);
const every = globalThis.setInterval;
const started = () => process.getActiveResourcesInfo().includes("ProcessWrap");
globalThis.setInterval = (task, ms) =>
  every(() => {
    for (let tick = 0; tick < (impatient && started() ? 200 : 1); tick++) task();
  }, impatient ? ms : 20 * ms);
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
