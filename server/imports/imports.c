/* See server/imports/imports.h. */
#include "server/imports/imports.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/runs/imports.h"
#include "db/runs/insert.h"
#include "gpu/base/time.h"
#include "gpu/record/json_text.h"
#include "gpu/wire/import.h"
#include "server/imports/internal.h"

/* ---- places ---- */

struct imports *imports_new(const char *exec, struct store *store, struct loop *loop)
{
    struct imports *imports = calloc(1, sizeof *imports);
    if (imports != NULL)
        *imports = (struct imports){.exec = exec, .store = store, .loop = loop};
    return imports;
}

static void free_import(struct import *import)
{
    struct imports *all = import->all;
    struct import **at = &all->first;
    while (*at != import)
        at = &(*at)->next;
    *at = import->next;
    for (size_t i = 0; i < IMPORT_KINDS; i++)
        if (import->file[i].fd >= 0)
            close(import->file[i].fd);
    rl_buf_free(&import->held);
    rl_sha256_free(import->hash);
    import_hash_free(import->content);
    import_process_free(import->process);
    import_judge_free(import->judge);
    loop_remove(all->loop, import->store_timer);
    free(import);
}

static void check_stopped(struct imports *imports)
{
    if (!imports->stopping || imports->stopped == NULL)
        return;
    for (const struct import *import = imports->first; import != NULL; import = import->next)
        if (import->process != NULL || import->judge != NULL)
            return;
    void (*stopped)(void *) = imports->stopped;
    imports->stopped = NULL;
    stopped(imports->stopped_arg);
}

static int check_places(const struct imports *imports, const char *share, struct rl_err *err)
{
    unsigned all = 0, own = 0;
    for (const struct import *other = imports->first; other != NULL; other = other->next) {
        all += other->placed;
        own += other->placed && strcmp(other->share, share) == 0;
    }
    if (own >= LIMIT_IMPORTS_PER_PRINCIPAL)
        return rl_fail(err, RL_E_TOO_MANY_IMPORTS, NULL, "%u imports of yours are being read; %u at once are taken",
                       own, LIMIT_IMPORTS_PER_PRINCIPAL);
    if (all >= LIMIT_IMPORTS)
        return rl_fail(err, RL_E_TOO_MANY_IMPORTS, NULL, "%u imports are being read; %u at once are taken", all,
                       LIMIT_IMPORTS);
    return 0;
}

