/* Which run lends its roofs, and why none does. */
#include "tests/unit/db/store_fixture.h"

#include <math.h>

#include "db/runs/lend.h"
#include "db/runs/withdrawal.h"
#include "tests/unit/record/sample_run.h"

struct lender_spec { /* 0 and NULL: the usual */
    int64_t date_ms, method;
    const char *driver, *flag;
    double power_limit_w; /* NaN: not known */
    enum rl_source source;
    int without; /* 1: its ceilings have no values; 2: its one ceiling with a value is no roof */
};

static int64_t store_lender(struct fixture *f, struct lender_spec spec)
{
    struct rl_run *run = sample_run_small();
    int64_t id;

    run->device.id = DEVICE_A;
    run->source = spec.source;
    run->finished_at_ms = spec.date_ms;
    run->started_at_ms = spec.date_ms - 4000;
    run->environment.driver_version = text_known(spec.driver != NULL ? spec.driver : "580.1");
    if (isnan(spec.power_limit_w))
        run->environment.power_limit_w = rl_unknown("the driver does not tell it");
    else
        run->environment.power_limit_w = rl_known(spec.power_limit_w != 0 ? spec.power_limit_w : 350);
    if (spec.method != 0)
        run->environment.method_version = spec.method;
    if (spec.flag != NULL)
        assert_int_equal(rl_strings_add(run->arena, &run->flags, spec.flag), 0);
    for (size_t i = 0; spec.without != 0 && i < run->ceiling_count; i++)
        run->ceilings[i].value = rl_unknown("it was not reached");
    if (spec.without == 2) {
        run->ceilings[0].name = "sm_clock";
        run->ceilings[0].value = rl_known(1);
    }
    id = add_run(f, run);
    rl_run_free(run);
    return id;
}

static struct store_borrower an_import(void)
{
    return (struct store_borrower){.device = DEVICE_A,
                                   .name = "NVIDIA A",
                                   .has_uuid = true,
                                   .driver = "580.1",
                                   .power_limit_w = 350,
                                   .warm = true,
                                   .cold = true,
                                   .source = RL_IMPORTED};
}

/* The id of the run that lends; 0: none. *ret_text: its sentence, or why there is none. */
static int64_t lender_of(struct fixture *f, struct store_borrower borrower, const char **ret_text)
{
    static char kept[512];
    struct rl_arena *arena = rl_arena_new(1 << 20);
    const char *why = NULL, *text;
    struct rl_lent lent;
    int64_t id;

    assert_non_null(arena);
    OK(f, store_find_lender(f->store, &borrower, 0, arena, &lent, &why, &f->err));
    assert_true(!lent.present || why == NULL);
    id = lent.present ? strtoll(lent.run, NULL, 10) : 0;
    text = lent.present ? lent.sentence : why;
    if (text != NULL)
        snprintf(kept, sizeof kept, "%s", text);
    if (ret_text != NULL)
        *ret_text = text != NULL ? kept : NULL;
    rl_arena_free(arena);
    return id;
}

