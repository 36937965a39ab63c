"""What a client can make grow has a limit: time of a request, connections, descriptors."""
import os
import socket
import time
import unittest

import harness

PIECE_S, PIECES = 0.05, 1200  # one byte per piece: a minute at most, far above the deadline of these tests


def ended(connection):
    """Whether the daemon has closed it, all of its answer read."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
    finally:
        connection.setblocking(True)


class Limits(unittest.TestCase):
    def daemon(self, *options, **more):
        daemon = harness.Daemon("--open-loopback", *options, **more)
        self.addCleanup(daemon.kill)
        return daemon

    def trickle(self, connection, data):
        """Sends byte by byte until the daemon answers or closes; what it said."""
        connection.settimeout(PIECE_S)
        for byte in data:
            try:
                connection.sendall(bytes([byte]))
                part = connection.recv(65536)
            except TimeoutError:
                continue
            except OSError:
                return b""
            connection.settimeout(harness.LIMIT_S)
            return part + harness.read_all(connection)
        self.fail("the daemon kept a request of %d pieces" % len(data))

    def test_slow_requests(self):
        daemon = self.daemon("--request-timeout", "1")
        head = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        for whole, slow in ((b"", b"G" * PIECES), (b"GET /healthz HTTP/1.1\r\n", b"X-Header: " + b"x" * PIECES), (head + b"Content-Length: 60000\r\n\r\n", b" " * PIECES),
                            (head + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n" * (PIECES // 6))):
            with self.subTest(whole=whole), daemon.socket() as connection:
                connection.sendall(whole)
                answer = self.trickle(connection, slow)
                self.assertEqual(harness.statuses(answer), [408], answer)
                self.assertEqual(harness.raw_error(answer), "request_timeout")
        with daemon.socket() as connection:  # not a byte
            self.assertEqual(harness.statuses(harness.read_all(connection)), [408])

    def test_slow_second_request(self):
        daemon = self.daemon("--request-timeout", "1", "--idle-timeout", "1")
        with daemon.socket() as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(harness.statuses(connection.recv(65536)), [200])
            self.assertEqual(self.trickle(connection, b"G" * PIECES), b"")

    def test_idle(self):
        daemon = self.daemon("--idle-timeout", "1")
        with daemon.socket() as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(harness.statuses(harness.read_all(connection)), [200])

    def test_slow_reader(self):
        daemon = self.daemon("--request-timeout", "1", page={"index.html": "x" * 12000000})
        before = daemon.settled_descriptors()
        with daemon.socket() as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            daemon.wait_for(lambda: daemon.descriptors() > before, "the connection")
            daemon.wait_for(lambda: daemon.descriptors() <= before, "its end")
        self.assertEqual(len(daemon.get("/").body), 12000000)

    def test_many_connections(self):
        daemon = self.daemon("--request-timeout", "30")
        before = daemon.settled_descriptors()
        connections = [daemon.socket() for _ in range(300)]
        for connection in connections:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answers = [connection.recv(65536) for connection in connections]
        codes = [harness.statuses(answer)[0] for answer in answers]
        self.assertEqual(set(codes), {200, 503})
        # One that was answered gives way to a newcomer, so that more than 128 may be answered; as many are held.
        self.assertLessEqual(sum(not ended(connection) for connection in connections), 128)
        self.assertGreaterEqual(codes.count(200), 100)
        refused = answers[codes.index(503)]
        self.assertEqual(harness.raw_error(refused), "too_many_connections")
        self.assertIn(b"Retry-After: ", refused)
        self.assertLess(daemon.descriptors(), before + 350)
        for connection in connections:
            connection.close()
        daemon.wait_for(lambda: daemon.descriptors() <= before, "descriptors to come back")
        self.assertEqual(daemon.get("/healthz").status, 200)

    def test_waiting_connections(self):
        """More than even the surplus has room for: they wait, and are served when others go."""
        daemon = self.daemon("--request-timeout", "2", "--idle-timeout", "1")
        connections = [daemon.socket() for _ in range(420)]
        for connection in connections:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for connection in connections:
            self.assertIn(harness.statuses(harness.read_all(connection))[:1], ([200], [503], [408], []))
            connection.close()
        self.assertEqual(daemon.get("/healthz").status, 200)

    def test_descriptors(self):
        daemon = self.daemon()
        body = b'{"suite":"nope"}'
        head = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        requests = (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", b"GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    head + b"Content-Length: 16\r\nConnection: close\r\n\r\n" + body, head + b"Content-Length: 99999\r\n\r\n" + body, head + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
                    head + b"Transfer-Encoding: chunked\r\n\r\n20000\r\n" + b"x" * 0x20000, b"GET / HTTP/1.1\r\nHost: evil\r\n\r\n", b"GET nonsense HTTP/1.1\r\n\r\n", head)
        before = daemon.settled_descriptors()
        for i in range(2000):
            with daemon.socket() as connection:
                try:
                    connection.sendall(requests[i % len(requests)])
                    if i % 3 and i % len(requests) != len(requests) - 1:
                        connection.shutdown(socket.SHUT_WR)
                        self.assertTrue(harness.statuses(harness.read_some(connection, harness.LIMIT_S)))
                except OSError:
                    pass
        daemon.wait_for(lambda: daemon.descriptors() <= before, "descriptors to come back")
        # Ends of stream that came with a half request are noticed as well, long before its deadline.
        self.assertNotIn("408", daemon.get("/metrics").body.decode())
        connection = daemon.connection()
        self.addCleanup(connection.close)
        for _ in range(2000):
            connection.request("GET", "/api/v1/jobs")
            self.assertEqual(connection.getresponse().read()[:10], b'{"items":[')
        self.assertLessEqual(daemon.descriptors(), before + 1)

    def test_one_thread(self):
        daemon = self.daemon()
        self.assertEqual(len(os.listdir("/proc/%d/task" % daemon.process.pid)), 1)

    def test_big_body_is_answered(self):
        """A client that sends all of a body that is too large before it reads must get the answer, not a reset."""
        daemon = self.daemon()
        for _ in range(20):
            answer = daemon.post(b"x" * 5000000)
            self.assertEqual((answer.status, answer.code), (413, "too_large"))

    def test_peer_goes_away(self):
        daemon = self.daemon(page={"index.html": "x" * 4000000})
        before = daemon.settled_descriptors()
        for _ in range(50):
            with daemon.socket() as connection:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                time.sleep(0.002)
        daemon.wait_for(lambda: daemon.descriptors() <= before, "descriptors to come back")
        self.assertEqual(daemon.get("/healthz").status, 200)


if __name__ == "__main__":
    unittest.main()
