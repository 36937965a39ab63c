/* History: what many runs say together. The matrix, trends, the draws of comparisons, notes and accepted changes,
 * predictions, imports, retention and export. The rules of db/core/store.h hold: one transaction, errors, buffers,
 * times.
 *
 * An *eligible* run has the outcome ok and none of the flags shared, throttled and driver_changed: only such a run may
 * be a draw, a trend's point or a baseline, and only while it is not withdrawn.
 * `source` in what follows: NULL is "measured or imported"; "any", or one of the three words. Else RL_E_BAD_FIELD.
 */
#ifndef DB_HISTORY_HISTORY_H
#define DB_HISTORY_HISTORY_H

#include "db/core/store.h"

#define STORE_HISTORY_DAYS_DEFAULT 365
#define STORE_HISTORY_DAYS_MAX     3660   /* asked for at once; over it: RL_E_BAD_FIELD */
#define STORE_MATRIX_CELLS_MAX     200000 /* of one answer; over it: RL_E_TOO_LARGE, naming what to ask for instead */
#define STORE_DRAWS_MAX            100    /* runs of one side; over it: RL_E_BAD_FIELD */
#define STORE_DRAW_KERNELS_MAX     64     /* named of one side; over it: RL_E_BAD_FIELD */
#define STORE_DRAW_NAME_BYTES      2048
#define STORE_ACCEPTED_MAX         64   /* accepted changes of one note; over it: RL_E_BAD_FIELD */
#define STORE_NOTE_MAX_BYTES       4096 /* over it: RL_E_TOO_LARGE */

/* ---- the matrix: device x driver x CUDA x day ---- */
struct store_matrix_query {
    const char *device;         /* NULL: all; an unknown one gives no rows */
    const char *source;         /* NULL: measured and imported */
    const char *label;          /* NULL: any */
    int64_t since_ms, until_ms; /* widened to whole UTC days; inclusive, exclusive; 0: up to today, for 365 days */
    int64_t now_ms;             /* what "today" is */
};
/* {"since":"2025-11-30","until":"2026-11-30","source":"measured,imported","label"?,"rows":[{"device":{"id","name"},"driver",
 * "cuda","why":{},"cells":[{"day":"2026-11-29","counters":"counter-backed"|"timed-only","counter_backed":n,
 * "timed_only":n}]}],"excluded":[…as of a trend]}: runs with the outcome ok. until is exclusive. A day without a cell
 * has none. Rows come in the order in which device, driver and CUDA were first seen, cells by day. */
int store_history_matrix(struct store *store, const struct store_matrix_query *query, struct rl_buf *out,
                         struct rl_err *err);

/* ---- trends ---- */
#define STORE_TREND_LABEL_RUNS 10000
#define STORE_TREND_METRICS                                                                                            \
    "time_s, dram_bytes, dram_per_ask, percent_of_ceiling of kernels; value, dram_bytes of ceilings"
