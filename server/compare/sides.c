/* Which runs stand on a side, whether the sides may be compared at all, and what else differs. Rules:
 * server/compare/compare.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "server/compare/internal.h"

/* ---- fields of a run as text ---- */

#define TEXT_MAX 256

/* The field's value as text in `text`, cut at TEXT_MAX, or NULL when it is unknown. */
typedef const char *field_text(const struct compare_run *run, char text[TEXT_MAX]);

static const char *copied(const char *value, char text[TEXT_MAX])
{
    if (value == NULL)
        return NULL;
    size_t length = strlen(value);
    length = length < TEXT_MAX - 1 ? length : TEXT_MAX - 1;
    memcpy(text, value, length);
    text[length] = '\0';
    return text;
}

static const char *known_text(struct rl_text value, char text[TEXT_MAX])
{
    return value.why == NULL ? copied(value.value, text) : NULL;
}

static const char *device_text(const struct compare_run *run, char text[TEXT_MAX])
{
    return copied(run->device, text);
}

static const char *suite_text(const struct compare_run *run, char text[TEXT_MAX])
{
    return copied(run->suite, text);
}

static const char *sizes_text(const struct compare_run *run, char text[TEXT_MAX])
{
    return copied(run->sizes, text);
}

static const char *method_text(const struct compare_run *run, char text[TEXT_MAX])
{
    return rl_format_fixed(text, TEXT_MAX, (double)run->method_version, 0) < 0 ? NULL : text;
}

static const char *ecc_text(const struct compare_run *run, char text[TEXT_MAX])
{
    return run->ecc.why != NULL ? NULL : copied(run->ecc.value ? "on" : "off", text);
}

static const char *mig_text(const struct compare_run *run, char text[TEXT_MAX])
{
    return known_text(run->mig, text);
}

static const char *power_text(const struct compare_run *run, char text[TEXT_MAX])
{
    static const char unit[] = " W";
    double watts = run->power_limit_w.value;
    if (run->power_limit_w.why != NULL ||
        rl_format_fixed(text, TEXT_MAX - sizeof unit, watts, watts == floor(watts) ? 0 : 1) < 0)
        return NULL;
    memcpy(text + strlen(text), unit, sizeof unit);
    return text;
}

static const char *driver_text(const struct compare_run *run, char text[TEXT_MAX])
{
    return known_text(run->driver_version, text);
}

static const char *runtime_text(const struct compare_run *run, char text[TEXT_MAX])
{
    return known_text(run->cuda_runtime_version, text);
}

static const char *cubin_text(const struct compare_run *run, char text[TEXT_MAX])
{
    return known_text(run->cubin, text);
}

static const char *build_text(const struct compare_run *run, char text[TEXT_MAX])
{
    return copied(run->build, text);
}

static const char *source_text(const struct compare_run *run, char text[TEXT_MAX])
{
    return copied(rl_source_name(run->source), text);
}

