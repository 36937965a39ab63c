// What is said of a job wherever it stands: who sent it, how far it is, why it cannot count. Pure, no DOM.
import {ceilingName} from "./format.js";

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

/**
 * What a counter session that cannot be had means, and what to do about it: the catalogue's words (server/API.md,
 * "Errors").
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
