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
#include "gpu/record/derive/derive.h"
#include "gpu/record/flags.h"

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

struct narrow {
    struct trend_key key;
    int64_t launches;
    struct rl_real time_s, value, sm_hz, memory_hz, dram, settled, per_ask, percent;
    struct rl_count ask_bytes;
    unsigned flags; /* enum rl_row_flag */
    const char *bound;
    struct store_work work;
    struct store_launch launch;
};

static double real_or_nan(struct rl_real real)
{
    return rl_is_known(real) ? real.value : NAN;
}

static int put_narrow(struct store *store, int64_t run_id, const struct narrow *row, struct rl_err *err)
{
    int64_t launch_id = 0;
    struct stmt stmt;

    if (store_launch_put(store, &row->launch, &launch_id, err) < 0)
        return -1;
    stmt = stmt_start(store, STMT_ROW_ADD);
    stmt_int(&stmt, ":work", row->key.work_id);
    stmt_int(&stmt, ":launch", launch_id);
    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":unit", row->key.unit_id);
    stmt_text(&stmt, ":state", rl_state_name(row->key.state));
    stmt_int(&stmt, ":launches", row->launches);
    stmt_real(&stmt, ":time", row->time_s);
    stmt_real(&stmt, ":value", row->value);
    stmt_real(&stmt, ":sm_hz", row->sm_hz);
    stmt_real(&stmt, ":memory_hz", row->memory_hz);
    if (row->ask_bytes.why == NULL)
        stmt_int(&stmt, ":ask", row->ask_bytes.value);
    stmt_real(&stmt, ":dram", row->dram);
    stmt_real(&stmt, ":settled", row->settled);
    stmt_real(&stmt, ":per_ask", row->per_ask);
    stmt_real(&stmt, ":percent", row->percent);
    stmt_int(&stmt, ":flags", row->flags & ((1u << IMPORT_FLAGS_AT) - 1));
    stmt_text(&stmt, ":bound", row->bound);
    if (stmt_run(&stmt, err, "storing a run's rows") < 0)
        return -1;
    if (row->flags >> IMPORT_FLAGS_AT == 0)
        return 0;
    stmt = stmt_start(store, STMT_ROW_IMPORT_ADD);
    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":unit", row->key.unit_id);
    stmt_text(&stmt, ":state", rl_state_name(row->key.state));
    stmt_int(&stmt, ":flags", row->flags >> IMPORT_FLAGS_AT);
    return stmt_run(&stmt, err, "storing the flags of an import's row");
}

static int add_to_trend(struct store *store, int64_t run_id, int64_t date_ms, const struct narrow *row, bool ceiling,
                        struct rl_err *err)
{
    struct trend_entry entry = {.ms_of_day = (uint32_t)(date_ms - row->key.day * TREND_DAY_MS),
                                .run_id = run_id,
                                .percent_of_ceiling = real_or_nan(row->percent),
                                .dram_per_ask = real_or_nan(row->per_ask),
                                .value = real_or_nan(ceiling ? row->value : row->time_s),
                                .dram_bytes = real_or_nan(ceiling ? row->dram : row->settled)};
    struct trend_day day;

    if (trend_day_read(store, &row->key, &day, err) < 0)
        return -1;
    trend_day_add(&day, &entry);
    return trend_day_write(store, &row->key, &day, err);
}

static int put_row(struct store *store, int64_t run_id, const struct rl_run *run, struct narrow *row, bool ceiling,
                   struct rl_err *err)
{
    row->key.profiler_time = (row->flags & RL_ROW_PROFILER_TIME) != 0;
    if (store_work_put(store, &row->work, &row->key.work_id, err) < 0 || put_narrow(store, run_id, row, err) < 0)
        return -1;
    return store_run_eligible(run) ? add_to_trend(store, run_id, run->finished_at_ms, row, ceiling, err) : 0;
}

