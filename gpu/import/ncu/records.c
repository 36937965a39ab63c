/* Records of a counter file: the long shape, one metric a row, and the raw page, one launch a row with a row of units.
 */
#include "gpu/import/ncu/records.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/import/common/rows.h"

enum column {
    COL_ID,
    COL_PID,
    COL_KERNEL,
    COL_BLOCK,
    COL_GRID,
    COL_STREAM,
    COL_DEVICE,
    COL_CC,
    COL_METRIC,
    COL_UNIT,
    COL_VALUE,
    COLUMNS
};
static const char *const column_names[COLUMNS] = {"ID",          "Process ID",  "Kernel Name", "Block Size",
                                                  "Grid Size",   "Stream",      "Device",      "CC",
                                                  "Metric Name", "Metric Unit", "Metric Value"};
#define NO_COLUMN SIZE_MAX

struct wide { /* a column of the raw page with a metric */
    const struct import_metric *metric;
    const char *name, *unit;
    size_t index;
};

struct import_records {
    const struct import_place *at; /* its line: where the record being read began */
    struct import_table *table;
    struct rl_arena *arena;
    const struct import_csv *csv;
    size_t column[COLUMNS];
    size_t header_count;
    bool raw, units_read;
    struct wide *wide;
    size_t wide_count;
    struct import_launch *last;
};

static int no_memory(struct import_records *r)
{
    return rl_fail(r->at->err, RL_E_NO_MEMORY, import_kind_name(r->at->file->kind),
                   "the counter file holds more than fits in the memory of an import");
}

struct import_records *import_records_new(const struct import_place *at, struct import_table *table,
                                          const struct import_csv *csv)
{
    struct import_records *made = rl_arena_alloc(table->arena, sizeof *made);
    if (made != NULL)
        *made = (struct import_records){.at = at, .table = table, .arena = table->arena, .csv = csv};
    return made;
}

/* ---- the header ---- */

static bool is_rate(const char *name)
{
    return strncmp(name, "dram__bytes", 11) == 0 && strstr(name, ".sum.per_second") != NULL;
}

static int read_header(struct import_records *r)
{
    size_t count = import_csv_count(r->csv), metrics = 0;
    if (count > IMPORT_COLUMNS_MAX)
        return import_fail_at(r->at, RL_E_IMPORT_FORMAT, NULL, "the header has %zu columns; at most %u are read", count,
                              IMPORT_COLUMNS_MAX);
    for (size_t c = 0; c < COLUMNS; c++) {
        r->column[c] = NO_COLUMN;
        for (size_t i = 0; i < count; i++)
            if (strcmp(import_csv_field(r->csv, i), column_names[c]) == 0) {
                if (r->column[c] != NO_COLUMN)
                    return import_fail_at(r->at, RL_E_IMPORT_FORMAT, column_names[c],
                                          "the header has this column twice");
                r->column[c] = i;
            }
    }
    r->header_count = count;
    r->raw = r->column[COL_METRIC] == NO_COLUMN;
    r->table->shape = r->raw ? "raw" : "long";
    if (!r->raw && (r->column[COL_VALUE] == NO_COLUMN || r->column[COL_UNIT] == NO_COLUMN))
        return import_fail_at(r->at, RL_E_IMPORT_FORMAT, NULL,
                              "the header has \"Metric Name\" but not \"Metric Unit\" and \"Metric Value\"");
    r->table->lines.least = r->raw ? count : r->column[COL_VALUE] + 1;
    r->table->lines.most = count;
    r->table->lines.units_wanted = r->raw;
    if (!r->raw)
        return 0;
    r->wide = rl_arena_array(r->arena, count, sizeof *r->wide);
    if (r->wide == NULL)
        return no_memory(r);
    for (size_t i = 0; i < count; i++) {
        const char *name = import_csv_field(r->csv, i);
        if (strstr(name, "__") == NULL)
            continue;
        metrics++;
        if (is_rate(name) && r->table->rate_seen == NULL)
            r->table->rate_seen = rl_arena_strdup(r->arena, name);
        for (size_t w = 0; w < r->wide_count; w++)
            if (strcmp(r->wide[w].name, name) == 0)
                return import_fail_at(r->at, RL_E_IMPORT_FORMAT, name, "the header has this column twice");
        struct wide wide = {import_metric_find(name), rl_arena_strdup(r->arena, name), "", i};
        if (wide.name == NULL)
            return no_memory(r);
        r->wide[r->wide_count++] = wide;
        if (r->table->metrics_seen_count < 6 && strncmp(name, "device__", 8) != 0 && strncmp(name, "launch__", 8) != 0)
            r->table->metrics_seen[r->table->metrics_seen_count++] = wide.name;
    }
    if (metrics == 0)
        return import_fail_at(
            r->at, RL_E_IMPORT_OTHER_FILE, NULL,
            "the header has neither \"Metric Name\" nor a column named like a metric (dram__bytes.sum); export "
            "with --page raw");
    return 0;
}

