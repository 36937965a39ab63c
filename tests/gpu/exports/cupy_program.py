"""A few CuPy operations, for exports: elementwise, a reduction, a matmul in FP32, a kernel of its own in FP64."""
import cupy
from cu_profiler import profiled

axpy = cupy.RawKernel(
    r"""
extern "C" __global__ void axpy_fp64(double a, const double *x, double *y, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
""",
    "axpy_fp64",
)


def main():
    n = 1 << 26
    cupy.random.seed(1)
    x, y = cupy.random.rand(n, dtype=cupy.float32), cupy.random.rand(n, dtype=cupy.float32)
    a, b = cupy.random.rand(2048, 2048, dtype=cupy.float32), cupy.random.rand(2048, 2048, dtype=cupy.float32)
    u, v = cupy.random.rand(n >> 1), cupy.random.rand(n >> 1)

    def work():
        z = x * 2 + y
        z.sum()
        cupy.sin(x)
        a @ b
        axpy(((n >> 1) // 256,), (256,), (3.0, u, v, n >> 1))
        cupy.cuda.Device().synchronize()

    work()
    with profiled():
        work()


main()
