// The matrix device × driver × CUDA × day as a table of links: one stop of the Tab key, arrow keys inside.
import {scrolling} from "../../parts/blocks.js";
import {MONTHS, dayNumber, dayText, nextDay} from "../../parts/days.js";
import {UNKNOWN, shortId} from "../../parts/devices.js";
import {element} from "../../parts/dom.js";
import {HISTORY_SOURCE} from "../../parts/filters.js";
import {bdi} from "../../parts/inline.js";
import {toNewest} from "./scroll.js";

const GAP_DAYS = 4; // so many empty days and more in a row become one narrow column
const CELLS_MAX = 20000; // of the table; more make the browser slow, so the newest days that fit are shown
const CHANGES_MAX = 20;
const PAPER_COLUMNS = 20; // with the labels they fit between the margins of an upright page of A4 or Letter

/** Columns from the first day with a run to the last: {day} or {gap, from, to}. */
export function columns(days) {
  const made = [];
  days.forEach((day, i) => {
    const before = i === 0 ? day : days[i - 1];
    const [from, to] = [dayNumber(before) + 1, dayNumber(day)];
    if (to - from >= GAP_DAYS) made.push({gap: to - from, from: dayText(from), to: dayText(to - 1)});
    else for (let number = from; number < to; number++) made.push({day: dayText(number)});
    made.push({day});
  });
  return made;
}

const version = (row) => [row.driver ?? "unknown driver", row.cuda === null ? "unknown CUDA" : `CUDA ${row.cuda}`];
/** The same below the head "driver, CUDA", where there is little room. */
const shortVersion = (row) => [row.driver ?? "unknown", `CUDA ${row.cuda ?? "unknown"}`];

/**
 * {device id: [{day, from: [drivers before], to: driver}]}: days on which a device ran a driver that it did not run on
 * its day before.
 */
export function driverChanges(rows) {
  const byDevice = new Map();
  for (const row of rows) {
    if (row.driver === null) continue;
    const days = byDevice.get(row.device.id) ?? byDevice.set(row.device.id, new Map()).get(row.device.id);
    for (const cell of row.cells) days.set(cell.day, (days.get(cell.day) ?? new Set()).add(row.driver));
  }
  const found = new Map();
  for (const [device, days] of byDevice) {
    const ordered = [...days].sort(([a], [b]) => (a < b ? -1 : 1));
    found.set(
      device,
      ordered.flatMap(([day, drivers], i) =>
        i === 0
          ? []
          : [...drivers]
              .filter((driver) => !ordered[i - 1][1].has(driver))
              .map((to) => ({day, from: [...ordered[i - 1][1]], to})),
      ),
    );
  }
  return found;
}

const runs = (number) => `${number.toLocaleString("en-US")} ${number === 1 ? "run" : "runs"}`;

function cellWords(row, cell, isNew) {
  const parts = [];
  if (cell.counter_backed > 0) parts.push(`${runs(cell.counter_backed)} with counters`);
  if (cell.timed_only > 0) parts.push(`${runs(cell.timed_only)} timed only`);
  const foreign = cell.foreign === null ? "" : `; ${cell.foreign}`;
  const change = isNew ? "; first day after a change of driver" : "";
  return `${cell.day} UTC, ${version(row).join(", ")}: ${parts.join(", ")}${foreign}${change}`;
}

/** Four characters at most; the whole number is in the cell's words. */
export const shortCount = (number) =>
  number < 1000 ? String(number) : number < 999500 ? `${Math.round(number / 1000)}k` : `${Math.round(number / 1e6)}M`;

/** What stands in a cell, the class of its shape and its words. */
function cellOf(row, cell, isNew) {
  const counted = cell.counters === "counter-backed";
  const large = counted ? shortCount(cell.counter_backed) : `${shortCount(cell.timed_only)}t`;
  const small = counted && cell.timed_only > 0 ? `+${shortCount(cell.timed_only)}t` : "";
  const kinds = [
    "cell",
    counted ? "counted" : "timed",
    isNew ? "new" : "",
    cell.foreign === null ? "" : "foreign",
    ["three", "four"][large.length - 3] ?? "",
  ];
  return {
    text: `${large}${small}`,
    class: kinds.filter(Boolean).join(" "),
    words: cellWords(row, cell, isNew),
    nodes: [large, small === "" ? null : element("small", {class: small.length > 3 ? "four" : null}, small)],
  };
}

