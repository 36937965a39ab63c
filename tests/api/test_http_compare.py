"""Comparisons over HTTP: both kinds of sides, verdicts of runs whose times are known, large imports, and sides that make no sense."""
import contextlib
import os
import threading
import unittest
import urllib.parse

import harness
import varied
from test_http_imports import form, lines, parts_of

OLD, NEW = "580.1", "590.2"
SPREAD = [1e-3 * (1 + 0.0003 * step) for step in (0, 3, 1, 4, 2, 5, 1.5, 3.5)]


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = varied.Varied()
        cls.old = cls.site.runs(SPREAD, OLD)
        cls.new = cls.site.runs([1.1 * time for time in SPREAD], NEW)
        cls.get = cls.site.daemon.get

    @classmethod
    def tearDownClass(cls):
        cls.site.close()

    def compare(self, base, head, more=""):
        return self.site.ok("/api/v1/compare?base=%s&head=%s%s" % (base, head, more))

    @staticmethod
    def named(runs):
        return ",".join("run:" + run for run in runs)

    def test_drivers(self):
        answer = self.compare("driver:" + OLD, "driver:%s,cuda:13.0" % NEW, "&device=" + varied.DEVICE)
        self.assertEqual((answer["outcome"], answer["comparable"]), ("slower", True))
        self.assertEqual((answer["base"]["runs"], answer["head"]["runs"]), (self.old[::-1], self.new[::-1]))
        self.assertEqual((answer["base"]["drivers"], answer["head"]["drivers"]), (OLD, NEW))
        self.assertEqual((answer["base"]["sources"], answer["head"]["sources"]), ("measured", "measured"))
        # Everything became slower together: one change of the machine.
        self.assertEqual((answer["machine"]["time_verdict"], answer["regressions"]), ("slower", 1))
        self.assertAlmostEqual(answer["machine"]["ratio"], 1.1, places=3)
        self.assertEqual(len(answer["rows"]), 2 * len(varied.KERNELS))
        for row in answer["rows"]:
            self.assertEqual((row["time_verdict"], row["cause"], row["time_s"]["method"]), ("slower", "machine", "rank"))
            self.assertEqual((row["bytes_verdict"], row["dram_bytes"]["difference"]), ("same", 0))
            self.assertAlmostEqual(row["time_s"]["ratio"], 1.1, places=3)
        self.assertEqual({ceiling["time_verdict"] for ceiling in answer["ceilings"]}, {"slower"})

    def test_the_other_way_round(self):
        answer = self.compare("driver:" + NEW, "driver:" + OLD, "&device=" + varied.DEVICE)
        self.assertEqual((answer["outcome"], answer["machine"]["time_verdict"], answer["improvements"]), ("not_slower", "faster", 1))

    def test_named_runs_beside_a_driver(self):
        answer = self.compare(self.named(self.old), "driver:" + NEW)  # of the named runs' device
        self.assertEqual((answer["outcome"], answer["base"]["runs"]), ("slower", self.old[::-1]))

    def test_few_runs_are_judged_by_history(self):
        answer = self.compare(self.named(self.old[:2]), self.named(self.new[:2]))
        self.assertEqual(answer["outcome"], "slower")
        self.assertEqual({row["time_s"]["method"] for row in answer["rows"]}, {"history"})
        same = self.compare(self.named(self.old[0:4]), self.named(self.old[4:8]))
        self.assertEqual({row["time_verdict"] for row in same["rows"]}, {"same"})
        self.assertEqual(same["outcome"], "not_slower")

    def test_what_cannot_be_judged_is_said(self):
        answer = self.compare("driver:1.2.3", "driver:" + OLD, "&device=" + varied.DEVICE)
        self.assertEqual((answer["outcome"], answer["comparable"], answer["rows"]), ("undecided", False, []))
        self.assertEqual(answer["not_comparable"][0]["field"], "base")
        answer = self.compare("driver:" + OLD, "driver:" + NEW, "&device=%s&source=replayed" % varied.DEVICE)
        self.assertEqual([note["field"] for note in answer["not_comparable"]], ["base", "head"])
        answer = self.compare("driver:" + OLD, "driver:" + NEW, "&device=%s&sizes=scaled" % varied.DEVICE)
        self.assertFalse(answer["comparable"])
        answer = self.compare("run:" + self.old[0], "run:" + self.old[0])
        self.assertIn("Both sides are the same run", " ".join(note["sentence"] for note in answer["warnings"]))

    def test_runs_that_are_less_than_usual_are_said(self):
        driver, lone = "600.1", "610.1"  # drivers of these tests' own
        good = self.site.runs(SPREAD[:6], driver)
        partial = self.site.run(1e-3, driver, outcome="partial")
        changed = self.site.run(1e-3, driver, flags=["driver_changed"])
        refused = self.site.run(1e-3, driver, outcome="refused")
        answer = self.compare("driver:" + driver, "driver:" + OLD, "&device=" + varied.DEVICE)
        self.assertEqual((answer["base"]["runs"], answer["base"]["older"]), (good[::-1], False))
        why = ["its outcome is refused: a result was wrong", "it is flagged driver_changed: the driver was replaced while it ran",
               "its outcome is partial: rows or ceilings are missing"]
        self.assertEqual(answer["base"]["left_out"], [{"id": id, "reason": reason} for id, reason in zip([refused, changed, partial], why)])
        # By name it is judged, and said.
        for run, reason in ((partial, why[2]), (changed, why[1])):
            answer = self.compare(self.named([run]), self.named(self.old))
            self.assertEqual(answer["comparable"], True)
            self.assertIn("Run %s of base would not be taken by a query: %s." % (run, reason), [note["sentence"] for note in answer["warnings"]])
        answer = self.compare(self.named([refused]), self.named(self.old))
        self.assertEqual((answer["comparable"], answer["not_comparable"][0]["field"]), (False, "outcome"))
        timed = self.site.run(1e-3, driver, counters=False)
        answer = self.compare("driver:" + driver, "driver:" + OLD, "&device=" + varied.DEVICE)
        self.assertEqual(answer["base"]["runs"][0], timed)
        self.assertIn("1 of 7 runs of base has no DRAM bytes: bytes are judged on the others.",
                      [note["sentence"] for note in answer["warnings"]])
        # A driver that has no other runs.
        alone = self.site.run(1e-3, lone, flags=["shared"])
        answer = self.compare("driver:" + lone, "driver:" + OLD, "&device=" + varied.DEVICE)
        self.assertEqual([run["id"] for run in answer["base"]["left_out"]], [alone])
        self.assertEqual(answer["not_comparable"][0]["sentence"],
                         f"No run of driver {lone} counts: 1 run was left out, it is flagged shared: another process used the GPU.")
        self.assertEqual((answer["base"]["sources"], answer["base"]["why"]["sources"]), (None, "no run was judged"))

    def test_what_a_chart_draws_of_each_side(self):
        answer = self.compare("driver:" + OLD, "driver:" + NEW, "&device=" + varied.DEVICE)
        times = sorted(SPREAD)
        quartile = lambda at: times[int(at)] + (times[int(at) + 1] - times[int(at)]) * (at - int(at))
        for row in answer["rows"]:
            for side, factor in (("base", 1), ("head", 1.1)):
                for member, at in (("_p25", 0.25 * 7), ("", 0.5 * 7), ("_p75", 0.75 * 7)):
                    self.assertAlmostEqual(row["time_s"][side + member] / (factor * quartile(at)), 1, places=5)

    def test_suites_are_compared_apart(self):
        answer = self.compare("driver:" + OLD, "driver:" + NEW, "&device=%s&suite=import" % varied.DEVICE)
        self.assertEqual((answer["comparable"], answer["base"]["left_out"]), (False, []))
        self.assertEqual(self.get("/api/v1/compare?base=driver:1&head=driver:2&device=x&suite=x").json["error"]["field"], "suite")

    def test_what_a_drivers_filters_exclude_is_said(self):
        answer = self.compare("driver:" + OLD, "driver:" + NEW, "&device=%s&sizes=scaled" % varied.DEVICE)
        self.assertEqual([(one["runs"], one["filters"], one["ask"]) for one in answer["base"]["excluded"]], [(8, "sizes", "sizes=course")])
        self.assertEqual(answer["not_comparable"][0]["sentence"], f"No run of driver {OLD} counts: 8 runs are of sizes course: ask with sizes=course.")
        answer = self.compare("driver:" + OLD, "driver:" + NEW, "&device=%s&source=imported&suite=import" % varied.DEVICE)
        self.assertEqual([(one["filters"], one["ask"]) for one in answer["head"]["excluded"]], [("suite, source", "suite=verify&source=measured")])
        answer = self.compare("driver:" + OLD, "driver:" + NEW, "&device=" + varied.DEVICE)
        self.assertEqual((answer["base"]["excluded"], answer["head"]["excluded"]), ([], []))
        answer = self.compare(self.named(self.old[:1]), self.named(self.new[:1]))
        self.assertEqual(answer["base"]["excluded"], [])

    def test_equal_questions_have_equal_answers(self):
        path = "/api/v1/compare?base=%s&head=driver:%s" % (self.named(self.old[:3]), NEW)
        self.assertEqual(self.get(path).body, self.get(path).body)
        other = "/api/v1/compare?base=%s&head=driver:%s" % (self.named(self.old[2::-1]), NEW)
        self.assertEqual(self.get(path).json["rows"], self.get(other).json["rows"])

    def test_sides_that_make_no_sense(self):
        good = "run:" + self.old[0]
        for side in ("", "run:", "run:x", "run:0", "run:-1", "run:01", "run:1,,run:2", "run:1,", "run:1,run:1", "run:1,driver:2", "driver:", "cuda:13.0",
                     "driver:1,driver:2", "driver:1,cuda:", "driver:" + "x" * 33, "driver:1,cuda:" + "1" * 17, "run:99999999999999999999", "runs:1", "1", "run:1%202",
                     "driver:5%C3%A9", "run:" + "9" * 40, self.named(str(i) for i in range(1, 32)), "x" * 800):
            for name, query in (("base", "base=%s&head=%s" % (side, good)), ("head", "base=%s&head=%s" % (good, side))):
                answer = self.get("/api/v1/compare?%s&device=%s" % (query, varied.DEVICE))
                self.assertEqual((answer.status, answer.code, answer.json["error"]["field"]), (400, "bad_field", name), (side, answer.body))
        for query, status, code, field in (
                ("", 400, "bad_field", "base"), ("base=" + good, 400, "bad_field", "head"), ("head=" + good, 400, "bad_field", "base"),
                ("base=driver:1&head=driver:2", 400, "bad_field", "device"), ("base=run:999&head=" + good, 404, "run_not_found", "base"),
                ("base=%s&head=run:999" % good, 404, "run_not_found", "head"), ("base=run:999&device=x&head=driver:1", 404, "run_not_found", "base"),
                ("base=%s&head=%s&sizes=huge" % (good, good), 400, "bad_field", "sizes"), ("base=%s&head=%s&source=x" % (good, good), 400, "bad_field", "source"),
                ("base=%s&head=%s&device=" % (good, good), 400, "bad_field", "device"), ("base=%s&head=%s&base=%s" % (good, good, good), 400, "bad_request", "base"),
                ("base=%s&head=%s&limit=3" % (good, good), 400, "unknown_field", "limit")):
            answer = self.get("/api/v1/compare?" + query)
            self.assertEqual((answer.status, answer.code, answer.json["error"].get("field")), (status, code, field), (query, answer.body))


