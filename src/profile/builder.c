// SPDX-License-Identifier: Apache-2.0
#include "profile/builder_internal.h"

#define NO_LIMIT UINT32_MAX

static const char saturation[] = "a sum went past 64 bits and stays at the edge";
static const char labels_lost[] = "the memory limit was reached; samples with new labels were counted without them";
static const char links_lost[] = "the memory limit was reached; samples with new span links were counted without them";
static const char overflow_note[] = "the memory limit was reached; samples with new stacks were counted as [overflow]";

static void fail(struct builder *b, const struct error *err)
{
    if (!builder_has_failed(b))
        b->failure = *err;
}

/* --- interning: one entry of each table, found by content hash --- */

/* Finds or adds `hash`. True if it is new, and then the caller must push the entry; false also when failed. */
static bool intern(struct builder *b, struct hash_set *set, struct hash128 hash, uint32_t *ret_id)
{
    struct error err;
    bool is_new;

    *ret_id = 0;
    if (builder_has_failed(b))
        return false;
    if (hash_set_add(set, hash, ret_id, &is_new, &err) < 0) {
        fail(b, &err);
        *ret_id = 0;
        return false;
    }
    return is_new;
}

/* Pushes onto one of the builder's tables; on failure the builder has failed and the expression is NULL. */
#define PUSH(b, vec)                                                                                                   \
    __extension__({                                                                                                    \
        struct error push_err;                                                                                         \
        __typeof__((vec)->items) item_ = VEC_PUSH((vec), NO_LIMIT, &push_err);                                         \
        if (!item_)                                                                                                    \
            fail((b), &push_err);                                                                                      \
        item_;                                                                                                         \
    })

uint32_t builder_string(struct builder *b, struct slice text)
{
    uint32_t id;

    if (intern(b, &b->string_set, content_string(text, b->options.seed), &id)) {
        struct slice *string = PUSH(b, &b->strings);
        struct error err;

        if (string) {
            *string = arena_copy(&b->text, text, &err);
            if (!string->ptr)
                fail(b, &err);
        }
    }
    return id;
}

uint32_t builder_mapping(struct builder *b, const struct mapping *mapping)
{
    uint32_t id;

    if (builder_has_failed(b))
        return 0;
    if (intern(b, &b->mapping_set, content_mapping(mapping, b->string_set.hashes, b->options.keep_addresses), &id)) {
        struct mapping *entry = PUSH(b, &b->mappings);

        if (entry)
            *entry = *mapping;
    } else if (id != 0) {
        b->mappings.items[id].flags |= mapping->flags;
    }
    return id;
}

uint32_t builder_function(struct builder *b, const struct function *function)
{
    uint32_t id;

    if (builder_has_failed(b))
        return 0;
    if (intern(b, &b->function_set, content_function(function, b->string_set.hashes), &id)) {
        struct function *entry = PUSH(b, &b->functions);

        if (entry)
            *entry = *function;
    }
    return id;
}

uint32_t builder_frame(struct builder *b, const struct frame *frame, const struct line *lines)
{
    struct hash128 hash;
    uint32_t id;

    if (builder_has_failed(b))
        return 0;
    b->view.mappings = b->mappings.items; /* all that content_frame reads of the tables */
    hash =
        content_frame(frame, lines, &b->view, b->function_set.hashes, b->mapping_set.hashes, b->options.keep_addresses);
    if (intern(b, &b->frame_set, hash, &id)) {
        struct frame *entry = PUSH(b, &b->frames);
        struct error err;

        if (!entry)
            return 0;
        if (VEC_RESERVE(&b->lines, frame->n_lines, NO_LIMIT, &err) < 0) {
            fail(b, &err);
            return 0;
        }
        *entry = *frame;
        entry->first_line = (uint32_t)b->lines.n;
        if (frame->n_lines)
            memcpy(b->lines.items + b->lines.n, lines, frame->n_lines * sizeof(*lines));
        b->lines.n += frame->n_lines;
    }
    return id;
}

