// Controls of forms, the same in every view: a control under its label with its hint and its error, radios, checkboxes,
// choosers.
import {element} from "./dom.js";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
let ids = 0;

/** Where the error of a control stands, or of a group of them; id: theirs. Hidden until say() puts words there. */
export const errorPlace = (id) => element("p", {class: "error", id: `${id}-error`, hidden: true});

/** Puts words at the place of an error; null takes them away. */
export function say(place, text) {
  place.hidden = !text;
  place.textContent = text ?? "";
}

/**
 * A control under its label. hint: words below it, or the element that has them; error: whether it has a place for its
 * error.
 */
export function field(label, control, {id = `field-${++ids}`, hint = null, error = false, broad = false} = {}) {
  const input = control.matches("input, select, textarea") ? control : control.querySelector("input");
  input.id = id;
  const words = hint === null || hint instanceof Node ? hint : element("p", {class: "hint"}, hint);
  if (words) words.id = `${id}-hint`;
  const place = error ? errorPlace(id) : null;
  const described = [words, place].filter(Boolean).map((one) => one.id);
  if (described.length > 0) input.setAttribute("aria-describedby", described.join(" "));
  return element(
    "div",
    {class: broad ? "field broad" : "field"},
    element("label", {for: id}, label),
    control,
    words,
    place,
  );
}

/** Puts an error at the control of a field that has a place for it; null takes it away. */
export function fault(input, text) {
  say(input.closest(".field").querySelector(".error"), text);
  if (text) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/**
 * Radios of one name. choices: [[value, words], …]; changed(value) when the reader has chosen; attributes: of the
 * fieldset.
 */
export function radios(legend, name, choices, chosen, changed, attributes = {}) {
  return element(
    "fieldset",
    {class: "choices", ...attributes},
    element("legend", {}, legend),
    ...choices.map(([value, words]) => {
      const input = element("input", {type: "radio", name, value, checked: value === chosen});
      input.addEventListener("change", () => changed(value));
      return element("label", {}, input, words);
    }),
  );
}

/** A checkbox before its words, as their label. changed(on) when the reader has changed it. */
export function checkbox(words, checked, changed = () => {}) {
  const input = element("input", {type: "checkbox", checked});
  input.addEventListener("change", () => changed(input.checked));
  return element("label", {}, input, words);
}

/** options: [[value, text], …] or {label, options}; a value that is none of them is kept as one more. */
export function chooser(name, options, value = "") {
  const one = ([given, text]) => element("option", {value: given, selected: given === value}, text);
  const made = element(
    "select",
    {name},
    ...options.map((item) =>
      Array.isArray(item) ? one(item) : element("optgroup", {label: item.label}, ...item.options.map(one)),
    ),
  );
  if (![...made.options].some((option) => option.value === value)) made.append(one([value, value]));
  made.value = value;
  return made;
}

/** A day's input; a moment that the address names stays a text, since no day says the same. */
export function dayInput(name, value = "") {
  const made = element("input", {name, type: value === "" || DAY.test(value) ? "date" : "text", autocomplete: "off"});
  made.value = value;
  return made;
}

/** A text with suggestions: every value may be asked for, those that are known are offered; none is any. */
export function suggested(name, values, value = "") {
  const list = element("datalist", {id: `list-${++ids}`}, ...values.map((text) => element("option", {value: text})));
  const made = element("input", {
    name,
    type: "text",
    list: list.id,
    placeholder: "any",
    autocomplete: "off",
    spellcheck: "false",
  });
  made.value = value;
  return element("span", {class: "suggested"}, made, list);
}

/** A button. onClick is told by the caller's own words what it does. */
export function button(text, onClick, attributes = {}) {
  const made = element("button", {type: "button", ...attributes}, text);
  made.addEventListener("click", onClick);
  return made;
}
