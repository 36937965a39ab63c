"""rooflined as a command: options, environment, and what can be wrong at start, each in one line with a sysexits code."""
import os
import pathlib
import resource
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
import unittest

import harness


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rooflined-program-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.base = ["--listen", "127.0.0.1:0", "--database", str(self.folder / "x.db"), "--measure-exec", harness.FAKE]

    def fails(self, status, *options, says=(), environment=None):
        got, out, text = harness.run_program(*options, environment=environment)
        self.assertEqual((got, out), (status, ""), text)
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.startswith("rooflined: "), text)
        self.assertRegex(text, r"\(.+\)\n$", "no next action")
        for word in says:
            self.assertIn(word, text)

    def test_help_and_version(self):
        status, out, text = harness.run_program("--help")
        self.assertEqual((status, text), (0, ""))
        for option in ("listen", "listen-unix", "database", "measure-exec", "measure-socket", "replay", "static", "token-file", "allow-host", "open-loopback",
                       "loopback-needs-token", "open-network", "request-timeout", "idle-timeout", "job-timeout", "migrate", "check", "retire", "reason", "verbose", "help", "version"):
            self.assertIn("--" + option, out)
        self.assertTrue(all(len(line) <= 110 for line in out.splitlines()))
        self.assertEqual(out.count("stopped)"), 3)
        for status in (64, 65, 66, 70, 71, 74, 75):
            self.assertRegex(out.split("Exit status:")[1], rf"\b{status} ")
        status, out, text = harness.run_program("--version")
        self.assertEqual((status, text), (0, ""))
        self.assertRegex(out, r"^rooflined \d+\.\d+\.\d+(\+\w+)?\n$")

    def test_output_that_cannot_be_written(self):
        for option in ("--help", "--version"):
            with open("/dev/full", "w") as full:
                done = subprocess.run([harness.BIN, option], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True,
                                      timeout=harness.LIMIT_S, env=harness.clean_environment())
            self.assertEqual((done.returncode, done.stderr.count("\n")), (74, 1), done.stderr)

    def test_options(self):
        self.fails(64, "--nope", says=["--nope"])
        self.fails(64, "--nope=1")
        self.fails(64, "-h")
        self.fails(64, "--")
        self.fails(64, "serve", says=["serve"])
        self.fails(64, "--lis", "127.0.0.1:0")
        self.fails(64, "--open-loopback=1", says=["--open-loopback"])
        for option in ("listen", "database", "measure-exec", "replay", "static", "token-file", "allow-host", "request-timeout"):
            self.fails(64, "--" + option, says=["--" + option])
            self.fails(64, "--" + option, "--verbose", says=["--" + option])
            self.fails(64, "--" + option, "", says=["--" + option])
            self.fails(64, "--" + option + "=", says=["--" + option])
        for value in ("0", "-1", "x", "3601", "1.5", "9223372036854775808"):
            self.fails(64, "--request-timeout", value, says=[value])
        self.fails(64, "--allow-host", "a/b")
        self.fails(64, "--allow-host", "a,,b")

    def test_environment(self):
        self.fails(64, *self.base, environment={"ROOFLINED_REQUEST_TIMEOUT": "x"}, says=["ROOFLINED_REQUEST_TIMEOUT"])
        self.fails(64, *self.base, environment={"ROOFLINED_OPEN_LOOPBACK": "yes"}, says=["ROOFLINED_OPEN_LOOPBACK"])
        self.fails(64, environment={"ROOFLINED_LISTEN": "nowhere"}, says=["nowhere"])
        with harness.Daemon(environment={"ROOFLINED_OPEN_LOOPBACK": "1", "ROOFLINED_ALLOW_HOST": "a.example,b.example", "ROOFLINED_LISTEN": "nowhere"}) as daemon:
            self.assertEqual(daemon.get("/healthz", Host="b.example").status, 200)
            self.assertEqual(daemon.post({"suite": "verify"}).status, 202)

    def test_contradictions(self):
        self.fails(64, *self.base, "--measure-socket", "/nowhere")
        self.fails(64, "--measure-socket", "/nowhere", "--replay", harness.FAKE)
        self.fails(64, "--listen", "none")
        for option in ("--open-loopback", "--open-network"):
            self.fails(64, *self.base, "--loopback-needs-token", option, says=[option])
        self.fails(64, *self.base, "--loopback-needs-token", says=["--token-file"])

    def test_listen(self):
        for value in ("", "8049", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "example.com:80", "[::1", "::1:80", "[::1]80", "256.0.0.1:80", "127.0.0.1:80x", ":80"):
            self.fails(64, *self.base, "--listen", value)
        for value in ("0.0.0.0:0", "[::]:0", "192.0.2.1:80"):
            self.fails(64, *self.base, "--listen", value, says=["--token-file", "--open-network"])
        self.fails(71, *self.base, "--listen", "192.0.2.1:0", "--open-network", says=["192.0.2.1"])

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.fails(71, *self.base, "--listen", "127.0.0.1:%d" % taken.getsockname()[1], says=["in use"])
        self.assertFalse((self.folder / "x.db").exists(), "a daemon that cannot listen must not touch the database")

    def test_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError:
            self.skipTest("no IPv6 here")
        with harness.Daemon(listen="[::1]:0", ready=False) as daemon, socket.create_connection(("::1", daemon.port), timeout=harness.LIMIT_S) as connection:
            connection.sendall(b"GET /api/v1/jobs HTTP/1.1\r\nHost: [::1]:%d\r\nConnection: close\r\n\r\n" % daemon.port)
            self.assertEqual(harness.statuses(harness.read_all(connection)), [200])

    def test_too_few_descriptors_to_start(self):
        done = subprocess.run(["sh", "-c", 'ulimit -n 10 && exec "$@"', "sh", harness.BIN, *self.base], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=harness.LIMIT_S, env=harness.clean_environment())
        self.assertEqual((done.returncode, done.stderr.count("\n")), (71, 1), done.stderr)
        self.assertIn("10 open files", done.stderr)
        self.assertIn("ulimit -n", done.stderr)

    def test_uptime_is_in_milliseconds(self):
        with harness.Daemon(ready=False) as daemon, daemon.socket() as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertRegex(harness.read_all(connection).decode(), r'"uptime_s":\d+\.\d{3}\}')

    def test_few_descriptors(self):
        """More connections than the process may have descriptors: they wait, nothing breaks."""
        with harness.Daemon(ready=False, limit_descriptors=48) as daemon:
            connections = [daemon.socket() for _ in range(80)]
            daemon.wait_for(lambda: daemon.descriptors() >= 48, "the last descriptor to be taken")
            time.sleep(0.2)  # until the daemon has seen that there are no more
            for connection in connections:
                connection.close()
            self.assertEqual(daemon.get("/healthz").status, 200)

    def test_limit_on_files(self):
        """A limit on the size of files is to the daemon what a full disk is: said, and passing."""
        with harness.Daemon("--open-loopback") as daemon:
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
            answer = daemon.post({"suite": "verify"})
            self.assertEqual((answer.status, answer.code), (503, "store_full"))
            self.assertEqual(daemon.get("/readyz").status, 503)
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            self.assertEqual(daemon.post({"suite": "verify"}).status, 202)

    def limited(self, limit, *options):
        """The program started under a limit, as ulimit sets it."""
        return subprocess.run([harness.BIN, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=harness.LIMIT_S,
                              env=harness.clean_environment(), preexec_fn=lambda: resource.setrlimit(*limit))

    def test_limit_on_files_from_the_start(self):
        """Not signal 25 without a word; so with what only looks after the database."""
        limit = (resource.RLIMIT_FSIZE, (4096, 4096))
        for options in ((), ("--migrate",)):
            (self.folder / "x.db").unlink(missing_ok=True)
            if options:
                (self.folder / "x.db").touch()
            done = self.limited(limit, *self.base, *options)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (74, 1), done.stderr)
            self.assertIn("RLIMIT_FSIZE", done.stderr)
            self.assertIn("Free space", done.stderr)

    def test_limits_are_warned_of(self):
        for kind, bytes_, name in ((resource.RLIMIT_FSIZE, 1 << 30, "RLIMIT_FSIZE"), (resource.RLIMIT_AS, 400 << 20, "RLIMIT_AS")):
            if kind == resource.RLIMIT_AS and harness.sanitized():
                continue  # the sanitizer needs terabytes of addresses
            old = resource.getrlimit(kind)
            resource.setrlimit(kind, (bytes_, old[1]))
            try:
                with harness.Daemon(measure="/bin/false", ready=False) as daemon:
                    self.assertRegex(daemon.text(), "warning: .*%d bytes.*%s" % (bytes_, name))
                    self.assertEqual(daemon.get("/healthz").status, 200)
            finally:
                resource.setrlimit(kind, old)

    def test_lost_database(self):
        """A job that would go into a deleted file is not acknowledged."""
        with harness.Daemon("--open-loopback") as daemon:
            (daemon.directory / "test.db").unlink()
            answer = daemon.post({"suite": "verify"})
            self.assertEqual((answer.status, answer.code), (500, "store_io"))
            self.assertIn("deleted", answer.json["error"]["message"])
            ready = daemon.get("/readyz")
            self.assertEqual((ready.status, ready.json["reasons"][0]["code"]), (503, "store_io"))
            self.assertEqual(daemon.get("/api/v1/jobs").status, 200)

    def test_listen_unix(self):
        self.fails(64, *self.base, "--listen-unix", "/" + "x" * 200)
        self.fails(71, *self.base, "--listen-unix", str(self.folder / "none" / "socket"))
        (self.folder / "file").write_text("kept")
        self.fails(71, *self.base, "--listen-unix", str(self.folder / "file"), says=["not a socket"])
        self.assertEqual((self.folder / "file").read_text(), "kept")

    def test_measuring_program(self):
        self.fails(71, *self.base, "--measure-exec", str(self.folder / "none"), says=["none", "--measure-exec"])
        self.fails(71, *self.base, "--measure-exec", str(self.folder), says=["not a file"])
        plain = self.folder / "plain"
        plain.write_text("")
        self.fails(71, *self.base, "--measure-exec", str(plain))

    def test_recording(self):
        self.fails(66, *self.base, "--replay", str(self.folder / "none"), says=["none"])
        self.fails(66, *self.base, "--replay", str(self.folder), says=["not a file"])

    def test_page(self):
        self.fails(74, *self.base, "--static", str(self.folder / "none"), says=["none"])
        self.fails(74, *self.base, "--static", harness.FAKE)
        deep = self.folder / "page"
        (deep / "a" / "b" / "c" / "d" / "e").mkdir(parents=True)
        self.fails(74, *self.base, "--static", str(deep))
        big = self.folder / "big"
        big.mkdir()
        with open(big / "x.js", "wb") as file:
            file.truncate(20000000)
        self.fails(74, *self.base, "--static", str(big))

    def test_token_file(self):
        path = self.folder / "tokens"
        line = "ci submit " + "0" * 64 + "\n"
        for text in ("", "# nothing\n", "ci submit\n", "ci write " + "0" * 64 + "\n", "ci submit " + "0" * 63 + "\n", "ci submit " + "A" * 64 + "\n", "a/b submit " + "0" * 64 + "\n",
                     line + line, line + "other read " + "0" * 64 + "\n", line[:-1] + " more\n", "x" * 300 + "\n", "x" * 65 + line[2:]):
            path.write_text(text)
            path.chmod(0o600)
            self.fails(64, *self.base, "--token-file", str(path), says=["token file"])
        path.write_text("# one\n\n" + line + line.replace("ci", "c/i"))
        self.fails(64, *self.base, "--token-file", str(path), says=["line 4"])
        path.write_text(line)
        for mode in (0o666, 0o620, 0o602):
            path.chmod(mode)
            self.fails(64, *self.base, "--token-file", str(path), says=["chmod"])
        path.chmod(0o600)
        if os.geteuid() == 0:
            os.chown(path, 12345, -1)
            self.fails(64, *self.base, "--token-file", str(path), says=["12345", "chown"])
        fifo = self.folder / "fifo"
        os.mkfifo(fifo, 0o600)
        self.fails(64, *self.base, "--token-file", str(fifo), says=["regular file"])  # and does not wait for its writer
        self.fails(64, *self.base, "--token-file", "/dev/null", says=["regular file"])
        self.fails(64, *self.base, "--token-file", str(self.folder / "none"))
        self.fails(64, *self.base, "--token-file", str(self.folder))

    def test_databases(self):
        path = self.folder / "x.db"
        path.write_bytes(b"this is no database at all, but long enough to look at" * 50)
        self.fails(66, *self.base)
        path.unlink()
        path.mkdir()
        self.fails(66, *self.base)
        self.fails(66, *self.base[:2], *self.base[4:], "--database", str(self.folder / "none" / "x.db"))
        for task in ("--check", "--migrate"):
            self.fails(66, "--database", str(self.folder / "none.db"), task, says=["none.db"])

    def made(self):
        with harness.Daemon(directory=self.folder, ready=False):
            pass
        return self.folder / "test.db"

    def test_newer_database(self):
        path = self.made()
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA user_version = 9999")
        database.close()
        self.fails(65, *self.base, "--database", str(path), says=["9999"])

    def test_foreign_database(self):
        path = self.folder / "foreign.db"
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE t (x)")
        database.close()
        self.fails(66, *self.base, "--database", str(path))

    def test_database_in_use(self):
        with harness.Daemon(directory=self.folder, ready=False):
            self.fails(75, *self.base, "--database", str(self.folder / "test.db"))

    def test_unreadable_database(self):
        if os.getuid() == 0:
            self.skipTest("root may read everything")
        path = self.made()
        path.chmod(0)
        self.fails(66, *self.base, "--database", str(path))

    def test_check_and_migrate(self):
        path = self.made()
        for task in ("--check", "--migrate"):
            status, out, text = harness.run_program("--database", str(path), task)
            self.assertEqual((status, text), (0, ""))
            self.assertRegex(out, r"schema version \d+")
        data = bytearray(path.read_bytes())
        for at in range(3 * 4096, len(data) - 64, 4096):
            data[at:at + 64] = b"\xa5" * 64
        path.write_bytes(data)
        status, out, text = harness.run_program("--database", str(path), "--check")
        self.assertEqual((status, out), (65, ""), text)

    def test_retire(self):
        with harness.Daemon("--open-loopback", directory=self.folder) as daemon:
            runs = []
            for _ in range(3):
                job = daemon.wait_job(daemon.post({"suite": "verify"}).json["id"])
                self.assertEqual(job["state"], "done", job)
                runs.append(job["run"])
            daemon.stop()
        path = str(self.folder / "test.db")
        self.fails(64, "--database", path, "--retire", runs[0], says=["--reason"])
        self.fails(64, "--database", path, "--reason", "none", says=["--retire"])
        self.fails(64, "--database", path, "--backup", path + ".copy", "--check", says=["--backup stands alone"])
        self.fails(64, "--database", path, "--retire", "x1", "--reason", "a typing error", says=["x1"])
        self.fails(64, "--database", path, "--retire", "," + runs[0], "--reason", "a typing error")
        status, out, text = harness.run_program("--database", path, "--retire", runs[0] + "," + runs[2], "--reason", "wrong card", "--check")
        self.assertEqual((status, text), (0, ""))
        self.assertEqual(out.splitlines()[:2], ["run %s: retired" % run for run in (runs[0], runs[2])])
        self.assertIn("integrity ok", out)
        status, out, text = harness.run_program("--database", path, "--retire", runs[0], "--reason", "again")
        self.assertEqual((status, out), (66, ""), text)
        with sqlite3.connect(path) as database:
            self.assertEqual(database.execute("SELECT run_id, reason FROM run_retired ORDER BY run_id").fetchall(),
                             [(int(run), "wrong card") for run in (runs[0], runs[2])])
        database.close()
        with harness.Daemon(directory=self.folder) as daemon:
            self.fails(75, "--database", path, "--retire", runs[1], "--reason", "while it runs")
            self.assertEqual(daemon.get("/api/v1/runs/" + runs[0]).status, 404)
            self.assertEqual([run["id"] for run in daemon.get("/api/v1/runs?source=any").json["items"]], [runs[1]])

    def test_default_measuring_program(self):
        """roofline-measure beside the program, wherever that lies."""
        copy = self.folder / "rooflined"
        shutil.copy2(harness.BIN, copy)
        done = subprocess.run([copy, "--listen", "127.0.0.1:0", "--database", str(self.folder / "x.db")], capture_output=True, text=True, timeout=harness.LIMIT_S,
                              env=harness.clean_environment())
        self.assertEqual(done.returncode, 71, done.stderr)
        self.assertIn(str(self.folder / "roofline-measure"), done.stderr)

    def test_no_page_is_said(self):
        copy = self.folder / "a" / "b" / "rooflined"
        copy.parent.mkdir(parents=True)
        shutil.copy2(harness.BIN, copy)
        with open(self.folder / "log", "wb") as log:
            process = subprocess.Popen([copy, *self.base], stderr=log, stdout=subprocess.DEVNULL, env=harness.clean_environment())
        try:
            harness.Daemon.wait_for(lambda: "listening" in (self.folder / "log").read_text(), "start")
            self.assertIn("warning", (self.folder / "log").read_text())
        finally:
            process.terminate()
            self.assertEqual(process.wait(harness.LIMIT_S), 0)

    def test_no_cuda(self):
        """The daemon must not be brought down by a driver: it links none of it."""
        text = subprocess.run(["ldd", harness.BIN], capture_output=True, text=True, check=True).stdout.lower()
        self.assertIn("microhttpd", text)
        for word in ("cuda", "cupti", "nvidia", "nvperf", "libnv", "cublas"):
            self.assertNotIn(word, text)


if __name__ == "__main__":
    unittest.main()
