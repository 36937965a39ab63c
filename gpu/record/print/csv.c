/* A run as CSV: one line per kernel and state, for spreadsheets and data frames. */
#include <inttypes.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/base/time.h"
#include "gpu/record/print/text.h"

struct line {
    const struct rl_run *run;
    const struct rl_row *row;
    const struct rl_row_state *s;
    enum rl_state state;
};

static void add_text(struct rl_buf *out, const char *text)
{
    /* A spreadsheet runs such a cell as a formula; the apostrophe makes it text. */
    bool formula = text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
    bool quote = strpbrk(text, ",\"\r\n") != NULL;
    rl_buf_puts(out, quote ? "\"" : "");
    rl_buf_puts(out, formula ? "'" : "");
    for (const char *c = text; *c != '\0'; c++)
        rl_buf_add(out, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    rl_buf_puts(out, quote ? "\"" : "");
}

static void add_nullable_text(struct rl_buf *out, struct rl_text text)
{
    if (text.why == NULL && text.value != NULL)
        add_text(out, text.value);
}

static void add_real(struct rl_buf *out, struct rl_real real)
{
    char text[RL_REAL_TEXT];
    if (rl_is_known(real) && rl_format_real(text, sizeof text, real.value) > 0)
        rl_buf_puts(out, text);
}

static void add_count(struct rl_buf *out, struct rl_count count)
{
    if (count.why == NULL)
        rl_buf_printf(out, "%" PRId64, count.value);
}

static void add_words(struct rl_buf *out, const struct rl_strings *words)
{
    struct rl_buf text;
    rl_buf_init(&text, out->max);
    for (size_t i = 0; i < words->count; i++)
        rl_buf_printf(&text, "%s%s", i > 0 ? " " : "", words->items[i]);
    add_text(out, text.data != NULL ? text.data : "");
    out->failed = out->failed || text.failed;
    rl_buf_free(&text);
}

static void add_time(struct rl_buf *out, int64_t ms)
{
    char text[RL_TIME_TEXT];
    if (ms == 0)
        return;
    rl_time_format(ms, text);
    rl_buf_puts(out, text);
}

/* clang-format off */
/* One function a column: what it writes into a cell of the line. */
#define CELL(name, code) static void cell_##name(struct rl_buf *out, const struct line *l) { code; }
#define REALS(X)                                                                                                       \
    X(flop_counted, l->row->flop_counted) X(time_median_s, l->s->time_s.median)                                        \
    X(time_p25_s, l->s->time_s.p25) X(time_p75_s, l->s->time_s.p75)                                                    \
    X(time_min_s, l->s->time_s.min) X(time_std_error_s, l->s->time_s.std_error)                                        \
    X(l1_bytes, l->s->bytes.l1) X(l2_bytes, l->s->bytes.l2)                                                            \
    X(l2_sm_bytes, l->s->bytes.l2_sm) X(dram_bytes, l->s->bytes.dram)                                                  \
    X(dram_read_bytes, l->s->bytes.dram_read) X(dram_write_bytes, l->s->bytes.dram_write)                              \
    X(dram_settled_bytes, l->s->bytes.dram_settled) X(dram_4n_bytes, l->s->bytes.dram_4n)                              \
    X(dram_per_ask, l->s->dram_per_ask) X(intensity_ask_flop_per_byte, l->s->intensity.ask)                            \
    X(intensity_l1_flop_per_byte, l->s->intensity.l1) X(intensity_l2_flop_per_byte, l->s->intensity.l2)                \
    X(intensity_dram_flop_per_byte, l->s->intensity.dram) X(flop_per_s, l->s->flop_per_s)                              \
    X(dram_byte_per_s, l->s->dram_byte_per_s) X(percent_of_ceiling, l->s->percent_of_ceiling)                          \
    X(attainable_flop_per_s, l->s->attainable_flop_per_s) X(percent_of_roof, l->s->percent_of_roof)                    \
    X(occupancy, l->s->occupancy) X(local_bytes, l->s->local_bytes)                                                    \
    X(sm_hz, l->s->sm_hz) X(memory_hz, l->s->memory_hz)                                                                \
    X(temperature_c, l->s->temperature_c)

#define REAL_CELL(name, value) CELL(name, add_real(out, value))
REALS(REAL_CELL)
CELL(source, add_text(out, rl_source_name(l->run->source)))
CELL(recorded_at, add_time(out, l->run->recorded_at_ms))
CELL(outcome, add_text(out, rl_outcome_name(l->run->outcome)))
CELL(date, add_time(out, l->run->finished_at_ms))
CELL(device, add_text(out, l->run->device.id))
CELL(device_name, add_text(out, l->run->device.name))
CELL(driver_version, add_nullable_text(out, l->run->environment.driver_version))
CELL(cuda_runtime_version, add_nullable_text(out, l->run->environment.cuda_runtime_version))
CELL(suite, add_text(out, l->run->suite))
CELL(sizes, add_text(out, l->run->sizes))
CELL(kernel, add_text(out, l->row->kernel))
CELL(title, add_text(out, l->row->title))
CELL(state, add_text(out, rl_state_name(l->state)))
CELL(flop, add_count(out, l->row->flop))
CELL(ask_bytes, add_count(out, l->row->ask_bytes))
CELL(samples, rl_buf_printf(out, "%" PRId64, l->s->time_s.n))
CELL(launches_per_sample, rl_buf_printf(out, "%" PRId64, l->s->time_s.launches))
CELL(stop, add_nullable_text(out, l->s->time_s.stop))
CELL(bound, add_nullable_text(out, l->s->bound))
CELL(advice_code, add_nullable_text(out, l->s->advice_code))
CELL(flags, add_words(out, &l->s->flags))
CELL(reasons, add_words(out, &l->s->reasons))
CELL(lent_by, add_text(out, l->run->lent.present ? l->run->lent.run : ""))

#define ENTRY(name) {#name, cell_##name},
#define REAL_ENTRY(name, value) ENTRY(name)
static const struct {
    const char *name;
    void (*write)(struct rl_buf *out, const struct line *l);
} cells[] = {
    ENTRY(source) ENTRY(recorded_at) ENTRY(outcome) ENTRY(date) ENTRY(device) ENTRY(device_name) ENTRY(driver_version)
    ENTRY(cuda_runtime_version) ENTRY(suite) ENTRY(sizes) ENTRY(kernel) ENTRY(title) ENTRY(state) ENTRY(flop) ENTRY(ask_bytes)
    REALS(REAL_ENTRY)
    ENTRY(samples) ENTRY(launches_per_sample) ENTRY(stop) ENTRY(bound) ENTRY(advice_code) ENTRY(flags) ENTRY(reasons) ENTRY(lent_by)
};
/* clang-format on */

int rl_csv_write(const struct rl_run *run, struct rl_buf *out)
{
    size_t count = sizeof cells / sizeof cells[0];
    for (size_t c = 0; c < count; c++)
        rl_buf_printf(out, "%s%s", c > 0 ? "," : "", cells[c].name);
    rl_buf_puts(out, "\r\n");
    for (size_t i = 0; i < run->row_count; i++)
        for (enum rl_state state = RL_WARM; state < RL_ROW_STATES; state++) {
            struct line line = {run, &run->rows[i], &run->rows[i].state[state], state};
            if (!line.s->present)
                continue;
            for (size_t c = 0; c < count; c++) {
                rl_buf_puts(out, c > 0 ? "," : "");
                cells[c].write(out, &line);
            }
            rl_buf_puts(out, "\r\n");
        }
    return out->failed ? -1 : 0;
}
