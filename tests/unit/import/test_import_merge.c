/* Counters beside times: states, matching, what stays unknown, and the table that comes of it. */
#include "gpu/record/derive/derive.h"
#include "gpu/record/derive/quantile.h"
#include "gpu/suites/document.h"
#include "kernels/unit/catalogue.h"
#include "tests/unit/import/import_fixture.h"
#include "tests/unit/record/sample_run.h"

#define COUNTS(id, kernel, read, write)                                                                                \
    LONG_ROW(id, kernel, "(65536, 1, 1)", "dram__bytes_read.sum", "byte", read)                                        \
    LONG_ROW(id, kernel, "(65536, 1, 1)", "dram__bytes_write.sum", "byte", write)

static const char counters[] =
    LONG_HEAD COUNTS("0", "vector_add(const float *, const float *, float *)", "134,225,920", "67,108,864")
        COUNTS("1", "void ns::mine<4>(int)", "100", "10") COUNTS("2", "other(int)", "1", "1");
static const char timings[] =
    "{\"kernel\": \"vector_add\", \"ms\": 0.1}\n{\"kernel\": \"mine\", \"ms\": 0.2}\n"
    "{\"ceiling\": \"dram_copy\", \"byte_per_s\": 2e12}\n{\"ceiling\": \"fp32_fma\", \"flop_per_s\": 4e13}\n";

static void cold_bytes_with_warm_times_are_mixed(void **state)
{
    (void)state;
    struct given given = {.ncu = counters, .timings = timings, .fields = {.sizes = "course"}};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    const struct rl_row *row = &run->rows[0];
    const struct rl_row_state *s = &row->state[RL_MIXED];
    assert_true(s->present && !row->state[RL_WARM].present && !row->state[RL_COLD].present);
    assert_near(s->bytes.dram.value, 201334784, 0);
    assert_near(s->dram_per_ask.value, 201334784.0 / 201326592, 1e-12);
    assert_near(s->percent_of_ceiling.value, 100 * 201334784.0 / 0.1e-3 / 2e12, 1e-9); /* over 100: kept */
    assert_true(s->percent_of_ceiling.value > 100);
    assert_true(rl_strings_has(&s->flags, "above_ceiling"));
    /* shown, never judged */
    assert_null(s->bound.value);
    assert_null(s->advice.value);
    assert_non_null(s->percent_of_roof.why);
    assert_non_null(s->bytes.dram_settled.why);
    assert_true(run->counter_backed);
    assert_int_equal(run->outcome, RL_OK);
    assert_true(has_note(run, "1 kernel of the counter file has no timing and was left out: other"));
    assert_true(has_note(run, "does not tell its cache state"));
    assert_string_equal(run->rows[1].import.function.value, "void ns::mine<4>(int)");
    assert_int_equal(run->rows[0].launch.grid[0], 65536);
    /* whatever reads it back derives the same */
    json_t *document = rl_run_to_json(run), *other;
    struct rl_run *again = NULL;
    assert_int_equal(rl_run_from_json(document, &again, NULL), 0);
    rl_derive(again);
    other = rl_run_to_json(again);
    assert_true(json_equal(document, other));
    json_decref(document);
    json_decref(other);
    rl_run_free(again);
    struct rl_buf table;
    rl_buf_init(&table, 1 << 20);
    assert_int_equal(rl_table_write(run, RL_MIXED, &table), 0);
    assert_non_null(
        strstr(table.data, "\nvector add                201.3        -        -    201.3   1.0000  100.7\n"));
    assert_non_null(strstr(table.data, "mixed cache"));
    assert_non_null(strstr(table.data, "not judged"));
    assert_non_null(strstr(table.data, "note: DRAM bytes are dram__bytes_read.sum + dram__bytes_write.sum\n"));
    rl_buf_clear(&table);
    assert_int_equal(rl_csv_write(run, &table), 0);
    assert_non_null(strstr(table.data, "vector_add,vector add,mixed,"));
    rl_buf_free(&table);
    import_result_fini(&result);
}

