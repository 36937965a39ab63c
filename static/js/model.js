// What a run puts on the chart: pure, no DOM. Rates and intensities are the API's own; only geometry is worked out here.

const isPositive = (value) => typeof value === "number" && Number.isFinite(value) && value > 0;

export const STATES = ["warm", "cold"];

/** States that at least one row has. */
export function statesOf(run) {
  return STATES.filter((state) => run.kernels.some((row) => row[state]));
}

export function ceiling(run, name, state) {
  return run.ceilings.find((c) => c.name === name && c.state === state) ?? null;
}

/**
 * The two roofs of a state. The FMA chain never leaves the registers: its ceiling is measured once and holds for both states.
 * ridge: where the two meet; in the warm state that is the run's ridge_flop_per_byte.
 */
export function roofs(run, state) {
  const copy = ceiling(run, "dram_copy", state)?.value;
  const fma = ceiling(run, "fp32_fma", "warm")?.value;
  return {
    copy: isPositive(copy) ? copy : null,
    fma: isPositive(fma) ? fma : null,
    ridge: isPositive(copy) && isPositive(fma) ? fma / copy : null,
  };
}

/**
 * Each kernel with its place:
 *   "point"  rate and measured intensity are known: drawn at (measured, rate), joined to (asked, rate) where that is known
 *   "edge"   DRAM bytes at the floor: right of every number that could be given, drawn at the right edge at its rate
 *   "none"   no place on the chart; why says it
 */
export function place(run, state) {
  return run.kernels.map((row, index) => {
    const made = {number: index + 1, kernel: row.kernel, title: row.title, row, of: row[state] ?? null, measured: null, asked: null, rate: null, where: "none", why: null};
    if (!made.of) return {...made, why: `not measured ${state}`};
    if (row.flop === null) return {...made, why: row.why?.flop ?? "its flop are not known"};
    if (row.flop === 0) return {...made, why: "no floating-point work, so no intensity: see its percent of the roof for bytes"};
    const {intensity, flop_per_s: rate} = made.of;
    if (!isPositive(rate)) return {...made, why: made.of.why?.flop_per_s ?? "its rate is not known"};
    made.rate = rate;
    made.asked = isPositive(intensity.ask) ? intensity.ask : null;
    if (isPositive(intensity.dram)) return {...made, measured: intensity.dram, where: "point"};
    const why = intensity.why?.dram ?? "its measured intensity is not known";
    return {...made, where: made.of.flags.includes("at_floor") ? "edge" : "none", why};
  });
}

/** Domains of both axes: all that is drawn, the ridge, and room around it; at least two decades. */
export function domains(placed, {copy, fma, ridge}) {
  const xs = placed.flatMap((p) => [p.measured, p.asked]).concat(ridge).filter(isPositive);
  const ys = placed.map((p) => p.rate).concat(fma).filter(isPositive);
  if (xs.length === 0) xs.push(1);
  if (ys.length === 0) ys.push(isPositive(copy) ? copy : 1);
  const spread = (values, below, above) => {
    let [low, high] = [Math.min(...values) / below, Math.max(...values) * above];
    if (high / low < 100) {
      const middle = Math.sqrt(low * high);
      [low, high] = [middle / 10, middle * 10];
    }
    return [low, high];
  };
  return {x: spread(xs, 2.2, 2.2), y: spread(ys, 2.5, 2.2)};
}

/** The memory roof and the compute roof as points, cut to the chart. */
export function roofLines({copy, fma, ridge}, {x, y}) {
  const memory = [];
  if (copy !== null) {
    const right = Math.min(x[1], ridge ?? y[1] / copy);
    const left = Math.max(x[0], y[0] / copy);
    if (left < right) memory.push([left, left * copy], [right, right * copy]);
  }
  const compute = fma === null ? [] : [[Math.max(x[0], ridge ?? x[0]), fma], [x[1], fma]];
  return {memory, compute};
}

/** Powers of ten within a domain, at most so many, every second or third where there are more; with 2 and 5 between them where there are less than three. */
export function decadeTicks([low, high], most) {
  const ticks = [];
  for (let exponent = Math.floor(Math.log10(low)); exponent <= Math.ceil(Math.log10(high)); exponent++) {
    const power = Number(`1e${exponent}`);
    ticks.push(power, 2 * power, 5 * power);
  }
  const inside = ticks.filter((t) => t >= low && t <= high);
  const powers = inside.filter((t) => Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-9);
  if (powers.length < 3) return inside;
  const step = Math.ceil(powers.length / most);
  return powers.filter((t) => Math.round(Math.log10(t)) % step === 0);
}
