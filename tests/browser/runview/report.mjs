// What a run says below its chart: predictions, telemetry, notes, and a run of ceilings alone.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {axe, open, show} from "../tools/browser.mjs";
import {JSON_TYPE, start, submit, temporary} from "../tools/daemon.mjs";
import {importForm} from "../tools/past.mjs";
import {plain, test, until} from "../tools/suite.mjs";

export async function report(browser, daemon, ids, document) {
  await test("predictions, ceilings, telemetry, environment are the API's; the transcript on opening", async () => {
    const {page, seen, done} = await open(browser);
    await show(page, `${daemon.url}/#run=${ids.run}`);
    const scored = (await daemon.ask("GET", `/api/v1/runs/${ids.run}/predictions`)).json;
    await page.locator("#predictions").waitFor();
    assert.match(
      await page.locator("#predictions").innerText(),
      new RegExp(`${scored.right} of ${scored.scored} right`),
    );
    const said = await page
      .locator("#predictions tbody tr")
      .evaluateAll((all) => all.map((tr) => [...tr.children].map((td) => td.textContent)));
    assert.deepEqual(
      said.map((row) => row.at(-1)),
      scored.items.map((item) => (item.right ? "right" : "wrong")),
    );
    assert.deepEqual(
      said.map((row) => row.slice(1, 5)),
      scored.items.map((item) => [item.state, item.said, item.found, item.dram_per_ask.toFixed(4)]),
    );
    assert.equal(await page.locator("#ceilings tbody tr").count(), document.ceilings.length);
    const environment = await page.locator("#environment-section").innerText();
    for (const part of [
      document.device.uuid,
      document.environment.kernel_release,
      document.environment.build,
      "700 W",
    ]) {
      assert.ok(plain(environment).replaceAll("\n", "").includes(part), part);
    }
    await page.getByText("Row by row", {exact: true}).click();
    const names = await page.locator("#telemetry tbody th").allTextContents();
    for (const row of document.kernels) assert.ok(names.includes(`${row.title}, warm`), row.title);
    for (const name of ["start", "end", "copy, the memory roof, warm"]) assert.ok(names.includes(name), name);
    assert.ok(!names.some((name) => name.includes("_")), names.join("; "));
    const asked = () => seen.requests.filter((request) => request.url().includes("/transcript")).length;
    assert.equal(asked(), 0);
    await page.locator("#transcript summary").click();
    await page.locator("#transcript pre").waitFor();
    assert.equal(
      await page.locator("#transcript pre").textContent(),
      (await daemon.ask("GET", `/api/v1/jobs/${document.job}/transcript`)).text,
    );
    assert.equal(asked(), 1);
    assert.deepEqual(await axe(page), []);
    await done();
  });
  await test("a prediction that could not be scored says why, in the same words at run and job", async () => {
    const job = await submit(daemon, {
      suite: "verify",
      counters: false,
      predictions: {vector_add: "near", matmul_naive: "above"},
    });
    const scored = (await daemon.ask("GET", `/api/v1/runs/${job.run}/predictions`)).json;
    assert.deepEqual([scored.scored, scored.predicted, scored.items[0].right], [0, 2, null]);
    const {page, done} = await open(browser);
    for (const [fragment, place] of [
      [`run=${job.run}`, "#predictions"],
      [`view=jobs&job=${job.id}`, "#jobs .predictions"],
    ]) {
      await page.goto(`${daemon.url}/#${fragment}`);
      await page.locator(`${place} tbody tr`).first().waitFor();
      assert.match(await page.locator(`${place} p`).first().innerText(), /^0 of 0 right; 2 could not be scored\.$/);
      const rows = await page
        .locator(`${place} tbody tr`)
        .evaluateAll((all) => all.map((tr) => [...tr.children].slice(1).map((cell) => cell.textContent)));
      assert.deepEqual(
        rows,
        scored.items.map((item) => [item.state, item.said, "–", "–", `not scored ${item.why.right}`]),
      );
      assert.deepEqual(await axe(page), []);
    }
    await done();
  });
  await test("a note is read and written; one that somebody else wrote meanwhile is not lost", async () => {
    const {page, done} = await open(browser, {expected: [/412/]});
    await show(page, `${daemon.url}/#run=${ids.run}`);
    const body = page.locator("#note-body");
    await body.getByText("after the driver update").waitFor();
    await body.getByRole("button", {name: "Edit"}).click();
    const hostile = "<b>fans</b> at 100 % مصفوفة";
    await page.getByLabel("Note, at most 4096 bytes").fill(hostile);
    await body.getByText("Accept changes of rows").click();
    await body.getByRole("checkbox", {name: "vector add, warm"}).check();
    assert.deepEqual(await axe(page), []);
    await body.getByRole("button", {name: "Save"}).click();
    await body.getByText(hostile).waitFor();
    const stored = await daemon.ask("GET", `/api/v1/runs/${ids.run}/note`);
    assert.deepEqual([stored.json.text, stored.json.accepted], [hostile, [{kernel: "vector_add", state: "warm"}]]);
    assert.match(await body.innerText(), /Accepted changes[^]*vector add, warm/);
    await body.getByRole("button", {name: "Edit"}).click();
    await page.getByLabel("Note, at most 4096 bytes").fill("mine");
    await body.getByRole("checkbox", {name: "vector add, warm"}).uncheck();
    await body.getByRole("checkbox", {name: "vector add, cold"}).check();
    await daemon.ask("PUT", `/api/v1/runs/${ids.run}/note`, {
      headers: JSON_TYPE,
      body: JSON.stringify({
        text: "theirs",
        accepted: [
          {kernel: "vector_add", state: "warm"},
          {kernel: "block_reduction", state: "warm"},
        ],
      }),
    });
    await body.getByRole("button", {name: "Save"}).click();
    await body.getByText("Somebody else wrote this note meanwhile").waitFor();
    assert.match(await body.locator("blockquote").innerText(), /theirs/);
    assert.equal(await page.getByLabel("Note, at most 4096 bytes").inputValue(), "mine");
    await body.getByRole("button", {name: "Save"}).click();
    await until("the note", async () => (await daemon.ask("GET", `/api/v1/runs/${ids.run}/note`)).json.text === "mine");
    assert.deepEqual(
      (await daemon.ask("GET", `/api/v1/runs/${ids.run}/note`)).json.accepted
        .map(({kernel, state}) => `${kernel} ${state}`)
        .toSorted(),
      ["block_reduction warm", "vector_add cold"],
    );
    await done();
  });
  await test("who may not write is told so in the form, with what to do; with a token the note is saved", async () => {
    const {page, done} = await open(browser, {expected: [/403/]});
    // the daemon of these tests knows no token: the request goes on to it without the one that the page sends
    await page.route(/\/note$/, (route) => {
      const {authorization, ...headers} = route.request().headers();
      if (route.request().method() !== "PUT" || authorization === "Bearer right") return route.continue({headers});
      return route.fulfill({
        status: 403,
        json: {
          error: {
            code: "forbidden",
            message: "anonymous may not write",
            next_action: "Use an account or token that has this right, or ask the operator.",
          },
        },
      });
    });
    await show(page, `${daemon.url}/#run=${ids.other}`);
    await page.getByRole("button", {name: "Write a note"}).click();
    await page.getByLabel("Note, at most 4096 bytes").fill("mine");
    await page.getByRole("button", {name: "Save"}).focus();
    await page.keyboard.press("Enter");
    await page.locator("#note-body .notice", {hasText: "Anonymous may not write."}).waitFor();
    await until("the token's focus", () => page.evaluate(() => document.activeElement.name === "token"));
    await page.locator("#note-body .notice", {hasText: "ask the operator"}).waitFor();
    assert.equal(await page.getByLabel("Note, at most 4096 bytes").inputValue(), "mine");
    assert.equal(await page.locator("form form").count(), 0);
    assert.deepEqual(await axe(page), []);
    await page.locator("#note-body").getByLabel("Token").fill("right");
    await page.locator("#note-body").getByRole("button", {name: "Use it"}).click();
    await page.locator("#note-body blockquote", {hasText: "mine"}).waitFor();
    assert.equal((await daemon.ask("GET", `/api/v1/runs/${ids.other}/note`)).json.text, "mine");
    await done();
  });
}

