/* A file of an import, as it came. */
#ifndef GPU_IMPORT_COMMON_FILE_H
#define GPU_IMPORT_COMMON_FILE_H

#include <stddef.h>

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

#endif
