// SPDX-License-Identifier: Apache-2.0
#include "intake/sources.h"

#include "base/hash.h"
#include "base/lock.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

#define N_BUCKETS (2 * SOURCES_MAX) /* a power of two */
#define OTHER     "other"
#define NONE      UINT32_MAX
#define MAX_TEXT  256 /* of a tenant, service or sender; longer ones are cut */

/* Rows lie in buckets by their hash, and in a list by use. Row 0 is there from the beginning and takes what has no other
 * place: it never goes. */
struct row {
    uint64_t hash;
    uint32_t next;         /* in its bucket */
    uint32_t older, newer; /* by use */
    bool is_other;
    struct source_row shown; /* its texts lie behind it */
    char texts[];
};

struct sources {
    struct lock_mutex lock;
    uint64_t seed;
    uint32_t n;                    /* guarded by lock, as all below */
    uint32_t oldest, newest;       /* row 0 is not in the list */
    struct row *rows[SOURCES_MAX]; /* NULL = free, behind row n none is used */
    uint32_t buckets[N_BUCKETS];
};

const char *source_reason_name(enum source_reason reason)
{
    static const char *const names[] = {
        [SOURCE_INVALID] = "invalid", [SOURCE_OUTSIDE_WINDOW] = "outside_window",
        [SOURCE_LIMIT] = "limit",     [SOURCE_OVERLOAD] = "overload",
        [SOURCE_FAILED] = "failed",
    };

    static_assert(ARRAY_LEN(names) == SOURCE_REASONS, "every reason has a name");
    return names[reason];
}

/* --- rows --- */

struct source_key {
    struct slice tenant, service, sender;
};

static uint64_t hash_key(const struct sources *sources, const struct source_key *key)
{
    uint64_t hash = hash_bytes64(key->tenant, sources->seed);

    hash = hash_bytes64(key->service, hash_mix64(hash));
    return hash_bytes64(key->sender, hash_mix64(hash));
}

static struct slice copy_text(char **at, struct slice text)
{
    struct slice copy = slice_of(*at, text.len);

    if (text.len > 0)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

static struct row *row_new(const struct source_key *key, uint64_t hash, bool is_other, struct error *err)
{
    size_t size = sizeof(struct row) + key->tenant.len + key->service.len + key->sender.len;
    struct row *row = memory_alloc_zero(size, err);
    char *at;

    if (!row)
        return NULL;
    at = row->texts;
    row->hash = hash;
    row->is_other = is_other;
    row->shown.tenant = copy_text(&at, key->tenant);
    row->shown.service = copy_text(&at, key->service);
    row->shown.sender = copy_text(&at, key->sender);
    return row;
}

static bool is_named(const struct row *row, const struct source_key *key)
{
    return slice_equal(row->shown.tenant, key->tenant) && slice_equal(row->shown.service, key->service) &&
           slice_equal(row->shown.sender, key->sender);
}

static uint32_t find_row(const struct sources *sources, const struct source_key *key, uint64_t hash)
{
    uint32_t at = sources->buckets[hash & (N_BUCKETS - 1)];

    while (at != NONE && (sources->rows[at]->hash != hash || !is_named(sources->rows[at], key)))
        at = sources->rows[at]->next;
    return at;
}

static void unlink_use(struct sources *sources, uint32_t at)
{
    struct row *row = sources->rows[at];

    *(row->older == NONE ? &sources->oldest : &sources->rows[row->older]->newer) = row->newer;
    *(row->newer == NONE ? &sources->newest : &sources->rows[row->newer]->older) = row->older;
}

static void link_newest(struct sources *sources, uint32_t at)
{
    struct row *row = sources->rows[at];

    row->newer = NONE;
    row->older = sources->newest;
    *(row->older == NONE ? &sources->oldest : &sources->rows[row->older]->newer) = at;
    sources->newest = at;
}

static void put_row(struct sources *sources, uint32_t at, struct row *row)
{
    uint32_t *bucket = &sources->buckets[row->hash & (N_BUCKETS - 1)];

    sources->rows[at] = row;
    row->next = *bucket;
    *bucket = at;
    if (at != 0)
        link_newest(sources, at);
}

static void take_row(struct sources *sources, uint32_t at)
{
    struct row *row = sources->rows[at];
    uint32_t *place = &sources->buckets[row->hash & (N_BUCKETS - 1)];

    while (*place != at)
        place = &sources->rows[*place]->next;
    *place = row->next;
    unlink_use(sources, at);
    sources->rows[at] = NULL;
}

static void add_counts(struct source_counts *sum, const struct source_counts *counts)
{
    sum->n_uploads += counts->n_uploads;
    sum->n_seen += counts->n_seen;
    sum->n_stored += counts->n_stored;
    sum->n_downsampled += counts->n_downsampled;
    sum->n_weighted += counts->n_weighted;
    for (int i = 0; i < SOURCE_REASONS; i++)
        sum->n_dropped[i] += counts->n_dropped[i];
    sum->n_spilled += counts->n_spilled;
    sum->n_samples += counts->n_samples;
    sum->n_bytes += counts->n_bytes;
}

/* Adds what was known of a row to another one. */
static void add_row(struct source_row *to, const struct source_row *from)
{
    add_counts(&to->counts, &from->counts);
    if (to->first_ns == 0 || from->first_ns < to->first_ns)
        to->first_ns = from->first_ns;
    to->last_ns = MAX(to->last_ns, from->last_ns);
    if (from->last_error_ns > to->last_error_ns) {
        to->last_error_ns = from->last_error_ns;
        memcpy(to->last_error, from->last_error, sizeof(to->last_error));
    }
}

/* --- making room --- */

/* The row seen longest ago that is not one of "other"; the oldest of all where there are only those. */
static uint32_t choose_victim(const struct sources *sources)
{
    uint32_t at = sources->oldest;

    while (at != NONE && sources->rows[at]->is_other)
        at = sources->rows[at]->newer;
    return at == NONE ? sources->oldest : at;
}

/* Where the numbers of a row go that makes way: to "other" of its tenant, which takes its place if it is new. */
static uint32_t fold_victim(struct sources *sources, uint32_t victim)
{
    struct row *row = sources->rows[victim], *other = NULL;
    struct source_key key = { row->shown.tenant, SLICE(OTHER), SLICE(OTHER) };
    uint64_t hash = hash_key(sources, &key);
    uint32_t at = find_row(sources, &key, hash);
    struct error ignored;

    if (at == NONE && !row->is_other)
        other = row_new(&key, hash, true, &ignored);
    take_row(sources, victim);
    if (other)
        put_row(sources, victim, other);
    if (at == NONE || at == victim)
        at = other ? victim : 0;
    add_row(&sources->rows[at]->shown, &row->shown);
    memory_free(row);
    return other ? NONE : victim;
}

/* A free place for a row; NONE if none could be had. */
static uint32_t make_room(struct sources *sources)
{
    uint32_t place = NONE;

    if (sources->n < SOURCES_MAX)
        return sources->n++;
    /* The first may have made way for a row of "other", then the second leaves a place. */
    for (int i = 0; i < 2 && place == NONE && sources->oldest != NONE; i++)
        place = fold_victim(sources, choose_victim(sources));
    return place;
}

static struct row *get_row(struct sources *sources, const struct source_key *key)
{
    uint64_t hash = hash_key(sources, key);
    uint32_t at = find_row(sources, key, hash);
    struct error ignored;
    struct row *row;

