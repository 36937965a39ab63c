// What a run puts on the chart: pure, no DOM. Rates and intensities are the API's own; only geometry is worked out
// here.

const isPositive = (value) => typeof value === "number" && Number.isFinite(value) && value > 0;

export const STATES = ["warm", "cold", "mixed"];

/**
 * Where bytes are counted. roof: the ceiling that belongs to the level; between: what the line from the asked to the
 * measured point stands for.
 */
export const LEVELS = [
  {
    id: "dram",
    name: "DRAM",
    roof: "dram_copy",
    roofName: "copy",
    bytes: "DRAM byte",
    effect:
      "The line between the two is the cache effect: a point right of its circle was served by the caches, one " +
      "left of it moved bytes that nobody asked for.",
  },
  {
    id: "l2",
    name: "L2",
    roof: "l2_read",
    roofName: "L2 read",
    bytes: "byte between SMs and L2",
    effect:
      "The line between the two is what L1 did: a point right of its circle was served by L1, one left of it " +
      "fetched sectors that were used in part.",
  },
  {
    id: "l1",
    name: "L1",
    roof: "l1_read",
    roofName: "L1 read",
    bytes: "byte through L1",
    effect:
      "The line between the two is what shared memory and access patterns did: a point right of its circle reused " +
      "what it had loaded, one left of it spread its accesses over more sectors than it asked for.",
  },
];
export const levelOf = (id) => LEVELS.find((level) => level.id === id) ?? LEVELS[0];

/** States that at least one row has. */
export function statesOf(run) {
  return STATES.filter((state) => run.kernels.some((row) => row[state]));
}

/** What the run calls a kernel; the id where it has no row of it. */
export const kernelTitle = (run, id) => run.kernels.find((row) => row.kernel === id)?.title ?? id;

/** A ceiling of the run; in an import the one that another run lent it where it has none of its own. */
export function ceiling(run, name, state) {
  const own = run.ceilings.find((c) => c.name === name && c.state === state) ?? null;
  const lent =
    run.source === "imported" && !isPositive(own?.value)
      ? (run.lent?.ceilings ?? []).find((c) => c.name === name && c.state === state)
      : null;
  return lent ? {...lent, lent: true, flags: []} : own;
}

/**
 * The state whose ceilings hold: bytes of cold launches with times of warm ones (imports) are told over the warm
 * ceilings.
 */
export const ceilingState = (state) => (state === "mixed" ? "warm" : state);

const valueOf = (run, name, state) => {
  const value = ceiling(run, name, state)?.value;
  return isPositive(value) ? value : null;
};

/**
 * The two roofs of a state at a level. The FMA chain never leaves the registers: its ceiling is measured once and holds
 * for all states and levels. copy: the memory roof, null where none was measured; ridge: where the two meet; in the
 * warm state at DRAM that is the run's ridge_flop_per_byte. mixes: the lowest and highest of the streams that read,
 * write or do both at full width, [low, high], where the run has them; others: further roofs, [{name, value, unit}].
 */
export function roofs(run, state, level = "dram") {
  const at = ceilingState(state);
  const {roof} = levelOf(level);
  const copy = valueOf(run, roof, at);
  const fma = valueOf(run, "fp32_fma", "warm");
  const mixes =
    level === "dram" && copy !== null
      ? ["dram_read", "dram_write", "dram_triad"].map((name) => valueOf(run, name, at)).filter((v) => v !== null)
      : [];
  const others = run.ceilings.filter(
    (c) =>
      isPositive(c.value) &&
      (c.unit === "flop_per_s"
        ? c.state === "warm" && c.name !== "fp32_fma"
        : level === "dram" && c.state === at && c.name === "dram_copy_scalar"),
  );
  return {
    copy,
    fma,
    ridge: copy !== null && fma !== null ? fma / copy : null,
    mixes: mixes.length > 0 ? [Math.min(copy, ...mixes), Math.max(copy, ...mixes)] : null,
    others: others.map(({name, value, unit}) => ({name, value, unit})),
  };
}

/** Whether the run's checks say that the kernel's result is wrong. */
export const isWrong = (run, kernel) => run.checks.some((c) => c.name === `result_${kernel}` && c.passed === false);

/**
 * Each kernel with its place at a level:
 * "point": rate and measured intensity are known: drawn at (measured, rate), joined to (asked, rate) where that is
 *   known
 * "edge": DRAM bytes at the floor: right of every number that could be given, drawn at the right edge at its rate
 * "none": no place on the chart; why says it
 */
export function place(run, state, level = "dram") {
  return run.kernels.map((row, index) => {
    const made = {
      number: index + 1,
      kernel: row.kernel,
      title: row.title,
      row,
      of: row[state] ?? null,
      measured: null,
      asked: null,
      rate: null,
      where: "none",
      why: null,
    };
    if (!made.of) return {...made, why: `not measured ${state}`};
    if (isWrong(run, row.kernel)) {
      return {...made, why: "its result is wrong, so its figures are evidence and no point"};
    }
    if (row.flop === null && !row.flags.includes("flop_from_counters")) {
      return {...made, why: row.why?.flop ?? "its flop are not known"};
    }
    if (row.flop === 0 || made.of.flop_per_s === 0) {
      return {
        ...made,
        why:
          "no floating-point work, so no " +
          `intensity${made.of.percent_of_roof === null ? "" : "; the percentage is of the roof for bytes"}`,
      };
    }
    const {intensity, flop_per_s: rate} = made.of;
    if (!isPositive(rate)) return {...made, why: made.of.why?.flop_per_s ?? "its rate is not known"};
    made.rate = rate;
    made.asked = isPositive(intensity.ask) ? intensity.ask : null;
    if (isPositive(intensity[level])) return {...made, measured: intensity[level], where: "point"};
    const why = intensity.why?.[level] ?? "its measured intensity is not known";
    return {...made, where: level === "dram" && made.of.flags.includes("at_floor") ? "edge" : "none", why};
  });
}

/** Domains of both axes: all that is drawn, the ridge, and room around it; at least two decades. */
export function domains(placed, {copy, fma, ridge}) {
  const xs = placed
    .flatMap((p) => [p.measured, p.asked])
    .concat(ridge)
    .filter(isPositive);
  const ys = placed
    .map((p) => p.rate)
    .concat(fma)
    .filter(isPositive);
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

/**
 * The lines of several memory roofs between the lowest and the highest, up to the compute roof, as [{x, low, high}] cut
 * to the chart.
 */
export function mixBand([low, high], fma, {x, y}) {
  const cap = fma ?? y[1];
  const at = (value, bandwidth) => Math.min(cap, Math.max(y[0], value * bandwidth));
  const corners = [x[0], y[0] / high, y[0] / low, cap / high, cap / low]
    .filter((v) => v >= x[0] && v <= x[1])
    .toSorted((a, b) => a - b);
  return corners.map((v) => ({x: v, low: at(v, low), high: at(v, high)}));
}

/** The memory roof and the compute roof as points, cut to the chart. */
export function roofLines({copy, fma, ridge}, {x, y}) {
  const memory = [];
  if (copy !== null) {
    const right = Math.min(x[1], ridge ?? y[1] / copy);
    const left = Math.max(x[0], y[0] / copy);
    if (left < right) memory.push([left, left * copy], [right, right * copy]);
  }
  const compute =
    fma === null
      ? []
      : [
          [Math.max(x[0], ridge ?? x[0]), fma],
          [x[1], fma],
        ];
  return {memory, compute};
}

/**
 * Powers of ten within a domain, at most so many, every second or third where there are more; with 2 and 5 between them
 * where there are less than three.
 */
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
