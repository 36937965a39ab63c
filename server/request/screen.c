/* See server/request/screen.h. One byte at a time through a table of states, but for bodies, which are passed over at
 * once. */
#include "server/request/screen.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "server/limits/limits.h"

#define METHOD_MAX       32 /* RFC 9112, 3: a longer method than any that is known is answered 501 */
#define EMPTY_LINES_MAX  8  /* before a request line; RFC 9112, 2.2, asks for one */
#define CHUNK_DIGITS_MAX 16

enum state {
    START, /* between requests */
    START_LF,
    METHOD,
    TARGET,
    VERSION,
    LINE_LF,
    LINE_START, /* of a header or trailer line, or the empty line */
    NAME,
    BEFORE_VALUE,
    VALUE,
    VALUE_LF,
    END_LF,
    BODY,
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_LF,
    CHUNK_DATA,
    DATA_CR,
    DATA_LF
};

enum field { OTHER, LENGTH, CODING, HOST, COOKIE };

void http_screen_init(struct http_screen *screen)
{
    memset(screen, 0, sizeof(*screen));
    screen->state = START;
}

static void next_request(struct http_screen *screen)
{
    struct http_screen fresh = {.heads = screen->heads, .requests = screen->requests + 1, .state = START};
    *screen = fresh;
}

static bool is_token_byte(unsigned char c)
{
    return isalnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* A line feed that no carriage return precedes, or the other way round: what one reader takes for the end of a line,
 * another takes for a byte of it. */
static int bare(unsigned char c, const char *where, struct rl_err *err)
{
    return rl_fail(err, RL_E_BAD_REQUEST, NULL,
                   c == '\n' ? "%s has a line feed without a carriage return before it"
                             : "%s has a carriage return that no line feed follows",
                   where);
}

static int expect_lf(struct http_screen *screen, unsigned char c, enum state next, const char *where,
                     struct rl_err *err)
{
    if (c != '\n')
        return bare('\r', where, err);
    screen->state = next;
    return 0;
}

/* ---- the request line ---- */

static int start(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    if (c == '\r') {
        if (++screen->empty_lines > EMPTY_LINES_MAX)
            return rl_fail(err, RL_E_BAD_REQUEST, NULL, "more than %d empty lines stand before the request line",
                           EMPTY_LINES_MAX);
        screen->state = START_LF;
        return 0;
    }
    if (c == '\n')
        return bare(c, "an empty line before the request", err);
    if (c == 0x16)
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "this looks like TLS; the daemon speaks plain HTTP");
    if (!is_token_byte(c))
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the request starts with the byte 0x%02X, which no method has", c);
    screen->state = METHOD;
    screen->method_bytes = 1;
    return 0;
}

static int method(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    if (c == ' ') {
        screen->state = TARGET;
        return 0;
    }
    if (c == '\r' || c == '\n')
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the request line ends before its address");
    if (!is_token_byte(c))
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the method has the byte 0x%02X, which methods may not have", c);
    if (++screen->method_bytes > METHOD_MAX)
        return rl_fail(err, RL_E_NOT_IMPLEMENTED, NULL,
                       "the method has more than %d characters; GET, HEAD, POST, PUT, DELETE and OPTIONS are known",
                       METHOD_MAX);
    return 0;
}

static int target(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    if (c == ' ' && screen->target_bytes > 0) {
        screen->state = VERSION;
        return 0;
    }
    if (c == ' ')
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the request line has more than one blank after the method");
    if (c == '\n')
        return bare(c, "the request line", err);
    if (c == '\r')
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the request line ends before the HTTP version");
    if (c <= 0x20 || c >= 0x7f || c == '#')
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the address has the byte 0x%02X, which must be written as %%%02X",
                       c, c);
    if (++screen->target_bytes > LIMIT_URL_BYTES)
        return rl_fail(err, RL_E_URI_TOO_LONG, NULL, "the address has more than %u bytes, as many as are taken",
                       LIMIT_URL_BYTES);
    screen->query |= c == '?';
    if (screen->query && c == '&' && ++screen->ampersands > LIMIT_QUERY_PARAMS)
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the query has more than %u parameters", LIMIT_QUERY_PARAMS);
    return 0;
}

