// Jobs in Chromium: started from the form and followed to every end that a job can have.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {pathToFileURL} from "node:url";
import {axe, launch, open, overflow} from "../tools/browser.mjs";
import {JSON_TYPE, slowRecording, start, submit, temporary} from "../tools/daemon.mjs";
import {test, until} from "../tools/suite.mjs";
import {failing} from "./failing.mjs";
import {lateTests} from "./late.mjs";
import {ended, jobs, look, panel, press, slow} from "./page.mjs";

const {RL_README} = process.env;
const root = dirname(RL_README);
const GONE = [/ERR_CONNECTION_REFUSED/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/];

async function tabTo(page, what, is) {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(is)) return;
  }
  assert.fail(`Tab never reached ${what}`);
}

async function words() {
  const module = (path) => import(pathToFileURL(join(root, "static/js", path)));
  const {COUNTERS, countersTrouble} = await module("parts/job.js");
  const {age, bodyOf, draftOf, emptyDraft, newKey} = await module("views/jobs/words.js");
  await test("what the page says of counters is what the catalogue of errors says", () => {
    const rows = readFileSync(join(root, "server/API.md"), "utf8").matchAll(
      /^\| `(counters_\w+)` \|[^|]*\|[^|]*\|[^|]*\| (.*) \|$/gm,
    );
    const table = new Map([...rows].map(([, code, action]) => [code, action]));
    assert.ok(table.size >= 8);
    assert.deepEqual(
      Object.fromEntries(Object.entries(COUNTERS).map(([code, [, action]]) => [code, action])),
      Object.fromEntries(table),
    );
    assert.equal(countersTrouble("ok"), null);
    assert.match(countersTrouble("counters_tomorrow").meaning, /counters_tomorrow/);
  });
  await test("a form's body says what was chosen and no more; a job's draft gives its body again", () => {
    const kernels = ["a", "b", "c"];
    const draft = emptyDraft();
    const plain = {suite: "verify", sizes: "course", cache: ["warm", "cold"], counters: true, on_interrupt: "fail"};
    assert.deepEqual(bodyOf(draft, kernels), plain);
    Object.assign(draft, {
      device: "GPU-1",
      note: "x",
      retry: true,
      cold: false,
      without: new Set(["b"]),
      predictions: {a: "near", b: "above"},
    });
    const body = bodyOf(draft, kernels);
    assert.deepEqual(body, {
      ...plain,
      cache: ["warm"],
      on_interrupt: "retry",
      device: "GPU-1",
      kernels: ["a", "c"],
      note: "x",
      predictions: {a: "near"},
    }); // b is left out, and so is what was said of it
    assert.deepEqual(bodyOf(draftOf(body, kernels), kernels), body);
    const now = Date.parse("2026-01-02T00:00:00Z");
    assert.deepEqual(
      [
        "2026-01-02T00:00:01Z",
        "2026-01-01T23:59:30Z",
        "2026-01-01T23:58:30Z",
        "2026-01-01T21:00:00Z",
        "2025-12-30T00:00:00Z",
      ].map((text) => age(text, now)),
      ["now", "30\u00a0s ago", "1\u00a0min ago", "3\u00a0h ago", "3\u00a0d ago"],
    );
    assert.notEqual(newKey(), newKey());
    assert.match(newKey(), /^[\x20-\x7e]{1,128}$/);
  });
}

