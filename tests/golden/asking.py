"""Asks a daemon or a program, and gives the answer in the goldens' form: (head, body).

A request is one line:
    GET PATH                 as it stands
    PAGES PATH               all pages of a list: the ids of each (a cursor's bytes are nobody's business)
    EXPORT PATH              an export of many runs: for each what it says otherwise than the run's own document or CSV
    BESIDE REQUEST || REQUEST  what the second answer says otherwise than the first, of which there is a golden
    POST PATH BODY           and PUT, DELETE; of a job the answer is the job once it has ended
    IMPORT FORM              {"files": {part: path}, "fields": {…}} to /api/v1/imports
    $ PROGRAM OPTIONS        a program of the build, from the root of the tree
"""
import csv
import datetime
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import time

import goldens
import harness
from goldens import number

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z")
KEPT_S = 5  # the daemon keeps an idle connection for 20 s
NEAR = datetime.timedelta(minutes=15)
STARTED = datetime.datetime.now(datetime.timezone.utc)


def without_now(text, built):
    """Times of this moment are nobody's golden, nor are, of what the build itself recorded, those of the build."""

    def hide(match):
        if built:
            return "(when built)"
        at = datetime.datetime.fromisoformat(match.group().replace("Z", "+00:00"))
        return "(now)" if abs(at - STARTED) < NEAR else match.group()

    return TIME.sub(hide, text)


