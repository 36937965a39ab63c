/* See db/runs/lend.h. */
#include "db/runs/lend.h"

#include <math.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/rows/units.h"
#include "db/series/devices.h"
#include "db/series/memory.h"
#include "db/series/place.h"
#include "db/series/select.h"
#include "gpu/base/time.h"

static int no_memory(struct rl_err *err)
{
    return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to look for lent roofs");
}

/* ---- which device ---- */

/* *ret: the id of the measured or replayed device that the borrower is of, of arena; NULL when there is none, with
 * *ret_why where that is because several have its name. */
static int find_device(struct store *store, const struct store_borrower *borrower, struct rl_arena *arena,
                       const char **ret, const char **ret_why, struct rl_err *err)
{
    struct stmt stmt;
    int count = 0, rc;

    *ret = NULL;
    if (borrower->has_uuid) {
        *ret = borrower->device;
        return 0;
    }
    if (borrower->name == NULL)
        return 0;
    stmt = stmt_start(store, STMT_DEVICES_NAMED);
    stmt_text(&stmt, ":name", borrower->name);
    while ((rc = stmt_step(&stmt, err, "looking for a device's name")) == 1)
        if (count++ == 0)
            *ret = rl_arena_strdup(arena, (const char *)sqlite3_column_text(stmt.handle, 0));
    stmt_end(&stmt);
    if (rc < 0)
        return -1;
    if (count > 0 && *ret == NULL)
        return no_memory(err);
    if (count > 1) {
        *ret = NULL;
        *ret_why = rl_arena_printf(arena,
                                   "No roofs are lent: %d measured devices are called %.100s. Give the UUID of the one "
                                   "that it was.",
                                   count, borrower->name);
    }
    return 0;
}

/* ---- which run ---- */

struct lender {
    struct store_place place; /* id 0: none */
    const struct series_row *series;
    double power_limit_w; /* NaN: not known */
};

static double real_or_nan(const struct stmt *stmt, int column)
{
    return sqlite3_column_type(stmt->handle, column) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt->handle, column);
}

struct wanted {           /* of the lender */
    double power_limit_w; /* NaN: any */
    bool limit_unknown;   /* instead, one whose limit is not known */
    bool warm, cold;      /* has these copy roofs */
    int64_t copy;         /* their unit */
};

/* 1 found, 0 not, -1. */
static int newest_of_method(struct store *store, const struct series_row *series, int64_t method,
                            const struct wanted *wanted, struct lender *best, struct rl_err *err)
{
    bool any = isnan(wanted->power_limit_w) || wanted->limit_unknown;
    struct stmt stmt = stmt_start(store, STMT_LENDER_NEWEST);
    int rc;

    stmt_int(&stmt, ":series", series->id);
    stmt_int(&stmt, ":method", method);
    stmt_real(&stmt, ":power", any ? rl_unknown("not asked for") : rl_known(wanted->power_limit_w));
    stmt_int(&stmt, ":limit_unknown", wanted->limit_unknown);
    stmt_int(&stmt, ":copy", wanted->copy);
    stmt_int(&stmt, ":warm", wanted->warm);
    stmt_int(&stmt, ":cold", wanted->cold);
    rc = stmt_step(&stmt, err, "looking for a run that lends its roofs");
    if (rc == 1) {
        struct store_place place = {sqlite3_column_int64(stmt.handle, 0), sqlite3_column_int64(stmt.handle, 1)};

        if (best->place.id == 0 || place.date_ms > best->place.date_ms ||
            (place.date_ms == best->place.date_ms && place.id > best->place.id))
            *best = (struct lender){place, series, real_or_nan(&stmt, 2)};
    }
    stmt_end(&stmt);
    return rc;
}

/* Of the highest method that has such a run: a newer one whose runs are withdrawn or without roofs hides none. */
static int newest_of_series(struct store *store, const struct series_row *series, const struct wanted *wanted,
                            struct lender *best, struct rl_err *err)
{
    int64_t method = INT64_MAX;
    int rc;

