// SPDX-License-Identifier: Apache-2.0
/* A search reads what may have the best places: newest first hour by hour back in time, in each hour by the newest span that
 * blocks and slots may have; slowest first day by day, in each day by the longest span that may pass. It stops when nothing
 * that is left can come before the last trace of the page. Then the traces of the page are loaded, all at once. */
#include "trace/traceload.h"
#include "trace/tracepick.h"
#include "trace/tracestore.h"
#include "trace/tracestore_internal.h"
#include "trace/tracesummary.h"
#include "trace/tracetop.h"

#include <stdlib.h>

#define SPARE_TRACES 32u               /* more than asked for: some turn out to be of earlier pages */
#define MAX_BLOCKS   ((size_t)1 << 20) /* of a day */
#define AROUND_NS    HOURLY_HOUR_NS
#define MIN_SUMMED   1000u /* spans of a trace that are looked at in any case */

/* A block, or what is left of a head, and the best it may have. */
struct source {
    struct hourly_number closing;
    uint32_t block;
    const struct hourly_head *head; /* or NULL: a block */
    struct traceread_slots slots;   /* of the head: those that are left */
    int64_t max_start_ns, max_duration_ns;
    bool is_done; /* of the head: none is left */
};

struct searching {
    struct traceread read;
    const struct tracestore_search *search;
    struct tracetop top;
    VEC(struct source) blocks; /* the best first */
    size_t next_block;
    VEC(struct source) heads;
    const struct hourly_view *view;
    bool is_over; /* nothing in days before this one can make a difference: they are not even opened */
};

static void searching_done(struct searching *searching)
{
    traceread_done(&searching->read);
    tracetop_done(&searching->top);
    VEC_DONE(&searching->blocks);
    VEC_DONE(&searching->heads);
}

/* --- what there is --- */

static const struct tracestore_filter *filter_of(const struct searching *searching)
{
    return &searching->search->filter;
}

static bool is_slowest(const struct searching *searching)
{
    return searching->search->order == TRACESTORE_SLOWEST;
}

static bool is_tally_of_range(const struct searching *searching, const struct tracetally *tally)
{
    const struct tracestore_filter *filter = filter_of(searching);

    return tally->n_spans > 0 && tally->max_start_ns >= filter->from_ns &&
           (filter->until_ns == 0 || tally->min_start_ns < filter->until_ns) &&
           tally->max_duration_ns >= filter->min_duration_ns;
}

/* What a block may have at best. Newest first its header is read only when its turn comes, which mostly it does not. */
static int add_block(void *context, const struct traceread_block *block, struct error *err)
{
    struct searching *searching = context;
    const struct tracestore_filter *filter = filter_of(searching);
    struct spanblock_header header;
    struct source *source;
    int64_t max_duration_ns = block->tally.max_duration_ns;

    if (!is_tally_of_range(searching, &block->tally) ||
        !tracetop_may_take(&searching->top, block->tally.max_start_ns, max_duration_ns))
        return 0;
    if (is_slowest(searching)) {
        if (traceread_header(&searching->read, block->header, &header, err) < 0)
            return traceread_pass(&searching->read, searching->view, err);
        if (!tracepick_may_have(filter, &header, &max_duration_ns))
            return 0;
    }
    source = VEC_PUSH(&searching->blocks, MAX_BLOCKS, err);
    if (!source)
        return -1;
    *source = (struct source){ .closing = block->closing,
                               .block = block->block,
                               .max_start_ns = block->tally.max_start_ns,
                               .max_duration_ns = max_duration_ns };
    if (filter->until_ns != 0)
        source->max_start_ns = MIN(source->max_start_ns, filter->until_ns - 1);
    return 0;
}

static int add_closing(struct searching *searching, const struct hourly_number *closing, struct error *err)
{
    struct tracetally tally;

    if (traceread_tally(&searching->read, searching->view, closing, &tally, err) < 0)
        return -1;
    if (!is_tally_of_range(searching, &tally) ||
        !tracetop_may_take(&searching->top, tally.max_start_ns, tally.max_duration_ns))
        return 0;
    return traceread_each_block(&searching->read, searching->view, closing, add_block, searching, err);
}

/* Goes to the last slot that has rows, of those that are left. */
static int advance_head(struct searching *searching, struct source *source, struct error *err)
{
    uint32_t slot;
    bool has;

    if (traceread_last_slot(&searching->read, searching->view, source->head, &source->slots, &slot, &has, err) < 0)
        return -1;
    source->is_done = !has;
    if (has) {
        source->slots.end = slot + 1;
        source->max_start_ns = (int64_t)(slot + 1) * SPANROW_SLOT_NS - 1;
    }
    return 0;
}

