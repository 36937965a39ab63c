/* What the answers of history share: which days, and how days, devices and versions are written. */
#ifndef DB_HISTORY_ANSWERS_H
#define DB_HISTORY_ANSWERS_H

#include "db/core/store.h"

#define STORE_HISTORY_DAYS_DEFAULT 365
#define STORE_HISTORY_DAYS_MAX     3660 /* asked for at once; over it: RL_E_BAD_FIELD */

struct days { /* UTC days since 1970: [since, until) */
    int64_t since, until;
};
int store_days_asked(int64_t since_ms, int64_t until_ms, int64_t now_ms, struct days *ret, struct rl_err *err);

void json_put_day(struct rl_buf *out, int64_t day);
/* {"id","name"}; RL_E_NOT_FOUND. */
int json_put_device(struct store *store, const char *id, struct rl_buf *out, struct rl_err *err);
/* "member":"version", or null when it is "". */
void json_put_version(struct rl_buf *out, const char *member, const char *version);

void json_put_versions_why(struct rl_buf *out, const char *driver, const char *cuda); /* members of a why */

#endif
