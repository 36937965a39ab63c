/* The JSON writer. */
#include "gpu/record/json_text.h"

#include <stdint.h>
#include <string.h>

#include "gpu/base/num.h"

static int write_string(const char *text, size_t len, struct rl_buf *out)
{
    int rc = rl_buf_add(out, "\"", 1);
    size_t done = 0;
    for (size_t i = 0; rc == 0 && i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F)
            continue;
        rc = rl_buf_add(out, text + done, i - done);
        done = i + 1;
        if (rc < 0)
            break;
        if (c == '"' || c == '\\')
            rc = rl_buf_printf(out, "\\%c", c);
        else if (c == '\n')
            rc = rl_buf_puts(out, "\\n");
        else
            rc = rl_buf_printf(out, "\\u%04x", c);
    }
    if (rc == 0)
        rc = rl_buf_add(out, text + done, len - done);
    return rc < 0 ? -1 : rl_buf_add(out, "\"", 1);
}

static int write_value(const json_t *value, int depth, struct rl_buf *out);

static int write_object(const json_t *object, int depth, struct rl_buf *out)
{
    const char *key;
    json_t *member;
    const char *before = "{";
    json_object_foreach((json_t *)object, key, member)
    {
        if (rl_buf_puts(out, before) < 0 || write_string(key, strlen(key), out) < 0 || rl_buf_add(out, ":", 1) < 0 ||
            write_value(member, depth, out) < 0)
            return -1;
        before = ",";
    }
    return rl_buf_puts(out, before[0] == '{' ? "{}" : "}");
}

static int write_array(const json_t *array, int depth, struct rl_buf *out)
{
    if (rl_buf_add(out, "[", 1) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(array); i++)
        if ((i > 0 && rl_buf_add(out, ",", 1) < 0) || write_value(json_array_get(array, i), depth, out) < 0)
            return -1;
    return rl_buf_add(out, "]", 1);
}

static int write_real(double value, struct rl_buf *out)
{
    char text[RL_REAL_TEXT];
    int len = rl_format_real(text, sizeof text, value);
    if (len < 0) {
        out->failed = true; /* Jansson makes no non-finite real */
        return -1;
    }
    return rl_buf_add(out, text, (size_t)len);
}

static int write_value(const json_t *value, int depth, struct rl_buf *out)
{
    if (depth >= RL_JSON_DEPTH_MAX) {
        out->failed = true;
        return -1;
    }
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return write_object(value, depth + 1, out);
    case JSON_ARRAY:
        return write_array(value, depth + 1, out);
    case JSON_STRING:
        return write_string(json_string_value(value), json_string_length(value), out);
    case JSON_INTEGER:
        return rl_buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    case JSON_REAL:
        return write_real(json_real_value(value), out);
    case JSON_TRUE:
        return rl_buf_puts(out, "true");
    case JSON_FALSE:
        return rl_buf_puts(out, "false");
    case JSON_NULL:
        break;
    }
    return rl_buf_puts(out, "null");
}

int rl_json_write(const json_t *value, struct rl_buf *out)
{
    if (value == NULL) {
        out->failed = true;
        return -1;
    }
    return write_value(value, 0, out);
}

static int add_piece(const char *piece, size_t len, void *out)
{
    return rl_buf_add(out, piece, len);
}

char *rl_json_dumps(const json_t *value)
{
    struct rl_buf out;
    if (value == NULL)
        return NULL;
    rl_buf_init(&out, SIZE_MAX / 2);
    /* what Jansson does not look at, the buffer remembers */
    if (json_dump_callback(value, add_piece, &out, JSON_COMPACT) != 0 || out.failed) {
        rl_buf_free(&out);
        return NULL;
    }
    return rl_buf_take(&out);
}
