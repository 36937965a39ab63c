// A run's roofline and table in Chromium: what they show is what the API says, however strange the run.
import assert from "node:assert/strict";
import {axe, launch, open, overflow, scales, show, symbols} from "./browser.mjs";
import {start, submit} from "./daemon.mjs";
import {sameFigure, wrongDigit} from "./figures.mjs";
import {plain, test, until} from "./suite.mjs";

export const ONE_RUN = /\/api\/v1\/runs\/\d+$/;
export const HOSTILE = [
  "<img src=x onerror=alert(1)>",
  "std::vector<int>",
  "x".repeat(200),
  "مصفوفة ×",
  "</th><script>alert(2)</script>",
];
/** As the table has it: above nothing but below half of the last digit, it is said to be below that digit. */
function fixed(value, decimals, unit = 1) {
  if (value === null) return "–";
  const shown = (value / unit).toFixed(decimals);
  return value > 0 && Number(shown) === 0 ? `<\u2009${Number(`1e-${decimals}`)}` : shown;
}

/** The cells that the table must have for a row, from the API's document. */
function expectedCells(row, state) {
  const s = row[state];
  return [
    fixed(row.ask_bytes, 1, 1e6),
    fixed(s.bytes.l1, 1, 1e6),
    fixed(s.bytes.l2, 1, 1e6),
    fixed(s.bytes.dram_settled, 1, 1e6),
    fixed(s.dram_per_ask, 4),
    fixed(s.percent_of_ceiling, 1),
  ];
}

export async function checkTable(page, document, state) {
  const rows = await page
    .locator("#table-scroll tbody tr")
    .evaluateAll((all) => all.map((tr) => [...tr.children].map((cell) => cell.textContent)));
  assert.equal(rows.length, document.kernels.length);
  document.kernels.forEach((row, i) => {
    assert.equal(rows[i][1], row.title);
    assert.deepEqual(rows[i].slice(2, 8), expectedCells(row, state), row.kernel);
    sameFigure(rows[i][8], row[state].time_s.median, "s", `${row.kernel}, time`);
    assert.equal(rows[i][9], fixed(row[state].percent_of_roof, 1));
    assert.equal(rows[i][10], row[state].bound ?? "–");
  });
}

/** Every point stands where the axes' ticks say that its intensity and rate belong, and no other point is there. */
export async function checkPoints(page, document, state, level = "dram") {
  const {x, y} = await scales(page);
  assert.ok(x.ticks >= 2 && y.ticks >= 2);
  const drawn = await symbols(page);
  const place = (value, rate) => [x.offset + x.slope * Math.log10(value), y.offset + y.slope * Math.log10(rate)];
  const near = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) < 1;
  const judged = document.kernels.filter((row) => row.flop > 0 && row[state]?.flop_per_s);
  for (const [role, member] of [
    ["measured", level],
    ["asked", "ask"],
  ]) {
    const wanted = judged.filter((row) => row[state].intensity[member] !== null);
    for (const row of wanted) {
      const at = place(row[state].intensity[member], row[state].flop_per_s);
      assert.ok(
        drawn[role].some((mark) => near(mark, at)),
        `${row.kernel}: nothing ${role} at ${at}: ${JSON.stringify(drawn[role])}`,
      );
    }
    assert.equal(drawn[role].length, wanted.length, role);
  }
  const svg = await page.locator(".roofline-plot").evaluate((element) => element.outerHTML);
  assert.ok(!/NaN|Infinity|undefined/.test(svg), svg.match(/.{60}(NaN|Infinity|undefined).{30}/)?.[0]);
  const names = await page.locator(".point").evaluateAll((all) => all.map((g) => g.dataset.kernel));
  assert.deepEqual(
    names.toSorted(),
    judged
      .filter((row) => row[state].intensity.ask !== null)
      .map((row) => row.kernel)
      .toSorted(),
  );
  const listed = await page
    .locator(".absent li")
    .evaluateAll((all) =>
      all.map((li) => [
        li.dataset.kernel,
        (li.querySelector(".reason") ?? li.parentElement.previousElementSibling).textContent,
      ]),
    );
  const missing = document.kernels.filter((row) => !judged.includes(row) || row[state].intensity[level] === null);
  assert.deepEqual(listed.map(([kernel]) => kernel).toSorted(), missing.map((row) => row.kernel).toSorted());
  for (const [kernel, why] of listed) assert.ok(why.length > 10, `${kernel}: no reason`);
}

