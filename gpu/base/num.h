/* Numbers in and out of text, independent of the locale. */
#ifndef RL_BASE_NUM_H
#define RL_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whole-string decimal integer in [min, max]; no sign '+', no space, no leading zeros but "0". 0 or -1. */
int rl_parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret);
/* Whole-string finite decimal number with '.'; 0 or -1. */
int rl_parse_real(const char *text, double *ret);
/* Fixed-point text with '.' whatever the locale is; returns the length written, or -1 when it does not fit
 * or value is not finite. */
int rl_format_fixed(char *text, size_t size, double value, int decimals);
/* a*b and a+b into *ret; false on overflow, *ret untouched. */
bool rl_mul_u64(uint64_t a, uint64_t b, uint64_t *ret);
bool rl_add_u64(uint64_t a, uint64_t b, uint64_t *ret);
/* Whether text is valid UTF-8 without NUL, at most max_bytes long. */
bool rl_utf8_valid(const char *text, size_t len);

#endif
