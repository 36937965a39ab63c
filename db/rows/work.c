/* See db/rows/work.h. Migration 0005 does the same in SQL for the rows that were there before. */
#include "db/rows/work.h"

#include <stdio.h>
#include <string.h>

#include "db/core/statement.h"

/* ---- from a run ---- */

static int64_t known_or_less(struct rl_count count)
{
    return count.why == NULL ? count.value : -1;
}

static const char *known_text(struct rl_text text)
{
    return text.why == NULL && text.value != NULL && text.value[0] != '\0' ? text.value : NULL;
}

static const char *dims_text(const int64_t dims[3], const char *why, char text[LAUNCH_DIMS_TEXT])
{
    if (why != NULL)
        return NULL;
    snprintf(text, LAUNCH_DIMS_TEXT, "%lld x %lld x %lld", (long long)dims[0], (long long)dims[1], (long long)dims[2]);
    return text;
}

void store_work_of_row(const struct rl_row *row, struct store_work *work)
{
    const char *shape = known_text(row->launch.shape);
    /* "grid 65536, block 256" of measured rows is the launch again: their dims follow from name and sizes */
    bool is_launch = shape != NULL && strncmp(shape, "grid ", 5) == 0;

    *work = (struct store_work){known_or_less(row->flop), known_or_less(row->ask_bytes), is_launch ? NULL : shape};
}

void store_launch_of_row(const struct rl_row *row, char grid[LAUNCH_DIMS_TEXT], char block[LAUNCH_DIMS_TEXT],
                         struct store_launch *launch)
{
    *launch = (struct store_launch){.grid = dims_text(row->launch.grid, row->launch.dims_why, grid),
                                    .block = dims_text(row->launch.block, row->launch.dims_why, block),
                                    .function = row->import.present ? known_text(row->import.function) : NULL};
}

void store_work_of_ceiling(const struct rl_ceiling *ceiling, struct store_work *work, struct store_launch *launch)
{
    bool bytes = ceiling->unit != NULL && strcmp(ceiling->unit, "byte_per_s") == 0;
    bool flop = ceiling->unit != NULL && strcmp(ceiling->unit, "flop_per_s") == 0;

    *work = (struct store_work){.flop = flop ? known_or_less(ceiling->work) : -1,
                                .ask_bytes = bytes ? known_or_less(ceiling->work) : -1};
    *launch = (struct store_launch){.shape = known_text(ceiling->shape)};
}

/* ---- stored ---- */

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
