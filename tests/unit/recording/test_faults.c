/* The tests' own faults: what they may say, when they strike, and the files that they stand in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/tools/faults.h"
#include "tests/tools/faulty_file.h"

#define FAULT(members) "{\"op\":\"fault\"," members "}"

static int check(const char *text, struct rl_err *err)
{
    json_t *rule = json_loads(text, 0, NULL);
    assert_non_null(rule);
    int rc = fault_check(rule, err);
    json_decref(rule);
    return rc;
}

static void allowed(const char *text)
{
    struct rl_err err = {.code = RL_E_NONE};
    if (check(text, &err) != 0)
        fail_msg("%s: %s", text, err.message);
}

static void refused(const char *text, const char *words)
{
    struct rl_err err = {.code = RL_E_NONE};
    if (check(text, &err) == 0)
        fail_msg("taken: %s", text);
    assert_int_equal(err.code, RL_E_REPLAY_FORMAT);
    if (!strstr(err.message, words))
        fail_msg("%s says '%s', not '%s'", text, err.message, words);
}

static void test_faults_are_checked(void **state)
{
    (void)state;
    allowed(FAULT("\"on\":\"warm\",\"unit\":\"vector_add\",\"sample\":3,\"skip\":1,\"times\":2,\"hang\":true"));
    allowed(FAULT("\"on\":\"count\",\"session\":{\"status\":\"counters_busy\",\"reason\":\"r\"}"));
    allowed(FAULT("\"on\":\"count\",\"set\":{\"l1\":{\"why\":\"w\"}}"));
    allowed(FAULT("\"on\":\"line\",\"line\":\"progress\",\"write\":\"half\",\"signal\":6"));
    refused(FAULT("\"on\":\"warm\""), "without an action");
    refused(FAULT("\"on\":\"warmth\",\"hang\":true"), "'on'");
    refused(FAULT("\"on\":\"warm\",\"hang\":false"), "'hang'");
    refused(FAULT("\"on\":\"warm\",\"exit\":256"), "'exit'");
    refused(FAULT("\"on\":\"warm\",\"signal\":0"), "'signal'");
    refused(FAULT("\"on\":\"warm\",\"unit\":\"nothing\",\"hang\":true"), "'unit'");
    refused(FAULT("\"on\":\"warm\",\"error\":{\"code\":\"nothing\",\"message\":\"m\"}"), "'code'");
    refused(FAULT("\"on\":\"warm\",\"error\":{\"code\":\"io\"}"), "'message'");
    refused(FAULT("\"on\":\"warm\",\"set\":{\"passed\":true}"), "not answered");
    refused(FAULT("\"on\":\"check\",\"set\":{\"passed\":1}"), "wrong type");
    refused(FAULT("\"on\":\"check\",\"set\":{\"wrong\":1.5}"), "wrong type");
    refused(FAULT("\"on\":\"check\",\"scale\":{\"wrong\":2}"), "wrong type");
    refused(FAULT("\"on\":\"warm\",\"scale\":{\"time_s\":-1}"), "wrong type");
    refused(FAULT("\"on\":\"line\",\"error\":{\"code\":\"io\",\"message\":\"m\"}"), "'error'");
    refused(FAULT("\"on\":\"warm\",\"write\":\"half\""), "'write'");
    refused(FAULT("\"on\":\"warm\",\"session\":{\"status\":\"io\",\"reason\":\"r\"}"), "'session'");
    refused(FAULT("\"on\":\"warm\",\"hang\":true,\"hm\":1"), "'hm'");
}

static void test_counts_are_set_whole(void **state)
{
    (void)state;
    json_t *rule = json_pack("{s:s, s:s, s:{s:I}}", "op", "fault", "on", "check", "set", "worst_index",
                             (json_int_t)9007199254740993); /* 2^53 + 1 */
    struct fault_hits hits = {.rule = {rule}, .count = 1};
    uint64_t index = UINT64_MAX;
    assert_int_equal(fault_check(rule, NULL), 0);
    fault_unsigned(&hits, "wrong", &index);
    assert_true(index == UINT64_MAX);
    fault_unsigned(&hits, "worst_index", &index);
    assert_true(index == 9007199254740993u);
    json_decref(rule);
}

