// What every view has to keep to: no violation that axe finds, no sideways scroll, nothing over anything else, no text
// cut, no made-up number, all of it by keyboard.
import assert from "node:assert/strict";
import {ADDRESSES, fill} from "../tools/addresses.mjs";
import {axe, launch, open, overflow} from "../tools/browser.mjs";
import {start} from "../tools/daemon.mjs";
import {STATES, fillStates} from "../tools/states.mjs";
import {test, until} from "../tools/suite.mjs";
import {contrastTests, faint} from "./contrast.mjs";

const WIDTHS = [1440, 768, 390, 320]; // the last is what WCAG 1.4.10 asks for
const A4 = 718; // CSS pixels between the margins of an upright page of A4
const PAPERS = [1440, A4, 390];

/**
 * Texts of the page that overlap another text, and texts that their own box cuts. Pairs within one element are left
 * out: a line may touch the next.
 */
const layout = (page) =>
  page.evaluate(() => {
    const texts = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const shown = (element) =>
      element.checkVisibility({visibilityProperty: true, opacityProperty: true}) &&
      !element.closest(".visually-hidden, .skip, svg, option, [aria-hidden=true]");
    /** The part of a rectangle that the regions around it show. */
    const seen = (element, rect) => {
      let [left, top, right, bottom] = [rect.left, rect.top, rect.right, rect.bottom];
      for (let box = element; box && box !== document.body; box = box.parentElement) {
        const style = getComputedStyle(box);
        if (style.overflowX === "visible" && style.overflowY === "visible") continue;
        const around = box.getBoundingClientRect();
        [left, top, right, bottom] = [
          Math.max(left, around.left),
          Math.max(top, around.top),
          Math.min(right, around.right),
          Math.min(bottom, around.bottom),
        ];
      }
      return {left, top, right, bottom};
    };
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      if (!node.textContent.trim() || !shown(node.parentElement)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        const box = seen(node.parentElement, rect);
        if (box.right - box.left > 1 && box.bottom - box.top > 1) {
          texts.push({node, text: node.textContent.trim().slice(0, 40), ...box});
        }
      }
    }
    texts.sort((a, b) => a.top - b.top);
    const over = [];
    const stuck = (node) => {
      // what is stuck or laid over the page on purpose
      for (let box = node.parentElement; box; box = box.parentElement) {
        if (["sticky", "fixed", "absolute"].includes(getComputedStyle(box).position)) return true;
      }
      return false;
    };
    for (const [i, a] of texts.entries()) {
      for (let j = i + 1; j < texts.length && texts[j].top < a.bottom - 4; j++) {
        const b = texts[j];
        if (a.node === b.node || a.left >= b.right - 2 || b.left >= a.right - 2 || a.top >= b.bottom - 4) continue;
        if (stuck(a.node) !== stuck(b.node)) continue;
        over.push(`"${a.text}" and "${b.text}"`);
      }
    }
    const cut = [...document.querySelectorAll("body *")]
      .filter((element) => {
        if (
          !shown(element) ||
          element.closest("svg") ||
          !element.textContent.trim() ||
          ["SELECT", "TEXTAREA"].includes(element.tagName)
        ) {
          return false;
        }
        const style = getComputedStyle(element);
        return ["hidden", "clip"].includes(style.overflowX) && element.scrollWidth > element.clientWidth + 1;
      })
      .map((element) => `${element.localName}.${element.className}: ${element.textContent.trim().slice(0, 40)}`);
    return {over: [...new Set(over)].slice(0, 8), cut: cut.slice(0, 8)};
  });

