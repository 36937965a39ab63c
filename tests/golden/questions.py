"""Which requests have goldens, for --renew alone: the check reads them from the goldens' files."""
import importlib.util
import json
import sys
import urllib.parse

WIDE = "since=2026-08-01&until=2027-01-01"
ALL = "outcome=any&source=any&withdrawn=any"
METRICS = ("time_s", "percent_of_ceiling", "dram_per_ask", "dram_bytes")


def quoted(text):
    return urllib.parse.quote(text, safe="")


def of_run(document):
    path = "/api/v1/runs/" + document["id"]
    states = [state for state in ("warm", "cold", "mixed") if any(state in row for row in document["kernels"])]
    forms = ["", "/table", ".csv", "/samples", "/note", "/predictions", "/withdraw"] + (
        ["/table?state=" + state for state in states] if len(states) > 1 else []
    )
    return ["GET " + path + form for form in forms] + ["BESIDE GET %s || GET %s?roofs=newest" % (path, path)]


def of_lists(items):
    path = "/api/v1/runs"
    filters = [
        "",
        "outcome=any",
        "withdrawn=true&outcome=any",
        "withdrawn=any",
        WIDE,
        "since=2026-10-06T00:00:00Z&until=2026-10-12T12:00:01Z&outcome=any",
    ]
    for name in ("device", "driver", "cuda", "suite", "sizes", "source", "counters", "outcome", "label"):
        values = {
            item["device"]["id"] if name == "device" and isinstance(item["device"], dict) else item.get(name)
            for item in items
        }
        filters += [
            "outcome=any&%s=%s" % (name, quoted("unknown" if value is None else value))
            if name != "outcome"
            else "outcome=" + value
            for value in sorted(values, key=str)
            if value is not None or name in ("driver", "cuda")
        ]
    filters += [
        "outcome=any&source=measured,imported&sizes=course",
        "outcome=ok&suite=verify&source=measured&driver=580.1&counters=counter-backed",
    ]
    return (
        ["GET %s?%s&limit=200" % (path, ALL)]
        + ["PAGES %s?%slimit=5" % (path, query and query + "&") for query in filters]
        + [
            "EXPORT /api/v1/runs.%s?%s" % (form, query)
            for form in ("json", "csv")
            for query in (ALL, "outcome=ok&" + WIDE, "source=imported")
        ]
    )


def of_history(items):
    devices = sorted({device_of(item) for item in items})
    queries = ["", "source=any", "source=measured", "source=replayed", "source=imported"] + [
        "source=any&device=" + quoted(one) for one in devices
    ]
    queries += [
        "source=any&label=" + quoted(one) for one in sorted({item["label"] for item in items if item.get("label")})
    ]
    return ["GET /api/v1/history?%s%s" % (query and query + "&", WIDE) for query in queries]


def device_of(item):
    return item["device"]["id"] if isinstance(item["device"], dict) else item["device"]


def of_trends(documents):
    """Each row of each device that two runs have, and every metric of a few."""
    count = {}
    for run in documents:
        for row in run["kernels"] + run["ceilings"]:
            states = [row["state"]] if "name" in row else [state for state in ("warm", "cold", "mixed") if state in row]
            for state in states:
                key = (
                    run["device"]["id"],
                    run["suite"],
                    run["sizes"],
                    run["source"],
                    row.get("kernel") or row["name"],
                    state,
                )
                count[key] = count.get(key, 0) + 1
    requests, full = [], set()
    for (device, suite, sizes, source, kernel, state), runs in sorted(count.items()):
        query = "device=%s&suite=%s&sizes=%s&source=%s&kernel=%s&state=%s&%s" % (
            quoted(device),
            suite,
            sizes,
            source,
            quoted(kernel),
            state,
            WIDE,
        )
        if runs > 1:
            requests.append("GET /api/v1/trend?" + query)
        if runs > 3 and (source, kernel) not in full and not kernel.startswith(("dram_", "fp32_")):
            full.add((source, kernel))
            requests += ["GET /api/v1/trend?%s&metric=%s" % (query, metric) for metric in METRICS]
            requests.append("GET /api/v1/trend?%s&driver=580.1" % query)
    return requests


