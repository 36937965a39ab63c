#!/usr/bin/env python3
"""What other clients wait for while somebody attacks. By hand; never part of a test run.

    ninja history_generate programs                          # in a release build
    bin/history_generate --database /tmp/500.db --runs 500
    tests/bench/attack_bench.py --bin build/bin /tmp/500.db  # ten minutes; --seconds 10 --only flood for a look

A copy of the database gets a daemon of its own, on one processor (--pin) with the clients on the others. Each attack of a list goes on for --seconds from
processes of its own, all from 127.0.0.1, and opens anew what is ended. Meanwhile three clients ask in turn for a run, a list, /readyz and a run's table, and
now and then post a job: on a kept connection with a token, on a kept connection without, and on a new connection each time. A kept connection that was closed
while it was idle is opened again within the time of the request. Printed per attack: requests, p50, p99 and longest time in ms, and the answers that were no
success. Exit 1 when a p99 is over --limit ms (50), or when any answer is no success."""
import argparse
import hashlib
import http.client
import multiprocessing
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = "sesame"
MIB = 1 << 20
FORM = b'--X\r\nContent-Disposition: form-data; name="ncu"; filename="a.csv"\r\n\r\n'
END = b"\r\n--X--\r\n"


def connect(port, receive=0):
    connection = socket.socket()
    if receive:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", port))
    return connection


def upload_head(length):
    return ("POST /api/v1/imports HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=X\r\nContent-Length: %d\r\n\r\n" % length).encode()


# ---- attacks: each in processes of its own, for ever ----

