// Labels, withdrawn runs and why predictions were wrong, on the page in Chromium.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {axe, launch, open, overflow, show} from "../tools/browser.mjs";
import {JSON_TYPE, start, submit, temporary} from "../tools/daemon.mjs";
import {plain, test, until} from "../tools/suite.mjs";

const LABEL = "<b>v2</b>, é ≤ 3f2c\\";
const LONG = "x".repeat(64);
const T4 = join(dirname(process.env.RL_README), "deploy/records/t4.json");
const focused = (page) => page.evaluate(() => document.activeElement.textContent);

async function jobsAndLists(browser, daemon, ids) {
  await test("a job is started with a label, and its row and its run have it", async () => {
    const {page, done} = await open(browser, {width: 390});
    await page.goto(`${daemon.url}/#view=jobs`);
    await page.locator("#job-label").fill(`  ${LABEL} `);
    await page.getByRole("button", {name: "Start verification"}).click();
    await page.getByText(/Sent as job/).waitFor();
    const [job] = (await daemon.ask("GET", "/api/v1/jobs?limit=1")).json.items;
    assert.equal(job.label, LABEL);
    await page.locator(`[data-job="${job.id}"] .label-of`).waitFor();
    assert.equal(await page.locator(`[data-job="${job.id}"] .label-of`).textContent(), LABEL);
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await axe(page), []);
    await until("its end", async () => (await daemon.ask("GET", `/api/v1/jobs/${job.id}`)).json.state === "done");
    ids.labelled = (await daemon.ask("GET", `/api/v1/jobs/${job.id}`)).json.run;
    await show(page, `${daemon.url}/#run=${ids.labelled}`);
    assert.equal(plain(await page.locator(".run-label").innerText()), `Label ${LABEL}`);
    await page.locator(".run-label a").click();
    await page.locator("#runs tbody tr").first().waitFor();
    assert.deepEqual(await page.locator("#runs tbody tr").evaluateAll((rows) => rows.map((row) => row.dataset.run)), [
      ids.labelled,
    ]);
    await done();
  });
  await test("the list of runs shows labels and filters by them; what is none is refused at its field", async () => {
    for (const width of [1440, 390]) {
      const {page, done} = await open(browser, {width, expected: [/400/]});
      await page.goto(`${daemon.url}/#view=runs`);
      const row = page.locator(`#runs tr[data-run="${ids.long}"]`);
      await row.waitFor();
      assert.equal(await row.locator(".label-of").textContent(), LONG);
      assert.equal(await overflow(page), 0);
      assert.deepEqual(await axe(page), []);
      await page.locator("#runs form [name=label]").fill(LABEL);
      await page.locator("#runs form [name=label]").press("Tab");
      await until("one run", async () => (await page.locator("#runs tbody tr").count()) === 1);
      assert.equal(new URLSearchParams(page.url().split("#")[1]).get("label"), LABEL);
      await page.locator("#runs form [name=label]").fill("\u200b");
      await page.locator("#runs form [name=label]").press("Tab");
      await page.locator("#runs .notice.bad").waitFor();
      assert.match(await page.locator("#runs .notice.bad").innerText(), /Label: Has nothing that can be seen/i);
      assert.equal(await page.locator("#runs form [name=label]").getAttribute("aria-invalid"), "true");
      await done();
    }
  });
  await test("an import takes a label; the same files with another are refused at the field", async () => {
    const {page, done} = await open(browser, {width: 390, expected: [/409/]});
    await page.goto(`${daemon.url}/#view=import`);
    await page.getByRole("radio", {name: "a published table"}).check();
    await page.getByLabel("Record", {exact: true}).setInputFiles(T4);
    await page.getByLabel("Measured on").fill("2026-09-01");
    await page.locator("#import-label").fill("t4 v1");
    await page.getByRole("button", {name: "Import"}).click();
    await page.getByText("Imported as").waitFor();
    assert.match(await page.locator("#import .said").innerText(), /t4 v1/);
    await page.locator("#import-label").fill("t4 v2");
    await page.getByRole("button", {name: "Import"}).click();
    await page.locator("#import-label[aria-invalid=true]").waitFor();
    assert.match(await page.locator("#import-label-error").innerText(), /whose label is "t4 v1"/);
    assert.deepEqual(await axe(page), []);
    await done();
  });
  await test("a comparison takes a label as a side", async () => {
    const {page, done} = await open(browser, {width: 390});
    await page.goto(`${daemon.url}/#view=compare&base=run:${ids.long}&head=run:${ids.labelled}&source=any`);
    await page.locator(".side-card").first().waitFor();
    for (const [side, label] of [
      ["base", LONG],
      ["head", LABEL],
    ]) {
      await page.locator(`[name=${side}-kind]`).selectOption("label");
      await page.locator(`[name=${side}-label]`).fill(label);
    }
    await page.locator(".compare-form button.primary").click();
    await until("both sides", async () =>
      (await page.locator(".side-card h3").allTextContents()).join().includes(`label “${LABEL}”`),
    );
    const asked = new URLSearchParams(page.url().split("#")[1]);
    assert.equal(asked.get("head"), "label:<b>v2</b>\\, é ≤ 3f2c\\\\");
    assert.match(await page.locator('.side-card[data-side="head"]').innerText(), new RegExp(`1 run: ${ids.labelled}`));
    assert.equal(await page.locator("[name=head-label]").inputValue(), LABEL);
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await axe(page), []);
    await page.locator("[name=head-label]").fill("nobody");
    await page.locator(".compare-form button.primary").click();
    await until("said", async () => /No run of label "nobody" counts/.test(await page.locator("#compare").innerText()));
    await page.reload();
    await page.locator("[name=head-label]").waitFor();
    assert.equal(await page.locator("[name=head-label]").inputValue(), "nobody");
    await done();
  });
}

