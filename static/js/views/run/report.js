// What a run says besides its figures: checks, ceilings, environment, telemetry, where an import came from, the job's
// transcript.
import {kernelTitle} from "../../chart/model.js";
import * as api from "../../parts/api.js";
import {captionOf, definitions, scrolling} from "../../parts/blocks.js";
import {button} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {download} from "../../parts/download.js";
import {NONE, ceilingName, clockReason, fixed, flag, percent, sentence, si, withUnit} from "../../parts/format.js";
import {predictionScores} from "../../parts/predictions.js";
import {refused} from "../../parts/refused.js";

/** A line of a list: [name, text], or [name, null, why] where it is not known. */
const known = (name, owner, member, text = String) =>
  owner[member] === null || owner[member] === undefined
    ? [name, null, owner.why?.[member] ?? "not said"]
    : [name, text(owner[member])];
const yes = (value) => (value ? "on" : "off");
const bytes = (value) => si(value, "B");
const cell = (text, words = false) => element("td", {class: words ? "words" : null}, text ?? NONE);

export function section(id, title, ...children) {
  return element(
    "section",
    {id, "aria-labelledby": `${id}-title`},
    element("h2", {id: `${id}-title`}, title),
    ...children,
  );
}

function grid(head, rows, caption) {
  const top = element(
    "tr",
    {},
    ...head.map(([name, words]) => element("th", {scope: "col", class: words ? "words" : null}, name)),
  );
  for (const row of rows) row.firstChild.classList.add("rowhead");
  top.firstChild.classList.add("rowhead");
  return element("table", {}, captionOf(caption), element("thead", {}, top), element("tbody", {}, ...rows));
}

/** Checks: those that did not pass first, each with what was seen. */
export function checks(run) {
  const word = (c) => (c.passed === true ? "passed" : c.passed === false ? "failed" : "not made");
  const count = (w) => run.checks.filter((c) => word(c) === w).length;
  const item = (c) =>
    element(
      "li",
      {class: word(c).replace(" ", "-")},
      element("strong", {}, `${word(c)}: `),
      `${c.title}. `,
      element("span", {class: "reason"}, sentence(c.passed === null ? (c.why?.passed ?? "not said") : c.detail)),
    );
  const bad = run.checks.filter((c) => c.passed !== true);
  const good = run.checks.filter((c) => c.passed === true);
  if (run.checks.length === 0) {
    return section(
      "checks",
      "Checks",
      element("p", {}, "This run has no checks: it was not measured by this service."),
    );
  }
  return section(
    "checks",
    "Checks",
    element("p", {}, `${count("passed")} passed, ${count("failed")} failed, ${count("not made")} not made.`),
    bad.length === 0 ? null : element("ul", {class: "checks"}, ...bad.map(item)),
    good.length === 0
      ? null
      : element(
          "details",
          {},
          element("summary", {}, "What was checked"),
          element("ul", {class: "checks"}, ...good.map(item)),
        ),
  );
}

/** Every ceiling with how it was measured. */
export function ceilings(run) {
  if (run.ceilings.length === 0) {
    return section(
      "ceilings",
      "Ceilings",
      element("p", {}, run.import ? "The imported files state none." : "None was measured."),
    );
  }
  const unit = (c) => (c.unit === "byte_per_s" ? "B/s" : "FLOP/s");
  const nominal = (c) => percent(c.percent_of_nominal);
  const rows = run.ceilings.map((c) =>
    element(
      "tr",
      {},
      element("th", {scope: "row"}, ceilingName(c.name)),
      cell(c.state, true),
      element("td", {title: c.value === null ? c.why?.value : null}, si(c.value, unit(c))),
      cell(nominal(c)),
      cell(si(c.time_s.median, "s")),
      cell(c.time_s.n === 0 ? NONE : `${c.time_s.n} × ${c.time_s.launches}`),
      cell(c.sm_hz === null ? NONE : fixed(c.sm_hz, 0, 1e6)),
      cell([c.shape, ...c.flags.map(flag)].filter(Boolean).join("; "), true),
    ),
  );
  const missing = run.ceilings
    .filter((c) => c.value === null)
    .map((c) => element("li", {}, `${ceilingName(c.name)}, ${c.state}: ${c.why?.value ?? "not said"}`));
  const of = [...new Set(run.ceilings.map((c) => c.nominal_of).filter(Boolean))];
  return section(
    "ceilings",
    "Ceilings",
    scrolling(
      "Table of ceilings",
      grid(
        [
          ["ceiling", true],
          ["cache", true],
          ["value"],
          ["of nominal"],
          ["median time"],
          ["samples × launches"],
          ["SM MHz"],
          ["shape", true],
        ],
        rows,
        run.import
          ? "As the imported files state them"
          : "What the card reached in this run; the highest of several shapes",
      ),
    ),
    missing.length === 0 ? null : element("ul", {class: "notes"}, ...missing),
    of.length === 0
      ? null
      : element("p", {class: "reason"}, `Nominal is ${of.join("; ")}: a comparison, nothing is computed from it.`),
  );
}

