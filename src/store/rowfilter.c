// SPDX-License-Identifier: Apache-2.0
#include "store/rowfilter.h"

#include "block/storekey.h"
#include "store/rowfilter_internal.h"

#include <stdio.h>

enum { MAX_KEPT_BYTES = 1 << 20 /* of series */ };

/* --- making --- */

static int add_rules(struct rowfilter *filter, uint32_t tenant, const struct selector *selector,
                     const struct rowfilter_range *ranges, size_t n_ranges, int64_t from_ns, int64_t until_ns,
                     struct error *err)
{
    const struct day_view *view = filter->view;

    filter->rules = ARENA_ARRAY(&filter->arena, struct rule, view->tombstones.n + n_ranges + 1, err);
    if (!filter->rules)
        return -1;
    filter->rules[filter->n_rules++] = (struct rule){ .selector = selector };
    for (size_t i = 0; i < view->tombstones.n; i++) {
        const struct tombstone *tombstone = &view->tombstones.items[i];

        if (tombstone->tenant != tenant || (until_ns && !tombstone_overlaps(tombstone, from_ns, until_ns)))
            continue;
        filter->rules[filter->n_rules++] = (struct rule){ .selector = tombstone->selector, .tombstone = tombstone };
    }
    filter->has_ranges = n_ranges > 0;
    for (size_t i = 0; i < n_ranges; i++)
        filter->rules[filter->n_rules++] = (struct rule){ .selector = ranges[i].selector, .range = &ranges[i] };
    return 0;
}

/* What a rule says of the series; a verdict that is not MAYBE holds for all its rows. */
static int judge(struct rowfilter *filter, const struct rule *rule, const struct seriesinfo *info, uint8_t *ret_verdict,
                 struct error *err)
{
    enum selector_verdict verdict = SELECTOR_YES;
    struct slice type = rule->selector ? selector_profile_type(rule->selector) : SLICE("");
    uint32_t place = 0;

    /* A selector may ask for a profile type: some type of the series must be it. */
    if (rule->selector &&
        ((type.len && seriesinfo_find_type(info, type, &place, err) < 0) ||
         selector_judge(rule->selector, info, filter->has_columns, filter->scratch, &verdict, err) < 0))
        return -1;
    *ret_verdict = (uint8_t)(place == SERIES_NO_TYPE ? SELECTOR_NO : verdict);
    return 0;
}

/* Whether the rules from number `from` on may concern the series: rows must be looked at, then. */
static int find_concern(struct rowfilter *filter, uint32_t from, const struct seriesinfo *info, uint8_t *ret_has,
                        struct error *err)
{
    uint8_t verdict;

    *ret_has = false;
    for (uint32_t i = from; i < filter->n_rules && !*ret_has; i++) {
        if (judge(filter, &filter->rules[i], info, &verdict, err) < 0)
            return -1;
        *ret_has = verdict != SELECTOR_NO;
    }
    return 0;
}

/* Damage: counted, and 0 to go on without the series; -1 if it is something else. */
static int skip_series(struct rowfilter *filter, const struct error *err)
{
    if (err->code != ERR_CORRUPT && err->code != ERR_VERSION)
        return -1;
    filter->has_lost = true;
    day_damage(filter->view->day, "series", err);
    return 0;
}

/* The place of the group, which is added if it is new. */
static int find_group(struct rowfilter *filter, uint32_t id, uint32_t *ret_place, struct error *err)
{
    uint32_t *place = map_find(&filter->group_places, id);
    struct rowfilter_group *group;

    if (place) {
        *ret_place = *place;
        return 0;
    }
    group = VEC_PUSH(&filter->groups, UINT32_MAX, err);
    if (!group)
        return -1;
    *group = (struct rowfilter_group){ .id = id };
    *ret_place = (uint32_t)filter->groups.n - 1;
    return map_set(&filter->group_places, id, *ret_place, err);
}

