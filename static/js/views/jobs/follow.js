// One job, followed to its end: where it is, what became of it, and what to do then.
import {ceiling} from "../../chart/model.js";
import {get, getText, job as getJob, run as getRun, seconds, send} from "../../parts/api.js";
import {definitions, notice} from "../../parts/blocks.js";
import {button} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {replaceIn} from "../../parts/focus.js";
import {errorSentence, ratio, sentence, si} from "../../parts/format.js";
import {bdi, chip, moment, runLink} from "../../parts/inline.js";
import {countersTrouble, progressWords, who} from "../../parts/job.js";
import {reasonsInWords} from "../../parts/outcome.js";
import {predictionScores, whyWrongTexts} from "../../parts/predictions.js";
import {refused} from "../../parts/refused.js";
import {CHIPS, isOpen, stateWord, what} from "./words.js";

/** The bar and the words beside it; the same elements all the time, so that a screen reader hears only what is new. */
function progressBar(titles) {
  const bar = element("progress", {"aria-label": "Progress of the job"});
  const words = element("p", {class: "phase"});
  const box = element("div", {class: "progress"}, bar, words);
  return {
    box,
    show(job) {
      box.hidden = !isOpen(job);
      const {progress} = job;
      if (progress && progress.total > 0) {
        bar.max = progress.total;
        bar.value = progress.done;
      } else bar.removeAttribute("value");
      const text = job.cancel_requested
        ? "It is being cancelled; it ends once its process is gone."
        : progress
          ? progressWords(progress, titles)
          : job.state === "queued"
            ? "It waits for its turn."
            : "It starts.";
      if (words.textContent !== text) words.textContent = text;
    },
  };
}

/** Cancel, asked once more in place. cancel() does it. */
function cancelButtons(cancel) {
  const box = element("p", {class: "buttons cancel"});
  const ask = button("Cancel this job", () => {
    box.replaceChildren(
      element("span", {class: "question"}, "Really cancel it? What it has measured so far is lost."),
      yes,
      no,
    );
    no.focus();
  });
  const back = () => {
    box.replaceChildren(ask);
    ask.focus();
  };
  let busy = false; // not disabled, which would take the focus away
  const yes = button(
    "Yes, cancel it",
    async () => {
      if (busy) return;
      busy = true;
      try {
        await cancel();
      } finally {
        busy = false;
        if (box.isConnected && !box.hidden) back();
      }
    },
    {class: "danger"},
  );
  const no = button("Keep it running", back);
  box.append(ask);
  return box;
}

function facts(job, names, all) {
  const name = names.get(job.device);
  return definitions([
    ["GPU", name ? bdi(name) : bdi(job.device)],
    ["measures", what(job, all)],
    ["sent", moment(job.created_at), ` by ${who(job.principal)}`],
    ["started", job.started_at === null ? job.why.started_at : moment(job.started_at)],
    ...(job.ended_at === null ? [] : [["ended", moment(job.ended_at)]]),
    ...(job.attempt > 1 ? [["attempt", `${job.attempt}: the daemon or the node died during the one before`]] : []),
    ...(job.on_interrupt === "retry" ? [["if interrupted", "it starts again once"]] : []),
    ...(!job.label ? [] : [["label", bdi(job.label)]]),
    ...(job.note === null ? [] : [["note", bdi(job.note)]]),
  ]);
}

/** What a run's counters or its outcome leave to do; nothing when all is well. */
function shortcomings(run) {
  const made = [];
  if (run.outcome === "refused") {
    made.push(
      notice(
        "bad",
        element("p", {}, "The run is refused: a result was wrong, so its figures are evidence and no roofline."),
        element("p", {}, sentence(reasonsInWords(run))),
      ),
    );
  }
  if (run.outcome === "partial") {
    made.push(notice(null, element("p", {}, `The run is partial: ${reasonsInWords(run)}.`)));
  }
  const trouble = countersTrouble(run.counters.status);
  if (trouble) {
    made.push(
      notice(
        null,
        element(
          "p",
          {},
          element("strong", {}, "Times only, no byte counters: "),
          `${trouble.meaning} ${run.counters.reason === null ? "" : sentence(run.counters.reason)}`,
        ),
        element("p", {}, element("strong", {}, "What the operator has to do: "), trouble.action),
        element("p", {class: "code"}, run.counters.status),
      ),
    );
  }
  return made;
}

async function doneParts(job, titles, shell) {
  const [run, said] = await Promise.all([
    getRun(job.run, {signal: shell.signal}),
    Object.keys(job.predictions).length > 0 ? get(`/api/v1/runs/${job.run}/predictions`, {signal: shell.signal}) : null,
  ]);
  const copy = ceiling(run, "dram_copy", "warm") ?? ceiling(run, "dram_copy", "cold");
  const cache = job.cache.includes("warm") ? "warm" : "cold";
  const fma = ceiling(run, "fp32_fma", "warm");
  const found =
    `Copy ${si(copy?.value, "B/s")}, FMA ${si(fma?.value, "FLOP/s")}, ridge ` +
    `${ratio(run.ridge_flop_per_byte)} FLOP/B`;
  return [
    notice("good", element("p", {}, "Done: ", runLink(shell, run)), element("p", {}, `${found}.`)),
    ...shortcomings(run),
    element(
      "p",
      {class: "buttons"},
      element("a", {class: "button", href: shell.link("run", {run: run.id})}, "Show the roofline"),
    ),
    disclosure(
      `Table of run ${run.id} as text, ${cache} cache`,
      `/api/v1/runs/${encodeURIComponent(run.id)}/table?state=${cache}`,
      "It has no rows.",
      shell.signal,
    ),
    said
      ? element(
          "section",
          {class: "predictions"},
          element("h3", {}, "Predictions"),
          ...predictionScores(said, (kernel) => titles.get(kernel) ?? kernel),
          ...whyWrongTexts(said, (kernel) => titles.get(kernel) ?? kernel),
        )
      : null,
  ].filter(Boolean);
}

