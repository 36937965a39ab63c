// A trend's quantities and verdicts in words and digits.
import {NONE, prefixFor, withUnit} from "../../parts/format.js";
import {changeOf} from "../compare/words.js";

const DIGITS = 5; // a change of one part in a thousand is to be seen

export const METRICS = {
  time_s: {name: "time of a launch", unit: "s", prefixed: true, better: "lower"},
  value: {name: "rate", unit: "B/s", prefixed: true, better: "higher"},
  dram_bytes: {name: "DRAM bytes of a launch", unit: "B", prefixed: true, better: "lower"},
  dram_per_ask: {name: "DRAM bytes over asked bytes", unit: "", prefixed: false, better: "lower"},
  percent_of_ceiling: {name: "DRAM rate, of the copy ceiling", unit: "%", prefixed: false, better: "higher"},
};

/** The metrics that the API knows for a kernel or ceiling of its catalogue. */
export const metricsOf = (unit) =>
  unit.kind === "kernel"
    ? ["time_s", "dram_bytes", "dram_per_ask", "percent_of_ceiling"]
    : ["value", "dram_bytes", "dram_per_ask"];

/** {name, unit, prefixed, better} of a metric of a unit: what a ceiling's value counts depends on the ceiling. */
export function quantity(metric, kind) {
  const known = METRICS[metric] ?? {name: metric, unit: "", prefixed: false};
  return metric === "value" && kind === "compute_ceiling" ? {...known, unit: "FLOP/s"} : known;
}

/** The unit, with its prefix, for values around this one: {size, power, text}. */
export function unitFor(value, {unit, prefixed}) {
  const [size, prefix, power] = !prefixed || value === 0 ? [1, "", 0] : prefixFor(value, DIGITS);
  return {size, power, text: `${prefix}${unit}`};
}

/** A bare number: four decimals where that says enough. */
const plain = (value) => (Math.abs(value) >= 0.1 || value === 0 ? value.toFixed(4) : value.toPrecision(DIGITS - 1));

/**
 * value / 10^power in so many significant digits, rounded once and from the number itself: a division before it would
 * round too.
 */
function shifted(value, power) {
  const [mantissa, exponent] = value.toExponential(DIGITS - 1).split("e");
  return Number(`${mantissa}e${Number(exponent) - power}`).toPrecision(DIGITS);
}

/** Five significant digits with the unit; what has no prefix, with a fixed number of decimals. */
export function exact(value, of) {
  if (value === null) return NONE;
  const {power, text} = unitFor(value, of);
  if (!of.prefixed) return text === "" ? plain(value) : withUnit(value.toFixed(2), text);
  return withUnit(value === 0 ? "0" : shifted(value, power), text);
}

/** "46.598 to 47.731 µs": one unit for both where one prefix fits both. */
export function range(low, high, of) {
  if (low === null || high === null) return NONE;
  const unit = unitFor(high, of);
  const [from, to] = [exact(low, of), exact(high, of)];
  return unit.text !== "" && unit.text === unitFor(low, of).text
    ? `${from.slice(0, -unit.text.length - 1)} to ${to}`
    : `${from} to ${to}`;
}

/** A change of a value against what it was, in percent with its sign. */
export const change = (value, before) => (value === null || !before ? NONE : changeOf(value / before));

/** "accepted", "unknown", "none" (no band), "outside" or "inside". */
export function kindOf(point) {
  if (point.median === null) return "unknown";
  if (point.accepted) return "accepted";
  if (point.band === null) return "none";
  return point.outside ? "outside" : "inside";
}

/**
 * Whether a point outside of its band is "better" or "worse" than it; null for one that is not outside, and where
 * neither direction is the better one.
 */
export function direction(point, of) {
  if (kindOf(point) !== "outside" || !of.better) return null;
  return (of.better === "lower") === point.median < point.band.low ? "better" : "worse";
}

/** What a point says of itself, in a sentence. */
export function verdict(point, of) {
  const why = point.why.band ? `No band: ${point.why.band}.` : "";
  if (point.median === null) return `No value: ${point.why.median}.`;
  if (point.accepted) return `An accepted change: the baseline begins anew here. ${why}`.trim();
  if (point.band === null) return why;
  if (!point.outside) return "Inside its band.";
  const judged = direction(point, of);
  return `${point.median > point.band.high ? "Above" : "Below"} its band${judged === null ? "" : `: ${judged}`}.`;
}

/** Whether a trend has points that are not held against one another, or times that are a profiler's. */
export const isOfSeries = (trend) =>
  trend.series.length > 1 || trend.series.some((series) => series.times === "profiler");

/** What tells the work of a series from that of others. */
export const workKey = (trend, point) => {
  const {flop, ask_bytes: ask, dims, times} = trend.series[point.series - 1];
  return [flop, ask, dims, times].join("|");
};

export const versionOf = (point) => `driver ${point.driver ?? "unknown"}, CUDA ${point.cuda ?? "unknown"}`;
