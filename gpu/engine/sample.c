/* Sampling one unit in one state: launches per batch, the stopping rule, the card's state around it, retries. */
#include "gpu/engine/sample.h"

#include <math.h>
#include <string.h>

#include "gpu/engine/card.h"
#include "gpu/engine/stop.h"
#include "gpu/engine/tell.h"
#include "gpu/engine/unit.h"
#include "gpu/record/derive/quantile.h"

#define WARM_LAUNCHES_MIN 10 /* METHOD "Cache states": a batch of at least 10 launches and at least 1 ms */
/* METHOD asks for 1 ms; twice that halves what opening a counter range around the batch disturbs in the L2, and leaves
 * room for a clock that still rises after calibration */
#define WARM_BATCH_S      2.4e-3
#define WARM_LAUNCHES_MAX 100000
/* The FMA chain has no cache state that a longer batch would steady, and takes milliseconds: two launches are enough */
#define COMPUTE_LAUNCHES_MIN 2
/* What a sample costs beside its own time: launch calls, event synchronisation. A guess that is good enough, since it
 * only places the wall limit; a replay needs the same guess, so it is a constant and not a clock. */
#define SAMPLE_OVERHEAD_S 30e-6
/* globaltimer's coarsest grain seen on NVIDIA chips is 1.024 us; two readings bound a sample */
#define TIMER_GRAIN_S 2.048e-6
#define CLOCK_PARTS   8 /* of a series, between which its clock may have moved; each of at least three samples */

/* The wall limit of one row and state: the course run of ten rows in two states has to end in seconds, while a
 * scaled matmul takes milliseconds per launch. */
static double wall_limit(const struct engine *e)
{
    return e->request->sizes == RL_COURSE ? 0.25 : 1.0;
}

struct series { /* samples of one attempt */
    double times[STOP_MAX_SAMPLES], batch[STOP_MAX_SAMPLES], hz[STOP_MAX_SAMPLES];
    size_t count;
    enum stop_reason reason;
};

static int take(struct engine *e, const struct gpu_work *work, enum rl_state state, int64_t launches, unsigned sample,
                struct gpu_sample *ret, struct rl_err *err)
{
    const struct gpu_backend_ops *ops = e->backend->ops;
    struct gpu_sample got = {0};
    int rc = state == RL_WARM ? ops->warm(e->backend, work, launches, sample, &got, err)
                              : ops->cold(e->backend, work, sample, &got, err);

    if (rc)
        return -1;
    if (got.launches != launches)
        return rl_fail(err, RL_E_INTERNAL, work->unit->id,
                       "sample %u of %s %s holds %lld launches where %lld were asked", sample, work->unit->id,
                       rl_state_name(state), (long long)got.launches, (long long)launches);
    if (!isfinite(got.time_s) || got.time_s <= 0)
        return rl_fail(err, RL_E_INTERNAL, work->unit->id, "sample %u of %s %s took %g s, which is no time", sample,
                       work->unit->id, rl_state_name(state), got.time_s);
    if (!isfinite(got.sm_hz) || got.sm_hz < 0)
        return rl_fail(err, RL_E_INTERNAL, work->unit->id, "sample %u of %s %s saw an SM clock of %g Hz", sample,
                       work->unit->id, rl_state_name(state), got.sm_hz);
    *ret = got;
    return 0;
}

static int64_t launches_for(double time_s, int64_t least)
{
    return (int64_t)fmax((double)least, fmin(WARM_LAUNCHES_MAX, ceil(WARM_BATCH_S / time_s)));
}

/* Launches per warm batch: about 2.4 ms, and at least ten where a cache state has to be steady. *ret_next is the first
 * sample number that is free, since samples are numbered within (work, launches). */
static int calibrate(struct engine *e, const struct engine_unit *unit, unsigned *ret_next, int64_t *ret_launches,
                     struct rl_err *err)
{
    int64_t least = unit->unit->kind == RL_UNIT_COMPUTE_CEILING ? COMPUTE_LAUNCHES_MIN : WARM_LAUNCHES_MIN;
    double best = unit->sweep_time_s;

    *ret_next = 0;
    if (best <= 0) {
        best = INFINITY;
        /* two batches, the faster counts: the first still pays for page tables and instruction caches */
        for (unsigned i = 0; i < 2; i++) {
            struct gpu_sample sample = {0};

            if (take(e, &unit->work, RL_WARM, least, i, &sample, err))
                return -1;
            best = fmin(best, sample.time_s / (double)least);
        }
        *ret_next = launches_for(best, least) == least ? 2 : 0;
    }
    *ret_launches = launches_for(best, least);
    return 0;
}

int engine_quick(struct engine *e, const struct gpu_work *work, int64_t launches, unsigned first_sample, unsigned count,
                 double *ret_time_s, struct rl_err *err)
{
    double times[16];
    struct gpu_sample sample = {0};

    if (count == 0 || count > sizeof times / sizeof times[0])
        return rl_fail(err, RL_E_INTERNAL, NULL, "%u batches are not between 1 and 16", count);
    for (unsigned i = 0; i < count; i++) {
        if (take(e, work, RL_WARM, launches, first_sample + i, &sample, err))
            return -1;
        times[i] = sample.time_s / (double)launches;
    }
    rl_sort_doubles(times, count);
    *ret_time_s = rl_quantile_sorted(times, count, 0.5);
    return 0;
}

