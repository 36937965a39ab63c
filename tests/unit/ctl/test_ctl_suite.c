/* Options of submit from a suite's parameters: each kind becomes the JSON that the daemon reads, or is refused with its
 * name and what is wanted. The suite is made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/ctl/suite.h"

static const char *const depths[] = {"shallow", "deep", NULL};
static const char *const modes[] = {"read", "write", "copy", NULL};
static const int64_t usual[] = {32, 64};
enum { DEPTH, MODES, KERNELS, CHECKS, TRIES, BLOCKS, GUESSES, EXTRA, COUNT };
static const struct rl_param table[COUNT] = {
    [DEPTH] = {.name = "depth",
               .kind = RL_PARAM_CHOICE,
               .title = "Depth",
               .help = "How deep.",
               .value = "DEPTH",
               .words = depths,
               .initial = 1},
    [MODES] = {.name = "modes",
               .kind = RL_PARAM_WORDS,
               .title = "Modes",
               .help = "What is done.",
               .value = "LIST",
               .words = modes,
               .item = "mode"},
    [KERNELS] = {.name = "kernels", .kind = RL_PARAM_UNITS, .title = "Kernels", .help = "Which.", .value = "LIST"},
    [CHECKS] = {.name = "checks",
                .kind = RL_PARAM_BOOL,
                .title = "Checks",
                .help = "Without them nothing is checked.",
                .option = "no-checks",
                .initial = 1},
    [TRIES] = {.name = "tries",
               .kind = RL_PARAM_INT,
               .title = "Tries",
               .help = "How often.",
               .value = "N",
               .min = 1,
               .max = 9,
               .initial = 3},
    [BLOCKS] = {.name = "blocks",
                .kind = RL_PARAM_INTS,
                .title = "Blocks",
                .help = "Threads of a block.",
                .option = "block",
                .value = "LIST",
                .min = 32,
                .max = 1024,
                .step = 32,
                .list = usual,
                .list_count = 2,
                .item = "block"},
    [GUESSES] = {.name = "guesses",
                 .kind = RL_PARAM_UNIT_WORDS,
                 .title = "Guesses",
                 .help = "What it will be.",
                 .option = "guess",
                 .value = "LIST",
                 .words = depths,
                 .of = "kernels",
                 .verb = "guesses"},
    [EXTRA] = {.name = "extra", .kind = RL_PARAM_BOOL, .title = "Extra", .help = "More of it."},
};
static const struct rl_suite suite = {.name = "made_up",
                                      .title = "Made up",
                                      .help = "For this test.",
                                      .submittable = true,
                                      .units = rl_units,
                                      .unit_count = RL_KERNEL_COUNT,
                                      .params = table,
                                      .param_count = COUNT};

/* What the options of one line become, as text; an error's message in its place. To be freed. */
static char *params_of(const char *option, const char *value)
{
    struct ctl_suite_table made;
    struct ctl_suite_values values = {0};
    struct rl_err err = {0};
    ctl_suite_options(&suite, 0, &made);
    const struct ctl_option *found = ctl_table_find((struct ctl_table){made.options, COUNT}, option, strlen(option));
    assert_non_null(found);
    assert_int_equal(found->value == NULL, value == NULL);
    ctl_set(&values, found, &(struct ctl_given){option, strlen(option), value});
    json_t *body = json_object();
    int result = ctl_suite_params(&suite, &values, body, &err);
    char *text = result == 0 ? json_dumps(body, JSON_COMPACT) : strdup(err.message);
    json_decref(body);
    assert_non_null(text);
    return text;
}

static void each_kind_becomes_its_json(void **state)
{
    static const char *const cases[][3] = {
        {"depth", "shallow", "{\"depth\":\"shallow\"}"},
        {"modes", "copy,read", "{\"modes\":[\"copy\",\"read\"]}"},
        {"kernels", "vector_add,matmul_naive", "{\"kernels\":[\"vector_add\",\"matmul_naive\"]}"},
        {"no-checks", NULL, "{\"checks\":false}"},
        {"extra", NULL, "{\"extra\":true}"},
        {"tries", "9", "{\"tries\":9}"},
        {"block", "1024,32", "{\"blocks\":[1024,32]}"},
        {"guess", "vector_add=deep,matmul_naive=shallow",
         "{\"guesses\":{\"vector_add\":\"deep\",\"matmul_naive\":\"shallow\"}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = params_of(cases[i][0], cases[i][1]);
        assert_string_equal(text, cases[i][2]);
        free(text);
    }
}

static void what_it_does_not_take_is_refused_by_name(void **state)
{
    static const char *const cases[][4] = {
        {"depth", "flat", "--depth: ", "\"shallow\" or \"deep\""},
        {"modes", "read,read", "--modes: ", "repeats \"read\""},
        {"modes", "read,", "--modes ", "empty part"},
        {"kernels", "frob", "--kernels: ", "a kernel id"},
        {"tries", "10", "--tries: ", "from 1 to 9"},
        {"tries", "3x", "--tries ", "not an integer from 1 to 9"},
        {"tries", "", "--tries ", "not an integer from 1 to 9"},
        {"block", "64,65", "--block: blocks[1]", "in steps of 32"},
        {"block", "64,x", "--block ", "no integer"},
        {"guess", "vector_add", "--guess ", "KERNEL=shallow or deep"},
        {"guess", "vector_add=flat", "--guess: ", "\"shallow\" or \"deep\""},
        {"guess", "vector_add=deep,vector_add=deep", "--guess ", "KERNEL=shallow or deep"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = params_of(cases[i][0], cases[i][1]);
        if (strncmp(text, cases[i][2], strlen(cases[i][2])) != 0 || strstr(text, cases[i][3]) == NULL)
            fail_msg("--%s %s: %s", cases[i][0], cases[i][1], text);
        free(text);
    }
}

static void help_has_types_ranges_and_defaults(void **state)
{
    static const char *const wanted[COUNT] = {
        [DEPTH] = "shallow or deep (default). How deep.",
        [MODES] = "read, write or copy, with commas between (default: all). What is done.",
        [KERNELS] = "kernel ids with commas between (default: all 10). Which.",
        [CHECKS] = "Checks: no. Without them nothing is checked.",
        [TRIES] = "an integer from 1 to 9 (default 3). How often.",
        [BLOCKS] = "integers from 32 to 1024 in steps of 32, with commas between (default 32,64). Threads of a block.",
        [EXTRA] = "Extra: yes. More of it.",
    };
    struct ctl_suite_table made;
    (void)state;
    ctl_suite_options(&suite, 0, &made);
    for (size_t i = 0; i < COUNT; i++)
        if (wanted[i] != NULL)
            assert_string_equal(made.options[i].what, wanted[i]);
    assert_non_null(strstr(made.options[GUESSES].what, "KERNEL=shallow or deep"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_becomes_its_json),
        cmocka_unit_test(what_it_does_not_take_is_refused_by_name),
        cmocka_unit_test(help_has_types_ranges_and_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
