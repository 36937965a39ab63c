/* Numbers as profilers print them under any locale. */
#ifndef GPU_IMPORT_TEXT_NUMBER_H
#define GPU_IMPORT_TEXT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ways of writing numbers that have been seen: which character groups thousands, which begins the fraction. */
enum { IMPORT_FORMATS = 6 };
struct import_numbers {
    unsigned alive; /* bit i: every number so far can be read in format i */
    struct {
        size_t line;
        char text[32];
    } killed[IMPORT_FORMATS]; /* by what a format was ruled out */
};
void import_numbers_begin(struct import_numbers *numbers);
/* Takes text as evidence. What no format can read is no number, and none. */
void import_numbers_see(struct import_numbers *numbers, const char *text, size_t line);
/* text in one format; -1 when it is not a number in it. */
int import_number_parse(unsigned format, const char *text, double *ret);
/* text times `times` as a whole number, in decimal arithmetic, halves of the last unit rounded up: 32.66 x 1e6 is
 * 32660000. -1 when it is no number in the format, negative, or over 1e18. */
int import_number_whole(unsigned format, const char *text, uint64_t times, int64_t *ret);
/* One of the last digit that text has: 0.01 of "32.66". 0 for what is no number. */
double import_number_step(unsigned format, const char *text);
unsigned import_number_formats(const char *text); /* bit i: format i can read it */
/* Whether text is what stands where there is no number: "n/a", "-nan(ind)", "inf", nothing. */
bool import_number_is_odd(const char *text);
/* Whether text, a number in this format, has digits behind a decimal separator, be they zeros. */
bool import_number_has_fraction(unsigned format, const char *text);
const char *import_number_words(unsigned format); /* "thousands ',' decimals '.'" */

#endif
