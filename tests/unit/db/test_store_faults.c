/* What a store does when the disk does not: every write failing in turn, a full disk, and kill -9 at any instant. */
#include "tests/unit/db/store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "db/check.h"
#include "tests/unit/db/faulty_vfs.h"

#define MAX_FAULTS 400

/* What is stored, whole: a done job has a run, a run its document and both samples. */
struct counts {
    int64_t jobs, done, runs, documents, samples;
};
static struct counts count(struct fixture *f)
{
    struct counts c = {
        query_int(f, "SELECT count(*) FROM job"),        query_int(f, "SELECT count(*) FROM job WHERE state = 'done'"),
        query_int(f, "SELECT count(*) FROM run"),        query_int(f, "SELECT count(*) FROM run_document"),
        query_int(f, "SELECT count(*) FROM run_sample"),
    };

    OK(f, store_check_integrity(f->store, &f->err));
    assert_int_equal(c.done, c.runs);
    assert_int_equal(c.documents, c.runs);
    assert_int_equal(c.samples, 2 * c.runs);
    return c;
}

static int operate_add(struct fixture *f, int64_t *id)
{
    struct store_job_new new = new_job(DEVICE_A);

    return store_job_add(f->store, &new, id, NULL, &f->err);
}

/* Ends the running job *id with a run of several pages. */
static int operate_finish(struct fixture *f, int64_t *id)
{
    static char document[40000];
    double times[256];
    struct store_samples samples[] = {{"vector_add", RL_WARM, 10, times, 256}, {"vector_add", RL_COLD, 1, times, 256}};
    struct rl_run *run = make_run(DEVICE_A, T0);
    struct store_run_new new = {.run = run, .samples = samples, .sample_count = 2};
    struct store_transition t = {
        .id = *id, .from = JOB_RUNNING, .to = JOB_DONE, .now_ms = T0, .run = &new, .transcript = "ok"};
    int rc;

    for (int i = 0; i < 256; i++)
        times[i] = 1e-5;
    memset(document, 'x', sizeof document);
    memcpy(document, "{\"x\":\"", 6);
    memcpy(document + sizeof document - 3, "\"}", 3);
    new.document = document_of(f, document);
    rc = store_job_transition(f->store, &t, NULL, &f->err);
    rl_run_free(run);
    return rc;
}

static bool is_disk_error(enum rl_code code, int injected)
{
    return code == ((injected & 0xff) == SQLITE_FULL ? RL_E_STORE_FULL : RL_E_STORE_IO);
}

static void each_write_fails_in_turn(struct fixture *f, int injected, bool lasting)
{
    int fired = 0;

    for (int n = 1; n < MAX_FAULTS; n++) {
        struct counts before, after;
        int64_t id = 0;
        bool add_hit, finish_hit;
        int rc;

        open_fixture(f);
        /* a checkpoint with each commit: its writes are among those that fail */
        assert_int_equal(sqlite3_exec(f->store->db, "PRAGMA wal_autocheckpoint = 1", NULL, NULL, NULL), SQLITE_OK);
        OK(f, put_device(f, DEVICE_A, "NVIDIA H200", 0));
        before = count(f);
        faulty_vfs_arm(n, injected, lasting);
        rc = operate_add(f, &id);
        add_hit = faulty_vfs_fired();
        if (rc < 0)
            assert_true(add_hit && is_disk_error(f->err.code, injected));
        assert_int_equal(store_job_count(f->store, JOB_QUEUED) + store_job_count(f->store, JOB_DONE),
                         query_int(f, "SELECT count(*) FROM job"));
        faulty_vfs_arm(0, 0, false);
        if (rc < 0)
            OK(f, operate_add(f, &id)); /* the fault gone, the same store works on */
        OK(f, step(f, id, JOB_QUEUED, JOB_RUNNING));
        faulty_vfs_arm(n, injected, lasting);
        rc = operate_finish(f, &id);
        finish_hit = faulty_vfs_fired();
        if (rc < 0) {
            assert_true(finish_hit && is_disk_error(f->err.code, injected));
            assert_int_equal(state_of(f, id), JOB_RUNNING);
            if (lasting)
                assert_int_equal(store_check_writable(f->store, &f->err), -1);
        }
        faulty_vfs_arm(0, 0, false);
        if (rc < 0) {
            OK(f, store_check_writable(f->store, &f->err));
            OK(f, operate_finish(f, &id));
        }
        reopen_fixture(f);
        after = count(f);
        assert_int_equal(after.jobs, before.jobs + 1);
        assert_int_equal(after.done, before.done + 1);
        store_close(f->store);
        f->store = NULL;
        fired += add_hit + finish_hit;
        if (!add_hit && !finish_hit) {
            assert_true(fired > 10);
            return;
        }
    }
    fail_msg("the operations never got through");
}

