// The explorer: where a kernel stands under a roof, from its flop and bytes, and what that says about the work to be
// done.
import {ceiling} from "../../chart/model.js";
import {get, run as getRun} from "../../parts/api.js";
import {captionOf, figure, notice, scrolling} from "../../parts/blocks.js";
import {button} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {replaceIn} from "../../parts/focus.js";
import {NONE, flag, intensity, ratio, sentence as asSentence, si} from "../../parts/format.js";
import {bdi, longMark} from "../../parts/inline.js";
import {reasonsInWords} from "../../parts/outcome.js";
import {refused} from "../../parts/refused.js";
import {explorerChart} from "./chart.js";
import {controls} from "./controls.js";
import {EXAMPLES, achieve, place, reuse} from "./math.js";
import {canPin, decode, encode, encodeSubject, roofOf, secondsOf, work} from "./state.js";
import {KNOBS, advice, distance, impossible, meaning, percent, sentence} from "./words.js";

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

/** Everything that follows from the state: the roof, and each placed kernel with its number. */
function workOut(state, catalogue, run) {
  const roof = roofOf(state, run);
  const made = work(state.subject, catalogue, run, state.cache);
  const errors = {...roof.errors, ...made.errors};
  if (roof.errors || made.errors) return {errors, roof, made, points: [], held: null};
  const used = reuse(made, state.times);
  const placed = place(used, roof);
  const seconds = secondsOf(state.achieved, made.flop);
  if (seconds?.error) errors.achieved = seconds.error;
  const held = seconds?.seconds ? achieve(used, roof, seconds.seconds) : null;
  const title = state.times === 1 ? made.title : `${made.title}, each byte used ${state.times} times`;
  const current = {
    number: "1",
    title,
    pin: null,
    ...used,
    ...placed,
    rate: held?.rate ?? null,
    before: state.times === 1 || placed.intensity === null ? null : place(made, roof),
  };
  const pins = state.pins.map((pin, i) => {
    const of = work(pin.subject, catalogue, run, state.cache);
    const name = pin.times === 1 ? of.title : `${of.title}, each byte used ${pin.times} times`;
    if (of.errors) return {number: String(i + 2), title: name, pin, why: Object.values(of.errors).find(Boolean)};
    return {
      number: String(i + 2),
      title: name,
      pin,
      ...reuse(of, pin.times),
      ...place(reuse(of, pin.times), roof),
      rate: null,
      before: null,
    };
  });
  return {errors, roof, made, used, placed, held, title, points: [current, ...pins]};
}

function figures({placed, held, used}) {
  const made = [
    figure("intensity", intensity(placed.intensity), `${si(used.flop, "FLOP")} over ${si(used.bytes, "B")}`),
    figure(
      "attainable",
      placed.attainable === null ? NONE : si(placed.attainable, "FLOP/s"),
      placed.attainable === null
        ? `${si(used.bytes, "B")} a launch, at the memory roof at best`
        : `${percent(placed.percentOfPeak)} of peak`,
    ),
    figure(
      "regime",
      placed.regime === "memory" ? "memory-bound" : "compute-bound",
      `${distance(placed)}${placed.reuse === null ? "" : `, ${intensity(placed.ridge)}`}`,
    ),
  ];
  if (held) {
    made.push(
      figure(
        "achieved",
        percent(held.percentOfRoof),
        `of its roof: ${placed.intensity === null ? si(held.byteRate, "B/s") : si(held.rate, "FLOP/s")}`,
      ),
    );
  }
  return made;
}

