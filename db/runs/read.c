/* Whether a run is there, and its raw samples. */
#include "db/runs/read.h"

#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/core/transaction.h"

int store_check_run(struct store *store, int64_t id, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_RUN_EXISTS);
    int rc;

    stmt_int(&stmt, ":id", id);
    rc = stmt_step(&stmt, err, "looking up a run");
    stmt_end(&stmt);
    if (rc == 0)
        return rl_fail(err, RL_E_RUN_NOT_FOUND, NULL, "there is no run %lld", (long long)id);
    return rc < 0 ? -1 : 0;
}

/* The columns of SAMPLE_LIST. Nine digits give a float32 back exactly. */
static int put_sample(struct rl_buf *out, struct stmt *stmt, struct rl_err *err)
{
    int64_t count = sqlite3_column_int64(stmt->handle, 3);
    const unsigned char *blob = sqlite3_column_blob(stmt->handle, 4);

    if (count < 0 || sqlite3_column_bytes(stmt->handle, 4) != count * 4 || (blob == NULL && count > 0))
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "a sample blob is shorter than its count");
    rl_buf_puts(out, "{\"unit\":");
    json_put_text(out, (const char *)sqlite3_column_text(stmt->handle, 0));
    rl_buf_printf(out, ",\"state\":\"%s\",\"launches\":%lld,\"times_s\":[",
                  (const char *)sqlite3_column_text(stmt->handle, 1), (long long)sqlite3_column_int64(stmt->handle, 2));
    for (int64_t i = 0; i < count; i++) {
        const unsigned char *bytes = blob + i * 4;
        uint32_t bits =
            (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
        float value;

        memcpy(&value, &bits, sizeof value);
        if (i > 0)
            rl_buf_puts(out, ",");
        json_put_real(out, (double)value, 9);
    }
    rl_buf_puts(out, "]}");
    return 0;
}

static int put_samples_of(struct store *store, int64_t id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt;
    bool first = true;
    int rc;

    if (store_check_run(store, id, err) < 0)
        return -1;
    rl_buf_puts(out, "{\"items\":[");
    stmt = stmt_start(store, STMT_SAMPLE_LIST);
    stmt_int(&stmt, ":id", id);
    while ((rc = stmt_step(&stmt, err, "reading samples")) == 1) {
        if (!first)
            rl_buf_puts(out, ",");
        first = false;
        if ((rc = put_sample(out, &stmt, err)) < 0)
            break;
    }
    stmt_end(&stmt);
    rl_buf_puts(out, "]}");
    return rc;
}

int store_run_samples(struct store *store, int64_t id, struct rl_buf *out, struct rl_err *err)
{
    size_t length = out->len;
    int rc;

    if (store_look(store, err) < 0)
        return -1;
    rc = put_samples_of(store, id, out, err);
    store_look_end(store);
    return store_finish_text(out, length, rc, err);
}