    do {
        struct stmt stmt = stmt_start(store, STMT_DRAW_METHOD_BELOW);

        stmt_int(&stmt, ":series", series->id);
        stmt_int(&stmt, ":below", method);
        rc = stmt_step(&stmt, err, "looking for a method's version");
        if (rc == 1)
            method = sqlite3_column_int64(stmt.handle, 0);
        stmt_end(&stmt);
        if (rc != 1)
            return rc;
        rc = newest_of_method(store, series, method, wanted, best, err);
    } while (rc == 0);
    return rc < 0 ? -1 : 0;
}

static int newest_of_source(struct store *store, const char *const words[SERIES_WORDS], const struct wanted *wanted,
                            struct lender *ret, struct rl_err *err)
{
    struct selection series;
    int rc = store_select(store, words, INT64_MIN, INT64_MAX, &series, err);

    for (size_t k = 0; rc == 0 && k < series.count; k++)
        rc = newest_of_series(store, series.rows[k], wanted, ret, err);
    store_selection_fini(&series);
    return rc;
}

/* Whose runs lend to those of a source. */
static const char *const lenders_of[][2] = {
    [RL_MEASURED] = {"measured", NULL}, [RL_REPLAYED] = {"replayed", NULL}, [RL_IMPORTED] = {"measured", "replayed"}};

/* Measured runs before replayed ones; of each, those of the same power limit before those whose limit is not known; of
 * those, the ones that have all copy roofs wanted before others. */
static int newest(struct store *store, const char *device, const struct store_borrower *borrower, const char *driver,
                  struct lender *ret, struct rl_err *err)
{
    const char *const *sources = lenders_of[borrower->source];
    const int limits = isnan(borrower->power_limit_w) ? 1 : 2;
    int64_t copy = 0;

    *ret = (struct lender){0};
    if (store_unit_find(store, "dram_copy", "ceiling", &copy, err) < 0)
        return -1;
    for (int i = 0; i < 2 && sources[i] != NULL; i++) {
        const char *words[SERIES_WORDS] = {[SERIES_DEVICE] = device,
                                           [SERIES_DRIVER] = driver,
                                           [SERIES_SUITE] = "verify",
                                           [SERIES_SOURCE] = sources[i],
                                           [SERIES_OUTCOME] = "ok"};

        for (int k = 0; k < limits && ret->place.id == 0; k++) {
            struct wanted wanted = {.power_limit_w = borrower->power_limit_w, .limit_unknown = k == 1, .copy = copy};
            struct lender whole = {0};

            /* Where no run is of this limit, all are looked through: once, and not again for their copy roofs. */
            if (newest_of_source(store, words, &wanted, ret, err) < 0)
                return -1;
            wanted.warm = borrower->warm;
            wanted.cold = borrower->cold;
            if (ret->place.id == 0 || (!wanted.warm && !wanted.cold))
                continue;
            if (newest_of_source(store, words, &wanted, &whole, err) < 0)
                return -1;
            *ret = whole.place.id != 0 ? whole : *ret;
        }
    }
    return 0;
}

/* Whether there is a run of the device, of whatever suite and outcome, that is of a source which lends. */
static int is_measured(struct store *store, const char *device, enum rl_source borrower, bool *ret, struct rl_err *err)
{
    *ret = false;
    for (int i = 0; i < 2 && !*ret && lenders_of[borrower][i] != NULL; i++) {
        const char *words[SERIES_WORDS] = {[SERIES_DEVICE] = device, [SERIES_SOURCE] = lenders_of[borrower][i]};
        struct selection series;

        if (store_select(store, words, INT64_MIN, INT64_MAX, &series, err) < 0)
            return -1;
        *ret = series.count > 0;
        store_selection_fini(&series);
    }
    return 0;
}

