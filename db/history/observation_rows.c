/* See db/history/observation_rows.h. */
#include "db/history/observation_rows.h"

#include <stdlib.h>
#include <string.h>

#include "db/rows/rollup.h"
#include "db/rows/units.h"
#include "db/rows/work.h"

#define ROWS_MAX 4096 /* of one run; imports may bring many */

struct unit {
    int64_t id;
    const char *name; /* in the arena; NULL: not asked for */
    bool ceiling;
    int64_t work_id, launch_id; /* of the row that was read last: mostly those of the next; 0: none yet */
    struct store_work work;
    struct store_launch launch;
};
struct observation_reader {
    struct store *store;
    struct rl_arena *arena;
    bool some; /* of the kernels, only these are read */
    int64_t asked[STORE_OBSERVATION_KERNELS_MAX];
    size_t asked_count;
    struct store_observation_row rows[ROWS_MAX]; /* of the run being read */
    struct unit beyond;                          /* the last that has no place below */
    struct unit units[ROWS_MAX];                 /* met so far: a run's rows mostly are those of the run before */
    size_t name_bytes;                           /* that were read */
    size_t unit_count, unit_at;                  /* where the last one was found */
};

/* ---- what a row is of ---- */

static bool is_asked(const struct observation_reader *reader, int64_t unit_id)
{
    for (size_t i = 0; i < reader->asked_count; i++)
        if (reader->asked[i] == unit_id)
            return true;
    return !reader->some;
}

static int read_unit(struct observation_reader *reader, int64_t id, struct unit *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(reader->store, STMT_UNIT_NAME);
    int rc;

    stmt_int(&stmt, ":id", id);
    rc = stmt_step(&stmt, err, "reading a kernel's name");
    if (rc == 1) {
        *ret = (struct unit){.id = id,
                             .ceiling = strcmp((const char *)sqlite3_column_text(stmt.handle, 1), "ceiling") == 0};
        if (ret->ceiling || is_asked(reader, id)) {
            ret->name = rl_arena_strdup(reader->arena, (const char *)sqlite3_column_text(stmt.handle, 0));
            if (ret->name == NULL)
                rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
            else
                reader->name_bytes += strlen(ret->name);
        }
    } else if (rc == 0) {
        rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "a run's row is of kernel %lld, which is not there",
                     (long long)id);
    }
    stmt_end(&stmt);
    return rc < 0 ? -1 : 0;
}

/* Rows come by unit: it most likely is that of the row before, or the next one. */
static int find_unit(struct observation_reader *reader, int64_t id, struct unit **ret, struct rl_err *err)
{
    for (size_t i = 0; i < reader->unit_count; i++) {
        size_t at = (reader->unit_at + i) % reader->unit_count;

        if (reader->units[at].id == id) {
            reader->unit_at = at;
            *ret = &reader->units[at];
            return 0;
        }
    }
    *ret = reader->unit_count < ROWS_MAX ? &reader->units[reader->unit_count] : &reader->beyond;
    if (read_unit(reader, id, *ret, err) < 0)
        return -1;
    if (reader->unit_count < ROWS_MAX)
        reader->unit_at = reader->unit_count++;
    return 0;
}

/* The works and launches of a unit are few, and those of the run before mostly. */
static int find_work(struct observation_reader *reader, struct unit *unit, int64_t work_id, int64_t launch_id,
                     struct rl_err *err)
{
    if (work_id != unit->work_id) {
        if (store_work_get(reader->store, work_id, reader->arena, &unit->work, err) < 0)
            return -1;
        unit->work_id = work_id;
        reader->name_bytes += unit->work.dims != NULL ? strlen(unit->work.dims) : 0;
    }
    if (launch_id != unit->launch_id) {
        if (store_launch_get(reader->store, launch_id, reader->arena, &unit->launch, err) < 0)
            return -1;
        unit->launch_id = launch_id;
        reader->name_bytes += unit->launch.function != NULL ? strlen(unit->launch.function) : 0;
    }
    return 0;
}

/* The flags that imports gave a run's rows, read beside these, which come in the same order. */
struct import_flags {
    struct stmt stmt;
    int step; /* of it: 1 stands on a row, 0 is through, -1 failed */
};

static unsigned take_import_flags(struct import_flags *flags, int64_t unit_id, const char *state, struct rl_err *err)
{
    unsigned found;

    if (flags->step != 1 || sqlite3_column_int64(flags->stmt.handle, 0) != unit_id ||
        strcmp((const char *)sqlite3_column_text(flags->stmt.handle, 1), state) != 0)
        return 0;
    found = (unsigned)sqlite3_column_int64(flags->stmt.handle, 2);
    flags->step = stmt_step(&flags->stmt, err, "reading an import's flags");
    return found;
}

/* The columns of DRAW_ROWS. 1; 0: its kernel is not asked for. */
static int read_row(struct observation_reader *reader, struct stmt *stmt, struct import_flags *flags,
                    struct store_observation_row *ret, struct rl_err *err)
{
    const char *bound = (const char *)sqlite3_column_text(stmt->handle, 12);
    const char *state_name = (const char *)sqlite3_column_text(stmt->handle, 1);
    int64_t unit_id = sqlite3_column_int64(stmt->handle, 0);
    unsigned import_flags = take_import_flags(flags, unit_id, state_name, err);
    enum rl_state state;
    struct unit *unit;

