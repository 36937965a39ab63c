/* Migrations: older files are brought to the present version, whole or not at all. */
#include <sys/wait.h>

#include "db/check.h"
#include "db/file.h"
#include "db/migrate.h"
#include "db/runs/imports.h"
#include "db/runs/retention.h"
#include "db/runs/withdrawal.h"
#include "tests/unit/db/faulty_vfs.h"
#include "tests/unit/db/store_documents.h"
#include "tests/unit/db/store_fixture.h"

/* Beyond those that the store has; they count from there. */
#define NOW store_migration_count
static const struct store_migration more[] = {
    {"0002_add", "CREATE TABLE added (x INTEGER NOT NULL) STRICT; INSERT INTO added VALUES (7)"},
    {"0003_fill", "UPDATE added SET x = x + (SELECT count(*) FROM job)"},
    {"0004_bad", "UPDATE added SET x = 99; CREATE TABLE half (x); INSERT INTO nowhere VALUES (1)"},
    {"0004_dangling",
     "PRAGMA defer_foreign_keys = ON; INSERT INTO job_transcript (job_id, text) VALUES (12345, x'00')"},
};

#define PLAN_MAX 32
static struct store_plan plan_of(struct store_migration *list, int count)
{
    assert_true(NOW + (int)(sizeof more / sizeof *more) <= PLAN_MAX);
    memcpy(list, store_migrations, (size_t)NOW * sizeof *list);
    memcpy(list + NOW, more, sizeof more);
    return (struct store_plan){.migrations = list, .count = count, .big_bytes = 1000000000};
}

static int count_named(struct fixture *f, const char *part, char name[256])
{
    DIR *directory = opendir(f->directory);
    struct dirent *entry;
    int count = 0;

    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        if (strstr(entry->d_name, part) != NULL) {
            snprintf(name, 256, "%.60s/%.150s", f->directory, entry->d_name);
            count++;
        }
    }
    closedir(directory);
    return count;
}

static int count_backups(struct fixture *f, char name[256])
{
    return count_named(f, ".backup", name);
}

static void older_files_are_migrated_after_a_backup(void **state)
{
    struct fixture *f = *state;
    struct store_migration list[PLAN_MAX];
    struct store_plan plan = plan_of(list, NOW);
    char backup[256] = "";

    OK(f, store_open_with(f->path, &plan, &f->store, &f->err));
    OK(f, put_device(f, DEVICE_A, "NVIDIA H200", 0));
    add_job(f, DEVICE_A);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(count_backups(f, backup), 0);

    plan = plan_of(list, NOW + 2);
    plan.big_bytes = 4096; /* as if it were large */
    FAILS(f, RL_E_STORE_BIG_MIGRATION, store_open_with(f->path, &plan, &f->store, &f->err));
    assert_int_equal(count_backups(f, backup), 0);
    plan.big_bytes = INT64_MAX;
    OK(f, store_open_with(f->path, &plan, &f->store, &f->err));
    assert_int_equal(store_schema_version(f->store), NOW + 2);
    assert_int_equal(query_int(f, "SELECT x FROM added"), 8);
    assert_int_equal(query_int(f, "PRAGMA user_version"), NOW + 2);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(count_backups(f, backup), 1);
    FAILS(f, RL_E_STORE_NEWER, store_open(f->path, true, &f->store, &f->err));

    plan = plan_of(list, NOW); /* the backup is the old database, whole */
    OK(f, store_open_with(backup, &plan, &f->store, &f->err));
    assert_int_equal(store_job_count(f->store, JOB_QUEUED), 1);
    OK(f, store_check_integrity(f->store, &f->err));
}

static void touch(struct fixture *f, const char *suffix)
{
    char name[160];
    FILE *file;

    snprintf(name, sizeof name, "%s%s", f->path, suffix);
    file = fopen(name, "wx");
    assert_non_null(file);
    fclose(file);
}

/* Whether a migration that is killed at the n-th write of its backup came to its end before. */
static bool migrates_before_write(struct fixture *f, const struct store_plan *plan, int n)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        faulty_vfs_kill_at(".v", n);
        _exit(store_open_with(f->path, plan, &f->store, &f->err) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        assert_int_equal(WTERMSIG(status), SIGKILL);
    else
        assert_int_equal(WEXITSTATUS(status), 0);
    return !WIFSIGNALED(status);
}

