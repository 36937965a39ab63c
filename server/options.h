/* The daemon's options: from the command line, else from the environment (ROOFLINED_ and the option's name), else the
 * default. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/base/err.h"

#define OPTIONS_HOSTS_MAX 32u

struct options {
    char *listen, *listen_unix, *database, *measure_exec, *measure_socket, *import_exec, *replay, *static_dir,
        *token_file, *retire, *reason, *backup;
    char *allow_host[OPTIONS_HOSTS_MAX];
    size_t allow_host_count;
    bool open_loopback, loopback_needs_token, open_network, migrate, check, verbose, help, version;
    bool static_given; /* a missing folder is then an error */
    bool import_given; /* a missing program is then an error */
    int64_t request_timeout_s, idle_timeout_s;
    int64_t job_timeout_s; /* 0: not given */
};

/* RL_E_USAGE for unknown options, missing or bad values, and combinations that contradict each other. */
int options_parse(int argc, char **argv, struct options *ret, struct rl_err *err);
void options_free(struct options *options);
void options_help(void); /* on standard output */

#endif
