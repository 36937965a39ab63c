/* See server/jobs/spool.h. A file is a line "rooflined spool 1 SHA256 BYTES" and so many bytes of JSON. */
#include "server/jobs/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/base/hash.h"
#include "gpu/base/io.h"
#include "gpu/base/num.h"
#include "gpu/record/json_text.h"
#include "gpu/suites/document.h"
#include "kernels/unit/catalogue.h"
#include "server/limits/limits.h"

#define HEAD_FORMAT "rooflined spool 1 %s %zu\n"
#define HEAD_MAX    128
#define NAME_BYTES  64
#define PARTIAL     ".partial"

struct spool {
    char *path; /* of the folder */
};

void spool_run_fini(struct spool_run *run)
{
    rl_run_free(run->run);
    run_samples_free(&run->samples);
    free(run->transcript);
    *run = (struct spool_run){0};
}

struct spool *spool_new(const char *database)
{
    struct spool *spool = calloc(1, sizeof *spool);
    if (spool == NULL || asprintf(&spool->path, "%s-spool", database) < 0) {
        free(spool);
        return NULL;
    }
    return spool;
}

void spool_free(struct spool *spool)
{
    if (spool == NULL)
        return;
    free(spool->path);
    free(spool);
}

static void name_of(int64_t job, int attempt, char ret[NAME_BYTES])
{
    snprintf(ret, NAME_BYTES, "job-%" PRId64 "-%d.run", job, attempt);
}

static int name_read(const char *name, int64_t *ret_job, int *ret_attempt)
{
    char again[NAME_BYTES], number[NAME_BYTES];
    const char *dash = strncmp(name, "job-", 4) == 0 ? strchr(name + 4, '-') : NULL;
    int64_t attempt;
    if (dash == NULL || strlen(name) >= NAME_BYTES)
        return -1;
    snprintf(number, sizeof number, "%.*s", (int)(dash - name - 4), name + 4);
    if (rl_parse_i64(number, 1, INT64_MAX, ret_job) != 0)
        return -1;
    snprintf(number, sizeof number, "%.*s", (int)strcspn(dash + 1, "."), dash + 1);
    if (rl_parse_i64(number, 1, 2, &attempt) != 0)
        return -1;
    *ret_attempt = (int)attempt;
    name_of(*ret_job, *ret_attempt, again);
    return strcmp(name, again) == 0 ? 0 : -1;
}

static int fail_file(struct rl_err *err, const char *doing)
{
    enum rl_code code = errno == ENOSPC || errno == EDQUOT || errno == EFBIG  ? RL_E_STORE_FULL
                        : errno == EACCES || errno == EROFS || errno == EPERM ? RL_E_STORE_READONLY
                                                                              : RL_E_STORE_IO;
    return rl_fail(err, code, "database", "%s in the spool beside the database: %s", doing, strerror(errno));
}

/* ---- writing ---- */

/* NULL when memory ran out, as the two below. */
static json_t *sample_json(const char *unit, enum rl_state state, const struct run_sample_row *row)
{
    json_t *times = json_array();
    for (size_t i = 0; i < row->count; i++)
        if (json_array_append_new(times, json_real(row->times_s[i])) != 0) {
            json_decref(times);
            return NULL;
        }
    return json_pack("{s:s, s:s, s:I, s:o}", "unit", unit, "state", rl_state_name(state), "launches",
                     (json_int_t)row->launches, "times_s", times);
}

static json_t *samples_json(const struct run_samples *samples)
{
    json_t *list = json_array();
    for (size_t unit = 0; unit < rl_unit_count; unit++)
        for (int state = 0; state < RL_STATE_COUNT; state++) {
            const struct run_sample_row *row = &samples->row[unit][state];
            if (row->count == 0 ||
                json_array_append_new(list, sample_json(rl_units[unit]->id, (enum rl_state)state, row)) == 0)
                continue;
            json_decref(list);
            return NULL;
        }
    return list;
}

static char *text_of(const struct spool_run *run)
{
    json_t *document =
        json_pack("{s:I, s:i, s:s?, s:o, s:o}", "job", (json_int_t)run->job, "attempt", run->attempt, "transcript",
                  run->transcript, "samples", samples_json(&run->samples), "run", rl_run_to_json(run->run));
    char *text = rl_json_dumps(document);
    json_decref(document);
    return text;
}

