/* Which connection gives way when there are too many. Pure: looks at the list of connections and at a time. */
#ifndef SERVER_HTTP_ROOM_H
#define SERVER_HTTP_ROOM_H

#include "server/http/connection.h"

/* Whether connection has room among all that are counted: those that neither give way nor are surplus. */
bool http_room_for(const struct http_connection *connection);
/* What gives way to connection, NULL when nothing does: of those whose share connection would pass, else of whoever has
 * most. In this order, the one that has waited longest first:
 * - an idle connection, or a request that is not whole and does not come at LIMIT_YIELD_BYTES_S, whose time counts
 *   LIMIT_SLOW_TIMES_IDLE times;
 * - an answer that has been under way for LIMIT_MOMENT_MS and is not taken at LIMIT_YIELD_BYTES_S;
 * - a request that comes faster.
 * A request comes whole within a packet or two, and an idle connection may be that of a client that sends the next one
 * at this instant: were all of those to go first, who opens connections and says little on them would close them all. A
 * request whose answer is being made does not give way. */
struct http_connection *http_room_victim(const struct http_connection *connection, int64_t now_ns);

#endif
