/* How much work a row is: kept with every row, taken over from older databases, and what trends and draws make of it.
 */
#include "tests/unit/db/store_answer.h"
#include "tests/unit/db/store_spec.h"

#include <math.h>
#include <zlib.h>

#include "db/check.h"
#include "db/history/excluded.h"
#include "db/history/matrix.h"
#include "db/history/observations.h"
#include "db/history/trend.h"
#include "db/migrate.h"
#include "db/notes/run_note.h"

/* ---- runs of known work ---- */

struct work_spec {
    int64_t date_ms;
    int64_t flop, ask_bytes; /* 0: unknown */
    const char *dims, *flag, *driver, *function, *kernel;
    int64_t block;
    double time_s;
};

static int64_t store_work(struct fixture *f, struct work_spec spec)
{
    struct rl_run *run = sample_run_small();
    struct rl_row *row = &run->rows[0];
    int64_t id;

    run->device.id = DEVICE_A;
    if (spec.kernel != NULL)
        row->kernel = spec.kernel;
    run->environment.driver_version = text_known(spec.driver != NULL ? spec.driver : "580.1");
    run->finished_at_ms = spec.date_ms;
    run->started_at_ms = spec.date_ms - 4000;
    row->flop = spec.flop != 0 ? sample_count(spec.flop) : (struct rl_count){0, "not given"};
    row->ask_bytes = spec.ask_bytes != 0 ? sample_count(spec.ask_bytes) : (struct rl_count){0, "not given"};
    row->launch.shape = spec.dims != NULL ? sample_text(spec.dims) : text_unknown();
    row->launch.block[0] = spec.block != 0 ? spec.block : 256;
    if (spec.flag != NULL || spec.function != NULL)
        run->source = RL_IMPORTED;
    if (spec.function != NULL)
        row->import =
            (struct rl_row_import){.present = true, .function = sample_text(spec.function), .combined = text_unknown()};
    row->state[RL_WARM].time_s.median = rl_known(spec.time_s > 0 ? spec.time_s : 1e-3);
    if (spec.flag != NULL)
        assert_int_equal(rl_strings_add(run->arena, &row->state[RL_WARM].flags, spec.flag), 0);
    id = add_run(f, run);
    rl_run_free(run);
    return id;
}

static json_t *trend_of(struct fixture *f, struct store_trend_query query)
{
    struct rl_buf out;
    json_t *answer;

    query.device = query.device != NULL ? query.device : DEVICE_A;
    query.kernel = query.kernel != NULL ? query.kernel : "vector_add";
    query.state = "warm";
    query.now_ms = query.now_ms != 0 ? query.now_ms : DAY0 + 100 * TREND_DAY_MS;
    rl_buf_init(&out, 1 << 22);
    OK(f, store_history_trend(f->store, &query, &out, &f->err));
    answer = parse(out.data);
    rl_buf_free(&out);
    return answer;
}
static const json_t *item(const json_t *answer, const char *list, size_t index)
{
    const json_t *found = json_array_get(json_object_get(answer, list), index);

    assert_non_null(found);
    return found;
}
static bool is_outside(const json_t *point)
{
    return json_is_true(json_object_get(point, "outside"));
}

/* ---- what is kept ---- */

