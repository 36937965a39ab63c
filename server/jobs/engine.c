/* What the job engine is made of, below everything that it does: its devices, its jobs, its log, whether it has
 * stopped. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/jobs/queue.h"
#include "db/jobs/transitions.h"
#include "server/jobs/internal.h"

void jobs_log(const char *fmt, ...)
{
    char text[1400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(stderr, "rooflined: %s\n", text);
}

void jobs_kick(struct jobs *jobs, int64_t after_ms)
{
    loop_timer_set(jobs->loop, jobs->kick_timer, after_ms);
}

struct jobs_device *jobs_device_find(struct jobs *jobs, const char *id)
{
    for (size_t i = 0; i < jobs->device_count; i++)
        if (strcmp(jobs->devices[i].id, id) == 0)
            return &jobs->devices[i];
    return NULL;
}

bool jobs_device_ready(const struct jobs_device *device)
{
    return device->present && !device->quarantined;
}

bool jobs_any_busy(const struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->device_count; i++)
        if (jobs->devices[i].active != NULL)
            return true;
    return false;
}

void jobs_supervise_start(const struct jobs *jobs, const struct wire_request *request, struct supervise_start *ret)
{
    *ret = (struct supervise_start){.exec = jobs->config.measure_exec,
                                    .socket = jobs->config.measure_socket,
                                    .replay = jobs->config.replay,
                                    .request = request};
    supervise_limits_default(request->probe ? NULL : request->params.suite, jobs->config.job_timeout_ms, &ret->limits);
}

/* ---- jobs ---- */

void active_free(struct active *active)
{
    if (active == NULL)
        return;
    supervise_free(active->process);
    run_stored_fini(&active->stored);
    run_samples_free(&active->samples);
    rl_run_free(active->run);
    json_decref(active->device_line);
    free(active->transcript);
    free(active);
}

struct active *active_find(struct jobs *jobs, int64_t id)
{
    for (size_t i = 0; i < jobs->device_count; i++)
        if (jobs->devices[i].active != NULL && jobs->devices[i].active->id == id)
            return jobs->devices[i].active;
    for (struct active *a = jobs->unsaved; a != NULL; a = a->next)
        if (a->id == id)
            return a;
    return NULL;
}

int jobs_fail_queued(struct jobs *jobs, int64_t id, const struct rl_err *why, struct rl_err *err)
{
    struct store_transition transition = {
        .id = id, .from = JOB_QUEUED, .to = JOB_FAILED, .now_ms = rl_now_ms(), .error = why};
    if (store_job_transition(jobs->store, &transition, NULL, err) != 0)
        return -1;
    jobs_log("job %" PRId64 ": failed: %s", id, why->message);
    return 0;
}

/* ---- the end of the engine ---- */

bool jobs_is_spooled(void *arg, int64_t id, int attempt)
{
    const struct jobs *jobs = arg;
    for (const struct active *active = jobs->unsaved; active != NULL; active = active->next)
        if (active->id == id && active->attempt == attempt)
            return true;
    /* at start every run of the spool that is waited for has been read: a job without one gets an end */
    return jobs->stopping && spool_has(jobs->spool, id, attempt);
}

void jobs_check_stopped(struct jobs *jobs)
{
    if (!jobs->stopping || jobs->told || jobs->probe != NULL || jobs->unsaved != NULL || jobs_any_busy(jobs))
        return; /* of those that wait to be stored each has its last try first */
    jobs->told = true;
    struct rl_err err = {0};
    int64_t interrupted = 0, requeued = 0;
    /* no job of ours is left: what the store still holds as running is what was ended with us */
    if (store_recover(jobs->store, rl_now_ms(), jobs_is_spooled, jobs, &interrupted, &requeued, &err) != 0)
        jobs_log("interrupted jobs are settled at the next start: %s", err.message);
    else if (interrupted + requeued > 0)
        jobs_log("%" PRId64 " running jobs were interrupted, %" PRId64 " of them run again at the next start",
                 interrupted + requeued, requeued);
    jobs->stopped(jobs->stopped_arg);
}
