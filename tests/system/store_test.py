#!/usr/bin/env python3
"""The database's files in the hands of an operator: --check, --backup and its restore, a deleted log, a cut index.

Real programs over a replayed recording. --check leaves the folder as it was, byte for byte, and tells a whole database from
an empty file, another program's, and a copy that its log is missing from. A backup is made while jobs run and serves the same
runs. What was acknowledged is there after the log was deleted or its index cut under the running daemon, and a kill.
"""
import argparse
import hashlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from kill_test import LIMIT_S, Failure, Site, check, wait_for  # noqa: E402

BODY = {"kernels": ["vector_add"], "cache": ["warm"]}


def maintain(site, *options):
    done = subprocess.run([str(site.binaries / "rooflined"), *options], capture_output=True, text=True, timeout=LIMIT_S,
                          env={k: v for k, v in os.environ.items() if not k.startswith("ROOFLINE")})
    return done.returncode, done.stdout + done.stderr


def content(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir()) if path.is_file()}


def checked(site, folder, name="test.db"):
    """--check of a file, and that nothing in its folder is another or new."""
    before = content(folder)
    status, text = maintain(site, "--database", str(folder / name), "--check")
    check(content(folder) == before, f"--check changed {folder}: {before} is {content(folder)}")
    return status, text


def says(answer, status, *words):
    check(answer[0] == status and all(word in answer[1] for word in words), f"wanted {status} and {words}, got {answer}")


def new_folder(site, name):
    folder = site.directory / name
    folder.mkdir()
    return folder


def measured(site, count):
    return [site.wait_ended(site.submit(**BODY))["run"] for _ in range(count)]


# ---- --check ----

def refuses_what_is_no_database(site):
    folder = new_folder(site, "foreign")
    (folder / "empty").write_bytes(b"")
    says(checked(site, folder, "empty"), 66, "the file is empty")
    (folder / "text").write_text("no database at all\n" * 400)
    says(checked(site, folder, "text"), 66, "no SQLite database")
    with sqlite3.connect(folder / "other") as database:
        database.execute("CREATE TABLE t (a)")
    database.close()
    says(checked(site, folder, "other"), 66, "another program's")
    with sqlite3.connect(folder / "bare") as database:
        database.execute("VACUUM")
    database.close()
    says(checked(site, folder, "bare"), 66, "")
    says(checked(site, folder, "absent"), 66, "there is no database")
    check(not (folder / "absent-lock").exists(), "--check made a lock file")


