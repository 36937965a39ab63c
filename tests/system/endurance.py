#!/usr/bin/env python3
"""Whether anything is lost: acknowledges jobs and imports, does harm, and looks for every one of them at the end.

Real programs over a replayed recording. The harm: kills of the daemon, steps of the wall clock (a library in LD_PRELOAD; the
machine's own clock is left alone), another program that holds the database, SIGSTOP of the daemon, of the measuring and of the
importing process and of a child at its birth, and a full disk. What has to hold: a job that was answered 202 ends with its run,
or, after a kill of the daemon alone, as interrupted when nobody asked for a retry or it came twice; a run that was seen stored or kept on disk is
there; no job is measured twice without a retry; an import that was answered 201 is there; the database is whole. Without
arguments it takes a few minutes; the long form is

    endurance.py --bin DIR --data DIR --export FILE --clock LIBRARY --kills 1000 --steps 20 --locks 20 --lock-max 60 --stops 20 --full 3
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from kill_test import ENDED, LIMIT_S, Failure, Site, check, wait_for  # noqa: E402

BODY = {"suite": "verify", "kernels": ["vector_add", "matmul_naive"]}
LIVE_S = 200  # of a job that another program's lock or a full disk may hold up


def children(pid):
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def state_of(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text[text.rindex(")") + 2]


def program_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
    except OSError:
        return ""


class Harm:
    """A site, what was acknowledged on it, and what may have become of that."""

    def __init__(self, options, name, recording="slow.jsonl", directory=None):
        self.options, self.rng = options, random.Random(f"{options.seed} {name}")
        self.site = Site("exec", options.bin, options.data, recording)
        if directory:
            self.site.database = directory / "test.db"
        self.jobs, self.imports, self.seen_done, self.may_interrupt = {}, {}, {}, set()
        self.export = options.export.read_bytes()
        self.kept_on_disk = 0

    def start(self, job_timeout=120):
        self.site.start(job_timeout=job_timeout)
        self.site.ready()

    def submit(self, retry=None, **more):
        """The job's id, or None when it was not acknowledged."""
        retry = self.rng.choice(["fail", "retry"]) if retry is None else retry
        try:
            status, job = self.site.request("POST", "/api/v1/jobs", {**BODY, "on_interrupt": retry, **more})
        except (OSError, http.client.HTTPException, ValueError):
            return None
        if status == 202:
            self.jobs[job["id"]] = retry
            return job["id"]
        check(status in (429, 503), f"POST gave {status}: {job}")
        return None

    def upload(self, number):
        """A profiler's export as a form; the driver's name makes each import another one. The date stays in the past however the clock is set."""
        lines = []
        for name, filename, data in (("ncu", "export.csv", self.export), ("device", None, b"Tesla T4"), ("driver", None, b"1.%d" % number),
                                     ("cuda", None, b"12.6"), ("date", None, b"2020-09-01")):
            head = f'--x-y\r\nContent-Disposition: form-data; name="{name}"' + (f'; filename="{filename}"' if filename else "")
            lines.append(head.encode() + b"\r\n\r\n" + data + b"\r\n")
        body = b"".join(lines) + b"--x-y--\r\n"
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.site.port, timeout=LIVE_S)
            connection.request("POST", "/api/v1/imports", body, {"Content-Type": "multipart/form-data; boundary=x-y"})
            answer = connection.getresponse()
            text = answer.read()
            connection.close()
        except (OSError, http.client.HTTPException):
            return None
        if answer.status in (200, 201):
            run = json.loads(text)
            self.imports[run["id"]] = run["environment"]["driver_version"]
        return answer.status

    def wait_all(self):
        """Every job has ended; what ended is kept and compared with what was seen before."""
        for job_id, retry in self.jobs.items():
            job = wait_for(lambda job_id=job_id: (lambda j: j if j["state"] in ENDED else None)(self.site.job(job_id)), f"job {job_id} ends", LIVE_S, 0.02)
            before = self.seen_done.get(job_id)
            check(before is None or before == job, f"job {job_id} had ended and is not what it was: {before} {job}")
            self.seen_done[job_id] = job
            given_up = job["state"] == "interrupted" and job_id in self.may_interrupt and (retry == "fail" or job["attempt"] == 2)
            fine = job["state"] == "done" or given_up
            check(fine, f"job {job_id} (on_interrupt {retry}) is {job['state']}, attempt {job['attempt']}: {job['error']}")
            check(job["state"] != "done" or job["run"], f"job {job_id} is done without a run")
            check(job["attempt"] == 1 or retry == "retry", f"job {job_id} ran twice and nobody asked for it")

    def finish(self):
        """The daemon ends in order, and its database tells the same as it did."""
        self.wait_all()
        for run_id in self.imports:
            status, run = self.site.request("GET", f"/api/v1/runs/{run_id}")
            check(status == 200, f"import {run_id} was answered and is not there: {status}")
            check(run["environment"]["driver_version"] == self.imports[run_id], f"import {run_id} is another one")
        self.site.daemon.terminate()
        check(self.site.daemon.wait(LIMIT_S) == 0, "the daemon did not end in order:\n" + self.site.log_tail())
        self.site.daemon = None
        self.site.check_database()
        check(not pathlib.Path(f"{self.site.database}-spool").exists(), "the spool is not empty at the end")
        with sqlite3.connect(f"file:{self.site.database}?mode=ro", uri=True) as database:
            states = dict(database.execute("SELECT state, count(*) FROM job GROUP BY state").fetchall())
            twice = database.execute("SELECT count(*) FROM job WHERE attempt > 1 AND retry_on_interrupt = 0").fetchone()[0]
            runs = database.execute("SELECT count(*) FROM run WHERE job_id IS NOT NULL").fetchone()[0]
        database.close()
        check(twice == 0 and runs == states.get("done", 0), f"{runs} runs of jobs, states {states}, {twice} ran twice")
        check(set(states) <= {"done", "interrupted"}, f"jobs ended as {states}")
        done = sum(job["state"] == "done" for job in self.seen_done.values())
        return f"{len(self.jobs)} jobs acknowledged, {done} done, {len(self.jobs) - done} interrupted; {len(self.imports)} imports"

    def close(self):
        self.site.close()


