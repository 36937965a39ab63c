// The explorer's arithmetic: pure, no DOM, SI base units (flop, bytes, seconds, FLOP/s, B/s). The roofline is Williams,
// Waterman and Patterson's: attainable = min(peak, intensity × bandwidth).
import {PREFIXES} from "../../parts/format.js";

/**
 * Thresholds of a measured row's bound and advice, in gpu/record/derive/derive.h under the same names; a test holds
 * the two together.
 */
export const LATENCY_PERCENT = 60;
export const AT_CEILING_PERCENT = 80;
export const ACCESS_DRAM_PER_ASK = 1.25;
export const ACCESS_L1_PER_ASK = 2;

/** Where memory and arithmetic roof meet, flop per byte. */
export const ridge = ({bandwidth, peak}) => peak / bandwidth;

/**
 * A kernel of flop and bytes a launch under {bandwidth, peak}: {intensity, attainable, percentOfPeak, regime: "memory"
 * | "compute", ridge, reuse}. reuse: by how much the bytes would have to shrink for the kernel to reach the ridge;
 * below 1, by how much they may grow. A kernel without flop has no intensity: all but regime and ridge is null.
 */
export function place({flop, bytes}, roof) {
  const at = ridge(roof);
  if (flop === 0) {
    return {intensity: null, attainable: null, percentOfPeak: null, regime: "memory", ridge: at, reuse: null};
  }
  const intensity = flop / bytes;
  const attainable = Math.min(roof.peak, intensity * roof.bandwidth);
  return {
    intensity,
    attainable,
    percentOfPeak: (100 * attainable) / roof.peak,
    regime: intensity < at ? "memory" : "compute",
    ridge: at,
    reuse: at / intensity,
  };
}

/**
 * A launch that took seconds, held against its roof: {rate, byteRate, percentOfRoof, percentOfMemory, percentOfCompute,
 * nearest: "memory" | "compute"}. Without flop the roof is the memory's. nearest: the roof that it comes nearest to.
 */
export function achieve({flop, bytes}, roof, seconds) {
  const byteRate = bytes / seconds;
  const rate = flop / seconds;
  const percentOfMemory = (100 * byteRate) / roof.bandwidth;
  const percentOfCompute = (100 * rate) / roof.peak;
  const nearest = percentOfCompute > percentOfMemory ? "compute" : "memory";
  return {
    rate,
    byteRate,
    percentOfRoof: Math.max(percentOfMemory, percentOfCompute),
    percentOfMemory,
    percentOfCompute,
    nearest,
  };
}

/** What to do next, by the rule of a measured row's advice: "change_algorithm" at the ceiling, else "fix_kernel". */
export const nextStep = (percentOfRoof) => (percentOfRoof >= AT_CEILING_PERCENT ? "change_algorithm" : "fix_kernel");

/** Whether no roof binds: at or below 60 percent of the nearest, a kernel waits for something else. */
export const isLatencyBound = (percentOfRoof) => percentOfRoof <= LATENCY_PERCENT;

/** Each byte used so many times before it leaves the chip: the same flop, fewer bytes. */
export const reuse = ({flop, bytes}, times) => ({flop, bytes: bytes / times});

/** As they may be typed: SI's from nano on, some of them by another letter too, and those of powers of two. */
const TYPED = {
  ...Object.fromEntries(PREFIXES.filter(([, , power]) => power >= -9).map(([size, prefix]) => [prefix, size])),
  u: 1e-6,
  μ: 1e-6,
  K: 1e3,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};
const LARGEST = 1e21; // as in the API's own ranges

/**
 * Quantities that can be typed in. units: as they may be written, the empty one last; small: prefixes below 1 make
 * sense; zero: 0 is a value.
 */
export const KINDS = {
  flop: {
    name: "Flop",
    units: ["FLOPs", "FLOP", "flops", "flop", "Flop", ""],
    zero: true,
    example: "2, 16.8M or 17.2 GFLOP",
  },
  bytes: {name: "Bytes", units: ["bytes", "byte", "Bytes", "Byte", "B", ""], example: "8, 201.3M or 1.07 GB"},
  bandwidth: {name: "Bandwidth", units: ["B/s", "bytes/s", "byte/s", ""], example: "504G or 4.25 TB/s"},
  peak: {
    name: "Peak rate",
    units: ["FLOP/s", "FLOPs/s", "FLOPS", "flop/s", "flops", ""],
    example: "29.1T or 65.5 TFLOP/s",
  },
  rate: {
    name: "Achieved rate",
    units: ["FLOP/s", "FLOPs/s", "FLOPS", "flop/s", "flops", ""],
    example: "126G or 1.2 TFLOP/s",
  },
  time: {name: "Time", units: ["s", ""], small: true, example: "47.2 µs, 0.25 ms or 4.72e-5"},
};

