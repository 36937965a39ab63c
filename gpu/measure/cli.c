/* Command line of roofline-measure. One table names every option with its modes, default and words, so that help,
 * environment and checks cannot drift apart. */
#include "gpu/measure/cli.h"

#include <ctype.h>
#include <string.h>

#define ENVIRONMENT_PREFIX "ROOFLINE_MEASURE_"
#define BIT(mode)          (1u << (mode))
#define RUN_MODES          (BIT(CLI_TABLE) | BIT(CLI_JSON) | BIT(CLI_RECORD))
/* words of one list at most: an upper bound for sizes, states and kernels */
#define LIST_MAX  ((size_t)RL_SIZES_COUNT + RL_STATE_COUNT + RL_KERNEL_COUNT)
#define ALL_MODES (BIT(CLI_MODE_COUNT) - 1u)

enum option_id {
    OPT_TABLE,
    OPT_JSON,
    OPT_RECORD,
    OPT_PROFILE,
    OPT_LIST,
    OPT_PROBE,
    OPT_PROTOCOL,
    OPT_REPLAY,
    OPT_DEVICE,
    OPT_SIZES,
    OPT_KERNELS,
    OPT_CACHE,
    OPT_NO_COUNTERS,
    OPT_QUIET,
    OPT_VERBOSE,
    OPT_HELP,
    OPT_VERSION,
    OPT_COUNT
};

struct option {
    const char *name;
    const char *value;    /* what stands for the value in the help, or NULL for a switch */
    unsigned modes;       /* where it means something; 0: it is a mode itself */
    const char *defaults; /* in words */
    const char *help;
};

static const struct option options[OPT_COUNT] = {
    [OPT_TABLE] = {"table", NULL, 0, "on when no other mode is given",
                   "measure and print the ten-row table of each state"},
    [OPT_JSON] = {"json", NULL, 0, "off",
                  "measure and print raw samples and the run as JSON Lines; with --list or --probe: as JSON"},
    [OPT_RECORD] = {"record", "FILE", RUN_MODES, "none",
                    "write a recording of every raw answer; alone: both sizes, both states, nothing else printed"},
    [OPT_PROFILE] = {"profile", NULL, 0, "off", "launch each kernel exactly once, for ncu or compute-sanitizer"},
    [OPT_LIST] = {"list", NULL, 0, "off", "print the catalogue: kernels, ceilings and how flop and bytes are counted"},
    [OPT_PROBE] = {"probe", NULL, 0, "off", "print the devices of this node and what is possible on each"},
    [OPT_PROTOCOL] = {"protocol", NULL, 0, "off",
                      "serve one job on descriptor 3 (gpu/wire/PROTOCOL.md); for rooflined and systemd"},
    [OPT_REPLAY] = {"replay", "FILE", RUN_MODES | BIT(CLI_PROBE) | BIT(CLI_PROTOCOL), "none",
                    "take raw answers from a recording instead of a GPU; the run says replayed"},
    [OPT_DEVICE] = {"device", "UUID", RUN_MODES | BIT(CLI_PROFILE) | BIT(CLI_PROBE),
                    "the first in PCI order, or the recording's",
                    "the GPU to use, as nvidia-smi -L or --probe name it"},
    [OPT_SIZES] = {"sizes", "LIST", RUN_MODES | BIT(CLI_PROFILE), "course; course,scaled when --record stands alone",
                   "course (the course's own sizes), scaled (beyond this card's L2), or both"},
    [OPT_KERNELS] = {"kernels", "LIST", RUN_MODES | BIT(CLI_PROFILE), "all ten",
                     "kernel ids with commas between; --list names them"},
    [OPT_CACHE] = {"cache", "LIST", RUN_MODES, "warm,cold", "cache states: warm, cold, or both"},
    [OPT_NO_COUNTERS] = {"no-counters", NULL, RUN_MODES, "off",
                         "time only: no hardware byte counters, no permission needed"},
    [OPT_QUIET] = {"quiet", NULL, ALL_MODES, "off",
                   "no progress line on standard error (there is none where it is no terminal)"},
    [OPT_VERBOSE] = {"verbose", NULL, RUN_MODES | BIT(CLI_PROFILE), "off", "print the transcript on standard error"},
    [OPT_HELP] = {"help", NULL, 0, "off", "print this help"},
    [OPT_VERSION] = {"version", NULL, 0, "off", "print the version"},
};

