/* Judging one set of verification runs against another: did anything change, and what?
 *
 * Pure: plain structs in, one struct with every verdict, its numbers and a sentence out. A run is one draw of each of
 * its rows (its median time, its bytes): launches within a process share that process's luck, so that only runs are
 * independent. Formulas and their sources: server/compare/stats.h; the rules are stated here.
 *
 * SIDES. At most COMPARE_RUNS_MAX runs each. Runs that a query gave (`named` false) have to be of outcome ok, not
 * withdrawn, not shared, not throttled, not driver_changed, and like the side's newest run in every field of identity;
 * others are left out and listed with the reason. Runs that somebody named are judged whatever their flags, with a
 * warning; only a refused one is not, since its results are wrong.
 *
 * ROWS. A row that mixes the states (RL_MIXED) is never judged, and a time that was derived from bytes (time_derived)
 * is none. Bytes of single launches (single_launch) are not held against those of a loop, nor bytes that are a rate
 * times a duration (bytes_derived) against counted ones, nor a profiler's durations (profiler_time) against times of
 * events: where a row has both, the former are left out, and the row says so; where one side has only the one kind and
 * the other only the other, times and derived bytes are not_comparable (single launches: missing). Bytes are those
 * within the launch, so that a cold row without settled ones (unsettled) is judged as any other. Whatever flag says
 * that a draw is less than usual is a warning with the number of draws; so are runs that were timed without counters.
 *
 * WORK. One name may be other work: a row of another size is no slower. The work of a row is flop, asked bytes and
 * dims, of a ceiling the bytes or flop of a launch; it is another when a member differs that both know. A side's is
 * that of its newest run that has the row, with what its other runs add; draws of other work are left out of the side,
 * named or not, and the row says so. Other work on the two sides: the row is not_comparable, naming the members.
 * Another grid, block or function, or another shape of a ceiling, with equal work is judged, with the warning
 * launch_differs. A member that is known on one side only, or work of which nothing is known on both, is no difference
 * but the warning `work`. What is not comparable belongs to no family and to no machine; it leaves open whether head is
 * slower.
 *
 * IDENTITY. device, suite, sizes, method_version, ecc, mig, power_limit_w. One that differs makes the sides not
 * comparable and is named; so does one that is known on one side only, since it cannot be shown to be equal. Unknown on
 * both: a warning. cuda_runtime_version, cubin, build, source: judged, with the warning that it is not the driver
 * alone.
 *
 * TIME. On logarithms, so that a shift is a ratio. Family: all rows x states, Holm's rule at COMPARE_ALPHA. same: the
 * interval of the ratio lies inside 1 +- 1 percent. slower, faster: it lies beyond 1, Holm rejects, and the estimate is
 * at least 1 percent away. Else ambiguous.
 *
 * FEW RUNS. With fewer than COMPARE_RANK_MIN runs on a side, or where the family is too large for the rank test (six a
 * side carry 23 rows), the spread of a draw is that of the row's history on this device: the standard deviation within
 * groups of like runs, of at least COMPARE_HISTORY_MIN draws. Without it: ambiguous. (Five a side have no rank test at
 * the family's level: 2 / C(10, 5) is 0.008, and 0.05 / 20 is 0.0025.) A single run that is off by chance looks like a
 * change; the answer warns.
 *
 * BYTES. On the counts themselves, since they may be 0; a family of their own. more, fewer: the interval of the
 * difference lies beyond 0, Holm rejects, and the estimate is at least 1 percent of base's median and at least the
 * row's byte-noise floor. same: the interval lies inside the larger of those two. Else ambiguous. The floor is the
 * largest of 3 scaled MADs of base's draws (the noise band of a trend), RL_STEADY_ASK of the asked bytes (a
 * cache-resident kernel moves next to nothing, and that by chance), and the counter's floor.
 *
 * CEILINGS. As times, on seconds per byte or flop; a family of their own.
 *
 * MACHINE. slower or faster when dram_copy and fp32_fma, in every state in which they were measured, have that verdict,
 * at least half of the rows have it, and at least 80 percent of the rows moved with the machine: their estimate lies on
 * that side of 1, and their interval, 1 percent wider, holds the machine's ratio, which is the median of those of the
 * rows and those ceilings. Rows that moved with it have the cause `machine`: one change, not twenty.
 *
 * CAUSE. Of a row that is slower or faster. time = x * (what is left), x being 1 / SM clock, 1 / memory clock or DRAM
 * bytes of the same run. x is the cause when the change of what is left is under 1 percent and x explains at least half
 * of the change: share = 1 - log(ratio of what is left) / log(ratio of time). With COMPARE_RANK_MIN runs a side the
 * lower end of the share's 95 percent bootstrap interval counts (a quotient of two dependent estimates has no rank
 * interval), else the share itself. clock: rows that are not memory-bound. memory_clock: memory-bound rows. bytes: rows
 * that are memory-bound or take at least half of the asked bytes from DRAM, and whose bytes_verdict goes the same way.
 */
