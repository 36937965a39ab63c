/* See db/rows/work.h. */
#include "db/rows/work.h"

#include <string.h>

#include "db/core/statement.h"

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

static void bind_work(struct stmt *stmt, const struct store_work *work)
{
    stmt_int(stmt, ":flop", work->flop);
    stmt_int(stmt, ":ask", work->ask_bytes);
    stmt_text(stmt, ":dims", or_empty(work->dims));
}

static void bind_launch(struct stmt *stmt, const struct store_launch *launch)
{
    stmt_text(stmt, ":grid", or_empty(launch->grid));
    stmt_text(stmt, ":block", or_empty(launch->block));
    stmt_text(stmt, ":function", or_empty(launch->function));
    stmt_text(stmt, ":shape", or_empty(launch->shape));
}

/* 1 found, 0 not, -1; ends the statement. */
static int take_id(struct stmt *stmt, int64_t *ret_id, struct rl_err *err)
{
    int rc = stmt_step(stmt, err, "looking for a row's work");

    if (rc == 1)
        *ret_id = sqlite3_column_int64(stmt->handle, 0);
    stmt_end(stmt);
    return rc;
}

static int add(struct store *store, struct stmt *stmt, int64_t *ret_id, struct rl_err *err)
{
    if (stmt_run(stmt, err, "storing a row's work") < 0)
        return -1;
    *ret_id = sqlite3_last_insert_rowid(store->db);
    return 0;
}

int store_work_put(struct store *store, const struct store_work *work, int64_t *ret_id, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_WORK_FIND);
    int rc;

    bind_work(&stmt, work);
    rc = take_id(&stmt, ret_id, err);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    stmt = stmt_start(store, STMT_WORK_ADD);
    bind_work(&stmt, work);
    return add(store, &stmt, ret_id, err);
}

int store_launch_put(struct store *store, const struct store_launch *launch, int64_t *ret_id, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_LAUNCH_FIND);
    int rc;

    bind_launch(&stmt, launch);
    rc = take_id(&stmt, ret_id, err);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    stmt = stmt_start(store, STMT_LAUNCH_ADD);
    bind_launch(&stmt, launch);
    return add(store, &stmt, ret_id, err);
}

/* ---- read ---- */

/* The column's text in the arena, NULL when it is null; *failed when memory ran out. */
static const char *kept(struct stmt *stmt, int column, struct rl_arena *arena, bool *failed)
{
    const char *text = (const char *)sqlite3_column_text(stmt->handle, column), *copy;

    if (text == NULL)
        return NULL;
    copy = rl_arena_strdup(arena, text);
    *failed = *failed || copy == NULL;
    return copy;
}

static int64_t int_or_less(struct stmt *stmt, int column)
{
    return sqlite3_column_type(stmt->handle, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(stmt->handle, column);
}

static int end_reading(struct stmt *stmt, int rc, int64_t id, bool failed, struct rl_err *err)
{
    stmt_end(stmt);
    if (rc == 0)
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "a row is of work or launch %lld, which is not there",
                       (long long)id);
    if (failed)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a row's work");
    return rc < 0 ? -1 : 0;
}

int store_work_get(struct store *store, int64_t id, struct rl_arena *arena, struct store_work *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_WORK_GET);
    bool failed = false;
    int rc;

    stmt_int(&stmt, ":id", id);
    rc = stmt_step(&stmt, err, "reading a row's work");
    if (rc == 1)
        *ret = (struct store_work){int_or_less(&stmt, 0), int_or_less(&stmt, 1), kept(&stmt, 2, arena, &failed)};
    return end_reading(&stmt, rc, id, failed, err);
}

int store_launch_get(struct store *store, int64_t id, struct rl_arena *arena, struct store_launch *ret,
                     struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_LAUNCH_GET);
    bool failed = false;
    int rc;

    stmt_int(&stmt, ":id", id);
    rc = stmt_step(&stmt, err, "reading a row's launch");
    if (rc == 1)
        *ret = (struct store_launch){.grid = kept(&stmt, 0, arena, &failed),
                                     .block = kept(&stmt, 1, arena, &failed),
                                     .function = kept(&stmt, 2, arena, &failed),
                                     .shape = kept(&stmt, 3, arena, &failed)};
    return end_reading(&stmt, rc, id, failed, err);
}
