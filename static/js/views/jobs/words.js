// What is said of jobs: pure, no DOM.
import {ceilingName, withUnit} from "../../parts/format.js";

export const STATES = ["queued", "running", "done", "failed", "cancelled", "interrupted"];
export const OPEN = ["queued", "running"];
export const isOpen = (job) => OPEN.includes(job.state);

/** Kinds of chip by state. */
export const CHIPS = {queued: null, running: "warn", done: "good", failed: "bad", cancelled: null, interrupted: "bad"};

/** A job's state as people say it; a running one that is being cancelled says so. */
export function stateWord(job) {
  return job.state === "running" && job.cancel_requested ? "being cancelled" : job.state;
}

const PHASES = {
  start: "Waiting for steady clocks",
  ceilings: "Measuring the ceilings",
  kernels: "Measuring the kernels",
  counters: "Counting bytes",
  checks: "Checking the results",
  storing: "Measured, to be stored",
};

/**
 * How far a running job is: its phase, what is measured in it and the steps; null before it says so. titles: kernel
 * titles by id, as far as they are known.
 */
export function progressWords(progress, titles = new Map()) {
  if (!progress) return null;
  const words = PHASES[progress.phase] ?? progress.phase.replaceAll("_", " ");
  const of =
    progress.what && progress.what !== "done" ? `: ${titles.get(progress.what) ?? ceilingName(progress.what)}` : "";
  return `${words}${of} (${progress.done}\u00a0of\u00a0${progress.total}\u00a0steps)`;
}

/** Who sent a job. */
export function who(principal) {
  if (principal === "anonymous") return "anonymous";
  const [kind, id] = [principal.slice(0, principal.indexOf(":")), principal.slice(principal.indexOf(":") + 1)];
  return {uid: `user ${id}`, token: `token ${id}`}[kind] ?? principal;
}

/** How long ago, roughly; "now" also for a clock that goes a little ahead. */
export function age(text, now = Date.now()) {
  const seconds = Math.round((now - Date.parse(text)) / 1000);
  if (seconds < 2) return "now";
  for (const [size, unit] of [
    [86400, "d"],
    [3600, "h"],
    [60, "min"],
  ]) {
    if (seconds >= size) return `${withUnit(Math.floor(seconds / size), unit)} ago`;
  }
  return `${withUnit(seconds, "s")} ago`;
}

/** What a job measures, in a few words. all: how many kernels the suite has. */
export function what(job, all) {
  const kernels =
    job.kernels.length === all
      ? `all ${all} kernels`
      : job.kernels.length === 1
        ? "1 kernel"
        : `${job.kernels.length} kernels`;
  return `${job.sizes}, ${job.cache.join(" and ")}, ${kernels}${job.counters ? "" : ", no counters"}`;
}

/**
 * What a counter session that cannot be had means, and what to do about it: the catalogue's words (README, "Errors").
 */
export const COUNTERS = {
  counters_permission: [
    "This user may not read the hardware counters.",
    "Give the measuring process CAP_PERFMON (CAP_SYS_ADMIN before R565) or set NVreg_RestrictProfilingToAdminUsers=0.",
  ],
  counters_busy: [
    "Another profiler has the counters.",
    "Stop the other profiler, or pause DCGM's with: dcgmi profile --pause.",
  ],
  counters_unsupported: [
    "The counter library does not know the chip, or the chip has no DRAM counters.",
    "Use a CUDA toolkit whose CUPTI knows this chip, or run with counters off.",
  ],
  counters_driver: [
    "The driver is too old for the counter library.",
    "Update the NVIDIA driver: it is older than this CUPTI.",
  ],
  counters_subscriber: [
    "Another tool sits on the CUDA calls of the measuring process.",
    "Run without nsys, ncu, cuda-gdb or compute-sanitizer attached.",
  ],
  counters_unreliable: [
    "The counters failed their self-test.",
    "Do not trust the byte columns; the message says what the self-test saw.",
  ],
  counters_failed: [
    "A counter call failed.",
    "Read the message; run roofline-measure --table by hand to see it again.",
  ],
  counters_library: [
    "A library that counting needs is missing.",
    "Install libcupti, libnvperf_host and libnvperf_target of this CUDA version beside the program.",
  ],
};

/** {meaning, action} of a counter status, null when counters are there or were not asked for. */
export function countersTrouble(status) {
  if (status === "ok" || status === "off") return null;
  const [meaning, action] = COUNTERS[status] ?? [
    `Counters cannot be had: ${status}.`,
    "Read the reason; GET /readyz says what is possible now.",
  ];
  return {meaning, action};
}

export const PREDICTIONS = [
  ["", "no prediction"],
  ["above", "above"],
  ["near", "near"],
  ["below", "below"],
];

/** A new Idempotency-Key. getRandomValues is there on plain HTTP too, where randomUUID is not. */
export function newKey() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  return `page-${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The body of a filled form: what is as the API has it by default is left to the API. */
export function bodyOf(draft, kernels) {
  const body = {
    suite: "verify",
    sizes: draft.sizes,
    cache: ["warm", "cold"].filter((state) => draft[state]),
    counters: draft.counters,
    on_interrupt: draft.retry ? "retry" : "fail",
  };
  if (draft.device) body.device = draft.device;
  const chosen = kernels.filter((id) => !draft.without.has(id));
  if (chosen.length < kernels.length) body.kernels = chosen;
  if (draft.note.trim() !== "") body.note = draft.note;
  if (draft.label.trim() !== "") body.label = draft.label.trim();
  const predictions = Object.fromEntries(
    chosen.filter((id) => draft.predictions[id]).map((id) => [id, draft.predictions[id]]),
  );
  if (Object.keys(predictions).length > 0) body.predictions = predictions;
  return body;
}

/** The draft of a form that asks for the same as a job did. */
export function draftOf(job, kernels) {
  return {
    device: job.device,
    sizes: job.sizes,
    warm: job.cache.includes("warm"),
    cold: job.cache.includes("cold"),
    counters: job.counters,
    retry: job.on_interrupt === "retry",
    note: job.note ?? "",
    label: job.label ?? "",
    without: new Set(kernels.filter((id) => !job.kernels.includes(id))),
    predictions: {...job.predictions},
  };
}

export const emptyDraft = () => ({
  device: "",
  sizes: "course",
  warm: true,
  cold: true,
  counters: true,
  retry: false,
  note: "",
  label: "",
  without: new Set(),
  predictions: {},
});

/** The field of the form that an error of the API speaks of: "kernels[1]" is kernels. null: none of its own. */
export function fieldOf(error) {
  const name = (error.field ?? "").split(/[.[]/)[0];
  return ["device", "sizes", "cache", "kernels", "counters", "on_interrupt", "note", "label", "predictions"].includes(
    name,
  )
    ? name
    : null;
}
