/* Every unit on a GPU: launched at both sizes and checked; and every result check shown to fail on an output that is
 * wrong in one element, on one that holds a NaN, and on one that no launch wrote. Exits 77 where there is no GPU.
 */
#include <cuda_runtime_api.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/ceilings/fp32_fma.h"
#include "kernels/stream/polynomial256.h"
#include "kernels/unit/launch.h"

#define SEED       20261129u
#define CUDA(call) assert_int_equal((int)(call), 0)

struct fixture {
    void *arena, *scratch;
    cudaStream_t stream;
    uint64_t l2_bytes;
    unsigned sms;
};

static uint64_t largest_arena(uint64_t l2_bytes)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < rl_unit_count; i++) {
        for (unsigned sizes = 0; sizes < RL_SIZES_COUNT; sizes++) {
            struct rl_dims dims;
            if (rl_units[i]->dims((enum rl_sizes)sizes, l2_bytes, &dims) != 0)
                continue;
            uint64_t bytes = rl_unit_ops[i]->arena_bytes(&dims);
            largest = bytes > largest ? bytes : largest;
        }
    }
    return largest;
}

static int set_up(void **state)
{
    static struct fixture f;
    int l2 = 0, sms = 0;
    if (cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0) != cudaSuccess ||
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0) != cudaSuccess)
        return -1;
    f.l2_bytes = (uint64_t)l2;
    f.sms = (unsigned)sms;
    if (cudaStreamCreateWithFlags(&f.stream, cudaStreamNonBlocking) != cudaSuccess ||
        cudaMalloc(&f.scratch, rl_check_scratch_bytes()) != cudaSuccess ||
        cudaMalloc(&f.arena, largest_arena(f.l2_bytes)) != cudaSuccess)
        return -1;
    *state = &f;
    return 0;
}

static struct fixture fixture_of(void)
{
    static void *state;
    if (state == NULL && set_up(&state) != 0)
        fail_msg("no device memory for the largest arena");
    return *(struct fixture *)state;
}

static struct rl_result_check checked(const struct fixture *f, const struct rl_unit_ops *ops,
                                      const struct rl_dims *dims)
{
    struct rl_result_check result;
    memset(&result, 0xa5, sizeof result);
    CUDA(ops->check(f->arena, dims, SEED, f->scratch, f->stream, &result));
    assert_true(result.compared_host >= 10000);
    assert_true(strlen(result.detail) > 0);
    return result;
}

static void assert_right(const struct fixture *f, const struct rl_unit_ops *ops, const struct rl_dims *dims)
{
    struct rl_result_check result = checked(f, ops, dims);
    uint64_t count;
    (void)ops->output(f->arena, dims, &count);
    if (!result.passed)
        fail_msg("%s: %s", ops->unit->id, result.detail);
    assert_int_equal(result.wrong, 0);
    assert_int_equal(result.compared_device, count);
    assert_true(result.worst <= 1);
}

static void assert_wrong_at(const struct fixture *f, const struct rl_unit_ops *ops, const struct rl_dims *dims,
                            uint64_t place, const char *how)
{
    struct rl_result_check result = checked(f, ops, dims);
    if (result.passed || result.wrong != 1 || result.worst_index != place || !(result.worst > 1))
        fail_msg("%s, %s at %llu was not seen so: %s", ops->unit->id, how, (unsigned long long)place, result.detail);
}

static bool has_tolerance(const struct rl_unit_ops *ops)
{
    const char *id = ops->unit->id;
    return strncmp(id, "matmul", 6) == 0 || strncmp(id, "stencil", 7) == 0 || strcmp(id, "block_reduction") == 0 ||
           strcmp(id, "polynomial256") == 0;
}

/* The smallest error that a check must see: the last bit where the result is exact, else one more than the right value.
 */