/** Words that no reader should meet, in texts and in what a screen reader is told. */
const slips = (page) =>
  page.evaluate(() => {
    const found = [];
    const bad = /\b(NaN|undefined|Infinity|\[object )|\bnull\b/;
    for (const element of document.querySelectorAll("body *")) {
      const own = [...element.childNodes]
        .filter((node) => node.nodeType === Node.TEXT_NODE)
        .map((node) => node.textContent)
        .join(" ");
      for (const text of [
        own,
        element.getAttribute("aria-label"),
        element.getAttribute("title"),
        element.getAttribute("d"),
        element.getAttribute("transform"),
      ]) {
        if (text && bad.test(text) && !element.closest("pre")) found.push(text.slice(0, 80));
      }
    }
    return found.slice(0, 5);
  });

/**
 * Goes through the page with Tab and gives the controls that were never in focus. Radios of one group, points of a
 * chart and links of a grid are one stop, with arrow keys inside.
 */
async function unreached(page) {
  await page.evaluate(() => {
    document.body.tabIndex = -1; // where the next Tab begins is the page's start, wherever the view has put the focus
    document.body.focus();
    document.body.removeAttribute("tabindex");
    window.scrollTo(0, 0);
    window.reached = new Set();
    document.addEventListener("focusin", (event) => window.reached.add(event.target));
  });
  const limit = await page.evaluate(
    () => document.querySelectorAll("a, button, input, select, textarea, summary, [tabindex]").length + 40,
  );
  for (let i = 0; i < limit; i++) {
    await page.keyboard.press("Tab");
    if (i > 2 && (await page.evaluate(() => document.activeElement === document.body))) break;
  }
  return page.evaluate(() =>
    [
      ...document.querySelectorAll(
        "a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea, summary, " +
          '[tabindex="0"]',
      ),
    ]
      .filter((element) => element.checkVisibility({visibilityProperty: true}) && !window.reached.has(element))
      .filter(
        (element) =>
          element.type !== "radio" ||
          ![...window.reached].some((other) => other.type === "radio" && other.name === element.name),
      )
      .filter(
        (element) =>
          !(
            element.getAttribute("role") === "img" &&
            element.closest("svg") &&
            [...window.reached].some((other) => other.closest("svg") === element.closest("svg"))
          ),
      )
      .filter(
        (element) =>
          !element
            .closest("[role=grid]")
            ?.contains(
              [...window.reached].find((other) => other.closest("[role=grid]") === element.closest("[role=grid]")) ??
                null,
            ),
      )
      .map(
        (element) => `${element.localName} ${element.getAttribute("aria-label") ?? element.textContent.slice(0, 40)}`,
      )
      .slice(0, 8),
  );
}

async function sound(page, where) {
  const {over, cut} = await layout(page);
  assert.deepEqual(
    {over, cut, sideways: await overflow(page), slips: await slips(page)},
    {over: [], cut: [], sideways: 0, slips: []},
    where,
  );
}

/** Opens what an address or a state names, up to where it is ready. */
async function arrive(page, daemon, ids, {fragment, ready, before, then, hangs = false}) {
  await before?.(page, ids);
  await page.goto(`${daemon.url}/#${fragment(ids)}`);
  await then?.(page, ids);
  await page.locator(ready).first().waitFor();
  if (!hangs) await page.waitForLoadState("networkidle");
}

/** Gives the page another width, and waits until it is drawn. */
async function resize(page, width, height = 900) {
  await page.setViewportSize({width, height});
  await until("the page's width", async () => (await page.evaluate(() => innerWidth)) === width);
  await page.evaluate(
    () =>
      new Promise((drawn) => {
        requestAnimationFrame(() => requestAnimationFrame(drawn));
      }),
  );
}

async function one(browser, daemon, ids, address) {
  await test(`${address.name}, light and dark: contrast, axe, layout, words at ${WIDTHS.join(", ")} px`, async () => {
    const {page, done} = await open(browser);
    await arrive(page, daemon, ids, address);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({colorScheme});
      await resize(page, WIDTHS[0]);
      assert.deepEqual(await faint(page), [], colorScheme);
      for (const width of WIDTHS) {
        await resize(page, width);
        assert.deepEqual(await axe(page), [], `${colorScheme}, ${width} px`);
        await sound(page, `${colorScheme}, ${width} px`);
      }
    }
    await done();
  });
  await test(`${address.name}: forced colours, print and keyboard alone`, async () => {
    const {page, done} = await open(browser, {forcedColors: "active"});
    await arrive(page, daemon, ids, address);
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(await unreached(page), []);
    for (const width of WIDTHS) {
      await resize(page, width);
      await sound(page, `forced colours, ${width} px`);
    }
    await page.emulateMedia({media: "print", forcedColors: "none"});
    for (const width of address.papers ?? PAPERS) {
      await resize(page, width, 1000);
      await sound(page, `print, ${width} px`);
    }
    assert.ok(await page.locator("h1").first().isVisible());
    await done();
  });
}

/** A state that no address alone brings about. */
async function state(browser, daemon, ids, wanted) {
  await test(`${wanted.name}: axe, layout and words at ${WIDTHS.join(", ")} px, and in the dark`, async () => {
    const {page, done} = await open(browser, {expected: wanted.expected});
    await arrive(page, daemon, ids, wanted);
    assert.deepEqual(await axe(page), []);
    for (const width of WIDTHS) {
      await resize(page, width);
      await sound(page, `${width} px`);
    }
    await page.emulateMedia({colorScheme: "dark"});
    assert.deepEqual(await axe(page), [], "dark");
    await sound(page, "dark");
    await page.unrouteAll({behavior: "ignoreErrors"});
    await done();
  });
}

/** RL_VIEWS=run,history takes those alone. */
export async function viewsTests() {
  const wanted = process.env.RL_VIEWS?.split(",");
  const mine = ({name}) => !wanted || wanted.some((view) => name === view || name.startsWith(`${view}-`));
  const daemon = await start();
  const ids = await fill(daemon);
  const browser = await launch();
  try {
    await contrastTests(browser, daemon);
    for (const address of ADDRESSES.filter(mine)) await one(browser, daemon, ids, address);
    const more = await fillStates(daemon, ids);
    for (const item of STATES.filter(mine)) await state(browser, daemon, more, item);
  } finally {
    await browser.close();
  }
  await daemon.stop();
}
