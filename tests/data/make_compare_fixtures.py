#!/usr/bin/python3
"""Writes compare_fixtures.h, the figures that test_compare_stats.c compares with: rank tests by scipy.stats.mannwhitneyu and,
under ties, by going through every assignment; shifts and their intervals by going through every difference and by Mann and
Whitney's own recurrence for the null distribution; quantiles and deviations by scipy; the bootstrap by the same generator
written again here. Run it by hand when a case is added; numpy and scipy are not needed to build or test."""
import functools
import itertools
import math
import pathlib

import numpy
import scipy
from scipy import stats

rng = numpy.random.default_rng(20261129)
MASK = 2**64 - 1


def ticks(values, tick):
    return [round(v / tick) * tick for v in values]


def pair(n, m, scale, shift):
    return list(rng.normal(0, scale, n)), list(rng.normal(shift, scale, m))


cases = {
    "one_one": ([1.0], [1.5]),
    "two_three": ([1.0, 2.0], [1.5, 2.5, 3.0]),
    "apart_6": ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.5, 10.0, 11.0, 12.0]),
    "mixed_6": pair(6, 6, 0.01, 0.005),
    "seven_nine": pair(7, 9, 0.01, 0.02),
    "fifteen": pair(15, 15, 0.006, 0.01),
    "fifteen_none": pair(15, 15, 0.006, 0.0),
    "five_thirty": pair(5, 30, 0.01, 0.02),
    "thirty": pair(30, 30, 0.01, 0.004),
    "thirty_far": pair(30, 30, 0.01, 0.03),
    "big": pair(40, 35, 0.01, 0.004),
    "ties_small": ([1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 4.0, 4.0, 5.0]),
    "ties_7": tuple(ticks(side, 0.01) for side in pair(7, 7, 0.01, 0.015)),
    "ties_one_group": ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 2.0]),
    "ties_all": ([3.0] * 6, [3.0] * 8),
    "ties_8_10": tuple(ticks(side, 0.005) for side in pair(8, 10, 0.01, 0.01)),
    "ties_15": tuple(ticks(side, 0.005) for side in pair(15, 15, 0.01, 0.008)),
    "ties_30": tuple(ticks(side, 0.004) for side in pair(30, 30, 0.01, 0.005)),
    "ties_15_all": ([2.5] * 15, [2.5] * 15),
}
alphas = [0.05, 0.0025]


@functools.lru_cache(maxsize=None)
def orders(m, n, u):
    """Orders of m and n draws with U = u: Mann & Whitney 1947, from where the largest draw belongs."""
    if u < 0:
        return 0
    if m == 0 or n == 0:
        return 1 if u == 0 else 0
    return orders(m - 1, n, u - n) + orders(m, n - 1, u)


def lower(m, n, u):
    return sum(orders(m, n, k) for k in range(u + 1)) / math.comb(m + n, n)


def tied_p(base, head):
    values = numpy.array(base + head)
    ranks = stats.rankdata(values)
    middle = len(head) * (len(values) + 1) / 2
    far = abs(ranks[len(base):].sum() - middle)
    hits = total = 0
    for chosen in itertools.combinations(range(len(values)), len(head)):
        total += 1
        hits += abs(ranks[list(chosen)].sum() - middle) >= far - 1e-9
    return hits / total


def p_of(base, head):
    ties = len(set(base + head)) < len(base + head)
    exact = len(base + head) <= (20 if ties else 60)
    if ties and exact:
        return tied_p(base, head), True
    if len(set(base + head)) == 1:
        return 1.0, False
    test = stats.mannwhitneyu(head, base, alternative="two-sided", method="exact" if exact else "asymptotic")
    return test.pvalue, exact


def interval(base, head, alpha):
    """low, high, level by the definition: the largest k with P(U <= k - 1) <= alpha / 2; none gives three zeros."""
    m, n = len(base), len(head)
    differences = sorted(h - b for b in base for h in head)
    if m + n <= 60:
        tail = functools.partial(lower, m, n)
    else:
        def tail(u):
            return stats.norm.cdf((u + 0.5 - m * n / 2) / math.sqrt(m * n * (m + n + 1) / 12))
    k = 0
    while k < m * n // 2 and tail(k) <= alpha / 2:
        k += 1
    return (differences[k - 1], differences[m * n - k], 1 - 2 * tail(k - 1)) if k else (0, 0, 0)


def splitmix(seed):
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def bootstrap(base, head, level, seed, draws):
    source = splitmix(seed)
    found = []
    for _ in range(draws):
        b = [base[((next(source) >> 32) * len(base)) >> 32] for _ in base]
        h = [head[((next(source) >> 32) * len(head)) >> 32] for _ in head]
        found.append(numpy.median(h) - numpy.median(b))
    return numpy.quantile(found, [(1 - level) / 2, (1 + level) / 2])


