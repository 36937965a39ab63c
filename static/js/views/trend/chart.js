// A trend drawn by Observable Plot: band, points by shape, changes of driver. Points are told by pointer, tap and arrow
// keys.
import {areaY, axisX, axisY, dot, gridY, line, link, plot, ruleX} from "../../chart/vendor.js";
import {DAY_MS, MONTHS, dayNumber} from "../../parts/days.js";
import {svgElement} from "../../parts/dom.js";
import {exact, unitFor} from "../../parts/exact.js";
import {direction, kindOf, verdict, versionOf} from "./words.js";

const MARGIN = {top: 44, right: 14, bottom: 54, left: 66};
const EDGE = 12; // pixels between the edge and the first day, so that a mark there is whole
const REACH = 48; // pixels within which the pointer means a point
const RULES_MOST = 12;
const LANES = 3;
// so many days and fewer have a tick in the middle of each day or of every second, third …: Plot would go on to hours
const DAYS_FEW = 21;

/**
 * Shape and colours of each kind of point; the shape alone tells them apart, and of the diamonds their place over or
 * under the band.
 */
export const SHAPES = {
  inside: {symbol: "circle", fill: "var(--circle)", stroke: "var(--page)", r: 4.5, words: "inside its band"},
  worse: {symbol: "diamond", fill: "var(--page)", stroke: "var(--bad)", r: 7.5, words: "outside of its band, worse"},
  better: {symbol: "diamond", fill: "var(--page)", stroke: "var(--good)", r: 7.5, words: "outside of its band, better"},
  outside: {symbol: "diamond", fill: "var(--page)", stroke: "var(--text)", r: 7.5, words: "outside of its band"},
  none: {symbol: "circle", fill: "var(--page)", stroke: "var(--ask)", r: 4, words: "no band yet"},
  accepted: {
    symbol: "square",
    fill: "var(--second)",
    stroke: "var(--page)",
    r: 6,
    words: "accepted change: the baseline begins anew at its line",
  },
};

/** Which of the shapes a point has. */
export const shapeOf = (point, of) => direction(point, of) ?? kindOf(point);

/** Points with a place: those of one day stand side by side within it. */
function placed(points, of) {
  const perDay = new Map();
  for (const point of points) perDay.set(point.day, (perDay.get(point.day) ?? 0) + 1);
  const seen = new Map();
  return points.map((point, index) => {
    const nth = (seen.get(point.day) ?? 0) + 1;
    seen.set(point.day, nth);
    const x = new Date((dayNumber(point.day) + nth / (perDay.get(point.day) + 1)) * DAY_MS);
    return {
      point,
      index,
      x,
      y: point.median,
      kind: kindOf(point),
      shape: shapeOf(point, of),
      low: point.band?.low ?? null,
      high: point.band?.high ?? null,
      middle: point.band?.median ?? null,
    };
  });
}

function domains(items) {
  const values = items
    .flatMap(({point, low, high}) => [point.min, point.max, point.median, low, high])
    .filter((value) => value !== null);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const pad = most > least ? 0.06 * (most - least) : Math.abs(most) * 0.01 || 1;
  const days = items.map(({point}) => dayNumber(point.day));
  return {
    y: [least - pad, most + pad],
    x: [new Date(Math.min(...days) * DAY_MS), new Date((Math.max(...days) + 1) * DAY_MS)],
  };
}

/** Whether a day of other series lies between two points: then what they share is not drawn through it. */
const isParted = (items, before, item) =>
  items
    .slice(items.indexOf(before) + 1, items.indexOf(item))
    .some(
      ({point}) => point.series !== item.point.series && point.day > before.point.day && point.day < item.point.day,
    );

/**
 * Where the band goes on without a break: it is that of one series, and a change that was accepted, a point without a
 * band and days of other series end it.
 */
function bandPieces(items) {
  const pieces = [];
  const last = new Map();
  for (const item of items) {
    const piece = last.get(item.point.series);
    if (item.low === null) last.delete(item.point.series);
    else if (piece && !isParted(items, piece.at(-1), item)) piece.push(item);
    else {
      last.set(item.point.series, [item]);
      pieces.push(last.get(item.point.series));
    }
  }
  return pieces;
}

/**
 * [{x, text, words}] where the driver becomes another, or the CUDA version or the series does; of very many only the
 * first day of each.
 */
