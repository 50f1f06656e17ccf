// SPDX-License-Identifier: Apache-2.0
#include "store/recover.h"

#include "base/bytes.h"
#include "base/log.h"
#include "block/part.h"
#include "block/storekey.h"
#include "store/dayload.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SKIP = 1 << 24,        /* ids and sequences: as many as a chunk of the dictionary has at most */
    MAX_ORPHANS = 1 << 16, /* closings without a marker, of an hour */
    MAX_SHARED = 1 << 20,  /* rows of a closing that are looked for elsewhere */
    BATCH_BYTES = 1 << 20,
};
#define ANY_CLOSING UINT32_MAX

/* --- rows of a closing --- */

/* The windows of the closings of an hour, one value after another. */
struct windows_walk {
    struct day *day;
    uint8_t hour;
    struct unpacker *unpacker;
    struct arena arena;
    int (*visit)(struct windows_walk *walk, uint32_t number, struct slice value, struct error *err);
    bool is_over;
    uint32_t number;         /* the closing that is looked at, or ANY_CLOSING */
    VEC(uint32_t) numbers;   /* those that were met, each once */
    VEC(uint32_t) sequences; /* of the rows of an orphan, or of a head */
    uint64_t n_rows;
    bool has_shared;
    uint32_t max_sequence;
};

static int take_windows(void *context, struct slice key, struct slice value, struct error *err)
{
    struct windows_walk *walk = context;
    struct storekey_block block;

    if (!storekey_parse_block(key, &block))
        return error_set(err, ERR_CORRUPT, "the key of a block is damaged");
    return walk->is_over ? 0 : walk->visit(walk, block.number, value, err);
}

static int walk_windows(struct windows_walk *walk, uint8_t hour,
                        int (*visit)(struct windows_walk *walk, uint32_t number, struct slice value, struct error *err),
                        struct error *err)
{
    struct storekey prefix = storekey_block((struct storekey_block){ .hour = hour, .kind = STOREKEY_WINDOWS });

    walk->hour = hour;
    walk->visit = visit;
    walk->is_over = false;
    return dayload_each(walk->day, walk->day->block_family, slice_of(prefix.bytes, 2), "windows", take_windows, walk,
                        err);
}

static int walk_init(struct windows_walk *walk, struct day *day, struct error *err)
{
    *walk = (struct windows_walk){ .day = day };
    arena_init(&walk->arena, day->context->read_bytes);
    return unpacker_new(&walk->unpacker, err);
}

static void walk_done(struct windows_walk *walk)
{
    unpacker_free(walk->unpacker);
    arena_done(&walk->arena);
    VEC_DONE(&walk->numbers);
    VEC_DONE(&walk->sequences);
}

/* Windows that cannot be made sense of have no rows. */
static int decode(struct windows_walk *walk, struct slice value, struct windows *ret_windows, struct error *err)
{
    arena_reset(&walk->arena);
    if (windows_decode(value, walk->unpacker, &walk->arena, ret_windows, err) == 0)
        return 0;
    *ret_windows = (struct windows){ .n_rows = 0 };
    return err->code == ERR_MEMORY ? -1 : 0;
}

/* --- markers (R1) --- */

static int note_number(struct windows_walk *walk, uint32_t number, struct slice value, struct error *err)
{
    uint32_t *slot;

    for (size_t i = 0; i < walk->numbers.n; i++)
        if (walk->numbers.items[i] == number)
            return 0;
    slot = VEC_PUSH(&walk->numbers, MAX_ORPHANS, err);
    if (!slot)
        return -1;
    *slot = number;
    return 0;
}

static int note_sequences(struct windows_walk *walk, uint32_t number, struct slice value, struct error *err)
{
    struct windows windows;

    if (number != walk->number)
        return 0;
    if (decode(walk, value, &windows, err) < 0)
        return -1;
    walk->n_rows += windows.n_rows;
    if (walk->sequences.n + windows.n_rows > MAX_SHARED)
        return 0;
    if (VEC_RESERVE(&walk->sequences, windows.n_rows, MAX_SHARED, err) < 0)
        return -1;
    for (uint32_t i = 0; i < windows.n_rows; i++)
        walk->sequences.items[walk->sequences.n++] = windows.sequences[i];
    return 0;
}