struct field {
    const char *name, *title, *is;
    field_text *text;
};
static const struct field identity[] = {
    {"device", "the device", "is", device_text},
    {"suite", "the suite", "is", suite_text},
    {"sizes", "the sizes", "are", sizes_text},
    {"method_version", "the version of the method", "is", method_text},
    {"ecc", "ECC", "is", ecc_text},
    {"mig", "the MIG profile", "is", mig_text},
    {"power_limit_w", "the power limit", "is", power_text},
};
static const struct field beside_driver[] = {
    {"cuda_runtime_version", "the CUDA runtime", "is", runtime_text},
    {"cubin", "the compiled code", "is", cubin_text},
    {"build", "the measuring program", "is", build_text},
    {"source", "the source of the runs", "is", source_text},
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* Both unknown counts as alike; one unknown does not: it cannot be shown to be. */
static bool alike(const struct field *field, const struct compare_run *a, const struct compare_run *b)
{
    char one[TEXT_MAX], other[TEXT_MAX];
    const char *left = field->text(a, one), *right = field->text(b, other);
    return left == NULL || right == NULL ? left == right : strcmp(left, right) == 0;
}

/* ---- choosing ---- */

const char *compare_not_eligible(const struct compare_run *run)
{
    if (run->outcome == RL_REFUSED)
        return "its outcome is refused: a result was wrong";
    if (run->outcome == RL_PARTIAL)
        return "its outcome is partial: rows or ceilings are missing";
    if (run->withdrawn)
        return "it was withdrawn";
    if (run->shared)
        return "it is flagged shared: another process used the GPU";
    if (run->throttled)
        return "it is flagged throttled: the driver lowered the clocks";
    if (run->driver_changed)
        return "it is flagged driver_changed: the driver was replaced while it ran";
    return NULL;
}

static int newest_first(const void *a, const void *b)
{
    const struct compare_run *x = *(const struct compare_run *const *)a, *y = *(const struct compare_run *const *)b;
    if (x->date_ms != y->date_ms)
        return x->date_ms < y->date_ms ? 1 : -1;
    size_t x_length = strlen(x->id), y_length = strlen(y->id);
    if (x_length != y_length)
        return x_length < y_length ? 1 : -1;
    return -strcmp(x->id, y->id);
}

static const char *unlike(const struct compare_run *run, const struct compare_run *newest, struct rl_arena *arena)
{
    for (size_t i = 0; i < COUNT(identity); i++) {
        if (alike(&identity[i], run, newest))
            continue;
        char one[TEXT_MAX], other[TEXT_MAX];
        const char *mine = identity[i].text(run, one), *its = identity[i].text(newest, other);
        return rl_arena_printf(arena, "%s %s %s, and %s in run %s, the newest judged of this side", identity[i].title,
                               identity[i].is, mine == NULL ? "unknown" : mine, its == NULL ? "unknown" : its,
                               newest->id);
    }
    return "";
}

/* The newest eligible run that has its rows, which the others of a query have to be like; NULL when there is none. */
static const struct compare_run *model_of(const struct compare_side *side)
{
    const struct compare_run *model = NULL;
    for (size_t i = 0; i < side->run_count - side->unread; i++) {
        const struct compare_run *run = &side->runs[i];
        if (compare_not_eligible(run) == NULL && (model == NULL || newest_first(&run, &model) < 0))
            model = run;
    }
    return model;
}

/* Why a query may not have this run: NULL when it may, "" when memory ran out. */
static const char *why_not(const struct compare_run *run, const struct compare_run *model, struct rl_arena *arena)
{
    const char *why = compare_not_eligible(run);
    if (why != NULL || run == model)
        return why;
    if (model == NULL)
        return "no run of this side could be read with its rows";
    why = unlike(run, model, arena);
    if (why == NULL)
        return "";
    return why[0] == '\0' ? NULL : why;
}

static char *versions(const struct chosen *side, field_text *text, struct rl_arena *arena)
{
    char *joined = NULL;
    for (size_t i = 0; i < side->count; i++) {
        char one[TEXT_MAX], other[TEXT_MAX];
        const char *value = text(side->runs[i], one);
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) {
            const char *earlier = text(side->runs[k], other);
            seen = value == NULL || earlier == NULL ? value == earlier : strcmp(value, earlier) == 0;
        }
        if (seen)
            continue;
        value = value == NULL ? "unknown" : value;
        joined = joined == NULL ? rl_arena_strdup(arena, value) : rl_arena_printf(arena, "%s, %s", joined, value);
        if (joined == NULL)
            return NULL;
    }
    return joined == NULL ? rl_arena_strdup(arena, "") : joined;
}

int compare_choose(const struct compare_side *side, struct rl_arena *arena, struct chosen *ret,
                   struct compare_used *used)
{
    const struct compare_run **order = rl_arena_array(arena, side->run_count + 1, sizeof(struct compare_run *));
    used->left_out = rl_arena_array(arena, side->run_count + 1, sizeof *used->left_out);
    used->label = side->label;
    used->excluded = side->excluded;
    used->excluded_count = side->excluded_count;
    if (order == NULL || used->left_out == NULL)
        return -1;
    ret->count = 0;
    ret->named = side->named;
    const struct compare_run *model = model_of(side);
    for (size_t i = 0; i < side->run_count; i++)
        order[i] = &side->runs[i];
    qsort(order, side->run_count, sizeof(struct compare_run *), newest_first);
    for (size_t i = 0; i < side->run_count; i++) {
        const char *why = side->named ? NULL : why_not(order[i], model, arena);
        if (why != NULL && why[0] == '\0')
            return -1;
        if (why != NULL) {
            used->left_out[used->left_out_count++] = (struct compare_left_out){order[i]->id, why};
        } else if (ret->count < COMPARE_RUNS_MAX) {
            used->ids[used->id_count++] = order[i]->id;
            ret->runs[ret->count++] = order[i];
            for (size_t k = 0; k < order[i]->draw_count; k++)
                used->draws += order[i]->draws[k].state < RL_STATE_COUNT;
        } else {
            used->older++;
        }
    }
    used->driver = versions(ret, driver_text, arena);
    used->source = ret->count > 0 ? versions(ret, source_text, arena) : NULL;
    return used->driver == NULL || (ret->count > 0 && used->source == NULL) ? -1 : 0;
}

