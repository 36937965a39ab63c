/* rooflinectl export: a selection of runs as one file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/ctl/ctl.h"

#define PATH_BYTES 8192

struct export_options {
    struct ctl_filters filters;
    const char *output;
    bool csv;
};

static const struct ctl_option export_table[] = {
    {"csv", NULL, offsetof(struct export_options, csv), "CSV, one line per kernel and cache state (default: JSON)"},
    {"output", "FILE", offsetof(struct export_options, output),
     "write to FILE, whole or not at all (default: standard output)"},
};

static int export_path(const struct ctl_call *call, struct rl_buf *path, struct rl_err *err)
{
    const struct export_options *options = call->values;
    rl_buf_printf(path, "/api/v1/runs.%s", options->csv ? "csv" : "json");
    ctl_query_filters(path, &options->filters);
    return path->failed ? rl_fail(err, RL_E_USAGE, NULL, "The filters are too long.") : 0;
}

static int to_stdout(struct ctl_http *http, const char *path, struct rl_err *err)
{
    uint64_t bytes;
    if (ctl_http_save(http, path, stdout, &bytes, err) == 0)
        return 0;
    if (bytes > 0)
        fputs(CTL_PROGRAM ": what was printed is not whole\n", stderr);
    return -1;
}

/* Where the whole file goes in the end: behind a link, the file that it names. NULL with err set. */
static char *target_of(const char *name, struct rl_err *err)
{
    struct stat status;
    char *target;
    if (stat(name, &status) != 0) {
        if (errno == ENOENT && (target = strdup(name)) != NULL)
            return target;
        rl_fail(err, RL_E_IO, "--output", "%s cannot be written: %s.", name, strerror(errno));
        return NULL;
    }
    if (!S_ISREG(status.st_mode)) {
        rl_fail(err, RL_E_USAGE, "--output", "%s is not a regular file: write to standard output and redirect it.",
                name);
        return NULL;
    }
    target = realpath(name, NULL);
    if (target == NULL)
        rl_fail(err, RL_E_IO, "--output", "%s cannot be written: %s.", name, strerror(errno));
    return target;
}

/* A new file beside the target, with the rights that a program's output has. */
static FILE *open_part(const char *target, char **ret_part, struct rl_err *err)
{
    mode_t mask = umask(0);
    umask(mask);
    size_t size = strlen(target) + sizeof ".XXXXXX";
    char *part = malloc(size);
    FILE *file = NULL;
    if (part == NULL) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for a file's name.");
        return NULL;
    }
    snprintf(part, size, "%s.XXXXXX", target);
    int fd = mkstemp(part);
    if (fd >= 0 && (fchmod(fd, 0666 & ~mask) != 0 || (file = fdopen(fd, "w")) == NULL)) {
        int number = errno;
        close(fd);
        unlink(part);
        errno = number;
    }
    if (file == NULL) {
        rl_fail(err, RL_E_IO, "--output", "%s cannot be written: %s.", target, strerror(errno));
        free(part);
        return NULL;
    }
    *ret_part = part;
    return file;
}

/* Everything on the disk before the name is the file's. */
static int finish(FILE *file, const char *part, const char *target, struct rl_err *err)
{
    bool good = fflush(file) == 0 && fsync(fileno(file)) == 0;
    int number = errno;
    good = fclose(file) == 0 && good;
    if (good && rename(part, target) == 0)
        return 0;
    return rl_fail(err, RL_E_IO, "--output", "%s cannot be written: %s.", target, strerror(good ? errno : number));
}

static int to_file(struct ctl_http *http, const char *path, const char *name, struct rl_err *err)
{
    char *target = target_of(name, err), *part = NULL;
    FILE *file = target != NULL ? open_part(target, &part, err) : NULL;
    uint64_t bytes = 0;
    int result = -1;
    if (file == NULL)
        goto out;
    ctl_catch_interrupt();
    result = ctl_http_save(http, path, file, &bytes, err);
    if (result == 0)
        result = finish(file, part, target, err);
    else
        fclose(file);
    if (result != 0)
        unlink(part);
    else
        fprintf(stderr, CTL_PROGRAM ": %llu bytes written to %s\n", (unsigned long long)bytes, name);
out:
    free(part);
    free(target);
    return result;
}

static int run_export(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct export_options *options = call->values;
    struct rl_buf path;
    rl_buf_init(&path, PATH_BYTES);
    int result = export_path(call, &path, err);
    if (result == 0 && options->csv && call->common->json)
        result = rl_fail(err, RL_E_USAGE, NULL, "Only one of --json and --csv can be exported.");
    if (result == 0 && options->output != NULL && options->output[0] == '\0')
        result = rl_fail(err, RL_E_USAGE, "--output", "--output is empty: it takes a file's name.");
    if (result == 0)
        result = options->output != NULL && strcmp(options->output, "-") != 0
                     ? to_file(http, path.data, options->output, err)
                     : to_stdout(http, path.data, err);
    rl_buf_free(&path);
    if (result != 0 && ctl_interrupted())
        return CTL_EXIT_INTERRUPT;
    return result;
}

const struct ctl_command ctl_command_export = {
    .name = "export",
    .what = "a selection of runs, whole, as JSON or CSV",
    .values_size = sizeof(struct export_options),
    .own = CTL_TABLE(export_table),
    .with = {ctl_filter_options, CTL_FILTER_COUNT},
    .run = run_export,
};
