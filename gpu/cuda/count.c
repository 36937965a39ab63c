/* Counting: all units and states as ranges of one counter session, in the cache states that the timing has. */
#include <stdio.h>
#include <string.h>

#include "gpu/counters/counters.h"
#include "gpu/cuda/private.h"
#include "gpu/node/lock.h"

#define NODE_LOCK_WAIT_MS 30000 /* another GPU's run counts for a second or two */
#define PASSES_MAX        64    /* a set that wants more is a defect: every set needs one or two */
#define NAME_MAX_BYTES    32
#define FLUSH_RANGES      5
#define PROBE_BYTES       (4u << 20)

struct job {
    struct cuda_backend *b;
    struct counters *counters;
    const struct gpu_count_item *items;
    size_t count;
    size_t *first; /* first[i]: the first item of the same unit, sizes and shape: they share the SASS range */
    bool (*progress)(void *arg, size_t done, size_t total);
    void *arg;
    size_t done, total;
};

static int step(struct job *job, struct rl_err *err)
{
    if (job->done < job->total) /* further passes run the same ranges again */
        job->done++;
    if (job->progress && !job->progress(job->arg, job->done, job->total))
        return rl_fail(err, RL_E_CANCELLED, NULL, "counting was stopped after %zu of %zu ranges", job->done,
                       job->total);
    return 0;
}

static const char *range_name(char name[NAME_MAX_BYTES], const char *kind, size_t index)
{
    snprintf(name, NAME_MAX_BYTES, "%s %zu", kind, index); /* no '/': it divides nested ranges */
    return name;
}

/* One range of `launches` launches and, when flush is true, a read flush; nothing else runs in it. */
static int range(struct job *job, const char *name, const struct gpu_work *work, int64_t launches, bool flush,
                 struct rl_err *err)
{
    if (counters_range_begin(job->counters, name, err))
        return -1;
    if (work && cuda_launch(job->b, work, launches, err))
        return -1;
    if (!work && !flush && cuda_check((cudaError_t)rl_empty(job->b->stream), "the empty launch", err))
        return -1;
    if (flush && cuda_flush(job->b, 1, err))
        return -1;
    return counters_range_end(job->counters, err) || step(job, err) ? -1 : 0;
}

static int count_warm(struct job *job, size_t i, struct rl_err *err)
{
    const struct gpu_count_item *item = &job->items[i];
    char name[NAME_MAX_BYTES];
    if (cuda_prepare(&job->b->base, &item->work, err) ||
        cuda_launch(job->b, &item->work, gpu_warm_up(item->launches), err) ||
        range(job, range_name(name, "one", i), &item->work, item->launches, false, err) ||
        cuda_launch(job->b, &item->work, gpu_warm_up(item->launches), err) ||
        range(job, range_name(name, "four", i), &item->work, 4 * item->launches, false, err))
        return -1;
    return 0;
}

static int count_cold(struct job *job, size_t i, struct rl_err *err)
{
    const struct gpu_count_item *item = &job->items[i];
    char name[NAME_MAX_BYTES];
    if (cuda_prepare(&job->b->base, &item->work, err) || cuda_flush(job->b, 0, err) ||
        range(job, range_name(name, "one", i), &item->work, 1, false, err) || cuda_flush(job->b, 0, err) ||
        range(job, range_name(name, "four", i), &item->work, 1, true, err))
        return -1;
    return 0;
}

static int hardware_pass(struct job *job, struct rl_err *err)
{
    char name[NAME_MAX_BYTES];
    if (range(job, "empty", NULL, 0, false, err))
        return -1;
    for (size_t i = 0; i < FLUSH_RANGES; i++)
        if (cuda_flush(job->b, 0, err) || range(job, range_name(name, "flush", i), NULL, 0, true, err))
            return -1;
    for (size_t i = 0; i < job->count; i++)
        if (job->items[i].state == RL_WARM ? count_warm(job, i, err) : count_cold(job, i, err))
            return -1;
    return 0;
}

static int sass_pass(struct job *job, struct rl_err *err)
{
    char name[NAME_MAX_BYTES];
    for (size_t i = 0; i < job->count; i++)
        if (job->first[i] == i && (cuda_prepare(&job->b->base, &job->items[i].work, err) ||
                                   range(job, range_name(name, "sass", i), &job->items[i].work, 1, false, err)))
            return -1;
    return 0;
}

