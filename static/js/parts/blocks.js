// What more than one view shows: notices, errors, marks, links to runs, figures.
import {dropToken, hasToken, isToken, setToken} from "./api.js";
import {element} from "./dom.js";
import {errorSentence, local, NONE, sentence, sourceMark, utc} from "./format.js";

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

let tokenForms = 0; // several may stand in one view

/**
 * Asks for a token and keeps it until the tab is closed; then calls done(), as it does once a token that was kept has
 * been given up.
 */
export function tokenForm(done) {
  const id = `token-${++tokenForms}`;
  const input = element("input", {
    type: "password",
    name: "token",
    autocomplete: "off",
    required: true,
    id,
    "aria-describedby": `${id}-error`,
  });
  const wrong = element("p", {class: "error", id: `${id}-error`, role: "alert", hidden: true});
  const form = element(
    "form",
    {class: "token"},
    element("label", {for: id}, "Token"),
    input,
    element("button", {class: "primary"}, "Use it"),
    hasToken()
      ? button("Go on without a token", () => {
          dropToken();
          done();
        })
      : null,
    wrong,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const token = input.value.trim();
    if (isToken(token)) {
      setToken(token);
      done();
      return;
    }
    wrong.textContent = "A token has English letters, digits and signs alone, and no space. Copy it again.";
    wrong.hidden = false;
    input.setAttribute("aria-invalid", "true");
    input.focus();
  });
  return form;
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

/** A button. onClick is told by the caller's own words what it does. */
export function button(text, onClick, attributes = {}) {
  const made = element("button", {type: "button", ...attributes}, text);
  made.addEventListener("click", onClick);
  return made;
}

/**
 * Gives the focus to what takes none by itself: so that a reader whose control is gone goes on from there, not from the
 * page's start.
 */
export function focusOn(place) {
  place.setAttribute("tabindex", "-1");
  place.focus({preventScroll: true});
}

/** Puts nodes into a place instead of what stands there; a reader whose focus was in there goes on from the place. */
export function replaceIn(place, ...nodes) {
  const focused = place.contains(document.activeElement);
  place.replaceChildren(...nodes);
  if (focused) focusOn(place);
}

/** Puts the focus onto the heading of what an element stands in: for when the element goes away under it. */
export function upToHeading(from) {
  const heading = from.closest("section, article")?.querySelector("h1, h2, h3");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({preventScroll: true});
}

/**
 * The end of a list that comes in pages. load(cursor) shows the next page and gives the cursor after it (or null). An
 * error stands in the button's place, with the button. Returns an element; null when there is no more.
 */
export function pager(next, load, label = "Show more") {
  if (!next) return null;
  const place = element("div", {class: "pager"});
  let busy = false; // not disabled, which would take the focus away
  const more = button(label, async () => {
    if (busy) return;
    busy = true;
    more.setAttribute("aria-disabled", "true");
    try {
      next = await load(next);
      place.querySelector(".notice")?.remove();
      if (next) return;
      if (place.contains(document.activeElement)) upToHeading(place);
      place.remove();
    } catch (error) {
      if (error.name === "AbortError") return;
      place.querySelector(".notice")?.remove();
      place.append(problem(error));
    } finally {
      busy = false;
      more.removeAttribute("aria-disabled");
    }
  });
  place.append(more);
  return place;
}

/** A caption that stays in sight while its table is moved sideways. */
export const captionOf = (...words) => element("caption", {}, element("span", {class: "caption"}, ...words));

/** A wide table in its own scrolling region, which the keyboard reaches. */
export function scrolling(label, table, attributes = {}) {
  return element("div", {class: "scroll", role: "region", "aria-label": label, tabindex: "0", ...attributes}, table);
}

/** Lets the reader save what the page made. content: a Blob or text. */
export function download(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
  const link = element("a", {href: url, download: name, hidden: true});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
