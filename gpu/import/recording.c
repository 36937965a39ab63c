/* A recording of raw answers: replayed through the engine, then an import like any other. */
#include "gpu/import/recording.h"

#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/engine/engine.h"
#include "gpu/import/common/files.h"
#include "gpu/import/common/note.h"
#include "gpu/import/identity.h"
#include "gpu/import/text/message.h"
#include "gpu/recording/replay.h"
#include "kernels/unit/catalogue.h"

#define SAMPLES_ROWS 64u

struct taking {
    struct import_sample sample[SAMPLES_ROWS]; /* times in the taking arena */
    size_t count;
    struct rl_arena *arena;
    bool failed;
};

/* The last series of a unit and state counts, as in the protocol. */
static void on_samples(void *arg, const char *unit, enum rl_state state, int64_t launches, const double *times_s,
                       size_t count)
{
    struct taking *taking = arg;
    size_t at = 0;
    while (at < taking->count && (strcmp(taking->sample[at].unit, unit) != 0 || taking->sample[at].state != state))
        at++;
    double *copy = rl_arena_array(taking->arena, count, sizeof *copy);
    if (copy == NULL || at == SAMPLES_ROWS) {
        taking->failed = true;
        return;
    }
    memcpy(copy, times_s, count * sizeof *copy);
    taking->sample[at] = (struct import_sample){unit, state, launches, copy, count};
    taking->count += at == taking->count;
}

static int keep_samples(struct import *import, const struct taking *taking)
{
    struct rl_arena *arena = import->run->arena;
    import->samples = rl_arena_array(arena, taking->count + 1, sizeof *import->samples);
    for (size_t i = 0; import->samples != NULL && i < taking->count; i++) {
        struct import_sample sample = taking->sample[i];
        double *copy = rl_arena_array(arena, sample.count, sizeof *copy);
        if (copy == NULL)
            break;
        memcpy(copy, sample.times_s, sample.count * sizeof *copy);
        sample.times_s = copy;
        const struct rl_unit *unit = rl_unit_find(sample.unit);
        sample.unit = unit != NULL ? unit->id : sample.unit;
        import->samples[import->sample_count++] = sample;
    }
    return import->sample_count == taking->count && !taking->failed
               ? 0
               : rl_fail(import->err, RL_E_NO_MEMORY, "recording", "no memory for the samples");
}

/* What the file is called when its errors are told. Of a replay that the operator asks for they are the server's; of an
 * upload they are the file's, whatever is wrong with what it holds. */
static int in_file(struct import *import, const struct import_file *file)
{
    char quoted[IMPORT_QUOTE];
    rl_wrap(import->err, "%s", import_quote(quoted, file->name));
    if (import->err->code != RL_E_NO_MEMORY)
        import->err->code = RL_E_IMPORT_FORMAT;
    snprintf(import->err->field, sizeof import->err->field, "recording");
    return -1;
}

static int replay(struct import *import, struct recording *recording, enum rl_sizes sizes, struct taking *taking,
                  struct rl_run **ret)
{
    struct gpu_backend *backend = NULL;
    struct engine_request request = {.sizes = sizes, .state = {true, true}, .counters = true};
    const struct engine_events events = {.arg = taking, .samples = on_samples};
    for (size_t i = 0; i < rl_kernel_count; i++)
        request.kernel[i] = true;
    if (gpu_backend_new_replay(recording, NULL, &backend, import->err) != 0)
        return -1;
    backend->sizes = sizes;
    int rc = engine_run(backend, &request, &events, ret, import->err);
    backend->ops->close(backend);
    return rc;
}

int import_recording(struct import *import, const struct import_file *file)
{
    struct taking taking = {.arena = import->arena};
    struct recording *recording = NULL;
    struct rl_run *run = NULL;
    const char *wanted = import->request->fields.sizes;
    enum rl_sizes sizes = RL_COURSE;
    if (wanted != NULL && rl_sizes_from_name(wanted, &sizes) != 0)
        return rl_fail(import->err, RL_E_BAD_FIELD, "sizes",
                       "sizes is \"other\"; a recording has course and scaled ones");
    if (recording_parse(file->data, file->len, &recording, import->err) != 0)
        return in_file(import, file);
    int64_t recorded_at_ms = recording->recorded_at_ms;
    if (replay(import, recording, sizes, &taking, &run) != 0)
        return in_file(import, file);
    rl_run_free(import->run);
    import->run = run;
    if (!rl_device_id_valid(&run->device))
        return rl_fail(import->err, RL_E_IMPORT_FORMAT, "recording",
                       "%s: line 1: device.id is neither the device's uuid nor, without one, a name of lower-case "
                       "letters, digits and dashes",
                       file->name);
    if (!rl_utf8_is_line(run->device.name)) {
        char quoted[IMPORT_QUOTE];
        return rl_fail(import->err, RL_E_IMPORT_FORMAT, "recording", "%s: line 1: device.name " IMPORT_BAD_DEVICE,
                       file->name, import_quote(quoted, run->device.name));
    }
    import->document = true;
    /* an import is of the day on which it was measured */
    run->started_at_ms = run->finished_at_ms = recorded_at_ms;
    run->source = RL_IMPORTED;
    run->import.present = true;
    import_note(run, "imported from a recording of %s sizes: raw answers, judged by this build's rules",
                rl_sizes_name(sizes));
    if (import_agree(import, NULL) != 0 || import_add_file(import, file, "a recording of raw answers") != 0)
        return -1;
    return keep_samples(import, &taking);
}
