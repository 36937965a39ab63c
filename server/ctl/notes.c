/* rooflinectl predictions, withdraw: how the guesses about a run came out and why they were wrong, and that a run is
 * not to be counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/escape.h"
#include "server/ctl/ctl.h"

#define ANSWER_MAX (64u * 1024u * 1024u)

/* Longer than what ctl_text takes, and of several lines perhaps. */
static void print_text(const json_t *text)
{
    struct rl_buf clean;
    rl_buf_init(&clean, ANSWER_MAX);
    text_escape(&clean, json_string_value(text), json_string_length(text), true);
    if (clean.len > 0)
        puts(clean.data);
    rl_buf_free(&clean);
}

/* A request with an object as its body, which is taken over; its answer is printed under --json, else *ret. */
static int ask(struct ctl_http *http, const struct ctl_call *call, const char *method, const char *path, json_t *body,
               json_t **ret, struct rl_err *err)
{
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    bool made = body == NULL || text != NULL;
    struct rl_buf out;
    json_decref(body);
    *ret = NULL;
    rl_buf_init(&out, ANSWER_MAX);
    int result = made ? ctl_http_send(http, method, path, text, NULL, &out, NULL, err)
                      : rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for a request.");
    if (result == 0)
        result = ctl_http_parse(http, &out, ret, err);
    if (result == 0 && call->common->json)
        result = ctl_print(&out, err);
    free(text);
    rl_buf_free(&out);
    return result;
}

/* ---- predictions ---- */

static void print_prediction(const json_t *item)
{
    const json_t *ratio = json_object_get(item, "dram_per_ask"), *right = json_object_get(item, "right");
    char text[32] = "-";
    if (json_is_number(ratio))
        snprintf(text, sizeof text, "%.4f", json_number_value(ratio));
    printf("%s %-5s %-6s %-6s %10s  %s", ctl_cell(json_object_get(item, "kernel"), 20), ctl_member(item, "state"),
           ctl_member(item, "said"), ctl_member(item, "found"), text,
           json_is_true(right)    ? "right"
           : json_is_false(right) ? "wrong"
                                  : "not scored");
    if (!json_is_boolean(right))
        printf(": %s", ctl_member(json_object_get(item, "why"), "found"));
    puts("");
}

static void print_predictions(const json_t *answer)
{
    const json_t *wrong = json_object_get(answer, "most_wrong");
    size_t i;
    json_t *item;
    if (json_integer_value(json_object_get(answer, "predicted")) == 0) {
        puts("nothing was predicted");
        return;
    }
    printf("%-20s %-5s %-6s %-6s %10s\n", "KERNEL", "STATE", "SAID", "FOUND", "DRAM/ASK");
    json_array_foreach(json_object_get(answer, "items"), i, item) print_prediction(item);
    printf("%lld of %lld right, of %lld predicted", (long long)json_integer_value(json_object_get(answer, "right")),
           (long long)json_integer_value(json_object_get(answer, "scored")),
           (long long)json_integer_value(json_object_get(answer, "predicted")));
    json_array_foreach(wrong, i, item) printf("%s%s", i == 0 ? "; most wrong: " : ", ", ctl_text(item));
    puts("");
    json_array_foreach(json_object_get(answer, "why_wrong"), i, item)
    {
        printf("why %s was wrong:\n", ctl_member(item, "kernel"));
        print_text(json_object_get(item, "text"));
    }
}

struct predictions_options {
    const char *why;
};

static const struct ctl_option predictions_table[] = {
    {"why", "KERNEL=TEXT", offsetof(struct predictions_options, why),
     "why the prediction of this kernel, one of the two most wrong, was wrong: up to 1024 characters; none: takes it "
     "away"},
};

