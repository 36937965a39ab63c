// What stands by itself in a view: notices, errors, lists of facts, figures, the frame of a wide table.
import {element} from "./dom.js";
import {NONE, errorSentence, sentence} from "./format.js";
import {bdi} from "./inline.js";

/**
 * Runs that a question passes over, as the API counts them, each with what to ask for instead; null where there are
 * none.
 */
export function passedOver(excluded) {
  if (excluded.length === 0) return null;
  return element(
    "div",
    {class: "passed-over"},
    element("p", {}, element("strong", {}, "Not among these")),
    element(
      "ul",
      {},
      ...excluded.map(({filters, sentence}) => element("li", {"data-filters": filters}, bdi(sentence))),
    ),
  );
}

/** kind: "bad" for what went wrong, "info" for what is good to know, else something to mind. */
export function notice(kind, ...children) {
  return element("div", {class: kind ? `notice ${kind}` : "notice"}, ...children);
}

/** What to say where there is nothing to show, and what to do about it. */
export function empty(title, ...children) {
  return element("div", {class: "empty"}, element("h2", {}, title), ...children);
}

/** An ApiError inside of a view: what happened, what to do, its code. */
export function problem(error) {
  return element(
    "div",
    {class: "notice bad", role: "alert"},
    element("p", {}, errorSentence(error)),
    error.nextAction ? element("p", {}, sentence(error.nextAction)) : null,
    error.code ? element("p", {class: "code"}, error.code) : null,
  );
}

/** [[name, value or node, …], …] as a definition list; a value of null shows as a dash. */
export function definitions(rows, attributes = {class: "facts"}) {
  return element(
    "dl",
    attributes,
    ...rows.flatMap(([name, ...values]) => [
      element("dt", {}, name),
      element("dd", {}, ...values.map((value) => value ?? NONE)),
    ]),
  );
}

/** One large number with its name above and words below. */
export function figure(label, value, note = null) {
  return element(
    "div",
    {class: "figure"},
    element("p", {class: "label"}, label),
    element("p", {class: "value"}, value),
    note === null ? null : element("p", {class: "note"}, note),
  );
}

/** A caption that stays in sight while its table is moved sideways. */
export const captionOf = (...words) => element("caption", {}, element("span", {class: "caption"}, ...words));

/** A wide table in its own scrolling region, which the keyboard reaches. */
export function scrolling(label, table, attributes = {}) {
  return element("div", {class: "scroll", role: "region", "aria-label": label, tabindex: "0", ...attributes}, table);
}
