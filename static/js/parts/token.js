// The form that asks for a token.
import {dropToken, hasToken, isToken, setToken} from "./api.js";
import {button} from "./controls.js";
import {element} from "./dom.js";

let tokenForms = 0; // several may stand in one view

/**
 * Asks for a token and keeps it until the tab is closed; then calls done(), as it does once a token that was kept has
 * been given up.
 */
export function tokenForm(done) {
  const id = `token-${++tokenForms}`;
  const input = element("input", {
    type: "password",
    name: "token",
    autocomplete: "off",
    required: true,
    id,
    "aria-describedby": `${id}-error`,
  });
  const wrong = element("p", {class: "error", id: `${id}-error`, role: "alert", hidden: true});
  const form = element(
    "form",
    {class: "token"},
    element("label", {for: id}, "Token"),
    input,
    element("button", {class: "primary"}, "Use it"),
    hasToken()
      ? button("Go on without a token", () => {
          dropToken();
          done();
        })
      : null,
    wrong,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const token = input.value.trim();
    if (isToken(token)) {
      setToken(token);
      done();
      return;
    }
    wrong.textContent = "A token has English letters, digits and signs alone, and no space. Copy it again.";
    wrong.hidden = false;
    input.setAttribute("aria-invalid", "true");
    input.focus();
  });
  return form;
}
