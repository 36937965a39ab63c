// Starts the page: finds the run that the address names, else the newest, and shows it; or says why it cannot.
import * as api from "./api.js";
import {byId, element} from "./dom.js";
import {show} from "./view.js";

const POLL_MS = 1500;
let redraw = null;

// The view stands in the fragment, #run=7&state=cold: a link restores it, and the daemon never sees it.
const parameters = () => new URLSearchParams(location.hash.slice(1));

function setParameter(name, value) {
  const all = parameters();
  all.set(name, value);
  history.replaceState(null, "", `#${all}`);
}

function say(...children) {
  byId("run").hidden = true;
  redraw = null;
  byId("message").replaceChildren(element("div", {class: "card"}, ...children));
}

function askToken(error) {
  const input = element("input", {type: "password", name: "token", autocomplete: "off", required: true, id: "token"});
  const form = element("form", {class: "token"}, element("label", {for: "token"}, "Token"), input, element("button", {}, "Use it"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    api.setToken(input.value.trim());
    load();
  });
  say(element("h1", {}, "A token is needed"), element("p", {}, `${error.message} It is kept until this tab is closed.`), form);
}

function fail(error) {
  if (error.status === 401) {
    askToken(error);
    return;
  }
  const again = element("button", {type: "button"}, "Try again");
  again.addEventListener("click", load);
  say(element("h1", {}, "The run cannot be shown"), element("p", {}, error.message), error.nextAction ? element("p", {}, error.nextAction) : null,
    error.code ? element("p", {class: "code"}, error.code) : null, again);
}

function progressOf(job) {
  if (job.state === "queued") return `Job ${job.id} waits for its turn.`;
  if (job.state !== "running") return job.error ? `Job ${job.id} ended as ${job.state}: ${job.error.message} ${job.error.next_action}` : `Job ${job.id} ended as ${job.state}.`;
  const {progress} = job;
  return progress ? `Job ${job.id} runs: ${progress.phase}, ${progress.done} of ${progress.total}.` : `Job ${job.id} runs.`;
}

function sayEmpty() {
  const command = `curl -X POST -H 'Content-Type: application/json' -d '{"suite":"verify"}' ${location.origin}/api/v1/jobs`;
  const progress = element("p", {id: "progress"}, "");
  say(element("h1", {}, "No run yet"), element("p", {}, "Start a verification; this page shows its roofline as soon as it is done."),
    element("pre", {class: "command", tabindex: "0"}, command), progress);
  const poll = async () => {
    if (!progress.isConnected) return;
    try {
      if (await api.newestRun()) {
        load();
        return;
      }
      const job = await api.newestJob();
      const text = job ? progressOf(job) : "";
      if (progress.textContent !== text) progress.textContent = text;
    } catch {
      progress.textContent = "The daemon does not answer; still trying.";
    }
    setTimeout(poll, POLL_MS);
  };
  setTimeout(poll, POLL_MS);
}

async function load() {
  say(element("p", {class: "loading"}, "Loading the newest run …"));
  try {
    const id = parameters().get("run") ?? (await api.newestRun())?.id ?? null;
    if (id === null) sayEmpty();
    else redraw = show(await api.run(id), parameters().get("state"), (state) => setParameter("state", state));
  } catch (error) {
    fail(error);
  }
}

let width = 0;
new ResizeObserver(([entry]) => {
  if (Math.abs(entry.contentRect.width - width) < 1) return;
  width = entry.contentRect.width;
  redraw?.();
}).observe(byId("main"));
window.addEventListener("hashchange", load);
byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment is the view's
  byId("table-section").focus();
});
load();
