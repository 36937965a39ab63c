// Jobs: a form that starts a verification, one job followed to its end, and the list of all.
import {get, readiness} from "../api.js";
import {element} from "../dom.js";
import {notice} from "../parts.js";
import {follow} from "./jobs-follow.js";
import {fill, jobForm} from "./jobs-form.js";
import {refused} from "../refused.js";
import {jobList, stateFilter} from "./jobs-list.js";
import {STATES, draftOf} from "./jobs-words.js";

export const css = "/css/jobs.css";

const TICK_MS = 1000;
const OPEN_TICKS = 2; // the list is read every so many ticks while a job is open, and more seldom when none is
const IDLE_TICKS = 5;

/** Why nothing can be measured now, and what to do. */
function standing(ready) {
  if (ready === null || ready.ready) return null;
  return notice("bad", element("p", {}, element("strong", {}, "A job sent now would not be measured.")), ...ready.reasons.map((reason) => element("p", {}, `${reason.message} ${reason.next_action}`)));
}

async function facts(signal) {
  const [devices, kernels, ready] = await Promise.all([get("/api/v1/devices", {signal}), get("/api/v1/kernels", {signal}), readiness({signal}).catch((error) => {
    if (error.name === "AbortError") throw error;
    return null; // a form without it is as good; the answer to the job says the same
  })]);
  return {devices: devices.items.filter((device) => device.source !== "imported"), kernels: kernels.items.filter((unit) => unit.kind === "kernel"), ready, names: new Map(devices.items.map((device) => [device.id, device.name]))};
}

export async function show(root, params, shell) {
  const known = await facts(shell.signal);
  const titles = new Map(known.kernels.map((unit) => [unit.id, unit.title]));
  const [panel, listPlace, formPlace] = [element("div", {class: "job-side"}), element("div", {}), element("div", {class: "form-side"})];
  const denied = element("div", {}); // a token that was taken back while the view stood
  let followed = null;
  let list = null;
  let ticks = 0;

  const again = () => { ticks = 0; }; // the list is read at the next tick: one of its jobs has changed
  const choose = async (id, focus = true) => {
    followed = follow(id, {names: known.names, titles, shell, anew, changed: again});
    shell.setParameter("job", id);
    list.mark(id);
    panel.replaceChildren(followed.box);
    if (focus) followed.title.focus();
    await followed.tick().catch((error) => {
      if (error.status === 404) followed = null;
      panel.replaceChildren(element("h2", {}, `Job ${id}`), refused(error, () => choose(id)));
    });
  };
  const build = () => formPlace.replaceChildren(jobForm({...known, shell, started: (job) => {
    again();
    choose(job.id);
  }}));
  const anew = (job) => {
    fill(draftOf(job, known.kernels.map((unit) => unit.id)));
    build();
    formPlace.querySelector("h2").focus();
  };
  const context = {names: known.names, all: titles.size, shell, choose};
  const listed = async (state) => {
    const made = jobList(state, context);
    await made.read();
    list = made;
    list.mark(followed?.id ?? null);
    listPlace.replaceChildren(list.box);
  };
  const relist = (state) => listed(state).catch((error) => listPlace.replaceChildren(refused(error, () => relist(state))));
  const wanted = STATES.includes(params.get("state")) ? params.get("state") : "";
  const filter = stateFilter(wanted, async (state) => {
    shell.setParameter("state", state);
    await relist(state);
  });
  await listed(wanted);
  build();
  root.replaceChildren(...[
    element("header", {class: "jobs-head"}, element("h1", {}, "Jobs"), element("a", {href: shell.link("import")}, "Import files of another measurement")),
    standing(known.ready),
    denied,
    element("div", {class: "jobs"}, panel, formPlace,
      element("section", {class: "list-side", "aria-labelledby": "jobs-title"}, element("div", {class: "list-head"}, element("h2", {id: "jobs-title"}, "All jobs"), filter), listPlace)),
  ].filter(Boolean));
  if (params.get("job")) await choose(params.get("job"), false);
  shell.every(TICK_MS, async () => {
    try {
      if (followed) await followed.tick();
      if (ticks++ % (list.anyOpen() || followed?.isOpen() ? OPEN_TICKS : IDLE_TICKS) === 0) await list.read();
      denied.replaceChildren();
    } catch (error) {
      if (error.status === 401 && !denied.hasChildNodes()) denied.replaceChildren(refused(error, () => denied.replaceChildren()));
      throw error;
    }
  });
}
