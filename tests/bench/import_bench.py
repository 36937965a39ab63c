#!/usr/bin/env python3
"""How long others wait for the daemon while it takes an import, over HTTP. By hand; never part of a test run.

    ninja rooflined roofline-measure roofline-import rooflinectl        # in a release build
    tests/bench/import_bench.py --bin build/bin [DATABASE]

Two counter files are made and imported with rooflinectl, one after the other, some times each: one of 16 MiB that is a few kernels of
very many launches, as long to read as a file may be, and one of 512 kernels with 64 launches each, whose document is as large as
one is. Meanwhile a client on one keep-alive connection asks for lists, a matrix, a trend, a run and small things in turn, a millisecond
apart. The daemon has a copy of the database, or a new one; one verification is replayed into it first.

Printed in ms for each file, of all requests that were asked while it was imported: p50, p99 and longest time from the first byte sent to
the last byte received; the same of the CPU time that the loop took meanwhile (/proc/PID/schedstat is its thread's: what is done on others is
not in it; waiting for the disk neither); the longest request's path; how long an import took. Last, the same while three other clients
ask without pause for the table and the CSV of such a run of 512 kernels, and for the export of all imports. Exit 1 when a p99 is over
--limit ms (with --cpu that of CPU time: on a machine that others use too), or the daemon had over 64 MiB of memory."""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import http_bench

FILE_MAX = 16 << 20
MEMORY_MAX_MIB = 64  # of the daemon, at its largest
HEAD = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",' \
       '"Section Name","Metric Name","Metric Unit","Metric Value"\n'


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("database", nargs="?", type=pathlib.Path, help="one that history_generate made (default: a new one)")
    parser.add_argument("--bin", type=pathlib.Path, default=http_bench.ROOT / "build/bin")
    parser.add_argument("--replay", type=pathlib.Path, default=http_bench.ROOT / "deploy/recordings/nvidia-h200.jsonl")
    parser.add_argument("--imports", type=int, default=10, help="of each file (default 10)")
    parser.add_argument("--limit", type=float, default=15, help="ms that p99 may be (default 15)")
    parser.add_argument("--cpu", action="store_true", help="hold CPU time against the limit, not the time")
    found = parser.parse_args()
    found.bin, found.replay, found.pin = found.bin.absolute(), found.replay.absolute(), None
    if found.imports < 1:
        parser.error("at least one import")
    return found


def launch(number, kernel):
    """The two rows of a launch; every launch its own counts."""
    head = '"%d","7","bench","127.0.0.1","void bench::kernel_%d<float, 4>(const float *, float *, int)","1","7","(256, 1, 1)","(65536, 1, 1)",' \
           '"0","9.0","Command line profiler metrics",' % (number, kernel)
    read, write = 134217728 + 32 * (number % 997), 67108864 + 32 * (number % 499)
    return '%s"dram__bytes_read.sum","byte","%s"\n%s"dram__bytes_write.sum","byte","%s"\n' % (head, format(read, ","), head, format(write, ","))


def write_long(path):
    """As many launches of 16 kernels as go into the largest file."""
    size, number = len(HEAD), 0
    with open(path, "w", encoding="ascii") as file:
        file.write(HEAD)
        while size + len(row := launch(number, number % 16)) <= FILE_MAX:
            file.write(row)
            size, number = size + len(row), number + 1


def write_wide(path):
    """512 kernels, 64 launches each."""
    with open(path, "w", encoding="ascii") as file:
        file.write(HEAD)
        for number in range(512 * 64):
            file.write(launch(number, number % 512))


def asked(client):
    """The paths that the other client asks for in turn."""
    run = client.json("/api/v1/runs?limit=1&outcome=any&source=any")["items"][0]
    device = http_bench.quote(run["device"]["id"])
    return ["/api/v1/runs", "/api/v1/runs?outcome=any&source=any&limit=200", "/api/v1/history", "/api/v1/runs/" + run["id"], "/healthz",
            "/api/v1/trend?device=%s&kernel=vector_add&state=warm&source=replayed" % device, "/api/v1/devices", "/api/v1/jobs",
            "/api/v1/runs/%s/table" % run["id"], "/metrics"]


def large(client):
    """Texts of a run of 512 kernels, and the export of its device's imports: asked for by others while the small things are. (Most runs that
    history_generate makes have no document to export.)"""
    run, device = next((item["id"], item["device"]["id"]) for item in client.json("/api/v1/runs?outcome=any&source=imported&limit=200")["items"]
               if len(client.ask("/api/v1/runs/" + item["id"])[2]) > 1 << 20)
    return ["/api/v1/runs/%s/table" % run, "/api/v1/runs/%s.csv" % run, "/api/v1/runs.csv?outcome=any&source=imported&device=" + http_bench.quote(device)]


def ask_on(port, path, ended, failed):
    """On a connection of its own; an export has no length, which http_bench's client needs."""
    try:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
            while not ended.is_set():
                connection.request("GET", path)
                answer = connection.getresponse()
                if answer.read() == b"" or answer.status != 200:
                    raise RuntimeError("%s: %d" % (path, answer.status))
    except (OSError, http.client.HTTPException, RuntimeError) as error:
        failed.append(str(error))


