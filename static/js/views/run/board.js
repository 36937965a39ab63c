// Chart, figures beside it, lists and table of a run, kept together: one choice, one selection, one order.
import {LEVELS, levelOf, roofs, statesOf} from "../../chart/model.js";
import {roofline} from "../../chart/roofline.js";
import {notice, problem} from "../../parts/blocks.js";
import {element} from "../../parts/dom.js";
import {replaceIn} from "../../parts/focus.js";
import {day, sourceMark} from "../../parts/format.js";
import {refused} from "../../parts/refused.js";
import {detail, key} from "./detail.js";
import {summary} from "./head.js";
import {kernelLists} from "./lists.js";
import {statistics} from "./report.js";
import {columnsInWords, nextOrder, notes, table} from "./table.js";

const NARROWEST = 300;

function makeParts() {
  const parts = {
    summary: element("section", {id: "summary", class: "summary", "aria-label": "Roofs of this view"}),
    said: element("div", {id: "said"}),
    box: element("div", {id: "chart"}),
    key: element("div", {id: "key", class: "key"}),
    detail: element("div", {id: "detail", class: "detail"}),
    lists: element("div", {id: "lists"}),
    absent: element("div", {id: "absent"}),
    tableBox: element("div", {
      id: "table-scroll",
      class: "scroll",
      role: "region",
      "aria-label": "Table of kernels",
      tabindex: "0",
    }),
    tableNotes: element("div", {}),
  };
  parts.noteBox = element("div", {id: "table-notes", class: "notes"});
  parts.statistics = element("div", {});
  parts.tableNotes.append(
    parts.noteBox,
    element("details", {}, element("summary", {}, "Times, clocks and launches, row by row"), parts.statistics),
    element("details", {}, element("summary", {}, "What the columns mean"), columnsInWords()),
  );
  parts.chart = element(
    "div",
    {class: "chart-and-list"},
    element("div", {class: "chart"}, parts.box),
    element("div", {class: "side"}, parts.detail, parts.lists),
    parts.key,
    parts.absent,
  );
  parts.table = parts.tableBox;
  return parts;
}

/**
 * What has to be said of the choice itself: a level without a roof, another state of the run laid over, a run that
 * could not be had.
 */
function remarks(run, view, second, {failed, again}) {
  const made = [];
  const level = levelOf(view.level);
  if (failed) made.push(again ? refused(failed, again) : problem(failed));
  if (view.level !== "dram" && roofs(run, view.state, view.level).copy === null) {
    const ofL2 =
      " The chart counts the bytes between SMs and L2; L2 MB in the table is all that goes through L2, to and from " +
      "DRAM too.";
    made.push(
      notice(
        "info",
        `No ${level.name} roof was measured in this run, so there are only points and the FMA ceiling here. Bound, ` +
          `percent of roof and advice are those of the measured roofs.${view.level === "l2" ? ofL2 : ""}`,
      ),
    );
  }
  if (second) {
    const words = [];
    if (second.run.device.id !== run.device.id) words.push(`is of another device, ${second.run.device.name}`);
    if (second.run.sizes !== run.sizes) {
      words.push(
        `has ${second.run.sizes} sizes, this one ${run.sizes} sizes, so that its points are of other problems`,
      );
    }
    if (second.state !== view.state) {
      words.push(`has no ${view.state} rows, so that its ${second.state} ones are laid over`);
    }
    const mark = sourceMark(second.run);
    if (mark) words.push(`is no measurement of this service's own: ${mark[0].toLowerCase()}${mark.slice(1)}`);
    if (words.length > 0) {
      made.push(
        notice(mark || second.run.sizes !== run.sizes ? null : "info", `Run ${second.run.id} ${words.join("; it ")}.`),
      );
    }
  }
  return made;
}

/** Words of the picture that is saved. */
function caption(run, view, second, series) {
  const env = run.environment;
  const lines = [
    [
      `driver ${env.driver_version ?? "not known"}`,
      `CUDA ${env.cuda_runtime_version ?? "not known"}`,
      `${run.sizes} sizes`,
      `${view.state} cache`,
      `${levelOf(view.level).name} bytes`,
      `run ${run.id}`,
      day(run.date),
    ].join(" · "),
  ];
  const mark = sourceMark(run);
  if (mark) lines.push(mark); // on a line of its own, so that it is never cut
  if (second) {
    lines.push(
      `hollow, dashed: run ${second.run.id}, ${second.run.device.name}, driver ` +
        `${second.run.environment.driver_version ?? "not known"}, ` +
        `${day(second.run.date)}${second.run.source === "measured" ? "" : `, ${second.run.source}`}`,
    );
  }
  lines.push("● memory bound  ■ compute bound  ▲ latency bound  ○ where the bytes asked for would put it");
  const kernels = series[0].shown.filter((p) => p.rate !== null).map((p) => `${p.number}  ${p.title}`);
  return {title: `Roofline of ${run.device.name}`, lines, kernels};
}

/**
 * The run laid over in the state of the view, or where it has no such rows in its first; null where none is laid over.
 */
function inState(second, state) {
  if (!second) return null;
  const all = statesOf(second);
  return {run: second, state: all.includes(state) ? state : (all[0] ?? "warm")};
}

