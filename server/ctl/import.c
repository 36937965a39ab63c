/* rooflinectl import: sends files that another measurement left, says what became of them, shows the run. */
#include <stdio.h>
#include <string.h>

#include "server/ctl/ctl.h"

#define ANSWER_MAX (64u * 1024u * 1024u)

/* What was summed, derived or left out stands under the table. */
static void print_said(const json_t *run, bool existing)
{
    const json_t *item;
    size_t i;
    printf("run %s: %s%s\n\n", ctl_member(run, "id"), ctl_member(run, "outcome"),
           existing ? ", which was there before: these files have been imported, with fields that come to the same"
                    : ", imported");
    json_array_foreach(json_object_get(run, "outcome_reasons"), i, item)
        fprintf(stderr, CTL_PROGRAM ": the run is %s: %s\n", ctl_member(run, "outcome"), ctl_text(item));
}

/* The document does not say it, and who imports the same again should know. */
static int say_withdrawn(struct ctl_http *http, const char *run, struct rl_err *err)
{
    char path[64];
    json_t *answer = NULL;
    snprintf(path, sizeof path, "/api/v1/runs/%.24s/withdraw", run);
    if (ctl_http_get_json(http, path, &answer, err) != 0)
        return -1;
    const json_t *log = json_object_get(answer, "log");
    if (json_is_true(json_object_get(answer, "withdrawn")))
        fprintf(stderr, CTL_PROGRAM ": the run is withdrawn: %s\n",
                ctl_member(json_array_get(log, json_array_size(log) - 1), "reason"));
    json_decref(answer);
    return 0;
}

static int show(struct ctl_http *http, const struct ctl_call *call, const json_t *run, bool existing,
                const struct rl_buf *answer, struct rl_err *err)
{
    const char *id = json_string_value(json_object_get(run, "id"));
    const char *outcome = json_string_value(json_object_get(run, "outcome"));
    if (id == NULL || outcome == NULL)
        return rl_fail(err, RL_E_UNREACHABLE, NULL, "The answer is no run: is it rooflined?");
    if (existing && say_withdrawn(http, id, err) != 0)
        return -1;
    if (call->common->json && ctl_print(answer, err) != 0)
        return -1;
    if (!call->common->json) {
        print_said(run, existing);
        if (ctl_show_tables(http, id, NULL, err) < 0)
            return -1;
    }
    return strcmp(outcome, "ok") == 0 ? 0 : CTL_EXIT_NOT_OK;
}

struct import_options {
    const char *ncu, *ncu_exec, *timings, *power, *power_gpu, *recording, *record, *date, *times, *sizes, *cache,
        *device, *label, *driver, *cuda, *since, *until;
    bool partial;
};

static const struct ctl_option import_table[] = {
    {"ncu", "FILE", offsetof(struct import_options, ncu),
     "an Nsight Compute CSV, raw page or long; or its report (.ncu-rep), which a local ncu exports"},
    {"ncu-exec", "PATH", offsetof(struct import_options, ncu_exec),
     "the ncu that exports a report (default: ncu in PATH)"},
    {"timings", "FILE", offsetof(struct import_options, timings),
     "times: JSON Lines of roofline-measure --json, {\"kernel\", \"ms\"} a line, a PyTorch profiler trace, nvbench's "
     "JSON or CSV of nsys stats"},
    {"power", "FILE", offsetof(struct import_options, power),
     "a power log of nvidia-smi --query-gpu or dmon, beside the others"},
    {"partial", NULL, offsetof(struct import_options, partial),
     "leave kernels of the timings out that find no launch in the counter file"},
    {"power-gpu", "ID", offsetof(struct import_options, power_gpu),
     "of a power log of several GPUs: index, UUID or bus id"},
    {"recording", "FILE", offsetof(struct import_options, recording),
     "a recording made by roofline-measure --record; alone"},
    {"record", "FILE", offsetof(struct import_options, record),
     "a published record (deploy/records/t4.json), --date chooses the entry; alone"},
    {"date", "DAY", offsetof(struct import_options, date),
     "when it was measured: a day (UTC) or a time, where no file tells it"},
    {"times", "STATE", offsetof(struct import_options, times), "plain timings: warm (a loop; the default) or cold"},
    {"sizes", "SIZES", offsetof(struct import_options, sizes),
     "of kernels that have the suite's names: course, scaled or other (default); of a recording: which of two"},
    {"cache", "LIST", offsetof(struct import_options, cache),
     "state of the profiler's launches: cold (--cache-control all; the default) or warm"},
    {"device", "ID", offsetof(struct import_options, device), "the GPU's name or UUID, where no file tells it"},
    {"label", "LABEL", offsetof(struct import_options, label),
     "what the run is for, as a commit or a ticket: up to 64 characters"},
    {"driver", "VERSION", offsetof(struct import_options, driver),
     "the driver that it was measured with, where no file tells it"},
    {"cuda", "VERSION", offsetof(struct import_options, cuda),
     "the CUDA version that it was measured with, where no file tells it"},
    {"since", "TIME", offsetof(struct import_options, since),
     "the power window's beginning by the log's own clock, as \"2026-09-01 12:00:00\" (default: the log's)"},
    {"until", "TIME", offsetof(struct import_options, until), "the power window's end, likewise"},
};

static int run_import(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct import_options *options = call->values;
    char exported[CTL_NCU_PATH];
    bool report = options->ncu != NULL && ctl_ncu_is_report(options->ncu);
    const char *slash = report ? strrchr(options->ncu, '/') : NULL;
    const char *ncu_name = !report ? NULL : slash != NULL ? slash + 1 : options->ncu;
    if (report && ctl_ncu_export(options->ncu_exec, options->ncu, exported, err) != 0)
        return -1;
    const struct ctl_part parts[] = {{"ncu", report ? exported : options->ncu, true, ncu_name},
                                     {"timings", options->timings, true, NULL},
                                     {"recording", options->recording, true, NULL},
                                     {"record", options->record, true, NULL},
                                     {"power", options->power, true, NULL},
                                     {"device", options->device, false, NULL},
                                     {"driver", options->driver, false, NULL},
                                     {"cuda", options->cuda, false, NULL},
                                     {"date", options->date, false, NULL},
                                     {"sizes", options->sizes, false, NULL},
                                     {"cache", options->cache, false, NULL},
                                     {"times", options->times, false, NULL},
                                     {"partial", options->partial ? "true" : NULL, false, NULL},
                                     {"since", options->since, false, NULL},
                                     {"until", options->until, false, NULL},
                                     {"power_gpu", options->power_gpu, false, NULL},
                                     {"label", options->label, false, NULL}};
    struct rl_buf out;
    json_t *run = NULL;
    long status = 0;
    if (options->ncu == NULL && options->timings == NULL && options->recording == NULL && options->record == NULL)
        return rl_fail(err, RL_E_USAGE, "--ncu",
                       "Nothing to import: give --ncu, --timings or both, or --recording, or --record.");
    rl_buf_init(&out, ANSWER_MAX);
    int result = ctl_http_upload(http, "/api/v1/imports", parts, sizeof parts / sizeof parts[0], &out, &status, err);
    if (result == 0)
        result = ctl_http_parse(http, &out, &run, err);
    if (result == 0)
        result = show(http, call, run, status == 200, &out, err);
    json_decref(run);
    rl_buf_free(&out);
    return result;
}

const struct ctl_command ctl_command_import = {
    .name = "import",
    .what = "a run of what another measurement left",
    .values_size = sizeof(struct import_options),
    .own = CTL_TABLE(import_table),
    .run = run_import,
};