static void test_fault_counting(void **state)
{
    (void)state;
    json_t *rules =
        json_loads("[{\"op\":\"fault\",\"on\":\"warm\",\"unit\":\"vector_add\",\"skip\":1,\"times\":2,"
                   "\"scale\":{\"time_s\":3}},{\"op\":\"fault\",\"on\":\"warm\",\"state\":\"cold\",\"hang\":true}]",
                   0, NULL);
    struct faults *faults = faults_new(rules);
    struct gpu_work work = {.unit = rl_unit_find("vector_add")}, other = {.unit = rl_unit_find("transpose_naive")};
    struct fault_moment moment = fault_moment_work(FAULT_ON_WARM, &work);
    struct fault_moment elsewhere = fault_moment_work(FAULT_ON_WARM, &other);
    static const double expected[] = {1, 3, 3, 1};
    for (size_t i = 0; i < 4; i++) {
        struct fault_hits hits;
        double time_s = 1;
        struct rl_err err;
        assert_int_equal(faults_strike(faults, &elsewhere, &hits, &err), 0);
        assert_int_equal(hits.count, 0);
        assert_int_equal(faults_strike(faults, &moment, &hits, &err), 0);
        fault_number(&hits, "time_s", &time_s);
        assert_true(time_s == expected[i]);
    }
    faults_free(faults);
    json_decref(rules);
}

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_faults.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"over", "under", "mixed", "bad", "self", "plain"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The name of the recording below the file, and its faults in order, each by what it strikes: "plain: warm, spin". */
static int read_file(const char *name, char ret[256], struct rl_err *err)
{
    char path[128], *recording = NULL;
    json_t *rules = json_array(), *rule;
    size_t index;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int rc = faulty_file_read(path, rules, &recording, err);
    if (rc == 0) {
        int len = snprintf(ret, 256, "%s:", strrchr(recording, '/') + 1);
        json_array_foreach(rules, index, rule)
        {
            len += snprintf(ret + len, 256 - (size_t)len, " %s", json_string_value(json_object_get(rule, "on")));
        }
    }
    free(recording);
    json_decref(rules);
    return rc;
}

static void test_files(void **state)
{
    (void)state;
    struct rl_err err = {.code = RL_E_NONE};
    char got[256];
    write_file("under", "{\"base\":\"plain\"}\n" FAULT("\"on\":\"spin\",\"hang\":true") "\n");
    write_file("over", "{\"base\":\"under\"}\n" FAULT("\"on\":\"warm\",\"exit\":3") "\n" FAULT(
                           "\"on\":\"cold\",\"exit\":3") "\n");
    write_file("plain", "{\"roofline_recording\":1}\n{\"op\":\"end\",\"entries\":0}\n");
    assert_int_equal(read_file("over", got, &err), 0);
    assert_string_equal(got, "plain: warm cold spin"); /* a file's own are tried before its base's */
    assert_int_equal(read_file("plain", got, &err), 0);
    assert_string_equal(got, "plain:");
    assert_int_equal(read_file("absent", got, &err), 0); /* whoever opens it says so */
    assert_string_equal(got, "absent:");
    write_file("mixed", "{\"base\":\"plain\"}\n{\"op\":\"spin\"}\n" FAULT("\"on\":\"spin\",\"hang\":true") "\n");
    assert_int_equal(read_file("mixed", got, &err), -1);
    assert_non_null(strstr(err.message, "one file for each"));
    write_file("bad", "{\"base\":\"plain\"}\n" FAULT("\"on\":\"spin\"") "\n");
    assert_int_equal(read_file("bad", got, &err), -1);
    assert_int_equal(err.code, RL_E_REPLAY_FORMAT);
    assert_non_null(strstr(err.message, "bad, line 2"));
    write_file("self", "{\"base\":\"self\"}\n" FAULT("\"on\":\"spin\",\"hang\":true") "\n");
    assert_int_equal(read_file("self", got, &err), 0); /* ends; the recording's reader then says what is wrong */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_are_checked),
        cmocka_unit_test(test_counts_are_set_whole),
        cmocka_unit_test(test_fault_counting),
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
