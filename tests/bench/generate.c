/* Fills a database with realistic runs for history_bench.
 *
 * One device holds half of the runs. The newest ones are whole: a job with its transcript, a document, samples; the
 * others have facts and narrow rows only, and a stub for a document. Documents are made a few hundred times and used
 * again (their ids are then another run's): making each anew would take longer than all the rest. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/deflate.h"
#include "db/core/statement.h"
#include "db/open.h"
#include "db/rows/trend_day.h"
#include "db/rows/trend_remake.h"
#include "db/rows/units.h"
#include "db/rows/work.h"
#include "db/series/cache.h"
#include "db/series/devices.h"
#include "gpu/base/time.h"
#include "gpu/suites/document.h"
#include "tests/bench/bench_run.h"

#define BATCH       5000
#define TEMPLATES   256
#define END_MS      1795996800000LL /* 2026-11-30T00:00:00Z */
#define STUB        "{\"id\":\"0\",\"job\":null,\"suite\":\"verify\"}"
#define DRIVER_DAYS 40

struct options {
    const char *database;
    int64_t runs, whole, devices, days;
    uint64_t seed;
};
struct template
{
    struct deflated document, transcript;
    int64_t document_bytes, transcript_bytes;
};
struct maker {
    struct options options;
    struct store *store;
    struct rl_err err;
    uint64_t seed;
    struct template templates[TEMPLATES];
    struct deflated stub;
    int64_t units[BENCH_UNITS], works[BENCH_UNITS], launches[BENCH_UNITS];
};
struct identity { /* what a run is of */
    char device[48], driver[48];
    const char *cuda, *sizes, *source, *counters, *outcome;
    int64_t flags, date_ms;
    double drift; /* of all times */
};

static void die(const struct maker *maker, const char *what)
{
    fprintf(stderr, "generate: %s: %s\n", what, maker->err.message);
    exit(1);
}

static void execute(struct maker *maker, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(maker->store->db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "generate: %s: %s\n", sql, message);
        exit(1);
    }
}

/* ---- templates ---- */

static void make_templates(struct maker *maker)
{
    for (int i = 0; i < TEMPLATES; i++) {
        struct template *template = &maker->templates[i];
        struct rl_run *run = bench_run_new(&maker->seed);
        json_t *object = run != NULL ? rl_run_to_json(run) : NULL;
        char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
        char *log = bench_transcript(&maker->seed);

        if (text == NULL || log == NULL)
            die(maker, "no memory");
        template->document_bytes = (int64_t)strlen(text);
        template->transcript_bytes = (int64_t)strlen(log);
        if (store_deflate(text, strlen(text), &template->document, &maker->err) < 0 ||
            store_deflate(log, strlen(log), &template->transcript, &maker->err) < 0)
            die(maker, "deflating");
        free(text);
        free(log);
        json_decref(object);
        rl_run_free(run);
    }
    if (store_deflate(STUB, strlen(STUB), &maker->stub, &maker->err) < 0)
        die(maker, "deflating");
    printf("document %lld bytes, deflated %zu; transcript %lld, deflated %zu\n",
           (long long)maker->templates[0].document_bytes, maker->templates[0].document.size,
           (long long)maker->templates[0].transcript_bytes, maker->templates[0].transcript.size);
}

static void make_units(struct maker *maker)
{
    execute(maker, "BEGIN");
    for (size_t i = 0; i < BENCH_UNITS; i++) {
        if (store_unit_put(maker->store, bench_units[i].name, bench_units[i].ceiling ? "ceiling" : "kernel",
                           &maker->units[i], &maker->err) < 0)
            die(maker, "storing units");
        if (store_work_put(maker->store,
                           &(struct store_work){.flop = 1000 + (int64_t)i, .ask_bytes = bench_units[i].ask_bytes},
                           &maker->works[i], &maker->err) < 0 ||
            store_launch_put(maker->store, &(struct store_launch){.grid = "65536 x 1 x 1", .block = "256 x 1 x 1"},
                             &maker->launches[i], &maker->err) < 0)
            die(maker, "storing works");
    }
    execute(maker, "COMMIT");
}

static void device_id(int64_t device, char ret[48])
{
    snprintf(ret, 48, "GPU-%08llx-0000-4000-8000-%012llx", (unsigned long long)device * 2654435761u % 0xffffffff,
             (unsigned long long)device);
}

