"""Answers are the same bytes in any locale and time zone: every GET route of the OpenAPI document, whatever comes to it."""
import datetime
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import harness
import varied
from test_http_imports import T4, form, parts_of

# Their answers tell of this moment or this process. Numbers and times in them are looked at apart.
LIVE = ["/healthz", "/readyz", "/metrics", "/api/v1/devices"]
TIME = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
NUMBER = rb"[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?"


def make_locales(folder):
    """Machines that build rarely have another locale. German whole, where its source is; else one of which only the numbers are its own."""
    here = pathlib.Path(__file__).resolve().parents[1]
    for options in (["-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], ["-c", "-i", here / "data" / "comma_locale", "-f", "ANSI_X3.4-1968", folder / "de_DE"]):
        subprocess.run(["localedef", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # warns and exits with 1: the output counts


def place(folder):
    """An environment in which numbers have decimal commas and midnight is not UTC's: one that C programs really see."""
    make_locales(folder)
    look = "import locale, time; locale.setlocale(locale.LC_ALL, ''); print(locale.localeconv()['decimal_point'], time.timezone)"
    for words in ({"LC_ALL": "de_DE.UTF-8", "LOCPATH": str(folder)}, {"LC_ALL": "de_DE.UTF-8"}, {"LC_ALL": "", "LC_NUMERIC": "de_DE", "LOCPATH": str(folder)}):
        for zone in ("America/Los_Angeles", "PST8PDT,M3.2.0,M11.1.0"):  # the second needs no files
            there = {"LANG": "C", **words, "TZ": zone}
            seen = subprocess.run([sys.executable, "-c", look], env={**os.environ, **there}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if seen.stdout.split() == [",", "28800"]:
                return there
    raise unittest.SkipTest("no place with a decimal comma could be made here: %s" % seen.stderr)


def needed(operation, known):
    """The query of an operation's required parameters; a new one has to be known here."""
    names = [parameter["name"] for parameter in operation.get("parameters", []) if parameter.get("required") and parameter["in"] == "query"]
    return "&".join("%s=%s" % (name, known[name]) for name in names)


class Place(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.there = place(pathlib.Path(cls.folder.name))
        cls.site = varied.Varied()
        cls.addClassCleanup(cls.site.close)
        cls.fill()
        cls.paths = cls.list_paths()
        cls.first = {path: cls.site.daemon.get(path) for path in cls.paths}
        if cls.site.daemon.stop() != 0:
            raise AssertionError("the daemon did not end well")
        cls.site.daemon.log.close()
        cls.site.daemon = harness.Daemon("--open-loopback", measure=str(cls.site.directory / "measure"), directory=cls.site.directory, environment=cls.there)

    @classmethod
    def fill(cls):
        """Runs of two drivers with odd times, predictions, a note with an accepted change, a failed job and an import."""
        site = cls.site
        cls.runs = site.runs([1.25e-3, 1.1e-3, 1.0001e-3], "580.1", predictions={"vector_add": "below", "polynomial256": "near"}, note="Grüße, 1,5")
        cls.runs += site.runs([2.5e-3, 2.125e-3], "590.2")
        answer = site.daemon.request("PUT", "/api/v1/runs/%s/note" % cls.runs[3], '{"text":"neu: 1,5","accepted":[{"kernel":"vector_add","state":"cold"}]}',
                                     {"Content-Type": "application/json"})
        assert answer.status == 200, answer.body
        failed = site.daemon.post({"suite": "verify", "kernels": ["matmul_naive"]}).json["id"]
        assert site.daemon.wait_job(failed)["state"] == "failed"
        kind, body = form(parts_of({"record": T4}, {"date": "2026-09-01"}))
        answer = site.daemon.request("POST", "/api/v1/imports", body, {"Content-Type": kind})
        assert answer.status == 201, answer.body
        cls.imported = answer.json["id"]

    @classmethod
    def list_paths(cls):
        known = {"device": varied.DEVICE, "kernel": "vector_add", "base": ",".join("run:" + run for run in cls.runs[:3]), "head": "driver:590.2"}
        job = cls.site.ok("/api/v1/jobs?state=done")["items"][0]["id"]
        paths = []
        cls.document = cls.site.ok("/api/v1/openapi.json")
        for path, item in cls.document["paths"].items():
            if "get" not in item:
                continue
            query = needed(item["get"], known)
            ids = [job] if path.startswith("/api/v1/jobs/") else [cls.runs[0], cls.runs[3], cls.imported]
            paths += [path.replace("{id}", id) + ("?" + query if query else "") for id in (ids if "{id}" in path else [""])]
        # and what the parameters change
        today = datetime.datetime.now(datetime.timezone.utc).date()
        days = "since=%s&until=%s" % (today - datetime.timedelta(400), today + datetime.timedelta(2))
        paths += ["/api/v1/history?" + days, "/api/v1/runs?source=any&outcome=any&" + days, "/api/v1/runs.csv?suite=import&sizes=other", "/api/v1/runs?driver=unknown",
                  "/api/v1/runs/%s/table?state=cold" % cls.runs[0], "/api/v1/runs/%s/table?state=mixed" % cls.imported,
                  "/api/v1/compare?base=driver:580.1&head=driver:590.2&device=" + varied.DEVICE, "/api/v1/compare?base=run:%s&head=run:%s" % (cls.imported, cls.runs[0])]
        paths += ["/api/v1/trend?device=%s&kernel=%s&%s" % (varied.DEVICE, kernel, days)
                  for kernel in ("dram_copy", "vector_add&state=cold", "vector_add&metric=dram_per_ask", "vector_add&state=mixed")]
        # what is wrong is told the same way, too
        paths += ["/api/v1/runs?limit=1,5", "/api/v1/runs?since=29.11.2026", "/api/v1/runs/999", "/api/v1/trend?device=x&kernel=y&method_version=1.5"]
        return paths

    def test_every_route_is_asked(self):
        asked = {path.split("?")[0] for path in self.paths}
        for path, item in self.document["paths"].items():
            pattern = re.escape(path).replace(re.escape("{id}"), "[0-9]+")
            self.assertTrue("get" not in item or any(re.fullmatch(pattern, one) for one in asked), path)
        self.assertEqual({path for path, answer in self.first.items() if answer.status >= 400}, set(self.paths[-4:]))

    def test_stored_answers_are_the_same_bytes(self):
        for path in self.paths:
            if path.split("?")[0] in LIVE:
                continue
            answer, before = self.site.daemon.get(path), self.first[path]
            self.assertEqual((answer.status, answer.body), (before.status, before.body), path)
            for name in ("Content-Type", "ETag", "Content-Disposition", "Cache-Control", "Retry-After"):
                self.assertEqual(answer.headers[name], before.headers[name], (path, name))

    def test_answers_of_the_moment_are_written_alike(self):
        for path in LIVE:
            answer, before = self.site.daemon.get(path), self.first[path]
            self.assertEqual(answer.status, before.status, path)
            shape = [re.sub(NUMBER, b"1", re.sub(TIME, b"time", body)) for body in (answer.body, before.body)]
            if path == "/metrics":  # a line for each status that was answered: there are fewer of them
                lines = [set(text.splitlines()) for text in shape]
                self.assertGreater(len(lines[0]), 10)
                self.assertEqual(lines[0] - lines[1], set(), path)
            else:
                self.assertEqual(shape[0], shape[1], path)
            for text in set(re.findall(TIME, answer.body)) - set(re.findall(TIME, before.body)):  # of an import's device the date is its own
                told = datetime.datetime.fromisoformat(text.decode().replace("Z", "+00:00")).timestamp()
                self.assertLess(abs(told - time.time()), 3600, path)  # midnight there is eight hours off

    def test_what_is_written_there_reads_the_same(self):
        """A run measured in the other place is like one measured here, but for its times and ids."""
        run = self.site.run(1.25e-3, "580.1")
        for path in ("/api/v1/runs/%s/table", "/api/v1/runs/%s.csv", "/api/v1/runs/%s/samples"):
            texts = [re.sub(TIME, b"time", body) for body in (self.site.daemon.get(path % run).body, self.first.get(path % self.runs[0]).body)]
            self.assertEqual(texts[0], texts[1], path)
        date = self.site.ok("/api/v1/runs/" + run)["date"]
        told = datetime.datetime.fromisoformat(date.replace("Z", "+00:00")).timestamp()
        self.assertLess(abs(told - time.time()), 3600)


if __name__ == "__main__":
    unittest.main()
