/* Lingering close: a socket closed with unread bytes sends a reset, which can destroy the answer that the peer has not
 * read yet. These read and drop what still comes, for a bounded time and number of bytes, and then close. */
#ifndef SERVER_LOOP_LINGER_H
#define SERVER_LOOP_LINGER_H

#include "server/loop/loop.h"

struct lingering;

struct lingering *linger_new(struct loop *loop); /* NULL when memory ran out */
void linger_free(struct lingering *linger);      /* accepts NULL; closes all */
/* Duplicates fd, ends its sending side and drains it. Nothing happens when too many linger already. */
void linger_add(struct lingering *linger, int fd);

#endif