static void make_devices(struct maker *maker)
{
    for (int64_t i = 0; i < maker->options.devices; i++) {
        struct rl_run *run = bench_run_new(&maker->seed);
        char id[48];
        struct store_device device = {.device = &run->device,
                                      .environment = &run->environment,
                                      .counters_status = "ok",
                                      .source = RL_MEASURED,
                                      .checked_at_ms = END_MS,
                                      .ordinal = (int)i};

        device_id(i, id);
        run->device.id = id;
        if (store_put_device(maker->store, &device, &maker->err) < 0)
            die(maker, "storing a device");
        rl_run_free(run);
    }
}

/* ---- runs ---- */

static struct identity next_identity(struct maker *maker, int64_t at)
{
    static const char *const cudas[] = {"12.4", "12.6", "12.8", "13.0", "13.1"};
    uint64_t *seed = &maker->seed;
    int64_t span = maker->options.days * TREND_DAY_MS, device, age, generation;
    struct identity identity = {.sizes = bench_random(seed) % 100 < 85 ? "course" : "scaled",
                                .counters = bench_random(seed) % 100 < 90 ? "counter-backed" : "timed-only",
                                .source = "measured",
                                .outcome = "ok"};
    uint64_t kind = bench_random(seed) % 100;

    device = bench_random(seed) % 2 == 0 || maker->options.devices == 1
                 ? 0
                 : 1 + (int64_t)(bench_random(seed) % (uint64_t)(maker->options.devices - 1));
    device_id(device, identity.device);
    /* in order of time, as measuring gives them, with some minutes of disorder */
    identity.date_ms = END_MS - span + (int64_t)((double)span * (double)at / (double)maker->options.runs) +
                       (int64_t)(bench_uniform(seed) * 300000) - 300000;
    age = (identity.date_ms - (END_MS - span)) / TREND_DAY_MS + device;
    generation = age / DRIVER_DAYS;
    snprintf(identity.driver, sizeof identity.driver, "%lld.%02lld", (long long)(535 + generation * 3),
             (long long)(generation * 37 % 100));
    identity.cuda = cudas[generation / 5 % 4 + (bench_random(seed) % 10 == 0)];
    identity.drift = 1 + 0.004 * (double)(generation % 3);
    if (kind < 2)
        identity.source = "replayed";
    else if (kind < 3)
        identity.source = "imported";
    kind = bench_random(seed) % 100;
    if (kind < 3)
        identity.outcome = kind == 0 ? "refused" : "partial";
    if (kind >= 95)
        identity.flags = kind == 99 ? 2 : kind == 98 ? 4 : 1;
    return identity;
}

static int64_t put_series(struct maker *maker, const struct identity *identity)
{
    const char *const words[SERIES_WORDS] = {identity->device, identity->driver, identity->cuda,     "verify",
                                             identity->sizes,  identity->source, identity->counters, identity->outcome};
    static const char *const names[SERIES_WORDS] = {":device", ":driver", ":cuda",     ":suite",
                                                    ":sizes",  ":source", ":counters", ":outcome"};
    struct stmt stmt = stmt_start(maker->store, STMT_SERIES_PUT);
    int64_t id;

    for (int i = 0; i < SERIES_WORDS; i++)
        stmt_text(&stmt, names[i], words[i]);
    stmt_int(&stmt, ":date", identity->date_ms);
    if (stmt_step(&stmt, &maker->err, "series") != 1)
        die(maker, "storing a series");
    id = sqlite3_column_int64(stmt.handle, 0);
    stmt_end(&stmt);
    return id;
}

static int64_t put_job(struct maker *maker, sqlite3_stmt *add, const struct identity *identity, size_t template)
{
    struct stmt stmt;
    int64_t id;

    sqlite3_bind_text(add, 1, identity->device, -1, SQLITE_STATIC);
    sqlite3_bind_int64(add, 2, identity->date_ms);
    if (sqlite3_step(add) != SQLITE_DONE)
        die(maker, "storing a job");
    sqlite3_reset(add);
    id = sqlite3_last_insert_rowid(maker->store->db);
    stmt = stmt_start(maker->store, STMT_TRANSCRIPT_PUT);
    stmt_int(&stmt, ":id", id);
    stmt_int(&stmt, ":bytes", maker->templates[template].transcript_bytes);
    stmt_blob(&stmt, ":text", maker->templates[template].transcript.data, maker->templates[template].transcript.size);
    if (stmt_run(&stmt, &maker->err, "transcript") < 0)
        die(maker, "storing a transcript");
    return id;
}

