// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"
#include "kv/kv_internal.h"

/* A walk reads ahead in each file of the first level by itself: so much in all, and at least and at most so much in one. */
#define SCAN_READAHEAD_BYTES     ((size_t)1 << 20)
#define MIN_SCAN_READAHEAD_BYTES ((size_t)16 << 10)
#define MAX_SCAN_READAHEAD_BYTES ((size_t)128 << 10)

struct kv_batch {
    rocksdb_writebatch_t *rocks;
};

struct kv_snapshot {
    struct kv *kv;
    const rocksdb_snapshot_t *rocks; /* NULL for a secondary, which stands still by itself */
};

struct kv_iterator {
    const struct kv *kv;
    rocksdb_iterator_t *rocks;
    rocksdb_readoptions_t *options;
    bool is_over;                 /* a step led to the end */
    bool is_torn;                 /* which is none: keys are behind it that cannot be reached */
    char last[KV_PASS_KEY_BYTES]; /* the key before the last step */
    char bounds[];                /* the prefix and its end: RocksDB borrows both */
};

/* --- one key --- */

static int get(struct kv *kv, uint32_t family, rocksdb_readoptions_t *options, struct slice key, struct buffer *into,
               bool *ret_found, struct error *err)
{
    rocksdb_column_family_handle_t *handle = kv_find_handle(kv, family, err);
    rocksdb_pinnableslice_t *pinned;
    const char *value;
    char *text = NULL;
    size_t len;

    if (!handle)
        return -1;
    pinned = rocksdb_get_pinned_cf(kv->db, options, handle, key.ptr, key.len, &text);
    if (kv_finish(kv, text, "reading from", err) < 0)
        return -1;
    if (!pinned) {
        *ret_found = false;
        return 0;
    }
    value = rocksdb_pinnableslice_value(pinned, &len);
    buffer_append(into, value, len);
    rocksdb_pinnableslice_destroy(pinned);
    if (buffer_check(into, err) < 0)
        return error_wrap(err, "reading a value of %zu bytes from '%s'", len, kv->path);
    *ret_found = true;
    return 0;
}

int kv_get(struct kv *kv, uint32_t family, struct slice key, struct buffer *into, bool *ret_found, struct error *err)
{
    return get(kv, family, kv->read_options, key, into, ret_found, err);
}

int kv_get_at(struct kv *kv, uint32_t family, const struct kv_snapshot *snapshot, struct slice key, struct buffer *into,
              bool *ret_found, struct error *err)
{
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    int result;

    rocksdb_readoptions_set_verify_checksums(options, 1);
    rocksdb_readoptions_set_fill_cache(options, 0);
    if (snapshot->rocks)
        rocksdb_readoptions_set_snapshot(options, snapshot->rocks);
    result = get(kv, family, options, key, into, ret_found, err);
    rocksdb_readoptions_destroy(options);
    return result;
}

/* --- writing --- */

int kv_batch_new(struct kv_batch **ret_batch, struct error *err)
{
    struct kv_batch *batch = MEMORY_NEW(struct kv_batch, err);

    if (!batch)
        return -1;
    batch->rocks = rocksdb_writebatch_create();
    *ret_batch = batch;
    return 0;
}

void kv_batch_free(struct kv_batch *batch)
{
    if (!batch)
        return;
    rocksdb_writebatch_destroy(batch->rocks);
    memory_free(batch);
}

void kv_batch_clear(struct kv_batch *batch)
{
    rocksdb_writebatch_clear(batch->rocks);
}

uint32_t kv_batch_count(const struct kv_batch *batch)
{
    return (uint32_t)rocksdb_writebatch_count(batch->rocks);
}

size_t kv_batch_bytes(const struct kv_batch *batch)
{
    size_t len;

    rocksdb_writebatch_data(batch->rocks, &len);
    return len;
}

/* Writing to a family that is gone is a mistake of ours. */
static rocksdb_column_family_handle_t *batch_handle(struct kv *kv, uint32_t family)
{
    rocksdb_column_family_handle_t *handle = kv_handle(kv, family);

    ASSERT(handle);
    return handle;
}

void kv_batch_put(struct kv_batch *batch, struct kv *kv, uint32_t family, struct slice key, struct slice value)
{
    rocksdb_writebatch_put_cf(batch->rocks, batch_handle(kv, family), key.ptr, key.len, value.ptr, value.len);
}

