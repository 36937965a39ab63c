/* A verification's or an import's rows and ceilings in the flat form that the store keeps. Migration 0005 made work and
 * launch of the rows that were there before in the same way, in SQL. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/record/derive/derive.h"
#include "gpu/record/flags.h"
#include "gpu/suites/verify/verify.h"

#define DIMS_TEXT 72 /* three numbers */

struct sink {
    rl_point_sink *put;
    void *arg;
    struct rl_err *err;
};

static double real_or_nan(struct rl_real real)
{
    return rl_is_known(real) ? real.value : NAN;
}

static double count_or_nan(struct rl_count count)
{
    return count.why == NULL ? (double)count.value : NAN;
}

static int64_t known_or_less(struct rl_count count)
{
    return count.why == NULL ? count.value : -1;
}

static const char *known_text(struct rl_text text)
{
    return text.why == NULL && text.value != NULL && text.value[0] != '\0' ? text.value : NULL;
}

static const char *dims_text(const int64_t dims[3], const char *why, char text[DIMS_TEXT])
{
    if (why != NULL)
        return NULL;
    snprintf(text, DIMS_TEXT, "%" PRId64 " x %" PRId64 " x %" PRId64, dims[0], dims[1], dims[2]);
    return text;
}

/* What of a kernel's row is its work and its launch; borrowed from the row and these texts. */
static void describe_row(const struct rl_row *row, char grid[DIMS_TEXT], char block[DIMS_TEXT], struct rl_point *ret)
{
    const char *shape = known_text(row->launch.shape);
    /* "grid 65536, block 256" of measured rows is the launch again: their dims follow from name and sizes */
    bool is_launch = shape != NULL && strncmp(shape, "grid ", 5) == 0;

    *ret = (struct rl_point){
        .unit = row->kernel,
        .at = "",
        .flop = known_or_less(row->flop),
        .ask_bytes = known_or_less(row->ask_bytes),
        .dims = is_launch ? NULL : shape,
        .grid = dims_text(row->launch.grid, row->launch.dims_why, grid),
        .block = dims_text(row->launch.block, row->launch.dims_why, block),
        .function = row->import.present ? known_text(row->import.function) : NULL,
    };
}

static int put_state(const struct sink *sink, const struct rl_run *run, const struct rl_row *row, enum rl_state state,
                     struct rl_point *point)
{
    const struct rl_row_state *s = &row->state[state];
    bool lent = run->lent.present && run->source == RL_IMPORTED; /* a percentage of another run's ceiling */
    const double metrics[VERIFY_METRICS] = {
        [VERIFY_LAUNCHES] = (double)s->time_s.launches,
        [VERIFY_TIME_S] = real_or_nan(s->time_s.median),
        [VERIFY_VALUE] = NAN,
        [VERIFY_SM_HZ] = real_or_nan(s->sm_hz),
        [VERIFY_MEMORY_HZ] = real_or_nan(s->memory_hz),
        [VERIFY_ASK_BYTES] = count_or_nan(row->ask_bytes),
        [VERIFY_DRAM_BYTES] = real_or_nan(s->bytes.dram),
        [VERIFY_SETTLED_BYTES] = real_or_nan(rl_dram_owed(run, row, state)),
        [VERIFY_DRAM_PER_ASK] = real_or_nan(s->dram_per_ask),
        [VERIFY_PERCENT_OF_CEILING] = lent ? NAN : real_or_nan(s->percent_of_ceiling),
    };

    if (!s->present)
        return 0;
    point->state = state;
    point->metrics = metrics;
    point->flags = rl_row_flag_bits(&s->flags);
    point->bound = s->bound.why == NULL ? s->bound.value : NULL;
    return sink->put(sink->arg, point, sink->err);
}

static int put_row(const struct sink *sink, const struct rl_run *run, const struct rl_row *row)
{
    char grid[DIMS_TEXT], block[DIMS_TEXT];
    struct rl_point point;

    describe_row(row, grid, block, &point);
    for (enum rl_state state = 0; state < RL_ROW_STATES; state++)
        if (put_state(sink, run, row, state, &point) < 0)
            return -1;
    return 0;
}

static int put_ceiling(const struct sink *sink, const struct rl_ceiling *ceiling)
{
    bool memory = ceiling->unit != NULL && strcmp(ceiling->unit, "byte_per_s") == 0;
    bool compute = ceiling->unit != NULL && strcmp(ceiling->unit, "flop_per_s") == 0;
    const double metrics[VERIFY_METRICS] = {
        [VERIFY_LAUNCHES] = (double)ceiling->time_s.launches,
        [VERIFY_TIME_S] = real_or_nan(ceiling->time_s.median),
        [VERIFY_VALUE] = real_or_nan(ceiling->value),
        [VERIFY_SM_HZ] = real_or_nan(ceiling->sm_hz),
        [VERIFY_MEMORY_HZ] = real_or_nan(ceiling->memory_hz),
        [VERIFY_ASK_BYTES] = memory ? count_or_nan(ceiling->work) : NAN,
        [VERIFY_DRAM_BYTES] = real_or_nan(ceiling->dram),
        [VERIFY_SETTLED_BYTES] = NAN, /* not counted for ceilings */
        [VERIFY_DRAM_PER_ASK] = real_or_nan(ceiling->dram_per_ask),
        [VERIFY_PERCENT_OF_CEILING] = NAN, /* a ceiling itself */
    };
    const struct rl_point point = {
        .unit = ceiling->name,
        .ceiling = true,
        .state = ceiling->state,
        .at = "",
        .metrics = metrics,
        .flags = rl_row_flag_bits(&ceiling->flags),
        .flop = compute ? known_or_less(ceiling->work) : -1,
        .ask_bytes = memory ? known_or_less(ceiling->work) : -1,
        .shape = known_text(ceiling->shape), /* its launch */
    };

    return sink->put(sink->arg, &point, sink->err);
}

/* An import may bring one kernel several times: points have the first, the document all. */
static bool is_repeated_row(const struct rl_run *run, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(run->rows[i].kernel, run->rows[index].kernel) == 0)
            return true;
    return false;
}

static bool is_repeated_ceiling(const struct rl_run *run, size_t index)
{
    const struct rl_ceiling *ceiling = &run->ceilings[index];

    return rl_run_ceiling(run, ceiling->name, ceiling->state) != ceiling; /* that finds the first */
}

int verify_points(const struct rl_run *run, rl_point_sink *put, void *arg, struct rl_err *err)
{
    const struct sink sink = {put, arg, err};

    for (size_t i = 0; i < run->row_count; i++)
        if (!is_repeated_row(run, i) && put_row(&sink, run, &run->rows[i]) < 0)
            return -1;
    for (size_t i = 0; i < run->ceiling_count; i++)
        if (!is_repeated_ceiling(run, i) && put_ceiling(&sink, &run->ceilings[i]) < 0)
            return -1;
    return 0;
}

int verify_times(const struct rl_run *run, rl_times_sink *take, void *arg, struct rl_err *err)
{
    for (size_t i = 0; i < run->row_count; i++)
        for (enum rl_state state = 0; state < RL_STATE_COUNT; state++)
            if (run->rows[i].state[state].present &&
                take(arg, run->rows[i].kernel, state, "", &run->rows[i].state[state].time_s, err) < 0)
                return -1;
    for (size_t i = 0; i < run->ceiling_count; i++)
        if (take(arg, run->ceilings[i].name, run->ceilings[i].state, "", &run->ceilings[i].time_s, err) < 0)
            return -1;
    return 0;
}
