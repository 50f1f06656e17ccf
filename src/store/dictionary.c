// SPDX-License-Identifier: Apache-2.0
#include "store/dictionary.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/vec.h"
#include "block/storekey.h"

enum {
    IDCACHE_WAYS = 4,
    IDCACHE_FIRST_SETS = 8192,
    MAX_PENDING_BYTES = 1 << 28, /* of one chunk; a group commit is far smaller */
    KEPT_PENDING_BYTES = 1024,   /* by a chunk that was taken */
    AHEAD = 16,                  /* lookups whose memory is on its way */
    MIN_STACKS = 4096,           /* a generation is never smaller, whatever memory says */
};

/* --- the cache --- */

int idcache_init(struct idcache *cache, size_t max_bytes, struct error *err)
{
    size_t sets = MIN(MAX(max_bytes / (IDCACHE_WAYS * sizeof(*cache->slots)), 1u), (size_t)1 << 30);

    *cache = (struct idcache){ .n_sets = (uint32_t)MIN(sets, (size_t)IDCACHE_FIRST_SETS), .max_sets = (uint32_t)sets };
    cache->slots = memory_alloc_zero((size_t)cache->n_sets * IDCACHE_WAYS * sizeof(*cache->slots), err);
    return cache->slots ? 0 : -1;
}

void idcache_done(struct idcache *cache)
{
    memory_free(cache->slots);
    *cache = (struct idcache){ 0 };
}

/* Any number of sets: the hash is a fraction of it. */
static struct idcache_slot *set_of(const struct idcache *cache, struct hash128 hash)
{
    return &cache->slots[(size_t)((uint64_t)(uint32_t)hash.a * cache->n_sets >> 32) * IDCACHE_WAYS];
}

/* For a hash that is looked up soon: fetches its set, which is longer than a line of the processor's caches. */
static inline void idcache_prefetch(const struct idcache *cache, struct hash128 hash)
{
    const struct idcache_slot *set = set_of(cache, hash);

    __builtin_prefetch(&set[0], 1);
    __builtin_prefetch(&set[IDCACHE_WAYS - 1], 1);
}

uint32_t idcache_find(struct idcache *cache, struct hash128 hash)
{
    struct idcache_slot *set = set_of(cache, hash), found;

    for (unsigned i = 0; i < IDCACHE_WAYS; i++) {
        if (!hash_equal(set[i].hash, hash))
            continue;
        found = set[i];
        if (i) {
            memmove(set + 1, set, i * sizeof(*set));
            set[0] = found;
        }
        return found.id;
    }
    return 0;
}

/* The newest, or last asked for, stands first; the last one falls out. */
static void put(struct idcache *cache, struct hash128 hash, uint32_t id)
{
    struct idcache_slot *set = set_of(cache, hash);

    cache->n_forgotten += set[IDCACHE_WAYS - 1].id != 0;
    memmove(set + 1, set, (IDCACHE_WAYS - 1) * sizeof(*set));
    set[0] = (struct idcache_slot){ .hash = hash, .id = id };
}

static void grow(struct idcache *cache)
{
    struct idcache larger = { .n_sets = (uint32_t)MIN(cache->n_sets * 2ull, cache->max_sets),
                              .max_sets = cache->max_sets };
    struct error err;

    larger.slots = memory_alloc_zero((size_t)larger.n_sets * IDCACHE_WAYS * sizeof(*larger.slots), &err);
    if (!larger.slots) {
        cache->max_sets = cache->n_sets;
        return;
    }
    /* Backwards: of each set the oldest goes first, so that the newest stands first again. */
    for (size_t i = (size_t)cache->n_sets * IDCACHE_WAYS; i-- > 0;)
        if (cache->slots[i].id)
            put(&larger, cache->slots[i].hash, cache->slots[i].id);
    memory_free(cache->slots);
    *cache = larger;
}

void idcache_put(struct idcache *cache, struct hash128 hash, uint32_t id)
{
    put(cache, hash, id);
    /* Then it is half full, and has forgotten about one in thirty. */
    if (cache->n_sets < cache->max_sets && cache->n_forgotten > cache->n_sets / 16)
        grow(cache);
}