static void a_row_keeps_its_work_and_its_launch(void **state)
{
    struct fixture *f = *state;
    struct store_side side = {.runs = (int64_t[]){1, 2, 3}, .run_count = 3};
    struct store_observations draws;
    const struct store_observation_row *row;

    store_work(f, (struct work_spec){.date_ms = T0,
                                     .flop = 5000,
                                     .ask_bytes = 9007199254740993, /* 2^53 + 1 */
                                     .dims = "n 4096",
                                     .block = 128,
                                     .function = "add(float*)",
                                     .flag = "profiler_time"});
    store_work(f, (struct work_spec){.date_ms = T0 + 1, .dims = "grid 65536, block 256", .flag = "above_roof"});
    store_work(f, (struct work_spec){.date_ms = T0 + 2, .flag = "bytes_derived"});
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    row = &draws.draws[0].rows[1]; /* the ceilings' rows come after those of the kernel */
    for (size_t i = 0; i < draws.draws[0].row_count; i++)
        if (!draws.draws[0].rows[i].ceiling && draws.draws[0].rows[i].state == RL_WARM)
            row = &draws.draws[0].rows[i];
    assert_int_equal(row->work.flop, 5000);
    assert_int_equal(row->work.ask_bytes, 9007199254740993);
    assert_string_equal(row->work.dims, "n 4096");
    assert_string_equal(row->launch.grid, "65536 x 1 x 1");
    assert_string_equal(row->launch.block, "128 x 1 x 1");
    assert_string_equal(row->launch.function, "add(float*)");
    assert_null(row->launch.shape);
    assert_true(row->flags & RL_ROW_PROFILER_TIME);
    assert_false(row->flags & RL_ROW_BYTES_DERIVED);
    for (size_t i = 0; i < draws.draws[1].row_count; i++) {
        row = &draws.draws[1].rows[i];
        if (row->ceiling && strcmp(row->unit, "dram_copy") == 0 && row->state == RL_WARM) {
            assert_int_equal(row->work.ask_bytes, 2135000000);
            assert_int_equal(row->work.flop, -1);
            assert_string_equal(row->launch.shape, "grid 1056, block 512");
        } else if (!row->ceiling) {
            assert_int_equal(row->work.flop, -1);
            assert_int_equal(row->work.ask_bytes, -1);
            assert_null(row->work.dims); /* that shape is the launch again */
            assert_int_equal(row->flags & RL_ROW_ABOVE_ROOF, row->state == RL_WARM ? RL_ROW_ABOVE_ROOF : 0);
        }
    }
    for (size_t i = 0; i < draws.draws[2].row_count; i++)
        if (!draws.draws[2].rows[i].ceiling && draws.draws[2].rows[i].state == RL_WARM)
            assert_true(draws.draws[2].rows[i].flags & RL_ROW_BYTES_DERIVED);
    store_observations_fini(&draws);
    /* each once: of the kernel two, of the ceilings two, and the unknown one that is always there */
    assert_int_equal(query_int(f, "SELECT count(*) FROM work"), 3);
    OK(f, store_check_integrity(f->store, &f->err));
}