def of_compare(documents):
    """Driver against driver, run against run: of each kind, with what is of the same device, and with what is not."""
    by_kind = {}
    for run in documents:
        key = (
            run["device"]["id"],
            run["suite"],
            run["sizes"],
            run["source"],
            run["counters"]["status"],
            run["outcome"],
            bool(run["flags"]),
            run.get("label"),
        )
        by_kind.setdefault(key, []).append(run["id"])
    firsts = [runs[0] for runs in by_kind.values()]
    pairs = [(runs[0], runs[-1]) for runs in by_kind.values() if len(runs) > 1][:4] + list(zip(firsts, firsts[1:]))[::4]
    card = "GPU-11111111-aaaa"
    requests = [
        "GET /api/v1/compare?base=driver:580.1&head=driver:590.2&device=" + card,
        "GET /api/v1/compare?base=driver:580.1&head=driver:590.2&kernel=vector_add&device=" + card,
        "GET /api/v1/compare?base=driver:580.1,cuda:13.0&head=driver:580.1&device=" + card,
        "GET /api/v1/compare?base=driver:590.2&head=run:1&device=" + card,
        "GET /api/v1/compare?base=driver:580.1&head=driver:590.2&suite=import&sizes=other&source=imported&device="
        + card,
    ]
    requests += ["GET /api/v1/compare?base=run:%s&head=run:%s" % pair for pair in pairs]
    labels = sorted({run["label"] for run in documents if run.get("label")})
    return requests + [
        "GET /api/v1/compare?base=label:%s&head=label:%s&device=%s" % (quoted(base), quoted(head), card)
        for base in labels
        for head in labels
        if base != head
    ]


def of_jobs(jobs):
    return ["GET /api/v1/jobs?limit=200", "PAGES /api/v1/jobs?limit=7", "PAGES /api/v1/jobs?state=failed"] + [
        "GET /api/v1/jobs/%s%s" % (job["id"], form)
        for job in jobs
        if job["state"] != "done" or job["id"] in ("1", "9", "13")
        for form in ("", "/transcript")
    ]


def of_client(documents):
    """rooflinectl: each way of printing, of runs of a few kinds."""
    firsts = {}
    for run in documents:
        firsts.setdefault((run["suite"], run["source"], run["outcome"], run["counter_backed"]), run["id"])
    requests = [
        "$ rooflinectl " + words
        for words in (
            "runs --limit 200",
            "jobs --limit 200",
            "devices",
            "history --source any --since 2026-08-01 --until 2027-01-01",
            "trend --device GPU-11111111-aaaa --kernel vector_add --since 2026-08-01 --until 2027-01-01",
            "compare driver:580.1 driver:590.2 --device GPU-11111111-aaaa",
            "compare run:1 run:2",
            "transcript 1",
            "note 9",
            "predictions 13",
            "withdraw 9",
        )
    ]
    return requests + ["$ rooflinectl show " + run for run in firsts.values()]


def of_database(value):
    """{file: requests} for a database that a daemon has open; value(path): the JSON there."""
    items, jobs = value("/api/v1/runs?%s&limit=200" % ALL)["items"], value("/api/v1/jobs?limit=200")["items"]
    documents = sorted((value("/api/v1/runs/" + item["id"]) for item in items), key=lambda run: int(run["id"]))
    deleted = str(max(int(run["id"]) for run in documents) + 1)
    return {
        "runs": [request for run in documents for request in of_run(run)],
        "lists": of_lists(items) + ["GET /api/v1/runs/" + deleted],
        "history": of_history(items),
        "trends": of_trends(documents),
        "compare": of_compare(documents),
        "jobs": ["GET /api/v1/devices"] + of_jobs(jobs),
        "client": of_client(documents),
    }


