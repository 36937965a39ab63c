/* Measured runs that the store could not take yet, one file each in "DATABASE-spool" beside the database: written and
 * synced before its name is there, checked by length and SHA-256 when it is read. db/SCHEMA.md describes the files.
 * Touches no store. */
#ifndef SERVER_JOBS_SPOOL_H
#define SERVER_JOBS_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/base/err.h"
#include "server/runs/samples.h"

struct spool;

struct spool_run {
    int64_t job;
    int attempt;
    struct rl_run *run; /* accepted and derived */
    struct run_samples samples;
    char *transcript; /* UTF-8, or NULL */
};
void spool_run_fini(struct spool_run *run); /* accepts a zeroed one */

/* The folder is made by the first spool_put and removed with its last file. NULL when memory ran out. */
struct spool *spool_new(const char *database);
void spool_free(struct spool *spool); /* accepts NULL */
/* Durable when it returns 0. The run stays the caller's. Over LIMIT_SPOOL_RUNS or LIMIT_SPOOL_BYTES: RL_E_STORE_FULL;
 * else RL_E_STORE_FULL, _READONLY or _IO as the file system has it, and nothing is left. */
int spool_put(struct spool *spool, const struct spool_run *run, struct rl_err *err);
/* Whether it is there; true when that cannot be seen. */
bool spool_has(const struct spool *spool, int64_t job, int attempt);
/* The run is stored, or nobody wants it any more. */
void spool_remove(struct spool *spool, int64_t job, int attempt);
/* The file keeps its content under a name that ends in why ("damaged", "unknown", "refused") and is not read again.
 * Errors as spool_put. */
int spool_set_aside(struct spool *spool, int64_t job, int attempt, const char *why, struct rl_err *err);
struct spool_reader {
    /* Of every whole file, oldest job first: takes the run over. -1 with err set ends the reading. */
    int (*each)(void *arg, struct spool_run *run, struct rl_err *err);
    /* Of one that is not what was written: it has been set aside. */
    void (*damaged)(void *arg, const char *name, const struct rl_err *why);
    void *arg;
};
/* Leftovers of a killed spool_put are removed. -1 when a file could not be read though it may be whole (RL_E_NO_MEMORY,
 * RL_E_STORE_IO, RL_E_STORE_READONLY): it is left as it is. Only while no other thread uses Jansson. */
int spool_read(struct spool *spool, const struct spool_reader *reader, struct rl_err *err);

#endif