static int add_series(struct rowfilter *filter, uint32_t id, struct slice value, struct error *err)
{
    struct series_entry entry = { .id = id, .is_wanted = true }, *slot;
    struct rowfilter_group *group;
    size_t max = filter->view->day->context->read_bytes / 4 / sizeof(entry);
    struct seriesinfo info;

    arena_reset(&filter->series_arena);
    if (seriesinfo_decode(value, &filter->series_arena, &info, err) < 0)
        return skip_series(filter, err);
    if (judge(filter, &filter->rules[0], &info, &entry.verdict, err) < 0 ||
        find_group(filter, info.group, &entry.group, err) < 0)
        return -1;
    group = &filter->groups.items[entry.group];
    group->n_series++;
    if (entry.verdict == SELECTOR_NO ||
        (filter->query->wants && !filter->query->wants(filter->query->wants_context, &info)))
        return 0;
    if (find_concern(filter, 1, &info, &entry.has_others, err) < 0)
        return -1;
    group->n_whole += entry.verdict == SELECTOR_YES && !filter->ids;
    group->has_others |= entry.has_others;
    if (filter->series.n >= max)
        return error_set(err, ERR_LIMIT,
                         "more than %zu series of day %s match, which is all that a reader has memory for: ask for "
                         "fewer with a selector, or raise --memory-limit",
                         max, filter->view->day->name);
    slot = VEC_PUSH(&filter->series, max, err);
    if (!slot)
        return -1;
    *slot = entry;
    return 0;
}

/* Whether any row or sample of the tenant has labels of its own. Where nobody knows, they may. */
static int find_columns(struct rowfilter *filter, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    const struct day_view *view = filter->view;
    struct storekey key = storekey_chunk(filter->tenant, CHUNK_LABEL_SET, 0);

    if (kv_iterator_new(view->day->kv, KV_DEFAULT, view->snapshot, slice_of(key.bytes, key.len - 4), false, &iterator,
                        err) < 0)
        return -1;
    filter->has_columns = kv_iterator_is_valid(iterator);
    if (kv_iterator_check(iterator, err) == 0)
        return 0;
    filter->has_columns = true;
    return err->code == ERR_CORRUPT ? 0 : -1;
}

/* Damage among the series: counted, and the day is salvaged when nobody uses it any more. -1 if it is something else. */
static int note_damage(struct rowfilter *filter, const struct error *err)
{
    if (err->code != ERR_CORRUPT)
        return -1;
    filter->has_lost = true;
    day_damage(filter->view->day, "series", err);
    day_note_unreadable(filter->view->day, err);
    return 0;
}

/* Judges the series from `from` to `last` by their copies: those of the index cannot be read. */
static int judge_copies(struct rowfilter *filter, uint32_t from, uint32_t last, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    const struct day_view *view = filter->view;
    struct storekey key = storekey_series(filter->tenant, from), at = storekey_copy(&key);

    if (kv_iterator_new(view->day->kv, view->day->block_family, view->snapshot, slice_of(at.bytes, at.len - 4), false,
                        &iterator, err) < 0)
        return -1;
    for (kv_iterator_seek(iterator, storekey_slice(&at));; kv_iterator_next(iterator)) {
        bool has = kv_iterator_is_valid(iterator);
        uint32_t tenant, id;

        if (!has && kv_iterator_check(iterator, err) < 0 &&
            (note_damage(filter, err) < 0 || kv_iterator_pass_damage(iterator, storekey_slice(&at), &has, err) < 0))
            return -1;
        if (!has || !storekey_parse_series(slice_sub(kv_iterator_key(iterator), 1, SIZE_MAX), &tenant, &id) ||
            id > last)
            return 0;
        if (add_series(filter, id, kv_iterator_value(iterator), err) < 0)
            return -1;
        key = storekey_series(filter->tenant, id);
        at = storekey_copy(&key);
    }
}

/* Behind damage in the index: goes on to the next series that can be read, and has the copies of those between judged.
 * `id` is the series before it. */
static int pass_damage(struct rowfilter *filter, uint32_t id, bool *ret_has, struct error *err)
{
    struct storekey before = storekey_series(filter->tenant, id);
    uint32_t tenant, next = UINT32_MAX;

    if (note_damage(filter, err) < 0 ||
        kv_iterator_pass_damage(filter->series_at, storekey_slice(&before), ret_has, err) < 0)
        return -1;
    if (*ret_has && !storekey_parse_series(kv_iterator_key(filter->series_at), &tenant, &next))
        return error_set(err, ERR_CORRUPT, "the key of a series is damaged");
    if (id == UINT32_MAX || next == 0)
        return 0;
    return judge_copies(filter, id + 1, *ret_has ? next - 1 : UINT32_MAX, err);
}

/* Judges all series, one after the other. */
static int judge_series(struct rowfilter *filter, struct error *err)
{
    uint32_t tenant, id = 0;

    for (;; kv_iterator_next(filter->series_at)) {
        bool has = kv_iterator_is_valid(filter->series_at);

        if (!has && kv_iterator_check(filter->series_at, err) < 0 && pass_damage(filter, id, &has, err) < 0)
            return -1;
        if (!has)
            return 0;
        if (!storekey_parse_series(kv_iterator_key(filter->series_at), &tenant, &id))
            return error_set(err, ERR_CORRUPT, "the key of a series is damaged");
        if (add_series(filter, id, kv_iterator_value(filter->series_at), err) < 0)
            return -1;
    }
}