/* --- opening --- */

static int find_next_id(struct kv *kv, uint32_t tenant, uint8_t kind, uint32_t *ret_next, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct storekey prefix = storekey_chunk(tenant, kind, 0), last = storekey_chunk(tenant, kind, UINT32_MAX);
    uint32_t first, key_tenant;
    uint8_t key_kind;
    struct chunk_reader reader;

    *ret_next = 1;
    if (kv_iterator_new(kv, KV_DEFAULT, NULL, slice_of(prefix.bytes, prefix.len - 4), false, &iterator, err) < 0)
        return -1;
    kv_iterator_seek_back(iterator, storekey_slice(&last));
    if (!kv_iterator_is_valid(iterator))
        return kv_iterator_check(iterator, err);
    if (!storekey_parse_chunk(kv_iterator_key(iterator), &key_tenant, &key_kind, &first))
        return error_set(err, ERR_CORRUPT, "a dictionary key of tenant %u is damaged", tenant);
    if (chunk_reader_init(&reader, (enum chunk_kind)kind, kv_iterator_value(iterator), err) < 0)
        return error_wrap(err, "the newest dictionary chunk of tenant %u", tenant);
    if (reader.n > UINT32_MAX - 1 - first)
        return error_set(err, ERR_CORRUPT, "a dictionary chunk of tenant %u holds ids beyond 32 bits", tenant);
    *ret_next = first + reader.n;
    return 0;
}

int dictionary_init(struct dictionary *dictionary, struct kv *kv, uint32_t tenant, uint64_t seed,
                    struct dictionary_share *share, struct idcache *cache, uint32_t ids_from, struct error *err)
{
    struct buffer value;
    struct storekey key = storekey_generation(tenant);
    bool is_found, has_gap = false;
    int result;

    *dictionary = (struct dictionary){ .tenant = tenant, .seed = seed, .share = share, .cache = cache };
    hash_set_init(&dictionary->stacks, 0);
    for (unsigned kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++) {
        chunk_writer_init(&dictionary->pending[kind], (enum chunk_kind)kind, MAX_PENDING_BYTES);
        if (find_next_id(kv, tenant, (uint8_t)kind, &dictionary->next_ids[kind], err) < 0)
            return -1;
        if (kind == CHUNK_STACK)
            has_gap = dictionary->next_ids[kind] < ids_from;
        dictionary->next_ids[kind] = MAX(dictionary->next_ids[kind], ids_from);
    }
    buffer_init(&value, 0);
    result = kv_get(kv, KV_DEFAULT, storekey_slice(&key), &value, &is_found, err);
    if (!result && is_found && value.len != 4)
        result = error_set(err, ERR_CORRUPT, "the generation of tenant %u has %zu bytes, not 4", tenant, value.len);
    if (!result)
        dictionary->generation = is_found ? bytes_get_le32(value.data) : 1;
    buffer_done(&value);
    if (has_gap) {
        dictionary->generation = dictionary->next_ids[CHUNK_STACK];
        dictionary->is_new_generation = true;
    }
    return result;
}

static void count_bytes(struct dictionary *dictionary)
{
    uint64_t now = dictionary->has_hashes ? hash_set_bytes(&dictionary->stacks) : 0;

    /* Relaxed: a budget, not a promise about other memory. */
    atomic_fetch_add_explicit(&dictionary->share->used_bytes, now - dictionary->counted_bytes, memory_order_relaxed);
    dictionary->counted_bytes = now;
}

void dictionary_unload(struct dictionary *dictionary)
{
    if (!dictionary->has_hashes)
        return;
    hash_set_done(&dictionary->stacks);
    hash_set_init(&dictionary->stacks, 0);
    dictionary->has_hashes = false;
    count_bytes(dictionary);
    atomic_fetch_sub_explicit(&dictionary->share->n, 1, memory_order_relaxed);
}

void dictionary_done(struct dictionary *dictionary)
{
    dictionary_unload(dictionary);
    hash_set_done(&dictionary->stacks);
    for (unsigned kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++)
        chunk_writer_done(&dictionary->pending[kind]);
    *dictionary = (struct dictionary){ 0 };
}

