#!/usr/bin/env python3
"""How long the daemon takes to answer, over HTTP, on a database of many runs. By hand; never part of a test run.

    ninja history_generate rooflined roofline-measure        # in a release build
    bin/history_generate --database /tmp/100k.db --runs 100000
    bin/history_generate --database /tmp/1m.db               # a million: some 8 minutes and 7 GB
    tests/bench/http_bench.py --bin build/bin /tmp/100k.db /tmp/1m.db

Each database is copied beside itself and gets a daemon of its own. One client on one keep-alive connection times every kind
of request, first some that do not count: the cache is warm. Meanwhile another posts a job every 4 s, which is measured by replay and
stored as any job. With two databases each kind is asked of one and then of the other, so that a machine that changes its speed
changes both. Printed in ms: p50, p99 and longest time from the first byte sent to the last byte received; p50 and p99 of the
CPU time that the daemon took (/proc/PID/schedstat; on a machine that others use too, that is what to judge by: --cpu); the mean
answer's bytes; and the second database's p50, p50 of CPU time and bytes over the first's. At the end the daemons' memory, and
what a job costs them. Exit 1 when a kind is over --limit ms at p99, or its p50 of CPU time grew by more than 2, or by more
than 2 for as many bytes.

Where two processors are one core, which of them the system puts a daemon on makes it take 1 or 2 times as long for whole kinds (2026-11-30):
for the growth, run this under taskset -c 0 with --pin 1.

The times of the client's own code are in the figures: some 0.1 ms, and 0.1 ms per 200 kB."""
import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARM_UP = 30
DAY_MS = 86400000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("database", nargs="+", type=pathlib.Path, help="one that history_generate made, or two: the smaller first")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--replay", type=pathlib.Path, default=ROOT / "deploy/recordings/nvidia-h200.jsonl")
    parser.add_argument("--rounds", type=int, default=400, help="requests of each kind (default 400)")
    parser.add_argument("--every", type=float, default=4, help="seconds between two jobs; 0: none (default 4)")
    parser.add_argument("--limit", type=float, default=10, help="ms that p99 may be (default 10)")
    parser.add_argument("--only", default="", help="kinds with this in their name")
    parser.add_argument("--cpu", action="store_true", help="hold CPU time against the limit, not the time: for a machine that is not quiet")
    parser.add_argument("--pin", type=int, help="this processor for the daemons, so that both run on the same one")
    parser.add_argument("--profile", action="store_true", help="say the daemon's pid and wait for Enter before asking")
    found = parser.parse_args()
    found.bin, found.replay = found.bin.absolute(), found.replay.absolute()
    if len(found.database) > 2 or found.rounds < 10:
        parser.error("one or two databases, and at least 10 rounds")
    return found


class Client:
    """One keep-alive connection."""

    def __init__(self, port):
        self.port = port
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray(1 << 22)

    def ask(self, path, method="GET", body=b"", headers=""):
        """Seconds, status, body."""
        text = "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s" % (method, path, self.port, headers)
        if body:
            text += "Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body)
        request = text.encode() + b"\r\n" + body
        view, have, end, want = memoryview(self.buffer), 0, -1, None
        began = time.perf_counter()
        self.socket.sendall(request)
        while want is None or have < want:
            if have == len(self.buffer):
                raise RuntimeError("the answer to %s has more than %d bytes" % (path, have))
            got = self.socket.recv_into(view[have:])
            if got == 0:
                raise RuntimeError("the daemon closed the connection after %s" % path)
            have += got
            if want is None:
                end = self.buffer.find(b"\r\n\r\n", 0, have)
                if end >= 0:
                    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", self.buffer[:end + 2])
                    if not length:
                        raise RuntimeError("the answer to %s has no length" % path)
                    want = end + 4 + int(length.group(1))
        took = time.perf_counter() - began
        return took, int(self.buffer[9:12]), bytes(view[end + 4:have])

    def json(self, path):
        _, status, body = self.ask(path)
        if status != 200:
            raise RuntimeError("%s: %d %s" % (path, status, body[:300].decode(errors="replace")))
        return json.loads(body)


