// A year of days: on paper, where nothing scrolls, and at the edge of the region that scrolls.
import assert from "node:assert/strict";
import {open, overflow} from "../tools/browser.mjs";
import {changed, manyDays} from "../tools/states.mjs";
import {plain, test, until} from "../tools/suite.mjs";

const A4 = 718; // CSS pixels between the margins of an upright page of A4
const drawn = (page) =>
  page.evaluate(
    () =>
      new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(done));
      }),
  );

async function aYear(page, daemon) {
  let answer = null;
  await changed(page, /\/api\/v1\/history\?source=imported/, (json) => {
    answer = manyDays(json);
    return answer;
  });
  await page.goto(`${daemon.url}/#view=history&source=imported`);
  await page.locator(".matrix a.cell").first().waitFor();
  return answer;
}

async function toPaper(page) {
  await page.emulateMedia({media: "print"});
  await page.setViewportSize({width: A4, height: 1000});
  await until("the page's width", async () => (await page.evaluate(() => innerWidth)) === A4);
  await drawn(page);
}

/**
 * ["day device driver text"] of the cells on paper, and those that stick out of the paper or whose text sticks out of
 * them.
 */
const onPaper = (page) =>
  page.evaluate((width) => {
    const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const [found, cut] = [[], []];
    for (const table of document.querySelectorAll(".matrix-paper table")) {
      const days = [];
      const below = [...table.tHead.rows[1].cells];
      for (const th of [...table.tHead.rows[0].cells].slice(1)) {
        if (th.classList.contains("gap")) days.push(null);
        else {
          for (let i = 0; i < th.colSpan; i++) {
            const month = String(months.indexOf(th.innerText.slice(0, 3)) + 1).padStart(2, "0");
            days.push(`${th.innerText.slice(-4)}-${month}-${below.shift().lastChild.textContent}`);
          }
        }
      }
      for (const body of table.tBodies) {
        for (const tr of [...body.rows].slice(1)) {
          [...tr.cells].slice(1).forEach((td, i) => {
            const cell = td.querySelector(".cell");
            if (!cell) return;
            const text =
              `${days[i]} ${body.querySelector(".device-name bdi").textContent} ` +
              `${tr.querySelector("th bdi").textContent} ${cell.textContent}`;
            found.push(text);
            const box = cell.getBoundingClientRect();
            const range = document.createRange();
            range.selectNodeContents(cell);
            const words = range.getBoundingClientRect();
            if (
              box.width === 0 ||
              box.left < 0 ||
              box.right > width ||
              words.left < box.left - 0.5 ||
              words.right > box.right + 0.5
            ) {
              cut.push(text);
            }
          });
        }
      }
    }
    return {found, cut};
  }, A4);

export async function paperTests(browser, daemon, past) {
  await test("on paper a year's matrix has every cell once, and none is cut", async () => {
    const {page, done} = await open(browser);
    const {rows} = await aYear(page, daemon);
    const short = (count) => (count < 1000 ? count : `${Math.round(count / 1000)}k`);
    const figures = (cell) => {
      if (cell.counters !== "counter-backed") return `${short(cell.timed_only)}t`;
      return `${short(cell.counter_backed)}${cell.timed_only > 0 ? `+${cell.timed_only}t` : ""}`;
    };
    const wanted = rows.flatMap((row) =>
      row.cells.map((cell) => `${cell.day} ${row.device.name} ${row.driver ?? "unknown"} ${figures(cell)}`),
    );
    assert.ok(new Set(rows.flatMap((row) => row.cells.map((cell) => cell.day))).size > 200);
    await toPaper(page);
    const {found, cut} = await onPaper(page);
    assert.deepEqual(found.toSorted(), wanted.toSorted());
    assert.deepEqual(cut, []);
    assert.equal(await overflow(page), 0);
    await done();
  });
  await test("a page that is printed from the screen has the matrix of paper too", async () => {
    const {page, done} = await open(browser);
    await aYear(page, daemon);
    assert.equal(await page.locator(".matrix-paper table").count(), 0);
    await page.pdf();
    assert.ok((await page.locator(".matrix-paper table").count()) > 10);
    await done();
  });
  await test("paper says what was chosen", async () => {
    const {page, done} = await open(browser);
    await page.goto(`${daemon.url}/#view=runs&device=${past.device}&outcome=any&since=2020-01-01&limit=25`);
    await page.locator("#runs tbody tr").first().waitFor();
    assert.equal(await page.locator(".chosen-line").isVisible(), false);
    await page.locator("[name=sizes]").selectOption("course");
    await until("the words", async () => (await page.locator(".chosen-line").textContent()).includes("course"));
    await toPaper(page);
    const device = await page.locator("[name=device] option:checked").textContent();
    assert.equal(
      plain(await page.locator(".chosen-line").innerText()),
      `Device: ${device} · Sizes: course · Since day (UTC): 2020-01-01`,
    );
    await done();
  });
  await test("no column of a year's matrix is cut at the labels, and older days are told", async () => {
    for (const width of [1440, 768, 390]) {
      const {page, done} = await open(browser, {width});
      await aYear(page, daemon);
      await until("the words", () => page.getByText("Older days lie to the left.").isVisible());
      const off = () =>
        page.evaluate(() => {
          const right = document.querySelector(".matrix thead .label").getBoundingClientRect().right;
          return Math.min(
            ...[...document.querySelectorAll(".matrix thead :is(.day, .gap)")].map((th) =>
              Math.abs(th.getBoundingClientRect().left - right),
            ),
          );
        });
      const at = () =>
        page
          .locator(".matrix-scroll")
          .evaluate((region) => [region.scrollLeft, region.scrollWidth - region.clientWidth]);
      const [now, end] = await at();
      assert.ok(Math.abs(now - end) <= 1, `${now} of ${end}`);
      assert.ok((await off()) <= 1, `${width} px: ${await off()}`);
      await page.locator(".matrix-scroll").evaluate((region) => region.scrollBy({left: -100}));
      await drawn(page);
      assert.ok((await at())[0] < end - 50);
      assert.ok((await off()) <= 1, `${width} px, scrolled: ${await off()}`);
      await done();
    }
  });
}
