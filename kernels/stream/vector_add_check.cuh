/* The reference of both vector adds, whose outputs are the same: float(a + b) with the sum in double, where it is
 * exact.
 */
#ifndef KERNELS_STREAM_VECTOR_ADD_CHECK_CUH
#define KERNELS_STREAM_VECTOR_ADD_CHECK_CUH

#include "kernels/unit/check.cuh"

struct rl_vector_add_reference {
    using element = float;
    uint64_t key_a, key_b;

    RL_BOTH double operator()(uint64_t i, float got) const
    {
        double sum = static_cast<double>(rl_uniform(key_a, i)) + static_cast<double>(rl_uniform(key_b, i));
        return rl_exactly(static_cast<float>(sum), got);
    }
};

#endif
