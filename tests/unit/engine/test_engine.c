/* The engine's order, choices, retries and subsets, and what it goes on without, over the fake backend. */
#include "gpu/engine/stop.h"
#include "gpu/suites/document.h"
#include "tests/unit/engine/engine_fixture.h"

struct heard {
    unsigned progress, done, total, samples, counts, telemetry, warnings, devices, lines;
    unsigned most_at_once;
    bool backwards, unnamed;
    char phases[160]; /* each phase once, in order */
    enum rl_code warned;
    size_t most_samples;
};

static void hear_device(void *arg, const struct rl_device *device, const struct rl_environment *environment)
{
    ((struct heard *)arg)->devices += device->name && environment->build;
}

static void hear_progress(void *arg, const char *phase, const char *what, unsigned done, unsigned total)
{
    struct heard *heard = arg;
    size_t used = strlen(heard->phases), len = strlen(phase);

    if (used < len || strcmp(heard->phases + used - len, phase) != 0)
        snprintf(heard->phases + used, sizeof heard->phases - used, " %s", phase);
    if (done > heard->done + heard->most_at_once)
        heard->most_at_once = done - heard->done;
    heard->backwards =
        heard->backwards || done < heard->done || done > total || (heard->total && heard->total != total);
    heard->unnamed = heard->unnamed || !what[0];
    heard->progress++;
    heard->done = done;
    heard->total = total;
}

static void hear_samples(void *arg, const char *unit, enum rl_state state, int64_t launches, const double *times,
                         size_t count)
{
    struct heard *heard = arg;

    assert_true(rl_unit_find(unit) && launches >= 1 && times[0] > 0);
    assert_true(state == RL_WARM || launches == 1);
    heard->samples++;
    heard->most_samples = count > heard->most_samples ? count : heard->most_samples;
}

static void hear_counts(void *arg, const char *unit, enum rl_state state, const struct gpu_count_answer *answer)
{
    (void)state;
    assert_non_null(rl_unit_find(unit));
    assert_true(rl_is_known(answer->one.dram_read));
    ((struct heard *)arg)->counts++;
}

static void hear_telemetry(void *arg, const struct rl_telemetry *telemetry)
{
    assert_non_null(telemetry->at);
    ((struct heard *)arg)->telemetry++;
}

static void hear_log(void *arg, const char *line)
{
    assert_null(strchr(line, '\n'));
    ((struct heard *)arg)->lines++;
}

static void hear_warning(void *arg, enum rl_code code, const char *message)
{
    struct heard *heard = arg;

    assert_true(message[0] != 0);
    heard->warnings++;
    heard->warned = code;
}

static struct engine_events events_of(struct heard *heard)
{
    return (struct engine_events){heard,       hear_device,    hear_progress, hear_samples,
                                  hear_counts, hear_telemetry, hear_log,      hear_warning};
}

static void test_whole_run(void **state)
{
    struct fake_backend *fake = fake_new();
    struct engine_request request = whole_request();
    struct heard heard = {0};
    struct engine_events events = events_of(&heard);
    struct rl_run *run = NULL;
    struct rl_err err = {0};

    (void)state;
    assert_int_equal(engine_run(&fake->base, &request, &events, &run, &err), 0);
    for (size_t i = 0; i < run->check_count; i++)
        assert_passed(run, run->checks[i].name);
    assert_true(run->check_count >= 15);
    assert_int_equal(run->outcome, RL_OK);
    assert_int_equal(run->outcome_reasons.count, 0);
    assert_int_equal(run->row_count, 10);
    assert_int_equal(run->ceiling_count, 7 + 4); /* all warm; copy, read, write and triad cold too */
    assert_string_equal(run->ceilings[0].name, "dram_copy");
    assert_true(run->counter_backed);
    assert_int_equal(run->flags.count, 0);
    assert_string_equal(run->environment.cubin.value, "sm_90");
    assert_string_equal(run->counters.status, "ok");
    assert_string_equal(run->device.chip.value, "GH100"); /* named by the counters */
    assert_null(run->device.chip.why);
    assert_true(rl_is_known(run->ridge_flop_per_byte));

    assert_int_equal(heard.devices, 1);
    assert_string_equal(heard.phases, " start ceilings kernels counters checks");
    assert_false(heard.backwards);
    assert_false(heard.unnamed);
    assert_int_equal(heard.done, heard.total);
    assert_int_equal(heard.most_at_once, 1);
    assert_int_equal(heard.total, 2 + 11 + 20 + 22);
    assert_int_equal(heard.samples, 11 + 20);
    assert_true(heard.most_samples <= STOP_MAX_SAMPLES);
    assert_int_equal(heard.counts, 20 + 2);
    assert_int_equal(heard.telemetry, run->telemetry_count);
    assert_int_equal(heard.telemetry, 2 + 2 * (11 + 20));
    assert_int_equal(heard.warnings, 0);
    assert_true(heard.lines > 40);
    assert_false(fake->prepared_wrong);
    free_both(fake, run);
}

