// Jobs that go wrong, each in its own way.
import assert from "node:assert/strict";
import {writeFileSync} from "node:fs";
import {dirname, join, relative} from "node:path";
import {axe, open, overflow} from "../tools/browser.mjs";
import {JSON_TYPE, start, temporary} from "../tools/daemon.mjs";
import {test, until} from "../tools/suite.mjs";
import {ended, jobs, look, panel, press, slow} from "./page.mjs";

const {RL_README, RL_RECORDING} = process.env;
const root = dirname(RL_README);

/** A recording in folder that answers as the one under test does, with these faults. */
function faulty(folder, ...faults) {
  const path = join(folder, "faulty.jsonl");
  const lines = [
    {roofline_recording: 1, base: relative(folder, RL_RECORDING), note: "for a test"},
    ...faults.map((fault) => ({op: "fault", ...fault})),
  ];
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

const PERMISSION = {
  code: "counters_permission",
  message: "cuptiRangeProfilerEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)",
};

export async function failing(browser) {
  await test("a job that fails with a permission error says what the operator has to do", async () => {
    const folder = temporary();
    const daemon = await start({
      folder,
      replay: faulty(folder, {on: "warm", unit: "vector_add", sample: 2, error: PERMISSION}),
    });
    for (const options of [{}, {width: 390, scheme: "dark"}]) {
      const {page, done} = await open(browser, options);
      await look(page, daemon);
      await press(page).click();
      await ended(page, "failed");
      const text = await panel(page).innerText();
      for (const part of [
        "It failed.",
        `${PERMISSION.message}.`,
        "What the operator has to do: Give the measuring process CAP_PERFMON",
        "NVreg_RestrictProfilingToAdminUsers=0",
        "counters_permission",
      ]) {
        assert.ok(text.includes(part), `${part} in ${text}`);
      }
      assert.deepEqual(await axe(page), []);
      assert.equal(await overflow(page), 0);
      await done();
    }
    await daemon.stop();
  });
  await test("counters refused from the start: told before and of the run, with what to do about it", async () => {
    const daemon = await start({replay: join(root, "tests/data/faults/counters_permission.jsonl")});
    const {page, done} = await open(browser);
    await look(page, daemon);
    const action = "What the operator has to do: Give the measuring process CAP_PERFMON";
    assert.ok((await page.locator(".says").innerText()).includes(action));
    await press(page).click();
    await ended(page, "done");
    await panel(page).getByText("Times only, no byte counters").waitFor();
    assert.ok((await panel(page).locator(".end").innerText()).includes(action));
    assert.deepEqual(await axe(page), []);
    await done();
    await daemon.stop();
  });
  await test("a run with a wrong result says which check failed by its title, not by its id", async () => {
    const daemon = await start({replay: join(root, "tests/data/faults/wrong_result.jsonl")});
    const {page, done} = await open(browser);
    await look(page, daemon);
    await press(page).click();
    await ended(page, "done");
    const [job] = await jobs(daemon);
    const run = (await daemon.ask("GET", `/api/v1/runs/${job.run}`)).json;
    const wrong = run.checks.find((check) => run.outcome_reasons.includes(`${check.name} failed`));
    await panel(page)
      .locator(".notice.bad", {hasText: `Check failed: ${wrong.title}.`})
      .waitFor();
    await done();
    await daemon.stop();
  });
  await test("no GPU: the page says that nothing would be measured, and the sent form says why", async () => {
    const daemon = await start({replay: join(root, "tests/data/faults/no_device.jsonl"), ready: false});
    const {page, done} = await open(browser, {expected: [/503/]});
    await look(page, daemon);
    await page.getByText("A job sent now would not be measured.").waitFor();
    await press(page).click();
    await page.locator(".said .notice.bad", {hasText: "no_device"}).waitFor();
    assert.equal(await page.locator("#job-device").getAttribute("aria-invalid"), "true");
    assert.deepEqual(await axe(page), []);
    await done();
    await daemon.stop();
  });
  await test("what the API refuses stands at its field", async () => {
    const daemon = await start();
    const {page, done} = await open(browser, {expected: [/400/]});
    await look(page, daemon);
    for (const state of ["warm", "cold"]) await page.getByRole("checkbox", {name: state}).uncheck();
    await press(page).click();
    await page.locator("#job-cache-error:not([hidden])").waitFor();
    for (const place of ["#job-cache-error", ".said .notice.bad p:first-child"]) {
      assert.match(await page.locator(place).innerText(), /^cache is /);
    }
    assert.equal(await page.evaluate(() => document.activeElement.parentNode.textContent), "warm");
    await page.getByRole("checkbox", {name: "warm"}).check();
    await page.getByLabel("Note").fill("x".repeat(4097));
    assert.match(await page.locator("#job-note-hint").innerText(), /4097 of 4096 bytes/);
    await press(page).click();
    await page.locator("#job-note-error:not([hidden])").waitFor();
    assert.ok(await page.locator("#job-cache-error").isHidden());
    assert.equal(await page.locator("#job-note").getAttribute("aria-invalid"), "true");
    assert.deepEqual(await axe(page), []);
    await page.getByLabel("Note").fill("");
    await page.locator(".kernels summary").click();
    for (const box of await page.locator(".kernel-list input").all()) await box.uncheck();
    assert.match(await page.locator(".kernels summary").innerText(), /0 of 10/);
    await press(page).click();
    await page.locator("#job-kernels-error:not([hidden])").waitFor();
    assert.equal((await jobs(daemon)).length, 0);
    await done();
    await daemon.stop();
  });
  await test("a wait that is over gives the button back", async () => {
    const daemon = await start();
    const {page, done} = await open(browser, {expected: [/429/]});
    await look(page, daemon);
    const error = {
      code: "queue_full",
      message: "64 jobs are waiting",
      next_action: "Wait for the seconds in Retry-After and send the job again.",
    };
    await page.route(/\/api\/v1\/jobs$/, (route) =>
      route.request().method() === "POST"
        ? route.fulfill({status: 429, headers: {"Retry-After": "1"}, json: {error}})
        : route.continue(),
    );
    await press(page).click();
    await page.getByText("The daemon asks to wait 1 s").waitFor();
    assert.match(await page.evaluate(() => document.activeElement.textContent), /^Start verification/);
    await until("the button", async () => (await press(page).getAttribute("aria-disabled")) === null);
    assert.equal(await press(page).textContent(), "Start verification");
    await page.unroute(/\/api\/v1\/jobs$/);
    await press(page).click();
    await ended(page, "done");
    await done();
    await daemon.stop();
  });
  await test("a refusal that asks for no wait holds nothing back, at the job's form and at the import's", async () => {
    const daemon = await start();
    const {page, done} = await open(browser, {expected: [/429/]});
    const error = {code: "queue_full", message: "64 jobs are waiting", next_action: "Send the job again."};
    await page.route(/\/api\/v1\/(jobs|imports)$/, (route) =>
      route.request().method() === "POST" ? route.fulfill({status: 429, json: {error}}) : route.continue(),
    );
    for (const [fragment, button] of [
      ["view=jobs", "Start verification"],
      ["view=import", "Import"],
    ]) {
      await page.goto(`${daemon.url}/#${fragment}`);
      const send = page.locator("form").getByRole("button", {name: button});
      await send.click();
      const said = page.locator(".said .notice.bad");
      await said.waitFor();
      assert.deepEqual(await said.locator("p").allInnerTexts(), [
        "64 jobs are waiting.",
        "Send the job again.",
        "queue_full",
      ]);
      assert.deepEqual([await send.innerText(), await send.getAttribute("aria-disabled")], [button, null]);
      const [again] = await Promise.all([page.waitForRequest((request) => request.method() === "POST"), send.click()]);
      assert.ok(again);
    }
    await done();
    await daemon.stop();
  });
  await test("too many jobs: the button waits as long as the daemon asks", async () => {
    const daemon = await slow(12);
    const {page, done} = await open(browser, {expected: [/429/]});
    for (let i = 0; i < 32; i++) {
      await daemon.ask("POST", "/api/v1/jobs", {headers: JSON_TYPE, body: '{"suite":"verify"}'});
    }
    await look(page, daemon);
    await press(page).click();
    await page.getByText("too_many_jobs").waitFor();
    await page.getByText(/The daemon asks to wait \d+\u00a0s/).waitFor();
    assert.equal(await press(page).getAttribute("aria-disabled"), "true");
    const left = async () => Number(/in (\d+)\u00a0s/.exec(await press(page).textContent())[1]);
    const first = await left();
    await until("less to wait", async () => (await left()) < first);
    assert.equal((await jobs(daemon)).length, 32);
    await page.getByRole("button", {name: "Show more"}).click();
    await until("all rows", async () => (await page.locator("#jobs .job-list tbody tr").count()) === 32);
    await page.getByLabel("State").selectOption("running");
    await until("the running one", async () => (await page.locator("#jobs .job-list tbody tr").count()) === 1);
    await page.getByLabel("State").selectOption("failed");
    await page.getByText("No failed job").waitFor();
    await done();
    await daemon.stop();
  });
}
