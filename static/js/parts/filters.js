// What the views over many runs share: what their choosers offer and keep in the address, days of UTC, and which
// devices and drivers there are.
import * as api from "./api.js";
import {element} from "./dom.js";
import {button, empty, replaceIn} from "./blocks.js";
import {refused} from "./refused.js";

export const DAY_MS = 86400000;
export const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const SPAN_MOST = 3660; // days of one matrix; the API takes no more

export const SOURCES = [
  ["", "measured and imported"],
  ["measured", "measured here"],
  ["imported", "imported"],
  ["replayed", "replayed"],
  ["any", "all, replayed too"],
];
export const SIZES = [
  ["course", "course"],
  ["scaled", "scaled"],
  ["other", "other"],
];
export const SUITES = [
  ["verify", "verification"],
  ["import", "other kernels"],
];
/** What a source left out means, where the API has another default for it. */
export const HISTORY_SOURCE = "measured,imported";

/** A UTC day as its number; days are compared and counted by it, never by the reader's clock. */
export const dayNumber = (day) => Date.parse(`${day}T00:00:00Z`) / DAY_MS;
export const dayText = (number) => new Date(number * DAY_MS).toISOString().slice(0, 10);
export const nextDay = (day) => dayText(dayNumber(day) + 1);
export const today = () => new Date().toISOString().slice(0, 10);

/** Long ids are told by their beginning where their whole stands beside them or behind them. */
export const shortId = (id) => (id.length > 16 ? `${id.slice(0, 12)}…` : id);

/** A device in words that tell it from others of its name. */
export const deviceLabel = (device, all) =>
  all.filter((other) => other.name === device.name).length > 1 ? `${device.name}, ${shortId(device.id)}` : device.name;

/** The sources that an answer over this source holds and that are told apart: what was measured here has no mark. */
const FOREIGN = {"": ["imported"], any: ["imported", "replayed"], imported: ["imported"], replayed: ["replayed"]};

/**
 * Asks the same again of imports alone, and of replays where they are in it, so that they can be marked: what the API
 * gives does not tell of each day what its runs are. ask(source) gives such an answer. Returns {imported, replayed},
 * each an answer or null.
 */
export async function foreign(source, ask) {
  const [imported, replayed] = await Promise.all(
    ["imported", "replayed"].map((one) => ((FOREIGN[source] ?? []).includes(one) ? ask(one) : null)),
  );
  return {imported, replayed};
}

/**
 * "imported", "1 of 2 imported", "1 of 3 imported, 1 replayed"; null where all were measured here. counts: {imported,
 * replayed} of all.
 */
export function foreignWords(all, counts) {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  if (some.length === 0) return null;
  return some.length === 1 && some[0][1] === all
    ? some[0][0]
    : some.map(([source, count], i) => (i === 0 ? `${count} of ${all} ${source}` : `${count} ${source}`)).join(", ");
}

/** The named members of the address, "" where it has none. */
export const read = (params, names) => Object.fromEntries(names.map((name) => [name, params.get(name) ?? ""]));

/** Calls changed(name, value) when the reader has changed a control of the form. */
export function watch(form, changed) {
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => {
    if (event.target.name) changed(event.target.name, event.target.value.trim());
  });
}

/**
 * Whether the same request may be answered otherwise later on: no answer, too many requests, a failure of the daemon.
 */
const mayPass = (status) => status === 0 || status === 429 || status >= 500;

/**
 * Keeps a place up to date: the function it gives loads anew and shows it; of several at once the last one counts. An
 * error stands in the place, so that the choosers stay, and so does the form for a token. load(signal) gives {nodes,
 * shown}: the nodes to show, and what is done, if anything, when they and no later ones stand in the place; or the
 * nodes alone.
 */
