// Runs that are marked as base or head of a comparison. They stand in the address, so that they stay over pages and
// filters.
import {button} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {NBSP} from "../../parts/format.js";

const SIDES = ["base", "head"];
const MOST = 30; // runs of a side; the API takes no more
const TEST_MIN = 6; // runs of a side; rank_runs_min in the rules of a comparison
const NAMES_MAX = 8; // more are counted

const parse = (text) => [
  ...new Set(
    text
      .replace(/^run:/, "")
      .split(",")
      .map((part) => part.replace(/^run:/, ""))
      .filter((id) => /^\d{1,19}$/.test(id)),
  ),
];

/** "run:1,run:2" as the API names a side. */
export const sideOf = (ids) => ids.map((id) => `run:${id}`).join(",");

/** "run 4", "runs 2, 5", and "12 runs" of many: a count is never read as the number of a run. */
export const named = (ids) =>
  ids.length === 0
    ? "none yet"
    : ids.length === 1
      ? `run${NBSP}${ids[0]}`
      : ids.length > NAMES_MAX
        ? `${ids.length}${NBSP}runs`
        : `runs ${ids.join(", ")}`;

export class Selection {
  constructor(shell, state) {
    this.shell = shell;
    this.state = state;
    this.ids = Object.fromEntries(SIDES.map((side) => [side, parse(state[side])]));
    this.both = this.ids.head.filter((id) => this.ids.base.includes(id)); // an address may say so; a mark cannot
    this.ids.head = this.ids.head.filter((id) => !this.both.includes(id));
    if (this.both.length > 0) state.head = sideOf(this.ids.head);
    this.element = element("section", {class: "selection", "aria-label": "Marked runs", hidden: true});
    this.boxes = new Map();
    this.draw();
  }

  /** A checkbox that marks the run. */
  box(side, run) {
    const made = element("input", {type: "checkbox", "aria-label": `run ${run.id} as ${side}`});
    made.checked = this.ids[side].includes(run.id);
    made.addEventListener("change", () => this.mark(side, run.id, made.checked));
    this.boxes.set(`${side} ${run.id}`, made);
    return made;
  }

  mark(side, id, on) {
    const other = side === "base" ? "head" : "base";
    this.ids[side] = this.ids[side].filter((one) => one !== id);
    if (on) {
      this.ids[side].push(id);
      this.ids[other] = this.ids[other].filter((one) => one !== id);
      const box = this.boxes.get(`${other} ${id}`);
      if (box) box.checked = false;
    }
    this.keep();
  }

  clear() {
    for (const side of SIDES) this.ids[side] = [];
    for (const box of this.boxes.values()) box.checked = false;
    this.keep();
  }

  keep() {
    this.both = [];
    const changed = Object.fromEntries(SIDES.map((side) => [side, sideOf(this.ids[side])]));
    Object.assign(this.state, changed);
    this.shell.setParameters(changed);
    this.draw();
  }

  /** What there is to know about the marks, or null. */
  note() {
    const {base, head} = this.ids;
    const both = this.both.length > 0 ? `The address has ${named(this.both)} on both sides; kept as base. ` : "";
    if (base.length === 0 || head.length === 0) {
      return `${both}Mark at least one run as ${base.length === 0 ? "base" : "head"} too.`;
    }
    if (base.length > MOST || head.length > MOST) return `${both}A side has at most ${MOST} runs.`;
    if (base.length < TEST_MIN || head.length < TEST_MIN) {
      return (
        `${both}With fewer than ${TEST_MIN} runs a side, the spread of the device's history is used, if it ` +
        "has enough runs."
      );
    }
    return both || null;
  }

  draw() {
    const {base, head} = this.ids;
    this.element.hidden = base.length + head.length === 0;
    const ready = base.length > 0 && head.length > 0 && base.length <= MOST && head.length <= MOST;
    const note = this.note();
    this.element.replaceChildren(
      element(
        "p",
        {role: "status"},
        element("strong", {}, "Base: "),
        named(base),
        " · ",
        element("strong", {}, "Head: "),
        named(head),
        ". ",
        note ? element("span", {class: "hint"}, note) : "",
      ),
      element(
        "div",
        {class: "buttons"},
        ready
          ? element(
              "a",
              {class: "button", href: this.shell.link("compare", {base: sideOf(base), head: sideOf(head)})},
              "Compare",
            )
          : "",
        base.length === 1 && head.length === 1
          ? element(
              "a",
              {class: "button", href: this.shell.link("run", {run: head[0], over: base[0]})},
              "Both on one chart",
            )
          : "",
        button("Clear marks", () => this.clear(), {class: "quiet"}),
      ),
    );
  }
}
