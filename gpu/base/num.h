/* Numbers in and out of text, independent of the locale. */
#ifndef RL_BASE_NUM_H
#define RL_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whole-string decimal integer in [min, max]; no sign '+', no "-0", no space, no leading zeros but "0". 0 or -1. */
int rl_parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret);
/* Whole-string finite decimal number by JSON's grammar ('.', no leading '+', '.' or zeros, no space); 0 or -1. */
int rl_parse_real(const char *text, double *ret);
/* Fixed-point text with '.' whatever the locale is; returns the length written, or -1 when it does not fit
 * or value is not finite. */
int rl_format_fixed(char *text, size_t size, double value, int decimals);
/* Whole numbers below 1e18 in full ("4.0", "1230000000000000.0"); of others the shortest of 15, 16 or 17 digits that
 * reads back as exactly this double: with '.' whatever the locale is, and always with a '.' or an 'e', so that readers
 * keep it a real ("0.1", "1e+20"). Returns the length, or -1: not finite, or size < RL_REAL_TEXT.
 */
#define RL_REAL_TEXT 32
int rl_format_real(char *text, size_t size, double value);
/* What a noun ends with after this number of things: "" after one, else "s". */
const char *rl_plural(uint64_t count);
/* a*b and a+b into *ret; false on overflow, *ret untouched. */
bool rl_mul_u64(uint64_t a, uint64_t b, uint64_t *ret);
bool rl_add_u64(uint64_t a, uint64_t b, uint64_t *ret);
/* Length of the UTF-8 character at text, 1 to 4; 0 when the bytes there are none, or NUL, or len ends inside it. */
size_t rl_utf8_step(const char *text, size_t len);
/* Whether the len bytes at text are valid UTF-8 without NUL. */
bool rl_utf8_valid(const char *text, size_t len);
/* The code point of the character that the len bytes of valid UTF-8 at text begin with, when it is a control character
 * to a terminal or ends a line: below U+0020, U+007F to U+009F, U+2028, U+2029. 0 for every other, and at the end. */
unsigned rl_utf8_control(const char *text, size_t len);
/* The same for a text of several lines, as a note is: line feed, tab, U+2028 and U+2029 belong to it and give 0. */
unsigned rl_utf8_control_of_lines(const char *text, size_t len);
/* Whether the len bytes of valid UTF-8 at text have a character that is to be seen: not blanks, line feeds, tabs and
 * marks of no width alone. */
bool rl_utf8_is_visible(const char *text, size_t len);
/* Whether text is valid UTF-8 of one line: none of the above in it, and a character that is to be seen (not blanks and
 * marks of no width alone). */
bool rl_utf8_is_line(const char *text);

#endif
