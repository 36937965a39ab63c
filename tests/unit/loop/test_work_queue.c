/* Turns of several callers: on a real loop, with real threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/loop/work_queue.h"

#define MAX 32

static char order[MAX * 3];
static int left, freed;
static struct loop *loop;

struct piece {
    struct work_item item;
    char name[4];
    bool fails;
};

static void note(const struct piece *piece)
{
    size_t len = strlen(order);
    snprintf(order + len, sizeof(order) - len, "%s", piece->name);
}

static int fetch(void *arg, struct rl_err *err)
{
    struct piece *piece = arg;
    if (piece->fails)
        return rl_fail(err, RL_E_STORE_IO, NULL, "none of %s", piece->name);
    if (!piece->item.what.work)
        note(piece);
    return 0;
}

/* Work on a worker thread begins in the order of its turns; it is noted there, since threads may end in any. */
static int fetch_beside(void *arg, struct rl_err *err)
{
    note(arg);
    return fetch(arg, err);
}

static int work(void *arg, struct rl_err *err)
{
    (void)arg;
    (void)err;
    return 0;
}

static void count_freed(void *arg)
{
    (void)arg;
    freed++;
}

static void ready(void *arg)
{
    struct piece *piece = arg;
    assert_int_equal(piece->item.failed, piece->fails);
    if (--left == 0)
        loop_stop(loop);
}

/* "a1 a2 b1": each asks in this order. Returns the order in which they had their turns. */
static const char *ask(struct work_queue *queue, struct piece *pieces, const char *names, bool beside)
{
    struct rl_err err;
    order[0] = '\0';
    left = 0;
    for (const char *name = names; *name; name += name[2] ? 3 : 2) {
        struct piece *piece = &pieces[left++];
        *piece = (struct piece){
            .item = {.queue = queue,
                     .what = {beside ? fetch_beside : fetch, beside ? work : NULL, NULL, count_freed, piece}},
            .fails = name[1] == '!'};
        snprintf(piece->name, sizeof(piece->name), "%.2s ", name);
        snprintf(piece->item.share, sizeof(piece->item.share), "%c", name[0]);
    }
    for (int i = 0, count = left; i < count; i++)
        assert_int_equal(work_queue_wait(&pieces[i].item, ready, &pieces[i], &err), 0);
    assert_int_equal(loop_run(loop, &err), 0);
    return order;
}

static void test_here(void **state)
{
    struct piece pieces[MAX];
    struct rl_err err;
    (void)state;
    assert_int_equal(loop_new(&loop, &err), 0);
    struct work_queue *queue = work_queue_new(loop, &err);
    assert_non_null(queue);
    assert_string_equal(ask(queue, pieces, "a1 a2 a3 a4 b1 b2 c1", false), "a1 b1 c1 a2 b2 a3 a4 ");
    /* who had many before has no fewer now, and who had none no more */
    assert_string_equal(ask(queue, pieces, "a1 c1 c2 b1", false), "a1 c1 b1 c2 ");
    assert_string_equal(ask(queue, pieces, "a! b1", false), "b1 ");
    assert_string_equal(pieces[0].item.err.message, "none of a! ");
    for (int i = 0; i < 2; i++)
        work_queue_leave(&pieces[i].item);
    assert_int_equal(freed, 2);
    work_queue_free(queue);
    loop_free(loop);
}

/* Two begin at once (LIMIT_VIEWS), and they count: b comes after one more. */
static void test_beside(void **state)
{
    struct piece pieces[MAX];
    struct rl_err err;
    (void)state;
    assert_int_equal(loop_new(&loop, &err), 0);
    struct work_queue *queue = work_queue_new(loop, &err);
    assert_non_null(queue);
    assert_string_equal(ask(queue, pieces, "a1 a2 a3 a4 a5 b1 b2", true), "a1 a2 a3 b1 a4 b2 a5 ");
    work_queue_free(queue);
    loop_free(loop);
}

/* One that is let go while it waits is not called any more, and the others are. */
static void test_abandon(void **state)
{
    struct piece pieces[3];
    struct rl_err err;
    (void)state;
    assert_int_equal(loop_new(&loop, &err), 0);
    struct work_queue *queue = work_queue_new(loop, &err);
    assert_non_null(queue);
    left = 1;
    freed = 0;
    order[0] = '\0';
    for (int i = 0; i < 3; i++) {
        pieces[i] = (struct piece){
            .item = {.queue = queue, .share = "a", .what = {fetch, NULL, NULL, count_freed, &pieces[i]}}};
        snprintf(pieces[i].name, sizeof(pieces[i].name), "a%d ", i);
        assert_int_equal(work_queue_wait(&pieces[i].item, ready, &pieces[i], &err), 0);
    }
    work_queue_leave(&pieces[0].item);
    work_queue_leave(&pieces[2].item);
    assert_int_equal(freed, 2);
    assert_int_equal(loop_run(loop, &err), 0);
    assert_string_equal(order, "a1 ");
    work_queue_free(queue);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_here), cmocka_unit_test(test_beside),
                                       cmocka_unit_test(test_abandon)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
