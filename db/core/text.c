/* JSON text written straight into a buffer: lists and samples are too large to build as trees first. */
#include "db/core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/time.h"

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

/* "%.17g" of [1, 1e17) without printf: such a double is a whole number and at most 52 bits behind the point, so that
 * its decimal digits come out exactly, and are rounded as printf does, half to even. */
static void put_seventeen(struct rl_buf *out, double value)
{
    const uint64_t one = UINT64_C(1) << 52;
    uint64_t whole = (uint64_t)value, fraction = (uint64_t)((value - (double)whole) * (double)one), digits = whole;
    int places = 0; /* behind the point */
    char text[24];
    size_t at = sizeof text;

    for (uint64_t limit = whole; limit < UINT64_C(10000000000000000); limit *= 10, places++) {
        fraction *= 10;
        digits = digits * 10 + (fraction >> 52);
        fraction &= one - 1;
    }
    if (fraction > one / 2 || (fraction == one / 2 && digits % 2 == 1))
        digits++;
    for (; places > 0 && digits % 10 == 0; places--)
        digits /= 10;
    do {
        text[--at] = (char)('0' + digits % 10);
        digits /= 10;
        if (--places == 0)
            text[--at] = '.';
    } while (digits > 0);
    rl_buf_add(out, text + at, sizeof text - at);
}

void json_put_real(struct rl_buf *out, double value, int digits)
{
    char text[48];

    if (!isfinite(value)) { /* the schema's CHECKs keep these out */
        rl_buf_puts(out, "null");
        return;
    }
    if (digits == 17 && value >= 1 && value < 1e17) {
        put_seventeen(out, value);
        return;
    }
    snprintf(text, sizeof text, "%.*g", digits, value);
    for (char *p = text; *p != '\0'; p++) {
        if ((*p < '0' || *p > '9') && *p != '-' && *p != '+' && *p != 'e')
            *p = '.'; /* whatever the locale's decimal point is */
    }
    rl_buf_puts(out, text);
}

void json_put_int(struct rl_buf *out, int64_t value)
{
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char text[20];
    size_t at = sizeof text;

    do
        text[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0)
        text[--at] = '-';
    rl_buf_add(out, text + at, sizeof text - at);
}

/* 10^0 to 10^22 are exact doubles. */
static double power_of_ten(int exponent)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

    return powers[exponent];
}

/* value = digits * 10^(exponent - 8), digits of nine places */
static int64_t nine_digits(double size, int *ret_exponent)
{
    int exponent = (int)floor(log10(size));
    int64_t digits;

    for (;;) { /* again when the logarithm was rounded over a power of ten, or the digits were */
        digits = llround(exponent <= 8 ? size * power_of_ten(8 - exponent) : size / power_of_ten(exponent - 8));
        if (digits < 100000000)
            exponent--;
        else if (digits > 999999999)
            exponent++;
        else
            break;
    }
    *ret_exponent = exponent;
    return digits;
}

void json_put_nine(struct rl_buf *out, double value)
{
    double size = fabs(value);
    char digits[9], text[32];
    size_t count = sizeof digits, length = 0;
    int64_t left;
    int exponent;

    if (!(size >= 1e-12 && size < 1e21)) { /* 0, and what is measured nowhere */
        json_put_real(out, value, 9);
        return;
    }
    left = nine_digits(size, &exponent);
    for (size_t i = sizeof digits; i-- > 0; left /= 10)
        digits[i] = (char)('0' + left % 10);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (value < 0)
        text[length++] = '-';
    if (exponent < -4 || exponent > 8) { /* d.dde-05, as printf's %g */
        text[length++] = digits[0];
        if (count > 1)
            text[length++] = '.';
        memcpy(text + length, digits + 1, count - 1);
        length += count - 1;
        text[length++] = 'e';
        text[length++] = exponent < 0 ? '-' : '+';
        text[length++] = (char)('0' + abs(exponent) / 10);
        text[length++] = (char)('0' + abs(exponent) % 10);
        rl_buf_add(out, text, length);
        return;
    }
    for (int place = exponent < 0 ? 0 : exponent; place >= 0 || exponent - place < (int)count; place--) {
        int at = exponent - place; /* of the digits */

        if (place == -1)
            text[length++] = '.';
        text[length++] = at >= 0 && at < (int)count ? digits[at] : '0';
    }
    rl_buf_add(out, text, length);
}

void json_put_time(struct rl_buf *out, int64_t ms)
{
    char text[RL_TIME_TEXT];

    rl_time_format(ms, text);
    rl_buf_puts(out, "\"");
    rl_buf_puts(out, text);
    rl_buf_puts(out, "\"");
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
