/* See server/routes/static_files.h. */
#include "server/routes/static_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/base/hash.h"

#define DEPTH_MAX 4
#define FILES_MAX 512u
#define BYTES_MAX (16u * 1024u * 1024u)
#define URL_MAX   512

struct static_files {
    struct static_file *items;
    size_t count, bytes;
};

static const char *type_of(const char *name)
{
    static const struct {
        const char *end, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/vnd.microsoft.icon"},
        {".woff2", "font/woff2"},
        {".txt", "text/plain; charset=utf-8"},
        {".webmanifest", "application/manifest+json"},
    };
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t end = strlen(types[i].end);
        if (len > end && !strcmp(name + len - end, types[i].end))
            return types[i].type;
    }
    return NULL;
}

static int read_all(int fd, unsigned char *data, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t got = read(fd, data + done, len - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        done += (size_t)got;
    }
    return 0;
}

static int add_file(struct static_files *files, int fd, size_t len, const char *url, const char *type,
                    struct rl_err *err)
{
    char hash[65];
    if (files->count == FILES_MAX || len > BYTES_MAX - files->bytes)
        return rl_fail(err, RL_E_IO, "static", "the page's folder has more than %u files or %u bytes", FILES_MAX,
                       BYTES_MAX);
    struct static_file *grown = reallocarray(files->items, files->count + 1, sizeof(*grown));
    if (!grown)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the page's files");
    files->items = grown;
    struct static_file file = {.url = strdup(url), .type = type, .data = malloc(len + 1), .len = len};
    if (!file.url || !file.data || read_all(fd, file.data, len)) {
        free(file.url);
        free(file.data);
        return rl_fail(err, RL_E_IO, "static", "cannot read the page's file %s", url);
    }
    rl_sha256_hex(file.data, len, hash);
    snprintf(file.etag, sizeof(file.etag), "\"%s\"", hash);
    files->items[files->count++] = file;
    files->bytes += len;
    return 0;
}

static int load_dir(struct static_files *files, int dir_fd, const char *url, int depth, struct rl_err *err);

static int load_entry(struct static_files *files, int dir_fd, const char *name, const char *url, int depth,
                      struct rl_err *err)
{
    struct stat st;
    char path[URL_MAX];
    /* Symbolic links are left out (ELOOP): what is served lies in the folder itself. */
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ELOOP ? 0
                              : rl_fail(err, RL_E_IO, "static", "cannot open the page's file %s%s: %s", url, name,
                                        strerror(errno));
    int rc = -1;
    if (fstat(fd, &st)) {
        rl_fail(err, RL_E_IO, "static", "cannot read the page's file %s%s: %s", url, name, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        if (snprintf(path, sizeof(path), "%s%s/", url, name) >= (int)sizeof(path) || depth == DEPTH_MAX)
            rl_fail(err, RL_E_IO, "static", "the page's folder is nested more than %d deep", DEPTH_MAX);
        else
            return load_dir(files, fd, path, depth + 1, err); /* owns fd */
    } else if (S_ISREG(st.st_mode) && type_of(name)) {
        if (snprintf(path, sizeof(path), "%s%s", url, name) >= (int)sizeof(path))
            rl_fail(err, RL_E_IO, "static", "the page's file name %s is too long", name);
        else
            rc = add_file(files, fd, (size_t)st.st_size, strcmp(path, "/index.html") ? path : "/", type_of(name), err);
    } else {
        rc = 0;
    }
    close(fd);
    return rc;
}

/* Takes dir_fd over. */
static int load_dir(struct static_files *files, int dir_fd, const char *url, int depth, struct rl_err *err)
{
    DIR *dir = fdopendir(dir_fd);
    int rc = 0;
    if (!dir) {
        close(dir_fd);
        return rl_fail(err, RL_E_IO, "static", "cannot list the page's folder %s: %s", url, strerror(errno));
    }
    for (struct dirent *entry; rc == 0 && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            rc = load_entry(files, dirfd(dir), entry->d_name, url, depth, err);
    closedir(dir);
    return rc;
}

static int by_url(const void *a, const void *b)
{
    return strcmp(((const struct static_file *)a)->url, ((const struct static_file *)b)->url);
}

int static_files_load(const char *dir, struct static_files **ret, struct rl_err *err)
{
    struct static_files *files = calloc(1, sizeof(*files));
    if (!files)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the page's files");
    if (dir) {
        int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0) {
            static_files_free(files);
            return rl_fail(err, RL_E_IO, "static", "cannot open the page's folder %s: %s", dir, strerror(errno));
        }
        if (load_dir(files, fd, "/", 0, err)) {
            static_files_free(files);
            return -1;
        }
        qsort(files->items, files->count, sizeof(files->items[0]), by_url);
    }
    *ret = files;
    return 0;
}

void static_files_free(struct static_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].url);
        free(files->items[i].data);
    }
    free(files->items);
    free(files);
}

const struct static_file *static_files_find(const struct static_files *files, const char *path)
{
    struct static_file key = {.url = (char *)(uintptr_t)path};
    if (files->count == 0)
        return NULL;
    return bsearch(&key, files->items, files->count, sizeof(files->items[0]), by_url);
}

size_t static_files_count(const struct static_files *files)
{
    return files->count;
}
