// SPDX-License-Identifier: Apache-2.0
#include "store/rowfilter.h"

#include "base/map.h"
#include "block/storekey.h"

#include <stdio.h>

enum {
    MAX_SERIES = 1 << 24,
    MAX_CACHED_SETS = 1 << 16, /* label sets kept resolved */
};

/* A rule is the selector, which must match, a tombstone, which must not, or one of the ranges of which one must. */
struct rule {
    const struct selector *selector; /* NULL = matches everything */
    const struct tombstone *tombstone;
    const struct rowfilter_range *range;
};

struct series_entry {
    uint32_t id;
    struct seriesinfo info;
    uint8_t *verdicts; /* enum selector_verdict of each rule */
    bool is_wanted;
};

struct label_set {
    struct selector_label *labels;
    uint32_t n;
};

struct rowfilter {
    const struct day_view *view;
    struct names *names;
    struct pattern_scratch *scratch;
    struct arena arena;  /* of the series */
    struct arena labels; /* of resolved label sets */
    struct arena row;    /* of the row that was cut last */
    struct rule *rules;  /* the selector first */
    uint32_t n_rules;
    bool has_ranges;
    bool is_telling;                 /* the series of rows are asked for: all that match are kept */
    VEC(struct series_entry) series; /* rising ids */
    struct map places;               /* series id -> place */
    struct map sets;                 /* label set id -> place in resolved */
    VEC(struct label_set) resolved;
};

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

/* A selector may ask for a profile type: some type of the series must be it. */
static int has_type(const struct seriesinfo *info, struct slice wanted, bool *ret_has, struct error *err)
{
    struct buffer text;
    int result = 0;

    *ret_has = !wanted.len;
    buffer_init(&text, 0);
    for (uint32_t i = 0; i < info->n_types && !*ret_has && !result; i++) {
        buffer_clear(&text);
        seriesinfo_profile_type(info, i, &text);
        result = buffer_check(&text, err);
        *ret_has = !result && slice_equal(buffer_slice(&text), wanted);
    }
    buffer_done(&text);
    return result;
}

/* What each rule says of the series; a verdict that is not MAYBE holds for all its rows. */
static int judge(struct rowfilter *filter, struct series_entry *entry, bool has_columns, struct error *err)
{
    for (uint32_t i = 0; i < filter->n_rules; i++) {
        const struct selector *selector = filter->rules[i].selector;
        enum selector_verdict verdict = SELECTOR_YES;
        bool has = true;

        if (selector && (has_type(&entry->info, selector_profile_type(selector), &has, err) < 0 ||
                         selector_judge(selector, &entry->info, has_columns, filter->scratch, &verdict, err) < 0))
            return -1;
        entry->verdicts[i] = (uint8_t)(has ? verdict : SELECTOR_NO);
    }
    entry->is_wanted = entry->verdicts[0] != SELECTOR_NO;
    return 0;
}

/* Whether rows of the series need a look at all, or the series is to be told to somebody. Without a selector only those
 * that a deletion may touch do; the others are kept or dropped by `keeps_others`. */
static bool is_of_interest(const struct rowfilter *filter, const uint8_t *verdicts)
{
    if (filter->rules[0].selector || filter->is_telling)
        return verdicts[0] != SELECTOR_NO;
    for (uint32_t i = 1; i < filter->n_rules; i++)
        if (verdicts[i] != SELECTOR_NO)
            return true;
    return false;
}

static int add_series(struct rowfilter *filter, uint32_t id, struct slice value, bool has_columns, struct error *err)
{
    struct series_entry *entry = VEC_PUSH(&filter->series, MAX_SERIES, err);
    struct slice copy;

    if (!entry)
        return -1;
    entry->id = id;
    arena_reset(&filter->row);
    entry->verdicts = arena_alloc_zero(&filter->row, filter->n_rules, err);
    if (!entry->verdicts)
        return -1;
    if (seriesinfo_decode(value, &filter->row, &entry->info, err) < 0) {
        filter->series.n--;
        if (err->code != ERR_CORRUPT && err->code != ERR_VERSION)
            return -1;
        day_damage(filter->view->day, "series", err);
        return 0;
    }
    if (judge(filter, entry, has_columns, err) < 0)
        return -1;
    if (!is_of_interest(filter, entry->verdicts)) {
        filter->series.n--;
        return 0;
    }
    copy = arena_copy(&filter->arena, slice_of(entry->verdicts, filter->n_rules), err);
    entry->verdicts = (uint8_t *)(uintptr_t)copy.ptr;
    copy = copy.ptr ? arena_copy(&filter->arena, value, err) : copy;
    if (!copy.ptr || seriesinfo_decode(copy, &filter->arena, &entry->info, err) < 0)
        return -1;
    return map_set(&filter->places, id, (uint32_t)(filter->series.n - 1), err);
}

