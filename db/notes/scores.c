/* What a job's sender said before it ran: its note becomes the run's, and its predictions are scored. */
#include "db/notes/scores.h"

#include <jansson.h>
#include <stdlib.h>

#include "db/core/statement.h"
#include "db/notes/run_note.h"
#include "db/rows/units.h"

static const char *judge(double dram_per_ask)
{
    return dram_per_ask > STORE_NEAR_MAX ? "above" : dram_per_ask < STORE_NEAR_MIN ? "below" : "near";
}

/* Settled bytes are those of a cold launch; without them the warm ones, which are settled anyway. */
static struct rl_real settled_ratio(const struct rl_run *run, const char *kernel, enum rl_state *ret_state)
{
    static const enum rl_state order[] = {RL_COLD, RL_WARM, RL_MIXED};
    const struct rl_row *row = rl_run_row(run, kernel);
    struct rl_real ratio = rl_unknown("the run has no row of this kernel");
    bool looked = false;

    *ret_state = RL_COLD;
    for (size_t i = 0; row != NULL && i < 3; i++) {
        const struct rl_row_state *state = &row->state[order[i]];

        if (!state->present || (looked && !rl_is_known(state->dram_per_ask)))
            continue;
        looked = true;
        ratio = state->dram_per_ask;
        *ret_state = order[i];
        if (rl_is_known(ratio))
            break;
    }
    return ratio;
}

static int score(struct store *store, int64_t run_id, const struct rl_run *run, const char *kernel, const char *said,
                 struct rl_err *err)
{
    enum rl_state state;
    struct rl_real ratio = settled_ratio(run, kernel, &state);
    int64_t unit = 0;
    struct stmt stmt;

    if (store_unit_put(store, kernel, "kernel", &unit, err) < 0)
        return -1;
    stmt = stmt_start(store, STMT_PREDICTION_ADD);
    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":unit", unit);
    stmt_text(&stmt, ":said", said);
    stmt_text(&stmt, ":state", rl_state_name(state));
    stmt_real(&stmt, ":per_ask", ratio);
    stmt_text(&stmt, ":found", rl_is_known(ratio) ? judge(ratio.value) : NULL);
    stmt_text(&stmt, ":why", ratio.why);
    return stmt_run(&stmt, err, "storing a prediction");
}

/* The principal and the specification of a job, which is its sender's canonical JSON. */
static int read_said(struct store *store, int64_t job_id, char **ret_principal, json_t **ret_spec, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_JOB_SAID);
    json_t *spec = NULL;
    char *principal = NULL;
    int rc;

    stmt_int(&stmt, ":id", job_id);
    rc = stmt_step(&stmt, err, "reading a job");
    if (rc == 1) {
        principal = stmt_column_dup(&stmt, 0);
        spec = json_loadb((const char *)sqlite3_column_text(stmt.handle, 1),
                          (size_t)sqlite3_column_bytes(stmt.handle, 1), JSON_REJECT_DUPLICATES, NULL);
        rc = spec != NULL && principal != NULL
                 ? 0
                 : rl_fail(err, RL_E_STORE_CORRUPT, "database", "the specification of job %lld cannot be read",
                           (long long)job_id);
    } else if (rc == 0) {
        rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "job %lld is not there", (long long)job_id);
    }
    stmt_end(&stmt);
    if (rc < 0) {
        json_decref(spec);
        free(principal);
        return -1;
    }
    *ret_principal = principal;
    *ret_spec = spec;
    return 0;
}

int store_take_said(struct store *store, int64_t job_id, int64_t run_id, const struct rl_run *run, int64_t now_ms,
                    struct rl_err *err)
{
    json_t *spec = NULL, *said;
    const char *kernel, *note;
    char *principal = NULL;
    int rc = 0;

    if (read_said(store, job_id, &principal, &spec, err) < 0)
        return -1;
    note = json_string_value(json_object_get(spec, "note"));
    if (note != NULL && note[0] != '\0')
        rc = store_write_note(store, run_id, 1, note, principal, now_ms, err);
    json_object_foreach(json_object_get(spec, "predictions"), kernel, said)
    {
        if (rc == 0 && json_is_string(said))
            rc = score(store, run_id, run, kernel, json_string_value(said), err);
    }
    json_decref(spec);
    free(principal);
    return rc;
}