/* Puts the series of each group together: counts, adds up, fills in. */
static int gather_groups(struct rowfilter *filter, struct error *err)
{
    uint32_t *starts = ARENA_ARRAY(&filter->arena, uint32_t, filter->groups.n + 2, err);
    uint32_t *order = starts ? ARENA_ARRAY(&filter->arena, uint32_t, filter->series.n, err) : NULL;

    if (!order)
        return -1;
    memset(starts, 0, (filter->groups.n + 2) * sizeof(*starts));
    VEC_EACH (&filter->series, entry)
        starts[entry->group + 2]++;
    for (size_t i = 2; i < filter->groups.n + 2; i++)
        starts[i] += starts[i - 1];
    for (uint32_t i = 0; i < filter->series.n; i++)
        order[starts[filter->series.items[i].group + 1]++] = i;
    filter->group_starts = starts;
    filter->by_group = order;
    /* A series that nobody can read may be of any group: none is known to be whole. */
    for (size_t i = 0; i < filter->groups.n && filter->has_lost; i++)
        filter->groups.items[i].n_series++;
    return 0;
}

static int open_series(struct rowfilter *filter, struct error *err)
{
    const struct day_view *view = filter->view;
    struct storekey prefix = storekey_series(filter->tenant, 0);

    return kv_iterator_new(view->day->kv, KV_DEFAULT, view->snapshot, slice_of(prefix.bytes, prefix.len - 4), false,
                           &filter->series_at, err);
}

static int make(const struct day_view *view, uint32_t tenant, const struct store_query *query,
                const struct rowfilter_range *ranges, size_t n_ranges, int64_t from_ns, int64_t until_ns,
                struct rowfilter **ret_filter, struct error *err)
{
    AUTO(rowfilter_freep) struct rowfilter *filter = MEMORY_NEW(struct rowfilter, err);
    size_t read_bytes = view->day->context->read_bytes;
    bool is_telling = query != NULL;

    if (!filter)
        return -1;
    filter->view = view;
    filter->query = query;
    filter->tenant = tenant;
    filter->is_telling = is_telling;
    filter->max_label_bytes = read_bytes / 8;
    /* One series or one label set is never too large, or closing an hour could fail for ever; many are not held. */
    arena_init(&filter->arena, is_telling ? read_bytes : 0);
    arena_init(&filter->series_arena, 0);
    arena_init(&filter->labels, 0);
    arena_init(&filter->row, 0);
    arena_init(&filter->kept_bytes, 0);
    filter->max_kept_bytes = is_telling ? MIN(read_bytes / 16, (size_t)MAX_KEPT_BYTES) : 0;
    map_init(&filter->kept_places, 0);
    map_init(&filter->sets, 0);
    map_init(&filter->group_places, 0);
    if (pattern_scratch_new(&filter->scratch, err) < 0 ||
        names_new(view->day->kv, view->snapshot, tenant, &filter->names, err) < 0 ||
        (query && query->ids && idfilter_new(view, tenant, query, &filter->ids, err) < 0) ||
        add_rules(filter, tenant, query ? query->selector : NULL, ranges, n_ranges, from_ns, until_ns, err) < 0 ||
        find_columns(filter, err) < 0 || open_series(filter, err) < 0 ||
        (is_telling && (judge_series(filter, err) < 0 || gather_groups(filter, err) < 0)))
        return -1;
    filter->query = NULL;
    *ret_filter = TAKE(filter);
    return 0;
}

int rowfilter_new(const struct day_view *view, uint32_t tenant, const struct store_query *query,
                  struct rowfilter **ret_filter, struct error *err)
{
    return make(view, tenant, query, NULL, 0, query->from_ns, query->until_ns, ret_filter, err);
}

int rowfilter_new_ranges(const struct day_view *view, uint32_t tenant, const struct rowfilter_range *ranges,
                         size_t n_ranges, int64_t from_ns, int64_t until_ns, struct rowfilter **ret_filter,
                         struct error *err)
{
    return make(view, tenant, NULL, ranges, n_ranges, from_ns, until_ns, ret_filter, err);
}

