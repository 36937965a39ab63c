/* What a measuring process may send as a run, and what it may not: one good document, and each way of bending it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/record/derive/quantile.h"
#include "gpu/record/json.h"
#include "gpu/suites/document.h"
#include "gpu/suites/verify/verify.h"
#include "server/jobs/accept.h"
#include "server/runs/stored.h"
#include "tests/unit/record/sample_run.h"

#define SAMPLES 20

struct bench {
    struct rl_run *run; /* as the process made it */
    struct job_spec spec;
    struct rl_param_value *value; /* of spec */
    struct run_samples samples;
    struct run_expected expected;
};

static void give_samples(struct bench *bench, const char *unit, enum rl_state state, struct rl_times *times,
                         double around, int64_t launches)
{
    json_t *list = json_array();
    double values[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        values[i] = around * (1 + 0.001 * ((i * 7) % SAMPLES));
        json_array_append_new(list, json_real(values[i]));
    }
    json_t *body = json_pack("{s:s, s:s, s:I, s:o}", "unit", unit, "state", rl_state_name(state), "launches",
                             (json_int_t)launches, "times_s", list);
    assert_int_equal(run_samples_take(&bench->samples, body, NULL), 0);
    json_decref(body);
    struct rl_text stop = times->stop;
    assert_int_equal(rl_times_from_samples(values, SAMPLES, times), 0);
    times->launches = launches;
    times->stop = stop;
}

static int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    bench->run = sample_run_small();
    bench->spec = (struct job_spec){.device = ""};
    rl_params_default(&rl_suite_verify, &bench->spec.params);
    bench->value = bench->spec.params.value;
    for (size_t i = 1; i < rl_kernel_count; i++)
        bench->value[VERIFY_KERNELS].has[i] = false;
    snprintf(bench->spec.device, sizeof bench->spec.device, "%s", bench->run->device.id);
    bench->expected = (struct run_expected){.spec = &bench->spec, .now_ms = bench->run->finished_at_ms + 5};
    struct rl_row *row = &bench->run->rows[0];
    give_samples(bench, "vector_add", RL_WARM, &row->state[RL_WARM].time_s, 47.1e-6, 10);
    give_samples(bench, "vector_add", RL_COLD, &row->state[RL_COLD].time_s, 55e-6, 1);
    give_samples(bench, "dram_copy", RL_WARM, &bench->run->ceilings[0].time_s, 0.0005, 10);
    rl_derive(bench->run);
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    rl_run_free(bench->run);
    run_samples_free(&bench->samples);
    free(bench);
    return 0;
}

static int accept_document(struct bench *bench, json_t *document, struct rl_run **run, struct rl_err *err)
{
    assert_non_null(document);
    int result = run_accept(document, &bench->expected, &bench->samples, run, err);
    json_decref(document);
    return result;
}

static void is_accepted(struct bench *bench)
{
    struct rl_err err = {0};
    struct rl_run *run = NULL;
    if (accept_document(bench, rl_run_to_json(bench->run), &run, &err) != 0)
        fail_msg("%s: %s", err.field, err.message);
    rl_run_free(run);
}

/* Refused as a broken protocol, and the message says so in these words. */
static void is_refused(struct bench *bench, const char *says)
{
    struct rl_err err = {0};
    struct rl_run *run = NULL;
    if (accept_document(bench, rl_run_to_json(bench->run), &run, &err) == 0)
        fail_msg("accepted, though: %s", says);
    assert_null(run);
    if (err.code != RL_E_MEASURE_PROTOCOL || strstr(err.message, says) == NULL)
        fail_msg("%s, field %s: %s", rl_code_id(err.code), err.field, err.message);
}

static void the_good_one_is_accepted(void **state)
{
    is_accepted(*state);
}

/* Whatever a process says, flop and asked bytes follow from the kernel and its sizes. */
static void work_is_the_catalogues(void **state)
{
    struct bench *bench = *state;
    struct rl_row *row = &bench->run->rows[0];
    struct rl_count flop = row->flop, ask = row->ask_bytes;
    row->flop = sample_count(1);
    is_refused(bench, "the flop 1, which is 16777216 at course sizes");
    row->flop = (struct rl_count){0, "not counted"};
    is_refused(bench, "kernels[0].flop: it is not known");
    row->flop = flop;
    row->ask_bytes = sample_count(1);
    is_refused(bench, "the ask_bytes 1, which is 201326592 at course sizes");
    row->ask_bytes = ask;
    is_accepted(bench);
    bench->value[VERIFY_SIZES].number = RL_SCALED; /* 2^26 floats: 8 times an L2 of 60 MiB is less */
    bench->run->sizes = "scaled";
    is_refused(bench, "the flop 16777216, which is 67108864 at scaled sizes");
    row->flop = sample_count(67108864);
    row->ask_bytes = sample_count(805306368);
    is_accepted(bench);
    bench->run->device.l2_bytes = (struct rl_count){0, "the driver does not say"};
    is_refused(bench, "device.l2_bytes: it is not known");
}

