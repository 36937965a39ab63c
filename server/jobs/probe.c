/* Looking for devices: a measuring process that is asked what is there and what is possible on each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/jobs/queue.h"
#include "db/series/devices.h"
#include "gpu/base/time.h"
#include "gpu/record/json.h"
#include "server/jobs/internal.h"

#define PROBE_ARENA_BYTES (8u * 1024u * 1024u)

struct found {
    struct rl_device device;
    struct rl_environment environment;
    const char *counters_status, *counters_why; /* why NULL: counters can be had */
};

struct probe {
    struct jobs *jobs;
    struct supervise *process;
    struct rl_arena *arena;
    struct found found[LIMIT_DEVICES];
    size_t count;
};

void probe_free(struct probe *probe)
{
    if (probe == NULL)
        return;
    supervise_free(probe->process);
    rl_arena_free(probe->arena);
    free(probe);
}

/* ---- lines ---- */

static int take_counters(struct probe *probe, struct found *found, const json_t *counters, struct rl_err *err)
{
    const char *status = json_string_value(json_object_get(counters, "status"));
    const char *why = json_string_value(json_object_get(counters, "why"));
    bool ok = status != NULL && strcmp(status, "ok") == 0;
    if (status == NULL || (!ok && (why == NULL || rl_code_from_id(status) == RL_E_NONE)))
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, "counters",
                       "A device line says neither that counters can be had nor why not.");
    found->counters_status = rl_arena_strdup(probe->arena, status);
    found->counters_why = ok ? NULL : rl_arena_strdup(probe->arena, why);
    if (found->counters_status == NULL || (!ok && found->counters_why == NULL))
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the devices.");
    return 0;
}

static int take_device(struct probe *probe, const json_t *body, struct rl_err *err)
{
    if (probe->count == LIMIT_DEVICES)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "A probe told of more than %u devices.", LIMIT_DEVICES);
    struct found *found = &probe->found[probe->count];
    struct rl_err why = {0};
    if (rl_device_from_json(json_object_get(body, "device"), RL_RECORD_VERSION, probe->arena, &found->device, &why) !=
            0 ||
        rl_environment_from_json(json_object_get(body, "environment"), RL_RECORD_VERSION, probe->arena,
                                 &found->environment, &why) != 0)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, why.field, "A device line is not valid: %s", why.message);
    size_t len = found->device.id != NULL ? strlen(found->device.id) : 0;
    if (len == 0 || len >= JOB_SPEC_DEVICE_BYTES)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, "device.id", "A device's id has %zu bytes.", len);
    for (size_t i = 0; i < probe->count; i++)
        if (strcmp(probe->found[i].device.id, found->device.id) == 0)
            return rl_fail(err, RL_E_MEASURE_PROTOCOL, "device.id", "A probe told of one device twice.");
    if (take_counters(probe, found, json_object_get(body, "counters"), err) != 0)
        return -1;
    probe->count++;
    return 0;
}

static int on_line(void *arg, const struct wire_line *line, struct rl_err *err)
{
    struct probe *probe = arg;
    struct jobs *jobs = probe->jobs;
    if (line->kind == WIRE_HELLO) {
        const char *build = json_string_value(json_object_get(line->body, "build"));
        snprintf(jobs->backend, sizeof jobs->backend, "%s", supervise_backend(probe->process));
        snprintf(jobs->build, sizeof jobs->build, "%s", build != NULL ? build : "");
    }
    return line->kind == WIRE_DEVICE ? take_device(probe, line->body, err) : 0;
}

/* ---- the end ---- */

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from != NULL ? from : "");
}

static void swap(struct jobs *jobs, size_t a, size_t b)
{
    struct jobs_device kept = jobs->devices[a];
    jobs->devices[a] = jobs->devices[b];
    jobs->devices[b] = kept;
    if (jobs->devices[a].active != NULL)
        jobs->devices[a].active->device = &jobs->devices[a];
    if (jobs->devices[b].active != NULL)
        jobs->devices[b].active->device = &jobs->devices[b];
}

/* Puts a found device at place `at` of the list, in PCI order, and keeps what was known of it (quarantine). */
static int place(struct jobs *jobs, const struct found *found, size_t at)
{
    size_t i = 0;
    while (i < jobs->device_count && strcmp(jobs->devices[i].id, found->device.id) != 0)
        i++;
    if (i == jobs->device_count && i < LIMIT_DEVICES) {
        jobs->device_count++;
        jobs->devices[i] = (struct jobs_device){0};
    } else if (i == jobs->device_count) {
        /* full: the place of one that is gone and that nothing is known of */
        while (i > at && (jobs->devices[i - 1].present || jobs->devices[i - 1].quarantined))
            i--;
        if (i == at)
            return -1;
        i--;
        jobs->devices[i] = (struct jobs_device){0};
    }
    if (i != at)
        swap(jobs, i, at);
    struct jobs_device *device = &jobs->devices[at];
    copy_text(device->id, sizeof device->id, found->device.id);
    copy_text(device->name, sizeof device->name, found->device.name);
    copy_text(device->driver, sizeof device->driver, found->environment.driver_version.value);
    copy_text(device->counters_status, sizeof device->counters_status, found->counters_status);
    copy_text(device->counters_why, sizeof device->counters_why, found->counters_why);
    device->source = strcmp(jobs->backend, "replay") == 0 ? RL_REPLAYED : RL_MEASURED;
    device->present = true;
    return 0;
}

