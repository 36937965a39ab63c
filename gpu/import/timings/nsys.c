/* CSV of nsys stats: cuda_gpu_trace (launches one by one), cuda_gpu_kern_sum and cuda_gpu_kern_gb_sum (statistics of
 * each kernel, the latter by grid and block). */
#include "gpu/import/timings/nsys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/import/common/note.h"
#include "gpu/import/common/rows.h"
#include "gpu/import/text/csv.h"
#include "gpu/import/text/message.h"
#include "gpu/import/timings/events.h"
#include "gpu/import/timings/plain.h"

#define SECONDS_MOST 1e6

enum column {
    NAME,
    START,
    DURATION,
    GRID_X,
    GRID_Y,
    GRID_Z,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    DEVICE,
    INSTANCES,
    AVERAGE,
    MEDIAN,
    LEAST,
    GRID_XYZ,
    BLOCK_XYZ,
    COLUMN_COUNT
};

/* Names without their unit in parentheses, those of older releases too. */
static const struct {
    enum column column;
    const char *name;
} names[] = {{NAME, "Name"},       {START, "Start"},      {DURATION, "Duration"},   {GRID_X, "GrdX"},
             {GRID_Y, "GrdY"},     {GRID_Z, "GrdZ"},      {BLOCK_X, "BlkX"},        {BLOCK_Y, "BlkY"},
             {BLOCK_Z, "BlkZ"},    {DEVICE, "Device"},    {INSTANCES, "Instances"}, {AVERAGE, "Avg"},
             {AVERAGE, "Average"}, {MEDIAN, "Med"},       {MEDIAN, "Median"},       {LEAST, "Min"},
             {LEAST, "Minimum"},   {GRID_XYZ, "GridXYZ"}, {BLOCK_XYZ, "BlockXYZ"}};

struct nsys {
    struct import *import;
    struct import_place at;
    struct import_csv *csv;
    size_t column[COLUMN_COUNT]; /* index + 1; 0: not there */
    double unit[COLUMN_COUNT];   /* of a time: how many a second has */
    bool is_trace;
    size_t columns; /* of the table's header; 0: none was seen yet */
    enum { BEFORE_TABLE, IN_TABLE, BEHIND_TABLE, IN_OTHER } place;
    size_t other_line; /* where the first table of no kernels begins; 0: there is none */
    bool unended;      /* the line has neither a line end nor quotes at its end: the last of a file that may be cut */
    size_t rows, means;
    struct import_plain plain;
    char device[128]; /* of the first kernel */
};

/* ---- the header ---- */

/* How many of "(ns)" a second has; without a unit nanoseconds, as older releases write. 0: another. */
static double unit_of(const char *text)
{
    static const struct {
        const char *name;
        double in_second;
    } units[] = {{"", 1e9},       {"(ns)", 1e9},        {"(nsec)", 1e9},      {"(us)", 1e6},
                 {"(usec)", 1e6}, {"(\xCE\xBCs)", 1e6}, {"(\xC2\xB5s)", 1e6}, {"(ms)", 1e3},
                 {"(msec)", 1e3}, {"(s)", 1},           {"(sec)", 1}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, text) == 0)
            return units[i].in_second;
    return 0;
}

static void find_columns(struct nsys *n)
{
    memset(n->column, 0, sizeof n->column);
    for (size_t i = 0; i < import_csv_count(n->csv); i++) {
        const char *field = import_csv_field(n->csv, i);
        size_t len = strcspn(field, "(");
        const char *unit = field + len;
        while (len > 0 && field[len - 1] == ' ')
            len--;
        for (size_t c = 0; c < sizeof names / sizeof names[0]; c++)
            if (strlen(names[c].name) == len && memcmp(names[c].name, field, len) == 0) {
                n->column[names[c].column] = i + 1;
                n->unit[names[c].column] = unit_of(unit);
            }
    }
    n->is_trace = n->column[START] != 0 && n->column[DURATION] != 0 && n->column[GRID_X] != 0;
}

