// One name, two sizes: a comparison does not judge them, a trend breaks between them, and what filters exclude is said.
import assert from "node:assert/strict";
import {launch, open} from "../tools/browser.mjs";
import {start} from "../tools/daemon.mjs";
import {importForm} from "../tools/past.mjs";
import {plain, test} from "../tools/suite.mjs";

const OF = "device=two-sizes&suite=import&sizes=other";
const SIDES = `base=driver:1.0&head=driver:2.0&${OF}`;

async function fill(daemon) {
  for (const [driver, month, size] of [
    ["1.0", "03", 1],
    ["2.0", "04", 2],
  ]) {
    for (let day = 1; day <= 8; day++) {
      const lines = [
        {kernel: "copy_a", ms: size + day / 1000, ask_bytes: size * 1000000000},
        {kernel: "scale_b", ms: 3 + day / 1000, ask_bytes: 77},
      ];
      await importForm(daemon, {
        timings: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
        device: "Two sizes",
        driver,
        cuda: "13.0",
        date: `2026-${month}-0${day}`,
      });
    }
  }
}

async function json(daemon, path) {
  const answer = await daemon.ask("GET", path);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

async function compared(browser, daemon) {
  await test("a row of other work has no verdict but says which member differs", async () => {
    const {page, done} = await open(browser);
    await page.goto(`${daemon.url}/#view=compare&${SIDES}`);
    const row = page.locator('.compare-row[data-kernel="copy_a"]');
    await row.waitFor();
    const answer = await json(daemon, `/api/v1/compare?${SIDES}`);
    const of = answer.rows.find(({kernel}) => kernel === "copy_a");
    assert.equal(of.time_verdict, "not_comparable");
    assert.equal(await row.locator(".verdict").innerText(), "not comparable");
    assert.equal(await row.locator(".numbers strong").innerText(), "–");
    const reasons = plain(await row.locator(".reasons").innerText()); // open by itself
    assert.ok(reasons.includes(of.time_s.sentence), reasons);
    assert.ok(reasons.includes("a launch asks for 1000000000 bytes in base and 2000000000 bytes in head"), reasons);
    assert.equal(await page.locator('.compare-row[data-kernel="scale_b"] .verdict').innerText(), "same");
    assert.ok(plain(await page.locator(".outcome").innerText()).includes("1 not comparable"));
    await page.locator("[name=verdict]").selectOption("not_comparable");
    assert.equal(await page.locator(".compare-list").first().locator(".compare-row").count(), 1);
    assert.ok((await page.locator(".script .hint").innerText()).endsWith("Here it is 2."));
    assert.equal(await page.locator(".passed-over").count(), 0);
    await done();
  });
  await test("a side without runs says under which filters there are some", async () => {
    const {page, done} = await open(browser);
    await page.goto(`${daemon.url}/#view=compare&base=driver:1.0&head=driver:2.0&device=two-sizes`);
    await page.locator(".passed-over").first().waitFor();
    assert.deepEqual(
      await page.locator(".passed-over li").allInnerTexts(),
      Array(2).fill("8 runs are of suite import, of sizes other: ask with suite=import&sizes=other"),
    );
    assert.ok(
      (await page.locator(".outcome").innerText()).includes("No run of driver 1.0 counts: 8 runs are of suite import"),
    );
    await done();
  });
}

async function overDays(browser, daemon) {
  await test("a trend breaks where other work begins, and says why", async () => {
    const {page, done} = await open(browser);
    await page.goto(`${daemon.url}/#view=trend&kernel=copy_a&state=warm&${OF}`);
    await page.locator(".trend-chart .point").first().waitFor();
    const trend = await json(daemon, `/api/v1/trend?kernel=copy_a&${OF}`);
    assert.deepEqual(
      await page.locator(".trend-series li").allInnerTexts(),
      trend.series.map(({sentence}) => sentence),
    );
    assert.ok(trend.series[1].sentence.includes("asked bytes 2000000000 instead of 1000000000"));
    const rows = await page
      .locator(".trend-table tbody tr")
      .evaluateAll((all) =>
        all.map((tr) => [
          tr.dataset.day,
          tr.cells[[...tr.closest("table").tHead.rows[0].cells].findIndex((cell) => cell.innerText === "series")]
            .innerText,
        ]),
      );
    assert.deepEqual(
      rows,
      trend.points.toReversed().map(({day, series}) => [day, String(series)]),
    );
    // the bands of the two works are two, and none goes from the one to the other
    assert.equal(await page.locator('.trend-chart g[aria-label="area"] path').count(), 2);
    assert.ok((await page.locator(".rules").first().innerText()).includes("to series 2, which is other work"));
    assert.equal(await page.locator(".trend-table .kind-outside").count(), 0);
    assert.ok((await page.locator(".trend-chart .point").last().getAttribute("aria-label")).includes(", series 2:"));
    await done();
  });
  await test("a trend of one work has no word of series", async () => {
    const {page, done} = await open(browser);
    await page.goto(`${daemon.url}/#view=trend&kernel=scale_b&state=warm&${OF}`);
    await page.locator(".trend-chart .point").first().waitFor();
    assert.equal(await page.locator(".trend-series").count(), 0);
    assert.ok(!(await page.locator("#trend").innerText()).includes("series"));
    assert.equal(await page.locator('.trend-chart g[aria-label="area"] path').count(), 1);
    await done();
  });
  await test("an empty trend and an empty history say what there is elsewhere", async () => {
    const {page, done} = await open(browser);
    await page.goto(`${daemon.url}/#view=trend&kernel=copy_a&state=warm&device=two-sizes&suite=import&sizes=course`);
    await page.locator(".passed-over").waitFor();
    assert.deepEqual(await page.locator(".passed-over li").allInnerTexts(), [
      "16 runs are of sizes other: ask with sizes=other",
    ]);
    await page.goto(`${daemon.url}/#view=history&device=two-sizes&since=2026-06-01&until=2026-07-01`);
    await page.locator("#history .passed-over").waitFor();
    assert.deepEqual(await page.locator("#history .passed-over li").allInnerTexts(), [
      "16 runs are of other days than those asked for: ask with since=2026-03-01&until=2026-04-09",
    ]);
    await done();
  });
}

export async function worksTests() {
  const daemon = await start();
  await fill(daemon);
  const browser = await launch();
  try {
    await compared(browser, daemon);
    await overDays(browser, daemon);
  } finally {
    await browser.close();
  }
  await daemon.stop();
}
