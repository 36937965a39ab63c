// States of the views over many runs that no address alone brings about: long and hostile names, nothing there, errors,
// refusals, what is stale, and much of everything. Where the daemon of the tests cannot be brought into a state, its
// own answer is changed on the way.
import {dirname, join} from "node:path";
import {JSON_TYPE} from "./daemon.mjs";
import {AFTER, BEFORE, dayAgo, importForm} from "./past.mjs";

const root = dirname(process.env.RL_README);
export const MARKUP = "<img src=x onerror=alert(1)>";
export const LONG = `void cutlass::gemm<float, ${"Tile<64, 64>, ".repeat(11)}(int)1>(T1 *)`;
const ARABIC = "مصفوفة × متجه";
const WORDS = `${MARKUP} ${"long words and longer ones ".repeat(6)} ${ARABIC} ${"x".repeat(60)}`;

const refusal = {
  status: 401,
  json: {
    error: {
      code: "unauthorized",
      message: "the token is not known",
      next_action: "Send a token that the daemon knows, or ask the operator for one.",
    },
  },
};

/** An answer of the daemon with a change: change(json) gives what the page is to have. */
export const changed = (page, pattern, change) =>
  page.route(pattern, async (route) => {
    if (route.request().method() !== "GET") return route.continue();
    const response = await route.fetch();
    return route.fulfill({response, json: change(await response.json())});
  });

/** A year of days with gaps under four drivers: the points of a trend as the API gives them. */
function manyPoints(trend) {
  const points = [];
  let median = 60e-6;
  for (let day = 300; day > 0; day--) {
    if (day % 7 > 4 || (day > 120 && day < 150)) continue;
    if (day === 200) median *= 1.05;
    if (day === 90) median *= 0.97;
    const value = median * (1 + 0.002 * Math.sin(day * 1.7));
    const accepted = day === 198;
    const band =
      day > 290 || accepted
        ? null
        : {
            low: (day > 198 ? 60e-6 : 63e-6) * 0.994,
            high: (day > 198 ? 60e-6 : 63e-6) * 1.006,
            median: day > 198 ? 60e-6 : 63e-6,
            runs: 10,
          };
    points.push({
      ...trend.points[0],
      day: dayAgo(day),
      driver: ["550.54.15", "560.35.03", "570.133.20", "580.159.04"][Math.floor((300 - day) / 76)],
      runs: 3,
      used: 3,
      median: value,
      min: value * 0.999,
      max: value * 1.0015,
      band,
      accepted,
      outside: band !== null && (value < band.low || value > band.high),
      why: {
        ...trend.points[0].why,
        ...(band === null
          ? {band: accepted ? "the change was accepted here" : "2 baseline runs before it, and 5 are needed"}
          : {}),
      },
    });
  }
  const {day} = points.find((point) => point.accepted);
  return {
    ...trend,
    since: points[0].day,
    points,
    accepted: [
      {run: "4", day, note: WORDS, principal: "token:sender"},
      {run: "5", day, note: "", principal: "uid:1000"},
    ],
  };
}

/**
 * A year of days of two devices under four drivers, one of them unknown: an answer of the history as the API gives it.
 */
export function manyDays(history) {
  const [row] = history.rows;
  if (!row) return history; // of years before
  const rows = [];
  for (const [i, driver] of ["550.54.15", "560.35.03", "570.133.20", null].entries()) {
    for (const [j, device] of [row.device, {id: "GPU-1", name: WORDS}].entries()) {
      const cells = [];
      for (let day = 360 - i * 90; day > 270 - i * 90; day--) {
        if ((day + j) % 6 > 1) {
          cells.push({
            ...row.cells[0],
            day: dayAgo(day),
            counters: (day + j) % 4 ? "counter-backed" : "timed-only",
            counter_backed: (day + j) % 4 ? 1 + ((day * 7) % 1200) : 0,
            timed_only: day % 3,
          });
        }
      }
      rows.push({
        ...row,
        device,
        driver,
        cuda: driver === null ? null : "13.0",
        why: driver === null ? {driver: "the import does not say it", cuda: "the import does not say it"} : row.why,
        cells: cells.filter((cell) => cell.counter_backed + cell.timed_only > 0),
      });
    }
  }
  return {...history, rows};
}

function machineWide(answer) {
  Object.assign(answer.machine, {
    time_verdict: "slower",
    ratio: 1.0312,
    low: 1.029,
    high: 1.0331,
    rows: 31,
    rows_together: 29,
    sentence: "Rows and ceilings are slower together, so it is the machine and no kernel.",
    why: {},
  });
  answer.rows.unshift(
    {...answer.rows[0], kernel: LONG},
    {...answer.rows[0], kernel: MARKUP, time_verdict: "ambiguous"},
  );
  return {...answer, outcome: "slower", sentence: WORDS};
}

