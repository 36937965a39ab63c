// History, #view=history&device=…&since=…: which device was verified when, under which driver and CUDA version.
import * as api from "../api.js";
import {chooser, dayInput, field} from "../controls.js";
import {element} from "../dom.js";
import {button, empty} from "../parts.js";
import {SOURCES, anyRun, dayNumber, dayText, deviceLabel, foreign, foreignWords, knownDevices, nothingYet, read, region, today, watch} from "./filters.js";
import {changes, key, matrix} from "./history-matrix.js";

export const css = "/css/history.css";

const SPANS = [30, 90, 365];
const NAMES = ["device", "source", "since", "until"];

const count = (number, one, more = `${one}s`) => `${number.toLocaleString("en-US")} ${number === 1 ? one : more}`;

const dayOf = (day) => element("span", {class: "day-text"}, day);

/** What the matrix holds, in a sentence; null when it holds nothing. */
function sentence(answer) {
  const cells = answer.rows.flatMap((row) => row.cells);
  if (cells.length === 0) return null;
  const days = [...new Set(cells.map((cell) => cell.day))].sort();
  const sum = (member) => cells.reduce((all, cell) => all + cell[member], 0);
  const devices = new Set(answer.rows.map((row) => row.device.id)).size;
  const drivers = new Set(answer.rows.map((row) => row.driver)).size;
  const [counted, timed] = [sum("counter_backed"), sum("timed_only")];
  return element("p", {class: "lead said", role: "status"},
    `${count(counted + timed, "good run")} of ${count(devices, "device")} under ${count(drivers, "driver")}: ${counted.toLocaleString("en-US")} with counters, ${timed.toLocaleString("en-US")} timed only; on ${count(days.length, "day")}`,
    ...(days.length === 1 ? [", ", dayOf(days[0])] : [" from ", dayOf(days[0]), " to ", dayOf(days.at(-1))]), " (UTC). ",
    element("span", {class: "second"}, "Days looked at: from ", dayOf(answer.since), ", before ", dayOf(answer.until), " (UTC)."));
}

/** Gives each cell its foreign: what of its runs was not measured here, in words, or null. */
function markForeign(answer, answers) {
  const of = (row, cell) => `${row.device.id} ${row.driver} ${row.cuda} ${cell.day}`;
  const runs = (cell) => cell.counter_backed + cell.timed_only;
  const counts = Object.entries(answers).filter(([, one]) => one !== null).map(([source, one]) => [source, new Map(one.rows.flatMap((row) => row.cells.map((cell) => [of(row, cell), runs(cell)])))]);
  for (const row of answer.rows) for (const cell of row.cells) cell.foreign = foreignWords(runs(cell), Object.fromEntries(counts.map(([source, known]) => [source, known.get(of(row, cell)) ?? 0])));
}

async function nothing(shell, state, answer) {
  if (!await anyRun(shell.signal)) return [nothingYet(shell)];
  const days = ["No good run from ", dayOf(answer.since), ", before ", dayOf(answer.until), " (UTC). "];
  const words = state.source === "" ? "Replayed runs are no history; they are shown when they are asked for." : "Choose other days, another device or another source.";
  const links = [state.source === "any" ? null : element("a", {href: shell.link("history", {...state, source: "any"})}, "Show replayed runs too"), element("a", {href: shell.link("runs")}, "Show the list of all runs")].filter(Boolean);
  return [empty("No run in this span", element("p", {}, ...days, words), ...links.map((a) => element("p", {}, a)))];
}

export async function show(root, params, shell) {
  const devices = await knownDevices(shell.signal);
  const state = read(params, NAMES);
  const place = element("div", {class: "matrix-place"});
  const refresh = region(shell, place, async (signal) => {
    const ask = (source) => api.get(api.address("/api/v1/history", {...state, source}), {signal});
    const answer = await ask(state.source);
    markForeign(answer, await foreign(state.source, (source) => (source === state.source ? answer : ask(source))));
    const words = sentence(answer);
    if (words === null) return nothing(shell, state, answer);
    return [words, key(), matrix(shell, answer, state), changes(shell, answer, state)];
  });
  const form = element("form", {class: "toolbar", "aria-label": "What to show"},
    field("Device", chooser("device", [["", "all devices"], ...devices.map((device) => [device.id, deviceLabel(device, devices)])], state.device)),
    field("Source", chooser("source", SOURCES, state.source)),
    field("Since day (UTC)", dayInput("since", state.since)),
    field("Before day (UTC)", dayInput("until", state.until)),
    element("div", {class: "buttons", role: "group", "aria-label": "Span"}, ...SPANS.map((days) => button(`${days} days`, () => span(days)))));
  function span(days) {
    const end = dayNumber(today()) + 1;
    form.elements.until.value = "";
    form.elements.since.value = days === 365 ? "" : dayText(end - days);
    change({since: form.elements.since.value, until: ""});
  }
  function change(changed) {
    Object.assign(state, changed);
    shell.setParameters(changed);
    return refresh();
  }
  watch(form, (name, value) => change({[name]: value}));
  const head = [element("h1", {}, "History"), element("p", {class: "lead"}, "Which days have a verification, for each device, driver and CUDA version. A cell opens its runs.")];
  await refresh();
  root.replaceChildren(...head, form, place);
  place.querySelector(".matrix-scroll")?.scrollTo({left: 1e6});
}