static int count_set(struct job *job, enum counter_set set, size_t ranges, int (*pass)(struct job *, struct rl_err *),
                     struct rl_err *err)
{
    bool more = true;
    if (counters_set_begin(job->counters, set, ranges, err))
        return -1;
    for (int passes = 0; more; passes++) {
        if (passes == PASSES_MAX)
            return rl_fail(err, RL_E_COUNTERS_FAILED, NULL, "a set of counters wants more than %d passes", PASSES_MAX);
        if (counters_pass_begin(job->counters, err) || pass(job, err) || counters_pass_end(job->counters, &more, err))
            return -1;
    }
    return counters_set_end(job->counters, err);
}

/* ---- answers ---- */

/* Values of the session, with reasons that outlive it. */
static struct rl_real value_of(const struct counters *counters, const char *range, enum counter_id id,
                               struct rl_arena *arena)
{
    struct rl_real value = counters_value(counters, range, id);
    if (value.why)
        value.why = rl_why_copy(arena, value.why);
    return value;
}

static struct gpu_counts counts_of(const struct counters *c, const char *range, struct rl_arena *arena)
{
    return (struct gpu_counts){
        .dram_read = value_of(c, range, COUNTER_DRAM_READ, arena),
        .dram_write = value_of(c, range, COUNTER_DRAM_WRITE, arena),
        .l2 = value_of(c, range, COUNTER_L2, arena),
        .l2_sm_sectors = value_of(c, range, COUNTER_L2_SM_SECTORS, arena),
        .l1 = value_of(c, range, COUNTER_L1, arena),
        .warps_active_pct = value_of(c, range, COUNTER_WARPS_ACTIVE, arena),
    };
}

/* The members of an answer that come from the SASS set, in the order of enum counter_id. */
static void sass_members(struct gpu_count_answer *answer,
                         struct rl_real *members[COUNTER_COUNT - COUNTER_HARDWARE_COUNT])
{
    struct rl_real *const all[] = {
        &answer->fp64_add, &answer->fp64_mul, &answer->fp64_fma, &answer->fp32_add, &answer->fp32_mul,
        &answer->fp32_fma, &answer->fp16_add, &answer->fp16_mul, &answer->fp16_fma, &answer->local_bytes,
    };
    _Static_assert(sizeof all / sizeof *all == COUNTER_COUNT - COUNTER_HARDWARE_COUNT, "one member per SASS counter");
    memcpy(members, all, sizeof all);
}

static void take_hardware(const struct job *job, struct rl_arena *arena, struct gpu_count_answer *answers,
                          struct gpu_count_session *session)
{
    char name[NAME_MAX_BYTES];
    session->empty = counts_of(job->counters, "empty", arena);
    for (size_t i = 0; i < FLUSH_RANGES; i++)
        session->flush[i] = counts_of(job->counters, range_name(name, "flush", i), arena);
    session->flush_count = FLUSH_RANGES;
    for (size_t i = 0; i < job->count; i++) {
        answers[i].one = counts_of(job->counters, range_name(name, "one", i), arena);
        answers[i].four = counts_of(job->counters, range_name(name, "four", i), arena);
    }
}

static void take_sass(const struct job *job, struct rl_arena *arena, struct gpu_count_answer *answers)
{
    struct rl_real *members[COUNTER_COUNT - COUNTER_HARDWARE_COUNT];
    char name[NAME_MAX_BYTES];
    for (size_t i = 0; i < job->count; i++) {
        sass_members(&answers[i], members);
        range_name(name, "sass", job->first[i]);
        for (int id = COUNTER_HARDWARE_COUNT; id < COUNTER_COUNT; id++)
            *members[id - COUNTER_HARDWARE_COUNT] = value_of(job->counters, name, (enum counter_id)id, arena);
    }
}

static struct gpu_counts no_counts(const char *why)
{
    struct rl_real none = rl_unknown(why);
    return (struct gpu_counts){none, none, none, none, none, none};
}

