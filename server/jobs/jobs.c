/* The job engine: accepts, queues per GPU, starts, cancels, shuts down. See server/jobs/jobs.h; running jobs are in
 * server/jobs/run.c, probes in server/jobs/probe.c, answers in server/jobs/view.c. */
#include "server/jobs/jobs.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/jobs/queue.h"
#include "db/jobs/transitions.h"
#include "db/open.h"
#include "gpu/base/time.h"
#include "server/jobs/internal.h"

/* ---- the queue ---- */

/* Starts at most one job per device and call, so that a burst of failing starts does not hold the loop. */
static void on_kick(void *arg)
{
    struct jobs *jobs = arg;
    if (jobs->stopping || jobs->probe != NULL)
        return;
    if (jobs->probe_wanted && (jobs->probe_urgent || !jobs_any_busy(jobs))) {
        if (!jobs_any_busy(jobs))
            probe_start(jobs);
        return; /* an urgent one waits for the running jobs, and the next ones for it */
    }
    bool any = false;
    for (size_t i = 0; i < jobs->device_count; i++) {
        struct jobs_device *device = &jobs->devices[i];
        struct rl_err err = {0};
        bool started = false;
        if (device->active != NULL || !jobs_device_ready(device))
            continue;
        if (active_start(jobs, device, &started, &err) != 0) {
            if (jobs->store_error.code != err.code) /* tried again and again: said once */
                jobs_log("the next job of %s could not be started: %s", device->id, err.message);
            jobs->store_error = err;
            jobs_kick(jobs, LIMIT_STORE_AGAIN_MS);
            return;
        }
        any |= started;
    }
    if (any)
        jobs_kick(jobs, 0);
}

/* ---- the store's files ---- */

static void on_watch(void *arg)
{
    struct jobs *jobs = arg;
    struct rl_err err = {0};
    int rc = store_look_after(jobs->store, &err);
    if (rc > 0 || (rc < 0 && jobs->store_error.code != err.code)) /* looked at again and again: said once */
        jobs_log("the database: %s", err.message);
    if (rc < 0)
        jobs->store_error = err;
    loop_timer_set(jobs->loop, jobs->watch_timer, LIMIT_STORE_WATCH_MS);
}

/* ---- submitting ---- */

static void name_devices(const struct jobs *jobs, struct rl_buf *out)
{
    for (size_t i = 0; i < jobs->device_count; i++)
        if (jobs->devices[i].present)
            rl_buf_printf(out, "%s%s", out->len > 0 ? ", " : "", jobs->devices[i].id);
}

static int no_device(const struct jobs *jobs, struct rl_err *err)
{
    if (jobs->checked_at_ms == 0 && jobs->probe_error.code == RL_E_NONE)
        return rl_fail(err, RL_E_NO_DEVICE_READY, "device", "The daemon has just started and still looks for devices.");
    if (jobs->probe_error.code != RL_E_NONE)
        return rl_fail(err, RL_E_NO_DEVICE_READY, "device", "No device is ready: %s", jobs->probe_error.message);
    return rl_fail(err, RL_E_NO_DEVICE_READY, "device", "No device is ready: each one that there is, is quarantined.");
}

/* Fills in the device of a job: the one it names, else the first that is ready in PCI order. */
static int resolve_device(struct jobs *jobs, struct job_spec *spec, struct rl_err *err)
{
    if (spec->device[0] == '\0') {
        for (size_t i = 0; i < jobs->device_count; i++)
            if (jobs_device_ready(&jobs->devices[i])) {
                memcpy(spec->device, jobs->devices[i].id, sizeof spec->device);
                return 0;
            }
        return no_device(jobs, err);
    }
    const struct jobs_device *device = jobs_device_find(jobs, spec->device);
    if (device != NULL && device->quarantined)
        return rl_fail(err, RL_E_NO_DEVICE_READY, "device",
                       "%s is quarantined: a measuring process that may hold it could not be ended.", device->id);
    if (device != NULL && device->present)
        return 0;
    struct rl_buf known;
    rl_buf_init(&known, 600);
    name_devices(jobs, &known);
    int result = known.len == 0
                     ? no_device(jobs, err)
                     : rl_fail(err, RL_E_BAD_FIELD, "device",
                               "device is \"%s\", which is not here: the devices are %s.", spec->device, known.data);
    rl_buf_free(&known);
    return result;
}

