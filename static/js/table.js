// The table of one state: the columns of the table as text, and time, percent of the roof and bound.
import {element} from "./dom.js";
import {NONE, fixed, flag, si} from "./format.js";

const MEGA = 1e6;

// In the cold state DRAM is what the launch owed with the dirty lines it left: the same choice as in /api/v1/runs/{id}/table.
const COLUMNS = [
  {name: "ask MB", long: "bytes that the algorithm asks for, MB", of: (row) => [row, "ask_bytes"], text: (v) => fixed(v, 1, MEGA)},
  {name: "L1 MB", long: "bytes through L1, MB", of: (row, s) => [s.bytes, "l1"], text: (v) => fixed(v, 1, MEGA)},
  {name: "L2 MB", long: "bytes through L2, MB", of: (row, s) => [s.bytes, "l2"], text: (v) => fixed(v, 1, MEGA)},
  {name: "DRAM MB", long: "bytes to and from DRAM, MB", of: (row, s) => [s.bytes, "dram_settled"], text: (v) => fixed(v, 1, MEGA)},
  {name: "DRAM/ask", long: "DRAM bytes over asked bytes", of: (row, s) => [s, "dram_per_ask"], text: (v) => fixed(v, 4)},
  {name: "%ceil", long: "DRAM rate in percent of the copy ceiling", of: (row, s) => [s, "percent_of_ceiling"], text: (v) => fixed(v, 1)},
  {name: "time", long: "median time of a launch", of: (row, s) => [s.time_s, "median"], text: (v) => si(v, "s")},
  {name: "%roof", long: "percent of the row's own roof", of: (row, s) => [s, "percent_of_roof"], text: (v) => fixed(v, 1)},
  {name: "bound", long: "what limits it", words: true, of: (row, s) => [s, "bound"], text: (v) => v ?? NONE},
];

/** Cells of a row: [{column, text, why}]; why is set where there is no value. */
function cells(row, state) {
  const s = row[state];
  return COLUMNS.map((column) => {
    if (!s) return {column, text: NONE, why: `not measured ${state}`};
    const [owner, member] = column.of(row, s);
    const value = owner[member];
    return {column, text: column.text(value), why: value === null ? owner.why?.[member] ?? "not said" : null};
  });
}

export function table(run, state) {
  const head = element("tr", {}, element("th", {scope: "col", class: "number"}, "#"), element("th", {scope: "col", class: "words"}, "kernel"),
    ...COLUMNS.map((c) => element("th", {scope: "col", title: c.long, class: c.words ? "words" : null}, c.name)));
  const body = run.kernels.map((row, i) =>
    element("tr", {"data-kernel": row.kernel}, element("td", {class: "number"}, String(i + 1)), element("th", {scope: "row"}, row.title),
      ...cells(row, state).map(({column, text, why}) => element("td", {class: column.words ? "words" : null, title: why}, text))));
  return element("table", {}, element("caption", {}, `${run.sizes} sizes, ${state} cache; MB is 10⁶ bytes`), element("thead", {}, head), element("tbody", {}, ...body));
}

function reasons(run, state) {
  const byReason = new Map();
  for (const row of run.kernels) {
    for (const {column, why} of cells(row, state)) {
      if (why === null) continue;
      const rows = byReason.get(why) ?? new Map();
      byReason.set(why, rows.set(row.title, [...(rows.get(row.title) ?? []), column.name]));
    }
  }
  return [...byReason].map(([why, rows]) => `${NONE} is ${why} (${[...rows].map(([title, names]) => `${title}: ${names.join(", ")}`).join("; ")})`);
}

/** Reasons of missing values, flags of rows and of the run, as a list; null when there is nothing to say. */
export function notes(run, state) {
  const items = [];
  if (state === "cold") items.push("Cold: DRAM MB and DRAM/ask are what the launch owed DRAM with the lines it left dirty; %ceil is of what moved while it ran.");
  items.push(...reasons(run, state));
  for (const name of run.flags) items.push(`The run: ${flag(name)}.`);
  const rows = new Map();
  for (const row of run.kernels)
    for (const name of new Set([...row.flags, ...(row[state]?.flags ?? [])])) rows.set(name, [...(rows.get(name) ?? []), row.title]);
  for (const [name, titles] of rows) items.push(`${titles.join("; ")}: ${flag(name)}.`);
  return items.length > 0 ? element("ul", {}, ...items.map((text) => element("li", {}, text))) : null;
}
