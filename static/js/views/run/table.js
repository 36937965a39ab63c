// The table of one state: the columns of the table as text, and time, percent of the roof, bound and flags; sorted as
// the reader asks.
import {isWrong} from "../../chart/model.js";
import {captionOf} from "../../parts/blocks.js";
import {element} from "../../parts/dom.js";
import {NONE, fixed, flag, sentence, shortFlag, si} from "../../parts/format.js";
import {chip} from "../../parts/inline.js";

const MEGA = 1e6;

/**
 * Rounded; what is above nothing and would be rounded to it is said to be below the last digit, so that no 0.0 stands
 * for bytes that moved.
 */
const above0 = (value, decimals, unit = 1) => {
  const last = Number(`1e-${decimals}`);
  return value > 0 && value < 0.5 * last * unit ? `<\u2009${last}` : fixed(value, decimals, unit);
};

// In the cold state DRAM is what the launch owed with the dirty lines it left: the same choice as in
// /api/v1/runs/{id}/table. An import of a profiler's launches has only dram.
const settled = (row, s) =>
  s.bytes.dram_settled === null && s.bytes.dram !== null ? [s.bytes, "dram"] : [s.bytes, "dram_settled"];
const COLUMNS = [
  {
    id: "ask",
    name: "ask MB",
    long: "bytes that the algorithm asks for, in MB",
    of: (row) => [row, "ask_bytes"],
    text: (v) => above0(v, 1, MEGA),
  },
  {
    id: "l1",
    name: "L1 MB",
    long: "bytes through L1, in MB",
    of: (row, s) => [s.bytes, "l1"],
    text: (v) => above0(v, 1, MEGA),
  },
  {
    id: "l2",
    name: "L2 MB",
    long: "all bytes through L2, those between it and DRAM too, in MB",
    of: (row, s) => [s.bytes, "l2"],
    text: (v) => above0(v, 1, MEGA),
  },
  {id: "dram", name: "DRAM MB", long: "bytes to and from DRAM, in MB", of: settled, text: (v) => above0(v, 1, MEGA)},
  {
    id: "dram_ask",
    name: "DRAM/ask",
    long: "DRAM bytes over asked bytes: below 1 the caches served the rest, above 1 bytes moved that nobody asked for",
    of: (row, s) => [s, "dram_per_ask"],
    text: (v) => above0(v, 4),
  },
  {
    id: "ceil",
    name: "%ceil",
    long: "DRAM rate in percent of the measured copy ceiling",
    of: (row, s) => [s, "percent_of_ceiling"],
    text: (v) => above0(v, 1),
  },
  {
    id: "time",
    name: "time",
    long: "median time of a launch",
    of: (row, s) => [s.time_s, "median"],
    text: (v) => si(v, "s"),
  },
  {
    id: "roof",
    name: "%roof",
    long: "percent of the row's own roof: what can be reached at its intensity and its mix of reads and writes",
    of: (row, s) => [s, "percent_of_roof"],
    text: (v) => above0(v, 1),
  },
  {
    id: "bound",
    name: "bound",
    long: "what limits it: memory, compute or latency",
    words: true,
    of: (row, s) => [s, "bound"],
    text: (v) => v ?? NONE,
  },
];

const FIRST = [
  {id: "number", name: "#", long: "its number on the chart", class: "number", value: (line) => line.number},
  {
    id: "kernel",
    name: "kernel",
    long: "the kernel's name",
    words: true,
    class: "words rowhead",
    value: (line) => line.row.title,
  },
];

/** Cells of a row: [{column, value, text, why}]; why is set where there is no value. */
function cells(row, state) {
  const s = row[state];
  return COLUMNS.map((column) => {
    if (!s) return {column, value: null, text: NONE, why: `not measured ${state}`};
    const [owner, member] = column.of(row, s);
    const value = owner[member];
    return {column, value, text: column.text(value), why: value === null ? (owner.why?.[member] ?? "not said") : null};
  });
}

/** Rows in the asked order. Rows without a value stand last in both directions, and equal ones as they came. */
function sorted(lines, {by, down}) {
  const first = FIRST.find((column) => column.id === by);
  const index = COLUMNS.findIndex((column) => column.id === by);
  if (!first && index < 0) return lines;
  const value = first ? first.value : (line) => line.cells[index].value;
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  return lines.toSorted((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return down ? compare(y, x) : compare(x, y);
  });
}

/**
 * The order after a click on a column: numbers from the largest first, words and kernels from the first; then the other
 * way round; then as measured.
 */
export function nextOrder(order, id) {
  const startsDown = !(FIRST.find((c) => c.id === id) || COLUMNS.find((c) => c.id === id)?.words);
  if (order.by !== id) return {by: id, down: startsDown};
  return order.down === startsDown ? {by: id, down: !startsDown} : {by: null, down: false};
}

