// Devices: their names, and which there are with which drivers.
import * as api from "./api.js";
import {dayNumber, dayText, today} from "./days.js";

const SPAN_MOST = 3660; // days of one matrix; the API takes no more

/** Long ids are told by their beginning where their whole stands beside them or behind them. */
export const shortId = (id) => (id.length > 16 ? `${id.slice(0, 12)}…` : id);

/** A device in words that tell it from others of its name. */
export const deviceLabel = (device, all) =>
  all.filter((other) => other.name === device.name).length > 1 ? `${device.name}, ${shortId(device.id)}` : device.name;

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
