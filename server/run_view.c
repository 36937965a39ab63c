/* See run_view.h. */
#include "server/run_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/text.h"
#include "server/limits.h"
#include "server/turns.h"

struct view {
    struct turns *turns;
    struct store *store;
    struct turn *turn; /* being made, or waiting for that */
    void (*ready)(void *arg);
    void *ready_arg;
    /* the thread's while it is being made */
    int64_t run;
    enum run_view_form form;
    char state[8];        /* empty: not asked for */
    struct rl_buf source; /* the document */
    struct rl_buf out;
    int rc;
    struct rl_err err; /* when rc is -1 */
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

static void make(void *arg)
{
    struct view *view = arg;
    view->rc = write_text(view, &view->err);
    rl_buf_free(&view->source);
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

static void on_made(void *arg, const struct rl_err *err)
{
    struct view *view = arg;
    view->turn = NULL;
    if (err) {
        view->rc = -1;
        view->err = *err;
    }
    view->ready(view->ready_arg);
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
    struct turn_work work = {fetch, make, on_made, view};
    view->ready = ready;
    view->ready_arg = ready_arg;
    if (!turns_have_place(view->turns)) { /* many that wait are not to need much memory */
        rl_buf_free(&view->source);
        rl_buf_init(&view->source, HTTP_ANSWER_MAX);
    }
    return turns_ask(view->turns, &work, &view->turn, err);
}

static void let_go(void *arg)
{
    struct view *view = arg;
    if (view->turn)
        turn_let_go(view->turn, view_free);
    else
        view_free(view);
}

int run_view(const struct routes *routes, int64_t run, enum run_view_form form, const char *state,
             struct http_answer *answer, struct rl_err *err)
{
    struct view *view = calloc(1, sizeof(*view));
    if (!view)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a run's text");
    *view = (struct view){.turns = routes->turns, .store = routes->store, .run = run, .form = form};
    snprintf(view->state, sizeof(view->state), "%s", state ? state : "");
    rl_buf_init(&view->source, HTTP_ANSWER_MAX);
    rl_buf_init(&view->out, HTTP_ANSWER_MAX);
    int rc = store_run_document(routes->store, run, &view->source, err);
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