export function versionRules(items) {
  const flips = (of, text, words = text) =>
    items
      .filter((item, i) => i > 0 && of(item) !== null && of(items[i - 1]) !== null && of(item) !== of(items[i - 1]))
      .map((item) => ({
        x: new Date(dayNumber(item.point.day) * DAY_MS),
        text: text(of(item)),
        words: words(of(item)),
        of: of(item),
      }));
  const firsts = (list, first) =>
    list.filter((rule, i) => rule.of !== first && list.findIndex((other) => other.of === rule.of) === i);
  const drivers = flips(
    (item) => item.point.driver,
    (driver) => driver,
    (driver) => `driver ${driver}`,
  );
  const cudas = firsts(
    flips(
      (item) => item.point.cuda,
      (cuda) => `CUDA ${cuda}`,
    ),
    items[0]?.point.cuda,
  );
  const works = firsts(
    flips(
      (item) => item.point.series,
      (series) => `series ${series}`,
      (series) => `series ${series}, which is other work`,
    ),
    items[0]?.point.series,
  );
  const all = [...(drivers.length > RULES_MOST ? firsts(drivers, items[0].point.driver) : drivers), ...cudas, ...works];
  return {rules: all.sort((a, b) => a.x - b.x), shortened: drivers.length > RULES_MOST};
}

/** Options of the axis of days, at most so many ticks. */
function dayTicks(items, most) {
  const days = items.map(({point}) => dayNumber(point.day));
  const [first, last] = [Math.min(...days), Math.max(...days)];
  if (last - first >= DAYS_FEW) return {ticks: most};
  const step = Math.ceil((last - first + 1) / most);
  const ticks = [];
  for (let day = first; day <= last; day += step) ticks.push(new Date((day + 0.5) * DAY_MS));
  const month = (date) => date.getUTCMonth();
  return {
    ticks,
    tickFormat: (date, i) =>
      i === 0 || month(date) !== month(ticks[i - 1])
        ? `${date.getUTCDate()}\n${MONTHS[month(date)]}`
        : String(date.getUTCDate()),
  };
}

function ruleLabels(svg, rules, px, width) {
  const group = svg.appendChild(svgElement("g", {class: "rule-labels", "aria-hidden": "true"}));
  const ends = Array(LANES).fill(-Infinity);
  for (const rule of rules) {
    const text = rule.text.length > 14 ? `${rule.text.slice(0, 13)}…` : rule.text;
    const wide = text.length * 7 + 8;
    const x = Math.min(px(rule.x) + 3, width - MARGIN.right - wide + 8);
    const lane = ends.findIndex((end) => end < x);
    if (lane < 0) continue; // the list below the chart names it
    ends[lane] = x + wide;
    group.append(svgElement("text", {x: x.toFixed(1), y: String(MARGIN.top - 6 - 12 * lane)}, text));
  }
}

/** A line over a day, from y1 to y2. */
const upright = (y1, y2, options) => ({x1: "x", x2: "x", y1, y2, ...options});

/** The bands with their middles; one of a single day is a bar. */
function bands(items, scale) {
  const pieces = bandPieces(items);
  const lone = pieces.filter((piece) => piece.length === 1).map(([item]) => item);
  const [low, middle, high] = ["low", "middle", "high"].map((name) => (d) => d[name] / scale);
  const middleLine = {x: "x", y: middle, stroke: "var(--join)", strokeWidth: 1.2, strokeDasharray: "2 3"};
  return [
    ...pieces
      .filter((piece) => piece.length > 1)
      .flatMap((piece) => [areaY(piece, {x: "x", y1: low, y2: high, fill: "var(--band)"}), line(piece, middleLine)]),
    link(lone, upright(low, high, {stroke: "var(--band)", strokeWidth: 9})),
  ];
}

/** A dot for each value, in the shape of what it is. dense: how much smaller than usual. */
const points = (drawn, scale, dense) =>
  Object.entries(SHAPES).map(([kind, {symbol, fill, stroke, r}]) =>
    dot(
      drawn.filter((item) => item.shape === kind),
      {
        x: "x",
        y: (d) => d.y / scale,
        symbol,
        fill,
        stroke,
        strokeWidth: kind === "inside" ? 0.8 : 2,
        r: kind === "accepted" ? r : r * dense,
      },
    ),
  );

function axes(items, label, width) {
  const words = {fontSize: 12, color: "var(--muted)"};
  return [
    axisX({
      ...dayTicks(items, Math.max(3, Math.floor((width - MARGIN.left) / 100))),
      label: "day (UTC) →",
      labelAnchor: "right",
      labelOffset: MARGIN.bottom - 10,
      ...words,
    }),
    axisY({ticks: 6, label, labelOffset: MARGIN.left - 8, ...words}),
  ];
}

