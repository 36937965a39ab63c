/* What the cuda backend tells the GPU to do, in which order: its files are built here over a stand-in for CUDA's
 * runtime, the kernels and the counters (tests/unit/cuda/fake_cuda.h). */
#include "tests/unit/cuda/fake_cuda.h"

#include <stdio.h>
#include <string.h>

/* ---- fixture ---- */

static struct rl_clock_mark host_marks[2];
static const struct gpu_work works[] = {{.unit = &fake_add, .dims = {.n = 2}},
                                        {.unit = &fake_copy, .dims = {.n = 3}, .variant = 1}};

static struct cuda_backend make(void)
{
    memset(&fake, 0, sizeof fake);
    fake.elapsed_ms = 2;
    fake.second_sm = 3;
    fake.hardware_passes = 1;
    return (struct cuda_backend){
        .l2_bytes = 5000, .host_marks = host_marks, .lock_fd = -1, .properties.persistingL2CacheMaxSize = 1};
}
static void reserve(struct cuda_backend *b)
{
    struct rl_err err = {0};
    fake.backend = b;
    if (cuda_reserve(&b->base, works, 2, &err))
        fail_msg("%s", err.message);
    fake_clear_trace();
}

static void memory_is_one_allocation_of_disjoint_parts(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct rl_err err = {0};
    assert_int_equal(cuda_reserve(&b.base, works, 2, &err), 0);
    assert_string_equal(fake.text, "malloc unpersist fill fill");
    assert_int_equal(b.arena_bytes, 3000);
    assert_int_equal(b.flush_bytes, 20480);
    const struct {
        const void *at;
        size_t bytes;
    } parts[] = {
        {b.arena, 3000},     {b.scratch, 100},    {b.spin_arena, 1000},
        {b.flush[0], 20480}, {b.flush[1], 20480}, {b.marks, 2 * sizeof *b.marks},
        {b.sink, 4},
    };
    for (size_t i = 0; i + 1 < sizeof parts / sizeof *parts; i++) {
        assert_true((const char *)parts[i].at + parts[i].bytes <= (const char *)parts[i + 1].at);
        assert_int_equal(((const char *)parts[i].at - (const char *)b.memory) % 512, 0);
    }
    /* a later run of the same backend, for other sizes: what was prepared is gone with its memory */
    assert_int_equal(cuda_prepare(&b.base, &works[0], &err), 0);
    fake_clear_trace();
    assert_int_equal(cuda_reserve(&b.base, works, 2, &err), 0);
    assert_string_equal(fake.text, "free malloc unpersist fill fill");
    assert_null(b.prepared.unit);
}

static void too_little_memory_says_how_much(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct rl_err err = {0};
    fake.malloc_error = cudaErrorMemoryAllocation;
    assert_int_equal(cuda_reserve(&b.base, works, 2, &err), -1);
    assert_int_equal(err.code, RL_E_OUT_OF_MEMORY);
    assert_non_null(strstr(err.message, "1 of 16 MB free"));
    assert_null(b.memory);
    b = make();
    fake.persist_error = cudaErrorUnsupportedLimit; /* under MIG */
    assert_int_equal(cuda_reserve(&b.base, works, 2, &err), 0);
}

static void a_warm_batch_follows_its_warm_up(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct gpu_sample sample = {0};
    struct rl_err err = {0};
    reserve(&b);
    assert_int_equal(cuda_warm(&b.base, &works[0], 4, 0, &sample, &err), -1); /* no inputs yet */
    assert_int_equal(cuda_prepare(&b.base, &works[0], &err), 0);
    fake_clear_trace();
    assert_int_equal(cuda_warm(&b.base, &works[0], 4, 0, &sample, &err), 0);
    assert_string_equal(fake.text, "add add add mark0 event add add add add event mark1 sync");
    assert_true(sample.time_s > 1.999e-3 && sample.time_s < 2.001e-3);
    assert_int_equal(sample.launches, 4);
    assert_true(sample.sm_hz == 1.98e9);
    fake.second_sm = 4;
    assert_int_equal(cuda_warm(&b.base, &works[0], 4, 1, &sample, &err), 0);
    assert_true(sample.sm_hz == 0);
    fake_clear_trace();
    assert_int_equal(cuda_warm(&b.base, &works[0], 12, 0, &sample, &err), 0);
    const char *begin = strstr(fake.text, " mark0"); /* a short kernel warms up as long as its batch lasts */
    assert_int_equal(begin - fake.text, strlen("add ") * 12 - 1);
    fake_clear_trace();
    assert_int_equal(cuda_warm(&b.base, &works[0], 12, 1, &sample, &err), 0); /* the batch before has warmed it up */
    begin = strstr(fake.text, " mark0");
    assert_int_equal(begin - fake.text, strlen("add ") * 3 - 1);
    assert_int_equal(cuda_cold(&b.base, &works[0], 0, &sample, &err), 0);
    fake_clear_trace();
    assert_int_equal(cuda_warm(&b.base, &works[0], 12, 2, &sample, &err), 0); /* the flush in between has not */
    begin = strstr(fake.text, " mark0");
    assert_int_equal(begin - fake.text, strlen("add ") * 12 - 1);
    assert_int_equal(cuda_warm(&b.base, &works[1], 4, 0, &sample, &err), -1); /* another unit's inputs */
    assert_int_equal(cuda_warm(&b.base, &works[0], 0, 0, &sample, &err), -1);
    fake.elapsed_ms = 0;
    assert_int_equal(cuda_warm(&b.base, &works[0], 1, 0, &sample, &err), -1);
    assert_int_equal(err.code, RL_E_CUDA_FAILED);
}

