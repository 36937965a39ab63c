#!/usr/bin/env python3
"""Evidence on a machine with a GPU: the main job through the daemon, as a user would, judged against what the product promises.

    tests/gpu/evidence.py --bin build/bin --out DIR [--parts course,scaled,ncu,…]

Prints one line per claim with the figures seen, a summary last, and leaves documents and tables in DIR. Exit 1 when a claim
does not hold. Needs curl; ncu and compute-sanitizer for the parts of those names, a second GPU for the part "pair" (asked for by name).
"""
import argparse
import csv
import io
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

STREAMS = ["vector_add", "transpose_tiled", "block_reduction", "polynomial256"]
claims = []


def claim(holds, name, figures):
    claims.append((bool(holds), name, figures))
    print(f"{'ok  ' if holds else 'FAIL'} {name}: {figures}", flush=True)


def run(command, timeout=300, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **more)


def curl(daemon, path, *options):
    done = run(["curl", "-sS", *options, daemon.url + path], 60)
    if done.returncode:
        raise RuntimeError(f"curl {path}: {done.stderr}")
    return done.stdout


class Daemon:
    """rooflined on an ephemeral port with a database of its own."""

    def __init__(self, binaries, *options):
        self.folder = tempfile.mkdtemp()
        self.log = open(self.folder + "/log", "w+")
        self.process = subprocess.Popen(
            [binaries + "/rooflined", "--listen", "127.0.0.1:0", "--database", self.folder + "/runs.db",
             "--measure-exec", binaries + "/roofline-measure", "--open-loopback", *options],
            stdout=self.log, stderr=self.log)
        for _ in range(300):
            self.log.seek(0)
            found = re.search(r"listening on (http://127\.0\.0\.1:\d+)", self.log.read())
            if found:
                break
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        if not found:
            self.log.seek(0)
            raise RuntimeError("rooflined did not start: " + self.log.read())
        self.url = found.group(1)
        for _ in range(300):
            if json.loads(curl(self, "/readyz")).get("ready"):
                return
            time.sleep(0.1)
        raise RuntimeError("not ready: " + curl(self, "/readyz"))

    def submit(self, **job):
        body = json.dumps({"suite": "verify", **job})
        answer = json.loads(curl(self, "/api/v1/jobs", "-H", "Content-Type: application/json", "-d", body))
        if "id" not in answer:
            raise RuntimeError(f"refused: {answer}")
        return answer["id"]

    def job(self, number):
        return json.loads(curl(self, f"/api/v1/jobs/{number}"))

    def wait(self, number, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            job = self.job(number)
            if job["state"] not in ("queued", "running"):
                return job
            time.sleep(0.01)
        raise RuntimeError(f"job {number} did not end: {job}")

    def verify(self, **job):
        started = time.monotonic()
        number = self.submit(**job)
        job = self.wait(number)
        wall = time.monotonic() - started
        if job["state"] != "done":
            raise RuntimeError(f"job {number}: {job}\n{curl(self, f'/api/v1/jobs/{number}/transcript')}")
        return job["run"], wall

    def children(self):
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        return [int(word) for word in open(path).read().split()]

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def gpu_memory_mib():
    return int(run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]).stdout.split()[0])


def mean_ratio(value, of):
    return value / of if value is not None and of else float("nan")


def judge_ceilings(document, sizes):
    ceilings = {(c["name"], c["state"]): c for c in document["ceilings"]}
    for c in document["ceilings"]:
        print(f"     ceiling {c['name']} {c['state']}: {c['value']} {c['unit']} shape {c['shape']} dram/ask {c['dram_per_ask']}"
              f" nominal {c['percent_of_nominal']} flags {c['flags']}")
    copy, memcpy, fma = ceilings[("dram_copy", "warm")], ceilings[("dram_memcpy", "warm")], ceilings[("fp32_fma", "warm")]
    ratio = mean_ratio(copy["value"], memcpy["value"])
    claim(ratio >= 0.995, f"{sizes}: copy over cudaMemcpy at least 0.995", f"{ratio:.4f} ({copy['value']/1e9:.1f} GB/s)")
    device = document["device"]
    peak = device["sm_count"] * 128 * 2 * fma["sm_hz"]
    share = fma["value"] / peak
    claim(share >= 0.97, f"{sizes}: FMA at least 97 percent of its clock's peak",
          f"{100*share:.2f} % ({fma['value']/1e12:.2f} TFLOP/s at {fma['sm_hz']/1e6:.0f} MHz)")


