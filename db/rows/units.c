/* The names of kernels and ceilings, each kept once, and those of states. */
#include "db/rows/units.h"

#include <string.h>

#include "db/core/statement.h"

int store_unit_find(struct store *store, const char *name, const char *kind, int64_t *ret_id, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_UNIT_GET);
    int rc;

    stmt_text(&stmt, ":name", name);
    stmt_text(&stmt, ":kind", kind);
    rc = stmt_step(&stmt, err, "looking up a kernel");
    if (rc == 1)
        *ret_id = sqlite3_column_int64(stmt.handle, 0);
    stmt_end(&stmt);
    return rc;
}

int store_unit_put(struct store *store, const char *name, const char *kind, int64_t *ret_id, struct rl_err *err)
{
    struct stmt stmt;
    int rc = store_unit_find(store, name, kind, ret_id, err);

    if (rc != 0)
        return rc < 0 ? -1 : 0;
    stmt = stmt_start(store, STMT_UNIT_ADD);
    stmt_text(&stmt, ":name", name);
    stmt_text(&stmt, ":kind", kind);
    rc = stmt_run(&stmt, err, "storing a kernel's name");
    if (rc == 0)
        *ret_id = sqlite3_last_insert_rowid(store->db);
    return rc;
}

int store_state_from_name(const char *name, enum rl_state *ret)
{
    for (int state = 0; state < RL_ROW_STATES; state++) {
        if (name != NULL && strcmp(name, rl_state_name((enum rl_state)state)) == 0) {
            *ret = (enum rl_state)state;
            return 0;
        }
    }
    return -1;
}
