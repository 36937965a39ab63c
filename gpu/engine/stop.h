/* When to stop sampling. Pure: no clock, no randomness, so that a replay stops where the recording did. */
#ifndef GPU_ENGINE_STOP_H
#define GPU_ENGINE_STOP_H

#include <stddef.h>

#define STOP_MIN_SAMPLES   10
#define STOP_MAX_SAMPLES   256
#define STOP_LEAST_SAMPLES 5     /* the wall limit waits for these: fewer have no standard error and no quartiles */
#define STOP_STD_ERROR     0.005 /* METHOD: standard error of the median below 0.5 percent */
/* The second test, nvbench's idea: more samples no longer change how noisy the row is, so waiting longer is of no use.
 * Its figures are nvbench's own: more than 64 noise values whose relative standard deviation is below 5 percent. */
#define STOP_NOISE_WINDOW 64
#define STOP_NOISE_STABLE 0.05

enum stop_reason { STOP_GO_ON, STOP_ON_STD_ERROR, STOP_ON_NOISE_STABLE, STOP_ON_WALL_TIME, STOP_ON_MAX_SAMPLES };

struct stop_rule {
    double wall_limit_s;
    double times[STOP_MAX_SAMPLES];
    double noise[STOP_MAX_SAMPLES]; /* relative standard deviation of all samples up to and with this one; 0 for the
                                       first */
    double mean, square_sum;        /* running mean and sum of squared deviations (Welford 1962) */
    size_t count;
};

void stop_init(struct stop_rule *rule, double wall_limit_s);

/* Adds a sample (s, finite, > 0) and says whether it was the last. Tests in this order:
 * - std_error: at least 10 samples, McKean-Schrader standard error of the median below 0.5 percent of the median;
 * - noise_stable: the newest 64 values of the noise (relative standard deviation of all samples so far, from the tenth
 *   on) have a relative standard deviation below 5 percent;
 * - max_samples: 256 samples;
 * - wall_time: wall_s reached the limit and there are at least 5 samples.
 * wall_s is the measured GPU time so far and what the samples cost beside it, told by the caller (no clock is read).
 * Must not be called again after an answer other than STOP_GO_ON. */
enum stop_reason stop_add(struct stop_rule *rule, double time_s, double wall_s);

/* "std_error", "noise_stable", "wall_time", "max_samples"; "go_on" for STOP_GO_ON. */
const char *stop_reason_name(enum stop_reason reason);

#endif
