/* Devices: what the last probe of each found. */
#include "db/series/devices.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/core/transaction.h"
#include "db/series/memory.h"
#include "gpu/record/json.h"
#include "gpu/record/json_text.h"

static char *dump(json_t *object)
{
    char *text = rl_json_dumps(object);

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
    store_forget_device_names(store);
    free(identity);
    free(environment);
    return rc;
}

void store_forget_device_names(struct store *store)
{
    for (size_t i = 0; i < store->series->device_name_count; i++)
        free(store->series->device_names[i]);
    free(store->series->device_names);
    store->series->device_names = NULL;
    store->series->device_name_count = 0;
}

static int make_room(struct store *store, uint32_t word, struct rl_err *err)
{
    size_t count = (size_t)word + 1;
    char **names;

    if (word < store->series->device_name_count)
        return 0;
    names = realloc(store->series->device_names, count * sizeof *names);
    if (names == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a device's name");
    memset(names + store->series->device_name_count, 0, (count - store->series->device_name_count) * sizeof *names);
    store->series->device_names = names;
    store->series->device_name_count = count;
    return 0;
}

int store_device_name(struct store *store, uint32_t word, const char **ret, struct rl_err *err)
{
    const char *id = store->series->cache.words.texts[word];
    struct stmt stmt;
    int rc;

    if (make_room(store, word, err) < 0)
        return -1;
    if (store->series->device_names[word] == NULL) {
        stmt = stmt_start(store, STMT_DEVICE_NAME);
        stmt_text(&stmt, ":id", id);
        rc = stmt_step(&stmt, err, "reading a device's name");
        if (rc == 1)
            store->series->device_names[word] = stmt_column_dup(&stmt, 0);
        stmt_end(&stmt);
        if (rc == 0)
            return rl_fail(err, RL_E_NOT_FOUND, "device", "no device \"%.100s\" is known", id);
        if (rc < 0)
            return -1;
        if (store->series->device_names[word] == NULL)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a device's name");
    }
    *ret = store->series->device_names[word];
    return 0;
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

/* The columns of DEVICE_COLUMNS as db/series/devices.h shows a device. */
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
