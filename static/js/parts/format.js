// Numbers, moments and words for people. Everything returned is plain text.

export const NONE = "–";

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/**
 * value / 10^power with so many decimals, rounded once and from the number itself: a division before it would round
 * too, and turn 1.005 G into 1.00.
 */
function shifted(value, decimals, power) {
  const exponent = Number(value.toExponential().split("e")[1]);
  const digits = exponent - power + decimals + 1;
  const [mantissa, rounded] = value.toExponential(digits > 0 ? digits - 1 : undefined).split("e");
  return Number(`${mantissa}e${Number(rounded) - power}`).toFixed(decimals);
}

/** value / unit, a power of ten, with a fixed number of decimals, or a dash for what is not known. */
export function fixed(value, decimals, unit = 1) {
  return isNumber(value) ? shifted(value, decimals, Math.round(Math.log10(unit))) : NONE;
}

/** SI's prefixes from the largest on: [size, prefix, power of ten]. */
export const PREFIXES = [
  [18, "E"],
  [15, "P"],
  [12, "T"],
  [9, "G"],
  [6, "M"],
  [3, "k"],
  [0, ""],
  [-3, "m"],
  [-6, "µ"],
  [-9, "n"],
  [-12, "p"],
  [-15, "f"],
].map(([power, prefix]) => [Number(`1e${power}`), prefix, power]);

export const NBSP = "\u00a0"; // a number and its unit stand on one line
const WHOLE = ["B", "FLOP"]; // what is counted has no thousandths: 1.95 mB is read as megabytes

/**
 * The prefix for a value that is printed in so many digits: from half of the last one below a prefix on, it would be
 * printed as 1000 of the next smaller.
 */
export const prefixFor = (value, digits) =>
  PREFIXES.find(([size]) => Math.abs(value) >= (1 - 0.5 * 10 ** -digits) * size) ?? PREFIXES.at(-1);

/** At least three significant digits with an SI prefix: 4.27 TB/s, 338.7 GFLOP/s. */
export function si(value, unit) {
  if (!isNumber(value)) return NONE;
  if (value === 0) return `0${NBSP}${unit}`;
  if (WHOLE.includes(unit) && Math.abs(value) < 0.9995) return `${ratio(value)}${NBSP}${unit}`;
  const [size, prefix, power] = prefixFor(value, 3);
  return `${shifted(value, Math.abs(value) >= 99.95 * size ? 1 : 2, power)}${NBSP}${prefix}${unit}`;
}

/** "87.1 %" of a value in percent; a dash for what is not known. */
export const percent = (value, decimals = 1) => (isNumber(value) ? `${fixed(value, decimals)}${NBSP}%` : NONE);

/** A number with a unit that takes no prefix. */
export const withUnit = (text, unit) => (text === NONE ? NONE : `${text}${NBSP}${unit}`);

/** "57.7 FLOP/B". */
export const intensity = (value) => withUnit(ratio(value), "FLOP/B");

/** An intensity: three significant digits at least, no exponent where people would not write one. */
export function ratio(value) {
  if (!isNumber(value)) return NONE;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(2);
  if (size >= 100) return value.toFixed(0);
  return size === 0 ? "0" : value.toFixed(2 - Math.floor(Math.log10(size)));
}

/** A tick of a logarithmic axis: 0.01, 1, 100, 10 G. */
export function tick(value) {
  if (value < 1) return String(Number(value.toPrecision(1)));
  const [size, prefix] = prefixFor(value, 3);
  return `${Number((value / size).toPrecision(3))}${prefix ? ` ${prefix}` : ""}`;
}

const stopped = (text) => `${text}${/[.!?…]$/.test(text) ? "" : "."}`;

/**
 * Words of the API, which begin small and end without a stop, as a sentence of their own. A name of a program's stays
 * as it is: that is told by a capital or an underscore inside of it.
 */