def judge_rows(document, sizes):
    rows = document["kernels"]
    claim(len(rows) == 10 and document["source"] == "measured" and document["outcome"] == "ok",
          f"{sizes}: ten rows, measured, ok", f"{len(rows)} {document['source']} {document['outcome']}")
    counters = document["counters"]
    claim(counters["status"] == "ok" and counters["passes"] <= 3, f"{sizes}: counters in at most 3 passes",
          f"{counters['status']} {counters['passes']}, floor {counters['floor_dram_bytes']} B, self-test {counters['self_test']}")
    failed = [c["name"] for c in document["checks"] if c["passed"] is not True]
    claim(not failed, f"{sizes}: every check passes", f"{len(document['checks'])} checks, not passed: {failed}")
    for c in document["checks"]:
        if c["passed"] is not True:
            print(f"       {c['name']}: {c['detail']} {c.get('why')}")
    for row in rows:
        if row["flop"]:
            ratio = mean_ratio(row["flop_counted"], row["flop"])
            claim(abs(ratio - 1) <= 0.001, f"{sizes} {row['kernel']}: flop counted = hand", f"{ratio:.6f}")
        warm, cold = row["warm"], row["cold"]
        for name, state in (("warm", warm), ("cold", cold)):
            claim(state["percent_of_ceiling"] is not None and state["percent_of_ceiling"] <= 101,
                  f"{sizes} {row['kernel']} {name}: at most 101 percent of its ceiling", f"{state['percent_of_ceiling']}")
        n, four = warm["bytes"]["dram"], warm["bytes"]["dram_4n"]
        floor = 5 * (counters["floor_dram_bytes"] or 0) / warm["time_s"]["launches"]
        same = n is not None and four is not None and abs(n - four) <= max(0.01 * max(n, four), floor, 1e-4 * row["ask_bytes"])
        claim(same,
              f"{sizes} {row['kernel']}: bytes at N and 4 N agree", f"{n} {four}")
        print(f"     {sizes} {row['kernel']}: warm {warm['time_s']['median']:.4e} s n {warm['time_s']['n']} stop {warm['time_s']['stop']}"
              f" dram/ask {warm['dram_per_ask']} {warm['bound']} roof {warm['percent_of_roof']} flags {row['flags']}{warm['flags']}{cold['flags']}")


def judge_streams(document, sizes):
    if sizes != "scaled":
        return
    for row in document["kernels"]:
        if row["kernel"] not in STREAMS:
            continue
        warm, settled = row["warm"]["dram_per_ask"], row["cold"]["dram_per_ask"]
        claim(warm is not None and abs(warm - 1) <= 0.003, f"{row['kernel']}: warm DRAM/ask within 1 +- 0.003", f"{warm}")
        claim(settled is not None and abs(settled - 1) <= 0.005, f"{row['kernel']}: settled within 1 +- 0.005", f"{settled}")
    for c in document["ceilings"]:
        if c["name"] == "dram_copy":
            limit = 0.003 if c["state"] == "warm" else 0.005
            claim(c["dram_per_ask"] is not None and abs(c["dram_per_ask"] - 1) <= limit,
                  f"copy {c['state']}: DRAM/ask within 1 +- {limit}", f"{c['dram_per_ask']}")


def judge_matmul(document, sizes):
    if sizes != "course":
        return
    for row in document["kernels"]:
        if row["kernel"].startswith("matmul"):
            settled = row["cold"]["bytes"]["dram_settled"]
            ratio = mean_ratio(settled, 3 * 2 ** 20)
            claim(abs(ratio - 1) <= 0.03, f"{row['kernel']} 512: settled within 3 percent of 3 MiB", f"{ratio:.4f}")


