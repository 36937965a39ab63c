/* Each call: the faults strike, the wrapped backend answers, the faults alter the answer. */
#include "tests/tools/faulty_backend.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/backend/count_fields.h"

struct faulty {
    struct gpu_backend backend;
    struct gpu_backend_ops ops; /* name and source of inner */
    struct gpu_backend *inner;
    struct faults *faults;
};

static struct faulty *of(struct gpu_backend *b)
{
    return (struct faulty *)b;
}

/* What the callers of a backend set on it. */
static struct gpu_backend *inner_of(struct gpu_backend *b)
{
    struct gpu_backend *inner = of(b)->inner;
    inner->sizes = b->sizes;
    inner->will_count = b->will_count;
    return inner;
}

static int strike(struct gpu_backend *b, enum fault_on on, struct fault_hits *ret, struct rl_err *err)
{
    struct fault_moment moment = fault_moment(on, b->sizes);
    return faults_strike(of(b)->faults, &moment, ret, err);
}

static int strike_work(struct gpu_backend *b, enum fault_on on, const struct gpu_work *work, struct fault_hits *ret,
                       struct rl_err *err)
{
    struct fault_moment moment = fault_moment_work(on, work);
    return faults_strike(of(b)->faults, &moment, ret, err);
}

static int identify(struct gpu_backend *b, struct rl_arena *arena, struct rl_device *ret_device,
                    struct rl_environment *ret_environment, struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_hits hits;
    if (strike(b, FAULT_ON_IDENTIFY, &hits, err) != 0)
        return -1;
    int rc = inner->ops->identify(inner, arena, ret_device, ret_environment, err);
    b->shared_why = inner->shared_why;
    return rc;
}

static int driver_now(struct gpu_backend *b, struct rl_arena *arena, struct rl_text *ret, struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_hits hits;
    if (strike(b, FAULT_ON_DRIVER_NOW, &hits, err) != 0 || inner->ops->driver_now(inner, arena, ret, err) != 0)
        return -1;
    const char *set = fault_text(&hits, "value");
    if (!set)
        return 0;
    *ret = (struct rl_text){rl_arena_strdup(arena, set), NULL};
    return ret->value ? 0 : rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the driver's version");
}

static int card_state(struct gpu_backend *b, struct rl_arena *arena, const char *at, struct gpu_card_state *ret,
                      struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_moment moment = fault_moment(FAULT_ON_CARD_STATE, b->sizes);
    struct fault_hits hits;
    moment.at = at;
    if (faults_strike(of(b)->faults, &moment, &hits, err) != 0 ||
        inner->ops->card_state(inner, arena, at, ret, err) != 0)
        return -1;
    fault_real(&hits, "sm_hz", arena, &ret->sm_hz);
    fault_real(&hits, "memory_hz", arena, &ret->memory_hz);
    fault_real(&hits, "temperature_c", arena, &ret->temperature_c);
    fault_real(&hits, "power_w", arena, &ret->power_w);
    fault_real(&hits, "energy_j", arena, &ret->energy_j);
    fault_count(&hits, "other_processes", &ret->other_processes);
    const json_t *reasons = fault_list(&hits, "reasons"), *word;
    size_t index;
    if (reasons)
        ret->reasons = (struct rl_strings){NULL, 0};
    json_array_foreach(reasons, index, word)
    {
        if (rl_strings_add(arena, &ret->reasons, json_string_value(word)) != 0)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the card's state");
    }
    return 0;
}

static int reserve(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_hits hits;
    if (strike(b, FAULT_ON_RESERVE, &hits, err) != 0)
        return -1;
    return inner->ops->reserve(inner, works, count, err);
}

static int spin(struct gpu_backend *b, unsigned step, double *ret_sm_hz, struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_moment moment = fault_moment(FAULT_ON_SPIN, b->sizes);
    struct fault_hits hits;
    moment.sample = step;
    if (faults_strike(of(b)->faults, &moment, &hits, err) != 0 || inner->ops->spin(inner, step, ret_sm_hz, err) != 0)
        return -1;
    fault_number(&hits, "sm_hz", ret_sm_hz);
    return 0;
}

static int prepare(struct gpu_backend *b, const struct gpu_work *work, struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_hits hits;
    if (strike_work(b, FAULT_ON_PREPARE, work, &hits, err) != 0)
        return -1;
    return inner->ops->prepare(inner, work, err);
}

