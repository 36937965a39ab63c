/* A suite: one kind of measurement. What a client may ask, what a run of it holds, what follows from that, and how it
 * is stored. The daemon, the client, the importer and roofline-measure link it; it knows no backend. The measuring
 * itself is still the verification's alone (gpu/engine).
 *
 * A suite is a folder with a struct rl_suite named rl_suite_NAME, and a line in gpu/suites/list.h. */
#ifndef GPU_SUITES_BASE_SUITE_H
#define GPU_SUITES_BASE_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/base/buf.h"
#include "gpu/base/err.h"
#include "gpu/record/fields.h"
#include "gpu/record/run.h"
#include "kernels/unit/catalogue.h"
#include "kernels/unit/list.h"

/* ---- parameters ---- */

enum rl_param_kind {
    RL_PARAM_CHOICE,     /* one of words */
    RL_PARAM_WORDS,      /* a list of words, each once, not empty */
    RL_PARAM_UNITS,      /* a list of ids of the suite's units, each once, not empty */
    RL_PARAM_BOOL,       /* true or false */
    RL_PARAM_INT,        /* an integer from min to max */
    RL_PARAM_INTS,       /* a list of such, each once, not empty */
    RL_PARAM_UNIT_WORDS, /* an object: of some of the units that the parameter `of` asks for, a word each */
};
struct rl_param {
    const char *name; /* the key in a job; of no other parameter of any suite with another meaning */
    enum rl_param_kind kind;
    const char *title;        /* of the field in a form: "Cache states" */
    const char *help;         /* a sentence */
    const char *option;       /* of rooflinectl, without its dashes; NULL: the name. A BOOL's says the opposite of its
                               * default: "no-counters" */
    const char *value;        /* what stands for a value in help, "LIST"; NULL for BOOL */
    const char *const *words; /* CHOICE, WORDS, UNIT_WORDS; ended by NULL */
    int64_t min, max;         /* INT, INTS */
    int64_t step;             /* INT, INTS: a value is a multiple of it; 0: any */
    int64_t initial;          /* default: index of the word, 0 or 1, the integer. WORDS and UNITS: all of them */
    const int64_t *list;      /* default of INTS, list_count of them */
    size_t list_count;
    const char *item; /* WORDS, INTS: what one of the list is called in messages: "cache state" */
    const char *of;   /* UNIT_WORDS: the UNITS parameter; default none */
    const char *verb; /* UNIT_WORDS: what it does with a unit, for messages: "predicts" */
    bool local;       /* the daemon's own: the measuring process does not get it */
};

/* Places for one value's items: a suite's units, words or integers. */
enum { RL_PARAM_ITEMS = RL_UNIT_COUNT > 32 ? RL_UNIT_COUNT : 32, RL_PARAMS_MAX = 16, RL_PHASES_MAX = 16 };
struct rl_param_value {
    int64_t number;                /* CHOICE: index in words; BOOL; INT */
    bool has[RL_PARAM_ITEMS];      /* WORDS: by index in words; UNITS: by index in the suite's units */
    int64_t items[RL_PARAM_ITEMS]; /* INTS: as they were given; UNIT_WORDS: by unit, 1 + index in words, 0 none */
    size_t count;                  /* INTS */
};
/* Values of all of a suite's parameters, in the order of its table. gpu/suites/params.h reads and writes them. */
struct rl_suite;
struct rl_params {
    const struct rl_suite *suite;
    struct rl_param_value value[RL_PARAMS_MAX];
};

/* ---- phases ---- */

struct rl_phase {
    const char *id, *title; /* "counters", "Counting bytes" */
    double share;           /* of a run's usual time, for progress; all add up to 1 */
    int limit_s;            /* the longest that it may take, from its first progress line */
};

/* ---- metrics and points ---- */

