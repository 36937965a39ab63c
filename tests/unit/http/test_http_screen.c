/* What the check of incoming bytes lets through and what it refuses, with known answers. Every input is given whole,
 * byte by byte, and in two pieces cut at each position: the answers must be the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/limits/limits.h"
#include "server/request/screen.h"

#define LINE    "GET / HTTP/1.1\r\n"
#define HOST    "Host: h\r\n"
#define GOOD    LINE HOST "\r\n"
#define POST    "POST / HTTP/1.1\r\n" HOST
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
#define CUTS    512 /* longer inputs are cut at every so-manieth place */

struct verdict {
    enum rl_code code;
    char message[1024], field[128];
    uint64_t heads, requests;
    size_t pass; /* from the first byte of all */
};

static void feed(struct http_screen *screen, const char *data, size_t from, size_t to, struct verdict *verdict)
{
    struct rl_err err = {0};
    size_t pass = SIZE_MAX;
    if (from == to || verdict->code != RL_E_NONE)
        return;
    if (http_screen_feed(screen, data + from, to - from, &pass, &err)) {
        verdict->code = err.code;
        memcpy(verdict->message, err.message, sizeof(verdict->message));
        memcpy(verdict->field, err.field, sizeof(verdict->field));
        if (pass > 0)
            verdict->pass = from + pass;
    } else {
        assert_int_equal(pass, to - from);
    }
    if (screen->requests != verdict->requests || verdict->code == RL_E_NONE)
        verdict->pass = from + pass;
    verdict->heads = screen->heads;
    verdict->requests = screen->requests;
}

static void same(const struct verdict *one, const struct verdict *other)
{
    assert_int_equal(one->code, other->code);
    assert_string_equal(one->message, other->message);
    assert_string_equal(one->field, other->field);
    assert_int_equal(one->heads, other->heads);
    assert_int_equal(one->requests, other->requests);
}

static struct verdict look(const char *data, size_t len)
{
    struct verdict whole = {0}, single = {0};
    struct http_screen screen;
    http_screen_init(&screen);
    feed(&screen, data, 0, len, &whole);
    http_screen_init(&screen);
    for (size_t i = 0; i < len; i++)
        feed(&screen, data, i, i + 1, &single);
    same(&whole, &single);
    for (size_t cut = 1; cut < len; cut += 1 + len / CUTS) {
        struct verdict two = {0};
        http_screen_init(&screen);
        feed(&screen, data, 0, cut, &two);
        feed(&screen, data, cut, len, &two);
        same(&whole, &two);
    }
    return whole;
}

static void passes_bytes(const char *data, size_t len, uint64_t heads, uint64_t requests)
{
    struct verdict verdict = look(data, len);
    if (verdict.code != RL_E_NONE)
        fail_msg("%s", verdict.message);
    assert_int_equal(verdict.heads, heads);
    assert_int_equal(verdict.requests, requests);
    assert_int_equal(verdict.pass, len);
}

static void passes(const char *text, uint64_t heads, uint64_t requests)
{
    passes_bytes(text, strlen(text), heads, requests);
}

/* says: a part of the message, which has to name what was wrong. Also after a whole request: up to its end passes. */
static void refuses_bytes(const char *data, size_t len, enum rl_code code, const char *says)
{
    struct verdict verdict = look(data, len);
    if (verdict.code != code || !strstr(verdict.message, says))
        fail_msg("%.60s: %s '%s', not %s '%s'", data, rl_code_id(verdict.code), verdict.message, rl_code_id(code),
                 says);
    assert_int_equal(verdict.requests, 0);
    assert_int_equal(verdict.pass, 0);
    char *after = malloc(sizeof(GOOD) + len);
    memcpy(after, GOOD, sizeof(GOOD) - 1);
    memcpy(after + sizeof(GOOD) - 1, data, len);
    verdict = look(after, sizeof(GOOD) - 1 + len);
    free(after);
    assert_int_equal(verdict.code, code);
    assert_int_equal(verdict.requests, 1);
    assert_int_equal(verdict.pass, sizeof(GOOD) - 1);
}

