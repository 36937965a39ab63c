// Runs all tests, one after another, and ends with their number. RL_ONLY=frame,README runs those groups alone.
import {apiTests} from "./api.mjs";
import {buildTests} from "./build.mjs";
import {compareTests} from "./compare.mjs";
import {stopAll} from "./daemon.mjs";
import {explorerTests} from "./explorer.mjs";
import {frameTests} from "./frame.mjs";
import {historyTests} from "./history.mjs";
import {importTests} from "./import.mjs";
import {jobsTests} from "./jobs.mjs";
import {labelTests} from "./labels.mjs";
import {prefixTests} from "./prefix.mjs";
import {readmeTests} from "./readme.mjs";
import {rooflineTests} from "./roofline.mjs";
import {runViewTests} from "./runview.mjs";
import {shots} from "./shots.mjs";
import {summary, test} from "./suite.mjs";
import {viewsTests} from "./views.mjs";
import {worksTests} from "./works.mjs";

if (process.env.RL_SHOTS) {
  await shots(process.env.RL_SHOTS);
  await stopAll();
  process.exit(0);
}

const groups = [
  ["API", apiTests],
  ["build", buildTests],
  ["frame", frameTests],
  ["roofline", rooflineTests],
  ["run", runViewTests],
  ["explorer", explorerTests],
  ["history", historyTests],
  ["compare", compareTests],
  ["works", worksTests],
  ["jobs", jobsTests],
  ["import", importTests],
  ["labels", labelTests],
  ["views", viewsTests],
  ["prefix", prefixTests],
  ["README", readmeTests],
];
const only = process.env.RL_ONLY?.split(",");

for (const [name, run] of groups.filter(([name]) => !only || only.includes(name))) {
  try {
    await run();
  } catch (error) {
    await test(
      `${name}: what the tests need`,
      () => {
        throw error;
      },
      {always: true},
    );
  }
}
await stopAll();
process.exit(summary());
