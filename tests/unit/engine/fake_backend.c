/* See tests/unit/engine/fake_backend.h. */
#include "tests/unit/engine/fake_backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define L2_BYTES 62914560

static struct fake_backend *of(struct gpu_backend *b)
{
    return (struct fake_backend *)b;
}

static bool is(const char *broken, const struct gpu_work *work)
{
    return broken && strcmp(broken, work->unit->id) == 0;
}

/* Seconds per launch: the slower of memory and arithmetic; shapes are slower the farther they are from number 2. */
static double launch_time(const struct fake_backend *fake, const struct gpu_work *work, enum rl_state state)
{
    double memory = (double)work->unit->ask_bytes(&work->dims) / FAKE_COPY_RATE;
    double arithmetic = (double)work->unit->flop(&work->dims) / FAKE_FMA_RATE;
    double time_s = fmax(memory, arithmetic) * (1 + 0.02 * fabs((double)work->variant - 2));
    struct rl_dims plain;

    if (strcmp(work->unit->id, "polynomial256") == 0)
        time_s *= 1.25; /* a kernel is no ceiling */
    if (work->unit->variants <= 1)
        time_s = fmax(memory, arithmetic) * 1.05;
    work->unit->dims(work->sizes, L2_BYTES, &plain);
    if (fake->scaling > 0 && plain.steps * 2 == work->dims.steps)
        time_s *= fake->scaling / 2;
    if (is(fake->scaled_unit, work))
        time_s *= fake->time_factor;
    return time_s * (state == RL_COLD ? 1.1 : 1);
}

static int identify(struct gpu_backend *b, struct rl_arena *arena, struct rl_device *ret, struct rl_environment *env,
                    struct rl_err *err)
{
    (void)arena;
    (void)err;
    rl_buf_puts(&of(b)->requests, "identify\n");
    *ret = (struct rl_device){.id = "GPU-00000000-0000-0000-0000-000000000001", .name = "Model card"};
    rl_device_unknown(ret, "not in the model");
    ret->uuid = (struct rl_text){ret->id, NULL};
    ret->sm_count = (struct rl_count){132, NULL};
    ret->l2_bytes = (struct rl_count){L2_BYTES, NULL};
    ret->memory_bus_bits = (struct rl_count){6144, NULL};
    ret->fp32_lanes_per_sm = (struct rl_count){128, NULL};
    *env = (struct rl_environment){.build = "test", .method_version = RL_METHOD_VERSION};
    rl_environment_unknown(env, "not in the model");
    env->driver_version = (struct rl_text){"580.159.04", NULL};
    return 0;
}

static int driver_now(struct gpu_backend *b, struct rl_arena *arena, struct rl_text *ret, struct rl_err *err)
{
    (void)arena;
    (void)err;
    rl_buf_puts(&of(b)->requests, "driver_now\n");
    *ret = (struct rl_text){of(b)->driver_at_end, of(b)->driver_at_end ? NULL : "no NVML"};
    return 0;
}

static int card_state(struct gpu_backend *b, struct rl_arena *arena, const char *at, struct gpu_card_state *ret,
                      struct rl_err *err)
{
    struct fake_backend *fake = of(b);
    const char *reason = fake->reason ? fake->reason(at) : NULL;

    (void)err;
    fake->cards++;
    rl_buf_printf(&fake->requests, "card %s\n", at);
    memset(ret, 0, sizeof *ret);
    if (fake->blind) {
        ret->sm_hz = ret->memory_hz = ret->temperature_c = ret->power_w = ret->energy_j = rl_unknown("no NVML");
        ret->other_processes.why = "no NVML";
        return rl_strings_add(arena, &ret->reasons, "unknown");
    }
    ret->sm_hz = rl_known(FAKE_SM_HZ);
    /* idle before, at work after */
    ret->memory_hz = rl_known(strstr(at, "before") ? FAKE_MEMORY_HZ / 2 : FAKE_MEMORY_HZ);
    ret->temperature_c = rl_known(40);
    ret->power_w = rl_known(300);
    ret->energy_j = rl_unknown("not on this card");
    ret->other_processes.value = fake->others ? fake->others(at) : 0;
    return reason ? rl_strings_add(arena, &ret->reasons, reason) : 0;
}

static int reserve(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err)
{
    (void)err;
    for (size_t i = 0; i < count; i++)
        rl_buf_printf(&of(b)->requests, "reserve %s steps %llu\n", works[i].unit->id,
                      (unsigned long long)works[i].dims.steps);
    return 0;
}

static int spin(struct gpu_backend *b, unsigned step, double *ret_sm_hz, struct rl_err *err)
{
    (void)err;
    rl_buf_printf(&of(b)->requests, "spin %u\n", step);
    *ret_sm_hz = of(b)->spin_hz ? of(b)->spin_hz(step) : FAKE_SM_HZ;
    return 0;
}