static void refuses(const char *text, enum rl_code code, const char *says)
{
    refuses_bytes(text, strlen(text), code, says);
}

static void bad(const char *text, const char *says)
{
    refuses(text, RL_E_BAD_REQUEST, says);
}

/* before, count times unit, after */
static char *repeat(const char *before, const char *unit, size_t count, const char *after)
{
    size_t part = strlen(unit), at = strlen(before);
    char *text = malloc(at + part * count + strlen(after) + 1);
    memcpy(text, before, at);
    for (size_t i = 0; i < count; i++, at += part)
        memcpy(text + at, unit, part);
    memcpy(text + at, after, strlen(after) + 1);
    return text;
}

static void passes_many(const char *before, const char *unit, size_t count, const char *after)
{
    char *text = repeat(before, unit, count, after);
    passes(text, 1, 1);
    free(text);
}

static void refuses_many(const char *before, const char *unit, size_t count, const char *after, enum rl_code code,
                         const char *says)
{
    char *text = repeat(before, unit, count, after);
    refuses(text, code, says);
    free(text);
}

static void test_good(void **state)
{
    (void)state;
    passes("", 0, 0);
    passes(GOOD, 1, 1);
    passes("GET / HTTP/1.0\r\n\r\n", 1, 1);
    passes("\r\n\r\n" GOOD "\r\n" GOOD, 2, 2);
    passes("M-SEARCH * HTTP/1.1\r\n\r\n", 1, 1);
    passes(LINE "Host:h\r\nX:\t a\tb \t\r\nY:\r\nZ: \xc3\xa9\x80\xff\r\n!#$%&'*+-.^_`|~9: a\r\n\r\n", 1, 1);
    passes(LINE HOST, 0, 0);
    passes(POST "Content-Length: 0\r\n\r\n" GOOD, 2, 2);
    passes(POST "content-length:\t 00005\r\n\r\na\r\n\rb" GOOD, 2, 2);
    passes(POST "Content-Length: 5\r\n\r\nabcd", 1, 0);
    passes_bytes(POST "Content-Length: 3\r\n\r\n\0\r\n" GOOD, sizeof(POST "Content-Length: 3\r\n\r\n\0\r\n" GOOD) - 1,
                 2, 2);
    passes(CHUNKED "0\r\n\r\n" GOOD, 2, 2);
    passes(CHUNKED "5\r\nab\r\nc\r\n00A;x=\"y z\"\r\n0123456789\r\n0;l\r\nT: 1\r\nU:\r\n\r\n" GOOD, 2, 2);
    passes(POST "TRANSFER-ENCODING: ChUnKeD\r\n\r\n1\r\na\r\n", 1, 0);
    passes(CHUNKED "0\r\nT: 1\r\n", 1, 0);
}

