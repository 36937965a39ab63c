"""roofline-measure by hand, over recordings: output, exit status, and one line for every mistake. Usage: test_command_line.py PROGRAM FAULTY DATA,
FAULTY being the same with the tests' faults, DATA holding base.jsonl and faults/."""
import fcntl
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import termios
import unittest

from measurelib import KERNELS, clean_environment

PROGRAM, FAULTY, DATA = sys.argv[1], sys.argv[2], sys.argv[3]
BASE = os.path.join(DATA, "base.jsonl")


def fault(name):
    return os.path.join(DATA, "faults", name + ".jsonl")


def call(*options, environment=None, program=PROGRAM, **kwargs):
    done = subprocess.run([program, *options], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                          env=environment or clean_environment(), **kwargs)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class CommandLine(unittest.TestCase):
    def one_line(self, status, *options, words="", **kwargs):
        got, out, err = call(*options, **kwargs)
        self.assertEqual((got, out), (status, ""), err)
        self.assertTrue(err.startswith("roofline-measure: ") and err.endswith(")\n"), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn(words, err)

    def test_mistakes(self):
        for options, words in [(["--tabel"], "--tabel"), (["table"], "table"), (["--sizes"], "needs a value"),
                               (["--sizes", "huge"], "huge"), (["--table", "--json"], "choose one"),
                               (["--list", "--cache", "warm"], "means nothing"), (["--device", "7"], "UUID"),
                               (["--record", "x", "--replay", BASE], "not a measurement"), (["--protocol"], "socket")]:
            with self.subTest(options=options):
                self.one_line(64, *options, words=words)

    def test_recordings_that_cannot_be_used(self):
        self.one_line(66, "--replay", os.path.join(DATA, "nowhere.jsonl"), words="cannot be opened")
        self.one_line(66, "--replay", DATA, words="not a file")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.jsonl")
            with open(BASE, "rb") as file:
                whole = file.read()
            for name, data, words in [("empty", b"", "empty"), ("cut in a line", whole[:-10], "cut"),
                                      ("cut at a line", whole[:whole.rindex(b"\n", 0, -1) + 1], "cut"),
                                      ("a hole", b"\n".join(whole.split(b"\n")[:5] + whole.split(b"\n")[6:]), "lines are missing"),
                                      ("text", b"hello\n", "not JSON"), ("another file", b"{}\n", "roofline_recording"),
                                      ("a newer format", whole.replace(b'"roofline_recording":1', b'"roofline_recording":2', 1),
                                       "version 2")]:
                with self.subTest(name=name):
                    with open(path, "wb") as file:
                        file.write(data)
                    self.one_line(65, "--replay", path, words=words)
            os.mkfifo(os.path.join(folder, "pipe"))  # must not wait for a writer
            self.one_line(66, "--replay", os.path.join(folder, "pipe"), words="not a file")

    def test_seeds_of_the_fuzzer_are_of_this_format(self):
        seeds = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "seeds", "fuzz_recording")
        self.assertEqual(sorted(os.listdir(seeds)), ["each_op", "empty", "failures", "one_kernel"])
        for name, expected in (("one_kernel", 0), ("each_op", 66), ("empty", 66), ("failures", 71)):
            status, _, err = call("--replay", os.path.join(seeds, name), "--kernels", "vector_add")
            self.assertEqual(status, expected, f"{name}: {err}; run tests/tools/recording_seeds.py")

    def test_faults_are_none_of_the_program_that_ships(self):
        for name in sorted(os.listdir(os.path.join(DATA, "faults"))):
            with self.subTest(name=name):
                self.one_line(65, "--replay", os.path.join(DATA, "faults", name), words=f"{name}: recording, line 2: member 'op' is not")

    def test_failures(self):
        for name, status in [("no_driver", 69), ("no_device", 69), ("old_driver", 69), ("unsupported_chip", 69), ("device_busy", 75),
                             ("cuda_failed", 70)]:
            with self.subTest(name=name):
                self.one_line(status, "--replay", fault(name), program=FAULTY)

    def test_tables(self):
        status, out, err = call("--replay", BASE)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.count("REPLAYED"), 2)
        self.assertEqual(out.count("\nmatmul, naive "), 2)
        status, out, _ = call("--table", "--cache", "cold", "--replay", BASE, "--kernels", "vector_add")
        self.assertEqual(status, 0)
        self.assertIn("cold cache", out)
        self.assertNotIn("warm cache", out)
        self.assertNotIn("matmul", out)
        status, out, _ = call("--sizes", "course,scaled", "--cache", "warm", "--no-counters", "--replay", BASE)
        self.assertLess(out.index("course sizes"), out.index("scaled sizes"))
        self.assertIn("counters off", out)

    def test_json(self):
        status, out, err = call("--json", "--replay", BASE)
        self.assertEqual((status, err), (0, ""))
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(lines[-1]["t"], "run")
        self.assertEqual({line["t"] for line in lines[:-1]}, {"sample"})
        run = lines[-1]["run"]
        self.assertEqual(run["source"], "replayed")
        # the samples are those that the statistics are made of
        samples = [line for line in lines if line.get("unit") == "vector_add" and line["state"] == "warm"]
        self.assertEqual(len(samples), 1)
        row = run["kernels"][0]
        self.assertEqual(row["kernel"], "vector_add")
        self.assertEqual(len(samples[0]["times_s"]), row["warm"]["time_s"]["n"])
        self.assertEqual(min(samples[0]["times_s"]), row["warm"]["time_s"]["min"])
        # numbers as short as they can be, as everywhere else: 0.1, not 0.10000000000000001
        numbers = []
        for line in out.splitlines():
            json.loads(line, parse_float=numbers.append)
        longer = [text for text in numbers if len(re.findall(r"\d", text.split("e")[0].strip("-0."))) > 15
                  and len(text) > len(repr(float(text))) + 2]
        self.assertEqual(longer, [])
        self.assertGreater(len(numbers), 100)

    def test_outcomes(self):
        status, out, err = call("--replay", fault("wrong_result"), program=FAULTY)
        self.assertEqual(status, 1)
        self.assertIn("refused", err)
        self.assertIn("result_transpose_tiled", err)
        self.assertIn("transpose, tiled", out)
        status, _, err = call("--replay", fault("absent_dram"), program=FAULTY)
        self.assertEqual(status, 1)
        self.assertIn("partial", err)
        status, _, err = call("--replay", fault("counters_permission"), program=FAULTY)
        self.assertEqual(status, 0)
        self.assertIn("CAP_PERFMON", err)

    def test_list(self):
        status, out, _ = call("--list")
        self.assertEqual(status, 0)
        for kernel in KERNELS + ["dram_copy", "fp32_fma"]:
            self.assertIn(f"  {kernel} ", out)
        status, out, _ = call("--list", "--json")
        items = json.loads(out)["items"]
        self.assertEqual([item["id"] for item in items[:10]], KERNELS)
        self.assertTrue(all(item["flop_formula"] and item["ask_formula"] and item["description"] for item in items))

    def test_probe(self):
        status, out, _ = call("--probe", "--replay", BASE)
        self.assertEqual(status, 0)
        self.assertIn("counters: yes", out)
        status, out, _ = call("--probe", "--json", "--replay", fault("counters_busy"), program=FAULTY)
        self.assertEqual(json.loads(out)["counters"]["status"], "counters_busy")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "--replay", BASE], stdout=full, stderr=subprocess.PIPE, env=clean_environment(), timeout=60)
        self.assertEqual(done.returncode, 74)
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_recording_that_cannot_be_written_is_told_first(self):
        # with no driver the driver is the first thing that is missing; either way it is one line and no measurement
        status, out, err = call("--record", "/nonexistent/x.jsonl")
        self.assertIn(status, (69, 74))
        self.assertEqual((out, err.count("\n")), ("", 1))

    def test_environment(self):
        environment = clean_environment(ROOFLINE_MEASURE_REPLAY=BASE, ROOFLINE_MEASURE_CACHE="cold", ROOFLINE_MEASURE_KERNELS="vector_add")
        status, out, _ = call(environment=environment)
        self.assertEqual(status, 0)
        self.assertIn("cold cache", out)
        self.assertNotIn("warm cache", out)
        status, out, _ = call("--cache", "warm", environment=environment)
        self.assertIn("warm cache", out)
        self.one_line(64, environment=clean_environment(ROOFLINE_MEASURE_QUIET="perhaps"), words="ROOFLINE_MEASURE_QUIET")

    def on_terminal(self, *options):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, b"\x18\0\x78\0\0\0\0\0")
        process = subprocess.Popen([PROGRAM, "--replay", BASE, *options], stdout=subprocess.PIPE, stderr=theirs,
                                   stdin=subprocess.DEVNULL, env=clean_environment())
        os.close(theirs)
        seen = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:
                break
            if not data:
                break
            seen += data
        out = process.stdout.read()
        process.stdout.close()
        os.close(ours)
        self.assertEqual(process.wait(30), 0)
        return out.decode(), seen.decode()

    def test_progress_only_on_a_terminal(self):
        out, seen = self.on_terminal()
        self.assertIn("kernels: ", seen)
        self.assertTrue(seen.endswith("\r\x1b[K"))  # nothing of it is left beside the table
        self.assertNotIn("\x1b", out)
        _, seen = self.on_terminal("--quiet")
        self.assertEqual(seen, "")

    def test_transcript(self):
        _, _, err = call("--verbose", "--replay", BASE)
        self.assertIn("ceiling dram_copy warm", err)

    def test_locale(self):
        plain = call("--replay", BASE, "--kernels", "vector_add", "--cache", "warm")[1].splitlines()
        other = call("--replay", BASE, "--kernels", "vector_add", "--cache", "warm",
                     environment=clean_environment(LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8"))[1].splitlines()
        self.assertEqual(plain[3:], other[3:])

    def test_no_driver(self):
        """The program starts and says what is missing; on a machine with a GPU there is nothing to see here."""
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is a driver")
        for options in (["--table"], ["--probe"], ["--profile"], ["--json"]):
            self.one_line(69, *options)

    def test_version_and_help(self):
        self.assertRegex(call("--version")[1], r"^roofline-measure \d+\.\d+\.\d+")
        status, out, err = call("--help")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("ROOFLINE_MEASURE_NO_COUNTERS", out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
