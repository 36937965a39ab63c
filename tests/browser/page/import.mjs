// The import form in Chromium: files of another measurement become a run, or are refused with the place at fault.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {axe, launch, open, overflow} from "../tools/browser.mjs";
import {start, temporary} from "../tools/daemon.mjs";
import {importForm} from "../tools/past.mjs";
import {test} from "../tools/suite.mjs";

const root = dirname(process.env.RL_README);
const data = (name) => join(root, "tests/data/import", name);

async function look(page, daemon) {
  await page.goto(`${daemon.url}/#view=import`);
  await page.locator("#import form").waitFor();
}

const press = (page) => page.getByRole("button", {name: "Import"});
const runs = async (daemon) => (await daemon.ask("GET", "/api/v1/runs?source=any&outcome=any&limit=200")).json.items;

async function importing(browser, daemon) {
  await test("a profiler's CSV beside timings becomes a run, marked as imported; again it is the same", async () => {
    const {page, done} = await open(browser);
    await look(page, daemon);
    await page.getByLabel("Nsight Compute CSV").setInputFiles(data("h200/raw-warm.csv"));
    await page.getByLabel("Timings", {exact: true}).setInputFiles(data("h200/timings.jsonl"));
    await press(page).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Imported as").waitFor();
    const [run] = await runs(daemon);
    assert.equal(run.source, "imported");
    const said = await page.locator("#import .said").innerText();
    for (const part of [`run ${run.id}`, "Imported", run.device.name, "ncu", "timings"]) {
      assert.ok(said.includes(part), `${part} in ${said}`);
    }
    assert.deepEqual(await axe(page), []);
    await press(page).click();
    await page.getByText("The same files were imported before").waitFor();
    assert.equal((await runs(daemon)).length, 1);
    await page.getByRole("link", {name: "Show the run"}).click();
    await page.locator("#run table tbody tr").first().waitFor();
    assert.match(await page.locator("#run").innerText(), /Imported/);
    await done();
  });
  await test("a published table and a recording; files of another way are not sent", async () => {
    const {page, done} = await open(browser, {width: 390});
    await look(page, daemon);
    await page.getByLabel("Timings", {exact: true}).setInputFiles(data("timings.jsonl"));
    await page.getByRole("radio", {name: "a published table"}).check();
    await page.getByLabel("Record", {exact: true}).setInputFiles(join(root, "deploy/records/t4.json"));
    await page.getByLabel("Measured on").fill("2026-09-01");
    await press(page).click();
    await page.getByText("Imported as").waitFor();
    assert.match(await page.locator("#import .said").innerText(), /Tesla T4/);
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await axe(page), []);
    await page.getByRole("radio", {name: "a recording"}).check();
    await page.getByLabel("Recording", {exact: true}).setInputFiles(process.env.RL_RECORDING);
    await page.getByLabel("Measured on").fill("");
    await page.getByText("Sizes and cache states").click();
    await page.getByLabel("Sizes", {exact: true}).selectOption("course");
    await press(page).click();
    await page.getByText("Imported as").waitFor();
    await done();
  });
}

