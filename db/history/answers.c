/* What the answers of history share: which days, and how days, devices and versions are written. */
#include "db/history/answers.h"

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/rows/trend_day.h"
#include "gpu/base/time.h"

int store_days_asked(int64_t since_ms, int64_t until_ms, int64_t now_ms, struct days *ret, struct rl_err *err)
{
    struct days days = {.until = rl_time_day(until_ms != 0 ? until_ms - 1 : now_ms) + 1};

    if (until_ms == 0 && since_ms != 0 && rl_time_day(since_ms) >= days.until)
        days.until = rl_time_day(since_ms) + 1;
    days.since = since_ms != 0 ? rl_time_day(since_ms) : days.until - STORE_HISTORY_DAYS_DEFAULT;
    if (days.since >= days.until)
        return rl_fail(err, RL_E_BAD_FIELD, "until", "until is not after since");
    if (days.until - days.since > STORE_HISTORY_DAYS_MAX)
        return rl_fail(err, RL_E_BAD_FIELD, "since", "since and until are %lld days apart and %d is the limit",
                       (long long)(days.until - days.since), STORE_HISTORY_DAYS_MAX);
    *ret = days;
    return 0;
}

void json_put_day(struct rl_buf *out, int64_t day)
{
    char text[RL_TIME_TEXT];

    rl_time_format(day * TREND_DAY_MS, text);
    rl_buf_puts(out, "\"");
    rl_buf_add(out, text, 10);
    rl_buf_puts(out, "\"");
}

int json_put_device(struct store *store, const char *id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DEVICE_NAME);
    int rc;

    stmt_text(&stmt, ":id", id);
    rc = stmt_step(&stmt, err, "reading a device's name");
    rl_buf_puts(out, "{\"id\":");
    json_put_text(out, id);
    rl_buf_puts(out, ",\"name\":");
    json_put_text(out, rc == 1 ? (const char *)sqlite3_column_text(stmt.handle, 0) : "");
    rl_buf_puts(out, "}");
    stmt_end(&stmt);
    if (rc == 0)
        return rl_fail(err, RL_E_NOT_FOUND, "device", "no device \"%.100s\" is known", id);
    return rc < 0 ? -1 : 0;
}

void json_put_version(struct rl_buf *out, const char *member, const char *version)
{
    rl_buf_puts(out, "\"");
    rl_buf_puts(out, member);
    rl_buf_puts(out, "\":");
    if (version[0] == '\0')
        rl_buf_puts(out, "null");
    else
        json_put_text(out, version);
}

void json_put_versions_why(struct rl_buf *out, const char *driver, const char *cuda)
{
    rl_buf_puts(out, driver[0] == '\0' ? "\"driver\":\"not known in these runs\"" : "");
    rl_buf_puts(out, driver[0] == '\0' && cuda[0] == '\0' ? "," : "");
    rl_buf_puts(out, cuda[0] == '\0' ? "\"cuda\":\"not known in these runs\"" : "");
}
