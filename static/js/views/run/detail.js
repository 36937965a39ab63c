// The kernel that is pointed at, in figures and words, and the chart's key.
import {ceilingState, levelOf} from "../../chart/model.js";
import {definitions} from "../../parts/blocks.js";
import {element, svgElement} from "../../parts/dom.js";
import {NONE, ceilingName, flag, intensity, nextStep, percent, ratio, sentence, si} from "../../parts/format.js";
import {bdi} from "../../parts/inline.js";

/** A value, or its reason; a dash where the advice below gives the same reason. */
const known = (of, member, text) => {
  if (of[member] !== null) return text(of[member]);
  const why = of.why?.[member] ?? NONE;
  return why === of.why?.advice ? NONE : why;
};

function facts(p) {
  const {of} = p;
  const rows = [
    [p.row.flop === 0 ? "of its roof for bytes" : "of its roof", known(of, "percent_of_roof", percent)],
    ["bound", known(of, "bound", String)],
    ["rate", si(p.rate, "FLOP/s")],
    ["its roof", known(of, "attainable_flop_per_s", (v) => si(v, "FLOP/s"))],
    ["DRAM rate", known(of, "dram_byte_per_s", (v) => si(v, "B/s"))],
    ["measured intensity", p.measured !== null ? intensity(p.measured) : p.why === of.why?.advice ? NONE : p.why],
    ["asked intensity", intensity(p.asked)],
  ];
  // Where there is no flop there is no roof in flop either: one reason is enough.
  return p.row.flop === 0
    ? rows.filter(([name]) => name !== "its roof" && name !== "asked intensity" && name !== "rate")
    : rows;
}

/** The percent of the roof as a bar; above 100 the roof is a line within it. The row below it has the number. */
function meter(percent) {
  if (percent === null) return null;
  const full = Math.max(100, percent);
  const share = (value) => `${((100 * value) / full).toFixed(1)}%`;
  const roof = percent > 100 ? svgElement("rect", {class: "roof", x: share(100), width: 2, height: "100%"}) : "";
  return svgElement(
    "svg",
    {class: "meter", width: "100%", height: 8, "aria-hidden": "true"},
    svgElement("rect", {class: "whole", width: "100%", height: "100%"}),
    svgElement("rect", {class: "part", width: share(percent), height: "100%"}),
    roof,
  );
}

/** Sentences on what the figures do not say by themselves. */
const explainedOf = ({explained}) =>
  [explained?.dram_per_ask, explained?.flop, explained?.roof]
    .filter(Boolean)
    .map((text) => element("p", {class: "hint"}, text));

/** What to do next in three words, and the sentence of the API. */
const nextOf = (of) =>
  of.advice === null
    ? [element("p", {class: "advice", dir: "auto"}, of.why?.advice ? sentence(of.why.advice) : "")]
    : [
        element("p", {class: "next-step"}, `Next: ${nextStep(of.advice_code)}`),
        element("p", {class: "advice", dir: "auto"}, of.advice),
      ];

const flagWords = (p) =>
  [...new Set([...p.row.flags, ...p.of.flags])].map((name) => element("p", {class: "reason"}, sentence(flag(name))));

function beside(q, p, run, first) {
  const head = element("h4", {}, `In run ${run.id}, laid over`);
  if (!q?.of) return [head, element("p", {class: "reason"}, q ? q.why : "This kernel is not in it.")];
  const rows = facts(q).filter(([name]) =>
    ["measured intensity", "rate", "DRAM rate", "of its roof", "of its roof for bytes", "bound"].includes(name),
  );
  if (p?.rate && q.rate) rows.push([`rate over that of run ${first.id}`, `${ratio(q.rate / p.rate)}\u00a0\u00d7`]);
  return [head, definitions(rows, {})];
}

/**
 * p: the kernel as placed in the first run, or null where only the second one has it; q: in the run laid over; second:
 * {run} or null; first: the run itself; onward(p): links to what else there is of it.
 */
