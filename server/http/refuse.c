/* See server/http/refuse.h. */
#include "server/http/refuse.h"

#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

static const char *phrase(int status)
{
    static const struct {
        int status;
        const char *phrase;
    } phrases[] = {{400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {408, "Request Timeout"},
                   {413, "Content Too Large"},
                   {414, "URI Too Long"},
                   {415, "Unsupported Media Type"},
                   {422, "Unprocessable Content"},
                   {429, "Too Many Requests"},
                   {431, "Request Header Fields Too Large"},
                   {501, "Not Implemented"},
                   {503, "Service Unavailable"},
                   {505, "HTTP Version Not Supported"}};
    for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Error";
}

static int write_header(void *arg, const char *name, const char *value)
{
    return rl_buf_printf(arg, "%s: %s\r\n", name, value);
}

static void write_answer(const struct http_answer *answer, bool head, struct rl_buf *out)
{
    const char *body = answer->fixed ? answer->fixed : answer->body.data;
    size_t len = answer->fixed ? answer->fixed_len : answer->body.len;
    time_t now = time(NULL);
    struct tm tm;
    char date[40];
    gmtime_r(&now, &tm);
    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    rl_buf_printf(out, "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Length: %zu\r\n", answer->status, phrase(answer->status),
                  date, len);
    http_answer_headers(answer, write_header, out);
    rl_buf_puts(out, "\r\n");
    if (!head)
        rl_buf_add(out, body, len);
}

void http_connection_refuse(struct http_connection *connection, const struct http_request *request, unsigned allow,
                            const struct rl_err *err)
{
    struct http_answer answer;
    struct rl_buf text;

    http_answer_init(&answer);
    answer.allow = allow;
    answer.close = true;
    http_answer_error(&answer, err);
    rl_buf_init(&text, 16 * 1024);
    write_answer(&answer, request && request->method == HTTP_HEAD, &text);
    /* It is small and the first thing in the socket's buffer, so that it is taken whole. */
    if (!text.failed)
        (void)!send(connection->fd, text.data, text.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    connection->answered = true;
    connection->linger = true;
    http_connection_log(connection, request, answer.status, err);
    rl_buf_free(&text);
    http_answer_fini(&answer);
}

void http_connection_log(struct http_connection *connection, const struct http_request *request, int status,
                         const struct rl_err *err)
{
    static const char *const names[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "other"};
    connection->all->counts.by_status[status]++;
    if (!connection->all->config->verbose && status != 500)
        return;
    const char *path = request && request->target.path ? request->target.path : "-";
    /* The path is decoded, but control bytes were refused: a line stays a line. */
    fprintf(stderr, "rooflined: http: %s %.200s %d%s%s\n", request ? names[request->method] : "-", path, status,
            err ? " " : "", err ? err->message : "");
}
