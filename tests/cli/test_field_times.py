"""Times as people have them, beside counters or alone, each with the figure or the refusal that is right, by the command line and over HTTP. RL_BIN is
rooflined, beside it roofline-import and rooflinectl."""
import gzip
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "import"
sys.path.insert(0, str(HERE.parent / "api"))
from harness import BIN, Daemon  # noqa: E402

IMPORTER, CTL = (str(pathlib.Path(BIN).with_name(name)) for name in ("roofline-import", "rooflinectl"))
FIELDS = {"device": "Some GPU", "date": "2026-01-02"}
SHAPE = " @ (%d, 1, 1)x(128, 1, 1)"


def state_of(row):
    return next(row[name] for name in ("cold", "warm", "mixed") if name in row)


def rows(wanted):
    """{id: (median in s, DRAM bytes)} of all rows."""
    def check(test, run):
        seen = {row["kernel"]: (state_of(row)["time_s"]["median"], state_of(row)["bytes"]["dram"]) for row in run["kernels"]}
        test.assertEqual(sorted(seen), sorted(wanted))
        for name, (time_s, dram) in wanted.items():
            test.assertAlmostEqual(seen[name][0], time_s, delta=1e-15)
            test.assertEqual(seen[name][1], dram, name)
    return check


def flags(there=(), absent=()):
    def check(test, run):
        seen = state_of(run["kernels"][0])["flags"]
        test.assertEqual((set(there) - set(seen), set(absent) & set(seen)), (set(), set()), seen)
    return check


def near(place, wanted, part=1e-9):
    def check(test, run):
        value = {"state": state_of(run["kernels"][0]), "row": run["kernels"][0], "run": run}[place.split(".")[0]]
        for name in place.split(".")[1:]:
            value = value[name]
        test.assertLessEqual(abs(value - wanted), part * abs(wanted), (place, value))
    return check


def same(place, wanted):
    def check(test, run):
        value = {"state": state_of(run["kernels"][0]), "run": run}[place.split(".")[0]]
        for name in place.split(".")[1:]:
            value = value[name]
        test.assertEqual(value, wanted, place)
    return check


def note(*words):
    def check(test, run):
        for word in words:
            test.assertTrue(any(word in text for text in run["import"]["notes"]), (word, run["import"]["notes"]))
    return check


def all_rows_of_the_step(test, run):
    """Each of the 31 kernels has the times of its launches in both steps of the trace."""
    test.assertEqual((len(run["kernels"]), run["outcome"], run["device"]["name"]), (31, "ok", "NVIDIA H200"))
    for row in run["kernels"]:
        test.assertEqual(row["mixed"]["time_s"]["n"], 2 * row["import"]["launch_count"], row["kernel"])
    test.assertEqual(sum(row["import"]["launch_count"] for row in run["kernels"]), 50)
    test.assertEqual(run["environment"]["cuda_runtime_version"], "13.0")


