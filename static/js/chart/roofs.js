// The names of the roofs and of the ridge, along their lines and where they cover no point.
import {svgElement} from "../parts/dom.js";
import {ratio, si} from "../parts/format.js";
import {boxAt} from "./labels.js";

const textWidth = (text, size = 12) => text.length * size * 0.6;

/** Boxes along a line from (ax, ay) to (bx, by), since a box around all of it would cover half of the chart. */
function boxesAlong(ax, ay, bx, by, thick) {
  const count = Math.max(1, Math.ceil(Math.hypot(bx - ax, by - ay) / thick));
  return Array.from({length: count + 1}, (_, i) =>
    boxAt(ax + ((bx - ax) * i) / count, ay + ((by - ay) * i) / count, thick, thick),
  );
}

// along the roof: the middle first, then ever farther from it
const SHARES = Array.from({length: 21}, (_, i) => 0.5 + (i % 2 ? -0.05 : 0.05) * Math.ceil(i / 2));

const meet = (a, b) => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;

/**
 * A memory roof's name along it, above or below, where it covers nothing. Returns its boxes, or null where there is no
 * such place.
 */
function slopeName(group, [[ax, ay], [bx, by]], text, taken, attributes) {
  const angle = Math.atan2(by - ay, bx - ax);
  const length = Math.hypot(bx - ax, by - ay);
  const width = textWidth(text);
  if (length < width + 20) return null;
  const [ux, uy] = [Math.cos(angle), Math.sin(angle)];
  let best = null;
  for (const side of [11, -11]) {
    for (const share of SHARES) {
      const middle = width / 2 + 10 + share * (length - width - 20);
      const [x, y] = [ax + middle * ux + side * uy, ay + middle * uy - side * ux];
      const boxes = boxesAlong(
        x - (width / 2) * ux,
        y - (width / 2) * uy,
        x + (width / 2) * ux,
        y + (width / 2) * uy,
        11,
      );
      const covered = taken.filter((box) => boxes.some((own) => meet(own, box))).length;
      if (best === null || covered < best.covered) best = {covered, x, y, boxes};
    }
  }
  if (best.covered > 0) return null;
  const turn = `translate(${best.x.toFixed(1)},${best.y.toFixed(1)}) rotate(${((angle * 180) / Math.PI).toFixed(2)})`;
  group.append(svgElement("text", {transform: turn, "text-anchor": "middle", dy: "0.32em", ...attributes}, text));
  return best.boxes;
}

/** A name at one of several places, the first that covers nothing. Returns its box, or null when all are taken. */
function flatName(group, text, places, taken, attributes) {
  for (const {x, y, anchor} of places) {
    const width = textWidth(text);
    const box = boxAt(anchor === "end" ? x - width / 2 : x + width / 2, y - 4, width, 14);
    if (taken.some((other) => meet(box, other))) continue;
    group.append(svgElement("text", {x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor, ...attributes}, text));
    return [box];
  }
  return null;
}

/**
 * The boxes of the first of several texts, from the longest to the shortest, for which there is a place; null where
 * there is none for any: the ceilings stand beside the chart too.
 */
const firstThatFits = (texts, put) => texts.reduce((boxes, text) => boxes ?? put(text), null);

/** Where the name of a series' compute roof may stand: the first run's above the roof first, another one's below. */
function computeRoofPlaces({index, roof, lines}, {px, py, size, margin}) {
  const [right, y] = [size.width - margin.right, py(roof.fma)];
  const left = Math.max(margin.left + 4, px(lines.compute[0][0]) + 4);
  const above = [
    {x: right, y: y - 8, anchor: "end"},
    {x: left, y: y - 8, anchor: "start"},
  ];
  const below = [
    {x: right, y: y + 17, anchor: "end"},
    {x: left, y: y + 17, anchor: "start"},
  ];
  return index === 0 ? [...above, ...below] : [...below, ...above];
}

/** Where a ridge's name may stand: beside it, over the axis. */
function ridgePlaces(roof, text, {px, size, margin}) {
  return [8, 24, 40].flatMap((up) => {
    const y = size.height - margin.bottom - up;
    const end = {x: px(roof.ridge) - 6, y, anchor: "end"};
    return px(roof.ridge) + textWidth(text) + 10 > size.width - margin.right
      ? [end]
      : [{x: px(roof.ridge) + 6, y, anchor: "start"}, end];
  });
}

/** The texts that a series' memory roof may have, from the longest to the shortest. before: its run, or "". */
function memoryRoofTexts({roof, ceilings}, level, before, narrow) {
  const value = si(roof.copy, "B/s");
  return [
    ...(narrow ? [] : [`${before}${level.roofName} ${value}, ${ceilings}`]),
    `${before}${value}`,
    ...(before === "" ? [] : [before.slice(0, -2)]),
  ];
}

/**
 * series: of the scene, each with its lines and the state of its ceilings; dots, joins: boxes of the points and of the
 * lines between them. Names of roofs and ridges are drawn; returns the boxes that they and the roofs themselves cover.
 */
export function roofNames(svg, series, level, {dots, joins}, frame) {
  const {px, py, size, margin} = frame;
  const group = svg.appendChild(svgElement("g", {class: "roof-labels", "aria-hidden": "true"}));
  const pixels = (points) => points.map(([x, y]) => [px(x), py(y)]);
  const narrow = size.width < 500;
  const roofBoxes = series
    .flatMap(({lines}) => [lines.memory, lines.compute])
    .filter((points) => points.length > 0)
    .flatMap((points) => {
      const [a, b] = pixels(points);
      return boxesAlong(...a, ...b, 6);
    });
  const ridgeBoxes = series.flatMap(({roof}) =>
    roof.ridge === null ? [] : boxesAlong(px(roof.ridge), py(roof.fma), px(roof.ridge), size.height - margin.bottom, 4),
  );
  const taken = [...dots];
  for (const one of series) {
    const {run, index, roof, lines} = one;
    const attributes = {class: index === 0 ? null : "second"};
    const before = series.length > 1 ? `run ${run.id}: ` : "";
    const others = index > 0 ? roofBoxes : [];
    const keep = (boxes) => taken.push(...(boxes ?? []));
    if (lines.compute.length > 0) {
      const value = si(roof.fma, "FLOP/s");
      const places = computeRoofPlaces(one, frame);
      const put = (text) => flatName(group, text, places, [...taken, ...others], attributes);
      keep(firstThatFits([`${before}FMA ${value}`, `${before}${value}`], put));
    }
    if (lines.memory.length > 0) {
      const texts = memoryRoofTexts(one, level, before, narrow);
      const line = pixels(lines.memory);
      const among = (more) =>
        firstThatFits(texts, (text) => slopeName(group, line, text, [...taken, ...others, ...more], attributes));
      keep(among(joins) ?? among([]));
    }
    if (roof.ridge !== null) {
      const short = `ridge ${ratio(roof.ridge)}`;
      const put = (text) =>
        flatName(group, text, ridgePlaces(roof, text, frame), [...taken, ...ridgeBoxes], attributes);
      keep(firstThatFits(narrow ? [short] : [`${before}${short}`, short], put));
    }
  }
  return [...taken.slice(dots.length), ...roofBoxes];
}
