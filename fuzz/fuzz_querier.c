// SPDX-License-Identifier: Apache-2.0
/* Requests of querier.v1: the first byte chooses the procedure; then comes JSON where it begins with a brace, all else is
 * protobuf. What was read lies in the message or the arena and is UTF-8, and reading it again gives the same. */
#include "answer/queriermessage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rpcmessage *const messages[] = {
    &queriermessage_profile_types, &queriermessage_label_values,      &queriermessage_label_names,
    &queriermessage_series,        &queriermessage_merge_stacktraces, &queriermessage_merge_span_profile,
    &queriermessage_merge_profile, &queriermessage_select_series,     &queriermessage_select_heatmap,
    &queriermessage_diff,          &queriermessage_profile_stats,     &queriermessage_analyze_query,
};

static void check_text(struct slice a, struct slice b)
{
    ASSERT(slice_is_utf8(a) && slice_equal(a, b));
}

static void check_texts(const struct rpcmessage_texts *a, const struct rpcmessage_texts *b)
{
    ASSERT(a->n == b->n && a->n <= RPCMESSAGE_MAX_ITEMS);
    for (uint32_t i = 0; i < a->n; i++)
        check_text(a->items[i], b->items[i]);
}

static void check_stacks(const struct querier_stacks *a, const struct querier_stacks *b)
{
    ASSERT(!a == !b);
    if (!a)
        return;
    ASSERT(a->call_site.n == b->call_site.n && !a->go_pgo == !b->go_pgo);
    for (uint32_t i = 0; i < a->call_site.n; i++)
        check_text(((const struct querier_site *)a->call_site.items[i])->name,
                   ((const struct querier_site *)b->call_site.items[i])->name);
}

static void check_same(const struct querier_request *a, const struct querier_request *b)
{
    ASSERT(a->start == b->start && a->end == b->end && a->max_nodes == b->max_nodes && a->limit == b->limit);
    ASSERT(a->format == b->format && a->exemplars == b->exemplars && a->heatmap == b->heatmap);
    check_text(a->name, b->name);
    check_text(a->profile_type, b->profile_type);
    check_text(a->label_selector, b->label_selector);
    check_text(a->query, b->query);
    check_texts(&a->matchers, &b->matchers);
    check_texts(&a->label_names, &b->label_names);
    check_texts(&a->group_by, &b->group_by);
    check_texts(&a->profile_ids, &b->profile_ids);
    check_texts(&a->trace_ids, &b->trace_ids);
    check_texts(&a->spans, &b->spans);
    check_stacks(a->stacks, b->stacks);
    ASSERT(!a->left == !b->left && !a->right == !b->right && !a->async == !b->async);
    if (a->left)
        check_same(a->left, b->left);
    if (a->right)
        check_same(a->right, b->right);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct rpcmessage *message;
    enum rpc_codec codec;
    struct slice input;
    struct arena arena;
    struct error err;
    void *value, *again;

    if (size == 0)
        return 0;
    message = messages[data[0] % ARRAY_LEN(messages)];
    input = slice_of(data + 1, size - 1);
    codec = slice_starts_with(input, SLICE("{")) ? RPC_JSON : RPC_PROTO;
    arena_init(&arena, 64 << 20);
    if (rpcmessage_read(message, codec, input, &arena, &value, &err) == 0) {
        ASSERT(rpcmessage_read(message, codec, input, &arena, &again, &err) == 0);
        check_same(value, again);
    } else {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
    }
    arena_done(&arena);
    return 0;
}