/* Whether any row or sample of the tenant has labels of its own. */
static int find_columns(const struct day_view *view, uint32_t tenant, bool *ret_has_columns, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct storekey key = storekey_chunk(tenant, CHUNK_LABEL_SET, 0);

    if (kv_iterator_new(view->day->kv, KV_DEFAULT, view->snapshot, slice_of(key.bytes, key.len - 4), false, &iterator,
                        err) < 0)
        return -1;
    *ret_has_columns = kv_iterator_is_valid(iterator);
    return kv_iterator_check(iterator, err);
}

static int load_series(struct rowfilter *filter, uint32_t tenant, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    const struct day_view *view = filter->view;
    struct storekey prefix = storekey_series(tenant, 0);
    bool has_columns;

    if (find_columns(view, tenant, &has_columns, err) < 0 ||
        kv_iterator_new(view->day->kv, KV_DEFAULT, view->snapshot, slice_of(prefix.bytes, prefix.len - 4), false,
                        &iterator, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        uint32_t key_tenant, id;

        if (!storekey_parse_series(kv_iterator_key(iterator), &key_tenant, &id))
            return error_set(err, ERR_CORRUPT, "the key of a series is damaged");
        if (add_series(filter, id, kv_iterator_value(iterator), has_columns, err) < 0)
            return -1;
    }
    return kv_iterator_check(iterator, err);
}

static int make(const struct day_view *view, uint32_t tenant, const struct selector *selector,
                const struct rowfilter_range *ranges, size_t n_ranges, int64_t from_ns, int64_t until_ns,
                bool is_telling, struct rowfilter **ret_filter, struct error *err)
{
    AUTO(rowfilter_freep) struct rowfilter *filter = MEMORY_NEW(struct rowfilter, err);

    if (!filter)
        return -1;
    filter->view = view;
    filter->is_telling = is_telling;
    arena_init(&filter->arena, view->day->context->read_bytes);
    arena_init(&filter->labels, view->day->context->read_bytes);
    arena_init(&filter->row, 0);
    map_init(&filter->places, 0);
    map_init(&filter->sets, 0);
    if (pattern_scratch_new(&filter->scratch, err) < 0 ||
        names_new(view->day->kv, view->snapshot, tenant, &filter->names, err) < 0 ||
        add_rules(filter, tenant, selector, ranges, n_ranges, from_ns, until_ns, err) < 0 ||
        load_series(filter, tenant, err) < 0)
        return -1;
    *ret_filter = TAKE(filter);
    return 0;
}

int rowfilter_new(const struct day_view *view, uint32_t tenant, const struct selector *selector, int64_t from_ns,
                  int64_t until_ns, struct rowfilter **ret_filter, struct error *err)
{
    return make(view, tenant, selector, NULL, 0, from_ns, until_ns, true, ret_filter, err);
}

int rowfilter_new_ranges(const struct day_view *view, uint32_t tenant, const struct rowfilter_range *ranges,
                         size_t n_ranges, int64_t from_ns, int64_t until_ns, struct rowfilter **ret_filter,
                         struct error *err)
{
    return make(view, tenant, NULL, ranges, n_ranges, from_ns, until_ns, false, ret_filter, err);
}

void rowfilter_free(struct rowfilter *filter)
{
    if (!filter)
        return;
    names_free(filter->names);
    pattern_scratch_free(filter->scratch);
    VEC_DONE(&filter->series);
    VEC_DONE(&filter->resolved);
    map_done(&filter->places);
    map_done(&filter->sets);
    arena_done(&filter->arena);
    arena_done(&filter->labels);
    arena_done(&filter->row);
    memory_free(filter);
}

void rowfilter_freep(struct rowfilter **filter)
{
    rowfilter_free(*filter);
}

/* --- asking --- */

static struct series_entry *find_series(const struct rowfilter *filter, uint32_t series)
{
    const uint32_t *place = map_find(&filter->places, series);

    return place ? &filter->series.items[*place] : NULL;
}

bool rowfilter_wants(const struct rowfilter *filter, uint32_t series)
{
    const struct series_entry *entry = find_series(filter, series);

    return entry && entry->is_wanted;
}

bool rowfilter_is_open(const struct rowfilter *filter)
{
    for (size_t i = 0; i < filter->series.n; i++)
        if (filter->series.items[i].is_wanted && filter->series.items[i].verdicts[0] == SELECTOR_MAYBE)
            return true;
    return false;
}

void rowfilter_limit(struct rowfilter *filter, const struct map *found)
{
    for (size_t i = 0; i < filter->series.n; i++)
        filter->series.items[i].is_wanted &= map_find(found, filter->series.items[i].id) != NULL;
}

const struct seriesinfo *rowfilter_series(const struct rowfilter *filter, uint32_t series)
{
    const struct series_entry *entry = find_series(filter, series);

    return entry ? &entry->info : NULL;
}

struct names *rowfilter_names(struct rowfilter *filter)
{
    return filter->names;
}

int rowfilter_each_series(const struct rowfilter *filter,
                          int (*visit)(void *context, const struct seriesinfo *series, struct error *err),
                          void *context, struct error *err)
{
    for (size_t i = 0; i < filter->series.n; i++)
        if (filter->series.items[i].is_wanted && visit(context, &filter->series.items[i].info, err) < 0)
            return -1;
    return 0;
}

/* --- rows --- */

static struct slice number_text(struct arena *arena, const struct label *label, struct error *err)
{
    double number;
    char *text;

    if (label->kind == LABEL_DOUBLE) {
        memcpy(&number, &label->number, sizeof(number));
        text = arena_printf(arena, err, "%.15g", number);
    } else if (label->kind == LABEL_BOOL)
        text = arena_printf(arena, err, "%s", label->number ? "true" : "false");
    else
        text = arena_printf(arena, err, "%lld", (long long)label->number);
    return text ? slice_from(text) : (struct slice){ 0 };
}

static int resolve(struct rowfilter *filter, uint32_t id, struct label_set *ret_set, struct error *err)
{
    struct tables tables;
    uint32_t n_missing, n;
    const struct label *labels;

    if (names_load(filter->names, NULL, 0, &id, 1, &filter->labels, &tables, &n_missing, err) < 0)
        return -1;
    labels = tables_label_set(&tables, 1, &n);
    ret_set->n = n;
    ret_set->labels = ARENA_ARRAY(&filter->labels, struct selector_label, n, err);
    if (!ret_set->labels)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        bool is_text = labels[i].kind == LABEL_STRING || labels[i].kind == LABEL_BYTES || labels[i].kind == LABEL_JSON;

        ret_set->labels[i].name = tables_string(&tables, labels[i].key);
        ret_set->labels[i].value =
            is_text ? tables_string(&tables, labels[i].text) : number_text(&filter->labels, &labels[i], err);
        if (!is_text && !ret_set->labels[i].value.ptr)
            return -1;
    }
    return 0;
}

