"""Jobs through HTTP: submitting, idempotency, cancelling, limits of the queue, transcripts, shutdown."""
import json
import os
import signal
import tempfile
import time
import unittest

import harness

HANG = {"suite": "verify", "kernels": ["stencil_global"]}


class Jobs(unittest.TestCase):
    def daemon(self, *options, **more):
        daemon = harness.Daemon("--open-loopback", *options, **more)
        self.addCleanup(daemon.kill)
        return daemon

    def wait_running(self, daemon, job):
        return daemon.wait_for(lambda: (view := daemon.get("/api/v1/jobs/" + job).json)["state"] == "running" and view["progress"] and view, "running")

    def test_submit(self):
        daemon = self.daemon()
        answer = daemon.post({"suite": "verify"})
        self.assertEqual(answer.status, 202, answer.body)
        job = answer.json
        self.assertEqual(answer.headers["Location"], "/api/v1/jobs/" + job["id"])
        self.assertEqual(answer.headers["Retry-After"], "1")
        self.assertIsNone(answer.headers["Idempotent-Replayed"])
        self.assertEqual((job["device"], job["sizes"], job["cache"], job["counters"], job["principal"]),
                         ("GPU-00000000-test", "course", ["warm", "cold"], True, "anonymous"))
        done = daemon.wait_job(job["id"])
        self.assertEqual((done["state"], done["outcome"]), ("done", "ok"))
        self.assertIsNone(daemon.get("/api/v1/jobs/" + job["id"]).headers["Retry-After"])
        self.assertEqual(daemon.get(done["links"]["run"]).json["job"], job["id"])
        failed = daemon.wait_job(daemon.post({"suite": "verify", "kernels": ["matmul_naive"]}).json["id"])
        self.assertEqual((failed["state"], failed["error"]["code"]), ("failed", "cuda_failed"))

    def test_chunked_and_pieces(self):
        daemon = self.daemon()
        body = json.dumps({"suite": "verify", "kernels": ["vector_add"], "note": "ü€𝄞"}, ensure_ascii=False).encode()
        head = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
        for data, pieces in ((head + b"Content-Length: %d\r\n\r\n" % len(body) + body, 1),
                             (head + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"1\r\n%c\r\n" % c for c in body) + b"0\r\n\r\n", 1),
                             (head + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body) + body, None)):
            answer = daemon.raw(data, pieces)
            self.assertEqual([code for code in harness.statuses(answer) if code != 100], [202], answer)
            self.assertEqual(json.loads(answer[answer.rindex(b"\r\n\r\n"):])["note"], "ü€𝄞")

    def test_idempotency(self):
        daemon = self.daemon()
        body = '{"suite":"verify","kernels":["vector_add"]}'
        for key in ("k", "K" * 128, "a b~!"):
            first = daemon.post(body, Idempotency_Key=key)
            again = daemon.post(body, Idempotency_Key=key)
            self.assertEqual((first.status, again.status), (202, 202))
            self.assertEqual(first.json["id"], again.json["id"])
            self.assertEqual((first.headers["Idempotent-Replayed"], again.headers["Idempotent-Replayed"]), (None, "true"))
            self.assertEqual(again.headers["Location"], first.headers["Location"])
            # The body's bytes count, not its meaning.
            other = daemon.post(body + " ", Idempotency_Key=key)
            self.assertEqual((other.status, other.code), (409, "idempotency_conflict"))
            # Blanks around a field's value are no part of it.
            for around in ("  %s", "%s \t", "\t%s "):
                self.assertEqual(daemon.post(body, Idempotency_Key=around % key).json["id"], first.json["id"], around)
        self.assertNotEqual(daemon.post(body).json["id"], daemon.post(body).json["id"])
        done = daemon.wait_job(first.json["id"])
        self.assertEqual(daemon.post(body, Idempotency_Key="a b~!").json["id"], done["id"], "the key lives as long as the job")

    def test_cancel(self):
        daemon = self.daemon()
        running, queued = (daemon.post(HANG).json["id"] for _ in range(2))
        self.wait_running(daemon, running)
        answer = daemon.request("DELETE", "/api/v1/jobs/" + queued)
        self.assertEqual((answer.status, answer.json["state"]), (200, "cancelled"))
        answer = daemon.request("DELETE", "/api/v1/jobs/" + running)
        self.assertEqual((answer.status, answer.json["cancel_requested"]), (202, True))
        self.assertEqual(daemon.wait_job(running)["state"], "cancelled")
        for job in (running, queued):
            answer = daemon.request("DELETE", "/api/v1/jobs/" + job)
            self.assertEqual((answer.status, answer.code), (409, "conflict"))
        self.assertEqual(daemon.request("DELETE", "/api/v1/jobs/999").code, "not_found")
        self.assertEqual(daemon.wait_job(daemon.post({"suite": "verify"}).json["id"])["state"], "done")

    def test_full(self):
        daemon = self.daemon()
        answers = [daemon.post(HANG) for _ in range(40)]
        refused = [answer for answer in answers if answer.status != 202]
        self.assertTrue(refused)
        for answer in refused:
            self.assertEqual((answer.status, answer.code), (429, "too_many_jobs"))
            self.assertGreater(int(answer.headers["Retry-After"]), 0)
        self.assertEqual(len(daemon.get("/api/v1/jobs?limit=200").json["items"]), len(answers) - len(refused))
        # One less, and there is room again.
        queued = daemon.get("/api/v1/jobs?state=queued").json["items"][0]["id"]
        self.assertEqual(daemon.request("DELETE", "/api/v1/jobs/" + queued).status, 200)
        self.assertEqual(daemon.post(HANG).status, 202)

    def test_transcript(self):
        daemon = self.daemon()
        job = daemon.post(HANG).json["id"]
        self.wait_running(daemon, job)
        answer = daemon.get("/api/v1/jobs/%s/transcript" % job)
        self.assertEqual(answer.headers["Content-Type"], "text/plain; charset=utf-8")
        self.assertIn("started \\x1b[31mred\\x07 end", answer.body.decode())
        self.assertNotIn("\x1b", answer.body.decode())
        self.assertEqual(daemon.get("/api/v1/jobs/999/transcript").status, 404)

    def test_orderly_shutdown(self):
        daemon = self.daemon()
        job = daemon.post(HANG).json["id"]
        self.wait_running(daemon, job)
        kept = daemon.connection()
        self.addCleanup(kept.close)
        kept.request("GET", "/healthz")
        kept.getresponse().read()
        self.assertEqual(daemon.stop(), 0)
        second = self.daemon(directory=daemon.directory)
        self.assertEqual(second.get("/api/v1/jobs/" + job).json["state"], "interrupted")

    def test_second_signal(self):
        # A measuring process that stays: the first signal waits for it, the second does not.
        slow = self.make_slow()
        daemon = self.daemon(measure=slow, ready=False)
        kept = daemon.connection()
        self.addCleanup(kept.close)

        def ask(method, path, body=None, headers=None):
            kept.request(method, path, body, headers or {})
            answer = kept.getresponse()
            return harness.Answer(answer.status, answer.headers, answer.read())
        self.assertEqual(ask("GET", "/healthz").status, 200)
        daemon.process.send_signal(signal.SIGTERM)
        daemon.wait_for(lambda: "shutting down" in daemon.text(), "the first signal")
        for answer in (ask("GET", "/readyz"), ask("POST", "/api/v1/jobs", '{"suite":"verify"}', {"Content-Type": "application/json"})):
            self.assertEqual((answer.status, answer.code), (503, "shutting_down"))
            self.assertIn("Retry-After", answer.headers)
        with self.assertRaises(ConnectionRefusedError):
            daemon.socket()
        self.assertIsNone(daemon.process.poll())
        daemon.process.send_signal(signal.SIGINT)
        self.assertEqual(daemon.process.wait(2), 128 + signal.SIGINT)

    def make_slow(self):
        handle, path = tempfile.mkstemp(prefix="rooflined-slow-")
        os.write(handle, b"#!/bin/sh\ntrap '' TERM\nsleep 8 3<&- &\nwait\n")
        os.fchmod(handle, 0o700)
        os.close(handle)
        self.addCleanup(os.unlink, path)
        return path

    def test_restart_keeps_everything(self):
        daemon = self.daemon()
        done = daemon.wait_job(daemon.post({"suite": "verify"}, Idempotency_Key="k").json["id"])
        document = daemon.get("/api/v1/runs/" + done["run"])
        daemon.process.kill()
        daemon.process.wait()
        second = self.daemon(directory=daemon.directory)
        again = second.get("/api/v1/runs/" + done["run"])
        self.assertEqual((again.body, again.headers["ETag"]), (document.body, document.headers["ETag"]))
        self.assertEqual(second.post({"suite": "verify"}, Idempotency_Key="k").json["id"], done["id"])

    def test_not_ready(self):
        daemon = self.daemon(measure="/bin/false", ready=False)
        answer = daemon.wait_for(lambda: (ready := daemon.get("/readyz")).json["measure"] and len(ready.json["reasons"]) and ready, "an answer")
        self.assertEqual((answer.status, answer.json["ready"]), (503, False))
        self.assertGreater(int(answer.headers["Retry-After"]), 0)
        refused = daemon.post({"suite": "verify"})
        self.assertEqual((refused.status, refused.code), (503, "no_device_ready"))
        self.assertGreater(int(refused.headers["Retry-After"]), 0)
        self.assertEqual(daemon.get("/healthz").status, 200)


if __name__ == "__main__":
    unittest.main()
