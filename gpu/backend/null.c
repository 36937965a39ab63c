/* The backend of a node that cannot measure: every call fails with the error that says why. */
#include <stdlib.h>

#include "gpu/backend/backend.h"

struct null_backend {
    struct gpu_backend base; /* first */
    struct rl_err why;
};

static int null_fail(const struct gpu_backend *b, struct rl_err *err)
{
    const struct null_backend *null = (const struct null_backend *)b;
    return rl_fail(err, null->why.code, null->why.field[0] ? null->why.field : NULL, "%s", null->why.message);
}

static int null_identify(struct gpu_backend *b, struct rl_arena *arena, struct rl_device *ret_device,
                         struct rl_environment *ret_environment, struct rl_err *err)
{
    (void)arena, (void)ret_device, (void)ret_environment;
    return null_fail(b, err);
}
static int null_driver_now(struct gpu_backend *b, struct rl_arena *arena, struct rl_text *ret, struct rl_err *err)
{
    (void)arena, (void)ret;
    return null_fail(b, err);
}
static int null_card_state(struct gpu_backend *b, struct rl_arena *arena, const char *at, struct gpu_card_state *ret,
                           struct rl_err *err)
{
    (void)arena, (void)at, (void)ret;
    return null_fail(b, err);
}
static int null_works(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err)
{
    (void)works, (void)count;
    return null_fail(b, err);
}
static int null_spin(struct gpu_backend *b, unsigned step, double *ret_sm_hz, struct rl_err *err)
{
    (void)step, (void)ret_sm_hz;
    return null_fail(b, err);
}
static int null_prepare(struct gpu_backend *b, const struct gpu_work *work, struct rl_err *err)
{
    (void)work;
    return null_fail(b, err);
}
static int null_describe(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_work *work,
                         struct gpu_launch *ret, struct rl_err *err)
{
    (void)arena, (void)work, (void)ret;
    return null_fail(b, err);
}
static int null_check(struct gpu_backend *b, const struct gpu_work *work, struct gpu_result *ret, struct rl_err *err)
{
    (void)work, (void)ret;
    return null_fail(b, err);
}
static int null_warm(struct gpu_backend *b, const struct gpu_work *work, int64_t launches, unsigned sample,
                     struct gpu_sample *ret, struct rl_err *err)
{
    (void)work, (void)launches, (void)sample, (void)ret;
    return null_fail(b, err);
}
static int null_cold(struct gpu_backend *b, const struct gpu_work *work, unsigned sample, struct gpu_sample *ret,
                     struct rl_err *err)
{
    (void)work, (void)sample, (void)ret;
    return null_fail(b, err);
}
static int null_count(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_count_item *items, size_t count,
                      struct gpu_count_answer *answers, struct gpu_count_session *ret_session,
                      bool (*progress)(void *arg, size_t done, size_t total), void *arg, struct rl_err *err)
{
    (void)arena, (void)items, (void)count, (void)answers, (void)ret_session, (void)progress, (void)arg;
    return null_fail(b, err);
}
static int null_probe_counters(struct gpu_backend *b, struct rl_err *err)
{
    return null_fail(b, err);
}
static void null_close(struct gpu_backend *b)
{
    free(b);
}

static const struct gpu_backend_ops null_ops = {
    .name = "null",
    .source = RL_MEASURED,
    .identify = null_identify,
    .driver_now = null_driver_now,
    .card_state = null_card_state,
    .reserve = null_works,
    .spin = null_spin,
    .prepare = null_prepare,
    .describe = null_describe,
    .check = null_check,
    .warm = null_warm,
    .cold = null_cold,
    .count = null_count,
    .profile = null_works,
    .probe_counters = null_probe_counters,
    .close = null_close,
};

int gpu_backend_open_null(const struct rl_err *why, struct gpu_backend **ret, struct rl_err *err)
{
    struct null_backend *null = calloc(1, sizeof *null);
    if (!null)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the null backend");
    null->base.ops = &null_ops;
    null->why = *why;
    *ret = &null->base;
    return 0;
}
