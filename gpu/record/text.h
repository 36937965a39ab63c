/* A run for people: the seed's table, and CSV. Locale-independent. */
#ifndef RL_RECORD_TEXT_H
#define RL_RECORD_TEXT_H

#include "base/buf.h"
#include "record/record.h"

/* The ten-row table of one state: a head that says source, device, driver, CUDA, date, state, copy ceiling and ridge, then
 * kernel, ask MB, L1 MB, L2 MB, DRAM MB, DRAM/ask (four decimals), %ceil; MB is 10^6 bytes. Unknown is "-", its
 * reasons stand below. Cold DRAM/ask is of settled bytes. 0, or -1 when out is full. */
int rl_table_write(const struct rl_run *run, enum rl_state state, struct rl_buf *out);
/* RFC 4180 CSV: one line per kernel and state, full precision, empty field for unknown. Cells that a spreadsheet would
 * run as a formula (leading = + - @ tab CR in text) get a leading apostrophe. */
int rl_csv_write(const struct rl_run *run, struct rl_buf *out);

#endif
