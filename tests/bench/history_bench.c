/* How long questions about history take, at the store's own functions: history_bench [--only WORD] DATABASE
 * [LARGER-DATABASE].
 *
 * One caller, warm cache, and every STORE_EVERY_MS a whole run is stored, as a daemon would. Prints the median, the
 * 99th percentile and the longest of each question in ms; of two databases also how much longer the larger one takes.
 * The databases are changed: runs are added. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/core/statement.h"
#include "db/history/matrix.h"
#include "db/history/observations.h"
#include "db/history/trend.h"
#include "db/jobs/transitions.h"
#include "db/notes/run_note.h"
#include "db/open.h"
#include "db/rows/trend_day.h"
#include "db/runs/document.h"
#include "db/runs/export.h"
#include "db/runs/read.h"
#include "db/series/memory.h"
#include "db/series/select.h"
#include "gpu/base/time.h"
#include "gpu/record/derive/quantile.h"
#include "gpu/suites/document.h"
#include "tests/bench/bench_run.h"

#define ROUNDS         1000
#define STORE_EVERY_MS 4000
#define NOW_MS         1795996799000LL /* generate's last day */

struct bench {
    struct store *store;
    struct rl_err err;
    struct rl_buf out;
    uint64_t seed;
    const struct series_row *series; /* one at random: for a question's words */
    char heavy[64];                  /* the device that holds half */
    int64_t newest_run, stored_at_ms, stored;
    double store_longest_ms;
};
struct question {
    const char *name;
    int (*ask)(struct bench *bench);
};
struct figures {
    double p50, p99, max, cpu_p50, cpu_p99;
    size_t bytes;
};

static void die(const struct bench *bench, const char *what)
{
    fprintf(stderr, "history_bench: %s: %s\n", what, bench->err.message);
    exit(1);
}

/* ---- storing meanwhile ---- */

static void store_one(struct bench *bench)
{
    struct rl_run *run = bench_run_new(&bench->seed);
    json_t *object = rl_run_to_json(run);
    char *document = json_dumps(object, JSON_COMPACT), *log = bench_transcript(&bench->seed);
    double times[30];
    struct store_samples samples[BENCH_UNITS];
    struct store_document deflated;
    struct store_run_new new = {.run = run, .document = &deflated, .samples = samples, .sample_count = BENCH_UNITS};
    struct store_job_new job = {.principal = "uid:1000",
                                .device = bench->heavy,
                                .spec = "{\"suite\":\"verify\",\"predictions\":{\"vector_add\":\"near\"}}",
                                .now_ms = NOW_MS,
                                .max_queued = 1000,
                                .max_open_per_principal = 1000};
    struct store_transition t = {.from = JOB_QUEUED, .to = JOB_RUNNING, .now_ms = NOW_MS};
    int64_t began;
    double took;

    for (size_t i = 0; i < 30; i++)
        times[i] = 1e-5;
    for (size_t i = 0; i < BENCH_UNITS; i++)
        samples[i] = (struct store_samples){bench_units[i].name, bench_units[i].state, 22, times, 30};
    run->device.id = bench->heavy;
    run->finished_at_ms = NOW_MS;
    run->started_at_ms = NOW_MS - 4000;
    if (store_job_add(bench->store, &job, &t.id, NULL, &bench->err) < 0 ||
        store_job_transition(bench->store, &t, NULL, &bench->err) < 0)
        die(bench, "queueing");
    t.from = JOB_RUNNING;
    t.to = JOB_DONE;
    t.run = &new;
    t.transcript = log;
    began = rl_monotonic_ns();
    if (store_document_make(document, &deflated, &bench->err) < 0 ||
        store_job_transition(bench->store, &t, &bench->newest_run, &bench->err) < 0)
        die(bench, "storing");
    took = (double)(rl_monotonic_ns() - began) / 1e6;
    bench->store_longest_ms = took > bench->store_longest_ms ? took : bench->store_longest_ms;
    bench->stored++;
    store_document_fini(&deflated);
    free(document);
    free(log);
    json_decref(object);
    rl_run_free(run);
}

/* ---- questions ---- */

static void pick_series(struct bench *bench)
{
    size_t count = bench->store->series->cache.count;

    bench->series = &bench->store->series->cache.rows[bench_random(&bench->seed) % count];
}

static const char *word(const struct bench *bench, int at)
{
    return store_series_word(bench->store, bench->series, at);
}

