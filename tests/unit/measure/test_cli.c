/* The measuring program's options: defaults, environment, conflicts, and that the help names every one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/measure/cli.h"

static const char *variable, *variable_value; /* the one variable that is set */

static char *kept[256];
static size_t kept_count;

static int free_kept(void **state)
{
    (void)state;
    while (kept_count > 0)
        free(kept[--kept_count]);
    return 0;
}

static char *lookup(const char *name)
{
    return variable && strcmp(name, variable) == 0 ? (char *)variable_value : NULL;
}

/* Parses a command line written with spaces. */
static int parse(const char *line, struct cli_options *ret, struct rl_err *err)
{
    char *copy = strdup(line), *save = NULL;
    char *argv[16] = {(char *)"roofline-measure"};
    int argc = 1;
    for (char *word = strtok_r(copy, " ", &save); word && argc < 16; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    int rc = cli_parse(argc, argv, lookup, ret, err);
    kept[kept_count++] = copy; /* options point into it */
    assert_true(kept_count < sizeof kept / sizeof kept[0]);
    return rc;
}

static void must_fail(const char *line, const char *words)
{
    struct cli_options options;
    struct rl_err err = {.code = RL_E_NONE};
    memset(&options, 0x5a, sizeof options);
    struct cli_options before = options;
    if (parse(line, &options, &err) == 0)
        fail_msg("'%s' was taken", line);
    if (err.code != RL_E_USAGE || !strstr(err.message, words) || strchr(err.message, '\n'))
        fail_msg("'%s' says '%s', not '%s'", line, err.message, words);
    assert_memory_equal(&before, &options, sizeof options);
}

static struct cli_options must_parse(const char *line)
{
    struct cli_options options;
    struct rl_err err = {.code = RL_E_NONE};
    if (parse(line, &options, &err) != 0)
        fail_msg("'%s' says '%s'", line, err.message);
    return options;
}

static void test_defaults(void **state)
{
    (void)state;
    struct cli_options o = must_parse("");
    assert_int_equal(o.mode, CLI_TABLE);
    assert_true(o.sizes[RL_COURSE] && !o.sizes[RL_SCALED]);
    assert_true(o.state[RL_WARM] && o.state[RL_COLD] && o.counters && !o.quiet && !o.verbose && !o.json);
    for (size_t i = 0; i < rl_kernel_count; i++)
        assert_true(o.kernel[i]);
    assert_null(o.record);
    assert_null(o.replay);
    assert_null(o.device);
}

static void test_record_alone_takes_both_sizes(void **state)
{
    (void)state;
    struct cli_options o = must_parse("--record x.jsonl");
    assert_int_equal(o.mode, CLI_RECORD);
    assert_true(o.sizes[RL_COURSE] && o.sizes[RL_SCALED] && o.state[RL_WARM] && o.state[RL_COLD] && o.counters);
    o = must_parse("--record x.jsonl --sizes scaled");
    assert_true(!o.sizes[RL_COURSE] && o.sizes[RL_SCALED]);
    o = must_parse("--record=x.jsonl --table");
    assert_int_equal(o.mode, CLI_TABLE);
    assert_string_equal(o.record, "x.jsonl");
    assert_true(o.sizes[RL_COURSE] && !o.sizes[RL_SCALED]);
}

static void test_lists(void **state)
{
    (void)state;
    struct cli_options o =
        must_parse("--json --kernels transpose_tiled,vector_add --cache cold --sizes scaled,course --no-counters");
    assert_int_equal(o.mode, CLI_JSON);
    for (size_t i = 0; i < rl_kernel_count; i++)
        assert_int_equal(o.kernel[i],
                         strcmp(rl_units[i]->id, "transpose_tiled") == 0 || strcmp(rl_units[i]->id, "vector_add") == 0);
    assert_true(!o.state[RL_WARM] && o.state[RL_COLD] && o.sizes[RL_COURSE] && o.sizes[RL_SCALED] && !o.counters);
    must_fail("--kernels vector_add,vector_add", "twice");
    must_fail("--kernels vector_add,", "''");
    must_fail("--kernels vector", "'vector'");
    must_fail("--kernels dram_copy", "'dram_copy'"); /* ceilings are always measured, and are no kernels */
    must_fail("--cache hot", "'hot'");
    must_fail("--cache warm,cold,warm", "twice");
    must_fail("--sizes course,big", "'big'");
    must_fail("--profile --sizes course,scaled", "once");
}

static void test_mistakes(void **state)
{
    (void)state;
    must_fail("--tabel", "unknown option '--tabel'");
    must_fail("--tab",
              "unknown option '--tab'"); /* no abbreviations: a script must not depend on what is unique today */
    must_fail("-t", "'-t'");
    must_fail("--", "'--'");
    must_fail("course", "'course'");
    must_fail("--sizes", "needs a value");
    must_fail("--sizes=", "needs a value");
    must_fail("--sizes --json", "needs a value");
    must_fail("--table=1", "takes no value");
    must_fail("--sizes course --sizes scaled", "given twice");
    must_fail("--table --json", "choose one");
    must_fail("--profile --table", "choose one");
    must_fail("--profile --record x", "choose one");
    must_fail("--list --probe", "choose one");
    must_fail("--protocol --table", "choose one");
    must_fail("--protocol --device GPU-12345678", "means nothing with --protocol");
    must_fail("--list --sizes course", "means nothing with --list");
    must_fail("--probe --no-counters", "means nothing with --probe");
    must_fail("--profile --replay x", "means nothing with --profile");
    must_fail("--record a --replay b", "not a measurement");
    must_fail("--device 0", "not a GPU's UUID");
    must_fail("--device GPU-1234,GPU-5678", "not a GPU's UUID");
    must_fail("--device GPU-", "not a GPU's UUID");
    struct cli_options o = must_parse("--list --json");
    assert_true(o.mode == CLI_LIST && o.json);
    o = must_parse("--json --probe --replay x --device GPU-00000000-0000-0000-0000-000000000001");
    assert_true(o.mode == CLI_PROBE && o.json);
    o = must_parse("--help --table --json");
    assert_int_equal(o.mode, CLI_HELP);
    o = must_parse("--version");
    assert_int_equal(o.mode, CLI_VERSION);
}

static void test_environment(void **state)
{
    (void)state;
    variable = "ROOFLINE_MEASURE_SIZES", variable_value = "scaled";
    assert_true(must_parse("").sizes[RL_SCALED]);
    assert_false(must_parse("--sizes course").sizes[RL_SCALED]); /* the command line goes first */
    assert_int_equal(must_parse("--list").mode, CLI_LIST); /* a setting that this mode does not use is no mistake */
    variable_value = "huge";
    must_fail("", "'huge'");
    variable = "ROOFLINE_MEASURE_NO_COUNTERS", variable_value = "1";
    assert_false(must_parse("").counters);
    variable_value = "0";
    assert_true(must_parse("").counters);
    variable_value = "";
    assert_true(must_parse("").counters);
    variable_value = "maybe";
    must_fail("", "ROOFLINE_MEASURE_NO_COUNTERS");
    variable = "ROOFLINE_MEASURE_JSON", variable_value = "1";
    assert_int_equal(must_parse("").mode, CLI_JSON);
    assert_int_equal(must_parse("--table").mode, CLI_TABLE);
    assert_false(must_parse("--list").json);
    variable = NULL;
}

static void test_help_names_everything(void **state)
{
    (void)state;
    static const char *const names[] = {"table",       "json",   "record",  "profile", "list",    "probe",
                                        "protocol",    "replay", "device",  "sizes",   "kernels", "cache",
                                        "no-counters", "quiet",  "verbose", "help",    "version"};
    struct rl_buf out;
    rl_buf_init(&out, 65536);
    assert_int_equal(cli_help(&out), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char option[64], environment[64] = "ROOFLINE_MEASURE_";
        snprintf(option, sizeof option, "  --%s", names[i]);
        assert_non_null(strstr(out.data, option));
        size_t at = strlen(environment);
        for (const char *c = names[i]; *c; c++)
            environment[at++] = *c == '-' ? '_' : (char)(*c - 'a' + 'A');
        environment[at] = '\0';
        assert_non_null(strstr(out.data, environment));
    }
    rl_buf_free(&out);
    rl_buf_init(&out, 100); /* full */
    assert_int_equal(cli_help(&out), -1);
    rl_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_record_alone_takes_both_sizes),
        cmocka_unit_test(test_lists),       cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_environment), cmocka_unit_test(test_help_names_everything),
    };
    return cmocka_run_group_tests(tests, NULL, free_kept);
}