static void same_states_stay_together(void **state)
{
    (void)state;
    static const struct {
        const char *cache, *times;
        enum rl_state state;
    } cases[] = {
        {"cold", "cold", RL_COLD}, {"warm", "warm", RL_WARM}, {NULL, "cold", RL_COLD}, {"warm", NULL, RL_WARM}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct given given = {
            .ncu = counters, .timings = timings, .fields = {.cache = cases[i].cache, .times = cases[i].times}};
        struct import_result result;
        const struct rl_row *row = &must_import(&given, &result)->rows[0];
        for (enum rl_state s = 0; s < RL_ROW_STATES; s++)
            assert_int_equal(row->state[s].present, s == cases[i].state);
        assert_near(row->state[cases[i].state].bytes.dram.value, 201334784, 0);
        if (cases[i].state == RL_COLD)
            assert_true(rl_strings_has(&row->state[RL_COLD].flags, "unsettled"));
        else
            assert_near(row->state[RL_WARM].bytes.dram_settled.value, 201334784, 0);
        import_result_fini(&result);
    }
    struct given given = {.ncu = counters, .timings = timings, .fields = {.cache = "warm", .times = "cold"}};
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "cache", "vector_add|warm launches");
    /* what the profiler says itself */
    struct given said = {
        .ncu =
            "==WARNING== Note: Running with uncontrolled GPU caches. Results may be inconsistent.\n" LONG_HEAD COUNTS(
                "0", "vector_add", "100", "10"),
        .timings = "{\"kernel\": \"vector_add\", \"ms\": 1}"};
    struct import_result result;
    struct rl_run *run = must_import(&said, &result);
    assert_true(run->rows[0].state[RL_WARM].present);
    assert_true(rl_strings_has(&run->rows[0].state[RL_WARM].flags, "single_launch"));
    assert_true(has_note(run, "single launches"));
    assert_false(has_note(run, "does not tell"));
    import_result_fini(&result);
    said.fields.cache = "cold";
    must_refuse(&said, RL_E_IMPORT_DISAGREES, "cache", "did not control");
}

static void matching(void **state)
{
    (void)state;
    struct given given = {.ncu = counters, .timings = "{\"kernel\": \"absent\", \"ms\": 1}"};
    must_refuse(&given, RL_E_IMPORT_MISSING, "ncu", "c.csv|\"absent\"|vector_add, mine, other");
    given.timings = "{\"kernel\": \"add vectors\", \"ms\": 1, \"function\": \"vector_add\"}";
    struct import_result result;
    assert_near(must_import(&given, &result)->rows[0].state[RL_MIXED].bytes.dram.value, 201334784, 0);
    import_result_fini(&result);
    given.timings = "{\"kernel\": \"void ns::mine<4>(int)\", \"ms\": 1}";
    assert_near(must_import(&given, &result)->rows[0].state[RL_MIXED].bytes.dram.value, 110, 0);
    import_result_fini(&result);
    given.timings = "{\"kernel\": \"mine\", \"ms\": 1}\n{\"kernel\": \"again\", \"ms\": 1, \"function\": \"mine\"}";
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "timings", "again");
    /* one name in two shapes: the timing has to say which */
    given.ncu = LONG_HEAD COUNTS("0", "k(int)", "100", "10")
        LONG_ROW("1", "k(int)", "(2, 1, 1)", "dram__bytes.sum", "byte", "7");
    given.timings = "{\"kernel\": \"k\", \"ms\": 1}";
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "timings", "fits 2 kernels|\"grid\"");
    given.timings = "{\"kernel\": \"k\", \"ms\": 1, \"grid\": [2, 1, 1], \"block\": [256, 1, 1]}";
    assert_near(must_import(&given, &result)->rows[0].state[RL_MIXED].bytes.dram.value, 7, 0);
    import_result_fini(&result);
    given.timings = "{\"kernel\": \"k\", \"ms\": 1, \"grid\": [3, 1, 1], \"block\": [256, 1, 1]}";
    must_refuse(&given, RL_E_IMPORT_MISSING, "ncu", "\"k\"|(3, 1, 1)");
    /* a launch that the profiler could not count is left out, and said; one without a DRAM row is refused */
    given.ncu = LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes.sum", "byte", "5")
        LONG_ROW("1", "k", "(5, 1, 1)", "dram__bytes.sum", "byte", "n/a");
    given.timings = "{\"kernel\": \"k\", \"ms\": 1}";
    struct rl_run *run = must_import(&given, &result);
    assert_near(run->rows[0].state[RL_MIXED].bytes.dram.value, 5, 0);
    assert_true(has_note(run, "k: 1 of 2 launches left out, whose DRAM bytes the profiler could not count"));
    assert_string_equal(run->rows[0].import.combined.value,
                        "one of 2 launches of this name, grid and block: the others left out");
    assert_string_equal(run->rows[0].import.launches[1].dram.why,
                        "it is \"n/a\" in line 3: the profiler could not count it");
    import_result_fini(&result);
    given.ncu = LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes.sum", "byte", "5")
        LONG_ROW("1", "k", "(5, 1, 1)", "x__y.sum", "byte", "5");
    must_refuse(&given, RL_E_IMPORT_MISSING, "ncu", "\"k\" (line 3)|no DRAM row");
}