# ---- kills ----

def feed(harm, number):
    """Jobs and, each third time, an import, until the daemon is dead or enough were sent."""
    for _ in range(2):
        harm.may_interrupt.add(harm.submit())
        time.sleep(harm.rng.uniform(0, 0.03))
    if number % 3 == 0:
        harm.upload(number)


def kills(harm, count):
    harm.start()
    for turn in range(count):
        thread = threading.Thread(target=feed, args=(harm, turn))
        thread.start()
        time.sleep(harm.rng.uniform(0, 0.5))
        for job_id in list(harm.jobs)[-4:]:  # what was seen done stays what it is
            try:
                job = harm.site.job(job_id)
            except (OSError, http.client.HTTPException, ValueError):
                break
            if job["state"] in ENDED:
                harm.seen_done[job_id] = job
        harm.site.kill_daemon()
        thread.join()
        if turn % 20 == 0:
            harm.site.check_database()
        harm.site.start(job_timeout=120)
        if harm.rng.random() < 0.8:
            harm.site.ready()
        if turn % 5 == 4:  # the queue does not grow without end
            wait_for(lambda: harm.site.request("GET", "/readyz")[1]["queue"]["queued"] < 6, "the queue gets shorter", LIVE_S, 0.05)
        if turn % 100 == 99:
            print(f"  kill {turn + 1}: {len(harm.jobs)} jobs, {len(harm.imports)} imports", flush=True)


# ---- the clock ----