/** The published record's second day printed no rows; ids.imported is its first. */
export async function ceilingsOnly(browser, daemon, ids) {
  await test("a run of ceilings alone says so, and promises neither times nor a number to point at", async () => {
    const {page, done} = await open(browser);
    const day2 = String(Number(ids.imported) + 1);
    assert.deepEqual((await daemon.ask("GET", `/api/v1/runs/${day2}`)).json.kernels, []);
    await page.goto(`${daemon.url}/#run=${day2}`);
    await page.locator("#notices", {hasText: "This run has ceilings only: its record prints no rows."}).waitFor();
    const words = await page.locator("#run").innerText();
    for (const never of ["Times and rates are", "Point at a number", "None has one"]) {
      assert.ok(!words.includes(never), never);
    }
    await done();
  });
  await test("an import without counters has its times as imported", async () => {
    const {page, done} = await open(browser);
    const {id} = await importForm(daemon, {
      timings: '{"kernel":"vector_add","ms":0.05}\n',
      device: "card",
      date: "2026-09-03",
    });
    await show(page, `${daemon.url}/#run=${id}`);
    await page
      .locator("#notices", {hasText: "Times and rates are as imported; byte columns and intensities are empty."})
      .waitFor();
    await done();
  });
}

export async function withToken(browser) {
  await test(
    "whoever has a token gets the run as data, its transcript and its note with it, and is asked for one " +
      "where it is refused",
    async () => {
      const folder = temporary();
      const file = join(folder, "tokens");
      writeFileSync(file, `page read ${createHash("sha256").update("s3cret").digest("hex")}\n`, {mode: 0o600});
      const guarded = await start({folder, options: ["--token-file", file, "--open-loopback"]});
      const {run: id, id: job} = await submit(guarded, {suite: "verify", counters: false});
      const {page, done} = await open(browser, {expected: [/401/]});
      await show(page, `${guarded.url}/#run=${id}`);
      await page.waitForLoadState("networkidle");
      const keep = (token) => page.evaluate((text) => sessionStorage.setItem("rooflined-token", text), token);
      const base = `/api/v1/runs/${id}`;
      const data = page.locator("#data-section");
      for (const [name, path] of [
        ["JSON, whole", base],
        ["CSV", `${base}.csv`],
        ["table as text", `${base}/table`],
        ["raw samples", `${base}/samples`],
      ]) {
        await keep("wrong");
        await data.getByRole("button", {name, exact: true}).click();
        await data.getByLabel("Token").fill("s3cret");
        const [saved] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
        assert.equal(readFileSync(await saved.path(), "utf8"), (await guarded.ask("GET", path)).text, name);
        await data.getByText(`Saved as ${saved.suggestedFilename()}.`).waitFor();
      }
      await keep("wrong");
      await page.locator("#transcript summary").click();
      await page.locator("#transcript").getByLabel("Token").waitFor();
      await page.locator(".menu summary").click();
      await page.locator(".menu").getByRole("button", {name: "CSV", exact: true}).click();
      await page.locator(".takeaway").getByLabel("Token").waitFor();
      const forms = page.getByLabel("Token", {exact: true});
      assert.equal(await forms.count(), 2);
      assert.equal(new Set(await forms.evaluateAll((all) => all.map((input) => input.id))).size, 2);
      assert.deepEqual(await axe(page), []);
      await page.locator("#transcript").getByRole("button", {name: "Go on without a token"}).click();
      await page.locator("#transcript pre").waitFor();
      assert.equal(
        await page.locator("#transcript pre").textContent(),
        (await guarded.ask("GET", `/api/v1/jobs/${job}/transcript`)).text,
      );
      await page.route(/\/note$/, (route) =>
        route.request().headers().authorization
          ? route.continue()
          : route.fulfill({
              status: 401,
              json: {error: {code: "unauthorized", message: "no token was given", next_action: "Give one."}},
            }),
      );
      await page.reload();
      await page.locator("#note-body").getByLabel("Token").fill("s3cret");
      await page.keyboard.press("Enter");
      await page.getByRole("button", {name: "Write a note"}).waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.textContent), "Write a note");
      await done();
      await guarded.stop();
    },
  );
}
