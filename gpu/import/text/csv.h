/* CSV: the one user of libcsv. */
#ifndef GPU_IMPORT_TEXT_CSV_H
#define GPU_IMPORT_TEXT_CSV_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