static int compare_sequences(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void sort_sequences(struct windows_walk *walk)
{
    if (walk->sequences.n)
        qsort(walk->sequences.items, walk->sequences.n, sizeof(*walk->sequences.items), compare_sequences);
}

static bool has_sequence(const struct windows_walk *walk, uint32_t sequence)
{
    return walk->sequences.n &&
           bsearch(&sequence, walk->sequences.items, walk->sequences.n, sizeof(sequence), compare_sequences) != NULL;
}

static int find_shared(struct windows_walk *walk, uint32_t number, struct slice value, struct error *err)
{
    struct windows windows;

    if (number != walk->number && walk->number != ANY_CLOSING)
        return 0;
    if (decode(walk, value, &windows, err) < 0)
        return -1;
    for (uint32_t i = 0; i < windows.n_rows && !walk->has_shared; i++)
        walk->has_shared = has_sequence(walk, windows.sequences[i]);
    walk->is_over = walk->has_shared;
    return 0;
}

static int find_shared_row(void *context, struct slice key, struct slice value, struct error *err)
{
    struct windows_walk *walk = context;
    uint32_t tenant, group, series, sequence;
    int64_t start_ns;

    if (!walk->has_shared && storekey_parse_row(key, &tenant, &group, &series, &start_ns, &sequence))
        walk->has_shared = has_sequence(walk, sequence);
    return 0;
}

static bool has_marker(const struct day *day, uint8_t hour, uint32_t number)
{
    for (size_t i = 0; i < day->markers.n; i++)
        if (day->markers.items[i].hour == hour && day->markers.items[i].number == number)
            return true;
    return false;
}

static bool is_replaced(const struct day *day, uint8_t hour, uint32_t number)
{
    for (size_t i = 0; i < day->markers.n; i++)
        if (day->markers.items[i].hour == hour && number < day->markers.items[i].replaces_below)
            return true;
    return false;
}

/* The head whose rows the closing has, if it is still there. */
static int find_head(struct windows_walk *walk, struct marker *marker, struct error *err)
{
    struct day *day = walk->day;

    for (size_t i = 0; i < day->heads.n; i++) {
        struct day_head *head = &day->heads.items[i];

        if (head->hour != marker->hour || head->is_covered)
            continue;
        walk->has_shared = false;
        if (dayload_each(day, head->family, SLICE(""), "head", find_shared_row, walk, err) < 0)
            return -1;
        if (walk->has_shared) {
            head->is_covered = true;
            marker->head = head->number;
        }
    }
    return 0;
}

/* Whether the closing has rows of one that came before, which it then took the place of. */
static int find_replaced(struct windows_walk *walk, struct marker *marker, struct error *err)
{
    struct day *day = walk->day;

    for (size_t i = 0; i < day->markers.n && !marker->replaces_below; i++) {
        const struct marker *other = &day->markers.items[i];

        if (other->hour != marker->hour || other->number >= marker->number ||
            is_replaced(day, other->hour, other->number))
            continue;
        walk->has_shared = false;
        walk->number = other->number;
        if (walk_windows(walk, marker->hour, find_shared, err) < 0)
            return -1;
        if (walk->has_shared)
            marker->replaces_below = marker->number;
    }
    return 0;
}

static int adopt(struct windows_walk *walk, uint8_t hour, uint32_t number, struct error *err)
{
    struct marker marker = { .hour = hour, .number = number, .head = MARKER_NO_HEAD }, *slot;

    walk->sequences.n = 0;
    walk->n_rows = 0;
    walk->number = number;
    if (walk_windows(walk, hour, note_sequences, err) < 0)
        return -1;
    marker.n_rows = walk->n_rows;
    sort_sequences(walk);
    if (find_head(walk, &marker, err) < 0 || find_replaced(walk, &marker, err) < 0)
        return -1;
    slot = VEC_PUSH(&walk->day->markers, DAYLOAD_MAX_MARKERS, err);
    if (!slot)
        return -1;
    *slot = marker;
    log_warn("store", "day %s, hour %02u: closing %u has lost its marker; its %llu rows count by a new one",
             walk->day->name, hour, number, (unsigned long long)walk->n_rows);
    return 0;
}

static int adopt_orphans(struct windows_walk *walk, uint8_t hour, struct error *err)
{
    walk->numbers.n = 0;
    if (walk_windows(walk, hour, note_number, err) < 0)
        return -1;
    if (walk->numbers.n)
        qsort(walk->numbers.items, walk->numbers.n, sizeof(*walk->numbers.items), compare_sequences);
    for (size_t i = 0; i < walk->numbers.n; i++) {
        uint32_t number = walk->numbers.items[i];

        if (!has_marker(walk->day, hour, number) && !is_replaced(walk->day, hour, number) &&
            adopt(walk, hour, number, err) < 0)
            return -1;
    }
    return 0;
}

static int note_row(void *context, struct slice key, struct slice value, struct error *err)
{
    struct windows_walk *walk = context;
    uint32_t tenant, group, series, sequence, *slot;
    int64_t start_ns;

    if (walk->sequences.n == MAX_SHARED || !storekey_parse_row(key, &tenant, &group, &series, &start_ns, &sequence))
        return 0;
    slot = VEC_PUSH(&walk->sequences, MAX_SHARED, err);
    if (!slot)
        return -1;
    *slot = sequence;
    return 0;
}

/* Covers heads of an hour whose rows are in its closings. */
static int cover_heads(struct windows_walk *walk, uint8_t hour, struct error *err)
{
    struct day *day = walk->day;

    for (size_t i = 0; i < day->heads.n; i++) {
        struct day_head *head = &day->heads.items[i];

        if (head->hour != hour || head->is_covered)
            continue;
        walk->sequences.n = 0;
        if (dayload_each(day, head->family, SLICE(""), "head", note_row, walk, err) < 0)
            return -1;
        if (!walk->sequences.n)
            continue;
        sort_sequences(walk);
        walk->has_shared = false;
        walk->number = ANY_CLOSING;
        if (walk_windows(walk, hour, find_shared, err) < 0)
            return -1;
        head->is_covered = walk->has_shared;
        if (head->is_covered)
            log_warn("store", "day %s, hour %02u: head %u is left out, its rows are in a closing", day->name, hour,
                     head->number);
    }
    return 0;
}

static int recover_hour(struct windows_walk *walk, uint8_t hour, struct error *err)
{
    if (adopt_orphans(walk, hour, err) < 0)
        return -1;
    return walk->numbers.n ? cover_heads(walk, hour, err) : 0;
}

/* --- tenants (R2) --- */

static int name_tenant(struct day *day, uint32_t id, struct error *err)
{
    char name[STORE_TENANT_MAX_BYTES + 1];
    bool has;

    if (tenants_has_id(&day->tenants, id, &has, err) < 0)
        return -1;
    if (id == 0 || has)
        return 0;
    snprintf(name, sizeof(name), "lost-%u", id);
    while (tenants_find(&day->tenants, slice_from(name)) && strlen(name) < STORE_TENANT_MAX_BYTES)
        strcat(name, "-");
    log_warn("store", "day %s: the name of tenant %u is lost; it is called '%s' now", day->name, id, name);
    return tenants_add(&day->tenants, id, slice_from(name), err);
}

/* Names the tenants whose ids are in keys that begin with `prefix`, behind it: the first key of each is looked at. */
static int name_tenants(struct day *day, uint32_t family, struct slice prefix, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    char place[8];
    bool has;

    ASSERT(prefix.len + 4 <= sizeof(place));
    memcpy(place, prefix.ptr, prefix.len);
    if (kv_iterator_new(day->kv, family, NULL, prefix, false, &iterator, err) < 0)
        return -1;
    for (uint32_t next = 1;; next++) {
        uint32_t id;

        bytes_put_be32(place + prefix.len, next);
        kv_iterator_seek(iterator, slice_of(place, prefix.len + 4));
        has = kv_iterator_is_valid(iterator);
        if (!has && kv_iterator_check(iterator, err) < 0 &&
            (err->code != ERR_CORRUPT ||
             kv_iterator_pass_damage(iterator, slice_of(place, prefix.len + 4), &has, err) < 0))
            return -1;
        if (!has || kv_iterator_key(iterator).len < prefix.len + 4)
            return 0;
        id = bytes_get_be32(kv_iterator_key(iterator).ptr + prefix.len);
        if (name_tenant(day, id, err) < 0)
            return -1;
        if (id == UINT32_MAX)
            return 0;
        next = MAX(next, id);
    }
}

static int name_all_tenants(struct day *day, struct error *err)
{
    if (name_tenants(day, KV_DEFAULT, SLICE("d"), err) < 0 || name_tenants(day, KV_DEFAULT, SLICE("s"), err) < 0)
        return -1;
    for (size_t i = 0; i < day->heads.n; i++)
        if (name_tenants(day, day->heads.items[i].family, SLICE(""), err) < 0)
            return -1;
    for (uint8_t hour = 0; hour < 24; hour++) {
        struct storekey prefix = storekey_block((struct storekey_block){ .hour = hour, .kind = STOREKEY_WINDOWS });

        if (name_tenants(day, day->block_family, slice_of(prefix.bytes, 2), err) < 0)
            return -1;
    }
    return 0;
}

int recover_day(struct day *day, struct error *err)
{
    struct windows_walk walk;
    int result = walk_init(&walk, day, err);

    for (uint8_t hour = 0; hour < 24 && !result; hour++)
        result = recover_hour(&walk, hour, err);
    walk_done(&walk);
    return result < 0 ? -1 : name_all_tenants(day, err);
}

/* --- writing it down --- */

struct settling {
    struct day *day;
    struct kv_batch *batch;
    struct buffer value;
    struct arena arena; /* of one series */
    uint32_t max_id;
};

static void put_twice(struct settling *settling, const struct storekey *key, struct slice value)
{
    day_put_twice(settling->day, settling->batch, key, value);
}

static int settle_markers(struct settling *settling, struct error *err)
{
    struct day *day = settling->day;

    for (size_t i = 0; i < day->markers.n; i++) {
        struct storekey key = storekey_marker(day->markers.items[i].hour, day->markers.items[i].number);

        buffer_clear(&settling->value);
        marker_encode(&day->markers.items[i], &settling->value);
        if (buffer_check(&settling->value, err) < 0)
            return -1;
        kv_batch_put(settling->batch, day->kv, day->block_family, storekey_slice(&key), buffer_slice(&settling->value));
    }
    return 0;
}

static int settle_tombstones(struct settling *settling, struct error *err)
{
    struct day *day = settling->day;

    for (size_t i = 0; i < day->tombstones.n; i++) {
        const struct tombstone *tombstone = &day->tombstones.items[i];
        struct storekey key = storekey_tombstone(tombstone->tenant, tombstone->number);

        day->next_sequence = MAX(day->next_sequence, tombstone->sequence);
        buffer_clear(&settling->value);
        tombstone_encode(tombstone, &settling->value);
        if (buffer_check(&settling->value, err) < 0)
            return -1;
        put_twice(settling, &key, buffer_slice(&settling->value));
    }
    return 0;
}

static int flush_batch(struct settling *settling, struct error *err)
{
    if (kv_batch_bytes(settling->batch) < BATCH_BYTES)
        return 0;
    if (kv_write(settling->day->kv, settling->batch, false, err) < 0)
        return -1;
    kv_batch_clear(settling->batch);
    return 0;
}

static bool is_sound(struct settling *settling, struct slice series)
{
    struct seriesinfo info;
    struct error err;

    arena_reset(&settling->arena);
    return seriesinfo_decode(series, &settling->arena, &info, &err) == 0;
}

/* A series that the index has: its copy may be missing. */
static int settle_series(void *context, struct slice key, struct slice value, struct error *err)
{
    struct settling *settling = context;
    uint32_t tenant, series;
    struct storekey whole;

    if (!storekey_parse_series(key, &tenant, &series))
        return 0;
    settling->max_id = MAX(settling->max_id, series);
    if (!is_sound(settling, value))
        return 0;
    whole = storekey_series(tenant, series);
    put_twice(settling, &whole, value);
    return flush_batch(settling, err);
}

/* A copy of a series: the index may have lost it. */
static int restore_series(void *context, struct slice key, struct slice value, struct error *err)
{
    struct settling *settling = context;
    bool is_found;

    key = slice_sub(key, 1, SIZE_MAX);
    buffer_clear(&settling->value);
    if (kv_get(settling->day->kv, KV_DEFAULT, key, &settling->value, &is_found, err) < 0)
        return -1;
    return is_found && is_sound(settling, buffer_slice(&settling->value)) ? 0 : settle_series(context, key, value, err);
}

static int note_chunk(void *context, struct slice key, struct slice value, struct error *err)
{
    struct settling *settling = context;
    struct chunk_reader reader;
    uint32_t tenant, first, n = 0;
    uint8_t kind;

    if (!storekey_parse_chunk(key, &tenant, &kind, &first) || kind < CHUNK_STRING || kind >= CHUNK_KINDS)
        return 0;
    if (chunk_reader_init(&reader, (enum chunk_kind)kind, value, err) == 0)
        n = reader.n;
    settling->max_id = MAX(settling->max_id, first + MIN(n, UINT32_MAX - first));
    return 0;
}

static int note_max_sequence(struct windows_walk *walk, uint32_t number, struct slice value, struct error *err)
{
    struct windows windows;

    if (decode(walk, value, &windows, err) < 0)
        return -1;
    for (uint32_t i = 0; i < windows.n_rows; i++)
        walk->max_sequence = MAX(walk->max_sequence, windows.sequences[i]);
    return 0;
}

static int note_row_sequence(void *context, struct slice key, struct slice value, struct error *err)
{
    struct windows_walk *walk = context;
    uint32_t tenant, group, series, sequence;
    int64_t start_ns;

    if (storekey_parse_row(key, &tenant, &group, &series, &start_ns, &sequence))
        walk->max_sequence = MAX(walk->max_sequence, sequence);
    return 0;
}

static int find_max_sequence(struct day *day, struct error *err)
{
    struct windows_walk walk;
    int result = walk_init(&walk, day, err);

    for (uint8_t hour = 0; hour < 24 && !result; hour++)
        result = walk_windows(&walk, hour, note_max_sequence, err);
    for (size_t i = 0; i < day->heads.n && !result; i++)
        result = dayload_each(day, day->heads.items[i].family, SLICE(""), "head", note_row_sequence, &walk, err);
    day->next_sequence = MAX(day->next_sequence, walk.max_sequence);
    walk_done(&walk);
    return result;
}

static void put_counter(struct settling *settling, const char *name, uint32_t number)
{
    struct storekey key = storekey_counter(name);
    char value[4];

    bytes_put_le32(value, number);
    kv_batch_put(settling->batch, settling->day->kv, KV_DEFAULT, storekey_slice(&key), slice_of(value, sizeof(value)));
}

/* Behind `number` as far as there is room. */
static uint32_t skip(uint32_t number)
{
    return number < UINT32_MAX - SKIP ? number + SKIP : number;
}

static int settle(struct settling *settling, struct error *err)
{
    struct day *day = settling->day;
    struct storekey deleted = storekey_counter("deleted");

    for (size_t i = 0; i < day->tenants.n; i++) {
        struct storekey key = storekey_tenant(day->tenants.items[i].id);

        settling->max_id = MAX(settling->max_id, day->tenants.items[i].id);
        put_twice(settling, &key, slice_from(day->tenants.items[i].name));
    }
    if (settle_markers(settling, err) < 0 || settle_tombstones(settling, err) < 0 ||
        dayload_each(day, KV_DEFAULT, SLICE("s"), "series", settle_series, settling, err) < 0 ||
        dayload_each(day, day->block_family, SLICE(STOREKEY_COPY "s"), "series", restore_series, settling, err) < 0 ||
        dayload_each(day, KV_DEFAULT, SLICE("d"), "dictionary", note_chunk, settling, err) < 0 ||
        find_max_sequence(day, err) < 0)
        return -1;
    day->next_sequence = skip(day->next_sequence);
    day->ids_from = skip(MAX(settling->max_id, day->ids_from));
    day->tenants.next_id = MAX(day->tenants.next_id, day->ids_from);
    put_counter(settling, "sequence", day->next_sequence);
    put_counter(settling, "ids_from", day->ids_from);
    if (day->has_deletions)
        kv_batch_put(settling->batch, day->kv, KV_DEFAULT, storekey_slice(&deleted), slice_of("", 0));
    return kv_write(day->kv, settling->batch, true, err);
}

int recover_settle(struct day *day, struct error *err)
{
    struct settling settling = { .day = day };
    int result;

    buffer_init(&settling.value, 0);
    arena_init(&settling.arena, day->context->read_bytes);
    result = kv_batch_new(&settling.batch, err);
    if (!result)
        result = settle(&settling, err);
    kv_batch_free(settling.batch);
    arena_done(&settling.arena);
    buffer_done(&settling.value);
    return result;
}
