// History, #view=history&device=…&since=…: which device was verified when, under which driver and CUDA version.
import * as api from "../../parts/api.js";
import {empty, passedOver} from "../../parts/blocks.js";
import {chosenLine} from "../../parts/chosen.js";
import {button, chooser, dayInput, field} from "../../parts/controls.js";
import {dayNumber, dayText, today} from "../../parts/days.js";
import {deviceLabel, knownDevices} from "../../parts/devices.js";
import {element} from "../../parts/dom.js";
import {SOURCES, anyRun, foreign, foreignWords, nothingYet, read, region, watch} from "../../parts/filters.js";
import {NBSP} from "../../parts/format.js";
import {unbroken} from "../../parts/inline.js";
import {refusedField, unmark} from "../../parts/refused.js";
import {changes, key, matrix} from "./matrix.js";

export const css = "/css/history.css";

const SPANS = [30, 90, 365];
const NAMES = ["device", "source", "since", "until"];

const figure = (number) => number.toLocaleString("en-US");
const count = (number, one, more = `${one}s`) => `${figure(number)}${NBSP}${number === 1 ? one : more}`;

/** "4 drivers", with what is unknown apart: it is no driver, and may be several. */
export function driverWords(rows) {
  const drivers = new Set(rows.map((row) => row.driver));
  const unknown = drivers.delete(null);
  if (drivers.size === 0) return "unknown drivers";
  return `${count(drivers.size, "driver")}${unknown ? " and unknown ones" : ""}`;
}

/** What the matrix holds, in a sentence; null when it holds nothing. */
function sentence(answer) {
  const cells = answer.rows.flatMap((row) => row.cells);
  if (cells.length === 0) return null;
  const days = [...new Set(cells.map((cell) => cell.day))].sort();
  const sum = (member) => cells.reduce((all, cell) => all + cell[member], 0);
  const devices = new Set(answer.rows.map((row) => row.device.id)).size;
  const [counted, timed] = [sum("counter_backed"), sum("timed_only")];
  return element(
    "p",
    {class: "lead said", role: "status"},
    `${count(counted + timed, "good run")} of ${count(devices, "device")} under ${driverWords(answer.rows)}: ` +
      `${figure(counted)}${NBSP}with counters, ${figure(timed)}${NBSP}timed only; on ${count(days.length, "day")}`,
    ...(days.length === 1 ? [", ", unbroken(days[0])] : [" from ", unbroken(days[0]), " to ", unbroken(days.at(-1))]),
    " (UTC). ",
    element(
      "span",
      {class: "second"},
      "Days looked at: from ",
      unbroken(answer.since),
      ", before ",
      unbroken(answer.until),
      " (UTC).",
    ),
  );
}

/** Gives each cell its foreign: what of its runs was not measured here, in words, or null. */
function markForeign(answer, answers) {
  const of = (row, cell) => `${row.device.id} ${row.driver} ${row.cuda} ${cell.day}`;
  const runs = (cell) => cell.counter_backed + cell.timed_only;
  const counts = Object.entries(answers)
    .filter(([, one]) => one !== null)
    .map(([source, one]) => [
      source,
      new Map(one.rows.flatMap((row) => row.cells.map((cell) => [of(row, cell), runs(cell)]))),
    ]);
  for (const row of answer.rows) {
    for (const cell of row.cells) {
      cell.foreign = foreignWords(
        runs(cell),
        Object.fromEntries(counts.map(([source, known]) => [source, known.get(of(row, cell)) ?? 0])),
      );
    }
  }
}

