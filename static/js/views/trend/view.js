// Trend, #view=trend&device=…&kernel=…&state=…&metric=…: one quantity of one row of one device over days, with its
// noise band.
import {STATES} from "../../chart/model.js";
import * as api from "../../parts/api.js";
import {definitions, empty, notice, passedOver} from "../../parts/blocks.js";
import {button, checkbox, chooser, dayInput, field, suggested} from "../../parts/controls.js";
import {deviceLabel, distinct, knownDevices, noneHasRuns} from "../../parts/devices.js";
import {element, svgElement} from "../../parts/dom.js";
import {change, exact, range} from "../../parts/exact.js";
import {
  HISTORY_SOURCE,
  SIZES,
  SOURCES,
  SUITES,
  anyRun,
  foreign,
  foreignWords,
  nothingYet,
  read,
  region,
  watch,
} from "../../parts/filters.js";
import {focusOn} from "../../parts/focus.js";
import {NBSP} from "../../parts/format.js";
import {bdi, unbroken} from "../../parts/inline.js";
import {acceptForm, acceptedList} from "./accept.js";
import {SHAPES, trendChart} from "./chart.js";
import {trendKey, trendTable} from "./table.js";
import {deviceRows, settleMetric, settleUnit, shortened} from "./units.js";
import {METRICS, direction, isOfSeries, kindOf, metricsOf, quantity, verdict, workKey} from "./words.js";

export const css = "/css/history.css";

const NAMES = ["device", "kernel", "state", "metric", "suite", "sizes", "source", "driver", "cuda", "since", "until"];

/** A shape of the key, as the chart draws it. */
function shape(kind) {
  const svg = svgElement("svg", {width: "18", height: "16", viewBox: "-9 -8 18 16", "aria-hidden": "true"});
  const colours = SHAPES[kind] ?? {};
  const paths = {
    circle: "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z",
    diamond: "M0,-7L5,0L0,7L-5,0z",
    square: "M-5,-5h10v10h-10z",
  };
  if (kind === "band") {
    svg.append(svgElement("rect", {x: "-9", y: "-6", width: "18", height: "12", fill: "var(--band)"}));
  } else if (kind === "rule") {
    svg.append(svgElement("path", {d: "M0,-8V8", stroke: "var(--muted)", "stroke-dasharray": "4 3"}));
  } else if (kind === "accepted") {
    svg.append(
      svgElement("path", {d: "M0,-8V8", stroke: colours.fill, "stroke-width": "1.5"}),
      svgElement("path", {d: paths.square, fill: colours.fill, stroke: colours.stroke, "stroke-width": "1.8"}),
    );
  } else if (kind === "spread") svg.append(svgElement("path", {d: "M0,-8V8", stroke: "var(--join)"}));
  else {
    svg.append(
      svgElement("path", {d: paths[colours.symbol], fill: colours.fill, stroke: colours.stroke, "stroke-width": "1.8"}),
    );
  }
  return svg;
}

function controls(state, devices, units) {
  const versions = devices.find((device) => device.id === state.device)?.versions ?? [];
  const group = (label, is) => ({label, options: units.filter(is).map((unit) => [unit.id, unit.label ?? unit.title])});
  const groups = [
    group("kernels", (one) => one.kind === "kernel" && !one.suite),
    group("ceilings", (one) => one.kind !== "kernel"),
    group("in imports of this device", (one) => one.suite),
  ];
  const unit = units.find((one) => one.id === state.kernel);
  return element(
    "form",
    {class: "toolbar many", "aria-label": "Which trend"},
    field(
      "Device",
      chooser(
        "device",
        devices.map((device) => [device.id, deviceLabel(device, devices)]),
        state.device,
      ),
      {broad: true},
    ),
    field(
      "Kernel or ceiling",
      chooser(
        "kernel",
        groups.filter(({options}) => options.length > 0),
        state.kernel,
      ),
      {broad: true},
    ),
    field(
      "Quantity",
      chooser(
        "metric",
        (unit ? metricsOf(unit) : Object.keys(METRICS)).map((metric) => [metric, METRICS[metric].name]),
        state.metric,
      ),
      {broad: true},
    ),
    field("Source", chooser("source", SOURCES, state.source), {broad: true}),
    field(
      "Cache",
      chooser(
        "state",
        STATES.map((name) => [name, name]),
        state.state,
      ),
    ),
    field("Suite", chooser("suite", [["", SUITES[0][1]], SUITES[1]], state.suite)),
    field("Sizes", chooser("sizes", SIZES, state.sizes)),
    field("Driver", suggested("driver", distinct(versions.map((version) => version.driver)), state.driver)),
    field("CUDA", suggested("cuda", distinct(versions.map((version) => version.cuda)), state.cuda)),
    field("Since day (UTC)", dayInput("since", state.since)),
    field("Before day (UTC)", dayInput("until", state.until)),
  );
}

