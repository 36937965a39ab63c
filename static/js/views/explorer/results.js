// What follows from the explorer's state: figures, words, the chart, and the table of what is pinned.
import {captionOf, figure, notice, scrolling} from "../../parts/blocks.js";
import {button} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {NONE, flag, intensity, ratio, sentence as asSentence, si} from "../../parts/format.js";
import {bdi, longMark} from "../../parts/inline.js";
import {reasonsInWords} from "../../parts/outcome.js";
import {explorerChart} from "./chart.js";
import {EXAMPLES, achieve, place, reuse} from "./math.js";
import {encode, roofOf, secondsOf, work} from "./state.js";
import {KNOBS, advice, distance, impossible, meaning, percent, sentence} from "./words.js";

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

export function figures({placed, held, used}) {
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
export function formulas(state, catalogue, made) {
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
export function measured(state, run, take) {
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

const cell = (text, words = false) => element("td", {class: words ? "words" : null}, text);

/** What can be done with a pin; the first row is that of the form. */
function actsOf(p, i, {show, remove}) {
  if (i === 0) return element("td", {class: "words"});
  return element(
    "td",
    {class: "words acts"},
    button("Edit", () => show(i - 1), {class: "quiet", "aria-label": `Edit ${p.title}`}),
    button("Remove", () => remove(i - 1), {class: "quiet", "aria-label": `Remove ${p.title}`}),
  );
}

function rowOf(p, i, acts) {
  const cells = p.why
    ? [element("td", {class: "words", colspan: "5"}, p.why)]
    : [
        cell(ratio(p.intensity)),
        cell(si(p.attainable, "FLOP/s")),
        cell(percent(p.percentOfPeak)),
        cell(p.regime === "memory" ? "memory" : "compute", true),
        cell(distance(p), true),
      ];
  const inForm = i === 0 ? [" ", element("span", {class: "chip on-screen"}, "in the form")] : [];
  return element(
    "tr",
    {},
    element("td", {class: "number"}, p.number),
    element("th", {scope: "row", class: "rowhead"}, bdi(p.title), ...inForm),
    ...cells,
    actsOf(p, i, acts),
  );
}

function tableOf(points, acts) {
  const head = ["#", "kernel", "FLOP/B", "attainable", "of peak", "bound", "from the ridge"];
  const kindOf = (i) => (i === 0 ? "number" : i === 1 ? "words rowhead" : i > 4 ? "words" : null);
  const heads = head.map((text, i) => element("th", {scope: "col", class: kindOf(i)}, text));
  return element(
    "table",
    {},
    captionOf("The kernels on the chart, under the same roof"),
    element("thead", {}, element("tr", {}, ...heads, element("td", {}))),
    element("tbody", {}, ...points.map((p, i) => rowOf(p, i, acts))),
  );
}

/** How many of the pinned stand left of the ridge: what the seed of every optimisation is. */
export function pattern(points) {
  const placed = points.filter((p) => p.intensity > 0);
  if (placed.length < 2) return "Pin several to see how many of them stand left of the ridge.";
  const left = placed.filter((p) => p.regime === "memory").length;
  return (
    `${left} of ${placed.length} stand left of the ridge: for them the bytes decide, however good the ` +
    "arithmetic is."
  );
}

/** What the chart's signs mean. moved: reuse moved the point; achieved: a rate is drawn. */
const keyOf = (moved, achieved) =>
  element(
    "figcaption",
    {class: "key"},
    "Each kernel stands on the roof: no faster is possible there.",
    moved ? " The thick line is the way that reuse moves it, from the ring." : null,
    achieved ? " The diamond is what was achieved." : null,
  );

/** What has to be known of the run whose roof it is. */
function marksOf(run) {
  const made = [longMark(run)];
  if (run.outcome !== "ok") {
    made.push(notice(null, element("p", {}, `Run ${run.id} is ${run.outcome}: ${reasonsInWords(run)}.`)));
  }
  return made.filter(Boolean);
}

/**
 * The state's figures on the page: what is drawn after each change. Elements of parts are kept, their content is
 * replaced.
 */
export function results(parts, {state, catalogue, shell}, acts) {
  let last = null;
  const drawChart = () => {
    const points = last.points.filter((p) => p.intensity > 0);
    if (points.length === 0) {
      parts.chart.replaceChildren();
      return;
    }
    const key = keyOf(state.times > 1, last.points[0].rate > 0);
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
      parts.mark.replaceChildren(...(run ? marksOf(run) : []));
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
