// The run view's choices in Chromium: level, a run laid over, kernels put away, sorting, what is taken away, and what
// stands below the table.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {pathToFileURL} from "node:url";
import {checkDetail, checkNumbers, checkPoints, withDocument} from "../roofline/checks.mjs";
import {fill} from "../tools/addresses.mjs";
import {axe, launch, open, show} from "../tools/browser.mjs";
import {start} from "../tools/daemon.mjs";
import {sameFigure} from "../tools/figures.mjs";
import {importForm} from "../tools/past.mjs";
import {test} from "../tools/suite.mjs";
import {choosing, overlay} from "./overlay.mjs";
import {ceilingsOnly, report, withToken} from "./report.mjs";

async function levels(browser, daemon, ids, document) {
  for (const level of ["l2", "l1"]) {
    await test(`${level}: points at that level's intensity, no roof that was not measured, said in words`, async () => {
      const {page, done} = await open(browser);
      await show(page, `${daemon.url}/#run=${ids.run}`);
      await page.getByRole("radio", {name: level.toUpperCase()}).check();
      assert.match(page.url(), new RegExp(`level=${level}`));
      await checkPoints(page, document, "warm", level);
      await checkNumbers(page);
      assert.match(await page.locator("#said").innerText(), new RegExp(`No ${level.toUpperCase()} roof was measured`));
      assert.match(await page.locator("#summary").innerText(), /points only/);
      assert.equal(await page.locator(".roof-labels text").count(), 1); // the FMA chain's, which holds at all levels
      await page.reload();
      await page.locator("#run table tbody tr").first().waitFor();
      await checkPoints(page, document, "warm", level);
      await done();
    });
  }
  await test("a run that has an L2 roof gets it drawn, with its ridge", async () => {
    const changed = structuredClone(document);
    changed.ceilings.push({...structuredClone(changed.ceilings[0]), name: "l2_read", value: 8e12});
    await withDocument(browser, daemon, changed, async (page) => {
      await page.getByRole("radio", {name: "L2"}).check();
      assert.equal(await page.locator("#said").innerText(), "");
      const words = (await page.locator(".roof-labels text").allTextContents()).join("; ");
      assert.match(words, /L2 read 8.00\sTB\/s, warm/);
      assert.match(words, /ridge 8\.19/);
    });
  });
  await test("a kernel whose result is wrong has no point, and is named with the reason", async () => {
    const changed = structuredClone(document);
    changed.outcome = "refused";
    changed.outcome_reasons = ["result_polynomial256 failed"];
    changed.checks.find((c) => c.name === "result_polynomial256").passed = false;
    await withDocument(browser, daemon, changed, async (page) => {
      assert.equal(await page.locator('.point[data-kernel="polynomial256"]').count(), 0);
      assert.match(await page.locator('.absent li[data-kernel="polynomial256"]').innerText(), /its result is wrong/);
      assert.match(await page.locator('tbody tr[data-kernel="polynomial256"]').innerText(), /wrong result/);
      assert.match(await page.locator("#checks").innerText(), /failed: the output of polynomial, 256/);
    });
  });
}

/**
 * Goes through every point of a run's state, at each level, and holds each figure against the API's; gives how many
 * there were.
 */
async function everyPoint(browser, daemon, id, state) {
  const document = (await daemon.ask("GET", `/api/v1/runs/${id}`)).json;
  let figures = 0;
  const {page, done} = await open(browser);
  for (const level of ["dram", "l2", "l1"]) {
    await page.goto("about:blank");
    await show(page, `${daemon.url}/#run=${id}&state=${state}&level=${level}`);
    await checkPoints(page, document, state, level);
    await checkNumbers(page);
    const points = page.locator(".point");
    const names = await points.evaluateAll((all) => all.map((point) => point.dataset.kernel));
    assert.ok(names.length >= 8);
    for (const [i, kernel] of names.entries()) {
      await points.nth(i).focus();
      figures += await checkDetail(
        page,
        document.kernels.find((row) => row.kernel === kernel),
        state,
        level,
      );
    }
  }
  await done();
  return figures;
}