static int list(struct bench *bench, struct store_run_filter filter)
{
    filter.limit = filter.limit != 0 ? filter.limit : 50;
    return store_run_list(bench->store, &filter, &bench->out, &bench->err);
}

static int64_t random_date(struct bench *bench)
{
    return NOW_MS - (int64_t)(bench_random(&bench->seed) % 600) * TREND_DAY_MS;
}

#define LIST(name, ...)                                                                                                \
    static int list_##name(struct bench *bench)                                                                        \
    {                                                                                                                  \
        return list(bench, (struct store_run_filter){__VA_ARGS__});                                                    \
    }
LIST(all, .limit = 50)
LIST(default, .outcome = "ok")
LIST(200, .outcome = "ok", .limit = 200)
LIST(heavy, .outcome = "ok", .device = bench->heavy)
LIST(device, .outcome = "ok", .device = word(bench, SERIES_DEVICE))
LIST(driver, .outcome = "ok", .driver = word(bench, SERIES_DRIVER))
LIST(cuda, .outcome = "ok", .cuda = word(bench, SERIES_CUDA))
LIST(suite, .outcome = "ok", .suite = "verify")
LIST(sizes, .outcome = "ok", .sizes = "scaled")
LIST(source, .outcome = "ok", .source = "imported")
LIST(replayed, .outcome = "any", .source = "replayed")
LIST(counters, .outcome = "ok", .counters = "timed-only")
LIST(refused, .outcome = "refused")
LIST(partial, .outcome = "partial")
LIST(since, .outcome = "ok", .since_ms = random_date(bench))
LIST(until, .outcome = "ok", .until_ms = random_date(bench))
LIST(rare, .outcome = "refused", .source = "imported", .counters = "timed-only")
LIST(driver_cuda, .outcome = "ok", .device = bench->heavy, .driver = word(bench, SERIES_DRIVER),
     .cuda = word(bench, SERIES_CUDA))
LIST(driver_until, .outcome = "ok", .driver = word(bench, SERIES_DRIVER), .until_ms = random_date(bench))
LIST(unknown, .driver = "0.0")

/* The first page's cursor leads to the second, from a place that is somewhere in two years. */
static int list_next(struct bench *bench)
{
    struct store_run_filter filter = {.outcome = "ok", .until_ms = random_date(bench), .limit = 50};
    char cursor[128];
    const char *next;

    if (store_run_list(bench->store, &filter, &bench->out, &bench->err) < 0)
        return -1;
    next = bench->out.len > 70 ? strstr(bench->out.data + bench->out.len - 80, "\"next\":\"") : NULL;
    if (next == NULL)
        return 0;
    snprintf(cursor, sizeof cursor, "%.64s", next + 8);
    filter.cursor = cursor;
    rl_buf_clear(&bench->out);
    return store_run_list(bench->store, &filter, &bench->out, &bench->err);
}

static int matrix(struct bench *bench)
{
    struct store_matrix_query query = {.now_ms = NOW_MS};

    return store_history_matrix(bench->store, &query, &bench->out, &bench->err);
}
static int matrix_device(struct bench *bench)
{
    struct store_matrix_query query = {.now_ms = NOW_MS, .device = bench->heavy};

    return store_history_matrix(bench->store, &query, &bench->out, &bench->err);
}

static int trend(struct bench *bench)
{
    const struct bench_unit *unit = &bench_units[bench_random(&bench->seed) % BENCH_UNITS];
    struct store_trend_query query = {
        .device = bench->heavy, .kernel = unit->name, .state = rl_state_name(unit->state), .now_ms = NOW_MS};

    return store_history_trend(bench->store, &query, &bench->out, &bench->err);
}
static int trend_metric(struct bench *bench)
{
    const struct bench_unit *unit = &bench_units[bench_random(&bench->seed) % (2 * BENCH_KERNELS)];
    struct store_trend_query query = {.device = word(bench, SERIES_DEVICE),
                                      .kernel = unit->name,
                                      .state = rl_state_name(unit->state),
                                      .metric = "dram_per_ask",
                                      .now_ms = NOW_MS};

    return store_history_trend(bench->store, &query, &bench->out, &bench->err);
}

