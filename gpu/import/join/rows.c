/* Rows of groups of launches. */
#include "gpu/import/join/rows.h"

#include <string.h>

#include "gpu/import/common/rows.h"
#include "kernels/unit/catalogue.h"

static bool only_group_of(const struct import_table *table, const char *id)
{
    size_t found = 0;
    for (size_t i = 0; i < table->group_count; i++)
        found += strcmp(table->groups[i].base, id) == 0;
    return found == 1;
}

/* The catalogue's id where the function has its name and one shape, else the name as given, with its shape where one
 * name has several. NULL when memory ran out. */
static const char *row_name(struct import *import, const struct import_table *table, const struct import_group *group)
{
    const struct rl_unit *unit = rl_unit_find(group->base);
    size_t same = 0;
    if (unit != NULL && unit->kind == RL_UNIT_KERNEL && only_group_of(table, group->base))
        return unit->id;
    for (size_t i = 0; i < table->group_count; i++)
        same += strcmp(table->groups[i].name, group->name) == 0;
    return same == 1 ? rl_arena_strdup(import->run->arena, group->name)
                     : import_shape_name(import, group->name, group->grid, group->block);
}

int import_rows_of(struct import *import, const struct import_table *table, struct import_group **groups, size_t count)
{
    struct rl_run *run = import->run;
    const char *kind = table->groups[0].first != NULL ? "ncu" : "timings";
    if (count > IMPORT_ROWS_MAX)
        return rl_fail(import->err, RL_E_TOO_LARGE, kind,
                       "%s: has %zu kernels (by name, grid and block); at most %u make a run: profile fewer with "
                       "--kernel-name, or name those wanted by timings",
                       table->name, count, IMPORT_ROWS_MAX);
    run->rows = rl_arena_array(run->arena, count, sizeof *run->rows);
    if (run->rows == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, kind, "no memory for %zu kernels", count);
    for (size_t i = 0; i < count; i++) {
        struct rl_row *row = &run->rows[i];
        import_blank_row(row, "the imported files do not say");
        row->kernel = row_name(import, table, groups[i]);
        const struct rl_unit *unit = row->kernel != NULL ? rl_unit_find(row->kernel) : NULL;
        row->title = unit != NULL ? unit->title : row->kernel;
        if (row->kernel == NULL)
            return rl_fail(import->err, RL_E_NO_MEMORY, kind, "no memory for the kernels' names");
        if (rl_run_row(run, row->kernel) != NULL)
            return rl_fail(import->err, RL_E_IMPORT_DISAGREES, kind,
                           "%s: two kernels have names that are equal as far as they are kept", table->name);
        run->row_count++;
        groups[i]->used = true;
    }
    import->row_group = groups;
    return 0;
}
