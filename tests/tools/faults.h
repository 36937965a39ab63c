/* Faults: rules that make a backend's call fail, hang, die or answer something else, and that break the measuring
 * protocol at a line. They exist so that every bad end can be had without a broken GPU. tests/README.md lists selectors
 * and actions.
 */
#ifndef TESTS_TOOLS_FAULTS_H
#define TESTS_TOOLS_FAULTS_H

#include <jansson.h>
#include <stdint.h>

#include "gpu/backend/backend.h"
#include "gpu/base/buf.h"
#include "gpu/base/err.h"

/* What a fault strikes; the names in faults.c are the "on" member. */
enum fault_on {
    FAULT_ON_CARD_STATE,
    FAULT_ON_DRIVER_NOW,
    FAULT_ON_SPIN,
    FAULT_ON_DESCRIBE,
    FAULT_ON_CHECK,
    FAULT_ON_WARM,
    FAULT_ON_COLD,
    FAULT_ON_COUNT,
    FAULT_ON_IDENTIFY,
    FAULT_ON_RESERVE,
    FAULT_ON_PREPARE,
    FAULT_ON_PROFILE,
    FAULT_ON_LINE, /* a protocol line about to be written */
    FAULT_ON_KINDS
};

/* Whether a rule is one that tests/README.md allows: RL_E_REPLAY_FORMAT names the member. */
int fault_check(const json_t *rule, struct rl_err *err);

/* A call, or a protocol line about to be written. NULL and -1: the moment has no such thing, and a rule that selects by
 * it does not apply. */
struct fault_moment {
    enum fault_on on;
    enum rl_sizes sizes;
    const char *unit, *at, *line, *phase;
    int64_t variant, launches, sample; /* sample: of warm and cold; step of spin */
    int state;                         /* enum rl_state */
};
struct fault_moment fault_moment(enum fault_on on, enum rl_sizes sizes);
struct fault_moment fault_moment_work(enum fault_on on, const struct gpu_work *work);

/* The rules with what has happened to them: skip and times count over the life of a backend. */
struct faults;
struct faults *faults_new(json_t *rules); /* NULL when memory ran out; keeps a reference */
void faults_free(struct faults *faults);  /* accepts NULL */

#define FAULT_HITS_MAX 16
struct fault_hits {
    const json_t *rule[FAULT_HITS_MAX];
    size_t count;
};
/* The rules that apply at this moment, counted as having applied. */
void faults_match(struct faults *faults, const struct fault_moment *moment, struct fault_hits *ret);
/* Delays; then hangs, exits or dies by signal where a rule says so, and does not return; else -1 with the first rule's
 * error. */
int faults_act(const struct fault_hits *hits, struct rl_err *err);
/* match and act in one. */
int faults_strike(struct faults *faults, const struct fault_moment *moment, struct fault_hits *ret, struct rl_err *err);

/* Alterations by "scale" and "set": the value of member `name` after all hits. Strings go into arena. */
void fault_number(const struct fault_hits *hits, const char *name, double *value);
void fault_real(const struct fault_hits *hits, const char *name, struct rl_arena *arena, struct rl_real *value);
void fault_count(const struct fault_hits *hits, const char *name, struct rl_count *value);
void fault_unsigned(const struct fault_hits *hits, const char *name, uint64_t *value);
void fault_bool(const struct fault_hits *hits, const char *name, bool *value);
/* The new text (borrowed from the rule), or NULL when no rule sets it. */
const char *fault_text(const struct fault_hits *hits, const char *name);
const json_t *fault_list(const struct fault_hits *hits, const char *name);
/* {"status","reason"} of the first rule with "session", or NULL. */
const json_t *fault_session(const struct fault_hits *hits);
/* "half", "garbage", "oversize", "twice", "drop", or NULL. */
const char *fault_write(const struct fault_hits *hits);

#endif
