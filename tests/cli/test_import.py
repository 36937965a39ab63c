"""roofline-import by hand and as the daemon runs it. Usage: test_import.py PROGRAM FILES RECORD RECORDING SHIPPED, FILES being
tests/data/import, SHIPPED a recording of an H200."""
import importlib.util
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from measurelib import KERNELS, clean_environment

PROGRAM, FILES, RECORD, RECORDING, SHIPPED = sys.argv[1:6]
ADD = 134225920 + 67108864
DEVICE = ("--device", "Some GPU", "--date", "2026-01-02")
# file: DRAM bytes of its rows
ACCEPTED = {
    "long.csv": [ADD, 1024], "long_windows.csv": [ADD], "long_utf16.csv": [ADD], "long_german.csv": [ADD], "long_french.csv": [ADD],
    "long_swiss.csv": [ADD], "long_plain.csv": [ADD], "long_units.csv": [134230000 + 67108860], "long_blackwell.csv": [ADD],
    "long_fbpa.csv": [ADD], "long_launches.csv": [140], "long_2019.csv": [201334784], "raw_units.csv": [2000000000],
}
# file: exit status, words
REFUSED = {
    "doubtful.csv": (65, "line 2", "134.225 or 134225"), "both_separators.csv": (65, "67.108.864", "134,225,920"), "furlong.csv": (65, "line 2", "furlong"),
    "half.csv": (65, "vector_add", "line 3", "could not count"), "percent_only.csv": (65, "no DRAM row"), "disagrees.csv": (65, "line 4", "line 2"),
    "two_devices.csv": (65, "line 3", "one GPU"), "lost_quotes.csv": (65, "line 2", "quotes are lost"), "cut.csv": (65, "line 3", "cut"),
    "permission.txt": (77, "sudo ncu"), "no_kernels.txt": (65, "No kernels were profiled"), "application_error.txt": (65, "error code (1)"),
    "children.txt": (65, "nvidia-smi"), "session.csv": (65, "session page"), "range.csv": (65, "app-range"), "nvprof.csv": (65, "nvprof"),
    "rocprof.csv": (65, "rocprof"), "nsys.csv": (65, "Nsight Systems"), "derived.csv": (65, "no export"),
}


def path(name):
    return os.path.join(FILES, name)