/* Everything unknown with this reason: what is not read stays so. */
static void blank(struct gpu_count_answer *answers, size_t count, struct gpu_count_session *session, const char *status,
                  const char *why)
{
    struct rl_real *members[COUNTER_COUNT - COUNTER_HARDWARE_COUNT];
    for (size_t i = 0; i < count; i++) {
        answers[i].one = answers[i].four = no_counts(why);
        sass_members(&answers[i], members);
        for (size_t j = 0; j < sizeof members / sizeof *members; j++)
            *members[j] = rl_unknown(why);
    }
    *session = (struct gpu_count_session){.empty = no_counts(why)};
    for (size_t i = 0; i < FLUSH_RANGES; i++)
        session->flush[i] = no_counts(why);
    session->chip = (struct rl_text){NULL, why};
    rl_counters_unknown(&session->counters, why);
    session->counters.status = status;
    session->counters.why = (struct rl_text){why, NULL};
}

static int list_metrics(const char *chip, struct rl_arena *arena, struct rl_counters *ret, struct rl_err *err)
{
    struct rl_metric *metrics = rl_arena_array(arena, COUNTER_COUNT * 2, sizeof *metrics);
    size_t count = 0;
    if (!metrics)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the names of the metrics");
    for (int id = 0; id < COUNTER_COUNT; id++) {
        const char *why = NULL;
        const char *metric = counter_metric(chip, (enum counter_id)id, &why);
        const char *packed = counter_packed_metric(chip, (enum counter_id)id);
        if (metric)
            metrics[count++] = (struct rl_metric){counter_name((enum counter_id)id), metric};
        if (metric && packed)
            metrics[count++] = (struct rl_metric){counter_name((enum counter_id)id), packed};
    }
    ret->metrics = metrics;
    ret->metric_count = count;
    return 0;
}

/* ---- session ---- */

/* Launches everything once outside the session: the driver loads code at its first launch, and that traffic is no
 * kernel's. */
static int touch(struct job *job, struct rl_err *err)
{
    for (size_t i = 0; i < job->count; i++)
        if (job->first[i] == i &&
            (cuda_prepare(&job->b->base, &job->items[i].work, err) || cuda_launch(job->b, &job->items[i].work, 1, err)))
            return -1;
    if (cuda_check((cudaError_t)rl_empty(job->b->stream), "the empty launch", err) || cuda_flush(job->b, 0, err) ||
        cuda_flush(job->b, 1, err))
        return -1;
    return cuda_synchronize(job->b, err);
}

static int find_distinct(struct job *job, struct rl_arena *arena, size_t *ret_distinct, struct rl_err *err)
{
    size_t distinct = 0;
    job->first = rl_arena_array(arena, job->count ? job->count : 1, sizeof *job->first);
    if (!job->first)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for %zu ranges", job->count);
    for (size_t i = 0; i < job->count; i++) {
        const struct gpu_work *work = &job->items[i].work;
        if (job->items[i].launches < 1 || job->items[i].launches > CUDA_LAUNCHES_MAX / 4)
            return rl_fail(err, RL_E_INTERNAL, work->unit->id, "a range of %lld launches is not between 1 and %d",
                           (long long)job->items[i].launches, CUDA_LAUNCHES_MAX / 4);
        size_t j = 0;
        while (j < i && (job->items[j].work.unit != work->unit || job->items[j].work.variant != work->variant ||
                         memcmp(&job->items[j].work.dims, &work->dims, sizeof work->dims)))
            j++;
        job->first[i] = j;
        distinct += j == i;
    }
    *ret_distinct = distinct;
    return 0;
}

/* The session proper, under the node's lock. */
static int count_all(struct job *job, struct rl_arena *arena, struct gpu_count_answer *answers,
                     struct gpu_count_session *session, struct rl_err *err)
{
    size_t distinct = 0;
    if (find_distinct(job, arena, &distinct, err) || touch(job, err) ||
        counters_open(job->b->device, &job->counters, err))
        return -1;
    size_t hardware = 1 + FLUSH_RANGES + 2 * job->count;
    job->total = hardware + distinct;
    if (list_metrics(counters_chip(job->counters), arena, &session->counters, err) ||
        count_set(job, COUNTERS_HARDWARE, hardware, hardware_pass, err))
        return -1;
    take_hardware(job, arena, answers, session);
    if (distinct && count_set(job, COUNTERS_SASS, distinct, sass_pass, err))
        return -1;
    take_sass(job, arena, answers);
    session->chip = (struct rl_text){rl_arena_strdup(arena, counters_chip(job->counters)), NULL};
    session->counters.status = "ok";
    session->counters.why = (struct rl_text){NULL, "the counters are available"};
    session->counters.passes = (struct rl_count){(int64_t)counters_passes(job->counters), NULL};
    return 0;
}

