// What the explorer shows, as the fragment holds it: pure, no DOM.
import {ceiling} from "../../chart/model.js";
import {EXAMPLES, KINDS, read, readSize} from "./math.js";

export const OWN = "own";
const REUSES = 12; // each byte used at most 2^12 times
const PINS = 24;

/** What a reader who names nothing sees: the kernel that everyone writes first. */
export const DEFAULT = {kind: "example", id: "naive", size: "2048"};

/** The card of the teaching, where no figures are known: of none that was measured here. */
export const EXAMPLE_ROOF = {bandwidth: "504 GB/s", peak: "29.1 TFLOP/s"};

const exampleOf = (id) => EXAMPLES.find((example) => example.id === id);

/**
 * A subject is what is placed: {kind: "example", id, size} (size as typed), {kind: "kernel", id, bytes: "course" |
 * "scaled" | "counted"} or {kind: "own", flop, bytes} (as typed). Its code has no character that an address would
 * escape, but in what was typed.
 */
export function encodeSubject(subject) {
  if (subject.kind === "example") return [subject.id, subject.size].join("*");
  return subject.kind === "kernel"
    ? ["suite", subject.id, subject.bytes].join("*")
    : [OWN, subject.flop, subject.bytes].join("*");
}

/** The subject of a code, or null when it is none. catalogue: the kernels of GET /api/v1/kernels. */
export function decodeSubject(code, catalogue) {
  const [first, ...rest] = code.split("*");
  if (first === OWN) return rest.length === 2 ? {kind: "own", flop: rest[0], bytes: rest[1]} : null;
  if (first === "suite") {
    const known =
      rest.length === 2 &&
      catalogue.some((unit) => unit.id === rest[0]) &&
      ["course", "scaled", "counted"].includes(rest[1]);
    return known ? {kind: "kernel", id: rest[0], bytes: rest[1]} : null;
  }
  return exampleOf(first) && rest.length === 1 ? {kind: "example", id: first, size: rest[0]} : null;
}

/** Powers of two up to 4096 only: a slider's steps. */
const decodeTimes = (text) => {
  const step = Math.log2(Number(text));
  return Number.isInteger(step) && step >= 0 && step <= REUSES ? Number(text) : null;
};

export const MOST_STEPS = REUSES;

/** The state that a fragment's parameters name, and in unknown what of it could not be understood, in words. */
export function decode(params, catalogue) {
  const unknown = [];
  const take = (name, of, otherwise) => {
    const text = params.get(name);
    if (text === null) return otherwise;
    const value = of(text);
    if (value === null) unknown.push(`${name}=${text.slice(0, 80)}`);
    return value ?? otherwise;
  };
  const pin = (code) => {
    const [subject, times = "1"] = code.split("**");
    const made = decodeSubject(subject, catalogue);
    const used = decodeTimes(times);
    return made && used ? {subject: made, times: used} : null;
  };
  const pins = take(
    "pins",
    (text) => {
      const made = text.split("***").map(pin);
      return made.includes(null) || made.length > PINS ? null : made;
    },
    [],
  );
  return {
    state: {
      typed: params.get("roof") === "typed",
      run: params.get("run"),
      cache: take("state", (text) => (["warm", "cold"].includes(text) ? text : null), "warm"),
      bandwidth: params.get("bandwidth") ?? EXAMPLE_ROOF.bandwidth,
      peak: params.get("peak") ?? EXAMPLE_ROOF.peak,
      subject: take("of", (text) => decodeSubject(text, catalogue), DEFAULT),
      times: take("reuse", decodeTimes, 1),
      achieved: params.has("rate")
        ? {kind: "rate", text: params.get("rate")}
        : {kind: "time", text: params.get("time") ?? ""},
      pins,
    },
    unknown,
  };
}

/** The parameters of a state; null takes one out of the fragment. */
export function encode({typed, run, cache, bandwidth, peak, subject, times, achieved, pins}) {
  const code = encodeSubject(subject);
  return {
    roof: typed ? "typed" : null,
    run: typed ? null : run,
    state: typed || cache === "warm" ? null : cache,
    bandwidth: typed ? bandwidth : null,
    peak: typed ? peak : null,
    of: code === encodeSubject(DEFAULT) ? null : code,
    reuse: times === 1 ? null : String(times),
    rate: achieved.kind === "rate" ? achieved.text || null : null,
    time: achieved.kind === "time" ? achieved.text || null : null,
    pins:
      pins.length === 0
        ? null
        : pins
            .map((p) => (p.times === 1 ? encodeSubject(p.subject) : `${encodeSubject(p.subject)}**${p.times}`))
            .join("***"),
  };
}

