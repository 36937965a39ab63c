// Each view wears its own sheet: what it looks like does not depend on the views before it.
import assert from "node:assert/strict";
import {open} from "../tools/browser.mjs";
import {test} from "../tools/suite.mjs";

const PROPERTIES = [
  "display",
  "position",
  "width",
  "height",
  "max-width",
  "min-width",
  "margin",
  "padding",
  "font",
  "color",
  "background-color",
  "border",
  "gap",
  "grid-template-columns",
  "justify-content",
  "align-items",
  "flex",
  "text-align",
  "white-space",
  "overflow-x",
  "list-style-type",
];

/** The computed styles of every element of the view, as [where, {property: value}]. */
const styles = (page) =>
  page.evaluate(
    (names) =>
      [...document.querySelectorAll("#view, #view *:not(svg *)")].map((element) => {
        const style = getComputedStyle(element);
        return [
          `${element.localName}.${element.getAttribute("class") ?? ""}`,
          Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)])),
        ];
      }),
    PROPERTIES,
  );

/** What of the styles is not as in the others, in a few words. */
function differences(those, these) {
  if (those.length !== these.length) return [`${those.length} elements, then ${these.length}`];
  return those
    .flatMap(([where, style], i) =>
      Object.keys(style)
        .filter((name) => style[name] !== these[i][1][name])
        .map((name) => `${where} ${name}: ${style[name]}, then ${these[i][1][name]}`),
    )
    .slice(0, 6);
}

export async function sheets(browser, daemon) {
  await test("a view looks the same after any other as when it is opened first", async () => {
    const run = (await daemon.ask("GET", "/api/v1/runs?limit=1")).json.items[0];
    const views = [
      ["view=runs", "#runs tbody tr"],
      [`run=${run.id}`, "#run table tbody tr"],
      [`view=trend&device=${run.device.id}&kernel=vector_add&state=warm&source=any`, "#trend h1"],
      ["view=jobs", "#jobs h2"],
      [`view=explorer&run=${run.id}`, ".results .roofline-plot"],
      [`run=${run.id}&state=cold`, "#run table tbody tr"],
      ["view=import", "#import form"],
      ["view=history&source=any", ".matrix"],
    ];
    const settled = async (page, ready) => {
      await page.locator(ready).first().waitFor();
      await page.waitForLoadState("networkidle");
      await page.mouse.move(0, 0);
      await page.evaluate(
        () =>
          new Promise((drawn) => {
            document.activeElement.blur();
            requestAnimationFrame(() => requestAnimationFrame(drawn));
          }),
      );
      return styles(page);
    };
    const {page, done} = await open(browser);
    await page.goto("about:blank");
    for (const [i, [fragment, ready]] of views.entries()) {
      if (i === 0) await page.goto(`${daemon.url}/#${fragment}`);
      else {
        await page.evaluate((to) => {
          location.hash = to;
        }, fragment);
      }
      const after = await settled(page, ready);
      const first = await open(browser);
      await first.page.goto(`${daemon.url}/#${fragment}`);
      assert.deepEqual(differences(await settled(first.page, ready), after), [], fragment);
      await first.done();
    }
    await done();
  });
}
