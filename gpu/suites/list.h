/* The one list of suites, in the order in which they are shown. A suite that is not here is nowhere. MEASURED ones have
 * a measuring half and can be asked for by a job; RESULT ones describe runs that come to be in other ways. */
#ifndef GPU_SUITES_LIST_H
#define GPU_SUITES_LIST_H

#define RL_SUITES(MEASURED, RESULT)                                                                                    \
    MEASURED(verify)                                                                                                   \
    RESULT(import)

#endif
