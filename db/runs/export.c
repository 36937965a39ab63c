/* Runs as one long text, in pieces: nothing of it is held but the piece. */
#include "db/runs/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/text.h"
#include "db/runs/document.h"
#include "db/series/cache.h"
#include "gpu/record/print/text.h"

#define PAGE 64 /* runs looked for at once */

struct store_export {
    struct store *store;
    enum store_export_format format;
    struct store_run_filter filter;
    char *words[SERIES_WORDS + 2]; /* the filter's own */
    struct store_place places[PAGE], before;
    int count, at;            /* of places */
    bool started, ended, any; /* the head is out; the tail is out; a run is out */
    /* CSV, of a run whose document has over here_bytes */
    size_t here_bytes;
    int64_t apart; /* 0: none */
    bool made;
    struct rl_buf document, lines;
    int rc; /* with err, once it is made */
    struct rl_err err;
};

static int keep(struct store_export *export, int at, const char **word)
{
    if (*word == NULL)
        return 0;
    export->words[at] = strdup(*word);
    *word = export->words[at];
    return *word != NULL ? 0 : -1;
}

void store_export_free(struct store_export *export)
{
    if (export == NULL)
        return;
    for (int i = 0; i < SERIES_WORDS + 2; i++)
        free(export->words[i]);
    rl_buf_free(&export->document);
    rl_buf_free(&export->lines);
    free(export);
}

int store_export_start(struct store *store, const struct store_run_filter *filter, enum store_export_format format,
                       struct store_export **ret, struct rl_err *err)
{
    struct store_run_filter asked = *filter;
    struct store_export *export = calloc(1, sizeof *export);
    struct store_run_filter *own;

