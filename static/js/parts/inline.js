// Words within a line: texts of either direction, marks, moments, links to runs.
import {element} from "./dom.js";
import {NONE, local, sourceMark, utc} from "./format.js";

/** Text from data that may run in either direction, kept apart from what stands around it. */
export const bdi = (text, attributes = {}) => element("bdi", {dir: "auto", ...attributes}, text);

/** A word or two in a frame. kind: "good", "bad", "warn" or nothing. */
export function chip(text, kind = null, title = null) {
  return element("span", {class: kind ? `chip ${kind}` : "chip", title}, text);
}

/** "Replayed" or "Imported" where the run is one, short, for rows and lists; null for a run that was measured here. */
export function shortMark(run) {
  if (run.source === "measured") return null;
  const words = {replayed: "Replayed", imported: "Imported"};
  return element("span", {class: "mark", title: sourceMark(run)}, words[run.source] ?? run.source);
}

/** The same in full, for a heading. */
export function longMark(run) {
  const text = sourceMark(run);
  return text === null ? null : element("p", {class: "mark"}, text);
}

/** A link to a run's roofline, and its mark. more: further parameters of the view. */
export function runLink(shell, run, more = {}) {
  const made = element(
    "span",
    {class: "run-link"},
    element("a", {href: shell.link("run", {run: run.id, ...more})}, `run ${run.id}`),
  );
  const mark = shortMark(run);
  if (mark) made.append(" ", mark);
  return made;
}

/** Words that no line breaks: a day, a moment. */
export const unbroken = (text) => element("span", {class: "nowrap"}, text);

/** A moment by both clocks, each on a line of its own where they break; a dash for one that is not known. */
export function moment(text) {
  if (!text) return element("span", {}, NONE);
  return element(
    "time",
    {datetime: text},
    unbroken(utc(text)),
    ...(new Date(text).getTimezoneOffset() === 0 ? [] : [" ", unbroken(`(${local(text)})`)]),
  );
}
