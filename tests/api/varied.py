"""A daemon whose measuring program takes its time per launch and its driver from a file, for tests of what many runs say together."""
import contextlib
import json
import pathlib
import shutil
import sys
import tempfile

import harness

PROGRAM = """#!%s -B
import json, pathlib, sys
sys.path.insert(0, %r)
import fake_measure
settings = json.loads((pathlib.Path(__file__).parent / "settings.json").read_text())
for name, value in settings.items():
    setattr(fake_measure, name, value)
sys.exit(fake_measure.main())
"""
DEVICE = "GPU-00000000-test"
KERNELS = ["vector_add", "transpose_naive", "polynomial256"]


class Varied:
    def __init__(self, *options):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="rooflined-test-"))
        program = self.directory / "measure"
        program.write_text(PROGRAM % (sys.executable, str(harness.HERE)))
        program.chmod(0o700)
        self.set(1e-3, "580.1")
        self.daemon = harness.Daemon("--open-loopback", *options, measure=str(program), directory=self.directory)

    def set(self, time_s, driver, outcome="ok", flags=(), telemetry=0):
        settings = dict(TIME_S=time_s, DRIVER=driver, OUTCOME=outcome, FLAGS=list(flags), TELEMETRY=telemetry)
        (self.directory / "settings.json").write_text(json.dumps(settings))

    def run(self, time_s=1e-3, driver="580.1", outcome="ok", flags=(), telemetry=0, **body):
        """One verification; its run's id. outcome, flags and the number of readings are the run's."""
        self.set(time_s, driver, outcome, flags, telemetry)
        answer = self.daemon.post({"suite": "verify", "kernels": KERNELS, **body})
        if answer.status != 202:
            raise AssertionError(answer.body)
        job = self.daemon.wait_job(answer.json["id"])
        if job["state"] != "done":
            raise AssertionError(job)
        return job["run"]

    def runs(self, times, driver, **body):
        return [self.run(time_s, driver, **body) for time_s in times]

    def ok(self, path):
        answer = self.daemon.get(path)
        if answer.status != 200:
            raise AssertionError("%s: %d %s" % (path, answer.status, answer.body))
        return answer.json

    def close(self):
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, self.directory, ignore_errors=True)
            self.daemon.__exit__(None, None, None)
