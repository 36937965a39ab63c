/* The error catalogue as a table, and the carrier's two writers. */
#include "gpu/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"

struct entry {
    const char *id;
    int http, exit;
    const char *next_action;
};

static const struct entry catalogue[RL_E_COUNT] = {
    [RL_E_NONE] = {"ok", 200, 0, ""},
#define RL_ERROR(symbol, id, http, exit, next_action) [RL_E_##symbol] = {id, http, exit, next_action},
#include "gpu/base/err.def"
#undef RL_ERROR
};

/* Messages quote values that came from outside: every byte that is no valid UTF-8 becomes '?', so that the
 * message can go into JSON, and a character that the buffer's end cut in two goes away whole. */
static void make_valid(char *text, bool cut)
{
    size_t len = strlen(text);
    size_t at = 0;
    while (at < len) {
        size_t step = rl_utf8_step(text + at, len - at);
        if (step > 0) {
            at += step;
        } else if (cut && len - at < 4 && (unsigned char)text[at] >= 0xC2) {
            text[at] = '\0';
            return;
        } else {
            text[at++] = '?';
        }
    }
}

static void copy_text(char *to, size_t size, const char *from)
{
    size_t len = strlen(from);
    bool cut = len >= size;
    if (cut)
        len = size - 1;
    memcpy(to, from, len);
    to[len] = '\0';
    make_valid(to, cut);
}

int rl_fail(struct rl_err *err, enum rl_code code, const char *field, const char *fmt, ...)
{
    if (err == NULL)
        return -1;
    /* The arguments may point into err itself, so the text is made before the carrier is touched. */
    char message[sizeof err->message];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    if (length < 0)
        copy_text(message, sizeof message, "the message could not be formatted");
    make_valid(message, length >= (int)sizeof message);
    char name[sizeof err->field];
    copy_text(name, sizeof name, field == NULL ? "" : field);
    err->code = code;
    memcpy(err->field, name, sizeof name);
    memcpy(err->message, message, sizeof message);
    return -1;
}

int rl_wrap(struct rl_err *err, const char *fmt, ...)
{
    if (err == NULL)
        return -1;
    char context[sizeof err->message];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(context, sizeof context, fmt, args);
    va_end(args);
    if (length < 0)
        return -1;
    char message[2 * sizeof err->message + 2];
    snprintf(message, sizeof message, "%s: %s", context, err->message);
    copy_text(err->message, sizeof err->message, message);
    return -1;
}

static const struct entry *look_up(enum rl_code code)
{
    /* A code outside the enum is a defect of the caller; it must not become one of memory. */
    return (unsigned)code < RL_E_COUNT ? &catalogue[code] : &catalogue[RL_E_INTERNAL];
}

const char *rl_code_id(enum rl_code code)
{
    return look_up(code)->id;
}

int rl_code_http(enum rl_code code)
{
    return look_up(code)->http;
}

int rl_code_exit(enum rl_code code)
{
    return look_up(code)->exit;
}

const char *rl_code_next_action(enum rl_code code)
{
    return look_up(code)->next_action;
}

enum rl_code rl_code_from_id(const char *id)
{
    for (int code = RL_E_NONE + 1; code < RL_E_COUNT; code++)
        if (id != NULL && strcmp(catalogue[code].id, id) == 0)
            return (enum rl_code)code;
    return RL_E_NONE;
}

bool rl_code_is_counters(enum rl_code code)
{
    return code >= RL_E_COUNTERS_PERMISSION && code <= RL_E_COUNTERS_LIBRARY;
}

int rl_err_print(const char *program, const struct rl_err *err)
{
    return rl_err_print_action(program, err, rl_code_next_action(err->code));
}

int rl_err_print_action(const char *program, const struct rl_err *err, const char *action)
{
    char line[sizeof err->message + 512];
    snprintf(line, sizeof line, "%s: %s%s%s%s", program, err->message, action[0] ? " (" : "", action,
             action[0] ? ")" : "");
    /* One line whatever a quoted value holds, and nothing that a terminal would obey. */
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    fprintf(stderr, "%s\n", line);
    return rl_code_exit(err->code);
}
