// Why the most wrong predictions of a run were wrong: its sender's own words, kept with the score.
import {kernelTitle} from "../../chart/model.js";
import * as api from "../../parts/api.js";
import {notice} from "../../parts/blocks.js";
import {button, field} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {bdi, moment} from "../../parts/inline.js";
import {who} from "../../parts/job.js";
import {whyWrongTexts} from "../../parts/predictions.js";
import {refused} from "../../parts/refused.js";

const MOST_CHARACTERS = 1024;
const path = (run) => `/api/v1/runs/${encodeURIComponent(run.id)}/predictions`;
const textsOf = ({why_wrong: said}) => Object.fromEntries(said.map(({kernel, text}) => [kernel, text]));

/**
 * A text for each of the most wrong. drafts: by kernel. save(texts), cancel(). Gives {nodes, value(), refuse(error),
 * focus()}.
 */
function whyForm(run, body, drafts, above, {save, cancel}) {
  const inputs = body.most_wrong.map((kernel, i) => {
    const text = element("textarea", {rows: "3", maxlength: String(MOST_CHARACTERS), dir: "auto"});
    text.value = drafts[kernel] ?? "";
    return {
      kernel,
      text,
      node: field(`Why “${kernelTitle(run, kernel)}” was wrong, at most ${MOST_CHARACTERS} characters`, text, {
        id: `why-wrong-${i}`,
      }),
    };
  });
  const failed = element("div", {});
  const send = element("button", {class: "primary"}, "Save");
  const form = element(
    "form",
    {class: "note-form"},
    ...above,
    ...inputs.map(({node}) => node),
    element("div", {class: "buttons"}, send, button("Cancel", cancel)),
  );
  let busy = false; // not disabled, which would take the focus away
  const go = async () => {
    if (busy) return;
    busy = true;
    try {
      await save();
    } finally {
      busy = false;
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  return {
    nodes: [form, failed],
    value: () =>
      Object.fromEntries(
        inputs.filter(({text}) => text.value.trim() !== "").map(({kernel, text}) => [kernel, text.value]),
      ),
    refuse(error) {
      failed.replaceChildren(
        refused(error, () => {
          failed.replaceChildren();
          go();
        }),
      );
      (failed.querySelector("input") ?? send).focus();
    },
    focus: () => inputs[0].text.focus(),
  };
}

/** tagged: the predictions as getTagged gives them. The element below the score; null where no prediction was wrong. */
export function whyWrong(run, tagged, shell) {
  if (tagged.body.most_wrong.length === 0) return null;
  const place = element("div", {id: "why-wrong"});

  const read = (now) => {
    const {body} = now;
    const edit = button(body.why_wrong.length === 0 ? "Say why they were wrong" : "Edit", () =>
      write(now, textsOf(body)),
    );
    const by =
      body.version === 0
        ? []
        : [element("p", {class: "reason"}, "By ", bdi(who(body.principal)), ", ", moment(body.changed_at), ".")];
    place.replaceChildren(...whyWrongTexts(body, (kernel) => kernelTitle(run, kernel)), ...by, edit);
    return edit;
  };

  const write = (now, drafts, ...above) => {
    const save = async () => {
      try {
        const {body, etag} = await api.send("PUT", path(run), {why_wrong: form.value()}, {"If-Match": now.etag}, shell);
        read({body, etag}).focus();
      } catch (error) {
        if (error.name === "AbortError") return;
        if (error.status === 412) await meanwhile(form);
        else form.refuse(error);
      }
    };
    const form = whyForm(run, now.body, drafts, above, {save, cancel: () => read(now).focus()});
    place.replaceChildren(...form.nodes);
    form.focus();
  };

  /** Somebody else wrote: their words are shown above the draft, which is not lost. */
  const meanwhile = async (form) => {
    const drafts = form.value();
    try {
      const theirs = await api.getTagged(path(run), shell);
      write(
        theirs,
        drafts,
        notice(
          null,
          element(
            "p",
            {},
            "Somebody else wrote this meanwhile. Below are your words still; saving them replaces theirs:",
          ),
          ...whyWrongTexts(theirs.body, (kernel) => kernelTitle(run, kernel)),
        ),
      );
    } catch (error) {
      if (error.name !== "AbortError") form.refuse(error);
    }
  };
  read(tagged);
  return place;
}
