// The explorer: where a kernel stands under a roof, from its flop and bytes, and what that says about the work to be
// done.
import {ceiling} from "../../chart/model.js";
import {get, run as getRun} from "../../parts/api.js";
import {notice} from "../../parts/blocks.js";
import {button} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {replaceIn} from "../../parts/focus.js";
import {refused} from "../../parts/refused.js";
import {controls} from "./controls.js";
import {EXAMPLES} from "./math.js";
import {results} from "./results.js";
import {canPin, decode, encodeSubject} from "./state.js";

export const css = "/css/explorer.css";

const RUNS = 30; // as many of the newest as the list offers

/** The runs of the list: the newest good ones, and the one that the address names. */
async function recent(wanted, signal) {
  const {items} = await get(`/api/v1/runs?limit=${RUNS}`, {signal});
  if (wanted === null || items.some((item) => item.id === wanted)) return items;
  const run = await getRun(wanted, {signal});
  const value = (name) => ceiling(run, name, "warm")?.value ?? null;
  return [{...run, dram_copy_byte_per_s: value("dram_copy"), fp32_fma_flop_per_s: value("fp32_fma")}, ...items];
}

function lesson() {
  const step = (title, text) => element("li", {}, element("strong", {}, title), ` ${text}`);
  return element(
    "section",
    {class: "lesson", "aria-labelledby": "lesson-title"},
    element("h2", {id: "lesson-title"}, "Three moves"),
    element(
      "ol",
      {},
      step(
        "Estimate.",
        "Count the flop and the bytes that have to go to and from DRAM, and divide. A count on paper is rarely off " +
          "by more than two.",
      ),
      step(
        "Place.",
        "The ceiling is the lower of two: bandwidth times intensity, or peak. Which of the two it is says what " +
          "kind of work can help at all.",
      ),
      step(
        "Compare.",
        "Far below its ceiling, a kernel can be fixed. At its ceiling it cannot, and only another algorithm gets " +
          "further: fewer bytes, or fewer operations.",
      ),
    ),
    element(
      "p",
      {class: "reason"},
      "The model counts DRAM traffic alone. Caches, the mix of instructions, latency and clocks bend the real " +
        "line: it is a ceiling, not a forecast.",
    ),
  );
}

/** Buttons over the list of pins. draw() shows the state again. */
function pinButtons(state, draw) {
  const add = (subject, times) => {
    if (canPin(state.pins)) state.pins.push({subject: {...subject}, times});
  };
  const pin = button("Pin this one", () => {
    add(state.subject, state.times);
    draw();
  });
  const five = button("Pin the five examples", () => {
    const there = new Set(state.pins.filter((p) => p.times === 1).map((p) => encodeSubject(p.subject)));
    for (const e of EXAMPLES) {
      const subject = {kind: "example", id: e.id, size: String(e.size)};
      if (!there.has(encodeSubject(subject))) add(subject, 1);
    }
    draw();
  });
  const clear = button("Remove all pins", () => {
    state.pins = [];
    draw();
    pin.focus();
  });
  return {
    nodes: [pin, five, clear],
    pin,
    sync(errors) {
      pin.disabled = five.disabled = errors || !canPin(state.pins);
      clear.hidden = state.pins.length === 0;
    },
  };
}

/** Loads whole runs as they are chosen. */
function chooser(state, signal) {
  const whole = new Map();
  return async () => {
    if (state.typed || state.run === null) return null;
    const wanted = state.run;
    if (!whole.has(wanted)) whole.set(wanted, await getRun(wanted, {signal}));
    return whole.get(wanted);
  };
}