def steps(harm, count):
    clock = harm.site.directory / "clock"
    clock.write_bytes(struct.pack("=q", 0))
    # a sanitized build wants to be the first library otherwise
    ours = {"STEPPED_CLOCK": str(clock), "LD_PRELOAD": str(harm.options.clock),
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
    before = dict(os.environ)
    os.environ.update(ours)
    try:
        harm.start()
    finally:
        os.environ.clear()
        os.environ.update(before)
    offset, flagged = 0, 0
    for turn in range(count):
        job_id = harm.submit("fail")
        wait_for(lambda: harm.site.job(job_id)["state"] != "queued", f"job {job_id} starts", LIVE_S)
        status = []
        thread = threading.Thread(target=lambda turn=turn: status.append(harm.upload(turn)))
        thread.start()
        time.sleep(harm.rng.uniform(0, 0.25))
        step = harm.rng.choice([-1, 1]) * harm.rng.choice([700, 60_000, 3_600_000, 90_000_000, 400 * 86_400_000])
        offset += step
        with open(clock, "r+b") as file:
            file.write(struct.pack("=q", offset))
        job = wait_for(lambda: (lambda j: j if j["state"] in ENDED else None)(harm.site.job(job_id)), f"job {job_id} ends", LIVE_S)
        thread.join()
        check(status[0] == 201, f"step of {step} ms: an import gave {status}")
        check(job["state"] == "done", f"step of {step} ms: job {job_id} is {job['state']}: {job['error']}")
        check(job["started_at"] <= job["ended_at"], f"step of {step} ms: job {job_id} ended at {job['ended_at']} before {job['started_at']}")
        run = harm.site.request("GET", f"/api/v1/runs/{job['run']}")[1]
        check(run["started_at"] <= run["finished_at"], f"run {run['id']} finished before it started")
        flagged += "clock_stepped" in run["flags"]
    check(flagged > 0 or count < 3, "no run was flagged clock_stepped")
    return f"{flagged} runs flagged"


# ---- locks ----

def is_storing(harm, job_id):
    progress = harm.site.job(job_id)["progress"]
    return progress and progress["phase"] == "storing" and "on disk" in progress["what"]


def locks(harm, count, longest_s):
    harm.start()
    killed = 0
    for turn in range(count):
        job_id = harm.submit("fail")
        wait_for(lambda: harm.site.job(job_id)["state"] == "running", f"job {job_id} runs", LIVE_S)
        hold_s = harm.rng.uniform(1, longest_s) if turn else longest_s
        database = sqlite3.connect(harm.site.database, isolation_level=None, timeout=5)
        database.execute("BEGIN IMMEDIATE")
        end = time.monotonic() + hold_s
        status = []
        thread = threading.Thread(target=lambda: status.append(harm.upload(turn)))
        thread.start()
        storing = False
        while time.monotonic() < end and not storing:
            storing = bool(is_storing(harm, job_id))
            time.sleep(0.05)
        if storing:
            harm.kept_on_disk += 1
            answer = harm.site.request("GET", "/readyz")
            check(answer[0] == 503 and f"job {job_id} is measured" in json.dumps(answer[1]), f"/readyz does not say why: {answer}")
        while time.monotonic() < end:
            time.sleep(0.05)
        if storing and turn % 3 == 1:  # kept on disk is kept: no retry was asked for, and none is needed
            harm.site.kill_daemon()
            killed += 1
        database.execute("ROLLBACK")
        database.close()
        if harm.site.daemon is None:
            harm.site.start(job_timeout=120)
            harm.site.ready()
        thread.join()
        # answered once it is stored, or 503 shortly before its 45 s are over, or not at all by a killed daemon
        allowed = {201} | ({503} if hold_s > 40 else set()) | ({None} if storing and turn % 3 == 1 else set())
        check(status and status[0] in allowed, f"an import over a lock of {hold_s:.1f} s: {status}")
        harm.wait_all()
    check(harm.kept_on_disk > 0, "no lock met a finished run")
    return f"{harm.kept_on_disk} runs kept on disk, {killed} of them over a kill"


# ---- stops ----

def stop_for(pid, seconds):
    try:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return False
    return True


def first_child(harm, name, limit_s=20):
    """The first child whose program ends in name; "": any, as soon as it is there, be it before its exec."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        for pid in children(harm.site.daemon.pid):
            if program_of(pid).endswith(name) and state_of(pid) not in (None, "Z"):
                return pid
        if name:
            time.sleep(0.001)
    return None


def stops(harm, count, who):
    """who: daemon, measure, import or birth. A stop of the daemon may be longer than a phase of the job (4 s); any other is shorter than the
    limit of what it stops."""
    harm.start(40 if who == "daemon" else 120)
    made = early = 0
    for turn in range(count * 8):
        if made == count:
            break
        uploads = []
        thread = threading.Thread(target=lambda: uploads.append(harm.upload(turn)))
        job_id = None
        if who == "birth":
            threading.Timer(0.05, lambda: harm.submit("fail")).start()
        elif who != "import":
            job_id = harm.submit("fail")
        if who in ("import", "daemon"):
            thread.start()
        if who == "daemon":
            time.sleep(harm.rng.uniform(0, 0.4))
            made += stop_for(harm.site.daemon.pid, harm.rng.uniform(0.5, 8))
        else:
            pid = first_child(harm, {"measure": harm.site.program, "import": "roofline-import", "birth": ""}[who])
            check(pid, f"no child to stop ({who})")
            if who == "measure":
                time.sleep(harm.rng.uniform(0, 0.3))
            if who == "birth":
                early += program_of(pid).endswith("rooflined")
                thread = threading.Thread(target=stop_for, args=(pid, 1.5))
                thread.start()
                begin = time.monotonic()
                check(harm.site.request("GET", "/healthz")[0] == 200 and time.monotonic() - begin < 1.2, "a child that was stopped holds the daemon")
                made += 1
            else:
                made += stop_for(pid, harm.rng.uniform(0.5, 4))
        if thread.ident:
            thread.join()
        check(not uploads or uploads[0] in (200, 201), f"an import over a stop of {who}: {uploads}")
        if job_id:
            wait_for(lambda: harm.site.job(job_id)["state"] in ENDED, f"job {job_id} ends", LIVE_S)
        harm.wait_all()
    check(made == count, f"{made} of {count} stops of {who} were made")
    return f"{early} of them before exec" if who == "birth" else ""


# ---- a full disk ----

def fill(directory):
    with open(directory / "ballast", "wb", buffering=0) as file:
        for size in (65536, 4096, 512, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass


def mounted(directory):
    """A small file system of our own, where that is allowed."""
    directory.mkdir()
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(directory)], capture_output=True).returncode == 0


def full(harm, count, small):
    harm.start()
    in_memory = made = 0
    for _ in range(count * 8):
        if made == count:
            break
        job_id = harm.submit("fail")
        wait_for(lambda: harm.site.job(job_id)["state"] == "running", f"job {job_id} runs", LIVE_S)
        if small:
            fill(harm.site.database.parent)
        else:
            resource.prlimit(harm.site.daemon.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        job = wait_for(lambda: (lambda j: j if j["state"] in ENDED or (j["progress"] or {}).get("phase") == "storing" else None)(harm.site.job(job_id)),
                       f"job {job_id} waits to be stored", LIVE_S, 0.02)
        if job["state"] not in ENDED:  # else it was quicker than the disk was full
            made += 1
            in_memory += "in memory" in job["progress"]["what"]
            check(harm.site.request("GET", "/readyz")[0] == 503, "a full disk does not show in /readyz")
            harm.submit("fail")  # a small write may still find room; what is acknowledged counts
        if small:
            (harm.site.database.parent / "ballast").unlink()
        else:
            resource.prlimit(harm.site.daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        harm.wait_all()
    check(made == count, f"the disk was full for {made} of {count} finished runs")
    return f"{in_memory} runs kept in memory, {'a small file system' if small else 'by a limit on file sizes'}"


# ---- all of it ----

def part(options, name, work, **more):
    begin = time.monotonic()
    harm = Harm(options, name, **more)
    try:
        words = work(harm)
        print(f"{name}: {harm.finish()}{'; ' + words if words else ''}; {time.monotonic() - begin:.0f} s", flush=True)
    except (Failure, OSError, KeyError) as failure:
        print(f"--- {name}: the daemon's log ends with\n{harm.site.log_tail()}", file=sys.stderr)
        raise Failure(f"{name}: {failure}") from failure
    finally:
        harm.close()


def run(options):
    if options.kills:
        part(options, f"{options.kills} kills", lambda harm: kills(harm, options.kills))
    if options.steps:
        part(options, f"{options.steps} clock steps", lambda harm: steps(harm, options.steps))
    if options.locks:
        part(options, f"{options.locks} locks of 1 to {options.lock_max} s", lambda harm: locks(harm, options.locks, options.lock_max))
    for who in ("daemon", "measure", "import", "birth") if options.stops else ():
        part(options, f"{options.stops} stops of {who}", lambda harm, who=who: stops(harm, options.stops, who))
    if options.full:
        place = options.data / f"full-{os.getpid()}"
        small = mounted(place)
        try:
            part(options, f"{options.full} times full", lambda harm: full(harm, options.full, small), directory=place if small else None)
        finally:
            if small:
                subprocess.run(["umount", str(place)], check=False)
            shutil.rmtree(place, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the programs")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with base.jsonl and faults/")
    parser.add_argument("--export", type=pathlib.Path, required=True, help="a profiler's export to import")
    parser.add_argument("--clock", type=pathlib.Path, required=True, help="the library stepped_clock")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--locks", type=int, default=3)
    parser.add_argument("--lock-max", type=float, default=3, help="seconds")
    parser.add_argument("--stops", type=int, default=3, help="of each kind of process")
    parser.add_argument("--full", type=int, default=1)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    for name in ("bin", "data", "export", "clock"):
        setattr(options, name, getattr(options, name).resolve())
    options.seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "big")
    print(f"seed {options.seed}", flush=True)
    try:
        run(options)
    except Failure as failure:
        print(f"endurance: FAILED (seed {options.seed}): {failure}", file=sys.stderr)
        return 1
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
