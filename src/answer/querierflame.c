// SPDX-License-Identifier: Apache-2.0
/* The procedures of querier.v1 that add up profiles: flame graphs of one selection or of two, and pprof. */
#include "answer/answer_internal.h"
#include "answer/dot.h"
#include "answer/flamebearer.h"
#include "answer/pprofjson.h"
#include "answer/querier_internal.h"
#include "profile/transform.h"
#include "query/idtext.h"
#include "query/points.h"
#include "wire/format.h"
#include "wire/pprof.h"

#define DOT_SOURCE_NODES 512 /* of the tree that a graph is made from */

/* --- what is asked for --- */

/* A query with everything that it points to. */
struct selection {
    struct query query;
    struct store_ids ids;
};

/* Reads ids of one kind, each of so many bytes. */
static int read_ids(struct querier_call *call, const struct rpcmessage_texts *texts, size_t id_bytes,
                    int (*parse)(struct slice text, uint8_t *ret_id, struct error *err), const char *field,
                    const void **ret_ids, uint32_t *ret_n, struct error *err)
{
    uint8_t *ids;

    if (texts->n > STORE_MAX_IDS)
        return error_set(err, ERR_INVALID, "%s has %u ids; at most %u can be asked for at once", field, texts->n,
                         STORE_MAX_IDS);
    ids = arena_alloc_array(&call->arena, texts->n, id_bytes, err);
    if (!ids)
        return -1;
    for (uint32_t i = 0; i < texts->n; i++)
        if (parse(texts->items[i], ids + i * id_bytes, err) < 0)
            return error_wrap(err, "%s", field);
    *ret_ids = ids;
    *ret_n = texts->n;
    return 0;
}

static int parse_span(struct slice text, uint8_t *ret_id, struct error *err)
{
    return idtext_parse_span(text, ret_id, err);
}

static int parse_trace(struct slice text, uint8_t *ret_id, struct error *err)
{
    return idtext_parse_trace(text, ret_id, err);
}

static int parse_profile(struct slice text, uint8_t *ret_id, struct error *err)
{
    return idtext_parse_profile(text, ret_id, err);
}

static int select_ids(struct querier_call *call, const struct querier_request *request, struct store_ids *ids,
                      struct error *err)
{
    const void *spans, *traces, *profiles;

    if (request->spans.n > 0 && request->trace_ids.n > 0)
        return error_set(err, ERR_INVALID, "span_selector and trace_id_selector are both given; ask for one of them");
    if (read_ids(call, &request->spans, IDTEXT_SPAN_BYTES, parse_span, "span_selector", &spans, &ids->n_spans, err) <
            0 ||
        read_ids(call, &request->trace_ids, IDTEXT_TRACE_BYTES, parse_trace, "trace_id_selector", &traces,
                 &ids->n_traces, err) < 0 ||
        read_ids(call, &request->profile_ids, IDTEXT_PROFILE_BYTES, parse_profile, "profile_id_selector", &profiles,
                 &ids->n_profiles, err) < 0)
        return -1;
    ids->spans = spans;
    ids->traces = traces;
    ids->profiles = profiles;
    return 0;
}

int querier_call_site(struct querier_call *call, const struct querier_request *request, struct filter_spec *filter,
                      struct error *err)
{
    const struct rpcmessage_list *sites;
    struct slice *names;

    if (!request->stacks)
        return 0;
    sites = &request->stacks->call_site;
    names = ARENA_ARRAY(&call->arena, struct slice, sites->n, err);
    if (!names)
        return -1;
    for (uint32_t i = 0; i < sites->n; i++)
        names[i] = ((const struct querier_site *)sites->items[i])->name;
    filter->call_site = names;
    filter->n_call_site = sites->n;
    return 0;
}

static int check_async(const struct querier_request *request, struct error *err)
{
    if (!request->async || (request->async->type == 0 && request->async->request_id.len == 0))
        return 0;
    return error_set(err, ERR_UNSUPPORTED,
                     "asynchronous queries are not known here; ask without async, answers come at once");
}

static int select_profiles(struct querier_call *call, const struct querier_request *request,
                           struct selection *selection, struct error *err)
{
    *selection = (struct selection){ 0 };
    if (check_async(request, err) < 0 || querier_query(call, request, &selection->query, err) < 0 ||
        select_ids(call, request, &selection->ids, err) < 0 ||
        querier_call_site(call, request, &selection->query.filter, err) < 0)
        return -1;
    if (selection->ids.n_spans || selection->ids.n_traces || selection->ids.n_profiles)
        selection->query.ids = &selection->ids;
    return 0;
}

/* --- flame graphs --- */

static int write_flamegraph(struct querier_call *call, const struct flame *flame, struct error *err)
{
    struct flamebearer bearer;

    if (flamebearer_from_flame(flame, &call->arena, &bearer, err) < 0)
        return -1;
    rpcwriter_begin(&call->writer, 1, "flamegraph");
    flamebearer_write_message(&bearer, &call->writer);
    rpcwriter_end(&call->writer);
    return 0;
}

