/* Encodings, line ends and number formats of uploaded files. */
#include "gpu/import/text/message.h"
#include "gpu/import/text/number.h"
#include "tests/unit/import/import_fixture.h"

#define BYTES_ROW LONG_ROW("0", "k(float *)", "(5, 1, 1)", "dram__bytes.sum", "byte", "7,104,896")

static char *to_utf16(const char *text, bool big, bool mark, size_t *ret_len)
{
    char *out = malloc(2 * strlen(text) + 2);
    size_t to = 0;
    assert_non_null(out);
    if (mark) {
        out[to++] = big ? '\xFE' : '\xFF';
        out[to++] = big ? '\xFF' : '\xFE';
    }
    for (const char *c = text; *c != '\0'; c++) {
        out[to + big] = *c;
        out[to + !big] = 0;
        to += 2;
    }
    *ret_len = to;
    return out;
}

static void encodings(void **state)
{
    (void)state;
    static const char plain[] = "==PROF== Connected\n" LONG_HEAD BYTES_ROW;
    assert_near(dram_of(plain), 7104896, 0);
    assert_near(dram_of("\xEF\xBB\xBF" LONG_HEAD BYTES_ROW), 7104896, 0);
    for (int kind = 0; kind < 4; kind++) {
        struct given given = {0};
        struct import_result result;
        char *wide = to_utf16(plain, kind & 1, kind & 2, &given.ncu_len);
        given.ncu = wide;
        struct rl_run *run = must_import(&given, &result);
        assert_near(run->rows[0].state[RL_COLD].bytes.dram.value, 7104896, 0);
        assert_non_null(strstr(run->import.files[0].format, "UTF-16"));
        import_result_fini(&result);
        given.ncu_len--; /* cut within a character */
        must_refuse(&given, RL_E_IMPORT_FORMAT, "ncu", "cut");
        free(wide);
    }
    struct given latin = {.ncu = LONG_HEAD LONG_ROW("0", "k\xE9(int)", "(5, 1, 1)", "dram__bytes.sum", "byte", "1")};
    must_refuse(&latin, RL_E_IMPORT_FORMAT, "ncu", "c.csv, line 2|0xE9|UTF-8");
    struct given binary = {.ncu = "NVR\0\1\2\3", .ncu_len = 7};
    must_refuse(&binary, RL_E_IMPORT_OTHER_FILE, "ncu", "ncu-rep|--import");
    struct given nul = {.ncu = LONG_HEAD "\0abc", .ncu_len = sizeof LONG_HEAD + 3};
    must_refuse(&nul, RL_E_IMPORT_OTHER_FILE, "ncu", "binary");
    struct given zip = {.ncu = "PK\x03\x04zip"};
    must_refuse(&zip, RL_E_IMPORT_OTHER_FILE, "ncu", "spreadsheet");
}

static void line_ends(void **state)
{
    (void)state;
    char crlf[2048], cr[2048];
    size_t a = 0, b = 0;
    for (const char *c = "==PROF==\n" LONG_HEAD BYTES_ROW "==PROF== Disconnected\n"; *c != '\0'; c++) {
        if (*c == '\n')
            crlf[a++] = '\r';
        crlf[a++] = *c;
        cr[b++] = *c == '\n' ? '\r' : *c;
    }
    crlf[a] = cr[b] = '\0';
    assert_near(dram_of(crlf), 7104896, 0);
    assert_near(dram_of(cr), 7104896, 0);
}

