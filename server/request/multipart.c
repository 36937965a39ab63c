/* See server/request/multipart.h. A delimiter is CRLF "--" boundary, and the body's first line counts as one that
 * follows a CRLF. CR comes at its beginning alone, so that after a mismatch nothing but a CR can begin it again: no
 * bytes are looked at twice. */
#include "server/request/multipart.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gpu/base/num.h"
#include "server/limits/limits.h"

enum state {
    PREAMBLE,
    AFTER_BOUNDARY, /* blanks and CRLF, or "--" */
    HEADER,
    BODY,
    AFTER_LAST, /* blanks, then CRLF or the end */
    EPILOGUE,
};

struct multipart {
    struct multipart_events events;
    char delimiter[MULTIPART_BOUNDARY_MAX + 8];
    size_t delimiter_len, matched; /* matched: of the delimiter, so far */
    enum state state;
    bool after_cr;
    unsigned dashes, parts;
    char line[LIMIT_PART_HEADER_BYTES + 1];
    size_t line_len, header_bytes; /* of this part */
    bool disposed, named_file;     /* disposed: its Content-Disposition has come */
    char name[LIMIT_PART_NAME_BYTES + 1], filename[LIMIT_FILENAME_BYTES + 1];
};

static int bad(struct rl_err *err, const char *field, const char *what)
{
    return rl_fail(err, RL_E_BAD_REQUEST, field, "the multipart body %s", what);
}

/* ---- parameters ---- */