/* The run that was asked for by its id. */
static int named(struct store *store, const char *device, const struct store_borrower *borrower, int64_t run,
                 struct lender *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_LENDER_FACTS);
    const struct series_row *series = NULL;
    bool eligible = false;
    int rc;

    stmt_int(&stmt, ":id", run);
    rc = stmt_step(&stmt, err, "looking up a run that lends its roofs");
    if (rc == 1) {
        ret->place = (struct store_place){sqlite3_column_int64(stmt.handle, 0), run};
        eligible = sqlite3_column_int(stmt.handle, 1) != 0;
        series = series_by_id(&store->series->cache, sqlite3_column_int64(stmt.handle, 2));
        ret->power_limit_w = real_or_nan(&stmt, 3);
    }
    stmt_end(&stmt);
    if (rc < 0)
        return -1;
    if (rc == 0 || series == NULL)
        return rl_fail(err, RL_E_RUN_NOT_FOUND, "roofs", "there is no run %lld to lend its roofs", (long long)run);
    ret->series = series;
    if (device == NULL || strcmp(store_series_word(store, series, SERIES_DEVICE), device) != 0)
        return rl_fail(err, RL_E_BAD_FIELD, "roofs", "run %lld is of another device and lends no roofs to this one",
                       (long long)run);
    if (borrower->driver[0] != '\0' && strcmp(store_series_word(store, series, SERIES_DRIVER), borrower->driver) != 0)
        return rl_fail(err, RL_E_BAD_FIELD, "roofs",
                       "run %lld is of driver %.64s and lends no roofs to a run of driver %.64s", (long long)run,
                       store_series_word(store, series, SERIES_DRIVER), borrower->driver);
    if (store_is_withdrawn(store, run))
        return rl_fail(err, RL_E_BAD_FIELD, "roofs", "run %lld lends no roofs: it was withdrawn", (long long)run);
    if (!eligible || strcmp(store_series_word(store, series, SERIES_SOURCE), "imported") == 0)
        return rl_fail(err, RL_E_BAD_FIELD, "roofs",
                       "run %lld lends no roofs: only a run does that was measured here, whole and undisturbed",
                       (long long)run);
    return 0;
}

/* ---- what it lends ---- */

static bool is_bytes(const char *name)
{
    return strncmp(name, "dram_", 5) == 0 || strcmp(name, "l2_read") == 0 || strcmp(name, "l1_read") == 0;
}

#define LENT_MAX 32

static int read_roofs(struct store *store, int64_t run, struct rl_arena *arena, struct rl_lent *ret, struct rl_err *err)
{
    struct stmt stmt;
    int rc;

    ret->ceilings = rl_arena_array(arena, LENT_MAX, sizeof *ret->ceilings);
    if (ret->ceilings == NULL)
        return no_memory(err);
    stmt = stmt_start(store, STMT_LENDER_ROOFS);
    stmt_int(&stmt, ":id", run);
    while ((rc = stmt_step(&stmt, err, "reading the roofs of a run")) == 1) {
        const char *name = (const char *)sqlite3_column_text(stmt.handle, 0);
        struct rl_lent_ceiling one = {.value = rl_known(sqlite3_column_double(stmt.handle, 2))};

        if (name == NULL || ret->ceiling_count == LENT_MAX ||
            store_state_from_name((const char *)sqlite3_column_text(stmt.handle, 1), &one.state) < 0)
            continue;
        one.name = rl_arena_strdup(arena, name);
        one.unit = is_bytes(name) ? "byte_per_s" : "flop_per_s";
        if (one.name == NULL) {
            rc = no_memory(err);
            break;
        }
        ret->ceilings[ret->ceiling_count++] = one;
    }
    stmt_end(&stmt);
    return rc < 0 ? -1 : 0;
}

