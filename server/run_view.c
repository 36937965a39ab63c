/* See run_view.h. */
#include "server/run_view.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record_json.h"
#include "record/text.h"
#include "server/aside.h"
#include "server/limits.h"

enum view_stage { WAITING, MAKING, MADE };

struct view {
    struct run_views *all;
    struct view *next;
    enum view_stage stage;
    bool let_go; /* nobody waits for it any more */
    void (*ready)(void *arg);
    void *ready_arg;
    struct aside *aside;
    /* the thread's while it is being made */
    int64_t run;
    enum run_view_form form;
    char state[8];        /* empty: not asked for */
    struct rl_buf source; /* the document */
    struct rl_buf out;
    int rc;
    struct rl_err err; /* when rc is -1 */
};

struct run_views {
    struct store *store;
    struct loop *loop;
    struct view *first; /* the newest */
    unsigned making;
};

/* ---- making: pure ---- */

/* The one asked for; else the first of warm, cold and mixed that a row of the run has. */
static enum rl_state table_state(const struct rl_run *run, const char *asked)
{
    for (enum rl_state state = RL_WARM; state < RL_ROW_STATES; state++)
        for (size_t i = 0; i < (asked[0] ? 1 : run->row_count); i++)
            if (asked[0] ? !strcmp(asked, rl_state_name(state)) : run->rows[i].state[state].present)
                return state;
    return RL_WARM;
}

/* The stored document as a struct. The store added id and job in front of what gpu/record wrote. */
static int parse(const struct view *view, struct rl_run **ret, struct rl_err *err)
{
    json_t *document = json_loadb(view->source.data, view->source.len, JSON_REJECT_DUPLICATES, NULL);
    if (!document)
        return rl_fail(err, RL_E_STORE_CORRUPT, NULL, "the stored document of run %lld is not JSON",
                       (long long)view->run);
    rl_run_json_bare(document);
    int rc = rl_run_from_json(document, ret, err);
    json_decref(document);
    if (rc) {
        err->code = RL_E_STORE_CORRUPT;
        rl_wrap(err, "the stored document of run %lld", (long long)view->run);
    }
    return rc;
}

static int write_text(struct view *view, struct rl_err *err)
{
    struct rl_run *run;
    if (parse(view, &run, err))
        return -1;
    int rc = view->form == RUN_VIEW_CSV ? rl_csv_write(run, &view->out)
                                        : rl_table_write(run, table_state(run, view->state), &view->out);
    rl_run_free(run);
    return rc ? rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the run's text") : 0;
}

static void make(void *arg)
{
    struct view *view = arg;
    view->rc = write_text(view, &view->err);
    rl_buf_free(&view->source);
}

/* ---- their turns ---- */

static void view_free(struct view *view)
{
    struct view **at = &view->all->first;
    while (*at != view)
        at = &(*at)->next;
    *at = view->next;
    aside_free(view->aside);
    rl_buf_free(&view->source);
    rl_buf_free(&view->out);
    free(view);
}

static void take_turns(struct run_views *views);

static void tell(struct view *view)
{
    view->stage = MADE;
    if (view->let_go)
        view_free(view);
    else
        view->ready(view->ready_arg);
}

static void on_made(void *arg)
{
    struct view *view = arg;
    struct run_views *views = view->all;
    aside_free(view->aside);
    view->aside = NULL;
    views->making--;
    tell(view);
    take_turns(views);
}

/* The documents of those that wait are not held meanwhile, so that many of them need no memory. */
static int start(struct view *view, struct rl_err *err)
{
    struct run_views *views = view->all;
    if ((view->source.len == 0 && store_run_document(views->store, view->run, &view->source, err)) ||
        aside_start(views->loop, make, on_made, view, &view->aside, err))
        return -1;
    view->stage = MAKING;
    views->making++;
    return 0;
}

static void take_turns(struct run_views *views)
{
    while (views->making < LIMIT_VIEWS) {
        struct view *oldest = NULL;
        for (struct view *view = views->first; view; view = view->next)
            if (view->stage == WAITING && view->ready)
                oldest = view;
        if (!oldest)
            return;
        if (start(oldest, &oldest->err)) {
            oldest->rc = -1;
            tell(oldest);
        }
    }
}

/* ---- as an answer ---- */

static int answer_text(void *arg, struct http_answer *answer, struct rl_err *err)
{
    struct view *view = arg;
    if (view->rc) {
        *err = view->err;
        return -1;
    }
    rl_buf_free(&answer->body);
    answer->body = view->out;
    rl_buf_init(&view->out, HTTP_ANSWER_MAX);
    answer->type = view->form == RUN_VIEW_CSV ? "text/csv; charset=utf-8; header=present" : "text/plain; charset=utf-8";
    if (view->form == RUN_VIEW_CSV)
        snprintf(answer->disposition, sizeof(answer->disposition), "attachment; filename=\"run-%lld.csv\"",
                 (long long)view->run);
    route_immutable(answer);
    return 0;
}

static int wait_turn(void *arg, void (*ready)(void *ready_arg), void *ready_arg, struct rl_err *err)
{
    struct view *view = arg;
    view->ready = ready;
    view->ready_arg = ready_arg;
    if (view->all->making < LIMIT_VIEWS) {
        if (start(view, err) == 0)
            return 0;
        view->ready = NULL;
        return -1;
    }
    rl_buf_free(&view->source);
    rl_buf_init(&view->source, HTTP_ANSWER_MAX);
    return 0;
}

static void let_go(void *arg)
{
    struct view *view = arg;
    view->let_go = true;
    if (view->stage != MAKING)
        view_free(view);
}

int run_view(const struct routes *routes, int64_t run, enum run_view_form form, const char *state,
             struct http_answer *answer, struct rl_err *err)
{
    struct run_views *views = routes->views;
    struct view *view = calloc(1, sizeof(*view));
    if (!view)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a run's text");
    *view = (struct view){.all = views, .next = views->first, .run = run, .form = form};
    snprintf(view->state, sizeof(view->state), "%s", state ? state : "");
    rl_buf_init(&view->source, HTTP_ANSWER_MAX);
    rl_buf_init(&view->out, HTTP_ANSWER_MAX);
    views->first = view;
    int rc = store_run_document(views->store, run, &view->source, err);
    bool large = rc == 0 && view->source.len > LIMIT_VIEW_HERE_BYTES;
    if (large && routes->shutting_down) {
        rc = rl_fail(err, RL_E_SHUTTING_DOWN, NULL, "the daemon is shutting down");
    } else if (large) {
        answer->later = (struct http_upload){.finish = wait_turn, .answer = answer_text, .free = let_go, .arg = view};
        return 0;
    }
    if (rc == 0 && !large) {
        make(view);
        rc = answer_text(view, answer, err);
    }
    view_free(view);
    return rc;
}

struct run_views *run_views_new(struct store *store, struct loop *loop)
{
    struct run_views *views = calloc(1, sizeof(*views));
    if (views)
        *views = (struct run_views){.store = store, .loop = loop};
    return views;
}

void run_views_free(struct run_views *views)
{
    if (!views)
        return;
    while (views->first)
        view_free(views->first);
    free(views);
}
