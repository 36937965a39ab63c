// The explorer: its arithmetic by known answers, and the view in Chromium, by keyboard alone.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {pathToFileURL} from "node:url";
import {axe, launch, open, overflow, scales} from "../tools/browser.mjs";
import {start, submit} from "../tools/daemon.mjs";
import {sameFigure} from "../tools/figures.mjs";
import {plain, test, until} from "../tools/suite.mjs";

const root = dirname(process.env.RL_README);
const module = (name) => import(pathToFileURL(join(root, "static/js/views/explorer", name)));
const near = (value, wanted, within = 1e-9) =>
  assert.ok(Math.abs(value / wanted - 1) < within, `${value} is not ${wanted}`);
const EXAMPLE = "Figures of an example, of no card that was measured here: type your own.";
const CARD = {bandwidth: 504e9, peak: 29.1e12};

async function arithmetic() {
  const math = await module("math.js");
  const words = await module("words.js");
  await test("known answers: the ridge, and a kernel left of it", async () => {
    near(math.ridge(CARD), 57.738, 1e-4);
    const placed = math.place({flop: 2, bytes: 8}, CARD);
    assert.deepEqual([placed.intensity, placed.attainable, placed.regime], [0.25, 126e9, "memory"]);
    assert.equal(words.percent(placed.percentOfPeak), "0.43\u00a0%");
    near(placed.reuse, 57.738 / 0.25, 1e-4);
  });
  await test("known answers: the examples", async () => {
    const of = (id, size) => {
      const e = math.EXAMPLES.find((example) => example.id === id);
      return {flop: e.flop(size), bytes: e.bytes(size), least: e.least(size)};
    };
    near(math.place(of("vadd", 1e6), CARD).intensity, 1 / 12);
    near(math.place(of("saxpy", 1e6), CARD).intensity, 1 / 6);
    near(math.place(of("naive", 2048), CARD).intensity, 0.25, 1e-3);
    near(math.place(of("tiled", 2048), CARD).intensity, 4, 5e-3);
    near(math.place(of("library", 4096), CARD).intensity, 4096 / 6);
    assert.equal(math.place(of("library", 4096), CARD).regime, "compute");
    assert.deepEqual(of("naive", 10), {flop: 2000, bytes: 8400, least: 1200});
    for (const e of math.EXAMPLES) assert.ok(e.bytes(e.size) >= e.least(e.size), e.id);
  });
  await test("on, left and right of the ridge; no flop; reuse moves right and no higher than peak", async () => {
    assert.equal(math.place({flop: 29100, bytes: 504}, CARD).regime, "compute");
    assert.equal(math.place({flop: 1e6, bytes: 1}, CARD).attainable, 29.1e12);
    assert.equal(math.place({flop: 1e6, bytes: 1}, CARD).percentOfPeak, 100);
    const none = math.place({flop: 0, bytes: 8}, CARD);
    assert.deepEqual(
      [none.intensity, none.attainable, none.percentOfPeak, none.reuse, none.regime],
      [null, null, null, null, "memory"],
    );
    near(math.place(math.reuse({flop: 2, bytes: 8}, 16), CARD).attainable, 16 * 126e9);
    near(math.place(math.reuse({flop: 2, bytes: 8}, 1024), CARD).attainable, 29.1e12);
  });
  await test("what was achieved is held against the nearer roof, by the rules of a measured row", async () => {
    const held = math.achieve({flop: 2, bytes: 8}, CARD, 2 / 100.8e9);
    near(held.percentOfRoof, 80);
    near(held.rate, 100.8e9);
    assert.equal(held.nearest, "memory");
    assert.equal(math.achieve({flop: 1e6, bytes: 1}, CARD, 1e6 / 20e12).nearest, "compute");
    assert.deepEqual([60, 79.99, 80, 120].map(math.nextStep), [
      "fix_kernel",
      "fix_kernel",
      "change_algorithm",
      "change_algorithm",
    ]);
    assert.deepEqual([60, 60.01].map(math.isLatencyBound), [true, false]);
    near(math.achieve({flop: 0, bytes: 504e9}, CARD, 2).percentOfRoof, 50);
    const header = readFileSync(join(root, "gpu/record/derive/derive.h"), "utf8");
    for (const name of ["LATENCY_PERCENT", "AT_CEILING_PERCENT", "ACCESS_DRAM_PER_ASK", "ACCESS_L1_PER_ASK"]) {
      assert.equal(math[name], Number(new RegExp(`RL_${name}\\s+([\\d.]+)`).exec(header)[1]), name);
    }
  });
  await test("numbers as people type them", async () => {
    const read = (text, kind) => math.read(text, math.KINDS[kind]);
    for (const [text, kind, value] of [
      ["504 GB/s", "bandwidth", 504e9],
      ["504G", "bandwidth", 504e9],
      ["29.1 TFLOP/s", "peak", 29.1e12],
      ["8", "bytes", 8],
      ["1.5 KiB", "bytes", 1536],
      ["2e3 MB", "bytes", 2e9],
      [".5k", "flop", 500],
      ["0", "flop", 0],
      ["47.2 µs", "time", 47.2e-6],
      ["250us", "time", 250e-6],
      ["4 s", "time", 4],
      ["\u00a08\u202fGB ", "bytes", 8e9],
    ]) {
      near(read(text, kind).value + 1, value + 1);
    }
    for (const [text, kind, why] of [
      ["", "flop", /nothing is given/],
      ["x", "flop", /“x” is not a number/],
      ["1,000", "flop", /comma/],
      ["3 m", "bytes", /mega is M/],
      ["5 Gb", "bytes", /no unit/],
      ["0", "bytes", /above 0/],
      ["-1", "flop", /above 0/],
      ["1e400", "bytes", /more than any machine/],
      ["5 constructor", "flop", /no unit/],
      ["<b>", "flop", /“<b>” is not a number/],
    ]) {
      assert.match(read(text, kind).error, why);
    }
    assert.match(math.readSize("2.5", math.EXAMPLES[0]).error, /whole number/);
    assert.match(math.readSize("2M", math.EXAMPLES[2]).error, /at most 1000000 rows/);
  });
  await test("a state comes back from its address; what is not known is told", async () => {
    const {decode, encode} = await module("state.js");
    const catalogue = [{id: "vector_add"}];
    const text = new URLSearchParams(
      "roof=typed&bandwidth=1T&peak=20T&of=own*2k*8%20KB&reuse=8&rate=5G" +
        "&pins=vadd*1024***suite*vector_add*scaled**4***own*2*8",
    );
    const {state, unknown} = decode(text, catalogue);
    assert.deepEqual(unknown, []);
    assert.deepEqual(state.pins, [
      {subject: {kind: "example", id: "vadd", size: "1024"}, times: 1},
      {subject: {kind: "kernel", id: "vector_add", bytes: "scaled"}, times: 4},
      {subject: {kind: "own", flop: "2", bytes: "8"}, times: 1},
    ]);
    const again = new URLSearchParams(Object.entries(encode(state)).filter(([, value]) => value !== null));
    assert.deepEqual(decode(again, catalogue).state, state);
    const bad = decode(new URLSearchParams("of=suite*nothing*course&reuse=3&state=hot&pins=vadd*1***x"), catalogue);
    assert.equal(bad.unknown.length, 4);
    assert.equal(bad.state.subject.id, "naive");
  });
}

