// Accepting a change: a run's note says that a row is meant to be as it is from this run on, and its trend's baseline
// begins anew there.
import * as api from "../../parts/api.js";
import {notice} from "../../parts/blocks.js";
import {button, chooser, field} from "../../parts/controls.js";
import {nextDay} from "../../parts/days.js";
import {UNKNOWN} from "../../parts/devices.js";
import {element} from "../../parts/dom.js";
import {replaceIn} from "../../parts/focus.js";
import {day as dayText, momentText} from "../../parts/format.js";
import {bdi, unbroken} from "../../parts/inline.js";
import {refused} from "../../parts/refused.js";
import {versionOf} from "./words.js";

const PAGES = 5;
const noteOf = (id) => `/api/v1/runs/${encodeURIComponent(id)}/note`;

/** The good runs behind a point, oldest first. */
async function runsOf(point, trend, signal) {
  const query = {
    device: trend.device.id,
    suite: trend.suite,
    driver: point.driver ?? UNKNOWN,
    cuda: point.cuda ?? UNKNOWN,
    sizes: trend.sizes,
    since: point.day,
    until: nextDay(point.day),
    limit: 200,
  };
  if (trend.source !== "any") query.source = trend.source;
  const found = [];
  for (let page = 0, cursor = null; page < PAGES && (page === 0 || cursor); page++) {
    const {items, next} = await api.get(api.address("/api/v1/runs", {...query, cursor}), {signal});
    found.push(...items.filter((run) => run.driver === point.driver && run.cuda === point.cuda));
    cursor = next;
  }
  return found.reverse();
}

const accepts = (note, trend) =>
  note.accepted.some((item) => item.kernel === trend.kernel && item.state === trend.state);

function already(note, trend) {
  const others = note.accepted.filter((item) => item.kernel !== trend.kernel || item.state !== trend.state);
  return others.length === 0
    ? null
    : element(
        "p",
        {class: "hint"},
        `This run's note accepts already: ${others.map((item) => `${item.kernel} ${item.state}`).join(", ")}. That ` +
          "stays.",
      );
}

/**
 * Asks from which run on, and why; trend.title: the row's, in words; done(run) is called when it is stored, left() when
 * it is not to be: the focus is theirs to place.
 */
export async function acceptForm(shell, point, trend, place, done, left) {
  const close = button(
    "Not now",
    () => {
      place.replaceChildren();
      left();
    },
    {class: "quiet"},
  );
  const title = element("h2", {tabindex: "-1"}, "Accept the change of ", unbroken(dayText(point.day)));
  const body = element("div", {});
  place.replaceChildren(
    element(
      "section",
      {class: "accept", "aria-label": "Accept a change"},
      title,
      element("p", {class: "second"}, bdi(trend.title), `, ${trend.state}; ${versionOf(point)}`),
      element(
        "p",
        {class: "lead"},
        "Later runs are held against the chosen run and those that follow it, no longer against those before it. " +
          "Say why, for those who ask later.",
      ),
      body,
    ),
  );
  body.replaceChildren(element("p", {class: "loading"}, "Loading the runs of that day …"), close);
  title.focus();
  const begin = async () => {
    try {
      const runs = await runsOf(point, trend, shell.signal);
      if (runs.length === 0) {
        throw new api.ApiError(
          {code: "not_found", message: "No run of that day is there any more.", next_action: "Reload the trend."},
          404,
        );
      }
      form(shell, runs, trend, body, close, done);
    } catch (error) {
      if (error.name === "AbortError") return;
      replaceIn(body, refused(error, begin), close);
    }
  };
  await begin();
}

/** What is written here is kept: a note that is read afterwards goes above it. */
const joined = (read, written, before) =>
  written === before || written === read ? read : [read, written].filter(Boolean).join("\n");

/** A run of the day in the choice of runs: its time of day is enough. */
function runWords({id, source, date}) {
  const mark = source === "measured" ? "" : `${source}, `;
  return `run ${id}, ${mark}${momentText(date).slice("2026-11-30 ".length)}`;
}