static int version(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    static const char form[] = "HTTP/d.d";
    const char *known = screen->version;
    size_t at = screen->version_bytes;
    if (at < sizeof(form) - 1) {
        if (form[at] == 'd' ? !isdigit(c) : c != (unsigned char)form[at])
            return rl_fail(err, RL_E_BAD_REQUEST, NULL,
                           "the request line does not end in a blank and HTTP/1.1 after its address");
        screen->version[screen->version_bytes++] = (char)c;
        return 0;
    }
    if (c == '\n')
        return bare(c, "the request line", err);
    if (c != '\r')
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the request line goes on after the HTTP version");
    if (known[5] != '1' || (known[7] != '0' && known[7] != '1'))
        return rl_fail(err, RL_E_HTTP_VERSION, NULL,
                       "the request is of %.8s; this daemon speaks HTTP/1.1, and HTTP/1.0", known);
    screen->state = LINE_LF;
    return 0;
}

/* ---- header lines, and trailers ---- */

static int count_head(struct http_screen *screen, struct rl_err *err)
{
    if (++screen->head_bytes > LIMIT_HEADER_BYTES)
        return rl_fail(err, RL_E_TOO_MANY_HEADERS, NULL, "the headers have more than %u bytes, as many as are taken",
                       LIMIT_HEADER_BYTES);
    return 0;
}

static int line_start(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    if (c == '\r') {
        screen->state = END_LF;
        return 0;
    }
    if (c == '\n')
        return bare(c, "the empty line after the headers", err);
    if (c == ' ' || c == '\t')
        return rl_fail(err, RL_E_BAD_REQUEST, NULL,
                       "a header line starts with a blank; folded headers are not taken, send each in one line");
    if (c == ':')
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "a header has no name before its colon");
    if (!is_token_byte(c))
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "a header's name starts with the byte 0x%02X", c);
    if (++screen->fields > LIMIT_HEADERS)
        return rl_fail(err, RL_E_TOO_MANY_HEADERS, NULL, "the request has more than %u headers", LIMIT_HEADERS);
    screen->name[0] = (char)c;
    screen->name[1] = '\0';
    screen->name_len = 1;
    screen->state = NAME;
    return 0;
}

static enum field which(const char *name)
{
    static const struct {
        const char *name;
        enum field field;
    } known[] = {{"Content-Length", LENGTH}, {"Transfer-Encoding", CODING}, {"Host", HOST}, {"Cookie", COOKIE}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (!strcasecmp(known[i].name, name))
            return known[i].field;
    return OTHER;
}

static int name_ends(struct http_screen *screen, struct rl_err *err)
{
    /* a name that was cut is none of the known ones */
    screen->field = screen->name_len < sizeof(screen->name) ? which(screen->name) : OTHER;
    screen->value_len = 0;
    screen->state = BEFORE_VALUE;
    if (screen->trailers && (screen->field == LENGTH || screen->field == CODING || screen->field == HOST))
        return rl_fail(err, RL_E_BAD_REQUEST, screen->name, "%s stands after the body; it may only be a header",
                       screen->name);
    if ((screen->field == LENGTH && screen->has_length) || (screen->field == CODING && screen->has_coding))
        return rl_fail(err, RL_E_BAD_REQUEST, screen->name, "the header %s is given twice", screen->name);
    screen->has_length |= screen->field == LENGTH;
    screen->has_coding |= screen->field == CODING;
    return 0;
}

static int name(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    if (c == ':')
        return name_ends(screen, err);
    if (c == '\r' || c == '\n')
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the header line '%s' has no colon", screen->name);
    if (c == ' ' || c == '\t')
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the header %s has a blank in its name or before its colon",
                       screen->name);
    if (!is_token_byte(c))
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the name of the header %s has the byte 0x%02X", screen->name, c);
    if (screen->name_len < sizeof(screen->name) - 1) {
        screen->name[screen->name_len] = (char)c;
        screen->name[screen->name_len + 1] = '\0';
    }
    if (screen->name_len < sizeof(screen->name))
        screen->name_len++;
    return 0;
}

