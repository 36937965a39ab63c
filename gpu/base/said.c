#include "gpu/base/said.h"

#include "gpu/base/num.h"

int rl_said_check(const char *text, size_t len, const char *field, size_t max, bool lines, struct rl_err *err)
{
    size_t characters = 0;
    if (!rl_utf8_valid(text, len))
        return rl_fail(err, RL_E_BAD_FIELD, field, "%s is not UTF-8 text without NUL", field);
    for (size_t at = 0; at < len; at += rl_utf8_step(text + at, len - at), characters++) {
        unsigned control = lines ? rl_utf8_control_of_lines(text + at, len - at) : rl_utf8_control(text + at, len - at);
        if (control != 0)
            return rl_fail(err, RL_E_BAD_FIELD, field, "%s has the control character U+%04X at byte %zu: %s", field,
                           control, at, lines ? "only line feed and tab are kept" : "it has to be one line");
    }
    if (characters < 1 || characters > max)
        return rl_fail(err, RL_E_BAD_FIELD, field, "%s has %zu characters; 1 to %zu are taken", field, characters, max);
    if (!rl_utf8_is_visible(text, len))
        return rl_fail(err, RL_E_BAD_FIELD, field, "%s has nothing that can be seen", field);
    return 0;
}

int rl_label_check(const char *text, size_t len, const char *field, struct rl_err *err)
{
    return rl_said_check(text, len, field, RL_LABEL_CHARACTERS, false, err);
}
