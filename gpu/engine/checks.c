/* The run's checks by name. Each is a function of its own that looks at what the run found and can fail. */
#include "gpu/engine/checks.h"

#include <math.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/engine/card.h"
#include "gpu/engine/tell.h"
#include "gpu/engine/unit.h"
#include "gpu/record/derive/derive.h"

/* A polynomial above the FMA ceiling would be a loop that was cut short; 1 percent for the clock's own movement. */
#define ABOVE_CEILING 1.01
/* The copy ceiling has to reach what cudaMemcpy reaches on the same card in the same run. */
#define COPY_OVER_MEMCPY 0.995

static const struct rl_flag3 PASSED = {true, NULL}, FAILED = {false, NULL};

static struct rl_flag3 unknown(const char *why)
{
    return (struct rl_flag3){false, why};
}

static void add(struct engine *e, const char *name, const char *title, bool refuses, struct rl_flag3 passed,
                const char *detail)
{
    struct rl_check *check = &e->run->checks[e->run->check_count++];

    *check = (struct rl_check){.name = name, .title = title, .passed = passed, .detail = detail, .refuses = refuses};
    engine_log(e, "check %-28s %s  %s", name,
               passed.why     ? "unknown"
               : passed.value ? "passed "
                              : "FAILED ",
               passed.why ? passed.why : detail);
}

static void add_unknown(struct engine *e, const char *name, const char *title, bool refuses, const char *why)
{
    add(e, name, title, refuses, unknown(why), "nothing to compare");
}

/* Why there are no trustworthy counts; NULL when there are. */
static const char *no_counts(const struct engine *e)
{
    const struct rl_counters *counters = &e->run->counters;

    return strcmp(counters->status, "ok") == 0 ? NULL : counters->why.value;
}

/* ---- results ---- */

/* A backend's own words hold the figures too: then they are said once. Where its words and its figures may differ (a
 * check that compared nothing, or that says both right and wrong) the figures that were judged stand before them. */
static const char *result_detail(struct engine *e, const struct gpu_result *result)
{
    bool agree = result->passed == (result->wrong == 0) && result->compared_device + result->compared_host > 0;

    if (agree && result->detail[0])
        return engine_say(e, "%s%s", result->passed ? "0 wrong: " : "", result->detail);
    return engine_say(
        e, "%llu wrong of %llu compared on the device and %llu on the host, worst error %.3g of its tolerance%s%s",
        (unsigned long long)result->wrong, (unsigned long long)result->compared_device,
        (unsigned long long)result->compared_host, result->worst, result->detail[0] ? ": " : "", result->detail);
}

static void result_names(struct engine *e, const struct engine_unit *unit, const char **ret_name,
                         const char **ret_title)
{
    const char *id = unit->unit->id;

    if (strcmp(id, "dram_copy") == 0) {
        *ret_name = "copy_bit_for_bit";
        *ret_title = "the copy ceiling's output equals its input bit for bit";
    } else if (strcmp(id, "fp32_fma") == 0) {
        *ret_name = "fma_host_recurrence";
        *ret_title = "the FMA chain ends where the same recurrence ends on the host";
    } else {
        *ret_name = engine_say(e, "result_%s", id);
        *ret_title =
            engine_say(e, "the output of %s equals an independent computation within its tolerance", unit->unit->title);
    }
}

static void check_results(struct engine *e)
{
    for (size_t i = 0; i < rl_unit_count; i++) {
        const struct engine_unit *unit = &e->units[i];
        const struct gpu_result *result = &unit->result;
        const char *name, *title;

        if (!unit->asked)
            continue;
        result_names(e, unit, &name, &title);
        if (!unit->checked) {
            add_unknown(e, name, title, true, unit->unchecked_why);
            continue;
        }
        add(e, name, title, true, engine_result_is_right(result) ? PASSED : FAILED, result_detail(e, result));
    }
}

/* ---- ceilings ---- */

static void check_fma_scaling(struct engine *e)
{
    const char *name = "fma_scaling", *title = "twice the FMA steps take twice the time within 5 percent";

    if (!e->scaling.made) {
        add_unknown(e, name, title, false, e->scaling.why);
        return;
    }
    add(e, name, title, false, fabs(e->scaling.ratio / 2 - 1) <= ENGINE_SCALING ? PASSED : FAILED,
        engine_say(e, "twice the steps took %.4f times the time", e->scaling.ratio));
}

