/* See server/answers/compare.h. */
#include "server/answers/compare.h"

#include <stdlib.h>
#include <string.h>

#include "db/history/observations.h"
#include "db/series/labels.h"
#include "gpu/record/json_text.h"
#include "server/answers/observations.h"

struct comparison {
    struct work_item item;
    struct store *store;
    struct compare_question *question;
    /* the thread's while it is being made */
    bool loaded;
    struct compare_loaded sides[2];
    struct compare_loaded_history history;
    char *text; /* the answer */
};

/* ---- reading ---- */

/* What of a question belongs to both sides. */
struct common {
    const char *device, *suite, *sizes, *source;
};

static struct store_side side_of(const struct compare_question *question, const struct common *common,
                                 const struct compare_asked *asked)
{
    struct store_side side = {.device = common->device,
                              .suite = common->suite,
                              .sizes = common->sizes,
                              .source = common->source,
                              .limit = COMPARE_RUNS_MAX + 1, /* one more: whether there are older ones */
                              .left_out_limit = COMPARE_RUNS_MAX,
                              .kernels = question->kernels,
                              .kernel_count = question->kernel_count,
                              .rows_max = LIMIT_COMPARE_ROWS};
    if (asked->run_count) {
        side.runs = asked->runs;
        side.run_count = asked->run_count;
    } else {
        side.driver = asked->driver[0] ? asked->driver : NULL;
        side.label = asked->run_label[0] ? asked->run_label : NULL;
        side.cuda = asked->cuda[0] ? asked->cuda : NULL;
    }
    return side;
}

/* What the query does not name and all runs of the labels have in common. Where they differ it has to be named: taking
 * one of them would compare half of what was asked for, or two things that are nothing alike. */
static int complete_by_label(struct comparison *c, struct common *common, int side, struct rl_err *err)
{
    const struct compare_question *question = c->question;
    const char *label = question->sides[side].run_label;
    struct store_label_common has;
    if (store_label_find(c->store, label, question->source, &has, err))
        return -1;
    const struct {
        const char *asked, **member, *name, *value;
        size_t count;
    } members[] = {{question->device, &common->device, "device", has.device, has.devices},
                   {question->suite, &common->suite, "suite", has.suite, has.suites},
                   {question->sizes, &common->sizes, "sizes", has.sizes, has.size_names}};
    if (has.devices == 0 && !common->device)
        return rl_fail(err, RL_E_NOT_FOUND, side ? "head" : "base",
                       "no run that counts has the label \"%s\"; replayed runs count only with source=replayed or any",
                       label);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (members[i].asked || members[i].count == 0)
            continue;
        if (members[i].count > 1 || (*members[i].member && strcmp(*members[i].member, members[i].value) != 0))
            return rl_fail(err, RL_E_BAD_FIELD, members[i].name,
                           "%s is missing: the runs with the label \"%s\" differ in it%s, so it has to be named",
                           members[i].name, label, members[i].count > 1 ? "" : " from those of base");
        *members[i].member = members[i].value;
    }
    return 0;
}