static int one_side(struct bench *bench, const char *driver, int limit)
{
    struct store_side side = {.device = bench->heavy, .sizes = "course", .driver = driver, .limit = limit};
    struct store_observations draws;

    if (store_history_observations(bench->store, &side, &draws, &bench->err) < 0)
        return -1;
    bench->out.len += draws.count; /* shown as bytes: how many draws there were */
    store_observations_fini(&draws);
    return 0;
}
static int draws(struct bench *bench)
{
    const char *base = word(bench, SERIES_DRIVER);

    pick_series(bench);
    return one_side(bench, base, 30) < 0 ? -1 : one_side(bench, word(bench, SERIES_DRIVER), 30);
}
static int draws_history(struct bench *bench)
{
    return one_side(bench, NULL, STORE_OBSERVATIONS_MAX);
}

static int64_t some_run(struct bench *bench)
{
    return bench->newest_run - (int64_t)(bench_random(&bench->seed) % 5000);
}
static int run_document(struct bench *bench)
{
    return store_run_document(bench->store, some_run(bench), &bench->out, &bench->err);
}
static int run_samples(struct bench *bench)
{
    return store_run_samples(bench->store, some_run(bench), &bench->out, &bench->err);
}
static int note(struct bench *bench)
{
    int64_t version;

    return store_note_json(bench->store, some_run(bench), &bench->out, &version, &bench->err);
}
static int export_piece(struct bench *bench)
{
    struct store_run_filter filter = {.outcome = "ok", .device = bench->heavy};
    struct store_export *export = NULL;
    bool done = false;
    int rc = store_export_start(bench->store, &filter, STORE_EXPORT_JSON, &export, &bench->err);

    if (rc == 0)
        rc = store_export_next(export, 65536, &bench->out, &done, &bench->err);
    store_export_free(export);
    return rc;
}
static int export_csv(struct bench *bench)
{
    struct store_run_filter filter = {.outcome = "ok", .device = bench->heavy};
    struct store_export *export = NULL;
    bool done = false;
    int rc = store_export_start(bench->store, &filter, STORE_EXPORT_CSV, &export, &bench->err);

    if (rc == 0)
        rc = store_export_next(export, 4096, &bench->out, &done, &bench->err);
    store_export_free(export);
    return rc;
}

static const struct question questions[] = {
    {"list, no filter", list_all},
    {"list, outcome ok", list_default},
    {"list of 200", list_200},
    {"list, device with half", list_heavy},
    {"list, device", list_device},
    {"list, driver", list_driver},
    {"list, cuda", list_cuda},
    {"list, suite", list_suite},
    {"list, sizes", list_sizes},
    {"list, source imported", list_source},
    {"list, source replayed", list_replayed},
    {"list, timed-only", list_counters},
    {"list, refused", list_refused},
    {"list, partial", list_partial},
    {"list, since", list_since},
    {"list, until", list_until},
    {"list, rare", list_rare},
    {"list, device driver cuda", list_driver_cuda},
    {"list, driver until", list_driver_until},
    {"list, nothing", list_unknown},
    {"list, two pages", list_next},
    {"matrix of a year", matrix},
    {"matrix, device with half", matrix_device},
    {"trend of a year", trend},
    {"trend, any device", trend_metric},
    {"draws, 30 and 30", draws},
    {"draws, 100 of history", draws_history},
    {"run, document", run_document},
    {"run, samples", run_samples},
    {"run, note", note},
    {"export, 64 kB of JSON", export_piece},
    {"export, 4 kB of CSV", export_csv},
};
#define QUESTIONS (sizeof questions / sizeof *questions)

/* ---- measuring ---- */

static int64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static struct figures measure(struct bench *bench, const struct question *question)
{
    static double took[ROUNDS], cpu[ROUNDS];
    struct figures figures = {0};

    for (int i = -20; i < ROUNDS; i++) {
        int64_t began, cpu_began;

        if (rl_now_ms() - bench->stored_at_ms >= STORE_EVERY_MS) {
            store_one(bench);
            bench->stored_at_ms = rl_now_ms();
        }
        pick_series(bench);
        rl_buf_clear(&bench->out);
        cpu_began = cpu_ns();
        began = rl_monotonic_ns();
        if (question->ask(bench) < 0)
            die(bench, question->name);
        if (i >= 0) {
            took[i] = (double)(rl_monotonic_ns() - began) / 1e6;
            cpu[i] = (double)(cpu_ns() - cpu_began) / 1e6;
        }
        figures.bytes = bench->out.len > figures.bytes ? bench->out.len : figures.bytes;
    }
    rl_sort_doubles(took, ROUNDS);
    figures.p50 = took[ROUNDS / 2];
    figures.p99 = took[ROUNDS * 99 / 100];
    figures.max = took[ROUNDS - 1];
    rl_sort_doubles(cpu, ROUNDS);
    figures.cpu_p50 = cpu[ROUNDS / 2];
    figures.cpu_p99 = cpu[ROUNDS * 99 / 100];
    return figures;
}

