/* Requests of the protocol: there and back, and every way to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "gpu/wire/wire.h"
#include "kernels/unit/catalogue.h"

static void requests_there_and_back(void **state)
{
    (void)state;
    struct wire_request run = {.job = "12",
                               .device = "GPU-11111111-2222-3333-4444-555555555555",
                               .sizes = "course",
                               .warm = true,
                               .cold = true,
                               .counters = true};
    for (size_t i = 0; i < rl_kernel_count; i++)
        run.kernel[i] = true;
    struct wire_request few = {.job = "9223372036854775807", .sizes = "scaled", .cold = true};
    few.kernel[1] = true;
    struct wire_request probe = {.probe = true};
    const struct wire_request *const requests[] = {&run, &few, &probe};
    for (size_t i = 0; i < 3; i++) {
        struct wire_request back;
        struct rl_err err = {0};
        struct rl_buf out;
        memset(&back, 0x5A, sizeof back);
        rl_buf_init(&out, PROTOCOL_REQUEST_MAX + 1);
        assert_int_equal(wire_request_write(requests[i], &out), 0);
        assert_int_equal(out.data[out.len - 1], '\n');
        if (wire_request_parse(out.data, out.len, &back, &err) < 0)
            fail_msg("%s", err.message);
        assert_int_equal(back.probe, requests[i]->probe);
        assert_string_equal(back.job, requests[i]->job);
        assert_string_equal(back.device, requests[i]->device);
        assert_string_equal(back.sizes, requests[i]->sizes);
        assert_int_equal(back.warm, requests[i]->warm);
        assert_int_equal(back.cold, requests[i]->cold);
        assert_int_equal(back.counters, requests[i]->counters);
        assert_memory_equal(back.kernel, requests[i]->kernel, sizeof back.kernel);
        assert_int_equal(wire_request_parse(out.data, out.len - 1, &back, &err), 0); /* without its '\n' */
        rl_buf_free(&out);
    }
    struct rl_buf out;
    rl_buf_init(&out, PROTOCOL_REQUEST_MAX);
    few.kernel[1] = false;
    assert_int_equal(wire_request_write(&few, &out), -1);
    few.kernel[1] = true;
    few.cold = false;
    assert_int_equal(wire_request_write(&few, &out), -1);
    assert_int_equal(out.len, 0);
    rl_buf_free(&out);
}

#define RUN(device, sizes, cache, kernels, rest)                                                                       \
    "{\"t\":\"run\",\"protocol\":1,\"job\":\"12\",\"device\":" device ",\"sizes\":" sizes ",\"cache\":" cache          \
    ",\"kernels\":" kernels rest "}"

static void bad_requests_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"t\":\"probe\"}",
        "{\"t\":\"probe\",\"protocol\":2}",
        "{\"t\":\"probe\",\"protocol\":1.0}",
        "{\"t\":\"probe\",\"protocol\":1,\"x\":1}",
        "{\"t\":\"probe\",\"t\":\"probe\",\"protocol\":1}",
        "{\"t\":\"stop\",\"protocol\":1}",
        "{\"t\":\"probe\",\"protocol\":1}{}",
        "{\"t\":\"run\",\"protocol\":1}",
        RUN("null", "\"huge\"", "[\"warm\"]", "[\"vector_add\"]", ",\"counters\":true"),
        RUN("7", "\"course\"", "[\"warm\"]", "[\"vector_add\"]", ",\"counters\":true"),
        RUN("\"\"", "\"course\"", "[\"warm\"]", "[\"vector_add\"]", ",\"counters\":true"),
        RUN("\"GPU-1,GPU-2\"", "\"course\"", "[\"warm\"]", "[\"vector_add\"]", ",\"counters\":true"),
        RUN("\"GPU-0000000000000000000000000000000000000000000000000000000000000\"", "\"course\"", "[\"warm\"]",
            "[\"vector_add\"]", ",\"counters\":true"),
        RUN("null", "\"course\"", "[]", "[\"vector_add\"]", ",\"counters\":true"),
        RUN("null", "\"course\"", "[\"warm\",\"warm\"]", "[\"vector_add\"]", ",\"counters\":true"),
        RUN("null", "\"course\"", "[\"tepid\"]", "[\"vector_add\"]", ",\"counters\":true"),
        RUN("null", "\"course\"", "\"warm\"", "[\"vector_add\"]", ",\"counters\":true"),
        RUN("null", "\"course\"", "[\"warm\"]", "[]", ",\"counters\":true"),
        RUN("null", "\"course\"", "[\"warm\"]", "[\"vector_add\",\"vector_add\"]", ",\"counters\":true"),
        RUN("null", "\"course\"", "[\"warm\"]", "[\"/bin/sh\"]", ",\"counters\":true"),
        RUN("null", "\"course\"", "[\"warm\"]", "[\"dram_copy\"]", ",\"counters\":true"),
        RUN("null", "\"course\"", "[\"warm\"]", "[null]", ",\"counters\":true"),
        RUN("null", "\"course\"", "[\"warm\"]", "[\"vector_add\"]", ""),
        RUN("null", "\"course\"", "[\"warm\"]", "[\"vector_add\"]", ",\"counters\":1"),
        RUN("null", "\"course\"", "[\"warm\"]", "[\"vector_add\"]", ",\"counters\":true,\"path\":\"/etc\""),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct wire_request request = {.job = "untouched"};
        struct rl_err err = {0};
        if (wire_request_parse(bad[i], strlen(bad[i]), &request, &err) == 0)
            fail_msg("passed: %s", bad[i]);
        assert_int_equal(err.code, RL_E_MEASURE_PROTOCOL);
        assert_string_equal(request.job, "untouched");
    }
    static const char good[] = RUN("null", "\"course\"", "[\"cold\"]", "[\"vector_add\"]", ",\"counters\":false");
    struct wire_request request;
    assert_int_equal(wire_request_parse(good, sizeof good - 1, &request, NULL), 0);
    char *longer = malloc(PROTOCOL_REQUEST_MAX + 2);
    memset(longer, ' ', PROTOCOL_REQUEST_MAX + 2);
    memcpy(longer, good, sizeof good - 1);
    assert_int_equal(wire_request_parse(longer, PROTOCOL_REQUEST_MAX + 1, &request, NULL), 0);
    assert_int_equal(wire_request_parse(longer, PROTOCOL_REQUEST_MAX + 2, &request, NULL), -1);
    free(longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_there_and_back),
                                       cmocka_unit_test(bad_requests_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
