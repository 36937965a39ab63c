// The two sides: choosing them from what the API lists, and what became of them.
import {chooser, field} from "../controls.js";
import {element} from "../dom.js";
import {bdi, shortMark} from "../parts.js";
import {SIZES, SOURCES, SUITES, deviceLabel} from "./filters.js";
import {sideWords} from "./compare-words.js";

const RUNS = "runs";
const FOLDED = 8; // so many runs are listed openly
const sideOf = ({driver, cuda}) => (cuda === null ? `driver:${driver}` : `driver:${driver},cuda:${cuda}`);

/** The drivers of a device, newest last day first, each with and without its CUDA versions. */
export function versionsOf(device) {
  const drivers = new Map();
  for (const version of device?.versions ?? []) if (version.driver !== null && !version.driver.includes(",")) drivers.set(version.driver, [...(drivers.get(version.driver) ?? []), version]);
  const last = (versions) => versions.reduce((day, version) => (version.last > day ? version.last : day), "");
  return [...drivers].sort(([, a], [, b]) => (last(a) < last(b) ? 1 : -1)).map(([driver, versions]) => ({driver, versions}));
}

function options(device) {
  const made = [];
  for (const {driver, versions} of versionsOf(device)) {
    made.push([`driver:${driver}`, `driver ${driver}`]);
    for (const version of versions.length > 1 ? versions : []) if (version.cuda !== null) made.push([sideOf(version), `driver ${driver}, CUDA ${version.cuda}`]);
  }
  return [...made, [RUNS, "runs by number …"]];
}

/** The chooser of a side; with "runs by number" a text beside it. */
function side(name, label, device, value) {
  const byRuns = value === "" || value.startsWith("run:");
  const select = chooser(`${name}-kind`, options(device), byRuns ? RUNS : value);
  const ids = element("input", {name: `${name}-runs`, type: "text", inputmode: "numeric", autocomplete: "off", placeholder: "12, 13, 14", pattern: "[0-9, ]*"});
  ids.value = byRuns ? value.replaceAll("run:", "").replaceAll(",", ", ") : "";
  const more = field(`${label.split(":")[0]}: numbers of runs`, ids, {broad: true});
  more.hidden = select.value !== RUNS;
  select.addEventListener("change", () => { more.hidden = select.value !== RUNS; });
  const read = () => (select.value === RUNS ? [...new Set(ids.value.split(/[\s,]+/).filter(Boolean))].map((id) => `run:${id}`).join(",") : select.value);
  return {nodes: [field(label, select, {broad: true}), more], read};
}

/** The form. submit({base, head, device, sizes, suite, source}) is told when the reader asks; moved(device) when they choose another device. */
export function sidesForm(state, devices, submit, moved) {
  const device = devices.find((one) => one.id === state.device) ?? null;
  const [base, head] = [side("base", "Base: before", device, state.base), side("head", "Head: after", device, state.head)];
  const which = chooser("device", [["", "that of the runs"], ...devices.map((one) => [one.id, deviceLabel(one, devices)])], state.device);
  which.addEventListener("change", () => moved(which.value));
  const form = element("form", {class: "toolbar many compare-form", "aria-label": "What to compare"}, field("Device", which, {broad: true}), ...base.nodes, ...head.nodes,
    field("Sizes", chooser("sizes", [["", "as the runs, else course"], ...SIZES], state.sizes), {broad: true}), field("Suite", chooser("suite", [["", SUITES[0][1]], SUITES[1]], state.suite)),
    field("Source", chooser("source", SOURCES, state.source), {broad: true}),
    element("div", {class: "buttons"}, element("button", {class: "primary"}, "Compare")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit({base: base.read(), head: head.read(), device: which.value, sizes: form.elements.sizes.value, suite: form.elements.suite.value, source: form.elements.source.value});
  });
  return form;
}

function runLinks(shell, ids) {
  return ids.flatMap((id, i) => [i === 0 ? "" : ", ", element("a", {href: shell.link("run", {run: id})}, id)]);
}

function one(shell, name, side, source) {
  const left = side.left_out.length === 0 ? null : element("div", {class: "left-out"}, element("p", {}, element("strong", {}, `Left out: ${side.left_out.length}`)),
    element("ul", {}, ...side.left_out.map(({id, reason}) => element("li", {}, element("a", {href: shell.link("run", {run: id})}, `run ${id}`), ": ", reason))));
  const count = element("strong", {}, side.runs.length === 1 ? "1 run" : `${side.runs.length} runs`);
  const older = side.older ? element("span", {class: "hint"}, ", the newest") : "";
  const runs = side.runs.length > FOLDED ? element("details", {}, element("summary", {}, count, older), element("p", {}, ...runLinks(shell, side.runs))) : element("p", {}, count, older, side.runs.length > 0 ? ": " : "", ...runLinks(shell, side.runs));
  const drivers = side.drivers === null ? element("p", {class: "second"}, `no driver: ${side.why.drivers}`) : side.label.startsWith("run:") ? element("p", {class: "second"}, "driver ", bdi(side.drivers)) : null;
  return element("section", {class: "side-card", "data-side": name}, element("h3", {}, name === "base" ? "Base" : "Head", ": ", bdi(sideWords(side.label)), source === null ? "" : " ", source === null ? null : shortMark({source, recorded_at: null})), drivers, runs, left);
}

/** Which runs stood for each side, and what was left out, with its reason. sources: {base, head}, of the runs of each, or null. */
export const sides = (shell, answer, sources) => element("div", {class: "sides"}, one(shell, "base", answer.base, sources.base), one(shell, "head", answer.head, sources.head));
