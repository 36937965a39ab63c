// The examples of server/API.md: each block is run as it stands, against a daemon of the test.
import assert from "node:assert/strict";
import {execFile} from "node:child_process";
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {promisify} from "node:util";
import {start, submit} from "../tools/daemon.mjs";
import {test} from "../tools/suite.mjs";

const run = promisify(execFile);
const ADDRESS = "http://127.0.0.1:8049";
const ROOT = dirname(process.env.RL_README);

/** Code blocks of the language sh. */
const blocks = (path) =>
  [...readFileSync(join(ROOT, path), "utf8").matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code]) => code);

export async function readmeTests() {
  const daemon = await start();
  for (let i = 0; i < 2; i++) await submit(daemon, {suite: "verify"}); // jobs and runs 1 and 2 of the examples
  const all = blocks("server/API.md");
  await test("server/API.md has examples", async () =>
    assert.ok(all.length >= 6 && all.join("").includes("/samples"), `${all.length} blocks`));
  for (const code of all) {
    assert.ok(!code.includes("curl") || code.includes(ADDRESS), code);
    // Every example has to succeed but the one that says itself that it may not.
    const script =
      `set -euo pipefail\ncurl() { command curl -S $([[ "$*" == *DELETE* ]] || echo -f) "$@"; ` +
      `}\n${code.replaceAll(ADDRESS, daemon.url)}`;
    await test(`server/API.md: ${code.split("\n")[0].replace(ADDRESS, "").slice(0, 90)}`, async () => {
      const {stdout} = await run("bash", ["-c", script], {timeout: 60000, cwd: ROOT});
      assert.ok(stdout.trim().length > 0 && !/^null$/m.test(stdout), stdout);
    });
  }
  await daemon.stop();
}
