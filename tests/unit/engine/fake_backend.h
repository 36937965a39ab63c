/* A backend without a card: a small model of one answers every call, members break single answers, and every request is
 * written down so that two runs can be compared. */
#ifndef TESTS_UNIT_ENGINE_FAKE_BACKEND_H
#define TESTS_UNIT_ENGINE_FAKE_BACKEND_H

#include "gpu/backend/backend.h"
#include "gpu/base/buf.h"

#define FAKE_SM_HZ     1.755e9
#define FAKE_MEMORY_HZ 3.2e9
#define FAKE_COPY_RATE 4.27e12
#define FAKE_FMA_RATE  5.8e13
#define FAKE_FLUSH     251659000.0

struct fake_backend {
    struct gpu_backend base;
    struct rl_buf requests; /* one line per call: "warm vector_add v0 s0 n 24 #3" */
    struct gpu_work last_prepared;
    bool prepared_wrong; /* a unit was checked or timed that was not prepared last */
    unsigned cards;      /* card_state calls */

    /* what can be broken; a unit is named by its id, NULL is none */
    const char *wrong_result, *compares_nothing;
    const char *result_words;                /* what result checks say in words; NULL: nothing */
    bool only_says_wrong, only_counts_wrong; /* the wrong result: not passed without a wrong element, or the reverse */
    const char *other_launches;              /* answers one launch more than asked */
    const char *fails_in_warm;               /* with warm_error */
    enum rl_code warm_error;
    const char *fails_in_prepare; /* with prepare_error */
    enum rl_code prepare_error;
    unsigned prepare_fails_from; /* only variants from this one on */
    const char *fails_in_check;  /* with RL_E_OUT_OF_MEMORY */
    const char *bad_time_unit;   /* its samples take bad_time */
    double bad_time;
    double scaling;          /* time of twice the FMA steps over time of the steps; 0: 2 */
    const char *scaled_unit; /* its times are multiplied by time_factor */
    double time_factor;
    double (*hz)(const struct fake_backend *fake, const struct gpu_work *work, enum rl_state state, unsigned sample);
    double (*spin_hz)(unsigned step);
    const char *(*reason)(const char *at); /* an event reason at this moment, or NULL */
    int64_t (*others)(const char *at);     /* other processes at this moment */
    bool blind;                            /* no NVML: the card's state is unknown */
    const char *driver_at_end;
    const char *binary; /* of all units but the driver's memcpy */
    /* counters */
    const char *count_status; /* a session that cannot be had */
    enum rl_code count_error; /* count() itself fails */
    bool all_zero, all_absent;
    const char *absent_dram; /* a unit without DRAM bytes */
    const char *zero_dram;
    double copy_warm, copy_warm_four, copy_cold; /* the copy's bytes over its ask; 0: 1 */
    const char *unsteady;                        /* 4 N moves 1.05 per launch */
    const char *half, *wide; /* units with half instructions that are no flop (constants), or whose flop are FP64 */
    const char *flop_off;    /* counts 1.01 of its flop, or 8 where it has none */
    const char *no_flop;     /* its flop are not counted */
    const char *below_flush; /* its cold range with a flush reads 5000 bytes less than the flush alone */
    double flush_spread;     /* of the flush-only ranges */
    double empty_bytes;
};

struct fake_backend *fake_new(void);

#endif