struct store_trend_query {
    const char *device,
        *kernel;               /* needed; kernel is the id of a kernel or a ceiling: unknown is RL_E_NOT_FOUND; where
                                * both have the name, the one that the metric is of, else that has runs here, else the kernel */
    const char *state;         /* "warm", "cold", "mixed" */
    const char *metric;        /* NULL: time_s of a kernel, value of a ceiling */
    const char *suite, *sizes; /* NULL: verify, course */
    const char *source;        /* NULL: measured and imported */
    const char *driver, *cuda; /* NULL: any */
    const char *label; /* NULL: any. Else points and bands are of these runs alone; more than STORE_TREND_LABEL_RUNS of
                        * them are RL_E_TOO_LARGE */
    int64_t method_version;             /* 0: RL_METHOD_VERSION */
    int64_t since_ms, until_ms, now_ms; /* as in the matrix */
};
/* A point is the eligible runs of a UTC day under one driver and CUDA version; its value is the median of the newest 24
 * of them ("used"). The noise band before a point: median +- 3 x 1.4826 x MAD of the baseline runs of the newest
 * days before it (5 to 128 runs, from at most 90 days before `since`). Baseline runs are all since the last accepted
 * change, but those of points outside of their band by at least 1 percent of its median: a change has to be accepted
 * before it becomes the baseline. Numbers have nine digits. accepted: the accepted changes of these days, oldest first,
 * with the whole note; runs of the source asked for.
 * {"device":{"id","name"},"kernel","state","metric","unit","suite","sizes","source","label"?,"method_version","since","until",
 *  "accepted":[{"run","date","day","driver","cuda","note","principal","why":{}}],"points":[{"day","driver","cuda","newest_run","runs","used","median","min","max","band":{"low","median","high",
 *  "runs"}|null,"outside":bool|null,"accepted":bool,"series":1,"why":{}}],"series":[{"number":1,"flop","ask_bytes",
 *  "dims","times":"events"|"profiler"|"any","sentence","why":{}}],"excluded":[…]}
 * Points of other work (flop, asked bytes or dims that both know and that differ) are of another series, as are times
 * that are a profiler's durations: a point's band is that of its own series. A change that was accepted begins the
 * series of its run anew. excluded: {"runs","at_least","filters","ask","sentence","why":{}}, store_excluded_find. */
int store_history_trend(struct store *store, const struct store_trend_query *query, struct rl_buf *out,
                        struct rl_err *err);

/* ---- what a question passes over ---- */
/* Runs of a device, and of a driver where one is asked for, that a question does not take, by what excludes them. */
struct store_excluded {
    int64_t runs;
    bool at_least;       /* not all were counted */
    const char *filters; /* what excludes them: "suite, sizes" */
    const char *ask;     /* the parameters that take them: "suite=import&sizes=other"; NULL: none does */
    const char *sentence;
};
#define STORE_EXCLUDED_MAX 8
struct store_excluded_query {
    const char *device, *driver, *cuda, *suite, *sizes, *source; /* NULL: any; of source: measured and imported */
    const char *label;                                           /* NULL: any; else only its runs are counted */
    int64_t since_ms, until_ms;                                  /* of the runs' dates; 0: any */
    bool cuda_in_side;                                           /* cuda is no parameter of the question */
    bool without_outcomes;  /* runs that no question takes, by their outcome or withdrawn, are said otherwise */
    int64_t method_version; /* 0: any; else eligible runs of other methods, and flagged ones, are counted too */
};
/* Those with the most runs, at most STORE_EXCLUDED_MAX; texts and array are in arena. Runs of other devices only where
 * the device has none of this driver. Reads from memory but for a look into two indexes a series; of a label its runs
 * are counted in the database, series by series. */
int store_excluded_find(struct store *store, const struct store_excluded_query *query, struct rl_arena *arena,
                        struct store_excluded **ret, size_t *ret_count, struct rl_err *err);

/* ---- the draws of a comparison ---- */
enum store_row_flag { /* bits of store_draw_row.flags: flags of the row's state by name */
                      STORE_ROW_CLOCK_MOVED = 1,
                      STORE_ROW_THROTTLED = 2,
                      STORE_ROW_NOT_STEADY = 4,
                      STORE_ROW_AT_FLOOR = 8,
                      STORE_ROW_CACHE_RESIDENT = 16,
                      STORE_ROW_WRITEBACK_UNPAID = 32,
                      STORE_ROW_ABOVE_CEILING = 64,
                      STORE_ROW_UNSETTLED = 128, /* from here on of imports */
                      STORE_ROW_SINGLE_LAUNCH = 256,
                      STORE_ROW_LAUNCHES_DIFFER = 512,
                      STORE_ROW_TIME_DERIVED = 1024,
                      STORE_ROW_PROFILER_TIME = 2048, /* no time was given: the profiler's durations are the times */
                      STORE_ROW_BYTES_DERIVED = 4096, /* DRAM bytes are a rate times a duration */
                      STORE_ROW_ABOVE_ROOF = 8192,
};
enum store_run_flag { STORE_RUN_SHARED = 1, STORE_RUN_THROTTLED = 2, STORE_RUN_DRIVER_CHANGED = 4 };

