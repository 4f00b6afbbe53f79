// Where the nodes of the graph stand: forces until they are at rest, then no label on another. Then nothing moves any more.
"use strict";

const RADIUS = 11;
const TICKS = 300;
const GAP = 6;
const LONGEST = 26; // characters of a label
const pen = document.createElement("canvas").getContext("2d");

function label(name) {
  const letters = [...name];
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : name;
}

// Gives the nodes x and y; `heat` says how far those may go that have a place already, `wide` how wide the view is to its height.
function layout(nodes, edges, heat, wide) {
  pen.font = `13px ${getComputedStyle(document.body).fontFamily}`;
  for (const node of nodes) {
    node.width = Math.max(2 * RADIUS, pen.measureText(label(node.name)).width) + GAP;
    node.height = 2 * RADIUS + 18 + GAP;
  }
  const links = edges.map((edge) => ({ source: edge.source, target: edge.target }));
  d3.forceSimulation(nodes).stop().alpha(heat)
    .force("link", d3.forceLink(links).id((node) => node.id).distance(Math.max(70, 500 / Math.sqrt(nodes.length))))
    .force("charge", d3.forceManyBody().strength(-260).distanceMax(500))
    .force("x", d3.forceX().strength(0.09 / wide))
    .force("y", d3.forceY().strength(0.09 * wide))
    .force("apart", () => part(nodes))
    .tick(heat < 1 ? TICKS / 3 : TICKS);
  for (let round = 0; round < TICKS && part(nodes); round++);
}

// Moves nodes whose boxes overlap from each other; tells whether there were any.
function part(nodes) {
  let moved = false;
  for (let one = 0; one < nodes.length; one++) {
    for (let other = one + 1; other < nodes.length; other++) {
      moved = push(nodes[one], nodes[other]) || moved;
    }
  }
  return moved;
}

// Along the way that is the shorter for its size: labels are wide, and all would stand in high columns.
function push(one, other) {
  const across = (one.width + other.width) / 2 - Math.abs(one.x - other.x);
  const down = (one.height + other.height) / 2 - Math.abs(one.y - other.y);
  if (across <= 0 || down <= 0) return false;
  const axis = across / one.width < down / one.height ? "x" : "y";
  const way = ((axis === "x" ? across : down) / 2 + 0.5) * (one[axis] < other[axis] ? 1 : -1);
  one[axis] -= way;
  other[axis] += way;
  return true;
}

// The curve of an edge between the rims of its nodes; those between the same two nodes stand beside each other.
function curve(edge) {
  const { from, to, bend } = edge;
  const long = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const turn = from.id < to.id ? bend : -bend;
  const middle = {
    x: (from.x + to.x) / 2 + ((to.y - from.y) / long) * turn,
    y: (from.y + to.y) / 2 - ((to.x - from.x) / long) * turn,
  };
  const [begin, end] = [rim(from, middle, 0), rim(to, middle, 5)];
  edge.middle = { x: (middle.x + (from.x + to.x) / 2) / 2, y: (middle.y + (from.y + to.y) / 2) / 2 };
  return `M${begin.x},${begin.y}Q${middle.x},${middle.y} ${end.x},${end.y}`;
}

function rim(node, towards, room) {
  const far = Math.hypot(towards.x - node.x, towards.y - node.y) || 1;
  const part = (RADIUS + room) / far;
  return { x: node.x + (towards.x - node.x) * part, y: node.y + (towards.y - node.y) * part };
}

// The node that lies best in the direction of an arrow key.
function towards(node, nodes, key) {
  const [right, down] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
  let best, least = Infinity;
  for (const other of nodes) {
    const [x, y] = [other.x - node.x, other.y - node.y];
    const [ahead, aside] = [x * right + y * down, Math.abs(x * down) + Math.abs(y * right)];
    if (other !== node && ahead > 0 && aside <= 2 * ahead && ahead + 2 * aside < least) [best, least] = [other, ahead + 2 * aside];
  }
  return best;
}
