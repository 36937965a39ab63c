/* What devices there are, and what a counter session would get on each. A GPU is tried in a process of its own: CUDA
 * sees one device per process here, and a driver that hangs or crashes costs that process alone. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/base/time.h"
#include "gpu/measure/measure.h"
#include "gpu/record/json.h"

#define DEVICES_MAX      64
#define CHILD_SECONDS    30 /* the first CUDA context after a reboot takes a few */
#define CHILD_OUTPUT_MAX (256 * 1024)

static _Atomic pid_t child; /* that a probe waits for, so that the watchdog can end it; 0: none */

void probe_abandon(void)
{
    pid_t pid = atomic_load(&child);
    if (pid > 0)
        kill(pid, SIGKILL);
}

/* {"status","why"}: "ok" and null, or a code and its reason. */
static json_t *counters_json(enum rl_code code, const char *why)
{
    if (code == RL_E_NONE)
        return json_pack("{s:s, s:n}", "status", "ok", "why");
    return json_pack("{s:s, s:s}", "status", rl_code_id(code), "why", why);
}

static json_t *device_json(const struct rl_device *device, const struct rl_environment *environment, json_t *counters)
{
    return json_pack("{s:o, s:o, s:o}", "device", rl_device_to_json(device), "environment",
                     rl_environment_to_json(environment), "counters", counters);
}

/* ---- in this process ---- */

/* The one device of an open backend. */
static int probe_open(struct gpu_backend *backend, json_t **ret, struct rl_err *err)
{
    struct rl_device device;
    struct rl_environment environment;
    struct rl_err why = {.code = RL_E_NONE};
    int rc = -1;
    struct rl_arena *arena = rl_arena_new(1024 * 1024);
    if (!arena)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the device");
    if (backend->ops->identify(backend, arena, &device, &environment, err) != 0)
        goto out;
    if (!backend->ops->probe_counters)
        rl_fail(&why, RL_E_COUNTERS_UNSUPPORTED, NULL, "the %s backend counts nothing", backend->ops->name);
    else if (backend->ops->probe_counters(backend, &why) != 0 && why.code == RL_E_NONE)
        rl_fail(&why, RL_E_COUNTERS_FAILED, NULL, "the probe failed without saying why");
    if (backend->chip[0]) /* identify leaves CUPTI alone, since runs are timed after it; a probe times nothing */
        device.chip = (struct rl_text){backend->chip, NULL};
    json_t *found = device_json(&device, &environment, counters_json(why.code, why.message));
    if (found) {
        *ret = found;
        rc = 0;
    } else {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the device");
    }
out:
    rl_arena_free(arena);
    return rc;
}

static int probe_one(const char *replay, const char *uuid, json_t **ret, struct rl_err *err)
{
    struct gpu_backend *backend = NULL;
    int rc = replay ? gpu_backend_open_replay(replay, uuid, &backend, err) : gpu_backend_open_cuda(uuid, &backend, err);
    if (rc != 0)
        return -1;
    rc = probe_open(backend, ret, err);
    backend->ops->close(backend);
    return rc;
}

/* ---- in a child ---- */

