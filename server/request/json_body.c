/* See server/request/json_body.h. Jansson 2.14 refuses bad UTF-8, NUL escapes and duplicate keys when told to, but
 * takes nesting to 2048. */
#include "server/request/json_body.h"

#include <string.h>

#include "gpu/base/num.h"
#include "server/limits/limits.h"

/* Deepest nesting of brackets outside strings; counts without judging whether they match. */
static size_t nesting(const char *data, size_t len)
{
    size_t depth = 0, deepest = 0;
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        char c = data[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > deepest)
                deepest = depth;
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
        }
    }
    return deepest;
}

int json_body_parse(const char *data, size_t len, json_t **ret, struct rl_err *err)
{
    json_error_t why;
    if (len == 0)
        return rl_fail(err, RL_E_BAD_JSON, NULL, "the body is empty");
    if (memchr(data, '\0', len))
        return rl_fail(err, RL_E_BAD_JSON, NULL, "the body has a NUL byte");
    if (!rl_utf8_valid(data, len))
        return rl_fail(err, RL_E_BAD_JSON, NULL, "the body is not valid UTF-8");
    size_t depth = nesting(data, len);
    if (depth > LIMIT_JSON_DEPTH)
        return rl_fail(err, RL_E_BAD_JSON, NULL, "the body is nested %zu deep; at most %u levels are taken", depth,
                       LIMIT_JSON_DEPTH);
    json_t *json = json_loadb(data, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    if (!json)
        return rl_fail(err, RL_E_BAD_JSON, NULL, "the body is not JSON: line %d, column %d: %s", why.line, why.column,
                       why.text);
    if (!json_is_object(json)) {
        json_decref(json);
        return rl_fail(err, RL_E_BAD_JSON, NULL, "the body is not a JSON object");
    }
    *ret = json;
    return 0;
}
