/* Whose figures these are and when they were made: what the importer says, what the files say, and that both agree. */
#include "gpu/import/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/base/time.h"
#include "gpu/import/common/note.h"
#include "gpu/import/ncu/launches.h"
#include "gpu/import/text/message.h"
#include "kernels/unit/catalogue.h"

#define DEVICE_NAME_MAX 128u
#define CUDA_BEGAN_MS   INT64_C(1167609600000) /* 2007-01-01: no measurement of a CUDA program is older */

static int bad(struct import *import, const char *field, const char *value, const char *expected)
{
    char quoted[IMPORT_QUOTE];
    return rl_fail(import->err, RL_E_BAD_FIELD, field, "%s is \"%s\"; %s", field, import_quote(quoted, value),
                   expected);
}

/* "580.159.04": digits and single dots. */
static bool is_version(const char *text)
{
    size_t digits = 0;
    if (strlen(text) > 32)
        return false;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c >= '0' && *c <= '9')
            digits++;
        else if (*c == '.' && digits > 0 && c[1] != '\0')
            digits = 0;
        else
            return false;
    }
    return digits > 0;
}

static bool is_uuid(const char *text)
{
    size_t len = strlen(text);
    if (len < 8 || len > 64 || (strncmp(text, "GPU-", 4) != 0 && strncmp(text, "MIG-", 4) != 0))
        return false;
    return strspn(text + 4, "0123456789abcdefABCDEF-/") == len - 4;
}

static bool is_one_of(const char *text, const char *one, const char *two, const char *three)
{
    return strcmp(text, one) == 0 || strcmp(text, two) == 0 || (three != NULL && strcmp(text, three) == 0);
}

static int check_date(struct import *import)
{
    const char *text = import->request->fields.date;
    int64_t ms;
    if (text == NULL)
        return 0;
    if (rl_time_parse(text, &ms) != 0)
        return bad(import, "date", text, "a day like 2026-09-01 or a time like 2026-09-01T12:00:00Z is expected");
    if (ms > import->request->now_ms)
        return bad(import, "date", text, "that is in the future; give the day on which it was measured");
    if (ms < CUDA_BEGAN_MS)
        return bad(import, "date", text, "that is before there was CUDA; give the day on which it was measured");
    import->date_ms = ms;
    return 0;
}

static bool is_device_name(const char *text)
{
    size_t len = strlen(text);
    return len <= DEVICE_NAME_MAX && rl_utf8_is_line(text);
}

int import_fields_check(struct import *import)
{
    const struct import_fields *fields = &import->request->fields;
    if (fields->device != NULL && !is_device_name(fields->device))
        return bad(import, "device", fields->device,
                   "the GPU's name or its UUID is expected, in at most 128 bytes of one line, without control "
                   "characters and not of blanks alone");
    if (fields->driver != NULL && !is_version(fields->driver))
        return bad(import, "driver", fields->driver, "a version like 580.159.04 is expected");
    if (fields->cuda != NULL && !is_version(fields->cuda))
        return bad(import, "cuda", fields->cuda, "a version like 13.0 is expected");
    if (fields->sizes != NULL && !is_one_of(fields->sizes, "course", "scaled", "other"))
        return bad(import, "sizes", fields->sizes, "course, scaled or other is expected");
    if (fields->cache != NULL && !is_one_of(fields->cache, "cold", "warm", NULL))
        return bad(import, "cache", fields->cache, "cold (ncu --cache-control all) or warm (none) is expected");
    if (fields->times != NULL && !is_one_of(fields->times, "warm", "cold", NULL))
        return bad(import, "times", fields->times, "warm (a loop) or cold (caches emptied before each) is expected");
    if (fields->partial != NULL && !is_one_of(fields->partial, "true", "false", NULL))
        return bad(import, "partial", fields->partial, "true or false is expected");
    const char *alone = fields->since != NULL       ? "since"
                        : fields->until != NULL     ? "until"
                        : fields->power_gpu != NULL ? "power_gpu"
                                                    : NULL;
    if (alone != NULL && import_file_of(import->request, IMPORT_POWER) == NULL)
        return rl_fail(import->err, RL_E_BAD_FIELD, alone, "%s is of a power log, and none was sent", alone);
    return check_date(import);
}

