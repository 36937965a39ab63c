/* Members of the JSON objects of timings. */
#include "gpu/import/timings/members.h"

#include <math.h>
#include <string.h>

#include "gpu/import/common/rows.h"
#include "gpu/import/text/json.h"

int import_member_real(const struct import_place *at, const json_t *object, const char *name, double least, double most,
                       double *ret)
{
    char seen[IMPORT_QUOTE];
    const json_t *value = json_object_get(object, name);
    if (value == NULL)
        return import_fail_at(at, RL_E_IMPORT_FORMAT, name, "is missing; a number from %g to %g is expected", least,
                              most);
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= least && number <= most))
        return import_fail_at(at, RL_E_IMPORT_FORMAT, name, "is %s; a number from %g to %g is expected",
                              import_json_seen(value, seen), least, most);
    *ret = number;
    return 0;
}

int import_member_count(const struct import_place *at, const json_t *object, const char *name, struct rl_count *ret)
{
    char seen[IMPORT_QUOTE];
    const json_t *value = json_object_get(object, name);
    if (value == NULL)
        return 0;
    double number = json_number_value(value);
    if (!json_is_number(value) || number < 0 || number > 1e18 || number != floor(number))
        return import_fail_at(at, RL_E_IMPORT_FORMAT, name, "is %s; a whole number from 0 to 1e18 is expected",
                              import_json_seen(value, seen));
    *ret = (struct rl_count){json_is_integer(value) ? (int64_t)json_integer_value(value) : (int64_t)number, NULL};
    return 0;
}

int import_member_dims(const struct import_place *at, const json_t *object, const char *name, int64_t most,
                       int64_t ret[3], bool *ret_given)
{
    char seen[IMPORT_QUOTE];
    const json_t *value = json_object_get(object, name);
    *ret_given = value != NULL;
    for (size_t i = 0; value != NULL && i < 3; i++) {
        const json_t *item = json_array_get(value, i);
        double number = json_number_value(item);
        if (json_array_size(value) != 3 || !json_is_number(item) || number < 1 || number > (double)most ||
            number != floor(number))
            return import_fail_at(at, RL_E_IMPORT_FORMAT, name,
                                  "is %s; three whole numbers from 1 to %lld are expected",
                                  import_json_seen(value, seen), (long long)most);
        ret[i] = (int64_t)number;
    }
    return 0;
}

int import_member_text(const struct import_place *at, const json_t *object, const char *name, const char **ret)
{
    char seen[IMPORT_QUOTE];
    const json_t *value = json_object_get(object, name);
    const char *text = json_string_value(value);
    if (value == NULL)
        return import_fail_at(at, RL_E_IMPORT_FORMAT, name, "is missing; a kernel's name is expected");
    if (text == NULL || text[0] == '\0' || strlen(text) > IMPORT_NAME_MAX || strlen(text) != json_string_length(value))
        return import_fail_at(at, RL_E_IMPORT_FORMAT, name, "is %s; a name of 1 to %u bytes is expected",
                              import_json_seen(value, seen), IMPORT_NAME_MAX);
    if (!rl_kernel_name_valid(text))
        return import_fail_at(at, RL_E_IMPORT_FORMAT, name, IMPORT_BAD_NAME, import_quote(seen, text));
    *ret = text;
    return 0;
}
