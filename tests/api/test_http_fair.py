"""Slow clients, many of them and of one address: they are ended or give way, and everybody else is answered."""
import contextlib
import hashlib
import http.client
import json
import socket
import threading
import time
import unittest

import harness
import varied

CONNECTIONS = 128  # LIMIT_CONNECTIONS_PER_CALLER of server/limits/limits.h
UPLOADS = 4  # LIMIT_UPLOADS_EACH
EXPORTS = 4  # LIMIT_EXPORTS_EACH
T4 = (harness.HERE.parents[1] / "deploy/records/t4.json").read_bytes()
IMPORTS = "/api/v1/imports"
EXPORT = "/api/v1/runs.json"
RUNS = 24
READINGS = 256  # of telemetry: a document of about 210 kB


def form(body):
    return (b'--X\r\nContent-Disposition: form-data; name="record"; filename="t4.json"\r\n\r\n' + body +
            b'\r\n--X\r\nContent-Disposition: form-data; name="date"\r\n\r\n2026-09-01\r\n--X--\r\n')


def upload(daemon, **headers):
    return daemon.request("POST", IMPORTS, form(T4), {"Content-Type": "multipart/form-data; boundary=X", **headers})


def tokens(test):
    """A daemon's options for a token file with one token, and the header that sends it."""
    import tempfile
    file = tempfile.NamedTemporaryFile("w", prefix="rooflined-tokens-")
    test.addCleanup(file.close)
    file.write("ci submit %s\n" % hashlib.sha256(b"sesame").hexdigest())
    file.flush()
    return ("--token-file", file.name), {"Authorization": "Bearer sesame"}


class Dripping:
    """Sockets on which a byte is sent every so often, until told to stop; each ended one is opened again."""

    def __init__(self, daemon, count, head, every=0.02, again=True):
        self.daemon, self.head, self.again, self.over = daemon, head, again, False
        self.sockets = [self.begin() for _ in range(count)]
        self.thread = threading.Thread(target=self.run, args=(every,))
        self.thread.start()

    def begin(self):
        connection = self.daemon.socket()
        connection.sendall(self.head)
        return connection

    def run(self, every):
        while not self.over:
            for i, connection in enumerate(self.sockets):
                try:
                    connection.sendall(b"x")
                except OSError:
                    if self.again and not self.over:
                        connection.close()
                        with contextlib.suppress(OSError):
                            self.sockets[i] = self.begin()
            time.sleep(every)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()
        for connection in self.sockets:
            connection.close()


