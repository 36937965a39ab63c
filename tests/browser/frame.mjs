// The page's frame in Chromium: the views' navigation, and every state in which there is nothing to show yet or no
// longer.
import assert from "node:assert/strict";
import {execFile} from "node:child_process";
import {createHash} from "node:crypto";
import {writeFileSync} from "node:fs";
import {join, relative} from "node:path";
import {promisify} from "node:util";
import {axe, launch, open, overflow, show} from "./browser.mjs";
import {slowRecording, start, submit, temporary} from "./daemon.mjs";
import {errorsTests} from "./errors.mjs";
import {ONE_RUN} from "./roofline.mjs";
import {test, until} from "./suite.mjs";

const run = promisify(execFile);

async function navigation(browser, daemon) {
  await test("a link of the navigation shows its view: title, mark, focus; back shows the one before", async () => {
    const {page, done} = await open(browser);
    await show(page, daemon.url);
    const first = await page.title();
    assert.match(first, / · rooflined$/);
    assert.deepEqual(await page.locator('#views a[aria-current="page"]').allTextContents(), ["Roofline"]);
    const others = await page
      .locator("#views a:not([aria-current])")
      .evaluateAll((all) => all.map((a) => a.dataset.view));
    for (const name of others) {
      await page.locator(`#views a[data-view="${name}"]`).click();
      await page.locator(`#${name} h1, #message h1`).first().waitFor();
      await until("the heading's focus", () => page.evaluate(() => document.activeElement.localName === "h1"));
      assert.equal(await page.locator('#views a[aria-current="page"]').getAttribute("data-view"), name);
      assert.match(await page.title(), / · rooflined$/);
      assert.equal(await page.locator("#run").count(), 0);
    }
    for (let i = 0; i < others.length; i++) await page.goBack();
    await page.locator("#run table tbody tr").first().waitFor();
    assert.equal(await page.title(), first);
    await done();
  });
  await test("the skip link leads past the navigation", async () => {
    const {page, done} = await open(browser);
    await show(page, daemon.url);
    const before = page.url();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    assert.equal(page.url(), before);
    await done();
  });
  await test("a view that is not there says so and leads back", async () => {
    const {page, done} = await open(browser);
    await page.goto(`${daemon.url}/#view=%3Cimg%20src%3Dx%3E`);
    await page.getByText("There is no such view").waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    assert.deepEqual(await axe(page), []);
    await page.getByRole("link", {name: "newest roofline"}).click();
    await page.locator("#run table tbody tr").first().waitFor();
    await done();
  });
  await test("a view that is left takes its answers with it", async () => {
    const {page, done} = await open(browser, {expected: [/404/]});
    let go;
    const held = new Promise((resolve) => {
      go = resolve;
    });
    let answered;
    await page.route(/\/api\/v1\/runs\?/, async (route) => {
      answered = held.then(() => route.continue()).catch(() => {}); // the page has given it up
      await answered;
    });
    await page.goto(daemon.url);
    await page.getByText("Loading the run").waitFor();
    await page.evaluate(() => {
      location.hash = "#run=999999";
    });
    await page.getByText("The run cannot be shown").waitFor();
    go();
    await answered;
    // an answer that came after all would have been drawn by then: others asked later have been answered and drawn over
    await page.evaluate(async () => {
      for (let i = 0; i < 5; i++) await (await fetch("/healthz")).text();
      await new Promise((drawn) => {
        requestAnimationFrame(() => requestAnimationFrame(drawn));
      });
    });
    assert.equal(await page.getByText("The run cannot be shown").count(), 1);
    assert.equal(await page.locator("#run table").count(), 0);
    await done();
  });
}

const PROPERTIES = [
  "display",
  "position",
  "width",
  "height",
  "max-width",
  "min-width",
  "margin",
  "padding",
  "font",
  "color",
  "background-color",
  "border",
  "gap",
  "grid-template-columns",
  "justify-content",
  "align-items",
  "flex",
  "text-align",
  "white-space",
  "overflow-x",
  "list-style-type",
];

/** The computed styles of every element of the view, as [where, {property: value}]. */
const styles = (page) =>
  page.evaluate(
    (names) =>
      [...document.querySelectorAll("#view, #view *:not(svg *)")].map((element) => {
        const style = getComputedStyle(element);
        return [
          `${element.localName}.${element.getAttribute("class") ?? ""}`,
          Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)])),
        ];
      }),
    PROPERTIES,
  );

