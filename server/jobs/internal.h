/* What the files of the job engine share; nobody else includes it. */
#ifndef SERVER_JOBS_INTERNAL_H
#define SERVER_JOBS_INTERNAL_H

#include "gpu/base/time.h"
#include "server/jobs/jobs.h"
#include "server/jobs/spec.h"
#include "server/jobs/spool.h"
#include "server/limits/limits.h"
#include "server/process/supervise.h"
#include "server/runs/samples.h"
#include "server/runs/stored.h"

struct jobs_device;

/* A job from the moment it is stored as running until its end is stored. */
struct active {
    struct active *next; /* in jobs->unsaved */
    struct jobs *jobs;
    struct jobs_device *device; /* NULL once it no longer holds the device */
    int64_t id;
    int attempt;
    struct rl_moment began; /* when it was stored as running */
    struct job_spec spec;
    struct supervise *process; /* NULL once gone */
    bool replayed;             /* as hello said */
    bool cancel_requested;
    struct { /* of the newest progress line */
        bool known;
        int64_t done, total;
        char phase[32], what[128];
    } progress;
    struct run_samples samples;
    struct rl_run *run;       /* accepted */
    char driver[64];          /* that the process saw; empty: unknown */
    json_t *device_line;      /* the body of its device line; NULL: none yet */
    struct supervise_end end; /* once process is NULL */
    struct run_stored stored; /* made of run when the process is gone */
    char *transcript;         /* then too */
    int tries;                /* to store the end, that failed */
    bool spooled;             /* the run is on disk beside the database */
};

struct jobs_device {
    char id[JOB_SPEC_DEVICE_BYTES], name[128], driver[64];
    char counters_status[64], counters_why[512]; /* why empty: known */
    enum rl_source source;
    bool present;     /* in the newest complete probe */
    bool quarantined; /* a process that may hold it could not be ended */
    struct active *active;
    struct supervise *stuck;
};

struct probe; /* server/jobs/probe.c */

struct jobs {
    struct jobs_config config;
    struct store *store;
    struct loop *loop;
    struct jobs_device devices[LIMIT_DEVICES]; /* present ones first, in PCI order */
    size_t device_count;
    struct probe *probe; /* running */
    struct supervise *stuck_probe;
    bool probe_wanted, probe_urgent; /* urgent: before the next job starts */
    int64_t probed_ns;               /* monotonic start of the newest probe; 0: none yet */
    int64_t checked_at_ms;           /* end of the newest complete probe; 0: none yet */
    int64_t checked_ns;              /* the same, monotonic */
    struct rl_err probe_error;       /* why the newest probe told of no device; RL_E_NONE: it did */
    char backend[16], build[64];     /* of the newest hello */
    struct rl_err store_error;       /* of the newest write that failed; RL_E_NONE: none has since */
    struct spool *spool;
    struct active *unsaved; /* ended, end not stored yet, device free; the oldest first */
    int64_t save_after_ms;  /* between tries to store the first of them */
    struct loop_source *kick_timer, *probe_timer, *save_timer, *watch_timer;
    bool stopping, told; /* told: stopped() was called */
    void (*stopped)(void *arg);
    void *stopped_arg;
};

/* server/jobs/engine.c */
/* One line on standard error, which the service manager keeps. */
void jobs_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Has the queue looked at from the loop, after after_ms. */
void jobs_kick(struct jobs *jobs, int64_t after_ms);
struct jobs_device *jobs_device_find(struct jobs *jobs, const char *id); /* NULL when unknown */
bool jobs_device_ready(const struct jobs_device *device);
bool jobs_any_busy(const struct jobs *jobs); /* a job runs on any device */
/* Everything that the supervisor needs but the request. */
void jobs_supervise_start(const struct jobs *jobs, const struct wire_request *request, struct supervise_start *ret);
struct active *active_find(struct jobs *jobs, int64_t id); /* NULL when it is not one of ours now */
void active_free(struct active *active);
/* queued → failed. */
int jobs_fail_queued(struct jobs *jobs, int64_t id, const struct rl_err *why, struct rl_err *err);
/* For store_recover: the run of this job is in the spool. arg: jobs. */
bool jobs_is_spooled(void *arg, int64_t id, int attempt);
/* Called when a process is gone or a job's end is stored: tells once, of an engine that stops, that nothing is left. */
void jobs_check_stopped(struct jobs *jobs);

/* server/jobs/run.c */
/* Starts the oldest queued job of the device if there is one; *ret_started false: nothing to start. A store that cannot
 * be written leaves the job queued and returns -1. */
int active_start(struct jobs *jobs, struct jobs_device *device, bool *ret_started, struct rl_err *err);
/* Ends its process, or has the cancellation stored when it is gone already. */
void active_cancel(struct active *active);

/* server/jobs/end.c */
/* Stores the end of a job whose process is gone. What the store does not take now waits in jobs->unsaved, a measured
 * run in the spool too, and is tried again until it does. A run that the database refuses stays in the spool, set
 * aside, and its job fails. Frees active when it is done with it. */
void active_save(struct active *active);
void jobs_save_timer(void *jobs);
/* At start, before store_recover: what the spool holds waits to be stored. -1 when a run there may be whole and could
 * not be read, or the store not be asked about it: nothing is lost then, and the daemon does not start. */
int jobs_load_spool(struct jobs *jobs, struct rl_err *err);

/* server/jobs/probe.c */
void probe_start(struct jobs *jobs);
void probe_stop(struct jobs *jobs);   /* begins to end a running one */
void probe_free(struct probe *probe); /* accepts NULL */
void jobs_probe_timer(void *jobs);

#endif
