/* Shared by the files of the importer (gpu/import_*.c). */
#ifndef GPU_IMPORT_INTERNAL_H
#define GPU_IMPORT_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>

#include "gpu/base/buf.h"
#include "gpu/import/import.h"

#define IMPORT_ROWS_MAX     512u              /* kernels of one run; as gpu/record takes them */
#define IMPORT_LAUNCHES_MAX 100000u           /* of one counter file */
#define IMPORT_COLUMNS_MAX  8192u             /* the raw page of a whole set has some 500 */
#define IMPORT_NAME_MAX     16384u            /* bytes of a kernel's name */
#define IMPORT_ROW_MAX      ((size_t)1 << 20) /* bytes of one line or CSV record */
#define IMPORT_ARENA_MAX    ((size_t)192 << 20)

/* ---- messages (gpu/import/text/text.c) ---- */

struct import_source { /* what a message points at */
    const char *kind, *name;
    size_t line;        /* 0: the file as a whole */
    const char *column; /* or field; NULL */
};
/* "NAME, line N, column "C": …"; err.field is the kind. Returns -1. */
int import_fail(struct rl_err *err, enum rl_code code, const struct import_source *source, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
struct import_place { /* where a reader is */
    struct rl_err *err;
    const struct import_file *file;
    size_t line; /* 0: the file as a whole */
};
/* import_fail at that place. */
int import_fail_at(const struct import_place *at, enum rl_code code, const char *column, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Of a name that rl_kernel_name_valid refuses, quoted. */
#define IMPORT_BAD_NAME                                                                                                \
    "is \"%s\"; a kernel's name is one line of text that can be seen: no control character (where '?' stands), and "   \
    "not blanks alone"
#define IMPORT_BAD_DEVICE                                                                                              \
    "is \"%s\"; a GPU's name is one line of text that can be seen: no control character (where '?' stands), and not "  \
    "blanks alone"
/* text for a message: at most 64 bytes, cut between characters, what rl_utf8_control names as '?'. */
#define IMPORT_QUOTE 80
const char *import_quote(char out[IMPORT_QUOTE], const char *text);
/* The same for a sentence, of at most 300 bytes. */
#define IMPORT_WORDS 320
const char *import_words(char out[IMPORT_WORDS], const char *text);
const char *import_json_seen(const json_t *value, char out[IMPORT_QUOTE]); /* a value as JSON, for a message */
/* Adds a sentence to the run's notes, cut at what a note may have; past the last that fit, says so once. */
void import_note(struct rl_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- text (gpu/import/text/text.c) ---- */

/* A file as UTF-8 with LF alone, without a byte order mark; data is NUL-terminated, free with free(). */
struct import_text {
    char *data;
    size_t len;
    const char *encoding; /* "UTF-8", "UTF-8 with a byte order mark", "UTF-16 …" */
};
/* RL_E_IMPORT_OTHER_FILE for binary content, RL_E_IMPORT_FORMAT with the line for bytes that are no UTF-8. */
int import_text_decode(const struct import_file *file, struct import_text *ret, struct rl_err *err);
/* The line at *at (without its LF) and its length; false at the end. Moves *at behind it. */
bool import_text_line(const struct import_text *text, size_t *at, const char **ret_line, size_t *ret_len);

/* ---- CSV: the one user of libcsv (gpu/import/text/csv.c) ---- */

struct import_csv;
struct import_csv *import_csv_new(char delimiter); /* NULL when memory ran out */
void import_csv_free(struct import_csv *csv);      /* accepts NULL */
enum import_csv_step { IMPORT_CSV_ROW, IMPORT_CSV_MORE, IMPORT_CSV_BROKEN, IMPORT_CSV_TOO_LONG, IMPORT_CSV_NO_MEMORY };
/* One physical line without its LF. IMPORT_CSV_ROW: a record is complete, its fields stand in import_csv_field until
 * the next call; IMPORT_CSV_MORE: it goes on in the next line (a quoted field with a line break), or the line was
 * empty. */
enum import_csv_step import_csv_line(struct import_csv *csv, const char *line, size_t len);
bool import_csv_inside(const struct import_csv *csv); /* a record has begun and not ended */
size_t import_csv_count(const struct import_csv *csv);
const char *import_csv_field(const struct import_csv *csv, size_t index); /* "" past the last */

/* ---- lines (gpu/import/ncu/lines.c) ---- */

#define IMPORT_TROUBLES_MAX 16u
struct import_trouble { /* an error of the profiler that stands beside the table */
    size_t line;
    const char *kernel; /* that it names as not profiled, or NULL */
    char text[160];
};
/* How rows look, and what was found beside them. */
struct import_lines {
    struct rl_arena *arena;
    char delimiter;
    bool quoted;        /* the header's fields are in quotes, and so are those of every row */
    bool units_wanted;  /* the row of units, which has no ID, is still to come */
    bool tagged;        /* mpirun's tag stands before every line */
    size_t least, most; /* fields of a row */
    size_t output, output_line, glued, glued_line; /* lines that are not the profiler's; rows beside text; the first */
    struct import_trouble troubles[IMPORT_TROUBLES_MAX];
    size_t trouble_count, trouble_more;
};
struct import_line {
    const char *text;
    size_t len;
};
enum import_line_kind {
    IMPORT_LINE_ROW,   /* *ret is the row, or the header again, without what stood beside it */
    IMPORT_LINE_OTHER, /* a message, output, nothing: remembered for import_lines_tell */
    IMPORT_LINE_PIECE  /* a row seems to be in it, and cannot be told whole */
};
/* Of a line outside of records, behind the header. */
enum import_line_kind import_lines_judge(struct import_lines *lines, const char *line, size_t len, size_t number,
                                         struct import_line *ret);
/* Where the table's header begins in the line, or SIZE_MAX; its delimiter. */
size_t import_lines_header(const char *line, size_t len, char *ret_delimiter);
/* Length of the header that line begins with. */
size_t import_lines_header_end(const struct import_lines *lines, const char *line, size_t len);
/* Remembers the profiler's error in the text, if it has one. */
void import_lines_message(struct import_lines *lines, const char *line, size_t len, size_t number);
/* Whether mpirun's tag stands before all lines; RL_E_IMPORT_OTHER_FILE when it stands before the header and not before
 * all of them. */
int import_lines_find_tags(struct import_lines *lines, const struct import_file *file, const struct import_text *text,
                           struct rl_err *err);
size_t import_lines_tag(const struct import_lines *lines, const char *line, size_t len); /* bytes of the line's tag */
void import_lines_tell(struct rl_run *run, const struct import_lines *lines);            /* notes of all that */

/* ---- numbers (gpu/import/text/number.c) ---- */

/* Ways of writing numbers that have been seen: which character groups thousands, which begins the fraction. */
enum { IMPORT_FORMATS = 6 };
struct import_numbers {
    unsigned alive; /* bit i: every number so far can be read in format i */
    struct {
        size_t line;
        char text[32];
    } killed[IMPORT_FORMATS]; /* by what a format was ruled out */
};
void import_numbers_begin(struct import_numbers *numbers);
/* Takes text as evidence. What no format can read is no number, and none. */
void import_numbers_see(struct import_numbers *numbers, const char *text, size_t line);
/* text in one format; -1 when it is not a number in it. */
int import_number_parse(unsigned format, const char *text, double *ret);
/* text times `times` as a whole number, in decimal arithmetic, halves of the last unit rounded up: 32.66 x 1e6 is
 * 32660000. -1 when it is no number in the format, negative, or over 1e18. */
int import_number_whole(unsigned format, const char *text, uint64_t times, int64_t *ret);
/* One of the last digit that text has: 0.01 of "32.66". 0 for what is no number. */
double import_number_step(unsigned format, const char *text);
unsigned import_number_formats(const char *text); /* bit i: format i can read it */
/* Whether text is what stands where there is no number: "n/a", "-nan(ind)", "inf", nothing. */
bool import_number_is_odd(const char *text);
/* Whether text, a number in this format, has digits behind a decimal separator, be they zeros. */
bool import_number_has_fraction(unsigned format, const char *text);
const char *import_number_words(unsigned format); /* "thousands ',' decimals '.'" */

/* ---- metrics (gpu/import/ncu/metric.c) ---- */

enum import_value {
    /* whole numbers of one launch: bytes, instructions, operations */
    IMPORT_DRAM,
    IMPORT_DRAM_READ,
    IMPORT_DRAM_WRITE,
    IMPORT_L1,
    IMPORT_L2,
    IMPORT_L2_SM,
    IMPORT_LOCAL,
    IMPORT_FADD,
    IMPORT_FMUL,
    IMPORT_FFMA,
    IMPORT_DADD,
    IMPORT_DMUL,
    IMPORT_DFMA,
    IMPORT_HADD,
    IMPORT_HMUL,
    IMPORT_HFMA,
    IMPORT_FADD2, /* packed FP32 of GB10x: two operations, or two FMA, each */
    IMPORT_FMUL2,
    IMPORT_FFMA2,
    IMPORT_TENSOR_FP16, /* operations of the tensor cores by the type that they read */
    IMPORT_TENSOR_BF16,
    IMPORT_TENSOR_TF32,
    IMPORT_TENSOR_FP64,
    IMPORT_TENSOR_FP8,
    IMPORT_TENSOR_FP8_SPARSE,
    IMPORT_WHOLE_VALUES,
    IMPORT_REGISTERS = IMPORT_WHOLE_VALUES,
    IMPORT_SHARED_STATIC,
    IMPORT_SHARED_DYNAMIC,
    IMPORT_OCCUPANCY,
    IMPORT_L2_HIT,
    IMPORT_L1_HIT,
    IMPORT_DRAM_PERCENT,
    IMPORT_SM_PERCENT,
    IMPORT_DURATION,    /* s, of the profiler's own clock */
    IMPORT_SM_HZ,       /* SM clock, mean over the launch */
    IMPORT_CYCLES,      /* elapsed, mean over the SMs */
    IMPORT_TENSOR_SEEN, /* above 0 where the tensor cores did anything */
    IMPORT_LAUNCH_VALUES,
    /* of the device: read once */
    IMPORT_DEVICE_L2 = IMPORT_LAUNCH_VALUES,
    IMPORT_DEVICE_SMS,
    IMPORT_DEVICE_MEMORY,
    IMPORT_DEVICE_BUS,
    IMPORT_DEVICE_SM_KHZ,
    IMPORT_DEVICE_MEMORY_KHZ,
    IMPORT_DEVICE_WARP,
    IMPORT_DEVICE_THREADS,
    IMPORT_DEVICE_NAME, /* a text */
    IMPORT_VALUES
};
enum import_unit {
    IMPORT_BYTES,
    IMPORT_COUNTS,
    IMPORT_PERCENT,
    IMPORT_PLAIN,
    IMPORT_TEXT,
    IMPORT_SECONDS,
    IMPORT_HERTZ,
    IMPORT_PER_SECOND, /* of a whole value: times the launch's duration it is one */
    IMPORT_PER_CYCLE,  /* times its elapsed cycles */
    IMPORT_ANY         /* whether it is 0 is all that is asked */
};
struct import_metric {
    const char *name;
    enum import_value value;
    enum import_unit unit;
    double factor; /* of the metric's own unit to ours: a sector is 32 bytes */
};
extern const struct import_metric import_metrics[]; /* those of one value stand in order of preference */
extern const size_t import_metric_count;
/* The entry of a metric's name, or NULL: not one that is used. */
const struct import_metric *import_metric_find(const char *name);
/* How many of the metric's base unit one of `unit` is (decimal prefixes); -1 for an unknown unit. */
int import_unit_scale(enum import_unit kind, const char *unit, double *ret);
const char *import_unit_expected(enum import_unit kind); /* "byte, Kbyte, Mbyte, …" */

/* ---- the counter file (gpu/import/ncu/ncu.c, gpu/import/ncu/table.c, gpu/import/ncu/launches.c,
 * gpu/import/ncu/refuse.c) ---- */

struct import_reading { /* a cell with a metric that is used */
    const struct import_metric *metric;
    const char *text, *unit, *column;
    size_t line;
    bool odd; /* of DRAM bytes: text is no number but "n/a" or the like */
    struct import_reading *next;
};
struct import_launch {
    const char *name; /* as given */
    const char *pid;
    int64_t id;
    bool has_dims;
    int64_t grid[3], block[3];
    size_t line;
    struct import_reading *readings;
    double value[IMPORT_LAUNCH_VALUES];
    int64_t whole[IMPORT_WHOLE_VALUES];                     /* the same, exact above 2^53 too */
    const struct import_metric *from[IMPORT_LAUNCH_VALUES]; /* NULL: the launch has no such value */
    uint64_t derived; /* bit of a value: a rate times the launch's time or cycles */
    uint64_t odd;     /* its cell is there and holds no number ("n/a", "nan") */
    bool tensors_seen;
    const char *left_out; /* why its byte counts count for nothing, or NULL */
    struct import_launch *next_in_group;
};
struct import_samples { /* seconds, of the import's arena */
    double *values;
    size_t count, capacity;
};
struct import_group { /* launches of one kernel in one shape */
    const char *name, *base;
    bool has_dims;
    int64_t grid[3], block[3];
    struct import_launch *first, *last;
    size_t count, left_out;       /* launches; those of them whose counts are none */
    const char *unreliable;       /* why the counts of all of them failed, or NULL */
    bool used;                    /* by a row */
    struct import_samples *times; /* that a trace gives its launches; NULL: none */
};
#define IMPORT_ODD_SHOWN 6
struct import_odd { /* a metric with cells that hold no number */
    const char *metric;
    char text[32];
    size_t line, count; /* the first, and how many */
};
struct import_table {
    struct rl_arena *arena;
    const char *name;  /* the file's */
    const char *shape; /* "long" or "raw" */
    char delimiter;
    struct import_numbers numbers;
    unsigned format; /* decided */
    struct import_launch **launches;
    size_t launch_count, launch_capacity;
    struct import_launch **slots; /* the same: open addressing by (process, id, name, dims) */
    size_t slot_count;
    struct import_group *groups;
    size_t group_count;
    struct import_reading *device[IMPORT_VALUES]; /* first reading of each device value */
    const char *device_column, *cc;               /* of the first launch; NULL without the columns */
    size_t device_line;
    const char *metrics_seen[6]; /* some names, for messages */
    size_t metrics_seen_count;
    struct import_odd odd[IMPORT_ODD_SHOWN];
    const char *unreliable;       /* why the counts of some kernel failed, or NULL */
    size_t odd_metrics, odd_more; /* entries of odd; cells of metrics beyond them */
    const char *rate_seen;        /* a DRAM metric that is a rate, where there is one: no count */
    size_t instances;             /* cells that list the values of the units behind their total */
    bool uncontrolled;            /* the profiler says that it did not flush: the launches are warm */
    struct import_lines lines;
};
/* Reads text to launches with their raw cells. */
int import_table_read(const struct import_file *file, const struct import_text *text, struct import_table *table,
                      struct rl_err *err);
/* The table's launch that is made's (process, id, name, grid and block), a copy of made where there is none yet.
 * *ret is the one of the row before, or NULL. RL_E_TOO_LARGE above IMPORT_LAUNCHES_MAX. */
int import_table_launch(const struct import_file *file, struct import_table *table, const struct import_launch *made,
                        struct import_launch **ret, struct rl_err *err);
/* Remembers that the metric's cell in this line holds no number, for the note that names it. */
void import_table_odd(struct import_table *table, const char *metric, const char *text, size_t line);
/* Decides the number format, turns cells into values, and groups launches. */
int import_table_values(struct import_table *table, struct rl_err *err);
/* A device value in its own unit, or unknown. */
struct rl_count import_table_device(const struct import_table *table, enum import_value value, double factor);
/* "vadd" of "void ns::vadd<4>(float const*)": the function's own name (gpu/import/text/names.c). The name itself where
 * none is found in it; NULL when memory ran out. */
const char *import_base_name(struct rl_arena *arena, const char *name);
/* Why text holds no table of the profiler: fails with the code and words that name what it is. */
int import_refuse(const struct import_file *file, const struct import_text *text, struct rl_err *err);

/* ---- what is made (gpu/import/timings/timings.c, gpu/import/merge.c, gpu/import/identity.c, gpu/import/record.c,
 * gpu/import/recording.c) ---- */

struct import_events;
struct import_said { /* what a timings file tells beside times; 0 and NULL: nothing */
    const char *device, *cuda;
    int64_t date_ms;
};
struct import {
    const struct import_request *request;
    struct rl_arena *arena; /* for the import's own time; the run has its own */
    struct rl_run *run;
    struct import_sample *samples;
    size_t sample_count;
    int64_t date_ms; /* of the fields; 0: not said */
    bool document;   /* the run came as a whole document */
    struct import_said said;
    struct import_events *events;    /* of a trace of launches; NULL: the timings are others, or none */
    struct import_group **row_group; /* by row: its launches in the counter file; NULL before they were looked for */
    uint32_t stateless;              /* bit i: the line of ceiling i does not say its cache state */
    struct rl_err *err;
};
/* Which of the request's files is of this kind, or NULL. */
const struct import_file *import_file_of(const struct import_request *request, enum import_kind kind);
int import_timings(struct import *import, const struct import_file *file);
/* The samples of a whole document (import->run, in line document_line of file) from its sample lines: an array of
 * [line's number, object]. RL_E_IMPORT_DISAGREES with the line for those that are not what the document was made of. */
int import_samples(struct import *import, const struct import_file *file, const json_t *lines, size_t document_line);
/* Leaves out samples of rows' states that the run has no more. A mixed row's times are the warm ones. */
void import_samples_drop(struct import *import);
int import_merge(struct import *import, struct import_table *table);
/* Rows of these groups of the table, which becomes import->row_group. */
int import_rows_of(struct import *import, const struct import_table *table, struct import_group **groups, size_t count);
/* The id of a row of this group: the catalogue's where the function has its name and one shape, else the name as given,
 * with its shape where one name has several. NULL when memory ran out. */
const char *import_row_name(struct import *import, const struct import_table *table, const struct import_group *group);
/* "NAME @ (8, 1, 1)x(256, 1, 1)", of the run's arena. */
const char *import_shape_name(struct import *import, const char *name, const int64_t grid[3], const int64_t block[3]);
/* The mean of a value over the group's launches that count; unknown with `why` (borrowed) where one has none. */
struct rl_real import_mean(const struct import_group *group, enum import_value value, const char *why);
/* The row's and its state's figures from the group's launches (gpu/import/values.c): bytes, percentages, shape, flop,
 * and s->profiled: the profiler's own time and SM clock, each the mean over the launches that count, unknown where a
 * launch does not tell it, absent where none tells either. Launches whose DRAM bytes are "n/a" are left out, with a
 * note. RL_E_IMPORT_MISSING: a launch has no DRAM bytes; RL_E_IMPORT_NOT_COUNTED: they are "n/a" in all of them. */
int import_row_values(struct import *import, struct import_table *table, struct import_group *group, struct rl_row *row,
                      struct rl_row_state *s);
/* Notes of what the table's cells were (gpu/import/tell.c). */
void import_tell_values(struct rl_run *run, const struct import_table *table);
/* row->flop_counted and row->flop_by_precision (gpu/import/flop.c). */
void import_row_flop(struct rl_row *row, const struct import_group *group);
/* Adds the file to the run's list of what it was made of. */
int import_add_file(struct import *import, const struct import_file *file, const char *format);
int import_fields_check(struct import *import);
/* Device, versions and dates of a run that came without them, from the fields and the counter file (NULL: none). */
int import_identify(struct import *import, const struct import_table *table);
/* A whole document's own identity beside what the fields and the counter file say: they may not disagree. */
int import_agree(struct import *import, const struct import_table *table);
/* Flop, asked bytes and shape of a catalogue kernel at the sizes that the fields name. */
int import_work(struct import *import, struct rl_row *row, const struct import_table *table);
int import_record(struct import *import, const struct import_file *file);
int import_recording(struct import *import, const struct import_file *file);
/* The run's power from a log; the run has its device. */
int import_power(struct import *import, const struct import_file *file);
/* A row whose every value is unknown for this reason. */
void import_blank_row(struct rl_row *row, const char *why);
/* "gpu-name" of a device's name: lower-case letters, digits and single dashes; NULL when nothing is left. */
const char *import_slug(struct rl_arena *arena, const char *name);

#endif