/** What of the styles is not as in the others, in a few words. */
function differences(those, these) {
  if (those.length !== these.length) return [`${those.length} elements, then ${these.length}`];
  return those
    .flatMap(([where, style], i) =>
      Object.keys(style)
        .filter((name) => style[name] !== these[i][1][name])
        .map((name) => `${where} ${name}: ${style[name]}, then ${these[i][1][name]}`),
    )
    .slice(0, 6);
}

async function sheets(browser, daemon) {
  await test("a view looks the same after any other as when it is opened first", async () => {
    const run = (await daemon.ask("GET", "/api/v1/runs?limit=1")).json.items[0];
    const views = [
      ["view=runs", "#runs tbody tr"],
      [`run=${run.id}`, "#run table tbody tr"],
      [`view=trend&device=${run.device.id}&kernel=vector_add&state=warm&source=any`, "#trend h1"],
      ["view=jobs", "#jobs h2"],
      [`view=explorer&run=${run.id}`, ".results .roofline-plot"],
      [`run=${run.id}&state=cold`, "#run table tbody tr"],
      ["view=import", "#import form"],
      ["view=history&source=any", ".matrix"],
    ];
    const settled = async (page, ready) => {
      await page.locator(ready).first().waitFor();
      await page.waitForLoadState("networkidle");
      await page.mouse.move(0, 0);
      await page.evaluate(
        () =>
          new Promise((drawn) => {
            document.activeElement.blur();
            requestAnimationFrame(() => requestAnimationFrame(drawn));
          }),
      );
      return styles(page);
    };
    const {page, done} = await open(browser);
    await page.goto("about:blank");
    for (const [i, [fragment, ready]] of views.entries()) {
      if (i === 0) await page.goto(`${daemon.url}/#${fragment}`);
      else {
        await page.evaluate((to) => {
          location.hash = to;
        }, fragment);
      }
      const after = await settled(page, ready);
      const first = await open(browser);
      await first.page.goto(`${daemon.url}/#${fragment}`);
      assert.deepEqual(differences(await settled(first.page, ready), after), [], fragment);
      await first.done();
    }
    await done();
  });
}

