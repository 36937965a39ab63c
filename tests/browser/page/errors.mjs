// Errors as every view has them: what api.js makes of answers, and the words for it. Without a browser.
import assert from "node:assert/strict";
import {dirname, join} from "node:path";
import {pathToFileURL} from "node:url";
import {test} from "../tools/suite.mjs";

globalThis.document ??= {baseURI: "http://127.0.0.1/"}; // what addresses are relative to

const module = (path) => import(pathToFileURL(join(dirname(process.env.RL_README), "static/js/parts", path)));

/** Asks api.js with the answer that fetch is to give, or the error that it is to fail with. */
async function answered(answer, ask) {
  const before = [globalThis.fetch, globalThis.sessionStorage];
  globalThis.fetch = async () => {
    if (answer instanceof Error) throw answer;
    return answer;
  };
  globalThis.sessionStorage = {getItem: () => null};
  try {
    return await ask();
  } finally {
    [globalThis.fetch, globalThis.sessionStorage] = before;
  }
}

async function readinessTests() {
  const {ApiError, get, readiness} = await module("api.js");
  const answer = (status, body, headers = {}) =>
    new Response(typeof body === "string" ? body : JSON.stringify(body), {status, headers});
  const failure = (given, ask) =>
    answered(given, ask).then(
      () => assert.fail("no error"),
      (error) => error,
    );
  await test("a daemon that is away is the same error wherever it is asked, readiness too", async () => {
    for (const ask of [() => get("/api/v1/devices"), () => readiness()]) {
      const error = await failure(new TypeError("Failed to fetch"), ask);
      assert.ok(error instanceof ApiError, String(error));
      assert.deepEqual([error.code, error.status, error.message], ["unreachable", 0, "The daemon does not answer."]);
      assert.equal((await failure(new DOMException("left", "AbortError"), ask)).name, "AbortError");
    }
  });
  await test("that nothing can be measured is an answer of readiness; one that says nothing is an error", async () => {
    const reasons = [{code: "no_device", message: "no GPU was found", next_action: "Look at the driver."}];
    assert.deepEqual(await answered(answer(503, {ready: false, reasons}), readiness), {ready: false, reasons});
    assert.deepEqual(await answered(answer(200, {ready: true, reasons: []}), readiness), {ready: true, reasons: []});
    const error = {code: "shutting_down", message: "the daemon is shutting down", next_action: "Wait."};
    for (const [given, code, status, wait] of [
      [answer(503, {error}, {"Retry-After": "2"}), "shutting_down", 503, 2],
      [answer(200, {}), "bad_answer", 200, null],
      [answer(200, null), "bad_answer", 200, null],
      [answer(502, "<h1>Bad gateway</h1>"), "bad_answer", 502, null],
    ]) {
      const thrown = await failure(given, readiness);
      assert.deepEqual([thrown.code, thrown.status, thrown.retryAfter], [code, status, wait]);
    }
  });
}

/** An answer that begins and then says no more, as fetch gives it: its end is the signal's abort. */
const begun = (signal) =>
  new Response(
    new ReadableStream({
      start(stream) {
        stream.enqueue(new TextEncoder().encode("["));
        signal.addEventListener("abort", () => stream.error(signal.reason));
      },
    }),
  );

/** Asks api.js where fetch gives answer(signal), a promise, with the page's timers run out as soon as they are set. */
async function outOfTime(answer, ask) {
  const before = [globalThis.fetch, globalThis.sessionStorage, globalThis.setTimeout];
  globalThis.fetch = (path, {signal}) => answer(signal);
  globalThis.sessionStorage = {getItem: () => null};
  globalThis.setTimeout = (fn) => before[2](fn, 0);
  try {
    return await ask().then(
      () => assert.fail("no error"),
      (error) => error,
    );
  } finally {
    [globalThis.fetch, globalThis.sessionStorage, globalThis.setTimeout] = before;
  }
}

