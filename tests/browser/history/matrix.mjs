// The matrix of days: every cell the API's, the keyboard, and what is chosen.
import assert from "node:assert/strict";
import {open} from "../tools/browser.mjs";
import {AFTER, BEFORE, HOSTILE} from "../tools/past.mjs";
import {plain, test, until} from "../tools/suite.mjs";
import {json, next, parameters, visit} from "./page.mjs";

export const ZONES = ["UTC", "America/Los_Angeles", "Asia/Kolkata"];

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
export const ownKey = async (page, key) => {
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

export async function matrixTests(browser, daemon, past) {
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