/** What is known as a list; what is not, below it by reason: an import would else be a column of the same words. */
function panel(title, rows) {
  const byReason = new Map();
  for (const [name, value, why] of rows) if (value === null) byReason.set(why, [...(byReason.get(why) ?? []), name]);
  const lines = rows.filter(([, value]) => value !== null);
  return element(
    "div",
    {class: "panel"},
    element("h3", {}, title),
    lines.length === 0 ? null : definitions(lines),
    ...[...byReason].map(([why, names]) => element("p", {class: "reason"}, `Not known: ${names.join(", ")} (${why}).`)),
  );
}

/** The metrics that were counted: how many, and which when the reader opens them. */
function metricRows(metrics) {
  if (metrics.length === 0) return [];
  const names = metrics.map((m) => element("li", {}, element("code", {}, m.metric)));
  const folded = element(
    "details",
    {},
    element("summary", {}, `${metrics.length}`),
    element("ul", {class: "plain"}, ...names),
  );
  return [["metrics", element("span", {class: "on-paper"}, String(metrics.length)), folded]];
}

export function environment(run) {
  const {device: d, environment: e, counters: c} = run;
  const mhz = (value) => withUnit(fixed(value, 0, 1e6), "MHz");
  return section(
    "environment-section",
    "Environment",
    element(
      "div",
      {class: "panels"},
      panel("Device", [
        ["name", element("bdi", {dir: "auto"}, d.name)],
        known("UUID", d, "uuid"),
        known("chip", d, "chip"),
        known("compute capability", d, "compute_major", (v) => `${v}.${d.compute_minor}`),
        known("SMs", d, "sm_count"),
        known("FP32 lanes per SM", d, "fp32_lanes_per_sm"),
        known("L2", d, "l2_bytes", bytes),
        known("memory", d, "memory_bytes", bytes),
        known("memory bus", d, "memory_bus_bits", (v) => `${v} bit`),
        known("highest SM clock", d, "max_sm_hz", mhz),
        known("highest memory clock", d, "max_memory_hz", mhz),
        known("PCI bus", d, "pci_bus_id"),
      ]),
      panel("Software", [
        known("driver", e, "driver_version"),
        known("CUDA runtime", e, "cuda_runtime_version"),
        known("CUDA of the driver", e, "cuda_driver_version"),
        known("CUPTI", e, "cupti_version"),
        known("made by", e, "build"),
        known("method", e, "method_version", (v) => `version ${v}`),
        known("code for", e, "cubin"),
        known("host", e, "hostname"),
        known("Linux kernel", e, "kernel_release"),
      ]),
      panel("Settings", [
        known("ECC", e, "ecc", yes),
        known("MIG", e, "mig"),
        known("power limit", e, "power_limit_w", (v) => withUnit(fixed(v, 0), "W")),
        known("compute mode", e, "compute_mode"),
        known("persistence mode", e, "persistence_mode"),
        known("counters for administrators only", e, "profiling_admin_only", (v) => (v ? "yes" : "no")),
      ]),
      panel("Counters", [
        ["status", c.status === "ok" ? "ok" : `${c.status.replaceAll("_", " ")}: ${c.reason ?? "not said"}`],
        known("self-test", c, "self_test", (v) => `a copy of known size was counted at ${v.toFixed(6)} of it`),
        known("floor", c, "floor_dram_bytes", (v) => withUnit(v.toLocaleString("en-US"), "DRAM\u00a0bytes")),
        known("passes", c, "passes"),
        ...metricRows(c.metrics ?? []),
      ]),
    ),
  );
}

