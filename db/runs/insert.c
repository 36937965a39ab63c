/* A run is stored once, whole. Its document is made in db/runs/document.c. */
#include "db/runs/insert.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/rows/rollup.h"
#include "db/runs/document.h"
#include "db/series/devices.h"
#include "db/series/memory.h"

static const char *text_or_empty(struct rl_text text)
{
    return text.why == NULL ? text.value : "";
}

static struct rl_real ceiling_of(const struct rl_run *run, const char *name)
{
    const struct rl_ceiling *ceiling = rl_run_ceiling(run, name, RL_WARM);

    return ceiling != NULL ? ceiling->value : rl_unknown("this ceiling was not measured");
}

static void put_why(struct rl_buf *out, const char *member, const char *why)
{
    if (why == NULL)
        return;
    rl_buf_puts(out, out->len == 0 ? "{" : ",");
    json_put_text(out, member);
    rl_buf_puts(out, ":");
    json_put_text(out, why);
}

/* The reasons of the summary's nulls: an object, or nothing at all. */
static void put_whys(struct rl_buf *out, const struct rl_run *run, int64_t job_id)
{
    put_why(out, "job", job_id == 0 ? "an import has no job" : NULL);
    put_why(out, "driver", run->environment.driver_version.why);
    put_why(out, "cuda", run->environment.cuda_runtime_version.why);
    put_why(out, "recorded_at", run->recorded_at_ms == 0 ? "not replayed" : NULL);
    put_why(out, "dram_copy_byte_per_s", ceiling_of(run, "dram_copy").why);
    put_why(out, "fp32_fma_flop_per_s", ceiling_of(run, "fp32_fma").why);
    put_why(out, "ridge_flop_per_byte", run->ridge_flop_per_byte.why);
    if (out->len > 0)
        rl_buf_puts(out, "}");
}

/* A run's device has a row before the run: a job's was probed; an import may bring one that never was. */
static int ensure_device(struct store *store, const struct rl_run *run, struct rl_err *err)
{
    bool ok = strcmp(run->counters.status, "ok") == 0;
    struct store_device device = {
        .device = &run->device,
        .environment = &run->environment,
        .counters_status = run->counters.status,
        .counters_why = ok                                ? NULL
                        : run->counters.why.value != NULL ? run->counters.why.value
                                                          : "no reason was given",
        .source = run->source,
        .checked_at_ms = run->finished_at_ms,
    };
    int known = store_device_exists(store, run->device.id, err);

    if (known != 0)
        return known < 0 ? -1 : 0;
    return store_write_device(store, &device, err);
}

static int put_series(struct store *store, const struct rl_run *run, int64_t *ret_id, struct rl_err *err)
{
    struct store_series_new new = {.date_ms = run->finished_at_ms,
                                   .words = {run->device.id, text_or_empty(run->environment.driver_version),
                                             text_or_empty(run->environment.cuda_runtime_version), run->suite,
                                             run->sizes, rl_source_name(run->source),
                                             run->counter_backed ? "counter-backed" : "timed-only",
                                             rl_outcome_name(run->outcome)}};
    static const char *const names[SERIES_WORDS] = {":device", ":driver", ":cuda",     ":suite",
                                                    ":sizes",  ":source", ":counters", ":outcome"};
    struct stmt stmt = stmt_start(store, STMT_SERIES_PUT);
    int rc;

    for (int i = 0; i < SERIES_WORDS; i++)
        stmt_text(&stmt, names[i], new.words[i]);
    stmt_int(&stmt, ":date", new.date_ms);
    rc = stmt_step(&stmt, err, "storing a run's series");
    if (rc == 1)
        new.id = sqlite3_column_int64(stmt.handle, 0);
    stmt_end(&stmt);
    if (rc != 1)
        return rc < 0 ? -1 : rl_fail(err, RL_E_INTERNAL, NULL, "a run's series has no id");
    store->series->stored = new;
    *ret_id = new.id;
    return 0;
}

