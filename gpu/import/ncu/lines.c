/* Lines of a counter file that are not plainly a row: the profiler's messages, the program's own output, and rows that
 * a progress line without an end, or mpirun's tags, were put before. Where rows are in quotes, one can be told from
 * what stands beside it; a row that cannot be told whole is an error, and never left out. */
#include "gpu/import/ncu/lines.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gpu/import/common/note.h"
#include "gpu/import/text/message.h"

#define STARTS_MAX 64 /* in one line: each is scanned to its end */
#define TAG_MAX    128

/* ---- rows ---- */

struct span {
    size_t begin, end; /* of the row in the line; end is behind its last quote */
    size_t fields;
    bool open; /* its last field goes on in the next line */
};

/* The row of quoted fields that begins at line[at]. */
static struct span scan(const struct import_lines *l, const char *line, size_t len, size_t at)
{
    struct span span = {.begin = at, .end = at};
    while (at < len && line[at] == '"') {
        for (at++; at < len && (line[at] != '"' || (at + 1 < len && line[at + 1] == '"')); at++)
            at += line[at] == '"';
        span.fields++;
        span.open = at >= len;
        span.end = at = span.open ? len : at + 1;
        if (at >= len || line[at] != l->delimiter || span.fields > IMPORT_COLUMNS_MAX)
            break;
        at++;
        if (at == len) { /* a last field that is empty, and not in quotes */
            span.fields++;
            span.end = len;
        }
    }
    return span;
}

static bool is_whole(const struct import_lines *l, const struct span *span)
{
    return span->open || (span->fields >= l->least && span->fields <= l->most);
}

/* Whether a row may begin at line[at]: with an ID, or, as that of the units, without one; or the header again. */
static bool begins_row(const struct import_lines *l, const char *line, size_t len, size_t at)
{
    size_t i = at + 1;
    if (line[at] != '"')
        return false;
    while (i < len && line[i] >= '0' && line[i] <= '9')
        i++;
    if (i == at + 1 && len - i >= 2 && memcmp(line + i, "ID", 2) == 0)
        i += 2;
    else if (i == at + 1 && !l->units_wanted)
        return false;
    return i + 2 < len && line[i] == '"' && line[i + 1] == l->delimiter && line[i + 2] == '"';
}

/* A whole line of JSON has such joints of its own. */
static bool is_json(const char *line, size_t len)
{
    return len > 1 && ((line[0] == '{' && line[len - 1] == '}') || (line[0] == '[' && line[len - 1] == ']'));
}

/* Two joints of quoted fields and more look like a row. */
static bool looks_like_piece(const struct import_lines *l, const char *line, size_t len)
{
    size_t joints = 0;
    for (size_t i = 0; i + 2 < len; i++)
        joints += line[i] == '"' && line[i + 1] == l->delimiter && line[i + 2] == '"';
    return joints >= 2;
}

static bool is_blank(const char *text, size_t len)
{
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    return len == 0;
}

static bool is_banner(const char *line, size_t len)
{
    return len >= 2 && line[0] == '=' && line[1] == '=';
}

/* What stands behind a row: a message of the profiler, or output without quotes. Another quote may belong to the row.
 */
static bool tail_is_fine(const struct import_lines *l, const char *tail, size_t len)
{
    if (len > 0 && *tail == l->delimiter) /* another field, which lost its quotes */
        return false;
    while (len > 0 && *tail == ' ') {
        tail++;
        len--;
    }
    return is_banner(tail, len) || memchr(tail, '"', len) == NULL;
}

static enum import_line_kind take_row(struct import_lines *l, const char *line, size_t len, const struct span *span,
                                      size_t number, struct import_line *ret)
{
    size_t behind = len - span->end;
    if (!span->open && !tail_is_fine(l, line + span->end, behind))
        return IMPORT_LINE_PIECE;
    if (!is_blank(line, span->begin) || !is_blank(line + span->end, behind)) {
        if (l->glued++ == 0)
            l->glued_line = number;
        import_lines_message(l, line, span->begin, number);
        import_lines_message(l, line + span->end, behind, number);
    }
    *ret = (struct import_line){line + span->begin, span->end - span->begin};
    return IMPORT_LINE_ROW;
}

