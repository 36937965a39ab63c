/* roofline-measure: one measurement per process, by hand or for the daemon. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/measure/measure.h"

static int print_help(struct rl_err *err)
{
    struct rl_buf text;
    rl_buf_init(&text, 64 * 1024);
    int rc = cli_help(&text) == 0 ? 0 : rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the help");
    if (rc == 0)
        fputs(text.data, stdout);
    rl_buf_free(&text);
    return rc;
}

int main(int argc, char **argv)
{
    struct cli_options options;
    struct rl_err err = {.code = RL_E_NONE};
    int status = 0, rc = -1;
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error of the write */
    if (cli_parse(argc, argv, getenv, &options, &err) != 0)
        return rl_err_print(MEASURE_PROGRAM, &err);
    switch (options.mode) {
    case CLI_TABLE:
    case CLI_JSON:
    case CLI_RECORD:
        rc = measure_run(&options, &status, &err);
        break;
    case CLI_PROFILE:
        rc = measure_profile(&options, &err);
        break;
    case CLI_LIST:
        rc = list_catalogue(&options, &err);
        break;
    case CLI_PROBE:
        rc = probe_print(&options, &err);
        break;
    case CLI_PROTOCOL:
        return serve_protocol(&options);
    case CLI_HELP:
        rc = print_help(&err);
        break;
    case CLI_VERSION:
        printf("%s %s\n", MEASURE_PROGRAM, RL_BUILD_ID);
        rc = 0;
        break;
    case CLI_MODE_COUNT:
        break;
    }
    if (rc == 0)
        rc = measure_flush(&err);
    return rc == 0 ? status : rl_err_print(MEASURE_PROGRAM, &err);
}