class Daemon:
    def __init__(self, options, database, directory):
        self.directory = directory
        self.database = pathlib.Path(directory) / "copy.db"
        shutil.copyfile(database, self.database)
        with open(self.database, "rb") as copy:
            os.fsync(copy.fileno())  # else the daemon's first checkpoint waits until all of it is on the disk: 1.1 s (2026-11-30)
        log = open(pathlib.Path(directory) / "log", "w+")
        self.log = pathlib.Path(log.name)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ROOFLINED_")}
        self.process = subprocess.Popen(
            [options.bin / "rooflined", "--listen", "127.0.0.1:0", "--database", self.database, "--measure-exec",
             options.bin / "roofline-measure", "--replay", options.replay, "--open-loopback", "--idle-timeout", "600"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, env=environment, cwd=directory)
        log.close()
        self.pid, self.port = self.process.pid, None
        began = time.monotonic()
        while self.port is None:
            found = re.search(r"listening on http://\S+:(\d+)/", self.log.read_text())
            if found:
                self.port = int(found.group(1))
            elif self.process.poll() is not None or time.monotonic() - began > 120:
                raise RuntimeError("the daemon did not start: " + self.log.read_text())
            time.sleep(0.02)
        self.started_s = time.monotonic() - began
        if options.pin is not None:
            os.sched_setaffinity(self.pid, {options.pin})
        self.schedstat = open("/proc/%d/schedstat" % self.pid, "rb", buffering=0)

    def cpu_s(self):
        self.schedstat.seek(0)
        return int(self.schedstat.read(64).split()[0]) / 1e9

    def memory(self):
        text = pathlib.Path("/proc/%d/status" % self.pid).read_text()
        return {name: int(re.search(name + r":\s+(\d+) kB", text).group(1)) / 1024 for name in ("VmHWM", "VmRSS", "RssAnon", "RssFile")}

    def stop(self):
        self.schedstat.close()
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Storer(threading.Thread):
    """Posts a job every so often on a connection of its own."""

    def __init__(self, port, every_s):
        super().__init__(daemon=True)
        self.port, self.every_s, self.posted, self.refused = port, every_s, 0, 0
        self.over, self.active = threading.Event(), threading.Event()

    def run(self):
        last = time.monotonic()
        while not self.over.wait(0.05):
            if not self.active.is_set() or time.monotonic() - last < self.every_s:
                continue
            last = time.monotonic()
            _, status, _ = Client(self.port).ask("/api/v1/jobs", "POST", b'{"suite":"verify","sizes":"course"}')
            self.posted += status == 202
            self.refused += status != 202


class World:
    """What there is in the database to ask for."""

    def __init__(self, client, rng):
        self.client, self.rng = client, rng
        newest = client.json("/api/v1/runs?limit=200&source=measured")["items"]
        self.end_ms = self.time_ms(newest[0]["date"])
        self.newest_run = max(int(run["id"]) for run in newest)
        self.year = "since=%s&until=%s" % (self.day(-364), self.day(1))
        rows = client.json("/api/v1/history?" + self.year)["rows"]
        runs = {}
        for row in rows:
            device = row["device"]["id"]
            runs[device] = runs.get(device, 0) + sum(cell["counter_backed"] + cell["timed_only"] for cell in row["cells"])
        self.devices = sorted(runs, key=runs.get, reverse=True)
        self.heavy = self.devices[0]
        self.rows = [row for row in rows if row["driver"] and row["cuda"]]
        self.share = runs[self.heavy] / sum(runs.values())
        # with at least 30 comparable runs a side
        self.drivers = [driver for driver in sorted({row["driver"] for row in rows if row["device"]["id"] == self.heavy})
                        if sum(cell["counter_backed"] for row in rows if row["device"]["id"] == self.heavy and row["driver"] == driver
                               for cell in row["cells"]) >= 200]
        document = client.json("/api/v1/runs/%d" % self.newest_run)
        self.kernels = [row["kernel"] for row in document["kernels"]]
        self.ceilings = sorted({(ceiling["name"], ceiling["state"]) for ceiling in document["ceilings"]})

    @staticmethod
    def time_ms(text):
        return int(time.mktime(time.strptime(text[:19] + " UTC", "%Y-%m-%dT%H:%M:%S %Z")) - time.timezone) * 1000

    def day(self, offset):
        return time.strftime("%Y-%m-%d", time.gmtime(self.end_ms / 1000 + offset * 86400))

    def some_day(self):
        return self.day(-self.rng.randrange(1, 600))

    def row(self):
        return self.rng.choice(self.rows)

    def run(self):
        return self.newest_run - self.rng.randrange(5000)

    def next_page(self, query):
        found = self.client.json("/api/v1/runs?" + query)["next"]
        return "/api/v1/runs?%s&cursor=%s" % (query, found) if found else "/api/v1/runs?" + query


def quote(text):
    return urllib.parse.quote(text, safe="")


def kinds(w):
    """(name, path for a round)."""
    runs, some = "/api/v1/runs?", w.rng.choice
    words = {
        "no filter": lambda: "outcome=any",
        "default": lambda: "",
        "device with half": lambda: "device=" + quote(w.heavy),
        "device": lambda: "device=" + quote(some(w.devices)),
        "driver": lambda: "driver=" + quote(w.row()["driver"]),
        "cuda": lambda: "cuda=" + quote(w.row()["cuda"]),
        "suite": lambda: "suite=verify",
        "suite of none": lambda: "suite=import",
        "sizes": lambda: "sizes=scaled",
        "sizes of none": lambda: "sizes=other",
        "measured": lambda: "source=measured",
        "imported": lambda: "source=imported",
        "replayed, any": lambda: "source=replayed&outcome=any",
        "counter-backed": lambda: "counters=counter-backed",
        "timed-only": lambda: "counters=timed-only",
        "refused": lambda: "outcome=refused",
        "partial": lambda: "outcome=partial",
        "since": lambda: "since=" + w.some_day(),
        "until": lambda: "until=" + w.some_day(),
        "since until": lambda: (lambda at: "since=%s&until=%s" % (w.day(at), w.day(at + 1)))(-w.rng.randrange(1, 600)),
        "refused until": lambda: "outcome=refused&until=" + w.some_day(),
        "imported until": lambda: "source=imported&outcome=any&until=" + w.some_day(),
        "timed-only scaled until": lambda: "counters=timed-only&sizes=scaled&until=" + w.some_day(),
        "rare": lambda: "outcome=refused&source=imported&counters=timed-only&sizes=scaled",
        "rare until": lambda: "outcome=refused&source=imported&counters=timed-only&until=" + w.some_day(),
        "device driver cuda": lambda: (lambda row: "device=%s&driver=%s&cuda=%s" % (
            quote(row["device"]["id"]), quote(row["driver"]), quote(row["cuda"])))(w.row()),
        "driver until": lambda: "driver=%s&until=%s" % (quote(w.row()["driver"]), w.some_day()),
        "device nowhere": lambda: "device=GPU-nowhere",
        "driver nowhere": lambda: "driver=0.0",
        "driver unknown": lambda: "driver=unknown",
        "every filter": lambda: (lambda row: "device=%s&driver=%s&cuda=%s&suite=verify&sizes=course&source=measured&"
                                 "counters=counter-backed&outcome=ok&since=%s&until=%s" % (
                                     quote(row["device"]["id"]), quote(row["driver"]), quote(row["cuda"]), w.day(-600), w.day(0)))(w.row()),
    }
    found = [("list, " + name, lambda make=make: (runs + make()).rstrip("?")) for name, make in words.items()]
    found += [("list of 200, " + name, lambda make=words[name]: runs + "limit=200&".join(("", make())).rstrip("&"))
              for name in ("no filter", "default", "device with half", "device", "imported", "replayed, any", "refused",
                           "refused until", "imported until", "timed-only scaled until", "rare until", "driver until", "until")]
    found += [
        ("list, next page", lambda: w.next_page("until=" + w.some_day())),
        ("list of 200, next page", lambda: w.next_page("outcome=partial&limit=200&until=" + w.some_day())),
        ("matrix of a year", lambda: "/api/v1/history?" + w.year),
        ("matrix, device with half", lambda: "/api/v1/history?device=%s&%s" % (quote(w.heavy), w.year)),
        ("trend of a year, half", lambda: "/api/v1/trend?device=%s&kernel=%s&state=%s&%s" % (
            quote(w.heavy), some(w.kernels), some(("warm", "cold")), w.year)),
        ("trend of a year, ceiling", lambda: (lambda ceiling: "/api/v1/trend?device=%s&kernel=%s&state=%s&%s" % (
            quote(w.heavy), ceiling[0], ceiling[1], w.year))(some(w.ceilings))),
        ("trend of a year, device", lambda: "/api/v1/trend?device=%s&kernel=%s&metric=dram_per_ask&%s" % (
            quote(some(w.devices)), some(w.kernels), w.year)),
    ]
    if len(w.drivers) > 1:
        found += [
            ("compare 30 and 30", lambda: "/api/v1/compare?device=%s&base=driver:%s&head=driver:%s" % (
                (quote(w.heavy),) + tuple(quote(driver) for driver in w.rng.sample(w.drivers, 2)))),
        ]
    found += [
        ("compare two runs", lambda: "/api/v1/compare?base=run:%d&head=run:%d" % tuple(w.rng.sample(range(w.newest_run - 5000, w.newest_run), 2))),
        ("run", lambda: "/api/v1/runs/%d" % w.run()),
        ("run, table", lambda: "/api/v1/runs/%d/table" % w.run()),
        ("run, CSV", lambda: "/api/v1/runs/%d.csv" % w.run()),
        ("run, samples", lambda: "/api/v1/runs/%d/samples" % w.run()),
        ("run, note", lambda: "/api/v1/runs/%d/note" % w.run()),
        ("run of nobody", lambda: "/api/v1/runs/%d" % (10**12 + w.run())),
        ("devices", lambda: "/api/v1/devices"),
        ("jobs", lambda: "/api/v1/jobs"),
    ]
    return found


def quantile(ascending, q):
    return ascending[min(len(ascending) - 1, int(q * len(ascending)))]


def measure(daemon, client, make, rounds):
    took, cpu, total, statuses = [], [], 0, set()
    for i in range(-WARM_UP, rounds):
        path = make()
        before = daemon.cpu_s()
        seconds, status, body = client.ask(path)
        after = daemon.cpu_s()
        statuses.add(status)
        if status >= 500 or status == 400:
            raise RuntimeError("%s: %d %s" % (path, status, body[:300].decode(errors="replace")))
        if i >= 0:
            took.append(seconds * 1000)
            cpu.append((after - before) * 1000)
            total += len(body)
    took.sort()
    cpu.sort()
    return {"p50": quantile(took, .5), "p99": quantile(took, .99), "max": took[-1], "cpu p50": quantile(cpu, .5),
            "cpu p99": quantile(cpu, .99), "bytes": total // rounds, "status": "/".join(map(str, sorted(statuses)))}


def storing_cost(daemon, client, seconds):
    """CPU ms of the daemon for one job, from its post to its end, and the longest that a small request waited meanwhile."""
    before, waits = daemon.cpu_s(), []
    _, status, body = client.ask("/api/v1/jobs", "POST", b'{"suite":"verify","sizes":"course"}')
    if status != 202:
        raise RuntimeError("a job was not taken: %d %s" % (status, body[:300]))
    job, asked, end = json.loads(body)["id"], 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        at = daemon.cpu_s()
        took, _, body = client.ask("/api/v1/jobs/" + job)
        asked += daemon.cpu_s() - at if took < 0.002 else 0
        waits.append(took * 1000)
        if json.loads(body)["state"] not in ("queued", "running"):
            break
        time.sleep(0.002)
    return (daemon.cpu_s() - before - asked) * 1000, max(waits), json.loads(body)["state"]


HEAD = ("p50", "p99", "max", "cpu p50", "cpu p99")


class Session:
    """A daemon on a copy of a database, its client and what to ask it."""

    def __init__(self, options, database, stack):
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="http-bench-", dir=database.resolve().parent))
        self.daemon = Daemon(options, database, directory)
        stack.callback(self.daemon.stop)
        self.client, self.name = Client(self.daemon.port), database.name
        self.world = World(self.client, random.Random(7))
        print("%s: %.0f MB, newest run %d, started in %.1f s; one device has %.0f percent of the runs" % (
            database, database.stat().st_size / 1e6, self.world.newest_run, self.daemon.started_s, 100 * self.world.share))
        self.kinds = dict(kinds(self.world))
        self.storer = Storer(self.daemon.port, options.every) if options.every > 0 else None
        if self.storer:
            self.storer.start()

    def measure(self, name, rounds):
        if self.storer:
            self.storer.active.set()
        figures = measure(self.daemon, self.client, self.kinds[name], rounds)
        if self.storer:
            self.storer.active.clear()
        return figures

    def finish(self):
        if self.storer:
            self.storer.over.set()
            self.storer.join()
        costs = [storing_cost(self.daemon, self.client, 30) for _ in range(3)]
        done = sum(1 for job in self.client.json("/api/v1/jobs?limit=200&state=done")["items"] if int(job["run"] or 0) > self.world.newest_run)
        print("%s: %d jobs posted meanwhile, %d refused, %d done with those after; a job costs the daemon %s ms of CPU, and a small request "
              "waited at most %.1f ms" % (self.name, self.storer.posted if self.storer else 0, self.storer.refused if self.storer else 0, done,
                                          ", ".join("%.0f" % cost[0] for cost in costs), max(cost[1] for cost in costs)))
        print("%s: memory in MiB: %s" % (self.name, ", ".join("%s %.1f" % item for item in self.daemon.memory().items())))


