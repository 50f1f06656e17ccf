// SPDX-License-Identifier: Apache-2.0
#include "answer/querier_internal.h"

#define MAX_ANSWER_BYTES ((size_t)512 << 20)

/* --- calls --- */

static void call_init(struct querier_call *call, const struct answer *answer)
{
    call->answer = answer;
    call->n_selectors = 0;
    arena_init(&call->arena, MAX_ANSWER_BYTES);
    buffer_init(&call->out, MAX_ANSWER_BYTES);
}

static void call_done(struct querier_call *call)
{
    for (uint32_t i = 0; i < call->n_selectors; i++)
        selector_free(call->selectors[i]);
    buffer_done(&call->out);
    arena_done(&call->arena);
}

/* A caller that waits no longer than this needs no answer later. */
static void limit_time(struct exchange *exchange, struct querier_call *call)
{
    int64_t deadline_ns;

    if (call->rpc.timeout_ns == 0 ||
        __builtin_add_overflow(exchange->request.begun_mono_ns, call->rpc.timeout_ns, &deadline_ns))
        return;
    if (call->query.deadline_mono_ns == 0 || deadline_ns < call->query.deadline_mono_ns)
        call->query.deadline_mono_ns = deadline_ns;
}

static int answer_call(struct querier_call *call, const struct querier_procedure *procedure, struct error *err)
{
    void *request;

    if (rpcmessage_read_call(procedure->message, &call->rpc, &call->arena, &request, err) < 0)
        return -1;
    if (procedure->writes_itself)
        return procedure->answer(call, request, err);
    rpcwriter_init(&call->writer, call->rpc.codec, &call->out);
    if (procedure->answer(call, request, err) < 0)
        return -1;
    rpcwriter_done(&call->writer);
    return buffer_check(&call->out, err);
}

void querier_serve(struct exchange *exchange, const struct querier_procedure *procedure)
{
    const struct answer *answer = exchange->context;
    struct querier_call call;
    struct error err;

    if (rpc_open(exchange, &call.rpc) < 0 || !answer_begin(exchange, answer, &call.query))
        return;
    call.query.sums_levels = true;
    limit_time(exchange, &call);
    call_init(&call, answer);
    if (answer_call(&call, procedure, &err) == 0)
        rpc_answer(exchange, &call.rpc, buffer_slice(&call.out));
    else
        rpc_fail(exchange, &call.rpc, rpc_code_from_error(err.code), err.text, 0);
    call_done(&call);
}

/* --- time --- */

int64_t querier_ns(int64_t ms)
{
    return MIN(MAX(ms, 0), QUERIER_LATEST_MS) * QUERIER_NS_PER_MS;
}

int querier_ordered_range(const struct querier_request *request, int64_t *ret_from_ns, int64_t *ret_until_ns,
                          struct error *err)
{
    if (request->start > request->end)
        return error_set(err, ERR_INVALID, "the time range ends before it begins: start is %lld, end is %lld",
                         (long long)request->start, (long long)request->end);
    *ret_from_ns = querier_ns(request->start);
    *ret_until_ns = querier_ns(request->end) + 1;
    return 0;
}

int querier_range(const struct querier_request *request, int64_t *ret_from_ns, int64_t *ret_until_ns, struct error *err)
{
    if (request->start == 0 || request->end == 0)
        return error_set(err, ERR_INVALID,
                         "missing time range in the query: start is %lld and end is %lld; give both in Unix "
                         "milliseconds",
                         (long long)request->start, (long long)request->end);
    return querier_ordered_range(request, ret_from_ns, ret_until_ns, err);
}

/* --- selectors --- */

/* Appends what stands in the braces of a selector, and a type in front of them as one more. */
static int append_matchers(struct slice text, struct buffer *joined, struct error *err)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    AUTO(buffer_done) struct buffer canonical;
    struct slice type, inner;

    buffer_init(&canonical, 0);
    if (selector_new(text, &selector, err) < 0)
        return error_wrap(err, "matchers");
    selector_text(selector, &canonical);
    if (buffer_check(&canonical, err) < 0)
        return -1;
    type = selector_profile_type(selector);
    inner = slice_sub(buffer_slice(&canonical), type.len, SIZE_MAX);
    ASSERT(slice_starts_with(inner, SLICE("{")) && slice_ends_with(inner, SLICE("}")));
    inner = slice_sub(inner, 1, inner.len - 2);
    if (type.len > 0)
        buffer_printf(joined, "%s__profile_type__=\"%.*s\"", joined->len > 1 ? "," : "", SLICE_ARG(type));
    if (inner.len > 0)
        buffer_printf(joined, "%s%.*s", joined->len > 1 ? "," : "", SLICE_ARG(inner));
    return buffer_check(joined, err);
}

/* Keeps a selector as long as the call. */
static const struct selector *keep(struct querier_call *call, struct selector *selector)
{
    ASSERT(call->n_selectors < ARRAY_LEN(call->selectors));
    call->selectors[call->n_selectors++] = selector;
    return selector;
}