static int prepare(struct gpu_backend *b, const struct gpu_work *work, struct rl_err *err)
{
    struct fake_backend *fake = of(b);

    rl_buf_printf(&fake->requests, "prepare %s v%u steps %llu\n", work->unit->id, work->variant,
                  (unsigned long long)work->dims.steps);
    fake->last_prepared = *work;
    if (is(fake->fails_in_prepare, work) && work->variant >= fake->prepare_fails_from)
        return rl_fail(err, fake->prepare_error, NULL, "cannot prepare %s", work->unit->id);
    return 0;
}

static void must_be_prepared(struct fake_backend *fake, const struct gpu_work *work)
{
    if (fake->last_prepared.unit != work->unit || fake->last_prepared.variant != work->variant ||
        fake->last_prepared.dims.steps != work->dims.steps)
        fake->prepared_wrong = true;
}

static int describe(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_work *work, struct gpu_launch *ret,
                    struct rl_err *err)
{
    struct fake_backend *fake = of(b);

    (void)err;
    rl_buf_printf(&fake->requests, "describe %s v%u\n", work->unit->id, work->variant);
    *ret = (struct gpu_launch){
        .launch = {.grid = {1056, 1, 1},
                   .block = {256, 1, 1},
                   .registers = {32, NULL},
                   .max_blocks_per_sm = {8, NULL},
                   .shape = {rl_arena_printf(arena, "shape %u", work->variant), NULL}},
        .binary = strcmp(work->unit->id, "dram_memcpy") == 0 ? "driver" : fake->binary,
    };
    return 0;
}

static int check(struct gpu_backend *b, const struct gpu_work *work, struct gpu_result *ret, struct rl_err *err)
{
    struct fake_backend *fake = of(b);

    must_be_prepared(fake, work);
    rl_buf_printf(&fake->requests, "check %s v%u\n", work->unit->id, work->variant);
    if (is(fake->fails_in_check, work))
        return rl_fail(err, RL_E_OUT_OF_MEMORY, NULL, "no memory to check %s", work->unit->id);
    memset(ret, 0, sizeof *ret);
    ret->passed = !is(fake->wrong_result, work);
    ret->wrong = ret->passed ? 0 : 12;
    ret->compared_device = is(fake->compares_nothing, work) ? 0 : 1000000;
    ret->compared_host = is(fake->compares_nothing, work) ? 0 : 10000;
    ret->worst = ret->passed ? 0.25 : 7;
    if (fake->result_words)
        snprintf(ret->detail, sizeof ret->detail, "%s", fake->result_words);
    if (!ret->passed && fake->only_says_wrong)
        ret->wrong = 0;
    if (!ret->passed && fake->only_counts_wrong)
        ret->passed = true;
    return 0;
}

static int sample_of(struct fake_backend *fake, const struct gpu_work *work, enum rl_state state, int64_t launches,
                     unsigned sample, struct gpu_sample *ret)
{
    must_be_prepared(fake, work);
    rl_buf_printf(&fake->requests, "%s %s v%u steps %llu n %lld #%u\n", rl_state_name(state), work->unit->id,
                  work->variant, (unsigned long long)work->dims.steps, (long long)launches, sample);
    ret->launches = launches + is(fake->other_launches, work);
    /* 0.1 percent of noise, the same in every run */
    ret->time_s = (double)launches * launch_time(fake, work, state) * (1 + 0.001 * sin(12.9898 * (sample + 1)));
    if (is(fake->bad_time_unit, work))
        ret->time_s = fake->bad_time;
    ret->sm_hz = fake->hz ? fake->hz(fake, work, state, sample) : FAKE_SM_HZ;
    return 0;
}

static int warm(struct gpu_backend *b, const struct gpu_work *work, int64_t launches, unsigned sample,
                struct gpu_sample *ret, struct rl_err *err)
{
    if (is(of(b)->fails_in_warm, work))
        return rl_fail(err, of(b)->warm_error, NULL, "%s does not run", work->unit->id);
    return sample_of(of(b), work, RL_WARM, launches, sample, ret);
}

static int cold(struct gpu_backend *b, const struct gpu_work *work, unsigned sample, struct gpu_sample *ret,
                struct rl_err *err)
{
    (void)err;
    return sample_of(of(b), work, RL_COLD, 1, sample, ret);
}

static struct gpu_counts counts_of(double dram, double all)
{
    return (struct gpu_counts){
        .dram_read = rl_known(dram / 2),
        .dram_write = rl_known(dram / 2),
        .l2 = rl_known(all * 1.5),
        .l2_sm_sectors = rl_known(all / 32),
        .l1 = rl_known(all),
        .warps_active_pct = rl_known(87.5),
    };
}

static double factor(double value)
{
    return value > 0 ? value : 1;
}

static void answer_bytes(const struct fake_backend *fake, const struct gpu_count_item *item,
                         struct gpu_count_answer *ret)
{
    bool is_copy = strcmp(item->work.unit->id, "dram_copy") == 0;
    double ask = (double)item->work.unit->ask_bytes(&item->work.dims), n = (double)item->launches;
    double one = is_copy ? factor(item->state == RL_WARM ? fake->copy_warm : fake->copy_cold) : 1;
    double four = is_copy ? factor(item->state == RL_WARM ? fake->copy_warm_four : fake->copy_cold) : 1;

