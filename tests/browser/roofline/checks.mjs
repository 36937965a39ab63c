// What a roofline on the page is held against: the API's own figures, to the last digit.
import assert from "node:assert/strict";
import {open, scales, show, symbols} from "../tools/browser.mjs";
import {sameFigure, wrongDigit} from "../tools/figures.mjs";

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