void rowfilter_free(struct rowfilter *filter)
{
    if (!filter)
        return;
    names_free(filter->names);
    idfilter_free(filter->ids);
    pattern_scratch_free(filter->scratch);
    kv_iterator_free(filter->series_at);
    VEC_DONE(&filter->series);
    VEC_DONE(&filter->resolved);
    map_done(&filter->sets);
    VEC_DONE(&filter->groups);
    map_done(&filter->group_places);
    arena_done(&filter->arena);
    arena_done(&filter->series_arena);
    arena_done(&filter->labels);
    arena_done(&filter->row);
    arena_done(&filter->kept_bytes);
    map_done(&filter->kept_places);
    VEC_DONE(&filter->kept);
    memory_free(filter);
}

void rowfilter_freep(struct rowfilter **filter)
{
    rowfilter_free(*filter);
}

/* --- asking --- */

static struct series_entry *find_entry(const struct rowfilter *filter, uint32_t series)
{
    size_t low = 0, high = filter->series.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (filter->series.items[middle].id < series)
            low = middle + 1;
        else
            high = middle;
    }
    return low < filter->series.n && filter->series.items[low].id == series ? &filter->series.items[low] : NULL;
}

const struct rowfilter_group *rowfilter_groups(const struct rowfilter *filter, size_t *ret_n)
{
    *ret_n = filter->groups.n;
    return filter->groups.items;
}

uint32_t rowfilter_group_of(const struct rowfilter *filter, uint32_t series, bool *ret_is_whole)
{
    const struct series_entry *entry = find_entry(filter, series);

    if (!entry || !entry->is_wanted)
        return UINT32_MAX;
    *ret_is_whole = entry->verdict == SELECTOR_YES && !filter->ids;
    return entry->group;
}

int rowfilter_each_of_group(const struct rowfilter *filter, uint32_t place,
                            int (*visit)(void *context, uint32_t series, bool is_whole, struct error *err),
                            void *context, struct error *err)
{
    for (uint32_t i = filter->group_starts[place]; i < filter->group_starts[place + 1]; i++) {
        const struct series_entry *entry = &filter->series.items[filter->by_group[i]];

        if (entry->is_wanted && visit(context, entry->id, entry->verdict == SELECTOR_YES && !filter->ids, err) < 0)
            return -1;
    }
    return 0;
}

uint32_t rowfilter_next_of_group(const struct rowfilter *filter, uint32_t place, uint32_t series)
{
    uint32_t low = filter->group_starts[place], end = filter->group_starts[place + 1], high = end;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (filter->series.items[filter->by_group[middle]].id < series)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end; low++)
        if (filter->series.items[filter->by_group[low]].is_wanted)
            return filter->series.items[filter->by_group[low]].id;
    return UINT32_MAX;
}

bool rowfilter_wants(const struct rowfilter *filter, uint32_t series)
{
    const struct series_entry *entry = find_entry(filter, series);

    return entry && entry->is_wanted;
}

bool rowfilter_is_open(const struct rowfilter *filter)
{
    for (size_t i = 0; i < filter->series.n; i++)
        if (filter->series.items[i].is_wanted && (filter->ids || filter->series.items[i].verdict == SELECTOR_MAYBE))
            return true;
    return false;
}

void rowfilter_note_found(struct rowfilter *filter, uint32_t series)
{
    struct series_entry *entry = find_entry(filter, series);

    if (entry)
        entry->is_found = true;
}

bool rowfilter_is_found(const struct rowfilter *filter, uint32_t series)
{
    const struct series_entry *entry = find_entry(filter, series);

    return entry && entry->is_found;
}

void rowfilter_limit_to_found(struct rowfilter *filter)
{
    VEC_EACH (&filter->series, entry)
        entry->is_wanted &= entry->is_found;
}

struct names *rowfilter_names(struct rowfilter *filter)
{
    return filter->names;
}

struct idfilter *rowfilter_ids(const struct rowfilter *filter)
{
    return filter->ids;
}

/* --- the series at hand --- */

/* What each rule says of the current series. Where it is known that only the selector does, the others are not asked. */
static int judge_current(struct rowfilter *filter, const struct series_entry *entry, struct error *err)
{
    struct current_series *current = &filter->current;

    current->is_decided = true;
    current->verdicts = arena_alloc(&filter->series_arena, filter->n_rules, err);
    if (!current->verdicts)
        return -1;
    for (uint32_t i = 0; i < filter->n_rules; i++) {
        uint8_t *verdict = &current->verdicts[i];

        if (entry && (i == 0 || !entry->has_others))
            *verdict = i == 0 ? entry->verdict : (uint8_t)SELECTOR_NO;
        else if (judge(filter, &filter->rules[i], &current->info, verdict, err) < 0)
            return -1;
        current->is_decided &= *verdict != SELECTOR_MAYBE;
    }
    return 0;
}

