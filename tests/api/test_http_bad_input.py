"""Bad input over HTTP: a clear answer from the error catalogue, nothing stored, and the daemon as well as before."""
import json
import socket
import unittest

import harness

BODY = b'{"suite":"verify"}'


def head(method="POST", path="/api/v1/jobs", **headers):
    fields = {"Host": "localhost", "Connection": "close", **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = ["%s %s HTTP/1.1" % (method, path)] + ["%s: %s" % item for item in fields.items() if item[1] is not None]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = harness.Daemon("--open-loopback", "--request-timeout", "30")

    @classmethod
    def tearDownClass(cls):
        cls.daemon.__exit__(None, None, None)

    def tearDown(self):
        self.assertEqual(self.daemon.get("/healthz").status, 200)
        self.assertEqual(self.daemon.get("/api/v1/jobs").json["items"], [], "something was stored")

    def refused(self, answer, status, code, field=None):
        self.assertEqual((answer.status, answer.code), (status, code), answer.body)
        error = answer.json["error"]
        self.assertTrue(error["message"] and error["next_action"])
        self.assertLessEqual(set(error), {"code", "message", "next_action", "field"})
        if field:
            self.assertEqual(error["field"], field)

    def refused_raw(self, data, status, code, pieces=None):
        answer = self.daemon.raw(data, pieces)
        self.assertEqual(harness.statuses(answer), [status], answer)
        self.assertEqual(harness.raw_error(answer), code)

    # ---- the body as JSON ----

    def test_no_json(self):
        for body in (b"", b" ", b"nul", b"{", b'{"suite":"verify"', b'{"suite":"verify"}x', b"'", b'{"suite":NaN}', b'{"suite":Infinity}',
                     b'{"counters":-NaN}', b'{"a":1e999}', b'{"a":1,}', b"\xef\xbb\xbf{}", b'{"suite":"verify","suite":"verify"}',
                     b'{"predictions":{"vector_add":"near","vector_add":"near"}}', b'{"suite":"ver\x00ify"}', b'{"suite":"ver\\u0000ify"}',
                     b'{"note":"\xff"}', b'{"note":"\xc0\x80"}', b'{"note":"\xed\xa0\x80"}', b'{"note":"\\ud800"}', b'{"note":"a\nb"}',
                     b"[]", b"1", b"null", b'"verify"', b"true"):
            with self.subTest(body=body):
                self.refused(self.daemon.post(body), 400, "bad_json")

    def test_nesting(self):
        for depth in (17, 100, 20000):
            for one, other in ((b"[", b"]"), (b'{"a":', b"}")):
                body = (b'{"note":' + one * (depth - 1) + (b"1" if one == b'{"a":' else b"") + other * (depth - 1) + b"}")[:65000]
                with self.subTest(depth=depth):
                    self.refused(self.daemon.post(body), 400, "bad_json")
        self.refused(self.daemon.post(b"[" * 60000), 400, "bad_json")
        # Brackets within a text are no nesting.
        self.refused(self.daemon.post({"suite": "[" * 100}), 400, "bad_field", "suite")

    # ---- its members ----

    def test_members(self):
        for more, code, field in (
                ({"x": 1}, "unknown_field", "x"), ({"Suite": "verify"}, "unknown_field", "Suite"), ({"": 1}, "unknown_field", None),
                ({"suite": 1}, "bad_field", "suite"), ({"suite": None}, "bad_field", "suite"), ({"suite": "Verify"}, "bad_field", "suite"),
                ({"sizes": "huge"}, "bad_field", "sizes"), ({"sizes": ["course"]}, "bad_field", "sizes"),
                ({"device": 0}, "bad_field", "device"), ({"device": ""}, "bad_field", "device"), ({"device": "x" * 1000}, "bad_field", "device"),
                ({"kernels": "vector_add"}, "bad_field", "kernels"), ({"kernels": []}, "bad_field", "kernels"),
                ({"kernels": ["vector_add", "nope"]}, "bad_field", "kernels[1]"), ({"kernels": [None]}, "bad_field", "kernels[0]"),
                ({"kernels": ["vector_add"] * 2}, "bad_field", "kernels[1]"), ({"kernels": ["vector_add"] * 4000}, "bad_field", None),
                ({"kernels": ["dram_copy"]}, "bad_field", "kernels[0]"),
                ({"cache": []}, "bad_field", "cache"), ({"cache": ["hot"]}, "bad_field", "cache[0]"), ({"cache": ["warm", "warm"]}, "bad_field", None),
                ({"counters": "yes"}, "bad_field", "counters"), ({"on_interrupt": "maybe"}, "bad_field", "on_interrupt"),
                ({"note": 1}, "bad_field", "note"), ({"note": "n" * 4097}, "bad_field", "note"),
                ({"predictions": []}, "bad_field", "predictions"), ({"predictions": {"vector_add": "far"}}, "bad_field", "predictions.vector_add")):
            with self.subTest(more=str(more)[:80]):
                self.refused(self.daemon.post({"suite": "verify", **more}), 400, code, field)
        self.refused(self.daemon.post({}), 400, "bad_field", "suite")

    def test_numbers_where_none_belong(self):
        for member in ("suite", "device", "sizes", "cache", "kernels", "counters", "on_interrupt", "predictions"):
            for number in ("0", "-1", "2147483648", "9223372036854775807", "1e9", "0.5"):
                with self.subTest(member=member, number=number):
                    body = '{"suite":"verify","%s":%s}' % (member, number) if member != "suite" else '{"suite":%s}' % number
                    self.refused(self.daemon.post(body), 400, "bad_field")
            self.refused(self.daemon.post('{"%s":9223372036854775808}' % member), 400, "bad_json")

    def test_unknown_device(self):
        answer = self.daemon.post({"suite": "verify", "device": "GPU-of-nobody"})
        self.assertIn(answer.status, (400, 404, 503))
        self.assertEqual(answer.json["error"]["field"], "device")

    # ---- its size and its way ----

    def test_size(self):
        limit = 64 * 1024
        for size in (limit + 1, 10**7):
            with self.subTest(size=size):
                body = BODY + b" " * (size - len(BODY))
                self.refused(self.daemon.post(body), 413, "too_large")
                self.refused_raw(head(Content_Type="application/json", Transfer_Encoding="chunked") + b"%x\r\n" % size + body + b"\r\n0\r\n\r\n",
                                 413, "too_large")
        # At the limit it is read, and judged by its content.
        self.refused(self.daemon.post(b"x" * limit), 400, "bad_json")
        # The declared length alone is enough, before any byte of the body.
        self.refused_raw(head(Content_Type="application/json", Content_Length="10000000"), 413, "too_large")
        self.refused_raw(head(Content_Type="application/json", Content_Length="10000000", Expect="100-continue"), 413, "too_large")
        self.refused_raw(head(Content_Type="application/json", Content_Length="9" * 30), 413, "too_large")

    def test_one_byte_pieces(self):
        body = b'{"suite":"nope"}'
        self.refused_raw(head(Content_Type="application/json", Content_Length=str(len(body))) + body, 400, "bad_field", pieces=1)
        chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
        self.refused_raw(head(Content_Type="application/json", Transfer_Encoding="chunked") + chunks, 400, "bad_field", pieces=1)

    def test_media_type(self):
        for value in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", "application/json5",
                      "application/json; charset=latin-1", "application/json; charset=utf-8; x=y", "application/json,text/plain", ""):
            with self.subTest(value=value):
                self.refused(self.daemon.post(BODY, Content_Type=value), 415, "bad_media_type", "Content-Type")
        self.refused_raw(head(Content_Length=str(len(BODY))) + BODY, 415, "bad_media_type")
        for value in ("gzip", "br", "identity, gzip"):
            self.refused(self.daemon.post(BODY, Content_Encoding=value), 415, "bad_media_type", "Content-Encoding")
        for value in ("application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"'):
            self.refused(self.daemon.post(b"{}", Content_Type=value), 400, "bad_field", "suite")

    # ---- framing ----

    def test_length_and_chunked(self):
        smuggled = b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for method in ("POST", "GET", "DELETE", "PUT"):
            data = head(method, "/api/v1/jobs", Content_Type="application/json", Content_Length=str(len(smuggled)), Transfer_Encoding="chunked",
                        Connection="keep-alive") + smuggled
            with self.subTest(method=method):
                answer = self.daemon.raw(data)
                self.assertEqual(harness.statuses(answer), [400], answer)
                self.assertNotIn(b'"status":"ok"', answer)

    def test_framing(self):
        for lines, status, code in (
                (b"Content-Length: 18\r\nContent-Length: 18\r\n", 400, "bad_request"),
                (b"Content-Length: 18\r\nContent-Length: 5\r\n", 400, "bad_request"),
                (b"Content-Length: +18\r\n", 400, "bad_request"), (b"Content-Length: 18x\r\n", 400, "bad_request"), (b"Content-Length: -1\r\n", 400, "bad_request"),
                (b"Content-Length: 0x12\r\n", 400, "bad_request"), (b"Content-Length: 18, 18\r\n", 400, "bad_request"),
                (b"Transfer-Encoding: xchunked\r\n", 501, "not_implemented"), (b"Transfer-Encoding: gzip, chunked\r\n", 501, "not_implemented"),
                (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400, "bad_request"),
                (b"Transfer-Encoding: identity\r\n", 501, "not_implemented")):
            with self.subTest(lines=lines):
                data = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + lines + b"\r\n" + BODY
                self.refused_raw(data, status, code)

    def test_chunked_in_http_1_0(self):
        data = head(Content_Type="application/json", Transfer_Encoding="chunked").replace(b"HTTP/1.1", b"HTTP/1.0")
        self.refused_raw(data + b"12\r\n" + BODY + b"\r\n0\r\n\r\n", 400, "bad_request")

    def test_broken_chunks(self):
        for chunks, status, code in ((b"zz\r\n", 400, "bad_request"), (b"-1\r\nx\r\n", 400, "bad_request"), (b"ffffffffffffffffff\r\nx", 413, "too_large"),
                                     (b"5\r\nabcdefgh\r\n0\r\n\r\n", 400, "bad_request")):
            with self.subTest(chunks=chunks):
                self.refused_raw(head(Content_Type="application/json", Transfer_Encoding="chunked") + chunks, status, code)

    def test_body_where_none_belongs(self):
        for method in ("GET", "HEAD", "DELETE", "OPTIONS"):
            with self.subTest(method=method):
                answer = self.daemon.raw(head(method, "/api/v1/jobs/1", Content_Length="5") + b"hello")
                self.assertEqual(harness.statuses(answer), [400], answer)

    def test_half_a_request(self):
        for data in (b"", b"POST", head()[:-2], head(Content_Type="application/json", Content_Length="100") + b'{"suite"'):
            with self.daemon.socket() as connection:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                self.assertNotIn(202, harness.statuses(harness.read_some(connection, 0.5)))

    # ---- headers ----

    def test_repeated_headers(self):
        for name in (b"Host: localhost", b"Content-Type: application/json", b"Authorization: Bearer x", b"Origin: http://localhost",
                     b"Idempotency-Key: k", b"Content-Encoding: identity"):
            with self.subTest(name=name):
                data = b"GET /healthz HTTP/1.1\r\n" + (b"" if name.startswith(b"Host") else b"Host: localhost\r\n") + (name + b"\r\n") * 2 + b"\r\n"
                self.refused_raw(data, 400, "bad_request")

    def test_strange_headers(self):
        for line in (b"Content-Length : 5", b"Host : evil", b"a b: c", b"X: a\rb", b"X: a\x01b", b"X\xff: a"):
            with self.subTest(line=line):
                self.refused_raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + line + b"\r\n\r\n", 400, "bad_request")
        self.refused_raw(b"GET /healthz HTTP/1.1\r\n Host: localhost\r\n\r\n", 400, "bad_request")
        self.refused_raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n", 400, "bad_request")

    def test_many_headers(self):
        data = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"v" * 100) for i in range(400)) + b"\r\n"
        self.refused_raw(data, 431, "too_many_headers")
        # The longest address beside as many headers as are taken, and one more.
        longest = b"GET /healthz?" + b"x" * 53228 + b"=1 HTTP/1.1\r\nHost: localhost\r\n"
        for more, status, code in ((b"", 400, "unknown_field"), (b"X: " + b"v" * 2000 + b"\r\n", 431, "too_many_headers")):
            self.refused_raw(longest + b"".join(b"X-%d: %s\r\n" % (i, b"v" * 1000) for i in range(31)) + more + b"\r\n", status, code)
        # Far over it.
        self.refused_raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"v" * 1000000 + b"\r\n\r\n", 431, "too_many_headers")

    def test_no_host(self):
        self.refused_raw(b"GET /healthz HTTP/1.1\r\n\r\n", 400, "bad_request")
        self.refused_raw(b"GET /healthz HTTP/1.1\r\nHost:\r\n\r\n", 400, "bad_request")
        self.refused_raw(b"GET /healthz HTTP/1.0\r\n\r\n", 400, "bad_request")

    # ---- addresses ----

    def test_paths(self):
        for path, status, code in (
                ("/api/v1/jobs%00", 400, "bad_request"), ("/%00", 400, "bad_request"), ("/a%00b", 400, "bad_request"), ("/%0a", 400, "bad_request"),
                ("/%7f", 400, "bad_request"), ("/../etc/passwd", 400, "bad_request"), ("/a/../b", 400, "bad_request"), ("/%2e%2e/x", 400, "bad_request"),
                ("/.%2e/x", 400, "bad_request"), ("/..%2fx", 404, "not_found"), ("/./index.html", 400, "bad_request"), ("/a/..", 400, "bad_request"),
                ("/%", 400, "bad_request"), ("/%2", 400, "bad_request"), ("/%zz", 400, "bad_request"), ("/%ff", 400, "bad_request"),
                ("/%c0%ae%c0%ae/x", 400, "bad_request"), ("/\xe9", 400, "bad_request"), ("/a#b", 400, "bad_request"),
                ("//", 404, "not_found"), ("/healthz/", 404, "not_found"), ("//healthz", 404, "not_found"), ("/HEALTHZ", 404, "not_found"),
                ("/..%5cx", 404, "not_found"), ("/index.html", 404, "not_found"), ("/page/index.html", 404, "not_found"), ("/%2f", 404, "not_found"),
                ("/healthz%2F", 404, "not_found"), ("/api%2fv1%2fjobs", 404, "not_found"), ("/api/v1/jobs%2f1", 404, "not_found"), ("/api/v1/jobs/1%2Ftranscript", 404, "not_found"),
                ("/api/v1/runs/0", 404, "not_found"), ("/api/v1/runs/01", 404, "not_found"), ("/api/v1/runs/-1", 404, "not_found"),
                ("/api/v1/runs/9223372036854775807", 404, "run_not_found"), ("/api/v1/runs/9223372036854775808", 404, "not_found"),
                ("/api/v1/runs/" + "9" * 400, 404, "not_found"), ("/api/v1/runs/1/nope", 404, "not_found"), ("/api/v1/runs/x.csv", 404, "not_found"),
                ("/api/v1/runs/1.CSV", 404, "not_found"), ("/api/v1/jobs/1%20", 404, "not_found"), ("/api/v1/histories", 404, "not_found"),
                ("/api/v2/jobs", 404, "not_found"), ("/" + "x" * 53247, 404, "not_found"), ("/" + "x" * 53248, 414, "uri_too_long"),
                ("/" + "x" * 60000, 414, "uri_too_long")):
            with self.subTest(path=path[:60]):
                self.refused_raw(head("GET", path), status, code)

    def test_static_names_come_from_a_table(self):
        for path in ("/test.db", "/log", "/%2e%2e/test.db", "/page/../test.db", "/..%2ftest.db", "/etc/passwd", "/.hidden"):
            answer = self.daemon.raw(head("GET", path))
            self.assertIn(harness.statuses(answer), ([400], [404]), path)

    def test_no_path_in_answers(self):
        for path in ("/nope", "/api/v1/runs/4", "/api/v1/runs?limit=x"):
            self.assertNotIn(str(self.daemon.directory), self.daemon.get(path).body.decode())

    def test_target_forms(self):
        self.assertEqual(harness.statuses(self.daemon.raw(head("GET", "http://localhost/healthz"))), [200])
        self.refused_raw(head("GET", "http://evil/healthz"), 400, "bad_request")
        self.refused_raw(head("GET", "healthz"), 400, "bad_request")
        self.refused_raw(head("CONNECT", "localhost:80"), 400, "bad_request")

    def test_blank_in_target(self):
        self.refused_raw(b"GET /healthz x HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_request")

    def test_queries(self):
        for path, code, field in (
                ("/api/v1/jobs?x=1", "unknown_field", "x"), ("/api/v1/jobs?state=", "bad_field", "state"), ("/api/v1/jobs?state=Done", "bad_field", "state"),
                ("/api/v1/jobs?limit=1&limit=1", "bad_request", "limit"), ("/api/v1/jobs?limit", "bad_request", None), ("/api/v1/jobs?=1", "bad_request", None),
                ("/healthz?x=1", "unknown_field", "x"), ("/?x=1", "unknown_field", "x"), ("/api/v1/kernels?limit=1", "unknown_field", "limit"),
                ("/api/v1/runs?" + "&".join("a%d=1" % i for i in range(100)), "bad_request", None),
                ("/api/v1/runs?suite=other", "bad_field", "suite"), ("/api/v1/runs?sizes=Course", "bad_field", "sizes"), ("/api/v1/runs?source=x", "bad_field", "source"),
                ("/api/v1/runs?counters=yes", "bad_field", "counters"), ("/api/v1/runs?outcome=fine", "bad_field", "outcome"),
                ("/api/v1/runs?outcome=ok|refused", "bad_field", "outcome"),
                ("/api/v1/runs?device=", "bad_field", "device"), ("/api/v1/runs?device=" + "d" * 129, "bad_field", "device"), ("/api/v1/runs?driver=a%20b", "bad_field", "driver"),
                ("/api/v1/runs?since=yesterday", "bad_field", "since"), ("/api/v1/runs?since=2026-02-30", "bad_field", "since"),
                ("/api/v1/runs?since=2026-01-02&until=2026-01-01", "bad_field", "until"), ("/api/v1/runs?until=0", "bad_field", "until"),
                ("/api/v1/runs?cursor=x", "bad_cursor", "cursor"), ("/api/v1/jobs?cursor=x", "bad_cursor", "cursor"), ("/api/v1/jobs?cursor=j1-all-5-000000000000", "bad_cursor", "cursor")):
            with self.subTest(path=path[:60]):
                self.refused(self.daemon.get(path), 400, code, field)
        for limit in ("0", "-1", "201", "2147483648", "9223372036854775808", "1e1", "+5", "05", "5 ", "", "x"):
            for route in ("jobs", "runs"):
                self.refused(self.daemon.get("/api/v1/%s?limit=%s" % (route, limit.replace(" ", "%20").replace("+", "%2b"))), 400, "bad_field", "limit")

    def test_idempotency_key(self):
        for key in ("", " \t ", "k" * 129, "a\tb", "\xe9"):
            answer = self.daemon.raw(head(Content_Type="application/json", Content_Length=str(len(BODY)), Idempotency_Key=key) + BODY)
            self.assertEqual(harness.statuses(answer), [400], answer)

    def test_not_http(self):
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200, b"\x00" * 100, b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\r\n" * 1000, b"G" * 100000):
            with self.daemon.socket() as connection:
                try:
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                    self.assertNotIn(202, harness.statuses(harness.read_some(connection, 0.5)))
                except OSError:
                    pass

    def test_errors_are_json(self):
        answer = self.daemon.get("/nope")
        self.assertEqual(answer.headers["Content-Type"], "application/json")
        self.assertEqual(json.loads(answer.body)["error"]["code"], "not_found")


if __name__ == "__main__":
    unittest.main()