static void device_and_driver_are_those_of_the_device_line(void **state)
{
    struct bench *bench = *state;
    json_t *line = json_pack("{s:o, s:o}", "device", rl_device_to_json(&bench->run->device), "environment",
                             rl_environment_to_json(&bench->run->environment));
    bench->expected.device_line = line;
    is_accepted(bench);
    struct rl_text driver = bench->run->environment.driver_version;
    bench->run->environment.driver_version = sample_text("999.99");
    is_refused(bench, "environment.driver_version: it is not that of its device line");
    bench->run->environment.driver_version = driver;
    const char *name = bench->run->device.name;
    bench->run->device.name = "Another GPU";
    is_refused(bench, "device.name: it is not that of its device line");
    bench->run->device.name = name;
    bench->run->device.sm_count = sample_count(1);
    is_refused(bench, "device.sm_count: it is not that of its device line");
    bench->run->device.sm_count = sample_count(132);
    is_accepted(bench);
    bench->run->device.pci_bus_id = sample_text("00000000:01:00.0"); /* not known yet when the line was sent */
    is_accepted(bench);
    bench->expected.device_line = NULL;
    bench->run->device.sm_count = sample_count(1);
    is_accepted(bench);
    json_decref(line);
}

static void lent_roofs_are_the_stores(void **state)
{
    struct bench *bench = *state;
    struct rl_run *run = NULL;
    struct rl_lent_ceiling ceiling = {"l2_read", RL_WARM, rl_known(1), "byte_per_s"};
    bench->run->lent = (struct rl_lent){.present = true,
                                        .run = "1",
                                        .date_ms = 1764500000000,
                                        .driver = sample_text("1"),
                                        .device_by = "uuid",
                                        .sentence = "made up",
                                        .ceilings = &ceiling,
                                        .ceiling_count = 1};
    assert_int_equal(accept_document(bench, rl_run_to_json(bench->run), &run, NULL), 0);
    assert_false(run->lent.present);
    assert_false(run->rows[0].state[RL_WARM].levels.present);
    rl_run_free(run);
}

static void derived_values_are_made_again(void **state)
{
    struct bench *bench = *state;
    struct rl_run *run = NULL;
    double honest = bench->run->rows[0].state[RL_WARM].dram_byte_per_s.value,
           ridge = bench->run->ridge_flop_per_byte.value;
    bench->run->rows[0].state[RL_WARM].dram_byte_per_s = rl_known(9e12);
    bench->run->ridge_flop_per_byte = rl_known(1);
    bench->run->counter_backed = false;
    assert_int_equal(accept_document(bench, rl_run_to_json(bench->run), &run, NULL), 0);
    assert_true(fabs(run->rows[0].state[RL_WARM].dram_byte_per_s.value / honest - 1) < 1e-12);
    assert_true(fabs(run->ridge_flop_per_byte.value / ridge - 1) < 1e-12);
    rl_run_free(run);
}

static void another_device_suite_or_size_is_refused(void **state)
{
    struct bench *bench = *state;
    const char *id = bench->run->device.id;
    bench->run->device.id = "GPU-other";
    is_refused(bench, "device asked for");
    bench->run->device.id = id;
    bench->run->sizes = "scaled";
    is_refused(bench, "sizes");
    bench->run->sizes = "course";
    is_accepted(bench);
}

static void the_source_is_the_backends(void **state)
{
    struct bench *bench = *state;
    bench->run->source = RL_REPLAYED;
    bench->run->recorded_at_ms = 1;
    is_refused(bench, "nothing was replayed");
    bench->expected.replayed = true;
    is_accepted(bench);
    bench->run->recorded_at_ms = 0;
    is_refused(bench, "recorded_at");
    bench->run->source = RL_MEASURED;
    is_refused(bench, "a replay must say so");
    bench->expected.replayed = false;
    bench->run->source = RL_IMPORTED;
    is_refused(bench, "source");
}

static void exactly_the_kernels_and_states_asked_for(void **state)
{
    struct bench *bench = *state;
    bench->value[VERIFY_KERNELS].has[1] = true;
    is_refused(bench, "missing");
    bench->value[VERIFY_KERNELS].has[1] = bench->value[VERIFY_KERNELS].has[0] = false;
    is_refused(bench, "not asked for");
    bench->value[VERIFY_KERNELS].has[0] = true;
    bench->value[VERIFY_CACHE].has[RL_COLD] = false;
    is_refused(bench, "exactly the cache states");
    bench->value[VERIFY_CACHE].has[RL_COLD] = true;
    bench->run->rows[0].state[RL_WARM].present = false;
    is_refused(bench, "exactly the cache states");
}

