/* Which launches of a counter file are a timing's: by name, and by grid and block where it has them. */
#include "gpu/import/join/match.h"

#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/import/join/left_out.h"
#include "gpu/import/text/message.h"
#include "gpu/import/text/names.h"
#include "gpu/import/text/spelling.h"

/* ---- the launches of one row ---- */

static bool same_dims(const struct import_group *group, const struct rl_row *row)
{
    return row->launch.dims_why != NULL || !group->has_dims ||
           (memcmp(group->grid, row->launch.grid, sizeof group->grid) == 0 &&
            memcmp(group->block, row->launch.block, sizeof group->block) == 0);
}

struct wanted { /* a row's function in the spellings that are compared */
    const char *name, *base, *key;
};

static bool name_fits(const struct import_group *group, const struct wanted *wanted)
{
    return strcmp(group->name, wanted->name) == 0 || strcmp(group->base, wanted->name) == 0 ||
           strcmp(group->base, wanted->base) == 0;
}

static void list_names(const struct import_table *t, char out[256])
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < t->group_count && i < IMPORT_NAMES_LISTED; i++) {
        char quoted[IMPORT_QUOTE];
        int more = snprintf(out + len, 256 - len, "%s%s", i > 0 ? ", " : "", import_quote(quoted, t->groups[i].base));
        if (more < 0 || (size_t)more >= 256 - len) {
            out[len] = '\0';
            break;
        }
        len += (size_t)more;
    }
}

/* Of the groups that a row fits, those that fit better than others: by the whole name as it is, else by what two tools
 * print alike of it. */
struct fits {
    struct import_group *any, *alike, *exact;
    size_t any_count, alike_count, exact_count;
    bool other_shapes;
};

static int look(struct import *import, struct import_table *t, const struct rl_row *row, const struct wanted *wanted,
                struct fits *ret)
{
    for (size_t i = 0; i < t->group_count; i++) {
        struct import_group *group = &t->groups[i];
        if (!name_fits(group, wanted))
            continue;
        if (!same_dims(group, row)) {
            ret->other_shapes = true;
            continue;
        }
        const char *key = import_name_key(import->arena, group->name);
        if (key == NULL)
            return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for the kernels' names");
        ret->any = group;
        ret->any_count++;
        if (strcmp(key, wanted->key) == 0) {
            ret->alike = group;
            ret->alike_count++;
        }
        if (strcmp(group->name, wanted->name) == 0) {
            ret->exact = group;
            ret->exact_count++;
        }
    }
    return 0;
}

/* Why a row that fits none, or several, has no launches; of the import's arena. */
static const char *why_not(struct import *import, const struct import_table *t, const struct rl_row *row,
                           const struct fits *fits)
{
    char names[256], one[IMPORT_QUOTE];
    list_names(t, names);
    import_quote(one, row->kernel);
    if (fits->any_count == 0 && fits->other_shapes)
        return rl_arena_printf(
            import->arena,
            "\"%s\" was launched there with other grids and blocks than (%lld, %lld, %lld)x(%lld, %lld, %lld)", one,
            (long long)row->launch.grid[0], (long long)row->launch.grid[1], (long long)row->launch.grid[2],
            (long long)row->launch.block[0], (long long)row->launch.block[1], (long long)row->launch.block[2]);
    if (fits->any_count == 0)
        return rl_arena_printf(import->arena, "no launch of \"%s\" is there; those that are: %s%s", one, names,
                               t->group_count > IMPORT_NAMES_LISTED ? ", …" : "");
    return rl_arena_printf(import->arena,
                           "\"%s\" fits %zu kernels of %s, which differ in name, grid or block (%s): give a line for "
                           "each, with its \"grid\" and \"block\", or its whole name as \"function\"; or send the "
                           "times of each launch, as a PyTorch trace or nsys stats --report cuda_gpu_trace has them",
                           one, fits->any_count, t->name, names);
}

/* The one group of the row, or NULL and *ret_why. */
static int find_group(struct import *import, struct import_table *t, const struct rl_row *row,
                      struct import_group **ret, const char **ret_why, bool *ret_several)
{
    struct wanted wanted = {.name = row->kernel};
    struct fits fits = {0};
    if (row->import.function.why == NULL && row->import.function.value != NULL)
        wanted.name = row->import.function.value;
    wanted.base = import_base_name(import->arena, wanted.name);
    wanted.key = import_name_key(import->arena, wanted.name);
    if (wanted.base == NULL || wanted.key == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for the kernels' names");
    if (look(import, t, row, &wanted, &fits) != 0)
        return -1;
    *ret = fits.any_count == 1     ? fits.any
           : fits.exact_count == 1 ? fits.exact
           : fits.alike_count == 1 ? fits.alike
                                   : NULL;
    *ret_several = fits.any_count > 0;
    *ret_why = *ret == NULL ? why_not(import, t, row, &fits) : NULL;
    return *ret != NULL || *ret_why != NULL ? 0
                                            : rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a message");
}

/* ---- all rows ---- */

struct missing {
    char names[512];
    size_t count, len;
};

static void add_missing(struct missing *missing, const char *kernel)
{
    char quoted[IMPORT_QUOTE];
    int more = missing->count < IMPORT_NAMES_LISTED
                   ? snprintf(missing->names + missing->len, sizeof missing->names - missing->len, "%s\"%s\"",
                              missing->count > 0 ? ", " : "", import_quote(quoted, kernel))
                   : 0;
    if (more > 0 && (size_t)more < sizeof missing->names - missing->len)
        missing->len += (size_t)more;
    missing->names[missing->len] = '\0';
    missing->count++;
}

/* The first that found none, in whole sentences. */
static int refuse_row(struct import *import, const struct import_table *t, const char *why, bool several)
{
    struct import_source source = {"ncu", t->name, 0, NULL};
    if (several)
        return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "timings", "%s", why);
    return import_fail(import->err, RL_E_IMPORT_MISSING, &source,
                       "%s; \"partial\" (--partial) goes on without kernels that find none", why);
}

int import_match_rows(struct import *import, struct import_table *table)
{
    struct rl_run *run = import->run;
    struct missing missing = {.count = 0};
    size_t kept = 0;
    import->row_group = rl_arena_array(import->arena, run->row_count, sizeof(struct import_group *));
    if (import->row_group == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for the kernels' names");
    for (size_t i = 0; i < run->row_count; i++) {
        struct import_group *group = NULL;
        const char *why = NULL;
        bool several = false;
        if (find_group(import, table, &run->rows[i], &group, &why, &several) != 0)
            return -1;
        if (group == NULL && !import_is_partial(import))
            return refuse_row(import, table, why, several);
        if (group == NULL) {
            add_missing(&missing, run->rows[i].kernel);
            continue;
        }
        if (group->used) {
            char one[IMPORT_QUOTE];
            return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "timings",
                           "\"%s\" and another timing fit the same kernel of %s",
                           import_quote(one, run->rows[i].kernel), table->name);
        }
        group->used = true;
        import->row_group[kept] = group;
        run->rows[kept++] = run->rows[i];
    }
    run->row_count = kept;
    return missing.count == 0 ? 0 : import_left_out(import, missing.names, missing.count, kept == 0);
}
