"""Malformed requests over raw sockets: each is refused by one answer of the error catalogue or by the end of the connection, nothing after it is
answered or done, and the daemon is as well as before. The same behind nginx, where it is installed."""
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import harness
import malformed

CASES = malformed.cases()


def blocks(data, head=False):
    """(status, headers, body) of each answer in a raw stream whose answers all have a Content-Length; every byte has to belong to one. head: the last
    may be one to HEAD."""
    found = []
    while data:
        head, separator, rest = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        assert separator and lines[0].startswith("HTTP/1.1 "), data[:300]
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            assert name.lower() not in headers, "%s twice in %r" % (name, head)
            headers[name.lower()] = value
        status = int(lines[0].split()[1])
        if 100 <= status < 200:
            found.append((status, headers, b""))
            data = rest
            continue
        length = 0 if head and not rest else int(headers["content-length"])
        found.append((status, headers, rest[:length]))
        assert len(rest) >= length, data[:300]
        data = rest[length:]
    return found


class Talk:
    """A client's side of one connection."""

    def __init__(self, connect):
        self.connect = connect

    def say(self, data, pieces=None, end=False):
        with self.connect() as connection:
            try:
                for at in range(0, len(data), pieces or max(len(data), 1)):
                    connection.sendall(data[at:at + (pieces or len(data))])
                if end:
                    connection.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return harness.read_all(connection)


