"""Every derived member of a replayed run, computed again from the recording's raw samples and counts by METHOD's definitions in another
language, and compared to 1e-12. Usage: test_derived.py PROGRAM RECORDING…"""
import json
import math
import subprocess
import sys

from measurelib import clean_environment

Z_995 = 2.5758293035489004
MIXES = {"dram_write": 0, "dram_copy": 1 / 2, "dram_triad": 2 / 3, "dram_read": 1}  # share of reads
differences, compared = [], 0


def expect(where, got, wanted):
    global compared
    compared += 1
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (got, wanted))
    same = abs(got - wanted) <= 1e-12 * max(abs(got), abs(wanted)) if numbers else got == wanted
    if not same:
        differences.append(f"{where}: {got}, computed {wanted}")


def over(above, below):
    return above / below if above is not None and below else None


def quantile(values, q):
    values, at = sorted(values), (len(values) - 1) * q
    low = math.floor(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def std_error(values):
    values, n = sorted(values), len(values)
    k = max(1, round((n + 1) / 2 - Z_995 * math.sqrt(n / 4)))
    return (values[n - k] - values[k - 1]) / (2 * Z_995) if n >= 5 else None


def flop_of(unit, n, edge, steps):
    inside = (edge - 2) ** 2
    return {"vector_add": n, "vector_add_stride32": n, "transpose_naive": 0, "transpose_tiled": 0, "matmul_naive": 2 * edge**3,
            "matmul_tiled16": 2 * edge**3, "block_reduction": n // 256 * 255, "stencil_global": 7 * inside, "stencil_tiled": 7 * inside,
            "polynomial256": 513 * n, "fp32_fma": 2 * n * steps}.get(unit)


def ask_of(unit, n, edge, steps):
    inside, square = (edge - 2) ** 2, edge**2
    return 4 * {"vector_add": 3 * n, "vector_add_stride32": 3 * n, "transpose_naive": 2 * square, "transpose_tiled": 2 * square,
                "matmul_naive": 2 * edge**3 + square, "matmul_tiled16": edge**3 // 8 + square, "block_reduction": n + n // 256,
                "stencil_global": 6 * inside, "stencil_tiled": (34 * edge // 32 - 2) * (10 * edge // 8 - 2) + inside,
                "polynomial256": 2 * n, "dram_copy": 2 * n, "dram_copy_scalar": 2 * n, "dram_memcpy": 2 * n, "dram_read": n + n // 2048,
                "dram_write": n, "dram_triad": 3 * n}.get(unit, 0)


def dram_of(counts):
    return counts["dram_read"] + counts["dram_write"]


class Raw:
    """One size of a recording, and the samples that the program says it used of it."""

    def __init__(self, path, sizes, samples):
        with open(path, encoding="utf-8") as file:
            entries = [entry for entry in map(json.loads, file) if entry.get("sizes") == sizes]
        self.series = [entry for entry in entries if entry["op"] in ("warm", "cold")]
        self.dims = {entry["unit"]: entry["dims"] for entry in entries if entry["op"] == "describe"}
        self.counts = {(entry["unit"], entry["state"]): entry for entry in entries if entry["op"] == "count"}
        session = next(entry for entry in entries if entry["op"] == "session")
        flush = sorted(map(dram_of, session["flush"]))
        self.flush, self.spread, self.floor = quantile(flush, 0.5), flush[-1] - flush[0], dram_of(session["empty"])
        self.samples = {(line["unit"], line["state"]): line for line in samples}
        self.ceilings = {}

    def median(self, where, times, unit, state):
        used = self.samples[unit, state]
        values, launches = used["times_s"], used["launches"]
        stands = any(entry["unit"] == unit and entry["op"] == state and entry.get("launches", 1) == launches
                     and any([time / launches for time in entry["time_s"][at:at + len(values)]] == values
                             for at in range(len(entry["time_s"]))) for entry in self.series)
        expect(where + " samples are the recording's", stands, True)
        expect(where + " n", times["n"], len(values))
        expect(where + " launches", times["launches"], launches)
        for name, wanted in (("median", quantile(values, 0.5)), ("p25", quantile(values, 0.25)), ("p75", quantile(values, 0.75)),
                             ("min", min(values)), ("std_error", std_error(values))):
            expect(f"{where} {name}", times[name], wanted)
        return quantile(values, 0.5)

    def settled(self, unit, state):
        counts = self.counts[unit, state]
        return dram_of(counts["one"]) / counts["launches"] if state == "warm" else dram_of(counts["four"]) - self.flush

    def roof(self, read_share, state):
        """Seconds per byte, linearly between the nearest measured mixes of reads and writes."""
        points = sorted((share, 1 / self.ceilings[name, state]) for name, share in MIXES.items() if (name, state) in self.ceilings)
        for (low, low_cost), (high, high_cost) in zip(points, points[1:]):
            if low <= read_share <= high:
                return 1 / (low_cost + (read_share - low) / (high - low) * (high_cost - low_cost))
        return 1 / points[0 if read_share < points[0][0] else -1][1]


def check_ceilings(raw, run):
    device = run["device"]
    for ceiling in run["ceilings"]:
        name, state = ceiling["name"], ceiling["state"]
        where = f"{run['sizes']} ceiling {name} {state}"
        memory = ceiling["unit"] == "byte_per_s"
        work = (ask_of if memory else flop_of)(name, *raw.dims[name])
        value = work / raw.median(where, ceiling["time_s"], name, state)
        raw.ceilings[name, state] = value
        nominal = (ceiling["memory_hz"] * 2 * device["memory_bus_bits"] / 8 if memory
                   else device["sm_count"] * device["fp32_lanes_per_sm"] * 2 * ceiling["sm_hz"])
        dram = raw.settled(name, state) if name == "dram_copy" else None
        for member, wanted in (("work", work), ("value", value), ("nominal", nominal), ("percent_of_nominal", 100 * value / nominal),
                               ("dram", dram), ("dram_per_ask", over(dram, work))):
            expect(f"{where} {member}", ceiling[member], wanted)
    counters = run["counters"]
    for member, wanted in (("floor_dram_bytes", raw.floor), ("flush_dram_bytes", raw.flush), ("flush_spread_bytes", raw.spread),
                           ("self_test", raw.settled("dram_copy", "warm") / ask_of("dram_copy", *raw.dims["dram_copy"]))):
        expect(f"{run['sizes']} {member}", counters[member], wanted)
    expect(run["sizes"] + " ridge", run["ridge_flop_per_byte"], raw.ceilings["fp32_fma", "warm"] / raw.ceilings["dram_copy", "warm"])


def judged(flop, percent_dram, percent_compute, attainable, fma, per_ask, l1_per_ask):
    best = max(percent_dram, percent_compute)
    bound = "latency" if best <= 60 else "memory" if not flop or (attainable is not None and attainable < fma) else "compute"
    if best > 60 and flop and attainable is None:
        bound = None
    wasted = (per_ask is not None and per_ask > 1.25) or (l1_per_ask is not None and l1_per_ask > 2)
    advice = "fix_access" if wasted else "change_algorithm" if best >= 80 else "fix_kernel"
    return bound, advice


def check_state(raw, run, row, state):
    name, s, counts = row["kernel"], row[state], raw.counts[row["kernel"], state]
    where, launches, one = f"{run['sizes']} {name} {state}", counts["launches"], counts["one"]
    flop, ask = flop_of(name, *raw.dims[name]), ask_of(name, *raw.dims[name])
    fma, copy = raw.ceilings["fp32_fma", "warm"], raw.ceilings["dram_copy", state]
    time = raw.median(where, s["time_s"], name, state)
    read, write = one["dram_read"] / launches, one["dram_write"] / launches
    dram, l1, l2_sm = read + write, one["l1"] / launches, 32 * one["l2_sm_sectors"] / launches
    four = dram_of(counts["four"]) / (4 * launches) if state == "warm" else None
    settled, floor = raw.settled(name, state), 5 * raw.floor / launches
    if state == "cold" and settled < 3 * raw.spread:
        settled, floor = None, max(floor, 3 * raw.spread)
    if state == "warm" and settled < 1e-4 * ask:
        floor = max(floor, 1e-4 * ask)
    at_floor = settled is None or settled < floor or settled <= 0
    intensity = flop / settled if flop and not at_floor else None
    roof = raw.roof(read / dram, state) if dram else copy
    attainable = min(fma, intensity * roof) if intensity else fma if flop and at_floor and floor and flop / floor * roof >= fma else None
    percent_of_roof = over(100 * flop / time, attainable) if flop else 100 * dram / time / roof
    bound, advice = judged(flop, 100 * dram / time / roof, 100 * flop / time / fma, attainable, fma, over(settled, ask), over(l1, ask))
    apart = 0 if four is None else abs(dram - four)
    unsteady = apart > 5 * raw.floor / launches and apart > 1e-4 * ask and apart > 0.01 * max(dram, four)
    for member, wanted in (
            ("bytes.l1", l1), ("bytes.l2", one["l2"] / launches), ("bytes.l2_sm", l2_sm), ("bytes.dram", dram), ("bytes.dram_read", read),
            ("bytes.dram_write", write), ("bytes.dram_settled", settled), ("bytes.dram_4n", four), ("dram_per_ask", over(settled, ask)),
            ("intensity.ask", over(flop or None, ask)), ("intensity.l1", over(flop or None, l1)),
            ("intensity.l2", over(flop or None, l2_sm)), ("intensity.dram", intensity), ("flop_per_s", flop / time),
            ("dram_byte_per_s", dram / time), ("percent_of_ceiling", 100 * dram / time / copy),
            ("attainable_flop_per_s", attainable), ("percent_of_roof", percent_of_roof),
            ("bound", bound), ("advice_code", advice), ("occupancy", one["warps_active_pct"] / 100),
            ("local_bytes", counts["local_bytes"])):
        got = s
        for part in member.split("."):
            got = got[part]
        expect(f"{where} {member}", got, wanted)
    for flag, wanted in (("at_floor", at_floor), ("cache_resident", settled is None or settled < 0.5 * ask), ("not_steady", unsteady),
                         ("writeback_unpaid", state == "cold" and settled is not None and settled > 1.02 * dram),
                         ("above_ceiling", dram / time > copy)):
        expect(f"{where} {flag}", flag in s["flags"], wanted)


def check_run(path, sizes):
    done = subprocess.run([sys.argv[1], "--json", "--replay", path, "--sizes", sizes], capture_output=True, timeout=60,
                          env=clean_environment(), check=True)
    *samples, last = map(json.loads, done.stdout.splitlines())
    run, raw = last["run"], Raw(path, sizes, samples)
    check_ceilings(raw, run)
    expect(sizes + " kernels", len(run["kernels"]), 10)
    for row in run["kernels"]:
        counts = raw.counts[row["kernel"], "warm"]
        expect(f"{sizes} {row['kernel']} flop", row["flop"], flop_of(row["kernel"], *raw.dims[row["kernel"]]))
        expect(f"{sizes} {row['kernel']} ask_bytes", row["ask_bytes"], ask_of(row["kernel"], *raw.dims[row["kernel"]]))
        expect(f"{sizes} {row['kernel']} flop_counted", row["flop_counted"],
               sum(counts[kind + "_add"] + counts[kind + "_mul"] + 2 * counts[kind + "_fma"] for kind in ("fp64", "fp32")))
        for state in ("warm", "cold"):
            check_state(raw, run, row, state)


for recording in sys.argv[2:]:
    for size in ("course", "scaled"):
        check_run(recording, size)
print(f"{compared} values compared, {len(differences)} differ", *differences[:40], sep="\n")
sys.exit(1 if differences or not compared else 0)