static bool is_header(const struct nsys *n)
{
    return n->column[NAME] != 0 &&
           (n->is_trace || (n->column[INSTANCES] != 0 && (n->column[AVERAGE] != 0 || n->column[MEDIAN] != 0)));
}

/* ---- cells ---- */

static const char *cell(const struct nsys *n, enum column column)
{
    return n->column[column] != 0 ? import_csv_field(n->csv, n->column[column] - 1) : "";
}

static const char *column_name(enum column column)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].column == column)
            return names[i].name;
    return "?";
}

static int read_number(const struct nsys *n, enum column column, double least, double most, double *ret)
{
    char quoted[IMPORT_QUOTE];
    const char *text = cell(n, column);
    double value;
    if (rl_parse_real(text, &value) != 0 || !(value >= least && value <= most))
        return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, column_name(column),
                              "is \"%s\"; a number from %g to %g is expected", import_quote(quoted, text), least, most);
    *ret = value;
    return 0;
}

static int read_time(const struct nsys *n, enum column column, double *ret)
{
    double value = 0;
    if (n->unit[column] <= 0)
        return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, column_name(column),
                              "has a unit that is not known; ns, us, ms or s is expected");
    if (read_number(n, column, 0, SECONDS_MOST * n->unit[column], &value) != 0)
        return -1;
    *ret = value / n->unit[column]; /* divided: 4100 ns are 4.1e-6 s, not 4.1000000000000006e-6 */
    return 0;
}

static int check_name(const struct nsys *n, const char *name)
{
    char quoted[IMPORT_QUOTE];
    if (name[0] == '\0' || strlen(name) > IMPORT_NAME_MAX)
        return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, "Name", "has %zu bytes; a name of 1 to %u is expected",
                              strlen(name), IMPORT_NAME_MAX);
    return rl_kernel_name_valid(name)
               ? 0
               : import_fail_at(&n->at, RL_E_IMPORT_FORMAT, "Name", IMPORT_BAD_NAME, import_quote(quoted, name));
}

/* "   8    1    1" */
static int read_xyz(const struct nsys *n, enum column column, int64_t most, int64_t ret[3])
{
    char quoted[IMPORT_QUOTE];
    const char *text = cell(n, column);
    char *end = (char *)text;
    for (int i = 0; i < 3; i++) {
        const char *from = end + strspn(end, " ");
        ret[i] = *from >= '1' && *from <= '9' ? strtoll(from, &end, 10) : 0;
        if (ret[i] < 1 || ret[i] > most)
            return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, column_name(column),
                                  "is \"%s\"; three whole numbers from 1 to %lld are expected",
                                  import_quote(quoted, text), (long long)most);
    }
    return end[strspn(end, " ")] == '\0'
               ? 0
               : import_fail_at(&n->at, RL_E_IMPORT_FORMAT, column_name(column),
                                "is \"%s\"; three whole numbers are expected", import_quote(quoted, text));
}

/* ---- rows ---- */

/* "NVIDIA H200 (0)": of one GPU alone. */
static int check_device(struct nsys *n, const char *device)
{
    char one[IMPORT_QUOTE], two[IMPORT_QUOTE];
    if (device[0] == '\0' || strcmp(n->device, device) == 0)
        return 0;
    if (n->device[0] != '\0')
        return import_fail_at(&n->at, RL_E_IMPORT_DISAGREES, "Device",
                              "is \"%s\", and an earlier kernel's \"%s\": launches of one GPU make a run; export each "
                              "by itself",
                              import_quote(one, device), import_quote(two, n->device));
    if (strlen(device) >= sizeof n->device)
        return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, "Device", "has more than %zu bytes", sizeof n->device - 1);
    snprintf(n->device, sizeof n->device, "%s", device);
    const char *number = strrchr(device, '(');
    size_t len = number != NULL && number > device + 1 ? (size_t)(number - device) - 1 : strlen(device);
    n->import->said.device = rl_arena_printf(n->import->run->arena, "%.*s", (int)len, device);
    return 0;
}