    if (is(fake->unsteady, &item->work))
        four *= 1.05;
    if (fake->all_zero || is(fake->zero_dram, &item->work))
        one = four = 0;
    ret->one = counts_of(one * ask * n, ask * n);
    ret->four = item->state == RL_WARM ? counts_of(four * ask * n * 4, ask * n * 4)
                                       : counts_of(four * ask + FAKE_FLUSH, ask + FAKE_FLUSH);
    if (is(fake->below_flush, &item->work) && item->state == RL_COLD)
        ret->four = counts_of(FAKE_FLUSH - 5000, FAKE_FLUSH);
    if (fake->all_absent || is(fake->absent_dram, &item->work))
        ret->one.dram_read = ret->one.dram_write = ret->four.dram_read = ret->four.dram_write = rl_unknown("dropped");
}

static void answer_flop(const struct fake_backend *fake, const struct gpu_count_item *item,
                        struct gpu_count_answer *ret)
{
    uint64_t flop = item->work.unit->flop(&item->work.dims);

    if (is(fake->flop_off, &item->work))
        flop = flop ? flop + flop / 100 : 8;
    if (is(fake->half, &item->work)) { /* constants loaded by HFMA2: no flop of the kernel */
        ret->fp16_fma = rl_known((double)(flop / 8));
        ret->fp16_mul = rl_known((double)(flop / 8));
    }
    if (is(fake->wide, &item->work)) {
        ret->fp64_fma = rl_known((double)(flop / 4));
        ret->fp64_add = rl_known((double)(flop / 4));
        flop -= flop / 4 * 3;
    }
    ret->fp32_fma = rl_known((double)(flop / 4));
    ret->fp32_mul = rl_known((double)(flop / 4));
    ret->fp32_add = rl_known((double)(flop - flop / 4 * 3));
    if (is(fake->no_flop, &item->work))
        ret->fp32_mul = rl_unknown("dropped");
    ret->local_bytes = rl_known(0);
}

static int count(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_count_item *items, size_t count,
                 struct gpu_count_answer *answers, struct gpu_count_session *ret,
                 bool (*progress)(void *arg, size_t done, size_t total), void *arg, struct rl_err *err)
{
    struct fake_backend *fake = of(b);

    (void)arena;
    if (fake->count_error)
        return rl_fail(err, fake->count_error, NULL, "the session failed");
    memset(ret, 0, sizeof *ret);
    ret->chip = (struct rl_text){"GH100", NULL};
    ret->counters.status = fake->count_status ? fake->count_status : "ok";
    ret->counters.why =
        (struct rl_text){fake->count_status ? "refused by the model" : NULL, fake->count_status ? NULL : "ok"};
    ret->counters.passes.value = fake->count_status ? 0 : 2;
    ret->empty = counts_of(fake->empty_bytes, 0);
    ret->flush_count = 5;
    for (size_t i = 0; i < ret->flush_count; i++)
        ret->flush[i] = counts_of(FAKE_FLUSH + fake->flush_spread * ((double)i - 2) / 4, FAKE_FLUSH);
    for (size_t i = 0; i < count; i++) {
        memset(&answers[i], 0, sizeof answers[i]); /* counters of flop that no unit uses count 0 */
        rl_buf_printf(&fake->requests, "count %s %s v%u n %lld\n", items[i].work.unit->id,
                      rl_state_name(items[i].state), items[i].work.variant, (long long)items[i].launches);
        answer_bytes(fake, &items[i], &answers[i]);
        answer_flop(fake, &items[i], &answers[i]);
        if (progress && !progress(arg, i + 1, count))
            return rl_fail(err, RL_E_CANCELLED, NULL, "stopped");
    }
    return 0;
}

static int profile(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err)
{
    (void)b;
    (void)works;
    (void)count;
    return rl_fail(err, RL_E_NOT_IMPLEMENTED, NULL, "the model has no profiler");
}

static void close_fake(struct gpu_backend *b)
{
    rl_buf_free(&of(b)->requests);
    free(b);
}

static const struct gpu_backend_ops ops = {
    .name = "fake",
    .source = RL_MEASURED,
    .identify = identify,
    .driver_now = driver_now,
    .card_state = card_state,
    .reserve = reserve,
    .spin = spin,
    .prepare = prepare,
    .describe = describe,
    .check = check,
    .warm = warm,
    .cold = cold,
    .count = count,
    .profile = profile,
    .close = close_fake,
};

struct fake_backend *fake_new(void)
{
    struct fake_backend *fake = calloc(1, sizeof *fake);

    if (!fake)
        abort();
    fake->base.ops = &ops;
    fake->driver_at_end = "580.159.04";
    fake->binary = "sm_90";
    fake->flush_spread = 1000;
    fake->empty_bytes = 300;
    rl_buf_init(&fake->requests, (size_t)8 << 20);
    return fake;
}
