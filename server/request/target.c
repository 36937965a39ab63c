/* Request targets: from the raw bytes of the request line to a decoded path and parameters. The library's own decoding
 * is not used, since it cuts at %00 and keeps dot segments (libmicrohttpd 0.9.75, seen 2026-11-29). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "server/limits/limits.h"
#include "server/request/http.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

enum part { PATH, QUERY };

/* Decodes text in place. In a query '+' is a space, as browsers write form values. In a path %2F stays as it is: it is
 * not the separator that '/' is (RFC 3986, 2.2), and "/jobs/1%2Fnote" another path than "/jobs/1/note". */
static int decode(char *text, enum part part, struct rl_err *err)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        unsigned char c = (unsigned char)*in;
        if (c == '%') {
            int high = hex_digit(in[1]);
            int low = high < 0 ? -1 : hex_digit(in[2]);
            if (low < 0)
                return rl_fail(err, RL_E_BAD_REQUEST, NULL,
                               "the address has a '%%' that two hexadecimal digits do not follow");
            c = (unsigned char)(high * 16 + low);
            if (c == '/' && part == PATH) {
                memcpy(out, "%2F", 3);
                out += 3;
                in += 2;
                continue;
            }
            in += 2;
            if (c < 0x20 || c == 0x7f)
                return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the address has the control byte %%%02X", c);
        } else if (c == '+' && part == QUERY) {
            c = ' ';
        }
        *out++ = (char)c;
    }
    *out = '\0';
    if (!rl_utf8_valid(text, (size_t)(out - text)))
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the address is not valid UTF-8");
    return 0;
}

static int check_segments(const char *path, struct rl_err *err)
{
    while (*path) {
        size_t len = strcspn(path + 1, "/");
        if ((len == 1 && path[1] == '.') || (len == 2 && path[1] == '.' && path[2] == '.'))
            return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the path has a '.' or '..' segment");
        path += 1 + len;
    }
    return 0;
}

static int parse_params(char *query, struct http_target *target, struct rl_err *err)
{
    while (query && *query) {
        char *next = strchr(query, '&');
        if (next)
            *next++ = '\0';
        char *value = strchr(query, '=');
        if (!value || value == query)
            return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the query has a part that is not name=value");
        *value++ = '\0';
        if (decode(query, QUERY, err) || decode(value, QUERY, err))
            return -1;
        for (size_t i = 0; i < target->param_count; i++)
            if (!strcmp(target->params[i].name, query))
                return rl_fail(err, RL_E_BAD_REQUEST, query, "the query parameter '%.64s' is given twice", query);
        if (target->param_count == LIMIT_QUERY_PARAMS)
            return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the query has more than %u parameters", LIMIT_QUERY_PARAMS);
        target->params[target->param_count++] = (struct http_param){query, value};
        query = next;
    }
    return 0;
}

/* Copies raw into one allocation: the authority of an absolute-form target ("http://authority/path", which every server
 * must take, RFC 9112, 3.2.2), then path and query. Returns where the path starts, or NULL when memory ran out. */
static char *split(const char *raw, struct http_target *target)
{
    size_t authority_len = 0;
    if (!strncasecmp(raw, "http://", 7)) {
        raw += 7;
        authority_len = strcspn(raw, "/?");
    }
    size_t size = strlen(raw) + 3;
    target->text = malloc(size);
    if (!target->text)
        return NULL;
    char *path = target->text;
    if (authority_len) {
        memcpy(path, raw, authority_len);
        path[authority_len] = '\0';
        target->authority = path;
        raw += authority_len;
        path += authority_len + 1;
    }
    /* "http://host?x=1" means the root. */
    snprintf(path, size - (size_t)(path - target->text), "%s%s", authority_len && *raw != '/' ? "/" : "", raw);
    return path;
}

int http_target_parse(const char *raw, struct http_target *ret, struct rl_err *err)
{
    struct http_target target = {0};
    int rc = -1;

    char *path = split(raw, &target);
    if (!path)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the request's address");
    char *query = strchr(path, '?');
    if (query)
        *query++ = '\0';
    target.path = path;
    if (strcmp(path, "*") && *path != '/') {
        rl_fail(err, RL_E_BAD_REQUEST, NULL, "the address does not start with '/'");
        goto out;
    }
    if (decode(path, PATH, err) || (*path == '/' && check_segments(path, err)) || parse_params(query, &target, err))
        goto out;
    *ret = target;
    target.text = NULL;
    rc = 0;
out:
    free(target.text);
    return rc;
}

void http_target_free(struct http_target *target)
{
    free(target->text);
    *target = (struct http_target){0};
}

const char *http_param(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->target.param_count; i++)
        if (!strcmp(request->target.params[i].name, name))
            return request->target.params[i].value;
    return NULL;
}
