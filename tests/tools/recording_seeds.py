"""Makes the seeds of fuzz_recording from a synthetic recording: recording_seeds.py RECORDING FOLDER. To be run again when the format
changes; test_command_line.py says when they are out of date."""
import json
import os
import sys

recording, folder = sys.argv[1], sys.argv[2]
with open(recording) as file:
    head, *lines = file.read().splitlines()
entries = [(json.loads(line), line) for line in lines[:-1]]
FAULTS = [
    {"on": "warm", "unit": "vector_add", "state": "warm", "sample": 3, "skip": 1, "times": 2, "scale": {"time_s": 1.5, "sm_hz": 0.5}},
    {"on": "count", "session": {"status": "counters_busy", "reason": "held"}},
    {"on": "check", "unit": "vector_add", "set": {"passed": False, "wrong": 3, "worst": 2.5, "detail": "d"}},
    {"on": "card_state", "at": "start", "set": {"reasons": ["sw_power_cap"], "other_processes": 1, "power_w": {"why": "w"}}},
    {"on": "count", "unit": "vector_add", "variant": 0, "launches": 10, "set": {"dram_read": 0, "l1": {"why": "dropped"}}},
    {"on": "line", "line": "progress", "phase": "kernels", "write": "half", "signal": 6},
    {"on": "reserve", "error": {"code": "out_of_memory", "message": "m"}},
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
write("faults", [*list(first.values())[:2], *(json.dumps({"op": "fault", **fault}) for fault in FAULTS)])
write("one_kernel", [line for entry, line in entries if of_one_kernel(entry)])
