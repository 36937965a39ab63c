/* The draws of a comparison: runs with their narrow rows, as plain structs. */
#include "db/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX_BYTES (64 * 1024 * 1024)
#define ROWS_MAX        4096 /* of one run; imports may bring many */

/* ---- which runs ---- */

static int newest_method(struct store *store, const struct selection *series, int64_t *ret, struct rl_err *err)
{
    int64_t method = 0;

    for (size_t i = 0; i < series->count; i++) {
        struct stmt stmt = stmt_start(store, STMT_DRAW_METHOD);
        int rc;

        stmt_int(&stmt, ":series", series->rows[i]->id);
        rc = stmt_step(&stmt, err, "looking for a method's version");
        if (rc == 1 && sqlite3_column_int64(stmt.handle, 0) > method)
            method = sqlite3_column_int64(stmt.handle, 0);
        stmt_end(&stmt);
        if (rc < 0)
            return -1;
    }
    *ret = method;
    return 0;
}

static bool is_newer(struct place a, struct place b)
{
    return a.date_ms != b.date_ms ? a.date_ms > b.date_ms : a.id > b.id;
}

/* places are the newest so far, newest first. The statement, which is ended, gives a series' runs newest first too:
 * done at the first that has no place. */
static int take_newest(struct stmt *stmt, const struct store_side *side, int limit, struct place *places, int *count,
                       struct rl_err *err)
{
    int rc;

    stmt_int(stmt, ":before", side->before_ms != 0 ? side->before_ms : INT64_MAX);
    stmt_int(stmt, ":limit", limit);
    while ((rc = stmt_step(stmt, err, "looking for draws")) == 1) {
        struct place place = {sqlite3_column_int64(stmt->handle, 0), sqlite3_column_int64(stmt->handle, 1)};
        int at = *count;

        if (*count == limit && !is_newer(place, places[*count - 1]))
            break;
        if (*count < limit)
            ++*count;
        else
            at--;
        for (; at > 0 && is_newer(place, places[at - 1]); at--)
            places[at] = places[at - 1];
        places[at] = place;
    }
    stmt_end(stmt);
    return rc < 0 ? -1 : 0;
}

static void words_of(const struct store_side *side, const char *outcome, const char *ret[SERIES_WORDS])
{
    memset(ret, 0, SERIES_WORDS * sizeof *ret);
    ret[SERIES_DEVICE] = side->device;
    ret[SERIES_DRIVER] = side->driver;
    ret[SERIES_CUDA] = side->cuda;
    ret[SERIES_SUITE] = side->suite != NULL ? side->suite : "verify";
    ret[SERIES_SIZES] = side->sizes;
    ret[SERIES_SOURCE] = side->source;
    ret[SERIES_OUTCOME] = outcome;
}

/* *ret_method: the side's, or 0 when it has no run and asked for none. */
static int find_newest(struct store *store, const struct store_side *side, struct place *places, int *ret_count,
                       int64_t *ret_method, struct rl_err *err)
{
    const char *words[SERIES_WORDS];
    struct selection series;
    int64_t method = side->method_version;
    int rc;

    *ret_count = 0;
    words_of(side, "ok", words);
    if (store_select(store, words, INT64_MIN, side->before_ms != 0 ? side->before_ms : INT64_MAX, &series, err) < 0)
        return -1;
    rc = method != 0 ? 0 : newest_method(store, &series, &method, err);
    for (size_t i = 0; rc == 0 && i < series.count; i++) {
        struct stmt stmt;

        if (*ret_count == side->limit && series.rows[i]->newest_ms < places[*ret_count - 1].date_ms)
            continue;
        stmt = stmt_start(store, STMT_DRAW_NEWEST);
        stmt_int(&stmt, ":series", series.rows[i]->id);
        stmt_int(&stmt, ":method", method);
        stmt_int(&stmt, ":from", INT64_MIN);
        rc = take_newest(&stmt, side, side->limit, places, ret_count, err);
    }
    store_selection_fini(&series);
    *ret_method = method;
    return rc;
}

