// The page behind a proxy that puts it under a path of its own and takes that path away again.
import assert from "node:assert/strict";
import http from "node:http";
import {join} from "node:path";
import {launch, open, show} from "../tools/browser.mjs";
import {start, submit} from "../tools/daemon.mjs";
import {test} from "../tools/suite.mjs";

const PREFIX = "/node7/gpu";

/**
 * {url, astray, close()}: astray collects what was asked for outside of the prefix. The Host stays the browser's, as
 * deploy/OPERATING.md says.
 */
async function proxyOf(daemon) {
  const astray = [];
  const server = http.createServer((request, response) => {
    if (!request.url.startsWith(`${PREFIX}/`)) {
      astray.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
      return;
    }
    const onward = http.request(
      {
        host: "127.0.0.1",
        port: daemon.port,
        method: request.method,
        path: request.url.slice(PREFIX.length),
        headers: request.headers,
      },
      (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {url: `http://127.0.0.1:${server.address().port}${PREFIX}/`, astray, close: () => server.close()};
}

export async function prefixTests() {
  const browser = await launch();
  const daemon = await start();
  const proxy = await proxyOf(daemon);
  await submit(daemon, {suite: "verify", cache: ["warm"]});
  await test("every view works under a proxy's path, and asks for nothing outside of it", async () => {
    const {page, done} = await open(browser);
    await show(page, proxy.url);
    const names = await page.locator("#views a").evaluateAll((all) => all.map((a) => a.dataset.view));
    assert.ok(names.length >= 7, names.join());
    for (const name of names) {
      await page.locator(`#views a[data-view="${name}"]`).click();
      await page.locator(`#${name} h1`).first().waitFor();
      await page.waitForLoadState("networkidle");
      assert.deepEqual(await page.locator("#message > *").allTextContents(), []);
    }
    const sheets = await page.evaluate(() => [...document.styleSheets].map((sheet) => new URL(sheet.href).pathname));
    assert.ok(sheets.includes(`${PREFIX}/css/jobs.css`), sheets.join());
    const links = await page.locator("footer a").evaluateAll((all) => all.map((a) => a.href));
    assert.deepEqual(links, [`${proxy.url}api/v1/openapi.json`, `${proxy.url}readyz`]);
    await done();
  });
  await test("an import is sent and its run shown under a proxy's path", async () => {
    const {page, done} = await open(browser);
    await page.goto(`${proxy.url}#view=import`);
    await page.getByRole("radio", {name: "a published table"}).check();
    await page
      .getByLabel("Record", {exact: true})
      .setInputFiles(join(process.env.RL_README, "../deploy/records/t4.json"));
    await page.getByLabel("Measured on").fill("2026-09-01");
    await page.getByRole("button", {name: "Import"}).click();
    await page.getByText("Imported as").waitFor();
    await page.getByRole("link", {name: "Show the run"}).click();
    await page.locator("#run table tbody tr").first().waitFor();
    await done();
  });
  assert.deepEqual(proxy.astray, []);
  await test("a page without a run names the address that a client has to use", async () => {
    const empty = await start();
    const other = await proxyOf(empty);
    const {page, done} = await open(browser);
    await page.goto(other.url);
    await page.getByText(`${other.url}api/v1/jobs`).waitFor();
    assert.deepEqual(other.astray, []);
    await done();
    other.close();
    await empty.stop();
  });
  proxy.close();
  await browser.close();
  await daemon.stop();
}
