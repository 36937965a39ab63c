/* Known answers of every unit's formulas, and sizes at every L2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/ceilings/fp32_fma.h"
#include "kernels/reduction/block_reduction.h"
#include "kernels/stencil/global.h"
#include "kernels/stencil/tiled.h"
#include "kernels/unit/catalogue.h"

#define MIB ((uint64_t)1 << 20)

struct known {
    const char *id, *title;
    const char *ask_mb; /* as the course's table prints it; NULL where it has no such row */
    uint64_t ask_bytes, flop, footprint_bytes;
};

/* The asked MB are those of the course's table (T4, 2026-09-01). Flop: one add a float; 2 * 512^3; 255 adds a block of
 * 65536; seven a point of 2046^2; 513 a float. */
static const struct known course[] = {
    {"vector_add", "vector add", "201.3", 201326592, 16777216, 201326592},
    {"vector_add_stride32", "vector add, stride 32", "201.3", 201326592, 16777216, 201326592},
    {"transpose_naive", "transpose, naive", "134.2", 134217728, 0, 134217728},
    {"transpose_tiled", "transpose, tiled", "134.2", 134217728, 0, 134217728},
    {"matmul_naive", "matmul, naive", "1074.8", 1074790400, 268435456, 3145728},
    {"matmul_tiled16", "matmul, tiled 16", "68.2", 68157440, 268435456, 3145728},
    {"block_reduction", "block reduction", "67.4", 67371008, 16711680, 67371008},
    {"stencil_global", "stencil, global", "100.5", 100466784, 29302812, 33521664},
    {"stencil_tiled", "stencil, tiled", "39.0", 38988832, 29302812, 33521680},
    {"polynomial256", "polynomial, 256", "134.2", 134217728, 8606711808, 134217728},
    {"dram_copy", "copy", NULL, 2147483648, 0, 2147483648},
    {"fp32_fma", "FP32 FMA chain", NULL, 268435456, 137438953472, 268435456},
    {"dram_copy_scalar", "copy, 4-byte", NULL, 2147483648, 0, 2147483648},
    {"dram_memcpy", "cudaMemcpy", NULL, 2147483648, 0, 2147483648},
    {"dram_read", "read", NULL, 1074266112, 0, 1074266112},
    {"dram_write", "write", NULL, 1073741824, 0, 1073741824},
    {"dram_triad", "triad", NULL, 3221225472, 536870912, 3221225472},
};

static struct rl_dims dims_of(const struct rl_unit *unit, enum rl_sizes sizes, uint64_t l2_bytes)
{
    struct rl_dims dims = {1, 1, 1};
    assert_int_equal(unit->dims(sizes, l2_bytes, &dims), 0);
    return dims;
}

static void test_course_has_the_known_answers(void **state)
{
    (void)state;
    assert_int_equal(rl_unit_count, sizeof course / sizeof course[0]);
    for (size_t i = 0; i < rl_unit_count; i++) {
        const struct rl_unit *unit = rl_units[i];
        struct rl_dims dims = dims_of(unit, RL_COURSE, 60 * MIB);
        char mb[32];
        assert_string_equal(unit->id, course[i].id);
        assert_string_equal(unit->title, course[i].title);
        assert_int_equal(unit->ask_bytes(&dims), course[i].ask_bytes);
        assert_int_equal(unit->flop(&dims), course[i].flop);
        assert_int_equal(unit->footprint_bytes(&dims), course[i].footprint_bytes);
        (void)snprintf(mb, sizeof mb, "%.1f", (double)unit->ask_bytes(&dims) / 1e6);
        if (course[i].ask_mb != NULL)
            assert_string_equal(mb, course[i].ask_mb);
    }
}

static void test_order_and_kinds(void **state)
{
    (void)state;
    assert_int_equal(rl_kernel_count, 10);
    for (size_t i = 0; i < rl_unit_count; i++) {
        const struct rl_unit *unit = rl_units[i];
        assert_int_equal(unit->kind == RL_UNIT_KERNEL, i < rl_kernel_count);
        if (unit->kind == RL_UNIT_KERNEL)
            assert_int_equal(unit->variants, 1);
        assert_true(unit->variants >= 1);
        assert_true(strlen(unit->flop_formula) > 0 && strlen(unit->ask_formula) > 0);
        assert_true(strlen(unit->description) > 20);
        assert_ptr_equal(rl_unit_find(unit->id), unit);
    }
    assert_string_equal(rl_units[rl_kernel_count]->id, "dram_copy");
    assert_string_equal(rl_units[rl_kernel_count + 1]->id, "fp32_fma");
    assert_int_equal(rl_units[rl_kernel_count + 1]->kind, RL_UNIT_COMPUTE_CEILING);
    assert_null(rl_unit_find("vector_ad"));
    assert_null(rl_unit_find(""));
    assert_null(rl_unit_find(NULL));
}

