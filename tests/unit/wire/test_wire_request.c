/* Requests of the protocol: there and back, and every way to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "gpu/suites/base/params.h"
#include "gpu/suites/verify/verify.h"
#include "gpu/wire/wire.h"

static void check_back(const struct wire_request *request)
{
    struct wire_request back;
    struct rl_err err = {0};
    struct rl_buf out;
    memset(&back, 0x5A, sizeof back);
    rl_buf_init(&out, PROTOCOL_REQUEST_MAX + 1);
    assert_int_equal(wire_request_write(request, &out), 0);
    assert_int_equal(out.data[out.len - 1], '\n');
    if (wire_request_parse(out.data, out.len, &back, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(back.probe, request->probe);
    assert_string_equal(back.job, request->job);
    assert_string_equal(back.device, request->device);
    assert_ptr_equal(back.params.suite, request->params.suite);
    assert_memory_equal(&back.params, &request->params, sizeof back.params);
    assert_int_equal(wire_request_parse(out.data, out.len - 1, &back, &err), 0); /* without its '\n' */
    rl_buf_free(&out);
}

static void requests_there_and_back(void **state)
{
    (void)state;
    struct wire_request run = {.job = "12", .device = "GPU-11111111-2222-3333-4444-555555555555"};
    struct wire_request few = {.job = "9223372036854775807"}, probe = {.probe = true};
    rl_params_default(&rl_suite_verify, &run.params);
    rl_params_default(&rl_suite_verify, &few.params);
    few.params.value[VERIFY_SIZES].number = RL_SCALED;
    few.params.value[VERIFY_COUNTERS].number = false;
    few.params.value[VERIFY_CACHE].has[RL_WARM] = false;
    for (size_t i = 0; i < rl_kernel_count; i++)
        few.params.value[VERIFY_KERNELS].has[i] = i == 1;
    check_back(&run);
    check_back(&few);
    check_back(&probe);
}

/* The daemon's own parameters are no business of the process. */
static void predictions_stay_with_the_daemon(void **state)
{
    (void)state;
    struct wire_request run = {.job = "12"}, back;
    struct rl_buf out;
    rl_params_default(&rl_suite_verify, &run.params);
    run.params.value[VERIFY_PREDICTIONS].items[0] = 1;
    rl_buf_init(&out, PROTOCOL_REQUEST_MAX);
    assert_int_equal(wire_request_write(&run, &out), 0);
    assert_null(strstr(out.data, "predictions"));
    assert_int_equal(wire_request_parse(out.data, out.len, &back, NULL), 0);
    assert_int_equal(back.params.value[VERIFY_PREDICTIONS].items[0], 0);
    rl_buf_free(&out);
}

#define RUN(devices, suite, params, rest)                                                                              \
    "{\"t\":\"run\",\"protocol\":2,\"job\":\"12\",\"devices\":" devices ",\"suite\":" suite ",\"params\":" params rest \
    "}"
#define VERIFY(params) RUN("[]", "\"verify\"", params, "")

