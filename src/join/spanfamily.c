// SPDX-License-Identifier: Apache-2.0
#include "join/spanfamily.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/units.h"
#include "base/vec.h"
#include "join/spantree.h"

/* How long behind the range what is below may start. */
#define LATER_NS (3600 * CLOCK_NS_PER_SECOND)

static int64_t later(int64_t time_ns)
{
    int64_t result_ns;

    return __builtin_add_overflow(time_ns, LATER_NS, &result_ns) ? INT64_MAX : result_ns;
}

/* F3. */
static int check_bytes(const struct tracestore_asker *asker, size_t bytes, struct error *err)
{
    size_t max_bytes = tracestore_asker_bytes(asker);

    if (bytes <= max_bytes / 3 * 2)
        return 0;
    return error_set(err, ERR_LIMIT,
                     "finding the spans below takes more than two thirds of %s, the memory of a query; ask for a "
                     "shorter time or for the spans' own samples, or raise --query-memory",
                     units_human_bytes((int64_t)MIN(max_bytes, (size_t)INT64_MAX)).text);
}

/* Adds one, if there is memory. While the set grows, which doubles it, the old one is still there. */
static int add_id(struct spanids *ids, const uint8_t id[static SPAN_ID_BYTES], const struct tracestore_asker *asker,
                  size_t other_bytes, struct error *err)
{
    if (ids->n >= ids->capacity / 2 && !spanids_has(ids, id) &&
        check_bytes(asker, other_bytes + 3 * spanids_bytes(ids), err) < 0)
        return -1;
    return spanids_add(ids, id, err);
}

/* --- of single spans --- */

struct trace_name {
    uint8_t id[SPAN_TRACE_ID_BYTES];
};
struct finding {
    struct hash_set seen;
    VEC(struct trace_name) traces;
};

