// The two sides: choosing them from what the API lists, and what became of them.
import {passedOver} from "../../parts/blocks.js";
import {chooser, fault, field} from "../../parts/controls.js";
import {deviceLabel} from "../../parts/devices.js";
import {element} from "../../parts/dom.js";
import {SIZES, SOURCES, SUITES} from "../../parts/filters.js";
import {bdi, shortMark} from "../../parts/inline.js";
import {labelOf, labelSide, sideWords} from "./words.js";

const RUNS = "runs";
const LABEL = "label";
const FOLDED = 8; // so many runs are listed openly
const sideOf = ({driver, cuda}) => (cuda === null ? `driver:${driver}` : `driver:${driver},cuda:${cuda}`);

/** The drivers of a device, newest last day first, each with and without its CUDA versions. */
export function versionsOf(device) {
  const drivers = new Map();
  for (const version of device?.versions ?? []) {
    if (version.driver !== null && !version.driver.includes(",")) {
      drivers.set(version.driver, [...(drivers.get(version.driver) ?? []), version]);
    }
  }
  const last = (versions) => versions.reduce((day, version) => (version.last > day ? version.last : day), "");
  return [...drivers]
    .sort(([, a], [, b]) => (last(a) < last(b) ? 1 : -1))
    .map(([driver, versions]) => ({driver, versions}));
}

function options(device) {
  const made = [];
  for (const {driver, versions} of versionsOf(device)) {
    made.push([`driver:${driver}`, `driver ${driver}`]);
    for (const version of versions.length > 1 ? versions : []) {
      if (version.cuda !== null) made.push([sideOf(version), `driver ${driver}, CUDA ${version.cuda}`]);
    }
  }
  return [...made, [LABEL, "runs with a label …"], [RUNS, "runs by number …"]];
}

/**
 * The chooser of a side; with "runs by number" and "runs with a label" a text beside it: {node, select, read,
 * fault(text)}.
 */
function side(name, label, device, value) {
  const byRuns = value === "" || value.startsWith("run:");
  const given = labelOf(value);
  const byLabel = given.text !== null && given.rest === "";
  const select = chooser(`${name}-kind`, options(device), byRuns ? RUNS : byLabel ? LABEL : value);
  const ids = element("input", {
    name: `${name}-runs`,
    type: "text",
    inputmode: "numeric",
    autocomplete: "off",
    placeholder: "12, 13, 14",
    pattern: "[0-9, ]*",
  });
  ids.value = byRuns ? value.replaceAll("run:", "").replaceAll(",", ", ") : "";
  const [word] = label.split(":");
  const more = field(`${word}: numbers of runs`, ids, {error: true});
  const named = element("input", {
    name: `${name}-label`,
    type: "text",
    maxlength: "64",
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
  });
  named.value = byLabel ? given.text : "";
  const labelled = field(`${word}: label`, named, {error: true});
  const node = element("div", {role: "group", "aria-label": word}, field(label, select), more, labelled);
  const fit = () => {
    more.hidden = select.value !== RUNS;
    labelled.hidden = select.value !== LABEL;
    node.className = more.hidden && labelled.hidden ? "one-side" : "one-side by-number";
  };
  select.addEventListener("change", fit);
  for (const input of [ids, named]) input.addEventListener("input", () => fault(input, null));
  fit();
  const read = () =>
    select.value === RUNS
      ? [...new Set(ids.value.split(/[\s,]+/).filter(Boolean))].map((id) => `run:${id}`).join(",")
      : select.value === LABEL
        ? named.value.trim() === ""
          ? ""
          : labelSide(named.value.trim())
        : select.value;
  return {node, select, read, fault: (text) => fault(select.value === LABEL ? named : ids, text)};
}

/**
 * The form: {form, fault}. submit({base, head, device, sizes, suite, source}) is told when the reader asks;
 * moved(device) when they choose another device. fault(side, text) puts an error at the numbers of runs of a side; null
 * takes it away.
 */
