/* A power log of any bytes: refused with words, or a run that reads back as what was written, with finite figures. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/fuzz/import_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void import(const uint8_t *data, size_t size, const struct import_fields *fields)
{
    static const char timings[] = "{\"kernel\": \"k\", \"ms\": 1}";
    const struct import_file files[] = {{IMPORT_TIMINGS, "t.jsonl", timings, sizeof timings - 1},
                                        {IMPORT_POWER, "p.csv", (const char *)data, size}};
    const struct import_request request = {
        .files = files, .file_count = 2, .fields = *fields, .now_ms = INT64_C(1895000000000), .by_hand = true};
    struct import_result result;
    if (!made(&request, &result))
        return;
    const struct rl_power *power = &result.run->power;
    if (!power->present || !isfinite(power->average_w.value) || power->average_w.value < 0)
        abort();
    import_result_fini(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    import(data, size, &(struct import_fields){.device = "GPU-94f56053-dec7-f94a-c773-7f23ff1064ab"});
    import(data, size,
           &(struct import_fields){.power_gpu = "0", .since = "2026-11-28 10:00:00.5", .until = "2026-11-30 21:15:50"});
    return 0;
}
