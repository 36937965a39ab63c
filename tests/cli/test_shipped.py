"""Every recording that ships can be replayed whole and in part, says that it is replayed, and is no larger than it should be. Usage: test_shipped.py
PROGRAM FOLDER. Exits 77 (skipped) where none ships."""
import glob
import json
import os
import subprocess
import sys

from measurelib import KERNELS, clean_environment

PROGRAM, FOLDER = sys.argv[1], sys.argv[2]
LARGEST = 1_000_000


def replay(path, *options):
    done = subprocess.run([PROGRAM, "--json", "--replay", path, *options], capture_output=True, timeout=60, env=clean_environment())
    if done.returncode != 0:
        sys.exit(f"{path} {options}: status {done.returncode}: {done.stderr.decode()}")
    return [json.loads(line)["run"] for line in done.stdout.splitlines() if line.startswith(b'{"t":"run"')]


def check(path):
    size = os.path.getsize(path)
    if size > LARGEST:
        sys.exit(f"{path} has {size} bytes, more than {LARGEST}")
    for run in replay(path, "--sizes", "course,scaled"):
        if (run["source"], run["outcome"], run["counters"]["status"]) != ("replayed", "ok", "ok"):
            sys.exit(f"{path} {run['sizes']}: {run['source']}, {run['outcome']} {run['outcome_reasons']}, {run['counters']['status']}")
        failed = [check["name"] for check in run["checks"] if check["passed"] is False]
        print(path, run["sizes"], run["device"]["name"], run["recorded_at"], "failed checks:", failed or "none")
    for options in (["--cache", "warm"], ["--cache", "cold"], ["--no-counters"], *(["--kernels", kernel] for kernel in KERNELS),
                    *(["--kernels", kernel, "--cache", "cold", "--sizes", "scaled"] for kernel in KERNELS)):
        replay(path, *options)


recordings = [path for path in sorted(glob.glob(os.path.join(FOLDER, "*.jsonl")))]
if not recordings:
    print("no recording ships yet")
    sys.exit(77)
for recording in recordings:
    check(recording)
