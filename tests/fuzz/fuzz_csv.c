/* A counter file of any bytes, alone and beside a timing: it is refused with words, or becomes a run that reads back as
 * what was written. */
#include <stdint.h>
#include <stdlib.h>

#include "gpu/record/print/text.h"
#include "tests/fuzz/import_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tables(const struct rl_run *run)
{
    struct rl_buf text;
    rl_buf_init(&text, 64 << 20);
    for (enum rl_state state = 0; state < RL_ROW_STATES; state++)
        if (rl_table_write(run, state, &text) != 0)
            abort();
    rl_buf_free(&text);
}

static void import(const struct import_file *files, size_t count, bool warm)
{
    struct import_request request = {.files = files,
                                     .file_count = count,
                                     .fields = {.date = "2026-01-01", .cache = warm ? "warm" : NULL},
                                     .now_ms = INT64_C(1795000000000),
                                     .by_hand = true};
    struct import_result result;
    if (!made(&request, &result))
        return;
    check_tables(result.run);
    import_result_fini(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char timing[] = "{\"kernel\": \"k\", \"ms\": 0.25}";
    const struct import_file files[] = {{IMPORT_NCU, "c.csv", (const char *)data, size},
                                        {IMPORT_TIMINGS, "t.jsonl", timing, sizeof timing - 1}};
    import(files, 1, false);
    import(files, 2, size % 2 == 0);
    return 0;
}
