#!/usr/bin/env python3
"""rooflinectl export and predictions: against a daemon that replays a recording, and against servers that break off."""
import csv
import http.server
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ctl_test  # noqa: E402
from ctl_test import Ctl, environment  # noqa: E402


class Export(Ctl):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = pathlib.Path(directory.name)

    def left(self):
        return sorted(path.name for path in self.place.iterdir())

    def test_a_selection_goes_to_a_file_or_to_standard_output(self):
        self.ctl("submit", "--wait", "--kernels", "vector_add")
        self.ctl("submit", "--wait", "--kernels", "vector_add", "--sizes", "scaled", "--no-counters")
        self.assertEqual([run["id"] for run in json.loads(self.ctl("export").stdout)["items"]], ["2", "1"])
        self.assertEqual([run["id"] for run in json.loads(self.ctl("export", "--json", "--sizes", "course", "--output", "-").stdout)["items"]], ["1"])
        file = self.place / "runs.csv"
        done = self.ctl("export", "--csv", "--source", "replayed", "--output", str(file))
        self.assertEqual(done.stdout, "")
        self.assertIn("%d bytes written to %s" % (file.stat().st_size, file), done.stderr)
        lines = list(csv.DictReader(io.StringIO(file.read_text(), newline="")))
        self.assertEqual([(line["run"], line["suite"], line["sizes"], line["state"]) for line in lines],
                         [(run, "verify", sizes, state) for run, sizes in (("2", "scaled"), ("1", "course")) for state in ("warm", "cold")])
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(file.stat().st_mode & 0o777, 0o666 & ~mask)
        self.assertEqual(self.left(), ["runs.csv"])
        # Every filter of runs: each selects here what it selects there.
        for filters in (["--device", "none"], ["--driver", "580.159.04"], ["--driver", "unknown"], ["--cuda", "13.0"], ["--suite", "import"], ["--suite", "verify"],
                        ["--sizes", "other"], ["--source", "measured,imported"], ["--counters", "timed-only"], ["--outcome", "any"], ["--since", "2100-01-01"],
                        ["--until", "2100-01-01"]):
            listed = [run["id"] for run in json.loads(self.ctl("runs", "--json", *filters).stdout)["items"]]
            self.assertEqual([run["id"] for run in json.loads(self.ctl("export", *filters).stdout)["items"]], listed, filters)

    def test_a_file_is_whole_or_as_it_was(self):
        file, link = self.place / "runs.json", self.place / "link.json"
        file.write_text("before")
        link.symlink_to("runs.json")
        self.ctl("export", "--sizes", "huge", "--output", str(file), code=64)
        self.assertEqual((file.read_text(), self.left()), ("before", ["link.json", "runs.json"]))
        self.ctl("export", "--output", str(link))
        self.assertEqual(json.loads(file.read_text()), {"items": []})
        self.assertTrue(link.is_symlink())
        for name, code, part in ((str(self.place), 64, "not a regular file"), ("/dev/null", 64, "not a regular file"), ("", 64, "--output"),
                                 (str(self.place / "none" / "x"), 74, "No such file"), (str(file / "x"), 74, "Not a directory")):
            self.assertIn(part, self.ctl("export", "--output", name, code=code).stderr, name)
        self.assertIn("Only one", self.ctl("export", "--csv", "--json", code=64).stderr)
        self.ctl("export", "7", code=64)
        self.ctl("export", "--limit", "7", code=64)
        self.assertEqual(self.left(), ["link.json", "runs.json"])
        with open("/dev/full", "w") as device:
            full = subprocess.run([str(ctl_test.OPTIONS.bin / "rooflinectl"), "--url", self.url, "export"], stdout=device, stderr=subprocess.PIPE, text=True,
                                  timeout=60, env=environment())
        self.assertEqual(full.returncode, 74, full.stderr)

    def test_an_answer_that_breaks_off_leaves_nothing(self):
        hold = threading.Event()

        class Broken(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            how = "cut"

            def do_GET(self):
                if self.how == "busy":
                    body = json.dumps({"error": {"code": "too_many_exports", "message": "8 exports are being sent", "next_action": "Wait."}}).encode()
                    self.send_response(503)
                    self.send_header("Content-Length", str(len(body)))
                    self.send_header("Retry-After", "1")
                    self.end_headers()
                    self.wfile.write(body)
                    return
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.wfile.write(b"5\r\n{\"ite\r\n")
                self.wfile.flush()
                if self.how == "stuck":
                    hold.wait(60)
                self.close_connection = True

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Broken) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = ["--url", f"http://127.0.0.1:{server.server_port}"]
            file = self.place / "runs.json"
            file.write_text("before")
            for Broken.how, more, code, part in (("cut", [], 69, "in the middle of its answer"), ("stuck", ["--timeout", "1"], 69, "sent nothing for 1 s"),
                                                 ("busy", [], 75, "8 exports are being sent")):
                error = self.ctl("export", *url, *more, "--output", str(file), url=False, code=code).stderr
                self.assertIn(part, error)
                self.assertEqual((file.read_text(), self.left()), ("before", ["runs.json"]), Broken.how)
                printed = self.ctl("export", *url, *more, url=False, code=code)
                self.assertEqual(printed.stdout, "" if Broken.how == "busy" else '{"ite')
                self.assertEqual("not whole" in printed.stderr, Broken.how != "busy")
            self.assertIn("until another export has ended", error)
            Broken.how = "stuck"
            process = subprocess.Popen([str(ctl_test.OPTIONS.bin / "rooflinectl"), *url, "export", "--output", str(file)], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, env=environment())
            end = time.monotonic() + 60
            while len(self.left()) < 2 and time.monotonic() < end:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            self.assertEqual((process.returncode, file.read_text(), self.left()), (130, "before", ["runs.json"]))
            hold.set()
            server.shutdown()


