/* multipart/form-data: what is taken, in pieces of every size, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/base/buf.h"
#include "server/limits/limits.h"
#include "server/request/multipart.h"

/* Everything that was told, as text: "<name|filename>bytes." */
static int on_begin(void *arg, const char *name, const char *filename, struct rl_err *err)
{
    (void)err;
    return rl_buf_printf(arg, "<%s|%s>", name, filename != NULL ? filename : "-");
}

static size_t calls; /* of on_data */

static int on_data(void *arg, const char *data, size_t len, struct rl_err *err)
{
    (void)err;
    calls++;
    assert_true(len > 0);
    return rl_buf_add(arg, data, len);
}

static int on_end(void *arg, struct rl_err *err)
{
    (void)err;
    return rl_buf_puts(arg, ".");
}

/* 0 or the error's code; told and message are those of the last call. */
static struct rl_buf told;
static struct rl_err error;

static int parse(const char *body, size_t len, size_t piece)
{
    struct multipart_events events = {&told, on_begin, on_data, on_end};
    struct multipart *form = multipart_new("XX", &events);
    int rc = 0;
    rl_buf_free(&told);
    rl_buf_init(&told, 1 << 20);
    error = (struct rl_err){0};
    assert_non_null(form);
    for (size_t at = 0; at < len && rc == 0; at += piece) {
        size_t part = len - at < piece ? len - at : piece;
        char *copy = malloc(part); /* of exactly that size: the address sanitizer sees what reads past it */
        memcpy(copy, body + at, part);
        rc = multipart_feed(form, copy, part, &error);
        free(copy);
    }
    if (rc == 0)
        rc = multipart_end(form, &error);
    multipart_free(form);
    return rc == 0 ? 0 : (int)error.code;
}

static void takes_bytes(const char *body, size_t len, const char *expected)
{
    for (size_t piece = 1; piece <= len; piece++) {
        assert_int_equal(parse(body, len, piece), 0);
        assert_string_equal(told.data != NULL ? told.data : "", expected);
    }
}

static void takes(const char *body, const char *expected)
{
    takes_bytes(body, strlen(body), expected);
}

