/* What the files of rooflinectl share. */
#ifndef SERVER_CTL_CTL_H
#define SERVER_CTL_CTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpu/base/buf.h"
#include "gpu/base/err.h"
#include "server/ctl/command.h"

#define CTL_PROGRAM        "rooflinectl"
#define CTL_EXIT_NOT_OK    1   /* the run is refused or partial: measured, but not to be relied on */
#define CTL_EXIT_SLOWER    1   /* compare --fail-on slower: a regression */
#define CTL_EXIT_UNDECIDED 2   /* compare --fail-on slower: it could not be told */
#define CTL_EXIT_INTERRUPT 130 /* as shells say it: 128 + SIGINT */

/* ---- server/ctl/http.c ---- */
struct ctl_http;
#define CTL_TIMEOUT_S "60" /* for an answer: a daemon that is stopped takes connections and sends nothing */
/* --unix before --url; else ROOFLINED_URL; else http://127.0.0.1:8049. RL_E_USAGE for an address that cannot be one, or
 * that holds a password; it is not quoted then. */
int ctl_http_new(const struct ctl_common *common, struct ctl_http **ret, struct rl_err *err);
void ctl_http_free(struct ctl_http *http); /* accepts NULL */
/* One request. body: JSON text or NULL. The answer's bytes go to out (cleared first). An error answer becomes its
 * error; no answer, or one that is none of rooflined's, RL_E_UNREACHABLE. ret_status may be NULL; when it is not, 503
 * with a JSON object that is no error is an answer too (readiness). */
int ctl_http_send(struct ctl_http *http, const char *method, const char *path, const char *body,
                  const char *idempotency_key, struct rl_buf *out, long *ret_status, struct rl_err *err);
/* GET, the answer's bytes written to file as they come: --timeout is how long nothing may come, not how long it may
 * take. *ret_bytes is what was written, also after an error; -1 whenever that is not the whole answer. */
int ctl_http_save(struct ctl_http *http, const char *path, FILE *file, uint64_t *ret_bytes, struct rl_err *err);
/* POST of a form: value is a file's path, sent under its base name, or a text; NULL: not sent. A file that cannot be
 * read is RL_E_IO. --timeout is how long nothing may go or come. */
struct ctl_part {
    const char *name, *value;
    bool file;
    const char *filename; /* of a file; NULL: the path's base name */
};
int ctl_http_upload(struct ctl_http *http, const char *path, const struct ctl_part *parts, size_t count,
                    struct rl_buf *out, long *ret_status, struct rl_err *err);
/* GET and parse. */
int ctl_http_get_json(struct ctl_http *http, const char *path, json_t **ret, struct rl_err *err);
/* An answer's bytes as the JSON object that they must be, a new reference; else RL_E_UNREACHABLE. */
int ctl_http_parse(const struct ctl_http *http, const struct rl_buf *out, json_t **ret, struct rl_err *err);
/* Appends "?name=value" or "&name=value", percent-encoded; nothing when value is NULL. What does not fit sets
 * path->failed: to be looked at before the path is used. */
void ctl_query(struct rl_buf *path, const char *name, const char *value);
/* Whether Ctrl-C was pressed; ctl_catch_interrupt makes it so instead of ending the program. */
void ctl_catch_interrupt(void);
bool ctl_interrupted(void);

/* ---- the commands, each beside its options ---- */
extern const struct ctl_command ctl_command_submit;
extern const struct ctl_command ctl_command_jobs;
extern const struct ctl_command ctl_command_cancel;
extern const struct ctl_command ctl_command_transcript;
extern const struct ctl_command ctl_command_runs;
extern const struct ctl_command ctl_command_show;
extern const struct ctl_command ctl_command_note;
extern const struct ctl_command ctl_command_withdraw;
extern const struct ctl_command ctl_command_import;
extern const struct ctl_command ctl_command_predictions;
extern const struct ctl_command ctl_command_export;
extern const struct ctl_command ctl_command_history;
extern const struct ctl_command ctl_command_trend;
extern const struct ctl_command ctl_command_compare;
extern const struct ctl_command ctl_command_devices;
extern const struct ctl_command ctl_command_ready;

/* ---- server/ctl/filters.c: which runs, of runs and export; the first member of their structs ---- */
struct ctl_filters {
    const char *sizes, *device, *label, *withdrawn, *driver, *cuda, *suite, *source, *counters, *outcome, *since,
        *until;
};
enum { CTL_FILTER_COUNT = 12 };
extern const struct ctl_option ctl_filter_options[CTL_FILTER_COUNT];
void ctl_query_filters(struct rl_buf *path, const struct ctl_filters *filters);

/* Prints the table of one state of a run; state NULL: of each that it has. */
int ctl_show_tables(struct ctl_http *http, const char *id, const char *state, struct rl_err *err);

/* Whether the file at path is a report of Nsight Compute (.ncu-rep), by its first bytes. */
bool ctl_ncu_is_report(const char *path);
/* What `ncu --import report --csv --page raw` prints, as a file without a name: its path is of this process. ncu NULL:
 * from PATH. RL_E_USAGE with the command to run elsewhere where there is no ncu, RL_E_IMPORT_FORMAT with ncu's words
 * where it fails. */
#define CTL_NCU_PATH 32
int ctl_ncu_export(const char *ncu, const char *report, char path[CTL_NCU_PATH], struct rl_err *err);

/* GET, and the answer printed as it is. */
int ctl_print_answer(struct ctl_http *http, const char *path, struct rl_err *err);

/* ---- server/ctl/text.c ---- */
/* Prints bytes from the daemon as they are; a JSON text gets a line feed. 0, or -1 with RL_E_IO. */
int ctl_print(const struct rl_buf *text, struct rl_err *err);
/* Text from the daemon, safe for a terminal; "-" for what is no string. In one of 16 buffers that take turns. */
const char *ctl_text(const json_t *value);
const char *ctl_member(const json_t *object, const char *name);
/* The same in exactly so many columns of a table (CTL_CELL_MAX at most): padded, or cut in the middle. */
#define CTL_CELL_MAX 40
const char *ctl_cell(const json_t *value, int width);
/* A line with the whole text below a row that has it cut to so many columns; nothing where it is not cut. */
void ctl_print_whole(const json_t *value, int width);

#endif
