/* Numbers as profilers print them under any locale. One file has one format; which it is, all of its numbers say
 * together: "117.344" alone may be either. */
#include "gpu/import/text/number.h"

#include <string.h>
#include <strings.h>

#include "gpu/base/num.h"

static const struct {
    char group, decimal;
    const char *words;
} formats[IMPORT_FORMATS] = {
    {',', '.', "thousands \",\", decimals \".\""},  {'.', ',', "thousands \".\", decimals \",\""},
    {' ', ',', "thousands \" \", decimals \",\""},  {' ', '.', "thousands \" \", decimals \".\""},
    {'\'', '.', "thousands \"'\", decimals \".\""}, {'\'', ',', "thousands \"'\", decimals \",\""},
};

const char *import_number_words(unsigned format)
{
    return formats[format].words;
}

/* The separators that are not ASCII: no-break and narrow spaces (fr, sv, ru), the typographic apostrophe (de_CH).
 * Returns false when it does not fit or holds what no number has. */
static bool plain(const char *text, char out[64])
{
    static const struct {
        const char *bytes;
        char as;
    } others[] = {{"\xC2\xA0", ' '}, {"\xE2\x80\xAF", ' '}, {"\xE2\x80\x89", ' '}, {"\xE2\x80\x99", '\''}};
    size_t to = 0;
    while (*text == ' ')
        text++;
    while (*text != '\0') {
        size_t taken = 0;
        for (size_t i = 0; i < sizeof others / sizeof others[0] && taken == 0; i++)
            if (strncmp(text, others[i].bytes, strlen(others[i].bytes)) == 0) {
                out[to++] = others[i].as;
                taken = strlen(others[i].bytes);
            }
        if (taken == 0) {
            if (strchr("0123456789.,' eE+-", *text) == NULL)
                return false;
            out[to++] = *text;
            taken = 1;
        }
        text += taken;
        if (to > 60)
            return false;
    }
    while (to > 0 && out[to - 1] == ' ')
        to--;
    out[to] = '\0';
    return to > 0;
}

/* Digits with groups of three; returns the end, or NULL. */
static const char *take_whole(const char *text, char group, char *out, size_t *to)
{
    size_t run = 0;
    bool grouped = false;
    const char *c = text;
    for (;; c++) {
        if (*c >= '0' && *c <= '9') {
            out[(*to)++] = *c;
            run++;
            continue;
        }
        if (run == 0 || (grouped && run != 3) || (!grouped && *c == group && run > 3))
            return NULL;
        if (*c != group)
            return c;
        grouped = true;
        run = 0;
    }
}

/* text in one format as a number of JSON's grammar; -1 when it is none in it. */
static int clean(unsigned format, const char *text, char out[80])
{
    char plainly[64];
    size_t to = 0;
    if (!plain(text, plainly))
        return -1;
    const char *c = plainly;
    if (*c == '-')
        out[to++] = *c++;
    size_t first = to;
    c = take_whole(c, formats[format].group, out, &to);
    if (c == NULL)
        return -1;
    /* JSON's grammar has no leading zeros; a group of "000" may stand alone in none of the formats */
    while (to - first > 1 && out[first] == '0') {
        memmove(out + first, out + first + 1, to - first - 1);
        to--;
    }
    if (*c == formats[format].decimal) {
        out[to++] = '.';
        for (c++; *c >= '0' && *c <= '9'; c++)
            out[to++] = *c;
    }
    for (; *c != '\0'; c++) {
        if (strchr("eE+-0123456789", *c) == NULL)
            return -1;
        out[to++] = *c;
    }
    out[to] = '\0';
    return 0;
}

int import_number_parse(unsigned format, const char *text, double *ret)
{
    char out[80];
    return clean(format, text, out) == 0 ? rl_parse_real(out, ret) : -1;
}

/* A number's digits without its point, and the power of ten that they are to be taken times; -1: a sign, or more digits
 * than 64 bits hold. */