static void refuses(const char *body, enum rl_code code, const char *words)
{
    for (size_t piece = 1; piece <= strlen(body); piece++) {
        assert_int_equal(parse(body, strlen(body), piece), code);
        if (strstr(error.message, words) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    }
}

#define HEAD "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n"
#define TAIL "\r\n--XX--\r\n"

static void test_parts(void **state)
{
    (void)state;
    takes(HEAD "\r\nbytes" TAIL, "<a|->bytes.");
    takes(HEAD "\r\n" TAIL, "<a|->.");
    takes(HEAD "\r\n\r\n\r\r\n--X\r\n--\r\n" TAIL, "<a|->\r\n\r\r\n--X\r\n--\r\n.");
    takes("--XX\r\ncontent-disposition:form-data;name=a;filename=\"b c.csv\"\r\nContent-Type: "
          "text/csv\r\n\r\n1\r\n--XX\r\n"
          "Content-Disposition: FORM-DATA; filename=\"\"; name=\"d e\"\r\n\r\n2\r\n--XX--",
          "<a|b c.csv>1.<d e|>2.");
    /* before the first and after the last: passed over */
    takes("hello\r\n--X\r\n" HEAD "\r\n1\r\n--XX-- \t\r\nbye\n--XX\r\n", "<a|->1.");
    takes("--XX  \t\r\nContent-Disposition: form-data; name=\"a\"  \r\n\r\n1" TAIL, "<a|->1.");
    /* an import's files may hold any bytes */
    static const char zero[] = HEAD "\r\na\0b" TAIL;
    for (size_t piece = 1; piece < sizeof zero; piece++) {
        assert_int_equal(parse(zero, sizeof zero - 1, piece), 0);
        assert_int_equal(told.len, strlen("<a|->") + 3 + 1);
    }
}

static void test_names(void **state)
{
    (void)state;
    takes("--XX\r\nContent-Disposition: form-data; name=\"a\"; filename=\"C:\\dir\\a \\\"b\\\" %22;.csv\"\r\n\r\n" TAIL,
          "<a|C:\\dir\\a \"b\" %22;.csv>.");
    takes("--XX\r\nContent-Disposition: form-data; name=\"\xc3\xa4\"; filename=\"\xe6\xb8\xac.csv\"\r\n\r\n" TAIL,
          "<\xc3\xa4|\xe6\xb8\xac.csv>.");
    refuses("--XX\r\nContent-Disposition: form-data; name=\"\xff\"\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "no UTF-8");
    refuses("--XX\r\nContent-Disposition: form-data; name=\"a\tb\"\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "control");
    refuses("--XX\r\nContent-Disposition: form-data; name=\"\"\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "without a name");
    refuses("--XX\r\nContent-Disposition: form-data\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "without a name");
    refuses("--XX\r\nContent-Disposition: form-data; name=\"a\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "cannot be read");
    refuses("--XX\r\nContent-Disposition: form-data; name=\"a\" x\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "cannot be read");
    refuses("--XX\r\nContent-Disposition: form-data; name=\"a\"; name=\"b\"\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "twice");
    refuses("--XX\r\nContent-Disposition: form-data; name=a; filename*=utf-8''b\r\n\r\n" TAIL, RL_E_BAD_REQUEST,
            "filename*");
    refuses("--XX\r\nContent-Disposition: attachment; name=a\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "not form-data");
    refuses("--XX\r\nContent-Disposition: form-data-2; name=a\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "not form-data");
}

static void test_headers(void **state)
{
    (void)state;
    refuses("--XX\r\n\r\nbytes" TAIL, RL_E_BAD_REQUEST, "without Content-Disposition");
    refuses(HEAD "Content-Disposition: form-data; name=b\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "two Content-Disposition");
    refuses(HEAD "content-transfer-encoding: base64\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "Content-Transfer-Encoding");
    refuses("--XX\r\nContent-Disposition: form-data;\r\n name=a\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "cannot be read");
    refuses(HEAD " folded\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "folded");
    refuses(HEAD "no colon\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "is none");
    refuses(HEAD "a b: c\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "is none");
    refuses(HEAD "a\rb: c\r\n\r\n" TAIL, RL_E_BAD_REQUEST, "CR without LF");
}

static void test_ends(void **state)
{
    (void)state;
    refuses("--XX\nContent-Disposition: form-data; name=\"a\"\n\n1\n--XX--\n", RL_E_BAD_REQUEST, "LF alone");
    refuses("--XX\r\nContent-Disposition: form-data; name=\"a\"\n\r\n1" TAIL, RL_E_BAD_REQUEST, "LF alone");
    refuses(HEAD "\r\n1\r\n--XX--\n", RL_E_BAD_REQUEST, "LF alone");
    refuses(HEAD "\r\n1\r\n--XX\n", RL_E_BAD_REQUEST, "LF alone");
    refuses(HEAD "\r\n1\r\n--XXY\r\n", RL_E_BAD_REQUEST, "after a boundary");
    refuses(HEAD "\r\n1\r\n--XX-\r\n", RL_E_BAD_REQUEST, "after a boundary");
    refuses(HEAD "\r\n1\r\n--XX --\r\n", RL_E_BAD_REQUEST, "after a boundary");
    refuses(HEAD "\r\n1\r\n--XX--Y", RL_E_BAD_REQUEST, "after its last boundary");
    refuses("nothing", RL_E_BAD_REQUEST, "does not have the boundary");
    refuses(HEAD, RL_E_BAD_REQUEST, "ends before its last boundary");
    refuses(HEAD "\r\nbytes\r\n--X", RL_E_BAD_REQUEST, "ends before its last boundary");
    refuses(HEAD "\r\nbytes\r\n--XX", RL_E_BAD_REQUEST, "ends before its last boundary");
    refuses(HEAD "\r\nbytes\r\n--XX\r\n", RL_E_BAD_REQUEST, "ends before its last boundary");
    refuses("--XX--\r\n", RL_E_BAD_REQUEST, "no part");
    assert_int_equal(parse("", 0, 1), RL_E_BAD_REQUEST);
    refuses(HEAD "\r\nbytes", RL_E_BAD_REQUEST, "ends before its last boundary");
    assert_string_equal(error.field, "a");
}

static void test_limits(void **state)
{
    (void)state;
    struct rl_buf body;
    rl_buf_init(&body, 1 << 20);
    for (unsigned i = 0; i <= LIMIT_UPLOAD_PARTS; i++)
        rl_buf_puts(&body, "--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n");
    assert_int_equal(parse(body.data, body.len, 7), RL_E_TOO_LARGE);
    rl_buf_clear(&body);
    rl_buf_puts(&body, "--XX\r\nx: ");
    for (unsigned i = 0; i < LIMIT_PART_HEADER_BYTES; i++)
        rl_buf_puts(&body, "y");
    assert_int_equal(parse(body.data, body.len, 7), RL_E_TOO_LARGE);
    assert_non_null(strstr(error.message, "2048"));
    rl_buf_clear(&body);
    rl_buf_puts(&body, "--XX\r\nContent-Disposition: form-data; name=a; filename=");
    for (unsigned i = 0; i <= LIMIT_FILENAME_BYTES; i++)
        rl_buf_puts(&body, "y");
    rl_buf_puts(&body, "\r\n");
    assert_int_equal(parse(body.data, body.len, 7), RL_E_TOO_LARGE);
    assert_string_equal(error.field, "filename");
    rl_buf_free(&body);
}

/* The bytes of a part in as few calls as they come in, whatever beginnings of a boundary they hold. */
static void test_floods(void **state)
{
    static const char *const floods[] = {"\r", "\n", "\r\n", "\r\n-", "\r\n--", "\r\n--X", "\r\r\n--", "\r\n--\r", "x"};
    enum { BYTES = 1 << 16, PIECE = 1000 };
    (void)state;
    for (size_t i = 0; i < sizeof floods / sizeof floods[0]; i++) {
        struct rl_buf body, expected;
        rl_buf_init(&body, 2 * BYTES);
        rl_buf_init(&expected, 2 * BYTES);
        rl_buf_puts(&expected, "<a|->");
        rl_buf_puts(&body, HEAD "\r\n");
        while (body.len < BYTES) {
            rl_buf_puts(&body, floods[i]);
            rl_buf_puts(&expected, floods[i]);
        }
        rl_buf_puts(&body, TAIL);
        rl_buf_puts(&expected, ".");
        for (size_t piece = 1; piece <= PIECE; piece = piece < 20 ? piece + 1 : piece * 7) {
            calls = 0;
            assert_int_equal(parse(body.data, body.len, piece), 0);
            assert_int_equal(told.len, expected.len);
            assert_memory_equal(told.data, expected.data, told.len);
            /* of each piece: what was held of the one before, and the rest */
            assert_true(calls <= 2 * (body.len / piece + 1));
        }
        rl_buf_free(&body);
        rl_buf_free(&expected);
    }
}

static void boundary_is(const char *type, const char *expected)
{
    char boundary[MULTIPART_BOUNDARY_MAX + 1];
    struct rl_err err = {0};
    int rc = multipart_boundary(type, boundary, &err);
    assert_int_equal(rc, expected != NULL ? 0 : -1);
    if (expected != NULL)
        assert_string_equal(boundary, expected);
    else
        assert_int_equal(err.code, RL_E_BAD_MEDIA_TYPE);
}

static void test_boundary(void **state)
{
    (void)state;
    boundary_is("multipart/form-data; boundary=abc", "abc");
    boundary_is("Multipart/Form-Data;charset=utf-8 ; Boundary=\"a b:c\"", "a b:c");
    boundary_is("multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
                "----WebKitFormBoundary7MA4YWxkTrZu0gW");
    boundary_is("multipart/form-data", NULL);
    boundary_is("multipart/form-data; boundary=", NULL);
    boundary_is("multipart/form-data; boundary=\"\"", NULL);
    boundary_is("multipart/form-data; boundary=\"a \"", NULL);
    boundary_is("multipart/form-data; boundary=a; boundary=b", NULL);
    boundary_is("multipart/form-data boundary=a", NULL);
    boundary_is("multipart/form-datas; boundary=a", NULL);
    boundary_is("multipart/mixed; boundary=a", NULL);
    boundary_is("application/json", NULL);
    boundary_is("", NULL);
    boundary_is("multipart/form-data; "
                "boundary=00000000001111111111222222222233333333334444444444555555555566666666667",
                NULL);
    boundary_is("multipart/form-data; "
                "boundary=0000000000111111111122222222223333333333444444444455555555556666666666",
                "0000000000111111111122222222223333333333444444444455555555556666666666");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),  cmocka_unit_test(test_names),  cmocka_unit_test(test_headers),
        cmocka_unit_test(test_ends),   cmocka_unit_test(test_limits), cmocka_unit_test(test_boundary),
        cmocka_unit_test(test_floods),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    rl_buf_free(&told);
    return rc;
}
