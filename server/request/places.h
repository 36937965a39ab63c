/* Places for what takes long because a client does: uploads that come, exports that are sent. So many in all, so many
 * of one caller, and who is slow gives way to who asks: no caller can keep the others out, nor keep itself out by
 * something that it has forgotten. Pure, but for the cut. */
#ifndef SERVER_REQUEST_PLACES_H
#define SERVER_REQUEST_PLACES_H

#include "server/request/auth.h"
#include "server/request/pace.h"

/* The far end of a body that moves; the server fills it while it does, and empties it. */
struct http_far {
    const struct http_pace *pace; /* NULL: nothing moves */
    /* Ends the connection: an upload's request is answered with why, an export ends without its end. */
    void (*cut)(void *arg, const struct rl_err *why);
    void *arg;
};

struct place {
    struct place *next;
    struct places *all; /* NULL: it has none */
    char who[AUTH_NAME_SIZE];
    struct http_far far;
    bool gave_way; /* counted no more */
};

struct places { /* the four below are constant */
    struct place *first;
    unsigned max, max_each;
    int64_t yields_below; /* bytes/s: one that is faster does not give way */
    const char *what;     /* "exports", in messages */
    enum rl_code full;    /* the error of who gets none, and of who gave way */
};

/* A place for who, at now_ns on the monotonic clock; -1 with places->full when all are taken, or all of who's, and none
 * gives way. Where who's share is full one of who's own gives way, else one of whoever has most. */
int place_take(struct places *places, struct place *place, const char *who, int64_t now_ns, struct rl_err *err);
void place_leave(struct place *place); /* nothing for one that has none */

#endif
