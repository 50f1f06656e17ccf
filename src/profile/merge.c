// SPDX-License-Identifier: Apache-2.0
#include "profile/merge.h"

#include "base/map.h"
#include "profile/builder_internal.h"
#include "profile/unit.h"

#define PREFETCH_AHEAD 8
#define MAX_COMMENTS   1024u

struct merge {
    struct builder *builder;
    struct merge_options options;
    struct arena scratch; /* hashes of one batch */
    uint64_t n_profiles;
    uint64_t n_by_type[PROFILE_MAX_TYPES]; /* profiles that had this type */
    uint32_t preferred_type;               /* shown where no profile names a default type */
    bool is_header_set;
};

/* Where the columns of one incoming profile go, and what its values are multiplied by on the way. */
struct column_map {
    uint32_t to[PROFILE_MAX_TYPES];
    int64_t factor[PROFILE_MAX_TYPES];
};

int merge_new(const struct merge_options *options, struct merge **ret_merge, struct error *err)
{
    struct merge *merge = MEMORY_NEW(struct merge, err);
    struct builder_options builder_options = { .overflow = true };

    if (!merge)
        return -1;
    merge->preferred_type = PROFILE_NO_TYPE;
    if (options)
        merge->options = *options;
    builder_options.limits = merge->options.limits;
    builder_options.keep_addresses = !merge->options.drop_addresses;
    arena_init(&merge->scratch, 0); /* in proportion to one batch, which has a limit */
    if (builder_new(&builder_options, &merge->builder, err) < 0) {
        merge_free(merge);
        return -1;
    }
    *ret_merge = merge;
    return 0;
}

void merge_free(struct merge *merge)
{
    if (!merge)
        return;
    builder_free(merge->builder);
    arena_done(&merge->scratch);
    memory_free(merge);
}

void merge_freep(struct merge **merge)
{
    merge_free(*merge);
}

/* --- the header --- */

static struct profile *newest(struct merge *merge)
{
    return &merge->builder->profiles.items[merge->builder->profiles.n - 1];
}

static bool labels_equal(const struct label *a, const struct label *b)
{
    return a->key == b->key && a->text == b->text && a->unit == b->unit && a->kind == b->kind && a->number == b->number;
}

/* The labels that both sets of the builder have. Keys are looked up, since nobody limits how many there are. */
static uint32_t common_labels(struct builder *b, uint32_t mine, uint32_t theirs)
{
    const struct tables *tables = builder_tables(b);
    VEC(struct label) common = { 0 };
    uint32_t n_mine, n_theirs, ignored;
    const struct label *a = tables_label_set(tables, mine, &n_mine);
    const struct label *c = tables_label_set(tables, theirs, &n_theirs);
    struct map keys;
    uint32_t set = 0;

    if (mine == theirs || builder_has_failed(b))
        return mine;
    map_init(&keys, 0);
    for (uint32_t i = 0; i < n_theirs && !builder_has_failed(b); i++)
        IGNORE(map_add(&keys, c[i].key, i, &ignored, &b->failure) < 0, "the builder has failed then");
    for (uint32_t i = 0; i < n_mine && !builder_has_failed(b); i++) {
        const uint32_t *found = map_find(&keys, a[i].key);
        struct label *label;

        if (!found || !labels_equal(&a[i], &c[*found]))
            continue;
        label = VEC_PUSH(&common, UINT32_MAX, &b->failure);
        if (label)
            *label = a[i];
    }
    if (!builder_has_failed(b))
        set = builder_label_set(b, common.items, (uint32_t)common.n);
    VEC_DONE(&common);
    map_done(&keys);
    return set;
}

static bool has_comment(const struct profile *profile, uint32_t comment)
{
    for (uint32_t i = 0; i < profile->n_comments; i++)
        if (profile->comments[i] == comment)
            return true;
    return false;
}