/* "gpu-name" of a device's name: lower-case letters, digits and single dashes; NULL when nothing is left. */
static const char *slug_of(struct rl_arena *arena, const char *name)
{
    /* other bytes become xHH, so that names in other scripts stay apart */
    char *slug = rl_arena_alloc(arena, 3 * strlen(name) + 1);
    size_t to = 0;
    bool any = false;
    for (const unsigned char *c = (const unsigned char *)name; slug != NULL && *c != '\0'; c++) {
        if ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9'))
            slug[to++] = (char)*c;
        else if (*c >= 'A' && *c <= 'Z')
            slug[to++] = (char)(*c - 'A' + 'a');
        else if (*c >= 0x80)
            to += (size_t)snprintf(slug + to, 4, "x%02x", *c);
        else if (to > 0 && slug[to - 1] != '-')
            slug[to++] = '-';
    }
    while (slug != NULL && to > 0 && slug[to - 1] == '-')
        to--;
    if (slug == NULL || to == 0)
        return NULL;
    slug[to] = '\0';
    for (size_t i = 0; i < to; i++)
        any = any || slug[i] != '-';
    return any ? slug : NULL;
}

/* ---- a run without an identity of its own ---- */

/* The device's name as the files have it: NULL when none has. */
static const char *seen_device(const struct import *import, const struct import_table *table)
{
    if (table != NULL && table->device[IMPORT_DEVICE_NAME] != NULL)
        return table->device[IMPORT_DEVICE_NAME]->text;
    /* some exports have the GPU's name where others have its number */
    if (table != NULL && table->device_column != NULL &&
        strspn(table->device_column, "0123456789") != strlen(table->device_column))
        return table->device_column;
    return import->said.device;
}

static int devices_agree(struct import *import, const struct import_table *table, const char *seen)
{
    const char *given = import->request->fields.device, *timed = import->said.device;
    const char *kind = table != NULL && seen != timed ? "ncu" : "timings";
    char one[IMPORT_QUOTE], two[IMPORT_QUOTE];
    if (seen != NULL && !is_device_name(seen))
        return rl_fail(import->err, RL_E_IMPORT_FORMAT, kind,
                       "%s: the device is \"%s\"; a name of at most %u bytes in one line is expected, no control "
                       "characters in it and not blanks alone",
                       import_file_of(import->request, strcmp(kind, "ncu") == 0 ? IMPORT_NCU : IMPORT_TIMINGS)->name,
                       import_quote(one, seen), DEVICE_NAME_MAX);
    if (timed != NULL && seen != NULL && strcmp(timed, seen) != 0)
        return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "timings",
                       "the timings are of \"%s\", the counters of \"%s\"", import_quote(one, timed),
                       import_quote(two, seen));
    if (given != NULL && !is_uuid(given) && seen != NULL && strcmp(given, seen) != 0)
        return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "device", "device is \"%s\", but %s of \"%s\"",
                       import_quote(one, given), strcmp(kind, "ncu") == 0 ? "the counter file is" : "the timings are",
                       import_quote(two, seen));
    return 0;
}

static int set_device(struct import *import, const struct import_table *table)
{
    struct rl_device *device = &import->run->device;
    struct rl_arena *arena = import->run->arena;
    const char *given = import->request->fields.device, *seen = seen_device(import, table);
    bool uuid = given != NULL && is_uuid(given);
    if (devices_agree(import, table, seen) != 0)
        return -1;
    if (given == NULL && seen == NULL) { /* by hand: check_said */
        device->id = "unknown";
        device->name = "a GPU that no file names";
        return 0;
    }
    device->name = rl_arena_strdup(arena, seen != NULL ? seen : given);
    device->id = uuid ? rl_arena_strdup(arena, given) : slug_of(arena, seen != NULL ? seen : given);
    if (device->name == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "device", "no memory for the device");
    if (device->id == NULL || strlen(device->id) > 256)
        return bad(import, "device", given != NULL ? given : seen, "a name with letters or digits is expected");
    device->uuid = uuid ? (struct rl_text){device->id, NULL}
                        : (struct rl_text){NULL, "the import gave the GPU's name, not its UUID"};
    return 0;
}