class Malformed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="rooflined-test-")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.unix = cls.directory.name + "/socket"
        cls.daemon = harness.Daemon("--open-loopback", "--request-timeout", "30", "--listen-unix", cls.unix)
        cls.addClassCleanup(cls.daemon.__exit__, None, None, None)
        cls.tcp = Talk(cls.daemon.socket)
        cls.local = Talk(cls.unix_socket)

    @classmethod
    def unix_socket(cls):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(harness.LIMIT_S)
        connection.connect(cls.unix)
        return connection

    def tearDown(self):
        self.assertEqual(self.daemon.get("/healthz").status, 200)
        self.assertEqual(self.daemon.get("/api/v1/jobs").json["items"], [], "a request was smuggled")
        self.assertNotIn("HTTP library reads a request where", self.daemon.text())

    def refused(self, case, answers):
        self.assertEqual(len(answers), 1, answers)
        status, headers, body = answers[0]
        self.assertEqual((status, headers["content-type"], headers["connection"]), (case.status, "application/json", "close"), body)
        if case.data.startswith(b"HEAD") and not body:
            return
        error = json.loads(body)["error"]
        self.assertEqual(error["code"], case.code, error)
        self.assertTrue(error["message"] and error["next_action"])

    def check(self, talk, case, before=b"", **how):
        if case.status is None:
            answers = blocks(talk.say(before + case.data, end=True, **how))
        else:
            answers = blocks(talk.say(before + case.data + malformed.CANARY, **how), case.data.startswith(b"HEAD"))
        if before:
            self.assertEqual((answers[0][0], json.loads(answers[0][2])["status"]), (200, "ok"))
            answers = answers[1:]
        if case.status is None:
            self.assertEqual(answers, [])
        else:
            self.refused(case, answers)

    def test_number(self):
        self.assertGreaterEqual(sum(case.status is not None for case in CASES), 220)

    def test_whole(self):
        for case in CASES:
            with self.subTest(case.name):
                self.check(self.tcp, case)

    def test_unix_socket(self):
        for case in CASES:
            with self.subTest(case.name):
                self.check(self.local, case)

    def test_in_pieces(self):
        """The network may cut anywhere."""
        for case in CASES:
            if len(case.data) <= 600:
                for pieces in (1, 7):
                    with self.subTest(case.name, pieces=pieces):
                        self.check(self.tcp, case, pieces=pieces)

    def test_after_a_good_one(self):
        """The good request that came before on the connection is answered first, and wholly."""
        for case in CASES:
            with self.subTest(case.name):
                self.check(self.tcp, case, before=malformed.GOOD)

    def test_after_an_answer_that_takes_long(self):
        """Of a size that no socket's buffer holds: it is read slowly, and whole before the refusal."""
        page = "x" * 8000000
        daemon = harness.Daemon(page={"index.html": page})
        self.addCleanup(daemon.__exit__, None, None, None)
        for case in [case for case in CASES if case.status][::9]:
            with self.subTest(case.name), daemon.socket() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                try:
                    connection.sendall(case.data + malformed.CANARY)
                except (BrokenPipeError, ConnectionResetError):
                    pass
                self.assertEqual(daemon.get("/healthz").status, 200)
                first, *others = blocks(harness.read_all(connection))
                self.assertEqual((first[0], first[2].decode()), (200, page))
                self.refused(case, others)

    def test_well_formed_ones_still_pass(self):
        """What is unusual and allowed."""
        longest = b"/healthz?" + b"x" * 53228 + b"=1"
        cookies = b"Cookie: " + b"; ".join([b"a" * 61] * 127) + b"\r\n"
        job = b'{"suite":"nope"}'
        chunked = malformed.CHUNKED
        for name, data, status in (
                ("empty lines first", b"\r\n\r\n" + malformed.GOOD, 200), ("HTTP/1.0", malformed.GOOD.replace(b"1.1", b"1.0"), 200),
                ("no blank after the colon", b"GET /healthz HTTP/1.1\r\nHost:localhost\r\n\r\n", 200), ("tabs", b"GET /healthz HTTP/1.1\r\nHost:\t localhost\r\nX: a\tb\r\n\r\n", 200),
                ("UTF-8 in a value", malformed.LINE + malformed.HOST + b"X: \xc3\xa9\r\n\r\n", 200), ("an empty value", malformed.LINE + malformed.HOST + b"X:\r\nY: \r\n\r\n", 200),
                ("odd token bytes", malformed.LINE + malformed.HOST + b"!#$%&'*+-.^_`|~09: a\r\n\r\n", 200), ("100 headers", malformed.LINE + malformed.HOST + b"X: a\r\n" * 99 + b"\r\n", 200),
                ("127 cookies beside the longest address", b"GET " + longest + b" HTTP/1.1\r\n" + malformed.HOST + cookies + b"X: a\r\n" * 97 + b"\r\n", 400),
                ("16 kB of cookies, the longest address, all headers", b"GET " + longest + b" HTTP/1.1\r\n" + malformed.HOST + b"Cookie: " + b"; ".join([b"a" * 126] * 127) + b"\r\n" + b"X: " + b"v" * 150 + b"\r\n" + b"X: " + b"v" * 150 + b"\r\n"
                 + (b"X: " + b"v" * 156 + b"\r\n") * 95 + b"\r\n", 400),
                ("24 parameters", b"GET /healthz?" + b"&".join(b"a%d=1" % i for i in range(24)) + b" HTTP/1.1\r\n" + malformed.HOST + b"\r\n", 400),
                ("a length with zeros", malformed.POST + b"Content-Length: 00016\r\n\r\n" + job, 400), ("chunks", chunked + b"8\r\n" + job[:8] + b"\r\n008\r\n" + job[8:] + b"\r\n0\r\n\r\n", 400),
                ("extensions and trailers", chunked + b'10;a=b;c="d e"\r\n' + job + b"\r\n0;last\r\nX: t\r\nY: t\r\n\r\n", 400), ("a lower case coding", malformed.POST + b"transfer-encoding: CHUNKED\r\n\r\n10\r\n" + job + b"\r\n0\r\n\r\n", 400)):
            for pieces in (None, 11 if len(data) < 1000 else 5000):
                with self.subTest(name, pieces=pieces):
                    closing = data.replace(b"Host:", b"Connection: close\r\nHost:", 1) if b"100 headers" not in name.encode() else data.replace(b"X: a\r\n", b"Connection: close\r\n", 1)
                    (got, headers, body), = blocks(self.tcp.say(closing, pieces=pieces))
                    self.assertEqual((got, headers["content-type"]), (status, "application/json"), body)
                    if status == 400:
                        self.assertIn(json.loads(body)["error"]["code"], ("unknown_field", "bad_field"))

    def test_pipelined(self):
        """Forty in one piece, bodies among them: forty answers in their order."""
        job = b'{"suite":"nope"}'
        posts = (malformed.POST + b"Content-Length: 16\r\n\r\n" + job, malformed.CHUNKED + b"10\r\n" + job + b"\r\n0\r\n\r\n")
        data = b"".join(malformed.GOOD + posts[i % 2] for i in range(20))
        for pieces in (None, 1, 100):
            answers = blocks(self.tcp.say(data, pieces=pieces, end=True))
            self.assertEqual([answer[0] for answer in answers], [200, 400] * 20)

    def test_urgent_byte(self):
        """Which TCP may leave out of the stream: the connection ends, at most refused."""
        with self.daemon.socket() as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
            connection.send(b"!", socket.MSG_OOB)
            connection.sendall(b"alhost\r\n\r\n")
            self.assertNotIn(b'"status":"ok"', harness.read_all(connection))


