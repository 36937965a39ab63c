/* What the recording's files share. Not for other parts. */
#ifndef GPU_RECORDING_INTERNAL_H
#define GPU_RECORDING_INTERNAL_H

#include "gpu/recording/recording.h"

/* Strict reading of one JSON object: each take counts, members_end fails when something was left over. After the first
 * failure every take answers zeros. */
struct members {
    const json_t *object;
    const char *names[40]; /* taken so far; no object of the format has more members */
    size_t taken;
    struct rl_arena *arena;
    struct rl_err *err;
    bool failed;
};
void members_begin(struct members *m, const json_t *object, struct rl_arena *arena, struct rl_err *err);
bool members_has(const struct members *m, const char *name);
const json_t *members_take(struct members *m, const char *name);
void members_fail(struct members *m, const char *name, const char *what);
const char *members_string(struct members *m, const char *name); /* in the arena */
int64_t members_integer(struct members *m, const char *name, int64_t min, int64_t max);
uint64_t members_unsigned(struct members *m,
                          const char *name);                /* 0 to 2^64 - 1, as an integer or as digits in a text */
double members_number(struct members *m, const char *name); /* "nan", "inf", "-inf" are numbers here */
bool members_bool(struct members *m, const char *name);
struct rl_real members_real(struct members *m, const char *name);
struct rl_count members_count(struct members *m, const char *name);
struct rl_text members_text(struct members *m, const char *name);
/* Counts the members of an entry's key that are there; recording_key_read has checked them. */
void members_skip_key(struct members *m);
int members_end(struct members *m); /* 0 or -1 */

/* Reads op and key of an entry; members of another op's key fail. unit must be in the catalogue. Strings are borrowed
 * from entry. */
int recording_key_read(const json_t *entry, struct recording_key *ret, struct rl_err *err);
void recording_key_text(const struct recording_key *key, char text[512]);
/* Checks a failure's members beside its key. */
int recording_failure_check(const json_t *entry, struct rl_err *err);
/* Checks body against op with the decoders. */
int recording_entry_check(enum recording_op op, const json_t *entry, struct rl_err *err);

#endif
