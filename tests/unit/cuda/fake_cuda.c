/* See tests/unit/cuda/fake_cuda.h. */
#include "tests/unit/cuda/fake_cuda.h"

#include <stdio.h>
#include <string.h>

#include "gpu/node/lock.h"

/* ---- trace ---- */

struct fake_cuda fake;

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (fake.len)
        fake.text[fake.len++] = ' ';
    int len = vsnprintf(fake.text + fake.len, sizeof fake.text - fake.len, fmt, args);
    va_end(args);
    assert_true(len >= 0 && (size_t)len < sizeof fake.text - fake.len - 2);
    fake.len += (size_t)len;
}
void fake_clear_trace(void)
{
    fake.len = 0;
    fake.text[0] = '\0';
}

/* ---- CUDA's runtime ---- */

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}
const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaError";
}
const char *cudaGetErrorString(cudaError_t error)
{
    return error ? "some words" : "no error";
}
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 0;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 0;
    return cudaErrorInsufficientDriver;
}
cudaError_t cudaMalloc(void **memory, size_t size)
{
    say("malloc");
    assert_true(size > 0);
    if (fake.malloc_error)
        return fake.malloc_error;
    *memory = fake.memory;
    return cudaSuccess;
}
cudaError_t cudaFree(void *memory)
{
    say("free");
    (void)memory;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *available = 1000000;
    *total = 16000000;
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream)
{
    (void)memory, (void)value, (void)size, (void)stream;
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)from, (void)kind, (void)stream;
    assert_int_equal(size, 2 * sizeof(struct rl_clock_mark));
    struct rl_clock_mark *marks = to;
    marks[0] = (struct rl_clock_mark){.cycles = 1000, .time_ns = 5000, .sm = 3};
    marks[1] = (struct rl_clock_mark){.cycles = 1000 + 1980, .time_ns = 6000, .sm = fake.second_sm};
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    say("sync");
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)event, (void)stream;
    say("event");
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    (void)begin, (void)end;
    *ms = fake.elapsed_ms;
    return cudaSuccess;
}
cudaError_t cudaProfilerStart(void)
{
    say("start");
    return cudaSuccess;
}
cudaError_t cudaProfilerStop(void)
{
    say("stop");
    return cudaSuccess;
}
cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    say("unpersist");
    return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    assert_int_equal(limit, cudaLimitPersistingL2CacheSize);
    assert_int_equal(value, 0);
    return fake.persist_error;
}

/* ---- kernels ---- */

static int dims_of(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    (void)sizes, (void)l2_bytes;
    *ret = (struct rl_dims){.n = 1};
    return 0;
}
const struct rl_unit fake_add = {.id = "add", .dims = dims_of};
const struct rl_unit fake_copy = {.id = "copy", .dims = dims_of};
const struct rl_unit fake_chain = {.id = "fp32_fma", .dims = dims_of};
static uint64_t arena_bytes(const struct rl_dims *dims)
{
    return 1000 * dims->n;
}