/* Comments are few and for people; past MAX_COMMENTS nobody reads them. */
static void unite_comments(struct builder *b, struct builder_import *import, struct profile *into,
                           const struct profile *from)
{
    for (uint32_t i = 0; i < from->n_comments && !builder_has_failed(b); i++) {
        uint32_t comment, *comments;

        if (into->n_comments >= MAX_COMMENTS || i >= MAX_COMMENTS) {
            report_add(&b->report, "more comments than a merged profile keeps; dropped", from->n_comments - i,
                       "%u are kept", MAX_COMMENTS);
            return;
        }
        comment = builder_import_string(import, from->comments[i]);
        if (has_comment(into, comment))
            continue;
        comments = memory_realloc(into->comments, (into->n_comments + 1) * sizeof(*comments), &b->failure);
        if (!comments)
            return;
        into->comments = comments;
        comments[into->n_comments++] = comment;
    }
}

static void start_header(struct merge *merge, struct builder_import *import, const struct profile *from)
{
    struct profile header = *from;

    header.n_types = 0; /* the columns come one by one, see map_columns */
    header.default_type = PROFILE_NO_TYPE;
    builder_import_header(import, &header);
    merge->is_header_set = true;
}

/* `is_facet`: the same window as the profile before, seen through another type; its duration and its raw samples are
 * counted already. */
static void unite_header(struct merge *merge, struct builder_import *import, const struct profile *from, bool is_facet)
{
    struct builder *b = merge->builder;
    struct profile *into = newest(merge);
    struct value_type period = from->period_type;

    if (from->start_ns && (!into->start_ns || from->start_ns < into->start_ns))
        into->start_ns = from->start_ns;
    if (!is_facet)
        into->duration_ns = value_add(into->duration_ns, from->duration_ns, &b->saturated);
    period.type = builder_import_string(import, period.type);
    period.unit = builder_import_string(import, period.unit);
    if (!into->period_type.type && !into->period_type.unit) {
        into->period_type = period;
        into->period = from->period;
    } else if (into->period_type.type == period.type && into->period_type.unit == period.unit) {
        into->period = MAX(into->period, from->period);
    }
    into->resource = common_labels(b, into->resource, builder_import_label_set(import, from->resource));
    into->scope = common_labels(b, into->scope, builder_import_label_set(import, from->scope));
    into->attributes = common_labels(b, into->attributes, builder_import_label_set(import, from->attributes));
    if (into->scope_name != builder_import_string(import, from->scope_name) ||
        into->scope_version != builder_import_string(import, from->scope_version))
        into->scope_name = into->scope_version = 0;
    if (memcmp(into->profile_id, from->profile_id, sizeof(into->profile_id)) != 0)
        memset(into->profile_id, 0, sizeof(into->profile_id));
    if (!into->drop_frames)
        into->drop_frames = builder_import_string(import, from->drop_frames);
    if (!into->keep_frames)
        into->keep_frames = builder_import_string(import, from->keep_frames);
    if (!into->doc_url)
        into->doc_url = builder_import_string(import, from->doc_url);
    unite_comments(b, import, into, from);
}

/* --- columns --- */

/* Multiplies what is there already, when a finer unit arrives. */
static void refine_column(struct merge *merge, uint32_t column, int64_t factor)
{
    struct builder *b = merge->builder;
    for (uint32_t row = 0; row < b->rows.index.n; row++) {
        int64_t *value = &b->rows.values[(size_t)column * b->rows.capacity + row];

        *value = value_multiply(*value, factor, &b->saturated);
    }
}

/* Finds the column for an incoming type, making or refining one. */
static uint32_t column_of(struct merge *merge, struct value_type type, int64_t *ret_factor)
{
    struct builder *b = merge->builder;
    struct profile *into = newest(merge);

    *ret_factor = 1;
    for (uint32_t i = 0; i < into->n_types; i++) {
        const struct tables *tables = builder_tables(b);
        int64_t up, down;

        if (into->types[i].type != type.type)
            continue;
        if (into->types[i].unit == type.unit)
            return i;
        if (!unit_ratio(tables_string(tables, type.unit), tables_string(tables, into->types[i].unit), &up, &down))
            continue;
        if (down == 1) {
            *ret_factor = up;
            return i;
        }
        if (up == 1) {
            refine_column(merge, i, down);
            into->types[i].unit = type.unit;
            return i;
        }
    }
    return builder_append_type(b, type);
}

