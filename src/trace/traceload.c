// SPDX-License-Identifier: Apache-2.0
#include "trace/traceload.h"

#include "trace/spancopy.h"
#include "trace/traceindex.h"
#include "trace/tracekeys.h"
#include "trace/tracepick.h"

#include <stdlib.h>

#define MAX_PLACES ((size_t)1 << 22)

struct load {
    struct traceread *read;
    struct traceload_wish **wishes; /* by trace id */
    size_t n;
    const struct traceload_how *how;
    struct tracestore_filter all; /* what stands for no filter */
    const struct tracestore_filter *filter;
    struct arena *arena;
    size_t used_bytes; /* of the arena, before */
    struct spancopy copy;
    VEC(uint32_t) blocks; /* of a closing that may have some of the traces */
    const struct hourly_view *view;
};

void traceload_wish_done(struct traceload_wish *wish)
{
    VEC_DONE(&wish->items);
}

static int compare_wishes(const void *a, const void *b)
{
    return memcmp((*(struct traceload_wish *const *)a)->trace_id, (*(struct traceload_wish *const *)b)->trace_id,
                  SPAN_TRACE_ID_BYTES);
}

static struct traceload_wish *find_wish(const struct load *load, const uint8_t trace_id[static SPAN_TRACE_ID_BYTES])
{
    size_t first = 0, end = load->n;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = memcmp(load->wishes[middle]->trace_id, trace_id, SPAN_TRACE_ID_BYTES);

        if (order == 0)
            return load->wishes[middle];
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

static bool is_wished(const struct traceload_wish *wish, int64_t start_ns)
{
    return start_ns >= wish->from_ns && start_ns < wish->until_ns;
}

/* Whether the span stands where the wish says, and is met for the first time. */
static bool is_place(const struct traceload_wish *wish, const struct span *span)
{
    struct traceplace place = traceplace_of(span);

    return wish->place && !wish->has_place && traceplace_compare(TRACESTORE_SLOWEST, &place, wish->place) == 0;
}

static int add_span(struct load *load, struct traceload_wish *wish, const struct span *span, bool is_taken,
                    struct error *err)
{
    bool is_at_place = is_taken && is_place(wish, span);
    struct span *made;
    struct tracemerge_item *item;

    wish->has_place |= is_at_place;
    if (wish->items.n >= load->how->max_spans) {
        wish->is_cut = true;
        if (!is_at_place)
            return 0;
    }
    if (load->arena->used_bytes - load->used_bytes > load->how->max_bytes)
        return error_set(err, ERR_LIMIT, "the traces take more than %zu bytes of memory; narrow the range",
                         load->how->max_bytes);
    made = ARENA_NEW(load->arena, struct span, err);
    if (!made || spancopy_make(&load->copy, span, load->how->is_whole, made, err) < 0)
        return -1;
    item = VEC_PUSH(&wish->items, load->how->max_spans + 1, err);
    if (!item)
        return -1;
    *item = (struct tracemerge_item){ made, is_taken };
    return 0;
}

/* --- blocks --- */

/* The blocks that a page of the index has for a hash. */
static int add_blocks(struct load *load, uint64_t first, struct slice page, uint64_t hash, struct error *err)
{
    struct traceindex_reader reader;
    struct traceindex_pair pair;
    bool has;

    if (traceindex_reader_init(&reader, first, page, err) < 0)
        return traceread_pass(load->read, load->view, err);
    for (;;) {
        uint32_t *block;

        if (traceindex_reader_next(&reader, &pair, &has, err) < 0)
            return traceread_pass(load->read, load->view, err);
        if (!has || pair.hash > hash)
            return 0;
        if (pair.hash < hash)
            continue;
        block = VEC_PUSH(&load->blocks, MAX_PLACES, err);
        if (!block)
            return -1;
        *block = pair.block;
    }
}

static int find_blocks(struct load *load, const struct hourly_number *closing, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct traceread *read = load->read;

    load->blocks.n = 0;
    for (size_t i = 0; i < load->n; i++) {
        const struct traceload_wish *wish = load->wishes[i];
        uint64_t hash = traceindex_hash(wish->trace_id), first;

        if (!traceread_has_hour(load->view, closing->hour, wish->from_ns, wish->until_ns))
            continue;
        buffer_clear(&read->key);
        tracekeys_put_closing(&read->key, TRACEKEYS_INDEX, closing->hour, closing->number, read->tenant);
        if (!iterator && (buffer_check(&read->key, err) < 0 ||
                          kv_iterator_new_sparse(load->view->kv, load->view->block_family, load->view->snapshot,
                                                 buffer_slice(&read->key), &iterator, err) < 0))
            return -1;
        buffer_clear(&read->key);
        tracekeys_put_page(&read->key, closing->hour, closing->number, read->tenant, hash);
        if (buffer_check(&read->key, err) < 0)
            return -1;
        kv_iterator_seek_back(iterator, buffer_slice(&read->key));
        if (!kv_iterator_is_valid(iterator)) {
            if (kv_iterator_check(iterator, err) < 0 && traceread_pass(read, load->view, err) < 0)
                return -1;
            continue;
        }
        if (tracekeys_parse_page(kv_iterator_key(iterator), &first) &&
            add_blocks(load, first, kv_iterator_value(iterator), hash, err) < 0)
            return -1;
    }
    return 0;
}

static int load_run(struct load *load, struct tracepick *pick, uint32_t run, struct traceload_wish *wish,
                    struct error *err)
{
    struct spanblock *block = pick->block;
    unsigned wants = load->how->is_whole ? SPANBLOCK_ALL : 0;

