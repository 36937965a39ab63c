// What is said of jobs: pure, no DOM.
import {withUnit} from "../../parts/format.js";

export const STATES = ["queued", "running", "done", "failed", "cancelled", "interrupted"];
export const OPEN = ["queued", "running"];
export const isOpen = (job) => OPEN.includes(job.state);

/** Kinds of chip by state. */
export const CHIPS = {queued: null, running: "warn", done: "good", failed: "bad", cancelled: null, interrupted: "bad"};

/** A job's state as people say it; a running one that is being cancelled says so. */
export function stateWord(job) {
  return job.state === "running" && job.cancel_requested ? "being cancelled" : job.state;
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