static void set_capabilities(struct import *import, const struct import_table *table)
{
    struct rl_device *device = &import->run->device;
    if (table == NULL)
        return;
    device->l2_bytes = import_table_device(table, IMPORT_DEVICE_L2, 1);
    device->sm_count = import_table_device(table, IMPORT_DEVICE_SMS, 1);
    device->memory_bytes = import_table_device(table, IMPORT_DEVICE_MEMORY, 1);
    device->memory_bus_bits = import_table_device(table, IMPORT_DEVICE_BUS, 1);
    device->max_sm_hz = import_table_device(table, IMPORT_DEVICE_SM_KHZ, 1000);
    device->max_memory_hz = import_table_device(table, IMPORT_DEVICE_MEMORY_KHZ, 1000);
    device->warp_size = import_table_device(table, IMPORT_DEVICE_WARP, 1);
    device->max_threads_per_sm = import_table_device(table, IMPORT_DEVICE_THREADS, 1);
    const char *cc = table->cc != NULL ? table->cc : "", *dot = strchr(cc, '.');
    char major[4] = "";
    int64_t first, second;
    if (dot == NULL || dot - cc > 3)
        return;
    memcpy(major, cc, (size_t)(dot - cc));
    if (rl_parse_i64(major, 1, 99, &first) == 0 && rl_parse_i64(dot + 1, 0, 9, &second) == 0) {
        device->compute_major = (struct rl_count){first, NULL};
        device->compute_minor = (struct rl_count){second, NULL};
    }
}

/* All that is missing, at once: who sends a form again and again for one field after the other gives up. */
static int check_said(struct import *import, const struct import_table *table)
{
    const struct import_fields *fields = &import->request->fields;
    bool device = fields->device == NULL && seen_device(import, table) == NULL, date = import->date_ms == 0;
    const char *also = fields->driver == NULL && fields->cuda == NULL && import->said.cuda == NULL
                           ? "; driver and cuda are not said either: they may stay unknown"
                       : fields->driver == NULL ? "; driver is not said either: it may stay unknown"
                                                : "";
    if (import->request->by_hand || (!device && !date))
        return 0;
    return rl_fail(import->err, RL_E_BAD_FIELD, device ? "device" : "date",
                   "%s not said, and no file tells %s: give %s%s%s%s",
                   device && date ? "device and date are"
                   : device       ? "device is"
                                  : "date is",
                   device && date ? "them" : "it", device ? "the GPU's name (\"Tesla T4\") or its UUID" : "",
                   device && date ? ", and " : "", date ? "the day of the measurement, as 2026-09-01" : "", also);
}

/* The day that a file tells. A field may be of another time zone, so that it may be the day before or after. */
static int take_date(struct import *import)
{
    int64_t seen = import->said.date_ms;
    if (seen != 0 && import->date_ms != 0 && llabs(rl_time_day(seen) - rl_time_day(import->date_ms)) > 1) {
        char own[RL_TIME_TEXT];
        rl_time_format(seen, own);
        return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "date", "date is \"%s\", but the timings are of %s",
                       import->request->fields.date, own);
    }
    if (seen != 0)
        import->date_ms = seen;
    return 0;
}

int import_identify(struct import *import, const struct import_table *table)
{
    const struct import_fields *fields = &import->request->fields;
    struct rl_run *run = import->run;
    if (take_date(import) != 0 || check_said(import, table) != 0)
        return -1;
    if (import->date_ms == 0) {
        import->date_ms = import->request->now_ms;
        import_note(run, "the date is today's: no file tells when it was measured");
    }
    run->started_at_ms = run->finished_at_ms = import->date_ms;
    if (set_device(import, table) != 0)
        return -1;
    set_capabilities(import, table);
    static const char why[] = "the import did not say";
    struct rl_environment *environment = &run->environment;
    const char *cuda = fields->cuda != NULL ? fields->cuda : import->said.cuda;
    if (fields->cuda != NULL && import->said.cuda != NULL && strcmp(fields->cuda, import->said.cuda) != 0)
        return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "cuda", "cuda is \"%s\", but the timings say \"%s\"",
                       fields->cuda, import->said.cuda);
    environment->driver_version =
        (struct rl_text){rl_arena_strdup(run->arena, fields->driver), fields->driver != NULL ? NULL : why};
    environment->cuda_runtime_version = (struct rl_text){rl_arena_strdup(run->arena, cuda), cuda != NULL ? NULL : why};
    return 0;
}

/* ---- a document with its own ---- */

static int must_agree(struct import *import, const char *field, const char *given, struct rl_text own)
{
    char one[IMPORT_QUOTE], two[IMPORT_QUOTE];
    if (given == NULL || own.why != NULL || own.value == NULL || strcmp(given, own.value) == 0)
        return 0;
    return rl_fail(import->err, RL_E_IMPORT_DISAGREES, field, "%s is \"%s\", but the file says \"%s\"", field,
                   import_quote(one, given), import_quote(two, own.value));
}