static void a_cold_launch_follows_a_flush_without_a_wait(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct gpu_sample sample = {0};
    struct rl_err err = {0};
    reserve(&b);
    assert_int_equal(cuda_prepare(&b.base, &works[1], &err), 0);
    fake_clear_trace();
    assert_int_equal(cuda_cold(&b.base, &works[1], 0, &sample, &err), 0);
    assert_string_equal(fake.text, "mark0 flushA event copy1 event mark1 sync");
    assert_int_equal(sample.launches, 1);
}

static void a_launch_error_names_unit_and_cause(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct gpu_sample sample = {0};
    struct rl_err err = {0};
    reserve(&b);
    assert_int_equal(cuda_prepare(&b.base, &works[0], &err), 0);
    fake.launch_error = cudaErrorIllegalAddress;
    assert_int_equal(cuda_warm(&b.base, &works[0], 4, 0, &sample, &err), -1);
    assert_int_equal(err.code, RL_E_CUDA_FAILED);
    assert_non_null(strstr(err.message, "add"));
    assert_non_null(strstr(err.message, "cudaErrorIllegalAddress (700)"));
}

static void a_profiler_sees_one_launch_each_and_no_fill(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct rl_err err = {0};
    reserve(&b);
    assert_int_equal(cuda_profile(&b.base, works, 2, &err), 0);
    assert_string_equal(fake.text, "reset:add sync start add sync stop reset:copy sync start copy1 sync stop");
    fake_clear_trace();
    fake.launch_error = cudaErrorIllegalAddress;
    assert_int_equal(cuda_profile(&b.base, works, 1, &err), -1);
    assert_string_equal(fake.text, "reset:add sync start add stop");
}

static void a_check_is_of_one_launch_on_fresh_inputs(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct gpu_result result = {0};
    struct rl_err err = {0};
    reserve(&b);
    assert_int_equal(cuda_result_check(&b.base, &works[0], &result, &err), 0);
    assert_string_equal(fake.text, "reset:add add check:add");
    assert_true(result.passed);
    assert_int_equal(result.compared_device, 9);
    assert_string_equal(result.detail, "fine");
}

static void spinning_takes_about_20_ms_and_its_own_memory(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct rl_err err = {0};
    double hz = 0;
    reserve(&b);
    assert_int_equal(cuda_prepare(&b.base, &works[0], &err), 0);
    fake_clear_trace();
    fake.elapsed_ms = 8; /* of two launches: 4 ms each */
    assert_int_equal(cuda_spin(&b.base, 0, &hz, &err), 0);
    assert_int_equal(b.spin_launches, 5);
    assert_true(hz == 1.98e9);
    assert_ptr_equal(b.prepared.unit, &fake_add); /* a unit's inputs outlive a spin */
    fake_clear_trace();
    assert_int_equal(cuda_spin(&b.base, 1, &hz, &err), 0);
    assert_string_equal(fake.text, "mark0 event chain chain chain chain chain event mark1 sync");
}

/* ---- counting ---- */

static const struct gpu_count_item items[] = {
    {.work = {.unit = &fake_add, .dims = {.n = 2}}, .state = RL_WARM, .launches = 2},
    {.work = {.unit = &fake_add, .dims = {.n = 2}}, .state = RL_COLD, .launches = 1},
    {.work = {.unit = &fake_copy, .dims = {.n = 3}, .variant = 1}, .state = RL_WARM, .launches = 1},
};

struct counted {
    struct rl_arena *arena;
    struct gpu_count_answer answers[3];
    struct gpu_count_session session;
    struct rl_err err;
    int result;
};

