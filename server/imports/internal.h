/* What the files of the imports share; nobody else includes it. */
#ifndef SERVER_IMPORTS_INTERNAL_H
#define SERVER_IMPORTS_INTERNAL_H

#include "gpu/base/buf.h"
#include "gpu/base/hash.h"
#include "server/imports/hash.h"
#include "server/imports/imports.h"
#include "server/imports/judge.h"
#include "server/limits/limits.h"
#include "server/process/importer.h"

#define IMPORT_LABEL_AT   11u /* of the fields */
#define IMPORT_KINDS      5u
#define IMPORT_FIELDS     12u
#define IMPORT_HELD_BYTES (64u * 1024u) /* of a file, before they are written: a client may send it byte by byte */
/* The names of a form's parts: files by kind, and fields. */
extern const char *const import_kinds[IMPORT_KINDS], *const import_fields[IMPORT_FIELDS];

struct import_upload { /* a file */
    int fd;            /* memory of the kernel's, without a name */
    int64_t bytes;
    char sha256[65], content[65]; /* of its bytes; of its text, whatever its line ends (server/imports/hash.h) */
    char name[LIMIT_FILENAME_BYTES + 1];
};

struct import {
    struct imports *all;
    struct import *next;
    char share[80];                          /* whose places it takes */
    char owner[80];                          /* whose run it will be */
    struct import_upload file[IMPORT_KINDS]; /* by kind; fd -1: not sent */
    char field[IMPORT_FIELDS][LIMIT_IMPORT_FIELD_BYTES + 1];
    bool field_seen[IMPORT_FIELDS];
    size_t part, len;       /* of the part that is coming: kind, or IMPORT_KINDS and on a field; its bytes so far */
    struct rl_buf held;     /* of the file that is coming: not written yet */
    struct rl_sha256 *hash; /* of the file that is coming */
    struct import_hash *content; /* likewise, of its text */
    char identity[65];           /* of all texts and fields */
    char identity_of_bytes[65];  /* of all bytes and fields: under which earlier builds stored imports */
    struct import_process *process;
    struct import_judge *judge;
    const struct import_judged *judged; /* not NULL: the store is tried again, by store_timer */
    struct loop_source *store_timer;
    int64_t answer_by_ns; /* loop_now_ns */
    void (*done)(void *arg);
    void *arg;
    bool placed, abandoned, ended, existing; /* placed: among LIMIT_IMPORTS, from the body's end to its own */
    int64_t run;
    struct rl_err error;
};

struct imports {
    const char *exec;
    struct store *store;
    struct loop *loop;
    struct import *first;
    bool stopping;
    void (*stopped)(void *arg);
    void *stopped_arg;
};

#endif
