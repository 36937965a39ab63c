/* Protocol lines: requests, and the process's writer. The parent's reader is gpu/wire/read.c. */
#include "gpu/wire/wire.h"

#include <string.h>

#include "gpu/base/time.h"
#include "gpu/record/json_text.h"
#include "gpu/suites/base/params.h"
#include "gpu/suites/suites.h"

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
    json_t *params = json_object(), *devices = json_array();
    int rc = rl_params_write(&request->params, true, params);
    if (rc == 0 && request->device[0] != '\0')
        rc = json_array_append_new(devices, json_string(request->device));
    json_t *line = json_pack("{s:s,s:i,s:s,s:s,s:o,s:o}", "t", "run", "protocol", PROTOCOL_VERSION, "job", request->job,
                             "suite", request->params.suite->name, "devices", devices, "params", params);
    if (rc == 0)
        return line;
    json_decref(line);
    return NULL;
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
static int read_word(const json_t *value, const char *name, const char *set, char *ret, size_t size, struct rl_err *err)
{
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
static int read_devices(const json_t *object, struct wire_request *ret, struct rl_err *err)
{
    const json_t *list = json_object_get(object, "devices");
    size_t count = json_array_size(list);
    if (!json_is_array(list))
        return bad(err, "devices", "has to be a list of devices");
    if (count > PROTOCOL_RUN_DEVICES_MAX)
        return bad(err, "devices", "has more than one device, and no suite of this build measures several");
    ret->device[0] = '\0';
    return count == 0 ? 0
                      : read_word(json_array_get(list, 0), "devices", DIGITS LETTERS "-_/.", ret->device,
                                  sizeof ret->device, err);
}

static int read_params(const json_t *object, struct wire_request *ret, struct rl_err *err)
{
    struct rl_err why = {.code = RL_E_NONE};
    const struct rl_suite *suite = rl_suite_find(json_string_value(json_object_get(object, "suite")));
    if (suite == NULL || !suite->submittable)
        return bad(err, "suite", "is none that this build measures");
    if (rl_params_read(suite, json_object_get(object, "params"), true, &ret->params, &why) == 0)
        return 0;
    return rl_fail(err, RL_E_MEASURE_PROTOCOL, why.field, "the request's params: %s", why.message);
}

static int read_run(const json_t *object, struct wire_request *ret, struct rl_err *err)
{
    if (read_word(json_object_get(object, "job"), "job", DIGITS, ret->job, sizeof ret->job, err) < 0 ||
        read_devices(object, ret, err) < 0 || read_params(object, ret, err) < 0)
        return -1;
    return json_object_size(object) == 6 ? 0 : bad(err, "line", "has a member that is not known");
}

static int read_request(const json_t *object, struct wire_request *ret, struct rl_err *err)
{
    const char *kind = json_string_value(json_object_get(object, "t"));
    const json_t *protocol = json_object_get(object, "protocol");
    if (kind == NULL || (strcmp(kind, "probe") != 0 && strcmp(kind, "run") != 0))
        return bad(err, "t", "has to be \"probe\" or \"run\"");
    if (!json_is_integer(protocol) || json_integer_value(protocol) != PROTOCOL_VERSION)
        return rl_fail(
            err, RL_E_MEASURE_PROTOCOL, "protocol",
            "the request is of protocol %lld, but this program speaks version %d: the programs are of two builds",
            (long long)json_integer_value(protocol), PROTOCOL_VERSION);
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
