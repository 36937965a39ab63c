/* From cells to values: the file's number format, units, and launches grouped by kernel and shape. */
#include "gpu/import/ncu/launches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/import/text/message.h"
#include "gpu/import/text/names.h"

static struct import_source at_reading(const struct import_table *t, const struct import_reading *reading)
{
    return (struct import_source){"ncu", t->name, reading->line, reading->column};
}

/* ---- the number format ---- */

/* No format reads all: the line that ruled the last one out, beside the first that ruled one out. */
static int contradiction(const struct import_table *t, struct rl_err *err)
{
    const struct import_numbers *n = &t->numbers;
    struct import_source source = {"ncu", t->name, 0, NULL};
    size_t last = 0, first = 0;
    for (size_t i = 1; i < IMPORT_FORMATS; i++) {
        last = n->killed[i].line > n->killed[last].line ? i : last;
        first = n->killed[i].line < n->killed[first].line ? i : first;
    }
    source.line = n->killed[last].line;
    return import_fail(err, RL_E_IMPORT_NUMBERS, &source,
                       "has \"%s\" where line %zu has \"%s\": no one way of writing numbers has both",
                       n->killed[last].text, n->killed[first].line, n->killed[first].text);
}

/* Calls each() with every reading of the table until it returns other than 0. */
static int each_reading(const struct import_table *t, int (*each)(void *arg, const struct import_reading *reading),
                        void *arg)
{
    for (size_t i = 0; i < t->launch_count; i++)
        for (const struct import_reading *r = t->launches[i]->readings; r != NULL; r = r->next)
            if (each(arg, r) != 0)
                return -1;
    for (size_t v = IMPORT_LAUNCH_VALUES; v < IMPORT_DEVICE_NAME; v++)
        for (const struct import_reading *r = t->device[v]; r != NULL; r = r->next)
            if (each(arg, r) != 0)
                return -1;
    return 0;
}

struct choice {
    unsigned alive, whole; /* whole: formats in which no count of the base unit has a fraction */
    const struct import_reading *doubtful;
    double low, high; /* what the doubtful one may be */
};

/* Formats that would give a count of whole bytes or events a fraction. */
static int weigh(void *arg, const struct import_reading *reading)
{
    struct choice *choice = arg;
    enum import_unit unit = reading->metric->unit;
    double scale;
    bool whole = (unit == IMPORT_BYTES || unit == IMPORT_COUNTS || unit == IMPORT_PLAIN || unit == IMPORT_SECONDS) &&
                 reading->metric->value != IMPORT_CYCLES; /* an average over the SMs */
    /* the profiler's clock has no parts of a nanosecond */
    if (!whole || import_unit_scale(unit, reading->unit, &scale) != 0 ||
        (unit == IMPORT_SECONDS ? scale > 1e-9 : scale > 1))
        return 0;
    for (unsigned i = 0; i < IMPORT_FORMATS; i++)
        if (import_number_has_fraction(i, reading->text))
            choice->whole &= ~(1u << i);
    return 0;
}

static int find_doubt(void *arg, const struct import_reading *reading)
{
    struct choice *choice = arg;
    bool first = true;
    for (unsigned i = 0; i < IMPORT_FORMATS; i++) {
        double value;
        if ((choice->alive & 1u << i) == 0 || import_number_parse(i, reading->text, &value) != 0)
            continue;
        if (first)
            choice->low = choice->high = value;
        first = false;
        choice->low = fmin(choice->low, value);
        choice->high = fmax(choice->high, value);
    }
    if (first || choice->low == choice->high)
        return 0;
    choice->doubtful = reading;
    return -1;
}

static int decide_format(struct import_table *t, struct rl_err *err)
{
    struct choice choice = {.alive = t->numbers.alive, .whole = t->numbers.alive};
    if (choice.alive == 0)
        return contradiction(t, err);
    each_reading(t, find_doubt, &choice);
    if (choice.doubtful != NULL) {
        each_reading(t, weigh, &choice);
        choice.alive = choice.whole != 0 ? choice.whole : choice.alive;
        choice.doubtful = NULL;
        each_reading(t, find_doubt, &choice);
    }
    if (choice.doubtful != NULL) {
        struct import_source source = at_reading(t, choice.doubtful);
        char quoted[IMPORT_QUOTE];
        return import_fail(
            err, RL_E_IMPORT_NUMBERS, &source,
            "is \"%s\", which may be %.15g or %.15g: nothing in the file tells its decimal from its thousands "
            "separator",
            import_quote(quoted, choice.doubtful->text), choice.low, choice.high);
    }
    t->format = 0;
    while ((choice.alive & 1u << t->format) == 0)
        t->format++;
    return 0;
}

/* ---- values ---- */

struct amount {
    double real;   /* in the metric's own unit to a whole or a second, times its factor */
    int64_t whole; /* of bytes and counts: the same, exact */
};

