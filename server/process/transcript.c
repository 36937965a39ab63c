/* Transcript of one measuring process; see server/process/transcript.h. */
#include "server/process/transcript.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/escape.h"
#include "gpu/base/num.h"
#include "gpu/base/time.h"
#include "server/limits/limits.h"

/* One line's share: no single line takes the place of all others. An escaped byte takes four. */
#define LINE_TEXT_BYTES 4000u
#define LINE_BYTES      (4 * LINE_TEXT_BYTES + 128)

int transcript_init(struct transcript *t, int64_t start_ns)
{
    *t = (struct transcript){.start_ns = start_ns, .ring_size = LIMIT_STDERR_BYTES};
    rl_buf_init(&t->text, LIMIT_TRANSCRIPT_BYTES);
    t->ring = malloc(t->ring_size);
    return t->ring == NULL ? -1 : 0;
}

void transcript_fini(struct transcript *t)
{
    rl_buf_free(&t->text);
    free(t->ring);
    t->ring = NULL;
}

void transcript_line(struct transcript *t, const char *kind, const char *text)
{
    struct rl_buf line;
    rl_buf_init(&line, LINE_BYTES);
    double seconds = (double)(rl_monotonic_ns() - t->start_ns) / 1e9;
    rl_buf_printf(&line, "[%9.3f s] %s%s", seconds, kind, kind[0] != '\0' ? ": " : "");
    size_t len = strlen(text);
    text_escape(&line, text, len < LINE_TEXT_BYTES ? len : LINE_TEXT_BYTES, false);
    if (len > LINE_TEXT_BYTES)
        rl_buf_printf(&line, " (%zu more bytes)", len - LINE_TEXT_BYTES);
    rl_buf_puts(&line, "\n");
    if (line.failed || t->dropped_lines > 0 || rl_buf_add(&t->text, line.data, line.len) != 0)
        t->dropped_lines++;
    rl_buf_free(&line);
}

void transcript_output(struct transcript *t, const void *data, size_t len)
{
    const unsigned char *from = data;
    t->ring_total += len;
    for (size_t i = 0; i < len; i++) {
        t->ring[t->ring_at] = from[i];
        t->ring_at = (t->ring_at + 1) % t->ring_size;
    }
}

static int write_output(const struct transcript *t, struct rl_buf *out)
{
    bool wrapped = t->ring_total > t->ring_size;
    int failed = rl_buf_puts(out, "--- standard output and error of the measuring process");
    if (wrapped)
        failed |= rl_buf_printf(out, ", the last %zu of %" PRIu64 " bytes", t->ring_size, t->ring_total);
    failed |= rl_buf_puts(out, " ---\n");
    if (wrapped)
        failed |= text_escape(out, t->ring + t->ring_at, t->ring_size - t->ring_at, true);
    failed |= text_escape(out, t->ring, t->ring_at, true);
    if (out->len > 0 && out->data[out->len - 1] != '\n')
        failed |= rl_buf_puts(out, "\n");
    return failed != 0 ? -1 : 0;
}

int transcript_write(const struct transcript *t, struct rl_buf *out)
{
    int failed = 0;
    if (t->text.len > 0)
        failed |= rl_buf_add(out, t->text.data, t->text.len);
    if (t->dropped_lines > 0)
        failed |=
            rl_buf_printf(out, "--- %" PRIu64 " more lines were dropped: a transcript holds at most %u bytes ---\n",
                          t->dropped_lines, LIMIT_TRANSCRIPT_BYTES);
    if (t->ring_total > 0)
        failed |= write_output(t, out);
    return failed != 0 ? -1 : 0;
}
