// Where the matrix stands in its scrolling region: at its newest days, with no column half below the labels, which
// would cut a count of 64 to 4.

/**
 * Shows the newest days once, and from then on keeps the region as wide as whole columns. outer: what the region may
 * fill; older: the words shown where older days lie to the left.
 */
export function toNewest(outer, scroll, table, older) {
  let first = true;
  const edges = () => {
    const {left} = table.getBoundingClientRect();
    return [...table.tHead.querySelectorAll(".day, .gap")]
      .map((th) => th.getBoundingClientRect().left - left)
      .sort((a, b) => a - b);
  };
  const mark = () => scroll.classList.toggle("older", scroll.scrollLeft > 1);
  const watch = new ResizeObserver(() => {
    if (outer.isConnected) fit();
    else watch.disconnect(); // another matrix stands in its place, or another view
  });
  const fit = () => {
    if (!scroll.checkVisibility()) return; // on paper
    scroll.style.maxWidth = "";
    const label = table.tHead.querySelector(".label").getBoundingClientRect().width;
    const frame = scroll.offsetWidth - scroll.clientWidth;
    const width = table.getBoundingClientRect().width;
    const wide = width > scroll.clientWidth + 1;
    older.hidden = !wide;
    scroll.style.setProperty("--label", `${label}px`);
    if (wide) {
      const edge = edges().find((at) => label + width - at <= scroll.clientWidth);
      if (edge !== undefined) scroll.style.maxWidth = `${label + width - edge + frame}px`;
    }
    if (first) scroll.scrollTo({left: scroll.scrollWidth});
    first = false;
    mark();
  };
  watch.observe(outer);
  scroll.addEventListener("scroll", mark, {passive: true});
}
