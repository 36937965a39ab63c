// The chart's content as a table, newest day first.
import {captionOf, scrolling} from "../../parts/blocks.js";
import {element} from "../../parts/dom.js";
import {change, exact, range} from "../../parts/exact.js";
import {NONE} from "../../parts/format.js";
import {bdi} from "../../parts/inline.js";
import {SHAPES, shapeOf} from "./chart.js";
import {direction, isOfSeries, kindOf, verdict} from "./words.js";

const FOLDED = 30; // rows that stand there without a box of their own to scroll

const known = (point, member) =>
  point[member] === null ? element("span", {title: point.why[member]}, "unknown") : bdi(point[member]);

function row(shell, point, of, chosen, ofSeries) {
  const {band} = point;
  const run = element("a", {href: shell.link("run", {run: point.newest_run})}, `run ${point.newest_run}`);
  const mark = point.foreign === null ? null : element("span", {class: "mark"}, point.foreign);
  const day = element("button", {type: "button", class: "quiet day-button"}, point.day);
  day.addEventListener("click", () => chosen(point));
  return element(
    "tr",
    {class: [`kind-${kindOf(point)}`, direction(point, of)].filter(Boolean).join(" "), "data-day": point.day},
    element("th", {scope: "row"}, day),
    element("td", {class: "words verdict"}, verdict(point, of)),
    element("td", {title: point.median === null ? point.why.median : null}, exact(point.median, of)),
    element(
      "td",
      {},
      point.median === null ? NONE : point.min === point.max ? "one value" : range(point.min, point.max, of),
    ),
    element("td", {title: point.why.band}, band === null ? NONE : range(band.low, band.high, of)),
    element("td", {}, band === null ? NONE : change(point.median, band.median)),
    element("td", {}, point.used === point.runs ? String(point.runs) : `${point.used} of ${point.runs}`),
    ofSeries ? element("td", {}, String(point.series)) : "",
    element("td", {class: "words"}, known(point, "driver")),
    element("td", {class: "words"}, known(point, "cuda")),
    element("td", {class: "words"}, run, mark === null ? "" : " ", mark),
  );
}

export function trendTable(shell, trend, of, chosen) {
  const {points} = trend;
  const ofSeries = isOfSeries(trend);
  const names = [
    ["day (UTC)", "words"],
    ["verdict", "words"],
    ["median", null],
    ["least to greatest", null],
    ["band before it", null],
    ["against its middle", null],
    ["runs", null],
    ...(ofSeries ? [["series", null]] : []),
    ["driver", "words"],
    ["CUDA", "words"],
    ["newest run", "words"],
  ];
  const head = element("tr", {}, ...names.map(([name, kind]) => element("th", {scope: "col", class: kind}, name)));
  const table = element(
    "table",
    {class: "trend-table"},
    captionOf(`${of.name}; each point is the good runs of one day under one driver and CUDA version`),
    element("thead", {}, head),
    element("tbody", {}, ...[...points].reverse().map((point) => row(shell, point, of, chosen, ofSeries))),
  );
  return scrolling("Points of the trend", table, points.length > FOLDED ? {class: "scroll tall"} : {});
}

/** What each shape means; of those outside of a band, the ones that are there. */
export function trendKey(shape, points, of) {
  const outside = new Set(points.filter((point) => kindOf(point) === "outside").map((point) => shapeOf(point, of)));
  const kinds = Object.entries(SHAPES).filter(([kind, {symbol}]) => symbol !== "diamond" || outside.has(kind));
  return element(
    "figcaption",
    {class: "key"},
    ...kinds.map(([kind, {words}]) => element("span", {class: "sample"}, shape(kind), words)),
    element("span", {class: "sample"}, shape("band"), "band: median ± 3 scaled MAD of the baseline runs before"),
    element("span", {class: "sample"}, shape("spread"), "least to greatest of the day"),
    element("span", {class: "sample"}, shape("rule"), "change of driver or CUDA"),
    element("p", {class: "hint axis-note"}, "The axis does not begin at zero."),
  );
}
