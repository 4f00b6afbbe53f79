// Draws the graph, opens more of it and picks ways through it. Words of the memory are only ever set as text.
"use strict";

const MOVE = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 300;
const LEAST = 0.7; // below this size labels are not read
const KNOWN = new Set(["Person", "Organization", "Team", "Project", "Commitment", "Tool", "Language", "Agent"]);
const UNWRITTEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g; // what XML does not take
const files = document.querySelector("#files");
const details = document.querySelector("#details");
const svg = d3.select("#graph");
svg.append("defs").append("marker").attr("id", "arrow").attr("viewBox", "0 0 8 8").attr("refX", 3).attr("refY", 4)
  .attr("markerWidth", 5).attr("markerHeight", 5).attr("orient", "auto").append("path").attr("d", "M0,0L8,4L0,8z");
const world = svg.append("g");
const [lines, marks] = [world.append("g"), world.append("g")];
const zoom = d3.zoom().scaleExtent([0.1, 4]).on("zoom", (event) => world.attr("transform", event.transform));
let nodes = [], edges = [], chosen, picked = [], way = null;

function element(tag, values = {}, ...children) {
  const made = Object.assign(document.createElement(tag), values);
  made.append(...children);
  return made;
}

// --- what is seen

async function ask(more) {
  const filters = Object.fromEntries(new FormData(files));
  const answer = await fetch("/graph/data", { method: "POST", body: new URLSearchParams({ ...filters, ...more }) });
  const data = await answer.json().catch(() => ({ error: "this browser is not signed in any more" }));
  if (data.error) say(data.error);
  return data.error ? null : data;
}

function take(data, beside) {
  const before = new Map(nodes.map((node) => [node.id, node]));
  nodes = data.nodes.map((node, number) => Object.assign(before.get(node.id) || place(beside, number), node));
  const by = new Map(nodes.map((node) => [node.id, node]));
  if (data.trail) way = data.trail;
  const all = new Map([...data.edges, ...(way ? way.edges : [])].map((edge) => [edge.id, edge]));
  edges = [...all.values()].filter((edge) => by.has(edge.source) && by.has(edge.target))
    .map((edge) => ({ ...edge, from: by.get(edge.source), to: by.get(edge.target) }));
  bend();
  const { clientWidth: width, clientHeight: height } = svg.node();
  layout(nodes, edges, before.size ? 0.25 : 1, Math.max(0.6, width / height));
  chosen = by.get(chosen?.id);
  files.elements.nodes.value = nodes.map((node) => node.id).join(" ");
  draw();
  list();
}

// New nodes come in a spiral around the one that was opened, as the first ones do around the middle.
function place(beside, number) {
  const [far, turn] = [8 * Math.sqrt(number), number * Math.PI * (3 - Math.sqrt(5))];
  return beside ? { x: beside.x + far * Math.cos(turn), y: beside.y + far * Math.sin(turn) } : {};
}

function bend() {
  const between = grouped(edges, (edge) => [edge.source, edge.target].sort().join());
  for (const group of between.values()) group.forEach((edge, place) => { edge.bend = (place - (group.length - 1) / 2) * 34; });
}

function grouped(values, key) {
  const groups = new Map();
  for (const value of values) groups.set(key(value), [...(groups.get(key(value)) || []), value]);
  return groups;
}

// --- drawing

function draw() {
  lines.selectAll("g").data(edges, (edge) => edge.id).join(newEdge);
  const there = new Set(marks.selectAll("g.node").data().map((node) => node.id));
  marks.selectAll("g.node").data(nodes, (node) => node.id).join(newNode)
    .select("title").text((node) => `${node.name}, ${node.type}${node.hidden ? `, ${more(node)} more` : ""}`);
  marks.selectAll("g.node").select(".more").attr("class", (node) => (node.hidden ? "more" : "more none")).select("text").text((node) => `+${more(node)}`);
  marks.selectAll("g.node").filter((node) => !there.has(node.id)).call(d3.drag().on("drag", dragged));
  stand(there.size ? MOVE : 0);
  mark();
}

function newEdge(enter) {
  const group = enter.append("g").attr("class", "edge");
  group.append("path").attr("marker-end", "url(#arrow)");
  group.append("text").text((edge) => edge.relation.toLowerCase().replaceAll("_", " "));
  group.append("title").text((edge) => `${edge.from.name} ${edge.relation} ${edge.to.name} (${edge.probability.toFixed(2)})`);
  return group;
}

