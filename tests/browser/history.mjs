// History, runs and trend in Chromium: what they show is what the API says, to the digits shown, on days of UTC in
// every zone.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {axe, launch, open} from "./browser.mjs";
import {JSON_TYPE, start, submit} from "./daemon.mjs";
import {importedKernelTests, oldTests, t4Tests, tokenTests, versionTests} from "./history-rights.mjs";
import {paperTests} from "./history-paper.mjs";
import {historyWordsTests} from "./history-words.mjs";
import {AFTER, BEFORE, HOSTILE, fillPast} from "./past.mjs";
import {plain, test, until} from "./suite.mjs";
import {lateNoteTests, noValueTests} from "./trend-late.mjs";

const ZONES = ["UTC", "America/Los_Angeles", "Asia/Kolkata"];
const next = (day) => new Date(Date.parse(`${day}T00:00:00Z`) + 86400000).toISOString().slice(0, 10);
const parameters = (href) => Object.fromEntries(new URLSearchParams(href.slice(href.indexOf("#") + 1)));
const json = async (daemon, path) => {
  const answer = await daemon.ask("GET", path);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
};

async function visit(page, daemon, fragment, ready) {
  await page.goto(`${daemon.url}/#${fragment}`);
  await page.locator(ready).first().waitFor();
}

/** [{device, driver, cuda, day, text, kind, href, words}] of all cells, as the table has them by its heads. */
const cells = (page) =>
  page.evaluate(() => {
    const days = [];
    const months = {
      Jan: "01",
      Feb: "02",
      Mar: "03",
      Apr: "04",
      May: "05",
      Jun: "06",
      Jul: "07",
      Aug: "08",
      Sep: "09",
      Oct: "10",
      Nov: "11",
      Dec: "12",
    };
    const below = [...document.querySelectorAll(".matrix thead tr:nth-child(2) th")];
    for (const th of document.querySelectorAll(".matrix thead tr:first-child th:not(.label)")) {
      if (th.classList.contains("gap")) days.push(null);
      else {
        for (let i = 0; i < th.colSpan; i++) {
          days.push(
            `${th.innerText.slice(-4)}-${months[th.innerText.slice(0, 3)]}-${below.shift().lastChild.textContent}`,
          );
        }
      }
    }
    const found = [];
    for (const body of document.querySelectorAll(".matrix tbody")) {
      const device = body.querySelector(".device-name bdi").textContent;
      for (const tr of [...body.rows].slice(1)) {
        const [driver, cuda] = [...tr.querySelectorAll("th bdi")].map((bdi) => bdi.textContent);
        [...tr.querySelectorAll("td")].forEach((td, i) => {
          const a = td.querySelector("a");
          if (a) {
            found.push({
              device,
              driver,
              cuda,
              day: days[i],
              text: a.textContent,
              kind: a.classList.contains("counted") ? "counter-backed" : "timed-only",
              href: a.getAttribute("href"),
              words: a.getAttribute("aria-label"),
            });
          }
        });
      }
    }
    return found;
  });

/** Whether a key is left to the browser: nobody on the page took it. */
const ownKey = async (page, key) => {
  await page.evaluate(() => {
    window.addEventListener(
      "keydown",
      (event) => {
        window.taken = event.defaultPrevented;
        event.preventDefault();
      },
      {once: true},
    );
  });
  await page.evaluate((text) => {
    const parts = text.split("+");
    document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", {
        key: parts.at(-1),
        ctrlKey: parts.includes("Control"),
        altKey: parts.includes("Alt"),
        metaKey: parts.includes("Meta"),
        bubbles: true,
        cancelable: true,
      }),
    );
  }, key);
  return page.evaluate(() => !window.taken);
};

