/* What a file without the profiler's table is, by the marks that each kind leaves in it: people upload whatever is
 * named .csv, and "no header found" tells them nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import_internal.h"

static bool has(const struct import_text *text, const char *part)
{
    return memmem(text->data, text->len, part, strlen(part)) != NULL;
}

static size_t count(const struct import_text *text, const char *part)
{
    size_t found = 0, len = strlen(part);
    const char *at = text->data, *end = text->data + text->len;
    while ((at = memmem(at, (size_t)(end - at), part, len)) != NULL) {
        found++;
        at += len;
    }
    return found;
}

/* The first line that begins with `begin`, for a message; "" when there is none. */
static const char *line_with(const struct import_text *text, const char *begin, char out[IMPORT_QUOTE])
{
    const char *line;
    size_t at = 0, len;
    char copy[256];
    out[0] = '\0';
    while (import_text_line(text, &at, &line, &len))
        if (len >= strlen(begin) && memcmp(line, begin, strlen(begin)) == 0) {
            size_t take = len < sizeof copy - 1 ? len : sizeof copy - 1;
            memcpy(copy, line, take);
            copy[take] = '\0';
            return import_quote(out, copy);
        }
    return out;
}

/* Tables and reports of other tools; any of the marks will do. */
static const struct foreign {
    const char *marks[4];
    const char *what;
} foreigns[] = {
    {{"NVPROF is profiling", "Time(%),Time,Calls", "\"Time(%)\",\"Time\"", "\"Invocations\",\"Metric Name\""},
     "an nvprof file; nvprof counts no DRAM bytes of today's GPUs"},
    {{"== Profiling result:", "Unified Memory profiling result", NULL}, "an nvprof file"},
    {{"\"Name\",\"Calls\",\"TotalDurationNs\"", "Name,Calls,TotalDurationNs", "Dispatch_ID", "LDS_Per_Workgroup"},
     "a rocprof file, of an AMD GPU"},
    {{"gpu-id,queue-id", "Counter_Name,Counter_Value", NULL}, "a rocprof file, of an AMD GPU"},
    {{"\"Session Attribute\"", "\"Launch Attribute\"", NULL},
     "the session page of Nsight Compute (--page session), which has no metrics"},
    {{"Total Time (ns),Instances", "Total Time (ns)\",\"Instances", "Time (%),Total Time", NULL},
     "a summary of Nsight Systems (nsys stats), which has times and no counters"},
    {{"Section: GPU Speed Of Light", "Section: Command line profiler metrics", NULL},
     "Nsight Compute's report for people; export it with --csv"},
    {{"| NVIDIA-SMI ", "=NVSMI LOG=", NULL}, "output of nvidia-smi"},
};

static const char *foreign_kind(const struct import_text *text)
{
    for (size_t i = 0; i < sizeof foreigns / sizeof foreigns[0]; i++)
        for (size_t m = 0; m < 4 && foreigns[i].marks[m] != NULL; m++)
            if (has(text, foreigns[i].marks[m]))
                return foreigns[i].what;
    return NULL;
}

/* The profiler ran and wrote no table. */
static int refuse_banners(const struct import_source *source, const struct import_text *text, struct rl_err *err)
{
    char line[IMPORT_QUOTE];
    size_t children = count(text, "nvidia-smi)"); /* of the line with which it connected to one */
    char also[160] = "";
    if (children > 0)
        snprintf(also, sizeof also,
                 "; the profiler followed %zu nvidia-smi process%s that the program started, which run%s no kernels",
                 children, children == 1 ? "" : "es", children == 1 ? "s" : "");
    if (has(text, "==ERROR=="))
        return import_fail(err, RL_E_IMPORT_OTHER_FILE, source,
                           "has no table: the profiler reports \"%s\"%s. Mend the program first, then profile again",
                           line_with(text, "==ERROR==", line), also);
    if (has(text, "==WARNING== No metrics"))
        return import_fail(err, RL_E_IMPORT_OTHER_FILE, source, "has no table: the profiler collected no metrics%s",
                           also);
    return import_fail(err, RL_E_IMPORT_OTHER_FILE, source,
                       "has only the profiler's messages (==PROF==) and no table: no kernel's results were written%s",
                       also);
}

int import_refuse(const struct import_file *file, const struct import_text *text, struct rl_err *err)
{
    struct import_source source = {import_kind_name(file->kind), file->name, 0, NULL};
    char quoted[IMPORT_QUOTE], first[256];
    if (has(text, "ERR_NVGPUCTRPERM"))
        return import_fail(err, RL_E_IMPORT_PERMISSION, &source,
                           "has no table: the profiler was not permitted to read the counters (ERR_NVGPUCTRPERM)");
    if (has(text, "No kernels were profiled"))
        return import_fail(err, RL_E_IMPORT_NO_KERNELS, &source, "has no table: \"No kernels were profiled\"%s",
                           has(text, "Available Kernels:")
                               ? "; a filter (--kernel-name, --launch-skip) left all of the "
                                 "available ones out"
                               : "");
    /* messages of the profiler first: a followed nvidia-smi is no nvidia-smi output */
    bool banners = has(text, "==PROF==");
    const char *kind = foreign_kind(text);
    if (kind != NULL && !(banners && strstr(kind, "nvidia-smi") != NULL))
        return import_fail(err, RL_E_IMPORT_OTHER_FILE, &source, "is %s", kind);
    if (banners || has(text, "==ERROR=="))
        return refuse_banners(&source, text, err);
    size_t at = 0, len = 0;
    const char *line = "";
    while (import_text_line(text, &at, &line, &len) && len == 0)
        ;
    size_t take = len < sizeof first - 1 ? len : sizeof first - 1;
    memcpy(first, line, take);
    first[take] = '\0';
    if (first[strspn(first, " \t")] == '{')
        return import_fail(err, RL_E_IMPORT_OTHER_FILE, &source,
                           "is JSON; timings are uploaded as timings, not as counters");
    size_t parts = 0;
    for (const char *c = first; *c != '\0'; c++)
        parts += strchr(",;\t", *c) != NULL;
    return import_fail(
        err, RL_E_IMPORT_OTHER_FILE, &source,
        "is %s: no line has the columns \"ID\" and \"Kernel Name\" of Nsight Compute's export; it begins with \"%s\"",
        parts >= 2 ? "another tool's table" : "no export of Nsight Compute", import_quote(quoted, first));
}