/* --- generations --- */

static void begin_generation(struct dictionary *dictionary)
{
    hash_set_done(&dictionary->stacks);
    hash_set_init(&dictionary->stacks, 0);
    dictionary->generation = dictionary->next_ids[CHUNK_STACK];
    dictionary->is_new_generation = true;
    count_bytes(dictionary);
}

/* Whether the hashes ought to be forgotten: memory is used up, and ours is not a small part of it. */
static bool is_too_large(const struct dictionary *dictionary)
{
    const struct dictionary_share *share = dictionary->share;
    uint64_t used = atomic_load_explicit(&share->used_bytes, memory_order_relaxed);
    uint32_t n = atomic_load_explicit(&share->n, memory_order_relaxed);

    if (dictionary->stacks.n < MIN_STACKS || used <= share->max_bytes)
        return false;
    return dictionary->counted_bytes >= share->max_bytes / MAX(n, 1u);
}

/* Whether the table would have to grow, and has no room to. */
static bool cannot_grow(const struct dictionary *dictionary)
{
    const struct hash_set *set = &dictionary->stacks;
    uint64_t max = dictionary->share->max_bytes, now = hash_set_bytes(set), then = hash_set_bytes_for(set, set->n + 1);
    uint64_t used = atomic_load_explicit(&dictionary->share->used_bytes, memory_order_relaxed);
    uint32_t n = atomic_load_explicit(&dictionary->share->n, memory_order_relaxed);

    if (set->n < MIN_STACKS || then == now)
        return false;
    return used - MIN(used, dictionary->counted_bytes) + then > max && then > max / MAX(n, 1u);
}

/* Adds the hashes of a chunk from entry `from` on; false in `*ret_is_whole` when one is there already. */
static int add_hashes(struct dictionary *dictionary, const struct chunk_reader *reader, uint32_t from,
                      bool *ret_is_whole, struct error *err)
{
    *ret_is_whole = true;
    for (uint32_t i = from; i < reader->n && *ret_is_whole; i++) {
        uint32_t place;

        if (hash_set_add(&dictionary->stacks, chunk_stack_hash(reader, i), &place, ret_is_whole, err) < 0)
            return -1;
    }
    return 0;
}

static int load_hashes(struct dictionary *dictionary, struct kv *kv, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct storekey from = storekey_chunk(dictionary->tenant, CHUNK_STACK, dictionary->generation);
    uint32_t expected = dictionary->generation;

    if (kv_iterator_new(kv, KV_DEFAULT, NULL, slice_of(from.bytes, from.len - 4), true, &iterator, err) < 0)
        return -1;
    /* A generation may begin within a chunk. */
    kv_iterator_seek_back(iterator, storekey_slice(&from));
    if (!kv_iterator_is_valid(iterator))
        kv_iterator_seek(iterator, storekey_slice(&from));
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        struct chunk_reader reader;
        uint32_t tenant, first;
        bool is_whole = false;
        uint8_t kind;

        if (storekey_parse_chunk(kv_iterator_key(iterator), &tenant, &kind, &first) &&
            chunk_reader_init(&reader, CHUNK_STACK, kv_iterator_value(iterator), err) == 0) {
            bool begins_before = first < expected && !dictionary->stacks.n;

            if (begins_before && reader.n <= expected - first)
                continue;
            if ((begins_before || first == expected) &&
                add_hashes(dictionary, &reader, expected - first, &is_whole, err) < 0)
                return -1;
        }
        if (!is_whole) {
            /* Ids are places in the set, so behind a gap it cannot go on: begin again from there. */
            begin_generation(dictionary);
            return 0;
        }
        expected = first + reader.n;
    }
    if (kv_iterator_check(iterator, err) < 0)
        return -1;
    /* The id of a stack is the generation plus its place: that holds only if every one from there on was loaded. */
    if (expected != dictionary->next_ids[CHUNK_STACK])
        begin_generation(dictionary);
    return 0;
}