export function region(shell, place, load) {
  let at = 0;
  const again = async () => {
    const mine = ++at;
    place.setAttribute("aria-busy", "true");
    let made;
    try {
      made = await load(shell.signal);
    } catch (error) {
      if (error.name === "AbortError" || mine !== at) return;
      if (!(error instanceof api.ApiError)) throw error;
      made = [
        refused(error, again),
        ...(mayPass(error.status) ? [element("p", {class: "buttons"}, button("Try again", again))] : []),
      ];
    }
    if (mine !== at || shell.signal.aborted) return;
    place.removeAttribute("aria-busy");
    replaceIn(place, ...(made.nodes ?? made));
    made.shown?.();
  };
  return again;
}

/** Runs as rows of a matrix, the newest ones that fit the query. */
async function newestRows(query, signal) {
  const {items} = await api.get(api.address("/api/v1/runs", {...query, source: "any", limit: 200}), {signal});
  return items
    .map(({device, driver, cuda, date}) => ({device, driver, cuda, cells: [{day: date.slice(0, 10)}]}))
    .reverse();
}

/** Rows of the matrix of every source; otherwise() gives them where all of it is over the daemon's limit. */
async function matrixRows(query, signal, otherwise) {
  try {
    return (await api.get(api.address("/api/v1/history", {...query, source: "any"}), {signal})).rows;
  } catch (error) {
    if (error.status !== 413) throw error;
    return otherwise();
  }
}

/**
 * Rows of all days, the oldest first: the matrix gives the last year by itself and ten years at most, and a row is of
 * its days alone; from before them come the newest runs.
 */
async function allRows(signal) {
  const year = dayText(dayNumber(today()) - 363); // a day over the year's first, so that none is between the two
  const decade = dayText(dayNumber(year) - SPAN_MOST);
  const [older, before, last] = await Promise.all([
    newestRows({until: decade}, signal),
    matrixRows({since: decade, until: year}, signal, () => newestRows({since: decade, until: year}, signal)),
    matrixRows({}, signal, () =>
      matrixRows({since: dayText(dayNumber(today()) - 30)}, signal, () => newestRows({}, signal)),
    ),
  ]);
  return [...older, ...before, ...last];
}

/**
 * [{id, name, versions: [{driver, cuda, last}]}]: what has good runs of any day, and what was probed, the one with the
 * newest run first. last: the newest day; versions in the order of their first days.
 */
export async function knownDevices(signal) {
  const [rows, probed] = await Promise.all([allRows(signal), api.get("/api/v1/devices", {signal})]);
  const found = new Map();
  const at = ({id, name}) => found.get(id) ?? found.set(id, {id, name, versions: []}).get(id);
  for (const {device, driver, cuda, cells} of rows) {
    const {versions} = at(device);
    const last = cells.at(-1)?.day ?? "";
    const known = versions.find((version) => version.driver === driver && version.cuda === cuda);
    if (!known) versions.push({driver, cuda, last});
    else if (last > known.last) known.last = last;
  }
  for (const item of probed.items) at(item);
  const newest = (device) => device.versions.reduce((last, version) => (version.last > last ? version.last : last), "");
  return [...found.values()].sort((a, b) => (newest(a) < newest(b) ? 1 : newest(a) > newest(b) ? -1 : 0));
}

/** Whether no device of knownDevices has a good run: one that was probed is known before its first. */
export const noneHasRuns = (devices) => devices.every(({versions}) => versions.length === 0);

/** How the API is asked for runs whose driver or CUDA version is not known. */
export const UNKNOWN = "unknown";

/** Versions to choose from, each once; the unknown last. */
export const distinct = (values) => [
  ...new Set(values.filter((value) => value !== null && value !== "")),
  ...(values.includes(null) ? [UNKNOWN] : []),
];

/** Whether there is any run at all, of whatever day, source and outcome. */
export const anyRun = async (signal) =>
  (await api.get("/api/v1/runs?source=any&outcome=any&limit=1", {signal})).items.length > 0;

/** Nothing has been measured at all: where to start. */
export const nothingYet = (shell) =>
  empty(
    "No run yet",
    element(
      "p",
      {},
      "History begins with the first verification. ",
      element("a", {class: "on-screen", href: shell.link("jobs")}, "Start one"),
    ),
  );