/* What is there already, whatever its name: all of it takes the room that is limited. */
static int measure(int folder, unsigned *ret_files, int64_t *ret_bytes, struct rl_err *err)
{
    static const char doing[] = "the runs could not be counted";
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    struct stat st;
    *ret_files = 0;
    *ret_bytes = 0;
    if (entries == NULL) {
        fail_file(err, doing);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    errno = 0;
    while ((entry = readdir(entries)) != NULL && fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        if (S_ISREG(st.st_mode)) {
            ++*ret_files;
            *ret_bytes += st.st_size;
        }
    int rc = entry != NULL || errno != 0 ? fail_file(err, doing) : 0;
    closedir(entries);
    return rc;
}

static int write_file(int folder, const char *name, const char *text, struct rl_err *err)
{
    char sha256[65], head[HEAD_MAX], partial[NAME_BYTES + sizeof PARTIAL];
    size_t len = strlen(text);
    rl_sha256_hex(text, len, sha256);
    int head_len = snprintf(head, sizeof head, HEAD_FORMAT, sha256, len);
    snprintf(partial, sizeof partial, "%s" PARTIAL, name);
    int fd = openat(folder, partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fail_file(err, "a run could not be written");
    int rc = rl_write_all(fd, head, (size_t)head_len) != 0 || rl_write_all(fd, text, len) != 0 || fsync(fd) != 0 ||
                     renameat(folder, partial, folder, name) != 0 || fsync(folder) != 0
                 ? fail_file(err, "a run could not be written")
                 : 0;
    close(fd);
    if (rc != 0)
        unlinkat(folder, partial, 0);
    return rc;
}

/* The folder's own name has to last too. */
static int sync_parent(const char *path)
{
    char *parent = strdup(path);
    if (parent == NULL)
        return -1;
    char *slash = strrchr(parent, '/');
    if (slash != NULL)
        slash[1] = '\0';
    int fd = open(slash != NULL ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd >= 0 ? fsync(fd) : -1;
    if (fd >= 0)
        close(fd);
    free(parent);
    return rc;
}

int spool_put(struct spool *spool, const struct spool_run *run, struct rl_err *err)
{
    char name[NAME_BYTES];
    unsigned files;
    int64_t bytes;
    bool made = mkdir(spool->path, 0700) == 0;
    int folder = made || errno == EEXIST ? open(spool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (folder < 0 || (made && sync_parent(spool->path) != 0)) {
        int rc = fail_file(err, "no folder could be made");
        if (folder >= 0)
            close(folder);
        return rc;
    }
    char *text = NULL;
    name_of(run->job, run->attempt, name);
    int rc = measure(folder, &files, &bytes, err);
    if (rc == 0 && (text = text_of(run)) == NULL)
        rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to keep a run");
    else if (rc == 0 && (files >= LIMIT_SPOOL_RUNS || bytes + (int64_t)strlen(text) + HEAD_MAX > LIMIT_SPOOL_BYTES))
        rc = rl_fail(err, RL_E_STORE_FULL, "database",
                     "the spool beside the database holds %u runs with %" PRId64 " bytes; %u and %" PRId64
                     " are its limits",
                     files, bytes, LIMIT_SPOOL_RUNS, LIMIT_SPOOL_BYTES);
    else if (rc == 0)
        rc = write_file(folder, name, text, err);
    free(text);
    close(folder);
    if (rc != 0)
        rmdir(spool->path); /* when it is empty */
    return rc;
}

/* ---- names ---- */

static int path_of(const struct spool *spool, const char *name, char **ret)
{
    if (asprintf(ret, "%s/%s", spool->path, name) < 0)
        *ret = NULL;
    return *ret != NULL ? 0 : -1;
}

bool spool_has(const struct spool *spool, int64_t job, int attempt)
{
    char name[NAME_BYTES], *path;
    name_of(job, attempt, name);
    if (path_of(spool, name, &path) != 0)
        return true;
    bool there = access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
    free(path);
    return there;
}

void spool_remove(struct spool *spool, int64_t job, int attempt)
{
    char name[NAME_BYTES], *path;
    name_of(job, attempt, name);
    /* one that a crash brings back is removed at the next start: its job has ended */
    if (path_of(spool, name, &path) == 0 && unlink(path) == 0)
        rmdir(spool->path);
    free(path);
}

static int no_memory(struct rl_err *err)
{
    return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a kept run");
}

static int rename_aside(struct spool *spool, const char *name, const char *why, struct rl_err *err)
{
    char *from = NULL, *to = NULL, aside[NAME_BYTES + 32];
    int rc;
    snprintf(aside, sizeof aside, "%.*s.%.24s", NAME_BYTES, name, why);
    if (path_of(spool, name, &from) != 0 || path_of(spool, aside, &to) != 0)
        rc = no_memory(err);
    else
        rc = rename(from, to) == 0 ? 0 : fail_file(err, "a file could not be set aside");
    free(to);
    free(from);
    return rc;
}

int spool_set_aside(struct spool *spool, int64_t job, int attempt, const char *why, struct rl_err *err)
{
    char name[NAME_BYTES];
    name_of(job, attempt, name);
    return rename_aside(spool, name, why, err);
}

/* ---- reading ---- */

static int bad(struct rl_err *err, const char *what)
{
    return rl_fail(err, RL_E_STORE_CORRUPT, "database", "%s", what);
}

/* The file's JSON, owned by the caller; NULL with err set. */
static char *read_text(const char *path, struct rl_err *err)
{
    char head[HEAD_MAX], sha256[65], *text = NULL;
    struct stat st;
    ssize_t got = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno != ELOOP) {
        fail_file(err, "it could not be opened");
    } else if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > LIMIT_SPOOL_BYTES) {
        bad(err, "it is no file that was written here");
    } else if ((text = calloc(1, (size_t)st.st_size + 1)) == NULL) {
        no_memory(err);
    } else if ((got = pread(fd, text, (size_t)st.st_size, 0)) < 0) {
        fail_file(err, "it could not be read");
        free(text);
        text = NULL;
    } else {
        char *body = got == st.st_size ? memchr(text, '\n', (size_t)got) : NULL;
        size_t len = body != NULL ? (size_t)(got - (++body - text)) : 0;
        rl_sha256_hex(body != NULL ? body : "", len, sha256);
        snprintf(head, sizeof head, HEAD_FORMAT, sha256, len);
        if (body == NULL || (size_t)(body - text) != strlen(head) || memcmp(text, head, strlen(head)) != 0) {
            bad(err, "its length or its checksum is not the one that it names");
            free(text);
            text = NULL;
        } else {
            memmove(text, body, len + 1);
        }
    }
    if (fd >= 0)
        close(fd);
    return text;
}

static int take_document(const json_t *document, struct spool_run *ret, struct rl_err *err)
{
    const json_t *samples = json_object_get(document, "samples");
    const char *transcript = json_string_value(json_object_get(document, "transcript"));
    const json_t *row;
    size_t i;
    if (json_integer_value(json_object_get(document, "job")) != ret->job ||
        json_integer_value(json_object_get(document, "attempt")) != ret->attempt)
        return bad(err, "it holds another job than its name says");
    json_array_foreach(samples, i, row) if (run_samples_take(&ret->samples, row, err) != 0) return -1;
    if (transcript != NULL && (ret->transcript = strdup(transcript)) == NULL)
        return no_memory(err);
    return rl_run_from_json(json_object_get(document, "run"), &ret->run, err);
}

/* Jansson 2.14 calls memory that ran out a fault of the text, or cuts a string or a number short and says nothing
 * (measured 2026-12-01): its allocations are looked at instead. */
static json_malloc_t allocate;
static bool ran_out;

static void *allocate_watched(size_t size)
{
    void *data = allocate(size);
    ran_out = ran_out || data == NULL;
    return data;
}

static json_t *load(const char *text, struct rl_err *err)
{
    json_free_t release;
    json_get_alloc_funcs(&allocate, &release);
    ran_out = false;
    json_set_alloc_funcs(allocate_watched, release);
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    json_set_alloc_funcs(allocate, release);
    if (ran_out) {
        json_decref(document);
        document = NULL;
        no_memory(err);
    } else if (document == NULL) {
        bad(err, "it is no JSON");
    }
    return document;
}

static int read_run(const char *path, struct spool_run *ret, struct rl_err *err)
{
    char *text = read_text(path, err);
    if (text == NULL)
        return -1;
    json_t *document = load(text, err);
    free(text);
    int rc = document != NULL ? take_document(document, ret, err) : -1;
    json_decref(document);
    return rc;
}

static bool ends_in(const char *name, const char *end)
{
    size_t len = strlen(name), end_len = strlen(end);
    return len >= end_len && strcmp(name + len - end_len, end) == 0;
}

/* By length first: names are "job-", a number without leading zeros, "-1.run". */
static int by_job(const struct dirent **a, const struct dirent **b)
{
    size_t len_a = strlen((*a)->d_name), len_b = strlen((*b)->d_name);
    return len_a != len_b ? (len_a < len_b ? -1 : 1) : strcmp((*a)->d_name, (*b)->d_name);
}

/* What says nothing about the file: it may be whole. */
static bool passes(enum rl_code code)
{
    return code == RL_E_NO_MEMORY || code == RL_E_STORE_IO || code == RL_E_STORE_READONLY || code == RL_E_STORE_FULL;
}

static int read_entry(struct spool *spool, const char *name, const struct spool_reader *reader, struct rl_err *err)
{
    struct spool_run run = {0};
    struct rl_err why = {0};
    char *path;
    if (path_of(spool, name, &path) != 0)
        return no_memory(err);
    int rc = 0;
    if (name_read(name, &run.job, &run.attempt) != 0) {
        if (ends_in(name, PARTIAL))
            unlink(path);
    } else if (read_run(path, &run, &why) == 0) {
        rc = reader->each(reader->arg, &run, err);
    } else {
        spool_run_fini(&run);
        if (passes(why.code)) {
            rc = rl_fail(err, why.code, "database", "the spool's file %s cannot be read: %s", name, why.message);
        } else if ((rc = rename_aside(spool, name, "damaged", err)) == 0) {
            reader->damaged(reader->arg, name, &why);
        }
    }
    free(path);
    return rc;
}

int spool_read(struct spool *spool, const struct spool_reader *reader, struct rl_err *err)
{
    struct dirent **entries = NULL;
    int count = scandir(spool->path, &entries, NULL, by_job), rc = 0;
    if (count < 0)
        return errno == ENOENT ? 0 : fail_file(err, "the runs could not be listed");
    for (int i = 0; i < count; i++) {
        if (rc == 0)
            rc = read_entry(spool, entries[i]->d_name, reader, err);
        free(entries[i]);
    }
    free(entries);
    rmdir(spool->path);
    return rc;
}
