/* What is kept beside a run's document, in the transaction that stores it: narrow facts and rows for comparisons, and
 * its entries in the days of its trends. (The days of its series are counted by triggers of run_fact.) */
#include "db/rows/rollup.h"

#include <math.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/rows/trend_day.h"
#include "db/rows/units.h"
#include "db/rows/work.h"
#include "gpu/base/time.h"
#include "gpu/record/flags.h"
#include "gpu/suites/document.h"

/* ---- facts ---- */

/* What the columns take, by their CHECKs: run_fact.flags the bits below 3, run_row.flags those below
 * IMPORT_FLAGS_AT, and run_row_import.flags the others, at most 32. */
#define RUN_FLAGS_STORED 7u
_Static_assert(RL_ROW_FLAG_COUNT <= 32, "the CHECK of run_row_import.flags");
_Static_assert(RL_ROW_PROFILER_TIME >> IMPORT_FLAGS_AT == 16, "TREND_SOURCE has the number");

bool store_run_eligible(const struct rl_run *run)
{
    return run->outcome == RL_OK && (rl_run_flag_bits(&run->flags) & rl_run_flags_barring()) == 0;
}

static void bind_text3(struct stmt *stmt, const char *name, struct rl_text text)
{
    stmt_text(stmt, name, text.why == NULL ? text.value : NULL);
}

static int put_fact(struct store *store, int64_t run_id, int64_t series, const struct rl_run *run, struct rl_err *err)
{
    const struct rl_environment *environment = &run->environment;
    struct stmt stmt = stmt_start(store, STMT_FACT_ADD);

    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":series", series);
    stmt_int(&stmt, ":date", run->finished_at_ms);
    stmt_int(&stmt, ":day", rl_time_day(run->finished_at_ms));
    stmt_int(&stmt, ":eligible", store_run_eligible(run));
    stmt_int(&stmt, ":flags", rl_run_flag_bits(&run->flags) & RUN_FLAGS_STORED);
    stmt_int(&stmt, ":method", environment->method_version);
    if (environment->ecc.why == NULL)
        stmt_int(&stmt, ":ecc", environment->ecc.value);
    bind_text3(&stmt, ":mig", environment->mig);
    stmt_real(&stmt, ":power_limit", environment->power_limit_w);
    bind_text3(&stmt, ":cuda_driver", environment->cuda_driver_version);
    bind_text3(&stmt, ":cubin", environment->cubin);
    stmt_text(&stmt, ":build", environment->build != NULL ? environment->build : "");
    stmt_real(&stmt, ":floor", run->counters.floor_dram_bytes);
    return stmt_run(&stmt, err, "storing a run's facts");
}

/* ---- rows ---- */

/* A run's points on their way into the store. */
struct rows {
    struct store *store;
    const struct rl_run *run;
    const struct rl_suite *suite;
    int64_t run_id;
    struct trend_key key; /* of the run; unit, state and work come with each point */
};

/* NAN where it is unknown, or the suite has no such metric. */
static double metric(const struct rows *rows, const struct rl_point *point, const char *id)
{
    size_t at = rl_suite_metric(rows->suite, id);

    return at != SIZE_MAX ? point->metrics[at] : NAN;
}

static void bind_metric(struct stmt *stmt, const char *name, double value)
{
    stmt_real(stmt, name, isnan(value) ? rl_unknown("not known") : rl_known(value));
}

static int put_narrow(const struct rows *rows, const struct trend_key *key, const struct rl_point *point,
                      struct rl_err *err)
{
    const struct store_launch launch = {point->grid, point->block, point->function, point->shape};
    int64_t launch_id = 0;
    struct stmt stmt;

