// Whether a run is withdrawn: said at its head with the reason, changed by who may, and each time that it was is kept.
import * as api from "../../parts/api.js";
import {notice} from "../../parts/blocks.js";
import {button, field} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {bdi, moment} from "../../parts/inline.js";
import {who} from "../../parts/job.js";
import {refused} from "../../parts/refused.js";
import {loadInto} from "./load.js";
import {section} from "./report.js";

const REASON_CHARACTERS = 512;
const path = (run) => `/api/v1/runs/${encodeURIComponent(run.id)}/withdraw`;

/** One time that it was withdrawn, as a line of the list. */
function entry({reason, principal, at, back_at: backAt, back_principal: backBy}) {
  const back = backAt === null ? [] : ["; taken back by ", bdi(who(backBy)), ", ", moment(backAt)];
  return element(
    "li",
    {},
    "Withdrawn by ",
    bdi(who(principal)),
    ", ",
    moment(at),
    ...back,
    ":",
    element("blockquote", {class: "note-text", dir: "auto"}, reason),
  );
}

/** The form that withdraws. send(reason) does it; leave() closes the form. Gives {nodes, refuse(error), focus()}. */
function reasonForm(send, leave) {
  const text = element("textarea", {rows: "2", maxlength: String(REASON_CHARACTERS), dir: "auto", required: true});
  const failed = element("div", {});
  const go = element("button", {class: "primary"}, "Withdraw");
  const form = element(
    "form",
    {class: "note-form"},
    field(`Reason, at most ${REASON_CHARACTERS} characters`, text, {
      id: "withdraw-reason",
      hint: "Whoever looks for the run later will read it.",
    }),
    element("div", {class: "buttons"}, go, button("Cancel", leave)),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(text.value);
  });
  return {
    nodes: [form, failed],
    refuse(error) {
      failed.replaceChildren(
        refused(error, () => {
          failed.replaceChildren();
          send(text.value);
        }),
      );
      (failed.querySelector("input") ?? go).focus();
    },
    focus: () => text.focus(),
  };
}

/** What stands at the head of a withdrawn run. */
const withdrawnNotice = (reason) =>
  notice(
    null,
    element("p", {}, element("strong", {}, "This run is withdrawn: "), bdi(reason)),
    element(
      "p",
      {},
      "Lists, history, trends and comparisons leave it out. It can still be read, and compared where it is named.",
    ),
  );

/** What withdrawing a run means, and taking it back. */
const hint = (withdrawn) =>
  withdrawn
    ? "Lists, history, trends and comparisons leave this run out until that is taken back."
    : "A run that should not count, for example because something was wrong with the machine, can be withdrawn: " +
      "lists, history, trends and comparisons then leave it out. Nothing of it is lost, and it can be taken back.";

/** {notice, section}: the first stands at the head of the run while it is withdrawn; they load by themselves. */
export function withdrawal(run, shell) {
  const place = element("div", {id: "withdraw-body"}, element("p", {class: "loading"}, "Loading …"));
  const top = element("div", {id: "withdrawn-notice"});
  let busy = false; // one request at a time

  const ask = async (method, body, failed) => {
    if (busy) return;
    busy = true;
    try {
      read((await api.send(method, path(run), body, {}, shell)).body).focus();
    } catch (error) {
      if (error.name !== "AbortError") failed(error);
    } finally {
      busy = false;
    }
  };

  const read = (answer) => {
    const {withdrawn, log} = answer;
    const failed = element("div", {});
    const refuse = (error) => {
      failed.replaceChildren(refused(error, back));
      (failed.querySelector("input") ?? change).focus();
    };
    const back = () => ask("DELETE", null, refuse);
    const change = withdrawn ? button("Take back", back) : button("Withdraw this run", () => write(answer));
    top.replaceChildren(...(withdrawn ? [withdrawnNotice(log.at(-1).reason)] : []));
    place.replaceChildren(
      element("p", {class: "hint"}, hint(withdrawn)),
      change,
      failed,
      ...(log.length === 0 ? [] : [element("ul", {class: "plain withdrawals"}, ...log.toReversed().map(entry))]),
    );
    return change;
  };

  const write = (answer) => {
    const form = reasonForm(
      (reason) => ask("POST", {reason}, form.refuse),
      () => read(answer).focus(),
    );
    place.replaceChildren(...form.nodes);
    form.focus();
  };

  loadInto(place, async () => read(await api.get(path(run), shell)));
  return {notice: top, section: section("withdraw", "Withdraw", place)};
}