static void test_course_does_not_depend_on_the_l2(void **state)
{
    (void)state;
    for (size_t i = 0; i < rl_kernel_count; i++) {
        struct rl_dims small = dims_of(rl_units[i], RL_COURSE, 0);
        struct rl_dims large = dims_of(rl_units[i], RL_COURSE, 1024 * MIB);
        assert_memory_equal(&small, &large, sizeof small);
    }
}

static bool power_of_two_or_zero(uint64_t value)
{
    return (value & (value - 1)) == 0;
}

/* 4 MiB is a T4's L2, 60 MiB an H200's, 126 MiB a B200's; the odd one falls between powers of two. 67 MB and 536 MB are
 * where a stencil's missing boundary decides. */
static void test_scaled_passes_eight_times_the_l2(void **state)
{
    static const uint64_t l2[] = {0, 4 * MIB, 40 * MIB, 50 * MIB, 60 * MIB, 64 * MIB, 126 * MIB, 333333333, 512 * MIB};
    (void)state;
    for (size_t i = 0; i < rl_unit_count; i++) {
        const struct rl_unit *unit = rl_units[i];
        bool cache_resident = strncmp(unit->id, "matmul", 6) == 0 || strcmp(unit->id, "fp32_fma") == 0;
        for (size_t j = 0; j < sizeof l2 / sizeof l2[0]; j++) {
            struct rl_dims dims = dims_of(unit, RL_SCALED, l2[j]);
            assert_true(power_of_two_or_zero(dims.n) && power_of_two_or_zero(dims.edge));
            if (cache_resident)
                continue;
            assert_true(unit->footprint_bytes(&dims) >= 8 * l2[j]);
        }
    }
}