static void there_is_room_for_flags(void **state)
{
    struct fixture *f = *state;

    store_work(f, (struct work_spec){.date_ms = T0});
    assert_int_equal(sqlite3_exec(f->store->db,
                                  "INSERT INTO run_row_import SELECT run_id, unit_id, state, 4294967295 FROM run_row",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_not_equal(sqlite3_exec(f->store->db, "UPDATE run_row_import SET flags = 1", NULL, NULL, NULL),
                         SQLITE_OK);
    assert_int_not_equal(sqlite3_exec(f->store->db, "DELETE FROM run_row_import", NULL, NULL, NULL), SQLITE_OK);
    assert_int_not_equal(sqlite3_exec(f->store->db, "UPDATE run_row SET work_id = 1", NULL, NULL, NULL), SQLITE_OK);
}

/* ---- the rule ---- */

static void work_is_other_where_both_know_a_member_that_differs(void **state)
{
    static const struct {
        struct store_work a, b;
        int other; /* members that differ, as bits */
    } cases[] = {
        {{-1, -1, NULL}, {-1, -1, NULL}, 0},
        {{10, 20, "n 1"}, {10, 20, "n 1"}, 0},
        {{10, 20, "n 1"}, {-1, -1, NULL}, 0},
        {{10, -1, NULL}, {-1, 20, "n 1"}, 0},
        {{0, -1, NULL}, {-1, 0, NULL}, 0}, /* none is a number too */
        {{0, -1, NULL}, {10, -1, NULL}, 1 << WORK_FLOP},
        {{10, 20, NULL}, {10, 21, "n 1"}, 1 << WORK_ASK_BYTES},
        {{-1, -1, "n 1"}, {10, 20, "n 2"}, 1 << WORK_DIMS},
        {{10, 20, "n 1"}, {11, 21, "n 2"}, 1 << WORK_FLOP | 1 << WORK_ASK_BYTES | 1 << WORK_DIMS},
    };
    struct store_work known = {-1, 20, NULL};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct store_work *a = &cases[i].a, *b = &cases[i].b;

        assert_int_equal(work_is_other(a, b), cases[i].other != 0);
        assert_int_equal(work_is_other(b, a), cases[i].other != 0);
        for (enum work_member member = WORK_FLOP; member < WORK_MEMBERS; member++) {
            assert_int_equal(work_differs_in(a, b, member), cases[i].other >> member & 1);
            assert_int_equal(work_differs_in(b, a, member), cases[i].other >> member & 1);
        }
    }
    assert_false(work_knows(&known, WORK_FLOP) || work_knows(&known, WORK_DIMS));
    assert_true(work_knows(&known, WORK_ASK_BYTES));
    work_learn(&known, &(struct store_work){0, 21, "n 1"});
    assert_int_equal(known.flop, 0);
    assert_int_equal(known.ask_bytes, 20);
    assert_string_equal(known.dims, "n 1");
}

/* ---- trends ---- */

static void other_work_is_another_series_of_a_trend(void **state)
{
    struct fixture *f = *state;
    json_t *answer;

    for (int i = 0; i < 8; i++)
        store_work(f, (struct work_spec){.date_ms = DAY0 + i * TREND_DAY_MS,
                                         .ask_bytes = 1000000000,
                                         .time_s = 1e-3 * (1 + 1e-4 * (i % 3))});
    for (int i = 8; i < 16; i++)
        store_work(f, (struct work_spec){.date_ms = DAY0 + i * TREND_DAY_MS,
                                         .ask_bytes = 2000000000,
                                         .flop = 7,
                                         .time_s = 2e-3 * (1 + 1e-4 * (i % 3))});
    /* the first again, and slower: outside of its own band; and the second in the same day */
    store_work(f, (struct work_spec){.date_ms = DAY0 + 16 * TREND_DAY_MS, .ask_bytes = 1000000000, .time_s = 1.2e-3});
    store_work(f, (struct work_spec){.date_ms = DAY0 + 16 * TREND_DAY_MS + 1, .ask_bytes = 2000000000, .time_s = 2e-3});
    answer = trend_of(f, (struct store_trend_query){.metric = "time_s"});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 18);
    assert_int_equal(json_array_size(json_object_get(answer, "series")), 2);
    for (size_t i = 0; i < 18; i++) {
        const json_t *point = item(answer, "points", i);

        assert_int_equal(int_of(point, "series"), i < 8 || i == 16 ? 1 : 2);
        assert_int_equal(is_outside(point), i == 16);
        assert_int_equal(json_is_null(json_object_get(point, "band")), i % 8 < 5 && i < 16);
    }
    assert_true(fabs(json_number_value(json_object_get(json_object_get(item(answer, "points", 17), "band"), "median")) -
                     2.0002e-3) < 1e-6);
    assert_string_equal(text_at(item(answer, "series", 0), "sentence"), "Work of a launch: asked bytes 1000000000.");
    assert_string_equal(
        text_at(item(answer, "series", 1), "sentence"),
        "Other work than series 1, and not held against it: asked bytes 2000000000 instead of 1000000000.");
    assert_int_equal(int_of(item(answer, "series", 1), "ask_bytes"), 2000000000);
    assert_int_equal(int_of(item(answer, "series", 1), "flop"), 7);
    assert_string_equal(text_at(item(answer, "series", 1), "times"), "events");
    json_decref(answer);
    /* of the second alone: it is then number 1 */
    answer = trend_of(
        f, (struct store_trend_query){.since_ms = DAY0 + 9 * TREND_DAY_MS, .until_ms = DAY0 + 16 * TREND_DAY_MS});
    assert_int_equal(int_of(item(answer, "points", 0), "series"), 1);
    assert_string_equal(text_at(item(answer, "series", 0), "sentence"),
                        "Work of a launch: flop 7, asked bytes 2000000000.");
    json_decref(answer);
    /* flop and dims likewise */
    store_work(f, (struct work_spec){.date_ms = DAY0 + 17 * TREND_DAY_MS, .ask_bytes = 2000000000, .flop = 8});
    store_work(
        f, (struct work_spec){.date_ms = DAY0 + 18 * TREND_DAY_MS, .ask_bytes = 2000000000, .flop = 8, .dims = "n 1"});
    store_work(
        f, (struct work_spec){.date_ms = DAY0 + 19 * TREND_DAY_MS, .ask_bytes = 2000000000, .flop = 8, .dims = "n 2"});
    store_work(f, (struct work_spec){.date_ms = DAY0 + 20 * TREND_DAY_MS}); /* knows nothing: goes on with the last */
    answer = trend_of(f, (struct store_trend_query){0});
    assert_int_equal(int_of(item(answer, "points", 18), "series"), 3);
    assert_int_equal(int_of(item(answer, "points", 19), "series"), 3);
    assert_int_equal(int_of(item(answer, "points", 20), "series"), 4);
    assert_int_equal(int_of(item(answer, "points", 21), "series"), 4);
    assert_string_equal(text_at(item(answer, "series", 3), "sentence"),
                        "Other work than series 3, and not held against it: dims n 2 instead of n 1.");
    json_decref(answer);
}

