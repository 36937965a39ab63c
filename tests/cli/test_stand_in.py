"""What roofline-measure does around its cuda backend, with a recording standing in for the GPU (tests/tools/stand_in_cuda.c): probing each
device in a process of its own, recording, and exit status. Usage: test_stand_in.py PROGRAM DATA."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

from measurelib import Measure, clean_environment, request

PROGRAM, DATA = sys.argv[1], sys.argv[2]
BASE = os.path.join(DATA, "base.jsonl")
UUID = "GPU-00000000-0000-0000-0000-00000000000"


def environment(recording=BASE, **extra):
    return clean_environment(STAND_IN_RECORDING=recording, **extra)


def call(*options, **kwargs):
    done = subprocess.run([PROGRAM, *options], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                          env=kwargs.pop("environment", None) or environment())
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def comparable(run):
    run = {key: value for key, value in run.items()
           if key not in ("source", "recorded_at", "date", "started_at", "finished_at", "why")}
    for telemetry in run["telemetry"]:
        telemetry.pop("time_s")
    return run


def child_of(parent, argument):
    """The process id, as text, of parent's child that has this argument; None when there is none."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/cmdline", "rb") as arguments:
                if int(stat.read().rsplit(")", 1)[1].split()[1]) == parent and argument.encode() in arguments.read().split(b"\0"):
                    return pid
        except (FileNotFoundError, ProcessLookupError):
            continue
    return None


class StandIn(unittest.TestCase):
    def check_probe(self, found):
        self.assertEqual([device["device"]["uuid"] for device in found], [UUID + "1", UUID + "2", UUID + "3"])
        self.assertEqual(found[0]["counters"], {"status": "ok", "why": None})
        self.assertEqual(found[1]["counters"]["status"], "counters_failed")
        self.assertIn("signal 6", found[1]["counters"]["why"])
        self.assertEqual(found[2]["counters"]["status"], "counters_busy")

    def test_probe(self):
        status, out, _ = call("--probe", "--json")
        self.assertEqual(status, 0)
        self.check_probe([json.loads(line) for line in out.splitlines()])

    def test_probe_over_the_protocol(self):
        measure = Measure(PROGRAM, environment=environment())
        self.addCleanup(measure.close)
        measure.send({"t": "probe", "protocol": 2})
        lines = measure.lines()
        self.assertEqual(lines[-1]["t"], "result")
        self.check_probe([line for line in lines if line["t"] == "device"])
        self.assertEqual(measure.wait(), 0)

    def test_probe_that_hangs_ends_with_its_parent(self):
        measure = Measure(PROGRAM, environment=environment(STAND_IN_DEVICES="4"))
        self.addCleanup(measure.close)
        measure.send({"t": "probe", "protocol": 2})
        for _ in range(4):
            measure.line()
        deadline = time.monotonic() + 10
        child = None
        while not child and time.monotonic() < deadline:  # the one that hangs on the fourth device
            child = child_of(measure.process.pid, UUID + "4")
            time.sleep(0.02)
        self.assertTrue(child)
        begun = time.monotonic()
        measure.ours.close()
        self.assertLess(measure.exit_time(begun), 2)
        while os.path.exists(f"/proc/{child}/stat") and time.monotonic() - begun < 5:
            with open(f"/proc/{child}/stat") as stat:  # a zombie that nobody reaps here has ended, too
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    break
            time.sleep(0.02)
        self.assertLess(time.monotonic() - begun, 5)

    def test_record_and_replay(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "recording.jsonl")
            status, out, err = call("--record", path)
            self.assertEqual((status, out, err), (0, "", ""))
            self.assertEqual(os.listdir(folder), ["recording.jsonl"])
            _, measured, _ = call("--json", "--sizes", "course,scaled")
            _, replayed, _ = call("--json", "--sizes", "course,scaled", "--replay", path)
            measured = [json.loads(line)["run"] for line in measured.splitlines() if line.startswith('{"t":"run"')]
            replayed = [json.loads(line)["run"] for line in replayed.splitlines() if line.startswith('{"t":"run"')]
            self.assertEqual(len(measured), 2)
            for one, other in zip(measured, replayed):
                self.assertEqual((one["source"], other["source"]), ("measured", "replayed"))
                self.assertIsNone(one["recorded_at"])
                self.assertTrue(other["recorded_at"])
                self.assertEqual(comparable(one), comparable(other))

    def test_record_beside_a_table(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "recording.jsonl")
            status, out, _ = call("--record", path, "--kernels", "vector_add")
            self.assertEqual((status, out), (0, ""))
            status, out, _ = call("--table", "--record", path, "--kernels", "vector_add", "--cache", "warm")  # replaces the first
            self.assertEqual(status, 0)
            self.assertIn("vector add", out)
            status, _, err = call("--replay", path, "--kernels", "vector_add", "--cache", "cold")
            self.assertEqual(status, 66)
            self.assertIn("cold", err)
            status, _, err = call("--replay", path, "--sizes", "scaled")
            self.assertEqual(status, 66)
            self.assertIn("scaled", err)

    def test_a_failed_run_leaves_no_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            status, out, err = call("--record", os.path.join(folder, "x.jsonl"),
                                    environment=environment(os.path.join(DATA, "faults", "cuda_failed.jsonl")))
            self.assertEqual((status, out, err.count("\n")), (70, "", 1))
            self.assertEqual(os.listdir(folder), [])

    def test_a_folder_that_cannot_be_written_is_told_before_measuring(self):
        status, out, err = call("--record", "/nonexistent/x.jsonl", environment=environment(
            os.path.join(DATA, "faults", "hang_start.jsonl")))
        self.assertEqual((status, out, err.count("\n")), (74, "", 1))

    def test_a_job(self):
        measure = Measure(PROGRAM, environment=environment())
        self.addCleanup(measure.close)
        measure.send(request(device=UUID + "1"))
        run = measure.wait_for("result")["run"]
        self.assertEqual((run["source"], run["recorded_at"]), ("measured", None))
        self.assertEqual(measure.wait(), 0)

    def test_no_driver(self):
        for options in ([], ["--probe"], ["--profile"]):
            status, out, err = call(*options, environment=clean_environment())
            self.assertEqual((status, out, err.count("\n")), (69, "", 1))
            self.assertIn("no NVIDIA driver", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
