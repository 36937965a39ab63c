/* An upload, or an answer that is made later, within a connection: its bytes counted, and the connection watched while
 * its answer is being made, since the library does not look at a connection that waits. Knows sockets and the loop, not
 * the library. */
#ifndef SERVER_HTTP_WAIT_H
#define SERVER_HTTP_WAIT_H

#include "server/http/connection.h"

struct http_wait {             /* all zero: no upload */
    struct http_upload upload; /* data NULL: an answer that is made later, alone */
    struct http_connection *connection;
    size_t bytes;
    struct loop_source *watch;
    bool finished, ready, gone; /* gone: nobody is left to answer */
    void (*resume)(void *arg);  /* ready or gone: called once, after http_wait_finish has returned */
    void *arg;
    bool waiting;
};

/* The upload of a request whose body may come for longer than others. */
void http_wait_begin(struct http_wait *wait, struct http_connection *connection, const struct http_upload *upload);
int http_wait_data(struct http_wait *wait, const char *data, size_t len, struct rl_err *err);
/* The body is whole. 0: answer now when wait->ready, else suspend the connection until resume is called. */
int http_wait_finish(struct http_wait *wait, void (*resume)(void *arg), void *arg, struct rl_err *err);
/* The client is not waited for any more. */
void http_wait_give_up(struct http_wait *wait);
void http_wait_end(struct http_wait *wait); /* frees what it holds; accepts a zeroed one */

#endif