/* Its points' series, one digit each, oldest first. */
static void series_of(struct fixture *f, struct store_trend_query query, char ret[16])
{
    json_t *answer = trend_of(f, query);
    size_t count = json_array_size(json_object_get(answer, "points"));

    assert_true(count < 16);
    for (size_t i = 0; i < count; i++)
        ret[i] = (char)('0' + int_of(item(answer, "points", i), "series"));
    ret[count] = '\0';
    json_decref(answer);
}

static void what_is_not_known_goes_on_with_the_series_that_came_last(void **state)
{
    /* 1 and 2: flop 10 and 20; 0: nothing is known; a: asked bytes alone; p: flop 30 of a profiler's time. A space ends
     * the day. */
    static const struct {
        const char *runs, *series;
    } cases[] = {
        {"0 1 2 0", "1122"},    {"0 1 2 0 1 0 2 0", "11221122"},
        {"1 2 1 0", "1211"},    /* not the youngest series */
        {"1 2 1 p 0", "12131"}, /* nor one of other times, nor the youngest beside it */
        {"1 a 2 0", "1122"},    {"1 a 2 a 0", "11222"},
        {"1 2 21 0", "12211"}, /* on the third day 1 came last, though its work was stored first */
        {"1 2 12 0", "12122"},  {"1 2 212 0", "12212"}, /* by the newest run of each */
    };
    struct fixture *f = *state;

    f->spec = "{\"suite\":\"verify\",\"label\":\"nightly\"}";
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char kernel[] = "kernel_0", stored[16], labelled[16];
        int64_t date_ms = DAY0;

        kernel[7] = (char)('0' + k);
        for (const char *c = cases[k].runs; *c != '\0'; c++) {
            struct work_spec spec = {.date_ms = date_ms++,
                                     .kernel = kernel,
                                     .flop = *c == '1'   ? 10
                                             : *c == '2' ? 20
                                             : *c == 'p' ? 30
                                                         : 0,
                                     .ask_bytes = *c == 'a' ? 1000 : 0,
                                     .flag = *c == 'p' ? "profiler_time" : NULL};

            if (*c == ' ')
                date_ms += TREND_DAY_MS;
            else
                store_work(f, spec);
        }
        series_of(f, (struct store_trend_query){.kernel = kernel, .metric = "time_s"}, stored);
        series_of(f, (struct store_trend_query){.kernel = kernel, .metric = "time_s", .label = "nightly"}, labelled);
        if (strcmp(stored, cases[k].series) != 0 || strcmp(labelled, cases[k].series) != 0)
            fail_msg("%s: stored %s, of a label %s, expected %s", cases[k].runs, stored, labelled, cases[k].series);
    }
    f->spec = NULL;
}