function cellLink(shell, row, cell, state, isNew) {
  const filters = {
    device: row.device.id,
    driver: row.driver ?? UNKNOWN,
    cuda: row.cuda ?? UNKNOWN,
    since: cell.day,
    until: nextDay(cell.day),
    source: state.source || HISTORY_SOURCE,
  };
  const made = cellOf(row, cell, isNew);
  return element(
    "a",
    {
      class: made.class,
      href: shell.link("runs", filters),
      "aria-label": `${made.text}: ${made.words}`,
      title: made.words,
      tabindex: "-1",
    },
    ...made.nodes,
  );
}

/** What each shape means, with the shapes. */
export function key() {
  const sample = (kind, text, words) =>
    element("span", {class: "sample"}, element("span", {class: `cell ${kind}`, "aria-hidden": "true"}, text), words);
  return element(
    "div",
    {class: "key matrix-key"},
    sample("counted", "6", "filled square: runs with counters"),
    sample("timed", "2t", "ring: timed only"),
    sample("none", "·", "no run"),
    sample("counted foreign", "3", "corner below: imported or replayed runs"),
    sample("counted new", "1", "notch above: first day after a change of driver"),
  );
}

function heads(cols) {
  const months = [];
  for (const col of cols) {
    const month = col.day?.slice(0, 7) ?? null;
    if (month !== null && months.at(-1)?.month === month) months.at(-1).span++;
    else months.push({month, span: 1, col});
  }
  const top = months.map(({month, span, col}) =>
    month === null
      ? element(
          "th",
          {scope: "col", rowspan: "2", class: "gap", title: `no run from ${col.from} to ${col.to}`},
          element("span", {}, `${col.gap} days without a run`),
        )
      : element(
          "th",
          {scope: "colgroup", colspan: String(span), class: "month"},
          element("span", {}, MONTHS[Number(month.slice(5)) - 1], element("br"), month.slice(0, 4)),
        ),
  );
  const days = cols
    .filter((col) => col.day)
    .map((col) =>
      element(
        "th",
        {scope: "col", class: "day", title: `${col.day} UTC`},
        element("span", {class: "visually-hidden"}, `${col.day.slice(0, 8)}`),
        col.day.slice(8),
      ),
    );
  return element(
    "thead",
    {},
    element(
      "tr",
      {},
      element("th", {rowspan: "2", scope: "col", class: "label"}, "driver, CUDA", element("br"), "day (UTC) →"),
      ...top,
    ),
    element("tr", {}, ...days),
  );
}

/** cellNode(row, cell): what stands for a day with runs. */
function bodyRow(row, cols, cellNode) {
  const cells = new Map(row.cells.map((cell) => [cell.day, cell]));
  const [driver, cuda] = shortVersion(row);
  const label = element(
    "th",
    {scope: "row", class: "label", title: [row.why.driver, row.why.cuda].filter(Boolean).join("; ") || null},
    bdi(driver),
    " ",
    element("span", {class: "cuda"}, bdi(cuda)),
  );
  return element(
    "tr",
    {},
    label,
    ...cols.map((col) => {
      const cell = col.day ? cells.get(col.day) : null;
      if (cell) return element("td", {}, cellNode(row, cell));
      return element(
        "td",
        {class: col.gap ? "gap" : "none"},
        element("span", {"aria-hidden": "true"}, col.gap ? "" : "·"),
        element("span", {class: "visually-hidden"}, "none"),
      );
    }),
  );
}

