// A run that is no longer the newest, and a daemon that does not answer.
import assert from "node:assert/strict";
import {axe, open, overflow, show} from "../tools/browser.mjs";
import {start, submit} from "../tools/daemon.mjs";
import {test, until} from "../tools/suite.mjs";

const NEWEST = /\/api\/v1\/runs\?limit=1(&|$)/;

const POLL_MS = 20000; // as in static/js/views/run/newer.js

/** Lets the page's timers run on to its next question, and waits for the answer. */
async function poll(page) {
  const answer = page.waitForResponse(NEWEST);
  await page.clock.fastForward(POLL_MS);
  await (await answer).finished();
}

/** What a reader has under their hands: the very chart, the focus, the address and where the page is scrolled to. */
const hold = (page) =>
  page.evaluate(() => {
    window.kept = document.querySelector(".roofline-plot");
  });

const held = (page) =>
  page.evaluate(() => [
    window.kept === document.querySelector(".roofline-plot"),
    document.activeElement.dataset.kernel,
    location.hash,
    window.scrollY,
    window.kept.getBoundingClientRect().top,
  ]);

export async function olderThanTheStore(browser) {
  const daemon = await start();
  const first = (await submit(daemon, {suite: "verify", counters: false})).run;
  for (const [name, byId, options] of [
    ["the newest", false, {}],
    ["a run that was the newest of its device", true, {width: 390, scheme: "dark"}],
  ]) {
    await test(`${name} is shown and a newer one is stored: told with a link, and nothing moves`, async () => {
      const {page, done} = await open(browser, options);
      await page.clock.install();
      const shown = (await daemon.ask("GET", "/api/v1/runs?limit=1")).json.items[0].id;
      await show(page, `${daemon.url}/#${byId ? `run=${shown}&` : ""}state=cold`);
      await page.waitForLoadState("networkidle");
      await page.locator(".point").nth(2).focus();
      await page.clock.runFor(1000); // the address is written a little later
      await hold(page);
      const before = await held(page);
      assert.equal(before[0], true);
      await poll(page);
      assert.ok(await page.locator("#told").isHidden());
      const next = (await submit(daemon, {suite: "verify", counters: false})).run;
      await poll(page);
      await page.getByText(`Run ${next} is newer than run ${shown}`).waitFor();
      assert.deepEqual(await held(page), before);
      assert.deepEqual(await axe(page), []);
      assert.equal(await overflow(page), 0);
      await page.getByRole("button", {name: `Stay with run ${shown}`}).click();
      assert.ok(await page.locator("#told").isHidden());
      await poll(page);
      assert.ok(await page.locator("#told").isHidden()); // once is enough
      const last = (await submit(daemon, {suite: "verify", counters: false})).run;
      await poll(page);
      await page.getByRole("link", {name: `Show run ${last}`}).click();
      await until("the newer run", async () =>
        (await page.locator("#environment").innerText()).includes(`run ${last} of`),
      );
      assert.ok(await page.locator("#told").isHidden());
      assert.ok(await page.getByRole("radio", {name: "cold"}).isChecked());
      await done();
    });
  }
  await test("an older run that was asked for is not out of date; a page out of sight asks nothing", async () => {
    const {page, seen, done} = await open(browser);
    await page.clock.install();
    await show(page, `${daemon.url}/#run=${first}`);
    await page.waitForLoadState("networkidle");
    await poll(page);
    assert.ok(await page.locator("#told").isHidden());
    const hide = (hidden) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", {value, configurable: true});
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await hide(true);
    const before = seen.requests.length;
    for (let i = 0; i < 5; i++) await page.clock.fastForward(POLL_MS);
    await hide(true); // an event alone is no reader
    assert.equal(seen.requests.length, before);
    const asked = page.waitForRequest(NEWEST);
    await hide(false);
    await asked;
    await done();
  });
  await test("the daemon stops while a run is shown: told, the run stays, and Try now asks at once", async () => {
    const {page, done} = await open(browser, {expected: [/ERR_CONNECTION_REFUSED/]});
    await page.clock.install();
    await show(page, daemon.url);
    await page.waitForLoadState("networkidle");
    await hold(page);
    const before = await held(page);
    await daemon.stop();
    await page.clock.fastForward(POLL_MS);
    await page
      .locator("#stale", {
        hasText: /The daemon does not answer\. What stands here is as of .*; the page keeps trying\./,
      })
      .waitFor();
    assert.deepEqual(await held(page), before);
    assert.deepEqual(await axe(page), []);
    const again = await start({folder: daemon.folder, port: daemon.port});
    await page.getByRole("button", {name: "Try now"}).click();
    await page.locator("#stale").waitFor({state: "hidden"});
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await done();
    await again.stop();
  });
}

const LIMIT_MS = 20000; // as in static/js/parts/api.js

/** A daemon that takes connections and does not answer: stopped, as by an operator's Ctrl-Z. */
export async function silent(browser) {
  const daemon = await start();
  await submit(daemon, {suite: "verify", counters: false});
  const asks = async (page, act) => {
    daemon.child.kill("SIGSTOP");
    const asked = page.waitForRequest(/\/api\//);
    await act();
    await asked;
    await page.evaluate(
      () =>
        new Promise((drawn) => {
          requestAnimationFrame(() => requestAnimationFrame(drawn));
        }),
    );
  };
  const words = "The daemon did not answer within 20 s.";
  await test(
    "the daemon takes connections and does not answer: a shown run is told to be as of then, another view " +
      "to be away",
    async () => {
      const {page, done} = await open(browser);
      await page.clock.install();
      await show(page, daemon.url);
      await page.waitForLoadState("networkidle");
      await asks(page, () => page.clock.fastForward(POLL_MS));
      assert.ok(await page.locator("#stale").isHidden());
      await page.clock.fastForward(LIMIT_MS);
      await page.locator("#stale", {hasText: words}).waitFor();
      await asks(page, () =>
        page.evaluate(() => {
          location.hash = "#state=cold";
        }),
      );
      await page.clock.fastForward(LIMIT_MS);
      await page.locator("#message", {hasText: words}).waitFor();
      daemon.child.kill("SIGCONT");
      await page.getByRole("button", {name: "Try again"}).click();
      await page.locator("#table-scroll tbody tr").first().waitFor();
      await done();
    },
  );
  await test("the daemon does not answer a list chosen anew: faint while asked, then told in place", async () => {
    const {page, done} = await open(browser);
    await page.clock.install();
    await page.goto(`${daemon.url}/#view=runs&source=any`);
    await page.locator("#runs tbody tr").first().waitFor();
    await page.waitForLoadState("networkidle");
    await asks(page, () => page.getByLabel("Source").selectOption("replayed"));
    await until("a faint list", () =>
      page.locator("#runs [aria-busy=true]").evaluate((place) => Number(getComputedStyle(place).opacity) < 1),
    );
    await page.emulateMedia({media: "print"});
    assert.equal(
      await page.locator("#runs [aria-busy=true]").evaluate((place) => getComputedStyle(place).opacity),
      "1",
    );
    await page.emulateMedia({media: "screen"});
    await page.clock.fastForward(LIMIT_MS);
    await page.locator("#runs .notice.bad", {hasText: words}).waitFor();
    daemon.child.kill("SIGCONT");
    await page.getByRole("button", {name: "Try again"}).click();
    await page.locator("#runs tbody tr").first().waitFor();
    assert.equal(await page.locator("[aria-busy]").count(), 0);
    await done();
  });
  await daemon.stop();
}
