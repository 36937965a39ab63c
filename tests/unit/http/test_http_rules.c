/* The rules of requests that need no connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/limits/limits.h"
#include "server/request/http.h"
#include "server/request/json_body.h"

static void parses(const char *raw, const char *path)
{
    struct http_target target;
    struct rl_err err = {0};
    assert_int_equal(http_target_parse(raw, &target, &err), 0);
    assert_string_equal(target.path, path);
    http_target_free(&target);
    assert_null(target.text);
}

static void refuses(const char *raw, enum rl_code code)
{
    struct http_target target = {.path = "untouched"};
    struct rl_err err = {0};
    assert_int_equal(http_target_parse(raw, &target, &err), -1);
    assert_int_equal(err.code, code);
    assert_string_equal(target.path, "untouched");
}

static void test_targets(void **state)
{
    (void)state;
    parses("/", "/");
    parses("*", "*");
    parses("/a%20b", "/a b");
    parses("/a+b", "/a+b");
    parses("/%C3%A9", "/\xc3\xa9");
    parses("/..a/.b/...", "/..a/.b/...");
    parses("/%2e%2e%2e", "/...");
    parses("http://h/x", "/x");
    parses("HTTP://h", "/");
    /* no separator: the number of segments stays that of the raw path */
    parses("/jobs/1%2ftranscript", "/jobs/1%2Ftranscript");
    parses("/%2F", "/%2F");
    parses("/..%2fx", "/..%2Fx");
    parses("/%2e%2fx", "/.%2Fx");
    parses("/?a=b%2Fc", "/");
    parses("http://h?q=1", "/");
    refuses("", RL_E_BAD_REQUEST);
    refuses("a", RL_E_BAD_REQUEST);
    refuses("http://", RL_E_BAD_REQUEST);
    refuses("https://h/x", RL_E_BAD_REQUEST);
    refuses("/%", RL_E_BAD_REQUEST);
    refuses("/%4", RL_E_BAD_REQUEST);
    refuses("/%4g", RL_E_BAD_REQUEST);
    refuses("/%00", RL_E_BAD_REQUEST);
    refuses("/%80", RL_E_BAD_REQUEST);
    refuses("/\x80", RL_E_BAD_REQUEST);
    refuses("/..", RL_E_BAD_REQUEST);
    refuses("/.", RL_E_BAD_REQUEST);
    refuses("/a/%2e%2E/b", RL_E_BAD_REQUEST);
    refuses("/?a=1&a=2", RL_E_BAD_REQUEST);
    refuses("/?a", RL_E_BAD_REQUEST);
    refuses("/?a=%00", RL_E_BAD_REQUEST);
    char longest[LIMIT_URL_BYTES + 1];
    memset(longest, 'x', sizeof(longest));
    longest[0] = '/';
    longest[LIMIT_URL_BYTES] = '\0';
    parses(longest, longest);
}

static void test_params(void **state)
{
    struct http_request request = {0};
    (void)state;
    assert_int_equal(http_target_parse("http://h:1/p?a=1+2%2b3&b=&c%3d=x=y&", &request.target, NULL), 0);
    assert_string_equal(request.target.authority, "h:1");
    assert_string_equal(http_param(&request, "a"), "1 2+3");
    assert_string_equal(http_param(&request, "b"), "");
    assert_string_equal(http_param(&request, "c="), "x=y");
    assert_null(http_param(&request, "d"));
    assert_int_equal(request.target.param_count, 3);
    http_target_free(&request.target);
}

static void test_fields(void **state)
{
    struct http_fields fields = {0};
    struct rl_err err = {0};
    (void)state;
    assert_int_equal(http_fields_add(&fields, "hOsT", "h", &err), 0);
    assert_string_equal(fields.host, "h");
    assert_int_equal(http_fields_add(&fields, "X-Other", "1", &err), 0);
    assert_int_equal(http_fields_add(&fields, "X-Other", "2", &err), 0);
    assert_int_equal(http_fields_add(&fields, "Host", "h", &err), -1);
    assert_string_equal(err.field, "Host");
}