static double median_of(const double *values, size_t count)
{
    double ascending[STOP_MAX_SAMPLES];

    memcpy(ascending, values, count * sizeof ascending[0]);
    rl_sort_doubles(ascending, count);
    return rl_quantile_sorted(ascending, count, 0.5);
}

/* Copies the entries whose clock is known; returns how many. */
static size_t known_clocks(const double *hz, const double *batch_s, size_t count, double *ret_hz, double *ret_batch_s)
{
    size_t known = 0;

    for (size_t i = 0; i < count && i < STOP_MAX_SAMPLES; i++) {
        if (hz[i] <= 0)
            continue;
        ret_hz[known] = hz[i];
        ret_batch_s[known++] = batch_s[i];
    }
    return known;
}

/* How far apart noise alone may bring the medians of parts of `each` readings, relative: five standard errors (for
 * eight normal values that is their range in 99 of 100 cases), with the noise seen from one reading to the next, to
 * which a drift adds little, and never more than the timer's grain explains. */
static double clock_noise(const double *hz, const double *batch_s, size_t count, size_t each)
{
    double steps = 0, sigma, timer = TIMER_GRAIN_S / median_of(batch_s, count);

    for (size_t i = 1; i < count; i++)
        steps += fabs(hz[i] - hz[i - 1]) / hz[i - 1] / (double)(count - 1);
    sigma = fmin(timer, steps / 1.128);             /* the mean distance of two normal values is 1.128 sigma */
    return 5 * 1.2533 * sigma / sqrt((double)each); /* 1.2533: standard error of a median over that of a mean */
}

double engine_clock_change(const double *hz, const double *batch_s, size_t count, double *ret_noise)
{
    double seen[STOP_MAX_SAMPLES], batch[STOP_MAX_SAMPLES];
    size_t known = known_clocks(hz, batch_s, count, seen, batch);
    size_t each = known / CLOCK_PARTS > 3 ? known / CLOCK_PARTS : 3;
    double low = INFINITY, high = 0;

    *ret_noise = 0;
    if (known < 2 * each)
        return 0;
    /* medians of consecutive parts: a clock that moves shows between them, one mark that went wrong does not */
    for (size_t first = 0; first + each <= known; first += each) {
        double middle = median_of(seen + first, each);

        low = fmin(low, middle);
        high = fmax(high, middle);
    }
    *ret_noise = clock_noise(seen, batch, known, each);
    return high / low - 1;
}

static int sample_until_sure(struct engine *e, const struct gpu_work *work, enum rl_state state, int64_t launches,
                             unsigned *next_sample, struct series *ret, struct rl_err *err)
{
    struct stop_rule rule;
    double wall_s = 0;

    stop_init(&rule, wall_limit(e));
    ret->count = 0;
    ret->reason = STOP_GO_ON;
    while (ret->reason == STOP_GO_ON) {
        struct gpu_sample sample = {0};

        if (take(e, work, state, launches, (*next_sample)++, &sample, err))
            return -1;
        ret->batch[ret->count] = sample.time_s;
        ret->hz[ret->count] = sample.sm_hz;
        ret->times[ret->count++] = sample.time_s / (double)launches;
        wall_s += sample.time_s + SAMPLE_OVERHEAD_S;
        wall_s += state == RL_WARM ? (double)gpu_warm_up(launches) * sample.time_s / (double)launches : e->flush_cost_s;
        ret->reason = stop_add(&rule, sample.time_s / (double)launches, wall_s);
    }
    return 0;
}

static int card_state_near(struct engine *e, const struct gpu_work *work, enum rl_state state, const char *moment,
                           unsigned attempt, struct gpu_card_state *ret, struct rl_err *err)
{
    const char *at = attempt == 1 ? engine_say(e, "%s %s %s", work->unit->id, rl_state_name(state), moment)
                                  : engine_say(e, "%s %s %s %u", work->unit->id, rl_state_name(state), moment, attempt);

    return engine_card_state(e, at, ret, err);
}

/* Whether a reason that slows the card is in list and not in except (NULL: in list). */
static bool throttles(const struct rl_strings *list, const struct rl_strings *except)
{
    for (size_t i = 0; i < list->count; i++)
        if (engine_reason_throttles(list->items[i]) && !(except && rl_strings_has(except, list->items[i])))
            return true;
    return false;
}