class Fair(unittest.TestCase):
    def daemon(self, *options, **more):
        daemon = harness.Daemon("--open-loopback", *options, **{"measure": "/bin/false", "ready": False, **more})
        self.addCleanup(daemon.kill)
        return daemon

    def others_are_answered(self, daemon, rounds=50):
        kept = daemon.connection()
        self.addCleanup(kept.close)
        for _ in range(rounds):
            self.assertEqual(daemon.get("/healthz").status, 200)
            kept.request("GET", "/api/v1/runs?limit=1")
            answer = kept.getresponse()
            self.assertEqual((answer.status, answer.read()[:10]), (200, b'{"items":['))

    def test_heads_that_drip(self):
        daemon = self.daemon()
        with Dripping(daemon, 200, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ") as attack:
            self.others_are_answered(daemon)
            self.assertEqual(len(attack.sockets), 200)

    def test_bodies_that_drip(self):
        daemon = self.daemon()
        head = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n"
        with Dripping(daemon, 200, head):
            self.others_are_answered(daemon)

    def test_who_gave_way_is_told(self):
        daemon = self.daemon()
        held = [daemon.socket() for _ in range(CONNECTIONS)]
        held[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
        time.sleep(0.2)
        for connection in held[1:]:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(harness.statuses(connection.recv(65536)), [200])
        self.assertEqual(daemon.get("/healthz").status, 200)
        answer = harness.read_all(held[0])  # the slow request before the idle connections
        self.assertEqual((harness.statuses(answer), harness.raw_error(answer)), ([503], "too_many_connections"))
        self.assertIn(b"gave way", answer)
        self.assertIn(b"Retry-After: ", answer)
        with daemon.socket(), daemon.socket():
            self.assertEqual(harness.read_some(held[1], harness.LIMIT_S), b"")  # then the idle one that waited longest, without a word
        self.assertEqual(harness.read_some(held[-1], 0.1), b"")  # nothing came
        held[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(harness.statuses(held[-1].recv(65536)), [200])
        self.assertRegex(daemon.get("/metrics").body.decode(), r"rooflined_http_connections_gave_way_total [1-9]")
        for connection in held:
            connection.close()

    def test_a_share_each(self):
        """Who comes with a token has a share of its own, whatever the address."""
        options, token = tokens(self)
        daemon = self.daemon(*options)
        kept = daemon.connection()
        kept.request("GET", "/api/v1/jobs", headers=token)
        self.assertEqual(kept.getresponse().read()[:10], b'{"items":[')
        for _ in range(CONNECTIONS + 20):  # idle ones of the address, each younger than that
            connection = daemon.socket()
            self.addCleanup(connection.close)
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(harness.statuses(connection.recv(65536)), [200])
        local = kept.sock.getsockname()
        kept.request("GET", "/api/v1/jobs", headers=token)
        self.assertEqual((kept.getresponse().read()[:10], kept.sock.getsockname()), (b'{"items":[', local))  # the same connection

    def test_uploads_that_drip_hold_nobody_up(self):
        daemon = self.daemon(measure="/bin/false")
        head = ("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=X\r\nContent-Length: 1000000\r\n\r\n" % IMPORTS).encode()
        with Dripping(daemon, 2, head + form(b"")[:60], again=False):
            self.assertEqual(upload(daemon).status, 201)
            self.assertEqual(upload(daemon).status, 200)
        with Dripping(daemon, UPLOADS, head + form(b"")[:60], again=False) as attack:
            # as many as one caller may have: once it can be told that they are slow, one gives way
            daemon.wait_for(lambda: upload(daemon).status == 200, "a place")
            told = [answer for connection in attack.sockets if (answer := harness.read_some(connection, 0.2))]
            self.assertEqual([(harness.statuses(answer), harness.raw_error(answer)) for answer in told], [([429], "too_many_imports")])
            self.assertIn(b"gave way", told[0])
            self.assertIn(b"Retry-After: ", told[0])

    def test_an_upload_that_drips_is_ended(self):
        daemon = self.daemon("--request-timeout", "1")  # of uploads 8 s: what follows comes before
        head = "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=X\r\nContent-Length: 1000000\r\n\r\n" % IMPORTS
        with Dripping(daemon, 1, head.encode() + form(b"")[:60], again=False) as attack:
            answer = harness.read_all(attack.sockets[0])
        self.assertEqual((harness.statuses(answer), harness.raw_error(answer)), ([408], "request_timeout"))
        self.assertIn(b"bytes/s", answer)
        self.assertRegex(daemon.get("/metrics").body.decode(), "rooflined_http_connections_too_slow_total 1")

    def test_a_steady_upload_is_not(self):
        daemon = self.daemon("--request-timeout", "1")
        body = form(T4) + b"e" * 20000  # what follows the last boundary is passed over
        head = "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=X\r\nContent-Length: %d\r\n\r\n" % (IMPORTS, len(body))
        with daemon.socket() as connection:
            connection.sendall(head.encode())
            for at in range(0, len(body), 1500):
                connection.sendall(body[at:at + 1500])
                time.sleep(0.2)
            self.assertEqual(harness.statuses(harness.read_all(connection))[:1], [201])

    def test_bytes_one_by_one(self):
        """A file's bytes in chunks of one are the same file."""
        daemon = self.daemon()
        self.assertEqual(upload(daemon).status, 201)
        body = form(T4)
        with daemon.socket() as connection:
            connection.sendall(("POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=X\r\n"
                                "Transfer-Encoding: chunked\r\n\r\n" % IMPORTS).encode())
            connection.sendall(b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n")
            self.assertEqual(harness.statuses(harness.read_all(connection))[:1], [200])


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = varied.Varied("--request-timeout", "6")  # within it a reader of 64 KiB in all was never too slow
        cls.daemon = cls.site.daemon
        for _ in range(RUNS):
            cls.site.run(telemetry=READINGS, kernels=["vector_add"])
        cls.whole = cls.daemon.get(EXPORT).body

    @classmethod
    def tearDownClass(cls):
        cls.site.close()

    def start(self, stack):
        connection = stack.enter_context(contextlib.closing(socket.socket()))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
        connection.settimeout(harness.LIMIT_S)
        connection.connect(("127.0.0.1", self.daemon.port))
        connection.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % EXPORT.encode())
        return connection

    def test_a_steady_reader_is_not(self):
        """Though the system's buffer takes nothing more for longer than the timeout."""
        with contextlib.ExitStack() as stack:
            connection = self.start(stack)
            data = b""
            end = time.monotonic() + 15
            while time.monotonic() < end:
                data += connection.recv(6000)
                time.sleep(0.1)
            data += harness.read_all(connection)
            self.assertTrue(data.endswith(b"0\r\n\r\n"))
            self.assertGreater(len(data), len(self.whole))

    def test_readers_that_drip_are_ended(self):
        with contextlib.ExitStack() as stack:
            slow = []
            while self.daemon.request("HEAD", EXPORT).status == 200:  # which holds no place
                slow.append(self.start(stack))
                self.assertEqual(harness.statuses(slow[-1].recv(4096)), [200])
            self.assertEqual(len(slow), EXPORTS)
            end = time.monotonic() + harness.LIMIT_S
            while (answer := self.daemon.get(EXPORT)).status == 503 and time.monotonic() < end:
                self.assertEqual(answer.code, "too_many_exports")
                for connection in slow:
                    connection.recv(2048)
                time.sleep(0.1)
            self.assertEqual((answer.status, answer.body), (200, self.whole))
            ended = 0
            for connection in slow:
                data = harness.read_all(connection)
                ended += not data.endswith(b"0\r\n\r\n")
            self.assertGreater(ended, 0)  # and such an answer has no end


class HalfClosed(unittest.TestCase):
    """Clients that end their own side once they have asked, and read on, are answered, whether their answer takes its turn or not."""

    def test_answers_that_take_turns(self):
        site = varied.Varied()
        self.addCleanup(site.close)
        for _ in range(3):
            site.run(kernels=["vector_add"], cache=["warm"])
        wrong = []

        def ask(method, count):
            way = "%s /api/v1/runs?limit=200&source=any&outcome=any HTTP/1.1\r\nHost: localhost\r\n\r\n" % method
            for _ in range(60):
                with site.daemon.socket() as connection:
                    connection.sendall(way.encode() * count)
                    connection.shutdown(socket.SHUT_WR)
                    codes = [code for code in harness.statuses(harness.read_all(connection)) if code != 100]
                if codes != [200] * count:
                    wrong.append((method, count, codes))
        threads = [threading.Thread(target=ask, args=what) for what in (("GET", 1), ("GET", 1), ("HEAD", 1), ("GET", 3))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