static const struct refusal {
    const char *line, *says;
} refusals[] = {
    {"", "no JSON"},
    {"{", "no JSON"},
    {"[]", ""},
    {"null", ""},
    {"{}", "t"},
    {"{\"t\":\"probe\"}", "protocol"},
    {"{\"t\":\"probe\",\"protocol\":1}", "of protocol 1, but this program speaks version 2"},
    {"{\"t\":\"run\",\"protocol\":1,\"job\":\"1\",\"device\":null,\"sizes\":\"course\",\"cache\":[\"warm\"],"
     "\"kernels\":[\"vector_add\"],\"counters\":true}",
     "of protocol 1, but this program speaks version 2"},
    {"{\"t\":\"probe\",\"protocol\":2.0}", "protocol"},
    {"{\"t\":\"probe\",\"protocol\":2,\"x\":1}", "not known"},
    {"{\"t\":\"probe\",\"t\":\"probe\",\"protocol\":2}", "no JSON"},
    {"{\"t\":\"stop\",\"protocol\":2}", "\"probe\" or \"run\""},
    {"{\"t\":\"probe\",\"protocol\":2}{}", "no JSON"},
    {"{\"t\":\"run\",\"protocol\":2}", "job"},
    {RUN("null", "\"verify\"", "{}", ""), "devices"},
    {RUN("[7]", "\"verify\"", "{}", ""), "devices"},
    {RUN("[\"\"]", "\"verify\"", "{}", ""), "devices"},
    {RUN("[\"GPU-1,GPU-2\"]", "\"verify\"", "{}", ""), "devices"},
    {RUN("[\"GPU-0000000000000000000000000000000000000000000000000000000000000\"]", "\"verify\"", "{}", ""), "devices"},
    {RUN("[\"GPU-1\",\"GPU-2\"]", "\"verify\"", "{}", ""), "more than one device"},
    {RUN("[]", "null", "{}", ""), "suite"},
    {RUN("[]", "\"benchmark\"", "{}", ""), "suite"},
    {RUN("[]", "\"import\"", "{}", ""), "suite"},
    {RUN("[]", "\"verify\"", "[]", ""), "params"},
    {RUN("[]", "\"verify\"", "{}", ",\"path\":\"/etc\""), "not known"},
    {VERIFY("{\"path\":\"/etc\"}"), "path is not a field"},
    {VERIFY("{\"predictions\":{}}"), "predictions is not a field"},
    {VERIFY("{\"sizes\":\"huge\"}"), "\"course\" or \"scaled\""},
    {VERIFY("{\"cache\":[]}"), "cache"},
    {VERIFY("{\"cache\":[\"warm\",\"warm\"]}"), "repeats"},
    {VERIFY("{\"cache\":[\"tepid\"]}"), "tepid"},
    {VERIFY("{\"cache\":\"warm\"}"), "cache"},
    {VERIFY("{\"kernels\":[]}"), "kernels"},
    {VERIFY("{\"kernels\":[\"vector_add\",\"vector_add\"]}"), "repeats"},
    {VERIFY("{\"kernels\":[\"/bin/sh\"]}"), "/bin/sh"},
    {VERIFY("{\"kernels\":[\"dram_copy\"]}"), "dram_copy"},
    {VERIFY("{\"kernels\":[null]}"), "null"},
    {VERIFY("{\"counters\":1}"), "true or false"},
};

static void bad_requests_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct wire_request request = {.job = "untouched"};
        struct rl_err err = {0};
        if (wire_request_parse(refusals[i].line, strlen(refusals[i].line), &request, &err) == 0)
            fail_msg("passed: %s", refusals[i].line);
        assert_int_equal(err.code, RL_E_MEASURE_PROTOCOL);
        assert_string_equal(request.job, "untouched");
        if (strstr(err.message, refusals[i].says) == NULL)
            fail_msg("%s: no \"%s\" in \"%s\"", refusals[i].line, refusals[i].says, err.message);
    }
}

static void a_request_has_at_most_16_kib(void **state)
{
    (void)state;
    static const char good[] = VERIFY("{\"cache\":[\"cold\"]}");
    struct wire_request request;
    char *longer = malloc(PROTOCOL_REQUEST_MAX + 2);
    assert_int_equal(wire_request_parse(good, sizeof good - 1, &request, NULL), 0);
    memset(longer, ' ', PROTOCOL_REQUEST_MAX + 2);
    memcpy(longer, good, sizeof good - 1);
    assert_int_equal(wire_request_parse(longer, PROTOCOL_REQUEST_MAX + 1, &request, NULL), 0);
    assert_int_equal(wire_request_parse(longer, PROTOCOL_REQUEST_MAX + 2, &request, NULL), -1);
    free(longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_there_and_back),
        cmocka_unit_test(predictions_stay_with_the_daemon),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(a_request_has_at_most_16_kib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