static int add_head(struct searching *searching, const struct hourly_head *head, struct error *err)
{
    const struct tracestore_filter *filter = filter_of(searching);
    struct source *source;
    struct source made = { .head = head, .max_duration_ns = INT64_MAX, .max_start_ns = INT64_MAX };

    if (!traceread_slots_of(searching->view, head->hour, filter->from_ns, filter->until_ns, &made.slots))
        return 0;
    if (!is_slowest(searching) && advance_head(searching, &made, err) < 0)
        return -1;
    source = VEC_PUSH(&searching->heads, MAX_BLOCKS, err);
    if (!source)
        return -1;
    *source = made;
    return 0;
}

static int add_hour(struct searching *searching, uint8_t hour, struct error *err)
{
    const struct hourly_view *view = searching->view;

    for (size_t i = 0; i < view->n_closings; i++)
        if (view->closings[i].hour == hour && add_closing(searching, &view->closings[i], err) < 0)
            return -1;
    for (size_t i = 0; i < view->n_heads; i++)
        if (view->heads[i].hour == hour && add_head(searching, &view->heads[i], err) < 0)
            return -1;
    return 0;
}

/* --- reading it --- */

static int take_row(void *context, const struct traceread_row *row, struct error *err)
{
    struct searching *searching = context;
    struct span_resource resource;
    struct traceplace place;
    struct span span;
    bool takes;

    searching->read.n_searched++;
    if (traceread_row_takes(&searching->read, searching->view, row, filter_of(searching), false, &span, &resource,
                            &takes, err) < 0)
        return -1;
    if (!takes)
        return 0;
    place = traceplace_of(&span);
    return tracetop_add(&searching->top, &place, err);
}

static int read_head(struct searching *searching, struct source *source, struct error *err)
{
    struct traceread_slots slots = source->slots;

    if (!is_slowest(searching))
        slots.first = slots.end - 1;
    if (traceread_each_row(&searching->read, searching->view, source->head, &slots, take_row, searching, err) < 0)
        return -1;
    source->slots.end = slots.first;
    if (source->slots.end > source->slots.first)
        return advance_head(searching, source, err);
    source->is_done = true;
    return 0;
}

static int take_spans(struct searching *searching, struct spanblock *block, struct tracepick *pick, struct error *err)
{
    for (uint32_t run = 0; run < block->n_runs; run++) {
        for (uint32_t i = block->run_starts[run]; i < block->run_starts[run + 1]; i++) {
            struct traceplace place;
            bool takes;

            if (!tracetop_may_take(&searching->top, block->start_ns[i], block->duration_ns[i]))
                continue; /* before its attributes are read */
            if (tracepick_takes(pick, i, &takes, err) < 0)
                return traceread_pass(&searching->read, searching->view, err);
            if (!takes)
                continue;
            place = (struct traceplace){ .start_ns = block->start_ns[i],
                                         .duration_ns = block->duration_ns[i],
                                         .kind = block->classes[block->class_ids[i]].kind };
            memcpy(place.trace_id, block->trace_ids[run], sizeof(place.trace_id));
            memcpy(place.span_id, block->span_ids[i], sizeof(place.span_id));
            if (tracetop_add(&searching->top, &place, err) < 0)
                return -1;
        }
    }
    return 0;
}

/* Slowest first, headers were looked at before. */
static int is_worth_reading(struct searching *searching, const struct source *source, bool *ret_is_worth,
                            struct error *err)
{
    struct spanblock_header header;
    int64_t max_duration_ns;

    if (traceread_may_have_attributes(&searching->read, searching->view, &source->closing, source->block,
                                      filter_of(searching), ret_is_worth, err) < 0)
        return -1;
    if (!*ret_is_worth || is_slowest(searching))
        return 0;
    if (traceread_find_header(&searching->read, searching->view, &source->closing, source->block, &header, ret_is_worth,
                              err) < 0)
        return -1;
    *ret_is_worth = *ret_is_worth && tracepick_may_have(filter_of(searching), &header, &max_duration_ns);
    return 0;
}