static int find_set(struct rowfilter *filter, uint32_t id, struct label_set *ret_set, struct error *err)
{
    uint32_t *place, next;
    struct label_set *set;

    *ret_set = (struct label_set){ 0 };
    if (!id)
        return 0;
    place = map_find(&filter->sets, id);
    if (place) {
        *ret_set = filter->resolved.items[*place];
        return 0;
    }
    if (filter->resolved.n >= MAX_CACHED_SETS || filter->labels.used_bytes > filter->labels.max_bytes / 2) {
        map_clear(&filter->sets);
        filter->resolved.n = 0;
        arena_reset(&filter->labels);
    }
    if (resolve(filter, id, ret_set, err) < 0)
        return -1;
    next = (uint32_t)filter->resolved.n;
    set = VEC_PUSH(&filter->resolved, MAX_CACHED_SETS, err);
    if (!set)
        return -1;
    *set = *ret_set;
    return map_set(&filter->sets, id, next, err);
}

int rowfilter_each_label(struct rowfilter *filter, uint32_t label_set,
                         int (*visit)(void *context, struct slice name, struct slice value, struct error *err),
                         void *context, struct error *err)
{
    struct label_set set;

    if (find_set(filter, label_set, &set, err) < 0)
        return -1;
    for (uint32_t i = 0; i < set.n; i++)
        if (visit(context, set.labels[i].name, set.labels[i].value, err) < 0)
            return -1;
    return 0;
}

/* Whether a rule's selector matches a sample with these labels. */
static int rule_matches(struct rowfilter *filter, const struct series_entry *entry, uint32_t number,
                        const struct label_set *row, const struct label_set *sample, bool *ret_matches,
                        struct error *err)
{
    if (entry->verdicts[number] != SELECTOR_MAYBE) {
        *ret_matches = entry->verdicts[number] == SELECTOR_YES;
        return 0;
    }
    return selector_test(filter->rules[number].selector, &entry->info, row->labels, row->n, sample->labels, sample->n,
                         filter->scratch, ret_matches, err);
}