NGINX = """
daemon off; master_process off; worker_processes 1; pid {dir}/pid; error_log {dir}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off; lingering_timeout 1s; client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
    large_client_header_buffers 8 128k; client_max_body_size 40m;
    upstream rooflined {{ server 127.0.0.1:{port}; keepalive 4; }}
    server {{
        listen unix:{dir}/front;
        location / {{ proxy_pass http://rooflined; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host localhost; proxy_request_buffering {buffering}; }}
    }}
}}
"""


class BehindNginx(Malformed):
    """One of the two refuses, and neither takes a part of one request for another."""

    @classmethod
    def setUpClass(cls):
        nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
        if not nginx:
            raise unittest.SkipTest("nginx is not installed: requests behind a proxy are not tried (Debian: nginx-light)")
        super().setUpClass()
        cls.fronts = {}
        for buffering in ("on", "off"):
            place = pathlib.Path(cls.directory.name) / buffering
            place.mkdir()
            (place / "nginx.conf").write_text(NGINX.format(dir=place, port=cls.daemon.port, buffering=buffering))
            process = subprocess.Popen([nginx, "-p", str(place), "-c", str(place / "nginx.conf"), "-e", str(place / "error.log")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            cls.addClassCleanup(process.wait, harness.LIMIT_S)
            cls.addClassCleanup(process.send_signal, signal.SIGTERM)
            harness.Daemon.wait_for(lambda: (place / "front").exists(), "nginx")
            cls.fronts[buffering] = Talk(lambda path=str(place / "front"): cls.front_socket(path))

    @staticmethod
    def front_socket(path):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(harness.LIMIT_S)
        connection.connect(path)
        return connection

    def through(self, data):
        for buffering, talk in self.fronts.items():
            yield buffering, harness.statuses(talk.say(data, end=True))

    def test_whole(self):
        """Behind each there stands a request that makes no job but would be seen: nginx may well answer it, as the next one on its connection, but only
        where it took the whole of the malformed one for a request and the daemon answered that."""
        for case in CASES:
            for buffering, codes in self.through(case.data + b"GET /nope HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"):
                with self.subTest(case.name, buffering=buffering):
                    self.assertLessEqual(len(codes), 2, codes)
                    self.assertNotIn(202, codes)
                    self.assertNotIn(502, codes, "the two did not agree where a request ends")

    def test_smuggled_within(self):
        """A request within a request's body must not be done, whatever frames it."""
        for case in CASES:
            if malformed.CANARY in case.data:
                for buffering, codes in self.through(case.data):
                    with self.subTest(case.name, buffering=buffering):
                        self.assertNotIn(202, codes)

    def test_next_client(self):
        """The connections to the daemon are shared: what one client left on them must not be another's."""
        for case in CASES:
            for talk in self.fronts.values():
                with self.subTest(case.name):
                    talk.say(case.data, end=True)
                    (status, _, body), = blocks(talk.say(malformed.GOOD.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")))
                    self.assertEqual((status, json.loads(body)["status"]), (200, "ok"))

    # those of the class above that are about the daemon alone
    test_unix_socket = test_in_pieces = test_after_a_good_one = test_after_an_answer_that_takes_long = None
    test_well_formed_ones_still_pass = test_pipelined = test_urgent_byte = None


if __name__ == "__main__":
    unittest.main()
