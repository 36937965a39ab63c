"""Makes the files of this folder: python3 make_files.py. What is right for each stands in tests/cli/test_field_inputs.py."""
import pathlib

LONG = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
RAW = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC"'
HOST = '"512","solver","node7"'
READ, WRITE = "dram__bytes_read.sum", "dram__bytes_write.sum"
TRIAD = "triad(double *, const double *, long)"


def row(number, kernel, metric, unit, value, grid=(800, 1, 1), block=(128, 1, 1)):
    return f'"{number}",{HOST},"{kernel}","1","7","{block}","{grid}","0","8.6","Command line profiler metrics","{metric}","{unit}","{value}"'


def long(*rows):
    return "\n".join([LONG, *(row(*one) for one in rows)]) + "\n"


def dram(number, kernel, read, write):
    return (number, kernel, READ, "byte", read), (number, kernel, WRITE, "byte", write)


def raw_row(number, kernel, *values):
    return f'"{number}",{HOST},"{kernel}","1","7","(128, 1, 1)","(800, 1, 1)","0","8.6",' + ",".join(f'"{value}"' for value in values)


def raw(columns, units, *rows):
    head = RAW + "," + ",".join(f'"{name}"' for name in columns)
    return "\n".join([head, ",".join(['""'] * 11 + [f'"{unit}"' for unit in units]), *rows]) + "\n"


PAIR = ([READ, WRITE], ["byte", "byte"])
INSTRUCTIONS = {"fadd": "3,000", "fmul": "500", "ffma": "20,000", "dadd": "0", "dmul": "0", "dfma": "7", "hadd": "10", "hmul": "20", "hfma": "30"}


def instructions(prefix):
    return [("0", TRIAD, f"{prefix}__sass_thread_inst_executed_op_{op}_pred_on.sum", "inst", value) for op, value in INSTRUCTIONS.items()]