static int add_launch(struct nsys *n)
{
    struct import_event event = {.name = cell(n, NAME), .has_dims = true};
    double start = 0, dims[6] = {0};
    if (strcmp(event.name, "[CUDA memset]") == 0 || strncmp(event.name, "[CUDA memset", 12) == 0)
        n->import->events->sets++;
    if (strncmp(event.name, "[CUDA memcpy", 12) == 0)
        n->import->events->copies++;
    if (cell(n, GRID_X)[0] == '\0') /* no kernel */
        return 0;
    if (check_name(n, event.name) != 0 || check_device(n, cell(n, DEVICE)) != 0 ||
        read_time(n, DURATION, &event.time_s) != 0 || read_time(n, START, &start) != 0)
        return -1;
    for (int i = 0; i < 6; i++) {
        if (read_number(n, (enum column)(GRID_X + i), 1, i < 3 ? INT32_MAX : 1024, &dims[i]) != 0)
            return -1;
        if (dims[i] != floor(dims[i]))
            return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, column_name((enum column)(GRID_X + i)),
                                  "is \"%s\"; a whole number is expected", cell(n, (enum column)(GRID_X + i)));
    }
    for (int i = 0; i < 3; i++) {
        event.grid[i] = (int64_t)dims[i];
        event.block[i] = (int64_t)dims[3 + i];
    }
    event.order = event.start = start;
    return import_events_add(n->import->events, &n->at, &event, -1);
}

static int add_sum(struct nsys *n)
{
    const char *times = n->import->request->fields.times, *name = cell(n, NAME);
    bool has_median = n->column[MEDIAN] != 0, has_dims = n->column[GRID_XYZ] != 0 && n->column[BLOCK_XYZ] != 0;
    double time = 0, least = 0, count = 0;
    struct rl_row *row = import_plain_row(&n->plain);
    if (row == NULL || check_name(n, name) != 0 || read_time(n, has_median ? MEDIAN : AVERAGE, &time) != 0 ||
        read_number(n, INSTANCES, 1, 1e6, &count) != 0 || (n->column[LEAST] != 0 && read_time(n, LEAST, &least) != 0))
        return -1;
    if (time <= 0 || least > time)
        return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, column_name(has_median ? MEDIAN : AVERAGE),
                              "is %.9g s, and the least %.9g s: a time above 0, and not below the least, is expected",
                              time, least);
    if (has_dims && (read_xyz(n, GRID_XYZ, INT32_MAX, row->launch.grid) != 0 ||
                     read_xyz(n, BLOCK_XYZ, 1024, row->launch.block) != 0))
        return -1;
    row->launch.dims_why = has_dims ? NULL : row->launch.dims_why;
    row->kernel = row->title = rl_arena_strdup(n->import->run->arena, name);
    if (row->kernel == NULL)
        return rl_fail(n->import->err, RL_E_NO_MEMORY, "timings", "no memory for the timings");
    for (size_t i = 0; i < n->import->run->row_count; i++) {
        const struct rl_row *other = &n->import->run->rows[i];
        if (strcmp(other->kernel, row->kernel) == 0 &&
            (!has_dims || other->launch.dims_why != NULL ||
             (memcmp(other->launch.grid, row->launch.grid, sizeof other->launch.grid) == 0 &&
              memcmp(other->launch.block, row->launch.block, sizeof other->launch.block) == 0)))
            return import_fail_at(&n->at, RL_E_IMPORT_DISAGREES, "Name", "is there twice in one shape");
    }
    struct rl_row_state *s = &row->state[times != NULL && strcmp(times, "cold") == 0 ? RL_COLD : RL_WARM];
    import_set_time(s, time, "the summary does not have it");
    s->time_s.n = (int64_t)count;
    s->time_s.launches = 1;
    if (least > 0)
        s->time_s.min = rl_known(least);
    n->means += !has_median;
    n->import->run->row_count++;
    return 0;
}

