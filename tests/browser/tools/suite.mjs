// As much of a test runner as is needed here.
import assert from "node:assert/strict";

// ends a test that hangs; on a machine with ten times its load the longest took 41 s (2026-11-30)
const LIMIT_MS = 180000;
let passed = 0;
const failed = [];

const wanted = new RegExp(process.env.RL_TEST ?? "");

/**
 * Runs one test; a failure is printed and counted, and the next test runs. RL_TEST=PATTERN runs those alone whose names
 * match it.
 */
export async function test(name, body, {always = false} = {}) {
  if (!always && !wanted.test(name)) return;
  const started = Date.now();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${LIMIT_MS / 1000} s`)), LIMIT_MS);
  });
  try {
    await Promise.race([body(), late]);
    passed++;
    console.log(`ok    ${name} (${Date.now() - started} ms)`);
  } catch (error) {
    failed.push(name);
    console.log(`FAIL  ${name}\n      ${String(error?.stack ?? error).replaceAll("\n", "\n      ")}`);
  } finally {
    clearTimeout(timer);
  }
}

/** Prints what ran; the exit status. */
export function summary() {
  for (const name of failed) console.log(`failed: ${name}`);
  console.log(`${passed} passed, ${failed.length} failed`);
  return failed.length === 0 && passed > 0 ? 0 : 1;
}

/** A text of the page as a reader has it: the spaces that keep a figure and its unit on one line are spaces. */
export const plain = (text) => text.replaceAll("\u00a0", " ");

/** Asks until answer is truthy; gives it back. */
export async function until(what, ask, limitMs = 30000) {
  const end = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    assert.ok(Date.now() < end, `${what}: not within ${limitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
