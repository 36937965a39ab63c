/* A counter file as a table: launches with their cells, and groups of them. */
#ifndef GPU_IMPORT_NCU_TABLE_H
#define GPU_IMPORT_NCU_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/import/ncu/lines.h"
#include "gpu/import/ncu/metric.h"
#include "gpu/import/text/number.h"

#define IMPORT_LAUNCHES_MAX 100000u /* of one counter file */

struct import_samples; /* gpu/import/join/timed.h */

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
/* Whether a launch's derived or odd has this value. */
static inline bool import_has_bit(uint64_t bits, enum import_value value)
{
    return (bits & UINT64_C(1) << value) != 0;
}

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
/* The table's launch that is made's (process, id, name, grid and block), a copy of made where there is none yet.
 * *ret is the one of the row before, or NULL. RL_E_TOO_LARGE above IMPORT_LAUNCHES_MAX. */
int import_table_launch(const struct import_file *file, struct import_table *table, const struct import_launch *made,
                        struct import_launch **ret, struct rl_err *err);
/* Remembers that the metric's cell in this line holds no number, for the note that names it. */
void import_table_odd(struct import_table *table, const char *metric, const char *text, size_t line);

#endif
