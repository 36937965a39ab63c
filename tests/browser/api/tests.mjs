// Every route and every status that the OpenAPI document promises, as far as it can be brought about from outside.
import assert from "node:assert/strict";
import {JSON_TYPE, start, submit} from "../tools/daemon.mjs";
import {Document, schemaErrors} from "../tools/openapi.mjs";
import {test} from "../tools/suite.mjs";
import {BODIES} from "./bodies.mjs";
import {imports, nothingThere, posts, queue} from "./writes.mjs";

/** Promises that are not met here, each with the reason: (method path status) → why. */
function isExcepted(promise) {
  const [method, path, status] = promise.split(" ");
  if (status === "500") return "a fault of the disk or of the daemon: the store's own tests make them";
  if (status === "503" && !(path === "/readyz" || (method === "POST" && path === "/api/v1/jobs"))) {
    return "the store is full, locked or read-only: its own tests make it so";
  }
  if (promise === "GET /api/v1/compare 413") {
    return "takes runs of more than 2048 rows together: tests/api/test_http_compare.py imports them";
  }
  if (promise === "POST /api/v1/imports 409") {
    return "other labels of the same files: tests/api/test_http_labels.py sends them";
  }
  if (promise === "POST /api/v1/imports 429") {
    return "takes many slow uploads at once: tests/api/test_http_fair.py makes them";
  }
  return null;
}

const READS = [
  "/api/v1/jobs",
  "/api/v1/jobs/{id}",
  "/api/v1/jobs/{id}/transcript",
  "/api/v1/runs",
  "/api/v1/runs/{id}",
  "/api/v1/runs/{id}.csv",
  "/api/v1/runs/{id}/table",
  "/api/v1/runs/{id}/samples",
  "/api/v1/runs/{id}/note",
  "/api/v1/runs/{id}/predictions",
  "/api/v1/runs/{id}/withdraw",
  "/api/v1/runs.json",
  "/api/v1/runs.csv",
  "/api/v1/history",
  "/api/v1/trend",
  "/api/v1/compare",
  "/api/v1/devices",
  "/api/v1/kernels",
  "/api/v1/openapi.json",
  "/healthz",
  "/readyz",
  "/metrics",
  "/",
];

function documentTests(daemon, document, ids) {
  const needed = {
    "/api/v1/trend": `?device=${ids.device}&kernel=vector_add&source=any`,
    "/api/v1/compare": `?base=run:${ids.run}&head=run:${ids.other}`,
  };
  const bare = (path) => path.replace("{id}", path.startsWith("/api/v1/jobs") ? ids.job : ids.run);
  const real = (path) => bare(path) + (needed[path] ?? "");
  const get = async (path, more, method = "GET") => {
    const answer = await daemon.ask(method, more?.path ?? real(path), more);
    document.check(method === "HEAD" ? "GET" : method, path, answer);
    return answer;
  };
  const each = (name, body) =>
    test(name, async () => {
      for (const path of READS) if (document.json.paths[path]) await body(path);
    });
  return {get, each, real, bare};
}

