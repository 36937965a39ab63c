// Every route and every status that the OpenAPI document promises, as far as it can be brought about from outside.
import assert from "node:assert/strict";
import {mkdirSync, writeFileSync} from "node:fs";
import {createHash} from "node:crypto";
import {join} from "node:path";
import {JSON_TYPE, slowRecording, start, submit, temporary} from "./daemon.mjs";
import {Document, schemaErrors} from "./openapi.mjs";
import {test, until} from "./suite.mjs";

/** Promises that are not met here, each with the reason: (method path status) → why. */
function isExcepted(promise) {
  const [method, path, status] = promise.split(" ");
  if (status === "500") return "a fault of the disk or of the daemon: the store's own tests make them";
  if (status === "503" && !(path === "/readyz" || (method === "POST" && path === "/api/v1/jobs"))) return "the store is full, locked or read-only: its own tests make it so";
  return null;
}

const READS = ["/api/v1/jobs", "/api/v1/jobs/{id}", "/api/v1/jobs/{id}/transcript", "/api/v1/runs", "/api/v1/runs/{id}", "/api/v1/runs/{id}.csv", "/api/v1/runs/{id}/table",
  "/api/v1/runs/{id}/samples", "/api/v1/devices", "/api/v1/kernels", "/api/v1/openapi.json", "/healthz", "/readyz", "/metrics", "/"];
const BODIES = [
  {suite: "verify"},
  {suite: "verify", cache: ["cold"], kernels: ["vector_add", "transpose_naive"], note: "<b>cold</b> only"},
  {suite: "verify", counters: false},
  {suite: "verify", sizes: "scaled", kernels: ["matmul_naive"], predictions: {matmul_naive: "below"}, on_interrupt: "retry"},
];

function documentTests(daemon, document, ids) {
  const real = (path) => path.replace("{id}", path.startsWith("/api/v1/jobs") ? ids.job : ids.run);
  const get = async (path, more, method = "GET") => {
    const answer = await daemon.ask(method, more?.path ?? real(path), more);
    document.check(method === "HEAD" ? "GET" : method, path, answer);
    return answer;
  };
  const each = (name, body) => test(name, async () => {
    for (const path of READS) if (document.json.paths[path]) await body(path);
  });
  return {get, each, real};
}

async function reads(daemon, document, ids) {
  const {get, each, real} = documentTests(daemon, document, ids);
  await each("each route answers 200 as described", async (path) => assert.equal((await get(path)).status, 200, path));
  await test("lists in pages, with every filter", async () => {
    const filters = ["source=replayed", "source=any&outcome=any", "sizes=scaled", "counters=timed-only", "driver=580", "cuda=13.0", "suite=verify", "since=2020-01-01", "until=2100-01-01T00:00:00Z", "device=none"];
    for (const filter of filters) assert.equal((await get("/api/v1/runs", {path: `/api/v1/runs?${filter}`})).status, 200, filter);
    const first = await get("/api/v1/runs", {path: "/api/v1/runs?limit=1"});
    assert.equal(first.json.items.length, 1);
    const next = await get("/api/v1/runs", {path: `/api/v1/runs?limit=1&cursor=${first.json.next}`});
    assert.notEqual(next.json.items[0].id, first.json.items[0].id);
    for (const state of ["queued", "running", "done", "failed", "cancelled", "interrupted"]) await get("/api/v1/jobs", {path: `/api/v1/jobs?state=${state}`});
  });
  await test("every run is as described, whole, as table, CSV and samples", async () => {
    const {json} = await get("/api/v1/runs", {path: "/api/v1/runs?limit=200&outcome=any"});
    assert.equal(json.items.length, BODIES.length);
    for (const {id} of json.items)
      for (const path of ["/api/v1/runs/{id}", "/api/v1/runs/{id}.csv", "/api/v1/runs/{id}/table", "/api/v1/runs/{id}/samples"])
        assert.equal((await get(path, {path: path.replace("{id}", id)})).status, 200);
    for (const state of ["warm", "cold"]) assert.equal((await get("/api/v1/runs/{id}/table", {path: `${real("/api/v1/runs/{id}/table")}?state=${state}`})).status, 200);
  });
  await each("a known ETag answers 304", async (path) => {
    if (!document.json.paths[path].get.responses["304"]) return;
    const {headers} = await get(path);
    assert.ok(headers.etag, `${path} has no ETag`);
    assert.equal((await get(path, {headers: {"If-None-Match": headers.etag}})).status, 304, path);
  });
}

