// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"
#include "kv/kv_internal.h"

#define MIN_MEMTABLE_BYTES  ((uint64_t)1 << 20)
/* When writing failed for want of room, RocksDB looks whether there is as much as the largest memtable again, and then begins
 * to mend itself, which fails an assertion of its own where the error was in the manifest. A day with an error is closed and
 * opened again instead. So `block`, into which little is written and which db_write_buffer_size has flushed in time, has
 * the largest memtable that RocksDB allows. */
#define NEVER_FREE_BYTES    ((size_t)64 << 30)
#define OPEN_FILES          64
#define ROCKS_LOG_NOTHING   5 /* InfoLogLevel: higher than any line's */
#define ROCKS_TOLERATE_TAIL 0 /* WALRecoveryMode */
#define ROCKS_POINT_IN_TIME 2
#define ROCKS_SKIP_CORRUPT  3

/* --- settings --- */

static rocksdb_block_based_table_options_t *table_options(enum kv_use use, rocksdb_cache_t *cache)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();

    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    switch (use) {
    case KV_INDEX:
        rocksdb_block_based_options_set_block_size(table, 16 << 10);
        rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
        break;
    case KV_BLOCK: rocksdb_block_based_options_set_block_size(table, 16 << 10); break;
    /* Of an hour that goes on some rows of each series are wanted, those of the last minutes, and each file has others. */
    case KV_HEAD: rocksdb_block_based_options_set_block_size(table, 8 << 10); break;
    }
    return table;
}

/* Settings of a whole database. */
static void set_database_options(rocksdb_options_t *options)
{
    rocksdb_options_set_paranoid_checks(options, 1);
    rocksdb_options_set_is_fd_close_on_exec(options, 1);
    rocksdb_options_set_use_fsync(options, 0);
    rocksdb_options_set_recycle_log_file_num(options, 0);
    rocksdb_options_set_max_background_jobs(options, 2);
    rocksdb_options_set_max_open_files(options, OPEN_FILES);
    rocksdb_options_set_max_file_opening_threads(options, 1);
    rocksdb_options_set_table_cache_numshardbits(options, 2);
    rocksdb_options_set_writable_file_max_buffer_size(options, 256 << 10);
    rocksdb_options_set_arena_block_size(options, 128 << 10);
    rocksdb_options_set_skip_stats_update_on_db_open(options, 1);
    rocksdb_options_set_skip_checking_sst_file_sizes_on_db_open(options, 1);
    rocksdb_options_set_max_manifest_file_size(options, 4 << 20);
    rocksdb_options_set_manifest_preallocation_size(options, 64 << 10);
    /* Nothing is ever written to LOG: builds with assertions, such as Debian's, abort at the second line that does not
     * fit on a full disk. What goes wrong comes back as an error anyway. */
    rocksdb_options_set_info_log_level(options, ROCKS_LOG_NOTHING);
    rocksdb_options_set_keep_log_file_num(options, 1);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    rocksdb_options_set_stats_persist_period_sec(options, 0);
}

/* For what has no function of its own in the C API. */
static void set_options_by_text(rocksdb_options_t *options, const char *settings)
{
    rocksdb_options_t *base = rocksdb_options_create_copy(options);
    char *text = NULL;

    rocksdb_get_options_from_string(base, settings, options, &text);
    ASSERT(!text);
    rocksdb_options_destroy(base);
}

static void set_family_options(rocksdb_options_t *options, enum kv_use use)
{
    enum { NEVER = 1 << 30 };

    switch (use) {
    case KV_INDEX:
        rocksdb_options_set_compression(options, rocksdb_zstd_compression);
        rocksdb_options_set_compression_options(options, -14, 1, 0, 0);
        /* Nearly all of it is written once and in order: files may pile up before it pays to write them again. */
        rocksdb_options_set_level0_file_num_compaction_trigger(options, 20);
        rocksdb_options_set_level0_slowdown_writes_trigger(options, 60);
        rocksdb_options_set_level0_stop_writes_trigger(options, 120);
        break;
    case KV_BLOCK:
        rocksdb_options_set_compression(options, rocksdb_no_compression);
        rocksdb_options_set_level0_file_num_compaction_trigger(options, 32);
        rocksdb_options_set_level0_slowdown_writes_trigger(options, NEVER);
        rocksdb_options_set_level0_stop_writes_trigger(options, NEVER);
        break;
    case KV_HEAD:
        rocksdb_options_set_compression(options, rocksdb_no_compression);
        rocksdb_options_set_disable_auto_compactions(options, 1);
        rocksdb_options_set_level0_file_num_compaction_trigger(options, NEVER);
        rocksdb_options_set_level0_slowdown_writes_trigger(options, NEVER);
        rocksdb_options_set_level0_stop_writes_trigger(options, NEVER);
        break;
    }
}

enum kv_use kv_use_of(const char *name)
{
    if (strcmp(name, "block") == 0)
        return KV_BLOCK;
    return strncmp(name, "head-", 5) == 0 ? KV_HEAD : KV_INDEX;
}

