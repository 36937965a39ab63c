// The rows that a trend can be of: those of the catalogue, and of a device's imports those that the catalogue does not have.
import * as api from "../api.js";
import {STATES} from "../model.js";

const RUNS = 5; // of the newest imports are asked for their rows: an import of one program mostly has the same ones
const LABEL = 60; // characters of a name in the chooser

/** A long name by its beginning and its end: templates and overloads often differ in their last arguments alone. */
function label(title) {
  const characters = [...title];
  return characters.length <= LABEL ? title : `${characters.slice(0, LABEL - 21).join("")} … ${characters.slice(-18).join("")}`;
}

/** [{id, title, label, kind, suite, sizes, states}] of the rows in the device's newest imports that known does not have, as they came. */
export async function importedUnits(device, known, signal) {
  const {items} = await api.get(api.address("/api/v1/runs", {device, suite: "import", limit: RUNS}), {signal});
  const runs = await Promise.all(items.map((run) => api.run(run.id, {signal})));
  const found = new Map();
  for (const run of runs)
    for (const row of run.kernels)
      if (!found.has(row.kernel) && !known.some((unit) => unit.id === row.kernel))
        found.set(row.kernel, {id: row.kernel, title: row.title, label: label(row.title), kind: "kernel", suite: run.suite, sizes: run.sizes, states: STATES.filter((state) => row[state])});
  return [...found.values()];
}

/** Puts the state where the row is: a row of an import is in its suite, sizes and cache states alone; before is the row that was chosen before. */
export function settleUnit(state, unit, before = null) {
  if (unit?.suite) {
    Object.assign(state, {suite: unit.suite, sizes: unit.sizes});
    if (!unit.states.includes(state.state)) [state.state] = unit.states;
  } else if (unit && before?.suite) Object.assign(state, {suite: "", sizes: "course", state: "warm"});
}
