/* Derived values: everything that follows from stored times and counts. Pure; no I/O. */
#ifndef RL_DERIVE_H
#define RL_DERIVE_H

#include "record/record.h"

/* Thresholds; each is METHOD's rule of that name. */
#define RL_FLOOR_FACTOR          5.0  /* below 5 x the empty range's bytes a count is "at the floor" */
#define RL_SETTLED_SPREADS       3.0  /* a settled value under three spreads of the flush alone is null */
#define RL_STEADY_RATIO          0.01 /* bytes per launch at N and 4 N agree within 1 percent */
#define RL_WRITEBACK_RATIO       1.02 /* cold: settled above dram by 2 percent is a write-back left unpaid */
#define RL_RESIDENT_DRAM_PER_ASK 0.5  /* below half of the ask: the caches served most of it */
#define RL_ACCESS_DRAM_PER_ASK   1.25 /* above: fix the access pattern */
#define RL_ACCESS_L1_PER_ASK     2.0  /* above: fix the access pattern, also where the L2 absorbs the waste */
#define RL_LATENCY_PERCENT       60.0 /* no measured level above: neither memory nor compute binds */
#define RL_AT_CEILING_PERCENT    80.0 /* best level at or above: at the ceiling */

/* RL_ACCESS_L1_PER_ASK: a warp that uses 4 bytes of each 32-byte sector shows L1 bytes of 8 times the ask; a naive
 * transpose, whose loads or stores alone do, 4.5 (604 MB of 134 asked, and 141 from DRAM, since the L2 holds the lines:
 * H200, 2026-11-29). Halos of the course's stencils, which are no fault of the access pattern, show 1.2 to 1.3. */

/* The reason of settled bytes too small to tell, by which rl_derive knows again that they are next to nothing: whoever
 * makes such a value unknown before (a difference below 0 cannot stand in a record) uses these words. */
#define RL_WHY_SETTLED "the settled bytes are below three spreads of the flush alone"

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
 * - The run: ridge = fp32_fma / dram_copy, both warm; counter_backed = every state of every row has DRAM bytes (rows
 *   that could not be measured have to be in the run for that).
 * - Bytes: dram = dram_read + dram_write where both are known (an import may give only the sum, which is kept);
 *   dram_settled = dram when warm, null under RL_SETTLED_SPREADS when cold.
 * - Rows: dram_per_ask and intensity use dram_settled; rates and percents use dram. intensity.l2 uses l2_sm: the bytes
 *   between SMs and L2, which is what an L2 roof counts. percent_of_ceiling = DRAM rate / dram_copy of that state.
 * - Memory roof: the copy's, or where dram_read, dram_write or dram_triad of that state are known too, that of the
 * row's own share of reads: seconds per byte interpolated linearly between the nearest measured mixes (write 0, copy
 * 1/2, triad 2/3, read 1), the nearest one's beyond the last.
 * - attainable = min(fp32_fma, intensity.dram * memory roof); percent_of_roof = flop rate / attainable, or DRAM rate /
 *   memory roof without flop. With bytes at the floor the intensity is null, but at least flop / (5 x floor): where
 *   already that reaches the FMA ceiling, attainable is the FMA ceiling. When warm, bytes below RL_STEADY_ASK of the
 *   asked ones are at the floor too, and that share of the ask is the bound.
 * - bound: "latency" when no level with a measured roof is above 60 percent of it, else the side of the ridge under the
 *   row's own memory roof (attainable below fp32_fma: memory). Levels: DRAM, compute, and L2 and L1 where l2_read and
 *   l1_read exist.
 * - advice: DRAM/ask > 1.25 or L1/ask > 2: fix_access; else best level >= 80 percent: change_algorithm; else
 * fix_kernel.
 * - flags of a state: cache_resident, at_floor, writeback_unpaid (cold), not_steady (warm: rl_unsteadiness above
 *   RL_STEADY_RATIO), above_ceiling, unsettled (imports). Flags of other names are kept.
 * - imports: a profiler counts a launch and nothing after it, so an imported cold row has no settled bytes: dram stands
 *   in their place (rl_dram_owed), flagged unsettled. Mixed rows (cold bytes, warm times) are over the warm ceilings
 * and have no roof, bound or advice: they are shown, not judged.
 */
void rl_derive(struct rl_run *run);

/* The bytes that dram_per_ask, intensity and the tables' DRAM column are of: dram_settled; in a mixed row, and in a
 * cold row of an import that has no settled bytes, dram. */
struct rl_real rl_dram_owed(const struct rl_run *run, const struct rl_row *row, enum rl_state state);

/* How far a warm row's DRAM bytes per launch at N and 4 N launches are apart, relative to the larger: at most
 * RL_STEADY_RATIO is steady. 0 within the counter's floor (RL_FLOOR_FACTOR x floor, per launch), and where the
 * difference is below RL_STEADY_ASK of the asked bytes. NaN when either count is unknown. */
double rl_unsteadiness(const struct rl_run *run, const struct rl_row *row);

#endif
