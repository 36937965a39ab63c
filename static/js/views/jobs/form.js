// The form that starts a verification. One filled form is one job: its key goes with every sending of it, so that a
// double click or a retry starts no second one.
import {send} from "../../parts/api.js";
import {notice} from "../../parts/blocks.js";
import {button, checkbox, errorPlace, field, radios, say} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {replaceIn} from "../../parts/focus.js";
import {errorSentence, momentText, sentence, si, withUnit} from "../../parts/format.js";
import {countersTrouble} from "../../parts/job.js";
import {unsent} from "../../parts/refused.js";
import {PREDICTIONS, age, bodyOf, emptyDraft, fieldOf, newKey} from "./words.js";

const NOTE_BYTES = 4096;

// Kept while the page is open: a token that has to be given first, or a look at another view, loses nothing that was
// filled in.
let draft = emptyDraft();
let sent = null; // {text, key}: the last sending

/** Fills the form with what a draft has, for the next time that it is built. */
export function fill(other) {
  draft = other;
  sent = null;
}

const errorOf = (name) => errorPlace(`job-${name}`);

/** What is possible on a device, in words. */
function possible(device, ready) {
  const said = ready?.devices.find((item) => item.id === device.id);
  const trouble = countersTrouble(device.counters.status);
  const replayed = " A recording is replayed: nothing is measured, and the run is marked so.";
  const lines = [
    element(
      "p",
      {class: "hint"},
      `Driver ${device.environment.driver_version ?? "not known"}; last probed `,
      element("time", {datetime: device.checked_at, title: momentText(device.checked_at)}, age(device.checked_at)),
      `.${device.source === "replayed" ? replayed : ""}`,
    ),
  ];
  lines.push(
    trouble
      ? notice(
          null,
          element(
            "p",
            {},
            element("strong", {}, "Times only: "),
            `${trouble.meaning} ${device.counters.why ? sentence(device.counters.why) : ""}`,
          ),
          element("p", {}, element("strong", {}, "What the operator has to do: "), trouble.action),
        )
      : element("p", {class: "hint"}, "Times and byte counters are possible."),
  );
  if (said?.quarantined) {
    lines.push(
      notice(
        "bad",
        element(
          "p",
          {},
          "Quarantined: a measuring process could not be ended. Jobs fail until the daemon is started again.",
        ),
      ),
    );
  } else if (said?.busy) lines.push(element("p", {class: "hint"}, "A job runs there; another one waits its turn."));
  return lines;
}

function deviceField(devices, ready) {
  const select = element(
    "select",
    {},
    element("option", {value: ""}, devices.length === 0 ? "no GPU is known" : `the first: ${devices[0].name}`),
    ...devices.map((device) => element("option", {value: device.id}, `${device.name} · ${device.id}`)),
  );
  if (draft.device && !devices.some((device) => device.id === draft.device)) {
    select.append(element("option", {value: draft.device}, `${draft.device} (not here now)`));
  }
  select.value = draft.device;
  const says = element("div", {class: "says"});
  const sync = () => {
    const device = draft.device ? devices.find((item) => item.id === draft.device) : devices[0];
    says.replaceChildren(
      ...(device ? possible(device, ready) : [element("p", {class: "hint"}, "Nothing is known of it now.")]),
    );
  };
  select.addEventListener("change", () => {
    draft.device = select.value;
    sync();
  });
  sync();
  return field("GPU", select, {id: "job-device", hint: says, error: true});
}

/** One row: whether a kernel is measured, and what is predicted of it. */
function kernelRow(unit, sync) {
  const name = checkbox(unit.title, !draft.without.has(unit.id), (on) => {
    if (on) draft.without.delete(unit.id);
    else draft.without.add(unit.id);
    select.disabled = !on;
    sync();
  });
  const asks = element("span", {class: "asks"});
  const select = element(
    "select",
    {"aria-label": `Prediction for ${unit.title}`, "data-kernel": unit.id, disabled: draft.without.has(unit.id)},
    ...PREDICTIONS.map(([value, text]) => element("option", {value}, text)),
  );
  select.value = draft.predictions[unit.id] ?? "";
  select.addEventListener("change", () => {
    if (select.value) draft.predictions[unit.id] = select.value;
    else delete draft.predictions[unit.id];
    sync();
  });
  return {
    row: element("li", {}, name, asks, select),
    size: () => {
      asks.textContent = unit[draft.sizes] ? si(unit[draft.sizes].ask_bytes, "B") : "size follows the L2";
    },
  };
}

