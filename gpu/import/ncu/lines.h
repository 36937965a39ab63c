/* The lines of a counter file that are the table's, and those beside it. */
#ifndef GPU_IMPORT_NCU_LINES_H
#define GPU_IMPORT_NCU_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/import/common/state.h"
#include "gpu/import/text/decode.h"

#define IMPORT_COLUMNS_MAX 8192u /* the raw page of a whole set has some 500 */

#define IMPORT_TROUBLES_MAX 16u
struct import_trouble { /* an error of the profiler that stands beside the table */
    size_t line;
    const char *kernel; /* that it names as not profiled, or NULL */
    char text[160];
};
/* How rows look, and what was found beside them. */
struct import_lines {
    struct rl_arena *arena;
    char delimiter;
    bool quoted;        /* the header's fields are in quotes, and so are those of every row */
    bool units_wanted;  /* the row of units, which has no ID, is still to come */
    bool tagged;        /* mpirun's tag stands before every line */
    size_t least, most; /* fields of a row */
    size_t output, output_line, glued, glued_line; /* lines that are not the profiler's; rows beside text; the first */
    struct import_trouble troubles[IMPORT_TROUBLES_MAX];
    size_t trouble_count, trouble_more;
};
struct import_line {
    const char *text;
    size_t len;
};
enum import_line_kind {
    IMPORT_LINE_ROW,   /* *ret is the row, or the header again, without what stood beside it */
    IMPORT_LINE_OTHER, /* a message, output, nothing: remembered for import_lines_tell */
    IMPORT_LINE_PIECE  /* a row seems to be in it, and cannot be told whole */
};
/* Of a line outside of records, behind the header. */
enum import_line_kind import_lines_judge(struct import_lines *lines, const char *line, size_t len, size_t number,
                                         struct import_line *ret);
/* Where the table's header begins in the line, or SIZE_MAX; its delimiter. */
size_t import_lines_header(const char *line, size_t len, char *ret_delimiter);
/* Length of the header that line begins with. */
size_t import_lines_header_end(const struct import_lines *lines, const char *line, size_t len);
/* Remembers the profiler's error in the text, if it has one. */
void import_lines_message(struct import_lines *lines, const char *line, size_t len, size_t number);
/* Whether mpirun's tag stands before all lines; RL_E_IMPORT_OTHER_FILE when it stands before the header and not before
 * all of them. */
int import_lines_find_tags(struct import_lines *lines, const struct import_file *file, const struct import_text *text,
                           struct rl_err *err);
size_t import_lines_tag(const struct import_lines *lines, const char *line, size_t len); /* bytes of the line's tag */
void import_lines_tell(struct rl_run *run, const struct import_lines *lines);            /* notes of all that */

#endif