static bool stop_at(void *arg, size_t done, size_t total)
{
    assert_true(done <= total);
    assert_int_equal(total, 1 + 5 + 6 + 2);
    return done < *(size_t *)arg;
}

static struct counted count(struct cuda_backend *b, bool (*progress)(void *, size_t, size_t), void *arg)
{
    struct counted c = {.arena = rl_arena_new(1 << 16)};
    reserve(b);
    c.result = cuda_count(&b->base, c.arena, items, 3, c.answers, &c.session, progress, arg, &c.err);
    return c;
}

static void every_range_holds_its_launches_and_nothing_else(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct counted c = count(&b, NULL, NULL);
    if (c.result)
        fail_msg("%s", c.err.message);
    assert_string_equal(
        fake.text,
        "reset:add add reset:copy copy1 nothing flushA flushB sync open "
        "hardware(12) { [empty: nothing ] "
        "flushA [flush 0: flushB ] flushA [flush 1: flushB ] flushA [flush 2: flushB ] flushA [flush 3: flushB ] "
        "flushA [flush 4: flushB ] "
        "reset:add add [one 0: add add ] add [four 0: add add add add add add add add ] "
        "reset:add flushA [one 1: add ] flushA [four 1: add flushB ] "
        "reset:copy copy1 [one 2: copy1 ] copy1 [four 2: copy1 copy1 copy1 copy1 ] } decode "
        "sass(2) { reset:add [sass 0: add ] reset:copy [sass 2: copy1 ] } decode");
    assert_string_equal(c.session.counters.status, "ok");
    assert_string_equal(c.session.chip.value, "GH100");
    assert_non_null(c.session.counters.why.why);
    assert_int_equal(c.session.counters.passes.value, 2);
    assert_int_equal(c.session.counters.metric_count, COUNTER_COUNT - 1 + 1); /* one has none, one has two */
    assert_true(c.session.empty.dram_read.value == 500000 + COUNTER_DRAM_READ);
    assert_int_equal(c.session.flush_count, 5);
    assert_true(c.session.flush[4].dram_write.value == 304000 + COUNTER_DRAM_WRITE);
    assert_true(c.answers[0].one.l1.value == 100000 + COUNTER_L1);
    assert_true(c.answers[1].four.l2_sm_sectors.value == 201000 + COUNTER_L2_SM_SECTORS);
    assert_true(c.answers[2].one.warps_active_pct.value == 102000 + COUNTER_WARPS_ACTIVE);
    /* the warm and the cold item of a unit share its SASS range */
    assert_true(c.answers[0].fp64_add.value == 400000 + COUNTER_FP64_ADD);
    assert_true(c.answers[1].fp32_fma.value == 400000 + COUNTER_FP32_FMA);
    assert_true(c.answers[2].local_bytes.value == 402000 + COUNTER_LOCAL_BYTES);
    assert_true(c.answers[2].fp16_mul.value == 402000 + COUNTER_FP16_MUL);
    assert_int_equal(fake.locks, 1);
    assert_int_equal(fake.unlocks, 1);
    assert_int_equal(fake.opens, fake.closes);
    assert_null(b.base.shared_why);
    rl_arena_free(c.arena);
}

static void more_passes_run_the_same_ranges(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    fake.hardware_passes = 3;
    struct counted c = count(&b, NULL, NULL);
    size_t empties = 0;
    assert_int_equal(c.result, 0);
    for (const char *at = fake.text; (at = strstr(at, "[empty:")); at++)
        empties++;
    assert_int_equal(empties, 3);
    assert_int_equal(c.session.counters.passes.value, 4);
    rl_arena_free(c.arena);
    b = make();
    fake.hardware_passes = 1000; /* a set that never ends */
    c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "counters_failed");
    rl_arena_free(c.arena);
}

