// A figure on the page against the number of the API: the same to every digit that is shown.
import assert from "node:assert/strict";

const POWERS = {E: 18, P: 15, T: 12, G: 9, M: 6, k: 3, "": 0, m: -3, µ: -6, n: -9, p: -12, f: -15};
const FIGURE = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?(?: (.*))?$/;

/**
 * A text such as "4.27 TB/s" of a unit ("B/s"), as digits and the power of ten of the last one of them; null when it is
 * none.
 */
function reading(text, unit) {
  const found = FIGURE.exec(text.replaceAll("\u00a0", " ")); // no line breaks between a number and its unit
  const rest = found?.[5] ?? "";
  if (!found || !rest.endsWith(unit)) return null;
  const prefix = rest.slice(0, rest.length - unit.length);
  if (!Object.hasOwn(POWERS, prefix)) return null;
  const [, sign, whole, part = "", exponent = "0"] = found;
  return {
    sign,
    digits: `${whole}${part}`.replace(/^0+(?=.)/, ""),
    last: Number(exponent) + POWERS[prefix] - part.length,
  };
}

/**
 * A number rounded to the place of 10^last, as that many of them: exact, since toExponential rounds the number itself.
 */
function rounded(value, last) {
  const first = Number(value.toExponential().split("e")[1]);
  if (value === 0 || first < last - 1) return "0";
  if (first === last - 1) return value.toExponential() >= "5" ? "1" : "0";
  const [mantissa, exponent] = value.toExponential(first - last).split("e");
  const digits = mantissa.replace(".", "");
  return digits.padEnd(Number(exponent) - last + 1, "0");
}

/** Throws unless text is value in unit, to the last digit shown, with as many significant digits as least. */
export function sameFigure(text, value, unit, what, least = 3) {
  const shown = reading(text, unit);
  assert.ok(shown, `${what}: "${text}" is no figure in "${unit}"`);
  assert.equal(typeof value, "number", `${what}: the API gives none, the page says "${text}"`);
  assert.equal(
    `${shown.sign}${shown.digits}`,
    `${value < 0 ? "-" : ""}${rounded(Math.abs(value), shown.last)}`,
    `${what}: "${text}" is not ${value}`,
  );
  assert.ok(shown.digits.length >= least || value === 0, `${what}: "${text}" has fewer than ${least} digits`);
}

/** The same text with its last digit one off. */
export const wrongDigit = (text) => text.replace(/(\d)(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10));