/* ---- launches ---- */

static int parse_dims(struct import_records *r, enum column column, int64_t ret[3])
{
    const char *text = import_csv_field(r->csv, r->column[column]), *c = text;
    char quoted[IMPORT_QUOTE];
    int64_t most = column == COL_GRID ? INT32_MAX : 1024;
    c += strspn(c, "( ");
    for (int i = 0; i < 3; i++) {
        char *end;
        if (*c < '0' || *c > '9')
            goto bad;
        long long value = strtoll(c, &end, 10);
        if (value < 1 || value > most)
            goto bad;
        ret[i] = value;
        c = end + strspn(end, " ");
        if (i < 2 && *c++ != ',')
            goto bad;
        c += strspn(c, " ");
    }
    if (*c == ')')
        c++;
    if (c[strspn(c, " ")] == '\0')
        return 0;
bad:
    return import_fail_at(r->at, RL_E_IMPORT_FORMAT, column_names[column],
                          "is \"%s\"; three whole numbers from 1 to %lld are expected, as in (256, 1, 1)",
                          import_quote(quoted, text), (long long)most);
}

/* "1,024" as well: some locales group the ids too. */
static int parse_id(struct import_records *r, int64_t *ret)
{
    const char *text = import_csv_field(r->csv, r->column[COL_ID]);
    char quoted[IMPORT_QUOTE];
    int64_t value = 0;
    size_t digits = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c >= '0' && *c <= '9') {
            value = value * 10 + (*c - '0');
            if (++digits > 18)
                break;
        } else if (strchr(",.' ", *c) == NULL && (unsigned char)*c < 0x80)
            digits = 99;
    }
    if (digits < 1 || digits > 18)
        return import_fail_at(r->at, RL_E_IMPORT_FORMAT, "ID", "is \"%s\"; a whole number is expected",
                              import_quote(quoted, text));
    *ret = value;
    return 0;
}

/* One import is of one device. */
static int check_device(struct import_records *r)
{
    struct import_table *t = r->table;
    const char *device = r->column[COL_DEVICE] != NO_COLUMN ? import_csv_field(r->csv, r->column[COL_DEVICE]) : "";
    const char *cc = r->column[COL_CC] != NO_COLUMN ? import_csv_field(r->csv, r->column[COL_CC]) : "";
    char one[IMPORT_QUOTE], two[IMPORT_QUOTE];
    if (t->device_column == NULL) {
        t->device_column = rl_arena_strdup(r->arena, device);
        t->cc = rl_arena_strdup(r->arena, cc);
        t->device_line = r->at->line;
        return t->device_column != NULL && t->cc != NULL ? 0 : no_memory(r);
    }
    if (strcmp(t->device_column, device) != 0 || strcmp(t->cc, cc) != 0)
        return import_fail_at(
            r->at, RL_E_IMPORT_DISAGREES, "Device",
            "is \"%s\", but \"%s\" in line %zu: an import is of one GPU; export each GPU's launches apart",
            import_quote(one, strcmp(t->device_column, device) != 0 ? device : cc),
            import_quote(two, strcmp(t->device_column, device) != 0 ? t->device_column : t->cc), t->device_line);
    return 0;
}