/* ---- the file ---- */

static const char other_table[] =
    "is a table of nsys stats without times of each kernel: send --report cuda_gpu_trace (each launch), or "
    "cuda_gpu_kern_gb_sum (each kernel, grid and block)";

/* A line's record; *ret_more: it goes on in the next line. */
static int read_record(struct nsys *n, const char *line, size_t len, bool *ret_row)
{
    enum import_csv_step step = import_csv_line(n->csv, line, len);
    *ret_row = step == IMPORT_CSV_ROW;
    switch (step) {
    case IMPORT_CSV_BROKEN:
        return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, NULL, "has quotes that do not fit");
    case IMPORT_CSV_TOO_LONG:
        return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, NULL, "is part of a record of more than %zu bytes",
                              IMPORT_ROW_MAX);
    case IMPORT_CSV_NO_MEMORY:
        return rl_fail(n->import->err, RL_E_NO_MEMORY, "timings", "no memory for a record");
    default:
        return 0;
    }
}

/* Whether the record is the header of a table of kernels, whose columns are then the table's. */
static bool take_header(struct nsys *n)
{
    struct nsys kept = *n;
    find_columns(n);
    if (is_header(n))
        return true;
    memcpy(n->column, kept.column, sizeof n->column);
    memcpy(n->unit, kept.unit, sizeof n->unit);
    n->is_trace = kept.is_trace;
    return false;
}

/* A table of kernels begins at this line: the first, or another of its kind behind it. */
static int begin_table(struct nsys *n, bool was_trace)
{
    if (n->columns != 0 && was_trace != n->is_trace)
        return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, NULL,
                              "begins a table of %s behind one of %s; send one of the two",
                              n->is_trace ? "launches" : "sums", n->is_trace ? "sums" : "launches");
    n->columns = import_csv_count(n->csv);
    n->place = IN_TABLE;
    if (n->is_trace && n->import->events == NULL)
        n->import->events = import_events_new(n->import, n->at.file);
    return n->is_trace && n->import->events == NULL ? -1 : 0;
}

static int take_row(struct nsys *n)
{
    if (n->unended)
        return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, NULL,
                              "has no line end, and no quotes end its last field: it may be cut; where it is whole, "
                              "end it by a line end");
    if (import_csv_count(n->csv) != n->columns)
        return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, NULL, "has %zu fields, and the header %zu: it is cut",
                              import_csv_count(n->csv), n->columns);
    n->rows++;
    return n->is_trace ? add_launch(n) : add_sum(n);
}

static bool begins_with_number(const char *text)
{
    text += strspn(text, " \"");
    return *text >= '0' && *text <= '9';
}

/* A line between tables: what nsys says, another table, or the next table of kernels. */
static int read_between(struct nsys *n, const char *line, size_t len)
{
    bool was_trace = n->is_trace;
    size_t quotes = 0;
    for (size_t i = 0; i < len; i++)
        quotes += line[i] == '"';
    bool record = len > 0 && quotes % 2 == 0 && import_csv_line(n->csv, line, len) == IMPORT_CSV_ROW;
    if (!record && len > 0) { /* the parser may be within a record that is none */
        import_csv_free(n->csv);
        n->csv = import_csv_new(',');
        if (n->csv == NULL)
            return rl_fail(n->import->err, RL_E_NO_MEMORY, "timings", "no memory for a record");
    }
    if (record && take_header(n))
        return begin_table(n, was_trace);
    if (n->place == BEHIND_TABLE && begins_with_number(line)) { /* its rows go on behind an empty line */
        if (!record)
            return import_fail_at(&n->at, RL_E_IMPORT_FORMAT, NULL, "has quotes that do not fit");
        n->place = IN_TABLE;
        return take_row(n);
    }
    if (record && n->place != IN_OTHER && import_csv_count(n->csv) >= 3) {
        n->place = IN_OTHER;
        n->other_line = n->other_line == 0 ? n->at.line : n->other_line;
    }
    return 0;
}

