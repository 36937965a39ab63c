/* Predictions, as they came out, and why the most wrong ones were wrong. They were scored when the run was stored
 * (db/notes/scores.c); the score never changes, what is said of it may. */
#include "db/notes/predictions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/core/transaction.h"
#include "db/rows/units.h"
#include "db/runs/read.h"
#include "gpu/base/said.h"

struct miss {
    char *kernel;
    double distance;
};
struct tally {
    int predicted, scored, right;
    struct miss worst[2]; /* the worst first */
};

static int note_miss(struct tally *tally, const char *kernel, double dram_per_ask, struct rl_err *err)
{
    struct miss miss = {.distance = fabs(log(dram_per_ask))};

    if (tally->worst[1].kernel != NULL && miss.distance <= tally->worst[1].distance)
        return 0;
    miss.kernel = strdup(kernel);
    if (miss.kernel == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for predictions");
    free(tally->worst[1].kernel);
    if (tally->worst[0].kernel == NULL || miss.distance > tally->worst[0].distance) {
        tally->worst[1] = tally->worst[0];
        tally->worst[0] = miss;
    } else {
        tally->worst[1] = miss;
    }
    return 0;
}

/* The columns of PREDICTION_LIST. */
static int put_prediction(struct rl_buf *out, const struct stmt *stmt, struct tally *tally, struct rl_err *err)
{
    const char *kernel = (const char *)sqlite3_column_text(stmt->handle, 0);
    const char *said = (const char *)sqlite3_column_text(stmt->handle, 1);
    const char *found = (const char *)sqlite3_column_text(stmt->handle, 4);
    double ratio = sqlite3_column_double(stmt->handle, 3);
    bool right = found != NULL && strcmp(said, found) == 0;

    rl_buf_puts(out, tally->predicted++ > 0 ? ",{\"kernel\":" : "{\"kernel\":");
    json_put_text(out, kernel);
    rl_buf_printf(out, ",\"state\":\"%s\",\"said\":\"%s\",\"found\":", sqlite3_column_text(stmt->handle, 2), said);
    if (found == NULL) {
        rl_buf_puts(out, "null,\"dram_per_ask\":null,\"right\":null,\"why\":{\"found\":");
        json_put_text(out, (const char *)sqlite3_column_text(stmt->handle, 5));
        rl_buf_puts(out, ",\"dram_per_ask\":");
        json_put_text(out, (const char *)sqlite3_column_text(stmt->handle, 5));
        rl_buf_puts(out, ",\"right\":\"nothing was found to compare with\"}}");
        return 0;
    }
    rl_buf_printf(out, "\"%s\",\"dram_per_ask\":", found);
    json_put_real(out, ratio, 17);
    rl_buf_printf(out, ",\"right\":%s,\"why\":{}}", right ? "true" : "false");
    tally->scored++;
    tally->right += right;
    return right ? 0 : note_miss(tally, kernel, ratio, err);
}

static void tally_fini(struct tally *tally)
{
    free(tally->worst[0].kernel);
    free(tally->worst[1].kernel);
}

/* The items; on -1 the tally is empty. */
static int put_items(struct store *store, int64_t run_id, struct rl_buf *out, struct tally *tally, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_PREDICTION_LIST);
    int rc;

    *tally = (struct tally){0};
    stmt_int(&stmt, ":id", run_id);
    while ((rc = stmt_step(&stmt, err, "reading predictions")) == 1) {
        if ((rc = put_prediction(out, &stmt, tally, err)) < 0)
            break;
    }
    stmt_end(&stmt);
    if (rc < 0) {
        tally_fini(tally);
        *tally = (struct tally){0};
    }
    return rc;
}

/* ---- why ---- */

static int put_why_wrong(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_WRONG_LIST);
    const char *between = "";
    int rc;

    stmt_int(&stmt, ":id", run_id);
    while ((rc = stmt_step(&stmt, err, "reading why predictions were wrong")) == 1) {
        rl_buf_printf(out, "%s{\"kernel\":", between);
        between = ",";
        json_put_text(out, (const char *)sqlite3_column_text(stmt.handle, 0));
        rl_buf_puts(out, ",\"text\":");
        json_put_text(out, (const char *)sqlite3_column_text(stmt.handle, 1));
        rl_buf_puts(out, "}");
    }
    stmt_end(&stmt);
    return rc;
}

#define NOBODY "\"nobody said why a prediction was wrong\""

static int put_version(struct store *store, int64_t run_id, struct rl_buf *out, int64_t *ret_version,
                       struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_SAID_VERSION);
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading why predictions were wrong");
    *ret_version = rc == 1 ? sqlite3_column_int64(stmt.handle, 0) : 0;
    if (rc == 1) {
        rl_buf_printf(out, ",\"version\":%lld,\"principal\":", (long long)*ret_version);
        json_put_text(out, (const char *)sqlite3_column_text(stmt.handle, 1));
        rl_buf_puts(out, ",\"changed_at\":");
        json_put_time(out, sqlite3_column_int64(stmt.handle, 2));
        rl_buf_puts(out, ",\"why\":{}");
    } else if (rc == 0) {
        rl_buf_puts(out, ",\"version\":0,\"principal\":null,\"changed_at\":null,\"why\":{\"principal\":" NOBODY
                         ",\"changed_at\":" NOBODY "}");
    }
    stmt_end(&stmt);
    return rc < 0 ? -1 : 0;
}

static int put_predictions(struct store *store, int64_t run_id, struct rl_buf *out, int64_t *ret_version,
                           struct rl_err *err)
{
    struct tally tally;
    int rc;