async function threeRuns(browser, daemon, ids) {
  await test("figures are rounded once, from the number itself", async () => {
    const {fixed, intensity, percent, ratio, si} = await import(
      pathToFileURL(join(dirname(process.env.RL_README), "static/js/parts/format.js"))
    );
    const shown = [
      si(1.005e9, "B/s"),
      si(4.265e12, "FLOP/s"),
      si(999.5e9, "B/s"),
      si(99.949e-6, "s"),
      fixed(60000, 1, 1e6),
      fixed(40000, 1, 1e6),
      fixed(3, 1, 1e6),
      fixed(0, 1, 1e6),
      fixed(-1.25, 1),
      fixed(null, 1),
      ratio(9.996),
      ratio(0.25),
      si(1.88e-12, "s"),
      si(8 / 4096, "B"),
      si(0, "B"),
      percent(87.06),
      intensity(null),
    ].map((text) => text.replace("\u00a0", "_"));
    assert.deepEqual(shown, [
      "1.01_GB/s",
      "4.27_TFLOP/s",
      "1.00_TB/s",
      "99.95_µs",
      "0.1",
      "0.0",
      "0.0",
      "0.0",
      "-1.3",
      "–",
      "10.00",
      "0.250",
      "1.88_ps",
      "0.00195_B",
      "0_B",
      "87.1_%",
      "–",
    ]);
    for (let i = 0; i < 20000; i++) {
      // an even walk through 24 decades and all lengths of a number
      const value = Number((10 ** ((i % 2400) / 100 - 9)).toPrecision(1 + (i % 17)));
      sameFigure(si(value, "B/s"), value, "B/s", "si");
      sameFigure(ratio(value), value, "", "ratio");
      sameFigure(`${fixed(value, 1, 1e6)} MB`, value, "B", "fixed", 0);
    }
  });
  for (const [name, id, state] of [
    ["course sizes", ids.run, "warm"],
    ["course sizes", ids.run, "cold"],
    ["scaled sizes", ids.other, "warm"],
    ["scaled sizes", ids.other, "cold"],
    ["the published T4 record, imported", ids.imported, "mixed"],
  ]) {
    await test(`the figures under the pointer are the API's, at every point: ${name}, ${state}`, async () => {
      const figures = await everyPoint(browser, daemon, id, state);
      console.log(`      ${figures} figures`);
      assert.ok(figures >= 8 * 5 * 3, String(figures));
    });
  }
  await test("an import says what it is, where it comes from, and that it is not judged", async () => {
    const {page, done} = await open(browser);
    await show(page, `${daemon.url}/#run=${ids.imported}`);
    assert.match(await page.locator(".run-head").innerText(), /Imported from uploaded files/);
    assert.match(await page.locator("#table-notes").innerText(), /shown, not judged[^]*the time follows from bytes/);
    assert.match(await page.locator("#origin").innerText(), /a published record[^]*derived from the printed ridge/);
    assert.equal(await page.locator("#transcript").count(), 0);
    await done();
  });
}

async function lentRoofs(browser, daemon, ids, document) {
  await test("an import of a measured device stands under that device's newest roofs, and says whose", async () => {
    const timings = `${JSON.stringify({kernel: "own", ms: 0.1, flop: 5e8, ask_bytes: 24e7})}\n`;
    const csv = [
      "ID,Kernel Name,Block Size,Grid Size,Device,Metric Name,Metric Unit,Metric Value",
      ...["dram__bytes_read.sum", "dram__bytes_write.sum"].map(
        (name) => `"0","own(float *)","(256, 1, 1)","(64, 1, 1)","0","${name}","byte","120000000"`,
      ),
      "",
    ].join("\n");
    const run = await importForm(daemon, {
      timings,
      ncu: csv,
      device: document.device.id,
      date: "2026-09-05",
      times: "cold",
    });
    assert.equal(run.lent.device_by, "uuid");
    const {page, done} = await open(browser);
    await show(page, `${daemon.url}/#run=${run.id}`);
    assert.ok((await page.locator("#notices").innerText()).includes(run.lent.sentence));
    assert.match(await page.locator("#run").innerText(), new RegExp(`lent by run ${run.lent.run}`));
    assert.equal(await page.locator(".point").count(), 1);
    await page.locator(".point").first().focus();
    assert.match(
      await page.locator("#run").innerText(),
      new RegExp(`${run.kernels[0].cold.percent_of_roof.toFixed(1)}`),
    );
    await done();
  });
}

async function saved(page, name) {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.locator(".menu").getByRole("button", {name, exact: true}).click(),
  ]);
  return {name: file.suggestedFilename(), bytes: readFileSync(await file.path())};
}

