// Another run laid over, and kernels put away.
import assert from "node:assert/strict";
import {checkNumbers, checkTable, unknown, withDocument} from "../roofline/checks.mjs";
import {axe, open, overflow, scales, show, symbols} from "../tools/browser.mjs";
import {sameFigure} from "../tools/figures.mjs";
import {test, until} from "../tools/suite.mjs";

const numbersOf = (page) => page.locator("#table-scroll tbody tr td.number").allTextContents();

export async function overlay(browser, daemon, ids) {
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

export async function choosing(browser, daemon, ids, document) {
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
