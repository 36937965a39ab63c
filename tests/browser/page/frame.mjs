// The page's frame in Chromium: the views' navigation, and every state in which there is nothing to show yet or no
// longer.
import assert from "node:assert/strict";
import {execFile} from "node:child_process";
import {createHash} from "node:crypto";
import {writeFileSync} from "node:fs";
import {join, relative} from "node:path";
import {promisify} from "node:util";
import {ONE_RUN} from "../roofline/checks.mjs";
import {axe, launch, open, overflow, show} from "../tools/browser.mjs";
import {slowRecording, start, submit, temporary} from "../tools/daemon.mjs";
import {test, until} from "../tools/suite.mjs";
import {errorsTests} from "./errors.mjs";
import {sheets} from "./sheets.mjs";
import {olderThanTheStore, silent} from "./stale.mjs";

const run = promisify(execFile);

async function navigation(browser, daemon) {
  await test("a link of the navigation shows its view: title, mark, focus; back shows the one before", async () => {
    const {page, done} = await open(browser);
    await show(page, daemon.url);
    const first = await page.title();
    assert.match(first, / · rooflined$/);
    assert.deepEqual(await page.locator('#views a[aria-current="page"]').allTextContents(), ["Roofline"]);
    const others = await page
      .locator("#views a:not([aria-current])")
      .evaluateAll((all) => all.map((a) => a.dataset.view));
    for (const name of others) {
      await page.locator(`#views a[data-view="${name}"]`).click();
      await page.locator(`#${name} h1, #message h1`).first().waitFor();
      await until("the heading's focus", () => page.evaluate(() => document.activeElement.localName === "h1"));
      assert.equal(await page.locator('#views a[aria-current="page"]').getAttribute("data-view"), name);
      assert.match(await page.title(), / · rooflined$/);
      assert.equal(await page.locator("#run").count(), 0);
    }
    for (let i = 0; i < others.length; i++) await page.goBack();
    await page.locator("#run table tbody tr").first().waitFor();
    assert.equal(await page.title(), first);
    await done();
  });
  await test("the skip link leads past the navigation", async () => {
    const {page, done} = await open(browser);
    await show(page, daemon.url);
    const before = page.url();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    assert.equal(page.url(), before);
    await done();
  });
  await test("a view that is not there says so and leads back", async () => {
    const {page, done} = await open(browser);
    await page.goto(`${daemon.url}/#view=%3Cimg%20src%3Dx%3E`);
    await page.getByText("There is no such view").waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    assert.deepEqual(await axe(page), []);
    await page.getByRole("link", {name: "newest roofline"}).click();
    await page.locator("#run table tbody tr").first().waitFor();
    await done();
  });
  await test("a view that is left takes its answers with it", async () => {
    const {page, done} = await open(browser, {expected: [/404/]});
    let go;
    const held = new Promise((resolve) => {
      go = resolve;
    });
    let answered;
    await page.route(/\/api\/v1\/runs\?/, async (route) => {
      answered = held.then(() => route.continue()).catch(() => {}); // the page has given it up
      await answered;
    });
    await page.goto(daemon.url);
    await page.getByText("Loading the run").waitFor();
    await page.evaluate(() => {
      location.hash = "#run=999999";
    });
    await page.getByText("The run cannot be shown").waitFor();
    go();
    await answered;
    // an answer that came after all would have been drawn by then: others asked later have been answered and drawn over
    await page.evaluate(async () => {
      for (let i = 0; i < 5; i++) await (await fetch("/healthz")).text();
      await new Promise((drawn) => {
        requestAnimationFrame(() => requestAnimationFrame(drawn));
      });
    });
    assert.equal(await page.getByText("The run cannot be shown").count(), 1);
    assert.equal(await page.locator("#run table").count(), 0);
    await done();
  });
}

