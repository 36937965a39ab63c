/* Any bytes as what a client sends. The check keeps within its own state, and how the bytes are cut into pieces, which
 * the first of them choose, changes nothing: not the error, not the number of requests, not where the last one ends. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/limits/limits.h"
#include "server/request/screen.h"

struct verdict {
    struct rl_err err;
    uint64_t heads, requests;
    size_t end; /* of the last whole request */
};

static struct verdict look(const char *data, size_t len, const uint8_t *pieces, size_t piece_count)
{
    struct verdict verdict = {0};
    struct http_screen screen;
    http_screen_init(&screen);
    for (size_t at = 0, turn = 0; at < len; turn++) {
        size_t size = piece_count > 0 ? 1 + pieces[turn % piece_count] : len, pass = 0;
        size = size < len - at ? size : len - at;
        uint64_t opaque = http_screen_opaque(&screen), requests = screen.requests;
        int rc = http_screen_feed(&screen, data + at, size, &pass, &verdict.err);
        if (pass > size || (rc == 0 && pass != size) || (rc != 0 && verdict.err.code == RL_E_NONE))
            abort();
        if (rc != 0 && (opaque >= size || verdict.err.code == RL_E_INTERNAL || verdict.err.message[0] == '\0'))
            abort();
        if (screen.requests != requests && rc != 0)
            verdict.end = at + pass;
        if (rc != 0)
            break;
        at += size;
    }
    if (screen.heads < screen.requests || screen.heads > screen.requests + 1)
        abort();
    verdict.heads = screen.heads;
    verdict.requests = screen.requests;
    return verdict;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t ones[] = {0};
    if (size < 2)
        return 0;
    const char *text = (const char *)data + 2;
    struct verdict whole = look(text, size - 2, NULL, 0);
    struct verdict others[] = {look(text, size - 2, ones, 1), look(text, size - 2, data, 2)};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i].err.code != whole.err.code || strcmp(others[i].err.message, whole.err.message) != 0 ||
            others[i].heads != whole.heads || others[i].requests != whole.requests)
            abort();
    /* What was let through is the same again, and nothing but whole requests. */
    if (whole.err.code != RL_E_NONE && whole.end > 0) {
        struct verdict again = look(text, whole.end, NULL, 0);
        if (again.err.code != RL_E_NONE || again.requests != whole.requests || again.heads != whole.requests)
            abort();
    }
    return 0;
}