function base(items, of, size) {
  const domain = domains(items);
  const {size: scale, text: unit} = unitFor(Math.max(...domain.y.map(Math.abs)), of);
  const drawn = items.filter((item) => item.y !== null);
  const {rules, shortened} = versionRules(items);
  const dense = drawn.length > (size.width - MARGIN.left) / 5 ? 0.7 : 1; // smaller where points would hide one another
  const svg = plot({
    ...size,
    marginTop: MARGIN.top,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    marginLeft: MARGIN.left,
    className: "roofline-plot",
    x: {type: "utc", domain: domain.x, inset: EDGE},
    y: {domain: domain.y.map((value) => value / scale)},
    marks: [
      gridY({stroke: "var(--grid)", strokeOpacity: 1, ticks: 6}),
      ...bands(items, scale),
      ruleX(rules, {x: "x", stroke: "var(--muted)", strokeDasharray: "4 3"}),
      ruleX(
        items.filter((item) => item.kind === "accepted"),
        {x: "x", stroke: "var(--second)", strokeWidth: 1.5},
      ),
      link(
        drawn.filter((item) => item.point.min !== item.point.max),
        upright(
          (d) => d.point.min / scale,
          (d) => d.point.max / scale,
          {stroke: "var(--join)", strokeWidth: 1},
        ),
      ),
      ...points(drawn, scale, dense),
      ...axes(items, `↑ ${of.name}${unit ? `, ${unit}` : ""}`, size.width),
    ],
  });
  // Plot's few rules stand in page.css: the Content-Security-Policy would refuse its style element.
  for (const style of svg.querySelectorAll("style")) style.remove();
  const px = (value) => svg.scale("x").apply(value);
  const py = (value) => svg.scale("y").apply(value / scale);
  ruleLabels(svg, rules, px, size.width);
  return {svg, px, py, drawn, rules, shortened};
}

function sentence({point}, of) {
  return (
    `${point.day} UTC, ${versionOf(point)}${point.ofSeries}: ${exact(point.median, of)}, ${point.used} ` +
    `${point.used === 1 ? "run" : "runs"}${point.foreign === null ? "" : `, ${point.foreign}`}. ` +
    `${verdict(point, of)}`
  );
}

/**
 * A stop of the Tab key for one of the points, arrow keys through all, the pointer for the nearest. choose(item) is
 * told.
 */
function interact(svg, drawn, px, py, of, choose) {
  const layer = svg.appendChild(svgElement("g", {class: "points"}));
  const groups = drawn.map((item, i) => {
    const group = svgElement(
      "g",
      {
        class: "point",
        role: "img",
        tabindex: i === drawn.length - 1 ? "0" : "-1",
        "aria-label": sentence(item, of),
        "data-point": String(item.index),
      },
      svgElement("circle", {class: "ring", cx: px(item.x).toFixed(2), cy: py(item.y).toFixed(2), r: "14"}),
    );
    layer.append(group);
    return group;
  });
  let chosen = -1;
  const pick = (i, focus) => {
    groups[chosen]?.classList.remove("is-chosen");
    for (const group of groups) group.setAttribute("tabindex", "-1");
    chosen = i;
    groups[i].classList.add("is-chosen");
    groups[i].setAttribute("tabindex", "0");
    if (focus) groups[i].focus();
    choose(drawn[i]);
  };
  layer.addEventListener("focusin", (event) => {
    const i = groups.indexOf(event.target.closest(".point"));
    if (i >= 0 && i !== chosen) pick(i, false);
  });
  layer.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return; // the browser's own, as back is
    const i = groups.indexOf(document.activeElement);
    const to = {ArrowRight: i + 1, ArrowUp: i + 1, ArrowLeft: i - 1, ArrowDown: i - 1, Home: 0, End: groups.length - 1}[
      event.key
    ];
    if (i < 0 || to === undefined) return;
    event.preventDefault();
    if (groups[to]) pick(to, true);
  });
  const places = drawn.map((item) => [px(item.x), py(item.y)]);
  const point = (event) => {
    const box = svg.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width;
    const [x, y] = [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale];
    const far = places.map(([a, b]) => Math.hypot(a - x, (b - y) / 2)); // days are what one points at; rates follow
    const i = far.indexOf(Math.min(...far));
    if (i >= 0 && far[i] <= REACH && i !== chosen) pick(i, false);
  };
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  return {
    chooseIndex: (index, focus = false) => {
      const i = drawn.findIndex((item) => item.index === index);
      if (i >= 0) pick(i, focus);
    },
  };
}

/** {svg, chooseIndex, rules, shortened}; null where no point has a value. of: quantity() of the metric. */
export function trendChart(points, of, width, choose) {
  const items = placed(points, of);
  if (!items.some((item) => item.y !== null)) return null;
  const size = {width, height: Math.max(280, Math.min(440, Math.round(width * 0.45)))};
  const {svg, px, py, drawn, rules, shortened} = base(items, of, size);
  svg.setAttribute("role", "group");
  svg.setAttribute(
    "aria-label",
    `${of.name} over days, ${drawn.length} ${drawn.length === 1 ? "point" : "points"}; arrow keys go from point to ` +
      "point",
  );
  for (const part of svg.children) if (!part.classList.contains("points")) part.setAttribute("aria-hidden", "true");
  return {svg, rules, shortened, ...interact(svg, drawn, px, py, of, choose)};
}