def holm(ps):
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    adjusted, largest = [0.0] * len(ps), 0.0
    for k, i in enumerate(order):
        largest = max(largest, min(1.0, ps[i] * (len(ps) - k)))
        adjusted[i] = largest
    return adjusted


def pooled_sd(values, groups):
    squares = df = 0
    for group in set(groups):
        member = numpy.array([v for v, g in zip(values, groups) if g == group])
        squares += ((member - member.mean()) ** 2).sum()
        df += len(member) - 1
    return math.sqrt(squares / df), df


def student(p, df):
    """scipy's isf is good to nine digits only (0.25 of 3: 0.76489232808 for 0.76489232840): two Newton steps on its sf."""
    t = stats.t.isf(p, df)
    for _ in range(2):
        t += (stats.t.sf(t, df) - p) / stats.t.pdf(t, df)
    return t


def c(value):
    return repr(float(value))


def array(name, values, kind="double"):
    write = c if kind == "double" else str
    return f"static const {kind} {name}[] = {{{', '.join(write(v) for v in values)}}};"


lines = [
    "/* clang-format off */",
    f"/* Made by make_compare_fixtures.py with numpy {numpy.__version__} and scipy {scipy.__version__}. */",
]
table = []
for name, (base, head) in cases.items():
    lines += [array(f"base_{name}", base), array(f"head_{name}", head)]
    p, exact = p_of(base, head)
    u = sum((h > b) + (h == b) / 2 for b in base for h in head)
    ties = sum((base + head).count(v) > 1 for v in base + head)
    shift = numpy.median([h - b for b in base for h in head])
    bounds = ", ".join("{" + ", ".join(c(v) for v in interval(base, head, alpha)) + "}" for alpha in alphas)
    table.append(f'    {{"{name}", base_{name}, head_{name}, {len(base)}, {len(head)}, {c(u)}, {c(p)}, {int(exact)}, {ties}, '
                 f"{c(shift)}, {{{bounds}}}}},")
lines += [
    array("fixture_alpha", alphas),
    "static const struct {",
    "    const char *name;",
    "    const double *base, *head;",
    "    size_t base_n, head_n;",
    "    double u, p;",
    "    int exact;",
    "    size_t ties;",
    "    double shift;",
    "    struct {",
    "        double low, high, level;",
    f"    }} interval[{len(alphas)}];",
    "} fixtures[] = {",
    *table,
    "};",
]
ps = [0.5, 0.25, 0.1, 0.025, 0.00125, 1e-5, 1e-8]
lines += [array("fixture_tail", ps), array("fixture_normal", [stats.norm.isf(p) for p in ps])]
dfs = [1, 2, 3, 4, 7, 9, 10, 29, 30, 200]
lines += [array("fixture_df", dfs, "size_t"),
          f"static const double fixture_student[][{len(ps)}] = {{",
          *["    {" + ", ".join(c(student(p, df)) for p in ps) + "}," for df in dfs],
          "};"]
spread = [1.0, 1.1, 0.9, 1.05, 5.0, 2.0, 2.2, 2.1, 9.0]
groups = [1, 1, 1, 1, 1, 7, 7, 7, 8]
sd, df = pooled_sd(spread, groups)
lines += [array("fixture_spread", spread), array("fixture_group", groups, "int64_t"),
          f"static const double fixture_pooled_sd = {c(sd)};", f"static const size_t fixture_pooled_df = {df};",
          f"static const double fixture_mad = {c(stats.median_abs_deviation(spread, scale='normal'))};"]
family_p = [0.004, 0.6, 0.0001, 0.03, 0.012, 0.0124, 0.6, 0.2]
lines += [array("fixture_family_p", family_p), array("fixture_family_holm", holm(family_p))]
base, head = cases["fifteen"]
source = splitmix(42)
lines += ["static const uint64_t fixture_random[] = {" + ", ".join(f"{next(source)}u" for _ in range(3)) + "};"]
low, high = bootstrap(base, head, 0.95, 42, 400)
near = stats.bootstrap((base, head), lambda b, h, axis=-1: numpy.median(h, axis=axis) - numpy.median(b, axis=axis), method="percentile",
                       n_resamples=20000, confidence_level=0.95, random_state=7).confidence_interval
lines += [f"static const double fixture_bootstrap[] = {{{c(low)}, {c(high)}}};",
          f"static const double fixture_bootstrap_scipy[] = {{{c(near.low)}, {c(near.high)}}};"]
pathlib.Path(__file__).with_name("compare_fixtures.h").write_text("\n".join(lines) + "\n")
