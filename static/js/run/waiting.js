// No run is there yet: how to make one, and how far it is.
import * as api from "../api.js";
import {element} from "../dom.js";

const POLL_MS = 1500;

function progressOf(job) {
  if (job.state === "queued") return `Job ${job.id} waits for its turn.`;
  if (job.state !== "running") return job.error ? `Job ${job.id} ended as ${job.state}: ${job.error.message} ${job.error.next_action}` : `Job ${job.id} ended as ${job.state}.`;
  const {progress} = job;
  return progress ? `Job ${job.id} runs: ${progress.phase}, ${progress.done} of ${progress.total}.` : `Job ${job.id} runs.`;
}

export function waiting(root, shell) {
  const command = `curl -X POST -H 'Content-Type: application/json' -d '{"suite":"verify"}' ${location.origin}/api/v1/jobs`;
  const progress = element("p", {id: "progress", role: "status"}, "");
  root.replaceChildren(element("div", {class: "card"}, element("h1", {}, "No run yet"), element("p", {}, "Start a verification, ", element("a", {href: shell.link("jobs")}, "on this page"), " or with the command below; its roofline shows here as soon as it is done."),
    element("pre", {class: "command", tabindex: "0"}, command), progress));
  shell.every(POLL_MS, async () => {
    if (await api.newestRun(shell)) {
      shell.reload();
      return false;
    }
    const job = await api.newestJob(shell);
    const text = job ? progressOf(job) : "";
    if (progress.textContent !== text) progress.textContent = text;
    return true;
  });
}
