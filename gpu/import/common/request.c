/* What is asked of an import. */
#include "gpu/import/common/request.h"

const struct import_file *import_file_of(const struct import_request *request, enum import_kind kind)
{
    for (size_t i = 0; i < request->file_count; i++)
        if (request->files[i].kind == kind)
            return &request->files[i];
    return NULL;
}
