/* What the daemon does at its start when its HTTP library does not read by this program's recv: here there is none, so
 * that libc's is what the library finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "server/http/probe.h"
#include "server/http/recv.h"

static int watched = -1;

int http_recv_watch(int fd, http_reader reader, void *arg)
{
    (void)reader;
    (void)arg;
    watched = fd;
    return 0;
}

void http_recv_forget(int fd)
{
    assert_int_equal(fd, watched);
}

static void test_another_way_of_reading(void **state)
{
    struct rl_err err = {0};
    (void)state;
    int before = dup(0);
    assert_int_equal(http_probe_library(&err), -1);
    assert_int_equal(err.code, RL_E_INTERNAL);
    assert_non_null(strstr(err.message, "does not read its connections by recv"));
    int after = dup(0);
    assert_int_equal(after, before + 1); /* no descriptor was left open */
    close(before);
    close(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_another_way_of_reading)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
