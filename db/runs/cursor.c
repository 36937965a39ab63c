/* Cursors: where a page ended, and a checksum over that, the filter and the database's salt, so that a cursor that was
 * changed, or belongs to another list, is refused instead of giving a page of something else. */
#include "db/runs/cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "db/core/internal.h"
#include "gpu/base/hash.h"

#define CURSOR_MAC 32

static void add_field(struct rl_buf *text, const char *value)
{
    if (value == NULL)
        rl_buf_puts(text, "-,");
    else
        rl_buf_printf(text, "%zu:%s,", strlen(value), value);
}

int store_cursor_write(struct store *store, const struct store_run_filter *filter, struct store_place place,
                       char ret[CURSOR_LENGTH + 1], struct rl_err *err)
{
    struct rl_buf text;
    char hex[65];

    rl_buf_init(&text, 64 * 1024);
    add_field(&text, store->cursor_salt);
    add_field(&text, filter->device);
    add_field(&text, filter->driver);
    add_field(&text, filter->cuda);
    add_field(&text, filter->suite);
    add_field(&text, filter->sizes);
    add_field(&text, filter->source);
    add_field(&text, filter->counters);
    add_field(&text, filter->outcome);
    rl_buf_printf(&text, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, filter->since_ms, filter->until_ms,
                  place.date_ms, place.id);
    if (filter->label != NULL || filter->withdrawn != NULL) { /* without them as the versions before them wrote it */
        add_field(&text, filter->label);
        add_field(&text, filter->withdrawn);
    }
    if (text.failed) {
        rl_buf_free(&text);
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the filter is too long");
    }
    rl_sha256_hex(text.data, text.len, hex);
    rl_buf_free(&text);
    snprintf(ret, CURSOR_LENGTH + 1, "%016" PRIx64 "%016" PRIx64 "%.*s", (uint64_t)place.date_ms, (uint64_t)place.id,
             CURSOR_MAC, hex);
    return 0;
}

static uint64_t parse_hex16(const char *text)
{
    uint64_t value = 0;

    for (int i = 0; i < 16; i++) {
        const char *digit = strchr("0123456789abcdef", text[i]);

        value = value << 4 | (uint64_t)(digit != NULL ? digit - "0123456789abcdef" : 0);
    }
    return value;
}

int store_cursor_read(struct store *store, const struct store_run_filter *filter, struct store_place *ret,
                      struct rl_err *err)
{
    struct store_place place;
    char again[CURSOR_LENGTH + 1];

    if (strlen(filter->cursor) == CURSOR_LENGTH) {
        place.date_ms = (int64_t)parse_hex16(filter->cursor);
        place.id = (int64_t)parse_hex16(filter->cursor + 16);
        if (store_cursor_write(store, filter, place, again, err) < 0)
            return -1;
        if (strcmp(again, filter->cursor) == 0) { /* also refuses what parse_hex16 let pass */
            *ret = place;
            return 0;
        }
    }
    return rl_fail(err, RL_E_BAD_CURSOR, "cursor", "the cursor was not given by this list with this filter");
}
