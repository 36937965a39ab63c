// The kernels beside the chart: which are on it, which are not and why, and which the reader has put away.
import {button} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {percent} from "../../parts/format.js";

function reason(p) {
  const rest = [
    p.where === "edge" ? "at the right edge" : null,
    p.where === "none" && p.asked !== null ? "only the asked point is drawn" : null,
  ].filter(Boolean);
  return [p.why, ...rest].join("; ");
}

function share(p) {
  const value = p.of?.percent_of_roof ?? null;
  return element("span", {class: "share", title: "percent of its roof"}, percent(value, 0));
}

function item(p, hidden, {choose, point, setHidden}, ...more) {
  const box = element("input", {
    type: "checkbox",
    checked: !hidden.has(p.number),
    "aria-label": `Show ${p.number}, ${p.title}`,
  });
  box.addEventListener("change", () => {
    const next = new Set(hidden);
    if (box.checked) next.delete(p.number);
    else next.add(p.number);
    setHidden(next, p.number);
  });
  const name = element("button", {type: "button", class: "name"}, element("bdi", {dir: "auto"}, p.title));
  name.addEventListener("click", () => choose(p));
  const made = element(
    "li",
    {"data-kernel": p.kernel, class: hidden.has(p.number) ? "is-away" : null},
    box,
    element("span", {class: "badge"}, String(p.number)),
    element("span", {class: "what"}, name, ...more),
    share(p),
  );
  // The figures above stay as they are meanwhile: they would push the list away under the pointer.
  made.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse") point(p);
  });
  made.addEventListener("pointerleave", () => point(null));
  return made;
}

/** The reason that more than one kernel has, and more than any other: said once. null: all have their own. */
function most(reasons) {
  const counts = new Map();
  for (const text of reasons) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [first] = [...counts].filter(([, n]) => n > 1).toSorted(([, a], [, b]) => b - a);
  return first?.[0] ?? null;
}

/**
 * Two lists, {on, off}: of the kernels with a point, with the buttons for all kernels, and of those without, with the
 * reasons; both empty where the run has no rows.
 */
export function kernelLists(series, hidden, actions) {
  const {placed} = series;
  if (placed.length === 0) return {on: [], off: []};
  const shown = placed.filter((p) => p.where === "point");
  const absent = placed.filter((p) => p.where !== "point");
  const all = button("all", () => actions.setHidden(new Set()), {
    class: "quiet",
    disabled: hidden.size === 0,
    "aria-label": "Show all kernels",
  });
  const none = button("none", () => actions.setHidden(new Set(placed.map((p) => p.number))), {
    class: "quiet",
    disabled: hidden.size >= placed.length,
    "aria-label": "Show none of the kernels",
  });
  const on = [
    element(
      "div",
      {class: "list-head"},
      element("h3", {}, "With a measured point"),
      element("span", {class: "buttons"}, all, none),
      element("span", {class: "unit"}, "% of roof"),
    ),
    shown.length === 0
      ? element("p", {class: "hint"}, "None has one.")
      : element("ol", {id: "legend", class: "legend"}, ...shown.map((p) => item(p, hidden, actions))),
  ];
  const shared = most(absent.map(reason));
  const [alike, others] = [absent.filter((p) => reason(p) === shared), absent.filter((p) => reason(p) !== shared)];
  const off =
    absent.length === 0
      ? []
      : [
          element("h3", {}, "Without a measured point"),
          ...(others.length === 0
            ? []
            : [
                element(
                  "ul",
                  {class: "absent"},
                  ...others.map((p) => item(p, hidden, actions, element("span", {class: "reason"}, reason(p)))),
                ),
              ]),
          ...(alike.length === 0
            ? []
            : [
                element("p", {class: "reason"}, `${alike.length} kernels: ${shared}.`),
                element("ul", {class: "absent"}, ...alike.map((p) => item(p, hidden, actions))),
              ]),
        ];
  return {on, off};
}
