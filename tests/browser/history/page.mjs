// What the tests of the views over many runs share.
import assert from "node:assert/strict";

export const next = (day) => new Date(Date.parse(`${day}T00:00:00Z`) + 86400000).toISOString().slice(0, 10);

export const parameters = (href) => Object.fromEntries(new URLSearchParams(href.slice(href.indexOf("#") + 1)));

export const json = async (daemon, path) => {
  const answer = await daemon.ask("GET", path);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
};

export async function visit(page, daemon, fragment, ready) {
  await page.goto(`${daemon.url}/#${fragment}`);
  await page.locator(ready).first().waitFor();
}
