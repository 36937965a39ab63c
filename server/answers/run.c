/* See server/answers/run.h. */
#include "server/answers/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/runs/document.h"
#include "db/runs/lend.h"
#include "gpu/base/num.h"
#include "gpu/record/derive/derive.h"
#include "gpu/record/print/text.h"
#include "server/limits/limits.h"
#include "server/runs/stored.h"

#define VIEW_ROOFS_BYTES ((size_t)64 << 10) /* of what a run lends: 32 ceilings at most */

struct view {
    struct work_item item;
    struct store *store;
    /* the thread's while it is being made */
    int64_t run;
    enum run_view_form form;
    char state[8];          /* empty: not asked for */
    struct rl_arena *arena; /* of lent; NULL: no roofs were asked for */
    struct rl_lent lent;
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

/* The document as the store would have it: its first two members are as they were. */
static int write_document(struct view *view, const struct rl_run *run, struct rl_err *err)
{
    char *text = run_document(run);
    const char *source = view->source.data, *comma = strchr(source, ',');
    comma = comma ? strchr(comma + 1, ',') : NULL; /* {"id":"7","job":null,… */
    int rc = text && comma ? 0 : rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for run %lld", (long long)view->run);
    if (!rc) {
        rl_buf_add(&view->out, source, (size_t)(comma + 1 - source));
        rl_buf_puts(&view->out, text + 1);
        rc = view->out.failed
                 ? rl_fail(err, RL_E_TOO_LARGE, NULL, "run %lld is too large an answer", (long long)view->run)
                 : 0;
    }
    free(text);
    return rc;
}

static int write_text(struct view *view, struct rl_err *err)
{
    struct rl_run *run;
    if (view->form == RUN_VIEW_JSON && !view->arena)
        return rl_buf_add(&view->out, view->source.data, view->source.len)
                   ? rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for run %lld", (long long)view->run)
                   : 0;
    if (store_document_parse(&view->source, view->run, &run, err))
        return -1;
    int rc = view->arena ? rl_lend(run, &view->lent) : 0;
    if (view->arena)
        rl_derive(run);
    if (!rc && view->form == RUN_VIEW_JSON)
        rc = write_document(view, run, err);
    else if (!rc)
        rc = view->form == RUN_VIEW_CSV ? rl_csv_write(run, &view->out)
                                        : rl_table_write(run, table_state(run, view->state), &view->out);
    rl_run_free(run);
    return rc && view->form != RUN_VIEW_JSON ? rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the run's text") : rc;
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
    rl_arena_free(view->arena);
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
    const struct work_item *item = arg;
    struct view *view = item->what.arg;
    if (work_item_result(item, err))
        return -1;
    rl_buf_free(&answer->body);
    answer->body = view->out;
    rl_buf_init(&view->out, HTTP_ANSWER_MAX);
    static const char *const types[] = {[RUN_VIEW_TABLE] = "text/plain; charset=utf-8",
                                        [RUN_VIEW_CSV] = "text/csv; charset=utf-8; header=present",
                                        [RUN_VIEW_JSON] = "application/json"};
    answer->type = types[view->form];
    if (view->form == RUN_VIEW_CSV)
        snprintf(answer->disposition, sizeof(answer->disposition), "attachment; filename=\"run-%lld.csv\"",
                 (long long)view->run);
    http_answer_immutable(answer);
    return 0;
}

/* The roofs asked for, found while the loop is here: a few short questions to the store. */
static int find_roofs(struct view *view, const char *roofs, struct rl_err *err)
{
    struct store_borrower borrower;
    int64_t lender = 0;
    if (strcmp(roofs, "newest") && rl_parse_i64(roofs, 1, INT64_MAX, &lender))
        return rl_fail(err, RL_E_BAD_FIELD, "roofs", "roofs '%.64s' is neither \"newest\" nor the id of a run", roofs);
    view->arena = rl_arena_new(VIEW_ROOFS_BYTES);
    if (!view->arena)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for lent roofs");
    if (store_run_borrower(view->store, view->run, view->arena, &borrower, err) ||
        store_find_lender(view->store, &borrower, lender, view->arena, &view->lent, NULL, err))
        return -1;
    if (!view->lent.present) { /* as it is stored */
        rl_arena_free(view->arena);
        view->arena = NULL;
    }
    return 0;
}

int run_view(const struct answers *answers, const struct run_view_question *question, struct http_answer *answer,
             struct rl_err *err)
{
    struct view *view = calloc(1, sizeof(*view));
    if (!view)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a run's text");
    *view = (struct view){.store = answers->store, .run = question->run, .form = question->form};
    work_item_init(&view->item, answers->queue, question->share,
                   (struct work_steps){fetch, make, drop, view_free, view});
    snprintf(view->state, sizeof(view->state), "%s", question->state ? question->state : "");
    rl_buf_init(&view->source, HTTP_ANSWER_MAX);
    rl_buf_init(&view->out, HTTP_ANSWER_MAX);
    if (store_run_document(answers->store, question->run, &view->source, err) ||
        (question->roofs && find_roofs(view, question->roofs, err))) {
        view_free(view);
        return -1;
    }
    return answer_by_item(answers, &view->item, view->source.len > LIMIT_VIEW_HERE_BYTES, answer_text, answer, err);
}
