/* The page's files, read into memory at start: an exact-name table, so that no path ever comes from a URL. */
#ifndef SERVER_ROUTES_STATIC_FILES_H
#define SERVER_ROUTES_STATIC_FILES_H

#include <stddef.h>

#include "gpu/base/err.h"

struct static_file {
    char *url; /* "/app.js"; the file index.html of the top folder is "/" */
    const char *type;
    char etag[72]; /* quoted SHA-256 */
    unsigned char *data;
    size_t len;
};

struct static_files;

/* Reads every regular file of a known type below dir, at most 4 folders deep, 512 files and 16 MiB in all; names that
 * start with a dot and symbolic links are left out. RL_E_IO when dir cannot be read or a limit is passed. dir NULL: an
 * empty table. */
int static_files_load(const char *dir, struct static_files **ret, struct rl_err *err);
void static_files_free(struct static_files *files); /* accepts NULL */
const struct static_file *static_files_find(const struct static_files *files, const char *path);
size_t static_files_count(const struct static_files *files);

#endif
