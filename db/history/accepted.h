/* The changes that people accepted as new baselines, for trends. */
#ifndef DB_HISTORY_ACCEPTED_H
#define DB_HISTORY_ACCEPTED_H

#include "db/history/answers.h"
#include "db/series/cache.h"
#include "db/series/place.h"
#include "gpu/record/run.h"

struct accepted_change {
    struct store_place place; /* of the run */
    const struct series_row *series;
};
struct accepted {                  /* zeroed: none; valid until something is stored */
    struct accepted_change *items; /* oldest first */
    size_t count, capacity;
};
struct accepted_query {
    const char *device, *suite, *sizes;
    const char *source; /* as in db/series/select.h */
    int64_t unit_id;
    enum rl_state state;
};
/* The accepted changes of this row on this device in runs of this source, of any driver. 0, or -1 with nothing held. */
int accepted_read(struct store *store, const struct accepted_query *query, struct accepted *ret, struct rl_err *err);
void accepted_fini(struct accepted *accepted);
/* Those of these days as items of a list: {"run","date","day","driver","cuda","note","principal","why":{}}. */
int accepted_put(struct store *store, const struct accepted *accepted, struct days days, struct rl_buf *out,
                 struct rl_err *err);

#endif
