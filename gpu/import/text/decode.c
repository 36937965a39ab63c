/* Uploaded bytes as UTF-8 lines, whatever wrote them. */
#include "gpu/import/text/decode.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/import/text/message.h"

static int not_text(const struct import_file *file, const char *what, struct rl_err *err)
{
    struct import_source source = {import_kind_name(file->kind), file->name, 0, NULL};
    return import_fail(err, RL_E_IMPORT_OTHER_FILE, &source, "is %s, not text", what);
}

/* Files that people upload by mistake, by their first bytes. */
static const char *binary_kind(const char *data, size_t len)
{
    static const struct {
        const char *magic;
        size_t len;
        const char *what;
    } kinds[] = {
        {"NVR\0", 4, "a report of Nsight Compute (.ncu-rep); export it with: ncu --import FILE --csv --page raw"},
        {"SQLite format 3", 15, "an SQLite database, such as nsys or nvprof write"},
        {"PK\x03\x04", 4, "a zip archive or a spreadsheet's own file; save it as CSV"},
        {"\x1F\x8B", 2, "compressed by gzip; unpack it first"},
        {"\x7F"
         "ELF",
         4, "a program"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (len >= kinds[i].len && memcmp(data, kinds[i].magic, kinds[i].len) == 0)
            return kinds[i].what;
    return NULL;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

static uint32_t unit16(const unsigned char *at, bool big)
{
    return big ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

/* UTF-16 to out, which has room for 3 bytes a unit. */
static int from_utf16(const struct import_file *file, size_t from, bool big, char *out, size_t *ret_len,
                      struct rl_err *err)
{
    const unsigned char *data = (const unsigned char *)file->data;
    struct import_source source = {import_kind_name(file->kind), file->name, 1, NULL};
    size_t to = 0;
    if ((file->len - from) % 2 != 0)
        return import_fail(err, RL_E_IMPORT_FORMAT, &source, "is UTF-16 that ends within a character: the file is cut");
    for (size_t i = from; i < file->len; i += 2) {
        uint32_t c = unit16(data + i, big);
        if (c >= 0xD800 && c < 0xDC00 && i + 3 < file->len) {
            uint32_t low = unit16(data + i + 2, big);
            if (low >= 0xDC00 && low < 0xE000) {
                c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
                i += 2;
            }
        }
        if (c == 0 || (c >= 0xD800 && c < 0xE000))
            return import_fail(err, RL_E_IMPORT_FORMAT, &source, "has a unit that is no UTF-16 character");
        source.line += c == '\n';
        to += put_utf8(out + to, c);
    }
    *ret_len = to;
    return 0;
}

/* CRLF, and CR alone, become LF. */
static size_t unify_line_ends(char *data, size_t len)
{
    size_t to = 0;
    for (size_t i = 0; i < len; i++) {
        if (data[i] != '\r')
            data[to++] = data[i];
        else if (i + 1 >= len || data[i + 1] != '\n')
            data[to++] = '\n';
    }
    data[to] = '\0';
    return to;
}

static int check_utf8(const struct import_file *file, const char *data, size_t len, struct rl_err *err)
{
    struct import_source source = {import_kind_name(file->kind), file->name, 1, NULL};
    for (size_t i = 0; i < len;) {
        size_t step = rl_utf8_step(data + i, len - i);
        if (step == 0 && data[i] == '\0')
            return not_text(file, "binary (it has NUL bytes)", err);
        if (step == 0)
            return import_fail(err, RL_E_IMPORT_FORMAT, &source,
                               "has the byte 0x%02X, which is not UTF-8; save the file as UTF-8 or UTF-16",
                               (unsigned char)data[i]);
        source.line += data[i] == '\n';
        i += step;
    }
    return 0;
}

enum encoding { UTF8, UTF8_BOM, UTF16_LE, UTF16_BE, UTF16_LE_PLAIN, UTF16_BE_PLAIN, UTF32 };

static enum encoding encoding_of(const unsigned char *data, size_t len)
{
    if (len >= 4 && ((memcmp(data, "\xFF\xFE\0\0", 4) == 0) || memcmp(data, "\0\0\xFE\xFF", 4) == 0))
        return UTF32;
    if (len >= 2 && data[0] == 0xFF && data[1] == 0xFE)
        return UTF16_LE;
    if (len >= 2 && data[0] == 0xFE && data[1] == 0xFF)
        return UTF16_BE;
    if (len >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0)
        return UTF8_BOM;
    /* No mark: two ASCII characters in a row tell. */
    if (len >= 4 && data[0] != 0 && data[1] == 0 && data[2] != 0 && data[3] == 0)
        return UTF16_LE_PLAIN;
    if (len >= 4 && data[0] == 0 && data[1] != 0 && data[2] == 0 && data[3] != 0)
        return UTF16_BE_PLAIN;
    return UTF8;
}

int import_text_decode(const struct import_file *file, struct import_text *ret, struct rl_err *err)
{
    static const char *const names[] = {"UTF-8",
                                        "UTF-8 with a byte order mark",
                                        "UTF-16 (little-endian)",
                                        "UTF-16 (big-endian)",
                                        "UTF-16 (little-endian, no byte order mark)",
                                        "UTF-16 (big-endian, no byte order mark)",
                                        "UTF-32"};
    static const size_t marks[] = {0, 3, 2, 2, 0, 0, 4};
    struct import_source source = {import_kind_name(file->kind), file->name, 0, NULL};
    if (file->len > IMPORT_INFLATED_MAX) /* as it came, import_make has looked at */
        return import_fail(err, RL_E_TOO_LARGE, &source, "has %zu bytes; at most %zu are read", file->len,
                           IMPORT_INFLATED_MAX);
    if (file->len == 0)
        return import_fail(err, RL_E_IMPORT_OTHER_FILE, &source, "is empty");
    const char *binary = binary_kind(file->data, file->len);
    if (binary != NULL)
        return not_text(file, binary, err);
    enum encoding encoding = encoding_of((const unsigned char *)file->data, file->len);
    if (encoding == UTF32)
        return not_text(file, "UTF-32; save it as UTF-8", err);
    bool wide = encoding >= UTF16_LE;
    char *data = calloc((wide ? file->len / 2 * 3 : file->len) + 4, 1);
    if (data == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, source.kind, "no memory for %zu bytes of text", file->len);
    size_t len = file->len - marks[encoding];
    int rc = 0;
    if (wide)
        rc = from_utf16(file, marks[encoding], encoding == UTF16_BE || encoding == UTF16_BE_PLAIN, data, &len, err);
    else
        memcpy(data, file->data + marks[encoding], len);
    if (rc == 0) {
        len = unify_line_ends(data, len);
        rc = check_utf8(file, data, len, err);
    }
    if (rc != 0) {
        free(data);
        return -1;
    }
    *ret = (struct import_text){data, len, names[encoding]};
    return 0;
}

bool import_text_line(const struct import_text *text, size_t *at, const char **ret_line, size_t *ret_len)
{
    if (*at >= text->len)
        return false;
    const char *line = text->data + *at;
    const char *end = memchr(line, '\n', text->len - *at);
    *ret_line = line;
    *ret_len = end != NULL ? (size_t)(end - line) : text->len - *at;
    *at += *ret_len + (end != NULL);
    return true;
}
