/* The end of a job whose process is gone: stored, whatever it was and however long that takes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "db/jobs/transitions.h"
#include "db/open.h"
#include "server/jobs/internal.h"

/* What is to be stored, from what is known now: a cancellation may come while the store is tried again. */
static void decide(const struct active *active, struct store_transition *ret)
{
    *ret = (struct store_transition){.id = active->id,
                                     .attempt = active->attempt,
                                     .from = JOB_RUNNING,
                                     .to = JOB_FAILED,
                                     .now_ms = rl_moment_since(&active->began, NULL),
                                     .error = &active->end.error,
                                     .transcript = active->transcript};
    static const struct rl_err cancelled = {.code = RL_E_CANCELLED, .message = "The job was cancelled while it ran."};
    if (active->end.stuck)
        return; /* a cancelled job's process is gone: this one is not */
    if (active->cancel_requested) {
        ret->to = JOB_CANCELLED;
        ret->error = &cancelled;
    } else if (active->end.complete) {
        ret->to = JOB_DONE;
        ret->error = NULL;
        ret->run = &active->stored.row;
    }
}

static void take_out(struct active *active)
{
    for (struct active **at = &active->jobs->unsaved; *at != NULL; at = &(*at)->next)
        if (*at == active) {
            *at = active->next;
            break;
        }
}

/* It goes to the next job. */
static void leave_device(struct active *active)
{
    if (active->device != NULL)
        active->device->active = NULL;
    active->device = NULL;
}

static void drop(struct active *active)
{
    struct jobs *jobs = active->jobs;
    leave_device(active);
    take_out(active);
    active_free(active);
    jobs_kick(jobs, 0);
    jobs_check_stopped(jobs);
}

/* ---- what the store does not take ---- */

#define REFUSED "refused" /* how a file ends that was set aside for that */

/* Whether it is the run that is wrong, so that the store would say the same again. */
static bool refused(enum rl_code code)
{
    return code == RL_E_INTERNAL || code == RL_E_MEASURE_PROTOCOL || code == RL_E_TOO_LARGE || code == RL_E_BAD_FIELD;
}

static int put_on_disk(struct active *active, struct rl_err *err)
{
    struct spool_run run = {.job = active->id,
                            .attempt = active->attempt,
                            .run = active->run,
                            .samples = active->samples,
                            .transcript = active->transcript};
    if (!active->spooled && spool_put(active->jobs->spool, &run, err) != 0)
        return -1;
    active->spooled = true;
    return 0;
}

static void keep_on_disk(struct active *active)
{
    struct rl_err err = {0};
    if (active->spooled)
        return;
    if (put_on_disk(active, &err) == 0) {
        jobs_log("job %" PRId64 ": its run is kept on disk until the database takes it", active->id);
    } else if (active->jobs->stopping) {
        jobs_log("job %" PRId64 ": its run is lost, it cannot be kept on disk: %s", active->id, err.message);
    } else if (active->tries == 1) {
        jobs_log("job %" PRId64 ": its run is kept in memory, it cannot be kept on disk: %s", active->id, err.message);
    }
}

/* Its file keeps its name until the job's end is stored: the next start would ask the store again. */
static void refuse(struct active *active, const struct rl_err *why)
{
    struct rl_err err = {0};
    active->end.complete = false;
    active->end.error = *why;
    rl_wrap(&active->end.error, "The run was measured but could not be stored");
    if (put_on_disk(active, &err) != 0)
        jobs_log("job %" PRId64 ": its run, which the database refuses, is lost, it cannot be kept on disk: %s",
                 active->id, err.message);
}

static int set_refused_aside(struct jobs *jobs, int64_t id, int attempt, struct rl_err *err)
{
    if (spool_set_aside(jobs->spool, id, attempt, REFUSED, err) != 0)
        return -1;
    jobs_log("job %" PRId64 ": its run, which the database refuses, stays in the spool: its file, of attempt %d, is "
             "set aside (.refused)",
             id, attempt);
    return 0;
}

/* The job's end is stored. */
static void leave_spool(struct active *active)
{
    struct jobs *jobs = active->jobs;
    struct rl_err err = {0};
    if (active->end.complete || active->cancel_requested)
        spool_remove(jobs->spool, active->id, active->attempt);
    else if (set_refused_aside(jobs, active->id, active->attempt, &err) != 0)
        jobs_log("job %" PRId64 ": the file of its run, which the database refuses, is set aside at the next start: %s",
                 active->id, err.message);
}

/* Behind those that wait longer. */
static void wait_again(struct active *active)
{
    struct active **at = &active->jobs->unsaved;
    leave_device(active);
    take_out(active);
    active->next = NULL;
    while (*at != NULL)
        at = &(*at)->next;
    *at = active;
}

static void save_failed(struct active *active, const struct rl_err *why)
{
    struct jobs *jobs = active->jobs;
    /* the last try of a daemon that stops is none: the next one tries again */
    bool of_the_run = !jobs->stopping && active->end.complete && !active->cancel_requested && refused(why->code);
    if (active->tries++ == 0 || of_the_run) /* the rest would say the same */
        jobs_log("job %" PRId64 ": its end could not be stored: %s", active->id, why->message);
    if (why->code == RL_E_CONFLICT || why->code == RL_E_NOT_FOUND) {
        spool_remove(jobs->spool, active->id, active->attempt); /* it has another end already */
        drop(active);
        return;
    }
    if (of_the_run) {
        refuse(active, why);
    } else {
        jobs->store_error = *why;
        if (active->end.complete)
            keep_on_disk(active);
    }
    if (jobs->stopping) {
        drop(active); /* store_recover leaves a spooled one alone and gives any other an end */
        return;
    }
    wait_again(active);
    jobs_kick(jobs, LIMIT_STORE_AGAIN_MS);
    loop_timer_set(jobs->loop, jobs->save_timer, of_the_run ? 0 : jobs->save_after_ms);
    jobs->save_after_ms *= 2;
    if (jobs->save_after_ms > LIMIT_STORE_AGAIN_MS)
        jobs->save_after_ms = LIMIT_STORE_AGAIN_MS;
}