/* Fills the record's part of one attempt; *ret_again when another attempt may do better. */
static int judge(struct engine *e, const struct series *series, const struct gpu_card_state *before,
                 const struct gpu_card_state *after, struct engine_measure *ret, bool *ret_again, struct rl_err *err)
{
    double hz[STOP_MAX_SAMPLES], batch[STOP_MAX_SAMPLES], noise;
    double change = engine_clock_change(series->hz, series->batch, series->count, &noise);
    bool moved = change > ENGINE_CLOCK_TOLERANCE + noise;
    size_t known = known_clocks(series->hz, series->batch, series->count, hz, batch);

    ret->sm_hz = known ? rl_known(median_of(hz, known))
                       : rl_unknown("no sample's clock marks fell on one SM, so none tells its clock");
    ret->memory_hz = rl_is_known(after->memory_hz) ? after->memory_hz : before->memory_hz;
    ret->temperature_c = rl_is_known(after->temperature_c) ? after->temperature_c : before->temperature_c;
    memset(&ret->reasons, 0, sizeof ret->reasons);
    memset(&ret->flags, 0, sizeof ret->flags);
    for (size_t i = 0; i < before->reasons.count; i++)
        if (engine_flag(e, &ret->reasons, before->reasons.items[i], err))
            return -1;
    for (size_t i = 0; i < after->reasons.count; i++)
        if (engine_flag(e, &ret->reasons, after->reasons.items[i], err))
            return -1;
    if (moved && engine_flag(e, &ret->flags, "clock_moved", err))
        return -1;
    if (throttles(&ret->reasons, NULL) && engine_flag(e, &ret->flags, "throttled", err))
        return -1;
    /* a reason that stood before the row and after it would stand at the next attempt too */
    *ret_again = moved || throttles(&after->reasons, &before->reasons);
    return 0;
}

static int finish(struct engine *e, const struct gpu_work *work, enum rl_state state, int64_t launches,
                  const struct series *series, struct engine_measure *ret, struct rl_err *err)
{
    const struct engine_events *events = e->events;

    if (rl_times_from_samples(series->times, series->count, &ret->times))
        return rl_fail(err, RL_E_INTERNAL, work->unit->id, "no statistics of %zu samples of %s %s", series->count,
                       work->unit->id, rl_state_name(state));
    ret->times.launches = launches;
    ret->times.stop = (struct rl_text){stop_reason_name(series->reason), NULL};
    if (events && events->samples)
        events->samples(events->arg, work->unit->id, state, launches, series->times, series->count);
    engine_log(e, "%-20s %-4s %10.3f us  n %3zu x %-5lld stop %-12s SM %4.0f MHz%s%s%s", work->unit->id,
               rl_state_name(state), ret->times.median.value * 1e6, series->count, (long long)launches,
               stop_reason_name(series->reason), rl_is_known(ret->sm_hz) ? ret->sm_hz.value / 1e6 : 0.0,
               rl_strings_has(&ret->flags, "clock_moved") ? "  clock moved" : "",
               rl_strings_has(&ret->flags, "throttled") ? "  throttled" : "",
               ret->attempts > 1 ? "  after a retry" : "");
    return 0;
}

static int measure(struct engine *e, struct engine_unit *unit, enum rl_state state, struct engine_measure *ret,
                   struct rl_err *err)
{
    const struct gpu_work *work = &unit->work;
    struct series series;
    int64_t launches = 1;
    unsigned next_sample = 0;
    bool again = true;

    if (state == RL_WARM) {
        if (calibrate(e, unit, &next_sample, &launches, err))
            return -1;
        unit->warm_launches = launches;
    }
    for (unsigned attempt = 1; again && attempt <= 1 + ENGINE_RETRIES_MAX; attempt++) {
        struct gpu_card_state before, after;

        if (card_state_near(e, work, state, "before", attempt, &before, err) ||
            sample_until_sure(e, work, state, launches, &next_sample, &series, err) ||
            card_state_near(e, work, state, "after", attempt, &after, err) ||
            judge(e, &series, &before, &after, ret, &again, err))
            return -1;
        ret->attempts = attempt;
        if (again && attempt <= ENGINE_RETRIES_MAX)
            engine_log(e, "%s %s: %s, measured again", work->unit->id, rl_state_name(state),
                       rl_strings_has(&ret->flags, "clock_moved") ? "the SM clock moved" : "the card was slowed down");
    }
    return finish(e, work, state, launches, &series, ret, err);
}

int engine_measure(struct engine *e, struct engine_unit *unit, enum rl_state state, struct engine_measure *ret,
                   struct rl_err *err)
{
    struct engine_measure got = {0};
    const char *why;

    if (measure(e, unit, state, &got, err) == 0) {
        *ret = got;
        return 0;
    }
    if (!engine_error_is_local(err->code))
        return rl_wrap(err, "%s %s", unit->unit->id, rl_state_name(state));
    why = engine_say(e, "not measured: %s", err->message);
    engine_warn(e, err->code, engine_say(e, "%s %s %s", unit->unit->id, rl_state_name(state), why));
    memset(&got, 0, sizeof got);
    got.missing = why;
    got.times.median = got.times.p25 = got.times.p75 = got.times.min = got.times.std_error = rl_unknown(why);
    got.times.stop = (struct rl_text){NULL, why};
    got.sm_hz = got.memory_hz = got.temperature_c = rl_unknown(why);
    *ret = got;
    return 0;
}