static void map_columns(struct merge *merge, struct builder_import *import, const struct profile *from,
                        struct column_map *map)
{
    bool is_taken[PROFILE_MAX_TYPES] = { false };

    for (uint32_t i = 0; i < from->n_types && i < PROFILE_MAX_TYPES; i++) {
        struct value_type type = from->types[i];

        type.type = builder_import_string(import, type.type);
        type.unit = builder_import_string(import, type.unit);
        map->to[i] = column_of(merge, type, &map->factor[i]);
        if (builder_has_failed(merge->builder))
            return;
        if (!is_taken[map->to[i]]) /* a type listed twice in one profile is still one profile */
            merge->n_by_type[map->to[i]]++;
        is_taken[map->to[i]] = true;
    }
    if (from->default_type < from->n_types && newest(merge)->default_type == PROFILE_NO_TYPE)
        newest(merge)->default_type = map->to[from->default_type];
}

/* Of several profiles in one batch the first is what OTLP wants to be shown, unless one of them says otherwise. */
static void prefer_first(struct merge *merge, const struct profile *from, const struct column_map *map)
{
    uint32_t type = profile_default_type(from);

    if (merge->preferred_type == PROFILE_NO_TYPE && type != PROFILE_NO_TYPE)
        merge->preferred_type = map->to[type];
}

/* --- samples --- */

/* The row of a sample whose row is not known yet: everything it refers to is imported. */
static uint32_t new_row(struct merge *merge, struct builder_import *import, const struct profile *from, uint32_t sample)
{
    struct builder *b = merge->builder;
    uint32_t stack, labels = 0, link = 0;

    if (!builder_has_room(b)) {
        stack = builder_overflow_stack(b);
    } else {
        stack = builder_import_stack(import, from->stacks[sample]);
        if (!merge->options.drop_labels) {
            labels = builder_import_label_set(import, profile_label_set(from, sample));
            link = builder_import_link(import, profile_link(from, sample));
        }
    }
    if (builder_has_failed(b))
        return HASH_NONE;
    return builder_row(b,
                       builder_row_hash(b->stack_set.hashes[stack], labels ? &b->label_set_set.hashes[labels] : NULL,
                                        link ? &b->link_set.hashes[link] : NULL),
                       stack, labels, link);
}

static int add_samples(struct merge *merge, struct builder_import *import, const struct content *content,
                       const struct profile *from, const struct column_map *map, bool is_facet, struct error *err)
{
    struct builder *b = merge->builder;
    struct builder_rows *rows = &b->rows;
    struct hash128 *hashes = ARENA_ARRAY(&merge->scratch, struct hash128, from->n_samples, err);
    bool has_labels = from->label_sets && !merge->options.drop_labels;
    bool has_links = from->links && !merge->options.drop_labels;

    if (!hashes)
        return -1;
    for (uint32_t i = 0; i < from->n_samples; i++) {
        uint32_t labels = has_labels ? from->label_sets[i] : 0, link = has_links ? from->links[i] : 0;

        hashes[i] = builder_row_hash(content->stacks[from->stacks[i]], labels ? &content->label_sets[labels] : NULL,
                                     link ? &content->links[link] : NULL);
    }
    for (uint32_t i = 0; i < from->n_samples; i++) {
        uint32_t row;

        if (i + PREFETCH_AHEAD < from->n_samples)
            hash_set_prefetch(&rows->index, hashes[i + PREFETCH_AHEAD]);
        row = hash_set_find(&rows->index, hashes[i]);
        if (row == HASH_NONE) {
            row = new_row(merge, import, from, i);
            if (row == HASH_NONE)
                break;
        }
        for (uint32_t type = 0; type < from->n_types; type++) {
            int64_t *value = &rows->values[(size_t)map->to[type] * rows->capacity + row];
            int64_t added = from->values[(size_t)type * from->stride + i];

            if (map->factor[type] != 1)
                added = value_multiply(added, map->factor[type], &b->saturated);
            *value = value_add(*value, added, &b->saturated);
        }
        if (from->counts && !is_facet)
            builder_add_count(&rows->counts[row], from->counts[i]);
    }
    rows->lacks_counts |= !from->counts && !is_facet;
    if (builder_has_failed(b)) {
        *err = b->failure;
        return -1;
    }
    return 0;
}

