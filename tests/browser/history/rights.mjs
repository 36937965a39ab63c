// History, runs and trend where tokens are in use, where versions are not known, and where only imports have a kernel.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {axe, open} from "../tools/browser.mjs";
import {start, temporary} from "../tools/daemon.mjs";
import {dayAgo, importForm, importT4} from "../tools/past.mjs";
import {plain, test, until} from "../tools/suite.mjs";

const T4 = join(dirname(process.env.RL_README), "deploy/records/t4.json");
const parameters = (href) => Object.fromEntries(new URLSearchParams(href.slice(href.indexOf("#") + 1)));
const setToken = (page, token) => page.evaluate((text) => sessionStorage.setItem("rooflined-token", text), token);

async function visit(page, daemon, fragment, ready) {
  await page.goto(`${daemon.url}/#${fragment}`);
  await page.locator(ready).first().waitFor();
}

/** Days of a span that is well within the last year whenever the tests run. */
const [SINCE, FIRST, SECOND, THIRD, UNTIL] = [60, 40, 39, 38, 20].map(dayAgo);

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** The text of the file that the reader gets by what act does. */
async function saved(page, act) {
  const [file] = await Promise.all([page.waitForEvent("download"), act()]);
  return {name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8")};
}

const giveToken = async (page, within, token) => {
  await page.locator(within).getByLabel("Token").fill(token);
  await page.keyboard.press("Enter");
};

export async function tokenTests(browser) {
  const folder = temporary();
  const file = join(folder, "tokens");
  writeFileSync(file, `reader read ${sha256("r3ad")}\n`, {mode: 0o600});
  const daemon = await start({
    folder,
    replay: null,
    ready: false,
    options: ["--token-file", file, "--open-loopback", "--measure-exec", "/bin/false"],
  });
  const run = await importForm(daemon, {
    timings: '{"kernel":"vector_add","ms":0.05}\n',
    device: "card",
    driver: "595.84",
    cuda: "12.6",
    date: FIRST,
    sizes: "course",
  });
  await test(
    "a selection as a file is asked for with the token; with one that is not known, the page asks for " +
      "another and goes on",
    async () => {
      const {page, seen, done} = await open(browser, {expected: [/401/]});
      await page.addInitScript(() => {
        if (!sessionStorage.getItem("rooflined-token")) sessionStorage.setItem("rooflined-token", "r3ad");
      });
      await visit(page, daemon, "view=runs&device=card&sizes=course", "#runs tbody tr");
      const wanted = Object.fromEntries(
        await Promise.all(
          ["csv", "json"].map(async (kind) => [
            kind,
            (await daemon.ask("GET", `/api/v1/runs.${kind}?device=card&sizes=course`)).text,
          ]),
        ),
      );
      assert.ok(wanted.csv.includes("vector_add"));
      const button = (kind) => page.locator(".exports").getByRole("button", {name: kind.toUpperCase()});
      for (const kind of ["csv", "json"]) {
        assert.deepEqual(await saved(page, () => button(kind).click()), {
          name: `rooflined-runs.${kind}`,
          text: wanted[kind],
        });
      }
      for (const request of seen.requests.filter((one) => one.url().includes("/api/v1/runs."))) {
        assert.equal(await request.headerValue("Authorization"), "Bearer r3ad", request.url());
      }
      await setToken(page, "old");
      await button("csv").click();
      await page.locator(".export-said .notice.bad").waitFor();
      assert.ok(
        (await page.locator(".export-said .notice.bad").innerText()).startsWith("rooflined-runs.csv was not saved."),
      );
      assert.deepEqual(await axe(page), []);
      assert.deepEqual(await saved(page, () => giveToken(page, ".export-said", "r3ad")), {
        name: "rooflined-runs.csv",
        text: wanted.csv,
      });
      await until("the form gone", async () => (await page.locator("form.token").count()) === 0);
      // not at the page's start
      assert.equal(await page.evaluate(() => document.activeElement.className), "export-said");
      await done();
    },
  );
  await test("a token that is taken back meanwhile is asked for in place, and what was chosen stays", async () => {
    for (const [view, control, value, ready] of [
      ["runs", "sizes", "course", "#runs tbody tr"],
      ["history", "source", "imported", ".matrix a.cell"],
      ["trend&device=card&kernel=vector_add", "source", "imported", ".trend-chart .point"],
    ]) {
      const {page, done} = await open(browser, {expected: [/401/]});
      await visit(page, daemon, `view=${view}&since=${SINCE}&until=${UNTIL}`, ready);
      await setToken(page, "old");
      await page.locator(`.toolbar [name=${control}]`).selectOption(value);
      await page.locator("article .notice.bad form.token").waitFor();
      await giveToken(page, "article .notice.bad", "r3ad");
      await page.locator(ready).first().waitFor();
      assert.equal(await page.locator("form.token").count(), 0, view);
      assert.equal(parameters(page.url())[control], value);
      await done();
    }
  });
  await test("an export that breaks off is told, and nothing is saved", async () => {
    const {page, done} = await open(browser, {expected: [/ERR_/, /Failed to load/]});
    await visit(page, daemon, "view=runs&device=card", "#runs tbody tr");
    await page.route(/runs\.csv/, (route) => route.abort());
    await page.locator(".exports").getByRole("button", {name: "CSV"}).click();
    await page.locator(".export-said .notice.bad").waitFor();
    await done();
  });
  assert.ok(run.id);
  await daemon.stop();
}

export async function versionTests(browser) {
  const daemon = await start({
    replay: null,
    ready: false,
    options: ["--open-loopback", "--measure-exec", "/bin/false"],
  });
  const one = {timings: '{"kernel":"vector_add","ms":0.05}\n', device: "card", date: FIRST, sizes: "course"};
  const known = await importForm(daemon, {...one, driver: "595.84", cuda: "12.6"});
  const unknown = await importForm(daemon, {...one, timings: '{"kernel":"vector_add","ms":0.06}\n'});
  const half = await importForm(daemon, {...one, timings: '{"kernel":"vector_add","ms":0.07}\n', driver: "595.84"});
  await test("a cell without a driver or a CUDA version opens its own runs and no others", async () => {
    const {page, done} = await open(browser);
    for (const [driver, cuda, run] of [
      ["unknown", "unknown", unknown],
      ["595.84", "unknown", half],
      ["595.84", "12.6", known],
    ]) {
      await visit(page, daemon, `view=history&since=${SINCE}&until=${UNTIL}`, ".matrix a.cell");
      const cell = page.locator(`.matrix a.cell[href*="driver=${driver}&cuda=${cuda}&"]`);
      assert.equal(await cell.count(), 1, `${driver} ${cuda}`);
      await cell.click();
      await page.locator("#runs tbody tr").first().waitFor();
      assert.deepEqual(await page.locator("#runs tbody tr").evaluateAll((all) => all.map((tr) => tr.dataset.run)), [
        run.id,
      ]);
      assert.deepEqual(
        [await page.locator("[name=driver]").inputValue(), await page.locator("[name=cuda]").inputValue()],
        [driver, cuda],
      );
    }
    await done();
  });
  await daemon.stop();
}

const MARKUP = "<img src=x onerror=alert(1)>";
const LONG = `void gemm<float, ${"Tile<64, 64>, ".repeat(100)}(int)1>(T1 *)`;

export async function importedKernelTests(browser) {
  const daemon = await start({
    replay: null,
    ready: false,
    options: ["--open-loopback", "--measure-exec", "/bin/false"],
  });
  const lines = (factor) =>
    [
      ["saxpy", 1.5],
      [MARKUP, 2.5],
      [LONG, 3.5],
    ]
      .map(([kernel, ms]) => `${JSON.stringify({kernel, ms: ms * factor})}\n`)
      .join("");
  const days = [FIRST, SECOND, THIRD];
  for (const [i, date] of days.entries()) {
    await importForm(daemon, {timings: lines(1 + i / 100), device: "card", driver: "595.84", cuda: "12.6", date});
  }
  await importForm(daemon, {
    timings: '{"kernel":"vector_add","ms":0.05}\n',
    device: "other",
    driver: "595.84",
    cuda: "12.6",
    date: days[0],
    sizes: "course",
  });
  await test("a trend's rows include those of imports alone, with the suite and sizes that they are in", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, `view=trend&device=card&since=${SINCE}&until=${UNTIL}`, ".empty");
    const options = () =>
      page
        .locator("[name=kernel] optgroup")
        .evaluateAll((all) =>
          Object.fromEntries(all.map((group) => [group.label, [...group.children].map((option) => option.value)])),
        );
    assert.deepEqual((await options())["in imports of this device"].toSorted(), [MARKUP, "saxpy", LONG].toSorted());
    for (const kernel of ["saxpy", MARKUP, LONG]) {
      await page.locator("[name=kernel]").selectOption(kernel);
      await until(
        kernel,
        async () =>
          (await page.locator(".trend-title").count()) === 1 &&
          (await page.locator(".trend-title").innerText()).startsWith(kernel),
      );
      const query = new URLSearchParams({
        device: "card",
        kernel,
        suite: "import",
        sizes: "other",
        state: "warm",
        since: SINCE,
        until: UNTIL,
      });
      const {points} = (await daemon.ask("GET", `/api/v1/trend?${query}`)).json;
      assert.equal(points.length, days.length);
      assert.deepEqual(
        await page.locator(".trend-table tbody tr").evaluateAll((all) => all.map((tr) => tr.dataset.day)),
        days.toReversed(),
      );
      const {suite, sizes, state} = parameters(page.url());
      assert.deepEqual([suite, sizes, state], ["import", "other", "warm"]);
    }
    assert.equal(await page.locator("main img").count(), 0);
    assert.deepEqual(await axe(page), []);
    await page.reload();
    await page.locator(".trend-chart .point").first().waitFor();
    assert.ok((await page.locator(".trend-title").innerText()).startsWith(LONG));
    // a name has up to 16 KiB
    assert.equal(await page.title(), `${LONG.slice(0, 39)} … ${LONG.slice(-18)} warm, trend · rooflined`);
    await page.locator("[name=kernel]").selectOption("vector_add"); // back to a row of the suite
    await until("the suite's own", () => {
      const {suite, sizes} = parameters(page.url());
      return suite === undefined && sizes === "course";
    });
    await page.locator("[name=device]").selectOption("other");
    await page.locator(".trend-chart .point").first().waitFor();
    assert.deepEqual(Object.keys(await options()), ["kernels", "ceilings"]);
    await done();
  });
  await daemon.stop();
}

