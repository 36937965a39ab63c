"""Makes the seeds of fuzz_recording from a synthetic recording: recording_seeds.py RECORDING FOLDER. To be run again when the format
changes; test_command_line.py says when they are out of date."""
import json
import os
import sys

recording, folder = sys.argv[1], sys.argv[2]
with open(recording) as file:
    head, *lines = file.read().splitlines()
entries = [(json.loads(line), line) for line in lines[:-1]]
ERROR = {"code": "out_of_memory", "message": "m"}
WORK = {"sizes": "course", "unit": "vector_add", "dims": [16777216, 0, 0], "variant": 0}
FAILURES = [
    {"of": "card_state", "sizes": "course", "at": "start"},
    {"of": "driver_now", "sizes": "course", "sample": 1},
    {"of": "spin", "sizes": "course", "sample": 2},
    {"of": "session", "sizes": "course"},
    {"of": "prepare", **WORK},
    {"of": "check", **WORK},
    {"of": "warm", **WORK, "launches": 10, "attempt": 1, "sample": 3},
    {"of": "cold", **WORK, "sample": 3},
]
SHARING = '{"op":"sharing","sizes":"course","opened":"no lock","counted":null}'


def write(name, body):
    with open(os.path.join(folder, name), "w") as file:
        file.write("\n".join([head, *body, json.dumps({"op": "end", "entries": len(body)})]) + "\n")


def of_one_kernel(entry):
    unit = entry.get("unit") or entry.get("at", "").split(" ")[0]
    others = {"vector_add_stride32", "transpose_naive", "transpose_tiled", "matmul_naive", "matmul_tiled16", "block_reduction",
              "stencil_global", "stencil_tiled", "polynomial256"}
    return entry["sizes"] == "course" and unit not in others


first = {}
for entry, line in entries:
    first.setdefault(entry["op"], line)
write("empty", [])
write("each_op", [*first.values(), SHARING])
write("failures", [*(line for entry, line in entries if of_one_kernel(entry)),
                   *(json.dumps({"op": "failure", **failure, "error": ERROR}) for failure in FAILURES)])
write("one_kernel", [line for entry, line in entries if of_one_kernel(entry)])
