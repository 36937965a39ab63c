/* NVML by dlopen, against stand-ins of the library: whole, old, broken, and answering errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "gpu/node/nvml.h"
#include "tests/unit/node/fake_nvml.h"

#define UUID "GPU-a5dd7f8a-2fbe-62d9-3d2b-3a1ec4e0a7d3"
#define MIGU "MIG-a5dd7f8a-2fbe-62d9-3d2b-3a1ec4e0a7d3"
#define PCI  "00000000:45:00.0"

struct fixture {
    void *library; /* keeps the stand-in, and its settings, loaded */
    struct fake_nvml *fake;
    struct rl_arena *arena;
};

static struct fixture load(const char *path)
{
    struct fixture f = {.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!f.library)
        fail_msg("%s", dlerror());
    fake_nvml_settings_fn settings;
    void *symbol = dlsym(f.library, "fake_nvml_settings");
    assert_non_null(symbol);
    memcpy(&settings, &symbol, sizeof settings);
    f.fake = settings();
    *f.fake = (struct fake_nvml){
        .uuid = UUID,
        .pci = PCI,
        .name = "NVIDIA H200",
        .driver = "580.159.04",
        .ecc = 1,
        .persistence = 1,
        .power_limit_mw = 700000,
        .sm_mhz = 1980,
        .memory_mhz = 3201,
        .max_sm_mhz = 1980,
        .max_memory_mhz = 3201,
        .bus_bits = 6144,
        .celsius = 41,
        .reasons = NVML_REASON_SW_POWER_CAP,
        .power = {.type = NVML_TYPE_UINT, .value.as_uint = 123456},
        .energy = {.type = NVML_TYPE_ULLONG, .value.as_ullong = 98765432100ull},
    };
    f.arena = rl_arena_new(1 << 20);
    assert_non_null(f.arena);
    return f;
}

static void unload(struct fixture *f)
{
    rl_arena_free(f->arena);
    dlclose(f->library);
}

static struct nvml *open_fake(const char *path)
{
    struct nvml *nvml = NULL;
    struct rl_err err = {0};
    if (nvml_open(path, &nvml, &err))
        fail_msg("%s", err.message);
    return nvml;
}

static struct nvml_card find_fake(const struct nvml *nvml, const char *uuid)
{
    struct nvml_card card;
    struct rl_err err = {0};
    if (nvml_find(nvml, uuid, NULL, &card, &err))
        fail_msg("%s", err.message);
    return card;
}

static void a_missing_library_is_no_driver(void **state)
{
    (void)state;
    struct nvml *nvml = NULL;
    struct rl_err err = {0};
    assert_int_equal(nvml_open("libnothing-of-the-kind.so.1", &nvml, &err), -1);
    assert_int_equal(err.code, RL_E_NO_DRIVER);
    assert_non_null(strstr(err.message, "no NVIDIA driver"));
    assert_null(nvml);
}

static void a_library_without_a_required_function_is_named(void **state)
{
    (void)state;
    struct nvml *nvml = NULL;
    struct rl_err err = {0};
    assert_int_equal(nvml_open(FAKE_NVML_BROKEN_PATH, &nvml, &err), -1);
    assert_int_equal(err.code, RL_E_OLD_DRIVER);
    assert_non_null(strstr(err.message, "nvmlDeviceGetHandleByPciBusId_v2"));
}

static void a_failing_start_has_its_code(void **state)
{
    (void)state;
    static const struct {
        int result;
        enum rl_code code;
        const char *words;
    } cases[] = {
        {18, RL_E_DRIVER_MISMATCH, "different versions"},
        {9, RL_E_NO_DRIVER, "not loaded"},
        {4, RL_E_NO_DEVICE, "no permission"},
        {17, RL_E_NO_DEVICE, "cgroup"},
        {12, RL_E_NO_DRIVER, "missing"},
        {999, RL_E_CUDA_FAILED, "(999)"},
        {77, RL_E_CUDA_FAILED, "(77)"}, /* of a later driver */
    };
    struct fixture f = load(FAKE_NVML_PATH);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nvml *nvml = NULL;
        struct rl_err err = {0};
        f.fake->init_result = cases[i].result;
        assert_int_equal(nvml_open(FAKE_NVML_PATH, &nvml, &err), -1);
        assert_int_equal(err.code, cases[i].code);
        if (!strstr(err.message, cases[i].words))
            fail_msg("\"%s\" lacks \"%s\"", err.message, cases[i].words);
    }
    assert_int_equal(f.fake->shutdowns, 0); /* what did not start is not shut down */
    unload(&f);
}