static void test_request_line(void **state)
{
    (void)state;
    bad(" GET / HTTP/1.1\r\n", "0x20");
    bad("\nGET / HTTP/1.1\r\n", "line feed");
    bad("\rGET", "carriage return");
    bad("\x16\x03\x01", "TLS");
    bad("G(T / HTTP/1.1\r\n", "0x28");
    bad("G\xe9T / HTTP/1.1\r\n", "0xE9");
    bad("GET\r\n", "before its address");
    bad("GET\t/ HTTP/1.1\r\n", "0x09");
    bad("GET  / HTTP/1.1\r\n", "more than one blank");
    bad("GET /\r\n", "before the HTTP version");
    bad("GET /\n", "line feed");
    bad("GET /a b HTTP/1.1\r\n", "HTTP/1.1 after its address");
    bad("GET /  HTTP/1.1\r\n", "HTTP/1.1 after its address");
    bad("GET /\x7f HTTP/1.1\r\n", "%7F");
    bad("GET /#a HTTP/1.1\r\n", "%23");
    bad("GET /\x80 HTTP/1.1\r\n", "%80");
    bad("GET / http/1.1\r\n", "HTTP/1.1 after its address");
    bad("GET / HTTP/1.1 \r\n", "goes on");
    bad("GET / HTTP/1.1\n", "line feed");
    bad("GET / HTTP/1.1\rX", "no line feed follows");
    bad("GET / HTTP/11\r\n", "HTTP/1.1 after its address");
    refuses("GET / HTTP/0.9\r\n", RL_E_HTTP_VERSION, "HTTP/0.9");
    refuses("GET / HTTP/1.2\r\n", RL_E_HTTP_VERSION, "HTTP/1.2");
    refuses("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", RL_E_HTTP_VERSION, "HTTP/2.0");
    refuses_many("", "M", 33, " ", RL_E_NOT_IMPLEMENTED, "32 characters");
    refuses_many("", "\r\n", 9, GOOD, RL_E_BAD_REQUEST, "8 empty lines");
    for (int byte = 0; byte <= ' '; byte++) {
        char text[] = "GET /a?b HTTP/1.1\r\n";
        text[6] = (char)byte;
        refuses_bytes(text, sizeof(text) - 1, RL_E_BAD_REQUEST, "");
    }
    char *longest = repeat("GET /", "x", LIMIT_URL_BYTES - 1, " HTTP/1.1\r\n\r\n");
    passes(longest, 1, 1);
    free(longest);
    refuses_many("GET /", "x", LIMIT_URL_BYTES, "", RL_E_URI_TOO_LONG, "53248");
    passes_many("GET /&&&&&&&&&&&&&&&&&&&&&&&&&&&&?", "&", LIMIT_QUERY_PARAMS, " HTTP/1.1\r\n\r\n");
    refuses_many("GET /?", "&", LIMIT_QUERY_PARAMS + 1, "", RL_E_BAD_REQUEST, "24 parameters");
}

static void test_header_lines(void **state)
{
    (void)state;
    bad(LINE " Host: h\r\n", "folded");
    bad(LINE HOST "\tX: a\r\n", "folded");
    bad(LINE HOST "Content-Length:\r\n 41\r\n", "folded");
    bad(LINE HOST "Content-: 2\r\n Length\r\n", "folded");
    bad(LINE HOST "Transfer-Encoding:\r\n chunked\r\n", "folded");
    bad(LINE "Host : h\r\n", "Host has a blank");
    bad(LINE "Host\t: h\r\n", "Host has a blank");
    bad(LINE "a b: c\r\n", "a has a blank");
    bad(LINE ": c\r\n", "no name");
    bad(LINE "colonless\r\n", "colonless");
    bad(LINE "colonless\n", "no colon");
    bad(LINE "X\x01: c\r\n", "0x01");
    bad(LINE "X\xc3\xa9: c\r\n", "0xC3");
    bad(LINE "\xc3\xa9: c\r\n", "0xC3");
    bad(LINE "X(y): c\r\n", "0x28");
    bad(LINE "X: a\n", "line feed");
    bad(LINE "X: a\rb", "no line feed follows");
    bad(LINE "X: a\r\r\n", "no line feed follows");
    bad(LINE HOST "\n", "line feed");
    bad(LINE HOST "\rX", "no line feed follows");
    for (int byte = 0; byte < 0x20; byte++) {
        char text[] = LINE "X: a_b\r\n\r\n", word[8];
        text[sizeof(LINE) - 1 + 4] = (char)byte;
        snprintf(word, sizeof(word), "0x%02X", (unsigned)byte);
        if (byte != '\t')
            refuses_bytes(text, sizeof(text) - 1, RL_E_BAD_REQUEST, byte == '\r' || byte == '\n' ? "line feed" : word);
    }
    bad(LINE "X: a\x7f\r\n", "0x7F");
}

