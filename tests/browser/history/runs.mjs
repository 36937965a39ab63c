// The list of runs: pages, filters, exports, marks.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {open} from "../tools/browser.mjs";
import {BEFORE} from "../tools/past.mjs";
import {plain, test, until} from "../tools/suite.mjs";
import {ZONES} from "./matrix.mjs";
import {json, next, parameters, visit} from "./page.mjs";

const shownRuns = (page) =>
  page
    .locator("#runs tbody tr")
    .evaluateAll((all) =>
      all.map((tr) => [
        tr.dataset.run,
        ...[...tr.querySelectorAll("td:not(.tick)")].map((td) => td.innerText.replaceAll(/\s+/g, " ").trim()),
      ]),
    );

export async function runsTests(browser, daemon, past) {
  await test("the list is the API's, in its order, with both clocks", async () => {
    for (const timezoneId of ZONES) {
      const {page, done} = await open(browser, {timezoneId, locale: "en-US"});
      await visit(page, daemon, "view=runs", "#runs tbody tr");
      const {items} = await json(daemon, "/api/v1/runs");
      const rows = await shownRuns(page);
      assert.deepEqual(
        rows.map(([id]) => id),
        items.map((run) => run.id),
      );
      items.forEach((run, i) => {
        const [, date, device, driver, kind, outcome, copy, fma, ridge] = rows[i];
        assert.ok(plain(date).startsWith(`${run.date.slice(0, 10)} ${run.date.slice(11, 19)} UTC`), date);
        if (timezoneId === "America/Los_Angeles") assert.match(date, /P[SD]T$/);
        if (timezoneId === "Asia/Kolkata") assert.match(date, /GMT\+5:30$|IST$/);
        assert.ok(device.startsWith(run.device.name.slice(0, 20)), device);
        assert.equal(driver, `${run.driver} CUDA ${run.cuda}`);
        assert.equal(kind, `${run.sizes} ${run.counters === "timed-only" ? "timed only" : run.counters}`);
        assert.equal(outcome, run.outcome);
        const close = (text, value, unit) =>
          value === null
            ? assert.equal(text, "–")
            : assert.ok(
                Math.abs((Number.parseFloat(text) * {T: 1e12, G: 1e9}[text.split(/\s/)[1][0]]) / value - 1) < 0.0051 &&
                  text.endsWith(unit),
                `${text} is not ${value}`,
              );
        close(copy, run.dram_copy_byte_per_s, "B/s");
        close(fma, run.fp32_fma_flop_per_s, "FLOP/s");
        assert.equal(
          ridge === "–" ? null : Number(ridge),
          run.ridge_flop_per_byte === null ? null : Number(run.ridge_flop_per_byte.toPrecision(3)),
        );
      });
      assert.ok((await page.locator("#runs tbody tr .mark").allInnerTexts()).includes("Replayed"));
      await done();
    }
  });
  await test("pages by the API's cursor, and back by the browser; a broken cursor leads to the newest", async () => {
    const {page, done} = await open(browser, {expected: [/400/]});
    await visit(page, daemon, "view=runs&limit=5&source=imported", "#runs tbody tr");
    const {items, next: cursor} = await json(daemon, "/api/v1/runs?limit=5&source=imported");
    await page.locator("a[rel=next]").click();
    const second = await json(daemon, `/api/v1/runs?limit=5&source=imported&cursor=${encodeURIComponent(cursor)}`);
    await until("the second page", async () => (await shownRuns(page))[0]?.[0] === second.items[0].id);
    assert.deepEqual(
      (await shownRuns(page)).map(([id]) => id),
      second.items.map((run) => run.id),
    );
    await page.goBack();
    await until("the first page", async () => (await shownRuns(page))[0]?.[0] === items[0].id);
    await visit(page, daemon, "view=runs&cursor=broken", "#runs .notice");
    await page.getByRole("link", {name: "Start with the newest runs"}).click();
    await page.locator("#runs tbody tr").first().waitFor();
    await done();
  });
  await test("each filter asks the API for it and stands in the address; exports take the same selection", async () => {
    const {page, seen, done} = await open(browser);
    await visit(page, daemon, "view=runs", "#runs tbody tr");
    const changes = {
      device: past.device,
      driver: BEFORE,
      cuda: "13.0",
      suite: "verify",
      sizes: "course",
      source: "measured,imported",
      counters: "counter-backed",
      outcome: "any",
      since: past.days.before[0],
      until: next(past.days.before[0]),
    };
    for (const [name, value] of Object.entries(changes)) {
      const control = page.locator(`#runs form [name=${name}]`);
      if (await control.evaluate((element) => element.localName === "select")) await control.selectOption(value);
      else await control.fill(value).then(() => control.blur());
      await until(name, () =>
        seen.requests.some(
          (request) =>
            new URL(request.url()).pathname === "/api/v1/runs" &&
            new URL(request.url()).searchParams.get(name) === value,
        ),
      );
      assert.equal(parameters(page.url())[name], value);
    }
    await until("two runs", async () => (await page.locator("#runs tbody tr").count()) === 2);
    for (const kind of ["csv", "json"]) {
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.locator(".exports").getByRole("button", {name: kind.toUpperCase()}).click(),
      ]);
      const asked = new URL(seen.requests.findLast((request) => request.url().includes(`/runs.${kind}`)).url());
      assert.deepEqual(Object.fromEntries(asked.searchParams), changes);
      const text = readFileSync(await file.path(), "utf8");
      assert.equal(text, (await daemon.ask("GET", `${asked.pathname}${asked.search}`)).text);
      if (kind === "json") assert.equal(JSON.parse(text).items.length, 2);
    }
    await page.locator("#runs form [name=driver]").fill("999.99");
    await page.locator("#runs form [name=driver]").blur();
    await page.locator("#runs .empty").waitFor();
    await page.getByRole("button", {name: "Clear filters"}).click();
    await until("all runs", async () => (await page.locator("#runs tbody tr").count()) > 2);
    for (const clear of [
      page.getByRole("button", {name: "Clear filters"}),
      page.getByRole("link", {name: "Show the runs without filters"}),
    ]) {
      await visit(page, daemon, "view=runs&limit=25&base=run:1&head=run:2&driver=999.99", "#runs .empty");
      await clear.click();
      await page.locator("#runs tbody tr").first().waitFor();
      assert.deepEqual(parameters(page.url()), {view: "runs", base: "run:1", head: "run:2", limit: "25"}); // no filters
    }
    await done();
  });
  await test("two marked runs lead to a comparison and to one chart; marks stay over pages", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, `view=runs&device=${past.device}&source=imported&limit=25`, "#runs tbody tr");
    const [a, b] = (await shownRuns(page)).map(([id]) => id);
    await page.getByRole("checkbox", {name: `run ${b} as base`}).check();
    await page.getByRole("checkbox", {name: `run ${a} as base`}).check();
    await page.getByRole("checkbox", {name: `run ${a} as head`}).check(); // a run is on one side only
    assert.equal(await page.getByRole("checkbox", {name: `run ${a} as base`}).isChecked(), false);
    assert.deepEqual(
      parameters(await page.getByRole("link", {name: "Compare", exact: true}).last().getAttribute("href")),
      {view: "compare", base: `run:${b}`, head: `run:${a}`},
    );
    assert.deepEqual(parameters(await page.getByRole("link", {name: "Both on one chart"}).getAttribute("href")), {
      run: a,
      over: b,
    });
    await page.reload();
    await page.locator("#runs tbody tr").first().waitFor();
    assert.ok(await page.getByRole("checkbox", {name: `run ${b} as base`}).isChecked());
    await page.getByRole("button", {name: "Clear marks"}).click();
    assert.equal(await page.locator(".selection").isVisible(), false);
    await visit(page, daemon, `view=runs&base=run:${a}&head=run:${a},run:${b}`, "#runs tbody tr"); // as no mark can say
    assert.ok(
      plain(await page.locator(".selection").innerText()).startsWith(
        `Base: run ${a} · Head: run ${b}. The address has run ${a} on both sides; kept as base.`,
      ),
    );
    assert.deepEqual(
      await page
        .locator(".tick input:checked")
        .evaluateAll((all) => all.map((input) => input.getAttribute("aria-label"))),
      [`run ${a} as base`, `run ${b} as head`],
    );
    await done();
  });
}