export function sidesForm(state, devices, submit, moved) {
  const device = devices.find((one) => one.id === state.device) ?? null;
  const [base, head] = [
    side("base", "Base: before", device, state.base),
    side("head", "Head: after", device, state.head),
  ];
  const which = chooser(
    "device",
    [["", "that of the runs"], ...devices.map((one) => [one.id, deviceLabel(one, devices)])],
    state.device,
  );
  which.addEventListener("change", () => moved(which.value));
  // Runs that are named are taken whatever their source: it then chooses the history alone that few of them are judged
  // by.
  const source = field("Source", chooser("source", SOURCES, state.source), {broad: true});
  const tell = () => {
    source.querySelector("label").textContent = [base, head].every((one) => one.select.value === RUNS)
      ? "Source of history"
      : "Source";
  };
  for (const one of [base, head]) one.select.addEventListener("change", tell);
  tell();
  const form = element(
    "form",
    {class: "toolbar many compare-form", "aria-label": "What to compare"},
    base.node,
    head.node,
    field("Device", which, {broad: true}),
    field("Sizes", chooser("sizes", [["", "as the runs, else course"], ...SIZES], state.sizes), {broad: true}),
    source,
    field("Suite", chooser("suite", [["", SUITES[0][1]], SUITES[1]], state.suite)),
    element("div", {class: "buttons"}, element("button", {class: "primary"}, "Compare")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit({
      base: base.read(),
      head: head.read(),
      device: which.value,
      sizes: form.elements.sizes.value,
      suite: form.elements.suite.value,
      source: form.elements.source.value,
    });
  });
  return {form, fault: (name, text) => ({base, head})[name]?.fault(text)};
}

function runLinks(shell, ids) {
  return ids.flatMap((id, i) => [i === 0 ? "" : " ", element("a", {href: shell.link("run", {run: id})}, id)]);
}

/** Of what these runs are: run is one of them, or null. alone: the others may be of something else. */
function ofWhat(run, source, alone) {
  if (run === null) return null;
  const suite = SUITES.find(([given]) => given === run.suite)?.[1] ?? run.suite;
  return element(
    "p",
    {class: "second"},
    alone ? `run ${run.id}: ` : "",
    bdi(run.device.name),
    element("span", {class: "on-paper"}, " ", bdi(run.device.id)),
    `, ${suite}, ${run.sizes} sizes`,
    source === "measured" ? ", measured here" : "",
  );
}

function one(shell, name, side, source, run, comparable) {
  const left =
    side.left_out.length === 0
      ? null
      : element(
          "div",
          {class: "left-out"},
          element("p", {}, element("strong", {}, `Left out: ${side.left_out.length}`)),
          element(
            "ul",
            {},
            ...side.left_out.map(({id, reason}) =>
              element("li", {}, element("a", {href: shell.link("run", {run: id})}, `run ${id}`), ": ", reason),
            ),
          ),
        );
  const count = element("strong", {}, side.runs.length === 1 ? "1 run" : `${side.runs.length} runs`);
  const older = side.older ? element("span", {class: "hint"}, ", the newest") : "";
  const runs =
    side.runs.length > FOLDED
      ? element("details", {}, element("summary", {}, count, older), element("p", {}, ...runLinks(shell, side.runs)))
      : element("p", {}, count, older, side.runs.length > 0 ? ": " : "", ...runLinks(shell, side.runs));
  const drivers =
    side.drivers === null
      ? element("p", {class: "second"}, `no driver: ${side.why.drivers}`)
      : side.label.startsWith("run:")
        ? element("p", {class: "second"}, "driver ", bdi(side.drivers))
        : null;
  return element(
    "section",
    {class: "side-card", "data-side": name},
    element(
      "h3",
      {},
      name === "base" ? "Base" : "Head",
      ": ",
      bdi(sideWords(side.label)),
      source === null ? "" : " ",
      source === null ? null : shortMark({source, recorded_at: null}),
    ),
    ofWhat(run, source, !comparable && side.runs.length > 1),
    drivers,
    runs,
    left,
    passedOver(side.excluded),
  );
}

/**
 * Which runs stood for each side, and what was left out, with its reason. sources: {base, head}, of the runs of each,
 * or null; runs: {base, head}, one of each, or null.
 */
export const sides = (shell, answer, sources, runs) =>
  element(
    "div",
    {class: "sides"},
    ...["base", "head"].map((name) => one(shell, name, answer[name], sources[name], runs[name], answer.comparable)),
  );