/* The node-wide lock in *ret_fd, or -1 there when it cannot be opened: then others may count at the same time. */
static int lock_node(struct cuda_backend *b, int *ret_fd, struct rl_err *err)
{
    char directory[256];
    struct rl_err why = {0};
    int fd = -1;
    if (gpu_lock_directory(directory, sizeof directory, &why) ||
        gpu_lock_take(directory, GPU_LOCK_NODE, NODE_LOCK_WAIT_MS, &fd, &why)) {
        if (why.code == RL_E_DEVICE_BUSY)
            return rl_fail(err, RL_E_COUNTERS_BUSY, NULL, "another measurement counts on this node: %s", why.message);
        if (!b->base.shared_why) {
            snprintf(b->shared_text, sizeof b->shared_text, "%.255s", why.message);
            b->base.shared_why = b->shared_text;
        }
    }
    *ret_fd = fd;
    return 0;
}

int cuda_count(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_count_item *items, size_t count,
               struct gpu_count_answer *answers, struct gpu_count_session *ret_session,
               bool (*progress)(void *arg, size_t done, size_t total), void *arg, struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    struct job job = {.b = cuda, .items = items, .count = count, .progress = progress, .arg = arg};
    struct gpu_count_session session;
    struct rl_err why = {0};
    int lock = -1;
    if (!cuda->memory)
        return rl_fail(err, RL_E_INTERNAL, NULL, "counting before device memory was reserved");
    blank(answers, count, &session, "counters_failed", "the range was not counted");
    int failed = lock_node(cuda, &lock, &why) || count_all(&job, arena, answers, &session, &why);
    counters_close(job.counters);
    gpu_lock_release(lock);
    if (failed && !rl_code_is_counters(why.code)) {
        if (err)
            *err = why;
        return -1;
    }
    if (failed) {
        const char *text = rl_arena_strdup(arena, why.message);
        if (!text)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the reason why nothing was counted");
        blank(answers, count, &session, rl_code_id(why.code), text);
    }
    *ret_session = session;
    return 0;
}

/* ---- probe ---- */

/* One range of one fill, on buffer. */
static int probe_session(struct cuda_backend *b, void *buffer, struct rl_err *err)
{
    struct counters *counters = NULL;
    bool more = true;
    int result = -1;
    if (counters_open(b->device, &counters, err) || counters_set_begin(counters, COUNTERS_HARDWARE, 1, err))
        goto out;
    for (int passes = 0; more && passes < PASSES_MAX; passes++)
        if (counters_pass_begin(counters, err) || counters_range_begin(counters, "probe", err) ||
            cuda_check((cudaError_t)rl_fill(buffer, PROBE_BYTES, CUDA_SEED, b->stream), "the probe's launch", err) ||
            counters_range_end(counters, err) || counters_pass_end(counters, &more, err))
            goto out;
    if (counters_set_end(counters, err))
        goto out;
    struct rl_real bytes = counters_value(counters, "probe", COUNTER_L2);
    if (bytes.why)
        rl_fail(err, RL_E_COUNTERS_UNRELIABLE, NULL, "a fill of %u bytes was counted, but its L2 bytes are unknown: %s",
                PROBE_BYTES, bytes.why);
    else if (bytes.value < PROBE_BYTES / 2.0)
        rl_fail(err, RL_E_COUNTERS_UNRELIABLE, NULL, "a fill of %u bytes was counted as %.0f bytes through the L2",
                PROBE_BYTES, bytes.value);
    else
        result = 0;
out:
    counters_close(counters);
    return result;
}

int cuda_probe_counters(struct gpu_backend *b, struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    void *buffer = NULL;
    int lock = -1;
    if (lock_node(cuda, &lock, err))
        return -1;
    int result = -1;
    if (!cuda_profiler_attached() && counters_device_chip(cuda->device, b->chip, sizeof b->chip, NULL))
        b->chip[0] = '\0';
    if (CUDA_TRY(cudaMalloc(&buffer, PROBE_BYTES), err) == 0 &&
        cuda_check((cudaError_t)rl_fill(buffer, PROBE_BYTES, CUDA_SEED, cuda->stream), "the probe's launch", err) ==
            0 &&
        cuda_synchronize(cuda, err) == 0)
        result = probe_session(cuda, buffer, err);
    if (buffer)
        (void)cudaFree(buffer);
    gpu_lock_release(lock);
    return result;
}
