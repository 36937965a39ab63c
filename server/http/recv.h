/* Stands between libmicrohttpd and the sockets of its connections: this program's own recv(), which the library calls
 * in place of libc's. server/http/HTTP.md says why. */
#ifndef SERVER_HTTP_RECV_H
#define SERVER_HTTP_RECV_H

#include <stddef.h>
#include <sys/types.h>

/* Does what recv(2) does with no flags, on a descriptor that it knows. */
typedef ssize_t (*http_reader)(void *arg, void *data, size_t size);

/* From now on who calls recv on fd gets what reader gives. Returns -1 when fd is too large a number for the table; then
 * its connection must not be served. Of the loop's thread alone, as is all use of a watched descriptor. */
int http_recv_watch(int fd, http_reader reader, void *arg);
void http_recv_forget(int fd); /* accepts one that is not watched */

#endif
