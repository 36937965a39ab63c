/* Command line of roofline-measure: options from the arguments and the environment, checked as a whole before anything
 * is measured. Pure: prints nothing, opens nothing.
 */
#ifndef GPU_MEASURE_CLI_H
#define GPU_MEASURE_CLI_H

#include <stdbool.h>

#include "gpu/base/buf.h"
#include "gpu/base/err.h"
#include "gpu/record/run.h"
#include "kernels/unit/catalogue.h"
#include "kernels/unit/list.h"

enum cli_mode {
    CLI_TABLE,    /* the ten-row table on standard output; the default */
    CLI_JSON,     /* raw samples and the run's document as JSON Lines on standard output */
    CLI_RECORD,   /* --record without --table or --json: nothing but the recording */
    CLI_PROFILE,  /* each kernel launched exactly once for an outside profiler */
    CLI_LIST,     /* the catalogue */
    CLI_PROBE,    /* devices and what is possible on each */
    CLI_PROTOCOL, /* gpu/wire/PROTOCOL.md on descriptor 3 */
    CLI_HELP,
    CLI_VERSION,
    CLI_MODE_COUNT
};

/* Strings point into argv or the environment. */
struct cli_options {
    enum cli_mode mode;
    bool json;                    /* --list and --probe as JSON */
    const char *record, *replay;  /* file, or NULL */
    const char *device;           /* UUID, or NULL: the first in PCI order, or the recording's */
    bool sizes[RL_SIZES_COUNT];   /* at least one */
    bool state[RL_STATE_COUNT];   /* at least one */
    bool kernel[RL_KERNEL_COUNT]; /* by index in rl_units; at least one */
    bool counters, quiet, verbose;
};

/* Options of argv[1…], then of the environment (by lookup, as getenv) for those that argv does not give; the names are
 * in cli_help. Modes of argv displace modes of the environment. Fails with RL_E_USAGE, whose field names the option or
 * variable. */
int cli_parse(int argc, char *const argv[], char *(*lookup)(const char *name), struct cli_options *ret,
              struct rl_err *err);
/* The help text. 0, or -1 when out is full. */
int cli_help(struct rl_buf *out);

#endif