static int64_t put_run(struct maker *maker, const struct identity *identity, int64_t series, int64_t job)
{
    struct stmt stmt = stmt_start(maker->store, STMT_RUN_ADD);

    stmt_int(&stmt, ":series", series);
    if (job != 0)
        stmt_int(&stmt, ":job", job);
    stmt_int(&stmt, ":date", identity->date_ms);
    stmt_int(&stmt, ":started", identity->date_ms - 4000);
    stmt_real(&stmt, ":dram_copy", rl_known(4.248e12 * bench_noise(&maker->seed, 2e-3)));
    stmt_real(&stmt, ":fp32_fma", rl_known(65.4e12 * bench_noise(&maker->seed, 2e-3)));
    stmt_real(&stmt, ":ridge", rl_known(15.4));
    stmt_text(&stmt, ":why",
              job == 0 ? "{\"job\":\"an import has no job\",\"recorded_at\":\"not replayed\"}"
                       : "{\"recorded_at\":\"not replayed\"}");
    if (stmt_run(&stmt, &maker->err, "run") < 0)
        die(maker, "storing a run");
    return sqlite3_last_insert_rowid(maker->store->db);
}

static void put_document(struct maker *maker, int64_t run, const struct deflated *deflated, int64_t bytes)
{
    struct stmt stmt = stmt_start(maker->store, STMT_DOCUMENT_ADD);

    stmt_int(&stmt, ":id", run);
    stmt_int(&stmt, ":bytes", bytes);
    stmt_blob(&stmt, ":deflated", deflated->data, deflated->size);
    if (stmt_run(&stmt, &maker->err, "document") < 0)
        die(maker, "storing a document");
}

static void put_fact(struct maker *maker, int64_t run, int64_t series, const struct identity *identity)
{
    struct stmt stmt = stmt_start(maker->store, STMT_FACT_ADD);

    stmt_int(&stmt, ":id", run);
    stmt_int(&stmt, ":series", series);
    stmt_int(&stmt, ":date", identity->date_ms);
    stmt_int(&stmt, ":day", rl_time_day(identity->date_ms));
    stmt_int(&stmt, ":eligible", identity->flags == 0 && strcmp(identity->outcome, "ok") == 0);
    stmt_int(&stmt, ":flags", identity->flags);
    stmt_int(&stmt, ":method", RL_METHOD_VERSION);
    stmt_int(&stmt, ":ecc", 1);
    stmt_text(&stmt, ":mig", "off");
    stmt_real(&stmt, ":power_limit", rl_known(700));
    stmt_text(&stmt, ":cuda_driver", "13.0");
    stmt_text(&stmt, ":cubin", "sm_90");
    stmt_text(&stmt, ":build", "0.1.0+bench");
    stmt_real(&stmt, ":floor", rl_known(512));
    if (stmt_run(&stmt, &maker->err, "facts") < 0)
        die(maker, "storing facts");
}

static void put_row(struct maker *maker, int64_t run, size_t index, const struct identity *identity)
{
    const struct bench_unit *unit = &bench_units[index];
    bool counted = strcmp(identity->counters, "counter-backed") == 0;
    uint64_t *seed = &maker->seed;
    double dram = unit->dram_bytes * bench_noise(seed, 1e-3);
    struct rl_real none = rl_unknown("");
    struct stmt stmt = stmt_start(maker->store, STMT_ROW_ADD);

    stmt_int(&stmt, ":id", run);
    stmt_int(&stmt, ":unit", maker->units[index]);
    stmt_text(&stmt, ":state", rl_state_name(unit->state));
    stmt_int(&stmt, ":launches", unit->state == RL_COLD ? 1 : 22);
    stmt_real(&stmt, ":time", rl_known(unit->time_s * identity->drift * bench_noise(seed, 3e-3)));
    stmt_real(&stmt, ":value", unit->ceiling ? rl_known(unit->value * bench_noise(seed, 2e-3)) : none);
    stmt_real(&stmt, ":sm_hz", rl_known(1.98e9 * bench_noise(seed, 1e-3)));
    stmt_real(&stmt, ":memory_hz", rl_known(3.201e9));
    stmt_int(&stmt, ":ask", unit->ask_bytes);
    stmt_real(&stmt, ":dram", counted ? rl_known(dram) : none);
    stmt_real(&stmt, ":settled", counted && !unit->ceiling ? rl_known(dram) : none);
    stmt_real(&stmt, ":per_ask", counted ? rl_known(dram / (double)unit->ask_bytes) : none);
    stmt_real(&stmt, ":percent", counted && !unit->ceiling ? rl_known(dram / unit->time_s / 4.2e10) : none);
    stmt_int(&stmt, ":flags", 0);
    stmt_int(&stmt, ":work", maker->works[index]);
    stmt_int(&stmt, ":launch", maker->launches[index]);
    if (!unit->ceiling)
        stmt_text(&stmt, ":bound", "memory");
    if (stmt_run(&stmt, &maker->err, "row") < 0)
        die(maker, "storing a row");
}

