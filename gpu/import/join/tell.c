/* What a run's notes say of the cells that it was made of: those that hold no number, those that are rounded, and
 * values that were worked out. */
#include "gpu/import/join/tell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/base/buf.h"
#include "gpu/base/num.h"
#include "gpu/import/common/note.h"
#include "gpu/import/text/message.h"

#define ROUNDING_MATTERS 0.001

static void tell_odd(struct rl_run *run, const struct import_table *t)
{
    struct rl_buf words;
    size_t others = t->odd_more;
    rl_buf_init(&words, 4096);
    for (size_t i = 0; i < t->odd_metrics; i++) {
        const struct import_odd *odd = &t->odd[i];
        rl_buf_printf(&words, "%s%s is \"%s\" in line %zu", i > 0 ? "; " : "", odd->metric, odd->text, odd->line);
        if (odd->count > 1)
            rl_buf_printf(&words, " and %zu more cell%s", odd->count - 1, rl_plural(odd->count - 1));
    }
    if (others > 0)
        rl_buf_printf(&words, "; and %zu cell%s of other metrics", others, rl_plural(others));
    if (t->odd_metrics > 0 && !words.failed)
        import_note(run, "missing in the counter file: %s", words.data);
    rl_buf_free(&words);
}

struct rounding { /* the coarsest cell of those that a launch's whole values are of */
    const struct import_reading *reading;
    double room, share; /* half of its last digit, in ours, and of its value */
};

static size_t significant(const char *text)
{
    size_t digits = 0;
    for (; *text != '\0'; text++)
        digits += *text >= '0' && *text <= '9' && (digits > 0 || *text != '0');
    return digits;
}

static void weigh(const struct import_table *t, const struct import_launch *launch, const struct import_reading *r,
                  struct rounding *worst)
{
    enum import_unit unit = r->metric->unit;
    double scale = 1;
    if ((unit != IMPORT_BYTES && unit != IMPORT_COUNTS) || r->odd || launch->from[r->metric->value] != r->metric ||
        launch->value[r->metric->value] <= 0 || import_unit_scale(unit, r->unit, &scale) != 0 || scale <= 1)
        return;
    double room = import_number_step(t->format, r->text) * scale * r->metric->factor / 2;
    double share = room / launch->value[r->metric->value];
    if (room > 0.51 * r->metric->factor && share > worst->share)
        *worst = (struct rounding){r, room, share};
}

static void tell_rounding(struct rl_run *run, const struct import_table *t)
{
    struct rounding worst = {NULL, 0, 0};
    char quoted[IMPORT_QUOTE], percent[32];
    for (size_t i = 0; i < t->launch_count; i++)
        for (const struct import_reading *r = t->launches[i]->readings; r != NULL; r = r->next)
            weigh(t, t->launches[i], r, &worst);
    if (worst.reading == NULL || rl_format_fixed(percent, sizeof percent, 100 * worst.share, 4) < 0)
        return;
    import_note(run,
                "counts in the counter file are rounded: the coarsest, %s \"%s\" %s in line %zu, to %zu digits, +-%.0f "
                "(%s percent)%s",
                worst.reading->metric->name, import_quote(quoted, worst.reading->text), worst.reading->unit,
                worst.reading->line, significant(worst.reading->text), worst.room, percent,
                worst.share > ROUNDING_MATTERS ? "; export with --print-units base for exact counts" : "");
}

/* The record's numbers are doubles. */
static void tell_exactness(struct rl_run *run, const struct import_table *t)
{
    for (size_t i = 0; i < t->launch_count; i++)
        for (enum import_value v = 0; v < IMPORT_WHOLE_VALUES; v++) {
            const struct import_launch *l = t->launches[i];
            if (l->from[v] == NULL || l->whole[v] == (int64_t)(double)l->whole[v])
                continue;
            import_note(run,
                        "%s of the launch that begins in line %zu is %lld; a record's numbers have 53 bits, and keep "
                        "%.0f",
                        l->from[v]->name, l->line, (long long)l->whole[v], (double)l->whole[v]);
            return;
        }
}

static void tell_derived(struct rl_run *run, const struct import_table *t)
{
    const char *bytes = NULL, *instructions = NULL;
    for (size_t i = 0; i < t->launch_count; i++) {
        const struct import_launch *l = t->launches[i];
        for (enum import_value v = 0; l->derived != 0 && v < IMPORT_WHOLE_VALUES; v++) {
            if ((l->derived & UINT64_C(1) << v) == 0)
                continue;
            if (v <= IMPORT_DRAM_WRITE && bytes == NULL)
                bytes = l->from[v]->name;
            if (l->from[v]->unit == IMPORT_PER_CYCLE && instructions == NULL)
                instructions = l->from[v]->name;
        }
    }
    bool used = false; /* a rate of DRAM bytes beside their count is not */
    for (size_t i = 0; i < run->row_count; i++)
        for (enum rl_state state = 0; state < RL_ROW_STATES; state++)
            used = used || (run->rows[i].state[state].present &&
                            rl_strings_has(&run->rows[i].state[state].flags, "bytes_derived"));
    if (used)
        import_note(run, "DRAM bytes are a rate (%s) times the duration of the same launch: no count was exported",
                    bytes);
    if (instructions != NULL)
        import_note(
            run,
            "instructions are a rate (%s) times the elapsed cycles of the same launch, good to about 1 percent: "
            "no count was exported",
            instructions);
}

void import_tell_values(struct rl_run *run, const struct import_table *t)
{
    tell_odd(run, t);
    tell_rounding(run, t);
    tell_exactness(run, t);
    tell_derived(run, t);
    if (t->instances > 0)
        import_note(run, "of %zu cell%s with the values of the units behind the total the total was read", t->instances,
                    rl_plural(t->instances));
}