async function otherStates(browser, daemon) {
  await test("no run yet: the command on the page starts one, its progress shows, then the roofline", async () => {
    const folder = temporary();
    const empty = await start({folder, replay: slowRecording(folder, 12)});
    const {page, done} = await open(browser, {width: 390});
    await page.goto(empty.url);
    const command = await page.locator(".command").textContent();
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await axe(page), []);
    const {stdout} = await run("bash", ["-c", `${command.replace("curl", "curl -fsS")}`]);
    const id = JSON.parse(stdout).id;
    await page.locator("#progress", {hasText: `Job ${id}`}).waitFor({timeout: 10000});
    await page.locator("#table-scroll tbody tr").first().waitFor({timeout: 40000});
    await done();
    await empty.stop();
  });
  await test("a failed first job says what happened and what to do", async () => {
    const failing = await start();
    const {page, done} = await open(browser);
    await page.route(/\/api\/v1\/jobs\?limit=1$/, (route) =>
      route.fulfill({
        json: {
          items: [
            {
              id: "1",
              state: "failed",
              progress: null,
              error: {code: "x", message: "it broke", next_action: "Mend it."},
            },
          ],
          next: null,
        },
      }),
    );
    await page.goto(failing.url);
    await page.locator("#progress", {hasText: "Job 1 is failed. It broke. Mend it."}).waitFor({timeout: 10000});
    await done();
    await failing.stop();
  });
  await test("a run that is refused is the only one: said with a link to it", async () => {
    const folder = temporary();
    const replay = join(folder, "wrong.jsonl");
    writeFileSync(
      replay,
      [
        {roofline_recording: 1, base: relative(folder, process.env.RL_RECORDING)},
        {op: "fault", on: "check", unit: "vector_add", set: {passed: false}},
      ]
        .map((entry) => `${JSON.stringify(entry)}\n`)
        .join(""),
    );
    const refusing = await start({folder, replay});
    const job = await submit(refusing, {suite: "verify", counters: false});
    const {page, done} = await open(browser);
    await page.goto(refusing.url);
    await page.getByText("No good run yet").waitFor();
    assert.equal(await page.locator("#progress").innerText(), `Job ${job.id} is done.`);
    assert.match(
      await page
        .locator("#message, #view")
        .allInnerTexts()
        .then((all) => all.join(" ")),
      /The newest run is refused/,
    );
    assert.deepEqual(await axe(page), []);
    await page.getByRole("link", {name: `run ${job.run}`}).click();
    await page.locator("#notices", {hasText: "Check failed: the output of vector add"}).waitFor();
    await done();
    await refusing.stop();
  });
  await test("the daemon stops: the page says so, and Try again works once it is back", async () => {
    const first = await start();
    await submit(first, {suite: "verify", counters: false});
    const {page, done} = await open(browser, {expected: [/ERR_CONNECTION_REFUSED/]});
    await show(page, first.url);
    await first.stop();
    await page.evaluate(() => {
      location.hash = "#state=cold";
    });
    await page.getByText("The daemon does not answer.").waitFor();
    assert.deepEqual(await axe(page), []);
    const again = await start({folder: first.folder, port: first.port});
    await page.getByRole("button", {name: "Try again"}).click();
    await page.locator("#table-scroll tbody tr").first().waitFor();
    await until("the focus at the heading", () => page.evaluate(() => document.activeElement.id === "title"));
    await done();
    await again.stop();
  });
  await test("a run that is not there, and an answer that is no JSON", async () => {
    const {page, done} = await open(browser, {expected: [/404/, /502/]});
    await page.goto(`${daemon.url}/#run=999999`);
    await page.getByText("The run cannot be shown").waitFor();
    assert.match(await page.locator("#message").innerText(), /not_found/);
    await page.route(/\/api\/v1\/runs\?/, (route) => route.fulfill({status: 502, body: "<h1>Bad gateway</h1>"}));
    await page.goto(`${daemon.url}/#`);
    await page.getByText("answered 502").waitFor();
    await done();
  });
  await test("an id of the address that is no number is told as an unknown one, without asking", async () => {
    const {page, seen, done} = await open(browser);
    const {id} = (await daemon.ask("GET", "/api/v1/runs?limit=1")).json.items[0];
    for (const wrong of [`${id}.csv`, `${id}/table`, `../runs/${id}`, "newest", "-1"]) {
      const part = encodeURIComponent(wrong);
      for (const [fragment, of, place] of [
        [`run=${part}`, "run", "#message"],
        [`run=${id}&over=${part}`, "run", "#said"],
        [`view=explorer&run=${part}`, "run", "#message"],
        [`view=jobs&job=${part}`, "job", "#jobs .job-side"],
      ]) {
        await page.goto("about:blank");
        await page.goto(`${daemon.url}/#${fragment}`);
        await page.locator(place, {hasText: `There is no ${of} ${wrong}.`}).waitFor();
      }
    }
    assert.deepEqual(
      seen.requests.map((request) => request.url()).filter((url) => /newest|%2F|\.csv|(runs|jobs)\/-1/i.test(url)),
      [],
    );
    await done();
  });
  await test("while it loads, the page says so", async () => {
    const {page, done} = await open(browser);
    let go;
    const held = new Promise((resolve) => {
      go = resolve;
    });
    await page.route(ONE_RUN, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(daemon.url);
    await page.getByText("Loading the run").waitFor();
    assert.equal(await page.getByRole("heading", {level: 1}).textContent(), "Roofline");
    assert.deepEqual(await axe(page), []);
    go();
    await page.locator("#table-scroll tbody tr").first().waitFor();
    await done();
  });
  await test("a token that is not known is asked for again and kept for the tab", async () => {
    const folder = temporary();
    const file = join(folder, "tokens");
    writeFileSync(file, `page read ${createHash("sha256").update("s3cret").digest("hex")}\n`, {mode: 0o600});
    const guarded = await start({folder, options: ["--token-file", file, "--open-loopback"]});
    await submit(guarded, {suite: "verify", counters: false});
    const {page, done} = await open(browser, {expected: [/401/]});
    await page.addInitScript(() => {
      if (!sessionStorage.getItem("rooflined-token")) sessionStorage.setItem("rooflined-token", "old");
    });
    await page.goto(guarded.url);
    await page.getByText("A token is needed").waitFor();
    assert.deepEqual(await axe(page), []);
    const kept = () => page.evaluate(() => sessionStorage.getItem("rooflined-token"));
    for (const mistyped of ["s3crеt", "s3 cret"]) {
      // the first has a Cyrillic е, which no header takes
      await page.getByLabel("Token").fill(mistyped);
      await page.keyboard.press("Enter");
      await page.getByRole("alert").filter({hasText: "A token has English letters, digits and signs alone"}).waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.name), "token");
      assert.equal(await kept(), "old");
    }
    assert.deepEqual(await axe(page), []);
    await page.getByLabel("Token").fill("s3cret");
    await page.keyboard.press("Enter");
    await page.locator("#table-scroll tbody tr").first().waitFor();
    await until("the focus at the heading", () => page.evaluate(() => document.activeElement.id === "title"));
    assert.ok(!page.url().includes("s3cret"));
    await page.evaluate(() => sessionStorage.setItem("rooflined-token", "wrong"));
    await page.reload();
    await page.getByRole("button", {name: "Go on without a token"}).click();
    await page.locator("#table-scroll tbody tr").first().waitFor();
    assert.equal(await kept(), null);
    await done();
    await guarded.stop();
  });
}

