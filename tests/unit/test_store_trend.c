/* The matrix, and trends with their noise bands. */
#include "store_spec.h"

#include <jansson.h>
#include <math.h>

#include "db/baseline.h"
#include "db/history.h"
#include "record/quantile.h"

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    if (object == NULL)
        fail_msg("%s at %d in %s", error.text, error.position, text);
    return object;
}

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}
static int64_t int_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* ---- matrix ---- */

static json_t *matrix(struct fixture *f, struct store_matrix_query query)
{
    struct rl_buf out;
    json_t *answer;

    if (query.now_ms == 0)
        query.now_ms = DAY0;
    rl_buf_init(&out, 1 << 22);
    OK(f, store_history_matrix(f->store, &query, &out, &f->err));
    answer = parse(out.data);
    rl_buf_free(&out);
    return answer;
}

/* "DRIVER/CUDA day kind backed timed; ..." of all rows: short enough to compare. */
static char *brief(const json_t *answer)
{
    struct rl_buf text;
    size_t i, k;
    json_t *row, *cell;

    rl_buf_init(&text, 1 << 20);
    json_array_foreach(json_object_get(answer, "rows"), i, row)
    {
        rl_buf_printf(&text, "%s %s/%s:", text_at(json_object_get(row, "device"), "name"), text_at(row, "driver"),
                      text_at(row, "cuda") != NULL ? text_at(row, "cuda") : "-");
        json_array_foreach(json_object_get(row, "cells"), k, cell)
        {
            rl_buf_printf(&text, " %s=%c%lld,%lld", text_at(cell, "day"), text_at(cell, "counters")[0],
                          (long long)int_of(cell, "counter_backed"), (long long)int_of(cell, "timed_only"));
        }
        rl_buf_puts(&text, "; ");
    }
    return rl_buf_take(&text);
}

static void expect_matrix(struct fixture *f, struct store_matrix_query query, const char *expected)
{
    json_t *answer = matrix(f, query);
    char *text = brief(answer);

    assert_string_equal(text, expected);
    free(text);
    json_decref(answer);
}

static void the_matrix_tells_three_kinds_apart(void **state)
{
    struct fixture *f = *state;
    json_t *answer;

    store_run(f, (struct spec){.date_ms = DAY0 - 1, .timed_only = true});
    store_run(f, (struct spec){.date_ms = DAY0});
    store_run(f, (struct spec){.date_ms = DAY0 + 5, .timed_only = true});
    store_run(f, (struct spec){.date_ms = DAY0 + 6, .driver = "595.84", .cuda = ""});
    store_run(f, (struct spec){.date_ms = DAY0, .device = DEVICE_B, .source = RL_IMPORTED});
    store_run(f, (struct spec){.date_ms = DAY0, .device = DEVICE_B, .source = RL_REPLAYED});
    store_run(f, (struct spec){.date_ms = DAY0, .device = DEVICE_B, .driver = "1", .outcome = RL_REFUSED});
    store_run(f, (struct spec){.date_ms = DAY0, .device = DEVICE_B, .driver = "1", .outcome = RL_PARTIAL});
    store_run(f, (struct spec){.date_ms = DAY0 - 365 * TREND_DAY_MS, .driver = "400"}); /* one day too old */
    store_run(f, (struct spec){.date_ms = DAY0 - 364 * TREND_DAY_MS});
    expect_matrix(f, (struct store_matrix_query){0},
                  "NVIDIA H200 580.1/13.0: 2023-10-06=c1,0 2024-10-03=t0,1 2024-10-04=c1,1; "
                  "NVIDIA H200 595.84/-: 2024-10-04=c1,0; Tesla T4 580.1/13.0: 2024-10-04=c1,0; ");
    expect_matrix(f, (struct store_matrix_query){.source = "any", .device = DEVICE_B},
                  "Tesla T4 580.1/13.0: 2024-10-04=c2,0; ");
    expect_matrix(f, (struct store_matrix_query){.source = "replayed"}, "Tesla T4 580.1/13.0: 2024-10-04=c1,0; ");
    expect_matrix(f, (struct store_matrix_query){.until_ms = DAY0}, /* exclusive */
                  "NVIDIA H200 580.1/13.0: 2023-10-06=c1,0 2024-10-03=t0,1; NVIDIA H200 400/13.0: 2023-10-05=c1,0; ");
    expect_matrix(f, (struct store_matrix_query){.since_ms = DAY0 - 1, .until_ms = DAY0},
                  "NVIDIA H200 580.1/13.0: 2024-10-03=t0,1; ");
    expect_matrix(f, (struct store_matrix_query){.device = "GPU-none"}, "");
    answer = matrix(f, (struct store_matrix_query){0});
    assert_string_equal(text_at(answer, "since"), "2023-10-06");
    assert_string_equal(text_at(answer, "until"), "2024-10-05");
    assert_non_null(text_at(json_object_get(json_array_get(json_object_get(answer, "rows"), 1), "why"), "cuda"));
    json_decref(answer);
    OK(f, store_run_retire(f->store, 2, "a test", DAY0, &f->err));
    expect_matrix(f, (struct store_matrix_query){.since_ms = DAY0, .device = DEVICE_A},
                  "NVIDIA H200 580.1/13.0: 2024-10-04=t0,1; NVIDIA H200 595.84/-: 2024-10-04=c1,0; ");
    store_run(f, (struct spec){.date_ms = DAY0 + 9});
    reopen_fixture(f); /* the same from the file */
    expect_matrix(f, (struct store_matrix_query){.since_ms = DAY0},
                  "NVIDIA H200 580.1/13.0: 2024-10-04=c1,1; NVIDIA H200 595.84/-: 2024-10-04=c1,0; "
                  "Tesla T4 580.1/13.0: 2024-10-04=c1,0; ");
}

