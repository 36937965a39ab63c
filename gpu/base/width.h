/* How wide a text is on a terminal, and how it fits into a column. No locale is asked. */
#ifndef RL_WIDTH_H
#define RL_WIDTH_H

#include <stdbool.h>
#include <stddef.h>

/* Columns that valid UTF-8 takes: 2 for a wide character (East Asian, emoji), 0 for one that combines with that before
 * it, else 1. A byte that is no UTF-8 counts as 1. */
int rl_text_width(const char *text);
/* The text in exactly `width` columns (at least 1): padded with blanks, or cut in the middle with "…" there, since
 * names differ at both ends. Into out, NUL-terminated; 4 * width + 64 bytes are enough where few characters combine,
 * and what finds no room is left out. Returns whether it was cut. */
bool rl_text_fit(char *out, size_t size, const char *text, int width);

#endif
