/* Members of protocol lines, each wrong in every way that it can be. */
#include "tests/unit/wire/wire_fixture.h"

/* Replaces member `name` of a line of `kind` (text NULL: removes it) and expects the reader to refuse the line and name
 * it. */
static void expect_member_refused(enum wire_kind kind, bool probe, const char *name, const char *text, const char *part)
{
    struct wire_writer writer = {0};
    struct rl_buf out;
    json_t *body = body_of(kind, probe);
    rl_buf_init(&out, 4 * PROTOCOL_LINE_MAX);
    if (kind != WIRE_HELLO)
        add(&writer, WIRE_HELLO, body_of(WIRE_HELLO, probe), &out);
    if (kind != WIRE_HELLO && kind != WIRE_DEVICE)
        add(&writer, WIRE_DEVICE, body_of(WIRE_DEVICE, probe), &out);
    if (text == NULL)
        json_object_del(body, name);
    else
        json_object_set_new(body, name, json_loads(text, JSON_DECODE_ANY, NULL));
    add(&writer, kind, body, &out);
    struct verdict v = judge_text(probe, out.data);
    if (v.feed == 0)
        fail_msg("%s with %s = %s passed", wire_kind_name(kind), name, text != NULL ? text : "nothing");
    expect_broken(v, part);
    rl_buf_free(&out);
}

static const struct {
    enum wire_kind kind;
    bool probe;
    const char *name, *text, *part;
} wrong_members[] = {
    {WIRE_HELLO, false, "protocol", "1", "speaks version 2"},
    {WIRE_HELLO, false, "protocol", "\"2\"", "\"protocol\""},
    {WIRE_HELLO, false, "backend", "\"abacus\"", "\"backend\""},
    {WIRE_HELLO, false, "pid", "0", "\"pid\""},
    {WIRE_HELLO, false, "pid", "2147483648", "\"pid\""},
    {WIRE_HELLO, false, "build", "null", "\"build\""},
    {WIRE_DEVICE, false, "device", "{}", "id is missing"},
    {WIRE_DEVICE, false, "environment", "[]", "\"environment\""},
    {WIRE_DEVICE, false, "why", NULL, "why for counters"},
    {WIRE_DEVICE, false, "why", "{\"other\":\"x\"}", "why for counters"},
    {WIRE_DEVICE, false, "counters", "{\"status\":\"ok\",\"why\":null}", "why for counters"},
    {WIRE_DEVICE, true, "counters", "{\"status\":\"ok\",\"why\":\"x\"}", "\"counters\""},
    {WIRE_DEVICE, true, "counters", "{\"status\":\"counters_busy\",\"why\":null}", "\"counters\""},
    {WIRE_DEVICE, true, "counters", "{\"status\":\"nonsense\",\"why\":\"x\"}", "\"counters\""},
    {WIRE_DEVICE, true, "counters", "{\"status\":\"ok\",\"why\":null,\"x\":1}", "\"counters\""},
    {WIRE_DEVICE, true, "counters", "7", "\"counters\""},
    {WIRE_DEVICE, true, "counters", "{\"status\":7,\"why\":\"x\"}", "\"counters\""},
    {WIRE_PROGRESS, false, "phase", "\"lunch\"", "\"phase\""},
    {WIRE_PROGRESS, false, "done", "41", "done above total"},
    {WIRE_PROGRESS, false, "done", "-1", "\"done\""},
    {WIRE_PROGRESS, false, "total", "1000001", "\"total\""},
    {WIRE_SAMPLE, false, "unit", "\"no_such_kernel\"", "\"unit\""},
    {WIRE_SAMPLE, false, "unit", "[]", "\"unit\""},
    {WIRE_SAMPLE, false, "state", "\"tepid\"", "\"state\""},
    {WIRE_SAMPLE, false, "launches", "0", "\"launches\""},
    {WIRE_SAMPLE, false, "times_s", "[]", "\"times_s\""},
    {WIRE_SAMPLE, false, "times_s", "[0]", "\"times_s\""},
    {WIRE_SAMPLE, false, "times_s", "[-1.0]", "\"times_s\""},
    {WIRE_SAMPLE, false, "times_s", "[1e7]", "\"times_s\""},
    {WIRE_SAMPLE, false, "times_s", "[null]", "\"times_s\""},
    {WIRE_SAMPLE, false, "times_s", "{\"0\":1}", "\"times_s\""},
    {WIRE_COUNTER, false, "values", "{\"dram_read\":-1,\"l1\":null}", "\"values\""},
    {WIRE_COUNTER, false, "values", "{\"dram_read\":\"1\",\"l1\":null}", "\"values\""},
    {WIRE_COUNTER, false, "values", "{\"dram_read\":1,\"l1\":1}", "not null"},
    {WIRE_COUNTER, false, "values", "{\"dram_read\":null,\"l1\":null}", "without a reason"},
    {WIRE_COUNTER, false, "why", "null", "without a reason"},
    {WIRE_COUNTER, false, "why", "{\"l1\":7}", "\"why\""},
    {WIRE_TELEMETRY, false, "telemetry", "{}", "at is missing"},
    {WIRE_WARNING, false, "code", "\"no_such_code\"", "\"code\""},
    {WIRE_WARNING, false, "code", "\"ok\"", "\"code\""},
    {WIRE_RESULT, false, "run", "[]", "a run, or null"},
    {WIRE_RESULT, false, "run", "7", "\"run\""},
    {WIRE_ERROR, false, "error", "{\"code\":\"no_such_code\",\"message\":\"m\",\"next_action\":\"n\"}", "\"error\""},
    {WIRE_ERROR, false, "error", "{\"code\":\"io\",\"message\":\"m\"}", "\"error\""},
    {WIRE_ERROR, false, "error", "{\"code\":\"io\",\"message\":\"m\",\"next_action\":\"n\",\"x\":1}", "\"error\""},
    {WIRE_ERROR, false, "error", "{\"code\":\"io\",\"message\":\"m\",\"next_action\":\"n\",\"field\":7}", "\"error\""},
    {WIRE_ERROR, false, "error", "null", "\"error\""},
};

