"""The matrix, trends, notes with accepted changes, predictions and exports over HTTP."""
import csv
import datetime
import hashlib
import io
import json
import pathlib
import tempfile
import threading
import unittest

import harness
import varied

JSON = {"Content-Type": "application/json"}
HISTORY, TREND = "/api/v1/history", "/api/v1/trend?device=%s&kernel=" % varied.DEVICE


class History(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = varied.Varied()
        cls.daemon = cls.site.daemon
        cls.runs = cls.site.runs([1e-3, 1.1e-3, 1.2e-3], "580.1", note="é <b>", predictions={"vector_add": "near", "polynomial256": "above", "transpose_naive": "below"})
        cls.runs += cls.site.runs([2e-3], "590.2", counters=False)
        cls.today = datetime.datetime.now(datetime.timezone.utc).date()

    @classmethod
    def tearDownClass(cls):
        cls.site.close()

    def put(self, run, body, **headers):
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        return self.daemon.request("PUT", "/api/v1/runs/%s/note" % run, text, {**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}})

    # ---- the matrix ----

    def test_matrix(self):
        answer = self.site.ok(HISTORY)
        self.assertEqual(answer["source"], "measured,imported")
        since, until = (datetime.date.fromisoformat(answer[name]) for name in ("since", "until"))
        self.assertEqual((until - since).days, 365)
        rows = {row["driver"]: row for row in answer["rows"]}
        self.assertEqual(set(rows), {"580.1", "590.2"})
        for driver, counters, backed, timed in (("580.1", "counter-backed", 3, 0), ("590.2", "timed-only", 0, 1)):
            self.assertEqual((rows[driver]["device"]["id"], rows[driver]["cuda"]), (varied.DEVICE, "13.0"))
            cells = rows[driver]["cells"]
            self.assertEqual(sum(cell["counter_backed"] for cell in cells), backed)
            self.assertEqual(sum(cell["timed_only"] for cell in cells), timed)
            self.assertEqual({cell["counters"] for cell in cells}, {counters})
        self.assertEqual(self.site.ok(HISTORY + "?device=none")["rows"], [])
        self.assertEqual(self.site.ok(HISTORY + "?source=replayed")["rows"], [])
        self.assertEqual(self.site.ok(HISTORY + "?until=2020-01-01")["rows"], [])
        self.assertEqual(len(self.site.ok(HISTORY + "?source=any&device=" + varied.DEVICE)["rows"]), 2)
        self.assertEqual(len(self.site.ok(HISTORY + "?since=%s&until=%s" % (self.today - datetime.timedelta(1), self.today + datetime.timedelta(2)))["rows"]), 2)

    def test_matrix_bad_input(self):
        for query, code, field in (("since=x", "bad_field", "since"), ("since=2026-02-30", "bad_field", "since"), ("until=1970-01-01", "bad_field", "until"),
                                   ("since=2026-02-02&until=2026-02-01", "bad_field", "until"), ("source=all", "bad_field", "source"), ("device=", "bad_field", "device"),
                                   ("since=1980-01-01", "bad_field", None), ("kernel=x", "unknown_field", "kernel")):
            answer = self.daemon.get(HISTORY + "?" + query)
            self.assertEqual((answer.status, answer.code), (400, code), (query, answer.body))
            if field:
                self.assertEqual(answer.json["error"]["field"], field)

    # ---- trends ----

    def test_trend(self):
        answer = self.site.ok(TREND + "vector_add")
        self.assertEqual((answer["state"], answer["metric"], answer["unit"], answer["sizes"], answer["source"]), ("warm", "time_s", "s", "course", "measured,imported"))
        points = {point["driver"]: point for point in answer["points"]}
        self.assertAlmostEqual(points["580.1"]["median"] if len(answer["points"]) == 2 else 1.1e-3, 1.1e-3)
        self.assertEqual(points["590.2"]["newest_run"], self.runs[3])
        self.assertIn("5 are needed", points["590.2"]["why"]["band"])
        for query, metric in (("dram_copy", "value"), ("dram_copy&state=cold", "value"), ("vector_add&metric=dram_per_ask&state=cold", "dram_per_ask"),
                              ("vector_add&metric=dram_bytes", "dram_bytes"), ("vector_add&metric=percent_of_ceiling", "percent_of_ceiling")):
            self.assertEqual(self.site.ok(TREND + query)["metric"], metric)
        self.assertEqual([point["driver"] for point in self.site.ok(TREND + "vector_add&driver=590.2&cuda=13.0")["points"]], ["590.2"])
        self.assertEqual(self.site.ok(TREND + "vector_add&source=replayed")["points"], [])
        self.assertEqual(self.site.ok(TREND + "vector_add&method_version=7")["points"], [])

    def test_trend_bad_input(self):
        for query, status, code, field in (
                ("kernel=vector_add", 400, "bad_field", "device"), ("device=" + varied.DEVICE, 400, "bad_field", "kernel"),
                ("device=x&kernel=vector_add", 404, "not_found", "device"), ("device=%s&kernel=saxpy" % varied.DEVICE, 404, "not_found", "kernel"),
                ("device=%s&kernel=vector_add&state=hot" % varied.DEVICE, 400, "bad_field", "state"),
                ("device=%s&kernel=vector_add&metric=speed" % varied.DEVICE, 400, "bad_field", "metric"),
                ("device=%s&kernel=vector_add&metric=value" % varied.DEVICE, 404, "not_found", "kernel"),
                ("device=%s&kernel=vector_add&method_version=0" % varied.DEVICE, 400, "bad_field", "method_version"),
                ("device=%s&kernel=vector_add&since=never" % varied.DEVICE, 400, "bad_field", "since")):
            answer = self.daemon.get("/api/v1/trend?" + query)
            self.assertEqual((answer.status, answer.code, answer.json["error"].get("field")), (status, code, field), (query, answer.body))

    # ---- notes ----

    def test_a_jobs_note_is_the_first_of_its_run(self):
        note = self.site.ok("/api/v1/runs/%s/note" % self.runs[0])
        self.assertEqual((note["version"], note["text"], note["principal"], note["accepted"]), (1, "é <b>", "anonymous", []))
        note = self.site.ok("/api/v1/runs/%s/note" % self.runs[3])
        self.assertEqual((note["version"], note["text"], note["principal"], note["changed_at"]), (0, "", None, None))
        self.assertEqual(set(note["why"]), {"principal", "changed_at"})

    def test_note(self):
        run, path = self.runs[1], "/api/v1/runs/%s/note" % self.runs[1]
        before = self.daemon.get("/api/v1/runs/" + run)
        first = self.daemon.get(path)
        self.assertEqual(self.daemon.get(path, If_None_Match=first.headers["ETag"]).status, 304)
        body = {"text": "new driver", "accepted": [{"kernel": "vector_add", "state": "warm"}, {"kernel": "dram_copy", "state": "cold"}]}
        answer = self.put(run, body, If_Match=first.headers["ETag"])
        self.assertEqual((answer.status, answer.json["version"], answer.json["text"]), (200, 2, "new driver"))
        self.assertCountEqual(answer.json["accepted"], body["accepted"])
        self.assertEqual((self.daemon.get(path).body, self.daemon.get(path).headers["ETag"]), (answer.body, answer.headers["ETag"]))
        self.assertNotEqual(first.headers["ETag"], answer.headers["ETag"])
        # What was written meanwhile is not lost.
        for match in (first.headers["ETag"], '"x"', "W/" + answer.headers["ETag"], "", "nonsense"):
            late = self.put(run, {"text": "late"}, If_Match=match)
            self.assertEqual((late.status, late.code, late.json["error"]["field"]), (412, "precondition_failed", "If-Match"), match)
        self.assertEqual(self.put(run, {"text": "list"}, If_Match='"x", ' + answer.headers["ETag"]).status, 200)
        self.assertEqual(self.put(run, {"text": "any"}, If_Match="*").status, 200)
        self.assertEqual(self.put(run, {"text": "without"}, If_None_Match="*").json["accepted"], [])
        # A run itself never changes.
        self.assertEqual(self.daemon.get("/api/v1/runs/" + run).body, before.body)

    def test_of_two_writers_one_wins(self):
        run = self.runs[2]
        tag = self.daemon.get("/api/v1/runs/%s/note" % run).headers["ETag"]
        statuses = []
        threads = [threading.Thread(target=lambda i=i: statuses.append(self.put(run, {"text": str(i)}, If_Match=tag).status)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(statuses), [200] + [412] * 7)

    def test_an_accepted_change_is_in_the_trend(self):
        self.assertEqual(self.put(self.runs[3], {"text": "<b>new</b> driver", "accepted": [{"kernel": "polynomial256", "state": "cold"}]}).status, 200)
        answer = self.site.ok(TREND + "polynomial256&state=cold")
        points, change = answer["points"], answer["accepted"][0]
        self.assertEqual((len(answer["accepted"]), change["run"], change["driver"], change["note"], change["principal"], change["day"]),
                         (1, self.runs[3], "590.2", "<b>new</b> driver", "anonymous", change["date"][:10]))
        self.assertEqual(self.site.ok(TREND + "polynomial256&state=warm")["accepted"], [])
        self.assertEqual({point["driver"]: point["accepted"] for point in points}["590.2"], True)

    def test_note_bad_input(self):
        run = self.runs[0]
        before = self.daemon.get("/api/v1/runs/%s/note" % run).body
        for body, code, field in (
                ({}, "bad_field", "text"), ({"text": 1}, "bad_field", "text"), ({"text": None}, "bad_field", "text"), ({"text": "x" * 4097}, "bad_field", "text"),
                ({"text": "é" * 2049}, "bad_field", "text"), ({"text": "", "more": 1}, "unknown_field", "more"), ({"text": "", "accepted": {}}, "bad_field", "accepted"),
                ({"text": "", "accepted": None}, "bad_field", "accepted"), ({"text": "", "accepted": [1]}, "bad_field", "accepted"), ({"text": "", "accepted": [{}]}, "bad_field", "accepted"),
                ({"text": "", "accepted": [{"kernel": "vector_add"}]}, "bad_field", "accepted"), ({"text": "", "accepted": [{"kernel": "vector_add", "state": "hot"}]}, "bad_field", "accepted"),
                ({"text": "", "accepted": [{"kernel": "vector_add", "state": "warm", "x": 1}]}, "bad_field", "accepted"),
                ({"text": "", "accepted": [{"kernel": "matmul_naive", "state": "warm"}]}, "bad_field", "accepted"),
                ({"text": "", "accepted": [{"kernel": "vector_add", "state": "warm"}] * 65}, "bad_field", "accepted"), ([], "bad_json", None), ("", "bad_json", None),
                ('{"text":"","text":""}', "bad_json", None), (b'{"text":"\xff"}', "bad_json", None), ('{"text":"\\u0000"}', "bad_json", None)):
            answer = self.put(run, body)
            self.assertEqual((answer.status, answer.code, answer.json["error"].get("field")), (400, code, field), (body, answer.body))
        self.assertEqual(self.put(run, {"text": "x" * 70000}).status, 413)
        self.assertEqual(self.put("999", {"text": ""}).status, 404)
        self.assertEqual(self.put("999", {"text": ""}, If_Match="*").status, 404)
        self.assertEqual(self.daemon.request("PUT", "/api/v1/runs/%s/note" % run, "{}", {"Content-Type": "text/plain"}).status, 415)
        self.assertEqual(self.daemon.request("PUT", "/api/v1/runs/%s/note?x=1" % run, "{}", JSON).code, "unknown_field")
        self.assertEqual(self.put(run, {"text": ""}, Origin="http://evil.example").code, "bad_origin")
        self.assertEqual(self.daemon.get("/api/v1/runs/%s/note" % run).body, before)

    def test_any_text_comes_back_as_it_was(self):
        for text in ("", "x" * 4096, "é" * 2048, "a\"b\\c\n\t<script>&amp;\u2028\U0001f600", "{}"):
            self.assertEqual(self.put(self.runs[2], {"text": text}).json["text"], text)
        for text in ("a\r\n", "\x1b[31m", "\x9b31m", "\x7f"):
            self.assertEqual(self.put(self.runs[2], {"text": text}).code, "bad_field")

    # ---- predictions ----

    def test_predictions(self):
        answer = self.site.ok("/api/v1/runs/%s/predictions" % self.runs[0])
        items = {item["kernel"]: item for item in answer["items"]}
        self.assertEqual((answer["predicted"], answer["scored"], answer["right"]), (3, 3, 1))
        self.assertEqual({kernel: (item["said"], item["found"], item["right"]) for kernel, item in items.items()},
                         {"vector_add": ("near", "near", True), "polynomial256": ("above", "near", False), "transpose_naive": ("below", "near", False)})
        self.assertCountEqual(answer["most_wrong"], ["polynomial256", "transpose_naive"])
        self.assertEqual(self.site.ok("/api/v1/runs/%s/predictions" % self.runs[3])["predicted"], 0)
        self.assertEqual(self.daemon.get("/api/v1/runs/999/predictions").status, 404)

    # ---- exports ----

    def test_export(self):
        for query, runs in (("", self.runs), ("?counters=timed-only", self.runs[3:]), ("?driver=580.1&outcome=any", self.runs[:3]), ("?source=replayed", [])):
            items = self.site.ok("/api/v1/runs.json" + query)["items"]
            self.assertEqual([item["id"] for item in items], runs[::-1], query)
            for item in items:
                self.assertEqual(item, self.site.ok("/api/v1/runs/" + item["id"]))
            answer = self.daemon.get("/api/v1/runs.csv" + query)
            lines = list(csv.DictReader(io.StringIO(answer.body.decode())))
            self.assertEqual([line["run"] for line in lines], [run for run in runs[::-1] for _ in range(2 * len(varied.KERNELS))])
            self.assertEqual(answer.headers["Content-Disposition"], 'attachment; filename="runs.csv"')
        for query, field in (("limit=1", "limit"), ("cursor=x", "cursor"), ("state=warm", "state")):
            self.assertEqual(self.daemon.get("/api/v1/runs.json?" + query).json["error"]["field"], field)
        self.assertEqual(self.daemon.get("/api/v1/runs.csv?sizes=big").code, "bad_field")

    def test_exports_that_nobody_reads_end(self):
        """Connections dropped in the middle give their place back; HEAD takes none."""
        for _ in range(30):
            with self.daemon.socket() as connection:
                connection.sendall(b"GET /api/v1/runs.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
                connection.recv(64)
            self.assertEqual(self.daemon.request("HEAD", "/api/v1/runs.json").status, 200)
        self.assertEqual(len(self.site.ok("/api/v1/runs.json")["items"]), 4)

    def test_keep_alive_after_an_export(self):
        connection = self.daemon.connection()
        for address in ("/api/v1/runs.json", "/healthz", "/api/v1/runs.csv", "/healthz"):
            connection.request("GET", address)
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            answer.read()
            self.assertIsNone(answer.headers["Connection"])
        connection.close()


class Rights(unittest.TestCase):
    def test_a_note_needs_the_submit_right(self):
        with tempfile.TemporaryDirectory() as folder:
            tokens = pathlib.Path(folder) / "tokens"
            tokens.write_text("".join("%s %s %s\n" % (name, right, hashlib.sha256(name.encode()).hexdigest()) for name, right in (("reader", "read"), ("writer", "submit"))))
            tokens.chmod(0o600)
            site = varied.Varied("--token-file", str(tokens))
            try:
                path = "/api/v1/runs/%s/note" % site.run()
                put = lambda **more: site.daemon.request("PUT", path, '{"text":"x"}', {**JSON, **more})
                self.assertEqual(put(Authorization="Bearer reader").code, "forbidden")
                self.assertEqual(put(Authorization="Bearer wrong").code, "unauthorized")
                self.assertEqual(site.daemon.get(path, Authorization="Bearer reader").json["version"], 0)
                answer = put(Authorization="Bearer writer")
                self.assertEqual((answer.status, answer.json["principal"]), (200, "token:writer"))
            finally:
                site.close()


if __name__ == "__main__":
    unittest.main()
