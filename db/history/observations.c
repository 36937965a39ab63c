/* The draws of a comparison: runs with their narrow rows, as plain structs. */
#include "db/history/observations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/transaction.h"
#include "db/history/observation_rows.h"
#include "db/series/labels.h"
#include "db/series/memory.h"
#include "db/series/place.h"
#include "db/series/select.h"

#define ARENA_MAX_BYTES (64 * 1024 * 1024)

/* ---- which runs ---- */

static bool is_newer(struct store_place a, struct store_place b)
{
    return a.date_ms != b.date_ms ? a.date_ms > b.date_ms : a.id > b.id;
}

/* The newest runs so far, newest first. */
struct newest {
    struct store_place *places;
    int *count;
    int limit;
};

/* false: there is no place for it, nor for any that is older. */
static bool put_place(const struct newest *newest, struct store_place place)
{
    int at = *newest->count;

    if (at == newest->limit && !is_newer(place, newest->places[at - 1]))
        return false;
    if (at < newest->limit)
        ++*newest->count;
    else
        at--;
    for (; at > 0 && is_newer(place, newest->places[at - 1]); at--)
        newest->places[at] = newest->places[at - 1];
    newest->places[at] = place;
    return true;
}

static int64_t before_of(const struct store_side *side)
{
    return side->before_ms != 0 ? side->before_ms : INT64_MAX;
}

/* The statement, which is ended, gives a series' runs newest first too: done at the first that has no place. Withdrawn
 * runs are passed over, so a limit of the statement would cut too early. */
static int take_newest(struct store *store, struct stmt *stmt, const struct store_side *side,
                       const struct newest *newest, struct rl_err *err)
{
    int rc;

    stmt_int(stmt, ":before", before_of(side));
    stmt_int(stmt, ":limit", store->series->withdrawn.count > 0 ? INT64_MAX : newest->limit);
    while ((rc = stmt_step(stmt, err, "looking for draws")) == 1) {
        struct store_place place = {sqlite3_column_int64(stmt->handle, 0), sqlite3_column_int64(stmt->handle, 1)};

        if (!store_is_withdrawn(store, place.id) && !put_place(newest, place))
            break;
    }
    stmt_end(stmt);
    return rc < 0 ? -1 : 0;
}

/* The same of the side's label. draws: the eligible runs of this method (0: of any), else all others. */
static int take_labelled(struct store *store, const struct store_side *side, int64_t series, int64_t method, bool draws,
                         int64_t from_ms, const struct newest *newest, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DRAW_LABELLED);
    int rc;

    stmt_text(&stmt, ":label", side->label);
    stmt_int(&stmt, ":series", series);
    stmt_int(&stmt, ":from", from_ms);
    stmt_int(&stmt, ":before", before_of(side));
    while ((rc = stmt_step(&stmt, err, "looking for draws")) == 1) {
        struct store_place place = {sqlite3_column_int64(stmt.handle, 0), sqlite3_column_int64(stmt.handle, 1)};
        bool is_draw =
            sqlite3_column_int(stmt.handle, 2) != 0 && (method == 0 || sqlite3_column_int64(stmt.handle, 3) == method);

        if (is_draw == draws && !store_is_withdrawn(store, place.id) && !put_place(newest, place))
            break;
    }
    stmt_end(&stmt);
    return rc < 0 ? -1 : 0;
}

static int take_draws(struct store *store, const struct store_side *side, int64_t series, int64_t method,
                      int64_t from_ms, const struct newest *newest, struct rl_err *err)
{
    struct stmt stmt;

    if (side->label != NULL)
        return take_labelled(store, side, series, method, true, from_ms, newest, err);
    stmt = stmt_start(store, STMT_DRAW_NEWEST);
    stmt_int(&stmt, ":series", series);
    stmt_int(&stmt, ":method", method);
    stmt_int(&stmt, ":from", from_ms);
    return take_newest(store, &stmt, side, newest, err);
}

/* The highest method below *method that a run of the series has which may be a draw, into *method: 1, 0, -1. */
static int next_method(struct store *store, int64_t series, int64_t *method, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DRAW_METHOD_BELOW);
    int rc;

    stmt_int(&stmt, ":series", series);
    stmt_int(&stmt, ":below", *method);
    do
        rc = stmt_step(&stmt, err, "looking for a method's version");
    while (rc == 1 && store_is_withdrawn(store, sqlite3_column_int64(stmt.handle, 1)));
    if (rc == 1)
        *method = sqlite3_column_int64(stmt.handle, 0);
    stmt_end(&stmt);
    return rc;
}

/* Whether the side has such a run in the series: 1, 0, -1. */
static int has_method(struct store *store, const struct store_side *side, int64_t series, int64_t method,
                      struct rl_err *err)
{
    struct store_place place;
    int count = 0;

    if (side->label == NULL)
        return 1;
    if (take_labelled(store, side, series, method, true, INT64_MIN, &(struct newest){&place, &count, 1}, err) < 0)
        return -1;
    return count;
}

