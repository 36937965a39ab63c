/* Protocol lines: requests, and the process's writer. The parent's reader is gpu/wire/read.c. */
#include "gpu/wire/wire.h"

#include <string.h>

#include "gpu/base/time.h"
#include "gpu/record/json_text.h"
#include "kernels/unit/catalogue.h"

static const char *const kind_names[] = {
    [WIRE_HELLO] = "hello",   [WIRE_DEVICE] = "device",   [WIRE_PROGRESS] = "progress",
    [WIRE_SAMPLE] = "sample", [WIRE_COUNTER] = "counter", [WIRE_TELEMETRY] = "telemetry",
    [WIRE_LOG] = "log",       [WIRE_WARNING] = "warning", [WIRE_RESULT] = "result",
    [WIRE_ERROR] = "error",
};

const char *wire_kind_name(enum wire_kind kind)
{
    return kind_names[kind];
}

/* Appends object and '\n', or leaves out's content as it was: half a line would spoil the stream. */
static int add_line(const json_t *object, size_t max, struct rl_buf *out)
{
    size_t start = out->len;
    if (object != NULL && rl_json_write(object, out) == 0 && out->len - start <= max && rl_buf_add(out, "\n", 1) == 0)
        return 0;
    if (out->data != NULL) {
        out->len = start;
        out->data[start] = '\0';
    }
    return -1;
}

int wire_write(struct wire_writer *writer, enum wire_kind kind, json_t *body, struct rl_buf *out)
{
    json_t *line = json_pack("{s:s,s:I,s:I}", "t", kind_names[kind], "seq", (json_int_t)(writer->seq + 1), "at_ns",
                             (json_int_t)rl_monotonic_ns());
    int rc = -1;
    if (line != NULL && json_is_object(body) && json_object_update_missing(line, body) == 0)
        rc = add_line(line, PROTOCOL_LINE_MAX, out);
    if (rc == 0)
        writer->seq++;
    json_decref(line);
    json_decref(body);
    return rc;
}

/* ---- requests ---- */

static json_t *request_json(const struct wire_request *request)
{
    if (request->probe)
        return json_pack("{s:s,s:i}", "t", "probe", "protocol", PROTOCOL_VERSION);
    json_t *cache = json_array(), *kernels = json_array();
    if (request->warm)
        json_array_append_new(cache, json_string("warm"));
    if (request->cold)
        json_array_append_new(cache, json_string("cold"));
    for (size_t i = 0; i < rl_kernel_count; i++)
        if (request->kernel[i])
            json_array_append_new(kernels, json_string(rl_units[i]->id));
    if (json_array_size(cache) == 0 || json_array_size(kernels) == 0) {
        json_decref(cache);
        json_decref(kernels);
        return NULL;
    }
    const char *device = request->device[0] != '\0' ? request->device : NULL;
    return json_pack("{s:s,s:i,s:s,s:s?,s:s,s:o,s:o,s:b}", "t", "run", "protocol", PROTOCOL_VERSION, "job",
                     request->job, "device", device, "sizes", request->sizes, "cache", cache, "kernels", kernels,
                     "counters", (int)request->counters);
}

int wire_request_write(const struct wire_request *request, struct rl_buf *out)
{
    json_t *json = request_json(request);
    int rc = add_line(json, PROTOCOL_REQUEST_MAX, out);
    json_decref(json);
    return rc;
}

static int bad(struct rl_err *err, const char *field, const char *what)
{
    return rl_fail(err, RL_E_MEASURE_PROTOCOL, field, "the request's %s %s", field, what);
}

/* A text of 1 to size - 1 characters out of `set`. */
static int read_word(const json_t *object, const char *name, const char *set, char *ret, size_t size,
                     struct rl_err *err)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_string(value))
        return bad(err, name, "has to be a text");
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    if (len == 0 || len >= size || strspn(text, set) != len)
        return bad(err, name, "is too long, empty, or has characters that do not belong there");
    memcpy(ret, text, len + 1);
    return 0;
}

