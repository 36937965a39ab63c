"""Labels of jobs and imports, runs that are withdrawn, and why predictions were wrong, over HTTP."""
import hashlib
import json
import pathlib
import tempfile
import unittest
import urllib.parse

import varied
from test_http_imports import T4, counters, form, lines, parts_of

JSON = {"Content-Type": "application/json"}
CAFE = "café, v2 \\ ≤ 3f2c"
WHAT = {"device": "Tesla T4", "driver": "560.35.03", "cuda": "12.6", "date": "2026-09-02"}
# what is no label, and what of it is said
NO_LABELS = (("", "0 characters"), ("é" * 65, "65 characters"), ("a\nb", "U+000A"), ("a\tb", "U+0009"), ("\x7f", "U+007F"), ("a\u2028b", "U+2028"), ("\u200b \u3164", "nothing that can be seen"))


def quoted(text):
    return urllib.parse.quote(text, safe="")


def side(label):
    return quoted("label:" + label.replace("\\", "\\\\").replace(",", "\\,"))


class Labels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="rooflined-test-")
        cls.addClassCleanup(folder.cleanup)
        file = pathlib.Path(folder.name) / "tokens"
        file.write_text("".join("%s %s %s\n" % (name, right, hashlib.sha256(name.encode()).hexdigest()) for name, right in (("one", "submit"), ("two", "submit"), ("boss", "admin"), ("eye", "read"))))
        cls.site = varied.Varied("--token-file", str(file))
        cls.addClassCleanup(cls.site.close)
        cls.daemon, cls.ok = cls.site.daemon, cls.site.ok

    def ask(self, method, path, body=None, who=None, **headers):
        text = json.dumps(body) if isinstance(body, (dict, list)) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.daemon.request(method, path, text, {**(JSON if body is not None else {}), **({"Authorization": "Bearer " + who} if who else {}), **named})

    def refused(self, answer, status, code, field=None, says=""):
        self.assertEqual((answer.status, answer.code, answer.json["error"].get("field")), (status, code, field), answer.body)
        self.assertIn(says, answer.json["error"]["message"])

    def upload(self, files, fields, who=None):
        kind, body = form(parts_of(files, fields))
        return self.daemon.request("POST", "/api/v1/imports", body, {"Content-Type": kind, **({"Authorization": "Bearer " + who} if who else {})})

    def ids(self, query, path="/api/v1/runs?outcome=any&limit=200"):
        return [item["id"] for item in self.ok(path + query)["items"]]

    # ---- labels ----

    def test_a_label_of_a_job_and_its_run(self):
        with_label = [self.site.run(1e-3, "580.1", label=CAFE), self.site.run(1e-3, "580.1", label=CAFE)]
        without = self.site.run(1e-3, "580.1")
        document = self.daemon.get("/api/v1/runs/" + with_label[0])
        self.assertEqual(document.json["label"], CAFE)
        self.assertNotIn("label", self.ok("/api/v1/runs/" + without))
        self.assertNotIn("Run-Withdrawn", document.headers)
        query = "&label=" + quoted(CAFE)
        self.assertEqual(self.ids(query), with_label[::-1])
        self.assertEqual(self.ids(query, "/api/v1/runs.json?outcome=ok"), with_label[::-1])
        self.assertEqual(self.daemon.get("/api/v1/runs.csv?outcome=ok" + query).body.count(b"\n%s," % without.encode()), 0)
        self.assertEqual(self.ids("&label=" + quoted(CAFE.upper())), [])
        page = self.ok("/api/v1/runs?limit=1" + query)
        self.assertEqual(self.ids(query + "&cursor=" + page["next"], "/api/v1/runs?limit=1"), with_label[:1])
        self.refused(self.daemon.get("/api/v1/runs?limit=1&label=x&cursor=" + page["next"]), 400, "bad_cursor", "cursor")
        items = {item["id"]: item for item in self.ok("/api/v1/runs?limit=200")["items"]}
        self.assertEqual((items[with_label[0]]["label"], items[without]["label"], items[without]["why"]["label"]), (CAFE, None, "none was given"))
        jobs = self.ok("/api/v1/jobs?limit=1" + query)
        self.assertEqual([(job["label"], job["run"]) for job in jobs["items"]], [(CAFE, with_label[1])])
        more = self.ok("/api/v1/jobs?limit=9%s&cursor=%s" % (query, jobs["next"]))
        self.assertEqual([job["run"] for job in more["items"]], with_label[:1])
        self.refused(self.daemon.get("/api/v1/jobs?cursor=" + jobs["next"]), 400, "bad_cursor", "cursor")
        self.assertEqual(self.ok("/api/v1/jobs?state=queued" + query)["items"], [])
        self.assertEqual((self.ok("/api/v1/jobs?limit=1")["items"][0]["label"], self.ok("/api/v1/jobs?limit=1")["items"][0]["why"]["label"]), (None, "none was given"))
        row, = self.ok("/api/v1/history?label=" + quoted(CAFE))["rows"]
        self.assertEqual(sum(cell["counter_backed"] for cell in row["cells"]), 2)
        trend = self.ok("/api/v1/trend?device=%s&kernel=vector_add%s" % (varied.DEVICE, query))
        self.assertEqual((trend["label"], [point["runs"] for point in trend["points"]]), (CAFE, [2]))

    def test_what_is_no_label(self):
        for text, says in NO_LABELS:
            self.refused(self.daemon.post({"suite": "verify", "label": text}), 400, "bad_field", "label", says)
            for path in ("/api/v1/runs?", "/api/v1/jobs?", "/api/v1/runs.json?", "/api/v1/history?", "/api/v1/trend?device=x&kernel=y&"):
                if "\x7f" not in text and "\n" not in text and "\t" not in text:  # an address with those is refused as such
                    self.refused(self.daemon.get(path + "label=" + quoted(text)), 400, "bad_field", "label", says)
            if text:  # an empty field of a form is as good as none
                self.refused(self.upload({"record": T4}, {"date": "2026-09-01", "label": text}), 400, "bad_field", "label")
        for value in (7, None, ["x"]):
            self.refused(self.daemon.post({"suite": "verify", "label": value}), 400, "bad_field", "label")
        self.refused(self.upload({"record": T4}, {"date": "2026-09-01", "label": "x" * 300}), 413, "too_large", "label")
        self.refused(self.daemon.get("/api/v1/runs?withdrawn=maybe"), 400, "bad_field", "withdrawn")

    def test_a_key_is_for_one_label(self):
        first = self.ask("POST", "/api/v1/jobs", {"suite": "verify", "label": "a"}, Idempotency_Key="labels")
        self.assertEqual(first.status, 202)
        self.refused(self.ask("POST", "/api/v1/jobs", {"suite": "verify", "label": "b"}, Idempotency_Key="labels"), 409, "idempotency_conflict", "Idempotency-Key")
        self.daemon.wait_job(first.json["id"])

    def test_imports(self):
        files = {"ncu": counters("k<1>(int)"), "timings": lines({"kernel": "k<1>(int)", "ms": 0.25})}
        made = self.upload(files, {**WHAT, "label": "v1"}, "one")
        self.assertEqual((made.status, made.json["label"]), (201, "v1"))
        run = made.json["id"]
        again = self.upload(files, {**WHAT, "label": "v1"}, "two")
        self.assertEqual((again.status, again.json["id"], again.body == made.body), (200, run, True))
        self.assertEqual((self.upload(files, WHAT).status, self.upload(files, {**WHAT, "label": ""}).status), (200, 200))
        self.refused(self.upload(files, {**WHAT, "label": "v2"}), 409, "conflict", "label", 'run %s already, whose label is "v1"' % run)
        # in other words, which come to the same run only once they are read
        self.refused(self.upload(files, {**WHAT, "label": "v2", "sizes": "other"}), 409, "conflict", "label", "run %s already" % run)
        self.assertEqual(self.ids("&label=v2"), [])
        self.refused(self.ask("POST", "/api/v1/runs/%s/withdraw" % run, {"reason": "x"}, "two"), 403, "forbidden")
        self.assertEqual(self.ask("POST", "/api/v1/runs/%s/withdraw" % run, {"reason": "x"}, "one").status, 200)
        told = self.upload(files, WHAT)
        self.assertEqual((told.status, told.json["id"], told.headers["Run-Withdrawn"]), (200, run, "true"))
        bare = self.upload({"record": T4}, {"date": "2026-09-01"})
        self.refused(self.upload({"record": T4}, {"date": "2026-09-01", "label": "v1"}), 409, "conflict", "label", "run %s already, which has no label" % bare.json["id"])

    def test_compare(self):
        base = [self.site.run(1e-3, "580.1", label="base, one") for _ in range(2)]
        head = [self.site.run(2e-3, "590.2", label="head") for _ in range(2)]
        answer = self.ok("/api/v1/compare?base=%s&head=label:head" % side("base, one"))
        self.assertEqual((answer["base"]["runs"], answer["head"]["runs"]), (base[::-1], head[::-1]))
        self.assertEqual(answer["base"]["label"], "label:base\\, one")
        both = self.ok("/api/v1/compare?base=label:head,driver:590.2,cuda:13.0&head=driver:590.2,label:head")
        self.assertEqual((both["base"]["runs"], both["head"]["runs"]), (head[::-1], head[::-1]))
        other = self.ok("/api/v1/compare?base=label:head,driver:580.1&head=run:" + head[0])
        self.assertEqual(other["base"]["runs"], [])
        self.assertIn('No run of label "head", driver 580.1 counts', other["not_comparable"][0]["sentence"])
        self.refused(self.daemon.get("/api/v1/compare?base=label:nobody&head=label:head"), 404, "not_found", "base", 'the label "nobody"')
        self.assertIn('No run of label "nobody" counts', self.ok("/api/v1/compare?base=label:head&head=label:nobody")["not_comparable"][0]["sentence"])
        self.site.run(1e-3, "580.1", label="mixed")
        self.site.run(1e-3, "580.1", label="mixed", sizes="scaled")
        self.refused(self.daemon.get("/api/v1/compare?base=label:mixed&head=label:head"), 400, "bad_field", "sizes", "has to be named")
        self.site.run(1e-3, "580.1", label="large", sizes="scaled")
        self.refused(self.daemon.get("/api/v1/compare?base=label:head&head=label:large"), 400, "bad_field", "sizes", "from those of base")
        self.assertEqual(self.ok("/api/v1/compare?base=label:head&head=label:large&sizes=course")["head"]["runs"], [])
        for value, says in (("label:", "0 characters"), ("label:" + "x" * 65, "65 characters"), ("label:a,label:b", "two labels"), ("label:a,run:1", "neither"), ("cuda:13.0", "neither"),
                            ("tag:x", "label:LABEL"), ("driver:é", "only label: takes"), ("label:%E2%80%8B", "seen"), ("", "0 bytes")):
            for name in ("base", "head"):
                other_name = "head" if name == "base" else "base"
                self.refused(self.daemon.get("/api/v1/compare?%s=%s&%s=label:head" % (name, value if "%" in value else quoted(value), other_name)), 400, "bad_field", name, says)

    # ---- withdrawing ----

    def test_withdraw_and_take_back(self):
        runs = [self.site.run(time_s, "570.9", label="w") for time_s in (1e-3, 1.1e-3, 9e-3)]
        path = "/api/v1/runs/%s" % runs[2]
        trend = "/api/v1/trend?device=%s&kernel=vector_add&driver=570.9" % varied.DEVICE
        before = {address: self.daemon.get(address).body for address in (path, trend, "/api/v1/history", "/api/v1/runs?driver=570.9", path + "/table")}
        self.assertEqual(self.ok(path + "/withdraw"), {"run": runs[2], "withdrawn": False, "log": []})
        self.refused(self.ask("DELETE", path + "/withdraw"), 409, "conflict", None, "not withdrawn")
        answer = self.ask("POST", path + "/withdraw", {"reason": "the fan\nstood still"})
        self.assertEqual(answer.status, 200)
        entry, = answer.json["log"]
        self.assertEqual((answer.json["withdrawn"], entry["reason"], entry["principal"], entry["back_at"]), (True, "the fan\nstood still", "anonymous", None))
        self.refused(self.ask("POST", path + "/withdraw", {"reason": "again"}), 409, "conflict", None, "withdrawn already")
        self.assertEqual(self.ids("&driver=570.9"), runs[1::-1])
        self.assertEqual(self.ids("&driver=570.9", "/api/v1/runs.json?outcome=any"), runs[1::-1])
        self.assertEqual(self.ids("&driver=570.9&withdrawn=false"), runs[1::-1])
        self.assertEqual(self.ids("&driver=570.9&withdrawn=any"), runs[::-1])
        self.assertEqual(self.ids("&driver=570.9&withdrawn=true", "/api/v1/runs.json?outcome=any"), runs[2:])
        item, = self.ok("/api/v1/runs?driver=570.9&withdrawn=true")["items"]
        self.assertEqual((item["id"], item["withdrawn"], item["withdrawal"]["reason"]), (runs[2], True, "the fan\nstood still"))
        self.assertEqual([point["runs"] for point in self.ok(trend)["points"]], [2])
        for address, count in ((trend, 1), (trend + "&label=w", 1), (trend + "&label=other", 0), ("/api/v1/history?label=w", 1)):
            found = [item for item in self.ok(address)["excluded"] if item["filters"] == "withdrawn"]
            self.assertEqual([(item["runs"], item["ask"], item["sentence"]) for item in found],
                             [(1, None, "1 run is withdrawn; such a run counts again once that is taken back")] * count, address)
        one = self.daemon.get(path)
        self.assertEqual((one.status, one.body, one.headers["Run-Withdrawn"]), (200, before[path], "true"))
        self.assertEqual(self.ask("GET", path, If_None_Match=one.headers["ETag"]).status, 304)
        compared = self.ok("/api/v1/compare?base=label:w&head=run:" + runs[2])
        self.assertEqual((compared["base"]["runs"], compared["base"]["left_out"]), (runs[1::-1], [{"id": runs[2], "reason": "it was withdrawn"}]))
        self.assertIn(("withdrawn", "Run %s of head would not be taken by a query: it was withdrawn." % runs[2]), [(note["field"], note["sentence"]) for note in compared["warnings"]])
        answer = self.ask("DELETE", path + "/withdraw", who="boss")
        self.assertEqual((answer.status, answer.json["withdrawn"], answer.json["log"][0]["back_principal"]), (200, False, "token:boss"))
        self.assertEqual({address: self.daemon.get(address).body for address in before}, before)
        self.assertNotIn("Run-Withdrawn", self.daemon.get(path).headers)
        self.assertEqual(self.ask("POST", path + "/withdraw", {"reason": "again"}).status, 200)
        self.assertEqual([entry["reason"] for entry in self.ok(path + "/withdraw")["log"]], ["the fan\nstood still", "again"])
        self.ask("DELETE", path + "/withdraw")

    def test_who_may_withdraw(self):
        self.site.set(1e-3, "560.1")
        job = self.ask("POST", "/api/v1/jobs", {"suite": "verify"}, "one").json["id"]
        path = "/api/v1/runs/%s/withdraw" % self.daemon.wait_job(job)["run"]
        self.refused(self.ask("POST", path, {"reason": "x"}, "two"), 403, "forbidden", None, "its owner or an admin withdraws it")
        self.refused(self.ask("POST", path, {"reason": "x"}, "eye"), 403, "forbidden")
        self.refused(self.ask("POST", path, {"reason": "x"}), 403, "forbidden")
        self.assertEqual(self.ask("POST", path, {"reason": "x"}, "one").status, 200)
        self.refused(self.ask("DELETE", path, who="two"), 403, "forbidden", None, "takes its withdrawal back")
        self.assertEqual(self.ask("DELETE", path, who="one").status, 200)
        self.assertEqual(self.ask("POST", path, {"reason": "x"}, "boss").status, 200)
        self.assertEqual(self.ask("GET", path, who="eye").json["withdrawn"], True)
        self.ask("DELETE", path, who="boss")

    def test_bad_withdrawals(self):
        path = "/api/v1/runs/%s/withdraw" % self.site.run(1e-3, "560.2")
        for body, code, field in (({}, "bad_field", "reason"), ({"reason": 7}, "bad_field", "reason"), ({"reason": ""}, "bad_field", "reason"), ({"reason": " \n"}, "bad_field", "reason"),
                                  ({"reason": "x" * 513}, "bad_field", "reason"), ({"reason": "a\rb"}, "bad_field", "reason"), ({"reason": "x", "why": "y"}, "unknown_field", "why"),
                                  ([], "bad_json", None), ("{", "bad_json", None)):
            self.refused(self.ask("POST", path, body), 400, code, field)
        self.assertEqual(self.ok(path)["log"], [])
        self.assertEqual(self.ask("POST", path, {"reason": "é" * 512}).status, 200)
        self.refused(self.ask("POST", "/api/v1/runs/999999/withdraw", {"reason": "x"}), 404, "run_not_found")
        self.refused(self.ask("DELETE", "/api/v1/runs/999999/withdraw"), 404, "run_not_found")
        self.refused(self.daemon.get("/api/v1/runs/999999/withdraw"), 404, "run_not_found")
        self.refused(self.ask("PUT", path, {"reason": "x"}), 405, "method_not_allowed")

    # ---- why predictions were wrong ----

    def test_why_predictions_were_wrong(self):
        self.site.set(1e-3, "560.3")
        body = {"suite": "verify", "kernels": varied.KERNELS, "predictions": {"vector_add": "below", "transpose_naive": "below", "polynomial256": "above"}}
        run = self.daemon.wait_job(self.ask("POST", "/api/v1/jobs", body, "one").json["id"])["run"]
        path = "/api/v1/runs/%s/predictions" % run
        before = self.daemon.get(path)
        wrong = before.json["most_wrong"]
        self.assertEqual((before.json["why_wrong"], before.json["version"], len(wrong)), ([], 0, 2))
        texts = {wrong[0]: "é" * 1024, wrong[1]: "the L2\nholds\tit"}
        answer = self.ask("PUT", path, {"why_wrong": texts}, "one", If_Match=before.headers["ETag"])
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual({item["kernel"]: item["text"] for item in answer.json["why_wrong"]}, texts)
        self.assertEqual((answer.json["version"], answer.json["principal"], answer.json["items"]), (1, "token:one", before.json["items"]))
        self.assertEqual(self.daemon.get(path).body, answer.body)
        self.assertEqual(self.ask("GET", path, If_None_Match=answer.headers["ETag"]).status, 304)
        self.refused(self.ask("PUT", path, {"why_wrong": {}}, "one", If_Match=before.headers["ETag"]), 412, "precondition_failed", "If-Match")
        self.refused(self.ask("PUT", path, {"why_wrong": {}}, "two"), 403, "forbidden")
        self.refused(self.ask("PUT", path, {"why_wrong": {}}, "eye"), 403, "forbidden")
        third = next(kernel for kernel in varied.KERNELS if kernel not in wrong)
        for said, field in (({third: "x"}, "why_wrong." + third), ({"nothing": "x"}, "why_wrong.nothing"), ({wrong[0]: ""}, "why_wrong." + wrong[0]), ({wrong[0]: "x" * 1025}, "why_wrong." + wrong[0]),
                            ({wrong[0]: 7}, "why_wrong." + wrong[0]), ({wrong[0]: "a\x1bb"}, "why_wrong." + wrong[0]), ([], "why_wrong"), ({"a": "x", "b": "x", "c": "x"}, "why_wrong")):
            self.refused(self.ask("PUT", path, {"why_wrong": said}, "one"), 400, "bad_field", field)
        self.refused(self.ask("PUT", path, {}, "one"), 400, "bad_field", "why_wrong")
        self.refused(self.ask("PUT", path, {"why_wrong": {}, "text": "x"}, "one"), 400, "unknown_field", "text")
        self.assertEqual(self.daemon.get(path).body, answer.body)
        self.assertEqual(self.ask("PUT", path, {"why_wrong": {}}, "boss").json["why_wrong"], [])
        none = self.site.run(1e-3, "560.3")
        self.refused(self.ask("PUT", "/api/v1/runs/%s/predictions" % none, {"why_wrong": {"vector_add": "x"}}), 400, "bad_field", "why_wrong.vector_add", "none was wrong")
        self.refused(self.ask("PUT", "/api/v1/runs/999999/predictions", {"why_wrong": {}}), 404, "run_not_found")


if __name__ == "__main__":
    unittest.main()