int dictionary_load(struct dictionary *dictionary, struct kv *kv, struct error *err)
{
    if (dictionary->has_hashes)
        return 0;
    dictionary->has_hashes = true;
    atomic_fetch_add_explicit(&dictionary->share->n, 1, memory_order_relaxed);
    if (load_hashes(dictionary, kv, err) < 0)
        return error_wrap(err, "loading the stacks of tenant %u", dictionary->tenant);
    count_bytes(dictionary);
    return 0;
}

uint64_t dictionary_bytes_for(const struct dictionary *dictionary, uint32_t n)
{
    uint32_t all = dictionary->stacks.n + MIN(n, UINT32_MAX / 4 - dictionary->stacks.n);

    return hash_set_bytes_for(&dictionary->stacks, all) - hash_set_bytes(&dictionary->stacks);
}

int dictionary_prepare(struct dictionary *dictionary, struct kv *kv, struct error *err)
{
    if (dictionary_load(dictionary, kv, err) < 0)
        return -1;
    if (is_too_large(dictionary))
        begin_generation(dictionary);
    return 0;
}

/* --- giving ids --- */

/* Equal content of another kind or tenant is another thing. */
static struct hash128 key_of(const struct dictionary *dictionary, enum chunk_kind kind, struct hash128 hash)
{
    return hash_fold(hash, dictionary->tenant, kind);
}

static uint32_t new_id(struct dictionary *dictionary, enum chunk_kind kind, struct hash128 key)
{
    uint32_t id = dictionary->next_ids[kind]++;

    ASSERT(id != 0);
    idcache_put(dictionary->cache, key, id);
    dictionary->has_pending = true;
    return id;
}

static uint32_t string_id(struct dictionary *dictionary, struct slice text, struct hash128 hash)
{
    struct hash128 key;
    uint32_t id;

    if (!text.len)
        return 0;
    key = key_of(dictionary, CHUNK_STRING, hash);
    id = idcache_find(dictionary->cache, key);
    if (id)
        return id;
    chunk_put_string(&dictionary->pending[CHUNK_STRING], text);
    return new_id(dictionary, CHUNK_STRING, key);
}

/* The tables that ids are translated from. */
struct source {
    const struct tables *tables;
    const struct content *content;
    uint32_t *frame_memo;
};

static uint32_t source_string(struct dictionary *dictionary, const struct source *source, uint32_t string)
{
    return string_id(dictionary, tables_string(source->tables, string), source->content->strings[string]);
}

static uint32_t function_id(struct dictionary *dictionary, const struct source *source, uint32_t local)
{
    struct hash128 key = key_of(dictionary, CHUNK_FUNCTION, source->content->functions[local]);
    uint32_t id = local ? idcache_find(dictionary->cache, key) : 0;
    struct function function;

    if (id || !local)
        return id;
    function = source->tables->functions[local];
    function.name = source_string(dictionary, source, function.name);
    function.system_name = source_string(dictionary, source, function.system_name);
    function.file = source_string(dictionary, source, function.file);
    chunk_put_function(&dictionary->pending[CHUNK_FUNCTION], &function);
    return new_id(dictionary, CHUNK_FUNCTION, key);
}

static uint32_t mapping_id(struct dictionary *dictionary, const struct source *source, uint32_t local)
{
    struct mapping mapping = source->tables->mappings[local];
    struct hash128 key = key_of(dictionary, CHUNK_MAPPING, source->content->mappings[local]);
    uint32_t id;

    if (!local)
        return 0;
    /* Frames keep their addresses, so a binary that stands elsewhere in another process is another mapping. */
    key = hash_fold(key, mapping.start, mapping.offset);
    id = idcache_find(dictionary->cache, key);
    if (id)
        return id;
    mapping.file = source_string(dictionary, source, mapping.file);
    mapping.build_id = source_string(dictionary, source, mapping.build_id);
    mapping.build_id_go = source_string(dictionary, source, mapping.build_id_go);
    mapping.build_id_hash = source_string(dictionary, source, mapping.build_id_hash);
    chunk_put_mapping(&dictionary->pending[CHUNK_MAPPING], &mapping);
    return new_id(dictionary, CHUNK_MAPPING, key);
}