    if (flags->step < 0)
        return -1;
    if (store_state_from_name(state_name, &state) < 0)
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "a run's row has an unknown state");
    if (find_unit(reader, unit_id, &unit, err) < 0)
        return -1;
    if (unit->name == NULL)
        return 0;
    if (find_work(reader, unit, sqlite3_column_int64(stmt->handle, 14), sqlite3_column_int64(stmt->handle, 15), err) <
        0)
        return -1;
    *ret = (struct store_observation_row){
        .unit = unit->name,
        .ceiling = unit->ceiling,
        .state = state,
        .launches = sqlite3_column_int64(stmt->handle, 2),
        .time_s = observation_real_at(stmt, 3),
        .value = observation_real_at(stmt, 4),
        .sm_hz = observation_real_at(stmt, 5),
        .memory_hz = observation_real_at(stmt, 6),
        .ask_bytes = observation_int_at(stmt, 7),
        .dram_bytes = observation_real_at(stmt, 8),
        .settled_bytes = observation_real_at(stmt, 9),
        .dram_per_ask = observation_real_at(stmt, 10),
        .percent_of_ceiling = observation_real_at(stmt, 11),
        .flags = (unsigned)sqlite3_column_int(stmt->handle, 13) | import_flags << IMPORT_FLAGS_AT,
        .bound = bound == NULL                   ? NULL
                 : strcmp(bound, "memory") == 0  ? "memory"
                 : strcmp(bound, "compute") == 0 ? "compute"
                                                 : "latency",
        .work = unit->work,
        .launch = unit->launch,
    };
    return 1;
}

static int read_rows(struct observation_reader *reader, int64_t run_id, bool imported, size_t *ret_count,
                     struct rl_err *err)
{
    struct stmt stmt = stmt_start(reader->store, STMT_DRAW_ROWS);
    struct import_flags flags = {.stmt = stmt_start(reader->store, STMT_DRAW_IMPORT_FLAGS)};
    size_t count = 0;
    int rc = 0;

    stmt_int(&flags.stmt, ":id", run_id);
    if (imported)
        flags.step = stmt_step(&flags.stmt, err, "reading an import's flags");
    stmt_int(&stmt, ":id", run_id);
    while (flags.step >= 0 && (rc = stmt_step(&stmt, err, "reading a draw's rows")) == 1) {
        if (count == ROWS_MAX)
            rc = rl_fail(err, RL_E_TOO_LARGE, NULL, "run %lld has more than %d rows: too many to compare",
                         (long long)run_id, ROWS_MAX);
        else
            rc = read_row(reader, &stmt, &flags, &reader->rows[count], err);
        if (rc < 0)
            break;
        count += (size_t)rc;
    }
    stmt_end(&stmt);
    stmt_end(&flags.stmt);
    *ret_count = count;
    return rc < 0 || flags.step < 0 ? -1 : 0;
}

int store_read_observation_rows(struct observation_reader *reader, struct store_observation *draw, struct rl_err *err)
{
    struct store_observation_row *rows;
    size_t count;

    if (read_rows(reader, draw->run_id, strcmp(draw->source, "imported") == 0, &count, err) < 0)
        return -1;
    rows = rl_arena_array(reader->arena, count + 1, sizeof *rows);
    if (rows == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    memcpy(rows, reader->rows, count * sizeof *rows);
    draw->rows = rows;
    draw->row_count = count;
    return 0;
}

/* ---- of a side ---- */

static int ask(struct observation_reader *reader, const char *kernel, struct rl_err *err)
{
    int rc = store_unit_find(reader->store, kernel, "kernel", &reader->asked[reader->asked_count], err);

    if (rc == 0)
        return rl_fail(err, RL_E_NOT_FOUND, "kernel", "no run has a kernel '%.128s'", kernel);
    reader->asked_count++;
    return rc < 0 ? -1 : 0;
}

int store_observation_reader_new(struct store *store, const struct store_side *side, struct rl_arena *arena,
                                 struct observation_reader **ret, struct rl_err *err)
{
    struct observation_reader *reader =
        malloc(sizeof *reader); /* not zeroed: of its rows and units only a few are used */

    if (reader == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    reader->store = store;
    reader->arena = arena;
    reader->some = side->kernel_count > 0;
    reader->name_bytes = 0;
    reader->asked_count = reader->unit_count = reader->unit_at = 0;
    for (size_t i = 0; i < side->kernel_count; i++) {
        if (ask(reader, side->kernels[i], err) < 0) {
            free(reader);
            return -1;
        }
    }
    *ret = reader;
    return 0;
}

size_t store_observation_name_bytes(const struct observation_reader *reader)
{
    return reader->name_bytes;
}

void store_observation_reader_free(struct observation_reader *reader)
{
    free(reader);
}