async function withdrawing(browser, daemon, ids) {
  for (const width of [1440, 390]) {
    await test(`${width} px: a run is withdrawn with a reason and taken back, by keyboard`, async () => {
      const {page, done} = await open(browser, {width});
      await show(page, `${daemon.url}/#run=${ids.long}`);
      await page.getByRole("button", {name: "Withdraw this run"}).focus();
      await page.keyboard.press("Enter");
      await page.keyboard.type("the <i>fan</i> stood still");
      assert.deepEqual(await axe(page), []);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.locator("#withdrawn-notice .notice").waitFor();
      assert.match(
        await page.locator("#withdrawn-notice").innerText(),
        /This run is withdrawn: the <i>fan<\/i> stood still/,
      );
      assert.match(
        plain(await page.locator("#withdraw").innerText()),
        /Withdrawn by anonymous, .*:\s+the <i>fan<\/i> stood still/,
      );
      assert.equal(await focused(page), "Take back");
      assert.equal(await overflow(page), 0);
      assert.deepEqual(await axe(page), []);
      await page.goto(`${daemon.url}/#view=runs&source=any`);
      await page.locator("#runs tbody tr").first().waitFor();
      assert.equal(await page.locator(`#runs tr[data-run="${ids.long}"]`).count(), 0);
      await page.locator("#runs form [name=withdrawn]").selectOption("any");
      await page.locator(`#runs tr[data-run="${ids.long}"]`).waitFor();
      assert.match(await page.locator(`#runs tr[data-run="${ids.long}"]`).innerText(), /withdrawn/);
      assert.deepEqual(await axe(page), []);
      await show(page, `${daemon.url}/#run=${ids.long}`);
      await page.getByRole("button", {name: "Take back"}).click();
      await page.getByRole("button", {name: "Withdraw this run"}).waitFor();
      assert.equal(await page.locator("#withdrawn-notice .notice").count(), 0);
      assert.match(plain(await page.locator("#withdraw").innerText()), /taken back by anonymous/);
      await done();
    });
  }
  await test("who may not withdraw is asked for a token that may, and what was written stays", async () => {
    const folder = temporary();
    const file = join(folder, "tokens");
    writeFileSync(
      file,
      [
        ["reader", "read"],
        ["boss", "admin"],
      ]
        .map(([name, right]) => `${name} ${right} ${createHash("sha256").update(name).digest("hex")}\n`)
        .join(""),
      {mode: 0o600},
    );
    const closed = await start({folder, options: ["--token-file", file]});
    const headers = {...JSON_TYPE, Authorization: "Bearer boss"};
    const {
      json: {id},
    } = await closed.ask("POST", "/api/v1/jobs", {
      headers,
      body: JSON.stringify({suite: "verify", kernels: ["vector_add"], cache: ["warm"]}),
    });
    const run = await until("its run", async () => (await closed.ask("GET", `/api/v1/jobs/${id}`)).json.run);
    const {page, done} = await open(browser, {expected: [/401/]});
    await show(page, `${closed.url}/#run=${run}`);
    await page.getByRole("button", {name: "Withdraw this run"}).click();
    await page.locator("#withdraw-reason").fill("wrong node");
    await page.locator("#withdraw").getByRole("button", {name: "Withdraw", exact: true}).click();
    await page.locator("#withdraw").getByLabel("Token").fill("boss");
    assert.equal(await page.locator("#withdraw-reason").inputValue(), "wrong node");
    await page.keyboard.press("Enter");
    await page.locator("#withdrawn-notice .notice").waitFor();
    assert.equal((await closed.ask("GET", `/api/v1/runs/${run}/withdraw`)).json.log[0].principal, "token:boss");
    await done();
    await closed.stop();
  });
}

