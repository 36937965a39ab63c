/* Plain timing lines: one object a kernel, or a ceiling. */
#include "gpu/import/timings/plain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/import/common/rows.h"
#include "gpu/import/text/json.h"
#include "gpu/import/timings/members.h"
#include "kernels/unit/catalogue.h"

#define CEILINGS_MAX 32u /* of one run; as gpu/record takes them */

/* Ceilings that are none of the catalogue's: of other precisions, and of other levels. */
static const struct {
    const char *name;
    bool memory, states; /* states: it has a cold form of its own */
} other_ceilings[] = {
    {"fp64_fma", false, false},    {"fp16_fma", false, false},    {"bf16_fma", false, false},
    {"tensor_fp64", false, false}, {"tensor_tf32", false, false}, {"tensor_fp16", false, false},
    {"tensor_bf16", false, false}, {"tensor_fp8", false, false},  {"tensor_int8", false, false},
    {"dram_read", true, true},     {"dram_write", true, true},    {"dram_triad", true, true},
    {"l2_read", true, false},      {"l1_read", true, false},
};

static int no_memory(struct import *import)
{
    return rl_fail(import->err, RL_E_NO_MEMORY, "timings", "no memory for the timings");
}

static int read_name(struct import_plain *p, const json_t *object, const char *name, const char **ret)
{
    const char *text = NULL;
    if (import_member_text(&p->at, object, name, &text) != 0)
        return -1;
    *ret = rl_arena_strdup(p->import->run->arena, text);
    return *ret != NULL ? 0 : no_memory(p->import);
}

static int check_members(const struct import_plain *p, const json_t *object, const char *const *names)
{
    const char *key;
    json_t *value;
    char quoted[IMPORT_QUOTE];
    json_object_foreach((json_t *)object, key, value)
    {
        size_t i = 0;
        while (names[i] != NULL && strcmp(names[i], key) != 0)
            i++;
        if (names[i] == NULL)
            return import_fail_at(&p->at, RL_E_IMPORT_FORMAT, import_quote(quoted, key),
                                  "is no member of a timing line; kernel, ms, function, grid, block, flop and "
                                  "ask_bytes are, of a ceiling ceiling, byte_per_s, flop_per_s and state");
    }
    return 0;
}

/* ---- lines that say the same ---- */

static bool same_value(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b) && !(json_is_integer(a) && json_is_integer(b)))
        return json_number_value(a) == json_number_value(b); /* 1 and 1.0 */
    return a == b || (a != NULL && b != NULL && json_equal(a, b));
}

/* Whether an earlier line has this key, in all members the same; remembers the first. One that says anything else is
 * an error: whichever was taken, the other would be lost. */
static int seen_before(struct import_plain *p, json_t *earlier, const char *key, const char *name, const json_t *object,
                       const char *const *members, bool *ret)
{
    char quoted[IMPORT_QUOTE], seen[IMPORT_QUOTE] = "missing", other[IMPORT_QUOTE] = "none";
    const json_t *line = json_object_get(earlier, key), *before = json_array_get(line, 1);
    *ret = line != NULL;
    if (line == NULL)
        return json_object_set_new(earlier, key, json_pack("[I, O]", (json_int_t)p->at.line, object)) == 0
                   ? 0
                   : no_memory(p->import);
    for (; *members != NULL; members++) {
        const json_t *mine = json_object_get(object, *members), *its = json_object_get(before, *members);
        if (same_value(mine, its))
            continue;
        if (mine != NULL)
            import_json_seen(mine, seen);
        if (its != NULL)
            import_json_seen(its, other);
        return import_fail_at(&p->at, RL_E_IMPORT_DISAGREES, *members, "is %s for \"%s\", but line %lld has %s", seen,
                              import_quote(quoted, name), (long long)json_integer_value(json_array_get(line, 0)),
                              other);
    }
    return 0;
}

/* ---- kernels ---- */

