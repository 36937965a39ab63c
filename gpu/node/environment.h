/* What the operating system tells about the node and the driver's settings; no CUDA, no NVML. */
#ifndef GPU_NODE_ENVIRONMENT_H
#define GPU_NODE_ENVIRONMENT_H

#include <stddef.h>

#include "gpu/base/buf.h"
#include "gpu/record/run.h"

/* RmProfilingAdminOnly in the text of the driver's parameter file (/proc/driver/nvidia/params, lines "Name: value"):
 * true when only an administrator may read performance counters. Unknown, with the reason, when the text is NULL, lacks
 * the line or has it with anything but 0 or 1. Pure. */
struct rl_flag3 environment_admin_only(const char *params);

/* Fills hostname, kernel_release and profiling_admin_only; nothing else. Strings live in arena. */
void environment_read(struct rl_arena *arena, struct rl_environment *ret);

/* The version of the loaded kernel module (/sys/module/nvidia/version), "580.159.04". 0 or -1. */
int environment_module_version(char *text, size_t size);

#endif
