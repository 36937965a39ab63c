/* A running job: started and listened to until its process is gone. Its end: server/jobs/end.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/jobs/queue.h"
#include "db/jobs/transitions.h"
#include "gpu/base/escape.h"
#include "gpu/base/time.h"
#include "gpu/suites/document.h"
#include "server/jobs/accept.h"
#include "server/jobs/internal.h"
#include "server/runs/lend.h"

/* ---- lines ---- */

static int take_result(struct active *active, const json_t *body, struct rl_err *err)
{
    struct run_expected expected = {
        .spec = &active->spec, .replayed = active->replayed, .device_line = active->device_line};
    expected.now_ms = rl_moment_since(&active->began, &expected.clock_stepped);
    struct rl_run *run;
    if (run_accept(json_object_get(body, "run"), &expected, &active->samples, &run, err) != 0)
        return -1;
    rl_run_free(active->run);
    active->run = run;
    const char *driver = run->environment.driver_version.value;
    snprintf(active->driver, sizeof active->driver, "%s", driver != NULL ? driver : "");
    return 0;
}

static int take_device(struct active *active, const json_t *body, struct rl_err *err)
{
    const char *id = json_string_value(json_object_get(json_object_get(body, "device"), "id"));
    if (id == NULL || strcmp(id, active->spec.device) != 0)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, "device.id",
                       "The measuring process measures another device than the job's.");
    const char *driver = json_string_value(json_object_get(json_object_get(body, "environment"), "driver_version"));
    snprintf(active->driver, sizeof active->driver, "%s", driver != NULL ? driver : "");
    json_decref(active->device_line);
    active->device_line = json_deep_copy(body);
    return active->device_line != NULL ? 0 : rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for a device line.");
}

static void take_progress(struct active *active, const json_t *body)
{
    const char *phase = json_string_value(json_object_get(body, "phase"));
    const char *what = json_string_value(json_object_get(body, "what"));
    active->progress.known = true;
    active->progress.done = json_integer_value(json_object_get(body, "done"));
    active->progress.total = json_integer_value(json_object_get(body, "total"));
    snprintf(active->progress.phase, sizeof active->progress.phase, "%s", phase != NULL ? phase : "");
    struct rl_buf clean;
    rl_buf_init(&clean, sizeof active->progress.what - 1);
    if (what != NULL)
        text_escape(&clean, what, strlen(what), false);
    snprintf(active->progress.what, sizeof active->progress.what, "%s", clean.data != NULL ? clean.data : "");
    rl_buf_free(&clean);
}

static int on_line(void *arg, const struct wire_line *line, struct rl_err *err)
{
    struct active *active = arg;
    switch (line->kind) {
    case WIRE_HELLO:
        active->replayed = strcmp(supervise_backend(active->process), "replay") == 0;
        return 0;
    case WIRE_DEVICE:
        return take_device(active, line->body, err);
    case WIRE_PROGRESS:
        take_progress(active, line->body);
        return 0;
    case WIRE_SAMPLE:
        return run_samples_take(&active->samples, line->body, err);
    case WIRE_RESULT:
        return take_result(active, line->body, err);
    case WIRE_COUNTER:
    case WIRE_TELEMETRY:
    case WIRE_LOG:
    case WIRE_WARNING:
    case WIRE_ERROR:
        return 0; /* transcript and error are the supervisor's; counts and telemetry come whole in the result */
    }
    return 0;
}

/* ---- the end ---- */

/* What the device was when it was probed is no longer so: look again before the next job. */
static void check_driver(struct active *active)
{
    struct jobs_device *device = active->device;
    static const enum rl_code of_the_node[] = {RL_E_NO_DRIVER,   RL_E_OLD_DRIVER,      RL_E_NO_DEVICE,
                                               RL_E_DEVICE_GONE, RL_E_DRIVER_MISMATCH, RL_E_NO_CUDA_BUILD};
    bool changed =
        active->driver[0] != '\0' && device->driver[0] != '\0' && strcmp(active->driver, device->driver) != 0;
    for (size_t i = 0; i < sizeof of_the_node / sizeof of_the_node[0]; i++)
        changed |= !active->end.complete && active->end.error.code == of_the_node[i];
    if (changed)
        active->jobs->probe_wanted = active->jobs->probe_urgent = true;
}