async function reads(daemon, document, ids) {
  const {get, each, real} = documentTests(daemon, document, ids);
  await each("each route answers 200 as described", async (path) => assert.equal((await get(path)).status, 200, path));
  await test("lists in pages, with every filter", async () => {
    const filters = [
      "source=replayed",
      "source=any&outcome=any",
      "sizes=scaled",
      "counters=timed-only",
      "driver=580",
      "cuda=13.0",
      "suite=verify",
      "since=2020-01-01",
      "until=2100-01-01T00:00:00Z",
      "device=none",
      "label=v2%2C%20%C3%A9",
      "withdrawn=any",
    ];
    for (const filter of filters) {
      assert.equal((await get("/api/v1/runs", {path: `/api/v1/runs?${filter}`})).status, 200, filter);
    }
    const first = await get("/api/v1/runs", {path: "/api/v1/runs?limit=1"});
    assert.equal(first.json.items.length, 1);
    const next = await get("/api/v1/runs", {path: `/api/v1/runs?limit=1&cursor=${first.json.next}`});
    assert.notEqual(next.json.items[0].id, first.json.items[0].id);
    for (const state of ["queued", "running", "done", "failed", "cancelled", "interrupted"]) {
      await get("/api/v1/jobs", {path: `/api/v1/jobs?state=${state}`});
    }
  });
  await test("every run is as described, whole, as table, CSV and samples", async () => {
    const {json} = await get("/api/v1/runs", {path: "/api/v1/runs?limit=200&outcome=any"});
    assert.equal(json.items.length, BODIES.length);
    for (const {id} of json.items) {
      for (const path of [
        "/api/v1/runs/{id}",
        "/api/v1/runs/{id}.csv",
        "/api/v1/runs/{id}/table",
        "/api/v1/runs/{id}/samples",
      ]) {
        assert.equal((await get(path, {path: path.replace("{id}", id)})).status, 200);
      }
    }
    for (const state of ["warm", "cold"]) {
      assert.equal(
        (await get("/api/v1/runs/{id}/table", {path: `${real("/api/v1/runs/{id}/table")}?state=${state}`})).status,
        200,
      );
    }
  });
  await each("a known ETag answers 304", async (path) => {
    if (!document.json.paths[path].get.responses["304"]) return;
    const {headers} = await get(path);
    assert.ok(headers.etag, `${path} has no ETag`);
    assert.equal((await get(path, {headers: {"If-None-Match": headers.etag}})).status, 304, path);
  });
}

async function errors(daemon, document, ids) {
  const {get, each, real, bare} = documentTests(daemon, document, ids);
  await each("an unknown parameter is 400 and named", async (path) => {
    const answer = await get(path, {path: `${bare(path)}?nonsense=1`});
    assert.deepEqual([answer.status, answer.json.error.field], [400, "nonsense"], path);
  });
  await each("a wrong Host is 403, but to probes", async (path) => {
    const answer = await get(path, {headers: {Host: "example.org"}});
    assert.equal(answer.status, ["/healthz", "/readyz"].includes(path) ? 200 : 403, path);
  });
  await each("an unknown token is 401 where there is something to read", async (path) => {
    const answer = await get(path, {headers: {Authorization: "Bearer wrong"}});
    if (document.json.paths[path].get.responses["401"]) assert.equal(answer.status, 401, path);
  });
  await each("what is not there is 404", async (path) => {
    if (path.includes("{id}")) {
      assert.equal((await get(path, {path: path.replace("{id}", "999999")})).status, 404, path);
    }
  });
  await each("another method is 405 with Allow", async (path) => {
    const other = document.json.paths[path].put ? "POST" : "PUT";
    const answer = await daemon.ask(other, real(path), {headers: JSON_TYPE, body: "{}"});
    assert.equal(answer.status, 405, path);
    assert.ok(answer.headers.allow, path);
    // described by every operation's default
    document.check("GET", path, answer);
    if (path === "/api/v1/jobs") document.check("POST", path, answer);
    if (path === "/api/v1/jobs/{id}") document.check("DELETE", path, answer);
    if (path === "/api/v1/runs/{id}/note" || path === "/api/v1/runs/{id}/predictions") {
      document.check("PUT", path, answer);
    }
    if (path === "/api/v1/runs/{id}/withdraw") {
      for (const method of ["POST", "DELETE"]) document.check(method, path, answer);
    }
  });
  await each("HEAD has GET's head and no body", async (path) => {
    const answer = await daemon.ask("HEAD", real(path));
    assert.deepEqual([answer.status, answer.text], [200, ""], path);
  });
}

