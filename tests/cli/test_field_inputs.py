"""Files as people have them, each with the figure or the refusal that is right, by the command line and over HTTP. RL_BIN is rooflined, beside it
roofline-import. tests/data/import/field/make_files.py makes the files."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
FIELD = HERE.parent / "data" / "import" / "field"
sys.path.insert(0, str(HERE.parent / "api"))
from harness import BIN, Daemon  # noqa: E402

IMPORTER = str(pathlib.Path(BIN).with_name("roofline-import"))
FIELDS = {"device": "Some GPU", "date": "2026-01-02"}
TRIAD = "triad(double *, const double *, long)"


def state_of(row):
    return next(row[name] for name in ("cold", "warm", "mixed") if name in row)


def at(place, wanted):
    """The value at a path of a row's state, or of the row or the run, is this one (a list: has all of these)."""
    def check(test, run):
        value, *path = {"state": state_of(run["kernels"][0]), "row": run["kernels"][0], "run": run}[place.split(".")[0]], *place.split(".")[1:]
        for name in path:
            value = value[name]
        if isinstance(wanted, list):
            test.assertEqual([word for word in wanted if word not in value], [], place)
        else:
            test.assertEqual(value, wanted, place)
    return check


def dram(**bytes_of):
    """DRAM bytes of all rows, by the begin of their name."""
    def check(test, run):
        seen = {row["kernel"]: state_of(row)["bytes"]["dram"] for row in run["kernels"]}
        test.assertEqual(len(seen), len(bytes_of), seen)
        for name, value in bytes_of.items():
            test.assertEqual([seen[other] for other in seen if other.startswith(name)], [value], seen)
    return check


def note(*words):
    def check(test, run):
        for word in words:
            test.assertTrue(any(word in text for text in run["import"]["notes"]), (word, run["import"]["notes"]))
    return check


# (files, fields, what is right): a list of checks, or the error's code and words of its message
CASES = [
    # launches beside other text: used, or refused with the line
    ("glued.csv", {}, [dram(triad=7000, norm=600), at("row.import.launch_count", 2), note("2 rows of the counter file stand in one line with other text", "first in line 4")]),
    ("glued_header.csv", {}, [dram(triad=5000)]),
    ("glued_piece.csv", {}, ("import_format", "line 4", "piece of a row")),
    ("tagged.csv", {}, [dram(triad=5000), note("--tag-output")]),
    ("tagged_in_part.csv", {}, ("import_other_file", "line 1", "--tag-output")),
    ("indented.csv", {}, [dram(triad=5000)]),
    ("headless.csv", {}, ("import_other_file", "no header")),
    ("errors_beside.csv", {}, [dram(triad=5000), note("did not profile \"norm(double *)\" (line 3 of the counter file): LaunchFailed", "in line 7")]),
    # cells that hold no number
    ("odd_cells.csv", {}, [dram(triad=5000), at("state.bytes.l2", None), at("row.import.percents", []),
                           note("lts__t_sector_hit_rate.pct is \"-nan(ind)\" in line 4", "lts__t_bytes.sum is \"N/A\" in line 5", "l1tex__t_bytes.sum is \"\" in line 6")]),
    ("some_na.csv", {}, [dram(triad=6000), at("row.import.launch_count", 3), note("1 of 3 launches left out")]),
    ("all_na.csv", {}, ("import_not_counted", "line 2", "n/a", "could not count")),
    (("zeros.csv", "zeros.jsonl"), {"sizes": "course", "cache": "warm"},
     [at("run.counters.status", "counters_unreliable"), at("run.counter_backed", False), at("state.bytes.dram", None), at("state.bytes.l1", None), at("state.advice", None),
      at("state.why.advice", "the profiler counted no DRAM bytes of a kernel that asks for more than the L2 holds")]),
    # counts are whole
    ("rounded.csv", {}, [dram(triad=(32660000 + 1100000) / 2), note("\"1.1\" Mbyte in line 3, to 2 digits, +-50000", "--print-units base")]),
    ("large.csv", {}, [dram(triad=9007199254740994), note("is 9007199254740993; a record's numbers have 53 bits")]),
    ("petabyte.csv", {}, [dram(triad=1230000000000000)]),
    ("instances.csv", {}, [dram(triad=5000), note("the total was read")]),
    # rates, times, instructions
    ("rates.csv", {}, [dram(triad=189512192), at("state.flags", ["bytes_derived"]), at("state.profiled", {"time_s": 57984e-9, "sm_hz": 1500000000.5}),
                       note("dram__bytes.sum.per_second) times the duration")]),
    ("rates_alone.csv", {}, ("import_missing", "dram__bytes.sum.per_second", "gpu__time_duration.sum")),
    *[(name, {}, [at("row.flop_counted", 43500 + 14), at("row.flop_by_precision.fp32", 43500), at("row.flop_by_precision.fp64", 14),
                  at("row.flop_by_precision.fp16", 180), at("row.flop_by_precision.tensor", None)]) for name in ("smsp.csv", "sm.csv")],
    ("per_cycle.csv", {}, [at("row.flop_counted", 8 * 2001), note("good to about 1 percent")]),
    ("tensor.csv", {}, [at("row.flop_by_precision.why.tensor", "tensor instructions were executed and their operations were not counted")]),
    ("tensor_operations.csv", {}, [at("row.flop_by_precision.tensor", 137438953472)]),
    # names
    *[("names.csv", {"timing": name}, [dram(**{name: value})]) for name, value in (("count", 4000), ("shift", 500), ("apply", 60), ("fill", 7))],
    # files that are something else
    ("summary.csv", {}, ("import_other_file", "--print-summary")),
    ("source.csv", {}, ("import_other_file", "source page")),
    ("report.txt", {}, ("import_other_file", "--print-details")),
    ("busy.txt", {}, ("import_not_counted", "another profiler has the counters", "dcgmi profile --pause", "(like DCGM)")),
    ("old_driver.txt", {}, ("import_not_counted", "driver is older")),
    ("mig.txt", {}, ("import_not_counted", "MIG")),
    ("prepare.txt", {}, ("import_not_counted", "could not prepare")),
    ("nvtx.txt", {}, ("import_no_kernels", "--nvtx-include")),
]


