/* The members of a run as data: name, kind, place, limits. Encoding, strict decoding and the API's description
 * read the same tables, so that what one writes the other accepts and no member is named twice. */
#ifndef RL_RECORD_FIELDS_H
#define RL_RECORD_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "gpu/base/err.h"
#include "gpu/record/run.h"

enum rl_kind {
    RL_KIND_STRING,       /* const char *: always there */
    RL_KIND_INT,          /* int64_t */
    RL_KIND_INT3,         /* int64_t[3]: a list of three */
    RL_KIND_BOOL,         /* bool */
    RL_KIND_ENUM,         /* an enum whose names are `words` */
    RL_KIND_TIME,         /* int64_t ms: RFC 3339 */
    RL_KIND_TIME_OR_NULL, /* the same; 0 is null with the reason `absent` */
    RL_KIND_WORDS,        /* struct rl_strings */
    RL_KIND_OBJECT,       /* a nested struct */
    RL_KIND_STATE,        /* a nested struct that begins with bool present: the member is absent unless it is true */
    RL_KIND_LIST,         /* pointer to structs; the count stands at count_offset */
    /* those that may be null with a reason */
    RL_KIND_REAL,  /* struct rl_real */
    RL_KIND_COUNT, /* struct rl_count */
    RL_KIND_TEXT,  /* struct rl_text */
    RL_KIND_FLAG3, /* struct rl_flag3 */
    /* null where the const char * at why_offset is not NULL; it is set by hand, never by rl_row_unknown */
    RL_KIND_INT_OR_NULL,
    RL_KIND_INT3_OR_NULL,
};

struct rl_object;
struct rl_field {
    const char *name;
    enum rl_kind kind;
    bool above_min; /* min itself is out of range */
    int since;      /* the record version that brought it; 0: the first. Only what can be absent may come later:
                     * members that may be null, words, lists, optional objects, objects of such */
    size_t offset;
    double min, max;          /* reals */
    double least;             /* the smallest above 0 */
    int64_t int_min, int_max; /* integers */
    size_t max_count;         /* bytes of a string, words, or items of a list */
    size_t count_offset;
    size_t why_offset;
    const char *const *words; /* the texts allowed, ended by NULL; NULL: any */
    bool (*allowed)(const char *text);
    const char *absent;
    const struct rl_object *object;
    const char *help;    /* what it is, for the API's description; NULL: its name says it */
    const char *pattern; /* the same: a regular expression that its text matches; the writer keeps to it */
};
struct rl_object {
    const char *title; /* "a run", for messages */
    const struct rl_field *fields;
    size_t count, size;
    const char *schema; /* name of its schema in the API's description; NULL: described where it is used */
    const char *help;
};

/* A struct as JSON by its table; NULL when memory ran out. */
json_t *rl_object_to_json(const struct rl_object *object, const void *base);
/* And back, strictly, from a document of this record version. A member that came later than the document is unknown
 * with RL_WHY_NOT_RECORDED, empty or absent. A document newer than RL_RECORD_VERSION may have members that are not in
 * the table, which are left out, and words that are not, which are unknown with RL_WHY_NOT_KNOWN where the member may
 * be null. */
int rl_object_from_json(const struct rl_object *object, const json_t *json, int64_t version, struct rl_arena *arena,
                        void *base, struct rl_err *err);
/* Whether the members that runs of every suite have fit each other; document is what the run was read from.
 * RL_E_BAD_FIELD names the one that does not. */
int rl_run_check(const struct rl_run *run, const json_t *document, struct rl_err *err);
/* Sets every nullable member of an object and of the objects inside it; lists and plain members stay. */
void rl_object_unknown(const struct rl_object *object, void *base, const char *why, enum rl_why_code code);

extern const struct rl_object rl_object_run, rl_object_device, rl_object_environment, rl_object_telemetry,
    rl_object_row, rl_object_times, rl_object_ceiling, rl_object_counters;

#endif
