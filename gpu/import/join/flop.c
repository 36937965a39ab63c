/* Floating-point operations from instructions and from what the tensor cores counted, by precision. */
#include "gpu/import/join/flop.h"

#include "gpu/import/join/mean.h"
#include "gpu/record/derive/derive.h"

struct part { /* a metric, and how many operations one of its count is */
    enum import_value value;
    double operations;
};
#define NO_PART                                                                                                        \
    {                                                                                                                  \
        IMPORT_LAUNCH_VALUES, 0                                                                                        \
    }

/* The first three of each are needed: a precision of which one kind of instruction was not counted is not known. */
struct precision {
    struct part parts[6];
    const char *why;
};
static const struct precision fp64 = {{{IMPORT_DADD, 1}, {IMPORT_DMUL, 1}, {IMPORT_DFMA, 2}, NO_PART, NO_PART, NO_PART},
                                      "the counter file has not all three FP64 instruction counts"};
/* Packed instructions of GB10x are counted apart, and other chips have none. */
static const struct precision fp32 = {
    {{IMPORT_FADD, 1}, {IMPORT_FMUL, 1}, {IMPORT_FFMA, 2}, {IMPORT_FADD2, 2}, {IMPORT_FMUL2, 2}, {IMPORT_FFMA2, 4}},
    "the counter file has not all three FP32 instruction counts"};
/* All of them are packed, two operations a thread, as the profiler's own roofline takes them (hadd x 2, hfma x 4). */
static const struct precision fp16 = {{{IMPORT_HADD, 2}, {IMPORT_HMUL, 2}, {IMPORT_HFMA, 4}, NO_PART, NO_PART, NO_PART},
                                      "the counter file has not all three FP16 instruction counts"};

static struct rl_real sum_of(const struct import_group *group, const struct precision *precision)
{
    double sum = 0;
    for (size_t i = 0; i < 6 && precision->parts[i].value != IMPORT_LAUNCH_VALUES; i++) {
        struct rl_real mean = import_mean(group, precision->parts[i].value, precision->why);
        if (rl_is_known(mean))
            sum += mean.value * precision->parts[i].operations;
        else if (i < 3)
            return mean;
    }
    return rl_known(sum);
}

static struct rl_real fp16_of(const struct import_group *group)
{
    struct rl_real sum = sum_of(group, &fp16), fma = import_mean(group, IMPORT_HFMA, "");
    double threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= (double)group->grid[i] * (double)group->block[i];
    if (!rl_is_known(sum) || !group->has_dims || sum.value <= 0 || sum.value > 4 * fma.value ||
        fma.value > RL_HALF_CONSTANTS_A_THREAD * threads)
        return sum;
    return rl_unknown_by(RL_WHY_HALF_CONSTANTS);
}

/* The tensor cores' operations on floating-point numbers, of every type that was counted; a fused one counts as two
 * there (the metric's own peak is that of the data sheet). A kernel reads one type, mostly: where some were counted and
 * have operations, those are taken; where those have none, others may. */
static struct rl_real tensor_of(const struct import_group *group)
{
    static const char uncounted[] = "tensor instructions were executed and their operations were not counted";
    bool any = false, all = true;
    double sum = 0;
    for (enum import_value v = IMPORT_TENSOR_FP16; v <= IMPORT_TENSOR_FP8_SPARSE; v++) {
        struct rl_real mean = import_mean(group, v, "");
        if (rl_is_known(mean))
            sum += mean.value;
        any = any || rl_is_known(mean);
        all = all && (rl_is_known(mean) || v > IMPORT_TENSOR_FP64); /* chips before Hopper have no FP8 */
    }
    if (all || sum > 0)
        return rl_known(sum);
    for (const struct import_launch *l = group->first; l != NULL; l = l->next_in_group)
        if (l->from[IMPORT_TENSOR_SEEN] != NULL && l->value[IMPORT_TENSOR_SEEN] > 0)
            return rl_unknown(uncounted);
    return rl_unknown(any ? "the counter file has the tensor operations of some types only, which are none"
                          : "the counter file does not count tensor operations");
}

void import_row_flop(struct rl_row *row, const struct import_group *group)
{
    struct rl_flop_by_precision by = {false, sum_of(group, &fp64), sum_of(group, &fp32), fp16_of(group),
                                      tensor_of(group)};
    by.present = rl_is_known(by.fp64) || rl_is_known(by.fp32) || rl_is_known(by.fp16) || rl_is_known(by.tensor);
    for (const struct import_launch *l = group->first; l != NULL && !by.present; l = l->next_in_group)
        by.present = l->from[IMPORT_TENSOR_SEEN] != NULL && l->value[IMPORT_TENSOR_SEEN] > 0;
    row->flop_by_precision = by;
    /* FP16 instructions are left out, as the measuring program does: compilers load constants by HFMA2. */
    struct rl_real counted = rl_is_known(by.fp32) && rl_is_known(by.fp64)
                                 ? rl_known(by.fp32.value + by.fp64.value)
                                 : rl_unknown("the counter file has not all six FP32 and FP64 instruction counts");
    if (rl_is_known(counted) || !rl_is_known(row->flop_counted))
        row->flop_counted = counted;
}
