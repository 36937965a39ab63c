/* See width.h. */
#include "gpu/base/width.h"

#include <stdint.h>
#include <string.h>

#include "gpu/base/num.h"

struct range {
    uint32_t from, to;
};
/* Unicode's nonspacing marks and format characters as far as names have them, and its East Asian Wide ones. */
static const struct range none[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},
                                    {0x064B, 0x065F}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},
                                    {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064}, {0x20D0, 0x20FF},
                                    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};
static const struct range wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},
                                    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                                    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
                                    {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

static bool is_in(uint32_t point, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (point >= ranges[i].from && point <= ranges[i].to)
            return true;
    return false;
}

/* The next character's bytes (at least 1, of a text that has not ended) and its columns. */
static size_t step(const char *text, size_t len, int *columns)
{
    size_t bytes = rl_utf8_step(text, len);
    *columns = 1;
    if (bytes < 2)
        return 1;
    uint32_t point = (unsigned char)text[0] & (0xFFu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++)
        point = point << 6 | ((unsigned char)text[i] & 0x3Fu);
    if (is_in(point, none, sizeof none / sizeof none[0]))
        *columns = 0;
    else if (is_in(point, wide, sizeof wide / sizeof wide[0]))
        *columns = 2;
    return bytes;
}

int rl_text_width(const char *text)
{
    size_t len = strlen(text);
    int width = 0, columns;
    for (size_t at = 0; at < len; width += columns)
        at += step(text + at, len - at, &columns);
    return width;
}

/* Bytes of the longest beginning of at most so many columns, *used of which it takes. */
static size_t beginning(const char *text, size_t len, int most, int *used)
{
    size_t at = 0;
    int columns;
    *used = 0;
    while (at < len) {
        size_t bytes = step(text + at, len - at, &columns);
        if (*used + columns > most)
            break;
        *used += columns;
        at += bytes;
    }
    return at;
}

bool rl_text_fit(char *out, size_t size, const char *text, int width)
{
    static const char dots[] = "…";
    size_t len = strlen(text), head = len, tail = len, at = 0;
    int whole = rl_text_width(text), used = whole, columns;
    bool cut = whole > width;
    if (cut) {
        head = beginning(text, len, (width - 1) / 2, &used);
        int rest = whole;
        for (tail = 0; tail < len && rest > width - 1 - used; rest -= columns)
            tail += step(text + tail, len - tail, &columns);
        used += 1 + rest;
    }
    const struct {
        const char *from;
        size_t bytes;
    } parts[] = {{text, head}, {dots, cut ? sizeof dots - 1 : 0}, {text + tail, len - tail}};
    for (size_t i = 0; i < 3; i++)
        if (parts[i].bytes < size - at) {
            memcpy(out + at, parts[i].from, parts[i].bytes);
            at += parts[i].bytes;
        }
    for (; used < width && at + 1 < size; used++)
        out[at++] = ' ';
    out[at] = '\0';
    return cut;
}
