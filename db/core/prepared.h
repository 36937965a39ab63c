/* All statements of the store, prepared once. */
#ifndef DB_CORE_PREPARED_H
#define DB_CORE_PREPARED_H

#include "db/core/internal.h"

struct store_stmt_text {
    const char *name, *scans, *sql;
};
extern const struct store_stmt_text store_stmt_texts[STMT_COUNT];

/* Those of db/core/statements.def. RL_E_STORE_CORRUPT when one of them does not fit the schema. */
int store_prepare_all(struct store *store, struct rl_err *err);
void store_finalize_all(struct store *store);

#endif