class LargeImports(unittest.TestCase):
    """Runs of as many kernels as an import may have, and with long names."""
    ODD = ["void sum<float, 4>(int)", "back\\slash", "é & 100 %?#+="]

    @classmethod
    def setUpClass(cls):
        cls.site = varied.Varied()
        cls.addClassCleanup(cls.site.close)
        cls.get = cls.site.daemon.get
        cls.first = cls.imported(["first%d" % i for i in range(509)] + cls.ODD, 1)
        cls.others = [cls.imported(["other%d_%d" % (n, i) for i in range(512)], 1) for n in range(4)]

    @classmethod
    def imported(cls, names, ms, day=1, site=None):
        files = {"timings": lines(*({"kernel": name, "ms": ms} for name in names))}
        kind, body = form(parts_of(files, {"device": "Tesla T4", "driver": "560.35.03", "cuda": "12.6", "date": "2026-09-%02d" % day}))
        answer = (site or cls.site).daemon.request("POST", "/api/v1/imports", body, {"Content-Type": kind})
        if answer.status != 201:
            raise AssertionError(answer.body)
        return answer.json["id"]

    @staticmethod
    def kernels(*names):
        return "&kernel=" + urllib.parse.quote(",".join(name.replace("\\", "\\\\").replace(",", "\\,") for name in names), safe="")

    def address(self, base, head, more=""):
        return "/api/v1/compare?base=%s&head=%s%s" % (*(",".join("run:" + run for run in side) for side in (base, head)), more)

    def test_any_two_runs(self):
        answer = self.site.ok(self.address([self.first], self.others[:1]))
        self.assertEqual(len(answer["rows"]), 1024)
        self.assertEqual((answer["time_verdicts"]["missing_base"], answer["time_verdicts"]["missing_head"]), (512, 512))
        self.assertEqual(answer["outcome"], "undecided")

    def test_more_rows_than_are_judged_say_what_to_do(self):
        five = self.address([self.first, *self.others[:2]], self.others[2:])
        answer = self.get(five)
        self.assertEqual((answer.status, answer.code, answer.json["error"]["field"]), (413, "too_large", "kernel"))
        self.assertIn("more than 2048 different rows", answer.json["error"]["message"])
        answer = self.site.ok(five + self.kernels("first3", "other3_511"))
        self.assertEqual([(row["kernel"], row["time_verdict"]) for row in answer["rows"]], [("first3", "missing_head"), ("other3_511", "missing_base")])

    def test_kernels_of_any_name(self):
        second = self.imported(["first%d" % i for i in range(509)] + self.ODD, 1.5, day=2)
        answer = self.site.ok(self.address([self.first], [second], self.kernels(*self.ODD)))
        self.assertEqual([row["kernel"] for row in answer["rows"]], sorted(self.ODD, key=str.encode))
        for name in self.ODD:
            row, = self.site.ok(self.address([self.first], [second], self.kernels(name)))["rows"]
            self.assertEqual(row["kernel"], name)
            self.assertAlmostEqual(row["time_s"]["ratio"], 1.5, places=6)
        all_of_them = self.site.ok(self.address([self.first], [second]))
        self.assertEqual({row["kernel"] for row in all_of_them["rows"]}, {"first%d" % i for i in range(509)} | set(self.ODD))

    def test_kernels_that_make_no_sense(self):
        for kernels, status, code in (("", 400, "bad_field"), ("first1,", 400, "bad_field"), (",first1", 400, "bad_field"), ("first1,first1", 400, "bad_field"),
                                      ("x" * 16385, 400, "bad_field"), (",".join("first%d" % i for i in range(65)), 400, "bad_field"), ("absent", 404, "not_found"),
                                      ("first1,absent", 404, "not_found")):
            answer = self.get(self.address([self.first], self.others[:1], "&kernel=" + kernels))
            self.assertEqual((answer.status, answer.code, answer.json["error"]["field"]), (status, code, "kernel"), (kernels, answer.body))
        answer = self.site.ok(self.address([self.first], self.others[:1], "&kernel=" + ",".join("first%d" % i for i in range(64))))
        self.assertEqual(len(answer["rows"]), 64)

    def test_large_ones_are_made_beside_the_loop(self):
        """For more clients than are served at once, for some that leave, and for an error that only judging finds."""
        daemon = self.site.daemon
        large, small = self.address([self.first], self.others[:1]), self.address([self.first], self.others[:1], "&kernel=first1,other0_1")
        too_many = self.address([self.first, *self.others[:2]], self.others[2:])
        threads, whole = len(os.listdir("/proc/%d/task" % daemon.process.pid)), {way: self.get(way).body for way in (large, small, too_many)}
        seen, got, asking = threading.Event(), [], []

        def ask(way):
            while True:
                got.append((way, self.get(way).body))
                if seen.is_set():
                    return
        for way in 4 * list(whole):
            asking.append(threading.Thread(target=ask, args=(way,)))
            asking[-1].start()
        try:
            daemon.wait_for(lambda: any(len(os.listdir("/proc/%d/task" % daemon.process.pid)) > threads for _ in range(1000)), "a worker thread")
        finally:
            seen.set()
            for thread in asking:
                thread.join()
        self.assertGreaterEqual(len(got), 12)
        self.assertTrue(all(whole[way] == body for way, body in got))
        before = daemon.settled_descriptors()
        daemon.leave(large, 6)
        self.assertEqual(self.get(large).body, whole[large])
        self.assertEqual(daemon.settled_descriptors(), before)
        head = daemon.request("HEAD", large)
        self.assertEqual((head.status, head.body, head.headers["Content-Length"]), (200, b"", str(len(whole[large]))))

    def test_the_daemon_stops_while_clients_wait(self):
        with contextlib.closing(varied.Varied()) as site:
            runs = [self.imported(["k%d_%d" % (n, i) for i in range(512)], 1, site=site) for n in range(2)]
            way = self.address(runs[:1], runs[1:])
            site.daemon.stop_while_clients_wait(way, harness.whole_or_stopping(site.daemon.get(way).body))

    def test_long_names(self):
        names = ["%04d" % i + "é" * 3498 for i in range(100)]
        runs = [self.imported(names, 1 + 0.001 * day, day) for day in range(3, 15)]
        answer = self.site.ok(self.address(runs[:6], runs[6:]))
        self.assertEqual({row["kernel"] for row in answer["rows"]}, set(names))
        for row in answer["rows"]:
            self.assertIn("Time of %sé" % row["kernel"][:4], row["time_s"]["sentence"])
            self.assertLess(len(row["time_s"]["sentence"]), 500)


if __name__ == "__main__":
    unittest.main()