def without_chance(value):
    """Which build made a record, and when it took its readings, where the record is made by the check."""
    if isinstance(value, list):
        return [without_chance(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: without_chance(member) for name, member in value.items()}
    if "method_version" in value and isinstance(value.get("build"), str):
        found["build"] = "(this build)"
    if "power_w" in value and "at" in value and number(value.get("time_s")):
        found["time_s"] = "(elapsed)"
    return found


class Asking:
    def __init__(self, root, binaries, data, daemon=None, fresh=False):
        self.root, self.binaries, self.data, self.daemon, self.fresh = root, binaries, data, daemon, fresh
        self.connection, self.asked = None, 0.0
        self.firsts = {}  # answers beside which others are written

    def answer(self, request):
        word, _, rest = request.partition(" ")
        head, body = getattr(self, {"$": "program", "IMPORT": "upload"}.get(word, word.lower()))(rest)
        body = body.rstrip("\n")
        return (head, without_now(body, "TESTDATA" in rest)) if self.fresh or not self.daemon else (head, body)

    # ---- HTTP ----

    def ask(self, method, path, body=None, headers=None):
        """Over one connection, as long as the daemon keeps it: thousands of new ones take longer than the answers."""
        if self.connection is None or time.monotonic() - self.asked > KEPT_S:
            self.close()
            self.connection = self.daemon.connection()
        self.connection.request(method, path, body=body, headers=headers or {})
        answer = self.connection.getresponse()
        text, self.asked = answer.read(), time.monotonic()
        if answer.will_close:
            self.close()
        return harness.Answer(answer.status, answer.headers, text)

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def form(self, answer, extra=""):
        kind = answer.headers.get("Content-Type", "")
        text = answer.body.decode()
        if "json" in kind:
            text = goldens.written(
                goldens.shortened(without_chance(json.loads(text)) if self.fresh else json.loads(text))
            )
        return "%d %s%s" % (answer.status, kind, extra), text

    def get(self, path):
        answer = self.ask("GET", path)
        stored = re.fullmatch(r"/api/v1/runs/\d+", path) and answer.status == 200 and not self.fresh
        return self.form(answer, ", SHA-256 " + hashlib.sha256(answer.body).hexdigest() if stored else "")

    def value(self, path):
        answer = self.ask("GET", path)
        if answer.status != 200:
            raise AssertionError("%s: %d %s" % (path, answer.status, answer.body[:300]))
        return answer.json

    def pages(self, path):
        pages, cursor = [], ""
        while cursor is not None and len(pages) < 100:
            page = self.value(path + cursor)
            pages.append([item["id"] for item in page["items"]])
            cursor = page["next"] and ("&" if "?" in path else "?") + "cursor=" + page["next"]
        return "200 json", goldens.written(pages)

    def export(self, path):
        answer = self.ask("GET", path)
        if answer.status != 200:
            return self.form(answer)
        kind, text, found = answer.headers["Content-Type"], answer.body.decode(), []
        if "json" in kind:
            whole = json.loads(text)
            for item in whole.pop("items"):
                otherwise = goldens.patched(self.value("/api/v1/runs/" + item["id"]), item)
                found.append({"id": item["id"], **({"otherwise": otherwise} if otherwise else {})})
            return "200 " + kind, goldens.written({**whole, "items": found})
        runs, header = {}, next(csv.reader(io.StringIO(text, newline="")))
        for row in goldens.table_of(text):
            runs.setdefault(row["run"], []).append(row)
        for run, rows in runs.items():
            own = goldens.table_of(self.ask("GET", "/api/v1/runs/%s.csv" % run).body.decode())
            otherwise = goldens.patched(own, rows)
            found.append({"id": run, "rows": len(rows), **({"otherwise": otherwise} if otherwise else {})})
        return "200 json of " + kind, goldens.written({"columns": header, "items": found})

    def beside(self, rest):
        first, second = rest.split(" || ")
        if first not in self.firsts:
            self.firsts[first] = self.answer(first)
        return goldens.beside(self.firsts[first], self.answer(second))

    def sent(self, method, rest):
        path, _, body = rest.partition(" ")
        answer = self.ask(method, path, body or None, {"Content-Type": "application/json"} if body else {})
        if method == "POST" and path == "/api/v1/jobs" and answer.status == 202:
            self.daemon.wait_job(answer.json["id"])
            answer = self.ask("GET", "/api/v1/jobs/" + answer.json["id"])
        return self.form(answer)

    def post(self, rest):
        return self.sent("POST", rest)

    def put(self, rest):
        return self.sent("PUT", rest)

    def delete(self, rest):
        return self.sent("DELETE", rest)

    def upload(self, rest):
        form = json.loads(rest)
        body = b""
        for part, path in form["files"].items():
            body += b'--x-y\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\n\r\n%s\r\n' % (
                part.encode(),
                os.path.basename(path).encode(),
                (self.root / path).read_bytes(),
            )
        for name, value in form["fields"].items():
            body += b'--x-y\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (
                name.encode(),
                value.encode(),
            )
        return self.form(
            self.ask(
                "POST", "/api/v1/imports", body + b"--x-y--\r\n", {"Content-Type": "multipart/form-data; boundary=x-y"}
            )
        )

    # ---- programs ----

    def program(self, rest):
        name, *options = shlex.split(rest)
        if name == "roofline-measure" and any(option.startswith("TESTDATA/faults/") for option in options):
            name = "faulty_measure"  # the same program with the tests' faults: tests/README.md
        options = [option.replace("TESTDATA", str(self.data)) for option in options]
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("ROOFLINE", "LC_", "LANG", "TZ", "LISTEN_"))
        }
        environment["LC_ALL"] = "C.UTF-8"
        if self.daemon:
            environment["ROOFLINED_URL"] = "http://127.0.0.1:%d" % self.daemon.port
        done = subprocess.run(
            [str(self.binaries / name), *options],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        out, errors = (text.decode().replace(str(self.data), "TESTDATA") for text in (done.stdout, done.stderr))
        if self.daemon:
            out, errors = (text.replace("127.0.0.1:%d" % self.daemon.port, "DAEMON") for text in (out, errors))
        if "--json" in options and out:
            lines = [json.loads(line) for line in out.splitlines()]
            value = without_chance(lines if len(lines) > 1 else lines[0])
            return "status %d, json" % done.returncode, goldens.written(
                goldens.shortened({"out": value, "errors": errors.splitlines()})
            )
        return "status %d" % done.returncode, (out + "\n(errors)\n" + errors if errors else out)