/* The launch of the current record, a new one where it was not there before. */
static int take_launch(struct import_records *r)
{
    struct import_launch made = {.name = import_csv_field(r->csv, r->column[COL_KERNEL]), .line = r->at->line};
    made.pid = r->column[COL_PID] != NO_COLUMN ? import_csv_field(r->csv, r->column[COL_PID]) : "";
    made.has_dims = r->column[COL_GRID] != NO_COLUMN && r->column[COL_BLOCK] != NO_COLUMN;
    size_t len = strlen(made.name);
    char quoted[IMPORT_QUOTE];
    if (len == 0)
        return import_fail_at(r->at, RL_E_IMPORT_FORMAT, "Kernel Name", "is empty");
    if (len > IMPORT_NAME_MAX)
        return import_fail_at(r->at, RL_E_IMPORT_FORMAT, "Kernel Name", "has %zu bytes; at most %u are kept", len,
                              IMPORT_NAME_MAX);
    if (!rl_kernel_name_valid(made.name))
        return import_fail_at(r->at, RL_E_IMPORT_FORMAT, "Kernel Name", IMPORT_BAD_NAME,
                              import_quote(quoted, made.name));
    if (parse_id(r, &made.id) != 0 ||
        (made.has_dims && (parse_dims(r, COL_GRID, made.grid) != 0 || parse_dims(r, COL_BLOCK, made.block) != 0)))
        return -1;
    if (strcmp(made.name, "range") == 0 && !made.has_dims)
        return import_fail_at(
            r->at, RL_E_IMPORT_OTHER_FILE, "Kernel Name",
            "is \"range\": the profiler counted a range (--replay-mode app-range or range), not kernels; profile "
            "again with --replay-mode kernel or application");
    if (check_device(r) != 0)
        return -1;
    return import_table_launch(r->at->file, r->table, &made, &r->last, r->at->err);
}

/* A metric's cell of the last launch. The same again is fine, other than before is not. */
static int add_reading(struct import_records *r, const struct import_metric *metric, const char *column,
                       const char *unit, const char *text)
{
    struct import_table *t = r->table;
    bool of_device = metric->value >= IMPORT_LAUNCH_VALUES;
    char one[IMPORT_QUOTE], two[IMPORT_QUOTE];
    struct import_reading *before = of_device ? t->device[metric->value] : r->last->readings;
    while (before != NULL && (before->metric != metric || before->odd))
        before = before->next;
    if (before != NULL) {
        if (strcmp(before->text, text) == 0 && strcmp(before->unit, unit) == 0)
            return 0;
        return import_fail_at(r->at, RL_E_IMPORT_DISAGREES, metric->name,
                              "is \"%s\", but \"%s\" in line %zu of the same %s", import_quote(one, text),
                              import_quote(two, before->text), before->line, of_device ? "device" : "launch");
    }
    struct import_reading *reading = rl_arena_alloc(r->arena, sizeof *reading);
    if (reading == NULL)
        return no_memory(r);
    *reading = (struct import_reading){.metric = metric,
                                       .text = rl_arena_strdup(r->arena, text),
                                       .unit = r->raw ? unit : rl_arena_strdup(r->arena, unit),
                                       .column = column,
                                       .line = r->at->line};
    if (reading->text == NULL || reading->unit == NULL)
        return no_memory(r);
    struct import_reading **list = of_device ? &t->device[metric->value] : &r->last->readings;
    reading->next = *list;
    *list = reading;
    return 0;
}

/* "8 (1; 7)": with --print-metric-instances the values of the units stand behind their total. */
static const char *without_instances(struct import_records *r, const char *text)
{
    const char *open = strstr(text, " (");
    size_t len = strlen(text);
    if (open == NULL || open == text || text[len - 1] != ')')
        return text;
    r->table->instances++;
    return rl_arena_printf(r->arena, "%.*s", (int)(open - text), text);
}

static int take_odd(struct import_records *r, const struct import_metric *metric, const char *column, const char *unit,
                    const char *text)
{
    if (metric == NULL || metric->value >= IMPORT_LAUNCH_VALUES)
        return 0;
    r->last->odd |= UINT64_C(1) << metric->value;
    import_table_odd(r->table, metric->name, text, r->at->line);
    if (metric->value > IMPORT_DRAM_WRITE) /* of DRAM bytes a refusal names the cell */
        return 0;
    for (const struct import_reading *before = r->last->readings; before != NULL; before = before->next)
        if (before->metric == metric)
            return 0;
    if (add_reading(r, metric, column, unit, text) != 0)
        return -1;
    r->last->readings->odd = true;
    return 0;
}