static void profiler_times_are_a_series_of_their_own(void **state)
{
    struct fixture *f = *state;
    json_t *answer;

    for (int i = 0; i < 14; i++)
        store_work(f, (struct work_spec){.date_ms = DAY0 + i * TREND_DAY_MS,
                                         .ask_bytes = 1000,
                                         .flag = i < 7 ? NULL : "profiler_time",
                                         .time_s = i < 7 ? 1e-3 : 1.5e-3});
    answer = trend_of(f, (struct store_trend_query){.metric = "time_s"});
    for (size_t i = 0; i < 14; i++) {
        assert_int_equal(int_of(item(answer, "points", i), "series"), i < 7 ? 1 : 2);
        assert_false(is_outside(item(answer, "points", i)));
    }
    assert_string_equal(
        text_at(item(answer, "series", 1), "sentence"),
        "Work of a launch: asked bytes 1000. Its times are a profiler's durations, which are never held "
        "against those of events (series 1).");
    assert_string_equal(text_at(item(answer, "series", 1), "times"), "profiler");
    json_decref(answer);
    /* bytes do not depend on it */
    answer = trend_of(f, (struct store_trend_query){.metric = "dram_bytes"});
    assert_int_equal(json_array_size(json_object_get(answer, "series")), 1);
    assert_string_equal(text_at(item(answer, "series", 0), "times"), "any");
    json_decref(answer);
}

static void an_accepted_change_begins_its_own_series_anew(void **state)
{
    struct fixture *f = *state;
    int64_t changed = 0;
    json_t *answer;

    for (int i = 0; i < 12; i++) { /* two works on every day, the first changes on the ninth */
        int64_t id = store_work(
            f,
            (struct work_spec){.date_ms = DAY0 + i * TREND_DAY_MS, .ask_bytes = 1000, .time_s = i < 8 ? 1e-3 : 2e-3});
        changed = i == 8 ? id : changed;
        store_work(f, (struct work_spec){.date_ms = DAY0 + i * TREND_DAY_MS + 5, .ask_bytes = 4000, .time_s = 5e-3});
    }
    OK(f, store_note_put(f->store,
                         &(struct store_note_new){.run_id = changed,
                                                  .text = "meant",
                                                  .accepted = &(struct store_accepted){"vector_add", "warm"},
                                                  .accepted_count = 1,
                                                  .principal = "uid:1",
                                                  .if_version = -1,
                                                  .now_ms = DAY0},
                         &(int64_t){0}, &f->err));
    answer = trend_of(f, (struct store_trend_query){0});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 24);
    for (size_t i = 0; i < 24; i++) {
        const json_t *point = item(answer, "points", i);

        assert_int_equal(json_is_true(json_object_get(point, "accepted")), i == 16);
        assert_false(is_outside(point));
        if (i >= 16)
            assert_int_equal(json_is_null(json_object_get(point, "band")), i % 2 == 0); /* the second keeps its band */
    }
    json_decref(answer);
}

