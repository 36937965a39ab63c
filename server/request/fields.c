/* Header fields: which are known, what they may say. Pure rules; that a line is one is known by then
 * (server/request/screen.c).
 */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "gpu/base/num.h"
#include "server/limits/limits.h"
#include "server/request/http.h"

static const struct {
    const char *name;
    size_t offset;
} known[] = {
    {"Host", offsetof(struct http_fields, host)},
    {"Origin", offsetof(struct http_fields, origin)},
    {"Content-Type", offsetof(struct http_fields, content_type)},
    {"Content-Length", offsetof(struct http_fields, content_length)},
    {"Content-Encoding", offsetof(struct http_fields, content_encoding)},
    {"Transfer-Encoding", offsetof(struct http_fields, transfer_encoding)},
    {"Authorization", offsetof(struct http_fields, authorization)},
    {"Idempotency-Key", offsetof(struct http_fields, idempotency_key)},
    {"If-None-Match", offsetof(struct http_fields, if_none_match)},
    {"If-Match", offsetof(struct http_fields, if_match)},
};

enum http_method http_method_from_name(const char *name)
{
    static const char *const names[] = {[HTTP_GET] = "GET", [HTTP_HEAD] = "HEAD",     [HTTP_POST] = "POST",
                                        [HTTP_PUT] = "PUT", [HTTP_DELETE] = "DELETE", [HTTP_OPTIONS] = "OPTIONS"};
    for (int i = 0; i < HTTP_OTHER; i++)
        if (!strcmp(names[i], name))
            return (enum http_method)i;
    return HTTP_OTHER;
}

int http_fields_add(struct http_fields *fields, const char *name, const char *value, struct rl_err *err)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcasecmp(name, known[i].name))
            continue;
        const char **slot = (const char **)(void *)((char *)fields + known[i].offset);
        if (*slot)
            return rl_fail(err, RL_E_BAD_REQUEST, known[i].name, "the header %s is given twice", known[i].name);
        *slot = value;
    }
    return 0;
}

int http_check_length(const struct http_fields *fields, size_t max, bool *ret_has_body, struct rl_err *err)
{
    const char *length = fields->content_length;
    int64_t bytes = 0;
    *ret_has_body = fields->transfer_encoding != NULL;
    if (!length)
        return 0;
    length += strspn(length, "0");
    if (*length && (rl_parse_i64(length, 0, INT64_MAX, &bytes) || (uint64_t)bytes > max))
        return rl_fail(err, RL_E_TOO_LARGE, "Content-Length", "the body has %.32s bytes; at most %zu are taken", length,
                       max);
    *ret_has_body = bytes > 0;
    return 0;
}

/* Length of the name in "name:port", "[v6]:port" or the bare forms; 0 when the port is no number. */
static size_t host_name_len(const char *host)
{
    size_t len = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (len > strlen(host))
        return 0;
    if (!host[len])
        return len;
    int64_t port;
    return host[len] == ':' && !rl_parse_i64(host + len + 1, 1, 65535, &port) ? len : 0;
}

bool http_host_valid(const char *host)
{
    static const char name_bytes[] = "-._~%!$&'()*+,;=";
    size_t len = host_name_len(host);
    bool bracketed = len > 2 && *host == '[';
    for (size_t i = bracketed; i < len - bracketed; i++)
        if (bracketed ? !isxdigit((unsigned char)host[i]) && !strchr(":.", host[i])
                      : !isalnum((unsigned char)host[i]) && !strchr(name_bytes, host[i]))
            return false;
    return len > 0;
}

/* 127.a.b.c, each part 0 to 255 in plain decimal. */
static bool is_loopback_v4(const char *name, size_t len)
{
    char text[16];
    if (len >= sizeof(text) || strncmp(name, "127.", 4))
        return false;
    memcpy(text, name, len);
    text[len] = '\0';
    int parts = 0;
    for (char *part = text, *next; part; part = next, parts++) {
        next = strchr(part, '.');
        if (next)
            *next++ = '\0';
        int64_t value;
        if (rl_parse_i64(part, 0, 255, &value))
            return false;
    }
    return parts == 4;
}

bool http_host_allowed(const char *host, const char *const *allowed, size_t allowed_count)
{
    size_t len = host_name_len(host);
    if (len == 0)
        return false;
    if ((len == 9 && !strncasecmp(host, "localhost", 9)) || (len == 5 && !strncmp(host, "[::1]", 5)) ||
        is_loopback_v4(host, len))
        return true;
    for (size_t i = 0; i < allowed_count; i++)
        if (strlen(allowed[i]) == len && !strncasecmp(allowed[i], host, len))
            return true;
    return false;
}

bool http_origin_matches(const char *origin, const char *host)
{
    if (!strncmp(origin, "http://", 7))
        origin += 7;
    else if (!strncmp(origin, "https://", 8))
        origin += 8;
    else
        return false;
    return !strcasecmp(origin, host);
}

bool http_is_json_type(const char *type)
{
    static const char json[] = "application/json";
    if (strncasecmp(type, json, sizeof(json) - 1))
        return false;
    type += sizeof(json) - 1;
    type += strspn(type, " \t");
    if (!*type)
        return true;
    if (*type++ != ';')
        return false;
    type += strspn(type, " \t");
    return !strcasecmp(type, "charset=utf-8") || !strcasecmp(type, "charset=\"utf-8\"");
}

bool http_etag_matches(const char *list, const char *etag)
{
    size_t len = strlen(etag);
    while (*list) {
        list += strspn(list, " \t,");
        if (*list == '*' && (!list[1] || strchr(" \t,", list[1])))
            return true;
        if (!strncmp(list, "W/", 2))
            list += 2;
        if (*list != '"')
            return false;
        size_t item = strcspn(list + 1, "\"") + 2;
        if (item > strlen(list))
            return false;
        if (item == len && !strncmp(list, etag, len))
            return true;
        list += item;
    }
    return false;
}

int http_read_idempotency_key(const char *value, char ret[HTTP_KEY_SIZE], struct rl_err *err)
{
    const char *key = value + strspn(value, " \t");
    size_t len = strlen(key);
    while (len > 0 && (key[len - 1] == ' ' || key[len - 1] == '\t'))
        len--;
    if (len < 1 || len > LIMIT_KEY_CHARACTERS)
        return rl_fail(err, RL_E_BAD_FIELD, "Idempotency-Key", "Idempotency-Key has %zu characters; 1 to %u are taken",
                       len, LIMIT_KEY_CHARACTERS);
    for (size_t i = 0; i < len; i++)
        if (key[i] < 0x20 || key[i] > 0x7e)
            return rl_fail(err, RL_E_BAD_FIELD, "Idempotency-Key",
                           "Idempotency-Key has a byte outside printable ASCII");
    memcpy(ret, key, len);
    ret[len] = '\0';
    return 0;
}
