/* The rows of the runs of one side, read run by run. */
#ifndef DB_HISTORY_OBSERVATION_ROWS_H
#define DB_HISTORY_OBSERVATION_ROWS_H

#include <math.h>

#include "db/core/statement.h"
#include "db/history/observations.h"

struct observation_reader;
/* Of one side: its kernels are looked up (RL_E_NOT_FOUND). What it reads lies in arena. */
int store_observation_reader_new(struct store *store, const struct store_side *side, struct rl_arena *arena,
                                 struct observation_reader **ret, struct rl_err *err);
void store_observation_reader_free(struct observation_reader *reader);        /* accepts NULL */
size_t store_observation_name_bytes(const struct observation_reader *reader); /* of the names read so far */
/* Fills rows and row_count of a draw whose run and source are known. */
int store_read_observation_rows(struct observation_reader *reader, struct store_observation *draw, struct rl_err *err);

static inline double observation_real_at(struct stmt *stmt, int column)
{
    double value =
        sqlite3_column_double(stmt->handle, column); /* of NULL: 0; to ask the type of each takes as long again */

    return value == 0 && sqlite3_column_type(stmt->handle, column) == SQLITE_NULL ? NAN : value;
}

static inline int64_t observation_int_at(struct stmt *stmt, int column)
{
    int64_t value = sqlite3_column_int64(stmt->handle, column);

    return value == 0 && sqlite3_column_type(stmt->handle, column) == SQLITE_NULL ? -1 : value;
}

#endif
