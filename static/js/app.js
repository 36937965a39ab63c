// The frame: shows the view that the address names, its navigation, and what is wrong when it cannot be shown.
import {ApiError, place} from "./parts/api.js";
import {button} from "./parts/controls.js";
import {byId, element} from "./parts/dom.js";
import {errorSentence, sentence} from "./parts/format.js";
import {moment} from "./parts/inline.js";
import {tokenForm} from "./parts/token.js";
import {VIEWS} from "./views.js";

const RELOAD = "Reload the page.";
const WRITE_MS = 250;
const [FIRST] = VIEWS;
const sheets = new Map(); // by address: {sheet: its link, loaded}
let worn = null; // the address of the one that holds
let current = null; // {entry, controller, root, redraw}

// The view and all of its state stand in the fragment, #view=trend&kernel=…: a link restores it, and the daemon never
// sees it.
const parameters = () => new URLSearchParams(location.hash.slice(1));

/** The address of a view in a state; members that are null, undefined or empty are left out. */
function link(view, state = {}) {
  const all = new URLSearchParams(view === FIRST.name ? {} : {view});
  for (const [name, value] of Object.entries(state)) {
    if (value !== null && value !== undefined && value !== "") all.set(name, value);
  }
  return `#${all}`;
}

function setParameters(changes) {
  const all = parameters();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") all.delete(name);
    else all.set(name, value);
  }
  history.replaceState(null, "", `#${all}`);
}

/** Loads a view's stylesheet once; a sheet that does not come leaves a plain view, not none. */
function stylesheet(href) {
  if (!sheets.has(href)) {
    const sheet = element("link", {rel: "stylesheet", href: place(href)});
    const loaded = new Promise((resolve) => {
      sheet.addEventListener("load", () => {
        sheet.sheet.disabled = href !== worn; // it may come when its view has been left
        resolve();
      });
      sheet.addEventListener("error", () => {
        sheets.delete(href);
        sheet.remove();
        resolve();
      });
    });
    sheets.set(href, {sheet, loaded});
    document.head.append(sheet);
  }
  return sheets.get(href).loaded;
}

/**
 * Puts on the sheet of one view alone: views have classes in common, and the rules of the one before would hold in the
 * next.
 */
function wear(href) {
  worn = href;
  // not by the link's attribute, which would load it anew
  for (const [of, {sheet}] of sheets) if (sheet.sheet) sheet.sheet.disabled = of !== href;
  return href === null ? null : stylesheet(href);
}

function say(...children) {
  byId("message").replaceChildren(...(children.length === 0 ? [] : [element("div", {class: "card"}, ...children)]));
}

function askToken(error) {
  say(
    element("h1", {tabindex: "-1"}, "A token is needed"),
    element("p", {}, errorSentence(error)),
    element("p", {}, "The one that you give here is kept until this tab is closed."),
    tokenForm(() => route({moved: true})),
  );
}

function fail(entry, error) {
  document.title = `${entry.nav} · rooflined`;
  if (error.status === 401) {
    askToken(error);
    return;
  }
  const title = `${entry.what[0].toUpperCase()}${entry.what.slice(1)} cannot be shown`;
  say(
    element("h1", {tabindex: "-1"}, title),
    element("p", {}, errorSentence(error)),
    error.nextAction ? element("p", {}, sentence(error.nextAction)) : null,
    error.code ? element("p", {class: "code"}, error.code) : null,
    button("Try again", () => route({moved: true})),
  );
}

/** What went wrong, as the API would say it: a defect of the page itself is told too, not swallowed. */
function asApiError(error) {
  if (error instanceof ApiError) return error;
  if (error instanceof TypeError && /import|module/i.test(error.message)) {
    return new ApiError({code: "unreachable", message: "The daemon does not answer.", next_action: RELOAD}, 0);
  }
  console.error(error);
  return new ApiError({code: "page", message: `The page failed: ${error.message}`, next_action: RELOAD}, 0);
}

/**
 * Says once, over the view's lower edge so that nothing moves, that what stands there is no longer kept up to date.
 * since: when it last was; again(): asks at once.
 */
function stale(error, since, again) {
  const place = byId("stale");
  if (!place.hidden) return;
  place.replaceChildren(
    element(
      "p",
      {},
      `${errorSentence(error)} What stands here is as of `,
      moment(since.toISOString()),
      element("span", {class: "on-screen"}, "; the page keeps trying"),
      ".",
    ),
    element("p", {class: "buttons"}, button("Try now", again)),
  );
  place.hidden = false;
}

/** Takes back what was said; a reader whose focus was in there goes on from the content. */
function hush(place) {
  const focused = place.contains(document.activeElement);
  place.hidden = true;
  if (focused) byId("main").focus({preventScroll: true});
}

/** Says something about the view without moving it; without children, takes it back. */
function tell(...children) {
  const place = byId("told");
  if (children.length === 0) hush(place);
  place.replaceChildren(...children);
  place.hidden = children.length === 0;
}

/**
 * Calls fn every so many milliseconds until the view is left or fn returns false; waits while nobody looks. A failure
 * of the API is told as stale.
 */