static int describe(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_work *work, struct gpu_launch *ret,
                    struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_hits hits;
    if (strike_work(b, FAULT_ON_DESCRIBE, work, &hits, err) != 0)
        return -1;
    return inner->ops->describe(inner, arena, work, ret, err);
}

static int check(struct gpu_backend *b, const struct gpu_work *work, struct gpu_result *ret, struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_hits hits;
    if (strike_work(b, FAULT_ON_CHECK, work, &hits, err) != 0 || inner->ops->check(inner, work, ret, err) != 0)
        return -1;
    fault_bool(&hits, "passed", &ret->passed);
    fault_unsigned(&hits, "compared_device", &ret->compared_device);
    fault_unsigned(&hits, "compared_host", &ret->compared_host);
    fault_unsigned(&hits, "wrong", &ret->wrong);
    fault_unsigned(&hits, "worst_index", &ret->worst_index);
    fault_number(&hits, "worst", &ret->worst);
    const char *detail = fault_text(&hits, "detail");
    if (detail) /* fault_check has bounded it */
        memcpy(ret->detail, detail, strlen(detail) + 1);
    return 0;
}

static int strike_sample(struct gpu_backend *b, enum fault_on on, const struct gpu_work *work, int64_t launches,
                         unsigned sample, struct fault_hits *ret, struct rl_err *err)
{
    struct fault_moment moment = fault_moment_work(on, work);
    moment.launches = launches;
    moment.sample = sample;
    return faults_strike(of(b)->faults, &moment, ret, err);
}

static void alter_sample(const struct fault_hits *hits, struct gpu_sample *sample)
{
    fault_number(hits, "time_s", &sample->time_s);
    fault_number(hits, "sm_hz", &sample->sm_hz);
}

static int warm(struct gpu_backend *b, const struct gpu_work *work, int64_t launches, unsigned sample,
                struct gpu_sample *ret, struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_hits hits;
    if (strike_sample(b, FAULT_ON_WARM, work, launches, sample, &hits, err) != 0 ||
        inner->ops->warm(inner, work, launches, sample, ret, err) != 0)
        return -1;
    alter_sample(&hits, ret);
    return 0;
}

static int cold(struct gpu_backend *b, const struct gpu_work *work, unsigned sample, struct gpu_sample *ret,
                struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_hits hits;
    if (strike_sample(b, FAULT_ON_COLD, work, 1, sample, &hits, err) != 0 ||
        inner->ops->cold(inner, work, sample, ret, err) != 0)
        return -1;
    alter_sample(&hits, ret);
    return 0;
}

/* ---- counters ---- */

/* A counter session in progress: the faults of an item strike between its ranges and those before it. */
struct counting {
    struct faulty *faulty;
    const struct gpu_count_item *items;
    struct fault_hits *hits; /* by item */
    bool (*progress)(void *arg, size_t done, size_t total);
    void *arg;
    bool struck; /* a fault ended it, with err */
    struct rl_err err;
};

static bool strike_item(void *arg, size_t done, size_t total)
{
    struct counting *c = arg;
    const struct gpu_count_item *item = &c->items[done];
    struct fault_moment moment = fault_moment_work(FAULT_ON_COUNT, &item->work);
    if (c->progress && !c->progress(c->arg, done, total))
        return false;
    moment.launches = item->launches;
    moment.state = (int)item->state;
    c->struck = faults_strike(c->faulty->faults, &moment, &c->hits[done], &c->err) != 0;
    return !c->struck;
}

static void alter_range(const struct fault_hits *hits, struct rl_arena *arena, struct gpu_counts *counts)
{
    for (size_t i = 0; i < GPU_RANGE_FIELDS; i++)
        fault_real(hits, gpu_range_name(i), arena, gpu_range_field(counts, i));
}

static void alter_answer(const struct fault_hits *hits, struct rl_arena *arena, struct gpu_count_answer *answer)
{
    alter_range(hits, arena, &answer->one);
    alter_range(hits, arena, &answer->four);
    for (size_t i = 0; i < GPU_LAUNCH_FIELDS; i++)
        fault_real(hits, gpu_launch_name(i), arena, gpu_launch_field(answer, i));
}

static void blank_range(struct gpu_counts *counts, const char *why)
{
    for (size_t i = 0; i < GPU_RANGE_FIELDS; i++)
        *gpu_range_field(counts, i) = rl_unknown(why);
}

