/* A counter file of any bytes, alone and beside a timing: it is refused with words, or becomes a run that reads back as
 * what was written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "import.h"
#include "record/record_json.h"
#include "record/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_run(const struct rl_run *run)
{
    struct rl_err err = {.code = RL_E_NONE};
    struct rl_run *again = NULL;
    struct rl_buf text;
    json_t *document = rl_run_to_json(run), *second;
    if (document == NULL || rl_run_from_json(document, &again, &err) != 0)
        abort();
    second = rl_run_to_json(again);
    if (!json_equal(document, second))
        abort();
    json_decref(document);
    json_decref(second);
    rl_run_free(again);
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
    struct import_result result = {0};
    struct rl_err err = {.code = RL_E_NONE};
    if (import_make(&request, &result, &err) != 0) {
        if (err.code == RL_E_NONE || err.message[0] == '\0' || !rl_utf8_valid(err.message, strlen(err.message)) ||
            result.run != NULL)
            abort();
        return;
    }
    check_run(result.run);
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