static void members_are_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_members / sizeof wrong_members[0]; i++)
        expect_member_refused(wrong_members[i].kind, wrong_members[i].probe, wrong_members[i].name,
                              wrong_members[i].text, wrong_members[i].part);
}

/* Each member of each kind missing, or of a wrong type, or one too many. */
static void every_member_is_wanted(void **state)
{
    (void)state;
    for (int kind = WIRE_HELLO; kind <= WIRE_ERROR; kind++) {
        json_t *body = body_of((enum wire_kind)kind, false);
        const char *name;
        json_t *value;
        expect_member_refused((enum wire_kind)kind, false, "no_such_member", "1", "not known");
        json_object_foreach(body, name, value)
        {
            expect_member_refused((enum wire_kind)kind, false, name, NULL, "");
            expect_member_refused((enum wire_kind)kind, false, name, "[[1]]", "");
        }
        json_decref(body);
    }
}

static void long_members_are_refused(void **state)
{
    (void)state;
    char text[5000];
    memset(text, 'x', sizeof text);
    text[0] = text[PROTOCOL_LOG_MAX + 2] = '"';
    text[PROTOCOL_LOG_MAX + 3] = '\0';
    expect_member_refused(WIRE_LOG, false, "text", text, "4097 bytes where 4096");
    struct rl_buf many;
    rl_buf_init(&many, 10000);
    for (size_t i = 0; i <= PROTOCOL_SAMPLES_MAX; i++)
        rl_buf_puts(&many, i == 0 ? "[1" : ",1");
    rl_buf_puts(&many, "]");
    expect_member_refused(WIRE_SAMPLE, false, "times_s", many.data, "\"times_s\"");
    rl_buf_free(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_checked),
        cmocka_unit_test(every_member_is_wanted),
        cmocka_unit_test(long_members_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