const FIGURES = ".results .summary";
const text = (page, selector) => page.locator(selector).innerText();

/** A figure's own text, by its label. */
const shown = (page, label) =>
  page
    .locator(`${FIGURES} .figure`, {has: page.locator(".label", {hasText: new RegExp(`^${label}$`)})})
    .locator(".value")
    .innerText();

/** Opens the explorer and waits until it stands. */
async function explore(page, daemon, fragment = "") {
  await page.goto(`${daemon.url}/#view=explorer${fragment}`);
  await page.locator("#explorer .sentence:not(:empty)").waitFor();
}

async function placing(browser, daemon, document) {
  const copy = (state) => document.ceilings.find((c) => c.name === "dram_copy" && c.state === state).value;
  const fma = document.ceilings.find((c) => c.name === "fp32_fma").value;
  await test("every kernel of the catalogue stands at flop over asked bytes, under the run's roof", async () => {
    const {page, done} = await open(browser);
    await explore(page, daemon);
    const {items} = (await daemon.ask("GET", "/api/v1/kernels")).json;
    for (const unit of items.filter((item) => item.kind === "kernel")) {
      await page.getByLabel("Kernel", {exact: true}).selectOption({label: unit.title});
      const said = await text(page, ".sentence");
      assert.ok(said.includes(unit.title), said);
      if (unit.course.flop === 0) {
        assert.match(said, /no flop, so no intensity/);
        assert.equal(await page.locator("#explorer svg.roofline-plot").count(), 0);
        continue;
      }
      const intensity = unit.course.flop / unit.course.ask_bytes;
      sameFigure(await shown(page, "intensity"), intensity, "FLOP/B", unit.id);
      sameFigure(await shown(page, "attainable"), Math.min(fma, intensity * copy("warm")), "FLOP/s", unit.id);
      assert.match(said, intensity < fma / copy("warm") ? /memory-bound/ : /compute-bound/);
      if (intensity >= fma / copy("warm")) continue; // a square, not a circle
      const {x, y} = await scales(page);
      const [cx, cy] = await page
        .locator(".roofline-plot circle")
        .last()
        .evaluate((c) => [Number(c.getAttribute("cx")), Number(c.getAttribute("cy"))]);
      near(cx, x.offset + x.slope * Math.log10(intensity), 0.01);
      near(cy, y.offset + y.slope * Math.log10(intensity * copy("warm")), 0.01);
    }
    await done();
  });
  await test("a run that comes when the roof is typed in again is not shown", async () => {
    const {page, done} = await open(browser);
    await explore(page, daemon, "&roof=typed");
    let late = null;
    await page.route(/\/api\/v1\/runs\/\d+$/, (route) => {
      late = route;
    });
    await page.getByRole("radio", {name: "of a measured run"}).check();
    await until("the request", () => late);
    await page.getByRole("radio", {name: "typed in"}).check();
    await Promise.all([page.waitForResponse(/\/api\/v1\/runs\/\d+$/), late.continue()]);
    await page.evaluate(
      () =>
        new Promise((drawn) => {
          requestAnimationFrame(() => requestAnimationFrame(drawn));
        }),
    );
    assert.equal(await page.locator("#explorer p.mark").count(), 0);
    assert.match(await text(page, ".sentence"), /the typed-in roof/);
    await done();
  });
  await test("warm and cold are the run's two roofs; typed figures give the teaching's card", async () => {
    const {page, done} = await open(browser);
    await explore(page, daemon);
    for (const state of ["warm", "cold"]) {
      await page.getByRole("radio", {name: state, exact: true}).check();
      sameFigure(/of the ridge, (.*)$/m.exec(await text(page, FIGURES))[1], fma / copy(state), "FLOP/B", "ridge");
      assert.ok((await text(page, ".sentence")).includes(`${state} roof of run ${document.id}`));
    }
    const [given, before] = [
      (await text(page, ".sentence")).replace(/the cold roof of run \d+/, "the typed-in roof"),
      await text(page, FIGURES),
    ];
    await page.getByRole("radio", {name: "typed in"}).check();
    // which is the one that was shown
    await until("the typed-in roof", async () => (await text(page, ".sentence")).includes("typed-in"));
    assert.deepEqual([await text(page, ".sentence"), await text(page, FIGURES)], [given, before]);
    assert.ok(await page.getByText(EXAMPLE).isHidden());
    await page.getByRole("radio", {name: "of a measured run"}).check();
    await page.getByRole("radio", {name: "warm", exact: true}).check();
    await page.getByRole("radio", {name: "typed in"}).check();
    sameFigure(/of the ridge, (.*)$/m.exec(await text(page, FIGURES))[1], fma / copy("warm"), "FLOP/B", "ridge");
    await page.getByLabel("Memory bandwidth").fill("504 GB/s");
    await page.getByLabel("Peak rate").fill("29.1T");
    await page.getByLabel("Kernel", {exact: true}).selectOption("own");
    await page.getByLabel("Flop", {exact: true}).fill("2");
    await page.getByLabel("Bytes to and from DRAM").fill("8");
    const figures = await text(page, FIGURES);
    await page.getByRole("radio", {name: "of a measured run"}).check();
    await page.getByRole("radio", {name: "typed in"}).check();
    assert.equal(await page.getByLabel("Peak rate").inputValue(), "29.1T"); // what was typed stays
    for (const part of ["0.250 FLOP/B", "126.0 GFLOP/s", "0.43 % of peak", "memory-bound", "left of the ridge, 57.7"]) {
      assert.ok(plain(figures).includes(part), `${part} in ${figures}`);
    }
    assert.equal(await page.locator("#explorer p.mark").count(), 0); // no run, no mark of one
    await done();
  });
  await test("wrong figures are told at their field, and nothing false stands beside them", async () => {
    const {page, done} = await open(browser);
    await explore(page, daemon, "&of=own*2*8");
    const bytes = page.getByLabel("Bytes to and from DRAM");
    await bytes.fill("<img src=x onerror=alert(1)>");
    await page.locator(".field .error:not([hidden])").waitFor();
    assert.equal(await bytes.getAttribute("aria-invalid"), "true");
    assert.match(
      await page.locator(`[id="${(await bytes.getAttribute("aria-describedby")).split(" ").at(-1)}"]`).innerText(),
      /is not a number/,
    );
    assert.match(await text(page, ".sentence"), /Nothing can be placed/);
    assert.equal(await page.locator(FIGURES).isVisible(), false);
    assert.ok(await page.getByRole("button", {name: "Pin this one"}).isDisabled());
    await bytes.fill("8");
    await page.locator(FIGURES).waitFor();
    assert.equal(await page.locator(".field .error:not([hidden])").count(), 0);
    await done();
  });
}