/* One launch counts whole bytes and events. With a prefix the profiler rounds: 0.03 Kbyte, but not to less than one. */
static bool is_count(enum import_unit unit, double value, double scale)
{
    if (unit != IMPORT_BYTES && unit != IMPORT_COUNTS)
        return true;
    return scale > 1 ? value == 0 || value * scale >= 0.5 : value == floor(value);
}

static int value_of(const struct import_table *t, const struct import_reading *reading, struct amount *ret,
                    struct rl_err *err)
{
    struct import_source source = at_reading(t, reading);
    const struct import_metric *metric = reading->metric;
    char quoted[IMPORT_QUOTE];
    double scale = 1, value = 0;
    int64_t whole = 0;
    if (import_unit_scale(metric->unit, reading->unit, &scale) != 0) {
        source.column = metric->name;
        return import_fail(err, RL_E_IMPORT_FORMAT, &source, "has the unit \"%s\"; %s is expected",
                           import_quote(quoted, reading->unit), import_unit_expected(metric->unit));
    }
    if (import_number_parse(t->format, reading->text, &value) != 0)
        return import_fail(err, RL_E_IMPORT_FORMAT, &source, "is \"%s\", which is no number (%s)",
                           import_quote(quoted, reading->text), import_number_words(t->format));
    if (value < 0)
        return import_fail(err, RL_E_IMPORT_FORMAT, &source, "is \"%s\"; %s cannot be negative",
                           import_quote(quoted, reading->text), metric->name);
    if (!is_count(metric->unit, value, scale))
        return import_fail(err, RL_E_IMPORT_FORMAT, &source, "is \"%s\" %s; one launch counts whole ones, or none",
                           import_quote(quoted, reading->text), reading->unit);
    /* 57984 / 1e9 is the nearest double to it, 57984 * 1e-9 is not */
    value = (scale < 1 ? value / rint(1 / scale) : value * scale) * metric->factor;
    bool counted = metric->unit == IMPORT_BYTES || metric->unit == IMPORT_COUNTS;
    if (value > 1e18 ||
        (counted && import_number_whole(t->format, reading->text, (uint64_t)(scale * metric->factor), &whole) != 0))
        return import_fail(err, RL_E_IMPORT_FORMAT, &source, "is \"%s\" %s, more than any launch can count",
                           import_quote(quoted, reading->text), reading->unit);
    *ret = (struct amount){counted ? (double)whole : value, whole};
    return 0;
}

static bool is_rate(const struct import_metric *metric)
{
    return metric->unit == IMPORT_PER_SECOND || metric->unit == IMPORT_PER_CYCLE;
}

/* Times, clocks and rates are read beside the counts: one whose unit is not known is missing, and refuses no file. */
static bool is_readable(struct import_table *t, struct import_launch *launch, struct import_reading *reading)
{
    enum import_unit unit = reading->metric->unit;
    double scale, value = 0;
    bool beside = is_rate(reading->metric) || unit == IMPORT_SECONDS || unit == IMPORT_HERTZ ||
                  reading->metric->value == IMPORT_CYCLES;
    if (reading->odd)
        return false;
    if (!beside || (import_unit_scale(unit, reading->unit, &scale) == 0 &&
                    import_number_parse(t->format, reading->text, &value) == 0 && value >= 0 &&
                    (value > 0 || is_rate(reading->metric))))
        return true;
    char text[160];
    snprintf(text, sizeof text, "%.80s%s%.60s", reading->text, reading->unit[0] != '\0' ? " " : "", reading->unit);
    launch->odd |= UINT64_C(1) << reading->metric->value;
    import_table_odd(t, reading->metric->name, text, reading->line);
    return false;
}

static void take(struct import_launch *launch, const struct import_metric *metric, struct amount amount)
{
    launch->value[metric->value] = amount.real;
    launch->from[metric->value] = metric;
    if (metric->value < IMPORT_WHOLE_VALUES)
        launch->whole[metric->value] = amount.whole;
}

/* What a rate is a rate of, where the launch tells its time or its cycles too: the profiler divided the one by the
 * other. */
static int take_rate(const struct import_table *t, struct import_launch *launch, const struct import_reading *reading,
                     struct rl_err *err)
{
    const struct import_metric *metric = reading->metric;
    uint64_t bit = UINT64_C(1) << metric->value;
    bool timed = launch->from[IMPORT_DURATION] != NULL;
    double times = 0;
    struct amount amount;
    if (metric->unit == IMPORT_PER_SECOND && timed)
        times = launch->value[IMPORT_DURATION];
    else if (metric->unit == IMPORT_PER_CYCLE && launch->from[IMPORT_CYCLES] != NULL)
        times = launch->value[IMPORT_CYCLES];
    else if (metric->unit == IMPORT_PER_CYCLE && timed && launch->from[IMPORT_SM_HZ] != NULL)
        times = launch->value[IMPORT_DURATION] * launch->value[IMPORT_SM_HZ];
    if (times <= 0)
        return 0;
    if (launch->from[metric->value] != NULL && ((launch->derived & bit) == 0 || launch->from[metric->value] < metric))
        return 0;
    if (value_of(t, reading, &amount, err) != 0)
        return -1;
    amount.real = rint(amount.real * times);
    if (amount.real > 1e18) {
        struct import_source source = at_reading(t, reading);
        return import_fail(err, RL_E_IMPORT_FORMAT, &source, "gives %.6g with the launch's %s, more than any can count",
                           amount.real, metric->unit == IMPORT_PER_SECOND ? "duration" : "cycles");
    }
    amount.whole = (int64_t)amount.real;
    take(launch, metric, amount);
    launch->derived |= bit;
    return 0;
}

