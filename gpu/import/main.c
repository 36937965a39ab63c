/* roofline-import: one import by hand, or for the daemon. Needs no GPU and no daemon. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/base/time.h"
#include "gpu/import/import.h"
#include "gpu/import/record.h"
#include "gpu/record/json_text.h"
#include "gpu/record/print/text.h"
#include "gpu/suites/document.h"
#include "gpu/wire/import.h"

#define ENVIRONMENT_PREFIX "ROOFLINE_IMPORT_"
#define EXIT_NOT_OK        1

enum option_id {
    OPT_NCU, /* the files, in the order of enum import_kind */
    OPT_TIMINGS,
    OPT_RECORDING,
    OPT_RECORD,
    OPT_POWER,
    OPT_DEVICE,
    OPT_DRIVER,
    OPT_CUDA,
    OPT_DATE,
    OPT_SIZES,
    OPT_CACHE,
    OPT_TIMES,
    OPT_PARTIAL,
    OPT_SINCE,
    OPT_UNTIL,
    OPT_POWER_GPU,
    OPT_TABLE,
    OPT_JSON,
    OPT_PROTOCOL,
    OPT_HELP,
    OPT_VERSION,
    OPT_COUNT
};

static const struct option {
    const char *name, *value; /* value NULL: a switch */
    const char *defaults, *help;
} options[OPT_COUNT] = {
    [OPT_NCU] = {"ncu", "FILE", "none", "an Nsight Compute CSV, raw page or long"},
    [OPT_TIMINGS] =
        {"timings", "FILE", "none",
         "times: JSON Lines of roofline-measure --json, {\"kernel\", \"ms\"} a line, a PyTorch profiler trace, "
         "nvbench's JSON or CSV of nsys stats"},
    [OPT_RECORDING] = {"recording", "FILE", "none", "a recording made by roofline-measure --record; alone"},
    [OPT_RECORD] = {"record", "FILE", "none", "a published record (deploy/records/t4.json); alone"},
    [OPT_POWER] = {"power", "FILE", "none", "a power log of nvidia-smi --query-gpu or dmon, beside the others"},
    [OPT_DEVICE] = {"device", "NAME", "what the files say", "the GPU's name, or its UUID"},
    [OPT_DRIVER] = {"driver", "VERSION", "what the files say, or unknown", "the driver's version"},
    [OPT_CUDA] = {"cuda", "VERSION", "what the files say, or unknown", "the CUDA runtime's version"},
    [OPT_DATE] = {"date", "DAY", "what the files say, else today's, and says so",
                  "when it was measured: 2026-09-01, or a time"},
    [OPT_SIZES] = {"sizes", "WORD", "what the files say, or other",
                   "course, scaled or other: sizes of the catalogue's kernels"},
    [OPT_CACHE] = {"cache", "STATE", "cold",
                   "state of the profiler's launches: cold (--cache-control all), warm (none)"},
    [OPT_TIMES] = {"times", "STATE", "warm", "state of plain timings: warm (a loop), cold"},
    [OPT_PARTIAL] = {"partial", NULL, "off",
                     "leave kernels of the timings out that find no launch in the counter file"},
    [OPT_SINCE] = {"since", "TIME", "the log's beginning", "window of the power log, by its own clock"},
    [OPT_UNTIL] = {"until", "TIME", "the log's end", "window of the power log, by its own clock"},
    [OPT_POWER_GPU] = {"power-gpu", "ID", "the only one, or the device", "the log's GPU: index, UUID or bus id"},
    [OPT_TABLE] = {"table", NULL, "on unless --json is given", "print the table"},
    [OPT_JSON] = {"json", NULL, "off", "print the run's document"},
    [OPT_PROTOCOL] = {"protocol", NULL, "off",
                      "serve one import on descriptor 3 (gpu/import/IMPORT.md); for rooflined"},
    [OPT_HELP] = {"help", NULL, "off", "print this help"},
    [OPT_VERSION] = {"version", NULL, "off", "print the version"},
};

/* ---- command line ---- */

