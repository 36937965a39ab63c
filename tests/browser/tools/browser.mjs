// Chromium, and what every view of the page has to keep to.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {chromium} from "playwright-core";

// The last seven keep it from asking anything of the network by itself.
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// The shell draws no window of its own, which took more of the processors than the page did (2026-11-30: 22 tests in
// the time of 13).
export const launch = () =>
  chromium.launch({executablePath: process.env.RL_CHROMIUM ?? "/usr/bin/chromium-headless-shell", args: ARGS});

/**
 * A fresh page in a context of its own. wrong collects what no view may do: errors on the console, refusals by the
 * Content-Security-Policy, exceptions, dialogs, requests to elsewhere. expected: patterns of console errors that the
 * test itself causes.
 */
export async function open(browser, {width = 1440, height = 900, scheme = "light", expected = [], ...options} = {}) {
  const context = await browser.newContext({viewport: {width, height}, colorScheme: scheme, ...options});
  const page = await context.newPage();
  const seen = {wrong: [], requests: []};
  await page.addInitScript(() => {
    window.refused = [];
    document.addEventListener("securitypolicyviolation", (event) =>
      window.refused.push(`${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  page.on("console", (message) => {
    if (message.type() === "error" && !expected.some((pattern) => pattern.test(message.text()))) {
      seen.wrong.push(`console: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => seen.wrong.push(`exception: ${error.message}`));
  page.on("dialog", (dialog) => {
    seen.wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    seen.requests.push(request);
    if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url())) seen.wrong.push(`request to ${request.url()}`);
  });
  return {
    page,
    seen,
    async done() {
      const refused = await page.evaluate(() => window.refused).catch(() => []);
      await context.close();
      assert.deepEqual([...seen.wrong, ...refused.map((text) => `refused: ${text}`)], []);
    },
  };
}

/** Opens the page and waits until a run stands on it. */
export async function show(page, url) {
  await page.goto(url);
  await page.locator("#run:not([hidden]) table tbody tr").first().waitFor();
}

/** axe's violations, in one line each. */
export async function axe(page) {
  await page.evaluate(axeSource);
  const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ["violations"]}));
  return violations.map(
    (v) =>
      `${v.id}: ${v.help} (${v.nodes
        .map((node) => node.target.join(" "))
        .slice(0, 4)
        .join(", ")})`,
  );
}

/** Whether the page itself can be scrolled sideways. */
export const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** The scales as a reader has them: from the ticks and their labels, pixels of log10(value). */
export async function scales(page) {
  return page.evaluate(() => {
    const prefixes = {"": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15};
    const read = (axis, index) => {
      const points = [...document.querySelectorAll(`g[aria-label="${axis}-axis tick label"] text`)].map((text) => {
        const [number, prefix = ""] = text.textContent.split(" ");
        return [
          Math.log10(Number(number) * prefixes[prefix]),
          Number(/translate\(([^,]+),([^)]+)\)/.exec(text.getAttribute("transform"))[index]),
        ];
      });
      const [[a, pa], [b, pb]] = [points[0], points.at(-1)];
      return {slope: (pb - pa) / (b - a), offset: pa - (a * (pb - pa)) / (b - a), ticks: points.length};
    };
    return {x: read("x", 1), y: read("y", 2)};
  });
}

/** Centres of all symbols that Plot drew, by role: the asked and measured points, and those of a run laid over. */
export async function symbols(page) {
  return page.evaluate(() => {
    const at = (mark) => {
      if (mark.localName === "circle") return [Number(mark.getAttribute("cx")), Number(mark.getAttribute("cy"))];
      return /translate\(([^,]+),([^)]+)\)/.exec(mark.getAttribute("transform")).slice(1, 3).map(Number);
    };
    const role = (group) =>
      group.getAttribute("stroke") === "var(--second)"
        ? "second"
        : group.getAttribute("fill") === "var(--page)"
          ? "asked"
          : "measured";
    const all = [...document.querySelectorAll('.roofline-plot g[aria-label="dot"]')].map((group) => ({
      role: role(group),
      marks: [...group.children].map(at),
    }));
    const of = (name) => all.filter((g) => g.role === name).flatMap((g) => g.marks);
    return {asked: of("asked"), measured: of("measured"), second: of("second")};
  });
}