static int read_date(struct store *store, const struct lender *lender, struct rl_arena *arena, struct rl_lent *ret,
                     struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_RUN_SUMMARY);
    int rc;

    stmt_int(&stmt, ":id", lender->place.id);
    rc = stmt_step(&stmt, err, "reading the date of a run");
    ret->date_ms = lender->place.date_ms;
    ret->recorded_at_ms = rc == 1 ? sqlite3_column_int64(stmt.handle, 2) : 0; /* of NULL: 0 */
    stmt_end(&stmt);
    const char *driver = store_series_word(store, lender->series, SERIES_DRIVER);
    ret->driver = driver[0] != '\0' ? rl_text_copy(arena, driver)
                                    : (struct rl_text){NULL, "the run that lends does not know its driver"};
    ret->run = rl_arena_printf(arena, "%lld", (long long)lender->place.id);
    return rc < 0 ? -1 : ret->run != NULL ? 0 : no_memory(err);
}

/* What is not known to be the same, or is not. */
static const char *limits_words(double borrower_w, double lender_w, struct rl_arena *arena)
{
    if (isnan(borrower_w) || lender_w == borrower_w)
        return "";
    if (isnan(lender_w))
        return " The lender's power limit is not known.";
    return rl_arena_printf(arena, " The lender's power limit is %g W, this run's %g W.", lender_w, borrower_w);
}

static const char *sentence(const struct store_borrower *borrower, const struct lender *lender,
                            const struct rl_lent *lent, struct rl_arena *arena)
{
    const char *limit = limits_words(borrower->power_limit_w, lender->power_limit_w, arena);
    char date[RL_TIME_TEXT], recorded[RL_TIME_TEXT] = "";
    bool replayed = lent->source == RL_REPLAYED, driver = borrower->driver[0] != '\0';
    bool power = !isnan(borrower->power_limit_w);

    if (limit == NULL)
        return NULL;
    rl_time_format(lent->date_ms, date);
    if (lent->recorded_at_ms != 0)
        rl_time_format(lent->recorded_at_ms, recorded);
    return rl_arena_printf(
        arena, "The roofs of run %s (driver %s, %.10s%s%.10s) are lent: it is of the same device by its %s%s.%s%s",
        lent->run, lent->driver.why == NULL ? lent->driver.value : "not known", date,
        replayed ? ", a replay of a recording of " : "", replayed ? recorded : "", borrower->has_uuid ? "UUID" : "name",
        borrower->has_uuid ? "" : ", which no other measured device has",
        driver && power ? ""
        : driver        ? " This run does not state its power limit."
        : power         ? " This run does not state its driver."
                        : " This run states neither its driver nor its power limit.",
        limit);
}

/* *ret NULL: never measured here, and nothing to be said. */
static int why_none(struct store *store, const char *device, const struct store_borrower *borrower,
                    struct rl_arena *arena, const char **ret, struct rl_err *err)
{
    const char *driver = borrower->driver[0] != '\0' ? borrower->driver : NULL;
    struct store_borrower any = *borrower;
    struct lender other = {0};
    bool measured;

    any.power_limit_w = NAN;
    if (newest(store, device, &any, driver, &other, err) < 0)
        return -1;
    if (other.place.id != 0) {
        *ret = "No roofs are lent: this device has been measured here under another power limit.";
        return 0;
    }
    if (newest(store, device, &any, NULL, &other, err) < 0 ||
        is_measured(store, device, borrower->source, &measured, err) < 0)
        return -1;
    if (other.place.id != 0) {
        *ret = rl_arena_printf(arena,
                               "No roofs are lent: this device has been measured here under driver %.64s, not under "
                               "%.64s.",
                               store_series_word(store, other.series, SERIES_DRIVER), borrower->driver);
        return *ret != NULL ? 0 : no_memory(err);
    }
    *ret = measured ? "No roofs are lent: this device has been measured here, but no verification of it that is whole, "
                      "undisturbed and not withdrawn has roofs."
                    : NULL;
    return 0;
}

int store_find_lender(struct store *store, const struct store_borrower *borrower, int64_t run, struct rl_arena *arena,
                      struct rl_lent *ret, const char **ret_why, struct rl_err *err)
{
    const char *driver = borrower->driver[0] != '\0' ? borrower->driver : NULL, *device, *why = NULL;
    struct lender lender = {0};