static void a_card_is_found_by_uuid_and_pci(void **state)
{
    (void)state;
    struct fixture f = load(FAKE_NVML_PATH);
    struct nvml *nvml = open_fake(FAKE_NVML_PATH);
    struct nvml_card by_uuid = find_fake(nvml, UUID), by_pci;
    struct rl_err err = {0};
    assert_int_equal(nvml_find(nvml, NULL, PCI, &by_pci, &err), 0);
    assert_ptr_equal(by_uuid.handle, by_pci.handle);
    assert_false(by_uuid.mig);
    assert_string_equal(by_uuid.name, "NVIDIA H200");
    assert_int_equal(nvml_find(nvml, "GPU-00000000-0000-0000-0000-000000000000", NULL, &by_pci, &err), -1);
    assert_int_equal(err.code, RL_E_DEVICE_GONE);
    unsigned count = 0;
    assert_int_equal(nvml_count(nvml, &count, &err), 0);
    assert_int_equal(count, 1);
    nvml_close(nvml);
    assert_int_equal(f.fake->inits, f.fake->shutdowns);
    unload(&f);
}

static void settings_are_read(void **state)
{
    (void)state;
    struct fixture f = load(FAKE_NVML_PATH);
    struct nvml *nvml = open_fake(FAKE_NVML_PATH);
    struct nvml_card card = find_fake(nvml, UUID);
    struct rl_device device = {0};
    struct rl_environment environment = {0};
    nvml_read_device(nvml, &card, f.arena, &device);
    assert_null(device.max_sm_hz.why);
    assert_int_equal(device.max_sm_hz.value, 1980000000);
    assert_int_equal(device.max_memory_hz.value, 3201000000);
    assert_int_equal(device.memory_bus_bits.value, 6144);
    nvml_read_environment(nvml, &card, f.arena, &environment);
    assert_string_equal(environment.driver_version.value, "580.159.04");
    assert_true(environment.ecc.value);
    assert_null(environment.ecc.why);
    assert_string_equal(environment.mig.value, "off");
    assert_true(environment.power_limit_w.value == 700);
    assert_string_equal(environment.compute_mode.value, "default");
    assert_string_equal(environment.persistence_mode.value, "on");
    f.fake->compute_mode = 9;
    f.fake->mig_mode_result = NVML_NOT_SUPPORTED;
    nvml_read_environment(nvml, &card, f.arena, &environment);
    assert_non_null(environment.compute_mode.why);
    assert_string_equal(environment.mig.value, "off");
    nvml_close(nvml);
    unload(&f);
}

static void a_mig_device_answers_through_its_gpu(void **state)
{
    (void)state;
    struct fixture f = load(FAKE_NVML_PATH);
    f.fake->uuid = MIGU;
    f.fake->mig = 1;
    f.fake->mig_mode = 1;
    f.fake->name = "NVIDIA H200 MIG 1g.18gb";
    struct nvml *nvml = open_fake(FAKE_NVML_PATH);
    struct nvml_card card = find_fake(nvml, MIGU);
    struct rl_environment environment = {0};
    struct gpu_card_state got = {0};
    assert_true(card.mig);
    nvml_read_environment(nvml, &card, f.arena, &environment);
    assert_string_equal(environment.mig.value, "1g.18gb");
    nvml_read_state(nvml, &card, f.arena, &got);
    assert_null(got.sm_hz.why);
    f.fake->mig = 0; /* the whole card, partitioned */
    card = find_fake(nvml, MIGU);
    nvml_read_environment(nvml, &card, f.arena, &environment);
    assert_string_equal(environment.mig.value, "on");
    nvml_close(nvml);
    unload(&f);
}

static void the_state_is_in_si_units(void **state)
{
    (void)state;
    struct fixture f = load(FAKE_NVML_PATH);
    struct nvml *nvml = open_fake(FAKE_NVML_PATH);
    struct nvml_card card = find_fake(nvml, UUID);
    struct gpu_card_state got = {0};
    nvml_read_state(nvml, &card, f.arena, &got);
    assert_true(got.sm_hz.value == 1.98e9);
    assert_true(got.memory_hz.value == 3.201e9);
    assert_true(got.temperature_c.value == 41);
    assert_true(got.power_w.value == 123.456);
    assert_true(got.energy_j.value == 98765432.1);
    assert_int_equal(got.reasons.count, 1);
    assert_string_equal(got.reasons.items[0], "SwPowerCap");
    nvml_close(nvml);
    unload(&f);
}