void kv_batch_delete(struct kv_batch *batch, struct kv *kv, uint32_t family, struct slice key)
{
    rocksdb_writebatch_delete_cf(batch->rocks, batch_handle(kv, family), key.ptr, key.len);
}

void kv_batch_delete_range(struct kv_batch *batch, struct kv *kv, uint32_t family, struct slice from,
                           struct slice until)
{
    rocksdb_writebatch_delete_range_cf(batch->rocks, batch_handle(kv, family), from.ptr, from.len, until.ptr,
                                       until.len);
}

int kv_remember_failure(struct kv *kv, const struct error *err)
{
    if (err->code == ERR_IO || err->code == ERR_FULL || err->code == ERR_CORRUPT) {
        lock_rw_acquire_write(&kv->lock);
        if (kv->failed_write.code == ERR_OK)
            kv->failed_write = *err;
        lock_rw_release(&kv->lock);
    }
    return -1;
}

int kv_write(struct kv *kv, struct kv_batch *batch, bool is_synced, struct error *err)
{
    char *text = NULL;

    if (kv_check_is_writer(kv, err) < 0)
        return -1;
    rocksdb_write(kv->db, is_synced ? kv->synced_write_options : kv->write_options, batch->rocks, &text);
    if (kv_finish(kv, text, "writing to", err) < 0)
        return kv_remember_failure(kv, err);
    return 0;
}

/* What RocksDB says to a write once it has stopped writing. An empty batch changes nothing if it has not. */
static int try_writing(struct kv *kv, struct error *err)
{
    rocksdb_writebatch_t *nothing = rocksdb_writebatch_create();
    char *text = NULL;

    rocksdb_write(kv->db, kv->write_options, nothing, &text);
    rocksdb_writebatch_destroy(nothing);
    return kv_finish(kv, text, "writing to", err);
}

int kv_check_writable(struct kv *kv, struct error *err)
{
    uint64_t n_errors;

    if (kv_check_is_writer(kv, err) < 0)
        return -1;
    n_errors = kv_property(kv, KV_DEFAULT, "rocksdb.background-errors");
    if (n_errors == 0)
        return 0;
    if (try_writing(kv, err) < 0)
        return -1;
    return error_set(err, ERR_IO, "'%s': %llu flushes or compactions failed in the background", kv->path,
                     (unsigned long long)n_errors);
}

int kv_sync(struct kv *kv, struct error *err)
{
    char *text = NULL;

    /* A log that could not be synced before must not be synced again: RocksDB asserts that nobody tries. */
    if (kv_check_writable(kv, err) < 0)
        return -1;
    if (kv->is_unsynced)
        return 0;
    rocksdb_flush_wal(kv->db, 1, &text);
    if (kv_finish(kv, text, "syncing the log of", err) < 0)
        return kv_remember_failure(kv, err);
    return 0;
}

/* --- snapshots --- */

int kv_snapshot_new(struct kv *kv, struct kv_snapshot **ret_snapshot, struct error *err)
{
    struct kv_snapshot *snapshot = MEMORY_NEW(struct kv_snapshot, err);

    if (!snapshot)
        return -1;
    snapshot->kv = kv;
    if (kv->mode != KV_SECONDARY)
        snapshot->rocks = rocksdb_create_snapshot(kv->db);
    *ret_snapshot = snapshot;
    return 0;
}

void kv_snapshot_free(struct kv_snapshot *snapshot)
{
    if (!snapshot)
        return;
    if (snapshot->rocks)
        rocksdb_release_snapshot(snapshot->kv->db, snapshot->rocks);
    memory_free(snapshot);
}

/* --- iterators --- */

static size_t find_readahead(struct kv *kv, uint32_t family)
{
    rocksdb_column_family_handle_t *handle = kv_handle(kv, family);
    char *text = handle ? rocksdb_property_value_cf(kv->db, handle, "rocksdb.num-files-at-level0") : NULL;
    uint64_t n_files = 0;

    if (text && !slice_to_u64(slice_from(text), &n_files))
        n_files = 0;
    rocksdb_free(text);
    return MAX(MIN(SCAN_READAHEAD_BYTES / (n_files + 1), MAX_SCAN_READAHEAD_BYTES), MIN_SCAN_READAHEAD_BYTES);
}