#ifndef SERVER_COMPARE_COMPARE_H
#define SERVER_COMPARE_COMPARE_H

#include <jansson.h>

#include "db/same/work.h"
#include "gpu/base/err.h"
#include "gpu/record/flags.h"
#include "gpu/record/run.h"
#include "server/compare/stats.h"

#define COMPARE_RUNS_MAX    30
#define COMPARE_RANK_MIN    6
#define COMPARE_HISTORY_MIN 10
#define COMPARE_HISTORY_MAX 100  /* draws of a row that are used: the first that are given */
#define COMPARE_CHANGE      0.01 /* what counts as a change, relative */
#define COMPARE_ALPHA       0.05 /* of a family */
#define COMPARE_TOGETHER    0.8  /* share of the rows that has to move with the machine */
/* Rows x states, and ceilings x states, of both sides: more is RL_E_TOO_LARGE. An import has 512 kernels at most: any
 * two runs can be compared, whichever kernels they have. */
#define COMPARE_ROWS_MAX 2048

/* ---- what goes in; everything is borrowed until compare_free ---- */

struct compare_launch { /* NULL: unknown */
    const char *grid, *block, *function;
    const char *shape; /* of ceilings */
};
struct compare_draw { /* one row of one run in one state */
    const char *kernel;
    enum rl_state state;
    struct rl_real time_s; /* median per launch; a known one that is not above 0 counts as unknown */
    struct rl_real sm_hz, memory_hz;
    struct rl_real dram_bytes; /* bytes.dram per launch */
    struct rl_real
        dram_floor; /* below it a count says nothing: RL_FLOOR_FACTOR x counters.floor_dram_bytes / launches */
    struct rl_real ask_bytes;
    const char *bound;      /* "memory", "compute", "latency"; NULL: unknown */
    unsigned flags;         /* enum rl_row_flag */
    struct store_work work; /* see WORK */
    struct compare_launch launch;
};
struct compare_ceiling_draw {
    const char *name;
    enum rl_state state;
    struct rl_real value;   /* byte/s or flop/s */
    unsigned flags;         /* enum rl_row_flag */
    struct store_work work; /* flop or asked bytes */
    struct compare_launch launch;
};

struct compare_run {
    const char *id; /* digits */
    int64_t date_ms;
    const char *device, *suite, *sizes, *build;
    int64_t method_version;
    enum rl_source source;
    enum rl_outcome outcome;
    bool shared, throttled, driver_changed; /* the run's flags */
    bool withdrawn;
    struct rl_flag3 ecc;
    struct rl_text mig;
    struct rl_real power_limit_w;
    struct rl_text driver_version, cuda_runtime_version, cubin;
    const struct compare_draw *draws; /* at most one per kernel and state */
    size_t draw_count;
    const struct compare_ceiling_draw *ceilings;
    size_t ceiling_count;
};