/* An import may bring one kernel several times; narrow rows have the first, the document all. */
static bool is_repeated_row(const struct rl_run *run, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(run->rows[i].kernel, run->rows[index].kernel) == 0)
            return true;
    }
    return false;
}

static int put_kernel(struct store *store, int64_t run_id, struct trend_key key, const struct rl_run *run,
                      const struct rl_row *from, struct rl_err *err)
{
    char grid[LAUNCH_DIMS_TEXT], block[LAUNCH_DIMS_TEXT];
    struct store_launch launch;
    struct store_work work;

    store_work_of_row(from, &work);
    store_launch_of_row(from, grid, block, &launch);
    if (store_unit_put(store, from->kernel, "kernel", &key.unit_id, err) < 0)
        return -1;
    for (int state = 0; state < RL_ROW_STATES; state++) {
        const struct rl_row_state *s = &from->state[state];
        struct narrow row = {.key = key,
                             .launches = s->time_s.launches,
                             .time_s = s->time_s.median,
                             .value = rl_unknown("no ceiling"),
                             .sm_hz = s->sm_hz,
                             .memory_hz = s->memory_hz,
                             .ask_bytes = from->ask_bytes,
                             .dram = s->bytes.dram,
                             .settled = rl_dram_owed(run, from, (enum rl_state)state),
                             .per_ask = s->dram_per_ask,
                             .percent = run->lent.present && run->source == RL_IMPORTED
                                            ? rl_unknown("of a ceiling that another run lent")
                                            : s->percent_of_ceiling,
                             .flags = rl_row_flag_bits(&s->flags),
                             .bound = s->bound.why == NULL ? s->bound.value : NULL,
                             .work = work,
                             .launch = launch};

        row.key.state = (enum rl_state)state;
        if (s->present && put_row(store, run_id, run, &row, false, err) < 0)
            return -1;
    }
    return 0;
}

static bool is_repeated_ceiling(const struct rl_run *run, size_t index)
{
    const struct rl_ceiling *ceiling = &run->ceilings[index];

    return rl_run_ceiling(run, ceiling->name, ceiling->state) != ceiling; /* that finds the first */
}

static int put_ceiling(struct store *store, int64_t run_id, struct trend_key key, const struct rl_run *run,
                       const struct rl_ceiling *from, struct rl_err *err)
{
    struct narrow row = {.launches = from->time_s.launches,
                         .time_s = from->time_s.median,
                         .value = from->value,
                         .sm_hz = from->sm_hz,
                         .memory_hz = from->memory_hz,
                         .ask_bytes = from->work,
                         .dram = from->dram,
                         .settled = rl_unknown("not counted for ceilings"),
                         .per_ask = from->dram_per_ask,
                         .percent = rl_unknown("a ceiling itself"),
                         .flags = rl_row_flag_bits(&from->flags)};

    store_work_of_ceiling(from, &row.work, &row.launch);
    if (from->unit == NULL || strcmp(from->unit, "byte_per_s") != 0)
        row.ask_bytes = (struct rl_count){0, "work in flop"};
    key.state = from->state;
    if (store_unit_put(store, from->name, "ceiling", &key.unit_id, err) < 0)
        return -1;
    row.key = key;
    return put_row(store, run_id, run, &row, true, err);
}

int store_insert_history(struct store *store, int64_t run_id, int64_t series, const struct rl_run *run,
                         struct rl_err *err)
{
    struct trend_key key = {.series_id = series,
                            .method_version = run->environment.method_version,
                            .day = rl_time_day(run->finished_at_ms)};

    if (put_fact(store, run_id, series, run, err) < 0)
        return -1;
    for (size_t i = 0; i < run->row_count; i++) {
        if (!is_repeated_row(run, i) && put_kernel(store, run_id, key, run, &run->rows[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < run->ceiling_count; i++) {
        if (!is_repeated_ceiling(run, i) && put_ceiling(store, run_id, key, run, &run->ceilings[i], err) < 0)
            return -1;
    }
    return 0;
}
