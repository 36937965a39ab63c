/* The node's side of a run's environment: small files of /proc and /sys, uname. */
#include "gpu/node/environment.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PARAMS_FILE  "/proc/driver/nvidia/params"
#define VERSION_FILE "/sys/module/nvidia/version"
#define PARAMS_MAX   65536

struct rl_flag3 environment_admin_only(const char *params)
{
    static const char name[] = "RmProfilingAdminOnly:";
    if (!params)
        return (struct rl_flag3){false, "the driver's parameter file cannot be read"};
    for (const char *line = params; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, sizeof name - 1))
            continue;
        const char *value = line + sizeof name - 1;
        value += strspn(value, " \t");
        size_t len = strcspn(value, " \t\r\n");
        if (len == 1 && (*value == '0' || *value == '1'))
            return (struct rl_flag3){*value == '1', NULL};
        return (struct rl_flag3){false, "RmProfilingAdminOnly is neither 0 nor 1 in the driver's parameter file"};
    }
    return (struct rl_flag3){false, "the driver's parameter file has no RmProfilingAdminOnly"};
}

/* Reads a small file whole into text[size], NUL-terminated; -1 when it cannot be read or does not fit. */
static int read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t len = 0;
    ssize_t got = 0;
    while (len < size) {
        got = read(fd, text + len, size - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    close(fd);
    if (got < 0 || len == size)
        return -1;
    text[len] = '\0';
    return 0;
}

void environment_read(struct rl_arena *arena, struct rl_environment *ret)
{
    struct utsname names;
    if (uname(&names) == 0) {
        ret->hostname = rl_text_copy(arena, names.nodename);
        ret->kernel_release = rl_text_copy(arena, names.release);
    } else {
        ret->hostname = (struct rl_text){NULL, "uname failed"};
        ret->kernel_release = ret->hostname;
    }
    char params[PARAMS_MAX];
    bool have = read_file(PARAMS_FILE, params, sizeof params) == 0;
    ret->profiling_admin_only = environment_admin_only(have ? params : NULL);
}

int environment_module_version(char *text, size_t size)
{
    char line[128];
    if (read_file(VERSION_FILE, line, sizeof line))
        return -1;
    size_t len = strlen(line);
    while (len && isspace((unsigned char)line[len - 1]))
        line[--len] = '\0';
    if (!len || len >= size)
        return -1;
    memcpy(text, line, len + 1);
    return 0;
}
