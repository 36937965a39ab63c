/* Trends with their noise bands. */
#include "tests/unit/db/store_answer.h"
#include "tests/unit/db/store_spec.h"

#include <math.h>

#include "db/core/text.h"
#include "db/history/baseline.h"
#include "db/history/trend.h"
#include "gpu/record/derive/quantile.h"

/* ---- the noise band ---- */

static void a_band_is_median_and_three_scaled_mads(void **state)
{
    struct baseline *baseline = calloc(1, sizeof *baseline);
    double values[4000], kept[BASELINE_MAX], distances[BASELINE_MAX];
    size_t starts[400], days = 0, oldest = 0, end = 0;
    uint32_t seed = 3;

    (void)state;
    assert_non_null(baseline);
    while (days < 400 && end + BASELINE_ADD < 4000) {
        size_t count = random_next(&seed) % (days < 100 ? 3 : BASELINE_ADD + 1);
        struct rl_band band;
        double middle, mad;

        starts[days++] = end;
        for (size_t i = 0; i < count; i++)
            values[end++] = random_next(&seed) % 50 + (i % 3 == 0 ? 0.25 : 0); /* with ties */
        memcpy(kept, values + starts[days - 1], count * sizeof *kept);
        baseline_sort(kept, count);
        baseline_add(baseline, kept, count);
        while (end - starts[oldest] > BASELINE_MAX)
            oldest++;
        count = end - starts[oldest];
        assert_int_equal(baseline->count, count);
        if (count == 0)
            continue;
        memcpy(kept, values + starts[oldest], count * sizeof *kept);
        rl_sort_doubles(kept, count);
        middle = rl_quantile_sorted(kept, count, 0.5);
        for (size_t i = 0; i < count; i++)
            distances[i] = fabs(kept[i] - middle);
        rl_sort_doubles(distances, count);
        mad = rl_quantile_sorted(distances, count, 0.5);
        band = baseline_band(baseline);
        assert_true(band.median == middle);
        assert_true(fabs(band.low - (middle - RL_BAND_MADS * RL_MAD_SCALE * mad)) < 1e-9);
        assert_true(fabs(band.high - (middle + RL_BAND_MADS * RL_MAD_SCALE * mad)) < 1e-9);
    }
    assert_true(oldest > 100);
    free(baseline);
}

static void nine_digits_are_those_of_printf(void **state)
{
    static const double cases[] = {1,     10,     9.99999999e8, 999999999.4, 999999999.5, 123456789,  1e9,
                                   1e-4,  9.9e-5, 1e20,         9.999999996, 0.1,         0.5,        -0.25,
                                   0,     1e-12,  9e-13,        1e21,        1e300,       100,        120,
                                   0.001, 1000,   4.27e12,      47.1e-6,     100000000,   99999999.9, -3e-7};
    uint32_t seed = 5;
    struct rl_buf out;
    char expected[40];

    (void)state;
    rl_buf_init(&out, 1000);
    for (int i = 0; i < 20000; i++) {
        double value = i < 28 ? cases[i]
                              : (random_next(&seed) + random_next(&seed) / 16777216.0) *
                                    pow(10, (int)(random_next(&seed) % 30) - 18);

        rl_buf_clear(&out);
        json_put_nine(&out, value);
        snprintf(expected, sizeof expected, "%.9g", value);
        if (strcmp(out.data, expected) != 0 && fabs(strtod(out.data, NULL) / strtod(expected, NULL) - 1) > 1.1e-8)
            fail_msg("%s for %s", out.data, expected);
        if (i < 28)
            assert_string_equal(out.data, expected);
    }
    rl_buf_free(&out);
}

