// The points as a reader reaches them: groups that take focus, the pointer and the keys, each with its kernel in words.
import {svgElement} from "../parts/dom.js";
import {nextStep, ratio, si} from "../parts/format.js";

const REACH = 40; // pixels from a point or its number within which the pointer means it

/** A kernel at its place, in words. */
function sentence(p, level) {
  const of = p.of;
  const words = [`${p.label}, ${p.title}: ${si(p.rate, "FLOP/s")}`];
  words.push(p.measured === null ? "measured intensity unknown" : `${ratio(p.measured)} FLOP per ${level.bytes}`);
  if (p.asked !== null) words.push(`${ratio(p.asked)} by the bytes asked for`);
  if (of.percent_of_roof !== null) words.push(`${of.percent_of_roof.toFixed(1)} percent of its roof`);
  if (of.bound !== null) words.push(of.bound === "latency" ? "latency bound" : `${of.bound} bound`);
  if (of.advice !== null) words.push(`next: ${nextStep(of.advice_code)}`);
  if (p.index > 0) words.push("the run laid over");
  return words.join(", ");
}

/** Adds a group per item to the chart and keeps it as item.group. */
export function pointGroups(svg, items, level) {
  const layer = svg.appendChild(svgElement("g", {class: "points"}));
  items.forEach((item, i) => {
    const {p, main, asked, label} = item;
    const names = ["point", p.where, p.index > 0 ? "second" : ""].filter(Boolean).join(" ");
    const group = svgElement("g", {
      class: names,
      role: "img",
      "aria-label": sentence(p, level),
      tabindex: i === 0 ? "0" : "-1",
      "data-kernel": p.kernel,
    });
    if (p.where === "edge") {
      if (asked) {
        group.append(
          svgElement("path", {
            class: "edge-line",
            d: `M${(asked.x + 6).toFixed(1)},${asked.y.toFixed(1)}H${(main.x - 6).toFixed(1)}`,
          }),
        );
      }
      group.append(
        svgElement("path", {
          class: "edge-mark",
          d: `M${(main.x - 5).toFixed(1)},${(main.y - 6).toFixed(1)}l11,6l-11,6z`,
        }),
      );
    }
    group.append(
      svgElement("circle", {class: "ring", cx: main.x.toFixed(2), cy: main.y.toFixed(2), r: p.index > 0 ? "13" : "10"}),
    );
    if (asked && asked !== main) {
      group.append(svgElement("circle", {class: "ring", cx: asked.x.toFixed(2), cy: asked.y.toFixed(2), r: "8"}));
    }
    group.append(
      svgElement(
        "text",
        {x: label.x.toFixed(1), y: label.y.toFixed(1), dy: "0.35em", "text-anchor": "middle"},
        p.label,
      ),
    );
    layer.append(group);
    item.group = group;
  });
}

/** The items whose point, asked point or number is nearest to (x, y), nearest first; items at one place all come. */
function near(items, x, y) {
  const away = items.map((item) => ({
    item,
    far: Math.min(...[item.main, item.asked, item.label].filter(Boolean).map((at) => Math.hypot(at.x - x, at.y - y))),
  }));
  away.sort((a, b) => a.far - b.far);
  if (away.length === 0 || away[0].far > REACH) return [];
  return away.filter(({far}) => far <= away[0].far + 4).map(({item}) => item);
}

/** choose(placed kernel) for what is pointed at, focused or tapped; arrow keys, Home and End go through the items. */
export function listen(svg, items, choose) {
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width; // narrower than drawn, in a window that is
    return near(items, (event.clientX - box.left) / scale, (event.clientY - box.top) / scale);
  };
  let current = null;
  const pick = (item) => {
    current = item;
    choose(item.p);
  };
  svg.addEventListener("pointermove", (event) => {
    const found = at(event);
    if (event.pointerType === "mouse" && found.length > 0 && !found.includes(current)) pick(found[0]);
  });
  // A further tap on points that lie over one another goes to the next of them.
  svg.addEventListener("click", (event) => {
    const found = at(event);
    if (found.length > 0) {
      pick(
        found[
          event.pointerType !== "mouse" || event.detail > 1
            ? (found.indexOf(current) + 1) % found.length
            : Math.max(0, found.indexOf(current))
        ],
      );
    }
  });
  items.forEach((item, i) => {
    item.group.addEventListener("focus", () => {
      for (const other of items) other.group.setAttribute("tabindex", other === item ? "0" : "-1");
      pick(item);
    });
    item.group.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return; // the browser's own, as back is
      const to = {
        ArrowRight: i + 1,
        ArrowDown: i + 1,
        ArrowLeft: i - 1,
        ArrowUp: i - 1,
        Home: 0,
        End: items.length - 1,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      items[(to + items.length) % items.length].group.focus();
    });
  });
}
