// Figures that are held against one another: a change of one part in a thousand is to be seen.
import {NONE, prefixFor, withUnit} from "./format.js";

/** "+1.04 %" of a ratio, four digits as the API's sentences have them at most. */
export function changeOf(ratio) {
  const value = 100 * (ratio - 1);
  const digits = Math.abs(value).toFixed(2);
  return withUnit(`${Number(digits) === 0 ? "" : value > 0 ? "+" : "−"}${digits}`, "%");
}

const DIGITS = 5;

/** The unit, with its prefix, for values around this one: {size, power, text}. */
export function unitFor(value, {unit, prefixed}) {
  const [size, prefix, power] = !prefixed || value === 0 ? [1, "", 0] : prefixFor(value, DIGITS);
  return {size, power, text: `${prefix}${unit}`};
}

/** A bare number: four decimals where that says enough. */
const plain = (value) => (Math.abs(value) >= 0.1 || value === 0 ? value.toFixed(4) : value.toPrecision(DIGITS - 1));

/**
 * value / 10^power in so many significant digits, rounded once and from the number itself: a division before it would
 * round too.
 */
function shifted(value, power) {
  const [mantissa, exponent] = value.toExponential(DIGITS - 1).split("e");
  return Number(`${mantissa}e${Number(exponent) - power}`).toPrecision(DIGITS);
}

/** Five significant digits with the unit; what has no prefix, with a fixed number of decimals. */
export function exact(value, of) {
  if (value === null) return NONE;
  const {power, text} = unitFor(value, of);
  if (!of.prefixed) return text === "" ? plain(value) : withUnit(value.toFixed(2), text);
  return withUnit(value === 0 ? "0" : shifted(value, power), text);
}

/** "46.598 to 47.731 µs": one unit for both where one prefix fits both. */
export function range(low, high, of) {
  if (low === null || high === null) return NONE;
  const unit = unitFor(high, of);
  const [from, to] = [exact(low, of), exact(high, of)];
  return unit.text !== "" && unit.text === unitFor(low, of).text
    ? `${from.slice(0, -unit.text.length - 1)} to ${to}`
    : `${from} to ${to}`;
}

/** A change of a value against what it was, in percent with its sign. */
export const change = (value, before) => (value === null || !before ? NONE : changeOf(value / before));