static void store_found(struct jobs *jobs, const struct found *found, size_t ordinal)
{
    struct rl_err err = {0};
    struct store_device row = {
        .device = &found->device,
        .environment = &found->environment,
        .counters_status = found->counters_status,
        .counters_why = found->counters_why,
        .source = strcmp(jobs->backend, "replay") == 0 ? RL_REPLAYED : RL_MEASURED,
        .checked_at_ms = jobs->checked_at_ms,
        .ordinal = (int)ordinal,
    };
    if (store_put_device(jobs->store, &row, &err) != 0) {
        jobs->store_error = err;
        jobs_log("device %s could not be stored: %s", found->device.id, err.message);
    }
}

static void take_found(struct probe *probe)
{
    struct jobs *jobs = probe->jobs;
    jobs->checked_at_ms = rl_now_ms();
    jobs->checked_ns = rl_monotonic_ns();
    jobs->probe_error = (struct rl_err){0};
    for (size_t i = 0; i < jobs->device_count; i++)
        jobs->devices[i].present = false;
    size_t placed = 0;
    for (size_t i = 0; i < probe->count; i++)
        if (place(jobs, &probe->found[i], placed) == 0)
            store_found(jobs, &probe->found[i], placed++);
    if (probe->count == 0)
        rl_fail(&jobs->probe_error, RL_E_NO_DEVICE, NULL, "The measuring program finds no GPU.");
}

struct waiting {
    struct jobs *jobs;
    int64_t gone[LIMIT_DEFAULT_ROWS]; /* jobs whose device is not here */
    size_t count;
    int64_t last;
};

static int look_at(void *arg, const struct store_job *job)
{
    struct waiting *waiting = arg;
    const struct jobs_device *device = jobs_device_find(waiting->jobs, job->device);
    if (device == NULL || !device->present)
        waiting->gone[waiting->count++] = job->id;
    waiting->last = job->id;
    return 0;
}

/* The turn of a job never comes when its device is not there any more. */
static void fail_gone(struct jobs *jobs)
{
    struct rl_err err = {0}, why = {0};
    struct waiting waiting = {.jobs = jobs};
    bool more = true;
    rl_fail(&why, RL_E_DEVICE_GONE, "device", "The device of the job is no longer on this node.");
    while (more) {
        waiting.count = 0;
        if (store_job_list(jobs->store, &(struct store_job_filter){JOB_QUEUED, NULL, waiting.last, LIMIT_DEFAULT_ROWS},
                           look_at, &waiting, &more, &err) != 0)
            break;
        for (size_t i = 0; i < waiting.count; i++)
            if (jobs_fail_queued(jobs, waiting.gone[i], &why, &err) != 0)
                break;
    }
    if (err.code != RL_E_NONE)
        jobs_log("queued jobs of devices that are gone: %s", err.message);
}

static void on_ended(void *arg, const struct supervise_end *end)
{
    struct probe *probe = arg;
    struct jobs *jobs = probe->jobs;
    jobs->probe = NULL;
    if (end->complete) {
        take_found(probe);
        if (probe->count > 0)
            fail_gone(jobs);
    } else if (!jobs->stopping) {
        /* what is there is not known now: nothing counts as present, and jobs stay queued until it is */
        jobs->probe_error = end->error;
        for (size_t i = 0; i < jobs->device_count; i++)
            jobs->devices[i].present = false;
        jobs_log("looking for devices failed: %s: %s", rl_code_id(end->error.code), end->error.message);
    }
    if (end->stuck) {
        jobs->stuck_probe = probe->process; /* kept, so that it is reaped should it end after all */
        probe->process = NULL;
    }
    probe_free(probe);
    if (jobs->probe_error.code != RL_E_NONE && !jobs->stopping && jobs->stuck_probe == NULL)
        loop_timer_set(jobs->loop, jobs->probe_timer, LIMIT_PROBE_EVERY_MS);
    jobs_kick(jobs, 0);
    jobs_check_stopped(jobs);
}

/* ---- starting ---- */

static int start(struct jobs *jobs, struct rl_err *err)
{
    struct probe *probe = calloc(1, sizeof *probe);
    if (probe == NULL || (probe->arena = rl_arena_new(PROBE_ARENA_BYTES)) == NULL) {
        free(probe);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to look for devices.");
    }
    probe->jobs = jobs;
    struct wire_request request = {.probe = true};
    struct supervise_start how;
    struct supervise_events events = {.arg = probe, .line = on_line, .ended = on_ended};
    jobs_supervise_start(jobs, &request, &how);
    if (supervise_start(jobs->loop, &how, &events, &probe->process, err) != 0) {
        probe_free(probe);
        return -1;
    }
    jobs->probe = probe;
    return 0;
}

void probe_start(struct jobs *jobs)
{
    jobs->probe_wanted = jobs->probe_urgent = false;
    jobs->probed_ns = rl_monotonic_ns();
    if (jobs->stuck_probe != NULL)
        return; /* a second one beside it would hang as well */
    if (start(jobs, &jobs->probe_error) == 0)
        return;
    for (size_t i = 0; i < jobs->device_count; i++)
        jobs->devices[i].present = false;
    jobs_log("looking for devices failed: %s", jobs->probe_error.message);
    loop_timer_set(jobs->loop, jobs->probe_timer, LIMIT_PROBE_EVERY_MS);
}

void probe_stop(struct jobs *jobs)
{
    struct rl_err why = {0};
    rl_fail(&why, RL_E_INTERRUPTED, NULL, "The daemon was stopped.");
    supervise_stop(jobs->probe->process, &why);
}

void jobs_probe(struct jobs *jobs)
{
    int64_t since_ms = (rl_monotonic_ns() - jobs->probed_ns) / 1000000;
    if (jobs->stopping || jobs->probe != NULL || jobs->probe_wanted)
        return;
    if (jobs->probed_ns != 0 && since_ms < LIMIT_PROBE_EVERY_MS)
        return;
    jobs->probe_wanted = true;
    jobs_kick(jobs, 0);
}

void jobs_probe_timer(void *arg)
{
    jobs_probe(arg);
}
