// A trend in Chromium where answers come late, or without values.
import assert from "node:assert/strict";
import {open} from "../tools/browser.mjs";
import {changed} from "../tools/states.mjs";
import {plain, test} from "../tools/suite.mjs";

export async function noValueTests(browser, daemon, past) {
  await test("a trend without any value has no chart to point at, and says of its newest point why", async () => {
    const {page, done} = await open(browser);
    await changed(page, /\/api\/v1\/trend\?/, (trend) => ({
      ...trend,
      points: trend.points.map((point) => ({
        ...point,
        median: null,
        min: null,
        max: null,
        band: null,
        outside: false,
        accepted: false,
        why: {...point.why, median: "no counters", band: "no value"},
      })),
    }));
    await page.goto(`${daemon.url}/#view=trend&device=${past.device}&kernel=matmul_naive&state=cold`);
    await page.locator(".trend-chart .empty").waitFor();
    const said = await page.locator(".trend-detail").innerText();
    assert.ok(plain(said).startsWith(`${past.days.after.at(-1)} UTC`) && said.includes("No value: no counters."), said);
    assert.ok(!/NaN|undefined/.test(await page.locator("#trend").innerText()));
    await done();
  });
}

export async function lateNoteTests(browser, daemon, past) {
  await test("a note that comes once another run is chosen is neither shown nor written to that run", async () => {
    const {page, done} = await open(browser, {expected: [/ERR_FAILED/]});
    let release;
    const held = new Promise((resolve) => {
      release = resolve;
    });
    let first = null;
    await page.route(/\/runs\/\d+\/note$/, async (route) => {
      const request = route.request();
      if (request.method() !== "GET") return route.abort();
      first ??= request.url();
      if (request.url() !== first) return route.continue();
      await held;
      return route.fulfill({headers: {ETag: '"first"'}, json: {text: "of the first", accepted: [], version: 1}});
    });
    await page.goto(`${daemon.url}/#view=trend&device=${past.device}&kernel=matmul_naive&state=cold`);
    await page.getByRole("button", {name: "Accept this change"}).click();
    const accept = page.getByRole("button", {name: "Accept from this run on"});
    await accept.waitFor();
    const second = await page.locator(".accept-form [name=run] option").nth(1).getAttribute("value");
    await page.locator(".accept-form [name=run]").selectOption(second);
    await page.locator('.accept-form button.primary:not([aria-disabled="true"])').waitFor();
    const late = page.waitForResponse(first);
    release();
    await (await late).finished();
    await page.evaluate(
      () =>
        new Promise((drawn) => {
          requestAnimationFrame(() => requestAnimationFrame(drawn));
        }),
    );
    assert.equal(await page.locator(".accept-form textarea").inputValue(), "");
    const [put] = await Promise.all([page.waitForRequest((request) => request.method() === "PUT"), accept.click()]);
    assert.ok(put.url().endsWith(`/api/v1/runs/${second}/note`), put.url());
    assert.notEqual(await put.headerValue("If-Match"), '"first"');
    await done();
  });
}