/* One cell with a metric's value, of which metric is NULL where nothing uses it. */
static int take_cell(struct import_records *r, const struct import_metric *metric, const char *column, const char *unit,
                     const char *text)
{
    if (metric != NULL && metric->unit == IMPORT_TEXT)
        return text[0] == '\0' || strcmp(text, "n/a") == 0 ? 0 : add_reading(r, metric, column, unit, text);
    if (import_number_is_odd(text))
        return take_odd(r, metric, column, unit, text);
    text = without_instances(r, text);
    if (text == NULL)
        return no_memory(r);
    import_numbers_see(&r->table->numbers, text, r->at->line);
    if (metric == NULL)
        return 0;
    if (metric->unit != IMPORT_ANY)
        return add_reading(r, metric, column, unit, text);
    /* once is enough, of the many that a whole set has */
    if (r->last->tensors_seen || strpbrk(text, "123456789") == NULL)
        return 0;
    r->last->tensors_seen = true;
    return add_reading(r, metric, column, unit, text);
}

static void see_name(struct import_records *r, const char *name)
{
    struct import_table *t = r->table;
    if (is_rate(name) && t->rate_seen == NULL)
        t->rate_seen = rl_arena_strdup(r->arena, name);
    for (size_t i = 0; i < t->metrics_seen_count; i++)
        if (strcmp(t->metrics_seen[i], name) == 0)
            return;
    if (t->metrics_seen_count < 6 && (t->metrics_seen[t->metrics_seen_count] = rl_arena_strdup(r->arena, name)) != NULL)
        t->metrics_seen_count++;
}

static int read_long_row(struct import_records *r)
{
    if (import_csv_count(r->csv) <= r->column[COL_VALUE])
        return import_fail_at(r->at, RL_E_IMPORT_FORMAT, "Metric Value",
                              "is not there: the row has %zu fields of %zu; the file is cut, or lost its quotes",
                              import_csv_count(r->csv), r->header_count);
    const char *name = import_csv_field(r->csv, r->column[COL_METRIC]);
    const char *text = import_csv_field(r->csv, r->column[COL_VALUE]);
    if (take_launch(r) != 0)
        return -1;
    if (name[0] == '\0') /* a row of a rule: advice in words */
        return 0;
    see_name(r, name);
    return take_cell(r, import_metric_find(name), "Metric Value", import_csv_field(r->csv, r->column[COL_UNIT]), text);
}

static int read_units(struct import_records *r)
{
    if (import_csv_field(r->csv, r->column[COL_ID])[0] != '\0')
        return import_fail_at(
            r->at, RL_E_IMPORT_FORMAT, "ID",
            "the row below the header has to be that of the units, with no ID; without units a number may be off "
            "by a million");
    for (size_t w = 0; w < r->wide_count; w++) {
        r->wide[w].unit = rl_arena_strdup(r->arena, import_csv_field(r->csv, r->wide[w].index));
        if (r->wide[w].unit == NULL)
            return no_memory(r);
    }
    r->units_read = true;
    r->table->lines.units_wanted = false;
    return 0;
}

/* Below the header again stand the units again. */
static int check_units(struct import_records *r)
{
    for (size_t w = 0; w < r->wide_count; w++)
        if (strcmp(r->wide[w].unit, import_csv_field(r->csv, r->wide[w].index)) != 0)
            return import_fail_at(r->at, RL_E_IMPORT_FORMAT, r->wide[w].name,
                                  "a second row of units has another one here; import the two tables apart");
    return 0;
}

static int read_raw_row(struct import_records *r)
{
    if (!r->units_read)
        return read_units(r);
    if (import_csv_count(r->csv) != r->header_count)
        return import_fail_at(r->at, RL_E_IMPORT_FORMAT, NULL,
                              "the row has %zu fields where the header has %zu; the file is cut, or lost its quotes",
                              import_csv_count(r->csv), r->header_count);
    if (import_csv_field(r->csv, r->column[COL_ID])[0] == '\0')
        return check_units(r);
    if (take_launch(r) != 0)
        return -1;
    for (size_t w = 0; w < r->wide_count; w++) {
        const struct wide *wide = &r->wide[w];
        if (take_cell(r, wide->metric, wide->name, wide->unit, import_csv_field(r->csv, wide->index)) != 0)
            return -1;
    }
    return 0;
}

int import_records_take(struct import_records *r)
{
    if (r->header_count == 0)
        return read_header(r);
    if (import_csv_count(r->csv) > r->header_count)
        return import_fail_at(
            r->at, RL_E_IMPORT_FORMAT, NULL,
            "the row has %zu fields where the header has %zu: its quotes are lost (a spreadsheet does that), so that "
            "commas within names and numbers part fields",
            import_csv_count(r->csv), r->header_count);
    return r->raw ? read_raw_row(r) : read_long_row(r);
}
