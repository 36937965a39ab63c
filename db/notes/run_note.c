/* A run's note, with the changes that it accepts as new baselines. */
#include "db/notes/run_note.h"

#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/core/transaction.h"
#include "db/rows/units.h"
#include "db/runs/read.h"
#include "gpu/base/num.h"

static int note_version(struct store *store, int64_t run_id, int64_t *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_NOTE_GET);
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading a note");
    if (rc >= 0)
        *ret = rc == 1 ? sqlite3_column_int64(stmt.handle, 0) : 0;
    stmt_end(&stmt);
    return rc < 0 ? -1 : 0;
}

int store_write_note(struct store *store, int64_t run_id, int64_t version, const char *text, const char *principal,
                     int64_t now_ms, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_NOTE_PUT);

    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":version", version);
    stmt_text(&stmt, ":text", text);
    stmt_text(&stmt, ":principal", principal);
    stmt_int(&stmt, ":changed", now_ms);
    return stmt_run(&stmt, err, "storing a note");
}

/* 1, 0 or -1 */
static int run_has_row(struct store *store, int64_t run_id, int64_t unit, const char *state, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_ROW_EXISTS);
    int rc;

    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":unit", unit);
    stmt_text(&stmt, ":state", state);
    rc = stmt_step(&stmt, err, "looking up a row");
    stmt_end(&stmt);
    return rc;
}

static int accept(struct store *store, int64_t run_id, const struct store_accepted *accepted, struct rl_err *err)
{
    static const char *const kinds[] = {"kernel", "ceiling"};
    struct stmt stmt;
    int64_t unit = 0;
    int has = 0;

    for (int i = 0; has == 0 && i < 2; i++) {
        has = store_unit_find(store, accepted->kernel, kinds[i], &unit, err);
        if (has == 1)
            has = run_has_row(store, run_id, unit, accepted->state, err);
    }
    if (has < 0)
        return -1;
    if (has == 0)
        return rl_fail(err, RL_E_BAD_FIELD, "accepted", "run %lld has no row \"%.100s\" %.20s to accept",
                       (long long)run_id, accepted->kernel, accepted->state);
    stmt = stmt_start(store, STMT_ACCEPTED_ADD);
    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":unit", unit);
    stmt_text(&stmt, ":state", accepted->state);
    return stmt_run(&stmt, err, "storing an accepted change");
}

static int check_note(const struct store_note_new *note, struct rl_err *err)
{
    size_t length = strlen(note->text);

    if (length > STORE_NOTE_MAX_BYTES)
        return rl_fail(err, RL_E_TOO_LARGE, "text", "the note has %zu bytes and %d are kept", length,
                       STORE_NOTE_MAX_BYTES);
    if (!rl_utf8_valid(note->text, length))
        return rl_fail(err, RL_E_BAD_FIELD, "text", "the note is not UTF-8");
    for (size_t i = 0; i < length; i++) {
        unsigned control = rl_utf8_control_of_lines(note->text + i, length - i);
        if (control != 0)
            return rl_fail(err, RL_E_BAD_FIELD, "text",
                           "the note has the control character U+%04X at byte %zu: only line feed and tab are kept",
                           control, i);
    }
    if (note->accepted_count > STORE_ACCEPTED_MAX)
        return rl_fail(err, RL_E_BAD_FIELD, "accepted", "%zu changes are accepted and %d is the limit",
                       note->accepted_count, STORE_ACCEPTED_MAX);
    return 0;
}

/* Inside a transaction. */
static int put_note(struct store *store, const struct store_note_new *note, int64_t *ret_version, struct rl_err *err)
{
    struct stmt stmt;
    int64_t version = 0;

    if (store_check_run(store, note->run_id, err) < 0 || note_version(store, note->run_id, &version, err) < 0)
        return -1;
    if (note->if_version >= 0 && note->if_version != version)
        return rl_fail(err, RL_E_CONFLICT, NULL, "the note of run %lld has version %lld, not %lld",
                       (long long)note->run_id, (long long)version, (long long)note->if_version);
    if (store_write_note(store, note->run_id, version + 1, note->text, note->principal, note->now_ms, err) < 0)
        return -1;
    stmt = stmt_start(store, STMT_ACCEPTED_CLEAR);
    stmt_int(&stmt, ":id", note->run_id);
    if (stmt_run(&stmt, err, "clearing accepted changes") < 0)
        return -1;
    for (size_t i = 0; i < note->accepted_count; i++) {
        if (accept(store, note->run_id, &note->accepted[i], err) < 0)
            return -1;
    }
    *ret_version = version + 1;
    return 0;
}

int store_note_put(struct store *store, const struct store_note_new *note, int64_t *ret_version, struct rl_err *err)
{
    int64_t version = 0;

    if (check_note(note, err) < 0 || store_begin(store, err) < 0)
        return -1;
    if (store_end(store, put_note(store, note, &version, err), err) < 0)
        return -1;
    *ret_version = version;
    return 0;
}

static int put_accepted_list(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_ACCEPTED_LIST);
    const char *between = "";
    int rc;

    stmt_int(&stmt, ":id", run_id);
    while ((rc = stmt_step(&stmt, err, "reading accepted changes")) == 1) {
        rl_buf_printf(out, "%s{\"kernel\":", between);
        json_put_text(out, (const char *)sqlite3_column_text(stmt.handle, 0));
        rl_buf_printf(out, ",\"state\":\"%s\"}", (const char *)sqlite3_column_text(stmt.handle, 1));
        between = ",";
    }
    stmt_end(&stmt);
    return rc;
}

int store_note_json(struct store *store, int64_t run_id, struct rl_buf *out, int64_t *ret_version, struct rl_err *err)
{
    size_t length = out->len;
    int64_t version = 0;
    struct stmt stmt;
    int rc;

    if (store_check_run(store, run_id, err) < 0)
        return -1;
    rl_buf_printf(out, "{\"run\":\"%lld\"", (long long)run_id);
    stmt = stmt_start(store, STMT_NOTE_GET);
    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading a note");
    if (rc == 1) {
        version = sqlite3_column_int64(stmt.handle, 0);
        rl_buf_printf(out, ",\"version\":%lld,\"text\":", (long long)version);
        json_put_text(out, (const char *)sqlite3_column_text(stmt.handle, 1));
        rl_buf_puts(out, ",\"principal\":");
        json_put_text(out, (const char *)sqlite3_column_text(stmt.handle, 2));
        rl_buf_puts(out, ",\"changed_at\":");
        json_put_time(out, sqlite3_column_int64(stmt.handle, 3));
        rl_buf_puts(out, ",\"why\":{}");
    } else if (rc == 0) {
        rl_buf_puts(out, ",\"version\":0,\"text\":\"\",\"principal\":null,\"changed_at\":null,\"why\":{\"principal\":"
                         "\"nobody wrote a note\",\"changed_at\":\"nobody wrote a note\"}");
    }
    stmt_end(&stmt);
    if (rc >= 0) {
        rl_buf_puts(out, ",\"accepted\":[");
        rc = put_accepted_list(store, run_id, out, err);
        rl_buf_puts(out, "]}");
    }
    rc = store_finish_text(out, length, rc, err);
    if (rc == 0)
        *ret_version = version;
    return rc;
}