async function following(browser) {
  const daemon = await slow(6);
  await test("by keyboard alone: a job with predictions is started, followed to its end and scored", async () => {
    const {page, done} = await open(browser);
    await look(page, daemon);
    await tabTo(
      page,
      "the kernels",
      () => document.activeElement.localName === "summary" && document.activeElement.textContent.startsWith("Kernels"),
    );
    await page.keyboard.press("Enter");
    for (const [kernel, said] of [
      ["vector_add", "near"],
      ["matmul_naive", "above"],
    ]) {
      await page.locator(`select[data-kernel="${kernel}"]`).focus();
      await page.keyboard.type(said);
    }
    await tabTo(page, "the note", () => document.activeElement.localName === "textarea");
    await page.keyboard.type("<img src=x onerror=alert(1)>");
    await tabTo(page, "the button", () => document.activeElement.textContent === "Start verification");
    await page.keyboard.press("Enter");
    await ended(page, "running");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Job 1");
    const bar = panel(page).getByRole("progressbar");
    await until("a phase with its numbers", async () =>
      /: .+ \(\d+\sof\s\d+\ssteps\)/.test(await panel(page).locator(".phase").textContent()),
    );
    const [value, max] = await bar.evaluate((element) => [element.value, element.max]);
    assert.ok(value >= 0 && max > 10 && value <= max);
    assert.deepEqual(await axe(page), []);
    await ended(page, "done");
    await panel(page).getByText("1 of 2 right").waitFor();
    const [job] = await jobs(daemon);
    const said = (await daemon.ask("GET", `/api/v1/runs/${job.run}/predictions`)).json;
    assert.deepEqual(job.predictions, {vector_add: "near", matmul_naive: "above"});
    const rows = await panel(page)
      .locator(".predictions tbody tr")
      .evaluateAll((all) => all.map((tr) => [...tr.children].map((cell) => cell.textContent)));
    assert.deepEqual(
      rows.map((row) => row.slice(1, 5)),
      said.items.map((item) => [item.state, item.said, item.found, item.dram_per_ask.toFixed(4)]),
    );
    assert.deepEqual(
      rows.map((row) => row[5]),
      said.items.map((item) => (item.right ? "right" : "wrong")),
    );
    assert.ok((await panel(page).locator(".facts").innerText()).includes("<img src=x onerror=alert(1)>"));
    assert.match(page.url(), new RegExp(`job=${job.id}`));
    await page.locator("#jobs .job-list").getByText("<img src=x").waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    await panel(page).getByText("Transcript").click();
    await panel(page).locator("pre", {hasText: "NVIDIA H200"}).waitFor();
    assert.deepEqual(await axe(page), []);
    await panel(page).getByRole("link", {name: "Show the roofline"}).click();
    await page.locator("#run table tbody tr").first().waitFor();
    assert.match(page.url(), new RegExp(`run=${job.run}`));
    await done();
  });
  await test("by keyboard alone: a running job is kept, then cancelled; asked in place, no dialog", async () => {
    const {page, done} = await open(browser, {width: 390});
    await look(page, daemon);
    await press(page).focus();
    await page.keyboard.press("Enter");
    await ended(page, "running");
    const id = (await panel(page).locator("h2").textContent()).slice(4);
    await tabTo(page, "cancel", () => document.activeElement.textContent === "Cancel this job");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Keep it running");
    await page.keyboard.press("Enter");
    assert.equal((await daemon.ask("GET", `/api/v1/jobs/${id}`)).json.cancel_requested, false);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await ended(page, "cancelled");
    assert.equal((await daemon.ask("GET", `/api/v1/jobs/${id}`)).json.state, "cancelled");
    assert.equal(await panel(page).getByRole("button", {name: "Cancel this job"}).isVisible(), false);
    await page.locator(`#jobs tr[data-job="${id}"] .chip`, {hasText: /^cancelled$/}).waitFor();
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await axe(page), []);
    await panel(page).getByRole("button", {name: "Fill the form with this job's values"}).click();
    await press(page).click();
    await panel(page)
      .getByRole("heading", {name: `Job ${Number(id) + 1}`})
      .waitFor(); // a form of its own, so a job of its own
    await ended(page, "done");
    await done();
  });
  await daemon.stop();
}

async function onceOnly(browser) {
  const daemon = await slow(2);
  await test("a double click starts one job, and so does a form sent again; another has to be asked for", async () => {
    const {page, done} = await open(browser);
    await look(page, daemon);
    await press(page).dblclick();
    await panel(page).waitFor();
    await press(page).click();
    await page.getByText("This form is job 1 already").waitFor();
    assert.equal((await jobs(daemon)).length, 1);
    await page.getByRole("button", {name: "Another with the same values"}).click();
    await press(page).click();
    await panel(page).getByRole("heading", {name: "Job 2"}).waitFor();
    assert.equal((await jobs(daemon)).length, 2);
    await page.getByRole("checkbox", {name: "cold"}).uncheck(); // another form
    await press(page).click();
    await panel(page).getByRole("heading", {name: "Job 3"}).waitFor();
    await done();
  });
  await test("an answer that is lost on its way: sending again is told to be safe, and is", async () => {
    const {page, done} = await open(browser, {expected: [/ERR_FAILED/]});
    await look(page, daemon);
    const before = (await jobs(daemon)).length;
    let lost = false;
    await page.route(/\/api\/v1\/jobs$/, async (route) => {
      if (lost || route.request().method() !== "POST") return route.continue();
      lost = true;
      await route.fetch();
      return route.abort();
    });
    await page.getByLabel("Note").fill("lost");
    await press(page).click();
    await page.getByText("Sending it again is safe").waitFor();
    await press(page).click();
    await page.getByText(`This form is job ${before + 1} already`).waitFor();
    assert.equal((await jobs(daemon)).length, before + 1);
    await done();
  });
  await daemon.stop();
}