/**
 * What else there is of a row: its course over days, and the judgement of two runs. second: the run laid over, or null.
 */
function onward(p, run, second, view, shell) {
  const trend = element(
    "a",
    {
      href: shell.link("trend", {
        device: run.device.id,
        kernel: p.kernel,
        state: view.state,
        sizes: run.sizes,
        source: run.source === "measured" ? null : run.source,
      }),
    },
    "Its trend",
  );
  const compare =
    second &&
    element(
      "a",
      {href: shell.link("compare", {base: `run:${second.id}`, head: `run:${run.id}`})},
      `Runs ${second.id} and ${run.id} compared`,
    );
  return [element("p", {class: "onward"}, trend, compare)];
}

/**
 * The kernel whose figures stand beside the chart while the reader chose none: the first with a point, else with a
 * place at all.
 */
const firstOf = (shown) =>
  (shown.find((p) => p.where === "point") ?? shown.find((p) => p.rate !== null) ?? null)?.kernel ?? null;

/** Replaces the table and what stands below it, and leaves the focus on the heading that was used. */
function drawTable(parts, run, view, change) {
  const column = parts.tableBox.contains(document.activeElement) ? document.activeElement.dataset.column : null;
  parts.tableBox.replaceChildren(
    table(run, view.state, {
      order: view.order,
      hidden: view.hidden,
      sort: (id) => change({order: nextOrder(view.order, id)}),
    }),
  );
  if (column) parts.tableBox.querySelector(`[data-column="${column}"]`)?.focus();
  parts.noteBox.replaceChildren(...[notes(run, view.state)].filter(Boolean));
  parts.statistics.replaceChildren(statistics(run, view.state));
}

/** What stands in the place of a kernel's figures where none is chosen. */
const nothingChosen = (run) =>
  element(
    "p",
    {class: "hint"},
    run.kernels.length === 0 ? "This run has no rows." : "No kernel of this run has a place on the chart.",
  );

/** Replaces the lists, and leaves the focus on the box or button that was used. made: as kernelLists gives them. */
function drawLists(parts, {on, off}) {
  const label = parts.chart.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  parts.lists.replaceChildren(...on);
  parts.absent.replaceChildren(...off);
  if (!label) return;
  listed(parts, "[aria-label]")
    .find((made) => made.getAttribute("aria-label") === label && !made.disabled)
    ?.focus();
}

/** Elements of both lists. */
const listed = (parts, selector) =>
  [parts.lists, parts.absent].flatMap((place) => [...place.querySelectorAll(selector)]);

/**
 * view: {state, level, hidden, order, chosen, over}, kept by the caller; laid: {second: a run or null, failed: an
 * ApiError or null, again(): asks for it once more}; change(part) is called when the reader changes the view. Returns
 * {parts, draw, redraw, lay, picture, fileName}.
 */
export function board(run, view, laid, {change, shell}) {
  const parts = makeParts();
  let chart = null;
  const over = () => inState(laid.second, view.state);
  const find = (index) => chart.series[index]?.placed.find((p) => p.kernel === view.chosen) ?? null;

  const mark = () => {
    chart.mark(view.chosen);
    const [p, q] = [find(0), find(1)];
    parts.detail.replaceChildren(
      ...(p || q
        ? detail(p, q, over(), run, (row) => onward(row, run, laid.second, view, shell))
        : [nothingChosen(run)]),
    );
    for (const item of [...listed(parts, "li"), ...parts.tableBox.querySelectorAll("tbody tr")]) {
      item.classList.toggle("is-chosen", item.dataset.kernel === view.chosen);
    }
  };
  const choose = (p) => {
    if (p.kernel === view.chosen) return;
    change({chosen: p.kernel}, false);
    mark();
  };
  const redraw = () => {
    const focused = parts.box.contains(document.activeElement) ? document.activeElement.dataset.kernel : null;
    chart = roofline(view, over(), Math.max(NARROWEST, Math.floor(parts.box.clientWidth)), choose);
    parts.box.replaceChildren(chart.svg);
    parts.key.replaceChildren(...key(chart.series, view.level));
    if (focused) chart.svg.querySelector(`[data-kernel="${CSS.escape(focused)}"]`)?.focus();
    mark();
  };
  const lists = () =>
    kernelLists(chart.series[0], view.hidden, {
      choose,
      point: (p) => chart.mark(p?.kernel ?? view.chosen),
      setHidden: (hidden) => change({hidden}),
    });
  const draw = () => {
    parts.summary.replaceChildren(...summary(run, view, over()));
    replaceIn(parts.said, ...remarks(run, view, over(), laid));
    redraw();
    const {placed, shown} = chart.series[0];
    const stays = view.chosen !== null && (placed.some((p) => p.kernel === view.chosen) || find(1));
    if (!stays) view.chosen = firstOf(shown);
    drawLists(parts, lists());
    drawTable(parts, run, view, change);
    mark();
  };
  return {
    parts,
    draw,
    redraw,
    lay: (found) => {
      laid = found;
    },
    picture: () => ({svg: chart.svg, ...caption(run, view, over(), chart.series)}),
    fileName: () =>
      `roofline-run-${run.id}-${view.state}-${LEVELS.some(({id}) => id === view.level) ? view.level : "dram"}`,
  };
}