static int read_all(struct nsys *n, const struct import_text *text)
{
    const char *line;
    size_t at = 0, len;
    while (import_text_line(text, &at, &line, &len)) {
        bool row, was_trace = n->is_trace;
        n->at.line++;
        n->unended = at == text->len && line[len] != '\n' && line[len - 1] != '"';
        if (n->place == IN_TABLE && len == 0 && !import_csv_inside(n->csv)) {
            n->place = BEHIND_TABLE;
            continue;
        }
        if (n->place != IN_TABLE) {
            if (read_between(n, len > 0 ? line : "", len) != 0)
                return -1;
            continue;
        }
        if (read_record(n, line, len, &row) != 0)
            return -1;
        if (row && (take_header(n) ? begin_table(n, was_trace) : take_row(n)) != 0)
            return -1;
    }
    if (n->columns == 0) {
        n->at.line = 0;
        return import_fail_at(&n->at, RL_E_IMPORT_NOT_TIMINGS, NULL, "%s", other_table);
    }
    return n->place == IN_TABLE && import_csv_inside(n->csv)
               ? import_fail_at(&n->at, RL_E_IMPORT_FORMAT, NULL, "ends within quotes: the file is cut")
               : 0;
}

/* ---- which files are its ---- */

static bool has_word(const struct import_text *text, const char *word)
{
    return memmem(text->data, text->len, word, strlen(word)) != NULL;
}

/* Columns that tables of nsys stats have whatever --timeunit they are of. Older releases write no unit at all. */
static bool is_any_header(const char *line, size_t len)
{
    static const char *const headers[][3] = {
        {"Start", "Duration", "GrdX"}, {"Start", "Duration", "Name"}, {"Time", "Total Time", "Name"}};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        size_t found = memchr(line, ',', len) != NULL;
        for (size_t w = 0; w < 3; w++)
            found += memmem(line, len, headers[i][w], strlen(headers[i][w])) != NULL;
        if (found == 4)
            return true;
    }
    return false;
}

bool import_is_nsys(const struct import_text *text, char first)
{
    const char *line;
    size_t at = 0, len;
    if (first == '[' || first == '{' || first == '#' || first == '=')
        return false;
    if (has_word(text, "(ns)") || has_word(text, "Instances"))
        return true;
    while (import_text_line(text, &at, &line, &len))
        if (is_any_header(line, len))
            return true;
    return false;
}

int import_nsys(struct import *import, const struct import_file *file, const struct import_text *text,
                const char **ret_format)
{
    struct nsys n = {.import = import, .at = {import->err, file, 0}, .csv = import_csv_new(',')};
    int rc = import_plain_begin(&n.plain, import, file);
    if (rc == 0 && n.csv == NULL)
        rc = rl_fail(import->err, RL_E_NO_MEMORY, "timings", "no memory for the timings");
    n.plain.at = n.at;
    if (rc == 0)
        rc = read_all(&n, text);
    *ret_format = n.is_trace ? "nsys stats, launches (cuda_gpu_trace)" : "nsys stats, kernel sums";
    if (rc == 0 && n.is_trace)
        rc = import_events_finish(import->events, "rows of copies alone");
    else if (rc == 0 && n.rows == 0)
        rc = import_fail_at(&n.at, RL_E_IMPORT_NOT_TIMINGS, NULL, "has no kernel");
    else if (rc == 0)
        rc = import_plain_finish(&n.plain);
    if (rc == 0 && n.means > 0)
        import_note(import->run, "the summary has no medians: its averages stand in their place");
    if (rc == 0 && n.other_line > 0)
        import_note(import->run, "tables of nsys without times of each kernel are left out, the first from line %zu on",
                    n.other_line);
    import_csv_free(n.csv);
    import_plain_end(&n.plain);
    return rc;
}