static size_t bytes_of_tables(const struct builder *b)
{
    return b->text.used_bytes + b->strings.capacity * sizeof(*b->strings.items) +
           b->mappings.capacity * sizeof(*b->mappings.items) + b->functions.capacity * sizeof(*b->functions.items) +
           b->lines.capacity * sizeof(*b->lines.items) + b->frames.capacity * sizeof(*b->frames.items) +
           (b->stack_frames.capacity + b->stack_starts.capacity + b->label_set_starts.capacity) * sizeof(uint32_t) +
           b->labels.capacity * sizeof(*b->labels.items) + b->links.capacity * sizeof(*b->links.items) +
           hash_set_bytes(&b->string_set) + hash_set_bytes(&b->mapping_set) + hash_set_bytes(&b->function_set) +
           hash_set_bytes(&b->frame_set) + hash_set_bytes(&b->stack_set) + hash_set_bytes(&b->label_set_set) +
           hash_set_bytes(&b->link_set);
}

static size_t row_bytes(const struct builder_rows *rows, size_t n_types)
{
    return rows->capacity * (3 * sizeof(uint32_t) + sizeof(uint64_t) + n_types * sizeof(int64_t));
}

static size_t bytes_of_rows(const struct builder *b)
{
    size_t n_types = b->profiles.n ? b->profiles.items[b->profiles.n - 1].n_types : 0;

    return b->sealed_bytes + row_bytes(&b->rows, n_types) + hash_set_bytes(&b->rows.index);
}

/* Tables double when they grow, and stand side by side with the old ones for that moment: so growth stops at half of
 * the limit. What the last doubling may take on top of it is less than the other half. */
bool builder_has_room(struct builder *b)
{
    uint64_t used = bytes_of_tables(b) + bytes_of_rows(b);
    struct error err;

    if (used <= b->options.limits.max_memory_bytes / 2)
        return true;
    if (!b->options.overflow) {
        error_set(&err, ERR_LIMIT, "the result needs more than the memory limit of %llu bytes",
                  (unsigned long long)b->options.limits.max_memory_bytes);
        fail(b, &err);
    }
    return false;
}

/* As builder_has_room; what is lost for want of it is reported. */
static bool has_room_for(struct builder *b, const char *lost)
{
    if (builder_has_failed(b))
        return false;
    if (builder_has_room(b))
        return true;
    if (!builder_has_failed(b))
        report_add(&b->report, lost, 1, "at %zu bytes", bytes_of_tables(b) + bytes_of_rows(b));
    return false;
}

static uint32_t add_stack(struct builder *b, const uint32_t *frames, uint32_t depth)
{
    uint32_t id;

    if (intern(b, &b->stack_set, content_stack(frames, depth, b->frame_set.hashes), &id)) {
        uint32_t *end = PUSH(b, &b->stack_starts);
        struct error err;

        if (!end)
            return 0;
        if (VEC_RESERVE(&b->stack_frames, depth, NO_LIMIT, &err) < 0) {
            fail(b, &err);
            *end = (uint32_t)b->stack_frames.n;
            return 0;
        }
        if (depth)
            memcpy(b->stack_frames.items + b->stack_frames.n, frames, depth * sizeof(*frames));
        b->stack_frames.n += depth;
        *end = (uint32_t)b->stack_frames.n;
    }
    return id;
}

uint32_t builder_overflow_stack(struct builder *b)
{
    if (b->overflow_stack == 0) {
        struct function function = { .name = builder_string(b, SLICE("[overflow]")) };
        struct line line = { .function = builder_function(b, &function) };
        struct frame frame = { .n_lines = 1 };
        uint32_t id = builder_frame(b, &frame, &line);

        b->overflow_stack = add_stack(b, &id, 1);
    }
    report_add(&b->report, overflow_note, 1, "at %zu bytes", bytes_of_tables(b) + bytes_of_rows(b));
    return b->overflow_stack;
}

uint32_t builder_stack(struct builder *b, const uint32_t *frames, uint32_t depth)
{
    uint32_t known;

    if (builder_has_failed(b))
        return 0;
    if (depth > b->options.limits.max_depth) {
        report_add(&b->report, "stack deeper than the limit; cut at the root end", 1, "%u frames", depth);
        depth = b->options.limits.max_depth;
    }
    known = hash_set_find(&b->stack_set, content_stack(frames, depth, b->frame_set.hashes));
    if (known != HASH_NONE)
        return known;
    if (!builder_has_room(b))
        return builder_has_failed(b) ? 0 : builder_overflow_stack(b);
    return add_stack(b, frames, depth);
}

