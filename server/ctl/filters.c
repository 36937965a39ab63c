/* The filters that runs and export share. */
#include <string.h>

#include "server/ctl/ctl.h"

const struct ctl_option ctl_filter_options[CTL_FILTER_COUNT] = {
    {"sizes", "SIZES", offsetof(struct ctl_filters, sizes),
     "course, scaled or other: imports of sizes of their own (default: all)"},
    {"device", "ID", offsetof(struct ctl_filters, device), "a device's id (default: all)"},
    {"label", "LABEL", offsetof(struct ctl_filters, label), "runs with this label"},
    {"withdrawn", "WHICH", offsetof(struct ctl_filters, withdrawn),
     "false (default), true: withdrawn runs alone, or any"},
    {"driver", "VERSION", offsetof(struct ctl_filters, driver),
     "runs with this driver; unknown: those of which it is not known"},
    {"cuda", "VERSION", offsetof(struct ctl_filters, cuda),
     "runs with this CUDA version; unknown: those of which it is not known"},
    {"suite", "SUITE", offsetof(struct ctl_filters, suite), CTL_SUITES " (default: all)"},
    {"source", "SOURCE", offsetof(struct ctl_filters, source),
     "measured, replayed, imported, measured,imported or any (default: any)"},
    {"counters", "WHICH", offsetof(struct ctl_filters, counters), "counter-backed or timed-only (default: both)"},
    {"outcome", "OUTCOME", offsetof(struct ctl_filters, outcome), "ok, refused, partial or any (default: ok)"},
    {"since", "TIME", offsetof(struct ctl_filters, since), "RFC 3339 or a date, inclusive"},
    {"until", "TIME", offsetof(struct ctl_filters, until), "RFC 3339 or a date, exclusive (default: now)"},
};

void ctl_query_filters(struct rl_buf *path, const struct ctl_filters *filters)
{
    for (size_t i = 0; i < CTL_FILTER_COUNT; i++) {
        const char *value;
        memcpy(&value, (const char *)filters + ctl_filter_options[i].at, sizeof value);
        ctl_query(path, ctl_filter_options[i].name, value);
    }
}