static void a_row_twice_is_refused(void **state)
{
    struct bench *bench = *state;
    struct rl_row *rows = rl_arena_array(bench->run->arena, 2, sizeof *rows);
    rows[0] = rows[1] = bench->run->rows[0];
    bench->run->rows = rows;
    bench->run->row_count = 2;
    is_refused(bench, "twice");
}

static void a_ceiling_is_of_the_catalogue_and_comes_once(void **state)
{
    struct bench *bench = *state;
    bench->run->ceilings[1].name = "vector_add";
    is_refused(bench, "ceilings");
    bench->run->ceilings[1].name = "dram_copy";
    bench->run->ceilings[1].state = RL_WARM;
    is_refused(bench, "twice");
}

static void counters_are_off_exactly_when_they_were_to_be(void **state)
{
    struct bench *bench = *state;
    bench->value[VERIFY_COUNTERS].number = false;
    is_refused(bench, "counters were to be off");
    bench->run->counters.status = "off";
    bench->run->counters.why = (struct rl_text){"not asked for", NULL};
    is_accepted(bench);
    bench->value[VERIFY_COUNTERS].number = true;
    is_refused(bench, "counters were asked for");
    bench->run->counters.status = "counters_permission";
    is_accepted(bench);
    bench->run->counters.status = "counters_whatever";
    is_refused(bench, "counters.status");
}

static void dates_are_of_today(void **state)
{
    struct bench *bench = *state;
    bench->expected.now_ms += 48LL * 3600 * 1000;
    is_refused(bench, "more than a day");
    bench->expected.clock_stepped = true; /* as the daemon saw it */
    is_accepted(bench);
    bench->expected.clock_stepped = false;
    static const char *flags[] = {"clock_stepped"}; /* as the process saw it */
    bench->run->flags = (struct rl_strings){flags, 1};
    is_accepted(bench);
    bench->run->flags.count = 0;
    is_refused(bench, "more than a day");
    bench->expected.now_ms = bench->run->finished_at_ms;
    bench->run->started_at_ms = bench->run->finished_at_ms + 1;
    is_refused(bench, "before started_at");
}

static void a_failed_check_that_refuses_must_refuse(void **state)
{
    struct bench *bench = *state;
    bench->run->checks[0].passed = (struct rl_flag3){false, NULL};
    is_refused(bench, "has failed");
    bench->run->outcome = RL_REFUSED;
    is_accepted(bench);
    bench->run->checks[0].passed = (struct rl_flag3){true, NULL};
    is_accepted(bench); /* harder on itself than its checks */
}

static void statistics_are_those_of_the_samples(void **state)
{
    struct bench *bench = *state;
    struct rl_times *times = &bench->run->rows[0].state[RL_WARM].time_s, good = *times;
    times->median = rl_known(good.median.value * 1.001);
    is_refused(bench, "vector_add warm the median");
    *times = good;
    times->p75 = rl_known(good.p75.value * 1.01);
    is_refused(bench, "vector_add warm the p75");
    *times = good;
    times->n = SAMPLES + 1;
    is_refused(bench, "the n 21, its samples (20 of 10 launches) give 20");
    *times = good;
    times->launches = 11;
    is_refused(bench, "the launches 11");
    *times = good;
    is_accepted(bench);
    free(bench->samples.row[0][RL_COLD].times_s);
    bench->samples.row[0][RL_COLD] = (struct run_sample_row){0};
    is_refused(bench, "without samples");
    /* a row that could not be timed has neither */
    struct rl_times *cold = &bench->run->rows[0].state[RL_COLD].time_s;
    cold->median = cold->p25 = cold->p75 = cold->min = cold->std_error = rl_unknown("out of memory");
    cold->n = 0;
    bench->run->outcome = RL_PARTIAL;
    is_accepted(bench);
}

static void a_ceilings_statistics_too(void **state)
{
    struct bench *bench = *state;
    bench->run->ceilings[0].time_s.min = rl_known(1e-9);
    is_refused(bench, "dram_copy warm");
}

static void what_could_not_be_read_back_is_refused(void **state)
{
    struct bench *bench = *state;
    bench->run->ceilings[0].work = sample_count(0); /* a value that can be; the ceiling that follows cannot */
    bench->run->ceilings[0].value = rl_known(1);
    is_refused(bench, "from which no valid values follow: ceilings[0].value");
}