/* A byte of a value that matters here. The library copies the cookies, and makes an entry of each, in memory that the
 * address and all headers share. */
static int count_value(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    if (screen->field == COOKIE) {
        screen->cookies += c == ';' || c == ',';
        if (++screen->cookie_bytes > LIMIT_COOKIE_BYTES || screen->cookies >= LIMIT_COOKIES)
            return rl_fail(err, RL_E_TOO_MANY_HEADERS, "Cookie",
                           "the cookies have more than %u bytes or are more than %u", LIMIT_COOKIE_BYTES,
                           LIMIT_COOKIES);
        return 0;
    }
    if (screen->field == LENGTH) {
        screen->plain = isdigit(c) && (screen->plain || screen->value_len == 0);
        if (screen->plain && screen->left <= LIMIT_UPLOAD_BYTES) /* no more digits can make it less */
            screen->left = screen->left * 10 + (uint64_t)(c - '0');
    }
    char *text = screen->field == LENGTH ? screen->length : screen->coding;
    if (screen->value_len < sizeof(screen->length) - 1) {
        text[screen->value_len++] = (char)c;
        text[screen->value_len] = '\0';
    }
    return 0;
}

static int value(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    if (c == '\r') {
        screen->state = VALUE_LF;
        return 0;
    }
    if (c == '\n')
        return rl_fail(err, RL_E_BAD_REQUEST, screen->name,
                       "the header %s ends in a line feed without a carriage return before it", screen->name);
    if ((c < 0x20 && c != '\t') || c == 0x7f)
        return rl_fail(err, RL_E_BAD_REQUEST, screen->name, "the header %s has the control byte 0x%02X", screen->name,
                       c);
    if (screen->state == BEFORE_VALUE && (c == ' ' || c == '\t'))
        return 0;
    screen->state = VALUE;
    return screen->field == OTHER || screen->field == HOST ? 0 : count_value(screen, c, err);
}

/* RFC 9112, 6: how long the body is. Whoever passes the request on must not be able to read it in another way, so that
 * all but the plain forms of the two fields are refused, blanks after them too. */
static int frame(struct http_screen *screen, struct rl_err *err)
{
    if (screen->has_length && screen->has_coding)
        return rl_fail(err, RL_E_BAD_REQUEST, "Content-Length",
                       "Content-Length and Transfer-Encoding stand together; send one of them");
    if (screen->has_coding && screen->version[7] != '1')
        return rl_fail(err, RL_E_BAD_REQUEST, "Transfer-Encoding", "Transfer-Encoding is not part of %.8s",
                       screen->version);
    if (screen->has_coding && strcasecmp(screen->coding, "chunked"))
        return rl_fail(err, RL_E_NOT_IMPLEMENTED, "Transfer-Encoding",
                       "the transfer coding '%s' is not known; send chunked or a Content-Length", screen->coding);
    if (screen->has_length && !screen->plain)
        return rl_fail(err, RL_E_BAD_REQUEST, "Content-Length", "Content-Length '%s' is not a plain decimal number",
                       screen->length);
    if (screen->left > LIMIT_UPLOAD_BYTES)
        return rl_fail(err, RL_E_TOO_LARGE, "Content-Length",
                       "the body has more than %u bytes, as many as any may have", LIMIT_UPLOAD_BYTES);
    return 0;
}

static int head_ends(struct http_screen *screen, struct rl_err *err)
{
    if (screen->trailers) {
        next_request(screen);
        return 0;
    }
    if (frame(screen, err))
        return -1;
    screen->heads++;
    if (screen->has_coding)
        screen->state = CHUNK_SIZE;
    else if (screen->left > 0)
        screen->state = BODY;
    else
        next_request(screen);
    return 0;
}

/* ---- chunks ---- */

