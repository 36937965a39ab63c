/* The node's side of the cuda backend: locks between processes, the driver's parameter file, the null backend. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/backend/backend.h"
#include "gpu/node/environment.h"
#include "gpu/node/lock.h"

#define GPU "GPU-a5dd7f8a-2fbe-62d9-3d2b-3a1ec4e0a7d3"

static int make_directory(void **state)
{
    static char path[] = "/tmp/test_gpu_node.XXXXXX";
    *state = mkdtemp(path);
    return *state ? 0 : -1;
}

static int remove_directory(void **state)
{
    static const char *const names[] = {GPU, GPU_LOCK_NODE, "MIG-GPU-1_2_3", "linked"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s.lock", (const char *)*state, names[i]);
        unlink(path);
    }
    return rmdir(*state);
}

/* A process that holds the lock until it is killed. */
static pid_t start_holder(const char *directory, const char *name)
{
    int ready[2];
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int fd = -1;
        char word = gpu_lock_take(directory, name, 0, &fd, NULL) ? 'n' : 'y';
        if (write(ready[1], &word, 1) != 1)
            _exit(1);
        for (int i = 0; i < 600; i++) /* bounded: a test that died leaves nothing behind */
            usleep(100000);
        _exit(0);
    }
    char word = 0;
    assert_int_equal(read(ready[0], &word, 1), 1);
    assert_int_equal(word, 'y');
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void another_process_is_kept_out(void **state)
{
    struct rl_err err = {0};
    int fd = -1;
    pid_t holder = start_holder(*state, GPU);
    assert_int_equal(gpu_lock_take(*state, GPU, 50, &fd, &err), -1);
    assert_int_equal(err.code, RL_E_DEVICE_BUSY);
    assert_non_null(strstr(err.message, GPU));
    assert_null(strstr(err.message, "/tmp"));
    assert_int_equal(fd, -1);
    /* another GPU and the node are not that GPU */
    assert_int_equal(gpu_lock_take(*state, GPU_LOCK_NODE, 0, &fd, &err), 0);
    gpu_lock_release(fd);
    kill(holder, SIGKILL);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    assert_int_equal(gpu_lock_take(*state, GPU, 0, &fd, &err), 0); /* died with the process */
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    gpu_lock_release(fd);
}

static void a_lock_that_comes_free_is_waited_for(void **state)
{
    struct rl_err err = {0};
    int fd = -1;
    pid_t holder = start_holder(*state, GPU);
    pid_t killer = fork();
    assert_true(killer >= 0);
    if (killer == 0) {
        usleep(100000);
        kill(holder, SIGKILL);
        _exit(0);
    }
    /* the holder stays a zombie until it is waited for, but its lock is gone */
    assert_int_equal(gpu_lock_take(*state, GPU, 20000, &fd, &err), 0);
    gpu_lock_release(fd);
    assert_int_equal(waitpid(killer, NULL, 0), killer);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
}

static void what_cannot_be_opened_excludes_nobody(void **state)
{
    struct rl_err err = {0};
    int fd = -1;
    char link[256], target[256];
    assert_int_equal(gpu_lock_take("/nonexistent/rooflined", GPU, 0, &fd, &err), -1);
    assert_int_equal(err.code, RL_E_FORBIDDEN);
    /* a link that somebody laid where a lock belongs is not followed */
    snprintf(link, sizeof link, "%s/linked.lock", (const char *)*state);
    snprintf(target, sizeof target, "%s/made", (const char *)*state);
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(gpu_lock_take(*state, "linked", 0, &fd, &err), -1);
    assert_int_equal(err.code, RL_E_FORBIDDEN);
    assert_int_equal(access(target, F_OK), -1);
    assert_int_equal(fd, -1);
}

static void a_name_stays_in_the_directory(void **state)
{
    struct rl_err err = {0};
    int fd = -1;
    char path[256];
    assert_int_equal(gpu_lock_take(*state, "MIG-GPU-1/2/3", 0, &fd, &err), 0);
    gpu_lock_release(fd);
    snprintf(path, sizeof path, "%s/MIG-GPU-1_2_3.lock", (const char *)*state);
    assert_int_equal(access(path, F_OK), 0);
}