/** The queue holds more jobs than a page of the list; the running one is the oldest. */
async function longList(browser) {
  const daemon = await slow(30);
  for (let i = 0; i < 30; i++) {
    await daemon.ask("POST", "/api/v1/jobs", {headers: JSON_TYPE, body: '{"suite":"verify"}'});
  }
  const row = (page, id) => page.locator(`#jobs tr[data-job="${id}"]`);
  const count = (page) => page.locator("#jobs .job-list tbody tr").count();
  await test("jobs beyond the first page of the list are kept up to date too", async () => {
    const {page, done} = await open(browser);
    await look(page, daemon);
    assert.equal(await count(page), 20);
    await page.getByRole("button", {name: "Show more"}).click();
    await until("all rows", async () => (await count(page)) === 30);
    await row(page, 1).getByRole("progressbar").waitFor();
    await daemon.ask("DELETE", "/api/v1/jobs/1");
    await row(page, 1)
      .locator(".chip", {hasText: /^cancelled$/})
      .waitFor();
    await row(page, 2)
      .locator(".chip", {hasText: /^(running|done)$/})
      .waitFor();
    await daemon.ask("DELETE", "/api/v1/jobs/7");
    await row(page, 7)
      .locator(".chip", {hasText: /^cancelled$/})
      .waitFor();
    assert.equal(await count(page), 30);
    await done();
  });
  await test("a list of one state loses jobs that leave it and gets those that come, on later pages too", async () => {
    const {page, done} = await open(browser);
    await look(page, daemon, "&state=queued");
    await page.getByRole("button", {name: "Show more"}).click();
    const listed = async () =>
      (await count(page)) === (await jobs(daemon)).filter((job) => job.state === "queued").length;
    await until("the second page", async () => (await count(page)) > 20);
    await until("all that wait", listed);
    await daemon.ask("DELETE", "/api/v1/jobs/5");
    await until("job 5 gone", async () => (await row(page, 5).count()) === 0);
    await until("the others", listed);
    await page.getByLabel("State").selectOption("cancelled");
    await row(page, 5).waitFor();
    for (let id = 30; id > 10; id--) await daemon.ask("DELETE", `/api/v1/jobs/${id}`);
    await until("a page of cancelled ones", async () => (await row(page, 11).count()) === 1);
    await daemon.ask("DELETE", "/api/v1/jobs/6");
    await row(page, 6).waitFor();
    assert.deepEqual(
      await page.locator("#jobs .job-list tbody tr").evaluateAll((all) => all.map((tr) => tr.dataset.job)),
      (await jobs(daemon)).filter((job) => job.state === "cancelled").map((job) => job.id),
    );
    await done();
  });
  await daemon.stop();
}

async function interrupted(browser) {
  for (const retry of [false, true]) {
    await test(`the daemon dies in a job: stale, then ${retry ? "the second attempt" : "interrupted"}`, async () => {
      const folder = temporary();
      const options = {folder, replay: slowRecording(folder, 12)};
      const daemon = await start(options);
      const {page, done} = await open(browser, {expected: GONE});
      await look(page, daemon);
      if (retry) await page.getByRole("checkbox", {name: /start again once/}).check();
      await press(page).click();
      await ended(page, "running");
      await until("progress", async () => /\d+\sof\s\d+/.test(await panel(page).locator(".phase").textContent()));
      daemon.child.kill("SIGKILL");
      await daemon.ended;
      await page.locator("#stale:not([hidden])", {hasText: "The daemon does not answer."}).waitFor();
      await page.locator("#jobs .job.is-old").waitFor();
      assert.deepEqual(await axe(page), []);
      const again = await start({...options, port: daemon.port});
      if (retry) {
        await panel(page).getByText("2: the daemon or the node died during the one before").waitFor({timeout: 30000});
        await ended(page, "done");
      } else {
        await ended(page, "interrupted");
        const text = await panel(page).innerText();
        for (const part of [
          "It was interrupted.",
          "The daemon or the node died while the job was running.",
          "send it again",
        ]) {
          assert.ok(text.includes(part), `${part} in ${text}`);
        }
      }
      assert.ok(await page.locator("#stale").isHidden());
      assert.equal(await page.locator("#jobs .job.is-old").count(), 0);
      await page.locator('#jobs tr[data-job="1"]', {hasText: retry ? "done" : "interrupted"}).waitFor();
      await done();
      await again.stop();
    });
  }
}

