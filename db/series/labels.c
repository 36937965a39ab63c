/* Labels: what a run was made for, in its sender's own words. */
#include "db/series/labels.h"

#include <string.h>

#include "db/core/statement.h"
#include "db/series/select.h"

int store_has_label(struct store *store, int64_t run_id, const char *label, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_RUN_LABEL);
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading a run's label");
    if (rc == 1) {
        const char *has = (const char *)sqlite3_column_text(stmt.handle, 0);

        rc = has != NULL && strcmp(has, label) == 0;
    }
    stmt_end(&stmt);
    return rc;
}

/* The words that the series of the label have in these columns. */
static const int columns[] = {SERIES_DEVICE, SERIES_SUITE, SERIES_SIZES};
#define COLUMNS 3

struct common {
    struct selection series;
    const struct series_row *first;
    size_t counts[COLUMNS]; /* 0, 1, or 2 for several */
};

static void take_series(struct common *common, int64_t id)
{
    const struct series_row *row = store_selection_find(&common->series, id);

    if (row == NULL)
        return;
    if (common->first == NULL)
        common->first = row;
    for (int i = 0; i < COLUMNS; i++) {
        if (common->counts[i] == 0 || row->words[columns[i]] != common->first->words[columns[i]])
            common->counts[i]++;
    }
}

/* One index seek for each series that has the label. */
static int find_series(struct store *store, const char *label, struct common *common, struct rl_err *err)
{
    int64_t after = 0;
    int rc = 1;

    while (rc == 1) {
        struct stmt stmt = stmt_start(store, STMT_LABEL_NEXT_SERIES);

        stmt_text(&stmt, ":label", label);
        stmt_int(&stmt, ":after", after);
        rc = stmt_step(&stmt, err, "looking for a label");
        if (rc == 1)
            after = sqlite3_column_int64(stmt.handle, 0);
        stmt_end(&stmt);
        if (rc == 1)
            take_series(common, after);
    }
    return rc;
}

int store_label_find(struct store *store, const char *label, const char *source, struct store_label_common *ret,
                     struct rl_err *err)
{
    const char *words[SERIES_WORDS] = {[SERIES_SOURCE] = source, [SERIES_OUTCOME] = "ok"};
    struct common common = {.first = NULL};
    const char *has[COLUMNS] = {NULL};
    int rc;

    if (store_select(store, words, INT64_MIN, INT64_MAX, &common.series, err) < 0)
        return -1;
    rc = find_series(store, label, &common, err);
    for (int i = 0; rc == 0 && i < COLUMNS; i++) {
        if (common.counts[i] == 1)
            has[i] = store_series_word(store, common.first, columns[i]);
    }
    store_selection_fini(&common.series);
    if (rc == 0)
        *ret = (struct store_label_common){.device = has[0],
                                           .suite = has[1],
                                           .sizes = has[2],
                                           .devices = common.counts[0],
                                           .suites = common.counts[1],
                                           .size_names = common.counts[2]};
    return rc;
}
