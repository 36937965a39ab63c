// The trend: its table, its chart, and a change that is accepted.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {axe, open} from "../tools/browser.mjs";
import {JSON_TYPE, start} from "../tools/daemon.mjs";
import {AFTER} from "../tools/past.mjs";
import {plain, test, until} from "../tools/suite.mjs";
import {ZONES, ownKey} from "./matrix.mjs";
import {json, next, parameters, visit} from "./page.mjs";

const SCALE = {s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9, "TB/s": 1e12, "GB/s": 1e9, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, "%": 1};

/** A text with its unit, which no line parts from it, is the value, to half of its last digit. */
function same(text, value, unit = null) {
  const [, digits, own] = /^([\d.]+)(?:\u00a0(\S+))?$/.exec(text) ?? assert.fail(`${text} is no figure`);
  const scale = SCALE[own ?? unit] ?? 1;
  const last = 10 ** -(digits.split(".")[1]?.length ?? 0);
  assert.ok(Math.abs(Number(digits) * scale - value) <= last * scale * 0.5000001, `${text} is not ${value}`);
}

function sameRange(text, low, high) {
  const [from, to] = text.split(" to ");
  same(to, high);
  same(from, low, to.split(/\s/)[1] ?? null);
}

/** What the page must say of a point's place. */
const kindOf = (point) =>
  point.accepted ? "accepted" : point.band === null ? "none" : point.outside ? "outside" : "inside";

async function checkTable(page, points) {
  const rows = await page.locator(".trend-table tbody tr").evaluateAll((all) =>
    all.map((tr) => ({
      kind: tr.className,
      day: tr.dataset.day,
      cells: Object.fromEntries(
        [...tr.cells].map((cell, i) => [
          tr.closest("table").tHead.rows[0].cells[i].innerText.trim(),
          cell.innerText.trim(),
        ]),
      ),
      run: tr.querySelector("td a").getAttribute("href"),
    })),
  );
  assert.equal(rows.length, points.length);
  points.toReversed().forEach((point, i) => {
    const {cells: shown, ...row} = rows[i];
    assert.equal(row.kind.split(" ")[0], `kind-${kindOf(point)}`);
    assert.deepEqual(
      [shown["day (UTC)"], shown.driver, shown.CUDA, shown.runs],
      [point.day, point.driver, point.cuda, String(point.runs)],
    );
    same(shown.median, point.median);
    if (point.min !== point.max) sameRange(shown["least to greatest"], point.min, point.max);
    if (point.band === null) assert.equal(shown["band before it"], "–");
    else sameRange(shown["band before it"], point.band.low, point.band.high);
    if (point.band) {
      assert.equal(
        Number(shown["against its middle"].replace("−", "-").replace("\u00a0%", "")).toFixed(2),
        (100 * (point.median / point.band.median - 1)).toFixed(2).replace("-0.00", "0.00"),
      );
    }
    if (point.band === null) assert.ok(shown.verdict.includes(point.why.band), shown.verdict);
    assert.deepEqual(parameters(row.run), {run: point.newest_run});
  });
}

/** Marks stand at their day and value by the axis's own ticks, each kind in its shape. */
async function checkChart(page, points) {
  const drawn = await page.evaluate(() => {
    const at = (text) => /translate\(([^,]+),([^)]+)\)/.exec(text.getAttribute("transform")).slice(1, 3).map(Number);
    const y = [...document.querySelectorAll('.trend-chart g[aria-label="y-axis tick label"] text')].map((text) => [
      Number(text.textContent.replaceAll(",", "").replace("−", "-")),
      at(text)[1],
    ]);
    const unit = document.querySelector('.trend-chart g[aria-label="y-axis label"]').textContent.split(", ").at(-1);
    return {
      y,
      unit,
      marks: [...document.querySelectorAll(".trend-chart .point")].map((group) => ({
        x: Number(group.firstChild.getAttribute("cx")),
        y: Number(group.firstChild.getAttribute("cy")),
        label: group.getAttribute("aria-label"),
      })),
      svg: document.querySelector(".trend-chart svg").outerHTML,
    };
  });
  const [[a, pa], [b, pb]] = [drawn.y[0], drawn.y.at(-1)];
  const slope = (pb - pa) / (b - a);
  assert.equal(drawn.marks.length, points.length);
  points.forEach((point, i) => {
    const mark = drawn.marks[i];
    const wanted = pa + (point.median / (SCALE[drawn.unit] ?? 1) - a) * slope;
    assert.ok(Math.abs(mark.y - wanted) < 0.6, `${point.day}: ${mark.y} is not ${wanted}`);
    assert.ok(plain(mark.label).includes(`${point.day} UTC`), mark.label);
    same(/: ([\d.]+\u00a0?\S*), \d+ run/.exec(mark.label)[1].trim(), point.median);
    if (i > 0) assert.ok(mark.x >= drawn.marks[i - 1].x);
  });
  assert.ok(!/NaN|Infinity|undefined/.test(drawn.svg));
}