const NEWEST = /\/api\/v1\/runs\?limit=1(&|$)/;
const POLL_MS = 20000; // as in static/js/views/run/newer.js

/** Lets the page's timers run on to its next question, and waits for the answer. */
async function poll(page) {
  const answer = page.waitForResponse(NEWEST);
  await page.clock.fastForward(POLL_MS);
  await (await answer).finished();
}

/** What a reader has under their hands: the very chart, the focus, the address and where the page is scrolled to. */
const hold = (page) =>
  page.evaluate(() => {
    window.kept = document.querySelector(".roofline-plot");
  });
const held = (page) =>
  page.evaluate(() => [
    window.kept === document.querySelector(".roofline-plot"),
    document.activeElement.dataset.kernel,
    location.hash,
    window.scrollY,
    window.kept.getBoundingClientRect().top,
  ]);

async function olderThanTheStore(browser) {
  const daemon = await start();
  const first = (await submit(daemon, {suite: "verify", counters: false})).run;
  for (const [name, byId, options] of [
    ["the newest", false, {}],
    ["a run that was the newest of its device", true, {width: 390, scheme: "dark"}],
  ]) {
    await test(`${name} is shown and a newer one is stored: told with a link, and nothing moves`, async () => {
      const {page, done} = await open(browser, options);
      await page.clock.install();
      const shown = (await daemon.ask("GET", "/api/v1/runs?limit=1")).json.items[0].id;
      await show(page, `${daemon.url}/#${byId ? `run=${shown}&` : ""}state=cold`);
      await page.waitForLoadState("networkidle");
      await page.locator(".point").nth(2).focus();
      await page.clock.runFor(1000); // the address is written a little later
      await hold(page);
      const before = await held(page);
      assert.equal(before[0], true);
      await poll(page);
      assert.ok(await page.locator("#told").isHidden());
      const next = (await submit(daemon, {suite: "verify", counters: false})).run;
      await poll(page);
      await page.getByText(`Run ${next} is newer than run ${shown}`).waitFor();
      assert.deepEqual(await held(page), before);
      assert.deepEqual(await axe(page), []);
      assert.equal(await overflow(page), 0);
      await page.getByRole("button", {name: `Stay with run ${shown}`}).click();
      assert.ok(await page.locator("#told").isHidden());
      await poll(page);
      assert.ok(await page.locator("#told").isHidden()); // once is enough
      const last = (await submit(daemon, {suite: "verify", counters: false})).run;
      await poll(page);
      await page.getByRole("link", {name: `Show run ${last}`}).click();
      await until("the newer run", async () =>
        (await page.locator("#environment").innerText()).includes(`run ${last} of`),
      );
      assert.ok(await page.locator("#told").isHidden());
      assert.ok(await page.getByRole("radio", {name: "cold"}).isChecked());
      await done();
    });
  }
  await test("an older run that was asked for is not out of date; a page out of sight asks nothing", async () => {
    const {page, seen, done} = await open(browser);
    await page.clock.install();
    await show(page, `${daemon.url}/#run=${first}`);
    await page.waitForLoadState("networkidle");
    await poll(page);
    assert.ok(await page.locator("#told").isHidden());
    const hide = (hidden) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", {value, configurable: true});
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await hide(true);
    const before = seen.requests.length;
    for (let i = 0; i < 5; i++) await page.clock.fastForward(POLL_MS);
    await hide(true); // an event alone is no reader
    assert.equal(seen.requests.length, before);
    const asked = page.waitForRequest(NEWEST);
    await hide(false);
    await asked;
    await done();
  });
  await test("the daemon stops while a run is shown: told, the run stays, and Try now asks at once", async () => {
    const {page, done} = await open(browser, {expected: [/ERR_CONNECTION_REFUSED/]});
    await page.clock.install();
    await show(page, daemon.url);
    await page.waitForLoadState("networkidle");
    await hold(page);
    const before = await held(page);
    await daemon.stop();
    await page.clock.fastForward(POLL_MS);
    await page
      .locator("#stale", {
        hasText: /The daemon does not answer\. What stands here is as of .*; the page keeps trying\./,
      })
      .waitFor();
    assert.deepEqual(await held(page), before);
    assert.deepEqual(await axe(page), []);
    const again = await start({folder: daemon.folder, port: daemon.port});
    await page.getByRole("button", {name: "Try now"}).click();
    await page.locator("#stale").waitFor({state: "hidden"});
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await done();
    await again.stop();
  });
}

