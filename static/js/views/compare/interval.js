// A ratio with its interval on one scale for all rows: linear near no change, logarithmic far from it, so that 1
// percent stays to be seen beside 300.
import {svgElement} from "../../parts/dom.js";

const LINEAR = 1; // percent: about where the scale turns from linear to logarithmic, the least change that counts
const TICKS = [0, 1, 3, 10, 30, 100, 300, 1000, 10000];
const [WIDTH, HEIGHT, PAD] = [280, 34, 12];
const MIDDLE = 11; // of the interval; the runs' own spread is below it
const MARK = 12; // a mark's width
const LEAST = 3; // percent: the scale reaches at least that far

const bend = (percent) => Math.asinh(percent / LINEAR);
const percentOf = (ratio) => 100 * (ratio - 1);

/** Whose runs have a place on the scale, which is of base's median: head's only where the two can be held together. */
const sidesOf = (measure) => (measure.ratio === null ? ["base"] : ["base", "head"]);

/** One scale for all of these: {x(ratio), ticks}. measures: {ratio, interval: {low, high}}; a null has no place. */
export function scaleOf(measures) {
  const quartiles = (measure) =>
    sidesOf(measure)
      .flatMap((side) => [`${side}_p25`, `${side}_p75`])
      .map((name) => (measure.base && measure[name] !== null ? measure[name] / measure.base : null));
  const values = measures
    .flatMap((measure) => [measure.ratio, measure.interval.low, measure.interval.high, ...quartiles(measure)])
    .filter((value) => value !== null)
    .map((ratio) => Math.abs(percentOf(ratio)));
  const reach = bend(Math.max(LEAST, ...values) * 1.08);
  const x = (ratio) => WIDTH / 2 + (bend(percentOf(ratio)) / reach) * (WIDTH / 2 - PAD);
  const within = TICKS.filter((tick) => bend(tick) <= reach);
  // no time is shorter by more than all of it
  return {
    x,
    ticks: [
      ...within
        .slice(1)
        .filter((tick) => tick < 100)
        .map((tick) => -tick)
        .reverse(),
      ...within,
    ],
  };
}

const tickWord = (tick) => (tick === 0 ? "0" : `${tick > 0 ? "+" : "−"}${Math.abs(tick)}`);

/** The scale's ticks, once above all rows. */
export function axis(scale) {
  const svg = svgElement("svg", {class: "interval axis", viewBox: `0 0 ${WIDTH} 22`, "aria-hidden": "true"});
  let end = -Infinity;
  for (const tick of scale.ticks) {
    const at = scale.x(1 + tick / 100);
    const half = tickWord(tick).length * 3.6;
    if (at - half < end + 3 && tick !== 0) continue;
    end = at + half;
    svg.append(
      svgElement("text", {x: at.toFixed(1), y: "12", "text-anchor": "middle"}, tickWord(tick)),
      svgElement("path", {d: `M${at.toFixed(1)},16V22`}),
    );
  }
  return svg;
}

const SHAPES = {
  up: "M-6,5L0,-6L6,5z",
  down: "M-6,-5L0,6L6,-5z",
  diamond: "M-6,0L0,-6L6,0L0,6z",
  circle: "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z",
};

/** The verdict's shape by itself, for its word. */
export function mark(shape) {
  const svg = svgElement("svg", {
    class: `verdict-mark ${shape}`,
    viewBox: "-8 -8 16 16",
    width: "14",
    height: "14",
    "aria-hidden": "true",
  });
  if (SHAPES[shape]) svg.append(svgElement("path", {d: SHAPES[shape]}));
  return svg;
}

/** Shapes of the key: a band, an interval with its ends, the thin lines of the sides. */
function sample(...parts) {
  return svgElement(
    "svg",
    {class: "interval-sample", width: "24", height: "14", viewBox: "0 0 24 14", "aria-hidden": "true"},
    ...parts,
  );
}
const shapeOf = (name, path) => svgElement("path", {class: name, d: path});

/** What band, barred line, mark and thin lines are: [[svg, words], …]. change: the least that counts, as a share. */
export const key = (change) => [
  [
    sample(svgElement("rect", {class: "same-band", x: "0", y: "0", width: "24", height: "14"})),
    `under ±${(100 * change).toFixed(0)}\u00a0%: no change`,
  ],
  [
    sample(
      shapeOf("range", "M2,2V12M2,7H22M22,2V12"),
      svgElement("path", {class: "at", d: SHAPES.circle, transform: "translate(12,7)"}),
    ),
    "the change and the interval that it lies in",
  ],
  [sample(shapeOf("spread base", "M2,7H22")), "middle half of base's runs, above"],
  [sample(shapeOf("spread head", "M2,7H22")), "of head's"],
];

/**
 * Band of ±1 percent, interval with its ends, ratio by the verdict's shape; words stand beside it, so it is hidden from
 * readers.
 */
export function interval(measure, scale, shape, change) {
  const {
    ratio,
    interval: {low, high},
  } = measure;
  const svg = svgElement("svg", {class: "interval", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true"});
  const [from, to] = [scale.x(1 - change), scale.x(1 + change)];
  svg.append(
    svgElement("rect", {class: "same-band", x: from.toFixed(1), y: "0", width: (to - from).toFixed(1), height: HEIGHT}),
    svgElement("path", {class: "zero", d: `M${scale.x(1).toFixed(1)},0V${HEIGHT}`}),
  );
  if (low !== null && high !== null) {
    const [a, b] = [scale.x(low).toFixed(1), scale.x(high).toFixed(1)];
    // ends of a shorter one would stick out behind the mark
    const end = (x) => (b - a > MARK ? `M${x},${MIDDLE - 5}V${MIDDLE + 5}` : "");
    svg.append(svgElement("path", {class: "range", d: `${end(a)}M${a},${MIDDLE}H${b}${end(b)}`}));
  }
  const heights = {base: 25, head: 30};
  for (const side of sidesOf(measure)) {
    const y = heights[side];
    const [p25, p75] = [measure[`${side}_p25`], measure[`${side}_p75`]];
    if (measure.base && p25 !== null && p75 !== null) {
      const from = (scale.x(p25 / measure.base) - 0.5).toFixed(1);
      const to = (scale.x(p75 / measure.base) + 0.5).toFixed(1);
      svg.append(svgElement("path", {class: `spread ${side}`, d: `M${from},${y}H${to}`}));
    }
  }
  if (ratio !== null) {
    svg.append(
      svgElement("path", {
        class: `at ${shape}`,
        d: SHAPES[shape] ?? SHAPES.circle,
        transform: `translate(${scale.x(ratio).toFixed(1)},${MIDDLE})`,
      }),
    );
  }
  return svg;
}