async function refusing(browser, daemon) {
  await test("errors stand at the file or field that they name, with line and what to do", async () => {
    const before = (await runs(daemon)).length;
    const {page, done} = await open(browser, {expected: [/4\d\d/]});
    await look(page, daemon);
    await page.getByLabel("GPU", {exact: true}).fill("Tesla T4");
    await page.getByLabel("Measured on").fill("2026-09-01");
    for (const [file, code, message] of [
      ["furlong.csv", "import_format", /furlong/],
      ["permission.txt", "import_permission", /./],
      ["disagrees.csv", "import_disagrees", /./],
      ["nsys.csv", "import_other_file", /./],
    ]) {
      await page.getByLabel("Nsight Compute CSV").setInputFiles(data(file));
      await press(page).click();
      await page.locator(".said .code", {hasText: code}).waitFor();
      const error = page.locator("#import-ncu-error");
      assert.match(await error.innerText(), message);
      assert.equal(await page.locator("#import-ncu").getAttribute("aria-invalid"), "true");
      assert.equal(await page.evaluate(() => document.activeElement.id), "import-ncu");
    }
    assert.deepEqual(await axe(page), []);
    await page.getByLabel("Nsight Compute CSV").setInputFiles(data("long.csv"));
    await page.getByLabel("Measured on").fill("2999-01-01");
    await press(page).click();
    await page.locator("#import-date-error:not([hidden])").waitFor();
    assert.ok(await page.locator("#import-ncu-error").isHidden());
    assert.equal((await runs(daemon)).length, before);
    await done();
  });
  await test("hostile names in a file are text", async () => {
    const folder = temporary();
    const file = join(folder, "hostile.jsonl");
    writeFileSync(file, `${JSON.stringify({kernel: "<img src=x onerror=alert(1)>", ms: 0.5})}\n`);
    const {page, done} = await open(browser, {expected: [/4\d\d/]});
    await look(page, daemon);
    await page.getByLabel("Timings", {exact: true}).setInputFiles(file);
    await page.getByLabel("GPU", {exact: true}).fill("<b>card</b>");
    await page.getByLabel("Measured on").fill("2026-09-01");
    await press(page).click();
    await page.locator("#import .said .notice").first().waitFor();
    assert.equal(await page.locator("main img, main b").count(), 0);
    await done();
  });
  await test("the upload's progress is told, and it can be stopped", async () => {
    const {page, done} = await open(browser, {expected: [/ERR_/]});
    await look(page, daemon);
    await page.route(/\/api\/v1\/imports$/, () => {}); // never answered
    await page.getByLabel("Timings", {exact: true}).setInputFiles(data("timings.jsonl"));
    await press(page).click();
    await page.locator("#import progress").waitFor();
    assert.match(await page.locator("#import .phase").innerText(), /Sending: \d+\u00a0%|being read/);
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", {name: "Stop"}).click();
    await page.getByText("Stopped. Nothing was stored.").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.className), "said"); // not at the page's start
    await done();
  });
  await test("without the right: a token is asked for in place, and the files are sent with it", async () => {
    const folder = temporary();
    const file = join(folder, "tokens");
    writeFileSync(file, `sender submit ${createHash("sha256").update("s3nd").digest("hex")}\n`, {mode: 0o600});
    const guarded = await start({folder, options: ["--token-file", file]});
    const {page, done} = await open(browser, {expected: [/401/]});
    await look(page, guarded);
    await page.getByRole("radio", {name: "a published table"}).check();
    await page.getByLabel("Record", {exact: true}).setInputFiles(join(root, "deploy/records/t4.json"));
    await page.getByLabel("Measured on").fill("2026-09-01");
    await press(page).click();
    await page.getByLabel("Token").fill("s3nd");
    await page.keyboard.press("Enter");
    await page.getByText("Imported as").waitFor();
    await done();
    await guarded.stop();
  });
  for (const options of [{}, {width: 768, scheme: "dark"}, {width: 390, forcedColors: "active"}]) {
    await test(`axe finds nothing, nothing is wider than the page: ${JSON.stringify(options)}`, async () => {
      const {page, done} = await open(browser, options);
      await look(page, daemon);
      await page.getByText("Sizes and cache states").click();
      assert.deepEqual(await axe(page), []);
      assert.equal(await overflow(page), 0);
      await done();
    });
  }
}

async function longName(browser, daemon) {
  await test(
    "a kernel's name of thousands of characters is cut in the printed list, whose lines stay together, " +
      "and whole in the table",
    async () => {
      const long = `void ${"wrapped_function<".repeat(265)}`;
      const names = ["first", long, "last"];
      const rows = names.flatMap((name, i) =>
        ["read", "write"].map((way) => `"${i}","1","${name}","dram__bytes_${way}.sum","byte","${100000 * (i + 1)}"\n`),
      );
      const timings = names.map(
        (name, i) =>
          `${JSON.stringify({kernel: name, function: name, ms: 0.1 + i, flop: 1000000, ask_bytes: 100000})}\n`,
      );
      const {id} = await importForm(daemon, {
        ncu: `"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n${rows.join("")}`,
        timings: timings.join(""),
        device: "card",
        date: "2026-10-01",
        cache: "cold",
        times: "cold",
      });
      const {page, done} = await open(browser, {width: 718});
      await page.goto(`${daemon.url}/#run=${id}`);
      await page.locator("#table-scroll tbody tr").first().waitFor();
      await page.emulateMedia({media: "print"});
      const lines = await page
        .locator(":is(.legend, .absent) li")
        .evaluateAll((all) =>
          all.map((li) => [li.getBoundingClientRect().height < 80, getComputedStyle(li).breakInside]),
        );
      assert.deepEqual(
        lines,
        names.map(() => [true, "avoid"]),
      );
      const whole = page.locator("#table-scroll tbody tr").nth(1).locator("th");
      assert.equal((await whole.innerText()).trim(), long);
      assert.equal(
        (await page.locator("#ceilings").innerText()).replace(/\s+/g, " "),
        "Ceilings The imported files state none.",
      );
      assert.ok(
        await whole.evaluate(
          (cell) => cell.getBoundingClientRect().height > 500 && cell.scrollWidth <= cell.clientWidth,
        ),
      );
      await done();
    },
  );
}

export async function importTests() {
  const daemon = await start();
  const browser = await launch();
  try {
    await importing(browser, daemon);
    await refusing(browser, daemon);
    await longName(browser, daemon);
  } finally {
    await browser.close();
  }
  await daemon.stop();
}