struct compare_excluded { /* runs of a side's driver that the question's filters exclude */
    int64_t runs;
    bool at_least;       /* not all were counted */
    const char *filters; /* "suite, sizes" */
    const char *ask;     /* what to ask for instead; NULL: nothing takes them */
    const char *sentence;
};
struct compare_side {
    const char *label; /* as asked: "run:7", "driver:580.159.04", "label:v2" */
    bool named;        /* runs were named one by one */
    const struct compare_run *runs;
    size_t run_count; /* any number in any order: the newest are taken */
    size_t unread;    /* the last so many of them come without their rows, to be named as left out and why: of another
                       * method than the others', or not eligible */
    const struct compare_excluded *excluded;
    size_t excluded_count;
};

/* An eligible run's draw of one row or ceiling on the sides' device, with their identity, the sides' own runs included;
 * newest first. */
struct compare_past {
    const char *name; /* kernel or ceiling */
    enum rl_state state;
    int64_t group;         /* equal for runs that should be alike: the store's series */
    struct rl_real time_s; /* of a ceiling: 1 / value */
    struct rl_real dram_bytes;
    unsigned flags;                /* enum rl_row_flag */
    const struct store_work *work; /* NULL: nothing is known of it */
};
struct compare_history {
    const struct compare_past *draws;
    size_t count;
};

/* ---- what comes out ---- */

enum compare_verdict {
    COMPARE_NONE, /* nothing to judge: neither side has the value */
    COMPARE_SAME,
    COMPARE_SLOWER,
    COMPARE_FASTER,
    COMPARE_MORE,
    COMPARE_FEWER,
    COMPARE_AMBIGUOUS,
    COMPARE_MISSING_BASE,
    COMPARE_MISSING_HEAD,
    COMPARE_NOT_COMPARABLE, /* of other work, or values of another kind */
    COMPARE_VERDICT_COUNT
};
enum compare_cause {
    COMPARE_CAUSE_NONE, /* no change that would need one */
    COMPARE_CAUSE_CLOCK,
    COMPARE_CAUSE_MEMORY_CLOCK,
    COMPARE_CAUSE_BYTES,
    COMPARE_CAUSE_MACHINE,
    COMPARE_CAUSE_NOT_FOUND,
};
enum compare_outcome {
    COMPARE_REGRESSION,    /* regressions is above 0 */
    COMPARE_NO_REGRESSION, /* every row was judged, and none can be slower by 1 percent or more */
    COMPARE_UNDECIDED,     /* neither can be said */
};

struct compare_judged { /* one quantity of a row, or a ceiling */
    enum compare_verdict verdict;
    size_t base_n, head_n;     /* draws */
    struct rl_real base, head; /* medians: s; bytes; byte/s or flop/s */
    /* quartiles (type 7) of each side's draws in the same unit, for drawing how they scatter; of one draw: itself */
    struct rl_real base_p25, base_p75, head_p25, head_p75;
    struct rl_real ratio; /* estimate of head over base, in that unit, with its interval */
    struct rl_real low, high;
    struct rl_real level;     /* confidence of the interval */
    struct rl_real p, p_holm; /* of the rank test, or of t under a spread from history */
    enum stats_method method;
    struct rl_real spread;      /* STATS_SPREAD: standard deviation of a draw, relative; of bytes: bytes */
    struct rl_real floor_bytes; /* bytes: the row's noise floor */
    struct rl_real shift_bytes; /* bytes: estimate of head less base */
    const char *sentence;       /* a name over 159 bytes is shortened in it */
};

struct compare_note { /* a field that stands in the way, or a warning */
    const char *field, *base, *head;
    const char *sentence;
};
struct compare_dropped { /* draws of a row that were left out */
    bool head;           /* of that side */
    const char *of;      /* "row", "time", "bytes" */
    size_t draws;
    const char *reason;
};
#define COMPARE_ROW_NOTES   5 /* flop, ask_bytes, dims, profiler_time, bytes_derived */
#define COMPARE_ROW_DROPPED 8 /* a side: of other work, profiler times, single and derived bytes */
struct compare_notes {        /* beside a row's or a ceiling's verdicts */
    struct compare_note not_comparable[COMPARE_ROW_NOTES];
    size_t not_comparable_count;
    struct compare_dropped left_out[COMPARE_ROW_DROPPED];
    size_t left_out_count;
};

