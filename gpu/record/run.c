/* A run's life, its word lists and its names. */
#include "gpu/record/run.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"

/* A decoded document of the protocol's 1 MiB takes well below this: names become struct members. */
#define RUN_ARENA_MAX (32u * 1024u * 1024u)

struct rl_run *rl_run_new(void)
{
    return rl_run_new_of(sizeof(struct rl_run));
}

struct rl_run *rl_run_new_of(size_t size)
{
    struct rl_run *run = calloc(1, size);
    if (run == NULL)
        return NULL;
    run->arena = rl_arena_new(RUN_ARENA_MAX);
    if (run->arena == NULL) {
        free(run);
        return NULL;
    }
    run->record_version = RL_RECORD_VERSION;
    return run;
}

void rl_run_free(struct rl_run *run)
{
    if (run == NULL)
        return;
    rl_arena_free(run->arena);
    free(run);
}

static const struct {
    const char *id, *sentence;
} whys[RL_WHY_COUNT] = {
#define RL_WHY_CODE(name, id, sentence) [RL_WHY_##name] = {id, sentence},
#include "gpu/record/why.def"
#undef RL_WHY_CODE
};

const char *rl_why_sentence(enum rl_why_code code)
{
    return whys[code].sentence;
}

const char *rl_why_id(enum rl_why_code code)
{
    return whys[code].id;
}

enum rl_why_code rl_why_from_id(const char *id)
{
    for (enum rl_why_code code = RL_WHY_NONE + 1; code < RL_WHY_COUNT; code++)
        if (strcmp(whys[code].id, id) == 0)
            return code;
    return RL_WHY_NONE;
}

bool rl_strings_has(const struct rl_strings *list, const char *word)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], word) == 0)
            return true;
    return false;
}

struct rl_text rl_text_copy(struct rl_arena *arena, const char *value)
{
    const char *copy = rl_arena_strdup(arena, value);
    return copy != NULL ? (struct rl_text){copy, NULL} : (struct rl_text){NULL, "memory ran out"};
}

const char *rl_why_copy(struct rl_arena *arena, const char *why)
{
    const char *copy = rl_arena_strdup(arena, why);
    return copy != NULL ? copy : "memory ran out";
}

int rl_strings_add(struct rl_arena *arena, struct rl_strings *list, const char *word)
{
    if (rl_strings_has(list, word))
        return 0;
    /* Lists are a few words long: a new array per word is cheaper than a capacity in every list. */
    const char **items = rl_arena_array(arena, list->count + 1, sizeof *items);
    const char *copy = rl_arena_strdup(arena, word);
    if (items == NULL || copy == NULL)
        return -1;
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof *items);
    items[list->count] = copy;
    list->items = items;
    list->count++;
    return 0;
}

const char *rl_state_name(enum rl_state state)
{
    return state == RL_COLD ? "cold" : state == RL_MIXED ? "mixed" : "warm";
}

const char *rl_source_name(enum rl_source source)
{
    static const char *const names[] = {
        [RL_MEASURED] = "measured", [RL_REPLAYED] = "replayed", [RL_IMPORTED] = "imported"};
    return names[source];
}

const char *rl_outcome_name(enum rl_outcome outcome)
{
    static const char *const names[] = {[RL_OK] = "ok", [RL_REFUSED] = "refused", [RL_PARTIAL] = "partial"};
    return names[outcome];
}

struct rl_row *rl_run_row(const struct rl_run *run, const char *kernel)
{
    for (size_t i = 0; i < run->row_count; i++)
        if (strcmp(run->rows[i].kernel, kernel) == 0)
            return &run->rows[i];
    return NULL;
}

struct rl_ceiling *rl_run_ceiling(const struct rl_run *run, const char *name, enum rl_state state)
{
    for (size_t i = 0; i < run->ceiling_count; i++)
        if (run->ceilings[i].state == state && strcmp(run->ceilings[i].name, name) == 0)
            return &run->ceilings[i];
    return NULL;
}

const struct rl_check *rl_run_refused_by(const struct rl_run *run)
{
    for (size_t i = 0; i < run->check_count; i++) {
        const struct rl_check *check = &run->checks[i];
        if (check->refuses && check->passed.why == NULL && !check->passed.value)
            return check;
    }
    return NULL;
}

bool rl_kernel_name_valid(const char *name)
{
    return rl_utf8_is_line(name);
}

bool rl_device_id_valid(const struct rl_device *device)
{
    if (device->uuid.why == NULL)
        return strcmp(device->id, device->uuid.value) == 0;
    return device->id[0] != '\0' && strspn(device->id, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(device->id);
}
