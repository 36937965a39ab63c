/* A file of an import, as it came. */
#include "gpu/import/common/file.h"

const char *import_kind_name(enum import_kind kind)
{
    static const char *const names[IMPORT_KIND_COUNT] = {"ncu", "timings", "recording", "record", "power"};
    return names[kind];
}