static void seventeen_digits_are_those_of_printf(void **state)
{
    static const double cases[] = {1,
                                   1.5,
                                   9.9999999999999982,
                                   99999999999999984,
                                   1e16,
                                   9007199254740994,
                                   1e17,
                                   0.1,
                                   0,
                                   4248123456789.1235,
                                   15.4,
                                   1.0000000000000002,
                                   2251799813685248.25,
                                   2251799813685248.75,
                                   100,
                                   120000};
    size_t count = sizeof cases / sizeof *cases;
    uint32_t seed = 7;
    struct rl_buf out;
    char expected[48];

    (void)state;
    rl_buf_init(&out, 1000);
    for (size_t i = 0; i < 50000; i++) {
        double value = i < count ? cases[i]
                                 : (random_next(&seed) + random_next(&seed) / 16777216.0) *
                                       pow(i % 3 == 0 ? 2 : 10, (int)(random_next(&seed) % 30) - 18);

        rl_buf_clear(&out);
        json_put_real(&out, value, 17);
        snprintf(expected, sizeof expected, "%.17g", value);
        assert_string_equal(out.data, expected);
    }
    rl_buf_free(&out);
}

/* ---- trends ---- */

static json_t *trend(struct fixture *f, struct store_trend_query query)
{
    struct rl_buf out;
    json_t *answer;

    query.device = query.device != NULL ? query.device : DEVICE_A;
    query.kernel = query.kernel != NULL ? query.kernel : "vector_add";
    query.state = query.state != NULL ? query.state : "warm";
    query.now_ms = DAY0 + 100 * TREND_DAY_MS;
    rl_buf_init(&out, 1 << 22);
    OK(f, store_history_trend(f->store, &query, &out, &f->err));
    answer = parse(out.data);
    rl_buf_free(&out);
    return answer;
}
static json_t *point_at(const json_t *answer, size_t index)
{
    json_t *point = json_array_get(json_object_get(answer, "points"), index);

    assert_non_null(point);
    return point;
}
static double real_of(const json_t *object, const char *key)
{
    assert_true(json_is_number(json_object_get(object, key)));
    return json_number_value(json_object_get(object, key));
}

static void a_trend_is_days_with_what_came_before(void **state)
{
    struct fixture *f = *state;
    json_t *answer, *point, *band;

    for (int day = 0; day < 4; day++) {
        for (int i = 0; i < 3; i++)
            store_run(f, (struct spec){.date_ms = DAY0 + day * TREND_DAY_MS + i * 1000,
                                       .time_s = 1e-5 * (100 + i)}); /* 100, 101, 102 */
    }
    store_run(f, (struct spec){.date_ms = DAY0 + 9 * TREND_DAY_MS, .time_s = 1.2e-3});
    answer = trend(f, (struct store_trend_query){0});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 5);
    assert_string_equal(text_at(answer, "metric"), "time_s");
    assert_string_equal(text_at(answer, "unit"), "s");
    point = point_at(answer, 0);
    assert_string_equal(text_at(point, "day"), "2024-10-04");
    assert_string_equal(text_at(point, "newest_run"), "3");
    assert_true(json_is_null(json_object_get(point, "band")));
    assert_non_null(text_at(json_object_get(point, "why"), "band"));
    assert_non_null(text_at(json_object_get(point, "why"), "outside"));
    assert_true(fabs(real_of(point, "median") - 1.01e-3) < 1e-12);
    assert_true(fabs(real_of(point, "min") - 1.00e-3) < 1e-12);
    assert_true(fabs(real_of(point, "max") - 1.02e-3) < 1e-12);
    assert_int_equal(int_of(point, "runs"), 3);
    assert_true(json_is_null(json_object_get(point_at(answer, 1), "band"))); /* three runs are too few */
    point = point_at(answer, 2);
    band = json_object_get(point, "band");
    assert_int_equal(int_of(band, "runs"), 6); /* 100 100 101 101 102 102: median 101, MAD 1 */
    assert_true(fabs(real_of(band, "median") - 1.01e-3) < 1e-12);
    assert_true(fabs(real_of(band, "high") - (1.01e-3 + 3 * 1.4826022e-5)) < 1e-11);
    assert_true(json_is_false(json_object_get(point, "outside")));
    point = point_at(answer, 4);
    assert_int_equal(int_of(json_object_get(point, "band"), "runs"), 12);
    assert_true(json_is_true(json_object_get(point, "outside")));
    json_decref(answer);
    answer =
        trend(f, (struct store_trend_query){.since_ms = DAY0 + 3 * TREND_DAY_MS, .until_ms = DAY0 + 4 * TREND_DAY_MS});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 1); /* its band from before since */
    assert_int_equal(int_of(json_object_get(point_at(answer, 0), "band"), "runs"), 9);
    json_decref(answer);
}

