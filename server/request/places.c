/* See server/request/places.h. */
#include "server/request/places.h"

#include <stdio.h>
#include <string.h>

static unsigned count(const struct places *places, const char *who)
{
    unsigned found = 0;
    for (const struct place *place = places->first; place; place = place->next)
        found += !place->gave_way && (!who || strcmp(place->who, who) == 0);
    return found;
}

static const char *who_has_most(const struct places *places)
{
    const char *who = NULL;
    unsigned most = 0;
    for (const struct place *place = places->first; place; place = place->next) {
        unsigned own = count(places, place->who);
        if (!place->gave_way && own > most) {
            most = own;
            who = place->who;
        }
    }
    return who;
}

/* The slowest of who, ended; false: none is slow. */
static bool make_room(struct places *places, const char *who, int64_t now_ns)
{
    struct place *slowest = NULL;
    int64_t least = places->yields_below;
    struct rl_err why = {0};
    for (struct place *place = places->first; place; place = place->next) {
        int64_t bytes_s = place->far.pace ? http_pace_recent(place->far.pace, now_ns) : -1;
        if (place->gave_way || strcmp(place->who, who) || bytes_s < 0 || bytes_s >= least)
            continue;
        least = bytes_s;
        slowest = place;
    }
    if (!slowest)
        return false;
    rl_fail(&why, places->full, NULL,
            "of the %s at once this was the slowest, at %lld bytes/s, and gave way to another; under %lld bytes/s one "
            "does",
            places->what, (long long)least, (long long)places->yields_below);
    slowest->gave_way = true;
    slowest->far.cut(slowest->far.arg, &why);
    return true;
}

int place_take(struct places *places, struct place *place, const char *who, int64_t now_ns, struct rl_err *err)
{
    if (count(places, who) >= places->max_each && !make_room(places, who, now_ns))
        return rl_fail(err, places->full, NULL, "%u %s of yours are under way, as many as one caller has at once",
                       places->max_each, places->what);
    if (count(places, NULL) >= places->max && !make_room(places, who_has_most(places), now_ns))
        return rl_fail(err, places->full, NULL, "%u %s are under way, as many as are at once", places->max,
                       places->what);
    *place = (struct place){.next = places->first, .all = places};
    snprintf(place->who, sizeof place->who, "%s", who);
    places->first = place;
    return 0;
}

void place_leave(struct place *place)
{
    if (!place->all)
        return;
    struct place **at = &place->all->first;
    while (*at != place)
        at = &(*at)->next;
    *at = place->next;
    place->all = NULL;
}