/* Many series, so that the days are read across all of them, against counting. */
static void a_wide_matrix_equals_counting(void **state)
{
    struct fixture *f = *state;
    static int backed[40][2][10], timed[40][2][10];
    char driver[8];
    uint32_t seed = 7;
    json_t *answer, *row, *cell;
    size_t i, k;
    int cells = 0, expected = 0;

    for (int n = 0; n < 700; n++) {
        int d = (int)(random_next(&seed) % 40), c = (int)(random_next(&seed) % 2), t = (int)(random_next(&seed) % 10);
        bool timed_only = random_next(&seed) % 2;

        snprintf(driver, sizeof driver, "%d", d);
        store_run(f, (struct spec){.date_ms = DAY0 + t * TREND_DAY_MS + n,
                                   .driver = driver,
                                   .cuda = c == 0 ? "12.6" : "13.0",
                                   .timed_only = timed_only});
        (timed_only ? timed : backed)[d][c][t]++;
    }
    assert_true(f->store->series.count > 64);
    answer = matrix(f, (struct store_matrix_query){.since_ms = DAY0, .until_ms = DAY0 + 10 * TREND_DAY_MS});
    json_array_foreach(json_object_get(answer, "rows"), i, row)
    {
        int d = (int)strtol(text_at(row, "driver"), NULL, 10), c = strcmp(text_at(row, "cuda"), "13.0") == 0;

        json_array_foreach(json_object_get(row, "cells"), k, cell)
        {
            int t = (int)(strtol(text_at(cell, "day") + 8, NULL, 10) - 4);

            assert_int_equal(int_of(cell, "counter_backed"), backed[d][c][t]);
            assert_int_equal(int_of(cell, "timed_only"), timed[d][c][t]);
            cells++;
        }
    }
    for (int n = 0; n < 800; n++)
        expected += backed[n / 20][n / 10 % 2][n % 10] + timed[n / 20][n / 10 % 2][n % 10] > 0;
    assert_int_equal(cells, expected);
    json_decref(answer);
}

static void what_the_matrix_refuses(void **state)
{
    struct fixture *f = *state;
    struct rl_buf out;
    struct store_matrix_query query = {.source = "Measured", .now_ms = DAY0};

    rl_buf_init(&out, 100);
    rl_buf_puts(&out, "before");
    FAILS(f, RL_E_BAD_FIELD, store_history_matrix(f->store, &query, &out, &f->err));
    assert_string_equal(f->err.field, "source");
    query = (struct store_matrix_query){.since_ms = DAY0, .until_ms = DAY0, .now_ms = DAY0};
    FAILS(f, RL_E_BAD_FIELD, store_history_matrix(f->store, &query, &out, &f->err));
    query = (struct store_matrix_query){.since_ms = 1, .until_ms = DAY0, .now_ms = DAY0};
    FAILS(f, RL_E_BAD_FIELD, store_history_matrix(f->store, &query, &out, &f->err));
    assert_string_equal(f->err.field, "since");
    for (int i = 0; i < 3; i++)
        store_run(f, (struct spec){.date_ms = DAY0 - i * TREND_DAY_MS});
    query = (struct store_matrix_query){.now_ms = DAY0};
    FAILS(f, RL_E_NO_MEMORY, store_history_matrix(f->store, &query, &out, &f->err));
    assert_string_equal(out.data, "before");
    rl_buf_free(&out);
}

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

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup_store, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(the_matrix_tells_three_kinds_apart),
        WITH_STORE(a_wide_matrix_equals_counting),
        WITH_STORE(what_the_matrix_refuses),
        cmocka_unit_test(a_band_is_median_and_three_scaled_mads),
        cmocka_unit_test(nine_digits_are_those_of_printf),
        WITH_STORE(a_trend_is_days_with_what_came_before),
        WITH_STORE(a_change_becomes_the_baseline_when_accepted),
        WITH_STORE(an_accepted_change_divides_its_day),
        WITH_STORE(points_are_told_apart_by_driver_and_cuda),
        WITH_STORE(metrics_and_their_unknowns),
    };

    return cmocka_run_group_tests_name("store: matrix, trends", tests, NULL, NULL);
}
