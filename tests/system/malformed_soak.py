#!/usr/bin/env python3
"""Memory under malformed requests: sends the list of tests/api/malformed.py over and over, over TCP, whole and behind a good request, and looks at the
daemon's resident memory. After a warm-up of a tenth it may not grow by more than 1 MiB, whatever the number: one leaked kilobyte in each would be 100 MB.

    RL_BIN=build/bin/rooflined tests/system/malformed_soak.py [NUMBER [COMMAND...]]

NUMBER is 100,000 if it is not given (some minutes). COMMAND, such as valgrind with its options, is put before the daemon; then, and with a sanitizer, only its
own verdict counts, since its bookkeeping grows: the daemon has to end with 0. Exit status 1 when memory grew, a job was made or the daemon failed."""
import os
import pathlib
import re
import socket
import stat
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))
import harness  # noqa: E402
import malformed  # noqa: E402

GROWTH_KIB = 1024


def resident_kib(pid):
    return int(re.search(r"^VmRSS:\s+(\d+)", pathlib.Path("/proc/%d/status" % pid).read_text(), re.M).group(1))


def send(daemon, data):
    """What is answered is read to its end, so that the daemon is done with it."""
    with daemon.socket() as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return harness.read_all(connection)
        except (BrokenPipeError, ConnectionResetError):
            return b""


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    watcher = sys.argv[2:]
    cases = malformed.cases()
    with tempfile.TemporaryDirectory(prefix="rooflined-test-") as directory:
        if watcher:
            wrapper = pathlib.Path(directory) / "watched"
            wrapper.write_text("#!/bin/sh\nexec %s %s \"$@\"\n" % (" ".join(watcher), harness.BIN))
            wrapper.chmod(stat.S_IRWXU)
            harness.BIN = str(wrapper)
        # HTTP alone: valgrind 3.19 has no pidfd_open, so that no measuring process is ever ready
        with harness.Daemon("--open-loopback", ready=not watcher) as daemon:
            harness.Daemon.wait_for(lambda: daemon.get("/healthz").status == 200, "an answer")
            first, statuses = 0, {}
            for i in range(number):
                case = cases[i % len(cases)]
                answer = send(daemon, (malformed.GOOD if i // len(cases) % 2 else b"") + case.data + (malformed.CANARY if case.status else b""))
                for status in harness.statuses(answer)[-1:]:
                    statuses[status] = statuses.get(status, 0) + 1
                if i == number // 10:
                    first = resident_kib(daemon.process.pid)
                if i % max(1, number // 10) == 0:
                    print("%7d requests, %d KiB resident" % (i, resident_kib(daemon.process.pid)), flush=True)
            last = resident_kib(daemon.process.pid)
            jobs = daemon.get("/api/v1/jobs").json["items"]
            print("%7d requests, %d KiB resident, %+d KiB since the first tenth; last answers %s; %d jobs" % (number, last, last - first, dict(sorted(statuses.items())), len(jobs)))
            sanitized = watcher or "asan" in os.environ.get("RL_BIN", "")
            return bool(jobs) or (not sanitized and last - first > GROWTH_KIB)


if __name__ == "__main__":
    sys.exit(main())
