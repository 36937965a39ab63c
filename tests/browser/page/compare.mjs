// The comparison in Chromium: its verdicts, figures and intervals are the API's, regressions first, and what cannot be
// judged is told.
import assert from "node:assert/strict";
import {execFile} from "node:child_process";
import {join} from "node:path";
import {promisify} from "node:util";
import {launch, open} from "../tools/browser.mjs";
import {start} from "../tools/daemon.mjs";
import {AFTER, BEFORE, fillPast, importRecording} from "../tools/past.mjs";
import {plain, test, until} from "../tools/suite.mjs";

const run = promisify(execFile);
const WORDS = {
  slower: "slower",
  faster: "faster",
  same: "same",
  ambiguous: "ambiguous",
  missing_base: "not in base",
  missing_head: "not in head",
};
const parameters = (href) => Object.fromEntries(new URLSearchParams(href.slice(href.indexOf("#") + 1)));
const percent = (ratio) => {
  const digits = Math.abs(100 * (ratio - 1)).toFixed(2);
  return `${Number(digits) === 0 ? "" : ratio > 1 ? "+" : "−"}${digits}\u00a0%`;
};

async function asked(daemon, query) {
  const answer = await daemon.ask("GET", `/api/v1/compare?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

async function visit(page, daemon, fragment, ready = ".outcome") {
  await page.goto(`${daemon.url}/#view=compare${fragment ? `&${fragment}` : ""}`);
  await page.locator(ready).first().waitFor();
}

const rows = (page, list = 0) =>
  page
    .locator(".compare-list")
    .nth(list)
    .locator(".compare-row")
    .evaluateAll((all) =>
      all.map((li) => {
        const numbers = (path) =>
          [...(li.querySelector(path)?.getAttribute("d") ?? "").matchAll(/[MH]([\d.-]+)/g)].map((match) =>
            Number(match[1]),
          );
        return {
          kernel: li.dataset.kernel ?? li.dataset.ceiling,
          state: li.dataset.state,
          verdict: li.querySelector(".verdict").textContent,
          change: li.querySelector(".numbers strong").textContent,
          range: li.querySelector(".numbers .second").textContent,
          values: li.querySelector(".row-values").firstChild.textContent,
          reasons: li.querySelector(".reasons").textContent,
          at: Number(/translate\(([^,]+),/.exec(li.querySelector(".at")?.getAttribute("transform") ?? "")?.[1]),
          ends: numbers(".range"),
          band: [li.querySelector(".same-band")]
            .map((rect) => Number(rect.getAttribute("x")))
            .concat(Number(li.querySelector(".same-band").getAttribute("width"))),
        };
      }),
    );

/** The scale is the page's own: its ticks and the band of ±1 percent tell where a ratio belongs. */
function checkInterval(shown, measure) {
  const bend = (ratio) => Math.asinh(100 * (ratio - 1));
  const [left, width] = shown.band;
  const middle = left + width / 2;
  const unit = width / 2 / bend(1.01);
  const near = (x, ratio) =>
    assert.ok(Math.abs(x - (middle + unit * bend(ratio))) < 1.5, `${shown.kernel}: ${x} is not the place of ${ratio}`);
  near(shown.at, measure.ratio);
  near(shown.ends[0], measure.interval.low);
  near(shown.ends.at(-1), measure.interval.high);
}

function checkRow(shown, row) {
  assert.deepEqual([shown.kernel, shown.state, shown.verdict], [row.kernel, row.state, WORDS[row.time_verdict]]);
  assert.equal(shown.change, percent(row.time_s.ratio));
  assert.equal(shown.range, `${percent(row.time_s.interval.low)} to ${percent(row.time_s.interval.high)}`);
  const sizes = {s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9};
  const unit = shown.values.split(/\s/).at(-1);
  const [base, head] = shown.values
    .split(" → ")
    .map((text) => Number.parseFloat(text) * sizes[text.split(/\s/)[1] ?? unit]);
  assert.ok(
    Math.abs(base / row.time_s.base - 1) < 0.00005 && Math.abs(head / row.time_s.head - 1) < 0.00005,
    shown.values,
  ); // a change of 0.01 % is to be seen
  for (const sentence of [row.time_s.sentence, row.dram_bytes.sentence, row.cause_sentence]) {
    if (sentence) assert.ok(plain(shown.reasons).includes(sentence), sentence);
  }
  assert.ok(!/\d (%|µs|ms|bytes|[kMG]B)/.test(shown.reasons), shown.reasons);
  checkInterval(shown, row.time_s);
}

async function drawn(browser, daemon, past) {
  const query = `base=driver:${BEFORE}&head=driver:${AFTER}&device=${past.device}`;
  await test("without a wish the two newest drivers are compared, regressions first, figures the API's", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, "");
    const answer = await asked(daemon, query);
    assert.equal(answer.outcome, "slower");
    assert.equal(answer.rows[0].time_verdict, "slower");
    assert.ok(plain(await page.locator(".outcome").innerText()).includes(answer.sentence));
    const shown = await rows(page);
    assert.equal(shown.length, answer.rows.length);
    answer.rows.forEach((row, i) => checkRow(shown[i], row));
    const ceilings = await rows(page, 1);
    assert.equal(ceilings.length, answer.ceilings.length);
    answer.ceilings.forEach((ceiling, i) => {
      assert.deepEqual(
        [ceilings[i].kernel, ceilings[i].verdict, ceilings[i].change],
        [ceiling.name, WORDS[ceiling.time_verdict], percent(ceiling.value.ratio)],
      );
      assert.ok(plain(ceilings[i].reasons).includes(ceiling.value.sentence));
    });
    assert.deepEqual(await page.locator(".side-card .mark").allInnerTexts(), ["Imported", "Imported"]);
    for (const side of ["base", "head"]) {
      assert.deepEqual(
        await page.locator(`[data-side=${side}] a`).evaluateAll((all) => all.map((a) => a.textContent)),
        answer[side].runs,
      );
    }
    await done();
  });
  await test("verdict, cache and order choose rows and stand in the address", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, query);
    const answer = await asked(daemon, query);
    await page.locator("[name=verdict]").selectOption("faster");
    assert.deepEqual(
      (await rows(page)).map((row) => row.kernel),
      answer.rows.filter((row) => row.time_verdict === "faster").map((row) => row.kernel),
    );
    await page.locator("[name=rowstate]").selectOption("cold");
    assert.deepEqual(
      (await rows(page)).map((row) => row.state),
      answer.rows.filter((row) => row.time_verdict === "faster" && row.state === "cold").map((row) => row.state),
    );
    await page.locator("[name=verdict]").selectOption("");
    await page.locator("[name=order]").selectOption("ratio");
    const ratios = answer.rows
      .filter((row) => row.state === "cold")
      .map((row) => row.time_s.ratio)
      .sort((a, b) => b - a);
    assert.deepEqual(
      (await rows(page)).map((row) => row.change),
      ratios.map(percent),
    );
    await page.reload();
    await page.locator(".outcome").waitFor();
    assert.deepEqual(
      (await rows(page)).map((row) => row.change),
      ratios.map(percent),
    );
    const shown = parameters(page.url());
    assert.deepEqual([shown.rowstate, shown.order, shown.verdict], ["cold", "ratio", undefined]);
    await done();
  });
  await test("the command on the page ends with the status that the page tells", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, query);
    const command = await page.locator(".script .command").innerText();
    assert.equal(
      command,
      `rooflinectl compare driver:${BEFORE} driver:${AFTER} --device ${past.device} --fail-on slower`,
    );
    const [, ...words] = command.split(" ");
    const status = await run(join(process.env.RL_BIN, "rooflinectl"), [...words, "--url", daemon.url]).then(
      () => 0,
      (error) => error.code,
    );
    assert.ok((await page.locator(".script .hint").innerText()).endsWith(`Here it is ${status}.`));
    assert.equal(status, 1);
    await done();
  });
  await test("a row leads to its trend, a side to its runs", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, query);
    assert.deepEqual(parameters(await page.locator(".compare-row .row-name a").first().getAttribute("href")), {
      view: "trend",
      device: past.device,
      kernel: "vector_add",
      state: "warm",
    });
    assert.match(await page.locator("[data-side=base] a").first().getAttribute("href"), /run=\d+$/);
    await done();
  });
}

