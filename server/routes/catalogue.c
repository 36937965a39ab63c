/* /api/v1/devices and /api/v1/kernels. */
#include "kernels/unit/catalogue.h"
#include "db/series/devices.h"
#include "server/routes/routes.h"

int devices_route_list(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                       struct rl_err *err)
{
    (void)request;
    return store_list_devices(routes->answers.store, &answer->body, err);
}

/* Sizes, flop and bytes of one launch. A size that depends on the card is not known here: null, with why. */
static json_t *size_json(const struct rl_unit *unit, enum rl_sizes sizes)
{
    struct rl_dims small, large;
    if (unit->dims(sizes, 1 << 20, &small) || unit->dims(sizes, 64 << 20, &large) || small.n != large.n ||
        small.edge != large.edge || small.steps != large.steps)
        return json_null();
    return json_pack("{s:{s:I, s:I, s:I}, s:I, s:I, s:I}", "dims", "n", (json_int_t)small.n, "edge",
                     (json_int_t)small.edge, "steps", (json_int_t)small.steps, "flop", (json_int_t)unit->flop(&small),
                     "ask_bytes", (json_int_t)unit->ask_bytes(&small), "footprint_bytes",
                     (json_int_t)unit->footprint_bytes(&small));
}

static json_t *unit_json(const struct rl_unit *unit)
{
    static const char *const kinds[] = {[RL_UNIT_KERNEL] = "kernel",
                                        [RL_UNIT_MEMORY_CEILING] = "memory_ceiling",
                                        [RL_UNIT_COMPUTE_CEILING] = "compute_ceiling"};
    json_t *item = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "id", unit->id, "title", unit->title, "kind",
                             kinds[unit->kind], "description", unit->description, "flop_formula", unit->flop_formula,
                             "ask_formula", unit->ask_formula, "streaming", unit->streaming);
    json_t *why = json_object();
    for (int sizes = 0; item && why && sizes < RL_SIZES_COUNT; sizes++) {
        const char *name = rl_sizes_name((enum rl_sizes)sizes);
        json_t *value = size_json(unit, (enum rl_sizes)sizes);
        if (json_is_null(value))
            json_object_set_new(why, name, json_string("the size follows from the L2 cache of the card"));
        json_object_set_new(item, name, value);
    }
    if (!item || !why || json_object_set_new(item, "why", why)) {
        json_decref(item);
        return NULL;
    }
    return item;
}

int kernels_route_list(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                       struct rl_err *err)
{
    (void)routes;
    (void)request;
    json_t *items = json_array();
    for (size_t i = 0; items && i < rl_unit_count; i++)
        if (json_array_append_new(items, unit_json(rl_units[i]))) {
            json_decref(items);
            items = NULL;
        }
    if (!items)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the list");
    return route_json(answer, 200,
                      json_pack("{s:s, s:o, s:n}", "convention",
                                "an FMA counts as 2 flop; asked bytes count global memory only", "items", items,
                                "next"),
                      err);
}
