// static/build: what it fills, and what it leaves alone; and that only one run of these tests is in a build folder.
import assert from "node:assert/strict";
import {execFile, spawn} from "node:child_process";
import {once} from "node:events";
import {existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {temporary} from "../tools/daemon.mjs";
import {test} from "../tools/suite.mjs";

const script = join(dirname(process.env.RL_README), "static/build");

/** {status, stderr} of static/build with this folder, called from within cwd. */
const build = (folder, cwd) =>
  new Promise((resolve) => {
    execFile(script, [folder], {cwd}, (error, _stdout, stderr) => resolve({status: error ? error.code : 0, stderr}));
  });

async function lockTests() {
  await test("a second run in the same build folder is refused before it touches anything", async () => {
    const mine = temporary();
    const again = spawn(join(dirname(process.env.RL_README), "tests/browser/run"), [dirname(process.env.RL_WORK)], {
      stdio: ["ignore", "ignore", "pipe"],
      env: {...process.env, RL_ONLY: "none"},
    });
    const parts = [];
    again.stderr.on("data", (data) => parts.push(data));
    const [status] = await once(again, "close");
    assert.equal(
      Buffer.concat(parts).toString(),
      `tests/browser/run: another run is in ${process.env.RL_WORK}: wait for its end, or name another build folder\n`,
    );
    assert.equal(status, 75);
    assert.ok(existsSync(mine));
  });
}

export async function buildTests() {
  await lockTests();
  await test("static/build leaves a folder alone that holds anything of somebody else's", async () => {
    const parent = temporary();
    const folder = join(parent, "mine");
    mkdirSync(folder);
    writeFileSync(join(folder, "thesis.txt"), "years of work");
    symlinkSync(folder, join(parent, "link"));
    for (const [name, cwd] of [
      [folder, parent],
      ["mine/", parent],
      [".", folder],
      ["../link", folder],
    ]) {
      const {status, stderr} = await build(name, cwd);
      assert.equal(status, 73, stderr);
      assert.ok(stderr.includes("would be emptied"), stderr);
      assert.equal(readFileSync(join(folder, "thesis.txt"), "utf8"), "years of work");
    }
    assert.deepEqual(readdirSync(parent).sort(), ["link", "mine"]);
  });
  await test("static/build fills a new, an empty and its own folder, and removes what is no longer there", async () => {
    const parent = temporary();
    const folder = join(parent, "page");
    symlinkSync(`${process.env.RL_PAGE}.npm`, `${folder}.npm`); // the packages that the tests' own page was made with
    mkdirSync(folder);
    assert.deepEqual(await build("page/", parent), {status: 0, stderr: ""});
    const files = readdirSync(folder).sort();
    assert.ok(files.includes("index.html") && files.includes("js"), files.join());
    writeFileSync(join(folder, "old.js"), "gone with the next change");
    writeFileSync(join(folder, ".rooflined-page"), "made from something else");
    assert.deepEqual(await build(folder, parent), {status: 0, stderr: ""});
    assert.deepEqual(readdirSync(folder).sort(), files);
    assert.ok(!existsSync(join(folder, ".npm")));
  });
}
