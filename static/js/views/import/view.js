// Imports: the files of another measurement and what they do not say themselves become a run.
import {upload} from "../../parts/api.js";
import {definitions, notice} from "../../parts/blocks.js";
import {button, chooser, fault, field, radios} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {replaceIn} from "../../parts/focus.js";
import {errorSentence, percent, si, withUnit} from "../../parts/format.js";
import {bdi, runLink} from "../../parts/inline.js";
import {reasonsInWords} from "../../parts/outcome.js";
import {unsent} from "../../parts/refused.js";

export const css = "/css/jobs.css";

const FILE_BYTES = 16 * 1024 * 1024;
const LIMIT = withUnit(FILE_BYTES / 1024 / 1024, "MiB");

/** Ways to import, each with its files. */
const WAYS = [
  {
    name: "profile",
    title: "profiler and timings",
    files: [
      ["ncu", "Nsight Compute CSV", "Of ncu --csv, or of --page raw with one launch a row."],
      [
        "timings",
        "Timings",
        'Lines like {"kernel": "mine", "ms": 1.5}, roofline-measure --json, a PyTorch profiler trace (.json, ' +
          ".json.gz), nvbench's JSON, or CSV of nsys stats. With a counter CSV, times go beside its bytes.",
      ],
      ["power", "Power log", "Of nvidia-smi --query-gpu or dmon: average power and energy over its time."],
    ],
  },
  {
    name: "recording",
    title: "a recording",
    files: [["recording", "Recording", "Of roofline-measure --record; it is replayed through the engine."]],
  },
  {
    name: "record",
    title: "a published table",
    files: [["record", "Record", "A table as data, like deploy/records/t4.json; the date chooses its entry."]],
  },
];

const TEXTS = [
  ["device", "GPU", "Its name, or its UUID: by the UUID alone the run joins a GPU that was measured here.", "Tesla T4"],
  ["driver", "Driver", "Version, if known.", "560.35.03"],
  ["cuda", "CUDA", "Version, if known.", "12.6"],
  ["date", "Measured on", "A UTC day or a moment; needed where no file tells it.", "2026-09-01"],
  ["label", "Label", "A commit, a version, a ticket: runs can be listed and compared by it.", "3f2c91a"],
];
const CHOICES = [
  [
    "sizes",
    "Sizes",
    [
      ["", "as the files say"],
      ["course", "course"],
      ["scaled", "scaled"],
      ["other", "other"],
    ],
  ],
  [
    "cache",
    "The profiler's launches",
    [
      ["", "as the file says"],
      ["cold", "cold (the profiler's default)"],
      ["warm", "warm (--cache-control none)"],
    ],
  ],
  [
    "times",
    "Plain timings",
    [
      ["", "warm, of a loop"],
      ["warm", "warm"],
      ["cold", "cold"],
    ],
  ],
  [
    "partial",
    "Timings without a launch",
    [
      ["", "refuse them"],
      ["true", "leave them out, by name"],
    ],
  ],
];
const WINDOW = [
  ["since", "Power from", "By the log's own clock; without it from the log's beginning.", "2026-09-01 12:00:00"],
  ["until", "Power until", "Likewise; without it to the log's end.", "2026-09-01 12:00:30"],
  ["power_gpu", "GPU of the power log", "Index, UUID or bus id, where the log has several.", "0"],
];

const fieldOf = (name, label, input, hint = null) => field(label, input, {id: `import-${name}`, hint, error: true});
const textField = ([name, label, hint, placeholder]) =>
  fieldOf(
    name,
    label,
    element("input", {type: "text", name, placeholder, autocomplete: "off", spellcheck: "false", dir: "auto"}),
    hint,
  );
const choiceField = ([name, label, options]) => fieldOf(name, label, chooser(name, options));

/** The form's fields; files of a way that is not chosen are disabled, so that they are not sent. */
function fields(sizeWrong) {
  const groups = new Map(
    WAYS.map((way) => [
      way.name,
      element(
        "fieldset",
        {class: "way", "aria-label": way.title},
        ...way.files.map(([name, label, hint]) => {
          const input = element("input", {type: "file", name});
          input.addEventListener("change", () =>
            sizeWrong(
              name,
              input.files[0]?.size > FILE_BYTES
                ? `${si(input.files[0].size, "B")} is more than the ${LIMIT} that a file may have.`
                : null,
            ),
          );
          return fieldOf(name, label, input, hint);
        }),
      ),
    ]),
  );
  const choose = (chosen) => {
    for (const [name, group] of groups) {
      group.hidden = name !== chosen;
      group.disabled = name !== chosen;
    }
  };
  const [first] = WAYS;
  const ways = radios(
    "What is imported",
    "way",
    WAYS.map(({name, title}) => [name, title]),
    first.name,
    choose,
  );
  choose(first.name);
  return [
    ways,
    ...groups.values(),
    element("div", {class: "import-texts"}, ...TEXTS.map(textField)),
    element(
      "details",
      {class: "kernels"},
      element("summary", {}, "Sizes and cache states"),
      element("div", {class: "import-texts"}, ...CHOICES.map(choiceField), ...WINDOW.map(textField)),
    ),
  ];
}

/** What is sent: the chosen files, and fields that say something. */
function content(form) {
  const made = new FormData();
  for (const input of form.querySelectorAll("input[type=file]")) {
    if (!input.matches(":disabled") && input.files[0]) made.append(input.name, input.files[0]);
  }
  for (const input of form.querySelectorAll("input[type=text], select")) {
    if (input.value.trim() !== "") made.append(input.name, input.value.trim());
  }
  return made;
}

/** Puts a message at the field of that name. Gives its control, or null when there is none. */
function mark(form, name, message) {
  const input = [...form.elements].find((control) => control.name === name && control.id);
  if (!input) return null;
  fault(input, message);
  if (message && input.closest("details")) input.closest("details").open = true;
  return input;
}

