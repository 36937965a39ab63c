// The roofline as SVG: Observable Plot draws axes, roofs, points and the lines that join them; numbers, focus and pointer are added here.
import {axisX, axisY, dot, gridX, gridY, line, link, plot, ruleX} from "./vendor.js";
import {svgElement} from "./dom.js";
import {ratio, si, tick} from "./format.js";
import {LEADER, boxAt, placeLabels} from "./labels.js";
import {decadeTicks, domains, place, roofLines, roofs} from "./model.js";

const SYMBOLS = {memory: "circle", compute: "square", latency: "triangle"};
const MARGIN = {top: 20, right: 30, bottom: 46, left: 60};
const REACH = 40; // pixels from a point or its number within which the pointer means it

/** A kernel at its place, in words. */
function sentence(p) {
  const of = p.of;
  const words = [`${p.number}, ${p.title}: ${si(p.rate, "FLOP/s")}`];
  words.push(p.measured === null ? "measured intensity unknown" : `${ratio(p.measured)} FLOP per DRAM byte`);
  if (p.asked !== null) words.push(`${ratio(p.asked)} by the bytes asked for`);
  if (of.percent_of_roof !== null) words.push(`${of.percent_of_roof.toFixed(1)} percent of its roof`);
  if (of.bound !== null) words.push(of.bound === "latency" ? "latency bound" : `${of.bound} bound`);
  return words.join(", ");
}

function drawn(placed, symbol) {
  return placed.filter((p) => p.where === "point" && (SYMBOLS[p.of.bound] ?? "diamond") === symbol);
}

function base(placed, roof, size, domain) {
  const lines = roofLines(roof, domain);
  const x = decadeTicks(domain.x, Math.floor((size.width - MARGIN.left - MARGIN.right) / 44));
  const y = decadeTicks(domain.y, Math.floor(size.height / 40));
  const joined = placed.filter((p) => p.where === "point" && p.asked !== null);
  const svg = plot({
    ...size,
    marginTop: MARGIN.top, marginRight: MARGIN.right, marginBottom: MARGIN.bottom, marginLeft: MARGIN.left,
    className: "roofline-plot",
    x: {type: "log", domain: domain.x},
    y: {type: "log", domain: domain.y},
    marks: [
      gridX({ticks: x, stroke: "var(--grid)", strokeOpacity: 1}),
      gridY({ticks: y, stroke: "var(--grid)", strokeOpacity: 1}),
      axisX({ticks: x, tickFormat: tick, label: "arithmetic intensity, FLOP per byte →", labelAnchor: "right", fontSize: 12, color: "var(--muted)"}),
      axisY({ticks: y, tickFormat: tick, label: "↑ FLOP/s", fontSize: 12, color: "var(--muted)"}),
      roof.ridge === null ? null : ruleX([roof.ridge], {y1: domain.y[0], y2: roof.fma, stroke: "var(--roof)", strokeDasharray: "3 4"}),
      line(lines.memory, {stroke: "var(--roof)", strokeWidth: 2.5}),
      line(lines.compute, {stroke: "var(--roof)", strokeWidth: 2.5}),
      link(joined, {x1: "asked", y1: "rate", x2: "measured", y2: "rate", stroke: "var(--join)", strokeWidth: 1.5}),
      dot(placed.filter((p) => p.asked !== null), {x: "asked", y: "rate", r: 4, fill: "var(--page)", stroke: "var(--ask)", strokeWidth: 1.6}),
      ...["circle", "square", "triangle", "diamond"].map((symbol) =>
        dot(drawn(placed, symbol), {x: "measured", y: "rate", r: 5.5, symbol, fill: `var(--${symbol})`, stroke: "var(--page)", strokeWidth: 1})),
    ],
  });
  // Plot puts its few rules into a style element, which the daemon's Content-Security-Policy would refuse; they stand in page.css.
  for (const style of svg.querySelectorAll("style")) style.remove();
  return {svg, lines};
}

const textWidth = (text, size) => text.length * size * 0.6;

/** Boxes along a line from (ax, ay) to (bx, by), since a box around all of it would cover half of the chart. */
function boxesAlong(ax, ay, bx, by, thick) {
  const count = Math.max(1, Math.ceil(Math.hypot(bx - ax, by - ay) / thick));
  return Array.from({length: count + 1}, (_, i) => boxAt(ax + ((bx - ax) * i) / count, ay + ((by - ay) * i) / count, thick, thick));
}

// along the roof: the middle first, then ever farther from it
const SHARES = Array.from({length: 21}, (_, i) => 0.5 + (i % 2 ? -0.05 : 0.05) * Math.ceil(i / 2));

const meet = (a, b) => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;