enum rl_better { RL_NEITHER_BETTER, RL_LESS_IS_BETTER, RL_MORE_IS_BETTER };
enum rl_judged {
    RL_NOT_JUDGED,   /* shown beside a verdict */
    RL_JUDGED_RATIO, /* on logarithms: times, rates (server/compare, TIME) */
    RL_JUDGED_BYTES, /* on the counts themselves, with the counter's floor (server/compare, BYTES) */
    RL_JUDGED_EXACT, /* any difference is one: registers, blocks */
};
struct rl_metric_info {
    const char *id, *title;
    const char *unit; /* "s", "byte", "byte_per_s", "flop_per_s", "Hz", "percent", "ratio", "count" */
    enum rl_better better;
    bool logarithmic; /* the axis that shows it */
    enum rl_judged judged;
    bool headline; /* what a device's verdict may rest on */
};

/* A run in the flat form that the store keeps: one of these for each unit, state and place. All is
 * borrowed from the run, or lives as long as the call. */
struct rl_point {
    const char *unit; /* a kernel's, ceiling's or other name */
    bool ceiling;     /* unit is a ceiling */
    enum rl_state state;
    const char *at;                              /* the place, canonical: "" or "block=256" or "cap=40,block=256" */
    const double *metrics;                       /* one for each of the suite's, in that order; NAN: unknown */
    unsigned flags;                              /* enum rl_row_flag */
    int64_t flop, ask_bytes;                     /* the work of a launch; -1 unknown */
    const char *dims;                            /* what is worked on, in words; NULL unknown */
    const char *grid, *block, *function, *shape; /* how it is launched; NULL unknown */
    const char *bound;                           /* "memory", "compute", "latency"; NULL unknown */
};
/* Takes one point; -1 ends the walk with err set. */
typedef int rl_point_sink(void *arg, const struct rl_point *point, struct rl_err *err);

/* Takes the statistics of one row's or ceiling's samples; -1 ends the walk with err set. */
typedef int rl_times_sink(void *arg, const char *unit, enum rl_state state, const char *at,
                          const struct rl_times *times, struct rl_err *err);

/* ---- the suite ---- */

struct rl_suite {
    const char *name, *title;
    const char *help;                   /* one or two sentences: what is measured, and what for */
    int64_t method_version;             /* goes up when numbers cannot be compared with older ones */
    bool submittable;                   /* false: no job can ask for it */
    const struct rl_unit *const *units; /* what it measures */
    size_t unit_count;
    const struct rl_param *params; /* at most RL_PARAMS_MAX, beside those that every job has (server/jobs/spec.h) */
    size_t param_count;
    const struct rl_phase *phases; /* at most RL_PHASES_MAX; the first runs from the start of the process */
    size_t phase_count;
    const struct rl_metric_info *metrics; /* append-only: stored points hold them by number */
    size_t metric_count;

    const struct rl_object *document; /* the members of its run's document; its size is that of the run's struct, whose
                                       * first member is a struct rl_run */
    /* Computes what follows from stored times and counts. NULL: nothing does. */
    void (*derive)(struct rl_run *run);
    /* Members that do not fit each other; document is what the run was read from. NULL: the table says it all. */
    int (*check)(const struct rl_run *run, const json_t *document, struct rl_err *err);
    /* Whether the run is what these parameters ask for: rows, states, points, and figures that follow from them.
     * err->field is the document's member. Not for suites that no job asks for. */
    int (*accept)(const struct rl_run *run, const struct rl_params *params, struct rl_err *err);
    /* The statistics that raw samples stand behind. NULL: there are no samples. */
    int (*times)(const struct rl_run *run, rl_times_sink *take, void *arg, struct rl_err *err);
    /* Its points, each place once. */
    int (*points)(const struct rl_run *run, rl_point_sink *put, void *arg, struct rl_err *err);
};

/* RL_E_MEASURE_PROTOCOL about a member of a run that a measuring process sent, for `accept`. -1. */
int rl_accept_refuse(struct rl_err *err, const char *field, const char *why);
/* Index of a phase or metric of the suite, or SIZE_MAX. */
size_t rl_suite_phase(const struct rl_suite *suite, const char *id);
size_t rl_suite_metric(const struct rl_suite *suite, const char *id);

#endif
