// No good run is there yet: how to make one, how far it is, and what there is instead.
import * as api from "../../parts/api.js";
import {element} from "../../parts/dom.js";
import {errorSentence, sentence} from "../../parts/format.js";
import {progressWords} from "../../parts/job.js";

const POLL_MS = 1500;

function progressOf(job) {
  if (job.state === "queued") return `Job ${job.id} waits for its turn.`;
  if (job.state === "done") return `Job ${job.id} is done.`;
  if (job.state !== "running") {
    return [
      `Job ${job.id} is ${job.state}.`,
      job.error && errorSentence(job.error),
      job.error?.next_action && sentence(job.error.next_action),
    ]
      .filter(Boolean)
      .join(" ");
  }
  const {progress} = job;
  return progress ? `Job ${job.id} runs. ${progressWords(progress)}.` : `Job ${job.id} runs.`;
}

/** The newest run of any outcome: here none of them is a good one. */
const newestOfAll = async (shell) =>
  (await api.get(api.address("/api/v1/runs", {limit: 1, source: "any", outcome: "any"}), shell)).items[0] ?? null;

export function waiting(root, shell) {
  const jobs = api.place("/api/v1/jobs");
  const command = `curl -X POST -H 'Content-Type: application/json' -d '{"suite":"verify"}' ${jobs}`;
  const progress = element("p", {id: "progress", role: "status"}, "");
  const lesser = element("p", {role: "status"});
  const title = element("h1", {}, "No run yet");
  root.replaceChildren(
    element(
      "div",
      {class: "card"},
      title,
      lesser,
      element(
        "p",
        {},
        "Start a verification, ",
        element("a", {href: shell.link("jobs")}, "on this page"),
        " or with the command below; its roofline shows here as soon as it is done.",
      ),
      element("pre", {class: "command", tabindex: "0"}, command),
      progress,
    ),
  );
  let told = null;
  const tellOf = (run) => {
    if (!run || run.id === told) return;
    told = run.id;
    title.textContent = "No good run yet";
    lesser.replaceChildren(
      `The newest run is ${run.outcome}, so it does not stand here by itself: `,
      element("a", {href: shell.link("run", {run: run.id})}, `show run ${run.id} and why`),
      ".",
    );
  };
  const look = async () => {
    if (await api.newestRun(shell)) {
      shell.reload();
      return false;
    }
    const [job, run] = await Promise.all([api.newestJob(shell), newestOfAll(shell)]);
    const text = job ? progressOf(job) : "";
    if (progress.textContent !== text) progress.textContent = text;
    tellOf(run);
    return true;
  };
  shell.every(POLL_MS, look);
}