static void totals_beside_sums(void **state)
{
    (void)state;
    struct given given = {.ncu = LONG_HEAD COUNTS("0", "k", "100", "10")
                              LONG_ROW("0", "k", "(65536, 1, 1)", "dram__bytes.sum", "byte", "120")};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    assert_near(run->rows[0].state[RL_COLD].bytes.dram.value, 110, 0);
    assert_true(has_note(run, "k: dram__bytes.sum is 120, read + write is 110"));
    import_result_fini(&result);
    /* flop from all six instruction counts, or not at all */
#define OP(op, n)                                                                                                      \
    LONG_ROW("0", "k", "(65536, 1, 1)", "smsp__sass_thread_inst_executed_op_" op "_pred_on.sum", "inst", n)
    given.ncu = LONG_HEAD COUNTS("0", "k", "100", "10") OP("fadd", "1") OP("fmul", "20") OP("ffma", "100")
        OP("dadd", "1,000") OP("dmul", "10,000");
    assert_non_null(must_import(&given, &result)->rows[0].flop_counted.why);
    import_result_fini(&result);
    given.ncu = LONG_HEAD COUNTS("0", "k", "100", "10") OP("fadd", "1") OP("fmul", "20") OP("ffma", "100")
        OP("dadd", "1,000") OP("dmul", "10,000") OP("dfma", "100,000");
    assert_near(must_import(&given, &result)->rows[0].flop_counted.value, 1 + 20 + 200 + 1000 + 10000 + 200000, 0);
    import_result_fini(&result);
}

/* A whole document of ours: the cold times get the counters' bytes, the warm ones are left out and that is said. */
static void our_document_with_counters(void **state)
{
    (void)state;
    struct rl_run *measured = sample_run_small();
    int64_t finished = 0;
    MUST(rl_time_parse("2026-11-29T11:00:00Z", &finished) == 0);
    measured->started_at_ms = measured->finished_at_ms = finished;
    struct rl_row *row = &measured->rows[0];
    for (int i = 0; i < 3; i++) {
        row->launch.grid[i] = i == 0 ? 65536 : 1;
        row->launch.block[i] = i == 0 ? 256 : 1;
    }
    measured->row_count = 1;
    measured->device.compute_major = (struct rl_count){9, NULL};
    measured->device.compute_minor = (struct rl_count){0, NULL};
    json_t *line = json_pack("{s:s, s:o}", "t", "run", "run", rl_run_to_json(measured));
    char *text = json_dumps(line, JSON_COMPACT);
    struct given given = {
        .ncu = counters, .timings = text, .fields = {.device = measured->device.id, .date = "2026-11-29"}};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    const struct rl_row_state *cold = &run->rows[0].state[RL_COLD];
    assert_true(cold->present && !run->rows[0].state[RL_WARM].present);
    assert_near(cold->time_s.median.value, row->state[RL_COLD].time_s.median.value, 0);
    assert_near(cold->bytes.dram.value, 201334784, 0);
    assert_true(rl_strings_has(&cold->flags, "unsettled"));
    assert_near(cold->dram_per_ask.value, 201334784.0 / (double)row->ask_bytes.value, 1e-12);
    assert_true(has_note(run, "warm times were left out"));
    assert_true(has_note(run, "own byte counts were left out"));
    import_result_fini(&result);
    given.fields.cache = "warm";
    run = must_import(&given, &result);
    assert_true(run->rows[0].state[RL_WARM].present && !run->rows[0].state[RL_COLD].present);
    import_result_fini(&result);
    given.ncu = LONG_HEAD "\"0\",\"7\",\"a\",\"h\",\"vector_add\",\"1\",\"7\",\"(256, 1, 1)\",\"(65536, 1, "
                          "1)\",\"0\",\"7.5\",\"s\",\"dram__bytes.sum\",\"byte\",\"1\"\n";
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "ncu", "compute capability 7.5");
    free(text);
    json_decref(line);
    rl_run_free(measured);
}

