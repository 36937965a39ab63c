// The roofline as SVG: Observable Plot draws axes, roofs, points and the lines that join them; names, numbers, focus
// and pointer are added by the files beside this one.
import {svgElement} from "../parts/dom.js";
import {tick} from "../parts/format.js";
import {areaY, axisX, axisY, dot, gridX, gridY, line, link, plot, ruleX} from "./vendor.js";
import {listen, pointGroups} from "./points.js";
import {roofNames} from "./roofs.js";
import {boxAt, LEADER, placeLabels} from "./labels.js";
import {ceilingState, decadeTicks, domains, levelOf, mixBand, place, roofLines, roofs} from "./model.js";

const SYMBOLS = {memory: "circle", compute: "square", latency: "triangle"};
const SHAPES = ["circle", "square", "triangle", "diamond"];
const MARGIN = {top: 20, right: 30, bottom: 46, left: 60};

const symbolOf = (p) => SYMBOLS[p.of.bound] ?? "diamond";
const isPoint = (p) => p.where === "point";

/** One run as it goes onto the chart. hidden: numbers of kernels that the reader has put away. */
function seriesOf(run, state, level, hidden, index, numberOf) {
  const placed = place(run, state, level).map((p) => ({
    ...p,
    index,
    number: numberOf(p),
    label: index === 0 ? String(numberOf(p)) : `${numberOf(p)}′`,
  }));
  return {
    run,
    state,
    index,
    roof: roofs(run, state, level),
    placed,
    shown: placed.filter((p) => !hidden.has(p.number)),
  };
}

/**
 * What stands on the chart: the run, and another one over it where second is not null. A kernel of the second run has
 * the number that it has in the first one; others are counted on. Returns the series, the first run's first.
 */
export function scene({run, state, level, hidden}, second) {
  const first = seriesOf(run, state, level, hidden, 0, (p) => p.number);
  if (!second) return [first];
  const numbers = new Map(first.placed.map((p) => [p.kernel, p.number]));
  for (const row of second.run.kernels) if (!numbers.has(row.kernel)) numbers.set(row.kernel, numbers.size + 1);
  return [first, seriesOf(second.run, second.state, level, hidden, 1, (p) => numbers.get(p.kernel))];
}

function domainOf(all) {
  const each = all.map(({shown, roof}) => domains(shown, roof));
  const both = (axis) => [Math.min(...each.map((d) => d[axis][0])), Math.max(...each.map((d) => d[axis][1]))];
  return {x: both("x"), y: both("y")};
}

/** The roofs of a series as marks of Plot; the second run's are dashed. */
function roofMarks({roof, index}, lines, domain) {
  const colour = index === 0 ? "var(--roof)" : "var(--second)";
  const style = {stroke: colour, strokeWidth: 2.5, strokeDasharray: index === 0 ? null : "9 5"};
  const further = roof.others.map(({value, unit}) => {
    const cut =
      unit === "flop_per_s"
        ? roofLines({copy: null, fma: value, ridge: null}, domain).compute
        : roofLines({...roof, copy: value, ridge: roof.fma === null ? null : roof.fma / value}, domain).memory;
    return line(cut, {stroke: "var(--join)", strokeWidth: 1.2, strokeDasharray: "2 4"});
  });
  const band = roof.mixes ? mixBand(roof.mixes, roof.fma, domain) : [];
  return [
    index === 0 && roof.mixes ? areaY(band, {x: "x", y1: "low", y2: "high", fill: "var(--band)"}) : null,
    ...(index === 0 && roof.mixes
      ? ["low", "high"].map((y) => line(band, {x: "x", y, stroke: "var(--join)", strokeWidth: 0.8}))
      : []),
    ...(index === 0 ? further : []),
    roof.ridge === null
      ? null
      : ruleX([roof.ridge], {y1: domain.y[0], y2: roof.fma, stroke: colour, strokeDasharray: "3 4"}),
    line(lines.memory, style),
    line(lines.compute, style),
  ];
}

