/* A measuring process that does what a script says: plays protocol lines, hangs, ignores signals and the end of the
 * stream, crashes, floods, leaves children. Run as the real one is: fake_measure --protocol --replay SCRIPT.
 *
 * One command a line; # begins a comment:
 *   line TEXT       TEXT and a line feed to the stream; @SEQ counts up, @NS is CLOCK_MONOTONIC, @PID our pid
 *   part TEXT       the same without the line feed
 *   file PATH       a file's bytes to the stream
 *   fill N          N bytes 'x' to the stream
 *   request         waits for a line on the stream
 *   echo            tells the request as a log line
 *   fds             tells our open descriptors as a log line
 *   signals         tells the ignored and blocked signals as a log line
 *   stdout TEXT     TEXT and a line feed on standard output
 *   flood N         N lines on standard error
 *   sleep MS        sleeps; ends at the end of the stream unless told to ignore it
 *   hang            sleeps for ever, likewise
 *   close           closes the stream
 *   ignore-eof      the end of the stream no longer ends us
 *   ignore-term     TERM no longer ends us
 *   child           forks a child that ignores TERM, keeps every descriptor and sleeps for ever; tells its pid as a log
 * line exit N, abort
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define STREAM       3
#define SCRIPT_MAX   (8u << 20)
#define MAX_SLEEP_MS 120000 /* a fake that a failing test leaves behind goes away by itself */

static bool ignore_eof;
static long sequence;
static char request[65536];

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void put(const char *data, size_t len)
{
    while (len > 0) {
        ssize_t done = write(STREAM, data, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && ignore_eof)
            return;
        if (done < 0)
            _exit(75);
        data += done;
        len -= (size_t)done;
    }
}

static void put_text(const char *text)
{
    char number[32];
    for (const char *at = text; *at != '\0';) {
        if (strncmp(at, "@SEQ", 4) == 0) {
            put(number, (size_t)snprintf(number, sizeof number, "%ld", ++sequence));
            at += 4;
        } else if (strncmp(at, "@NS", 3) == 0) {
            put(number, (size_t)snprintf(number, sizeof number, "%" PRId64, monotonic_ns()));
            at += 3;
        } else if (strncmp(at, "@PID", 4) == 0) {
            put(number, (size_t)snprintf(number, sizeof number, "%ld", (long)getpid()));
            at += 4;
        } else {
            put(at, 1);
            at++;
        }
    }
}

__attribute__((format(printf, 1, 2))) static void tell(const char *fmt, ...)
{
    char text[70000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    put_text("{\"t\":\"log\",\"seq\":@SEQ,\"at_ns\":@NS,\"text\":\"");
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            put("\\", 1);
        put(c, 1);
    }
    put("\"}\n", 3);
}

/* Until ms are over (-1: for ever), or the stream ends. */
static void wait_ms(long ms)
{
    int64_t end = monotonic_ns() + (ms < 0 ? MAX_SLEEP_MS : ms) * INT64_C(1000000);
    while (monotonic_ns() < end) {
        struct pollfd stream = {.fd = ignore_eof ? -1 : STREAM, .events = POLLIN | POLLRDHUP};
        int left = (int)((end - monotonic_ns()) / 1000000) + 1;
        if (poll(&stream, 1, left) <= 0 || (stream.revents & (POLLHUP | POLLRDHUP | POLLERR)) == 0)
            continue;
        _exit(75);
    }
    if (ms < 0)
        _exit(70);
}

static void read_request(void)
{
    size_t len = 0;
    while (len < sizeof request - 1) {
        ssize_t got = read(STREAM, request + len, 1);
        if (got <= 0)
            _exit(76);
        if (request[len] == '\n')
            break;
        len++;
    }
    request[len] = '\0';
}

static void tell_descriptors(void)
{
    char list[4096] = "";
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] == '.' || fd == dirfd(dir))
            continue;
        size_t len = strlen(list);
        snprintf(list + len, sizeof list - len, " %d", fd);
    }
    if (dir != NULL)
        closedir(dir);
    tell("fds%s", list);
}