async function history(daemon, document, ids) {
  const {get} = documentTests(daemon, document, ids);
  await test("history, trends and comparisons are as described, whatever is asked", async () => {
    for (const query of [
      "source=replayed",
      `source=any&device=${ids.device}`,
      "source=any&label=v2%2C%20%C3%A9",
      "since=2026-01-01&until=2026-02-01",
      "device=none",
    ]) {
      assert.equal((await get("/api/v1/history", {path: `/api/v1/history?${query}`})).status, 200, query);
    }
    for (const query of [
      "state=cold",
      "metric=dram_bytes",
      "metric=dram_per_ask",
      "metric=percent_of_ceiling",
      "sizes=scaled",
      "driver=1&cuda=2",
      "label=v2%2C%20%C3%A9",
      "method_version=1",
    ]) {
      assert.equal(
        (await get("/api/v1/trend", {path: `/api/v1/trend?device=${ids.device}&kernel=vector_add&source=any&${query}`}))
          .status,
        200,
        query,
      );
    }
    assert.equal(
      (await get("/api/v1/trend", {path: `/api/v1/trend?device=${ids.device}&kernel=fp32_fma&source=any`})).json.metric,
      "value",
    );
    assert.equal((await get("/api/v1/trend", {path: `/api/v1/trend?device=${ids.device}&kernel=saxpy`})).status, 404);
    for (const query of [
      `base=driver:1&head=driver:2&device=${ids.device}`,
      `base=run:${ids.run}&head=driver:580.159.04&source=any`,
      `base=run:${ids.run}&head=run:${ids.timed}`,
      `base=label:v2%5C%2C%20%C3%A9&head=run:${ids.run}&source=any`,
    ]) {
      assert.equal((await get("/api/v1/compare", {path: `/api/v1/compare?${query}`})).status, 200, query);
    }
    assert.equal(
      (await get("/api/v1/compare", {path: `/api/v1/compare?base=run:999999&head=run:${ids.run}`})).status,
      404,
    );
    assert.equal((await get("/api/v1/compare", {path: "/api/v1/compare?base=new&head=old"})).status, 400);
  });
  await test("predictions are scored, and a selection is exported", async () => {
    const {json} = await get("/api/v1/runs/{id}/predictions", {path: `/api/v1/runs/${ids.predicted}/predictions`});
    assert.equal(json.predicted, 1);
    for (const query of ["outcome=any", "counters=timed-only", "source=measured"]) {
      const listed = (await daemon.ask("GET", `/api/v1/runs?limit=200&${query}`)).json.items.map(({id}) => id);
      assert.deepEqual(
        (await get("/api/v1/runs.json", {path: `/api/v1/runs.json?${query}`})).json.items.map(({id}) => id),
        listed,
        query,
      );
      assert.equal((await get("/api/v1/runs.csv", {path: `/api/v1/runs.csv?${query}`})).status, 200);
    }
  });
  await notes(daemon, document, ids);
  await withdrawing(daemon, document, ids);
  await whyWrong(daemon, document, ids);
}

/** Asks and holds the answer against the document. */
const asking =
  (daemon, document, template) =>
  async (method, id, body, headers = {}) => {
    const answer = await daemon.ask(
      method,
      template.replace("{id}", id),
      body === undefined
        ? {headers}
        : {headers: {...JSON_TYPE, ...headers}, body: typeof body === "string" ? body : JSON.stringify(body)},
    );
    document.check(method, template, answer);
    return answer;
  };

