/* rooflinectl compare: the verdicts of one set of runs against another, for people and for scripts. */
#include <stdio.h>
#include <string.h>

#include "server/ctl/ctl.h"

#define ANSWER_MAX (64u * 1024u * 1024u)

static void print_notes(const json_t *answer, const char *name, const char *what)
{
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(answer, name), i, note) printf("%s: %s\n", what, ctl_member(note, "sentence"));
}

/* A ratio as a signed percentage, "-" when unknown. */
static const char *percent(const json_t *ratio, char text[32])
{
    if (json_is_number(ratio))
        snprintf(text, 32, "%+.2f %%", 100 * (json_number_value(ratio) - 1));
    else
        snprintf(text, 32, "-");
    return text;
}

static void print_row(const json_t *row)
{
    char time[32], bytes[32];
    printf("%s %-5s %-14s %10s  %-14s %10s  %s\n", ctl_cell(json_object_get(row, "kernel"), 20),
           ctl_member(row, "state"), ctl_member(row, "time_verdict"),
           percent(json_object_get(json_object_get(row, "time_s"), "ratio"), time), ctl_member(row, "bytes_verdict"),
           percent(json_object_get(json_object_get(row, "dram_bytes"), "ratio"), bytes), ctl_member(row, "cause"));
    ctl_print_whole(json_object_get(row, "kernel"), 20);
}

static void print_ceiling(const json_t *ceiling)
{
    char value[32];
    printf("%-20s %-5s %-14s %10s\n", ctl_member(ceiling, "name"), ctl_member(ceiling, "state"),
           ctl_member(ceiling, "time_verdict"),
           percent(json_object_get(json_object_get(ceiling, "value"), "ratio"), value));
}

/* What of a row or a ceiling was left out, or stands in the way of its verdict, has a place in its sentence. */
static bool has_notes(const json_t *row)
{
    return json_array_size(json_object_get(row, "not_comparable")) > 0 ||
           json_array_size(json_object_get(row, "left_out")) > 0;
}

/* Rows that changed or could not be compared, in sentences, before the table of all. */
static void print_sentences(const json_t *rows)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const char *verdict = json_string_value(json_object_get(row, "time_verdict"));
        const char *bytes = json_string_value(json_object_get(row, "bytes_verdict"));
        if (verdict != NULL && (strcmp(verdict, "slower") == 0 || strcmp(verdict, "faster") == 0 || has_notes(row))) {
            puts(ctl_member(json_object_get(row, "time_s"), "sentence"));
            if (json_is_string(json_object_get(row, "cause_sentence")))
                printf("  %s\n", ctl_member(row, "cause_sentence"));
        }
        if (bytes != NULL && (strcmp(bytes, "more") == 0 || strcmp(bytes, "fewer") == 0))
            puts(ctl_member(json_object_get(row, "dram_bytes"), "sentence"));
    }
}

/* Runs that stand on no side: how many, and why. Ids are in the answer (--json). */
static void print_left_out(const json_t *answer, const char *side)
{
    const json_t *left_out = json_object_get(json_object_get(answer, side), "left_out");
    size_t i, k;
    json_t *run, *other;
    if (json_array_size(json_object_get(json_object_get(answer, side), "runs")) == 0)
        return; /* the sentence of a side without runs has it */
    json_array_foreach(left_out, i, run)
    {
        size_t same = 0, before = 0;
        json_array_foreach(left_out, k, other)
        {
            bool alike = strcmp(ctl_member(other, "reason"), ctl_member(run, "reason")) == 0;
            same += alike;
            before += alike && k < i;
        }
        if (before == 0)
            printf("%s: %zu run%s %s left out, %s\n", side, same, same == 1 ? "" : "s", same == 1 ? "was" : "were",
                   ctl_member(run, "reason"));
    }
    json_array_foreach(json_object_get(json_object_get(answer, side), "excluded"), i, run)
        printf("%s: %s\n", side, ctl_member(run, "sentence"));
}

/* What was not measured here is no evidence of this card: said whenever a side has any of it. */
static void print_sources(const json_t *answer)
{
    const char *base = json_string_value(json_object_get(json_object_get(answer, "base"), "sources"));
    const char *head = json_string_value(json_object_get(json_object_get(answer, "head"), "sources"));
    if ((base != NULL && strcmp(base, "measured") != 0) || (head != NULL && strcmp(head, "measured") != 0))
        printf("source: base %s, head %s\n", ctl_member(json_object_get(answer, "base"), "sources"),
               ctl_member(json_object_get(answer, "head"), "sources"));
}