static int read_arguments(int argc, char *const argv[], const char *given[OPT_COUNT], struct rl_err *err)
{
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i], *equals = strchr(argument, '=');
        if (strncmp(argument, "--", 2) != 0 || argument[2] == '\0')
            return rl_fail(err, RL_E_USAGE, "", "'%.64s' is not an option: every option begins with two dashes",
                           argument);
        size_t length = equals != NULL ? (size_t)(equals - argument) - 2 : strlen(argument) - 2;
        int id = 0;
        while (id < OPT_COUNT &&
               (strlen(options[id].name) != length || memcmp(options[id].name, argument + 2, length) != 0))
            id++;
        if (id == OPT_COUNT)
            return rl_fail(err, RL_E_USAGE, "", "unknown option '%.64s'", argument);
        const char *value = "1";
        if (options[id].value != NULL) {
            value = equals != NULL ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
            if (value == NULL || *value == '\0' || (equals == NULL && strncmp(value, "--", 2) == 0))
                return rl_fail(err, RL_E_USAGE, options[id].name, "--%s needs a value: --%s %s", options[id].name,
                               options[id].name, options[id].value);
        } else if (equals != NULL) {
            return rl_fail(err, RL_E_USAGE, options[id].name, "--%s takes no value", options[id].name);
        }
        if (given[id] != NULL)
            return rl_fail(err, RL_E_USAGE, options[id].name, "--%s is given twice", options[id].name);
        given[id] = value;
    }
    return 0;
}

