/* What only an imported run may have, and that it survives being written and read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/record/derive/derive.h"
#include "gpu/suites/document.h"
#include "tests/unit/record/sample_run.h"

static int read_back(const struct rl_run *run, struct rl_run **ret, struct rl_err *err)
{
    json_t *document = rl_run_to_json(run);
    int rc = rl_run_from_json(document, ret, err);
    json_decref(document);
    return rc;
}

/* Makes one change that an import may have. */
static const char *change(struct rl_run *run, int which)
{
    static char longest[600];
    struct rl_row *row = &run->rows[0];
    memset(longest, 'k', sizeof longest - 1);
    switch (which) {
    case 0:
        run->import.present = true;
        return "import";
    case 1:
        run->sizes = "other";
        return "sizes";
    case 2:
        run->suite = "import";
        return "suite";
    case 3:
        row->state[RL_MIXED] = row->state[RL_COLD];
        return "kernels";
    case 4:
        row->import.present = true;
        row->import.function.why = row->import.combined.why = "not said";
        return "kernels";
    case 5:
        row->launch.dims_why = "not said";
        return "kernels";
    case 6:
        row->launch.shared_why = "not said";
        return "kernels";
    case 7:
        row->kernel = longest;
        return "kernels[0].kernel";
    case 8:
        row->title = longest;
        return "kernels[0].title";
    case 9:
        row->state[RL_COLD].profiled = (struct rl_profiled){true, rl_known(2e-6), rl_unknown("not said")};
        return "kernels";
    case 10:
        run->power = (struct rl_power){true,
                                       rl_known(431.5),
                                       rl_unknown("the power log has no times"),
                                       12,
                                       rl_known(0.1),
                                       {"2026-11-28T10:00:00.000", NULL},
                                       {NULL, "the power log has no times"},
                                       "nvidia-smi dmon"};
        return "power";
    default:
        return NULL;
    }
}

static void members_of_imports_alone(void **state)
{
    (void)state;
    for (int which = 0;; which++) {
        struct rl_run *run = sample_run_small(), *again = NULL;
        struct rl_err err = {.code = RL_E_NONE};
        const char *field = change(run, which);
        if (field == NULL) {
            rl_run_free(run);
            break;
        }
        assert_int_equal(read_back(run, &again, &err), -1);
        assert_string_equal(err.field, field);
        run->source = RL_IMPORTED;
        if (read_back(run, &again, &err) != 0)
            fail_msg("change %d: %s", which, err.message);
        json_t *first = rl_run_to_json(run), *second = rl_run_to_json(again);
        assert_true(json_equal(first, second));
        json_decref(first);
        json_decref(second);
        rl_run_free(again);
        rl_run_free(run);
    }
}

static void unknown_shapes_are_null_with_a_reason(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_small(), *again = NULL;
    run->source = RL_IMPORTED;
    run->rows[0].launch.dims_why = "the file does not say";
    json_t *document = rl_run_to_json(run);
    json_t *launch = json_object_get(json_array_get(json_object_get(document, "kernels"), 0), "launch");
    assert_true(json_is_null(json_object_get(launch, "grid")));
    assert_true(json_is_null(json_object_get(launch, "block")));
    assert_true(json_is_integer(json_object_get(launch, "shared_bytes")));
    assert_string_equal(json_string_value(json_object_get(json_object_get(launch, "why"), "grid")),
                        "the file does not say");
    assert_int_equal(rl_run_from_json(document, &again, NULL), 0);
    assert_string_equal(again->rows[0].launch.dims_why, "the file does not say");
    assert_null(again->rows[0].launch.shared_why);
    rl_run_free(again);
    json_object_del(json_object_get(launch, "why"), "grid");
    assert_int_equal(rl_run_from_json(document, &again, NULL), -1); /* a null without its reason */
    json_decref(document);
    rl_run_free(run);
}

static void cold_bytes_of_a_profiler_are_not_settled(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_small();
    struct rl_row_state *cold = &run->rows[0].state[RL_COLD];
    cold->bytes.dram_settled = rl_unknown("a profiler counted");
    rl_derive(run);
    assert_non_null(cold->dram_per_ask.why); /* measured: unknown stays unknown */
    assert_false(rl_strings_has(&cold->flags, "unsettled"));
    run->source = RL_IMPORTED;
    rl_derive(run);
    assert_null(cold->dram_per_ask.why);
    assert_true(cold->dram_per_ask.value == cold->bytes.dram.value / (double)run->rows[0].ask_bytes.value);
    assert_true(rl_strings_has(&cold->flags, "unsettled"));
    cold->bytes.dram_settled = cold->bytes.dram;
    rl_derive(run);
    assert_false(rl_strings_has(&cold->flags, "unsettled"));
    rl_run_free(run);
}

static void flop_by_precision_may_be_there_or_not(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_small(), *again = NULL;
    run->rows[0].flop_by_precision =
        (struct rl_flop_by_precision){true, rl_known(0), rl_known(16777216), rl_unknown("not counted"), rl_known(3)};
    assert_int_equal(read_back(run, &again, NULL), 0);
    const struct rl_flop_by_precision *read = &again->rows[0].flop_by_precision;
    assert_true(read->present && rl_is_known(read->fp64) && read->fp64.value == 0 && read->fp32.value == 16777216);
    assert_string_equal(read->fp16.why, "not counted");
    assert_true(read->tensor.value == 3);
    rl_run_free(again);
    run->rows[0].flop_by_precision.present = false; /* a document without it stays one */
    assert_int_equal(read_back(run, &again, NULL), 0);
    assert_false(again->rows[0].flop_by_precision.present);
    rl_run_free(again);
    rl_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flop_by_precision_may_be_there_or_not),
        cmocka_unit_test(members_of_imports_alone),
        cmocka_unit_test(unknown_shapes_are_null_with_a_reason),
        cmocka_unit_test(cold_bytes_of_a_profiler_are_not_settled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
