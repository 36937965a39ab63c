/* What the job engine answers: jobs, transcripts, readiness. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/jobs/queue.h"
#include "db/open.h"
#include "gpu/base/time.h"
#include "server/jobs/internal.h"

/* Sets a member that may be null; a null one gets its reason. value is taken over. */
static int put(json_t *view, json_t *why, const char *name, json_t *value, const char *reason)
{
    if (value != NULL)
        return json_object_set_new(view, name, value);
    int failed = json_object_set_new(view, name, json_null());
    return failed | json_object_set_new(why, name, json_string(reason));
}

static json_t *time_or_null(int64_t ms)
{
    char text[RL_TIME_TEXT];
    if (ms == 0)
        return NULL;
    rl_time_format(ms, text);
    return json_string(text);
}

static bool ended(const struct store_job *job)
{
    return job->state != JOB_QUEUED && job->state != JOB_RUNNING;
}

static json_t *progress_of(const struct active *active)
{
    if (active != NULL && active->process == NULL && active->end.complete)
        return json_pack("{s:i, s:i, s:s, s:s}", "done", 1, "total", 1, "phase", "storing", "what",
                         active->spooled ? "kept on disk until the database takes it"
                                         : "kept in memory until the database takes it");
    if (active == NULL || !active->progress.known)
        return NULL;
    return json_pack("{s:I, s:I, s:s, s:s}", "done", (json_int_t)active->progress.done, "total",
                     (json_int_t)active->progress.total, "phase", active->progress.phase, "what",
                     active->progress.what);
}

static json_t *links_of(const struct store_job *job)
{
    char self[64], transcript[80], run[64];
    snprintf(self, sizeof self, "/api/v1/jobs/%" PRId64, job->id);
    snprintf(transcript, sizeof transcript, "%s/transcript", self);
    snprintf(run, sizeof run, "/api/v1/runs/%" PRId64, job->run_id);
    return json_pack("{s:s, s:s, s:s*}", "self", self, "transcript", transcript, "run", job->run_id != 0 ? run : NULL);
}

static json_t *run_id_of(const struct store_job *job)
{
    char text[24];
    if (job->run_id == 0)
        return NULL;
    snprintf(text, sizeof text, "%" PRId64, job->run_id);
    return json_string(text);
}

static int put_state(struct jobs *jobs, const struct store_job *job, json_t *view, json_t *why)
{
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, job->id);
    const char *not_yet = ended(job) ? "the job never ran" : "the job waits for its turn";
    const char *no_progress = ended(job)                 ? "the job has ended"
                              : job->state == JOB_QUEUED ? not_yet
                                                         : "nothing told yet";
    const char *no_run = ended(job) ? "the job ended without a run" : "the job has not ended";
    struct active *active = job->state == JOB_RUNNING ? active_find(jobs, job->id) : NULL;
    json_t *error = job->error != NULL ? json_loads(job->error, 0, NULL) : NULL;
    int failed = json_object_set_new(view, "id", json_string(id));
    failed |= json_object_set_new(view, "state", json_string(job_state_name(job->state)));
    failed |= json_object_set_new(view, "principal", json_string(job->principal));
    failed |= json_object_set_new(view, "device", json_string(job->device));
    failed |= put(view, why, "created_at", time_or_null(job->created_at_ms), "not stored");
    failed |= put(view, why, "started_at", time_or_null(job->started_at_ms), not_yet);
    failed |= put(view, why, "ended_at", time_or_null(job->ended_at_ms), "the job has not ended");
    failed |= json_object_set_new(view, "attempt", json_integer(job->attempt));
    failed |= json_object_set_new(view, "cancel_requested", json_boolean(job->cancel_requested));
    failed |= put(view, why, "progress", progress_of(active), no_progress);
    failed |= put(view, why, "error", error, ended(job) ? "the job ended without an error" : "no error so far");
    failed |= put(view, why, "run", run_id_of(job), no_run);
    failed |= put(view, why, "outcome", job->outcome != NULL ? json_string(job->outcome) : NULL, no_run);
    failed |= json_object_set_new(view, "links", links_of(job));
    return failed;
}

