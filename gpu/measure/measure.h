/* What the files of the program roofline-measure share. */
#ifndef GPU_MEASURE_MEASURE_H
#define GPU_MEASURE_MEASURE_H

#include <jansson.h>

#include "gpu/backend/backend.h"
#include "gpu/engine/engine.h"
#include "gpu/measure/cli.h"

#define MEASURE_PROGRAM     "roofline-measure"
#define MEASURE_EXIT_NOT_OK 1 /* measured, but refused or partial */

/* ---- gpu/measure/run.c ---- */
/* Opens the backend that the options name: a recording, or the GPU. */
int measure_open(const struct cli_options *options, struct gpu_backend **ret, struct rl_err *err);
/* Modes table, json and record: measures and prints. *ret_exit: 0 or MEASURE_EXIT_NOT_OK. */
int measure_run(const struct cli_options *options, int *ret_exit, struct rl_err *err);
/* Mode profile. */
int measure_profile(const struct cli_options *options, struct rl_err *err);
/* Prints value (stolen; NULL: RL_E_NO_MEMORY) as one line of JSON on standard output. Whether it could be written,
 * measure_flush says. */
int measure_print_json(json_t *value, struct rl_err *err);
/* Flushes standard output: RL_E_IO when something could not be written. */
int measure_flush(struct rl_err *err);

/* ---- gpu/measure/list.c ---- */
int list_catalogue(const struct cli_options *options, struct rl_err *err);

/* ---- gpu/measure/probe.c ---- */
/* Calls each for every device of the node (or of the recording): {"device","environment","counters":{"status","why"}},
 * borrowed. replay: a recording, or NULL for the node. */
int probe_devices(const char *replay, int (*each)(void *arg, const json_t *device, struct rl_err *err), void *arg,
                  struct rl_err *err);
/* Mode probe. */
int probe_print(const struct cli_options *options, struct rl_err *err);
/* Kills the child that a probe may be waiting for. Async-signal-safe. */
void probe_abandon(void);

/* ---- gpu/measure/serve.c ---- */
/* Mode protocol: serves one request on PROTOCOL_FD and returns the exit status. Standard error gets one line when there
 * is nobody to tell on the descriptor. */
int serve_protocol(const struct cli_options *options);

#endif