FILES = {
    "glued.csv": raw(*PAIR, raw_row("0", TRIAD, "4,000", "1,000"), "iteration 17 " + raw_row("1", "norm(double *)", "600", "0"),
                     raw_row("2", TRIAD, "6,000", "3,000") + "residual 0.25", "100%==PROF== Disconnected from process 512"),
    "glued_header.csv": "setup done..." + long(*dram("0", TRIAD, "4,000", "1,000")),
    "glued_piece.csv": long(*dram("0", TRIAD, "4,000", "1,000")) + 'iteration 17 "1","512","solver","node7"\n',
    "tagged.csv": "".join("[1,3]<stdout>: " + line + "\n" for line in long(*dram("0", TRIAD, "4,000", "1,000")).splitlines()),
    "tagged_in_part.csv": "[1,3]<stdout>:" + long(*dram("0", TRIAD, "4,000", "1,000")),
    "indented.csv": "".join("    " + line + "\n" for line in long(*dram("0", TRIAD, "4,000", "1,000")).splitlines()),
    "headless.csv": long(*dram("0", TRIAD, "4,000", "1,000")).split("\n", 1)[1],
    "errors_beside.csv": "==PROF== Connected to process 512 (/opt/solver)\n==ERROR== LaunchFailed\n==ERROR== Failed to profile \"norm(double *)\" in process 512\n"
                         + long(*dram("0", TRIAD, "4,000", "1,000")) + "==ERROR== An error occurred while trying to profile.\n",
    "odd_cells.csv": long(*dram("0", TRIAD, "4,000", "1,000"), ("0", TRIAD, "lts__t_sector_hit_rate.pct", "%", "-nan(ind)"), ("0", TRIAD, "lts__t_bytes.sum", "byte", "N/A"),
                          ("0", TRIAD, "l1tex__t_bytes.sum", "byte", ""), ("0", TRIAD, "l1tex__t_sector_hit_rate.pct", "%", "(inf)")),
    "some_na.csv": long(*dram("0", TRIAD, "4,000", "1,000"), *dram("1", TRIAD, "n/a", "n/a"), *dram("2", TRIAD, "6,000", "1,000")),
    "all_na.csv": long(*dram("0", TRIAD, "n/a", "n/a"), *dram("1", TRIAD, "n/a", "n/a")),
    "zeros.csv": long(*dram("0", "vector_add", "0", "0"), ("0", "vector_add", "l1tex__t_bytes.sum", "byte", "0"), ("0", "vector_add", "lts__t_bytes.sum", "byte", "0")),
    "zeros.jsonl": '{"kernel":"vector_add","ms":0.07}\n{"ceiling":"dram_copy","byte_per_s":1.9e12}\n{"ceiling":"fp32_fma","flop_per_s":1.9e13}\n',
    "rounded.csv": long(("0", TRIAD, "dram__bytes.sum", "Mbyte", "32.66"), ("1", TRIAD, "dram__bytes.sum", "Mbyte", "1.1")),
    "large.csv": long(("0", TRIAD, "dram__bytes.sum", "byte", "9,007,199,254,740,993"), ("1", TRIAD, "dram__bytes.sum", "byte", "9,007,199,254,740,995")),
    "petabyte.csv": long(("0", TRIAD, "dram__bytes.sum", "byte", "1,230,000,000,000,000")),
    "instances.csv": long(*dram("0", TRIAD, "4,000 (1,500; 2,500)", "1,000 (400; 600)")),
    "rates.csv": raw(["dram__bytes.sum.per_second", "gpu__time_duration.sum", "smsp__cycles_elapsed.avg.per_second"], ["byte/s", "ns", "hz"],
                     raw_row("0", TRIAD, "3,268,353,200,883.00", "57,984", "1,500,000,000.50")),
    "rates_alone.csv": raw(["dram__bytes.sum.per_second"], ["byte/s"], raw_row("0", TRIAD, "3,268,353,200,883.00")),
    "smsp.csv": long(*dram("0", TRIAD, "4,000", "1,000"), *instructions("smsp")),
    "sm.csv": long(*dram("0", TRIAD, "4,000", "1,000"), *instructions("sm")),
    "per_cycle.csv": long(*dram("0", TRIAD, "4,000", "1,000"), ("0", TRIAD, "sm__cycles_elapsed.avg", "cycle", "1,000.50"),
                          *[(number, name, metric + ".per_cycle_elapsed", "inst/cycle", "2.00") for number, name, metric, _, _ in instructions("smsp")[:6]]),
    "tensor.csv": long(*dram("0", TRIAD, "4,000", "1,000"), ("0", TRIAD, "sm__inst_executed_pipe_tensor_op_hmma.sum", "inst", "4,096")),
    "tensor_operations.csv": long(*dram("0", TRIAD, "4,000", "1,000"), ("0", TRIAD, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", "", "137,438,953,472"),
                                  ("0", TRIAD, "sm__ops_path_tensor_src_tf32_dst_fp32.sum", "", "0")),
    "names.csv": long(*dram("0", "count[abi:v7,cw51cXT](Array<long, 1, C, mutable, aligned>)", "4,000", "0"), *dram("1", "shift(double *) [clone .constprop.3]", "500", "0"),
                      *dram("2", "void apply<main::[lambda(int)->double (instance 2)], (bool)1>(T1)", "60", "0"), *dram("3", "void (anonymous namespace)::fill<(a > b)>(int)", "7", "0")),
    "summary.csv": "==PROF== Connected to process 512 (/opt/solver)\n" + '"Process ID","Process Name","Host Name","Kernel Name","Block Size","Grid Size","Device","CC","Invocations","Metric Name","Metric Unit","Minimum","Maximum","Average"\n'
                   + f'"512","solver","node7","{TRIAD}","(128, 1, 1)","(800, 1, 1)","0","8.6","4","{READ}","byte","1.00","2.00","1.50"\n',
    "source.csv": f'"Kernel Name","{TRIAD}"\n"Address","Source","Live Registers"\n"0x7f00","LDC R1, c[0x0][0x28]","2"\n',
    "report.txt": f"  {TRIAD} (800, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 8.6\n    Section: Command line profiler metrics\n",
    "busy.txt": "==PROF== Connected to process 512 (/opt/solver)\n==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool (like DCGM) "
                "is concurrently collecting profiling data.\n==ERROR== Failed to profile \"norm\" in process 512\n==ERROR== The application returned an error code (9).\n",
    "old_driver.txt": "==ERROR== Cuda driver is not compatible with Nsight Compute.\n",
    "mig.txt": "==PROF== Connected to process 512 (/opt/solver)\n==ERROR== Profiling is not supported on this MIG instance.\n",
    "prepare.txt": "==PROF== Connected to process 512 (/opt/solver)\n==ERROR== Failed to prepare kernel for profiling\n==ERROR== Unknown Error on device 0.\n",
    "nvtx.txt": "==PROF== Connected to process 512 (/opt/solver)\n==WARNING== No kernels were profiled.\n==WARNING== No ranges matched --nvtx-include solve/.\n",
}

if __name__ == "__main__":
    for name, text in FILES.items():
        (pathlib.Path(__file__).parent / name).write_text(text)
