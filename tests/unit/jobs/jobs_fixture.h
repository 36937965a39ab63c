/* The job engine over a store of its own: what its tests share. */
#ifndef TESTS_UNIT_JOBS_JOBS_FIXTURE_H
#define TESTS_UNIT_JOBS_JOBS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/open.h"
#include "gpu/base/time.h"
#include "gpu/record/json.h"
#include "server/jobs/jobs.h"
#include "server/limits/limits.h"

#define GIVE_UP_MS 120000 /* only a failure waits so long */
#define SCALED_TO(ms_of_a_phase)                                                                                       \
    ((ms_of_a_phase) * (LIMIT_JOB_MS / 60000)) /* the ceilings of a verification may take that */
#define VERIFY    "{\"suite\":\"verify\",\"kernels\":[\"vector_add\",\"matmul_naive\"]}"
#define SYNTHETIC "GPU-00000000-0000-0000-0000-000000000001"

struct bench {
    char directory[64], database[96], script[96], spool[112];
    struct store *store;
    struct loop *loop;
    struct jobs *jobs;
    struct jobs_config config;
    struct loop_source *tick, *give_up;
    bool (*done)(struct bench *bench);
    bool came, stopped;
    int64_t id;
    char state[16];
};

static inline int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    snprintf(bench->directory, sizeof bench->directory, "/tmp/rl_jobs_XXXXXX");
    assert_non_null(mkdtemp(bench->directory));
    snprintf(bench->database, sizeof bench->database, "%s/test.db", bench->directory);
    snprintf(bench->script, sizeof bench->script, "%s/script", bench->directory);
    snprintf(bench->spool, sizeof bench->spool, "%s-spool", bench->database);
    assert_int_equal(store_open(bench->database, false, &bench->store, NULL), 0);
    assert_int_equal(loop_new(&bench->loop, NULL), 0);
    bench->config.measure_exec = ROOFLINE_MEASURE;
    *state = bench;
    return 0;
}

static inline int tear_down(void **state)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-lock"};
    struct bench *bench = *state;
    char path[128];
    jobs_free(bench->jobs);
    loop_free(bench->loop);
    store_close(bench->store);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(path, sizeof path, "%s%s", bench->database, suffixes[i]);
        unlink(path);
    }
    DIR *spool = opendir(bench->spool);
    for (const struct dirent *entry; spool != NULL && (entry = readdir(spool)) != NULL;)
        unlinkat(dirfd(spool), entry->d_name, 0);
    if (spool != NULL)
        closedir(spool);
    rmdir(bench->spool);
    unlink(bench->script);
    rmdir(bench->directory);
    free(bench);
    return 0;
}

static inline void on_tick(void *arg)
{
    struct bench *bench = arg;
    bench->came = bench->done(bench);
    if (bench->came)
        loop_stop(bench->loop);
    else
        loop_timer_set(bench->loop, bench->tick, 2);
}

static inline void on_give_up(void *arg)
{
    struct bench *bench = arg;
    loop_stop(bench->loop);
}

static inline void until(struct bench *bench, bool (*done)(struct bench *bench), const char *words)
{
    bench->done = done;
    bench->came = false;
    loop_add_timer(bench->loop, 0, on_tick, bench, &bench->tick, NULL);
    loop_add_timer(bench->loop, GIVE_UP_MS, on_give_up, bench, &bench->give_up, NULL);
    assert_int_equal(loop_run(bench->loop, NULL), 0);
    loop_remove(bench->loop, bench->tick);
    loop_remove(bench->loop, bench->give_up);
    if (!bench->came)
        fail_msg("never: %s", words);
}

static inline bool ready_says(struct bench *bench, bool wanted)
{
    bool ready = false;
    json_t *view = jobs_readiness(bench->jobs, &ready);
    bool checked = json_is_string(json_object_get(json_object_get(view, "measure"), "checked_at"));
    bool reasons = json_array_size(json_object_get(view, "reasons")) > 0;
    json_decref(view);
    return wanted ? ready : !ready && (checked || reasons);
}

static inline bool is_ready(struct bench *bench)
{
    return ready_says(bench, true);
}

static inline void start(struct bench *bench, const char *recording)
{
    struct rl_err err = {0};
    bench->config.replay = recording;
    if (strstr(recording, "/faults/") != NULL)
        bench->config.measure_exec = FAULTY_MEASURE;
    if (jobs_new(&bench->config, bench->store, bench->loop, &bench->jobs, &err) != 0)
        fail_msg("%s", err.message);
}

static inline void start_ready(struct bench *bench, const char *recording)
{
    start(bench, recording);
    until(bench, is_ready, "ready");
}

static inline int post_as(struct bench *bench, const char *who, const char *text, const char *key, int64_t *id,
                          bool *replayed, struct rl_err *err)
{
    json_t *body = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    static const char hash[] = "0000000000000000000000000000000000000000000000000000000000000001";
    int result = jobs_submit(bench->jobs, who, body, key, key != NULL ? hash : NULL, id, replayed, err);
    json_decref(body);
    return result;
}

static inline int64_t post(struct bench *bench, const char *text)
{
    struct rl_err err = {0};
    bool replayed;
    int64_t id = 0;
    if (post_as(bench, "uid:1", text, NULL, &id, &replayed, &err) != 0)
        fail_msg("%s: %s", text, err.message);
    bench->id = id;
    return id;
}

static inline json_t *view(struct bench *bench, int64_t id)
{
    struct rl_err err = {0};
    json_t *job = NULL;
    if (jobs_view(bench->jobs, id, &job, &err) != 0)
        fail_msg("%s", err.message);
    return job;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

static inline bool has_ended(struct bench *bench)
{
    json_t *job = view(bench, bench->id);
    snprintf(bench->state, sizeof bench->state, "%s", text_of(job, "state"));
    json_decref(job);
    return strcmp(bench->state, "queued") != 0 && strcmp(bench->state, "running") != 0;
}

static inline bool runs(struct bench *bench)
{
    has_ended(bench);
    return strcmp(bench->state, "running") == 0;
}

/* The job ends in a state, with the error's code (NULL: none). */
static inline void ends(struct bench *bench, int64_t id, const char *state, const char *code)
{
    bench->id = id;
    until(bench, has_ended, "the job ends");
    json_t *job = view(bench, id);
    const char *got = text_of(json_object_get(job, "error"), "code");
    if (strcmp(bench->state, state) != 0 || strcmp(got, code != NULL ? code : "") != 0)
        fail_msg("job %lld is %s, %s: %s", (long long)id, bench->state, got,
                 text_of(json_object_get(job, "error"), "message"));
    json_decref(job);
}

static inline void next_job_is_right(struct bench *bench)
{
    ends(bench, post(bench, "{\"suite\":\"verify\",\"kernels\":[\"vector_add\"],\"cache\":[\"warm\"]}"), "done", NULL);
}

#endif
