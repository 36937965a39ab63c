// Runs all tests, one after another, and ends with their number.
import {apiTests} from "./api.mjs";
import {stopAll} from "./daemon.mjs";
import {pageTests} from "./page.mjs";
import {readmeTests} from "./readme.mjs";
import {summary, test} from "./suite.mjs";

for (const [name, run] of [["API", apiTests], ["page", pageTests], ["README", readmeTests]]) {
  try {
    await run();
  } catch (error) {
    await test(`${name}: what the tests need`, () => { throw error; });
  }
}
await stopAll();
process.exit(summary());
