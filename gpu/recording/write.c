/* Recordings out: one line per entry, numbers as short as they can be and still the same double. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/base/io.h"
#include "gpu/record/json_text.h"
#include "gpu/recording/recording.h"

int recording_write(const struct recording *recording, struct rl_buf *out, struct rl_err *err)
{
    const char *text;
    json_t *entry;
    int bad = rl_json_write(recording->header, out) | rl_buf_puts(out, "\n");
    json_object_foreach(recording->entries, text, entry)
    {
        bad |= rl_json_write(entry, out) | rl_buf_puts(out, "\n");
    }
    bad |= rl_buf_printf(out, "{\"op\":\"end\",\"entries\":%zu}\n", json_object_size(recording->entries));
    if (bad || out->failed)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "the recording is larger than %u bytes or memory ran out",
                       RECORDING_BYTES_MAX);
    return 0;
}

/* The name's entry in its folder is durable only when the folder is synced too. */
static int sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int rc = fd >= 0 ? fsync(fd) : -1;
    if (fd >= 0)
        close(fd);
    free(folder);
    return rc;
}

int recording_save(const struct recording *recording, const char *path, struct rl_err *err)
{
    struct rl_buf text;
    char *temporary = NULL;
    const char *doing = "made";
    int fd = -1, rc = -1;
    rl_buf_init(&text, RECORDING_BYTES_MAX);
    if (recording_write(recording, &text, err) != 0)
        goto out;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
        temporary = NULL;
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a recording's name");
        goto out;
    }
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        goto failed;
    /* a file that people share and ship: the umask's mode, not mkostemp's 0600 */
    mode_t mask = umask(0);
    umask(mask);
    doing = "written";
    if (rl_write_all(fd, text.data, text.len) != 0 || fchmod(fd, 0666 & ~mask) != 0 || fsync(fd) != 0)
        goto failed;
    doing = "put in its place";
    if (rename(temporary, path) != 0 || sync_folder(path) != 0)
        goto failed;
    rc = 0;
    goto out;
failed:
    rl_fail(err, RL_E_IO, "record", "the recording '%.200s' cannot be %s: %s", path, doing, strerror(errno));
    if (fd >= 0)
        unlink(temporary);
out:
    if (fd >= 0)
        close(fd);
    free(temporary);
    rl_buf_free(&text);
    return rc;
}
