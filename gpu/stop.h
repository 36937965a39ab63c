/* When to stop sampling. Pure. */
#ifndef GPU_STOP_H
#define GPU_STOP_H

#include <stddef.h>

#define STOP_MIN_SAMPLES 10
#define STOP_MAX_SAMPLES 256
#define STOP_STD_ERROR 0.005 /* METHOD: standard error of the median below 0.5 percent */

enum stop_reason { STOP_GO_ON, STOP_ON_STD_ERROR, STOP_ON_NOISE_STABLE, STOP_ON_WALL_TIME, STOP_ON_MAX_SAMPLES };

struct stop_rule {
    double wall_limit_s;
    double times[STOP_MAX_SAMPLES];
    double noise[STOP_MAX_SAMPLES]; /* relative noise after each sample */
    size_t count;
};
void stop_init(struct stop_rule *rule, double wall_limit_s);
/* Adds a sample; wall_s is the sum of measured GPU time so far and what a sample costs beside (replay-safe: no clock is read). */
enum stop_reason stop_add(struct stop_rule *rule, double time_s, double wall_s);
const char *stop_reason_name(enum stop_reason reason); /* "std_error", "noise_stable", "wall_time", "max_samples" */

#endif
