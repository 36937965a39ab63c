/* See server/loop/linger.h. */
#include "server/loop/linger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/limits/limits.h"

#define READS_AT_ONCE 16 /* of sizeof(sink): the loop is shared */

struct entry {
    struct entry *next;
    struct lingering *owner;
    int fd;
    size_t bytes;
    struct loop_source *source, *timer;
};

struct lingering {
    struct loop *loop;
    struct entry *entries;
    size_t count;
    char sink[64 * 1024];
};

static void end(struct entry *entry)
{
    struct lingering *linger = entry->owner;
    for (struct entry **at = &linger->entries; *at; at = &(*at)->next)
        if (*at == entry) {
            *at = entry->next;
            linger->count--;
            break;
        }
    loop_remove(linger->loop, entry->source);
    loop_remove(linger->loop, entry->timer);
    close(entry->fd);
    free(entry);
}

static void timed_out(void *arg)
{
    end(arg);
}

static void readable(void *arg, uint32_t events)
{
    struct entry *entry = arg;
    (void)events;
    for (int i = 0; i < READS_AT_ONCE; i++) {
        ssize_t got = recv(entry->fd, entry->owner->sink, sizeof(entry->owner->sink), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        entry->bytes += got > 0 ? (size_t)got : 0;
        if (got <= 0 || entry->bytes > LIMIT_LINGER_BYTES) {
            end(entry);
            return;
        }
    }
}

struct lingering *linger_new(struct loop *loop)
{
    struct lingering *linger = calloc(1, sizeof(*linger));
    if (linger)
        linger->loop = loop;
    return linger;
}

void linger_free(struct lingering *linger)
{
    if (!linger)
        return;
    while (linger->entries)
        end(linger->entries);
    free(linger);
}

void linger_add(struct lingering *linger, int fd)
{
    if (linger->count >= LIMIT_LINGERING)
        return;
    struct entry *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return;
    entry->owner = linger;
    entry->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (entry->fd < 0) {
        free(entry);
        return;
    }
    shutdown(entry->fd, SHUT_WR);
    entry->next = linger->entries;
    linger->entries = entry;
    linger->count++;
    if (loop_add_fd(linger->loop, entry->fd, EPOLLIN | EPOLLRDHUP, readable, entry, &entry->source, NULL) ||
        loop_add_timer(linger->loop, LIMIT_LINGER_MS, timed_out, entry, &entry->timer, NULL))
        end(entry);
}
