// Why a run is not whole, in words: the engine names checks, ceilings and kernels by their ids.
import {ceilingName} from "./format.js";

const plain = (id) => id.replaceAll("_", " ");

/**
 * A reason of a run's outcome_reasons; one of another form comes back as it is. run: with its checks and kernels where
 * they are known.
 */
function reason(run, text) {
  const check = /^(\w+) (failed|could not be made)$/.exec(text);
  if (check) return `check ${check[2]}: ${run.checks?.find(({name}) => name === check[1])?.title ?? plain(check[1])}`;
  const ceiling = /^no (\w+) (\w+) ceiling$/.exec(text);
  if (ceiling) return `no ${ceiling[2]} ceiling: ${ceilingName(ceiling[1])}`;
  const row = /^no (\w+) (\w+) row$/.exec(text);
  if (row) return `no ${row[2]} row: ${run.kernels?.find(({kernel}) => kernel === row[1])?.title ?? plain(row[1])}`;
  return text;
}

/** All reasons of a run, parted by semicolons, as the API would begin and end them: small, and without a stop. */
export const reasonsInWords = (run) => run.outcome_reasons.map((text) => reason(run, text)).join("; ");
