/* Protocol lines, both ends: see gpu/wire/PROTOCOL.md. Pure: no descriptors here. CUDA-free (target rl_wire). */
#ifndef GPU_WIRE_WIRE_H
#define GPU_WIRE_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpu/base/buf.h"
#include "gpu/base/err.h"
#include "gpu/record/run.h"
#include "gpu/suites/base/suite.h"

#define PROTOCOL_VERSION         2
#define PROTOCOL_FD              3
#define PROTOCOL_LINE_MAX        (1024u * 1024u)
#define PROTOCOL_TOTAL_MAX       (64u * 1024u * 1024u)
#define PROTOCOL_REQUEST_MAX     (16u * 1024u)
#define PROTOCOL_DEVICES_MAX     64u   /* device lines of a probe */
#define PROTOCOL_RUN_DEVICES_MAX 1u    /* devices of a run */
#define PROTOCOL_SAMPLES_MAX     256u  /* times of one sample line */
#define PROTOCOL_LOG_MAX         4096u /* bytes of one log line's text */
#define PROTOCOL_WORD_MAX        512u  /* bytes of other texts */
#define PROTOCOL_MESSAGE_MAX     1024u /* bytes of messages and reasons */
#define PROTOCOL_EXIT_MS         2000  /* the process is gone this long after end of file */

enum wire_kind {
    WIRE_HELLO,
    WIRE_DEVICE,
    WIRE_PROGRESS,
    WIRE_SAMPLE,
    WIRE_COUNTER,
    WIRE_TELEMETRY,
    WIRE_LOG,
    WIRE_WARNING,
    WIRE_RESULT,
    WIRE_ERROR
};

struct wire_request {
    bool probe;
    char job[24];
    char device[64];         /* empty: not named */
    struct rl_params params; /* of a run; its suite too */
};
/* Request as one line with '\n' appended to out. 0, or -1 with out's content as it was: out full, or no memory. */
int wire_request_write(const struct wire_request *request, struct rl_buf *out);
/* Reads one request line (with or without its '\n') strictly; else RL_E_MEASURE_PROTOCOL with err->field naming the
 * member. */
int wire_request_parse(const char *line, size_t len, struct wire_request *ret, struct rl_err *err);

/* Process end: appends a line of `kind` with seq and at_ns (now) to out; body's members follow in their order. body is
 * stolen, also on failure. 0, or -1 with out's content and seq as they were: body is no object, out full, line over
 * PROTOCOL_LINE_MAX, no memory. Start with a zeroed writer. */
struct wire_writer {
    int64_t seq;
};
int wire_write(struct wire_writer *writer, enum wire_kind kind, json_t *body, struct rl_buf *out);
const char *wire_kind_name(enum wire_kind kind); /* "hello" */

/* Parent end: of the process that was sent this request. Feeds bytes as they come; calls line() for each valid line in
 * order. Enforces limits, seq, order and the shape of every kind: what line() sees has been checked member by member,
 * runs and devices by the record's decoders. On a violation returns -1 with RL_E_MEASURE_PROTOCOL (RL_E_NO_MEMORY when
 * that ran out) and a message that names the line and member; every later feed fails too. When line() returns not 0,
 * feeding stops and fails with the error that line() set. body is the whole object and lives during the call. */
struct wire_line {
    enum wire_kind kind;
    int64_t seq, at_ns;
    const json_t *body;
};
struct wire_reader;
struct wire_reader *wire_reader_new(const struct wire_request *request,
                                    int (*line)(void *arg, const struct wire_line *line, struct rl_err *err),
                                    void *arg);
void wire_reader_free(struct wire_reader *reader); /* accepts NULL */
int wire_reader_feed(struct wire_reader *reader, const void *data, size_t len, struct rl_err *err);
/* At end of stream: 0 when exactly one result or error came and no partial line is left; else RL_E_MEASURE_CRASHED. */
int wire_reader_end(struct wire_reader *reader, struct rl_err *err);

#endif
