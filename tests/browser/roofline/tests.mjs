// A run's roofline and table in Chromium: what they show is what the API says, however strange the run.
import assert from "node:assert/strict";
import {axe, launch, open, overflow, show, symbols} from "../tools/browser.mjs";
import {start, submit} from "../tools/daemon.mjs";
import {sameFigure} from "../tools/figures.mjs";
import {plain, test, until} from "../tools/suite.mjs";
import {HOSTILE, checkDetail, checkNumbers, checkPoints, checkTable, unknown, withDocument} from "./checks.mjs";

async function drawing(browser, daemon, document) {
  for (const state of ["warm", "cold"]) {
    for (const width of [1440, 390]) {
      await test(`the ${state} roofline at ${width} px: table, points, numbers`, async () => {
        const {page, done} = await open(browser, {width});
        await show(page, `${daemon.url}/#state=${state}`);
        await checkTable(page, document, state);
        await checkPoints(page, document, state);
        await checkNumbers(page);
        assert.equal(await overflow(page), 0);
        await done();
      });
    }
  }
  await test("the head says device, driver, CUDA, date in UTC and here, and that the run is replayed", async () => {
    for (const [zone, name] of [
      ["America/Los_Angeles", /P[SD]T/],
      ["Asia/Kolkata", /GMT\+5:30|IST/],
    ]) {
      const {page, done} = await open(browser, {timezoneId: zone, locale: "en-US"});
      await show(page, daemon.url);
      const text = plain(await page.locator(".run-head").innerText());
      for (const part of [
        document.device.name,
        document.environment.driver_version,
        document.environment.cuda_runtime_version,
        `${document.date.slice(0, 10)} ${document.date.slice(11, 19)} UTC`,
      ]) {
        assert.ok(text.includes(part), `${part} in ${text}`);
      }
      assert.match(text, name);
      assert.ok(text.includes(`Replayed, recorded on ${document.recorded_at.slice(0, 10)}`), text);
      await done();
    }
  });
  await test("the ceilings and the ridge are the API's", async () => {
    const {page, done} = await open(browser);
    await show(page, daemon.url);
    const shown = await page.locator("#summary .value").allTextContents();
    const value = (name, state) => document.ceilings.find((c) => c.name === name && c.state === state).value;
    assert.equal(shown.length, 3);
    sameFigure(shown[0], value("dram_copy", "warm"), "B/s", "copy ceiling");
    sameFigure(shown[1], value("fp32_fma", "warm"), "FLOP/s", "FMA ceiling");
    sameFigure(shown[2], document.ridge_flop_per_byte, "FLOP/B", "ridge");
    await done();
  });
  await test("the first view: at most 20 requests and 500 KB", async () => {
    const {page, seen, done} = await open(browser);
    await show(page, daemon.url);
    await page.waitForLoadState("networkidle");
    assert.ok(seen.requests.length <= 20, seen.requests.map((request) => request.url()).join("\n"));
    let bytes = 0;
    for (const request of seen.requests) bytes += (await request.sizes()).responseBodySize;
    console.log(`      ${seen.requests.length} requests, ${bytes} bytes`);
    assert.ok(bytes > 100000 && bytes <= 500000, `${bytes} bytes`);
    await done();
  });
}

