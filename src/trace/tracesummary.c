// SPDX-License-Identifier: Apache-2.0
#include "trace/tracesummary.h"

#include "trace/traceplace.h"

#include <stdlib.h>

static int64_t end_of(const struct span *span)
{
    int64_t end_ns;

    return __builtin_add_overflow(span->start_ns, span->duration_ns, &end_ns) ? INT64_MAX : end_ns;
}

static bool is_root(const struct span *span)
{
    static const uint8_t none[SPAN_ID_BYTES];

    return memcmp(span->parent_id, none, sizeof(none)) == 0;
}

static int compare_names(const void *a, const void *b)
{
    return slice_compare(((const struct tracestore_service *)a)->name, ((const struct tracestore_service *)b)->name);
}

static int compare_counts(const void *a, const void *b)
{
    const struct tracestore_service *x = a, *y = b;

    return x->n_spans != y->n_spans ? (x->n_spans < y->n_spans) - (x->n_spans > y->n_spans) : compare_names(a, b);
}

/* Adds those of one name together; returns how many there are. */
static uint32_t fold_services(struct tracestore_service *services, uint32_t n)
{
    uint32_t n_kept = 0;

    if (n == 0)
        return 0;
    qsort(services, n, sizeof(*services), compare_names);
    for (uint32_t i = 0; i < n; i++) {
        if (n_kept > 0 && slice_equal(services[n_kept - 1].name, services[i].name)) {
            services[n_kept - 1].n_spans += services[i].n_spans;
            services[n_kept - 1].n_errors += services[i].n_errors;
        } else {
            services[n_kept++] = services[i];
        }
    }
    return n_kept;
}

/* A few services take turns: folding makes room, mostly. */
static int make_room(struct arena *arena, struct tracestore_service **services, uint32_t *n, uint32_t *capacity,
                     struct error *err)
{
    uint32_t larger = *capacity ? *capacity * 2 : 16;
    void *grown;

    *n = fold_services(*services, *n);
    if (*n < *capacity / 2)
        return 0;
    grown = *services ? arena_resize(arena, *services, *capacity * sizeof(**services), larger * sizeof(**services), err)
                      : arena_alloc_array(arena, larger, sizeof(**services), err);
    if (!grown)
        return -1;
    *services = grown;
    *capacity = larger;
    return 0;
}

static int count_services(const struct tracemerge_item *items, size_t n, struct arena *arena,
                          struct tracestore_found *found, struct error *err)
{
    struct tracestore_service *services = NULL;
    uint32_t n_services = 0, capacity = 0;

    for (size_t i = 0; i < n; i++) {
        const struct span *span = items[i].span;

        if (n_services > 0 && slice_equal(services[n_services - 1].name, span->resource->service)) {
            services[n_services - 1].n_spans++;
            services[n_services - 1].n_errors += span->status == SPAN_ERROR;
            continue;
        }
        if (n_services == capacity && make_room(arena, &services, &n_services, &capacity, err) < 0)
            return -1;
        services[n_services++] = (struct tracestore_service){ .name = span->resource->service,
                                                              .n_spans = 1,
                                                              .n_errors = span->status == SPAN_ERROR };
    }
    n_services = fold_services(services, n_services);
    qsort(services, n_services, sizeof(*services), compare_counts);
    found->services = services;
    found->n_services = n_services;
    return 0;
}

int tracesummary_make(const struct tracemerge_item *items, size_t n, enum tracestore_order order, struct arena *arena,
                      struct tracestore_found *ret_found, bool *ret_is_found, struct error *err)
{
    struct tracestore_found found = { .n_spans = (uint32_t)n, .start_ns = items[0].span->start_ns };
    const struct span *root = NULL, *matched = NULL;
    struct traceplace matched_place = { 0 };
    int64_t end_ns = INT64_MIN;

    for (size_t i = 0; i < n; i++) {
        const struct span *span = items[i].span;

        end_ns = MAX(end_ns, end_of(span));
        found.n_errors += span->status == SPAN_ERROR;
        if (!root && is_root(span))
            root = span;
        if (items[i].is_taken) {
            struct traceplace place = traceplace_of(span);

            found.n_matched++;
            if (!matched || traceplace_compare(order, &place, &matched_place) < 0) {
                matched = span;
                matched_place = place;
            }
        }
    }
    *ret_is_found = matched != NULL;
    if (!matched)
        return 0;
    if (count_services(items, n, arena, &found, err) < 0)
        return -1;
    found.matched = *matched;
    found.root = root ? *root : *items[0].span;
    found.duration_ns = end_ns - found.start_ns;
    *ret_found = found;
    return 0;
}
