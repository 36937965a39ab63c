// Verdicts, causes and fields of a comparison in words.

export const TIME = {
  slower: {word: "slower", kind: "bad", shape: "up"},
  faster: {word: "faster", kind: "good", shape: "down"},
  ambiguous: {word: "ambiguous", kind: "warn", shape: "diamond"},
  same: {word: "same", kind: null, shape: "circle"},
  missing_base: {word: "not in base", kind: null, shape: "none"},
  missing_head: {word: "not in head", kind: null, shape: "none"},
  not_comparable: {word: "not comparable", kind: null, shape: "none"},
};

export const BYTES = {
  more: {word: "more bytes", kind: "bad"},
  fewer: {word: "fewer bytes", kind: "good"},
  ambiguous: {word: "bytes ambiguous", kind: "warn"},
  same: {word: "same bytes", kind: null},
  missing_base: {word: "no bytes in base", kind: null},
  missing_head: {word: "no bytes in head", kind: null},
  not_comparable: {word: "bytes not comparable", kind: null},
};

export const CAUSES = {
  clock: "SM clock",
  memory_clock: "memory clock",
  bytes: "bytes",
  machine: "the machine as a whole",
  none_found: "none found",
};

export const OUTCOMES = {
  slower: {title: "Slower", kind: "bad", exit: 1, words: "at least one row is slower"},
  not_slower: {title: "Not slower", kind: "good", exit: 0, words: "no row is slower"},
  undecided: {title: "Undecided", kind: "", exit: 2, words: "it cannot be told"},
};

const FIELDS = {
  device: "device",
  suite: "suite",
  sizes: "sizes",
  method_version: "method",
  ecc: "ECC",
  mig: "MIG profile",
  power_limit_w: "power limit",
  cuda_runtime_version: "CUDA runtime",
  cuda_driver_version: "CUDA driver",
  cubin: "code that ran (cubin)",
  build: "build",
  source: "source",
  runs: "runs",
  work: "work",
  launch_differs: "launch",
  ask_bytes: "asked bytes",
  profiler_time: "a profiler's times",
  bytes_derived: "derived bytes",
};
/** The name of a field that differs; one that this page does not know is shown as the API has it. */
export const fieldName = (field) => FIELDS[field] ?? field.replaceAll("_", " ");

/**
 * The label that a side names, null where it names none, and the rest of the side: {text, rest}. A comma of a label
 * stands after a backslash.
 */
export function labelOf(side) {
  const parts = side.match(/(?:\\.|[^,\\]|\\$)+/g) ?? [];
  const at = parts.findIndex((part) => part.startsWith("label:"));
  return at < 0
    ? {text: null, rest: side}
    : {
        text: parts[at].slice("label:".length).replace(/\\(.)/g, "$1"),
        rest: parts.filter((_, i) => i !== at).join(","),
      };
}

/** A side of a label. */
export const labelSide = (text) => `label:${text.replace(/[\\,]/g, "\\$&")}`;

/** A side as the API names it, in words. */
export function sideWords(label) {
  if (label.startsWith("run:")) {
    const ids = label.split(",").map((part) => part.replace("run:", ""));
    return ids.length === 1 ? `run ${ids[0]}` : `${ids.length} runs`;
  }
  const {text, rest} = labelOf(label);
  if (text !== null) return [`label “${text}”`, ...(rest === "" ? [] : [sideWords(rest)])].join(", ");
  return label.replace("driver:", "driver ").replace(",cuda:", ", CUDA ").replace("cuda:", "CUDA ");
}

/** For a shell: quoted whenever a shell would read more into it than letters. */
const quote = (text) => (/^[\w:.,=/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** A sentence of the API with its numbers and their units on one line. */
export const tied = (text) =>
  text.replace(/(\d) (?=(%|µs|ms|s|bytes|[kMGT]?B|W|[GT]?(B|FLOP)\/s)(?![\w/]))/g, "$1\u00a0");

/** The command that asks the same, an argument at a time. */
export function command({base, head, device, suite, sizes, source}) {
  const options = [
    ["--device", device],
    ["--suite", suite],
    ["--sizes", sizes],
    ["--source", source],
  ]
    .filter(([, value]) => value)
    .flatMap(([name, value]) => [name, quote(value)]);
  return ["rooflinectl", "compare", quote(base), quote(head), ...options, "--fail-on", "slower"];
}