/* A driver's runs are those of the device, suite and sizes that the query names, else of the runs on the other side. */
static int complete(struct common *common, const struct compare_loaded *named, struct rl_err *err)
{
    const struct store_observation *first = named && named->draws.count ? &named->draws.draws[0] : NULL;
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

static int load_side(struct comparison *c, const struct common *common, int i, struct rl_err *err)
{
    const struct compare_asked *asked = &c->question->sides[i];
    struct store_side side = side_of(c->question, common, asked);
    if (compare_load(c->store, &side, asked->label, &c->sides[i], err) == 0)
        return 0;
    const char *name = i ? "head" : "base";
    if (err->code == RL_E_TOO_LARGE)
        rl_wrap(err, "%s", name);
    if (err->code == RL_E_RUN_NOT_FOUND)
        rl_fail(err, err->code, name, "%s", err->message);
    return -1;
}

static int load_sides(struct comparison *c, struct common common, struct rl_err *err)
{
    const struct compare_asked *asked = c->question->sides;
    const struct compare_loaded *named = NULL;
    for (int i = 0; i < 2; i++) {
        if (asked[i].run_count == 0)
            continue;
        if (load_side(c, &common, i, err))
            return -1;
        named = &c->sides[i];
    }
    for (int i = 0; i < 2 && !named; i++)
        if (asked[i].run_label[0] && complete_by_label(c, &common, i, err))
            return -1;
    for (int i = 0; i < 2; i++)
        if (asked[i].run_count == 0 && (complete(&common, named, err) || load_side(c, &common, i, err)))
            return -1;
    return 0;
}

static int load(struct comparison *c, struct rl_err *err)
{
    const struct compare_question *question = c->question;
    struct common common = {question->device, question->suite, question->sizes, question->source};
    const struct store_observations *base = &c->sides[0].draws;
    c->loaded = true;
    if (load_sides(c, common, err))
        return -1;
    if (base->count == 0 || !compare_wants_history(&c->sides[0].side, &c->sides[1].side))
        return 0;
    struct store_side history = {.source = question->source,
                                 .kernels = question->kernels,
                                 .kernel_count = question->kernel_count,
                                 .rows_max = LIMIT_COMPARE_ROWS,
                                 .fewer_runs = true};
    return compare_load_history(c->store, &base->draws[0], &history, &c->history, err);
}

static void unload(void *arg)
{
    struct comparison *c = arg;
    compare_unload(&c->sides[0]);
    compare_unload(&c->sides[1]);
    compare_unload_history(&c->history);
    c->loaded = false;
}

static bool is_large(const struct comparison *c)
{
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < c->sides[s].draws.count; i++) {
            const struct store_observation *draw = &c->sides[s].draws.draws[i];
            size_t bytes = 0;
            for (size_t k = 0; k < draw->row_count && draw->row_count <= LIMIT_COMPARE_HERE_ROWS; k++)
                bytes += strlen(draw->rows[k].unit);
            if (draw->row_count > LIMIT_COMPARE_HERE_ROWS || bytes > LIMIT_COMPARE_HERE_BYTES)
                return true;
        }
    return false;
}

/* ---- making: pure ---- */

static int judge(struct comparison *c, struct rl_err *err)
{
    struct compare_result *result = NULL;
    if (compare_judge(&c->sides[0].side, &c->sides[1].side, c->history.arena ? &c->history.history : NULL, &result,
                      err))
        return -1;
    json_t *json = compare_to_json(result);
    c->text = rl_json_dumps(json);
    json_decref(json);
    compare_free(result);
    return c->text ? 0 : rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison's answer");
}

static int make(void *arg, struct rl_err *err)
{
    int rc = judge(arg, err);
    unload(arg);
    return rc;
}

/* ---- as an answer ---- */

static void comparison_free(void *arg)
{
    struct comparison *c = arg;
    unload(c);
    free(c->text);
    rl_arena_free(c->question->arena);
    free(c);
}

static int answer_text(void *arg, struct http_answer *answer, struct rl_err *err)
{
    const struct work_item *item = arg;
    const struct comparison *c = item->what.arg;
    if (work_item_result(item, err))
        return -1;
    rl_buf_puts(&answer->body, c->text);
    rl_buf_puts(&answer->body, "\n");
    answer->status = 200;
    return 0;
}

static int fetch(void *arg, struct rl_err *err)
{
    struct comparison *c = arg;
    return c->loaded ? 0 : load(c, err);
}

int compare_answer(const struct answers *answers, struct compare_question *question, struct http_answer *answer,
                   struct rl_err *err)
{
    struct comparison *c = calloc(1, sizeof(*c));
    if (!c) {
        rl_arena_free(question->arena);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a comparison");
    }
    *c = (struct comparison){.store = answers->store, .question = question};
    work_item_init(&c->item, answers->queue, question->share,
                   (struct work_steps){fetch, make, unload, comparison_free, c});
    if (load(c, err)) {
        comparison_free(c);
        return -1;
    }
    return answer_by_item(answers, &c->item, is_large(c), answer_text, answer, err);
}