async function every(signal, ms, fn) {
  let again = () => {};
  const wait = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      again = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const visible = () =>
    new Promise((resolve) => {
      if (!document.hidden) resolve();
      else document.addEventListener("visibilitychange", resolve, {once: true});
    });
  let since = new Date();
  for (;;) {
    await wait();
    while (document.hidden && !signal.aborted) await visible();
    if (signal.aborted) return;
    try {
      const more = await fn();
      if (signal.aborted) return;
      since = new Date();
      hush(byId("stale"));
      if (more === false) return;
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      stale(asApiError(error), since, () => again());
    }
  }
}

/**
 * Writes the address a little later, so that not every key and every step of a pointer does: browsers take only so many
 * changes. At once where the reader clicks or leaves the page.
 */
function writer(signal) {
  let due = null;
  let pending = null;
  const flush = () => {
    clearTimeout(due);
    if (pending) setParameters(pending());
    pending = null;
  };
  document.addEventListener("click", flush, {capture: true, signal});
  window.addEventListener("pagehide", flush, {signal});
  signal.addEventListener("abort", () => clearTimeout(due));
  return (make) => {
    pending = make;
    clearTimeout(due);
    due = setTimeout(flush, WRITE_MS);
  };
}

function shellOf(controller) {
  const {signal} = controller;
  const alive =
    (fn) =>
    (...given) => {
      if (!signal.aborted) fn(...given);
    };
  return {
    signal,
    link,
    setParameter: alive((name, value) => setParameters({[name]: value})),
    setParameters: alive(setParameters),
    /** make(): the changes, as they are when they are written. */
    setParametersSoon: alive(writer(signal)),
    title: alive((text) => {
      document.title = `${text} · rooflined`;
    }),
    every: (ms, fn) => {
      every(signal, ms, fn);
    },
    tell: alive(tell),
    /** Shows the view again as the address has it now. */
    reload: alive(() => route()),
  };
}

/**
 * Says "loading" for as long as the view has put nothing onto the page; its name is the heading, for who goes by
 * headings.
 */
function loading(root, entry) {
  const words = setTimeout(() => {
    if (!root.hasChildNodes()) {
      byId("message").replaceChildren(
        element("h1", {class: "visually-hidden"}, entry.nav),
        element("p", {class: "loading"}, `Loading ${entry.what} …`),
      );
    }
  }, 0);
  const watch = new MutationObserver(() => {
    byId("message").replaceChildren();
  });
  watch.observe(root, {childList: true});
  return () => {
    clearTimeout(words);
    watch.disconnect();
    byId("message").replaceChildren();
  };
}

/** Shows what the address names. moved: by a link, so that the reader's place is the new heading. */
async function route({moved = false} = {}) {
  const params = parameters();
  const wanted = params.get("view") ?? FIRST.name;
  const entry = VIEWS.find((view) => view.name === wanted);
  current?.controller.abort();
  const controller = new AbortController();
  const root = element("article", {id: entry?.name ?? "unknown", class: "view"});
  current = {controller, root, redraw: null};
  const mine = current;
  byId("stale").hidden = true;
  tell();
  byId("view").replaceChildren(root);
  for (const a of byId("views").querySelectorAll("a")) {
    if (a.dataset.view === wanted) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  if (!entry) {
    wear(null);
    say(
      element("h1", {tabindex: "-1"}, "There is no such view"),
      element("p", {}, "The address names a view that this page does not have."),
      element("p", {}, element("a", {href: link(FIRST.name)}, "Show the newest roofline")),
    );
    return;
  }
  document.title = `${entry.nav} · rooflined`;
  const loaded = loading(root, entry);
  let failed = null;
  try {
    const path = `./views/${entry.name}/view.js`; // apart, so that the bundler leaves it to the browser
    const module = await import(path);
    if (!controller.signal.aborted) await wear(module.css ?? null);
    if (!controller.signal.aborted) {
      mine.redraw = (await module.show(root, params, shellOf(controller)))?.redraw ?? null;
    }
  } catch (error) {
    failed = error;
  }
  if (current !== mine) return;
  loaded();
  if (failed && failed.name !== "AbortError") {
    root.replaceChildren();
    fail(entry, asApiError(failed));
  }
  if (moved) arrive();
}

function arrive() {
  window.scrollTo(0, 0);
  const heading = byId("main").querySelector("h1");
  if (!heading) return;
  heading.setAttribute("tabindex", "-1");
  heading.focus({preventScroll: true});
}

byId("views").replaceChildren(
  ...VIEWS.map((view) => element("a", {href: link(view.name), "data-view": view.name}, view.nav)),
);
let width = 0;
new ResizeObserver(([entry]) => {
  if (Math.abs(entry.contentRect.width - width) < 1) return;
  width = entry.contentRect.width;
  current?.redraw?.();
}).observe(byId("main"));
window.addEventListener("hashchange", () => route({moved: true}));
// A link to the address that is there already is no change of it, yet the reader asks for that view anew.
byId("views").addEventListener("click", (event) => {
  const a = event.target.closest("a");
  if (a && a.hash === location.hash && !event.ctrlKey && !event.metaKey && !event.shiftKey) route({moved: true});
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment is the view's
  byId("main").focus();
});
route();
