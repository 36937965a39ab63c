// The rows that a trend can be of: those of the catalogue, and of a device's imports those that the catalogue does not
// have.
import {STATES} from "../../chart/model.js";
import * as api from "../../parts/api.js";
import {metricsOf} from "./words.js";

const RUNS = 5; // of the newest imports are asked for their rows: an import of one program mostly has the same ones
const LABEL = 60; // characters of a name in the chooser and the document's title; a name has up to 16 KiB

/** A long name by its beginning and its end: templates and overloads often differ in their last arguments alone. */
export function shortened(title) {
  const characters = [...title];
  return characters.length <= LABEL
    ? title
    : `${characters.slice(0, LABEL - 21).join("")} … ${characters.slice(-18).join("")}`;
}

/**
 * [{id, title, label, kind, suite, sizes, states}] of the rows in the device's newest imports that known does not have,
 * as they came.
 */
async function importedUnits(device, known, signal) {
  const {items} = await api.get(api.address("/api/v1/runs", {device, suite: "import", limit: RUNS}), {signal});
  const runs = await Promise.all(items.map((run) => api.run(run.id, {signal})));
  const found = new Map();
  for (const run of runs) {
    for (const row of run.kernels) {
      if (!found.has(row.kernel) && !known.some((unit) => unit.id === row.kernel)) {
        found.set(row.kernel, {
          id: row.kernel,
          title: row.title,
          label: shortened(row.title),
          kind: "kernel",
          suite: run.suite,
          sizes: run.sizes,
          states: STATES.filter((state) => row[state]),
        });
      }
    }
  }
  return [...found.values()];
}

/**
 * Puts the state where the row is: a row of an import is in its suite, sizes and cache states alone; before is the row
 * that was chosen before.
 */
export function settleUnit(state, unit, before = null) {
  if (unit?.suite) {
    Object.assign(state, {suite: unit.suite, sizes: unit.sizes});
    if (!unit.states.includes(state.state)) [state.state] = unit.states;
  } else if (unit && before?.suite) Object.assign(state, {suite: "", sizes: "course", state: "warm"});
}

/** Gives the state a metric that the row has. */
export function settleMetric(state, unit) {
  if (unit && !metricsOf(unit).includes(state.metric)) state.metric = metricsOf(unit)[0];
}

/**
 * The rows that there are for the state's device: until they have been settled for one, those of the catalogue. Gives
 * {all(), chosen(), device(), settle(signal)}: chosen is the state's row, or null where it is none of them; device the
 * one that they are settled for, or null.
 */
export function deviceRows(state, catalogue) {
  let units = catalogue;
  let settled = null;
  const chosen = () => units.find((one) => one.id === state.kernel) ?? null;
  return {
    all: () => units,
    chosen,
    device: () => settled,
    /**
     * Reads the rows of the device and brings the state to them: a row that the other device had alone is left for one
     * that this one may have. Gives false where yet another one was chosen meanwhile.
     */
    async settle(signal) {
      const [device, first, before] = [state.device, settled === null, chosen()];
      const imported = await importedUnits(device, catalogue, signal);
      if (device !== state.device) return false;
      [units, settled] = [[...catalogue, ...imported], device];
      if (before !== null && chosen() === null) state.kernel = catalogue[0].id;
      if (!first || state.suite === "") settleUnit(state, chosen(), before);
      settleMetric(state, chosen());
      return true;
    },
  };
}