static int write_tree(struct querier_call *call, const struct flame *flame, struct error *err)
{
    AUTO(buffer_done) struct buffer tree;

    buffer_init(&tree, 0);
    if (flamebearer_write_tree(flame, &tree, err) < 0)
        return -1;
    rpcwriter_bytes(&call->writer, 2, "tree", buffer_slice(&tree));
    return 0;
}

static int answer_flame(struct querier_call *call, const struct querier_request *request, bool is_tree,
                        struct error *err)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    struct selection selection;
    struct query_facts facts;
    uint32_t max_nodes;

    if (select_profiles(call, request, &selection, err) < 0 ||
        flamebearer_max_nodes(request->max_nodes, &max_nodes, err) < 0 ||
        engine_flame(call->answer->engine, &selection.query, max_nodes, &flame, &facts, err) < 0)
        return -1;
    return (is_tree ? write_tree : write_flamegraph)(call, flame, err);
}

static int answer_dot(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    AUTO(buffer_done) struct buffer dot;
    struct dot_options options = { .max_nodes = (uint32_t)request->max_nodes };
    struct selection selection;
    struct query_facts facts;

    buffer_init(&dot, 0);
    if (select_profiles(call, request, &selection, err) < 0 || flamebearer_check_nodes(request->max_nodes, err) < 0 ||
        engine_flame(call->answer->engine, &selection.query, MAX(options.max_nodes, (uint32_t)DOT_SOURCE_NODES), &flame,
                     &facts, err) < 0)
        return -1;
    options.title = querier_type_label(selection.query.type, SLICE("__type__"));
    options.unit = points_unit(selection.query.type);
    if (dot_write_flame(flame, &options, &dot, err) < 0)
        return -1;
    rpcwriter_text(&call->writer, 3, "dot", buffer_slice(&dot));
    return 0;
}

/* --- pprof --- */

/* What Pyroscope says of a profile that it added up. */
static void describe_profile(const struct query *query, struct profile *profile)
{
    struct slice rest = query->type, name = { 0 };

    IGNORE(!slice_next_part(&rest, ':', &name), "a type has a name");
    profile->n_types = MIN(profile->n_types, 1u); /* without the one that counts raw samples */
    profile->default_type = PROFILE_NO_TYPE;
    profile->period = slice_is(name, "process_cpu") ? CLOCK_NS_PER_SECOND : slice_is(name, "memory") ? 524288 : 1;
    profile->start_ns = query->until_ns - 1;
    if (__builtin_sub_overflow(profile->start_ns, query->from_ns, &profile->duration_ns))
        profile->duration_ns = INT64_MAX;
}

static int encode_batch(const struct query *query, struct batch *batch, struct buffer *plain, struct error *err)
{
    describe_profile(query, &batch->profiles[0]);
    return pprof_encode(batch, &(struct format_write_options){ .plain = true }, plain, err);
}

/* What Go's compiler needs of stacks. */
static int encode_for_compiler(const struct querier_pgo *pgo, const struct query *query, const struct batch *batch,
                               struct buffer *plain, struct error *err)
{
    uint32_t n = pgo->keep_locations > 0 ? (uint32_t)MIN(pgo->keep_locations, (int64_t)UINT32_MAX) : UINT32_MAX;
    struct batch cut;
    int result;

    batch_init(&cut, NULL);
    result = transform_keep_leaves(batch, n, pgo->aggregate_callees, &cut, err);
    if (result == 0)
        result = encode_batch(query, &cut, plain, err);
    batch_done(&cut);
    return result;
}

static int encode_profile(struct querier_call *call, const struct querier_request *request, const struct query *query,
                          struct batch *batch, struct buffer *plain, struct error *err)
{
    const struct querier_pgo *pgo = request->stacks ? request->stacks->go_pgo : NULL;
    struct query_facts facts;

    if (engine_profile(call->answer->engine, query, batch, &facts, err) < 0)
        return -1;
    return pgo ? encode_for_compiler(pgo, query, batch, plain, err) : encode_batch(query, batch, plain, err);
}

/* Appends the profile in the codec of the call. */
static int write_profile(struct querier_call *call, const struct querier_request *request, struct buffer *out,
                         struct error *err)
{
    AUTO(buffer_done) struct buffer plain;
    struct selection selection;
    struct batch batch;
    int result;

    buffer_init(&plain, 0);
    if (select_profiles(call, request, &selection, err) < 0)
        return -1;
    batch_init(&batch, NULL);
    result = encode_profile(call, request, &selection.query, &batch, &plain, err);
    batch_done(&batch);
    if (result < 0)
        return -1;
    if (call->rpc.codec == RPC_JSON)
        return pprofjson_write(buffer_slice(&plain), out, err);
    buffer_append_slice(out, buffer_slice(&plain));
    return buffer_check(out, err);
}