# ---- what is measured, replayed or imported by the build under test ----

T4 = {"device": "Tesla T4", "driver": "560.35.03", "cuda": "12.6"}
DATA = "tests/data/import/"
FRESH_IMPORTS = [
    ({"ncu": "long.csv", "timings": "timings.jsonl"}, {**T4, "date": "2026-09-01", "label": "3f2c91a"}),
    ({"ncu": "raw.csv"}, {"date": "2026-09-02", "sizes": "scaled"}),
    ({"timings": "timings.jsonl"}, {**T4, "date": "2026-09-04", "sizes": "course"}),
    ({"ncu": "field/times_profiled.csv", "power": "h200/power-query.csv"}, {**T4, "date": "2026-09-06"}),
    ({"record": "../../../deploy/records/t4.json"}, {"date": "2026-09-01"}),
    ({"ncu": "h200/long-cold.csv", "timings": "h200/timings.jsonl"}, {"sizes": "course"}),
    ({"ncu": "half.csv"}, {**T4, "date": "2026-09-01"}),
]
REFUSED = [
    "/api/v1/runs?outcome=maybe",
    "/api/v1/runs?limit=0",
    "/api/v1/runs?limit=201",
    "/api/v1/runs?cursor=abc",
    "/api/v1/runs?colour=red",
    "/api/v1/runs?since=never",
    "/api/v1/runs?sizes=huge",
    "/api/v1/runs/999999",
    "/api/v1/runs/1?roofs=999999",
    "/api/v1/runs/1/table?state=hot",
    "/api/v1/history?since=2010-01-01&until=2026-01-01",
    "/api/v1/trend?kernel=vector_add",
    "/api/v1/trend?device=nobody&kernel=vector_add",
    "/api/v1/compare?base=run:1",
    "/api/v1/compare?base=run:1&head=run:999999",
    "/api/v1/compare?base=1&head=2",
    "/api/v1/jobs?state=asleep",
    "/api/v1/jobs/999999",
    "/api/v2/runs",
    "/api/v1/runs.xml",
]
BAD_JOBS = [
    {},
    {"suite": "verification"},
    {"suite": "verify", "sizes": "huge"},
    {"suite": "verify", "kernels": ["saxpy"]},
    {"suite": "verify", "kernels": []},
    {"suite": "verify", "cache": ["hot"]},
    {"suite": "verify", "counters": "yes"},
    {"suite": "verify", "colour": "red"},
    {"suite": "import"},
    {"suite": "verify", "device": "GPU-nobody"},
    {"suite": "verify", "predictions": {"vector_add": "high"}},
    {"suite": "verify", "label": ""},
    {"suite": "verify", "on_interrupt": "wait"},
    {"suite": "verify", "kernels": ["vector_add", "vector_add"]},
    {"suite": "verify", "block": 256},
]


def of_replay():
    """A daemon that replays the shipped recording, its database empty at first. Files are asked in their order."""
    jobs = [
        {"sizes": "course", "label": "whole", "predictions": {"vector_add": "near", "transpose_naive": "below"}},
        {"sizes": "scaled", "note": "all of it"},
        {"kernels": ["matmul_naive", "stencil_global"], "cache": ["cold"]},
        {"kernels": ["vector_add"], "counters": False},
    ]
    jobs = ["POST /api/v1/jobs " + json.dumps({"suite": "verify", **job}) for job in jobs]
    views = [
        "GET /api/v1/runs/%d%s" % (run, form) for run in range(1, 5) for form in ("", "/table", ".csv", "/predictions")
    ] + ["GET /api/v1/runs/4/samples"]
    requests = {
        "1_jobs": jobs + ["POST /api/v1/jobs " + json.dumps(body) for body in BAD_JOBS],
        "2_runs": views,
        "3_lists": ["GET /api/v1/kernels", "GET /api/v1/devices"],
        "4_refused": ["GET " + path for path in REFUSED],
    }
    requests["5_compare"] = [
        "GET /api/v1/compare?base=run:1&head=run:3",
        "GET /api/v1/compare?base=run:1&head=run:2",
        "$ rooflinectl compare run:1 run:3",
    ]
    requests["6_imports"] = [
        "IMPORT " + json.dumps({"files": {part: DATA + name for part, name in files.items()}, "fields": fields})
        for files, fields in FRESH_IMPORTS
    ]
    return requests