/* The document is what the daemon's strict reader takes. */
static void test_document_is_readable(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run, *back = NULL;
    struct rl_err err = {0};
    json_t *document;

    (void)state;
    for (unsigned broken = 0; broken < 4; broken++) {
        fake->wrong_result = broken == 1 ? "fp32_fma" : NULL;
        fake->fails_in_prepare = broken == 2 ? "matmul_naive" : NULL;
        fake->prepare_error = RL_E_OUT_OF_MEMORY;
        fake->count_status = broken == 3 ? "counters_permission" : NULL;
        fake->blind = broken == 3;
        run = run_whole(fake, NULL);
        document = rl_run_to_json(run);
        assert_non_null(document);
        if (rl_run_from_json(document, &back, &err))
            fail_msg("case %u: %s: %s", broken, err.field, err.message);
        json_decref(document);
        rl_run_free(back);
        rl_run_free(run);
    }
    fake->base.ops->close(&fake->base);
}

static void test_figures(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run = run_whole(fake, NULL);
    const struct rl_ceiling *copy = rl_run_ceiling(run, "dram_copy", RL_WARM),
                            *fma = rl_run_ceiling(run, "fp32_fma", RL_WARM);
    const struct rl_row *add = rl_run_row(run, "vector_add");

    (void)state;
    /* the noise of the model is below 0.1 percent */
    assert_true(fabs(copy->value.value / FAKE_COPY_RATE - 1) < 2e-3);
    assert_true(fabs(fma->value.value / FAKE_FMA_RATE - 1) < 2e-3);
    assert_string_equal(copy->shape.value, "shape 2"); /* the fastest of the model */
    assert_string_equal(fma->shape.value, "shape 2");
    assert_true(fabs(copy->nominal.value / (FAKE_MEMORY_HZ * 2 * 6144 / 8) - 1) < 1e-12);
    assert_true(fabs(fma->nominal.value / (132 * 128 * 2 * FAKE_SM_HZ) - 1) < 1e-12);
    assert_true(fabs(copy->percent_of_nominal.value - 100 * copy->value.value / copy->nominal.value) < 1e-9);
    assert_string_equal(copy->unit, "byte_per_s");
    assert_string_equal(fma->unit, "flop_per_s");
    assert_true(rl_run_ceiling(run, "dram_copy", RL_COLD)->value.value < copy->value.value);
    assert_null(rl_run_ceiling(run, "dram_memcpy", RL_COLD));
    assert_int_equal(fma->time_s.launches, 2);
    /* batches of at least ten launches and a millisecond */
    for (size_t i = 0; i < run->row_count; i++) {
        const struct rl_times *warm = &run->rows[i].state[RL_WARM].time_s;

        assert_true(warm->launches >= 10);
        assert_true((double)warm->launches * warm->median.value >= 1e-3);
        assert_true(warm->n >= STOP_MIN_SAMPLES);
        assert_int_equal(run->rows[i].state[RL_COLD].time_s.launches, 1);
        assert_int_equal(run->rows[i].state[RL_WARM].attempts, 1);
        assert_string_equal(warm->stop.value, "std_error");
    }
    assert_true(add->state[RL_WARM].sm_hz.value == FAKE_SM_HZ);
    assert_true(add->state[RL_COLD].memory_hz.value == FAKE_MEMORY_HZ);
    assert_true(add->state[RL_COLD].temperature_c.value == 40);
    assert_int_equal(add->launch.block[0], 256);
    assert_non_null(strstr(fake->requests.data, "reserve fp32_fma steps 2048\n")); /* the scaling check's */
    assert_string_equal(run->telemetry[0].at, "start");
    assert_string_equal(run->telemetry[run->telemetry_count - 1].at, "end");
    free_both(fake, run);
}

