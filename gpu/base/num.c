/* Numbers in and out of text. */
#include "gpu/base/num.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rl_parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    bool negative = *text == '-';
    const char *at = text + negative;
    if (*at < '0' || *at > '9' || (*at == '0' && (at[1] != '\0' || negative)))
        return -1;
    int64_t value = 0;
    for (; *at != '\0'; at++) {
        if (*at < '0' || *at > '9')
            return -1;
        int digit = *at - '0';
        /* Counted downwards: the negative range is the wider one. */
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, digit, &value))
            return -1;
    }
    if (!negative && __builtin_sub_overflow((int64_t)0, value, &value))
        return -1;
    if (value < min || value > max)
        return -1;
    *ret = value;
    return 0;
}

static const char *skip_digits(const char *text)
{
    while (*text >= '0' && *text <= '9')
        text++;
    return text;
}

/* JSON's grammar of a number: strtod alone would also take " 1", "0x1p3", "inf" and "nan". */
static bool is_number(const char *text)
{
    if (*text == '-')
        text++;
    const char *end = skip_digits(text);
    if (end == text || (*text == '0' && end - text > 1))
        return false;
    if (*end == '.') {
        text = end + 1;
        end = skip_digits(text);
        if (end == text)
            return false;
    }
    if (*end == 'e' || *end == 'E') {
        text = end + 1;
        if (*text == '+' || *text == '-')
            text++;
        end = skip_digits(text);
        if (end == text)
            return false;
    }
    return *end == '\0';
}

int rl_parse_real(const char *text, double *ret)
{
    if (!is_number(text))
        return -1;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0)
        return -1;
    double value = strtod_l(text, NULL, c);
    freelocale(c);
    if (!isfinite(value))
        return -1;
    *ret = value;
    return 0;
}

/* printf of one double under the C locale, whatever the thread's is. */
static int format(char *text, size_t size, char style, int precision, double value)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0)
        return -1;
    locale_t before = uselocale(c);
    int length =
        style == 'f' ? snprintf(text, size, "%.*f", precision, value) : snprintf(text, size, "%.*g", precision, value);
    uselocale(before);
    freelocale(c);
    return length < 0 || (size_t)length >= size ? -1 : length;
}

int rl_format_fixed(char *text, size_t size, double value, int decimals)
{
    if (!isfinite(value) || decimals < 0)
        return -1;
    int length = format(text, size, 'f', decimals, value);
    if (length > 0 && text[0] == '-' && strspn(text + 1, "0.") == (size_t)length - 1) {
        memmove(text, text + 1, (size_t)length); /* a rounded -0.0 says nothing to a reader */
        length--;
    }
    return length;
}

int rl_format_real(char *text, size_t size, double value)
{
    if (!isfinite(value) || size < RL_REAL_TEXT)
        return -1;
    /* counts stay whole on paper too: 1230000000000000.0, not 1.23e+15 */
    if (value == rint(value) && fabs(value) < 1e18) {
        int whole = format(text, size, 'f', 0, value);
        if (whole > 0)
            memcpy(text + whole, ".0", 3);
        return whole > 0 ? whole + 2 : -1;
    }
    /* 15 digits always survive decimal to double to decimal, 17 always survive double to decimal to double. */
    int length = -1;
    for (int precision = 15; precision <= 17; precision++) {
        double back;
        length = format(text, size, 'g', precision, value);
        if (length < 0)
            return -1;
        if (precision == 17 || (rl_parse_real(text, &back) == 0 && back == value))
            break;
    }
    if (strpbrk(text, ".e") == NULL) {
        memcpy(text + length, ".0", 3);
        length += 2;
    }
    return length;
}

const char *rl_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

bool rl_mul_u64(uint64_t a, uint64_t b, uint64_t *ret)
{
    uint64_t value;
    if (__builtin_mul_overflow(a, b, &value))
        return false;
    *ret = value;
    return true;
}

bool rl_add_u64(uint64_t a, uint64_t b, uint64_t *ret)
{
    uint64_t value;
    if (__builtin_add_overflow(a, b, &value))
        return false;
    *ret = value;
    return true;
}

static bool is_tail(unsigned char c)
{
    return (c & 0xC0u) == 0x80u;
}

/* Ranges of the second byte from the Unicode standard, table 3-7: they keep out overlong forms, surrogates and
 * everything above U+10FFFF. */
size_t rl_utf8_step(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    if (len == 0 || s[0] == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xC2 || s[0] > 0xF4 || len < 2)
        return 0;
    if (s[0] < 0xE0)
        return is_tail(s[1]) ? 2 : 0;
    unsigned char low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
    if (s[1] < low || s[1] > high || len < 3 || !is_tail(s[2]))
        return 0;
    if (s[0] < 0xF0)
        return 3;
    return len >= 4 && is_tail(s[3]) ? 4 : 0;
}

bool rl_utf8_valid(const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t step = rl_utf8_step(text + at, len - at);
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

/* Of valid UTF-8. */
static unsigned code_point(const char *text, size_t step)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned code = step == 1 ? s[0] : s[0] & (0xFFu >> (step + 1));
    for (size_t i = 1; i < step; i++)
        code = code << 6 | (s[i] & 0x3Fu);
    return code;
}

unsigned rl_utf8_control(const char *text, size_t len)
{
    size_t step = rl_utf8_step(text, len);
    unsigned code = step > 0 ? code_point(text, step) : 0;
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ? code : 0;
}

unsigned rl_utf8_control_of_lines(const char *text, size_t len)
{
    unsigned code = rl_utf8_control(text, len);
    return code == '\n' || code == '\t' || code >= 0x2028 ? 0 : code;
}

/* White_Space and Default_Ignorable_Code_Point of the Unicode standard, and the Braille pattern
 * without dots, a symbol there. */
static bool is_blank(unsigned code)
{
    static const struct {
        unsigned first, last;
    } blanks[] = {
        {0x20, 0x20},       {0xA0, 0xA0},       {0xAD, 0xAD},     {0x34F, 0x34F},   {0x61C, 0x61C},
        {0x115F, 0x1160},   {0x1680, 0x1680},   {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x2000, 0x200F},
        {0x202A, 0x202F},   {0x205F, 0x206F},   {0x2800, 0x2800}, {0x3000, 0x3000}, {0x3164, 0x3164},
        {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8}, {0x1BCA0, 0x1BCA3},
        {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
    };
    for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++)
        if (code >= blanks[i].first && code <= blanks[i].last)
            return true;
    return false;
}

bool rl_utf8_is_visible(const char *text, size_t len)
{
    for (size_t at = 0, step; at < len && (step = rl_utf8_step(text + at, len - at)) > 0; at += step) {
        unsigned code = code_point(text + at, step);
        if (!is_blank(code) && code != '\n' && code != '\t' && code != 0x2028 && code != 0x2029)
            return true;
    }
    return false;
}

bool rl_utf8_is_line(const char *text)
{
    bool seen = false;
    for (size_t at = 0, len = strlen(text); at < len;) {
        size_t step = rl_utf8_step(text + at, len - at);
        if (step == 0 || rl_utf8_control(text + at, step) != 0)
            return false;
        seen = seen || !is_blank(code_point(text + at, step));
        at += step;
    }
    return seen;
}
