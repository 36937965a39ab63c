/* Chrome traces of the PyTorch profiler (torch.profiler, export_chrome_trace): kernels one by one, with grid, block and
 * duration. Events are read one at a time: a trace of 16 MiB has 50,000, and a tree of all takes ten times its size. */
#include "gpu/import/timings/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/import/text/json.h"
#include "gpu/import/text/message.h"
#include "gpu/import/timings/events.h"
#include "gpu/import/timings/members.h"

#define TRACE_US_MOST 1e12 /* of a duration: as many seconds as a record may have */

struct trace {
    struct import *import;
    struct import_place *at;
    struct import_events *events;
    json_t *properties; /* deviceProperties */
    double base_ns;     /* of the times; NaN: not told */
    double first_us;    /* the earliest kernel */
    double cuda;        /* cuda_runtime_version, 13000 */
    size_t seen;
};

/* ---- events ---- */

static bool is_category(const json_t *event, const char *one, const char *two)
{
    const char *category = json_string_value(json_object_get(event, "cat"));
    return category != NULL && (strcmp(category, one) == 0 || strcmp(category, two) == 0);
}

/* A member that may be missing. */
static int real_or(struct trace *t, const json_t *object, const char *name, double least, double most, double *ret)
{
    return json_object_get(object, name) == NULL ? 0 : import_member_real(t->at, object, name, least, most, ret);
}

static int add_kernel(struct trace *t, const json_t *event)
{
    struct import_event made = {.time_s = 0};
    const json_t *args = json_object_get(event, "args");
    double dur = 0, ts = 0, device = -1, correlation = NAN;
    bool grid = false, block = false;
    char seen[IMPORT_QUOTE];
    if (args != NULL && !json_is_object(args))
        return import_fail_at(t->at, RL_E_IMPORT_FORMAT, "args", "is %s; an object is expected",
                              import_json_seen(args, seen));
    if (import_member_text(t->at, event, "name", &made.name) != 0 ||
        import_member_real(t->at, event, "dur", 0, TRACE_US_MOST, &dur) != 0 ||
        import_member_real(t->at, event, "ts", -1e18, 1e18, &ts) != 0 ||
        real_or(t, args, "device", 0, 1023, &device) != 0 || real_or(t, args, "correlation", 0, 1e18, &correlation) ||
        import_member_dims(t->at, args, "grid", INT32_MAX, made.grid, &grid) != 0 ||
        import_member_dims(t->at, args, "block", 1024, made.block, &block) != 0)
        return -1;
    if (grid != block)
        return import_fail_at(t->at, RL_E_IMPORT_FORMAT, grid ? "block" : "grid",
                              "is missing beside the other: a shape is both");
    made.has_dims = grid;
    made.time_s = dur / 1e6; /* divided: rounded once */
    made.order = isnan(correlation) ? ts : correlation;
    made.start = ts;
    if (t->events->count == 0 || ts < t->first_us)
        t->first_us = ts;
    return import_events_add(t->events, t->at, &made, (int64_t)device);
}

static int take_event(struct trace *t, const json_t *event)
{
    char seen[IMPORT_QUOTE];
    const char *phase = json_string_value(json_object_get(event, "ph"));
    t->seen++;
    if (!json_is_object(event))
        return import_fail_at(t->at, RL_E_IMPORT_FORMAT, "traceEvents", "has %s; an object is expected",
                              import_json_seen(event, seen));
    if (phase == NULL || strcmp(phase, "X") != 0) /* whatever has no duration */
        return 0;
    t->events->copies += is_category(event, "gpu_memcpy", "Memcpy");
    t->events->sets += is_category(event, "gpu_memset", "Memset");
    return is_category(event, "kernel", "Kernel") ? add_kernel(t, event) : 0;
}

static int read_events(struct trace *t, struct import_json *json)
{
    if (!import_json_take(json, '['))
        return import_json_wrong(json, "the array of traceEvents");
    if (import_json_take(json, ']'))
        return 0;
    do {
        json_t *event = NULL;
        if (import_json_value(json, &event) != 0)
            return -1;
        int rc = take_event(t, event);
        json_decref(event);
        if (rc != 0)
            return -1;
    } while (import_json_take(json, ','));
    return import_json_take(json, ']') ? 0 : import_json_wrong(json, "a comma, or ] for the end of traceEvents,");
}

/* ---- the object around them ---- */

