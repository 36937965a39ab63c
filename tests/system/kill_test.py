#!/usr/bin/env python3
"""Kills the daemon and the measuring process with SIGKILL at random instants and looks at what is left.

Real programs, a replayed recording that takes a fraction of a second, both ways of starting the measuring process. After each
kill: every acknowledged job is still known, none stays running, the database is whole, what had ended is as it was, and
the next job is measured. Beside that, with recordings that hang in each phase: the end of the stream alone ends the measuring
process within 2 s, after a kill of the daemon and after a cancel.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

LIMIT_S = 60       # of anything that is waited for: a loaded machine is slow, a defect is for ever
EXIT_S = 2.0       # PROTOCOL_EXIT_MS: end of file to exit
ENDED = ("done", "failed", "cancelled", "interrupted")
HANGS = ("identify", "start", "ceilings", "kernels", "counters", "end", "checks")


class Failure(Exception):
    pass


def check(truth, words):
    if not truth:
        raise Failure(words)


def wait_for(what, words, limit=LIMIT_S, step=0.004):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(step)
    raise Failure(f"{words}: not within {limit} s")


def processes():
    """pid -> (parent, start time, command line) of everything that runs."""
    found = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            stat = pathlib.Path(entry.path, "stat").read_text()
            command = pathlib.Path(entry.path, "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        fields = stat[stat.rindex(")") + 2:].split()
        if fields[0] not in "ZX":
            found[int(entry.name)] = (int(fields[1]), fields[19], [c.decode(errors="replace") for c in command])
    return found


class Site:
    """A database, a recording, and a daemon that comes and goes."""

    def __init__(self, way, binaries, data, recording):
        self.way, self.binaries = way, binaries
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="rl-kill-"))
        self.database = self.directory / "test.db"
        self.recordings = self.directory / "recordings"
        self.recordings.mkdir()
        shutil.copy(data / "base.jsonl", self.recordings / "base.jsonl")
        shutil.copytree(data / "faults", self.recordings / "faults")
        (self.recordings / "slow.jsonl").write_text(
            '{"roofline_recording": 1, "base": "base.jsonl", "note": "a millisecond a line: every phase takes its share"}\n'
            '{"op": "fault", "on": "line", "delay_ms": 1}\n')
        self.recording = self.recordings / recording
        self.log = open(self.directory / "log", "ab")
        self.daemon = self.activator = self.program = None
        self.socket = self.directory / "measure.sock"
        self.ports = 0

    def measuring_program(self):
        """The program that ships, or the tests' where the recording has faults."""
        with open(self.recording, encoding="utf-8") as recording:
            faulty = '"op": "fault"' in recording.readline() + recording.readline()
        return str(self.binaries / ("faulty_measure" if faulty else "roofline-measure"))

    def start(self, job_timeout=None, listen="127.0.0.1:0"):
        self.program = self.measuring_program()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("ROOFLINE", "LISTEN_", "NOTIFY_"))}
        if self.way == "socket" and self.activator is None:
            self.activator = subprocess.Popen(
                ["systemd-socket-activate", "--accept", "-l", str(self.socket), self.program, "--protocol", "--replay", str(self.recording)],
                stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment)
            wait_for(self.socket.exists, "systemd-socket-activate listens")
        command = [str(self.binaries / "rooflined"), "--listen", listen, "--database", str(self.database), "--open-loopback"]
        if self.way == "socket":
            command += ["--measure-socket", str(self.socket)]
        else:
            command += ["--measure-exec", self.program, "--replay", str(self.recording)]
        if job_timeout:
            command += ["--job-timeout", str(job_timeout)]
        at = self.log.tell()
        self.daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment,
                                       cwd=self.directory)
        self.port = wait_for(lambda: self._port(at), "the daemon listens")

    def _port(self, at):
        check(self.daemon.poll() is None, "the daemon ended at its start:\n" + self.log_tail())
        with open(self.directory / "log", "rb") as log:
            log.seek(at)
            found = re.search(rb"listening on http://127\.0\.0\.1:(\d+)/\n", log.read())
        return int(found.group(1)) if found else None

    def log_tail(self):
        return (self.directory / "log").read_text(errors="replace")[-2000:]

    def request(self, method, path, body=None, connection=None):
        own = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        headers = {"Content-Type": "application/json"} if body is not None else {}
        own.request(method, path, None if body is None else json.dumps(body), headers)
        answer = own.getresponse()
        text = answer.read()
        if connection is None:
            own.close()
        return answer.status, json.loads(text)

    def ready(self):
        wait_for(lambda: self.request("GET", "/readyz")[0] == 200, "the daemon is ready")

    def submit(self, **more):
        status, job = self.request("POST", "/api/v1/jobs", {"suite": "verify", **more})
        check(status == 202, f"POST gave {status}: {job}")
        return job["id"]

    def job(self, job_id):
        status, job = self.request("GET", f"/api/v1/jobs/{job_id}")
        check(status == 200, f"job {job_id}: {status} {job}")
        return job

    def wait_ended(self, job_id):
        return wait_for(lambda: (lambda j: j if j["state"] in ENDED else None)(self.job(job_id)), f"job {job_id} ends")

    def measures(self):
        """Measuring processes of this site: children of the daemon, or of the activator; never anybody else's."""
        parents = {p.pid for p in (self.daemon, self.activator) if p is not None}
        return {pid: start for pid, (parent, start, command) in processes().items()
                if command[0] == self.program and (parent in parents or str(self.recording) in command)}

    def is_there(self, pid, start):
        return processes().get(pid, (0, None, []))[1] == start

    def kill_daemon(self):
        self.daemon.kill()
        self.daemon.wait()
        self.daemon = None

    def check_database(self):
        """A copy of the file as the kill left it."""
        copy = self.directory / "copy.db"
        for suffix in ("", "-wal", "-shm"):
            pathlib.Path(f"{copy}{suffix}").unlink(missing_ok=True)
        for suffix in ("", "-wal"):
            if pathlib.Path(f"{self.database}{suffix}").exists():
                shutil.copy(f"{self.database}{suffix}", f"{copy}{suffix}")
        with sqlite3.connect(copy) as database:
            check(database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "integrity_check is not ok")
            check(database.execute("PRAGMA foreign_key_check").fetchall() == [], "foreign_key_check is not empty")
        database.close()

    def close(self):
        for process in (self.daemon, self.activator):
            if process is not None:
                process.terminate()
        for process in (self.daemon, self.activator):
            if process is not None:
                try:
                    process.wait(LIMIT_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self.daemon = self.activator = None
        for pid, start in self.measures().items():
            if self.is_there(pid, start):
                os.kill(pid, signal.SIGKILL)
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def submit_until_dead(site, acknowledged, rng_seed):
    """Posts jobs one after another on one connection; only what was answered counts as acknowledged."""
    rng = random.Random(rng_seed)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=LIMIT_S)
        for _ in range(3):
            body = {"suite": "verify", "kernels": ["vector_add", "matmul_naive"], "on_interrupt": rng.choice(["fail", "retry"])}
            status, job = site.request("POST", "/api/v1/jobs", body, connection)
            if status == 202:
                acknowledged[job["id"]] = body["on_interrupt"]
            time.sleep(rng.uniform(0, 0.03))
    except (OSError, http.client.HTTPException, ValueError):
        pass