async function withdrawing(daemon, document, ids) {
  const ask = asking(daemon, document, "/api/v1/runs/{id}/withdraw");
  const request = document.compile("#/components/schemas/WithdrawRequest");
  const listed = async (query) => {
    const answer = await daemon.ask("GET", `/api/v1/runs?limit=200&outcome=any&${query}`);
    document.check("GET", "/api/v1/runs", answer);
    return answer.json.items.map(({id}) => id);
  };
  await test("a run is withdrawn and taken back; lists, the run and comparisons say so as described", async () => {
    assert.ok(request({reason: "the fan stood still"}));
    assert.equal((await ask("DELETE", ids.run)).status, 409);
    assert.equal((await ask("POST", ids.run, {reason: "the fan stood still"})).status, 200);
    assert.equal((await ask("POST", ids.run, {reason: "again"})).status, 409);
    assert.ok(!(await listed("")).includes(ids.run));
    assert.deepEqual(await listed("withdrawn=true"), [ids.run]);
    assert.ok((await listed("withdrawn=any")).includes(ids.run));
    for (const [path, template] of [
      [`/api/v1/runs/${ids.run}`, "/api/v1/runs/{id}"],
      [`/api/v1/compare?base=run:${ids.run}&head=run:${ids.other}`, "/api/v1/compare"],
    ]) {
      const answer = await daemon.ask("GET", path);
      document.check("GET", template, answer);
      assert.equal(answer.status, 200);
      if (template.endsWith("{id}")) assert.equal(answer.headers["run-withdrawn"], "true");
    }
    assert.equal((await ask("DELETE", ids.run)).status, 200);
    assert.ok((await listed("")).includes(ids.run));
  });
  await test(
    "a wrong withdrawal is 400, a long one 413, another type 415, no such run 404, an unknown token 401, " +
      "a foreign Origin 403",
    async () => {
      for (const body of [{}, {reason: 1}, {reason: ""}, {reason: "x".repeat(513)}, {reason: "x", more: 1}]) {
        assert.equal((await ask("POST", ids.run, body)).status, 400, JSON.stringify(body));
        assert.equal(request(body), false, JSON.stringify(body));
      }
      assert.equal((await daemon.ask("DELETE", `/api/v1/runs/${ids.run}/withdraw?nonsense=1`)).status, 400);
      document.check(
        "DELETE",
        "/api/v1/runs/{id}/withdraw",
        await daemon.ask("DELETE", `/api/v1/runs/${ids.run}/withdraw?nonsense=1`),
      );
      assert.equal((await ask("POST", ids.run, {reason: "x".repeat(70000)})).status, 413);
      assert.equal((await ask("POST", ids.run, {reason: "x"}, {"Content-Type": "text/plain"})).status, 415);
      for (const method of ["POST", "DELETE"]) {
        const body = method === "POST" ? {reason: "x"} : undefined;
        assert.equal((await ask(method, "999999", body)).status, 404);
        assert.equal((await ask(method, ids.run, body, {Authorization: "Bearer wrong"})).status, 401);
        assert.equal((await ask(method, ids.run, body, {Origin: "http://example.org"})).status, 403);
      }
    },
  );
}

async function whyWrong(daemon, document, ids) {
  const ask = asking(daemon, document, "/api/v1/runs/{id}/predictions");
  const request = document.compile("#/components/schemas/WhyWrongRequest");
  await test("why a prediction was wrong is kept with the score", async () => {
    const read = await ask("GET", ids.wrong);
    const [kernel] = read.json.most_wrong;
    const body = {why_wrong: {[kernel]: "<b>the L2</b> holds it"}};
    assert.ok(request(body));
    const written = await ask("PUT", ids.wrong, body, {"If-Match": read.headers.etag});
    assert.deepEqual(
      [written.status, written.json.why_wrong, written.json.version],
      [200, [{kernel, text: body.why_wrong[kernel]}], 1],
    );
    assert.equal((await ask("PUT", ids.wrong, body, {"If-Match": read.headers.etag})).status, 412);
    for (const wrong of [
      {},
      {why_wrong: []},
      {why_wrong: {[kernel]: ""}},
      {why_wrong: {[kernel]: "x".repeat(1025)}},
      {why_wrong: {a: "x", b: "x", c: "x"}},
      {why_wrong: {}, more: 1},
    ]) {
      assert.equal((await ask("PUT", ids.wrong, wrong)).status, 400, JSON.stringify(wrong));
      assert.equal(request(wrong), false, JSON.stringify(wrong));
    }
    assert.equal((await ask("PUT", ids.wrong, {why_wrong: {[kernel]: "x".repeat(70000)}})).status, 413);
    assert.equal((await ask("PUT", ids.wrong, body, {"Content-Type": "text/plain"})).status, 415);
    assert.equal((await ask("PUT", "999999", {why_wrong: {}})).status, 404);
    assert.equal((await ask("PUT", ids.wrong, body, {Authorization: "Bearer wrong"})).status, 401);
    assert.equal((await ask("PUT", ids.wrong, body, {Origin: "http://example.org"})).status, 403);
  });
}

