/* See server/answers/observations.h. */
#include "server/answers/observations.h"

#include <math.h>
#include <string.h>

#include "db/history/excluded.h"
#include "db/history/observations.h"
#include "gpu/record/derive/derive.h"

#define ARENA_MAX (64u * 1024u * 1024u)

static const char not_there[] = "the run does not have it";

static struct rl_real real_of(double value)
{
    return isfinite(value) ? rl_known(value) : rl_unknown(not_there);
}

static struct rl_text text_of(const char *value)
{
    return value && *value ? (struct rl_text){value, NULL} : (struct rl_text){NULL, not_there};
}

static enum rl_outcome outcome_of(const char *name)
{
    for (enum rl_outcome outcome = RL_OK; outcome < RL_PARTIAL; outcome++)
        if (!strcmp(rl_outcome_name(outcome), name))
            return outcome;
    return RL_PARTIAL;
}

static enum rl_source source_of(const char *name)
{
    for (enum rl_source source = RL_MEASURED; source < RL_IMPORTED; source++)
        if (!strcmp(rl_source_name(source), name))
            return source;
    return RL_IMPORTED;
}

static struct compare_launch launch_of(const struct store_observation_row *row)
{
    const struct store_launch *launch = &row->launch;
    return (struct compare_launch){launch->grid, launch->block, launch->function, launch->shape};
}

static void put_row(const struct store_observation *draw, const struct store_observation_row *row,
                    struct compare_draw *ret)
{
    bool has_floor = isfinite(draw->floor_dram_bytes) && row->launches > 0;
    *ret = (struct compare_draw){
        .kernel = row->unit,
        .state = row->state,
        .time_s = real_of(row->time_s),
        .sm_hz = real_of(row->sm_hz),
        .memory_hz = real_of(row->memory_hz),
        .dram_bytes = real_of(row->dram_bytes),
        .dram_floor = has_floor ? rl_known(RL_FLOOR_FACTOR * draw->floor_dram_bytes / (double)row->launches)
                                : rl_unknown(not_there),
        .ask_bytes = row->ask_bytes >= 0 ? rl_known((double)row->ask_bytes) : rl_unknown(not_there),
        .bound = row->bound,
        .flags = row->flags,
        .work = row->work,
        .launch = launch_of(row),
    };
}

static int put_rows(const struct store_observation *draw, struct rl_arena *arena, struct compare_run *ret)
{
    struct compare_draw *rows = rl_arena_array(arena, draw->row_count + 1, sizeof(*rows));
    struct compare_ceiling_draw *ceilings = rl_arena_array(arena, draw->row_count + 1, sizeof(*ceilings));
    if (!rows || !ceilings)
        return -1;
    ret->draws = rows;
    ret->ceilings = ceilings;
    for (size_t i = 0; i < draw->row_count; i++) {
        const struct store_observation_row *row = &draw->rows[i];
        if (row->ceiling)
            ceilings[ret->ceiling_count++] = (struct compare_ceiling_draw){row->unit,  row->state, real_of(row->value),
                                                                           row->flags, row->work,  launch_of(row)};
        else
            put_row(draw, row, &rows[ret->draw_count++]);
    }
    return 0;
}

static int put_run(const struct store_observation *draw, struct rl_arena *arena, struct compare_run *ret)
{
    *ret = (struct compare_run){
        .id = rl_arena_printf(arena, "%lld", (long long)draw->run_id),
        .date_ms = draw->date_ms,
        .device = draw->device,
        .suite = draw->suite,
        .sizes = draw->sizes,
        .build = draw->build,
        .method_version = draw->method_version,
        .source = source_of(draw->source),
        .outcome = outcome_of(draw->outcome),
        .shared = (draw->flags & RL_RUN_SHARED) != 0,
        .throttled = (draw->flags & RL_RUN_THROTTLED) != 0,
        .withdrawn = draw->withdrawn,
        .driver_changed = (draw->flags & RL_RUN_DRIVER_CHANGED) != 0,
        .ecc = {draw->ecc == 1, draw->ecc < 0 ? not_there : NULL},
        .mig = text_of(draw->mig),
        .power_limit_w = real_of(draw->power_limit_w),
        .driver_version = text_of(draw->driver),
        .cuda_runtime_version = text_of(draw->cuda),
        .cubin = text_of(draw->cubin),
    };
    return ret->id ? put_rows(draw, arena, ret) : -1;
}

/* What of a driver's runs the question does not take. */
static int put_excluded(struct store *store, const struct store_side *asked, struct compare_loaded *loaded,
                        struct rl_err *err)
{
    struct store_excluded_query query = {.device = asked->device,
                                         .driver = asked->driver,
                                         .cuda = asked->cuda,
                                         .suite = asked->suite ? asked->suite : "verify",
                                         .sizes = asked->sizes,
                                         .source = asked->source,
                                         .label = asked->label,
                                         .cuda_in_side = true,
                                         .without_outcomes = true};
    struct store_excluded *found;
    size_t count;
    if (asked->runs)
        return 0;
    if (store_excluded_find(store, &query, loaded->arena, &found, &count, err))
        return -1;
    struct compare_excluded *excluded = rl_arena_array(loaded->arena, count + 1, sizeof(*excluded));
    if (!excluded)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the runs of a comparison");
    for (size_t i = 0; i < count; i++)
        excluded[i] = (struct compare_excluded){found[i].runs, found[i].at_least, found[i].filters, found[i].ask,
                                                found[i].sentence};
    loaded->side.excluded = excluded;
    loaded->side.excluded_count = count;
    return 0;
}