static int device_agrees(struct import *import, const struct import_table *table)
{
    const struct rl_device *device = &import->run->device;
    const char *given = import->request->fields.device;
    char one[IMPORT_QUOTE], two[IMPORT_QUOTE];
    if (given != NULL && strcmp(given, device->id) != 0 &&
        must_agree(import, "device", given, (struct rl_text){device->name, NULL}) != 0)
        return -1;
    if (table == NULL)
        return 0;
    const struct import_reading *seen = table->device[IMPORT_DEVICE_NAME];
    if (seen != NULL && strcmp(seen->text, device->name) != 0)
        return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "ncu", "the counters are of \"%s\", the times of \"%s\"",
                       import_quote(one, seen->text), import_quote(two, device->name));
    if (table->cc != NULL && table->cc[0] != '\0' && device->compute_major.why == NULL &&
        device->compute_minor.why == NULL) {
        char own[64];
        snprintf(own, sizeof own, "%lld.%lld", (long long)device->compute_major.value,
                 (long long)device->compute_minor.value);
        if (strcmp(own, table->cc) != 0)
            return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "ncu",
                           "the counters are of a GPU of compute capability %s, the times of one of %s",
                           import_quote(one, table->cc), own);
    }
    return 0;
}

int import_agree(struct import *import, const struct import_table *table)
{
    const struct import_fields *fields = &import->request->fields;
    struct rl_run *run = import->run;
    if (device_agrees(import, table) != 0 ||
        must_agree(import, "driver", fields->driver, run->environment.driver_version) != 0 ||
        must_agree(import, "cuda", fields->cuda, run->environment.cuda_runtime_version) != 0 ||
        must_agree(import, "sizes", fields->sizes, (struct rl_text){run->sizes, NULL}) != 0)
        return -1;
    if (import->date_ms != 0 && rl_time_day(import->date_ms) != rl_time_day(run->finished_at_ms)) {
        char own[RL_TIME_TEXT];
        rl_time_format(run->finished_at_ms, own);
        return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "date", "date is \"%s\", but the file was measured at %s",
                       import->request->fields.date, own);
    }
    if (run->finished_at_ms > import->request->now_ms || run->started_at_ms > run->finished_at_ms)
        return rl_fail(
            import->err, RL_E_IMPORT_FORMAT,
            import_kind_name(import->request->files[0].kind == IMPORT_RECORDING ? IMPORT_RECORDING : IMPORT_TIMINGS),
            "the run of the file says that it was measured in the future, or ended before it began");
    return 0;
}

/* ---- the catalogue's work ---- */

static int work_agrees(struct import *import, const struct rl_row *row, const char *what, struct rl_count given,
                       uint64_t counted)
{
    if (given.why != NULL || (uint64_t)given.value == counted)
        return 0;
    return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "timings",
                   "the timing of %s says %s %lld, but %s sizes make %llu", row->kernel, what, (long long)given.value,
                   import->run->sizes, (unsigned long long)counted);
}

int import_work(struct import *import, struct rl_row *row, const struct import_table *table)
{
    const struct rl_unit *unit = rl_unit_find(row->kernel);
    struct rl_count l2 = import_table_device(table, IMPORT_DEVICE_L2, 1);
    enum rl_sizes sizes;
    struct rl_dims dims;
    if (unit == NULL || unit->kind != RL_UNIT_KERNEL || rl_sizes_from_name(import->run->sizes, &sizes) != 0)
        return 0;
    if (sizes == RL_SCALED && l2.why != NULL)
        return rl_fail(
            import->err, RL_E_BAD_FIELD, "sizes",
            "sizes is \"scaled\", which follow from the GPU's L2, and no file tells its size; say \"other\", or export "
            "with --page raw");
    if (unit->dims(sizes, sizes == RL_SCALED ? (uint64_t)l2.value : 0, &dims) != 0)
        return rl_fail(import->err, RL_E_BAD_FIELD, "sizes", "there are no %s sizes for an L2 of that size",
                       import->run->sizes);
    uint64_t flop = unit->flop(&dims), ask = unit->ask_bytes(&dims);
    if (work_agrees(import, row, "flop", row->flop, flop) != 0 ||
        work_agrees(import, row, "ask_bytes", row->ask_bytes, ask) != 0)
        return -1;
    row->flop = (struct rl_count){(int64_t)flop, NULL};
    row->ask_bytes = (struct rl_count){(int64_t)ask, NULL};
    return 0;
}