/** The memory roof's name along it, above or below, where it covers no point. Returns its boxes. */
function slopeLabel(group, [[ax, ay], [bx, by]], text, dots) {
  const angle = Math.atan2(by - ay, bx - ax);
  const length = Math.hypot(bx - ax, by - ay);
  const width = textWidth(text, 12);
  if (length < width + 20) return [];
  const [ux, uy] = [Math.cos(angle), Math.sin(angle)];
  let best = null;
  for (const side of [11, -11]) {
    for (const share of SHARES) {
      const middle = width / 2 + 10 + share * (length - width - 20);
      const [x, y] = [ax + middle * ux + side * uy, ay + middle * uy - side * ux];
      const boxes = boxesAlong(x - (width / 2) * ux, y - (width / 2) * uy, x + (width / 2) * ux, y + (width / 2) * uy, 11);
      const covered = dots.filter((dot) => boxes.some((box) => meet(box, dot))).length;
      if (best === null || covered < best.covered) best = {covered, x, y, boxes};
    }
  }
  if (best.covered > 0) return []; // a name over a point helps nobody; the ceilings stand above the chart too
  const turn = `translate(${best.x.toFixed(1)},${best.y.toFixed(1)}) rotate(${((angle * 180) / Math.PI).toFixed(2)})`;
  group.append(svgElement("text", {transform: turn, "text-anchor": "middle", dy: "0.32em"}, text));
  return best.boxes;
}

/** Names of roofs and ridge; returns the boxes that they and the roofs themselves cover. */
function roofLabels(svg, {copy, fma, ridge}, lines, state, dots, px, py, size) {
  const boxes = [];
  const group = svg.appendChild(svgElement("g", {class: "roof-labels", "aria-hidden": "true"}));
  const pixels = (points) => points.map(([x, y]) => [px(x), py(y)]);
  if (lines.memory.length > 0) {
    const ends = pixels(lines.memory);
    boxes.push(...boxesAlong(...ends[0], ...ends[1], 6), ...slopeLabel(group, ends, size.width < 500 ? si(copy, "B/s") : `copy ${si(copy, "B/s")}, ${state}`, dots));
  }
  if (lines.compute.length > 0) {
    const ends = pixels(lines.compute);
    boxes.push(...boxesAlong(...ends[0], ...ends[1], 6));
    const [x, y] = [size.width - MARGIN.right, py(fma) - 8];
    const text = `FMA ${si(fma, "FLOP/s")}`;
    group.append(svgElement("text", {x: x.toFixed(1), y: y.toFixed(1), "text-anchor": "end"}, text));
    boxes.push(boxAt(x - textWidth(text, 12) / 2, y - 4, textWidth(text, 12), 14));
  }
  if (ridge !== null) {
    const text = `ridge ${ratio(ridge)}`;
    const end = px(ridge) + textWidth(text, 12) + 10 > size.width - MARGIN.right;
    const [x, y] = [px(ridge) + (end ? -6 : 6), size.height - MARGIN.bottom - 8];
    group.append(svgElement("text", {x: x.toFixed(1), y: y.toFixed(1), "text-anchor": end ? "end" : "start"}, text));
    boxes.push(boxAt(x + ((end ? -1 : 1) * textWidth(text, 12)) / 2, y - 4, textWidth(text, 12), 14));
  }
  return boxes;
}

/** Where the number of each kernel belongs and what else of it is on the chart, in pixels. */
function targets(placed, px, py, size) {
  return placed.filter((p) => p.rate !== null && (p.where !== "none" || p.asked !== null)).map((p) => {
    const y = py(p.rate);
    const asked = p.asked === null ? null : {x: px(p.asked), y};
    const main = p.where === "point" ? {x: px(p.measured), y} : p.where === "edge" ? {x: size.width - MARGIN.right + 10, y} : asked;
    return {p, main, asked};
  });
}

/** The boxes of all points that are drawn. */
function dotBoxes(items) {
  return items.flatMap(({main, asked}) => [boxAt(main.x, main.y, 13, 13)].concat(asked ? [boxAt(asked.x, asked.y, 11, 11)] : []));
}

function numbers(svg, items, boxes, size) {
  const anchors = items.map(({p, main}) => ({x: main.x, y: main.y, width: p.number > 9 ? 20 : 14, height: 15}));
  const frame = {x0: MARGIN.left + 2, x1: size.width - 2, y0: 2, y1: size.height - MARGIN.bottom - 2};
  const centres = placeLabels(anchors, boxes, frame);
  const leaders = svg.appendChild(svgElement("g", {class: "leaders", "aria-hidden": "true"}));
  items.forEach((item, i) => {
    item.label = centres[i];
    const [dx, dy] = [centres[i].x - item.main.x, centres[i].y - item.main.y];
    const far = Math.hypot(dx, dy);
    if (far > LEADER) {
      const [a, b] = [8 / far, (far - 8) / far];
      leaders.append(svgElement("path", {d: `M${(item.main.x + a * dx).toFixed(1)},${(item.main.y + a * dy).toFixed(1)}L${(item.main.x + b * dx).toFixed(1)},${(item.main.y + b * dy).toFixed(1)}`}));
    }
  });
}