static void blank_answer(struct gpu_count_answer *answer, const char *why)
{
    blank_range(&answer->one, why);
    blank_range(&answer->four, why);
    for (size_t i = 0; i < GPU_LAUNCH_FIELDS; i++)
        *gpu_launch_field(answer, i) = rl_unknown(why);
}

/* What a session answers that could not be had. */
static int refuse_session(const json_t *fault, struct rl_arena *arena, struct gpu_count_session *session,
                          struct gpu_count_answer *answers, size_t count, struct rl_err *err)
{
    const char *status = rl_arena_strdup(arena, json_string_value(json_object_get(fault, "status")));
    const char *why = rl_arena_strdup(arena, json_string_value(json_object_get(fault, "reason")));
    if (!status || !why)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the counter session");
    memset(session, 0, sizeof *session);
    session->chip = (struct rl_text){NULL, why};
    session->counters.status = status;
    session->counters.why = (struct rl_text){why, NULL};
    session->counters.passes = (struct rl_count){0, why};
    session->counters.floor_dram_bytes = session->counters.flush_dram_bytes = session->counters.flush_spread_bytes =
        session->counters.self_test = rl_unknown(why);
    blank_range(&session->empty, why);
    for (size_t i = 0; i < count; i++)
        blank_answer(&answers[i], why);
    return 0;
}

static int count(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_count_item *items, size_t item_count,
                 struct gpu_count_answer *answers, struct gpu_count_session *ret_session,
                 bool (*progress)(void *arg, size_t done, size_t total), void *arg, struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct counting counting = {.faulty = of(b), .items = items, .progress = progress, .arg = arg};
    struct fault_hits session;
    if (strike(b, FAULT_ON_COUNT, &session, err) != 0)
        return -1;
    counting.hits = calloc(item_count + 1, sizeof *counting.hits);
    if (!counting.hits)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the faults of a counter session");
    int rc = inner->ops->count(inner, arena, items, item_count, answers, ret_session, strike_item, &counting, err);
    b->shared_why = inner->shared_why;
    if (counting.struck)
        rc = rl_fail(err, counting.err.code, NULL, "%s", counting.err.message);
    else if (rc == 0 && fault_session(&session))
        rc = refuse_session(fault_session(&session), arena, ret_session, answers, item_count, err);
    else if (rc == 0)
        for (size_t i = 0; i < item_count; i++)
            alter_answer(&counting.hits[i], arena, &answers[i]);
    free(counting.hits);
    return rc;
}

static int profile(struct gpu_backend *b, const struct gpu_work *works, size_t work_count, struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_hits hits;
    if (strike(b, FAULT_ON_PROFILE, &hits, err) != 0)
        return -1;
    return inner->ops->profile(inner, works, work_count, err);
}

static int probe_counters(struct gpu_backend *b, struct rl_err *err)
{
    struct gpu_backend *inner = inner_of(b);
    struct fault_hits hits;
    if (strike(b, FAULT_ON_COUNT, &hits, err) != 0)
        return -1;
    const json_t *refused = fault_session(&hits);
    if (refused)
        return rl_fail(err, rl_code_from_id(json_string_value(json_object_get(refused, "status"))), NULL, "%s",
                       json_string_value(json_object_get(refused, "reason")));
    int rc = inner->ops->probe_counters(inner, err);
    memcpy(b->chip, inner->chip, sizeof b->chip);
    return rc;
}

static void close_faulty(struct gpu_backend *b)
{
    struct faulty *faulty = of(b);
    faulty->inner->ops->close(faulty->inner);
    faults_free(faulty->faults);
    free(faulty);
}

int faulty_backend_open(struct gpu_backend *inner, json_t *rules, struct gpu_backend **ret, struct rl_err *err)
{
    struct faulty *faulty = calloc(1, sizeof *faulty);
    struct faults *faults = faults_new(rules);
    if (!faulty || !faults) {
        free(faulty);
        faults_free(faults);
        inner->ops->close(inner);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a backend with faults");
    }
    faulty->backend = *inner;
    faulty->inner = inner;
    faulty->faults = faults;
    faulty->ops = (struct gpu_backend_ops){.name = inner->ops->name,
                                           .source = inner->ops->source,
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
                                           .probe_counters = inner->ops->probe_counters ? probe_counters : NULL,
                                           .close = close_faulty};
    faulty->backend.ops = &faulty->ops;
    *ret = &faulty->backend;
    return 0;
}

struct faults *faulty_backend_faults(struct gpu_backend *faulty)
{
    return of(faulty)->faults;
}