static void the_parameter_file_is_read(void **state)
{
    (void)state;
    static const char on[] = "ResmanDebugLevel: 4294967295\nRmLogonRC: 1\nRmProfilingAdminOnly: 1\nOther: 0\n";
    static const char off[] = "RmProfilingAdminOnly: 0";
    struct rl_flag3 flag = environment_admin_only(on);
    assert_null(flag.why);
    assert_true(flag.value);
    flag = environment_admin_only(off);
    assert_null(flag.why);
    assert_false(flag.value);
    static const char *const unknown[] = {
        NULL,
        "",
        "Other: 1\n",
        "RmProfilingAdminOnly: 2\n",
        "RmProfilingAdminOnly: 10\n",
        "RmProfilingAdminOnly:\nOther: 1\n",
        "XRmProfilingAdminOnly: 1\n",
        "RmProfilingAdminOnlyX: 1\n",
    };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (!environment_admin_only(unknown[i]).why)
            fail_msg("\"%s\" was understood", unknown[i] ? unknown[i] : "(null)");
}

static void the_node_is_named(void **state)
{
    (void)state;
    struct rl_arena *arena = rl_arena_new(1 << 20);
    struct rl_environment environment = {0};
    environment_read(arena, &environment);
    assert_null(environment.hostname.why);
    assert_true(environment.kernel_release.value[0] != '\0');
    rl_arena_free(arena);
}

static void the_null_backend_says_why(void **state)
{
    (void)state;
    struct rl_err why = {0}, err = {0};
    struct gpu_backend *b = NULL;
    struct rl_arena *arena = rl_arena_new(1 << 16);
    rl_fail(&why, RL_E_NO_DRIVER, "device", "no NVIDIA driver: %s", "100% sure");
    assert_int_equal(gpu_backend_open_null(&why, &b, &err), 0);
    assert_string_equal(b->ops->name, "null");
    struct rl_device device;
    struct rl_environment environment;
    struct rl_text text;
    struct gpu_card_state card;
    double hz;
    struct gpu_launch launch;
    struct gpu_result result;
    struct gpu_sample sample;
    struct gpu_count_session session;
    const struct gpu_backend_ops *ops = b->ops;
    const int results[] = {
        ops->identify(b, arena, &device, &environment, &err),
        ops->driver_now(b, arena, &text, &err),
        ops->card_state(b, arena, "start", &card, &err),
        ops->reserve(b, NULL, 0, &err),
        ops->spin(b, 0, &hz, &err),
        ops->prepare(b, NULL, &err),
        ops->describe(b, arena, NULL, &launch, &err),
        ops->check(b, NULL, &result, &err),
        ops->warm(b, NULL, 10, 0, &sample, &err),
        ops->cold(b, NULL, 0, &sample, &err),
        ops->count(b, arena, NULL, 0, NULL, &session, NULL, NULL, &err),
        ops->profile(b, NULL, 0, &err),
        ops->probe_counters(b, &err),
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        assert_int_equal(results[i], -1);
    assert_int_equal(err.code, RL_E_NO_DRIVER);
    assert_string_equal(err.message, "no NVIDIA driver: 100% sure");
    assert_string_equal(err.field, "device");
    ops->close(b);
    rl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_process_is_kept_out),
        cmocka_unit_test(a_lock_that_comes_free_is_waited_for),
        cmocka_unit_test(what_cannot_be_opened_excludes_nobody),
        cmocka_unit_test(a_name_stays_in_the_directory),
        cmocka_unit_test(the_parameter_file_is_read),
        cmocka_unit_test(the_node_is_named),
        cmocka_unit_test(the_null_backend_says_why),
    };
    return cmocka_run_group_tests_name("gpu node", tests, make_directory, remove_directory);
}
