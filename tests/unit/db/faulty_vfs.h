/* A VFS over the default one whose n-th write, sync or truncate fails: what a bad disk does to a store. */
#ifndef TESTS_UNIT_DB_FAULTY_VFS_H
#define TESTS_UNIT_DB_FAULTY_VFS_H

#include <sqlite3.h>
#include <stdbool.h>

/* Registers it as the default, once. */
int faulty_vfs_install(void);
/* The n-th call from now on (1: the next) returns code; with `lasting` every later one as well. n 0: none fails. */
void faulty_vfs_arm(int n, int code, bool lasting);
/* Whether the armed call has come. */
bool faulty_vfs_fired(void);
/* The n-th write from now on to a file with `part` in its name is this process's end, by SIGKILL. `part` is kept. */
void faulty_vfs_kill_at(const char *part, int n);

#endif