static void print_memory(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmHWM", 5) == 0 || strncmp(line, "VmRSS", 5) == 0)
            printf("%s", line);
    }
    if (file != NULL)
        fclose(file);
}

static int64_t newest_run(struct bench *bench)
{
    struct stmt stmt = stmt_start(bench->store, STMT_RUN_EARLIER);
    int64_t id = 0;

    stmt_int(&stmt, ":since", INT64_MIN);
    stmt_int(&stmt, ":date", INT64_MAX);
    stmt_int(&stmt, ":limit", 1);
    if (stmt_step(&stmt, &bench->err, "looking for the newest run") == 1)
        id = sqlite3_column_int64(stmt.handle, 1);
    stmt_end(&stmt);
    return id;
}

static void open_bench(struct bench *bench, const char *path)
{
    int64_t began = rl_monotonic_ns();
    size_t best = 0;

    *bench = (struct bench){.seed = 88172645463325252u, .stored_at_ms = rl_now_ms()};
    rl_buf_init(&bench->out, 64 * 1024 * 1024);
    if (store_open(path, false, &bench->store, &bench->err) < 0)
        die(bench, path);
    bench->newest_run = newest_run(bench);
    if (bench->store->series->cache.count == 0) {
        fprintf(stderr, "history_bench: %s has no runs\n", path);
        exit(1);
    }
    bench->series = &bench->store->series->cache.rows[0];
    for (size_t i = 0; i < bench->store->series->cache.count; i++) { /* generate's first device is in most series */
        if (strncmp(store_series_word(bench->store, &bench->store->series->cache.rows[i], SERIES_DEVICE),
                    "GPU-00000000", 12) == 0)
            best = i;
    }
    snprintf(bench->heavy, sizeof bench->heavy, "%s",
             store_series_word(bench->store, &bench->store->series->cache.rows[best], SERIES_DEVICE));
    printf("%s: runs to %lld, %zu series, opened in %.0f ms\n", path, (long long)bench->newest_run,
           bench->store->series->cache.count, (double)(rl_monotonic_ns() - began) / 1e6);
}

int main(int argc, char **argv)
{
    static struct figures first[QUESTIONS];
    const char *only = ""; /* in the question's name */
    struct bench bench;

    if (argc > 3 && strcmp(argv[1], "--only") == 0) {
        only = argv[2];
        argv += 2;
        argc -= 2;
    }
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: history_bench [--only WORD] DATABASE [LARGER-DATABASE]\n");
        return 64;
    }
    for (int arg = 1; arg < argc; arg++) {
        open_bench(&bench, argv[arg]);
        printf("%-26s %8s %8s %8s %8s %8s %8s%s\n", "ms", "p50", "p99", "max", "cpu p50", "cpu p99", "bytes",
               arg == 2 ? "   p50 x  cpu p50 x  cpu p99 x" : "");
        for (size_t i = 0; i < QUESTIONS; i++) {
            struct figures figures;

            if (strstr(questions[i].name, only) == NULL)
                continue;
            figures = measure(&bench, &questions[i]);
            printf("%-26s %8.3f %8.3f %8.3f %8.3f %8.3f %8zu", questions[i].name, figures.p50, figures.p99, figures.max,
                   figures.cpu_p50, figures.cpu_p99, figures.bytes);
            if (arg == 2)
                printf(" %7.2f %10.2f %10.2f", figures.p50 / first[i].p50, figures.cpu_p50 / first[i].cpu_p50,
                       figures.cpu_p99 / first[i].cpu_p99);
            printf("\n");
            fflush(stdout);
            if (arg == 1)
                first[i] = figures;
        }
        printf("%lld runs stored meanwhile, at most %.1f ms each\n", (long long)bench.stored, bench.store_longest_ms);
        print_memory();
        rl_buf_free(&bench.out);
        store_close(bench.store);
    }
    return 0;
}
