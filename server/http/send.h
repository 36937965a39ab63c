/* How an answer becomes the library's, and which of its connections wait. Private to the adapter: server/http/mhd.c
 * reads requests, server/http/send.c sends what was made of them. */
#ifndef SERVER_HTTP_SEND_H
#define SERVER_HTTP_SEND_H

#include <microhttpd.h>

#include "server/http/connection.h"
#include "server/http/wait.h"

struct http_suspended { /* a connection that the library does not look at meanwhile */
    struct http_suspensions *all;
    struct http_suspended *next;
    struct MHD_Connection *mhd;
    struct http_wait *wait;
};
struct http_suspensions { /* of a server */
    struct http_suspended *first;
    bool resumed; /* one of them, since the server cleared it: the library is to be given a turn */
    bool ended;   /* none may be suspended any more */
};

/* one is the caller's and lives until http_resume, which is http_wait_finish's resume with one as its arg. */
void http_suspend(struct http_suspensions *all, struct http_suspended *one, struct MHD_Connection *mhd,
                  struct http_wait *wait);
void http_resume(void *one);
/* Gives up all that wait, and those that would from now on: MHD_stop_daemon ends the process when a connection is
 * suspended (0.9.75). */
void http_suspensions_end(struct http_suspensions *all);

/* Queues the answer, counts and logs it. err: of an answer that is an error's, else NULL. What the library takes over
 * is out of answer afterwards. MHD_NO: it took nothing, and drops the connection. */
enum MHD_Result http_send(struct MHD_Connection *mhd, struct http_connection *connection,
                          const struct http_request *request, struct http_answer *answer, const struct rl_err *err,
                          struct http_suspensions *suspensions);

#endif