async function limitTests() {
  const {ApiError, get, getTagged, getText, readiness} = await module("api.js");
  const silent = (signal) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  await test("a daemon that does not answer, or not to the end, is told; a view that is left is not", async () => {
    for (const ask of [get, getText, getTagged, (path, options) => readiness(options)]) {
      for (const answer of [silent, async (signal) => begun(signal)]) {
        const error = await outOfTime(answer, () => ask("/api/v1/devices", {}));
        assert.ok(error instanceof ApiError, String(error));
        assert.deepEqual(
          [error.code, error.status, error.message],
          ["unreachable", 0, "The daemon did not answer within 20 s."],
        );
        const left = new AbortController();
        const asked = outOfTime(answer, () => ask("/api/v1/devices", {signal: left.signal}));
        left.abort();
        assert.equal((await asked).name, "AbortError");
      }
    }
  });
  await test("an answer that breaks off is no answer without words", async () => {
    const broken = () =>
      new Response(
        new ReadableStream({
          pull(stream) {
            stream.error(new TypeError("network error"));
          },
        }),
      );
    for (const ask of [get, getText, getTagged, () => readiness()]) {
      const error = await answered(broken(), () => ask("/api/v1/devices")).then(
        () => assert.fail("no error"),
        (thrown) => thrown,
      );
      assert.deepEqual(
        [error.code, error.status, error.message, error.nextAction],
        ["unreachable", 0, "The answer broke off.", "Check that rooflined runs, then try again."],
      );
    }
  });
}

async function waitTests() {
  const {ApiError, get, seconds} = await module("api.js");
  await test("a wait is whole seconds, as the daemon gives it, or none", async () => {
    for (const [header, wanted] of [
      ["0", 0],
      ["7", 7],
      ["999999", 999999],
      [undefined, null],
      [null, null],
      ["", null],
      ["1.5", null],
      ["-1", null],
      [" 3", null],
      ["9999999", null],
      ["Mon, 30 Nov 2026 12:00:00 GMT", null],
    ]) {
      assert.equal(seconds(header), wanted, String(header));
      assert.equal(new ApiError({code: "queue_full", message: "m"}, 429, header).retryAfter, wanted, String(header));
    }
    assert.equal(new ApiError({code: "queue_full", message: "m"}, 429).retryAfter, null);
    const body = JSON.stringify({error: {code: "queue_full", message: "m", next_action: "n"}});
    for (const [headers, wanted] of [
      [{}, null],
      [{"Retry-After": "2"}, 2],
    ]) {
      const error = await answered(new Response(body, {status: 429, headers}), () => get("/api/v1/jobs")).catch(
        (thrown) => thrown,
      );
      assert.deepEqual([error.code, error.retryAfter], ["queue_full", wanted]);
    }
  });
}

export async function errorsTests() {
  await waitTests();
  await readinessTests();
  await limitTests();
  const {errorSentence, sentence} = await module("format.js");
  await test("a message becomes a sentence, and the name of the field that it begins with stays as it is sent", () => {
    const cases = [
      [{field: "since", message: "since 'yesterday' is not a date"}, "since 'yesterday' is not a date."],
      [{field: "since", message: "since and until are 9000 days apart"}, "since and until are 9000 days apart."],
      [{field: "kernels[1]", message: "kernels[1] is 3: it must be a text."}, "kernels[1] is 3: it must be a text."],
      [{field: "predictions.vector_add", message: 'predictions.vector_add is "x"'}, 'predictions.vector_add is "x".'],
      [{field: "accepted", message: "accepted[0].state 'hot' is not warm"}, "accepted[0].state 'hot' is not warm."],
      // not that field, and a name all the same
      [{field: "on", message: "on_interrupt is missing"}, "on_interrupt is missing."],
      [{field: "runs", message: "run 3 is named twice"}, "Run 3 is named twice."],
      [{field: "note", message: "notes are not taken"}, "Notes are not taken."],
      [{field: null, message: "the daemon is shutting down"}, "The daemon is shutting down."],
      [{message: "there is no job 7!"}, "There is no job 7!"],
    ];
    for (const [error, words] of cases) assert.equal(errorSentence(error), words);
    assert.equal(sentence("cuptiRangeProfilerEnable: CUPTI_ERROR (35)"), "cuptiRangeProfilerEnable: CUPTI_ERROR (35).");
  });
}
