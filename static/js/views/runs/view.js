// Runs, #view=runs&device=…: every run by every filter of the API, in pages; from here to one run, to two of them on
// one chart, or to a comparison.
import * as api from "../../parts/api.js";
import {empty, notice} from "../../parts/blocks.js";
import {chosenLine} from "../../parts/chosen.js";
import {button, chooser, dayInput, field, suggested} from "../../parts/controls.js";
import {deviceLabel, distinct, knownDevices} from "../../parts/devices.js";
import {element} from "../../parts/dom.js";
import {HISTORY_SOURCE, SIZES, SUITES, nothingYet, read, region, watch} from "../../parts/filters.js";
import {NBSP, errorSentence} from "../../parts/format.js";
import {refusedField, unmark} from "../../parts/refused.js";
import {exports} from "./export.js";
import {Selection} from "./selection.js";
import {table} from "./table.js";

export const css = "/css/history.css";

const FILTERS = [
  "device",
  "driver",
  "cuda",
  "suite",
  "sizes",
  "source",
  "counters",
  "outcome",
  "label",
  "withdrawn",
  "since",
  "until",
];
const LIMITS = ["25", "50", "100", "200"];

function labelInput(value) {
  const made = element("input", {
    name: "label",
    type: "text",
    placeholder: "any",
    maxlength: "64",
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
  });
  made.value = value;
  return made;
}

/** What the choosers offer: [[value, words], …] by the name of the filter. */
const CHOICES = {
  source: [
    ["", "any"],
    [HISTORY_SOURCE, "measured and imported"],
    ["measured", "measured here"],
    ["imported", "imported"],
    ["replayed", "replayed"],
  ],
  counters: [
    ["", "any"],
    ["counter-backed", "counter-backed"],
    ["timed-only", "timed only"],
  ],
  outcome: [
    ["", "ok"],
    ["refused", "refused"],
    ["partial", "partial"],
    ["any", "any"],
  ],
  withdrawn: [
    ["", "without"],
    ["any", "with them"],
    ["true", "these alone"],
  ],
  limit: LIMITS.map((limit) => [limit, limit]),
};

function filterForm(state, devices) {
  const of = devices
    .filter((device) => state.device === "" || device.id === state.device)
    .flatMap((device) => device.versions);
  const named = devices.map((device) => [device.id, deviceLabel(device, devices)]);
  // what the API takes where a filter is left out stands as no filter
  const value = (name, byItself) => (state[name] === byItself ? "" : state[name]);
  return element(
    "form",
    {class: "toolbar many", "aria-label": "Which runs"},
    field("Device", chooser("device", [["", "all devices"], ...named], state.device), {broad: true}),
    field("Driver", suggested("driver", distinct(of.map((version) => version.driver)), state.driver)),
    field("CUDA", suggested("cuda", distinct(of.map((version) => version.cuda)), state.cuda)),
    field("Suite", chooser("suite", [["", "any"], ...SUITES], state.suite)),
    field("Sizes", chooser("sizes", [["", "any"], ...SIZES], state.sizes)),
    field("Source", chooser("source", CHOICES.source, value("source", "any"))),
    field("Counters", chooser("counters", CHOICES.counters, state.counters)),
    field("Outcome", chooser("outcome", CHOICES.outcome, value("outcome", "ok"))),
    field("Label", labelInput(state.label)),
    field("Withdrawn", chooser("withdrawn", CHOICES.withdrawn, value("withdrawn", "false"))),
    field("Since day (UTC)", dayInput("since", state.since)),
    field("Before day (UTC)", dayInput("until", state.until)),
    field("Rows", chooser("limit", CHOICES.limit, state.limit || "50")),
  );
}

function pages(shell, state, answer) {
  const address = (cursor) => shell.link("runs", {...state, cursor});
  const first = state.cursor === "" ? null : element("a", {class: "button", href: address("")}, "Newest runs");
  const next =
    answer.next === null
      ? null
      : element("a", {class: "button", rel: "next", href: address(answer.next)}, "Older runs →");
  if (first === null && next === null) return null;
  return element("nav", {class: "buttons pages", "aria-label": "Pages of runs"}, first, next);
}