static void environment_name(int id, char name[64])
{
    size_t at = strlen(ENVIRONMENT_PREFIX);
    memcpy(name, ENVIRONMENT_PREFIX, at);
    for (const char *c = options[id].name; *c != '\0'; c++)
        name[at++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    name[at] = '\0';
}

static int read_environment(const char *given[OPT_COUNT], struct rl_err *err)
{
    for (int id = 0; id < OPT_COUNT; id++) {
        char name[64];
        environment_name(id, name);
        const char *value = getenv(name);
        if (given[id] != NULL || value == NULL || *value == '\0' ||
            (options[id].value == NULL && strcmp(value, "0") == 0))
            continue;
        if (options[id].value == NULL && strcmp(value, "1") != 0)
            return rl_fail(err, RL_E_USAGE, name, "%s is '%.64s': a switch is 1 or 0", name, value);
        given[id] = value;
    }
    return 0;
}

static int print_help(void)
{
    printf("Usage: %s [OPTION…]\n"
           "Makes one run of files that another measurement left, and prints it. Needs no GPU.\n\n",
           IMPORT_PROGRAM);
    for (int id = 0; id < OPT_COUNT; id++) {
        char name[64];
        environment_name(id, name);
        printf("  --%s%s%s\n      %s\n      default: %s; environment: %s%s\n", options[id].name,
               options[id].value != NULL ? " " : "", options[id].value != NULL ? options[id].value : "",
               options[id].help, options[id].defaults, name, options[id].value != NULL ? "" : "=1");
    }
    printf("\nAn option on the command line goes before its variable.\n"
           "Exit status: 0 imported; 1 imported, but partial (kernels without times); 64 usage or a wrong field; 65 a "
           "file that\n"
           "cannot be imported, a kernel without DRAM bytes included; 71 out of memory; 74 a file cannot be read, or "
           "output\n"
           "cannot be written; 77 a file that holds the profiler's permission error.\n");
    return 0;
}

/* ---- files ---- */

static int read_file(const char *path, struct import_file *file, struct rl_err *err)
{
    const char *slash = strrchr(path, '/');
    const char *kind = import_kind_name(file->kind);
    struct stat status;
    size_t len = 0;
    file->name = slash != NULL && slash[1] != '\0' ? slash + 1 : path;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        rl_fail(err, RL_E_IO, kind, "--%s %.200s cannot be read: %s", kind, path,
                fd < 0 ? strerror(errno) : "not a file");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    char *data = status.st_size <= (off_t)IMPORT_FILE_MAX ? malloc((size_t)status.st_size + 1) : NULL;
    while (data != NULL && len < (size_t)status.st_size) {
        ssize_t got = read(fd, data + len, (size_t)status.st_size - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    close(fd);
    if (data == NULL)
        return status.st_size > (off_t)IMPORT_FILE_MAX
                   ? rl_fail(err, RL_E_TOO_LARGE, kind, "%.200s has %lld bytes; at most %zu are read", file->name,
                             (long long)status.st_size, IMPORT_FILE_MAX)
                   : rl_fail(err, RL_E_NO_MEMORY, kind, "no memory for %.200s", file->name);
    file->data = data;
    file->len = len;
    return 0;
}

/* ---- output ---- */

static int print_json(const struct rl_run *run, struct rl_err *err)
{
    struct rl_buf text;
    json_t *document = rl_run_to_json(run);
    rl_buf_init(&text, IMPORT_DOCUMENT_MAX);
    int rc = document != NULL && rl_json_write(document, &text) == 0 && printf("%s\n", text.data) >= 0
                 ? 0
                 : rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the run's document");
    json_decref(document);
    rl_buf_free(&text);
    return rc;
}

static int print_tables(const struct rl_run *run, struct rl_err *err)
{
    bool any = false;
    for (enum rl_state state = 0; state < RL_ROW_STATES; state++) {
        bool has = false;
        for (size_t i = 0; i < run->row_count; i++)
            has = has || run->rows[i].state[state].present;
        /* a run without rows has its head alone */
        if (!has && !(state + 1 == RL_ROW_STATES && !any))
            continue;
        any = true;
        struct rl_buf table;
        rl_buf_init(&table, IMPORT_DOCUMENT_MAX);
        int rc = rl_table_write(run, has ? state : RL_WARM, &table);
        if (rc == 0)
            printf("%s\n", table.data);
        rl_buf_free(&table);
        if (rc != 0)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the table");
    }
    return 0;
}

static int import_and_print(const struct import_request *request, const char *const given[OPT_COUNT], int *status,
                            struct rl_err *err)
{
    struct import_result result;
    if (import_make(request, &result, err) != 0)
        return -1;
    int rc = given[OPT_JSON] != NULL ? print_json(result.run, err) : 0;
    if (rc == 0 && (given[OPT_TABLE] != NULL || given[OPT_JSON] == NULL))
        rc = print_tables(result.run, err);
    if (rc == 0 && result.run->outcome != RL_OK) {
        *status = EXIT_NOT_OK;
        for (size_t i = 0; i < result.run->outcome_reasons.count; i++)
            fprintf(stderr, "%s: the run is %s: %s\n", IMPORT_PROGRAM, rl_outcome_name(result.run->outcome),
                    result.run->outcome_reasons.items[i]);
    }
    import_result_fini(&result);
    return rc;
}

/* A record without a date is all of its entries, one after the other. */
static int import_entries(struct import_request *request, const char *const given[OPT_COUNT], int *status,
                          struct rl_err *err)
{
    char dates[16][IMPORT_DATE_MAX];
    size_t count = 0;
    if (request->file_count != 1 || request->files[0].kind != IMPORT_RECORD || request->fields.date != NULL)
        return import_and_print(request, given, status, err);
    if (import_record_dates(&request->files[0], dates, 16, &count, err) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        request->fields.date = dates[i];
        if (import_and_print(request, given, status, err) != 0)
            return -1;
    }
    return 0;
}

static int run_import(const char *const given[OPT_COUNT], int *status, struct rl_err *err)
{
    struct import_file files[IMPORT_KIND_COUNT] = {0};
    struct import_request request = {.files = files,
                                     .fields = {given[OPT_DEVICE], given[OPT_DRIVER], given[OPT_CUDA], given[OPT_DATE],
                                                given[OPT_SIZES], given[OPT_CACHE], given[OPT_TIMES],
                                                given[OPT_PARTIAL] != NULL ? "true" : NULL, given[OPT_SINCE],
                                                given[OPT_UNTIL], given[OPT_POWER_GPU]},
                                     .now_ms = rl_now_ms(),
                                     .by_hand = true};
    int rc = 0;
    for (int kind = 0; kind < IMPORT_KIND_COUNT && rc == 0; kind++) {
        if (given[OPT_NCU + kind] == NULL)
            continue;
        files[request.file_count].kind = (enum import_kind)kind;
        rc = read_file(given[OPT_NCU + kind], &files[request.file_count], err);
        request.file_count += rc == 0;
    }
    if (rc == 0 && request.file_count == 0)
        rc = rl_fail(err, RL_E_USAGE, "ncu",
                     "nothing to import: give --ncu, --timings or both, or --recording, or --record");
    if (rc == 0)
        rc = import_entries(&request, given, status, err);
    for (size_t i = 0; i < request.file_count; i++)
        free((char *)files[i].data);
    return rc;
}

int main(int argc, char **argv)
{
    const char *given[OPT_COUNT] = {NULL};
    struct rl_err err = {.code = RL_E_NONE};
    int status = 0, rc = 0;
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error of the write */
    if (read_arguments(argc, argv, given, &err) != 0 || read_environment(given, &err) != 0)
        return rl_err_print(IMPORT_PROGRAM, &err);
    if (given[OPT_HELP] != NULL)
        rc = print_help();
    else if (given[OPT_VERSION] != NULL)
        printf("%s %s\n", IMPORT_PROGRAM, RL_BUILD_ID);
    else if (given[OPT_PROTOCOL] != NULL)
        return import_serve();
    else
        rc = run_import(given, &status, &err);
    if (rc == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        rc = rl_fail(&err, RL_E_IO, NULL, "standard output could not be written: %s", strerror(errno));
    return rc == 0 ? status : rl_err_print(IMPORT_PROGRAM, &err);
}