/* Sizes on an H200 (60 MiB). */
static void test_scaled_on_a_60_mib_l2(void **state)
{
    static const struct {
        const char *id;
        uint64_t n, edge;
    } expected[] = {
        {"vector_add", 67108864, 0},       {"vector_add_stride32", 67108864, 0},
        {"transpose_naive", 0, 8192},      {"transpose_tiled", 0, 8192},
        {"matmul_naive", 0, 2048},         {"matmul_tiled16", 0, 2048},
        {"block_reduction", 134217728, 0}, {"stencil_global", 0, 8192},
        {"stencil_tiled", 0, 8192},        {"polynomial256", 67108864, 0},
        {"dram_copy", 268435456, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct rl_dims dims = dims_of(rl_unit_find(expected[i].id), RL_SCALED, 60 * MIB);
        assert_int_equal(dims.n, expected[i].n);
        assert_int_equal(dims.edge, expected[i].edge);
    }
}

static void test_ceiling_arrays_are_above_the_l2_at_both_sizes(void **state)
{
    (void)state;
    for (size_t i = rl_kernel_count; i < rl_unit_count; i++) {
        if (rl_units[i]->kind != RL_UNIT_MEMORY_CEILING)
            continue;
        struct rl_dims course_dims = dims_of(rl_units[i], RL_COURSE, 200 * MIB);
        struct rl_dims scaled_dims = dims_of(rl_units[i], RL_SCALED, 200 * MIB);
        assert_memory_equal(&course_dims, &scaled_dims, sizeof course_dims);
        assert_int_equal(course_dims.n * 4, 2048 * MIB);
        assert_int_equal(dims_of(rl_units[i], RL_COURSE, 0).n * 4, 1024 * MIB);
    }
}

static void test_an_impossible_l2_is_refused(void **state)
{
    static const uint64_t l2[] = {((uint64_t)1 << 50) + 1, (uint64_t)1 << 61, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < rl_unit_count; i++) {
        const struct rl_unit *unit = rl_units[i];
        bool fixed = strncmp(unit->id, "matmul", 6) == 0 || strcmp(unit->id, "fp32_fma") == 0;
        for (size_t j = 0; j < sizeof l2 / sizeof l2[0]; j++) {
            struct rl_dims dims = {11, 22, 33};
            if (fixed) {
                assert_int_equal(unit->dims(RL_SCALED, l2[j], &dims), 0);
                continue;
            }
            assert_int_equal(unit->dims(RL_SCALED, l2[j], &dims), -1);
            assert_true(dims.n == 11 && dims.edge == 22 && dims.steps == 33);
        }
    }
}

/* At the largest L2 that is taken, no formula wraps: each is above the footprint it must cover, and the ratios hold. */
static void test_no_formula_overflows(void **state)
{
    const uint64_t l2 = (uint64_t)1 << 50;
    (void)state;
    for (size_t i = 0; i < rl_unit_count; i++) {
        const struct rl_unit *unit = rl_units[i];
        struct rl_dims dims = dims_of(unit, RL_SCALED, l2);
        double n = (double)dims.n, edge = (double)dims.edge;
        double most = n * 12 + edge * edge * 24 + edge * edge * edge * 8 + 1;
        assert_true((double)unit->ask_bytes(&dims) <= most);
        assert_true(unit->ask_bytes(&dims) >= unit->footprint_bytes(&dims) || strcmp(unit->id, "stencil_tiled") == 0);
        assert_true((double)unit->flop(&dims) <= n * (2 * (double)dims.steps + 2) + most);
        if (dims.n != 0)
            assert_true(unit->ask_bytes(&dims) / 4 >= dims.n);
    }
}

/* The staged floats and the points of a stencil, counted block by block as the kernel walks them. */
static void test_stencil_counts_by_counting(void **state)
{
    (void)state;
    for (uint64_t edge = 32; edge <= 256; edge *= 2) {
        struct rl_dims dims = {0, edge, 0};
        uint64_t staged = 0, points = 0;
        for (uint64_t top = 0; top < edge; top += RL_STENCIL_ROWS) {
            for (uint64_t left = 0; left < edge; left += RL_STENCIL_COLUMNS) {
                for (uint64_t j = 0; j < RL_STENCIL_APRON_ROWS * RL_STENCIL_APRON_COLUMNS; j++)
                    staged += left + j % RL_STENCIL_APRON_COLUMNS < edge && top + j / RL_STENCIL_APRON_COLUMNS < edge;
                for (uint64_t j = 0; j < RL_STENCIL_ROWS * RL_STENCIL_COLUMNS; j++)
                    points +=
                        left + 1 + j % RL_STENCIL_COLUMNS < edge - 1 && top + 1 + j / RL_STENCIL_COLUMNS < edge - 1;
            }
        }
        assert_int_equal(rl_stencil_tiled_staged(&dims), staged);
        assert_int_equal(rl_stencil_interior(&dims), points);
    }
}

static void test_reduction_adds_by_counting(void **state)
{
    (void)state;
    struct rl_dims dims = {RL_BLOCK_REDUCTION_BLOCK, 0, 0};
    uint64_t adds = 0;
    for (unsigned half = RL_BLOCK_REDUCTION_BLOCK / 2; half > 0; half /= 2)
        adds += half;
    assert_int_equal(rl_block_reduction_flop(&dims), adds);
    assert_int_equal(adds, 255);
}

static void test_fma_work_follows_steps(void **state)
{
    (void)state;
    struct rl_dims dims = dims_of(rl_unit_find("fp32_fma"), RL_COURSE, 0);
    uint64_t once = rl_fp32_fma_flop(&dims);
    dims.steps *= 2;
    assert_int_equal(rl_fp32_fma_flop(&dims), 2 * once);
    assert_int_equal(dims.steps % RL_FP32_FMA_UNROLL, 0);
}

static void test_sizes_have_names(void **state)
{
    enum rl_sizes sizes = RL_SIZES_COUNT;
    (void)state;
    assert_string_equal(rl_sizes_name(RL_COURSE), "course");
    assert_string_equal(rl_sizes_name(RL_SCALED), "scaled");
    assert_null(rl_sizes_name(RL_SIZES_COUNT));
    assert_int_equal(rl_sizes_from_name("scaled", &sizes), 0);
    assert_int_equal(sizes, RL_SCALED);
    assert_int_equal(rl_sizes_from_name("course", &sizes), 0);
    assert_int_equal(sizes, RL_COURSE);
    assert_int_equal(rl_sizes_from_name("Course", &sizes), -1);
    assert_int_equal(rl_sizes_from_name("", &sizes), -1);
    assert_int_equal(rl_sizes_from_name(NULL, &sizes), -1);
    assert_int_equal(sizes, RL_COURSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_course_has_the_known_answers),
        cmocka_unit_test(test_order_and_kinds),
        cmocka_unit_test(test_course_does_not_depend_on_the_l2),
        cmocka_unit_test(test_scaled_passes_eight_times_the_l2),
        cmocka_unit_test(test_scaled_on_a_60_mib_l2),
        cmocka_unit_test(test_ceiling_arrays_are_above_the_l2_at_both_sizes),
        cmocka_unit_test(test_an_impossible_l2_is_refused),
        cmocka_unit_test(test_no_formula_overflows),
        cmocka_unit_test(test_stencil_counts_by_counting),
        cmocka_unit_test(test_reduction_adds_by_counting),
        cmocka_unit_test(test_fma_work_follows_steps),
        cmocka_unit_test(test_sizes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