async function using(browser, daemon, document) {
  await test("Tab reaches the points, arrow keys go through all of them, the detail is the API's", async () => {
    const {page, done} = await open(browser);
    await show(page, daemon.url);
    let steps = 0;
    while (!(await page.evaluate(() => document.activeElement.classList.contains("point")))) {
      await page.keyboard.press("Tab");
      assert.ok(++steps < 25, "no point after 25 Tabs");
    }
    const theirs = ["altKey", "ctrlKey", "metaKey"]; // the browser's own keys: back, for one
    const taken = await page.evaluate(
      (names) =>
        names.map((name) => {
          const event = new KeyboardEvent("keydown", {key: "ArrowLeft", [name]: true, bubbles: true, cancelable: true});
          const before = document.activeElement;
          before.dispatchEvent(event);
          return event.defaultPrevented || document.activeElement !== before;
        }),
      theirs,
    );
    assert.deepEqual(taken, [false, false, false]);
    const count = await page.locator(".point").count();
    const seen = new Set();
    for (let i = 0; i < count; i++) {
      const kernel = await page.evaluate(() => document.activeElement.dataset.kernel);
      seen.add(kernel);
      await checkDetail(
        page,
        document.kernels.find((row) => row.kernel === kernel),
        "warm",
      );
      assert.equal(await page.locator(`.point.is-chosen[data-kernel="${kernel}"]`).count(), 1);
      assert.ok((await page.evaluate(() => document.activeElement.getAttribute("aria-label"))).includes("FLOP/s"));
      await page.keyboard.press("ArrowRight");
    }
    assert.equal(seen.size, count);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.closest(".point")), null);
    await done();
  });
  await test("pointing and tapping choose the point under them", async () => {
    for (const touch of [false, true]) {
      const {page, done} = await open(browser, touch ? {width: 390, hasTouch: true, isMobile: true} : {});
      await show(page, daemon.url);
      const labels = page.locator(".point text");
      for (let i = 0; i < (await labels.count()); i++) {
        await labels.nth(i).scrollIntoViewIfNeeded();
        const box = await labels.nth(i).boundingBox();
        const at = [box.x + box.width / 2, box.y + box.height / 2];
        if (touch) await page.touchscreen.tap(...at);
        else await page.mouse.move(...at);
        const kernel = await labels.nth(i).evaluate((text) => text.parentNode.dataset.kernel);
        await page.locator(`.point.is-chosen[data-kernel="${kernel}"]`).waitFor({timeout: 3000});
        await checkDetail(
          page,
          document.kernels.find((row) => row.kernel === kernel),
          "warm",
        );
      }
      await done();
    }
  });
  await test("the cache state stands in the address and comes back from it", async () => {
    const {page, done} = await open(browser);
    await show(page, daemon.url);
    await page.getByRole("radio", {name: "cold"}).check();
    await checkTable(page, document, "cold");
    assert.match(page.url(), /#.*state=cold/);
    await page.reload();
    await page.locator("#table-scroll tbody tr").first().waitFor();
    assert.ok(await page.getByRole("radio", {name: "cold"}).isChecked());
    await checkTable(page, document, "cold");
    await done();
  });
  await test("turning a phone redraws the chart to fit", async () => {
    const {page, done} = await open(browser, {width: 390});
    await show(page, daemon.url);
    await page.setViewportSize({width: 844, height: 390});
    await until("the wider chart", async () => (await page.locator(".roofline-plot").boundingBox())?.width > 600);
    await page.setViewportSize({width: 320, height: 700});
    await until("the narrower chart", async () => (await page.locator(".roofline-plot").boundingBox())?.width <= 320);
    assert.equal(await overflow(page), 0);
    await done();
  });
}

async function accessible(browser, daemon) {
  for (const scheme of ["light", "dark"]) {
    for (const width of [1440, 390]) {
      await test(`axe finds nothing in ${scheme} at ${width} px`, async () => {
        const {page, done} = await open(browser, {width, scheme});
        await show(page, daemon.url);
        await page.locator(".point").first().focus();
        await page.locator("#checks details summary").click();
        assert.deepEqual(await axe(page), []);
        await done();
      });
    }
  }
  await test("forced colours: the chart is drawn in the system's colours", async () => {
    const {page, done} = await open(browser, {forcedColors: "active"});
    await show(page, daemon.url);
    assert.deepEqual(await axe(page), []);
    await done();
  });
}

