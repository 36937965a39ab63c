/* Listening sockets. */
#ifndef SERVER_LOOP_LISTEN_H
#define SERVER_LOOP_LISTEN_H

#include <stdbool.h>

#include "gpu/base/err.h"

/* address: "127.0.0.1:8049", "[::1]:8049", "localhost:8049"; port 0 takes a free one. Only numeric addresses and
 * localhost. *ret_name gets "127.0.0.1:8049" with the real port, *ret_loopback whether it is a loopback address.
 * RL_E_USAGE, RL_E_LISTEN. */
int listen_tcp(const char *address, char ret_name[80], bool *ret_loopback, int *ret_fd, struct rl_err *err);
/* Checks the text alone: RL_E_USAGE. */
int listen_parse(const char *address, bool *ret_loopback, struct rl_err *err);
/* Mode 0660: the daemon's user and group may connect. A socket that nobody listens on any more is replaced. */
int listen_unix(const char *path, int *ret_fd, struct rl_err *err);

#endif
