// Starts and ends daemons of the build under test, and talks to them with every header under control.
import {spawn} from "node:child_process";
import {mkdtempSync, readFileSync, writeFileSync} from "node:fs";
import http from "node:http";
import {join, relative} from "node:path";
import {until} from "./suite.mjs";

const {RL_BIN, RL_PAGE, RL_RECORDING, RL_WORK} = process.env;
const running = new Set();

export const temporary = () => mkdtempSync(join(RL_WORK, "run-"));

/** A recording in folder that answers as the one under test does, only later: each call takes so many milliseconds. */
export function slowRecording(folder, ms) {
  const path = join(folder, "slow.jsonl");
  const lines = [
    {roofline_recording: 1, base: relative(folder, RL_RECORDING), note: "slow, so that a job can be met while it runs"},
    ...["warm", "cold", "count"].map((on) => ({op: "fault", on, delay_ms: ms})),
  ];
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

/** What measures over a recording: the program that ships, or the tests' where the recording has faults. */
function measure(replay) {
  const faulty = readFileSync(replay, "utf8")
    .split("\n", 2)
    .some((line) => /"op": ?"fault"/.test(line));
  return join(RL_BIN, faulty ? "faulty_measure" : "roofline-measure");
}

/** A daemon on a free port (or the one named) of 127.0.0.1. options are added to the command line. */
export async function start({
  folder = temporary(),
  port = 0,
  page = RL_PAGE,
  replay = RL_RECORDING,
  options = ["--open-loopback"],
  ready = true,
} = {}) {
  const args = ["--listen", `127.0.0.1:${port}`, "--database", join(folder, "test.db"), "--static", page, ...options];
  if (replay) args.push("--replay", replay, "--measure-exec", measure(replay));
  const child = spawn(join(RL_BIN, "rooflined"), args, {stdio: ["ignore", "ignore", "pipe"], cwd: folder});
  const daemon = {folder, child, log: "", ended: null};
  running.add(daemon);
  child.stderr.on("data", (data) => {
    daemon.log += data;
  });
  daemon.ended = new Promise((resolve) =>
    child.on("exit", () => {
      running.delete(daemon);
      resolve();
    }),
  );
  const found = await until("the daemon's line", () => {
    if (child.exitCode !== null) throw new Error(`rooflined ended with ${child.exitCode}: ${daemon.log}`);
    return /listening on http:\/\/127\.0\.0\.1:(\d+)\//.exec(daemon.log);
  });
  daemon.port = Number(found[1]);
  daemon.url = `http://127.0.0.1:${daemon.port}`;
  daemon.ask = (method, path, more) => ask(daemon.port, method, path, more);
  daemon.stop = async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 10000);
    await daemon.ended;
    clearTimeout(timer);
  };
  if (ready) await until("readiness", async () => (await daemon.ask("GET", "/readyz")).status === 200);
  return daemon;
}

export async function stopAll() {
  await Promise.all([...running].map((daemon) => daemon.stop()));
}

/** {status, headers, text, json (undefined when it is none)} */
export function ask(port, method, path, {headers = {}, body} = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        host: "127.0.0.1",
        port,
        method,
        path,
        headers: body === undefined ? headers : {"Content-Length": Buffer.byteLength(body), ...headers},
        agent: false,
        timeout: 20000,
      },
      (answer) => {
        const parts = [];
        answer.on("data", (part) => parts.push(part));
        answer.on("error", reject);
        answer.on("end", () => {
          const text = Buffer.concat(parts).toString("utf8");
          let json;
          if (/^application\/json/.test(answer.headers["content-type"] ?? "") && method !== "HEAD" && text) {
            json = JSON.parse(text);
          }
          resolve({status: answer.statusCode, headers: answer.headers, text, json});
        });
      },
    );
    request.on("timeout", () => request.destroy(new Error(`${method} ${path}: no answer`)));
    request.on("error", reject);
    request.end(body);
  });
}

export const JSON_TYPE = {"Content-Type": "application/json"};

/** Submits a job and waits for its end; gives the job. */
export async function submit(daemon, body, wanted = "done") {
  const made = await daemon.ask("POST", "/api/v1/jobs", {headers: JSON_TYPE, body: JSON.stringify(body)});
  if (made.status !== 202) throw new Error(`POST: ${made.status} ${made.text}`);
  const job = await until(`the end of job ${made.json.id}`, async () => {
    const {json} = await daemon.ask("GET", `/api/v1/jobs/${made.json.id}`);
    return ["done", "failed", "cancelled", "interrupted"].includes(json.state) && json;
  });
  if (job.state !== wanted) throw new Error(`job ${job.id} is ${job.state}: ${JSON.stringify(job.error)}`);
  return job;
}
