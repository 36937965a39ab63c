/* The matrix of history. */
#include "tests/unit/db/store_answer.h"
#include "tests/unit/db/store_spec.h"

#include "db/history/matrix.h"
#include "db/runs/retention.h"
#include "db/series/memory.h"

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
    assert_true(f->store->series->cache.count > 64);
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

static void sql(struct fixture *f, const char *text)
{
    assert_int_equal(sqlite3_exec(f->store->db, text, NULL, NULL, NULL), SQLITE_OK);
}

/* 100 drivers on 2000 days each are the most that an answer has; the rows are written as they lie in the file. */
static void a_matrix_of_too_many_cells_is_refused(void **state)
{
    struct fixture *f = *state;
    struct store_matrix_query query = {.since_ms = DAY0, .until_ms = DAY0 + 2001 * TREND_DAY_MS};
    struct rl_buf out;

    store_run(f, (struct spec){.date_ms = DAY0});
    sql(f, "DELETE FROM series_day");
    sql(f, "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 101) "
           "INSERT INTO series SELECT i, device, CAST(i AS TEXT), cuda, suite, sizes, source, counters, outcome, "
           "oldest_ms, "
           "oldest_ms + 2001 * 86400000 FROM n, (SELECT * FROM series WHERE id = 1)");
    sql(f, "WITH RECURSIVE d(t) AS (SELECT 20000 UNION ALL SELECT t + 1 FROM d WHERE t < 21999) "
           "INSERT INTO series_day SELECT id, t, 3 FROM series, d WHERE id > 1");
    f->store->series->stale = true;
    rl_buf_init(&out, 64 << 20);
    OK(f, store_history_matrix(f->store, &query, &out, &f->err));
    rl_buf_clear(&out);
    sql(f, "INSERT INTO series_day SELECT id, 22000, 1 FROM series WHERE id = 7");
    f->store->series->stale = true;
    FAILS(f, RL_E_TOO_LARGE, store_history_matrix(f->store, &query, &out, &f->err));
    assert_string_equal(f->err.field, "since");
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
        WITH_STORE(a_matrix_of_too_many_cells_is_refused),
    };

    return cmocka_run_group_tests_name("store: matrix", tests, NULL, NULL);
}