def module(root, name):
    spec = importlib.util.spec_from_file_location(name, root / "tests" / "cli" / (name + ".py"))
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def options_of(files, fields):
    words = ["--%s %s%s" % (part, DATA, name) for part, name in files.items()]
    return " ".join(
        words
        + [
            "--partial" if name == "partial" else "--%s '%s'" % (name.replace("_", "-"), value)
            for name, value in fields.items()
        ]
    )


def of_programs(root):
    """roofline-measure over the shipped recordings and those with faults; roofline-import over the tests' files."""
    sys.path.insert(0, str(root / "tests" / "cli"))
    measure, small = [], "--kernels vector_add,matmul_naive --json"
    for recording in sorted((root / "deploy" / "recordings").glob("*.jsonl")):
        path = "--replay deploy/recordings/" + recording.name
        measure += [
            "$ roofline-measure %s --json %s" % (path, words)
            for words in (
                "--sizes course --kernels vector_add,stencil_tiled",
                "--sizes scaled --kernels matmul_tiled16",
                "--no-counters --kernels polynomial256",
            )
        ]
        measure += ["$ roofline-measure %s --table --sizes course,scaled" % path, "$ roofline-measure %s --list" % path]
    for fault in sorted((root / "tests" / "data" / "faults").glob("*.jsonl")):
        if not fault.stem.startswith(
            ("hang", "crash", "exit", "slow", "garbage", "line_", "oversize")
        ):  # those are of the protocol
            measure.append("$ roofline-measure --replay TESTDATA/faults/%s --sizes course %s" % (fault.name, small))
    measure.append("$ roofline-measure --replay TESTDATA/base.jsonl --sizes course --table")
    device = {"device": "Some GPU", "date": "2026-01-02"}
    files = [
        "$ roofline-import --json " + options_of({"ncu": path.name}, device)
        for path in sorted((root / DATA).glob("*.*"))
        if path.suffix in (".csv", ".txt")
    ]
    field, times = module(root, "test_field_inputs"), module(root, "test_field_times")
    for names, fields, _ in field.CASES:
        names = (names,) if isinstance(names, str) else names
        if "timing" not in fields:
            files.append(
                "$ roofline-import --json "
                + options_of(
                    {"timings" if name.endswith("jsonl") else "ncu": "field/" + name for name in names},
                    {**device, **fields},
                )
            )
    for names, fields, _ in times.CASES:
        if not any("torch" in name for name in names.values()):  # large: as tables
            files.append("$ roofline-import --json " + options_of(names, times.fields_of(names, fields)))
    for table in (
        "--ncu %sh200/long-warm.csv --timings %sh200/timings.jsonl --cache warm --sizes course" % (DATA, DATA),
        "--ncu %sh200/set-full.csv --date 2026-11-30" % DATA,
        "--ncu %sh200/torch-step-bytes.csv --timings %sh200/torch-step.trace.json" % (DATA, DATA),
        "--record deploy/records/t4.json",
        "--recording deploy/recordings/nvidia-h200.jsonl --sizes course",
        "--recording deploy/recordings/nvidia-h200.jsonl --sizes scaled",
    ):
        files.append("$ roofline-import --table " + table)
    return {"measure": measure, "import": list(dict.fromkeys(files))}