    if (at != NONE) {
        if (at != 0) {
            unlink_use(sources, at);
            link_newest(sources, at);
        }
        return sources->rows[at];
    }
    row = row_new(key, hash, false, &ignored);
    if (!row)
        return sources->rows[0];
    at = make_room(sources);
    if (at == NONE) {
        memory_free(row);
        return sources->rows[0];
    }
    put_row(sources, at, row);
    return row;
}

/* --- the interface --- */

int sources_new(struct sources **ret_sources, struct error *err)
{
    static const struct source_key other = { { OTHER, 5 }, { OTHER, 5 }, { OTHER, 5 } };
    struct sources *sources = MEMORY_NEW(struct sources, err);
    struct row *row;

    if (!sources)
        return -1;
    lock_mutex_init(&sources->lock, LOCK_SOURCES);
    sources->seed = (uint64_t)(uintptr_t)sources * 0x9e3779b97f4a7c15u;
    sources->oldest = sources->newest = NONE;
    for (size_t i = 0; i < N_BUCKETS; i++)
        sources->buckets[i] = NONE;
    row = row_new(&other, hash_key(sources, &other), true, err);
    if (!row) {
        sources_free(sources);
        return -1;
    }
    put_row(sources, sources->n++, row);
    *ret_sources = sources;
    return 0;
}

void sources_free(struct sources *sources)
{
    if (!sources)
        return;
    for (uint32_t i = 0; i < sources->n; i++)
        memory_free(sources->rows[i]);
    lock_mutex_done(&sources->lock);
    memory_free(sources);
}

void sources_count(struct sources *sources, struct slice tenant, struct slice service, struct slice sender,
                   int64_t now_ns, const struct source_counts *counts, const struct error *error)
{
    struct source_key key = { slice_sub(tenant, 0, MAX_TEXT), slice_sub(service, 0, MAX_TEXT),
                              slice_sub(sender, 0, MAX_TEXT) };
    LOCK_SCOPE(&sources->lock);
    struct source_row *row = &get_row(sources, &key)->shown;

    add_counts(&row->counts, counts);
    if (row->first_ns == 0)
        row->first_ns = now_ns;
    row->last_ns = now_ns;
    if (error) {
        row->last_error_ns = now_ns;
        snprintf(row->last_error, sizeof(row->last_error), "%s", error->text);
    }
}

static int compare_rows(const void *a, const void *b)
{
    const struct source_row *x = *(const struct source_row *const *)a, *y = *(const struct source_row *const *)b;
    int order = slice_compare(x->tenant, y->tenant);

    order = order ? order : slice_compare(x->service, y->service);
    return order ? order : slice_compare(x->sender, y->sender);
}

int sources_each(struct sources *sources, int (*visit)(void *context, const struct source_row *row, struct error *err),
                 void *context, struct error *err)
{
    AUTO(memory_freep) const struct source_row **order = memory_alloc(SOURCES_MAX * sizeof(*order), err);
    LOCK_SCOPE(&sources->lock);
    size_t n = 0;

    if (!order)
        return -1;
    for (uint32_t i = 0; i < sources->n; i++)
        if (sources->rows[i] && (i > 0 || sources->rows[i]->shown.counts.n_seen > 0)) /* the first mostly has nothing */
            order[n++] = &sources->rows[i]->shown;
    qsort(order, n, sizeof(*order), compare_rows);
    for (size_t i = 0; i < n; i++)
        if (visit(context, order[i], err) < 0)
            return -1;
    return 0;
}
