/* An upload's form: the input's first line is its Content-Type, the rest its body. Whatever it is, in one piece, byte
 * by byte and in pieces of every size it is the same form or none, no byte of a part is made up, and the limits hold.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/buf.h"
#include "gpu/base/num.h"
#include "server/limits/limits.h"
#include "server/request/multipart.h"

struct told {
    struct rl_buf text;
    bool open;
};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static int on_begin(void *arg, const char *name, const char *filename, struct rl_err *err)
{
    struct told *told = arg;
    (void)err;
    must(!told->open && name[0] != '\0' && strlen(name) <= LIMIT_PART_NAME_BYTES && rl_utf8_valid(name, strlen(name)));
    must(filename == NULL || (strlen(filename) <= LIMIT_FILENAME_BYTES && rl_utf8_valid(filename, strlen(filename))));
    told->open = true;
    rl_buf_printf(&told->text, "<%s|%s>", name, filename != NULL ? filename : "-");
    return 0;
}

static int on_data(void *arg, const char *data, size_t len, struct rl_err *err)
{
    struct told *told = arg;
    (void)err;
    must(told->open && len > 0);
    rl_buf_add(&told->text, data, len);
    return 0;
}

static int on_end(void *arg, struct rl_err *err)
{
    struct told *told = arg;
    (void)err;
    must(told->open);
    told->open = false;
    rl_buf_puts(&told->text, "\n.");
    return 0;
}

/* 0, or the error's code. */
static int parse(const char *boundary, const char *body, size_t len, size_t piece, struct told *told)
{
    struct multipart_events events = {told, on_begin, on_data, on_end};
    struct multipart *form = multipart_new(boundary, &events);
    struct rl_err err = {0};
    int rc = 0;
    rl_buf_init(&told->text, 1 << 22);
    told->open = false;
    for (size_t at = 0; at < len && rc == 0; at += piece)
        rc = multipart_feed(form, body + at, len - at < piece ? len - at : piece, &err);
    if (rc == 0)
        rc = multipart_end(form, &err);
    must(rc == 0 ? !told->open : err.code != RL_E_NONE && err.message[0] != '\0');
    must(rl_utf8_valid(err.field, strlen(err.field)));
    multipart_free(form);
    return rc == 0 ? 0 : (int)err.code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *newline = size > 0 ? memchr(text, '\n', size) : NULL;
    char type[512], boundary[MULTIPART_BOUNDARY_MAX + 1];
    struct told whole, pieces;
    struct rl_err err = {0};
    if (newline == NULL || (size_t)(newline - text) >= sizeof type)
        return 0;
    memcpy(type, text, (size_t)(newline - text));
    type[newline - text] = '\0';
    if (multipart_boundary(type, boundary, &err) != 0) {
        must(err.code == RL_E_BAD_MEDIA_TYPE);
        return 0;
    }
    must(boundary[0] != '\0' && strlen(boundary) <= MULTIPART_BOUNDARY_MAX);
    const char *body = newline + 1;
    size_t len = size - (size_t)(body - text);
    int rc = parse(boundary, body, len, len + 1, &whole);
    const size_t sizes[] = {1, 2, 3, 7};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        must(parse(boundary, body, len, sizes[i], &pieces) == rc);
        must(pieces.text.len == whole.text.len &&
             memcmp(pieces.text.data != NULL ? pieces.text.data : "", whole.text.data != NULL ? whole.text.data : "",
                    whole.text.len) == 0);
        rl_buf_free(&pieces.text);
    }
    rl_buf_free(&whole.text);
    return 0;
}
