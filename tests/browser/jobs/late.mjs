// Jobs in Chromium: answers that come late, out of order or not at all, and what of the view goes on by itself.
import assert from "node:assert/strict";
import {axe, open} from "../tools/browser.mjs";
import {start, submit} from "../tools/daemon.mjs";
import {test} from "../tools/suite.mjs";
import {ended, jobs, look, panel, press, slow} from "./page.mjs";

/**
 * Answers of one address, held back until they are let go: {arrived, release(answer)}; answer(route) gives what they
 * are to be.
 */
async function hold(page, pattern) {
  let arrive;
  const held = [];
  let released = false;
  const arrived = new Promise((resolve) => {
    arrive = resolve;
  });
  await page.route(pattern, (route) => {
    if (released) return route.continue();
    held.push(route);
    return arrive();
  });
  return {
    arrived,
    async release(answer) {
      released = true;
      const answered = held.map((route) => page.waitForResponse((response) => response.request() === route.request()));
      for (const route of held) await answer(route);
      await Promise.all(answered);
      await page.evaluate(
        () =>
          new Promise((drawn) => {
            requestAnimationFrame(() => requestAnimationFrame(drawn));
          }),
      );
    },
  };
}

const asIs = (route) => route.continue();

async function lateAndLost(browser) {
  const daemon = await start();
  const first = await submit(daemon, {suite: "verify"});
  const second = await submit(daemon, {suite: "verify", counters: false});
  const link = (page, job) => page.locator(`#jobs tr[data-job="${job.id}"] th a`);
  const one = (job) => new RegExp(`/api/v1/jobs/${job.id}$`);
  await test("a job whose first reading fails is read again by itself; until then its panel says why", async () => {
    const {page, done} = await open(browser, {expected: [/ERR_FAILED/]});
    await look(page, daemon);
    await page.route(one(first), (route) => route.abort());
    await link(page, first).click();
    await panel(page).locator(".notice.bad", {hasText: "The daemon does not answer."}).waitFor();
    await panel(page)
      .getByRole("heading", {name: `Job ${first.id}`})
      .waitFor();
    await page.unroute(one(first));
    await ended(page, "done");
    assert.equal(await panel(page).locator(".notice.bad").count(), 0);
    await done();
  });
  await test("a token that a job's first reading lacks is asked for in its panel, once; then it shows", async () => {
    const {page, done} = await open(browser, {expected: [/401/]});
    await look(page, daemon);
    const error = {
      code: "unauthorized",
      message: "the token is not known",
      next_action: "Send a token that the daemon knows.",
    };
    const guard = (route) => {
      const {authorization, ...headers} = route.request().headers();
      // the daemon knows no token
      return authorization ? route.continue({headers}) : route.fulfill({status: 401, json: {error}});
    };
    await page.route(/\/api\/v1\//, guard);
    await link(page, first).click();
    await panel(page).locator("form.token").waitFor();
    await page.locator("#stale:not([hidden])").waitFor(); // the next tick was refused too
    assert.equal(await page.locator("#jobs form.token").count(), 1);
    await panel(page).locator("form.token input").fill("t0ken");
    await page.keyboard.press("Enter");
    await ended(page, "done");
    assert.equal(await page.locator("#jobs form.token").count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), `Job ${first.id}`);
    await done();
  });
  await test("an answer of the job looked at before does not come over the one looked at now", async () => {
    const {page, done} = await open(browser, {expected: [/404/]});
    await look(page, daemon);
    const held = await hold(page, one(first));
    await link(page, first).click();
    await held.arrived;
    await link(page, second).click();
    await ended(page, "done");
    await held.release((route) =>
      route.fulfill({
        status: 404,
        json: {error: {code: "not_found", message: "there is no job", next_action: "List them."}},
      }),
    );
    assert.equal(await panel(page).getByRole("heading", {level: 2}).first().innerText(), `Job ${second.id}`);
    await done();
  });
  await test("the list is that of the state in its filter, in whatever order the answers come", async () => {
    const {page, done} = await open(browser);
    await look(page, daemon);
    const held = await hold(page, /\/api\/v1\/jobs\?state=done/);
    await page.getByLabel("State").selectOption("done");
    await held.arrived;
    await page.getByLabel("State").selectOption("failed");
    await page.getByText("No failed job").waitFor();
    await held.release(asIs);
    assert.equal(await page.locator("#jobs .job-list tbody tr").count(), 0);
    assert.ok(await page.getByText("No failed job").isVisible());
    await done();
  });
  await test("a list that cannot be read can be tried again", async () => {
    const {page, done} = await open(browser, {expected: [/ERR_FAILED/]});
    await look(page, daemon);
    const pattern = /\/api\/v1\/jobs\?state=done/;
    await page.route(pattern, (route) => route.abort());
    await page.getByLabel("State").selectOption("done");
    await page.locator(".list-side .notice.bad", {hasText: "The daemon does not answer."}).waitFor();
    await page.unroute(pattern);
    await page.locator(".list-side").getByRole("button", {name: "Try again"}).click();
    await page.locator(`#jobs tr[data-job="${second.id}"]`).waitFor();
    assert.equal(await page.locator(".list-side .notice.bad").count(), 0);
    assert.notEqual(await page.evaluate(() => document.activeElement.localName), "body");
    await done();
  });
  await test("runs of a replay are marked in the list of jobs too; printed, it has moments", async () => {
    const {page, done} = await open(browser);
    await look(page, daemon);
    const marks = page.locator("#jobs .job-run .mark");
    assert.deepEqual(await marks.allInnerTexts(), ["Replayed", "Replayed"]);
    await page.emulateMedia({media: "print"});
    for (const text of await page.locator("#jobs .job-sent").allInnerTexts()) {
      assert.match(text, /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\sUTC/);
    }
    await done();
    const other = await open(browser);
    await other.page.route(/\/api\/v1\/runs\?/, async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      return route.fulfill({response, json: {...json, items: json.items.map((run) => ({...run, source: "measured"}))}});
    });
    await look(other.page, daemon);
    await other.page.getByRole("link", {name: `run ${second.run}`}).waitFor();
    // the daemon replays now; these runs it measured
    assert.equal(await other.page.locator("#jobs .job-run .mark").count(), 0);
    await other.done();
  });
  await test("what /readyz says is taken back when it no longer holds", async () => {
    const {page, done} = await open(browser, {expected: [/503/]});
    const ready = (await daemon.ask("GET", "/readyz")).json;
    const reasons = [{code: "no_device", message: "no GPU was found", next_action: "Look at the driver."}];
    await page.route(/\/readyz$/, (route) => route.fulfill({status: 503, json: {...ready, ready: false, reasons}}));
    await look(page, daemon);
    const said = page.locator("#jobs .notice.bad", {hasText: "A job sent now would not be measured."});
    await said.getByText("No GPU was found. Look at the driver.").waitFor();
    await page.unroute(/\/readyz$/);
    await said.waitFor({state: "detached"});
    await done();
  });
  await test("where only /readyz does not answer, the form and the list are there and go on", async () => {
    const {page, done} = await open(browser, {expected: [/ERR_FAILED/, /503/]});
    await page.clock.install();
    await page.route(/\/readyz$/, (route) => route.abort());
    await look(page, daemon);
    assert.equal(await page.getByText("A job sent now would not be measured.").count(), 0); // not known, so not said
    await press(page).waitFor();
    const ready = (await daemon.ask("GET", "/readyz")).json;
    await page.unroute(/\/readyz$/);
    await page.route(/\/readyz$/, (route) =>
      route.fulfill({
        status: 503,
        json: {
          ...ready,
          ready: false,
          reasons: [{code: "no_device", message: "no GPU was found", next_action: "Look at the driver."}],
        },
      }),
    );
    await page.reload();
    const said = page.getByText("No GPU was found. Look at the driver.");
    await said.waitFor();
    await page.unroute(/\/readyz$/);
    await page.route(/\/readyz$/, (route) => route.abort());
    const failed = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/readyz"));
    await page.clock.runFor(6000); // over the ticks to the next reading
    await failed;
    await page.evaluate(
      () =>
        new Promise((drawn) => {
          requestAnimationFrame(() => requestAnimationFrame(drawn));
        }),
    );
    assert.ok(await said.isVisible());
    assert.ok(await page.locator("#stale").isHidden());
    await done();
  });
  await daemon.stop();
}