uint32_t builder_label_set(struct builder *b, const struct label *labels, uint32_t n)
{
    uint32_t id;

    struct hash128 hash;

    if (builder_has_failed(b))
        return 0;
    hash = content_label_set(labels, n, b->string_set.hashes);
    if (b->label_set_set.n > 0 && hash_set_find(&b->label_set_set, hash) == HASH_NONE && !has_room_for(b, labels_lost))
        return 0;
    if (intern(b, &b->label_set_set, hash, &id)) {
        uint32_t *end = PUSH(b, &b->label_set_starts);
        struct error err;

        if (!end)
            return 0;
        if (VEC_RESERVE(&b->labels, n, NO_LIMIT, &err) < 0) {
            fail(b, &err);
            *end = (uint32_t)b->labels.n;
            return 0;
        }
        if (n)
            memcpy(b->labels.items + b->labels.n, labels, n * sizeof(*labels));
        b->labels.n += n;
        *end = (uint32_t)b->labels.n;
    }
    return id;
}

uint32_t builder_link(struct builder *b, const struct link *link)
{
    struct hash128 hash = content_link(link);
    uint32_t id;

    if (b->link_set.n > 0 && hash_set_find(&b->link_set, hash) == HASH_NONE && !has_room_for(b, links_lost))
        return 0;
    if (intern(b, &b->link_set, hash, &id)) {
        struct link *entry = PUSH(b, &b->links);

        if (entry)
            *entry = *link;
    }
    return id;
}

/* --- profiles and their rows --- */

static void free_columns(struct profile *profile)
{
    memory_free(profile->types);
    memory_free(profile->comments);
    memory_free(profile->stacks);
    memory_free(profile->label_sets);
    memory_free(profile->links);
    memory_free(profile->counts);
    memory_free(profile->values);
}

static void free_rows(struct builder_rows *rows)
{
    hash_set_done(&rows->index);
    memory_free(rows->stacks);
    memory_free(rows->label_sets);
    memory_free(rows->links);
    memory_free(rows->counts);
    memory_free(rows->values);
    *rows = (struct builder_rows){ 0 };
    hash_set_init(&rows->index, 0);
}

/* Moves the rows under construction into the newest profile's header. */
static void seal_newest(struct builder *b)
{
    struct profile *profile;
    struct builder_rows *rows = &b->rows;

    if (b->profiles.n == 0)
        return;
    profile = &b->profiles.items[b->profiles.n - 1];
    b->sealed_bytes += row_bytes(rows, profile->n_types);
    profile->n_samples = rows->index.n;
    profile->stride = rows->capacity;
    profile->stacks = TAKE(rows->stacks);
    profile->values = TAKE(rows->values);
    if (rows->has_labels)
        profile->label_sets = TAKE(rows->label_sets);
    if (rows->has_links)
        profile->links = TAKE(rows->links);
    if (!rows->lacks_counts && rows->index.n > 0)
        profile->counts = TAKE(rows->counts);
    free_rows(rows);
}

struct profile *builder_profile(struct builder *b)
{
    struct profile *profile;

    if (!builder_has_failed(b)) {
        seal_newest(b);
        profile = PUSH(b, &b->profiles);
        if (profile) {
            profile->default_type = PROFILE_NO_TYPE;
            return profile;
        }
    }
    b->scratch = (struct profile){ .default_type = PROFILE_NO_TYPE };
    return &b->scratch;
}

static int resize_values(struct builder_rows *rows, uint32_t n_types, uint32_t old_types, uint32_t capacity,
                         struct error *err)
{
    size_t size;
    int64_t *values;

    if (__builtin_mul_overflow((size_t)capacity * sizeof(*values), (size_t)n_types, &size))
        return error_set(err, ERR_LIMIT, "%u samples of %u values do not fit in memory", capacity, n_types);
    values = memory_alloc_zero(size, err);
    if (!values)
        return -1;
    for (uint32_t type = 0; type < old_types && rows->index.n; type++)
        memcpy(values + (size_t)type * capacity, rows->values + (size_t)type * rows->capacity,
               rows->index.n * sizeof(*values));
    memory_free(rows->values);
    rows->values = values;
    return 0;
}