int jobs_view_stored(struct jobs *jobs, const struct store_job *job, json_t **ret, struct rl_err *err)
{
    json_t *view = json_object(), *why = json_object();
    json_t *spec = json_loads(job->spec, JSON_REJECT_DUPLICATES, NULL);
    int failed = put_state(jobs, job, view, why);
    const char *key;
    json_t *value;
    if (spec != NULL && json_object_get(spec, "label") == NULL) /* a job of a version before labels */
        failed |= json_object_set_new(spec, "label", json_null());
    json_object_foreach(spec, key, value)
    {
        if (json_object_get(view, key) == NULL)
            failed |= put(view, why, key, json_is_null(value) ? NULL : json_incref(value), "none was given");
    }
    failed |= json_object_set(view, "why", why);
    json_decref(why);
    if (spec == NULL || failed != 0) {
        json_decref(view);
        json_decref(spec);
        return spec == NULL
                   ? rl_fail(err, RL_E_STORE_CORRUPT, NULL, "The specification of job %" PRId64 " is no JSON.", job->id)
                   : rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to show job %" PRId64 ".", job->id);
    }
    json_decref(spec);
    *ret = view;
    return 0;
}

int jobs_view(struct jobs *jobs, int64_t id, json_t **ret, struct rl_err *err)
{
    struct store_job job;
    if (store_job_get(jobs->store, id, &job, err) != 0)
        return -1;
    int result = jobs_view_stored(jobs, &job, ret, err);
    store_job_fini(&job);
    return result;
}

int jobs_transcript(struct jobs *jobs, int64_t id, struct rl_buf *out, struct rl_err *err)
{
    const struct active *active = active_find(jobs, id);
    int failed;
    if (active == NULL)
        return store_transcript(jobs->store, id, out, err);
    if (active->process != NULL)
        failed = transcript_write(supervise_transcript(active->process), out);
    else
        failed = active->transcript != NULL ? rl_buf_puts(out, active->transcript) : 0;
    return failed != 0
               ? rl_fail(err, RL_E_TOO_LARGE, NULL, "The transcript of job %" PRId64 " does not fit an answer.", id)
               : 0;
}

/* ---- readiness ---- */

static int add_reason(json_t *reasons, const struct rl_err *err)
{
    return json_array_append_new(reasons, json_pack("{s:s, s:s, s:s}", "code", rl_code_id(err->code), "message",
                                                    err->message, "next_action", rl_code_next_action(err->code)));
}

static json_t *device_view(const struct jobs_device *device, int *failed)
{
    json_t *view = json_object(), *why = json_object();
    bool ok = device->counters_why[0] == '\0';
    json_t *counters =
        json_pack("{s:s, s:s?}", "status", device->counters_status, "why", ok ? NULL : device->counters_why);
    *failed |= json_object_set_new(view, "id", json_string(device->id));
    *failed |= json_object_set_new(view, "name", json_string(device->name));
    *failed |= put(view, why, "driver_version", device->driver[0] != '\0' ? json_string(device->driver) : NULL,
                   "the measuring program could not read it");
    *failed |= json_object_set_new(view, "source", json_string(rl_source_name(device->source)));
    *failed |= json_object_set_new(view, "counters", counters);
    *failed |= json_object_set_new(view, "quarantined", json_boolean(device->quarantined));
    *failed |= json_object_set_new(view, "busy", json_boolean(device->active != NULL));
    *failed |= json_object_set_new(view, "why", why);
    return view;
}

static json_t *devices_view(const struct jobs *jobs, json_t *reasons, size_t *ret_ready, int *failed)
{
    json_t *list = json_array();
    size_t ready = 0;
    for (size_t i = 0; i < jobs->device_count; i++) {
        const struct jobs_device *device = &jobs->devices[i];
        struct rl_err why = {0};
        ready += jobs_device_ready(device);
        if (device->quarantined)
            rl_fail(&why, RL_E_MEASURE_STUCK, NULL,
                    "%s is quarantined: a measuring process that may hold it could not be ended.", device->id);
        if (device->quarantined)
            *failed |= add_reason(reasons, &why);
        if (device->present || device->quarantined)
            *failed |= json_array_append_new(list, device_view(device, failed));
    }
    *ret_ready = ready;
    return list;
}

static int add_probe_reason(const struct jobs *jobs, json_t *reasons)
{
    struct rl_err why = {0};
    if (jobs->probe_error.code != RL_E_NONE)
        return add_reason(reasons, &jobs->probe_error);
    if (jobs->checked_at_ms != 0)
        return 0;
    rl_fail(&why, RL_E_NO_DEVICE_READY, NULL, "The daemon has just started and still looks for devices.");
    return add_reason(reasons, &why);
}

