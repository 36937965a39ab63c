// History, runs and trend in Chromium: what they show is what the API says, to the digits shown, on days of UTC in
// every zone.
import {launch} from "../tools/browser.mjs";
import {start, submit} from "../tools/daemon.mjs";
import {fillPast} from "../tools/past.mjs";
import {lateNoteTests, noValueTests} from "./late.mjs";
import {matrixTests} from "./matrix.mjs";
import {paperTests} from "./paper.mjs";
import {importedKernelTests, oldTests, t4Tests, tokenTests, versionTests} from "./rights.mjs";
import {runsTests} from "./runs.mjs";
import {acceptTests, trendTests} from "./trend.mjs";
import {historyWordsTests} from "./words.mjs";

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