const ERROR = {
  code: "counters_permission",
  message: `${WORDS}: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)`,
  next_action:
    "Give the measuring process CAP_PERFMON (CAP_SYS_ADMIN before R565) or set NVreg_RestrictProfilingToAdminUsers=0.",
};

const jobAs = (page, ids, more) => changed(page, new RegExp(`/api/v1/jobs/${ids.job}$`), (job) => ({...job, ...more}));

/** A list of jobs in every state. */
const jobsAs = (page) =>
  changed(page, /\/api\/v1\/jobs\?/, (list) => {
    const states = ["queued", "running", "running", "failed", "cancelled", "interrupted"];
    const made = states.map((state, i) => ({
      ...list.items[0],
      id: String(90 - i),
      state,
      run: null,
      cancel_requested: i === 2,
      note: i === 3 ? WORDS : null,
      error: ["failed", "interrupted"].includes(state) ? ERROR : null,
      principal: i % 2 ? "token:nightly-verification-of-the-whole-cluster" : "uid:1000",
      progress: state === "running" ? {done: 20 + i, total: 60, phase: "kernels", what: "matmul_tiled16"} : null,
    }));
    return {...list, items: [...made, ...list.items]};
  });

/** What the browser tells on its console of an answer with that status. */
const answered = (status) => new RegExp(`responded with a status of ${status} `);

/**
 * before(page, ids): what has to be in place before the address is opened; then(page, ids): what leads on from there;
 * ready: what stands there in the end. expected: patterns of the console errors that the state is brought about by.
 */
