"""The measuring process's end of the protocol (gpu/wire/PROTOCOL.md), over recordings: order, limits, and that it is gone after end of
file whatever its main thread does. Usage: test_protocol.py PROGRAM FAULTY DATA, FAULTY being the same with the tests' faults, DATA
holding base.jsonl and faults/."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from measurelib import KERNELS, LINE_MAX, Measure, clean_environment, request

PROGRAM, FAULTY, DATA = sys.argv[1], sys.argv[2], sys.argv[3]
BASE = os.path.join(DATA, "base.jsonl")
EXIT_S = 2.0  # PROTOCOL_EXIT_MS


def fault(name):
    return os.path.join(DATA, "faults", name + ".jsonl")


class ProtocolTest(unittest.TestCase):
    def start(self, *options, **kwargs):
        faulty = any(os.path.dirname(option) == os.path.join(DATA, "faults") for option in options)
        measure = Measure(FAULTY if faulty else PROGRAM, *options, **kwargs)
        self.addCleanup(measure.close)
        return measure

    def run_job(self, recording, **kwargs):
        measure = self.start("--replay", recording)
        measure.send(request(**kwargs))
        lines = measure.lines()
        return lines, measure.wait(), measure

    def check_order(self, lines):
        self.assertEqual([line["seq"] for line in lines], list(range(1, len(lines) + 1)))
        times = [line["at_ns"] for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertEqual(lines[0]["t"], "hello")
        self.assertEqual([line["t"] for line in lines].count("hello"), 1)
        self.assertIn(lines[-1]["t"], ("result", "error"))
        self.assertEqual(sum(line["t"] in ("result", "error") for line in lines), 1)


class Runs(ProtocolTest):
    def test_a_run(self):
        lines, status, measure = self.run_job(BASE)
        self.check_order(lines)
        self.assertEqual(status, 0)
        self.assertEqual(measure.output(), (b"", b""))
        hello = lines[0]
        self.assertEqual((hello["protocol"], hello["backend"], hello["pid"]), (2, "replay", measure.process.pid))
        kinds = {line["t"] for line in lines}
        self.assertEqual(kinds, {"hello", "device", "progress", "sample", "counter", "telemetry", "log", "result"})
        device = [line for line in lines if line["t"] == "device"]
        self.assertEqual(len(device), 1)
        self.assertIsNone(device[0]["counters"])
        self.assertIn("counters", device[0]["why"])
        run = lines[-1]["run"]
        self.assertEqual((run["source"], run["outcome"], run["sizes"]), ("replayed", "ok", "course"))
        self.assertTrue(run["recorded_at"] and run["recorded_at"] != run["date"])
        self.assertEqual([row["kernel"] for row in run["kernels"]], KERNELS)
        progress = [line for line in lines if line["t"] == "progress"]
        self.assertEqual({line["phase"] for line in progress}, {"start", "ceilings", "kernels", "counters", "checks"})
        self.assertTrue(all(0 <= line["done"] <= line["total"] for line in progress))
        samples = {(line["unit"], line["state"]) for line in lines if line["t"] == "sample"}
        self.assertTrue({(kernel, state) for kernel in KERNELS for state in ("warm", "cold")} <= samples)
        counters = {(line["unit"], line["state"]) for line in lines if line["t"] == "counter"}
        self.assertTrue({(kernel, state) for kernel in KERNELS for state in ("warm", "cold")} <= counters)

    def test_a_subset(self):
        lines, status, _ = self.run_job(BASE, kernels=["matmul_naive"], cache=("cold",), sizes="scaled", counters=False)
        self.check_order(lines)
        self.assertEqual(status, 0)
        run = lines[-1]["run"]
        self.assertEqual([row["kernel"] for row in run["kernels"]], ["matmul_naive"])
        self.assertNotIn("warm", run["kernels"][0])
        self.assertEqual(run["counters"]["status"], "off")

    def test_a_device_that_is_not_the_recordings(self):
        lines, status, _ = self.run_job(BASE, device="GPU-00000000-0000-0000-0000-000000000002")
        self.assertEqual(lines[-1]["error"]["code"], "device_gone")
        self.assertEqual(status, 69)

    def test_probe(self):
        measure = self.start("--replay", BASE)
        measure.send({"t": "probe", "protocol": 2})
        lines = measure.lines()
        self.check_order(lines)
        self.assertEqual(measure.wait(), 0)
        self.assertEqual([line["t"] for line in lines], ["hello", "device", "result"])
        self.assertEqual(lines[1]["counters"], {"status": "ok", "why": None})
        self.assertIsNone(lines[2]["run"])

    def test_probe_of_refused_counters(self):
        measure = self.start("--replay", fault("counters_permission"))
        measure.send({"t": "probe", "protocol": 2})
        lines = measure.lines()
        self.assertEqual(lines[1]["counters"]["status"], "counters_permission")
        self.assertIn("35", lines[1]["counters"]["why"])

    def test_a_request_in_pieces(self):
        measure = self.start("--replay", BASE)
        for byte in json.dumps({"t": "probe", "protocol": 2}).encode() + b"\n":
            measure.send(bytes([byte]))
        self.assertEqual(measure.lines()[-1]["t"], "result")

    def test_the_parent_reads_late(self):
        measure = self.start("--replay", BASE)
        measure.send(request())
        time.sleep(0.5)  # the process blocks on a full socket meanwhile
        lines = measure.lines()
        self.check_order(lines)
        self.assertEqual(measure.wait(), 0)


class Errors(ProtocolTest):
    def refused(self, message, code="measure_protocol", status=76):
        measure = self.start("--replay", BASE)
        measure.send(message)
        lines = measure.lines()
        self.check_order(lines)
        self.assertEqual(lines[-1]["t"], "error")
        self.assertEqual(lines[-1]["error"]["code"], code)
        self.assertTrue(lines[-1]["error"]["next_action"])
        self.assertEqual(measure.wait(), status)

    def test_bad_requests(self):
        good = request()

        def with_params(**changed):
            return {**good, "params": {**good["params"], **changed}}

        for message in [b"\n", b"{}\n", b"[]\n", b"nonsense\n", b'{"t":"probe"}\n', b'{"t":"probe","protocol":1}\n',
                        b'{"t":"probe","protocol":2,"x":1}\n', b'{"t":"probe","t":"probe","protocol":2}\n',
                        with_params(kernels=[]), with_params(kernels=["nothing"]), with_params(cache=["hot"]),
                        with_params(sizes="huge"), with_params(counters=1), with_params(path="/etc"),
                        {**good, "devices": ["a,b"]}, {**good, "suite": "import"}, {**good, "extra": 1},
                        {k: v for k, v in good.items() if k != "job"}]:
            with self.subTest(message=message):
                self.refused(message)

    def test_oversize_request(self):
        self.refused(b'{"t":"probe",' + b" " * 17000)

    def test_bytes_behind_the_request(self):
        self.refused(b'{"t":"probe","protocol":2}\n{"t":"probe","protocol":2}\n')
        self.refused(b'{"t":"probe","protocol":2}\n\n')

    def test_bytes_during_the_run(self):
        measure = self.start("--replay", fault("hang_kernels"))
        measure.send(request())
        measure.wait_for("progress", "kernels")
        begun = time.monotonic()
        measure.send(b"x")
        lines = measure.lines()
        self.assertEqual(lines[-1]["t"], "error")
        self.assertEqual(lines[-1]["error"]["code"], "measure_protocol")
        self.assertEqual(measure.wait(), 76)
        self.assertLess(time.monotonic() - begun, EXIT_S)

    def test_missing_recording(self):
        measure = self.start("--replay", os.path.join(DATA, "nowhere.jsonl"))
        measure.send(request())
        lines = measure.lines()
        self.assertEqual(lines[-1]["error"]["code"], "replay_open")
        self.assertNotIn(DATA, lines[-1]["error"]["message"])
        self.assertEqual(measure.wait(), 66)

    def test_faults_that_are_errors(self):
        for name, code, status in [("unsupported_chip", "unsupported_chip", 69), ("no_device", "no_device", 69),
                                   ("no_driver", "no_driver", 69), ("old_driver", "old_driver", 69),
                                   ("device_busy", "device_busy", 75), ("cuda_failed", "cuda_failed", 70)]:
            with self.subTest(name=name):
                lines, exit_status, _ = self.run_job(fault(name))
                self.check_order(lines)
                self.assertEqual(lines[-1]["error"]["code"], code)
                self.assertEqual(exit_status, status)

    def test_faults_that_are_runs(self):
        for name, outcome, counters, flag, failed in [
                ("counters_permission", "ok", "counters_permission", None, None),
                ("counters_busy", "ok", "counters_busy", None, None),
                ("counters_unsupported", "ok", "counters_unsupported", None, None),
                ("counters_failed", "ok", "counters_failed", None, None),
                ("zero_dram", "ok", "counters_unreliable", None, "counters_self_test"),
                ("absent_dram", "partial", "ok", None, "every_kernel_has_dram_row"),
                ("wrong_result", "refused", "ok", None, "result_transpose_tiled"),
                ("wrong_copy", "refused", "ok", None, "copy_bit_for_bit"),
                ("throttled", "ok", "ok", "throttled", "not_throttled"),
                ("throttled_row", "ok", "ok", "throttled", "not_throttled"),
                ("shared", "ok", "ok", "shared", "not_shared"),
                ("driver_changed", "ok", "ok", "driver_changed", "driver_unchanged")]:
            with self.subTest(name=name):
                lines, status, _ = self.run_job(fault(name))
                self.check_order(lines)
                self.assertEqual(status, 0)  # the protocol went well; what the run is worth, it says itself
                run = lines[-1]["run"]
                self.assertEqual((run["outcome"], run["counters"]["status"]), (outcome, counters))
                if flag:
                    self.assertIn(flag, run["flags"])
                if failed:
                    self.assertIn(failed, [check["name"] for check in run["checks"] if check["passed"] is False])
                if counters.startswith("counters_") and counters != "counters_unreliable":
                    self.assertTrue(all(row["warm"]["bytes"]["dram"] is None for row in run["kernels"]))


class BrokenStreams(ProtocolTest):
    def raw(self, name):
        measure = self.start("--replay", fault(name))
        measure.send(request())
        lines = []
        while (line := measure.raw_line()) is not None:
            lines.append(line)
        return lines, measure.buffer, measure.wait()

    def test_crash_in_line(self):
        lines, rest, status = self.raw("crash_in_line")
        self.assertTrue(rest.startswith(b'{"t":"progress"'))
        self.assertEqual(status, -signal.SIGABRT)

    def test_crash(self):
        _, rest, status = self.raw("crash")
        self.assertEqual((rest, status), (b"", -signal.SIGSEGV))

    def test_exits(self):
        lines, rest, status = self.raw("exit")
        self.assertEqual((rest, status), (b"", 3))
        lines, rest, status = self.raw("exit_quietly")
        self.assertEqual((rest, status), (b"", 0))
        self.assertNotIn("result", [json.loads(line)["t"] for line in lines])

    def test_garbage(self):
        lines, _, status = self.raw("garbage")
        self.assertEqual([line[:2] for line in lines if not line.startswith(b'{"t"')], [b"\x01\xff"])
        self.assertEqual(json.loads(lines[-1])["t"], "result")  # the process does not mind

    def test_oversize(self):
        lines, _, _ = self.raw("oversize")
        self.assertEqual([len(line) > LINE_MAX for line in lines].count(True), 1)

    def test_gaps(self):
        for name, gap in (("line_twice", 0), ("line_dropped", 2)):
            lines, _, _ = self.raw(name)
            seqs = [json.loads(line)["seq"] for line in lines]
            self.assertIn(gap, {b - a for a, b in zip(seqs, seqs[1:])})


class Endings(ProtocolTest):
    """Gone within two seconds of end of file, in every phase, also while the main thread hangs."""

    def test_hangs(self):
        for phase in ("identify", "start", "ceilings", "kernels", "counters", "checks"):
            with self.subTest(phase=phase):
                measure = self.start("--replay", fault("hang_" + phase))
                measure.send(request())
                if phase == "identify":
                    measure.wait_for("hello")
                    time.sleep(0.2)
                else:
                    measure.wait_for("progress", phase)
                self.assertIsNone(measure.process.poll())
                begun = time.monotonic()
                measure.ours.close()
                self.assertLess(measure.exit_time(begun), EXIT_S)
                self.assertEqual(measure.process.returncode, 75)

    def test_half_close(self):
        measure = self.start("--replay", fault("hang_kernels"))
        measure.send(request())
        measure.wait_for("progress", "kernels")
        begun = time.monotonic()
        measure.ours.shutdown(socket.SHUT_WR)
        self.assertLess(measure.exit_time(begun), EXIT_S)

    def test_end_while_it_writes(self):
        measure = self.start("--replay", BASE)
        measure.send(request())
        time.sleep(0.3)  # the socket is full: the main thread blocks in a write
        begun = time.monotonic()
        measure.ours.close()
        self.assertLess(measure.exit_time(begun), EXIT_S)

    def test_end_before_the_request(self):
        measure = self.start("--replay", BASE)
        measure.wait_for("hello")
        begun = time.monotonic()
        measure.ours.close()
        self.assertLess(measure.exit_time(begun), EXIT_S)
        self.assertEqual(measure.process.returncode, 75)

    def test_end_after_the_result(self):
        measure = self.start("--replay", BASE)
        measure.send({"t": "probe", "protocol": 2})
        measure.wait_for("result")
        measure.ours.close()
        self.assertEqual(measure.wait(), 0)

    def test_hang_after_the_result(self):
        measure = self.start("--replay", fault("hang_after_result"))
        measure.send(request(kernels=["vector_add"]))
        measure.wait_for("result")
        begun = time.monotonic()
        measure.ours.close()
        self.assertLess(measure.exit_time(begun), EXIT_S)
        self.assertEqual(measure.process.returncode, 0)  # what was told stands

    def test_stopped_parent_is_no_end(self):
        measure = self.start("--replay", fault("slow"))
        measure.send(request())
        measure.wait_for("progress", "kernels")
        time.sleep(0.3)
        self.assertIsNone(measure.process.poll())
        measure.ours.close()
        self.assertEqual(measure.wait(), 75)


class Starting(ProtocolTest):
    def test_without_a_descriptor(self):
        done = subprocess.run([PROGRAM, "--protocol"], capture_output=True, env=clean_environment(), timeout=20)
        self.assertEqual(done.returncode, 64)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_a_pipe_is_no_socket(self):
        read_end, write_end = os.pipe()
        done = subprocess.run([PROGRAM, "--protocol"], capture_output=True, env=clean_environment(), timeout=20,
                              preexec_fn=lambda: os.dup2(read_end, 3), pass_fds=(3,))
        os.close(read_end)
        os.close(write_end)
        self.assertEqual(done.returncode, 64)

    def test_listen_variables_of_somebody_else(self):
        measure = self.start("--replay", BASE, environment=clean_environment(LISTEN_PID="1", LISTEN_FDS="7"))
        measure.send({"t": "probe", "protocol": 2})
        self.assertEqual(measure.lines()[-1]["t"], "result")

    def test_settings_of_the_command_line_do_not_reach_a_job(self):
        measure = self.start("--replay", BASE, environment=clean_environment(
            ROOFLINE_MEASURE_SIZES="scaled", ROOFLINE_MEASURE_DEVICE="GPU-99999999", ROOFLINE_MEASURE_TABLE="1"))
        measure.send(request(kernels=["vector_add"], cache=("warm",)))
        self.assertEqual(measure.lines()[-1]["run"]["sizes"], "course")

    @unittest.skipUnless(shutil.which("systemd-socket-activate"), "no systemd-socket-activate here")
    def test_socket_activation(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "measure.sock")
            activate = subprocess.Popen(["systemd-socket-activate", "--accept", "-l", path, PROGRAM, "--protocol", "--replay", BASE],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
            try:
                deadline = time.monotonic() + 30
                for attempt in range(2):  # one process per connection
                    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                        client.settimeout(30)
                        while client.connect_ex(path) != 0:  # the name is there before anybody listens
                            self.assertLess(time.monotonic(), deadline)
                            time.sleep(0.02)
                        client.sendall(json.dumps(request(kernels=["vector_add"])).encode() + b"\n")
                        data = b""
                        while chunk := client.recv(65536):
                            data += chunk
                    lines = [json.loads(line) for line in data.splitlines()]
                    self.check_order(lines)
                    self.assertEqual(lines[-1]["t"], "result")
            finally:
                activate.terminate()
                activate.wait(10)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