/* What is said of the kernels so far, with the text of --why in its place; NULL with err set. */
static json_t *why_wrong_of(const struct ctl_call *call, const json_t *now, struct rl_err *err)
{
    const struct predictions_options *options = call->values;
    const char *equal = strchr(options->why, '=');
    size_t i, name = equal != NULL ? (size_t)(equal - options->why) : 0;
    json_t *item, *said = json_object();
    if (name == 0) {
        json_decref(said);
        rl_fail(err, RL_E_USAGE, "--why", "--why \"%s\" is not KERNEL=TEXT.", options->why);
        return NULL;
    }
    json_array_foreach(json_object_get(now, "why_wrong"), i, item)
        json_object_set(said, ctl_member(item, "kernel"), json_object_get(item, "text"));
    json_t *kernel = json_stringn(options->why, name), *text = json_string(equal + 1);
    int failed = kernel == NULL || text == NULL;
    if (failed == 0 && equal[1] == '\0')
        json_object_del(said, json_string_value(kernel));
    else if (failed == 0)
        failed = json_object_set(said, json_string_value(kernel), text);
    json_decref(kernel);
    json_decref(text);
    json_t *body = failed == 0 ? json_pack("{s:o}", "why_wrong", said) : NULL;
    if (body == NULL) {
        json_decref(failed == 0 ? NULL : said);
        rl_fail(err, RL_E_USAGE, "--why", "The value of --why is not UTF-8.");
    }
    return body;
}

static int run_predictions(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct predictions_options *options = call->values;
    char path[64];
    json_t *answer = NULL;
    snprintf(path, sizeof path, "/api/v1/runs/%.24s/predictions", call->argument);
    if (options->why == NULL && call->common->json)
        return ctl_print_answer(http, path, err);
    if (ctl_http_get_json(http, path, &answer, err) != 0)
        return -1;
    int result = 0;
    if (options->why != NULL) {
        json_t *body = why_wrong_of(call, answer, err);
        json_decref(answer);
        answer = NULL;
        result = body != NULL ? ask(http, call, "PUT", path, body, &answer, err) : -1;
    }
    if (result == 0 && !call->common->json)
        print_predictions(answer);
    json_decref(answer);
    return result;
}

const struct ctl_command ctl_command_predictions = {
    .name = "predictions",
    .argument = "RUN",
    .what = "how a run's predictions came out; with --why, say why one was wrong",
    .values_size = sizeof(struct predictions_options),
    .own = CTL_TABLE(predictions_table),
    .run = run_predictions,
};

/* ---- withdraw ---- */

static void print_withdrawals(const json_t *answer)
{
    const json_t *log = json_object_get(answer, "log");
    size_t i;
    json_t *item;
    puts(json_is_true(json_object_get(answer, "withdrawn")) ? "withdrawn" : "not withdrawn");
    json_array_foreach(log, i, item)
    {
        printf("%s by %s", ctl_member(item, "at"), ctl_member(item, "principal"));
        if (json_is_string(json_object_get(item, "back_at")))
            printf(", taken back %s by %s", ctl_member(item, "back_at"), ctl_member(item, "back_principal"));
        puts(":");
        print_text(json_object_get(item, "reason"));
    }
}

struct withdraw_options {
    const char *reason;
    bool back;
};

static const struct ctl_option withdraw_table[] = {
    {"reason", "TEXT", offsetof(struct withdraw_options, reason),
     "withdraw the run for this reason, up to 512 characters"},
    {"back", NULL, offsetof(struct withdraw_options, back), "take the withdrawal back"},
};

static int run_withdraw(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct withdraw_options *options = call->values;
    const char *method = options->back ? "DELETE" : options->reason != NULL ? "POST" : "GET";
    char path[64];
    json_t *answer = NULL, *body = NULL;
    if (options->back && options->reason != NULL)
        return rl_fail(err, RL_E_USAGE, "--back", "--back takes a withdrawal back: it has no --reason.");
    if (options->reason != NULL && (body = json_pack("{s:s}", "reason", options->reason)) == NULL)
        return rl_fail(err, RL_E_USAGE, "--reason", "The value of --reason is not UTF-8.");
    snprintf(path, sizeof path, "/api/v1/runs/%.24s/withdraw", call->argument);
    int result = ask(http, call, method, path, body, &answer, err);
    if (result == 0 && !call->common->json)
        print_withdrawals(answer);
    json_decref(answer);
    return result;
}

const struct ctl_command ctl_command_withdraw = {
    .name = "withdraw",
    .argument = "RUN",
    .what = "whether a run is withdrawn, and why; with --reason, withdraw it; --back takes that back",
    .values_size = sizeof(struct withdraw_options),
    .own = CTL_TABLE(withdraw_table),
    .run = run_withdraw,
};
