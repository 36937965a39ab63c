// The explorer's form: what is placed, under which roof, and what was achieved. It keeps its elements, so that typing and focus stay; it holds no result.
import {element} from "../dom.js";
import {si} from "../format.js";
import {button} from "../parts.js";
import {EXAMPLES} from "./explorer-math.js";
import {MOST_STEPS} from "./explorer-state.js";

let count = 0;

/** A labelled control with its hint and its error: {box, input, say(error or null)}. */
export function field(label, input, hint = null) {
  const id = `explorer-${++count}`;
  input.id = id;
  const error = element("p", {class: "error", id: `${id}-error`, hidden: true});
  const words = hint === null ? null : element("p", {class: "hint", id: `${id}-hint`}, hint);
  input.setAttribute("aria-describedby", words ? `${id}-hint ${id}-error` : `${id}-error`);
  const box = element("div", {class: "field"}, element("label", {for: id}, label), input, words, error);
  const say = (text) => {
    error.hidden = !text;
    error.textContent = text ?? "";
    if (text) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  };
  return {box, input, say};
}

const textInput = (value) => element("input", {type: "text", value, autocomplete: "off", spellcheck: "false", inputmode: "text"});
const option = (value, text, selected = false, disabled = false) => element("option", {value, selected, disabled}, text);

/** Radios of one name: choices [[value, text], …]. */
function radios(legend, name, choices, chosen, changed) {
  return element("fieldset", {class: "choices"}, element("legend", {}, legend), ...choices.map(([value, text]) => {
    const input = element("input", {type: "radio", name, value, checked: value === chosen});
    input.addEventListener("change", () => changed(value));
    return element("label", {}, input, text);
  }));
}

const subjectValue = (subject) => (subject.kind === "own" ? "own" : `${subject.kind}:${subject.id}`);

function kernelSelect(state, catalogue) {
  const chosen = subjectValue(state.subject);
  const select = element("select", {},
    element("optgroup", {label: "Examples"}, ...EXAMPLES.map((e) => option(`example:${e.id}`, e.title, chosen === `example:${e.id}`))),
    element("optgroup", {label: "Kernels of the suite"}, ...catalogue.map((unit) => option(`kernel:${unit.id}`, unit.title, chosen === `kernel:${unit.id}`))),
    element("optgroup", {label: "Your own"}, option("own", "flop and bytes of your own", chosen === "own")));
  return select;
}

/** The subject that a choice in the list begins with. before: what was placed until now, whose figures one's own begin with. */
function begin(value, before) {
  const [kind, id] = value.split(":");
  if (kind === "example") return {kind, id, size: String(EXAMPLES.find((e) => e.id === id).size)};
  if (kind === "kernel") return {kind, id, bytes: "course"};
  return {kind: "own", flop: before.flop === undefined ? "2" : String(before.flop), bytes: before.bytes === undefined ? "8" : String(before.bytes)};
}

/** The fields that belong to the kind of subject. Gives {nodes, says: {field: say}}. */
function subjectFields(state, catalogue, changed) {
  const {subject} = state;
  const typed = (name, label, hint = null) => {
    const made = field(label, textInput(subject[name]), hint);
    made.input.addEventListener("input", () => { subject[name] = made.input.value; changed(); });
    return made;
  };
  if (subject.kind === "example") {
    const example = EXAMPLES.find((e) => e.id === subject.id);
    const size = typed("size", `n, ${example.sizeName}`);
    return {nodes: [size.box], says: {size: size.say}};
  }
  if (subject.kind === "kernel") {
    const unit = catalogue.find((item) => item.id === subject.id);
    const known = (sizes) => (unit[sizes] === null ? `asked, ${sizes} sizes: ${unit.why[sizes]}` : `asked, ${sizes} sizes: ${si(unit[sizes].ask_bytes, "B")}`);
    const select = element("select", {}, ...["course", "scaled"].map((sizes) => option(sizes, known(sizes), subject.bytes === sizes, unit[sizes] === null)),
      option("counted", "counted by the chosen run", subject.bytes === "counted"));
    const bytes = field("Bytes", select);
    select.addEventListener("change", () => { subject.bytes = select.value; changed(); });
    return {nodes: [bytes.box], says: {bytes: bytes.say}};
  }
  const [flop, bytes] = [typed("flop", "Flop"), typed("bytes", "Bytes to and from DRAM", "A number with an SI prefix or without: 201.3M, 1.07 GB, 8.")];
  return {nodes: [element("div", {class: "pair"}, flop.box, bytes.box)], says: {flop: flop.say, bytes: bytes.say}};
}

