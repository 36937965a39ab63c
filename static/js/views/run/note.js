// A run's note: what people said about it, and the changes that it accepts. The only thing about a run that can change.
import {STATES, kernelTitle} from "../../chart/model.js";
import * as api from "../../parts/api.js";
import {notice} from "../../parts/blocks.js";
import {button, checkbox, field} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {bdi, moment} from "../../parts/inline.js";
import {refused} from "../../parts/refused.js";
import {loadInto} from "./load.js";
import {section} from "./report.js";

const path = (run) => `/api/v1/runs/${encodeURIComponent(run.id)}/note`;
const rowId = (a) => JSON.stringify([a.kernel, a.state]);

function acceptedList(run, accepted) {
  if (accepted.length === 0) return null;
  return element(
    "div",
    {},
    element("h3", {}, "Accepted changes"),
    element("p", {class: "reason"}, "From this run on these rows are what their trend is held against."),
    element(
      "ul",
      {class: "plain"},
      ...accepted.map((a) => element("li", {dir: "auto"}, `${kernelTitle(run, a.kernel)}, ${a.state}`)),
    ),
  );
}

/** Checkboxes for every row of the run, and for what is accepted already and is no row. */
function acceptChoices(run, accepted) {
  const on = new Set(accepted.map(rowId));
  const rows = run.kernels.flatMap((row) =>
    STATES.filter((state) => row[state]).map((state) => ({kernel: row.kernel, state, title: `${row.title}, ${state}`})),
  );
  const known = new Set(rows.map(rowId));
  const more = accepted.filter((a) => !known.has(rowId(a))).map((a) => ({...a, title: `${a.kernel}, ${a.state}`}));
  const boxes = [...rows, ...more].map((row) => ({row, label: checkbox(bdi(row.title), on.has(rowId(row)))}));
  return {
    element: element(
      "details",
      {open: accepted.length > 0},
      element("summary", {}, "Accept changes of rows as the new baseline"),
      element(
        "fieldset",
        {class: "choices columns"},
        element("legend", {}, "Rows whose change is meant"),
        ...boxes.map(({label}) => label),
      ),
    ),
    value: () => boxes.filter(({label}) => label.control.checked).map(({row: {kernel, state}}) => ({kernel, state})),
  };
}

/** The rows that others accept, with what the reader ticked and unticked since both began with the same. */
function merged(before, mine, theirs) {
  const [old, kept, there] = [before, mine, theirs].map((rows) => new Set(rows.map(rowId)));
  return [
    ...theirs.filter((a) => kept.has(rowId(a)) || !old.has(rowId(a))),
    ...mine.filter((a) => !old.has(rowId(a)) && !there.has(rowId(a))),
  ];
}

/** The note as it stands, above edit, the button that changes it. */
function noteAsRead(run, body, edit) {
  return [
    body.text === ""
      ? element("p", {class: "hint"}, "Nobody wrote a note about this run.")
      : element("blockquote", {class: "note-text", dir: "auto"}, body.text),
    body.version === 0
      ? null
      : element(
          "p",
          {class: "reason"},
          "By ",
          element("bdi", {dir: "auto"}, body.principal ?? `somebody (${body.why.principal})`),
          ", ",
          moment(body.changed_at),
          `, version ${body.version}.`,
        ),
    acceptedList(run, body.accepted),
    edit,
  ].filter(Boolean);
}

/**
 * The form that changes a note. draft: {text, accepted} to begin with; above: nodes over it. save() writes what value()
 * gives, {text, accepted} as it is then; cancel() leaves the form. Gives {nodes, value(), refuse(error), focus()}.
 */
function noteForm(run, draft, above, {save, cancel}) {
  const text = element("textarea", {rows: "4", maxlength: "4096", dir: "auto"});
  text.value = draft.text;
  const accept = acceptChoices(run, draft.accepted);
  const failed = element("div", {});
  const send = element("button", {class: "primary"}, "Save");
  const form = element(
    "form",
    {class: "note-form"},
    ...above,
    field("Note, at most 4096 bytes", text, {id: "note-text"}),
    accept.element,
    element("div", {class: "buttons"}, send, button("Cancel", cancel)),
  );
  let busy = false; // not disabled, which would take the focus away
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    send.setAttribute("aria-disabled", "true");
    try {
      await save();
    } finally {
      busy = false;
      send.removeAttribute("aria-disabled");
    }
  });
  return {
    nodes: [form, failed], // a refusal may bring a form of its own, which no form may hold
    value: () => ({text: text.value, accepted: accept.value()}),
    refuse(error) {
      failed.replaceChildren(
        refused(error, () => {
          failed.replaceChildren();
          send.focus();
          form.requestSubmit();
        }),
      );
      failed.querySelector("input")?.focus();
    },
    focus: () => text.focus(),
  };
}

/** The section; it loads by itself. */
export function note(run, shell) {
  const place = element("div", {id: "note-body"}, element("p", {class: "loading"}, "Loading the note …"));

  const read = ({body, etag}) => {
    const edit = button(body.version === 0 ? "Write a note" : "Edit", () => write({body, etag}));
    place.replaceChildren(...noteAsRead(run, body, edit));
    return edit;
  };

  const write = ({body, etag}, draft = body, ...above) => {
    const save = async () => {
      try {
        const answer = await api.send("PUT", path(run), form.value(), {"If-Match": etag}, shell);
        read({body: answer.body, etag: answer.etag}).focus();
      } catch (error) {
        if (error.name === "AbortError") return;
        if (error.status === 412) await meanwhile(form, body.accepted);
        else form.refuse(error);
      }
    };
    const form = noteForm(run, draft, above, {save, cancel: () => read({body, etag}).focus()});
    place.replaceChildren(...form.nodes);
    form.focus();
  };

  /**
   * Somebody else wrote: their note is shown beside the draft in the form, which is not lost. before: the rows accepted
   * when the draft began.
   */
  const meanwhile = async (form, before) => {
    const draft = form.value();
    try {
      const theirs = await api.getTagged(path(run), shell);
      write(
        theirs,
        {text: draft.text, accepted: merged(before, draft.accepted, theirs.body.accepted)},
        notice(
          null,
          element(
            "p",
            {},
            "Somebody else wrote this note meanwhile. Below is your text still; saving it replaces theirs. The " +
              "ticks are theirs with what you changed:",
          ),
          element("blockquote", {class: "note-text", dir: "auto"}, theirs.body.text),
        ),
      );
    } catch (error) {
      if (error.name !== "AbortError") form.refuse(error);
    }
  };

  loadInto(place, async () => read(await api.getTagged(path(run), shell)));
  return section("note", "Note", place);
}