static void keep(struct trace *t, const char *name, json_t *value)
{
    double number = json_is_number(value) ? json_number_value(value) : NAN;
    if (strcmp(name, "deviceProperties") == 0 && t->properties == NULL)
        t->properties = json_incref(value);
    else if (strcmp(name, "baseTimeNanoseconds") == 0)
        t->base_ns = number;
    else if (strcmp(name, "cuda_runtime_version") == 0)
        t->cuda = number;
}

static int read_member(struct trace *t, struct import_json *json, json_t *seen)
{
    json_t *name = NULL, *value = NULL;
    int rc = import_json_value(json, &name);
    const char *text = json_string_value(name);
    char quoted[IMPORT_QUOTE];
    if (rc == 0 && text == NULL)
        rc = import_fail_at(t->at, RL_E_IMPORT_FORMAT, NULL, "has %s where a member's name is expected",
                            import_json_seen(name, quoted));
    if (rc == 0 && json_object_get(seen, text) != NULL)
        rc = import_fail_at(t->at, RL_E_IMPORT_FORMAT, import_quote(quoted, text), "is there twice");
    if (rc == 0 && json_object_set_new(seen, text, json_true()) != 0)
        rc = rl_fail(t->import->err, RL_E_NO_MEMORY, "timings", "no memory for the trace");
    if (rc == 0 && !import_json_take(json, ':'))
        rc = import_json_wrong(json, "a colon after the member's name");
    if (rc == 0 && strcmp(text, "traceEvents") == 0)
        rc = read_events(t, json);
    else if (rc == 0 && (rc = import_json_value(json, &value)) == 0)
        keep(t, text, value);
    json_decref(name);
    json_decref(value);
    return rc;
}

static int read_object(struct trace *t, struct import_json *json)
{
    json_t *seen = json_object();
    int rc = import_json_take(json, '{') && seen != NULL ? 0 : -1;
    if (seen == NULL)
        rl_fail(t->import->err, RL_E_NO_MEMORY, "timings", "no memory for the trace");
    if (rc == 0 && !import_json_take(json, '}')) {
        do
            rc = read_member(t, json, seen);
        while (rc == 0 && import_json_take(json, ','));
        if (rc == 0 && !import_json_take(json, '}'))
            rc = import_json_wrong(json, "a comma, or } for the trace's end,");
    }
    json_decref(seen);
    return rc;
}

/* ---- what it says of the device and the day ---- */

static void say_device(struct trace *t)
{
    for (size_t i = 0; i < json_array_size(t->properties); i++) {
        const json_t *device = json_array_get(t->properties, i);
        const char *name = json_string_value(json_object_get(device, "name"));
        double id = json_number_value(json_object_get(device, "id"));
        if (name != NULL && (json_array_size(t->properties) == 1 || id == (double)t->events->device))
            t->import->said.device = rl_arena_strdup(t->import->run->arena, name);
    }
}

static void say_rest(struct trace *t)
{
    struct import_said *said = &t->import->said;
    say_device(t);
    if (t->cuda >= 1000 && t->cuda < 1e6)
        said->cuda = rl_arena_printf(t->import->run->arena, "%d.%d", (int)t->cuda / 1000, (int)t->cuda % 1000 / 10);
    double ms = t->base_ns * 1e-6 + t->first_us * 1e-3;
    if (t->events->count > 0 && ms > 0 && ms <= (double)t->import->request->now_ms)
        said->date_ms = (int64_t)ms;
}

bool import_is_trace(const struct import_text *text, char first)
{
    return first == '[' && memmem(text->data, text->len < 65536 ? text->len : 65536, "\"ph\"", 4) != NULL;
}

int import_trace(struct import *import, const struct import_file *file, const struct import_text *text,
                 const char **ret_format)
{
    struct import_place at = {import->err, file, 1};
    struct import_json json = import_json_begin(&at, text->data, text->len);
    struct trace t = {.import = import, .at = &at, .base_ns = NAN, .cuda = NAN};
    (void)ret_format;
    t.events = import_events_new(import, file);
    if (t.events == NULL)
        return -1;
    json.reals = true;
    import->events = t.events;
    int rc = import_json_peek(&json) == '[' ? read_events(&t, &json) : read_object(&t, &json);
    if (rc == 0)
        rc = import_json_end(&json);
    if (rc == 0) {
        char what[96];
        snprintf(what, sizeof what, "%zu event%s and no kernel among them (\"cat\": \"kernel\")", t.seen,
                 t.seen == 1 ? "" : "s");
        say_rest(&t);
        rc = import_events_finish(t.events, what);
    }
    json_decref(t.properties);
    return rc;
}
