/* Runs kept on disk: whole or not there, whatever memory, descriptors or the disk do meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/base/hash.h"
#include "server/jobs/spool.h"
#include "server/runs/stored.h"
#include "tests/unit/record/sample_run.h"

#define NAME "job-7-1.run"

/* ---- faults ---- */

/* The n-th allocation from now on fails (1: the next; 0: none), Jansson's among them. */
static int countdown;
static bool fired;
/* Of the next calls: 0, or the error with which they fail. */
static int fdopendir_fails_with, scandir_fails_with, open_fails_with;

static bool fails_now(void)
{
    if (countdown == 0 || --countdown > 0)
        return false;
    fired = true;
    return true;
}

static void arm(int n)
{
    countdown = n;
    fired = false;
}

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
DIR *__wrap_fdopendir(int fd);
int __wrap_scandir(const char *path, struct dirent ***ret, int (*filter)(const struct dirent *),
                   int (*order)(const struct dirent **, const struct dirent **));
int __wrap_open(const char *path, int flags, ...);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
DIR *__real_fdopendir(int fd);
int __real_scandir(const char *path, struct dirent ***ret, int (*filter)(const struct dirent *),
                   int (*order)(const struct dirent **, const struct dirent **));
int __real_open(const char *path, int flags, ...);

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return fails_now() ? NULL : __real_strdup(text);
}

DIR *__wrap_fdopendir(int fd)
{
    errno = fdopendir_fails_with;
    return fdopendir_fails_with != 0 ? NULL : __real_fdopendir(fd);
}

int __wrap_scandir(const char *path, struct dirent ***ret, int (*filter)(const struct dirent *),
                   int (*order)(const struct dirent **, const struct dirent **))
{
    errno = scandir_fails_with;
    return scandir_fails_with != 0 ? -1 : __real_scandir(path, ret, filter, order);
}

/* Only a run's file fails: a folder has to be opened before it. */
int __wrap_open(const char *path, int flags, ...)
{
    if (open_fails_with != 0 && strstr(path, NAME) != NULL) {
        errno = open_fails_with;
        return -1;
    }
    return __real_open(path, flags, 0600);
}

/* ---- a spool with a run ---- */

struct bench {
    char directory[64], database[96], file[128];
    struct spool *spool;
    struct spool_run run; /* as it was put */
    struct rl_err err;
    int runs, damaged; /* that the last reading told of */
    struct spool_run got;
};

static int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    snprintf(bench->directory, sizeof bench->directory, "/tmp/rl_spool_XXXXXX");
    assert_non_null(mkdtemp(bench->directory));
    snprintf(bench->database, sizeof bench->database, "%s/test.db", bench->directory);
    snprintf(bench->file, sizeof bench->file, "%s-spool/" NAME, bench->database);
    bench->spool = spool_new(bench->database);
    assert_non_null(bench->spool);
    bench->run = (struct spool_run){.job = 7, .attempt = 1, .run = sample_run_small()};
    bench->run.transcript = calloc(1, 5001); /* grows its reader's buffer some times */
    memset(bench->run.transcript, 't', 5000);
    for (int state_of = 0; state_of < RL_STATE_COUNT; state_of++) {
        struct run_sample_row *row = &bench->run.samples.row[1][state_of];
        *row = (struct run_sample_row){.launches = 3, .count = 20, .times_s = calloc(20, sizeof(double))};
        for (int i = 0; i < 20; i++)
            row->times_s[i] = 1e-5 / (3 + i);
    }
    json_set_alloc_funcs(__wrap_malloc, free);
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    char path[112];
    snprintf(path, sizeof path, "%s-spool", bench->database);
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
    rmdir(bench->directory);
    spool_run_fini(&bench->run);
    spool_run_fini(&bench->got);
    spool_free(bench->spool);
    free(bench);
    return 0;
}

static bool is_there(const struct bench *bench, const char *suffix)
{
    char path[160];
    snprintf(path, sizeof path, "%s%s", bench->file, suffix);
    return access(path, F_OK) == 0;
}