static void check_copy_reaches_memcpy(struct engine *e)
{
    const char *name = "copy_reaches_memcpy",
               *title = "the copy ceiling reaches 0.995 of cudaMemcpy from device to device";
    const struct rl_ceiling *copy = rl_run_ceiling(e->run, "dram_copy", RL_WARM);
    const struct rl_ceiling *memcpy_ceiling = rl_run_ceiling(e->run, "dram_memcpy", RL_WARM);
    double ratio;

    if (!copy || !memcpy_ceiling || copy->value.why || memcpy_ceiling->value.why) {
        add_unknown(e, name, title, false, "one of the two was not measured");
        return;
    }
    ratio = copy->value.value / memcpy_ceiling->value.value;
    add(e, name, title, false, ratio >= COPY_OVER_MEMCPY ? PASSED : FAILED,
        engine_say(e, "copy %.1f GB/s, cudaMemcpy %.1f GB/s, ratio %.4f", copy->value.value / 1e9,
                   memcpy_ceiling->value.value / 1e9, ratio));
}

/* Three things that a shortened loop cannot all pass: the result, the counted flop, and a rate that the card has. */
static void check_polynomial(struct engine *e)
{
    const char *name = "polynomial_not_shortened";
    const char *title = "the polynomial's loop ran whole: result, counted flop and a rate within the FMA ceiling";
    const struct engine_unit *unit = engine_unit_find(e, "polynomial256");
    const struct rl_ceiling *fma = rl_run_ceiling(e->run, "fp32_fma", RL_WARM);
    double rate = 0, share, counted = 1;
    bool has_rate, has_count;

    if (!unit || !unit->row)
        return; /* not asked for */
    for (enum rl_state state = 0; state < RL_STATE_COUNT; state++) {
        const struct rl_row_state *row = &unit->row->state[state];

        if (row->present && rl_is_known(row->time_s.median))
            rate = fmax(rate, (double)unit->row->flop.value / row->time_s.median.value);
    }
    has_rate = rate > 0 && fma && rl_is_known(fma->value);
    has_count = rl_is_known(unit->row->flop_counted);
    if (!unit->checked || (!has_rate && !has_count)) {
        add_unknown(e, name, title, true,
                    unit->checked ? "neither an FMA ceiling nor counted flop bounds the loop" : unit->unchecked_why);
        return;
    }
    share = has_rate ? rate / fma->value.value : 0;
    if (has_count)
        counted = unit->row->flop_counted.value / (double)unit->row->flop.value;
    add(e, name, title, true,
        engine_result_is_right(&unit->result) && share <= ABOVE_CEILING && fabs(counted - 1) <= ENGINE_FLOP_TOLERANCE
            ? PASSED
            : FAILED,
        engine_say(e, "result %s; %s; %s", engine_result_is_right(&unit->result) ? "right" : "wrong",
                   has_rate ? engine_say(e, "rate %.4f of the FMA ceiling", share)
                            : "no FMA ceiling to compare the rate with",
                   has_count ? engine_say(e, "counted flop %.5f of the hand count", counted) : "flop not counted"));
}

/* ---- counters ---- */

static void check_dram_rows(struct engine *e)
{
    const char *name = "every_kernel_has_dram_row",
               *title = "every kernel has DRAM bytes in every state that was asked for";
    const char *missing = NULL, *why = no_counts(e);
    unsigned rows = 0, absent = 0;

    if (why) {
        add_unknown(e, name, title, false, why);
        return;
    }
    for (size_t i = 0; i < e->run->row_count; i++)
        for (enum rl_state state = 0; state < RL_STATE_COUNT; state++) {
            const struct rl_row *row = &e->run->rows[i];

            if (!row->state[state].present)
                continue;
            rows++;
            if (rl_is_known(row->state[state].bytes.dram_read) && rl_is_known(row->state[state].bytes.dram_write))
                continue;
            if (absent++ == 0)
                missing = engine_say(e, "%s %s", row->kernel, rl_state_name(state));
        }
    add(e, name, title, false, absent == 0 ? PASSED : FAILED,
        absent      ? engine_say(e, "%u of %u row%s %s no DRAM bytes, first %s", absent, rows, rl_plural(rows),
                            absent == 1 ? "has" : "have", missing)
        : rows == 1 ? "the one row has DRAM bytes"
                    : engine_say(e, "all of %u rows have DRAM bytes", rows));
}

static void check_self_test(struct engine *e)
{
    const char *name = "counters_self_test", *title = "the counters read the warm copy of known bytes within 1 percent";
    const struct rl_counters *counters = &e->run->counters;
    bool unreliable = strcmp(counters->status, rl_code_id(RL_E_COUNTERS_UNRELIABLE)) == 0;

    if (unreliable)
        add(e, name, title, false, FAILED, counters->why.value);
    else if (no_counts(e))
        add_unknown(e, name, title, false, no_counts(e));
    else
        add(e, name, title, false, fabs(counters->self_test.value - 1) <= ENGINE_SELF_TEST ? PASSED : FAILED,
            engine_say(e, "counted DRAM bytes are %.5f of the bytes copied", counters->self_test.value));
}

