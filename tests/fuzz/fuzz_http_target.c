/* Any text as a request's target, header lines and Host, of the bytes that server/request/screen.h lets through. What
 * passes must be what routes and handlers rely on. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "server/limits/limits.h"
#include "server/request/http.h"

static size_t count_slashes(const char *text, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += text[i] == '/';
    return count;
}

static void check_target(const char *raw, const struct http_target *target)
{
    /* No escape becomes a separator. */
    if (raw[0] == '/' && count_slashes(raw, strcspn(raw, "?")) != count_slashes(target->path, strlen(target->path)))
        abort();
    if (strcmp(target->path, "*") != 0 && target->path[0] != '/')
        abort();
    if (strstr(target->path, "/../") != NULL || strstr(target->path, "/./") != NULL)
        abort();
    if (!rl_utf8_valid(target->path, strlen(target->path)) || target->param_count > LIMIT_QUERY_PARAMS)
        abort();
    for (size_t i = 0; i < target->param_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(target->params[i].name, target->params[j].name) == 0)
                abort();
}

static void check_fields(const char *name, const char *value)
{
    static const char *const allowed[] = {"gpu.example"};
    struct http_fields fields = {0};
    struct rl_err err = {0};
    bool has_body;
    if (http_fields_add(&fields, name, value, &err) == 0)
        (void)http_check_length(&fields, LIMIT_BODY_BYTES, &has_body, &err);
    (void)http_host_allowed(value, allowed, 1);
    (void)http_origin_matches(value, name);
    (void)http_is_json_type(value);
    (void)http_etag_matches(value, "\"abc\"");
    char key[HTTP_KEY_SIZE];
    (void)http_read_idempotency_key(value, key, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_target target;
    struct rl_err err = {0};
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    char *address = strdup(text);
    if (address == NULL) {
        free(text);
        return 0;
    }
    for (char *c = address; *c; c++)
        if ((unsigned char)*c <= 0x20 || (unsigned char)*c >= 0x7f || *c == '#')
            *c = 'x';
    if (http_target_parse(address, &target, &err) == 0) {
        check_target(address, &target);
        http_target_free(&target);
    } else if (err.code == RL_E_NONE) {
        abort();
    }
    free(address);
    size_t half = strlen(text) / 2;
    char *name = strndup(text, half);
    if (name != NULL)
        check_fields(name, text + half);
    free(name);
    free(text);
    return 0;
}
