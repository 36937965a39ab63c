// The list of jobs, kept up to date while it is looked at. Rows stay the same elements, so that focus stays too.
import {address, get} from "../../parts/api.js";
import {empty, scrolling} from "../../parts/blocks.js";
import {chooser, field} from "../../parts/controls.js";
import {dayNumber, dayText} from "../../parts/days.js";
import {element} from "../../parts/dom.js";
import {upToHeading} from "../../parts/focus.js";
import {NONE, momentText} from "../../parts/format.js";
import {bdi, chip, runLink} from "../../parts/inline.js";
import {who} from "../../parts/job.js";
import {pager} from "../../parts/pager.js";
import {CHIPS, STATES, age, isOpen, stateWord, what} from "./words.js";

const PAGE = 20;
const ANSWER_MOST = 200; // rows of one answer of the API
const ANSWERS_MOST = 5; // of one reading; where more jobs than that are new, the list begins anew
const RUNS_MOST = 5; // answers that are read to learn which runs were replayed
const NOTE = 120; // characters of a note; the followed job has it whole

const short = (note) => ([...note].length <= NOTE ? note : `${[...note].slice(0, NOTE).join("")} …`);
const newest = (a, b) => (BigInt(a) < BigInt(b) ? 1 : -1);

/**
 * Which runs of jobs were replayed: jobs do not say it, the list of runs does. Gives {of(id), read(jobs)}: of gives a
 * run as far as it is known, {id, source, recorded_at}, and null before it is; read reads those of the jobs that are
 * not known yet.
 */
function sources(signal) {
  const known = new Map();
  return {
    of: (id) => known.get(id) ?? null,
    async read(jobs) {
      const asked = jobs.filter((job) => job.run !== null && !known.has(job.run));
      if (asked.length === 0) return;
      const days = asked.flatMap((job) => [job.created_at, job.ended_at]).map((text) => dayNumber(text.slice(0, 10)));
      const query = {
        source: "any",
        outcome: "any",
        limit: ANSWER_MOST,
        since: dayText(Math.min(...days)),
        until: dayText(Math.max(...days) + 1),
      };
      for (
        let answers = 0, cursor = null;
        answers < RUNS_MOST && (answers === 0 || cursor !== null) && asked.some((job) => !known.has(job.run));
        answers++
      ) {
        const {items, next: after} = await get(address("/api/v1/runs", {...query, cursor}), {signal});
        for (const {id, source, recorded_at} of items) known.set(id, {id, source, recorded_at});
        cursor = after;
      }
      // asked once: without a word of it, it has no mark
      for (const job of asked) if (!known.has(job.run)) known.set(job.run, null);
    },
  };
}

/** When a job was sent: how long ago on the screen, the moment on paper. */
function sentAt(job) {
  const at = momentText(job.created_at);
  return element(
    "time",
    {datetime: job.created_at, title: at},
    element("span", {class: "on-screen"}, age(job.created_at)),
    element("span", {class: "on-paper"}, at),
  );
}

function progressOf({id, progress}) {
  if (!progress || progress.total === 0) return [];
  const {done, total} = progress;
  return [element("progress", {class: "mini", max: total, value: done, "aria-label": `Progress of job ${id}`})];
}

/** The run of a job, or the code of its error. */
function resultOf(job, run, shell) {
  if (run !== null) return runLink(shell, run);
  if (job.error === null || job.state === "cancelled") return NONE;
  return element("span", {class: "code"}, job.error.code);
}

/** The row of a job; show(job) puts the job as it is now into its cells. */
function rowOf(id, {names, all, shell, choose, runs}) {
  const link = element("a", {href: shell.link("jobs", {job: id})}, id);
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault(); // in place, so that a form half filled in stays
    choose(id);
  });
  // The roles are said in full: a row that is laid out as a card would lose them.
  const cell = (name) => element("td", {role: "cell", class: `words ${name}`});
  const [state, result, asked] = ["job-state", "job-run", "measures"].map(cell);
  const [device, sender, sent] = ["job-device", "job-sender", "job-sent"].map(cell);
  const head = element("th", {role: "rowheader", scope: "row"}, link);
  const row = element("tr", {role: "row", "data-job": id}, head, state, result, asked, device, sender, sent);
  let text = null;
  return {
    row,
    show(job) {
      sent.replaceChildren(sentAt(job));
      const run = job.run === null ? null : (runs.of(job.run) ?? {id: job.run, source: "measured"});
      const now = JSON.stringify([job, run]);
      if (now === text) return;
      text = now;
      state.replaceChildren(chip(stateWord(job), CHIPS[job.state]), ...progressOf(job));
      device.replaceChildren(bdi(names.get(job.device) ?? job.device));
      asked.replaceChildren(
        what(job, all),
        ...(!job.label ? [] : [bdi(job.label, {class: "label-of"})]),
        ...(job.note === null ? [] : [bdi(short(job.note), {class: "note"})]),
      );
      sender.textContent = who(job.principal);
      result.replaceChildren(resultOf(job, run, shell));
    },
  };
}

