/* Text from the daemon, made safe for a terminal and fitted into columns. */
#include <stdio.h>

#include "gpu/base/escape.h"
#include "gpu/base/width.h"
#include "server/ctl/ctl.h"

#define TEXT_MAX 256u
#define TURNS    16u /* more than any one line prints */

const char *ctl_text(const json_t *value)
{
    static char texts[TURNS][4 * TEXT_MAX];
    static unsigned turn;
    char *text = texts[turn++ % TURNS];
    struct rl_buf clean;
    if (!json_is_string(value))
        return "-";
    rl_buf_init(&clean, 4 * TEXT_MAX - 1);
    text_escape(&clean, json_string_value(value), json_string_length(value), false); /* what does not fit is cut */
    snprintf(text, 4 * TEXT_MAX, "%s", clean.data != NULL ? clean.data : "");
    rl_buf_free(&clean);
    return text;
}

const char *ctl_member(const json_t *object, const char *name)
{
    return ctl_text(json_object_get(object, name));
}

const char *ctl_cell(const json_t *value, int width)
{
    static char texts[TURNS][4 * CTL_CELL_MAX + 64];
    static unsigned turn;
    char *text = texts[turn++ % TURNS];
    rl_text_fit(text, sizeof texts[0], ctl_text(value), width < CTL_CELL_MAX ? width : CTL_CELL_MAX);
    return text;
}

void ctl_print_whole(const json_t *value, int width)
{
    const char *text = ctl_text(value);
    if (rl_text_width(text) > width)
        printf("    %s\n", text);
}

int ctl_print(const struct rl_buf *text, struct rl_err *err)
{
    bool good = text->len == 0 || fwrite(text->data, 1, text->len, stdout) == text->len;
    if (good && text->len > 0 && text->data[text->len - 1] != '\n')
        good = fputc('\n', stdout) != EOF;
    return good ? 0 : rl_fail(err, RL_E_IO, NULL, "Standard output could not be written.");
}