static int newest_method(struct store *store, const struct store_side *side, const struct selection *series,
                         int64_t *ret, struct rl_err *err)
{
    int64_t newest = 0;

    for (size_t i = 0; i < series->count; i++) {
        int64_t method = INT64_MAX;
        int rc, has = 0;

        while (has == 0 && (rc = next_method(store, series->rows[i]->id, &method, err)) == 1 && method > newest)
            has = has_method(store, side, series->rows[i]->id, method, err);
        if (rc < 0 || has < 0)
            return -1;
        newest = has == 1 ? method : newest;
    }
    *ret = newest;
    return 0;
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
static int find_newest(struct store *store, const struct store_side *side, struct store_place *places, int *ret_count,
                       int64_t *ret_method, struct rl_err *err)
{
    const struct newest newest = {places, ret_count, side->limit};
    const char *words[SERIES_WORDS];
    struct selection series;
    int64_t method = side->method_version;
    int rc;

    *ret_count = 0;
    words_of(side, "ok", words);
    if (store_select(store, words, INT64_MIN, before_of(side), &series, err) < 0)
        return -1;
    rc = method != 0 ? 0 : newest_method(store, side, &series, &method, err);
    for (size_t i = 0; rc == 0 && i < series.count; i++) {
        if (*ret_count == side->limit && series.rows[i]->newest_ms < places[*ret_count - 1].date_ms)
            continue;
        rc = take_draws(store, side, series.rows[i]->id, method, INT64_MIN, &newest, err);
    }
    store_selection_fini(&series);
    *ret_method = method;
    return rc;
}

/* The series' eligible runs of other methods than the side's, a method at a time: there are a few. */
static int take_other_methods(struct store *store, const struct store_side *side, int64_t series, int64_t method,
                              int64_t from_ms, const struct newest *newest, struct rl_err *err)
{
    int64_t below = INT64_MAX;
    int rc;

    while ((rc = next_method(store, series, &below, err)) == 1) {
        if (below != method && take_draws(store, side, series, below, from_ms, newest, err) < 0)
            return -1;
    }
    return rc;
}

static int take_left_out(struct store *store, const struct store_side *side, int64_t series, int64_t method,
                         int64_t from_ms, const struct newest *newest, struct rl_err *err)
{
    struct stmt stmt;

    if (side->label != NULL)
        return take_labelled(store, side, series, method, false, from_ms, newest, err);
    stmt = stmt_start(store, STMT_DRAW_LEFT_OUT);
    stmt_int(&stmt, ":series", series);
    stmt_int(&stmt, ":from", from_ms);
    if (take_newest(store, &stmt, side, newest, err) < 0)
        return -1;
    return take_other_methods(store, side, series, method, from_ms, newest, err);
}

/* Withdrawn runs are left out too, and nothing else looks at them. */
static int take_withdrawn(struct store *store, const struct store_side *side, const struct selection *series,
                          int64_t from_ms, const struct newest *newest, struct rl_err *err)
{
    for (size_t i = 0; i < store->series->withdrawn.count; i++) {
        const struct withdrawn_run *run = &store->series->withdrawn.runs[i];
        int is = 1;

        if (run->date_ms < from_ms || run->date_ms >= before_of(side) ||
            store_selection_find(series, run->series_id) == NULL)
            continue;
        if (side->label != NULL && (is = store_has_label(store, run->run_id, side->label, err)) < 0)
            return -1;
        if (is == 1)
            put_place(newest, (struct store_place){run->date_ms, run->run_id});
    }
    return 0;
}

/* from_ms: the date of the oldest draw; INT64_MIN when there is room for more. */
static int find_left_out(struct store *store, const struct store_side *side, int64_t method, int64_t from_ms,
                         struct store_place *places, int *ret_count, struct rl_err *err)
{
    const struct newest newest = {places, ret_count, side->left_out_limit};
    const char *words[SERIES_WORDS];
    struct selection series;
    int rc = 0;

    words_of(side, NULL, words);
    if (store_select(store, words, from_ms, before_of(side), &series, err) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < series.count; i++)
        rc = take_left_out(store, side, series.rows[i]->id, method, from_ms, &newest, err);
    if (rc == 0)
        rc = take_withdrawn(store, side, &series, from_ms, &newest, err);
    store_selection_fini(&series);
    return rc;
}

static int check_side(const struct store_side *side, struct rl_err *err)
{
    if (side->kernel_count > STORE_OBSERVATION_KERNELS_MAX)
        return rl_fail(err, RL_E_BAD_FIELD, "kernel", "%zu kernels are named; it has to be at most %d",
                       side->kernel_count, STORE_OBSERVATION_KERNELS_MAX);
    if (side->runs == NULL) {
        if (side->limit < 1 || side->limit > STORE_OBSERVATIONS_MAX)
            return rl_fail(err, RL_E_BAD_FIELD, "limit", "%d runs of a side are asked for; it has to be 1 to %d",
                           side->limit, STORE_OBSERVATIONS_MAX);
        if (side->left_out_limit < 0 || side->left_out_limit > STORE_OBSERVATIONS_MAX)
            return rl_fail(err, RL_E_BAD_FIELD, "limit", "%d left out runs are asked for; it has to be 0 to %d",
                           side->left_out_limit, STORE_OBSERVATIONS_MAX);
        return 0;
    }
    if (side->run_count < 1 || side->run_count > STORE_OBSERVATIONS_MAX)
        return rl_fail(err, RL_E_BAD_FIELD, "runs", "%zu runs are named; it has to be 1 to %d", side->run_count,
                       STORE_OBSERVATIONS_MAX);
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

static int read_facts(struct store *store, int64_t run_id, struct rl_arena *arena, struct store_observation *ret,
                      struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DRAW_FACTS);
    bool failed = false;
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading a draw");
    if (rc == 1) {
        *ret = (struct store_observation){
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
            .withdrawn = store_is_withdrawn(store, run_id),
            .flags = (unsigned)sqlite3_column_int(stmt.handle, 10),
            .method_version = sqlite3_column_int64(stmt.handle, 11),
            .ecc = (int)observation_int_at(&stmt, 12),
            .mig = copy(arena, &stmt, 13, &failed),
            .power_limit_w = observation_real_at(&stmt, 14),
            .cuda_driver = copy(arena, &stmt, 15, &failed),
            .cubin = copy(arena, &stmt, 16, &failed),
            .build = copy(arena, &stmt, 17, &failed),
            .floor_dram_bytes = observation_real_at(&stmt, 18),
        };
        rc = failed ? rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison") : 1;
    }
    stmt_end(&stmt);
    if (rc == 0)
        return rl_fail(err, RL_E_RUN_NOT_FOUND, NULL, "there is no run %lld", (long long)run_id);
    return rc < 0 ? -1 : 0;
}

void store_observations_fini(struct store_observations *draws)
{
    rl_arena_free(draws->arena);
    *draws = (struct store_observations){0};
}

static int read_left_out(struct store *store, const struct store_side *side, int64_t method, int64_t from_ms,
                         struct store_observations *draws, struct rl_err *err)
{
    struct store_place places[STORE_OBSERVATIONS_MAX];
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

/* The runs' rows, until there are more than the side's limit. */
static int keep_draw(struct store *store, const struct store_side *side, int64_t run_id,
                     struct observation_reader *reader, struct store_observations *draws, bool *ret_full,
                     struct rl_err *err)
{
    struct store_observation *draw = &draws->draws[draws->count];
    size_t weight;

    if (read_facts(store, run_id, draws->arena, draw, err) < 0 || store_read_observation_rows(reader, draw, err) < 0)
        return -1;
    weight = draws->row_count + draw->row_count + store_observation_name_bytes(reader) / STORE_OBSERVATION_NAME_BYTES;
    *ret_full = side->rows_max != 0 && weight > side->rows_max;
    if (*ret_full && !side->fewer_runs)
        return rl_fail(err, RL_E_TOO_LARGE, NULL,
                       "%zu of the runs have more than %zu rows together (names count as a row for every %d bytes): "
                       "compare fewer runs, or some kernels of them",
                       draws->count + 1, side->rows_max, STORE_OBSERVATION_NAME_BYTES);
    if (!*ret_full) {
        draws->row_count += draw->row_count;
        draws->count++;
    }
    return 0;
}

static int read_draws(struct store *store, const struct store_side *side, struct observation_reader *reader,
                      struct store_observations *draws, struct rl_err *err)
{
    struct store_place places[STORE_OBSERVATIONS_MAX];
    int64_t method = 0;
    bool full = false;
    int count = 0;

    if (side->runs == NULL && find_newest(store, side, places, &count, &method, err) < 0)
        return -1;
    for (size_t i = 0; side->runs != NULL && i < side->run_count; i++)
        places[count++].id = side->runs[i];
    draws->draws = rl_arena_array(draws->arena, (size_t)count + 1, sizeof *draws->draws);
    if (draws->draws == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    for (int i = 0; i < count && !full; i++) {
        if (keep_draw(store, side, places[i].id, reader, draws, &full, err) < 0)
            return -1;
    }
    return read_left_out(store, side, method, count == side->limit ? places[count - 1].date_ms : INT64_MIN, draws, err);
}

int store_history_observations(struct store *store, const struct store_side *side, struct store_observations *ret,
                               struct rl_err *err)
{
    struct store_observations draws = {.arena = NULL};
    struct observation_reader *reader = NULL;
    int rc;

    if (check_side(side, err) < 0)
        return -1;
    if (store->series->stale && store_load_series(store, err) < 0) /* of named runs nobody else looks */
        return -1;
    draws.arena = rl_arena_new(ARENA_MAX_BYTES);
    if (draws.arena == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    rc = store_look(store, err);
    if (rc == 0) {
        rc = store_observation_reader_new(store, side, draws.arena, &reader, err);
        if (rc == 0)
            rc = read_draws(store, side, reader, &draws, err);
        store_observation_reader_free(reader);
        store_look_end(store);
    }
    if (rc == 0)
        *ret = draws;
    else
        store_observations_fini(&draws);
    return rc;
}