    if (store_launch_put(rows->store, &launch, &launch_id, err) < 0)
        return -1;
    stmt = stmt_start(rows->store, STMT_ROW_ADD);
    stmt_int(&stmt, ":work", key->work_id);
    stmt_int(&stmt, ":launch", launch_id);
    stmt_int(&stmt, ":id", rows->run_id);
    stmt_int(&stmt, ":unit", key->unit_id);
    stmt_text(&stmt, ":state", rl_state_name(point->state));
    stmt_int(&stmt, ":launches", (int64_t)metric(rows, point, "launches"));
    bind_metric(&stmt, ":time", metric(rows, point, "time_s"));
    bind_metric(&stmt, ":value", metric(rows, point, "value"));
    bind_metric(&stmt, ":sm_hz", metric(rows, point, "sm_hz"));
    bind_metric(&stmt, ":memory_hz", metric(rows, point, "memory_hz"));
    if (point->ask_bytes >= 0)
        stmt_int(&stmt, ":ask", point->ask_bytes);
    bind_metric(&stmt, ":dram", metric(rows, point, "dram_bytes"));
    bind_metric(&stmt, ":settled", metric(rows, point, "settled_bytes"));
    bind_metric(&stmt, ":per_ask", metric(rows, point, "dram_per_ask"));
    bind_metric(&stmt, ":percent", metric(rows, point, "percent_of_ceiling"));
    stmt_int(&stmt, ":flags", point->flags & ((1u << IMPORT_FLAGS_AT) - 1));
    stmt_text(&stmt, ":bound", point->bound);
    if (stmt_run(&stmt, err, "storing a run's rows") < 0)
        return -1;
    if (point->flags >> IMPORT_FLAGS_AT == 0)
        return 0;
    stmt = stmt_start(rows->store, STMT_ROW_IMPORT_ADD);
    stmt_int(&stmt, ":id", rows->run_id);
    stmt_int(&stmt, ":unit", key->unit_id);
    stmt_text(&stmt, ":state", rl_state_name(point->state));
    stmt_int(&stmt, ":flags", point->flags >> IMPORT_FLAGS_AT);
    return stmt_run(&stmt, err, "storing the flags of an import's row");
}

static int add_to_trend(const struct rows *rows, const struct trend_key *key, const struct rl_point *point,
                        struct rl_err *err)
{
    int64_t date_ms = rows->run->finished_at_ms;
    struct trend_entry entry = {.ms_of_day = (uint32_t)(date_ms - key->day * TREND_DAY_MS),
                                .run_id = rows->run_id,
                                .percent_of_ceiling = metric(rows, point, "percent_of_ceiling"),
                                .dram_per_ask = metric(rows, point, "dram_per_ask"),
                                .value = metric(rows, point, point->ceiling ? "value" : "time_s"),
                                .dram_bytes = metric(rows, point, point->ceiling ? "dram_bytes" : "settled_bytes")};
    struct trend_day day;

    if (trend_day_read(rows->store, key, &day, err) < 0)
        return -1;
    trend_day_add(&day, &entry);
    return trend_day_write(rows->store, key, &day, err);
}

static int put_point(void *arg, const struct rl_point *point, struct rl_err *err)
{
    const struct rows *rows = arg;
    const struct store_work work = {point->flop, point->ask_bytes, point->dims};
    struct trend_key key = rows->key;

    key.state = point->state;
    key.profiler_time = (point->flags & RL_ROW_PROFILER_TIME) != 0;
    if (store_unit_put(rows->store, point->unit, point->ceiling ? "ceiling" : "kernel", &key.unit_id, err) < 0 ||
        store_work_put(rows->store, &work, &key.work_id, err) < 0 || put_narrow(rows, &key, point, err) < 0)
        return -1;
    return store_run_eligible(rows->run) ? add_to_trend(rows, &key, point, err) : 0;
}

int store_insert_history(struct store *store, int64_t run_id, int64_t series, const struct rl_run *run,
                         struct rl_err *err)
{
    struct rows rows = {.store = store,
                        .run = run,
                        .suite = rl_run_suite(run),
                        .run_id = run_id,
                        .key = {.series_id = series,
                                .method_version = run->environment.method_version,
                                .day = rl_time_day(run->finished_at_ms)}};

    if (put_fact(store, run_id, series, run, err) < 0)
        return -1;
    return rows.suite->points(run, put_point, &rows, err);
}