static int digits_of(const char *number, uint64_t *ret_digits, int64_t *ret_power)
{
    uint64_t digits = 0;
    int64_t power = 0, exponent = 0, zeros = 0; /* zeros: read and not yet taken */
    bool behind_point = false;
    const char *c = number;
    for (; (*c >= '0' && *c <= '9') || *c == '.'; c++) {
        behind_point = behind_point || *c == '.';
        if (*c == '.')
            continue;
        power -= behind_point;
        zeros++;
        if (*c == '0')
            continue;
        for (; zeros > 0; zeros--)
            if (!rl_mul_u64(digits, 10, &digits))
                return -1;
        if (!rl_add_u64(digits, (uint64_t)(*c - '0'), &digits))
            return -1;
    }
    if ((*c == 'e' || *c == 'E') && rl_parse_i64(c[1] == '+' ? c + 2 : c + 1, -99, 99, &exponent) != 0)
        return -1;
    if (*c != '\0' && *c != 'e' && *c != 'E')
        return -1;
    *ret_digits = digits;
    *ret_power = power + zeros + exponent;
    return 0;
}

int import_number_whole(unsigned format, const char *text, uint64_t times, int64_t *ret)
{
    char out[80];
    double value;
    uint64_t digits;
    int64_t power;
    if (clean(format, text, out) != 0 || rl_parse_real(out, &value) != 0 || digits_of(out, &digits, &power) != 0)
        return -1;
    unsigned __int128 product = (unsigned __int128)digits * times;
    const unsigned __int128 most = (unsigned __int128)1000000000000000000;
    for (; power > 0 && product > 0; power--)
        if ((product *= 10) > most)
            return -1;
    for (; power < -1 && product > 0; power++)
        product /= 10; /* the last digit but one decides which way a half is rounded: more would not matter */
    if (power < 0)
        product = (product + 5) / 10;
    if (product > most)
        return -1;
    *ret = (int64_t)product;
    return 0;
}

double import_number_step(unsigned format, const char *text)
{
    char out[80];
    int64_t power = 0, exponent = 0;
    if (clean(format, text, out) != 0)
        return 0;
    const char *point = strchr(out, '.'), *e = strpbrk(out, "eE");
    if (point != NULL)
        power = -(int64_t)strspn(point + 1, "0123456789");
    if (e != NULL && rl_parse_i64(e[1] == '+' ? e + 2 : e + 1, -99, 99, &exponent) != 0)
        return 0;
    double step = 1;
    for (power += exponent; power < 0; power++)
        step /= 10;
    for (; power > 0; power--)
        step *= 10;
    return step;
}

/* What profilers, runtimes and spreadsheets write where there is no number. */
bool import_number_is_odd(const char *text)
{
    static const char *const begins[] = {"nan", "inf", "1.#"};
    static const char *const words[] = {"n/a", "#n/a", "na", "n.a.", "!", "no data", "none", "null"};
    text += strspn(text, " (+-");
    if (text[0] == '\0')
        return true;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncasecmp(text, begins[i], 3) == 0)
            return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i]);
        if (strncasecmp(text, words[i], len) == 0 && text[len + strspn(text + len, " )")] == '\0')
            return true;
    }
    return false;
}

bool import_number_has_fraction(unsigned format, const char *text)
{
    return strchr(text, formats[format].decimal) != NULL;
}

unsigned import_number_formats(const char *text)
{
    unsigned mask = 0;
    double value;
    for (unsigned i = 0; i < IMPORT_FORMATS; i++)
        if (import_number_parse(i, text, &value) == 0)
            mask |= 1u << i;
    return mask;
}

void import_numbers_begin(struct import_numbers *numbers)
{
    *numbers = (struct import_numbers){.alive = (1u << IMPORT_FORMATS) - 1};
}

void import_numbers_see(struct import_numbers *numbers, const char *text, size_t line)
{
    /* plain digits say nothing, and are most of a file */
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits] == '\0')
        return;
    unsigned mask = import_number_formats(text);
    if (mask == 0)
        return;
    for (unsigned i = 0; i < IMPORT_FORMATS; i++) {
        if ((numbers->alive & 1u << i) == 0 || (mask & 1u << i) != 0)
            continue;
        numbers->alive &= ~(1u << i);
        numbers->killed[i].line = line;
        /* text was readable in some format, so that it is short and of few characters; cut it at a character's start */
        size_t len = strlen(text) < sizeof numbers->killed[i].text ? strlen(text) : sizeof numbers->killed[i].text - 1;
        while (len > 0 && len < strlen(text) && ((unsigned char)text[len] & 0xC0) == 0x80)
            len--;
        memcpy(numbers->killed[i].text, text, len);
        numbers->killed[i].text[len] = '\0';
    }
}
