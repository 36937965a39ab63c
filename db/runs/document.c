/* A run's document: deflated before the store has it, given its id and job as it is stored, read as the bytes that it
 * was. */
#include "db/runs/document.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "gpu/base/num.h"
#include "gpu/base/said.h"
#include "gpu/record/json.h"
#include "gpu/suites/document.h"

/* {"id":"…","job":"…","label":"…", with two numbers of at most 20 digits and a label;
 * of those that JSON escapes, a label has only the two that become two bytes. */
#define HEAD_MAX (96 + 2 * RL_LABEL_BYTES)

/* ---- beside the store ---- */

int store_document_make(const char *text, struct store_document *ret, struct rl_err *err)
{
    size_t length = strlen(text);

    if (text[0] != '{' || text[1] != '"')
        return rl_fail(err, RL_E_INTERNAL, NULL, "a run's document is no compact JSON object");
    if (length > STORE_DOCUMENT_MAX_BYTES - HEAD_MAX)
        return rl_fail(err, RL_E_TOO_LARGE, NULL, "a run's document is longer than %d bytes",
                       STORE_DOCUMENT_MAX_BYTES - HEAD_MAX);
    if (!rl_utf8_valid(text, length))
        return rl_fail(err, RL_E_INTERNAL, NULL, "a run's document is not UTF-8");
    if (store_deflate_rest(text + 1, length - 1, ret) < 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to deflate a run's document of %zu bytes", length);
    return 0;
}

void store_document_fini(struct store_document *document)
{
    free(document->deflated);
    *document = (struct store_document){0};
}

/* ---- storing ---- */

int store_put_document(struct store *store, int64_t id, int64_t job_id, const char *label,
                       const struct store_document *document, struct rl_err *err)
{
    struct deflated deflated = {0};
    struct rl_buf head;
    struct stmt stmt;
    int rc;

    rl_buf_init(&head, HEAD_MAX);
    rl_buf_printf(&head, "{\"id\":\"%lld\",\"job\":", (long long)id);
    if (job_id != 0)
        rl_buf_printf(&head, "\"%lld\",", (long long)job_id);
    else
        rl_buf_puts(&head, "null,");
    if (label != NULL) {
        rl_buf_puts(&head, "\"label\":");
        json_put_text(&head, label);
        rl_buf_puts(&head, ",");
    }
    rc = head.failed ? -1 : store_deflate_join(head.data, head.len, document, &deflated);
    if (rc < 0) {
        rl_buf_free(&head);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to store a run's document");
    }
    stmt = stmt_start(store, STMT_DOCUMENT_ADD);
    stmt_int(&stmt, ":id", id);
    stmt_int(&stmt, ":bytes", (int64_t)(head.len + document->bytes));
    stmt_blob(&stmt, ":deflated", deflated.data, deflated.size);
    rc = stmt_run(&stmt, err, "storing a run's document");
    free(deflated.data);
    rl_buf_free(&head);
    return rc;
}

/* ---- reading ---- */

int store_run_document(struct store *store, int64_t id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DOCUMENT_GET);
    size_t length = out->len;
    int rc;

    stmt_int(&stmt, ":id", id);
    rc = stmt_step(&stmt, err, "reading a run");
    if (rc == 0)
        rc = rl_fail(err, RL_E_RUN_NOT_FOUND, NULL, "there is no run %lld", (long long)id);
    else if (rc == 1) {
        const void *deflated = sqlite3_column_blob(stmt.handle, 0);

        rc = store_inflate(deflated, (size_t)sqlite3_column_bytes(stmt.handle, 0), sqlite3_column_int64(stmt.handle, 1),
                           out, err);
    }
    stmt_end(&stmt);
    return store_finish_text(out, length, rc, err);
}

int store_document_parse(const struct rl_buf *text, int64_t id, struct rl_run **ret, struct rl_err *err)
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
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for run %lld", (long long)id);
    if (rc < 0)
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "the document of run %lld cannot be read: %s",
                       (long long)id, cause.message);
    return 0;
}
