// The list of runs as a table, and on a narrow screen as cards of the same rows.
import {scrolling} from "../../parts/blocks.js";
import {shortId} from "../../parts/devices.js";
import {element} from "../../parts/dom.js";
import {NONE, ceilingName, local, ratio, si, utc} from "../../parts/format.js";
import {bdi, chip, runLink} from "../../parts/inline.js";

const OUTCOMES = {ok: ["ok", null], refused: ["refused", "bad"], partial: ["partial", "warn"]};

const second = (...children) => element("span", {class: "second"}, ...children);

/** UTC, and below it the reader's clock where that is another. */
function date(text) {
  const here = new Date(text).getTimezoneOffset() === 0 ? null : second(local(text));
  return element("time", {datetime: text}, utc(text), here);
}

/** A value, or a dash or word that says why there is none. */
const known = (run, member, text, none = NONE) =>
  run[member] === null ? element("span", {title: run.why[member]}, none) : text(run[member]);

function counters(kind) {
  return element(
    "span",
    {class: "counters"},
    element("span", {class: `dot ${kind === "counter-backed" ? "counted" : "timed"}`, "aria-hidden": "true"}),
    kind === "counter-backed" ? "counter-backed" : "timed only",
  );
}

const COLUMNS = [
  {name: "date", words: true, of: (run) => date(run.date)},
  {
    name: "device",
    words: true,
    wide: true,
    of: ({device}) =>
      element(
        "span",
        {},
        bdi(device.name),
        element("span", {class: "second device-short", title: device.id}, bdi(shortId(device.id))),
      ),
  },
  {
    name: "driver",
    words: true,
    of: (run) =>
      element(
        "span",
        {},
        known(run, "driver", (text) => bdi(text), "unknown"),
        second(
          "CUDA ",
          known(run, "cuda", (text) => bdi(text), "unknown"),
        ),
      ),
  },
  {name: "sizes, counters", words: true, of: (run) => element("span", {}, run.sizes, second(counters(run.counters)))},
  {
    name: "outcome",
    words: true,
    of: (run) => (run.outcome === "ok" ? "ok" : chip(...(OUTCOMES[run.outcome] ?? [run.outcome, null]))),
  },
  {
    name: "copy rate",
    title: ceilingName("dram_copy"),
    of: (run) => known(run, "dram_copy_byte_per_s", (value) => si(value, "B/s")),
  },
  {
    name: "FMA rate",
    title: ceilingName("fp32_fma"),
    of: (run) => known(run, "fp32_fma_flop_per_s", (value) => si(value, "FLOP/s")),
  },
  {name: "ridge, FLOP/B", title: "where the two roofs meet", of: (run) => known(run, "ridge_flop_per_byte", ratio)},
];

const kindOf = (column, run) =>
  [
    column.words ? "words" : "rate",
    column.wide ? "wide" : "",
    column.name === "outcome" && run.outcome === "ok" ? "plain-ok" : "",
  ]
    .join(" ")
    .trim();

// The roles are said in full: a row that is laid out as a card would lose them.
function row(shell, run, selection) {
  return element(
    "tr",
    {role: "row", "data-run": run.id},
    ...["base", "head"].map((side) =>
      element("td", {role: "cell", class: "tick", "data-label": side}, element("label", {}, selection.box(side, run))),
    ),
    element(
      "th",
      {role: "rowheader", scope: "row"},
      runLink(shell, run),
      ...(!run.label ? [] : [second(bdi(run.label, {class: "label-of"}))]),
      ...(run.withdrawn ? [second(chip("withdrawn", "warn", run.withdrawal.reason))] : []),
    ),
    ...COLUMNS.map((column) =>
      element(
        "td",
        {role: "cell", class: kindOf(column, run), "data-label": column.name},
        element("span", {class: "value"}, column.of(run)),
      ),
    ),
  );
}

export function table(shell, items, selection) {
  const head = element(
    "tr",
    {role: "row"},
    ...["base", "head"].map((side) => element("th", {role: "columnheader", scope: "col"}, side)),
    element("th", {role: "columnheader", scope: "col", class: "words"}, "run"),
    ...COLUMNS.map((column) =>
      element(
        "th",
        {role: "columnheader", scope: "col", class: column.words ? "words" : null, title: column.title},
        column.name,
      ),
    ),
  );
  const made = element(
    "table",
    {role: "table", class: "runs-table", "aria-label": "Runs, newest first"},
    element("thead", {role: "rowgroup"}, head),
    element("tbody", {role: "rowgroup"}, ...items.map((run) => row(shell, run, selection))),
  );
  return scrolling("List of runs", made, {class: "scroll runs-scroll"});
}