export const STATES = [
  {
    name: "history-t4",
    ready: ".matrix a.cell",
    fragment: (ids) => `view=history&device=${ids.t4}&since=2026-08-01&until=2026-10-01`,
  },
  {
    name: "history-many",
    ready: ".matrix a.cell",
    fragment: () => "view=history&source=any",
    before: (page) => changed(page, /\/api\/v1\/history\?source=any/, manyDays),
  },
  {
    name: "history-wrong",
    ready: ".notice.bad",
    expected: [answered(400)],
    fragment: () => "view=history&since=yesterday",
  },
  {
    name: "history-token",
    ready: "article form.token",
    expected: [answered(401)],
    fragment: () => "view=history&until=2100-01-01",
    before: (page) => page.route(/history\?until/, (route) => route.fulfill(refusal)),
  },
  {
    name: "history-loading",
    ready: ".loading",
    fragment: () => "view=history",
    before: (page) => page.route(/api\/v1\/devices/, () => {}),
    hangs: true,
  },
  {
    name: "history-none",
    ready: ".empty",
    fragment: () => "view=history",
    before: (page) =>
      page.route(/api\/v1\/(history|devices|runs)/, (route) =>
        route.fulfill({json: {since: dayAgo(365), until: dayAgo(-1), rows: [], items: []}}),
      ),
  },
  {name: "runs-empty", ready: ".empty", fragment: () => "view=runs&driver=999.99"},
  {name: "runs-unknown", ready: "#runs tbody tr", fragment: () => "view=runs&driver=unknown&outcome=any"},
  {
    name: "runs-token",
    ready: ".export-said form.token",
    expected: [answered(401)],
    fragment: () => "view=runs&limit=25",
    before: (page) => page.route(/runs\.csv/, (route) => route.fulfill(refusal)),
    then: (page) => page.getByRole("button", {name: "CSV"}).click(),
  },
  {
    name: "runs-marked",
    ready: ".selection:not([hidden])",
    fragment: (ids) =>
      `view=runs&limit=25&base=${Array.from({length: 12}, (_, i) => `run:${i + 5}`).join(",")}&head=run:${ids.t4Run}`,
  },
  {
    name: "trend-one",
    ready: ".trend-chart .point",
    fragment: (ids) => `view=trend&device=${ids.t4}&kernel=vector_add&state=mixed&metric=dram_per_ask&since=2026-08-01`,
  },
  {
    name: "trend-many",
    ready: ".trend-chart .point",
    fragment: (ids) => `view=trend&device=${ids.device}&kernel=vector_add`,
    before: (page) => changed(page, /\/api\/v1\/trend/, manyPoints),
  },
  {
    name: "trend-import",
    ready: ".trend-chart .point",
    fragment: (ids) => `view=trend&device=${ids.hostile}&kernel=${encodeURIComponent(LONG)}`,
  },
  {
    name: "trend-replayed",
    ready: ".trend-chart .point",
    fragment: (ids) => `view=trend&device=${ids.device}&kernel=vector_add&source=replayed`,
  },
  {
    name: "trend-empty",
    ready: ".empty",
    fragment: (ids) => `view=trend&device=${ids.device}&kernel=vector_add&sizes=scaled`,
  },
  {
    name: "trend-denied",
    ready: ".accept-said form.token",
    expected: [answered(401)],
    fragment: (ids) => `view=trend&device=${ids.device}&kernel=matmul_naive&state=cold`,
    before: (page) =>
      page.route(/\/note$/, (route) =>
        route.request().method() === "PUT" ? route.fulfill(refusal) : route.continue(),
      ),
    then: async (page) => {
      await page.getByRole("button", {name: "Accept this change"}).click();
      await page.locator(".accept-form textarea").fill(WORDS);
      await page.getByRole("button", {name: "Accept from this run on"}).click();
    },
  },
  {
    name: "compare-same",
    ready: ".compare-row",
    fragment: (ids) => `view=compare&device=${ids.device}&base=driver:${BEFORE}&head=driver:${BEFORE}`,
  },
  {
    name: "compare-machine",
    ready: ".compare-row",
    fragment: (ids) => `view=compare&device=${ids.device}&base=driver:${BEFORE}&head=driver:${AFTER}`,
    before: (page) => changed(page, /\/api\/v1\/compare\?/, machineWide),
  },
  {
    name: "compare-wrong",
    ready: "#compare .notice.bad",
    expected: [answered(404)],
    fragment: () => "view=compare&base=run:1&head=run:999999",
  },
  {name: "compare-unlike", ready: ".outcome", fragment: (ids) => `view=compare&base=run:1&head=run:${ids.t4Run}`},
  {
    name: "jobs-running",
    ready: "#jobs .job progress",
    fragment: (ids) => `view=jobs&job=${ids.job}`,
    before: async (page, ids) => {
      await jobsAs(page);
      await jobAs(page, ids, {
        state: "running",
        run: null,
        ended_at: null,
        progress: {done: 23, total: 60, phase: "kernels", what: "matmul_tiled16"},
      });
    },
    then: (page) => page.getByRole("button", {name: "Cancel this job"}).click(),
  },
  {
    name: "jobs-failed",
    ready: "#jobs .job .notice.bad",
    fragment: (ids) => `view=jobs&job=${ids.job}`,
    before: (page, ids) => jobAs(page, ids, {state: "failed", run: null, error: ERROR, note: WORDS}),
  },
  {
    name: "jobs-table",
    ready: "#jobs .transcript pre",
    fragment: (ids) => `view=jobs&job=${ids.job}`,
    then: (page) => page.getByText(/^Table of run/).click(),
  },
  {
    name: "jobs-token",
    ready: ".said form.token",
    expected: [answered(401)],
    fragment: () => "view=jobs",
    before: (page) => page.route(/\/api\/v1\/jobs$/, (route) => route.fulfill(refusal)),
    then: (page) => page.getByRole("button", {name: /^Start verification/}).click(),
  },
  {
    name: "jobs-stale",
    ready: "#stale:not([hidden])",
    expected: [/net::ERR_FAILED/],
    fragment: (ids) => `view=jobs&job=${ids.job}`,
    then: (page) =>
      page
        .locator(".job .predictions")
        .waitFor()
        .then(() => page.route(/\/api\//, (route) => route.abort())),
    hangs: true,
  },
  {
    name: "import-refused",
    ready: "#import .said .notice.bad",
    expected: [answered(400)],
    fragment: () => "view=import",
    then: async (page) => {
      await page.getByLabel("Nsight Compute CSV").setInputFiles(join(root, "tests/data/import/nsys.csv"));
      await page.getByLabel("GPU", {exact: true}).fill(WORDS.slice(0, 200));
      await page.getByRole("button", {name: "Import"}).click();
    },
  },
  {
    name: "import-again",
    ready: "#import .said .notice",
    fragment: () => "view=import",
    then: async (page) => {
      await page.getByRole("radio", {name: "a published table"}).check();
      await page.getByLabel("Record", {exact: true}).setInputFiles(join(root, "deploy/records/t4.json"));
      await page.getByLabel("Measured on").fill("2026-09-01");
      await page.getByRole("button", {name: "Import"}).click();
    },
  },
];

/** Puts into a filled daemon what the states show more; adds to the ids. */
export async function fillStates(daemon, ids) {
  const {json: t4} = await daemon.ask("GET", `/api/v1/runs/${ids.imported}`);
  const timings = [
    [LONG, 1.5],
    [MARKUP, 2.5],
    [ARABIC, 3.5],
  ]
    .map(([kernel, ms]) => `${JSON.stringify({kernel, ms})}\n`)
    .join("");
  // neither driver nor CUDA
  const hostile = await importForm(daemon, {timings, device: WORDS.slice(0, 120), date: dayAgo(10)});
  await daemon.ask("PUT", `/api/v1/runs/${hostile.id}/note`, {headers: JSON_TYPE, body: JSON.stringify({text: WORDS})});
  return {...ids, t4: t4.device.id, t4Run: ids.imported, hostile: hostile.device.id};
}