/** The form's elements; enable(on) and isReady(): whether it may be sent. */
function acceptFields(runs, close) {
  const which = chooser(
    "run",
    runs.map((run) => [run.id, runWords(run)]),
    runs[0].id,
  );
  const text = element("textarea", {name: "text", rows: "3", maxlength: "4096", dir: "auto"});
  const save = element("button", {class: "primary"}, "Accept from this run on");
  let ready = false; // told by aria-disabled: what is disabled loses the focus
  const made = element(
    "form",
    {class: "accept-form"},
    field("From which run on", which),
    field("Note", text),
    element("div", {class: "buttons"}, save, close),
  );
  return {
    made,
    which,
    text,
    isReady: () => ready,
    enable(on) {
      ready = on;
      if (on) save.removeAttribute("aria-disabled");
      else save.setAttribute("aria-disabled", "true");
    },
  };
}

const meanwhile = () =>
  notice(
    null,
    element(
      "p",
      {},
      "Somebody else wrote this run's note meanwhile. Their words have been added above yours; look at them, then " +
        "accept again.",
    ),
  );

function form(shell, runs, trend, body, close, done) {
  const {made, which, text, isReady, enable} = acceptFields(runs, close);
  // outside of the form, since a token's form may be in it
  const told = element("div", {class: "accept-said", role: "status"});
  let current = null;
  let before = "";
  const load = async (...above) => {
    const id = which.value;
    current = null;
    enable(false);
    try {
      const loaded = await api.getTagged(noteOf(id), shell);
      if (which.value !== id) return; // another run has been chosen meanwhile
      text.value = joined(loaded.body.text, text.value, before);
      before = loaded.body.text;
      current = loaded;
      enable(true);
      replaceIn(told, ...[...above, already(loaded.body, trend)].filter(Boolean));
    } catch (error) {
      const again = () => load(...above);
      if (error.name !== "AbortError" && which.value === id) replaceIn(told, ...above, refused(error, again));
    }
  };
  const put = async () => {
    if (current === null || !isReady()) return;
    enable(false);
    const id = which.value;
    const {body: note, etag} = current;
    const accepted = accepts(note, trend)
      ? note.accepted
      : [...note.accepted, {kernel: trend.kernel, state: trend.state}];
    try {
      await api.send("PUT", noteOf(id), {text: text.value, accepted}, {"If-Match": etag}, shell);
      done(id);
    } catch (error) {
      if (error.name === "AbortError") return;
      enable(true);
      if (error.status === 412) {
        await load(meanwhile());
      } else {
        replaceIn(told, refused(error, put));
        told.querySelector("input")?.focus();
      }
    }
  };
  which.addEventListener("change", () => load());
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    put();
  });
  replaceIn(body, made, told);
  load();
}

/** What marks the runs of a day, where one mark is true of them all; null else. */
function markOfDay(trend, day) {
  const words = new Set(trend.points.filter((point) => point.day === day).map((point) => point.foreign));
  const [first] = words;
  return words.size === 1 && ["imported", "replayed"].includes(first) ? element("span", {class: "mark"}, first) : null;
}

/** The accepted changes of the trend with the notes that accepted them, newest first; null where there is none. */
export function acceptedList(shell, trend) {
  if (trend.accepted.length === 0) return null;
  const items = trend.accepted
    .toReversed()
    .map(({run, day, note, principal}) =>
      element(
        "li",
        {},
        element("span", {class: "when nowrap"}, dayText(day)),
        element("span", {class: "note-text"}, note === "" ? element("span", {class: "hint"}, "no note") : bdi(note)),
        element(
          "span",
          {class: "hint"},
          element("a", {href: shell.link("run", {run})}, `run ${run}`),
          ", by ",
          bdi(principal),
          " ",
          markOfDay(trend, day) ?? "",
        ),
      ),
    );
  return element(
    "section",
    {class: "accepted"},
    element("h2", {}, "Accepted changes"),
    element("ul", {class: "note-list"}, ...items),
  );
}