/* Of the 31 classic signals, as hexadecimal masks. */
static void tell_signals(void)
{
    unsigned blocked = 0, ignored = 0;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < 32; number++) {
        struct sigaction action;
        if (sigismember(&mask, number) == 1)
            blocked |= 1u << (number - 1);
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            ignored |= 1u << (number - 1);
    }
    tell("blocked %x", blocked);
    tell("ignored %x", ignored);
    tell("pgid %s", getpgrp() == getpid() ? "own" : "shared");
}

static void put_file(const char *path)
{
    char data[65536];
    FILE *file = fopen(path, "r");
    size_t got;
    if (file == NULL)
        _exit(66);
    while ((got = fread(data, 1, sizeof data, file)) > 0)
        put(data, got);
    fclose(file);
}

static void fill(long left)
{
    char block[4096];
    memset(block, 'x', sizeof block);
    for (long size; left > 0; left -= size) {
        size = left < (long)sizeof block ? left : (long)sizeof block;
        put(block, (size_t)size);
    }
}

static void fork_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGTERM, SIG_IGN);
        ignore_eof = true;
        wait_ms(-1);
    }
    tell("child %ld", (long)pid);
}

static void obey(const char *word, const char *rest)
{
    if (strcmp(word, "line") == 0 || strcmp(word, "part") == 0) {
        put_text(rest);
        if (word[0] == 'l')
            put("\n", 1);
    } else if (strcmp(word, "file") == 0) {
        put_file(rest);
    } else if (strcmp(word, "fill") == 0) {
        fill(strtol(rest, NULL, 10));
    } else if (strcmp(word, "request") == 0) {
        read_request();
    } else if (strcmp(word, "echo") == 0) {
        tell("%s", request);
    } else if (strcmp(word, "fds") == 0) {
        tell_descriptors();
    } else if (strcmp(word, "signals") == 0) {
        tell_signals();
    } else if (strcmp(word, "stdout") == 0) {
        printf("%s\n", rest);
        fflush(stdout);
    } else if (strcmp(word, "flood") == 0) {
        for (long i = 1; i <= strtol(rest, NULL, 10); i++)
            fprintf(stderr, "noise %ld\n", i);
    } else if (strcmp(word, "sleep") == 0) {
        wait_ms(strtol(rest, NULL, 10));
    } else if (strcmp(word, "hang") == 0) {
        wait_ms(-1);
    } else if (strcmp(word, "close") == 0) {
        close(STREAM);
        ignore_eof = true;
    } else if (strcmp(word, "ignore-eof") == 0) {
        ignore_eof = true;
    } else if (strcmp(word, "ignore-term") == 0) {
        signal(SIGTERM, SIG_IGN);
    } else if (strcmp(word, "child") == 0) {
        fork_child();
    } else if (strcmp(word, "exit") == 0) {
        exit((int)strtol(rest, NULL, 10));
    } else if (strcmp(word, "abort") == 0) {
        prctl(PR_SET_DUMPABLE, 0); /* no core file from a test */
        abort();
    } else {
        fprintf(stderr, "fake_measure: unknown command %s\n", word);
        exit(64);
    }
}

/* The whole script at once, so that no descriptor of ours stays open. */
static char *read_script(int argc, char **argv)
{
    const char *path = NULL;
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--replay") == 0)
            path = argv[i + 1];
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    char *text = calloc(1, SCRIPT_MAX + 1);
    if (file == NULL || text == NULL)
        return NULL;
    size_t len = fread(text, 1, SCRIPT_MAX, file);
    text[len] = '\0';
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    char *script = read_script(argc, argv);
    if (script == NULL) {
        fprintf(stderr, "fake_measure: --replay names no script\n");
        return 66;
    }
    signal(SIGPIPE, SIG_IGN);
    bool skip = false;
    for (char *line = script, *next; line != NULL && *line != '\0'; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        char *rest = strchr(line, ' ');
        if (strcmp(line, "end") == 0)
            skip = false;
        if (line[0] == '\0' || line[0] == '#' || skip || strcmp(line, "end") == 0)
            continue;
        if (rest != NULL)
            *rest++ = '\0';
        if (strcmp(line, "when") == 0)
            skip = rest == NULL || strstr(request, rest) == NULL;
        else
            obey(line, rest != NULL ? rest : "");
    }
    free(script);
    return 0;
}
