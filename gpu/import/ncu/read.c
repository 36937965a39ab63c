/* Reading Nsight Compute's CSV: the table's lines among banners and program output before, between and after. */
#include "gpu/import/ncu/read.h"

#include <string.h>

#include "gpu/import/ncu/records.h"
#include "gpu/import/ncu/refuse.h"
#include "gpu/import/text/csv.h"
#include "gpu/import/text/message.h"

struct reader {
    struct import_place at; /* its line: where the record being read began */
    struct import_table *table;
    struct import_csv *csv;
    struct import_records *records;
    const char *header; /* the line itself: the same again is no data */
    size_t header_len, header_line;
};

static int no_memory(struct reader *r)
{
    return rl_fail(r->at.err, RL_E_NO_MEMORY, import_kind_name(r->at.file->kind),
                   "the counter file holds more than fits in the memory of an import");
}

/* The header again, as each rank and each export in a file of several has it, is no row. */
static int is_header_again(struct reader *r, const struct import_line *line, bool *ret)
{
    char delimiter;
    bool begins = (line->len > 4 && memcmp(line->text, "\"ID\"", 4) == 0) || memcmp(line->text, "ID", 2) == 0;
    *ret = begins && import_lines_header(line->text, line->len, &delimiter) == 0;
    if (!*ret || (line->len == r->header_len && memcmp(line->text, r->header, line->len) == 0))
        return 0;
    return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL,
                          "a second table begins here with other columns than that of line %zu; import them apart",
                          r->header_line);
}

/* The line with the table's header, behind what may stand before it. */
static int begin_table(struct reader *r, const char *line, size_t len, size_t number, struct import_line *ret,
                       bool *found)
{
    struct import_lines *lines = &r->table->lines;
    char delimiter = 0;
    size_t at = import_lines_header(line, len, &delimiter);
    *found = at != SIZE_MAX;
    if (!*found) {
        import_lines_message(lines, line, len, number);
        return 0;
    }
    lines->delimiter = r->table->delimiter = delimiter;
    lines->quoted = line[at] == '"';
    *ret = (struct import_line){line + at, import_lines_header_end(lines, line + at, len - at)};
    if ((r->csv = import_csv_new(delimiter)) == NULL ||
        (r->records = import_records_new(&r->at, r->table, r->csv)) == NULL)
        return no_memory(r);
    r->header = ret->text;
    r->header_len = ret->len;
    r->header_line = number;
    return 0;
}

/* What of the line is the table's: all of it within a record, else what import_lines_judge leaves; nothing where
 * *ret_row is false. */
static int find_row(struct reader *r, const char *line, size_t len, size_t number, struct import_line *ret,
                    bool *ret_row)
{
    *ret = (struct import_line){line, len};
    *ret_row = true;
    if (r->csv != NULL && import_csv_inside(r->csv))
        return 0;
    size_t blanks = import_lines_tag(&r->table->lines, line, len);
    while (blanks < len && (line[blanks] == ' ' || line[blanks] == '\t'))
        blanks++;
    line += blanks;
    len -= blanks;
    r->at.line = number;
    if (r->csv == NULL)
        return begin_table(r, line, len, number, ret, ret_row);
    switch (import_lines_judge(&r->table->lines, line, len, number, ret)) {
    case IMPORT_LINE_PIECE:
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL,
                              "holds what looks like a piece of a row, beside other text or cut: let the program write "
                              "elsewhere (ncu --log-file FILE), or part the two by hand");
    case IMPORT_LINE_OTHER:
        *ret_row = false;
        return 0;
    case IMPORT_LINE_ROW:
        break;
    }
    bool again = false;
    if (is_header_again(r, ret, &again) != 0)
        return -1;
    *ret_row = !again;
    return 0;
}

static int read_line(struct reader *r, const struct import_line *line, size_t number)
{
    switch (import_csv_line(r->csv, line->text, line->len)) {
    case IMPORT_CSV_ROW:
        return import_records_take(r->records);
    case IMPORT_CSV_MORE:
        break;
    case IMPORT_CSV_BROKEN:
        r->at.line = number;
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL,
                              "a quote stands where none may: inside a field, or before text");
    case IMPORT_CSV_TOO_LONG:
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL,
                              "a record of over %zu bytes begins here: a quote is not closed", IMPORT_ROW_MAX);
    case IMPORT_CSV_NO_MEMORY:
        return no_memory(r);
    }
    return 0;
}

static int read_lines(struct reader *r, const struct import_text *text)
{
    const char *line;
    size_t at = 0, len, number = 0;
    while (import_text_line(text, &at, &line, &len)) {
        struct import_line row;
        bool is_row;
        number++;
        if (len > IMPORT_ROW_MAX) {
            r->at.line = number;
            return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL, "the line has %zu bytes; at most %zu are read", len,
                                  IMPORT_ROW_MAX);
        }
        if (find_row(r, line, len, number, &row, &is_row) != 0 || (is_row && read_line(r, &row, number) != 0))
            return -1;
    }
    if (r->csv != NULL && import_csv_inside(r->csv))
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL, "the file ends within a quoted field: it is cut");
    return 0;
}

int import_table_read(const struct import_file *file, const struct import_text *text, struct import_table *table,
                      struct rl_err *err)
{
    struct reader r = {.at = {err, file, 0}, .table = table};
    table->name = file->name;
    import_numbers_begin(&table->numbers);
    /* ncu 2025.3 with --cache-control none; with its default it says nothing */
    table->uncontrolled = memmem(text->data, text->len, "uncontrolled GPU caches", 23) != NULL;
    table->lines.arena = table->arena;
    if (import_lines_find_tags(&table->lines, file, text, err) != 0)
        return -1;
    int rc = read_lines(&r, text);
    bool found = r.csv != NULL;
    import_csv_free(r.csv);
    if (rc != 0)
        return -1;
    if (!found)
        return import_refuse(file, text, err);
    r.at.line = r.header_line;
    if (table->launch_count == 0)
        return import_fail_at(&r.at, RL_E_IMPORT_NO_KERNELS, NULL, "the table has no launch");
    return 0;
}