    if (export == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an export");
    *export = (struct store_export){.store = store, .format = format, .here_bytes = SIZE_MAX};
    rl_buf_init(&export->document, STORE_DOCUMENT_MAX_BYTES);
    rl_buf_init(&export->lines, STORE_DOCUMENT_MAX_BYTES);
    own = &export->filter;
    asked.limit = PAGE;
    asked.cursor = NULL;
    if (store_filter_check(&asked, own, err) < 0 || store_filter_start(store, own, &export->before, err) < 0) {
        store_export_free(export);
        return -1;
    }
    if (keep(export, SERIES_DEVICE, &own->device) < 0 || keep(export, SERIES_DRIVER, &own->driver) < 0 ||
        keep(export, SERIES_CUDA, &own->cuda) < 0 || keep(export, SERIES_SUITE, &own->suite) < 0 ||
        keep(export, SERIES_SIZES, &own->sizes) < 0 || keep(export, SERIES_SOURCE, &own->source) < 0 ||
        keep(export, SERIES_COUNTERS, &own->counters) < 0 || keep(export, SERIES_OUTCOME, &own->outcome) < 0 ||
        keep(export, SERIES_WORDS, &own->label) < 0 || keep(export, SERIES_WORDS + 1, &own->withdrawn) < 0) {
        store_export_free(export);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an export");
    }
    *ret = export;
    return 0;
}

/* The next run's id; 0 after the last. */
static int next_run(struct store_export *export, int64_t *ret_id, struct rl_err *err)
{
    if (export->at == export->count) {
        export->at = 0;
        if (store_find_places(export->store, &export->filter, export->before, export->places, PAGE, &export->count,
                              err) < 0)
            return -1;
        if (export->count > 0)
            export->before = export->places[export->count - 1];
    }
    *ret_id = export->at < export->count ? export->places[export->at++].id : 0;
    return 0;
}

/* ---- CSV ---- */

/* Copies RFC 4180 lines with a cell before each; a line feed inside of quotes ends no line. The head line is only
 * wanted once. */
static void put_lines(struct rl_buf *out, const struct rl_buf *csv, const char *cell, bool head)
{
    bool quoted = false, is_head = true;
    size_t from = 0;

    for (size_t i = 0; i < csv->len; i++) {
        if (csv->data[i] == '"')
            quoted = !quoted;
        if (csv->data[i] != '\n' || quoted)
            continue;
        if (!is_head || head) {
            rl_buf_puts(out, is_head ? "run" : cell);
            rl_buf_puts(out, ",");
            rl_buf_add(out, csv->data + from, i + 1 - from);
        }
        is_head = false;
        from = i + 1;
    }
}

static int put_csv(const struct rl_buf *document, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    struct rl_run *run = NULL;
    struct rl_buf csv;
    char cell[24];
    int rc;

    if (store_document_parse(document, run_id, &run, err) < 0)
        return -1;
    rl_buf_init(&csv, STORE_DOCUMENT_MAX_BYTES);
    rc = rl_csv_write(run, &csv);
    if (rc < 0)
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the lines of run %lld", (long long)run_id);
    snprintf(cell, sizeof cell, "%lld", (long long)run_id);
    if (rc == 0)
        put_lines(out, &csv, cell, false);
    rl_buf_free(&csv);
    rl_run_free(run);
    return rc;
}

/* ---- runs whose lines are made beside the store ---- */

void store_export_beside(struct store_export *export, size_t here_bytes)
{
    export->here_bytes = here_bytes;
}

void store_export_drop(struct store_export *export)
{
    rl_buf_free(&export->document);
    rl_buf_init(&export->document, STORE_DOCUMENT_MAX_BYTES);
}

int store_export_fetch(struct store_export *export, struct rl_err *err)
{
    struct rl_err cause = {0};

    if (export->apart == 0 || export->document.len > 0 ||
        store_run_document(export->store, export->apart, &export->document, &cause) == 0)
        return 0;
    if (cause.code == RL_E_RUN_NOT_FOUND) /* retired while it waited: no lines */
        return 0;
    if (err != NULL)
        *err = cause;
    return -1;
}

void store_export_make(struct store_export *export)
{
    if (export->document.len > 0)
        export->rc = put_csv(&export->document, export->apart, &export->lines, &export->err);
    store_export_drop(export);
    export->made = true;
}

/* Once made: nothing is apart any more. */
static int put_made(struct store_export *export, struct rl_buf *out, struct rl_err *err)
{
    int rc = export->rc;

    if (rc == 0)
        rl_buf_add(out, export->lines.data, export->lines.len);
    else if (err != NULL)
        *err = export->err;
    rl_buf_free(&export->lines);
    rl_buf_init(&export->lines, STORE_DOCUMENT_MAX_BYTES);
    export->apart = 0;
    export->made = false;
    return rc;
}

/* ---- pieces ---- */

static int put_head(struct store_export *export, struct rl_buf *out)
{
    struct rl_run *nothing = NULL;
    struct rl_buf csv;

    if (export->format == STORE_EXPORT_JSON)
        return rl_buf_puts(out, "{\"items\":[");
    nothing = rl_run_new();
    if (nothing == NULL)
        return -1;
    rl_buf_init(&csv, 64 * 1024);
    if (rl_csv_write(nothing, &csv) == 0)
        put_lines(out, &csv, "", true);
    rl_buf_free(&csv);
    rl_run_free(nothing);
    return 0;
}

static int put_run(struct store_export *export, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    size_t length = out->len;
    int rc;

    if (export->format == STORE_EXPORT_JSON) {
        rl_buf_puts(out, export->any ? ",\n" : "\n");
        return store_finish_text(out, length, store_run_document(export->store, run_id, out, err), err);
    }
    rc = store_run_document(export->store, run_id, &export->document, err);
    if (rc == 0 && export->document.len > export->here_bytes) {
        export->apart = run_id;
        return 0;
    }
    if (rc == 0)
        rc = put_csv(&export->document, run_id, out, err);
    store_export_drop(export);
    return rc;
}

static int put_existing(struct store_export *export, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    struct rl_err cause = {0};

    if (put_run(export, run_id, out, &cause) == 0) {
        export->any = true;
        return 0;
    }
    if (cause.code == RL_E_RUN_NOT_FOUND) /* retired since the page was looked for */
        return 0;
    if (err != NULL)
        *err = cause;
    return -1;
}

/* One run, or the tail after the last. */
static int put_next(struct store_export *export, struct rl_buf *out, struct rl_err *err)
{
    int64_t run_id = 0;

    if (export->apart != 0)
        return put_made(export, out, err);
    if (next_run(export, &run_id, err) < 0)
        return -1;
    if (run_id != 0)
        return put_existing(export, run_id, out, err);
    rl_buf_puts(out, export->format == STORE_EXPORT_JSON ? "\n]}\n" : "");
    export->ended = true;
    return 0;
}

int store_export_next(struct store_export *export, size_t bytes, struct rl_buf *out, bool *ret_done, struct rl_err *err)
{
    size_t length = out->len, from = length;
    int rc = 0;

    if (!export->started && put_head(export, out) < 0)
        rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an export");
    export->started = true;
    if (export->format == STORE_EXPORT_CSV) { /* one run: its document is parsed for it */
        from = out->len;
        bytes = 1;
    }
    while (rc == 0 && !export->ended && !out->failed && out->len - from < bytes && (export->apart == 0 || export->made))
        rc = put_next(export, out, err);
    rc = store_finish_text(out, length, rc, err);
    if (rc == 0)
        *ret_done = export->ended;
    return rc;
}
