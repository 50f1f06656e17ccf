// SPDX-License-Identifier: Apache-2.0
#include "cli/census.h"

#include "base/units.h"

#include <stdio.h>

const struct option_spec census_options[CENSUS_OPTIONS_N] = {
    { "query-memory", OPTION_SIZE, FIELD(census_config, query_bytes), "256MiB",
      "What the answer to a query may take of memory while it is made.", .min = "1MiB" },
    { "timeout", OPTION_DURATION, FIELD(census_config, timeout_ns), "30s", "Give up after this time; 0 never does." },
};

static int count(struct engine *engine, const struct census_config *config, const struct storage_query *chosen,
                 const struct cardinality_options *options, struct cardinality **ret_cardinality, struct error *err)
{
    struct query query = { .tenant = chosen->query.tenant,
                           .selector = chosen->selector,
                           .from_ns = chosen->query.from_ns,
                           .until_ns = chosen->query.until_ns };
    struct query_facts facts;

    if (config->timeout_ns && __builtin_add_overflow(clock_mono_ns(), config->timeout_ns, &query.deadline_mono_ns))
        query.deadline_mono_ns = 0;
    if (cardinality_new(engine, &query, options, ret_cardinality, &facts, err) == 0)
        return 0;
    return err->code == ERR_TIMEOUT ? error_wrap(err, "--timeout %s", units_human_ns(config->timeout_ns).text) : -1;
}

int census_take(const struct census_config *config, const char *selector, const struct cardinality_options *options,
                struct cardinality **ret_cardinality, struct error *err)
{
    AUTO(storage_query_done) struct storage_query query = { 0 };
    AUTO(store_closep) struct store *store = NULL;
    AUTO(engine_freep) struct engine *engine = NULL;
    struct engine_options engine_options = { .query_bytes = config->query_bytes };

    if (storage_query_init(&query, &config->range, selector, err) < 0 ||
        storage_open_to_read(&config->store, &store, err) < 0)
        return -1;
    engine_options.store = store;
    if (engine_new(&engine_options, &engine, err) < 0)
        return -1;
    return count(engine, config, &query, options, ret_cardinality, err);
}

struct census_count census_count(uint64_t n_series, bool is_column)
{
    struct census_count count = { "-" };

    if (n_series || !is_column)
        snprintf(count.text, sizeof(count.text), "%llu", (unsigned long long)n_series);
    return count;
}