def part_verify(daemon, options, sizes):
    number, wall = daemon.verify(sizes=sizes)
    text = curl(daemon, f"/api/v1/runs/{number}")
    document = json.loads(text)
    open(f"{options.out}/run-{sizes}.json", "w").write(text)
    for state in ("warm", "cold"):
        table = curl(daemon, f"/api/v1/runs/{number}/table?state={state}")
        open(f"{options.out}/table-{sizes}-{state}.txt", "w").write(table)
        print(table)
    print(f"     {sizes}: POST to done {wall:.2f} s")
    judge_ceilings(document, sizes)
    judge_rows(document, sizes)
    judge_streams(document, sizes)
    judge_matmul(document, sizes)
    return document, wall


def ncu_rows(options, sizes, *more):
    command = ["ncu", "--clock-control", "none", "--profile-from-start", "off", "--csv", "--print-units", "base", "--metrics",
               "dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,l1tex__t_bytes.sum", *more,
               options.bin + "/roofline-measure", "--profile", "--sizes", sizes]
    started = time.monotonic()
    done = run(command, 500)
    wall = time.monotonic() - started
    open(f"{options.out}/ncu-{sizes}{'-warm' if more else ''}.csv", "w").write(done.stdout)
    lines = done.stdout[done.stdout.find('"ID"'):]
    rows = {}
    for record in csv.DictReader(io.StringIO(lines)):
        value = float(record["Metric Value"].replace(",", ""))
        rows.setdefault(int(record["ID"]), {})[record["Metric Name"]] = value
    if len(rows) != 10:
        print(done.stdout[-1500:], done.stderr[-1500:])
    return [rows[key] for key in sorted(rows)], wall


def part_ncu(options, documents):
    for sizes, document in documents.items():
        rows, _ = ncu_rows(options, sizes)
        claim(len(rows) == 10, f"{sizes}: ncu saw ten launches", len(rows))
        print("     kernel, ours / ncu: L1, L2, DRAM (MB)")
        for row, seen in zip(document["kernels"], rows):
            ours = row["cold"]["bytes"]
            dram = seen["dram__bytes_read.sum"] + seen["dram__bytes_write.sum"]
            l1, l2 = seen["l1tex__t_bytes.sum"], seen["lts__t_bytes.sum"]
            print(f"     {row['kernel']:22} {ours['l1']/1e6:10.3f} {l1/1e6:10.3f}  {ours['l2']/1e6:10.3f} {l2/1e6:10.3f}"
                  f"  {ours['dram']/1e6:10.3f} {dram/1e6:10.3f}")
            claim(abs(ours["l1"] - l1) <= 0.001 * l1, f"{sizes} {row['kernel']}: L1 beside ncu", f"{ours['l1']/l1-1:+.5f}")
            claim(abs(ours["l2"] - l2) <= 0.05 * l2, f"{sizes} {row['kernel']}: L2 beside ncu", f"{ours['l2']/l2-1:+.4f}")
            difference = abs(ours["dram"] - dram)
            limit = max(0.03 * dram, 3e6) if dram > 50e6 else max(0.05 * dram, 1e6)
            claim(difference <= limit, f"{sizes} {row['kernel']}: DRAM beside ncu",
                  f"{ours['dram']-dram:+.0f} B, {ours['dram']/dram-1:+.4f}")


def part_time(daemon, options):
    walls = sorted(daemon.verify(sizes="course")[1] for _ in range(5))
    started = time.monotonic()
    run([options.bin + "/roofline-measure", "--table", "--no-counters", "--sizes", "course"], 300)
    table = time.monotonic() - started
    _, cold = ncu_rows(options, "course")
    _, warm = ncu_rows(options, "course", "--cache-control", "none", "--replay-mode", "application")
    seed = table + cold + warm
    claim(walls[-1] <= 4, "course verification, warm and cold, with counters: at most 4 s", f"{[round(w, 2) for w in walls]} s")
    claim(walls[2] <= seed / 2, "at most half of the seed's own way",
          f"{walls[2]:.2f} s of {seed:.2f} s (table {table:.2f}, ncu cold {cold:.2f}, ncu warm {warm:.2f})")


