// One run on the page: head, ceilings, chart with its list, table, checks, links.
import {roofline} from "./chart.js";
import {byId, element, svgElement} from "./dom.js";
import {NONE, fixed, local, ratio, si, sourceMark, utc} from "./format.js";
import {ceiling, roofs, statesOf} from "./model.js";
import {notes, table} from "./table.js";

function head(run) {
  const {environment: env, device} = run;
  byId("title").textContent = device.name;
  const mark = sourceMark(run);
  byId("mark").hidden = mark === null;
  byId("mark").textContent = mark ?? "";
  const when = element("time", {datetime: run.date}, new Date(run.date).getTimezoneOffset() === 0 ? utc(run.date) : `${utc(run.date)} (${local(run.date)})`);
  const known = (text, before) => (text === null ? `${before} not known` : `${before} ${text}`);
  byId("environment").replaceChildren(
    `${known(env.driver_version, "driver")} · ${known(env.cuda_runtime_version, "CUDA")} · ${run.sizes} sizes · run ${run.id} of `, when);
}

function figure(label, value, note) {
  return element("div", {class: "figure"}, element("p", {class: "label"}, label), element("p", {class: "value"}, value), element("p", {class: "note"}, note));
}

function nominal(found) {
  if (!found) return "not measured";
  if (found.value === null) return found.why?.value ?? "not known";
  const of = found.unit === "byte_per_s" ? "memory clock × bus width" : "SM clock × FP32 lanes";
  return found.percent_of_nominal === null ? "measured" : `measured, ${fixed(found.percent_of_nominal, 1)} % of ${of}`;
}

function summary(run, state) {
  const {copy, fma, ridge} = roofs(run, state);
  byId("summary").replaceChildren(
    figure(`copy ceiling, ${state}`, si(copy, "B/s"), nominal(ceiling(run, "dram_copy", state))),
    figure("FMA ceiling", si(fma, "FLOP/s"), nominal(ceiling(run, "fp32_fma", "warm"))),
    figure("ridge", ridge === null ? NONE : `${ratio(ridge)} FLOP/B`, "left of it memory limits, right of it arithmetic"));
}

function detail(p) {
  const row = (name, value) => [element("dt", {}, name), element("dd", {}, value)];
  const {of} = p;
  const roofName = p.row.flop === 0 ? "of its roof for bytes" : "of its roof";
  return [
    element("h3", {}, element("span", {class: "badge"}, String(p.number)), p.title),
    element("dl", {},
      ...row("measured intensity", p.measured === null ? p.why : `${ratio(p.measured)} FLOP/B`),
      ...row("asked intensity", p.asked === null ? NONE : `${ratio(p.asked)} FLOP/B`),
      ...row("rate", si(p.rate, "FLOP/s")),
      ...row(roofName, of.percent_of_roof === null ? of.why?.percent_of_roof ?? NONE : `${fixed(of.percent_of_roof, 1)} %`),
      ...row("bound", of.bound ?? of.why?.bound ?? NONE)),
    element("p", {class: "advice"}, of.advice ?? of.why?.advice ?? ""),
  ];
}

function key() {
  const sample = (name, ...shapes) => element("span", {class: "sample"}, svgElement("svg", {width: 34, height: 14, "aria-hidden": "true"}, ...shapes), name);
  const shape = (name, attributes) => svgElement(name, attributes);
  return [
    sample("memory bound", shape("circle", {cx: 17, cy: 7, r: 5, class: "fill-circle"})),
    sample("compute bound", shape("rect", {x: 12, y: 2, width: 10, height: 10, class: "fill-square"})),
    sample("latency bound", shape("path", {d: "M17,1L23,12H11Z", class: "fill-triangle"})),
    sample("where the asked bytes would put it", shape("path", {d: "M8,7H34", class: "join"}), shape("circle", {cx: 6, cy: 7, r: 4, class: "ask"})),
    sample("too few DRAM bytes to count", shape("path", {d: "M12,1l11,6l-11,6z", class: "fill-edge"})),
    element("span", {class: "hint"}, "Point at a number, tap it, or reach it with Tab and the arrow keys: its bound and what to do next stand beside the chart."),
  ];
}