def call(*options, environment=None):
    done = subprocess.run([PROGRAM, *options], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, env=environment or clean_environment())
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class ByHand(unittest.TestCase):
    def one_line(self, status, *options, words=()):
        got, out, err = call(*options)
        self.assertEqual((got, out), (status, ""), err)
        self.assertTrue(err.startswith("roofline-import: ") and err.endswith(")\n"), err)
        self.assertEqual(err.count("\n"), 1, err)
        for word in words:
            self.assertIn(word, err)

    def test_files_are_what_their_maker_makes(self):
        spec = importlib.util.spec_from_file_location("make_files", path("make_files.py"))
        maker = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(maker)
        for name, text in maker.FILES.items():
            with open(path(name), "rb") as file:
                self.assertEqual(file.read(), text if isinstance(text, bytes) else text.encode(), name)
        known = set(ACCEPTED) | set(REFUSED) | {"raw.csv", "timings.jsonl", "timings_two.jsonl", "timings_zero.jsonl"}
        self.assertEqual(set(maker.FILES), known)

    def test_accepted(self):
        for name, expected in ACCEPTED.items():
            with self.subTest(name=name):
                status, out, err = call("--ncu", path(name), *DEVICE, "--json")
                timed = name == "raw_units.csv"  # it has the profiler's durations; the others are partial: there are no times
                self.assertEqual(status, 0 if timed else 1, err)
                run = json.loads(out)
                self.assertEqual([row["cold"]["bytes"]["dram"] for row in run["kernels"]], expected)
                self.assertEqual((run["source"], run["outcome"], run["counter_backed"]), ("imported", "ok" if timed else "partial", True))
                self.assertEqual(run["device"]["id"], "some-gpu")
                self.assertIsNone(run["device"]["uuid"])

    def test_refused(self):
        for name, (status, *words) in REFUSED.items():
            with self.subTest(name=name):
                self.one_line(status, "--ncu", path(name), *DEVICE, words=words)

    def test_raw_page(self):
        status, out, err = call("--ncu", path("raw.csv"), "--date", "2026-01-02", "--sizes", "scaled", "--json")
        self.assertEqual(status, 0, err)
        run = json.loads(out)
        self.assertEqual((run["device"]["name"], run["device"]["l2_bytes"]), ("NVIDIA H200", 62914560))
        add, mul = run["kernels"]
        self.assertIn("profiler_time", add["cold"]["flags"])
        self.assertEqual((add["kernel"], add["cold"]["bytes"]["l2"]), ("vector_add", 305768064))
        self.assertGreater(add["ask_bytes"], 201326592)  # scaled to the L2 that the file tells
        self.assertIsNone(mul["cold"]["bytes"]["l1"])  # n/a is missing
        self.assertEqual(mul["cold"]["bytes"]["l2"], 0)  # and 0 is not
        self.assertEqual(mul["kernel"], "void ns::mul<4, (bool)1>(T1 *, \"s\", {lambda(int)#1})")

    def test_merge(self):
        status, out, err = call("--timings", path("timings.jsonl"), "--ncu", path("long.csv"), "--table", "--sizes", "course", *DEVICE)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("\nvector add                201.3        -        -    201.3   1.0000  100.7\n", out)
        self.assertIn("\n* vector add: percent_over_100\n", out)
        self.assertIn("mixed cache", out)
        # the words of the issue: no device, no date, and a kernel without its DRAM row
        status, out, err = call("--timings", path("timings.jsonl"), "--ncu", path("long.csv"), "--table")
        self.assertEqual((status, err), (0, ""))
        self.one_line(65, "--timings", path("timings_two.jsonl"), "--ncu", path("long.csv"), "--table", words=["absent"])
        self.one_line(65, "--timings", path("timings.jsonl"), "--ncu", path("percent_only.csv"), "--table", words=["no DRAM row"])
        self.one_line(65, "--timings", path("timings_zero.jsonl"), "--ncu", path("long.csv"), words=["timings_zero.jsonl, line 1, \"ms\""])
        status, out, _ = call("--timings", path("timings.jsonl"), *DEVICE)
        self.assertEqual(status, 0)
        self.assertIn("counters off", out)

    def test_record_and_recording(self):
        status, out, err = call("--record", RECORD)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.count("IMPORTED"), 2)
        for words in ("2026-09-01", "2026-09-02", " 21.5566 ", "ridge point 30.49", "ridge point 30.24"):
            self.assertIn(words, out)
        status, out, err = call("--recording", RECORDING, "--json")
        self.assertEqual((status, err), (0, ""))
        run = json.loads(out)
        self.assertEqual((run["source"], run["date"]), ("imported", run["recorded_at"]))
        self.assertEqual([row["kernel"] for row in run["kernels"]], KERNELS)

    def test_own_timings_with_counters(self):
        """What roofline-measure --json printed on a GPU, beside counters of the same kernels: bytes and times of one state."""
        timings = path("h200/timings.jsonl")
        with open(timings) as file:
            run = json.loads(file.read().splitlines()[-1])["run"]
        head = '"ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value"\n'
        with tempfile.TemporaryDirectory() as folder:
            counters = os.path.join(folder, "bytes.csv")
            with open(counters, "w") as file:
                file.write(head)
                for i, row in enumerate(run["kernels"]):
                    dims = ['"(%d, %d, %d)"' % tuple(row["launch"][name]) for name in ("block", "grid")]
                    for metric, value in (("dram__bytes_read.sum", 1000 * (i + 1)), ("dram__bytes_write.sum", i)):
                        file.write(f'"{i}","{row["kernel"]}(const float *)",{",".join(dims)},"{metric}","byte","{value}"\n')
            status, out, err = call("--timings", timings, "--ncu", counters, "--json")
            self.assertEqual((status, err), (0, ""))
            merged = json.loads(out)
            for i, (row, own) in enumerate(zip(merged["kernels"], run["kernels"])):
                self.assertEqual(row["cold"]["bytes"]["dram"], 1000 * (i + 1) + i)
                self.assertEqual(row["cold"]["time_s"], own["cold"]["time_s"])
                self.assertEqual(row["cold"]["flags"].count("unsettled"), 1)
                self.assertNotIn("warm", row)
            self.assertEqual(merged["ceilings"], run["ceilings"])
            self.assertEqual(merged["device"], run["device"])

    def test_own_timings_that_were_changed(self):
        """A file of roofline-measure --json of which one thing was changed: the line at fault is told."""
        with open(path("h200/timings.jsonl")) as file:
            lines = [json.loads(text) for text in file]

        def refused(number, line, words):
            with tempfile.NamedTemporaryFile(mode="w", suffix=".jsonl") as file:
                file.writelines(json.dumps(line if at == number else old) + "\n" for at, old in enumerate(lines, 1))
                file.flush()
                self.one_line(65, "--timings", file.name, words=words)

        refused(12, {**lines[11], "times_s": lines[11]["times_s"][:-1]}, ["line 12, \"times_s\"", "vector_add warm", "n 9", "says 10"])
        refused(12, {**lines[11], "launches": 41}, ["line 12, \"launches\"", "41", "says 40"])
        refused(12, {**lines[11], "times_s": [0.5 * min(lines[11]["times_s"]), *sorted(lines[11]["times_s"])[1:]]}, ["line 12, \"times_s\"", "give min"])
        refused(12, {**lines[11], "times_s": []}, ["line 12", "no line of samples"])
        refused(13, {**lines[11], "times_s": lines[11]["times_s"][::-1]}, ["line 13, \"times_s\"", "than line 12"])

    def test_a_replay_is_no_measurement(self):
        measure = os.path.join(os.path.dirname(PROGRAM), "roofline-measure")
        replayed = subprocess.run([measure, "--json", "--replay", SHIPPED], capture_output=True, check=True, timeout=60, env=clean_environment()).stdout
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            file.write(replayed)
            file.flush()
            words = ["line %d, \"source\"" % len(replayed.splitlines()), "replayed", "import the recording"]
            self.one_line(65, "--timings", file.name, words=words)
            self.one_line(65, "--timings", file.name, "--ncu", path("h200/raw-cold.csv"), words=words)

    def test_exports_of_a_real_gpu(self):
        """Exports of our own kernels by ncu 2025.3 on an H200, beside our own timings and the counts of the shipped recording."""
        measure = os.path.join(os.path.dirname(PROGRAM), "roofline-measure")
        recorded = subprocess.run([measure, "--json", "--cache", "cold", "--replay", SHIPPED], capture_output=True, check=True, timeout=60,
                                  env=clean_environment()).stdout
        ours = json.loads(recorded.splitlines()[-1])["run"]["kernels"]
        timings = path("h200/timings.jsonl")
        with open(timings) as file:
            times = json.loads(file.read().splitlines()[-1])["run"]["kernels"]
        for name, state in (("raw-cold", "cold"), ("long-cold", "cold"), ("raw-warm", "warm"), ("long-warm", "warm"), ("set-full", "cold")):
            with self.subTest(name=name):
                status, out, err = call("--ncu", path(f"h200/{name}.csv"), "--timings", timings, "--json")
                self.assertEqual((status, err), (0, ""))
                run = json.loads(out)
                self.assertEqual([row["kernel"] for row in run["kernels"]], KERNELS)
                for row, time, own in zip(run["kernels"], times, ours):
                    self.assertEqual({name for name in ("warm", "cold", "mixed") if name in row}, {state})
                    self.assertEqual(row[state]["time_s"], time[state]["time_s"])
                    if name not in ("raw-cold", "long-cold"):
                        continue
                    got, wanted = row["cold"]["bytes"], own["cold"]["bytes"]
                    room = max(0.03 * wanted["dram"], 3e6) if wanted["dram"] > 50e6 else max(0.05 * wanted["dram"], 1e6)
                    self.assertLessEqual(abs(got["dram"] - wanted["dram"]), room, row["kernel"])
                    self.assertLessEqual(abs(got["l1"] - wanted["l1"]), 0.001 * wanted["l1"], row["kernel"])
                    self.assertLessEqual(abs(got["l2"] - wanted["l2"]), 0.05 * wanted["l2"], row["kernel"])
        # without a count, the rate times the duration of the same launch; another run of the same kernels had these counts
        counted = json.loads(call("--ncu", path("h200/set-full.csv"), "--json")[1])["kernels"]
        derived = json.loads(call("--ncu", path("h200/set-roofline.csv"), "--json")[1])["kernels"]
        for row, other in zip(derived, counted):
            bytes_, wanted = row["cold"]["bytes"]["dram"], other["cold"]["bytes"]["dram"]
            self.assertEqual(bytes_, int(bytes_), row["kernel"])
            self.assertLessEqual(abs(bytes_ - wanted), 0.02 * wanted, row["kernel"])
            self.assertIn("bytes_derived", row["cold"]["flags"])
            self.assertNotIn("bytes_derived", other["cold"]["flags"])
        self.assertEqual(derived[0]["cold"]["profiled"], {"time_s": 56960e-9, "sm_hz": 1972489466.29})
        # 149.33 fadd per cycle over 112,353 cycles; vector_add does 2^24
        self.assertLessEqual(abs(derived[0]["flop_counted"] - 2**24), 0.0001 * 2**24)
        self.assertEqual(derived[0]["flop_by_precision"]["tensor"], 0)
        self.one_line(65, "--ncu", path("h200/raw-warm.csv"), "--cache", "cold", words=["did not control the caches"])

    def test_locale_and_zone_change_nothing(self):
        for options in (["--record", RECORD], ["--ncu", path("long.csv"), *DEVICE, "--json"]):
            plain = call(*options, environment=clean_environment(LC_ALL="C"))
            other = call(*options, environment=clean_environment(LC_ALL="de_DE.UTF-8", LC_NUMERIC="de_DE.UTF-8", TZ="America/Los_Angeles"))
            self.assertEqual(plain, other)

    def test_mistakes(self):
        for options, word in [((), "nothing to import"), (("--tabel",), "--tabel"), (("--ncu",), "needs a value"), (("--ncu", "a", "--ncu", "b"), "twice"),
                              (("--table=1",), "no value"), (("x",), "not an option"), (("--protocol",), "socket")]:
            with self.subTest(options=options):
                self.one_line(64, *options, words=[word])
        self.one_line(74, "--ncu", path("nowhere.csv"), words=["nowhere.csv"])
        self.one_line(74, "--ncu", FILES, words=["not a file"])
        self.one_line(64, "--ncu", path("long.csv"), "--date", "2999-01-01", words=["future"])
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(16 * 1024 * 1024 + 1)
            self.one_line(65, "--ncu", file.name, words=["16777217", "16777216"])
        self.assertEqual(call("--help")[0], 0)
        self.assertIn("roofline-import", call("--version")[1])


