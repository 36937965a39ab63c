/* JSON text written straight into a buffer: lists and samples are too large to build as trees first. */
#include "db/store_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/time.h"

void json_put_text(struct rl_buf *out, const char *text)
{
    const char *from = text;

    rl_buf_puts(out, "\"");
    for (const char *p = text;; p++) {
        unsigned char c = (unsigned char)*p;

        /* 0x7f is legal in JSON but invisible everywhere: escaped with the controls. */
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        rl_buf_add(out, from, (size_t)(p - from));
        if (c == '\0')
            break;
        if (c == '"' || c == '\\')
            rl_buf_printf(out, "\\%c", c);
        else
            rl_buf_printf(out, "\\u%04x", c);
        from = p + 1;
    }
    rl_buf_puts(out, "\"");
}

void json_put_real(struct rl_buf *out, double value, int digits)
{
    char text[48];

    if (!isfinite(value)) { /* the schema's CHECKs keep these out */
        rl_buf_puts(out, "null");
        return;
    }
    snprintf(text, sizeof text, "%.*g", digits, value);
    for (char *p = text; *p != '\0'; p++) {
        if ((*p < '0' || *p > '9') && *p != '-' && *p != '+' && *p != 'e')
            *p = '.'; /* whatever the locale's decimal point is */
    }
    rl_buf_puts(out, text);
}

void json_put_time(struct rl_buf *out, int64_t ms)
{
    char text[RL_TIME_TEXT];

    rl_time_format(ms, text);
    rl_buf_printf(out, "\"%s\"", text);
}

int store_finish_text(struct rl_buf *out, size_t length, int rc, struct rl_err *err)
{
    if (rc == 0 && !out->failed)
        return 0;
    if (out->len > length) {
        out->len = length;
        out->data[length] = '\0';
    }
    if (rc == 0)
        rl_fail(err, RL_E_NO_MEMORY, NULL, "the answer is longer than the %zu bytes that it may have", out->max);
    return -1;
}