enum import_line_kind import_lines_judge(struct import_lines *l, const char *line, size_t len, size_t number,
                                         struct import_line *ret)
{
    size_t starts = 0;
    bool banner = is_banner(line, len);
    *ret = (struct import_line){line, len};
    if (is_blank(line, len))
        return IMPORT_LINE_OTHER;
    if (!l->quoted) {
        if (!banner)
            return IMPORT_LINE_ROW;
        import_lines_message(l, line, len, number);
        return IMPORT_LINE_OTHER;
    }
    if (line[0] == '"') {
        struct span span = scan(l, line, len, 0);
        /* what else is wrong with it the reader of CSV tells */
        return span.end < len && is_whole(l, &span) && line[span.end] != l->delimiter
                   ? take_row(l, line, len, &span, number, ret)
                   : IMPORT_LINE_ROW;
    }
    for (size_t at = 1; at < len; at++) {
        if (!begins_row(l, line, len, at))
            continue;
        struct span span = scan(l, line, len, at);
        if (++starts > STARTS_MAX)
            return IMPORT_LINE_PIECE;
        if (is_whole(l, &span))
            return take_row(l, line, len, &span, number, ret);
    }
    if (!is_json(line, len) && (starts > 0 || (!banner && looks_like_piece(l, line, len))))
        return IMPORT_LINE_PIECE;
    import_lines_message(l, line, len, number);
    if (!banner && l->output++ == 0)
        l->output_line = number;
    return IMPORT_LINE_OTHER;
}

size_t import_lines_header(const char *line, size_t len, char *ret_delimiter)
{
    for (size_t at = 0; at + 12 < len; at++) {
        bool quoted = line[at] == '"';
        size_t behind = at + (quoted ? 4 : 2);
        if (memcmp(line + at, quoted ? "\"ID\"" : "ID", quoted ? 4 : 2) != 0)
            continue;
        if (strchr(",;\t", line[behind]) == NULL || line[behind] == '\0' ||
            memmem(line + behind, len - behind, "Kernel Name", 11) == NULL)
            continue;
        /* without quotes the name of another column may end in ID */
        if (!quoted && at > 0 && memcmp(line + behind + 1, "Process ID", 10) != 0 && !is_blank(line, at))
            continue;
        *ret_delimiter = line[behind];
        return at;
    }
    return SIZE_MAX;
}

size_t import_lines_header_end(const struct import_lines *l, const char *line, size_t len)
{
    struct span span = scan(l, line, len, 0);
    return line[0] == '"' && !span.open && tail_is_fine(l, line + span.end, len - span.end) ? span.end : len;
}

/* ---- the profiler's errors ---- */

static const char *find_word(const char *line, size_t len, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= len; i++)
        if (strncasecmp(line + i, word, length) == 0)
            return line + i;
    return NULL;
}

/* The kernel that `Failed to profile "NAME" in process 7` names; NULL when it names none. */
static const char *failed_kernel(struct import_lines *l, const char *line, size_t len)
{
    const char *at = find_word(line, len, "failed to profile");
    if (at == NULL)
        return NULL;
    const char *open = memchr(at, '"', (size_t)(line + len - at));
    const char *close = open == NULL ? NULL : memchr(open + 1, '"', (size_t)(line + len - open - 1));
    if (close != NULL)
        return rl_arena_printf(l->arena, "%.*s", (int)(close - open - 1), open + 1);
    at += strlen("failed to profile");
    const char *in = find_word(at, (size_t)(line + len - at), " in process");
    size_t name = (size_t)((in != NULL ? in : line + len) - at);
    size_t blanks = strspn(at, " ");
    if (blanks + 7 < name && strncmp(at + blanks, "kernel ", 7) == 0)
        blanks += 7;
    return name > blanks ? rl_arena_printf(l->arena, "%.*s", (int)(name - blanks), at + blanks) : NULL;
}

void import_lines_message(struct import_lines *l, const char *line, size_t len, size_t number)
{
    static const char *const words[] = {"==ERROR==", "failed to profile", "LaunchFailed", "Profiling failed because"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && found == NULL; i++)
        found = find_word(line, len, words[i]);
    if (found == NULL)
        return;
    if (l->trouble_count == IMPORT_TROUBLES_MAX) {
        l->trouble_more++;
        return;
    }
    size_t rest = (size_t)(line + len - found);
    if (rest > 9 && strncmp(found, "==ERROR==", 9) == 0) {
        found += 9;
        rest -= 9;
    }
    while (rest > 0 && *found == ' ') {
        found++;
        rest--;
    }
    struct import_trouble *trouble = &l->troubles[l->trouble_count++];
    *trouble = (struct import_trouble){.line = number, .kernel = failed_kernel(l, found, rest)};
    snprintf(trouble->text, sizeof trouble->text, "%.*s", (int)(rest < 150 ? rest : 150), found);
}

