/* Metric tables against CUPTI's host library: every chip that it knows, every set, with its number of passes pinned, so
 * that a renamed metric or a set that grew into another pass is seen here and not on somebody's card. Needs no GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/counters/counters.h"
#include "gpu/counters/internal.h"

static size_t hardware_passes(const char *chip)
{
    return !strcmp(chip, "GV100") ? 2 : 1; /* CUPTI 13.0.85, 2026-11-29 */
}

static void every_chip_configures_in_the_pinned_passes(void **state)
{
    (void)state;
    assert_int_equal(counter_chip_count(), 29);
    for (size_t i = 0; i < counter_chip_count(); i++) {
        struct rl_err err = {0};
        size_t hardware = 0, sass = 0;
        if (counters_plan(counter_chip(i), COUNTERS_HARDWARE, &hardware, &err) ||
            counters_plan(counter_chip(i), COUNTERS_SASS, &sass, &err))
            fail_msg("%s: %s", counter_chip(i), err.message);
        if (hardware != hardware_passes(counter_chip(i)) || sass != 1)
            fail_msg("%s: %zu + %zu passes", counter_chip(i), hardware, sass);
        print_message("%-6s hardware %zu pass, sass %zu pass\n", counter_chip(i), hardware, sass);
    }
}

static void every_chip_that_cupti_lists_is_in_the_table(void **state)
{
    (void)state;
    struct rl_err err = {0};
    const struct cupti_api *api = cupti_api_load(&err);
    assert_non_null(api);
    CUpti_Profiler_Host_GetSupportedChips_Params p = {.structSize =
                                                          CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE};
    assert_int_equal(api->cuptiProfilerHostGetSupportedChips(&p), CUPTI_SUCCESS);
    assert_true(p.numChips > 0);
    for (size_t i = 0; i < p.numChips; i++) {
        bool known = counter_metric(p.ppChipNames[i], COUNTER_L2, NULL) != NULL;
        bool refused_by_cupti = !strcmp(p.ppChipNames[i], "GV11B");
        if (known == refused_by_cupti)
            fail_msg("chip %s", p.ppChipNames[i]);
    }
}

static void names_differ_where_the_chips_do(void **state)
{
    (void)state;
    const char *why = NULL;
    assert_string_equal(counter_metric("GH100", COUNTER_DRAM_READ, &why), "dram__bytes_read.sum");
    assert_string_equal(counter_metric("GB202", COUNTER_DRAM_WRITE, &why), "dram__bytes_op_write.sum");
    assert_null(counter_metric("GA10B", COUNTER_DRAM_READ, &why));
    assert_non_null(strstr(why, "no DRAM counters"));
    assert_null(counter_metric("XX999", COUNTER_L1, &why));
    assert_non_null(strstr(why, "does not know the chip"));
    assert_non_null(counter_packed_metric("GB100", COUNTER_FP32_FMA));
    assert_null(counter_packed_metric("GH100", COUNTER_FP32_FMA));
    assert_null(counter_packed_metric("GB100", COUNTER_FP64_FMA));
    for (int i = 0; i < COUNTER_COUNT; i++)
        assert_non_null(counter_name((enum counter_id)i));
}

static void an_unknown_chip_is_refused_by_name(void **state)
{
    (void)state;
    struct rl_err err = {0};
    size_t passes = 7;
    assert_int_equal(counters_plan("XX999", COUNTERS_SASS, &passes, &err), -1);
    assert_int_equal(err.code, RL_E_COUNTERS_UNSUPPORTED);
    assert_non_null(strstr(err.message, "XX999"));
    assert_int_equal(passes, 7);
}

/* CUPTI's results that people meet, each with the catalogue's code and CUPTI's own words. */
static void results_get_their_own_codes(void **state)
{
    (void)state;
    static const struct {
        CUptiResult result;
        enum rl_code code;
    } cases[] = {
        {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, RL_E_COUNTERS_PERMISSION},
        {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, RL_E_COUNTERS_PERMISSION},
        {CUPTI_ERROR_HARDWARE_BUSY, RL_E_COUNTERS_BUSY},
        {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, RL_E_COUNTERS_SUBSCRIBER},
        {CUPTI_ERROR_NOT_SUPPORTED, RL_E_COUNTERS_UNSUPPORTED},
        {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, RL_E_COUNTERS_UNSUPPORTED},
        {CUPTI_ERROR_NOT_INITIALIZED, RL_E_COUNTERS_DRIVER},
        {CUPTI_ERROR_UNKNOWN, RL_E_COUNTERS_FAILED},
    };
    struct rl_err load = {0};
    assert_non_null(cupti_api_load(&load));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rl_err err = {0};
        assert_int_equal(cupti_fail(&err, cases[i].result, "cuptiSomething"), -1);
        assert_int_equal(err.code, cases[i].code);
        assert_non_null(strstr(err.message, "cuptiSomething"));
        assert_non_null(strstr(err.message, "CUPTI_ERROR_"));
    }
}

static void a_session_without_a_driver_says_so(void **state)
{
    (void)state;
    struct counters *c = NULL;
    struct rl_err err = {0};
    if (counters_open(0, &c, &err) == 0) { /* a machine with a GPU: not this test's case */
        counters_close(c);
        skip();
    }
    assert_null(c);
    assert_true(err.code != RL_E_NONE && err.message[0]);
    counters_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chip_configures_in_the_pinned_passes),
        cmocka_unit_test(every_chip_that_cupti_lists_is_in_the_table),
        cmocka_unit_test(names_differ_where_the_chips_do),
        cmocka_unit_test(an_unknown_chip_is_refused_by_name),
        cmocka_unit_test(results_get_their_own_codes),
        cmocka_unit_test(a_session_without_a_driver_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
