// The chart as a file of its own: every colour and font resolved, its ground, its title and the kernels' names in it.
import {svgElement} from "../../parts/dom.js";

const LINE = 18;
const PAD = 16;
// eslint-disable-next-line no-control-regex -- these are what it is about
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g; // a file with one of them would be no XML
const SCALE = 2; // pixels of a PNG per pixel of the page
const PROPERTIES = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "fill-opacity",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "font-variant-numeric",
  "paint-order",
  "text-anchor",
];

/**
 * The custom properties of the page's colours on a light or dark ground, whatever the reader's own scheme is: page.css
 * says the dark ones under a media query.
 */
function palette(ground) {
  const made = new Map();
  const take = (rule) => {
    if (rule.selectorText !== ":root") return;
    for (const name of rule.style) if (name.startsWith("--")) made.set(name, rule.style.getPropertyValue(name));
  };
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (rule instanceof CSSStyleRule) take(rule);
      else if (
        rule instanceof CSSMediaRule &&
        ground === "dark" &&
        rule.conditionText.includes("prefers-color-scheme: dark")
      ) {
        for (const inner of rule.cssRules) take(inner);
      }
    }
  }
  return made;
}

/**
 * Copies what the style sheets say of each element into attributes: a file has no style sheet of ours, and the page may
 * not write style attributes.
 */
function resolve(from, to) {
  const style = getComputedStyle(from);
  for (const name of PROPERTIES) {
    const value = style.getPropertyValue(name);
    if (value) to.setAttribute(name, value);
  }
  for (const name of ["class", "tabindex", "role", "aria-label", "aria-hidden", "data-kernel"]) {
    to.removeAttribute(name);
  }
  [...from.children].forEach((child, i) => resolve(child, to.children[i]));
}

function words(lines, {x, y, colour, font, size = 12, weight = "400"}) {
  return lines.map((text, i) =>
    svgElement(
      "text",
      {
        x,
        y: y + i * LINE,
        fill: colour,
        "font-family": font,
        "font-size": size,
        "font-weight": weight,
        "xml:space": "preserve",
      },
      text.replace(UNPRINTABLE, "\ufffd"),
    ),
  );
}

/** Text cut to a width, since a picture cannot wrap: the whole name stands in the table. */
const cut = (text, width) =>
  text.length * 6.6 <= width ? text : `${text.slice(0, Math.max(1, Math.floor(width / 6.6) - 1))}…`;

/**
 * The chart with its ground ("light" or "dark"), a title, lines of words below the title, and the kernels by number
 * below the chart. The chart must be on the page: what the style sheets say of it is read there.
 */
export function standalone(svg, {ground, title, lines, kernels}) {
  const host = svg.parentElement;
  const colours = palette(ground);
  // Styles are computed under the wanted ground's colours: on a twin of the chart, out of sight.
  const twin = svg.cloneNode(true);
  for (const mark of twin.querySelectorAll(".ring, .headroom")) mark.remove();
  const copy = twin.cloneNode(true);
  const stage = document.createElement("div");
  stage.className = "visually-hidden";
  for (const [name, value] of colours) stage.style.setProperty(name, value);
  stage.append(twin);
  host.append(stage);
  resolve(twin, copy);
  const style = getComputedStyle(stage);
  const [page, text, muted, font] = [
    style.getPropertyValue("--page").trim(),
    style.getPropertyValue("--text").trim(),
    style.getPropertyValue("--muted").trim(),
    style.fontFamily,
  ];
  stage.remove();
  const [width, height] = [Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))];
  const columns = Math.max(1, Math.floor((width - 2 * PAD) / 240));
  const rows = Math.ceil(kernels.length / columns);
  const top = PAD + 22 + lines.length * LINE;
  const whole = {width, height: top + height + rows * LINE + 2 * PAD};
  const column = (width - 2 * PAD) / columns;
  const names = kernels.map((name, i) => ({
    name: cut(name, column - 10),
    x: PAD + Math.floor(i / rows) * column,
    y: top + height + PAD + (i % rows) * LINE,
  }));
  copy.setAttribute("x", "0");
  copy.setAttribute("y", String(top));
  return svgElement(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width: whole.width,
      height: whole.height,
      viewBox: `0 0 ${whole.width} ${whole.height}`,
    },
    svgElement("title", {}, title),
    svgElement("rect", {width: whole.width, height: whole.height, fill: page}),
    ...words([cut(title, width * 0.75)], {x: PAD, y: PAD + 10, colour: text, font, size: 17, weight: "600"}),
    ...words(
      lines.map((line) => cut(line, width - 2 * PAD)),
      {x: PAD, y: PAD + 32, colour: muted, font},
    ),
    copy,
    ...names.flatMap(({name, x, y}) => words([name], {x, y, colour: text, font})),
  );
}

export const svgText = (svg) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;

/** The same as PNG. */
export async function png(svg) {
  const url = URL.createObjectURL(new Blob([svgText(svg)], {type: "image/svg+xml"}));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Number(svg.getAttribute("width")) * SCALE;
    canvas.height = Number(svg.getAttribute("height")) * SCALE;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, fail) => {
      canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("the browser made no PNG"))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
