/* Bytes to a descriptor. */
#ifndef RL_BASE_IO_H
#define RL_BASE_IO_H

#include <stddef.h>

/* Writes all len bytes to a blocking file, pipe or socket, however long its reader takes, going on after a signal and
 * after a part. 0, or -1 with errno as write(2) leaves it; some of the bytes may then be written. A pipe or socket that
 * nobody reads raises SIGPIPE: a caller that has one ignores that. */
int rl_write_all(int fd, const void *data, size_t len);

#endif