/** Gives each point its foreign: what of its runs was not measured here, in words, or null. */
function markForeign(trend, answers) {
  const of = (answer, point) => `${point.day} ${point.driver} ${point.cuda} ${workKey(answer, point)}`;
  const counts = Object.entries(answers)
    .filter(([, answer]) => answer !== null)
    .map(([source, answer]) => [source, new Map(answer.points.map((point) => [of(answer, point), point.runs]))]);
  for (const point of trend.points) {
    point.foreign = foreignWords(
      point.runs,
      Object.fromEntries(counts.map(([source, runs]) => [source, runs.get(of(trend, point)) ?? 0])),
    );
  }
}

/** Above the chart, where all of its runs are of one kind that was not measured here. */
function markOf(points) {
  const [first] = points;
  if (first.foreign === null || points.some((point) => point.foreign !== first.foreign)) return null;
  const words = {
    imported: "Imported runs, not measured by this service",
    replayed: "Replayed runs, not measured on these days",
  }[first.foreign];
  return words ? element("p", {class: "mark"}, words) : null;
}

/** What the reader asked for, and where they did not say, what there is most likely something of. */
function complete(params, devices, units) {
  const state = read(params, NAMES);
  state.device ||= devices[0]?.id ?? "";
  state.kernel ||= units[0].id;
  state.state ||= "warm";
  state.sizes ||= "course";
  settleMetric(
    state,
    units.find((one) => one.id === state.kernel),
  );
  return state;
}

function summary(trend, of) {
  const count = (kind) => trend.points.filter((point) => kindOf(point) === kind).length;
  const runs = trend.points.reduce((all, point) => all + point.runs, 0);
  const [first, last] = [trend.points[0].day, trend.points.at(-1).day];
  const days = first === last ? ["on ", unbroken(first)] : [unbroken(first), " to ", unbroken(last)];
  const parts = [];
  if (trend.points.some((point) => point.band !== null)) {
    parts.push(
      count("outside") === 0
        ? "None is outside of its band."
        : `${count("outside")} outside of ${count("outside") === 1 ? "its" : "their"} band.`,
    );
  }
  if (count("accepted") > 0) {
    parts.push(`${count("accepted")} ${count("accepted") === 1 ? "is an accepted change" : "are accepted changes"}.`);
  }
  const without = trend.points.filter((point) => point.band === null && point.median !== null);
  if (without.length === trend.points.length) parts.push(`There is no band yet: ${without.at(-1).why.band}.`);
  else if (without.length > 0) parts.push(`${without.length} without a band, for want of baseline runs.`);
  if (METRICS[trend.metric]?.better) parts.push(`${of.better === "lower" ? "Lower" : "Higher"} is better.`);
  return element(
    "p",
    {class: "lead said", role: "status"},
    `${trend.points.length} ${trend.points.length === 1 ? "point" : "points"} of ${runs.toLocaleString("en-US")} ` +
      `${runs === 1 ? "run" : "runs"}, `,
    ...days,
    `${NBSP}(UTC). ${parts.join(" ")}`,
  );
}

/** What the points' series are, and why they are not held against one another; null where there is one work alone. */
function seriesList(trend) {
  if (!isOfSeries(trend)) return null;
  return element(
    "section",
    {class: "trend-series"},
    element("h2", {}, "Series"),
    element(
      "p",
      {class: "hint"},
      "Points are held against the band of their own series alone: the chart breaks where another begins.",
    ),
    element(
      "ol",
      {},
      ...trend.series.map(({number, sentence}) => element("li", {value: String(number)}, bdi(sentence))),
    ),
  );
}