async function deciding(browser, daemon, document) {
  await test("achieved against the roof: fix the kernel, or change the algorithm, as the product decides", async () => {
    const {page, done} = await open(browser);
    await explore(page, daemon, "&roof=typed&bandwidth=504G&peak=29.1T&of=own*2G*8G");
    for (const [rate, title] of [
      ["50G", /fix the kernel/i],
      ["100G", /fix the kernel/i],
      ["101G", /change the algorithm/i],
      ["140G", /change the algorithm/i],
    ]) {
      await page.getByLabel("Achieved, as").selectOption("rate");
      await page.getByLabel("Value").fill(rate);
      assert.match(await text(page, ".next h2"), title, rate);
    }
    assert.match(await text(page, ".next"), /More than the roof/);
    await page.getByLabel("Value").fill("50G");
    for (const part of ["neither roof", "dram__bytes_read.sum", "2.52 times as fast"]) {
      assert.ok((await text(page, ".next")).includes(part), part);
    }
    await page.getByLabel("Achieved, as").selectOption("time");
    await page.getByLabel("Value").fill("40 ms");
    assert.match(await text(page, FIGURES), /39\.7\s%/);
    await done();
  });
  await test("a kernel that the run measured can be placed as counted, with its time", async () => {
    const {page, done} = await open(browser);
    await explore(page, daemon, `&of=suite*vector_add*${document.sizes}&state=cold`);
    const row = document.kernels.find((item) => item.kernel === "vector_add");
    assert.ok((await text(page, ".next .notice")).includes(row.cold.advice));
    await page.getByRole("button", {name: "Place it as counted, with that time"}).click();
    sameFigure(await shown(page, "intensity"), row.flop / row.cold.bytes.dram_settled, "FLOP/B", "intensity");
    const achieved =
      (row.cold.bytes.dram_settled /
        row.cold.time_s.median /
        document.ceilings.find((c) => c.name === "dram_copy" && c.state === "cold").value) *
      100;
    sameFigure(await shown(page, "achieved"), achieved, "%", "achieved");
    await until("the address", () => /counted/.test(page.url()));
    await done();
  });
  await test("what is typed comes into the address a little later, and at once where the reader goes on", async () => {
    const {page, done} = await open(browser);
    await page.addInitScript(() => {
      const write = history.replaceState.bind(history);
      window.writes = 0;
      history.replaceState = (...given) => {
        window.writes++;
        write(...given);
      };
    });
    await page.clock.install({time: new Date("2026-01-01T00:00:00Z")});
    await explore(page, daemon, "&of=own*2*8");
    await page.clock.pauseAt(new Date("2026-01-01T01:00:00Z")); // what was due has been written
    const before = await page.evaluate(() => window.writes);
    await page.getByLabel("Flop", {exact: true}).fill("");
    await page.getByLabel("Flop", {exact: true}).pressSequentially("12345");
    assert.equal(await page.evaluate(() => window.writes), before);
    await page.clock.runFor(250);
    assert.equal(await page.evaluate(() => window.writes), before + 1);
    assert.match(page.url(), /of=own\*12345\*8/);
    await page.getByLabel("Flop", {exact: true}).fill("77");
    await page.locator('#views a[data-view="jobs"]').click();
    await page.clock.resume();
    await page.locator("#jobs h1").waitFor();
    await page.goBack();
    await page.locator("#explorer h1").waitFor();
    assert.equal(await page.getByLabel("Flop", {exact: true}).inputValue(), "77");
    await done();
  });
  await test("reuse below the distinct bytes is told to be impossible", async () => {
    const {page, done} = await open(browser);
    await explore(page, daemon, "&of=vadd*1024&reuse=2");
    assert.match(await text(page, ".next .notice"), /every byte has to cross once/);
    await explore(page, daemon, "&of=naive*2048&reuse=16");
    assert.equal(await page.locator(".next .notice").count(), 0);
    await done();
  });
}