function pointGroups(svg, items) {
  const layer = svg.appendChild(svgElement("g", {class: "points"}));
  items.forEach((item, i) => {
    const {p, main, asked, label} = item;
    const group = svgElement("g", {class: `point ${p.where}`, role: "img", "aria-label": sentence(p), tabindex: i === 0 ? "0" : "-1", "data-kernel": p.kernel});
    if (p.where === "edge") {
      if (asked) group.append(svgElement("path", {class: "edge-line", d: `M${(asked.x + 6).toFixed(1)},${asked.y.toFixed(1)}H${(main.x - 6).toFixed(1)}`}));
      group.append(svgElement("path", {class: "edge-mark", d: `M${(main.x - 5).toFixed(1)},${(main.y - 6).toFixed(1)}l11,6l-11,6z`}));
    }
    group.append(svgElement("circle", {class: "ring", cx: main.x.toFixed(2), cy: main.y.toFixed(2), r: "10"}));
    if (asked && asked !== main) group.append(svgElement("circle", {class: "ring", cx: asked.x.toFixed(2), cy: asked.y.toFixed(2), r: "8"}));
    group.append(svgElement("text", {x: label.x.toFixed(1), y: label.y.toFixed(1), dy: "0.35em", "text-anchor": "middle"}, String(p.number)));
    layer.append(group);
    item.group = group;
  });
}

/** The items whose point, asked point or number is nearest to (x, y), nearest first; items at one place all come. */
function near(items, x, y) {
  const away = items.map((item) => ({item, far: Math.min(...[item.main, item.asked, item.label].filter(Boolean).map((at) => Math.hypot(at.x - x, at.y - y)))}));
  away.sort((a, b) => a.far - b.far);
  if (away.length === 0 || away[0].far > REACH) return [];
  return away.filter(({far}) => far <= away[0].far + 4).map(({item}) => item);
}

function listen(svg, items, choose) {
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    return near(items, event.clientX - box.left, event.clientY - box.top);
  };
  let current = null;
  const pick = (item) => {
    current = item;
    choose(item.p);
  };
  svg.addEventListener("pointermove", (event) => {
    const found = at(event);
    if (event.pointerType === "mouse" && found.length > 0 && !found.includes(current)) pick(found[0]);
  });
  // A further tap on points that lie over one another goes to the next of them.
  svg.addEventListener("click", (event) => {
    const found = at(event);
    if (found.length > 0) pick(found[event.pointerType !== "mouse" || event.detail > 1 ? (found.indexOf(current) + 1) % found.length : Math.max(0, found.indexOf(current))]);
  });
  items.forEach((item, i) => {
    item.group.addEventListener("focus", () => {
      for (const other of items) other.group.setAttribute("tabindex", other === item ? "0" : "-1");
      pick(item);
    });
    item.group.addEventListener("keydown", (event) => {
      const to = {ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: items.length - 1}[event.key];
      if (to === undefined) return;
      event.preventDefault();
      items[(to + items.length) % items.length].group.focus();
    });
  });
}

/**
 * Draws run in one state, width pixels wide. choose(placed kernel) is called for the kernel that is pointed at, focused or tapped.
 * Returns {svg, placed, mark(kernel id or null)}.
 */
export function roofline(run, state, width, choose) {
  const placed = place(run, state);
  const roof = roofs(run, state);
  const domain = domains(placed, roof);
  const size = {width, height: Math.round(Math.min(640, Math.max(360, width * 0.68)))};
  const {svg, lines} = base(placed, roof, size, domain);
  for (const child of svg.children) child.setAttribute("aria-hidden", "true");
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", `Roofline, ${state} cache, both axes logarithmic. The table below has the same numbers.`);
  const [px, py] = [svg.scale("x").apply, svg.scale("y").apply];
  const items = targets(placed, px, py, size);
  const dots = dotBoxes(items);
  const joins = items.flatMap(({main, asked}) => (asked && asked !== main ? [{x0: Math.min(main.x, asked.x), x1: Math.max(main.x, asked.x), y0: main.y - 1, y1: main.y + 1}] : []));
  numbers(svg, items, [...dots, ...joins, ...roofLabels(svg, roof, lines, state, dots, px, py, size)], size);
  pointGroups(svg, items);
  listen(svg, items, choose);
  const mark = (kernel) => {
    for (const {p, group} of items) group.classList.toggle("is-chosen", p.kernel === kernel);
  };
  return {svg, placed, mark};
}
