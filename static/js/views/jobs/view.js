// Jobs: a form that starts a verification, one job followed to its end, and the list of all.
import {ApiError, get, readiness} from "../../parts/api.js";
import {notice} from "../../parts/blocks.js";
import {element} from "../../parts/dom.js";
import {region} from "../../parts/filters.js";
import {replaceIn} from "../../parts/focus.js";
import {sentence} from "../../parts/format.js";
import {refused} from "../../parts/refused.js";
import {follow} from "./follow.js";
import {fill, jobForm} from "./form.js";
import {jobList, stateFilter} from "./list.js";
import {STATES, draftOf} from "./words.js";

export const css = "/css/jobs.css";

const TICK_MS = 1000;
const OPEN_TICKS = 2; // the list is read every so many ticks while a job is open, and more seldom when none is
const IDLE_TICKS = 5;

/** Why nothing can be measured now, and what to do. */
function standing(ready) {
  if (ready === null || ready.ready) return [];
  return [
    notice(
      "bad",
      element("p", {}, element("strong", {}, "A job sent now would not be measured.")),
      ...ready.reasons.map((reason) => element("p", {}, `${sentence(reason.message)} ${sentence(reason.next_action)}`)),
    ),
  ];
}

/**
 * What /readyz says; null where it says nothing: a form without it is as good, since the answer to the job says the
 * same.
 */
async function readinessOf(signal) {
  try {
    return await readiness({signal});
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return null;
  }
}

async function facts(signal) {
  const [devices, kernels, ready] = await Promise.all([
    get("/api/v1/devices", {signal}),
    get("/api/v1/kernels", {signal}),
    readinessOf(signal),
  ]);
  return {
    devices: devices.items.filter((device) => device.source !== "imported"),
    kernels: kernels.items.filter((unit) => unit.kind === "kernel"),
    ready,
    names: new Map(devices.items.map((device) => [device.id, device.name])),
  };
}

/**
 * Keeps what is said of readiness true for as long as nothing can be measured. ready(): it can be now, and devices may
 * have come. Gives {box, read()}.
 */
function readinessNotice(known, signal, ready) {
  const box = element("div", {role: "status"}, ...standing(known.ready));
  return {
    box,
    async read() {
      if (known.ready === null || known.ready.ready) return;
      const said = await readinessOf(signal);
      if (said === null || JSON.stringify(said) === JSON.stringify(known.ready)) return;
      if (said.ready) Object.assign(known, await facts(signal));
      known.ready = said;
      box.replaceChildren(...standing(said));
      if (said.ready) ready();
    },
  };
}

/** The heading of the list: on paper, where the chooser is not, it alone says which jobs these are. */
const titleOf = (state) => (state === "" ? "All jobs" : `${state[0].toUpperCase()}${state.slice(1)} jobs`);

/**
 * The form in its place. started(job): it has sent one. Gives {box, build(), anew(job)}: anew fills it in with what a
 * job asked for.
 */
function formSide(known, shell, started) {
  const box = element("div", {class: "form-side"});
  const build = () => box.replaceChildren(jobForm({...known, shell, started}));
  return {
    box,
    build,
    anew(job) {
      fill(
        draftOf(
          job,
          known.kernels.map((unit) => unit.id),
        ),
      );
      build();
      box.querySelector("h2").focus();
    },
  };
}

/**
 * The job that is followed, if one is. titles: kernel titles by id; chosen(id): it is another one now; anew(job) and
 * changed(): as for follow. Gives {box, choose(id, focus), id(), isOpen(), read()}: read throws ApiError.
 */
function followedSide(known, titles, shell, {chosen, anew, changed}) {
  const box = element("div", {class: "job-side"});
  let followed = null;
  const choose = async (id, focus = true) => {
    const mine = follow(id, {names: known.names, titles, shell, anew, changed});
    followed = mine;
    chosen(id);
    box.replaceChildren(mine.box);
    if (focus) mine.title.focus();
    await read(mine).catch(() => {}); // told in its box; the next tick reads it again
  };
  const read = async (mine) => {
    try {
      await mine.tick();
    } catch (error) {
      if (error.status !== 404) throw error;
      if (followed !== mine) return;
      followed = null;
      box.replaceChildren(
        element("h2", {}, `Job ${mine.id}`),
        refused(error, () => choose(mine.id)),
      );
    }
  };
  return {
    box,
    choose,
    id: () => followed?.id ?? null,
    isOpen: () => followed?.isOpen() ?? false,
    async read() {
      if (followed) await read(followed);
    },
  };
}

/**
 * The list with its heading and the chooser of its state, wanted at first. context as of jobList; followed(): the id to
 * mark, or null. Gives {box, relist(), read(), anyOpen(), mark(id)}.
 */
function listSide(wanted, context, followed) {
  const {shell} = context;
  const place = element("div", {});
  let state = STATES.includes(wanted) ? wanted : "";
  let list = null;
  const heading = element("h2", {id: "jobs-title"}, titleOf(state));
  const relist = region(shell, place, async () => {
    const made = jobList(state, context);
    await made.read();
    return {
      nodes: [made.box],
      shown: () => {
        list = made;
        list.mark(followed());
      },
    };
  });
  const filter = stateFilter(state, async (other) => {
    state = other;
    shell.setParameter("state", state);
    heading.textContent = titleOf(state);
    await relist();
  });
  const box = element(
    "section",
    {class: "list-side", "aria-labelledby": "jobs-title"},
    element("div", {class: "list-head"}, heading, filter),
    place,
  );
  return {
    box,
    relist,
    read: async () => list?.read(),
    anyOpen: () => list?.anyOpen() ?? false,
    mark: (id) => list?.mark(id),
  };
}

export async function show(root, params, shell) {
  const known = await facts(shell.signal);
  const titles = new Map(known.kernels.map((unit) => [unit.id, unit.title]));
  const denied = element("div", {}); // a token that was taken back while the view stood
  let ticks = 0;

  const again = () => {
    ticks = 0;
  }; // the list is read at the next tick: one of its jobs has changed
  const form = formSide(known, shell, (job) => {
    again();
    followed.choose(job.id);
  });
  const followed = followedSide(known, titles, shell, {
    anew: form.anew,
    changed: again,
    chosen: (id) => {
      shell.setParameter("job", id);
      list.mark(id);
    },
  });
  const list = listSide(
    params.get("state"),
    {names: known.names, all: titles.size, shell, choose: followed.choose},
    followed.id,
  );
  const readinessNow = readinessNotice(known, shell.signal, () => {
    if (!form.box.contains(document.activeElement)) form.build();
  });
  await list.relist();
  form.build();
  root.replaceChildren(
    element(
      "header",
      {class: "jobs-head"},
      element("h1", {}, "Jobs"),
      element("a", {href: shell.link("import")}, "Import files of another measurement"),
    ),
    readinessNow.box,
    denied,
    element("div", {class: "jobs"}, followed.box, form.box, list.box),
  );
  if (params.get("job")) await followed.choose(params.get("job"), false);
  shell.every(TICK_MS, async () => {
    try {
      await followed.read();
      if (ticks++ % (list.anyOpen() || followed.isOpen() ? OPEN_TICKS : IDLE_TICKS) === 0) {
        await Promise.all([list.read(), readinessNow.read()]);
      }
      replaceIn(denied);
    } catch (error) {
      if (error.status === 401 && !root.querySelector("form.token")) {
        denied.replaceChildren(refused(error, () => replaceIn(denied)));
      }
      throw error;
    }
  });
}