/** The list without filters; runs that are marked, and how many rows a page has, are no filter. */
const unfiltered = (shell, {base, head, limit}) => shell.link("runs", {base, head, limit});

function nothing(shell, state) {
  if (state.cursor !== "") {
    return [
      empty(
        "No older run",
        element(
          "p",
          {},
          element("a", {class: "on-screen", href: shell.link("runs", {...state, cursor: ""})}, "Back to the newest"),
        ),
      ),
    ];
  }
  const filtered = FILTERS.some((name) => state[name] !== "");
  return filtered
    ? [
        empty(
          "No run fits these filters",
          element(
            "p",
            {},
            element("a", {class: "on-screen", href: unfiltered(shell, state)}, "Show the runs without filters"),
          ),
        ),
      ]
    : [nothingYet(shell)];
}

/** How many runs stand here, of which days, and whether that is all of them. page: {items, next, first}. */
export function said({items, next, first}) {
  const [from, to] = [items.at(-1).date.slice(0, 10), items[0].date.slice(0, 10)];
  const days = from === to ? `of ${from} (UTC)` : `from ${from} to ${to} (UTC)`;
  const many = `${items.length}${NBSP}${first ? "" : "older "}${items.length === 1 ? "run" : "runs"}`;
  if (next !== null) {
    return first
      ? `The newest ${many}, ${days}; there are older ones.`
      : `${many}, ${days}; there are still older ones.`;
  }
  if (!first) return `${many}, ${days}; none is older.`;
  return `${many}, ${items.length === 1 ? "" : "newest first, "}${days}.`;
}

/** The address names a page that is not there. */
function wrongCursor(shell, state, error) {
  const newest = element("a", {href: shell.link("runs", {...state, cursor: ""})}, "Start with the newest runs");
  return notice(null, element("p", {}, `${errorSentence(error)} `, newest));
}

export async function show(root, params, shell) {
  const head = [
    element("h1", {}, "Runs"),
    element(
      "p",
      {class: "lead on-screen"},
      "Open one, or mark runs as base and as head to compare them, or to draw two on one chart.",
    ),
  ];
  root.replaceChildren(...head, element("p", {class: "loading"}, "Loading the list of runs …"));
  const devices = await knownDevices(shell.signal);
  const state = read(params, [...FILTERS, "limit", "cursor", "base", "head"]);
  const selection = new Selection(shell, state);
  const place = element("div", {class: "runs-place"});
  const refresh = region(shell, place, async (signal) => {
    unmark(form);
    let answer;
    try {
      const {base, head, ...query} = state;
      answer = await api.get(api.address("/api/v1/runs", query), {signal});
    } catch (error) {
      return [error.code === "bad_cursor" ? wrongCursor(shell, state, error) : refusedField(form, error)];
    }
    if (answer.items.length === 0) return [chosenLine(form), ...(await nothing(shell, state))];
    const file = exports(shell, Object.fromEntries(FILTERS.map((name) => [name, state[name]])));
    return [
      chosenLine(form),
      element(
        "div",
        {class: "list-head"},
        element("p", {class: "hint", role: "status"}, said({...answer, first: state.cursor === ""})),
        file.buttons,
      ),
      file.said,
      table(shell, answer.items, selection),
      pages(shell, state, answer),
    ].filter(Boolean);
  });
  const form = filterForm(state, devices);
  const clear = () => {
    location.hash = unfiltered(shell, state);
  };
  form.append(button("Clear filters", clear, {class: "quiet"}));
  watch(form, (name, value) => {
    const changed = {[name]: value, cursor: ""};
    Object.assign(state, changed);
    shell.setParameters(changed);
    refresh();
  });
  await refresh();
  root.replaceChildren(...head, form, selection.element, place);
}
