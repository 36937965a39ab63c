/* Whether the HTTP library at hand reads its connections by recv, and so through this program's own
 * (server/http/recv.h). */
#ifndef SERVER_HTTP_PROBE_H
#define SERVER_HTTP_PROBE_H

#include "gpu/base/err.h"

/* Lets a library's daemon of its own read a request from a socket pair. RL_E_INTERNAL, naming the library's version:
 * the request was not read, or not through server/http/recv.h. */
int http_probe_library(struct rl_err *err);

#endif