async function nothing(shell, state, answer) {
  if (!(await anyRun(shell.signal))) return [nothingYet(shell)];
  const days = ["No good run from ", unbroken(answer.since), ", before ", unbroken(answer.until), " (UTC). "];
  const words =
    state.source === ""
      ? "Replayed runs are left out unless they are asked for."
      : "Choose other days, another device or another source.";
  const links = [
    state.source === "any"
      ? null
      : element("a", {href: shell.link("history", {...state, source: "any"})}, "Show replayed runs too"),
    element("a", {href: shell.link("runs")}, "Show the list of runs"),
  ].filter(Boolean);
  return [
    empty(
      "No run in this span",
      element("p", {}, ...days, element("span", {class: "on-screen"}, words)),
      passedOver(answer.excluded),
      ...links.map((a) => element("p", {class: "on-screen"}, a)),
    ),
  ];
}

/** Which of the spans the days are, or null. */
function spanOf({since, until}) {
  if (until !== "") return null;
  return SPANS.find((days) => since === sinceOf(days)) ?? null;
}

/** A year is what the API looks at by itself. */
const sinceOf = (days) => (days === 365 ? "" : dayText(dayNumber(today()) + 1 - days));

function spanButtons(span) {
  const made = SPANS.map((days) => button(`${days} days`, () => span(days)));
  return {
    element: element("div", {class: "buttons", role: "group", "aria-label": "Span"}, ...made),
    press: (on) => made.forEach((one, i) => one.setAttribute("aria-pressed", String(SPANS[i] === on))),
  };
}

/** Calls print() before the page goes to paper, or is shown as on paper. */
function beforePaper(signal, print) {
  window.addEventListener("beforeprint", print, {signal});
  window.matchMedia("print").addEventListener("change", print, {signal});
}

const heading = () => [
  element("h1", {}, "History"),
  element(
    "p",
    {class: "lead"},
    "Which days have a verification, for each device, driver and CUDA version. ",
    element("span", {class: "on-screen"}, "A cell opens its runs."),
  ),
];

function historyForm(state, devices, spans) {
  const named = devices.map((device) => [device.id, deviceLabel(device, devices)]);
  return element(
    "form",
    {class: "toolbar many", "aria-label": "What to show"},
    field("Device", chooser("device", [["", "all devices"], ...named], state.device), {broad: true}),
    field("Source", chooser("source", SOURCES, state.source), {broad: true}),
    field("Since day (UTC)", dayInput("since", state.since)),
    field("Before day (UTC)", dayInput("until", state.until)),
    spans,
  );
}

export async function show(root, params, shell) {
  const head = heading();
  root.replaceChildren(...head, element("p", {class: "loading"}, "Loading the history …"));
  const devices = await knownDevices(shell.signal);
  const state = read(params, NAMES);
  const place = element("div", {class: "matrix-place"});
  let print = () => {};
  const refresh = region(shell, place, async (signal) => {
    const ask = (source) => api.get(api.address("/api/v1/history", {...state, source}), {signal});
    print = () => {};
    unmark(form);
    let answer;
    try {
      answer = await ask(state.source);
    } catch (error) {
      return [refusedField(form, error)];
    }
    markForeign(answer, await foreign(state.source, (source) => (source === state.source ? answer : ask(source))));
    const words = sentence(answer);
    if (words === null) return [chosenLine(form), ...(await nothing(shell, state, answer))];
    const made = matrix(shell, answer, state);
    print = made.print;
    return [
      chosenLine(form),
      words,
      key(),
      made.node,
      changes(shell, answer, state),
      passedOver(answer.excluded),
    ].filter(Boolean);
  });
  beforePaper(shell.signal, () => print());
  const spans = spanButtons((days) => {
    form.elements.until.value = "";
    form.elements.since.value = sinceOf(days);
    change({since: form.elements.since.value, until: ""});
  });
  const form = historyForm(state, devices, spans.element);
  function change(changed) {
    Object.assign(state, changed);
    shell.setParameters(changed);
    spans.press(spanOf(state));
    return refresh();
  }
  watch(form, (name, value) => change({[name]: value}));
  spans.press(spanOf(state));
  await refresh();
  root.replaceChildren(...head, form, place);
}
