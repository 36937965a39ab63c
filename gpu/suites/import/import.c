/* Runs that were imported: rows of any program's kernels, in the form of a verification. No job asks for one. */
#include "gpu/record/derive/derive.h"
#include "gpu/suites/verify/verify.h"

extern const struct rl_suite rl_suite_import;
const struct rl_suite rl_suite_import = {
    .name = "import",
    .title = "Import",
    .help = "Kernels of other programs from Nsight Compute's counts and timings, placed under a measured roof.",
    .method_version = RL_METHOD_VERSION,
    .submittable = false,
    .metrics = verify_metrics,
    .metric_count = VERIFY_METRICS,
    .document = &rl_object_run,
    .derive = rl_derive,
    .check = verify_check,
    .times = verify_times,
    .points = verify_points,
};