static void no_write_error_half_stores(void **state)
{
    each_write_fails_in_turn(*state, SQLITE_IOERR_WRITE, false);
    each_write_fails_in_turn(*state, SQLITE_IOERR_FSYNC, true);
    each_write_fails_in_turn(*state, SQLITE_FULL, false);
    each_write_fails_in_turn(*state, SQLITE_FULL, true);
}

static void no_write_error_half_creates(void **state)
{
    struct fixture *f = *state;
    char name[128];
    int failures = 0;

    for (int n = 1; n < MAX_FAULTS; n++) {
        int rc;

        faulty_vfs_arm(n, SQLITE_FULL, true);
        rc = store_open(f->path, false, &f->store, &f->err);
        if (rc < 0)
            assert_int_equal(f->err.code, RL_E_STORE_FULL);
        if (!faulty_vfs_fired()) {
            faulty_vfs_arm(0, 0, false);
            OK(f, rc);
            assert_true(failures > 3);
            return;
        }
        store_close(f->store); /* also fails to write */
        f->store = NULL;
        failures++;
        faulty_vfs_arm(0, 0, false);
        open_fixture(f); /* what was left is taken up */
        OK(f, store_check_integrity(f->store, &f->err));
        store_close(f->store);
        f->store = NULL;
        unlink(f->path);
        snprintf(name, sizeof name, "%s-wal", f->path);
        unlink(name);
    }
    fail_msg("the file was never created");
}

/* The kernel's own refusal to let a file grow: what a quota or a full disk looks like to SQLite. */
static void a_full_disk_is_said_and_passes(void **state)
{
    struct fixture *f = *state;
    struct rlimit old, small;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    struct counts counted;
    int64_t id = 0, running;
    char wal[128];
    struct stat status;
    int added = 0;

    open_fixture(f);
    OK(f, put_device(f, DEVICE_A, "NVIDIA H200", 0));
    running = add_job(f, DEVICE_A);
    OK(f, step(f, running, JOB_QUEUED, JOB_RUNNING));
    counted = count(f);
    snprintf(wal, sizeof wal, "%s-wal", f->path);
    assert_int_equal(stat(wal, &status), 0);
    assert_int_equal(sigaction(SIGXFSZ, &ignore, &before), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = (rlim_t)status.st_size + 20000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (; added < 100 && operate_add(f, &id) == 0; added++)
        ;
    assert_true(added < 100);
    assert_int_equal(f->err.code, RL_E_STORE_FULL);
    FAILS(f, RL_E_STORE_FULL, operate_finish(f, &running));
    FAILS(f, RL_E_STORE_FULL, store_check_writable(f->store, &f->err));
    assert_int_equal(state_of(f, running), JOB_RUNNING);
    assert_int_equal(count(f).jobs, counted.jobs + added);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(sigaction(SIGXFSZ, &before, NULL), 0);
    OK(f, store_check_writable(f->store, &f->err));
    OK(f, operate_finish(f, &running));
    reopen_fixture(f);
    assert_int_equal(count(f).jobs, counted.jobs + added);
    /* and SQLite's own limit, the other road to "full" */
    assert_int_equal(sqlite3_exec(f->store->db, "PRAGMA max_page_count = 1", NULL, NULL, NULL), SQLITE_OK);
    FAILS(f, RL_E_STORE_FULL, store_check_writable(f->store, &f->err));
    id = 0;
    for (added = 0; added < 100 && operate_add(f, &id) == 0; added++)
        ;
    assert_int_equal(f->err.code, RL_E_STORE_FULL);
    assert_int_equal(count(f).runs, 1);
}

static void a_try_to_write_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    int64_t pages;

    open_fixture(f);
    pages = query_int(f, "PRAGMA page_count");
    for (int i = 0; i < 20; i++)
        OK(f, store_check_writable(f->store, &f->err));
    assert_int_equal(query_int(f, "PRAGMA page_count"), pages);
    assert_int_equal(query_int(f, "SELECT count(*) FROM meta WHERE key <> 'open'"), 1);
    OK(f, store_check_integrity(f->store, &f->err));
}

