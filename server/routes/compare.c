/* /api/v1/compare: one set of runs judged against another. A side is "run:ID[,run:ID…]", or
 * "driver:VERSION", "label:LABEL" or both, with "cuda:VERSION" or without; a comma in a label is written "\,". */
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/base/said.h"
#include "server/answers/compare.h"
#include "server/limits/limits.h"
#include "server/routes/routes.h"

#define SIDE_BYTES (COMPARE_RUNS_MAX * 24u)

static int take_run(const char *name, const char *text, size_t len, struct compare_asked *ret, struct rl_err *err)
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

/* The name up to the next comma, copied to *at, which moves on; \\ takes the next byte as it is. Returns what follows
 * the comma, or NULL at the end. */
static const char *take_name(const char *text, char **at)
{
    for (; *text && *text != ','; text++) {
        if (*text == '\\' && text[1])
            text++;
        *(*at)++ = *text;
    }
    *(*at)++ = '\0';
    return *text ? text + 1 : NULL;
}

/* Printable ASCII without blanks: all that is no label. */
static int check_ascii(const char *name, const char *part, size_t len, struct rl_err *err)
{
    for (size_t i = 0; i < len; i++)
        if (part[i] <= 0x20 || part[i] > 0x7e)
            return rl_fail(err, RL_E_BAD_FIELD, name, "%s has a byte outside printable ASCII, which only label: takes",
                           name);
    return 0;
}

static int take_label(const char *name, const char *text, struct compare_asked *ret, const char **ret_rest,
                      struct rl_err *err)
{
    char unescaped[SIDE_BYTES + 1], *at = unescaped;
    *ret_rest = take_name(text, &at);
    if (ret->run_label[0])
        return rl_fail(err, RL_E_BAD_FIELD, name, "%s has two labels", name);
    struct rl_err why = {0};
    size_t len = strlen(unescaped);
    if (rl_label_check(unescaped, len, "the label", &why))
        return rl_fail(err, RL_E_BAD_FIELD, name, "%s: %s", name, why.message);
    memcpy(ret->run_label, unescaped, len + 1);
    return 0;
}

/* One part of a side; *rest is what follows its comma, NULL at the end. */
static int take_part(const char *name, const char *part, struct compare_asked *ret, const char **rest,
                     struct rl_err *err)
{
    if (!strncmp(part, "label:", 6))
        return take_label(name, part + 6, ret, rest, err);
    size_t len = strcspn(part, ",");
    *rest = part[len] ? part + len + 1 : NULL;
    if (check_ascii(name, part, len, err))
        return -1;
    if (!strncmp(part, "run:", 4))
        return take_run(name, part + 4, len - 4, ret, err);
    if (!strncmp(part, "driver:", 7))
        return take_version(name, part + 7, len - 7, ret->driver, sizeof(ret->driver), err);
    if (!strncmp(part, "cuda:", 5))
        return take_version(name, part + 5, len - 5, ret->cuda, sizeof(ret->cuda), err);
    return rl_fail(err, RL_E_BAD_FIELD, name, "%s: '%.*s' is not run:ID, driver:VERSION, cuda:VERSION or label:LABEL",
                   name, (int)(len < 64 ? len : 64), part);
}

static int read_side(const struct http_request *request, const char *name, struct compare_asked *ret,
                     struct rl_err *err)
{
    const char *side = http_param(request, name);
    size_t len = side ? strlen(side) : 0;
    if (!side)
        return rl_fail(err, RL_E_BAD_FIELD, name, "the query parameter %s is missing", name);
    if (len < 1 || len > SIDE_BYTES)
        return rl_fail(err, RL_E_BAD_FIELD, name, "%s has %zu bytes; 1 to %u are taken", name, len, SIDE_BYTES);
    ret->label = side;
    for (const char *part = side; part;)
        if (take_part(name, part, ret, &part, err))
            return -1;
    bool versions = ret->driver[0] || ret->cuda[0];
    if (ret->run_count ? versions || ret->run_label[0] : !ret->driver[0] && !ret->run_label[0])
        return rl_fail(err, RL_E_BAD_FIELD, name,
                       "%s is neither runs alone nor a driver or a label, with or without the others and cuda", name);
    return 0;
}

static int read_kernels(const struct http_request *request, struct compare_question *ret, struct rl_err *err)
{
    const char *rest = http_param(request, "kernel");
    char *at = rest ? rl_arena_alloc(ret->arena, strlen(rest) + 1) : NULL;
    if (rest && !at)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    while (rest) {
        const char *name = at;
        if (ret->kernel_count == LIMIT_COMPARE_KERNELS)
            return rl_fail(err, RL_E_BAD_FIELD, "kernel", "kernel has more than %u names", LIMIT_COMPARE_KERNELS);
        rest = take_name(rest, &at);
        size_t len = strlen(name);
        if (len < 1 || len > LIMIT_UNIT_BYTES)
            return rl_fail(err, RL_E_BAD_FIELD, "kernel", "kernel has a name of %zu bytes; 1 to %u are taken", len,
                           LIMIT_UNIT_BYTES);
        for (size_t i = 0; i < ret->kernel_count; i++)
            if (!strcmp(ret->kernels[i], name))
                return rl_fail(err, RL_E_BAD_FIELD, "kernel", "kernel names '%.64s' twice", name);
        ret->kernels[ret->kernel_count++] = name;
    }
    return 0;
}

static int read_question(const struct http_request *request, struct compare_question *ret, struct rl_err *err)
{
    return read_side(request, "base", &ret->sides[0], err) || read_side(request, "head", &ret->sides[1], err) ||
                   route_word(request, "device", LIMIT_DEVICE_CHARACTERS, &ret->device, err) ||
                   route_one_of(request, "suite", ROUTE_SUITES, &ret->suite, err) ||
                   route_one_of(request, "sizes", ROUTE_SIZES, &ret->sizes, err) ||
                   route_one_of(request, "source", "measured|replayed|imported|any", &ret->source, err) ||
                   read_kernels(request, ret, err)
               ? -1
               : 0;
}

/* The request's texts do not live as long as an answer that waits. */
static int keep_texts(struct compare_question *question, struct rl_err *err)
{
    const char **texts[] = {&question->sides[0].label, &question->sides[1].label, &question->device, &question->suite,
                            &question->sizes,          &question->source,         &question->share};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (*texts[i] && !(*texts[i] = rl_arena_strdup(question->arena, *texts[i])))
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    return 0;
}

int compare_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                      struct rl_err *err)
{
    struct compare_question *question;
    struct rl_arena *arena = rl_arena_new(COMPARE_QUESTION_BYTES);
    if (!arena || !(question = rl_arena_alloc(arena, sizeof(*question)))) {
        rl_arena_free(arena);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    }
    question->arena = arena;
    question->share = request->who.share;
    if (read_question(request, question, err) || keep_texts(question, err)) {
        rl_arena_free(arena);
        return -1;
    }
    return compare_answer(&routes->answers, question, answer, err);
}
