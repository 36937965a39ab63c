/* Launches that belong to no unit: flushing the L2, filling, clock marks, the empty kernel; and what units share. */
#include <inttypes.h>

#include "kernels/unit/check.cuh"
#include "kernels/unit/clock.cuh"

namespace
{

constexpr unsigned fill_block = 256;
constexpr unsigned flush_block = 256;        /* x 16 bytes: the 4096 of which a flushed size is a multiple */
constexpr unsigned flush_chunks_a_block = 4; /* independent loads in flight per thread */
constexpr uint64_t flush_chunk_bytes = flush_block * sizeof(uint4);

__global__ void fill_uniform(float *data, uint64_t n, uint64_t key)
{
    uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < n; i += step)
        data[i] = rl_uniform(key, i);
}

__global__ void fill_words(uint64_t *data, uint64_t n, uint64_t key)
{
    uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < n; i += step)
        data[i] = rl_word(key, i);
}

/* Plain loads: the lines must enter the L2 with normal priority to replace what is there. The store hangs on the
 * value of what was read, so that no load can be dropped, and in practice never happens: it would leave a dirty line.
 */
__global__ void __launch_bounds__(flush_block) flush_read(const uint4 *data, uint64_t chunks, uint32_t *sink)
{
    uint4 value[flush_chunks_a_block];
#pragma unroll
    for (unsigned j = 0; j < flush_chunks_a_block; j++) {
        uint64_t chunk = blockIdx.x + j * static_cast<uint64_t>(gridDim.x);
        value[j] = chunk < chunks ? data[chunk * flush_block + threadIdx.x] : make_uint4(0, 0, 0, 0);
    }
    uint32_t mixed = 0;
#pragma unroll
    for (unsigned j = 0; j < flush_chunks_a_block; j++)
        mixed = mixed * 31 + (value[j].x ^ value[j].y ^ value[j].z ^ value[j].w);
    if (mixed == 0x9e3779b9u)
        *sink = mixed;
}

__global__ void mark_clock(rl_clock_mark *mark)
{
    rl_clock_mark_at(mark);
}

__global__ void empty() {}

unsigned fill_blocks(uint64_t n)
{
    uint64_t blocks = (n + fill_block - 1) / fill_block;
    return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

} // namespace

int rl_fill_uniform(float *data, uint64_t n, uint64_t key, rl_stream stream)
{
    if (n == 0)
        return cudaErrorInvalidValue;
    return rl_launch(fill_uniform, {dim3(fill_blocks(n)), dim3(fill_block)}, stream, data, n, key);
}

int rl_fill(void *buffer, uint64_t bytes, uint64_t seed, rl_stream stream)
{
    uint64_t n = bytes / sizeof(uint64_t);
    if (n == 0 || bytes % sizeof(uint64_t) != 0)
        return cudaErrorInvalidValue;
    return rl_launch(fill_words, {dim3(fill_blocks(n)), dim3(fill_block)}, stream, static_cast<uint64_t *>(buffer), n,
                     rl_key(seed, 0));
}

int rl_flush_read(const void *buffer, uint64_t bytes, void *sink, rl_stream stream)
{
    uint64_t chunks = bytes / flush_chunk_bytes;
    uint64_t blocks = (chunks + flush_chunks_a_block - 1) / flush_chunks_a_block;
    if (chunks == 0 || bytes % flush_chunk_bytes != 0 || blocks > 0x7fffffffu)
        return cudaErrorInvalidValue;
    return rl_launch(flush_read, {dim3(static_cast<unsigned>(blocks)), dim3(flush_block)}, stream,
                     static_cast<const uint4 *>(buffer), chunks, static_cast<uint32_t *>(sink));
}

int rl_mark_clock(struct rl_clock_mark *mark, rl_stream stream)
{
    return rl_launch(mark_clock, {dim3(1), dim3(1)}, stream, mark);
}

int rl_empty(rl_stream stream)
{
    return rl_launch(empty, {dim3(1), dim3(1)}, stream);
}

uint64_t rl_check_scratch_bytes(void)
{
    return RL_CHECK_BLOCKS * sizeof(rl_tally) + RL_CHECK_SAMPLE * sizeof(uint32_t);
}

int rl_describe_function(const void *function, const rl_shape &shape, const char *what, struct rl_launch_info *ret)
{
    cudaFuncAttributes attributes;
    int resident;
    unsigned threads = shape.block.x * shape.block.y * shape.block.z;
    cudaError_t error = cudaFuncGetAttributes(&attributes, function);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function, static_cast<int>(threads), 0);
    if (error != cudaSuccess)
        return error;

    struct rl_launch_info info = {};
    info.grid[0] = shape.grid.x;
    info.grid[1] = shape.grid.y;
    info.grid[2] = shape.grid.z;
    info.block[0] = shape.block.x;
    info.block[1] = shape.block.y;
    info.block[2] = shape.block.z;
    info.shared_bytes = attributes.sharedSizeBytes;
    info.registers = attributes.numRegs;
    info.local_bytes = static_cast<int>(attributes.localSizeBytes);
    info.max_blocks_per_sm = resident;
    info.binary_version = attributes.binaryVersion;
    info.ptx_version = attributes.ptxVersion;
    char grid[32], block[32];
    if (shape.grid.y == 1)
        snprintf(grid, sizeof grid, "%u", shape.grid.x);
    else
        snprintf(grid, sizeof grid, "%u x %u", shape.grid.x, shape.grid.y);
    if (shape.block.y == 1)
        snprintf(block, sizeof block, "%u", shape.block.x);
    else
        snprintf(block, sizeof block, "%u x %u", shape.block.x, shape.block.y);
    snprintf(info.text, sizeof info.text, "grid %s, block %s%s%s", grid, block, what == NULL ? "" : ", ",
             what == NULL ? "" : what);
    *ret = info;
    return cudaSuccess;
}

void rl_check_report(const rl_tally &device, uint64_t device_count, const rl_tally &host, uint64_t host_count,
                     const char *tolerance, struct rl_result_check *ret)
{
    struct rl_result_check report = {};
    const rl_tally &worse = host.worst > device.worst ? host : device;
    report.compared_device = device_count;
    report.compared_host = host_count;
    /* The host looks again at elements that the device has looked at, at some of them twice: only where the device saw
     * nothing wrong is its count the answer. */
    report.wrong = device.wrong != 0 ? device.wrong : host.wrong;
    report.passed = report.wrong == 0;
    report.worst = worse.worst;
    report.worst_index = worse.worst_index;
    if (report.passed)
        snprintf(report.detail, sizeof report.detail,
                 "%" PRIu64 " elements on the device and %" PRIu64
                 " on the host, %s; worst error %.3g of what is allowed, at element %" PRIu64,
                 device_count, host_count, tolerance, worse.worst, worse.worst_index);
    else
        snprintf(report.detail, sizeof report.detail,
                 "%" PRIu64 " of %" PRIu64 " elements wrong on the device and %" PRIu64 " of %" PRIu64
                 " on the host, %s; worst error %.3g of what is allowed, at element %" PRIu64,
                 device.wrong, device_count, host.wrong, host_count, tolerance, worse.worst, worse.worst_index);
    *ret = report;
}
