// SPDX-License-Identifier: Apache-2.0
#include "cli/askspans.h"

#include "cli/ask.h"
#include "cli/storagesignals.h"
#include "join/operationspans.h"
#include "join/spanfamily.h"
#include "join/spansamples.h"

const char *const askspans_words[] = { [ASKSPANS_OWN] = "own", [ASKSPANS_ROOT] = "root", NULL };

const struct option_spec askspans_options[ASKSPANS_OPTIONS_N] = {
    { "operation", OPTION_TEXT, FIELD(askspans_config, operation), NULL,
      "Samples of the spans of this operation alone: those of the query's service that started in the range, at most a "
      "million and what --query-memory has room for, the newest. 'hearth operations' lists them.",
      .value_name = "NAME", .is_flag_only = true },
    { "attribution", OPTION_ENUM, FIELD(askspans_config, attribution), "own",
      "Which samples a span has: those that carry its own id, or (root) also those of all spans below it in the same "
      "process.",
      .words = askspans_words, .is_flag_only = true },
};

/* How long before the profiles of the range spans may have started. */
#define BEFORE_NS  SPANSAMPLES_BEFORE_NS
#define NAMES_TOLD 5

void askspans_done(struct askspans *spans)
{
    spanids_done(&spans->set);
}

int askspans_service(const struct ask_question *question, struct slice *ret_service, struct error *err)
{
    if (selector_value(question->resolved.selector, SLICE(SERIES_SERVICE_LABEL), ret_service) && ret_service->len)
        return 0;
    return error_set(err, ERR_USAGE,
                     "an operation is one of a service; begin the query with its name, like 'shop.cpu'");
}

/* --- telling --- */

static bool is_near(struct slice name, const char *operation)
{
    return slice_starts_with(name, slice_sub(slice_from(operation), 0, 3));
}

int askspans_tell_none(const struct ask *ask, const struct storagesignals_traces *traces, struct slice service,
                       const char *operation, const struct ask_question *question, struct error *err)
{
    struct tracestore_filter filter = { .from_ns = question->query.from_ns,
                                        .until_ns = question->query.until_ns,
                                        .service = service };
    struct tracestore_operations found;
    AUTO(buffer_done) struct buffer names;
    unsigned n_told = 0;

    buffer_init(&names, 0);
    if (tracestore_list_operations(traces->store, slice_from(ask->config->tenant), &filter, &traces->asker,
                                   ask->context->arena, &found, err) < 0)
        return -1;
    for (int near = 1; near >= 0; near--) /* those that look like it first */
        for (size_t i = 0; i < found.n && n_told < NAMES_TOLD; i++)
            if (is_near(found.items[i].name, operation) == (near == 1))
                buffer_printf(&names, "%s'%.*s'", n_told++ ? ", " : "", SLICE_ARG(found.items[i].name));
    if (buffer_check(&names, err) < 0)
        return -1;
    if (n_told == 0)
        command_note(ask->context, "no spans of service '%.*s' started in this time at all", SLICE_ARG(service));
    else
        command_note(ask->context, "no spans of operation '%s' of service '%.*s' started in this time; %s %.*s",
                     operation, SLICE_ARG(service), found.n > n_told ? "among others there are" : "there are",
                     SLICE_ARG(buffer_slice(&names)));
    return 0;
}

void askspans_tell_cut(const struct ask *ask, const char *operation, const struct operationspans *spans)
{
    if (spans->is_cut)
        command_warn(ask->context, "operation '%s' has more than %zu spans in this time; these are the newest%s",
                     operation, spans->n,
                     spans->n < OPERATIONSPANS_MAX ? ", as many as --query-memory has room for" : "");
}

/* --- narrowing --- */

static struct spanfamily_query family_of(const struct ask *ask, const struct storagesignals_traces *traces,
                                         const struct ask_question *question)
{
    return (struct spanfamily_query){ .traces = traces->store,
                                      .tenant = slice_from(ask->config->tenant),
                                      .from_ns = MAX(question->query.from_ns, BEFORE_NS) - BEFORE_NS,
                                      .until_ns = question->query.until_ns,
                                      .asker = traces->asker };
}

static int add_operation(const struct ask *ask, const struct storagesignals_traces *traces,
                         const struct askspans_config *config, struct ask_question *question, struct error *err)
{
    struct operationspans_query query = { .traces = traces->store,
                                          .tenant = slice_from(ask->config->tenant),
                                          .operation = slice_from(config->operation),
                                          .from_ns = question->query.from_ns,
                                          .until_ns = question->query.until_ns,
                                          .asker = traces->asker };
    struct spanfamily_query family = family_of(ask, traces, question);
    struct spanids *set = &question->spans.set;
    struct operationspans spans;
    int result;

    if (askspans_service(question, &query.service, err) < 0 || operationspans_read(&query, &spans, err) < 0)
        return -1;
    askspans_tell_cut(ask, config->operation, &spans);
    result = spans.n ? operationspans_ids(&spans, 0, spans.n, set, err)
                     : askspans_tell_none(ask, traces, query.service, config->operation, question, err);
    operationspans_done(&spans);
    if (result == 0 && set->n > 0 && config->attribution == ASKSPANS_ROOT) {
        family.from_ns = question->query.from_ns;
        result = spanfamily_of_service(&family, query.service, &set, 1, err);
    }
    return result;
}

/* --span-id with what is below: the set takes the place of the list. */
static int add_families(const struct ask *ask, const struct storagesignals_traces *traces,
                        struct ask_question *question, struct error *err)
{
    struct spanfamily_query family = family_of(ask, traces, question);
    struct askspans *spans = &question->spans;

    for (uint32_t i = 0; i < spans->ids.n_spans; i++)
        if (spanids_add(&spans->set, spans->ids.spans[i], err) < 0)
            return -1;
    spans->ids.n_spans = 0;
    return spanfamily_of_spans(&family, &spans->set, err);
}

int askspans_narrow(const struct ask *ask, const struct askspans_config *config, struct ask_question *question,
                    struct error *err)
{
    const struct store_ids *given = question->query.ids;
    bool is_of_families = config->attribution == ASKSPANS_ROOT && given && given->n_spans > 0;
    AUTO(storagesignals_end_traces) struct storagesignals_traces use = { 0 };
    int result;

    question->spans.is_own =
        config->attribution == ASKSPANS_OWN && (config->operation || (given && given->n_spans > 0));
    if (!config->operation && !is_of_families)
        return 0;
    if (config->operation && is_of_families)
        return error_set(err, ERR_USAGE,
                         "--span-id says which spans already; leave --operation or --attribution root out");
    if (ask_use_traces(ask->context, ask->config, &use, err) < 0)
        return -1;
    spanids_init(&question->spans.set, SPANFAMILY_MAX_SPANS);
    question->spans.ids = given ? *given : (struct store_ids){ 0 };
    result =
        config->operation ? add_operation(ask, &use, config, question, err) : add_families(ask, &use, question, err);
    question->spans.ids.span_set = &question->spans.set;
    question->query.ids = &question->spans.ids;
    return result;
}