/* Samples go with the states that they are of: a state that was left out has none. A mixed row's times are warm. */
static void samples_of_states_that_are_there(void **state)
{
    (void)state;
    static const double spread[] = {1, 0.9, 1.1, 1.02, 0.95};
    static const char *const names[] = {"warm", "cold"};
    for (int timed = 1; timed <= 3; timed++) { /* a bit a state: warm, cold */
        struct rl_run *measured = sample_run_small();
        struct rl_buf out;
        MUST(rl_time_parse("2026-11-29T11:00:00Z", &measured->finished_at_ms) == 0);
        measured->started_at_ms = measured->finished_at_ms;
        rl_buf_init(&out, 1 << 20);
        for (int s = RL_WARM; s <= RL_COLD; s++) {
            struct rl_row_state *row = &measured->rows[0].state[s];
            double times[5];
            row->present = timed & 1 << s;
            for (int i = 0; i < 5; i++)
                times[i] = 1e-5 * (s + 1) * spread[i];
            MUST(rl_times_from_samples(times, 5, &row->time_s) == 0);
            measured->ceilings[s].time_s = row->time_s; /* of dram_copy */
            for (int unit = 0; unit < 2; unit++)
                rl_buf_printf(&out,
                              "{\"t\": \"sample\", \"sizes\": \"course\", \"unit\": \"%s\", \"state\": \"%s\", "
                              "\"launches\": %d, \"times_s\": [%.17g, %.17g, %.17g, %.17g, %.17g]}\n",
                              unit == 0 ? "dram_copy" : "vector_add", names[s], s == RL_WARM ? 10 : 1, times[0],
                              times[1], times[2], times[3], times[4]);
        }
        measured->ceilings[RL_COLD].time_s.launches = measured->rows[0].state[RL_COLD].time_s.launches;
        json_t *line = json_pack("{s:s, s:o}", "t", "run", "run", rl_run_to_json(measured));
        char *text = json_dumps(line, JSON_COMPACT);
        rl_buf_puts(&out, text);
        struct given given = {
            .timings = out.data, .ncu = counters, .fields = {.device = measured->device.id, .date = "2026-11-29"}};
        struct import_result result;
        must_import(&given, &result);
        /* counters are of cold launches: both states of the ceiling, and the times that the row kept */
        assert_int_equal(result.sample_count, 3);
        for (size_t i = 0; i < 3; i++)
            if (strcmp(result.samples[i].unit, "vector_add") == 0)
                assert_int_equal(result.samples[i].state, timed == 1 ? RL_WARM : RL_COLD);
        assert_true(result.run->rows[0].state[timed == 1 ? RL_MIXED : RL_COLD].present);
        import_result_fini(&result);
        free(text);
        json_decref(line);
        rl_buf_free(&out);
        rl_run_free(measured);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cold_bytes_with_warm_times_are_mixed),
        cmocka_unit_test(same_states_stay_together),
        cmocka_unit_test(matching),
        cmocka_unit_test(totals_beside_sums),
        cmocka_unit_test(our_document_with_counters),
        cmocka_unit_test(samples_of_states_that_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
