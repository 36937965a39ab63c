/* What the server keeps about each connection: who is at the other end, deadlines, limits, and answers written past the
 * HTTP library. Knows sockets and the loop, not the library. */
#ifndef SERVER_HTTP_CONNECTION_H
#define SERVER_HTTP_CONNECTION_H

#include "server/http/mhd.h"
#include "server/loop/linger.h"
#include "server/request/http.h"
#include "server/request/pace.h"
#include "server/request/screen.h"

struct http_connection {
    struct http_connection *next, *prev;
    struct http_connections *all;
    int fd; /* the library's */
    struct auth_peer peer;
    char who[AUTH_NAME_SIZE]; /* whose share it is of: the peer's name until a request says more */
    struct loop_source *timer;
    int64_t due_ns;        /* when time is over */
    int64_t allowed_ms;    /* that it was from the call which set it */
    int64_t since_ns;      /* idle, with this request, or with its answer under way */
    struct http_pace pace; /* of a body that comes, or of a stream that goes: moving */
    int64_t floor_bytes_s; /* what that must not fall below */
    uint64_t given, taken; /* of a stream: by us to the socket, and by the peer */
    bool moving;
    bool ended;    /* it was told to go, and is not counted any more */
    bool idle;     /* between requests: closed without a word when time is over */
    bool answered; /* the answer is on its way */
    bool whole;    /* the answer is being made: the request's end is looked for by who waits (server/http/wait.c) */
    bool interim;  /* the request is of a version that has interim answers */
    bool surplus;  /* over a limit: its first request is answered 503 */
    bool linger;   /* answered past the library; bytes of the peer may be left unread */
    struct http_screen screen;
    struct rl_err malformed;    /* what is wrong with the request whose refusal waits for its turn, or RL_E_NONE */
    uint64_t begun_requests;    /* by the library */
    uint64_t answered_requests; /* likewise, wholly */
    void *exchange;             /* the request's, server/http/mhd.c's; freed with the connection at the latest */
};

struct http_connections {
    const struct http_config *config;
    struct loop *loop;
    struct lingering *linger;
    struct http_connection *first;
    struct http_counts counts;
    size_t malformed; /* connections with such a refusal */
    bool closed_some; /* set when a connection closes; the server clears it */
};

/* A new connection on fd, its first deadline running; NULL when memory or room for it ran out. */
struct http_connection *http_connection_open(struct http_connections *all, int fd, bool is_unix);
void http_connection_close(struct http_connection *connection);
/* Ends the connection after a time unless it is set anew; an unanswered request gets 408 then. */
void http_connection_deadline(struct http_connection *connection, int64_t after_ms);
int64_t http_connection_head_ms(const struct http_connection *connection); /* that a request's head may take */
/* A body comes, or a stream goes, from now on until http_connection_still: ended when it does so at less than bytes_s
 * over a window. */
void http_connection_moves(struct http_connection *connection, int64_t bytes_s, int64_t window_ms);
void http_connection_still(struct http_connection *connection);
/* A request has said whose it is, whose share the connection is of from now on. RL_E_TOO_MANY_CONNECTIONS when there
 * is no room in it and nothing of it gives way. */
int http_connection_belongs(struct http_connection *connection, const char *who, struct rl_err *err);
/* Ends it now: why is answered where no answer has begun. struct http_far's cut. */
void http_connection_cut(void *connection, const struct rl_err *why);
/* Ends the connection when the peer has said that nothing more will come and all it sent has been read. */
void http_connection_end_if_ended(const struct http_connection *connection);

#endif