/** How often each byte is used: a slider over powers of two, and buttons that go one step. */
function reuseField(state, changed) {
  const slider = element("input", {type: "range", min: "0", max: String(MOST_STEPS), step: "1", value: String(Math.log2(state.times))});
  const made = field("Each byte used", slider, "What tiling does: the same flop with a part of the bytes.");
  const shown = element("output", {class: "times", for: slider.id});
  const set = (times) => {
    state.times = times;
    slider.value = String(Math.log2(times));
    sync();
    changed();
  };
  const step = (by) => () => set(Math.min(2 ** MOST_STEPS, Math.max(1, state.times * by)));
  const [less, more] = [button("÷ 2", step(0.5), {"aria-label": "÷ 2, half as often"}), button("× 2", step(2), {"aria-label": "× 2, twice as often"})];
  const sync = () => {
    const words = state.times === 1 ? "once" : `${state.times} times`;
    shown.textContent = words;
    slider.setAttribute("aria-valuetext", words);
    less.disabled = state.times === 1;
    more.disabled = state.times === 2 ** MOST_STEPS;
  };
  slider.addEventListener("input", () => set(2 ** Number(slider.value)));
  sync();
  made.box.firstChild.append(" ", shown);
  const row = element("div", {class: "reuse"}, less, more);
  slider.replaceWith(row);
  less.after(slider);
  return made.box;
}

function runOption(run, chosen) {
  const usable = run.dram_copy_byte_per_s !== null && run.fp32_fma_flop_per_s !== null;
  const source = run.source === "measured" ? "" : `, ${run.source}`;
  return option(run.id, `run ${run.id}: ${run.device.name}, ${run.date.slice(0, 10)} UTC, ${run.sizes}${source}${usable ? "" : " (no ceilings)"}`, run.id === chosen, !usable);
}

/** The roof: a run of the list and its cache state, or two figures. */
function roofFields(state, runs, changed, rebuilt) {
  const kind = radios("Roof", "explorer-roof", [["run", "of a measured run"], ["typed", "typed in"]], state.typed ? "typed" : "run", (value) => { state.typed = value === "typed"; rebuilt("explorer-roof"); });
  if (state.typed) {
    const typed = (name, label) => {
      const made = field(label, textInput(state[name]));
      made.input.addEventListener("input", () => { state[name] = made.input.value; changed(); });
      return made;
    };
    const [bandwidth, peak] = [typed("bandwidth", "Memory bandwidth"), typed("peak", "Peak rate")];
    return {nodes: [kind, element("div", {class: "pair"}, bandwidth.box, peak.box)], says: {bandwidth: bandwidth.say, peak: peak.say}};
  }
  const select = element("select", {}, ...(runs.length === 0 ? [option("", "no run yet", true)] : runs.map((run) => runOption(run, state.run))));
  select.addEventListener("change", () => { state.run = select.value; changed({run: true}); });
  const run = field("Run", select);
  const cache = radios("Cache", "explorer-cache", [["warm", "warm"], ["cold", "cold"]], state.cache, (value) => { state.cache = value; changed(); });
  return {nodes: [kind, run.box, cache], says: {run: run.say}};
}

function achievedFields(state, changed) {
  const {achieved} = state;
  const select = element("select", {}, option("time", "time", achieved.kind === "time"), option("rate", "rate", achieved.kind === "rate"));
  const kind = field("Achieved, as", select);
  const text = field("Value", textInput(achieved.text), null);
  const hint = () => text.input.setAttribute("placeholder", achieved.kind === "time" ? "0.25 ms" : "1.2 TFLOP/s");
  hint();
  select.addEventListener("change", () => { achieved.kind = select.value; hint(); changed(); });
  text.input.addEventListener("input", () => { achieved.text = text.input.value; changed(); });
  return {nodes: [element("div", {class: "pair"}, kind.box, text.box)], says: {achieved: text.say}};
}

/**
 * The form over state, which it changes. changed({run}) is called after each change; work() gives the {flop, bytes} that are placed now. Returns {form, say(errors by field),
 * rebuild()}.
 */
export function controls(state, catalogue, runs, {changed, work}) {
  const form = element("form", {class: "explorer-form", "aria-label": "What to place, and under which roof"});
  form.addEventListener("submit", (event) => event.preventDefault());
  let says = {};
  const build = () => {
    const select = kernelSelect(state, catalogue);
    const kernel = field("Kernel", select);
    select.addEventListener("change", () => {
      state.subject = begin(select.value, work());
      state.times = 1;
      rebuilt("kernel");
    });
    const parts = [subjectFields(state, catalogue, changed), roofFields(state, runs, changed, rebuilt), achievedFields(state, changed)];
    says = Object.assign({}, ...parts.map((part) => part.says));
    const group = (title, ...nodes) => element("div", {class: "group"}, element("h2", {}, title), ...nodes);
    form.replaceChildren(
      group("Kernel", kernel.box, ...parts[0].nodes, reuseField(state, changed)),
      group("Roof", ...parts[1].nodes),
      group("Achieved, if you know it", ...parts[2].nodes));
  };
  /** Builds the form anew for another kind of subject or roof, and puts the focus back to where it was. */
  const rebuilt = (name) => {
    build();
    const back = name === "explorer-roof" ? form.querySelector('input[name="explorer-roof"]:checked') : form.querySelector("select");
    back.focus();
    changed({run: name === "explorer-roof"});
  };
  build();
  const say = (errors) => { for (const [name, told] of Object.entries(says)) told(errors[name] ?? null); };
  return {form, say, rebuild: build};
}
