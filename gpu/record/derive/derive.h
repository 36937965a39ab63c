/* Derived values: everything that follows from stored times and counts. Pure; no I/O. */
#ifndef GPU_RECORD_DERIVE_DERIVE_H
#define GPU_RECORD_DERIVE_DERIVE_H

#include "gpu/record/run.h"

/* Thresholds; each is METHOD's rule of that name. */
#define RL_FLOOR_FACTOR          5.0   /* below 5 x the empty range's bytes a count is "at the floor" */
#define RL_SETTLED_SPREADS       3.0   /* a settled value under three spreads of the flush alone is null */
#define RL_STEADY_RATIO          0.01  /* bytes per launch at N and 4 N agree within 1 percent */
#define RL_WRITEBACK_RATIO       1.02  /* cold: settled above dram by 2 percent is a write-back left unpaid */
#define RL_RESIDENT_DRAM_PER_ASK 0.5   /* below half of the ask: the caches served most of it */
#define RL_ACCESS_DRAM_PER_ASK   1.25  /* above: fix the access pattern */
#define RL_ACCESS_L1_PER_ASK     2.0   /* above: fix the access pattern, also where the L2 absorbs the waste */
#define RL_LATENCY_PERCENT       60.0  /* no measured level above: neither memory nor compute binds */
#define RL_AT_CEILING_PERCENT    80.0  /* best level at or above: at the ceiling */
#define RL_ABOVE_ROOF_PERCENT    105.0 /* above it under a roof of its own: counts, time or roof must be wrong */
#define RL_ABOVE_COPY_PERCENT    115.0 /* the same where the copy's roof stands in for a read's or write's */
#define RL_SKEWED_SHARE          0.75  /* of reads or writes among the DRAM bytes: such a row has no copy's mix */
#define RL_FLOP_APART            0.001 /* given and counted flop further apart disagree */
#define RL_FLOP_UNCOUNTED        0.10  /* given above counted by more, with a precision not counted: mix unknown */
#define RL_FLOP_MINOR            0.01  /* FP16 or tensor work below it needs no ceiling of its own */
#define RL_CAUSE_PER_ASK         1.02  /* DRAM/ask above it is attributed; below, counters' own noise is as much */

/* RL_ACCESS_L1_PER_ASK: a warp that uses 4 bytes of each 32-byte sector shows L1 bytes of 8 times the ask; a naive
 * transpose, whose loads or stores alone do, 4.5 (604 MB of 134 asked, and 141 from DRAM, since the L2 holds the lines:
 * H200, 2026-11-29). Halos of the course's stencils, which are no fault of the access pattern, show 1.2 to 1.3. */

/* FP16 instructions that are taken for loads of constants: at most so many a thread (why.def, HALF_CONSTANTS). */
#define RL_HALF_CONSTANTS_A_THREAD 16

/* Bytes that change no printed DRAM/ask (four decimals). A cache-resident kernel moves next to nothing, and what else
 * touches DRAM meanwhile is seen beside it: 512 x 512 matmuls move 12 to 8,000 bytes a launch in 40 runs, of 68 MB and
 * 1.07 GB asked (H200, 2026-11-29). Such a difference is steady, and a warm row with fewer bytes than that is at the
 * floor. */
#define RL_STEADY_ASK 0.0001

