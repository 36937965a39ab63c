/* What the server counts, for /metrics. */
#ifndef SERVER_REQUEST_COUNTS_H
#define SERVER_REQUEST_COUNTS_H

#include <stdint.h>

struct http_counts {
    uint64_t by_status[600];
    uint64_t refused_connections; /* answered 503 because too many were open */
    uint64_t gave_way;            /* ended so that another could be taken */
    uint64_t too_slow;            /* ended because a body or a stream moved too slowly */
    unsigned connections;
};

#endif