static void a_trend_of_too_many_works_is_refused(void **state)
{
    struct fixture *f = *state;
    struct store_trend_query query = {
        .device = DEVICE_A, .kernel = "vector_add", .state = "warm", .now_ms = DAY0 + 100 * TREND_DAY_MS};
    json_t *answer;
    struct rl_buf out;

    rl_buf_init(&out, 1 << 24);
    store_work(f, (struct work_spec){.date_ms = DAY0, .ask_bytes = 1000});
    assert_int_equal(
        sqlite3_exec(f->store->db,
                     "CREATE TEMP TABLE n AS WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n "
                     "WHERE n < 1025) SELECT n FROM n; "
                     "INSERT INTO work (id, ask_bytes) SELECT 1000 + n, 5000 + n FROM n; "
                     "INSERT INTO trend_day SELECT series_id, method_version, unit_id, state, day + n / 200, "
                     "1000 + n, 0, 1, newest FROM trend_day, n",
                     NULL, NULL, NULL),
        SQLITE_OK);
    FAILS(f, RL_E_TOO_LARGE, store_history_trend(f->store, &query, &out, &f->err));
    query.until_ms = DAY0 + 3 * TREND_DAY_MS;
    OK(f, store_history_trend(f->store, &query, &out, &f->err));
    answer = parse(out.data);
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 600); /* two hundred of one day */
    assert_int_equal(json_array_size(json_object_get(answer, "series")), 600);
    json_decref(answer);
    rl_buf_free(&out);
}

/* ---- what a question passes over ---- */

static const char *only_sentence(const json_t *answer)
{
    assert_int_equal(json_array_size(json_object_get(answer, "excluded")), 1);
    return text_at(item(answer, "excluded", 0), "sentence");
}

static void what_a_trend_passes_over_is_counted(void **state)
{
    struct fixture *f = *state;
    struct store_trend_query query = {.since_ms = DAY0, .until_ms = DAY0 + 20 * TREND_DAY_MS};
    json_t *answer;

    store_run(f, (struct spec){.date_ms = DAY0 + 1});
    answer = trend_of(f, query);
    assert_int_equal(json_array_size(json_object_get(answer, "excluded")), 0);
    json_decref(answer);
    for (int i = 0; i < 3; i++)
        store_run(f, (struct spec){.date_ms = DAY0 + 2 + i, .source = RL_REPLAYED});
    answer = trend_of(f, query);
    assert_string_equal(only_sentence(answer), "3 runs are replayed: ask with source=replayed");
    assert_string_equal(text_at(item(answer, "excluded", 0), "filters"), "source");
    assert_string_equal(text_at(item(answer, "excluded", 0), "ask"), "source=replayed");
    json_decref(answer);
    query.source = "any";
    answer = trend_of(f, query);
    assert_int_equal(json_array_size(json_object_get(answer, "excluded")), 0);
    json_decref(answer);
    store_run(f, (struct spec){.date_ms = DAY0 + 9, .flag = "shared"});
    answer = trend_of(f, query);
    assert_string_equal(only_sentence(answer), "1 run is flagged shared, throttled or driver_changed; such runs count "
                                               "nowhere unless they are named");
    assert_true(json_is_null(json_object_get(item(answer, "excluded", 0), "ask")));
    json_decref(answer);
    query.sizes = "scaled";
    answer = trend_of(f, query);
    assert_string_equal(only_sentence(answer), "5 runs are of sizes course: ask with sizes=course");
    json_decref(answer);
    query.sizes = NULL;
    query.cuda = "99.9";
    answer = trend_of(f, query);
    assert_string_equal(only_sentence(answer), "5 runs are of CUDA 13.0: ask with cuda=13.0");
    json_decref(answer);
}

