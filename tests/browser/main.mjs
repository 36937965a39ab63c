// Runs all tests, one after another, and ends with their number. RL_ONLY=frame,README runs those groups alone.
import {apiTests} from "./api/tests.mjs";
import {historyTests} from "./history/tests.mjs";
import {jobsTests} from "./jobs/tests.mjs";
import {buildTests} from "./page/build.mjs";
import {compareTests} from "./page/compare.mjs";
import {explorerTests} from "./page/explorer.mjs";
import {frameTests} from "./page/frame.mjs";
import {importTests} from "./page/import.mjs";
import {labelTests} from "./page/labels.mjs";
import {prefixTests} from "./page/prefix.mjs";
import {readmeTests} from "./page/readme.mjs";
import {viewsTests} from "./page/views.mjs";
import {worksTests} from "./page/works.mjs";
import {rooflineTests} from "./roofline/tests.mjs";
import {runViewTests} from "./runview/tests.mjs";
import {stopAll} from "./tools/daemon.mjs";
import {shots} from "./tools/shots.mjs";
import {summary, test} from "./tools/suite.mjs";

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
