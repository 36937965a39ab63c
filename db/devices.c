/* Devices: what the last probe of each found. */
#include "db/store_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "record/record_json.h"

static char *dump(json_t *object)
{
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;

    json_decref(object);
    return text;
}

int store_write_device(struct store *store, const struct store_device *device, struct rl_err *err)
{
    char *identity = dump(rl_device_to_json(device->device));
    char *environment = dump(rl_environment_to_json(device->environment));
    struct stmt stmt;
    int rc;

    if (identity == NULL || environment == NULL) {
        free(identity);
        free(environment);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a device");
    }
    stmt = stmt_start(store, STMT_DEVICE_PUT);
    stmt_text(&stmt, ":id", device->device->id);
    stmt_text(&stmt, ":name", device->device->name);
    stmt_int(&stmt, ":ordinal", device->ordinal);
    stmt_text(&stmt, ":source", rl_source_name(device->source));
    stmt_text(&stmt, ":counters_status", device->counters_status);
    stmt_text(&stmt, ":counters_why", device->counters_why);
    stmt_int(&stmt, ":checked_at_ms", device->checked_at_ms);
    stmt_text(&stmt, ":device", identity);
    stmt_text(&stmt, ":environment", environment);
    rc = stmt_run(&stmt, err, "storing a device");
    free(identity);
    free(environment);
    return rc;
}

int store_put_device(struct store *store, const struct store_device *device, struct rl_err *err)
{
    if (store_begin(store, err) < 0)
        return -1;
    return store_end(store, store_write_device(store, device, err), err);
}

/* 1, 0 or -1 */
int store_device_exists(struct store *store, const char *id, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DEVICE_EXISTS);
    int rc;

    stmt_text(&stmt, ":id", id);
    rc = stmt_step(&stmt, err, "looking up a device");
    stmt_end(&stmt);
    return rc;
}

static void put_column(struct rl_buf *out, struct stmt *stmt, const char *member, int column)
{
    const char *text = (const char *)sqlite3_column_text(stmt->handle, column);

    rl_buf_puts(out, member);
    if (text == NULL)
        rl_buf_puts(out, "null");
    else
        json_put_text(out, text);
}

/* The columns of DEVICE_COLUMNS as store.h shows a device. */
static void put_device(struct rl_buf *out, struct stmt *stmt)
{
    put_column(out, stmt, "{\"id\":", 0);
    put_column(out, stmt, ",\"name\":", 1);
    rl_buf_printf(out, ",\"ordinal\":%lld", (long long)sqlite3_column_int64(stmt->handle, 2));
    put_column(out, stmt, ",\"source\":", 3);
    put_column(out, stmt, ",\"counters\":{\"status\":", 4);
    put_column(out, stmt, ",\"why\":", 5);
    rl_buf_puts(out, "},\"checked_at\":");
    json_put_time(out, sqlite3_column_int64(stmt->handle, 6));
    rl_buf_printf(out, ",\"device\":%s,\"environment\":%s}", (const char *)sqlite3_column_text(stmt->handle, 7),
                  (const char *)sqlite3_column_text(stmt->handle, 8));
}

int store_list_devices(struct store *store, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DEVICE_LIST);
    size_t length = out->len;
    bool first = true;
    int rc;

    rl_buf_puts(out, "{\"items\":[");
    while ((rc = stmt_step(&stmt, err, "listing devices")) == 1) {
        if (!first)
            rl_buf_puts(out, ",");
        first = false;
        put_device(out, &stmt);
    }
    stmt_end(&stmt);
    rl_buf_puts(out, "],\"next\":null}");
    return store_finish_text(out, length, rc, err);
}