/* Whether one of the ranges has it. */
static int is_in_ranges(struct rowfilter *filter, const struct series_entry *entry, const struct headrow *row,
                        const struct label_set *row_set, const struct label_set *sample_set, bool *ret_is_in,
                        struct error *err)
{
    *ret_is_in = false;
    for (uint32_t i = 0; i < filter->n_rules && !*ret_is_in; i++) {
        const struct rowfilter_range *range = filter->rules[i].range;

        if (range && row->start_ns >= range->from_ns && row->start_ns < range->until_ns &&
            rule_matches(filter, entry, i, row_set, sample_set, ret_is_in, err) < 0)
            return -1;
    }
    return 0;
}

static int sample_stays(struct rowfilter *filter, const struct series_entry *entry, const struct headrow *row,
                        const struct label_set *row_set, const struct label_set *sample_set, bool *ret_stays,
                        struct error *err)
{
    *ret_stays = false;
    for (uint32_t i = 0; i < filter->n_rules; i++) {
        const struct tombstone *tombstone = filter->rules[i].tombstone;
        bool matches;

        if (filter->rules[i].range || (tombstone && !tombstone_covers(tombstone, row->start_ns, row->sequence)))
            continue;
        if (rule_matches(filter, entry, i, row_set, sample_set, &matches, err) < 0)
            return -1;
        if (matches == (tombstone != NULL))
            return 0;
    }
    *ret_stays = true;
    return filter->has_ranges ? is_in_ranges(filter, entry, row, row_set, sample_set, ret_stays, err) : 0;
}

/* The samples named by `kept`, as a row of their own. */
static int cut_row(struct rowfilter *filter, struct headrow *row, const uint32_t *kept, uint32_t n, struct error *err)
{
    struct headrow cut = *row;

    cut.n_samples = cut.stride = n;
    cut.stacks = ARENA_ARRAY(&filter->row, uint32_t, n, err);
    cut.values = cut.stacks ? ARENA_ARRAY(&filter->row, int64_t, (size_t)n * row->n_types, err) : NULL;
    if (!cut.values || (row->label_sets && !(cut.label_sets = ARENA_ARRAY(&filter->row, uint32_t, n, err))) ||
        (row->links && !(cut.links = ARENA_ARRAY(&filter->row, uint32_t, n, err))) ||
        (row->counts && !(cut.counts = ARENA_ARRAY(&filter->row, uint64_t, n, err))))
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        cut.stacks[i] = row->stacks[kept[i]];
        for (uint32_t type = 0; type < row->n_types; type++)
            cut.values[(size_t)type * n + i] = row->values[(size_t)type * row->stride + kept[i]];
        if (row->label_sets)
            cut.label_sets[i] = row->label_sets[kept[i]];
        if (row->links)
            cut.links[i] = row->links[kept[i]];
        if (row->counts)
            cut.counts[i] = row->counts[kept[i]];
    }
    *row = cut;
    return 0;
}

/* Whether the labels of rows and samples need no look: every rule is decided by the series alone. */
static bool is_decided(const struct rowfilter *filter, const struct series_entry *entry)
{
    for (uint32_t i = 0; i < filter->n_rules; i++)
        if (entry->verdicts[i] == SELECTOR_MAYBE)
            return false;
    return true;
}

int rowfilter_apply(struct rowfilter *filter, uint32_t series, struct headrow *row, bool *ret_keeps, struct error *err)
{
    const struct series_entry *entry = find_series(filter, series);
    struct label_set row_set, set = { 0 };
    uint32_t *kept, n = 0, last = 0;
    bool stays = false;

    *ret_keeps = !entry && !filter->is_telling && !filter->has_ranges;
    if (!entry || !entry->is_wanted)
        return 0;
    arena_reset(&filter->row);
    if (is_decided(filter, entry) || !row->label_sets || !row->n_samples) {
        if (find_set(filter, is_decided(filter, entry) ? 0 : row->label_set, &row_set, err) < 0)
            return -1;
        return sample_stays(filter, entry, row, &row_set, &set, ret_keeps, err);
    }
    kept = ARENA_ARRAY(&filter->row, uint32_t, row->n_samples, err);
    if (!kept)
        return -1;
    for (uint32_t i = 0; i < row->n_samples; i++) {
        /* Runs of samples with one set are judged once. Looking up may empty the cache, so both are looked up. */
        if (i == 0 || row->label_sets[i] != last) {
            last = row->label_sets[i];
            if (find_set(filter, row->label_set, &row_set, err) < 0 || find_set(filter, last, &set, err) < 0 ||
                find_set(filter, row->label_set, &row_set, err) < 0 ||
                sample_stays(filter, entry, row, &row_set, &set, &stays, err) < 0)
                return -1;
        }
        if (stays)
            kept[n++] = i;
    }
    *ret_keeps = n > 0;
    return !n || n == row->n_samples ? 0 : cut_row(filter, row, kept, n, err);
}
