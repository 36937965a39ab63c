// The explorer's form: what is placed, under which roof, and what was achieved. It keeps its elements, so that typing
// and focus stay; it holds no result.
import {button, fault, field, radios} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {day, si} from "../../parts/format.js";
import {EXAMPLES} from "./math.js";
import {EXAMPLE_ROOF, MOST_STEPS, roofTexts} from "./state.js";

const textInput = (value) =>
  element("input", {type: "text", value, autocomplete: "off", spellcheck: "false", inputmode: "text"});
const option = (value, text, selected = false, disabled = false) =>
  element("option", {value, selected, disabled}, text);

const subjectValue = (subject) => (subject.kind === "own" ? "own" : `${subject.kind}:${subject.id}`);

function kernelSelect(state, catalogue) {
  const chosen = subjectValue(state.subject);
  const select = element(
    "select",
    {},
    element(
      "optgroup",
      {label: "Examples"},
      ...EXAMPLES.map((e) => option(`example:${e.id}`, e.title, chosen === `example:${e.id}`)),
    ),
    element(
      "optgroup",
      {label: "Kernels of the suite"},
      ...catalogue.map((unit) => option(`kernel:${unit.id}`, unit.title, chosen === `kernel:${unit.id}`)),
    ),
    element("optgroup", {label: "Your own"}, option("own", "flop and bytes of your own", chosen === "own")),
  );
  return select;
}

/**
 * The subject that a choice in the list begins with. before: what was placed until now, whose figures one's own begin
 * with.
 */
function begin(value, before) {
  const [kind, id] = value.split(":");
  if (kind === "example") return {kind, id, size: String(EXAMPLES.find((e) => e.id === id).size)};
  if (kind === "kernel") return {kind, id, bytes: "course"};
  return {
    kind: "own",
    flop: before.flop === undefined ? "2" : String(before.flop),
    bytes: before.bytes === undefined ? "8" : String(before.bytes),
  };
}

/** A text that is a member of owner and may be told an error: {box, input}. */
function typed(owner, name, label, changed, hint = null) {
  const input = textInput(owner[name]);
  input.addEventListener("input", () => {
    owner[name] = input.value;
    changed();
  });
  return {box: field(label, input, {hint, error: true}), input};
}

/**
 * The fields that belong to the kind of subject. Gives {nodes, inputs}: of those that may be told an error, by name.
 */
function subjectFields(state, catalogue, changed) {
  const {subject} = state;
  if (subject.kind === "example") {
    const example = EXAMPLES.find((e) => e.id === subject.id);
    const size = typed(subject, "size", `n, ${example.sizeName}`, changed);
    return {nodes: [size.box], inputs: {size: size.input}};
  }
  if (subject.kind === "kernel") {
    const unit = catalogue.find((item) => item.id === subject.id);
    const known = (sizes) =>
      unit[sizes] === null
        ? `asked, ${sizes} sizes: ${unit.why[sizes]}`
        : `asked, ${sizes} sizes: ${si(unit[sizes].ask_bytes, "B")}`;
    const select = element(
      "select",
      {},
      ...["course", "scaled"].map((sizes) =>
        option(sizes, known(sizes), subject.bytes === sizes, unit[sizes] === null),
      ),
      option("counted", "counted by the chosen run", subject.bytes === "counted"),
    );
    select.addEventListener("change", () => {
      subject.bytes = select.value;
      changed();
    });
    return {nodes: [field("Bytes", select, {error: true})], inputs: {bytes: select}};
  }
  const [flop, bytes] = [
    typed(subject, "flop", "Flop", changed),
    typed(
      subject,
      "bytes",
      "Bytes to and from DRAM",
      changed,
      "A number with an SI prefix or without: 201.3M, 1.07 GB, 8.",
    ),
  ];
  return {
    nodes: [element("div", {class: "pair"}, flop.box, bytes.box)],
    inputs: {flop: flop.input, bytes: bytes.input},
  };
}

/** How often each byte is used: a slider over powers of two, and buttons that go one step. */
function reuseField(state, changed) {
  const slider = element("input", {
    type: "range",
    min: "0",
    max: String(MOST_STEPS),
    step: "1",
    value: String(Math.log2(state.times)),
  });
  const made = field("Each byte used", slider, {hint: "What tiling does: the same flop with a part of the bytes."});
  const shown = element("output", {class: "times", for: slider.id});
  const set = (times) => {
    state.times = times;
    slider.value = String(Math.log2(times));
    sync();
    changed();
  };
  const step = (by) => () => set(Math.min(2 ** MOST_STEPS, Math.max(1, state.times * by)));
  const [less, more] = [
    button("÷ 2", step(0.5), {"aria-label": "÷ 2, half as often"}),
    button("× 2", step(2), {"aria-label": "× 2, twice as often"}),
  ];
  const sync = () => {
    const words = state.times === 1 ? "once" : `${state.times} times`;
    shown.textContent = words;
    slider.setAttribute("aria-valuetext", words);
    less.disabled = state.times === 1;
    more.disabled = state.times === 2 ** MOST_STEPS;
  };
  slider.addEventListener("input", () => set(2 ** Number(slider.value)));
  sync();
  made.firstChild.append(" ", shown);
  const row = element("div", {class: "reuse"}, less, more);
  slider.replaceWith(row);
  less.after(slider);
  return made;
}