export async function trendTests(browser, daemon, past) {
  const query = `device=${past.device}&kernel=vector_add&state=warm`;
  for (const [what, more] of [
    ["time", "&metric=time_s"],
    ["bytes", "&metric=dram_bytes"],
    ["bytes over asked", "&metric=dram_per_ask"],
    ["percent of the ceiling", "&metric=percent_of_ceiling"],
  ]) {
    await test(`a trend of ${what}: table and chart are the API's`, async () => {
      for (const timezoneId of ZONES.slice(1)) {
        const {page, done} = await open(browser, {timezoneId});
        await visit(page, daemon, `view=trend&${query}${more}`, ".trend-chart .point");
        const {points} = await json(daemon, `/api/v1/trend?${query}${more}`);
        await checkTable(page, points);
        await checkChart(page, points);
        await done();
      }
    });
  }
  await test("a ceiling's trend has its rate; the chooser offers only what the row has", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, `view=trend&${query}`, ".trend-chart .point");
    await page.locator("[name=kernel]").selectOption("dram_copy");
    await until("the copy's trend", async () =>
      (await page.locator(".trend-title").innerText()).startsWith("copy, warm: rate"),
    );
    const {points} = await json(daemon, `/api/v1/trend?device=${past.device}&kernel=dram_copy&state=warm&metric=value`);
    await checkTable(page, points);
    assert.deepEqual(
      await page.locator("[name=metric] option").evaluateAll((all) => all.map((option) => option.value)),
      ["value", "dram_bytes", "dram_per_ask"],
    );
    assert.equal(parameters(page.url()).metric, "value");
    await done();
  });
  await test("each point by arrow key, pointer and tap: the detail is the API's", async () => {
    const {points} = await json(daemon, `/api/v1/trend?${query}`);
    for (const touch of [false, true]) {
      const {page, done} = await open(browser, touch ? {width: 390, hasTouch: true} : {});
      await visit(page, daemon, `view=trend&${query}`, ".trend-chart .point");
      for (const [i, point] of points.entries()) {
        if (touch) {
          await page.locator(".trend-chart .ring").nth(i).scrollIntoViewIfNeeded();
          const box = await page.locator(".trend-chart .ring").nth(i).boundingBox();
          await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
        } else if (i === 0) {
          await page.locator(".trend-chart .point[tabindex='0']").focus();
          await page.keyboard.press("Home");
        } else await page.keyboard.press("ArrowRight");
        await until(
          point.day,
          async () => plain(await page.locator(".trend-detail h2").innerText()) === `${point.day} UTC`,
        );
        const facts = Object.fromEntries(
          await page
            .locator(".trend-detail dl")
            .evaluate((dl) =>
              [...dl.querySelectorAll("dt")].map((dt) => [dt.textContent, dt.nextElementSibling.textContent]),
            ),
        );
        same(facts.median, point.median);
        assert.equal(facts.driver, point.driver);
        if (point.band) sameRange(facts["band before it"], point.band.low, point.band.high);
        else assert.ok((await page.locator(".trend-detail").innerText()).includes(point.why.band));
        assert.equal(await page.getByRole("button", {name: "Accept this change"}).count(), point.outside ? 1 : 0);
        assert.equal(await page.locator(".trend-detail .mark").innerText(), "imported");
      }
      if (!touch) {
        const label = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
        const before = await label();
        assert.equal(await ownKey(page, "Alt+ArrowLeft"), true);
        await page.setViewportSize({width: 1000, height: 900});
        await until("another width", async () => (await page.locator(".trend-chart svg").getAttribute("width")) < 1000);
        await page.evaluate(
          () =>
            new Promise((drawn) => {
              requestAnimationFrame(() => requestAnimationFrame(drawn));
            }),
        );
        assert.equal(await label(), before);
      }
      await done();
    }
  });
  await test("no point: replayed runs have to be asked for", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, `view=trend&${query}`, ".trend-chart .point");
    let late = null;
    await page.route(/trend\?.*cold/, (route) => {
      late = route;
    });
    await page.locator("[name=state]").selectOption("cold");
    await until("the request", () => late);
    await page.locator("[name=state]").selectOption("warm");
    await until(
      "the warm one",
      async () =>
        (await page.title()).startsWith("vector add warm") &&
        (await page.locator(".trend-place[aria-busy]").count()) === 0,
    );
    const chart = await page.locator(".trend-chart svg").getAttribute("aria-label");
    await Promise.all([page.waitForResponse(/trend\?.*cold/), late.continue()]);
    await page.evaluate(
      () =>
        new Promise((drawn) => {
          requestAnimationFrame(() => requestAnimationFrame(drawn));
        }),
    );
    assert.ok((await page.title()).startsWith("vector add warm"), await page.title());
    assert.equal(await page.locator(".trend-chart svg").getAttribute("aria-label"), chart);
    await page.unrouteAll();
    await visit(page, daemon, `view=trend&${query}&sizes=scaled`, ".empty");
    assert.match(await page.locator(".empty").innerText(), /No good run of vector add, warm, scaled sizes, between/);
    assert.match(
      await page.locator(".trend-title").innerText(),
      /^vector add, warm: time of a launch\s+.*, scaled sizes, GPU-/,
    );
    await page.emulateMedia({media: "print"});
    assert.match(
      await page.locator(".trend-title").innerText(),
      /scaled sizes, verification, runs measured and imported, GPU-/,
    );
    await page.emulateMedia({media: "screen"});
    await visit(page, daemon, `view=trend&${query}&source=replayed`, ".trend-chart .point");
    assert.ok((await page.locator(".said").innerText()).includes("There is no band yet"));
    assert.ok((await page.locator("#trend p.mark").innerText()).includes("Replayed runs"));
    assert.deepEqual(await page.locator(".trend-table .mark").allInnerTexts(), ["replayed"]);
    await page.locator("[name=source]").selectOption("");
    await until("the imported points", async () => (await page.locator(".trend-table .mark").count()) > 1);
    assert.ok((await page.locator("#trend p.mark").innerText()).includes("Imported runs"));
    assert.ok((await page.locator(".trend-table .mark").allInnerTexts()).every((text) => text === "imported"));
    assert.match(await page.locator(".trend-chart .point").first().getAttribute("aria-label"), /2 runs, imported\./);
    await done();
  });
}

