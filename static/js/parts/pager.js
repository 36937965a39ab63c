// Lists that come in pages.
import {problem} from "./blocks.js";
import {button} from "./controls.js";
import {element} from "./dom.js";
import {upToHeading} from "./focus.js";

/**
 * The end of a list that comes in pages. load(cursor) shows the next page and gives the cursor after it (or null). An
 * error stands in the button's place, with the button. Returns an element; null when there is no more.
 */
export function pager(next, load, label = "Show more") {
  if (!next) return null;
  const place = element("div", {class: "pager"});
  let busy = false; // not disabled, which would take the focus away
  const more = button(label, async () => {
    if (busy) return;
    busy = true;
    more.setAttribute("aria-disabled", "true");
    try {
      next = await load(next);
      place.querySelector(".notice")?.remove();
      if (next) return;
      if (place.contains(document.activeElement)) upToHeading(place);
      place.remove();
    } catch (error) {
      if (error.name === "AbortError") return;
      place.querySelector(".notice")?.remove();
      place.append(problem(error));
    } finally {
      busy = false;
      more.removeAttribute("aria-disabled");
    }
  });
  place.append(more);
  return place;
}
