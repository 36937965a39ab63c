"""Roofs that one run lends another: to imports of a measured device when they are stored, and to any run on reading."""
import csv
import io
import json
import unittest

import harness
import varied
from test_http_imports import form, lines, parts_of

CARD, TWIN, OTHER = "GPU-11111111-aaaa", "GPU-22222222-bbbb", "GPU-33333333-cccc"
NAME = "Test GPU <b>&amp;"
COPY, FMA = 4e12, 6e13  # of fake_measure at 1 ms a launch
COUNTERS = "ID,Kernel Name,Block Size,Grid Size,Device,Metric Name,Metric Unit,Metric Value\n" + "".join(
    '"0","own(float *)","(256, 1, 1)","(64, 1, 1)","0","%s","byte","%d"\n' % (metric, value)
    for metric, value in (("dram__bytes_read.sum", 60 * 10**6), ("dram__bytes_write.sum", 60 * 10**6)))
ROW = {"kernel": "own", "ms": 0.05, "flop": 12 * 10**6, "ask_bytes": 120 * 10**6}  # 2.4 TB/s: 60 percent of the copy


class Site(varied.Varied):
    """The fake's card by an id that is a UUID, and by another one after a restart."""
    device = CARD

    def set(self, time_s, driver, *args, **named):
        super().set(time_s, driver, *args, **named)
        path = self.directory / "settings.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "DEVICE_ID": self.device}))

    def restart(self, device):
        self.daemon.kill()
        self.daemon.log.close()
        self.device = device
        self.set(1e-3, "580.1")
        self.daemon = harness.Daemon("--open-loopback", measure=str(self.directory / "measure"), directory=self.directory)