static uint32_t spoiled(const struct rl_unit_ops *ops, uint32_t word)
{
    float value;
    if (!has_tolerance(ops))
        return word ^ 1u;
    memcpy(&value, &word, sizeof value);
    value += 1.0f;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* On the stream of the launches: a plain cudaMemcpy may return before its write is there for another stream. */
static void write_word(const struct fixture *f, uint32_t *to, uint32_t word)
{
    CUDA(cudaMemcpyAsync(to, &word, sizeof word, cudaMemcpyHostToDevice, f->stream));
    CUDA(cudaStreamSynchronize(f->stream));
}

/* Writes a word over one element of the output, expects the check to name it, and puts the element back. */
static void break_and_check(const struct fixture *f, const struct rl_unit_ops *ops, const struct rl_dims *dims,
                            uint64_t place)
{
    const uint32_t nan_word = 0x7fc00000u;
    uint64_t count;
    uint32_t *out = ops->output(f->arena, dims, &count), word;
    assert_true(place < count);
    CUDA(cudaMemcpyAsync(&word, out + place, sizeof word, cudaMemcpyDeviceToHost, f->stream));
    CUDA(cudaStreamSynchronize(f->stream));
    write_word(f, out + place, spoiled(ops, word));
    assert_wrong_at(f, ops, dims, place, "an error");
    write_word(f, out + place, nan_word);
    assert_wrong_at(f, ops, dims, place, "a NaN");
    write_word(f, out + place, word);
}

static void check_sees_breakage(const struct fixture *f, const struct rl_unit_ops *ops, const struct rl_dims *dims)
{
    uint64_t count, edge = dims->edge;
    (void)ops->output(f->arena, dims, &count);
    /* first, last, middle, one that only the whole comparison on the device can see, and the sides of a square */
    break_and_check(f, ops, dims, 0);
    break_and_check(f, ops, dims, count - 1);
    break_and_check(f, ops, dims, count / 2 + 1);
    break_and_check(f, ops, dims, count / 3);
    if (edge != 0) {
        break_and_check(f, ops, dims, edge - 1);
        break_and_check(f, ops, dims, edge / 2 * edge);
        break_and_check(f, ops, dims, edge / 2 * edge + edge - 1);
        break_and_check(f, ops, dims, edge + 1);
    }
    assert_right(f, ops, dims);
}

/* After reset and no launch every element that a launch writes is poison. One word in 2^32 of dram_write is all ones.
 */
static void check_sees_no_launch(const struct fixture *f, const struct rl_unit_ops *ops, const struct rl_dims *dims)
{
    uint64_t written;
    struct rl_result_check result;
    CUDA(ops->reset(f->arena, dims, SEED, f->stream));
    (void)ops->output(f->arena, dims, &written);
    if (strncmp(ops->unit->id, "stencil", 7) == 0)
        written = (dims->edge - 2) * (dims->edge - 2);
    result = checked(f, ops, dims);
    assert_false(result.passed);
    assert_true(result.wrong == written || (strcmp(ops->unit->id, "dram_write") == 0 && result.wrong == written - 1));
}

static void describe_is_whole(const struct rl_unit_ops *ops, const struct rl_dims *dims, unsigned variant)
{
    struct rl_launch_info info;
    memset(&info, 0xa5, sizeof info);
    CUDA(ops->describe(dims, variant, &info));
    assert_true(strlen(info.text) > 0 && strlen(info.text) < sizeof info.text - 1);
    assert_int_equal(info.local_bytes, 0);
    if (strcmp(ops->unit->id, "dram_memcpy") == 0)
        return;
    assert_true(info.grid[0] >= 1 && info.grid[1] >= 1 && info.grid[2] >= 1);
    assert_true(info.block[0] * info.block[1] * info.block[2] <= 1024);
    assert_true(info.registers > 0 && info.max_blocks_per_sm >= 1 && info.binary_version >= 75);
}

static void run_unit(const struct fixture *f, const struct rl_unit_ops *ops, enum rl_sizes sizes)
{
    struct rl_dims dims;
    CUDA(ops->unit->dims(sizes, f->l2_bytes, &dims));
    assert_int_equal(ops->variants, ops->unit->variants);
    for (unsigned variant = 0; variant < ops->variants; variant++) {
        describe_is_whole(ops, &dims, variant);
        check_sees_no_launch(f, ops, &dims);
        CUDA(ops->launch(f->arena, &dims, variant, f->stream));
        assert_right(f, ops, &dims);
    }
    check_sees_breakage(f, ops, &dims);
    /* launches leave their inputs: a third gives what the first gave */
    CUDA(ops->launch(f->arena, &dims, 0, f->stream));
    CUDA(ops->launch(f->arena, &dims, ops->variants - 1, f->stream));
    assert_right(f, ops, &dims);
    assert_int_not_equal(ops->launch(f->arena, &dims, ops->variants, f->stream), 0);
}

static void test_unit_course(void **state)
{
    struct fixture f = fixture_of();
    run_unit(&f, *state, RL_COURSE);
}

static void test_unit_scaled(void **state)
{
    struct fixture f = fixture_of();
    run_unit(&f, *state, RL_SCALED);
}

/* A check against another seed fails: the inputs do come from it. */
static void test_seed_matters(void **state)
{
    struct fixture f = fixture_of();
    (void)state;
    for (size_t i = 0; i < rl_unit_count; i++) {
        const struct rl_unit_ops *ops = rl_unit_ops[i];
        struct rl_result_check result;
        struct rl_dims dims;
        CUDA(ops->unit->dims(RL_COURSE, f.l2_bytes, &dims));
        CUDA(ops->reset(f.arena, &dims, SEED + 1, f.stream));
        CUDA(ops->launch(f.arena, &dims, 0, f.stream));
        result = checked(&f, ops, &dims);
        assert_false(result.passed);
        assert_true(result.wrong > result.compared_device / 2);
    }
}

/* Loops that end early are seen in the results. */
static void test_shortened_loops_are_seen(void **state)
{
    static const struct {
        const char *id;
        uint64_t shorter_by;
    } loops[] = {{"polynomial256", RL_POLYNOMIAL256_UNROLL}, {"fp32_fma", RL_FP32_FMA_UNROLL}};
    struct fixture f = fixture_of();
    (void)state;
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        const struct rl_unit_ops *ops = rl_unit_ops_find(loops[i].id);
        struct rl_dims whole, shorter;
        CUDA(ops->unit->dims(RL_COURSE, f.l2_bytes, &whole));
        shorter = whole;
        shorter.steps -= loops[i].shorter_by;
        CUDA(ops->reset(f.arena, &whole, SEED, f.stream));
        CUDA(ops->launch(f.arena, &shorter, 0, f.stream));
        assert_false(checked(&f, ops, &whole).passed);
        assert_true(checked(&f, ops, &shorter).passed);
    }
}

