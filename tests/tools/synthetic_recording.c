/* Writes a recording of the tests' model card: invented figures for tests alone, named so in every run made from it. It
 * exists so that the program's tests need neither a GPU nor a recording that was made on one. */
#include <stdio.h>
#include <string.h>

#include "gpu/engine/engine.h"
#include "tests/unit/engine/fake_backend.h"

static int identify(struct gpu_backend *b, struct rl_arena *arena, struct rl_device *ret_device,
                    struct rl_environment *ret_environment, struct rl_err *err)
{
    static const char why[] = "the model card has none";
    (void)b, (void)arena, (void)err;
    *ret_device = (struct rl_device){.id = "GPU-00000000-0000-0000-0000-000000000001",
                                     .uuid = {"GPU-00000000-0000-0000-0000-000000000001", NULL},
                                     .name = "Synthetic model card",
                                     .chip = {"GH100", NULL},
                                     .pci_bus_id = {"00000000:01:00.0", NULL},
                                     .compute_major = {9, NULL},
                                     .compute_minor = {0, NULL},
                                     .sm_count = {132, NULL},
                                     .l2_bytes = {62914560, NULL},
                                     .memory_bytes = {150000000000, NULL},
                                     .memory_bus_bits = {6144, NULL},
                                     .fp32_lanes_per_sm = {128, NULL},
                                     .max_sm_hz = {1980000000, NULL},
                                     .max_memory_hz = {3201000000, NULL},
                                     .warp_size = {32, NULL},
                                     .persisting_l2_bytes = {0, why},
                                     .max_threads_per_sm = {2048, NULL}};
    *ret_environment = (struct rl_environment){.driver_version = {"580.159.04", NULL},
                                               .cuda_driver_version = {"13.0", NULL},
                                               .cuda_runtime_version = {"13.0", NULL},
                                               .cupti_version = {"130001", NULL},
                                               .hostname = {"synthetic", NULL},
                                               .kernel_release = {NULL, why},
                                               .ecc = {true, NULL},
                                               .mig = {"off", NULL},
                                               .power_limit_w = {700, NULL},
                                               .compute_mode = {"default", NULL},
                                               .persistence_mode = {NULL, why},
                                               .profiling_admin_only = {false, NULL},
                                               .build = "synthetic",
                                               .cubin = {"sm_90", NULL},
                                               .method_version = RL_METHOD_VERSION};
    return 0;
}

int main(int argc, char **argv)
{
    struct rl_err err = {.code = RL_E_NONE};
    struct gpu_backend *recorder = NULL;
    struct fake_backend *fake = fake_new();
    struct gpu_backend_ops ops = *fake->base.ops;
    struct engine_request request = {.state = {true, true}, .counters = true};
    int rc = -1;
    if (argc != 2) {
        fprintf(stderr, "usage: synthetic_recording FILE\n");
        return 64;
    }
    ops.identify = identify;
    fake->base.ops = &ops;
    for (size_t i = 0; i < rl_kernel_count; i++)
        request.kernel[i] = true;
    if (gpu_backend_open_recorder(&fake->base, argv[1], &recorder, &err) != 0)
        return rl_err_print("synthetic_recording", &err);
    for (int sizes = 0; sizes < RL_SIZES_COUNT; sizes++) {
        struct rl_run *run = NULL;
        request.sizes = recorder->sizes = (enum rl_sizes)sizes;
        if (engine_run(recorder, &request, NULL, &run, &err) != 0)
            goto out;
        if (run->outcome != RL_OK) {
            rl_fail(&err, RL_E_INTERNAL, NULL, "the model's run is %s", rl_outcome_name(run->outcome));
            for (size_t i = 0; i < run->outcome_reasons.count; i++)
                fprintf(stderr, "  %s\n", run->outcome_reasons.items[i]);
            rl_run_free(run);
            goto out;
        }
        rl_run_free(run);
    }
    rc = gpu_recorder_finish(recorder, &err);
out:
    recorder->ops->close(recorder);
    return rc == 0 ? 0 : rl_err_print("synthetic_recording", &err);
}