struct rl_row *import_plain_row(struct import_plain *p)
{
    struct rl_run *run = p->import->run;
    if (run->row_count >= IMPORT_ROWS_MAX) {
        import_fail_at(&p->at, RL_E_TOO_LARGE, NULL, "more than %u kernels; import them in parts", IMPORT_ROWS_MAX);
        return NULL;
    }
    if (run->row_count == p->row_capacity) {
        size_t capacity = p->row_capacity > 0 ? 2 * p->row_capacity : 16;
        struct rl_row *rows = rl_arena_array(run->arena, capacity, sizeof *rows);
        if (rows == NULL) {
            no_memory(p->import);
            return NULL;
        }
        if (run->row_count > 0)
            memcpy(rows, run->rows, run->row_count * sizeof *rows);
        run->rows = rows;
        p->row_capacity = capacity;
    }
    import_blank_row(&run->rows[run->row_count], "the imported files do not say");
    return &run->rows[run->row_count];
}

void import_set_time(struct rl_row_state *s, double seconds, const char *why)
{
    s->present = true;
    s->attempts = 1;
    s->time_s.median = rl_known(seconds);
    s->time_s.p25 = s->time_s.p75 = s->time_s.min = s->time_s.std_error = rl_unknown(why);
    s->time_s.stop = (struct rl_text){NULL, "the import does not say"};
    s->time_s.n = 1;
}

static int read_kernel(struct import_plain *p, const json_t *object, struct rl_row *row)
{
    const char *times = p->import->request->fields.times;
    double ms = 0;
    bool grid, block;
    if (read_name(p, object, "kernel", &row->kernel) != 0 ||
        import_member_real(&p->at, object, "ms", IMPORT_MS_LEAST, IMPORT_MS_MOST, &ms) != 0 ||
        import_member_count(&p->at, object, "flop", &row->flop) != 0 ||
        import_member_count(&p->at, object, "ask_bytes", &row->ask_bytes) != 0 ||
        import_member_dims(&p->at, object, "grid", INT32_MAX, row->launch.grid, &grid) != 0 ||
        import_member_dims(&p->at, object, "block", 1024, row->launch.block, &block) != 0)
        return -1;
    if (grid != block)
        return import_fail_at(&p->at, RL_E_IMPORT_FORMAT, grid ? "block" : "grid",
                              "is missing beside the other: a shape is both");
    if (grid)
        row->launch.dims_why = NULL;
    if (json_object_get(object, "function") != NULL) {
        if (read_name(p, object, "function", &row->import.function.value) != 0)
            return -1;
        row->import.function.why = NULL;
    }
    import_set_time(&row->state[times != NULL && strcmp(times, "cold") == 0 ? RL_COLD : RL_WARM], ms * 1e-3,
                    "one time was imported, without its samples");
    return 0;
}

/* A line with a shape is of that shape alone; beside one without, both would be of all shapes. */
static int kernel_seen(struct import_plain *p, const json_t *object, const struct rl_row *row,
                       const char *const *members, bool *ret)
{
    const char *key = row->launch.dims_why != NULL
                          ? row->kernel
                          : import_shape_name(p->import, row->kernel, row->launch.grid, row->launch.block);
    if (key == NULL)
        return no_memory(p->import);
    const json_t *whole = json_object_get(p->kernels_of, row->kernel);
    bool shaped = row->launch.dims_why == NULL;
    if (whole != NULL && shaped != (json_object_get(json_array_get(whole, 1), "grid") != NULL)) {
        return seen_before(p, p->kernels_of, row->kernel, row->kernel, object, members, ret);
    }
    if (seen_before(p, p->kernels_of, key, row->kernel, object, members, ret) != 0)
        return -1;
    /* so that a later line of the name that says no shape meets this one */
    if (!*ret && shaped && whole == NULL &&
        json_object_set_new(p->kernels_of, row->kernel, json_pack("[I, O]", (json_int_t)p->at.line, object)) != 0)
        return no_memory(p->import);
    return 0;
}