export async function acceptTests(browser, daemon, past) {
  const query = `device=${past.device}&kernel=vector_add&state=warm`;
  const NOTE = "driver <b>580</b> is slower here, accepted";
  await test("a change is accepted with a note; somebody else's note meanwhile is not lost", async () => {
    const {page, done} = await open(browser, {expected: [/412/]});
    await visit(page, daemon, `view=trend&${query}`, ".trend-chart .point");
    await page.getByRole("button", {name: "Accept this change"}).click();
    await page.getByRole("button", {name: "Not now"}).click();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Accept this change …");
    await page.keyboard.press("Enter");
    const which = page.locator(".accept-form [name=run]");
    await which.waitFor();
    assert.match(await which.locator("option").first().textContent(), /^run \d+, imported, \d\d:\d\d/);
    assert.match(plain(await page.locator(".accept").innerText()), /vector add, warm; driver .*, CUDA .*/);
    const day = past.days.after[0];
    const {items} = await json(
      daemon,
      `/api/v1/runs?device=${past.device}&driver=${AFTER}&since=${day}&until=${next(day)}&source=measured,imported`,
    );
    assert.deepEqual(
      await which.locator("option").evaluateAll((all) => all.map((option) => option.value)),
      items.map((run) => run.id).reverse(),
    );
    const run = items.at(-1).id;
    await page.locator(".accept-form textarea").fill(NOTE);
    const other = await daemon.ask("PUT", `/api/v1/runs/${run}/note`, {
      headers: JSON_TYPE,
      body: JSON.stringify({text: "seen", accepted: [{kernel: "matmul_naive", state: "warm"}]}),
    });
    assert.equal(other.status, 200, other.text);
    await page.getByRole("button", {name: "Accept from this run on"}).click();
    await page.locator(".accept-said .notice").waitFor();
    assert.equal(await page.locator(".accept-form textarea").inputValue(), `seen\n${NOTE}`);
    await page.getByRole("button", {name: "Accept from this run on"}).click();
    await page.locator(".notice.good").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.className), "notice good");
    const {json: note} = await daemon.ask("GET", `/api/v1/runs/${run}/note`);
    assert.equal(note.text, `seen\n${NOTE}`);
    assert.deepEqual(
      note.accepted.toSorted((a, b) => (a.kernel < b.kernel ? -1 : 1)),
      [
        {kernel: "matmul_naive", state: "warm"},
        {kernel: "vector_add", state: "warm"},
      ],
    );
    const {points} = await json(daemon, `/api/v1/trend?${query}`);
    assert.ok(points.some((point) => point.accepted));
    await until("the new baseline", async () => (await page.locator(".trend-table .kind-accepted").count()) === 1);
    await checkTable(page, points);
    assert.equal(await page.locator(".note-list .note-text").textContent(), `seen\n${NOTE}`);
    assert.equal(await page.locator(".note-list .mark").innerText(), "imported");
    await done();
  });
  await test("the runs that a change may begin with are told by UTC and by the reader's clock", async () => {
    for (const [timezoneId, zone] of [
      ["America/Los_Angeles", /UTC \(.*P[SD]T\)$/],
      ["Asia/Kolkata", /UTC \(.*(GMT\+5:30|IST)\)$/],
      ["UTC", /UTC$/],
    ]) {
      const {page, done} = await open(browser, {timezoneId, locale: "en-US"});
      await visit(
        page,
        daemon,
        `view=trend&device=${past.device}&kernel=matmul_naive&state=cold`,
        ".trend-chart .point",
      );
      await page.getByRole("button", {name: "Accept this change"}).click();
      const options = page.locator(".accept-form [name=run] option");
      await options.first().waitFor({state: "attached"});
      for (const text of await options.allTextContents()) assert.match(text, zone);
      assert.match(await page.locator(".accept h2").innerText(), /\d{4}-\d{2}-\d{2}\sUTC$/);
      await done();
    }
  });
  await test(
    "who may not write is asked for a token in place; with the right one the change is accepted, and " +
      "nothing written is lost",
    async () => {
      await daemon.stop(); // one daemon has the database at a time
      const file = join(daemon.folder, "tokens");
      const line = (id, right, token) => `${id} ${right} ${createHash("sha256").update(token).digest("hex")}\n`;
      writeFileSync(file, line("reader", "read", "r3ad") + line("sender", "submit", "s3nd"), {mode: 0o600});
      const reader = await start({folder: daemon.folder, options: ["--token-file", file], ready: false});
      const {page, done} = await open(browser, {expected: [/40[13]/]});
      const query = `device=${past.device}&kernel=matmul_naive&state=cold`;
      await visit(page, reader, `view=trend&${query}`, ".trend-chart .point");
      await page.getByRole("button", {name: "Accept this change"}).click();
      await page.locator(".accept-form textarea").fill("mine");
      await page.getByRole("button", {name: "Accept from this run on"}).click();
      for (const [code, token] of [
        ["unauthorized", "r3ad"],
        ["forbidden", "s3nd"],
      ]) {
        await page.locator(".accept-said .notice.bad", {hasText: code}).waitFor();
        assert.deepEqual(await axe(page), []);
        assert.equal(await page.locator(".accept-form textarea").inputValue(), "mine");
        assert.equal(await page.evaluate(() => document.activeElement.type), "password");
        await page.keyboard.type(token);
        await page.keyboard.press("Enter");
      }
      await page.locator(".accepting .notice.good").waitFor();
      const accepted = (await json(reader, `/api/v1/trend?${query}`)).accepted.at(-1);
      assert.deepEqual([accepted.note, accepted.principal], ["mine", "token:sender"]);
      await done();
      await reader.stop();
    },
  );
}