static int frame_id(struct dictionary *dictionary, const struct source *source, uint32_t local, uint32_t *ret_id,
                    struct error *err)
{
    struct hash128 key = key_of(dictionary, CHUNK_FRAME, source->content->frames[local]);
    uint32_t id = local ? idcache_find(dictionary->cache, key) : 0;
    const struct frame *original = &source->tables->frames[local];
    struct frame frame;
    struct line few[16], *lines = few;

    if (id || !local) {
        *ret_id = id;
        return 0;
    }
    frame = *original;
    if (frame.n_lines > ARRAY_LEN(few)) {
        lines = memory_alloc(frame.n_lines * sizeof(*lines), err);
        if (!lines)
            return -1;
    }
    frame.mapping = mapping_id(dictionary, source, original->mapping);
    for (uint32_t i = 0; i < frame.n_lines; i++) {
        lines[i] = source->tables->lines[original->first_line + i];
        lines[i].function = function_id(dictionary, source, lines[i].function);
    }
    chunk_put_frame(&dictionary->pending[CHUNK_FRAME], &frame, lines);
    if (lines != few)
        memory_free(lines);
    *ret_id = new_id(dictionary, CHUNK_FRAME, key);
    return 0;
}

static int add_stack(struct dictionary *dictionary, const struct source *source, uint32_t local, uint32_t *ret_id,
                     struct error *err)
{
    uint32_t ids[CONTENT_MAX_DEPTH], depth, place;
    const uint32_t *frames = tables_stack(source->tables, local, &depth);
    struct hash128 hash = source->content->stacks[local];
    bool is_new;

    ASSERT(depth <= CONTENT_MAX_DEPTH);
    if (cannot_grow(dictionary))
        begin_generation(dictionary);
    for (uint32_t i = 0; i < depth; i++)
        if (!source->frame_memo[frames[i]])
            idcache_prefetch(dictionary->cache, key_of(dictionary, CHUNK_FRAME, source->content->frames[frames[i]]));
    for (uint32_t i = 0; i < depth; i++) {
        uint32_t *known = &source->frame_memo[frames[i]];

        if (!*known && frame_id(dictionary, source, frames[i], known, err) < 0)
            return -1;
        ids[i] = *known;
    }
    if (hash_set_add(&dictionary->stacks, hash, &place, &is_new, err) < 0)
        return -1;
    if (is_new) {
        chunk_put_stack(&dictionary->pending[CHUNK_STACK], hash, ids, depth);
        dictionary->next_ids[CHUNK_STACK]++;
        dictionary->has_pending = true;
    }
    *ret_id = dictionary->generation + place;
    return 0;
}

/* Ids may run out only after four thousand million new entries in a day; stop well before. */
static int check_ids(const struct dictionary *dictionary, struct error *err)
{
    for (unsigned kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++)
        if (dictionary->next_ids[kind] > UINT32_MAX - (1u << 26))
            return error_set(err, ERR_LIMIT, "the dictionary of this day is full: it has %u entries of kind %s",
                             dictionary->next_ids[kind], chunk_kind_name((enum chunk_kind)kind));
    return 0;
}

int dictionary_stacks(struct dictionary *dictionary, const struct tables *tables, const struct content *content,
                      const uint32_t *stacks, uint32_t n, uint32_t *frame_memo, uint32_t *ret_ids, struct error *err)
{
    struct source source = { tables, content, frame_memo };

    if (check_ids(dictionary, err) < 0)
        return -1;
    /* The table is far larger than the caches: what a lookup needs is fetched some lookups before it. */
    for (uint32_t i = 0; i < MIN(n, 2u * AHEAD); i++)
        hash_set_prefetch(&dictionary->stacks, content->stacks[stacks[i]]);
    for (uint32_t i = 0; i < MIN(n, (uint32_t)AHEAD); i++)
        hash_set_prefetch_hash(&dictionary->stacks, content->stacks[stacks[i]]);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place;

        if (i + 2 * AHEAD < n)
            hash_set_prefetch(&dictionary->stacks, content->stacks[stacks[i + 2 * AHEAD]]);
        if (i + AHEAD < n)
            hash_set_prefetch_hash(&dictionary->stacks, content->stacks[stacks[i + AHEAD]]);
        place = hash_set_find(&dictionary->stacks, content->stacks[stacks[i]]);
        if (!stacks[i])
            ret_ids[i] = 0;
        else if (LIKELY(place != HASH_NONE))
            ret_ids[i] = dictionary->generation + place;
        else if (add_stack(dictionary, &source, stacks[i], &ret_ids[i], err) < 0)
            return -1;
    }
    count_bytes(dictionary);
    return 0;
}