/** All runs are older than the year that the views look at by themselves. */
export async function oldTests(browser) {
  const daemon = await start({
    replay: null,
    ready: false,
    options: ["--open-loopback", "--measure-exec", "/bin/false"],
  });
  await test("no run at all: the views say so, and History has its form", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, "view=history", ".empty");
    assert.ok((await page.locator(".empty").innerText()).includes("No run yet"));
    assert.equal(await page.locator("[name=since]").count(), 1);
    for (const view of ["trend", "compare"]) {
      await visit(page, daemon, `view=${view}`, `#${view} .empty`);
      assert.ok((await page.locator(".empty").innerText()).includes("No run yet"), view);
    }
    await done();
  });
  await test("no run at all, and a device that was probed: the views say so", async () => {
    const probed = await start();
    const {page, done} = await open(browser);
    for (const view of ["trend", "compare"]) {
      await visit(page, probed, `view=${view}`, `#${view} .empty`);
      assert.ok((await page.locator(".empty").innerText()).includes("No run yet"), view);
    }
    await done();
    await probed.stop();
  });
  const [old, until400] = [dayAgo(400), dayAgo(390)];
  const lines = '{"kernel":"vector_add","ms":0.05}\n';
  await importForm(daemon, {
    timings: lines,
    device: "card",
    driver: "595.84",
    cuda: "12.6",
    date: old,
    sizes: "course",
  });
  await importForm(daemon, {
    timings: lines,
    device: "card",
    driver: "601.10",
    cuda: "12.6",
    date: dayAgo(395),
    sizes: "course",
  });
  await test("runs of more than a year ago are found by their days; no view says that there is none", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, "view=history", ".empty");
    const said = await page.locator(".empty").innerText();
    assert.ok(said.includes("No run in this span") && !said.includes("No run yet"), said);
    await visit(page, daemon, `view=history&since=${old}&until=${until400}`, ".matrix a.cell");
    assert.equal(await page.locator(".matrix a.cell").count(), 2);
    assert.ok((await page.locator("[name=device] option").allTextContents()).includes("card"));
    await visit(page, daemon, `view=trend&kernel=vector_add&since=${old}&until=${until400}`, ".trend-chart .point");
    await visit(page, daemon, "view=compare", ".outcome");
    assert.deepEqual(
      [await page.locator("[name=base-kind]").inputValue(), await page.locator("[name=head-kind]").inputValue()],
      ["driver:595.84", "driver:601.10"],
    );
    assert.deepEqual(await axe(page), []);
    await done();
  });
  for (const [device, days, driver] of [
    ["new card", 5, "610.20"],
    ["card of a year ago", 364, "590.1"],
    ["card between the years", 363, "590.2"],
    ["ancient card", 4100, "343.36"],
  ]) {
    await importForm(daemon, {timings: lines, device, driver, cuda: "12.6", date: dayAgo(days), sizes: "course"});
  }
  // by their newest runs
  const names = ["new card", "card between the years", "card of a year ago", "card", "ancient card"];
  const offered = (page, name) =>
    page.locator(`[name=${name}] option`).evaluateAll((all) => all.map((option) => option.textContent));
  await test("every device and driver is offered, however old its runs are, while others have newer ones", async () => {
    const {page, done} = await open(browser);
    for (const [fragment, ready, before] of [
      ["view=history", ".matrix a.cell", ["all devices"]],
      ["view=runs", "#runs tbody tr", ["all devices"]],
      ["view=trend", "#trend h1", []],
      ["view=compare", "#compare h1", ["that of the runs"]],
    ]) {
      await visit(page, daemon, fragment, ready);
      assert.deepEqual(await offered(page, "device"), [...before, ...names], fragment);
    }
    await page.locator("[name=device]").selectOption({label: "card"});
    assert.deepEqual(await offered(page, "head-kind"), [
      "driver 601.10",
      "driver 595.84",
      "runs with a label …",
      "runs by number …",
    ]);
    await visit(page, daemon, "view=runs&device=ancient-card", "#runs tbody tr");
    assert.deepEqual(
      await page.locator("[name=driver] + datalist option").evaluateAll((all) => all.map((option) => option.value)),
      ["343.36"],
    );
    await done();
  });
  await test("where the matrix of a span is too large, the devices of its newest runs are offered", async () => {
    const {page, done} = await open(browser, {expected: [/413/]});
    const error = {
      code: "too_large",
      message: "the matrix has more than 200000 cells: ask for one device, or for fewer days",
      next_action: "Ask for fewer days.",
    };
    await page.route(/\/api\/v1\/history\?/, (route) => route.fulfill({status: 413, json: {error}}));
    await visit(page, daemon, "view=runs", "#runs tbody tr");
    assert.deepEqual(await offered(page, "device"), ["all devices", ...names]);
    await done();
  });
  await daemon.stop();
}

