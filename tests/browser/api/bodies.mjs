// Bodies of POST /api/v1/jobs: their runs are what the answers are looked at with.

export const BODIES = [
  {suite: "verify"},
  {suite: "verify", cache: ["cold"], kernels: ["vector_add", "transpose_naive"], note: "<b>cold</b> only"},
  {suite: "verify", counters: false, label: "v2, é"},
  {
    suite: "verify",
    sizes: "scaled",
    kernels: ["matmul_naive"],
    predictions: {matmul_naive: "below"},
    on_interrupt: "retry",
  },
  {
    suite: "verify",
    kernels: ["vector_add", "vector_add_stride32"],
    predictions: {vector_add_stride32: "below", vector_add: "above"},
  },
];
