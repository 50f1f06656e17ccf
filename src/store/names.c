// SPDX-License-Identifier: Apache-2.0
#include "store/names.h"

#include "base/memory.h"
#include "base/vec.h"
#include "block/chunk.h"
#include "block/storekey.h"
#include "store/idset.h"

#include <stdio.h>

#define MISSING_NAME      SLICE("[missing]")
#define MISSING           UINT32_MAX /* in place of an id; the dictionary gives out none so high */
#define MAX_STEPS         4
#define MAX_DAMAGED_SEEKS 64
#define LABELS_AT_ONCE    2048             /* their texts are in memory together */
#define MAX_ITEMS         (UINT32_MAX - 1) /* of a table */

struct names {
    struct kv *kv;
    const struct kv_snapshot *snapshot;
    uint32_t tenant;
    const struct patience *patience; /* NULL = nobody is asked */
};

int names_new(struct kv *kv, const struct kv_snapshot *snapshot, uint32_t tenant, struct names **ret_names,
              struct error *err)
{
    struct names *names = MEMORY_NEW(struct names, err);

    if (!names)
        return -1;
    *names = (struct names){ .kv = kv, .snapshot = snapshot, .tenant = tenant };
    *ret_names = names;
    return 0;
}

void names_set_patience(struct names *names, const struct patience *patience)
{
    names->patience = patience;
}

uint64_t names_identity(const struct names *names)
{
    return hash_mix64(kv_identity(names->kv) + names->tenant);
}

void names_free(struct names *names)
{
    memory_free(names);
}

void names_freep(struct names **names)
{
    names_free(*names);
}

/* --- chunks --- */

/* A walk over the chunks of one kind, in search of rising ids. */
struct walk {
    const struct names *names;
    enum chunk_kind kind;
    struct kv_iterator *iterator;
    bool is_placed; /* the iterator stands on a chunk, which begins with id `first` */
    bool is_open;   /* the reader is in that chunk; `end` is behind its last id that can be read */
    bool is_over;   /* no id will be found any more */
    uint32_t first;
    uint64_t end;
    uint32_t n_damaged_seeks;
    struct chunk_reader reader;
};

/* What all keys of a kind begin with. */
static struct slice kind_prefix(const struct storekey *key)
{
    return slice_of(key->bytes, key->len - sizeof(uint32_t));
}

static int walk_init(struct walk *walk, const struct names *names, enum chunk_kind kind, struct error *err)
{
    struct storekey key = storekey_chunk(names->tenant, kind, 0);

    *walk = (struct walk){ .names = names, .kind = kind };
    return kv_iterator_new(names->kv, KV_DEFAULT, names->snapshot, kind_prefix(&key), false, &walk->iterator, err);
}

static void walk_done(struct walk *walk)
{
    kv_iterator_free(walk->iterator);
}

static bool is_damage(const struct error *err)
{
    return err->code == ERR_CORRUPT || err->code == ERR_VERSION;
}

/* Sees where the iterator stands now. At its end nothing is left, unless it is a damaged block that ended it: behind
 * that there may be more, which is sought a few times. */
static int look(struct walk *walk, struct error *err)
{
    uint32_t tenant;
    uint8_t kind;

    walk->is_open = false;
    walk->is_placed = kv_iterator_is_valid(walk->iterator) &&
                      storekey_parse_chunk(kv_iterator_key(walk->iterator), &tenant, &kind, &walk->first);
    if (walk->is_placed)
        return 0;
    if (kv_iterator_check(walk->iterator, err) == 0) {
        walk->is_over = true;
        return 0;
    }
    walk->is_over = ++walk->n_damaged_seeks >= MAX_DAMAGED_SEEKS;
    return is_damage(err) ? 0 : -1;
}

/* Goes to the last chunk that begins at `id` or before, or to the first of all. */
static int seek(struct walk *walk, uint32_t id, struct error *err)
{
    struct storekey key = storekey_chunk(walk->names->tenant, walk->kind, id);

    kv_iterator_seek_back(walk->iterator, storekey_slice(&key));
    if (!kv_iterator_is_valid(walk->iterator) && kv_iterator_check(walk->iterator, err) == 0)
        kv_iterator_seek(walk->iterator, storekey_slice(&key));
    return look(walk, err);
}