static void runs_of_other_days_methods_and_outcomes_are_counted(void **state)
{
    struct fixture *f = *state;
    struct store_trend_query query = {.since_ms = DAY0, .until_ms = DAY0 + 20 * TREND_DAY_MS};
    json_t *answer;

    store_run(f, (struct spec){.date_ms = DAY0 + 1});
    store_run(f, (struct spec){.date_ms = DAY0 + 2, .outcome = RL_PARTIAL});
    store_run(f, (struct spec){.date_ms = DAY0 + 3, .outcome = RL_PARTIAL});
    for (int i = 0; i < 3; i++)
        store_run(f, (struct spec){.date_ms = DAY0 + 4 + i, .method = 7});
    for (int i = 0; i < 5; i++)
        store_run(f, (struct spec){.date_ms = DAY0 + (30 + i) * TREND_DAY_MS});
    answer = trend_of(f, query);
    assert_int_equal(json_array_size(json_object_get(answer, "excluded")), 3);
    assert_string_equal(text_at(item(answer, "excluded", 0), "sentence"),
                        "5 runs are of other days than those asked for: ask with since=2024-10-04&until=2024-11-08");
    assert_string_equal(text_at(item(answer, "excluded", 1), "sentence"),
                        "3 runs are measured by method 7: ask with method_version=7");
    assert_string_equal(text_at(item(answer, "excluded", 2), "sentence"),
                        "2 runs are of outcome partial; such runs count nowhere unless they are named");
    json_decref(answer);
}

static void a_comparisons_driver_is_found_under_other_filters(void **state)
{
    struct fixture *f = *state;
    struct store_excluded_query query = {.device = DEVICE_A,
                                         .driver = "1.0",
                                         .suite = "verify",
                                         .sizes = "scaled",
                                         .cuda_in_side = true,
                                         .without_outcomes = true};
    struct rl_arena *arena = rl_arena_new(1 << 20);
    struct store_excluded *found;
    size_t count;

    for (int i = 0; i < 4; i++)
        store_run(f, (struct spec){.date_ms = DAY0 + i, .driver = "1.0"});
    store_run(f, (struct spec){.date_ms = DAY0, .driver = "2.0"});
    store_run(f, (struct spec){.date_ms = DAY0, .driver = "3.0", .device = DEVICE_B});
    OK(f, store_excluded_find(f->store, &query, arena, &found, &count, &f->err));
    assert_int_equal(count, 1);
    assert_int_equal(found[0].runs, 4);
    assert_string_equal(found[0].ask, "sizes=course");
    query.cuda = "12.0";
    OK(f, store_excluded_find(f->store, &query, arena, &found, &count, &f->err));
    assert_string_equal(found[0].filters, "cuda, sizes");
    assert_string_equal(found[0].sentence, "4 runs are of CUDA 13.0, of sizes course: ask with sizes=course");
    query = (struct store_excluded_query){.device = DEVICE_A, .driver = "3.0", .suite = "verify", .sizes = "course"};
    OK(f, store_excluded_find(f->store, &query, arena, &found, &count, &f->err));
    assert_int_equal(count, 1);
    assert_string_equal(found[0].sentence, "1 run is of device " DEVICE_B ": ask with device=" DEVICE_B);
    query.driver = "4.0";
    OK(f, store_excluded_find(f->store, &query, arena, &found, &count, &f->err));
    assert_int_equal(count, 0);
    rl_arena_free(arena);
}

static void the_matrix_counts_what_it_passes_over(void **state)
{
    struct fixture *f = *state;
    struct rl_buf out;
    json_t *answer;

    store_run(f, (struct spec){.date_ms = DAY0});
    store_run(f, (struct spec){.date_ms = DAY0, .source = RL_REPLAYED, .outcome = RL_REFUSED});
    rl_buf_init(&out, 1 << 20);
    OK(f, store_history_matrix(f->store, &(struct store_matrix_query){.now_ms = DAY0}, &out, &f->err));
    answer = parse(out.data);
    assert_string_equal(only_sentence(answer),
                        "1 run is replayed, of outcome refused: ask with source=replayed; such runs "
                        "count nowhere unless they are named");
    json_decref(answer);
    rl_buf_free(&out);
}

/* ---- a database of version 4 ---- */