function kernelsField(kernels) {
  const summary = element("summary", {});
  const sync = () => {
    const measured = kernels.length - draft.without.size;
    const said = kernels.filter((unit) => !draft.without.has(unit.id) && draft.predictions[unit.id]).length;
    const share = measured === kernels.length ? `all ${measured}` : `${measured} of ${kernels.length}`;
    summary.textContent = `Kernels (${share}) and predictions (${said === 0 ? "none" : said})`;
  };
  const rows = kernels.map((unit) => kernelRow(unit, sync));
  sync();
  const size = () => {
    for (const row of rows) row.size();
  };
  size();
  const box = element(
    "details",
    {class: "kernels", open: draft.without.size > 0 || Object.keys(draft.predictions).length > 0},
    summary,
    element(
      "p",
      {class: "hint"},
      "A prediction is kept before anything is measured, and scored afterwards: will DRAM move ",
      element("strong", {}, "near"),
      " what the kernel asks for (0.85 to 1.15 of it), ",
      element("strong", {}, "above"),
      " (bytes that nobody asked for) or ",
      element("strong", {}, "below"),
      " (the caches serve the rest)? Held against it are the settled DRAM bytes, cold where that is measured. " +
        "Beside each kernel stand the bytes that it asks for.",
    ),
    element("ul", {class: "kernel-list"}, ...rows.map(({row}) => row)),
    errorOf("kernels"),
    errorOf("predictions"),
  );
  return {box, size};
}

function noteField() {
  const input = element("textarea", {rows: "2", dir: "auto"}, draft.note);
  const left = element("p", {class: "hint"});
  const sync = () => {
    const bytes = new TextEncoder().encode(draft.note).length;
    left.textContent =
      bytes > NOTE_BYTES * 0.75
        ? `${bytes} of ${NOTE_BYTES} bytes`
        : "Why this run was made, for whoever reads it later.";
  };
  input.addEventListener("input", () => {
    draft.note = input.value;
    sync();
  });
  sync();
  return field("Note", input, {id: "job-note", hint: left, error: true});
}

function labelField() {
  const input = element("input", {
    type: "text",
    maxlength: "64",
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
    value: draft.label,
  });
  input.addEventListener("input", () => {
    draft.label = input.value;
  });
  return field("Label", input, {
    id: "job-label",
    hint: "A commit, a version, a ticket: runs can be listed and compared by it.",
    error: true,
  });
}

/** Puts an error at the field that it names, or takes all away. */
function mark(form, error) {
  const name = error ? fieldOf(error) : null;
  for (const place of form.querySelectorAll('.error[id^="job-"]')) {
    say(place, place.id === `job-${name}-error` ? errorSentence(error) : null);
  }
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  if (name === null) return null;
  const kernel = /^predictions\.(\w+)/.exec(error.field)?.[1];
  const wanted = kernel
    ? [`select[data-kernel="${kernel}"]`]
    : [`#job-${name}`, `[aria-describedby~="job-${name}-error"] input`, ".kernels input"];
  const input = wanted.map((selector) => form.querySelector(selector)).find(Boolean);
  if (["kernels", "predictions"].includes(name)) form.querySelector(".kernels").open = true;
  input?.setAttribute("aria-invalid", "true");
  return input;
}

/**
 * Tells on the button for how long the daemon asked to wait; over() once it is over. The button is not disabled, which
 * would take the focus away.
 */
function holdBack(submit, seconds, signal, over) {
  const until = Date.now() + seconds * 1000;
  const tick = () => {
    if (signal.aborted) return;
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left <= 0) over();
    submit.textContent = left > 0 ? `Start verification (in ${withUnit(left, "s")})` : "Start verification";
    if (left > 0) setTimeout(tick, 250);
  };
  tick();
}

/**
 * Sends the filled form. Gives {job, replayed}; the same content goes under the same key until another form is begun.
 */
async function post(kernels, signal) {
  const body = bodyOf(
    draft,
    kernels.map((unit) => unit.id),
  );
  const text = JSON.stringify(body);
  if (sent?.text !== text) sent = {text, key: newKey()};
  const answer = await send("POST", "/api/v1/jobs", body, {"Idempotency-Key": sent.key}, {signal});
  return {job: answer.body, replayed: answer.headers.get("Idempotent-Replayed") === "true"};
}

