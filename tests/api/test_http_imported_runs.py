"""Imported runs in every answer about runs: lists, tables, exports, the matrix, trends and comparisons take them as what they are."""
import contextlib
import csv
import datetime
import http.client
import io
import os
import re
import socket
import threading
import unittest
import urllib.parse

import harness
import varied
from test_http_imports import T4, counters, form, lines, parts_of

NAME = 'void <b>"mul", 4,5</b><é>(T1 *)'
WHAT = {"device": "Tesla T4", "driver": "560.35.03", "cuda": "12.6"}


class ImportedRuns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = varied.Varied()
        cls.addClassCleanup(cls.site.close)
        cls.get, cls.ok = cls.site.daemon.get, cls.site.ok
        cls.measured = cls.site.run(1e-3, "580.1")
        cls.record = cls.imported({"record": T4}, {"date": "2026-09-01"})
        cls.cold = [cls.imported({"ncu": counters(NAME), "timings": lines({"kernel": NAME, "ms": ms})}, {**WHAT, "date": "2026-09-02"}) for ms in (0.25, 0.5)]
        cls.bare = cls.imported({"ncu": counters(NAME)}, {"device": "Tesla T4", "date": "2026-09-03"})

    @classmethod
    def imported(cls, files, fields):
        kind, body = form(parts_of(files, fields))
        answer = cls.site.daemon.request("POST", "/api/v1/imports", body, {"Content-Type": kind})
        if answer.status != 201:
            raise AssertionError(answer.body)
        return answer.json["id"]

    def ids(self, query):
        return [item["id"] for item in self.ok("/api/v1/runs?outcome=any&limit=200" + query)["items"]]

    def test_filters(self):
        theirs = [self.bare, *self.cold[::-1], self.record]
        for query, ids in (("&source=imported", theirs), ("&source=measured,imported", [self.measured, *theirs]), ("&suite=import", [self.bare, *self.cold[::-1]]),
                           ("&suite=import&sizes=other", [self.bare, *self.cold[::-1]]), ("&sizes=course&suite=verify&source=measured", [self.measured]),
                           ("&driver=unknown", [self.bare]), ("&driver=unknown&cuda=unknown", [self.bare]), ("&driver=560.35.03&cuda=12.6", self.cold[::-1])):
            self.assertEqual(self.ids(query), ids, query)
            self.assertEqual([item["id"] for item in self.ok("/api/v1/runs.json?outcome=any" + query)["items"]], ids, query)
            exported = list(csv.DictReader(io.StringIO(self.get("/api/v1/runs.csv?outcome=any" + query).body.decode(), newline="")))
            self.assertEqual(list(dict.fromkeys(line["run"] for line in exported)), ids, query)
        item = self.ok("/api/v1/runs?outcome=any&driver=unknown")["items"][0]
        self.assertEqual((item["suite"], item["sizes"], item["source"], item["driver"], item["job"]), ("import", "other", "imported", None, None))
        self.assertTrue(item["why"]["driver"] and item["why"]["job"])

    def test_a_row_that_is_neither_warm_nor_cold(self):
        run = self.ok("/api/v1/runs/" + self.cold[0])
        self.assertEqual([state for state in ("warm", "cold", "mixed") if state in run["kernels"][0]], ["mixed"])
        table = self.get("/api/v1/runs/%s/table" % self.cold[0]).body
        self.assertEqual(self.get("/api/v1/runs/%s/table?state=mixed" % self.cold[0]).body, table)
        self.assertIn(b"mixed: bytes of cold launches beside times of warm ones", table)
        self.assertIn(b"no row of this run is warm; it has rows that are mixed", self.get("/api/v1/runs/%s/table?state=warm" % self.cold[0]).body)
        line, = csv.DictReader(io.StringIO(self.get("/api/v1/runs/%s.csv" % self.cold[0]).body.decode(), newline=""))
        self.assertEqual((line["kernel"], line["state"], line["suite"], line["sizes"], float(line["time_median_s"])), (NAME, "mixed", "import", "other", 0.00025))
        self.assertEqual(self.ok("/api/v1/runs/%s/samples" % self.cold[0])["items"], [])
        self.assertEqual(self.ok("/api/v1/runs/%s/predictions" % self.cold[0])["predicted"], 0)

    def test_trend_of_any_name(self):
        device = self.ok("/api/v1/runs/" + self.cold[0])["device"]["id"]
        address = "/api/v1/trend?device=%s&kernel=%s&state=%s&suite=import&sizes=other&since=2026-08-01&until=2026-10-01"
        trend = self.ok(address % (device, urllib.parse.quote(NAME), "mixed"))
        self.assertEqual((trend["kernel"], trend["state"], trend["sizes"]), (NAME, "mixed", "other"))
        self.assertEqual([(point["runs"], point["driver"], point["median"]) for point in trend["points"]], [(2, "560.35.03", 0.000375)])
        self.assertEqual(self.ok(address % (device, urllib.parse.quote(NAME), "mixed") + "&driver=unknown")["points"], [])
        for name, field in (("", "kernel"), ("x" * 16385, "kernel")):
            answer = self.get(address % (device, name, "mixed"))
            self.assertEqual((answer.status, answer.json["error"]["field"]), (400, field))

    def test_rows_of_the_longest_names_can_be_asked_for(self):
        """By a trend and by a comparison, whatever the import's limit lets through and however it is escaped."""
        names = ["void " + "ns::Tile<64, (int)4>::" * 320 + "mul<float>(T1 *)", "\u6e2c" * 5461 + "x", '"%&+<#' * 2730]
        self.assertEqual(max(len(name.encode()) for name in names), 16384)
        files = [{"timings": lines(*({"kernel": name, "ms": ms} for name in names))} for ms in (1, 1.5)]
        what = {"device": "Long Names", "driver": "1", "cuda": "12.6", "date": "2026-09-01", "sizes": "other"}
        runs = [self.imported(file, what) for file in files]
        for name in names:
            asked = urllib.parse.quote("".join("\\" + c if c in "\\," else c for c in name), safe="")
            trend = self.ok("/api/v1/trend?device=long-names&kernel=%s&suite=import&sizes=other&since=2026-08-01&until=2026-10-01" % urllib.parse.quote(name, safe=""))
            self.assertEqual((trend["kernel"], [point["runs"] for point in trend["points"]]), (name, [2]))
            row, = self.ok("/api/v1/compare?base=run:%s&head=run:%s&kernel=%s" % (*runs, asked))["rows"]
            self.assertEqual(row["kernel"], name)

    def test_a_cell_of_the_matrix_is_a_list(self):
        cells = 0
        for row in self.ok("/api/v1/history?since=2026-08-01&until=%s" % (datetime.datetime.now(datetime.timezone.utc).date() + datetime.timedelta(2)))["rows"]:
            for cell in row["cells"]:
                day = datetime.date.fromisoformat(cell["day"])
                words = dict(device=row["device"]["id"], driver=row["driver"] or "unknown", cuda=row["cuda"] or "unknown", source="measured,imported", since=day,
                             until=day + datetime.timedelta(1))
                for counted, number in (("counter-backed", cell["counter_backed"]), ("timed-only", cell["timed_only"])):
                    listed = self.ok("/api/v1/runs?" + urllib.parse.urlencode({**words, "counters": counted}))["items"]
                    self.assertEqual(len(listed), number, (row, cell, counted))
                cells += 1
        self.assertGreaterEqual(cells, 3)

    def test_comparisons_say_what_they_cannot_judge(self):
        compare = lambda base, head: self.ok("/api/v1/compare?base=run:%s&head=run:%s" % (base, head))
        answer = compare(self.record, self.measured)
        self.assertFalse(answer["comparable"])
        self.assertIn("device", [note["field"] for note in answer["not_comparable"]])
        answer = compare(*self.cold)
        self.assertEqual((answer["comparable"], answer["outcome"], answer["rows"]), (True, "undecided", []))
        notes = {note["field"]: note for note in answer["warnings"]}
        self.assertIn("mixed", notes)
        self.assertEqual((notes["mixed"]["base"], notes["mixed"]["head"]), ("1", "1"))
        self.assertIn("ecc", notes)  # of imports nobody knows it
        answer = compare(self.cold[0], self.bare)
        self.assertEqual({row["time_verdict"] for row in answer["rows"]}, {None})
        self.assertIn("unsettled", {note["field"] for note in answer["warnings"]})
        # A driver's imports: suite and sizes are those of the run on the other side.
        device = self.ok("/api/v1/runs/" + self.bare)["device"]["id"]
        answer = self.ok("/api/v1/compare?base=run:%s&head=driver:560.35.03&device=%s" % (self.bare, device))
        self.assertEqual(answer["head"]["runs"], self.cold[::-1])


