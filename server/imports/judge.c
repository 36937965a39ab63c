/* See server/imports/judge.h. */
#include "server/imports/judge.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/hash.h"
#include "gpu/record/derive/derive.h"
#include "gpu/record/json_text.h"
#include "gpu/suites/document.h"
#include "server/loop/worker.h"
#include "server/runs/lend.h"

struct import_judge {
    void (*done)(void *arg, const struct import_judged *judged);
    void *arg;
    struct loop *loop;
    struct store *store;
    struct worker *worker;
    /* the thread's until it is done */
    char *lines;
    size_t len;
    struct import_expected expected;
    struct import_expected_file files[IMPORT_JUDGE_FILES];
    char sha256[IMPORT_JUDGE_FILES][65], content[IMPORT_JUDGE_FILES][65];
    struct rl_run *run;
    struct run_samples samples;
    struct import_judged judged;
};

/* What a client learns from the record. That a field said what was in a file, or would have been taken for it, shows
 * nowhere but in the notes; the build is ours. The files stand in it by their hashes. */
static int hash_of(const json_t *document, char sha256[65])
{
    char *text = rl_json_dumps(document);
    if (text == NULL)
        return -1;
    rl_sha256_hex(text, strlen(text), sha256);
    free(text);
    return 0;
}

static int identify(struct import_judge *j, struct rl_err *err)
{
    json_t *document = rl_run_to_json(j->run), *import = json_object_get(document, "import"), *file;
    size_t i;
    json_object_del(import, "notes");
    json_object_del(json_object_get(document, "environment"), "build");
    int rc = hash_of(document, j->judged.record_of_bytes);
    json_array_foreach(json_object_get(import, "files"), i, file)
    {
        const char *kind = json_string_value(json_object_get(file, "kind"));
        json_object_del(file, "bytes");
        json_object_del(file, "format"); /* has the encoding */
        for (size_t e = 0; e < j->expected.file_count; e++)
            if (kind != NULL && strcmp(kind, j->files[e].kind) == 0)
                json_object_set_new(file, "sha256", json_string(j->files[e].content));
    }
    if (rc == 0)
        rc = hash_of(document, j->judged.record_sha256);
    json_decref(document);
    return rc == 0 ? 0 : rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for an import.");
}

/* What it was made of, before it is lent anything: the same files make the same run whoever could lend meanwhile. */
static void judge(void *arg)
{
    struct import_judge *j = arg;
    j->judged.rc = import_accept(j->lines, j->len, &j->expected, &j->run, &j->samples, &j->judged.err);
    if (j->judged.rc == 0)
        j->judged.rc = identify(j, &j->judged.err);
    /* here, not by the loop: megabytes take milliseconds to give back */
    free(j->lines);
    j->lines = NULL;
}

static void make(void *arg)
{
    struct import_judge *j = arg;
    if (j->run->lent.present)
        rl_derive(j->run);
    j->judged.rc = run_stored_make(j->run, &j->samples, &j->judged.stored, &j->judged.err);
}

static void on_made(void *arg)
{
    struct import_judge *j = arg;
    j->done(j->arg, &j->judged);
}

static void on_judged(void *arg)
{
    struct import_judge *j = arg;
    worker_free(j->worker);
    j->worker = NULL;
    if (j->judged.rc == 0)
        j->judged.rc = run_lend(j->store, j->run, &j->judged.err);
    if (j->judged.rc == 0)
        j->judged.rc = worker_start(j->loop, make, on_made, j, &j->worker, &j->judged.err);
    if (j->judged.rc != 0)
        j->done(j->arg, &j->judged);
}

int import_judge_start(struct loop *loop, struct store *store, char *lines, size_t len,
                       const struct import_expected *expected,
                       void (*done)(void *arg, const struct import_judged *judged), void *arg,
                       struct import_judge **ret, struct rl_err *err)
{
    struct import_judge *j = expected->file_count <= IMPORT_JUDGE_FILES ? calloc(1, sizeof *j) : NULL;
    if (j == NULL) {
        free(lines);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for an import.");
    }
    *j = (struct import_judge){.done = done, .arg = arg, .loop = loop, .store = store, .lines = lines, .len = len};
    j->expected = (struct import_expected){j->files, expected->file_count, expected->now_ms};
    for (size_t i = 0; i < expected->file_count; i++) {
        snprintf(j->sha256[i], sizeof j->sha256[i], "%s", expected->files[i].sha256);
        snprintf(j->content[i], sizeof j->content[i], "%s", expected->files[i].content);
        j->files[i] = (struct import_expected_file){expected->files[i].kind, expected->files[i].bytes, j->sha256[i],
                                                    j->content[i]};
    }
    if (worker_start(loop, judge, on_judged, j, &j->worker, err) != 0) {
        import_judge_free(j);
        return -1;
    }
    *ret = j;
    return 0;
}

void import_judge_free(struct import_judge *j)
{
    if (j == NULL)
        return;
    worker_free(j->worker);
    run_stored_fini(&j->judged.stored);
    run_samples_free(&j->samples);
    rl_run_free(j->run);
    free(j->lines);
    free(j);
}
