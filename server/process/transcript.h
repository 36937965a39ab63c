/* What a measuring process said for people: its log lines, its standard output and error, how it ended. Capped, and
 * with every byte that could steer a terminal or is no UTF-8 written as \xNN. */
#ifndef SERVER_PROCESS_TRANSCRIPT_H
#define SERVER_PROCESS_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/base/buf.h"

struct transcript {
    int64_t start_ns;       /* lines carry the seconds since */
    struct rl_buf text;     /* finished lines */
    uint64_t dropped_lines; /* that did not fit any more */
    unsigned char *ring;    /* the last bytes of standard output and error */
    size_t ring_size, ring_at;
    uint64_t ring_total; /* bytes ever put into it */
};

/* Limits: LIMIT_TRANSCRIPT_BYTES and LIMIT_STDERR_BYTES. Returns -1 when memory ran out. */
int transcript_init(struct transcript *t, int64_t start_ns);
void transcript_fini(struct transcript *t); /* accepts a zeroed one */
/* Adds one line, "[   1.234 s] kind: text"; kind "" leaves the kind out. A line that does not fit is dropped and
 * counted. */
void transcript_line(struct transcript *t, const char *kind, const char *text);
/* Adds output of the process; of too much, the last LIMIT_STDERR_BYTES are kept. */
void transcript_output(struct transcript *t, const void *data, size_t len);
/* The whole text: lines, what was dropped, then the output if there was any. 0, or -1 when out is full. */
int transcript_write(const struct transcript *t, struct rl_buf *out);

#endif