class Labels(Ctl):
    def test_labels_go_through_every_command(self):
        label = "v2, \\ é"
        for given in (label, "v1", "x" * 64, None):
            self.ctl("submit", "--wait", "--kernels", "vector_add", *(["--label", given] if given else []))
        self.assertIn("64 characters", self.ctl("help", "submit").stdout)
        self.assertIn("label has 65 characters", self.ctl("submit", "--label", "x" * 65, code=64).stderr)
        for command in ("runs", "jobs", "export"):
            found = json.loads(self.ctl(command, "--label", label, *([] if command == "export" else ["--json"])).stdout)["items"]
            self.assertEqual([item["id"] for item in found], ["1"], command)
        for command in ("runs", "jobs"):
            text = self.ctl(command).stdout
            self.assertIn("LABEL", text.splitlines()[0])
            for given in (label, "v1", "x" * 64):
                self.assertRegex(text, r"(?m) %s( |$)" % re.escape(given), command)
        self.assertEqual(self.ctl("history", "--label", "v1", "--source", "any").stdout.count("\n"), 2)
        device = json.loads(self.ctl("devices", "--json").stdout)["items"][0]["id"]
        self.assertIn("replayed", self.ctl("trend", "--device", device, "--kernel", "vector_add", "--label", "v1", "--source", "any").stdout)
        answer = json.loads(self.ctl("compare", "label:v2\\, \\\\ é", "label:v1", "--source", "any", "--json").stdout)
        self.assertEqual((answer["base"]["runs"], answer["head"]["runs"]), (["1"], ["2"]))
        self.assertIn('the label "v3"', self.ctl("compare", "label:v3", "label:v1", "--source", "any", code=66).stderr)

    def test_a_run_is_withdrawn_and_taken_back(self):
        self.ctl("submit", "--wait", "--kernels", "vector_add")
        self.assertEqual(self.ctl("withdraw", "1").stdout, "not withdrawn\n")
        said = self.ctl("withdraw", "1", "--reason", "the fan\n\tstood still").stdout
        self.assertRegex(said, r"^withdrawn\n\S+Z by anonymous:\nthe fan\n\tstood still\n$")
        self.assertIn("withdrawn already", self.ctl("withdraw", "1", "--reason", "again", code=65).stderr)
        self.assertEqual(self.ctl("runs").stdout.count("\n"), 1)
        self.assertIn("withdrawn: the fan", self.ctl("runs", "--withdrawn", "true").stdout)
        self.assertEqual(len(json.loads(self.ctl("export", "--withdrawn", "any").stdout)["items"]), 1)
        self.assertIn("1 to 512", self.ctl("withdraw", "1", "--reason", "x" * 513, code=64).stderr)
        self.ctl("withdraw", "1", "--reason", "x", "--back", code=64)
        self.assertRegex(self.ctl("withdraw", "1", "--back").stdout, r"^not withdrawn\n.*, taken back \S+Z by anonymous:\n")
        self.ctl("withdraw", "1", "--back", code=65)
        self.ctl("withdraw", "99", code=66)
        self.ctl("withdraw", code=64)

    def test_an_import_keeps_its_label_and_says_that_it_is_withdrawn(self):
        words = ["import", "--timings", str(self.times()), "--device", "Tesla T4", "--date", "2026-09-01"]
        run = json.loads(self.ctl(*words, "--label", "v1", "--json").stdout)
        self.assertEqual(run["label"], "v1")
        self.assertIn('whose label is "v1"', self.ctl(*words, "--label", "v2", code=65).stderr)
        self.ctl("withdraw", run["id"], "--reason", "wrong card")
        self.assertIn("the run is withdrawn: wrong card", self.ctl(*words, "--label", "v1").stderr)

    def times(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        file = pathlib.Path(directory.name) / "times.jsonl"
        file.write_text('{"kernel": "mine", "ms": 0.25}\n')
        return file


class Predictions(Ctl):
    def test_they_are_scored_in_words(self):
        self.ctl("submit", "--wait")
        self.assertEqual(self.ctl("predictions", "1").stdout, "nothing was predicted\n")
        self.ctl("submit", "--wait", "--predict", "vector_add=above,matmul_naive=below,transpose_naive=below", "--kernels",
                 "vector_add,matmul_naive,transpose_naive")
        answer = json.loads(self.ctl("predictions", "2", "--json").stdout)
        text = self.ctl("predictions", "2").stdout
        self.assertEqual(answer["predicted"], 3)
        for item in answer["items"]:
            self.assertRegex(text, r"(?m)^%s +%s +%s +%s +[0-9.]+  %s$" % (item["kernel"], item["state"], item["said"], item["found"],
                                                                          "right" if item["right"] else "wrong"))
        self.assertIn("%d of %d right, of 3 predicted" % (answer["right"], answer["scored"]), text)
        if answer["most_wrong"]:
            self.assertIn("most wrong: " + ", ".join(answer["most_wrong"]), text)
        self.ctl("submit", "--wait", "--predict", "vector_add=above", "--kernels", "vector_add", "--no-counters")
        self.assertRegex(self.ctl("predictions", "3").stdout, r"(?m)^vector_add .* -  not scored: \w")
        self.ctl("predictions", "99", code=66)
        self.ctl("predictions", code=64)
        wrong = answer["most_wrong"]
        self.assertEqual(len(wrong), 2)
        self.assertIn("why %s was wrong:\nthe L2,\nof course\n" % wrong[0], self.ctl("predictions", "2", "--why", wrong[0] + "=the L2,\nof course").stdout)
        both = self.ctl("predictions", "2", "--why", wrong[1] + "=a=b").stdout
        self.assertIn("why %s was wrong:\na=b\n" % wrong[1], both)
        self.assertIn("the L2,\nof course\n", both)
        self.assertNotIn("of course", self.ctl("predictions", "2", "--why", wrong[0] + "=").stdout)
        self.assertIn("not among its most wrong", self.ctl("predictions", "1", "--why", "vector_add=x", code=64).stderr)
        self.ctl("predictions", "2", "--why", "x", code=64)


if __name__ == "__main__":
    ctl_test.main()