static void one_run_before_is_said_as_one(void **state)
{
    struct fixture *f = *state;
    json_t *answer;

    for (int day = 0; day < 3; day++)
        store_run(f, (struct spec){.date_ms = DAY0 + day * TREND_DAY_MS, .time_s = 1e-3});
    answer = trend(f, (struct store_trend_query){0});
    assert_string_equal(text_at(json_object_get(point_at(answer, 1), "why"), "band"),
                        "1 baseline run before it, and 5 are needed");
    assert_string_equal(text_at(json_object_get(point_at(answer, 2), "why"), "band"),
                        "2 baseline runs before it, and 5 are needed");
    json_decref(answer);
}

static void expect_accepted(const json_t *answer)
{
    const json_t *list = json_object_get(answer, "accepted"), *change = json_array_get(list, 0);

    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(text_at(change, "run"), "11");
    assert_string_equal(text_at(change, "day"), "2024-10-14");
    assert_string_equal(text_at(change, "date"), "2024-10-14T00:00:00.000Z");
    assert_string_equal(text_at(change, "driver"), "580.1");
    assert_string_equal(text_at(change, "cuda"), "13.0");
    assert_string_equal(text_at(change, "note"), "é \"new\" driver");
    assert_string_equal(text_at(change, "principal"), "uid:1");
}

