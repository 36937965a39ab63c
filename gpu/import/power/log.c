/* Power logs: nvidia-smi --query-gpu=timestamp,power.draw --format=csv, with units or without, and nvidia-smi dmon -s
 * p. This file reads lines to samples; what follows from them is in gpu/import/power/energy.c. */
#include "gpu/import/power/log.h"

#include "gpu/import/common/files.h"
#include "gpu/import/common/note.h"
#include "gpu/import/power/energy.h"
#include "gpu/import/text/decode.h"
#include "gpu/import/text/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gpu/base/num.h"
#include "gpu/base/time.h"

#define FIELDS_MAX 64u
#define CELL_MAX   128u

enum column { TIMESTAMP, DATE, TIME, INDEX, UUID, BUS, DEVICE_NAME, POWER, COLUMN_COUNT };

struct reader {
    struct import *import;
    struct import_place at;
    struct import_power *power;
    size_t column[COLUMN_COUNT]; /* index + 1; 0: not there */
    bool dmon, header;
    bool unended;    /* the line has no line end: the last of a file that may be cut */
    size_t cut_line; /* that was left out for it; 0: none */
    char cell[FIELDS_MAX][CELL_MAX];
    size_t cells;
    int64_t day_ms, last_ms; /* of a log with a time and no day */
};

/* ---- cells ---- */

static int add_cell(struct reader *r, const char *text, size_t len)
{
    while (len > 0 && strchr(" \t", text[0]) != NULL)
        text++, len--;
    while (len > 0 && strchr(" \t", text[len - 1]) != NULL)
        len--;
    if (r->cells == FIELDS_MAX || len >= CELL_MAX)
        return import_fail_at(&r->at, RL_E_IMPORT_NOT_POWER, NULL,
                              "has more than %u fields, or one of more than %u bytes, which no power log has",
                              FIELDS_MAX, CELL_MAX - 1);
    memcpy(r->cell[r->cells], text, len);
    r->cell[r->cells++][len] = '\0';
    return 0;
}

/* By commas, or of dmon by blanks. */
static int split(struct reader *r, const char *line, size_t len)
{
    size_t from = 0;
    r->cells = 0;
    if (r->dmon && len > 0 && line[0] == '#')
        from = 1;
    while (from <= len) {
        size_t to = from;
        while (to < len && (r->dmon ? strchr(" \t", line[to]) == NULL : line[to] != ','))
            to++;
        if ((!r->dmon || to > from) && add_cell(r, line + from, to - from) != 0)
            return -1;
        from = to + 1;
    }
    return 0;
}

static const char *cell(const struct reader *r, enum column column)
{
    return r->column[column] != 0 && r->column[column] <= r->cells ? r->cell[r->column[column] - 1] : "";
}

/* ---- the header ---- */

static bool find_columns(struct reader *r)
{
    static const struct {
        enum column column;
        const char *name;
    } names[] = {{TIMESTAMP, "timestamp"},
                 {DATE, "Date"},
                 {TIME, "Time"},
                 {INDEX, "index"},
                 {INDEX, "gpu"},
                 {UUID, "uuid"},
                 {UUID, "gpu_uuid"},
                 {BUS, "pci.bus_id"},
                 {BUS, "gpu_bus_id"},
                 {DEVICE_NAME, "name"},
                 {DEVICE_NAME, "gpu_name"},
                 {POWER, "pwr"},
                 {POWER, "power.draw"},
                 {POWER, "power.draw.average"},
                 {POWER, "power.draw.instant"}};
    memset(r->column, 0, sizeof r->column);
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (size_t i = 0; i < r->cells && r->column[names[n].column] == 0; i++) {
            const char *text = r->cell[i];
            size_t len = strcspn(text, "[");
            while (len > 0 && text[len - 1] == ' ')
                len--;
            if (strlen(names[n].name) == len && memcmp(text, names[n].name, len) == 0)
                r->column[names[n].column] = i + 1;
        }
    return r->column[POWER] != 0;
}

static bool is_missing(const char *text)
{
    return text[0] == '[' || strcmp(text, "-") == 0 || strcmp(text, "N/A") == 0;
}

static bool is_watts(const char *text)
{
    char copy[CELL_MAX];
    double value;
    size_t len = strcspn(text, " ");
    snprintf(copy, sizeof copy, "%.*s", (int)len, text);
    return strcmp(text + len, " W") == 0 && rl_parse_real(copy, &value) == 0;
}

/* "2026/11/30 21:15:46.562", of the log's own clock. */
static int parse_timestamp(const char *text, int64_t *ret)
{
    char copy[CELL_MAX + 2];
    size_t len = strlen(text);
    if (len < 19 || text[4] != '/' || text[7] != '/' || text[10] != ' ')
        return -1;
    snprintf(copy, sizeof copy, "%sZ", text);
    copy[4] = copy[7] = '-';
    copy[10] = 'T';
    return rl_time_parse(copy, ret);
}