/** Boxes of the points' numbers: none over another. */
export async function checkNumbers(page) {
  const boxes = await page
    .locator(".point text")
    .evaluateAll((all) => all.map((text) => ({number: text.textContent, ...text.getBoundingClientRect().toJSON()})));
  for (const [i, a] of boxes.entries()) {
    for (const b of boxes.slice(i + 1)) {
      assert.ok(
        a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 2 || b.bottom <= a.top + 2,
        `the numbers ${a.number} and ${b.number} overlap`,
      );
    }
  }
}

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

const LEVEL_BYTES = {dram: "DRAM byte", l2: "byte between SMs and L2", l1: "byte through L1"};

/**
 * [what, text as shown, the API's number, unit, least digits] of each figure that the detail box and the point's own
 * name give of a row; what has no number is checked for its words at once.
 */
async function figuresOf(page, row, state, level) {
  const facts = Object.fromEntries(
    await page
      .locator("#detail > dl")
      .evaluate((dl) =>
        [...dl.querySelectorAll("dt")].map((dt) => [dt.textContent, dt.nextElementSibling.textContent]),
      ),
  );
  const s = row[state];
  const words = (member) => (s.why?.[member] === s.why?.advice ? "–" : s.why[member]);
  const figures = [];
  const take = (name, value, unit, why, least = 3) => {
    if (value === null) assert.equal(facts[name], why, `${row.kernel}, ${name}`);
    else figures.push([`${row.kernel}, ${name}`, facts[name], value, unit, least]);
  };
  take(
    "measured intensity",
    s.intensity[level],
    "FLOP/B",
    s.intensity.why?.[level] === s.why?.advice ? "–" : s.intensity.why?.[level],
  );
  take("asked intensity", s.intensity.ask, "FLOP/B", "–");
  take("rate", s.flop_per_s, "FLOP/s");
  take("DRAM rate", s.dram_byte_per_s, "B/s", words("dram_byte_per_s"));
  take("its roof", s.attainable_flop_per_s, "FLOP/s", words("attainable_flop_per_s"));
  take("of its roof", s.percent_of_roof, "%", words("percent_of_roof"), 2);
  assert.equal(facts.bound, s.bound ?? words("bound"));
  assert.equal(Object.keys(facts).length, 7);

  const name = await page.locator(`.point:not(.second)[data-kernel="${row.kernel}"]`).getAttribute("aria-label");
  const before = `${row.title}: `;
  const told = name.slice(name.indexOf(before) + before.length).split(", ");
  const tell = (value, unit, words, least) => {
    if (value === null && words === null) return;
    const text = told.shift();
    if (value === null) assert.equal(text, words, name);
    else figures.push([`${row.kernel}, aria-label`, text, value, unit, least]);
  };
  tell(s.flop_per_s, "FLOP/s", "");
  tell(s.intensity[level], `FLOP per ${LEVEL_BYTES[level]}`, "measured intensity unknown");
  tell(s.intensity.ask, "by the bytes asked for", null);
  tell(s.percent_of_roof, "percent of its roof", null, 2);
  const next =
    {fix_access: "fix the access pattern", fix_kernel: "fix the kernel", change_algorithm: "change the algorithm"}[
      s.advice_code
    ] ?? null;
  assert.deepEqual(told, [s.bound && `${s.bound} bound`, next && `next: ${next}`].filter(Boolean), name);
  assert.deepEqual(await page.locator("#detail .next-step").allTextContents(), next ? [`Next: ${next}`] : []);
  return figures;
}

/**
 * The numbers of the detail box and of the point's name are those of the API, to the last digit shown, and one digit
 * off would be told. Gives their number.
 */
export async function checkDetail(page, row, state, level = "dram") {
  const figures = await figuresOf(page, row, state, level);
  for (const [what, text, value, unit, least] of figures) {
    sameFigure(text, value, unit, what, least);
    assert.throws(
      () => sameFigure(wrongDigit(text), value, unit, what, least),
      undefined,
      `${what}: ${wrongDigit(text)} passes for ${value}`,
    );
  }
  const s = row[state];
  assert.equal(
    await page.locator("#detail .advice").textContent(),
    s.advice ?? `${s.why.advice[0].toUpperCase()}${s.why.advice.slice(1)}.`,
  );
  assert.ok((await page.locator("#detail h3").textContent()).endsWith(row.title));
  return figures.length;
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

/** Serves changed instead of every run. */
export async function withDocument(browser, daemon, changed, body, options = {}) {
  const {page, done} = await open(browser, options);
  await page.route(ONE_RUN, (route) => route.fulfill({json: changed}));
  await show(page, `${daemon.url}/#state=${options.state ?? "warm"}`);
  await body(page);
  await done();
}

export const unknown = (object, members, why) => {
  object.why = {...object.why};
  for (const member of members) {
    object[member] = null;
    object.why[member] = why;
  }
};

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
