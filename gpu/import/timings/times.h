/* Shared by the readers of timing files (gpu/import/timings/timings.c, gpu/import/timings/plain.c,
 * gpu/import/timings/trace.c, gpu/import/timings/nsys.c, gpu/import/timings/nvbench.c) and by what joins them to
 * counters (gpu/import/timings/events.c, gpu/import/match.c). */
#ifndef GPU_IMPORT_TIMINGS_TIMES_H
#define GPU_IMPORT_TIMINGS_TIMES_H

#include "gpu/import/internal.h"

#define IMPORT_MS_LEAST 1e-4 /* 0.1 us: less than any launch takes, and than an event's timer can tell */
#define IMPORT_MS_MOST  1e9

/* ---- compressed files: the one user of zlib (gpu/import/text/gzip.c) ---- */

bool import_is_gzip(const struct import_file *file);
/* The content of at->file; *ret is the caller's (free) on errors too. RL_E_TOO_LARGE above IMPORT_INFLATED_MAX,
 * RL_E_IMPORT_FORMAT for one that is cut or damaged. */
int import_inflate(const struct import_place *at, char **ret, size_t *ret_len);

/* ---- JSON with places (gpu/import/text/json.c) ---- */

/* Values one after the other in a text; errors name line and column. */
struct import_json {
    const char *text;
    size_t len, at;
    size_t line, line_start; /* of `at`: counted from 1; where it begins */
    bool reals;              /* read whole numbers as reals: those of a trace may pass 64 bits */
    struct import_place *place;
};
/* place->line says the line of the first byte. */
struct import_json import_json_begin(struct import_place *place, const char *text, size_t len);
/* Moves over blanks; the character there, or '\0' at the end. */
char import_json_peek(struct import_json *json);
/* Takes the character when it is the next one after blanks. */
bool import_json_take(struct import_json *json, char character);
/* The value there, a new reference; place->line becomes the line in which it begins. RL_E_IMPORT_FORMAT with line and
 * column, what stands there and what to do. */
int import_json_value(struct import_json *json, json_t **ret);
/* Fails at the next character: "has X there; WHAT is expected". */
int import_json_wrong(struct import_json *json, const char *expected);

/* ---- members of JSON objects (gpu/import/timings/plain.c) ---- */

/* A number from least to most. */
int import_member_real(const struct import_place *at, const json_t *object, const char *name, double least, double most,
                       double *ret);
/* Three whole numbers from 1 to most; *ret_given false, and 0, when the member is not there. */
int import_member_dims(const struct import_place *at, const json_t *object, const char *name, int64_t most,
                       int64_t ret[3], bool *ret_given);
/* A kernel's name, the object's own text. */
int import_member_text(const struct import_place *at, const json_t *object, const char *name, const char **ret);

/* ---- plain lines (gpu/import/timings/plain.c) ---- */

struct import_plain { /* a reader of kernel and ceiling lines */
    struct import *import;
    struct import_place at;
    size_t lines, row_capacity;
    json_t *kernels_of, *ceilings_of; /* [line's number, object] of each kernel and shape, each ceiling and state */
};
int import_plain_begin(struct import_plain *plain, struct import *import, const struct import_file *file);
void import_plain_end(struct import_plain *plain);
/* One object: a kernel's or a ceiling's. */
int import_plain_line(struct import_plain *plain, const json_t *object);
/* After the last: kernels of one name and several shapes get ids of their own. */
int import_plain_finish(struct import_plain *plain);
/* A place for one more row, RL_E_TOO_LARGE past IMPORT_ROWS_MAX; the caller fills it and adds to row_count. */
struct rl_row *import_plain_row(struct import_plain *plain);
/* One time as the only statistic of a state, with n and launches. */
void import_set_time(struct rl_row_state *s, double seconds, const char *why);
/* Gives ceilings whose lines do not say their state that of the times; RL_E_IMPORT_DISAGREES when one is there then
 * twice. */