static int start_child(const char *uuid, int output, pid_t *ret)
{
    char *arguments[] = {(char *)MEASURE_PROGRAM, (char *)"--probe", (char *)"--json",
                         (char *)"--device",      (char *)uuid,      NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc == 0) {
        sigemptyset(&none);
        rc = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        rc = rc ? rc : posix_spawnattr_setsigmask(&attributes, &none);
        rc = rc ? rc : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        rc = rc ? rc : posix_spawn(ret, "/proc/self/exe", &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Waits for the child's end. Nobody may signal its number once it has been reaped: it may be another's by then. */
static int reap(pid_t pid)
{
    siginfo_t ended;
    int status = 0;
    while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    atomic_store(&child, 0);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* All that the child says until it closes its output; -1 with why when the time is over or it says too much. */
static int read_child(int fd, struct rl_buf *out, struct rl_err *why)
{
    int64_t deadline = rl_monotonic_ns() + CHILD_SECONDS * INT64_C(1000000000);
    for (;;) {
        int64_t left_ms = (deadline - rl_monotonic_ns()) / 1000000;
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        char bytes[4096];
        int ready = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return rl_fail(why, RL_E_COUNTERS_FAILED, NULL, "trying the counters took more than %d s", CHILD_SECONDS);
        ssize_t got = read(fd, bytes, sizeof bytes);
        if (got == 0)
            return 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || rl_buf_add(out, bytes, (size_t)got) != 0)
            return rl_fail(why, RL_E_COUNTERS_FAILED, NULL, "what was found by trying the counters could not be read");
    }
}

/* What the child found; NULL with *why filled when it did not end well. */
static json_t *ask_child(const char *uuid, struct rl_err *why)
{
    struct rl_buf output;
    int ends[2], status = 0, rc;
    json_t *found = NULL;
    pid_t pid = 0;
    rl_buf_init(&output, CHILD_OUTPUT_MAX);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        rl_fail(why, RL_E_COUNTERS_FAILED, NULL, "the counters could not be tried: %s", strerror(errno));
        return NULL;
    }
    rc = start_child(uuid, ends[1], &pid);
    close(ends[1]);
    if (rc != 0) {
        rl_fail(why, RL_E_COUNTERS_FAILED, NULL, "the counters could not be tried: %s", strerror(rc));
        goto out;
    }
    atomic_store(&child, pid);
    rc = read_child(ends[0], &output, why);
    if (rc != 0)
        kill(pid, SIGKILL);
    status = reap(pid);
    if (rc != 0)
        goto out;
    if (WIFSIGNALED(status))
        rl_fail(why, RL_E_COUNTERS_FAILED, NULL, "trying the counters ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == rl_code_exit(RL_E_DEVICE_BUSY))
        rl_fail(why, RL_E_COUNTERS_BUSY, NULL, "another measurement holds this GPU; what it allows was not tried");
    else if (WEXITSTATUS(status) != 0)
        rl_fail(why, RL_E_COUNTERS_FAILED, NULL,
                "trying the counters ended with exit status %d; run roofline-measure --probe --device %s",
                WEXITSTATUS(status), uuid);
    else
        found = json_loadb(output.data ? output.data : "", output.len, JSON_REJECT_DUPLICATES, NULL);
    if (!found && why->code == RL_E_NONE)
        rl_fail(why, RL_E_COUNTERS_FAILED, NULL, "trying the counters gave no answer");
out:
    close(ends[0]);
    rl_buf_free(&output);
    return found;
}

static int probe_node(int (*each)(void *arg, const json_t *device, struct rl_err *err), void *arg, struct rl_err *err)
{
    struct rl_arena *arena = rl_arena_new(4 * 1024 * 1024);
    struct rl_device *devices = arena ? rl_arena_array(arena, DEVICES_MAX, sizeof *devices) : NULL;
    struct rl_environment *environments = arena ? rl_arena_array(arena, DEVICES_MAX, sizeof *environments) : NULL;
    size_t count = 0;
    int rc = -1;
    if (!devices || !environments) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the list of devices");
        goto out;
    }
    if (gpu_backend_list_cuda(arena, devices, environments, DEVICES_MAX, &count, err) != 0)
        goto out;
    for (size_t i = 0; i < count; i++) {
        struct rl_err why = {.code = RL_E_NONE};
        json_t *found = NULL;
        if (devices[i].uuid.why)
            rl_fail(&why, RL_E_COUNTERS_FAILED, NULL, "the device has no UUID to open it by: %s", devices[i].uuid.why);
        else
            found = ask_child(devices[i].uuid.value, &why);
        if (!found)
            found = device_json(&devices[i], &environments[i], counters_json(why.code, why.message));
        rc = found ? each(arg, found, err) : rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the device");
        json_decref(found);
        if (rc != 0)
            goto out;
    }
    rc = 0;
out:
    rl_arena_free(arena);
    return rc;
}

int probe_devices(const char *replay, int (*each)(void *arg, const json_t *device, struct rl_err *err), void *arg,
                  struct rl_err *err)
{
    json_t *found = NULL;
    if (!replay)
        return probe_node(each, arg, err);
    if (probe_one(replay, NULL, &found, err) != 0)
        return -1;
    int rc = each(arg, found, err);
    json_decref(found);
    return rc;
}

/* ---- for people and programs ---- */

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "unknown";
}

static void print_number(const char *label, const json_t *object, const char *name, double unit, const char *unit_name)
{
    const json_t *value = json_object_get(object, name);
    if (json_is_number(value))
        printf(", %s%.*f%s", label, unit > 1 ? 1 : 0, json_number_value(value) / unit, unit_name);
}

static int print_device(void *arg, const json_t *found, struct rl_err *err)
{
    const struct cli_options *options = arg;
    const json_t *device = json_object_get(found, "device"), *environment = json_object_get(found, "environment");
    const json_t *counters = json_object_get(found, "counters");
    if (options->json)
        return measure_print_json(json_incref((json_t *)found), err);
    printf("%s: %s (chip %s)", text_of(device, "id"), text_of(device, "name"), text_of(device, "chip"));
    print_number("compute capability ", device, "compute_major", 1, "");
    const json_t *minor = json_object_get(device, "compute_minor");
    if (json_is_integer(minor))
        printf(".%lld", (long long)json_integer_value(minor));
    print_number("", device, "sm_count", 1, " SMs");
    print_number("", device, "memory_bytes", 1e9, " GB");
    print_number("L2 ", device, "l2_bytes", 1e6, " MB");
    printf("\n  driver %s, CUDA %s (driver's) and %s (program's), CUPTI %s%s\n", text_of(environment, "driver_version"),
           text_of(environment, "cuda_driver_version"), text_of(environment, "cuda_runtime_version"),
           text_of(environment, "cupti_version"), options->replay ? "; as recorded" : "");
    const char *status = text_of(counters, "status");
    if (strcmp(status, "ok") == 0)
        printf("  counters: yes\n");
    else
        printf("  counters: no, %s: %s (%s)\n", status, text_of(counters, "why"),
               rl_code_next_action(rl_code_from_id(status)));
    return 0;
}

int probe_print(const struct cli_options *options, struct rl_err *err)
{
    json_t *found = NULL;
    if (!options->device)
        return probe_devices(options->replay, print_device, (void *)options, err);
    if (!options->replay)
        alarm(CHILD_SECONDS + 5); /* a parent that was killed leaves nobody to end this process */
    if (probe_one(options->replay, options->device, &found, err) != 0)
        return -1;
    int rc = print_device((void *)options, found, err);
    json_decref(found);
    return rc;
}