static void a_killed_backup_is_none(void **state)
{
    struct fixture *f = *state;
    struct store_migration list[PLAN_MAX];
    struct store_plan plan = plan_of(list, NOW);
    char name[256] = "";
    int n = 1;

    assert_int_equal(faulty_vfs_install(), 0);
    OK(f, store_open_with(f->path, &plan, &f->store, &f->err));
    OK(f, put_device(f, DEVICE_A, "NVIDIA H200", 0));
    add_job(f, DEVICE_A);
    store_close(f->store);
    f->store = NULL;
    touch(f, ".v1-2026-11-29T20:03:35.123Z.partial-journal"); /* of an earlier one */
    touch(f, ".v1-2026-11-29T20:03:35.123Z.partial.mine");    /* of somebody else */
    touch(f, ".v1-yesterday-at-five-o-clock.partial");
    plan = plan_of(list, NOW + 1);
    for (; n < 1000 && !migrates_before_write(f, &plan, n); n++) {
        assert_int_equal(count_backups(f, name), 0);
        assert_int_equal(count_named(f, "T20:03:35.123Z.partial", name), 1);
        assert_in_range(count_named(f, ".partial", name), 3, 4); /* the latest, perhaps with its journal */
    }
    assert_in_range(n, 3, 999);
    assert_int_equal(count_named(f, ".partial", name), 2);
    assert_int_equal(count_backups(f, name), 1);
    plan = plan_of(list, NOW);
    OK(f, store_open_with(name, &plan, &f->store, &f->err));
    assert_int_equal(store_job_count(f->store, JOB_QUEUED), 1);
    OK(f, store_check_integrity(f->store, &f->err));
}

static void a_failed_migration_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct store_migration list[PLAN_MAX];
    struct store_plan plan = plan_of(list, NOW + 2);

    OK(f, store_open_with(f->path, &plan, &f->store, &f->err));
    store_close(f->store);
    f->store = NULL;
    plan = plan_of(list, NOW + 3);
    FAILS(f, RL_E_INTERNAL, store_open_with(f->path, &plan, &f->store, &f->err));
    assert_non_null(strstr(f->err.message, "0004_bad"));
    list[NOW + 2] = more[3];
    FAILS(f, RL_E_STORE_CORRUPT, store_open_with(f->path, &plan, &f->store, &f->err));
    plan = plan_of(list, NOW + 2);
    OK(f, store_open_with(f->path, &plan, &f->store, &f->err));
    assert_int_equal(query_int(f, "SELECT x FROM added"), 7);
    assert_int_equal(query_int(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'"), 0);
    assert_int_equal(query_int(f, "SELECT count(*) FROM job_transcript"), 0);
}

static void run_sql(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
}

/* An empty database of an older version. The store's statements are those of the present one: it cannot write it. */
static sqlite3 *make_version(struct fixture *f, int version)
{
    struct store raw = {.db = NULL};
    char numbers[96];

    assert_int_equal(sqlite3_open(f->path, &raw.db), SQLITE_OK);
    OK(f, store_add_functions(&raw, &f->err));
    for (int i = 0; i < version; i++)
        run_sql(raw.db, store_migrations[i].sql);
    snprintf(numbers, sizeof numbers, "PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION_ID,
             version);
    run_sql(raw.db, numbers);
    return raw.db;
}

/* A file of an older version with what these statements put into it. */
static void write_older(struct fixture *f, int version, const char *sql)
{
    sqlite3 *db = make_version(f, version);

    run_sql(db, sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Version 3 had one way of asking for an imported run; what it knew stays known. */
static void imports_of_version_3_are_known(void **state)
{
    struct fixture *f = *state;
    static const char sha256[] = "1111111111111111111111111111111111111111111111111111111111111111";
    char *owner = NULL;
    int64_t found;

    write_older(
        f, 3,
        "INSERT INTO device VALUES ('t4', 'T4', 0, 'imported', 'ok', NULL, 1, '{}', '{}');"
        "INSERT INTO series VALUES (1, 't4', '', '', 'import', 'other', 'imported', 'timed-only', 'ok', 1, 1);"
        "INSERT INTO run VALUES (1, 1, NULL, 1, 1, NULL, NULL, NULL, NULL, '{\"job\":\"an import has no job\"}');"
        "INSERT INTO run_document VALUES (1, 2, deflated('{}'));"
        "INSERT INTO run_fact (run_id, series_id, date_ms, day, eligible, flags, method_version, build) "
        "VALUES (1, 1, 1, 0, 1, 0, 1, '');"
        "INSERT INTO run_import VALUES ('1111111111111111111111111111111111111111111111111111111111111111', 1)");
    OK(f, store_open(f->path, false, &f->store, &f->err));
    OK(f, store_import_find(f->store, sha256, NULL, &found, &f->err));
    assert_int_equal(found, 1);
    FAILS(f, RL_E_CONFLICT,
          store_import_find(f->store, sha256, "v2", &found, &f->err)); /* it has no label, and gets none */
    OK(f, store_run_owner(f->store, 1, &owner, &f->err));
    assert_null(owner); /* nobody knows who imported it */
    OK(f, store_run_retire(f->store, 1, "asked for", T0, &f->err));
    OK(f, store_import_find(f->store, sha256, NULL, &found, &f->err));
    assert_int_equal(found, 0);
    OK(f, store_check_integrity(f->store, &f->err));
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, setup_directory, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(older_files_are_migrated_after_a_backup),
        IN_DIRECTORY(a_killed_backup_is_none),
        IN_DIRECTORY(a_failed_migration_changes_nothing),
        IN_DIRECTORY(imports_of_version_3_are_known),
    };

    return cmocka_run_group_tests_name("store: migrations", tests, NULL, NULL);
}
