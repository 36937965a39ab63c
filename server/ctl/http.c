/* HTTP for the client, by libcurl: the only file that includes it. */
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "server/ctl/ctl.h"

#define ANSWER_MAX      (64u * 1024u * 1024u)
#define TOKEN_MAX       512
#define CONNECT_LIMIT_S 10L
#define TIMEOUT_MAX_S   86400

struct ctl_http {
    CURL *curl;
    char *base;
    bool by_path;
    int64_t timeout_s;
    const char *where;                  /* as messages name the daemon: the socket's path or the address */
    char authorization[TOKEN_MAX + 32]; /* empty: none */
    char error[CURL_ERROR_SIZE];
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void ctl_catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART: waiting ends at once */
    sigaction(SIGINT, &action, NULL);
}

bool ctl_interrupted(void)
{
    return interrupted != 0;
}

static int on_progress(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
    (void)arg, (void)down_total, (void)down, (void)up_total, (void)up;
    return interrupted != 0;
}

static size_t on_data(char *data, size_t size, size_t count, void *arg)
{
    return rl_buf_add(arg, data, size * count) == 0 ? size * count : 0;
}

struct saved { /* an answer on its way to a file; one that is an error stays in memory */
    CURL *curl;
    FILE *file;
    struct rl_buf error;
    uint64_t bytes;
    int write_error; /* errno of a failed write; 0 */
};

