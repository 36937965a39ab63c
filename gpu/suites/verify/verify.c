/* What the verification says of itself. */
#include "gpu/suites/verify/verify.h"

#include "gpu/record/derive/derive.h"

static const char *const sizes[] = {"course", "scaled", NULL}; /* by enum rl_sizes */
static const char *const states[] = {"warm", "cold", NULL};    /* by enum rl_state */
static const char *const scores[] = {"above", "near", "below", NULL};

static const struct rl_param params[VERIFY_PARAMS] = {
    [VERIFY_SIZES] = {.name = "sizes",
                      .kind = RL_PARAM_CHOICE,
                      .title = "Sizes",
                      .help = "course: the course's own sizes; scaled: beyond this card's L2.",
                      .value = "SIZES",
                      .words = sizes,
                      .initial = RL_COURSE},
    [VERIFY_CACHE] = {.name = "cache",
                      .kind = RL_PARAM_WORDS,
                      .title = "Cache states",
                      .help = "warm: back-to-back launches; cold: each launch on an emptied L2.",
                      .value = "LIST",
                      .words = states,
                      .item = "cache state"},
    [VERIFY_KERNELS] = {.name = "kernels",
                        .kind = RL_PARAM_UNITS,
                        .title = "Kernels",
                        .help = "The kernels to measure, by their ids.",
                        .value = "LIST"},
    [VERIFY_COUNTERS] = {.name = "counters",
                         .kind = RL_PARAM_BOOL,
                         .title = "Hardware byte counters",
                         .help = "Without them the run is only timed, and needs no permission to count.",
                         .option = "no-counters",
                         .initial = true},
    [VERIFY_PREDICTIONS] = {.name = "predictions",
                            .kind = RL_PARAM_UNIT_WORDS,
                            .title = "Predictions",
                            .help = "How each kernel's DRAM bytes will compare with what it asks for; scored when the "
                                    "run is stored.",
                            .option = "predict",
                            .value = "LIST",
                            .words = scores,
                            .of = "kernels",
                            .verb = "predicts",
                            .local = true},
};

const struct rl_phase verify_phases[] = {
    {"start", "Starting", 0.1, 60},           {"ceilings", "Measuring ceilings", 0.4, 60},
    {"kernels", "Timing kernels", 0.25, 180}, {"counters", "Counting bytes", 0.2, 180},
    {"checks", "Checking", 0.05, 30},
};

const struct rl_metric_info verify_metrics[VERIFY_METRICS] = {
    [VERIFY_LAUNCHES] = {"launches", "Launches per sample", "count", RL_NEITHER_BETTER, .judged = RL_NOT_JUDGED},
    [VERIFY_TIME_S] = {"time_s", "Time per launch", "s", RL_LESS_IS_BETTER, true, RL_JUDGED_RATIO, true},
    [VERIFY_VALUE] = {"value", "Ceiling", "per_s", RL_MORE_IS_BETTER, true, RL_JUDGED_RATIO, true},
    [VERIFY_SM_HZ] = {"sm_hz", "SM clock", "Hz", RL_NEITHER_BETTER, .judged = RL_NOT_JUDGED},
    [VERIFY_MEMORY_HZ] = {"memory_hz", "Memory clock", "Hz", RL_NEITHER_BETTER, .judged = RL_NOT_JUDGED},
    [VERIFY_ASK_BYTES] = {"ask_bytes", "Asked bytes", "byte", RL_NEITHER_BETTER, true, RL_NOT_JUDGED},
    [VERIFY_DRAM_BYTES] = {"dram_bytes", "DRAM bytes", "byte", RL_LESS_IS_BETTER, true, RL_JUDGED_BYTES},
    [VERIFY_SETTLED_BYTES] = {"settled_bytes", "Settled DRAM bytes", "byte", RL_LESS_IS_BETTER, true, RL_NOT_JUDGED},
    [VERIFY_DRAM_PER_ASK] = {"dram_per_ask", "DRAM over asked bytes", "ratio", RL_LESS_IS_BETTER, true, RL_NOT_JUDGED},
    [VERIFY_PERCENT_OF_CEILING] = {"percent_of_ceiling", "Percent of the copy ceiling", "percent", RL_MORE_IS_BETTER,
                                   .judged = RL_NOT_JUDGED},
};

const struct rl_suite rl_suite_verify = {
    .name = "verify",
    .title = "Verification",
    .help = "Ten kernels under the machine's measured roof: times, counted bytes beside hand-counted ones, results "
            "checked.",
    .method_version = RL_METHOD_VERSION,
    .submittable = true,
    .units = rl_units,
    .unit_count = RL_KERNEL_COUNT,
    .params = params,
    .param_count = VERIFY_PARAMS,
    .phases = verify_phases,
    .phase_count = sizeof verify_phases / sizeof verify_phases[0],
    .metrics = verify_metrics,
    .metric_count = VERIFY_METRICS,
    .document = &rl_object_run,
    .derive = rl_derive,
    .check = verify_check,
    .accept = verify_accept,
    .times = verify_times,
    .points = verify_points,
};
