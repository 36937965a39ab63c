/* Kernels' names as different tools print them. Demanglers differ (seen in exports of one PyTorch step by ncu 2025.3
 * and by the PyTorch profiler 2.11, 2026-11-30):
 *
 *   void at::elementwise_kernel<128, 2, void at::f<at::Add<float>>(at::Iter &, const T1 &)::[lambda(int) (instance
 * 1)]>(…) void at::native::elementwise_kernel<128, 2, at::native::f<at::native::Add<float> >(at::Iter&,
 * …)::{lambda(int)#1}>(…) void at::<unnamed>::norm<float, 32, 1>(const T1 *) void at::native::(anonymous
 * namespace)::norm<float, 32u, true>(float const*)
 *
 * so that what both agree on is compared: the function's own name, and its template arguments without their casts,
 * namespaces, parameter lists and types of results. */
#include "gpu/import/text/spelling.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Past the (…) that begins at text[at], or at + 1 when nothing closes it. */
static size_t past_parentheses(const char *text, size_t at)
{
    size_t depth = 0;
    for (size_t i = at; text[i] != '\0'; i++) {
        depth += text[i] == '(';
        if (text[i] == ')' && --depth == 0)
            return i + 1;
    }
    return at + 1;
}

/* "(instance 3)" as "#3"; other parentheses as nothing. */
static size_t take_parentheses(const char *text, size_t at, char *out, size_t *to)
{
    static const char instance[] = "(instance ";
    size_t end = past_parentheses(text, at);
    if (strncmp(text + at, instance, sizeof instance - 1) != 0)
        return end;
    out[(*to)++] = '#';
    for (size_t i = at + sizeof instance - 1; i < end && isdigit((unsigned char)text[i]); i++)
        out[(*to)++] = text[i];
    return end;
}

/* A number without its suffix, or a word. What says nothing of which function it is, is dropped: names of spaces before
 * "::", const, and a result's type before another word. */
static size_t take_word(const char *text, size_t at, char *out, size_t *to)
{
    size_t end = at, next;
    while (is_word(text[end]))
        end++;
    next = end;
    while (text[next] == ' ')
        next++;
    size_t len = end - at;
    bool number = isdigit((unsigned char)text[at]), leads = is_word(text[next]) && next > end;
    if (text[end] == ':' && text[end + 1] == ':')
        return end + 2;
    if (len == 5 && strncmp(text + at, "const", len) == 0)
        return end;
    if (len == 4 && strncmp(text + at, "void", len) == 0 && leads)
        return end;
    if ((len == 4 && strncmp(text + at, "true", len) == 0) || (len == 5 && strncmp(text + at, "false", len) == 0)) {
        out[(*to)++] = len == 4 ? '1' : '0';
        return end;
    }
    while (number && len > 1 && strchr("uUlL", text[at + len - 1]) != NULL)
        len--;
    memcpy(out + *to, text + at, len);
    *to += len;
    return end;
}

char *import_name_key(struct rl_arena *arena, const char *name)
{
    static const char unnamed[] = "<unnamed>::";
    char *out = rl_arena_alloc(arena, strlen(name) + 1);
    size_t to = 0;
    for (size_t at = 0; out != NULL && name[at] != '\0';) {
        if (is_word(name[at]))
            at = take_word(name, at, out, &to);
        else if (name[at] == '(')
            at = take_parentheses(name, at, out, &to);
        else if (strncmp(name + at, unnamed, sizeof unnamed - 1) == 0)
            at += sizeof unnamed - 1;
        else if (name[at] == ' ' || name[at] == ':')
            at++;
        else {
            char c = name[at++];
            out[to++] = c == '[' ? '{' : c == ']' ? '}' : c;
        }
    }
    if (out != NULL)
        out[to] = '\0';
    return out;
}
