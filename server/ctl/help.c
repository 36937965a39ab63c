/* Options as lines of help. */
#include <stdio.h>
#include <string.h>

#include "server/ctl/command.h"
#include "server/ctl/suite.h"

/* The names of suites where what begins with their mark, which it is moved past; else nothing. */
static void take_mark(const char **what, char *names, size_t size)
{
    static const char *const marks[] = {CTL_SUITES, CTL_SUBMITTABLE};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strncmp(*what, marks[i], strlen(marks[i])) == 0) {
            ctl_suite_names(i == 1, " or ", names, size);
            *what += strlen(marks[i]);
        }
}

void ctl_print_table(struct ctl_table table)
{
    for (size_t i = 0; i < table.count; i++) {
        const struct ctl_option *option = &table.options[i];
        const char *what = option->what;
        char left[40], names[256] = "";
        snprintf(left, sizeof left, "--%s %s", option->name, option->value != NULL ? option->value : "");
        take_mark(&what, names, sizeof names);
        printf("  %-24s %s%s\n", left, names, what);
    }
}
