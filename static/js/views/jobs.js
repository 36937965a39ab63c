// Jobs: a form that starts a verification, one job followed to its end, and the list of all.
import {ApiError, get, readiness} from "../api.js";
import {element} from "../dom.js";
import {sentence} from "../format.js";
import {notice, replaceIn} from "../parts.js";
import {refused} from "../refused.js";
import {region} from "./filters.js";
import {follow} from "./jobs-follow.js";
import {fill, jobForm} from "./jobs-form.js";
import {jobList, stateFilter} from "./jobs-list.js";
import {STATES, draftOf} from "./jobs-words.js";

export const css = "/css/jobs.css";

const TICK_MS = 1000;
const OPEN_TICKS = 2; // the list is read every so many ticks while a job is open, and more seldom when none is
const IDLE_TICKS = 5;

/** Why nothing can be measured now, and what to do. */
function standing(ready) {
  if (ready === null || ready.ready) return [];
  return [notice("bad", element("p", {}, element("strong", {}, "A job sent now would not be measured.")), ...ready.reasons.map((reason) => element("p", {}, `${sentence(reason.message)} ${sentence(reason.next_action)}`)))];
}

/** What /readyz says; null where it says nothing: a form without it is as good, since the answer to the job says the same. */
async function readinessOf(signal) {
  try {
    return await readiness({signal});
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return null;
  }
}

async function facts(signal) {
  const [devices, kernels, ready] = await Promise.all([get("/api/v1/devices", {signal}), get("/api/v1/kernels", {signal}), readinessOf(signal)]);
  return {devices: devices.items.filter((device) => device.source !== "imported"), kernels: kernels.items.filter((unit) => unit.kind === "kernel"), ready, names: new Map(devices.items.map((device) => [device.id, device.name]))};
}

/** Keeps what is said of readiness true for as long as nothing can be measured. ready(): it can be now, and devices may have come. Gives {box, read()}. */
function readinessNotice(known, signal, ready) {
  const box = element("div", {role: "status"}, ...standing(known.ready));
  return {box, async read() {
    if (known.ready === null || known.ready.ready) return;
    const said = await readinessOf(signal);
    if (said === null || JSON.stringify(said) === JSON.stringify(known.ready)) return;
    if (said.ready) Object.assign(known, await facts(signal));
    known.ready = said;
    box.replaceChildren(...standing(said));
    if (said.ready) ready();
  }};
}

/** The heading of the list: on paper, where the chooser is not, it alone says which jobs these are. */
const titleOf = (state) => (state === "" ? "All jobs" : `${state[0].toUpperCase()}${state.slice(1)} jobs`);

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
    const mine = follow(id, {names: known.names, titles, shell, anew, changed: again});
    followed = mine;
    shell.setParameter("job", id);
    list?.mark(id);
    panel.replaceChildren(mine.box);
    if (focus) mine.title.focus();
    await readFollowed(mine).catch(() => {}); // told in its box; the next tick reads it again
  };
  const readFollowed = async (mine) => {
    try {
      await mine.tick();
    } catch (error) {
      if (error.status !== 404) throw error;
      if (followed !== mine) return;
      followed = null;
      panel.replaceChildren(element("h2", {}, `Job ${mine.id}`), refused(error, () => choose(mine.id)));
    }
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
  let state = STATES.includes(params.get("state")) ? params.get("state") : "";
  const heading = element("h2", {id: "jobs-title"}, titleOf(state));
  const relist = region(shell, listPlace, async () => {
    const made = jobList(state, context);
    await made.read();
    return {nodes: [made.box], shown: () => {
      list = made;
      list.mark(followed?.id ?? null);
    }};
  });
  const filter = stateFilter(state, async (wanted) => {
    state = wanted;
    shell.setParameter("state", state);
    heading.textContent = titleOf(state);
    await relist();
  });
  const readinessNow = readinessNotice(known, shell.signal, () => { if (!formPlace.contains(document.activeElement)) build(); });
  await relist();
  build();
  root.replaceChildren(
    element("header", {class: "jobs-head"}, element("h1", {}, "Jobs"), element("a", {href: shell.link("import")}, "Import files of another measurement")),
    readinessNow.box,
    denied,
    element("div", {class: "jobs"}, panel, formPlace,
      element("section", {class: "list-side", "aria-labelledby": "jobs-title"}, element("div", {class: "list-head"}, heading, filter), listPlace)));
  if (params.get("job")) await choose(params.get("job"), false);
  shell.every(TICK_MS, async () => {
    try {
      if (followed) await readFollowed(followed);
      if (ticks++ % (list?.anyOpen() || followed?.isOpen() ? OPEN_TICKS : IDLE_TICKS) === 0) await Promise.all([list?.read(), readinessNow.read()]);
      replaceIn(denied);
    } catch (error) {
      if (error.status === 401 && !root.querySelector("form.token")) denied.replaceChildren(refused(error, () => replaceIn(denied)));
      throw error;
    }
  });
}
