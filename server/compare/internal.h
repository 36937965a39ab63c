/* Shared by the files of the comparison: server/compare/sides.c (who is judged), server/compare/gather.c (from runs to
 * rows), server/compare/compare.c (verdicts), server/compare/cause.c (causes and the machine), server/compare/words.c
 * (sentences). */
#ifndef SERVER_COMPARE_INTERNAL_H
#define SERVER_COMPARE_INTERNAL_H

#include <math.h>

#include "db/same/work.h"
#include "server/compare/compare.h"

struct chosen { /* a side's runs, newest first */
    const struct compare_run *runs[COMPARE_RUNS_MAX];
    size_t count;
    bool named;
};

/* Draws of one side for one row or ceiling. A run without a known time is not among the times, likewise with bytes. */
struct draws {
    double log_time[COMPARE_RUNS_MAX];
    const struct compare_draw *draw[COMPARE_RUNS_MAX]; /* of that time; NULL for a ceiling */
    size_t n;
    double bytes[COMPARE_RUNS_MAX];
    unsigned bytes_flags[COMPARE_RUNS_MAX]; /* of the draw that has them: enum compare_flag */
    size_t bytes_n;
    const char *time_why, *bytes_why; /* the newest run's reason when there is none */
    const struct compare_run *model;  /* the newest run that has the row; NULL: none has */
    struct store_work work;           /* its work, with what the others know beside it */
    struct compare_launch launch;     /* likewise, the newest known */
    bool launch_differs;              /* among its own runs */
    size_t other_work;                /* draws that are left out */
    const char *other_why;            /* the newest of them */
};

struct subject { /* a row or a ceiling while it is judged */
    const char *name;
    enum rl_state state;
    struct draws base, head;
    struct stats_item time, bytes;
    double floor_bytes;
    size_t past_times, past_bytes; /* draws that history has */
    bool time_apart, bytes_apart;  /* not comparable: notes say why */
    struct compare_notes notes;
};

/* ---- server/compare/note.c ---- */
/* Appends to notes, which have room. -1 when a text is NULL: memory ran out. */
int compare_say(struct compare_note *notes, size_t *count, const char *field, const char *base, const char *head,
                const char *sentence);

/* ---- server/compare/sides.c ---- */
/* Chooses runs and fills used, and notes of identity and warnings. -1 when memory ran out. */
int compare_choose(const struct compare_side *side, struct rl_arena *arena, struct chosen *ret,
                   struct compare_used *used);
int compare_identity(const struct chosen *base, const struct chosen *head, struct compare_result *result);

/* ---- server/compare/gather.c ---- */
struct gathered { /* all rows, or all ceilings, of both sides */
    bool ceilings;
    struct subject *items;
    size_t count;
    struct row_key *keys; /* of the items; found by hash */
    uint32_t *slots;
    size_t mask;
};
/* Fills all but ceilings, from both sides' runs. -1: RL_E_NO_MEMORY, or RL_E_TOO_LARGE above COMPARE_ROWS_MAX. */
int compare_gather(struct gathered *all, const struct chosen *base, const struct chosen *head, struct rl_arena *arena,
                   struct rl_err *err);
/* Fills the spreads of the rows whose history has enough draws. -1 when memory ran out. */
int compare_use_history(struct gathered *all, const struct compare_history *history, struct rl_arena *arena);
static inline bool compare_is_positive(const struct rl_real *value)
{
    return rl_is_known(*value) && isfinite(value->value) && value->value > 0;
}

/* ---- server/compare/flags.c ---- */
#define COMPARE_FLAG_WARNINGS (RL_ROW_FLAG_COUNT + 2) /* at most so many: each flag, mixed rows, counters */
/* Warnings of flagged draws and of runs without counters; result->warnings has room. -1 when memory ran out. */
int compare_flag_warnings(const struct chosen *base, const struct chosen *head, struct compare_result *result);
/* "1 row (vector_add warm) is", "5 rows (vector_add warm, … and others) are": at most three are named. */
struct compare_named {
    struct {
        const char *name;
        enum rl_state state;
    } rows[3];
    size_t shown;
    bool more;
};
void compare_name(struct compare_named *named, const char *name, enum rl_state state);
const char *compare_named_words(const struct compare_named *named, struct rl_arena *arena);

/* ---- server/compare/work.c ---- */
/* Takes a run's draw into a side unless it is of other work than the side's newest: then counts it as left out. Runs
 * come newest first. 1 taken, 0 not, -1 when memory ran out. */
int compare_take_work(struct draws *side, const struct compare_run *run, const struct store_work *work,
                      const struct compare_launch *launch, struct rl_arena *arena);
/* Parts draws whose values are of two kinds, and notes what is left out and what is not comparable. -1 when memory ran
 * out. */
int compare_part(struct subject *subject, bool ceiling, struct rl_arena *arena);
/* The warnings launch_differs and work; result->warnings has room for COMPARE_WORK_WARNINGS. -1 when memory ran out. */
#define COMPARE_WORK_WARNINGS 2
int compare_work_warnings(const struct gathered *rows, const struct gathered *ceilings, struct compare_result *result);
/* The sentence with what was left out of the row behind it; of: "time", "bytes". */
const char *compare_with_left_out(const char *sentence, const struct compare_notes *notes, const char *of,
                                  struct rl_arena *arena);

/* ---- server/compare/cause.c ---- */
void compare_no_machine(const char *why, struct compare_machine *ret);
int compare_find_machine(struct compare_result *result);
bool compare_is_primary(const char *ceiling); /* dram_copy and fp32_fma: the two that make the roof */
bool compare_with_machine(const struct compare_judged *time, const struct compare_machine *machine);
/* The ratio of a ceiling's time, from that of its value. */
static inline double compare_time_ratio(double value_ratio)
{
    return 1 / value_ratio;
}
int compare_find_cause(const struct subject *subject, struct compare_row *row, const struct compare_machine *machine,
                       struct rl_arena *arena);
/* Whether the ratio of a time is within 1 percent. */
static inline bool compare_is_small(double ratio)
{
    return ratio > 1 - COMPARE_CHANGE && ratio < 1 + COMPARE_CHANGE;
}

/* ---- server/compare/words.c: NULL when memory ran out ---- */
/* A name as sentences have it: imports have names of 7 kB. A longer one than fits in text is its beginning and its end
 * around "…", whole characters; else it is name itself. */
#define COMPARE_NAME_SHOWN 160
const char *compare_short_name(const char *name, char text[COMPARE_NAME_SHOWN]);
const char *compare_time_words(const struct subject *subject, const struct compare_judged *judged, bool ceiling,
                               struct rl_arena *arena);
const char *compare_bytes_words(const struct subject *subject, const struct compare_judged *judged,
                                struct rl_arena *arena);
/* `left` is the ratio of what the cause leaves of the change; missing says what could not be looked at, or is NULL. */
const char *compare_cause_words(const struct compare_row *row, const struct compare_machine *machine, double left,
                                const char *missing, struct rl_arena *arena);
const char *compare_machine_words(const struct compare_machine *machine, struct rl_arena *arena);
/* A side as a query names it: "driver 580.159.04, CUDA 13.0" of "driver:580.159.04,cuda:13.0". */
const char *compare_label_words(const char *label, struct rl_arena *arena);
/* "No run of driver 1.0 counts: 8 runs are of suite import: ask with suite=import." */
const char *compare_empty_words(const struct compare_used *used, struct rl_arena *arena);
const char *compare_answer_words(const struct compare_result *result);

#endif