static void keep_transcript(struct active *active)
{
    struct rl_buf text;
    /* escaped output may take four times its bytes; the lines are capped by the transcript itself */
    rl_buf_init(&text, LIMIT_TRANSCRIPT_BYTES + 4 * LIMIT_STDERR_BYTES + 1024);
    transcript_write(supervise_transcript(active->process), &text);
    active->transcript = rl_buf_take(&text);
    rl_buf_free(&text);
}

/* Roofs that were measured in other runs stand beside a run's own; one that cannot be lent any is stored without. */
static void lend(struct active *active)
{
    struct rl_err err = {0};
    if (run_lend(active->jobs->store, active->run, &err) != 0) {
        active->run->lent = (struct rl_lent){0};
        jobs_log("job %" PRId64 ": no roofs are lent to its run: %s", active->id, err.message);
    }
    if (active->run->lent.present)
        rl_run_derive(active->run);
}

static void on_ended(void *arg, const struct supervise_end *end)
{
    struct active *active = arg;
    struct jobs_device *device = active->device;
    active->end = *end;
    keep_transcript(active);
    if (end->stuck) {
        device->quarantined = true;
        device->stuck = active->process; /* watched on, so that it is reaped should it end after all */
        jobs_log("job %" PRId64 ": process %ld cannot be ended, device %s is quarantined until the daemon restarts",
                 active->id, (long)supervise_pid(active->process), device->id);
    } else {
        supervise_free(active->process);
    }
    active->process = NULL;
    if (end->complete && active->run == NULL) {
        rl_fail(&active->end.error, RL_E_MEASURE_PROTOCOL, "run", "The measuring process sent a result without a run.");
        active->end.complete = false;
    } else if (end->complete) {
        lend(active);
    }
    check_driver(active);
    active_save(active);
}

void active_cancel(struct active *active)
{
    struct rl_err why = {0};
    active->cancel_requested = true;
    rl_fail(&why, RL_E_CANCELLED, NULL, "The job was cancelled.");
    if (active->process != NULL)
        supervise_stop(active->process, &why);
    else
        loop_timer_set(active->jobs->loop, active->jobs->save_timer, 0);
}

/* ---- the start ---- */

static int start_process(struct active *active, struct rl_err *err)
{
    struct wire_request request;
    struct supervise_start start;
    struct supervise_events events = {.arg = active, .line = on_line, .ended = on_ended};
    job_spec_request(&active->spec, active->id, &request);
    jobs_supervise_start(active->jobs, &request, &start);
    return supervise_start(active->jobs->loop, &start, &events, &active->process, err);
}

/* Stores the job as running, then starts its process: a job that is measured is never stored as queued. */
static int begin(struct jobs *jobs, struct jobs_device *device, const struct store_job *job, struct rl_err *err)
{
    struct rl_err why = {0};
    struct active *active = calloc(1, sizeof *active);
    if (active == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to start a job.");
    *active = (struct active){
        .jobs = jobs, .device = device, .id = job->id, .attempt = job->attempt, .began = rl_moment_now()};
    if (job_spec_parse(job->spec, &active->spec, &why) != 0) {
        active_free(active);
        return jobs_fail_queued(jobs, job->id, &why, err);
    }
    struct store_transition transition = {
        .id = job->id, .from = JOB_QUEUED, .to = JOB_RUNNING, .now_ms = active->began.ms};
    if (store_job_transition(jobs->store, &transition, NULL, err) != 0) {
        active_free(active);
        return -1;
    }
    jobs->store_error = (struct rl_err){0};
    if (jobs->unsaved != NULL)
        loop_timer_set(jobs->loop, jobs->save_timer, 0); /* the store takes writes again */
    device->active = active;
    if (start_process(active, &why) != 0) {
        active->end.error = why;
        active_save(active);
    }
    return 0;
}

int active_start(struct jobs *jobs, struct jobs_device *device, bool *ret_started, struct rl_err *err)
{
    struct store_job job;
    struct rl_err why = {0};
    if (store_job_next(jobs->store, device->id, &job, &why) != 0) {
        if (why.code != RL_E_NOT_FOUND) {
            if (err != NULL)
                *err = why;
            return -1;
        }
        *ret_started = false;
        return 0;
    }
    int result = begin(jobs, device, &job, err);
    store_job_fini(&job);
    if (result == 0)
        *ret_started = true;
    return result;
}
