/* Runs as one long text, in pieces: nothing of it is held but the piece. */
#include "db/select.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "record/record_json.h"
#include "record/text.h"

#define PAGE 64 /* runs looked for at once */

struct store_export {
    struct store *store;
    enum store_export_format format;
    struct store_run_filter filter;
    char *words[SERIES_WORDS]; /* the filter's own */
    struct place places[PAGE], before;
    int count, at;            /* of places */
    bool started, ended, any; /* the head is out; the tail is out; a run is out */
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
    for (int i = 0; i < SERIES_WORDS; i++)
        free(export->words[i]);
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
    *export = (struct store_export){.store = store, .format = format};
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
        keep(export, SERIES_COUNTERS, &own->counters) < 0 || keep(export, SERIES_OUTCOME, &own->outcome) < 0) {
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

static int parse(const struct rl_buf *text, int64_t run_id, struct rl_run **ret, struct rl_err *err)
{
    json_t *document = json_loadb(text->data, text->len, JSON_REJECT_DUPLICATES, NULL);
    struct rl_err cause = {.message = "it is not JSON"};
    int rc = -1;

    if (document != NULL) {
        rl_run_json_bare(document);
        rc = rl_run_from_json(document, ret, &cause);
    }
    json_decref(document);
    if (rc < 0 && cause.code == RL_E_NO_MEMORY)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for run %lld", (long long)run_id);
    if (rc < 0)
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "the document of run %lld cannot be read: %s",
                       (long long)run_id, cause.message);
    return 0;
}

static int put_csv(const struct rl_buf *document, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    struct rl_run *run = NULL;
    struct rl_buf csv;
    char cell[24];
    int rc;

    if (parse(document, run_id, &run, err) < 0)
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
    struct rl_buf document;
    size_t length = out->len;
    int rc;

    if (export->format == STORE_EXPORT_JSON) {
        rl_buf_puts(out, export->any ? ",\n" : "\n");
        return store_finish_text(out, length, store_run_document(export->store, run_id, out, err), err);
    }
    rl_buf_init(&document, STORE_DOCUMENT_MAX_BYTES);
    rc = store_run_document(export->store, run_id, &document, err);
    if (rc == 0)
        rc = put_csv(&document, run_id, out, err);
    rl_buf_free(&document);
    return rc;
}

static int put_existing(struct store_export *export, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    struct rl_err cause = {0};

    if (put_run(export, run_id, out, &cause) == 0) {
        export->any = true;
        return 0;
    }
    if (cause.code == RL_E_NOT_FOUND) /* retired since the page was looked for */
        return 0;
    if (err != NULL)
        *err = cause;
    return -1;
}

int store_export_next(struct store_export *export, size_t bytes, struct rl_buf *out, bool *ret_done, struct rl_err *err)
{
    size_t length = out->len;
    int rc = 0;

    if (!export->started && put_head(export, out) < 0)
        rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an export");
    export->started = true;
    while (rc == 0 && !export->ended && !out->failed && out->len - length < bytes) {
        int64_t run_id = 0;

        rc = next_run(export, &run_id, err);
        if (rc < 0)
            break;
        if (run_id == 0) {
            rl_buf_puts(out, export->format == STORE_EXPORT_JSON ? "\n]}\n" : "");
            export->ended = true;
        } else {
            rc = put_existing(export, run_id, out, err);
        }
    }
    rc = store_finish_text(out, length, rc, err);
    if (rc == 0)
        *ret_done = export->ended;
    return rc;
}
