/* The one list of suites, in the order in which they are shown. A suite that is not here is nowhere. */
#ifndef GPU_SUITES_LIST_H
#define GPU_SUITES_LIST_H

#define RL_SUITES(SUITE)                                                                                               \
    SUITE(verify)                                                                                                      \
    SUITE(import)

#endif
