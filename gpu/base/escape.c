/* See gpu/base/escape.h. */
#include "gpu/base/escape.h"

#include "gpu/base/num.h"

/* Length of the valid UTF-8 character at the start of text, or 0. */
static size_t character(const unsigned char *text, size_t len)
{
    size_t want = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (want > len || !rl_utf8_valid((const char *)text, want))
        return 0;
    return want;
}

static bool shown(const unsigned char *at, size_t width, bool lines)
{
    unsigned control = width > 0 ? rl_utf8_control((const char *)at, width) : 0;
    return width > 0 && (control == 0 || control == '\t' || (control == '\n' && lines));
}

int text_escape(struct rl_buf *out, const void *text, size_t len, bool lines)
{
    const unsigned char *at = text;
    for (size_t i = 0; i < len;) {
        size_t width = character(at + i, len - i);
        if (shown(at + i, width, lines)) {
            if (rl_buf_add(out, at + i, width) != 0)
                return -1;
            i += width;
        } else {
            if (rl_buf_printf(out, "\\x%02x", at[i]) != 0)
                return -1;
            i++;
        }
    }
    return 0;
}
