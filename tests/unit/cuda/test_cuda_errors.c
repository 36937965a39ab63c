/* Pure parts of the cuda backend: error codes, UUIDs, clocks between marks, the table of FP32 lanes; and its start on a
 * machine without a driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "gpu/base/num.h"
#include "gpu/cuda/private.h"

static void errors_have_their_codes(void **state)
{
    (void)state;
    static const struct {
        int error;
        enum rl_code code;
        const char *words;
    } cases[] = {
        {2, RL_E_OUT_OF_MEMORY, "cudaErrorMemoryAllocation (2)"},
        {34, RL_E_NO_DRIVER, "stub"},
        {35, RL_E_OLD_DRIVER, "cudaErrorInsufficientDriver (35)"},
        {36, RL_E_OLD_DRIVER, "(36)"},
        {46, RL_E_COMPUTE_MODE, "exclusive or prohibited"},
        {98, RL_E_UNSUPPORTED_CHIP, "(98)"},
        {100, RL_E_NO_DEVICE, "cudaErrorNoDevice (100)"},
        {101, RL_E_NO_DEVICE, "(101)"},
        {209, RL_E_UNSUPPORTED_CHIP, "cudaErrorNoKernelImageForDevice (209)"},
        {222, RL_E_UNSUPPORTED_CHIP, "(222)"},
        {304, RL_E_NO_DEVICE, "(304)"},
        {700, RL_E_CUDA_FAILED, "cudaErrorIllegalAddress (700)"},
        {701, RL_E_NOT_IMPLEMENTED, "(701)"},
        {719, RL_E_CUDA_FAILED, "(719)"},
        {801, RL_E_NOT_IMPLEMENTED, "(801)"},
        {802, RL_E_CUDA_FAILED, "fabric manager"},
        {803, RL_E_DRIVER_MISMATCH, "(803)"},
        {805, RL_E_CUDA_FAILED, "MPS"},
        {999, RL_E_CUDA_FAILED, "nvidia-uvm"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rl_err err = {0};
        assert_int_equal(cuda_check((cudaError_t)cases[i].error, "cudaSomething(a, b)", &err), -1);
        if (err.code != cases[i].code || !strstr(err.message, cases[i].words))
            fail_msg("%d: %s, \"%s\"", cases[i].error, rl_code_id(err.code), err.message);
        assert_non_null(strstr(err.message, "cudaSomething failed"));
    }
    assert_int_equal(cuda_check(cudaSuccess, "call", NULL), 0);
}

static void a_uuid_is_text_and_back(void **state)
{
    (void)state;
    cudaUUID_t uuid;
    char text[CUDA_UUID_TEXT];
    for (int i = 0; i < 16; i++)
        uuid.bytes[i] = (char)(0xf0 + i);
    cuda_uuid_text(&uuid, text);
    assert_string_equal(text, "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
    static const char *const good[] = {"GPU-8932f937", "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff", "MIG-f0f1f2f3-f4f5",
                                       "MIG-GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff/1/0"};
    static const char *const bad[] = {
        "",
        "0",
        "-1",
        "0,0",
        "GPU-",
        "MIG-",
        "MIG-GPU-",
        "GPU-xyz",
        "GPU-12,GPU-34",
        "GPU-12 ",
        "gpu-8932f937",
        "/dev/nvidia0",
        "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!cuda_uuid_plausible(good[i]))
            fail_msg("%s was refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (cuda_uuid_plausible(bad[i]))
            fail_msg("\"%s\" was taken", bad[i]);
}

static void a_clock_needs_one_sm_and_time(void **state)
{
    (void)state;
    struct rl_clock_mark marks[2] = {{.cycles = 100, .time_ns = 1000, .sm = 7},
                                     {.cycles = 100 + 19800, .time_ns = 11000, .sm = 7}};
    assert_true(cuda_clock_between(marks) == 1.98e9);
    marks[1].sm = 8;
    assert_true(cuda_clock_between(marks) == 0);
    marks[1].sm = 7;
    marks[1].time_ns = 1000;
    assert_true(cuda_clock_between(marks) == 0);
    marks[1].time_ns = 11000;
    marks[1].cycles = 100;
    assert_true(cuda_clock_between(marks) == 0);
}

static void lanes_come_from_the_table(void **state)
{
    (void)state;
    assert_int_equal(cuda_fp32_lanes(7, 5).value, 64);
    assert_int_equal(cuda_fp32_lanes(8, 0).value, 64);
    assert_int_equal(cuda_fp32_lanes(9, 0).value, 128);
    assert_int_equal(cuda_fp32_lanes(12, 0).value, 128);
    assert_non_null(cuda_fp32_lanes(13, 0).why);
    assert_non_null(cuda_fp32_lanes(0, 0).why);
}

static void code_of_another_version_is_ptx(void **state)
{
    (void)state;
    struct rl_arena *arena = rl_arena_new(1 << 12);
    static const int built[] = {RL_CUDA_ARCH_LIST};
    struct rl_text text = cuda_binary_text(built[0], arena);
    assert_int_equal(strncmp(text.value, "sm_", 3), 0);
    int64_t version = 0;
    assert_int_equal(rl_parse_i64(text.value + 3, 0, 999, &version), 0);
    assert_int_equal(version, built[0]);
    assert_string_equal(cuda_binary_text(999, arena).value, "ptx");
    setenv("CUDA_FORCE_PTX_JIT", "1", 1);
    assert_string_equal(cuda_binary_text(built[0], arena).value, "ptx");
    unsetenv("CUDA_FORCE_PTX_JIT");
    rl_arena_free(arena);
}

static void a_bad_device_name_is_refused_before_cuda_starts(void **state)
{
    (void)state;
    struct gpu_backend *b = NULL;
    struct rl_err err = {0};
    assert_int_equal(gpu_backend_open_cuda("0", &b, &err), -1);
    assert_int_equal(err.code, RL_E_BAD_FIELD);
    assert_string_equal(err.field, "device");
    assert_null(b);
}

static void without_a_driver_it_says_so(void **state)
{
    (void)state;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    if (driver) {
        dlclose(driver);
        skip(); /* there is a driver here: tests/gpu has its own */
    }
    struct gpu_backend *b = NULL;
    struct rl_err err = {0};
    struct rl_device device;
    struct rl_environment environment;
    size_t count = 7;
    struct rl_arena *arena = rl_arena_new(1 << 16);
    assert_int_equal(gpu_backend_open_cuda(NULL, &b, &err), -1);
    assert_int_equal(err.code, RL_E_NO_DRIVER);
    assert_non_null(strstr(err.message, "no NVIDIA driver"));
    assert_null(b);
    err = (struct rl_err){0};
    assert_int_equal(gpu_backend_open_cuda("GPU-8932f937", &b, &err), -1);
    assert_int_equal(err.code, RL_E_NO_DRIVER);
    assert_int_equal(gpu_backend_list_cuda(arena, &device, &environment, 1, &count, &err), -1);
    assert_int_equal(err.code, RL_E_NO_DRIVER);
    assert_int_equal(count, 7);
    rl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_have_their_codes),
        cmocka_unit_test(a_uuid_is_text_and_back),
        cmocka_unit_test(a_clock_needs_one_sm_and_time),
        cmocka_unit_test(lanes_come_from_the_table),
        cmocka_unit_test(code_of_another_version_is_ptx),
        cmocka_unit_test(a_bad_device_name_is_refused_before_cuda_starts),
        cmocka_unit_test(without_a_driver_it_says_so),
    };
    return cmocka_run_group_tests_name("cuda errors", tests, NULL, NULL);
}