function lists(placed, choose) {
  const shown = placed.filter((p) => p.where === "point");
  const item = (p) => {
    const roof = p.of.percent_of_roof === null ? NONE : `${fixed(p.of.percent_of_roof, 0)} %`;
    const made = element("li", {"data-kernel": p.kernel}, element("span", {class: "badge"}, String(p.number)), element("span", {class: "name"}, p.title),
      element("span", {class: "share", title: "percent of its roof"}, roof));
    made.addEventListener("pointerenter", () => choose(p));
    made.addEventListener("click", () => choose(p));
    return made;
  };
  byId("legend").replaceChildren(...shown.map(item));
  const absent = placed.filter((p) => p.where !== "point");
  const reason = (p) => {
    const rest = [p.where === "edge" ? "at the right edge" : null, p.where === "none" && p.asked !== null ? "only its asked point is drawn" : null].filter(Boolean);
    return [p.why, ...rest].join("; ");
  };
  byId("absent").replaceChildren(...(absent.length === 0 ? [] : [
    element("h3", {}, "Without a measured point"),
    element("ul", {class: "absent"}, ...absent.map((p) => element("li", {"data-kernel": p.kernel}, element("span", {class: "badge"}, String(p.number)),
      element("span", {class: "name"}, p.title, element("span", {class: "reason"}, reason(p)))))),
  ]));
}

function checks(run) {
  const word = (c) => (c.passed === true ? "passed" : c.passed === false ? "failed" : "not made");
  const count = (w) => run.checks.filter((c) => word(c) === w).length;
  const item = (c) => element("li", {class: word(c).replace(" ", "-")}, element("strong", {}, `${word(c)}: `), `${c.title}. `,
    element("span", {class: "reason"}, c.passed === null ? c.why?.passed ?? "" : c.detail));
  const bad = run.checks.filter((c) => c.passed !== true);
  const good = run.checks.filter((c) => c.passed === true);
  byId("checks").replaceChildren(
    element("p", {}, `${count("passed")} passed, ${count("failed")} failed, ${count("not made")} not made.`),
    ...(bad.length === 0 ? [] : [element("ul", {class: "checks"}, ...bad.map(item))]),
    element("details", {}, element("summary", {}, "What was checked"), element("ul", {class: "checks"}, ...good.map(item))));
}

function outcome(run) {
  const words = [];
  if (run.outcome === "refused") words.push("This run is refused: a result was wrong, so its figures are evidence and no roofline.");
  if (run.outcome === "partial") words.push("This run is partial: something that was asked for is missing.");
  if (run.outcome !== "ok") words.push(run.outcome_reasons.join("; "));
  if (run.counters.status !== "ok") words.push(`No byte counters: ${run.counters.reason ?? run.counters.status}. Times and rates are measured; byte columns and intensities are empty.`);
  return words.map((text) => element("p", {class: "notice"}, text));
}

function links(run) {
  const base = `/api/v1/runs/${encodeURIComponent(run.id)}`;
  const link = (path, text) => element("li", {}, element("a", {href: path}, text));
  byId("data").replaceChildren(link(base, "JSON, whole"), link(`${base}.csv`, "CSV"), link(`${base}/table`, "table as text"), link(`${base}/samples`, "raw samples"));
}

/** Shows a run. setState(state) is called when the reader asks for the other cache state. Returns a function that redraws the chart. */
export function show(run, wanted, setState) {
  const states = statesOf(run);
  let state = states.includes(wanted) ? wanted : states[0] ?? "warm";
  let chosen = null;
  let chart = null;

  const choose = (p) => {
    chosen = p.kernel;
    chart.mark(p.kernel);
    byId("detail").replaceChildren(...detail(p));
    for (const item of document.querySelectorAll(".legend li, .absent li, tbody tr")) item.classList.toggle("is-chosen", item.dataset.kernel === p.kernel);
  };
  const redraw = () => {
    const box = byId("chart");
    const focused = box.contains(document.activeElement) ? document.activeElement.dataset.kernel : null;
    chart = roofline(run, state, Math.max(300, Math.floor(box.clientWidth)), choose);
    box.replaceChildren(chart.svg);
    chart.mark(chosen);
    if (focused) chart.svg.querySelector(`[data-kernel="${CSS.escape(focused)}"]`)?.focus();
    return chart.placed;
  };
  const draw = () => {
    summary(run, state);
    const placed = redraw();
    lists(placed, choose);
    const first = placed.find((p) => p.kernel === chosen && p.of) ?? placed.find((p) => p.where === "point") ?? placed.find((p) => p.rate !== null);
    if (first) choose(first);
    else byId("detail").replaceChildren(element("p", {class: "hint"}, "No kernel of this run has a place on the chart."));
    byId("table-scroll").replaceChildren(table(run, state));
    byId("table-notes").replaceChildren(...[notes(run, state)].filter(Boolean));
  };

  head(run);
  byId("states").replaceChildren(element("legend", {}, "Cache"), ...states.map((name) => {
    const input = element("input", {type: "radio", name: "state", value: name, checked: name === state});
    input.addEventListener("change", () => {
      state = name;
      setState(name);
      draw();
    });
    return element("label", {}, input, name);
  }));
  byId("key").replaceChildren(...key());
  byId("notices").replaceChildren(...outcome(run));
  checks(run);
  links(run);
  draw();
  return redraw;
}