async function byKeyboard(browser, daemon) {
  await test("all of it by keyboard alone, and the address brings it back", async () => {
    const {page, done} = await open(browser);
    await explore(page, daemon);
    const tabTo = async (what, is) => {
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press("Tab");
        if (await page.evaluate(is)) return;
      }
      assert.fail(`Tab never reached ${what}`);
    };
    await tabTo("the kernel", () => document.activeElement.closest(".field")?.textContent.startsWith("Kernel"));
    await page.keyboard.type("naive");
    await tabTo("the slider", () => document.activeElement.type === "range");
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-valuetext")), "16 times");
    sameFigure(
      await shown(page, "intensity"),
      (2 * 2048 ** 3) / ((4 * (2 * 2048 ** 3 + 2048 ** 2)) / 16),
      "FLOP/B",
      "intensity",
    );
    await tabTo("twice as often", () => document.activeElement.textContent === "× 2");
    await page.keyboard.press("Enter");
    await tabTo("the achieved value", () => document.activeElement.placeholder === "0.25 ms");
    await page.keyboard.type("20 ms");
    await tabTo("the five", () => document.activeElement.textContent === "Pin the five examples");
    await page.keyboard.press("Enter");
    await page.locator("#explorer tbody tr").nth(5).waitFor();
    assert.match(await text(page, ".pattern"), /^5 of 6 stand left of the ridge/);
    const before = [await text(page, ".sentence"), await text(page, "#explorer table"), await text(page, FIGURES)];
    await until("the address", () => /pins=/.test(page.url()));
    const url = page.url();
    await page.goto("about:blank");
    await page.goto(url);
    await page.locator("#explorer tbody tr").nth(5).waitFor();
    assert.deepEqual(
      [await text(page, ".sentence"), await text(page, "#explorer table"), await text(page, FIGURES)],
      before,
    );
    await tabTo("a pin's button", () => document.activeElement.textContent === "Remove");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#explorer tbody tr").count(), 5);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Remove");
    await done();
  });
  await test("the chart's sentence is there for who does not see it; numbers do not lie over one another", async () => {
    for (const width of [1440, 390]) {
      const {page, done} = await open(browser, {width});
      await explore(page, daemon, "&pins=vadd*16777216***saxpy*16777216***naive*2048***tiled*2048***library*4096");
      const name = await page.locator("#explorer svg[role=img]").getAttribute("aria-label");
      assert.ok((await text(page, ".sentence")).startsWith(name));
      const boxes = await page
        .locator(".explorer-numbers text")
        .evaluateAll((all) => all.map((t) => ({number: t.textContent, ...t.getBoundingClientRect().toJSON()})));
      assert.equal(boxes.length, 6);
      for (const [i, a] of boxes.entries()) {
        for (const b of boxes.slice(i + 1)) {
          assert.ok(
            a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 2 || b.bottom <= a.top + 2,
            `${a.number} and ${b.number} overlap`,
          );
        }
      }
      const svg = await page.locator("#explorer svg.roofline-plot").evaluate((element) => element.outerHTML);
      assert.ok(!/NaN|Infinity|undefined/.test(svg));
      assert.equal(await overflow(page), 0);
      await done();
    }
  });
  for (const options of [{}, {width: 390, scheme: "dark"}, {width: 768, forcedColors: "active"}]) {
    await test(`axe finds nothing: ${JSON.stringify(options)}`, async () => {
      const {page, done} = await open(browser, options);
      await explore(page, daemon, "&of=suite*vector_add*course&reuse=2&time=1ms&pins=vadd*16777216***library*4096");
      assert.deepEqual(await axe(page), []);
      assert.equal(await overflow(page), 0);
      await done();
    });
  }
}