static void put_samples(struct maker *maker, int64_t run)
{
    unsigned char blob[256 * 4];

    for (size_t i = 0; i < BENCH_UNITS; i++) {
        /* mostly some dozens, sometimes all that are kept */
        size_t count = bench_random(&maker->seed) % 20 == 0 ? 256 : 10 + bench_random(&maker->seed) % 30;
        struct stmt stmt = stmt_start(maker->store, STMT_SAMPLE_ADD);

        for (size_t k = 0; k < count; k++) {
            float value = (float)(bench_units[i].time_s * bench_noise(&maker->seed, 5e-3));

            memcpy(blob + 4 * k, &value, 4);
        }
        stmt_int(&stmt, ":id", run);
        stmt_text(&stmt, ":unit", bench_units[i].name);
        stmt_text(&stmt, ":state", rl_state_name(bench_units[i].state));
        stmt_int(&stmt, ":launches", 22);
        stmt_int(&stmt, ":count", (int64_t)count);
        stmt_blob(&stmt, ":times", blob, 4 * count);
        if (stmt_run(&stmt, &maker->err, "samples") < 0)
            die(maker, "storing samples");
    }
}

static void put_one(struct maker *maker, int64_t at, sqlite3_stmt *add_job)
{
    struct identity identity = next_identity(maker, at);
    bool whole = at >= maker->options.runs - maker->options.whole;
    size_t template = (size_t)(bench_random(&maker->seed) % TEMPLATES);
    int64_t series = put_series(maker, &identity);
    int64_t job = whole ? put_job(maker, add_job, &identity, template) : 0;
    int64_t run = put_run(maker, &identity, series, job);

    if (whole)
        put_document(maker, run, &maker->templates[template].document, maker->templates[template].document_bytes);
    else
        put_document(maker, run, &maker->stub, (int64_t)strlen(STUB));
    put_fact(maker, run, series, &identity);
    for (size_t i = 0; i < BENCH_UNITS; i++)
        put_row(maker, run, i, &identity);
    if (whole)
        put_samples(maker, run);
}