export async function t4Tests(browser) {
  const daemon = await start({
    replay: null,
    ready: false,
    options: ["--open-loopback", "--measure-exec", "/bin/false"],
  });
  const {entries} = JSON.parse(readFileSync(T4, "utf8"));
  const runs = await importT4(daemon);
  await test("the published T4 record: a cell counter-backed, one timed only, its ten ratios as printed", async () => {
    const {page, done} = await open(browser);
    await visit(
      page,
      daemon,
      `view=history&device=${runs[0].device.id}&since=${entries[0].date}&until=2026-10-01`,
      ".matrix a.cell",
    );
    const cells = await page.locator(".matrix a.cell").evaluateAll((all) =>
      all.map((a) => ({
        text: a.textContent,
        kind: a.classList.contains("counted") ? "counter-backed" : "timed-only",
        label: a.getAttribute("aria-label"),
        row: a.closest("tr").querySelector("th").textContent,
      })),
    );
    assert.deepEqual(
      cells.map(({text, kind, row}) => [text, kind, row]),
      [
        ["1", "counter-backed", "595.84 CUDA 12.6"],
        ["1t", "timed-only", "580.173.02 CUDA 13.0"],
      ],
    );
    cells.forEach(({label}, i) => assert.ok(plain(label).includes(`${entries[i].date} UTC`), label));
    const told = plain(await page.locator(".said").innerText());
    for (const part of ["2 good runs of 1 device under 2 drivers", "1 with counters, 1 timed only", "on 2 days"]) {
      assert.ok(told.includes(part), told);
    }
    await page.locator(".matrix a.counted").click();
    await page.locator("#runs tbody tr").first().waitFor();
    assert.deepEqual(await page.locator("#runs tbody tr").evaluateAll((all) => all.map((tr) => tr.dataset.run)), [
      runs[0].id,
    ]);
    assert.equal(await page.locator("#runs tbody .mark").innerText(), "Imported");
    await page.locator("#runs tbody th a").click();
    await page.locator("#run table tbody tr").first().waitFor();
    const column = await page
      .locator("#run table thead th")
      .evaluateAll((all) => all.findIndex((th) => th.textContent.startsWith("DRAM/ask")));
    const shown = await page
      .locator("#run table tbody tr[data-kernel]")
      .evaluateAll((all, at) => all.map((tr) => [tr.dataset.kernel, tr.cells[at].textContent]), column);
    assert.deepEqual(
      shown,
      entries[0].rows.map((row) => [row.kernel, row.dram_per_ask.toFixed(4)]),
    );
    await done();
  });
  await daemon.stop();
}
