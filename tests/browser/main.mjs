// Runs all tests, one after another, and ends with their number. RL_ONLY=page,README runs those groups alone.
import {apiTests} from "./api.mjs";
import {stopAll} from "./daemon.mjs";
import {explorerTests} from "./explorer.mjs";
import {pageTests} from "./page.mjs";
import {readmeTests} from "./readme.mjs";
import {shots} from "./shots.mjs";
import {summary, test} from "./suite.mjs";

if (process.env.RL_SHOTS) {
  await shots(process.env.RL_SHOTS);
  await stopAll();
  process.exit(0);
}

const groups = [["API", apiTests], ["page", pageTests], ["explorer", explorerTests], ["README", readmeTests]];
const only = process.env.RL_ONLY?.split(",");

for (const [name, run] of groups.filter(([name]) => !only || only.includes(name))) {
  try {
    await run();
  } catch (error) {
    await test(`${name}: what the tests need`, () => { throw error; });
  }
}
await stopAll();
process.exit(summary());