static void check_copy_streams(struct engine *e)
{
    const char *name = "copy_streams_dram";
    const char *title = "the copy's DRAM bytes equal its asked bytes within 1 percent: warm, four times as long, and "
                        "cold with its write-back";
    const struct rl_real seen[] = {e->copy_counted.warm, e->copy_counted.warm_four, e->copy_counted.cold};
    static const char *const words[] = {"warm", "warm at 4 N", "cold settled"};
    const char *detail = NULL;
    bool good = true;

    /* the raw counts, also where the self-test has thrown them out of the columns: this is the evidence */
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        if (seen[i].why)
            continue;
        good = good && fabs(seen[i].value - 1) <= ENGINE_SELF_TEST;
        detail = engine_say(e, "%s%s%s %.5f", detail ? detail : "", detail ? ", " : "", words[i], seen[i].value);
    }
    if (!detail)
        add_unknown(e, name, title, false, seen[0].why);
    else
        add(e, name, title, false, good ? PASSED : FAILED, engine_say(e, "DRAM over asked bytes: %s", detail));
}

static void check_flop(struct engine *e)
{
    const char *name = "flop_counted_equals_hand",
               *title = "counted flop equal the hand count within 0.1 percent on every row";
    const struct rl_row *worst = NULL, *uncounted = NULL;
    double worst_off = -1;

    for (size_t i = 0; i < e->run->row_count; i++) {
        const struct rl_row *row = &e->run->rows[i];
        double hand = (double)row->flop.value, off;

        if (row->flop_counted.why) {
            uncounted = uncounted ? uncounted : row;
            continue;
        }
        if (row->flop.value == 0) /* no flop by hand allows none by count */
            off = row->flop_counted.value == 0 ? 0 : INFINITY;
        else
            off = fabs(row->flop_counted.value / hand - 1);
        if (off > worst_off) {
            worst_off = off;
            worst = row;
        }
    }
    if (worst && (worst_off > ENGINE_FLOP_TOLERANCE || !uncounted))
        add(e, name, title, false, worst_off <= ENGINE_FLOP_TOLERANCE ? PASSED : FAILED,
            engine_say(e, "farthest is %s: counted %.0f, by hand %lld", worst->kernel, worst->flop_counted.value,
                       (long long)worst->flop.value));
    else
        add_unknown(e, name, title, false,
                    uncounted ? engine_say(e, "%s: %s", uncounted->kernel, uncounted->flop_counted.why) : "no row");
}

static void check_steady(struct engine *e)
{
    const char *name = "steady";
    const char *title = "warm DRAM bytes per launch at N and 4 N launches agree within 1 percent, the counter's floor "
                        "or 0.0001 of the asked bytes";
    const struct rl_row *worst = NULL;
    const char *missing = NULL;
    double worst_off = -1;

    for (size_t i = 0; i < e->run->row_count; i++) {
        const struct rl_row *row = &e->run->rows[i];
        const struct rl_bytes *bytes = &row->state[RL_WARM].bytes;

        if (!row->state[RL_WARM].present)
            continue;
        if (bytes->dram.why || bytes->dram_4n.why) {
            missing =
                missing ? missing
                        : engine_say(e, "%s: %s", row->kernel, bytes->dram.why ? bytes->dram.why : bytes->dram_4n.why);
            continue;
        }
        if (rl_unsteadiness(e->run, row) > worst_off) {
            worst_off = rl_unsteadiness(e->run, row);
            worst = row;
        }
    }
    if (!worst || (missing && worst_off <= RL_STEADY_RATIO))
        add_unknown(e, name, title, false, missing ? missing : "no warm row was asked for");
    else
        add(e, name, title, false, worst_off <= RL_STEADY_RATIO ? PASSED : FAILED,
            engine_say(e, "farthest is %s: %.0f bytes per launch at N, %.0f at 4 N", worst->kernel,
                       worst->state[RL_WARM].bytes.dram.value, worst->state[RL_WARM].bytes.dram_4n.value));
}

/* ---- the machine ---- */

static void check_driver(struct engine *e)
{
    const char *name = "driver_unchanged", *title = "the driver at the end is the driver of the start";
    const struct rl_text *before = &e->run->environment.driver_version, *after = &e->driver_at_end;

    if (!before->value || !after->value) {
        add_unknown(e, name, title, false,
                    engine_say(e, "no driver version: %s", !before->value && before->why ? before->why : after->why));
        return;
    }
    if (strcmp(before->value, after->value) != 0)
        engine_flag(e, &e->run->flags, "driver_changed", NULL);
    add(e, name, title, false, strcmp(before->value, after->value) == 0 ? PASSED : FAILED,
        engine_say(e, "%s at the start, %s at the end", before->value, after->value));
}

struct flagged { /* rows and ceilings with a flag */
    unsigned count, total;
    const char *first;                /* "none" where count is 0 */
    const struct rl_strings *reasons; /* event reasons of the first; NULL where count is 0 */
};

