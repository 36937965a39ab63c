/* How fast a body comes, or an answer that is made while it is sent is taken. Counted in slots, a third of the window
 * over which it is judged, so that who is slow is known before the window is over. Pure: the caller says what time it
 * is, on the monotonic clock. */
#ifndef SERVER_REQUEST_PACE_H
#define SERVER_REQUEST_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_PACE_SLOTS 3u

struct http_pace {
    int64_t slot_ns;
    int64_t from_ns;                  /* when this slot began */
    int64_t paused_ns;                /* since when the far end waits for us; 0: it does not */
    uint64_t bytes;                   /* of this slot */
    int64_t bytes_s[HTTP_PACE_SLOTS]; /* of the slots before, the newest first */
    unsigned slots;                   /* that are over, at most HTTP_PACE_SLOTS */
};

void http_pace_begin(struct http_pace *pace, int64_t window_ms, int64_t now_ns);
void http_pace_add(struct http_pace *pace, size_t bytes);
/* Time between the two is nobody's. Each does nothing when it is so already. */
void http_pace_pause(struct http_pace *pace, int64_t now_ns);
void http_pace_resume(struct http_pace *pace, int64_t now_ns);
/* To be called at least once a slot. True when a slot has ended and a whole window is over: *ret_bytes_s is its mean.
 */
bool http_pace_judge(struct http_pace *pace, int64_t now_ns, int64_t *ret_bytes_s);
/* Of the last slot, or of this one where it is the first and a second old; -1: too early to tell. */
int64_t http_pace_recent(const struct http_pace *pace, int64_t now_ns);

#endif