def part_repeat(daemon, options):
    before = gpu_memory_mib(), daemon.descriptors(), len(daemon.children())
    medians, ceilings = {}, {}
    for _ in range(20):
        number, _ = daemon.verify(sizes="course")
        document = json.loads(curl(daemon, f"/api/v1/runs/{number}"))
        for row in document["kernels"]:
            medians.setdefault(row["kernel"], []).append(row["warm"]["time_s"]["median"])
        for c in document["ceilings"]:
            ceilings.setdefault(f"{c['name']} {c['state']}", []).append(c["value"])
    time.sleep(1)
    after = gpu_memory_mib(), daemon.descriptors(), len(daemon.children())
    claim(after[1] == before[1] and after[2] == before[2] and after[0] <= before[0],
          "20 verifications: no leak (GPU MiB, descriptors, processes)", f"{before} -> {after}")
    for name, values in list(medians.items()) + list(ceilings.items()):
        middle = statistics.median(values)
        print(f"     {name}: median {middle:.5e}, spread {100*(max(values)-min(values))/middle:.2f} %,"
              f" sd {100*statistics.stdev(values)/middle:.2f} %")


def part_runs(daemon, options):
    """Every course run of this session with counters, as the draws that comparisons of a machine with itself are tested on."""
    while len(course_runs(daemon)) < 40:
        daemon.verify(sizes="course")
    draws = []
    for summary in course_runs(daemon):
        document = json.loads(curl(daemon, f"/api/v1/runs/{summary['id']}"))
        rows = [{"kernel": row["kernel"], "state": state, "time_s": row[state]["time_s"]["median"], "sm_hz": row[state]["sm_hz"],
                 "dram": row[state]["bytes"]["dram"]} for row in document["kernels"] for state in ("warm", "cold")]
        ceilings = [{"name": c["name"], "state": c["state"], "value": c["value"]} for c in document["ceilings"]]
        draws.append({"id": summary["id"], "date": summary["date"], "device": document["device"]["id"], "rows": rows, "ceilings": ceilings})
    with open(f"{options.out}/h200_runs.json", "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(d, separators=(",", ":")) for d in reversed(draws)) + "\n]\n")
    claim(len(draws) >= 30, "runs for comparing the machine with itself", len(draws))


def course_runs(daemon):
    answer = json.loads(curl(daemon, "/api/v1/runs?sizes=course&counters=counter-backed&limit=200"))
    return [item for item in answer["items"] if item["source"] == "measured"]


def running_at_once(daemon, numbers, seconds=120):
    """Whether all these jobs were once seen running in the same moment; waits for their ends."""
    end = time.monotonic() + seconds
    together = False
    while time.monotonic() < end:
        states = [daemon.job(number)["state"] for number in numbers]
        together = together or all(state == "running" for state in states)
        if not any(state in ("queued", "running") for state in states):
            return together
        time.sleep(0.01)
    raise RuntimeError(f"jobs {numbers} did not end: {states}")