static void a_change_becomes_the_baseline_when_accepted(void **state)
{
    struct fixture *f = *state;
    json_t *answer;
    int64_t changed = 0;

    for (int day = 0; day < 20; day++) {
        int64_t id = store_run(f, (struct spec){.date_ms = DAY0 + day * TREND_DAY_MS,
                                                .time_s = (day < 10 ? 1e-3 : 1.1e-3) + day % 3 * 1e-6});

        changed = day == 10 ? id : changed;
    }
    answer = trend(f, (struct store_trend_query){0});
    for (size_t i = 5; i < 20; i++) /* nobody accepted it: it stays outside */
        assert_int_equal(json_is_true(json_object_get(point_at(answer, i), "outside")), i >= 10);
    assert_int_equal(int_of(json_object_get(point_at(answer, 19), "band"), "runs"), 10);
    json_decref(answer);
    assert_int_equal(changed, 11);
    assert_int_equal(sqlite3_exec(f->store->db,
                                  "INSERT INTO note VALUES (11, 1, 'é \"new\" driver', 'uid:1', 0); INSERT INTO "
                                  "accepted SELECT 11, id, 'warm' FROM "
                                  "unit WHERE name = 'vector_add'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    answer = trend(f, (struct store_trend_query){0});
    expect_accepted(answer);
    for (size_t i = 0; i < 20; i++) {
        json_t *point = point_at(answer, i);

        assert_int_equal(json_is_true(json_object_get(point, "accepted")), i == 10);
        assert_false(json_is_true(json_object_get(point, "outside")));
        assert_int_equal(json_is_null(json_object_get(point, "band")), i < 5 || (i >= 10 && i < 15));
    }
    json_decref(answer);
    answer = trend(f, (struct store_trend_query){.state = "cold"}); /* another state is not concerned */
    assert_false(json_is_true(json_object_get(point_at(answer, 10), "accepted")));
    assert_int_equal(json_array_size(json_object_get(answer, "accepted")), 0);
    json_decref(answer);
    answer = trend(f, (struct store_trend_query){.since_ms = DAY0 + 11 * TREND_DAY_MS}); /* one before these days */
    assert_int_equal(json_array_size(json_object_get(answer, "accepted")), 0);
    assert_int_equal(int_of(json_object_get(point_at(answer, 8), "band"), "runs"), 9);
    json_decref(answer);
    store_run(f, (struct spec){.date_ms = DAY0 + 15 * TREND_DAY_MS, .source = RL_REPLAYED});
    assert_int_equal(
        sqlite3_exec(f->store->db,
                     "INSERT INTO note VALUES (21, 1, '', 'uid:1', 0); INSERT INTO accepted SELECT 21, id, "
                     "'warm' FROM unit WHERE name = 'vector_add'",
                     NULL, NULL, NULL),
        SQLITE_OK);
    answer = trend(f, (struct store_trend_query){0}); /* a replay begins no baseline of measured runs */
    assert_int_equal(json_array_size(json_object_get(answer, "accepted")), 1);
    json_decref(answer);
    answer = trend(f, (struct store_trend_query){.source = "any"});
    assert_int_equal(json_array_size(json_object_get(answer, "accepted")), 2);
    json_decref(answer);
}

static void an_accepted_change_divides_its_day(void **state)
{
    struct fixture *f = *state;
    json_t *answer;

    for (int i = 0; i < 8; i++)
        store_run(f, (struct spec){.date_ms = DAY0 + i * 1000, .time_s = i < 6 ? 1e-3 : 2e-3});
    assert_int_equal(
        sqlite3_exec(f->store->db,
                     "INSERT INTO note VALUES (7, 1, '', 'uid:1', 0); INSERT INTO accepted SELECT 7, id, 'warm' FROM "
                     "unit WHERE name = 'vector_add'",
                     NULL, NULL, NULL),
        SQLITE_OK);
    answer = trend(f, (struct store_trend_query){0});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 2);
    assert_int_equal(int_of(point_at(answer, 0), "runs"), 6);
    assert_int_equal(int_of(point_at(answer, 1), "runs"), 2);
    assert_true(fabs(real_of(point_at(answer, 1), "median") - 2e-3) < 1e-12);
    assert_true(json_is_true(json_object_get(point_at(answer, 1), "accepted")));
    json_decref(answer);
}

static void points_are_told_apart_by_driver_and_cuda(void **state)
{
    struct fixture *f = *state;
    json_t *answer;

    store_run(f, (struct spec){.date_ms = DAY0, .driver = "1"});
    store_run(f, (struct spec){.date_ms = DAY0 + 1, .driver = "2"});
    store_run(f, (struct spec){.date_ms = DAY0 + 2, .driver = "1", .timed_only = true}); /* the same point */
    store_run(f, (struct spec){.date_ms = DAY0 + 3, .driver = "1", .cuda = "12.6"});
    store_run(f, (struct spec){.date_ms = DAY0 + 4, .driver = "1", .flag = "shared"}); /* none of these */
    store_run(f, (struct spec){.date_ms = DAY0 + 5, .driver = "1", .source = RL_REPLAYED});
    store_run(f, (struct spec){.date_ms = DAY0 + 6, .driver = "1", .outcome = RL_PARTIAL});
    store_run(f, (struct spec){.date_ms = DAY0 + 7, .driver = "1", .method = 2});
    store_run(f, (struct spec){.date_ms = DAY0 + 8, .driver = "1", .device = DEVICE_B});
    answer = trend(f, (struct store_trend_query){0});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 3);
    assert_string_equal(text_at(point_at(answer, 0), "driver"), "1");
    assert_int_equal(int_of(point_at(answer, 0), "runs"), 2);
    assert_string_equal(text_at(point_at(answer, 0), "newest_run"), "3");
    assert_string_equal(text_at(point_at(answer, 1), "driver"), "2");
    assert_string_equal(text_at(point_at(answer, 2), "cuda"), "12.6");
    json_decref(answer);
    answer = trend(f, (struct store_trend_query){.driver = "2"});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 1);
    json_decref(answer);
    answer = trend(f, (struct store_trend_query){.source = "any", .method_version = 2});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 1);
    json_decref(answer);
    answer = trend(f, (struct store_trend_query){.sizes = "scaled"});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 0);
    json_decref(answer);
}