static void an_error_is_a_reason_not_a_zero(void **state)
{
    (void)state;
    struct fixture f = load(FAKE_NVML_PATH);
    struct nvml *nvml = open_fake(FAKE_NVML_PATH);
    struct nvml_card card = find_fake(nvml, UUID);
    struct gpu_card_state got = {0};
    struct rl_environment environment = {0};
    struct rl_device device = {0};
    f.fake->result = NVML_GPU_IS_LOST;
    nvml_read_state(nvml, &card, f.arena, &got);
    nvml_read_environment(nvml, &card, f.arena, &environment);
    nvml_read_device(nvml, &card, f.arena, &device);
    const char *reasons[] = {
        got.sm_hz.why,
        got.memory_hz.why,
        got.temperature_c.why,
        got.power_w.why,
        got.energy_j.why,
        environment.driver_version.why,
        environment.ecc.why,
        environment.power_limit_w.why,
        environment.compute_mode.why,
        environment.persistence_mode.why,
        device.max_sm_hz.why,
        device.max_memory_hz.why,
        device.memory_bus_bits.why,
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (!reasons[i] || !strstr(reasons[i], "fallen off the bus"))
            fail_msg("reason %zu: %s", i, reasons[i] ? reasons[i] : "none");
    assert_int_equal(got.reasons.count, 1);
    assert_string_equal(got.reasons.items[0], "unknown");
    nvml_close(nvml);
    unload(&f);
}

static void an_old_library_lacks_values_with_reasons(void **state)
{
    (void)state;
    struct fixture f = load(FAKE_NVML_OLD_PATH);
    struct nvml *nvml = open_fake(FAKE_NVML_OLD_PATH);
    struct nvml_card card = find_fake(nvml, UUID);
    struct gpu_card_state got = {0};
    struct nvml_pids pids;
    struct rl_err err = {0};
    char version[32];
    nvml_read_state(nvml, &card, f.arena, &got);
    assert_non_null(got.power_w.why);
    assert_non_null(strstr(got.power_w.why, "no such function"));
    assert_string_equal(got.reasons.items[0], "SwPowerCap"); /* by its older name */
    assert_int_equal(nvml_driver_version(nvml, version, sizeof version, &err), -1);
    assert_int_equal(err.code, RL_E_OLD_DRIVER);
    assert_int_equal(nvml_processes(nvml, &card, &pids, &err), -1);
    assert_int_equal(nvml_find(nvml, NULL, PCI, &card, &err), 0);
    nvml_close(nvml);
    unload(&f);
}

static void every_reason_bit_has_its_name(void **state)
{
    (void)state;
    static const char *const names[] = {
        "GpuIdle",           "ApplicationsClocksSetting", "SwPowerCap",           "HwSlowdown",          "SyncBoost",
        "SwThermalSlowdown", "HwThermalSlowdown",         "HwPowerBrakeSlowdown", "DisplayClockSetting",
    };
    struct rl_arena *arena = rl_arena_new(1 << 16);
    struct rl_strings list = {0};
    assert_int_equal(nvml_reason_names(0x1ff, arena, &list), 0);
    assert_int_equal(list.count, 9);
    for (size_t i = 0; i < 9; i++)
        assert_string_equal(list.items[i], names[i]);
    assert_int_equal(nvml_reason_names(0, arena, &list), 0);
    assert_int_equal(list.count, 0);
    assert_int_equal(nvml_reason_names(0x8000000000000204ull, arena, &list), 0);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[0], "SwPowerCap");
    assert_string_equal(list.items[1], "Reason0x200");
    assert_string_equal(list.items[2], "Reason0x8000000000000000");
    rl_arena_free(arena);
}