static int chunk_size(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    if (isxdigit(c)) {
        if (++screen->digits > CHUNK_DIGITS_MAX)
            return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the size of a chunk has more than %d digits",
                           CHUNK_DIGITS_MAX);
        screen->left = screen->left * 16 + (uint64_t)(isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
        if (screen->left > LIMIT_UPLOAD_BYTES)
            return rl_fail(err, RL_E_TOO_LARGE, NULL, "a chunk has more than %u bytes, as many as any body may have",
                           LIMIT_UPLOAD_BYTES);
        return 0;
    }
    if (c == '\n')
        return bare(c, "the size of a chunk", err);
    if (screen->digits == 0)
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the size of a chunk starts with the byte 0x%02X", c);
    if (c != '\r' && c != ';')
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the size of a chunk has the byte 0x%02X", c);
    screen->state = c == ';' ? CHUNK_EXTENSION : CHUNK_LF;
    return 0;
}

static int chunk_extension(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    if (c == '\r') {
        screen->state = CHUNK_LF;
        return 0;
    }
    if (c == '\n')
        return bare(c, "the extension of a chunk", err);
    if ((c < 0x20 && c != '\t') || c >= 0x7f)
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the extension of a chunk has the byte 0x%02X", c);
    if (++screen->extension_bytes > LIMIT_CHUNK_EXTENSION_BYTES)
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the extensions of the chunks have more than %u bytes",
                       LIMIT_CHUNK_EXTENSION_BYTES);
    return 0;
}

static int chunk_lf(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    if (c != '\n')
        return bare('\r', "the size of a chunk", err);
    screen->state = screen->left > 0 ? CHUNK_DATA : LINE_START;
    screen->trailers = screen->left == 0;
    return 0;
}

static int data_cr(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    if (c == '\n')
        return bare(c, "the end of a chunk", err);
    if (c != '\r')
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "a chunk has more bytes than its size says");
    screen->state = DATA_LF;
    return 0;
}

static int data_lf(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    screen->digits = 0;
    return expect_lf(screen, c, CHUNK_SIZE, "the end of a chunk", err);
}

/* ---- all of it ---- */

static int step(struct http_screen *screen, unsigned char c, struct rl_err *err)
{
    switch ((enum state)screen->state) {
    case START:
        return start(screen, c, err);
    case START_LF:
        return expect_lf(screen, c, START, "an empty line before the request", err);
    case METHOD:
        return method(screen, c, err);
    case TARGET:
        return target(screen, c, err);
    case VERSION:
        return version(screen, c, err);
    case LINE_LF:
        return expect_lf(screen, c, LINE_START, "the request line", err);
    case CHUNK_SIZE:
        return chunk_size(screen, c, err);
    case CHUNK_EXTENSION:
        return chunk_extension(screen, c, err);
    case CHUNK_LF:
        return chunk_lf(screen, c, err);
    case DATA_CR:
        return data_cr(screen, c, err);
    case DATA_LF:
        return data_lf(screen, c, err);
    default:
        break;
    }
    if (count_head(screen, err))
        return -1;
    switch ((enum state)screen->state) {
    case LINE_START:
        return line_start(screen, c, err);
    case NAME:
        return name(screen, c, err);
    case BEFORE_VALUE:
    case VALUE:
        return value(screen, c, err);
    case VALUE_LF:
        return expect_lf(screen, c, LINE_START, "a header", err);
    case END_LF:
        return c == '\n' ? head_ends(screen, err) : bare('\r', "the empty line after the headers", err);
    default:
        return rl_fail(err, RL_E_INTERNAL, NULL, "the check of requests is in a state that does not exist");
    }
}

uint64_t http_screen_opaque(const struct http_screen *screen)
{
    return screen->state == BODY || screen->state == CHUNK_DATA ? screen->left : 0;
}

int http_screen_feed(struct http_screen *screen, const char *data, size_t len, size_t *ret_pass, struct rl_err *err)
{
    size_t whole = 0;
    for (size_t at = 0; at < len;) {
        uint64_t requests = screen->requests, opaque = http_screen_opaque(screen);
        if (opaque > 0) {
            size_t part = opaque < len - at ? (size_t)opaque : len - at;
            at += part;
            screen->left -= part;
            if (screen->left == 0 && screen->state == CHUNK_DATA)
                screen->state = DATA_CR;
            else if (screen->left == 0)
                next_request(screen);
        } else if (step(screen, (unsigned char)data[at++], err)) {
            *ret_pass = whole;
            return -1;
        }
        if (screen->requests != requests)
            whole = at;
    }
    *ret_pass = len;
    return 0;
}
