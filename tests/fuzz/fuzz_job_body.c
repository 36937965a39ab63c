/* Any bytes as the body of POST /api/v1/jobs. What passes must come back from its stored text as the same job. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "server/jobs/spec.h"
#include "server/request/json_body.h"

static void check_error(const struct rl_err *err)
{
    if (err->code == RL_E_NONE || err->message[0] == '\0' || rl_code_http(err->code) / 100 != 4)
        abort();
}

static void check_spec(const struct job_spec *spec)
{
    struct rl_err err = {0};
    struct job_spec again;
    struct wire_request request;
    struct rl_buf line;
    char *text = job_spec_text(spec), *text_again = NULL;
    if (text == NULL || job_spec_parse(text, &again, &err) != 0)
        abort();
    text_again = job_spec_text(&again);
    if (text_again == NULL || strcmp(text, text_again) != 0)
        abort();
    job_spec_request(spec, 1, &request);
    rl_buf_init(&line, PROTOCOL_REQUEST_MAX);
    if (spec->device[0] != '\0' && wire_request_write(&request, &line) != 0)
        abort();
    rl_buf_free(&line);
    free(text);
    free(text_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rl_err err = {0};
    struct job_spec spec;
    json_t *body;
    if (size > LIMIT_BODY_BYTES)
        return 0;
    if (json_body_parse((const char *)data, size, &body, &err) != 0) {
        check_error(&err);
        return 0;
    }
    if (job_spec_read(body, &spec, &err) != 0)
        check_error(&err);
    else
        check_spec(&spec);
    json_decref(body);
    return 0;
}
