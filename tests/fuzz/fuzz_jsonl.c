/* A timing file, a published record and a recording of any bytes: refused with words, or a run that reads back as what
 * was written. */
#include <stdint.h>
#include <stdlib.h>

#include "gpu/record/derive/quantile.h"
#include "tests/fuzz/import_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Samples that the daemon would not take for those of the run. */
static void check_samples(const struct import_result *result)
{
    for (size_t i = 0; i < result->sample_count; i++) {
        const struct import_sample *sample = &result->samples[i];
        const struct rl_row *row = rl_run_row(result->run, sample->unit);
        const struct rl_ceiling *ceiling = rl_run_ceiling(result->run, sample->unit, sample->state);
        enum rl_state shown = row != NULL && !row->state[sample->state].present ? RL_MIXED : sample->state;
        const struct rl_times *times = row != NULL       ? &row->state[shown].time_s
                                       : ceiling != NULL ? &ceiling->time_s
                                                         : NULL;
        struct rl_times_difference differs;
        if (times == NULL || (row != NULL && !row->state[shown].present))
            abort();
        if (rl_is_known(times->median) &&
            (rl_times_check(times, sample->times_s, sample->count, sample->launches, &differs) != 0 ||
             differs.member != NULL))
            abort();
    }
}

static void import(const struct import_file *files, size_t count, const char *sizes, const char *partial)
{
    struct import_request request = {.files = files,
                                     .file_count = count,
                                     .fields = {.sizes = sizes, .partial = partial},
                                     .now_ms = INT64_C(1895000000000),
                                     .by_hand = true};
    struct import_result result;
    if (!made(&request, &result))
        return;
    check_samples(&result);
    import_result_fini(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char counters[] =
        "ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n0,k,dram__bytes.sum,byte,5\n"
        "1,vector_add,dram__bytes.sum,byte,7\n2,void ns::k<4>(float*),dram__bytes.sum,byte,9\n";
    const struct import_file files[] = {{IMPORT_TIMINGS, "t.jsonl", (const char *)data, size},
                                        {IMPORT_NCU, "c.csv", counters, sizeof counters - 1}};
    const struct import_file record = {IMPORT_RECORD, "r.json", (const char *)data, size};
    import(files, 1, size % 2 == 0 ? "course" : NULL, NULL);
    import(files, 2, NULL, size % 2 == 0 ? "true" : NULL);
    import(&record, 1, NULL, NULL);
    return 0;
}
