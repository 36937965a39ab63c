"""Exports larger than what the kernel buffers, read slowly or not at all: a piece in memory, a limit, and others served meanwhile."""
import contextlib
import hashlib
import http.client
import json
import re
import socket
import tempfile
import unittest

import harness
import varied

RUNS = 24
READINGS = 256  # of telemetry: a document of about 210 kB
EXPORTS = 4  # LIMIT_EXPORTS_EACH of server/limits/limits.h: of one caller
PATH = "/api/v1/runs.json"


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tokens = tempfile.NamedTemporaryFile("w", prefix="rooflined-tokens-")
        cls.tokens.write("other read %s\n" % hashlib.sha256(b"sesame").hexdigest())
        cls.tokens.flush()
        cls.site = varied.Varied("--token-file", cls.tokens.name)
        cls.daemon = cls.site.daemon
        for _ in range(RUNS):
            cls.site.run(telemetry=READINGS, kernels=["vector_add"])
        cls.whole = cls.daemon.get(PATH).body
        cls.ids = [item["id"] for item in json.loads(cls.whole)["items"]]

    @classmethod
    def tearDownClass(cls):
        cls.site.close()
        cls.tokens.close()

    def start(self, stack):
        """An export of which only the head is read; the client's window is small."""
        connection = stack.enter_context(contextlib.closing(socket.socket()))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 17)
        connection.settimeout(harness.LIMIT_S)
        connection.connect(("127.0.0.1", self.daemon.port))
        connection.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % PATH.encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer

    def memory(self, name):
        with open("/proc/%d/status" % self.daemon.process.pid) as status:
            return int(re.search(name + r":\s+(\d+) kB", status.read()).group(1)) * 1024

    def test_the_selection_is_larger_than_what_is_buffered(self):
        self.assertEqual(len(self.ids), RUNS)
        with open("/proc/sys/net/ipv4/tcp_wmem") as limits:
            self.assertGreater(len(self.whole), int(limits.read().split()[2]))  # else no export below would still be sent

    def test_one_more_than_the_limit_is_503_until_one_ends(self):
        with contextlib.ExitStack() as stack:
            slow = [self.start(stack) for _ in range(EXPORTS)]
            self.assertEqual({answer.status for answer in slow}, {200})
            for path in (PATH, "/api/v1/runs.csv"):
                refused = self.daemon.get(path)
                self.assertEqual((refused.status, refused.code), (503, "too_many_exports"))
                self.assertGreater(int(refused.headers["Retry-After"]), 0)
                self.assertIn(str(EXPORTS), refused.json["error"]["message"])
            self.assertEqual(self.daemon.get("/api/v1/runs?limit=1").status, 200)  # lists are none of them
            self.assertEqual(self.daemon.get(PATH, Authorization="Bearer sesame").body, self.whole)  # another caller's places
            # One that is read to its end gives its place to the next.
            self.assertEqual(slow[1].read(), self.whole)
            self.daemon.wait_for(lambda: self.daemon.get(PATH).status == 200, "a free place")
        self.daemon.wait_for(lambda: self.daemon.get(PATH).status == 200, "the places of those that left")

    def test_who_reads_slowly_holds_no_one_up_and_gets_all(self):
        with contextlib.ExitStack() as stack:
            slow = [self.start(stack) for _ in range(EXPORTS - 1)]
            self.assertEqual(self.daemon.get(PATH).body, self.whole)
            self.site.run(driver="600.1")  # stored while they are sent: newer than all of them
            self.assertEqual(self.daemon.get("/api/v1/runs/%s/table" % self.ids[0]).status, 200)
            self.assertEqual([item["id"] for item in self.site.ok(PATH + "?driver=580.1")["items"]], self.ids)
            for answer in slow:
                self.assertEqual([item["id"] for item in json.loads(answer.read())["items"]], self.ids)

    def test_memory_does_not_grow_with_the_selection(self):
        self.daemon.get(PATH)
        before = self.memory("VmRSS")
        with open("/proc/%d/clear_refs" % self.daemon.process.pid, "w") as reset:
            reset.write("5")  # the peak is counted from here
        with contextlib.ExitStack() as stack:
            slow = [self.start(stack) for _ in range(EXPORTS)]
            for answer in slow:
                answer.read(1 << 20)
            for answer in slow[::2]:
                answer.read()
        with open("/proc/%d/maps" % self.daemon.process.pid) as maps:
            if "libasan" in maps.read():
                self.skipTest("the sanitizer keeps what was freed")
        self.assertLess(self.memory("VmHWM") - before, len(self.whole))  # of four exports less than one selection


if __name__ == "__main__":
    unittest.main()