    if (store_check_run(store, run_id, err) < 0)
        return -1;
    rl_buf_printf(out, "{\"run\":\"%lld\",\"items\":[", (long long)run_id);
    if (put_items(store, run_id, out, &tally, err) < 0)
        return -1;
    rl_buf_printf(out, "],\"predicted\":%d,\"scored\":%d,\"right\":%d,\"most_wrong\":[", tally.predicted, tally.scored,
                  tally.right);
    for (int i = 0; i < 2 && tally.worst[i].kernel != NULL; i++) {
        rl_buf_puts(out, i > 0 ? "," : "");
        json_put_text(out, tally.worst[i].kernel);
    }
    tally_fini(&tally);
    rl_buf_puts(out, "],\"why_wrong\":[");
    rc = put_why_wrong(store, run_id, out, err);
    rl_buf_puts(out, "]");
    if (rc == 0)
        rc = put_version(store, run_id, out, ret_version, err);
    rl_buf_puts(out, "}");
    return rc;
}

int store_predictions_json(struct store *store, int64_t run_id, struct rl_buf *out, int64_t *ret_version,
                           struct rl_err *err)
{
    size_t length = out->len;
    int64_t version = 0;
    int rc;

    if (store_look(store, err) < 0)
        return -1;
    rc = put_predictions(store, run_id, out, &version, err);
    store_look_end(store);
    rc = store_finish_text(out, length, rc, err);
    if (rc == 0)
        *ret_version = version;
    return rc;
}

/* ---- saying why ---- */

static bool is_worst(const struct tally *tally, const char *kernel)
{
    for (int i = 0; i < 2; i++) {
        if (tally->worst[i].kernel != NULL && strcmp(tally->worst[i].kernel, kernel) == 0)
            return true;
    }
    return false;
}

/* One text, of a kernel that the tally has among its most wrong. */
static int add_wrong(struct store *store, const struct store_wrong_new *said, size_t at, const struct tally *tally,
                     struct rl_err *err)
{
    const struct store_wrong *item = &said->items[at];
    struct stmt stmt;
    int64_t unit = 0;
    char field[160];

    snprintf(field, sizeof field, "why_wrong.%.100s", item->kernel);
    if (rl_said_check(item->text, strlen(item->text), field, STORE_WRONG_CHARACTERS, true, err) < 0)
        return -1;
    if (!is_worst(tally, item->kernel))
        return rl_fail(
            err, RL_E_BAD_FIELD, field, "run %lld has \"%.100s\" not among its most wrong predictions%s%s%s%s",
            (long long)said->run_id, item->kernel, tally->worst[0].kernel != NULL ? ", which are " : ": none was wrong",
            tally->worst[0].kernel != NULL ? tally->worst[0].kernel : "", tally->worst[1].kernel != NULL ? " and " : "",
            tally->worst[1].kernel != NULL ? tally->worst[1].kernel : "");
    for (size_t i = 0; i < at; i++) {
        if (strcmp(said->items[i].kernel, item->kernel) == 0)
            return rl_fail(err, RL_E_BAD_FIELD, field, "\"%.100s\" is there twice", item->kernel);
    }
    if (store_unit_find(store, item->kernel, "kernel", &unit, err) < 0)
        return -1;
    stmt = stmt_start(store, STMT_WRONG_ADD);
    stmt_int(&stmt, ":id", said->run_id);
    stmt_int(&stmt, ":unit", unit);
    stmt_text(&stmt, ":text", item->text);
    return stmt_run(&stmt, err, "storing why a prediction was wrong");
}

static int set_version(struct store *store, const struct store_wrong_new *said, int64_t *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_SAID_VERSION);
    int64_t version;
    int rc;

    stmt_int(&stmt, ":id", said->run_id);
    rc = stmt_step(&stmt, err, "reading why predictions were wrong");
    version = rc == 1 ? sqlite3_column_int64(stmt.handle, 0) : 0;
    stmt_end(&stmt);
    if (rc < 0)
        return -1;
    if (said->if_version >= 0 && said->if_version != version)
        return rl_fail(err, RL_E_CONFLICT, NULL, "what is said of run %lld's predictions has version %lld, not %lld",
                       (long long)said->run_id, (long long)version, (long long)said->if_version);
    stmt = stmt_start(store, STMT_SAID_PUT);
    stmt_int(&stmt, ":id", said->run_id);
    stmt_int(&stmt, ":version", version + 1);
    stmt_text(&stmt, ":principal", said->principal);
    stmt_int(&stmt, ":changed", said->now_ms);
    *ret = version + 1;
    return stmt_run(&stmt, err, "storing why predictions were wrong");
}

/* Inside a transaction. */
static int put_said(struct store *store, const struct store_wrong_new *said, int64_t *ret_version, struct rl_err *err)
{
    struct tally tally;
    struct stmt stmt;
    struct rl_buf unused;
    int rc;

    if (store_check_run(store, said->run_id, err) < 0 || set_version(store, said, ret_version, err) < 0)
        return -1;
    rl_buf_init(&unused, 1024 * 1024);
    rc = put_items(store, said->run_id, &unused, &tally, err);
    rl_buf_free(&unused);
    if (rc < 0)
        return -1;
    stmt = stmt_start(store, STMT_WRONG_CLEAR);
    stmt_int(&stmt, ":id", said->run_id);
    rc = stmt_run(&stmt, err, "clearing why predictions were wrong");
    for (size_t i = 0; rc == 0 && i < said->count; i++)
        rc = add_wrong(store, said, i, &tally, err);
    tally_fini(&tally);
    return rc;
}

int store_predictions_put(struct store *store, const struct store_wrong_new *said, int64_t *ret_version,
                          struct rl_err *err)
{
    int64_t version = 0;

    if (store_begin(store, err) < 0)
        return -1;
    if (store_end(store, put_said(store, said, &version, err), err) < 0)
        return -1;
    *ret_version = version;
    return 0;
}
