// The view of jobs as its tests go through it.
import {slowRecording, start, temporary} from "../tools/daemon.mjs";

export async function slow(ms, options = {}) {
  const folder = temporary();
  return start({folder, replay: slowRecording(folder, ms), ...options});
}

export async function look(page, daemon, fragment = "") {
  await page.goto(`${daemon.url}/#view=jobs${fragment}`);
  await page.locator("#jobs .job-form").waitFor();
}

export const panel = (page) => page.locator("#jobs .job");
export const press = (page) => page.getByRole("button", {name: /^Start verification/});
export const jobs = async (daemon) => (await daemon.ask("GET", "/api/v1/jobs?limit=200")).json.items;
export const ended = (page, word) =>
  panel(page)
    .locator(".state", {hasText: new RegExp(`^${word}$`)})
    .waitFor({timeout: 30000});