function newNode(enter) {
  const group = enter.append("g").attr("tabindex", 0).attr("role", "button")
    .attr("class", (node) => `node ${KNOWN.has(node.type) ? node.type : "Other"}`)
    .on("click", (event, node) => open(node)).on("focus", (event, node) => choose(node)).on("keydown", pressed);
  group.append("circle").attr("r", RADIUS);
  group.append("text").attr("class", "sign").attr("aria-hidden", true).attr("y", 4).text((node) => node.type.slice(0, 2));
  group.append("text").attr("class", "label").attr("y", RADIUS + 14).text((node) => label(node.name));
  const badge = group.append("g").attr("class", "more").attr("aria-hidden", true).attr("transform", `translate(${RADIUS + 8},${-RADIUS})`);
  badge.append("rect").attr("x", -11).attr("y", -8).attr("width", 30).attr("height", 15).attr("rx", 7);
  badge.append("text").attr("x", 4).attr("y", 4);
  group.append("title");
  return group;
}

function more(node) {
  return `${node.hidden}${node.uncounted ? "+" : ""}`;
}

function stand(time) {
  moving(marks.selectAll("g.node"), time).attr("transform", (node) => `translate(${node.x},${node.y})`);
  moving(lines.selectAll("path"), time).attr("d", curve);
  moving(lines.selectAll("text"), time).attr("x", (edge) => edge.middle.x).attr("y", (edge) => edge.middle.y);
}

function moving(selection, time = MOVE) {
  return time ? selection.transition().duration(time) : selection;
}

function mark() {
  const [along, through] = [new Set(way?.edges.map((edge) => edge.id)), new Set(way?.nodes)];
  lines.selectAll("g").attr("class", (edge) => names("edge", {
    outside: edge.origin === "external", way: along.has(edge.id), on: edge.from === chosen || edge.to === chosen,
  }));
  marks.selectAll("g.node").each(function (node) {
    this.classList.toggle("way", through.has(node.id));
    this.classList.toggle("picked", picked.includes(node.id));
    this.classList.toggle("outside", node.origin === "external");
  });
}

function names(first, given) {
  return [first, ...Object.keys(given).filter((name) => given[name])].join(" ");
}

function dragged(event, node) {
  [node.x, node.y] = [event.x, event.y];
  stand(0);
}

// Shows all of it, or where it would be too small to read, what is around the chosen or best linked node.
function fit(time) {
  const { clientWidth: width, clientHeight: height } = svg.node();
  const [left, right] = ends("x", "width"), [top, bottom] = ends("y", "height");
  const scale = Math.min(1.2, width / (right - left + 30), height / (bottom - top + 30));
  const middle = scale < LEAST ? chosen || nodes[0] : { x: (left + right) / 2, y: (top + bottom) / 2 + 8 };
  const moved = d3.zoomIdentity.translate(width / 2, height / 2).scale(Math.max(LEAST, scale)).translate(-middle.x, -middle.y);
  moving(svg, time).call(zoom.transform, moved);
}

function ends(axis, size) {
  return [Math.min(...nodes.map((node) => node[axis] - node[size] / 2)), Math.max(...nodes.map((node) => node[axis] + node[size] / 2))];
}

// --- what a person does

function pressed(event, node) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = { Enter: () => open(node), " ": () => open(node), p: () => pick(node), f: () => fold(node), Escape: forgetWay };
  if (event.key.startsWith("Arrow")) keys[event.key] = () => go(towards(node, nodes, event.key));
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}

function go(node) {
  if (node) marks.selectAll("g.node").filter((other) => other === node).node().focus();
}

function choose(node) {
  chosen = node;
  mark();
  describe(node);
  const at = d3.zoomTransform(svg.node()).apply([node.x, node.y]);
  const { clientWidth: width, clientHeight: height } = svg.node();
  if (at[0] < 20 || at[1] < 20 || at[0] > width - 20 || at[1] > height - 40) moving(svg).call(zoom.translateTo, node.x, node.y);
}

async function open(node) {
  go(node);
  const data = node.hidden ? await ask({ open: node.id }) : null;
  if (data) change(data, node);
}

function change(data, node) {
  const before = nodes.length;
  take(data, node);
  const came = nodes.length - before;
  say(came > 0 ? `${came} more shown` : came < 0 ? `${-came} folded away` : "There is no more room: fold some nodes first");
  fit();
  describe(node);
}

async function fold(node) {
  const linked = (other) => edges.some((edge) => [edge.from, edge.to].includes(other) && ![edge.from, edge.to].includes(node));
  const rest = nodes.filter((other) => other === node || linked(other) || !edges.some((edge) => [edge.from, edge.to].includes(other)));
  const data = rest.length < nodes.length ? await ask({ nodes: rest.map((other) => other.id).join(" ") }) : null;
  if (data) change(data, node);
}

async function pick(node) {
  if (picked.length > 1) forgetWay();
  picked = picked.includes(node.id) ? [] : [...picked, node.id];
  mark();
  describe(node);
  say(picked.length === 1 ? `From ${node.name} to … pick another` : "");
  if (picked.length < 2) return;
  const data = await ask({ from: picked[0], to: picked[1] });
  if (!data) return forgetWay();
  take(data, node);
  fit();
  tell(way);
}

