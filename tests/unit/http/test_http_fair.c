/* Who is slow, who gives way to whom: paces, places and connections, by made-up times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/room.h"
#include "server/limits/limits.h"
#include "server/request/places.h"

#define MS INT64_C(1000000)

/* ---- paces ---- */

static void test_pace(void **state)
{
    struct http_pace pace;
    int64_t bytes_s = -7;
    (void)state;
    http_pace_begin(&pace, 3000, 100 * MS); /* slots of a second */
    http_pace_add(&pace, 500);
    assert_int_equal(http_pace_recent(&pace, 1099 * MS), -1); /* too early */
    assert_int_equal(http_pace_recent(&pace, 1100 * MS), 500);
    assert_false(http_pace_judge(&pace, 1099 * MS, &bytes_s));
    assert_false(http_pace_judge(&pace, 1100 * MS, &bytes_s)); /* a slot, no window */
    http_pace_add(&pace, 4000);
    assert_false(http_pace_judge(&pace, 3100 * MS, &bytes_s)); /* one of two seconds */
    assert_int_equal(http_pace_recent(&pace, 3100 * MS), 2000);
    assert_int_equal(bytes_s, -7);
    assert_true(http_pace_judge(&pace, 4100 * MS, &bytes_s));
    assert_int_equal(bytes_s, (500 + 2000 + 0) / 3);
    assert_int_equal(http_pace_recent(&pace, 4100 * MS), 0);
    http_pace_add(&pace, 100);
    assert_true(http_pace_judge(&pace, 5100 * MS, &bytes_s)); /* the window slides */
    assert_int_equal(bytes_s, (2000 + 0 + 100) / 3);
}

static void test_pace_paused(void **state)
{
    struct http_pace pace;
    int64_t bytes_s;
    (void)state;
    http_pace_begin(&pace, 3, 10 * MS); /* slots of a millisecond */
    http_pace_add(&pace, 10);
    http_pace_pause(&pace, 10 * MS + MS / 2);
    http_pace_pause(&pace, 500 * MS); /* the first counts */
    assert_false(http_pace_judge(&pace, 900 * MS, &bytes_s));
    http_pace_resume(&pace, 1000 * MS);
    http_pace_resume(&pace, 2000 * MS);
    assert_false(http_pace_judge(&pace, 1000 * MS + MS / 4, &bytes_s)); /* three quarters of the slot */
    assert_false(http_pace_judge(&pace, 1000 * MS + MS / 2, &bytes_s));
    assert_int_equal(http_pace_recent(&pace, 1001 * MS), 10000);
}

/* ---- places ---- */

static unsigned cuts;
static struct rl_err cut_why;
static const void *cut_arg;

static void cut(void *arg, const struct rl_err *why)
{
    cuts++;
    cut_why = *why;
    cut_arg = arg;
}

static struct http_pace at_pace(int64_t bytes_s)
{
    return (struct http_pace){.bytes_s = {bytes_s}, .slots = 1};
}

static void test_places(void **state)
{
    struct places places = {
        .max = 5, .max_each = 2, .yields_below = 1000, .what = "exports", .full = RL_E_TOO_MANY_EXPORTS};
    struct http_pace slow = at_pace(10), slower = at_pace(9), fast = at_pace(1000);
    struct place place[8];
    struct rl_err err = {0};
    (void)state;
    cuts = 0;
    assert_int_equal(place_take(&places, &place[0], "a", 0, &err), 0);
    assert_int_equal(place_take(&places, &place[1], "a", 0, &err), 0);
    assert_int_equal(place_take(&places, &place[2], "a", 0, &err), -1); /* nothing of a's moves yet */
    assert_int_equal(err.code, RL_E_TOO_MANY_EXPORTS);
    assert_non_null(strstr(err.message, "2 exports of yours"));
    place[0].far = (struct http_far){&fast, cut, &place[0]};
    place[1].far = (struct http_far){&fast, cut, &place[1]};
    assert_int_equal(place_take(&places, &place[2], "a", 0, &err), -1); /* fast ones stay */
    assert_int_equal(cuts, 0);
    place[0].far.pace = &slow;
    assert_int_equal(place_take(&places, &place[2], "a", 0, &err), 0);
    assert_int_equal(cuts, 1);
    assert_ptr_equal(cut_arg, &place[0]);
    assert_int_equal(cut_why.code, RL_E_TOO_MANY_EXPORTS);
    assert_non_null(strstr(cut_why.message, "10 bytes/s"));
    /* that one is counted no more, though it is still there; others have their own share */
    assert_int_equal(place_take(&places, &place[3], "b", 0, &err), 0);
    assert_int_equal(place_take(&places, &place[4], "b", 0, &err), 0);
    assert_int_equal(place_take(&places, &place[5], "c", 0, &err), 0);
    place[5].far = (struct http_far){&slower, cut, &place[5]};
    /* all five are taken: who has most gives way, not the slowest of all */
    assert_int_equal(place_take(&places, &place[6], "d", 0, &err), -1);
    assert_non_null(strstr(err.message, "5 exports are under way"));
    place[3].far = place[4].far = (struct http_far){&slow, cut, &place[3]};
    place[1].far.pace = &slow;
    assert_int_equal(place_take(&places, &place[6], "d", 0, &err), 0);
    assert_int_equal(cuts, 2);
    assert_ptr_not_equal(cut_arg, &place[5]);
    for (int i = 0; i < 7; i++)
        if (i != 2)
            place_leave(&place[i]);
    assert_ptr_equal(places.first, &place[2]);
    place_leave(&place[2]);
    place_leave(&place[2]);
    assert_null(places.first);
}