static void test_header_limits(void **state)
{
    char value[LIMIT_HEADER_BYTES];
    (void)state;
    passes_many(LINE, "X: a\r\n", LIMIT_HEADERS, "\r\n");
    refuses_many(LINE, "X: a\r\n", LIMIT_HEADERS + 1, "\r\n", RL_E_TOO_MANY_HEADERS, "100 headers");
    memset(value, 'v', sizeof(value));
    value[LIMIT_HEADER_BYTES - 7] = '\0'; /* and "X: ", two line ends */
    passes_many(LINE "X: ", value, 1, "\r\n\r\n");
    value[LIMIT_HEADER_BYTES - 7] = 'v';
    value[LIMIT_HEADER_BYTES - 6] = '\0';
    refuses_many(LINE "X: ", value, 1, "\r\n\r\n", RL_E_TOO_MANY_HEADERS, "32768");
    refuses_many(LINE, "n", 40000, "", RL_E_TOO_MANY_HEADERS, "32768");
    passes_many(LINE "Cookie: a", ";a", LIMIT_COOKIES - 1, "\r\n\r\n");
    refuses_many(LINE "Cookie: a", ",a", LIMIT_COOKIES, "\r\n\r\n", RL_E_TOO_MANY_HEADERS, "cookies");
    passes_many(LINE "cookie: ", "a", LIMIT_COOKIE_BYTES, "\r\n\r\n");
    refuses_many(LINE "cookie: ", "a", LIMIT_COOKIE_BYTES + 1, "\r\n\r\n", RL_E_TOO_MANY_HEADERS, "cookies");
}

static void test_framing(void **state)
{
    (void)state;
    static const char *const lengths[] = {"",
                                          " ",
                                          "+1",
                                          "-1",
                                          "0x1",
                                          "1x",
                                          "1 ",
                                          "1\t",
                                          "1 1",
                                          "1, 1",
                                          "1,1",
                                          "1.0",
                                          "1e1",
                                          "\"1\"",
                                          "abc",
                                          "\xd9\xa1",
                                          "\xa0"
                                          "1"};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), POST "Content-Length: %s\r\n\r\n", lengths[i]);
        bad(text, "is not a plain decimal number");
    }
    static const char *const codings[] = {"",         "identity",  "gzip, chunked", "chunked, gzip", "chunked, chunked",
                                          "chunked ", "chunked\t", "chunke",        "chunkedd",      "\"chunked\""};
    for (size_t i = 0; i < sizeof(codings) / sizeof(codings[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), POST "Transfer-Encoding: %s\r\n\r\n", codings[i]);
        refuses(text, RL_E_NOT_IMPLEMENTED, codings[i]);
    }
    refuses_many(POST "Transfer-Encoding: chunked", "x", 5000, "\r\n\r\n", RL_E_NOT_IMPLEMENTED, "chunkedxx");
    bad(POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", "Content-Length is given twice");
    bad(POST "Transfer-Encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n", "is given twice");
    bad(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "stand together");
    bad(POST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", "stand together");
    bad("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "not part of HTTP/1.0");
    passes(POST "Content-Length: 34603008\r\n\r\n", 1, 0);
    static const char *const large[] = {"34603009", "18446744073709551616", "18446744073709551621",
                                        "99999999999999999999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), POST "Content-Length: %s\r\n\r\n", large[i]);
        refuses(text, RL_E_TOO_LARGE, "34603008");
    }
}

static void test_chunks(void **state)
{
    (void)state;
    static const char *const bodies[] = {"zz\r\n",     "-1\r\n",       "+1\r\n",          "0x1\r\n",     "\r\n",
                                         " 1\r\n",     "1 \r\n",       "1 ;a\r\n",        ";a\r\n",      "1\n",
                                         "1\rx",       "1\r\nab",      "1\r\na\n",        "1\r\na\rx",   "1\r\na1\r\n",
                                         "1;\x01\r\n", "1;a\n",        "1;a\rx",          "1;\x7f\r\n",  "1;\xff\r\n",
                                         "0\n",        "0\r\n\n",      "0\r\n\rx",        "0\r\n X: a",  "0\r\nX : a",
                                         "0\r\nX\r\n", "0\r\nX: \x01", "0\r\nX: a\r\n b", "0\r\n: a\r\n"};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), CHUNKED "%s", bodies[i]);
        struct verdict verdict = look(text, strlen(text));
        if (verdict.code != RL_E_BAD_REQUEST || verdict.requests != 0)
            fail_msg("%s: %s", bodies[i], rl_code_id(verdict.code));
    }
    bad(CHUNKED "1\r\nab", "more bytes than its size says");
    bad(CHUNKED "0\r\nContent-Length: 5\r\n", "may only be a header");
    bad(CHUNKED "0\r\nhost: a\r\n", "may only be a header");
    bad(CHUNKED "0\r\ntransfer-encoding: chunked\r\n", "may only be a header");
    passes(CHUNKED "2100000\r\n", 1, 0);
    refuses(CHUNKED "2100001\r\n", RL_E_TOO_LARGE, "34603008");
    refuses(CHUNKED "10000000000000005\r\n", RL_E_TOO_LARGE, "34603008");
    refuses_many(CHUNKED, "f", 100, "\r\n", RL_E_TOO_LARGE, "34603008");
    refuses_many(CHUNKED, "0", 17, "\r\n", RL_E_BAD_REQUEST, "16 digits");
    passes_many(CHUNKED "1;", "e", LIMIT_CHUNK_EXTENSION_BYTES, "\r\na\r\n0\r\n\r\n");
    refuses_many(CHUNKED "1;", "e", LIMIT_CHUNK_EXTENSION_BYTES + 1, "\r\n", RL_E_BAD_REQUEST, "1024");
    refuses_many(CHUNKED, "1;eeeeeeee\r\na\r\n", 129, "0\r\n\r\n", RL_E_BAD_REQUEST, "1024");
    refuses_many(CHUNKED "0\r\n", "X: a\r\n", LIMIT_HEADERS, "\r\n", RL_E_TOO_MANY_HEADERS, "100 headers");
    refuses_many(CHUNKED "0\r\nX: ", "t", LIMIT_HEADER_BYTES, "\r\n", RL_E_TOO_MANY_HEADERS, "32768");
}

