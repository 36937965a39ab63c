// All runs that fit the filters as a file. The page asks for it itself: a plain link would go without the token.
import * as api from "../../parts/api.js";
import {button} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {download} from "../../parts/download.js";
import {replaceIn} from "../../parts/focus.js";
import {si} from "../../parts/format.js";
import {refused} from "../../parts/refused.js";

const KINDS = [
  ["csv", "CSV"],
  ["json", "JSON"],
];

/** filter: the filters as the API has them. Gives {buttons, said}: said is where it is told how it went. */
export function exports(shell, filter) {
  const said = element("div", {class: "export-said", role: "status"});
  let running = false;
  const take = async (kind) => {
    if (running) return;
    running = true;
    const name = `rooflined-runs.${kind}`;
    replaceIn(said, element("p", {class: "hint"}, `Reading all runs that fit the filters for ${name} …`));
    try {
      const file = await api.getBlob(api.address(`/api/v1/runs.${kind}`, filter), shell);
      if (shell.signal.aborted) return;
      download(name, file);
      replaceIn(said, element("p", {class: "hint"}, `Saved as ${name}, ${si(file.size, "B")}.`));
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof api.ApiError)) throw error;
      const box = refused(error, () => take(kind));
      box.prepend(element("p", {}, element("strong", {}, `${name} was not saved.`)));
      replaceIn(said, box);
      said.querySelector("input")?.focus();
    } finally {
      running = false;
    }
  };
  return {
    said,
    buttons: element(
      "div",
      {class: "buttons exports", role: "group", "aria-label": "All runs that fit the filters, as a file"},
      element("span", {class: "hint"}, "All runs that fit the filters:"),
      ...KINDS.map(([kind, text]) => button(text, () => take(kind))),
    ),
  };
}
