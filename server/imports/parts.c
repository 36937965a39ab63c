/* The parts of a form as they come: files into memory of the kernel's, fields, and what is wrong with either. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/base/io.h"
#include "gpu/base/num.h"
#include "gpu/base/said.h"
#include "server/imports/internal.h"

const char *const import_kinds[IMPORT_KINDS] = {"ncu", "timings", "recording", "record", "power"};
/* The label is the run's, not its record's: the importing process does not see it, nor is it part of what makes two
 * imports one. */
const char *const import_fields[IMPORT_FIELDS] = {"device", "driver",  "cuda",  "date",  "sizes",     "cache",
                                                  "times",  "partial", "since", "until", "power_gpu", "label"};
#define NAMES                                                                                                          \
    "ncu, timings, recording, record, power, device, driver, cuda, date, sizes, cache, times, partial, since, until, " \
    "power_gpu and label"

static const char *part_name(const struct import *import)
{
    return import->part < IMPORT_KINDS ? import_kinds[import->part] : import_fields[import->part - IMPORT_KINDS];
}

static int begin_file(struct import *import, struct import_upload *file, const char *filename, struct rl_err *err)
{
    /* what follows the last slash: some browsers send a path, and it names the file in messages alone */
    for (const char *c = filename; c != NULL && *c != '\0'; c++)
        if ((*c == '/' || *c == '\\') && c[1] != '\0')
            filename = c + 1;
    snprintf(file->name, sizeof file->name, "%s", filename != NULL ? filename : "");
    file->bytes = 0;
    file->fd = memfd_create("import", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file->fd < 0)
        return rl_fail(err, errno == EMFILE || errno == ENFILE ? RL_E_TOO_FEW_DESCRIPTORS : RL_E_NO_MEMORY,
                       part_name(import), "no place for the upload: %s", strerror(errno));
    rl_sha256_free(import->hash);
    import_hash_free(import->content);
    import->hash = rl_sha256_new();
    import->content = import_hash_new();
    return import->hash != NULL && import->content != NULL
               ? 0
               : rl_fail(err, RL_E_NO_MEMORY, part_name(import), "no memory for an upload");
}

int import_part(struct import *import, const char *name, const char *filename, struct rl_err *err)
{
    size_t files = 0;
    import->part = 0;
    import->len = 0;
    while (import->part < IMPORT_KINDS + IMPORT_FIELDS && strcmp(part_name(import), name) != 0)
        import->part++;
    if (import->part == IMPORT_KINDS + IMPORT_FIELDS)
        return rl_fail(err, RL_E_UNKNOWN_FIELD, name, "an import has no part \"%.64s\"; it may have " NAMES, name);
    bool is_file = import->part < IMPORT_KINDS;
    if (is_file ? import->file[import->part].fd >= 0 : import->field_seen[import->part - IMPORT_KINDS])
        return rl_fail(err, RL_E_BAD_FIELD, name, "the part \"%s\" is there twice", name);
    if (is_file) {
        for (size_t i = 0; i < IMPORT_KINDS; i++)
            files += import->file[i].fd >= 0;
        if (files == IMPORT_JUDGE_FILES)
            return rl_fail(err, RL_E_BAD_FIELD, name, "an import is of three files at most, and \"%s\" is one more",
                           name);
        return begin_file(import, &import->file[import->part], filename, err);
    }
    if (filename != NULL)
        return rl_fail(err, RL_E_BAD_FIELD, name, "\"%s\" is a text, and a file was sent as it", name);
    import->field_seen[import->part - IMPORT_KINDS] = true;
    return 0;
}

/* Bytes of a file, from import->held or past it. */
static int write_file(struct import *import, const char *data, size_t len, struct rl_err *err)
{
    struct import_upload *file = &import->file[import->part];
    if (rl_write_all(file->fd, data, len) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, part_name(import), "no room for the upload: %s%s", strerror(errno),
                       errno == EFBIG ? " (the limit of a file's size, RLIMIT_FSIZE, of the daemon)" : "");
    rl_sha256_add(import->hash, data, len);
    import_hash_add(import->content, data, len);
    file->bytes += (int64_t)len;
    return 0;
}

static int write_held(struct import *import, struct rl_err *err)
{
    int rc = write_file(import, import->held.data, import->held.len, err);
    rl_buf_clear(&import->held);
    return rc;
}

static int file_data(struct import *import, const char *data, size_t len, struct rl_err *err)
{
    if (import->held.len + len > IMPORT_HELD_BYTES && write_held(import, err) != 0)
        return -1;
    if (len > IMPORT_HELD_BYTES)
        return write_file(import, data, len, err);
    if (rl_buf_add(&import->held, data, len) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, part_name(import), "no memory for an upload");
    return 0;
}

int import_data(struct import *import, const char *data, size_t len, struct rl_err *err)
{
    bool is_file = import->part < IMPORT_KINDS;
    size_t max = is_file ? LIMIT_UPLOAD_FILE_BYTES : LIMIT_IMPORT_FIELD_BYTES;
    if (len > max - import->len)
        return rl_fail(err, RL_E_TOO_LARGE, part_name(import), "\"%s\" has more than %zu bytes", part_name(import),
                       max);
    if (is_file && file_data(import, data, len, err) != 0)
        return -1;
    if (!is_file)
        memcpy(import->field[import->part - IMPORT_KINDS] + import->len, data, len);
    import->len += len;
    return 0;
}

int import_part_end(struct import *import, struct rl_err *err)
{
    if (import->part < IMPORT_KINDS) {
        struct import_upload *file = &import->file[import->part];
        if (write_held(import, err) != 0)
            return -1;
        rl_sha256_end(import->hash, file->sha256);
        import_hash_end(import->content, file->content);
        /* what was hashed is what is read, whoever gets hold of the descriptor */
        if (fcntl(file->fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
            return rl_fail(err, RL_E_INTERNAL, part_name(import), "the upload cannot be sealed: %s", strerror(errno));
        return 0;
    }
    char *text = import->field[import->part - IMPORT_KINDS];
    text[import->len] = '\0';
    bool clean = strlen(text) == import->len && rl_utf8_valid(text, import->len);
    for (size_t i = 0; clean && i < import->len; i++)
        clean = rl_utf8_control(text + i, import->len - i) == 0;
    if (clean && import->part - IMPORT_KINDS == IMPORT_LABEL_AT && import->len > 0)
        return rl_label_check(text, import->len, "label", err);
    return clean ? 0
                 : rl_fail(err, RL_E_BAD_FIELD, part_name(import),
                           "\"%s\" is no text in UTF-8 without control characters", part_name(import));
}