export const canPin = (pins) => pins.length < PINS;

/** Title, flop, bytes and least bytes (null: not known) of an example, or the error of its size. */
function ofExample(subject) {
  const example = exampleOf(subject.id);
  const size = readSize(subject.size, example);
  if (size.error) return {title: example.title, errors: {size: size.error}};
  const n = size.value;
  return {title: `${example.title}, n = ${n}`, flop: example.flop(n), bytes: example.bytes(n), least: example.least(n)};
}

function ofKernel(subject, catalogue, run, cache) {
  const unit = catalogue.find((item) => item.id === subject.id);
  if (subject.bytes === "counted") {
    const row = run?.kernels.find((item) => item.kernel === subject.id);
    const bytes = row?.[cache]?.bytes.dram_settled ?? null;
    if (!(bytes > 0)) {
      return {
        title: unit.title,
        errors: {
          bytes:
            run === null
              ? "A run's roof has to be chosen for its counted bytes."
              : `Run ${run.id} has no counted DRAM bytes of it, ${cache}.`,
        },
      };
    }
    if (row.flop === null) return {title: unit.title, errors: {bytes: `Run ${run.id} does not know its flop.`}};
    return {title: `${unit.title}, counted in run ${run.id}, ${cache}`, flop: row.flop, bytes, least: null};
  }
  const work = unit[subject.bytes];
  if (work === null) {
    return {title: unit.title, errors: {bytes: `Not known at ${subject.bytes} sizes: ${unit.why[subject.bytes]}.`}};
  }
  return {
    title: `${unit.title}, ${subject.bytes}`,
    flop: work.flop,
    bytes: work.ask_bytes,
    least: work.footprint_bytes,
  };
}

function ofOwn(subject) {
  const [flop, bytes] = [read(subject.flop, KINDS.flop), read(subject.bytes, KINDS.bytes)];
  if (flop.error || bytes.error) return {title: "own figures", errors: {flop: flop.error, bytes: bytes.error}};
  return {title: "own figures", flop: flop.value, bytes: bytes.value, least: null};
}

/** {title, flop, bytes, least} or {title, errors by field}. run: the chosen run, whole, or null. */
export function work(subject, catalogue, run, cache) {
  if (subject.kind === "example") return ofExample(subject);
  return subject.kind === "kernel" ? ofKernel(subject, catalogue, run, cache) : ofOwn(subject);
}

/** {bandwidth, peak} or {errors by field}, and name: whose roof it is. */
export function roofOf(state, run) {
  if (state.typed) {
    const [bandwidth, peak] = [read(state.bandwidth, KINDS.bandwidth), read(state.peak, KINDS.peak)];
    if (bandwidth.error || peak.error) return {errors: {bandwidth: bandwidth.error, peak: peak.error}};
    return {bandwidth: bandwidth.value, peak: peak.value, name: "the typed-in roof"};
  }
  if (run === null) return {errors: {run: "No run has been chosen."}};
  const [copy, fma] = [ceiling(run, "dram_copy", state.cache), ceiling(run, "fp32_fma", "warm")];
  const missing = [
    [copy, `${state.cache} copy ceiling`],
    [fma, "FMA ceiling"],
  ].find(([found]) => !(found?.value > 0));
  if (missing) {
    return {
      errors: {run: `Run ${run.id} has no ${missing[1]}${missing[0]?.why?.value ? `: ${missing[0].why.value}` : ""}.`},
    };
  }
  return {bandwidth: copy.value, peak: fma.value, name: `the ${state.cache} roof of run ${run.id}`};
}

/**
 * A roof as the texts of its fields, with more digits than are shown, so that what follows from them is right to the
 * digits shown.
 */
export const roofTexts = ({bandwidth, peak}) => ({
  bandwidth: `${Number((bandwidth / 1e9).toPrecision(7))} GB/s`,
  peak: `${Number((peak / 1e12).toPrecision(7))} TFLOP/s`,
});

/** Seconds of a launch from what was typed: {seconds}, {error}, or null when nothing was. */
export function secondsOf(achieved, flop) {
  if (achieved.text.trim() === "") return null;
  const found = read(achieved.text, KINDS[achieved.kind]);
  if (found.error) return {error: found.error};
  if (achieved.kind === "time") return {seconds: found.value};
  return flop === 0
    ? {error: "Achieved rate: a kernel without flop has none; give its time."}
    : {seconds: flop / found.value};
}