def same_as_before(site, ended):
    for job_id, before in ended.items():
        check(site.job(job_id) == before, f"job {job_id} had ended and is not what it was")


def kill_daemons(site, count, rng, report):
    """count kills of the daemon, anywhere from before the first POST to after the last job's end."""
    states, ended = {}, {}
    span = 0.35
    for turn in range(count):
        acknowledged = {}
        thread = threading.Thread(target=submit_until_dead, args=(site, acknowledged, rng.random()))
        thread.start()
        time.sleep(rng.uniform(0, span))
        site.kill_daemon()
        thread.join()
        left = site.measures()
        for pid, start in left.items():
            wait_for(lambda: not site.is_there(pid, start), f"kill {turn}: process {pid} ends with its daemon", EXIT_S)
        site.check_database()
        site.start()
        for job_id, retry in acknowledged.items():
            job = site.job(job_id)
            allowed = {"queued", "running", "done", "failed"} | ({"interrupted"} if retry == "fail" or job["attempt"] == 2 else set())
            check(job["state"] in allowed, f"kill {turn}: job {job_id} (on_interrupt {retry}) is {job['state']}, attempt {job['attempt']}")
        same_as_before(site, ended)
        for job_id, retry in acknowledged.items():
            job = site.wait_ended(job_id)
            check(job["state"] in ("done", "interrupted"), f"kill {turn}: job {job_id} ended as {job['state']}: {job['error']}")
            check(job["state"] == "done" or retry == "fail", f"kill {turn}: job {job_id} was to be tried again")
            check(job["state"] != "done" or job["run"], f"kill {turn}: job {job_id} is done without a run")
            states[job["state"]] = states.get(job["state"], 0) + 1
            ended[job_id] = job
        ended = dict(list(ended.items())[-6:])
        site.ready()
        last = site.submit(kernels=["vector_add"], cache=["warm"])
        check(site.wait_ended(last)["state"] == "done", f"kill {turn}: the next job is not done:\n" + site.log_tail())
        status, running = site.request("GET", "/api/v1/jobs?state=running")
        check(status == 200 and running["items"] == [], f"kill {turn}: jobs are left running: {running}")
    report(f"{count} kills of the daemon; jobs acknowledged before a kill: "
           + ", ".join(f"{n} {state}" for state, n in sorted(states.items())))