def parts_of(files, fields):
    """[(part, name, bytes)] and the fields that are sent."""
    parts = []
    for name in (files,) if isinstance(files, str) else files:
        parts.append(("timings" if name.endswith(".jsonl") else "ncu", name, (FIELD / name).read_bytes()))
    if "timing" in fields:
        parts.append(("timings", "one.jsonl", json.dumps({"kernel": fields["timing"], "ms": 1}).encode()))
    return parts, {**FIELDS, **{name: value for name, value in fields.items() if name != "timing"}}


class FieldInputs(unittest.TestCase):
    def judge(self, right, code, message, run):
        if isinstance(right, tuple):
            self.assertEqual(code, right[0], message)
            for word in right[1:]:
                self.assertIn(word, message)
            return
        self.assertIsNone(code, message)
        for check in right:
            check(self, run)

    def test_files_are_what_their_maker_makes(self):
        spec = importlib.util.spec_from_file_location("make_files", FIELD / "make_files.py")
        maker = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(maker)
        for name, text in maker.FILES.items():
            self.assertEqual((FIELD / name).read_text(), text, name)
        used = {name for files, _, _ in CASES for name in ((files,) if isinstance(files, str) else files)}
        self.assertEqual(used, set(maker.FILES))

    def test_by_the_command_line(self):
        for files, fields, right in CASES:
            with self.subTest(files=files, fields=fields):
                parts, sent = parts_of(files, fields)
                options = []
                for part, name, data in parts:
                    path = FIELD / name
                    if not path.exists():
                        path = pathlib.Path(self.folder.name) / name
                        path.write_bytes(data)
                    options += ["--" + part, str(path)]
                for name, value in sent.items():
                    options += ["--" + name, value]
                done = subprocess.run([IMPORTER, *options, "--json"], capture_output=True, text=True, timeout=60, check=False)
                failed = not done.stdout
                self.judge(right, right[0] if failed and isinstance(right, tuple) else "refused" if failed else None, done.stderr,
                           None if failed else json.loads(done.stdout))
                self.assertNotRegex(done.stdout, r"[0-9]e\+[0-9]")

    def test_over_http(self):
        with Daemon("--open-loopback", measure="/bin/false", ready=False) as daemon:
            for files, fields, right in CASES:
                with self.subTest(files=files, fields=fields):
                    parts, sent = parts_of(files, fields)
                    body = b"".join(b'--x-y\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (name.encode(), value.encode()) for name, value in sent.items())
                    body += b"".join(b'--x-y\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\n\r\n%s\r\n' % (part.encode(), name.encode(), data)
                                     for part, name, data in parts)
                    answer = daemon.request("POST", "/api/v1/imports", body + b"--x-y--\r\n", {"Content-Type": "multipart/form-data; boundary=x-y"})
                    failed = answer.status not in (200, 201)
                    self.judge(right, answer.code if failed else None, answer.json["error"]["message"] if failed else "", None if failed else answer.json)
                    if failed:
                        self.assertEqual(answer.status, 422)
                    else:
                        path = "/api/v1/runs/" + answer.json["id"]
                        for view in ("", ".csv", "/table"):
                            self.assertNotRegex(daemon.get(path + view).body.decode(), r"[0-9]e\+[0-9]")

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)


if __name__ == "__main__":
    unittest.main()