/** groups: the rows of each device. */
function tableOf(groups, cols, cellNode, attributes) {
  const bodies = groups.map((rows) => {
    const {id, name} = rows[0].device;
    const head = element(
      "th",
      {scope: "rowgroup", colspan: String(cols.length + 1), class: "device"},
      element(
        "span",
        {class: "device-name"},
        bdi(name),
        " ",
        element("span", {class: "device-id", title: id}, bdi(shortId(id))),
      ),
    );
    return element(
      "tbody",
      {},
      element("tr", {class: "device-row"}, head),
      ...rows.map((row) => bodyRow(row, cols, cellNode)),
    );
  });
  return element("table", {class: "matrix", ...attributes}, heads(cols), ...bodies);
}

/**
 * The table cut into blocks as wide as paper, the newest days first; a block has the rows alone that have runs in it.
 */
function paperBlocks(groups, cols, isNew) {
  const blocks = [];
  for (let end = cols.length; end > 0; end -= PAPER_COLUMNS) {
    blocks.push(cols.slice(Math.max(0, end - PAPER_COLUMNS), end));
  }
  return blocks.map((block) => {
    const days = new Set(block.map((col) => col.day));
    const some = groups
      .map((rows) => rows.filter((row) => row.cells.some((cell) => days.has(cell.day))))
      .filter((rows) => rows.length > 0);
    return tableOf(
      some,
      block,
      (row, cell) => {
        const made = cellOf(row, cell, isNew(row, cell));
        return element("span", {class: made.class}, ...made.nodes);
      },
      {},
    );
  });
}

/** Arrow keys go from cell to cell, Home and End to the row's ends; only one cell is a stop of the Tab key. */
function keys(table) {
  const rows = [...table.querySelectorAll("tbody tr")]
    .map((tr) => [...tr.querySelectorAll("a.cell")].map((a) => ({a, at: a.parentNode.cellIndex})))
    .filter((row) => row.length > 0);
  const nearest = (row, at) =>
    row.reduce((best, item) => (Math.abs(item.at - at) < Math.abs(best.at - at) ? item : best));
  let stop = rows.at(-1)?.at(-1)?.a ?? null;
  stop?.setAttribute("tabindex", "0");
  table.addEventListener("focusin", (event) => {
    const a = event.target.closest("a.cell");
    if (!a) return;
    stop.setAttribute("tabindex", "-1");
    stop = a;
    stop.setAttribute("tabindex", "0");
  });
  table.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return; // the browser's own, as back is
    const r = rows.findIndex((row) => row.some(({a}) => a === document.activeElement));
    if (r < 0) return;
    const row = rows[r];
    const i = row.findIndex(({a}) => a === document.activeElement);
    const to = {
      ArrowLeft: row[i - 1],
      ArrowRight: row[i + 1],
      Home: row[0],
      End: row.at(-1),
      ArrowUp: rows[r - 1] && nearest(rows[r - 1], row[i].at),
      ArrowDown: rows[r + 1] && nearest(rows[r + 1], row[i].at),
    };
    if (!(event.key in to)) return;
    event.preventDefault();
    to[event.key]?.a.focus();
  });
}

/**
 * The newest days, and the rows with runs on them, that keep the table within what a browser draws well; and how many
 * older days were left out.
 */
function fitting(all) {
  const byDay = new Map();
  for (const row of all) for (const {day} of row.cells) byDay.set(day, [...(byDay.get(day) ?? []), row]);
  const newestFirst = [...byDay.keys()].sort().reverse();
  const rows = new Set();
  let count = 0;
  for (const day of newestFirst) {
    const more = byDay.get(day).filter((row) => !rows.has(row));
    if (count > 0 && (rows.size + more.length) * (count + 1) > CELLS_MAX) break;
    for (const row of more) rows.add(row);
    count++;
  }
  return {
    days: newestFirst.slice(0, count).reverse(),
    rows: all.filter((row) => rows.has(row)),
    left: newestFirst.length - count,
  };
}

/**
 * The table in its scrolling region, newest days at its end. Gives {node, print}: print puts what paper has, which most
 * readers never need, into the node.
 */