const reasonWords = (reasons) => (reasons.length === 0 ? "none" : reasons.map(clockReason).join(", "));

/** Where a moment of telemetry stands, in words: "vector_add warm 2" is the row's second measurement. */
function around(run, at) {
  const [, id, rest] = /^(\w+) ((?:warm|cold|mixed).*)$/.exec(at) ?? [];
  if (!id) return at;
  return `${run.kernels.find((row) => row.kernel === id)?.title ?? ceilingName(id)}, ${rest}`;
}

/** "vector_add warm before" and "… after" as one line; what stands alone (start, end) too. */
function paired(telemetry) {
  const lines = new Map();
  for (const t of telemetry) {
    const at = t.at.replace(/ (before|after)$/, "");
    lines.set(at, [...(lines.get(at) ?? []), t]);
  }
  return [...lines];
}

const range = (values, text) => {
  const all = values.filter((v) => typeof v === "number");
  if (all.length === 0) return NONE;
  const [low, high] = [text(Math.min(...all)), text(Math.max(...all))];
  return low === high ? low : `${low} to ${high}`;
};

/** What the driver said of clocks, heat and power around each row. */
export function telemetry(run) {
  const all = run.telemetry;
  if (all.length === 0) return null;
  const mhz = (v) => fixed(v, 0, 1e6);
  const span = (points, member, text) =>
    [...new Set(points.map((t) => (t[member] === null ? NONE : text(t[member]))))].join(" → ");
  const rows = paired(all).map(([at, points]) =>
    element(
      "tr",
      {},
      element("th", {scope: "row", dir: "auto"}, around(run, at)),
      cell(span(points, "sm_hz", mhz)),
      cell(span(points, "memory_hz", mhz)),
      cell(span(points, "temperature_c", (v) => fixed(v, 0))),
      cell(span(points, "power_w", (v) => fixed(v, 0))),
      cell(span(points, "other_processes", String)),
      cell(reasonWords([...new Set(points.flatMap((t) => t.reasons))]), true),
    ),
  );
  const values = (member) => all.map((t) => t[member]);
  return section(
    "telemetry",
    "Telemetry",
    definitions(
      [
        ["SM clock", withUnit(range(values("sm_hz"), mhz), "MHz")],
        ["memory clock", withUnit(range(values("memory_hz"), mhz), "MHz")],
        [
          "temperature",
          withUnit(
            range(values("temperature_c"), (v) => fixed(v, 0)),
            "°C",
          ),
        ],
        [
          "power",
          withUnit(
            range(values("power_w"), (v) => fixed(v, 0)),
            "W",
          ),
        ],
        ["clocks were held down by", reasonWords([...new Set(all.flatMap((t) => t.reasons))])],
      ],
      {class: "facts across"},
    ),
    element(
      "details",
      {},
      element("summary", {}, "Row by row"),
      scrolling(
        "Table of telemetry",
        grid(
          [["around", true], ["SM MHz"], ["memory MHz"], ["°C"], ["W"], ["other processes"], ["reasons", true]],
          rows,
          "Before → after each row; one figure where both are the same",
        ),
      ),
    ),
  );
}

/** Each row's own statistics: what the median is of, clocks inside the kernel, occupancy. */
export function statistics(run, state) {
  const rows = run.kernels
    .filter((row) => row[state])
    .map((row) => {
      const s = row[state];
      const t = s.time_s;
      return element(
        "tr",
        {},
        element("th", {scope: "row", dir: "auto"}, row.title),
        cell(si(t.median, "s")),
        cell(t.p25 === null ? NONE : `${si(t.p25, "s")} to ${si(t.p75, "s")}`),
        cell(si(t.min, "s")),
        cell(t.n === 0 ? NONE : `${t.n} × ${t.launches}`),
        cell(t.stop === null ? NONE : t.stop.replaceAll("_", " "), true),
        cell(s.sm_hz === null ? NONE : fixed(s.sm_hz, 0, 1e6)),
        cell(s.temperature_c === null ? NONE : fixed(s.temperature_c, 0)),
        cell(s.occupancy === null ? NONE : percent(100 * s.occupancy, 0)),
        cell(row.launch.registers),
        cell(row.launch.shape ?? NONE, true),
        cell(reasonWords(s.reasons), true),
      );
    });
  return scrolling(
    "Table of times and launches",
    grid(
      [
        ["kernel", true],
        ["median"],
        ["quartiles"],
        ["least"],
        ["samples × launches"],
        ["ended by", true],
        ["SM MHz"],
        ["°C"],
        ["occupancy"],
        ["registers"],
        ["launch", true],
        ["clocks held by", true],
      ],
      rows,
      `${state} cache; the SM clock is as the kernel itself saw it`,
    ),
  );
}

