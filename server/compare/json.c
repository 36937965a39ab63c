/* The answer of a comparison as JSON. */
#include "server/compare/compare.h"

struct object { /* an object under construction with its reasons; failed is sticky */
    json_t *members, *why;
    bool failed;
};

static struct object object_new(void)
{
    struct object object = {json_object(), json_object(), false};
    object.failed = object.members == NULL || object.why == NULL;
    return object;
}

static void put(struct object *object, const char *name, json_t *value)
{
    if (value == NULL || object->failed) {
        json_decref(value);
        object->failed = true;
    } else if (json_object_set_new(object->members, name, value) != 0) {
        object->failed = true;
    }
}

static void put_null(struct object *object, const char *name, const char *why)
{
    put(object, name, json_null());
    if (!object->failed && json_object_set_new(object->why, name, json_string(why)) != 0)
        object->failed = true;
}

static void put_text(struct object *object, const char *name, const char *value, const char *why)
{
    if (value != NULL)
        put(object, name, json_string(value));
    else
        put_null(object, name, why);
}

static void put_count(struct object *object, const char *name, size_t value)
{
    put(object, name, json_integer((json_int_t)value));
}

static void put_real(struct object *object, const char *name, struct rl_real value)
{
    json_t *number = rl_is_known(value) ? json_real(value.value) : NULL;
    if (number != NULL)
        put(object, name, number);
    else
        put_null(object, name, rl_is_known(value) ? "it is not finite" : value.why);
}

/* The finished object, "why" last; NULL when memory ran out on the way. */
static json_t *object_end(struct object *object)
{
    json_t *why = object->why;
    object->why = NULL;
    if (why == NULL || object->failed || json_object_set_new(object->members, "why", why) != 0) {
        if (object->failed)
            json_decref(why);
        json_decref(object->members);
        return NULL;
    }
    return object->members;
}