function runOption(run, chosen) {
  const usable = run.dram_copy_byte_per_s !== null && run.fp32_fma_flop_per_s !== null;
  const source = run.source === "measured" ? "" : `, ${run.source}`;
  return option(
    run.id,
    `run ${run.id}: ${run.sizes}${source}${usable ? "" : " (no ceilings)"}, ${day(run.date)}, ${run.device.name}`,
    run.id === chosen,
    !usable,
  );
}

const hasRoof = (state, texts) => state.bandwidth === texts.bandwidth && state.peak === texts.peak;

/** The two figures of a roof that is typed in. */
function typedRoof(state, changed) {
  const example = element(
    "p",
    {class: "hint"},
    "Figures of an example, of no card that was measured here: type your own.",
  );
  const sync = () => {
    example.hidden = !hasRoof(state, EXAMPLE_ROOF);
  };
  const changedHere = () => {
    sync();
    changed();
  };
  const [bandwidth, peak] = [
    typed(state, "bandwidth", "Memory bandwidth, B/s", changedHere),
    typed(state, "peak", "Peak rate, FLOP/s", changedHere),
  ];
  sync();
  return {
    nodes: [element("div", {class: "pair"}, bandwidth.box, peak.box), example],
    inputs: {bandwidth: bandwidth.input, peak: peak.input},
  };
}

/**
 * The roof: a run of the list and its cache state, or two figures, which begin with the roof that was shown before them
 * unless the reader has typed some.
 */
function roofFields(state, runs, {changed, rebuilt, roof}) {
  const kind = radios(
    "Roof",
    "explorer-roof",
    [
      ["run", "of a measured run"],
      ["typed", "typed in"],
    ],
    state.typed ? "typed" : "run",
    (value) => {
      state.typed = value === "typed";
      const shown = roof();
      const own = !hasRoof(state, EXAMPLE_ROOF) && !(state.taken && hasRoof(state, state.taken));
      if (state.typed && !own && !shown.errors) {
        state.taken = roofTexts(shown);
        Object.assign(state, state.taken);
      }
      rebuilt("explorer-roof");
    },
  );
  if (state.typed) {
    const {nodes, inputs} = typedRoof(state, changed);
    return {nodes: [kind, ...nodes], inputs};
  }
  const select = element(
    "select",
    {},
    ...(runs.length === 0 ? [option("", "no run yet", true)] : runs.map((run) => runOption(run, state.run))),
  );
  select.addEventListener("change", () => {
    state.run = select.value;
    changed({run: true});
  });
  const cache = radios(
    "Cache",
    "explorer-cache",
    [
      ["warm", "warm"],
      ["cold", "cold"],
    ],
    state.cache,
    (value) => {
      state.cache = value;
      changed();
    },
  );
  return {nodes: [kind, field("Run", select, {error: true}), cache], inputs: {run: select}};
}

function achievedFields(state, changed) {
  const {achieved} = state;
  const select = element(
    "select",
    {},
    option("time", "time", achieved.kind === "time"),
    option("rate", "rate", achieved.kind === "rate"),
  );
  const text = typed(achieved, "text", "Value", changed);
  const hint = () => text.input.setAttribute("placeholder", achieved.kind === "time" ? "0.25 ms" : "1.2 TFLOP/s");
  hint();
  select.addEventListener("change", () => {
    achieved.kind = select.value;
    hint();
    changed();
  });
  return {
    nodes: [element("div", {class: "pair"}, field("Achieved, as", select), text.box)],
    inputs: {achieved: text.input},
  };
}

/**
 * The form over state, which it changes. changed({run}) is called after each change; work() gives the {flop, bytes}
 * that are placed now, roof() the roof as of roofOf. Returns {form, say(errors by field), rebuild()}.
 */
export function controls(state, catalogue, runs, {changed, work, roof}) {
  const form = element("form", {class: "explorer-form", "aria-label": "What to place, and under which roof"});
  form.addEventListener("submit", (event) => event.preventDefault());
  let inputs = {};
  const build = () => {
    const select = kernelSelect(state, catalogue);
    select.addEventListener("change", () => {
      state.subject = begin(select.value, work());
      state.times = 1;
      rebuilt("kernel");
    });
    const parts = [
      subjectFields(state, catalogue, changed),
      roofFields(state, runs, {changed, rebuilt, roof}),
      achievedFields(state, changed),
    ];
    inputs = Object.assign({}, ...parts.map((part) => part.inputs));
    const group = (title, ...nodes) => element("div", {class: "group"}, element("h2", {}, title), ...nodes);
    form.replaceChildren(
      group("Kernel", field("Kernel", select), ...parts[0].nodes, reuseField(state, changed)),
      group("Roof", ...parts[1].nodes),
      group("Achieved, if you know it", ...parts[2].nodes),
    );
  };
  /** Builds the form anew for another kind of subject or roof, and puts the focus back to where it was. */
  const rebuilt = (name) => {
    build();
    const back =
      name === "explorer-roof"
        ? form.querySelector('input[name="explorer-roof"]:checked')
        : form.querySelector("select");
    back.focus();
    changed({run: name === "explorer-roof"});
  };
  build();
  const say = (errors) => {
    for (const [name, input] of Object.entries(inputs)) fault(input, errors[name] ?? null);
  };
  return {form, say, rebuild: build};
}