async function matrixTests(browser, daemon, past) {
  for (const timezoneId of ZONES) {
    await test(`the matrix in ${timezoneId}: every cell is the API's, on its UTC day, linked to its runs`, async () => {
      const {page, done} = await open(browser, {timezoneId});
      await visit(page, daemon, "view=history", ".matrix a.cell");
      const answer = await json(daemon, "/api/v1/history");
      const wanted = answer.rows.flatMap((row) => row.cells.map((cell) => ({row, cell})));
      const found = await cells(page);
      assert.equal(found.length, wanted.length);
      for (const {row, cell} of wanted) {
        const shown = found.find(
          (one) =>
            one.device === row.device.name &&
            one.driver === row.driver &&
            one.cuda === `CUDA ${row.cuda}` &&
            one.day === cell.day,
        );
        assert.ok(shown, `${row.device.name} ${cell.day}`);
        assert.equal(shown.kind, cell.counters);
        const text =
          cell.counters === "timed-only"
            ? `${cell.timed_only}t`
            : `${cell.counter_backed}${cell.timed_only > 0 ? `+${cell.timed_only}t` : ""}`;
        assert.equal(shown.text, text);
        assert.ok(plain(shown.words).includes(`${cell.day} UTC`), shown.words);
        assert.deepEqual(parameters(shown.href), {
          view: "runs",
          device: row.device.id,
          driver: row.driver,
          cuda: row.cuda,
          since: cell.day,
          until: next(cell.day),
          source: "measured,imported",
        });
      }
      await done();
    });
  }
  await test("a gap of days is told, and so is the change of driver, with its comparison", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, `view=history&device=${past.device}`, ".matrix a.cell");
    assert.equal(await page.locator(".matrix thead .gap").innerText(), "16 days without a run");
    assert.deepEqual(
      await page
        .locator(".matrix a.new")
        .evaluateAll((all) => all.map((a) => a.getAttribute("aria-label").slice(3, 13))),
      [past.days.after[0]],
    );
    const item = page.locator(".change-list li");
    assert.equal(await item.count(), 1);
    const text = await item.innerText();
    for (const part of [past.days.after[0], BEFORE, AFTER]) assert.ok(text.includes(part), text);
    assert.equal(await item.locator(".mark").innerText(), "runs of that day: imported");
    assert.deepEqual(parameters(await item.locator("a").getAttribute("href")), {
      view: "compare",
      base: `driver:${BEFORE}`,
      head: `driver:${AFTER}`,
      device: past.device,
    });
    await done();
  });
  await test("names of devices are text; a cell opens as many runs as it counts", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, "view=history", ".matrix a.cell");
    const names = await page
      .locator(".device-name > bdi:first-child")
      .evaluateAll((all) => all.map((bdi) => bdi.textContent));
    for (const name of HOSTILE) assert.ok(names.includes(name), name);
    await page.locator(".matrix a.counted").first().click();
    await page.locator("#runs tbody tr").first().waitFor();
    assert.equal(await page.locator("#runs tbody tr").count(), 2);
    await done();
  });
  await test("in the matrix one cell is a stop of the Tab key, arrow keys go on", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, `view=history&device=${past.device}`, ".matrix a.cell");
    assert.equal(await page.locator(".matrix a[tabindex='0']").count(), 1);
    await page.locator(".matrix a[tabindex='0']").focus();
    const at = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
    assert.ok((await at()).includes(past.days.after[3]));
    await page.keyboard.press("ArrowLeft");
    assert.ok((await at()).includes(past.days.after[2]));
    await page.keyboard.press("ArrowUp");
    assert.ok((await at()).includes(BEFORE), await at());
    await page.keyboard.press("Home");
    assert.ok((await at()).includes(past.days.before[0]));
    await page.keyboard.press("ArrowUp");
    assert.ok((await at()).includes(past.days.before[0]));
    for (const key of ["Control+ArrowRight", "Meta+ArrowRight", "Control+End"]) {
      assert.equal(await ownKey(page, key), true, key);
    }
    assert.equal(await ownKey(page, "ArrowRight"), false);
    await done();
  });
  await test("replayed runs come when asked for; an empty span or wrong day keeps the choosers", async () => {
    const {page, done} = await open(browser, {expected: [/400/]});
    await visit(page, daemon, "view=history", ".matrix a.cell");
    const before = await page.locator(".matrix a.cell").count();
    // all of the past came as imports
    assert.equal(await page.locator('.matrix a.cell.foreign[aria-label*="; imported"]').count(), before);
    await page.locator("[name=source]").selectOption("any");
    await until("the replayed run's cell", async () => (await page.locator(".matrix a.cell").count()) === before + 1);
    assert.equal(parameters(page.url()).source, "any");
    assert.equal(await page.locator('.matrix a.cell.foreign[aria-label*="; replayed"]').count(), 1);
    assert.equal(await page.locator('.matrix a.cell.foreign[aria-label*="; imported"]').count(), before);
    await visit(page, daemon, "view=history&since=2020-01-01&until=2020-02-01", ".empty");
    assert.ok((await page.locator(".empty").innerText()).includes("No run in this span"));
    assert.equal(await page.getByRole("link", {name: "Show replayed runs too"}).count(), 1);
    await visit(page, daemon, "view=history&since=2020-01-01&until=2020-02-01&source=any", ".empty");
    assert.equal(await page.getByRole("link", {name: "Show replayed runs too"}).count(), 0); // they are shown already
    await visit(page, daemon, "view=history&since=yesterday", ".notice.bad");
    // the field by its label
    assert.match(await page.locator(".notice.bad").innerText(), /^Since day \(UTC\): 'yesterday' is /);
    assert.equal(await page.locator("[name=since]").inputValue(), "yesterday");
    assert.equal(await page.locator("[aria-invalid=true]").getAttribute("name"), "since");
    await page.getByRole("button", {name: "90 days"}).click();
    await page.locator(".matrix a.cell").first().waitFor();
    assert.equal(await page.locator("[aria-invalid]").count(), 0);
    assert.deepEqual(await page.locator("[aria-pressed=true]").allInnerTexts(), ["90 days"]);
    await done();
  });
}

