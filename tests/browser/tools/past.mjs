// Runs of other days, drivers and devices, made from the recording under test and sent to the daemon as imports.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";

const {RL_README, RL_RECORDING} = process.env;

const CEILING = /^(dram_|fp32_)/;

/** A small generator, so that the same test has the same noise: 0 to 1. */
function random(seed) {
  let state = Math.imul(seed + 1, 2654435761) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/**
 * The recording under test as if it had been made at another time under another driver. factor(unit, state): by how
 * much the times of a kernel differ; noise: how far, in parts of one, all times of a row may lie off together.
 */
export function recordingOf({at, driver, cuda = "13.0", device = {}, factor = () => 1, noise = 0.001, seed = 1}) {
  const next = random(seed);
  const rows = new Map();
  const off = (unit, state) => {
    const key = `${unit} ${state}`;
    if (!rows.has(key)) rows.set(key, factor(unit, state) * (1 + noise * (2 * next() - 1)));
    return rows.get(key);
  };
  const lines = readFileSync(RL_RECORDING, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((line) => line.sizes !== "scaled" && line.op !== "end");
  const [header, ...entries] = lines;
  const before = header.environment.driver_version;
  Object.assign(header, {
    recorded_at: at,
    device: {...header.device, ...device},
    environment: {...header.environment, driver_version: driver, cuda_runtime_version: cuda},
  });
  // Only a warm row's longest batches: from the shorter ones the engine works out how long its batches are, and the
  // recording has no others.
  const longest = new Map();
  for (const {op, unit, launches} of entries) {
    if (op === "warm") longest.set(unit, Math.max(launches, longest.get(unit) ?? 0));
  }
  const measured = ({op, unit, launches}) => op === "cold" || (op === "warm" && launches === longest.get(unit));
  for (const entry of entries) {
    if (entry.op === "driver_now") entry.values = entry.values.map((value) => (value === before ? driver : value));
    if (measured(entry) && !CEILING.test(entry.unit)) {
      entry.time_s = entry.time_s.map((time) => time * off(entry.unit, entry.op));
    }
  }
  return [header, ...entries, {op: "end", entries: entries.length}].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Sends an import; gives the run. */
export async function importForm(daemon, fields) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (["recording", "timings", "ncu", "record"].includes(name)) form.set(name, new Blob([value]), `${name}.jsonl`);
    else form.set(name, value);
  }
  const response = await fetch(`${daemon.url}/api/v1/imports`, {method: "POST", body: form});
  const text = await response.text();
  assert.equal(response.status, 201, text);
  return JSON.parse(text);
}

export const importRecording = (daemon, past) => importForm(daemon, {recording: recordingOf(past)});

/**
 * The published record of a Tesla T4, an import for each of its entries by the entry's date; gives the runs, in the
 * record's order.
 */
export async function importT4(daemon) {
  const record = readFileSync(join(dirname(RL_README), "deploy/records/t4.json"), "utf8");
  const runs = [];
  for (const {date} of JSON.parse(record).entries) runs.push(await importForm(daemon, {record, date}));
  return runs;
}

const DAY_MS = 86400000;
const NOW = Date.now(); // once, so that a day is the same one when a test goes over midnight
/** The UTC day so many days before the tests began. */
export const dayAgo = (days) => new Date(NOW - days * DAY_MS).toISOString().slice(0, 10);

export const HOSTILE = ["<img src=x onerror=alert(1)>", "std::vector<int>", "x".repeat(120), "مصفوفة ×"];
export const BEFORE = "570.133.20";
export const AFTER = "580.159.04";
/** Under the newer driver one row is 5 percent slower, one 10 percent faster. */
const factor = (unit, state) => (unit === "vector_add" && state === "warm" ? 1.05 : unit === "matmul_naive" ? 0.9 : 1);

/**
 * Fills a daemon with runs of two drivers, eight each on four days each with a gap between, and with one timed-only run
 * for each hostile name of a device. Gives {device, days: {before, after}}: days from the oldest on.
 */
export async function fillPast(daemon) {
  const days = {before: [40, 39, 38, 37].map(dayAgo), after: [20, 19, 18, 17].map(dayAgo)};
  const wanted = [
    ["before", BEFORE, undefined],
    ["after", AFTER, factor],
  ].flatMap(([when, driver, by], side) =>
    days[when].flatMap((day, i) =>
      ["06:30", "19:45"].map((time, j) => ({
        at: `${day}T${time}:00.000Z`,
        driver,
        factor: by,
        noise: 0.002,
        seed: 1 + side * 100 + i * 10 + j,
      })),
    ),
  );
  const runs = [];
  for (const past of wanted) runs.push(await importRecording(daemon, past));
  for (const [i, name] of HOSTILE.entries()) {
    await importForm(daemon, {
      timings: '{"kernel":"vector_add","ms":0.05}\n',
      device: name,
      driver: "595.84",
      cuda: "12.6",
      date: days.after[i],
      sizes: "course",
    });
  }
  return {device: runs[0].device.id, days};
}