def flood(port, bytes_):
    """One upload of 16 MiB after the other."""
    body = FORM + (bytes_ * (16 * MIB // len(bytes_)))[:16 * MIB] + END
    while True:
        try:
            with connect(port) as connection:
                connection.sendall(upload_head(len(body)) + body)
                connection.recv(65536)
        except OSError:
            time.sleep(0.01)


def chunks(port):
    """The same in chunks of a byte."""
    body = FORM + b"\r" * (2 * MIB) + END
    sent = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    head = b"POST /api/v1/imports HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=X\r\nTransfer-Encoding: chunked\r\n\r\n"
    while True:
        try:
            with connect(port) as connection:
                connection.sendall(head + sent)
                connection.recv(65536)
        except OSError:
            time.sleep(0.01)


def drip(port, count, head, every):
    """A byte now and then on each of so many connections."""
    held = [None] * count
    while True:
        for i in range(count):
            try:
                if held[i] is None:
                    held[i] = connect(port)
                    held[i].sendall(head)
                else:
                    held[i].sendall(b"x")
            except OSError:
                held[i] = None
        time.sleep(every)


def read_slowly(port, count, path, bytes_, every):
    held = [None] * count
    while True:
        for i in range(count):
            try:
                if held[i] is None:
                    held[i] = connect(port, 1 << 14)
                    held[i].sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path)
                elif held[i].recv(bytes_) == b"":
                    held[i] = None
            except OSError:
                held[i] = None
        time.sleep(every)


SLOW_UPLOAD = upload_head(1000000) + FORM
ATTACKS = (
    ("none", None, ()),
    ("flood: CR", flood, (b"\r",)),
    ("flood: near the boundary", flood, (b"\r\n--",)),
    ("flood: chunks of a byte", chunks, ()),
    ("export: 8 readers of 16 KiB/s", read_slowly, (8, b"/api/v1/runs.json?outcome=any&source=any", 80 * 1024, 5)),
    ("drip: 200 heads", drip, (200, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", 0.5)),
    ("drip: 200 bodies", drip, (200, b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n", 0.5)),
    ("drip: 2 uploads", drip, (2, SLOW_UPLOAD, 0.5)),
    ("drip: 8 uploads", drip, (8, SLOW_UPLOAD, 0.5)),
    ("read: 200 large answers, a byte a second", read_slowly, (200, b"/api/v1/runs?limit=200&source=any&outcome=any", 1, 1)),
)


# ---- the others ----

class Client(threading.Thread):
    """Asks in turn; takes the time of each."""
    JOB = b'{"suite":"verify","kernels":["vector_add"],"cache":["warm"]}'

    def __init__(self, port, run, keep, token, until):
        super().__init__()
        self.port, self.keep, self.until = port, keep, until
        self.headers = {"Authorization": "Bearer " + TOKEN} if token else {}
        self.ways = ["/api/v1/runs/%s" % run, "/api/v1/runs?limit=50&source=any", "/readyz", "/api/v1/runs/%s/table" % run]
        self.times, self.wrong, self.connection = [], [], None

    def ask(self, method, way, body):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            self.connection.request(method, way, body, {**self.headers, **({"Content-Type": "application/json"} if body else {})})
            answer = self.connection.getresponse()
            text = answer.read()
        except (http.client.HTTPException, OSError):
            self.connection.close()
            self.connection = None
            raise
        if not self.keep:
            self.connection.close()
            self.connection = None
        return answer.status, text

    def run(self):
        count = 0
        while time.monotonic() < self.until:
            posts = count % 200 == 199
            method, way, body = ("POST", "/api/v1/jobs", self.JOB) if posts else ("GET", self.ways[count % len(self.ways)], None)
            count += 1
            began = time.perf_counter()
            kept = self.connection is not None
            try:
                try:
                    status, text = self.ask(method, way, body)
                except (http.client.HTTPException, OSError):
                    if not kept:
                        raise
                    status, text = self.ask(method, way, body)
                if status not in (200, 202):
                    self.wrong.append("%s %s: %d %s" % (method, way, status, text[:100]))
            except (http.client.HTTPException, OSError) as error:
                self.wrong.append("%s %s: %r" % (method, way, error))
            self.times.append((time.perf_counter() - began) * 1000)
            time.sleep(0.01)


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


class Daemon:
    def __init__(self, found, folder):
        copy = folder / "test.db"
        shutil.copyfile(found.database, copy)
        tokens = folder / "tokens"
        tokens.write_text("bench submit %s\n" % hashlib.sha256(TOKEN.encode()).hexdigest())
        tokens.chmod(0o600)
        command = ["taskset", "-c", str(found.pin), str(found.bin / "rooflined"), "--listen", "127.0.0.1:%d" % found.port, "--database", str(copy), "--open-loopback",
                   "--token-file", str(tokens), "--measure-exec", str(found.bin / "roofline-measure"), "--replay", str(found.replay)]
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, cwd=folder)
        end = time.monotonic() + 30
        while not (line := re.search(r"listening on http://127\.0\.0\.1:(\d+)/", self.log.read_text(errors="replace"))):
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit("rooflined did not start: " + self.log.read_text(errors="replace"))
            time.sleep(0.05)
        self.port = int(line.group(1))

    def memory(self):
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path("/proc/%d/status" % self.process.pid).read_text()).group(1)) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def newest_run(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/api/v1/runs?limit=1&source=any&outcome=any")
    found = re.search(rb'"id":"(\d+)"', connection.getresponse().read())
    connection.close()
    return found.group(1).decode()


def attacked(daemon, run, attack, arguments, seconds):
    attacker = None
    if attack:
        attacker = multiprocessing.Process(target=attack, args=(daemon.port, *arguments), daemon=True)
        attacker.start()
        time.sleep(2)  # it is under way
    until = time.monotonic() + seconds
    clients = [Client(daemon.port, run, keep, token, until) for keep, token in ((True, True), (True, False), (False, False))]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if attacker:
        attacker.kill()
        attacker.join()
    return clients


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("database", type=pathlib.Path, help="one that history_generate made")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--replay", type=pathlib.Path, default=ROOT / "deploy/recordings/nvidia-h200.jsonl")
    parser.add_argument("--seconds", type=float, default=60, help="that each attack goes on (default 60)")
    parser.add_argument("--limit", type=float, default=50, help="ms that p99 may be (default 50)")
    parser.add_argument("--only", default="", help="attacks with this in their name")
    parser.add_argument("--pin", type=int, default=0, help="the daemon's processor (default 0)")
    parser.add_argument("--port", type=int, default=0)
    found = parser.parse_args()
    found.bin, found.replay, found.database = found.bin.absolute(), found.replay.absolute(), found.database.absolute()
    others = os.sched_getaffinity(0) - {found.pin}
    if others:
        os.sched_setaffinity(0, others)
    failed = False
    print("%-42s %9s %8s %8s %8s %6s %6s" % ("attack", "requests", "p50 ms", "p99 ms", "max ms", "wrong", "MiB"))
    with tempfile.TemporaryDirectory(prefix="rooflined-bench-") as folder:
        daemon = Daemon(found, pathlib.Path(folder))
        try:
            run = newest_run(daemon.port)
            for name, attack, arguments in ATTACKS:
                if found.only not in name:
                    continue
                clients = attacked(daemon, run, attack, arguments, found.seconds)
                times = [value for client in clients for value in client.times]
                wrong = [text for client in clients for text in client.wrong]
                worst = max(quantile(client.times, 0.99) for client in clients)
                print("%-42s %9d %8.2f %8.2f %8.2f %6d %6.0f" % (name, len(times), quantile(times, 0.5), worst, max(times), len(wrong), daemon.memory()), flush=True)
                for text in wrong[:3]:
                    print("    " + text)
                failed = failed or worst > found.limit or bool(wrong)
        finally:
            daemon.stop()
    print("p99: of the client that waited longest. The daemon's memory stands last.")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
