// The choices above the chart: level, cache state, the run laid over, and what can be taken away: a link, pictures,
// data.
import {LEVELS} from "../../chart/model.js";
import * as api from "../../parts/api.js";
import {button, field, radios} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {download} from "../../parts/download.js";
import {day} from "../../parts/format.js";
import {refused} from "../../parts/refused.js";
import {png, standalone, svgText} from "./export.js";

const MOST = 50;

export const levels = (value, set) =>
  radios(
    "Bytes counted at",
    "level",
    LEVELS.map(({id, name}) => [id, name]),
    value,
    set,
    {id: "levels"},
  );
export const states = (all, value, set) =>
  radios(
    "Cache",
    "state",
    all.map((name) => [name, name]),
    value,
    set,
    {id: "states"},
  );

const word = (run) =>
  `${run.id}: ${run.sizes}${run.source === "measured" ? "" : `, ${run.source}`}, ${day(run.date)}, ` +
  `${run.driver ?? "driver not known"}, ${run.device.name}`;

/**
 * The choice of a run to lay over. over: its id or null; set(id or null). fill() asks the daemon for recent runs and
 * gives them; show(id or null): the one that is laid over.
 */
export function overlay(run, over, set, shell) {
  const select = element("select", {});
  const put = (...groups) => {
    select.replaceChildren(element("option", {value: ""}, "none"), ...groups);
    select.value = over ?? "";
  };
  const option = (value, text) => element("option", {value}, text);
  put(...(over ? [option(over, `run ${over}`)] : []));
  select.addEventListener("change", () => set(select.value || null));
  const fill = async () => {
    const {items} = await api.get(api.address("/api/v1/runs", {limit: MOST, source: "any"}), shell);
    const others = items.filter(({id}) => id !== run.id);
    const same = others.filter(({device}) => device.id === run.device.id);
    const rest = others.filter(({device}) => device.id !== run.device.id);
    const group = (label, runs) =>
      runs.length === 0 ? [] : [element("optgroup", {label}, ...runs.map((r) => option(r.id, word(r))))];
    over = select.value || null;
    put(
      ...(over && !others.some(({id}) => id === over) ? [option(over, `run ${over}`)] : []),
      ...group("this device", same),
      ...group("other devices", rest),
    );
    return items;
  };
  const made = field("Lay another run over it", select, {id: "over"});
  made.classList.add("over");
  return {
    element: made,
    fill,
    show: (id) => {
      select.value = id ?? "";
    },
  };
}

/** Copies a text; where the browser does not let the page, shows it for copying by hand. */
async function copy(text, place) {
  try {
    await navigator.clipboard.writeText(text);
    place.replaceChildren(element("span", {}, "Link copied."));
  } catch {
    const input = element("input", {type: "text", readonly: true, value: text, "aria-label": "Link to this view"});
    place.replaceChildren(input);
    input.select();
  }
}

/** A button that does work() and says in the place how that failed. */
function attempt(place, what, work) {
  const go = async () => {
    if (place.contains(document.activeElement)) made.focus();
    place.replaceChildren();
    try {
      await work();
    } catch (error) {
      if (error.name === "AbortError") return;
      place.replaceChildren(refused(error, go));
      place.querySelector("input")?.focus();
    }
  };
  const made = button(what, go);
  return made;
}

/** The choice of what pictures are drawn on; chosen(): "light" or "dark". */
function groundChoice() {
  const ground = radios(
    "Ground of pictures",
    "ground",
    [
      ["light", "white"],
      ["dark", "dark"],
    ],
    matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    () => {},
    {id: "ground"},
  );
  return {ground, chosen: () => ground.querySelector("input:checked").value};
}

function downloadMenu(...children) {
  const menu = element(
    "details",
    {class: "menu"},
    element("summary", {class: "button"}, "Download"),
    element("div", {class: "menu-body"}, ...children),
  );
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  return menu;
}

/**
 * "Copy link" and the downloads. of: {link() → address, run, picture() → {svg, title, lines, kernels}, name() → file
 * name without ending}.
 */
export function takeaway({link, run, picture, name}) {
  const said = element("div", {class: "said", role: "status"});
  const {ground, chosen} = groundChoice();
  const drawn = () => {
    const {svg, ...words} = picture();
    return standalone(svg, {ground: chosen(), ...words});
  };
  const path = `/api/v1/runs/${encodeURIComponent(run.id)}`;
  const menu = downloadMenu(
    ground,
    element(
      "div",
      {class: "buttons"},
      attempt(said, "PNG", async () => download(`${name()}.png`, await png(drawn()))),
      attempt(said, "SVG", async () => download(`${name()}.svg`, svgText(drawn()), "image/svg+xml")),
    ),
    element("p", {class: "hint"}, "The whole run, with all states:"),
    element(
      "div",
      {class: "buttons"},
      attempt(said, "CSV", async () => download(`${name()}.csv`, await api.getText(`${path}.csv`), "text/csv")),
      attempt(said, "JSON", async () => download(`${name()}.json`, await api.getText(path), "application/json")),
    ),
  );
  const copyLink = button("Copy link", () => copy(link(), said));
  return element("div", {class: "takeaway"}, element("div", {class: "buttons"}, copyLink, menu), said);
}