static void assert_blank(const struct counted *c, const char *words)
{
    const char *reasons[] = {
        c->answers[0].one.dram_read.why,   c->answers[1].four.l1.why,
        c->answers[2].fp32_fma.why,        c->answers[0].local_bytes.why,
        c->session.empty.dram_write.why,   c->session.flush[0].l2.why,
        c->session.counters.passes.why,    c->session.counters.floor_dram_bytes.why,
        c->session.counters.self_test.why,
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (!reasons[i] || !strstr(reasons[i], words))
            fail_msg("reason %zu: %s", i, reasons[i] ? reasons[i] : "none");
    assert_int_equal(c->session.flush_count, 0);
    assert_non_null(strstr(c->session.counters.why.value, words));
    assert_int_equal(fake.opens, fake.closes);
    assert_int_equal(fake.locks, fake.unlocks);
}

static void a_session_that_cannot_be_had_is_a_status(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    fake.open_fails = RL_E_COUNTERS_PERMISSION;
    struct counted c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "counters_permission");
    assert_blank(&c, "no permission to count");
    rl_arena_free(c.arena);
    /* in the middle, and after the hardware set was read: nothing half is left */
    b = make();
    fake.range_fails = RL_E_COUNTERS_FAILED;
    fake.range_fails_at = 9;
    c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "counters_failed");
    assert_blank(&c, "the range failed");
    rl_arena_free(c.arena);
    b = make();
    fake.set_fails = RL_E_COUNTERS_BUSY;
    c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "counters_busy");
    assert_blank(&c, "the set failed");
    rl_arena_free(c.arena);
    b = make();
    fake.lock_fails = RL_E_DEVICE_BUSY;
    c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "counters_busy");
    assert_null(strstr(fake.text, "open"));
    rl_arena_free(c.arena);
}

static void an_error_of_cuda_or_a_stop_fails_the_call(void **state)
{
    (void)state;
    size_t stop = 8;
    struct cuda_backend b = make();
    struct counted c = count(&b, stop_at, &stop);
    assert_int_equal(c.result, -1);
    assert_int_equal(c.err.code, RL_E_CANCELLED);
    assert_int_equal(fake.opens, fake.closes);
    assert_int_equal(fake.locks, fake.unlocks);
    rl_arena_free(c.arena);
    b = make();
    fake.launch_error = cudaErrorIllegalAddress;
    c = count(&b, NULL, NULL);
    assert_int_equal(c.result, -1);
    assert_int_equal(c.err.code, RL_E_CUDA_FAILED);
    assert_int_equal(fake.locks, fake.unlocks);
    rl_arena_free(c.arena);
}

static void an_open_lock_file_that_is_denied_is_told(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    fake.lock_fails = RL_E_FORBIDDEN;
    struct counted c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "ok");
    assert_non_null(b.base.shared_why);
    rl_arena_free(c.arena);
}

static void reasons_outlive_the_session(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    fake.unknown_range = "one 1";
    struct counted c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.answers[1].one.dram_read.why, "lives in the session");
    rl_arena_free(c.arena);
}

static void a_probe_can_fail(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct rl_err err = {0};
    fake.backend = &b;
    fake.probe_bytes = 4 << 20;
    assert_int_equal(cuda_probe_counters(&b.base, &err), 0);
    assert_string_equal(fake.text, "malloc fill sync open hardware(1) { [probe: fill ] } decode free");
    assert_string_equal(b.base.chip, "GH100");
    assert_int_equal(fake.locks, fake.unlocks);
    fake.probe_bytes = 0;
    assert_int_equal(cuda_probe_counters(&b.base, &err), -1);
    assert_int_equal(err.code, RL_E_COUNTERS_UNRELIABLE);
    fake.unknown_range = "probe";
    assert_int_equal(cuda_probe_counters(&b.base, &err), -1);
    assert_int_equal(err.code, RL_E_COUNTERS_UNRELIABLE);
    fake.open_fails = RL_E_COUNTERS_PERMISSION;
    assert_int_equal(cuda_probe_counters(&b.base, &err), -1);
    assert_int_equal(err.code, RL_E_COUNTERS_PERMISSION);
    assert_int_equal(fake.opens, fake.closes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_one_allocation_of_disjoint_parts),
        cmocka_unit_test(too_little_memory_says_how_much),
        cmocka_unit_test(a_warm_batch_follows_its_warm_up),
        cmocka_unit_test(a_cold_launch_follows_a_flush_without_a_wait),
        cmocka_unit_test(a_launch_error_names_unit_and_cause),
        cmocka_unit_test(a_profiler_sees_one_launch_each_and_no_fill),
        cmocka_unit_test(a_check_is_of_one_launch_on_fresh_inputs),
        cmocka_unit_test(spinning_takes_about_20_ms_and_its_own_memory),
        cmocka_unit_test(every_range_holds_its_launches_and_nothing_else),
        cmocka_unit_test(more_passes_run_the_same_ranges),
        cmocka_unit_test(a_session_that_cannot_be_had_is_a_status),
        cmocka_unit_test(an_error_of_cuda_or_a_stop_fails_the_call),
        cmocka_unit_test(an_open_lock_file_that_is_denied_is_told),
        cmocka_unit_test(reasons_outlive_the_session),
        cmocka_unit_test(a_probe_can_fail),
    };
    return cmocka_run_group_tests_name("cuda sequence", tests, NULL, NULL);
}
