/* libcsv's adapter: physical lines in, records out, so that every record knows its line. */
#include "gpu/import/text/csv.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/buf.h"
#include "gpu/import/text/decode.h"

struct import_csv {
    struct csv_parser parser;
    struct rl_buf bytes; /* fields, each ended by NUL */
    size_t *starts;
    size_t count, capacity;
    size_t pending; /* bytes fed to the record that has begun */
    bool complete, failed;
};

struct import_csv *import_csv_new(char delimiter)
{
    struct import_csv *csv = calloc(1, sizeof *csv);
    if (csv == NULL)
        return NULL;
    /* strict: a quote within a field, or text behind a closing quote, is an error and not a guess */
    if (csv_init(&csv->parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        free(csv);
        return NULL;
    }
    csv_set_delim(&csv->parser, (unsigned char)delimiter);
    rl_buf_init(&csv->bytes, 2 * IMPORT_ROW_MAX);
    return csv;
}

void import_csv_free(struct import_csv *csv)
{
    if (csv == NULL)
        return;
    csv_free(&csv->parser);
    rl_buf_free(&csv->bytes);
    free(csv->starts);
    free(csv);
}

static void on_field(void *text, size_t len, void *arg)
{
    struct import_csv *csv = arg;
    if (csv->count == csv->capacity) {
        size_t capacity = csv->capacity > 0 ? 2 * csv->capacity : 64;
        size_t *starts = reallocarray(csv->starts, capacity, sizeof *starts);
        if (starts == NULL) {
            csv->failed = true;
            return;
        }
        csv->starts = starts;
        csv->capacity = capacity;
    }
    csv->starts[csv->count++] = csv->bytes.len;
    if (rl_buf_add(&csv->bytes, text, len) != 0 || rl_buf_add(&csv->bytes, "", 1) != 0)
        csv->failed = true;
}

static void on_record(int terminator, void *arg)
{
    (void)terminator;
    ((struct import_csv *)arg)->complete = true;
}

enum import_csv_step import_csv_line(struct import_csv *csv, const char *line, size_t len)
{
    if (csv->complete || csv->pending == 0) {
        rl_buf_clear(&csv->bytes);
        csv->count = 0;
        csv->complete = false;
    }
    csv->pending += len + 1;
    if (csv->pending > IMPORT_ROW_MAX)
        return IMPORT_CSV_TOO_LONG;
    if (csv_parse(&csv->parser, line, len, on_field, on_record, csv) != len ||
        csv_parse(&csv->parser, "\n", 1, on_field, on_record, csv) != 1)
        return csv_error(&csv->parser) == CSV_EPARSE ? IMPORT_CSV_BROKEN : IMPORT_CSV_NO_MEMORY;
    if (csv->failed)
        return IMPORT_CSV_NO_MEMORY;
    if (!csv->complete)
        return IMPORT_CSV_MORE;
    csv->pending = 0;
    return IMPORT_CSV_ROW;
}

bool import_csv_inside(const struct import_csv *csv)
{
    return !csv->complete && csv->pending > 0;
}

size_t import_csv_count(const struct import_csv *csv)
{
    return csv->count;
}

const char *import_csv_field(const struct import_csv *csv, size_t index)
{
    return index < csv->count ? csv->bytes.data + csv->starts[index] : "";
}
