// Contrast by the rule of WCAG 2.2: 4.5 for text, 3 for marks of a chart, against what they are drawn on. axe looks at
// text of HTML alone.
import assert from "node:assert/strict";
import {open} from "../tools/browser.mjs";
import {test} from "../tools/suite.mjs";

const TEXT = 4.5;
const MARK = 3;

const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);

/** The ratio of two opaque colours, [r, g, b] of 0 to 255. */
export function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

// Colours by their role in static/css/page/colours.css: what stands on what.
const PLAIN = ["page", "raised", "chosen"];
const TEXTS = [
  ["text", [...PLAIN, "info-ground", "bad-ground", "good-ground"]],
  ["muted", PLAIN],
  ["link", PLAIN],
  ["bad", PLAIN],
  ["second", ["page", "raised"]],
  ["roof", ["page"]],
  ["mark-text", ["mark-ground"]],
  ["on-accent", ["accent"]],
];
const MARKS = [
  "roof",
  "join",
  "ask",
  "circle",
  "square",
  "triangle",
  "diamond",
  "second",
  "bad",
  "good",
  "accent",
  "text",
  "muted",
].map((mark) => [mark, ["page", "band"]]);

/** {name: [r, g, b]} of the page's colours as they are now. */
const colours = (page, names) =>
  page.evaluate((wanted) => {
    const canvas = document.createElement("canvas").getContext("2d");
    const style = getComputedStyle(document.documentElement);
    return Object.fromEntries(
      wanted.map((name) => {
        canvas.fillStyle = style.getPropertyValue(`--${name}`);
        canvas.fillRect(0, 0, 1, 1);
        return [name, [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)];
      }),
    );
  }, names);

/**
 * What is drawn on the page: [{what, text, ratio: [[paint, ground], …]}], colours as they come out over what lies below
 * the drawing. Left out is what tells nothing by itself: the grid, bands with their own words and lines, and the ground
 * of a meter.
 */
const drawn = (page) =>
  page.evaluate(() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const rgba = (text) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a)];
    const groundOf = (element) => {
      const colour = rgba(getComputedStyle(element).backgroundColor);
      return colour[3] === 1
        ? colour.slice(0, 3)
        : over(colour, element.parentElement ? groundOf(element.parentElement) : [255, 255, 255]);
    };
    const found = [];
    for (const svg of document.querySelectorAll("main svg")) {
      const ground = groundOf(svg.parentElement);
      for (const shape of svg.querySelectorAll("path, line, rect, circle, polygon, text")) {
        if (
          !shape.checkVisibility({visibilityProperty: true}) ||
          shape.closest(
            '[aria-label$="-grid"], .band, .same-band, .whole, [fill="var(--band)"], [stroke="var(--band)"]',
          )
        ) {
          continue;
        }
        const style = getComputedStyle(shape);
        let seen = 1;
        for (let box = shape; box !== svg.parentElement; box = box.parentElement) {
          seen *= Number(getComputedStyle(box).opacity);
        }
        const text = shape.localName === "text";
        const {width, height} = shape.getBBox();
        const flat = width === 0 || height === 0; // nothing of it can be filled
        const paints = [
          ...(flat ? [] : [["fill", style.fillOpacity]]),
          ...(text ? [] : [["stroke", style.strokeOpacity]]),
        ]
          .filter(([paint]) => style[paint] !== "none")
          .map(([paint, opacity]) => {
            const [r, g, b, a] = rgba(style[paint]);
            return over([r, g, b, a * Number(opacity) * seen], ground);
          });
        if (paints.length > 0) {
          found.push({
            what: (
              `${svg.getAttribute("class") ?? "svg"}: ` +
              `${shape.parentElement.getAttribute("aria-label") ?? shape.parentElement.getAttribute("class") ?? ""} ` +
              `${shape.localName} ${shape.getAttribute("class") ?? ""} ` +
              `${text ? shape.textContent.slice(0, 20) : ""}`
            ).trim(),
            text,
            paints,
            ground,
          });
        }
      }
    }
    return found;
  });

/**
 * What is drawn too faintly on the page, in a line each. A mark that is filled and outlined is seen by the one or the
 * other.
 */
export async function faint(page) {
  const lines = (await drawn(page))
    .map(({what, text, paints, ground}) => ({
      what,
      ratio: Math.max(...paints.map((paint) => contrast(paint, ground))),
      least: text ? TEXT : MARK,
    }))
    .filter(({ratio, least}) => ratio < least)
    .map(({what, ratio, least}) => `${what}: ${ratio.toFixed(2)} of ${least}`);
  return [...new Set(lines)].slice(0, 8);
}

export async function contrastTests(browser, daemon) {
  await test("contrast as WCAG has it", () => {
    assert.equal(contrast([0, 0, 0], [255, 255, 255]), 21);
    assert.equal(contrast([10, 20, 30], [10, 20, 30]), 1);
    assert.deepEqual(
      [
        [119, 119, 119],
        [118, 118, 118],
      ].map((grey) => contrast(grey, [255, 255, 255]).toFixed(2)),
      ["4.48", "4.54"],
    ); // #777 just fails as text, #767676 just passes
  });
  for (const scheme of ["light", "dark"]) {
    await test(`the page's colours, ${scheme}: texts and a chart's marks stand out from their grounds`, async () => {
      const {page, done} = await open(browser, {scheme});
      await page.goto(`${daemon.url}/#view=import`);
      await page.locator("#import form").waitFor();
      const pairs = [...TEXTS.map(([name, on]) => [name, on, TEXT]), ...MARKS.map(([name, on]) => [name, on, MARK])];
      const known = await colours(page, [...new Set(pairs.flatMap(([name, on]) => [name, ...on]))]);
      const short = pairs
        .flatMap(([name, on, least]) => on.map((ground) => [name, ground, contrast(known[name], known[ground]), least]))
        .filter(([, , ratio, least]) => ratio < least);
      assert.deepEqual(
        short.map(([name, ground, ratio, least]) => `--${name} on --${ground}: ${ratio.toFixed(2)} of ${least}`),
        [],
      );
      await page.evaluate(() => {
        const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        svg.innerHTML =
          '<path d="M0,0H9" stroke="var(--grid)"/><text y="9" fill="var(--line)">9</text><path d="M0,0H9" ' +
          'stroke="var(--roof)" stroke-opacity="0.2"/><path d="M0,0H9V9z" fill="var(--page)" stroke="var(--roof)"/>';
        document.querySelector("#import h1").append(svg);
      });
      assert.equal((await faint(page)).length, 3); // all but the outlined one
      await done();
    });
  }
}