static void look_at(struct flagged *found, const char *name, const struct rl_strings *flags, const char *flag,
                    const struct rl_strings *reasons)
{
    found->total++;
    if (!rl_strings_has(flags, flag) || found->count++ > 0)
        return;
    found->first = name;
    found->reasons = reasons;
}

static struct flagged find_flagged(const struct engine *e, const char *flag)
{
    const struct rl_run *run = e->run;
    struct flagged found = {.first = "none"};

    for (size_t i = 0; i < run->ceiling_count; i++)
        look_at(&found, run->ceilings[i].name, &run->ceilings[i].flags, flag, &run->ceilings[i].reasons);
    for (size_t i = 0; i < run->row_count; i++)
        for (enum rl_state state = 0; state < RL_STATE_COUNT; state++) {
            const struct rl_row_state *row = &run->rows[i].state[state];

            if (row->present)
                look_at(&found, run->rows[i].kernel, &row->flags, flag, &row->reasons);
        }
    return found;
}

static void check_clock(struct engine *e)
{
    const char *name = "clock_steady";
    const char *title = "the SM clock was steady after warm-up and moved by at most 1 percent beyond its noise within "
                        "each row";
    struct flagged moved = find_flagged(e, "clock_moved");

    if (e->spin.hz <= 0 && moved.count == 0) {
        add_unknown(e, name, title, false, "no clock was seen while the card warmed up");
        return;
    }
    add(e, name, title, false, e->spin.steady && moved.count == 0 ? PASSED : FAILED,
        engine_say(e, "%s after %u spins, last %.0f MHz; moved within %u of %u rows and ceilings%s%s",
                   e->spin.steady ? "steady" : "never steady", e->spin.steps, e->spin.hz / 1e6, moved.count,
                   moved.total, moved.count ? ", first " : "", moved.count ? moved.first : ""));
}

static void check_shared(struct engine *e)
{
    const char *name = "not_shared", *title = "no other process was on the GPU before, during or after the run";
    const char *why = "nothing was asked", *at = NULL;
    int64_t most = 0;
    unsigned looks = 0;

    for (size_t i = 0; i < e->run->telemetry_count; i++) {
        const struct rl_telemetry *entry = &e->run->telemetry[i];

        if (entry->other_processes.why) {
            why = entry->other_processes.why;
            continue;
        }
        looks++;
        if (entry->other_processes.value > most) {
            most = entry->other_processes.value;
            at = entry->at;
        }
    }
    if (most == 0 && (looks == 0 || e->not_alone)) {
        add_unknown(e, name, title, false, looks == 0 ? why : e->not_alone);
        return;
    }
    if (most > 0)
        engine_flag(e, &e->run->flags, "shared", NULL);
    add(e, name, title, false, most == 0 ? PASSED : FAILED,
        most ? engine_say(e, "%lld other process%s at \"%s\"", (long long)most, most == 1 ? "" : "es", at)
             : engine_say(e, "none in %u look%s", looks, rl_plural(looks)));
}

static void check_throttled(struct engine *e)
{
    const char *name = "not_throttled",
               *title = "no thermal, power or slowdown reason held the clocks down around any row";
    struct flagged held = find_flagged(e, "throttled");
    const char *reason = "a reason";
    bool any_state = false;

    /* a backend that cannot read the reasons answers the one word "unknown" */
    for (size_t i = 0; i < e->run->telemetry_count; i++)
        any_state = any_state || !rl_strings_has(&e->run->telemetry[i].reasons, "unknown");
    if (!any_state) {
        add_unknown(e, name, title, false, "the clocks' event reasons could not be read");
        return;
    }
    for (size_t i = 0; held.reasons && i < held.reasons->count; i++)
        if (engine_reason_throttles(held.reasons->items[i]))
            reason = held.reasons->items[i];
    if (held.count > 0)
        engine_flag(e, &e->run->flags, "throttled", NULL);
    add(e, name, title, false, held.count == 0 ? PASSED : FAILED,
        held.count ? engine_say(e, "%u of %u rows and ceilings were held down, first %s by %s", held.count, held.total,
                                held.first, reason)
                   : engine_say(e, "none around %u rows and ceilings", held.total));
}

/* ---- all ---- */

int engine_checks(struct engine *e, struct rl_err *err)
{
    check_results(e);
    check_fma_scaling(e);
    check_copy_reaches_memcpy(e);
    check_polynomial(e);
    check_dram_rows(e);
    check_self_test(e);
    check_copy_streams(e);
    check_flop(e);
    check_driver(e);
    check_steady(e);
    check_clock(e);
    check_shared(e);
    check_throttled(e);
    return e->memory_failed ? rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the run's checks") : 0;
}
