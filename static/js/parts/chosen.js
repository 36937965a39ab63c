// What is chosen in a view's form, in words: paper has no controls.
import {element} from "./dom.js";

const ALL = ["", "any", "without"]; // what restricts nothing, and withdrawn runs as they usually are
const NO_FILTERS = ["limit"];

/** The label of a field's control; its labels are known to the browser only once it stands in the page. */
const labelOf = (control) => control.closest(".field").querySelector("label").textContent;

/** "Device: all devices · Outcome: ok", of what the controls of the form have now. */
export function chosenWords(form) {
  const text = (control) =>
    control.localName === "select" ? (control.selectedOptions[0]?.textContent ?? "") : control.value.trim();
  return [...form.elements]
    .filter((control) => control.name && !NO_FILTERS.includes(control.name) && !ALL.includes(text(control)))
    .map((control) => `${labelOf(control)}: ${text(control)}`)
    .join(" · ");
}

/** The same as a line that paper alone has. */
export const chosenLine = (form) => element("p", {class: "paper hint chosen-line"}, chosenWords(form));