int import_begin(struct imports *imports, const struct auth_principal *who, struct import **ret, struct rl_err *err)
{
    if (imports->stopping)
        return rl_fail(err, RL_E_SHUTTING_DOWN, NULL, "the daemon is shutting down");
    /* said before the body has come, and again when it is there */
    if (check_places(imports, who->share, err) != 0)
        return -1;
    struct import *import = calloc(1, sizeof *import);
    if (import == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an import");
    import->all = imports;
    rl_buf_init(&import->held, IMPORT_HELD_BYTES);
    for (size_t i = 0; i < IMPORT_KINDS; i++)
        import->file[i].fd = -1;
    snprintf(import->share, sizeof import->share, "%s", who->share);
    snprintf(import->owner, sizeof import->owner, "%s", who->id);
    import->next = imports->first;
    imports->first = import;
    *ret = import;
    return 0;
}

void import_abandon(struct import *import)
{
    static const struct rl_err gone = {.code = RL_E_CANCELLED, .message = "Nobody waits for this import any more."};
    if (import == NULL)
        return;
    if (import->process == NULL && (import->judge == NULL || import->judged != NULL)) {
        free_import(import);
        return;
    }
    import->abandoned = true; /* freed once its process is reaped or it is judged, and keeps its place until then */
    if (import->process != NULL)
        import_process_stop(import->process, &gone);
}

void imports_shutdown(struct imports *imports, void (*done)(void *arg), void *arg)
{
    struct rl_err why;
    rl_fail(&why, RL_E_SHUTTING_DOWN, NULL, "the daemon is shutting down; nothing was stored");
    imports->stopping = true;
    imports->stopped = done;
    imports->stopped_arg = arg;
    for (struct import *import = imports->first; import != NULL; import = import->next) {
        if (import->process != NULL)
            import_process_stop(import->process, &why);
        if (import->judged != NULL)
            loop_timer_set(imports->loop, import->store_timer, 0); /* one last try */
    }
    check_stopped(imports);
}

void imports_free(struct imports *imports)
{
    if (imports == NULL)
        return;
    while (imports->first != NULL)
        free_import(imports->first);
    free(imports);
}

/* ---- the request ---- */

/* Each name and value with its length before it, so that no two imports are written alike. */
static void identify(struct import *import, bool of_bytes, char ret[65])
{
    struct rl_sha256 *hash = import->hash;
    char head[96];
    int len;
    for (size_t i = 0; i < IMPORT_KINDS; i++) {
        const struct import_upload *file = &import->file[i];
        if (file->fd < 0)
            continue;
        len = snprintf(head, sizeof head, "file %s %s\n", import_kinds[i], of_bytes ? file->sha256 : file->content);
        rl_sha256_add(hash, head, (size_t)len);
    }
    for (size_t i = 0; i < IMPORT_FIELDS; i++) {
        size_t bytes = strlen(import->field[i]);
        if (bytes == 0 || i == IMPORT_LABEL_AT)
            continue;
        len = snprintf(head, sizeof head, "field %s %zu\n", import_fields[i], bytes);
        rl_sha256_add(hash, head, (size_t)len);
        rl_sha256_add(hash, import->field[i], bytes);
    }
    rl_sha256_end(hash, ret);
}

static const char *label_of(const struct import *import)
{
    return import->field[IMPORT_LABEL_AT][0] != '\0' ? import->field[IMPORT_LABEL_AT] : NULL;
}

/* The run of this request, under either of its names; *ret 0 when there is none. */
static int find_run(struct import *import, int64_t *ret, struct rl_err *err)
{
    identify(import, false, import->identity);
    identify(import, true, import->identity_of_bytes);
    const char *label = label_of(import);
    if (store_import_find(import->all->store, import->identity, label, ret, err) != 0)
        return -1;
    return *ret != 0 ? 0 : store_import_find(import->all->store, import->identity_of_bytes, label, ret, err);
}

static json_t *files_of(const struct import *import, int fds[IMPORT_JUDGE_FILES], size_t *ret_count)
{
    json_t *files = json_array();
    *ret_count = 0;
    for (size_t i = 0; i < IMPORT_KINDS; i++) {
        const struct import_upload *file = &import->file[i];
        if (file->fd < 0)
            continue;
        json_array_append_new(files, json_pack("{s:s, s:i, s:s}", "kind", import_kinds[i], "fd",
                                               IMPORT_FD + 1 + (int)*ret_count, "name", file->name));
        fds[(*ret_count)++] = file->fd;
    }
    return files;
}

/* The request line; its text is the caller's. */
static char *request_of(const struct import *import, int fds[IMPORT_JUDGE_FILES], size_t *ret_count)
{
    json_t *fields = json_object();
    struct rl_buf text;
    for (size_t i = 0; i < IMPORT_FIELDS; i++)
        if (import->field[i][0] != '\0' && i != IMPORT_LABEL_AT)
            json_object_set_new(fields, import_fields[i], json_string(import->field[i]));
    json_t *request =
        json_pack("{s:s, s:i, s:o, s:o, s:{s:I, s:i, s:i}}", "t", "import", "protocol", IMPORT_PROTOCOL, "files",
                  files_of(import, fds, ret_count), "fields", fields, "limits", "memory_bytes",
                  (json_int_t)LIMIT_IMPORT_MEMORY_BYTES, "cpu_s", LIMIT_IMPORT_CPU_S, "wall_s", LIMIT_IMPORT_WALL_S);
    rl_buf_init(&text, IMPORT_REQUEST_MAX);
    bool made = request != NULL && rl_json_write(request, &text) == 0 && rl_buf_puts(&text, "\n") == 0;
    json_decref(request);
    char *line = made ? rl_buf_take(&text) : NULL;
    rl_buf_free(&text);
    return line;
}

/* ---- the answer ---- */

/* Its end, whatever it was; import may be freed by it. */
static void end(struct import *import)
{
    struct imports *all = import->all;
    if (import->abandoned) {
        free_import(import);
    } else {
        import->ended = true;
        if (import->run == 0 && rl_code_http(import->error.code) == 500)
            fprintf(stderr, "rooflined: import: %s\n", import->error.message);
        import->done(import->arg);
    }
    check_stopped(all);
}

/* Whether the store is to be tried again: another program holds it, and the client may still be kept waiting. */
static bool again(struct import *import)
{
    struct imports *all = import->all;
    if (import->error.code != RL_E_STORE_BUSY || all->stopping ||
        loop_now_ns(all->loop) + LIMIT_IMPORT_STORE_TRY_MS * INT64_C(1000000) >= import->answer_by_ns)
        return false;
    loop_timer_set(all->loop, import->store_timer, LIMIT_IMPORT_STORE_TRY_MS);
    return true;
}

static void store_judged(void *arg)
{
    struct import *import = arg;
    const struct import_judged *judged = import->judged;
    const struct store_import_key key = {import->identity, judged->record_sha256};
    struct store_run_new run = judged->stored.row;
    run.label = label_of(import);
    run.principal = import->owner;
    struct store *store = import->all->store;
    /* an earlier build may have stored it under the other name */
    int rc = store_import_find(store, judged->record_of_bytes, run.label, &import->run, &import->error);
    import->existing = rc == 0 && import->run != 0;
    if (rc == 0 && import->run == 0)
        rc = store_import_run(store, &run, &key, &import->run, &import->existing, &import->error);
    if (rc != 0) {
        import->run = 0;
        if (again(import))
            return;
    }
    import->judged = NULL;
    import_judge_free(import->judge);
    import->judge = NULL;
    end(import);
}

static void on_judged(void *arg, const struct import_judged *judged)
{
    struct import *import = arg;
    if (judged->rc == 0 && !import->abandoned &&
        loop_add_timer(import->all->loop, -1, store_judged, import, &import->store_timer, &import->error) == 0) {
        import->judged = judged;
        store_judged(import);
        return;
    }
    if (judged->rc != 0)
        import->error = judged->err;
    import_judge_free(import->judge);
    import->judge = NULL;
    end(import);
}

static void on_ended(void *arg, struct import_process_end *end_of)
{
    struct import *import = arg;
    struct import_expected_file files[IMPORT_JUDGE_FILES];
    struct import_expected expected = {.files = files, .now_ms = rl_now_ms()};
    import_process_free(import->process);
    import->process = NULL;
    for (size_t i = 0; i < IMPORT_KINDS; i++)
        if (import->file[i].fd >= 0)
            files[expected.file_count++] = (struct import_expected_file){
                import_kinds[i], import->file[i].bytes, import->file[i].sha256, import->file[i].content};
    if (end_of->lines == NULL) {
        import->error = end_of->error;
        end(import);
    } else if (import->abandoned) {
        free(end_of->lines);
        end(import);
    } else if (import_judge_start(import->all->loop, import->all->store, end_of->lines, end_of->len, &expected,
                                  on_judged, import, &import->judge, &import->error) != 0) {
        end(import);
    }
}

int import_run(struct import *import, void (*done)(void *arg), void *arg, struct rl_err *err)
{
    int fds[IMPORT_JUDGE_FILES];
    struct import_process_start start = {
        .exec = import->all->exec, .files = fds, .wall_ms = LIMIT_IMPORT_WALL_S * INT64_C(1000)};
    if (import->all->stopping)
        return rl_fail(err, RL_E_SHUTTING_DOWN, NULL, "the daemon is shutting down");
    if (import->hash == NULL)
        return rl_fail(err, RL_E_BAD_FIELD, "ncu",
                       "nothing to import: send ncu, timings or both (and power), or recording, or record, as a file");
    import->done = done;
    import->arg = arg;
    import->answer_by_ns =
        loop_now_ns(import->all->loop) + (LIMIT_IMPORT_ANSWER_MS - LIMIT_IMPORT_SPARE_MS) * INT64_C(1000000);
    if (find_run(import, &import->run, err) != 0)
        return -1;
    if (import->run != 0) {
        import->existing = import->ended = true;
        done(arg);
        return 0;
    }
    if (check_places(import->all, import->share, err) != 0)
        return -1;
    import->placed = true;
    char *request = request_of(import, fds, &start.file_count);
    if (request == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an import");
    start.request = request;
    int rc = import_process_start(import->all->loop, &start, on_ended, import, &import->process, err);
    free(request);
    return rc;
}

int import_result(const struct import *import, int64_t *ret_run, bool *ret_existing, struct rl_err *err)
{
    if (import->run == 0) {
        *err = import->error;
        return -1;
    }
    *ret_run = import->run;
    *ret_existing = import->existing;
    return 0;
}
