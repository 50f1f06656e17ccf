// SPDX-License-Identifier: Apache-2.0
#include "cli/census.h"

#include "cli/ask.h"

#include <stdio.h>

const struct option_spec census_options[CENSUS_OPTIONS_N] = {
    { "query-memory", OPTION_SIZE, FIELD(census_config, query_bytes), "256MiB",
      "What the answer to a query may take of memory while it is made.", .min = "1MiB", .is_of_machine = true },
    { "timeout", OPTION_DURATION, FIELD(census_config, timeout_ns), "30s", "Give up after this time; 0 never does." },
};

static int count(const struct command_context *context, struct engine *engine, const struct census_config *config,
                 const struct storage_query *chosen, const struct cardinality_options *options,
                 struct cardinality **ret_cardinality, struct error *err)
{
    const struct command_served *served = context->world->served;
    struct command_patience patience = command_patience(context, config->timeout_ns);
    struct query query = { .tenant = chosen->query.tenant,
                           .selector = chosen->selector,
                           .from_ns = chosen->query.from_ns,
                           .until_ns = chosen->query.until_ns,
                           .deadline_mono_ns = patience.deadline_mono_ns,
                           .is_cancelled = served ? served->is_cancelled : NULL };
    struct query_facts facts;

    if (cardinality_new(engine, &query, options, ret_cardinality, &facts, err) < 0)
        return err->code == ERR_TIMEOUT ? command_too_slow(&patience, err) : -1;
    ask_count(context, &facts);
    return 0;
}

/* By an engine of our own. */
static int count_alone(struct command_context *context, const struct census_config *config,
                       const struct storage_query *chosen, const struct cardinality_options *options,
                       struct cardinality **ret_cardinality, struct error *err)
{
    AUTO(store_closep) struct store *store = NULL;
    AUTO(engine_freep) struct engine *engine = NULL;
    struct engine_options engine_options = { .query_bytes = config->query_bytes };

    if (storage_open_to_read(&config->store, &store, err) < 0)
        return -1;
    engine_options.store = store;
    if (engine_new(&engine_options, &engine, err) < 0)
        return -1;
    return count(context, engine, config, chosen, options, ret_cardinality, err);
}

int census_take(struct command_context *context, const struct census_config *config, const char *selector,
                const struct cardinality_options *options, struct cardinality **ret_cardinality, struct error *err)
{
    const struct command_served *served = context->world->served;
    AUTO(storage_query_done) struct storage_query query = { 0 };

    if (storage_query_init(&query, &config->range, selector, err) < 0)
        return -1;
    return served ? count(context, served->engine, config, &query, options, ret_cardinality, err)
                  : count_alone(context, config, &query, options, ret_cardinality, err);
}

struct census_count census_count(uint64_t n_series, bool is_column)
{
    struct census_count count = { "-" };

    if (n_series || !is_column)
        snprintf(count.text, sizeof(count.text), "%llu", (unsigned long long)n_series);
    return count;
}

void census_json_types(const struct cardinality *found, bool has_times, struct json *json)
{
    json_key(json, "types");
    json_array_begin(json);
    for (uint32_t i = 0; i < found->n_types; i++) {
        json_object_begin(json);
        json_key(json, "type");
        json_string(json, found->types[i].profile_type);
        json_key(json, "series");
        json_uint(json, found->types[i].n_series);
        if (has_times) {
            json_key(json, "first_ns");
            json_int(json, found->types[i].first_ns);
            json_key(json, "last_ns");
            json_int(json, found->types[i].last_ns);
        }
        json_object_end(json);
    }
    json_array_end(json);
}