function detail(shell, point, of, accept, trend) {
  const used = point.used === point.runs ? point.runs : `${point.used} of ${point.runs} used`;
  const facts = definitions([
    ["median", exact(point.median, of)],
    [
      "least to greatest",
      point.median === null ? null : point.min === point.max ? "one value" : range(point.min, point.max, of),
    ],
    ["runs", point.foreign === null ? `${used}` : `${used}, ${point.foreign}`],
    ...(isOfSeries(trend)
      ? [["series", `${point.series} of ${trend.series.length}: ${trend.series[point.series - 1].sentence}`]]
      : []),
    ["driver", point.driver === null ? point.why.driver : bdi(point.driver)],
    ["CUDA", point.cuda === null ? point.why.cuda : bdi(point.cuda)],
    ...(point.band === null
      ? []
      : [
          ["band before it", range(point.band.low, point.band.high, of)],
          ["its middle", `${exact(point.band.median, of)} (${point.band.runs} runs)`],
          ["against its middle", change(point.median, point.band.median)],
        ]),
  ]);
  return [
    element("h2", {}, `${point.day} UTC`),
    facts,
    element("p", {class: ["advice", direction(point, of)].filter(Boolean).join(" ")}, verdict(point, of)),
    element(
      "div",
      {class: "buttons"},
      element(
        "a",
        {class: "button", href: shell.link("run", {run: point.newest_run})},
        `Newest run: ${point.newest_run}`,
      ),
      point.foreign === null ? "" : element("span", {class: "mark"}, point.foreign),
      point.outside ? button("Accept this change …", () => accept(point)) : "",
    ),
  ];
}

function nothing(shell, state, trend, unit) {
  const words =
    state.source === ""
      ? "Replayed runs are left out unless they are asked for."
      : "Choose another row, cache state, device or other days.";
  return [
    titleOf(trend, unit),
    empty(
      "No point in this trend",
      element(
        "p",
        {},
        "No good run of ",
        bdi(unit?.title ?? trend.kernel),
        `, ${trend.state}, ${trend.sizes} sizes, between `,
        unbroken(trend.since),
        " and ",
        unbroken(trend.until),
        `${NBSP}(UTC). ${words}`,
      ),
      passedOver(trend.excluded),
      state.source === ""
        ? element(
            "p",
            {class: "on-screen"},
            element("a", {href: shell.link("trend", {...state, source: "any"})}, "Show replayed runs too"),
          )
        : null,
    ),
  ];
}

/** The trend as the state asks for it, its points marked where their runs were not measured here. */
async function marked(state, signal) {
  const ask = (source) => api.get(api.address("/api/v1/trend", {...state, source}), {signal});
  const trend = await ask(state.source);
  for (const point of trend.points) point.ofSeries = isOfSeries(trend) ? `, series ${point.series}` : "";
  markForeign(trend, await foreign(state.source, (source) => (source === state.source ? trend : ask(source))));
  return trend;
}

/**
 * The form in its place. What the reader changes goes into the state, with what follows from it; then changed(name) is
 * called. Gives {box, fill(name)}: fill draws it anew and puts the focus onto that field.
 */
function formSide(state, devices, rows, changed) {
  const box = element("div", {});
  return {
    box,
    fill(name) {
      const form = controls(state, devices, rows.all());
      watch(form, (changedName, value) => {
        const before = rows.chosen();
        state[changedName] = value;
        if (changedName === "kernel") settleUnit(state, rows.chosen(), before);
        settleMetric(state, rows.chosen());
        return changed(changedName);
      });
      box.replaceChildren(form);
      if (name) box.querySelector(`[name="${name}"]`).focus();
    },
  };
}

const heading = () => [
  element("h1", {}, "Trend"),
  element("p", {class: "lead"}, "One quantity of one row over days, held against the noise of the runs before it."),
];

export async function show(root, params, shell) {
  const [devices, {items: catalogue}] = await Promise.all([
    knownDevices(shell.signal),
    api.get("/api/v1/kernels", shell),
  ]);
  const head = heading();
  if (noneHasRuns(devices) && !(await anyRun(shell.signal))) {
    root.replaceChildren(...head, nothingYet(shell));
    return null;
  }
  const state = complete(params, devices, catalogue);
  const rows = deviceRows(state, catalogue);
  const place = element("div", {class: "trend-place"});
  const accepting = element("div", {class: "accepting"});
  const form = formSide(state, devices, rows, async (name) => {
    shell.setParameters(state);
    accepting.replaceChildren();
    if (name === "kernel") form.fill(name);
    await refresh();
  });
  let draw = null;
  const refresh = region(shell, place, async (signal) => {
    if (rows.device() !== state.device) await settleDevice(signal);
    const trend = await marked(state, signal);
    const made =
      trend.points.length === 0
        ? {nodes: nothing(shell, state, trend, rows.chosen()), draw: null}
        : body(shell, trend, rows.all(), accepted);
    return {
      nodes: made.nodes,
      shown: () => {
        draw = made.draw;
        shell.title(`${shortened(rows.chosen()?.title ?? trend.kernel)} ${trend.state}, trend`);
        draw?.();
      },
    };
  });
  async function settleDevice(signal) {
    const first = rows.device() === null;
    if (!(await rows.settle(signal))) return;
    if (!first) shell.setParameters(state);
    form.fill(form.box.querySelector(":focus")?.name);
  }
  async function accepted(point, trend) {
    const done = async (run) => {
      const words = `Accepted from run ${run} on: the band begins anew there.`;
      const said = notice("good", element("p", {role: "status"}, words));
      accepting.replaceChildren(said);
      focusOn(said);
      await refresh();
    };
    const left = () => (place.querySelector(".trend-detail button") ?? place.querySelector(".day-button"))?.focus();
    await acceptForm(shell, point, {...trend, title: rows.chosen()?.title ?? trend.kernel}, accepting, done, left);
  }
  form.fill();
  await refresh();
  root.replaceChildren(...head, form.box, accepting, place);
  draw?.();
  return {redraw: () => draw?.()};
}

