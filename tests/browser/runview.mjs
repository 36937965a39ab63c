// The run view's choices in Chromium: level, a run laid over, kernels put away, sorting, what is taken away, and what
// stands below the table.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {pathToFileURL} from "node:url";
import {fill} from "./addresses.mjs";
import {axe, launch, open, overflow, scales, show, symbols} from "./browser.mjs";
import {JSON_TYPE, start, submit, temporary} from "./daemon.mjs";
import {sameFigure} from "./figures.mjs";
import {checkDetail, checkNumbers, checkPoints, checkTable, unknown, withDocument} from "./roofline.mjs";
import {importForm} from "./past.mjs";
import {plain, test, until} from "./suite.mjs";

const numbersOf = (page) => page.locator("#table-scroll tbody tr td.number").allTextContents();

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

async function overlay(browser, daemon, ids) {
  await test(
    "a run is laid over: hollow points at its own figures, its own roof, both in the detail, and the " +
      "address brings it back",
    async () => {
      const over = (await daemon.ask("GET", `/api/v1/runs/${ids.other}`)).json;
      for (const width of [1440, 390]) {
        const {page, done} = await open(browser, {width});
        await show(page, `${daemon.url}/#run=${ids.run}`);
        await page.locator(`#over option[value="${ids.other}"]`).waitFor({state: "attached"});
        await page.getByLabel("Lay another run over it").selectOption(ids.other);
        await page.locator(".point.second").first().waitFor();
        for (let again = 0; again < 2; again++) {
          const {x, y} = await scales(page);
          const drawn = (await symbols(page)).second;
          const wanted = over.kernels.filter((row) => row.warm.intensity.dram !== null && row.flop > 0);
          assert.equal(drawn.length, wanted.length);
          for (const row of wanted) {
            const at = [
              x.offset + x.slope * Math.log10(row.warm.intensity.dram),
              y.offset + y.slope * Math.log10(row.warm.flop_per_s),
            ];
            assert.ok(
              drawn.some((mark) => Math.hypot(mark[0] - at[0], mark[1] - at[1]) < 1),
              row.kernel,
            );
          }
          await checkNumbers(page);
          assert.equal(await overflow(page), 0);
          await page.reload();
          await page.locator(".point.second").first().waitFor();
        }
        assert.match(page.url(), new RegExp(`over=${ids.other}`));
        assert.match(await page.locator("#summary").innerText(), new RegExp(`run ${ids.other}: `));
        assert.match(await page.locator("#said").innerText(), /replayed/);
        const first = (await daemon.ask("GET", `/api/v1/runs/${ids.run}`)).json;
        for (const row of width === 1440
          ? over.kernels.filter(({flop, warm}) => flop > 0 && warm.intensity.dram !== null)
          : []) {
          await page.locator(`.point.second[data-kernel="${row.kernel}"]`).focus();
          assert.equal(await page.locator("#detail h4").innerText(), `In run ${ids.other}, laid over`);
          const facts = Object.fromEntries(
            await page
              .locator("#detail h4 + dl")
              .evaluate((dl) =>
                [...dl.querySelectorAll("dt")].map((dt) => [dt.textContent, dt.nextElementSibling.textContent]),
              ),
          );
          const s = row.warm;
          const ofFirst = s.flop_per_s / first.kernels.find((other) => other.kernel === row.kernel).warm.flop_per_s;
          for (const [name, value, unit] of [
            ["measured intensity", s.intensity.dram, "FLOP/B"],
            ["rate", s.flop_per_s, "FLOP/s"],
            ["DRAM rate", s.dram_byte_per_s, "B/s"],
            ["of its roof", s.percent_of_roof, "%"],
            [`rate over that of run ${first.id}`, ofFirst, "\u00d7"],
          ]) {
            sameFigure(facts[name], value, unit, `${row.kernel}, laid over`, 2);
          }
          assert.equal(facts.bound, s.bound);
        }
        assert.deepEqual(await axe(page), []);
        await page.getByLabel("Lay another run over it").selectOption("");
        await until("the run to be gone", async () => (await page.locator(".point.second").count()) === 0);
        assert.ok(!page.url().includes("over="));
        await done();
      }
    },
  );
  await test("a run links to its job, its device's runs, a row's trend and the judgement of two runs", async () => {
    const {page, done} = await open(browser);
    for (const [name, view] of [
      ["Its trend", "trend"],
      [`Runs ${ids.other} and ${ids.run} compared`, "compare"],
      ["All runs of this device", "runs"],
      [`Job ${ids.job}`, "jobs"],
      ["A kernel of your own under this roof", "explorer"],
    ]) {
      await show(page, `${daemon.url}/#run=${ids.run}&over=${ids.other}&kernel=8`);
      await page.getByRole("link", {name, exact: true}).click();
      await page.locator(`#${view} h1`).waitFor();
      assert.equal(await page.locator("#message").innerText(), "", name);
    }
    assert.match(await page.locator("#explorer").innerText(), /NVIDIA H200/);
    await done();
  });
  await test("a run to lay over that is not there is told, and the first one stays", async () => {
    const {page, done} = await open(browser, {expected: [/40[14]/]});
    await show(page, `${daemon.url}/#run=${ids.run}&over=999999`);
    assert.match(await page.locator("#said").innerText(), /not_found/);
    assert.ok((await page.locator(".point").count()) > 5);
    await page.route(new RegExp(`/api/v1/runs/${ids.other}$`), (route) =>
      route.fulfill({
        status: 404,
        json: {error: {code: "not_found", message: "no such run", next_action: "List the runs."}},
      }),
    );
    const over = page.getByLabel("Lay another run over it");
    await over.selectOption(ids.other);
    await page.locator("#said", {hasText: "No such run."}).waitFor();
    await until("the choice", async () => (await over.inputValue()) === "");
    assert.equal(await page.locator(".point.second").count(), 0);
    await page.unrouteAll();
    await page.route(new RegExp(`/api/v1/runs/${ids.other}$`), (route) => {
      // the daemon of these tests knows no token
      const {authorization, ...headers} = route.request().headers();
      return authorization
        ? route.continue({headers})
        : route.fulfill({
            status: 401,
            json: {error: {code: "unauthorized", message: "no token was given", next_action: "Give one."}},
          });
    });
    await over.selectOption(ids.other);
    await page.locator("#said").getByLabel("Token").fill("right");
    await page.keyboard.press("Enter");
    await page.locator(".point.second").first().waitFor();
    assert.equal(await over.inputValue(), ids.other);
    assert.equal(await page.evaluate(() => document.activeElement.id), "said"); // not at the page's start
    assert.equal(await page.locator("#said .notice.bad").count(), 0);
    await done();
  });
}