static void a_full_day_keeps_its_newest_runs(void **state)
{
    struct fixture *f = *state;
    double newest[24], low, high;
    uint32_t seed = 11;
    json_t *answer;
    int count = 0;

    /* Runs of three series, stored in the order of time; of a series' day 24 are kept. The first is of driver 2. */
    store_run(f, (struct spec){.date_ms = DAY0 + 999, .driver = "1"}); /* its series is the older one */
    store_run(f, (struct spec){.date_ms = DAY0 + 1, .driver = "2", .time_s = 7e-3});
    for (int i = 0; i < 90; i++) {
        double time_s = 1e-3 * (1 + random_next(&seed) % 1000 / 1000.0);

        store_run(f, (struct spec){.date_ms = DAY0 + 1000 + i,
                                   .driver = "1",
                                   .timed_only = random_next(&seed) % 3 == 0,
                                   .source = random_next(&seed) % 4 == 0 ? RL_IMPORTED : RL_MEASURED,
                                   .time_s = time_s});
        if (i >= 90 - 24)
            newest[count++] = time_s;
    }
    rl_sort_doubles(newest, 24);
    low = newest[0];
    high = newest[23];
    answer = trend(f, (struct store_trend_query){0});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 2);
    assert_string_equal(text_at(point_at(answer, 0), "driver"), "2");
    assert_string_equal(text_at(point_at(answer, 1), "driver"), "1");
    assert_int_equal(int_of(point_at(answer, 1), "runs"), 91);
    assert_int_equal(int_of(point_at(answer, 1), "used"), 24);
    assert_string_equal(text_at(point_at(answer, 1), "newest_run"), "92");
    assert_true(fabs(real_of(point_at(answer, 1), "min") / low - 1) < 1e-8);
    assert_true(fabs(real_of(point_at(answer, 1), "max") / high - 1) < 1e-8);
    assert_true(fabs(real_of(point_at(answer, 1), "median") / rl_quantile_sorted(newest, 24, 0.5) - 1) < 1e-8);
    json_decref(answer);
}

static void metrics_and_their_unknowns(void **state)
{
    static const struct {
        const char *kernel, *state, *metric;
        double value;
    } cases[] = {
        {"vector_add", "warm", "time_s", 47.1e-6},
        {"vector_add", "cold", "dram_bytes", 201.5e6},
        {"vector_add", "cold", "dram_per_ask", 201.5e6 / 201326592},
        {"vector_add", "warm", "percent_of_ceiling", 201.3e6 / 47.1e-6 / 4.27e12 * 100},
        {"dram_copy", "warm", NULL, 4.27e12},
        {"fp32_fma", "warm", "value", 60e12},
    };
    struct fixture *f = *state;
    struct rl_buf out;
    struct store_trend_query query = {.device = DEVICE_A, .kernel = "vector_add", .state = "warm", .now_ms = DAY0};
    json_t *answer;

    for (int i = 0; i < 30; i++)
        store_run(f, (struct spec){.date_ms = DAY0 + i});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        answer = trend(f, (struct store_trend_query){
                              .kernel = cases[i].kernel, .state = cases[i].state, .metric = cases[i].metric});
        assert_true(fabs(real_of(point_at(answer, 0), "median") / cases[i].value - 1) < 1e-6);
        assert_int_equal(int_of(point_at(answer, 0), "runs"), 30);
        assert_int_equal(int_of(point_at(answer, 0), "used"), 24);
        json_decref(answer);
    }
    answer = trend(f, (struct store_trend_query){.kernel = "fp32_fma", .metric = "dram_bytes"});
    assert_int_equal(int_of(point_at(answer, 0), "used"), 0);
    assert_true(json_is_null(json_object_get(point_at(answer, 0), "median")));
    assert_int_equal(json_object_size(json_object_get(point_at(answer, 0), "why")), 5);
    json_decref(answer);
    rl_buf_init(&out, 1 << 20);
    query.metric = "speed";
    FAILS(f, RL_E_BAD_FIELD, store_history_trend(f->store, &query, &out, &f->err));
    assert_string_equal(f->err.field, "metric");
    query.metric = "value"; /* which no kernel has */
    FAILS(f, RL_E_NOT_FOUND, store_history_trend(f->store, &query, &out, &f->err));
    query.metric = "time_s";
    query.kernel = "dram_copy";
    FAILS(f, RL_E_BAD_FIELD, store_history_trend(f->store, &query, &out, &f->err));
    query.metric = NULL;
    query.kernel = "none";
    FAILS(f, RL_E_NOT_FOUND, store_history_trend(f->store, &query, &out, &f->err));
    assert_string_equal(f->err.field, "kernel");
    query.kernel = "vector_add";
    query.state = "hot";
    FAILS(f, RL_E_BAD_FIELD, store_history_trend(f->store, &query, &out, &f->err));
    query.state = "warm";
    query.device = "GPU-none";
    FAILS(f, RL_E_NOT_FOUND, store_history_trend(f->store, &query, &out, &f->err));
    assert_string_equal(f->err.field, "device");
    assert_int_equal(out.len, 0);
    rl_buf_free(&out);
}

