/* A timing file, a published record and a recording of any bytes: refused with words, or a run that reads back as what
 * was written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "import.h"
#include "record/record_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void import(const struct import_file *files, size_t count, const char *sizes)
{
    struct import_request request = {.files = files,
                                     .file_count = count,
                                     .fields = {.sizes = sizes},
                                     .now_ms = INT64_C(1895000000000),
                                     .by_hand = true};
    struct import_result result = {0};
    struct rl_err err = {.code = RL_E_NONE};
    if (import_make(&request, &result, &err) != 0) {
        if (err.code == RL_E_NONE || err.message[0] == '\0' || !rl_utf8_valid(err.message, strlen(err.message)))
            abort();
        return;
    }
    json_t *document = rl_run_to_json(result.run), *second;
    struct rl_run *again = NULL;
    if (document == NULL || rl_run_from_json(document, &again, &err) != 0)
        abort();
    second = rl_run_to_json(again);
    if (!json_equal(document, second))
        abort();
    for (size_t i = 0; i < result.sample_count; i++)
        for (size_t t = 0; t < result.samples[i].count; t++)
            if (!(result.samples[i].times_s[t] > 0))
                abort();
    json_decref(document);
    json_decref(second);
    rl_run_free(again);
    import_result_fini(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char counters[] = "ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n0,k,dram__bytes.sum,byte,5\n"
                                   "1,vector_add,dram__bytes.sum,byte,7\n";
    const struct import_file files[] = {{IMPORT_TIMINGS, "t.jsonl", (const char *)data, size},
                                        {IMPORT_NCU, "c.csv", counters, sizeof counters - 1}};
    const struct import_file record = {IMPORT_RECORD, "r.json", (const char *)data, size};
    import(files, 1, size % 2 == 0 ? "course" : NULL);
    import(files, 2, NULL);
    import(&record, 1, NULL);
    return 0;
}
