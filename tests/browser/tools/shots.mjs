// Writes a picture of each view at each width and scheme into a folder, to be looked at. By hand: RL_SHOTS=FOLDER
// tests/browser/run BUILD_DIR RL_VIEWS=run,history takes those alone; RL_WIDTHS=1440 and RL_SCHEMES=light,print
// likewise.
import {mkdirSync} from "node:fs";
import {join} from "node:path";
import {ADDRESSES, fill} from "./addresses.mjs";
import {launch, open} from "./browser.mjs";
import {start} from "./daemon.mjs";
import {STATES, fillStates} from "./states.mjs";

const list = (name, all) => process.env[name]?.split(",") ?? all;

export async function shots(folder) {
  mkdirSync(folder, {recursive: true});
  const daemon = await start();
  const ids = await fillStates(daemon, await fill(daemon));
  const browser = await launch();
  const wanted = list("RL_VIEWS", null);
  for (const {name, ready, fragment, before, then, hangs, expected} of [...ADDRESSES, ...STATES].filter(
    (address) => !wanted || wanted.some((w) => address.name === w || address.name.startsWith(`${w}-`)),
  )) {
    for (const width of list("RL_WIDTHS", ["1440", "768", "390"]).map(Number)) {
      for (const scheme of list("RL_SCHEMES", ["light", "dark", "forced", "print"])) {
        const {page, done} = await open(browser, {
          width,
          expected,
          scheme: scheme === "dark" ? "dark" : "light",
          forcedColors: scheme === "forced" ? "active" : "none",
        });
        await before?.(page, ids);
        await page.goto(`${daemon.url}/#${fragment(ids)}`);
        await then?.(page, ids);
        await page.locator(ready).first().waitFor();
        if (!hangs) await page.waitForLoadState("networkidle");
        if (scheme === "print") {
          await page.emulateMedia({media: "print"});
          await page.setViewportSize({width, height: 1000});
        }
        const path = join(folder, `${name}-${width}-${scheme}.png`);
        await page.screenshot({path, fullPage: true});
        console.log(path);
        await page.unrouteAll({behavior: "ignoreErrors"});
        await done();
      }
    }
  }
  await browser.close();
  await daemon.stop();
}
