/* The part of NVML's binary interface that is used here, declared from its documentation (NVML API reference, R580;
 * values are frozen ABI). The driver's own header is neither needed to build nor copied. gpu/node/nvml.c calls through
 * it, and the stand-in library of the tests implements it.
 */
#ifndef GPU_NODE_NVML_ABI_H
#define GPU_NODE_NVML_ABI_H

struct nvml_device; /* opaque: a GPU, or a MIG device */

enum nvml_result {
    NVML_OK = 0,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_IRQ_ISSUE = 11,
    NVML_LIBRARY_NOT_FOUND = 12,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_OPERATING_SYSTEM = 17,
    NVML_LIB_RM_VERSION_MISMATCH = 18,
    NVML_IN_USE = 19,
    NVML_MEMORY = 20,
    NVML_NO_DATA = 21,
    NVML_GPU_NOT_FOUND = 28,
    NVML_UNKNOWN = 999,
};

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };
enum { NVML_TEMPERATURE_GPU = 0 };

/* Clock event reasons (older drivers: throttle reasons). */
#define NVML_REASON_GPU_IDLE            0x1ull
#define NVML_REASON_APPLICATIONS_CLOCKS 0x2ull
#define NVML_REASON_SW_POWER_CAP        0x4ull
#define NVML_REASON_HW_SLOWDOWN         0x8ull
#define NVML_REASON_SYNC_BOOST          0x10ull
#define NVML_REASON_SW_THERMAL          0x20ull
#define NVML_REASON_HW_THERMAL          0x40ull
#define NVML_REASON_HW_POWER_BRAKE      0x80ull
#define NVML_REASON_DISPLAY_CLOCK       0x100ull

/* Field identifiers of nvmlDeviceGetFieldValues. */
#define NVML_FIELD_TOTAL_ENERGY  83u  /* mJ since the driver was loaded */
#define NVML_FIELD_POWER_INSTANT 186u /* mW now; 185 is an average over a second */

enum nvml_value_type {
    NVML_TYPE_DOUBLE = 0,
    NVML_TYPE_UINT = 1,
    NVML_TYPE_ULONG = 2,
    NVML_TYPE_ULLONG = 3,
    NVML_TYPE_LLONG = 4,
    NVML_TYPE_INT = 5,
    NVML_TYPE_USHORT = 6,
};
union nvml_value {
    double as_double;
    int as_int;
    unsigned as_uint;
    unsigned long as_ulong;
    unsigned long long as_ullong;
    long long as_llong;
    unsigned short as_ushort;
};
struct nvml_field {
    unsigned field;
    unsigned scope; /* 0: the GPU alone; 1: the module with its processor */
    long long time_us;
    long long latency_us;
    unsigned type;   /* enum nvml_value_type */
    unsigned result; /* enum nvml_result of this field */
    union nvml_value value;
};
_Static_assert(sizeof(struct nvml_field) == 40, "layout of nvmlFieldValue_t");

struct nvml_pci { /* of nvmlDeviceGetPciInfo_v3 */
    char legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
_Static_assert(sizeof(struct nvml_pci) == 68, "layout of nvmlPciInfo_t");

struct nvml_process { /* of the _v2 and _v3 calls; the unversioned ones have the first two members only */
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};
_Static_assert(sizeof(struct nvml_process) == 24, "layout of nvmlProcessInfo_t");

#endif
