// What changes something by the API: jobs, imports, the queue, and a daemon that has nothing.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {mkdirSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {JSON_TYPE, slowRecording, start, temporary} from "../tools/daemon.mjs";
import {test, until} from "../tools/suite.mjs";
import {BODIES} from "./bodies.mjs";

export async function posts(daemon, document) {
  const post = async (body, headers = JSON_TYPE) => {
    const answer = await daemon.ask("POST", "/api/v1/jobs", {
      headers,
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    document.check("POST", "/api/v1/jobs", answer);
    return answer;
  };
  const request = document.compile("#/components/schemas/JobRequest");
  await test("what the document's JobRequest refuses is 400, and nothing is queued", async () => {
    const wrong = [
      {},
      [],
      {suite: "x"},
      {suite: "verify", sizes: "huge"},
      {suite: "verify", cache: []},
      {suite: "verify", cache: ["warm", "warm"]},
      {suite: "verify", kernels: []},
      {suite: "verify", kernels: ["x"]},
      {suite: "verify", counters: 1},
      {suite: "verify", on_interrupt: "x"},
      {suite: "verify", device: ""},
      {suite: "verify", predictions: {vector_add: "maybe"}},
      {suite: "verify", more: 1},
      {suite: "verify", note: "x".repeat(4097)},
      {suite: "verify", label: ""},
      {suite: "verify", label: "x".repeat(65)},
      {suite: "verify", label: 1},
      {suite: "verify", suites: ["verify"]},
    ];
    for (const body of wrong) {
      const answer = await post(body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(
        request(body),
        false,
        `the document allows ${JSON.stringify(body).slice(0, 100)}, the daemon says ${answer.text}`,
      );
    }
    for (const body of ["", "{", '{"suite":"verify","suite":"verify"}', '{"suite":"verify","counters":NaN}']) {
      assert.equal((await post(body)).status, 400, body);
    }
    for (const body of BODIES) assert.ok(request(body), JSON.stringify(body));
  });
  await test("a long body is 413, another type 415, a foreign Origin or Host 403, a wrong token 401", async () => {
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
    assert.deepEqual(
      [first.status, again.status, again.json.id, again.headers["idempotent-replayed"]],
      [202, 202, first.json.id, "true"],
    );
    assert.equal((await post({...body, note: "other"}, headers)).status, 409);
    await until("its end", async () => (await daemon.ask("GET", first.headers.location)).json.state === "done");
    const late = await daemon.ask("DELETE", first.headers.location);
    document.check("DELETE", "/api/v1/jobs/{id}", late);
    assert.equal(late.status, 409);
  });
}

const formOf = (parts) => {
  const text = parts
    .map(
      ([name, value, file]) =>
        `--x\r\nContent-Disposition: form-data; ` +
        `name="${name}"${file ? `; filename="${file}"` : ""}\r\n\r\n${value}\r\n`,
    )
    .join("");
  return {headers: {"Content-Type": "multipart/form-data; boundary=x"}, body: `${text}--x--\r\n`};
};

export async function imports(document) {
  const path = "/api/v1/imports";
  const daemon = await start({
    replay: null,
    ready: false,
    options: ["--open-loopback", "--measure-exec", "/bin/false", "--request-timeout", "1"],
  });
  const send = async (parts, more = {}) => {
    const {headers, body} = formOf(parts);
    const answer = await daemon.ask("POST", path, {headers: {...headers, ...more}, body});
    document.check("POST", path, answer);
    return answer;
  };
  const what = [
    ["device", "Tesla T4"],
    ["driver", "560.35.03"],
    ["cuda", "12.6"],
    ["date", "2026-09-01"],
  ];
  const csv = `"ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value"\n${[
    "read",
    "write",
  ]
    .map((way) => `"0","void mul<4>(T1 *)","(256, 1, 1)","(64, 1, 1)","dram__bytes_${way}.sum","Mbyte","1.5"\n`)
    .join("")}`;
  const timed = `{"kernel": "vector_add", "ms": 0.25, "flop": 16777216, "ask_bytes": 201326592}\n`;
  await test("an import is 201 and, again, 200; it stands in every list and form as described", async () => {
    const made = await send([
      ["ncu", csv, "a.csv"],
      ["timings", timed.replace("vector_add", "mul"), "b.jsonl"],
      ...what,
    ]);
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(
      [made.status, made.json.source, made.json.suite, made.json.sizes, made.json.device.uuid],
      [201, "imported", "import", "other", null],
    );
    assert.ok(made.json.kernels[0].mixed.time_s.median > 0);
    const again = await send([
      ["timings", timed.replace("vector_add", "mul"), "c.jsonl"],
      ["ncu", csv, "d.csv"],
      ...what,
      ["sizes", ""],
    ]);
    assert.deepEqual([again.status, again.json.id], [200, made.json.id]);
    assert.equal((await send([["timings", timed, "t.jsonl"], ...what])).status, 201);
    const {json} = await daemon.ask("GET", "/api/v1/runs?outcome=any&suite=import&sizes=other");
    assert.ok(json.items.some(({id}) => id === made.json.id));
    for (const [route, at] of [
      ["/api/v1/runs", "/api/v1/runs?outcome=any"],
      ["/api/v1/runs/{id}", `/api/v1/runs/${made.json.id}`],
      ["/api/v1/runs/{id}.csv", `/api/v1/runs/${made.json.id}.csv`],
      ["/api/v1/runs/{id}/table", `/api/v1/runs/${made.json.id}/table?state=mixed`],
      ["/api/v1/runs/{id}/samples", `/api/v1/runs/${made.json.id}/samples`],
      ["/api/v1/runs.json", "/api/v1/runs.json?outcome=any"],
      ["/api/v1/history", "/api/v1/history?since=2026-08-01&until=2026-10-01"],
      ["/api/v1/devices", "/api/v1/devices"],
    ]) {
      const answer = await daemon.ask("GET", at);
      document.check("GET", route, answer);
      assert.equal(answer.status, 200, at);
    }
  });
  await test("what cannot be imported is 400, 401, 403, 413, 415 or 422", async () => {
    assert.equal(
      (
        await send([
          ["ncu", csv, "a.csv"],
          ["date", "2099-01-01"],
          ["device", "a"],
        ])
      ).status,
      400,
    );
    assert.equal((await send([["colour", "red"]])).status, 400);
    const other = await daemon.ask("PUT", path);
    document.check("POST", path, other);
    assert.equal(other.status, 405);
    assert.equal((await send([["ncu", csv, "a.csv"]], {Authorization: "Bearer wrong"})).status, 401);
    assert.equal((await send([["ncu", csv, "a.csv"]], {Origin: "http://example.org"})).status, 403);
    assert.equal((await send([["device", "x".repeat(300)]])).status, 413);
    assert.equal((await send([["ncu", csv, "a.csv"]], {"Content-Type": "application/json"})).status, 415);
    const wrong = await send([["ncu", "Type,Time(%),Time,Calls,Avg,Min,Max,Name\n", "<b>.csv"], ...what]);
    assert.deepEqual([wrong.status, wrong.json.error.field], [422, "ncu"]);
    assert.ok(wrong.json.error.message.startsWith("<b>.csv"), wrong.text);
    assert.equal((await daemon.ask("GET", "/api/v1/runs?outcome=any")).json.items.length, 2);
  });
  await test("uploads that stand still are 408", async () => {
    const {headers, body} = formOf([["ncu", csv, "a.csv"]]);
    const slow = [1, 2].map(() =>
      daemon.ask("POST", path, {headers: {...headers, "Content-Length": String(body.length + 100)}, body}),
    );
    for (const answer of await Promise.all(slow)) {
      document.check("POST", path, answer);
      assert.equal(answer.status, 408);
    }
  });
  await daemon.stop();
}

export async function queue(document) {
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
      answer = await ask("POST", "/api/v1/jobs", "/api/v1/jobs", {
        headers: JSON_TYPE,
        body: JSON.stringify({suite: "verify"}),
      });
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
    await until(
      "the cancelled job",
      async () => (await ask("GET", "/api/v1/jobs/{id}", `/api/v1/jobs/${ids[0]}`)).json.state === "cancelled",
      40000,
    );
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

export async function nothingThere(document) {
  const folder = temporary();
  const page = join(folder, "page");
  mkdirSync(page);
  const tokens = join(folder, "tokens");
  writeFileSync(tokens, `# id right hash\nreader read ${createHash("sha256").update("letmein").digest("hex")}\n`, {
    mode: 0o600,
  });
  const bare = await start({
    folder,
    page,
    replay: null,
    ready: false,
    options: ["--token-file", tokens, "--open-loopback", "--measure-exec", "/bin/false"],
  });
  const ask = async (method, path, more) => {
    const answer = await bare.ask(method, path, more);
    document.check(method, path, answer);
    return answer;
  };
  await test("without a device: not ready, jobs 503; without page files: 404; a reader may not submit", async () => {
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