/* Keeps the bytes of a series for the next time, if there is room: looking for them in the index was a quarter of the
 * time that a time series of a day took. */
static int keep_bytes(struct rowfilter *filter, uint32_t series, struct slice value, struct error *err)
{
    uint32_t place = (uint32_t)filter->kept.n;
    struct slice *slot;

    if (filter->kept_bytes.used_bytes + value.len > filter->max_kept_bytes)
        return 0;
    slot = VEC_PUSH(&filter->kept, UINT32_MAX, err);
    if (!slot)
        return -1;
    *slot = arena_copy(&filter->kept_bytes, value, err);
    return slot->ptr ? map_set(&filter->kept_places, series, place, err) : -1;
}

/* The copy of a series of which the index cannot be read, which is said by `failure`. Answers go on without a series
 * that has none; those who close an hour do not. */
static int read_copy(struct rowfilter *filter, const struct storekey *key, const struct error *failure,
                     struct slice *ret_value, struct error *err)
{
    const struct day *day = filter->view->day;
    struct storekey copy = storekey_copy(key);
    AUTO(buffer_done) struct buffer value;
    bool is_found;

    buffer_init(&value, 0);
    if (kv_get(day->kv, day->block_family, storekey_slice(&copy), &value, &is_found, err) < 0) {
        if (err->code != ERR_CORRUPT)
            return -1;
        is_found = false;
    }
    if (is_found) {
        *ret_value = arena_copy(&filter->series_arena, buffer_slice(&value), err);
        return ret_value->ptr ? 0 : -1;
    }
    *ret_value = (struct slice){ 0 };
    if (filter->is_telling)
        return 0;
    *err = *failure;
    return -1;
}

/* The record of a series, copied; nothing if it is not there. */
static int read_series(struct rowfilter *filter, uint32_t series, struct slice *ret_value, struct error *err)
{
    struct storekey key = storekey_series(filter->tenant, series);
    struct error failure;

    *ret_value = (struct slice){ 0 };
    kv_iterator_seek(filter->series_at, storekey_slice(&key));
    if (!kv_iterator_is_valid(filter->series_at)) {
        if (kv_iterator_check(filter->series_at, &failure) == 0)
            return 0;
        *err = failure;
        return note_damage(filter, &failure) < 0 ? -1 : read_copy(filter, &key, &failure, ret_value, err);
    }
    if (!slice_equal(kv_iterator_key(filter->series_at), storekey_slice(&key)))
        return 0;
    *ret_value = arena_copy(&filter->series_arena, kv_iterator_value(filter->series_at), err);
    return ret_value->ptr ? 0 : -1;
}

/* The bytes of a series, kept or read; ptr is NULL if it is not there. */
static int find_bytes(struct rowfilter *filter, uint32_t series, struct slice *ret_value, struct error *err)
{
    const uint32_t *place = map_find(&filter->kept_places, series);

    if (place) {
        *ret_value = filter->kept.items[*place];
        return 0;
    }
    if (read_series(filter, series, ret_value, err) < 0)
        return -1;
    return ret_value->ptr ? keep_bytes(filter, series, *ret_value, err) : 0;
}

int rowfilter_read_current(struct rowfilter *filter, uint32_t series, struct error *err)
{
    struct current_series *current = &filter->current;
    struct slice value;

    if (current->id == series)
        return 0;
    *current = (struct current_series){ 0 };
    arena_reset(&filter->series_arena);
    if (find_bytes(filter, series, &value, err) < 0)
        return -1;
    if (value.ptr) {
        current->is_there = seriesinfo_decode(value, &filter->series_arena, &current->info, err) == 0;
        if (!current->is_there && skip_series(filter, err) < 0)
            return -1;
        current->info.id = series;
    }
    if (current->is_there && judge_current(filter, find_entry(filter, series), err) < 0)
        return -1;
    current->id = series;
    return 0;
}

int rowfilter_series(struct rowfilter *filter, uint32_t series, const struct seriesinfo **ret_series, struct error *err)
{
    if (rowfilter_read_current(filter, series, err) < 0)
        return -1;
    *ret_series = filter->current.is_there ? &filter->current.info : NULL;
    return 0;
}

int rowfilter_each_series(struct rowfilter *filter,
                          int (*visit)(void *context, const struct seriesinfo *series, struct error *err),
                          void *context, struct error *err)
{
    VEC_EACH (&filter->series, entry) {
        const struct seriesinfo *info;

        if (!entry->is_wanted)
            continue;
        if (rowfilter_series(filter, entry->id, &info, err) < 0 || (info && visit(context, info, err) < 0))
            return -1;
    }
    return 0;
}
