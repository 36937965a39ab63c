#!/usr/bin/env python3
"""A measuring program for tests of the HTTP API: speaks gpu/wire/PROTOCOL.md on descriptor 3 and makes its numbers up.

The first kernel of the request chooses what happens: stencil_global runs until the daemon closes the stream, matmul_naive ends with an
error, block_reduction lacks every counter; all others give a run in which everything passes. One device, GPU-00000000-test.
"""
import json
import os
import socket
import sys
import time

DEVICE_ID = "GPU-00000000-test"
TIME_S = 1e-3  # of every launch, and the driver: tests that need others import this and change them
DRIVER = "580.1"
OUTCOME, FLAGS = "ok", []  # of the run
TELEMETRY = 0  # readings: what makes a run long
N = 1 << 24
SCALED = 4 * N  # floats of a vector at scaled sizes, for this L2


def work(kernel, sizes):
    """flop and asked bytes, as the catalogue has them"""
    n, edge, matrix, stencil = (N, 4096, 512, 2048) if sizes == "course" else (SCALED, 8192, 2048, 8192)
    inner = (stencil - 2) ** 2
    staged = (stencil // 32 * 34 - 2) * (stencil // 8 * 10 - 2)
    blocks = 65536 if sizes == "course" else 2 * SCALED // 256
    return {
        "vector_add": (n, 12 * n), "vector_add_stride32": (n, 12 * n), "transpose_naive": (0, 8 * edge ** 2), "transpose_tiled": (0, 8 * edge ** 2),
        "matmul_naive": (2 * matrix ** 3, 4 * (2 * matrix ** 3 + matrix ** 2)), "matmul_tiled16": (2 * matrix ** 3, 4 * (2 * matrix ** 3 // 16 + matrix ** 2)),
        "block_reduction": (255 * blocks, 4 * 257 * blocks), "stencil_global": (7 * inner, 24 * inner), "stencil_tiled": (7 * inner, 4 * (staged + inner)),
        "polynomial256": (513 * n, 8 * n)}[kernel]


NOT_HERE = "not in this test"


def null(names):
    return {**{name: None for name in names}, "why": {name: NOT_HERE for name in names}}


def now():
    ms = time.time_ns() // 1000000
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + ".%03dZ" % (ms % 1000)


def device():
    counts = dict(compute_major=9, compute_minor=0, sm_count=132, l2_bytes=62914560, memory_bytes=150000000000, memory_bus_bits=6144,
                  fp32_lanes_per_sm=128, max_sm_hz=1980000000, max_memory_hz=3201000000, warp_size=32, persisting_l2_bytes=0,
                  max_threads_per_sm=2048)
    return dict(id=DEVICE_ID, uuid=DEVICE_ID, name="Test GPU <b>&amp;", chip="GH100", pci_bus_id="00000000:01:00.0", **counts)


def environment():
    return dict(driver_version=DRIVER, cuda_driver_version="13.0", cuda_runtime_version="13.0", cupti_version="13.0", hostname="node",
                kernel_release="6.1", ecc=True, mig="off", power_limit_w=700.0, compute_mode="default", persistence_mode="off",
                profiling_admin_only=False, build="test", cubin="sm_90", method_version=1)


def times(seconds, launches):
    return dict(median=seconds, p25=seconds, p75=seconds, min=seconds, std_error=0.0, n=10, launches=launches, stop="std_error")


def state(name, ask, counted):
    row = null(["dram_per_ask", "flop_per_s", "dram_byte_per_s", "percent_of_ceiling", "bound", "advice", "advice_code",
                "attainable_flop_per_s", "percent_of_roof"])
    row["time_s"] = times(TIME_S, 10 if name == "warm" else 1)
    levels = ["l1", "l2", "l2_sm", "dram", "dram_read", "dram_write", "dram_settled", "dram_4n"]
    row["bytes"] = dict.fromkeys(levels, float(ask)) if counted else null(levels)
    if counted:
        row["bytes"].update(dram_read=ask / 2, dram_write=ask / 2)
    row["intensity"] = null(["ask", "l1", "l2", "dram"])
    row.update(occupancy=0.9, local_bytes=0.0, sm_hz=1.98e9, memory_hz=3.2e9, temperature_c=40.0, reasons=[], attempts=1, flags=[])
    return row


def ceiling(name, unit, cache, value_work):
    row = null(["nominal", "nominal_of", "percent_of_nominal", "dram", "dram_per_ask"])
    row.update(name=name, state=cache, value=value_work / TIME_S, unit=unit, method="made up", shape="grid 1, block 256",
               time_s=times(TIME_S, 10 if cache == "warm" else 1), work=value_work, sm_hz=1.98e9, memory_hz=3.2e9, reasons=[], flags=[])
    return row


def telemetry(number):
    unknown = ["sm_hz", "memory_hz", "temperature_c", "power_w", "energy_j", "other_processes"]
    return dict(null(unknown), at="reading %d " % number + 450 * "-", time_s=number * 0.25, reasons=[])


def run(request, started):
    counted = request["counters"] and request["kernels"][0] != "block_reduction"
    kernels = []
    for kernel in request["kernels"]:
        flop, ask = work(kernel, request["sizes"])
        row = dict(kernel=kernel, title=kernel.replace("_", " "), flop=flop, flop_counted=float(flop), ask_bytes=ask,
                   launch=dict(grid=[65536, 1, 1], block=[256, 1, 1], shared_bytes=0, registers=16, local_bytes=0, max_blocks_per_sm=8,
                               shape="n 16777216"), flags=[])
        for cache in request["cache"]:
            row[cache] = state(cache, ask, counted)
        kernels.append(row)
    ceilings = [ceiling("dram_copy", "byte_per_s", cache, 4 * 10**9) for cache in request["cache"]]
    ceilings.append(ceiling("fp32_fma", "flop_per_s", "warm", 6 * 10**10))
    counters = dict(metrics=[dict(name="dram_read", metric="dram__bytes_read.sum")], passes=3, floor_dram_bytes=512.0,
                    flush_dram_bytes=2.5e8, flush_spread_bytes=1024.0, self_test=1.0)
    if not request["counters"]:
        counters.update(status="off", reason="counters were not asked for")
    elif counted:
        counters.update(status="ok", reason=None, why=dict(reason="the status is ok"))
    else:
        counters.update(status="counters_permission", reason="permission was refused")
    finished = now()
    return dict(suite="verify", sizes=request["sizes"], source="measured", outcome=OUTCOME, outcome_reasons=[] if OUTCOME == "ok" else ["the test wants it so"], date=finished, started_at=started,
                finished_at=finished, recorded_at=None, why=dict(recorded_at="this run is not a replay of a recording",
                                                              ridge_flop_per_byte=NOT_HERE),
                device=device(), environment=environment(), counters=counters, ceilings=ceilings, ridge_flop_per_byte=None,
                kernels=kernels, checks=[dict(name="copy_bit_for_bit", title="copy", passed=True, detail="equal", refuses=True)],
                telemetry=[telemetry(i) for i in range(TELEMETRY)], counter_backed=counted, flags=FLAGS)


class Writer:
    def __init__(self, stream):
        self.stream, self.seq = stream, 0

    def line(self, kind, **members):
        self.seq += 1
        text = json.dumps(dict(t=kind, seq=self.seq, at_ns=time.monotonic_ns(), **members))
        self.stream.sendall(text.encode() + b"\n")


def main():
    stream = socket.socket(fileno=3)
    out = Writer(stream)
    out.line("hello", protocol=2, build="test", backend="cuda", pid=os.getpid())
    text = b""
    while not text.endswith(b"\n"):
        part = stream.recv(65536)
        if not part:
            return 0
        text += part
    request = json.loads(text)
    if request["t"] == "probe":
        out.line("device", device=device(), environment=environment(), counters=dict(status="ok", why=None))
        out.line("result", run=None)
        return 0
    started, request = now(), request["params"]
    first = request["kernels"][0]
    out.line("device", device=device(), environment=environment(), counters=None, why=dict(counters="a run has them itself"))
    out.line("log", text="started \u001b[31mred\u0007 end")
    out.line("progress", phase="start", what="test", done=1, total=10)
    if first == "stencil_global":
        stream.recv(1)  # nothing comes: this is the end of the stream
        return 0
    if first == "matmul_naive":
        out.line("error", error=dict(code="cuda_failed", message="the test wanted an error", next_action="None."))
        return 70
    for unit in list(request["kernels"]) + ["dram_copy"]:
        for cache in request["cache"]:
            out.line("sample", unit=unit, state=cache, launches=10 if cache == "warm" else 1, times_s=[TIME_S] * 10)
    out.line("sample", unit="fp32_fma", state="warm", launches=10, times_s=[TIME_S] * 10)
    out.line("result", run=run(request, started))
    return 0


if __name__ == "__main__":
    sys.exit(main())