    for (uint32_t i = block->run_starts[run]; i < block->run_starts[run + 1]; i++) {
        struct span span;
        bool is_taken;

        if (!is_wished(wish, block->start_ns[i]))
            continue;
        if (tracepick_takes(pick, i, &is_taken, err) < 0 || spanblock_get(block, i, wants, &span, err) < 0)
            return traceread_pass(load->read, load->view, err);
        if (add_span(load, wish, &span, is_taken, err) < 0)
            return -1;
    }
    return 0;
}

static int load_block(struct load *load, const struct hourly_number *closing, uint32_t number, struct error *err)
{
    struct spanblock block;
    struct tracepick pick;
    bool has;

    spancopy_forget(&load->copy);
    if (traceread_open(load->read, load->view, closing, number, &block, &has, err) < 0)
        return -1;
    if (!has)
        return 0;
    if (tracepick_init(&pick, load->filter, &block, &load->read->scratch, err) < 0)
        return -1;
    for (uint32_t run = 0; run < block.n_runs; run++) {
        struct traceload_wish *wish = find_wish(load, block.trace_ids[run]);

        if (wish && load_run(load, &pick, run, wish, err) < 0)
            return -1;
    }
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int load_closing(struct load *load, const struct hourly_number *closing, struct error *err)
{
    if (find_blocks(load, closing, err) < 0)
        return -1;
    if (load->blocks.n > 0)
        qsort(load->blocks.items, load->blocks.n, sizeof(*load->blocks.items), compare_numbers);
    for (size_t i = 0; i < load->blocks.n; i++)
        if ((i == 0 || load->blocks.items[i] != load->blocks.items[i - 1]) &&
            load_block(load, closing, load->blocks.items[i], err) < 0)
            return -1;
    return 0;
}

/* --- heads --- */

struct head_rows {
    struct load *load;
    struct traceload_wish *wish;
};

static int load_row(void *context, const struct traceread_row *row, struct error *err)
{
    struct head_rows *rows = context;
    struct load *load = rows->load;
    struct tracestore_filter none = { 0 };
    struct span_resource resource;
    struct span span;
    bool is_read, is_taken;

    spancopy_forget(&load->copy);
    if (traceread_row_takes(load->read, load->view, row, &none, load->how->is_whole || load->filter->n_attributes > 0,
                            &span, &resource, &is_read, err) < 0)
        return -1;
    if (!is_read || !is_wished(rows->wish, span.start_ns))
        return 0;
    is_taken = tracestore_filter_takes(load->filter, &span);
    return add_span(load, rows->wish, &span, is_taken, err);
}

static int load_head(struct load *load, const struct hourly_head *head, struct error *err)
{
    for (size_t i = 0; i < load->n; i++) {
        struct head_rows rows = { load, load->wishes[i] };
        struct traceread_slots slots;

        if (traceread_slots_of(load->view, head->hour, rows.wish->from_ns, rows.wish->until_ns, &slots) &&
            traceread_each_trace_row(load->read, load->view, head, rows.wish->trace_id, &slots, load_row, &rows, err) <
                0)
            return -1;
    }
    return 0;
}

static bool is_any_wished(const struct load *load, uint8_t hour)
{
    for (size_t i = 0; i < load->n; i++)
        if (traceread_has_hour(load->view, hour, load->wishes[i]->from_ns, load->wishes[i]->until_ns))
            return true;
    return false;
}

static int load_day(void *context, const struct hourly_view *view, struct error *err)
{
    struct load *load = context;

    load->view = view;
    for (size_t i = 0; i < view->n_closings; i++)
        if (is_any_wished(load, view->closings[i].hour) && load_closing(load, &view->closings[i], err) < 0)
            return -1;
    for (size_t i = 0; i < view->n_heads; i++)
        if (is_any_wished(load, view->heads[i].hour) && load_head(load, &view->heads[i], err) < 0)
            return -1;
    return 0;
}

static void load_done(struct load *load)
{
    spancopy_done(&load->copy);
    VEC_DONE(&load->blocks);
    memory_free(load->wishes);
}

int traceload_run(struct traceread *read, struct traceload_wish *wishes, size_t n, const struct traceload_how *how,
                  struct arena *arena, struct error *err)
{
    AUTO(load_done)
    struct load load = { .read = read, .n = n, .how = how, .arena = arena, .used_bytes = arena->used_bytes };
    int64_t from_ns = INT64_MAX, until_ns = INT64_MIN;

    load.filter = how->filter ? how->filter : &load.all;
    spancopy_init(&load.copy, arena);
    if (n == 0)
        return 0;
    load.wishes = memory_alloc(n * sizeof(struct traceload_wish *), err);
    if (!load.wishes)
        return -1;
    for (size_t i = 0; i < n; i++) {
        load.wishes[i] = &wishes[i];
        from_ns = MIN(from_ns, wishes[i].from_ns);
        until_ns = MAX(until_ns, wishes[i].until_ns);
    }
    qsort(load.wishes, n, sizeof(struct traceload_wish *), compare_wishes);
    if (hourly_each_day(read->hourly, from_ns, until_ns, false, load_day, &load, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        wishes[i].items.n = tracemerge_sort(wishes[i].items.items, wishes[i].items.n);
    return 0;
}
