/* Clocks and their text. */
#ifndef RL_BASE_TIME_H
#define RL_BASE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RL_TIME_TEXT 25 /* "2026-11-29T20:03:35.123Z" and NUL */

int64_t rl_now_ms(void);       /* CLOCK_REALTIME, milliseconds since 1970 UTC */
int64_t rl_monotonic_ns(void); /* CLOCK_MONOTONIC, nanoseconds */

/* A moment by the clock on the wall, and by one that nobody sets: CLOCK_REALTIME and, through suspends too,
 * CLOCK_BOOTTIME. */
struct rl_moment {
    int64_t ms, boot_ns;
};
struct rl_moment rl_moment_now(void);
#define RL_CLOCK_STEP_MS 500 /* steps below it are not noticed; a slewed clock (NTP) makes none */
/* Now, ms since 1970 UTC, as the wall clock of `from` would show it: never before from->ms. *ret_stepped (may be NULL):
 * somebody has set the clock since, so that it shows something else. */
int64_t rl_moment_since(const struct rl_moment *from, bool *ret_stepped);

/* RFC 3339 UTC with milliseconds and Z into text[RL_TIME_TEXT]; years 0001 to 9999;
 * any other time gives the words "time out of range". */
void rl_time_format(int64_t ms, char text[RL_TIME_TEXT]);
/* Parses RFC 3339 with Z or an offset, 0 to 9 fraction digits, or a bare YYYY-MM-DD (midnight UTC).
 * Returns 0, or -1 for anything else, 31 February, 24:00, leap seconds (:60) and times outside years 0001 to 9999
 * included. Digits below a millisecond are cut. */
int rl_time_parse(const char *text, int64_t *ret_ms);
/* Days since 1970-01-01 UTC, rounded down. */
int64_t rl_time_day(int64_t ms);

#endif
