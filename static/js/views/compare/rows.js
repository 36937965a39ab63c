// The rows of a comparison: verdict, interval, numbers and reasons of each; chosen by verdict and state, in the order
// that the reader wants.
import {button, chooser, field} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {changeOf, exact, unitFor} from "../../parts/exact.js";
import {watch} from "../../parts/filters.js";
import {NONE} from "../../parts/format.js";
import {bdi, chip, unbroken} from "../../parts/inline.js";
import {axis, interval, key, mark, scaleOf} from "./interval.js";
import {BYTES, CAUSES, TIME, tied} from "./words.js";

const ORDERS = [
  ["", "regressions first"],
  ["ratio", "slowest first"],
  ["fastest", "fastest first"],
  ["name", "by kernel"],
];

const range = ({low, high}) => (low === null || high === null ? null : `${changeOf(low)} to ${changeOf(high)}`);

/** A verdict's shape and word; null where the API gives none, with its reason. */
function verdict(name, why) {
  const known = TIME[name];
  if (!known) return element("span", {class: "verdict none", title: why}, name ?? "no verdict");
  return element("span", {class: `verdict ${known.shape}`}, mark(known.shape), known.word);
}

function numbers(measure) {
  if (measure.ratio === null) {
    return element(
      "div",
      {class: "numbers"},
      element("strong", {}, NONE),
      element("span", {class: "second"}, measure.why.ratio),
    );
  }
  const within = range(measure.interval);
  return element(
    "div",
    {class: "numbers"},
    element("strong", {}, changeOf(measure.ratio)),
    element(
      "span",
      {class: "second"},
      within === null ? (measure.interval.why.low ?? "no interval") : unbroken(within),
    ),
  );
}

/** "1.0103 → 1.0108 ms": in so many digits that a change of 0.05 % is to be seen; one unit for both where one fits. */
function pair({base, head}, unit) {
  const of = {unit, prefixed: true};
  const [from, to] = [exact(base, of), exact(head, of)];
  const alike = base !== null && head !== null && unitFor(base, of).text === unitFor(head, of).text;
  return `${alike ? from.slice(0, from.indexOf("\u00a0")) : from} → ${to}`;
}

let ids = 0;

/** The sentences of a row, open where there is something to read, and the button that opens them: {button, lines}. */
function why(lines, open) {
  const box = element("div", {class: "reasons", id: `reasons-${++ids}`, hidden: !open}, ...lines);
  const opener = button(
    "Reasons",
    () => {
      box.hidden = !box.hidden;
      opener.setAttribute("aria-expanded", String(!box.hidden));
    },
    {class: "quiet opener", "aria-expanded": String(open), "aria-controls": box.id},
  );
  return {button: opener, lines: box};
}

/** What a row begins with: its name, and below it what leads on. */
const nameOf = (title, state, ...more) =>
  element(
    "div",
    {class: "row-name"},
    element("h3", {}, bdi(title), " ", element("span", {class: "state"}, state)),
    element("div", {class: "row-more"}, ...more.filter(Boolean)),
  );

function reasons(row) {
  const lines = [element("p", {}, tied(row.time_s.sentence))];
  if (row.cause_sentence) {
    lines.push(
      element(
        "p",
        {class: "cause"},
        row.cause === "none_found" ? null : element("strong", {}, `Cause: ${CAUSES[row.cause] ?? row.cause}. `),
        tied(row.cause_sentence),
      ),
    );
  }
  lines.push(element("p", {}, tied(row.dram_bytes.sentence)));
  if (row.time_s.method === "history") {
    lines.push(
      element(
        "p",
        {class: "hint"},
        "Judged by the spread of this row in the device's history: the sides have too few runs of their own.",
      ),
    );
  }
  return why(lines, row.time_verdict !== "same" || (row.bytes_verdict !== "same" && row.bytes_verdict !== null));
}

function rowOf(row, {titles, scale, change, trend}) {
  const bytes = BYTES[row.bytes_verdict];
  const told = reasons(row);
  return element(
    "li",
    {class: "compare-row", "data-kernel": row.kernel, "data-state": row.state, "data-verdict": row.time_verdict},
    nameOf(
      titles.get(row.kernel) ?? row.kernel,
      row.state,
      told.button,
      trend ? element("a", {href: trend(row)}, "Trend") : null,
    ),
    element(
      "div",
      {class: "row-verdict"},
      verdict(row.time_verdict, row.why.time_verdict),
      row.cause && row.cause !== "none_found"
        ? element("span", {class: "second"}, `cause: ${CAUSES[row.cause]}`)
        : null,
    ),
    interval(row.time_s, scale, TIME[row.time_verdict]?.shape ?? "circle", change),
    numbers(row.time_s),
    element(
      "div",
      {class: "row-values"},
      pair(row.time_s, "s"),
      element(
        "span",
        {class: "second"},
        bytes ? chip(bytes.word, bytes.kind) : element("span", {title: row.why.bytes_verdict}, "bytes not judged"),
        row.dram_bytes.ratio === null ? "" : ` ${changeOf(row.dram_bytes.ratio)}`,
      ),
    ),
    told.lines,
  );
}