/* Has the walk begin at the prefix and end at the first key behind all that begin with it. */
static void set_bounds(struct kv_iterator *iterator, struct slice prefix)
{
    char *start = iterator->bounds, *end = iterator->bounds + prefix.len;
    size_t end_len = prefix.len;

    if (prefix.len == 0)
        return;
    memcpy(start, prefix.ptr, prefix.len);
    memcpy(end, prefix.ptr, prefix.len);
    rocksdb_readoptions_set_iterate_lower_bound(iterator->options, start, prefix.len);
    while (end_len > 0 && (uint8_t)end[end_len - 1] == 0xff)
        end_len--;
    if (end_len == 0)
        return; /* nothing sorts behind them */
    end[end_len - 1]++;
    rocksdb_readoptions_set_iterate_upper_bound(iterator->options, end, end_len);
}

static int make_iterator(struct kv *kv, uint32_t family, const struct kv_snapshot *snapshot, struct slice prefix,
                         bool fills_cache, size_t readahead_bytes, struct kv_iterator **ret_iterator, struct error *err)
{
    rocksdb_column_family_handle_t *handle = kv_find_handle(kv, family, err);
    struct kv_iterator *iterator;

    if (!handle)
        return -1;
    iterator = memory_alloc_zero(sizeof(*iterator) + 2 * prefix.len, err);
    if (!iterator)
        return -1;
    iterator->kv = kv;
    iterator->options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_verify_checksums(iterator->options, 1);
    if (snapshot && snapshot->rocks)
        rocksdb_readoptions_set_snapshot(iterator->options, snapshot->rocks);
    rocksdb_readoptions_set_fill_cache(iterator->options, fills_cache);
    if (readahead_bytes)
        rocksdb_readoptions_set_readahead_size(iterator->options, readahead_bytes);
    set_bounds(iterator, prefix);
    iterator->rocks = rocksdb_create_iterator_cf(kv->db, iterator->options, handle);
    *ret_iterator = iterator;
    return 0;
}

int kv_iterator_new(struct kv *kv, uint32_t family, const struct kv_snapshot *snapshot, struct slice prefix,
                    bool is_scan, struct kv_iterator **ret_iterator, struct error *err)
{
    if (make_iterator(kv, family, snapshot, prefix, !is_scan, is_scan ? find_readahead(kv, family) : 0, ret_iterator,
                      err) < 0)
        return -1;
    rocksdb_iter_seek_to_first((*ret_iterator)->rocks);
    return 0;
}

int kv_iterator_new_sparse(struct kv *kv, uint32_t family, const struct kv_snapshot *snapshot, struct slice prefix,
                           struct kv_iterator **ret_iterator, struct error *err)
{
    return make_iterator(kv, family, snapshot, prefix, false, 0, ret_iterator, err);
}

void kv_iterator_free(struct kv_iterator *iterator)
{
    if (!iterator)
        return;
    rocksdb_iter_destroy(iterator->rocks);
    rocksdb_readoptions_destroy(iterator->options);
    memory_free(iterator);
}

void kv_iterator_freep(struct kv_iterator **iterator)
{
    kv_iterator_free(*iterator);
}

static bool has_failed(const struct kv_iterator *iterator)
{
    struct error err;

    return kv_iterator_check(iterator, &err) < 0;
}

void kv_iterator_seek(struct kv_iterator *iterator, struct slice key)
{
    iterator->is_over = iterator->is_torn = false;
    rocksdb_iter_seek(iterator->rocks, key.ptr, key.len);
}

void kv_iterator_seek_back(struct kv_iterator *iterator, struct slice key)
{
    iterator->is_over = iterator->is_torn = false;
    rocksdb_iter_seek_for_prev(iterator->rocks, key.ptr, key.len);
}

/* RocksDB 7.8 takes a damaged block inside of a level for the end of the walk when it steps into it. So whether an end is
 * one is looked up: nothing may be behind the last key. */
void kv_iterator_next(struct kv_iterator *iterator)
{
    struct slice key = kv_iterator_key(iterator), last;
    size_t len = key.len;

    if (len <= sizeof(iterator->last))
        memcpy(iterator->last, key.ptr, len);
    rocksdb_iter_next(iterator->rocks);
    if (len > sizeof(iterator->last) || rocksdb_iter_valid(iterator->rocks) || has_failed(iterator))
        return;
    iterator->is_over = true;
    rocksdb_iter_seek_to_last(iterator->rocks);
    if (!rocksdb_iter_valid(iterator->rocks))
        return;
    last.ptr = rocksdb_iter_key(iterator->rocks, &last.len);
    iterator->is_torn = slice_compare(slice_of(iterator->last, len), last) < 0;
}