bool compare_wants_history(const struct compare_side *base, const struct compare_side *head)
{
    size_t eligible[2] = {0, 0}, draws[2] = {0, 0};
    const struct compare_side *sides[2] = {base, head};
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->run_count - sides[s]->unread; i++) {
            eligible[s] += sides[s]->named || compare_not_eligible(&sides[s]->runs[i]) == NULL;
            draws[s] += sides[s]->runs[i].draw_count;
        }
    /* Eight a side carry a family of 321 rows, nine one of 1215, ten one of COMPARE_ROWS_MAX; fewer may not carry that
     * of the rows there are, which are no more than the draws of either side. */
    size_t rows = draws[0] < draws[1] ? draws[0] : draws[1];
    size_t enough = COMPARE_RANK_MIN + (rows <= 321 ? 2 : rows <= 1215 ? 3 : 4);
    return eligible[0] < enough || eligible[1] < enough;
}

/* ---- identity and warnings ---- */

static bool all_alike(const struct field *field, const struct chosen *side, const struct compare_run *with)
{
    for (size_t i = 0; i < side->count; i++)
        if (!alike(field, side->runs[i], with))
            return false;
    return true;
}

/* "The sizes are course in base and scaled in head" */
static const char *both_words(const struct field *field, const char *base, const char *head, struct rl_arena *arena)
{
    const char *title = field->title;
    char first = title[0] == 't' ? 'T' : title[0]; /* of "the", or of an abbreviation */
    return rl_arena_printf(arena, "%c%s %s %s in base and %s in head", first, title + 1, field->is, base, head);
}

static int check_identity(const struct field *field, const struct chosen *base, const struct chosen *head,
                          struct compare_result *result)
{
    struct rl_arena *arena = result->arena;
    const struct compare_run *newest = base->runs[0];
    char text[TEXT_MAX], *left = versions(base, field->text, arena), *right = versions(head, field->text, arena);
    if (left == NULL || right == NULL)
        return -1;
    if (all_alike(field, base, newest) && all_alike(field, head, newest)) {
        if (field->text(newest, text) != NULL)
            return 0;
        return compare_say(result->warnings, &result->warning_count, field->name, left, right,
                           rl_arena_printf(arena, "It is not known whether %s %s the same: no run of either side says.",
                                           field->title, field->is));
    }
    const char *words = both_words(field, left, right, arena);
    if (words == NULL)
        return -1;
    return compare_say(result->not_comparable, &result->not_comparable_count, field->name, left, right,
                       rl_arena_printf(arena, "%s.", words));
}

static int check_beside(const struct field *field, const struct chosen *base, const struct chosen *head,
                        struct compare_result *result)
{
    const struct compare_run *newest = base->runs[0];
    if (all_alike(field, base, newest) && all_alike(field, head, newest))
        return 0;
    char *left = versions(base, field->text, result->arena), *right = versions(head, field->text, result->arena);
    if (left == NULL || right == NULL)
        return -1;
    const char *words = both_words(field, left, right, result->arena);
    if (words == NULL)
        return -1;
    const char *meaning = result->not_comparable_count > 0 ? "" : ": a difference is not the driver's alone";
    return compare_say(result->warnings, &result->warning_count, field->name, left, right,
                       rl_arena_printf(result->arena, "%s%s.", words, meaning));
}

static int check_drivers(const struct chosen *base, const struct chosen *head, struct compare_result *result)
{
    static const struct field driver = {"driver_version", "the driver", "is", driver_text};
    if (all_alike(&driver, base, base->runs[0]) && all_alike(&driver, head, head->runs[0]))
        return 0;
    return compare_say(result->warnings, &result->warning_count, driver.name, result->base.driver, result->head.driver,
                       rl_arena_printf(result->arena, "A side mixes drivers: %s in base, %s in head.",
                                       result->base.driver, result->head.driver));
}