void kv_make_options(struct kv *kv, const struct kv_shared *shared, const struct kv_options *options)
{
    uint64_t memtable_bytes = MAX(options->memtable_bytes, MIN_MEMTABLE_BYTES);

    for (enum kv_use use = 0; use < KV_USES; use++) {
        kv->options[use] = rocksdb_options_create_copy(shared->options[use]);
        rocksdb_options_set_write_buffer_size(kv->options[use],
                                              use == KV_BLOCK ? NEVER_FREE_BYTES : memtable_bytes / 2);
        rocksdb_options_set_max_write_buffer_number(kv->options[use], 2);
    }
    if (kv->mode == KV_WRITE)
        rocksdb_options_enable_statistics(kv->options[KV_INDEX]);
    rocksdb_options_set_db_write_buffer_size(kv->options[KV_INDEX], memtable_bytes);
    /* A family that nobody writes to keeps the log of its last writes; this has it flushed. */
    rocksdb_options_set_max_total_wal_size(kv->options[KV_INDEX], 4 * memtable_bytes);
    rocksdb_options_set_wal_recovery_mode(kv->options[KV_INDEX],
                                          options->recovery == KV_SALVAGE ? ROCKS_SKIP_CORRUPT : ROCKS_TOLERATE_TAIL);
    if (kv->ends_at_hole)
        rocksdb_options_set_wal_recovery_mode(kv->options[KV_INDEX], ROCKS_POINT_IN_TIME);
    if (options->recovery == KV_SALVAGE && kv->mode == KV_READ_ONLY)
        set_options_by_text(kv->options[KV_INDEX], "verify_sst_unique_id_in_manifest=false");
    rocksdb_options_set_create_if_missing(kv->options[KV_INDEX], kv->mode == KV_WRITE);
    rocksdb_options_set_create_missing_column_families(kv->options[KV_INDEX], kv->mode == KV_WRITE);
    /* Has files removed in the background. Those who only read remove none, and RocksDB asserts that they do
     * not ask. */
    rocksdb_options_set_avoid_unnecessary_blocking_io(kv->options[KV_INDEX], kv->mode == KV_WRITE);
    /* A secondary must hold all files open, or they are gone when the writer is done with them. */
    if (kv->mode == KV_SECONDARY)
        rocksdb_options_set_max_open_files(kv->options[KV_INDEX], -1);

    kv->read_options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_verify_checksums(kv->read_options, 1);
    kv->write_options = rocksdb_writeoptions_create();
    kv->synced_write_options = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(kv->synced_write_options, !kv->is_unsynced);
}

/* --- what all databases share --- */

int kv_shared_new(uint64_t cache_bytes, struct kv_shared **ret_shared, struct error *err)
{
    struct kv_shared *shared = MEMORY_NEW(struct kv_shared, err);
    rocksdb_lru_cache_options_t *cache_options;
    rocksdb_options_t *base;

    if (!shared)
        return -1;
    /* Few shards: a small cache cut into many pieces has none that holds a large block. */
    cache_options = rocksdb_lru_cache_options_create();
    rocksdb_lru_cache_options_set_capacity(cache_options, cache_bytes);
    rocksdb_lru_cache_options_set_num_shard_bits(cache_options, 2);
    shared->cache = rocksdb_cache_create_lru_opts(cache_options);
    rocksdb_lru_cache_options_destroy(cache_options);

    base = rocksdb_options_create();
    set_database_options(base);
    /* Files take only the room they fill, and a background error stays until the database is opened again. */
    set_options_by_text(base, "allow_fallocate=false;max_bgerror_resume_count=0");
    for (enum kv_use use = 0; use < KV_USES; use++) {
        rocksdb_block_based_table_options_t *table = table_options(use, shared->cache);

        shared->options[use] = rocksdb_options_create_copy(base);
        rocksdb_options_set_block_based_table_factory(shared->options[use], table);
        rocksdb_block_based_options_destroy(table);
        set_family_options(shared->options[use], use);
    }
    rocksdb_options_destroy(base);
    *ret_shared = shared;
    return 0;
}

void kv_shared_free(struct kv_shared *shared)
{
    if (!shared)
        return;
    for (size_t i = 0; i < KV_USES; i++)
        rocksdb_options_destroy(shared->options[i]);
    rocksdb_cache_destroy(shared->cache);
    memory_free(shared);
}

/* The number in the line "NAME COUNT : 123" of RocksDB's statistics. */
static uint64_t ticker(const char *statistics, const char *name)
{
    struct slice rest = slice_from(statistics), line;
    uint64_t value = 0;

    while (slice_next_line(&rest, &line)) {
        struct slice word;

        if (!slice_next_part(&line, ' ', &word) || !slice_is(word, name))
            continue;
        if (!slice_to_u64(slice_sub(line, strlen("COUNT : "), SIZE_MAX), &value))
            return 0;
        break;
    }
    return value;
}

struct kv_io kv_io(const struct kv *kv)
{
    char *statistics = rocksdb_options_statistics_get_string(kv->options[KV_INDEX]);
    struct kv_io io = {
        .wal_bytes = ticker(statistics, "rocksdb.wal.bytes"),
        .flush_bytes = ticker(statistics, "rocksdb.flush.write.bytes"),
        .compaction_bytes = ticker(statistics, "rocksdb.compact.write.bytes"),
    };

    rocksdb_free(statistics);
    return io;
}

uint64_t kv_shared_cache_used_bytes(const struct kv_shared *shared)
{
    return rocksdb_cache_get_usage(shared->cache);
}