function badParts(job, anew) {
  const error = job.error ?? {message: job.why.error, next_action: null, code: null};
  const title = {failed: "It failed.", interrupted: "It was interrupted.", cancelled: "It was cancelled."}[job.state];
  const operator = error.code?.startsWith("counters_") ? "What the operator has to do: " : "What to do: ";
  const kind = job.state === "cancelled" ? null : "bad";
  return [
    notice(
      kind,
      element("p", {}, element("strong", {}, title), ` ${job.state === "cancelled" ? "" : errorSentence(error)}`),
      error.next_action ? element("p", {}, element("strong", {}, operator), sentence(error.next_action)) : null,
      error.code ? element("p", {class: "code"}, error.code) : null,
    ),
    element(
      "p",
      {class: "buttons"},
      button("Fill the form with this job's values", () => anew(job)),
    ),
  ];
}

/** A text of the API, read whenever it is opened. none: what to say where it is empty. */
function disclosure(title, path, none, signal) {
  const place = element("div", {});
  const box = element("details", {class: "transcript"}, element("summary", {}, title), place);
  const read = async () => {
    try {
      const text = await getText(path, {signal});
      replaceIn(
        place,
        element(
          "pre",
          {class: "command", tabindex: "0", role: "region", "aria-label": title},
          text === "" ? none : text,
        ),
      );
    } catch (error) {
      if (!signal.aborted) replaceIn(place, refused(error, read));
    }
  };
  box.addEventListener("toggle", () => {
    if (box.open) read();
  });
  return box;
}

/** What became of a job; nothing while it is open. */
function endPlace(titles, shell, anew) {
  const box = element("div", {class: "end", role: "status"});
  const show = async (job) => {
    try {
      replaceIn(box, ...(job.state === "done" ? await doneParts(job, titles, shell) : badParts(job, anew)));
    } catch (error) {
      const again = () => show(job);
      if (!shell.signal.aborted) replaceIn(box, refused(error, again), button("Try again", again));
    }
  };
  return {box, clear: () => box.replaceChildren(), show};
}

/**
 * Why a job could not be read so far, told once until it is cleared. title: where the focus goes on; again(): reads it
 * once more.
 */
function unreadPlace(title, again) {
  const box = element("div", {});
  return {
    box,
    clear() {
      if (box.contains(document.activeElement)) title.focus();
      box.replaceChildren();
    },
    tell(error) {
      if (!box.hasChildNodes()) {
        box.replaceChildren(
          refused(error, () => {
            box.replaceChildren();
            title.focus();
            again().catch(() => {}); // told again
          }),
        );
      }
    },
  };
}

/**
 * Follows one job. names: device names by id; titles: kernel titles by id. anew(job): the form is to ask for the same.
 * changed(job): it has another state. Returns {id, box, title, tick(), isOpen()}: tick reads it again when it is due,
 * and gives nothing; it throws ApiError. Until it has been read once, its box tells the trouble.
 */
export function follow(id, {names, titles, shell, anew, changed}) {
  const path = `/api/v1/jobs/${encodeURIComponent(id)}`;
  const title = element("h2", {tabindex: "-1"}, `Job ${id}`);
  const state = element("span", {class: "state", role: "status"});
  const bar = progressBar(titles);
  const [about, trouble] = [element("div", {}), element("div", {})];
  const end = endPlace(titles, shell, anew);
  let job = null;
  let due = 0;
  let reading = false;

  const show = async (next) => {
    const before = job;
    job = next;
    bar.show(job);
    const gone = !isOpen(job) || job.cancel_requested;
    if (gone && cancel.contains(document.activeElement)) title.focus();
    cancel.hidden = gone;
    if (JSON.stringify({...before, progress: 0}) === JSON.stringify({...job, progress: 0})) return;
    about.replaceChildren(facts(job, names, titles.size));
    state.replaceChildren(chip(stateWord(job), CHIPS[job.state]));
    if (before && before.state !== job.state) changed(job);
    if (isOpen(job)) end.clear();
    else await end.show(job);
  };
  const tick = async () => {
    if (reading || Date.now() < due || (job && !isOpen(job))) return;
    reading = true;
    try {
      const {body, headers} = await getJob(id, shell);
      due = Date.now() + 1000 * (seconds(headers.get("Retry-After")) ?? 1) - 100;
      box.classList.remove("is-old");
      unread.clear();
      await show(body);
    } catch (error) {
      box.classList.add("is-old");
      if (job === null && !shell.signal.aborted) unread.tell(error);
      throw error;
    } finally {
      reading = false;
    }
  };
  const unread = unreadPlace(title, tick);
  const stop = async () => {
    replaceIn(trouble);
    try {
      const {body} = await send("DELETE", path, null, {}, {signal: shell.signal});
      await show(body);
      title.focus();
    } catch (error) {
      if (!shell.signal.aborted) replaceIn(trouble, refused(error, stop));
      due = 0;
    }
  };
  const cancel = cancelButtons(stop);
  const log = disclosure("Transcript", `${path}/transcript`, "Nothing was logged so far.", shell.signal);
  const top = element("div", {class: "job-head"}, title, state);
  const all = [top, bar.box, cancel, trouble, unread.box, end.box, about, log];
  const box = element("section", {class: "job", "aria-label": `Job ${id}`}, ...all);
  return {id, box, title, tick, isOpen: () => job === null || isOpen(job)};
}
