/* What a run was made of. */
#include "gpu/import/common/files.h"

#include "gpu/base/hash.h"

int import_add_file(struct import *import, const struct import_file *file, const char *format)
{
    struct rl_run *run = import->run;
    char hex[65];
    if (run->import.files == NULL)
        run->import.files = rl_arena_array(run->arena, 4, sizeof *run->import.files);
    rl_sha256_hex(file->data, file->len, hex);
    struct rl_import_file added = {import_kind_name(file->kind), rl_arena_strdup(run->arena, format),
                                   (int64_t)file->len, rl_arena_strdup(run->arena, hex)};
    if (run->import.files == NULL || added.format == NULL || added.sha256 == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, added.kind, "no memory for the import");
    run->import.files[run->import.file_count++] = added;
    return 0;
}
