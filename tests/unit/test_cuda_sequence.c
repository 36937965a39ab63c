/* What the cuda backend tells the GPU to do, in which order: its files are built here over a stand-in for CUDA's
 * runtime, the kernels and the counters, each of which writes one word into a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "counters.h"
#include "cuda_private.h"
#include "gpu_lock.h"

/* ---- trace ---- */

static struct {
    char text[1 << 17];
    size_t len;
    unsigned char memory[1 << 16]; /* what "device" addresses point into */
    cudaError_t malloc_error, launch_error, persist_error;
    float elapsed_ms;
    uint32_t second_sm;
    enum rl_code open_fails, range_fails, set_fails, lock_fails;
    size_t range_fails_at, ranges;
    unsigned hardware_passes, passes, passes_of_set;
    enum counter_set set;
    double probe_bytes;
    unsigned locks, unlocks, opens, closes;
    const char *unknown_range; /* counters_value of it has a reason that lives in the session */
} fake;

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
static void clear(void)
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
static const struct rl_unit add = {.id = "add", .dims = dims_of}, copy = {.id = "copy", .dims = dims_of},
                            chain = {.id = "fp32_fma", .dims = dims_of};
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
        .unit = &name,                                                                                                 \
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
static struct cuda_backend *current;
int rl_flush_read(const void *buffer, uint64_t bytes, void *sink, rl_stream stream)
{
    (void)sink, (void)stream;
    assert_true(bytes >= 4 * current->l2_bytes && bytes % 4096 == 0);
    assert_true(buffer == current->flush[0] || buffer == current->flush[1]);
    say(buffer == current->flush[0] ? "flushA" : "flushB");
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
    say(mark == current->marks ? "mark0" : "mark1");
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
    return rl_known(1000.0 * (kind + (space ? space[1] - '0' : 0)) + id);
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

/* ---- fixture ---- */

static struct rl_clock_mark host_marks[2];
static const struct gpu_work works[] = {{.unit = &add, .dims = {.n = 2}},
                                        {.unit = &copy, .dims = {.n = 3}, .variant = 1}};

static struct cuda_backend make(void)
{
    memset(&fake, 0, sizeof fake);
    fake.elapsed_ms = 2;
    fake.second_sm = 3;
    fake.hardware_passes = 1;
    return (struct cuda_backend){
        .l2_bytes = 5000, .host_marks = host_marks, .lock_fd = -1, .properties.persistingL2CacheMaxSize = 1};
}
static void reserve(struct cuda_backend *b)
{
    struct rl_err err = {0};
    current = b;
    if (cuda_reserve(&b->base, works, 2, &err))
        fail_msg("%s", err.message);
    clear();
}

static void memory_is_one_allocation_of_disjoint_parts(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct rl_err err = {0};
    assert_int_equal(cuda_reserve(&b.base, works, 2, &err), 0);
    assert_string_equal(fake.text, "malloc unpersist fill fill");
    assert_int_equal(b.arena_bytes, 3000);
    assert_int_equal(b.flush_bytes, 20480);
    const struct {
        const void *at;
        size_t bytes;
    } parts[] = {
        {b.arena, 3000},     {b.scratch, 100},    {b.spin_arena, 1000},
        {b.flush[0], 20480}, {b.flush[1], 20480}, {b.marks, 2 * sizeof *b.marks},
        {b.sink, 4},
    };
    for (size_t i = 0; i + 1 < sizeof parts / sizeof *parts; i++) {
        assert_true((const char *)parts[i].at + parts[i].bytes <= (const char *)parts[i + 1].at);
        assert_int_equal(((const char *)parts[i].at - (const char *)b.memory) % 512, 0);
    }
    assert_int_equal(cuda_reserve(&b.base, works, 2, &err), -1); /* once */
}

static void too_little_memory_says_how_much(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct rl_err err = {0};
    fake.malloc_error = cudaErrorMemoryAllocation;
    assert_int_equal(cuda_reserve(&b.base, works, 2, &err), -1);
    assert_int_equal(err.code, RL_E_OUT_OF_MEMORY);
    assert_non_null(strstr(err.message, "1 of 16 MB free"));
    assert_null(b.memory);
    b = make();
    fake.persist_error = cudaErrorUnsupportedLimit; /* under MIG */
    assert_int_equal(cuda_reserve(&b.base, works, 2, &err), 0);
}

static void a_warm_batch_follows_its_warm_up(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct gpu_sample sample = {0};
    struct rl_err err = {0};
    reserve(&b);
    assert_int_equal(cuda_warm(&b.base, &works[0], 4, 0, &sample, &err), -1); /* no inputs yet */
    assert_int_equal(cuda_prepare(&b.base, &works[0], &err), 0);
    clear();
    assert_int_equal(cuda_warm(&b.base, &works[0], 4, 0, &sample, &err), 0);
    assert_string_equal(fake.text, "add add add mark0 event add add add add event mark1 sync");
    assert_true(sample.time_s > 1.999e-3 && sample.time_s < 2.001e-3);
    assert_int_equal(sample.launches, 4);
    assert_true(sample.sm_hz == 1.98e9);
    fake.second_sm = 4;
    assert_int_equal(cuda_warm(&b.base, &works[0], 4, 1, &sample, &err), 0);
    assert_true(sample.sm_hz == 0);
    assert_int_equal(cuda_warm(&b.base, &works[1], 4, 0, &sample, &err), -1); /* another unit's inputs */
    assert_int_equal(cuda_warm(&b.base, &works[0], 0, 0, &sample, &err), -1);
    fake.elapsed_ms = 0;
    assert_int_equal(cuda_warm(&b.base, &works[0], 1, 0, &sample, &err), -1);
    assert_int_equal(err.code, RL_E_CUDA_FAILED);
}

static void a_cold_launch_follows_a_flush_without_a_wait(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct gpu_sample sample = {0};
    struct rl_err err = {0};
    reserve(&b);
    assert_int_equal(cuda_prepare(&b.base, &works[1], &err), 0);
    clear();
    assert_int_equal(cuda_cold(&b.base, &works[1], 0, &sample, &err), 0);
    assert_string_equal(fake.text, "mark0 flushA event copy1 event mark1 sync");
    assert_int_equal(sample.launches, 1);
}

static void a_launch_error_names_unit_and_cause(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct gpu_sample sample = {0};
    struct rl_err err = {0};
    reserve(&b);
    assert_int_equal(cuda_prepare(&b.base, &works[0], &err), 0);
    fake.launch_error = cudaErrorIllegalAddress;
    assert_int_equal(cuda_warm(&b.base, &works[0], 4, 0, &sample, &err), -1);
    assert_int_equal(err.code, RL_E_CUDA_FAILED);
    assert_non_null(strstr(err.message, "add"));
    assert_non_null(strstr(err.message, "cudaErrorIllegalAddress (700)"));
}

static void a_profiler_sees_one_launch_each_and_no_fill(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct rl_err err = {0};
    reserve(&b);
    assert_int_equal(cuda_profile(&b.base, works, 2, &err), 0);
    assert_string_equal(fake.text, "reset:add sync start add sync stop reset:copy sync start copy1 sync stop");
    clear();
    fake.launch_error = cudaErrorIllegalAddress;
    assert_int_equal(cuda_profile(&b.base, works, 1, &err), -1);
    assert_string_equal(fake.text, "reset:add sync start add stop");
}

static void a_check_is_of_one_launch_on_fresh_inputs(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct gpu_result result = {0};
    struct rl_err err = {0};
    reserve(&b);
    assert_int_equal(cuda_result_check(&b.base, &works[0], &result, &err), 0);
    assert_string_equal(fake.text, "reset:add add check:add");
    assert_true(result.passed);
    assert_int_equal(result.compared_device, 9);
    assert_string_equal(result.detail, "fine");
}

static void spinning_takes_about_20_ms_and_its_own_memory(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct rl_err err = {0};
    double hz = 0;
    reserve(&b);
    assert_int_equal(cuda_prepare(&b.base, &works[0], &err), 0);
    clear();
    fake.elapsed_ms = 8; /* of two launches: 4 ms each */
    assert_int_equal(cuda_spin(&b.base, 0, &hz, &err), 0);
    assert_int_equal(b.spin_launches, 5);
    assert_true(hz == 1.98e9);
    assert_ptr_equal(b.prepared.unit, &add); /* a unit's inputs outlive a spin */
    clear();
    assert_int_equal(cuda_spin(&b.base, 1, &hz, &err), 0);
    assert_string_equal(fake.text, "mark0 event chain chain chain chain chain event mark1 sync");
}

/* ---- counting ---- */

static const struct gpu_count_item items[] = {
    {.work = {.unit = &add, .dims = {.n = 2}}, .state = RL_WARM, .launches = 2},
    {.work = {.unit = &add, .dims = {.n = 2}}, .state = RL_COLD, .launches = 1},
    {.work = {.unit = &copy, .dims = {.n = 3}, .variant = 1}, .state = RL_WARM, .launches = 1},
};

struct counted {
    struct rl_arena *arena;
    struct gpu_count_answer answers[3];
    struct gpu_count_session session;
    struct rl_err err;
    int result;
};

static bool stop_at(void *arg, size_t done, size_t total)
{
    assert_true(done <= total);
    assert_int_equal(total, 1 + 5 + 6 + 2);
    return done < *(size_t *)arg;
}

static struct counted count(struct cuda_backend *b, bool (*progress)(void *, size_t, size_t), void *arg)
{
    struct counted c = {.arena = rl_arena_new(1 << 16)};
    reserve(b);
    c.result = cuda_count(&b->base, c.arena, items, 3, c.answers, &c.session, progress, arg, &c.err);
    return c;
}

static void every_range_holds_its_launches_and_nothing_else(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct counted c = count(&b, NULL, NULL);
    if (c.result)
        fail_msg("%s", c.err.message);
    assert_string_equal(
        fake.text,
        "reset:add add reset:copy copy1 nothing flushA flushB sync open "
        "hardware(12) { [empty: nothing ] "
        "flushA [flush 0: flushB ] flushA [flush 1: flushB ] flushA [flush 2: flushB ] flushA [flush 3: flushB ] "
        "flushA [flush 4: flushB ] "
        "reset:add add add add [one 0: add add ] add add add [four 0: add add add add add add add add ] "
        "reset:add flushA [one 1: add ] flushA [four 1: add flushB ] "
        "reset:copy copy1 copy1 copy1 [one 2: copy1 ] copy1 copy1 copy1 [four 2: copy1 copy1 copy1 copy1 ] } decode "
        "sass(2) { reset:add [sass 0: add ] reset:copy [sass 2: copy1 ] } decode");
    assert_string_equal(c.session.counters.status, "ok");
    assert_non_null(c.session.counters.why.why);
    assert_int_equal(c.session.counters.passes.value, 2);
    assert_int_equal(c.session.counters.metric_count, COUNTER_COUNT - 1 + 1); /* one has none, one has two */
    assert_true(c.session.empty.dram_read.value == 500000 + COUNTER_DRAM_READ);
    assert_int_equal(c.session.flush_count, 5);
    assert_true(c.session.flush[4].dram_write.value == 304000 + COUNTER_DRAM_WRITE);
    assert_true(c.answers[0].one.l1.value == 100000 + COUNTER_L1);
    assert_true(c.answers[1].four.l2_sm_sectors.value == 201000 + COUNTER_L2_SM_SECTORS);
    assert_true(c.answers[2].one.warps_active_pct.value == 102000 + COUNTER_WARPS_ACTIVE);
    /* the warm and the cold item of a unit share its SASS range */
    assert_true(c.answers[0].fp64_add.value == 400000 + COUNTER_FP64_ADD);
    assert_true(c.answers[1].fp32_fma.value == 400000 + COUNTER_FP32_FMA);
    assert_true(c.answers[2].local_bytes.value == 402000 + COUNTER_LOCAL_BYTES);
    assert_true(c.answers[2].fp16_mul.value == 402000 + COUNTER_FP16_MUL);
    assert_int_equal(fake.locks, 1);
    assert_int_equal(fake.unlocks, 1);
    assert_int_equal(fake.opens, fake.closes);
    assert_null(b.base.shared_why);
    rl_arena_free(c.arena);
}

static void more_passes_run_the_same_ranges(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    fake.hardware_passes = 3;
    struct counted c = count(&b, NULL, NULL);
    size_t empties = 0;
    assert_int_equal(c.result, 0);
    for (const char *at = fake.text; (at = strstr(at, "[empty:")); at++)
        empties++;
    assert_int_equal(empties, 3);
    assert_int_equal(c.session.counters.passes.value, 4);
    rl_arena_free(c.arena);
    b = make();
    fake.hardware_passes = 1000; /* a set that never ends */
    c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "counters_failed");
    rl_arena_free(c.arena);
}

