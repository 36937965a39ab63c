"""Starts the real daemon on a free port with a database of its own, and talks to it by http.client or raw bytes."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BIN = os.environ.get("RL_BIN", "")
FAKE = str(HERE / "fake_measure.py")
LIMIT_S = 60  # of anything that is waited for; sanitized builds on a busy machine are slow


def leaks_of_glibc(environment):
    """With LOCPATH glibc leaks a list of paths in whatever library first makes a locale, which a sanitized build would report as ours."""
    return {"LSAN_OPTIONS": "suppressions=%s" % (pathlib.Path(__file__).resolve().parent / "glibc_leaks.txt")} if "LOCPATH" in (environment or {}) else {}


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("ROOFLINED_") and name != "STATE_DIRECTORY"}


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json["error"]["code"]


class Daemon:
    """A running rooflined; use as a context manager."""

    def __init__(self, *options, measure=FAKE, page=None, environment=None, directory=None, listen="127.0.0.1:0", ready=True,
                 limit_descriptors=None):
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="rooflined-test-"))
        self.own_directory = directory is None
        static = self.directory / "page"
        static.mkdir(exist_ok=True)
        for name, text in (page or {"index.html": "<!doctype html><title>t</title>"}).items():
            (static / name).parent.mkdir(parents=True, exist_ok=True)
            (static / name).write_text(text)
        command = [BIN, "--listen", listen, "--database", str(self.directory / "test.db"), "--static", str(static)]
        if measure:
            command += ["--measure-exec", measure]
        self.log = open(self.directory / "log", "w+b")
        self.process = subprocess.Popen(command + list(options), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log,
                                        env={**clean_environment(), **leaks_of_glibc(environment), **(environment or {})}, cwd=self.directory)
        if limit_descriptors:
            resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE, (limit_descriptors, limit_descriptors))
        self.port = None
        try:
            self._wait_listening(listen)
            if ready:
                self.wait_for(lambda: self.get("/readyz").status == 200, "ready")
        except BaseException:
            self.kill()
            raise

    def _wait_listening(self, listen):
        def started():
            if self.process.poll() is not None:
                raise AssertionError("rooflined ended with %d: %s" % (self.process.returncode, self.text()))
            return re.search(r"listening on (http://\S+:(\d+)/|unix:)", self.text())
        found = self.wait_for(started, "the daemon's line")
        self.port = int(found.group(2)) if found.group(2) else None

    def text(self):
        return (self.directory / "log").read_text(errors="replace")

    @staticmethod
    def wait_for(test, what):
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            result = test()
            if result:
                return result
            time.sleep(0.02)
        raise AssertionError("waited %d s for %s" % (LIMIT_S, what))

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)

    def request(self, method, path, body=None, headers=None):
        with contextlib.closing(self.connection()) as connection:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def get(self, path, **headers):
        return self.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, body, path="/api/v1/jobs", **headers):
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        return self.request("POST", path, body, {"Content-Type": "application/json",
                                                 **{name.replace("_", "-"): value for name, value in headers.items()}})

    def socket(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def raw(self, data, pieces=None):
        """Sends bytes as they are, returns all that comes until the daemon closes. pieces: bytes per send."""
        with self.socket() as connection:
            try:
                for at in range(0, len(data), pieces or max(len(data), 1)):
                    connection.sendall(data[at:at + (pieces or len(data))])
            except (BrokenPipeError, ConnectionResetError):
                pass
            return read_all(connection)

    def wait_job(self, job, states=("done", "failed", "cancelled", "interrupted")):
        path = "/api/v1/jobs/" + job
        return self.wait_for(lambda: (view := self.get(path).json) and view["state"] in states and view, "job " + job)

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def settled_descriptors(self):
        """Once the connections of earlier requests are closed on the daemon's side as well."""
        seen = []

        def steady():
            seen.append(self.descriptors())
            return len(seen) > 10 and len(set(seen[-10:])) == 1
        self.wait_for(steady, "a steady number of descriptors")
        return seen[-1]

    def ask(self, way, count):
        """Sockets on which this was asked; what comes is not read."""
        asking = [self.socket() for _ in range(count)]
        for connection in asking:
            connection.sendall(("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % way).encode())
        return asking

    def leave(self, way, count):
        for connection in self.ask(way, count):
            connection.close()

    def stop_while_clients_wait(self, way, check, count=24):
        """For more than can be made before the daemon looks at its signals; check gets each one's answer, to read it."""
        with contextlib.ExitStack() as waiting:
            asking = [waiting.enter_context(connection) for connection in self.ask(way, count)]
            assert self.get("/healthz").status == 200  # sent after them: they have been read
            self.process.send_signal(signal.SIGTERM)
            for connection in asking:
                answer = http.client.HTTPResponse(connection)
                answer.begin()
                check(answer)
            status = self.process.wait(LIMIT_S)
            assert status == 0, status

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()
        if self.own_directory:
            shutil.rmtree(self.directory, ignore_errors=True)

    def stop(self):
        """Orderly; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT_S)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            if self.process.poll() is None:
                status = self.stop()
                # Sanitizers report at exit; a failed test has its own message.
                if kind is None and status != 0:
                    raise AssertionError("rooflined ended with %d: %s" % (status, self.text()))
        finally:
            self.kill()


def read_all(connection):
    data = b""
    while True:
        try:
            part = connection.recv(65536)
        except ConnectionResetError:
            return data
        if not part:
            return data
        data += part


def read_some(connection, seconds):
    """What comes within a time, without waiting for the end."""
    if select.select([connection], [], [], seconds)[0]:
        return connection.recv(65536)
    return b""


def whole_or_stopping(whole):
    """What a stopping daemon may answer to one that waits for its turn."""
    def check(answer):
        body = answer.read()
        if answer.status == 200:
            assert body == whole, body[:300]
        else:
            assert (answer.status, json.loads(body)["error"]["code"]) == (503, "shutting_down"), body
    return check


def statuses(data):
    """Status codes of the answers in a raw stream."""
    return [int(code) for code in re.findall(rb"(?:^|\n|\})HTTP/1\.1 (\d{3})", data)]


def raw_error(data):
    """The error code in the last answer of a raw stream."""
    return json.loads(data[data.rindex(b"\r\n\r\n") + 4:])["error"]["code"]


def sanitized():
    """Whether the build under test has the address sanitizer."""
    return b"__asan_init" in pathlib.Path(BIN).read_bytes()


def run_program(*options, environment=None):
    """The program as a command: (exit status, stdout, stderr)."""
    done = subprocess.run([BIN, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
                          env={**clean_environment(), **leaks_of_glibc(environment), **(environment or {})})
    return done.returncode, done.stdout, done.stderr