static void unpack(struct fixture *f)
{
    gzFile from = gzopen(VERSION4, "rb");
    char buffer[65536];
    FILE *to = fopen(f->path, "wb");
    int got;

    assert_non_null(from);
    assert_non_null(to);
    while ((got = gzread(from, buffer, sizeof buffer)) > 0)
        assert_int_equal(fwrite(buffer, 1, (size_t)got, to), got);
    assert_int_equal(got, 0);
    gzclose(from);
    fclose(to);
}

#define OF_COPY                                                                                                        \
    "FROM run_row JOIN unit ON unit.id = unit_id JOIN work ON work.id = work_id JOIN launch ON launch.id = launch_id " \
    "JOIN series ON series.id = (SELECT series_id FROM run WHERE run.id = run_id) WHERE unit.name = 'copy_a' AND "

static void version_4_knows_its_work(void **state)
{
    struct fixture *f = *state;
    json_t *answer;

    unpack(f);
    open_fixture(f);
    OK(f, store_check_integrity(f->store, &f->err));
    assert_int_equal(query_int(f, "PRAGMA user_version"), store_migration_count);
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_row"), 33);
    assert_int_equal(query_int(f, "SELECT count(*) " OF_COPY
                                  "driver = '1.0' AND work.ask_bytes = 1000000000 AND flop IS NULL "
                                  "AND grid = '4096 x 1 x 1' AND block = '256 x 1 x 1' "
                                  "AND function IS NULL"),
                     6); /* a timing line's is not kept */
    assert_int_equal(query_int(f, "SELECT count(*) " OF_COPY
                                  "driver = '2.0' AND work.ask_bytes = 2000000000 AND flop = 5000 "
                                  "AND grid IS NULL AND function IS NULL"),
                     6);
    /* of the replayed run's ceilings the work, and their shape as the launch */
    assert_int_equal(
        query_int(f, "SELECT count(*) FROM run_row JOIN unit ON unit.id = unit_id JOIN work ON work.id = work_id "
                     "JOIN launch ON launch.id = launch_id WHERE unit.name = 'fp32_fma' AND run_id = 14 "
                     "AND flop = 137438953472 AND work.ask_bytes IS NULL AND shape LIKE 'grid %'"),
        1);
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_row WHERE run_id = 14 AND work_id = 1"), 0);
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_row_import WHERE flags = 8"), 10);
    answer = trend_of(
        f,
        (struct store_trend_query){
            .device = "fixture-gpu", .kernel = "copy_a", .suite = "import", .sizes = "other", .now_ms = 1782950400000});
    assert_int_equal(json_array_size(json_object_get(answer, "points")), 12);
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(int_of(item(answer, "points", i), "series"), i < 6 ? 1 : 2);
        assert_false(is_outside(item(answer, "points", i)));
    }
    json_decref(answer);
}

#define WITH_STORE(test)   cmocka_unit_test_setup_teardown(test, setup_store, teardown)
#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, setup_directory, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(a_row_keeps_its_work_and_its_launch),
        WITH_STORE(there_is_room_for_flags),
        cmocka_unit_test(work_is_other_where_both_know_a_member_that_differs),
        WITH_STORE(other_work_is_another_series_of_a_trend),
        WITH_STORE(what_is_not_known_goes_on_with_the_series_that_came_last),
        WITH_STORE(profiler_times_are_a_series_of_their_own),
        WITH_STORE(an_accepted_change_begins_its_own_series_anew),
        WITH_STORE(a_trend_of_too_many_works_is_refused),
        WITH_STORE(what_a_trend_passes_over_is_counted),
        WITH_STORE(runs_of_other_days_methods_and_outcomes_are_counted),
        WITH_STORE(a_comparisons_driver_is_found_under_other_filters),
        WITH_STORE(the_matrix_counts_what_it_passes_over),
        IN_DIRECTORY(version_4_knows_its_work),
    };

    return cmocka_run_group_tests_name("store: work", tests, NULL, NULL);
}
