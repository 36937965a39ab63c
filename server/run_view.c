/* See run_view.h. */
#include "server/run_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/text.h"
#include "server/limits.h"
#include "server/turns.h"

struct view {
    struct turn turn;
    struct store *store;
    /* the thread's while it is being made */
    int64_t run;
    enum run_view_form form;
    char state[8];        /* empty: not asked for */
    struct rl_buf source; /* the document */
    struct rl_buf out;
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

static int write_text(struct view *view, struct rl_err *err)
{
    struct rl_run *run;
    if (store_document_parse(&view->source, view->run, &run, err))
        return -1;
    int rc = view->form == RUN_VIEW_CSV ? rl_csv_write(run, &view->out)
                                        : rl_table_write(run, table_state(run, view->state), &view->out);
    rl_run_free(run);
    return rc ? rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the run's text") : 0;
}

static int make(void *arg, struct rl_err *err)
{
    struct view *view = arg;
    int rc = write_text(view, err);
    rl_buf_free(&view->source);
    return rc;
}

/* ---- its turn ---- */

static void view_free(void *arg)
{
    struct view *view = arg;
    rl_buf_free(&view->source);
    rl_buf_free(&view->out);
    free(view);
}

static int fetch(void *arg, struct rl_err *err)
{
    struct view *view = arg;
    return view->source.len == 0 ? store_run_document(view->store, view->run, &view->source, err) : 0;
}

static void drop(void *arg)
{
    struct view *view = arg;
    rl_buf_free(&view->source);
    rl_buf_init(&view->source, HTTP_ANSWER_MAX);
}

/* ---- as an answer ---- */

static int answer_text(void *arg, struct http_answer *answer, struct rl_err *err)
{
    const struct turn *turn = arg;
    struct view *view = turn->what.arg;
    if (turn->failed) {
        *err = turn->err;
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

int run_view(const struct routes *routes, int64_t run, enum run_view_form form, const char *state,
             struct http_answer *answer, struct rl_err *err)
{
    struct view *view = calloc(1, sizeof(*view));
    if (!view)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a run's text");
    *view = (struct view){.turn = {.turns = routes->turns, .what = {fetch, make, drop, view_free, view}},
                          .store = routes->store,
                          .run = run,
                          .form = form};
    snprintf(view->state, sizeof(view->state), "%s", state ? state : "");
    rl_buf_init(&view->source, HTTP_ANSWER_MAX);
    rl_buf_init(&view->out, HTTP_ANSWER_MAX);
    int rc = store_run_document(routes->store, run, &view->source, err);
    bool large = rc == 0 && view->source.len > LIMIT_VIEW_HERE_BYTES;
    if (large && routes->shutting_down) {
        rc = rl_fail(err, RL_E_SHUTTING_DOWN, NULL, "the daemon is shutting down");
    } else if (large) {
        answer->later =
            (struct http_upload){.finish = turn_wait, .answer = answer_text, .free = turn_end, .arg = &view->turn};
        return 0;
    }
    if (rc == 0 && !large) {
        turn_here(&view->turn);
        rc = answer_text(&view->turn, answer, err);
    }
    view_free(view);
    return rc;
}