static int put_run(struct store *store, int64_t series, int64_t job_id, const struct store_run_new *new,
                   int64_t *ret_id, struct rl_err *err)
{
    const struct rl_run *run = new->run;
    struct rl_buf why;
    struct stmt stmt;
    int rc;

    rl_buf_init(&why, 64 * 1024);
    put_whys(&why, run, job_id);
    if (why.failed) {
        rl_buf_free(&why);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "the reasons of a run's unknown values are too long");
    }
    stmt = stmt_start(store, STMT_RUN_ADD);
    stmt_int(&stmt, ":series", series);
    if (job_id != 0)
        stmt_int(&stmt, ":job", job_id);
    stmt_int(&stmt, ":date", run->finished_at_ms);
    stmt_int(&stmt, ":started", run->started_at_ms);
    if (run->recorded_at_ms != 0)
        stmt_int(&stmt, ":recorded", run->recorded_at_ms);
    stmt_real(&stmt, ":dram_copy", ceiling_of(run, "dram_copy"));
    stmt_real(&stmt, ":fp32_fma", ceiling_of(run, "fp32_fma"));
    stmt_real(&stmt, ":ridge", run->ridge_flop_per_byte);
    stmt_text(&stmt, ":why", why.len > 0 ? why.data : NULL);
    stmt_text(&stmt, ":label", new->label);
    stmt_text(&stmt, ":principal", new->principal);
    rc = stmt_run(&stmt, err, "storing a run");
    rl_buf_free(&why);
    if (rc == 0)
        *ret_id = sqlite3_last_insert_rowid(store->db);
    return rc;
}

static int put_samples(struct store *store, int64_t id, const struct store_samples *samples, struct rl_err *err)
{
    unsigned char blob[STORE_SAMPLES_MAX * 4];
    struct stmt stmt;

    if (samples->count > STORE_SAMPLES_MAX)
        return rl_fail(err, RL_E_INTERNAL, samples->unit, "%zu samples of one row and state, and %d is the limit",
                       samples->count, STORE_SAMPLES_MAX);
    for (size_t i = 0; i < samples->count; i++) {
        float value = (float)samples->times_s[i];
        uint32_t bits;

        if (!isfinite(value) || value < 0)
            return rl_fail(err, RL_E_INTERNAL, samples->unit, "sample %zu is %g s", i, samples->times_s[i]);
        memcpy(&bits, &value, sizeof bits);
        for (size_t byte = 0; byte < 4; byte++) /* little-endian in the file, whatever this machine is */
            blob[i * 4 + byte] = (unsigned char)(bits >> (8 * byte));
    }
    stmt = stmt_start(store, STMT_SAMPLE_ADD);
    stmt_int(&stmt, ":id", id);
    stmt_text(&stmt, ":unit", samples->unit);
    stmt_text(&stmt, ":state", rl_state_name(samples->state));
    stmt_int(&stmt, ":launches", samples->launches);
    stmt_int(&stmt, ":count", (int64_t)samples->count);
    stmt_blob(&stmt, ":times", blob, samples->count * 4);
    return stmt_run(&stmt, err, "storing samples");
}

int store_insert_run(struct store *store, int64_t job_id, const struct store_run_new *new, int64_t *ret_id,
                     struct rl_err *err)
{
    int64_t series = 0, id = 0;

    assert(!sqlite3_get_autocommit(store->db));
    if (ensure_device(store, new->run, err) < 0 || put_series(store, new->run, &series, err) < 0 ||
        put_run(store, series, job_id, new, &id, err) < 0 ||
        store_put_document(store, id, job_id, new->label, new->document, err) < 0)
        return -1;
    for (size_t i = 0; i < new->sample_count; i++) {
        if (put_samples(store, id, &new->samples[i], err) < 0)
            return -1;
    }
    if (store_insert_history(store, id, series, new->run, err) < 0)
        return -1;
    *ret_id = id;
    return 0;
}