/* ---- connections ---- */

#define NOW (INT64_C(100000) * MS)

static struct http_connections all;
static struct http_connection made[LIMIT_CONNECTIONS + 2];
static unsigned count;

static struct http_connection *add(const char *who, int64_t age_ms)
{
    struct http_connection *one = &made[count++];
    *one = (struct http_connection){.all = &all, .next = all.first, .since_ns = NOW - age_ms * MS};
    snprintf(one->who, sizeof one->who, "%s", who);
    all.first = one;
    return one;
}

static int clear(void **state)
{
    (void)state;
    all = (struct http_connections){0};
    count = 0;
    return 0;
}

static void fill(const char *who, unsigned until)
{
    while (count < until)
        add(who, 500)->whole = true; /* being answered: these do not give way */
}

static void test_room(void **state)
{
    (void)state;
    fill("a", LIMIT_CONNECTIONS_PER_CALLER - 1);
    assert_true(http_room_for(add("a", 0)));
    assert_false(http_room_for(add("a", 0)));
    assert_true(http_room_for(add("b", 0)));
    made[0].ended = made[1].surplus = true; /* neither is counted */
    assert_true(http_room_for(&made[LIMIT_CONNECTIONS_PER_CALLER]));
    fill("c", LIMIT_CONNECTIONS + 2);
    assert_true(http_room_for(&made[LIMIT_CONNECTIONS + 1]));
    made[0].ended = false;
    assert_false(http_room_for(&made[LIMIT_CONNECTIONS + 1]));
}

static void test_order(void **state)
{
    (void)state;
    struct http_connection *young = add("a", 2), *younger = add("a", 1);
    struct http_connection *answer = add("a", LIMIT_MOMENT_MS), *sent = add("a", LIMIT_MOMENT_MS - 1);
    struct http_connection *idle = add("a", 2 * LIMIT_SLOW_TIMES_IDLE + 1), *younger_idle = add("a", 5);
    struct http_connection *slow = add("a", 3), *slower = add("a", 7000);
    struct http_connection *upload = add("a", 9000), *export = add("a", 9000), *waits = add("a", 9000);
    add("b", 90000);
    sent->answered = answer->answered = export->answered = waits->answered = true;
    idle->idle = younger_idle->idle = true;
    upload->moving = export->moving = waits->moving = true;
    upload->pace = export->pace = at_pace(LIMIT_YIELD_BYTES_S);
    waits->pace = (struct http_pace){.paused_ns = 1}; /* for a piece of ours */
    fill("a", LIMIT_CONNECTIONS_PER_CALLER + 1);
    struct http_connection *new = add("a", 0);
    /* upload: a request that is not whole, if fast; export moves well and stays */
    struct http_connection *order[] = {slower, slow, idle, young, younger, younger_idle, answer, upload};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        assert_ptr_equal(http_room_victim(new, NOW), order[i]);
        order[i]->whole = true;
        order[i]->idle = order[i]->answered = false;
    }
    assert_null(http_room_victim(new, NOW));
    export->pace = at_pace(LIMIT_YIELD_BYTES_S - 1);
    assert_ptr_equal(http_room_victim(new, NOW), export);
}

/* All are taken, and the newcomer's share is not: whoever has most makes room. */
static void test_most(void **state)
{
    (void)state;
    struct http_connection *own = add("c", 9000), *theirs = add("b", 1000);
    own->idle = theirs->idle = true;
    fill("a", 100);
    fill("b", LIMIT_CONNECTIONS);
    struct http_connection *new = add("c", 0);
    assert_false(http_room_for(new));
    assert_ptr_equal(http_room_victim(new, NOW), theirs);
}

/* What is not counted makes no room by going: none of a caller's share gives way, and the newcomer is surplus too. */
static void test_surplus_makes_no_room(void **state)
{
    (void)state;
    struct http_connection *surplus = add("a", 9000);
    surplus->surplus = true;
    fill("a", LIMIT_CONNECTIONS_PER_CALLER + 1);
    struct http_connection *new = add("a", 0);
    assert_false(http_room_for(new));
    assert_null(http_room_victim(new, NOW));
    struct http_connection *counted = &made[1];
    counted->whole = false;
    assert_ptr_equal(http_room_victim(new, NOW), counted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pace),
        cmocka_unit_test(test_pace_paused),
        cmocka_unit_test(test_places),
        cmocka_unit_test_setup(test_room, clear),
        cmocka_unit_test_setup(test_order, clear),
        cmocka_unit_test_setup(test_most, clear),
        cmocka_unit_test_setup(test_surplus_makes_no_room, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