static void tell_troubles(struct rl_run *run, const struct import_lines *l)
{
    char one[IMPORT_QUOTE], two[IMPORT_WORDS];
    for (size_t i = 0; i < l->trouble_count; i++) {
        const struct import_trouble *trouble = &l->troubles[i], *next = i + 1 < l->trouble_count ? trouble + 1 : NULL;
        /* the reason stands in the line before the kernel's */
        bool reason =
            trouble->kernel == NULL && next != NULL && next->kernel != NULL && next->line <= trouble->line + 2;
        if (reason)
            import_note(run, "the profiler did not profile \"%s\" (line %zu of the counter file): %s",
                        import_quote(one, next->kernel), next->line, import_words(two, trouble->text));
        else if (trouble->kernel != NULL)
            import_note(run, "the profiler did not profile \"%s\" (line %zu of the counter file)",
                        import_quote(one, trouble->kernel), trouble->line);
        else
            import_note(run, "the profiler reports in line %zu of the counter file: %s", trouble->line,
                        import_words(two, trouble->text));
        i += reason;
    }
    if (l->trouble_more > 0)
        import_note(run, "%zu more errors of the profiler stand in the counter file", l->trouble_more);
}

void import_lines_tell(struct rl_run *run, const struct import_lines *l)
{
    tell_troubles(run, l);
    if (l->output > 0)
        import_note(run,
                    "%zu line%s of the counter file after its header %s not the profiler's and %s passed over, the "
                    "first in line %zu",
                    l->output, l->output == 1 ? "" : "s", l->output == 1 ? "is" : "are",
                    l->output == 1 ? "was" : "were", l->output_line);
    if (l->glued > 0)
        import_note(run,
                    "%zu row%s of the counter file %s in one line with other text, which was taken off, the first in "
                    "line %zu",
                    l->glued, l->glued == 1 ? "" : "s", l->glued == 1 ? "stands" : "stand", l->glued_line);
    if (l->tagged)
        import_note(run, "the tag of mpirun (--tag-output) was taken off each line");
}

/* ---- mpirun's tags ---- */

/* "[1,0]<stdout>:" at the line's begin, with the blank that newer versions put behind it; 0: none. */
static size_t tag_length(const char *line, size_t len)
{
    static const char *const streams[] = {"]<stdout>:", "]<stderr>:", "]<stddiag>:"};
    size_t most = len < TAG_MAX ? len : TAG_MAX;
    if (len == 0 || line[0] != '[')
        return 0;
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        const char *found = memmem(line, most, streams[i], strlen(streams[i]));
        if (found == NULL)
            continue;
        size_t tag = (size_t)(found - line) + strlen(streams[i]);
        return tag < len && line[tag] == ' ' ? tag + 1 : tag;
    }
    return 0;
}

size_t import_lines_tag(const struct import_lines *l, const char *line, size_t len)
{
    return l->tagged ? tag_length(line, len) : 0;
}

int import_lines_find_tags(struct import_lines *l, const struct import_file *file, const struct import_text *text,
                           struct rl_err *err)
{
    size_t at = 0, len, number = 0, tagged = 0, all = 0, header_line = 0;
    const char *line;
    char delimiter;
    while (import_text_line(text, &at, &line, &len)) {
        number++;
        size_t tag = tag_length(line, len);
        all += len > 0;
        tagged += tag > 0;
        if (tag > 0 && header_line == 0 && import_lines_header(line + tag, len - tag, &delimiter) != SIZE_MAX)
            header_line = number;
    }
    if (header_line > 0 && tagged < all) {
        struct import_source source = {import_kind_name(file->kind), file->name, header_line, NULL};
        return import_fail(
            err, RL_E_IMPORT_OTHER_FILE, &source,
            "has a tag of mpirun before the table's header, and other lines have none: run mpirun without "
            "--tag-output, or let each rank write a file of its own (ncu --log-file)");
    }
    l->tagged = header_line > 0;
    return 0;
}