static int grow_rows(struct builder_rows *rows, uint32_t n_types, struct error *err)
{
    uint32_t capacity = rows->capacity ? rows->capacity * 2 : 64;
    uint32_t **columns[] = { &rows->stacks, &rows->label_sets, &rows->links };
    uint64_t *counts;

    if (rows->capacity >= 1u << 30)
        return error_set(err, ERR_LIMIT, "more than %u samples", rows->capacity);
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        uint32_t *moved = memory_realloc(*columns[i], capacity * sizeof(*moved), err);

        if (!moved)
            return -1;
        *columns[i] = moved;
    }
    counts = memory_realloc(rows->counts, capacity * sizeof(*counts), err);
    if (!counts)
        return -1;
    rows->counts = counts;
    if (resize_values(rows, MAX(n_types, 1u), n_types, capacity, err) < 0)
        return -1;
    rows->capacity = capacity;
    return 0;
}

uint32_t builder_append_type(struct builder *b, struct value_type type)
{
    struct profile *profile;
    struct value_type *types;
    struct error err;

    if (builder_has_failed(b) || b->profiles.n == 0)
        return 0;
    profile = &b->profiles.items[b->profiles.n - 1];
    if (profile->n_types >= PROFILE_MAX_TYPES) {
        error_set(&err, ERR_LIMIT, "more than %d value types in one profile", PROFILE_MAX_TYPES);
        fail(b, &err);
        return 0;
    }
    types = memory_realloc(profile->types, (profile->n_types + 1) * sizeof(*types), &err);
    if (types)
        profile->types = types;
    if (!types || (b->rows.capacity &&
                   resize_values(&b->rows, profile->n_types + 1, profile->n_types, b->rows.capacity, &err) < 0)) {
        fail(b, &err);
        return 0;
    }
    types[profile->n_types] = type;
    return profile->n_types++;
}

uint32_t builder_type(struct builder *b, struct value_type type)
{
    if (!builder_has_failed(b) && b->profiles.n > 0) {
        const struct profile *profile = &b->profiles.items[b->profiles.n - 1];

        for (uint32_t i = 0; i < profile->n_types; i++)
            if (profile->types[i].type == type.type && profile->types[i].unit == type.unit)
                return i;
    }
    return builder_append_type(b, type);
}

uint32_t builder_row(struct builder *b, struct hash128 hash, uint32_t stack, uint32_t label_set, uint32_t link)
{
    struct builder_rows *rows = &b->rows;
    struct error err;
    uint32_t row;
    bool is_new;

    if (rows->index.n == rows->capacity && grow_rows(rows, b->profiles.items[b->profiles.n - 1].n_types, &err) < 0) {
        fail(b, &err);
        return HASH_NONE;
    }
    if (hash_set_add(&rows->index, hash, &row, &is_new, &err) < 0) {
        fail(b, &err);
        return HASH_NONE;
    }
    if (is_new) {
        rows->stacks[row] = stack;
        rows->label_sets[row] = label_set;
        rows->links[row] = link;
        rows->counts[row] = 0;
        rows->has_labels |= label_set != 0;
        rows->has_links |= link != 0;
    }
    return row;
}

void builder_sample(struct builder *b, uint32_t stack, uint32_t label_set, uint32_t link, const int64_t *values,
                    uint64_t count)
{
    struct builder_rows *rows = &b->rows;
    const struct profile *profile;
    struct hash128 hash;
    uint32_t row;

    if (builder_has_failed(b) || b->profiles.n == 0)
        return;
    profile = &b->profiles.items[b->profiles.n - 1];
    hash = builder_row_hash(b->stack_set.hashes[stack], label_set ? &b->label_set_set.hashes[label_set] : NULL,
                            link ? &b->link_set.hashes[link] : NULL);
    if (hash_set_find(&rows->index, hash) == HASH_NONE && rows->index.n > 0 && !builder_has_room(b)) {
        if (builder_has_failed(b))
            return;
        stack = builder_overflow_stack(b);
        label_set = link = 0;
        hash = b->stack_set.hashes[stack];
    }
    row = builder_row(b, hash, stack, label_set, link);
    if (row == HASH_NONE)
        return;
    for (uint32_t type = 0; type < profile->n_types; type++) {
        int64_t *value = &rows->values[(size_t)type * rows->capacity + row];

        *value = value_add(*value, values[type], &b->saturated);
    }
    builder_add_count(&rows->counts[row], count);
    rows->lacks_counts |= count == 0;
}

