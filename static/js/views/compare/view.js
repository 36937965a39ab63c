// Comparison, #view=compare&base=…&head=…&device=…: whether head differs from base, regressions first, each verdict
// with its reason.
import * as api from "../../parts/api.js";
import {notice} from "../../parts/blocks.js";
import {knownDevices, noneHasRuns} from "../../parts/devices.js";
import {element} from "../../parts/dom.js";
import {changeOf} from "../../parts/exact.js";
import {anyRun, nothingYet, read, region} from "../../parts/filters.js";
import {percent, sentence as asSentence} from "../../parts/format.js";
import {bdi} from "../../parts/inline.js";
import {comparedRows} from "./rows.js";
import {sides, sidesForm, versionsOf} from "./sides.js";
import {OUTCOMES, command, fieldName, sideWords, tied} from "./words.js";

export const css = "/css/history.css";

const ASKED = ["base", "head", "device", "suite", "sizes", "source"];
const CHOICE = ["verdict", "rowstate", "order"];

function outcome(answer) {
  const known = OUTCOMES[answer.outcome] ?? {title: answer.outcome, kind: ""};
  const same = answer.comparable && [...answer.base.runs].sort().join() === [...answer.head.runs].sort().join();
  const title = !answer.comparable ? "Not comparable" : same ? "The same runs on both sides" : known.title;
  const words = answer.comparable
    ? [element("p", {}, tied(answer.sentence))]
    : [element("p", {}, "Nothing was judged:"), element("ul", {}, ...answer.not_comparable.map(difference))];
  const kind = !answer.comparable ? "bad" : same ? "" : known.kind;
  return element(
    "div",
    {class: ["outcome", kind].filter(Boolean).join(" "), role: "status"},
    element("h2", {}, title),
    ...words,
  );
}

const difference = ({field, sentence}) =>
  element("li", {"data-field": field}, element("strong", {}, `${fieldName(field)}: `), bdi(tied(sentence)));

/** What limits the verdicts; null where nothing does. */
function reservations(answer) {
  if (answer.warnings.length === 0) return null;
  return notice(
    "",
    element("p", {}, element("strong", {}, answer.comparable ? "Judged, with reservations" : "Also to be noted")),
    element("ul", {}, ...answer.warnings.map(difference)),
  );
}

function machine({machine: said}) {
  if (said.time_verdict === null) return null;
  return notice(
    said.time_verdict === "slower" ? "bad" : "good",
    element(
      "p",
      {},
      element("strong", {}, `The machine as a whole is ${said.time_verdict}: `),
      `${changeOf(said.ratio)}, between ${changeOf(said.low)} and ${changeOf(said.high)}; ${said.rows_together} of ` +
        `${said.rows} rows and ceilings moved together.`,
    ),
    element("p", {}, tied(said.sentence)),
  );
}

function explained(answer) {
  const {rules} = answer;
  return element(
    "details",
    {class: "rules"},
    element("summary", {}, "How it is judged, and what ambiguous means"),
    element("p", {}, tied(rules.sentence)),
    element(
      "p",
      {},
      `The shaded band is ±${percent(100 * rules.change, 0)}: a change inside of it is none. The barred line is ` +
        "the interval that the true ratio lies in; the two thin lines below it are the middle halves of base's runs " +
        "(upper) and of head's (lower), against base's median. ",
      element("strong", {}, "Ambiguous"),
      " is neither good nor bad news: the interval is too wide, or lies across the band's edge, so that a change " +
        "can neither be shown nor be ruled out. More runs a side narrow it: ",
      `${rules.rank_runs_min} are the least for a test of their own; with fewer, the spread of the device's ` +
        `history is used, if it has ${rules.history_min} runs.`,
    ),
  );
}

function hint(asked, answer) {
  const exit = OUTCOMES[answer.outcome]?.exit;
  return element(
    "section",
    {class: "script"},
    element("h2", {}, "In a script"),
    element(
      "pre",
      {class: "command", tabindex: "0"},
      ...command(asked).flatMap((argument, i) => [i === 0 ? "" : " ", element("span", {class: "argument"}, argument)]),
    ),
    element(
      "p",
      {class: "hint"},
      `Exit status 0: not slower, 1: slower, 2: it cannot be told.${exit === undefined ? "" : ` Here it is ${exit}.`}`,
    ),
  );
}

/**
 * What there is to compare where the reader has not said: the two newest drivers of the device that has more than one.
 */
function suggestion(devices) {
  for (const device of devices) {
    const [newest, before] = versionsOf(device);
    if (before) return {device: device.id, base: `driver:${before.driver}`, head: `driver:${newest.driver}`};
  }
  return null;
}

