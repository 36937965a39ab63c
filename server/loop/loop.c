/* The event loop: epoll for descriptors, computed timeouts for timers. Sources live in one list; removing one marks it
 * dead and the memory goes when no dispatch can reach it any more, so that any callback may remove anything. */
#include "server/loop/loop.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "gpu/base/time.h"

#define EVENTS_PER_WAIT 64
/* How long one wait is at most while a timer runs: a stop is seen by what a wait lasted longer than that. */
#define TICK_MS 500
/* What a busy machine may keep us from running, or a handler may take, without being taken for a stop. */
#define LATE_NS INT64_C(1000000000)

struct loop_source {
    struct loop_source *next;
    bool dead;
    int fd;              /* -1: a timer */
    int64_t deadline_ns; /* timers: -1 when disarmed */
    void (*ready)(void *arg, uint32_t events);
    void (*fired)(void *arg);
    void *arg;
};

struct loop {
    int epfd;
    bool stop;
    bool any_dead;
    int64_t lost_ns; /* in which the loop did not run */
    struct loop_source *sources;
    int64_t (*prepare)(void *arg);
    void *prepare_arg;
};

int loop_new(struct loop **ret, struct rl_err *err)
{
    struct loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the event loop.");
    loop->epfd = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epfd < 0) {
        int error = errno;
        free(loop);
        return rl_fail(err, RL_E_INTERNAL, NULL, "The event loop could not be made: %s.", strerror(error));
    }
    *ret = loop;
    return 0;
}

void loop_free(struct loop *loop)
{
    if (loop == NULL)
        return;
    while (loop->sources != NULL) {
        struct loop_source *next = loop->sources->next;
        free(loop->sources);
        loop->sources = next;
    }
    close(loop->epfd);
    free(loop);
}

static struct loop_source *add_source(struct loop *loop, void *arg)
{
    struct loop_source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return NULL;
    source->fd = -1;
    source->deadline_ns = -1;
    source->arg = arg;
    source->next = loop->sources;
    loop->sources = source;
    return source;
}

int loop_add_fd(struct loop *loop, int fd, uint32_t events, void (*ready)(void *arg, uint32_t events), void *arg,
                struct loop_source **ret, struct rl_err *err)
{
    struct loop_source *source = add_source(loop, arg);
    if (source == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to watch a descriptor.");
    struct epoll_event event = {.events = events, .data.ptr = source};
    if (epoll_ctl(loop->epfd, EPOLL_CTL_ADD, fd, &event) != 0) {
        int error = errno;
        loop->sources = source->next;
        free(source);
        return rl_fail(err, RL_E_INTERNAL, NULL, "A descriptor could not be watched: %s.", strerror(error));
    }
    source->fd = fd;
    source->ready = ready;
    *ret = source;
    return 0;
}

int64_t loop_now_ns(const struct loop *loop)
{
    return rl_monotonic_ns() - loop->lost_ns;
}

static int64_t deadline_after(const struct loop *loop, int64_t after_ms)
{
    if (after_ms < 0)
        return -1;
    int64_t now = loop_now_ns(loop);
    if (after_ms > (INT64_MAX - now) / 1000000)
        return INT64_MAX;
    return now + after_ms * 1000000;
}

int loop_add_timer(struct loop *loop, int64_t after_ms, void (*fired)(void *arg), void *arg, struct loop_source **ret,
                   struct rl_err *err)
{
    struct loop_source *source = add_source(loop, arg);
    if (source == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for a timer.");
    source->fired = fired;
    source->deadline_ns = deadline_after(loop, after_ms);
    *ret = source;
    return 0;
}

void loop_timer_set(struct loop *loop, struct loop_source *timer, int64_t after_ms)
{
    timer->deadline_ns = deadline_after(loop, after_ms);
}

void loop_remove(struct loop *loop, struct loop_source *source)
{
    if (source == NULL || source->dead)
        return;
    /* The caller may have closed the descriptor already, which took it out of the epoll set: no error then. */
    if (source->fd >= 0)
        (void)epoll_ctl(loop->epfd, EPOLL_CTL_DEL, source->fd, NULL);
    source->dead = true;
    loop->any_dead = true;
}

void loop_set_prepare(struct loop *loop, int64_t (*prepare)(void *arg), void *arg)
{
    loop->prepare = prepare;
    loop->prepare_arg = arg;
}

void loop_stop(struct loop *loop)
{
    loop->stop = true;
}

static void sweep(struct loop *loop)
{
    if (!loop->any_dead)
        return;
    loop->any_dead = false;
    struct loop_source **at = &loop->sources;
    while (*at != NULL) {
        struct loop_source *source = *at;
        if (source->dead) {
            *at = source->next;
            free(source);
        } else {
            at = &source->next;
        }
    }
}

static int wait_ms(struct loop *loop)
{
    int64_t best = -1;
    if (loop->prepare != NULL)
        best = loop->prepare(loop->prepare_arg);
    int64_t now = loop_now_ns(loop);
    for (const struct loop_source *s = loop->sources; s != NULL; s = s->next) {
        if (s->dead || s->deadline_ns < 0)
            continue;
        /* rounded up: waking before the deadline would spin until it comes */
        int64_t left = s->deadline_ns <= now ? 0 : (s->deadline_ns - now - 1) / 1000000 + 1;
        if (best < 0 || left < best)
            best = left;
        if (best > TICK_MS)
            best = TICK_MS;
    }
    return best > INT_MAX ? INT_MAX : (int)best;
}

static void fire_timers(struct loop *loop)
{
    /* New sources go to the head, so that a timer added by a callback waits for the next turn. */
    int64_t now = loop_now_ns(loop);
    for (struct loop_source *s = loop->sources; s != NULL && !loop->stop; s = s->next) {
        if (s->dead || s->deadline_ns < 0 || s->deadline_ns > now)
            continue;
        s->deadline_ns = -1;
        s->fired(s->arg);
    }
}

/* A step from `from` to now that should have taken expected_ns took longer: what is more was not ours. */
static int64_t leave_out(struct loop *loop, int64_t from, int64_t expected_ns)
{
    int64_t now = rl_monotonic_ns(), more = now - from - expected_ns;
    if (more > LATE_NS)
        loop->lost_ns += more;
    return now;
}

int loop_run(struct loop *loop, struct rl_err *err)
{
    struct epoll_event events[EVENTS_PER_WAIT];
    int64_t at = rl_monotonic_ns();
    loop->stop = false;
    while (!loop->stop) {
        at = leave_out(loop, at, 0);
        int timeout = wait_ms(loop);
        /* prepare may have stopped the loop or removed sources */
        sweep(loop);
        if (loop->stop)
            break;
        int count = epoll_wait(loop->epfd, events, EVENTS_PER_WAIT, timeout);
        if (count < 0 && errno != EINTR)
            return rl_fail(err, RL_E_INTERNAL, NULL, "Waiting for events failed: %s.", strerror(errno));
        /* without a timer a wait may be of any length, and nothing hangs on it */
        at = timeout < 0 ? rl_monotonic_ns() : leave_out(loop, at, timeout * INT64_C(1000000));
        for (int i = 0; i < count; i++) {
            struct loop_source *source = events[i].data.ptr;
            if (!source->dead)
                source->ready(source->arg, events[i].events);
        }
        at = leave_out(loop, at, 0);
        fire_timers(loop);
        sweep(loop);
    }
    sweep(loop);
    return 0;
}