/** The point that began the newest change, else the newest point. */
function firstOfLast(points) {
  let index = points.findLastIndex((point) => point.outside);
  while (index > 0 && points[index - 1].outside) index--;
  return index < 0 ? points.length - 1 : index;
}

const named = (list, value) => list.find(([given]) => given === value)?.[1] ?? value;

const runsOf = (source) =>
  source === "any" ? "runs of every source" : `runs ${named(SOURCES, source === HISTORY_SOURCE ? "" : source)}`;

/** What the trend is of; on paper, where the form is not, all of it. */
function titleOf(trend, unit) {
  const of = quantity(trend.metric, unit?.kind);
  return element(
    "h2",
    {class: "trend-title"},
    bdi(unit?.title ?? trend.kernel),
    `, ${trend.state}: ${of.name}`,
    element(
      "span",
      {class: "second"},
      bdi(trend.device.name),
      `, ${trend.sizes} sizes, `,
      element("span", {class: "on-paper"}, `${named(SUITES, trend.suite)}, ${runsOf(trend.source)}, `),
      element("span", {class: "device-id"}, bdi(trend.device.id)),
    ),
  );
}

/** The changes that the chart has rules for, in words. */
function changesOf({rules, shortened: firstDays}) {
  if (rules.length === 0) return [];
  const words = rules.flatMap((rule, i) => [
    i === 0 ? "Changes: on " : "; on ",
    unbroken(rule.x.toISOString().slice(0, 10)),
    ` (UTC) to ${rule.words}`,
  ]);
  return [...words, firstDays ? "; only the first day of each driver is marked." : "."];
}

/** {nodes, draw}: the chart needs to stand on the page before it can be drawn to fit. */
function body(shell, trend, units, accept) {
  const unit = units.find((one) => one.id === trend.kernel);
  const of = quantity(trend.metric, unit?.kind);
  const place = element("div", {class: "trend-chart"});
  const side = element(
    "div",
    {class: "trend-detail"},
    element("p", {class: "hint"}, "Point at the chart, tap it, or go through it with the arrow keys."),
  );
  const rules = element("p", {class: "hint rules"});
  let chosen = firstOfLast(trend.points);
  const choose = (index) => {
    chosen = index;
    side.replaceChildren(...detail(shell, trend.points[index], of, (point) => accept(point, trend), trend));
  };
  let chart = null;
  const draw = () => {
    const width = Math.floor(place.clientWidth);
    if (width < 50) return;
    const focused = place.contains(document.activeElement);
    chart = trendChart(trend.points, of, width, (item) => choose(item.index));
    place.replaceChildren(
      chart ? chart.svg : empty("No value", element("p", {}, `No point has one: ${trend.points[0].why.median}.`)),
    );
    rules.replaceChildren(...(chart ? changesOf(chart) : []));
    if (chart) chart.chooseIndex(chosen, focused);
    else choose(chosen); // there is no chart to point at
  };
  const table = trendTable(shell, trend, of, (point) => {
    choose(trend.points.indexOf(point));
    chart?.chooseIndex(chosen);
    place.scrollIntoView({block: "nearest"});
  });
  const only = checkbox("only points outside of their band", false, (on) => table.classList.toggle("only-outside", on));
  only.className = "check";
  const mark = markOf(trend.points);
  const nodes = [
    titleOf(trend, unit),
    mark,
    summary(trend, of),
    element(
      "div",
      {class: "chart-and-list"},
      element("figure", {class: "chart"}, place, trendKey(shape, trend.points, of), rules),
      side,
    ),
    seriesList(trend),
    acceptedList(shell, trend),
    element("section", {}, element("div", {class: "list-head"}, element("h2", {}, "The same as a table"), only), table),
    passedOver(trend.excluded),
  ];
  return {nodes: nodes.filter(Boolean), draw};
}