/**
 * {base, head}: one run of each side, whole; null where a side has none. What can be compared is alike in what is read
 * of it: one run tells it for both.
 */
async function firstRuns(answer, signal) {
  const first = (id) => (id === undefined ? null : api.run(id, {signal}));
  const [base, head] = [answer.base.runs[0], answer.head.runs[0]];
  if (!answer.comparable) {
    const [one, other] = await Promise.all([first(base), first(head)]);
    return {base: one, head: other};
  }
  const run = await first(base);
  return {base: run, head: run};
}

/**
 * Where the runs of each side are from: the API says so where they are not all from the same; else one of them tells
 * it.
 */
function sourcesOf(answer, runs) {
  const said = answer.warnings.find((warning) => warning.field === "source");
  return said ? {base: said.base, head: said.head} : {base: runs.base?.source ?? null, head: runs.head?.source ?? null};
}

async function load(shell, asked, choice, titles, signal) {
  if (asked.base === "" || asked.head === "") {
    return [
      notice(
        "info",
        element(
          "p",
          {},
          "Choose two sides: two drivers of a device, or runs by their numbers. ",
          element("a", {href: shell.link("runs")}, "Mark runs in the list"),
        ),
      ),
    ];
  }
  const answer = await api.get(api.address("/api/v1/compare", asked), {signal});
  const runs = await firstRuns(answer, signal);
  const device = asked.device || ((runs.base ?? runs.head)?.device.id ?? null);
  const trend =
    device === null
      ? null
      : (row) =>
          shell.link("trend", {
            device,
            kernel: row.kernel,
            state: row.state,
            suite: asked.suite,
            sizes: asked.sizes,
            source: asked.source,
          });
  const rows =
    answer.rows.length === 0
      ? []
      : comparedRows(answer, titles, choice, (changed) => shell.setParameters(changed), trend);
  const nodes = [
    outcome(answer),
    machine(answer),
    reservations(answer),
    sides(shell, answer, sourcesOf(answer, runs), runs),
    explained(answer),
    ...rows,
    hint(asked, answer),
  ].filter(Boolean);
  return {nodes, shown: () => shell.title(`${sideWords(answer.base.label)} against ${sideWords(answer.head.label)}`)};
}

/** Paper shows what stands folded on the screen. */
function unfoldForPaper(place, signal) {
  const unfold = () => {
    for (const details of place.querySelectorAll("details")) details.open = true;
  };
  window.addEventListener("beforeprint", unfold, {signal});
}

export async function show(root, params, shell) {
  const [devices, {items: units}] = await Promise.all([knownDevices(shell.signal), api.get("/api/v1/kernels", shell)]);
  const titles = new Map(units.map((unit) => [unit.id, unit.title]));
  const head = [
    element("h1", {}, "Compare"),
    element(
      "p",
      {class: "lead"},
      "Did anything change from base to head? Each row is judged from the spread of its runs.",
    ),
  ];
  if (noneHasRuns(devices) && !(await anyRun(shell.signal))) {
    root.replaceChildren(...head, nothingYet(shell));
    return;
  }
  const asked = read(params, ASKED);
  const choice = read(params, CHOICE);
  if (asked.base === "" && asked.head === "") {
    Object.assign(asked, suggestion(devices) ?? {device: devices[0]?.id ?? ""});
  }
  const place = element("div", {class: "compare-place"});
  const formPlace = element("div", {});
  let fault = () => {};
  const refresh = region(shell, place, async (signal) => {
    for (const side of ["base", "head"]) fault(side, null);
    try {
      return await load(shell, asked, choice, titles, signal);
    } catch (error) {
      if (error.code === "run_not_found" || ["base", "head"].includes(error.field)) {
        fault(error.field, asSentence(error.message));
      }
      throw error;
    }
  });
  const ask = (changed) => {
    Object.assign(asked, changed);
    Object.assign(choice, {verdict: "", rowstate: ""});
    shell.setParameters({...asked, ...choice});
    return refresh();
  };
  const fill = () => {
    const made = sidesForm(asked, devices, ask, (device) => {
      const of = suggestion(devices.filter((one) => one.id === device)) ?? {base: "", head: ""};
      Object.assign(asked, {device, base: of.base, head: of.head});
      fill();
      formPlace.querySelector("[name=device]").focus();
    });
    fault = made.fault;
    formPlace.replaceChildren(made.form);
  };
  unfoldForPaper(place, shell.signal);
  fill();
  await refresh();
  root.replaceChildren(...head, formPlace, place);
}