/* ---- storing ---- */

static int save(struct active *active, struct rl_err *err)
{
    struct store_transition transition;
    if (active->end.complete && active->stored.document.deflated == NULL &&
        run_stored_make(active->run, &active->samples, &active->stored, err) != 0)
        return -1;
    decide(active, &transition);
    if (store_job_transition(active->jobs->store, &transition, NULL, err) != 0)
        return -1;
    jobs_log("job %" PRId64 ": %s%s%s", active->id, job_state_name(transition.to), transition.error != NULL ? ": " : "",
             transition.error != NULL ? transition.error->message : "");
    return 0;
}

void active_save(struct active *active)
{
    struct jobs *jobs = active->jobs;
    struct rl_err err = {0};
    if (jobs->stopping && !active->end.complete) {
        /* as after a kill: store_recover decides once everything is gone */
        drop(active);
        return;
    }
    if (save(active, &err) != 0) {
        save_failed(active, &err);
        return;
    }
    jobs->store_error = (struct rl_err){0};
    jobs->save_after_ms = LIMIT_STORE_TRY_MS;
    if (active->spooled)
        leave_spool(active);
    if (jobs->unsaved != NULL)
        loop_timer_set(jobs->loop, jobs->save_timer, 0);
    drop(active);
}

void jobs_save_timer(void *arg)
{
    struct jobs *jobs = arg;
    if (jobs->unsaved != NULL)
        active_save(jobs->unsaved); /* one at a time: each try may wait for a lock */
}

/* ---- after a restart ---- */

/* What becomes of a spooled run of which the store has this job: NULL: it is waited for; "": it is not needed; else
 * why it is set aside. */
static const char *fate_of(const struct spool_run *run, const struct store_job *job)
{
    if (job->state == JOB_RUNNING && job->attempt == run->attempt)
        return NULL;
    if (job->state == JOB_QUEUED || job->state == JOB_RUNNING || job->state == JOB_INTERRUPTED)
        return "unknown";
    if (job->state == JOB_FAILED && job->attempt == run->attempt)
        return REFUSED; /* by the daemon before, which came no further */
    return "";          /* stored before, or given up by its owner */
}

/* Whether the store still waits for a spooled run. An error says nothing about the run: its file stays. */
static int look_up(struct jobs *jobs, const struct spool_run *run, struct store_job *ret, bool *ret_wanted,
                   struct rl_err *err)
{
    struct rl_err why = {0};
    const char *fate = "unknown";
    *ret = (struct store_job){0};
    if (store_job_get(jobs->store, run->job, ret, &why) == 0) {
        fate = fate_of(run, ret);
    } else if (why.code != RL_E_NOT_FOUND) {
        rl_wrap(&why, "Whether a run in the spool is waited for cannot be seen");
        if (err != NULL)
            *err = why;
        return -1;
    }
    *ret_wanted = fate == NULL;
    if (fate == NULL)
        return 0;
    if (fate[0] == '\0') {
        spool_remove(jobs->spool, run->job, run->attempt);
        return 0;
    }
    if (strcmp(fate, REFUSED) == 0)
        return set_refused_aside(jobs, run->job, run->attempt, err);
    if (spool_set_aside(jobs->spool, run->job, run->attempt, fate, err) != 0)
        return -1;
    jobs_log("the spool has a run of job %" PRId64
             ", attempt %d, that this database does not wait for: its file is set aside (.%s)",
             run->job, run->attempt, fate);
    return 0;
}

static int take_spooled(void *arg, struct spool_run *run, struct rl_err *err)
{
    struct jobs *jobs = arg;
    struct store_job job;
    struct active *active = NULL;
    bool wanted = false;
    int rc = look_up(jobs, run, &job, &wanted, err);
    if (rc == 0 && wanted && (active = calloc(1, sizeof *active)) == NULL)
        rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the job engine.");
    if (active != NULL) {
        *active = (struct active){.jobs = jobs,
                                  .id = run->job,
                                  .attempt = run->attempt,
                                  .began = rl_moment_now(),
                                  .cancel_requested = job.cancel_requested,
                                  .run = run->run,
                                  .samples = run->samples,
                                  .end.complete = true,
                                  .transcript = run->transcript,
                                  .spooled = true};
        if (active->began.ms < job.started_at_ms) /* the clock was set back */
            active->began.ms = job.started_at_ms;
        jobs_log("job %" PRId64 ": its run, measured before the daemon's start, waits to be stored", active->id);
        wait_again(active);
    } else {
        spool_run_fini(run);
    }
    store_job_fini(&job);
    return rc;
}

static void on_damaged(void *arg, const char *name, const struct rl_err *why)
{
    (void)arg;
    jobs_log("the spool's file %s cannot be read and is set aside: %s", name, why->message);
}

int jobs_load_spool(struct jobs *jobs, struct rl_err *err)
{
    jobs->spool = spool_new(store_path(jobs->store));
    jobs->save_after_ms = LIMIT_STORE_TRY_MS;
    if (jobs->spool == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the job engine.");
    const struct spool_reader reader = {.each = take_spooled, .damaged = on_damaged, .arg = jobs};
    if (spool_read(jobs->spool, &reader, err) != 0)
        return -1;
    if (jobs->unsaved != NULL)
        loop_timer_set(jobs->loop, jobs->save_timer, 0);
    return 0;
}
