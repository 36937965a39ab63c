// The run view, #run=7&state=cold: one run's roofline, table and checks; the newest run where the address names none.
import * as api from "../api.js";
import {element} from "../dom.js";
import {show as draw} from "../view.js";

const POLL_MS = 1500;

function skeleton() {
  const h2 = (id, text) => element("h2", {id}, text);
  const div = (id, attributes = {}) => element("div", {id, ...attributes});
  return [
    element("header", {class: "run-head"}, element("h1", {id: "title"}), element("p", {id: "mark", class: "mark", hidden: true}), element("p", {id: "environment", class: "environment"})),
    div("notices"),
    element("section", {id: "summary", class: "summary", "aria-label": "Ceilings"}),
    element("fieldset", {id: "states", class: "states"}),
    element("section", {class: "roofline", "aria-labelledby": "chart-title"}, h2("chart-title", "Roofline"),
      element("div", {class: "chart-and-list"},
        element("figure", {class: "chart"}, div("chart"), element("figcaption", {id: "key", class: "key"})),
        element("div", {class: "side"}, div("detail", {class: "detail"}), element("h3", {}, "Kernels on the chart"), element("ol", {id: "legend", class: "legend"}), div("absent")))),
    element("section", {id: "table-section", "aria-labelledby": "table-title"}, h2("table-title", "Table"),
      div("table-scroll", {class: "scroll", role: "region", "aria-label": "Table of kernels", tabindex: "0"}), div("table-notes", {class: "notes"})),
    element("section", {"aria-labelledby": "checks-title"}, h2("checks-title", "Checks"), div("checks")),
    element("section", {"aria-labelledby": "data-title"}, h2("data-title", "This run as data"), element("ul", {id: "data", class: "data"})),
  ];
}

function progressOf(job) {
  if (job.state === "queued") return `Job ${job.id} waits for its turn.`;
  if (job.state !== "running") return job.error ? `Job ${job.id} ended as ${job.state}: ${job.error.message} ${job.error.next_action}` : `Job ${job.id} ended as ${job.state}.`;
  const {progress} = job;
  return progress ? `Job ${job.id} runs: ${progress.phase}, ${progress.done} of ${progress.total}.` : `Job ${job.id} runs.`;
}

/** No run is there yet: how to make one, and how far it is. */
function waiting(root, shell) {
  const command = `curl -X POST -H 'Content-Type: application/json' -d '{"suite":"verify"}' ${location.origin}/api/v1/jobs`;
  const progress = element("p", {id: "progress", role: "status"}, "");
  root.replaceChildren(element("div", {class: "card"}, element("h1", {}, "No run yet"), element("p", {}, "Start a verification; this page shows its roofline as soon as it is done."),
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

export async function show(root, params, shell) {
  const id = params.get("run") ?? (await api.newestRun(shell))?.id ?? null;
  if (id === null) {
    waiting(root, shell);
    return null;
  }
  const run = await api.run(id, shell);
  shell.title(run.device.name);
  root.replaceChildren(...skeleton());
  const redraw = draw(run, params.get("state"), (state) => shell.setParameter("state", state));
  return {redraw};
}