/* Whether two profiles of a batch could be one measurement told by different types. */
static bool is_same_window(const struct profile *a, const struct profile *b)
{
    if (a->start_ns != b->start_ns || a->duration_ns != b->duration_ns || a->resource != b->resource ||
        a->scope_name != b->scope_name || a->scope_version != b->scope_version)
        return false;
    return true;
}

static bool share_a_type(const struct profile *a, const struct profile *b)
{
    for (uint32_t i = 0; i < a->n_types; i++)
        for (uint32_t j = 0; j < b->n_types; j++)
            if (a->types[i].type == b->types[j].type && a->types[i].unit == b->types[j].unit)
                return true;
    return false;
}

/* Whether profile `i` tells of the window that those right before it tell of, by a type that none of them has. */
static bool is_facet_of_earlier(const struct batch *batch, uint32_t i)
{
    const struct profile *profile = &batch->profiles[i];
    bool is_facet = false;

    for (uint32_t j = i; j-- > 0 && is_same_window(&batch->profiles[j], profile);) {
        if (share_a_type(&batch->profiles[j], profile))
            return false;
        is_facet = true;
    }
    return is_facet;
}

int merge_add(struct merge *merge, const struct batch *batch, struct error *err)
{
    struct builder *b = merge->builder;
    struct builder_import *import;
    struct content content;
    int result = 0;

    if (batch->n_profiles == 0)
        return 0;
    arena_reset(&merge->scratch);
    if (content_hash(&batch->tables, b->options.seed, b->options.keep_addresses, &merge->scratch, &content, err) < 0)
        return -1;
    import = builder_import_new(b, &batch->tables);
    builder_import_use(import, &content);
    for (uint32_t i = 0; i < batch->n_profiles && result == 0; i++) {
        const struct profile *profile = &batch->profiles[i];
        bool is_facet = is_facet_of_earlier(batch, i);
        struct column_map map;

        if (!merge->is_header_set)
            start_header(merge, import, profile);
        else
            unite_header(merge, import, profile, is_facet);
        if (!builder_has_failed(b))
            map_columns(merge, import, profile, &map);
        if (!builder_has_failed(b) && batch->n_profiles > 1)
            prefer_first(merge, profile, &map);
        if (builder_has_failed(b)) {
            *err = b->failure;
            result = -1;
        } else {
            result = add_samples(merge, import, &content, profile, &map, is_facet, err);
        }
        merge->n_profiles++;
    }
    builder_import_free(import);
    report_merge(&b->report, &batch->report);
    return result;
}

/* Rounded to the nearest, halves away from zero. */
static int64_t divide(int64_t value, int64_t n)
{
    int64_t rest = value % n;

    return value / n + (rest >= n - rest) - (-rest >= n + rest);
}

static void average_levels(struct merge *merge)
{
    struct profile *profile = newest(merge);
    struct builder_rows *rows = &merge->builder->rows;

    for (uint32_t type = 0; type < profile->n_types; type++) {
        int64_t n = (int64_t)merge->n_by_type[type];

        if (profile->types[type].nature != VALUE_LEVEL || n < 2)
            continue;
        for (uint32_t row = 0; row < rows->index.n; row++) {
            int64_t *value = &rows->values[(size_t)type * rows->capacity + row];

            *value = divide(*value, n);
        }
    }
}

int merge_finish(struct merge *merge, struct batch *batch, struct error *err)
{
    if (!merge->is_header_set)
        builder_profile(merge->builder);
    else if (!builder_has_failed(merge->builder)) {
        if (newest(merge)->default_type == PROFILE_NO_TYPE)
            newest(merge)->default_type = merge->preferred_type;
        if (merge->options.average_levels)
            average_levels(merge);
    }
    return builder_finish(merge->builder, batch, err);
}
