/* A recording file of any bytes: it is refused, or it serialises back to itself and can be replayed, whatever it then
 * answers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/engine/engine.h"
#include "gpu/recording/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_and_read(const struct recording *recording)
{
    struct rl_buf first, second;
    struct recording *again = NULL;
    struct rl_err err;
    rl_buf_init(&first, RECORDING_BYTES_MAX);
    rl_buf_init(&second, RECORDING_BYTES_MAX);
    if (recording_write(recording, &first, &err) != 0)
        abort();
    if (recording_parse(first.data, first.len, &again, &err) != 0 || recording_write(again, &second, &err) != 0)
        abort();
    if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
        abort();
    recording_free(again);
    rl_buf_free(&first);
    rl_buf_free(&second);
}

static void replay(struct recording *recording)
{
    struct gpu_backend *backend = NULL;
    struct rl_err err = {.code = RL_E_NONE};
    struct rl_run *run = NULL;
    struct engine_request request = {.sizes = RL_COURSE, .state = {true, true}, .kernel = {true}, .counters = true};
    if (gpu_backend_new_replay(recording, NULL, &backend, &err) != 0)
        return;
    if (engine_run(backend, &request, NULL, &run, &err) == 0)
        rl_run_free(run);
    else if (err.code == RL_E_NONE || err.message[0] == '\0')
        abort();
    (void)backend->ops->probe_counters(backend, &err);
    backend->ops->close(backend);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recording *recording = NULL;
    struct rl_err err = {.code = RL_E_NONE};
    if (recording_parse((const char *)data, size, &recording, &err) != 0) {
        if (err.code == RL_E_NONE || err.message[0] == '\0' || recording)
            abort();
        return 0;
    }
    write_and_read(recording);
    replay(recording);
    return 0;
}
