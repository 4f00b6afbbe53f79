// Reads a Mermaid drawing on stdin with Mermaid's own parser and tells what it took from it, as JSON. What the library
// wants of a browser while it parses is a document, which jsdom gives it; nothing is drawn.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const wanted = createRequire(pathToFileURL(`${process.argv[2]}/`));
const { JSDOM } = await import(pathToFileURL(wanted.resolve('jsdom')));
globalThis.window = new JSDOM('').window;
globalThis.document = globalThis.window.document;
const { default: mermaid } = await import(pathToFileURL(wanted.resolve('mermaid')));

mermaid.initialize({ startOnLoad: false, maxEdges: 1e6, maxTextSize: 1e8 });
const { db, type } = await mermaid.mermaidAPI.getDiagramFromText(readFileSync(0, 'utf8'));
const said = (text) => text.replace(/ﬂ°°(\d+)¶ß/g, (_, number) => String.fromCodePoint(Number(number)));
const nodes = [...db.getVertices().values()].map((node) => [node.id, said(node.text), node.classes.join(' ')]);
const edges = db.getEdges().map((edge) => [edge.start, said(edge.text), edge.end, edge.stroke]);
console.log(JSON.stringify({ type, nodes, edges }));