/* A chunk that cannot be read is as good as an empty one. */
static void open_chunk(struct walk *walk)
{
    struct error err;
    bool is_good = chunk_reader_init(&walk->reader, walk->kind, kv_iterator_value(walk->iterator), &err) == 0;

    walk->is_open = true;
    walk->end = (uint64_t)walk->first + (is_good ? walk->reader.n : 0);
}

static int next_chunk(struct walk *walk, struct error *err)
{
    kv_iterator_next(walk->iterator);
    return look(walk, err);
}

/* Whether `id` lies so far ahead, measured by the chunk at hand, that seeking is quicker than going on. */
static bool is_far(const struct walk *walk, uint32_t id)
{
    return id - walk->end >= MAX_STEPS * (walk->end - walk->first);
}

/* Finds the chunk that holds `id`; ids must rise from call to call. */
static int find_chunk(struct walk *walk, uint32_t id, bool *ret_found, struct error *err)
{
    *ret_found = false;
    if (!walk->is_placed && !walk->is_over && seek(walk, id, err) < 0)
        return -1;
    for (uint32_t n_steps = 0; walk->is_placed && walk->first <= id; n_steps++) {
        bool has_sought = n_steps > MAX_STEPS;

        if (!walk->is_open)
            open_chunk(walk);
        if (id < walk->end) {
            *ret_found = true;
            return 0;
        }
        if (!has_sought && (n_steps == MAX_STEPS || is_far(walk, id))) {
            n_steps = MAX_STEPS;
            if (seek(walk, id, err) < 0)
                return -1;
        } else if (next_chunk(walk, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* To be called when decoding failed: 0 if it is damage, of which the rest of the chunk is taken to be part, else -1. */
static int pass_damage(struct walk *walk, bool *ret_found, const struct error *err)
{
    if (!is_damage(err))
        return -1;
    walk->end = (uint64_t)walk->first + walk->reader.at;
    *ret_found = false;
    return 0;
}

/* Brings the reader to the entry `id`; ids must rise from call to call. */
static int find_entry(struct walk *walk, uint32_t id, bool *ret_found, struct error *err)
{
    if (find_chunk(walk, id, ret_found, err) < 0)
        return -1;
    while (*ret_found && walk->reader.at < id - walk->first)
        if (chunk_skip(&walk->reader, err) < 0 && pass_damage(walk, ret_found, err) < 0)
            return -1;
    return 0;
}

/* --- loading: from the stacks down to the strings, each level collecting the ids of the next --- */

struct load {
    const struct names *names;
    struct arena *arena;  /* what the caller gets */
    struct arena scratch; /* ids that are still to be found */
    struct arena entry;   /* the entry being read */
    struct idset frames, mappings, functions, strings;
    /* As read, with ids of the dictionary (or MISSING). */
    VEC(uint32_t) stack_frames;
    VEC(struct line) lines;
    VEC(struct label) labels;
    struct tables tables;
    uint32_t n_missing;
};

static void load_init(struct load *load, const struct names *names, struct arena *arena)
{
    *load = (struct load){ .names = names, .arena = arena };
    arena_init(&load->scratch, arena->max_bytes);
    arena_init(&load->entry, arena->max_bytes);
    idset_init(&load->frames, &load->scratch);
    idset_init(&load->mappings, &load->scratch);
    idset_init(&load->functions, &load->scratch);
    idset_init(&load->strings, &load->scratch);
}

static void load_done(struct load *load)
{
    arena_done(&load->scratch);
    arena_done(&load->entry);
    VEC_DONE(&load->stack_frames);
    VEC_DONE(&load->lines);
    VEC_DONE(&load->labels);
}

/* Room for entry 0, the `n` that were asked for, and one that stands for what is missing; zeroed. */
static void *alloc_table(struct load *load, uint32_t n, size_t item_bytes, struct error *err)
{
    size_t size_bytes;

    if (__builtin_mul_overflow((size_t)n + 2, item_bytes, &size_bytes)) {
        error_set(err, ERR_LIMIT, "%u entries of a dictionary do not fit into memory", n);
        return NULL;
    }
    return arena_alloc_zero(load->arena, size_bytes, err);
}
#define ALLOC_TABLE(load, type, n, err) ((type *)alloc_table((load), (n), sizeof(type), (err)))

/* Reads the entries `ids` of one kind with `take`, which gets the place (from 1) of each and whether it was found. */
static int read_entries(struct load *load, enum chunk_kind kind, const uint32_t *ids, uint32_t n,
                        int (*take)(struct load *load, struct walk *walk, uint32_t place, bool *found,
                                    struct error *err),
                        struct error *err)
{
    AUTO(walk_done) struct walk walk = { 0 };

    if (n == 0)
        return 0;
    if (walk_init(&walk, load->names, kind, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        bool found;

        if (patience_check_at(load->names->patience, i, err) < 0 || find_entry(&walk, ids[i], &found, err) < 0 ||
            take(load, &walk, i + 1, &found, err) < 0)
            return -1;
        load->n_missing += !found;
        arena_reset(&load->entry);
    }
    return 0;
}

static int take_stack(struct load *load, struct walk *walk, uint32_t place, bool *found, struct error *err)
{
    static uint32_t missing[] = { MISSING };
    uint32_t *frames = missing, depth = 1;

    if (*found && chunk_next_stack(&walk->reader, &load->entry, &frames, &depth, err) < 0 &&
        pass_damage(walk, found, err) < 0)
        return -1;
    if (VEC_RESERVE(&load->stack_frames, depth, MAX_ITEMS, err) < 0)
        return -1;
    for (uint32_t i = 0; i < depth; i++) {
        if (frames[i] != MISSING && idset_add(&load->frames, frames[i], err) < 0)
            return -1;
        load->stack_frames.items[load->stack_frames.n++] = frames[i];
    }
    load->tables.stack_starts[place + 1] = (uint32_t)load->stack_frames.n;
    return 0;
}

static int take_frame(struct load *load, struct walk *walk, uint32_t place, bool *found, struct error *err)
{
    static struct line missing[] = { { .function = MISSING } };
    struct frame frame = { .n_lines = 1 };
    struct line *lines = missing;

    if (*found && chunk_next_frame(&walk->reader, &load->entry, &frame, &lines, err) < 0 &&
        pass_damage(walk, found, err) < 0)
        return -1;
    if (VEC_RESERVE(&load->lines, frame.n_lines, MAX_ITEMS, err) < 0 ||
        idset_add(&load->mappings, frame.mapping, err) < 0)
        return -1;
    frame.first_line = (uint32_t)load->lines.n;
    for (uint32_t i = 0; i < frame.n_lines; i++) {
        if (lines[i].function != MISSING && idset_add(&load->functions, lines[i].function, err) < 0)
            return -1;
        load->lines.items[load->lines.n++] = lines[i];
    }
    load->tables.frames[place] = frame;
    return 0;
}

static int take_function(struct load *load, struct walk *walk, uint32_t place, bool *found, struct error *err)
{
    struct function function = { 0 };

    if (*found && chunk_next_function(&walk->reader, &function, err) < 0 && pass_damage(walk, found, err) < 0)
        return -1;
    if (idset_add(&load->strings, function.name, err) < 0 || idset_add(&load->strings, function.system_name, err) < 0 ||
        idset_add(&load->strings, function.file, err) < 0)
        return -1;
    if (!*found)
        function.name = MISSING;
    load->tables.functions[place] = function;
    return 0;
}

static int take_mapping(struct load *load, struct walk *walk, uint32_t place, bool *found, struct error *err)
{
    struct mapping mapping = { 0 };

    if (*found && chunk_next_mapping(&walk->reader, &mapping, err) < 0 && pass_damage(walk, found, err) < 0)
        return -1;
    if (idset_add(&load->strings, mapping.file, err) < 0 || idset_add(&load->strings, mapping.build_id, err) < 0 ||
        idset_add(&load->strings, mapping.build_id_go, err) < 0 ||
        idset_add(&load->strings, mapping.build_id_hash, err) < 0)
        return -1;
    load->tables.mappings[place] = mapping;
    return 0;
}

static int add_label(struct load *load, const struct label *label, struct error *err)
{
    struct label *copy = VEC_PUSH(&load->labels, MAX_ITEMS, err);

    if (!copy)
        return -1;
    *copy = *label;
    if (idset_add(&load->strings, label->key, err) < 0 || idset_add(&load->strings, label->text, err) < 0)
        return -1;
    return idset_add(&load->strings, label->unit, err);
}

static int take_label_set(struct load *load, struct walk *walk, uint32_t place, bool *found, struct error *err)
{
    struct label *labels = NULL;
    uint32_t n = 0;

    if (*found && chunk_next_label_set(&walk->reader, &load->entry, &labels, &n, err) < 0 &&
        pass_damage(walk, found, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (add_label(load, &labels[i], err) < 0)
            return -1;
    load->tables.label_set_starts[place + 1] = (uint32_t)load->labels.n;
    return 0;
}

static int take_string(struct load *load, struct walk *walk, uint32_t place, bool *found, struct error *err)
{
    struct slice text = MISSING_NAME;

    if (*found && chunk_next_string(&walk->reader, &text, err) < 0 && pass_damage(walk, found, err) < 0)
        return -1;
    if (*found) {
        text = arena_copy(load->arena, text, err);
        if (!text.ptr)
            return -1;
    }
    load->tables.strings[place] = text;
    return 0;
}

static int load_frames(struct load *load, struct error *err)
{
    uint32_t *ids;

    if (idset_freeze(&load->frames, &ids, err) < 0)
        return -1;
    load->tables.frames = ALLOC_TABLE(load, struct frame, load->frames.n, err);
    if (!load->tables.frames)
        return -1;
    return read_entries(load, CHUNK_FRAME, ids, load->frames.n, take_frame, err);
}

static int load_functions(struct load *load, struct error *err)
{
    uint32_t *ids;

    if (idset_freeze(&load->functions, &ids, err) < 0)
        return -1;
    load->tables.functions = ALLOC_TABLE(load, struct function, load->functions.n, err);
    if (!load->tables.functions)
        return -1;
    return read_entries(load, CHUNK_FUNCTION, ids, load->functions.n, take_function, err);
}

static int load_mappings(struct load *load, struct error *err)
{
    uint32_t *ids;

    if (idset_freeze(&load->mappings, &ids, err) < 0)
        return -1;
    load->tables.mappings = ALLOC_TABLE(load, struct mapping, load->mappings.n, err);
    if (!load->tables.mappings)
        return -1;
    return read_entries(load, CHUNK_MAPPING, ids, load->mappings.n, take_mapping, err);
}

static int load_strings(struct load *load, struct error *err)
{
    uint32_t *ids;

    if (idset_freeze(&load->strings, &ids, err) < 0)
        return -1;
    load->tables.strings = ALLOC_TABLE(load, struct slice, load->strings.n, err);
    if (!load->tables.strings)
        return -1;
    load->tables.strings[0] = SLICE("");
    return read_entries(load, CHUNK_STRING, ids, load->strings.n, take_string, err);
}

/* --- from ids of the dictionary to places in the tables --- */

/* The last entry of a table stands for all that is missing. It is counted only if somebody refers to it. */
static uint32_t place_of(const struct idset *set, uint32_t id, bool *is_missing_used)
{
    if (id != MISSING)
        return idset_place(set, id);
    *is_missing_used = true;
    return set->n + 1;
}

static int place_stacks(struct load *load, bool *is_missing_used, struct error *err)
{
    struct tables *tables = &load->tables;

    tables->n_stack_frames = (uint32_t)load->stack_frames.n;
    tables->stack_frames = ARENA_ARRAY(load->arena, uint32_t, tables->n_stack_frames, err);
    if (!tables->stack_frames)
        return -1;
    for (uint32_t i = 0; i < tables->n_stack_frames; i++)
        tables->stack_frames[i] = place_of(&load->frames, load->stack_frames.items[i], is_missing_used);
    return 0;
}

static int place_lines(struct load *load, bool is_frame_missing, bool *is_missing_used, struct error *err)
{
    struct tables *tables = &load->tables;

    tables->n_lines = (uint32_t)load->lines.n;
    tables->n_frames = load->frames.n + 1 + is_frame_missing;
    tables->lines = ARENA_ARRAY(load->arena, struct line, (size_t)tables->n_lines + 1, err);
    if (!tables->lines)
        return -1;
    for (uint32_t i = 0; i < tables->n_lines; i++) {
        tables->lines[i] = load->lines.items[i];
        tables->lines[i].function = place_of(&load->functions, load->lines.items[i].function, is_missing_used);
    }
    if (is_frame_missing) {
        tables->frames[load->frames.n + 1] = (struct frame){ .first_line = tables->n_lines, .n_lines = 1 };
        tables->lines[tables->n_lines++] =
            (struct line){ .function = place_of(&load->functions, MISSING, is_missing_used) };
    }
    for (uint32_t i = 0; i < tables->n_frames; i++)
        tables->frames[i].mapping = idset_place(&load->mappings, tables->frames[i].mapping);
    return 0;
}

static void place_functions(struct load *load, bool is_function_missing, bool *is_missing_used)
{
    struct tables *tables = &load->tables;

    tables->n_functions = load->functions.n + 1 + is_function_missing;
    if (is_function_missing)
        tables->functions[load->functions.n + 1].name = MISSING;
    for (uint32_t i = 0; i < tables->n_functions; i++) {
        struct function *function = &tables->functions[i];

        function->name = place_of(&load->strings, function->name, is_missing_used);
        function->system_name = idset_place(&load->strings, function->system_name);
        function->file = idset_place(&load->strings, function->file);
    }
}

static void place_mappings(struct load *load)
{
    struct tables *tables = &load->tables;

    tables->n_mappings = load->mappings.n + 1;
    for (uint32_t i = 0; i < tables->n_mappings; i++) {
        struct mapping *mapping = &tables->mappings[i];

        mapping->file = idset_place(&load->strings, mapping->file);
        mapping->build_id = idset_place(&load->strings, mapping->build_id);
        mapping->build_id_go = idset_place(&load->strings, mapping->build_id_go);
        mapping->build_id_hash = idset_place(&load->strings, mapping->build_id_hash);
    }
}

static int place_labels(struct load *load, struct error *err)
{
    struct tables *tables = &load->tables;

    tables->n_labels = (uint32_t)load->labels.n;
    tables->labels = ARENA_ARRAY(load->arena, struct label, tables->n_labels, err);
    if (!tables->labels)
        return -1;
    for (uint32_t i = 0; i < tables->n_labels; i++) {
        struct label *label = &tables->labels[i];

        *label = load->labels.items[i];
        label->key = idset_place(&load->strings, label->key);
        label->text = idset_place(&load->strings, label->text);
        label->unit = idset_place(&load->strings, label->unit);
    }
    return 0;
}

static int place_all(struct load *load, struct error *err)
{
    bool is_frame_missing = false, is_function_missing = false, is_string_missing = false;
    struct tables *tables = &load->tables;

    if (place_stacks(load, &is_frame_missing, err) < 0 ||
        place_lines(load, is_frame_missing, &is_function_missing, err) < 0 || place_labels(load, err) < 0)
        return -1;
    place_functions(load, is_function_missing, &is_string_missing);
    place_mappings(load);
    tables->n_strings = load->strings.n + 1 + is_string_missing;
    if (is_string_missing)
        tables->strings[load->strings.n + 1] = MISSING_NAME;
    tables->links = ARENA_NEW(load->arena, struct link, err);
    tables->n_links = 1;
    return tables->links ? 0 : -1;
}

/* --- what is asked for --- */

static int load_all(struct load *load, const uint32_t *stacks, uint32_t n_stacks, const uint32_t *label_sets,
                    uint32_t n_label_sets, struct error *err)
{
    struct tables *tables = &load->tables;

    tables->n_stacks = n_stacks + 1;
    tables->n_label_sets = n_label_sets + 1;
    tables->stack_starts = ALLOC_TABLE(load, uint32_t, n_stacks, err);
    tables->label_set_starts = ALLOC_TABLE(load, uint32_t, n_label_sets, err);
    if (!tables->stack_starts || !tables->label_set_starts ||
        read_entries(load, CHUNK_STACK, stacks, n_stacks, take_stack, err) < 0 ||
        read_entries(load, CHUNK_LABEL_SET, label_sets, n_label_sets, take_label_set, err) < 0 ||
        load_frames(load, err) < 0 || load_functions(load, err) < 0 || load_mappings(load, err) < 0 ||
        load_strings(load, err) < 0)
        return -1;
    return place_all(load, err);
}

int names_load(struct names *names, const uint32_t *stacks, uint32_t n_stacks, const uint32_t *label_sets,
               uint32_t n_label_sets, struct arena *arena, struct tables *ret_tables, uint32_t *ret_n_missing,
               struct error *err)
{
    AUTO(load_done) struct load load;

    load_init(&load, names, arena);
    if (load_all(&load, stacks, n_stacks, label_sets, n_label_sets, err) < 0)
        return error_wrap(err, "loading names of %u stacks and %u label sets", n_stacks, n_label_sets);
    *ret_tables = load.tables;
    *ret_n_missing = load.n_missing;
    return 0;
}

int names_stack_hashes(struct names *names, const uint32_t *stacks, uint32_t n, struct hash128 *ret_hashes,
                       uint32_t *ret_n_missing, struct error *err)
{
    AUTO(walk_done) struct walk walk;
    uint32_t n_missing = 0;

    if (walk_init(&walk, names, CHUNK_STACK, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        bool found;

        if (find_chunk(&walk, stacks[i], &found, err) < 0)
            return error_wrap(err, "loading hashes of %u stacks", n);
        ret_hashes[i] = found ? chunk_stack_hash(&walk.reader, stacks[i] - walk.first) : (struct hash128){ 0 };
        n_missing += !found;
    }
    *ret_n_missing = n_missing;
    return 0;
}

/* --- every label --- */

struct slice names_value_text(const struct tables *tables, const struct label *label, struct names_space *space)
{
    double number;

    switch ((enum label_kind)label->kind) {
    case LABEL_STRING:
    case LABEL_BYTES:
    case LABEL_JSON: return tables_string(tables, label->text);
    case LABEL_BOOL: return label->number ? SLICE("true") : SLICE("false");
    case LABEL_NUMBER: snprintf(space->text, sizeof(space->text), "%lld", (long long)label->number); break;
    case LABEL_DOUBLE:
        memcpy(&number, &label->number, sizeof(number));
        snprintf(space->text, sizeof(space->text), "%.15g", number);
        break;
    }
    return slice_from(space->text);
}

struct visitor {
    int (*visit)(void *context, struct slice name, struct slice value, struct error *err);
    void *context;
};

/* Finds the strings of the labels gathered so far and shows the labels. */
static int visit_labels(struct load *load, const struct visitor *visitor, struct error *err)
{
    if (load_strings(load, err) < 0 || place_labels(load, err) < 0)
        return -1;
    for (uint32_t i = 0; i < load->tables.n_labels; i++) {
        const struct label *label = &load->tables.labels[i];
        struct names_space space;
        struct slice value = names_value_text(&load->tables, label, &space);

        if (visitor->visit(visitor->context, tables_string(&load->tables, label->key), value, err) < 0)
            return -1;
    }
    return 0;
}

static int gather_chunk(struct load *load, struct slice bytes, struct error *err)
{
    struct chunk_reader reader;

    if (chunk_reader_init(&reader, CHUNK_LABEL_SET, bytes, err) < 0)
        return is_damage(err) ? 0 : -1;
    while (reader.at < reader.n) {
        struct label *labels;
        uint32_t n;

        arena_reset(&load->entry);
        if (chunk_next_label_set(&reader, &load->entry, &labels, &n, err) < 0)
            return is_damage(err) ? 0 : -1;
        for (uint32_t i = 0; i < n; i++)
            if (add_label(load, &labels[i], err) < 0)
                return -1;
    }
    return 0;
}

/* Gathers labels from some chunks and shows them. */
static int visit_some(const struct names *names, struct kv_iterator *iterator, const struct visitor *visitor,
                      struct error *err)
{
    AUTO(arena_done) struct arena arena;
    AUTO(load_done) struct load load;

    arena_init(&arena, 0);
    load_init(&load, names, &arena);
    for (; kv_iterator_is_valid(iterator) && load.labels.n < LABELS_AT_ONCE; kv_iterator_next(iterator))
        if (gather_chunk(&load, kv_iterator_value(iterator), err) < 0)
            return -1;
    return visit_labels(&load, visitor, err);
}

int names_each_label(struct names *names,
                     int (*visit)(void *context, struct slice name, struct slice value, struct error *err),
                     void *context, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct storekey key = storekey_chunk(names->tenant, CHUNK_LABEL_SET, 0);
    struct visitor visitor = { visit, context };

    if (kv_iterator_new(names->kv, KV_DEFAULT, names->snapshot, kind_prefix(&key), true, &iterator, err) < 0)
        return -1;
    while (kv_iterator_is_valid(iterator))
        if (visit_some(names, iterator, &visitor, err) < 0)
            return -1;
    if (kv_iterator_check(iterator, err) < 0 && !is_damage(err))
        return -1;
    return 0;
}