/* What was given for an option: NULL when nothing was. A switch has the value "1". */
struct given {
    const char *value;
    bool from_environment;
};

static bool is_mode(enum option_id id)
{
    return options[id].modes == 0 || id == OPT_RECORD;
}

static void environment_name(enum option_id id, char name[64])
{
    size_t at = strlen(ENVIRONMENT_PREFIX);
    memcpy(name, ENVIRONMENT_PREFIX, at);
    for (const char *c = options[id].name; *c; c++)
        name[at++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    name[at] = '\0';
}

static int find_option(const char *name, size_t length)
{
    for (int id = 0; id < OPT_COUNT; id++)
        if (strlen(options[id].name) == length && memcmp(options[id].name, name, length) == 0)
            return id;
    return -1;
}

static int read_arguments(int argc, char *const argv[], struct given given[OPT_COUNT], struct rl_err *err)
{
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        if (strncmp(argument, "--", 2) != 0 || argument[2] == '\0')
            return rl_fail(err, RL_E_USAGE, "", "'%.64s' is not an option: every option begins with two dashes",
                           argument);
        const char *name = argument + 2, *equals = strchr(name, '=');
        size_t length = equals ? (size_t)(equals - name) : strlen(name);
        int id = find_option(name, length);
        if (id < 0)
            return rl_fail(err, RL_E_USAGE, "", "unknown option '%.64s'", argument);
        const char *value = "1";
        if (options[id].value) {
            value = equals ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
            if (!value || !*value || (!equals && strncmp(value, "--", 2) == 0))
                return rl_fail(err, RL_E_USAGE, options[id].name, "--%s needs a value: --%s %s", options[id].name,
                               options[id].name, options[id].value);
        } else if (equals) {
            return rl_fail(err, RL_E_USAGE, options[id].name, "--%s takes no value", options[id].name);
        }
        if (given[id].value)
            return rl_fail(err, RL_E_USAGE, options[id].name, "--%s is given twice", options[id].name);
        given[id] = (struct given){value, false};
    }
    return 0;
}

static int read_environment(char *(*lookup)(const char *), struct given given[OPT_COUNT], struct rl_err *err)
{
    bool mode_given = false;
    for (int id = 0; id < OPT_COUNT; id++)
        mode_given = mode_given || (is_mode(id) && given[id].value);
    for (int id = 0; id < OPT_COUNT; id++) {
        char name[64];
        environment_name(id, name);
        const char *value = lookup(name);
        if (!value || !*value || given[id].value || (mode_given && is_mode(id)))
            continue;
        if (!options[id].value) {
            bool on = strcmp(value, "1") == 0 || strcmp(value, "true") == 0 || strcmp(value, "yes") == 0;
            bool off = strcmp(value, "0") == 0 || strcmp(value, "false") == 0 || strcmp(value, "no") == 0;
            if (!on && !off)
                return rl_fail(err, RL_E_USAGE, name, "%s is '%.64s': a switch is 1 or 0", name, value);
            if (off)
                continue;
            value = "1";
        }
        given[id] = (struct given){value, true};
    }
    return 0;
}

