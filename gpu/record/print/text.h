/* A run for people: the ten-row table, and CSV. Locale-independent. */
#ifndef RL_RECORD_TEXT_H
#define RL_RECORD_TEXT_H

#include "gpu/base/buf.h"
#include "gpu/record/run.h"

/* The ten-row table of one state. A head says what the run is: a replayed one with the recording's time and an imported
 * one say so in the first line, a refused or partial one why; then device, driver, CUDA, date, sizes, state; copy
 * ceiling, FMA ceiling and their quotient, the ridge (a cold table's is of the cold copy; the run's own member is of
 * the warm one). Columns: kernel, ask MB, L1 MB, L2 MB (lts__t_bytes, all units), DRAM MB, DRAM/ask (four decimals),
 * %ceil; MB is 10^6 bytes. When cold, DRAM MB and DRAM/ask are settled bytes and %ceil is of what moved during the
 * launch; a line says so. A state that no row has gives no rows, and a line that names
 * those there are. Where no row has bytes of any level the columns are kernel, ask MB, time us (the median), ask
 * GB/s, GFLOP/s, and a line says that asked bytes over time is not DRAM traffic. Unknown is "-"; below stand the
 * reasons, each once with the cells that it covers ("every row" where it covers the same of each; a table of times also
 * has those of the bytes that it does not show), the flags of each row, and the checks that did not pass. 0, or -1 when
 * out is full (out->failed). */
int rl_table_write(const struct rl_run *run, enum rl_state state, struct rl_buf *out);
/* RFC 4180 CSV (CRLF): a head line, then one line per kernel and state, full precision, empty field for unknown; the
 * run's source, recorded_at, device, driver, CUDA runtime, date, suite and sizes lead each line. Cells that a
 * spreadsheet would run as a formula (leading = + - @ tab CR in text) get a leading apostrophe. */
int rl_csv_write(const struct rl_run *run, struct rl_buf *out);

#endif