/** Lets the list of jobs have as many as size.count says, made of one of them; pages are as the API's. */
async function manyJobs(page, job, size) {
  await page.route(/\/api\/v1\/jobs\?/, (route) => {
    const {searchParams} = new URL(route.request().url());
    const [limit, at] = [Number(searchParams.get("limit")), Number(searchParams.get("cursor") ?? 0)];
    const items = Array.from({length: size.count}, (_, i) => ({
      ...job,
      id: String(100 + size.count - i),
      state: searchParams.get("state") ?? job.state,
    }));
    return route.fulfill({
      json: {items: items.slice(at, at + limit), next: at + limit < items.length ? String(at + limit) : null},
    });
  });
}

async function showMore(browser) {
  const daemon = await start();
  const job = await submit(daemon, {suite: "verify", counters: false, kernels: ["vector_add"]});
  const focused = (page) =>
    page.evaluate(() => [document.activeElement.localName, document.activeElement.textContent.slice(0, 40)]);
  const rows = (page, count) =>
    page
      .locator("#jobs .job-list tbody tr")
      .nth(count - 1)
      .waitFor();
  const read = (page) => page.waitForResponse(/\/api\/v1\/jobs\?/).then((answer) => answer.finished());
  await test(
    "Show more keeps the focus while there is more, over an error too, and leaves it at the list's " +
      "heading when all is shown",
    async () => {
      const {page, done} = await open(browser, {expected: [/ERR_FAILED/]});
      await manyJobs(page, job, {count: 45});
      await look(page, daemon);
      await page.getByRole("button", {name: "Show more"}).focus();
      await page.keyboard.press("Enter");
      await rows(page, 40);
      assert.deepEqual(await focused(page), ["button", "Show more"]);
      await read(page); // the list as it is now
      assert.deepEqual(await focused(page), ["button", "Show more"]);
      await page.route(/cursor=40/, (route) => route.abort(), {times: 1});
      await page.keyboard.press("Enter");
      await page.locator(".pager .notice.bad").waitFor();
      assert.deepEqual(await focused(page), ["button", "Show more"]);
      assert.deepEqual(await axe(page), []);
      const scrolled = await page.evaluate(() => window.scrollY);
      await page.keyboard.press("Enter");
      await rows(page, 45);
      await page.locator(".pager").waitFor({state: "detached"});
      assert.deepEqual(await focused(page), ["h2", "All jobs"]);
      assert.ok(
        Math.abs((await page.evaluate(() => window.scrollY)) - scrolled) < 2,
        "the reader's rows stay in sight",
      );
      await done();
    },
  );
  await test("Show more that a shorter list no longer needs leaves the focus at the list's heading", async () => {
    const {page, done} = await open(browser);
    const size = {count: 25};
    await manyJobs(page, job, size);
    await look(page, daemon, "&state=done");
    await page.getByRole("button", {name: "Show more"}).focus();
    size.count = 12;
    await page.locator(".pager").waitFor({state: "detached"});
    assert.deepEqual(await focused(page), ["h2", "Done jobs"]);
    await done();
  });
  await daemon.stop();
}

async function focusKept(browser) {
  await test("a job that ends while it is asked whether to cancel it leaves the focus in its panel", async () => {
    const daemon = await slow(6);
    const {page, done} = await open(browser);
    await look(page, daemon);
    await press(page).click();
    await ended(page, "running");
    await panel(page).getByRole("button", {name: "Cancel this job"}).click();
    const [job] = await jobs(daemon);
    await daemon.ask("DELETE", `/api/v1/jobs/${job.id}`); // by somebody else
    await ended(page, "cancelled");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), `Job ${job.id}`);
    await done();
    await daemon.stop();
  });
}

export async function lateTests(browser) {
  await lateAndLost(browser);
  await showMore(browser);
  await focusKept(browser);
}