/** What an imported run was made of; null for others. */
export function origin(run) {
  if (!run.import) return null;
  const kind = {ncu: "Nsight Compute's CSV", timings: "times", recording: "a recording", record: "a published record"};
  const {files, notes} = run.import;
  return section(
    "origin",
    "Where it comes from",
    element(
      "ul",
      {class: "plain"},
      ...files.map((f) =>
        element(
          "li",
          {},
          `${kind[f.kind] ?? f.kind}: ${f.format}, ${f.bytes.toLocaleString("en-US")} bytes, SHA-256 `,
          element("code", {}, f.sha256),
        ),
      ),
    ),
    notes.length === 0
      ? null
      : element("ul", {class: "notes"}, ...notes.map((text) => element("li", {dir: "auto"}, text))),
  );
}

/** The job's transcript, asked for when the reader opens it. */
export function transcript(run, shell) {
  if (run.job === null) return null;
  const place = element("div", {});
  const made = element(
    "details",
    {id: "transcript-details"},
    element("summary", {}, `What the measuring process of job ${run.job} logged`),
    place,
  );
  const read = async () => {
    const again = place.contains(document.activeElement);
    place.replaceChildren(element("p", {class: "loading"}, "Loading the transcript …"));
    if (again) made.querySelector("summary").focus();
    try {
      const text = await api.getText(`/api/v1/jobs/${encodeURIComponent(run.job)}/transcript`, shell);
      place.replaceChildren(
        text === ""
          ? element("p", {}, "It logged nothing.")
          : element("pre", {class: "log", tabindex: "0", role: "region", "aria-label": "What was logged"}, text),
      );
    } catch (error) {
      if (error.name === "AbortError") return;
      place.replaceChildren(refused(error, read));
      place.querySelector("input")?.focus();
    }
  };
  made.addEventListener("toggle", () => {
    if (made.open && !place.querySelector("pre")) read();
  });
  return section("transcript", "Transcript", made);
}

/** How the job's predictions came out, with what is said of why below them; null when there are none. */
export function predictions(run, found, why) {
  if (!found || found.predicted === 0) return null;
  return section(
    "predictions",
    "Predictions",
    ...predictionScores(found, (id) => kernelTitle(run, id)),
    element("p", {class: "reason"}, "Said before the measurement, scored after it."),
    why,
  );
}

/** The run as data. The page asks for it itself: a plain link would go without the token. */
export function data(run, shell) {
  const base = `/api/v1/runs/${encodeURIComponent(run.id)}`;
  const said = element("div", {class: "said", role: "status"});
  const item = ([path, words, ending]) => {
    const name = `rooflined-run-${run.id}${ending}`;
    const take = async () => {
      if (said.contains(document.activeElement)) made.focus();
      said.replaceChildren();
      try {
        download(name, await api.getBlob(path, shell));
        said.replaceChildren(`Saved as ${name}.`);
      } catch (error) {
        if (error.name === "AbortError") return;
        said.replaceChildren(refused(error, take));
        said.querySelector("input")?.focus();
      }
    };
    const made = button(words, take);
    return element("li", {}, made, element("code", {}, path));
  };
  const all = [
    [base, "JSON, whole", ".json"],
    [`${base}.csv`, "CSV", ".csv"],
    [`${base}/table`, "table as text", ".txt"],
    [`${base}/samples`, "raw samples", "-samples.json"],
  ];
  return section(
    "data-section",
    "This run as data",
    element("ul", {id: "data", class: "data"}, ...all.map(item)),
    said,
  );
}
