"""Numba kernels, for exports: SAXPY, a shared-memory reduction, a stencil in FP64."""
import numpy

# NumPy 2.5 dropped a name that Numba's registry of functions still asks for; nothing here calls it.
numpy.row_stack = getattr(numpy, "row_stack", numpy.vstack)

from cu_profiler import profiled
from numba import cuda, float32


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def block_sum(x, out):
    shared = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    shared[thread] = x[cuda.grid(1)]
    cuda.syncthreads()
    width = 128
    while width:
        if thread < width:
            shared[thread] += shared[thread + width]
        cuda.syncthreads()
        width //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = shared[0]


@cuda.jit
def stencil(before, after):
    row, column = cuda.grid(2)
    if 0 < row < before.shape[0] - 1 and 0 < column < before.shape[1] - 1:
        after[row, column] = 0.25 * (before[row - 1, column] + before[row + 1, column] + before[row, column - 1] +
                                     before[row, column + 1])


def main():
    n = 1 << 26
    rng = numpy.random.default_rng(1)
    x, y = cuda.to_device(rng.random(n, dtype=numpy.float32)), cuda.to_device(rng.random(n, dtype=numpy.float32))
    sums = cuda.device_array(n // 256, numpy.float32)
    before = cuda.to_device(rng.random((4096, 4096)))
    after = cuda.device_array((4096, 4096))

    def work():
        saxpy[n // 256, 256](numpy.float32(2), x, y)
        block_sum[n // 256, 256](x, sums)
        stencil[(256, 256), (16, 16)](before, after)
        cuda.synchronize()

    work()
    with profiled():
        work()


main()