TWO = {"gemm" + SHAPE % 32: (3e-5, 3000), "gemm" + SHAPE % 64: (5e-5, 5000)}
SAXPY = "void saxpy<4>(float *)"
# ({part: file}, fields, what is right): a list of checks, or the error's code, its field and words of its message
CASES = [
    ({"ncu": "field/times_two_shapes.csv", "timings": "field/times_two_shapes.jsonl"}, {}, [rows(TWO)]),
    ({"ncu": "field/times_copy.csv", "timings": "field/times_ceiling.jsonl"}, {"times": "cold"},
     [near("state.percent_of_ceiling", 110), flags(["above_ceiling"]), near("state.dram_byte_per_s", 3.3e11)]),
    ({"ncu": "field/times_profiled.csv"}, {}, [rows({SAXPY: (4e-6, 6000)}), flags(["profiler_time"], ["time_disagrees"]), same("run.outcome", "ok"), same("state.time_s.n", 2),
                                               near("state.dram_byte_per_s", 1.5e9)]),
    ({"ncu": "field/times_profiled.csv", "timings": "field/times_ceilings_alone.jsonl"}, {},
     [flags(["profiler_time"]), near("state.percent_of_ceiling", 0.5)]),
    ({"ncu": "field/times_profiled.csv", "timings": "field/times_near.jsonl"}, {"times": "cold"}, [flags([], ["profiler_time", "time_disagrees"]), near("state.profiled.time_s", 4e-6)]),
    ({"ncu": "field/times_profiled.csv", "timings": "field/times_far.jsonl"}, {"times": "cold"}, [flags(["time_disagrees"]), note("more than 10 percent")]),
    ({"ncu": "field/times_profiled.csv", "timings": "field/times_nsys_sum.csv"}, {}, [same("state.time_s.median", 4.1e-6), same("state.time_s.min", 3.9e-6), same("state.time_s.n", 2)]),
    ({"timings": "field/times_array.json"}, {}, [same("state.time_s.median", 4e-6)]),
    ({"timings": "field/times_nvbench.json"}, {}, [same("state.time_s.median", 1.2e-5), same("state.time_s.n", 40), note("means")]),
    ({"ncu": "field/times_profiled.csv", "timings": "field/times_absent.jsonl"}, {"partial": "true"}, [same("run.outcome", "partial"), rows({"saxpy": (4e-6, 6000)})]),
    ({"ncu": "field/times_profiled.csv", "timings": "field/times_absent.jsonl"}, {}, ("import_missing", "ncu", "no launch of \"absent\"", "partial")),
    ({"timings": "field/times_comma.jsonl"}, {}, ("import_format", "timings", "line 1: column 26", "stands behind a comma", "0.25")),
    ({"timings": "field/times_nvbench_empty.json"}, {}, ("import_not_timings", "timings", "nvbench's JSON", "none of its states has a time")),
    ({"timings": "field/times_nsys_api.csv"}, {}, ("import_not_timings", "timings", "cuda_gpu_trace")),
    ({"ncu": "h200/torch-step-bytes.csv", "timings": "h200/torch-step.trace.json"}, {}, [all_rows_of_the_step, note("12 memory sets")]),
    ({"ncu": "h200/torch-step-bytes.csv"}, {}, [flags(["profiler_time"]), same("run.outcome", "ok"), note("SM clock of")]),
    ({"timings": "h200/torch-step.trace.json"}, {}, [same("run.outcome", "ok")]),
    # 11 seconds of one GPU by three ways of logging
    ({"ncu": "field/times_profiled.csv", "power": "h200/power-query.csv"}, {}, [near("run.power.average_w", 112.54, 1e-4), near("run.power.energy_j", 1183.9, 1e-4), same("run.power.samples", 106)]),
    ({"ncu": "field/times_profiled.csv", "power": "h200/power-nounits.csv"}, {}, [near("run.power.average_w", 113.29, 1e-4), same("run.power.interval_s", 0.2)]),
    ({"ncu": "field/times_profiled.csv", "power": "h200/power-dmon.txt"}, {}, [near("run.power.average_w", 110.5, 1e-4), same("run.power.source", "nvidia-smi dmon")]),
    ({"ncu": "field/times_profiled.csv", "power": "h200/power-query.csv"}, {"since": "2026-11-30 21:15:48", "until": "2026-11-30 21:15:52"},
     [near("run.power.energy_j", 399.4, 1e-3), same("run.power.from", "2026-11-30T21:15:48.000")]),
    ({"ncu": "field/times_profiled.csv", "power": "h200/power-query.csv"}, {"since": "2026-11-29 21:15:48"}, ("bad_field", "since", "outside the power log")),
    ({"ncu": "field/times_profiled.csv", "power": "field/times_near.jsonl"}, {}, ("import_not_power", "power", "no power log")),
]