static void refused(struct fixture *f, int64_t run, const char *words)
{
    struct rl_arena *arena = rl_arena_new(1 << 20);
    struct store_borrower borrower = an_import();
    struct rl_lent lent;

    assert_non_null(arena);
    FAILS(f, RL_E_BAD_FIELD, store_find_lender(f->store, &borrower, run, arena, &lent, NULL, &f->err));
    assert_string_equal(f->err.field, "roofs");
    if (strstr(f->err.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", f->err.message, words);
    rl_arena_free(arena);
}

/* The sentence of the run that was asked for by its id. */
static void named_says(struct fixture *f, int64_t run, const char *words)
{
    struct rl_arena *arena = rl_arena_new(1 << 20);
    struct store_borrower borrower = an_import();
    struct rl_lent lent;

    assert_non_null(arena);
    OK(f, store_find_lender(f->store, &borrower, run, arena, &lent, NULL, &f->err));
    assert_true(lent.present);
    if (strstr(lent.sentence, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", lent.sentence, words);
    rl_arena_free(arena);
}

static void withdraw(struct fixture *f, int64_t run, const char *reason)
{
    OK(f, store_run_withdraw(
              f->store, &(struct store_withdrawal){.run_id = run, .reason = reason, .principal = "uid:1", .now_ms = T0},
              &f->err));
}

/* ---- withdrawn ---- */

static void a_withdrawn_run_lends_nothing(void **state)
{
    struct fixture *f = *state;
    int64_t first = store_lender(f, (struct lender_spec){.date_ms = T0});
    int64_t second = store_lender(f, (struct lender_spec){.date_ms = T0 + 1});

    withdraw(f, second, "the fan stood still");
    assert_int_equal(lender_of(f, an_import(), NULL), first);
    refused(f, second, "lends no roofs: it was withdrawn");
    reopen_fixture(f);
    refused(f, second, "lends no roofs: it was withdrawn");
    withdraw(f, second, NULL);
    assert_int_equal(lender_of(f, an_import(), NULL), second);
    named_says(f, second, "are lent");
}

static void a_run_that_may_not_lend_says_why(void **state)
{
    struct fixture *f = *state;

    refused(f, store_lender(f, (struct lender_spec){.date_ms = T0, .flag = "shared"}), "whole and undisturbed");
    refused(f, store_lender(f, (struct lender_spec){.date_ms = T0, .driver = "590.2"}), "of driver 590.2");
    refused(f, store_lender(f, (struct lender_spec){.date_ms = T0, .without = 1}), "lends no roofs: it has none");
    refused(f, store_lender(f, (struct lender_spec){.date_ms = T0, .without = 2}), "lends no roofs: it has none");
}

/* ---- power limits ---- */

static void a_known_power_limit_lends_before_an_unknown_one(void **state)
{
    struct fixture *f = *state;
    struct store_borrower borrower = an_import();
    int64_t unknown = store_lender(f, (struct lender_spec){.date_ms = T0, .power_limit_w = NAN}), same, other;
    const char *text;

    assert_int_equal(lender_of(f, borrower, &text), unknown);
    assert_non_null(strstr(text, " The lender's power limit is not known."));
    same = store_lender(f, (struct lender_spec){.date_ms = T0 - 1000});
    assert_int_equal(lender_of(f, borrower, &text), same); /* older, and of the same limit */
    assert_null(strstr(text, "limit"));
    named_says(f, unknown, " The lender's power limit is not known.");
    other = store_lender(f, (struct lender_spec){.date_ms = T0 + 1000, .power_limit_w = 500});
    assert_int_equal(lender_of(f, borrower, NULL), same);
    named_says(f, other, " The lender's power limit is 500 W, this run's 350 W.");
    borrower.power_limit_w = NAN;
    assert_int_equal(lender_of(f, borrower, &text), other);
    assert_non_null(strstr(text, " This run does not state its power limit."));
    assert_null(strstr(text, "The lender's"));
    borrower.power_limit_w = 200;
    borrower.driver = "";
    assert_int_equal(lender_of(f, borrower, &text), unknown);
    assert_non_null(strstr(text, " This run does not state its driver. The lender's power limit is not known."));
}

/* ---- roofs ---- */

static void a_run_without_roofs_is_passed_over(void **state)
{
    struct fixture *f = *state;
    struct store_borrower borrower = an_import();
    int64_t older = store_lender(f, (struct lender_spec){.date_ms = T0});

    store_lender(f, (struct lender_spec){.date_ms = T0 + 1, .without = 1});
    store_lender(f, (struct lender_spec){.date_ms = T0 + 2, .without = 2});
    assert_int_equal(lender_of(f, borrower, NULL), older);
    borrower.warm = borrower.cold = false;
    assert_int_equal(lender_of(f, borrower, NULL), older);
    /* nor does a newer method without roofs, or whose run is withdrawn, hide what was measured before it */
    store_lender(f, (struct lender_spec){.date_ms = T0 + 3, .method = 8, .without = 1});
    withdraw(f, store_lender(f, (struct lender_spec){.date_ms = T0 + 4, .method = 9}), "x");
    assert_int_equal(lender_of(f, borrower, NULL), older);
}

static void where_nothing_is_lent_there_is_a_reason(void **state)
{
    struct fixture *f = *state;
    struct store_borrower borrower = an_import();
    const char *text;
    int64_t id;

    assert_int_equal(lender_of(f, borrower, &text), 0);
    assert_null(text); /* never measured */
    store_lender(f, (struct lender_spec){.date_ms = T0, .without = 1});
    assert_int_equal(lender_of(f, borrower, &text), 0);
    assert_non_null(text);
    assert_string_equal(text, "No roofs are lent: this device has been measured here, but no verification of it that "
                              "is whole, undisturbed and not withdrawn has roofs.");
    id = store_lender(f, (struct lender_spec){.date_ms = T0 + 1});
    withdraw(f, id, "x");
    assert_int_equal(lender_of(f, borrower, &text), 0);
    assert_non_null(text);
    assert_non_null(strstr(text, "not withdrawn has roofs"));
    store_lender(f, (struct lender_spec){.date_ms = T0 + 2, .power_limit_w = 500});
    store_lender(f, (struct lender_spec){.date_ms = T0 + 3, .driver = "590.2"});
    assert_int_equal(lender_of(f, borrower, &text), 0);
    assert_string_equal(text, "No roofs are lent: this device has been measured here under another power limit.");
    borrower.driver = "575.9";
    assert_int_equal(lender_of(f, borrower, &text), 0);
    assert_string_equal(text,
                        "No roofs are lent: this device has been measured here under driver 590.2, not under 575.9.");
    /* a replay stands under replayed runs alone, and there is none */
    borrower.source = RL_REPLAYED;
    assert_int_equal(lender_of(f, borrower, &text), 0);
    assert_null(text);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup_store, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(a_withdrawn_run_lends_nothing),
        WITH_STORE(a_run_that_may_not_lend_says_why),
        WITH_STORE(a_known_power_limit_lends_before_an_unknown_one),
        WITH_STORE(a_run_without_roofs_is_passed_over),
        WITH_STORE(where_nothing_is_lent_there_is_a_reason),
    };

    return cmocka_run_group_tests_name("store: lend", tests, NULL, NULL);
}