static int add_kernel(struct import_plain *p, const json_t *object)
{
    static const char *const names[] = {"kernel", "ms", "function", "grid", "block", "flop", "ask_bytes", NULL};
    struct rl_row *row = import_plain_row(p);
    bool seen;
    if (row == NULL || check_members(p, object, names) != 0 || read_kernel(p, object, row) != 0 ||
        kernel_seen(p, object, row, names, &seen) != 0)
        return -1;
    p->import->run->row_count += !seen;
    return 0;
}

/* ---- ceilings ---- */

/* What is known of a ceiling's name; false: nothing. */
static bool ceiling_kind(const char *name, bool *ret_memory, bool *ret_states)
{
    const struct rl_unit *unit = rl_unit_find(name);
    if (unit != NULL && unit->kind != RL_UNIT_KERNEL) {
        *ret_memory = *ret_states = unit->kind == RL_UNIT_MEMORY_CEILING;
        return true;
    }
    for (size_t i = 0; i < sizeof other_ceilings / sizeof other_ceilings[0]; i++)
        if (strcmp(other_ceilings[i].name, name) == 0) {
            *ret_memory = other_ceilings[i].memory;
            *ret_states = other_ceilings[i].states;
            return true;
        }
    return false;
}

/* "warm", "cold", or not said: *ret_said false. */
static int read_state(struct import_plain *p, const json_t *object, const char *name, bool states, enum rl_state *ret,
                      bool *ret_said)
{
    const json_t *value = json_object_get(object, "state");
    const char *text = json_string_value(value);
    char seen[IMPORT_QUOTE];
    *ret_said = value != NULL || !states;
    *ret = text != NULL && strcmp(text, "cold") == 0 ? RL_COLD : RL_WARM;
    if (value != NULL && (text == NULL || (strcmp(text, "warm") != 0 && *ret != RL_COLD)))
        return import_fail_at(&p->at, RL_E_IMPORT_FORMAT, "state", "is %s; warm or cold is expected",
                              import_json_seen(value, seen));
    if (*ret == RL_COLD && !states)
        return import_fail_at(&p->at, RL_E_IMPORT_FORMAT, "state",
                              "is \"cold\", but %s has no cold form: it serves both states; leave state out", name);
    return 0;
}

static int read_ceiling(struct import_plain *p, const json_t *object, const char **ret_name, const char **ret_unit,
                        double *ret_value, bool *ret_states)
{
    static const char *const names[] = {"ceiling", "byte_per_s", "flop_per_s", "state", NULL};
    char quoted[IMPORT_QUOTE];
    bool memory;
    if (check_members(p, object, names) != 0 || read_name(p, object, "ceiling", ret_name) != 0)
        return -1;
    if (!ceiling_kind(*ret_name, &memory, ret_states))
        return import_fail_at(&p->at, RL_E_IMPORT_FORMAT, "ceiling",
                              "is \"%s\"; dram_copy, dram_read, dram_write, l2_read, l1_read, fp32_fma, fp64_fma, "
                              "tensor_fp16 or another of gpu/import/IMPORT.md is expected",
                              import_quote(quoted, *ret_name));
    *ret_unit = memory ? "byte_per_s" : "flop_per_s";
    const char *other = memory ? "flop_per_s" : "byte_per_s";
    if (import_member_real(&p->at, object, *ret_unit, 1, 1e21, ret_value) != 0)
        return -1;
    return json_object_get(object, other) == NULL
               ? 0
               : import_fail_at(&p->at, RL_E_IMPORT_FORMAT, other, "is no member of the ceiling %s; %s is", *ret_name,
                                *ret_unit);
}

