/* A build without the CUDA toolkit says so, and does not look for a driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/backend/backend.h"

static void it_says_that_it_has_no_cuda_backend(void **state)
{
    (void)state;
    struct gpu_backend *b = NULL;
    struct rl_device device;
    struct rl_environment environment;
    struct rl_err err = {0};
    size_t count = 7;
    assert_int_equal(gpu_backend_open_cuda(NULL, &b, &err), -1);
    assert_int_equal(err.code, RL_E_NO_CUDA_BUILD);
    assert_non_null(strstr(err.message, "this build has no cuda backend"));
    assert_non_null(strstr(rl_code_next_action(err.code), "nvcc"));
    assert_null(b);
    err = (struct rl_err){0};
    assert_int_equal(gpu_backend_list_cuda(NULL, &device, &environment, 1, &count, &err), -1);
    assert_int_equal(err.code, RL_E_NO_CUDA_BUILD);
    assert_int_equal(count, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_says_that_it_has_no_cuda_backend)};
    return cmocka_run_group_tests_name("no cuda", tests, NULL, NULL);
}
