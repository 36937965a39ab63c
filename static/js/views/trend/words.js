// A trend's quantities and verdicts in words.

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