function firstMarks({shown}) {
  const asked = shown.filter((p) => p.asked !== null);
  return [
    link(
      shown.filter((p) => isPoint(p) && p.asked !== null),
      {x1: "asked", y1: "rate", x2: "measured", y2: "rate", stroke: "var(--join)", strokeWidth: 1.5},
    ),
    dot(asked, {x: "asked", y: "rate", r: 4, fill: "var(--page)", stroke: "var(--ask)", strokeWidth: 1.6}),
    ...SHAPES.map((symbol) =>
      dot(
        shown.filter((p) => isPoint(p) && symbolOf(p) === symbol),
        {x: "measured", y: "rate", r: 5.5, symbol, fill: `var(--${symbol})`, stroke: "var(--page)", strokeWidth: 1},
      ),
    ),
  ];
}

/**
 * The second run's points are hollow and larger, so that one that lies on the first run's still shows; a dotted line
 * says how a kernel moved.
 */
function secondMarks(first, {shown}) {
  const points = shown.filter(isPoint);
  const moved = points.flatMap((p) => {
    const before = first.shown.find((q) => q.kernel === p.kernel && isPoint(q));
    return before ? [{x1: before.measured, y1: before.rate, x2: p.measured, y2: p.rate}] : [];
  });
  return [
    link(moved, {
      x1: "x1",
      y1: "y1",
      x2: "x2",
      y2: "y2",
      stroke: "var(--second)",
      strokeWidth: 1.2,
      strokeDasharray: "1.5 3",
    }),
    ...SHAPES.map((symbol) =>
      dot(
        points.filter((p) => symbolOf(p) === symbol),
        {x: "measured", y: "rate", r: 8, symbol, fill: "none", stroke: "var(--second)", strokeWidth: 2},
      ),
    ),
  ];
}

function base(all, size, domain, level) {
  const lines = all.map(({roof}) => roofLines(roof, domain));
  const x = decadeTicks(domain.x, Math.floor((size.width - MARGIN.left - MARGIN.right) / 44));
  const y = decadeTicks(domain.y, Math.floor(size.height / 40));
  const svg = plot({
    ...size,
    marginTop: MARGIN.top,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    marginLeft: MARGIN.left,
    className: "roofline-plot",
    x: {type: "log", domain: domain.x},
    y: {type: "log", domain: domain.y},
    marks: [
      gridX({ticks: x, stroke: "var(--grid)", strokeOpacity: 1}),
      gridY({ticks: y, stroke: "var(--grid)", strokeOpacity: 1}),
      axisX({
        ticks: x,
        tickFormat: tick,
        label:
          size.width < 500
            ? `FLOP per ${levelOf(level).bytes} →`
            : `arithmetic intensity, FLOP per ${levelOf(level).bytes} →`,
        labelAnchor: "right",
        labelOffset: 39,
        fontSize: 12,
        color: "var(--muted)",
      }),
      axisY({ticks: y, tickFormat: tick, label: "↑ FLOP/s", fontSize: 12, color: "var(--muted)"}),
      ...all.flatMap((series, i) => roofMarks(series, lines[i], domain)),
      ...firstMarks(all[0]),
      ...(all.length > 1 ? secondMarks(all[0], all[1]) : []),
    ],
  });
  // Plot puts its few rules into a style element, which the daemon's Content-Security-Policy would refuse; they stand
  // in page.css.
  for (const style of svg.querySelectorAll("style")) style.remove();
  return {svg, lines};
}

/**
 * Where the number of each kernel belongs and what else of it is on the chart, in pixels. The second run's asked points
 * are not drawn.
 */
function targets({shown, index}, px, py, size) {
  return shown
    .filter((p) => p.rate !== null && (p.where !== "none" || (p.asked !== null && index === 0)))
    .map((p) => {
      const y = py(p.rate);
      const asked = p.asked === null || index > 0 ? null : {x: px(p.asked), y};
      const main =
        p.where === "point"
          ? {x: px(p.measured), y}
          : p.where === "edge"
            ? {x: size.width - MARGIN.right + (index === 0 ? 10 : 2), y}
            : asked;
      return {p, main, asked};
    });
}

/** The boxes of all points that are drawn, and those of the lines between them. */
function drawnBoxes(items) {
  const dots = items.flatMap(({main, asked}) =>
    [boxAt(main.x, main.y, 13, 13)].concat(asked ? [boxAt(asked.x, asked.y, 11, 11)] : []),
  );
  const joins = items.flatMap(({main, asked}) =>
    asked && asked !== main
      ? [{x0: Math.min(main.x, asked.x), x1: Math.max(main.x, asked.x), y0: main.y - 1, y1: main.y + 1}]
      : [],
  );
  return {dots, joins};
}

