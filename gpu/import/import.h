/* Imports: files that somebody else's measurement left (an Nsight Compute CSV, timing JSON Lines, a recording, a
 * published record) become one run. Pure but for memory: no file is opened, no clock is read. gpu/import/IMPORT.md says
 * what is accepted.
 */
#ifndef GPU_IMPORT_IMPORT_H
#define GPU_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/base/err.h"
#include "gpu/record/run.h"

#define IMPORT_FILE_MAX     ((size_t)16 << 20)  /* bytes of one file: more is RL_E_TOO_LARGE */
#define IMPORT_INFLATED_MAX ((size_t)128 << 20) /* of a compressed one once it is unpacked */

enum import_kind { IMPORT_NCU, IMPORT_TIMINGS, IMPORT_RECORDING, IMPORT_RECORD, IMPORT_POWER, IMPORT_KIND_COUNT };
const char *import_kind_name(enum import_kind kind); /* "ncu", "timings", "recording", "record", "power" */

struct import_file {
    enum import_kind kind;
    const char *name; /* what messages call it, e.g. its base name; never a path */
    const char *data;
    size_t len;
};

/* What the importer says of the files; NULL: not said. */
struct import_fields {
    const char *device; /* the GPU's name, or its UUID ("GPU-…") */
    const char *driver; /* "580.159.04" */
    const char *cuda;   /* CUDA runtime's version, "13.0" */
    const char *date;   /* RFC 3339, or YYYY-MM-DD; needed where no file tells when it was measured */
    const char *sizes;  /* "course", "scaled", "other": sizes of the catalogue's kernels; "other" when not said */
    const char
        *cache; /* state of the profiler's launches: "cold" (ncu --cache-control all; its default), "warm" (none) */
    const char *times;     /* state of plain timings: "warm" (the default: a loop), "cold" */
    const char *partial;   /* "true": kernels of the timings that find no launch are left out; "false", the default */
    const char *since;     /* of a power log, by its own clock: "2026-09-01 12:00:00"; NULL: from its beginning */
    const char *until;     /* likewise; NULL: to its end */
    const char *power_gpu; /* of a power log of several GPUs: index, UUID or bus id */
};

struct import_request {
    const struct import_file *files; /* ncu, timings, or both, perhaps with power; a recording or a record alone */
    size_t file_count;
    struct import_fields fields;
    int64_t now_ms; /* nothing may be later than this */
    bool by_hand;   /* to be shown, not stored: an unknown device and an unknown day are said and let pass */
};

/* Raw samples that a file brought, for the store: of the run's arena. */
struct import_sample {
    const char *unit;
    enum rl_state state;
    int64_t launches;
    const double *times_s; /* seconds per launch */
    size_t count;
};
struct import_result {
    struct rl_run *run; /* derived; source imported */
    struct import_sample *samples;
    size_t sample_count;
};

/* One run from the files, or -1 with nothing made. Errors name the file, the line and the column or field, what stands
 * there and what was expected; err.field is the file's kind, or the field of import_fields at fault. A kernel of the
 * timings without DRAM bytes in the counters is RL_E_IMPORT_MISSING. */
int import_make(const struct import_request *request, struct import_result *ret, struct rl_err *err);
void import_result_fini(struct import_result *result); /* accepts a zeroed one */

/* The dates of a published record's entries, as its file has them, each in a text of the caller. RL_E_TOO_LARGE where
 * there are more than `max`. */
#define IMPORT_DATE_MAX 32
int import_record_dates(const struct import_file *file, char dates[][IMPORT_DATE_MAX], size_t max, size_t *ret_count,
                        struct rl_err *err);

#endif