async function choosing(browser, daemon, ids, document) {
  await test("kernels are put away and come back: chart, table, address", async () => {
    const {page, done} = await open(browser);
    await show(page, `${daemon.url}/#run=${ids.run}`);
    const all = await page.locator(".point").count();
    await page.getByRole("checkbox", {name: "Show 1, vector add"}).uncheck();
    await page.getByRole("checkbox", {name: /^Show 5,/}).uncheck();
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label").slice(0, 7)), "Show 5,");
    assert.equal(await page.locator(".point").count(), all - 2);
    assert.deepEqual(await numbersOf(page), ["2", "3", "4", "6", "7", "8", "9", "10"]);
    assert.match(page.url(), /hide=1%2C5/);
    await page.reload();
    await page.locator("#run table tbody tr").first().waitFor();
    assert.equal(await page.locator(".point").count(), all - 2);
    await page.getByRole("button", {name: "Show none of the kernels"}).click();
    assert.equal(await page.locator(".point").count(), 0);
    const svg = await page.locator(".roofline-plot").evaluate((element) => element.outerHTML);
    assert.ok(!/NaN|Infinity|undefined/.test(svg));
    await page.getByRole("button", {name: "Show all kernels"}).click();
    assert.equal(await page.locator(".point").count(), all);
    await checkTable(page, document, "warm");
    await done();
  });
  await test("every column sorts both ways, equal rows as they came, rows without a value last", async () => {
    const changed = structuredClone(document);
    unknown(changed.kernels[3].warm, ["percent_of_roof", "dram_per_ask"], "withheld");
    changed.kernels[6].ask_bytes = changed.kernels[2].ask_bytes;
    await withDocument(browser, daemon, changed, async (page) => {
      const value = {
        ask: (row) => row.ask_bytes,
        l1: (row) => row.warm.bytes.l1,
        dram_ask: (row) => row.warm.dram_per_ask,
        roof: (row) => row.warm.percent_of_roof,
        time: (row) => row.warm.time_s.median,
      };
      for (const [column, of] of Object.entries(value)) {
        const rows = changed.kernels.map((row, i) => ({number: String(i + 1), value: of(row)}));
        const known = rows.filter((row) => row.value !== null);
        const last = rows.filter((row) => row.value === null);
        const button = page.locator(`[data-column="${column}"]`);
        await button.focus();
        for (const [sort, compare] of [
          ["descending", (a, b) => b.value - a.value],
          ["ascending", (a, b) => a.value - b.value],
        ]) {
          await page.keyboard.press("Enter");
          assert.equal(await page.locator("th[aria-sort]").count(), 1);
          assert.equal(await button.evaluate((made) => made.closest("th").getAttribute("aria-sort")), sort);
          assert.deepEqual(
            await numbersOf(page),
            [...known.toSorted(compare), ...last].map((row) => row.number),
            `${column} ${sort}`,
          );
        }
        await page.keyboard.press("Enter");
        assert.equal(await page.locator("th[aria-sort]").count(), 0);
        assert.deepEqual(
          await numbersOf(page),
          rows.map((row) => row.number),
        );
      }
      await page.locator('[data-column="kernel"]').click();
      const titles = await page.locator("tbody th").allTextContents();
      assert.deepEqual(
        titles.slice(0, 10),
        titles.slice(0, 10).toSorted((a, b) => a.localeCompare(b)),
      );
      assert.deepEqual(await axe(page), []);
    });
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

async function report(browser, daemon, ids, document) {
  await test("predictions, ceilings, telemetry, environment are the API's; the transcript on opening", async () => {
    const {page, seen, done} = await open(browser);
    await show(page, `${daemon.url}/#run=${ids.run}`);
    const scored = (await daemon.ask("GET", `/api/v1/runs/${ids.run}/predictions`)).json;
    await page.locator("#predictions").waitFor();
    assert.match(
      await page.locator("#predictions").innerText(),
      new RegExp(`${scored.right} of ${scored.scored} right`),
    );
    const said = await page
      .locator("#predictions tbody tr")
      .evaluateAll((all) => all.map((tr) => [...tr.children].map((td) => td.textContent)));
    assert.deepEqual(
      said.map((row) => row.at(-1)),
      scored.items.map((item) => (item.right ? "right" : "wrong")),
    );
    assert.deepEqual(
      said.map((row) => row.slice(1, 5)),
      scored.items.map((item) => [item.state, item.said, item.found, item.dram_per_ask.toFixed(4)]),
    );
    assert.equal(await page.locator("#ceilings tbody tr").count(), document.ceilings.length);
    const environment = await page.locator("#environment-section").innerText();
    for (const part of [
      document.device.uuid,
      document.environment.kernel_release,
      document.environment.build,
      "700 W",
    ]) {
      assert.ok(plain(environment).replaceAll("\n", "").includes(part), part);
    }
    await page.getByText("Row by row", {exact: true}).click();
    const names = await page.locator("#telemetry tbody th").allTextContents();
    for (const row of document.kernels) assert.ok(names.includes(`${row.title}, warm`), row.title);
    for (const name of ["start", "end", "copy, the memory roof, warm"]) assert.ok(names.includes(name), name);
    assert.ok(!names.some((name) => name.includes("_")), names.join("; "));
    const asked = () => seen.requests.filter((request) => request.url().includes("/transcript")).length;
    assert.equal(asked(), 0);
    await page.locator("#transcript summary").click();
    await page.locator("#transcript pre").waitFor();
    assert.equal(
      await page.locator("#transcript pre").textContent(),
      (await daemon.ask("GET", `/api/v1/jobs/${document.job}/transcript`)).text,
    );
    assert.equal(asked(), 1);
    assert.deepEqual(await axe(page), []);
    await done();
  });
  await test("a prediction that could not be scored says why, in the same words at run and job", async () => {
    const job = await submit(daemon, {
      suite: "verify",
      counters: false,
      predictions: {vector_add: "near", matmul_naive: "above"},
    });
    const scored = (await daemon.ask("GET", `/api/v1/runs/${job.run}/predictions`)).json;
    assert.deepEqual([scored.scored, scored.predicted, scored.items[0].right], [0, 2, null]);
    const {page, done} = await open(browser);
    for (const [fragment, place] of [
      [`run=${job.run}`, "#predictions"],
      [`view=jobs&job=${job.id}`, "#jobs .predictions"],
    ]) {
      await page.goto(`${daemon.url}/#${fragment}`);
      await page.locator(`${place} tbody tr`).first().waitFor();
      assert.match(await page.locator(`${place} p`).first().innerText(), /^0 of 0 right; 2 could not be scored\.$/);
      const rows = await page
        .locator(`${place} tbody tr`)
        .evaluateAll((all) => all.map((tr) => [...tr.children].slice(1).map((cell) => cell.textContent)));
      assert.deepEqual(
        rows,
        scored.items.map((item) => [item.state, item.said, "–", "–", `not scored ${item.why.right}`]),
      );
      assert.deepEqual(await axe(page), []);
    }
    await done();
  });
  await test("a note is read and written; one that somebody else wrote meanwhile is not lost", async () => {
    const {page, done} = await open(browser, {expected: [/412/]});
    await show(page, `${daemon.url}/#run=${ids.run}`);
    const body = page.locator("#note-body");
    await body.getByText("after the driver update").waitFor();
    await body.getByRole("button", {name: "Edit"}).click();
    const hostile = "<b>fans</b> at 100 % مصفوفة";
    await page.getByLabel("Note, at most 4096 bytes").fill(hostile);
    await body.getByText("Accept changes of rows").click();
    await body.getByRole("checkbox", {name: "vector add, warm"}).check();
    assert.deepEqual(await axe(page), []);
    await body.getByRole("button", {name: "Save"}).click();
    await body.getByText(hostile).waitFor();
    const stored = await daemon.ask("GET", `/api/v1/runs/${ids.run}/note`);
    assert.deepEqual([stored.json.text, stored.json.accepted], [hostile, [{kernel: "vector_add", state: "warm"}]]);
    assert.match(await body.innerText(), /Accepted changes[^]*vector add, warm/);
    await body.getByRole("button", {name: "Edit"}).click();
    await page.getByLabel("Note, at most 4096 bytes").fill("mine");
    await body.getByRole("checkbox", {name: "vector add, warm"}).uncheck();
    await body.getByRole("checkbox", {name: "vector add, cold"}).check();
    await daemon.ask("PUT", `/api/v1/runs/${ids.run}/note`, {
      headers: JSON_TYPE,
      body: JSON.stringify({
        text: "theirs",
        accepted: [
          {kernel: "vector_add", state: "warm"},
          {kernel: "block_reduction", state: "warm"},
        ],
      }),
    });
    await body.getByRole("button", {name: "Save"}).click();
    await body.getByText("Somebody else wrote this note meanwhile").waitFor();
    assert.match(await body.locator("blockquote").innerText(), /theirs/);
    assert.equal(await page.getByLabel("Note, at most 4096 bytes").inputValue(), "mine");
    await body.getByRole("button", {name: "Save"}).click();
    await until("the note", async () => (await daemon.ask("GET", `/api/v1/runs/${ids.run}/note`)).json.text === "mine");
    assert.deepEqual(
      (await daemon.ask("GET", `/api/v1/runs/${ids.run}/note`)).json.accepted
        .map(({kernel, state}) => `${kernel} ${state}`)
        .toSorted(),
      ["block_reduction warm", "vector_add cold"],
    );
    await done();
  });
  await test("who may not write is told so in the form, with what to do; with a token the note is saved", async () => {
    const {page, done} = await open(browser, {expected: [/403/]});
    // the daemon of these tests knows no token: the request goes on to it without the one that the page sends
    await page.route(/\/note$/, (route) => {
      const {authorization, ...headers} = route.request().headers();
      if (route.request().method() !== "PUT" || authorization === "Bearer right") return route.continue({headers});
      return route.fulfill({
        status: 403,
        json: {
          error: {
            code: "forbidden",
            message: "anonymous may not write",
            next_action: "Use an account or token that has this right, or ask the operator.",
          },
        },
      });
    });
    await show(page, `${daemon.url}/#run=${ids.other}`);
    await page.getByRole("button", {name: "Write a note"}).click();
    await page.getByLabel("Note, at most 4096 bytes").fill("mine");
    await page.getByRole("button", {name: "Save"}).focus();
    await page.keyboard.press("Enter");
    await page.locator("#note-body .notice", {hasText: "Anonymous may not write."}).waitFor();
    await until("the token's focus", () => page.evaluate(() => document.activeElement.name === "token"));
    await page.locator("#note-body .notice", {hasText: "ask the operator"}).waitFor();
    assert.equal(await page.getByLabel("Note, at most 4096 bytes").inputValue(), "mine");
    assert.equal(await page.locator("form form").count(), 0);
    assert.deepEqual(await axe(page), []);
    await page.locator("#note-body").getByLabel("Token").fill("right");
    await page.locator("#note-body").getByRole("button", {name: "Use it"}).click();
    await page.locator("#note-body blockquote", {hasText: "mine"}).waitFor();
    assert.equal((await daemon.ask("GET", `/api/v1/runs/${ids.other}/note`)).json.text, "mine");
    await done();
  });
}

/** The published record's second day printed no rows; ids.imported is its first. */
async function ceilingsOnly(browser, daemon, ids) {
  await test("a run of ceilings alone says so, and promises neither times nor a number to point at", async () => {
    const {page, done} = await open(browser);
    const day2 = String(Number(ids.imported) + 1);
    assert.deepEqual((await daemon.ask("GET", `/api/v1/runs/${day2}`)).json.kernels, []);
    await page.goto(`${daemon.url}/#run=${day2}`);
    await page.locator("#notices", {hasText: "This run has ceilings only: its record prints no rows."}).waitFor();
    const words = await page.locator("#run").innerText();
    for (const never of ["Times and rates are", "Point at a number", "None has one"]) {
      assert.ok(!words.includes(never), never);
    }
    await done();
  });
  await test("an import without counters has its times as imported", async () => {
    const {page, done} = await open(browser);
    const {id} = await importForm(daemon, {
      timings: '{"kernel":"vector_add","ms":0.05}\n',
      device: "card",
      date: "2026-09-03",
    });
    await show(page, `${daemon.url}/#run=${id}`);
    await page
      .locator("#notices", {hasText: "Times and rates are as imported; byte columns and intensities are empty."})
      .waitFor();
    await done();
  });
}

async function withToken(browser) {
  await test(
    "whoever has a token gets the run as data, its transcript and its note with it, and is asked for one " +
      "where it is refused",
    async () => {
      const folder = temporary();
      const file = join(folder, "tokens");
      writeFileSync(file, `page read ${createHash("sha256").update("s3cret").digest("hex")}\n`, {mode: 0o600});
      const guarded = await start({folder, options: ["--token-file", file, "--open-loopback"]});
      const {run: id, id: job} = await submit(guarded, {suite: "verify", counters: false});
      const {page, done} = await open(browser, {expected: [/401/]});
      await show(page, `${guarded.url}/#run=${id}`);
      await page.waitForLoadState("networkidle");
      const keep = (token) => page.evaluate((text) => sessionStorage.setItem("rooflined-token", text), token);
      const base = `/api/v1/runs/${id}`;
      const data = page.locator("#data-section");
      for (const [name, path] of [
        ["JSON, whole", base],
        ["CSV", `${base}.csv`],
        ["table as text", `${base}/table`],
        ["raw samples", `${base}/samples`],
      ]) {
        await keep("wrong");
        await data.getByRole("button", {name, exact: true}).click();
        await data.getByLabel("Token").fill("s3cret");
        const [saved] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
        assert.equal(readFileSync(await saved.path(), "utf8"), (await guarded.ask("GET", path)).text, name);
        await data.getByText(`Saved as ${saved.suggestedFilename()}.`).waitFor();
      }
      await keep("wrong");
      await page.locator("#transcript summary").click();
      await page.locator("#transcript").getByLabel("Token").waitFor();
      await page.locator(".menu summary").click();
      await page.locator(".menu").getByRole("button", {name: "CSV", exact: true}).click();
      await page.locator(".takeaway").getByLabel("Token").waitFor();
      const forms = page.getByLabel("Token", {exact: true});
      assert.equal(await forms.count(), 2);
      assert.equal(new Set(await forms.evaluateAll((all) => all.map((input) => input.id))).size, 2);
      assert.deepEqual(await axe(page), []);
      await page.locator("#transcript").getByRole("button", {name: "Go on without a token"}).click();
      await page.locator("#transcript pre").waitFor();
      assert.equal(
        await page.locator("#transcript pre").textContent(),
        (await guarded.ask("GET", `/api/v1/jobs/${job}/transcript`)).text,
      );
      await page.route(/\/note$/, (route) =>
        route.request().headers().authorization
          ? route.continue()
          : route.fulfill({
              status: 401,
              json: {error: {code: "unauthorized", message: "no token was given", next_action: "Give one."}},
            }),
      );
      await page.reload();
      await page.locator("#note-body").getByLabel("Token").fill("s3cret");
      await page.keyboard.press("Enter");
      await page.getByRole("button", {name: "Write a note"}).waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.textContent), "Write a note");
      await done();
      await guarded.stop();
    },
  );
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