async function errors(daemon, document, ids) {
  const {get, each, real} = documentTests(daemon, document, ids);
  await each("an unknown parameter is 400 and named", async (path) => {
    const answer = await get(path, {path: `${real(path)}?nonsense=1`});
    assert.deepEqual([answer.status, answer.json.error.field], [400, "nonsense"], path);
  });
  await each("a wrong Host is 403", async (path) => assert.equal((await get(path, {headers: {Host: "example.org"}})).status, 403, path));
  await each("an unknown token is 401 where there is something to read", async (path) => {
    const answer = await get(path, {headers: {Authorization: "Bearer wrong"}});
    if (document.json.paths[path].get.responses["401"]) assert.equal(answer.status, 401, path);
  });
  await each("what is not there is 404", async (path) => {
    if (path.includes("{id}")) assert.equal((await get(path, {path: path.replace("{id}", "999999")})).status, 404, path);
  });
  await each("another method is 405 with Allow", async (path) => {
    const answer = await daemon.ask("PUT", real(path), {headers: JSON_TYPE, body: "{}"});
    assert.equal(answer.status, 405, path);
    assert.ok(answer.headers.allow, path);
    // described by every operation's default
    document.check("GET", path, answer);
    if (path === "/api/v1/jobs") document.check("POST", path, answer);
    if (path === "/api/v1/jobs/{id}") document.check("DELETE", path, answer);
  });
  await each("HEAD has GET's head and no body", async (path) => {
    const answer = await daemon.ask("HEAD", real(path));
    assert.deepEqual([answer.status, answer.text], [200, ""], path);
  });
}

