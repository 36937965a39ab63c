// The explorer's chart: roof, ridge, each kernel on the roof by its intensity, and below it what was achieved.
// Observable Plot draws; names are added here.
import {boxAt, LEADER, placeLabels} from "../../chart/labels.js";
import {decadeTicks, roofLines} from "../../chart/model.js";
import {axisX, axisY, dot, gridX, gridY, line, link, plot, ruleX} from "../../chart/vendor.js";
import {svgElement} from "../../parts/dom.js";
import {intensity, ratio, si, tick} from "../../parts/format.js";

const MARGIN = {top: 22, right: 26, bottom: 50, left: 60};
const FONT = 12;

const textWidth = (text) => text.length * FONT * 0.58;

/** Both axes hold all points, the ridge and room around them; at least three decades, so that a roof looks like one. */
function domains(points, {bandwidth, peak}) {
  const at = peak / bandwidth;
  const xs = points
    .flatMap((p) => [p.intensity, p.before?.intensity])
    .concat(at)
    .filter((x) => x > 0);
  const ys = points
    .flatMap((p) => [p.attainable, p.before?.attainable, p.rate])
    .concat(peak)
    .filter((y) => y > 0);
  const spread = (values, room) => {
    const [low, high] = [Math.min(...values) / room, Math.max(...values) * room];
    const lack = Math.max(1, 1000 / (high / low));
    return [low / Math.sqrt(lack), high * Math.sqrt(lack)];
  };
  return {x: spread(xs, 2.5), y: spread(ys, 2.2)};
}

/** The way along the roof from one intensity to another. */
function along(from, to, {bandwidth, peak}) {
  const at = peak / bandwidth;
  const [low, high] = [Math.min(from, to), Math.max(from, to)];
  return [low, ...(low < at && at < high ? [at] : []), high].map((x) => [x, Math.min(peak, x * bandwidth)]);
}

/** The grid and both axes. */
function axes(domain, size) {
  const x = decadeTicks(domain.x, Math.floor((size.width - MARGIN.left - MARGIN.right) / 44));
  const y = decadeTicks(domain.y, Math.floor(size.height / 40));
  const words = {fontSize: FONT, color: "var(--muted)"};
  return [
    gridX({ticks: x, stroke: "var(--grid)", strokeOpacity: 1}),
    gridY({ticks: y, stroke: "var(--grid)", strokeOpacity: 1}),
    axisX({ticks: x, tickFormat: tick, label: "arithmetic intensity, FLOP per byte →", labelAnchor: "right", ...words}),
    axisY({ticks: y, tickFormat: tick, label: "↑ FLOP/s", ...words}),
  ];
}

/** Points on the roof. */
const filled = (points, symbol, fill) =>
  dot(points, {x: "intensity", y: "attainable", r: 5.5, symbol, fill, stroke: "var(--page)", strokeWidth: 1});

/** Rings and diamonds around what else is told of a point. */
const hollow = (points, options) => dot(points, {x: "intensity", r: 8, fill: "none", strokeWidth: 2, ...options});

function marks(points, roof, domain, size) {
  const ridge = roof.peak / roof.bandwidth;
  const lines = roofLines({copy: roof.bandwidth, fma: roof.peak, ridge}, domain);
  const moved = points.filter((p) => p.before);
  const held = points.filter((p) => p.rate > 0);
  const on = (regime) => points.filter((p) => p.regime === regime);
  const reused = {stroke: "var(--triangle)", strokeWidth: 5, strokeOpacity: 0.75};
  return [
    ...axes(domain, size),
    ruleX([ridge], {y1: domain.y[0], y2: roof.peak, stroke: "var(--roof)", strokeDasharray: "3 4"}),
    line(lines.memory, {stroke: "var(--roof)", strokeWidth: 2.5}),
    line(lines.compute, {stroke: "var(--roof)", strokeWidth: 2.5}),
    ...moved.map((p) => line(along(p.before.intensity, p.intensity, roof), reused)),
    link(held, {
      x1: "intensity",
      y1: "rate",
      x2: "intensity",
      y2: "attainable",
      stroke: "var(--join)",
      strokeWidth: 1.5,
      strokeDasharray: "2 3",
    }),
    filled(on("memory"), "circle", "var(--circle)"),
    filled(on("compute"), "square", "var(--square)"),
    // over the points, on which they may lie, and hollow, so that those still show
    hollow(
      moved.map((p) => p.before),
      {y: "attainable", stroke: "var(--triangle)"},
    ),
    hollow(held, {y: "rate", symbol: "diamond", stroke: "var(--text)"}),
  ];
}

/** Text with a ground of its own, so that a line below it does not cross it. */
function label(group, x, y, text, anchor = "middle") {
  group.append(svgElement("text", {x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor}, text));
  const width = textWidth(text);
  const middle = anchor === "middle" ? x : anchor === "end" ? x - width / 2 : x + width / 2;
  return boxAt(middle, y - 4, width + 4, FONT + 4);
}

/** Names of both roofs, of the ridge and of its two sides; returns the boxes that they cover. */
function names(svg, roof, px, py, size) {
  const group = svg.appendChild(svgElement("g", {class: "explorer-names"}));
  const right = size.width - MARGIN.right;
  const at = px(roof.peak / roof.bandwidth);
  const bottom = size.height - MARGIN.bottom - 8;
  const boxes = [label(group, right, py(roof.peak) - 9, `peak ${si(roof.peak, "FLOP/s")}`, "end")];
  const ridgeText = `ridge ${ratio(roof.peak / roof.bandwidth)}`;
  boxes.push(
    at + textWidth(ridgeText) + 10 < right
      ? label(group, at + 6, bottom - 18, ridgeText, "start")
      : label(group, at - 6, bottom - 18, ridgeText, "end"),
  );
  const sides = [
    ["← memory-bound", at - 8, "end", at - MARGIN.left],
    ["compute-bound →", at + 8, "start", right - at],
  ];
  if (sides.every(([text, , , room]) => textWidth(text) + 10 < room)) {
    for (const [text, x, anchor] of sides) boxes.push(label(group, x, bottom, text, anchor));
  } // one alone would be half of a sentence
  return {group, boxes};
}