static enum rl_code length_of(const char *length, const char *encoding, bool *ret_has_body)
{
    struct http_fields fields = {.content_length = length, .transfer_encoding = encoding};
    struct rl_err err = {0};
    return http_check_length(&fields, 100, ret_has_body, &err) ? err.code : RL_E_NONE;
}

static void test_length(void **state)
{
    bool has_body = true;
    (void)state;
    assert_int_equal(length_of(NULL, NULL, &has_body), RL_E_NONE);
    assert_false(has_body);
    assert_int_equal(length_of("100", NULL, &has_body), RL_E_NONE);
    assert_true(has_body);
    assert_int_equal(length_of("0", NULL, &has_body), RL_E_NONE);
    assert_false(has_body);
    assert_int_equal(length_of("0099", NULL, &has_body), RL_E_NONE);
    assert_true(has_body);
    has_body = false;
    assert_int_equal(length_of(NULL, "Chunked", &has_body), RL_E_NONE);
    assert_true(has_body);
    assert_int_equal(length_of("101", NULL, &has_body), RL_E_TOO_LARGE);
    assert_int_equal(length_of("99999999999999999999", NULL, &has_body), RL_E_TOO_LARGE);
}

static void test_hosts(void **state)
{
    static const char *const allowed[] = {"gpu.example", "[fd00::1]"};
    static const char *const good[] = {"localhost", "LocalHost:1",    "127.0.0.1:65535", "127.255.0.9",
                                       "[::1]:80",  "gpu.example:80", "[fd00::1]"};
    static const char *const bad[] = {
        "",           ":80",          "localhost:",   "localhost:65536", "localhost:a", "127.0.0.256",
        "127.0.0.1.", "127..0.1",     "127.0.0.01",   "128.0.0.1",       "[::1",        "[::2]",
        "[::1]x",     "gpu.example.", "xgpu.example", "gpu.exampl"};
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(http_host_allowed(good[i], allowed, 2));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(http_host_allowed(bad[i], allowed, 2));
    static const char *const valid[] = {"a",         "a.b-c_d~1",           "a:1", "10.0.0.9:65535",
                                        "[fe80::1]", "[::ffff:1.2.3.4]:80", "a,b", "%61"};
    static const char *const invalid[] = {"",    ":80",      "a:",   "a:0",  "a:65536", "a b", "a, b",
                                          "a@b", "a/b",      "[::1", "[]",   "[",       "[g]", "[::1]x",
                                          "::1", "\xc3\xa9", "a\"",  "a\tb", "[a]]"};
    for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
        assert_true(http_host_valid(valid[i]));
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
        assert_false(http_host_valid(invalid[i]));
    assert_true(http_origin_matches("http://h:1", "h:1"));
    assert_true(http_origin_matches("https://H", "h"));
    assert_false(http_origin_matches("null", "null"));
    assert_false(http_origin_matches("http://h", "h:80"));
    assert_false(http_origin_matches("http://h/", "h"));
}