static void print_comparison(const json_t *answer)
{
    const json_t *rows = json_object_get(answer, "rows"), *machine = json_object_get(answer, "machine");
    size_t i;
    json_t *item;
    puts(ctl_member(answer, "sentence"));
    print_sources(answer);
    print_notes(answer, "not_comparable", "not comparable");
    print_notes(answer, "warnings", "warning");
    print_left_out(answer, "base");
    print_left_out(answer, "head");
    if (json_array_size(rows) == 0)
        return;
    if (json_is_string(json_object_get(machine, "time_verdict")))
        puts(ctl_member(machine, "sentence"));
    print_sentences(rows);
    json_array_foreach(json_object_get(answer, "ceilings"), i, item) if (has_notes(item))
        puts(ctl_member(json_object_get(item, "value"), "sentence"));
    printf("\n%-20s %-5s %-14s %10s  %-14s %10s  %s\n", "KERNEL", "STATE", "TIME", "", "DRAM BYTES", "", "CAUSE");
    json_array_foreach(rows, i, item) print_row(item);
    printf("\n%-20s %-5s %-14s %10s\n", "CEILING", "STATE", "TIME", "RATE");
    json_array_foreach(json_object_get(answer, "ceilings"), i, item) print_ceiling(item);
    puts(
        "\nambiguous: neither surely the same nor surely changed. missing_base, missing_head: that side has no value.\n"
        "not_comparable: the sides have other work under this name, or values of another kind.\n"
        "CAUSE, of a changed time: machine (it moved with all), bytes (from and to DRAM), clock (of the SMs), "
        "memory_clock, none_found.");
}

/* The exit code of --fail-on slower. */
static int exit_of(const json_t *answer, struct rl_err *err)
{
    const char *outcome = json_string_value(json_object_get(answer, "outcome"));
    if (outcome != NULL && strcmp(outcome, "slower") == 0)
        return CTL_EXIT_SLOWER;
    if (outcome != NULL && strcmp(outcome, "undecided") == 0)
        return CTL_EXIT_UNDECIDED;
    if (outcome != NULL && strcmp(outcome, "not_slower") == 0)
        return 0;
    return rl_fail(err, RL_E_UNREACHABLE, NULL, "The answer has no outcome that is known: is it rooflined?");
}

struct compare_options {
    const char *sizes, *device, *suite, *source, *kernel, *fail_on;
};

static const struct ctl_option compare_table[] = {
    {"sizes", "SIZES", offsetof(struct compare_options, sizes),
     "a driver's runs of course, scaled or other sizes (default: those of the runs named, else course)"},
    {"device", "ID", offsetof(struct compare_options, device),
     "a device's id; needed where both sides are drivers, or a label's runs are of several"},
    {"suite", "SUITE", offsetof(struct compare_options, suite),
     CTL_SUITES ", of a driver's runs (default: that of the runs named, else verify)"},
    {"source", "SOURCE", offsetof(struct compare_options, source),
     "measured, replayed, imported or any (default: measured and imported)"},
    {"kernel", "ID", offsetof(struct compare_options, kernel),
     "ids with commas between, a comma or backslash of an id after a backslash (default: all)"},
    {"fail-on", "VERDICT", offsetof(struct compare_options, fail_on),
     "slower: exit 1 on a regression, 2 when it could not be told"},
};

static int run_compare(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct compare_options *options = call->values;
    struct rl_buf path, out;
    json_t *answer = NULL;
    int result = -1;
    if (options->fail_on != NULL && strcmp(options->fail_on, "slower") != 0)
        return rl_fail(err, RL_E_USAGE, "--fail-on", "--fail-on \"%s\" is not slower.", options->fail_on);
    rl_buf_init(&path, 8192);
    rl_buf_init(&out, ANSWER_MAX);
    rl_buf_puts(&path, "/api/v1/compare");
    ctl_query(&path, "base", call->argument);
    ctl_query(&path, "head", call->second);
    ctl_query(&path, "device", options->device);
    ctl_query(&path, "suite", options->suite);
    ctl_query(&path, "sizes", options->sizes);
    ctl_query(&path, "source", options->source);
    ctl_query(&path, "kernel", options->kernel);
    if (path.failed) {
        rl_fail(err, RL_E_USAGE, NULL, "The sides are too long.");
        goto out;
    }
    if (ctl_http_send(http, "GET", path.data, NULL, NULL, &out, NULL, err) != 0 ||
        ctl_http_parse(http, &out, &answer, err) != 0)
        goto out;
    int code = exit_of(answer, err);
    if (code < 0 || (call->common->json && ctl_print(&out, err) != 0))
        goto out;
    if (!call->common->json)
        print_comparison(answer);
    result = options->fail_on != NULL ? code : 0;
out:
    json_decref(answer);
    rl_buf_free(&path);
    rl_buf_free(&out);
    return result;
}

const struct ctl_command ctl_command_compare = {
    .name = "compare",
    .argument = "BASE HEAD",
    .what = "whether HEAD differs from BASE",
    .values_size = sizeof(struct compare_options),
    .own = CTL_TABLE(compare_table),
    .two = "compare needs two sides, each run:ID[,run:ID…], driver:VERSION or label:LABEL.",
    .more = "BASE and HEAD are each run:ID[,run:ID…]; or driver:VERSION, label:LABEL or both, with commas between, "
            "and\ncuda:VERSION where wanted. A comma or backslash of a label stands after a backslash.",
    .run = run_compare,
};