static int fill_launch(struct import_table *t, struct import_launch *launch, struct rl_err *err)
{
    for (struct import_reading *r = launch->readings; r != NULL; r = r->next) {
        struct amount amount;
        /* of several names for one thing, the table's first */
        const struct import_metric *before = launch->from[r->metric->value];
        if (is_rate(r->metric) || !is_readable(t, launch, r))
            continue;
        if (value_of(t, r, &amount, err) != 0)
            return -1;
        if (before == NULL || before >= r->metric)
            take(launch, r->metric, amount);
    }
    for (struct import_reading *r = launch->readings; r != NULL; r = r->next)
        if (is_rate(r->metric) && is_readable(t, launch, r) && take_rate(t, launch, r, err) != 0)
            return -1;
    return 0;
}

struct rl_count import_table_device(const struct import_table *t, enum import_value value, double factor)
{
    const struct import_reading *reading = t != NULL ? t->device[value] : NULL;
    struct amount number;
    if (reading == NULL)
        return (struct rl_count){0, "the imported files do not say"};
    if (value_of(t, reading, &number, NULL) != 0 || number.real * factor > 9e17)
        return (struct rl_count){0, "the imported file has no number there"};
    return (struct rl_count){(int64_t)(number.real * factor), NULL};
}

/* ---- groups ---- */

struct order { /* of launches by kernel and shape, then by their place in the file */
    struct import_launch *launch;
    size_t place;
};

static int compare_shape(const struct import_launch *a, const struct import_launch *b)
{
    int by_name = strcmp(a->name, b->name);
    if (by_name != 0)
        return by_name;
    int by_grid = 0;
    for (int i = 0; i < 3 && by_grid == 0; i++)
        by_grid = a->grid[i] != b->grid[i] ? (a->grid[i] < b->grid[i] ? -1 : 1)
                                           : (a->block[i] > b->block[i]) - (a->block[i] < b->block[i]);
    return by_grid;
}

static int compare(const void *a, const void *b)
{
    const struct order *one = a, *two = b;
    int by_shape = compare_shape(one->launch, two->launch);
    return by_shape != 0 ? by_shape : (one->place > two->place) - (one->place < two->place);
}

static int compare_line(const void *a, const void *b)
{
    const struct import_group *one = a, *two = b;
    return (one->first->line > two->first->line) - (one->first->line < two->first->line);
}

static int group_launches(struct import_table *t, struct rl_err *err)
{
    struct order *orders = rl_arena_array(t->arena, t->launch_count, sizeof *orders);
    t->groups = rl_arena_array(t->arena, t->launch_count, sizeof *t->groups);
    if (orders == NULL || t->groups == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, "ncu", "no memory for %zu launches", t->launch_count);
    for (size_t i = 0; i < t->launch_count; i++)
        orders[i] = (struct order){t->launches[i], i};
    qsort(orders, t->launch_count, sizeof *orders, compare);
    struct import_group *group = NULL;
    for (size_t i = 0; i < t->launch_count; i++) {
        struct import_launch *launch = orders[i].launch;
        if (group == NULL || compare_shape(group->first, launch) != 0) {
            group = &t->groups[t->group_count++];
            *group = (struct import_group){.name = launch->name,
                                           .base = import_base_name(t->arena, launch->name),
                                           .has_dims = launch->has_dims,
                                           .first = launch,
                                           .last = launch,
                                           .count = 1};
            memcpy(group->grid, launch->grid, sizeof group->grid);
            memcpy(group->block, launch->block, sizeof group->block);
            if (group->base == NULL)
                return rl_fail(err, RL_E_NO_MEMORY, "ncu", "no memory for the kernels' names");
            continue;
        }
        group->last->next_in_group = launch;
        group->last = launch;
        group->count++;
    }
    qsort(t->groups, t->group_count, sizeof *t->groups, compare_line);
    return 0;
}

int import_table_values(struct import_table *t, struct rl_err *err)
{
    if (decide_format(t, err) != 0)
        return -1;
    for (size_t i = 0; i < t->launch_count; i++)
        if (fill_launch(t, t->launches[i], err) != 0)
            return -1;
    return group_launches(t, err);
}