async function chosen(browser, daemon, past) {
  await test("runs by number: few runs are ambiguous or judged by history, and that is said", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, `device=${past.device}&base=driver:${BEFORE}&head=driver:${AFTER}`);
    const answer = await asked(daemon, `base=driver:${BEFORE}&head=driver:${AFTER}&device=${past.device}`);
    const [a, b] = [answer.base.runs[0], answer.head.runs[0]];
    for (const [side, id] of [
      ["base", a],
      ["head", b],
    ]) {
      await page.locator(`[name=${side}-kind]`).selectOption("runs");
      await page.locator(`[name=${side}-runs]`).fill(id);
    }
    await page.getByRole("button", {name: "Compare", exact: true}).click();
    const one = await asked(daemon, `base=run:${a}&head=run:${b}&device=${past.device}`);
    await until("the comparison of two runs", async () =>
      plain(await page.locator(".outcome").innerText()).includes(one.sentence),
    );
    assert.deepEqual([parameters(page.url()).base, parameters(page.url()).head], [`run:${a}`, `run:${b}`]);
    const shown = await rows(page);
    one.rows.forEach((row, i) => {
      assert.equal(shown[i].verdict, WORDS[row.time_verdict]);
      assert.ok(plain(shown[i].reasons).includes(row.time_s.sentence));
      assert.equal(
        shown[i].reasons.includes("Judged by the spread of this row in the device's history"),
        row.time_s.method === "history",
      );
    });
    for (const warning of one.warnings) {
      assert.ok(plain(await page.locator(".compare-place").innerText()).includes(warning.sentence), warning.sentence);
    }
    // the runs themselves are taken whatever theirs
    assert.equal(await page.locator(".compare-form label", {hasText: "Source"}).innerText(), "Source of history");
    await page.getByText("How it is judged, and what ambiguous means").click();
    assert.ok((await page.locator(".rules").innerText()).includes("can neither be shown nor be ruled out"));
    await done();
  });
  await test("what cannot be compared names the field; what is not there is an error that keeps the form", async () => {
    const other = await importRecording(daemon, {
      at: `${past.days.after[3]}T21:00:00.000Z`,
      driver: AFTER,
      device: {
        id: "GPU-00000000-0000-4000-8000-000000000001",
        uuid: "GPU-00000000-0000-4000-8000-000000000001",
        name: "<b>other</b>",
      },
    });
    const {page, done} = await open(browser, {expected: [/40[04]/]});
    await visit(page, daemon, `base=run:1&head=run:${other.id}`);
    const answer = await asked(daemon, `base=run:1&head=run:${other.id}`);
    assert.equal(answer.comparable, false);
    assert.equal(await page.locator(".outcome h2").innerText(), "Not comparable");
    assert.deepEqual(
      await page.locator(".outcome li").evaluateAll((all) => all.map((li) => li.dataset.field)),
      answer.not_comparable.map((note) => note.field),
    );
    await visit(page, daemon, "base=run:1&head=run:999999", "#compare .notice.bad");
    assert.ok((await page.locator("#compare .notice.bad").innerText()).includes("999999"));
    assert.equal(await page.locator("[name=head-runs]").inputValue(), "999999");
    const marked = (side) => page.locator(`[name=${side}-runs]`).getAttribute("aria-invalid");
    assert.deepEqual([await marked("base"), await marked("head")], [null, "true"]);
    assert.equal(await page.locator(".compare-form .error:visible").innerText(), "There is no run 999999.");
    await page.locator("[name=head-runs]").fill("1");
    assert.equal(await marked("head"), null);
    await visit(page, daemon, "base=run:1&head=nonsense:1", "#compare .notice.bad");
    await done();
  });
  await test("the same runs on both sides are no good news; on paper device, suite and sizes are said", async () => {
    const {page, done} = await open(browser);
    await visit(page, daemon, `device=${past.device}&base=driver:${BEFORE}&head=driver:${BEFORE}`);
    assert.equal(await page.locator(".outcome h2").innerText(), "The same runs on both sides");
    assert.equal(await page.locator(".outcome").getAttribute("class"), "outcome");
    await page.emulateMedia({media: "print"});
    for (const side of ["base", "head"]) {
      assert.ok(
        (await page.locator(`[data-side=${side}]`).innerText()).includes(`${past.device}, verification, course sizes`),
      );
    }
    await done();
  });
  await test("the machine's verdict comes before the rows; a row without figures says why", async () => {
    const {page, done} = await open(browser);
    const query = `base=driver:${BEFORE}&head=driver:${AFTER}&device=${past.device}`;
    const answer = await asked(daemon, query);
    Object.assign(answer.machine, {
      time_verdict: "slower",
      ratio: 1.0312,
      low: 1.029,
      high: 1.0331,
      rows: 22,
      rows_together: 21,
      sentence: "Rows and ceilings are slower together.",
      why: {},
    });
    const none = {
      base: null,
      ratio: null,
      interval: {
        low: null,
        high: null,
        confidence: null,
        why: {low: "nothing", high: "nothing", confidence: "nothing"},
      },
      sentence: "Base has no such row.",
      why: {base: "base has no such row", ratio: "base has no such row"},
    };
    answer.rows.push({...answer.rows[1], kernel: "unsure", time_verdict: "ambiguous"});
    answer.rows.push({
      ...answer.rows[1],
      kernel: "<img src=x onerror=alert(1)>",
      time_verdict: "missing_base",
      bytes_verdict: "missing_base",
      cause: null,
      cause_sentence: null,
      time_s: {...answer.rows[1].time_s, ...none, base_p25: null, base_p75: null},
      dram_bytes: {...answer.rows[1].dram_bytes, ...none},
    });
    await page.route(/\/api\/v1\/compare\?/, (route) => route.fulfill({json: answer}));
    await visit(page, daemon, query);
    const text = await page.locator(".compare-place").innerText();
    for (const part of [
      "The machine as a whole is slower: +3.12\u00a0%, between +2.90\u00a0% and +3.31\u00a0%",
      "21 of 22",
    ]) {
      assert.ok(text.includes(part), part);
    }
    assert.ok(text.indexOf("The machine as a whole") < text.indexOf("Rows"));
    const shown = (await rows(page)).at(-1);
    assert.deepEqual(
      [shown.kernel, shown.verdict, shown.change, shown.range],
      ["<img src=x onerror=alert(1)>", "not in base", "–", "base has no such row"],
    );
    assert.ok(
      !/NaN|undefined|Infinity/.test(await page.locator(".compare-place").evaluate((place) => place.outerHTML)),
    );
    for (const media of ["screen", "print"]) {
      await page.emulateMedia({media});
      for (const width of [1440, 768, 390]) {
        await page.setViewportSize({width, height: 1000});
        const [high, line] = await page
          .locator("[data-kernel=unsure] .verdict")
          .evaluate((one) => [one.getBoundingClientRect().height, Number.parseFloat(getComputedStyle(one).lineHeight)]);
        assert.ok(high < 1.5 * line, `${media} at ${width}: ${high} of lines of ${line}`); // no word is broken
        const over = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        assert.ok(over <= 0, `${media} at ${width}: ${over} px past the edge`);
      }
    }
    await done();
  });
}

export async function compareTests() {
  const daemon = await start();
  const past = await fillPast(daemon);
  const browser = await launch();
  try {
    await drawn(browser, daemon, past);
    await chosen(browser, daemon, past);
  } finally {
    await browser.close();
  }
  await daemon.stop();
}
