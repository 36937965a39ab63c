/* The way of a connection's bytes from the socket to whoever calls recv, over a real socket pair. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/intake.h"
#include "server/http/probe.h"

#define GOOD "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

struct site {
    struct http_config config;
    struct http_connections all;
    struct http_connection *connection;
    int client, server;
};

static int set_up(void **state)
{
    static struct site site;
    int ends[2];
    site = (struct site){.config = {.request_timeout_ms = 60000, .idle_timeout_ms = 60000}};
    site.all.config = &site.config;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) || loop_new(&site.all.loop, NULL) ||
        !(site.all.linger = linger_new(site.all.loop)))
        return -1;
    site.client = ends[0];
    site.server = ends[1];
    site.connection = http_connection_open(&site.all, site.server, true);
    *state = &site;
    return site.connection ? 0 : -1;
}

static int tear_down(void **state)
{
    struct site *site = *state;
    if (site->connection)
        http_connection_close(site->connection);
    close(site->server);
    close(site->client);
    linger_free(site->all.linger);
    loop_free(site->all.loop);
    return 0;
}

static void say(const struct site *site, const char *text)
{
    assert_int_equal(send(site->client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* What the library would get: text, or nothing yet. */
static void hears(const struct site *site, const char *text)
{
    char data[512];
    ssize_t got = recv(site->server, data, sizeof(data), 0);
    if (!text) {
        assert_int_equal(got, -1);
        assert_int_equal(errno, EAGAIN);
        return;
    }
    assert_int_equal(got, strlen(text));
    assert_memory_equal(data, text, strlen(text));
}

/* What the client has been sent since the last call. */
static const char *answer(const struct site *site)
{
    static char data[4096];
    ssize_t got = recv(site->client, data, sizeof(data) - 1, MSG_DONTWAIT);
    data[got > 0 ? got : 0] = '\0';
    return data;
}

static void test_good_bytes(void **state)
{
    struct site *site = *state;
    hears(site, NULL);
    say(site, GOOD);
    hears(site, GOOD);
    say(site, "POST / HTTP/1.1\r\nContent-Length: 600\r\n\r\nabc");
    hears(site, "POST / HTTP/1.1\r\nContent-Length: 600\r\n\r\nabc");
    say(site, "\n\r"); /* of the body, which is read at once now */
    hears(site, "\n\r");
    assert_int_equal(site->connection->screen.left, 595);
    shutdown(site->client, SHUT_WR);
    hears(site, "");
    http_intake_settle(&site->all);
    assert_string_equal(answer(site), "");
}

static void test_refusal_waits_for_its_turn(void **state)
{
    struct site *site = *state;
    int left = 0;
    say(site, GOOD GOOD "GET / HTTP/1.1\r\n folded\r\n\r\n" GOOD);
    hears(site, GOOD GOOD);
    hears(site, NULL);
    for (uint64_t answered = 0; answered < 2; answered++) {
        site->connection->answered_requests = answered;
        http_intake_settle(&site->all);
        assert_string_equal(answer(site), "");
        hears(site, NULL);
    }
    site->connection->answered_requests = 2;
    http_intake_settle(&site->all);
    const char *text = answer(site);
    assert_memory_equal(text, "HTTP/1.1 400 Bad Request\r\n", 26);
    assert_non_null(strstr(text, "folded"));
    assert_null(strstr(text + 1, "HTTP/1.1 4"));
    hears(site, "");
    http_intake_settle(&site->all);
    assert_string_equal(answer(site), "");
    /* what was refused is still there, for the lingering close to drain */
    assert_int_equal(ioctl(site->server, FIONREAD, &left), 0);
    assert_true(left > 0);
    assert_int_equal(site->all.malformed, 0);
}

static void test_no_room_for_the_refusal(void **state)
{
    struct site *site = *state;
    char block[4096], sink[65536];
    memset(block, 'x', sizeof(block));
    while (send(site->server, block, sizeof(block), MSG_DONTWAIT) > 0)
        ;
    say(site, "\n");
    hears(site, NULL);
    http_intake_settle(&site->all);
    assert_int_equal(site->all.malformed, 1);
    ssize_t got, last = 0;
    while ((got = recv(site->client, sink, sizeof(sink), MSG_DONTWAIT)) > 0)
        last = got;
    assert_true(last > 0 && sink[last - 1] == 'x');
    http_intake_settle(&site->all);
    assert_memory_equal(answer(site), "HTTP/1.1 400 Bad Request\r\n", 26);
}

static void test_ways_around(void **state)
{
    struct site *site = *state;
    char byte;
    say(site, GOOD);
    assert_int_equal(recv(site->server, &byte, 1, MSG_PEEK), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    hears(site, GOOD);
    /* a descriptor that is no connection is read as ever, and so is one whose connection is closed */
    http_connection_close(site->connection);
    site->connection = NULL;
    say(site, "\n\n");
    hears(site, "\n\n");
}

/* A request that was sent at the moment at which its connection was told to go is carried out by nobody. */
static void test_told_to_go(void **state)
{
    struct site *site = *state;
    struct rl_err why = {.code = RL_E_TOO_MANY_CONNECTIONS, .message = "it gave way"};
    int left = -1;
    site->connection->idle = true;
    say(site, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
    http_connection_cut(site->connection, &why);
    assert_int_equal(ioctl(site->server, FIONREAD, &left), 0);
    assert_int_equal(left, 0);
    hears(site, "");
}

/* Neither is one that comes after what was unread has been dropped, malformed or not. */
static void test_after_it_was_told(void **state)
{
    struct site *site = *state;
    site->connection->idle = site->connection->ended = true;
    say(site, GOOD);
    hears(site, "");
    site->connection->ended = false;
    say(site, "\n");
    hears(site, GOOD);
    hears(site, NULL);
    site->connection->answered_requests = 1;
    site->connection->ended = true;
    http_intake_settle(&site->all);
    assert_string_equal(answer(site), "");
    hears(site, "");
}

static void test_agreement(void **state)
{
    struct site *site = *state;
    struct http_connection *connection = site->connection;
    struct rl_err err = {0};
    say(site, "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n");
    hears(site, "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n");
    connection->begun_requests = 1;
    assert_int_equal(http_intake_agrees(connection, false, &err), 0);
    assert_int_equal(http_intake_agrees(connection, true, &err), -1);
    assert_int_equal(err.code, RL_E_INTERNAL);
    say(site, "x");
    hears(site, "x");
    assert_int_equal(http_intake_agrees(connection, true, &err), 0);
    connection->begun_requests = 2;
    assert_int_equal(http_intake_agrees(connection, false, &err), -1);
}

static void test_library(void **state)
{
    struct rl_err err = {0};
    (void)state;
    assert_int_equal(http_probe_library(&err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_good_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusal_waits_for_its_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_room_for_the_refusal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ways_around, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_told_to_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_after_it_was_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_agreement, set_up, tear_down),
        cmocka_unit_test(test_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
