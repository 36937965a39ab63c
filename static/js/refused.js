// What the API refuses inside of a view, in place: so that choosers and what has been written stay.
import {element} from "./dom.js";
import {problem, tokenForm} from "./parts.js";

/** An ApiError; where a token may help, with its form. again() asks for the same once more, and is called when a token has been given. */
export function refused(error, again) {
  const box = problem(error);
  if (error.status === 401 || error.status === 403) box.append(element("p", {}, error.status === 401 ? "With a token it goes on; it is kept until this tab is closed:" : "With a token that has the right it goes on; it is kept until this tab is closed:"), tokenForm(again));
  return box;
}
