/* Opening: whose file it is, the guard, the connection's settings, and files that are not as they should be. */
#include "db/check.h"
#include "db/core/connect.h"
#include "db/file.h"
#include "db/migrate.h"
#include "tests/unit/db/store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wbe");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static char *read_file(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rbe");
    char *data = malloc(1 << 20);

    assert_non_null(file);
    assert_non_null(data);
    *ret_size = fread(data, 1, (1 << 20) - 1, file);
    fclose(file);
    return data;
}

/* The open fails with this code and leaves the file as it was. */
static void refused_untouched(struct fixture *f, enum rl_code code)
{
    size_t before_size, after_size;
    char *before = read_file(f->path, &before_size), *after;

    FAILS(f, code, store_open(f->path, true, &f->store, &f->err));
    assert_null(f->store);
    assert_string_equal(f->err.field, "database");
    after = read_file(f->path, &after_size);
    assert_int_equal(after_size, before_size);
    assert_memory_equal(after, before, before_size);
    free(before);
    free(after);
}

static void a_new_file_is_set_up(void **state)
{
    struct fixture *f = *state;

    open_fixture(f);
    assert_int_equal(store_schema_version(f->store), store_migration_count);
    assert_int_equal(query_int(f, "PRAGMA application_id"), STORE_APPLICATION_ID);
    assert_int_equal(query_int(f, "PRAGMA user_version"), store_migration_count);
    assert_int_equal(query_int(f, "PRAGMA foreign_keys"), 1);
    assert_int_equal(query_int(f, "PRAGMA recursive_triggers"), 1);
    assert_int_equal(query_int(f, "PRAGMA synchronous"), 2);
    assert_int_equal(query_int(f, "PRAGMA trusted_schema"), 0);
    assert_int_equal(query_int(f, "PRAGMA mmap_size"), 0);
    assert_int_equal(query_int(f, "PRAGMA busy_timeout"), STORE_BUSY_MS);
    assert_int_equal(query_int(f, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    assert_int_not_equal(sqlite3_exec(f->store->db, "SELECT \"no such column\"", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_exec(f->store->db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    assert_int_not_equal(sqlite3_exec(f->store->db, "DELETE FROM sqlite_schema", NULL, NULL, NULL), SQLITE_OK);
    OK(f, store_check_writable(f->store, &f->err));
    OK(f, store_check_integrity(f->store, &f->err));
    assert_int_equal(query_int(f, "SELECT count(*) FROM meta WHERE key <> 'open'"), 1);
}

static void every_table_is_strict(void **state)
{
    struct fixture *f = *state;

    open_fixture(f);
    assert_int_equal(query_int(f, "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
                                  "AND name NOT LIKE 'sqlite_%' AND NOT strict"),
                     0);
    assert_true(query_int(f, "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND strict") >= 9);
    /* a CHECK passes on NULL: a column with a list of words must not be able to hold one */
    assert_int_equal(query_int(f, "SELECT count(*) FROM pragma_table_list AS l JOIN pragma_table_info(l.name) AS c "
                                  "WHERE l.strict AND c.name IN ('state', 'source', 'sizes', 'counters', 'outcome') "
                                  "AND NOT c.\"notnull\""),
                     0);
}

/* SCHEMA.md has a section for each table with a line for each column, and none for others. */
static void the_description_is_complete(void **state)
{
    struct fixture *f = *state;
    size_t size;
    char *text = read_file(SCHEMA_MD, &size);
    sqlite3_stmt *stmt = NULL;
    int columns = 0, lines = 0;

    text[size] = '\0';
    open_fixture(f);
    assert_int_equal(
        sqlite3_prepare_v2(f->store->db,
                           "SELECT l.name, c.name FROM pragma_table_list AS l JOIN pragma_table_info(l.name) AS c "
                           "WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite_%'",
                           -1, &stmt, NULL),
        SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(stmt, 0),
                   *column = (const char *)sqlite3_column_text(stmt, 1);
        char heading[80], line[80], *section, *next, *at;

        snprintf(heading, sizeof heading, "\n### `%s`\n", table);
        snprintf(line, sizeof line, "\n| `%s` | ", column);
        section = strstr(text, heading);
        if (section == NULL)
            fail_msg("SCHEMA.md has no section of %s", table);
        next = strstr(section + 1, "\n##");
        at = strstr(section, line);
        if (at == NULL || (next != NULL && at > next))
            fail_msg("SCHEMA.md does not describe %s.%s", table, column);
        columns++;
    }
    sqlite3_finalize(stmt);
    *strstr(text, "\n## Invariants") = '\0';
    for (char *at = strstr(text, "\n| `"); at != NULL; at = strstr(at + 1, "\n| `"))
        lines++;
    assert_int_equal(lines, columns);
    free(text);
}

static void data_survives_closing(void **state)
{
    struct fixture *f = *state;
    char salt[33];
    int64_t id;

    open_fixture(f);
    OK(f, put_device(f, DEVICE_A, "NVIDIA H200", 0));
    id = add_job(f, DEVICE_A);
    memcpy(salt, f->store->cursor_salt, sizeof salt);
    reopen_fixture(f);
    assert_int_equal(state_of(f, id), JOB_QUEUED);
    assert_int_equal(store_job_count(f->store, JOB_QUEUED), 1);
    assert_string_equal(f->store->cursor_salt, salt);
}

static void one_daemon_at_a_time(void **state)
{
    struct fixture *f = *state;
    struct store *second = NULL;
    char link[128], old[512];

    open_fixture(f);
    FAILS(f, RL_E_STORE_BUSY, store_open(f->path, false, &second, &f->err));
    snprintf(link, sizeof link, "%s/link.db", f->directory);
    assert_int_equal(symlink("roofline.db", link), 0);
    FAILS(f, RL_E_STORE_BUSY, store_open(link, false, &second, &f->err)); /* the same file by another name */
    assert_non_null(getcwd(old, sizeof old));
    assert_int_equal(chdir(f->directory), 0);
    FAILS(f, RL_E_STORE_BUSY, store_open("roofline.db", false, &second, &f->err));
    FAILS(f, RL_E_STORE_BUSY, store_open("./roofline.db", false, &second, &f->err));
    store_close(f->store);
    f->store = NULL;
    OK(f, store_open("roofline.db", false, &f->store, &f->err));
    assert_int_equal(chdir(old), 0);
    assert_null(second);
    unlink(link);
}

/* Each hard link would have a lock of its own beside it. */
static void a_file_of_two_names_is_refused(void **state)
{
    struct fixture *f = *state;
    struct store *second = NULL;
    char link_name[128];

    open_fixture(f);
    snprintf(link_name, sizeof link_name, "%s/link.db", f->directory);
    assert_int_equal(link(f->path, link_name), 0);
    FAILS(f, RL_E_STORE_OPEN, store_open(link_name, false, &second, &f->err));
    assert_non_null(strstr(f->err.message, "2 names"));
    store_close(f->store);
    f->store = NULL;
    FAILS(f, RL_E_STORE_OPEN, store_open(f->path, false, &f->store, &f->err));
    unlink(link_name);
    OK(f, store_open(f->path, false, &f->store, &f->err));
    assert_null(second);
}

static void a_killed_daemon_leaves_no_lock(void **state)
{
    struct fixture *f = *state;
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct store *store = NULL;

        byte = store_open(f->path, false, &store, NULL) == 0 ? 'y' : 'n';
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (int i = 0; i < 100; i++)
            usleep(100000);
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    FAILS(f, RL_E_STORE_BUSY, store_open(f->path, false, &f->store, &f->err));
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ready[0]);
    open_fixture(f);
}

static void a_foreign_lock_is_said_and_passes(void **state)
{
    struct fixture *f = *state;
    struct store_job_new new = new_job(DEVICE_A);
    sqlite3 *other = NULL;
    int64_t id = 0;

    open_fixture(f);
    OK(f, put_device(f, DEVICE_A, "NVIDIA H200", 0));
    assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
    /* a reader is no trouble, on either side */
    assert_int_equal(sqlite3_exec(other, "BEGIN; SELECT count(*) FROM job", NULL, NULL, NULL), SQLITE_OK);
    OK(f, store_job_add(f->store, &new, &id, NULL, &f->err));
    assert_int_equal(sqlite3_exec(other, "COMMIT; BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    FAILS(f, RL_E_STORE_BUSY, store_job_add(f->store, &new, &id, NULL, &f->err));
    FAILS(f, RL_E_STORE_BUSY, store_check_writable(f->store, &f->err));
    FAILS(f, RL_E_STORE_BUSY, step(f, id, JOB_QUEUED, JOB_RUNNING));
    assert_int_equal(state_of(f, id), JOB_QUEUED); /* reading goes on */
    assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    OK(f, store_check_writable(f->store, &f->err));
    OK(f, step(f, id, JOB_QUEUED, JOB_RUNNING));
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(sqlite3_exec(other, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", NULL, NULL, NULL),
                     SQLITE_OK);
    FAILS(f, RL_E_STORE_BUSY, store_open(f->path, false, &f->store, &f->err));
    sqlite3_close(other);
    open_fixture(f);
    OK(f, store_check_integrity(f->store, &f->err));
}

static void other_files_are_left_alone(void **state)
{
    struct fixture *f = *state;
    char path[160];
    static char garbage[20000];

    for (size_t i = 0; i < sizeof garbage; i++)
        garbage[i] = (char)(i * 7919 >> 3);
    write_file(f->path, garbage, sizeof garbage);
    refused_untouched(f, RL_E_STORE_OPEN);
    write_file(f->path, "hello", 5);
    refused_untouched(f, RL_E_STORE_OPEN);
    write_file(f->path, "SQLite format 3", 16);
    refused_untouched(f, RL_E_STORE_OPEN);
    unlink(f->path);
    run_sql(f->path, "CREATE TABLE accounts (x)"); /* some other program's */
    refused_untouched(f, RL_E_STORE_OPEN);
    unlink(f->path);
    run_sql(f->path, "PRAGMA application_id = 1234; PRAGMA user_version = 1; CREATE TABLE job (id)");
    refused_untouched(f, RL_E_STORE_OPEN);
    unlink(f->path);
    FAILS(f, RL_E_STORE_OPEN, store_open(f->directory, false, &f->store, &f->err));
    FAILS(f, RL_E_STORE_OPEN, store_open("", false, &f->store, &f->err));
    snprintf(path, sizeof path, "%s/none/roofline.db", f->directory);
    FAILS(f, RL_E_STORE_OPEN, store_open(path, false, &f->store, &f->err));
    assert_non_null(strstr(f->err.message, "directory cannot be opened: No such file or directory"));
    snprintf(path, sizeof path, "%s/none/", f->directory);
    FAILS(f, RL_E_STORE_OPEN, store_open(path, false, &f->store, &f->err));
    snprintf(path, sizeof path, "%s/dangling", f->directory);
    assert_int_equal(symlink("nowhere", path), 0);
    FAILS(f, RL_E_STORE_OPEN, store_open(path, false, &f->store, &f->err));
    write_file(f->path, "", 0); /* as mktemp leaves it: a new database */
    open_fixture(f);
}

static void newer_and_damaged_files_are_refused(void **state)
{
    struct fixture *f = *state;
    char sql[64], *data;
    size_t size;

    open_fixture(f);
    OK(f, put_device(f, DEVICE_A, "NVIDIA H200", 0));
    for (int i = 0; i < 50; i++)
        add_job(f, DEVICE_A);
    store_close(f->store);
    f->store = NULL;
    data = read_file(f->path, &size);

    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", store_migration_count + 1);
    run_sql(f->path, sql);
    refused_untouched(f, RL_E_STORE_NEWER);
    write_file(f->path, data, size);
    run_sql(f->path, "DROP TABLE run_sample");
    FAILS(f, RL_E_STORE_CORRUPT, store_open(f->path, false, &f->store, &f->err));
    write_file(f->path, data, size);
    run_sql(f->path, "DELETE FROM meta");
    FAILS(f, RL_E_STORE_CORRUPT, store_open(f->path, false, &f->store, &f->err));

    write_file(f->path, data, size / 2 / 4096 * 4096); /* cut in the middle */
    refused_untouched(f, RL_E_STORE_CORRUPT);
    write_file(f->path, data, 4000);
    FAILS(f, RL_E_STORE_CORRUPT, store_open(f->path, false, &f->store, &f->err));
    for (size_t at = 4096; at + 4096 <= size; at += 4096) { /* each page in turn overwritten */
        char *copy = malloc(size);
        enum rl_code code = RL_E_NONE;

        assert_non_null(copy);
        memcpy(copy, data, size);
        memset(copy + at, 0xa5, 4096);
        write_file(f->path, copy, size);
        free(copy);
        f->err = (struct rl_err){0};
        if (store_open(f->path, false, &f->store, &f->err) < 0 || store_check_integrity(f->store, &f->err) < 0)
            code = f->err.code;
        store_close(f->store);
        f->store = NULL;
        assert_int_equal(code, RL_E_STORE_CORRUPT);
    }
    write_file(f->path, data, size);
    open_fixture(f);
    OK(f, store_check_integrity(f->store, &f->err));
    free(data);
}

static int open_and_close(struct fixture *f, struct rl_err *err)
{
    struct store *store = NULL;
    int rc = store_open(f->path, false, &store, err);

    if (rc == 0)
        store_close(store);
    return rc;
}

static int check_the_file(struct fixture *f, struct rl_err *err)
{
    struct store_report report;

    return store_check_file(f->path, &report, err);
}

/* Somebody who may not do it all: a child that has given up being root, against real file modes. */
static enum rl_code code_as_nobody_of(struct fixture *f, int (*call)(struct fixture *f, struct rl_err *err))
{
    pid_t pid = fork();
    int status = 0;

    assert_true(pid >= 0);
    if (pid == 0) {
        struct rl_err err = {0};

        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(255);
        _exit(call(f, &err) == 0 ? 0 : (int)err.code);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return (enum rl_code)WEXITSTATUS(status);
}

static enum rl_code code_as_nobody(struct fixture *f)
{
    return code_as_nobody_of(f, open_and_close);
}

static void files_that_may_not_be_written(void **state)
{
    struct fixture *f = *state;
    char lock[128];

    open_fixture(f);
    store_close(f->store);
    f->store = NULL;
    snprintf(lock, sizeof lock, "%s-lock", f->path);
    assert_int_equal(chmod(f->directory, 0777), 0);
    assert_int_equal(chmod(f->path, 0666), 0);
    assert_int_equal(chmod(lock, 0666), 0);
    if (code_as_nobody(f) == 255)
        skip(); /* root that may not become anybody else */
    assert_int_equal(code_as_nobody(f), RL_E_NONE);
    assert_int_equal(chmod(f->path, 0444), 0);
    assert_int_equal(code_as_nobody(f), RL_E_STORE_READONLY);
    assert_int_equal(chmod(f->path, 0000), 0);
    assert_int_equal(code_as_nobody(f), RL_E_STORE_READONLY);
    assert_int_equal(chmod(f->path, 0666), 0);
    assert_int_equal(chmod(lock, 0444), 0);
    assert_int_equal(code_as_nobody(f), RL_E_STORE_READONLY);
    assert_int_equal(chmod(lock, 0666), 0);
    assert_int_equal(chmod(f->directory, 0555), 0); /* no room for the log beside the file */
    assert_int_equal(code_as_nobody(f), RL_E_STORE_READONLY);
    unlink(lock);
    assert_int_equal(code_as_nobody(f), RL_E_STORE_READONLY);
    assert_int_equal(chmod(f->directory, 0777), 0);
    open_fixture(f);
}

/* 0: fcntl does as ever. */
static int lock_fails_with;

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);

int __wrap_fcntl(int fd, int command, ...)
{
    va_list args;

    va_start(args, command);
    void *arg = va_arg(args, void *);
    va_end(args);
    if (command != F_OFD_SETLK || lock_fails_with == 0)
        return __real_fcntl(fd, command, arg);
    errno = lock_fails_with;
    return -1;
}

/* Only a lock file that is not there means that nobody holds the lock. */
static void a_check_does_without_no_lock_that_is_there(void **state)
{
    struct fixture *f = *state;
    struct store_report report;
    char lock[128];

    open_fixture(f);
    snprintf(lock, sizeof lock, "%s-lock", f->path);
    assert_int_equal(chmod(f->directory, 0755), 0);
    assert_int_equal(chmod(f->path, 0644), 0);
    assert_int_equal(chmod(lock, 0600), 0);
    if (geteuid() == 0) { /* the daemon's file, while it is open */
        enum rl_code code = code_as_nobody_of(f, check_the_file);

        if (code != 255)
            assert_int_equal(code, RL_E_STORE_OPEN);
    }
    FAILS(f, RL_E_STORE_BUSY, store_check_file(f->path, &report, &f->err));
    store_close(f->store);
    f->store = NULL;
    lock_fails_with = ENOLCK;
    FAILS(f, RL_E_STORE_IO, store_check_file(f->path, &report, &f->err));
    lock_fails_with = 0;
    assert_non_null(strstr(f->err.message, strerror(ENOLCK)));
    OK(f, store_check_file(f->path, &report, &f->err));
    unlink(lock);
    OK(f, store_check_file(f->path, &report, &f->err));
    assert_int_equal(access(lock, F_OK), -1); /* and none is made */
    assert_int_equal(symlink("elsewhere", lock), 0);
    FAILS(f, RL_E_STORE_OPEN, store_check_file(f->path, &report, &f->err));
    assert_non_null(strstr(f->err.message, strerror(ELOOP)));
    unlink(lock);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, setup_directory, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(a_new_file_is_set_up),           IN_DIRECTORY(every_table_is_strict),
        IN_DIRECTORY(the_description_is_complete),    IN_DIRECTORY(data_survives_closing),
        IN_DIRECTORY(one_daemon_at_a_time),           IN_DIRECTORY(a_file_of_two_names_is_refused),
        IN_DIRECTORY(a_killed_daemon_leaves_no_lock), IN_DIRECTORY(a_foreign_lock_is_said_and_passes),
        IN_DIRECTORY(other_files_are_left_alone),     IN_DIRECTORY(newer_and_damaged_files_are_refused),
        IN_DIRECTORY(files_that_may_not_be_written),  IN_DIRECTORY(a_check_does_without_no_lock_that_is_there),
    };

    return cmocka_run_group_tests_name("store: opening", tests, NULL, NULL);
}