async function notes(daemon, document, ids) {
  const path = "/api/v1/runs/{id}/note";
  const put = async (body, headers = {}, id = ids.run) => {
    const answer = await daemon.ask("PUT", `/api/v1/runs/${id}/note`, {
      headers: {...JSON_TYPE, ...headers},
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    document.check("PUT", path, answer);
    return answer;
  };
  const request = document.compile("#/components/schemas/NoteRequest");
  await test("a note is written against the version that was read", async () => {
    const read = await daemon.ask("GET", `/api/v1/runs/${ids.run}/note`);
    const body = {text: "<b>é</b>", accepted: [{kernel: "vector_add", state: "warm"}]};
    assert.ok(request(body));
    const written = await put(body, {"If-Match": read.headers.etag});
    assert.deepEqual(
      [written.status, written.json.text, written.json.version],
      [200, body.text, read.json.version + 1],
    );
    assert.equal((await put(body, {"If-Match": read.headers.etag})).status, 412);
  });
  await test(
    "a wrong note is 400, a long one 413, another type 415, no such run 404, an unknown token 401, a " +
      "foreign Origin 403",
    async () => {
      for (const body of [
        {},
        {text: 1},
        {text: "", more: 1},
        {text: "", accepted: [{kernel: "vector_add"}]},
        {text: "", accepted: [{kernel: "vector_add", state: "hot"}]},
      ]) {
        assert.equal((await put(body)).status, 400, JSON.stringify(body));
        assert.equal(request(body), false, JSON.stringify(body));
      }
      assert.equal((await put({text: "x".repeat(70000)})).status, 413);
      assert.equal((await put({text: ""}, {"Content-Type": "text/plain"})).status, 415);
      assert.equal((await put({text: ""}, {}, "999999")).status, 404);
      assert.equal((await put({text: ""}, {Authorization: "Bearer wrong"})).status, 401);
      assert.equal((await put({text: ""}, {Origin: "http://example.org"})).status, 403);
    },
  );
}

export async function apiTests() {
  const daemon = await start();
  const document = new Document((await daemon.ask("GET", "/api/v1/openapi.json")).json);
  const ids = {};
  await test("the document's schemas are valid", async () => assert.deepEqual(schemaErrors(document.json), []));
  await test("verifications run to their end", async () => {
    for (const body of BODIES) {
      const job = await submit(daemon, body);
      ids.job ??= job.id;
      ids.run ??= job.run;
      if (job.run !== ids.run) ids.other ??= job.run;
      if (!job.counters) ids.timed = job.run;
      if (body.sizes === "scaled") ids.predicted = job.run;
      else if (body.predictions) ids.wrong = job.run;
    }
    ids.device = (await daemon.ask("GET", "/api/v1/devices")).json.items[0].id;
  });
  await reads(daemon, document, ids);
  await errors(daemon, document, ids);
  await history(daemon, document, ids);
  await posts(daemon, document);
  await imports(document);
  await queue(document);
  await nothingThere(document);
  await test("every status that the document promises was met, or has a reason why not", async () => {
    assert.deepEqual(
      document.promises().filter((promise) => !document.met.has(promise) && !isExcepted(promise)),
      [],
    );
  });
  await daemon.stop();
}
