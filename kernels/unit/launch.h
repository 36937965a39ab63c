/* The CUDA side of every unit: one launch, written once, used by timing, counting, checking and --profile.
 *
 * A unit lives in an arena: one device allocation that the caller owns and gives to whichever unit is next. Offsets
 * inside are multiples of 512 bytes. Nothing here allocates, synchronises the device or keeps state between calls,
 * unless said. All functions return a cudaError_t as int, 0 for success.
 */
#ifndef KERNELS_UNIT_LAUNCH_H
#define KERNELS_UNIT_LAUNCH_H

#include "kernels/unit/catalogue.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUstream_st *rl_stream; /* cudaStream_t, without CUDA's headers */

struct rl_launch_info {
    uint64_t grid[3], block[3];
    uint64_t shared_bytes; /* static and dynamic, per block */
    int registers;         /* per thread */
    int local_bytes;       /* per thread */
    int max_blocks_per_sm; /* cudaOccupancyMaxActiveBlocksPerMultiprocessor */
    int binary_version;    /* cudaFuncAttributes.binaryVersion: 90 for sm_90 */
    int ptx_version;
    char text[96]; /* "grid 65536, block 256" and what the variant means */
};

/* What a result check found. Tolerances are derived in the unit's header. */
struct rl_result_check {
    bool passed;
    uint64_t compared_device; /* elements compared on the device with the independent double-precision kernel */
    uint64_t compared_host;   /* seeded elements and edges compared on the host */
    uint64_t wrong;           /* elements outside the tolerance, NaN and poison included */
    double worst;             /* largest error relative to its tolerance: <= 1 passes, 1e30 stands for NaN. Where the
                               * result must be exact, half a unit in the last place is 1: one wrong bit is 2 */
    uint64_t worst_index;
    char detail[256];
};

struct rl_clock_mark { /* written by rl_mark_clock, or by the FMA chain about itself */
    uint64_t cycles;   /* clock64 */
    uint64_t time_ns;  /* globaltimer */
    uint32_t sm;       /* smid: two marks tell a frequency only when equal */
    uint32_t pad;
};

struct rl_unit_ops {
    const struct rl_unit *unit;
    unsigned variants; /* launch shapes: 1 for kernels, the sweep for ceilings; variant < variants */
    uint64_t (*arena_bytes)(const struct rl_dims *dims);
    /* Fills inputs with seeded pseudo-random data (never zeros) and poisons outputs (all bits one); values that a
     * launch must keep, as a stencil's boundary, are written. Launches leave inputs as they are: any number may follow.
     */
    int (*reset)(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream);
    /* Exactly one kernel launch (one memcpy for dram_memcpy). */
    int (*launch)(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream);
    int (*describe)(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret);
    /* After reset and one launch: compares the whole output on the device with an independent double-precision kernel,
     * and at least 10,000 seeded elements and all edges with the host. The inputs are regenerated from the seed, not
     * read back. A wrong result is an answer (passed false), not an error. Synchronises the stream. scratch is another
     * device area of at least rl_check_scratch_bytes() bytes; a few MB of host memory are taken for the call. */
    int (*check)(void *arena, const struct rl_dims *dims, uint64_t seed, void *scratch, rl_stream stream,
                 struct rl_result_check *ret);
    /* FMA ceiling only, else NULL: start and end marks that the last launch wrote about itself. Synchronises. */
    int (*clock_marks)(void *arena, const struct rl_dims *dims, rl_stream stream, struct rl_clock_mark ret[2]);
    /* Where a launch's output lies: 4-byte elements, *ret_count of them. For tests, which break it to see the check
     * fail. */
    void *(*output)(void *arena, const struct rl_dims *dims, uint64_t *ret_count);
};

/* In the order of rl_units. */
extern const struct rl_unit_ops *const rl_unit_ops[];
const struct rl_unit_ops *rl_unit_ops_find(const char *id);
uint64_t rl_check_scratch_bytes(void);

/* Tools of the measuring program. */
/* Reads bytes (a multiple of 4096) of buffer once, coalesced, and keeps one word so that nothing is optimised away:
 * leaves the L2 full of clean lines. */
int rl_flush_read(const void *buffer, uint64_t bytes, void *sink, rl_stream stream);
/* Fills a buffer with seeded words. */
int rl_fill(void *buffer, uint64_t bytes, uint64_t seed, rl_stream stream);
/* One thread writes clock64, globaltimer and smid to device memory at mark. */
int rl_mark_clock(struct rl_clock_mark *mark, rl_stream stream);
/* A kernel that does nothing: the counter's floor. */
int rl_empty(rl_stream stream);

#ifdef __cplusplus
}
#endif
#endif