struct compare_row {
    const char *kernel;
    enum rl_state state;
    struct compare_judged time, bytes;
    enum compare_cause cause;
    const char *cause_sentence; /* NULL when there is no change */
    /* Ratios of medians, head over base: SM and memory clock, and the time in SM cycles. */
    struct rl_real sm_hz_ratio, memory_hz_ratio, cycles_ratio;
    /* Share of the change of time that the cause explains, and the lower end of its interval; unknown without one. */
    struct rl_real explained, explained_low;
    struct compare_notes notes;
};

struct compare_ceiling {
    const char *name;
    enum rl_state state;
    struct compare_judged value;
    struct compare_notes notes;
};

struct compare_machine {
    enum compare_verdict verdict; /* COMPARE_NONE: no change that rows and ceilings share */
    struct rl_real ratio;         /* of time */
    struct rl_real low, high;     /* smallest and largest ratio of those that moved together */
    size_t rows, rows_together, ceilings;
    const char *sentence;
};

struct compare_left_out {
    const char *id, *why;
};
struct compare_used { /* one side as it was judged, newest run first */
    const char *label;
    const char *ids[COMPARE_RUNS_MAX];
    size_t id_count;
    size_t older; /* eligible runs beyond the newest COMPARE_RUNS_MAX */
    struct compare_left_out *left_out;
    size_t left_out_count;
    const struct compare_excluded *excluded;
    size_t excluded_count;
    size_t draws;       /* of its runs, warm or cold: 0 leaves nothing to judge */
    const char *driver; /* versions, newest first, joined by ", " */
    const char *source; /* measured, replayed, imported: likewise; NULL: no run */
};

struct compare_result {
    struct rl_arena *arena;
    struct compare_used base, head;
    struct compare_note *not_comparable, *warnings; /* not_comparable_count 0: judged */
    size_t not_comparable_count, warning_count;
    struct compare_machine machine;
    struct compare_ceiling *ceilings;
    size_t ceiling_count;
    struct compare_row *rows; /* regressions first */
    size_t row_count;
    size_t time_counts[COMPARE_VERDICT_COUNT], bytes_counts[COMPARE_VERDICT_COUNT];
    /* Slower: the machine as one, and rows and the two ceilings of the roof that did not move with it; faster,
     * likewise. */
    size_t regressions, improvements;
    enum compare_outcome outcome;
    const char *sentence; /* the answer in words */
};

/* Judges head against base; history may be NULL, and is used only where a side has too few runs. -1: RL_E_NO_MEMORY, or
 * RL_E_TOO_LARGE above COMPARE_ROWS_MAX. Equal input gives an equal answer whatever the order of the runs. */
int compare_judge(const struct compare_side *base, const struct compare_side *head,
                  const struct compare_history *history, struct compare_result **ret, struct rl_err *err);
void compare_free(struct compare_result *result); /* accepts NULL */
/* Whether these sides are so small that history would be used. */
bool compare_wants_history(const struct compare_side *base, const struct compare_side *head);
/* NULL when a query may take this run, else why not. */
const char *compare_not_eligible(const struct compare_run *run);

const char *compare_verdict_name(enum compare_verdict verdict); /* "same" … "not_comparable"; NULL for COMPARE_NONE */
const char *compare_cause_name(enum compare_cause cause); /* "clock" … "none_found"; NULL for COMPARE_CAUSE_NONE */
const char *compare_outcome_name(enum compare_outcome outcome); /* "slower", "not_slower", "undecided" */

/* The answer as a new reference (server/compare/json.c): outcome, sentence, counts, sides with the ids of their runs,
 * not_comparable, warnings, how it was judged, machine, rows (regressions first), ceilings. A null has its reason in
 * the "why" object beside it. NULL when memory ran out. */
json_t *compare_to_json(const struct compare_result *result);

#endif