/* An import may have a kernel of a ceiling's name. */
static void a_kernel_of_a_ceilings_name_is_another_row(void **state)
{
    struct fixture *f = *state;
    json_t *answer;

    store_run(f, (struct spec){.date_ms = DAY0});
    store_run(f, (struct spec){.date_ms = DAY0, .device = DEVICE_B, .kernel = "dram_copy", .time_s = 0.5});
    answer = trend(f, (struct store_trend_query){.kernel = "dram_copy"});
    assert_string_equal(json_string_value(json_object_get(answer, "metric")), "value");
    assert_true(fabs(real_of(point_at(answer, 0), "median") / 4.27e12 - 1) < 1e-6);
    json_decref(answer);
    answer = trend(f, (struct store_trend_query){.kernel = "dram_copy", .metric = "dram_bytes"});
    assert_int_equal(int_of(point_at(answer, 0), "runs"), 1);
    json_decref(answer);
    /* where both are, the kernel has the name, and the ceiling its value */
    answer = trend(f, (struct store_trend_query){.device = DEVICE_B, .kernel = "dram_copy"});
    assert_true(real_of(point_at(answer, 0), "median") == 0.5);
    json_decref(answer);
    answer = trend(f, (struct store_trend_query){.device = DEVICE_B, .kernel = "dram_copy", .metric = "value"});
    assert_true(fabs(real_of(point_at(answer, 0), "median") / 4.27e12 - 1) < 1e-6);
    json_decref(answer);
    answer = trend(f, (struct store_trend_query){.kernel = "dram_copy", .metric = "time_s"});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 0);
    json_decref(answer);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup_store, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_band_is_median_and_three_scaled_mads),
        cmocka_unit_test(nine_digits_are_those_of_printf),
        cmocka_unit_test(seventeen_digits_are_those_of_printf),
        WITH_STORE(a_trend_is_days_with_what_came_before),
        WITH_STORE(one_run_before_is_said_as_one),
        WITH_STORE(a_change_becomes_the_baseline_when_accepted),
        WITH_STORE(an_accepted_change_divides_its_day),
        WITH_STORE(points_are_told_apart_by_driver_and_cuda),
        WITH_STORE(metrics_and_their_unknowns),
        WITH_STORE(a_kernel_of_a_ceilings_name_is_another_row),
        WITH_STORE(a_full_day_keeps_its_newest_runs),
    };

    return cmocka_run_group_tests_name("store: trends", tests, NULL, NULL);
}
