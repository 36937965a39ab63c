/* Measuring by hand: table, JSON Lines, recording, profile. */
#include "gpu/measure/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/record/json_text.h"
#include "gpu/record/print/text.h"
#include "gpu/suites/document.h"

#define JSON_LINE_MAX (16u * 1024 * 1024)

struct shown { /* where the engine's events go */
    const struct cli_options *options;
    bool progress; /* standard error is a terminal that wants it */
    bool drawn;    /* a progress line stands there */
    const char *sizes;
    struct rl_err failed; /* why samples are missing from the output; RL_E_NONE: none are */
};

int measure_print_json(json_t *value, struct rl_err *err)
{
    struct rl_buf line;
    rl_buf_init(&line, JSON_LINE_MAX);
    int rc = rl_json_write(value, &line) == 0 ? 0 : rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a line of JSON");
    if (rc == 0)
        printf("%s\n", line.data);
    rl_buf_free(&line);
    json_decref(value);
    return rc;
}

int measure_flush(struct rl_err *err)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    return rl_fail(err, RL_E_IO, NULL, "standard output could not be written: %s", strerror(errno));
}

int measure_open(const struct cli_options *options, struct gpu_backend **ret, struct rl_err *err)
{
    if (options->replay)
        return gpu_backend_open_replay(options->replay, options->device, ret, err);
    return gpu_backend_open_cuda(options->device, ret, err);
}

/* ---- events ---- */

static void erase_progress(struct shown *shown)
{
    if (shown->drawn)
        fputs("\r\033[K", stderr);
    shown->drawn = false;
}

static void on_progress(void *arg, const char *phase, const char *what, unsigned done, unsigned total)
{
    struct shown *shown = arg;
    if (!shown->progress)
        return;
    fprintf(stderr, "\r\033[K%s: %u of %u, %s: %.60s", shown->sizes, done, total, phase, what ? what : "");
    fflush(stderr);
    shown->drawn = true;
}

static void on_samples(void *arg, const char *unit, enum rl_state state, int64_t launches, const double *times_s,
                       size_t count)
{
    struct shown *shown = arg;
    json_t *times = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(times, json_real(times_s[i]));
    (void)measure_print_json(json_pack("{s:s, s:s, s:s, s:s, s:I, s:o}", "t", "sample", "sizes", shown->sizes, "unit",
                                       unit, "state", rl_state_name(state), "launches", (json_int_t)launches, "times_s",
                                       times),
                             &shown->failed);
}

static void on_log(void *arg, const char *line)
{
    struct shown *shown = arg;
    erase_progress(shown);
    fprintf(stderr, "%s\n", line);
}

static void on_warning(void *arg, enum rl_code code, const char *message)
{
    struct shown *shown = arg;
    erase_progress(shown);
    fprintf(stderr, "%s: warning: %s (%s)\n", MEASURE_PROGRAM, message, rl_code_next_action(code));
}

/* ---- output ---- */

static int print_table(const struct cli_options *options, const struct rl_run *run, struct rl_err *err)
{
    for (int state = 0; state < RL_STATE_COUNT; state++) {
        struct rl_buf table;
        if (!options->state[state])
            continue;
        rl_buf_init(&table, 1024 * 1024);
        int rc = rl_table_write(run, (enum rl_state)state, &table);
        if (rc == 0)
            printf("%s\n", table.data);
        rl_buf_free(&table);
        if (rc != 0)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the table");
    }
    return 0;
}

static void print_outcome(const struct rl_run *run)
{
    fprintf(stderr, "%s: the %s run is %s:\n", MEASURE_PROGRAM, run->sizes, rl_outcome_name(run->outcome));
    for (size_t i = 0; i < run->outcome_reasons.count; i++)
        fprintf(stderr, "  %s\n", run->outcome_reasons.items[i]);
    for (size_t i = 0; i < run->check_count; i++)
        if (!run->checks[i].passed.why && !run->checks[i].passed.value)
            fprintf(stderr, "  check %s failed: %s\n", run->checks[i].name, run->checks[i].detail);
}