static int note_trace(void *context, const struct span *span, struct error *err)
{
    struct finding *finding = context;
    struct hash128 hash = hash_bytes(slice_of((const char *)span->trace_id, SPAN_TRACE_ID_BYTES), 0);
    struct trace_name *trace;
    uint32_t place;
    bool is_new;

    if (hash_set_add(&finding->seen, hash, &place, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    if (finding->traces.n == SPANFAMILY_MAX_TRACES)
        return error_set(err, ERR_LIMIT,
                         "the spans are of more than %u traces; ask for fewer, or for their own samples",
                         SPANFAMILY_MAX_TRACES);
    trace = VEC_PUSH(&finding->traces, SPANFAMILY_MAX_TRACES, err);
    if (!trace)
        return -1;
    memcpy(trace->id, span->trace_id, SPAN_TRACE_ID_BYTES);
    return 0;
}

/* Parents come first, so a span that was added brings those below it. */
static int add_family(const struct spantree *tree, const struct span *spans, const struct tracestore_asker *asker,
                      struct spanids *ids, struct error *err)
{
    for (uint32_t i = 0; i < tree->n; i++) {
        const struct spantree_node *node = &tree->nodes[i];

        if (!node->is_local_root && spanids_has(ids, spans[tree->nodes[node->parent].span].span_id) &&
            add_id(ids, spans[node->span].span_id, asker, 0, err) < 0)
            return -1;
    }
    return 0;
}

static int add_trace(const struct spanfamily_query *query, const struct trace_name *name, struct spanids *ids,
                     struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct tracestore_trace trace;
    struct spantree tree;

    arena_init(&arena, 0);
    if (tracestore_get(query->traces, query->tenant, name->id, query->from_ns, later(query->until_ns), &query->asker,
                       &arena, &trace, err) < 0 ||
        spantree_build(trace.spans, trace.n, &arena, &tree, err) < 0)
        return -1;
    return add_family(&tree, trace.spans, &query->asker, ids, err);
}

int spanfamily_of_spans(const struct spanfamily_query *query, struct spanids *ids, struct error *err)
{
    struct tracestore_filter filter = { .from_ns = query->from_ns, .until_ns = query->until_ns, .ids = ids };
    struct finding finding = { 0 };
    int result;

    hash_set_init(&finding.seen, 0);
    result = tracestore_each(query->traces, query->tenant, &filter, 0, &query->asker, note_trace, &finding, err);
    for (size_t i = 0; result == 0 && i < finding.traces.n; i++)
        result = add_trace(query, &finding.traces.items[i], ids, err);
    hash_set_done(&finding.seen);
    VEC_DONE(&finding.traces);
    return result;
}

/* --- of a service --- */

enum { UNKNOWN = 0, NOWHERE = 1, ASKING = 2, FIRST_SET = 3 };

struct member {
    uint64_t id, parent; /* parent 0 = none in this process */
    uint32_t home;       /* FIRST_SET + the set it is of, or one of the above */
};
struct household {
    struct map places; /* of members by id */
    VEC(struct member) members;
    struct spanids *const *sets;
    uint32_t n_sets;
    const struct tracestore_asker *asker;
};

static size_t bytes_of(const struct household *household)
{
    size_t bytes = household->members.capacity * sizeof(struct member) + map_bytes(&household->places);

    for (uint32_t i = 0; i < household->n_sets; i++)
        bytes += spanids_bytes(household->sets[i]);
    return bytes;
}

/* What grows is there twice for a moment: members then take half as much again, the map twice as much. */
static int check_growth(const struct household *household, struct error *err)
{
    size_t bytes = bytes_of(household), map_slots = map_bytes(&household->places) / sizeof(struct map_slot);
    bool members_grow = household->members.n == household->members.capacity;
    bool map_grows = (household->places.n + 1) * 4ull > map_slots * 3ull;

    if (!members_grow && !map_grows)
        return 0;
    if (members_grow)
        bytes += household->members.capacity * 3 / 2 * sizeof(struct member);
    if (map_grows)
        bytes += 2 * map_bytes(&household->places);
    return check_bytes(household->asker, bytes, err);
}

static uint64_t word_of(const uint8_t id[static SPAN_ID_BYTES])
{
    uint64_t word;

    memcpy(&word, id, sizeof(word));
    return word;
}

static int add_member(void *context, const struct span *span, struct error *err)
{
    struct household *household = context;
    uint64_t id = word_of(span->span_id);
    struct member *member;

    if (household->members.n == SPANFAMILY_MAX_SPANS)
        return error_set(
            err, ERR_LIMIT,
            "the service has more than %u spans in this time; ask for a shorter one, or for the spans' own "
            "samples",
            SPANFAMILY_MAX_SPANS);
    if (check_growth(household, err) < 0)
        return -1;
    member = VEC_PUSH(&household->members, SPANFAMILY_MAX_SPANS, err);
    if (!member)
        return -1;
    member->id = id;
    member->parent = spantree_is_taking_up(span) ? 0 : word_of(span->parent_id);
    for (uint32_t i = 0; i < household->n_sets && member->home == UNKNOWN; i++)
        if (spanids_has(household->sets[i], span->span_id))
            member->home = FIRST_SET + i;
    return map_set(&household->places, id, (uint32_t)(household->members.n - 1), err);
}

static struct member *parent_of(const struct household *household, const struct member *member)
{
    const uint32_t *place = member->parent ? map_find(&household->places, member->parent) : NULL;

    return place ? &household->members.items[*place] : NULL;
}

/* Up to somebody who knows where he is of, or to where the way ends, also in a circle; then all on the way know it. */
static void find_home(struct household *household, struct member *member)
{
    struct member *at = member, *next;
    uint32_t home;

    for (; at && at->home == UNKNOWN; at = parent_of(household, at))
        at->home = ASKING;
    home = at && at->home != ASKING ? at->home : NOWHERE;
    for (at = member; at && at->home == ASKING; at = next) {
        next = parent_of(household, at);
        at->home = home;
    }
}

static int move_in(struct household *household, const struct member *member, struct error *err)
{
    struct spanids *set = household->sets[member->home - FIRST_SET];

    return add_id(set, (const uint8_t *)&member->id, household->asker, bytes_of(household) - spanids_bytes(set), err);
}

static int settle(struct household *household, struct error *err)
{
    VEC_EACH (&household->members, member) {
        if (member->home == UNKNOWN)
            find_home(household, member);
        if (member->home >= FIRST_SET && move_in(household, member, err) < 0)
            return -1;
    }
    return 0;
}

int spanfamily_of_service(const struct spanfamily_query *query, struct slice service, struct spanids *const sets[],
                          uint32_t n_sets, struct error *err)
{
    struct tracestore_filter filter = { .from_ns = query->from_ns,
                                        .until_ns = later(query->until_ns),
                                        .service = service };
    struct household household = { .sets = sets, .n_sets = n_sets, .asker = &query->asker };
    int result;

    map_init(&household.places, 0);
    result = tracestore_each(query->traces, query->tenant, &filter, 0, &query->asker, add_member, &household, err);
    if (result == 0)
        result = settle(&household, err);
    map_done(&household.places);
    VEC_DONE(&household.members);
    return result;
}
