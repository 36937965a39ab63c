/* Runs that somebody withdraws, and takes back. */
#ifndef DB_RUNS_WITHDRAWAL_H
#define DB_RUNS_WITHDRAWAL_H

#include "db/core/store.h"

#define STORE_REASON_CHARACTERS 512 /* at most, and at least one */
struct store_withdrawal {
    int64_t run_id;
    const char *reason; /* NULL: takes the withdrawal back */
    const char *principal;
    int64_t now_ms;
};
/* Hides the run from lists, history, trends, comparisons and exports, or shows it again; its days are made anew. Its
 * accepted changes do not count meanwhile. RL_E_RUN_NOT_FOUND; RL_E_CONFLICT when it is so already. */
int store_run_withdraw(struct store *store, const struct store_withdrawal *asked, struct rl_err *err);
/* {"run","withdrawn":bool,"log":[{"reason","principal","at","back_principal","back_at","why":{}}]}, oldest first.
 * RL_E_RUN_NOT_FOUND. */
int store_withdrawals_json(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err);
/* Whether it is withdrawn now; false for a run that there is none of. */
int store_run_withdrawn(struct store *store, int64_t run_id, bool *ret, struct rl_err *err);
/* Who may withdraw it beside admins: its job's principal, or an import's. *ret is to be freed; NULL: an import that
 * does not say, since an older version stored it. RL_E_RUN_NOT_FOUND. */
int store_run_owner(struct store *store, int64_t run_id, char **ret, struct rl_err *err);

/* Appends "withdrawal":{"reason","principal","at"} with a comma before it, for a run that is withdrawn. */
int store_put_withdrawal(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err);

#endif