static void assert_blank(const struct counted *c, const char *words)
{
    const char *reasons[] = {
        c->answers[0].one.dram_read.why,   c->answers[1].four.l1.why,
        c->answers[2].fp32_fma.why,        c->answers[0].local_bytes.why,
        c->session.empty.dram_write.why,   c->session.flush[0].l2.why,
        c->session.counters.passes.why,    c->session.counters.floor_dram_bytes.why,
        c->session.counters.self_test.why,
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (!reasons[i] || !strstr(reasons[i], words))
            fail_msg("reason %zu: %s", i, reasons[i] ? reasons[i] : "none");
    assert_int_equal(c->session.flush_count, 0);
    assert_non_null(strstr(c->session.counters.why.value, words));
    assert_int_equal(fake.opens, fake.closes);
    assert_int_equal(fake.locks, fake.unlocks);
}

static void a_session_that_cannot_be_had_is_a_status(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    fake.open_fails = RL_E_COUNTERS_PERMISSION;
    struct counted c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "counters_permission");
    assert_blank(&c, "no permission to count");
    rl_arena_free(c.arena);
    /* in the middle, and after the hardware set was read: nothing half is left */
    b = make();
    fake.range_fails = RL_E_COUNTERS_FAILED;
    fake.range_fails_at = 9;
    c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "counters_failed");
    assert_blank(&c, "the range failed");
    rl_arena_free(c.arena);
    b = make();
    fake.set_fails = RL_E_COUNTERS_BUSY;
    c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "counters_busy");
    assert_blank(&c, "the set failed");
    rl_arena_free(c.arena);
    b = make();
    fake.lock_fails = RL_E_DEVICE_BUSY;
    c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "counters_busy");
    assert_null(strstr(fake.text, "open"));
    rl_arena_free(c.arena);
}

