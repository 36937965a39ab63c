/* A kernel's own name within what demanglers and profilers print: types, scopes, template arguments, parameters, ABI
 * tags and the suffixes of clones around it. */
#include "gpu/import/text/names.h"

#include <string.h>

#define NESTING_MAX 256

struct scan {
    const char *name;
    size_t len, at;
    size_t begin, end; /* of the component being read; end is SIZE_MAX while it goes on */
};

static bool word_at(const char *text, const char *begin, const char *word)
{
    size_t len = strlen(word);
    return strncmp(text, word, len) == 0 &&
           (text == begin || strchr(" :*&<(,", text[-1]) != NULL); /* and not a part of another word */
}

/* The operator's own characters, none of which opens or closes anything: "operator()", "operator->", "operator<<". */
static size_t operator_length(const char *text, const char *begin)
{
    if (!word_at(text, begin, "operator"))
        return 0;
    const char *symbol = text + 8 + strspn(text + 8, " ");
    if (strncmp(symbol, "()", 2) == 0 || strncmp(symbol, "[]", 2) == 0)
        return (size_t)(symbol + 2 - text);
    size_t symbols = strspn(symbol, "+-*/%^&|~!=<>,");
    return symbols > 0 ? (size_t)(symbol + symbols - text) : 0;
}

static char closer_of(char open)
{
    switch (open) {
    case '(':
        return ')';
    case '[':
        return ']';
    case '{':
        return '}';
    default:
        return open == '<' ? '>' : '\0';
    }
}

/* The character behind the bracket that text[at] opens; 0 where it is not closed. */
static size_t behind_bracket(const struct scan *s, size_t at)
{
    char open[NESTING_MAX];
    size_t depth = 0;
    for (; at < s->len; at++) {
        char c = s->name[at];
        size_t skip = operator_length(s->name + at, s->name);
        if (skip > 0) {
            at += skip - 1;
            continue;
        }
        if (c == '-' && s->name[at + 1] == '>') { /* of a lambda's result, or a member: closes nothing */
            at++;
            continue;
        }
        if (closer_of(c) != '\0') {
            if (depth == NESTING_MAX)
                return 0;
            open[depth++] = closer_of(c);
        } else if (depth > 0 && strchr(")]}>", c) != NULL) {
            while (depth > 1 && open[depth - 1] == '>' && c != '>') /* it was "less than" */
                depth--;
            if (open[depth - 1] == c)
                depth--;
            if (depth == 0)
                return at + 1;
        }
    }
    return 0;
}

/* Suffixes that compilers give to a function that they changed, from the first of them. */
static size_t before_suffix(const char *name, size_t begin, size_t end)
{
    static const char *const suffixes[] = {".constprop", ".part", ".isra",     ".cold", ".kd",
                                           ".jit",       ".llvm", ".lto_priv", ".clone"};
    for (size_t at = begin + 1; at < end; at++) {
        if (name[at] != '.')
            continue;
        for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
            size_t len = strlen(suffixes[i]);
            if (end - at >= len && memcmp(name + at, suffixes[i], len) == 0 &&
                (end - at == len || name[at + len] == '.'))
                return at;
        }
    }
    /* Numba's older versions number their specialisations: "axpy$241" */
    size_t digits = end;
    while (digits > begin && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    return digits < end && digits > begin + 1 && name[digits - 1] == '$' ? digits - 1 : end;
}

/* Takes one bracket at the name's own level. true: it is the parameter list of a component that has a name, which is
 * the function's. */
static bool take_bracket(struct scan *s)
{
    size_t behind = behind_bracket(s, s->at);
    bool scope = behind > 0 && strncmp(s->name + behind, "::", 2) == 0;
    bool named = s->end != SIZE_MAX ? s->end > s->begin : s->at > s->begin;
    if (s->end == SIZE_MAX)
        s->end = s->at;
    if (s->name[s->at] == '(' && !scope && named && !word_at(s->name + s->begin, s->name, "decltype"))
        return true;
    s->at = behind > 0 ? behind : s->len;
    return false;
}

static void begin_component(struct scan *s, size_t at)
{
    s->begin = s->at = at;
    s->end = SIZE_MAX;
}

/* The component before the parameter list, or the last one. */
static void find(struct scan *s)
{
    begin_component(s, 0);
    while (s->at < s->len) {
        const char *c = s->name + s->at;
        size_t skip = operator_length(c, s->name);
        if (skip > 0)
            s->at += skip;
        else if (strncmp(c, "::", 2) == 0)
            begin_component(s, s->at + 2);
        else if (*c == ' ' && strncmp(c, " [clone", 7) == 0)
            break;
        else if (*c == ' ' && c[1] == '(') { /* "k (int)" */
            s->end = s->end == SIZE_MAX ? s->at : s->end;
            s->at++;
        } else if (strchr(" *&>", *c) != NULL) /* a '>' that nothing opened: a name cut at its front */
            begin_component(s, s->at + 1);
        else if (closer_of(*c) != '\0') {
            if (take_bracket(s))
                break;
        } else
            s->at++;
    }
    if (s->end == SIZE_MAX)
        s->end = s->at;
}

const char *import_base_name(struct rl_arena *arena, const char *name)
{
    struct scan s = {.name = name, .len = strlen(name)};
    find(&s);
    size_t end = s.end > s.begin ? before_suffix(name, s.begin, s.end) : s.end;
    if (end <= s.begin) /* nothing like a function's name */
        return rl_arena_strdup(arena, name);
    return rl_arena_printf(arena, "%.*s", (int)(end - s.begin), name + s.begin);
}