function numbers(svg, items, boxes, size) {
  const anchors = items.map(({p, main}) => ({x: main.x, y: main.y, width: 6 + 7.5 * p.label.length, height: 15}));
  const frame = {x0: MARGIN.left + 2, x1: size.width - 2, y0: 2, y1: size.height - MARGIN.bottom - 2};
  const centres = placeLabels(anchors, boxes, frame);
  const leaders = svg.appendChild(svgElement("g", {class: "leaders", "aria-hidden": "true"}));
  items.forEach((item, i) => {
    item.label = centres[i];
    const [dx, dy] = [centres[i].x - item.main.x, centres[i].y - item.main.y];
    const far = Math.hypot(dx, dy);
    if (far > LEADER) {
      const at = (share) => `${(item.main.x + share * dx).toFixed(1)},${(item.main.y + share * dy).toFixed(1)}`;
      leaders.append(svgElement("path", {d: `M${at(8 / far)}L${at((far - 8) / far)}`}));
    }
  });
}

/** From the chosen kernel's point up to its roof, where the API gives both: what is left. */
function headroom(items, level, py) {
  const group = svgElement("g", {class: "headroom", "aria-hidden": "true"});
  return {
    group,
    show(kernel) {
      const item = items.find(({p}) => p.kernel === kernel && p.index === 0 && p.where === "point");
      const roof = item?.p.of.attainable_flop_per_s ?? null;
      group.replaceChildren();
      if (level !== "dram" || roof === null || !(roof > 0)) return;
      const {x, y} = item.main;
      const top = py(roof);
      const from = y + Math.sign(top - y) * Math.min(10, Math.abs(top - y));
      group.append(
        svgElement("path", {
          d: `M${x.toFixed(1)},${from.toFixed(1)}V${top.toFixed(1)}M${(x - 6).toFixed(1)},${top.toFixed(1)}h12`,
        }),
      );
    },
  };
}

/**
 * Draws a view ({run, state, level, hidden}), with second ({run, state} or null) over it, width pixels wide.
 * choose(placed kernel) is called for the kernel that is pointed at, focused or tapped. Returns {svg, series,
 * mark(kernel id or null)}.
 */
export function roofline(view, second, width, choose) {
  const all = scene(view, second);
  const domain = domainOf(all);
  const size = {width, height: Math.round(Math.min(640, Math.max(360, width * 0.68)))};
  const {svg, lines} = base(all, size, domain, view.level);
  for (const child of svg.children) child.setAttribute("aria-hidden", "true");
  svg.setAttribute("role", "group");
  const over = second ? ` Run ${second.run.id} over it, hollow.` : "";
  svg.setAttribute(
    "aria-label",
    `Roofline, ${levelOf(view.level).name}, ${view.state} cache, both axes logarithmic.${over} The table below has ` +
      "the same numbers.",
  );
  const [px, py] = [svg.scale("x").apply, svg.scale("y").apply];
  const items = all.flatMap((series) => targets(series, px, py, size));
  const {dots, joins} = drawnBoxes(items);
  const names = roofNames(
    svg,
    all.map((series, i) => ({...series, lines: lines[i], ceilings: ceilingState(series.state)})),
    levelOf(view.level),
    {dots: items.flatMap(({main}) => boxAt(main.x, main.y, 22, 22)).concat(dots), joins},
    {px, py, size, margin: MARGIN},
  );
  numbers(svg, items, [...dots, ...joins, ...names], size);
  const room = headroom(items, view.level, py);
  svg.append(room.group);
  pointGroups(svg, items, levelOf(view.level));
  listen(svg, items, choose);
  const mark = (kernel) => {
    // one ring is enough where both runs have the kernel
    const first = items.some(({p}) => p.kernel === kernel && p.index === 0);
    for (const {p, group} of items) group.classList.toggle("is-chosen", p.kernel === kernel && !(first && p.index > 0));
    room.show(kernel);
  };
  return {svg, series: all, mark};
}
