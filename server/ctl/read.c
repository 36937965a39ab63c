/* The reader of command lines. It knows no command. */
#include <stdlib.h>
#include <string.h>

#include "server/ctl/command.h"

const struct ctl_option *ctl_table_find(struct ctl_table table, const char *name, size_t len)
{
    for (size_t i = 0; i < table.count; i++)
        if (strlen(table.options[i].name) == len && strncmp(table.options[i].name, name, len) == 0)
            return &table.options[i];
    return NULL;
}

void ctl_set(void *values, const struct ctl_option *option, const struct ctl_given *given)
{
    char *at = (char *)values + option->at;
    if (option->value != NULL)
        memcpy(at, &given->value, sizeof given->value);
    else
        *(bool *)at = true;
}

/* One option; *i moves past what it took. */
static int read_option(int argc, char **argv, int *i, ctl_find *find, struct ctl_line *ret, struct rl_err *err)
{
    const char *name = argv[*i] + 2, *value = NULL;
    size_t len = strcspn(name, "=");
    const struct ctl_option *option = find(ret->words[0], name, len);
    if (option == NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "--%.*s is not an option.", (int)len, name);
    if (option->value == NULL && name[len] == '=')
        return rl_fail(err, RL_E_USAGE, NULL, "--%s takes no value.", option->name);
    if (option->value != NULL) {
        value = name[len] == '=' ? name + len + 1 : *i + 1 < argc ? argv[++*i] : NULL;
        if (value == NULL)
            return rl_fail(err, RL_E_USAGE, NULL, "--%s needs a value: %s.", option->name, option->value);
    }
    ret->given[ret->given_count++] = (struct ctl_given){name, len, value};
    return 0;
}

int ctl_read(int argc, char **argv, ctl_find *find, struct ctl_line *ret, struct rl_err *err)
{
    bool only_words = false;
    *ret = (struct ctl_line){.given = calloc((size_t)argc + 1, sizeof *ret->given)};
    if (ret->given == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the command line.");
    for (int i = 1; i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true;
        } else if (!only_words && strncmp(argv[i], "--", 2) == 0) {
            if (read_option(argc, argv, &i, find, ret, err) != 0)
                return -1;
        } else if (!only_words && argv[i][0] == '-' && argv[i][1] != '\0') {
            return rl_fail(err, RL_E_USAGE, NULL, "%s is not an option: all have long names.", argv[i]);
        } else if (ret->word_count < CTL_WORDS_MAX) {
            ret->words[ret->word_count++] = argv[i];
        } else {
            return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is one word too many.", argv[i]);
        }
    }
    return 0;
}

void ctl_line_free(struct ctl_line *line)
{
    free(line->given);
    line->given = NULL;
}

const char *ctl_line_value(const struct ctl_line *line, const char *name)
{
    for (size_t i = line->given_count; i > 0; i--)
        if (line->given[i - 1].len == strlen(name) && strncmp(line->given[i - 1].name, name, strlen(name)) == 0)
            return line->given[i - 1].value;
    return NULL;
}