int compare_load(struct store *store, const struct store_side *asked, const char *label, struct compare_loaded *ret,
                 struct rl_err *err)
{
    struct compare_loaded loaded = {.side = {.label = label, .named = asked->runs != NULL}};
    if (store_history_observations(store, asked, &loaded.draws, err))
        return -1;
    loaded.arena = rl_arena_new(ARENA_MAX);
    size_t count = loaded.draws.count, all = count + loaded.draws.left_out_count;
    struct compare_run *runs = loaded.arena ? rl_arena_array(loaded.arena, all + 1, sizeof(*runs)) : NULL;
    bool good = runs != NULL;
    for (size_t i = 0; good && i < all; i++)
        good = put_run(i < count ? &loaded.draws.draws[i] : &loaded.draws.left_out[i - count], loaded.arena,
                       &runs[i]) == 0;
    if (!good) {
        compare_unload(&loaded);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the runs of a comparison");
    }
    loaded.side.runs = runs;
    loaded.side.run_count = all;
    loaded.side.unread = loaded.draws.left_out_count;
    if (put_excluded(store, asked, &loaded, err)) {
        compare_unload(&loaded);
        return -1;
    }
    *ret = loaded;
    return 0;
}

void compare_unload(struct compare_loaded *loaded)
{
    store_observations_fini(&loaded->draws);
    rl_arena_free(loaded->arena);
    *loaded = (struct compare_loaded){0};
}

/* ---- history ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_number(double a, double b)
{
    return isfinite(a) && isfinite(b) ? fabs(a - b) < 0.05 : isfinite(a) == isfinite(b);
}

/* A power limit is compared as server/compare/compare.h's identity does: to a tenth of a watt. */
static bool same_identity(const struct store_observation *a, const struct store_observation *b)
{
    return a->ecc == b->ecc && same_text(a->mig, b->mig) && same_number(a->power_limit_w, b->power_limit_w);
}

static int64_t group_of(const struct store_observations *draws, size_t index)
{
    const struct store_observation *draw = &draws->draws[index];
    for (size_t i = 0; i < index; i++) {
        const struct store_observation *other = &draws->draws[i];
        if (!strcmp(draw->driver, other->driver) && !strcmp(draw->cuda, other->cuda) &&
            !strcmp(draw->source, other->source) && !strcmp(draw->counters, other->counters))
            return (int64_t)i;
    }
    return (int64_t)index;
}

static struct compare_past *past_of(const struct store_observations *draws, const struct store_observation *like,
                                    struct rl_arena *arena, size_t *ret_count)
{
    size_t most = 1, count = 0;
    for (size_t i = 0; i < draws->count; i++)
        most += draws->draws[i].row_count;
    struct compare_past *past = arena ? rl_arena_array(arena, most, sizeof(*past)) : NULL;
    if (!past)
        return NULL;
    for (size_t i = 0; i < draws->count; i++) {
        const struct store_observation *draw = &draws->draws[i];
        int64_t group = group_of(draws, i);
        for (size_t k = 0; same_identity(draw, like) && k < draw->row_count; k++) {
            const struct store_observation_row *row = &draw->rows[k];
            if (row->flags & RL_ROW_TIME_DERIVED)
                continue;
            past[count] =
                (struct compare_past){row->unit,
                                      row->state,
                                      group,
                                      real_of(row->ceiling ? row->value > 0 ? 1 / row->value : NAN : row->time_s),
                                      real_of(row->dram_bytes),
                                      row->flags,
                                      &row->work};
            count++;
        }
    }
    *ret_count = count;
    return past;
}

int compare_load_history(struct store *store, const struct store_observation *like, const struct store_side *asked,
                         struct compare_loaded_history *ret, struct rl_err *err)
{
    struct compare_loaded_history loaded = {0};
    struct store_side side = *asked;
    side.device = like->device;
    side.sizes = like->sizes;
    side.suite = like->suite;
    side.method_version = like->method_version;
    side.limit = STORE_OBSERVATIONS_MAX;
    if (store_history_observations(store, &side, &loaded.draws, err))
        return -1;
    loaded.arena = rl_arena_new(ARENA_MAX);
    loaded.history.draws = past_of(&loaded.draws, like, loaded.arena, &loaded.history.count);
    if (!loaded.history.draws) {
        compare_unload_history(&loaded);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the history of a comparison");
    }
    *ret = loaded;
    return 0;
}

void compare_unload_history(struct compare_loaded_history *loaded)
{
    store_observations_fini(&loaded->draws);
    rl_arena_free(loaded->arena);
    *loaded = (struct compare_loaded_history){0};
}