static char *content(const struct bench *bench)
{
    FILE *file = fopen(bench->file, "re");
    char *text = calloc(1, 1 << 20);
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void write_content(const struct bench *bench, const char *json)
{
    char sha256[65];
    FILE *file = fopen(bench->file, "we");
    assert_non_null(file);
    rl_sha256_hex(json, strlen(json), sha256);
    fprintf(file, "rooflined spool 1 %s %zu\n%s", sha256, strlen(json), json);
    assert_int_equal(fclose(file), 0);
}

static int put(struct bench *bench)
{
    bench->err = (struct rl_err){0};
    return spool_put(bench->spool, &bench->run, &bench->err);
}

static unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* ---- writing ---- */

static void no_allocation_that_fails_leaves_a_part_out(void **state)
{
    struct bench *bench = *state;
    int failures = 0;
    assert_int_equal(put(bench), 0);
    char *whole = content(bench);
    for (int n = 1;; n++) {
        assert_int_equal(unlink(bench->file), 0);
        arm(n);
        int rc = put(bench);
        countdown = 0;
        if (rc != 0) {
            assert_true(fired);
            assert_int_equal(bench->err.code, RL_E_NO_MEMORY);
            assert_false(is_there(bench, ""));
            assert_false(is_there(bench, ".partial"));
            failures++;
            assert_int_equal(put(bench), 0);
        }
        char *again = content(bench);
        assert_int_equal(strcmp(again, whole), 0);
        free(again);
        if (!fired)
            break;
    }
    assert_true(failures > 100); /* 20 times each of two states alone are 40 numbers */
    free(whole);
}

static void a_folder_that_cannot_be_counted_is_not_taken_for_empty(void **state)
{
    struct bench *bench = *state;
    unsigned before = open_descriptors();
    fdopendir_fails_with = EMFILE;
    int rc = put(bench);
    fdopendir_fails_with = 0;
    assert_int_equal(rc, -1);
    assert_int_equal(bench->err.code, RL_E_STORE_IO);
    assert_non_null(strstr(bench->err.message, strerror(EMFILE)));
    assert_int_equal(open_descriptors(), before);
    assert_false(is_there(bench, ""));
    assert_int_equal(put(bench), 0);
}

/* What is stored in the end is made the same way. */
static void no_allocation_that_fails_leaves_a_part_of_a_document_out(void **state)
{
    struct bench *bench = *state;
    char *whole = run_document(bench->run.run);
    int failures = 0;
    assert_non_null(whole);
    for (int n = 1;; n++) {
        arm(n);
        char *again = run_document(bench->run.run);
        countdown = 0;
        failures += again == NULL;
        if (again != NULL)
            assert_int_equal(strcmp(again, whole), 0);
        free(again);
        if (!fired)
            break;
    }
    assert_true(failures > 100);
    free(whole);
}

/* ---- reading ---- */

static int on_run(void *arg, struct spool_run *run, struct rl_err *err)
{
    struct bench *bench = arg;
    (void)err;
    bench->runs++;
    spool_run_fini(&bench->got);
    bench->got = *run;
    return 0;
}

static void on_damaged(void *arg, const char *name, const struct rl_err *why)
{
    struct bench *bench = arg;
    assert_string_equal(name, NAME);
    assert_int_not_equal(why->code, RL_E_NO_MEMORY);
    assert_int_not_equal(why->message[0], 0);
    bench->damaged++;
}

static int read_all(struct bench *bench)
{
    const struct spool_reader reader = {.each = on_run, .damaged = on_damaged, .arg = bench};
    bench->err = (struct rl_err){0};
    bench->runs = bench->damaged = 0;
    return spool_read(bench->spool, &reader, &bench->err);
}

/* The run that was read, as the file that it would be put in. */
static char *as_put_again(struct bench *bench)
{
    assert_int_equal(bench->runs, 1);
    assert_int_equal(spool_put(bench->spool, &bench->got, &bench->err), 0);
    return content(bench);
}

static void no_allocation_that_fails_is_taken_for_damage(void **state)
{
    struct bench *bench = *state;
    int failures = 0;
    assert_int_equal(put(bench), 0);
    char *whole = content(bench);
    for (int n = 1;; n++) {
        arm(n);
        int rc = read_all(bench);
        countdown = 0;
        assert_int_equal(bench->damaged, 0);
        assert_true(is_there(bench, ""));
        if (rc != 0) {
            assert_true(fired);
            assert_int_equal(bench->err.code, RL_E_NO_MEMORY);
            assert_non_null(strstr(bench->err.message, NAME));
            assert_int_equal(bench->runs, 0);
            failures++;
            continue;
        }
        char *again = as_put_again(bench);
        assert_int_equal(strcmp(again, whole), 0);
        free(again);
        if (!fired)
            break;
    }
    assert_true(failures > 100);
    free(whole);
}

static void what_is_not_as_it_was_written_is_set_aside(void **state)
{
    static const char *const contents[] = {"{\"job\":7,\"attempt\":1", "[]", "{\"job\":7,\"attempt\":1}", ""};
    struct bench *bench = *state;
    assert_int_equal(put(bench), 0);
    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
        char aside[160];
        write_content(bench, contents[i]);
        assert_int_equal(read_all(bench), 0);
        assert_int_equal(bench->runs, 0);
        assert_false(is_there(bench, ""));
        assert_true(is_there(bench, ".damaged"));
        snprintf(aside, sizeof aside, "%s.damaged", bench->file);
        assert_int_equal(rename(aside, bench->file), 0);
    }
}

static void an_error_of_the_system_leaves_the_file(void **state)
{
    static const int errors[] = {EMFILE, ENFILE, EIO, EACCES, ENOMEM};
    struct bench *bench = *state;
    assert_int_equal(read_all(bench), 0); /* no folder at all: nothing is kept */
    assert_int_equal(put(bench), 0);
    for (size_t i = 0; i < 2 * (sizeof errors / sizeof errors[0]); i++) {
        int error = errors[i / 2];
        *(i % 2 == 0 ? &open_fails_with : &scandir_fails_with) = error;
        int rc = read_all(bench);
        open_fails_with = scandir_fails_with = 0;
        assert_int_equal(rc, -1);
        assert_int_equal(bench->err.code, error == EACCES ? RL_E_STORE_READONLY : RL_E_STORE_IO);
        assert_non_null(strstr(bench->err.message, strerror(error)));
        assert_int_equal(bench->runs + bench->damaged, 0);
        assert_true(is_there(bench, ""));
    }
    assert_int_equal(read_all(bench), 0);
    assert_int_equal(bench->runs, 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(no_allocation_that_fails_leaves_a_part_out),
        CASE(a_folder_that_cannot_be_counted_is_not_taken_for_empty),
        CASE(no_allocation_that_fails_leaves_a_part_of_a_document_out),
        CASE(no_allocation_that_fails_is_taken_for_damage),
        CASE(what_is_not_as_it_was_written_is_set_aside),
        CASE(an_error_of_the_system_leaves_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