#define FAKE_UNIT(name)                                                                                                \
    static int name##_reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)                  \
    {                                                                                                                  \
        (void)arena, (void)dims, (void)stream;                                                                         \
        assert_true(seed == CUDA_SEED);                                                                                \
        say("reset:" #name);                                                                                           \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static int name##_launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)              \
    {                                                                                                                  \
        (void)arena, (void)dims, (void)stream;                                                                         \
        say(variant ? #name "%u" : #name, variant);                                                                    \
        return fake.launch_error;                                                                                      \
    }                                                                                                                  \
    static int name##_describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)               \
    {                                                                                                                  \
        (void)dims, (void)variant;                                                                                     \
        *ret = (struct rl_launch_info){.grid = {7, 1, 1},                                                              \
                                       .block = {256, 1, 1},                                                           \
                                       .registers = 32,                                                                \
                                       .binary_version = 90,                                                           \
                                       .text = "grid 7, block 256"};                                                   \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static int name##_check(void *arena, const struct rl_dims *dims, uint64_t seed, void *scratch, rl_stream stream,   \
                            struct rl_result_check *ret)                                                               \
    {                                                                                                                  \
        (void)arena, (void)dims, (void)stream;                                                                         \
        assert_true(seed == CUDA_SEED && scratch);                                                                     \
        say("check:" #name);                                                                                           \
        *ret = (struct rl_result_check){.passed = true, .compared_device = 9, .worst = 0.5, .detail = "fine"};         \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static const struct rl_unit_ops name##_ops = {                                                                     \
        .unit = &fake_##name,                                                                                          \
        .variants = 2,                                                                                                 \
        .arena_bytes = arena_bytes,                                                                                    \
        .reset = name##_reset,                                                                                         \
        .launch = name##_launch,                                                                                       \
        .describe = name##_describe,                                                                                   \
        .check = name##_check,                                                                                         \
    };
FAKE_UNIT(add)
FAKE_UNIT(copy)
FAKE_UNIT(chain)

const struct rl_unit_ops *rl_unit_ops_find(const char *id)
{
    return !strcmp(id, "add")        ? &add_ops
           : !strcmp(id, "copy")     ? &copy_ops
           : !strcmp(id, "fp32_fma") ? &chain_ops
                                     : NULL;
}
uint64_t rl_check_scratch_bytes(void)
{
    return 100;
}
int rl_flush_read(const void *buffer, uint64_t bytes, void *sink, rl_stream stream)
{
    (void)sink, (void)stream;
    assert_true(bytes >= 4 * fake.backend->l2_bytes && bytes % 4096 == 0);
    assert_true(buffer == fake.backend->flush[0] || buffer == fake.backend->flush[1]);
    say(buffer == fake.backend->flush[0] ? "flushA" : "flushB");
    return 0;
}
int rl_fill(void *buffer, uint64_t bytes, uint64_t seed, rl_stream stream)
{
    (void)buffer, (void)bytes, (void)seed, (void)stream;
    say("fill");
    return 0;
}
int rl_mark_clock(struct rl_clock_mark *mark, rl_stream stream)
{
    (void)stream;
    say(mark == fake.backend->marks ? "mark0" : "mark1");
    return 0;
}
int rl_empty(rl_stream stream)
{
    (void)stream;
    say("nothing");
    return 0;
}
struct rl_text cuda_binary_text(int binary_version, struct rl_arena *arena)
{
    (void)binary_version, (void)arena;
    return (struct rl_text){"sm_90", NULL};
}

/* ---- counters and locks ---- */

static char session_reason[64];
void counters_preload(void) {}
int counters_device_chip(int cuda_device, char *text, size_t size, struct rl_err *err)
{
    (void)cuda_device, (void)err;
    snprintf(text, size, "GH100");
    return 0;
}

bool cuda_profiler_attached(void)
{
    return false;
}

int counters_open(int device, struct counters **ret, struct rl_err *err)
{
    assert_int_equal(device, 0);
    if (fake.open_fails)
        return rl_fail(err, fake.open_fails, NULL, "no permission to count");
    fake.opens++;
    snprintf(session_reason, sizeof session_reason, "lives in the session");
    *ret = (struct counters *)(void *)fake.memory;
    say("open");
    return 0;
}
const char *counters_chip(const struct counters *c)
{
    (void)c;
    return "GH100";
}
int counters_set_begin(struct counters *c, enum counter_set set, size_t max_ranges, struct rl_err *err)
{
    (void)c;
    if (set == COUNTERS_SASS && fake.set_fails)
        return rl_fail(err, fake.set_fails, NULL, "the set failed");
    fake.set = set;
    fake.passes_of_set = 0;
    say(set == COUNTERS_HARDWARE ? "hardware(%zu)" : "sass(%zu)", max_ranges);
    return 0;
}
int counters_pass_begin(struct counters *c, struct rl_err *err)
{
    (void)c, (void)err;
    say("{");
    return 0;
}
int counters_range_begin(struct counters *c, const char *name, struct rl_err *err)
{
    (void)c;
    assert_null(strchr(name, '/'));
    if (fake.range_fails && ++fake.ranges == fake.range_fails_at)
        return rl_fail(err, fake.range_fails, NULL, "the range failed");
    say("[%s:", name);
    return 0;
}
int counters_range_end(struct counters *c, struct rl_err *err)
{
    (void)c, (void)err;
    say("]");
    return 0;
}
int counters_pass_end(struct counters *c, bool *ret_more, struct rl_err *err)
{
    (void)c, (void)err;
    fake.passes++;
    fake.passes_of_set++;
    *ret_more = fake.set == COUNTERS_HARDWARE && fake.passes_of_set < fake.hardware_passes;
    say("}");
    return 0;
}
int counters_set_end(struct counters *c, struct rl_err *err)
{
    (void)c, (void)err;
    say("decode");
    return 0;
}
struct rl_real counters_value(const struct counters *c, const char *range, enum counter_id id)
{
    (void)c;
    if (fake.unknown_range && !strcmp(range, fake.unknown_range))
        return rl_unknown(session_reason);
    if (!strcmp(range, "probe"))
        return rl_known(fake.probe_bytes);
    /* a number that tells range and counter: 1000 * (kind + index) + counter */
    int kind = range[0] == 'o'                      ? 100
               : range[0] == 'f' && range[1] == 'o' ? 200
               : range[0] == 'f'                    ? 300
               : range[0] == 's'                    ? 400
                                                    : 500;
    const char *space = strchr(range, ' ');
    return rl_known(1000.0 * (kind + (space ? space[1] - '0' : 0)) + (int)id);
}
size_t counters_passes(const struct counters *c)
{
    (void)c;
    return fake.passes;
}
void counters_close(struct counters *c)
{
    if (c)
        fake.closes++;
    memset(session_reason, 'x', sizeof session_reason - 1);
}
const char *counter_metric(const char *chip, enum counter_id id, const char **ret_why)
{
    assert_string_equal(chip, "GH100");
    if (id == COUNTER_FP16_FMA)
        *ret_why = "none";
    return id == COUNTER_FP16_FMA ? NULL : "a.metric";
}
const char *counter_packed_metric(const char *chip, enum counter_id id)
{
    (void)chip;
    return id == COUNTER_FP32_FMA ? "packed.metric" : NULL;
}
const char *counter_name(enum counter_id id)
{
    (void)id;
    return "name";
}

int gpu_lock_directory(char *path, size_t size, struct rl_err *err)
{
    (void)err;
    snprintf(path, size, "/somewhere");
    return 0;
}
int gpu_lock_take(const char *directory, const char *name, int64_t wait_ms, int *ret_fd, struct rl_err *err)
{
    (void)directory, (void)wait_ms;
    assert_string_equal(name, GPU_LOCK_NODE);
    if (fake.lock_fails)
        return rl_fail(err, fake.lock_fails, NULL, "the lock");
    fake.locks++;
    *ret_fd = 1000;
    return 0;
}
void gpu_lock_release(int fd)
{
    fake.unlocks += fd == 1000;
}