/** The memory roof's bandwidth beside its line, where the line is long enough. */
function slope(group, ends, roof, taken) {
  const [[ax, ay], [bx, by]] = ends;
  const text = si(roof.bandwidth, "B/s");
  const width = textWidth(text);
  const length = Math.hypot(bx - ax, by - ay);
  if (length < width + 60) return [];
  const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
  const meets = (box) =>
    taken.some((other) => box.x0 < other.x1 && other.x0 < box.x1 && box.y0 < other.y1 && other.y0 < box.y1);
  for (const share of [0.5, 0.35, 0.65, 0.2, 0.8]) {
    const [x, y] = [ax + share * length * ux + 12 * uy, ay + share * length * uy - 12 * ux];
    const boxes = Array.from({length: 9}, (_, i) =>
      boxAt(x + (i / 8 - 0.5) * width * ux, y + (i / 8 - 0.5) * width * uy, 12, 12),
    );
    if (boxes.some(meets)) continue;
    const turn = (Math.atan2(uy, ux) * 180) / Math.PI;
    group.append(
      svgElement(
        "text",
        {
          transform: `translate(${x.toFixed(1)},${y.toFixed(1)}) rotate(${turn.toFixed(2)})`,
          "text-anchor": "middle",
          dy: "0.32em",
        },
        text,
      ),
    );
    return boxes;
  }
  return [];
}

function numbers(svg, points, obstacles, px, py, size) {
  const anchors = points.map((p) => ({
    x: px(p.intensity),
    y: py(p.attainable),
    width: p.number.length * 8 + 8,
    height: 16,
  }));
  const frame = {x0: MARGIN.left + 2, x1: size.width - 2, y0: 2, y1: size.height - MARGIN.bottom - 2};
  const centres = placeLabels(anchors, obstacles, frame);
  const group = svg.appendChild(svgElement("g", {class: "explorer-numbers"}));
  points.forEach((p, i) => {
    const [from, to] = [anchors[i], centres[i]];
    const far = Math.hypot(to.x - from.x, to.y - from.y);
    const made = svgElement(
      "g",
      {"data-number": p.number},
      svgElement(
        "title",
        {},
        `${p.title}: ${intensity(p.intensity)}, at most ${si(p.attainable, "FLOP/s")}, ${p.regime}-bound`,
      ),
    );
    if (far > LEADER) {
      const cut = (share) =>
        `${(from.x + share * (to.x - from.x)).toFixed(1)},${(from.y + share * (to.y - from.y)).toFixed(1)}`;
      made.append(svgElement("path", {d: `M${cut(8 / far)}L${cut((far - 9) / far)}`}));
    }
    made.append(
      svgElement("text", {x: to.x.toFixed(1), y: to.y.toFixed(1), dy: "0.35em", "text-anchor": "middle"}, p.number),
    );
    group.append(made);
  });
}

/**
 * points: [{number (text), title, intensity, attainable, regime, rate (achieved, or null), before (the place without
 * reuse, or null)}], roof: {bandwidth, peak}. sentence: what the chart says, for who does not see it.
 */
export function explorerChart(points, roof, width, sentence) {
  const size = {width, height: Math.round(Math.min(560, Math.max(320, width * 0.62)))};
  const domain = domains(points, roof);
  const svg = plot({
    ...size,
    marginTop: MARGIN.top,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    marginLeft: MARGIN.left,
    className: "roofline-plot",
    x: {type: "log", domain: domain.x},
    y: {type: "log", domain: domain.y},
    marks: marks(points, roof, domain, size),
  });
  // the Content-Security-Policy refuses them; page.css has Plot's few rules
  for (const style of svg.querySelectorAll("style")) style.remove();
  for (const child of svg.children) child.setAttribute("aria-hidden", "true");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", sentence);
  const [px, py] = [svg.scale("x").apply, svg.scale("y").apply];
  const dots = points
    .flatMap((p) => [
      [p.intensity, p.attainable],
      [p.before?.intensity, p.before?.attainable],
      [p.intensity, p.rate],
    ])
    .filter(([x, y]) => x > 0 && y > 0)
    .map(([x, y]) => boxAt(px(x), py(y), 14, 14));
  const lines = roofLines({copy: roof.bandwidth, fma: roof.peak, ridge: roof.peak / roof.bandwidth}, domain);
  const {group, boxes} = names(svg, roof, px, py, size);
  const ends = lines.memory.map(([x, y]) => [px(x), py(y)]);
  const along45 =
    ends.length === 2
      ? Array.from({length: 80}, (_, i) =>
          boxAt(
            ends[0][0] + ((ends[1][0] - ends[0][0]) * i) / 79,
            ends[0][1] + ((ends[1][1] - ends[0][1]) * i) / 79,
            6,
            6,
          ),
        )
      : [];
  if (ends.length === 2) boxes.push(...slope(group, ends, roof, [...dots, ...boxes]));
  const flat = boxAt(
    (px(roof.peak / roof.bandwidth) + size.width - MARGIN.right) / 2,
    py(roof.peak),
    size.width - MARGIN.right - px(roof.peak / roof.bandwidth),
    6,
  );
  numbers(svg, points, [...dots, ...boxes, ...along45, flat], px, py, size);
  return svg;
}