static int measure_sizes(struct gpu_backend *backend, struct shown *shown, enum rl_sizes sizes, int *status,
                         struct rl_err *err)
{
    const struct cli_options *options = shown->options;
    struct engine_request request = {.sizes = sizes, .counters = options->counters};
    struct engine_events events = {.arg = shown,
                                   .progress = on_progress,
                                   .samples = options->mode == CLI_JSON ? on_samples : NULL,
                                   .log = options->verbose ? on_log : NULL,
                                   .warning = on_warning};
    struct rl_run *run = NULL;
    memcpy(request.state, options->state, sizeof request.state);
    memcpy(request.kernel, options->kernel, sizeof request.kernel);
    shown->sizes = rl_sizes_name(sizes);
    backend->sizes = sizes;
    int rc = engine_run(backend, &request, &events, &run, err);
    erase_progress(shown);
    if (rc != 0)
        return -1;
    if (options->mode == CLI_TABLE)
        rc = print_table(options, run, err);
    else if (options->mode == CLI_JSON)
        rc = measure_print_json(json_pack("{s:s, s:o}", "t", "run", "run", rl_run_to_json(run)), err);
    if (rc == 0 && shown->failed.code != RL_E_NONE)
        rc = rl_fail(err, shown->failed.code, NULL, "%s", shown->failed.message);
    if (run->outcome != RL_OK) {
        print_outcome(run);
        *status = MEASURE_EXIT_NOT_OK;
    }
    rl_run_free(run);
    return rc;
}

int measure_run(const struct cli_options *options, int *ret_exit, struct rl_err *err)
{
    struct shown shown = {.options = options, .progress = !options->quiet && isatty(STDERR_FILENO)};
    struct gpu_backend *backend = NULL;
    int status = 0, rc = -1;
    if (measure_open(options, &backend, err) != 0)
        return -1;
    if (options->record) {
        struct gpu_backend *inner = backend;
        backend = NULL;
        if (gpu_backend_open_recorder(inner, options->record, &backend, err) != 0)
            return -1;
    }
    for (int sizes = 0; sizes < RL_SIZES_COUNT; sizes++)
        if (options->sizes[sizes] && measure_sizes(backend, &shown, (enum rl_sizes)sizes, &status, err) != 0)
            goto out;
    if (options->record && gpu_recorder_finish(backend, err) != 0)
        goto out;
    *ret_exit = status;
    rc = 0;
out:
    backend->ops->close(backend);
    return rc;
}

/* ---- profile ---- */

int measure_profile(const struct cli_options *options, struct rl_err *err)
{
    enum rl_sizes sizes = options->sizes[RL_SCALED] ? RL_SCALED : RL_COURSE;
    struct gpu_work works[RL_KERNEL_COUNT];
    struct gpu_backend *backend = NULL;
    struct rl_device device;
    struct rl_environment environment;
    size_t count = 0;
    int rc = -1;
    struct rl_arena *arena = rl_arena_new(1024 * 1024);
    if (!arena)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the device");
    if (measure_open(options, &backend, err) != 0 ||
        backend->ops->identify(backend, arena, &device, &environment, err) != 0)
        goto out;
    if (device.l2_bytes.why) {
        rl_fail(err, RL_E_CUDA_FAILED, NULL, "the L2's size is not known (%s), and sizes follow from it",
                device.l2_bytes.why);
        goto out;
    }
    for (size_t i = 0; i < rl_kernel_count; i++) {
        if (!options->kernel[i])
            continue;
        works[count] = (struct gpu_work){.unit = rl_units[i], .sizes = sizes};
        if (rl_units[i]->dims(sizes, (uint64_t)device.l2_bytes.value, &works[count].dims) != 0) {
            rl_fail(err, RL_E_INTERNAL, rl_units[i]->id, "%s has no sizes for an L2 of %lld bytes", rl_units[i]->id,
                    (long long)device.l2_bytes.value);
            goto out;
        }
        count++;
    }
    backend->sizes = sizes;
    if (backend->ops->reserve(backend, works, count, err) != 0 ||
        backend->ops->profile(backend, works, count, err) != 0)
        goto out;
    for (size_t i = 0; i < count; i++)
        printf("%s\n", works[i].unit->id);
    rc = 0;
out:
    if (backend)
        backend->ops->close(backend);
    rl_arena_free(arena);
    return rc;
}