async function posts(daemon, document) {
  const post = async (body, headers = JSON_TYPE) => {
    const answer = await daemon.ask("POST", "/api/v1/jobs", {headers, body: typeof body === "string" ? body : JSON.stringify(body)});
    document.check("POST", "/api/v1/jobs", answer);
    return answer;
  };
  const request = document.compile("#/components/schemas/JobRequest");
  await test("what the document's JobRequest refuses is 400, and nothing is queued", async () => {
    const wrong = [{}, [], {suite: "x"}, {suite: "verify", sizes: "huge"}, {suite: "verify", cache: []}, {suite: "verify", cache: ["warm", "warm"]}, {suite: "verify", kernels: []},
      {suite: "verify", kernels: ["x"]}, {suite: "verify", counters: 1}, {suite: "verify", on_interrupt: "x"}, {suite: "verify", device: ""}, {suite: "verify", predictions: {vector_add: "maybe"}},
      {suite: "verify", more: 1}, {suite: "verify", note: "x".repeat(4097)}, {suite: "verify", suites: ["verify"]}];
    for (const body of wrong) {
      const answer = await post(body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(request(body), false, `the document allows ${JSON.stringify(body).slice(0, 100)}, the daemon says ${answer.text}`);
    }
    for (const body of ["", "{", '{"suite":"verify","suite":"verify"}', '{"suite":"verify","counters":NaN}']) assert.equal((await post(body)).status, 400, body);
    for (const body of BODIES) assert.ok(request(body), JSON.stringify(body));
  });
  await test("a long body is 413, another type 415, a foreign Origin and a wrong Host 403, an unknown token 401", async () => {
    assert.equal((await post(`{"note":"${"x".repeat(70000)}"}`)).status, 413);
    assert.equal((await post({suite: "verify"}, {"Content-Type": "text/plain"})).status, 415);
    assert.equal((await post({suite: "verify"}, {...JSON_TYPE, Origin: "http://example.org"})).status, 403);
    assert.equal((await post({suite: "verify"}, {...JSON_TYPE, Host: "example.org"})).status, 403);
    assert.equal((await post({suite: "verify"}, {...JSON_TYPE, Authorization: "Bearer wrong"})).status, 401);
  });
  await test("an Idempotency-Key gives the same job again, and 409 with another body", async () => {
    const headers = {...JSON_TYPE, "Idempotency-Key": "one"};
    const body = {suite: "verify", kernels: ["vector_add"], cache: ["warm"], counters: false, note: "again"};
    const first = await post(body, headers);
    const again = await post(body, headers);
    assert.deepEqual([first.status, again.status, again.json.id, again.headers["idempotent-replayed"]], [202, 202, first.json.id, "true"]);
    assert.equal((await post({...body, note: "other"}, headers)).status, 409);
    await until("its end", async () => (await daemon.ask("GET", first.headers.location)).json.state === "done");
    const late = await daemon.ask("DELETE", first.headers.location);
    document.check("DELETE", "/api/v1/jobs/{id}", late);
    assert.equal(late.status, 409);
  });
}

async function queue(document) {
  const folder = temporary();
  const slow = await start({folder, replay: slowRecording(folder, 100)});
  const ask = async (method, path, at, more) => {
    const answer = await slow.ask(method, at, more);
    document.check(method, path, answer);
    return answer;
  };
  await test("a full queue is 429 with Retry-After; waiting and running jobs can be seen and cancelled", async () => {
    let answer;
    const ids = [];
    for (let i = 0; i < 70; i++) {
      answer = await ask("POST", "/api/v1/jobs", "/api/v1/jobs", {headers: JSON_TYPE, body: JSON.stringify({suite: "verify"})});
      if (answer.status !== 202) break;
      ids.push(answer.json.id);
    }
    assert.equal(answer.status, 429);
    assert.ok(Number(answer.headers["retry-after"]) > 0);
    const running = await until("progress", async () => {
      const {json} = await ask("GET", "/api/v1/jobs/{id}", `/api/v1/jobs/${ids[0]}`);
      return json.state === "running" && json.progress && json;
    });
    assert.ok(running.progress.total >= running.progress.done);
    assert.equal((await ask("GET", "/api/v1/jobs/{id}", `/api/v1/jobs/${ids[1]}`)).json.state, "queued");
    await ask("GET", "/api/v1/jobs/{id}/transcript", `/api/v1/jobs/${ids[0]}/transcript`);
    assert.equal((await ask("DELETE", "/api/v1/jobs/{id}", `/api/v1/jobs/${ids.at(-1)}`)).status, 200);
    assert.equal((await ask("DELETE", "/api/v1/jobs/{id}", `/api/v1/jobs/${ids[0]}`)).status, 202);
    for (const id of ids.slice(1, -1)) await slow.ask("DELETE", `/api/v1/jobs/${id}`);
    await until("the cancelled job", async () => (await ask("GET", "/api/v1/jobs/{id}", `/api/v1/jobs/${ids[0]}`)).json.state === "cancelled", 40000);
    assert.equal((await slow.ask("GET", "/readyz")).json.queue.queued, 0);
  });
  await test("cancelling: 400, 401, 403, 404", async () => {
    const path = "/api/v1/jobs/{id}";
    assert.equal((await ask("DELETE", path, "/api/v1/jobs/1?x=1")).status, 400);
    assert.equal((await ask("DELETE", path, "/api/v1/jobs/1", {headers: {Authorization: "Bearer wrong"}})).status, 401);
    assert.equal((await ask("DELETE", path, "/api/v1/jobs/1", {headers: {Host: "example.org"}})).status, 403);
    assert.equal((await ask("DELETE", path, "/api/v1/jobs/999999")).status, 404);
  });
  await slow.stop();
}

async function nothingThere(document) {
  const folder = temporary();
  const page = join(folder, "page");
  mkdirSync(page);
  const tokens = join(folder, "tokens");
  writeFileSync(tokens, `# id right hash\nreader read ${createHash("sha256").update("letmein").digest("hex")}\n`, {mode: 0o600});
  const bare = await start({folder, page, replay: null, ready: false, options: ["--token-file", tokens, "--open-loopback", "--measure-exec", "/bin/false"]});
  const ask = async (method, path, more) => {
    const answer = await bare.ask(method, path, more);
    document.check(method, path, answer);
    return answer;
  };
  await test("without a device: not ready, jobs 503; without page files: 404; a reader's token may not submit", async () => {
    const ready = await until("the probe's end", async () => {
      const answer = await ask("GET", "/readyz");
      return answer.status === 503 && answer.json.reasons.length > 0 && answer;
    });
    assert.ok(ready.json.reasons[0].next_action);
    const body = JSON.stringify({suite: "verify"});
    assert.equal((await ask("POST", "/api/v1/jobs", {headers: JSON_TYPE, body})).status, 503);
    assert.equal((await ask("GET", "/")).status, 404);
    assert.deepEqual((await ask("GET", "/api/v1/runs")).json, {items: [], next: null});
    assert.deepEqual((await ask("GET", "/api/v1/devices")).json.items, []);
    const reader = {Authorization: "Bearer letmein"};
    assert.equal((await ask("GET", "/api/v1/jobs", {headers: reader})).status, 200);
    assert.equal((await ask("POST", "/api/v1/jobs", {headers: {...JSON_TYPE, ...reader}, body})).status, 403);
  });
  await bare.stop();
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
    }
  });
  await reads(daemon, document, ids);
  await errors(daemon, document, ids);
  await posts(daemon, document);
  await queue(document);
  await nothingThere(document);
  await test("every status that the document promises was met, or has a reason why not", async () => {
    assert.deepEqual(document.promises().filter((promise) => !document.met.has(promise) && !isExcepted(promise)), []);
  });
  await daemon.stop();
}
