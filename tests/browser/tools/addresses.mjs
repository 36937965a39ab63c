// Every view of the page by its fragment, for the checks and pictures that all views share.
import {JSON_TYPE, submit} from "./daemon.mjs";
import {AFTER, BEFORE, fillPast, importT4} from "./past.mjs";

/**
 * ready: what stands on the page once the view is there. fragment: from what fill() gives. then(page): what leads from
 * there to what ready waits for. papers: widths of print, where not all are meant.
 */
export const ADDRESSES = [
  {name: "run", ready: "#run table tbody tr", fragment: (ids) => `run=${ids.run}`},
  {
    name: "run-cold-l2",
    ready: "#run table tbody tr",
    fragment: (ids) => `run=${ids.run}&state=cold&level=l2&sort=time&dir=down`,
  },
  {name: "run-over", ready: "#run table tbody tr", fragment: (ids) => `run=${ids.run}&over=${ids.other}&hide=2`},
  {name: "run-timed", ready: "#run table tbody tr", fragment: (ids) => `run=${ids.timed}`},
  {
    name: "run-withdrawn",
    ready: "#why-wrong textarea",
    fragment: (ids) => `run=${ids.withdrawn}`,
    then: (page) => page.locator("#why-wrong button").click(),
  },
  // on paper it is cut into blocks as wide as A4
  {name: "history", ready: ".matrix a.cell", fragment: () => "view=history&source=any", papers: [1440, 718]},
  {name: "history-empty", ready: ".empty", fragment: () => "view=history&since=2020-01-01&until=2020-02-01"},
  {
    name: "runs",
    ready: "#runs tbody tr",
    fragment: (ids) => `view=runs&limit=25&base=run:${ids.run}&head=run:${ids.other}`,
  },
  {name: "runs-withdrawn", ready: "#runs tbody tr", fragment: () => "view=runs&withdrawn=true"},
  {
    name: "trend",
    ready: ".trend-chart .point",
    fragment: (ids) => `view=trend&device=${ids.device}&kernel=vector_add&state=warm`,
  },
  {
    name: "trend-accept",
    ready: ".accept-form",
    fragment: (ids) => `view=trend&device=${ids.device}&kernel=matmul_naive&state=cold&metric=time_s`,
    then: (page) => page.getByRole("button", {name: "Accept this change"}).click(),
  },
  {
    name: "compare",
    ready: ".compare-row",
    fragment: (ids) => `view=compare&device=${ids.device}&base=driver:${BEFORE}&head=driver:${AFTER}`,
  },
  {
    name: "compare-runs",
    ready: ".outcome",
    fragment: (ids) => `view=compare&base=run:${ids.run},run:${ids.other}&head=run:${ids.timed}`,
  },
  {
    name: "compare-label",
    ready: ".outcome",
    fragment: (ids) =>
      `view=compare&base=label:${encodeURIComponent(LABEL.replaceAll(",", "\\,"))}` +
      `&head=run:${ids.other}&device=${ids.gpu}&source=any`,
  },
  {
    name: "compare-few",
    ready: ".compare-row",
    fragment: (ids) => `view=compare&base=run:${ids.other}&head=run:${ids.again}`,
  },
  {
    name: "explorer",
    ready: ".results .roofline-plot",
    fragment: (ids) => `view=explorer&run=${ids.run}&of=suite*vector_add*course&state=cold&reuse=2&time=400us`,
  },
  {
    name: "explorer-pins",
    ready: "#explorer tbody tr:nth-child(6)",
    fragment: () =>
      "view=explorer&roof=typed&bandwidth=504G&peak=29.1T&reuse=16&rate=1.8T" +
      "&pins=vadd*16777216***saxpy*16777216***naive*2048***tiled*2048***library*4096",
  },
  {
    name: "explorer-wrong",
    ready: "#explorer .field .error:not([hidden])",
    fragment: (ids) => `view=explorer&run=${ids.run}&of=own*two*8`,
  },
  {
    name: "jobs",
    ready: "#jobs .job .predictions",
    fragment: (ids) => `view=jobs&job=${ids.job}`,
    then: (page) => page.locator(".kernels summary").click(),
  },
  {name: "jobs-empty", ready: "#jobs .empty", fragment: () => "view=jobs&state=failed"},
  {
    name: "import",
    ready: "#import form",
    fragment: () => "view=import",
    then: (page) => page.getByText("Sizes and cache states").click(),
  },
  {name: "run-imported", ready: "#run table tbody tr", fragment: (ids) => `run=${ids.imported}&over=${ids.run}`},
];

const LABEL = "matmul with 8 rows a thread, 3f2c91a7 of 2026-11-30 (ticket 471)";

/** A run with a label that somebody withdrew, with what its sender says of the wrong predictions. */
async function withdrawnRun(daemon) {
  const {run} = await submit(daemon, {
    suite: "verify",
    label: LABEL,
    predictions: {vector_add: "below", matmul_naive: "above", transpose_tiled: "above"},
  });
  const put = (method, path, body) =>
    daemon.ask(method, `/api/v1/runs/${run}/${path}`, {headers: JSON_TYPE, body: JSON.stringify(body)});
  const [first] = (await daemon.ask("GET", `/api/v1/runs/${run}/predictions`)).json.most_wrong;
  await put("PUT", "predictions", {
    why_wrong: {
      [first]:
        "The L2 of this card holds all three arrays, so nothing of it has to come from DRAM a second time.\nI " +
        "thought of a T4's 4 MiB.",
    },
  });
  await put("POST", "withdraw", {reason: "first try"});
  await daemon.ask("DELETE", `/api/v1/runs/${run}/withdraw`);
  await put("POST", "withdraw", {
    reason: "The fan of this node stood still from 14:00 on; measured again as soon as it turns.",
  });
  return run;
}

/** Puts into the daemon what the addresses show; gives the ids. */
export async function fill(daemon) {
  const other = await submit(daemon, {suite: "verify", sizes: "scaled"});
  const first = await submit(daemon, {
    suite: "verify",
    note: "after the driver update",
    predictions: {vector_add: "near", matmul_naive: "above", stencil_global: "below"},
  });
  // two runs of these sizes alone: too few on a side, and no history
  const again = await submit(daemon, {suite: "verify", sizes: "scaled"});
  const timed = await submit(daemon, {suite: "verify", counters: false, cache: ["warm"]});
  const [t4] = await importT4(daemon);
  const {device} = await fillPast(daemon);
  const withdrawn = await withdrawnRun(daemon);
  const gpu = (await daemon.ask("GET", `/api/v1/runs/${withdrawn}`)).json.device.id;
  return {
    device,
    gpu,
    withdrawn,
    run: first.run,
    job: first.id,
    again: again.run,
    other: other.run,
    timed: timed.run,
    imported: t4.id,
  };
}