function layout(root, parts, form, pins, {unknown, runs, shell}) {
  root.replaceChildren(
    ...[
      element("h1", {}, "Explorer"),
      element(
        "p",
        {class: "lead"},
        "Two numbers bound every kernel: the flop that it does and the bytes that it moves. Their quotient picks " +
          "the roof, and the roof says what is worth doing.",
      ),
      unknown.length === 0
        ? null
        : notice(
            null,
            element(
              "p",
              {},
              `The address has something that this page does not know: ${unknown.join(", ")}. In its place stands ` +
                "the default.",
            ),
          ),
      runs.length === 0
        ? notice(
            "info",
            element(
              "p",
              {},
              "No run has been measured yet, so the roof is typed in. ",
              element("a", {href: shell.link("jobs")}, "Start a verification"),
              " to have a measured one.",
            ),
          )
        : null,
      parts.problem,
      element(
        "div",
        {class: "explorer"},
        element("div", {class: "side"}, form, parts.formulas),
        element("div", {class: "main"}, parts.mark, parts.results),
      ),
      element(
        "section",
        {"aria-labelledby": "pins-title"},
        element("h2", {id: "pins-title"}, "Side by side"),
        element("p", {class: "buttons"}, ...pins),
        parts.table,
        parts.pattern,
      ),
      lesson(),
    ].filter(Boolean),
  );
}

function emptyParts() {
  const parts = {
    mark: element("div"),
    formulas: element("div", {class: "formulas"}),
    figures: element("div", {class: "summary"}),
    said: element("p", {class: "sentence", role: "status"}),
    chart: element("figure", {class: "chart"}),
    advice: element("section", {class: "next", "aria-label": "What to do next"}),
    table: element("div"),
    pattern: element("p", {class: "pattern"}),
    problem: element("div"),
  };
  return {...parts, results: element("div", {class: "results"}, parts.figures, parts.said, parts.chart, parts.advice)};
}

/** The state that the address names, with what the lists have: a run by default, the typed roof where there is none. */
function start(params, catalogue, runs) {
  const {state, unknown} = decode(params, catalogue);
  if (runs.length === 0) state.typed = true;
  state.run ??= runs.find((run) => run.dram_copy_byte_per_s !== null && run.fp32_fma_flop_per_s !== null)?.id ?? null;
  return {state, unknown};
}

/**
 * What changes in the state where the kernel is placed as a run counted it, with its time in seconds: with more digits
 * than are shown, so that what follows from it is right to the digits shown.
 */
export const counted = (state, time) => ({
  subject: {...state.subject, bytes: "counted"},
  times: 1,
  achieved: {kind: "time", text: `${Number((time * 1e6).toPrecision(7))} µs`},
});

export async function show(root, params, shell) {
  const {signal} = shell;
  const [{items: units}, runs] = await Promise.all([
    get("/api/v1/kernels", {signal}),
    recent(params.get("roof") === "typed" ? null : params.get("run"), signal),
  ]);
  const catalogue = units.filter((unit) => unit.kind === "kernel");
  const {state, unknown} = start(params, catalogue, runs);
  const choose = chooser(state, signal);
  const parts = emptyParts();
  let run = await choose();

  const draw = () => {
    const errors = shown.draw(run);
    form.say(errors);
    pins.sync(["run", "bandwidth", "peak", "size", "flop", "bytes"].some((name) => errors[name]));
  };
  const anew = () => {
    form.rebuild();
    draw();
    form.form.querySelector("select").focus();
  };
  const acts = {
    take(time) {
      Object.assign(state, counted(state, time));
      anew();
    },
    show(index) {
      const [{subject, times}] = state.pins.splice(index, 1);
      Object.assign(state, {subject: {...subject}, times});
      anew();
    },
    remove(index) {
      state.pins.splice(index, 1);
      draw();
      const others = parts.table.querySelectorAll(".acts button:last-child");
      (others[Math.min(index, state.pins.length - 1)] ?? pins.pin).focus();
    },
  };
  const shown = results(parts, {state, catalogue, shell}, acts);
  const pins = pinButtons(state, draw);
  const roofNow = () => (state.typed ? "typed" : state.run);
  const changed = async ({run: other = false} = {}) => {
    const wanted = roofNow();
    try {
      const chosen = other ? await choose() : run;
      if (roofNow() !== wanted) return; // another choice has overtaken this one
      replaceIn(parts.problem);
      run = chosen;
      draw();
    } catch (error) {
      const again = () => changed({run: other});
      if (!signal.aborted && roofNow() === wanted) replaceIn(parts.problem, refused(error, again));
    }
  };
  const form = controls(state, catalogue, runs, {changed, work: () => shown.made(), roof: () => shown.roof()});
  layout(root, parts, form.form, pins.nodes, {unknown, runs, shell});
  draw();
  return {redraw: () => shown.chart()};
}