static void test_impossible_sizes_are_refused(void **state)
{
    struct fixture f = fixture_of();
    (void)state;
    for (size_t i = 0; i < rl_unit_count; i++) {
        const struct rl_unit_ops *ops = rl_unit_ops[i];
        struct rl_dims dims = {1000001, 1001, 3};
        struct rl_launch_info info;
        if (strcmp(ops->unit->id, "dram_memcpy") == 0)
            continue;
        assert_int_not_equal(ops->launch(f.arena, &dims, 0, f.stream), 0);
        assert_int_not_equal(ops->describe(&dims, 0, &info), 0);
    }
    CUDA(cudaStreamSynchronize(f.stream));
    CUDA(cudaGetLastError());
}

/* The FMA chain's own marks: one SM, both clocks forward, and a frequency that a chip can have. */
static void test_fma_marks(void **state)
{
    struct fixture f = fixture_of();
    const struct rl_unit_ops *ops = rl_unit_ops_find("fp32_fma");
    (void)state;
    for (unsigned variant = 0; variant < ops->variants; variant++) {
        struct rl_clock_mark marks[2];
        struct rl_dims dims;
        CUDA(ops->unit->dims(RL_COURSE, f.l2_bytes, &dims));
        CUDA(ops->reset(f.arena, &dims, SEED, f.stream));
        assert_int_not_equal(ops->clock_marks(f.arena, &dims, f.stream, marks), 0);
        CUDA(ops->launch(f.arena, &dims, variant, f.stream));
        CUDA(ops->clock_marks(f.arena, &dims, f.stream, marks));
        assert_int_equal(marks[0].sm, marks[1].sm);
        assert_true(marks[0].sm < f.sms);
        assert_true(marks[1].cycles > marks[0].cycles && marks[1].time_ns > marks[0].time_ns);
        double hz = (double)(marks[1].cycles - marks[0].cycles) / (double)(marks[1].time_ns - marks[0].time_ns) * 1e9;
        assert_true(hz > 1e8 && hz < 5e9);
    }
}

static void test_tools(void **state)
{
    const uint64_t bytes = 5 * 4096;
    struct fixture f = fixture_of();
    struct rl_clock_mark *mark = f.scratch, seen;
    uint64_t words[2][5 * 4096 / 8];
    (void)state;
    CUDA(rl_fill(f.arena, bytes, 1, f.stream));
    CUDA(cudaStreamSynchronize(f.stream));
    CUDA(cudaMemcpy(words[0], f.arena, bytes, cudaMemcpyDeviceToHost));
    CUDA(rl_flush_read(f.arena, bytes, f.scratch, f.stream));
    CUDA(rl_fill(f.arena, bytes, 2, f.stream));
    CUDA(cudaStreamSynchronize(f.stream));
    CUDA(cudaMemcpy(words[1], f.arena, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < bytes / 8; i++) {
        assert_true(words[0][i] != words[1][i]);
        assert_true(i == 0 || words[0][i] != words[0][i - 1]);
    }
    assert_int_not_equal(rl_flush_read(f.arena, 4095, f.scratch, f.stream), 0);
    assert_int_not_equal(rl_flush_read(f.arena, 0, f.scratch, f.stream), 0);
    assert_int_not_equal(rl_fill(f.arena, 7, 1, f.stream), 0);
    CUDA(rl_empty(f.stream));
    CUDA(rl_mark_clock(mark, f.stream));
    CUDA(cudaStreamSynchronize(f.stream));
    CUDA(cudaMemcpy(&seen, mark, sizeof seen, cudaMemcpyDeviceToHost));
    assert_true(seen.cycles > 0 && seen.time_ns > 0 && seen.sm < f.sms);
}

int main(void)
{
    struct CMUnitTest tests[64];
    size_t count = 0;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        (void)fprintf(stderr, "test_kernels: no GPU, skipped\n");
        return 77;
    }
    for (size_t i = 0; i < rl_unit_count && count + 2 <= 64 - 5; i++) {
        void *ops = (void *)(uintptr_t)rl_unit_ops[i];
        tests[count++] = (struct CMUnitTest){rl_units[i]->id, test_unit_course, NULL, NULL, ops};
        /* ceilings have one size */
        if (rl_units[i]->kind == RL_UNIT_KERNEL)
            tests[count++] = (struct CMUnitTest){rl_units[i]->id, test_unit_scaled, NULL, NULL, ops};
    }
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_seed_matters);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_shortened_loops_are_seen);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_impossible_sizes_are_refused);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_fma_marks);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_tools);
    return _cmocka_run_group_tests("kernels", tests, count, NULL, NULL);
}
