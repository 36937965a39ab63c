/* The reference of both matrix products; its tolerance is derived in kernels/matmul/naive.h. */
#ifndef KERNELS_MATMUL_CHECK_CUH
#define KERNELS_MATMUL_CHECK_CUH

#include "kernels/unit/check.cuh"

struct rl_matmul_reference {
    using element = float;
    uint64_t key_a, key_b, edge;

    RL_BOTH double operator()(uint64_t i, float got) const
    {
        const uint64_t row = i / edge, column = i % edge;
        double sum = 0, magnitude = 0;
        for (uint64_t k = 0; k < edge; k++) {
            double product = static_cast<double>(rl_uniform(key_a, row * edge + k)) *
                             static_cast<double>(rl_uniform(key_b, k * edge + column));
            sum += product;
            magnitude += fabs(product);
        }
        const double roundings = static_cast<double>(edge) * RL_UNIT_ROUNDOFF;
        return rl_within(sum, roundings / (1 - roundings) * magnitude * RL_SLACK, got);
    }
};

#endif