/* How much work a launch is, as far as it is known: rows of one name and of other work are not held against each other.
 */
struct store_work {
    int64_t flop, ask_bytes; /* per launch; -1 unknown */
    const char *dims;        /* of what is worked on, in words; NULL unknown */
};
/* How it is launched; NULL unknown. Equal work launched in another way is the same row. */
struct store_launch {
    const char *grid, *block; /* "65536 x 1 x 1" */
    const char *function;     /* of imports: the kernel's name as the profiler gave it */
    const char *shape;        /* of ceilings: the launch in words */
};
struct store_draw_row { /* one kernel or ceiling in one state; NaN, -1 and NULL: unknown in that run */
    const char *unit;   /* id */
    bool ceiling;
    enum rl_state state;
    int64_t launches;          /* per sample: 1 when cold; 0 unknown */
    double time_s;             /* median per launch */
    double value;              /* ceilings: byte/s or flop/s; kernels NaN */
    double sm_hz, memory_hz;   /* seen around the samples */
    double dram_bytes;         /* per launch, within it */
    double settled_bytes;      /* rl_dram_owed: with what the launch left to be written back, if known; ceilings NaN */
    double dram_per_ask;       /* settled over asked */
    double percent_of_ceiling; /* kernels */
    int64_t ask_bytes;         /* -1 unknown, and for compute ceilings */
    uint64_t flags;            /* enum store_row_flag */
    const char *bound;         /* "memory", "compute", "latency" or NULL */
    struct store_work work;
    struct store_launch launch;
};
struct store_draw { /* one run */
    int64_t run_id, date_ms;
    const char *device, *driver, *cuda; /* driver and cuda "" when unknown; cuda: of the runtime */
    const char *suite, *sizes, *source, *counters, *outcome;
    bool eligible, withdrawn;
    unsigned flags; /* enum store_run_flag: why not eligible, beside the outcome */
    int64_t method_version;
    int ecc;                                       /* 1, 0, -1 unknown */
    double power_limit_w, floor_dram_bytes;        /* NaN unknown */
    const char *mig, *cuda_driver, *cubin, *build; /* NULL unknown */
    const struct store_draw_row *rows;             /* by unit and state */
    size_t row_count;
};
struct store_draws {
    struct store_draw *draws; /* newest first; of named runs: in the order of their names */
    size_t count;
    size_t row_count;            /* of all draws */
    struct store_draw *left_out; /* newest first, without their rows */
    size_t left_out_count;
    struct rl_arena *arena; /* holds everything; free with store_draws_fini */
};
struct store_side {
    /* Named runs: any outcome, flags said in the draw. An unknown id is RL_E_RUN_NOT_FOUND naming it; one twice is
     * RL_E_BAD_FIELD. NULL: the newest eligible runs of what follows. */
    const int64_t *runs;
    size_t run_count;
    const char *device, *sizes; /* needed without runs */
    const char *suite;          /* NULL: verify */
    const char *driver, *cuda;  /* NULL: any, as for the spread that a row had in history */
    const char *label;          /* NULL: any */
    const char *source;         /* NULL: measured and imported */
    int64_t method_version;     /* 0: the highest that an eligible run of this side has */
    int64_t before_ms;          /* only runs before it; 0: none */
    int limit;                  /* 1 to STORE_DRAWS_MAX */
    int left_out_limit; /* so many runs that are of this side but no draws: not eligible, of any outcome and method,
                         * withdrawn, or of another method; the newest that are not older than the oldest draw; 0 to
                         * STORE_DRAWS_MAX
                         */
    /* Of the kernels only these, and all ceilings; a name that no run has: RL_E_NOT_FOUND. 0: all. */
    const char *const *kernels;
    size_t kernel_count; /* at most STORE_DRAW_KERNELS_MAX */
    size_t rows_max;     /* that all draws may have together, names counting as one for every STORE_DRAW_NAME_BYTES of
                          * them; 0: any number */
    bool fewer_runs;     /* over rows_max: the older runs are not read; else RL_E_TOO_LARGE */
};
/* No eligible run is no error: count is 0. */
int store_history_draws(struct store *store, const struct store_side *side, struct store_draws *ret,
                        struct rl_err *err);
