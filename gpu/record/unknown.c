/* Values that nobody has yet: everything that may be null, null with one reason. */
#include "gpu/record/fields.h"

void rl_object_unknown(const struct rl_object *object, void *base, const char *why, enum rl_why_code code)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct rl_field *field = &object->fields[i];
        char *at = (char *)base + field->offset;
        switch (field->kind) {
        case RL_KIND_REAL:
            *(struct rl_real *)(void *)at = (struct rl_real){0, why, code};
            break;
        case RL_KIND_COUNT:
            *(struct rl_count *)(void *)at = (struct rl_count){0, why};
            break;
        case RL_KIND_TEXT:
            *(struct rl_text *)(void *)at = (struct rl_text){NULL, why};
            break;
        case RL_KIND_FLAG3:
            *(struct rl_flag3 *)(void *)at = (struct rl_flag3){false, why};
            break;
        case RL_KIND_OBJECT:
        case RL_KIND_STATE:
            rl_object_unknown(field->object, at, why, code);
            break;
        default:
            break;
        }
    }
}

void rl_row_unknown(struct rl_row *row, const char *why)
{
    rl_object_unknown(&rl_object_row, row, why, RL_WHY_NONE);
}

void rl_ceiling_unknown(struct rl_ceiling *ceiling, const char *why)
{
    rl_object_unknown(&rl_object_ceiling, ceiling, why, RL_WHY_NONE);
}

void rl_counters_unknown(struct rl_counters *counters, const char *why)
{
    rl_object_unknown(&rl_object_counters, counters, why, RL_WHY_NONE);
}

void rl_device_unknown(struct rl_device *device, const char *why)
{
    rl_object_unknown(&rl_object_device, device, why, RL_WHY_NONE);
}

void rl_environment_unknown(struct rl_environment *environment, const char *why)
{
    rl_object_unknown(&rl_object_environment, environment, why, RL_WHY_NONE);
}

void rl_telemetry_unknown(struct rl_telemetry *telemetry, const char *why)
{
    rl_object_unknown(&rl_object_telemetry, telemetry, why, RL_WHY_NONE);
}