def multipart(files, fields):
    boundary, body = "in-the-field", b""
    for kind, (name, data) in files.items():
        body += b'--%s\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\n\r\n' % (boundary.encode(), kind.encode(), name.encode()) + data + b"\r\n"
    for name, value in fields.items():
        body += b'--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (boundary.encode(), name.encode(), value.encode())
    return {"Content-Type": "multipart/form-data; boundary=" + boundary}, body + b"--%s--\r\n" % boundary.encode()


def fields_of(files, fields):
    told = any("torch" in name for name in files.values())  # its device's name is in it, and a trace's day
    return {**({"date": "2026-11-30"} if told and "timings" not in files else {} if told else FIELDS), **fields}


class CommandLine(unittest.TestCase):
    def test_cases(self):
        for files, fields, right in CASES:
            with self.subTest(files=files, fields=fields):
                options = [option for kind, name in files.items() for option in ("--" + kind, str(DATA / name))]
                for name, value in fields_of(files, fields).items():
                    options += ["--" + name] if name == "partial" else ["--" + name.replace("_", "-"), value]
                done = subprocess.run([IMPORTER, "--json", *options], capture_output=True, text=True, timeout=60, check=False)
                if isinstance(right, list):
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    for check in right:
                        check(self, json.loads(done.stdout))
                else:
                    self.assertIn(done.returncode, (64, 65), done.stderr)
                    for word in right[2:]:
                        self.assertIn(word, done.stderr)