/* A log without a header (noheader): a time, and one value in watts, or one value alone. */
static int guess_columns(struct reader *r)
{
    int64_t ms;
    double value;
    size_t watts = 0;
    for (size_t i = 0; i < r->cells; i++) {
        if (parse_timestamp(r->cell[i], &ms) == 0)
            r->column[TIMESTAMP] = i + 1;
        else if (is_watts(r->cell[i]) || (r->cells == 2 && rl_parse_real(r->cell[i], &value) == 0)) {
            r->column[POWER] = i + 1;
            watts++;
        } else if (strncmp(r->cell[i], "GPU-", 4) == 0)
            r->column[UUID] = i + 1;
    }
    if (r->column[TIMESTAMP] == 0 || watts > 1)
        return import_fail_at(&r->at, RL_E_IMPORT_NOT_POWER, NULL,
                              r->column[TIMESTAMP] == 0
                                  ? "is no power log of nvidia-smi: neither its columns timestamp and power.draw nor a "
                                    "time and watts are there"
                                  : "has no header, and more than one column in watts: leave noheader out");
    if (watts == 0 && r->cells >= 2)
        return import_fail_at(&r->at, RL_E_IMPORT_NOT_POWER, NULL,
                              "has no header, and no column in watts can be told: leave noheader out");
    import_note(r->import->run, "the power log has no header: its column %zu is taken for the power", r->column[POWER]);
    return 0;
}

/* ---- samples ---- */

/* The GPU of a line among those seen; -1 when there are too many. */
static int gpu_of(struct reader *r, size_t *ret)
{
    struct import_power *p = r->power;
    const char *index = cell(r, INDEX), *uuid = cell(r, UUID), *bus = cell(r, BUS);
    for (size_t i = 0; i < p->gpu_count; i++)
        if (strcmp(p->gpu[i].index, index) == 0 && strcmp(p->gpu[i].uuid, uuid) == 0 &&
            strcmp(p->gpu[i].bus, bus) == 0) {
            *ret = i;
            return 0;
        }
    if (p->gpu_count == IMPORT_POWER_GPUS)
        return import_fail_at(&r->at, RL_E_TOO_LARGE, NULL, "is of one GPU more than %u", IMPORT_POWER_GPUS);
    struct import_power_gpu *gpu = &p->gpu[p->gpu_count];
    snprintf(gpu->index, sizeof gpu->index, "%.15s", index);
    snprintf(gpu->uuid, sizeof gpu->uuid, "%.79s", uuid);
    snprintf(gpu->bus, sizeof gpu->bus, "%.31s", bus);
    snprintf(gpu->name, sizeof gpu->name, "%.127s", cell(r, DEVICE_NAME));
    *ret = p->gpu_count++;
    return 0;
}

static int read_time(struct reader *r, int64_t *ret)
{
    const char *stamp = cell(r, TIMESTAMP), *date = cell(r, DATE), *time = cell(r, TIME);
    char text[64], quoted[IMPORT_QUOTE];
    int rc = 0;
    if (r->column[TIMESTAMP] != 0) {
        rc = parse_timestamp(stamp, ret);
    } else if (r->column[TIME] != 0) {
        stamp = time;
        if (r->column[DATE] != 0 && strlen(date) == 8)
            snprintf(text, sizeof text, "%.4s-%.2s-%.2sT%.20sZ", date, date + 4, date + 6, time);
        else
            snprintf(text, sizeof text, "2000-01-01T%.20sZ", time);
        rc = rl_time_parse(text, ret);
    }
    if (rc != 0)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, r->column[TIMESTAMP] != 0 ? "timestamp" : "Time",
                              "is \"%s\"; a time as nvidia-smi writes it is expected: the line is cut or damaged",
                              import_quote(quoted, stamp));
    if (r->column[TIMESTAMP] == 0 && r->column[DATE] == 0 && r->column[TIME] != 0) {
        if (*ret + r->day_ms < r->last_ms - 43200000) /* past midnight */
            r->day_ms += 86400000;
        *ret += r->day_ms;
        r->last_ms = *ret;
    }
    return 0;
}

