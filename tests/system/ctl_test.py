#!/usr/bin/env python3
"""rooflinectl against a real daemon that replays a recording: each command, each kind of end, and its exit status."""
import argparse
import fcntl
import http.server
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "api")]
import harness  # noqa: E402
import varied  # noqa: E402
from kill_test import Site, wait_for  # noqa: E402

OPTIONS = None


def environment(**more):
    return {**{k: v for k, v in os.environ.items() if not k.startswith(("ROOFLINE", "http_", "HTTP_"))}, **more}


class Ctl(unittest.TestCase):
    recording = "base.jsonl"

    def setUp(self):
        self.site = Site("exec", OPTIONS.bin, OPTIONS.data, self.recording)
        self.addCleanup(self.site.close)
        self.site.start()
        self.site.ready()
        self.url = f"http://127.0.0.1:{self.site.port}"

    def ctl(self, *words, code=0, url=True, **more):
        done = subprocess.run([str(OPTIONS.bin / "rooflinectl"), *(["--url", self.url] if url else []), *words], capture_output=True,
                              text=True, timeout=60, env=environment(**more), stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def hanging(self, phase="kernels"):
        self.site.close()
        self.site = Site("exec", OPTIONS.bin, OPTIONS.data, f"faults/hang_{phase}.jsonl")
        self.addCleanup(self.site.close)
        self.site.start()
        self.site.ready()
        self.url = f"http://127.0.0.1:{self.site.port}"


class Commands(Ctl):
    def test_submit_wait_prints_the_table_of_each_state(self):
        done = self.ctl("submit", "--wait", "--note", "é", "--predict", "vector_add=near,matmul_naive=below")
        self.assertEqual(len(re.findall(r"^polynomial, 256", done.stdout, re.M)), 2)
        self.assertIn("REPLAYED", done.stdout)
        self.assertEqual(done.stderr.splitlines()[0], "job 1: queued")
        self.assertNotIn("\r", done.stderr)
        job = json.loads(self.ctl("jobs", "--json").stdout)["items"][0]
        self.assertEqual((job["note"], job["predictions"]), ("é", {"vector_add": "near", "matmul_naive": "below"}))

    def test_submit_sends_what_the_options_say(self):
        done = self.ctl("submit", "--wait", "--json", "--sizes=scaled", "--cache", "cold", "--kernels", "vector_add,polynomial256",
                        "--no-counters", "--on-interrupt", "retry", "--device", "GPU-00000000-0000-0000-0000-000000000001")
        job = json.loads(done.stdout)
        self.assertEqual((job["sizes"], job["cache"], job["kernels"], job["counters"], job["on_interrupt"], job["state"]),
                         ("scaled", ["cold"], ["vector_add", "polynomial256"], False, "retry", "done"))

    def test_submit_without_wait_and_the_same_key_twice(self):
        first = self.ctl("submit", "--idempotency-key", "k 1").stdout
        self.assertEqual(first.split()[:2], ["job", "1"])
        self.assertEqual(self.ctl("submit", "--idempotency-key", "k 1").stdout.split()[1], "1")
        self.ctl("submit", "--idempotency-key", "k 1", "--sizes", "scaled", code=65)
        self.ctl("submit", "--idempotency-key", "a\nb", code=64)

    def test_lists_and_shows(self):
        self.ctl("submit", "--wait", "--cache", "cold")
        self.ctl("submit", "--wait", "--cache", "warm")
        self.assertEqual(len(self.ctl("jobs").stdout.splitlines()), 3)
        limited = self.ctl("jobs", "--limit", "1", "--state", "done")
        self.assertEqual(len(limited.stdout.splitlines()), 2)
        self.assertIn("older", limited.stderr)
        runs = self.ctl("runs", "--source", "replayed", "--driver", "580.159.04").stdout.splitlines()
        self.assertEqual(len(runs), 3)
        self.assertIn("counter-backed", runs[1])
        self.assertEqual(len(self.ctl("runs", "--source", "measured").stdout.splitlines()), 1)
        self.assertEqual(len(re.findall("cold cache", self.ctl("show", "1").stdout)), 1)
        self.assertNotIn("warm cache", self.ctl("show", "1").stdout)
        self.assertIn("warm cache", self.ctl("show", "2", "--table").stdout)
        self.assertEqual(json.loads(self.ctl("show", "2", "--json").stdout)["id"], "2")
        self.assertTrue(self.ctl("show", "2", "--csv").stdout.startswith("source,"))
        self.assertIn("exited with status 0", self.ctl("transcript", "1").stdout)
        self.assertRegex(self.ctl("devices").stdout, r"(?m) ok$")
        self.assertEqual(self.ctl("devices").stdout.split()[:4], ["DEVICE", "NAME", "DRIVER", "COUNTERS"])
        self.assertIn(" 580.159.04 ", self.ctl("devices").stdout)
        self.assertTrue(json.loads(self.ctl("devices", "--json").stdout)["items"])
        self.assertEqual(self.ctl("ready").stdout.splitlines()[-1], "ready")
        self.assertTrue(json.loads(self.ctl("ready", "--json").stdout)["ready"])

    def test_notes(self):
        self.ctl("submit", "--wait", "--note", "first")
        self.assertIn("first", self.ctl("note", "1").stdout)
        self.assertIn("U+001B", self.ctl("note", "1", "--text", "é\x1b[31m", code=64).stderr)
        done = self.ctl("note", "1", "--text", "é", "--accept", "vector_add:warm,dram_copy:cold")
        self.assertIn("accepted: vector_add warm\n", done.stdout)
        self.assertIn("\né\n", done.stdout)
        note = json.loads(self.ctl("note", "1", "--json").stdout)
        self.assertEqual((note["version"], note["text"], len(note["accepted"])), (2, "é", 2))
        long = "x" * 4000 + "end"
        self.assertIn(long, self.ctl("note", "1", "--text", long).stdout)
        self.ctl("note", "1", "--text", "x" * 4097, code=64)

    def test_import(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        record, files = str(root / "deploy/records/t4.json"), root / "tests/data/import"
        first = self.ctl("import", "--record", record, "--date", "2026-09-01").stdout
        run = re.search(r"^run (\d+): ok, imported$", first, re.M).group(1)
        self.assertIn("IMPORTED from uploaded files", first)
        self.assertRegex(first, r"vector add, stride 32\s.*21\.5566")
        self.assertIn(f"run {run}: ok, which was there before", self.ctl("import", "--record", record, "--date", "2026-09-01").stdout)
        # the record's other entry, and the matrix of both
        self.assertIn("2026-09-01, 2026-09-02", self.ctl("import", "--record", record, code=64).stderr)
        self.assertIn("driver 580.173.02, CUDA 13.0", self.ctl("import", "--record", record, "--date", "2026-09-02").stdout)
        self.assertRegex(self.ctl("devices").stdout, r"(?m)^tesla-t4 +Tesla T4 +imported; never probed here$")
        matrix = self.ctl("history", "--since", "2026-09-01", "--until", "2026-09-03").stdout
        self.assertEqual([line.split()[:5] for line in matrix.splitlines()[1:3]],
                         [["2026-09-01", "595.84", "12.6", "1", "0"], ["2026-09-02", "580.173.02", "13.0", "0", "1"]])
        self.assertEqual([line.split()[5] for line in matrix.splitlines()[1:3]], ["imported", "imported"])
        where = self.ctl("trend", "--device", "tesla-t4", "--kernel", "vector_add", "--since", "2026-09-01", "--until", "2026-09-03").stderr
        self.assertIn("; there are points with --state mixed\n", where)
        what = ["--device", "Tesla T4", "--driver", "560.35.03", "--cuda", "12.6", "--date", "2026-09-01"]
        both = ["--ncu", str(files / "h200/raw-cold.csv"), "--timings", str(files / "h200/timings.jsonl")]
        made = json.loads(self.ctl("import", *both, "--json").stdout)
        self.assertEqual((made["source"], made["outcome"], len(made["import"]["files"])), ("imported", "ok", 2))
        partial = self.ctl("import", "--ncu", str(files / "long_launches.csv"), *what, code=1)
        self.assertIn("mean of 3 launches", partial.stdout)
        self.assertIn("rooflinectl: the run is partial: kernels have no times", partial.stderr)
        self.assertIn("nvprof.csv: is an nvprof file", self.ctl("import", "--ncu", str(files / "nvprof.csv"), *what, code=65).stderr)
        self.assertIn("sudo ncu", self.ctl("import", "--ncu", str(files / "permission.txt"), *what, code=77).stderr)
        self.assertIn("future", self.ctl("import", "--ncu", str(files / "long.csv"), "--device", "a", "--date", "2099-01-01", code=64).stderr)
        self.assertIn("/nonexistent cannot be read", self.ctl("import", "--ncu", "/nonexistent", code=74).stderr)
        self.ctl("import", code=64)
        self.ctl("import", "--ncu", "a", "--limit", "1", code=64)

    def test_replayed_runs_are_no_history_unless_asked_for(self):
        self.ctl("submit", "--wait")
        self.ctl("submit", "--wait", "--no-counters")
        self.assertEqual(len(self.ctl("history").stdout.splitlines()), 1)
        lines = self.ctl("history", "--source", "replayed").stdout.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[1], r"^\d{4}-\d\d-\d\d +580\.159\.04 +13\.0 +1 +1  replayed +Synthetic")
        device = json.loads(self.ctl("devices", "--json").stdout)["items"][0]["id"]
        trend = ("trend", "--device", device, "--kernel", "vector_add")
        self.assertEqual(len(self.ctl(*trend).stdout.splitlines()), 2)
        cold = self.ctl(*trend, "--source", "any", "--state", "cold").stdout.splitlines()
        self.assertEqual((len(cold), cold[1].split()[-1], cold[2].split()[-1]), (3, "SOURCE", "replayed"))
        self.assertIn("\nsource: base replayed, head replayed\n", self.ctl("compare", "run:1", "run:2").stdout)
        self.assertEqual(json.loads(self.ctl(*trend, "--json", "--metric", "dram_bytes").stdout)["points"], [])
        self.assertIn('no device "x" is known (See what there is with: rooflinectl devices.)', self.ctl("trend", "--device", "x", "--kernel", "vector_add", code=66).stderr)
        self.assertIn("there are points with --state warm --source any, --state cold --source any\n", self.ctl(*trend).stderr)
        self.assertRegex(self.ctl(*trend, "--until", "2020-01-01").stderr,
                         r"not among these: 2 runs are replayed, of other days than those asked for: ask with source=replayed&since=\S+&until=\S+\n")
        self.assertIn("No run of driver 1 counts: there is none, of any suite, sizes or source.\n",
                      self.ctl("compare", "driver:1", "driver:2", "--device", device).stdout)

    def test_other_work_is_no_regression(self):
        for driver, month, size in (("1.0", 3, 1), ("2.0", 4, 2)):
            for day in range(1, 9):
                with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
                    file.write('{"kernel": "copy_a", "ms": %s, "ask_bytes": %d}\n' % (size + day / 1000, size * 1000000000))
                    file.flush()
                    self.ctl("import", "--timings", file.name, "--device", "Two sizes", "--driver", driver, "--cuda", "13.0", "--date", "2026-%02d-%02d" % (month, day))
        sides = ("compare", "driver:1.0", "driver:2.0", "--device", "two-sizes")
        where = ("--suite", "import", "--sizes", "other")
        said = self.ctl(*sides, *where, "--fail-on", "slower", code=2).stdout
        self.assertIn("Time of copy_a warm is not comparable (1.004 ms in base, 2.004 ms in head). It is other work: a launch asks for 1000000000 bytes in base and 2000000000 bytes in head.", said)
        self.assertRegex(said, r"(?m)^copy_a +warm +not_comparable +- ")
        self.assertNotIn("+99", said)
        said = self.ctl(*sides, "--fail-on", "slower", code=2).stdout
        self.assertIn("No run of driver 1.0 counts: 8 runs are of suite import, of sizes other: ask with suite=import&sizes=other.\n", said)
        trend = self.ctl("trend", "--device", "two-sizes", "--kernel", "copy_a", *where).stdout.splitlines()
        self.assertEqual([at for at, line in enumerate(trend) if line.startswith("series ")], [2, 11])
        self.assertEqual(trend[11], "series 2: Other work than series 1, and not held against it: asked bytes 2000000000 instead of 1000000000.")
        self.assertNotIn("outside", "\n".join(trend))
        self.assertIn("not among these: 16 runs are of suite import, of sizes other: ask with suite=import&sizes=other\n",
                      self.ctl("trend", "--device", "two-sizes", "--kernel", "copy_a").stderr)
        self.assertIn("not among these: 16 runs are of other days", self.ctl("history", "--device", "two-sizes", "--since", "2026-06-01").stderr)

    def test_errors_say_what_and_what_next(self):
        for words, code, part in (
                (["submit", "--sizes", "huge"], 64, 'sizes is "huge"'),
                (["submit", "--suite", "frob"], 64, "can submit: verify"), (["submit", "--suite", "import"], 64, "no job measures it"),
                (["submit", "--suite", "frob", "--help"], 64, '"frob" is not a suite'), (["jobs", "--cache", "warm"], 64, "no option --cache"),
                (["submit", "--cache", "hot"], 64, "--cache: cache[0]"), (["cancel", "1", "--json"], 64, "cancel has no option --json"),
                (["submit", "--kernels", "vector_add", "--predict", "matmul_naive=near"], 64, "kernels leaves out"),
                (["submit", "--kernels", "a,,b"], 64, "empty part"),
                (["submit", "--kernels", "saxpy"], 64, "kernels[0]"),
                (["submit", "--predict", "vector_add"], 64, "--predict"),
                (["submit", "--device", "GPU-x"], 64, "GPU-00000000-0000-0000-0000-000000000001"),
                (["show", "9"], 66, "no run 9"), (["show", "x"], 64, "ids are digits"), (["show"], 64, "id"),
                (["show", "1", "--json", "--csv"], 64, "Only one"), (["cancel", "9"], 66, "no job 9"),
                (["jobs", "--wait"], 64, "no option --wait"), (["jobs", "1"], 64, "no argument"), (["frob"], 64, "frob"),
                (["jobs", "--limit", "0"], 64, "limit"), (["jobs", "--frob"], 64, "--frob"), (["jobs", "-x"], 64, "-x"),
                (["runs", "--since", "yesterday"], 64, "since"),
                (["compare", "run:1"], 64, "two sides"), (["compare", "run:1", "run:2", "run:3"], 64, "one word too many"), (["compare", "run:1", "run:2"], 66, "no run 1"), (["compare", "run:1", "run:2", "--kernel", "a\\,b"], 66, "no run has a kernel 'a,b'"),
                (["compare", "run:1", "new"], 64, "head"), (["compare", "run:1", "run:2", "--fail-on", "faster"], 64, "faster"), (["show", "1", "2"], 64, "one word too many"),
                (["trend", "--device", "x"], 64, "--kernel"), (["trend", "--device", "x", "--kernel", "y"], 66, '"y"'), (["note", "9"], 66, "no run 9"),
                (["trend", "--device", "x", "--kernel", "y"], 66, "rooflinectl show RUN"),
                (["help", "frob"], 64, '"frob" is not a command'), (["help", "submit", "jobs"], 64, "one word too many"),
                (["note", "1", "--accept", "a:warm"], 64, "--text"), (["note", "1", "--text", "t", "--accept", "a"], 64, "KERNEL:STATE"),
                (["note", "9", "--text", "t"], 66, "no run 9"), (["history", "--since", "x"], 64, "since"), (["jobs", "--fail-on", "slower"], 64, "no option"), (["jobs", "--state"], 64, "needs a value"), ([], 64, "command")):
            done = self.ctl(*words, code=code)
            self.assertIn(part, done.stderr, words)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_the_help_of_a_command_lists_exactly_its_options(self):
        """Each option of any command is tried on each: a command takes those that its help lists, and no other."""
        listed = lambda text: dict(re.findall(r"(?m)^  --([a-z-]+)( [A-Z][A-Z=]*)? ", text))
        everything = self.ctl("--help", url=False).stdout
        names = re.findall(r"(?m)^  ([a-z]+) ", everything.split("Commands:")[1].split("\n\n")[0])
        of = {name: listed(self.ctl(name, "--help", url=False).stdout) for name in names if name != "help"}
        self.assertEqual(len(of), 16)
        self.assertEqual(listed(everything).keys(), set().union(*of.values()))
        for command, options in of.items():
            for option, value in listed(everything).items():
                if option in ("help", "version"):
                    continue
                # never sent: the address is none, and a --url that is tried is the last, which is that of ftp
                words = [command, f"--{option}", *(["1"] if value else []), "--url", "ftp://x"]
                done = subprocess.run([str(OPTIONS.bin / "rooflinectl"), *words], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 64, words)
                self.assertEqual(option not in options, f"no option --{option}" in done.stderr, (words, done.stderr))

    def test_help_and_version(self):
        self.assertIn("Exit status", self.ctl("--help", url=False).stdout)
        self.assertTrue(self.ctl("--version", url=False).stdout.startswith("rooflinectl "))
        of_submit = self.ctl("help", "submit", url=False).stdout
        self.assertEqual(of_submit, self.ctl("submit", "--help", url=False).stdout)
        self.assertIn("Options of submit:", of_submit)
        self.assertIn("--url", of_submit)
        self.assertNotIn("--accept", of_submit)
        self.assertEqual(self.ctl("help", url=False).stdout, self.ctl("--help", url=False).stdout)
        everything = self.ctl("--help", url=False).stdout
        self.assertRegex(everything, r"(?m)^  help COMMAND ")
        # every status that the table of errors in server/API.md gives is told, and each command's own lines alone
        table = (pathlib.Path(__file__).resolve().parents[2] / "server/API.md").read_text().split("<!-- errors: begin -->")[1]
        statuses = everything.split("Exit status:")[1]
        for status in set(re.findall(r"^\| `\w+` \| \d+ \| (\d+) \|", table, re.M)):
            self.assertRegex(statuses, rf"\b{status} ")
        self.assertTrue(of_submit.startswith("Usage: rooflinectl submit [OPTION]…\n"))
        self.assertRegex(of_submit, r"--sizes SIZES +course \(default\) or scaled\. ")
        self.assertTrue(self.ctl("help", "compare", url=False).stdout.startswith("Usage: rooflinectl compare BASE HEAD [OPTION]…\n"))
        self.assertRegex(self.ctl("help", "show", url=False).stdout, r"--state STATE +warm, cold or mixed \(default: all there are\)\n")
        self.assertNotIn("--json", self.ctl("help", "cancel", url=False).stdout)
        for command, default in (("export", "any"), ("trend", "measured and imported")):
            self.assertRegex(self.ctl("help", command, url=False).stdout, rf"--source SOURCE .*\(default: {default}\)\n")
        # a suite's options are made from its parameters
        self.assertEqual(of_submit, self.ctl("submit", "--suite", "verify", "--help", url=False).stdout)
        for option in ("sizes SIZES", "cache LIST", "kernels LIST", "no-counters", "predict LIST"):
            self.assertRegex(of_submit.split("--suite verify (Verification)")[1], rf"(?m)^  --{option} +\S")
        for command in ("runs", "export", "trend", "compare"):
            self.assertRegex(self.ctl(command, "--help", url=False).stdout, r"--suite SUITE +verify or import")
        # what it shows as an example can be sent
        example = re.search(r"--predict .*, as (\S+)", of_submit).group(1)
        self.assertEqual(len(json.loads(self.ctl("submit", "--json", "--predict", example).stdout)["predictions"]), 2)
        for option in ("--help", "--version"):
            with open("/dev/full", "w") as full:
                done = subprocess.run([str(OPTIONS.bin / "rooflinectl"), option], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(done.returncode, 74)
            self.assertIn("could not be written", done.stderr)

    def test_the_address_from_the_environment_and_a_proxy_that_is_not_used(self):
        self.ctl("ready", url=False, ROOFLINED_URL=self.url + "/", http_proxy="http://127.0.0.1:1")

    def test_unreachable_is_69(self):
        done = self.ctl("jobs", "--url", "http://127.0.0.1:1", url=False, code=69)
        self.assertIn("http://127.0.0.1:1", done.stderr)
        self.assertIn("at /nonexistent: No such file or directory.", self.ctl("jobs", "--unix", "/nonexistent", url=False, code=69).stderr)
        self.assertNotIn("localhost", self.ctl("jobs", "--unix", tempfile.gettempdir(), url=False, code=69).stderr)
        self.ctl("jobs", "--url", "ftp://127.0.0.1", url=False, code=64)
        self.ctl("jobs", "--token-file", "/nonexistent", code=74)

    def test_an_address_that_cannot_be_one_is_64_and_not_quoted(self):
        for url in ("", "http://", "http://127.0.0.1:99999", "http://127.0.0.1:0", "http://u:secret@127.0.0.1", "http://u:secret@127.0.0.1:x",
                    "http://u:secret@127.0.0.1:99999", "http://127.0.0.1/?a=secret"):
            error = self.ctl("jobs", f"--url={url}", url=False, code=64).stderr
            self.assertNotIn("secret", error)
            self.assertIn("--url is not an address", error)
            self.assertEqual(error.count("\n"), 1)
        self.assertNotIn("secret", self.ctl("jobs", url=False, code=64, ROOFLINED_URL="http://u:secret@127.0.0.1").stderr)
        self.ctl("jobs", "--unix=", url=False, code=64)
        for timeout in ("0", "x", "86401"):
            self.ctl("jobs", "--timeout", timeout, code=64)

    def test_a_stopped_daemon_is_told_as_that(self):
        self.site.daemon.send_signal(signal.SIGSTOP)
        self.addCleanup(self.site.daemon.send_signal, signal.SIGCONT)
        self.assertIn("did not answer within 1 s (--timeout)", self.ctl("jobs", "--timeout", "1", code=69).stderr)

    def test_what_to_do_is_told_in_words_of_this_program(self):
        token = pathlib.Path(tempfile.mkdtemp(), "token")
        self.addCleanup(lambda: (token.unlink(), token.parent.rmdir()))
        token.write_text("nobody-knows-it\n")
        for words, code, part in ((["show", "9"], 66, "rooflinectl runs"), (["cancel", "9"], 66, "rooflinectl jobs"),
                                  (["jobs", "--token-file", str(token)], 77, "--token-file FILE"), (["jobs", "--limit", "0"], 64, "--help"),
                                  (["jobs", "--url", "http://127.0.0.1:1"], 69, "--unix")):
            error = self.ctl(*words, code=code).stderr
            self.assertIn(part, error)
            self.assertNotIn("openapi.json", error)
            self.assertNotIn("Authorization:", error)

    def test_a_filter_that_does_not_fit_is_not_left_out(self):
        for words in (["jobs", "--state"], ["jobs", "--json", "--state"], ["show", "1", "--state"], ["runs", "--device"]):
            self.assertIn("too long", self.ctl(*words, "x" * 9000, code=64).stderr)

    def test_another_server_is_no_rooflined(self):
        class Other(http.server.BaseHTTPRequestHandler):
            status, body = 404, b"no"

            def do_GET(self):
                self.send_response(self.status)
                self.end_headers()
                self.wfile.write(self.body)

            do_POST = do_DELETE = do_GET

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            for Other.status, Other.body, part in ((404, b"no", "404"), (200, b"hello", "is it rooflined?"), (200, b"[]", "is it rooflined?")):
                for words in (["jobs"], ["ready"], ["ready", "--json"], ["submit"], ["cancel", "1"]):
                    done = self.ctl(*words, "--url", f"http://127.0.0.1:{server.server_port}", url=False, code=69)
                    self.assertIn(part, done.stderr, words)
                    self.assertEqual(done.stdout, "", words)
            Other.body = b"{}"
            self.ctl("ready", "--url", f"http://127.0.0.1:{server.server_port}", url=False, code=69)
            server.shutdown()


class Compare(unittest.TestCase):
    """Exit codes of compare over runs whose times are known."""

    def ctl(self, *words, code=0):
        done = subprocess.run([str(OPTIONS.bin / "rooflinectl"), "--url", f"http://127.0.0.1:{self.site.daemon.port}", "compare", *words],
                              capture_output=True, text=True, timeout=60, env=environment(), stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_exit_codes(self):
        harness.BIN = str(OPTIONS.bin / "rooflined")
        self.site = varied.Varied()
        self.addCleanup(self.site.close)
        times = [1e-3 * (1 + 0.0003 * step) for step in (0, 3, 1, 4, 2, 5, 1.5, 3.5)]
        first = self.site.run(times[0], "580.1")
        one = f"run:{first}"
        self.ctl(one, f"run:{self.site.run(times[1], '580.1')}", "--fail-on", "slower", code=2)
        self.site.runs(times[2:], "580.1")
        self.site.runs([1.05 * time for time in times], "590.2")
        old, new = ("driver:580.1", "driver:590.2"), ("driver:590.2", "driver:580.1")
        device = ("--device", varied.DEVICE)
        text = self.ctl(*old, *device, "--fail-on", "slower", code=1)
        self.assertIn("The machine as a whole is slower", text)
        self.assertRegex(text, r"vector_add +warm +slower +\+5\.00 %  same +\+0\.00 %  machine")
        self.assertIn("dram_copy", text)
        self.assertIn("\nCAUSE, of a changed time: ", text)
        self.ctl(*old, *device)
        self.ctl(*new, *device, "--fail-on", "slower")
        self.assertEqual(json.loads(self.ctl(*old, *device, "--fail-on", "slower", "--json", code=1))["outcome"], "slower")
        self.ctl("driver:1", "driver:580.1", *device, "--fail-on", "slower", code=2)
        self.ctl(one, "run:999", "--fail-on", "slower", code=66)


class Ends(Ctl):
    def test_a_refused_run_is_1(self):
        self.site.close()
        self.site = Site("exec", OPTIONS.bin, OPTIONS.data, "faults/wrong_result.jsonl")
        self.addCleanup(self.site.close)
        self.site.start()
        self.site.ready()
        self.url = f"http://127.0.0.1:{self.site.port}"
        done = self.ctl("submit", "--wait", code=1)
        self.assertIn("refused", done.stderr)
        self.assertIn("run 1, refused", self.ctl("jobs").stdout)

    def test_a_failed_job_gives_its_errors_code(self):
        self.site.close()
        self.site = Site("exec", OPTIONS.bin, OPTIONS.data, "faults/crash.jsonl")
        self.addCleanup(self.site.close)
        self.site.start()
        self.site.ready()
        self.url = f"http://127.0.0.1:{self.site.port}"
        done = self.ctl("submit", "--wait", code=70)
        self.assertIn("signal 11", done.stderr)

    def test_a_node_without_driver_is_not_ready(self):
        self.site.close()
        self.site = Site("exec", OPTIONS.bin, OPTIONS.data, "faults/no_driver.jsonl")
        self.addCleanup(self.site.close)
        self.site.start()
        self.url = f"http://127.0.0.1:{self.site.port}"
        wait_for(lambda: "no NVIDIA driver" in self.ctl("ready", code=69).stderr, "the reason")
        self.assertFalse(json.loads(self.ctl("ready", "--json", code=69).stdout)["ready"])
        self.ctl("submit", code=69)

    def test_cancelling(self):
        self.hanging()
        self.ctl("submit")
        self.ctl("submit")
        wait_for(lambda: self.site.job("1")["state"] == "running", "job 1 runs")
        self.assertIn("cancelled", self.ctl("cancel", "2").stdout)
        self.assertIn("once its measuring process is gone", self.ctl("cancel", "1").stdout)
        self.assertEqual(self.site.wait_ended("1")["state"], "cancelled")
        self.ctl("cancel", "1", code=65)

    def test_waiting_for_a_cancelled_job(self):
        self.hanging()
        waiting = subprocess.Popen([str(OPTIONS.bin / "rooflinectl"), "--url", self.url, "submit", "--wait"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment())
        seen = ""
        while "job 1: kernels\n" not in seen:
            line = waiting.stderr.readline()
            self.assertTrue(line, seen)
            seen += line
        self.ctl("cancel", "1")
        _, errors = waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 75, errors)
        self.assertIn("cancelled", errors)

    def test_ctrl_c_leaves_the_job_and_says_how_to_cancel_it(self):
        self.hanging()
        waiting = subprocess.Popen([str(OPTIONS.bin / "rooflinectl"), "--url", self.url, "submit", "--wait"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment())
        wait_for(lambda: self.site.request("GET", "/api/v1/jobs?state=running")[1]["items"], "it runs")
        time.sleep(0.3)  # until it waits and no longer starts
        waiting.send_signal(signal.SIGINT)
        _, errors = waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 130, errors)
        self.assertIn("rooflinectl cancel 1", errors)
        self.assertEqual(self.site.job("1")["state"], "running")

    def test_a_daemon_that_comes_back_is_waited_for(self):
        self.site.close()
        self.site = Site("exec", OPTIONS.bin, OPTIONS.data, "faults/slow.jsonl")
        self.addCleanup(self.site.close)
        self.site.start()
        self.site.ready()
        self.url = f"http://127.0.0.1:{self.site.port}"
        waiting = subprocess.Popen([str(OPTIONS.bin / "rooflinectl"), "--url", self.url, "submit", "--wait"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment())
        wait_for(lambda: self.site.request("GET", "/api/v1/jobs?state=running")[1]["items"], "it runs")
        self.site.kill_daemon()
        self.site.start(listen=f"127.0.0.1:{self.site.port}")
        _, errors = waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 75, errors)  # interrupted
        self.assertIn("interrupted", errors)


class Terminal(Ctl):
    def on_terminal(self, columns):
        """Everything that submit --wait writes to a terminal of that width."""
        self.site.close()
        self.site = Site("exec", OPTIONS.bin, OPTIONS.data, "faults/slow.jsonl")
        self.addCleanup(self.site.close)
        self.site.start()
        self.site.ready()
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([str(OPTIONS.bin / "rooflinectl"), "--url", f"http://127.0.0.1:{self.site.port}", "submit", "--wait",
                                    "--cache", "warm"], stdout=subprocess.PIPE, stderr=slave, env=environment())
        os.close(slave)
        seen = b""
        while True:
            if not select.select([master], [], [], 60)[0]:
                break
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            seen += data
        os.close(master)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        return seen.decode()

    def test_progress_is_one_line_no_wider_than_the_terminal(self):
        for columns in (30, 80, 200):
            seen = self.on_terminal(columns)
            frames = [frame for frame in seen.split("\r\033[K") if frame]
            self.assertTrue(any("kernels" in frame for frame in frames), seen)
            self.assertNotIn("\n", seen)
            self.assertLess(max(len(frame) for frame in frames), columns)
            self.assertTrue(seen.endswith("\r\033[K"))
            if columns >= 80:
                self.assertTrue(any(re.match(r"\[#+\.*\] \d+/\d+ kernels: ", frame) for frame in frames), frames)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.bin, OPTIONS.data = OPTIONS.bin.resolve(), OPTIONS.data.resolve()
    os.chdir(tempfile.gettempdir())
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