class Protocol(unittest.TestCase):
    LIMITS = {"memory_bytes": 512 << 20, "cpu_s": 20, "wall_s": 30}

    def ask(self, request, files=(), raw=None, before=None):
        """The lines of one import, and the exit status. files are paths, from descriptor 4 on; before is called in the process, before the program."""
        ours, theirs = socket.socketpair()
        opened = [os.open(name, os.O_RDONLY) for name in files]

        def place():
            spare = [os.dup(fd) for fd in [theirs.fileno(), *opened]]
            high = [os.dup2(fd, 40 + i) for i, fd in enumerate(spare)]
            for i, fd in enumerate(high):
                os.dup2(fd, 3 + i)
            if before:
                before()

        process = subprocess.Popen([PROGRAM, "--protocol"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=place,
                                   pass_fds=range(3, 4 + len(opened)), env=clean_environment())
        theirs.close()
        for fd in opened:
            os.close(fd)
        ours.settimeout(60)
        ours.sendall(raw if raw is not None else json.dumps(request).encode() + b"\n")
        if raw is not None:
            ours.shutdown(socket.SHUT_WR)
        data = b""
        while block := ours.recv(1 << 20):
            data += block
        ours.close()
        out, err = process.communicate(timeout=60)
        self.assertEqual((out, err), (b"", b""))
        lines = [json.loads(text) for text in data.splitlines()]
        self.assertEqual([line["seq"] for line in lines], list(range(1, len(lines) + 1)))
        self.assertEqual((lines[0]["t"], lines[0]["protocol"]), ("hello", 1))
        return lines[1:], process.returncode

    def request(self, kinds, **fields):
        fields = {"device": "Some GPU", "date": "2026-01-02"} if not fields else fields
        return {"t": "import", "protocol": 1, "fields": fields, "limits": self.LIMITS,
                "files": [{"kind": kind, "fd": 4 + i, "name": kind + ".txt"} for i, kind in enumerate(kinds)]}

    def test_run(self):
        lines, status = self.ask(self.request(["ncu", "timings"]), [path("long.csv"), path("timings.jsonl")])
        self.assertEqual(([line["t"] for line in lines], status), (["result"], 0))
        self.assertEqual(lines[0]["run"]["kernels"][0]["mixed"]["bytes"]["dram"], ADD)
        lines, status = self.ask(self.request(["recording"], sizes="course"), [RECORDING])
        self.assertEqual((lines[-1]["t"], status), ("result", 0))
        samples = {(line["unit"], line["state"]): line for line in lines[:-1]}
        self.assertEqual(len(samples), len(lines) - 1)
        warm = lines[-1]["run"]["kernels"][0]["warm"]["time_s"]
        self.assertEqual(min(samples["vector_add", "warm"]["times_s"]), warm["min"])

    def error(self, request, files, code, field, status):
        lines, got = self.ask(request, files)
        self.assertEqual([line["t"] for line in lines], ["error"])
        self.assertEqual((lines[0]["error"]["code"], lines[0]["error"].get("field"), got), (code, field, status))
        return lines[0]["error"]

    def test_errors(self):
        error = self.error(self.request(["ncu"]), [path("furlong.csv")], "import_format", "ncu", 65)
        self.assertIn("ncu.txt, line 2", error["message"])
        self.error(self.request(["ncu"]), [path("permission.txt")], "import_permission", "ncu", 77)
        self.error(self.request(["ncu"], device="X"), [path("long.csv")], "bad_field", "date", 64)
        self.error(self.request(["ncu"], date="2026-01-02"), [path("long.csv")], "bad_field", "device", 64)
        self.error(self.request(["ncu"], driver=5), [path("long.csv")], "bad_field", "driver", 64)
        self.error(self.request(["ncu"], colour="red"), [path("long.csv")], "unknown_field", "colour", 64)
        self.error(self.request(["record"], date="2026-09-03"), [RECORD], "bad_field", "date", 64)

    def test_requests_that_are_none(self):
        good = self.request(["ncu"])
        for change in ({"t": "run"}, {"protocol": 2}, {"files": [{"kind": "ncu", "fd": 3, "name": ""}]}, {"files": [{"kind": "csv", "fd": 4, "name": ""}]},
                       {"files": [{"kind": "ncu", "fd": 9, "name": ""}]}, {"limits": {}}, {"limits": {**self.LIMITS, "cpu_s": 0}}, {"more": 1}):
            with self.subTest(change=change):
                self.error({**good, **change}, [path("long.csv")], "measure_protocol", None, 76)
        for raw in (b"", b"hello\n", b"[1]\n", b"{}\n{}\n", b"x" * 16384):
            with self.subTest(raw=raw[:10]):
                lines, status = self.ask(None, raw=raw)
                self.assertEqual((lines[0]["error"]["code"], status), ("measure_protocol", 76))

    def largest(self, file):
        """Fills file with the largest counter file that is read."""
        with open(path("long.csv")) as short:
            head = [line for line in short if line.startswith('"ID"')][0]
        row = '"{}","41","app","h","kernel_{}","1","7","(256, 1, 1)","(1, 1, 1)","0","9.0","s","dram__bytes.sum","byte","{}"\n'
        size, number = file.write(head), 0
        while size < 16 * 1024 * 1024 - 200:
            size += file.write(row.format(number, number % 500, f"{number:,}"))
            number += 1
        file.flush()

    def test_16_megabytes(self):
        """The largest file that is read: within the limits of memory and time, and refused by its launches or read whole."""
        with tempfile.NamedTemporaryFile(mode="w", suffix=".csv") as file:
            self.largest(file)
            lines, status = self.ask(self.request(["ncu"]), [file.name])
            self.assertIn(lines[-1]["t"], ("result", "error"))
            if lines[-1]["t"] == "error":
                self.assertEqual(lines[-1]["error"]["code"], "too_large", lines[-1])
            else:
                self.assertEqual(len(lines[-1]["run"]["kernels"]), 500)

    def test_processor_time_is_limited(self):
        """By SIGXCPU, which the daemon tells from a crash: not by SIGKILL, as Linux does where the soft limit is the hard one."""
        request = self.request(["ncu"])
        request["limits"] = {**self.LIMITS, "cpu_s": 1}

        def used_up():  # a process keeps the time that it has used when it becomes another program
            while time.process_time() < 1.05:
                pass
        with tempfile.NamedTemporaryFile(mode="w", suffix=".csv") as file:
            self.largest(file)
            self.assertEqual(self.ask(request, [file.name], before=used_up), ([], -signal.SIGXCPU))

    def test_time_is_limited(self):
        request = self.request(["ncu"])
        request["limits"] = {**self.LIMITS, "wall_s": 1}
        fifo_free = path("long.csv")
        lines, status = self.ask(request, [fifo_free])
        self.assertEqual(status, 0)  # a second is plenty for a small one
        self.assertLessEqual(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 700 * 1024)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