function forgetWay() {
  [picked, way] = [[], null];
  say("");
  mark();
}

// --- what is said of it

function say(text) {
  document.querySelector("#way").textContent = text;
}

function tell(way) {
  say(way.edges.length ? `${way.text} (${way.probability.toFixed(2)})` : way.text);
  if (way.edges.length) details.replaceChildren(element("h2", { textContent: "The way" }), element("ol", {}, ...way.edges.map(line)));
}

function describe(node) {
  const own = edges.filter((edge) => edge.from === node || edge.to === node);
  const press = (textContent, act) => element("button", { textContent, type: "button", className: "quiet", onclick: () => act(node) });
  details.replaceChildren(
    element("h2", {}, named(node)),
    element("p", { className: "about" }, element("span", { className: "kind", textContent: node.type }),
      element("span", { textContent: node.aliases.length ? `also ${node.aliases.join(", ")}` : "" })),
    element("div", { className: "acts" }, ...(node.hidden ? [press(`Open ${more(node)} more`, open)] : []), press("Fold", fold),
      press(picked.includes(node.id) ? "Picked" : "Pick for a way", pick), element("a", { href: `/graph?about=${node.id}`, textContent: "Only around this" })),
    element("ul", {}, ...own.map(line)),
  );
}

function line(edge) {
  const ends = [edge.source, edge.target].map((id) => named(nodes.find((node) => node.id === id)));
  return element("li", {}, ends[0], " ", ...told(edge), " → ", ends[1]);
}

function told(edge) {
  const proof = edge.evidence.flatMap((id, place) => [" ", element("a", { href: `/memories/${id}`, textContent: place ? place + 1 : "memory" })]);
  const outside = edge.origin === "external" ? [" ", element("span", { className: "outside", textContent: "words of others" })] : [];
  return [element("span", { className: "kind", textContent: edge.relation }), ` ${edge.probability.toFixed(2)}`, ...outside, ...proof];
}

function named(node) {
  return element("a", { href: `/nodes/${node.id}`, textContent: node.name });
}

function list() {
  const items = nodes.map((node) => {
    const own = edges.filter((edge) => edge.from === node).map((edge) => element("li", {}, ...told(edge), " → ", named(edge.to)));
    return element("li", {}, named(node), " ", element("span", { className: "kind", textContent: node.type }), ...(own.length ? [element("ul", {}, ...own)] : []));
  });
  document.querySelector("#list").replaceChildren(...items);
  document.querySelector("#count").textContent = `${nodes.length} nodes, ${edges.length} edges`;
  svg.attr("aria-label", `The graph: ${nodes.length} nodes, ${edges.length} edges`);
}

// --- the drawing as a file

function save() {
  const copy = svg.node().cloneNode(true);
  const styled = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "text-anchor", "paint-order", "display"];
  const [there, here] = [copy, svg.node()].map((root) => [root, ...root.querySelectorAll("*")]);
  here.forEach((drawn, place) => {
    const style = getComputedStyle(drawn);
    for (const name of styled) there[place].setAttribute(name, style.getPropertyValue(name));
  });
  const { clientWidth: width, clientHeight: height } = svg.node();
  Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` }).forEach(([name, value]) => copy.setAttribute(name, value));
  const drawn = new XMLSerializer().serializeToString(copy).replace(UNWRITTEN, "\ufffd");
  const href = URL.createObjectURL(new Blob([drawn], { type: "image/svg+xml" }));
  element("a", { href, download: "graph.svg" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

// --- beginning

async function begin() {
  if (!files.elements.nodes.value) return;
  const query = new URLSearchParams(location.search);
  const data = await ask(query.get("from") && query.get("to") ? { from: query.get("from"), to: query.get("to") } : {});
  if (!data) return;
  document.querySelector("#drawing").hidden = false;
  document.querySelector("#seen").open = false;
  document.querySelector("#svg").hidden = false;
  take(data);
  svg.call(zoom).on("dblclick.zoom", null);
  fit(0);
  if (way) tell(way);
  document.body.dataset.graph = "rests";
}

document.querySelector("#larger").onclick = () => moving(svg).call(zoom.scaleBy, 1.4);
document.querySelector("#smaller").onclick = () => moving(svg).call(zoom.scaleBy, 1 / 1.4);
document.querySelector("#fit").onclick = () => fit();
document.querySelector("#svg").onclick = save;
document.body.addEventListener("memory:changed", () => {
  const again = element("a", { href: location.href, textContent: "Look anew" });
  document.querySelector("#news").replaceChildren("The memory has changed. ", again);
});
begin();