static struct hash128 label_set_hash(const struct dictionary *dictionary, const struct column_labels *labels)
{
    struct hash128 hash = { labels->n, 1 };

    for (uint32_t i = 0; i < labels->n; i++) {
        const struct column_label *label = &labels->labels[i];
        struct hash128 name = content_string(label->name, dictionary->seed);
        struct hash128 text = content_string(label->text, dictionary->seed);
        struct hash128 unit = content_string(label->unit, dictionary->seed);

        hash = hash_fold(hash, name.a, name.b);
        hash = hash_fold(hash, text.a, text.b);
        hash = hash_fold(hash, unit.a, unit.b);
        hash = hash_fold(hash, (uint64_t)label->number, label->kind);
    }
    return hash;
}

static uint32_t text_id(struct dictionary *dictionary, struct slice text)
{
    return string_id(dictionary, text, content_string(text, dictionary->seed));
}

int dictionary_label_set(struct dictionary *dictionary, const struct column_labels *labels, uint32_t *ret_id,
                         struct error *err)
{
    struct hash128 key;
    struct label *set;

    *ret_id = 0;
    if (!labels->n)
        return 0;
    if (check_ids(dictionary, err) < 0)
        return -1;
    key = key_of(dictionary, CHUNK_LABEL_SET, label_set_hash(dictionary, labels));
    *ret_id = idcache_find(dictionary->cache, key);
    if (*ret_id)
        return 0;
    set = memory_alloc_zero(labels->n * sizeof(*set), err);
    if (!set)
        return -1;
    for (uint32_t i = 0; i < labels->n; i++) {
        const struct column_label *label = &labels->labels[i];

        set[i].key = text_id(dictionary, label->name);
        set[i].text = text_id(dictionary, label->text);
        set[i].unit = text_id(dictionary, label->unit);
        set[i].number = label->number;
        set[i].kind = label->kind;
    }
    chunk_put_label_set(&dictionary->pending[CHUNK_LABEL_SET], set, labels->n);
    memory_free(set);
    *ret_id = new_id(dictionary, CHUNK_LABEL_SET, key);
    return 0;
}

/* --- handing over --- */

/* Many new entries come once; what they took need not stay with each of many tenants. */
static void clear_pending(struct chunk_writer *writer)
{
    if (writer->entries.capacity + writer->hashes.capacity <= KEPT_PENDING_BYTES) {
        chunk_writer_clear(writer);
        return;
    }
    chunk_writer_done(writer);
    chunk_writer_init(writer, writer->kind, MAX_PENDING_BYTES);
}

int dictionary_take(struct dictionary *dictionary, struct kv *kv, struct kv_batch *batch, struct buffer *scratch,
                    struct error *err)
{
    if (dictionary->is_new_generation) {
        struct storekey key = storekey_generation(dictionary->tenant);
        char value[4];

        bytes_put_le32(value, dictionary->generation);
        kv_batch_put(batch, kv, KV_DEFAULT, storekey_slice(&key), slice_of(value, sizeof(value)));
        dictionary->is_new_generation = false;
    }
    if (!dictionary->has_pending)
        return 0;
    for (unsigned kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++) {
        struct chunk_writer *writer = &dictionary->pending[kind];
        struct storekey key = storekey_chunk(dictionary->tenant, (uint8_t)kind, dictionary->next_ids[kind] - writer->n);

        if (!writer->n)
            continue;
        buffer_clear(scratch);
        chunk_writer_finish(writer, scratch);
        if (buffer_check(scratch, err) < 0)
            return error_wrap(err, "writing the dictionary");
        kv_batch_put(batch, kv, KV_DEFAULT, storekey_slice(&key), buffer_slice(scratch));
        clear_pending(writer);
    }
    dictionary->has_pending = false;
    return 0;
}
