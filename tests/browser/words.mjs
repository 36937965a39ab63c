// What every view says of errors: of values alone, without a browser.
import assert from "node:assert/strict";
import {dirname, join} from "node:path";
import {pathToFileURL} from "node:url";
import {test} from "./suite.mjs";

const module = (path) => import(pathToFileURL(join(dirname(process.env.RL_README), "static/js", path)));

export async function wordsTests() {
  const {errorSentence, sentence} = await module("format.js");
  await test("a message becomes a sentence, and the name of the field that it begins with stays as it is sent", () => {
    const cases = [
      [{field: "since", message: "since 'yesterday' is not a date"}, "since 'yesterday' is not a date."],
      [{field: "since", message: "since and until are 9000 days apart"}, "since and until are 9000 days apart."],
      [{field: "kernels[1]", message: "kernels[1] is 3: it must be a text."}, "kernels[1] is 3: it must be a text."],
      [{field: "predictions.vector_add", message: "predictions.vector_add is \"x\""}, "predictions.vector_add is \"x\"."],
      [{field: "accepted", message: "accepted[0].state 'hot' is not warm"}, "accepted[0].state 'hot' is not warm."],
      [{field: "on", message: "on_interrupt is missing"}, "on_interrupt is missing."], // not that field, and a name all the same
      [{field: "runs", message: "run 3 is named twice"}, "Run 3 is named twice."],
      [{field: "note", message: "notes are not taken"}, "Notes are not taken."],
      [{field: null, message: "the daemon is shutting down"}, "The daemon is shutting down."],
      [{message: "there is no job 7!"}, "There is no job 7!"],
    ];
    for (const [error, words] of cases) assert.equal(errorSentence(error), words);
    assert.equal(sentence("cuptiRangeProfilerEnable: CUPTI_ERROR (35)"), "cuptiRangeProfilerEnable: CUPTI_ERROR (35).");
  });
}
