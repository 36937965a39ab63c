/* Devices: what the last probe of each found. */
#ifndef DB_SERIES_DEVICES_H
#define DB_SERIES_DEVICES_H

#include "db/core/store.h"
#include "gpu/record/run.h"

/* Inserts or refreshes what a probe found; can_count is "ok" or an error id with its reason. */
struct store_device {
    const struct rl_device *device;
    const struct rl_environment *environment;
    const char *counters_status;
    const char *counters_why; /* NULL when ok */
    enum rl_source source;
    int64_t checked_at_ms;
    int ordinal; /* PCI order, 0 first */
};
int store_put_device(struct store *store, const struct store_device *device, struct rl_err *err);
/* {"items":[…],"next":null} in PCI order. A device: id, name, ordinal, source, counters{status,why}, checked_at,
 * device{…}, environment{…}; the last two as rl_device_to_json and rl_environment_to_json give them; why is null when
 * status is ok. */
int store_list_devices(struct store *store, struct rl_buf *out, struct rl_err *err);

int store_write_device(struct store *store, const struct store_device *device,
                       struct rl_err *err);                                       /* in a transaction */
int store_device_exists(struct store *store, const char *id, struct rl_err *err); /* 1, 0 or -1 */
/* The name of the device with this word in the series, kept in memory; owned by the store until a device is written. */
int store_device_name(struct store *store, uint32_t word, const char **ret, struct rl_err *err);
void store_forget_device_names(struct store *store);

#endif