/* The series' eligible runs of other methods than the side's, a method at a time: there are a few. */
static int take_other_methods(struct store *store, const struct store_side *side, int64_t series, int64_t method,
                              int64_t from_ms, struct place *places, int *count, struct rl_err *err)
{
    for (int64_t below = INT64_MAX;;) {
        struct stmt stmt = stmt_start(store, STMT_DRAW_METHOD_BELOW);
        int rc;

        stmt_int(&stmt, ":series", series);
        stmt_int(&stmt, ":below", below);
        rc = stmt_step(&stmt, err, "looking for a method's version");
        below = rc == 1 ? sqlite3_column_int64(stmt.handle, 0) : below;
        stmt_end(&stmt);
        if (rc != 1)
            return rc;
        if (below == method)
            continue;
        stmt = stmt_start(store, STMT_DRAW_NEWEST);
        stmt_int(&stmt, ":series", series);
        stmt_int(&stmt, ":method", below);
        stmt_int(&stmt, ":from", from_ms);
        if (take_newest(&stmt, side, side->left_out_limit, places, count, err) < 0)
            return -1;
    }
}

/* from_ms: the date of the oldest draw; INT64_MIN when there is room for more. */
static int find_left_out(struct store *store, const struct store_side *side, int64_t method, int64_t from_ms,
                         struct place *places, int *ret_count, struct rl_err *err)
{
    const char *words[SERIES_WORDS];
    struct selection series;
    int rc = 0;

    words_of(side, NULL, words);
    if (store_select(store, words, from_ms, side->before_ms != 0 ? side->before_ms : INT64_MAX, &series, err) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < series.count; i++) {
        struct stmt stmt = stmt_start(store, STMT_DRAW_LEFT_OUT);

        stmt_int(&stmt, ":series", series.rows[i]->id);
        stmt_int(&stmt, ":from", from_ms);
        rc = take_newest(&stmt, side, side->left_out_limit, places, ret_count, err);
        if (rc == 0)
            rc = take_other_methods(store, side, series.rows[i]->id, method, from_ms, places, ret_count, err);
    }
    store_selection_fini(&series);
    return rc;
}

static int check_side(const struct store_side *side, struct rl_err *err)
{
    if (side->runs == NULL) {
        if (side->limit < 1 || side->limit > STORE_DRAWS_MAX)
            return rl_fail(err, RL_E_BAD_FIELD, "limit", "%d runs of a side are asked for; it has to be 1 to %d",
                           side->limit, STORE_DRAWS_MAX);
        if (side->left_out_limit < 0 || side->left_out_limit > STORE_DRAWS_MAX)
            return rl_fail(err, RL_E_BAD_FIELD, "limit", "%d left out runs are asked for; it has to be 0 to %d",
                           side->left_out_limit, STORE_DRAWS_MAX);
        return 0;
    }
    if (side->run_count < 1 || side->run_count > STORE_DRAWS_MAX)
        return rl_fail(err, RL_E_BAD_FIELD, "runs", "%zu runs are named; it has to be 1 to %d", side->run_count,
                       STORE_DRAWS_MAX);
    for (size_t i = 0; i < side->run_count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (side->runs[i] == side->runs[k])
                return rl_fail(err, RL_E_BAD_FIELD, "runs", "run %lld is named twice", (long long)side->runs[i]);
        }
    }
    return 0;
}

/* ---- what is known of them ---- */

static const char *copy(struct rl_arena *arena, struct stmt *stmt, int column, bool *failed)
{
    const char *text = (const char *)sqlite3_column_text(stmt->handle, column), *kept;

    if (text == NULL)
        return NULL;
    kept = rl_arena_strdup(arena, text);
    *failed = *failed || kept == NULL;
    return kept;
}

static double real_at(struct stmt *stmt, int column)
{
    double value =
        sqlite3_column_double(stmt->handle, column); /* of NULL: 0; to ask the type of each takes as long again */

    return value == 0 && sqlite3_column_type(stmt->handle, column) == SQLITE_NULL ? NAN : value;
}

static int64_t int_at(struct stmt *stmt, int column)
{
    int64_t value = sqlite3_column_int64(stmt->handle, column);

    return value == 0 && sqlite3_column_type(stmt->handle, column) == SQLITE_NULL ? -1 : value;
}

