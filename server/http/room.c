/* See server/http/room.h. */
#include "server/http/room.h"

#include <string.h>

#include "server/limits/limits.h"

static bool counts(const struct http_connection *connection)
{
    return !connection->ended && !connection->surplus;
}

static unsigned count(const struct http_connection *connection, const char *who)
{
    unsigned found = 0;
    for (const struct http_connection *one = connection->all->first; one; one = one->next)
        found += one != connection && counts(one) && (!who || strcmp(one->who, who) == 0);
    return found;
}

bool http_room_for(const struct http_connection *connection)
{
    return count(connection, NULL) < LIMIT_CONNECTIONS &&
           count(connection, connection->who) < LIMIT_CONNECTIONS_PER_CALLER;
}

static const char *who_has_most(const struct http_connection *connection)
{
    const char *who = connection->who;
    unsigned most = 0;
    for (const struct http_connection *one = connection->all->first; one; one = one->next) {
        unsigned own =
            counts(one) && (one == connection->all->first || strcmp(one->who, who)) ? count(connection, one->who) : 0;
        if (own > most) {
            most = own;
            who = one->who;
        }
    }
    return who;
}

static bool moves_well(const struct http_connection *connection, int64_t now_ns)
{
    return connection->moving && http_pace_recent(&connection->pace, now_ns) >= LIMIT_YIELD_BYTES_S;
}

/* How long it has waited for itself, in idle time; -1: it does not give way, or would make no room by that. */
static double wait_of(const struct http_connection *connection, int64_t now_ns, int *ret_class)
{
    double age_ms = (double)(now_ns - connection->since_ns) / 1e6;
    if (!counts(connection) || (connection->whole && !connection->answered) || connection->pace.paused_ns != 0)
        return -1;
    *ret_class = 0;
    if (connection->idle)
        return age_ms;
    if (connection->answered) {
        *ret_class = 1;
        return moves_well(connection, now_ns) || age_ms < LIMIT_MOMENT_MS ? -1 : age_ms;
    }
    *ret_class = moves_well(connection, now_ns) ? 2 : 0;
    return age_ms * LIMIT_SLOW_TIMES_IDLE;
}

struct http_connection *http_room_victim(const struct http_connection *connection, int64_t now_ns)
{
    struct http_connection *victim = NULL;
    int victim_class = 0;
    double longest = 0;
    bool own_share = count(connection, connection->who) >= LIMIT_CONNECTIONS_PER_CALLER;
    const char *who = own_share ? connection->who : who_has_most(connection);
    for (struct http_connection *one = connection->all->first; one; one = one->next) {
        int class = 0;
        double waited = one == connection || strcmp(one->who, who) ? -1 : wait_of(one, now_ns, &class);
        if (waited < 0 || (victim && (class > victim_class || (class == victim_class && waited <= longest))))
            continue;
        victim = one;
        victim_class = class;
        longest = waited;
    }
    return victim;
}