static int add_sample(struct reader *r)
{
    struct import_power *p = r->power;
    struct import_power_sample made = {.line = r->at.line};
    char copy[CELL_MAX], quoted[IMPORT_QUOTE];
    const char *text = cell(r, POWER);
    size_t len = strlen(text);
    if (read_time(r, &made.ms) != 0 || gpu_of(r, &made.gpu) != 0)
        return -1;
    if (is_missing(text)) {
        p->missing++;
        p->missing_line = p->missing == 1 ? r->at.line : p->missing_line;
        return 0;
    }
    snprintf(copy, sizeof copy, "%.*s", (int)(len > 2 && strcmp(text + len - 2, " W") == 0 ? len - 2 : len), text);
    if (rl_parse_real(copy, &made.watts) != 0 || !(made.watts >= 0 && made.watts <= 1e5))
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, "power", "is \"%s\"; watts from 0 to 100000 are expected",
                              import_quote(quoted, text));
    if (p->count == p->capacity) {
        size_t capacity = p->capacity > 0 ? 2 * p->capacity : 256;
        struct import_power_sample *samples = reallocarray(p->samples, capacity, sizeof *samples);
        if (samples == NULL)
            return rl_fail(r->import->err, RL_E_NO_MEMORY, "power", "no memory for the power log");
        p->samples = samples;
        p->capacity = capacity;
    }
    p->samples[p->count++] = made;
    return 0;
}

/* ---- the file ---- */

static int take_line(struct reader *r, const char *line, size_t len)
{
    if (!r->header && len > 0 && line[0] == '#')
        r->dmon = true;
    if (split(r, line, len) != 0)
        return -1;
    if (r->dmon && line[0] == '#') { /* two lines, again every 20 samples; the second has units */
        r->header = r->header || find_columns(r);
        return 0;
    }
    if (!r->header) {
        r->header = true;
        if (find_columns(r))
            return 0;
        memset(r->column, 0, sizeof r->column);
        if (guess_columns(r) != 0)
            return -1;
    }
    if (strcmp(cell(r, TIMESTAMP), "timestamp") == 0) /* the header again: logs one after the other */
        return 0;
    if (r->unended && !(r->cells == r->column[POWER] && is_watts(cell(r, POWER)))) {
        r->cut_line = r->at.line; /* "12" may be the beginning of "123.00 W"; behind its unit the power is whole */
        return 0;
    }
    if (r->cells < r->column[POWER] || r->cells < r->column[TIMESTAMP])
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL, "has %zu fields, and its power is field %zu: it is cut",
                              r->cells, r->column[POWER]);
    return add_sample(r);
}

static int read_lines(struct reader *r, const struct import_text *text)
{
    const char *line;
    size_t at = 0, len;
    while (import_text_line(text, &at, &line, &len)) {
        size_t blanks = 0;
        r->at.line++;
        while (blanks < len && strchr(" \t", line[blanks]) != NULL)
            blanks++;
        r->unended = at == text->len && line[len] != '\n';
        if (blanks < len && take_line(r, line, len) != 0)
            return -1;
    }
    r->at.line = 0;
    if (!r->header || r->column[POWER] == 0)
        return import_fail_at(&r->at, RL_E_IMPORT_NOT_POWER, NULL, "has no line of a power log");
    if (r->cut_line > 0)
        import_note(r->import->run, "line %zu of the power log has no line end: it may be cut, and is left out",
                    r->cut_line);
    if (r->power->count > 0)
        return 0;
    if (r->power->missing > 0)
        return import_fail_at(
            &r->at, RL_E_IMPORT_NOT_POWER, NULL,
            "has no power: it is not available in any of %zu lines, the first line %zu (a MIG or vGPU "
            "device reports none)",
            r->power->missing, r->power->missing_line);
    r->at.line = r->cut_line;
    return import_fail_at(&r->at, RL_E_IMPORT_NOT_POWER, NULL,
                          r->cut_line > 0 ? "has no line end, so that it may be cut, and no other line has a sample"
                                          : "has a header and no sample");
}

int import_power(struct import *import, const struct import_file *file)
{
    struct import_power power = {.file = file};
    struct reader r = {.import = import, .at = {import->err, file, 0}, .power = &power};
    struct import_text text = {0};
    char format[160];
    int rc = import_text_decode(file, &text, import->err);
    if (rc != 0 && import->err->code == RL_E_IMPORT_OTHER_FILE)
        import->err->code = RL_E_IMPORT_NOT_POWER;
    if (rc == 0)
        rc = read_lines(&r, &text);
    power.source = r.dmon ? "nvidia-smi dmon" : "nvidia-smi --query-gpu";
    power.timed = r.column[TIMESTAMP] != 0 || r.column[TIME] != 0;
    power.dated = r.column[TIMESTAMP] != 0 || r.column[DATE] != 0;
    power.told = r.column[INDEX] != 0 || r.column[UUID] != 0 || r.column[BUS] != 0;
    if (rc == 0)
        rc = import_energy(import, &power);
    snprintf(format, sizeof format, "power log of %s, %s, %zu samples", power.source,
             text.encoding != NULL ? text.encoding : "", power.count);
    free(power.samples);
    free(text.data);
    return rc == 0 ? import_add_file(import, file, format) : -1;
}