/* A limit counts for one request, not for the connection. */
static void test_next_request(void **state)
{
    (void)state;
    char *text = repeat("", LINE HOST "Cookie: a;b;c;d\r\nContent-Length: 1\r\n\r\nx", 2000, "");
    passes(text, 2000, 2000);
    free(text);
    text = repeat("", POST "Transfer-Encoding: chunked\r\n\r\n1;abcdefgh\r\nx\r\n0\r\nT: 1\r\n\r\n", 500, "");
    passes(text, 500, 500);
    free(text);
}

static void test_opaque(void **state)
{
    static const char head[] = POST "Content-Length: 5\r\n\r\n", chunk[] = CHUNKED "4\r\n";
    struct http_screen screen;
    size_t pass;
    (void)state;
    http_screen_init(&screen);
    assert_int_equal(http_screen_opaque(&screen), 0);
    assert_int_equal(http_screen_feed(&screen, head, sizeof(head) - 1, &pass, NULL), 0);
    assert_int_equal(http_screen_opaque(&screen), 5);
    assert_int_equal(http_screen_feed(&screen, "\0\r\n", 3, &pass, NULL), 0);
    assert_int_equal(http_screen_opaque(&screen), 2);
    assert_int_equal(http_screen_feed(&screen, "xx", 2, &pass, NULL), 0);
    assert_int_equal(http_screen_opaque(&screen), 0);
    assert_int_equal(http_screen_feed(&screen, chunk, sizeof(chunk) - 1, &pass, NULL), 0);
    assert_int_equal(http_screen_opaque(&screen), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),          cmocka_unit_test(test_request_line), cmocka_unit_test(test_header_lines),
        cmocka_unit_test(test_header_limits), cmocka_unit_test(test_framing),      cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_next_request),  cmocka_unit_test(test_opaque),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
