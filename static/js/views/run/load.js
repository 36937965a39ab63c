// A section of the run that loads by itself.
import {button} from "../../parts/controls.js";
import {refused} from "../../parts/refused.js";

/**
 * Calls load(), which fills the place and gives the control that changes what stands there; an error stands in the
 * place instead, with what tries again. again: whether the reader asked, and has the focus there afterwards.
 */
export async function loadInto(place, load, again = false) {
  try {
    const control = await load();
    if (again) control.focus();
  } catch (error) {
    if (error.name === "AbortError") return;
    const retry = () => loadInto(place, load, true);
    const anew = button("Try again", retry);
    place.replaceChildren(refused(error, retry), anew);
    if (again) (place.querySelector("input") ?? anew).focus();
  }
}
