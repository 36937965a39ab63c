/* Any bytes as the stream of a measuring process. The first byte picks what was asked and how the bytes are cut, so
 * that the cut between two reads is searched too. Also: whatever the reader lets pass has to be writable again, and the
 * same bytes fed one by one have to be judged the same. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/record/json_text.h"
#include "gpu/suites/base/params.h"
#include "gpu/suites/verify/verify.h"
#include "gpu/wire/wire.h"

static int on_line(void *arg, const struct wire_line *line, struct rl_err *err)
{
    struct rl_buf out;
    (void)err;
    *(size_t *)arg += 1;
    rl_buf_init(&out, 16 * PROTOCOL_LINE_MAX);
    if (rl_json_write(line->body, &out) < 0)
        abort();
    rl_buf_free(&out);
    return 0;
}

/* Lines that passed, or SIZE_MAX - lines for a stream that broke. */
static size_t judge(bool probe, const uint8_t *data, size_t size, size_t piece)
{
    struct rl_err err = {0};
    size_t lines = 0;
    int rc = 0;
    struct wire_request asked = {.probe = probe};
    rl_params_default(&rl_suite_verify, &asked.params);
    struct wire_reader *reader = wire_reader_new(&asked, on_line, &lines);
    if (reader == NULL)
        return 0;
    for (size_t at = 0; rc == 0 && at < size; at += piece)
        rc = wire_reader_feed(reader, data + at, size - at < piece ? size - at : piece, &err);
    if (rc < 0 && (err.code != RL_E_MEASURE_PROTOCOL || err.message[0] == '\0'))
        abort();
    if (wire_reader_end(reader, &err) < 0 && err.code != RL_E_MEASURE_CRASHED)
        abort();
    wire_reader_free(reader);
    return rc < 0 ? SIZE_MAX - lines : lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_request request;
    struct rl_err err = {0};
    if (size == 0)
        return 0;
    bool probe = data[0] & 1;
    size_t piece = (size_t)(data[0] >> 1) + 1;
    data++;
    size--;
    if (judge(probe, data, size, piece) != judge(probe, data, size, size > 0 ? size : 1))
        abort();
    if (wire_request_parse((const char *)data, size, &request, &err) < 0 &&
        !rl_utf8_valid(err.message, strlen(err.message)))
        abort();
    return 0;
}