static int choose_mode(const struct given given[OPT_COUNT], struct cli_options *o, struct rl_err *err)
{
    static const struct {
        enum option_id option;
        enum cli_mode mode;
    } modes[] = {{OPT_PROTOCOL, CLI_PROTOCOL}, {OPT_PROBE, CLI_PROBE}, {OPT_LIST, CLI_LIST},
                 {OPT_PROFILE, CLI_PROFILE},   {OPT_TABLE, CLI_TABLE}, {OPT_JSON, CLI_JSON},
                 {OPT_RECORD, CLI_RECORD}};
    if (given[OPT_HELP].value || given[OPT_VERSION].value) {
        o->mode = given[OPT_HELP].value ? CLI_HELP : CLI_VERSION;
        return 0;
    }
    const char *chosen = NULL;
    o->mode = CLI_TABLE;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        enum option_id id = modes[i].option;
        if (!given[id].value)
            continue;
        bool beside = (id == OPT_JSON && chosen && (o->mode == CLI_LIST || o->mode == CLI_PROBE)) ||
                      (id == OPT_RECORD && chosen && (o->mode == CLI_TABLE || o->mode == CLI_JSON));
        if (chosen && !beside)
            return rl_fail(err, RL_E_USAGE, options[id].name, "--%s and --%s cannot be had in one call: choose one",
                           chosen, options[id].name);
        if (beside)
            continue;
        chosen = options[id].name;
        o->mode = modes[i].mode;
    }
    o->json = given[OPT_JSON].value != NULL;
    return 0;
}

/* An option on the command line that the mode would ignore is a mistake to be told; one in the environment is a setting
 * that waits for its mode. */
static int drop_foreign(struct given given[OPT_COUNT], const struct cli_options *o, struct rl_err *err)
{
    static const char *const names[CLI_MODE_COUNT] = {
        [CLI_TABLE] = "--table",       [CLI_JSON] = "--json", [CLI_RECORD] = "--record",
        [CLI_PROFILE] = "--profile",   [CLI_LIST] = "--list", [CLI_PROBE] = "--probe",
        [CLI_PROTOCOL] = "--protocol", [CLI_HELP] = "--help", [CLI_VERSION] = "--version"};
    for (int id = 0; id < OPT_COUNT; id++) {
        if (!given[id].value || options[id].modes == 0 || (options[id].modes & BIT(o->mode)) != 0)
            continue;
        if (!given[id].from_environment && o->mode != CLI_HELP && o->mode != CLI_VERSION)
            return rl_fail(err, RL_E_USAGE, options[id].name, "--%s means nothing with %s: leave it out",
                           options[id].name, names[o->mode]);
        given[id].value = NULL;
    }
    if (given[OPT_RECORD].value && given[OPT_REPLAY].value)
        return rl_fail(err, RL_E_USAGE, "record",
                       "--record and --replay cannot be had in one call: a replay is not a measurement");
    return 0;
}

/* Calls take(index of the word in names) for each comma-separated word; empty, unknown and repeated words fail. */
static int read_list(enum option_id id, const char *text, const char *(*name)(size_t index), size_t count,
                     bool *ret_taken, struct rl_err *err)
{
    bool taken[LIST_MAX] = {false};
    for (const char *word = text;;) {
        size_t length = strcspn(word, ",");
        size_t index = 0;
        while (index < count && (strlen(name(index)) != length || memcmp(name(index), word, length) != 0))
            index++;
        if (index == count)
            return rl_fail(err, RL_E_USAGE, options[id].name, "--%s has '%.*s': %s", options[id].name,
                           (int)(length > 64 ? 64 : length), word,
                           id == OPT_KERNELS ? "not a kernel's id, --list names them"
                           : id == OPT_SIZES ? "not course or scaled"
                                             : "not warm or cold");
        if (taken[index])
            return rl_fail(err, RL_E_USAGE, options[id].name, "--%s names '%s' twice", options[id].name, name(index));
        taken[index] = true;
        if (word[length] == '\0')
            break;
        word += length + 1;
    }
    memcpy(ret_taken, taken, count * sizeof taken[0]);
    return 0;
}

static const char *sizes_name(size_t index)
{
    return rl_sizes_name((enum rl_sizes)index);
}
static const char *state_name(size_t index)
{
    return rl_state_name((enum rl_state)index);
}
static const char *kernel_name(size_t index)
{
    return rl_units[index]->id;
}