static void an_error_of_cuda_or_a_stop_fails_the_call(void **state)
{
    (void)state;
    size_t stop = 8;
    struct cuda_backend b = make();
    struct counted c = count(&b, stop_at, &stop);
    assert_int_equal(c.result, -1);
    assert_int_equal(c.err.code, RL_E_CANCELLED);
    assert_int_equal(fake.opens, fake.closes);
    assert_int_equal(fake.locks, fake.unlocks);
    rl_arena_free(c.arena);
    b = make();
    fake.launch_error = cudaErrorIllegalAddress;
    c = count(&b, NULL, NULL);
    assert_int_equal(c.result, -1);
    assert_int_equal(c.err.code, RL_E_CUDA_FAILED);
    assert_int_equal(fake.locks, fake.unlocks);
    rl_arena_free(c.arena);
}

static void an_open_lock_file_that_is_denied_is_told(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    fake.lock_fails = RL_E_FORBIDDEN;
    struct counted c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.session.counters.status, "ok");
    assert_non_null(b.base.shared_why);
    rl_arena_free(c.arena);
}

static void reasons_outlive_the_session(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    fake.unknown_range = "one 1";
    struct counted c = count(&b, NULL, NULL);
    assert_int_equal(c.result, 0);
    assert_string_equal(c.answers[1].one.dram_read.why, "lives in the session");
    rl_arena_free(c.arena);
}

