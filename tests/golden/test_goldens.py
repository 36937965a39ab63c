"""What the goldens' comparison finds: each way in which an answer can differ, and nothing where none does."""
import copy
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import goldens  # noqa: E402

RUN = {
    "id": "7",
    "date": None,
    "flags": ["shared"],
    "passed": True,
    "why": {"date": "not said"},
    "checks": [],
    "kernels": [
        {"kernel": "vector_add", "flop": 16777216, "warm": {"time_s": 1.25e-5}},
        {"kernel": "matmul_naive", "flop": 268435456, "warm": {"time_s": 0.5}},
    ],
    "samples": [{"unit": "vector_add", "state": "warm", "times_s": [0.1 * i for i in range(40)]}],
}


class Differences(unittest.TestCase):
    def found(self, change, old=None):
        old = RUN if old is None else old
        new = copy.deepcopy(old)
        new = change(new) or new
        golden, answer = (("200 application/json", goldens.written(goldens.shortened(one))) for one in (old, new))
        return [(what, where) for what, where, _, _ in goldens.compare(golden, answer) if what != "same"]

    def test_none(self):
        self.assertEqual(self.found(lambda run: None), [])
        self.assertEqual(self.found(lambda run: dict(reversed(run.items()))), [])  # order of members means nothing

    def test_values(self):
        def put(*path):
            def change(run):
                *names, last, value = path
                for name in names:
                    run = run[name]
                run[last] = value

            return change

        for change, where in (
            (
                put("kernels", 0, "warm", "time_s", 1.2500000000000001e-5 * (1 + 2**-52)),
                "kernels.vector_add.warm.time_s",
            ),
            (put("kernels", 1, "flop", 268435457), "kernels.matmul_naive.flop"),
            (put("date", 0), "date"),
            (put("passed", 1), "passed"),
            (put("flags", 0, "throttled"), "flags.0"),
            (put("id", 7), "id"),
            (put("why", "date", "not said."), "why.date"),
            (put("checks", None), "checks"),
            (put("samples", 0, "times_s", 39, 3.9), "samples.vector_add.warm.times_s"),
        ):
            self.assertEqual(self.found(change), [("changed", where)])
        self.assertEqual(self.found(put("kernels", 1, "flop", 268435456.0)), [])  # the same number

    def test_members(self):
        def drop(run):
            del run["kernels"][0]["flop"]

        def add(run):
            run["kernels"][1]["warm"]["energy_j"] = 2

        self.assertEqual(self.found(drop), [("gone", "kernels.vector_add.flop")])
        self.assertEqual(self.found(add), [("new", "kernels.matmul_naive.warm.energy_j")])

    def test_elements(self):
        other = {"kernel": "saxpy"}
        self.assertEqual(self.found(lambda run: run["kernels"].insert(0, other)), [("new", "kernels.saxpy")])
        self.assertEqual(self.found(lambda run: run["kernels"].reverse()), [("order", "kernels")])
        self.assertEqual(self.found(lambda run: run["kernels"].pop(0) and None), [("gone", "kernels.vector_add")])
        self.assertEqual(self.found(lambda run: run["flags"].append("throttled")), [("new", "flags.1")])

    def test_status_type_and_stored_bytes(self):
        for head in ("404 application/json", "200 text/plain", "200 application/json, SHA-256 00"):
            found = list(goldens.compare(("200 application/json", "{}"), (head, "{}")))
            self.assertEqual(found[0][:2], ("changed", "(status and type)"))

    def test_csv_and_text(self):
        head = "200 text/csv; charset=utf-8"
        self.assertEqual(
            [
                (what, where)
                for what, where, _, _ in goldens.compare(
                    (head, "kernel,state,ms\na,warm,1\nb,warm,2"),
                    (head, "kernel,more,state,ms\na,x,warm,1\nb,x,warm,3"),
                )
                if what != "same"
            ],
            [("new", "a.warm.more"), ("changed", "b.warm.ms"), ("new", "b.warm.more")],
        )
        text = "200 text/plain"
        self.assertEqual(
            [one[:2] for one in goldens.compare((text, "a\nb"), (text, "a\nB")) if one[0] != "same"], [("changed", "1")]
        )

    def test_beside(self):
        head = "200 application/json"
        first, second = ((head, goldens.written({**RUN, "id": name})) for name in ("7", "8"))
        found = goldens.beside(first, second)
        self.assertEqual(goldens.value_of(*found), {"changed": {"id": "8"}, "gone": {}, "new": {}, "order": {}})
        more = goldens.beside(first, (head, goldens.written({**RUN, "id": "8", "lent": {"run": "7"}})))
        self.assertEqual([one[:2] for one in goldens.compare(found, more) if one[0] != "same"], [("new", "new.lent")])
        thin = goldens.thinned({"GET /api/v1/runs/7": first, "GET /api/v1/runs/8": second})
        self.assertEqual(list(thin), ["GET /api/v1/runs/7", "BESIDE GET /api/v1/runs/7 || GET /api/v1/runs/8"])


class Files(unittest.TestCase):
    def test_there_and_back(self):
        answers = {
            "GET /a": ("200 application/json", goldens.written(RUN)),
            "GET /b": ("200 text/plain", "one\n\ntwo"),
            "GET /c": ("204 ", ""),
        }
        self.assertEqual(goldens.sections(goldens.joined(answers)), answers)
        with self.assertRaises(ValueError):
            goldens.joined({"GET /d": ("200 text/plain", "### GET /e")})

    def test_new_members(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "new_members.txt"
            path.write_text("# words\nGET /api/v1/devices | items.*.suites | which suites it can run\n")
            allowed = goldens.Allowed(path)
            self.assertFalse(allowed.takes("GET /api/v1/runs", "items.7.suites"))
            self.assertFalse(allowed.takes("GET /api/v1/devices", "suites"))
            self.assertEqual(allowed.used, set())
            self.assertTrue(allowed.takes("GET /api/v1/devices", "items.GPU-1.suites"))
            self.assertEqual(allowed.used, {2})
            path.write_text("GET /api/v1/devices | items\n")
            with self.assertRaises(SystemExit):
                goldens.Allowed(path)


if __name__ == "__main__":
    unittest.main()