static int64_t file_bytes(struct maker *maker)
{
    sqlite3_stmt *stmt = NULL;
    int64_t bytes = -1;

    if (sqlite3_prepare_v2(maker->store->db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
                           -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        bytes = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return bytes;
}

/* What guards stored runs costs more than storing them, and here every id is a new one: without these triggers and
 * foreign keys it takes half of the time. Returns the triggers, to be made again. */
static char *drop_guards(struct maker *maker)
{
    struct rl_buf again, drop;
    sqlite3_stmt *stmt = NULL;

    rl_buf_init(&again, 1 << 16);
    rl_buf_init(&drop, 1 << 16);
    if (sqlite3_prepare_v2(
            maker->store->db,
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '%_never_replaced'", -1, &stmt,
            NULL) != SQLITE_OK)
        die(maker, "reading the triggers");
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        rl_buf_printf(&drop, "DROP TRIGGER %s;", (const char *)sqlite3_column_text(stmt, 0));
        rl_buf_printf(&again, "%s;\n", (const char *)sqlite3_column_text(stmt, 1));
    }
    sqlite3_finalize(stmt);
    rl_buf_puts(&drop, "PRAGMA foreign_keys = OFF");
    execute(maker, drop.data);
    rl_buf_free(&drop);
    return rl_buf_take(&again);
}

static void put_all(struct maker *maker)
{
    int64_t narrow = maker->options.runs - maker->options.whole, before = file_bytes(maker), bytes;
    sqlite3_stmt *add_job = NULL;

    if (sqlite3_prepare_v2(maker->store->db,
                           "INSERT INTO job (state, device, principal, attempt, retry_on_interrupt, cancel_requested, "
                           "created_at_ms, started_at_ms, ended_at_ms, spec) VALUES ('done', ?1, 'uid:1000', 1, 0, 0, "
                           "?2, ?2, ?2, '{\"suite\":\"verify\",\"sizes\":\"course\",\"cache\":[\"warm\",\"cold\"],"
                           "\"counters\":true,\"on_interrupt\":\"fail\",\"note\":null,\"predictions\":{}}')",
                           -1, &add_job, NULL) != SQLITE_OK)
        die(maker, "preparing");
    execute(maker, "BEGIN");
    for (int64_t at = 0; at < maker->options.runs; at++) {
        put_one(maker, at, add_job);
        if (at % BATCH == BATCH - 1 || at + 1 == narrow)
            execute(maker, "COMMIT; BEGIN");
        if (at + 1 == narrow) {
            bytes = file_bytes(maker);
            printf("%lld narrow runs: %.0f bytes each\n", (long long)narrow, (double)(bytes - before) / (double)narrow);
            before = bytes;
        }
        if (at % 100000 == 99999)
            fprintf(stderr, "%lld runs\n", (long long)at + 1);
    }
    execute(maker, "COMMIT");
    sqlite3_finalize(add_job);
    bytes = file_bytes(maker);
    if (maker->options.whole > 0)
        printf("%lld whole runs with samples and transcripts: %.0f bytes each\n", (long long)maker->options.whole,
               (double)(bytes - before) / (double)maker->options.whole);
    execute(maker, "INSERT INTO trend_stale SELECT DISTINCT series_id, method_version, day FROM run_fact "
                   "WHERE eligible = 1");
    if (store_mend_trends(maker->store, &maker->err) < 0)
        die(maker, "making trends");
    printf("trends: %.0f bytes a run\n", (double)(file_bytes(maker) - bytes) / (double)maker->options.runs);
}

/* ---- the command line ---- */

static int64_t number(const char *text)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < 0) {
        fprintf(stderr, "generate: \"%s\" is no number\n", text);
        exit(64);
    }
    return value;
}

static struct options read_options(int argc, char **argv)
{
    struct options options = {.runs = 1000000, .whole = -1, .devices = 24, .days = 730, .seed = 1};

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--database") == 0)
            options.database = argv[i + 1];
        else if (strcmp(argv[i], "--runs") == 0)
            options.runs = number(argv[i + 1]);
        else if (strcmp(argv[i], "--whole") == 0)
            options.whole = number(argv[i + 1]);
        else if (strcmp(argv[i], "--devices") == 0)
            options.devices = number(argv[i + 1]);
        else if (strcmp(argv[i], "--days") == 0)
            options.days = number(argv[i + 1]);
        else if (strcmp(argv[i], "--seed") == 0)
            options.seed = (uint64_t)number(argv[i + 1]);
        else
            options.database = NULL, i = argc;
    }
    if (options.database == NULL || argc % 2 == 0 || options.runs < 1 || options.devices < 1 || options.days < 1) {
        fprintf(stderr, "usage: generate --database NEW-FILE [--runs 1000000] [--whole RUNS/10] [--devices 24] "
                        "[--days 730] [--seed 1]\n");
        exit(64);
    }
    if (options.whole < 0 || options.whole > options.runs)
        options.whole = options.runs / 10;
    return options;
}

int main(int argc, char **argv)
{
    struct maker *maker = calloc(1, sizeof *maker);
    char *guards;

    if (maker == NULL)
        return 71;
    maker->options = read_options(argc, argv);
    maker->seed = maker->options.seed * 2 + 88172645463325252u;
    if (store_open(maker->options.database, false, &maker->store, &maker->err) < 0)
        die(maker, "opening");
    /* nothing here is worth keeping when the machine dies */
    execute(maker, "PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA wal_autocheckpoint = 20000");
    make_templates(maker);
    make_devices(maker);
    make_units(maker);
    guards = drop_guards(maker);
    put_all(maker);
    execute(maker, guards);
    free(guards);
    execute(maker, "PRAGMA wal_checkpoint(TRUNCATE)");
    store_close(maker->store);
    for (int i = 0; i < TEMPLATES; i++) {
        free(maker->templates[i].document.data);
        free(maker->templates[i].transcript.data);
    }
    free(maker->stub.data);
    free(maker);
    return 0;
}
