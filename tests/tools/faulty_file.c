/* Files of faults, one laid over another. */
#include "tests/tools/faulty_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tools/faults.h"

#define DEPTH_MAX 4 /* files of faults over one another */

/* Appends the faults that stand below the header. *ret_others counts the lines that are none. */
static int read_faults(FILE *file, const char *name, json_t *rules, size_t *ret_others, struct rl_err *err)
{
    char *line = NULL;
    size_t room = 0, number = 1;
    ssize_t len;
    int rc = 0;
    while (rc == 0 && (len = getline(&line, &room, file)) > 0) {
        json_t *entry = json_loadb(line, (size_t)len, JSON_REJECT_DUPLICATES, NULL);
        const char *op = json_string_value(json_object_get(entry, "op"));
        bool fault = op && strcmp(op, "fault") == 0;
        number++;
        *ret_others += !fault;
        if (fault && fault_check(entry, err) != 0)
            rc = rl_wrap(err, "%.200s, line %zu", name, number);
        else if (fault && json_array_append(rules, entry) != 0)
            rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for faults");
        json_decref(entry);
    }
    free(line);
    return rc;
}

/* The base that the header names, beside path, or NULL; the file is read up to the header's end. */
static char *read_base(FILE *file, const char *path)
{
    char *line = NULL, *base = NULL;
    size_t room = 0;
    ssize_t len = getline(&line, &room, file);
    json_t *header = len > 0 ? json_loadb(line, (size_t)len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *name = json_string_value(json_object_get(header, "base")), *slash = strrchr(path, '/');
    if (name && asprintf(&base, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name) < 0)
        base = NULL;
    json_decref(header);
    free(line);
    return base;
}

int faulty_file_read(const char *path, json_t *rules, char **ret_recording, struct rl_err *err)
{
    char *at = strdup(path);
    int rc = 0;
    for (int depth = 0; rc == 0 && at && depth < DEPTH_MAX; depth++) {
        FILE *file = fopen(at, "re");
        char *base = file ? read_base(file, at) : NULL;
        size_t others = 0, before = json_array_size(rules);
        if (base)
            rc = read_faults(file, at, rules, &others, err);
        if (rc == 0 && others > 0 && json_array_size(rules) > before)
            rc = rl_fail(err, RL_E_REPLAY_FORMAT, "op", "%.200s has faults and other lines: one file for each", at);
        if (file)
            fclose(file);
        if (rc != 0 || !base || others > 0) {
            free(base);
            break;
        }
        free(at);
        at = base;
    }
    if (rc == 0 && !at)
        rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the name of a recording");
    if (rc != 0) {
        free(at);
        return -1;
    }
    *ret_recording = at;
    return 0;
}
