/* Query parameters that several routes share, and what they may say. */
#include <string.h>

#include "db/runs/list.h"
#include "gpu/base/num.h"
#include "gpu/base/said.h"
#include "gpu/base/time.h"
#include "server/limits/limits.h"
#include "server/routes/routes.h"

int route_one_of(const struct http_request *request, const char *name, const char *list, const char **ret,
                 struct rl_err *err)
{
    const char *value = http_param(request, name);
    *ret = NULL;
    if (!value)
        return 0;
    size_t len = strlen(value);
    for (const char *word = list; len; word++) {
        size_t word_len = strcspn(word, "|");
        if (word_len == len && !strncmp(word, value, len)) {
            *ret = value;
            return 0;
        }
        word += word_len;
        if (!*word)
            break;
    }
    return rl_fail(err, RL_E_BAD_FIELD, name, "%s '%.64s' is not one of %s", name, value, list);
}

static int check_word(const char *name, const char *value, size_t max, struct rl_err *err)
{
    size_t len = strlen(value);
    for (size_t i = 0; i < len; i++)
        if (value[i] <= 0x20 || value[i] > 0x7e)
            return rl_fail(err, RL_E_BAD_FIELD, name, "%s has a byte outside printable ASCII", name);
    if (len < 1 || len > max)
        return rl_fail(err, RL_E_BAD_FIELD, name, "%s has %zu characters; 1 to %zu are taken", name, len, max);
    return 0;
}

int route_word(const struct http_request *request, const char *name, size_t max, const char **ret, struct rl_err *err)
{
    const char *value = http_param(request, name);
    *ret = NULL;
    if (!value)
        return 0;
    if (check_word(name, value, max, err))
        return -1;
    *ret = value;
    return 0;
}

int route_version(const struct http_request *request, const char *name, size_t max, const char **ret,
                  struct rl_err *err)
{
    if (route_word(request, name, max, ret, err))
        return -1;
    if (*ret && !strcmp(*ret, "unknown"))
        *ret = "";
    return 0;
}

int route_needed(const struct http_request *request, const char *name, size_t max, const char **ret, struct rl_err *err)
{
    if (route_word(request, name, max, ret, err))
        return -1;
    return *ret ? 0 : rl_fail(err, RL_E_BAD_FIELD, name, "the query parameter %s is missing", name);
}

int route_label(const struct http_request *request, const char **ret, struct rl_err *err)
{
    *ret = http_param(request, "label");
    return *ret ? rl_label_check(*ret, strlen(*ret), "label", err) : 0;
}

static int time_of(const struct http_request *request, const char *name, int64_t *ret, struct rl_err *err)
{
    const char *value = http_param(request, name);
    int64_t ms = 0;
    /* 0 means "no bound" to the store; nothing was measured in 1970. */
    if (value && (rl_time_parse(value, &ms) || ms <= 0))
        return rl_fail(err, RL_E_BAD_FIELD, name,
                       "%s '%.64s' is not an RFC 3339 time or a date YYYY-MM-DD after 1970-01-01", name, value);
    *ret = ms;
    return 0;
}

int route_times(const struct http_request *request, int64_t *ret_since, int64_t *ret_until, struct rl_err *err)
{
    if (time_of(request, "since", ret_since, err) || time_of(request, "until", ret_until, err))
        return -1;
    if (*ret_since && *ret_until && *ret_since >= *ret_until)
        return rl_fail(err, RL_E_BAD_FIELD, "until", "until is not after since");
    return 0;
}

int route_run_filter(const struct http_request *request, struct store_run_filter *ret, struct rl_err *err)
{
    struct store_run_filter filter = {0};
    if (route_word(request, "device", LIMIT_DEVICE_CHARACTERS, &filter.device, err) ||
        route_version(request, "driver", LIMIT_DRIVER_CHARACTERS, &filter.driver, err) ||
        route_version(request, "cuda", LIMIT_CUDA_CHARACTERS, &filter.cuda, err) ||
        route_one_of(request, "suite", ROUTE_SUITES, &filter.suite, err) ||
        route_one_of(request, "sizes", ROUTE_SIZES, &filter.sizes, err) ||
        route_one_of(request, "source", "measured|replayed|imported|measured,imported|any", &filter.source, err) ||
        route_one_of(request, "counters", "counter-backed|timed-only", &filter.counters, err) ||
        route_one_of(request, "outcome", "ok|refused|partial|any", &filter.outcome, err) ||
        route_label(request, &filter.label, err) ||
        route_one_of(request, "withdrawn", "false|true|any", &filter.withdrawn, err) ||
        route_times(request, &filter.since_ms, &filter.until_ms, err))
        return -1;
    if (!filter.outcome)
        filter.outcome = "ok";
    *ret = filter;
    return 0;
}
