/* The reference of both transposes: element (row, column) of the output is element (column, row) of the input. */
#ifndef KERNELS_TRANSPOSE_CHECK_CUH
#define KERNELS_TRANSPOSE_CHECK_CUH

#include "kernels/unit/check.cuh"

struct rl_transpose_reference {
    using element = float;
    uint64_t key, edge;

    RL_BOTH double operator()(uint64_t i, float got) const
    {
        return rl_exactly(rl_uniform(key, i % edge * edge + i / edge), got);
    }
};

#endif
