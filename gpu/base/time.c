/* Clocks, and RFC 3339 both ways, without the C library's time zones and locale. */
#include "gpu/base/time.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MS_PER_DAY INT64_C(86400000)

int64_t rl_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t rl_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t boot_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Between its two readings this thread may be kept from running: then once more. */
struct rl_moment rl_moment_now(void)
{
    struct rl_moment now = {0};
    for (int i = 0; i < 8; i++) {
        int64_t before = boot_ns();
        now.ms = rl_now_ms();
        now.boot_ns = boot_ns();
        if (now.boot_ns - before < 10000000)
            break;
    }
    return now;
}

int64_t rl_moment_since(const struct rl_moment *from, bool *ret_stepped)
{
    struct rl_moment now = rl_moment_now();
    int64_t ms = from->ms + (now.boot_ns - from->boot_ns) / 1000000;
    if (ret_stepped != NULL)
        *ret_stepped = now.ms - ms > RL_CLOCK_STEP_MS || ms - now.ms > RL_CLOCK_STEP_MS;
    return ms;
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int month_days(int year, int month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 0001-01-01 to 1970-01-01 in the proleptic Gregorian calendar. */
#define DAYS_TO_1970 INT64_C(719162)

/* Days from 0001-01-01 to the first day of the year. */
static int64_t days_before_year(int year)
{
    int64_t y = year - 1;
    return y * 365 + y / 4 - y / 100 + y / 400;
}

int64_t rl_time_day(int64_t ms)
{
    return ms / MS_PER_DAY - (ms % MS_PER_DAY < 0);
}

static void split_day(int64_t day, int *ret_year, int *ret_month, int *ret_day)
{
    int64_t days = day + DAYS_TO_1970;
    /* 146097 days in 400 years: the guess is off by one year at most, the loops settle it. */
    int year = (int)(days * 400 / 146097) + 1;
    while (days_before_year(year) > days)
        year--;
    while (days_before_year(year + 1) <= days)
        year++;
    int64_t rest = days - days_before_year(year);
    int month = 1;
    while (rest >= month_days(year, month))
        rest -= month_days(year, month++);
    *ret_year = year;
    *ret_month = month;
    *ret_day = (int)rest + 1;
}

#define FIRST_DAY (-DAYS_TO_1970)  /* 0001-01-01 */
#define LAST_DAY  INT64_C(2932896) /* 9999-12-31 */

static void put_number(char *text, int digits, unsigned value)
{
    for (; digits > 0; value /= 10)
        text[--digits] = (char)('0' + value % 10);
}

void rl_time_format(int64_t ms, char text[RL_TIME_TEXT])
{
    int64_t day = rl_time_day(ms);
    if (day < FIRST_DAY || day > LAST_DAY) {
        snprintf(text, RL_TIME_TEXT, "%s", "time out of range");
        return;
    }
    unsigned in_day = (unsigned)(ms - day * MS_PER_DAY);
    int year, month, mday;
    split_day(day, &year, &month, &mday);
    /* No printf: a list or a trend has hundreds of times. */
    memcpy(text, "0000-00-00T00:00:00.000Z", RL_TIME_TEXT);
    put_number(text, 4, (unsigned)year);
    put_number(text + 5, 2, (unsigned)month);
    put_number(text + 8, 2, (unsigned)mday);
    put_number(text + 11, 2, in_day / 3600000u);
    put_number(text + 14, 2, in_day / 60000u % 60u);
    put_number(text + 17, 2, in_day / 1000u % 60u);
    put_number(text + 20, 3, in_day % 1000u);
}

/* Exactly count digits at *text, which moves behind them; -1 when there are fewer. */
static int digits(const char **text, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        char c = (*text)[i];
        if (c < '0' || c > '9')
            return -1;
        value = value * 10 + (c - '0');
    }
    *text += count;
    return value;
}

static bool skip(const char **text, char wanted)
{
    if (**text != wanted)
        return false;
    (*text)++;
    return true;
}

static int parse_date(const char **text, int64_t *ret_day)
{
    int year = digits(text, 4);
    if (year < 1 || !skip(text, '-'))
        return -1;
    int month = digits(text, 2);
    if (month < 1 || month > 12 || !skip(text, '-'))
        return -1;
    int mday = digits(text, 2);
    if (mday < 1 || mday > month_days(year, month))
        return -1;
    int64_t day = days_before_year(year) - DAYS_TO_1970 + mday - 1;
    for (int m = 1; m < month; m++)
        day += month_days(year, m);
    *ret_day = day;
    return 0;
}

static int parse_clock(const char **text, int64_t *ret_ms)
{
    int hour = digits(text, 2);
    if (hour < 0 || hour > 23 || !skip(text, ':'))
        return -1;
    int minute = digits(text, 2);
    if (minute < 0 || minute > 59 || !skip(text, ':'))
        return -1;
    int second = digits(text, 2);
    if (second < 0 || second > 59)
        return -1;
    int ms = 0, count = 0;
    if (skip(text, '.')) {
        for (; **text >= '0' && **text <= '9' && count < 9; (*text)++, count++)
            if (count < 3)
                ms = ms * 10 + (**text - '0');
        if (count == 0)
            return -1;
        for (; count < 3; count++)
            ms *= 10;
    }
    *ret_ms = ((int64_t)hour * 3600 + minute * 60 + second) * 1000 + ms;
    return 0;
}

static int parse_zone(const char **text, int64_t *ret_ms)
{
    if (skip(text, 'Z') || skip(text, 'z')) {
        *ret_ms = 0;
        return 0;
    }
    int sign = skip(text, '+') ? 1 : skip(text, '-') ? -1 : 0;
    if (sign == 0)
        return -1;
    int hour = digits(text, 2);
    if (hour < 0 || hour > 23 || !skip(text, ':'))
        return -1;
    int minute = digits(text, 2);
    if (minute < 0 || minute > 59)
        return -1;
    *ret_ms = sign * ((int64_t)hour * 60 + minute) * 60000;
    return 0;
}

int rl_time_parse(const char *text, int64_t *ret_ms)
{
    int64_t day, clock = 0, zone = 0;
    if (parse_date(&text, &day) < 0)
        return -1;
    if (*text != '\0') {
        if (!skip(&text, 'T') && !skip(&text, 't'))
            return -1;
        if (parse_clock(&text, &clock) < 0 || parse_zone(&text, &zone) < 0 || *text != '\0')
            return -1;
    }
    int64_t ms = day * MS_PER_DAY + clock - zone;
    if (rl_time_day(ms) < FIRST_DAY || rl_time_day(ms) > LAST_DAY)
        return -1;
    *ret_ms = ms;
    return 0;
}