void store_draws_fini(struct store_draws *draws);

/* ---- notes and accepted changes ---- */
struct store_accepted {
    const char *kernel; /* id of a kernel or ceiling that the run has in this state: else RL_E_BAD_FIELD */
    const char *state;
};
struct store_note_new {
    int64_t run_id;
    const char *text; /* "" with no accepted change removes nothing: the version goes on */
    const struct store_accepted *accepted;
    size_t accepted_count;
    const char *principal;
    int64_t if_version; /* the version that the writer saw (0: none yet), or -1 for any; else RL_E_CONFLICT */
    int64_t now_ms;
};
/* Replaces the note and its accepted changes. RL_E_RUN_NOT_FOUND. */
int store_note_put(struct store *store, const struct store_note_new *note, int64_t *ret_version, struct rl_err *err);
/* {"run":"7","version":2,"text","accepted":[{"kernel","state"}],"principal","changed_at","why":{}}. Without a note the
 * version is 0, text "", principal and changed_at null with why. A job's note is the first of its run. */
int store_note_json(struct store *store, int64_t run_id, struct rl_buf *out, int64_t *ret_version, struct rl_err *err);

/* ---- predictions ---- */
#define STORE_NEAR_MIN 0.85 /* settled DRAM/ask from here ... */
#define STORE_NEAR_MAX 1.15 /* ... to here is near */
/* What the job's sender said, scored when the run was stored: {"run","predicted":10,"scored":9,"right":7,
 * "items":[{"kernel","state","said","found","dram_per_ask","right","why":{}}],"most_wrong":[the ids of at most two
 * misses with the largest |ln(DRAM/ask)|],"why_wrong":[{"kernel","text"}],"version","principal","changed_at","why":{}}:
 * version is 0, principal and changed_at null with why while nothing was said of why. A run without predictions has 0
 * and none. RL_E_RUN_NOT_FOUND. */
int store_predictions_json(struct store *store, int64_t run_id, struct rl_buf *out, int64_t *ret_version,
                           struct rl_err *err);

/* ---- why they were wrong ---- */
#define STORE_WRONG_CHARACTERS 1024 /* of one text; over it, or without any: RL_E_BAD_FIELD */
struct store_wrong {
    const char *kernel; /* one of the run's most_wrong, once: else RL_E_BAD_FIELD, "why_wrong.KERNEL" */
    const char *text;
};
struct store_wrong_new {
    int64_t run_id;
    const struct store_wrong *items;
    size_t count;
    const char *principal;
    int64_t if_version; /* as of a note */
    int64_t now_ms;
};
/* Replaces all that was said of the run's predictions. RL_E_RUN_NOT_FOUND, RL_E_CONFLICT. */
int store_predictions_put(struct store *store, const struct store_wrong_new *said, int64_t *ret_version,
                          struct rl_err *err);

/* ---- withdrawn runs ---- */
#define STORE_REASON_CHARACTERS 512 /* at most, and at least one */
struct store_withdrawal {
    int64_t run_id;
    const char *reason; /* NULL: takes the withdrawal back */
    const char *principal;
    int64_t now_ms;
};
/* Hides the run from lists, history, trends, comparisons and exports, or shows it again; its days are made anew. Its
 * accepted changes do not count meanwhile. RL_E_RUN_NOT_FOUND; RL_E_CONFLICT when it is so already. */
