/* What a command of rooflinectl says of itself: its options beside the command, and what the reader of command lines
 * makes of them. */
#ifndef SERVER_CTL_COMMAND_H
#define SERVER_CTL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/base/err.h"

struct ctl_http;

struct ctl_option {
    const char *name, *value; /* without dashes; value: what stands for it in help, NULL: a switch */
    size_t at;                /* in the command's struct of values: of a const char *, of a switch a bool */
    const char *what;
};
/* At the beginning of what: help has the names of all suites in its place, or of those that can be submitted. */
#define CTL_SUITES      "{suites}"
#define CTL_SUBMITTABLE "{submittable}"
struct ctl_table {
    const struct ctl_option *options;
    size_t count;
};
#define CTL_TABLE(options)                                                                                             \
    {                                                                                                                  \
        options, sizeof(options) / sizeof(options)[0]                                                                  \
    }

/* Options of every command; NULL: not given. */
struct ctl_common {
    const char *url, *unix_path, *token_file, *timeout;
    bool json, help, version;
};

enum { CTL_WORDS_MAX = 3 };
/* A command line as it was given: words (the command's name first) and options with their values. */
struct ctl_given {
    const char *name; /* behind the dashes; of so many bytes */
    size_t len;
    const char *value; /* NULL: a switch */
};
struct ctl_line {
    const char *words[CTL_WORDS_MAX];
    size_t word_count;
    struct ctl_given *given;
    size_t given_count;
};

/* What a command is called with. */
struct ctl_call {
    const struct ctl_common *common;
    const void *values; /* the command's own struct */
    const char *argument, *second;
};

struct ctl_command {
    const char *name, *argument; /* argument NULL: takes none */
    const char *what;
    const char *two;       /* takes two words; what is said when one is missing. NULL: at most one, an id */
    const char *more;      /* help, below what; may be NULL */
    const char *last;      /* help, below the options; may be NULL */
    bool plain;            /* has no --json */
    size_t values_size;    /* of its struct of values; 0: it has none */
    struct ctl_table own;  /* its options */
    struct ctl_table with; /* options that it shares with others: their struct is the first member of its own */
    /* Options that depend on the line, as those of a suite. NULL: none. -1 with RL_E_USAGE. */
    int (*extend)(const struct ctl_line *line, struct ctl_table *ret, struct rl_err *err);
    /* An option that it would have on another line, and says so on err: -1; 0 when there is none. NULL: none. */
    int (*elsewhere)(const struct ctl_line *line, const char *name, size_t len, struct rl_err *err);
    /* Any option that it may have on some line; NULL when there is none. */
    const struct ctl_option *(*ever)(const char *name, size_t len);
    void (*help)(const struct ctl_line *line); /* printed in place of the extension's options; NULL */
    /* The exit code, or -1 with err. */
    int (*run)(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err);
};

/* ---- server/ctl/read.c ---- */
/* The option of a name on a line of this command (NULL: not said yet), or NULL. */
typedef const struct ctl_option *ctl_find(const char *command, const char *name, size_t len);
/* Takes a command line apart. "--name", "--name=value", "--name value"; "--" ends options. RL_E_USAGE. Borrows argv;
 * to be freed with ctl_line_free, also after an error. */
int ctl_read(int argc, char **argv, ctl_find *find, struct ctl_line *ret, struct rl_err *err);
void ctl_line_free(struct ctl_line *line);
/* The value given last; NULL: not given. */
const char *ctl_line_value(const struct ctl_line *line, const char *name);
const struct ctl_option *ctl_table_find(struct ctl_table table, const char *name, size_t len);
/* Writes a given option's value where its option says. */
void ctl_set(void *values, const struct ctl_option *option, const struct ctl_given *given);

/* ---- server/ctl/help.c ---- */
/* "--name VALUE   what", a line each, below a heading; nothing for an empty table. */
void ctl_print_table(struct ctl_table table);

#endif
