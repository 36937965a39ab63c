/* Records of a counter file: its header, then a metric or a launch each. */
#ifndef GPU_IMPORT_NCU_RECORDS_H
#define GPU_IMPORT_NCU_RECORDS_H

#include "gpu/import/ncu/table.h"
#include "gpu/import/text/csv.h"
#include "gpu/import/text/message.h"

struct import_records;
/* Reads csv's records into the table: the first is the header. All three are the caller's and stay as long as it; its
 * own memory is the table's arena's. NULL when that ran out. */
struct import_records *import_records_new(const struct import_place *at, struct import_table *table,
                                          const struct import_csv *csv);
/* Takes the record that stands in the CSV, which began at the place's line. Errors name line and column. */
int import_records_take(struct import_records *records);

#endif