async function predictions(browser, daemon, ids) {
  await test("why the most wrong predictions were wrong is written, kept, and not lost to another writer", async () => {
    const {page, done} = await open(browser, {width: 390, expected: [/412/]});
    await show(page, `${daemon.url}/#run=${ids.wrong}`);
    await page.getByRole("button", {name: "Say why they were wrong"}).click();
    const boxes = page.locator("#why-wrong textarea");
    assert.equal(await boxes.count(), 2);
    await boxes.first().fill("<b>one</b>\ntwo");
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await axe(page), []);
    const path = `/api/v1/runs/${ids.wrong}/predictions`;
    const [first, second] = (await daemon.ask("GET", path)).json.most_wrong;
    await daemon.ask("PUT", path, {headers: JSON_TYPE, body: JSON.stringify({why_wrong: {[second]: "theirs"}})});
    await page.locator("#why-wrong").getByRole("button", {name: "Save"}).click();
    await page.getByText("Somebody else wrote this meanwhile").waitFor();
    assert.match(await page.locator("#why-wrong").innerText(), /theirs/);
    assert.equal(await page.locator("#why-wrong textarea").first().inputValue(), "<b>one</b>\ntwo");
    await page.locator("#why-wrong").getByRole("button", {name: "Save"}).click();
    await page.locator("#why-wrong").getByRole("button", {name: "Edit"}).waitFor();
    assert.equal(await focused(page), "Edit");
    assert.deepEqual((await daemon.ask("GET", path)).json.why_wrong, [{kernel: first, text: "<b>one</b>\ntwo"}]);
    assert.match(
      plain(await page.locator("#why-wrong").innerText()),
      /Why .* was wrong:\s+<b>one<\/b>\s+two\s+By anonymous/,
    );
    assert.deepEqual(await axe(page), []);
    await page.goto(`${daemon.url}/#view=jobs&job=${ids.wrongJob}`);
    await page.locator(".job .why-wrong").waitFor();
    assert.match(await page.locator(".job .why-wrong").innerText(), /<b>one<\/b>/);
    await done();
  });
}

export async function labelTests() {
  const daemon = await start();
  const browser = await launch();
  const ids = {};
  ids.long = (await submit(daemon, {suite: "verify", label: LONG, kernels: ["vector_add", "transpose_naive"]})).run;
  const wrong = await submit(daemon, {
    suite: "verify",
    kernels: ["vector_add", "vector_add_stride32"],
    predictions: {vector_add: "above", vector_add_stride32: "below"},
  });
  Object.assign(ids, {wrong: wrong.run, wrongJob: wrong.id});
  await jobsAndLists(browser, daemon, ids);
  await withdrawing(browser, daemon, ids);
  await predictions(browser, daemon, ids);
  await browser.close();
  await daemon.stop();
}
