// What the views over many runs say in words and figures: of values alone, without a browser.
import assert from "node:assert/strict";
import {dirname, join} from "node:path";
import {pathToFileURL} from "node:url";
import {plain, test} from "../tools/suite.mjs";

/** A module of the page. */
const module = (path) => import(pathToFileURL(join(dirname(process.env.RL_README), "static/js", path)));

/** What the page says of runs that were not measured here, of counts alone. */
async function foreignWordsTests() {
  const {foreignWords} = await module("parts/filters.js");
  await test("runs that were not measured here are counted in words", () => {
    const cases = [
      [2, {}, null],
      [2, {imported: 0, replayed: 0}, null],
      [2, {imported: 2}, "imported"],
      [3, {imported: 1}, "1 of 3 imported"],
      [3, {imported: 0, replayed: 3}, "replayed"],
      [4, {imported: 1, replayed: 2}, "1 of 4 imported, 2 replayed"],
    ];
    for (const [all, counts, words] of cases) assert.equal(foreignWords(all, counts), words);
  });
}

async function matrixWordsTests() {
  const {shortCount} = await module("views/history/matrix.js");
  const {driverWords} = await module("views/history/view.js");
  await test("a cell's count is short", () => {
    for (const [count, text] of [
      [1, "1"],
      [999, "999"],
      [1000, "1k"],
      [1499, "1k"],
      [1500, "2k"],
      [99499, "99k"],
      [100000, "100k"],
      [999499, "999k"],
      [999500, "1M"],
    ]) {
      assert.equal(shortCount(count), text, String(count));
    }
  });
  await test("an unknown driver is not counted as one", () => {
    const words = (...drivers) => plain(driverWords(drivers.map((driver) => ({driver}))));
    assert.deepEqual(
      [words("1", "1"), words("1", "2"), words("1", null), words("1", "2", null, null), words(null)],
      ["1 driver", "2 drivers", "1 driver and unknown ones", "2 drivers and unknown ones", "unknown drivers"],
    );
  });
}

async function runsWordsTests() {
  const {said} = await module("views/runs/view.js");
  const {named} = await module("views/runs/selection.js");
  const items = (...days) => days.map((day) => ({date: `2026-11-${day}T12:00:00Z`}));
  await test("the list says how many runs it has, and whether older ones follow", () => {
    const cases = [
      [{items: items(30, 29), next: null, first: true}, "2 runs, newest first, from 2026-11-29 to 2026-11-30 (UTC)."],
      [
        {items: items(30, 29), next: "x", first: true},
        "The newest 2 runs, from 2026-11-29 to 2026-11-30 (UTC); there are older ones.",
      ],
      [
        {items: items(20, 20), next: "x", first: false},
        "2 older runs, of 2026-11-20 (UTC); there are still older ones.",
      ],
      [{items: items(20), next: null, first: false}, "1 older run, of 2026-11-20 (UTC); none is older."],
      [{items: items(20), next: null, first: true}, "1 run, of 2026-11-20 (UTC)."],
    ];
    for (const [page, words] of cases) assert.equal(plain(said(page)), words);
  });
  await test("marked runs are named, many are counted", () => {
    assert.deepEqual(
      [[], ["4"], ["2", "5"], [..."123456789"]].map((ids) => plain(named(ids))),
      ["none yet", "run 4", "runs 2, 5", "9 runs"],
    );
  });
}

async function figureTests() {
  const {change, exact, range} = await module("parts/exact.js");
  const {quantity} = await module("views/trend/words.js");
  await test("in a trend no line parts a number from its unit; what has none has no space", () => {
    const [time, percent, ratio] = ["time_s", "percent_of_ceiling", "dram_per_ask"].map((metric) =>
      quantity(metric, "kernel"),
    );
    assert.deepEqual(
      [exact(4.6598e-5, time), exact(0, time), exact(87.125, percent), exact(1.00341, ratio), exact(null, time)],
      ["46.598\u00a0µs", "0\u00a0s", "87.13\u00a0%", "1.0034", "–"],
    );
    assert.deepEqual(
      [range(4.6598e-5, 4.7731e-5, time), range(9.9e-4, 1.1e-3, time), range(80, 90, percent)],
      ["46.598 to 47.731\u00a0µs", "990.00\u00a0µs to 1.1000\u00a0ms", "80.00 to 90.00\u00a0%"],
    );
    assert.deepEqual(
      [change(1.05, 1), change(0.9, 1), change(1, 1), change(null, 1)],
      ["+5.00\u00a0%", "−10.00\u00a0%", "0.00\u00a0%", "–"],
    );
  });
  await test("a trend's figures are rounded once, from the number itself", () => {
    // each value lies half of the last digit between two; divided by 1e-6 first, a third of them would fall to the
    // other side (2026-11-30)
    for (let digits = 100005; digits < 1000000; digits += 10) {
      const value = Number(`${digits}e-10`);
      assert.equal(
        exact(value, quantity("time_s", "kernel")),
        `${(Number(`${value.toExponential(4)}`.replace(/e.*/, "")) * 10).toPrecision(5)}\u00a0µs`,
        String(value),
      );
    }
  });
}

async function verdictTests() {
  const {direction, quantity, verdict} = await module("views/trend/words.js");
  await test("a point outside of its band is better or worse by what its quantity is", () => {
    const point = (median, outside = true) => ({
      median,
      outside,
      accepted: false,
      band: {low: 9, high: 11, median: 10},
      why: {},
    });
    for (const [metric, above, below] of [
      ["time_s", "worse", "better"],
      ["dram_bytes", "worse", "better"],
      ["value", "better", "worse"],
      ["percent_of_ceiling", "better", "worse"],
      ["of another day", null, null],
    ]) {
      const of = quantity(metric, "kernel");
      assert.deepEqual(
        [direction(point(12), of), direction(point(8), of), direction(point(10, false), of)],
        [above, below, null],
        metric,
      );
      assert.deepEqual(
        [verdict(point(12), of), verdict(point(8), of), verdict(point(10, false), of)],
        [
          above ? `Above its band: ${above}.` : "Above its band.",
          below ? `Below its band: ${below}.` : "Below its band.",
          "Inside its band.",
        ],
        metric,
      );
    }
  });
}

export async function historyWordsTests() {
  await foreignWordsTests();
  await matrixWordsTests();
  await runsWordsTests();
  await figureTests();
  await verdictTests();
}