int jobs_submit(struct jobs *jobs, const char *principal, const json_t *body, const char *idempotency_key,
                const char *body_sha256, int64_t *ret_id, bool *ret_replayed, struct rl_err *err)
{
    struct job_spec spec;
    struct rl_err device_error = {0};
    if (jobs->stopping)
        return rl_fail(err, RL_E_SHUTTING_DOWN, NULL, "The daemon is shutting down and takes no new jobs.");
    if (job_spec_read(body, &spec, err) != 0)
        return -1;
    bool resolved = resolve_device(jobs, &spec, &device_error) == 0;
    if (!resolved && idempotency_key == NULL)
        goto no_device;
    char *text = job_spec_text(&spec);
    if (text == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to store the job.");
    /* A job that was accepted under this key is answered even when no device is there now: no room for a new one then.
     */
    struct store_job_new job = {
        .principal = principal,
        .device = spec.device,
        .spec = text,
        .retry_on_interrupt = spec.retry_on_interrupt,
        .idempotency_key = idempotency_key,
        .body_sha256 = body_sha256,
        .now_ms = rl_now_ms(),
        .max_queued = resolved ? LIMIT_QUEUED_JOBS : 0,
        .max_open_per_principal = LIMIT_OPEN_JOBS_PER_PRINCIPAL,
    };
    struct rl_err store_error = {0};
    int result = store_job_add(jobs->store, &job, ret_id, ret_replayed, &store_error);
    free(text);
    if (result == 0) {
        jobs->store_error = (struct rl_err){0};
        jobs_kick(jobs, 0);
        return 0;
    }
    if (!resolved && (store_error.code == RL_E_QUEUE_FULL || store_error.code == RL_E_TOO_MANY_JOBS))
        goto no_device;
    if (err != NULL)
        *err = store_error;
    return -1;
no_device:
    jobs_probe(jobs); /* it may have come since */
    if (err != NULL)
        *err = device_error;
    return -1;
}

/* ---- cancelling ---- */

static int cancel_queued(struct jobs *jobs, int64_t id, struct rl_err *err)
{
    static const struct rl_err cancelled = {.code = RL_E_CANCELLED,
                                            .message = "The job was cancelled before it started."};
    struct store_transition transition = {
        .id = id, .from = JOB_QUEUED, .to = JOB_CANCELLED, .now_ms = rl_now_ms(), .error = &cancelled};
    return store_job_transition(jobs->store, &transition, NULL, err);
}

int jobs_cancel(struct jobs *jobs, const char *principal, bool may_any, int64_t id, struct rl_err *err)
{
    struct store_job job;
    if (store_job_get(jobs->store, id, &job, err) != 0)
        return -1;
    int result;
    struct active *active = active_find(jobs, id);
    if (!may_any && strcmp(principal, job.principal) != 0)
        result = rl_fail(err, RL_E_FORBIDDEN, NULL,
                         "Job %" PRId64 " is another principal's: its owner or an admin cancels it.", id);
    else if (job.state == JOB_QUEUED)
        result = cancel_queued(jobs, id, err);
    else if (job.state != JOB_RUNNING || active == NULL)
        result =
            rl_fail(err, RL_E_CONFLICT, NULL, "Job %" PRId64 " has ended: it is %s.", id, job_state_name(job.state));
    else
        result = store_job_request_cancel(jobs->store, id, err);
    if (result == 0 && active != NULL)
        active_cancel(active);
    store_job_fini(&job);
    return result;
}

/* ---- life ---- */

int jobs_new(const struct jobs_config *config, struct store *store, struct loop *loop, struct jobs **ret,
             struct rl_err *err)
{
    if ((config->measure_exec == NULL) == (config->measure_socket == NULL))
        return rl_fail(err, RL_E_USAGE, "--measure-exec",
                       "Exactly one of --measure-exec and --measure-socket is needed.");
    if (config->replay != NULL && config->measure_exec == NULL)
        return rl_fail(err, RL_E_USAGE, "--replay", "--replay belongs to --measure-exec.");
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (jobs == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the job engine.");
    /* Inherited as ignored, the kernel would reap our children before we know how they ended (wait(2)). */
    signal(SIGCHLD, SIG_DFL);
    jobs->config = *config;
    jobs->store = store;
    jobs->loop = loop;
    int64_t interrupted = 0, requeued = 0;
    if (loop_add_timer(loop, -1, on_kick, jobs, &jobs->kick_timer, err) != 0 ||
        loop_add_timer(loop, -1, jobs_save_timer, jobs, &jobs->save_timer, err) != 0 ||
        loop_add_timer(loop, LIMIT_STORE_WATCH_MS, on_watch, jobs, &jobs->watch_timer, err) != 0 ||
        loop_add_timer(loop, -1, jobs_probe_timer, jobs, &jobs->probe_timer, err) != 0 ||
        jobs_load_spool(jobs, err) != 0 ||
        store_recover(store, rl_now_ms(), jobs_is_spooled, jobs, &interrupted, &requeued, err) != 0) {
        jobs_free(jobs);
        return -1;
    }
    if (interrupted + requeued > 0)
        jobs_log("%" PRId64 " running jobs of the daemon before were interrupted, %" PRId64 " of them run again",
                 interrupted + requeued, requeued);
    jobs->probe_wanted = jobs->probe_urgent = true;
    jobs_kick(jobs, 0);
    *ret = jobs;
    return 0;
}

void jobs_shutdown(struct jobs *jobs, void (*done)(void *arg), void *arg)
{
    if (jobs->stopping)
        return;
    struct rl_err why = {0};
    rl_fail(&why, RL_E_INTERRUPTED, NULL, "The daemon was stopped.");
    jobs->stopping = true;
    jobs->stopped = done;
    jobs->stopped_arg = arg;
    loop_timer_set(jobs->loop, jobs->probe_timer, -1);
    if (jobs->probe != NULL)
        probe_stop(jobs);
    for (size_t i = 0; i < jobs->device_count; i++) {
        struct active *active = jobs->devices[i].active;
        if (active != NULL && active->process != NULL)
            supervise_stop(active->process, &why);
    }
    while (jobs->unsaved != NULL)
        active_save(jobs->unsaved); /* one last try: leaves the list */
    jobs_check_stopped(jobs);
}

void jobs_free(struct jobs *jobs)
{
    if (jobs == NULL)
        return;
    for (size_t i = 0; i < jobs->device_count; i++) {
        active_free(jobs->devices[i].active);
        supervise_free(jobs->devices[i].stuck);
    }
    while (jobs->unsaved != NULL) {
        struct active *next = jobs->unsaved->next;
        active_free(jobs->unsaved);
        jobs->unsaved = next;
    }
    probe_free(jobs->probe);
    supervise_free(jobs->stuck_probe);
    spool_free(jobs->spool);
    loop_remove(jobs->loop, jobs->kick_timer);
    loop_remove(jobs->loop, jobs->save_timer);
    loop_remove(jobs->loop, jobs->watch_timer);
    loop_remove(jobs->loop, jobs->probe_timer);
    free(jobs);
}