const shownRuns = (page) =>
  page
    .locator("#runs tbody tr")
    .evaluateAll((all) =>
      all.map((tr) => [
        tr.dataset.run,
        ...[...tr.querySelectorAll("td:not(.tick)")].map((td) => td.innerText.replaceAll(/\s+/g, " ").trim()),
      ]),
    );

async function runsTests(browser, daemon, past) {
  await test("the list is the API's, in its order, with both clocks", async () => {
    for (const timezoneId of ZONES) {
      const {page, done} = await open(browser, {timezoneId, locale: "en-US"});
      await visit(page, daemon, "view=runs", "#runs tbody tr");
      const {items} = await json(daemon, "/api/v1/runs");
      const rows = await shownRuns(page);
      assert.deepEqual(
        rows.map(([id]) => id),
        items.map((run) => run.id),
      );
      items.forEach((run, i) => {
        const [, date, device, driver, kind, outcome, copy, fma, ridge] = rows[i];
        assert.ok(plain(date).startsWith(`${run.date.slice(0, 10)} ${run.date.slice(11, 19)} UTC`), date);
        if (timezoneId === "America/Los_Angeles") assert.match(date, /P[SD]T$/);
        if (timezoneId === "Asia/Kolkata") assert.match(date, /GMT\+5:30$|IST$/);
        assert.ok(device.startsWith(run.device.name.slice(0, 20)), device);
        assert.equal(driver, `${run.driver} CUDA ${run.cuda}`);
        assert.equal(kind, `${run.sizes} ${run.counters === "timed-only" ? "timed only" : run.counters}`);
        assert.equal(outcome, run.outcome);
        const close = (text, value, unit) =>
          value === null
            ? assert.equal(text, "–")
            : assert.ok(
                Math.abs((Number.parseFloat(text) * {T: 1e12, G: 1e9}[text.split(/\s/)[1][0]]) / value - 1) < 0.0051 &&
                  text.endsWith(unit),
                `${text} is not ${value}`,
              );
        close(copy, run.dram_copy_byte_per_s, "B/s");
        close(fma, run.fp32_fma_flop_per_s, "FLOP/s");
        assert.equal(
          ridge === "–" ? null : Number(ridge),
          run.ridge_flop_per_byte === null ? null : Number(run.ridge_flop_per_byte.toPrecision(3)),
        );
      });
      assert.ok((await page.locator("#runs tbody tr .mark").allInnerTexts()).includes("Replayed"));
      await done();
    }
  });
  await test("pages by the API's cursor, and back by the browser; a broken cursor leads to the newest", async () => {
    const {page, done} = await open(browser, {expected: [/400/]});
    await visit(page, daemon, "view=runs&limit=5&source=imported", "#runs tbody tr");
    const {items, next: cursor} = await json(daemon, "/api/v1/runs?limit=5&source=imported");
    await page.locator("a[rel=next]").click();
    const second = await json(daemon, `/api/v1/runs?limit=5&source=imported&cursor=${encodeURIComponent(cursor)}`);
    await until("the second page", async () => (await shownRuns(page))[0]?.[0] === second.items[0].id);
    assert.deepEqual(
      (await shownRuns(page)).map(([id]) => id),
      second.items.map((run) => run.id),
    );
    await page.goBack();
    await until("the first page", async () => (await shownRuns(page))[0]?.[0] === items[0].id);
    await visit(page, daemon, "view=runs&cursor=broken", "#runs .notice");
    await page.getByRole("link", {name: "Start with the newest runs"}).click();
    await page.locator("#runs tbody tr").first().waitFor();
    await done();
  });
  await test("each filter asks the API for it and stands in the address; exports take the same selection", async () => {
    const {page, seen, done} = await open(browser);
    await visit(page, daemon, "view=runs", "#runs tbody tr");
    const changes = {
      device: past.device,
      driver: BEFORE,
      cuda: "13.0",
      suite: "verify",
      sizes: "course",
      source: "measured,imported",
      counters: "counter-backed",
      outcome: "any",
      since: past.days.before[0],
      until: next(past.days.before[0]),
    };
    for (const [name, value] of Object.entries(changes)) {
      const control = page.locator(`#runs form [name=${name}]`);
      if (await control.evaluate((element) => element.localName === "select")) await control.selectOption(value);
      else await control.fill(value).then(() => control.blur());
      await until(name, () =>
        seen.requests.some(
          (request) =>
            new URL(request.url()).pathname === "/api/v1/runs" &&
            new URL(request.url()).searchParams.get(name) === value,
        ),
      );
      assert.equal(parameters(page.url())[name], value);
    }
    await until("two runs", async () => (await page.locator("#runs tbody tr").count()) === 2);
    for (const kind of ["csv", "json"]) {
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.locator(".exports").getByRole("button", {name: kind.toUpperCase()}).click(),
      ]);
      const asked = new URL(seen.requests.findLast((request) => request.url().includes(`/runs.${kind}`)).url());
      assert.deepEqual(Object.fromEntries(asked.searchParams), changes);
      const text = readFileSync(await file.path(), "utf8");
      assert.equal(text, (await daemon.ask("GET", `${asked.pathname}${asked.search}`)).text);
      if (kind === "json") assert.equal(JSON.parse(text).items.length, 2);
    }
    await page.locator("#runs form [name=driver]").fill("999.99");
    await page.locator("#runs form [name=driver]").blur();
    await page.locator("#runs .empty").waitFor();
    await page.getByRole("button", {name: "Clear filters"}).click();
    await until("all runs", async () => (await page.locator("#runs tbody tr").count()) > 2);
    for (const clear of [
      page.getByRole("button", {name: "Clear filters"}),
      page.getByRole("link", {name: "Show the runs without filters"}),
    ]) {
      await visit(page, daemon, "view=runs&limit=25&base=run:1&head=run:2&driver=999.99", "#runs .empty");
      await clear.click();
      await page.locator("#runs tbody tr").first().waitFor();
      assert.deepEqual(parameters(page.url()), {view: "runs", base: "run:1", head: "run:2", limit: "25"}); // no filters
    }
    await done();
  });
  await test("two marked runs lead to a comparison and to one chart; marks stay over pages", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, `view=runs&device=${past.device}&source=imported&limit=25`, "#runs tbody tr");
    const [a, b] = (await shownRuns(page)).map(([id]) => id);
    await page.getByRole("checkbox", {name: `run ${b} as base`}).check();
    await page.getByRole("checkbox", {name: `run ${a} as base`}).check();
    await page.getByRole("checkbox", {name: `run ${a} as head`}).check(); // a run is on one side only
    assert.equal(await page.getByRole("checkbox", {name: `run ${a} as base`}).isChecked(), false);
    assert.deepEqual(
      parameters(await page.getByRole("link", {name: "Compare", exact: true}).last().getAttribute("href")),
      {view: "compare", base: `run:${b}`, head: `run:${a}`},
    );
    assert.deepEqual(parameters(await page.getByRole("link", {name: "Both on one chart"}).getAttribute("href")), {
      run: a,
      over: b,
    });
    await page.reload();
    await page.locator("#runs tbody tr").first().waitFor();
    assert.ok(await page.getByRole("checkbox", {name: `run ${b} as base`}).isChecked());
    await page.getByRole("button", {name: "Clear marks"}).click();
    assert.equal(await page.locator(".selection").isVisible(), false);
    await visit(page, daemon, `view=runs&base=run:${a}&head=run:${a},run:${b}`, "#runs tbody tr"); // as no mark can say
    assert.ok(
      plain(await page.locator(".selection").innerText()).startsWith(
        `Base: run ${a} · Head: run ${b}. The address has run ${a} on both sides; kept as base.`,
      ),
    );
    assert.deepEqual(
      await page
        .locator(".tick input:checked")
        .evaluateAll((all) => all.map((input) => input.getAttribute("aria-label"))),
      [`run ${a} as base`, `run ${b} as head`],
    );
    await done();
  });
}

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

async function trendTests(browser, daemon, past) {
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

async function acceptTests(browser, daemon, past) {
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

export async function historyTests() {
  await historyWordsTests();
  const daemon = await start();
  const past = await fillPast(daemon);
  await submit(daemon, {suite: "verify"});
  const browser = await launch();
  try {
    await matrixTests(browser, daemon, past);
    await paperTests(browser, daemon, past);
    await runsTests(browser, daemon, past);
    await trendTests(browser, daemon, past);
    await noValueTests(browser, daemon, past);
    await lateNoteTests(browser, daemon, past);
    await acceptTests(browser, daemon, past); // ends the daemon
    await tokenTests(browser);
    await versionTests(browser);
    await importedKernelTests(browser);
    await oldTests(browser);
    await t4Tests(browser);
  } finally {
    await browser.close();
  }
}
