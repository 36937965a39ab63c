// What the views over many runs share: what their choosers offer and keep in the address, which sources an answer has,
// and a place that loads anew with them.
import * as api from "./api.js";
import {empty} from "./blocks.js";
import {button} from "./controls.js";
import {element} from "./dom.js";
import {replaceIn} from "./focus.js";
import {refused} from "./refused.js";

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
