/* What field tables are written with, and the limits that they share. Private to gpu/record and to the tests of it. */
#ifndef GPU_RECORD_TABLE_H
#define GPU_RECORD_TABLE_H

#include "gpu/record/fields.h"

#define TEXT_MAX       512u
#define DETAIL_MAX     1024u
#define WORDS_MAX      64u
#define NAME_MAX_BYTES 16384u /* a template's name with its arguments: up to 7 KB have been seen */
#define ROWS_MAX       512u   /* the catalogue has ten; an import may bring a program's own */
#define FILES_MAX      4u
#define PERCENTS_MAX   16u
#define CEILINGS_MAX   32u
#define CHECKS_MAX     64u
#define TELEMETRY_MAX  256u
#define METRICS_MAX    64u

#define SECONDS_MAX 1e6  /* eleven days in one launch */
#define BYTES_MAX   1e18 /* per launch: an hour at 250 TB/s */
/* A counter's value per launch is 0 or at least one over the launches that it was divided by: at most 1e9, as a sample
 * may have. */
#define COUNTED_LEAST 1e-9
#define RATE_MAX      1e21 /* flop/s or byte/s of one GPU */
#define RATIO_MAX     1e15
#define HERTZ_MAX     1e12
#define COUNT_MAX     INT64_C(1000000000000000000)

/* What stands behind a field's own arguments is set besides: .since = N. */
/* clang-format off */
#define TABLE(name, title, type, schema, help)                                                                         \
    const struct rl_object name = {title, name##_fields, sizeof name##_fields / sizeof name##_fields[0],               \
                                   sizeof(struct type), schema, help}
#define AT(type, member) .name = #member, .offset = offsetof(struct type, member)
#define STRING(type, member, ...) {AT(type, member), .kind = RL_KIND_STRING, .max_count = TEXT_MAX, __VA_ARGS__}
#define NAME(type, member, ...) {AT(type, member), .kind = RL_KIND_STRING, .max_count = NAME_MAX_BYTES, __VA_ARGS__}
#define NAME_TEXT(type, member, ...) {AT(type, member), .kind = RL_KIND_TEXT, .max_count = NAME_MAX_BYTES, __VA_ARGS__}
#define DETAIL(type, member, ...) {AT(type, member), .kind = RL_KIND_STRING, .max_count = DETAIL_MAX, __VA_ARGS__}
#define ONE_OF(type, member, list, ...) {AT(type, member), .kind = RL_KIND_STRING, .max_count = TEXT_MAX, .words = list, __VA_ARGS__}
#define ENUM(type, member, list, ...) {AT(type, member), .kind = RL_KIND_ENUM, .words = list, __VA_ARGS__}
#define BOOL(type, member, ...) {AT(type, member), .kind = RL_KIND_BOOL, __VA_ARGS__}
#define INT(type, member, low, high, ...) {AT(type, member), .kind = RL_KIND_INT, .int_min = low, .int_max = high, __VA_ARGS__}
#define INT3(type, member, low, high, ...) {AT(type, member), .kind = RL_KIND_INT3, .int_min = low, .int_max = high, __VA_ARGS__}
#define REAL(type, member, high, ...) {AT(type, member), .kind = RL_KIND_REAL, .min = 0, .max = high, __VA_ARGS__}
#define POSITIVE(type, member, high, ...) {AT(type, member), .kind = RL_KIND_REAL, .min = 0, .max = high, .above_min = true, __VA_ARGS__}
#define COUNTED(type, member, ...) {AT(type, member), .kind = RL_KIND_REAL, .min = 0, .max = BYTES_MAX, .least = COUNTED_LEAST, __VA_ARGS__}
#define CELSIUS(type, member, ...) {AT(type, member), .kind = RL_KIND_REAL, .min = -273.15, .max = 1000, __VA_ARGS__}
#define COUNT(type, member, ...) {AT(type, member), .kind = RL_KIND_COUNT, .int_min = 0, .int_max = COUNT_MAX, __VA_ARGS__}
#define TEXT(type, member, ...) {AT(type, member), .kind = RL_KIND_TEXT, .max_count = TEXT_MAX, __VA_ARGS__}
#define TEXT_OF(type, member, list, ...) {AT(type, member), .kind = RL_KIND_TEXT, .max_count = TEXT_MAX, .words = list, __VA_ARGS__}
#define ADVICE(type, member, ...) {AT(type, member), .kind = RL_KIND_TEXT, .max_count = DETAIL_MAX, __VA_ARGS__}
#define FLAG3(type, member, ...) {AT(type, member), .kind = RL_KIND_FLAG3, __VA_ARGS__}
#define WORDS(type, member, ...) {AT(type, member), .kind = RL_KIND_WORDS, .max_count = WORDS_MAX, __VA_ARGS__}
#define INT_OR_NULL(type, member, reason, low, high, ...) \
    {AT(type, member), .kind = RL_KIND_INT_OR_NULL, .int_min = low, .int_max = high, \
     .why_offset = offsetof(struct type, reason), __VA_ARGS__}
#define INT3_OR_NULL(type, member, reason, low, high, ...) \
    {AT(type, member), .kind = RL_KIND_INT3_OR_NULL, .int_min = low, .int_max = high, \
     .why_offset = offsetof(struct type, reason), __VA_ARGS__}
#define OBJECT(type, member, table, ...) {AT(type, member), .kind = RL_KIND_OBJECT, .object = &table, __VA_ARGS__}
#define OPTIONAL(type, member, table, ...) {AT(type, member), .kind = RL_KIND_STATE, .object = &table, __VA_ARGS__}
#define LIST(type, json, member, counter, most, table, ...) \
    {.name = json, .offset = offsetof(struct type, member), .kind = RL_KIND_LIST, \
     .count_offset = offsetof(struct type, counter), .max_count = most, .object = &table, __VA_ARGS__}
/* clang-format on */

#endif
