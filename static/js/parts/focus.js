// Where the focus goes when what had it goes away.

/**
 * Gives the focus to what takes none by itself: so that a reader whose control is gone goes on from there, not from the
 * page's start.
 */
export function focusOn(place) {
  place.setAttribute("tabindex", "-1");
  place.focus({preventScroll: true});
}

/** Puts nodes into a place instead of what stands there; a reader whose focus was in there goes on from the place. */
export function replaceIn(place, ...nodes) {
  const focused = place.contains(document.activeElement);
  place.replaceChildren(...nodes);
  if (focused) focusOn(place);
}

/** Puts the focus onto the heading of what an element stands in: for when the element goes away under it. */
export function upToHeading(from) {
  const heading = from.closest("section, article")?.querySelector("h1, h2, h3");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({preventScroll: true});
}