/* Fills every derived member of run from its measured ones. A quotient with an unknown part is unknown with that part's
 * reason. Idempotent. Needed: times, bytes, flop, ask bytes, ceilings' work and times, counters' floor and spread.
 *
 * - Ceilings: value = work / median time where both are known and value is not unknown (unknown: withheld by whoever
 *   measured, kept); without them the given value stands. dram_per_ask = dram / work of memory ceilings;
 *   percent_of_nominal.
 * - The run: ridge = fp32_fma / dram_copy, both warm and its own; counter_backed = every state of every row has DRAM
 * bytes (rows that could not be measured have to be in the run for that).
 * - Bytes: dram = dram_read + dram_write where both are known (an import may give only the sum, which is kept);
 *   dram_settled = dram when warm, null under RL_SETTLED_SPREADS when cold.
 * - Rows: dram_per_ask and intensity use dram_settled; rates and percents use dram. intensity.l2 uses l2_sm: the bytes
 *   between SMs and L2, which is what an L2 roof counts. percent_of_ceiling = DRAM rate / dram_copy of that state.
 * - Memory roof: the copy's, or where dram_read, dram_write or dram_triad of that state are known too, that of the
 * row's own share of reads: seconds per byte interpolated linearly between the nearest measured mixes (write 0, copy
 * 1/2, triad 2/3, read 1), the nearest one's beyond the last.
 * - Compute roof: fp32_fma; where flop are counted by precision, total flop over the sum of each precision's flop over
 *   its ceiling (fp64_fma, fp32_fma, fp16_fma; tensor work: the one tensor ceiling that there is). Without a ceiling
 * for one of them it is unknown, FP16 and tensor work below RL_FLOP_MINOR apart; so it is where the given flop are more
 *   than RL_FLOP_UNCOUNTED above those counted and some precision was not counted. L2, L1 and compute roofs have no
 * cold form: one of either state serves both.
 * - Lent roofs (run->lent) stand in where an import has none of their kind. A run that was measured is judged by its
 * own alone; with lent ones it has levels beside the judgement.
 * - flop: rl_flop_used; flagged flop_from_counters (row) where that is the count. flop_disagrees (row):
 *   rl_flop_disagrees. fp32_assumed (row): the compute roof of an import's own kernel whose flop nobody told the
 *   precision of.
 * - attainable = min(compute roof, intensity.dram * memory roof); percent_of_roof = flop rate / attainable, or DRAM
 * rate / memory roof without flop, or in an import without DRAM bytes flop rate / compute roof, attainable and bound
 * then being unknown. With bytes at the floor the intensity is null, but at least flop / (5 x floor): where already
 * that reaches the compute roof, attainable is the compute roof. When warm, bytes below RL_STEADY_ASK of the asked ones
 * are at the floor too, and that share of the ask is the bound.
 * - Flop unknown for RL_WHY_HALF_CONSTANTS (why.def) alone, every other precision counted as 0: where the most that it
 * can be leaves the intensity below the ridge of the FP16 roof (without one, FP32's, which is no higher),
 * percent_of_roof and bound are those of a row without flop. flop_per_s, intensity and attainable stay unknown.
 * - bound: "latency" when no level with a measured roof is above 60 percent of it, else the side of the ridge under the
 *   row's own roofs (attainable below the compute roof: memory). Levels: DRAM, compute, and L2 and L1 where l2_read and
 *   l1_read exist.
 * - above a roof: a level above RL_ABOVE_ROOF_PERCENT of its roof, DRAM above RL_ABOVE_COPY_PERCENT where at least
 *   RL_SKEWED_SHARE of the bytes are reads (writes), or it is not known how many, and no read (write) roof was
 * measured: no advice, flagged above_roof; the percentage is kept.
 * - advice: DRAM/ask > 1.25 or L1/ask > 2: fix_access, which needs no roof; work with flop and no compute roof: none;
 *   else best level >= 80 percent: change_algorithm; else fix_kernel.
 * - explained: sentences. Why DRAM/ask is above RL_CAUSE_PER_ASK, where one of half-used sectors, re-reads and
 * write-back is the greater part of it; which flop are used, where not simply those given; what a percentage is of,
 * where not simply the row's own roof.
 * - flags of a state: cache_resident, at_floor, writeback_unpaid (cold), not_steady (warm: rl_unsteadiness above
 *   RL_STEADY_RATIO), above_ceiling, above_roof, unsettled (imports). Flags of other names are kept.
 * - imports: a profiler counts a launch and nothing after it, so an imported cold row has no settled bytes: dram stands
 *   in their place (rl_dram_owed), flagged unsettled. Mixed rows (cold bytes, warm times) are over the warm ceilings
 *   and have no roof, bound or advice: they are shown, not judged.
 */
void rl_derive(struct rl_run *run);

/* The bytes that dram_per_ask, intensity and the tables' DRAM column are of: dram_settled; in a mixed row, and in a
 * cold row of an import that has no settled bytes, dram. */
struct rl_real rl_dram_owed(const struct rl_run *run, const struct rl_row *row, enum rl_state state);

/* Flop per launch as counted: the sum over the precisions that were counted, else flop_counted. FP16 instructions are
 * left out where the given flop are the rest: compilers load constants by them. */
struct rl_real rl_flop_counted(const struct rl_row *row);
/* Flop per launch that rates and intensities are of: those given; in an import that gives none, those counted. */
struct rl_real rl_flop_used(const struct rl_run *run, const struct rl_row *row);
/* Imports: given and counted flop are more than RL_FLOP_APART apart. (A measured run has a check for it.) */
bool rl_flop_disagrees(const struct rl_run *run, const struct rl_row *row);

/* Gives run those of the roofs in from (which may be of another arena) that it has none of the kind of: DRAM's of a
 * state that it has rows in, L2's, L1's, each precision's. What it was lent before is dropped; nothing that it needs
 * leaves it without. To be derived again. 0, or -1 when memory ran out. */
int rl_lend(struct rl_run *run, const struct rl_lent *from);
/* The value of the ceiling of this name and state that the run's rows are shown under: its own, or in an import the one
 * lent to it; unknown with why_absent. */
struct rl_real rl_roof(const struct rl_run *run, const char *name, enum rl_state state, const char *why_absent);
/* Whether it has no copy roof of a state that it has rows in, or no FMA roof. */
bool rl_lacks_roofs(const struct rl_run *run);

/* How far a warm row's DRAM bytes per launch at N and 4 N launches are apart, relative to the larger: at most
 * RL_STEADY_RATIO is steady. 0 within the counter's floor (RL_FLOOR_FACTOR x floor, per launch), and where the
 * difference is below RL_STEADY_ASK of the asked bytes. NaN when either count is unknown. */
double rl_unsteadiness(const struct rl_run *run, const struct rl_row *row);

#endif