static void a_field_is_read_by_its_type(void **state)
{
    (void)state;
    struct rl_arena *arena = rl_arena_new(1 << 16);
    const struct nvml_field good[] = {
        {.type = NVML_TYPE_DOUBLE, .value.as_double = 5}, {.type = NVML_TYPE_UINT, .value.as_uint = 5},
        {.type = NVML_TYPE_ULONG, .value.as_ulong = 5},   {.type = NVML_TYPE_ULLONG, .value.as_ullong = 5},
        {.type = NVML_TYPE_LLONG, .value.as_llong = 5},   {.type = NVML_TYPE_INT, .value.as_int = 5},
        {.type = NVML_TYPE_USHORT, .value.as_ushort = 5},
    };
    const struct nvml_field bad[] = {
        {.type = NVML_TYPE_INT, .value.as_int = -5},
        {.type = NVML_TYPE_DOUBLE, .value.as_double = (double)__builtin_nan("")},
        {.type = NVML_TYPE_ULLONG, .value.as_ullong = ~0ull},
        {.type = 7, .value.as_uint = 5},
        {.type = NVML_TYPE_UINT, .result = NVML_NOT_SUPPORTED, .value.as_uint = 5},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct rl_real value = nvml_field_number(&good[i], "field", arena);
        assert_null(value.why);
        assert_true(value.value == 5);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(nvml_field_number(&bad[i], "field", arena).why);
    rl_arena_free(arena);
}

static void processes_are_counted_once(void **state)
{
    (void)state;
    struct fixture f = load(FAKE_NVML_PATH);
    struct nvml *nvml = open_fake(FAKE_NVML_PATH);
    struct nvml_card card = find_fake(nvml, UUID);
    struct nvml_pids pids;
    struct rl_err err = {0};
    f.fake->compute_count = 2;
    f.fake->compute_pids[0] = 10;
    f.fake->compute_pids[1] = 11;
    f.fake->graphics_count = 2;
    f.fake->graphics_pids[0] = 11;
    f.fake->graphics_pids[1] = 12;
    assert_int_equal(nvml_processes(nvml, &card, &pids, &err), 0);
    assert_int_equal(pids.count, 3);
    f.fake->graphics_result = NVML_NOT_SUPPORTED;
    assert_int_equal(nvml_processes(nvml, &card, &pids, &err), 0);
    assert_int_equal(pids.count, 2);
    f.fake->graphics_result = NVML_NO_PERMISSION;
    assert_int_equal(nvml_processes(nvml, &card, &pids, &err), -1);
    f.fake->graphics_result = 0;
    f.fake->compute_count = NVML_PIDS_MAX + 1;
    assert_int_equal(nvml_processes(nvml, &card, &pids, &err), -1);
    assert_non_null(strstr(err.message, "more than there was room for"));
    nvml_close(nvml);
    unload(&f);
}

/* A driver that is replaced under a running process: the soname leads to another file. */
static void a_replaced_library_is_seen(void **state)
{
    (void)state;
    char directory[] = "/tmp/test_nvml.XXXXXX", link[64], old[96], new[96], version[32];
    assert_non_null(mkdtemp(directory));
    snprintf(link, sizeof link, "%s/libnvidia-ml.so.1", directory);
    snprintf(old, sizeof old, "%s/libnvidia-ml.so.580.159.04", directory);
    snprintf(new, sizeof new, "%s/libnvidia-ml.so.590.10", directory);
    assert_int_equal(symlink(FAKE_NVML_PATH, new), 0);
    assert_int_equal(symlink(FAKE_NVML_PATH, old), 0);
    assert_int_equal(symlink(FAKE_NVML_PATH, link), 0);
    struct nvml *nvml = open_fake(link);
    assert_null(nvml_file_version_at_open(nvml)); /* the stand-in's own name has no version */
    assert_int_equal(nvml_file_version(nvml, version, sizeof version), -1);
    nvml_close(nvml);

    /* hard copies, so that the name at the end of the links has the version */
    char bytes[512];
    FILE *from = fopen(FAKE_NVML_PATH, "rbe"), *to;
    assert_non_null(from);
    unlink(old);
    unlink(new);
    unlink(link);
    to = fopen(old, "wbe");
    assert_non_null(to);
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, from)) > 0;)
        assert_int_equal(fwrite(bytes, 1, got, to), got);
    fclose(from);
    fclose(to);
    to = fopen(new, "wbe");
    assert_non_null(to);
    fclose(to);
    assert_int_equal(symlink(old, link), 0);
    nvml = open_fake(link);
    assert_string_equal(nvml_file_version_at_open(nvml), "580.159.04");
    unlink(link);
    assert_int_equal(symlink(new, link), 0);
    assert_int_equal(nvml_file_version(nvml, version, sizeof version), 0);
    assert_string_equal(version, "590.10");
    nvml_close(nvml);
    unlink(link);
    unlink(old);
    unlink(new);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_library_is_no_driver),
        cmocka_unit_test(a_library_without_a_required_function_is_named),
        cmocka_unit_test(a_failing_start_has_its_code),
        cmocka_unit_test(a_card_is_found_by_uuid_and_pci),
        cmocka_unit_test(settings_are_read),
        cmocka_unit_test(a_mig_device_answers_through_its_gpu),
        cmocka_unit_test(the_state_is_in_si_units),
        cmocka_unit_test(an_error_is_a_reason_not_a_zero),
        cmocka_unit_test(an_old_library_lacks_values_with_reasons),
        cmocka_unit_test(every_reason_bit_has_its_name),
        cmocka_unit_test(a_field_is_read_by_its_type),
        cmocka_unit_test(processes_are_counted_once),
        cmocka_unit_test(a_replaced_library_is_seen),
    };
    return cmocka_run_group_tests_name("nvml", tests, NULL, NULL);
}