async function otherStates(browser, daemon) {
  await test("no run yet: the roof is typed in, and the page says so", async () => {
    const empty = await start();
    const {page, done} = await open(browser, {width: 390});
    await explore(page, empty);
    assert.match(await page.locator("#explorer").innerText(), /No run has been measured yet/);
    assert.ok(await page.getByRole("radio", {name: "typed in"}).isChecked());
    assert.ok(await page.getByText(EXAMPLE).isVisible());
    await page.getByLabel("Memory bandwidth").fill("505 GB/s");
    assert.ok(await page.getByText(EXAMPLE).isHidden());
    assert.deepEqual(await axe(page), []);
    await done();
    await empty.stop();
  });
  await test("an address with what is not known says so; a run that is not there is an error", async () => {
    const {page, done} = await open(browser, {expected: [/404/]});
    await explore(page, daemon, "&of=nothing&reuse=5");
    assert.match(await page.locator("#explorer .notice").first().innerText(), /of=nothing, reuse=5/);
    await page.goto("about:blank");
    await page.goto(`${daemon.url}/#view=explorer&run=999999`);
    await page.getByText("not_found").waitFor();
    await done();
  });
  await test("the daemon stops while another run is chosen: told, and the last figures stay", async () => {
    const other = await start();
    for (let i = 0; i < 2; i++) await submit(other, {suite: "verify", counters: false});
    const {page, done} = await open(browser, {expected: [/ERR_CONNECTION_REFUSED/]});
    await explore(page, other);
    const before = await text(page, FIGURES);
    await other.stop();
    await page.getByLabel("Run", {exact: true}).selectOption("1");
    await page.getByText("The daemon does not answer.").waitFor();
    assert.equal(await text(page, FIGURES), before);
    const again = await start({folder: other.folder, port: other.port});
    await page.getByLabel("Run", {exact: true}).selectOption("2");
    await page.getByLabel("Run", {exact: true}).selectOption("1");
    await until("run 1", async () => (await text(page, ".sentence")).includes("run 1"));
    assert.equal(await page.locator("#explorer .notice.bad").count(), 0);
    await done();
    await again.stop();
  });
}

export async function explorerTests() {
  await arithmetic();
  const daemon = await start();
  const job = await submit(daemon, {suite: "verify"});
  const document = (await daemon.ask("GET", `/api/v1/runs/${job.run}`)).json;
  const browser = await launch();
  try {
    await placing(browser, daemon, document);
    await deciding(browser, daemon, document);
    await byKeyboard(browser, daemon);
    await otherStates(browser, daemon);
  } finally {
    await browser.close();
  }
  await daemon.stop();
}