static int read_block(struct searching *searching, const struct source *source, struct error *err)
{
    struct spanblock block;
    struct tracepick pick;
    bool is_worth, has;

    if (is_worth_reading(searching, source, &is_worth, err) < 0)
        return -1;
    if (!is_worth)
        return 0;
    if (traceread_open(&searching->read, searching->view, &source->closing, source->block, &block, &has, err) < 0)
        return -1;
    if (!has)
        return 0;
    searching->read.n_searched += block.n_spans;
    if (tracepick_init(&pick, filter_of(searching), &block, &searching->read.scratch, err) < 0)
        return -1;
    return pick.has_classes ? take_spans(searching, &block, &pick, err) : 0;
}

static bool is_better(const struct searching *searching, const struct source *a, const struct source *b)
{
    if (is_slowest(searching) && a->max_duration_ns != b->max_duration_ns)
        return a->max_duration_ns > b->max_duration_ns;
    return a->max_start_ns > b->max_start_ns;
}

static int compare_newest(const void *a, const void *b)
{
    const struct source *x = a, *y = b;

    return (x->max_start_ns < y->max_start_ns) - (x->max_start_ns > y->max_start_ns);
}

static int compare_slowest(const void *a, const void *b)
{
    const struct source *x = a, *y = b;

    if (x->max_duration_ns != y->max_duration_ns)
        return x->max_duration_ns < y->max_duration_ns ? 1 : -1;
    return compare_newest(a, b);
}

/* The best source that is left, or NULL. */
static struct source *find_best(struct searching *searching)
{
    struct source *best =
        searching->next_block < searching->blocks.n ? &searching->blocks.items[searching->next_block] : NULL;

    VEC_EACH (&searching->heads, head) {
        if (!head->is_done && (!best || is_better(searching, head, best)))
            best = head;
    }
    return best;
}

/* Reads what was added as long as it can make a difference, and forgets it. */
static int read_sources(struct searching *searching, struct error *err)
{
    struct source *source;

    searching->next_block = 0;
    if (searching->blocks.n > 0)
        qsort(searching->blocks.items, searching->blocks.n, sizeof(*searching->blocks.items),
              is_slowest(searching) ? compare_slowest : compare_newest);
    while ((source = find_best(searching)) != NULL) {
        tracetop_settle(&searching->top);
        if (!tracetop_may_take(&searching->top, source->max_start_ns, source->max_duration_ns))
            break;
        if (source->head) {
            if (read_head(searching, source, err) < 0)
                return -1;
            continue;
        }
        searching->next_block++;
        if (read_block(searching, source, err) < 0)
            return -1;
    }
    searching->blocks.n = searching->heads.n = 0;
    return 0;
}

/* Whether nothing that started before `until_ns` can make a difference any more. */
static bool is_enough(struct searching *searching, int64_t until_ns)
{
    if (is_slowest(searching))
        return false;
    tracetop_settle(&searching->top);
    return !tracetop_may_take(&searching->top, until_ns - 1, INT64_MAX);
}

static int search_day(void *context, const struct hourly_view *view, struct error *err)
{
    struct searching *searching = context;
    const struct tracestore_filter *filter = filter_of(searching);

    searching->view = view;
    for (uint8_t hour = 24; hour-- > 0 && !is_enough(searching, view->start_ns + (hour + 1) * HOURLY_HOUR_NS);) {
        if (!traceread_has_hour(view, hour, filter->from_ns, filter->until_ns))
            continue;
        if (add_hour(searching, hour, err) < 0)
            return -1;
        if (!is_slowest(searching) && read_sources(searching, err) < 0)
            return -1;
    }
    if (is_slowest(searching))
        return read_sources(searching, err);
    searching->is_over = is_enough(searching, view->start_ns);
    return searching->is_over ? error_set(err, ERR_CANCELLED, "the page is full") : 0;
}

/* --- the page --- */

/* Fills `top` with the traces of the page, and one more if there is one. Traces that are chosen may turn out to have stood on an
 * earlier page: then more are chosen from the start. */
static int find_traces(struct searching *searching, const struct traceplace *after, struct error *err)
{
    const struct tracestore_search *search = searching->search;
    const struct tracestore_filter *filter = &search->filter;

    for (size_t n_wanted = search->limit + 1 + (after ? SPARE_TRACES : 0);; n_wanted *= 4) {
        tracetop_done(&searching->top);
        tracetop_init(&searching->top, search->order, n_wanted, after);
        searching->read.n_searched = 0;
        searching->is_over = false;
        if (hourly_each_day(searching->read.hourly, filter->from_ns, filter->until_ns ? filter->until_ns : INT64_MAX,
                            true, search_day, searching, err) < 0 &&
            !searching->is_over)
            return -1;
        tracetop_settle(&searching->top);
        if (searching->top.places.n > search->limit || !searching->top.has_cut)
            return 0;
        if (n_wanted * 16 * sizeof(struct traceplace) > searching->read.max_bytes)
            return error_set(err, ERR_LIMIT, "too many traces stand before this page; narrow the range instead");
    }
}