static int read_device(const char *text, struct rl_err *err)
{
    size_t length = strlen(text);
    bool fits = length >= 8 && length < 64 && (strncmp(text, "GPU-", 4) == 0 || strncmp(text, "MIG-", 4) == 0);
    for (const char *c = text; *c && fits; c++)
        fits = isalnum((unsigned char)*c) || *c == '-';
    if (fits)
        return 0;
    return rl_fail(err, RL_E_USAGE, "device",
                   "--device has '%.64s': not a GPU's UUID (GPU-…; numbers mean different cards to CUDA and "
                   "nvidia-smi), --probe lists them",
                   text);
}

static int read_values(const struct given given[OPT_COUNT], struct cli_options *o, struct rl_err *err)
{
    o->record = given[OPT_RECORD].value;
    o->replay = given[OPT_REPLAY].value;
    o->device = given[OPT_DEVICE].value;
    o->counters = !given[OPT_NO_COUNTERS].value;
    o->quiet = given[OPT_QUIET].value != NULL;
    o->verbose = given[OPT_VERBOSE].value != NULL;
    if (o->device && read_device(o->device, err) != 0)
        return -1;
    const char *sizes = given[OPT_SIZES].value, *cache = given[OPT_CACHE].value, *kernels = given[OPT_KERNELS].value;
    if (!sizes)
        sizes = o->mode == CLI_RECORD ? "course,scaled" : "course";
    if (read_list(OPT_SIZES, sizes, sizes_name, RL_SIZES_COUNT, o->sizes, err) != 0 ||
        read_list(OPT_CACHE, cache ? cache : "warm,cold", state_name, RL_STATE_COUNT, o->state, err) != 0)
        return -1;
    for (size_t i = 0; i < rl_kernel_count && !kernels; i++)
        o->kernel[i] = true;
    if (kernels && read_list(OPT_KERNELS, kernels, kernel_name, rl_kernel_count, o->kernel, err) != 0)
        return -1;
    if (o->mode == CLI_PROFILE && o->sizes[RL_COURSE] && o->sizes[RL_SCALED])
        return rl_fail(err, RL_E_USAGE, "sizes", "--profile launches each kernel once: name one of course and scaled");
    return 0;
}

int cli_parse(int argc, char *const argv[], char *(*lookup)(const char *name), struct cli_options *ret,
              struct rl_err *err)
{
    struct given given[OPT_COUNT] = {{NULL, false}};
    struct cli_options o = {.mode = CLI_TABLE};
    if (read_arguments(argc, argv, given, err) != 0 || read_environment(lookup, given, err) != 0 ||
        choose_mode(given, &o, err) != 0 || drop_foreign(given, &o, err) != 0 || read_values(given, &o, err) != 0)
        return -1;
    *ret = o;
    return 0;
}

int cli_help(struct rl_buf *out)
{
    rl_buf_puts(out, "Usage: roofline-measure [OPTION…]\n"
                     "Measures what this GPU can do and where each of ten kernels sits under that roof, with hardware "
                     "byte counters.\n\n");
    for (int id = 0; id < OPT_COUNT; id++) {
        char name[64];
        environment_name(id, name);
        rl_buf_printf(out, "  --%s%s%s\n      %s\n      default: %s; environment: %s%s\n", options[id].name,
                      options[id].value ? " " : "", options[id].value ? options[id].value : "", options[id].help,
                      options[id].defaults, name, options[id].value ? "" : "=1");
    }
    rl_buf_puts(
        out,
        "\nAn option on the command line goes before its variable.\n"
        "Exit status: 0 measured; 1 measured, but the run is refused (a wrong result) or partial, as its output says;\n"
        "64 usage; 65 a bad recording; 66 no such recording, or it lacks what was asked; 69 no driver, device or "
        "support;\n"
        "70 the measurement failed; 71 out of memory; 74 output could not be written; 75 busy, try again; 76 broken "
        "protocol; 77 not permitted.\n");
    return out->failed ? -1 : 0;
}