static void numbers_parse(void **state)
{
    (void)state;
    static const struct {
        unsigned format;
        const char *text;
        double value;
    } good[] = {
        {0, "0", 0},
        {0, "1,234,567.5", 1234567.5},
        {0, "4.0e-05", 4.0e-05},
        {1, "1.234.567,5", 1234567.5},
        {1, "117.344", 117344},
        {0, "117.344", 117.344},
        {2,
         "1\xC2\xA0"
         "234,5",
         1234.5},
        {2,
         "12\xE2\x80\xAF"
         "345",
         12345},
        {4, "1'234.5", 1234.5},
        {5,
         "1\xE2\x80\x99"
         "234,5",
         1234.5},
        {0, "-3.5", -3.5},
        {0, "9007199254740993", 9007199254740992.0},
        {3, " 42 ", 42},
        {0, "000", 0},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value = -1;
        if (import_number_parse(good[i].format, good[i].text, &value) != 0 || value != good[i].value)
            fail_msg("%s in format %u: %.17g", good[i].text, good[i].format, value);
    }
    static const struct {
        unsigned format;
        const char *text;
    } bad[] = {{0, ""},      {0, "1,23"},   {0, "1234,567"}, {0, "1,234,56"}, {0, ",234"}, {0, "1."},    {0, "1.2.3"},
               {1, "65.77"}, {0, "65,77"},  {0, "1e999"},    {0, "nan"},      {0, "0x10"}, {0, "1 234"}, {0, "--1"},
               {0, "1-2"},   {0, "12 abc"}, {2, "1,234,5"},  {0, "."},        {0, "1,"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value;
        if (import_number_parse(bad[i].format, bad[i].text, &value) == 0)
            fail_msg("\"%s\" is no number in format %u, but read as %g", bad[i].text, bad[i].format, value);
    }
}

static void separators_are_decided_by_the_whole_file(void **state)
{
    (void)state;
#define CELL(metric, unit, value) LONG_ROW("0", "k", "(5, 1, 1)", metric, unit, value)
    /* Spanish, by a percentage, and by a number with two dots */
    assert_near(
        dram_of(LONG_HEAD CELL("dram__bytes.sum", "byte", "117.344") CELL("sm__cycles_active.avg", "cycle", "65,77")),
        117344, 0);
    assert_near(dram_of(LONG_HEAD CELL("dram__bytes.sum", "byte", "2.508.800")), 2508800, 0);
    assert_near(dram_of(LONG_HEAD CELL("dram__bytes.sum", "byte",
                                       "2\xC2\xA0"
                                       "508\xC2\xA0"
                                       "800")),
                2508800, 0);
    assert_near(dram_of(LONG_HEAD CELL("dram__bytes.sum", "byte", "2'508'800")), 2508800, 0);
    /* a whole number of bytes has no fraction */
    assert_near(dram_of(LONG_HEAD CELL("dram__bytes.sum", "byte", "2,816")), 2816, 0);
    assert_near(dram_of(LONG_HEAD CELL("dram__bytes.sum", "byte", "117.344")), 117344, 0);
    assert_near(dram_of(LONG_HEAD CELL("dram__bytes.sum", "byte", "500,000")), 500000, 0);
    /* in megabytes it may: other numbers tell, or nothing does */
    assert_near(dram_of(LONG_HEAD CELL("dram__bytes.sum", "Mbyte", "2.508") CELL("x__y.sum", "", "1,234.5")), 2508000,
                0);
    assert_near(dram_of(LONG_HEAD CELL("dram__bytes.sum", "Mbyte", "2.508") CELL("x__y.sum", "", "1.234,5")), 2508e6,
                0);
    assert_near(dram_of(LONG_HEAD CELL("dram__bytes.sum", "Mbyte", "2.51")), 2510000, 1e-6);
    refuse_ncu(LONG_HEAD CELL("dram__bytes.sum", "Mbyte", "2.508"), RL_E_IMPORT_NUMBERS,
               "c.csv, line 2|\"Metric Value\"|\"2.508\"|2.508 or 2508");
    /* both in one file */
    refuse_ncu(LONG_HEAD CELL("dram__bytes.sum", "byte", "1.234.567") CELL("x__y.sum", "", "5.5")
                   CELL("x__z.sum", "", "1,234,567"),
               RL_E_IMPORT_NUMBERS, "line 3|\"5.5\"|line 2|\"1.234.567\"");
    /* what is no number at all is no evidence */
    assert_near(dram_of(LONG_HEAD CELL("dram__bytes.sum", "byte", "1,234") CELL("v__version", "", "1.2.3")), 1234, 0);
}

static void quotes_of_messages_are_clean(void **state)
{
    (void)state;
    char out[IMPORT_QUOTE];
    assert_string_equal(import_quote(out, "a\x1b[31m\nb"), "a?[31m?b");
    assert_string_equal(import_quote(out, "\xff"), "?");
    char text[300];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(strlen(import_quote(out, text)), 64 + 3);
    for (size_t i = 0; i < 149; i++)
        memcpy(text + 2 * i, "\xC3\xA9", 2);
    text[298] = '\0';
    import_quote(out, text);
    assert_int_equal(strlen(out), 64 + 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings),
        cmocka_unit_test(line_ends),
        cmocka_unit_test(numbers_parse),
        cmocka_unit_test(separators_are_decided_by_the_whole_file),
        cmocka_unit_test(quotes_of_messages_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