static int answer_pprof(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    AUTO(buffer_done) struct buffer profile;

    buffer_init(&profile, 0);
    if (write_profile(call, request, &profile, err) < 0)
        return -1;
    rpcwriter_begin(&call->writer, 5, "pprof");
    rpcwriter_message(&call->writer, 1, "profile", buffer_slice(&profile));
    rpcwriter_end(&call->writer);
    return 0;
}

/* --- procedures --- */

static int answer_merge_stacktraces(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    switch (request->format) {
    case QUERIER_FORMAT_UNSPECIFIED:
    case QUERIER_FORMAT_FLAMEGRAPH: return answer_flame(call, request, false, err);
    case QUERIER_FORMAT_TREE: return answer_flame(call, request, true, err);
    case QUERIER_FORMAT_DOT: return answer_dot(call, request, err);
    case QUERIER_FORMAT_PPROF: return answer_pprof(call, request, err);
    default: break;
    }
    return error_set(err, ERR_INVALID,
                     "format is %d; it can be PROFILE_FORMAT_FLAMEGRAPH (1), _TREE (2), _DOT (3) or _PPROF (4)",
                     request->format);
}

static int answer_merge_span_profile(struct querier_call *call, const struct querier_request *request,
                                     struct error *err)
{
    return answer_flame(call, request, request->format == QUERIER_FORMAT_TREE, err);
}

/* The answer is the profile itself. */
static int answer_merge_profile(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    return write_profile(call, request, &call->out, err);
}

static bool has_same_sites(const struct filter_spec *a, const struct filter_spec *b)
{
    if (a->n_call_site != b->n_call_site)
        return false;
    for (uint32_t i = 0; i < a->n_call_site; i++)
        if (!slice_equal(a->call_site[i], b->call_site[i]))
            return false;
    return true;
}

static int check_sides(const struct querier_request *request, struct error *err)
{
    if (!request->left || !request->right)
        return error_set(err, ERR_INVALID, "%s is missing; a diff has two sides", request->left ? "right" : "left");
    return 0;
}

static int check_likeness(const struct query *left, const struct query *right, struct error *err)
{
    if (!slice_equal(left->type, right->type))
        return error_set(err, ERR_INVALID, "the sides are of different profile types, '%.*s' and '%.*s'",
                         SLICE_ARG(slice_sub(left->type, 0, 64)), SLICE_ARG(slice_sub(right->type, 0, 64)));
    if (!has_same_sites(&left->filter, &right->filter))
        return error_set(err, ERR_UNSUPPORTED,
                         "the sides have different call sites; a diff here has the same for both");
    return 0;
}

static int answer_diff(struct querier_call *call, const struct querier_request *request, struct error *err)
{
    AUTO(diff_freep) struct diff *diff = NULL;
    struct diff_options options = { .scaling = DIFF_ABSOLUTE };
    struct selection left, right;
    struct query_facts facts[2];
    struct flamebearer bearer;
    uint32_t left_nodes, right_nodes;

    if (check_sides(request, err) < 0)
        return -1;
    if (select_profiles(call, request->left, &left, err) < 0 ||
        flamebearer_max_nodes(request->left->max_nodes, &left_nodes, err) < 0)
        return error_wrap(err, "left");
    if (select_profiles(call, request->right, &right, err) < 0 ||
        flamebearer_max_nodes(request->right->max_nodes, &right_nodes, err) < 0)
        return error_wrap(err, "right");
    if (check_likeness(&left.query, &right.query, err) < 0)
        return -1;
    options.max_nodes = MAX(left_nodes, right_nodes);
    if (engine_diff(call->answer->engine, &left.query, &right.query, &options, &diff, facts, err) < 0 ||
        flamebearer_from_diff(diff->flame, &call->arena, &bearer, err) < 0)
        return -1;
    rpcwriter_begin(&call->writer, 1, "flamegraph");
    flamebearer_write_message(&bearer, &call->writer);
    rpcwriter_end(&call->writer);
    return 0;
}

void querier_merge_stacktraces(struct exchange *exchange)
{
    querier_serve(exchange,
                  &(struct querier_procedure){ &queriermessage_merge_stacktraces, answer_merge_stacktraces, false });
}

void querier_merge_span_profile(struct exchange *exchange)
{
    querier_serve(exchange,
                  &(struct querier_procedure){ &queriermessage_merge_span_profile, answer_merge_span_profile, false });
}

void querier_merge_profile(struct exchange *exchange)
{
    querier_serve(exchange, &(struct querier_procedure){ &queriermessage_merge_profile, answer_merge_profile, true });
}

void querier_diff(struct exchange *exchange)
{
    querier_serve(exchange, &(struct querier_procedure){ &queriermessage_diff, answer_diff, false });
}
