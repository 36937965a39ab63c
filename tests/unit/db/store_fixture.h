/* What the store's tests share: a directory of their own, a store in it, a device, jobs and runs. */
#ifndef TESTS_UNIT_DB_STORE_FIXTURE_H
#define TESTS_UNIT_DB_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/core/internal.h"
#include "db/jobs/transitions.h"
#include "db/open.h"
#include "db/runs/document.h"
#include "db/runs/list.h"
#include "db/series/devices.h"

#define DEVICE_A "GPU-aaaaaaaa-0000-0000-0000-000000000001"
#define DEVICE_B "GPU-bbbbbbbb-0000-0000-0000-000000000002"
#define T0       1764446400000LL /* 2025-11-29T20:00:00Z */

struct fixture {
    char directory[64];
    char path[96];
    struct store *store;
    struct store_document document; /* document_of's last */
    const char *spec;               /* of the jobs that add_job makes; NULL: of verify alone */
    struct rl_err err;
};

static inline void fail_with(const struct rl_err *err, const char *what)
{
    fail_msg("%s: %s: %s", what, rl_code_id(err->code), err->message);
}
#define OK(fixture, call)                                                                                              \
    do {                                                                                                               \
        if ((call) != 0)                                                                                               \
            fail_with(&(fixture)->err, #call);                                                                         \
    } while (0)
#define FAILS(fixture, expected, call)                                                                                 \
    do {                                                                                                               \
        (fixture)->err = (struct rl_err){0};                                                                           \
        assert_int_equal((call), -1);                                                                                  \
        if ((fixture)->err.code != (expected))                                                                         \
            fail_with(&(fixture)->err, #call " is not " #expected);                                                    \
        assert_non_null((fixture)->err.message);                                                                       \
        assert_null(strstr((fixture)->err.message, "/store-test"));                                                    \
    } while (0)

static inline struct rl_text text_known(const char *value)
{
    return (struct rl_text){value, NULL};
}
static inline struct rl_text text_unknown(void)
{
    return (struct rl_text){NULL, "not known in this test"};
}

static inline void make_identity(struct rl_device *device, struct rl_environment *environment, const char *id,
                                 const char *name)
{
    struct rl_count none = {0, "not known in this test"};
    struct rl_flag3 no_flag = {false, "not known in this test"};

    *device = (struct rl_device){.id = id,
                                 .uuid = text_known(id),
                                 .name = name,
                                 .chip = text_known("GH100"),
                                 .pci_bus_id = text_unknown(),
                                 .compute_major = none,
                                 .compute_minor = none,
                                 .sm_count = none,
                                 .l2_bytes = none,
                                 .memory_bytes = none,
                                 .memory_bus_bits = none,
                                 .fp32_lanes_per_sm = none,
                                 .max_sm_hz = none,
                                 .max_memory_hz = none,
                                 .warp_size = none,
                                 .persisting_l2_bytes = none,
                                 .max_threads_per_sm = none};
    *environment = (struct rl_environment){.driver_version = text_known("580.159.04"),
                                           .cuda_driver_version = text_known("13.0"),
                                           .cuda_runtime_version = text_known("13.0"),
                                           .cupti_version = text_unknown(),
                                           .hostname = text_unknown(),
                                           .kernel_release = text_unknown(),
                                           .ecc = no_flag,
                                           .mig = text_known("off"),
                                           .power_limit_w = rl_unknown("not known in this test"),
                                           .compute_mode = text_unknown(),
                                           .persistence_mode = text_unknown(),
                                           .profiling_admin_only = no_flag,
                                           .build = "test",
                                           .cubin = text_known("sm_90"),
                                           .method_version = 1};
}

static inline int put_device(struct fixture *f, const char *id, const char *name, int ordinal)
{
    struct rl_device device;
    struct rl_environment environment;
    struct store_device row = {.device = &device,
                               .environment = &environment,
                               .counters_status = "ok",
                               .source = RL_MEASURED,
                               .checked_at_ms = T0,
                               .ordinal = ordinal};

    make_identity(&device, &environment, id, name);
    return store_put_device(f->store, &row, &f->err);
}

static inline void open_fixture(struct fixture *f)
{
    OK(f, store_open(f->path, false, &f->store, &f->err));
}
static inline void reopen_fixture(struct fixture *f)
{
    store_close(f->store);
    f->store = NULL;
    open_fixture(f);
}

static inline int setup_directory(void **state)
{
    const char *base = getenv("TMPDIR");
    struct fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return -1;
    snprintf(f->directory, sizeof f->directory, "%.40s/store-test-XXXXXX",
             base != NULL && base[0] == '/' ? base : "/tmp");
    if (mkdtemp(f->directory) == NULL) {
        free(f);
        return -1;
    }
    snprintf(f->path, sizeof f->path, "%s/roofline.db", f->directory);
    *state = f;
    return 0;
}

static inline int setup_store(void **state)
{
    struct fixture *f;

    if (setup_directory(state) < 0)
        return -1;
    f = *state;
    open_fixture(f);
    OK(f, put_device(f, DEVICE_A, "NVIDIA H200", 0));
    OK(f, put_device(f, DEVICE_B, "Tesla T4", 1));
    return 0;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    DIR *directory;
    struct dirent *entry;

    store_document_fini(&f->document);
    store_close(f->store);
    directory = opendir(f->directory);
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char name[512];

        snprintf(name, sizeof name, "%s/%s", f->directory, entry->d_name);
        unlink(name);
    }
    if (directory != NULL)
        closedir(directory);
    rmdir(f->directory);
    free(f);
    return 0;
}

static inline struct store_job_new new_job(const char *device)
{
    return (struct store_job_new){.principal = "uid:1000",
                                  .device = device,
                                  .spec = "{\"suite\":\"verify\"}",
                                  .now_ms = T0,
                                  .max_queued = 1000000,
                                  .max_open_per_principal = 1000000};
}
static inline int64_t add_job(struct fixture *f, const char *device)
{
    struct store_job_new job = new_job(device);
    int64_t id = 0;

    job.spec = f->spec != NULL ? f->spec : job.spec;
    OK(f, store_job_add(f->store, &job, &id, NULL, &f->err));
    return id;
}
static inline int step(struct fixture *f, int64_t id, enum job_state from, enum job_state to)
{
    static const struct rl_err why = {.code = RL_E_CUDA_FAILED, .message = "it failed"};
    struct store_transition t = {
        .id = id, .from = from, .to = to, .now_ms = T0 + 1000, .error = to == JOB_FAILED ? &why : NULL};

    return store_job_transition(f->store, &t, NULL, &f->err);
}
static inline enum job_state state_of(struct fixture *f, int64_t id)
{
    struct store_job job;

    OK(f, store_job_get(f->store, id, &job, &f->err));
    store_job_fini(&job);
    return job.state;
}

/* A run with ceilings, no rows: what the store looks at. Free with rl_run_free. */
static inline struct rl_run *make_run(const char *device, int64_t date_ms)
{
    struct rl_run *run = rl_run_new();

    assert_non_null(run);
    make_identity(&run->device, &run->environment, device, "NVIDIA H200");
    run->suite = "verify";
    run->sizes = "course";
    run->source = RL_MEASURED;
    run->outcome = RL_OK;
    run->started_at_ms = date_ms - 3000;
    run->finished_at_ms = date_ms;
    run->counters.status = "ok";
    run->counter_backed = true;
    run->ridge_flop_per_byte = rl_known(14.125);
    run->ceilings = rl_arena_array(run->arena, 2, sizeof *run->ceilings);
    assert_non_null(run->ceilings);
    run->ceiling_count = 2;
    run->ceilings[0] = (struct rl_ceiling){.name = "dram_copy", .state = RL_WARM, .value = rl_known(4.27e12)};
    run->ceilings[1] = (struct rl_ceiling){.name = "fp32_fma", .state = RL_WARM, .value = rl_known(6.03e13)};
    return run;
}

/* The text as the store takes it, until the next call. */
static inline const struct store_document *document_of(struct fixture *f, const char *text)
{
    store_document_fini(&f->document);
    OK(f, store_document_make(text, &f->document, &f->err));
    return &f->document;
}

/* Queues, runs and finishes a job with this run; 0 or -1. */
static inline int finish_with(struct fixture *f, const struct store_run_new *new, int64_t *ret_run, int64_t *ret_job)
{
    int64_t job = add_job(f, new->run->device.id);
    struct store_transition t = {
        .id = job, .from = JOB_RUNNING, .to = JOB_DONE, .now_ms = T0 + 5000, .run = new, .transcript = "measured"};

    OK(f, step(f, job, JOB_QUEUED, JOB_RUNNING));
    *ret_job = job;
    return store_job_transition(f->store, &t, ret_run, &f->err);
}
static inline int64_t add_run(struct fixture *f, const struct rl_run *run)
{
    struct store_run_new new = {.run = run, .document = document_of(f, "{\"suite\":\"verify\"}")};
    int64_t id = 0, job = 0;

    OK(f, finish_with(f, &new, &id, &job));
    return id;
}

/* The newest run with the outcome ok, as a list gives it; 0 when there is none. */
static inline int64_t newest_ok(struct fixture *f)
{
    static const char head[] = "{\"items\":[{\"id\":\"";
    struct store_run_filter filter = {.outcome = "ok", .limit = 1};
    struct rl_buf out;
    int64_t id = 0;

    rl_buf_init(&out, 1 << 20);
    OK(f, store_run_list(f->store, &filter, &out, &f->err));
    if (strncmp(out.data, head, sizeof head - 1) == 0)
        id = strtoll(out.data + sizeof head - 1, NULL, 10);
    rl_buf_free(&out);
    return id;
}

/* One integer from a query of the test's own. */
static inline int64_t query_int(struct fixture *f, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int64_t value;

    if (sqlite3_prepare_v2(f->store->db, sql, -1, &stmt, NULL) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
        fail_msg("%s: %s", sql, sqlite3_errmsg(f->store->db));
    value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

#endif
