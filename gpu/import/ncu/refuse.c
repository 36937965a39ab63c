/* What a file without the profiler's table is, by the marks that each kind leaves in it: people upload whatever is
 * named .csv, and "no header found" tells them nothing. */
#include "gpu/import/ncu/refuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/import/text/message.h"

#define EXPORT                                                                                                         \
    "; counters are exported with: ncu --csv --page raw --metrics dram__bytes_read.sum,dram__bytes_write.sum PROGRAM"

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

/* Tables and reports of other tools; any of the marks will do. */
static const struct foreign {
    const char *marks[4];
    const char *what;
} foreigns[] = {
    /* other pages and forms of Nsight Compute itself */
    {{"\"Invocations\",\"Section Name\"", "\"Invocations\",\"Metric Name\",\"Metric Unit\",\"Minimum\"", NULL},
     "output of ncu --print-summary: one row a kernel, of all of its launches, with minimum, maximum and average; "
     "export "
     "each launch, without --print-summary"},
    {{"\"Warp Stall Sampling (All Samples)\"", "\"Live Registers\"", "\"Address\",\"Source\"", "\"#\",\"Source\""},
     "the source page of Nsight Compute (--page source): one row an instruction, and no launch's totals; export with "
     "--page raw"},
    {{"\"Session Attribute\"", "\"Launch Attribute\"", NULL},
     "the session page of Nsight Compute (--page session), which has no metrics; export with --page raw"},
    {{"  Section: ", NULL},
     "Nsight Compute's report for people (as --print-details and no --csv leave it); export it with --csv --page raw"},
    /* other tools */
    {{"NVPROF is profiling", "Time(%),Time,Calls", "\"Time(%)\",\"Time\"", "\"Invocations\",\"Metric Name\""},
     "an nvprof file; nvprof counts no DRAM bytes of today's GPUs"},
    {{"== Profiling result:", "Unified Memory profiling result", NULL}, "an nvprof file"},
    {{"\"Name\",\"Calls\",\"TotalDurationNs\"", "Name,Calls,TotalDurationNs", "Dispatch_ID", "LDS_Per_Workgroup"},
     "a rocprof file, of an AMD GPU"},
    {{"gpu-id,queue-id", "Counter_Name,Counter_Value", NULL}, "a rocprof file, of an AMD GPU"},
    {{"Total Time (ns),Instances", "Total Time (ns)\",\"Instances", "Time (%),Total Time", NULL},
     "a summary of Nsight Systems (nsys stats), which has times and no counters; send it as timings"},
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

/* ---- the profiler's own reasons ---- */

/* What a line of the profiler, of those that say why it wrote no table, means. */
static const struct reason {
    const char *marks[4];
    enum rl_code code;
    const char *what;
} reasons[] = {
    {{"ERR_NVGPUCTRPERM", NULL}, RL_E_IMPORT_PERMISSION, "the profiler was not permitted to read the counters"},
    {{"DCGM", "driver resource was unavailable", "another profil", "in use by another"},
     RL_E_IMPORT_NOT_COUNTED,
     "another profiler has the counters, such as DCGM: pause it with dcgmi profile --pause, or end the other one"},
    {{"driver is not compatible", "driver version is insufficient", "newer driver", "driver is too old"},
     RL_E_IMPORT_NOT_COUNTED,
     "the NVIDIA driver is older than this Nsight Compute needs: update the driver, or use the ncu that came with its "
     "CUDA"},
    {{"MIG", "vGPU", "virtual GPU", "Subsystem for Linux"},
     RL_E_IMPORT_NOT_COUNTED,
     "a MIG slice, a virtual GPU or WSL does not let its counters be read: profile on a whole GPU, or let the host "
     "allow "
     "profiling"},
    {{"not supported on device", "Unsupported GPU", "unsupported GPU", "not supported for device"},
     RL_E_IMPORT_NOT_COUNTED,
     "this Nsight Compute does not know the GPU: use a version that does (ncu --list-chips)"},
    {{"Failed to find metric", "failed to find metric", "Failed to access the following", NULL},
     RL_E_IMPORT_NOT_COUNTED,
     "a metric that was asked for is none of this GPU's: ncu --query-metrics lists those that are"},
    {{"o prepare kernel for profiling", "ailed to prepare", NULL},
     RL_E_IMPORT_NOT_COUNTED,
     "the profiler could not prepare a kernel for counting: another profiler, a debugger or compute-sanitizer at work, "
     "or "
     "no memory to save the kernel's; end them, or profile with --replay-mode application"},
    {{"LaunchFailed", "ailed to profile", NULL},
     RL_E_IMPORT_NOT_COUNTED,
     "a kernel failed under the profiler; run the program without it first"},
    {{"application returned an error", "terminated before", NULL},
     RL_E_IMPORT_OTHER_FILE,
     "the program failed; mend it first, then profile again"},
};

static bool part_of(const char *line, size_t len, const char *const marks[4])
{
    for (size_t m = 0; m < 4 && marks[m] != NULL; m++)
        if (memmem(line, len, marks[m], strlen(marks[m])) != NULL)
            return true;
    return false;
}

/* The first line of the profiler's errors and warnings that has one of the marks (NULL: that is an error). */
static bool find_message(const struct import_text *text, const char *const *marks, char out[IMPORT_WORDS])
{
    const char *line;
    size_t at = 0, len;
    char copy[512];
    while (import_text_line(text, &at, &line, &len)) {
        const char *found = memmem(line, len, "==ERROR==", 9);
        if (found == NULL && marks != NULL)
            found = memmem(line, len, "==WARNING==", 11);
        if (found == NULL)
            continue;
        size_t rest = (size_t)(line + len - found), take = rest < sizeof copy - 1 ? rest : sizeof copy - 1;
        if (marks != NULL && !part_of(found, rest, marks))
            continue;
        memcpy(copy, found, take);
        copy[take] = '\0';
        import_words(out, copy);
        return true;
    }
    return false;
}

static bool find_reason(const struct import_text *text)
{
    char line[IMPORT_WORDS];
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (find_message(text, reasons[i].marks, line))
            return true;
    return false;
}

/* The profiler ran and wrote no table. */
static int refuse_banners(const struct import_source *source, const struct import_text *text, struct rl_err *err)
{
    char line[IMPORT_WORDS], also[160] = "";
    size_t children = count(text, "nvidia-smi)"); /* of the line with which it connected to one */
    if (children > 0)
        snprintf(also, sizeof also,
                 "; the profiler followed %zu nvidia-smi process%s that the program started, which run%s no kernels",
                 children, children == 1 ? "" : "es", children == 1 ? "s" : "");
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (find_message(text, reasons[i].marks, line))
            return import_fail(err, reasons[i].code, source, "has no table: %s. The profiler reports \"%s\"%s",
                               reasons[i].what, line, also);
    if (find_message(text, NULL, line))
        return import_fail(err, RL_E_IMPORT_OTHER_FILE, source,
                           "has no table: the profiler reports \"%s\"%s. Mend what it says, then profile again", line,
                           also);
    if (has(text, "==WARNING== No metrics"))
        return import_fail(err, RL_E_IMPORT_OTHER_FILE, source, "has no table: the profiler collected no metrics%s",
                           also);
    return import_fail(err, RL_E_IMPORT_OTHER_FILE, source,
                       "has only the profiler's messages (==PROF==) and no table: no kernel's results were written%s",
                       also);
}

static int refuse_no_kernels(const struct import_source *source, const struct import_text *text, struct rl_err *err)
{
    bool nvtx = has(text, "nvtx") || has(text, "NVTX");
    return import_fail(
        err, RL_E_IMPORT_NO_KERNELS, source, "has no table: \"No kernels were profiled\"%s",
        nvtx ? "; the NVTX filter (--nvtx-include) matched nothing: its ranges are not those of the program"
        : has(text, "Available Kernels:")
            ? "; a filter (--kernel-name, --launch-skip) left all of the available ones out"
            : "");
}

/* ---- no message and no mark ---- */

/* Rows of the profiler's table without the line that names their columns: an ID in quotes, and many more fields. */
static bool is_headless(const char *line)
{
    size_t digits = line[0] == '"' ? strspn(line + 1, "0123456789") : 0, fields = 1;
    if (digits == 0 || strncmp(line + 1 + digits, "\",\"", 3) != 0)
        return false;
    for (const char *c = line; (c = strstr(c, "\",\"")) != NULL; c += 3)
        fields++;
    return fields >= 6;
}

static bool is_tagged(const char *line)
{
    return line[0] == '[' && (strstr(line, "]<stdout>:") != NULL || strstr(line, "]<stderr>:") != NULL);
}

static int refuse_by_first_line(const struct import_source *source, const char *first, struct rl_err *err)
{
    char quoted[IMPORT_QUOTE];
    size_t parts = 0;
    const char *begin = first + strspn(first, " \t");
    if (*begin == '{' || (*begin == '[' && !is_tagged(begin)))
        return import_fail(err, RL_E_IMPORT_OTHER_FILE, source,
                           "is JSON; timings are uploaded as timings, not as counters");
    if (is_headless(begin))
        return import_fail(
            err, RL_E_IMPORT_OTHER_FILE, source,
            "has rows of Nsight Compute's table and no header: the line that begins with \"ID\",\"Process "
            "ID\" is missing, without which the columns have no names; export again, and keep every line");
    for (const char *c = first; *c != '\0'; c++)
        parts += strchr(",;\t", *c) != NULL;
    return import_fail(
        err, RL_E_IMPORT_OTHER_FILE, source,
        "is %s: no line has the columns \"ID\" and \"Kernel Name\" of Nsight Compute's export; it begins "
        "with \"%s\"%s" EXPORT,
        parts >= 2 ? "another tool's table" : "no export of Nsight Compute", import_quote(quoted, first),
        is_tagged(begin) ? ", a tag of mpirun (--tag-output)" : "");
}

int import_refuse(const struct import_file *file, const struct import_text *text, struct rl_err *err)
{
    struct import_source source = {import_kind_name(file->kind), file->name, 0, NULL};
    char first[256];
    bool banners = has(text, "==PROF=="), errors = has(text, "==ERROR==");
    if (has(text, "ERR_NVGPUCTRPERM"))
        return import_fail(err, RL_E_IMPORT_PERMISSION, &source,
                           "has no table: the profiler was not permitted to read the counters (ERR_NVGPUCTRPERM)");
    if (has(text, "No kernels were profiled") && !errors)
        return refuse_no_kernels(&source, text, err);
    /* messages of the profiler first: a followed nvidia-smi is no nvidia-smi output */
    const char *kind = foreign_kind(text);
    if (kind != NULL && !(banners && strstr(kind, "nvidia-smi") != NULL))
        return import_fail(err, RL_E_IMPORT_OTHER_FILE, &source, "is %s" EXPORT, kind);
    if (has(text, "No kernels were profiled") && !find_reason(text))
        return refuse_no_kernels(&source, text, err);
    size_t at = 0, len = 0;
    const char *line = "";
    while (import_text_line(text, &at, &line, &len) && (len == 0 || (banners && line[0] == '=')))
        ;
    size_t take = len < sizeof first - 1 ? len : sizeof first - 1;
    memcpy(first, line, take);
    first[take] = '\0';
    if ((banners || errors) && !is_headless(first + strspn(first, " \t")))
        return refuse_banners(&source, text, err);
    return refuse_by_first_line(&source, first, err);
}