async function strange(browser, daemon, document) {
  const copy = () => structuredClone(document);
  await test("names from data are text, whatever they hold", async () => {
    const changed = copy();
    HOSTILE.forEach((title, i) => {
      changed.kernels[i].title = title;
    });
    [changed.device.name, changed.environment.driver_version, changed.flags] = [HOSTILE[0], HOSTILE[4], [HOSTILE[0]]];
    changed.kernels[0].warm.advice = HOSTILE[0];
    const last = changed.checks.length - 1; // not a kernel's result: a wrong one has no point
    changed.checks[last] = {...changed.checks[last], passed: false, title: HOSTILE[0], detail: HOSTILE[4]};
    for (const width of [1440, 390]) {
      await withDocument(
        browser,
        daemon,
        changed,
        async (page) => {
          const titles = await page.locator("tbody th").allTextContents();
          assert.deepEqual(titles.slice(0, HOSTILE.length), HOSTILE);
          assert.equal(await page.locator("h1").textContent(), HOSTILE[0]);
          await page.locator(".point").first().focus();
          assert.equal(await page.locator("#detail .advice").textContent(), HOSTILE[0]);
          assert.equal(await page.locator("main img, main script").count(), 0);
          assert.equal(await overflow(page), 0);
        },
        {width},
      );
    }
  });
  await test("without counters: asked points alone, each kernel with the reason, dashes in the table", async () => {
    const changed = copy();
    const why = "the counters are refused to this user";
    changed.counters = {...changed.counters, status: "counters_permission", reason: why};
    for (const row of changed.kernels) {
      for (const s of [row.warm, row.cold]) {
        unknown(s.bytes, ["l1", "l2", "l2_sm", "dram", "dram_read", "dram_write", "dram_settled", "dram_4n"], why);
        unknown(s.intensity, ["l1", "l2", "dram"], why);
        unknown(
          s,
          [
            "dram_per_ask",
            "dram_byte_per_s",
            "percent_of_ceiling",
            "bound",
            "advice",
            "attainable_flop_per_s",
            "percent_of_roof",
          ],
          why,
        );
        s.flags = [];
      }
    }
    await withDocument(browser, daemon, changed, async (page) => {
      await checkTable(page, changed, "warm");
      await checkPoints(page, changed, "warm");
      assert.equal((await symbols(page)).measured.length, 0);
      const told = await page.locator("#notices").innerText();
      assert.ok(told.includes("The counters are refused to this user."), told);
      assert.ok(told.includes("Give the measuring process CAP_PERFMON"), told);
      assert.equal((await page.locator("#absent").innerText()).split(why).length, 2); // once for all kernels
      assert.ok((await page.locator("#table-notes").innerText()).includes(why));
      assert.deepEqual(await axe(page), []);
    });
  });
  await test("no ceilings, one kernel, no flop at all: nothing at a false place", async () => {
    const none = copy();
    none.ceilings.forEach((c) => unknown(c, ["value"], "withheld"));
    none.ridge_flop_per_byte = null;
    const one = copy();
    one.kernels = one.kernels.slice(0, 1);
    const idle = copy();
    idle.kernels = idle.kernels.filter((row) => row.flop === 0);
    for (const changed of [none, one, idle]) {
      await withDocument(browser, daemon, changed, async (page) => {
        await checkTable(page, changed, "warm");
        await checkPoints(page, changed, "warm");
      });
    }
  });
  await test("ten kernels at one place stay tellable apart", async () => {
    const crowd = copy();
    const like = crowd.kernels[0];
    crowd.kernels = crowd.kernels.map((row, i) => ({
      ...structuredClone(like),
      kernel: row.kernel,
      title: row.title,
      warm: {...structuredClone(like.warm), flop_per_s: like.warm.flop_per_s * (1 + i / 1000)},
    }));
    for (const width of [1440, 390]) {
      await withDocument(
        browser,
        daemon,
        crowd,
        async (page) => {
          await checkPoints(page, crowd, "warm");
          await checkNumbers(page);
        },
        {width},
      );
    }
  });
  await test("a kernel at the counter's floor stands at the edge, with its reason", async () => {
    const changed = copy();
    const row = changed.kernels.find((k) => k.kernel === "matmul_naive");
    unknown(row.warm.intensity, ["dram"], "the DRAM bytes are at the counter's floor");
    row.warm.flags = ["at_floor"];
    await withDocument(browser, daemon, changed, async (page) => {
      await checkPoints(page, changed, "warm");
      const right = await page.locator(".roofline-plot").evaluate((svg) => Number(svg.getAttribute("width")));
      const at = await page.locator('.point.edge[data-kernel="matmul_naive"] .edge-mark').getAttribute("d");
      assert.ok(Number(/M([\d.]+)/.exec(at)[1]) > right - 30, at);
    });
  });
  await test("a refused run and failed checks say so", async () => {
    const changed = copy();
    changed.outcome = "refused";
    const result = changed.checks.find((c) => c.name === "result_vector_add");
    changed.outcome_reasons = [
      "result_vector_add failed",
      "no l2_read cold ceiling",
      "no matmul_naive cold row",
      "a reason of tomorrow",
    ];
    result.passed = false;
    unknown(
      changed.checks.find((c) => c !== result && !c.refuses),
      ["passed"],
      "it was not asked for",
    );
    changed.kernels[2].flags = ["a_flag_of_tomorrow"];
    await withDocument(browser, daemon, changed, async (page) => {
      const naive = changed.kernels.find((k) => k.kernel === "matmul_naive").title;
      const told = await page.locator("#notices").innerText();
      assert.ok(
        told.includes(
          `Check failed: ${result.title}; no cold ceiling: read from L2, the L2 roof; no cold row: ${naive}; a ` +
            "reason of tomorrow.",
        ),
        told,
      );
      assert.match(told, /^This run is refused/);
      assert.match(
        await page.locator("#checks").innerText(),
        new RegExp(`${changed.checks.filter((c) => c.passed === true).length} passed, 1 failed, 1 not made`),
      );
      assert.match(await page.locator("#table-notes").innerText(), /a flag of tomorrow/);
    });
  });
}

export async function rooflineTests() {
  const daemon = await start();
  const job = await submit(daemon, {suite: "verify"});
  const document = (await daemon.ask("GET", `/api/v1/runs/${job.run}`)).json;
  const browser = await launch();
  try {
    await drawing(browser, daemon, document);
    await using(browser, daemon, document);
    await accessible(browser, daemon);
    await strange(browser, daemon, document);
  } finally {
    await browser.close();
  }
  await daemon.stop();
}
