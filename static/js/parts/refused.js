// What the API refuses inside of a view, in place: so that choosers and what has been written stay.
import {ApiError} from "./api.js";
import {notice, problem} from "./blocks.js";
import {element} from "./dom.js";
import {sentence, withUnit} from "./format.js";
import {unbroken} from "./inline.js";
import {tokenForm} from "./token.js";

const DAY = /(\d{4}-\d{2}-\d{2}|YYYY-MM-DD)/; // no line breaks within one

/**
 * An ApiError; where a token may help, with its form. again() asks for the same once more, and is called when a token
 * has been given.
 */
export function refused(error, again) {
  const box = problem(error);
  const token = error.status === 401 ? "a token" : "a token that has the right";
  if (error.status === 401 || error.status === 403) {
    box.append(element("p", {}, `Enter ${token} to go on; it is kept until this tab is closed.`), tokenForm(again));
  }
  return box;
}

/**
 * An ApiError at a sending, with how long the daemon asks to wait; again() sends the same once more. lost: what to say
 * where there was no answer, or null.
 */
export function unsent(error, again, lost = null) {
  const box = problem(error);
  if (error.status === 0 && lost !== null) box.append(element("p", {}, lost));
  if (Number.isInteger(error.retryAfter)) {
    box.append(element("p", {}, `The daemon asks to wait ${withUnit(error.retryAfter, "s")}.`));
  }
  if (error.status === 401 || error.status === 403) {
    box.append(
      element(
        "p",
        {},
        "Enter a token that may submit, and this is sent again. The token is kept until this tab is closed.",
      ),
      tokenForm(again),
    );
  }
  return box;
}

/** Takes back what refusedField marked. */
export function unmark(form) {
  for (const control of form.querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
}

/**
 * An ApiError that names a field of the form: marks its control and gives the notice in the words of its label. Throws
 * the error again where it is another.
 */
export function refusedField(form, error) {
  const control = error instanceof ApiError && error.field !== null ? form.elements[error.field] : null;
  if (!control) throw error;
  control.setAttribute("aria-invalid", "true");
  const label = control.closest(".field").querySelector("label").textContent;
  const words = sentence(
    error.message.startsWith(`${error.field} `) ? error.message.slice(error.field.length + 1) : error.message,
  );
  const parts = words.split(DAY).map((part, i) => (i % 2 === 1 ? unbroken(part) : part));
  const box = notice(
    "bad",
    element("p", {}, `${label}: `, ...parts),
    element("p", {class: "on-screen"}, `Correct “${label}” above.`),
  );
  box.setAttribute("role", "alert");
  return box;
}