async function takingAway(browser, daemon, ids) {
  await test("pictures stand for themselves on a white and a dark ground; data are the API's", async () => {
    const {page, done} = await open(browser);
    await show(page, `${daemon.url}/#run=${ids.run}&over=${ids.other}`);
    await page.locator(".menu summary").click();
    const grounds = [];
    for (const ground of ["white", "dark"]) {
      await page.getByRole("radio", {name: ground}).check();
      const svg = (await saved(page, "SVG")).bytes.toString("utf8");
      assert.ok(
        !/var\(|class=|style=|currentColor|NaN|undefined/.test(svg),
        /.{50}(var\(|class=|style=|currentColor|NaN|undefined).{30}/.exec(svg)?.[0],
      );
      assert.match(svg, /Roofline of NVIDIA H200/);
      assert.match(svg, /Replayed, recorded on/);
      assert.match(svg, /10 {2}polynomial, 256/);
      const shown = await page.evaluate((text) => {
        const doc = new DOMParser().parseFromString(text, "image/svg+xml");
        return {
          error: doc.querySelector("parsererror")?.textContent ?? null,
          ground: doc.querySelector("rect").getAttribute("fill"),
          texts: doc.querySelectorAll("text").length,
        };
      }, svg);
      assert.equal(shown.error, null);
      assert.ok(shown.texts > 30);
      grounds.push(shown.ground);
      const png = await saved(page, "PNG");
      assert.equal(png.name, `roofline-run-${ids.run}-warm-dram.png`);
      assert.equal(png.bytes.subarray(0, 8).toString("hex"), "89504e470d0a1a0a");
      assert.ok(
        png.bytes.readUInt32BE(16) > 1200 && png.bytes.length > 30000,
        `${png.bytes.readUInt32BE(16)} px, ${png.bytes.length} bytes`,
      );
    }
    assert.deepEqual(grounds, ["#ffffff", "#10161d"]);
    const base = `/api/v1/runs/${ids.run}`;
    assert.equal((await saved(page, "CSV")).bytes.toString("utf8"), (await daemon.ask("GET", `${base}.csv`)).text);
    assert.equal((await saved(page, "JSON")).bytes.toString("utf8"), (await daemon.ask("GET", base)).text);
    assert.deepEqual(await axe(page), []);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".menu").getAttribute("open"), null);
    await done();
  });
  await test("a copied link restores all of the view; where copying is forbidden the link is shown", async () => {
    const {page, done} = await open(browser, {permissions: ["clipboard-read", "clipboard-write"]});
    await show(page, `${daemon.url}/#run=${ids.run}`);
    await page.getByRole("radio", {name: "cold"}).check();
    await page.getByRole("radio", {name: "L1"}).check();
    await page.getByRole("checkbox", {name: /^Show 9,/}).uncheck();
    await page.locator('[data-column="time"]').click();
    await page.locator('.point[data-kernel="block_reduction"]').focus();
    await page.getByRole("button", {name: "Copy link"}).click();
    await page.getByText("Link copied.").waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    await done();
    const second = await open(browser);
    await show(second.page, link);
    assert.ok(await second.page.getByRole("radio", {name: "cold"}).isChecked());
    assert.ok(await second.page.getByRole("radio", {name: "L1"}).isChecked());
    assert.ok(!(await second.page.getByRole("checkbox", {name: /^Show 9,/}).isChecked()));
    assert.equal(await second.page.locator("th[aria-sort]").getAttribute("aria-sort"), "descending");
    assert.match(await second.page.locator("#detail h3").textContent(), /block reduction$/);
    await second.page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error("no"));
    });
    await second.page.getByRole("button", {name: "Copy link"}).click();
    assert.equal(await second.page.getByLabel("Link to this view").inputValue(), link);
    await second.done();
  });
}

export async function runViewTests() {
  const daemon = await start();
  const ids = await fill(daemon);
  const document = (await daemon.ask("GET", `/api/v1/runs/${ids.run}`)).json;
  const browser = await launch();
  try {
    await levels(browser, daemon, ids, document);
    await threeRuns(browser, daemon, ids);
    await lentRoofs(browser, daemon, ids, document);
    await overlay(browser, daemon, ids);
    await choosing(browser, daemon, ids, document);
    await takingAway(browser, daemon, ids);
    await report(browser, daemon, ids, document);
    await ceilingsOnly(browser, daemon, ids);
    await withToken(browser);
  } finally {
    await browser.close();
  }
  await daemon.stop();
}