/* Every line of one list of requests is in the other. */
static void assert_contained(const char *small, const char *large)
{
    char line[256];

    for (const char *at = small; *at;) {
        size_t len = strcspn(at, "\n") + 1;

        assert_true(len < sizeof line);
        memcpy(line, at, len);
        line[len] = 0;
        if (!strstr(large, line))
            fail_msg("a subset asks for what the whole run did not: %s", line);
        at += len;
    }
}

static void test_same_requests_twice(void **state)
{
    struct fake_backend *one = fake_new(), *two = fake_new();
    struct rl_run *run_one = run_whole(one, NULL), *run_two = run_whole(two, NULL);

    (void)state;
    assert_string_equal(one->requests.data, two->requests.data);
    free_both(one, run_one);
    free_both(two, run_two);
}

static void test_no_request_twice(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run = run_whole(fake, NULL);

    (void)state;
    /* samples and moments key a recording: each is asked for once */
    for (const char *at = fake->requests.data; *at;) {
        size_t len = strcspn(at, "\n") + 1;
        char line[256] = {0};

        memcpy(line, at, len);
        at += len;
        if (strncmp(line, "warm ", 5) == 0 || strncmp(line, "cold ", 5) == 0 || strncmp(line, "card ", 5) == 0)
            if (strstr(at, line))
                fail_msg("asked twice: %s", line);
    }
    free_both(fake, run);
}

static void test_subsets_ask_for_no_more(void **state)
{
    struct fake_backend *whole = fake_new();
    struct rl_run *run_one = run_whole(whole, NULL);

    (void)state;
    for (enum rl_state only = 0; only < RL_STATE_COUNT; only++) {
        struct fake_backend *fake = fake_new();
        struct engine_request request = {.sizes = RL_COURSE, .counters = only == RL_COLD};
        struct rl_run *run;

        request.state[only] = true;
        request.kernel[4] = request.kernel[9] = true;
        run = run_whole(fake, &request);
        assert_contained(fake->requests.data, whole->requests.data);
        assert_int_equal(run->row_count, 2);
        assert_string_equal(run->rows[1].kernel, "polynomial256");
        assert_true(run->rows[0].state[only].present);
        assert_false(run->rows[0].state[!only].present);
        assert_int_equal(run->ceiling_count, only == RL_WARM ? 7 : 11);
        assert_int_equal(run->outcome, RL_OK);
        free_both(fake, run);
    }
    free_both(whole, run_one);
}

static void test_counters_off(void **state)
{
    struct fake_backend *fake = fake_new();
    struct engine_request request = whole_request();
    struct rl_run *run;
    static const char *const names[] = {"every_kernel_has_dram_row", "counters_self_test", "copy_streams_dram",
                                        "flop_counted_equals_hand", "steady"};

    (void)state;
    request.counters = false;
    run = run_whole(fake, &request);
    assert_string_equal(run->counters.status, "off");
    assert_non_null(run->device.chip.why);
    assert_non_null(run->counters.why.value);
    assert_int_equal(run->outcome, RL_OK); /* timed-only is not partial */
    assert_false(run->counter_backed);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_unknown(run, names[i]);
    assert_passed(run, "polynomial_not_shortened"); /* by its rate and result */
    assert_non_null(run->rows[0].state[RL_WARM].bytes.dram.why);
    assert_non_null(run->rows[0].flop_counted.why);
    assert_null(strstr(fake->requests.data, "count "));
    free_both(fake, run);
}

static void test_missing_row_is_partial(void **state)
{
    struct fake_backend *fake = fake_new();
    struct engine_request request = whole_request();
    struct heard heard = {0};
    struct engine_events events = events_of(&heard);
    struct rl_run *run = NULL;
    const struct rl_row *row;
    struct rl_err err = {0};

    (void)state;
    fake->fails_in_warm = "matmul_naive";
    fake->warm_error = RL_E_OUT_OF_MEMORY;
    assert_int_equal(engine_run(&fake->base, &request, &events, &run, &err), 0);
    assert_int_equal(run->outcome, RL_PARTIAL);
    assert_true(rl_strings_has(&run->outcome_reasons, "no matmul_naive warm row"));
    assert_int_equal(heard.warnings, 1);
    assert_int_equal(heard.warned, RL_E_OUT_OF_MEMORY);
    assert_int_equal(err.code, RL_E_NONE);
    row = rl_run_row(run, "matmul_naive");
    assert_true(row->state[RL_WARM].present);
    assert_non_null(strstr(row->state[RL_WARM].time_s.median.why, "does not run"));
    assert_non_null(row->state[RL_WARM].bytes.dram.why);
    assert_true(rl_is_known(row->state[RL_COLD].time_s.median));
    assert_false(run->counter_backed);
    assert_int_equal(heard.done, heard.total);
    free_both(fake, run);
}