static void what_is_no_run_is_refused(void **state)
{
    struct bench *bench = *state;
    struct rl_err err = {0};
    struct rl_run *run = NULL;
    assert_int_equal(accept_document(bench, json_object(), &run, &err), -1);
    assert_int_equal(err.code, RL_E_MEASURE_PROTOCOL);
    json_t *document = rl_run_to_json(bench->run);
    json_object_set_new(document, "extra", json_true());
    assert_int_equal(accept_document(bench, document, &run, &err), -1);
    assert_int_equal(err.code, RL_E_MEASURE_PROTOCOL);
    assert_int_equal(accept_document(bench, json_null(), &run, &err), -1);
    assert_int_equal(err.code, RL_E_MEASURE_PROTOCOL);
}

static const char *const bad_samples[] = {
    "{\"unit\":\"saxpy\",\"state\":\"warm\",\"launches\":1,\"times_s\":[1.0]}",
    "{\"unit\":\"vector_add\",\"state\":\"hot\",\"launches\":1,\"times_s\":[1.0]}",
    "{\"unit\":\"vector_add\",\"state\":\"warm\",\"launches\":0,\"times_s\":[1.0]}",
    "{\"unit\":\"vector_add\",\"state\":\"warm\",\"launches\":1,\"times_s\":[]}",
    "{\"unit\":\"vector_add\",\"state\":\"warm\",\"launches\":1,\"times_s\":[0]}",
    "{\"unit\":\"vector_add\",\"state\":\"warm\",\"launches\":1,\"times_s\":[-1e-9]}",
    "{\"unit\":\"vector_add\",\"state\":\"warm\",\"launches\":1,\"times_s\":[\"1\"]}",
    "{\"unit\":\"vector_add\",\"state\":\"warm\",\"launches\":1}",
};

static void samples_are_positive_and_bounded(void **state)
{
    struct bench *bench = *state;
    struct rl_err err = {0};
    for (size_t i = 0; i < sizeof bad_samples / sizeof bad_samples[0]; i++) {
        json_t *body = json_loads(bad_samples[i], 0, NULL);
        if (run_samples_take(&bench->samples, body, &err) == 0)
            fail_msg("taken: %s", bad_samples[i]);
        assert_int_equal(err.code, RL_E_MEASURE_PROTOCOL);
        json_decref(body);
    }
    json_t *times = json_array();
    for (unsigned i = 0; i <= RUN_SAMPLES_MAX; i++)
        json_array_append_new(times, json_real(1));
    json_t *body =
        json_pack("{s:s, s:s, s:i, s:o}", "unit", "vector_add", "state", "warm", "launches", 1, "times_s", times);
    assert_int_equal(run_samples_take(&bench->samples, body, &err), -1);
    json_decref(body);
    is_accepted(bench); /* what was there before is untouched */
}

static void the_store_gets_document_and_samples(void **state)
{
    struct bench *bench = *state;
    struct run_stored *stored = calloc(1, sizeof *stored);
    assert_int_equal(run_stored_make(bench->run, &bench->samples, stored, NULL), 0);
    assert_int_equal(stored->row.sample_count, 3);
    assert_ptr_equal(stored->row.run, bench->run);
    assert_int_equal(stored->row.samples[0].count, SAMPLES);
    char *text = run_document(bench->run);
    assert_int_equal(stored->row.document->bytes, strlen(text) - 1); /* the brace comes with the id */
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_null(json_object_get(document, "id"));
    assert_string_equal(json_string_value(json_object_get(document, "suite")), "verify");
    json_decref(document);
    free(text);
    run_stored_fini(stored);
    free(stored);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_good_one_is_accepted),
        CASE(work_is_the_catalogues),
        CASE(device_and_driver_are_those_of_the_device_line),
        CASE(lent_roofs_are_the_stores),
        CASE(derived_values_are_made_again),
        CASE(another_device_suite_or_size_is_refused),
        CASE(the_source_is_the_backends),
        CASE(exactly_the_kernels_and_states_asked_for),
        CASE(a_row_twice_is_refused),
        CASE(a_ceiling_is_of_the_catalogue_and_comes_once),
        CASE(counters_are_off_exactly_when_they_were_to_be),
        CASE(dates_are_of_today),
        CASE(a_failed_check_that_refuses_must_refuse),
        CASE(statistics_are_those_of_the_samples),
        CASE(a_ceilings_statistics_too),
        CASE(what_could_not_be_read_back_is_refused),
        CASE(what_is_no_run_is_refused),
        CASE(samples_are_positive_and_bounded),
        CASE(the_store_gets_document_and_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
