/* /api/v1/compare: one set of runs judged against another. A side is "run:ID[,run:ID…]" or
 * "driver:VERSION[,cuda:VERSION]". */
#include <string.h>

#include "base/num.h"
#include "server/compare_draws.h"
#include "server/limits.h"
#include "server/routes.h"

#define SIDE_CHARACTERS (COMPARE_RUNS_MAX * 24u)

struct asked { /* one side's text, taken apart */
    const char *label;
    int64_t runs[COMPARE_RUNS_MAX];
    size_t run_count;
    char driver[LIMIT_DRIVER_CHARACTERS + 1], cuda[LIMIT_CUDA_CHARACTERS + 1];
    struct store_side side;
};

static int take_run(const char *name, const char *text, size_t len, struct asked *ret, struct rl_err *err)
{
    char digits[24];
    if (ret->run_count == COMPARE_RUNS_MAX)
        return rl_fail(err, RL_E_BAD_FIELD, name, "%s names more than %d runs", name, COMPARE_RUNS_MAX);
    if (len >= sizeof(digits))
        return rl_fail(err, RL_E_BAD_FIELD, name, "%s: '%.64s' is not a run's id", name, text);
    memcpy(digits, text, len);
    digits[len] = '\0';
    if (rl_parse_i64(digits, 1, INT64_MAX, &ret->runs[ret->run_count]))
        return rl_fail(err, RL_E_BAD_FIELD, name, "%s: '%s' is not a run's id", name, digits);
    for (size_t i = 0; i < ret->run_count; i++)
        if (ret->runs[i] == ret->runs[ret->run_count])
            return rl_fail(err, RL_E_BAD_FIELD, name, "%s names run %s twice", name, digits);
    ret->run_count++;
    return 0;
}

static int take_version(const char *name, const char *text, size_t len, char *version, size_t size, struct rl_err *err)
{
    if (version[0] || len == 0 || len >= size)
        return rl_fail(err, RL_E_BAD_FIELD, name, "%s has a version twice, an empty one, or one over %zu characters",
                       name, size - 1);
    memcpy(version, text, len);
    version[len] = '\0';
    return 0;
}

static int take_part(const char *name, const char *part, size_t len, struct asked *ret, struct rl_err *err)
{
    if (!strncmp(part, "run:", 4))
        return take_run(name, part + 4, len - 4, ret, err);
    if (!strncmp(part, "driver:", 7))
        return take_version(name, part + 7, len - 7, ret->driver, sizeof(ret->driver), err);
    if (!strncmp(part, "cuda:", 5))
        return take_version(name, part + 5, len - 5, ret->cuda, sizeof(ret->cuda), err);
    return rl_fail(err, RL_E_BAD_FIELD, name, "%s: '%.*s' is not run:ID, driver:VERSION or cuda:VERSION", name,
                   (int)(len < 64 ? len : 64), part);
}

static int read_side(const struct http_request *request, const char *name, struct asked *ret, struct rl_err *err)
{
    if (route_needed(request, name, SIDE_CHARACTERS, &ret->label, err))
        return -1;
    for (const char *part = ret->label; part;) {
        size_t len = strcspn(part, ",");
        if (take_part(name, part, len, ret, err))
            return -1;
        part = part[len] ? part + len + 1 : NULL;
    }
    if (ret->run_count ? ret->driver[0] || ret->cuda[0] : !ret->driver[0])
        return rl_fail(err, RL_E_BAD_FIELD, name, "%s is neither runs alone nor a driver with or without cuda", name);
    return 0;
}

/* What of a query belongs to both sides. */
struct common {
    const char *device, *suite, *sizes, *source;
};

static void fill_side(const struct common *common, struct asked *ret)
{
    ret->side = (struct store_side){.device = common->device,
                                    .suite = common->suite,
                                    .sizes = common->sizes,
                                    .source = common->source,
                                    .limit = COMPARE_RUNS_MAX + 1, /* one more: whether there are older ones */
                                    .left_out_limit = COMPARE_RUNS_MAX};
    if (ret->run_count) {
        ret->side.runs = ret->runs;
        ret->side.run_count = ret->run_count;
    } else {
        ret->side.driver = ret->driver;
        ret->side.cuda = ret->cuda[0] ? ret->cuda : NULL;
    }
}

/* A driver's runs are those of the device, suite and sizes that the query names, else of the runs on the other side. */
static int complete(struct common *common, const struct compare_loaded *named, struct rl_err *err)
{
    const struct store_draw *first = named && named->draws.count ? &named->draws.draws[0] : NULL;
    if (!common->device && first)
        common->device = first->device;
    if (!common->sizes)
        common->sizes = first ? first->sizes : "course";
    if (!common->suite && first)
        common->suite = first->suite;
    if (!common->device)
        return rl_fail(err, RL_E_BAD_FIELD, "device", "device is missing: a driver's runs are those of one device");
    return 0;
}

static int load(struct store *store, struct common common, struct asked asked[2], struct compare_loaded ret[2],
                struct rl_err *err)
{
    const struct compare_loaded *named = NULL;
    for (int i = 0; i < 2; i++) {
        if (asked[i].run_count == 0)
            continue;
        fill_side(&common, &asked[i]);
        if (compare_load(store, &asked[i].side, asked[i].label, &ret[i], err))
            return -1;
        named = &ret[i];
    }
    for (int i = 0; i < 2; i++) {
        if (asked[i].run_count)
            continue;
        if (complete(&common, named, err))
            return -1;
        fill_side(&common, &asked[i]);
        if (compare_load(store, &asked[i].side, asked[i].label, &ret[i], err))
            return -1;
    }
    return 0;
}

static int judge(struct store *store, const char *source, const struct compare_loaded sides[2],
                 struct http_answer *answer, struct rl_err *err)
{
    struct compare_loaded_history history = {0};
    struct compare_result *result = NULL;
    int rc = -1;

    if (sides[0].draws.count && compare_wants_history(&sides[0].side, &sides[1].side) &&
        compare_load_history(store, &sides[0].draws.draws[0], source, &history, err))
        goto out;
    if (compare_judge(&sides[0].side, &sides[1].side, history.arena ? &history.history : NULL, &result, err))
        goto out;
    rc = route_json(answer, 200, compare_to_json(result), err);
out:
    compare_free(result);
    compare_unload_history(&history);
    return rc;
}

int compare_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                      struct rl_err *err)
{
    struct asked asked[2] = {0};
    struct compare_loaded sides[2] = {0};
    struct common common = {0};
    int rc = -1;

    if (read_side(request, "base", &asked[0], err) || read_side(request, "head", &asked[1], err) ||
        route_word(request, "device", LIMIT_DEVICE_CHARACTERS, &common.device, err) ||
        route_one_of(request, "suite", ROUTE_SUITES, &common.suite, err) ||
        route_one_of(request, "sizes", ROUTE_SIZES, &common.sizes, err) ||
        route_one_of(request, "source", "measured|replayed|imported|any", &common.source, err))
        return -1;
    if (load(routes->store, common, asked, sides, err) || judge(routes->store, common.source, sides, answer, err))
        goto out;
    rc = 0;
out:
    compare_unload(&sides[0]);
    compare_unload(&sides[1]);
    return rc;
}