static void test_who(void **state)
{
    static const struct {
        struct auth_peer peer;
        bool open_loopback, closed_loopback, open_network;
        enum auth_right right;
        const char *id, *share;
    } cases[] = {
        {{"l", .loopback = true}, false, false, false, AUTH_READ, "anonymous", "l"},
        {{"l", .loopback = true}, true, false, false, AUTH_SUBMIT, "anonymous", "l"},
        {{"l", .loopback = true}, false, true, false, AUTH_NONE, "anonymous", "l"},
        {{"n", .loopback = false}, false, false, false, AUTH_NONE, "anonymous", "n"},
        {{"n", .loopback = false}, true, false, false, AUTH_NONE, "anonymous", "n"},
        {{"n", .loopback = false}, true, false, true, AUTH_READ, "anonymous", "n"},
        {{"uid:0", .is_unix = true, .uid = 0}, false, true, false, AUTH_ADMIN, "uid:0", "uid:0"},
        {{"uid:4000000000", .is_unix = true, .uid = 4000000000},
         false,
         false,
         false,
         AUTH_SUBMIT,
         "uid:4000000000",
         "uid:4000000000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct auth_principal who;
        struct auth *auth;
        struct rl_err err = {0};
        struct auth_config config = {NULL, cases[i].open_loopback, cases[i].closed_loopback, cases[i].open_network};
        assert_int_equal(auth_new(&config, &auth, &err), 0);
        assert_int_equal(auth_identify(auth, &cases[i].peer, NULL, &who, &err), 0);
        assert_int_equal(who.right, cases[i].right);
        assert_string_equal(who.id, cases[i].id);
        assert_string_equal(who.share, cases[i].share);
        for (int right = AUTH_NONE; right <= AUTH_ADMIN; right++)
            assert_int_equal(auth_require(&who, (enum auth_right)right, &err), right <= (int)who.right ? 0 : -1);
        assert_int_equal(auth_identify(auth, &cases[i].peer, "Bearer x", &who, &err), -1);
        assert_int_equal(err.code, RL_E_UNAUTHORIZED);
        auth_free(auth);
    }
}

static void test_etags(void **state)
{
    (void)state;
    assert_true(http_etag_matches("\"a\"", "\"a\""));
    assert_true(http_etag_matches("W/\"a\"", "\"a\""));
    assert_true(http_etag_matches("\"x\" , \"a\"", "\"a\""));
    assert_true(http_etag_matches("*", "\"a\""));
    assert_false(http_etag_matches("", "\"a\""));
    assert_false(http_etag_matches("a", "\"a\""));
    assert_false(http_etag_matches("\"a", "\"a\""));
    assert_false(http_etag_matches("\"aa\"", "\"a\""));
    assert_false(http_etag_matches("W/", "\"a\""));
}

static void test_bodies(void **state)
{
    struct rl_err err = {0};
    json_t *body = NULL;
    (void)state;
    static const char brackets[] = "{\"a\":\"[[[[[[[[[[[[[[[[[[[[\\\"{\"}";
    assert_int_equal(json_body_parse(brackets, sizeof(brackets) - 1, &body, &err), 0);
    json_decref(body);
    assert_int_equal(json_body_parse(NULL, 0, &body, &err), -1);
    char deep[2 * LIMIT_JSON_DEPTH + 8];
    for (size_t depth = LIMIT_JSON_DEPTH; depth <= LIMIT_JSON_DEPTH + 1; depth++) {
        size_t len = 0;
        len += (size_t)snprintf(deep, sizeof(deep), "{\"a\":");
        memset(deep + len, '[', depth - 1);
        memset(deep + len + depth - 1, ']', depth - 1);
        len += 2 * (depth - 1);
        deep[len++] = '}';
        int rc = json_body_parse(deep, len, &body, &err);
        assert_int_equal(rc, depth <= LIMIT_JSON_DEPTH ? 0 : -1);
        if (rc == 0)
            json_decref(body);
    }
    assert_int_equal(err.code, RL_E_BAD_JSON);
}

static void test_error_answers(void **state)
{
    struct http_answer answer;
    struct rl_err err = {0};
    (void)state;
    http_answer_init(&answer);
    /* Not UTF-8, and cut within a character: the answer still has to be JSON. */
    rl_fail(&err, RL_E_QUEUE_FULL, "x", "bad");
    memcpy(err.message, "caf\xc3", 5);
    memcpy(err.field, "\xff\"", 3);
    http_answer_error(&answer, &err);
    assert_int_equal(answer.status, 429);
    assert_true(answer.retry_after_s > 0);
    json_t *body = json_loadb(answer.body.data, answer.body.len, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json_object_get(body, "error"), "message")), "caf?");
    assert_string_equal(json_string_value(json_object_get(json_object_get(body, "error"), "field")), "?\"");
    json_decref(body);
    http_answer_fini(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets), cmocka_unit_test(test_params), cmocka_unit_test(test_fields),
        cmocka_unit_test(test_length),  cmocka_unit_test(test_hosts),  cmocka_unit_test(test_who),
        cmocka_unit_test(test_etags),   cmocka_unit_test(test_bodies), cmocka_unit_test(test_error_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