static void a_probe_can_fail(void **state)
{
    (void)state;
    struct cuda_backend b = make();
    struct rl_err err = {0};
    current = &b;
    fake.probe_bytes = 4 << 20;
    assert_int_equal(cuda_probe_counters(&b.base, &err), 0);
    assert_string_equal(fake.text, "malloc fill sync open hardware(1) { [probe: fill ] } decode");
    assert_int_equal(fake.locks, fake.unlocks);
    fake.probe_bytes = 0;
    assert_int_equal(cuda_probe_counters(&b.base, &err), -1);
    assert_int_equal(err.code, RL_E_COUNTERS_UNRELIABLE);
    fake.unknown_range = "probe";
    assert_int_equal(cuda_probe_counters(&b.base, &err), -1);
    assert_int_equal(err.code, RL_E_COUNTERS_UNRELIABLE);
    fake.open_fails = RL_E_COUNTERS_PERMISSION;
    assert_int_equal(cuda_probe_counters(&b.base, &err), -1);
    assert_int_equal(err.code, RL_E_COUNTERS_PERMISSION);
    assert_int_equal(fake.opens, fake.closes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_one_allocation_of_disjoint_parts),
        cmocka_unit_test(too_little_memory_says_how_much),
        cmocka_unit_test(a_warm_batch_follows_its_warm_up),
        cmocka_unit_test(a_cold_launch_follows_a_flush_without_a_wait),
        cmocka_unit_test(a_launch_error_names_unit_and_cause),
        cmocka_unit_test(a_profiler_sees_one_launch_each_and_no_fill),
        cmocka_unit_test(a_check_is_of_one_launch_on_fresh_inputs),
        cmocka_unit_test(spinning_takes_about_20_ms_and_its_own_memory),
        cmocka_unit_test(every_range_holds_its_launches_and_nothing_else),
        cmocka_unit_test(more_passes_run_the_same_ranges),
        cmocka_unit_test(a_session_that_cannot_be_had_is_a_status),
        cmocka_unit_test(an_error_of_cuda_or_a_stop_fails_the_call),
        cmocka_unit_test(an_open_lock_file_that_is_denied_is_told),
        cmocka_unit_test(reasons_outlive_the_session),
        cmocka_unit_test(a_probe_can_fail),
    };
    return cmocka_run_group_tests_name("cuda sequence", tests, NULL, NULL);
}
