/* The stopping rule of METHOD "Timing": enough certainty, or certainty that more samples bring none, or enough time. */
#include "gpu/engine/stop.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "gpu/record/derive/quantile.h"

void stop_init(struct stop_rule *rule, double wall_limit_s)
{
    memset(rule, 0, sizeof *rule);
    rule->wall_limit_s = wall_limit_s;
}

static bool median_is_certain(const struct stop_rule *rule)
{
    double ascending[STOP_MAX_SAMPLES];
    double error;

    if (rule->count < STOP_MIN_SAMPLES)
        return false;
    memcpy(ascending, rule->times, rule->count * sizeof ascending[0]);
    rl_sort_doubles(ascending, rule->count);
    error = rl_median_std_error(ascending, rule->count);
    /* NaN, the answer for too few samples, compares false */
    return error < STOP_STD_ERROR * rl_quantile_sorted(ascending, rule->count, 0.5);
}

static bool noise_is_stable(const struct stop_rule *rule)
{
    const double *window;
    double mean = 0, squares = 0;

    /* the noise of fewer than ten samples is itself too noisy to be part of the window */
    if (rule->count < STOP_NOISE_WINDOW + STOP_MIN_SAMPLES - 1)
        return false;
    window = rule->noise + rule->count - STOP_NOISE_WINDOW;
    for (size_t i = 0; i < STOP_NOISE_WINDOW; i++)
        mean += window[i] / STOP_NOISE_WINDOW;
    for (size_t i = 0; i < STOP_NOISE_WINDOW; i++)
        squares += (window[i] - mean) * (window[i] - mean);
    return sqrt(squares / (STOP_NOISE_WINDOW - 1)) < STOP_NOISE_STABLE * mean;
}

enum stop_reason stop_add(struct stop_rule *rule, double time_s, double wall_s)
{
    double from_old_mean = time_s - rule->mean;

    if (rule->count >= STOP_MAX_SAMPLES)
        return STOP_ON_MAX_SAMPLES;
    rule->times[rule->count++] = time_s;
    rule->mean += from_old_mean / (double)rule->count;
    rule->square_sum += from_old_mean * (time_s - rule->mean);
    if (rule->count > 1)
        rule->noise[rule->count - 1] = sqrt(rule->square_sum / (double)(rule->count - 1)) / rule->mean;

    if (median_is_certain(rule))
        return STOP_ON_STD_ERROR;
    if (noise_is_stable(rule))
        return STOP_ON_NOISE_STABLE;
    if (rule->count == STOP_MAX_SAMPLES)
        return STOP_ON_MAX_SAMPLES;
    if (wall_s >= rule->wall_limit_s && rule->count >= STOP_LEAST_SAMPLES)
        return STOP_ON_WALL_TIME;
    return STOP_GO_ON;
}

const char *stop_reason_name(enum stop_reason reason)
{
    switch (reason) {
    case STOP_ON_STD_ERROR:
        return "std_error";
    case STOP_ON_NOISE_STABLE:
        return "noise_stable";
    case STOP_ON_WALL_TIME:
        return "wall_time";
    case STOP_ON_MAX_SAMPLES:
        return "max_samples";
    case STOP_GO_ON:
        break;
    }
    return "go_on";
}