def judge(options, name, rows):
    """The table's last columns, and what is wrong with the figures."""
    key, wrong, text = "cpu p99" if options.cpu else "p99", [], ""
    for row in rows:
        if row[key] > options.limit:
            wrong.append("%s: %.1f ms" % (name, row[key]))
    if len(rows) == 2:
        ratios = [rows[1][column] / max(rows[0][column], 1e-9) for column in ("p50", "cpu p50", "bytes")]
        text = "%8.2f%11.2f%9.2f" % tuple(ratios)
        if ratios[1] > 2 * max(ratios[2], 1):
            wrong.append("%s: %.2f x the CPU time" % (name, ratios[1]))
    return text, wrong


def main():
    options, wrong = arguments(), []
    with contextlib.ExitStack() as stack:
        sessions = [Session(options, database, stack) for database in options.database]
        if options.profile:
            input("daemon %s; Enter goes on " % ", ".join(str(session.daemon.pid) for session in sessions))
        print("%-36s%9s%9s%9s%9s%9s%9s  status%s" % (("ms",) + HEAD + ("bytes", "    p50 x  cpu p50 x  bytes x" if len(sessions) == 2 else "")))
        for name in sessions[0].kinds:
            if options.only not in name or any(name not in session.kinds for session in sessions):
                continue
            rows = [session.measure(name, options.rounds) for session in sessions]
            text, found = judge(options, name, rows)
            wrong += found
            for row in rows:
                label, more = name if row is rows[0] else "", text if row is rows[-1] else ""
                print("%-36s%9.2f%9.2f%9.2f%9.2f%9.2f%9d  %-7s%s" % ((label,) + tuple(row[key] for key in HEAD) + (row["bytes"], row["status"], more)))
            sys.stdout.flush()
        for session in sessions:
            session.finish()
    print("over the limit: " + "; ".join(wrong) if wrong else "all within %g ms" % options.limit)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
