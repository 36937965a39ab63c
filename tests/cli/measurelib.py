"""What the tests of roofline-measure share: starting it with a socket as descriptor 3, and reading its lines."""
import json
import os
import signal
import socket
import subprocess
import time

LINE_MAX = 1024 * 1024
KERNELS = ["vector_add", "vector_add_stride32", "transpose_naive", "transpose_tiled", "matmul_naive", "matmul_tiled16",
           "block_reduction", "stencil_global", "stencil_tiled", "polynomial256"]


def request(kernels=None, cache=("warm", "cold"), sizes="course", device=None, counters=True):
    params = {"sizes": sizes, "cache": list(cache), "kernels": list(kernels or KERNELS), "counters": counters}
    return {"t": "run", "protocol": 2, "job": "12", "devices": [device] if device else [], "suite": "verify", "params": params}


def clean_environment(**extra):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ROOFLINE_", "LISTEN_"))}
    environment.update(extra)
    return environment


class Measure:
    """One process with its end of the protocol."""

    def __init__(self, program, *options, environment=None, descriptor=3):
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        number = theirs.fileno()

        def place():
            os.dup2(number, descriptor)

        self.process = subprocess.Popen([program, "--protocol", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, preexec_fn=place, pass_fds=(descriptor,),
                                        env=environment or clean_environment())
        theirs.close()
        self.ours.settimeout(60)
        self.buffer = b""
        self.eof = False

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.ours.sendall(data)

    def raw_line(self):
        """The next line without its newline, or None at the end of the stream (what is left stays in buffer)."""
        while b"\n" not in self.buffer:
            try:
                data = self.ours.recv(65536)
            except ConnectionResetError:
                data = b""
            if not data:
                self.eof = True
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def line(self):
        raw = self.raw_line()
        return None if raw is None else json.loads(raw)

    def lines(self):
        found = []
        while (line := self.line()) is not None:
            found.append(line)
        return found

    def wait_for(self, kind, phase=None):
        while (line := self.line()) is not None:
            if line["t"] == kind and (phase is None or line.get("phase") == phase):
                return line
        raise AssertionError(f"the stream ended without {kind} {phase or ''}")

    def wait(self, seconds=20):
        """Exit status; negative for a signal. Ends the process when it outlasts the time."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"still there after {seconds} s")

    def exit_time(self, since):
        self.wait(10)
        return time.monotonic() - since

    def output(self):
        return self.process.stdout.read(), self.process.stderr.read()

    def close(self):
        self.ours.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