export function matrix(shell, answer, state) {
  const {days, rows: shownRows, left} = fitting(answer.rows);
  const cols = columns(days);
  const devices = new Map();
  for (const row of shownRows) devices.set(row.device.id, [...(devices.get(row.device.id) ?? []), row]);
  const firsts = new Set(
    [...driverChanges(answer.rows)].flatMap(([device, list]) => list.map(({day, to}) => `${device} ${day} ${to}`)),
  );
  const isNew = (row, cell) => firsts.has(`${row.device.id} ${cell.day} ${row.driver}`);
  const groups = [...devices.values()].map((rows) =>
    rows.toSorted((a, b) => (a.cells[0].day < b.cells[0].day ? -1 : a.cells[0].day > b.cells[0].day ? 1 : 0)),
  ); // so that changes of driver go down like stairs
  const table = tableOf(groups, cols, (row, cell) => cellLink(shell, row, cell, state, isNew(row, cell)), {
    role: "grid",
    "aria-label": "Runs by device, driver, CUDA version and day",
  });
  keys(table);
  const scroll = scrolling("History by day", table, {class: "scroll matrix-scroll"});
  const older = element("span", {hidden: true}, "Older days lie to the left. ");
  const hints = [
    left > 0
      ? element(
          "p",
          {class: "hint matrix-hint"},
          `The newest ${days.length} days are shown; ${left} older ` +
            `${left === 1 ? "one with runs is" : "ones with runs are"} left out: choose fewer days or one device.`,
        )
      : null,
    element("p", {class: "hint matrix-hint on-screen"}, older, "On a keyboard, arrow keys go from cell to cell."),
  ].filter(Boolean);
  const paper = element("div", {class: "paper matrix-paper"});
  const node = element("div", {}, scroll, paper, ...hints);
  toNewest(node, scroll, table, older);
  return {
    node,
    print: () => {
      if (!paper.hasChildNodes()) paper.append(...paperBlocks(groups, cols, isNew));
    },
  };
}

/** The link to the comparison of a change of driver. */
const comparison = (shell, {device, from, to}, source) =>
  element(
    "a",
    {
      class: "on-screen",
      href: shell.link("compare", {base: `driver:${from.at(-1)}`, head: `driver:${to}`, device, source}),
      "aria-label": `Compare ${from.at(-1)} with ${to}`,
    },
    "Compare",
  );

/** The days on which a driver changed, newest first, each with the comparison that asks whether it mattered. */
export function changes(shell, answer, state) {
  const names = new Map(answer.rows.map((row) => [row.device.id, row.device.name]));
  const all = [...driverChanges(answer.rows)]
    .flatMap(([device, list]) => list.map((change) => ({device, ...change})))
    .sort((a, b) => (a.day < b.day ? 1 : -1));
  const title = element("h2", {}, "Changes of driver");
  if (all.length === 0) {
    return element("section", {}, title, element("p", {class: "hint"}, "No driver changed between these days."));
  }
  const cellOf = (device, day, driver) =>
    answer.rows
      .filter((row) => row.device.id === device && row.driver === driver)
      .flatMap((row) => row.cells)
      .filter((cell) => cell.day === day && cell.foreign !== null);
  const marks = (device, day, driver) =>
    cellOf(device, day, driver).map((cell) => element("span", {class: "mark"}, `runs of that day: ${cell.foreign}`));
  const items = all
    .slice(0, CHANGES_MAX)
    .map(({device, day, from, to}) =>
      element(
        "li",
        {},
        element("span", {class: "when"}, `${day} UTC`),
        element(
          "span",
          {class: "what"},
          bdi(names.get(device)),
          " ",
          element("span", {class: "device-id"}, bdi(shortId(device))),
        ),
        element(
          "span",
          {class: "versions"},
          bdi(from.join(", ")),
          " → ",
          bdi(to),
          ...marks(device, day, to).flatMap((mark) => [" ", mark]),
        ),
        comparison(shell, {device, from, to}, state.source),
      ),
    );
  const rest = all.length - items.length;
  return element(
    "section",
    {class: "changes"},
    title,
    element("ul", {class: "change-list"}, ...items),
    rest > 0 ? element("p", {class: "hint"}, `${rest} older changes are not listed.`) : null,
  );
}