class OtherWork(unittest.TestCase):
    """Imports of one name that are other work, or launched in another way: eight a side, two drivers."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = harness.Daemon("--open-loopback", measure="/bin/false", ready=False)
        cls.addClassCleanup(cls.daemon.__exit__, None, None, None)
        cls.side("1.0", 3, lambda n: {"kernel": "copy_a", "ms": 1 + n / 1000, "ask_bytes": 1000000000, "flop": 5, "grid": [4096, 1, 1], "block": [256, 1, 1]},
                 lambda n: {"kernel": "scale_b", "ms": 3 + n / 1000, "ask_bytes": 77, "grid": [4096, 1, 1], "block": [256, 1, 1]})
        cls.side("2.0", 4, lambda n: {"kernel": "copy_a", "ms": 2 + n / 1000, "ask_bytes": 2000000000, "flop": 6, "grid": [4096, 1, 1], "block": [256, 1, 1]},
                 lambda n: {"kernel": "scale_b", "ms": 3 + n / 1000, "ask_bytes": 77, "grid": [2048, 1, 1], "block": [512, 1, 1]})
        cls.query = "&device=some-gpu&suite=import&sizes=other"

    @classmethod
    def side(cls, driver, month, *rows):
        for n in range(1, 9):
            kind, body = form(parts_of({"timings": lines(*(row(n) for row in rows))},
                                       {"device": "Some GPU", "driver": driver, "cuda": "13.0", "date": "2026-%02d-%02d" % (month, n), "label": "both"}))
            answer = cls.daemon.request("POST", "/api/v1/imports", body, {"Content-Type": kind})
            if answer.status != 201:
                raise AssertionError(answer.body)

    def ok(self, path):
        answer = self.daemon.get(path)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def test_other_work_is_not_comparable(self):
        answer = self.ok("/api/v1/compare?base=driver:1.0&head=driver:2.0" + self.query)
        rows = {row["kernel"]: row for row in answer["rows"]}
        row = rows["copy_a"]
        self.assertEqual((answer["outcome"], row["time_verdict"], row["bytes_verdict"]), ("undecided", "not_comparable", None))
        self.assertEqual([(note["field"], note["base"], note["head"]) for note in row["not_comparable"]],
                         [("flop", "5 flop", "6 flop"), ("ask_bytes", "1000000000 bytes", "2000000000 bytes")])
        self.assertIn("a launch asks for 1000000000 bytes in base and 2000000000 bytes in head", row["time_s"]["sentence"])
        self.assertEqual((row["time_s"]["ratio"], row["time_s"]["base_runs"]), (None, 8))
        self.assertAlmostEqual(row["time_s"]["base"], 1.0045e-3)
        self.assertEqual((answer["time_verdicts"]["not_comparable"], answer["time_verdicts"]["slower"]), (1, 0))
        # The other row is the same work, launched in another way.
        self.assertEqual((rows["scale_b"]["time_verdict"], rows["scale_b"]["not_comparable"]), ("same", []))
        notes = {note["field"]: note for note in answer["warnings"]}
        self.assertEqual((notes["launch_differs"]["base"], notes["launch_differs"]["head"]),
                         ("grid 4096 x 1 x 1, block 256 x 1 x 1", "grid 2048 x 1 x 1, block 512 x 1 x 1"))
        self.assertIn("scale_b warm", notes["launch_differs"]["sentence"])

    def test_a_side_is_of_one_work(self):
        runs = [item["id"] for item in self.ok("/api/v1/runs?driver=1.0&limit=200")["items"]][:3] + [item["id"] for item in self.ok("/api/v1/runs?driver=2.0&limit=200")["items"]][:2]
        both, new = ",".join("run:" + run for run in runs), ",".join("run:" + run for run in runs[3:])
        row = next(row for row in self.ok("/api/v1/compare?base=%s&head=%s" % (both, new))["rows"] if row["kernel"] == "copy_a")
        self.assertEqual([(one["side"], one["of"], one["draws"]) for one in row["left_out"]], [("base", "row", 3)])
        self.assertEqual((row["time_s"]["base_runs"], row["not_comparable"]), (2, []))

    def test_a_trend_begins_anew_with_other_work(self):
        answer = self.ok("/api/v1/trend?kernel=copy_a" + self.query)
        self.assertEqual([point["series"] for point in answer["points"]], [1] * 8 + [2] * 8)
        self.assertEqual({point["outside"] for point in answer["points"]}, {None, False})
        self.assertEqual([(one["number"], one["ask_bytes"], one["flop"], one["dims"], one["times"]) for one in answer["series"]],
                         [(1, 1000000000, 5, None, "events"), (2, 2000000000, 6, None, "events")])
        self.assertEqual(answer["series"][1]["sentence"],
                         "Other work than series 1, and not held against it: flop 6 instead of 5, asked bytes 2000000000 instead of 1000000000.")
        self.assertEqual({point["series"] for point in self.ok("/api/v1/trend?kernel=scale_b" + self.query)["points"]}, {1})
        labelled = self.ok("/api/v1/trend?kernel=copy_a&label=both" + self.query)  # all of them: made of the runs, not of the stored trend
        self.assertEqual((labelled["points"], labelled["series"]), (answer["points"], answer["series"]))

    def test_what_is_excluded_is_counted(self):
        answer = self.ok("/api/v1/compare?base=driver:1.0&head=driver:2.0&device=some-gpu")
        self.assertEqual(answer["not_comparable"][0]["sentence"],
                         "No run of driver 1.0 counts: 8 runs are of suite import, of sizes other: ask with suite=import&sizes=other.")
        ask = answer["base"]["excluded"][0]["ask"]
        self.assertEqual(len(self.ok("/api/v1/compare?base=driver:1.0&head=driver:2.0&device=some-gpu&" + ask)["base"]["runs"]), 8)
        answer = self.ok("/api/v1/trend?kernel=copy_a&device=some-gpu")
        self.assertEqual([(one["runs"], one["filters"], one["ask"]) for one in answer["excluded"]], [(16, "suite, sizes", "suite=import&sizes=other")])
        self.assertEqual(len(self.ok("/api/v1/trend?kernel=copy_a&device=some-gpu&" + answer["excluded"][0]["ask"])["points"]), 16)
        answer = self.ok("/api/v1/history?device=some-gpu&since=2026-03-01&until=2026-04-01")
        self.assertEqual([(one["runs"], one["filters"]) for one in answer["excluded"]], [(8, "date")])
        self.assertEqual(len(self.ok("/api/v1/history?device=some-gpu&" + answer["excluded"][0]["ask"])["rows"]), 1)
        answer = self.ok("/api/v1/compare?base=driver:1.0&head=driver:2.0&device=other-gpu")
        self.assertIn("8 runs are of device some-gpu", answer["not_comparable"][0]["sentence"])


class LargeRuns(unittest.TestCase):
    """Runs of 512 kernels, whose documents are parsed on a worker thread."""
    KERNELS = ["k%03d" % number for number in range(512)]

    def setUp(self):
        self.daemon = harness.Daemon("--open-loopback", measure="/bin/false", ready=False)
        self.addCleanup(self.daemon.__exit__, None, None, None)

    def imported(self, **fields):
        kind, body = form(parts_of({"ncu": counters(*self.KERNELS)}, {**WHAT, "date": "2026-09-01", **fields}))
        return "/api/v1/runs/" + self.daemon.request("POST", "/api/v1/imports", body, {"Content-Type": kind}).json["id"]

    def threads(self):
        return len(os.listdir("/proc/%d/task" % self.daemon.process.pid))

    def beside_the_loop(self, way):
        """While it is asked for, again and again until that was seen, the daemon has a thread more than when it has nothing to do."""
        before, seen = self.threads(), threading.Event()

        def ask():
            while not seen.is_set():
                self.daemon.get(way)
        asking = threading.Thread(target=ask)
        asking.start()
        try:
            self.daemon.wait_for(lambda: any(self.threads() > before for _ in range(1000)), "a worker thread for " + way)
        finally:
            seen.set()
            asking.join()

    def test_every_large_one_is_made_beside_the_loop(self):
        path = self.imported()
        for way in (path + "/table", path + ".csv", "/api/v1/runs.csv?outcome=any"):
            self.beside_the_loop(way)

    def at_once(self, ways):
        got = []
        threads = [threading.Thread(target=lambda way=way: got.append((way, self.daemon.get(way).body))) for way in ways]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(got), len(threads))
        return got

    def test_an_export_of_large_runs(self):
        way, paths = "/api/v1/runs.csv?outcome=any&source=any", [self.imported(driver="1.%d" % number) for number in range(3)]
        whole = self.daemon.get(way)
        self.assertEqual(whole.status, 200)
        head, *rows = csv.reader(io.StringIO(whole.body.decode(), newline=""))
        expected = []
        for path in paths[::-1]:
            own, *lines_of = csv.reader(io.StringIO(self.daemon.get(path + ".csv").body.decode(), newline=""))
            self.assertEqual(head, ["run", *own])
            expected += [[path.rsplit("/", 1)[1], *line] for line in lines_of]
        self.assertEqual(rows, expected)
        self.assertEqual((self.daemon.request("HEAD", way).status, self.daemon.request("HEAD", way).body), (200, b""))
        before = self.daemon.settled_descriptors()
        self.assertTrue(all(text == whole.body for _, text in self.at_once([way] * 4)))  # LIMIT_EXPORTS_EACH
        with contextlib.closing(self.daemon.connection()) as kept:
            for asked in (way, paths[0] + "/table", way):
                kept.request("GET", asked)
                text = kept.getresponse().read()
                self.assertTrue(asked != way or text == whole.body)
        with self.daemon.socket() as half:  # its own side ended, it still reads
            half.sendall(("GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n" % way).encode())
            half.shutdown(socket.SHUT_WR)
            self.assertEqual(harness.read_all(half).split(b"\r\n\r\n", 1)[1], whole.body)
        self.daemon.leave(way, 6)
        self.daemon.wait_for(lambda: self.daemon.get(way).body == whole.body, "the places of those that left")
        self.assertEqual(self.daemon.settled_descriptors(), before)

        def whole_or_cut(answer):  # a body without its end can be told from the whole
            self.assertEqual(answer.status, 200)
            try:
                self.assertEqual(answer.read(), whole.body)
            except (http.client.IncompleteRead, ConnectionResetError):
                pass
        self.daemon.stop_while_clients_wait(way, whole_or_cut, 4)

    def test_a_large_run_as_table_and_csv(self):
        """Its document is parsed on a worker thread: for more clients than are served at once, for some that leave, and while the daemon stops."""
        kernels, path = self.KERNELS, self.imported()
        self.assertGreater(len(self.daemon.get(path).body), 1 << 20)
        ways, whole = [path + end for end in ("/table", "/table?state=cold", ".csv")], {}
        for way in ways:
            first = self.daemon.get(way)
            self.assertEqual(first.status, 200, first.body[:300])
            text = first.body.decode().splitlines()
            self.assertEqual([line[:4] for line in text if re.match(r"k\d{3}\b", line)], kernels if "table" in way else [])
            if ".csv" in way:
                self.assertEqual(list(dict.fromkeys(row["kernel"] for row in csv.DictReader(text) if row["kernel"])), kernels)
                self.assertIn("run-1.csv", first.headers["Content-Disposition"])
            known = self.daemon.get(way, If_None_Match=first.headers["ETag"])
            self.assertEqual((known.status, known.body, known.headers["ETag"]), (304, b"", first.headers["ETag"]))
            head = self.daemon.request("HEAD", way)
            self.assertEqual((head.status, head.body, head.headers["ETag"], head.headers["Content-Length"]), (200, b"", first.headers["ETag"], str(len(first.body))))
            whole[way] = first.body
        self.assertEqual(self.daemon.get(path + "/table?state=hot").code, "bad_field")
        self.assertEqual(self.daemon.get("/api/v1/runs/99.csv").code, "run_not_found")
        self.assertTrue(all(whole[way] == text for way, text in self.at_once(4 * ways)))
        before = self.daemon.settled_descriptors()
        with contextlib.closing(self.daemon.connection()) as kept:
            for way in ways + ["/healthz"] + ways:
                kept.request("GET", way)
                text = kept.getresponse().read()
                self.assertTrue(way not in whole or text == whole[way])
        with self.daemon.socket() as half:  # its own side ended, it still reads
            half.sendall(("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % ways[0]).encode())
            half.shutdown(socket.SHUT_WR)
            answer = http.client.HTTPResponse(half)
            answer.begin()
            self.assertEqual((answer.status, answer.read()), (200, whole[ways[0]]))
        self.daemon.leave(ways[0], 6)
        self.assertEqual(self.daemon.get(ways[0]).body, whole[ways[0]])
        self.assertEqual(self.daemon.settled_descriptors(), before)
        self.daemon.stop_while_clients_wait(ways[0], harness.whole_or_stopping(whole[ways[0]]))


if __name__ == "__main__":
    unittest.main()