async function rights(browser) {
  await test("without the right to submit: a token is asked for in place, and the form is not lost", async () => {
    const folder = temporary();
    const file = join(folder, "tokens");
    const line = (id, right, token) => `${id} ${right} ${createHash("sha256").update(token).digest("hex")}\n`;
    writeFileSync(file, line("reader", "read", "r3ad") + line("sender", "submit", "s3nd"), {mode: 0o600});
    const daemon = await start({folder, options: ["--token-file", file]});
    const {page, done} = await open(browser, {expected: [/401/, /403/]});
    await look(page, daemon);
    await page.getByLabel("Note").fill("kept");
    await press(page).click();
    await page.locator(".said", {hasText: "unauthorized"}).waitFor();
    assert.deepEqual(await axe(page), []);
    assert.equal(await page.evaluate(() => document.activeElement.type), "password");
    await page.keyboard.type("r3ad");
    await page.keyboard.press("Enter");
    await page.locator(".said", {hasText: "forbidden"}).waitFor();
    assert.match(await page.locator(".said").innerText(), /This needs the submit right; token:reader has read\./);
    await page.getByLabel("Token").fill("s3nd");
    await page.keyboard.press("Enter");
    await ended(page, "done");
    const [job, ...others] = await jobs(daemon);
    assert.deepEqual([job.note, job.principal, others.length], ["kept", "token:sender", 0]);
    assert.ok(!page.url().includes("s3nd"));
    await done();
    await daemon.stop();
  });
}

async function everywhere(browser) {
  const daemon = await start();
  await test("no job yet says so; a job that is not there is told", async () => {
    const {page, done} = await open(browser, {expected: [/404/]});
    await look(page, daemon);
    await page.getByText("No job yet").waitFor();
    assert.deepEqual(await axe(page), []);
    await look(page, daemon, "&job=77");
    await page.getByText("there is no job 77").waitFor();
    await done();
  });
  const job = await submit(daemon, {
    suite: "verify",
    note: `<b>x</b> ${"y".repeat(200)} مصفوفة`,
    predictions: {vector_add: "near"},
  });
  for (const options of [{}, {width: 768, scheme: "dark"}, {width: 390}, {width: 1440, forcedColors: "active"}]) {
    await test(`axe finds nothing, nothing is wider than the page: ${JSON.stringify(options)}`, async () => {
      const {page, done} = await open(browser, options);
      await look(page, daemon, `&job=${job.id}`);
      await panel(page).locator(".predictions").waitFor();
      await page.locator(".kernels summary").click();
      assert.deepEqual(await axe(page), []);
      assert.equal(await overflow(page), 0);
      assert.ok(!/NaN|undefined/.test(await page.locator("#jobs").innerText()));
      await done();
    });
  }
  await test("moments of a job are told by UTC and by the reader's clock with its zone", async () => {
    for (const [timezoneId, zone] of [
      ["America/Los_Angeles", /P[SD]T/],
      ["Asia/Kolkata", /GMT\+5:30|IST/],
    ]) {
      const {page, done} = await open(browser, {timezoneId, locale: "en-US"});
      await look(page, daemon, `&job=${job.id}`);
      await panel(page).locator(".predictions").waitFor();
      const told = [
        ...(await panel(page).locator(".facts time").allTextContents()),
        ...(await page
          .locator("#jobs .job-list time, #jobs .says time")
          .evaluateAll((all) => all.map((time) => time.title))),
      ];
      assert.ok(told.length >= 5, told.join("; "));
      for (const text of told) assert.ok(/\d{2}:\d{2}:\d{2}\sUTC \(/.test(text) && zone.test(text), text);
      await done();
    }
  });
  await test("a job of another client shows up by itself; its link follows it and keeps the filled form", async () => {
    const {page, done} = await open(browser);
    await look(page, daemon);
    await page.getByLabel("Note").fill("half written");
    const other = await submit(daemon, {suite: "verify", counters: false});
    await page.locator(`#jobs tr[data-job="${other.id}"]`).waitFor({timeout: 15000});
    await page.getByRole("link", {name: other.id, exact: true}).click();
    await panel(page)
      .getByRole("heading", {name: `Job ${other.id}`})
      .waitFor();
    assert.equal(await page.getByLabel("Note").inputValue(), "half written");
    await done();
  });
  await daemon.stop();
}

export async function jobsTests() {
  await words();
  const browser = await launch();
  try {
    await following(browser);
    await onceOnly(browser);
    await failing(browser);
    await longList(browser);
    await lateTests(browser);
    await interrupted(browser);
    await rights(browser);
    await everywhere(browser);
  } finally {
    await browser.close();
  }
}
