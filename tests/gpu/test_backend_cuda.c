/* Every operation of the cuda backend on a real card, with a short table of what it answered and what each cost.
 * Asserts what must hold on any card; the figures are for reading. Without a driver or device it is skipped (exit 77).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/backend/backend.h"
#include "gpu/base/time.h"
#include "gpu/node/lock.h"
#include "gpu/node/nvml.h"

#define SKIPPED   77
#define UNITS_MAX 32
#define BATCH_S   1.2e-3
#define SAMPLES   5

static int failures;

#define EXPECT(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            failures++;                                                                                                \
            printf("FAILED %s:%d: %s: ", __FILE__, __LINE__, #condition);                                              \
            printf(__VA_ARGS__);                                                                                       \
            printf("\n");                                                                                              \
        }                                                                                                              \
    } while (0)

static double seconds_since(int64_t begin_ns)
{
    return (double)(rl_monotonic_ns() - begin_ns) * 1e-9;
}

static const char *text(struct rl_text value)
{
    return value.why ? value.why : value.value;
}

/* Prints a count, or its reason. */
static void line(const char *name, struct rl_count value)
{
    if (value.why)
        printf("  %-22s %s\n", name, value.why);
    else
        printf("  %-22s %lld\n", name, (long long)value.value);
}

static void show_device(const struct rl_device *d, const struct rl_environment *e)
{
    printf("%s %s, chip %s, PCI %s\n", d->name, d->id, text(d->chip), text(d->pci_bus_id));
    line("compute_major", d->compute_major);
    line("compute_minor", d->compute_minor);
    line("sm_count", d->sm_count);
    line("fp32_lanes_per_sm", d->fp32_lanes_per_sm);
    line("l2_bytes", d->l2_bytes);
    line("persisting_l2_bytes", d->persisting_l2_bytes);
    line("memory_bytes", d->memory_bytes);
    line("memory_bus_bits", d->memory_bus_bits);
    line("max_sm_hz", d->max_sm_hz);
    line("max_memory_hz", d->max_memory_hz);
    line("max_threads_per_sm", d->max_threads_per_sm);
    printf("  driver %s, CUDA driver %s, runtime %s, CUPTI %s\n", text(e->driver_version), text(e->cuda_driver_version),
           text(e->cuda_runtime_version), text(e->cupti_version));
    printf("  host %s, kernel %s, ECC %s, MIG %s, compute mode %s, persistence %s\n", text(e->hostname),
           text(e->kernel_release),
           e->ecc.why     ? e->ecc.why
           : e->ecc.value ? "on"
                          : "off",
           text(e->mig), text(e->compute_mode), text(e->persistence_mode));
    printf("  power limit %s%.0f W, profiling for administrators only %s, cubin %s, build %s\n",
           e->power_limit_w.why ? e->power_limit_w.why : "", e->power_limit_w.value,
           e->profiling_admin_only.why     ? e->profiling_admin_only.why
           : e->profiling_admin_only.value ? "yes"
                                           : "no",
           text(e->cubin), e->build);
}

static void show_state(struct gpu_backend *b, struct rl_arena *arena, const char *at)
{
    struct gpu_card_state s;
    struct rl_err err = {0};
    int64_t begin_ns = rl_monotonic_ns();
    int result = b->ops->card_state(b, arena, at, &s, &err);
    double cost_s = seconds_since(begin_ns);
    EXPECT(result == 0, "%s", err.message);
    if (result)
        return;
    printf("state %s (%.2f ms): SM %.0f MHz, memory %.0f MHz, %.0f C, %.1f W, %.1f J, others ", at, cost_s * 1e3,
           s.sm_hz.value / 1e6, s.memory_hz.value / 1e6, s.temperature_c.value, s.power_w.value, s.energy_j.value);
    if (s.other_processes.why)
        printf("unknown (%s)", s.other_processes.why);
    else
        printf("%lld", (long long)s.other_processes.value);
    for (size_t i = 0; i < s.reasons.count; i++)
        printf(", %s", s.reasons.items[i]);
    printf("\n");
    const char *reasons[] = {s.sm_hz.why, s.memory_hz.why, s.temperature_c.why, s.power_w.why, s.energy_j.why};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i])
            printf("  unknown: %s\n", reasons[i]);
}