/** A column's head with the button that sorts by it. */
function head(column, order, sort) {
  const here = order.by === column.id;
  const arrow = element("span", {class: "arrow", "aria-hidden": "true"}, here ? (order.down ? "▼" : "▲") : "");
  const made = element(
    "button",
    {type: "button", class: "sort", title: column.long, "data-column": column.id},
    column.name,
    arrow,
  );
  made.addEventListener("click", () => sort(column.id));
  return element(
    "th",
    {
      scope: "col",
      class: column.class ?? (column.words ? "words" : null),
      "aria-sort": here ? (order.down ? "descending" : "ascending") : null,
    },
    made,
  );
}

function flagsOf(run, row, state) {
  const names = [...new Set([...row.flags, ...(row[state]?.flags ?? [])])];
  const chips = names.map((name) => chip(shortFlag(name), null, flag(name)));
  return isWrong(run, row.kernel) ? [chip("wrong result", "bad"), ...chips] : chips;
}

/**
 * order: {by: a column's id or null, down}; sort(id) is called when the reader asks for another; hidden: numbers of
 * kernels that are put away.
 */
export function table(run, state, {order = {by: null, down: false}, sort = () => {}, hidden = new Set()} = {}) {
  const lines = run.kernels
    .map((row, i) => ({row, number: i + 1, cells: cells(row, state)}))
    .filter((line) => !hidden.has(line.number));
  const top = element(
    "tr",
    {},
    ...[...FIRST, ...COLUMNS].map((column) => head(column, order, sort)),
    element("th", {scope: "col", class: "words"}, "flags"),
  );
  const body = sorted(lines, order).map((line) =>
    element(
      "tr",
      {"data-kernel": line.row.kernel},
      element("td", {class: "number"}, String(line.number)),
      element("th", {scope: "row", class: "rowhead", dir: "auto"}, line.row.title),
      ...line.cells.map(({column, text, why}) =>
        element("td", {class: column.words ? "words" : null, title: why}, text),
      ),
      element("td", {class: "words flags"}, ...flagsOf(run, line.row, state)),
    ),
  );
  const gone = run.kernels.length - lines.length;
  const caption =
    `${run.sizes} sizes, ${state} cache; MB is 10⁶ ` +
    `bytes${gone > 0 ? `; ${gone} of ${run.kernels.length} kernels put away` : ""}`;
  return element("table", {}, captionOf(caption), element("thead", {}, top), element("tbody", {}, ...body));
}

/** What the columns mean, for those who cannot point at them. */
export function columnsInWords() {
  return element(
    "dl",
    {class: "facts"},
    ...COLUMNS.flatMap(({name, long}) => [element("dt", {}, name), element("dd", {}, long)]),
  );
}

/** "row 2", "rows 1, 2 and 5" or "all rows", by their numbers on the chart. */
function rowsInWords(numbers, all) {
  if (numbers.length === all && all > 1) return "all rows";
  return numbers.length === 1 ? `row ${numbers[0]}` : `rows ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
}

/** Why values are missing: each reason once, with the columns of the rows that have the same columns missing. */
function reasons(run, state) {
  const byReason = new Map(); // why -> names of columns -> numbers of rows
  for (const [i, row] of run.kernels.entries()) {
    const missing = new Map();
    for (const {column, why} of cells(row, state)) {
      if (why !== null) missing.set(why, [...(missing.get(why) ?? []), column.name]);
    }
    for (const [why, names] of missing) {
      const of = byReason.get(why) ?? byReason.set(why, new Map()).get(why);
      const columns = names.join(", ");
      of.set(columns, [...(of.get(columns) ?? []), i + 1]);
    }
  }
  const within = ([columns, numbers]) => `${columns} in ${rowsInWords(numbers, run.kernels.length)}`;
  return [...byReason].map(([why, of]) => `No ${[...of].map(within).join("; ")}: ${why}.`);
}

const STATE_NOTES = {
  cold:
    "Cold: DRAM MB and DRAM/ask are what the launch owed DRAM with the lines it left dirty; %ceil is of what " +
    "moved while it ran.",
  mixed: "Mixed: bytes of cold launches beside times of warm ones, so that %ceil may pass 100; shown, not judged.",
};

/** Reasons of missing values, flags of rows and of the run, as a list; null when there is nothing to say. */
export function notes(run, state) {
  const items = STATE_NOTES[state] ? [STATE_NOTES[state]] : [];
  items.push(...reasons(run, state));
  for (const name of run.flags) items.push(`The run: ${flag(name)}.`);
  const rows = new Map();
  for (const [i, row] of run.kernels.entries()) {
    for (const name of new Set([...row.flags, ...(row[state]?.flags ?? [])])) {
      rows.set(name, [...(rows.get(name) ?? []), i + 1]);
    }
  }
  for (const [name, numbers] of rows) {
    items.push(sentence(`${rowsInWords(numbers, run.kernels.length)}: ${flag(name)}`));
  }
  return items.length > 0 ? element("ul", {}, ...items.map((text) => element("li", {dir: "auto"}, text))) : null;
}
