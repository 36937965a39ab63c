/* Locks that keep two measurements off one GPU, and two counting measurements off one node (the performance monitor is
 * one per node before Hopper). flock on a file of a well-known directory: it ends with the process, however that ends.
 */
#ifndef GPU_NODE_LOCK_H
#define GPU_NODE_LOCK_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/base/err.h"

#define GPU_LOCK_NODE "counting" /* name of the node-wide lock */

/* The directory of the locks into path[size]: the system's (/run/lock/rooflined) when it is there, made by root when it
 * is not; else the user's own ($XDG_RUNTIME_DIR/rooflined, made when missing), which excludes only that user's runs.
 * RL_E_FORBIDDEN when there is neither. */
int gpu_lock_directory(char *path, size_t size, struct rl_err *err);

/* Takes the lock `name` (a UUID, or GPU_LOCK_NODE) in directory, waiting at most wait_ms. A descriptor in *ret_fd,
 * owned by the caller. RL_E_DEVICE_BUSY: another process holds it. RL_E_FORBIDDEN: it cannot be opened, so nobody is
 * excluded; the caller goes on and says so. */
int gpu_lock_take(const char *directory, const char *name, int64_t wait_ms, int *ret_fd, struct rl_err *err);
void gpu_lock_release(int fd); /* accepts -1 */

#endif