class Roofs(unittest.TestCase):
    def setUp(self):
        self.site = Site()
        self.addCleanup(lambda: self.site.close())
        self.ok = self.site.ok
        self.sent = 0

    def imported(self, device=CARD, rows=(ROW,), counted=True, **fields):
        self.sent += 1  # a date of its own makes it another import
        fields = {"device": device, "date": "2026-09-%02d" % self.sent, "times": "cold", **fields}
        files = {"timings": lines(*rows), **({"ncu": COUNTERS} if counted else {})}
        kind, body = form(parts_of(files, fields))
        answer = self.site.daemon.request("POST", "/api/v1/imports", body, {"Content-Type": kind})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json

    def judged(self, run, of=None):
        """The own kernel's cold state under a copy of 4 TB/s: 120 MB in 50 us are 60 percent of it."""
        cold = run["kernels"][0]["cold"]
        self.assertAlmostEqual(cold["percent_of_ceiling"], 60, 6)
        self.assertAlmostEqual(cold["percent_of_roof"], 60, 6)
        self.assertEqual((cold["bound"], cold["advice_code"]), ("latency", "fix_kernel"))
        self.assertAlmostEqual(cold["levels"]["dram_byte_per_s"], COPY, 0)
        self.assertAlmostEqual(cold["levels"]["compute_percent"], 100 * 12e6 / 50e-6 / FMA, 9)
        if of is not None:
            self.assertEqual(run["lent"]["run"], of)

    def unjudged(self, run):
        cold = run["kernels"][0]["cold"]
        self.assertNotIn("lent", run)
        self.assertIsNone(cold["bound"])
        self.assertIsNone(cold["percent_of_roof"])
        self.assertEqual(cold["why"]["percent_of_ceiling"], "the run has no cold dram_copy ceiling")

    def test_by_uuid(self):
        before = self.imported()
        self.unjudged(before)
        self.assertEqual([note for note in before["import"]["notes"] if "roofs" in note], [])  # never measured: nothing to say
        old, new = self.site.run(), self.site.run()
        run = self.imported()
        self.judged(run, new)
        lent = run["lent"]
        self.assertEqual((lent["driver"], lent["source"], lent["device_by"]), ("580.1", "measured", "uuid"))
        self.assertEqual(lent["date"], self.ok("/api/v1/runs/" + new)["date"])
        self.assertEqual({(one["name"], one["state"]): one["value"] for one in lent["ceilings"]},
                         {("dram_copy", "cold"): COPY, ("fp32_fma", "warm"): FMA})  # it has no warm rows
        self.assertIn("run %s (driver 580.1, %s) are lent: it is of the same device by its UUID. This run states neither" % (new, lent["date"][:10]), lent["sentence"])
        self.assertIn(lent["sentence"], self.site.daemon.get("/api/v1/runs/%s/table" % run["id"]).body.decode())
        self.assertIsNone(run["ridge_flop_per_byte"])
        # no trend, comparison or list has them
        item = next(item for item in self.ok("/api/v1/runs?outcome=any&suite=import")["items"] if item["id"] == run["id"])
        self.assertIsNone(item["dram_copy_byte_per_s"])
        trend = self.ok("/api/v1/trend?device=%s&kernel=own&state=cold&suite=import&sizes=other&metric=percent_of_ceiling&since=2026-08-01&until=2026-10-01" % CARD)
        self.assertEqual([point["median"] for point in trend["points"] if point["median"] is not None], [])
        # The same files again are the same run, though another would lend now.
        self.site.run()
        again, body = form(parts_of({"timings": lines(ROW), "ncu": COUNTERS}, {"device": CARD, "date": "2026-09-02", "times": "cold", "sizes": "other"}))
        answer = self.site.daemon.request("POST", "/api/v1/imports", body, {"Content-Type": again})
        self.assertEqual((answer.status, answer.json["id"]), (200, run["id"]), answer.body)
        self.assertNotEqual(old, new)

    def test_what_is_lent_outlives_the_lender_and_never_changes(self):
        lender = self.site.run()
        run = self.imported()
        stored = self.site.daemon.get("/api/v1/runs/" + run["id"])
        self.site.daemon.kill()
        status, out, text = harness.run_program("--database", str(self.site.directory / "test.db"), "--retire", lender, "--reason", "a test")
        self.assertEqual(status, 0, text)
        self.site.restart(CARD)
        self.assertEqual(self.site.daemon.get("/api/v1/runs/" + lender).status, 404)
        after = self.site.daemon.get("/api/v1/runs/" + run["id"])
        self.assertEqual((after.body, after.headers["ETag"]), (stored.body, stored.headers["ETag"]))
        self.assertEqual(self.site.daemon.get("/api/v1/runs/%s?roofs=newest" % run["id"]).body, stored.body)  # nobody lends
        self.site.run(2e-3)  # 2 TB/s
        self.assertEqual(self.site.daemon.get("/api/v1/runs/" + run["id"]).body, stored.body)
        newer = self.ok("/api/v1/runs/%s?roofs=newest" % run["id"])
        self.assertAlmostEqual(newer["kernels"][0]["cold"]["percent_of_ceiling"], 120, 6)
        self.assertIn("above_roof", newer["kernels"][0]["cold"]["flags"])

    def test_never_across_drivers(self):
        first = self.site.run(driver="580.1")
        second = self.site.run(driver="590.2")
        self.judged(self.imported(driver="580.1", cuda="13.0"), first)
        self.judged(self.imported(driver="590.2", cuda="13.0"), second)
        self.judged(self.imported(), second)  # states none: the newest
        run = self.imported(driver="575.9", cuda="13.0")
        self.unjudged(run)
        self.assertIn("No roofs are lent: this device has been measured here under driver 590.2, not under 575.9.", run["import"]["notes"])
        self.assertEqual(self.ok("/api/v1/runs/%s?roofs=newest" % run["id"]), run)
        for roofs, status, code in ((first, 400, "bad_field"), ("999", 404, "run_not_found"),
                                    ("oldest", 400, "bad_field"), ("0", 400, "bad_field"), (run["id"], 400, "bad_field")):
            answer = self.site.daemon.get("/api/v1/runs/%s?roofs=%s" % (run["id"], roofs))
            self.assertEqual((answer.status, answer.code, answer.json["error"]["field"]), (status, code, "roofs"), roofs)

    def test_only_eligible_runs_lend(self):
        good = self.site.run()
        for outcome, flags in (("refused", []), ("partial", []), ("ok", ["shared"]), ("ok", ["throttled"])):
            bad = self.site.run(2e-3, outcome=outcome, flags=flags)
            self.judged(self.imported(), good)
            answer = self.site.daemon.get("/api/v1/runs/%s?roofs=%s" % (self.imported()["id"], bad))
            self.assertEqual((answer.status, answer.json["error"]["field"]), (400, "roofs"))

    def test_a_withdrawn_run_lends_nothing(self):
        run = self.imported()
        old, new = self.site.run(2e-3), self.site.run()
        path = "/api/v1/runs/%s?roofs=" % run["id"]
        self.judged(self.ok(path + new), new)
        answer = self.site.daemon.post({"reason": "the fan stood still"}, "/api/v1/runs/%s/withdraw" % new)
        self.assertEqual(answer.status, 200, answer.body)
        for form in ("", "/table", ".csv"):
            answer = self.site.daemon.get("/api/v1/runs/%s%s?roofs=%s" % (run["id"], form, new))
            self.assertEqual((answer.status, answer.code, answer.json["error"]["field"]), (400, "bad_field", "roofs"))
            self.assertEqual(answer.json["error"]["message"], "run %s lends no roofs: it was withdrawn" % new)
        self.assertEqual(self.ok(path + "newest")["lent"]["run"], old)
        self.assertEqual(self.site.daemon.request("DELETE", "/api/v1/runs/%s/withdraw" % new).status, 200)
        self.judged(self.ok(path + new), new)

    def test_a_run_that_has_the_roofs_wanted_lends_first(self):
        both = self.site.run()
        warm = self.site.run(cache=["warm"])
        self.judged(self.imported(), both)  # newer, but without a cold copy
        path = "/api/v1/runs/" + self.imported(rows=(ROW, {"ceiling": "dram_copy", "byte_per_s": 8e12}), times="warm", cache="warm")["id"]
        self.assertEqual(self.ok(path)["lent"]["run"], warm)
        self.assertEqual(self.ok(path + "?roofs=newest")["lent"]["run"], warm)

    def test_by_name_where_one_device_has_it(self):
        lender = self.site.run()
        run = self.imported(NAME)
        self.judged(run, lender)
        self.assertEqual(run["lent"]["device_by"], "name")
        self.assertIn("by its name, which no other measured device has", run["lent"]["sentence"])
        self.unjudged(self.imported(OTHER))  # another UUID: never by a name
        self.unjudged(self.imported("Another GPU"))
        self.site.restart(TWIN)
        second = self.site.run()
        run = self.imported(NAME)
        self.unjudged(run)
        self.assertIn("No roofs are lent: 2 measured devices are called %s. Give the UUID of the one that it was." % NAME, run["import"]["notes"])
        self.judged(self.imported(TWIN), second)
        self.judged(self.imported(CARD), lender)

    def test_own_roofs_stay(self):
        self.site.run()
        run = self.imported(rows=(ROW, {"ceiling": "dram_copy", "byte_per_s": 8e12}), times="warm", cache="warm")
        self.assertEqual([one["name"] for one in run["lent"]["ceilings"]], ["fp32_fma"])
        self.assertAlmostEqual(run["kernels"][0]["warm"]["percent_of_ceiling"], 30, 6)

    def test_on_reading(self):
        """A run that was stored before anything could lend: derived on reading, its own bytes untouched."""
        run = self.imported()
        path = "/api/v1/runs/" + run["id"]
        stored = self.site.daemon.get(path)
        self.assertEqual(self.site.daemon.get(path + "?roofs=newest").body, stored.body)
        first, second = self.site.run(2e-3), self.site.run()
        newest = self.site.daemon.get(path + "?roofs=newest")
        self.judged(newest.json, second)
        self.assertEqual(list(newest.json)[:2], ["id", "job"])
        self.assertEqual((newest.json["id"], newest.json["why"]["job"]), (run["id"], "an import has no job"))
        self.assertTrue(newest.headers["ETag"])
        self.assertEqual(self.site.daemon.get(path + "?roofs=newest", If_None_Match=newest.headers["ETag"]).status, 304)
        self.assertAlmostEqual(self.ok(path + "?roofs=" + first)["kernels"][0]["cold"]["percent_of_ceiling"], 120, 6)
        line, = csv.DictReader(io.StringIO(self.site.daemon.get(path + ".csv?roofs=newest").body.decode(), newline=""))
        self.assertAlmostEqual(float(line["percent_of_roof"]), 60, 6)
        self.assertEqual(line["lent_by"], second)
        table = self.site.daemon.get(path + "/table?roofs=newest").body.decode()
        self.assertIn("   60.0\n", table)
        self.assertIn("The roofs of run %s" % second, table)
        self.assertEqual(self.site.daemon.get(path).body, stored.body)
        self.assertEqual(self.site.daemon.get(path + "?roof=newest").status, 400)
        # A measured run has its own: read as it is.
        whole = self.ok("/api/v1/runs/%s?roofs=%s" % (first, second))
        self.assertEqual(whole, self.ok("/api/v1/runs/" + first))

    def test_a_kernel_that_was_only_timed(self):
        self.site.run()
        row, = self.imported(rows=({**ROW, "flop": 15 * 10**8},), counted=False)["kernels"]
        cold = row["cold"]
        self.assertAlmostEqual(cold["percent_of_roof"], 50, 6)  # 30 of 60 Tflop/s
        self.assertEqual((cold["bound"], cold["attainable_flop_per_s"], cold["advice"]), (None, None, None))
        self.assertIn("of the compute roof alone", cold["explained"]["roof"])
        self.assertIn("fp32_assumed", row["flags"])

    def test_a_measuring_process_lends_nothing(self):
        """Roofs in what a process sends are none that the store lent."""
        program = self.site.directory / "measure"
        program.write_text(program.read_text().replace("sys.exit(", """made = fake_measure.run
def lent(*args):
    return dict(made(*args), lent=dict(run="1", source="measured", date=fake_measure.now(), recorded_at=None, driver="1", device_by="uuid", sentence="made up",
        ceilings=[dict(name="l2_read", state="warm", value=1.0, unit="byte_per_s")], why=dict(recorded_at="none")))
fake_measure.run = lent
sys.exit("""))
        self.assertNotIn("lent", self.ok("/api/v1/runs/" + self.site.run()))


if __name__ == "__main__":
    unittest.main()
