// The run view, #run=7&state=cold&level=l2&over=5&hide=3,4&sort=time&dir=down&kernel=2: one run's roofline, table and
// report; the newest run where the address names none.
import {LEVELS, statesOf} from "../../chart/model.js";
import * as api from "../../parts/api.js";
import {element} from "../../parts/dom.js";
import {ceilings, checks, data, environment, origin, predictions, section, telemetry, transcript} from "./report.js";
import {note} from "./note.js";
import {withdrawal} from "./withdrawal.js";
import {whyWrong} from "./why-wrong.js";
import {levels, overlay, states, takeaway} from "./controls.js";
import {board} from "./board.js";
import {head, outcome} from "./head.js";
import {watch} from "./newer.js";
import {waiting} from "./waiting.js";

export const css = "/css/run.css";

/** What the address asks of the view, as far as this run has it. */
function wanted(params, run) {
  const all = statesOf(run);
  const number = (text) => (/^[1-9]\d{0,3}$/.test(text ?? "") ? Number(text) : null);
  return {
    state: all.includes(params.get("state")) ? params.get("state") : (all[0] ?? "warm"),
    level: LEVELS.some(({id}) => id === params.get("level")) ? params.get("level") : "dram",
    hidden: new Set(
      (params.get("hide") ?? "")
        .split(",")
        .map(number)
        .filter((n) => n !== null && n <= run.kernels.length),
    ),
    order: {by: params.get("sort"), down: params.get("dir") === "down"},
    chosen: run.kernels[(number(params.get("kernel")) ?? 0) - 1]?.kernel ?? null,
    over: params.get("over"),
  };
}

/** The view's state as the address has it: what is as it would be anyway is left out. */
function written(run, view) {
  const all = statesOf(run);
  const index = run.kernels.findIndex((row) => row.kernel === view.chosen);
  return {
    state: view.state === all[0] ? null : view.state,
    level: view.level === "dram" ? null : view.level,
    hide: [...view.hidden].toSorted((a, b) => a - b).join(","),
    sort: view.order.by,
    dir: view.order.by && view.order.down ? "down" : null,
    kernel: index < 0 ? null : index + 1,
    over: view.over,
  };
}

/** The run laid over, and what to say where it cannot be had; a wrong id must not take the first run away. */
async function secondOf(id, run, shell) {
  if (!id || id === run.id) return {second: null, failed: null};
  try {
    return {second: await api.run(id, shell), failed: null};
  } catch (error) {
    if (error.name === "AbortError" || error.status === 401) throw error;
    return {second: null, failed: error};
  }
}

/**
 * An import that was stored without a roof of any kind, as it looks under those that another run would lend it now;
 * itself where none would.
 */
async function underRoofs(run, shell) {
  if (run.source !== "imported" || run.lent || run.ceilings.some(({value}) => value !== null)) return run;
  return api.get(`/api/v1/runs/${encodeURIComponent(run.id)}?roofs=newest`, shell);
}

function skeleton(run, parts) {
  const withdrawn = withdrawal(run, parts.shell);
  return [
    head(run, parts.shell),
    withdrawn.notice,
    element("div", {id: "notices"}, ...outcome(run)),
    parts.summary,
    element(
      "section",
      {class: "roofline", "aria-labelledby": "chart-title"},
      element("h2", {id: "chart-title", class: "visually-hidden"}, "Roofline"),
      parts.controls,
      parts.said,
      parts.chart,
    ),
    section("table-section", "Table", parts.table, parts.tableNotes),
    note(run, parts.shell),
    parts.predictions,
    withdrawn.section,
    origin(run),
    checks(run),
    ceilings(run),
    environment(run),
    telemetry(run),
    transcript(run, parts.shell),
    data(run, parts.shell),
  ].filter(Boolean);
}

/** Predictions belong to a job; they come after the roofline, which does not wait for them. */
async function later(run, place, shell) {
  if (run.job === null) return;
  try {
    const tagged = await api.getTagged(`/api/v1/runs/${encodeURIComponent(run.id)}/predictions`, shell);
    const found = predictions(run, tagged.body, whyWrong(run, tagged, shell));
    if (found) place.replaceChildren(found);
  } catch {
    // they are a side line: the note and the roofline say when the daemon is gone
  }
}

/** A function that gives the id of the device's newest run, once the list of the runs to lay over has come, or null. */
function newestOf(run, list) {
  let newest = null;
  list.then(
    (runs) => {
      newest = runs.find(({device}) => device.id === run.device.id)?.id ?? null;
    },
    () => {}, // without the list the choice offers none, and the rest of the view stands
  );
  return () => newest;
}

export async function show(root, params, shell) {
  const id = params.get("run") ?? (await api.newestRun(shell))?.id ?? null;
  if (id === null) {
    waiting(root, shell);
    return null;
  }
  const run = await underRoofs(await api.run(id, shell), shell);
  const view = {run, ...wanted(params, run)};
  const first = await secondOf(view.over, run, shell);
  if (!first.second && !first.failed) view.over = null;
  shell.title(run.device.name);

  const change = (part, drawn = true) => {
    Object.assign(view, part);
    if (drawn) {
      panel.draw();
      shell.setParameters(written(run, view));
    } else {
      shell.setParametersSoon(() => written(run, view));
    }
  };
  const panel = board(run, view, first, {change, shell});
  let latest = null;
  const lay = async (other) => {
    latest = other;
    const found = await secondOf(other, run, shell).catch((failed) => ({second: null, failed}));
    if (shell.signal.aborted || latest !== other) return;
    panel.lay({...found, again: () => lay(other)});
    over.show(found.second ? other : null);
    change({over: found.second ? other : null});
  };
  const over = overlay(run, view.over, lay, shell);
  const controls = element(
    "div",
    {class: "toolbar"},
    levels(view.level, (level) => change({level})),
    states(statesOf(run), view.state, (state) => change({state})),
    over.element,
    takeaway({
      link: () => new URL(shell.link("run", {run: run.id, ...written(run, view)}), location.href).href,
      run,
      picture: panel.picture,
      name: panel.fileName,
    }),
  );
  const predicted = element("div", {id: "predictions-place"});
  root.replaceChildren(...skeleton(run, {...panel.parts, controls, predictions: predicted, shell}));
  panel.draw();
  later(run, predicted, shell);
  const to = (other) => shell.link("run", {run: other.id, ...written(run, view), hide: null, kernel: null});
  watch(run, {latest: !params.has("run"), newest: newestOf(run, over.fill()), to}, shell);
  return {redraw: panel.redraw};
}
