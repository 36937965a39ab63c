/* What the tests of the protocol's reader share: good lines of every kind, streams of them, and a reader's verdict. */
#ifndef TESTS_UNIT_WIRE_WIRE_FIXTURE_H
#define TESTS_UNIT_WIRE_WIRE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "gpu/record/json.h"
#include "gpu/record/json_text.h"
#include "gpu/suites/document.h"
#include "gpu/suites/verify/verify.h"
#include "gpu/wire/wire.h"
#include "kernels/unit/catalogue.h"
#include "tests/unit/record/sample_run.h"

struct seen {
    size_t lines;
    enum wire_kind last;
    int64_t seq;
    int refuse_at; /* the receiver itself fails at this line */
};

static inline int on_line(void *arg, const struct wire_line *line, struct rl_err *err)
{
    struct seen *seen = arg;
    seen->lines++;
    seen->last = line->kind;
    assert_int_equal(line->seq, seen->seq + 1);
    assert_int_equal(json_integer_value(json_object_get(line->body, "seq")), line->seq);
    seen->seq = line->seq;
    if (seen->refuse_at == (int)seen->lines)
        return rl_fail(err, RL_E_STORE_FULL, "disk", "the receiver is full");
    return 0;
}

/* ---- making streams ---- */

static struct rl_run *sample;

static inline json_t *reason(const char *name, const char *why)
{
    return json_pack("{s:s}", name, why);
}

static inline json_t *device_body(bool probe)
{
    json_t *body = json_pack("{s:o,s:o}", "device", rl_device_to_json(&sample->device), "environment",
                             rl_environment_to_json(&sample->environment));
    if (probe) {
        json_object_set_new(body, "counters", json_pack("{s:s,s:n}", "status", "ok", "why"));
    } else {
        json_object_set_new(body, "counters", json_null());
        json_object_set_new(body, "why", reason("counters", "a run opens its session later"));
    }
    return body;
}

static inline json_t *body_of(enum wire_kind kind, bool probe)
{
    switch (kind) {
    case WIRE_HELLO:
        return json_pack("{s:i,s:s,s:s,s:i}", "protocol", PROTOCOL_VERSION, "build", "0.1.0", "backend", "replay",
                         "pid", 4711);
    case WIRE_DEVICE:
        return device_body(probe);
    case WIRE_PROGRESS:
        return json_pack("{s:s,s:s,s:i,s:i}", "phase", "kernels", "what", "vector_add warm", "done", 3, "total", 40);
    case WIRE_SAMPLE:
        return json_pack("{s:s,s:s,s:i,s:[f,f]}", "unit", rl_units[0]->id, "state", "warm", "launches", 10, "times_s",
                         1e-3, 1.5e-3);
    case WIRE_COUNTER:
        return json_pack("{s:s,s:s,s:{s:f,s:n},s:o}", "unit", rl_units[0]->id, "state", "cold", "values", "dram_read",
                         1e6, "l1", "why", reason("l1", "the chip has none"));
    case WIRE_TELEMETRY:
        return json_pack("{s:o}", "telemetry", rl_telemetry_to_json(&sample->telemetry[0]));
    case WIRE_LOG:
        return json_pack("{s:s}", "text", "opened");
    case WIRE_WARNING:
        return json_pack("{s:s,s:s}", "code", "counters_busy", "message", "another profiler");
    case WIRE_RESULT:
        return json_pack("{s:o}", "run", probe ? json_null() : rl_run_to_json(sample));
    case WIRE_ERROR:
        return json_pack("{s:{s:s,s:s,s:s}}", "error", "code", "no_device", "message", "none", "next_action", "Look.");
    }
    return NULL;
}

static inline void add(struct wire_writer *writer, enum wire_kind kind, json_t *body, struct rl_buf *out)
{
    assert_non_null(body);
    assert_int_equal(wire_write(writer, kind, body, out), 0);
}

static const enum wire_kind whole_run[] = {WIRE_HELLO,    WIRE_LOG,       WIRE_PROGRESS, WIRE_DEVICE,
                                           WIRE_PROGRESS, WIRE_TELEMETRY, WIRE_SAMPLE,   WIRE_COUNTER,
                                           WIRE_WARNING,  WIRE_LOG,       WIRE_RESULT};
#define WHOLE_COUNT (sizeof whole_run / sizeof whole_run[0])

static inline void make(const enum wire_kind *kinds, size_t count, bool probe, struct rl_buf *out)
{
    struct wire_writer writer = {0};
    rl_buf_init(out, 8 * PROTOCOL_LINE_MAX);
    for (size_t i = 0; i < count; i++)
        add(&writer, kinds[i], body_of(kinds[i], probe), out);
}

struct verdict {
    int feed, end;
    struct rl_err feed_err, end_err;
    struct seen seen;
};

static const struct wire_request run_request = {.params.suite = &rl_suite_verify}, probe_request = {.probe = true};

static inline struct verdict judge(bool probe, const char *data, size_t len, size_t piece)
{
    struct verdict v = {0};
    struct wire_reader *reader = wire_reader_new(probe ? &probe_request : &run_request, on_line, &v.seen);
    for (size_t at = 0; v.feed == 0 && at < len; at += piece)
        v.feed = wire_reader_feed(reader, data + at, len - at < piece ? len - at : piece, &v.feed_err);
    if (v.feed < 0) { /* broken once, broken for good */
        assert_int_equal(wire_reader_feed(reader, "\n", 1, NULL), -1);
    }
    v.end = wire_reader_end(reader, &v.end_err);
    wire_reader_free(reader);
    return v;
}

static inline struct verdict judge_text(bool probe, const char *text)
{
    return judge(probe, text, strlen(text), SIZE_MAX / 2);
}

static inline void expect_broken(struct verdict v, const char *part)
{
    assert_int_equal(v.feed, -1);
    assert_int_equal(v.feed_err.code, RL_E_MEASURE_PROTOCOL);
    assert_int_equal(v.end, -1);
    assert_int_equal(v.end_err.code, RL_E_MEASURE_CRASHED);
    if (strstr(v.feed_err.message, part) == NULL)
        fail_msg("no \"%s\" in \"%s\"", part, v.feed_err.message);
}

static inline int set_up(void **state)
{
    (void)state;
    sample = sample_run_small();
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    rl_run_free(sample);
    return 0;
}

#endif
