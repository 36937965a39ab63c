// What the explorer says in sentences: pure, no DOM.
import {NONE, ratio, si, withUnit} from "../../parts/format.js";
import {
  ACCESS_DRAM_PER_ASK,
  ACCESS_L1_PER_ASK,
  AT_CEILING_PERCENT,
  isLatencyBound,
  LATENCY_PERCENT,
  nextStep,
} from "./math.js";

/** A percentage with as many decimals as tell it from another: 0.43, 6.9, 87.1. */
export function percent(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return NONE;
  if (value !== 0 && value < 0.001) return withUnit(value.toExponential(1), "%");
  return withUnit(value >= 1 || value === 0 ? value.toFixed(1) : value.toFixed(1 - Math.floor(Math.log10(value))), "%");
}

/** A factor: 231, 14.5, 1.3. */
export const factor = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));

/** Which side of the ridge, and how far. */
export function distance({regime, reuse}) {
  if (reuse === null) return "no intensity";
  if (Math.abs(reuse - 1) < 0.005) return "on the ridge";
  return regime === "memory" ? `${factor(reuse)}× left of the ridge` : `${factor(1 / reuse)}× right of the ridge`;
}

/** The whole of a placement in one or two sentences. */
export function sentence(name, {flop, bytes}, placed, roof) {
  if (placed.intensity === null) {
    return (
      `${name} has no flop, so no intensity and no place on the chart. It moves ${si(bytes, "B")}: under ` +
      `${roof.name} that takes at least ${si(bytes / roof.bandwidth, "s")}.`
    );
  }
  const side = placed.regime === "memory" ? "memory-bound" : "compute-bound";
  const far =
    Math.abs(placed.reuse - 1) < 0.005
      ? "on the ridge"
      : `a factor of ${factor(placed.regime === "memory" ? placed.reuse : 1 / placed.reuse)} ` +
        `${placed.regime === "memory" ? "left" : "right"} of the ridge`;
  return (
    `${name}: ${si(flop, "FLOP")} over ${si(bytes, "B")} is ${withUnit(ratio(placed.intensity), "FLOP")} per byte. ` +
    `Under ${roof.name} it can reach at most ${si(placed.attainable, "FLOP/s")}, ` +
    `${percent(placed.percentOfPeak)} of peak: ${side}, ${far} at ${ratio(placed.ridge)}.`
  );
}

/** What the regime means for the work to be done. */
export function meaning({regime, intensity}) {
  if (intensity === null) {
    return "Only the rate of its bytes can be judged. Fewer bytes, or better used ones, are all that helps.";
  }
  return regime === "memory"
    ? "Faster arithmetic would change nothing here: only fewer bytes per flop, or more bytes per second, raise " +
        "this ceiling."
    : "More bandwidth would change nothing here: only cheaper arithmetic, fewer operations or faster units, gets " +
        "more out of it.";
}

/**
 * What bytes below the least that must move say about the reuse that was asked for; null when there is nothing to say.
 */
export function impossible(bytes, least, times) {
  if (least === null || times === 1 || bytes >= least * 0.999) return null;
  return (
    `${si(bytes, "B")} is less than the ${si(least, "B")} of distinct data: every byte has to cross once, so ` +
    "no tiling of this kernel alone gets there. Fusing it with the kernel before or after could, since their " +
    "shared data then never leaves the chip."
  );
}

/** Where to look when a kernel is far below its roof: [what to look at, which counter, what to do]. */
export const KNOBS = [
  [
    "bytes that nobody asked for",
    "dram__bytes_read.sum, dram__bytes_write.sum, l1tex__t_bytes.sum",
    `DRAM over asked bytes above ${ACCESS_DRAM_PER_ASK}, or L1 over asked above ${ACCESS_L1_PER_ASK}: fix the ` +
      "access pattern first, so that neighbouring threads use all of a sector.",
  ],
  [
    "work in flight",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "Few warps: registers, shared memory or the block's size keep them out. More independent loads in each thread " +
      "hide the same latency.",
  ],
  [
    "spills",
    "smsp__sass_data_bytes_mem_local.sum",
    "Above 0: registers went to memory; a smaller tile or fewer live values brings them back.",
  ],
  [
    "what warps wait for",
    "Nsight Compute's section WarpStateStats",
    "Long scoreboard: memory latency. Barrier: too much in step. Math pipe: instructions other than multiply-adds.",
  ],
];

/**
 * What to do next: {title, text, knobs: whether to show where to look}. held: of achieve(), or null when nothing was
 * given.
 */
export function advice(placed, held) {
  if (held === null) {
    return {
      title: "Next: compare",
      text:
        "Give the rate or the time that was achieved, and the page says which of two things is worth doing: " +
        "fix the kernel, or change the algorithm.",
      knobs: false,
    };
  }
  const of = placed.intensity === null ? "memory roof" : "roof";
  const over =
    held.percentOfRoof > 100
      ? " More than the roof means that a figure is not what happened: caches kept part of these bytes from DRAM, " +
        "or the bytes are mostly reads, which a card does somewhat faster than a copy. Count them."
      : "";
  if (nextStep(held.percentOfRoof) === "change_algorithm") {
    const what =
      held.nearest === "compute"
        ? "fewer operations per result, or units that do more of them at once"
        : "fewer bytes per result, by fusion, larger tiles or another formulation";
    return {
      title: "At the ceiling: change the algorithm",
      text:
        `${percent(held.percentOfRoof)} of its ${of}; from ${AT_CEILING_PERCENT}\u00a0% on this code is as ` +
        `good as its data flow allows. What helps now is ${what}.${over}`,
      knobs: false,
    };
  }
  const latency = isLatencyBound(held.percentOfRoof)
    ? ` At ${LATENCY_PERCENT}\u00a0% and below neither roof is what holds it: it waits.`
    : "";
  return {
    title: "Below the ceiling: fix the kernel",
    text:
      `${percent(held.percentOfRoof)} of its ${of}: the same bytes and flop could run ` +
      `${factor(100 / held.percentOfRoof)} times as fast.${latency} Find what it waits for:`,
    knobs: true,
  };
}