static int add_ceiling(struct import_plain *p, const json_t *object)
{
    static const char *const members[] = {"ceiling", "byte_per_s", "flop_per_s", NULL};
    struct rl_run *run = p->import->run;
    const char *name = NULL, *unit = NULL;
    double value = 0;
    bool states = false, said, seen;
    enum rl_state state;
    char key[96];
    if (read_ceiling(p, object, &name, &unit, &value, &states) != 0 ||
        read_state(p, object, name, states, &state, &said) != 0)
        return -1;
    snprintf(key, sizeof key, "%s %s", name, said ? rl_state_name(state) : "");
    if (seen_before(p, p->ceilings_of, key, name, object, members, &seen) != 0)
        return -1;
    if (seen)
        return 0;
    if (run->ceilings == NULL &&
        (run->ceilings = rl_arena_array(run->arena, CEILINGS_MAX, sizeof *run->ceilings)) == NULL)
        return no_memory(p->import);
    if (run->ceiling_count == CEILINGS_MAX)
        return import_fail_at(&p->at, RL_E_TOO_LARGE, "ceiling", "is one of more than %u ceilings", CEILINGS_MAX);
    if (!said)
        p->import->stateless |= UINT32_C(1) << run->ceiling_count;
    struct rl_ceiling *ceiling = &run->ceilings[run->ceiling_count++];
    rl_ceiling_unknown(ceiling, "the imported files do not say");
    ceiling->name = name;
    ceiling->state = state;
    ceiling->value = rl_known(value);
    ceiling->unit = unit;
    ceiling->method = "as the imported file gives it";
    return 0;
}

int import_ceilings_state(struct import *import, enum rl_state times)
{
    struct rl_run *run = import->run;
    for (size_t i = 0; i < run->ceiling_count && import->stateless != 0; i++)
        if ((import->stateless & UINT32_C(1) << i) != 0)
            run->ceilings[i].state = times == RL_COLD ? RL_COLD : RL_WARM; /* of a mixed row the times are warm */
    for (size_t i = 0; i < run->ceiling_count && import->stateless != 0; i++)
        if (rl_run_ceiling(run, run->ceilings[i].name, run->ceilings[i].state) != &run->ceilings[i])
            return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "timings",
                           "the ceiling %s is there twice: as %s, and without a state, which is that of the times (%s)",
                           run->ceilings[i].name, rl_state_name(run->ceilings[i].state),
                           rl_state_name(run->ceilings[i].state));
    return 0;
}

/* ---- the file ---- */

int import_plain_begin(struct import_plain *plain, struct import *import, const struct import_file *file)
{
    *plain = (struct import_plain){
        .import = import, .at = {import->err, file, 0}, .kernels_of = json_object(), .ceilings_of = json_object()};
    return plain->kernels_of != NULL && plain->ceilings_of != NULL ? 0 : no_memory(import);
}

void import_plain_end(struct import_plain *plain)
{
    json_decref(plain->kernels_of);
    json_decref(plain->ceilings_of);
}

int import_plain_line(struct import_plain *plain, const json_t *object)
{
    plain->lines++;
    return json_object_get(object, "ceiling") != NULL ? add_ceiling(plain, object) : add_kernel(plain, object);
}

int import_plain_finish(struct import_plain *plain)
{
    struct rl_run *run = plain->import->run;
    bool *several = rl_arena_array(plain->import->arena, run->row_count, sizeof *several);
    if (run->row_count > 0 && several == NULL)
        return no_memory(plain->import);
    for (size_t i = 0; i < run->row_count; i++)
        for (size_t other = 0; other < run->row_count && !several[i]; other++)
            several[i] = other != i && strcmp(run->rows[i].kernel, run->rows[other].kernel) == 0;
    for (size_t i = 0; i < run->row_count; i++) {
        struct rl_row *row = &run->rows[i];
        const struct rl_unit *unit = several[i] ? NULL : rl_unit_find(row->kernel);
        if (several[i] && row->import.function.why != NULL) /* by which its launches are found */
            row->import.function = (struct rl_text){row->kernel, NULL};
        if (several[i])
            row->kernel = import_shape_name(plain->import, row->kernel, row->launch.grid, row->launch.block);
        if (row->kernel == NULL)
            return no_memory(plain->import);
        row->title = unit != NULL ? unit->title : row->kernel;
    }
    for (size_t i = 0; i < run->row_count; i++)
        if (rl_run_row(run, run->rows[i].kernel) != &run->rows[i])
            return rl_fail(plain->import->err, RL_E_IMPORT_DISAGREES, "timings",
                           "two kernels have names that are equal as far as they are kept");
    return 0;
}