/* A job that is acknowledged into a file without a name is lost with the process. */
static void a_lost_file_takes_no_writes(void **state)
{
    struct fixture *f = *state;
    char other[128];
    int64_t id = 0;
    FILE *file;

    open_fixture(f);
    OK(f, put_device(f, DEVICE_A, "NVIDIA H200", 0));
    OK(f, operate_add(f, &id));
    snprintf(other, sizeof other, "%s-elsewhere", f->path);
    assert_int_equal(rename(f->path, other), 0);
    FAILS(f, RL_E_STORE_IO, operate_add(f, &id));
    FAILS(f, RL_E_STORE_IO, step(f, 1, JOB_QUEUED, JOB_RUNNING));
    FAILS(f, RL_E_STORE_IO, store_check_writable(f->store, &f->err));
    file = fopen(f->path, "w"); /* another file of that name */
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    FAILS(f, RL_E_STORE_IO, operate_add(f, &id));
    assert_int_equal(state_of(f, 1), JOB_QUEUED); /* what was there can still be read */
    assert_int_equal(rename(other, f->path), 0);
    OK(f, store_check_writable(f->store, &f->err));
    OK(f, operate_add(f, &id));
}

/* ---- kill -9 ---- */

struct acknowledged {
    int64_t job, run;
};

/* Adds and finishes jobs for ever, telling each only after the store has answered. */
static void serve(struct fixture *f, int out)
{
    if (store_open(f->path, false, &f->store, NULL) < 0)
        _exit(2);
    for (;;) {
        struct acknowledged told = {0};
        int64_t id = 0;

        if (operate_add(f, &id) < 0)
            _exit(3);
        told.job = id;
        if (write(out, &told, sizeof told) != sizeof told)
            _exit(0);
        if (step(f, id, JOB_QUEUED, JOB_RUNNING) < 0 || operate_finish(f, &id) < 0)
            _exit(4);
        told.run = query_int(f, "SELECT max(id) FROM run");
        if (write(out, &told, sizeof told) != sizeof told)
            _exit(0);
    }
}

static void check_acknowledged(struct fixture *f, const struct acknowledged *told)
{
    struct store_job job;
    struct rl_buf out;

    OK(f, store_job_get(f->store, told->job, &job, &f->err));
    if (told->run != 0) {
        assert_int_equal(job.state, JOB_DONE);
        assert_int_equal(job.run_id, told->run);
        rl_buf_init(&out, STORE_DOCUMENT_MAX_BYTES);
        OK(f, store_run_document(f->store, told->run, &out, &f->err));
        assert_true(out.len > 40000);
        rl_buf_free(&out);
    }
    store_job_fini(&job);
}

/* Kills a child after_us after its start, or after its first acknowledgement. */
static int kill_once(struct fixture *f, bool wait_for_one, long after_us)
{
    struct timespec wait = {0, after_us * 1000};
    struct acknowledged told;
    int64_t interrupted = 0, requeued = 0;
    int ends[2], status = 0, count_told = 0;
    pid_t pid;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0); /* the child never waits for us */
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        serve(f, ends[1]);
    }
    close(ends[1]);
    if (wait_for_one)
        assert_int_equal(poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 30000), 1);
    nanosleep(&wait, NULL);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status)); /* not by an error of its own */
    open_fixture(f);
    while (read(ends[0], &told, sizeof told) == sizeof told) {
        check_acknowledged(f, &told);
        count_told++;
    }
    close(ends[0]);
    OK(f, store_recover(f->store, T0, NULL, NULL, &interrupted, &requeued, &f->err));
    assert_true(interrupted <= 1);
    assert_int_equal(store_job_count(f->store, JOB_RUNNING), 0);
    count(f);
    store_close(f->store);
    f->store = NULL;
    return count_told;
}

static void kill_nine_loses_nothing_acknowledged(void **state)
{
    struct fixture *f = *state;
    uint32_t seed = 50;
    int told = 0;

    open_fixture(f);
    OK(f, put_device(f, DEVICE_A, "NVIDIA H200", 0));
    store_close(f->store);
    f->store = NULL;
    for (int round = 0; round < 50; round++) {
        seed = seed * 1664525u + 1013904223u;
        told += kill_once(f, round % 2 == 1, (long)(seed >> 8) % 40000);
    }
    assert_true(told >= 25);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, setup_directory, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(no_write_error_half_stores),     IN_DIRECTORY(no_write_error_half_creates),
        IN_DIRECTORY(a_full_disk_is_said_and_passes), IN_DIRECTORY(a_try_to_write_leaves_nothing),
        IN_DIRECTORY(a_lost_file_takes_no_writes),    IN_DIRECTORY(kill_nine_loses_nothing_acknowledged),
    };

    if (faulty_vfs_install() < 0)
        return 1;
    return cmocka_run_group_tests_name("store: faults", tests, NULL, NULL);
}