static int read_facts(struct store *store, int64_t run_id, struct rl_arena *arena, struct store_draw *ret,
                      struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DRAW_FACTS);
    bool failed = false;
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading a draw");
    if (rc == 1) {
        *ret = (struct store_draw){
            .run_id = run_id,
            .date_ms = sqlite3_column_int64(stmt.handle, 0),
            .device = copy(arena, &stmt, 1, &failed),
            .driver = copy(arena, &stmt, 2, &failed),
            .cuda = copy(arena, &stmt, 3, &failed),
            .suite = copy(arena, &stmt, 4, &failed),
            .sizes = copy(arena, &stmt, 5, &failed),
            .source = copy(arena, &stmt, 6, &failed),
            .counters = copy(arena, &stmt, 7, &failed),
            .outcome = copy(arena, &stmt, 8, &failed),
            .eligible = sqlite3_column_int(stmt.handle, 9) != 0,
            .flags = (unsigned)sqlite3_column_int(stmt.handle, 10),
            .method_version = sqlite3_column_int64(stmt.handle, 11),
            .ecc = (int)int_at(&stmt, 12),
            .mig = copy(arena, &stmt, 13, &failed),
            .power_limit_w = real_at(&stmt, 14),
            .cuda_driver = copy(arena, &stmt, 15, &failed),
            .cubin = copy(arena, &stmt, 16, &failed),
            .build = copy(arena, &stmt, 17, &failed),
            .floor_dram_bytes = real_at(&stmt, 18),
        };
        rc = failed ? rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison") : 1;
    }
    stmt_end(&stmt);
    if (rc == 0)
        return rl_fail(err, RL_E_NOT_FOUND, NULL, "there is no run %lld", (long long)run_id);
    return rc < 0 ? -1 : 0;
}

struct unit {
    int64_t id;
    const char *name; /* in the arena */
    bool ceiling;
};
struct reader { /* of the draws of one side */
    struct store *store;
    struct store_draws draws;
    struct store_draw_row rows[ROWS_MAX]; /* of the run being read */
    struct unit units[ROWS_MAX];          /* met so far: a run's rows mostly are those of the run before */
    size_t unit_count;
};

static int read_unit(struct reader *reader, int64_t id, struct unit *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(reader->store, STMT_UNIT_NAME);
    int rc;

    stmt_int(&stmt, ":id", id);
    rc = stmt_step(&stmt, err, "reading a kernel's name");
    if (rc == 1) {
        *ret = (struct unit){
            .id = id,
            .name = rl_arena_strdup(reader->draws.arena, (const char *)sqlite3_column_text(stmt.handle, 0)),
            .ceiling = strcmp((const char *)sqlite3_column_text(stmt.handle, 1), "ceiling") == 0};
        if (ret->name == NULL)
            rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    } else if (rc == 0) {
        rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "a run's row is of kernel %lld, which is not there",
                     (long long)id);
    }
    stmt_end(&stmt);
    return rc < 0 ? -1 : 0;
}

/* at: of the row in its run, where the unit most likely is. */
static int find_unit(struct reader *reader, int64_t id, size_t at, struct unit *ret, struct rl_err *err)
{
    for (size_t i = 0; i < reader->unit_count; i++) {
        const struct unit *unit = &reader->units[(at + i) % reader->unit_count];

        if (unit->id == id) {
            *ret = *unit;
            return 0;
        }
    }
    if (read_unit(reader, id, ret, err) < 0)
        return -1;
    if (reader->unit_count < ROWS_MAX)
        reader->units[reader->unit_count++] = *ret;
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
    found = (unsigned)sqlite3_column_int(flags->stmt.handle, 2);
    flags->step = stmt_step(&flags->stmt, err, "reading an import's flags");
    return found;
}

/* The columns of DRAW_ROWS. */
static int read_row(struct reader *reader, struct stmt *stmt, size_t at, struct import_flags *flags,
                    struct store_draw_row *ret, struct rl_err *err)
{
    const char *bound = (const char *)sqlite3_column_text(stmt->handle, 12);
    const char *state_name = (const char *)sqlite3_column_text(stmt->handle, 1);
    int64_t unit_id = sqlite3_column_int64(stmt->handle, 0);
    unsigned import_flags = take_import_flags(flags, unit_id, state_name, err);
    enum rl_state state;
    struct unit unit;