int querier_matchers(struct querier_call *call, const struct rpcmessage_texts *matchers,
                     const struct selector **ret_selector, struct error *err)
{
    AUTO(buffer_done) struct buffer joined;
    struct selector *selector;

    buffer_init(&joined, MAX_ANSWER_BYTES);
    buffer_append_byte(&joined, '{');
    for (uint32_t i = 0; i < matchers->n; i++)
        if (append_matchers(matchers->items[i], &joined, err) < 0)
            return -1;
    buffer_append_byte(&joined, '}');
    if (buffer_check(&joined, err) < 0 || selector_new(buffer_slice(&joined), &selector, err) < 0)
        return -1;
    *ret_selector = keep(call, selector);
    return 0;
}

/* --- queries --- */

/* Five parts, or six, of which the last ("delta") says nothing. */
static int check_type(struct slice given, struct slice *ret_type, struct error *err)
{
    struct slice rest = given, part;
    unsigned n = 0;

    if (given.len == 0)
        return error_set(err, ERR_INVALID,
                         "profile_typeID is empty; it is like process_cpu:cpu:nanoseconds:cpu:nanoseconds");
    while (slice_next_part(&rest, ':', &part))
        n++;
    if (n != 5 && n != 6)
        return error_set(err, ERR_INVALID,
                         "profile_typeID '%.*s' has %u parts; it has five, like "
                         "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
                         SLICE_ARG(slice_sub(given, 0, 128)), n);
    *ret_type = n == 5 ? given : slice_sub(given, 0, (size_t)slice_find_last_byte(given, ':'));
    return 0;
}

/* Whether what the selector says of types leaves this one. */
static int allows_type(const struct selector *selector, struct slice type, bool *ret_allows, struct error *err)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct slice own = selector_profile_type(selector);

    if (own.len > 0 && !slice_equal(own, type)) {
        *ret_allows = false;
        return 0;
    }
    return pattern_scratch_new(&scratch, err) < 0 ? -1 : selector_allows_type(selector, type, scratch, ret_allows, err);
}

int querier_query(struct querier_call *call, const struct querier_request *request, struct query *ret_query,
                  struct error *err)
{
    AUTO(selector_freep) struct selector *given = NULL;
    struct query query = call->query;
    struct selector *narrowed;
    bool allows;

    if (check_type(request->profile_type, &query.type, err) < 0 ||
        querier_range(request, &query.from_ns, &query.until_ns, err) < 0)
        return -1;
    if (request->label_selector.len == 0)
        return error_set(err, ERR_INVALID, "label_selector is empty; {} selects everything");
    if (selector_new(request->label_selector, &given, err) < 0)
        return error_wrap(err, "label_selector");
    if (allows_type(given, query.type, &allows, err) < 0 ||
        selector_new_narrowed(given, query.type, NULL, &narrowed, err) < 0)
        return -1;
    query.selector = keep(call, narrowed);
    if (!allows)
        query.until_ns = query.from_ns;
    *ret_query = query;
    return 0;
}

/* As the engine does it for its own reading. */
static int check_wanted(void *context, struct error *err)
{
    const struct query *query = context;

    if (query->is_cancelled && atomic_load_explicit(query->is_cancelled, memory_order_relaxed))
        return error_set(err, ERR_CANCELLED, "the asker has gone");
    if (query->deadline_mono_ns && clock_mono_ns() > query->deadline_mono_ns)
        return error_set(err, ERR_TIMEOUT, "the query took longer than it may");
    return 0;
}

struct store_query querier_store_query(struct querier_call *call, const struct selector *selector, int64_t from_ns,
                                       int64_t until_ns)
{
    return (struct store_query){ .tenant = call->query.tenant,
                                 .selector = selector,
                                 .from_ns = from_ns,
                                 .until_ns = until_ns,
                                 .check = check_wanted,
                                 .check_context = &call->query };
}

/* --- labels of types --- */

void querier_type_labels(struct slice type, struct series_label ret_labels[static QUERIER_TYPE_LABELS])
{
    struct slice rest = type, parts[5] = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(parts) && slice_next_part(&rest, ':', &parts[i]); i++)
        ;
    ret_labels[0] = (struct series_label){ SLICE("__period_type__"), parts[3] };
    ret_labels[1] = (struct series_label){ SLICE("__period_unit__"), parts[4] };
    ret_labels[2] = (struct series_label){ SLICE("__profile_type__"), type };
    ret_labels[3] = (struct series_label){ SLICE("__type__"), parts[1] };
    ret_labels[4] = (struct series_label){ SLICE("__unit__"), parts[2] };
}

struct slice querier_type_label(struct slice type, struct slice name)
{
    struct series_label labels[QUERIER_TYPE_LABELS];

    querier_type_labels(type, labels);
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        if (slice_equal(labels[i].name, name))
            return labels[i].value.ptr ? labels[i].value : SLICE("");
    return (struct slice){ NULL, 0 };
}

void querier_write_labels(struct rpcwriter *writer, uint32_t number, const char *name,
                          const struct series_label *labels, size_t n)
{
    size_t n_there = 0;

    for (size_t i = 0; i < n; i++)
        n_there += labels[i].value.len > 0;
    if (n_there == 0)
        return;
    rpcwriter_list_begin(writer, name);
    for (size_t i = 0; i < n; i++) {
        if (labels[i].value.len == 0)
            continue;
        rpcwriter_begin(writer, number, NULL);
        rpcwriter_text(writer, 1, "name", labels[i].name);
        rpcwriter_text(writer, 2, "value", labels[i].value);
        rpcwriter_end(writer);
    }
    rpcwriter_list_end(writer);
}
