/* A run's note, with the changes that it accepts as new baselines. */
#ifndef DB_NOTES_RUN_NOTE_H
#define DB_NOTES_RUN_NOTE_H

#include <stddef.h>

#include "db/core/store.h"

#define STORE_ACCEPTED_MAX   64   /* accepted changes of one note; over it: RL_E_BAD_FIELD */
#define STORE_NOTE_MAX_BYTES 4096 /* over it: RL_E_TOO_LARGE */

struct store_accepted {
    const char *kernel; /* id of a kernel or ceiling that the run has in this state: else RL_E_BAD_FIELD */
    const char *state;
};
struct store_note_new {
    int64_t run_id;
    const char *text; /* "" with no accepted change removes nothing: the version goes on */
    const struct store_accepted *accepted;
    size_t accepted_count;
    const char *principal;
    int64_t if_version; /* the version that the writer saw (0: none yet), or -1 for any; else RL_E_CONFLICT */
    int64_t now_ms;
};
/* Replaces the note and its accepted changes. RL_E_RUN_NOT_FOUND. */
int store_note_put(struct store *store, const struct store_note_new *note, int64_t *ret_version, struct rl_err *err);
/* {"run":"7","version":2,"text","accepted":[{"kernel","state"}],"principal","changed_at","why":{}}. Without a note the
 * version is 0, text "", principal and changed_at null with why. A job's note is the first of its run. */
int store_note_json(struct store *store, int64_t run_id, struct rl_buf *out, int64_t *ret_version, struct rl_err *err);

/* Inside a transaction: stores the note as this version, in place of an earlier one. */
int store_write_note(struct store *store, int64_t run_id, int64_t version, const char *text, const char *principal,
                     int64_t now_ms, struct rl_err *err);

#endif