/* A run on both sides is no second draw. */
static int check_overlap(const struct chosen *base, const struct chosen *head, struct compare_result *result)
{
    size_t shared = 0;
    for (size_t i = 0; i < base->count; i++)
        for (size_t j = 0; j < head->count; j++)
            shared += strcmp(base->runs[i]->id, head->runs[j]->id) == 0;
    if (shared == 0)
        return 0;
    bool all = shared == base->count && shared == head->count;
    const char *sentence =
        all && shared == 1 ? "Both sides are the same run, which cannot show a difference."
        : all ? rl_arena_printf(result->arena, "Both sides are the same %zu runs, which cannot show a difference.",
                                shared)
              : rl_arena_printf(result->arena, "%zu of the runs %s on both sides and cannot show a difference.", shared,
                                shared == 1 ? "stands" : "stand");
    return compare_say(result->warnings, &result->warning_count, "runs", result->base.label, result->head.label,
                       sentence);
}

/* Named runs are judged as they are: say what is the matter with them; a refused one is not. */
static int check_named(const struct chosen *side, const char *label, struct compare_result *result)
{
    for (size_t i = 0; side->named && i < side->count; i++) {
        const char *why = compare_not_eligible(side->runs[i]);
        if (why == NULL)
            continue;
        bool refused = side->runs[i]->outcome == RL_REFUSED;
        struct compare_note *notes = refused ? result->not_comparable : result->warnings;
        const char *field = refused ? "outcome" : side->runs[i]->withdrawn ? "withdrawn" : "flags";
        size_t *count = refused ? &result->not_comparable_count : &result->warning_count;
        const char *sentence = rl_arena_printf(result->arena, "Run %s of %s would not be taken by a query: %s.",
                                               side->runs[i]->id, label, why);
        if (compare_say(notes, count, field, result->base.label, result->head.label, sentence) != 0)
            return -1;
    }
    return 0;
}

static int check_empty(const struct chosen *side, const struct compare_used *used, const char *name,
                       struct compare_result *result)
{
    if (side->count > 0)
        return 0;
    return compare_say(result->not_comparable, &result->not_comparable_count, name, result->base.label,
                       result->head.label, compare_empty_words(used, result->arena));
}

/* The spread of history says how far draws scatter, not that this one is not the odd one out. */
static int check_few(const struct chosen *side, const char *name, struct compare_result *result)
{
    if (side->count >= COMPARE_RANK_MIN)
        return 0;
    return compare_say(
        result->warnings, &result->warning_count, "runs", result->base.label, result->head.label,
        rl_arena_printf(result->arena,
                        "%s has %zu of the %d runs that a rank test needs: a run that is off by chance cannot be "
                        "told from a change.",
                        name, side->count, COMPARE_RANK_MIN));
}

int compare_identity(const struct chosen *base, const struct chosen *head, struct compare_result *result)
{
    size_t most = COUNT(identity) + COUNT(beside_driver) + 6 + COMPARE_FLAG_WARNINGS + COMPARE_WORK_WARNINGS +
                  base->count + head->count;
    result->not_comparable = rl_arena_array(result->arena, most, sizeof *result->not_comparable);
    result->warnings = rl_arena_array(result->arena, most, sizeof *result->warnings);
    if (result->not_comparable == NULL || result->warnings == NULL)
        return -1;
    if (check_empty(base, &result->base, "base", result) != 0 || check_empty(head, &result->head, "head", result) != 0)
        return -1;
    if (result->not_comparable_count > 0)
        return 0;
    for (size_t i = 0; i < COUNT(identity); i++)
        if (check_identity(&identity[i], base, head, result) != 0)
            return -1;
    for (size_t i = 0; i < COUNT(beside_driver); i++)
        if (check_beside(&beside_driver[i], base, head, result) != 0)
            return -1;
    if (check_drivers(base, head, result) != 0 || check_overlap(base, head, result) != 0 ||
        check_few(base, "Base", result) != 0 || check_few(head, "Head", result) != 0 ||
        check_named(base, "base", result) != 0 || check_named(head, "head", result) != 0 ||
        compare_flag_warnings(base, head, result) != 0)
        return -1;
    return 0;
}
