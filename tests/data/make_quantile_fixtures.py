#!/usr/bin/python3
"""Writes quantile_fixtures.h, the figures that test_quantile.c compares with: quantiles by numpy (method "linear", Hyndman and
Fan's type 7), the McKean-Schrader standard error of the median by scipy.stats.mstats_basic.stde_median, and the scaled median absolute
deviation by scipy.stats.median_abs_deviation. Run it by hand
when a case is added; numpy and scipy are not needed to build or test."""
import pathlib

import numpy
import scipy
from scipy.stats import median_abs_deviation, mstats_basic

rng = numpy.random.default_rng(20261129)
cases = {
    "one": [3.25e-5],
    "two": [2.0, 1.0],
    "five": [5.0, 1.0, 4.0, 2.0, 3.0],
    "seven": [7.0, 1.0, 6.5, 2.0, 3.0, 11.0, 4.25],
    "ties": [1.0] * 6 + [2.0] * 7,
    "ten": list(rng.lognormal(-10, 0.05, 10)),
    "eleven": list(rng.lognormal(-10, 0.05, 11)),
    "thirty": list(rng.gamma(3.0, 1e-6, 30)),
    "many": list(rng.lognormal(-9, 0.3, 256)),
    "bimodal": list(numpy.concatenate([rng.normal(1e-3, 1e-6, 40), rng.normal(1.1e-3, 1e-6, 21)])),
}
quantiles = [0.0, 0.01, 0.25, 0.5, 0.75, 0.9, 1.0]


def c(value):
    return repr(float(value))


lines = [
    "/* clang-format off */",
    f"/* Made by make_quantile_fixtures.py with numpy {numpy.__version__} and scipy {scipy.__version__}. */",
    f"static const double fixture_q[] = {{{', '.join(c(q) for q in quantiles)}}};",
]
table = []
for name, values in cases.items():
    data = numpy.array(values, dtype=float)
    lines.append(f"static const double fixture_{name}[] = {{{', '.join(c(v) for v in data)}}};")
    wanted = ", ".join(c(v) for v in numpy.quantile(data, quantiles, method="linear"))
    # Below 7 values scipy's k is 0 and it indexes from the array's end; that is no reference.
    error = c(mstats_basic.stde_median(data)) if len(data) >= 7 else "-1"
    table.append(f'    {{"{name}", fixture_{name}, {len(data)}, {{{wanted}}}, {error}, {c(median_abs_deviation(data, scale="normal"))}}},')
lines += [
    "static const struct {",
    "    const char *name;",
    "    const double *values;",
    "    size_t n;",
    f"    double quantile[{len(quantiles)}];",
    "    double std_error; /* -1: none */",
    "    double scaled_mad;",
    "} fixtures[] = {",
    *table,
    "};",
]
pathlib.Path(__file__).with_name("quantile_fixtures.h").write_text("\n".join(lines) + "\n")