const LIMIT_MS = 20000; // as in static/js/parts/api.js

/** A daemon that takes connections and does not answer: stopped, as by an operator's Ctrl-Z. */
async function silent(browser) {
  const daemon = await start();
  await submit(daemon, {suite: "verify", counters: false});
  const asks = async (page, act) => {
    daemon.child.kill("SIGSTOP");
    const asked = page.waitForRequest(/\/api\//);
    await act();
    await asked;
    await page.evaluate(
      () =>
        new Promise((drawn) => {
          requestAnimationFrame(() => requestAnimationFrame(drawn));
        }),
    );
  };
  const words = "The daemon did not answer within 20 s.";
  await test(
    "the daemon takes connections and does not answer: a shown run is told to be as of then, another view " +
      "to be away",
    async () => {
      const {page, done} = await open(browser);
      await page.clock.install();
      await show(page, daemon.url);
      await page.waitForLoadState("networkidle");
      await asks(page, () => page.clock.fastForward(POLL_MS));
      assert.ok(await page.locator("#stale").isHidden());
      await page.clock.fastForward(LIMIT_MS);
      await page.locator("#stale", {hasText: words}).waitFor();
      await asks(page, () =>
        page.evaluate(() => {
          location.hash = "#state=cold";
        }),
      );
      await page.clock.fastForward(LIMIT_MS);
      await page.locator("#message", {hasText: words}).waitFor();
      daemon.child.kill("SIGCONT");
      await page.getByRole("button", {name: "Try again"}).click();
      await page.locator("#table-scroll tbody tr").first().waitFor();
      await done();
    },
  );
  await test("the daemon does not answer a list chosen anew: faint while asked, then told in place", async () => {
    const {page, done} = await open(browser);
    await page.clock.install();
    await page.goto(`${daemon.url}/#view=runs&source=any`);
    await page.locator("#runs tbody tr").first().waitFor();
    await page.waitForLoadState("networkidle");
    await asks(page, () => page.getByLabel("Source").selectOption("replayed"));
    await until("a faint list", () =>
      page.locator("#runs [aria-busy=true]").evaluate((place) => Number(getComputedStyle(place).opacity) < 1),
    );
    await page.emulateMedia({media: "print"});
    assert.equal(
      await page.locator("#runs [aria-busy=true]").evaluate((place) => getComputedStyle(place).opacity),
      "1",
    );
    await page.emulateMedia({media: "screen"});
    await page.clock.fastForward(LIMIT_MS);
    await page.locator("#runs .notice.bad", {hasText: words}).waitFor();
    daemon.child.kill("SIGCONT");
    await page.getByRole("button", {name: "Try again"}).click();
    await page.locator("#runs tbody tr").first().waitFor();
    assert.equal(await page.locator("[aria-busy]").count(), 0);
    await done();
  });
  await daemon.stop();
}

export async function frameTests() {
  await errorsTests();
  const daemon = await start();
  await submit(daemon, {suite: "verify"});
  const browser = await launch();
  try {
    await navigation(browser, daemon);
    await sheets(browser, daemon);
    await otherStates(browser, daemon);
    await olderThanTheStore(browser);
    await silent(browser);
  } finally {
    await browser.close();
  }
  await daemon.stop();
}
