// SPDX-License-Identifier: Apache-2.0
#include "trace/traceoften.h"

#include "trace/traceindex.h"
#include "trace/tracekeys.h"

#include <stdlib.h>

#define MAX_SOURCES     (1u << 24) /* what fits beside a hash of 40 bits */
#define HASHES_END      ((uint64_t)1 << 40)
#define PAGES_PER_CHECK 64u
#define ROWS_PER_CHECK  4096u

/* All that is there is read as often as it takes, each time for a part of the hashes. The vector has what was found in earlier
 * parts, then the pairs of this one: hash << 24 | source, so that sorting brings the sources of a trace together. */
struct finding {
    struct traceoften *often;
    struct traceread *read;
    const struct hourly_view *view;
    uint32_t source;
    size_t n_found;
    uint64_t first, end; /* the part: a hash of `end` is of a later one */
    size_t max;
};

void traceoften_done(struct traceoften *often)
{
    VEC_DONE(&often->hashes);
}

static int compare_entries(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Sorts the pairs, and leaves each once. */
static void sort_pairs(struct finding *finding)
{
    uint64_t *items = finding->often->hashes.items;
    size_t n = finding->often->hashes.n, n_kept = finding->n_found;

    if (n == finding->n_found)
        return;
    qsort(items + finding->n_found, n - finding->n_found, sizeof(*items), compare_entries);
    for (size_t i = finding->n_found; i < n; i++)
        if (i == finding->n_found || items[i] != items[n_kept - 1])
            items[n_kept++] = items[i];
    finding->often->hashes.n = n_kept;
}

/* The part ends earlier: the upper half of its pairs goes. The lower half has a hash at least, since there is room for more
 * pairs than a few hashes can have. */
static void make_room(struct finding *finding)
{
    size_t n_pairs, n_room = finding->max - finding->n_found;
    const uint64_t *pairs;

    sort_pairs(finding);
    pairs = finding->often->hashes.items + finding->n_found;
    n_pairs = finding->often->hashes.n - finding->n_found;
    if (n_pairs <= n_room / 2)
        return;
    finding->end = pairs[n_pairs / 2] >> 24;
    while (n_pairs > 0 && pairs[n_pairs - 1] >> 24 >= finding->end)
        n_pairs--;
    finding->often->hashes.n = finding->n_found + n_pairs;
}

static int add(struct finding *finding, uint64_t hash, struct error *err)
{
    uint64_t entry = hash << 24 | finding->source;
    size_t n = finding->often->hashes.n;
    uint64_t *place;

    if (n > finding->n_found && finding->often->hashes.items[n - 1] == entry)
        return 0;
    if (n == finding->max)
        make_room(finding);
    if (hash < finding->first || hash >= finding->end)
        return 0;
    place = VEC_PUSH(&finding->often->hashes, finding->max, err);
    if (!place)
        return error_wrap(err, "comparing the traces of an hour");
    *place = entry;
    return 0;
}

/* A page that cannot be read ends in `*ret_is_read` false. */
static int add_page(struct finding *finding, struct slice key, struct slice page, bool *ret_is_read, struct error *err)
{
    struct traceindex_reader reader;
    struct traceindex_pair pair;
    uint64_t first;

    *ret_is_read = false;
    if (tracekeys_parse_page(key, &first) && first >= finding->end) {
        *ret_is_read = true; /* it is of a later part */
        return 0;
    }
    if (!tracekeys_parse_page(key, &first) || traceindex_reader_init(&reader, first, page, err) < 0)
        return 0;
    for (bool has = true; has;) {
        if (traceindex_reader_next(&reader, &pair, &has, err) < 0)
            return 0;
        if (has && add(finding, pair.hash, err) < 0)
            return -1;
    }
    *ret_is_read = true;
    return 0;
}

static int add_closing(struct finding *finding, const struct hourly_number *closing, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct traceread *read = finding->read;
    uint32_t n_pages = 0;
    bool is_read;

    buffer_clear(&read->key);
    tracekeys_put_closing(&read->key, TRACEKEYS_INDEX, closing->hour, closing->number, read->tenant);
    if (buffer_check(&read->key, err) < 0 ||
        kv_iterator_new(finding->view->kv, finding->view->block_family, finding->view->snapshot,
                        buffer_slice(&read->key), true, &iterator, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        if (n_pages++ % PAGES_PER_CHECK == 0 && traceread_check(read, err) < 0)
            return -1;
        if (add_page(finding, kv_iterator_key(iterator), kv_iterator_value(iterator), &is_read, err) < 0)
            return -1;
        finding->often->is_unknown |= !is_read;
    }
    if (kv_iterator_check(iterator, err) == 0)
        return 0;
    finding->often->is_unknown = true;
    return traceread_pass(read, finding->view, err);
}

static int add_head(struct finding *finding, const struct hourly_head *head, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct traceread *read = finding->read;
    uint8_t trace_id[SPAN_TRACE_ID_BYTES];
    uint32_t slot, n_rows = 0;

    buffer_clear(&read->key);
    tracekeys_put_tenant(&read->key, TRACEKEYS_SLOT, read->tenant);
    if (buffer_check(&read->key, err) < 0 || kv_iterator_new(finding->view->kv, head->family, finding->view->snapshot,
                                                             buffer_slice(&read->key), true, &iterator, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        if (n_rows++ % ROWS_PER_CHECK == 0 && traceread_check(read, err) < 0)
            return -1;
        if (tracekeys_parse_trace_slot(kv_iterator_key(iterator), read->tenant, trace_id, &slot) &&
            add(finding, traceindex_hash(trace_id), err) < 0)
            return -1;
    }
    if (kv_iterator_check(iterator, err) == 0)
        return 0;
    finding->often->is_unknown = true;
    return traceread_pass(read, finding->view, err);
}

/* Leaves the hashes that are there with several sources. */
static void leave_often(struct finding *finding)
{
    uint64_t *items = finding->often->hashes.items;
    size_t n_found = finding->n_found;

    sort_pairs(finding);
    for (size_t i = finding->n_found + 1; i < finding->often->hashes.n; i++) {
        uint64_t hash = items[i] >> 24;

        if (hash == items[i - 1] >> 24 && (n_found == finding->n_found || items[n_found - 1] != hash))
            items[n_found++] = hash;
    }
    finding->often->hashes.n = finding->n_found = n_found;
}

static size_t count_sources(const struct hourly_view *view, uint8_t hour)
{
    size_t n = 0;

    for (size_t i = 0; i < view->n_closings; i++)
        n += view->closings[i].hour == hour;
    for (size_t i = 0; i < view->n_heads; i++)
        n += view->heads[i].hour == hour;
    return n;
}

static int find_part(struct finding *finding, uint8_t hour, struct error *err)
{
    const struct hourly_view *view = finding->view;

    finding->source = 0;
    finding->end = HASHES_END;
    for (size_t i = 0; i < view->n_closings; i++)
        if (view->closings[i].hour == hour) {
            finding->source++;
            if (add_closing(finding, &view->closings[i], err) < 0)
                return -1;
        }
    for (size_t i = 0; i < view->n_heads; i++)
        if (view->heads[i].hour == hour) {
            finding->source++;
            if (add_head(finding, &view->heads[i], err) < 0)
                return -1;
        }
    leave_often(finding);
    finding->first = finding->end;
    return 0;
}

int traceoften_find(struct traceoften *often, struct traceread *read, const struct hourly_view *view, uint8_t hour,
                    struct error *err)
{
    size_t n_sources = count_sources(view, hour);
    /* Half of it is left for pairs at any time, and half of that is more than one hash has. */
    struct finding finding = {
        .often = often, .read = read, .view = view, .max = MAX(read->max_bytes / sizeof(uint64_t), 8 * n_sources)
    };

    often->hashes.n = 0;
    often->is_unknown = n_sources >= MAX_SOURCES;
    if (n_sources < 2)
        return 0;
    while (finding.first < HASHES_END && !often->is_unknown) {
        if (find_part(&finding, hour, err) < 0)
            return -1;
        often->is_unknown |= finding.n_found > finding.max / 2;
    }
    return 0;
}

bool traceoften_has(const struct traceoften *often, const uint8_t trace_id[static SPAN_TRACE_ID_BYTES])
{
    uint64_t hash = traceindex_hash(trace_id);

    return often->is_unknown || (often->hashes.n > 0 && bsearch(&hash, often->hashes.items, often->hashes.n,
                                                                sizeof(hash), compare_entries) != NULL);
}
