/* What is asked of an import: its files and the fields beside them. */
#ifndef GPU_IMPORT_COMMON_REQUEST_H
#define GPU_IMPORT_COMMON_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/import/common/file.h"

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

/* Which of the request's files is of this kind, or NULL. */
const struct import_file *import_file_of(const struct import_request *request, enum import_kind kind);

#endif