int import_ceilings_state(struct import *import, enum rl_state times);

/* ---- launches with times, one by one (gpu/import/timings/events.c, gpu/import/timings/events_match.c,
 * gpu/import/text/spelling.c) ---- */

struct import_event {
    const char *name; /* of the import's arena; equal names are one pointer */
    bool has_dims;
    int64_t grid[3], block[3];
    double time_s; /* 0: the file has none */
    double order;  /* ascending in the order of launching */
    double start;  /* breaks ties */
};
struct import_events {
    struct import *import;
    const struct import_file *file;
    struct import_event *items;
    size_t count, capacity;
    json_t *names; /* index of each name in name_list */
    const char **name_list;
    size_t name_count, name_capacity;
    size_t copies, sets, timeless; /* memory copies and sets; kernels without a duration */
    int64_t device;                /* of the first kernel; -1: none yet, or not told */
};
struct import_events *import_events_new(struct import *import, const struct import_file *file);
void import_events_free(struct import_events *events); /* accepts NULL */
/* Copies event, its name too. Refuses a second device. */
int import_events_add(struct import_events *events, const struct import_place *at, const struct import_event *event,
                      int64_t device);
/* Notes what was not used, and refuses a file without kernels. Sorts. */
int import_events_finish(struct import_events *events, const char *what);
struct import_timed {            /* launches of one name and shape */
    struct import_group group;   /* name, base, shape and number */
    const char *key;             /* import_name_key of the name */
    size_t base_len;             /* of the function's own name in it */
    size_t *events;              /* their places among the events, ascending */
    struct import_group **found; /* of a counter file: one for all of them, or one for each */
    size_t found_len;            /* 0: none was found, for this reason */
    const char *why;
};
/* The events by name and shape, in the order of their first launches; of the import's arena. */
int import_events_group(struct import *import, struct import_timed **ret, size_t *ret_count);
int import_by_first_event(const void *a, const void *b); /* of two struct import_timed, for qsort */
int import_compare_shapes(const struct import_group *a, const struct import_group *b);
/* Adds a time to the samples; 0 is none. */
int import_events_sample(struct import *import, struct import_samples *samples, double time_s);
/* The samples' statistics as the row's times. */
int import_events_times(struct import *import, struct rl_row *row, const struct import_samples *samples);
/* Rows of the events alone: by name, grid and block. */
int import_events_rows(struct import *import);
/* Rows of the counter file's kernels that have events, with their times. RL_E_IMPORT_MISSING, or a partial run, for
 * events that find no launch. */
int import_events_match(struct import *import, struct import_table *table);
/* What two tools print of one kernel differently is dropped: return type, namespaces, parameter lists, casts, spaces,
 * const, suffixes of numbers; "f<4,1>" of "void ns::f<(int)4, true>(int)". NULL when memory ran out. */
char *import_name_key(struct rl_arena *arena, const char *name);

/* ---- finding launches (gpu/import/match.c) ---- */

/* Sets import->row_group for the rows of timings. With the field partial, rows that find none are left out.
 * RL_E_IMPORT_MISSING without it, and where none finds one. */
int import_match_rows(struct import *import, struct import_table *table);
/* Marks the run as partial for kernels that found no launch: "…: a, b and 3 more". RL_E_IMPORT_MISSING without the
 * field partial, and where none is left (all: no kernel found one). */
int import_left_out(struct import *import, const char *names, size_t count, bool all);
bool import_is_partial(const struct import *import); /* the field partial is "true" */

/* ---- the readers (gpu/import/timings/trace.c, gpu/import/timings/nsys.c, gpu/import/timings/nvbench.c) ---- */

int import_trace(struct import *import, const struct import_file *file, struct import_json *json);
int import_nsys(struct import *import, const struct import_file *file, const struct import_text *text,
                const char **ret_format);
int import_nvbench(struct import *import, const struct import_file *file, const json_t *document);

#endif