def checks_what_is_there(site):
    site.start()
    site.ready()
    runs = measured(site, 3)
    says(maintain(site, "--database", str(site.database), "--check"), 75, "open")
    whole, alone = new_folder(site, "whole"), new_folder(site, "alone")
    for suffix in ("", "-wal"):
        shutil.copy(f"{site.database}{suffix}", whole / f"test.db{suffix}")
    shutil.copy(site.database, alone / "test.db")
    says(checked(site, whole), 0, "integrity ok; 3 runs, newest 3 of ", "; 3 jobs, newest 3 of ")
    says(checked(site, alone), 65, "-wal) is missing")
    site.daemon.terminate()
    check(site.daemon.wait(LIMIT_S) == 0, "the daemon ends in order")
    site.daemon = None
    closed = new_folder(site, "closed")
    shutil.copy(site.database, closed / "te?t#1%.db")
    says(checked(site, closed, "te?t#1%.db"), 0, "integrity ok; 3 runs", "; 3 jobs")
    damaged = new_folder(site, "damaged")
    text = bytearray(site.database.read_bytes())
    text[len(text) // 2:len(text) // 2 + 20000] = b"\xa5" * 20000
    (damaged / "test.db").write_bytes(text)
    check(checked(site, damaged)[0] == 65, "a damaged file is not told of")
    return runs


# ---- --backup ----

def backs_up_and_restores(site, runs):
    site.start()
    site.ready()
    documents = {run: site.request("GET", f"/api/v1/runs/{run}") for run in runs}
    queued = [site.submit(kernels=["vector_add", "matmul_naive"]) for _ in range(4)]
    target = new_folder(site, "backup") / "copy.db"
    says(maintain(site, "--database", str(site.database), "--backup", str(target)), 0, "copied to")
    check(sorted(p.name for p in target.parent.iterdir()) == ["copy.db"], f"beside the backup: {list(target.parent.iterdir())}")
    says(maintain(site, "--database", str(site.database), "--backup", str(target)), 74, "there already")
    says(checked(site, target.parent, "copy.db"), 0, "integrity ok; ")
    for job in queued:
        check(site.wait_ended(job)["state"] == "done", "a job beside a backup is not done")
    site.kill_daemon()
    for suffix in ("", "-wal", "-shm"):  # the restore, as SCHEMA.md has it
        path = pathlib.Path(f"{site.database}{suffix}")
        if path.exists():
            path.rename(site.directory / f"old{suffix}")
    shutil.copy(target, site.database)
    site.start()
    site.ready()
    for run, document in documents.items():
        check(site.request("GET", f"/api/v1/runs/{run}") == document, f"run {run} is another after the restore")
    check(measured(site, 1)[0] is not None, "the next job is measured after the restore")


# ---- files that go away under the daemon ----

def log_of(site):
    return (site.directory / "log").read_text(errors="replace")


def loses_nothing(site, jobs, what):
    for job in jobs:
        check(site.wait_ended(job)["state"] == "done", f"{what}: job {job} is not done")
    runs = [site.job(job)["run"] for job in jobs]
    if site.daemon.poll() is None:
        site.kill_daemon()
    site.check_database()
    site.start()
    site.ready()
    for job, run in zip(jobs, runs):
        found = site.job(job)
        check(found["state"] == "done" and found["run"] == run, f"{what}: job {job} was acknowledged and is {found['state']}")


def a_deleted_log(site):
    before = [site.submit(**BODY)]
    site.wait_ended(before[0])
    pathlib.Path(f"{site.database}-wal").unlink()
    jobs = before + [site.submit(**BODY) for _ in range(3)]
    wait_for(lambda: "the write-ahead log was moved, deleted or replaced" in log_of(site), "a deleted log is told of")
    loses_nothing(site, jobs, "the log was deleted")


def a_replaced_log(site):
    job = site.submit(**BODY)
    site.wait_ended(job)
    other = site.directory / "other-wal"
    other.write_bytes(os.urandom(100000))
    os.rename(other, f"{site.database}-wal")
    loses_nothing(site, [job] + [site.submit(**BODY) for _ in range(3)], "the log was replaced")


def a_deleted_index(site):
    job = site.submit(**BODY)
    site.wait_ended(job)
    pathlib.Path(f"{site.database}-shm").unlink()
    loses_nothing(site, [job] + [site.submit(**BODY) for _ in range(3)], "the index was deleted")


def a_cut_index(site):
    """Between two looks SIGBUS ends the daemon with words; else it goes on."""
    ended = 0
    for turn in range(12):
        job = site.submit(**BODY)
        site.wait_ended(job)
        if turn % 2:  # in the middle of its work
            site.submit(**BODY)
            time.sleep(0.01 * turn)
        os.truncate(f"{site.database}-shm", 100 * (turn % 3))
        try:
            answer = site.request("GET", f"/api/v1/jobs/{job}")
            check(answer[0] == 200 and answer[1]["state"] == "done", f"the index was cut: {answer}")
            loses_nothing(site, [job, site.submit(**BODY)], "the index was cut")
        except OSError:
            check(site.daemon.wait(LIMIT_S) == 74 and "SIGBUS" in log_of(site), "the daemon died without a word:\n" + site.log_tail())
            site.daemon = None
            ended += 1
            site.start()
            site.ready()
            check(site.job(job)["state"] == "done", f"the index was cut: job {job} is lost")
    check(ended < 12, "the daemon ended at each cut")
    return ended


def a_cut_log(site):
    """What stood in it is lost: told at once, and nothing more is acknowledged."""
    site.wait_ended(site.submit(**BODY))
    os.truncate(f"{site.database}-wal", 40)
    ready = wait_for(lambda: (lambda a: a if a[0] == 503 else None)(site.request("GET", "/readyz")), "a cut log shows in /readyz")
    check("cut short" in str(ready[1]), f"/readyz does not say why: {ready}")
    status, answer = site.request("POST", "/api/v1/jobs", {"suite": "verify", **BODY})
    check(status == 500 and answer["error"]["code"] == "store_io", f"a job was taken over a cut log: {status} {answer}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the programs")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with base.jsonl and faults/")
    options = parser.parse_args()
    site = Site("exec", options.bin.resolve(), options.data.resolve(), "base.jsonl")
    failed = 0
    runs = []

    def attempt(name, work):
        nonlocal failed
        try:
            words = work()
            print(f"{name}: ok{f' ({words} ended by SIGBUS)' if isinstance(words, int) else ''}", flush=True)
        except (Failure, OSError) as failure:
            failed += 1
            print(f"{name}: FAILED: {failure}", file=sys.stderr, flush=True)
            if site.daemon is not None and site.daemon.poll() is None:
                site.kill_daemon()
        if site.daemon is not None and site.daemon.poll() is not None:
            site.daemon = None

    try:
        attempt("refuses what is no database", lambda: refuses_what_is_no_database(site))
        attempt("checks what is there", lambda: runs.extend(checks_what_is_there(site)))
        attempt("backs up and restores", lambda: backs_up_and_restores(site, runs))
        for work in (a_deleted_log, a_replaced_log, a_deleted_index, a_cut_index, a_cut_log):
            if site.daemon is None:
                site.start()
                site.ready()
            attempt(work.__name__.replace("_", " "), lambda work=work: work(site))
    finally:
        site.close()
    print("store_test: FAILED" if failed else "ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