#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* The UUID becomes CUDA_VISIBLE_DEVICES: no comma, no space. */
static int read_device(const json_t *object, struct wire_request *ret, struct rl_err *err)
{
    if (json_is_null(json_object_get(object, "device"))) {
        ret->device[0] = '\0';
        return 0;
    }
    return read_word(object, "device", DIGITS LETTERS "-_/.", ret->device, sizeof ret->device, err);
}

static int read_cache(const json_t *object, struct wire_request *ret, struct rl_err *err)
{
    const json_t *list = json_object_get(object, "cache");
    if (!json_is_array(list) || json_array_size(list) == 0)
        return bad(err, "cache", "has to be a list of \"warm\", \"cold\" or both");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        bool *state = text == NULL                ? NULL
                      : strcmp(text, "warm") == 0 ? &ret->warm
                      : strcmp(text, "cold") == 0 ? &ret->cold
                                                  : NULL;
        if (state == NULL || *state)
            return bad(err, "cache", "has to be a list of \"warm\", \"cold\" or both, each once");
        *state = true;
    }
    return 0;
}

static int read_kernels(const json_t *object, struct wire_request *ret, struct rl_err *err)
{
    const json_t *list = json_object_get(object, "kernels");
    if (!json_is_array(list) || json_array_size(list) == 0)
        return bad(err, "kernels", "has to be a list of kernel ids");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        size_t found = rl_kernel_count;
        for (size_t k = 0; text != NULL && k < rl_kernel_count; k++)
            if (strcmp(rl_units[k]->id, text) == 0)
                found = k;
        if (found == rl_kernel_count)
            return bad(err, "kernels", "names a kernel that this build does not have");
        if (ret->kernel[found])
            return bad(err, "kernels", "names a kernel twice");
        ret->kernel[found] = true;
    }
    return 0;
}

static int read_run(const json_t *object, struct wire_request *ret, struct rl_err *err)
{
    enum rl_sizes sizes;
    if (read_word(object, "job", DIGITS, ret->job, sizeof ret->job, err) < 0 || read_device(object, ret, err) < 0 ||
        read_word(object, "sizes", DIGITS LETTERS "_", ret->sizes, sizeof ret->sizes, err) < 0 ||
        read_cache(object, ret, err) < 0 || read_kernels(object, ret, err) < 0)
        return -1;
    if (rl_sizes_from_name(ret->sizes, &sizes) < 0)
        return bad(err, "sizes", "is none that this build has");
    const json_t *counters = json_object_get(object, "counters");
    if (!json_is_boolean(counters))
        return bad(err, "counters", "has to be true or false");
    ret->counters = json_is_true(counters);
    if (json_object_size(object) != 8)
        return bad(err, "line", "has a member that is not known");
    return 0;
}

static int read_request(const json_t *object, struct wire_request *ret, struct rl_err *err)
{
    const char *kind = json_string_value(json_object_get(object, "t"));
    const json_t *protocol = json_object_get(object, "protocol");
    if (kind == NULL || (strcmp(kind, "probe") != 0 && strcmp(kind, "run") != 0))
        return bad(err, "t", "has to be \"probe\" or \"run\"");
    if (!json_is_integer(protocol) || json_integer_value(protocol) != PROTOCOL_VERSION)
        return bad(err, "protocol", "is not 1, the only version of this build");
    ret->probe = strcmp(kind, "probe") == 0;
    if (!ret->probe)
        return read_run(object, ret, err);
    return json_object_size(object) == 2 ? 0 : bad(err, "line", "has a member that is not known");
}

int wire_request_parse(const char *line, size_t len, struct wire_request *ret, struct rl_err *err)
{
    if (len > PROTOCOL_REQUEST_MAX + 1)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "the request has %zu bytes, more than %u", len,
                       PROTOCOL_REQUEST_MAX);
    json_error_t why;
    json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
    if (object == NULL)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "the request is no JSON: %s", why.text);
    struct wire_request request = {0};
    int rc = read_request(object, &request, err);
    json_decref(object);
    if (rc == 0)
        *ret = request;
    return rc;
}
