/* The launches of a counter file, each once: rows of one launch find it by its process, id, name and shape. */
#include "gpu/import/ncu/table.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gpu/import/text/message.h"

static int no_memory(const struct import_file *file, struct rl_err *err)
{
    return rl_fail(err, RL_E_NO_MEMORY, import_kind_name(file->kind),
                   "the counter file holds more than fits in the memory of an import");
}

static uint64_t hash_of(const struct import_launch *l)
{
    uint64_t hash = 14695981039346656037u;
    for (const char *c = l->name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    for (const char *c = l->pid; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    hash = (hash ^ (uint64_t)l->id) * 1099511628211u;
    for (int i = 0; i < 3; i++)
        hash = ((hash ^ (uint64_t)l->grid[i]) * 1099511628211u ^ (uint64_t)l->block[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

static bool same_launch(const struct import_launch *a, const struct import_launch *b)
{
    return a->id == b->id && strcmp(a->pid, b->pid) == 0 && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 && strcmp(a->name, b->name) == 0;
}

static int grow_slots(struct import_table *t)
{
    size_t count = t->slot_count > 0 ? 2 * t->slot_count : 1024;
    struct import_launch **slots = rl_arena_array(t->arena, count, sizeof(struct import_launch *));
    if (slots == NULL)
        return -1;
    for (size_t i = 0; i < t->launch_count; i++) {
        size_t at = hash_of(t->launches[i]) & (count - 1);
        while (slots[at] != NULL)
            at = (at + 1) & (count - 1);
        slots[at] = t->launches[i];
    }
    t->slots = slots;
    t->slot_count = count;
    return 0;
}

/* Room for one more in the list; -1 when memory ran out. */
static int grow_list(struct import_table *t)
{
    if (t->launch_count < t->launch_capacity)
        return 0;
    size_t capacity = t->launch_capacity > 0 ? 2 * t->launch_capacity : 256;
    struct import_launch **launches = rl_arena_array(t->arena, capacity, sizeof(struct import_launch *));
    if (launches == NULL)
        return -1;
    if (t->launch_count > 0)
        memcpy(launches, t->launches, t->launch_count * sizeof(struct import_launch *));
    t->launches = launches;
    t->launch_capacity = capacity;
    return 0;
}

int import_table_launch(const struct import_file *file, struct import_table *t, const struct import_launch *made,
                        struct import_launch **ret, struct rl_err *err)
{
    struct import_source source = {import_kind_name(file->kind), file->name, made->line, NULL};
    if (*ret != NULL && same_launch(*ret, made)) /* the rows of a launch mostly follow each other */
        return 0;
    if (2 * (t->launch_count + 1) > t->slot_count && grow_slots(t) != 0)
        return no_memory(file, err);
    size_t at = hash_of(made) & (t->slot_count - 1);
    for (; t->slots[at] != NULL; at = (at + 1) & (t->slot_count - 1))
        if (same_launch(t->slots[at], made)) {
            *ret = t->slots[at];
            return 0;
        }
    if (t->launch_count >= IMPORT_LAUNCHES_MAX)
        return import_fail(err, RL_E_TOO_LARGE, &source,
                           "more than %u launches; profile fewer, or filter by kernel name", IMPORT_LAUNCHES_MAX);
    struct import_launch *launch = rl_arena_alloc(t->arena, sizeof *launch);
    if (launch == NULL || grow_list(t) != 0)
        return no_memory(file, err);
    *launch = *made;
    launch->name = rl_arena_strdup(t->arena, made->name);
    launch->pid = rl_arena_strdup(t->arena, made->pid);
    if (launch->name == NULL || launch->pid == NULL)
        return no_memory(file, err);
    *ret = t->slots[at] = t->launches[t->launch_count++] = launch;
    return 0;
}

void import_table_odd(struct import_table *t, const char *metric, const char *text, size_t line)
{
    for (size_t i = 0; i < t->odd_metrics; i++)
        if (strcmp(t->odd[i].metric, metric) == 0) {
            t->odd[i].count++;
            return;
        }
    if (t->odd_metrics == IMPORT_ODD_SHOWN) {
        t->odd_more++;
        return;
    }
    struct import_odd *odd = &t->odd[t->odd_metrics++];
    char quoted[IMPORT_QUOTE];
    *odd = (struct import_odd){.metric = metric, .line = line, .count = 1};
    snprintf(odd->text, sizeof odd->text, "%s", import_quote(quoted, text));
}