/* --- life --- */

int builder_new(const struct builder_options *options, struct builder **ret_builder, struct error *err)
{
    struct builder *b = MEMORY_NEW(struct builder, err);
    struct profile_limits *limits;

    if (!b)
        return -1;
    if (options)
        b->options = *options;
    limits = &b->options.limits;
    if (limits->max_memory_bytes == 0)
        *limits = profile_default_limits;
    limits->max_depth = MIN(limits->max_depth, (uint32_t)CONTENT_MAX_DEPTH);
    arena_init(&b->text, limits->max_memory_bytes);
    hash_set_init(&b->string_set, 0);
    hash_set_init(&b->mapping_set, 0);
    hash_set_init(&b->function_set, 0);
    hash_set_init(&b->frame_set, 0);
    hash_set_init(&b->stack_set, 0);
    hash_set_init(&b->label_set_set, 0);
    hash_set_init(&b->link_set, 0);
    hash_set_init(&b->rows.index, 0);

    /* Tables that may stay empty get a place all the same: NULL + 0 is not allowed. */
    if (VEC_RESERVE(&b->lines, 1, NO_LIMIT, &b->failure) < 0 ||
        VEC_RESERVE(&b->stack_frames, 1, NO_LIMIT, &b->failure) < 0 ||
        VEC_RESERVE(&b->labels, 1, NO_LIMIT, &b->failure) < 0) {
        *err = b->failure;
        builder_free(b);
        return -1;
    }
    /* The "none" entries: each is the first to be interned and so gets id 0. */
    if (PUSH(b, &b->stack_starts) && PUSH(b, &b->label_set_starts)) {
        builder_string(b, SLICE(""));
        builder_mapping(b, &(struct mapping){ 0 });
        builder_function(b, &(struct function){ 0 });
        builder_frame(b, &(struct frame){ 0 }, NULL);
        add_stack(b, NULL, 0);
        builder_label_set(b, NULL, 0);
        builder_link(b, &(struct link){ 0 });
    }
    if (builder_has_failed(b)) {
        *err = b->failure;
        builder_free(b);
        return -1;
    }
    *ret_builder = b;
    return 0;
}

static void clear(struct builder *b)
{
    arena_done(&b->text);
    VEC_DONE(&b->strings);
    VEC_DONE(&b->mappings);
    VEC_DONE(&b->functions);
    VEC_DONE(&b->lines);
    VEC_DONE(&b->frames);
    VEC_DONE(&b->stack_frames);
    VEC_DONE(&b->stack_starts);
    VEC_DONE(&b->labels);
    VEC_DONE(&b->label_set_starts);
    VEC_DONE(&b->links);
    hash_set_done(&b->string_set);
    hash_set_done(&b->mapping_set);
    hash_set_done(&b->function_set);
    hash_set_done(&b->frame_set);
    hash_set_done(&b->stack_set);
    hash_set_done(&b->label_set_set);
    hash_set_done(&b->link_set);
    free_rows(&b->rows);
    VEC_EACH (&b->profiles, profile)
        free_columns(profile);
    VEC_DONE(&b->profiles);
}

void builder_free(struct builder *b)
{
    if (!b)
        return;
    clear(b);
    memory_free(b);
}

void builder_freep(struct builder **builder)
{
    builder_free(*builder);
}

struct report *builder_report(struct builder *b)
{
    return &b->report;
}

