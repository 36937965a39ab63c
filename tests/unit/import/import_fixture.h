/* What the importer's tests share: counter files made line by line, and imports that have to succeed or fail. */
#ifndef TESTS_UNIT_IMPORT_IMPORT_FIXTURE_H
#define TESTS_UNIT_IMPORT_IMPORT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* needs the ones above */

#include "gpu/base/buf.h"
#include "gpu/base/time.h"
#include "gpu/import/import.h"
#include "gpu/record/print/text.h"
#include "gpu/suites/document.h"

#define LONG_HEAD                                                                                                      \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\","      \
    "\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
/* id, kernel, block, grid, metric, unit, value */
#define LONG_ROW(id, kernel, grid, metric, unit, value)                                                                \
    "\"" id "\",\"7\",\"app\",\"host\",\"" kernel "\",\"1\",\"7\",\"(256, 1, 1)\",\"" grid                             \
    "\",\"0\",\"9.0\",\"Command line profiler metrics\",\"" metric "\",\"" unit "\",\"" value "\"\n"
#define RAW_HEAD                                                                                                       \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\","      \
    "\"Grid Size\",\"Device\",\"CC\""
#define RAW_UNITS "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\""
#define RAW_ROW(id, kernel, grid)                                                                                      \
    "\"" id "\",\"7\",\"app\",\"host\",\"" kernel "\",\"1\",\"7\",\"(256, 1, 1)\",\"" grid "\",\"0\",\"9.0\""

/* cmocka's own compares floats */
static inline void assert_near(double got, double wanted, double room)
{
    if (!(got >= wanted - room && got <= wanted + room))
        fail_msg("%.17g is not %.17g", got, wanted);
}

struct given { /* one import, by hand */
    const char *ncu, *timings, *record, *recording;
    size_t ncu_len; /* 0: strlen */
    struct import_fields fields;
};

static inline int make_import(const struct given *given, struct import_result *ret, struct rl_err *err)
{
    struct import_file files[4];
    struct import_request request = {.files = files, .fields = given->fields};
    const struct {
        enum import_kind kind;
        const char *name, *data;
        size_t len;
    } parts[] = {{IMPORT_NCU, "c.csv", given->ncu, given->ncu_len},
                 {IMPORT_TIMINGS, "t.jsonl", given->timings, 0},
                 {IMPORT_RECORD, "r.json", given->record, 0},
                 {IMPORT_RECORDING, "r.jsonl", given->recording, 0}};
    for (size_t i = 0; i < 4; i++)
        if (parts[i].data != NULL)
            files[request.file_count++] = (struct import_file){parts[i].kind, parts[i].name, parts[i].data,
                                                               parts[i].len > 0 ? parts[i].len : strlen(parts[i].data)};
    if (rl_time_parse(given->recording != NULL ? "2100-01-01" : "2026-11-29T12:00:00Z", &request.now_ms) != 0)
        return -1;
    if (given->record == NULL && given->recording == NULL) {
        if (request.fields.device == NULL)
            request.fields.device = "Test GPU";
        if (request.fields.date == NULL)
            request.fields.date = "2026-11-28";
    }
    return import_make(&request, ret, err);
}

static inline struct rl_run *must_import(const struct given *given, struct import_result *result)
{
    struct rl_err err = {.code = RL_E_NONE};
    if (make_import(given, result, &err) != 0)
        fail_msg("refused (%s): %s", rl_code_id(err.code), err.message);
    assert_int_equal(result->run->source, RL_IMPORTED);
    /* whatever was made is a document that the store takes */
    json_t *document = rl_run_to_json(result->run);
    struct rl_run *again = NULL;
    if (rl_run_from_json(document, &again, &err) != 0)
        fail_msg("the run is no valid document: %s", err.message);
    rl_run_free(again);
    json_decref(document);
    return result->run;
}

/* Fails unless all words (parted by |) are in the message. */
static inline void assert_words(const char *message, const char *words)
{
    char part[128];
    for (const char *at = words; *at != '\0';) {
        size_t len = strcspn(at, "|");
        snprintf(part, sizeof part, "%.*s", (int)len, at);
        if (strstr(message, part) == NULL)
            fail_msg("no \"%s\" in: %s", part, message);
        at += len + (at[len] == '|');
    }
}

/* Fails with this code, and with these words (parted by |) in the message. */
static inline void must_refuse(const struct given *given, enum rl_code code, const char *field, const char *words)
{
    struct import_result result = {0};
    struct rl_err err = {.code = RL_E_NONE};
    if (make_import(given, &result, &err) == 0)
        fail_msg("accepted, but %s (%s) was expected", rl_code_id(code), words);
    assert_null(result.run);
    if (err.code != code || (field != NULL && strcmp(err.field, field) != 0))
        fail_msg("%s, field %s: %s", rl_code_id(err.code), err.field, err.message);
    assert_words(err.message, words);
}

static inline void refuse_ncu(const char *ncu, enum rl_code code, const char *words)
{
    struct given given = {.ncu = ncu};
    must_refuse(&given, code, "ncu", words);
}

static inline void refuse_timings(const char *timings, enum rl_code code, const char *words)
{
    struct given given = {.timings = timings};
    must_refuse(&given, code, "timings", words);
}

/* DRAM bytes of the only row of a counter file. */
static inline double dram_of(const char *ncu)
{
    struct given given = {.ncu = ncu};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 1);
    assert_true(run->rows[0].state[RL_COLD].present);
    struct rl_real dram = run->rows[0].state[RL_COLD].bytes.dram;
    if (!rl_is_known(dram))
        fail_msg("no DRAM bytes: %s", dram.why);
    import_result_fini(&result);
    return dram.value;
}

static inline bool has_note(const struct rl_run *run, const char *part)
{
    for (size_t i = 0; i < run->import.notes.count; i++)
        if (strstr(run->import.notes.items[i], part) != NULL)
            return true;
    return false;
}

#endif