function ceilingOf(ceiling, {titles, scale, change}) {
  const unit = /fma/.test(ceiling.name) ? "FLOP/s" : "B/s";
  const told = why([element("p", {}, tied(ceiling.value.sentence))], ceiling.time_verdict !== "same");
  return element(
    "li",
    {class: "compare-row", "data-ceiling": ceiling.name, "data-state": ceiling.state},
    nameOf(titles.get(ceiling.name) ?? ceiling.name, ceiling.state, told.button),
    element("div", {class: "row-verdict"}, verdict(ceiling.time_verdict, ceiling.why.time_verdict)),
    interval(ceiling.value, scale, TIME[ceiling.time_verdict]?.shape ?? "circle", change),
    numbers(ceiling.value),
    element("div", {class: "row-values"}, pair(ceiling.value, unit)),
    told.lines,
  );
}

function ordered(rows, order) {
  const by = (row) => row.time_s.ratio ?? Number.NaN;
  const last = (a, b) => Number.isNaN(a) - Number.isNaN(b);
  if (order === "ratio") return rows.toSorted((a, b) => last(by(a), by(b)) || by(b) - by(a));
  if (order === "fastest") return rows.toSorted((a, b) => last(by(a), by(b)) || by(a) - by(b));
  if (order === "name") return rows.toSorted((a, b) => (a.kernel + a.state < b.kernel + b.state ? -1 : 1));
  return rows;
}

const keyOf = (change) =>
  element(
    "p",
    {class: "key"},
    ...key(change).map(([shape, words]) => element("span", {class: "sample"}, shape, words)),
  );
const headOf = (scale, what) =>
  element(
    "div",
    {class: "compare-head", "aria-hidden": "true"},
    element("span", {}, "row"),
    element("span", {}, "verdict"),
    element("div", {}, element("span", {}, `${what}, percent`), axis(scale)),
    element("span", {}, "change, its interval"),
    element("span", {}, "base → head"),
  );

const fits = (row, {verdict, rowstate}) =>
  (verdict === "" || row.time_verdict === verdict) && (rowstate === "" || row.state === rowstate);

/** The form that chooses rows; only verdicts that there are can be chosen. said: where it is told how many fit. */
function choiceForm(answer, choice, said) {
  const verdicts = Object.entries(answer.time_verdicts)
    .filter(([name, count]) => TIME[name] && count > 0)
    .map(([name, count]) => [name, `${TIME[name].word} (${count})`]);
  const states = [...new Set(answer.rows.map((row) => row.state))].map((state) => [state, state]);
  return element(
    "form",
    {class: "fields row-choice", "aria-label": "Which rows"},
    field("Verdict", chooser("verdict", [["", "all"], ...verdicts], choice.verdict)),
    field("Cache", chooser("rowstate", [["", "all"], ...states], choice.rowstate)),
    field("Order", chooser("order", ORDERS, choice.order)),
    said,
  );
}

const ceilingSection = (ceilings, context) =>
  element(
    "section",
    {},
    element("h2", {}, "Ceilings"),
    element("p", {class: "hint"}, "Of a ceiling it is the rate that is compared: a mark left of the middle is slower."),
    keyOf(context.change),
    headOf(context.scale, "change of the rate"),
    element("ol", {class: "compare-list"}, ...ceilings.map((ceiling) => ceilingOf(ceiling, context))),
  );

/**
 * Rows and ceilings with their choosers. choice: {verdict, rowstate, order} as the address has it; chosen(changes)
 * keeps it there.
 */
export function comparedRows(answer, titles, choice, chosen, trend) {
  const scale = scaleOf([...answer.rows.map((row) => row.time_s), ...answer.ceilings.map((ceiling) => ceiling.value)]);
  const context = {titles, scale, change: answer.rules.change, trend};
  const list = element("ol", {class: "compare-list"});
  const said = element("p", {class: "hint", role: "status"});
  const of = `${answer.rows.length} ${answer.rows.length === 1 ? "row" : "rows"}`;
  const draw = () => {
    const rows = ordered(answer.rows, choice.order).filter((row) => fits(row, choice));
    list.replaceChildren(...rows.map((row) => rowOf(row, context)));
    said.textContent = rows.length === answer.rows.length ? `All ${of}.` : `${rows.length} of ${of}.`;
  };
  const form = choiceForm(answer, choice, said);
  watch(form, (name, value) => {
    choice[name] = value;
    chosen({[name]: value});
    draw();
  });
  draw();
  const rows = element(
    "section",
    {},
    element("h2", {}, "Rows"),
    form,
    keyOf(context.change),
    headOf(scale, "change of the time"),
    list,
  );
  return answer.ceilings.length === 0 ? [rows] : [rows, ceilingSection(answer.ceilings, context)];
}