/** How flop and bytes of what is placed are counted. */
function formulas(state, catalogue, made) {
  const line = (...words) => element("p", {class: "formula"}, ...words);
  const code = (text) => element("code", {}, text);
  const {subject} = state;
  if (subject.kind === "own" || made.errors) return [];
  if (subject.kind === "example") {
    const example = EXAMPLES.find((e) => e.id === subject.id);
    return [
      line(example.code.includes("=") ? code(example.code) : asSentence(example.code)),
      line(
        "flop = ",
        code(example.flopFormula),
        ` = ${si(made.flop, "FLOP")}; bytes = `,
        code(example.bytesFormula),
        ` = ${si(made.bytes, "B")}: ${example.why}.`,
      ),
    ];
  }
  const unit = catalogue.find((item) => item.id === subject.id);
  const counted = subject.bytes === "counted";
  return [
    line(unit.description),
    line(
      "flop = ",
      code(unit.flop_formula),
      ` = ${si(made.flop, "FLOP")}; bytes`,
      ...(counted ? [" counted by hardware"] : [" asked = ", code(unit.ask_formula)]),
      ` = ${si(made.bytes, "B")}.`,
    ),
  ];
}

function knobs() {
  const row = ([what, counter, words]) =>
    element("div", {class: "knob"}, element("dt", {}, what, element("code", {}, counter)), element("dd", {}, words));
  return element("dl", {class: "knobs"}, ...KNOBS.map(row));
}

/** What the chosen run measured of the kernel of the suite that is placed, and a way to take its time. */
function measured(state, run, take) {
  const row =
    state.typed || state.subject.kind !== "kernel"
      ? null
      : run?.kernels.find((item) => item.kernel === state.subject.id);
  const of = row?.[state.cache];
  if (!of) return null;
  const time = of.time_s.median;
  const says = of.advice ?? (of.why?.advice ? `No advice: ${of.why.advice}.` : "");
  const matters = [time === null ? "its time is not known" : `${si(time, "s")} a launch`];
  if (of.dram_per_ask !== null) matters.push(`DRAM/ask ${of.dram_per_ask.toFixed(4)}`);
  if (of.percent_of_roof !== null) matters.push(`${percent(of.percent_of_roof)} of its own roof`);
  const unpaid =
    of.flags.includes("writeback_unpaid") && of.percent_of_roof !== null ? ` It ${flag("writeback_unpaid")}.` : "";
  return notice(
    "info",
    element(
      "p",
      {},
      element("strong", {}, `Run ${run.id} measured it, ${run.sizes} sizes, ${state.cache}: `),
      `${matters.join(", ")}. ${says}${unpaid}`,
    ),
    time === null
      ? null
      : element(
          "p",
          {class: "buttons"},
          button("Place it as counted, with that time", () => take(time)),
        ),
  );
}

function tableOf(points, {show, remove}) {
  const cell = (text, words = false) => element("td", {class: words ? "words" : null}, text);
  const row = (p, i) => {
    const name = element(
      "th",
      {scope: "row", class: "rowhead"},
      bdi(p.title),
      ...(i === 0 ? [" ", element("span", {class: "chip on-screen"}, "in the form")] : []),
    );
    const acts =
      i === 0
        ? element("td", {class: "words"})
        : element(
            "td",
            {class: "words acts"},
            button("Edit", () => show(i - 1), {class: "quiet", "aria-label": `Edit ${p.title}`}),
            button("Remove", () => remove(i - 1), {class: "quiet", "aria-label": `Remove ${p.title}`}),
          );
    if (p.why) {
      return element(
        "tr",
        {},
        element("td", {class: "number"}, p.number),
        name,
        element("td", {class: "words", colspan: "5"}, p.why),
        acts,
      );
    }
    return element(
      "tr",
      {},
      element("td", {class: "number"}, p.number),
      name,
      cell(ratio(p.intensity)),
      cell(si(p.attainable, "FLOP/s")),
      cell(percent(p.percentOfPeak)),
      cell(p.regime === "memory" ? "memory" : "compute", true),
      cell(distance(p), true),
      acts,
    );
  };
  const head = ["#", "kernel", "FLOP/B", "attainable", "of peak", "bound", "from the ridge"];
  return element(
    "table",
    {},
    captionOf("The kernels on the chart, under the same roof"),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ...head.map((text, i) =>
          element(
            "th",
            {scope: "col", class: i === 0 ? "number" : i === 1 ? "words rowhead" : i > 4 ? "words" : null},
            text,
          ),
        ),
        element("td", {}),
      ),
    ),
    element("tbody", {}, ...points.map(row)),
  );
}

