#!/usr/bin/env python3
"""Requests per second of two builds of rooflined as a ratio: both run at once, and wrk asks them by turns, so that what else the machine does falls on both.

    tests/bench/compare_builds.py BEFORE AFTER [ROUNDS [SECONDS]]

needs wrk. Prints each round and the median ratio, for GET /healthz on kept connections; for the same with a new connection each; and for an upload of
16 MiB that is refused when it has come whole, in MB/s. Exits with 0: what is too slow is for people to say."""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))
import harness  # noqa: E402


def start(program):
    harness.BIN = os.path.abspath(program)
    return harness.Daemon("--open-loopback", "--import-exec", "/bin/false")


def ask(daemon, seconds, *headers):
    command = ["wrk", "-t1", "-c8", "-d%ds" % seconds, *headers, "http://127.0.0.1:%d/healthz" % daemon.port]
    found = re.search(r"Requests/sec:\s+([\d.]+)", subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return float(found.group(1))


def upload(daemon, seconds):
    data = (b'--b\r\nContent-Disposition: form-data; name="timings"; filename="t"\r\n\r\n' + b"x" * (16 * 1024 * 1024 - 100) + b"\r\n--b--\r\n")
    end, count = time.monotonic() + seconds, 0
    begun = time.monotonic()
    while time.monotonic() < end:
        daemon.request("POST", "/api/v1/imports", data, {"Content-Type": "multipart/form-data; boundary=b"})
        count += 1
    return count * len(data) / 1e6 / (time.monotonic() - begun)


def main():
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 2
    with start(sys.argv[1]) as before, start(sys.argv[2]) as after:
        for name, measure in (("kept connections, 1/s", ask), ("new connections, 1/s", lambda daemon, time_s: ask(daemon, time_s, "-H", "Connection: close")), ("uploads, MB/s", upload)):
            ratios = []
            for i in range(rounds):
                rates = {}
                for daemon in ((before, after), (after, before))[i % 2]:
                    rates[daemon] = measure(daemon, seconds)
                ratios.append(rates[after] / rates[before])
                print("%s: before %.0f, after %.0f, ratio %.3f" % (name, rates[before], rates[after], ratios[-1]), flush=True)
            print("%s: median ratio %.3f, from %.3f to %.3f" % (name, statistics.median(ratios), min(ratios), max(ratios)), flush=True)


if __name__ == "__main__":
    main()
