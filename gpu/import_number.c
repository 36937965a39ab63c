/* Numbers as profilers print them under any locale. One file has one format; which it is, all of its numbers say
 * together: "117.344" alone may be either. */
#include <string.h>

#include "base/num.h"
#include "import_internal.h"

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

int import_number_parse(unsigned format, const char *text, double *ret)
{
    char clean[64], out[80];
    size_t to = 0;
    if (!plain(text, clean))
        return -1;
    const char *c = clean;
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
    return rl_parse_real(out, ret);
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