/** How many of the pinned stand left of the ridge: what the seed of every optimisation is. */
function pattern(points) {
  const placed = points.filter((p) => p.intensity > 0);
  if (placed.length < 2) return "Pin several to see how many of them stand left of the ridge.";
  const left = placed.filter((p) => p.regime === "memory").length;
  return (
    `${left} of ${placed.length} stand left of the ridge: for them the bytes decide, however good the ` +
    "arithmetic is."
  );
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

/**
 * The state's figures on the page: what is drawn after each change. Elements of parts are kept, their content is
 * replaced.
 */
function results(parts, {state, catalogue, shell}, acts) {
  let last = null;
  const drawChart = () => {
    const points = last.points.filter((p) => p.intensity > 0);
    if (points.length === 0) {
      parts.chart.replaceChildren();
      return;
    }
    const key = element(
      "figcaption",
      {class: "key"},
      "Each kernel stands on the roof: no faster is possible there.",
      state.times > 1 ? " The thick line is the way that reuse moves it, from the ring." : null,
      last.points[0].rate > 0 ? " The diamond is what was achieved." : null,
    );
    parts.chart.replaceChildren(
      explorerChart(points, last.roof, Math.max(290, Math.floor(parts.chart.clientWidth)), last.words),
      key,
    );
  };
  const drawWords = (run) => {
    const too = impossible(last.used.bytes, last.made.least, state.times);
    const told = advice(last.placed, last.held);
    last.words = sentence(last.title, last.used, last.placed, last.roof);
    parts.figures.replaceChildren(...figures(last));
    parts.said.replaceChildren(bdi(last.words), ` ${meaning(last.placed)}`);
    parts.advice.replaceChildren(
      ...[
        too ? notice(null, element("p", {}, too)) : null,
        measured(state, run, acts.take),
        element("h2", {}, told.title),
        element("p", {}, told.text),
        told.knobs ? knobs() : null,
      ].filter(Boolean),
    );
    parts.table.replaceChildren(scrolling("Kernels on the chart", tableOf(last.points, acts)));
    parts.pattern.textContent = pattern(last.points);
  };
  return {
    /** {flop, bytes} of what the form has, or {errors}. */
    made: () => last?.made ?? {},
    roof: () => last.roof,
    chart: () => {
      if (last.points.length > 0) drawChart();
    },
    /** Errors by field of the form. */
    draw(run) {
      shell.setParametersSoon(() => encode(state));
      last = workOut(state, catalogue, run);
      const none = last.points.length === 0;
      parts.mark.replaceChildren(
        ...(run
          ? [
              longMark(run),
              run.outcome === "ok"
                ? null
                : notice(null, element("p", {}, `Run ${run.id} is ${run.outcome}: ${reasonsInWords(run)}.`)),
            ]
          : []
        ).filter(Boolean),
      );
      parts.formulas.replaceChildren(...formulas(state, catalogue, last.made));
      parts.results.classList.toggle("is-old", none);
      if (none) {
        parts.said.textContent = `Nothing can be placed. ${Object.values(last.errors).filter(Boolean).join(" ")}`;
        parts.table.replaceChildren();
        parts.pattern.textContent = "";
      } else {
        drawWords(run);
        drawChart();
      }
      return last.errors;
    },
  };
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
      Object.assign(state, {
        subject: {...state.subject, bytes: "counted"},
        times: 1,
        achieved: {kind: "time", text: `${Number((time * 1e6).toPrecision(7))} µs`},
      }); // with more digits than are shown, so that what follows from it is right to the digits shown
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
      (
        parts.table.querySelectorAll(".acts button:last-child")[Math.min(index, state.pins.length - 1)] ?? pins.pin
      ).focus();
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
      if (!signal.aborted && roofNow() === wanted) {
        replaceIn(
          parts.problem,
          refused(error, () => changed({run: other})),
        );
      }
    }
  };
  const form = controls(state, catalogue, runs, {changed, work: () => shown.made(), roof: () => shown.roof()});
  layout(root, parts, form.form, pins.nodes, {unknown, runs, shell});
  draw();
  return {redraw: () => shown.chart()};
}