static void test_missing_ceiling_is_partial(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->fails_in_prepare = "dram_read";
    fake->prepare_error = RL_E_OUT_OF_MEMORY;
    run = run_whole(fake, NULL);
    assert_int_equal(run->outcome, RL_PARTIAL);
    assert_true(rl_strings_has(&run->outcome_reasons, "no dram_read warm ceiling"));
    assert_non_null(rl_run_ceiling(run, "dram_read", RL_WARM)->value.why);
    assert_unknown(run, "result_dram_read");
    free_both(fake, run);
}

static void test_shapes_that_do_not_run_are_left_out(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->fails_in_prepare = "dram_copy";
    fake->prepare_error = RL_E_OUT_OF_MEMORY;
    fake->prepare_fails_from = 2; /* the model's best and all behind it */
    run = run_whole(fake, NULL);
    assert_string_equal(rl_run_ceiling(run, "dram_copy", RL_WARM)->shape.value, "shape 1");
    free_both(fake, run);

    fake = fake_new();
    fake->fails_in_prepare = "dram_copy";
    fake->prepare_error = RL_E_NOT_IMPLEMENTED;
    run = run_whole(fake, NULL);
    assert_non_null(strstr(rl_run_ceiling(run, "dram_copy", RL_WARM)->value.why, "none of"));
    assert_non_null(run->ridge_flop_per_byte.why);
    assert_int_equal(run->outcome, RL_PARTIAL);
    /* one try for each shape */
    assert_null(strstr(strstr(fake->requests.data, "prepare dram_copy v0 ") + 1, "prepare dram_copy v0 "));
    free_both(fake, run);
}

static void test_unchecked_result_is_partial(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->fails_in_check = "vector_add";
    run = run_whole(fake, NULL);
    assert_unknown(run, "result_vector_add");
    assert_int_equal(run->outcome, RL_PARTIAL);
    assert_true(rl_strings_has(&run->outcome_reasons, "result_vector_add could not be made"));
    assert_true(rl_is_known(rl_run_row(run, "vector_add")->state[RL_WARM].time_s.median));
    free_both(fake, run);
}

static void test_scaled_sizes(void **state)
{
    struct fake_backend *fake = fake_new();
    struct engine_request request = whole_request();
    struct rl_run *run;

    (void)state;
    request.sizes = RL_SCALED;
    run = run_whole(fake, &request);
    assert_string_equal(run->sizes, "scaled");
    assert_int_equal(fake->base.sizes, RL_SCALED); /* keys a recording's moments */
    assert_int_equal(run->outcome, RL_OK);
    free_both(fake, run);
}

static void test_not_alone(void **state)
{
    struct fake_backend *fake = fake_new();
    struct engine_request request = whole_request();
    struct heard heard = {0};
    struct engine_events events = events_of(&heard);
    struct rl_run *run = NULL;
    struct rl_err err = {0};

    (void)state;
    fake->base.shared_why = "the lock may not be opened";
    assert_int_equal(engine_run(&fake->base, &request, &events, &run, &err), 0);
    assert_int_equal(heard.warnings, 1);
    assert_true(rl_strings_has(&run->flags, "shared"));
    for (size_t i = 0; i < run->check_count; i++)
        if (strcmp(run->checks[i].name, "not_shared") == 0)
            assert_non_null(strstr(run->checks[i].passed.why, "may not be opened"));
    assert_int_equal(run->outcome, RL_OK);
    free_both(fake, run);
}

static void test_binary(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->binary = "ptx";
    run = run_whole(fake, NULL);
    assert_string_equal(run->environment.cubin.value, "ptx");
    free_both(fake, run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_run),
        cmocka_unit_test(test_document_is_readable),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_same_requests_twice),
        cmocka_unit_test(test_no_request_twice),
        cmocka_unit_test(test_subsets_ask_for_no_more),
        cmocka_unit_test(test_counters_off),
        cmocka_unit_test(test_not_alone),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_missing_row_is_partial),
        cmocka_unit_test(test_missing_ceiling_is_partial),
        cmocka_unit_test(test_shapes_that_do_not_run_are_left_out),
        cmocka_unit_test(test_unchecked_result_is_partial),
        cmocka_unit_test(test_scaled_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
