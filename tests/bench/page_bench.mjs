// How soon the run view stands on a cold page, with many runs in the history. By hand; never part of a test run.
//
//     ninja history_generate rooflined roofline-measure     # in a release build
//     static/build build/static
//     npm ci --prefix DIR                                   # a copy of tests/browser/package.json, package-lock.json
//     node tests/bench/page_bench.mjs --build build --page build/static --packages DIR [--runs 1000] [--loads 10]
//
// tests/browser/run BUILD leaves the packages in BUILD/tests-browser and the page in BUILD/tests-browser/static; these
// are what is taken by default. A database of --runs runs is made, and a daemon serves it. Each load is by a browser
// context of its own, so with nothing cached, of the newest run. Printed for each: requests and bytes as they were
// transferred until the first point was drawn; ms from the start of the navigation (performance.timeOrigin) to the load
// event, and to the first point in the document, all by the browser's own performance entries; and the CPU time of the
// page's main thread, which is what to judge by on a machine that others use too. The first load counts as the others
// do. Exit 1 when one is over 1000 ms to its first point, 20 requests or 500 KB.
import {execFileSync, spawn} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {parseArgs} from "node:util";

const LIMITS = {ms: 1000, requests: 20, bytes: 500000};

const {values: given} = parseArgs({
  options: {
    build: {type: "string"},
    page: {type: "string"},
    packages: {type: "string"},
    runs: {type: "string", default: "1000"},
    loads: {type: "string", default: "10"},
    chromium: {type: "string", default: "/usr/bin/chromium-headless-shell"},
  },
});
if (!given.build) {
  console.error(
    "usage: page_bench.mjs --build DIR [--page DIR] [--packages DIR] [--runs 1000] [--loads 10] [--chromium FILE]",
  );
  process.exit(64);
}
const packages = resolve(given.packages ?? join(given.build, "tests-browser"));
const page = resolve(given.page ?? join(given.build, "tests-browser/static"));
const bin = (name) => resolve(given.build, "bin", name);
const {chromium} = createRequire(join(packages, "package.json"))("playwright-core");

/** A daemon over the database: {url, stop()}. */
function serve(database) {
  const child = spawn(
    bin("rooflined"),
    ["--listen", "127.0.0.1:0", "--database", database, "--static", page, "--open-loopback"],
    {stdio: ["ignore", "ignore", "pipe"]},
  );
  let log = "";
  const ended = new Promise((done) => {
    child.on("exit", done);
  });
  const stop = () => {
    child.kill("SIGTERM");
    return ended;
  };
  return new Promise((done, fail) => {
    ended.then(() => fail(new Error(`rooflined ended: ${log}`)));
    child.stderr.on("data", (part) => {
      log += part;
      const found = /listening on (http:\/\/127\.0\.0\.1:\d+)\//.exec(log);
      if (found) done({url: found[1], stop});
    });
  });
}

/** One load with nothing cached. */
async function load(browser, url) {
  const context = await browser.newContext({viewport: {width: 1440, height: 900}});
  try {
    const tab = await context.newPage();
    await tab.addInitScript(() => {
      new MutationObserver((_, watch) => {
        if (!document.querySelector(".roofline-plot .point")) return;
        window.drawn = performance.now();
        watch.disconnect();
      }).observe(document, {childList: true, subtree: true});
    });
    const cdp = await context.newCDPSession(tab);
    await cdp.send("Performance.enable", {timeDomain: "threadTicks"});
    await tab.goto(url);
    await tab.waitForFunction(() => window.drawn);
    const {metrics} = await cdp.send("Performance.getMetrics");
    const cpu = 1000 * metrics.find(({name}) => name === "TaskDuration").value;
    return {
      cpu,
      ...(await tab.evaluate(() => {
        const [navigation] = performance.getEntriesByType("navigation");
        const all = [
          navigation,
          ...performance.getEntriesByType("resource").filter(({responseEnd}) => responseEnd <= window.drawn),
        ];
        return {
          requests: all.length,
          bytes: all.reduce((sum, {transferSize}) => sum + transferSize, 0),
          load: navigation.loadEventEnd,
          ms: window.drawn,
        };
      })),
    };
  } finally {
    await context.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), "page-bench-"));
let over = false;
try {
  const database = join(folder, "history.db");
  execFileSync(bin("history_generate"), ["--database", database, "--runs", given.runs], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const daemon = await serve(database);
  const browser = await chromium.launch({executablePath: given.chromium, args: ["--no-sandbox", "--disable-gpu"]});
  const drawn = [];
  console.log(`${given.runs} runs\nload  requests    bytes  load event ms  first point ms  its thread's CPU ms`);
  for (let i = 1; i <= Number(given.loads); i++) {
    const {requests, bytes, load: loaded, ms, cpu} = await load(browser, daemon.url);
    const wrong = Object.entries({ms, requests, bytes})
      .filter(([name, value]) => !(value <= LIMITS[name]))
      .map(([name]) => `over the limit of ${LIMITS[name]} ${name}`);
    console.log(
      `${String(i).padStart(4)}  ${String(requests).padStart(8)}  ${String(bytes).padStart(7)}  ` +
        `${loaded.toFixed(0).padStart(13)}  ${ms.toFixed(0).padStart(14)}  ${cpu.toFixed(0).padStart(19)}  ` +
        `${wrong.join(", ")}`,
    );
    over ||= wrong.length > 0;
    drawn.push(ms);
  }
  drawn.sort((a, b) => a - b);
  console.log(`first point: median ${drawn[drawn.length >> 1].toFixed(0)} ms, longest ${drawn.at(-1).toFixed(0)} ms`);
  await browser.close();
  await daemon.stop();
} finally {
  rmSync(folder, {recursive: true});
}
process.exit(over ? 1 : 0);