class Http(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("--open-loopback", measure="/bin/false", ready=False)
        self.addCleanup(self.daemon.__exit__, None, None, None)

    def send(self, files, fields):
        headers, body = multipart(files, fields)
        return self.daemon.request("POST", "/api/v1/imports", body, headers)

    def test_cases(self):
        for files, fields, right in CASES:
            with self.subTest(files=files, fields=fields):
                answer = self.send({kind: (pathlib.Path(name).name, (DATA / name).read_bytes()) for kind, name in files.items()}, fields_of(files, fields))
                if isinstance(right, list):
                    self.assertIn(answer.status, (200, 201), answer.body)
                    for check in right:
                        check(self, answer.json)
                    power = answer.json.get("power")
                    text = self.daemon.get("/api/v1/runs/%s/table" % answer.json["id"]).body.decode()
                    self.assertEqual("power %.1f W on average" % power["average_w"] in text if power else "\npower " not in text, True, text[:400])
                else:
                    self.assertEqual((answer.code, answer.json["error"]["field"]), right[:2], answer.body)
                    for word in right[2:]:
                        self.assertIn(word, answer.json["error"]["message"])
                    if right[1] == "timings":
                        self.assertNotIn("dram__bytes", answer.json["error"]["next_action"])

    def test_a_compressed_trace(self):
        trace = (DATA / "h200/torch-step.trace.json").read_bytes()
        answer = self.send({"timings": ("t.json.gz", gzip.compress(trace))}, {})
        self.assertEqual((answer.status, len(answer.json["kernels"])), (201, 31), answer.body[:300])
        self.assertIn("compressed by gzip", answer.json["import"]["files"][0]["format"])
        answer = self.send({"timings": ("t.json.gz", gzip.compress(trace)[:-900])}, {})
        self.assertEqual(answer.code, "import_format", answer.body)
        answer = self.send({"timings": ("t.json.gz", gzip.compress(b" " * (140 << 20)))}, {})
        self.assertEqual(answer.code, "too_large", answer.body)

    def test_a_large_trace_holds_nobody_up(self):
        event = '{"ph":"X","cat":"kernel","name":"k%d","ts":%d,"dur":1.5,"args":{"device":0,"correlation":%d,"grid":[1,1,1],"block":[32,1,1]}}'
        events = ",\n".join(event % (i % 200, i, i) for i in range(125000))
        trace = ('{"traceEvents":[\n' + events + "\n]}").encode()
        self.assertGreater(len(trace), 14 << 20)
        self.assertLess(len(trace), 16 << 20)
        answer = self.send({"timings": ("t.json", trace)}, FIELDS)
        self.assertEqual((answer.status, len(answer.json["kernels"]), answer.json["kernels"][0]["warm"]["time_s"]["n"]), (201, 200, 625), answer.body[:300])

    def test_what_is_missing_is_told_at_once(self):
        files = {"timings": ("t", b'{"kernel":"k","ms":1}')}
        error = self.send(files, {}).json["error"]
        self.assertEqual((error["code"], error["field"]), ("bad_field", "device"))
        for word in ("device and date are not said", "driver and cuda"):
            self.assertIn(word, error["message"])

    def test_the_same_data_with_other_line_ends(self):
        text = (DATA / "field/times_profiled.csv").read_text()
        first = self.send({"ncu": ("a", text.encode())}, FIELDS)
        self.assertEqual(first.status, 201, first.body)
        crlf = text.replace("\n", "\r\n")
        for other in (crlf, crlf.rstrip(), text.rstrip("\n"), text + "\n\n", "\ufeff" + text, "\ufeff" + crlf, text.replace("\n", "\r")):
            answer = self.send({"ncu": ("b", other.encode())}, FIELDS)
            self.assertEqual((answer.status, answer.json["id"]), (200, first.json["id"]), other[:20])
            # by its record: a field that says what would have been taken
            answer = self.send({"ncu": ("b", other.encode())}, {**FIELDS, "cache": "cold"})
            self.assertEqual((answer.status, answer.json["id"]), (200, first.json["id"]), other[:20])
        self.assertNotEqual(self.send({"ncu": ("c", text.replace("6,000", "6,032").encode())}, FIELDS).json["id"], first.json["id"])
        self.assertNotEqual(self.send({"ncu": ("c", ("# " + text).replace("# ", "\n", 1).encode())}, FIELDS).json["id"], first.json["id"])

    def ctl(self, *options, path=None):
        return subprocess.run([CTL, "import", "--url", "http://127.0.0.1:%d" % self.daemon.port, *options], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "PATH": path or os.environ["PATH"]})

    def test_a_report_of_the_profiler(self):
        """A stand-in for ncu: it checks how it is called, and prints the file's rest."""
        with tempfile.TemporaryDirectory() as folder:
            report, ncu, what = pathlib.Path(folder, "a b.ncu-rep"), pathlib.Path(folder, "ncu"), ("--device", "Some GPU", "--date", "2026-01-02")
            report.write_bytes(b"NVR\0" + (DATA / "field/times_profiled.csv").read_bytes())
            ncu.write_text("#!%s\nimport sys\nassert sys.argv[1] == '--import' and sys.argv[3:6] == ['--csv', '--page', 'raw'], sys.argv\n"
                           "sys.stdout.buffer.write(open(sys.argv[2], 'rb').read()[4:])\n" % sys.executable)
            ncu.chmod(ncu.stat().st_mode | stat.S_IXUSR)
            done = self.ctl("--ncu", str(report), *what, "--json", path=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["kernels"][0]["cold"]["bytes"]["dram"], 6000)
            done = self.ctl("--ncu", str(report), "--ncu-exec", str(ncu), *what, "--json", path="/nonexistent")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = self.ctl("--ncu", str(report), *what, path="/nonexistent")
            self.assertEqual(done.returncode, 64)
            self.assertIn("ncu --import %s --csv --page raw" % report, done.stderr)
            ncu.write_text("#!/bin/sh\necho '==ERROR== cannot open' >&2\nexit 3\n")
            done = self.ctl("--ncu", str(report), *what, path=folder + ":/bin:/usr/bin")
            self.assertEqual(done.returncode, 65)
            self.assertIn("status 3): ==ERROR== cannot open", done.stderr)


if __name__ == "__main__":
    unittest.main()
