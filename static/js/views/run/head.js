// The head of a run: device, mark, environment in a line, what is to be minded, and the ceilings as figures.
import {ceiling, ceilingState, levelOf, roofs} from "../../chart/model.js";
import {figure, notice} from "../../parts/blocks.js";
import {element} from "../../parts/dom.js";
import {day, intensity, percent, sentence, si} from "../../parts/format.js";
import {bdi, longMark, moment} from "../../parts/inline.js";
import {countersTrouble} from "../../parts/job.js";
import {reasonsInWords} from "../../parts/outcome.js";

/** Power of an import's log: average, energy, and the grain of both. */
function power(run) {
  const {power: log} = run;
  if (!log) return null;
  const energy = log.energy_j === null ? `energy not known: ${log.why.energy_j}` : si(log.energy_j, "J");
  const grain = log.interval_s === null ? "" : ` every ${si(log.interval_s, "s")}`;
  const when = log.from === null ? "" : `, ${log.from} to ${log.until} by its clock`;
  return element(
    "p",
    {class: "environment power"},
    `Power ${si(log.average_w, "W")} on average, ${energy} · ${log.samples} ` +
      `${log.samples === 1 ? "sample" : "samples"}${grain}${when} (${log.source})`,
  );
}

export function head(run, shell) {
  const {environment: env, device} = run;
  const known = (text, before) => (text === null ? `${before} not known` : `${before} ${text}`);
  return element(
    "header",
    {class: "run-head"},
    element("div", {class: "title"}, element("h1", {id: "title", dir: "auto"}, device.name), longMark(run)),
    element(
      "div",
      {class: "below-title"},
      element(
        "p",
        {id: "environment", class: "environment"},
        `${known(env.driver_version, "driver")} · ${known(env.cuda_runtime_version, "CUDA")} · ${run.sizes} sizes ` +
          `· run ${run.id} of `,
        run.import && /T00:00:00/.test(run.date) ? day(run.date) : moment(run.date),
      ), // such an import was given a day and no time of it
      !run.label
        ? null
        : element(
            "p",
            {class: "run-label"},
            "Label ",
            element("a", {href: shell.link("runs", {label: run.label, source: "any"})}, bdi(run.label)),
          ),
      power(run),
      element(
        "p",
        {class: "onward"},
        element("a", {href: shell.link("explorer", {run: run.id})}, "A kernel of your own under this roof"),
        run.job === null ? null : element("a", {href: shell.link("jobs", {job: run.job})}, `Job ${run.job}`),
        element("a", {href: shell.link("runs", {device: run.device.id, source: "any"})}, "All runs of this device"),
      ),
    ),
  );
}

/** A run without counters; that they were off on purpose is nothing to mind. */
function uncounted({counters, kernels, source}) {
  const trouble = countersTrouble(counters.status);
  const why = counters.reason === null ? "" : ` ${sentence(counters.reason)}`;
  const rest =
    kernels.length === 0
      ? ""
      : `Times and rates are ${source === "imported" ? "as imported" : "measured"}; byte columns and intensities ` +
        "are empty.";
  if (!trouble) return notice("info", element("p", {}, `No byte counters.${why} ${rest}`.trimEnd()));
  return notice(
    null,
    element("p", {}, `No byte counters. ${trouble.meaning}${why} ${rest}`.trimEnd()),
    element("p", {}, trouble.action),
    element("p", {class: "code"}, counters.status),
  );
}

export function outcome(run) {
  const words = [];
  if (run.flags.includes("shared")) {
    words.push(
      "Something else was on the GPU during this run, or could not be kept off " +
        `it${run.outcome === "ok" ? "." : ": the likely reason of what follows."}`,
    );
  }
  if (run.outcome === "refused") {
    words.push("This run is refused: a result was wrong, so its figures are evidence and no roofline.");
  }
  if (run.outcome === "partial") words.push("This run is partial: something that was asked for is missing.");
  if (run.outcome !== "ok") words.push(sentence(reasonsInWords(run)));
  const bad = words.length > 0 && run.outcome === "refused";
  const made = words.length === 0 ? [] : [notice(bad ? "bad" : null, ...words.map((text) => element("p", {}, text)))];
  if (run.lent && run.source === "imported") made.push(notice("info", element("p", {}, run.lent.sentence)));
  if (run.kernels.length === 0) {
    made.push(
      notice(
        "info",
        element(
          "p",
          {},
          `This run has ceilings only${run.source === "imported" ? ": its record prints no rows" : ""}.`,
        ),
      ),
    );
  }
  if (run.counters.status !== "ok") made.push(uncounted(run));
  return made;
}

function nominal(run, found) {
  if (!found) return "not measured";
  if (found.lent) return `lent by run ${run.lent.run}`;
  if (found.value === null) return found.why?.value ?? "not known";
  if (run.source === "imported" && !found.flags.includes("derived")) return found.method ?? "imported";
  if (found.flags.includes("derived")) return "derived from two printed figures";
  const of = found.unit === "byte_per_s" ? "memory clock × bus width" : "SM clock × FP32 lanes";
  return found.percent_of_nominal === null ? "measured" : `measured, ${percent(found.percent_of_nominal)} of ${of}`;
}

function memoryNote(run, state, level) {
  if (level === "dram") return nominal(run, ceiling(run, "dram_copy", ceilingState(state)));
  const found = ceiling(run, levelOf(level).roof, ceilingState(state));
  return found ? nominal(run, found) : `no ${levelOf(level).name} roof was measured: points only`;
}

/** The two ceilings and the ridge of the view; second: the same of the run laid over, below them. */
export function summary(run, {state, level}, second) {
  const {copy, fma, ridge} = roofs(run, state, level);
  const other = second ? roofs(second.run, second.state, level) : null;
  const name = level === "dram" ? "copy ceiling" : `${levelOf(level).name} ceiling`;
  const tile = (label, value, words, beside) => {
    const made = figure(label, value, words);
    if (second) made.append(element("p", {class: "beside"}, `run ${second.run.id}: `, element("b", {}, beside)));
    return made;
  };
  return [
    tile(
      `${name}, ${ceilingState(state)}`,
      si(copy, "B/s"),
      memoryNote(run, state, level),
      other && si(other.copy, "B/s"),
    ),
    tile(
      "FMA ceiling",
      si(fma, "FLOP/s"),
      nominal(run, ceiling(run, "fp32_fma", "warm")),
      other && si(other.fma, "FLOP/s"),
    ),
    tile(
      "ridge",
      intensity(ridge),
      ridge === null ? "needs both roofs" : "left of it memory limits, right of it arithmetic",
      other && intensity(other.ridge),
    ),
  ];
}