int store_run_withdraw(struct store *store, const struct store_withdrawal *asked, struct rl_err *err);
/* {"run","withdrawn":bool,"log":[{"reason","principal","at","back_principal","back_at","why":{}}]}, oldest first.
 * RL_E_RUN_NOT_FOUND. */
int store_withdrawals_json(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err);
/* Whether it is withdrawn now; false for a run that there is none of. */
int store_run_withdrawn(struct store *store, int64_t run_id, bool *ret, struct rl_err *err);
/* Who may withdraw it beside admins: its job's principal, or an import's. *ret is to be freed; NULL: an import that
 * does not say, since an older version stored it. RL_E_RUN_NOT_FOUND. */
int store_run_owner(struct store *store, int64_t run_id, char **ret, struct rl_err *err);

/* ---- labels ---- */
struct store_label_common {             /* what the ok runs of a label have in common; NULL where they differ */
    const char *device, *suite, *sizes; /* the store's until something is stored */
    size_t devices, suites, size_names; /* 0: no such run; 1; more: they differ */
};
/* source as elsewhere in this file. No such run is no error: the counts are 0. */
int store_label_find(struct store *store, const char *label, const char *source, struct store_label_common *ret,
                     struct rl_err *err);

/* ---- imports ---- */
struct store_import_key { /* SHA-256, 64 hex digits each */
    const char *request;  /* of the files and fields that were sent */
    const char *record;   /* of what came of them */
};
/* Stores an imported run (run->source is RL_IMPORTED: else RL_E_INTERNAL), job null. Where either of the key is known,
 * answers the existing run and *ret_existing, and stores only that this request is that run too; a label that is not
 * that run's is RL_E_CONFLICT, since no run's label ever changes. */
int store_import_run(struct store *store, const struct store_run_new *run, const struct store_import_key *key,
                     int64_t *ret_id, bool *ret_existing, struct rl_err *err);
/* The run of a request or record: before work is spent on it. 0 when there is none. label: as asked, or NULL; another
 * than the run's is RL_E_CONFLICT. */
int store_import_find(struct store *store, const char *sha256, const char *label, int64_t *ret_id, struct rl_err *err);

/* ---- retention ---- */
/* Names the run in run_retired and deletes it with its document, samples, rows, note and predictions; days without it
 * are made anew; its job stays. RL_E_RUN_NOT_FOUND. */
int store_run_retire(struct store *store, int64_t run_id, const char *reason, int64_t now_ms, struct rl_err *err);

/* ---- export ---- */
enum store_export_format { STORE_EXPORT_JSON, STORE_EXPORT_CSV };
struct store_export;
/* The runs of a filter (its limit and cursor are not looked at; strings are copied), newest first, in pieces. Between
 * pieces anything may be stored: a run that comes meanwhile with a newer date is not in it.
 * JSON: {"items":[the run's document, ...]}. CSV: rl_csv_write's lines behind a column "run", one head. */
int store_export_start(struct store *store, const struct store_run_filter *filter, enum store_export_format format,
                       struct store_export **ret, struct rl_err *err);
/* Appends the next piece: whole runs until there are at least `bytes` more in out; of CSV one run, since its document
 * is parsed for it. *ret_done: that was the last. Nothing appended and not done: see store_export_beside. After an
 * error the export is only to be freed. */
int store_export_next(struct store_export *export, size_t bytes, struct rl_buf *out, bool *ret_done,
                      struct rl_err *err);
/* Of CSV: from now on a run whose document has over here_bytes is not parsed by store_export_next, which appends
 * nothing for it until it was made. That takes store_export_fetch, which reads the document unless it is held, and then
 * store_export_make, which touches the export alone, so that another thread may call it; its errors are those of the
 * next store_export_next. store_export_drop: the document is not held while the run waits to be made. */
void store_export_beside(struct store_export *export, size_t here_bytes);
int store_export_fetch(struct store_export *export, struct rl_err *err);
void store_export_drop(struct store_export *export);
void store_export_make(struct store_export *export);
void store_export_free(struct store_export *export); /* accepts NULL; before store_close */

#endif
