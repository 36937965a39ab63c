"""Who may do what: Host, Origin, tokens, Unix peers, anonymous callers."""
import contextlib
import hashlib
import http.client
import os
import pathlib
import socket
import stat
import tempfile
import unittest

import harness

JOB = {"suite": "verify", "kernels": ["vector_add"]}


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=harness.LIMIT_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def unix_request(path, method, where, body=None, headers=None):
    with contextlib.closing(UnixConnection(path)) as connection:
        connection.request(method, where, body, headers or {})
        answer = connection.getresponse()
        return harness.Answer(answer.status, answer.headers, answer.read())


class Access(unittest.TestCase):
    def daemon(self, *options, **more):
        daemon = harness.Daemon(*options, **more)
        self.addCleanup(daemon.kill)
        return daemon

    def folder(self):
        folder = tempfile.TemporaryDirectory(prefix="rooflined-access-")
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def tokens(self, **rights):
        path = self.folder() / "tokens"
        path.write_text("# id right sha256\n\n" + "".join(
            "%s %s %s\n" % (name, right, hashlib.sha256(("secret-" + name).encode()).hexdigest()) for name, right in rights.items()))
        path.chmod(0o600)
        return str(path)

    @staticmethod
    def bearer(name):
        return "Bearer secret-" + name

    def test_hosts(self):
        daemon = self.daemon("--allow-host", "gpu.example", "--allow-host", "Other.Example,third.example")
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:%d" % daemon.port, "127.9.8.7:80", "[::1]", "[::1]:8049", "gpu.example", "GPU.Example:8049",
                     "other.example", "third.example:1"):
            self.assertEqual(daemon.get("/api/v1/kernels", Host=host).status, 200, host)
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.256", "127.0.0", "127.1", "0127.0.0.1", "0.0.0.0", "[::]",
                     "gpu.example.evil", "xgpu.example", "8.8.8.8", "localhost,evil"):
            answer = daemon.get("/api/v1/kernels", Host=host)
            self.assertEqual((answer.status, answer.code), (403, "bad_host"), host)
            # probes come by whatever address the machine has
            self.assertEqual(daemon.get("/healthz", Host=host).status, 200, host)
            self.assertIn("ready", daemon.get("/readyz", Host=host).json, host)
        for host in ("[::1", "::1", "localhost:", "localhost:x", "localhost:0", "localhost:65536", "localhost:80:80", "user@localhost", "localhost/"):
            for path in ("/api/v1/kernels", "/healthz", "/readyz"):
                answer = daemon.get(path, Host=host)
                self.assertEqual((answer.status, answer.code), (400, "bad_request"), (path, host))
        # The page and errors too: another site's name pointed at this address gets nothing.
        self.assertEqual(daemon.get("/", Host="evil.example").code, "bad_host")
        self.assertEqual(daemon.get("/nope", Host="evil.example").code, "bad_host")
        self.assertEqual(daemon.get("/healthz/", Host="evil.example").code, "bad_host")
        for request in (b"GET /healthz HTTP/1.1\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", b"GET http://a/healthz HTTP/1.1\r\nHost: b\r\n\r\n"):
            self.assertEqual(harness.statuses(daemon.raw(request)), [400], request)  # but that is no request

    def test_origins(self):
        daemon = self.daemon("--open-loopback", "--allow-host", "gpu.example")
        own = "127.0.0.1:%d" % daemon.port
        for host, origin in ((own, "http://" + own), ("gpu.example", "https://gpu.example"), (own, None)):
            headers = {"Host": host, **({"Origin": origin} if origin else {})}
            self.assertEqual(daemon.post(JOB, **headers).status, 202, origin)
        for origin in ("null", "http://evil.example", "http://127.0.0.1", "http://localhost:%d" % daemon.port, "http://" + own + "/", "http://" + own + ".evil", own, "", "ftp://" + own):
            answer = daemon.post(JOB, Origin=origin)
            self.assertEqual((answer.status, answer.code), (403, "bad_origin"), origin)
            self.assertEqual(daemon.request("DELETE", "/api/v1/jobs/1", headers={"Origin": origin}).code, "bad_origin")
            self.assertEqual(daemon.get("/healthz", Origin=origin).status, 200)

    def test_anonymous_loopback(self):
        daemon = self.daemon()
        self.assertEqual(daemon.get("/api/v1/jobs").status, 200)
        answer = daemon.post(JOB)
        self.assertEqual((answer.status, answer.code), (401, "unauthorized"))
        self.assertIn("--open-loopback", answer.json["error"]["message"])
        self.assertEqual(answer.headers["WWW-Authenticate"], 'Bearer realm="rooflined"')
        self.assertEqual(daemon.request("DELETE", "/api/v1/jobs/1").status, 401)
        # Without any token file a token is still not ignored.
        self.assertEqual(daemon.get("/api/v1/jobs", Authorization="Bearer x").status, 401)

    def test_loopback_needs_a_token(self):
        """As behind a proxy on the node, whose clients all come from loopback."""
        for way in ((("--loopback-needs-token",), {}), ((), {"ROOFLINED_LOOPBACK_NEEDS_TOKEN": "1"})):
            daemon = self.daemon(*way[0], "--token-file", self.tokens(reader="read"), environment=way[1], ready=False)
            for path in ("/api/v1/jobs", "/api/v1/runs", "/api/v1/runs.json", "/api/v1/devices", "/metrics"):
                answer = daemon.get(path)
                self.assertEqual((answer.status, answer.code), (401, "unauthorized"), path)
                self.assertEqual(daemon.get(path, Authorization=self.bearer("reader")).status, 200, path)
            self.assertEqual(daemon.post(JOB).status, 401)
            for path in ("/healthz", "/", "/api/v1/openapi.json"):  # what is public stays so
                self.assertEqual(daemon.get(path).status, 200, path)
            self.assertNotEqual(daemon.get("/readyz").status, 401)

    def test_a_token_with_blanks_around_it(self):
        daemon = self.daemon("--token-file", self.tokens(reader="read"))
        for blanks in ("%s ", "%s\t", "%s \t ", "%s"):
            self.assertEqual(daemon.get("/api/v1/jobs", Authorization=blanks % self.bearer("reader")).status, 200, blanks)
        self.assertEqual(daemon.get("/api/v1/jobs", Authorization="Bearer  \t ").status, 401)

    def test_tokens(self):
        daemon = self.daemon("--token-file", self.tokens(reader="read", one="submit", two="submit", boss="admin"))
        self.assertEqual(daemon.post(JOB).status, 401)
        for authorization in ("Bearer nobody", "Bearer ", "Bearer", "Basic eDp5", "secret-one", "", "Bearer " + "x" * 600, self.bearer("one") + "x", self.bearer("ONE"),
                              "Bearer " + hashlib.sha256(b"secret-one").hexdigest()):
            for answer in (daemon.get("/api/v1/jobs", Authorization=authorization), daemon.post(JOB, Authorization=authorization)):
                self.assertEqual((answer.status, answer.code), (401, "unauthorized"), authorization)
        answer = daemon.post(JOB, Authorization=self.bearer("reader"))
        self.assertEqual((answer.status, answer.code), (403, "forbidden"))
        self.assertEqual(daemon.get("/api/v1/jobs", Authorization=self.bearer("reader")).status, 200)
        hang = {"suite": "verify", "kernels": ["stencil_global"]}
        jobs = [daemon.post(hang, Authorization=self.bearer(name)).json for name in ("one", "two", "boss")]
        self.assertEqual([job["principal"] for job in jobs], ["token:one", "token:two", "token:boss"])
        path = "/api/v1/jobs/" + jobs[0]["id"]
        self.assertEqual(daemon.get(path + "/transcript", Authorization=self.bearer("two")).status, 403)
        self.assertEqual(daemon.get(path + "/transcript").status, 403)
        self.assertEqual(daemon.get(path + "/transcript", Authorization=self.bearer("one")).status, 200)
        self.assertEqual(daemon.get(path + "/transcript", Authorization=self.bearer("boss")).status, 200)
        self.assertEqual(daemon.request("DELETE", path, headers={"Authorization": self.bearer("two")}).code, "forbidden")
        self.assertEqual(daemon.request("DELETE", path, headers={"Authorization": "bearer  secret-one"}).status, 202)
        self.assertEqual(daemon.request("DELETE", "/api/v1/jobs/" + jobs[1]["id"], headers={"Authorization": self.bearer("boss")}).status // 100, 2)

    def test_idempotency_is_per_principal(self):
        daemon = self.daemon("--token-file", self.tokens(one="submit", two="submit"))
        ids = {daemon.post(JOB, Authorization=self.bearer(name), Idempotency_Key="same").json["id"] for name in ("one", "two", "one")}
        self.assertEqual(len(ids), 2)

    def test_unix(self):
        path = str(self.folder() / "socket")
        daemon = self.daemon("--listen-unix", path)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o660)

        def ask(*request, **more):
            return unix_request(path, *request, **more)
        answer = ask("POST", "/api/v1/jobs", '{"suite":"verify"}', {"Content-Type": "application/json"})
        self.assertEqual((answer.status, answer.json["principal"]), (202, "uid:%d" % os.getuid()))
        self.assertEqual(ask("GET", "/api/v1/jobs/%s/transcript" % answer.json["id"]).status, 200)
        self.assertEqual(ask("GET", "/api/v1/jobs", headers={"Host": "evil.example"}).code, "bad_host")
        self.assertEqual(ask("GET", "/healthz", headers={"Authorization": "Bearer x"}).status, 401)
        self.assertEqual(daemon.post(JOB).status, 401)
        # A second daemon must not take the socket over; a socket left behind by a killed one it must.
        status, _, text = harness.run_program("--listen", "none", "--listen-unix", path, "--measure-exec", harness.FAKE, "--database", path + ".db")
        self.assertEqual(status, 71, text)
        self.assertEqual(ask("GET", "/healthz").status, 200)
        daemon.process.kill()
        daemon.process.wait()
        self.assertTrue(os.path.exists(path))
        second = self.daemon("--listen-unix", path)
        self.assertEqual(ask("GET", "/healthz").status, 200)
        self.assertEqual(second.stop(), 0)
        self.assertFalse(os.path.exists(path))

    def test_unix_alone(self):
        path = str(self.folder() / "socket")
        daemon = self.daemon("--listen-unix", path, listen="none", ready=False)
        self.assertEqual(unix_request(path, "GET", "/healthz").status, 200)
        self.assertIsNone(daemon.port)


if __name__ == "__main__":
    unittest.main()