export function detail(p, q, second, first, onward) {
  const shown = p ?? q;
  const head = element("h3", {}, element("span", {class: "badge"}, String(shown.number)), bdi(shown.title));
  const over = second ? beside(q, p, second.run, first) : [];
  if (!p) return [head, ...over];
  if (!p.of) return [head, element("p", {class: "reason"}, p.why), ...over];
  return [
    head,
    meter(p.of.percent_of_roof),
    definitions(facts(p), {}),
    ...nextOf(p.of),
    ...explainedOf(p.of),
    ...flagWords(p),
    ...onward(p),
    ...over,
  ].filter(Boolean);
}

const shape = (name, attributes) => svgElement(name, attributes);
const sample = (name, ...shapes) =>
  element(
    "span",
    {class: "sample"},
    svgElement("svg", {width: 34, height: 14, "aria-hidden": "true"}, ...shapes),
    name,
  );

/** What the distance between a point and where its asked bytes would put it stands for, and how to read the chart. */
function effectLine(effect, points, first) {
  const asked = first.shown.some((p) => p.asked !== null);
  const uncounted =
    "No bytes were counted: each circle stands where the bytes asked for put it, and one above the roof was served " +
    "by the caches in part. ";
  const how =
    "Point at a number, tap it, or reach it with Tab and the arrow keys: its figures, its bound and what to do next " +
    "are shown.";
  return element(
    "p",
    {class: "effect"},
    points.some((p) => p.asked !== null) ? `${effect} ` : asked ? uncounted : "",
    element("span", {class: "hint"}, how),
  );
}

/** What the chart's signs mean, of those that are on it. series: the scene's. */
export function key(series, level) {
  const [first, second] = series;
  const points = series.flatMap(({shown}) => shown.filter((p) => p.where === "point"));
  const has = (bound) => points.some((p) => p.of.bound === bound);
  const {effect} = levelOf(level);
  const made = [
    has("memory") && sample("memory bound", shape("circle", {cx: 17, cy: 7, r: 5, class: "fill-circle"})),
    has("compute") &&
      sample("compute bound", shape("rect", {x: 12, y: 2, width: 10, height: 10, class: "fill-square"})),
    has("latency") && sample("latency bound", shape("path", {d: "M17,1L23,12H11Z", class: "fill-triangle"})),
    points.some((p) => p.of.bound === null) &&
      sample("not judged", shape("path", {d: "M17,1L23,7L17,13L11,7Z", class: "fill-diamond"})),
    first.shown.some((p) => p.asked !== null) &&
      sample(
        "where the bytes asked for would put it",
        points.length === 0 ? "" : shape("path", {d: "M8,7H34", class: "join"}),
        shape("circle", {cx: 6, cy: 7, r: 4, class: "ask"}),
      ),
    series.some(({shown}) => shown.some((p) => p.where === "edge")) &&
      sample("too few DRAM bytes to count", shape("path", {d: "M12,1l11,6l-11,6z", class: "fill-edge"})),
    level === "dram" &&
      first.shown.some((p) => p.where === "point" && p.of.attainable_flop_per_s > 0) &&
      sample("from the chosen point to its own roof", shape("path", {d: "M17,13V2M11,2H23", class: "room"})),
    first.roof.mixes &&
      sample(
        `read, write and triad, ${ceilingState(first.state)}: the roofs of other mixes`,
        shape("rect", {x: 0, y: 4, width: 34, height: 6, class: "band"}),
      ),
    first.roof.others.length > 0 &&
      sample(
        first.roof.others
          .map(({name, value, unit}) => `${ceilingName(name)}, ${si(value, unit === "flop_per_s" ? "FLOP/s" : "B/s")}`)
          .join("; "),
        shape("path", {d: "M0,7H34", class: "further"}),
      ),
    second &&
      sample(
        `run ${second.run.id}, ${second.state}: hollow, numbers with ′, dashed roof; dotted: how a kernel moved`,
        shape("path", {d: "M0,7H34", class: "second-roof"}),
        shape("circle", {cx: 17, cy: 7, r: 6, class: "second-point"}),
      ),
    series.some(({shown}) => shown.some((p) => p.rate !== null)) && effectLine(effect, points, first),
  ];
  return made.filter(Boolean);
}