/* A list of count items made by one of the functions below. */
typedef json_t *maker(const void *item, size_t index);
static json_t *list(const void *items, size_t count, maker *make)
{
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && i < count; i++)
        if (json_array_append_new(array, make(items, i)) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *id_json(const void *items, size_t index)
{
    return json_string(((const char *const *)items)[index]);
}

static json_t *left_out_json(const void *items, size_t index)
{
    const struct compare_left_out *left = (const struct compare_left_out *)items + index;
    return json_pack("{s:s, s:s}", "id", left->id, "reason", left->why);
}

static json_t *note_json(const void *items, size_t index)
{
    const struct compare_note *note = (const struct compare_note *)items + index;
    return json_pack("{s:s, s:s, s:s, s:s}", "field", note->field, "base", note->base, "head", note->head, "sentence",
                     note->sentence);
}

static json_t *excluded_json(const void *items, size_t index)
{
    const struct compare_excluded *excluded = (const struct compare_excluded *)items + index;
    struct object object = object_new();
    put(&object, "runs", json_integer(excluded->runs));
    put(&object, "at_least", json_boolean(excluded->at_least));
    put(&object, "filters", json_string(excluded->filters));
    put_text(&object, "ask", excluded->ask, "no parameter of this question takes them");
    put(&object, "sentence", json_string(excluded->sentence));
    return object_end(&object);
}

static json_t *dropped_json(const void *items, size_t index)
{
    const struct compare_dropped *dropped = (const struct compare_dropped *)items + index;
    return json_pack("{s:s, s:s, s:I, s:s}", "side", dropped->head ? "head" : "base", "of", dropped->of, "draws",
                     (json_int_t)dropped->draws, "reason", dropped->reason);
}

static void put_notes(struct object *object, const struct compare_notes *notes)
{
    put(object, "not_comparable", list(notes->not_comparable, notes->not_comparable_count, note_json));
    put(object, "left_out", list(notes->left_out, notes->left_out_count, dropped_json));
}

static json_t *side_json(const struct compare_used *side)
{
    struct object object = object_new();
    put(&object, "label", json_string(side->label));
    put_text(&object, "drivers", side->driver, "no run was judged");
    put_text(&object, "sources", side->source, "no run was judged");
    put(&object, "runs", list(side->ids, side->id_count, id_json));
    put(&object, "older", json_boolean(side->older > 0));
    put(&object, "left_out", list(side->left_out, side->left_out_count, left_out_json));
    put(&object, "excluded", list(side->excluded, side->excluded_count, excluded_json));
    return object_end(&object);
}

static json_t *interval_json(const struct compare_judged *judged)
{
    struct object object = object_new();
    put_real(&object, "low", judged->low);
    put_real(&object, "high", judged->high);
    put_real(&object, "confidence", judged->level);
    return object_end(&object);
}

static void put_judged(struct object *object, const struct compare_judged *judged)
{
    put_count(object, "base_runs", judged->base_n);
    put_count(object, "head_runs", judged->head_n);
    put_real(object, "base", judged->base);
    put_real(object, "base_p25", judged->base_p25);
    put_real(object, "base_p75", judged->base_p75);
    put_real(object, "head", judged->head);
    put_real(object, "head_p25", judged->head_p25);
    put_real(object, "head_p75", judged->head_p75);
    put_real(object, "ratio", judged->ratio);
    put(object, "interval", interval_json(judged));
    put_real(object, "p", judged->p);
    put_real(object, "p_holm", judged->p_holm);
    const char *method = judged->method == STATS_RANK ? "rank" : judged->method == STATS_SPREAD ? "history" : NULL;
    put_text(object, "method", method, "it was not judged");
    put_real(object, "history_spread", judged->spread);
    put(object, "sentence", json_string(judged->sentence));
}

static json_t *time_json(const struct compare_judged *judged)
{
    struct object object = object_new();
    put_judged(&object, judged);
    return object_end(&object);
}

static json_t *bytes_json(const struct compare_judged *judged)
{
    struct object object = object_new();
    put_real(&object, "difference", judged->shift_bytes);
    put_real(&object, "noise_floor", judged->floor_bytes);
    put_judged(&object, judged);
    return object_end(&object);
}

static json_t *row_json(const void *items, size_t index)
{
    const struct compare_row *row = (const struct compare_row *)items + index;
    struct object object = object_new();
    put(&object, "kernel", json_string(row->kernel));
    put(&object, "state", json_string(rl_state_name(row->state)));
    put_text(&object, "time_verdict", compare_verdict_name(row->time.verdict), "neither side has a time");
    put_text(&object, "bytes_verdict", compare_verdict_name(row->bytes.verdict), "neither side has DRAM bytes");
    put_text(&object, "cause", compare_cause_name(row->cause), "the time did not change");
    put_text(&object, "cause_sentence", row->cause_sentence, "the time did not change");
    put_real(&object, "explained", row->explained);
    put_real(&object, "explained_low", row->explained_low);
    put_real(&object, "sm_hz_ratio", row->sm_hz_ratio);
    put_real(&object, "memory_hz_ratio", row->memory_hz_ratio);
    put_real(&object, "cycles_ratio", row->cycles_ratio);
    put(&object, "time_s", time_json(&row->time));
    put(&object, "dram_bytes", bytes_json(&row->bytes));
    put_notes(&object, &row->notes);
    return object_end(&object);
}

static json_t *ceiling_json(const void *items, size_t index)
{
    const struct compare_ceiling *ceiling = (const struct compare_ceiling *)items + index;
    struct object object = object_new();
    put(&object, "name", json_string(ceiling->name));
    put(&object, "state", json_string(rl_state_name(ceiling->state)));
    put_text(&object, "time_verdict", compare_verdict_name(ceiling->value.verdict), "neither side has a value");
    put(&object, "value", time_json(&ceiling->value));
    put_notes(&object, &ceiling->notes);
    return object_end(&object);
}

static json_t *machine_json(const struct compare_machine *machine)
{
    struct object object = object_new();
    put_text(&object, "time_verdict", compare_verdict_name(machine->verdict), machine->ratio.why);
    put_real(&object, "ratio", machine->ratio);
    put_real(&object, "low", machine->low);
    put_real(&object, "high", machine->high);
    put_count(&object, "rows", machine->rows);
    put_count(&object, "rows_together", machine->rows_together);
    put(&object, "sentence", json_string(machine->sentence));
    return object_end(&object);
}

static json_t *counts_json(const size_t counts[COMPARE_VERDICT_COUNT], bool bytes)
{
    struct object object = object_new();
    for (int verdict = COMPARE_SAME; verdict < COMPARE_VERDICT_COUNT; verdict++) {
        bool of_time = verdict == COMPARE_SLOWER || verdict == COMPARE_FASTER;
        bool of_bytes = verdict == COMPARE_MORE || verdict == COMPARE_FEWER;
        if (bytes ? !of_time : !of_bytes)
            put_count(&object, compare_verdict_name((enum compare_verdict)verdict), counts[verdict]);
    }
    return object_end(&object);
}

/* The constants by which it was judged, so that an answer can be read without this source. */
static json_t *rules_json(void)
{
    struct object object = object_new();
    put(&object, "change", json_real(COMPARE_CHANGE));
    put(&object, "family_error", json_real(COMPARE_ALPHA));
    put_count(&object, "runs_max", COMPARE_RUNS_MAX);
    put_count(&object, "rank_runs_min", COMPARE_RANK_MIN);
    put_count(&object, "history_min", COMPARE_HISTORY_MIN);
    put(&object, "sentence",
        json_string(
            "A run is one draw of each row. The ratio is Hodges and Lehmann's, its interval that of the rank test; "
            "rows and states are one family, corrected for by Holm's rule. same: the interval is inside 1 percent; "
            "slower or faster: it is beyond no change, and the ratio is at least 1 percent away; else ambiguous."));
    return object_end(&object);
}

json_t *compare_to_json(const struct compare_result *result)
{
    struct object object = object_new();
    put(&object, "outcome", json_string(compare_outcome_name(result->outcome)));
    put(&object, "sentence", json_string(result->sentence));
    put(&object, "comparable", json_boolean(result->not_comparable_count == 0));
    put_count(&object, "regressions", result->regressions);
    put_count(&object, "improvements", result->improvements);
    put(&object, "time_verdicts", counts_json(result->time_counts, false));
    put(&object, "bytes_verdicts", counts_json(result->bytes_counts, true));
    put(&object, "not_comparable", list(result->not_comparable, result->not_comparable_count, note_json));
    put(&object, "warnings", list(result->warnings, result->warning_count, note_json));
    put(&object, "base", side_json(&result->base));
    put(&object, "head", side_json(&result->head));
    put(&object, "rules", rules_json());
    put(&object, "machine", machine_json(&result->machine));
    put(&object, "rows", list(result->rows, result->row_count, row_json));
    put(&object, "ceilings", list(result->ceilings, result->ceiling_count, ceiling_json));
    return object_end(&object);
}