    if (flags->step < 0)
        return -1;
    if (store_state_from_name(state_name, &state) < 0)
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "a run's row has an unknown state");
    if (find_unit(reader, unit_id, at, &unit, err) < 0)
        return -1;
    *ret = (struct store_draw_row){
        .unit = unit.name,
        .ceiling = unit.ceiling,
        .state = state,
        .launches = sqlite3_column_int64(stmt->handle, 2),
        .time_s = real_at(stmt, 3),
        .value = real_at(stmt, 4),
        .sm_hz = real_at(stmt, 5),
        .memory_hz = real_at(stmt, 6),
        .ask_bytes = int_at(stmt, 7),
        .dram_bytes = real_at(stmt, 8),
        .settled_bytes = real_at(stmt, 9),
        .dram_per_ask = real_at(stmt, 10),
        .percent_of_ceiling = real_at(stmt, 11),
        .flags = (unsigned)sqlite3_column_int(stmt->handle, 13) + 128 * import_flags,
        .bound = bound == NULL                   ? NULL
                 : strcmp(bound, "memory") == 0  ? "memory"
                 : strcmp(bound, "compute") == 0 ? "compute"
                                                 : "latency",
    };
    return 0;
}

static int read_rows(struct reader *reader, int64_t run_id, bool imported, size_t *ret_count, struct rl_err *err)
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
            rc = read_row(reader, &stmt, count, &flags, &reader->rows[count], err);
        if (rc < 0)
            break;
        count++;
    }
    stmt_end(&stmt);
    stmt_end(&flags.stmt);
    *ret_count = count;
    return rc < 0 || flags.step < 0 ? -1 : 0;
}

static int keep_rows(struct reader *reader, struct store_draw *draw, struct rl_err *err)
{
    struct store_draw_row *rows;
    size_t count;

    if (read_rows(reader, draw->run_id, strcmp(draw->source, "imported") == 0, &count, err) < 0)
        return -1;
    rows = rl_arena_array(reader->draws.arena, count + 1, sizeof *rows);
    if (rows == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    memcpy(rows, reader->rows, count * sizeof *rows);
    draw->rows = rows;
    draw->row_count = count;
    return 0;
}

void store_draws_fini(struct store_draws *draws)
{
    rl_arena_free(draws->arena);
    *draws = (struct store_draws){0};
}

static int read_left_out(struct store *store, const struct store_side *side, int64_t method, int64_t from_ms,
                         struct store_draws *draws, struct rl_err *err)
{
    struct place places[STORE_DRAWS_MAX];
    int count = 0;

    if (side->left_out_limit == 0 || side->runs != NULL)
        return 0;
    if (find_left_out(store, side, method, from_ms, places, &count, err) < 0)
        return -1;
    draws->left_out = rl_arena_array(draws->arena, (size_t)count + 1, sizeof *draws->left_out);
    if (draws->left_out == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    for (int i = 0; i < count; i++) {
        if (read_facts(store, places[i].id, draws->arena, &draws->left_out[i], err) < 0)
            return -1;
        draws->left_out_count++;
    }
    return 0;
}

static int read_draws(struct reader *reader, const struct store_side *side, struct rl_err *err)
{
    struct place places[STORE_DRAWS_MAX];
    struct store_draws *draws = &reader->draws;
    int64_t method = 0;
    int count = 0;

    if (side->runs == NULL && find_newest(reader->store, side, places, &count, &method, err) < 0)
        return -1;
    for (size_t i = 0; side->runs != NULL && i < side->run_count; i++)
        places[count++].id = side->runs[i];
    draws->arena = rl_arena_new(ARENA_MAX_BYTES);
    if (draws->arena != NULL)
        draws->draws = rl_arena_array(draws->arena, (size_t)count + 1, sizeof *draws->draws);
    if (draws->draws == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    for (int i = 0; i < count; i++) {
        struct store_draw *draw = &draws->draws[i];

        if (read_facts(reader->store, places[i].id, draws->arena, draw, err) < 0 || keep_rows(reader, draw, err) < 0)
            return -1;
        draws->count++;
    }
    return read_left_out(reader->store, side, method, count == side->limit ? places[count - 1].date_ms : INT64_MIN,
                         draws, err);
}

int store_history_draws(struct store *store, const struct store_side *side, struct store_draws *ret, struct rl_err *err)
{
    struct reader *reader;
    int rc;

    if (check_side(side, err) < 0)
        return -1;
    reader = malloc(sizeof *reader); /* not zeroed: of its rows and units only a few are used */
    if (reader == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    reader->store = store;
    reader->draws = (struct store_draws){0};
    reader->unit_count = 0;
    rc = store_look(store, err);
    if (rc == 0) {
        rc = read_draws(reader, side, err);
        store_look_end(store);
    }
    if (rc == 0)
        *ret = reader->draws;
    else
        store_draws_fini(&reader->draws);
    free(reader);
    return rc;
}
