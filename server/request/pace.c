/* See server/request/pace.h. */
#include "server/request/pace.h"

#include <string.h>

#define FIRST_NS INT64_C(1000000000) /* before that a pace is of the network's first packets */

static int64_t rate(uint64_t bytes, int64_t ns)
{
    return (int64_t)((double)bytes / ((double)ns / 1e9));
}

void http_pace_begin(struct http_pace *pace, int64_t window_ms, int64_t now_ns)
{
    *pace = (struct http_pace){.slot_ns = window_ms * 1000000 / HTTP_PACE_SLOTS, .from_ns = now_ns};
}

void http_pace_add(struct http_pace *pace, size_t bytes)
{
    pace->bytes += bytes;
}

void http_pace_pause(struct http_pace *pace, int64_t now_ns)
{
    if (pace->paused_ns == 0)
        pace->paused_ns = now_ns;
}

void http_pace_resume(struct http_pace *pace, int64_t now_ns)
{
    if (pace->paused_ns == 0)
        return;
    pace->from_ns += now_ns - pace->paused_ns;
    pace->paused_ns = 0;
}

bool http_pace_judge(struct http_pace *pace, int64_t now_ns, int64_t *ret_bytes_s)
{
    int64_t age_ns = now_ns - pace->from_ns, sum = 0;
    if (pace->paused_ns != 0 || age_ns < pace->slot_ns || age_ns <= 0)
        return false;
    memmove(pace->bytes_s + 1, pace->bytes_s, sizeof pace->bytes_s - sizeof pace->bytes_s[0]);
    pace->bytes_s[0] = rate(pace->bytes, age_ns);
    pace->bytes = 0;
    pace->from_ns = now_ns;
    if (pace->slots < HTTP_PACE_SLOTS && ++pace->slots < HTTP_PACE_SLOTS)
        return false;
    for (unsigned i = 0; i < HTTP_PACE_SLOTS; i++)
        sum += pace->bytes_s[i];
    *ret_bytes_s = sum / HTTP_PACE_SLOTS;
    return true;
}

int64_t http_pace_recent(const struct http_pace *pace, int64_t now_ns)
{
    int64_t age_ns = now_ns - pace->from_ns;
    if (pace->slots > 0)
        return pace->bytes_s[0];
    return pace->paused_ns == 0 && age_ns >= FIRST_NS ? rate(pace->bytes, age_ns) : -1;
}