def kill_measures(site, count, rng, report):
    """count kills of the measuring process under one daemon."""
    kills, states, turns = 0, {}, 0
    site.ready()
    descriptors = None
    while kills < count:
        turns += 1
        check(turns < 10 * count + 100, "the measuring process is never there to be killed")
        job_id = site.submit(kernels=["vector_add", "matmul_naive"])
        time.sleep(rng.uniform(0, 0.15))
        victims = site.measures()
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
                kills += 1
            except ProcessLookupError:
                pass
        job = site.wait_ended(job_id)
        states[job["state"]] = states.get(job["state"], 0) + 1
        check(job["state"] in ("done", "failed"), f"job {job_id} is {job['state']}")
        if job["state"] == "failed":
            check(job["error"]["code"] in ("measure_crashed", "measure_protocol"), f"job {job_id}: {job['error']}")
            if site.way == "exec":
                check("signal 9" in job["error"]["message"], f"job {job_id} does not name the signal: {job['error']}")
        last = site.submit(kernels=["vector_add"], cache=["warm"])
        check(site.wait_ended(last)["state"] == "done", "the next job is not done:\n" + site.log_tail())
        now = len(os.listdir(f"/proc/{site.daemon.pid}/fd"))
        descriptors = descriptors or now
        check(now <= descriptors + 2, f"the daemon has {now} descriptors, at first {descriptors}")
    check(not site.measures(), "measuring processes are left")
    report(f"{kills} kills of the measuring process in {turns} jobs: " + ", ".join(f"{n} {s}" for s, n in sorted(states.items())))


def seconds_to_exit(site, victims):
    begin = time.monotonic()
    for pid, start in victims.items():
        wait_for(lambda: not site.is_there(pid, start), f"process {pid} ends at the end of its stream", EXIT_S)
    return time.monotonic() - begin


def hang(way, phase, binaries, data):
    """A kernel that does not end: the longest time to exit after a kill of the daemon, and after a cancel."""
    site = Site(way, binaries, data, "base.jsonl")
    try:
        longest = 0
        text = (site.recordings / "faults" / f"hang_{phase}.jsonl").read_text()
        (site.recordings / "hang.jsonl").write_text(text.replace('"../base.jsonl"', '"base.jsonl"'))
        site.recording = site.recordings / "hang.jsonl"
        for end in ("kill", "cancel"):
            site.start()
            if phase == "identify":  # the probe hangs already: the daemon says so and answers all the same
                victims = wait_for(site.measures, "the probe's process is there")
                check(site.request("GET", "/readyz")[0] == 503, "a daemon whose probe hangs is not ready")
                site.kill_daemon()
                longest = max(longest, seconds_to_exit(site, victims))
                continue
            site.ready()
            job_id = site.submit()
            wait_for(lambda: site.job(job_id)["state"] == "running", f"job {job_id} runs")
            time.sleep(0.1)
            victims = wait_for(site.measures, f"the process of job {job_id} is there")
            if end == "kill":
                site.kill_daemon()
                longest = max(longest, seconds_to_exit(site, victims))
                continue
            begin = time.monotonic()
            status, _ = site.request("DELETE", f"/api/v1/jobs/{job_id}")
            check(status == 202, f"DELETE gave {status}")
            check(site.wait_ended(job_id)["state"] == "cancelled", "a cancelled job is not cancelled")
            longest = max(longest, time.monotonic() - begin)
            check(not any(site.is_there(pid, start) for pid, start in victims.items()), "cancelled before the process was gone")
            transcript = subprocess.run([str(binaries / "rooflinectl"), "--url", f"http://127.0.0.1:{site.port}", "transcript", job_id],
                                        capture_output=True, text=True, timeout=LIMIT_S) if (binaries / "rooflinectl").exists() else None
            if transcript is not None and transcript.returncode == 0:
                check("sending" not in transcript.stdout, "a signal was needed: the end of the stream did not end it")
        check(longest <= EXIT_S, f"hang in {phase}: {longest:.2f} s to exit")
        return longest
    finally:
        site.close()


def run_way(way, options, report):
    rng = random.Random(options.seed)
    site = Site(way, options.bin, options.data, "slow.jsonl")
    try:
        site.start()
        begin = time.monotonic()
        kill_daemons(site, options.count // 2, rng, report)
        kill_measures(site, options.count - options.count // 2, rng, report)
        report(f"{time.monotonic() - begin:.1f} s")
    except Failure as failure:
        print(f"--- the daemon's log ends with\n{site.log_tail()}", file=sys.stderr)
        raise failure
    finally:
        site.close()
    times = {phase: hang(way, phase, options.bin, options.data) for phase in HANGS}
    report("hanging in each phase, longest time to exit: " + ", ".join(f"{phase} {s * 1000:.0f} ms" for phase, s in times.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the programs")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with base.jsonl and faults/")
    parser.add_argument("--way", choices=("exec", "socket", "both"), default="both")
    parser.add_argument("--count", type=int, default=200, help="kills for each way, half of the daemon, half of the process")
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    options.bin, options.data = options.bin.resolve(), options.data.resolve()
    options.seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "big")
    print(f"seed {options.seed}", flush=True)
    ways = ("exec", "socket") if options.way == "both" else (options.way,)
    try:
        for way in ways:
            run_way(way, options, lambda words, way=way: print(f"{way}: {words}", flush=True))
    except Failure as failure:
        print(f"kill_test: FAILED (seed {options.seed}): {failure}", file=sys.stderr)
        return 1
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
