"""Every route under every method, the answers' headers, conditional requests, lists and their cursors."""
import json
import pathlib
import re
import unittest

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = {"index.html": "<!doctype html><title>page</title>", "app.js": "export {};", "css/style.css": "p {}", "x.svg": "<svg/>", "data.json": "{}",
        "font.woff2": "w", "unknown.exe": "MZ", ".secret.html": "no", "node/deep/a.mjs": "1;"}
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; "
          "frame-ancestors 'none'; form-action 'self'")


class Routes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = harness.Daemon("--open-loopback", page=PAGE)
        cls.jobs, cls.runs = [], []
        for body in ({}, {"kernels": ["matmul_naive"]}, {"counters": False}, {"kernels": ["vector_add"], "cache": ["cold"]}, {"kernels": ["block_reduction"]}):
            job = cls.daemon.wait_job(cls.daemon.post({"suite": "verify", **body}).json["id"])
            cls.jobs.append(job["id"])
            if job["run"]:
                cls.runs.append(job["run"])
        cls.document = cls.daemon.get("/api/v1/openapi.json").json

    @classmethod
    def tearDownClass(cls):
        cls.daemon.__exit__(None, None, None)

    def paths(self, read=True):
        """Each path with an address of it; read: those that can be read alone."""
        for path in self.document["paths"]:
            if read and "get" not in self.document["paths"][path]:
                continue
            needed = {"/api/v1/trend": "?device=GPU-00000000-test&kernel=vector_add",
                      "/api/v1/compare": "?base=run:%s&head=run:%s" % tuple(self.runs[:2])}.get(path, "")
            yield path, path.replace("{id}", self.runs[0] if "/runs/" in path else self.jobs[0]) + needed

    # ---- methods ----

    def test_get_and_head(self):
        for path, address in self.paths():
            with self.subTest(path=path):
                get, head = self.daemon.get(address), self.daemon.request("HEAD", address)
                self.assertEqual(get.status, 200, get.body)
                self.assertEqual(head.status, 200)
                self.assertEqual(head.body, b"")
                if path in ("/api/v1/runs.json", "/api/v1/runs.csv"):  # made while they are sent
                    self.assertEqual((get.headers["Transfer-Encoding"], get.headers["Content-Length"]), ("chunked", None))
                    raw = self.daemon.raw(("HEAD %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % address).encode())
                    self.assertTrue(raw.endswith(b"\r\n\r\n") and raw.count(b"\r\n\r\n") == 1, raw)
                    self.assertNotIn(b"Content-Length", raw)
                    self.assertEqual(head.headers["Content-Type"], get.headers["Content-Type"])
                elif path not in ("/metrics", "/healthz"):  # these differ from one moment to the next
                    ours = {name: value for name, value in get.headers.items() if name != "Date"}
                    self.assertEqual({name: value for name, value in head.headers.items() if name != "Date"}, ours)
                if "Transfer-Encoding" not in get.headers:
                    self.assertEqual(int(get.headers["Content-Length"]), len(get.body))
                declared = self.document["paths"][path]["get"]["responses"]["200"]["content"]
                self.assertEqual([get.headers["Content-Type"].split(";")[0]], list(declared))

    def test_head_of_errors(self):
        for address, status in (("/nope", 404), ("/api/v1/runs/999", 404), ("/api/v1/runs?limit=0", 400)):
            head = self.daemon.request("HEAD", address)
            self.assertEqual((head.status, head.body), (status, b""))

    def test_options(self):
        for path, address in list(self.paths(read=False)) + [("*", "*"), ("/app.js", "/app.js")]:
            with self.subTest(path=path):
                answer = self.daemon.request("OPTIONS", address.split("?")[0])
                self.assertEqual((answer.status, answer.body), (204, b""))
                allowed = set(answer.headers["Allow"].split(", "))
                if path in self.document["paths"]:
                    declared = {method.upper() for method in self.document["paths"][path] if method != "parameters"}
                    self.assertEqual(declared | {"OPTIONS"} | ({"HEAD"} if "GET" in declared else set()), allowed)
                else:
                    self.assertLessEqual({"GET", "HEAD", "OPTIONS"}, allowed)
                self.assertIsNone(answer.headers["Content-Type"])
                self.assertIsNone(answer.headers["Content-Length"])
                self.assertFalse([name for name in answer.headers if name.lower().startswith("access-control")])
        self.assertEqual(self.daemon.request("OPTIONS", "/nope").status, 404)

    def test_no_cors(self):
        answer = self.daemon.request("OPTIONS", "/api/v1/jobs", headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"})
        self.assertEqual((answer.status, answer.code), (403, "bad_origin"))
        answer = self.daemon.get("/api/v1/jobs", Origin="http://evil.example")
        self.assertEqual(answer.status, 200)
        self.assertFalse([name for name in answer.headers if name.lower().startswith("access-control")])

    def test_other_methods(self):
        for path, address in self.paths(read=False):
            for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "get"):
                if method.lower() in self.document["paths"][path] and method != "get":
                    continue
                with self.subTest(path=path, method=method):
                    answer = self.daemon.request(method, address, headers={"Content-Length": "0"} if method in ("POST", "PUT", "PATCH") else {})
                    self.assertEqual((answer.status, answer.code), (405, "method_not_allowed"))
                    self.assertIn("OPTIONS", answer.headers["Allow"])

    # ---- headers ----

    def test_security_headers(self):
        for address in ("/", "/app.js", "/api/v1/jobs", "/nope", "/api/v1/openapi.json"):
            headers = self.daemon.get(address).headers
            self.assertEqual(headers["Content-Security-Policy"], POLICY)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
        # Answers past the library have them as well.
        self.assertIn(b"Content-Security-Policy", self.daemon.raw(b"GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n"))

    def test_static_files(self):
        for address, kind in (("/", "text/html; charset=utf-8"), ("/app.js", "text/javascript; charset=utf-8"), ("/css/style.css", "text/css; charset=utf-8"),
                              ("/x.svg", "image/svg+xml"), ("/data.json", "application/json"), ("/font.woff2", "font/woff2"), ("/node/deep/a.mjs", "text/javascript; charset=utf-8")):
            answer = self.daemon.get(address)
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, kind), address)
            self.assertEqual(answer.body.decode(), PAGE.get(address[1:] or "index.html"))
        for address in ("/unknown.exe", "/.secret.html", "/index.html", "/css", "/css/", "/APP.JS", "/app.js/"):
            self.assertEqual(self.daemon.get(address).status, 404, address)

    def test_etags(self):
        run = "/api/v1/runs/" + self.runs[0]
        for address in (run, run + ".csv", run + "/table", run + "/samples", "/api/v1/openapi.json", "/", "/app.js"):
            with self.subTest(address=address):
                first = self.daemon.get(address)
                tag = first.headers["ETag"]
                self.assertRegex(tag, '^"[0-9a-f]{64}"$')
                for condition in (tag, "W/" + tag, '"x", ' + tag, "*", '"a","b",' + tag):
                    answer = self.daemon.get(address, If_None_Match=condition)
                    self.assertEqual((answer.status, answer.body, answer.headers["ETag"]), (304, b"", tag), condition)
                    self.assertIsNone(answer.headers["Content-Type"])
                self.assertEqual(self.daemon.request("HEAD", address, headers={"If-None-Match": tag}).status, 304)
                for condition in ('"x"', "x", tag[1:-1], "", '"'):
                    answer = self.daemon.get(address, If_None_Match=condition)
                    self.assertEqual((answer.status, answer.body), (200, first.body), condition)
        table = self.daemon.get(run + "/table?state=cold")
        self.assertNotEqual(table.headers["ETag"], self.daemon.get(run + "/table").headers["ETag"])

    def test_keep_alive(self):
        connection = self.daemon.connection()
        for address in ("/healthz", "/nope", "/api/v1/runs?limit=0", "/", "/api/v1/runs/" + self.runs[0]) * 3:
            connection.request("GET", address)
            answer = connection.getresponse()
            answer.read()
            self.assertIsNone(answer.headers["Connection"], address)
        connection.close()

    def test_pipelined(self):
        one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        answer = self.daemon.raw(one * 9 + one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        self.assertEqual(harness.statuses(answer), [200] * 10)

    # ---- runs ----

    def test_run(self):
        document = self.daemon.get("/api/v1/runs/" + self.runs[0]).json
        self.assertEqual((document["id"], document["job"], document["outcome"]), (self.runs[0], self.jobs[0], "ok"))
        self.assertEqual(len(document["kernels"]), 10)
        self.assertEqual([row["name"] for row in document["ceilings"]][0], "dram_copy")

    def test_table_and_csv(self):
        run = "/api/v1/runs/" + self.runs[0]
        warm, cold = self.daemon.get(run + "/table"), self.daemon.get(run + "/table?state=cold")
        self.assertEqual(warm.headers["Content-Type"], "text/plain; charset=utf-8")
        self.assertEqual(self.daemon.get(run + "/table?state=warm").body, warm.body)
        for kernel in ("vector add", "polynomial256"):
            self.assertIn(kernel, warm.body.decode())
        self.assertIn("warm", warm.body.decode())
        self.assertIn("cold", cold.body.decode())
        self.assertEqual(self.daemon.get(run + "/table?state=hot").code, "bad_field")
        csv = self.daemon.get(run + ".csv")
        self.assertEqual(csv.headers["Content-Disposition"], 'attachment; filename="run-%s.csv"' % self.runs[0])
        self.assertEqual(len(csv.body.decode().splitlines()), 1 + 20)

    def test_samples(self):
        items = self.daemon.get("/api/v1/runs/%s/samples" % self.runs[0]).json["items"]
        self.assertEqual(len([item for item in items if item["unit"] == "vector_add"]), 2)
        self.assertTrue(all(item["times_s"] for item in items))

    def test_run_filters(self):
        def ids(query):
            answer = self.daemon.get("/api/v1/runs?" + query)
            self.assertEqual(answer.status, 200, answer.body)
            return [item["id"] for item in answer.json["items"]]
        everything = ids("")
        self.assertEqual(everything, sorted(self.runs, key=int, reverse=True))
        for query in ("outcome=ok", "outcome=any", "source=measured", "source=any", "device=GPU-00000000-test", "driver=580.1", "cuda=13.0", "suite=verify", "sizes=course",
                      "since=2020-01-01", "until=2999-01-01", "since=2020-01-01T00:00:00.000Z&until=2999-01-01T00:00:00%2B01:00"):
            self.assertEqual(ids(query), everything, query)
        for query in ("outcome=refused", "source=replayed", "source=imported", "device=GPU-x", "driver=1", "cuda=12.0", "sizes=scaled", "since=2999-01-01", "until=2020-01-01"):
            self.assertEqual(ids(query), [], query)
        backed, timed = ids("counters=counter-backed"), ids("counters=timed-only")
        self.assertTrue(backed and timed)
        self.assertEqual(sorted(backed + timed), sorted(everything))

    def test_pages(self):
        for route, extra in (("/api/v1/runs", "outcome=ok&"), ("/api/v1/jobs", ""), ("/api/v1/jobs", "state=done&")):
            whole = [item["id"] for item in self.daemon.get("%s?%slimit=200" % (route, extra)).json["items"]]
            found, query = [], ""
            while True:
                answer = self.daemon.get("%s?%slimit=1%s" % (route, extra, query)).json
                self.assertEqual(set(answer), {"items", "next"})
                found += [item["id"] for item in answer["items"]]
                if answer["next"] is None:
                    break
                query = "&cursor=" + answer["next"]
                # A cursor belongs to its filter, and to its list.
                other = {"/api/v1/runs": "/api/v1/runs?outcome=any&cursor=", "/api/v1/jobs": "/api/v1/jobs?state=failed&cursor="}[route]
                self.assertEqual(self.daemon.get(other + answer["next"]).code, "bad_cursor")
                wrong = {"/api/v1/runs": "/api/v1/jobs", "/api/v1/jobs": "/api/v1/runs"}[route]
                self.assertEqual(self.daemon.get("%s?cursor=%s" % (wrong, answer["next"])).code, "bad_cursor")
            self.assertEqual(found, whole)
            self.assertEqual(found, sorted(found, key=int, reverse=True))

    # ---- the rest ----

    def test_catalogue(self):
        units = self.daemon.get("/api/v1/kernels").json["items"]
        self.assertEqual([unit["id"] for unit in units][:2], ["vector_add", "vector_add_stride32"])
        self.assertEqual(units[0]["course"]["ask_bytes"], 3 * 4 * 2**24)
        for unit in units:
            for sizes in ("course", "scaled"):
                self.assertEqual(unit[sizes] is None, sizes in unit["why"])
        devices = self.daemon.get("/api/v1/devices").json["items"]
        self.assertEqual([(item["id"], item["counters"]["status"]) for item in devices], [("GPU-00000000-test", "ok")])

    def test_metrics(self):
        text = self.daemon.get("/metrics").body.decode()
        self.assertIn('rooflined_jobs{state="done"} 4\n', text)
        self.assertIn('rooflined_jobs{state="failed"} 1\n', text)
        self.assertRegex(text, r'rooflined_http_requests_total\{status="200"\} [1-9]')
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"\})? [0-9.e+-]+)$')

    def test_document(self):
        self.assertEqual(self.daemon.get("/api/v1/openapi.json").json, self.document)
        codes = re.findall(r'^RL_ERROR\(\w+, "(\w+)", (\d+)', (ROOT / "gpu" / "base" / "err.def").read_text(), re.M)
        self.assertEqual(self.document["components"]["schemas"]["ErrorCode"]["enum"], [code for code, _ in codes])
        self.assertEqual(len(set(codes)), len(codes))

        def references(node):
            if isinstance(node, dict):
                if "$ref" in node:
                    yield node["$ref"]
                for value in node.values():
                    yield from references(value)
            elif isinstance(node, list):
                for value in node:
                    yield from references(value)
        for reference in set(references(self.document)):
            node = self.document
            for part in reference.lstrip("#/").split("/"):
                node = node[part]
        for name, schema in self.document["components"]["schemas"].items():
            # requests are closed; answers may gain members
            if schema.get("type") == "object":
                self.assertEqual(schema.get("additionalProperties") is False, name.endswith("Request") or name == "ImportForm", name)

    def test_parameters_are_those_of_the_document(self):
        """Of every GET, both ways: what it takes stands there, and what stands there is taken."""
        paths = {path: {one["name"] for one in methods["get"].get("parameters", []) if one.get("in") == "query"} for path, methods in self.document["paths"].items() if "get" in methods}
        for path, documented in paths.items():
            for name in set().union(*paths.values()):
                with self.subTest(path, parameter=name):
                    answer = self.daemon.get(path.replace("{id}", self.runs[0]) + "?%s=x" % name)
                    known = not (answer.status == 400 and answer.json["error"]["code"] == "unknown_field" and answer.json["error"]["field"] == name)
                    self.assertEqual(known, name in documented, answer.body[:300])


if __name__ == "__main__":
    unittest.main()