export const sentence = (text) =>
  stopped(/^[a-z][a-z0-9]*[A-Z_]/.test(text) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`);

/**
 * The message of an error of the API as a sentence. The name of the field at fault, which many begin with, stays as it
 * is sent: since, kernels[1].
 */
export function errorSentence({message, field = null}) {
  const name = (field ?? "").split(/[.[]/)[0];
  const named = name !== "" && message.startsWith(name) && !/^\w/.test(message.slice(name.length));
  return named ? stopped(message) : sentence(message);
}

/** "2026-11-29 20:50:49 UTC"; days are UTC days. */
export function utc(text) {
  return `${text.slice(0, 10)} ${text.slice(11, 19)}${NBSP}UTC`;
}

/** "2026-11-29 UTC". */
export const day = (text) => `${text.slice(0, 10)}${NBSP}UTC`;

/** The same moment by the reader's clock, with its zone. */
export function local(text) {
  const parts = {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  };
  return new Date(text).toLocaleString(undefined, parts);
}

/** A moment in a line: UTC, and the reader's own clock with its zone where that is another. */
export const momentText = (text) =>
  new Date(text).getTimezoneOffset() === 0 ? utc(text) : `${utc(text)} (${local(text)})`;

// A few words for a mark, and the whole for a sentence.
const FLAGS = {
  above_ceiling: "faster than the copy ceiling: a kernel that mostly reads or mostly writes may be",
  above_roof: "stands further above its roof than can be: counts, time or roof must be wrong",
  at_floor: "DRAM bytes so few that no intensity is formed",
  bytes_derived: "DRAM bytes are the profiler's rate times its time of the launch: no count was exported",
  cache_resident: "the caches served most of what was asked for",
  clock_moved: "the SM clock moved by more than 1 percent",
  clock_stepped: "the machine's clock was set during the run: its end is its start plus the time that passed",
  derived: "follows from two printed figures, not measured by itself",
  driver_changed: "the driver changed during the run",
  flop_disagrees: "given and counted flop are more than 0.1 percent apart; the given ones are used",
  flop_from_counters: "no flop were given: rates are of those counted",
  fp32_assumed: "nothing tells the precision of its flop: held under the FP32 ceiling",
  launches_differ: "the launches that make the row are more than 1 percent apart in DRAM bytes",
  not_steady: "bytes per launch were not the same for four times as many launches",
  percent_over_100: "the profiler gave a percentage above 100, which is kept as it is",
  shared: "something else was on the GPU, or could not be kept off it",
  profiler_time: "no times were given: the time is the profiler's own of the launches that it counted",
  single_launch: "the profiler counted single launches, which find what the kernel before left in the caches",
  throttled: "heat, power or a slowdown signal held the clocks down",
  time_derived: "the time follows from bytes, percentage and ceiling: it was not printed",
  time_disagrees: "the given time is more than 10 percent from the profiler's own",
  unsettled: "a profiler counted the launch alone, not the lines that it left dirty",
  writeback_unpaid:
    "left dirty lines in the cache, whose write to DRAM comes later: its percentage of the roof counts them, the " +
    "DRAM rate in the advice does not",
};

/** A flag in words; one that this page does not know yet is shown by its name. */
export function flag(name) {
  return FLAGS[name] ?? name.replaceAll("_", " ");
}

/** A flag in a word or two, for a mark in a table. */
export const shortFlag = (name) => String(name).replaceAll("_", " ");

const STEPS = {
  fix_access: "fix the access pattern",
  fix_kernel: "fix the kernel",
  change_algorithm: "change the algorithm",
};

/** An advice code in words; one that this page does not know yet is shown by its name. */
export const nextStep = (code) => STEPS[code] ?? String(code).replaceAll("_", " ");

const CEILINGS = {
  dram_copy: "copy, the memory roof",
  fp32_fma: "FP32 multiply-add, the compute roof",
  dram_copy_scalar: "copy, 4 bytes a thread",
  dram_memcpy: "cudaMemcpy, device to device",
  dram_read: "read",
  dram_write: "write",
  dram_triad: "triad: two reads, one write",
  l2_read: "read from L2, the L2 roof",
  l1_read: "read from L1, the L1 roof",
};

/** A ceiling's name in words; one that this page does not know yet is shown by its id. */
export const ceilingName = (id) => CEILINGS[id] ?? id.replaceAll("_", " ");

const REASONS = {
  GpuIdle: "idle",
  ApplicationsClocksSetting: "application clocks are set",
  SwPowerCap: "the power cap",
  HwSlowdown: "a hardware slowdown",
  SyncBoost: "sync boost with another GPU",
  SwThermalSlowdown: "heat, by the driver",
  HwThermalSlowdown: "heat, by the hardware",
  HwPowerBrakeSlowdown: "the power brake signal",
  DisplayClockSetting: "the display's clocks",
  unknown: "not known",
};

/** Why the driver held the clocks, in words. */
export const clockReason = (name) => REASONS[name] ?? String(name);

/** The mark of a run that was not measured here and now, or null. */
export function sourceMark(run) {
  if (run.source === "measured") return null;
  if (run.source === "replayed") {
    return `Replayed, recorded on ${run.recorded_at ? utc(run.recorded_at) : "a day that is not known"}`;
  }
  return run.source === "imported" ? "Imported from uploaded files, not measured by this service" : String(run.source);
}