/**
 * A number as people type it, with an SI prefix, with the unit or without: "201.3M", "504 GB/s", "1.5e9". Gives {value}
 * or {error} in words.
 */
export function read(text, kind) {
  const trimmed = text.trim().replace(/[\u00a0\u202f]/g, " ");
  const wrong = (why) => ({error: `${kind.name}: ${why} Write it like ${kind.example}.`});
  if (trimmed === "") return wrong("nothing is given.");
  const found = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*)$/u.exec(trimmed);
  if (!found) return wrong(`“${trimmed.slice(0, 40)}” is not a number.`);
  const [, digits, rest] = found;
  if (rest.startsWith(",")) {
    return wrong(
      "a comma may part thousands or begin the fraction; use a point for the fraction and nothing for thousands.",
    );
  }
  const prefixes = kind.units
    .filter((unit) => rest.endsWith(unit))
    .map((unit) => rest.slice(0, rest.length - unit.length).trim());
  const prefix = prefixes.find((name) => Object.hasOwn(TYPED, name));
  if (prefix === undefined) return wrong(`“${rest.slice(0, 40)}” is no unit of it.`);
  if (TYPED[prefix] < 1 && !kind.small) {
    return wrong(`“${prefix}” stands for a part of one${prefix === "m" ? "; mega is M" : ""}.`);
  }
  const value = Number(digits) * TYPED[prefix];
  if (!Number.isFinite(value) || value > LARGEST) return wrong("that is more than any machine has.");
  if (value < 0 || (value === 0 && !kind.zero)) return wrong("it has to be above 0.");
  return {value};
}

/** A size of an example: a whole number of elements or rows, with a prefix or without. */
export function readSize(text, example) {
  const found = read(text, {name: "Size", units: [""], example: "4096, 16777216 or 16Mi"});
  if (found.error) return found;
  if (!Number.isInteger(found.value)) return {error: "Size: it has to be a whole number."};
  if (found.value > example.largest) return {error: `Size: at most ${example.largest} ${example.sizeName}.`};
  return found;
}

const WORD = 4; // bytes of a float

/**
 * Examples whose flop and bytes follow from one size n. bytes: what reaches DRAM when no cache helps, but for the
 * library's product, which is given the least that can move; least: each input read once and each output written once.
 */
export const EXAMPLES = [
  {
    id: "vadd",
    title: "vector add",
    size: 16777216,
    largest: 1e15,
    sizeName: "elements",
    code: "c[i] = a[i] + b[i]",
    flopFormula: "n",
    bytesFormula: "3 · n · 4",
    why: "one addition; two loads and a store of 4 bytes",
    flop: (n) => n,
    bytes: (n) => 3 * n * WORD,
    least: (n) => 3 * n * WORD,
  },
  {
    id: "saxpy",
    title: "SAXPY",
    size: 16777216,
    largest: 1e15,
    sizeName: "elements",
    code: "y[i] = a · x[i] + y[i]",
    flopFormula: "2 · n",
    bytesFormula: "3 · n · 4",
    why: "one multiply-add; two loads and a store",
    flop: (n) => 2 * n,
    bytes: (n) => 3 * n * WORD,
    least: (n) => 3 * n * WORD,
  },
  {
    id: "naive",
    title: "naive matmul",
    size: 2048,
    largest: 1e6,
    sizeName: "rows",
    code: "one thread per element, no reuse",
    flopFormula: "2 · n³",
    bytesFormula: "(2 · n³ + n²) · 4",
    why: "two loads of 4 bytes for each multiply-add, if no cache helps",
    flop: (n) => 2 * n ** 3,
    bytes: (n) => (2 * n ** 3 + n ** 2) * WORD,
    least: (n) => 3 * n ** 2 * WORD,
  },
  {
    id: "tiled",
    title: "16×16-tiled matmul",
    size: 2048,
    largest: 1e6,
    sizeName: "rows",
    code: "tiles of 16 × 16 in shared memory",
    flopFormula: "2 · n³",
    bytesFormula: "(2 · n³ ∕ 16 + n²) · 4",
    why: "the same sums; each element that a tile loads serves 16 of them",
    flop: (n) => 2 * n ** 3,
    bytes: (n) => ((2 * n ** 3) / 16 + n ** 2) * WORD,
    least: (n) => 3 * n ** 2 * WORD,
  },
  {
    id: "library",
    title: "library matmul",
    size: 4096,
    largest: 1e6,
    sizeName: "rows",
    code: "register and cache blocking at every level",
    flopFormula: "2 · n³",
    bytesFormula: "3 · n² · 4",
    why: "each matrix crosses DRAM once: the least that has to move, and what a good library comes near to",
    flop: (n) => 2 * n ** 3,
    bytes: (n) => 3 * n ** 2 * WORD,
    least: (n) => 3 * n ** 2 * WORD,
  },
];