/* NVML's calls one by one: what a state may cost is decided from these. */
static void show_nvml_costs(const char *uuid)
{
    struct nvml *nvml = NULL;
    struct nvml_card card;
    struct nvml_pids pids;
    struct rl_err err = {0};
    int64_t begin_ns = rl_monotonic_ns();
    if (nvml_open(NULL, &nvml, &err)) {
        printf("NVML: %s\n", err.message);
        return;
    }
    double open_s = seconds_since(begin_ns);
    begin_ns = rl_monotonic_ns();
    if (nvml_find(nvml, uuid, NULL, &card, &err) == 0) {
        double find_s = seconds_since(begin_ns);
        struct rl_arena *arena = rl_arena_new(1 << 20);
        struct gpu_card_state s = {0};
        begin_ns = rl_monotonic_ns();
        nvml_read_state(nvml, &card, arena, &s);
        double state_s = seconds_since(begin_ns);
        begin_ns = rl_monotonic_ns();
        int listed = nvml_processes(nvml, &card, &pids, &err);
        printf("NVML: open %.1f ms, find %.2f ms, state %.2f ms, processes %.2f ms (%s %zu)\n", open_s * 1e3,
               find_s * 1e3, state_s * 1e3, seconds_since(begin_ns) * 1e3, listed ? err.message : "listed",
               listed ? 0 : pids.count);
        rl_arena_free(arena);
    } else {
        printf("NVML: %s\n", err.message);
    }
    nvml_close(nvml);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One unit: describe, check, warm and cold samples. Launches of its warm batch in *ret_launches. */
static void one_unit(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_work *work, int64_t *ret_launches)
{
    struct gpu_launch launch;
    struct gpu_result result;
    struct gpu_sample sample;
    struct rl_err err = {0};
    double warm[SAMPLES], cold[SAMPLES], warm_hz = 0, cold_hz = 0;
    *ret_launches = 10;
    int failed = b->ops->prepare(b, work, &err) || b->ops->describe(b, arena, work, &launch, &err) ||
                 b->ops->check(b, work, &result, &err) || b->ops->warm(b, work, 10, 0, &sample, &err);
    EXPECT(!failed, "%s", err.message);
    if (failed)
        return;
    EXPECT(result.passed, "%s: %s", work->unit->id, result.detail);
    *ret_launches = (int64_t)fmax(10, ceil(BATCH_S / (sample.time_s / 10)));
    for (unsigned i = 0; i < SAMPLES && !failed; i++) {
        failed = b->ops->warm(b, work, *ret_launches, i, &sample, &err);
        warm[i] = sample.time_s / (double)*ret_launches;
        warm_hz = fmax(warm_hz, sample.sm_hz);
        failed = failed || b->ops->cold(b, work, i, &sample, &err);
        cold[i] = sample.time_s;
        cold_hz = fmax(cold_hz, sample.sm_hz);
    }
    EXPECT(!failed, "%s", err.message);
    if (failed)
        return;
    qsort(warm, SAMPLES, sizeof *warm, compare);
    qsort(cold, SAMPLES, sizeof *cold, compare);
    double ask = (double)work->unit->ask_bytes(&work->dims), flop = (double)work->unit->flop(&work->dims);
    printf("%-22s %10.2f %10.2f %6lld %9.0f %9.0f %9.1f %9.1f %9.1f  %s, %s, worst %.2g\n", work->unit->id,
           warm[SAMPLES / 2] * 1e6, cold[SAMPLES / 2] * 1e6, (long long)*ret_launches, warm_hz / 1e6, cold_hz / 1e6,
           ask / warm[SAMPLES / 2] / 1e9, ask / cold[SAMPLES / 2] / 1e9, flop / warm[SAMPLES / 2] / 1e9,
           launch.launch.shape.value, launch.binary, result.worst);
}

static double total(const struct gpu_counts *counts)
{
    return counts->dram_read.why || counts->dram_write.why ? (double)NAN
                                                           : counts->dram_read.value + counts->dram_write.value;
}

static void show_count(const struct gpu_count_item *item, const struct gpu_count_answer *a, double flush)
{
    double ask = (double)item->work.unit->ask_bytes(&item->work.dims);
    double one = total(&a->one) / (double)item->launches;
    double second = item->state == RL_WARM ? total(&a->four) / (double)(4 * item->launches) : total(&a->four) - flush;
    double flop = a->fp32_add.value + a->fp32_mul.value + 2 * a->fp32_fma.value + a->fp64_add.value +
                  a->fp64_mul.value + 2 * a->fp64_fma.value;
    double hand = (double)item->work.unit->flop(&item->work.dims);
    printf("%-22s %-4s %12.0f %12.0f %8.4f %8.4f %12.0f %12.0f %14.0f %14.0f %6.1f\n", item->work.unit->id,
           item->state == RL_WARM ? "warm" : "cold", one, second, one / ask, second / ask,
           a->one.l1.value / (double)item->launches, a->one.l2.value / (double)item->launches, flop, hand,
           a->one.warps_active_pct.value);
    if (item->work.unit->kind == RL_UNIT_KERNEL)
        EXPECT(hand == 0 ? flop == 0 : fabs(flop / hand - 1) < 1e-3, "%s: counted %.0f flop, by hand %.0f",
               item->work.unit->id, flop, hand);
    if (item->work.unit->streaming)
        EXPECT(one > 0, "%s moved no DRAM bytes", item->work.unit->id);
    if (!strcmp(item->work.unit->id, "dram_copy") && item->state == RL_WARM)
        EXPECT(fabs(one / ask - 1) < 0.01, "the copy moved %.4f of what it asks for", one / ask);
}

static bool every_range(void *arg, size_t done, size_t total_ranges)
{
    size_t *calls = arg;
    (*calls)++;
    return done <= total_ranges;
}

static void count(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_work *works, const int64_t *launches,
                  size_t count_works)
{
    struct gpu_count_item items[2 * UNITS_MAX];
    struct gpu_count_answer answers[2 * UNITS_MAX];
    struct gpu_count_session session;
    struct rl_err err = {0};
    size_t n = 0, calls = 0;
    for (size_t i = 0; i < count_works; i++) {
        if (!strcmp(works[i].unit->id, "dram_memcpy")) /* not a launch of ours */
            continue;
        items[n++] = (struct gpu_count_item){works[i], RL_WARM, launches[i]};
        items[n++] = (struct gpu_count_item){works[i], RL_COLD, 1};
    }
    int64_t begin_ns = rl_monotonic_ns();
    int result = b->ops->count(b, arena, items, n, answers, &session, every_range, &calls, &err);
    EXPECT(result == 0, "%s", err.message);
    if (result)
        return;
    printf("counters %s (%s), %lld passes, %zu metrics, %zu progress calls, %.3f s\n", session.counters.status,
           text(session.counters.why), (long long)session.counters.passes.value, session.counters.metric_count, calls,
           seconds_since(begin_ns));
    if (strcmp(session.counters.status, "ok")) {
        EXPECT(answers[0].one.dram_read.why, "a value without a session");
        return;
    }
    double flush[5], least = INFINITY, most = 0;
    for (size_t i = 0; i < 5; i++) {
        flush[i] = total(&session.flush[i]);
        least = fmin(least, flush[i]);
        most = fmax(most, flush[i]);
    }
    qsort(flush, 5, sizeof *flush, compare);
    printf("empty range %.0f bytes, flush %.0f bytes, spread %.0f\n", total(&session.empty), flush[2], most - least);
    printf("%-22s %-4s %12s %12s %8s %8s %12s %12s %14s %14s %6s\n", "unit", "", "dram", "4n/settled", "/ask", "/ask",
           "l1", "l2", "flop counted", "by hand", "occ%");
    for (size_t i = 0; i < n; i++)
        show_count(&items[i], &answers[i], flush[2]);
}

static int open_backend(const char *uuid, struct gpu_backend **ret)
{
    struct rl_err err = {0};
    int64_t begin_ns = rl_monotonic_ns();
    if (gpu_backend_open_cuda(uuid, ret, &err)) {
        rl_err_print("test_backend_cuda", &err);
        return err.code == RL_E_NO_DRIVER || err.code == RL_E_NO_DEVICE ? SKIPPED : 1;
    }
    printf("open %.3f s%s%s\n", seconds_since(begin_ns), (*ret)->shared_why ? ", shared: " : "",
           (*ret)->shared_why ? (*ret)->shared_why : "");
    return 0;
}

static void check_lock(const struct gpu_backend *b, const char *uuid)
{
    char directory[256];
    int fd = -1;
    struct rl_err err = {0};
    if (b->shared_why || gpu_lock_directory(directory, sizeof directory, &err))
        return;
    EXPECT(gpu_lock_take(directory, uuid, 0, &fd, &err) == -1 && err.code == RL_E_DEVICE_BUSY,
           "the open backend does not hold its lock");
    gpu_lock_release(fd);
}

static size_t course_works(const struct rl_device *device, struct gpu_work *works)
{
    size_t n = 0;
    for (; n < rl_unit_count && n < UNITS_MAX; n++) {
        works[n] = (struct gpu_work){.unit = rl_units[n], .sizes = RL_COURSE};
        EXPECT(rl_units[n]->dims(RL_COURSE, (uint64_t)device->l2_bytes.value, &works[n].dims) == 0, "%s",
               rl_units[n]->id);
    }
    return n;
}

static void probe(struct gpu_backend *b)
{
    struct rl_err err = {0};
    int64_t begin_ns = rl_monotonic_ns();
    int result = b->ops->probe_counters(b, &err);
    printf("probe: %s %s (%.3f s)\n", result ? rl_code_id(err.code) : "ok", result ? err.message : "",
           seconds_since(begin_ns));
    EXPECT(result == 0 || (err.code >= RL_E_COUNTERS_PERMISSION && err.code <= RL_E_COUNTERS_LIBRARY), "%s",
           err.message);
}

static void measure(struct gpu_backend *b, struct rl_arena *arena, const struct rl_device *device)
{
    struct gpu_work works[UNITS_MAX];
    int64_t launches[UNITS_MAX];
    struct rl_text driver;
    struct rl_err err = {0};
    size_t n = course_works(device, works);
    show_state(b, arena, "start");
    int64_t begin_ns = rl_monotonic_ns();
    int failed = b->ops->reserve(b, works, n, &err);
    EXPECT(!failed, "%s", err.message);
    if (failed)
        return;
    printf("reserve %.3f s\n", seconds_since(begin_ns));
    for (unsigned i = 0; i < 3; i++) {
        double hz = 0;
        begin_ns = rl_monotonic_ns();
        EXPECT(b->ops->spin(b, i, &hz, &err) == 0, "%s", err.message);
        printf("spin %u: %.0f MHz in %.1f ms\n", i, hz / 1e6, seconds_since(begin_ns) * 1e3);
    }
    printf("%-22s %10s %10s %6s %9s %9s %9s %9s %9s\n", "unit", "warm us", "cold us", "batch", "MHz warm", "MHz cold",
           "ask GB/s", "cold GB/s", "GFLOP/s");
    for (size_t i = 0; i < n; i++)
        one_unit(b, arena, &works[i], &launches[i]);
    show_state(b, arena, "after the units");
    count(b, arena, works, launches, n);
    begin_ns = rl_monotonic_ns();
    EXPECT(b->ops->profile(b, works, n, &err) == 0, "%s", err.message);
    printf("profile %.3f s\n", seconds_since(begin_ns));
    EXPECT(b->ops->driver_now(b, arena, &driver, &err) == 0, "%s", err.message);
    printf("driver now %s\n", text(driver));
    show_state(b, arena, "end");
}

int main(void)
{
    struct rl_arena *arena = rl_arena_new(64u << 20);
    struct rl_device devices[16], device;
    struct rl_environment environments[16], environment;
    struct gpu_backend *b = NULL;
    struct rl_err err = {0};
    size_t listed = 0;
    if (!arena)
        return 1;
    int result = open_backend(NULL, &b);
    if (result) {
        rl_arena_free(arena);
        return result;
    }
    EXPECT(b->ops->identify(b, arena, &device, &environment, &err) == 0, "%s", err.message);
    if (!failures) {
        show_device(&device, &environment);
        show_nvml_costs(device.id);
        check_lock(b, device.id);
        measure(b, arena, &device);
    }
    int64_t begin_ns = rl_monotonic_ns();
    b->ops->close(b);
    printf("close %.3f s\n", seconds_since(begin_ns));

    /* a second device of the process, as a probe opens them: after a list, by UUID, CUDA running already */
    EXPECT(gpu_backend_list_cuda(arena, devices, environments, 16, &listed, &err) == 0, "%s", err.message);
    printf("listed %zu\n", listed);
    for (size_t i = 0; i < listed; i++) {
        printf("  %s %s driver %s cubin %s\n", devices[i].id, devices[i].name, text(environments[i].driver_version),
               text(environments[i].cubin));
        if (open_backend(devices[i].id, &b)) {
            failures++;
            continue;
        }
        probe(b);
        b->ops->close(b);
    }
    rl_arena_free(arena);
    printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