function clear(form) {
  for (const input of form.querySelectorAll("[aria-invalid]")) mark(form, input.name, null);
}

/** The run that came of it. */
function result(run, isNew, isWithdrawn, shell) {
  const words = isNew
    ? ["Imported as ", runLink(shell, run), "."]
    : [
        "The same files were imported before, with fields that come to the same: they are ",
        runLink(shell, run),
        ". Nothing was stored a second time.",
      ];
  const files = run.import?.files ?? [];
  return [
    notice(isNew ? "good" : "info", element("p", {}, ...words)),
    isWithdrawn
      ? notice(
          null,
          element(
            "p",
            {},
            "That run is withdrawn: lists, history, trends and comparisons leave it out. Its page says why.",
          ),
        )
      : null,
    run.outcome === "ok" ? null : notice(null, element("p", {}, `The run is ${run.outcome}: ${reasonsInWords(run)}.`)),
    definitions([
      ["GPU", bdi(run.device.name)],
      ...(!run.label ? [] : [["label", bdi(run.label)]]),
      ["kernels", String(run.kernels.length)],
      ...files.map((file) => [file.kind, `${file.format}, ${si(file.bytes, "B")}`]),
    ]),
    (run.import?.notes ?? []).length === 0
      ? null
      : element("ul", {class: "import-notes"}, ...run.import.notes.map((text) => element("li", {}, bdi(text)))),
    element(
      "p",
      {class: "buttons"},
      element("a", {class: "button", href: shell.link("run", {run: run.id})}, "Show the run"),
    ),
  ].filter(Boolean);
}

/** Sends the form and shows how far it is. Gives go(). */
function sender(form, submit, said, shell) {
  let running = null;
  const bar = element("progress", {max: "1", "aria-label": "Progress of the upload"});
  const phase = element("p", {class: "phase"});
  const stop = button("Stop", () => running?.abort());
  const told = (share) => {
    if (share < 1) bar.value = share;
    else bar.removeAttribute("value");
    const text =
      share < 1
        ? `Sending: ${percent(Math.floor(100 * share), 0)}`
        : "Sent. The files are being read, which may take half a minute.";
    if (phase.textContent !== text) phase.textContent = text;
  };
  shell.signal.addEventListener("abort", () => running?.abort());
  const go = async () => {
    if (running) return;
    clear(form);
    running = new AbortController();
    submit.setAttribute("aria-disabled", "true");
    told(0);
    replaceIn(said, bar, phase, element("p", {class: "buttons"}, stop));
    try {
      const {status, body, withdrawn} = await upload("/api/v1/imports", content(form), told, {signal: running.signal});
      replaceIn(said, ...result(body, status === 201, withdrawn, shell));
    } catch (error) {
      if (shell.signal.aborted) return;
      if (error.name === "AbortError") replaceIn(said, notice(null, element("p", {}, "Stopped. Nothing was stored.")));
      else {
        replaceIn(said, unsent(error, go));
        (mark(form, error.field, error.message && errorSentence(error)) ?? said.querySelector("input"))?.focus();
      }
    } finally {
      running = null;
      submit.removeAttribute("aria-disabled");
    }
  };
  return go;
}

/** How the files are made. */
function help() {
  const command = (label, text) =>
    element("pre", {class: "command", tabindex: "0", role: "region", "aria-label": label}, text);
  return element(
    "section",
    {class: "import-help", "aria-labelledby": "import-help-title"},
    element("h2", {id: "import-help-title"}, "How to make the files"),
    element("p", {}, "Bytes, as Nsight Compute counts them:"),
    command(
      "Command of the profiler",
      "ncu --csv --page raw --metrics " +
        "dram__bytes_read.sum,dram__bytes_write.sum,l1tex__t_bytes.sum,lts__t_bytes.sum ./program > bytes.csv",
    ),
    element(
      "p",
      {},
      "Times of the program without the profiler, a line a kernel; its name finds its launches in the CSV:",
    ),
    command(
      "Lines of a timings file",
      '{"kernel": "mine", "ms": 1.5, "flop": 1000, "ask_bytes": 4000}\n{"ceiling": "dram_copy", "byte_per_s": 2.0e12}',
    ),
    element("p", {}, "The same, by the measuring program itself:"),
    command(
      "Commands of the measuring program",
      "roofline-measure --json > times.jsonl\nroofline-measure --record recording.jsonl",
    ),
    element(
      "p",
      {class: "reason"},
      `A file may have ${LIMIT}. The bytes of a launch under the profiler are those of cold caches, unless it was ` +
        "told otherwise.",
    ),
  );
}

export async function show(root, _params, shell) {
  const said = element("div", {class: "said", role: "status"});
  const submit = element("button", {class: "primary", type: "submit"}, "Import");
  const form = element(
    "form",
    {class: "job-form", "aria-label": "Import", novalidate: true},
    ...fields((name, message) => mark(form, name, message)),
    element("p", {class: "buttons"}, submit),
  );
  const go = sender(form, submit, said, shell);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  root.replaceChildren(
    element(
      "header",
      {class: "jobs-head"},
      element("h1", {}, "Import"),
      element("a", {href: shell.link("jobs")}, "Measure here instead"),
    ),
    element(
      "p",
      {class: "lead"},
      "Figures that another measurement left become a run, marked as imported: bytes of a profiler beside times of " +
        "a program, a recording, or a published table. What is missing stays missing; it is never a zero.",
    ),
    element(
      "div",
      {class: "import"},
      element("section", {class: "job-start", "aria-label": "Files and fields"}, form),
      element("div", {class: "import-side"}, said, help()),
    ),
  );
}
