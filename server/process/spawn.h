/* The ways in which a measuring process (deploy/OPERATING.md, "Two ways to start a measurement") and an importing one
 * come to be. */
#ifndef SERVER_PROCESS_SPAWN_H
#define SERVER_PROCESS_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

#include "gpu/base/err.h"

struct spawned {
    int channel; /* the protocol's stream; non-blocking */
    int output;  /* exec: its standard output and error; else -1 */
    int failed;  /* exec: for spawn_exec_error; else -1 */
    pid_t pid;   /* exec: also its process group; socket: 0, it comes with the first message */
    int pidfd;   /* exec: readable when it has exited; socket: -1 */
};

/* Starts `program --protocol [--replay replay]` in a process group of its own, with the stream at PROTOCOL_FD, nothing
 * on standard input, no other descriptor of ours, default signals, and our environment without what a service manager
 * said to us alone. RL_E_MEASURE_START. All descriptors are close-on-exec. Does not wait for the program to run: what
 * the system has against it beyond its path is known when the process has ended (spawn_exec_error). */
int spawn_exec(const char *program, const char *replay, struct spawned *ret, struct rl_err *err);
/* Starts `program --protocol` in the same way, as an importing process: beside the stream it gets the given files,
 * which stay the caller's, as descriptors IMPORT_FD + 1 and on. RL_E_IMPORT_FAILED. */
int spawn_import(const char *program, const int *files, size_t file_count, struct spawned *ret, struct rl_err *err);
/* Connects to a unix stream socket behind which something starts a measuring process per connection, and asks the
 * kernel for the sender's pid with every message. RL_E_MEASURE_START. */
int spawn_connect(const char *path, struct spawned *ret, struct rl_err *err);
/* Of a process that has exited: the errno for which the program could not be run, or 0. Once. */
int spawn_exec_error(const struct spawned *spawned);
/* A pidfd, or -1 with errno (ESRCH: no such process any more). */
int spawn_pidfd(pid_t pid);

#endif