const struct tables *builder_tables(const struct builder *builder)
{
    struct builder *b = (struct builder *)builder; /* the view is a cache */

    b->view = (struct tables){
        .strings = b->strings.items,
        .mappings = b->mappings.items,
        .functions = b->functions.items,
        .lines = b->lines.items,
        .frames = b->frames.items,
        .stack_frames = b->stack_frames.items,
        .stack_starts = b->stack_starts.items,
        .labels = b->labels.items,
        .label_set_starts = b->label_set_starts.items,
        .links = b->links.items,
        .n_strings = (uint32_t)b->strings.n,
        .n_mappings = (uint32_t)b->mappings.n,
        .n_functions = (uint32_t)b->functions.n,
        .n_lines = (uint32_t)b->lines.n,
        .n_frames = (uint32_t)b->frames.n,
        .n_stack_frames = (uint32_t)b->stack_frames.n,
        .n_stacks = (uint32_t)b->stack_starts.n - 1,
        .n_labels = (uint32_t)b->labels.n,
        .n_label_sets = (uint32_t)b->label_set_starts.n - 1,
        .n_links = (uint32_t)b->links.n,
    };
    return &b->view;
}

/* --- finishing: everything is copied into the batch's arena in its final size --- */

static void *move(struct batch *batch, const void *items, size_t n, size_t item_bytes, struct error *err)
{
    void *copy = arena_alloc_array(&batch->arena, n, item_bytes, err);

    if (copy && n)
        memcpy(copy, items, n * item_bytes);
    return copy;
}

#define MOVE(batch, field, n, err) ((field) = (__typeof__(field))move((batch), (field), (n), sizeof(*(field)), (err)))

static int move_tables(struct builder *b, struct batch *batch, struct error *err)
{
    struct tables t = *builder_tables(b);

    if (!MOVE(batch, t.strings, t.n_strings, err) || !MOVE(batch, t.mappings, t.n_mappings, err) ||
        !MOVE(batch, t.functions, t.n_functions, err) || !MOVE(batch, t.lines, t.n_lines, err) ||
        !MOVE(batch, t.frames, t.n_frames, err) || !MOVE(batch, t.stack_frames, t.n_stack_frames, err) ||
        !MOVE(batch, t.stack_starts, t.n_stacks + 1, err) || !MOVE(batch, t.labels, t.n_labels, err) ||
        !MOVE(batch, t.label_set_starts, t.n_label_sets + 1, err) || !MOVE(batch, t.links, t.n_links, err))
        return -1;
    for (uint32_t i = 0; i < t.n_strings; i++) {
        t.strings[i] = arena_copy(&batch->arena, t.strings[i], err);
        if (!t.strings[i].ptr)
            return -1;
    }
    batch->tables = t;
    return 0;
}

static int move_profile(const struct profile *from, struct batch *batch, struct profile *to, struct error *err)
{
    *to = *from;
    to->tables = &batch->tables;
    to->stride = from->n_samples;
    if (!MOVE(batch, to->types, from->n_types, err) || !MOVE(batch, to->comments, from->n_comments, err) ||
        !MOVE(batch, to->stacks, from->n_samples, err))
        return -1;
    if ((to->label_sets && !MOVE(batch, to->label_sets, from->n_samples, err)) ||
        (to->links && !MOVE(batch, to->links, from->n_samples, err)) ||
        (to->counts && !MOVE(batch, to->counts, from->n_samples, err)))
        return -1;
    to->values = arena_alloc_array(&batch->arena, (size_t)from->n_samples * from->n_types, sizeof(*to->values), err);
    if (!to->values)
        return -1;
    for (uint32_t type = 0; type < from->n_types && from->n_samples; type++)
        memcpy(to->values + (size_t)type * to->stride, profile_values(from, type),
               from->n_samples * sizeof(*to->values));
    return 0;
}

int builder_finish(struct builder *b, struct batch *batch, struct error *err)
{
    if (builder_has_failed(b)) {
        *err = b->failure;
        return -1;
    }
    seal_newest(b);
    if (b->saturated)
        report_add(&b->report, saturation, b->saturated, "while adding samples");
    if (move_tables(b, batch, err) < 0)
        return -1;
    batch->profiles = ARENA_ARRAY(&batch->arena, struct profile, b->profiles.n, err);
    if (!batch->profiles)
        return -1;
    for (size_t i = 0; i < b->profiles.n; i++)
        if (move_profile(&b->profiles.items[i], batch, &batch->profiles[i], err) < 0)
            return -1;
    batch->n_profiles = (uint32_t)b->profiles.n;
    report_merge(&batch->report, &b->report);
    clear(b);
    return 0;
}
