/* One thread, one epoll loop: descriptors, timers and child processes. No handler may hold it longer than a few ms. */
#ifndef SERVER_LOOP_LOOP_H
#define SERVER_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/base/err.h"

struct loop;
struct loop_source; /* a watched descriptor or timer; freed by its remove function, safe inside its own callback */

/* Time here is that in which the loop ran, in ns from an unnamed beginning. A process that was stopped, a suspended
 * machine or a turn that nothing came out of for more than a second moves neither it nor the timers: what would have
 * been read meanwhile was not late. */
int64_t loop_now_ns(const struct loop *loop);

int loop_new(struct loop **ret, struct rl_err *err);
void loop_free(struct loop *loop);
/* events: EPOLLIN, EPOLLOUT, …; level-triggered. The descriptor stays the caller's. */
int loop_add_fd(struct loop *loop, int fd, uint32_t events, void (*ready)(void *arg, uint32_t events), void *arg,
                struct loop_source **ret, struct rl_err *err);
/* One-shot timer, by loop_now_ns; rearm by loop_timer_set. after_ms < 0 disarms. A turn serves its descriptors before
 * its timers. */
int loop_add_timer(struct loop *loop, int64_t after_ms, void (*fired)(void *arg), void *arg, struct loop_source **ret,
                   struct rl_err *err);
void loop_timer_set(struct loop *loop, struct loop_source *timer, int64_t after_ms);
void loop_remove(struct loop *loop, struct loop_source *source); /* accepts NULL */
/* Called before each wait (MHD's own timers): returns ms until it wants to be called again, or -1. */
void loop_set_prepare(struct loop *loop, int64_t (*prepare)(void *arg), void *arg);
int loop_run(struct loop *loop, struct rl_err *err); /* until loop_stop */
void loop_stop(struct loop *loop);

#endif