static void free_wishes(struct traceload_wish *wishes, size_t n)
{
    for (size_t i = 0; wishes && i < n; i++)
        traceload_wish_done(&wishes[i]);
    memory_free(wishes);
}

/* The spans around where each trace stands. */
static int load_traces(struct searching *searching, struct traceload_wish *wishes, size_t n, struct arena *arena,
                       struct error *err)
{
    struct traceload_how how = { .filter = filter_of(searching), .max_bytes = searching->read.max_bytes };
    size_t fair_share = searching->read.max_bytes / 2 / sizeof(struct span) / n;

    how.max_spans = MIN(MAX(fair_share, MIN_SUMMED), TRACESTORE_MAX_SPANS);
    for (size_t i = 0; i < n; i++) {
        const struct traceplace *place = &searching->top.places.items[i];

        wishes[i] = (struct traceload_wish){ .from_ns = MAX(place->start_ns - AROUND_NS, 0),
                                             .until_ns = place->start_ns + AROUND_NS,
                                             .place = place };
        memcpy(wishes[i].trace_id, place->trace_id, sizeof(wishes[i].trace_id));
    }
    return traceload_run(&searching->read, wishes, n, &how, arena, err);
}

/* A trace of which nothing is there any more, because its day was forgotten meanwhile, is left out. */
static int sum_up(struct searching *searching, const struct traceload_wish *wishes, size_t n, struct arena *arena,
                  struct tracestore_results *results, struct error *err)
{
    results->items = ARENA_ARRAY(arena, struct tracestore_found, n, err);
    if (!results->items)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct tracestore_found *found = &results->items[results->n];
        bool is_found = false;

        if (wishes[i].items.n > 0 && tracesummary_make(wishes[i].items.items, wishes[i].items.n,
                                                       searching->search->order, arena, found, &is_found, err) < 0)
            return -1;
        if (is_found) {
            found->is_cut = wishes[i].is_cut;
            results->n++;
        }
    }
    return 0;
}

static int make_page(struct searching *searching, struct arena *arena, struct tracestore_results *results,
                     struct error *err)
{
    const struct tracestore_search *search = searching->search;
    size_t n = MIN(searching->top.places.n, search->limit);
    struct traceload_wish *wishes;
    int result = 0;

    if (n == 0)
        return 0;
    wishes = memory_alloc_zero(n * sizeof(*wishes), err);
    if (!wishes)
        return -1;
    if (load_traces(searching, wishes, n, arena, err) < 0 || sum_up(searching, wishes, n, arena, results, err) < 0)
        result = -1;
    free_wishes(wishes, n);
    if (result == 0 && searching->top.places.n > n)
        traceplace_encode(search, &searching->top.places.items[n - 1], results->next_page);
    return result;
}

static int check_search(const struct tracestore_search *search, struct error *err)
{
    if (search->limit < 1 || search->limit > TRACESTORE_MAX_FOUND)
        return error_set(err, ERR_INVALID, "a page of %u traces: 1 to %u are allowed", search->limit,
                         TRACESTORE_MAX_FOUND);
    return 0;
}

int tracestore_search(struct tracestore *store, struct slice tenant, const struct tracestore_search *search,
                      const struct tracestore_asker *asker, struct arena *arena, struct tracestore_results *ret_results,
                      struct error *err)
{
    AUTO(searching_done) struct searching searching = { .search = search };
    struct tracestore_results results = { 0 };
    struct traceplace after;

    if (check_search(search, err) < 0 ||
        (search->page.len > 0 && traceplace_decode(search, search->page, &after, err) < 0) ||
        traceread_init(&searching.read, store->hourly, tenant, asker, err) < 0)
        return -1;
    if (find_traces(&searching, search->page.len > 0 ? &after : NULL, err) < 0 ||
        make_page(&searching, arena, &results, err) < 0)
        return error_wrap(err, "searching traces");
    results.n_searched = searching.read.n_searched;
    *ret_results = results;
    return 0;
}
