// How the predictions of a job came out: the same words and table at the job and at its run.
import {captionOf, scrolling} from "./blocks.js";
import {element} from "./dom.js";
import {NONE, fixed} from "./format.js";
import {chip} from "./inline.js";

const HEADS = ["kernel", "cache", "said", "found", "DRAM/ask", "result"];

function result(item) {
  if (item.right !== null) return [item.right ? chip("right", "good") : chip("wrong", "bad")];
  return [chip("not scored"), ` ${item.why.right}`];
}

/**
 * Why the most wrong ones were wrong, in the sender's words, one block each. found: of GET
 * /api/v1/runs/{id}/predictions; title(kernel): its name in words.
 */
export const whyWrongTexts = (found, title) =>
  found.why_wrong.map(({kernel, text}) =>
    element(
      "div",
      {class: "why-wrong"},
      element("p", {}, "Why ", element("strong", {dir: "auto"}, title(kernel)), " was wrong:"),
      element("blockquote", {class: "note-text", dir: "auto"}, text),
    ),
  );

/**
 * found: of GET /api/v1/runs/{id}/predictions; title(kernel): its name in words. Below the kernel stands the cache
 * state too, for a page that has no room for its column. Gives the score in a sentence and the table in its region.
 */
export function predictionScores(found, title) {
  const words = (...children) => element("td", {class: "words"}, ...children);
  const row = (item) =>
    element(
      "tr",
      {},
      element(
        "th",
        {scope: "row", dir: "auto"},
        title(item.kernel),
        element("span", {class: "narrow-state"}, item.state),
      ),
      words(item.state),
      words(item.said),
      words(item.found ?? NONE),
      element("td", {}, fixed(item.dram_per_ask, 4)),
      words(...result(item)),
    );
  const left = found.predicted - found.scored;
  const furthest =
    found.most_wrong.length === 0
      ? ""
      : ` Furthest off: ${found.most_wrong.map((kernel) => `“${title(kernel)}”`).join(" and ")}.`;
  return [
    element(
      "p",
      {},
      `${found.right} of ${found.scored} right${left > 0 ? `; ${left} could not be scored` : ""}.${furthest}`,
    ),
    scrolling(
      "Table of predictions",
      element(
        "table",
        {},
        captionOf("DRAM over asked bytes; near is 0.85\u00a0to\u00a01.15"),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            ...HEADS.map((text) => element("th", {scope: "col", class: text === "DRAM/ask" ? null : "words"}, text)),
          ),
        ),
        element("tbody", {}, ...found.items.map(row)),
      ),
      {class: "scroll predicted"},
    ),
  ];
}
