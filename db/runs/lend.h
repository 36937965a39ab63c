/* Which run lends its roofs to one that has none. Reads only. */
#ifndef DB_RUNS_LEND_H
#define DB_RUNS_LEND_H

#include "db/core/store.h"
#include "gpu/base/buf.h"
#include "gpu/record/run.h"

struct store_borrower {
    const char *device;    /* id */
    const char *name;      /* of the device: by it where there is no UUID; NULL: not known */
    bool has_uuid;         /* the id is one */
    const char *driver;    /* "" when not known: then of any driver */
    double power_limit_w;  /* NaN when not known: then of any */
    bool warm, cold;       /* states that it has rows in: a run that has the copy roofs of all of them lends first */
    enum rl_source source; /* an import borrows of measured runs, or where there is none of replayed ones; a measured
                            * run of measured ones, a replayed one of replayed ones */
};
/* The newest eligible verification of the same device, driver and power limit that has roofs, or where none is of that
 * limit, one whose limit is not known. With run not 0 that run, which has to be eligible, not withdrawn, measured or
 * replayed, of the same device and driver, and to have roofs: else RL_E_BAD_FIELD ("roofs"), RL_E_RUN_NOT_FOUND. The
 * sentence says where the two power limits are not known to be the same, or are not. ret->present says whether there is
 * one; *ret is of arena. *ret_why (may be NULL): why there is none, always given where the device, or one of its name,
 * has been measured; else NULL. */
int store_find_lender(struct store *store, const struct store_borrower *borrower, int64_t run, struct rl_arena *arena,
                      struct rl_lent *ret, const char **ret_why, struct rl_err *err);
/* A stored run as a borrower: its texts are of arena. RL_E_RUN_NOT_FOUND. */
int store_run_borrower(struct store *store, int64_t run, struct rl_arena *arena, struct store_borrower *ret,
                       struct rl_err *err);

#endif