    *ret = (struct rl_lent){0};
    if (find_device(store, borrower, arena, &device, &why, err) < 0)
        return -1;
    if (store->series->stale && store_load_series(store, err) < 0)
        return -1;
    if (run != 0 ? named(store, device, borrower, run, &lender, err) < 0
                 : device != NULL && newest(store, device, borrower, driver, &lender, err) < 0)
        return -1;
    if (lender.place.id != 0) {
        ret->source =
            strcmp(store_series_word(store, lender.series, SERIES_SOURCE), "replayed") == 0 ? RL_REPLAYED : RL_MEASURED;
        ret->device_by = borrower->has_uuid ? "uuid" : "name";
        if (read_roofs(store, lender.place.id, arena, ret, err) < 0 || read_date(store, &lender, arena, ret, err) < 0)
            return -1;
        if (ret->ceiling_count == 0) /* the newest has some, one that is named may have none */
            return rl_fail(err, RL_E_BAD_FIELD, "roofs", "run %lld lends no roofs: it has none",
                           (long long)lender.place.id);
        ret->sentence = sentence(borrower, &lender, ret, arena);
        ret->present = true;
        if (ret->sentence == NULL)
            return no_memory(err);
    } else if (device != NULL && why_none(store, device, borrower, arena, &why, err) < 0) {
        return -1;
    }
    if (ret_why != NULL)
        *ret_why = why;
    return 0;
}

int store_run_borrower(struct store *store, int64_t run, struct rl_arena *arena, struct store_borrower *ret,
                       struct rl_err *err)
{
    struct stmt stmt;
    const struct series_row *series = NULL;
    const char *name, *source;
    double power_limit_w = NAN;
    int rc;

    if (store->series->stale && store_load_series(store, err) < 0)
        return -1;
    stmt = stmt_start(store, STMT_LENDER_FACTS);
    stmt_int(&stmt, ":id", run);
    rc = stmt_step(&stmt, err, "looking up a run");
    if (rc == 1) {
        series = series_by_id(&store->series->cache, sqlite3_column_int64(stmt.handle, 2));
        power_limit_w = real_or_nan(&stmt, 3);
    }
    stmt_end(&stmt);
    if (rc < 0)
        return -1;
    if (series == NULL)
        return rl_fail(err, RL_E_RUN_NOT_FOUND, NULL, "there is no run %lld", (long long)run);
    if (store_device_name(store, series->words[SERIES_DEVICE], &name, err) < 0)
        return -1;
    source = store_series_word(store, series, SERIES_SOURCE);
    *ret = (struct store_borrower){.device = rl_arena_strdup(arena, store_series_word(store, series, SERIES_DEVICE)),
                                   .name = rl_arena_strdup(arena, name),
                                   .driver = rl_arena_strdup(arena, store_series_word(store, series, SERIES_DRIVER)),
                                   .power_limit_w = power_limit_w,
                                   .source = strcmp(source, "measured") == 0   ? RL_MEASURED
                                             : strcmp(source, "replayed") == 0 ? RL_REPLAYED
                                                                               : RL_IMPORTED};
    if (ret->device == NULL || ret->name == NULL || ret->driver == NULL)
        return no_memory(err);
    stmt = stmt_start(store, STMT_LENDER_STATES);
    stmt_int(&stmt, ":id", run);
    while ((rc = stmt_step(&stmt, err, "reading the states of a run")) == 1) {
        bool cold = strcmp((const char *)sqlite3_column_text(stmt.handle, 0), "cold") == 0;

        ret->cold = ret->cold || cold;
        ret->warm = ret->warm || !cold; /* mixed rows are under the warm roofs */
    }
    stmt_end(&stmt);
    if (rc < 0)
        return -1;
    ret->has_uuid = strspn(ret->device, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(ret->device);
    return 0;
}