/** The rows of the jobs that are listed, newest first, in their table; context as of jobList, with runs. */
function jobRows(context) {
  const rows = new Map(); // id -> {row, show, job}
  const body = element("tbody", {role: "rowgroup"});
  const heads = ["job", "state", "run or error", "measures", "GPU", "sent by", "sent"];
  const table = scrolling(
    "Jobs",
    element(
      "table",
      {role: "table", "aria-label": "Jobs, newest first"},
      element(
        "thead",
        {role: "rowgroup"},
        element(
          "tr",
          {role: "row"},
          ...heads.map((text) => element("th", {role: "columnheader", scope: "col", class: "words"}, text)),
        ),
      ),
      body,
    ),
  );
  let chosen = null;

  const order = () => {
    [...rows.keys()].sort(newest).forEach((id, i) => {
      const {row} = rows.get(id);
      if (body.children[i] !== row) body.insertBefore(row, body.children[i] ?? null);
    });
  };
  return {
    table,
    jobs: () => [...rows.values()].map(({job}) => job),
    /** Shows the jobs as they are now: those that have a row in it, others in a new one. */
    put(jobs) {
      for (const job of jobs) {
        if (!rows.has(job.id)) rows.set(job.id, rowOf(job.id, context));
        const row = rows.get(job.id);
        row.job = job;
        row.show(job);
        row.row.classList.toggle("is-chosen", job.id === chosen);
      }
      order();
    },
    drop(gone) {
      for (const [id, {row}] of rows) {
        if (!gone(BigInt(id))) continue;
        rows.delete(id);
        row.remove();
      }
    },
    mark(id) {
      chosen = id;
      for (const [other, {row}] of rows) row.classList.toggle("is-chosen", other === id);
    },
  };
}

/** The place of the button for older jobs, below the list. load as for pager. */
function olderJobs(load) {
  const box = element("div", {});
  return {
    box,
    hasButton: () => box.hasChildNodes(),
    offer(next) {
      const after = pager(next, load);
      const focused = box.contains(document.activeElement);
      box.replaceChildren(...[after].filter(Boolean));
      if (focused && after) after.querySelector("button").focus({preventScroll: true});
      else if (focused) upToHeading(box);
    },
  };
}

/**
 * The list as it is now from its newest job to the oldest of the listed ones that may change yet: an open job may, an
 * ended one stays as it is; a list of one state may get and lose jobs anywhere. page(cursor, limit) reads one answer.
 * Gives {items, next, whole}: whole is false where so much is new that the reading did not come down to that job, and
 * items are then the newest alone.
 */
async function current(page, listed, state) {
  const live = listed.filter((job) => state !== "" || isOpen(job)).map(({id}) => BigInt(id));
  const down = live.reduce((least, id) => (id < least ? id : least), live[0] ?? null);
  const limit = Math.min(
    ANSWER_MOST,
    Math.max(PAGE, listed.filter(({id}) => down !== null && BigInt(id) >= down).length),
  );
  const first = await page(null, limit);
  const all = {items: [...first.items], next: first.next, whole: true};
  for (let answers = 1; all.next !== null && down !== null && BigInt(all.items.at(-1).id) > down; answers++) {
    if (answers === ANSWERS_MOST) return {...first, whole: false};
    const answer = await page(all.next, limit);
    all.items.push(...answer.items);
    all.next = answer.next;
  }
  return all;
}

/**
 * state: only jobs in it, or "". names: device names by id; all: how many kernels the suite has; choose(id): a job is
 * to be shown. Returns {box, read(), anyOpen(), mark(id)}; read throws ApiError.
 */
export function jobList(state, context) {
  const {signal} = context.shell;
  const runs = sources(signal);
  const rows = jobRows({...context, runs});
  const none = empty(
    state === "" ? "No job yet" : `No ${state} job`,
    element(
      "p",
      {},
      state === ""
        ? "Start a verification with the form; it shows up here."
        : "Choose another state to see other jobs.",
    ),
  );
  const page = (cursor, limit = PAGE) => get(address("/api/v1/jobs", {state, limit, cursor}), {signal});
  const show = (jobs) => {
    rows.put(jobs);
    const any = rows.jobs().length > 0;
    none.hidden = any;
    rows.table.hidden = !any;
  };
  const older = olderJobs(async (cursor) => {
    const {items, next} = await page(cursor);
    await runs.read(items);
    show(items);
    return next;
  });
  return {
    box: element("div", {class: "job-list"}, rows.table, none, older.box),
    /**
     * Reads the list as it is now. What is no longer in it, of the ids that were read, has left this state. Where
     * nothing of it stands here yet, what is older begins anew.
     */
    async read() {
      const {items, next, whole} = await current(page, rows.jobs(), state);
      await runs.read(items);
      const ids = new Set(items.map((job) => BigInt(job.id)));
      const oldest = next === null ? 0n : BigInt(items.at(-1).id);
      const listed = new Set(rows.jobs().map((job) => job.id));
      const fresh = !whole || !items.some((job) => listed.has(job.id));
      rows.drop((id) => !ids.has(id) && (fresh || id >= oldest));
      const goesOn = rows.jobs().some((job) => BigInt(job.id) < oldest);
      show(items);
      if (!goesOn && (fresh || next === null || !older.hasButton())) older.offer(next);
    },
    anyOpen: () => rows.jobs().some(isOpen),
    mark: rows.mark,
  };
}

/** Chooses which states are listed. */
export function stateFilter(state, changed) {
  const select = chooser("state", [["", "all"], ...STATES.map((name) => [name, name])], state);
  select.addEventListener("change", () => changed(select.value));
  return field("State", select, {id: "job-state"});
}