/* Measured, and not in the database: what an operator wants to know before anything is restarted. */
static int add_unsaved_reasons(const struct jobs *jobs, json_t *reasons)
{
    int failed = 0;
    for (const struct active *a = jobs->unsaved; a != NULL; a = a->next) {
        struct rl_err why = {0};
        enum rl_code code = jobs->store_error.code != RL_E_NONE ? jobs->store_error.code : RL_E_STORE_BUSY;
        if (!a->end.complete)
            continue;
        rl_fail(&why, code, "database",
                "The run of job %" PRId64 " is measured and kept %s until the database takes it.", a->id,
                a->spooled ? "on disk" : "in memory alone");
        failed |= add_reason(reasons, &why);
    }
    return failed;
}

static json_t *store_view(struct jobs *jobs, json_t *reasons, bool *ret_writable, int *failed)
{
    struct rl_err now = {0};
    json_t *why = json_object();
    bool writable = store_check_writable(jobs->store, &now) == 0;
    /* A write that has failed since the last one that did not counts as well: a small one may still pass on a full
     * disk. */
    const struct rl_err *bad = !writable ? &now : jobs->store_error.code != RL_E_NONE ? &jobs->store_error : NULL;
    if (bad != NULL)
        *failed |= add_reason(reasons, bad) | json_object_set_new(why, "writable", json_string(bad->message));
    *ret_writable = bad == NULL;
    return json_pack("{s:b, s:i, s:o}", "writable", bad == NULL, "schema_version", store_schema_version(jobs->store),
                     "why", why);
}

static json_t *measure_view(const struct jobs *jobs, int *failed)
{
    json_t *why = json_object(), *view = json_object();
    const char *never = "no measuring process has said hello yet";
    *failed |= json_object_set_new(view, "way", json_string(jobs->config.measure_socket != NULL ? "socket" : "exec"));
    *failed |= put(view, why, "backend", jobs->backend[0] != '\0' ? json_string(jobs->backend) : NULL, never);
    *failed |= put(view, why, "build", jobs->build[0] != '\0' ? json_string(jobs->build) : NULL, never);
    *failed |=
        put(view, why, "checked_at", time_or_null(jobs->checked_at_ms), "no look for devices has been completed yet");
    *failed |= json_object_set_new(view, "why", why);
    return view;
}

static json_t *queue_view(const struct jobs *jobs, int *failed)
{
    static const struct {
        const char *name;
        enum job_state state;
    } counts[] = {{"queued", JOB_QUEUED}, {"running", JOB_RUNNING}};
    json_t *why = json_object(), *view = json_object();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        int64_t count = store_job_count(jobs->store, counts[i].state);
        *failed |=
            put(view, why, counts[i].name, count >= 0 ? json_integer(count) : NULL, "the store did not count them");
    }
    *failed |= json_object_set_new(view, "limit", json_integer(LIMIT_QUEUED_JOBS));
    *failed |= json_object_set_new(view, "why", why);
    return view;
}

/* How old a complete look for devices may be when somebody asks whether the daemon is ready. Each look takes GPU time.
 */
#define STALE_MS (10 * 60000)

json_t *jobs_readiness(struct jobs *jobs, bool *ret_ready)
{
    int failed = 0;
    size_t ready_devices = 0;
    bool writable = false;
    json_t *reasons = json_array(), *view = json_object();
    json_t *devices = devices_view(jobs, reasons, &ready_devices, &failed);
    if (ready_devices == 0)
        failed |= add_probe_reason(jobs, reasons);
    json_t *store = store_view(jobs, reasons, &writable, &failed);
    failed |= add_unsaved_reasons(jobs, reasons);
    bool quarantine = false;
    for (size_t i = 0; i < jobs->device_count; i++)
        quarantine |= jobs->devices[i].quarantined;
    /* a quarantined device makes the answer red though others may measure */
    bool ready = ready_devices > 0 && writable && !quarantine && !jobs->stopping && jobs->unsaved == NULL;
    failed |= json_object_set_new(view, "ready", json_boolean(ready));
    failed |= json_object_set_new(view, "reasons", reasons);
    failed |= json_object_set_new(view, "devices", devices);
    failed |= json_object_set_new(view, "queue", queue_view(jobs, &failed));
    failed |= json_object_set_new(view, "store", store);
    failed |= json_object_set_new(view, "measure", measure_view(jobs, &failed));
    if (ready_devices == 0 || (rl_monotonic_ns() - jobs->checked_ns) / 1000000 > STALE_MS)
        jobs_probe(jobs);
    if (failed != 0) {
        json_decref(view);
        return NULL;
    }
    *ret_ready = ready;
    return view;
}
