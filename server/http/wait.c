/* See server/http/wait.h. */
#include "server/http/wait.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "server/request/places.h"

void http_wait_begin(struct http_wait *wait, struct http_connection *connection, const struct http_upload *upload)
{
    wait->upload = *upload;
    wait->connection = connection;
    if (upload->far)
        *upload->far = (struct http_far){&connection->pace, http_connection_cut, connection};
    http_connection_deadline(connection, LIMIT_UPLOAD_TIMES * connection->all->config->request_timeout_ms);
}

int http_wait_data(struct http_wait *wait, const char *data, size_t len, struct rl_err *err)
{
    wait->bytes += len;
    if (wait->bytes > LIMIT_UPLOAD_BYTES)
        return rl_fail(err, RL_E_TOO_LARGE, NULL, "the body has more than %u bytes", LIMIT_UPLOAD_BYTES);
    return wait->upload.data(wait->upload.later.arg, data, len, err);
}

static void leave_far(struct http_wait *wait)
{
    if (wait->upload.far)
        *wait->upload.far = (struct http_far){0};
}

static void stop_waiting(struct http_wait *wait)
{
    loop_remove(wait->connection->all->loop, wait->watch);
    wait->watch = NULL;
    if (!wait->waiting)
        return;
    wait->waiting = false;
    wait->resume(wait->arg);
}

static void on_ready(void *arg)
{
    struct http_wait *wait = arg;
    wait->ready = true;
    stop_waiting(wait);
}

void http_wait_give_up(struct http_wait *wait)
{
    wait->gone = true;
    leave_far(wait);
    if (wait->upload.later.free)
        wait->upload.later.free(wait->upload.later.arg);
    wait->upload = (struct http_upload){0};
    stop_waiting(wait);
}

/* Nothing more will come. From a client that has closed and from one that has ended its own side alone and reads on,
 * which HTTP allows, the same comes: the end of the stream. What is sent tells: a closed one's system answers it with a
 * reset, and a client passes over an interim answer (RFC 9110, 15.2), which HTTP/1.0 has not. */
static void on_end(void *arg, uint32_t events)
{
    static const char probe[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct http_wait *wait = arg;
    struct http_connection *connection = wait->connection;
    loop_remove(connection->all->loop, wait->watch);
    wait->watch = NULL;
    if (events & (EPOLLHUP | EPOLLERR) || !connection->interim ||
        send(connection->fd, probe, sizeof(probe) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(probe) - 1 ||
        loop_add_fd(connection->all->loop, connection->fd, 0, on_end, wait, &wait->watch, NULL))
        http_wait_give_up(wait);
}

int http_wait_finish(struct http_wait *wait, void (*resume)(void *arg), void *arg, struct rl_err *err)
{
    struct http_connection *connection = wait->connection;
    wait->finished = true;
    wait->resume = resume;
    wait->arg = arg;
    leave_far(wait);
    if (wait->upload.later.wait(wait->upload.later.arg, on_ready, wait, err))
        return -1;
    if (wait->ready)
        return 0;
    /* Who has the head of an answer may have ended the own side and still read; EPOLLHUP and EPOLLERR always come. */
    uint32_t events = connection->answered ? 0 : EPOLLRDHUP;
    if (loop_add_fd(connection->all->loop, connection->fd, events, on_end, wait, &wait->watch, err))
        return -1;
    wait->waiting = connection->whole = true;
    http_connection_deadline(connection, LIMIT_IMPORT_ANSWER_MS);
    return 0;
}

void http_wait_end(struct http_wait *wait)
{
    if (wait->watch)
        loop_remove(wait->connection->all->loop, wait->watch);
    leave_far(wait);
    if (wait->upload.later.free)
        wait->upload.later.free(wait->upload.later.arg);
    memset(wait, 0, sizeof(*wait));
}