static bool is_token(char c)
{
    return c > ' ' && c < 0x7f && strchr("()<>@,;:\\\"/[]?=", c) == NULL;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* A token or quoted-string at *at into value, moving *at past it. Browsers send a backslash as it is and a quote as
 * %22; other programs put a backslash before either: those two pairs are read as one character. */
static int take_value(const char **at, char *value, size_t size)
{
    const char *from = *at;
    bool quoted = *from == '"';
    size_t len = 0;
    from += quoted;
    while (*from != '\0' && (quoted ? *from != '"' : is_token(*from))) {
        if (quoted && *from == '\\' && (from[1] == '"' || from[1] == '\\'))
            from++;
        if (len + 1 >= size)
            return -1;
        value[len++] = *from++;
    }
    value[len] = '\0';
    if (quoted ? *from != '"' : len == 0)
        return -1;
    *at = from + quoted;
    return 0;
}

/* The next "; name=value" at *at: 1, 0 at the end, -1 for what is none. */
static int take_param(const char **at, char *name, size_t name_size, char *value, size_t value_size)
{
    const char *from = skip_blanks(*at);
    size_t len = 0;
    if (*from == '\0')
        return 0;
    if (*from++ != ';')
        return -1;
    from = skip_blanks(from);
    while (is_token(from[len]))
        len++;
    if (len == 0 || len >= name_size || from[len] != '=')
        return -1;
    memcpy(name, from, len);
    name[len] = '\0';
    from += len + 1;
    if (take_value(&from, value, value_size) != 0)
        return -1;
    *at = from;
    return 1;
}

int multipart_boundary(const char *content_type, char ret[MULTIPART_BOUNDARY_MAX + 1], struct rl_err *err)
{
    static const char type[] = "multipart/form-data";
    char name[32], value[256];
    const char *at = content_type + strlen(type);
    bool found = false;
    int more = -1;
    if (strncasecmp(content_type, type, strlen(type)) == 0 && (*at == '\0' || strchr("; \t", *at) != NULL))
        while ((more = take_param(&at, name, sizeof name, value, sizeof value)) == 1) {
            if (strcasecmp(name, "boundary") != 0)
                continue;
            size_t len = strlen(value);
            bool fits = !found && len > 0 && len <= MULTIPART_BOUNDARY_MAX && value[len - 1] != ' ';
            for (size_t i = 0; i < len; i++)
                fits = fits && value[i] >= ' ' && value[i] < 0x7f && strchr("\"\\", value[i]) == NULL;
            if (!fits)
                return rl_fail(err, RL_E_BAD_MEDIA_TYPE, "Content-Type",
                               "the boundary is not one of 1 to %u printable characters, or is there twice",
                               MULTIPART_BOUNDARY_MAX);
            memcpy(ret, value, len + 1);
            found = true;
        }
    if (more != 0)
        return rl_fail(err, RL_E_BAD_MEDIA_TYPE, "Content-Type", "the Content-Type '%.64s' is not %s; boundary=…",
                       content_type, type);
    return found ? 0 : rl_fail(err, RL_E_BAD_MEDIA_TYPE, "Content-Type", "the Content-Type has no boundary");
}

/* ---- headers of a part ---- */

static bool is_clean_text(const char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        if (rl_utf8_control(text + i, len - i) != 0)
            return false;
    return rl_utf8_valid(text, len);
}

static int take_disposition(struct multipart *m, const char *value, struct rl_err *err)
{
    char name[32], text[LIMIT_PART_HEADER_BYTES + 1];
    const char *at = value + strcspn(value, "; \t");
    bool has_name = false;
    int more;
    if (m->disposed)
        return bad(err, "Content-Disposition", "has a part with two Content-Disposition headers");
    if (at - value != 9 || strncasecmp(value, "form-data", 9) != 0)
        return bad(err, "Content-Disposition", "has a part whose Content-Disposition is not form-data");
    while ((more = take_param(&at, name, sizeof name, text, sizeof text)) == 1) {
        bool is_name = strcasecmp(name, "name") == 0, is_filename = strcasecmp(name, "filename") == 0;
        if (strcasecmp(name, "filename*") == 0)
            return bad(err, "filename*", "has a part with filename*, which form-data does not have; send filename");
        if (!is_name && !is_filename)
            continue;
        size_t max = is_name ? LIMIT_PART_NAME_BYTES : LIMIT_FILENAME_BYTES;
        if ((is_name && has_name) || (is_filename && m->named_file))
            return bad(err, name, "has a part whose Content-Disposition says one parameter twice");
        if (!is_clean_text(text))
            return bad(err, name, "has a part with a name or filename that is no UTF-8, or holds control characters");
        if (strlen(text) > max)
            return rl_fail(err, RL_E_TOO_LARGE, name, "a part's %s has %zu bytes; at most %zu are taken", name,
                           strlen(text), max);
        memcpy(is_name ? m->name : m->filename, text, strlen(text) + 1);
        has_name |= is_name;
        m->named_file |= is_filename;
    }
    if (more != 0)
        return bad(err, "Content-Disposition", "has a part whose Content-Disposition cannot be read");
    if (!has_name || m->name[0] == '\0')
        return bad(err, "name", "has a part without a name");
    m->disposed = true;
    return 0;
}

/* One header without its CRLF, in m->line. */
static int take_header(struct multipart *m, struct rl_err *err)
{
    char *colon;
    m->line[m->line_len] = '\0';
    if (strlen(m->line) != m->line_len)
        return bad(err, NULL, "has a NUL in the headers of a part");
    if (m->line[0] == ' ' || m->line[0] == '\t')
        return bad(err, NULL, "has a part with a folded header; send each in one line");
    colon = strchr(m->line, ':');
    size_t len = colon != NULL ? (size_t)(colon - m->line) : 0;
    for (size_t i = 0; i < len; i++)
        if (!is_token(m->line[i]))
            len = 0;
    if (len == 0)
        return bad(err, NULL, "has a part with a line among its headers that is none");
    *colon = '\0';
    const char *value = skip_blanks(colon + 1);
    for (char *end = m->line + m->line_len; end > value && (end[-1] == ' ' || end[-1] == '\t');)
        *--end = '\0';
    if (strcasecmp(m->line, "Content-Disposition") == 0)
        return take_disposition(m, value, err);
    if (strcasecmp(m->line, "Content-Transfer-Encoding") == 0)
        return bad(err, "Content-Transfer-Encoding",
                   "has a part with Content-Transfer-Encoding; send its bytes as they are, without that header");
    return 0; /* RFC 7578, 4.8: others are to be ignored */
}

static int end_headers(struct multipart *m, struct rl_err *err)
{
    if (!m->disposed)
        return bad(err, "Content-Disposition", "has a part without Content-Disposition");
    m->state = BODY;
    m->matched = 0;
    return m->events.begin(m->events.arg, m->name, m->named_file ? m->filename : NULL, err);
}

/* ---- bytes ---- */

static int line_feed_alone(struct rl_err *err)
{
    return bad(err, NULL, "has a line that ends in LF alone; its own lines end in CR LF");
}

static void begin_part(struct multipart *m)
{
    m->state = HEADER;
    m->line_len = m->header_bytes = 0;
    m->disposed = m->named_file = false;
    m->name[0] = m->filename[0] = '\0';
}

static int on_boundary(struct multipart *m, struct rl_err *err)
{
    bool in_part = m->state == BODY;
    m->state = AFTER_BOUNDARY;
    m->dashes = 0;
    m->after_cr = false;
    return in_part ? m->events.end(m->events.arg, err) : 0;
}

static int after_boundary(struct multipart *m, char c, struct rl_err *err)
{
    if (m->after_cr) {
        if (c != '\n')
            return bad(err, NULL, "has a CR without LF after a boundary");
        if (++m->parts > LIMIT_UPLOAD_PARTS)
            return rl_fail(err, RL_E_TOO_LARGE, NULL, "the multipart body has more than %u parts", LIMIT_UPLOAD_PARTS);
        m->after_cr = false;
        begin_part(m);
        return 0;
    }
    if (c == '\n')
        return line_feed_alone(err);
    m->after_cr = c == '\r' && m->dashes != 1;
    if (c == '-' && m->dashes < 2) {
        if (++m->dashes == 2)
            m->state = AFTER_LAST;
        return 0;
    }
    bool blank = c == ' ' || c == '\t';
    if (m->dashes == 0 && blank)
        m->dashes = 3; /* no dash may follow */
    if (!m->after_cr && (!blank || m->dashes == 1))
        return bad(err, NULL, "has something else than a line's end after a boundary");
    return 0;
}

static int after_last(struct multipart *m, char c, struct rl_err *err)
{
    if (m->after_cr ? c == '\n' : c == ' ' || c == '\t' || c == '\r') {
        if (m->after_cr)
            m->state = EPILOGUE;
        m->after_cr = c == '\r';
        return 0;
    }
    return c == '\n' ? line_feed_alone(err)
                     : bad(err, NULL, "has something else than a line's end after its last boundary");
}

static int header_byte(struct multipart *m, char c, struct rl_err *err)
{
    if (++m->header_bytes > LIMIT_PART_HEADER_BYTES)
        return rl_fail(err, RL_E_TOO_LARGE, NULL, "the headers of a part have more than %u bytes",
                       LIMIT_PART_HEADER_BYTES);
    if (m->after_cr) {
        m->after_cr = false;
        if (c != '\n')
            return bad(err, NULL, "has a CR without LF in the headers of a part");
        size_t len = m->line_len;
        int rc = len == 0 ? end_headers(m, err) : take_header(m, err);
        m->line_len = 0;
        return rc;
    }
    if (c == '\n')
        return line_feed_alone(err);
    if (c == '\r')
        m->after_cr = true;
    else
        m->line[m->line_len++] = c;
    return 0;
}

static int give(struct multipart *m, const char *data, size_t len, struct rl_err *err)
{
    return m->state == BODY && len > 0 ? m->events.data(m->events.arg, data, len, err) : 0;
}

/* Goes on with a delimiter that the bytes before began: true while it is all that data holds, or whole. */
static bool goes_on(struct multipart *m, const char *data, size_t len, size_t *ret_used)
{
    size_t at = 0;
    while (at < len && m->matched < m->delimiter_len && data[at] == m->delimiter[m->matched])
        at++, m->matched++;
    *ret_used = at;
    return at == len || m->matched == m->delimiter_len;
}

/* Preamble or body up to the delimiter or the end of the bytes; *ret_used of them. What is no delimiter is given in one
 * piece, however many beginnings of one it holds: 16 MiB of CR, given one by one, took 12 s of the loop (2026-11-29).
 */
static int scan(struct multipart *m, const char *data, size_t len, size_t *ret_used, struct rl_err *err)
{
    size_t from = 0, at;
    if (m->matched > 0 && !goes_on(m, data, len, &from)) {
        size_t held = m->matched;
        m->matched = 0;
        if (give(m, m->delimiter, held, err) != 0)
            return -1;
    }
    at = from;
    while (m->matched == 0 && at < len) {
        const char *cr = memchr(data + at, '\r', len - at);
        at = cr != NULL ? (size_t)(cr - data) : len;
        size_t end = at, used = 0;
        if (cr != NULL && !goes_on(m, cr, len - at, &used))
            m->matched = 0;
        at += used;
        if ((m->matched > 0 || at == len) && give(m, data + from, end - from, err) != 0)
            return -1;
    }
    *ret_used = at;
    if (m->matched < m->delimiter_len)
        return 0;
    m->matched = 0;
    return on_boundary(m, err);
}

int multipart_feed(struct multipart *m, const char *data, size_t len, struct rl_err *err)
{
    size_t used = 0;
    for (size_t at = 0; at < len; at += used) {
        int rc = 0;
        used = 1;
        switch (m->state) {
        case PREAMBLE:
        case BODY:
            rc = scan(m, data + at, len - at, &used, err);
            break;
        case AFTER_BOUNDARY:
            rc = after_boundary(m, data[at], err);
            break;
        case HEADER:
            rc = header_byte(m, data[at], err);
            break;
        case AFTER_LAST:
            rc = after_last(m, data[at], err);
            break;
        case EPILOGUE:
            used = len - at;
            break;
        }
        if (rc != 0)
            return -1;
    }
    return 0;
}

int multipart_end(struct multipart *m, struct rl_err *err)
{
    switch (m->state) {
    case PREAMBLE:
        return bad(err, NULL, "does not have the boundary that Content-Type says");
    case AFTER_BOUNDARY:
    case HEADER:
    case BODY:
        return bad(err, m->state == BODY ? m->name : NULL, "ends before its last boundary");
    case AFTER_LAST:
    case EPILOGUE:
        break;
    }
    return m->parts > 0 ? 0 : bad(err, NULL, "has no part");
}

struct multipart *multipart_new(const char *boundary, const struct multipart_events *events)
{
    struct multipart *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->events = *events;
    m->delimiter_len =
        (size_t)snprintf(m->delimiter, sizeof m->delimiter, "\r\n--%.*s", (int)MULTIPART_BOUNDARY_MAX, boundary);
    m->matched = 2; /* as if a CRLF stood before the body */
    return m;
}

void multipart_free(struct multipart *m)
{
    free(m);
}