function cacheField() {
  const box = (name) =>
    checkbox(name, draft[name], (on) => {
      draft[name] = on;
    });
  const choices = element(
    "fieldset",
    {class: "choices", "aria-describedby": "job-cache-error"},
    element("legend", {}, "Cache states"),
    box("warm"),
    box("cold"),
  );
  return element("div", {class: "field"}, choices, errorOf("cache"));
}

/** changed(): other sizes have been chosen. */
function sizesField(changed) {
  const choose = (value) => {
    draft.sizes = value;
    changed();
  };
  const choices = [
    ["course", "course"],
    ["scaled", "scaled"],
  ];
  return element(
    "div",
    {class: "field"},
    radios("Sizes", "job-sizes", choices, draft.sizes, choose, {"aria-describedby": "job-sizes-error"}),
    element("p", {class: "hint"}, "Scaled: streams of at least eight times the L2."),
    errorOf("sizes"),
  );
}

function howField() {
  const box = (words, name) =>
    checkbox(words, draft[name], (on) => {
      draft[name] = on;
    });
  return element(
    "div",
    {class: "field"},
    element(
      "div",
      {class: "choices", role: "group", "aria-label": "How"},
      box("count bytes by hardware", "counters"),
      box("start again once if the daemon or node dies", "retry"),
    ),
    errorOf("counters"),
    errorOf("on_interrupt"),
  );
}

/** A button that says by aria-disabled that it does nothing now: what is disabled loses the focus. */
function submitButton() {
  const node = element("button", {class: "primary", type: "submit"}, "Start verification");
  const now = {busy: false, held: false};
  return {
    node,
    isFree: () => !now.busy && !now.held,
    /** changes: {busy: a sending is under way} or {held: the daemon asked to wait}. */
    set(changes) {
      Object.assign(now, changes);
      if (now.busy || now.held) node.setAttribute("aria-disabled", "true");
      else node.removeAttribute("aria-disabled");
    },
  };
}

/** What is said once a form has been sent. another(): the next sending is a job of its own. */
function sentNotice(job, replayed, another) {
  const words = replayed
    ? `This form is job ${job.id} already, so no second one was started.`
    : `Sent as job ${job.id}.`;
  return notice(
    replayed ? null : "good",
    element("p", {}, words),
    element("p", {class: "buttons"}, button("Another with the same values", another)),
  );
}

/**
 * kernels, devices: of the API's lists; ready: of /readyz or null; shell; started(job, replayed): a job is there.
 * Returns the form in its section.
 */
export function jobForm({kernels, devices, ready, shell, started}) {
  const said = element("div", {class: "said", role: "status"});
  const submit = submitButton();
  const list = kernelsField(kernels);
  const form = element(
    "form",
    {class: "job-form", "aria-labelledby": "job-form-title", novalidate: true},
    deviceField(devices, ready),
    sizesField(() => list.size()),
    cacheField(),
    list.box,
    howField(),
    labelField(),
    noteField(),
    element("p", {class: "buttons"}, submit.node),
  );
  const another = () => {
    sent = null;
    said.replaceChildren(element("p", {class: "hint"}, "The next sending of this form is a job of its own."));
    submit.node.focus();
  };
  const failed = (error) => {
    replaceIn(said, unsent(error, go, "Sending it again is safe: it stays one job."));
    if (Number.isInteger(error.retryAfter)) {
      submit.set({held: true});
      holdBack(submit.node, error.retryAfter, shell.signal, () => submit.set({held: false}));
    }
    (mark(form, error) ?? said.querySelector("input"))?.focus();
  };
  const go = async () => {
    if (!submit.isFree()) return;
    mark(form, null);
    submit.set({busy: true});
    try {
      const {job, replayed} = await post(kernels, shell.signal);
      said.replaceChildren(sentNotice(job, replayed, another));
      started(job, replayed);
    } catch (error) {
      if (!shell.signal.aborted) failed(error);
    } finally {
      submit.set({busy: false});
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  const title = element("h2", {id: "job-form-title", tabindex: "-1"}, "Start a verification");
  // what was said stands outside, since a token's form may be in it
  return element("section", {class: "job-start"}, title, form, said);
}
