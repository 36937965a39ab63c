/* The catalogue on standard output. */
#include <stdio.h>

#include "gpu/measure/measure.h"

static const char *kind_name(enum rl_unit_kind kind)
{
    return kind == RL_UNIT_KERNEL ? "kernel" : kind == RL_UNIT_MEMORY_CEILING ? "memory_ceiling" : "compute_ceiling";
}

static int list_json(struct rl_err *err)
{
    json_t *items = json_array();
    for (size_t i = 0; i < rl_unit_count; i++) {
        const struct rl_unit *unit = rl_units[i];
        json_array_append_new(items, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "id", unit->id, "title",
                                               unit->title, "kind", kind_name(unit->kind), "flop_formula",
                                               unit->flop_formula, "ask_formula", unit->ask_formula, "description",
                                               unit->description, "streaming", unit->streaming));
    }
    if (json_array_size(items) != rl_unit_count) {
        json_decref(items);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the catalogue");
    }
    return measure_print_json(json_pack("{s:o}", "items", items), err);
}

int list_catalogue(const struct cli_options *options, struct rl_err *err)
{
    if (options->json)
        return list_json(err);
    for (size_t i = 0; i < rl_unit_count; i++) {
        const struct rl_unit *unit = rl_units[i];
        if (i == 0 || i == rl_kernel_count)
            printf("%s%s\n", i ? "\n" : "", i ? "Ceilings" : "Kernels");
        printf("  %-22s %s\n%26sflop per launch: %s; asked bytes per launch: %s\n%26s%s\n", unit->id, unit->title, "",
               unit->flop_formula, unit->ask_formula, "", unit->description);
    }
    puts("\nA fused multiply-add counts as two flop. Sizes follow from --sizes and the card's L2.");
    return 0;
}