async function otherStates(browser, daemon) {
  await test("no run yet: the command on the page starts one, its progress shows, then the roofline", async () => {
    const folder = temporary();
    const empty = await start({folder, replay: slowRecording(folder, 12)});
    const {page, done} = await open(browser, {width: 390});
    await page.goto(empty.url);
    const command = await page.locator(".command").textContent();
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await axe(page), []);
    const {stdout} = await run("bash", ["-c", `${command.replace("curl", "curl -fsS")}`]);
    const id = JSON.parse(stdout).id;
    await page.locator("#progress", {hasText: `Job ${id}`}).waitFor({timeout: 10000});
    await page.locator("#table-scroll tbody tr").first().waitFor({timeout: 40000});
    await done();
    await empty.stop();
  });
  await test("a failed first job says what happened and what to do", async () => {
    const failing = await start();
    const {page, done} = await open(browser);
    await page.route(/\/api\/v1\/jobs\?limit=1$/, (route) =>
      route.fulfill({
        json: {
          items: [
            {
              id: "1",
              state: "failed",
              progress: null,
              error: {code: "x", message: "it broke", next_action: "Mend it."},
            },
          ],
          next: null,
        },
      }),
    );
    await page.goto(failing.url);
    await page.locator("#progress", {hasText: "Job 1 is failed. It broke. Mend it."}).waitFor({timeout: 10000});
    await done();
    await failing.stop();
  });
  await test("a run that is refused is the only one: said with a link to it", async () => {
    const folder = temporary();
    const replay = join(folder, "wrong.jsonl");
    writeFileSync(
      replay,
      [
        {roofline_recording: 1, base: relative(folder, process.env.RL_RECORDING)},
        {op: "fault", on: "check", unit: "vector_add", set: {passed: false}},
      ]
        .map((entry) => `${JSON.stringify(entry)}\n`)
        .join(""),
    );
    const refusing = await start({folder, replay});
    const job = await submit(refusing, {suite: "verify", counters: false});
    const {page, done} = await open(browser);
    await page.goto(refusing.url);
    await page.getByText("No good run yet").waitFor();
    assert.equal(await page.locator("#progress").innerText(), `Job ${job.id} is done.`);
    assert.match(
      await page
        .locator("#message, #view")
        .allInnerTexts()
        .then((all) => all.join(" ")),
      /The newest run is refused/,
    );
    assert.deepEqual(await axe(page), []);
    await page.getByRole("link", {name: `run ${job.run}`}).click();
    await page.locator("#notices", {hasText: "Check failed: the output of vector add"}).waitFor();
    await done();
    await refusing.stop();
  });
  await test("the daemon stops: the page says so, and Try again works once it is back", async () => {
    const first = await start();
    await submit(first, {suite: "verify", counters: false});
    const {page, done} = await open(browser, {expected: [/ERR_CONNECTION_REFUSED/]});
    await show(page, first.url);
    await first.stop();
    await page.evaluate(() => {
      location.hash = "#state=cold";
    });
    await page.getByText("The daemon does not answer.").waitFor();
    assert.deepEqual(await axe(page), []);
    const again = await start({folder: first.folder, port: first.port});
    await page.getByRole("button", {name: "Try again"}).click();
    await page.locator("#table-scroll tbody tr").first().waitFor();
    await until("the focus at the heading", () => page.evaluate(() => document.activeElement.id === "title"));
    await done();
    await again.stop();
  });
  await test("a run that is not there, and an answer that is no JSON", async () => {
    const {page, done} = await open(browser, {expected: [/404/, /502/]});
    await page.goto(`${daemon.url}/#run=999999`);
    await page.getByText("The run cannot be shown").waitFor();
    assert.match(await page.locator("#message").innerText(), /not_found/);
    await page.route(/\/api\/v1\/runs\?/, (route) => route.fulfill({status: 502, body: "<h1>Bad gateway</h1>"}));
    await page.goto(`${daemon.url}/#`);
    await page.getByText("answered 502").waitFor();
    await done();
  });
  await test("an id of the address that is no number is told as an unknown one, without asking", async () => {
    const {page, seen, done} = await open(browser);
    const {id} = (await daemon.ask("GET", "/api/v1/runs?limit=1")).json.items[0];
    for (const wrong of [`${id}.csv`, `${id}/table`, `../runs/${id}`, "newest", "-1"]) {
      const part = encodeURIComponent(wrong);
      for (const [fragment, of, place] of [
        [`run=${part}`, "run", "#message"],
        [`run=${id}&over=${part}`, "run", "#said"],
        [`view=explorer&run=${part}`, "run", "#message"],
        [`view=jobs&job=${part}`, "job", "#jobs .job-side"],
      ]) {
        await page.goto("about:blank");
        await page.goto(`${daemon.url}/#${fragment}`);
        await page.locator(place, {hasText: `There is no ${of} ${wrong}.`}).waitFor();
      }
    }
    assert.deepEqual(
      seen.requests.map((request) => request.url()).filter((url) => /newest|%2F|\.csv|(runs|jobs)\/-1/i.test(url)),
      [],
    );
    await done();
  });
  await test("while it loads, the page says so", async () => {
    const {page, done} = await open(browser);
    let go;
    const held = new Promise((resolve) => {
      go = resolve;
    });
    await page.route(ONE_RUN, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(daemon.url);
    await page.getByText("Loading the run").waitFor();
    assert.equal(await page.getByRole("heading", {level: 1}).textContent(), "Roofline");
    assert.deepEqual(await axe(page), []);
    go();
    await page.locator("#table-scroll tbody tr").first().waitFor();
    await done();
  });
  await test("a token that is not known is asked for again and kept for the tab", async () => {
    const folder = temporary();
    const file = join(folder, "tokens");
    writeFileSync(file, `page read ${createHash("sha256").update("s3cret").digest("hex")}\n`, {mode: 0o600});
    const guarded = await start({folder, options: ["--token-file", file, "--open-loopback"]});
    await submit(guarded, {suite: "verify", counters: false});
    const {page, done} = await open(browser, {expected: [/401/]});
    await page.addInitScript(() => {
      if (!sessionStorage.getItem("rooflined-token")) sessionStorage.setItem("rooflined-token", "old");
    });
    await page.goto(guarded.url);
    await page.getByText("A token is needed").waitFor();
    assert.deepEqual(await axe(page), []);
    const kept = () => page.evaluate(() => sessionStorage.getItem("rooflined-token"));
    for (const mistyped of ["s3crеt", "s3 cret"]) {
      // the first has a Cyrillic е, which no header takes
      await page.getByLabel("Token").fill(mistyped);
      await page.keyboard.press("Enter");
      await page.getByRole("alert").filter({hasText: "A token has English letters, digits and signs alone"}).waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.name), "token");
      assert.equal(await kept(), "old");
    }
    assert.deepEqual(await axe(page), []);
    await page.getByLabel("Token").fill("s3cret");
    await page.keyboard.press("Enter");
    await page.locator("#table-scroll tbody tr").first().waitFor();
    await until("the focus at the heading", () => page.evaluate(() => document.activeElement.id === "title"));
    assert.ok(!page.url().includes("s3cret"));
    await page.evaluate(() => sessionStorage.setItem("rooflined-token", "wrong"));
    await page.reload();
    await page.getByRole("button", {name: "Go on without a token"}).click();
    await page.locator("#table-scroll tbody tr").first().waitFor();
    assert.equal(await kept(), null);
    await done();
    await guarded.stop();
  });
}

export async function frameTests() {
  await errorsTests();
  const daemon = await start();
  await submit(daemon, {suite: "verify"});
  const browser = await launch();
  try {
    await navigation(browser, daemon);
    await sheets(browser, daemon);
    await otherStates(browser, daemon);
    await olderThanTheStore(browser);
    await silent(browser);
  } finally {
    await browser.close();
  }
  await daemon.stop();
}
