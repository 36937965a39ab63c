#!/usr/bin/env python3
"""Writes this folder's counter files and timings, one of each kind that people upload: make_files.py FOLDER. Figures and names are made up;
columns, units and messages are those of the tools. test_import.py says what each has to give, and that the files are these."""
import pathlib
import sys

LEFT = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]
RIGHT = ["Section Name", "Metric Name", "Metric Unit", "Metric Value"]
ADD, MUL = "vector_add(const float *, const float *, float *)", "void ns::mul<4, (bool)1>(T1 *, \"s\", {lambda(int)#1})"
SECTION = "Command line profiler metrics"


def line(cells):
    return ",".join('"' + str(cell).replace('"', '""') + '"' for cell in cells) + "\n"


def launch(number, kernel, grid="(65536, 1, 1)", device="0", cc="9.0"):
    return [number, 41, "app", "127.0.0.1", kernel, 1, 7, "(256, 1, 1)", grid, device, cc]


def long(rows, left=LEFT):
    """rows: (id, kernel, metric, unit, value)"""
    return line(left + RIGHT) + "".join(line(launch(number, kernel)[:len(left)] + [SECTION, metric, unit, value])
                                        for number, kernel, metric, unit, value in rows)


def raw(columns, units, rows):
    return line(LEFT + columns) + line([""] * len(LEFT) + units) + "".join(line(launch(number, kernel) + cells) for number, kernel, cells in rows)


def pair(read, write, number=0, kernel=ADD, names=("dram__bytes_read.sum", "dram__bytes_write.sum"), unit="byte"):
    return [(number, kernel, names[0], unit, read), (number, kernel, names[1], unit, write)]


BANNER = "==PROF== Connected to process 41 (/home/user/app)\nn = 16777216, \"check\" passed\n"
PERCENT = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
FILES = {
    "long.csv": BANNER + long(pair("134,225,920", "67,108,864") + [(0, ADD, PERCENT, "%", "101.25")] + pair("1,000", "24", 1, MUL))
    + "==PROF== Disconnected from process 41\ndone\n",
    "long_windows.csv": ("\ufeff" + BANNER + long(pair("134,225,920", "67,108,864"))).replace("\n", "\r\n"),
    "long_utf16.csv": ("\ufeff" + BANNER + long(pair("134,225,920", "67,108,864"))).encode("utf-16-le"),
    "long_german.csv": long(pair("134.225.920", "67.108.864") + [(0, ADD, PERCENT, "%", "86,38")]),
    "long_french.csv": long(pair("134\u202f225\u202f920", "67\u202f108\u202f864") + [(0, ADD, PERCENT, "%", "86,38")]),
    "long_swiss.csv": long(pair("134\u2019225\u2019920", "67\u2019108\u2019864") + [(0, ADD, PERCENT, "%", "86.38")]),
    "long_plain.csv": long(pair("134225920", "67108864")),
    "long_units.csv": long([(0, ADD, "dram__bytes_read.sum", "Mbyte", "134.23"), (0, ADD, "dram__bytes_write.sum", "Kbyte", "67,108.86")]),
    "long_blackwell.csv": long(pair("134,225,920", "67,108,864", names=("dram__bytes_op_read.sum", "dram__bytes_op_write.sum"))),
    "long_fbpa.csv": long(pair("134,225,920", "67,108,864", names=("fbpa__dram_read_bytes.sum", "fbpa__dram_write_bytes.sum"))),
    "long_launches.csv": long(pair("100", "20", 0) + pair("110", "30", 1) + pair("120", "40", 2)),
    "long_2019.csv": line(["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream"] + RIGHT)
    + line([0, 41, "app", "127.0.0.1", "vector_add", "2019-Sep-04 15:38:19", 1, 7, SECTION, "dram__bytes.sum", "byte", "201334784"]),
    "raw.csv": BANNER + raw(["device__attribute_display_name", "device__attribute_l2_cache_size", "dram__bytes_read.sum", "dram__bytes_write.sum",
                             "gpu__time_duration.sum", "l1tex__t_bytes.sum", "launch__func_cache_config", "lts__t_bytes.sum"],
                            ["", "", "byte", "byte", "ns", "byte", "", "byte"],
                            [(0, ADD, ["NVIDIA H200", "62,914,560", "134,225,920", "67,108,864", "58,304", "201,326,592", "CachePreferNone", "305,768,064"]),
                             (1, MUL, ["NVIDIA H200", "62,914,560", "1,000", "24", "2,304", "n/a", "CachePreferNone", "0"])]),
    "raw_units.csv": raw(["dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum"], ["Mbyte", "Gbyte", "second"],
                         [(0, ADD, ["500", "1.5", "4.0e-05"])]),
    "doubtful.csv": long([(0, ADD, "dram__bytes.sum", "Mbyte", "134.225")]),
    "both_separators.csv": long(pair("134,225,920", "67.108.864")),
    "furlong.csv": long([(0, ADD, "dram__bytes.sum", "furlong", "5")]),
    "half.csv": long(pair("134,225,920", "n/a")),
    "percent_only.csv": long([(0, ADD, PERCENT, "%", "86.38")]),
    "disagrees.csv": long(pair("134,225,920", "67,108,864") + [(0, ADD, "dram__bytes_read.sum", "byte", "5")]),
    "two_devices.csv": line(LEFT + RIGHT) + "".join(line(launch(0, ADD, device=d) + [SECTION, "dram__bytes.sum", "byte", "5"]) for d in (0, 1)),
    "lost_quotes.csv": long(pair("134,225,920", "67,108,864")).replace('"', ""),
    "cut.csv": long(pair("134,225,920", "67,108,864"))[:-12],
    "permission.txt": BANNER + "==ERROR== ERR_NVGPUCTRPERM - not permitted on device 0\n==PROF== Disconnected from process 41\n",
    "no_kernels.txt": BANNER + "==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. a<int, int>\n",
    "application_error.txt": BANNER + "==ERROR== The application returned an error code (1).\n",
    "children.txt": "==PROF== Connected to process 42 (/usr/bin/nvidia-smi)\n==PROF== Disconnected from process 42\n",
    "session.csv": line(["Launch Attribute", "Value"]) + "Session Info\n" + line(["Session Attribute", "Value"]),
    "range.csv": line(["ID", "Process ID", "Kernel Name", "Context", "Stream", "Device", "CC"] + RIGHT)
    + line([0, 41, "range", 1, "n/a", 0, "10.0", SECTION, "dram__bytes.sum", "byte", "5"]),
    "nvprof.csv": "==41== NVPROF is profiling process 41, command: ./app\nTime(%),Time,Calls,Avg,Min,Max,Name\n1%,1ms,1,1ms,1ms,1ms,add(float*, int)\n",
    "rocprof.csv": '"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"add(float*, int)",1,3431,3431,100.0\n',
    "nsys.csv": "Time (%),Total Time (ns),Instances,Avg (ns),Name\n100.0,3431,1,3431.0,add\n",
    "derived.csv": "# ours\nkernel;dram_MB;ms\nadd;201,3;0,25\n",
    "timings.jsonl": '{"kernel": "vector_add", "ms": 0.1}\n{"ceiling": "dram_copy", "byte_per_s": 2000000000000}\n{"ceiling": "fp32_fma", "flop_per_s": 40000000000000}\n',
    "timings_two.jsonl": '{"kernel": "vector_add", "ms": 0.1}\n{"kernel": "absent", "ms": 0.1}\n',
    "timings_zero.jsonl": '{"kernel": "vector_add", "ms": 0}\n',
}

if __name__ == "__main__":
    for name, text in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(text if isinstance(text, bytes) else text.encode())