static size_t on_saved(char *data, size_t size, size_t count, void *arg)
{
    struct saved *saved = arg;
    long status = 0;
    curl_easy_getinfo(saved->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return rl_buf_add(&saved->error, data, size * count) == 0 ? size * count : 0;
    size_t written = fwrite(data, 1, size * count, saved->file);
    saved->bytes += written;
    if (written < size * count)
        saved->write_error = errno != 0 ? errno : EIO;
    return written;
}

static int read_token(struct ctl_http *http, const char *path, struct rl_err *err)
{
    char line[TOKEN_MAX + 2];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return rl_fail(err, RL_E_IO, "--token-file", "The token file %s cannot be read: %s.", path, strerror(errno));
    bool got = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    size_t len = got ? strcspn(line, "\r\n") : 0;
    bool whole = got && len < TOKEN_MAX;
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t'))
        len--;
    line[got ? len : 0] = '\0';
    for (size_t i = 0; i < len; i++)
        whole = whole && line[i] > ' ' && line[i] < 0x7f;
    if (!whole || len == 0)
        return rl_fail(err, RL_E_USAGE, "--token-file", "The first line of %s is not a token.", path);
    snprintf(http->authorization, sizeof http->authorization, "Authorization: Bearer %s", line);
    return 0;
}

/* Whether the URL names this machine; a proxy of the environment cannot reach the daemon there. */
static bool is_loopback(const char *url)
{
    CURLU *parts = curl_url();
    char *host = NULL;
    bool loopback = false;
    if (parts != NULL && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK)
        loopback = strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || strcmp(host, "[::1]") == 0;
    curl_free(host);
    curl_url_cleanup(parts);
    return loopback;
}

static bool has_part(CURLU *parts, CURLUPart part)
{
    char *text = NULL;
    bool has = curl_url_get(parts, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return has;
}

/* What keeps a text from being the daemon's address, or NULL. */
static const char *url_fault(const char *url)
{
    if (url[0] == '\0')
        return "it is empty";
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return "it does not begin with http:// or https://";
    CURLU *parts = curl_url();
    char *port = NULL;
    const char *fault = NULL;
    if (parts == NULL)
        return "there is no memory to read it";
    CURLUcode code = curl_url_set(parts, CURLUPART_URL, url, 0);
    bool port_zero = curl_url_get(parts, CURLUPART_PORT, &port, 0) == CURLUE_OK && strcmp(port, "0") == 0;
    if (code == CURLUE_BAD_PORT_NUMBER || port_zero)
        fault = "its port is not a number from 1 to 65535";
    else if (code != CURLUE_OK)
        fault = curl_url_strerror(code);
    else if (has_part(parts, CURLUPART_USER) || has_part(parts, CURLUPART_PASSWORD))
        fault = "it holds a user or password, which rooflined does not take: use --token-file";
    else if (has_part(parts, CURLUPART_QUERY) || has_part(parts, CURLUPART_FRAGMENT))
        fault = "it has a part after ? or #";
    curl_free(port);
    curl_url_cleanup(parts);
    return fault;
}

/* The daemon's address into http->base; ROOFLINED_URL may be empty, as a shell leaves it. */
static int take_url(struct ctl_http *http, const struct ctl_common *options, struct rl_err *err)
{
    const char *url = options->url, *name = "--url";
    if (url == NULL) {
        url = getenv("ROOFLINED_URL");
        name = "ROOFLINED_URL";
    }
    if (options->unix_path != NULL)
        url = "http://localhost";
    else if (url == NULL || (url[0] == '\0' && options->url == NULL))
        url = "http://127.0.0.1:8049";
    const char *fault = url_fault(url);
    /* Not quoted: what is wrong with it may be the password in it. */
    if (fault != NULL)
        return rl_fail(err, RL_E_USAGE, name, "%s is not an address of rooflined, such as http://127.0.0.1:8049: %s.",
                       name, fault);
    http->base = strdup(url);
    if (http->base == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the daemon's address.");
    return 0;
}

static int set_up(struct ctl_http *http, const struct ctl_common *options, struct rl_err *err)
{
    if (options->unix_path != NULL && options->url != NULL)
        return rl_fail(err, RL_E_USAGE, "--unix", "Only one of --unix and --url can be used.");
    if (options->unix_path != NULL && options->unix_path[0] == '\0')
        return rl_fail(err, RL_E_USAGE, "--unix", "--unix is empty: it takes the path of the daemon's socket.");
    const char *timeout = options->timeout != NULL ? options->timeout : CTL_TIMEOUT_S;
    if (rl_parse_i64(timeout, 1, TIMEOUT_MAX_S, &http->timeout_s) != 0)
        return rl_fail(err, RL_E_USAGE, "--timeout", "--timeout is \"%.32s\", not a number of seconds from 1 to %d.",
                       timeout, TIMEOUT_MAX_S);
    if (take_url(http, options, err) != 0)
        return -1;
    http->by_path = options->unix_path != NULL;
    http->where = options->unix_path != NULL ? options->unix_path : http->base;
    size_t len = strlen(http->base);
    while (len > 0 && http->base[len - 1] == '/')
        http->base[--len] = '\0';
    if (options->token_file != NULL && read_token(http, options->token_file, err) != 0)
        return -1;
#if LIBCURL_VERSION_NUM >= 0x075500
    CURLcode code = curl_easy_setopt(http->curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    CURLcode code = curl_easy_setopt(http->curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    if (code == CURLE_OK && options->unix_path != NULL)
        code = curl_easy_setopt(http->curl, CURLOPT_UNIX_SOCKET_PATH, options->unix_path);
    if (code == CURLE_OK && (options->unix_path != NULL || is_loopback(http->base)))
        code = curl_easy_setopt(http->curl, CURLOPT_PROXY, "");
    if (code != CURLE_OK)
        return rl_fail(err, RL_E_INTERNAL, NULL, "libcurl: %s.", curl_easy_strerror(code));
    curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, http->error);
    curl_easy_setopt(http->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(http->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(http->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(http->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_LIMIT_S);
    curl_easy_setopt(http->curl, CURLOPT_TIMEOUT, (long)http->timeout_s);
    curl_easy_setopt(http->curl, CURLOPT_USERAGENT, CTL_PROGRAM "/" RL_BUILD_ID);
    curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION, on_data);
    return 0;
}

int ctl_http_new(const struct ctl_common *options, struct ctl_http **ret, struct rl_err *err)
{
    struct ctl_http *http = calloc(1, sizeof *http);
    if (http == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (http->curl = curl_easy_init()) == NULL) {
        free(http);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "libcurl could not be started.");
    }
    if (set_up(http, options, err) != 0) {
        ctl_http_free(http);
        return -1;
    }
    *ret = http;
    return 0;
}

void ctl_http_free(struct ctl_http *http)
{
    if (http == NULL)
        return;
    curl_easy_cleanup(http->curl);
    curl_global_cleanup();
    explicit_bzero(http->authorization, sizeof http->authorization);
    free(http->base);
    free(http);
}

/* The error of an error answer: the daemon's own when it is one of ours. */
static int error_of(const struct ctl_http *http, long status, const struct rl_buf *out, struct rl_err *err)
{
    json_t *answer = out->len > 0 ? json_loadb(out->data, out->len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const json_t *error = json_object_get(answer, "error");
    const char *id = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    const char *next = json_string_value(json_object_get(error, "next_action"));
    const char *field = json_string_value(json_object_get(error, "field"));
    if (id == NULL || message == NULL)
        rl_fail(err, RL_E_UNREACHABLE, NULL, "%s answered with HTTP status %ld and no error of rooflined.", http->where,
                status);
    else if (rl_code_from_id(id) != RL_E_NONE)
        rl_fail(err, rl_code_from_id(id), field, "%s", ctl_text(json_object_get(error, "message")));
    else /* a newer daemon's */
        rl_fail(err, RL_E_INTERNAL, field, "%s: %s (%s)", id, ctl_text(json_object_get(error, "message")),
                next != NULL ? next : "");
    json_decref(answer);
    return -1;
}

static struct curl_slist *headers_of(const struct ctl_http *http, bool has_body, const char *key, struct rl_err *err)
{
    char line[200];
    struct curl_slist *list = curl_slist_append(NULL, "Accept: application/json");
    if (has_body)
        list = curl_slist_append(list, "Content-Type: application/json");
    if (http->authorization[0] != '\0')
        list = curl_slist_append(list, http->authorization);
    if (key != NULL) {
        snprintf(line, sizeof line, "Idempotency-Key: %s", key);
        list = curl_slist_append(list, line);
    }
    if (list == NULL)
        rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for a request.");
    return list;
}

static void not_answered(const struct ctl_http *http, CURLcode code, struct rl_err *err)
{
    long system_error = 0;
    curl_off_t connected = 0;
    curl_easy_getinfo(http->curl, CURLINFO_OS_ERRNO, &system_error);
    curl_easy_getinfo(http->curl, CURLINFO_CONNECT_TIME_T, &connected);
    const char *why = http->error[0] != '\0' ? http->error : curl_easy_strerror(code);
    if (http->by_path && system_error != 0) /* libcurl speaks of "localhost port 80" where it has a path */
        why = strerror((int)system_error);
    if (code == CURLE_OPERATION_TIMEDOUT && connected > 0)
        rl_fail(err, RL_E_UNREACHABLE, NULL,
                "rooflined at %s took the connection and did not answer within %" PRId64
                " s (--timeout): it is stopped or overloaded.",
                http->where, http->timeout_s);
    else
        rl_fail(err, RL_E_UNREACHABLE, NULL, "rooflined cannot be reached at %s: %s.", http->where, why);
}

int ctl_http_send(struct ctl_http *http, const char *method, const char *path, const char *body,
                  const char *idempotency_key, struct rl_buf *out, long *ret_status, struct rl_err *err)
{
    struct rl_buf url;
    long status = 0;
    rl_buf_init(&url, 65536);
    rl_buf_printf(&url, "%s%s", http->base, path);
    struct curl_slist *headers = headers_of(http, body != NULL, idempotency_key, err);
    if (headers == NULL || url.failed) {
        rl_buf_free(&url);
        return headers == NULL ? -1 : rl_fail(err, RL_E_URI_TOO_LONG, NULL, "The address is too long.");
    }
    rl_buf_clear(out);
    http->error[0] = '\0';
    curl_easy_setopt(http->curl, CURLOPT_URL, url.data);
    curl_easy_setopt(http->curl, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(http->curl, CURLOPT_CUSTOMREQUEST, NULL);
    if (body != NULL) {
        curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
        curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, body);
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "POST") != 0)
        curl_easy_setopt(http->curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, out);
    CURLcode code = curl_easy_perform(http->curl);
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK)
        not_answered(http, code, err);
    curl_slist_free_all(headers);
    rl_buf_free(&url);
    if (code != CURLE_OK)
        return -1;
    bool answered = status >= 200 && status < 300;
    if (ret_status != NULL) {
        *ret_status = status;
        answered |= status == 503 && out->len > 0 && strncmp(out->data, "{\"error\"", 8) != 0 && out->data[0] == '{';
    }
    return answered ? 0 : error_of(http, status, out, err);
}

static int save_failed(const struct ctl_http *http, const struct saved *saved, CURLcode code, struct rl_err *err)
{
    if (saved->write_error != 0)
        return rl_fail(err, RL_E_IO, NULL, "What was exported cannot be written: %s.", strerror(saved->write_error));
    if (saved->bytes == 0) {
        not_answered(http, code, err);
        return -1;
    }
    if (code == CURLE_OPERATION_TIMEDOUT)
        return rl_fail(err, RL_E_UNREACHABLE, NULL,
                       "rooflined at %s sent nothing for %" PRId64 " s (--timeout) in the middle of its answer.",
                       http->where, http->timeout_s);
    return rl_fail(err, RL_E_UNREACHABLE, NULL, "rooflined at %s ended the connection in the middle of its answer: %s.",
                   http->where, http->error[0] != '\0' ? http->error : curl_easy_strerror(code));
}

int ctl_http_save(struct ctl_http *http, const char *path, FILE *file, uint64_t *ret_bytes, struct rl_err *err)
{
    struct saved saved = {.curl = http->curl, .file = file};
    struct rl_buf url;
    long status = 0;
    int result = -1;
    *ret_bytes = 0;
    rl_buf_init(&saved.error, ANSWER_MAX);
    rl_buf_init(&url, 65536);
    rl_buf_printf(&url, "%s%s", http->base, path);
    struct curl_slist *headers = headers_of(http, false, NULL, err);
    if (headers == NULL)
        goto out;
    http->error[0] = '\0';
    curl_easy_setopt(http->curl, CURLOPT_URL, url.data);
    curl_easy_setopt(http->curl, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(http->curl, CURLOPT_TIMEOUT, 0L);
    curl_easy_setopt(http->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(http->curl, CURLOPT_LOW_SPEED_TIME, (long)http->timeout_s);
    curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION, on_saved);
    curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, &saved);
    CURLcode code = curl_easy_perform(http->curl);
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
    result = code != CURLE_OK ? save_failed(http, &saved, code, err)
             : status == 200  ? 0
                              : error_of(http, status, &saved.error, err);
    *ret_bytes = saved.bytes;
    /* as ctl_http_send wants it */
    curl_easy_setopt(http->curl, CURLOPT_TIMEOUT, (long)http->timeout_s);
    curl_easy_setopt(http->curl, CURLOPT_LOW_SPEED_TIME, 0L);
    curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION, on_data);
out:
    curl_slist_free_all(headers);
    rl_buf_free(&url);
    rl_buf_free(&saved.error);
    return result;
}

static int add_part(curl_mime *form, const struct ctl_part *part, struct rl_err *err)
{
    curl_mimepart *made = curl_mime_addpart(form);
    CURLcode code = made != NULL ? curl_mime_name(made, part->name) : CURLE_OUT_OF_MEMORY;
    if (code == CURLE_OK)
        code = part->file ? curl_mime_filedata(made, part->value)
                          : curl_mime_data(made, part->value, CURL_ZERO_TERMINATED);
    if (code == CURLE_OK && part->file && part->filename != NULL)
        code = curl_mime_filename(made, part->filename);
    if (code == CURLE_OK)
        return 0;
    if (code == CURLE_OUT_OF_MEMORY)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for a request.");
    return rl_fail(err, RL_E_IO, part->name, "--%s %s cannot be read.", part->name, part->value);
}

/* The form's own Content-Type has its boundary: libcurl adds it. */
int ctl_http_upload(struct ctl_http *http, const char *path, const struct ctl_part *parts, size_t count,
                    struct rl_buf *out, long *ret_status, struct rl_err *err)
{
    struct rl_buf url;
    long status = 0;
    int result = 0;
    CURLcode code = CURLE_OK;
    curl_mime *form = curl_mime_init(http->curl);
    struct curl_slist *headers = headers_of(http, false, NULL, err);
    rl_buf_init(&url, 65536);
    rl_buf_printf(&url, "%s%s", http->base, path);
    if (form == NULL || headers == NULL)
        result = rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for a request.");
    for (size_t i = 0; i < count && result == 0; i++)
        result = parts[i].value != NULL ? add_part(form, &parts[i], err) : 0;
    if (result == 0) {
        http->error[0] = '\0';
        curl_easy_setopt(http->curl, CURLOPT_URL, url.data);
        curl_easy_setopt(http->curl, CURLOPT_CUSTOMREQUEST, NULL);
        curl_easy_setopt(http->curl, CURLOPT_MIMEPOST, form);
        curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, out);
        curl_easy_setopt(http->curl, CURLOPT_TIMEOUT, 0L);
        curl_easy_setopt(http->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(http->curl, CURLOPT_LOW_SPEED_TIME, (long)http->timeout_s);
        code = curl_easy_perform(http->curl);
        curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
        /* as ctl_http_send wants it */
        curl_easy_setopt(http->curl, CURLOPT_MIMEPOST, NULL);
        curl_easy_setopt(http->curl, CURLOPT_HTTPGET, 1L);
        curl_easy_setopt(http->curl, CURLOPT_TIMEOUT, (long)http->timeout_s);
        curl_easy_setopt(http->curl, CURLOPT_LOW_SPEED_TIME, 0L);
    }
    if (result == 0 && code == CURLE_READ_ERROR)
        result = rl_fail(err, RL_E_IO, NULL, "A file could not be read whole.");
    else if (result == 0 && code != CURLE_OK) {
        not_answered(http, code, err);
        result = -1;
    } else if (result == 0 && (status < 200 || status > 299)) {
        result = error_of(http, status, out, err);
    }
    *ret_status = status;
    curl_mime_free(form);
    curl_slist_free_all(headers);
    rl_buf_free(&url);
    return result;
}

int ctl_http_parse(const struct ctl_http *http, const struct rl_buf *out, json_t **ret, struct rl_err *err)
{
    json_t *answer = out->len > 0 ? json_loadb(out->data, out->len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!json_is_object(answer)) {
        json_decref(answer);
        return rl_fail(err, RL_E_UNREACHABLE, NULL, "%s answered with something else than JSON: is it rooflined?",
                       http->where);
    }
    *ret = answer;
    return 0;
}

int ctl_http_get_json(struct ctl_http *http, const char *path, json_t **ret, struct rl_err *err)
{
    struct rl_buf out;
    rl_buf_init(&out, ANSWER_MAX);
    int result = ctl_http_send(http, "GET", path, NULL, NULL, &out, NULL, err);
    if (result == 0)
        result = ctl_http_parse(http, &out, ret, err);
    rl_buf_free(&out);
    return result;
}

void ctl_query(struct rl_buf *path, const char *name, const char *value)
{
    if (value == NULL || path->failed)
        return;
    char *safe = curl_easy_escape(NULL, value, 0);
    if (safe == NULL)
        path->failed = true;
    else
        rl_buf_printf(path, "%c%s=%s", strchr(path->data, '?') == NULL ? '?' : '&', name, safe);
    curl_free(safe);
}