bool kv_iterator_is_valid(const struct kv_iterator *iterator)
{
    return !iterator->is_over && rocksdb_iter_valid(iterator->rocks);
}

struct slice kv_iterator_key(const struct kv_iterator *iterator)
{
    struct slice key;

    key.ptr = rocksdb_iter_key(iterator->rocks, &key.len);
    return key;
}

struct slice kv_iterator_value(const struct kv_iterator *iterator)
{
    struct slice value;

    value.ptr = rocksdb_iter_value(iterator->rocks, &value.len);
    return value;
}

int kv_iterator_check(const struct kv_iterator *iterator, struct error *err)
{
    char *text = NULL;

    if (iterator->is_torn)
        return error_set(err, ERR_CORRUPT, "walking the keys of '%s': a block of a table is damaged",
                         iterator->kv->path);
    rocksdb_iter_get_error(iterator->rocks, &text);
    return kv_finish(iterator->kv, text, "walking the keys of", err);
}

/* --- past damage --- */

/* A key as one large number, so that a walk can go a certain way ahead. */
struct place {
    char bytes[KV_PASS_KEY_BYTES];
};

/* Adds 2^power; false if that is too much. */
static bool add_power(struct place *place, unsigned power)
{
    size_t at = KV_PASS_KEY_BYTES - 1 - power / 8;
    unsigned carry = 1u << power % 8;

    for (; carry; at--) {
        unsigned sum;

        if (at >= KV_PASS_KEY_BYTES)
            return false;
        sum = (uint8_t)place->bytes[at] + carry;
        place->bytes[at] = (char)sum;
        carry = sum >> 8;
    }
    return true;
}

enum reach { REACH_DAMAGE, REACH_KEY, REACH_END };

/* `last` is the last key of the walk: an end before it is none, see kv_iterator_next. */
static int try_place(struct kv_iterator *iterator, const struct place *place, const struct place *last,
                     enum reach *ret_reach, struct error *err)
{
    kv_iterator_seek(iterator, slice_of(place->bytes, sizeof(place->bytes)));
    if (kv_iterator_is_valid(iterator))
        *ret_reach = REACH_KEY;
    else if (kv_iterator_check(iterator, err) == 0)
        *ret_reach = memcmp(place->bytes, last->bytes, sizeof(place->bytes)) <= 0 ? REACH_DAMAGE : REACH_END;
    else if (err->code == ERR_CORRUPT)
        *ret_reach = REACH_DAMAGE;
    else
        return -1;
    return 0;
}

/* Ways ahead are tried, each twice as long as the one before, until one leads past the damage; then the way back from
 * there is halved until the first key behind it is found. */
int kv_iterator_pass_damage(struct kv_iterator *iterator, struct slice before, bool *ret_has, struct error *err)
{
    struct place damaged = { { 0 } }, behind, last = { { 0 } };
    enum reach reach = REACH_DAMAGE;
    unsigned power;

    *ret_has = false;
    memcpy(damaged.bytes, before.ptr, MIN(before.len, sizeof(damaged.bytes)));
    rocksdb_iter_seek_to_last(iterator->rocks);
    if (rocksdb_iter_valid(iterator->rocks)) {
        size_t len;
        const char *key = rocksdb_iter_key(iterator->rocks, &len);

        memcpy(last.bytes, key, MIN(len, sizeof(last.bytes)));
    }
    for (power = 0; reach == REACH_DAMAGE; power++) {
        behind = damaged;
        if (power == 8 * KV_PASS_KEY_BYTES || !add_power(&behind, power))
            return 0;
        if (try_place(iterator, &behind, &last, &reach, err) < 0)
            return -1;
    }
    /* 2^(power - 1) is enough and 2^(power - 2) is not. */
    if (power >= 2)
        add_power(&damaged, power - 2);
    for (; power >= 3; power--) {
        struct place middle = damaged;

        add_power(&middle, power - 3);
        if (try_place(iterator, &middle, &last, &reach, err) < 0)
            return -1;
        if (reach == REACH_DAMAGE)
            damaged = middle;
        else
            behind = middle;
    }
    /* From elsewhere: RocksDB 7.8 does not leave a damaged block it stands at for a key close behind it. */
    rocksdb_iter_seek_to_last(iterator->rocks);
    if (try_place(iterator, &behind, &last, &reach, err) < 0)
        return -1;
    *ret_has = reach == REACH_KEY;
    return 0;
}