def part_pair(daemon, options):
    """Two GPUs of one node: a job on each at once, each in its own process, beside the same jobs one after the other."""
    devices = [item["id"] for item in json.loads(curl(daemon, "/api/v1/devices"))["items"]]
    uuids = run(["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]).stdout.split()
    claim(sorted(devices) == sorted(uuids) and len(devices) >= 2, "every GPU of the node is a device", f"{devices}")
    first, _ = daemon.verify(sizes="course", kernels=["vector_add"], counters=False)
    claim(json.loads(curl(daemon, f"/api/v1/runs/{first}"))["device"]["id"] == uuids[0], "no device asked for: the first one's", uuids[0])
    alone = [json.loads(curl(daemon, f"/api/v1/runs/{daemon.verify(sizes='course', device=uuid)[0]}")) for uuid in uuids[:2]]
    for _ in range(3):
        numbers = [daemon.submit(sizes="course", device=uuid) for uuid in uuids[:2]]
        together = running_at_once(daemon, numbers)
        jobs = [daemon.job(number) for number in numbers]
        claim(together and all(job["state"] == "done" for job in jobs), "a job on each GPU, side by side",
              f"together {together}, {[job['state'] for job in jobs]} {[job.get('error') for job in jobs]}")
        beside = [json.loads(curl(daemon, f"/api/v1/runs/{job['run']}")) for job in jobs]
        for uuid, one, other in zip(uuids, alone, beside):
            judge_beside(uuid, one, other)
    twice = [daemon.submit(sizes="course", device=uuids[1], kernels=["vector_add"]) for _ in range(2)]
    claim(not running_at_once(daemon, twice), "two jobs of one GPU never run at once", [daemon.job(n)["state"] for n in twice])
    os.makedirs(f"{options.out}/pair", exist_ok=True)
    for uuid, document in zip(uuids, beside):
        open(f"{options.out}/pair/{uuid}.json", "w").write(json.dumps(document))


def judge_beside(uuid, alone, beside):
    """A run beside another GPU's run: the right card, all counters, bytes as alone; the times' ratios are figures, not claims."""
    outcome = beside["outcome"], beside["counters"]["status"], beside["device"]["id"]
    flags = sorted({flag for row in beside["kernels"] for flag in row["flags"]})
    claim(outcome == ("ok", "ok", uuid) and "shared" not in beside["flags"], f"{uuid[:12]} beside the other: its own run",
          f"{outcome}, flags {flags}")
    ratios, dram = [], []
    for row, other in zip(alone["kernels"], beside["kernels"]):
        for state in ("warm", "cold"):
            ratios.append(other[state]["time_s"]["median"] / row[state]["time_s"]["median"])
        dram.append(other["cold"]["bytes"]["dram"] / row["cold"]["bytes"]["dram"])
        l1 = other["cold"]["bytes"]["l1"], row["cold"]["bytes"]["l1"]
        claim(l1[0] == l1[1], f"{uuid[:12]} {row['kernel']}: L1 bytes as alone", l1)
    print(f"     {uuid[:12]}: time beside / alone {min(ratios):.4f} to {max(ratios):.4f}, cold DRAM bytes {min(dram):.4f} to {max(dram):.4f}")


def part_exports(options):
    """What ncu writes about our binary, in the shapes that the import has to read."""
    shapes = {"long-cold": [], "long-warm": ["--cache-control", "none", "--replay-mode", "application"], "raw-cold": ["--page", "raw"],
              "raw-warm": ["--page", "raw", "--cache-control", "none", "--replay-mode", "application"]}
    metrics = "dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,l1tex__t_bytes.sum"
    sets = {"set-roofline": ["--set", "roofline", "--page", "raw"], "set-full": ["--set", "full", "--page", "raw"]}
    os.makedirs(f"{options.out}/h200", exist_ok=True)
    for name, more in {**{k: ["--metrics", metrics, *v] for k, v in shapes.items()}, **sets}.items():
        done = run(["ncu", "--clock-control", "none", "--profile-from-start", "off", "--csv", *more, options.bin + "/roofline-measure",
                    "--profile", "--sizes", "course"], 500)
        open(f"{options.out}/h200/{name}.csv", "w").write(done.stdout)
        claim("vector_add" in done.stdout, f"ncu export {name}", f"{len(done.stdout)} bytes")
    done = run([options.bin + "/roofline-measure", "--json", "--no-counters", "--sizes", "course"], 100)
    open(f"{options.out}/h200/timings.jsonl", "w").write(done.stdout)


def in_phase(daemon, number, phase, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job = daemon.job(number)
        if job["state"] not in ("queued", "running"):
            return False
        if (job.get("progress") or {}).get("phase") == phase:
            return True
        time.sleep(0.005)
    return False


def gone(pids, seconds=5):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(os.path.isdir(f"/proc/{pid}") for pid in pids):
            return True
        time.sleep(0.02)
    return False


def part_kill(daemon, options):
    idle = gpu_memory_mib()
    for phase in ("start", "ceilings", "kernels", "counters"):
        for way in ("kill", "cancel"):
            number = daemon.submit(sizes="scaled")
            reached = in_phase(daemon, number, phase)
            pids = daemon.children()
            if way == "kill":
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
            else:
                curl(daemon, f"/api/v1/jobs/{number}", "-X", "DELETE")
            job = daemon.wait(number)
            wanted = "failed" if way == "kill" else "cancelled"
            dead = gone(pids)
            time.sleep(0.3)
            memory = gpu_memory_mib()
            run_id, _ = daemon.verify(sizes="course", kernels=["vector_add"], counters=False)
            outcome = json.loads(curl(daemon, f"/api/v1/runs/{run_id}"))["outcome"]
            claim(reached and job["state"] == wanted and dead and memory <= idle + 8 and outcome == "ok",
                  f"{way} in {phase}", f"reached {reached}, {job['state']}, process gone {dead}, {memory} MiB (idle {idle}), next {outcome}")


def part_timeout(options):
    """A process that stands still in a phase: the phase's own limit has to end it (a tenth of the job's limit for start and
    ceilings, three tenths for kernels and counters)."""
    daemon = Daemon(options.bin, "--job-timeout", "15")
    try:
        idle = gpu_memory_mib()
        for phase in ("start", "ceilings", "kernels", "counters"):
            number = daemon.submit(sizes="course")
            reached = in_phase(daemon, number, phase)
            pids = daemon.children()
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            job = daemon.wait(number)
            dead = gone(pids)
            time.sleep(0.3)
            memory = gpu_memory_mib()
            code = (job.get("error") or {}).get("code")
            run_id, _ = daemon.verify(sizes="course", kernels=["vector_add"], counters=False)
            outcome = json.loads(curl(daemon, f"/api/v1/runs/{run_id}"))["outcome"]
            claim(reached and job["state"] == "failed" and code == "measure_timeout" and dead and memory <= idle + 8
                  and outcome == "ok", f"timeout in {phase}",
                  f"reached {reached}, {job['state']} {code}, process gone {dead}, {memory} MiB (idle {idle}), next {outcome}")
    finally:
        daemon.close()


def part_sanitize(options):
    for tool in ("memcheck", "racecheck"):
        done = run(["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", options.bin + "/roofline-measure", "--profile",
                    "--sizes", "course"], 500)
        last = [line for line in (done.stdout + done.stderr).splitlines() if "SUMMARY" in line]
        claim(done.returncode == 0, f"compute-sanitizer {tool}", f"exit {done.returncode}, {last}")
        if done.returncode:
            print((done.stdout + done.stderr)[-2000:])


def part_record(options):
    path = f"{options.out}/recording.jsonl"
    done = run([options.bin + "/roofline-measure", "--record", path], 300)
    size = os.path.getsize(path) if os.path.exists(path) else 0
    claim(done.returncode == 0 and size > 0, "a recording of both sizes", f"exit {done.returncode}, {size} bytes {done.stderr[-300:]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--out", required=True)
    parser.add_argument("--parts", default="course,scaled,ncu,time,repeat,kill,timeout,runs,exports,sanitize,record")
    options = parser.parse_args()
    parts = options.parts.split(",")
    os.makedirs(options.out, exist_ok=True)
    options.bin = os.path.abspath(options.bin)
    daemon = Daemon(options.bin)
    documents = {}
    steps = [(name, lambda name=name: documents.update({name: part_verify(daemon, options, name)[0]})) for name in ("course", "scaled")]
    steps += [("ncu", lambda: part_ncu(options, documents)), ("time", lambda: part_time(daemon, options)),
              ("repeat", lambda: part_repeat(daemon, options)), ("kill", lambda: part_kill(daemon, options)),
              ("timeout", lambda: part_timeout(options)), ("pair", lambda: part_pair(daemon, options)),
              ("runs", lambda: part_runs(daemon, options)),
              ("exports", lambda: part_exports(options)), ("record", lambda: part_record(options)),
              ("sanitize", lambda: part_sanitize(options))]
    try:
        for name, step in steps:
            if name not in parts:
                continue
            started = time.monotonic()
            try:
                step()
            except Exception as problem:  # one broken part must not hide the others' figures
                claim(False, name, f"{type(problem).__name__}: {problem}"[:1500])
            print(f"---- {name}: {time.monotonic()-started:.1f} s", flush=True)
    finally:
        daemon.close()
    failed = [c for c in claims if not c[0]]
    print(f"\n{len(claims) - len(failed)} passed, {len(failed)} failed")
    for _, name, figures in failed:
        print(f"FAIL {name}: {figures}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