def measure_large(options, daemon, client, paths):
    """The small requests while each large text is asked for by one client, without pause."""
    ended, failed, found = threading.Event(), [], []
    asking = [threading.Thread(target=ask_on, args=(daemon.port, path, ended, failed)) for path in large(client)]
    for thread in asking:
        thread.start()
    try:
        for turn in range(100 * options.imports):
            path, before = paths[turn % len(paths)], daemon.cpu_s()
            seconds, status, body = client.ask(path)
            if status != 200:
                raise RuntimeError("%s: %d %s" % (path, status, body[:300]))
            found.append((seconds * 1000, (daemon.cpu_s() - before) * 1000, path))
            time.sleep(0.001)
    finally:
        ended.set()
        for thread in asking:
            thread.join()
    if failed:
        raise RuntimeError(failed[0])
    return report(options, "texts of 512 kernels", found, 0)


def replay_one(client):
    _, status, body = client.ask("/api/v1/jobs", "POST", b'{"suite":"verify","sizes":"course"}')
    if status != 202:
        raise RuntimeError("a job was not taken: %d %s" % (status, body[:300]))
    job, end = json.loads(body)["id"], time.monotonic() + 60
    while (state := client.json("/api/v1/jobs/" + job)["state"]) in ("queued", "running") and time.monotonic() < end:
        time.sleep(0.05)
    if state != "done":
        raise RuntimeError("the replayed job is %s" % state)


def import_and_ask(options, daemon, client, paths, file, number):
    """[(ms, ms of CPU, path)] of what was asked while one import was taken, and its seconds. Each import differs in its driver."""
    found, began, turn = [], time.monotonic(), 0
    command = [options.bin / "rooflinectl", "--url", "http://127.0.0.1:%d" % daemon.port, "import", "--ncu", file, "--device", "Bench GPU",
               "--date", "2026-09-01", "--driver", "1.%d.%d" % (os.getpid(), number)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ROOFLINE")}
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as importing:
        while importing.poll() is None:
            path, before = paths[turn % len(paths)], daemon.cpu_s()
            seconds, status, body = client.ask(path)
            found.append((seconds * 1000, (daemon.cpu_s() - before) * 1000, path))
            if status != 200:
                raise RuntimeError("%s: %d %s" % (path, status, body[:300].decode(errors="replace")))
            turn += 1
            time.sleep(0.001)
        said = importing.stderr.read().decode(errors="replace")
        if importing.returncode not in (0, 1):
            raise RuntimeError("the import ended with %d: %s" % (importing.returncode, said))
    return found, time.monotonic() - began


def measure(options, daemon, client, paths, file, first):
    found, seconds = [], []
    for number in range(options.imports):
        some, took = import_and_ask(options, daemon, client, paths, file, first + number)
        found += some
        seconds.append(took)
    seconds.sort()
    return report(options, file.name, found, seconds[len(seconds) // 2])


def report(options, name, found, seconds):
    columns = [sorted(row[i] for row in found) for i in (0, 1)]
    figures = [value for column in columns for value in (http_bench.quantile(column, .5), http_bench.quantile(column, .99), column[-1])]
    print("%-24s%9d" % (name, len(found)) + "".join("%9.2f" % value for value in figures) +
          "%10.2f  %s" % (seconds, max(found)[2]))
    sys.stdout.flush()
    return figures[4 if options.cpu else 1]


def main():
    options = arguments()
    with contextlib.ExitStack() as stack:
        beside = options.database.resolve().parent if options.database else None
        directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="import-bench-", dir=beside)))
        database = options.database or directory / "new.db"
        if not options.database:
            database.touch()
        files = [directory / "16 kernels, 16 MiB", directory / "512 kernels x 64"]
        write_long(files[0])
        write_wide(files[1])
        daemon = http_bench.Daemon(options, database, directory)
        stack.callback(daemon.stop)
        client = http_bench.Client(daemon.port)
        replay_one(client)
        paths, p99 = asked(client), []
        print("%-24s%9s" % ("ms, while importing", "requests") + "".join("%9s" % name for name in ("p50", "p99", "max", "cpu p50", "cpu p99", "cpu max")) +
              "%10s  %s" % ("import s", "longest"))
        for index, file in enumerate(files):
            p99.append(measure(options, daemon, client, paths, file, 1000 * index))
        p99.append(measure_large(options, daemon, client, paths))
        memory = daemon.memory()
        print("memory in MiB: " + ", ".join("%s %.1f" % item for item in memory.items()) +
              "; load %.1f %.1f %.1f on %d processors" % (os.getloadavg() + (os.cpu_count(),)))
    over = max(p99) > options.limit
    print(("over %g ms" if over else "all within %g ms") % options.limit)
    if memory["VmHWM"] > MEMORY_MAX_MIB:
        print("over %d MiB of memory" % MEMORY_MAX_MIB)
        over = True
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
