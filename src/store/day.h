// SPDX-License-Identifier: Apache-2.0
/* One UTC day: a RocksDB with its index, the heads of its open hours and the blocks of its closed ones.
 *
 * Y1  What `lock` guards is said beside each field. Nothing waits for the disk under it, but for making a family,
 *     looking up profile ids, and loading series and stack hashes of a tenant that was not written to lately.
 * Y2  After a failed write the memory of a day is ahead of its disk: `failure` is set, every writer gets it, and the
 *     day must be closed and opened again.
 * Y3  A head is readable until a marker covers it. A covered head is dropped once nobody looks at it.
 * Y4  Views hold the day: it is closed only without views. Hours of one day are closed and written anew by one thread
 *     at a time (`work`). */
#pragma once

#include "base/lock.h"
#include "base/vec.h"
#include "block/storekey.h"
#include "kv/kv.h"
#include "store/marker.h"
#include "store/recents.h"
#include "store/store.h"
#include "store/storemetrics.h"
#include "store/tenants.h"
#include "store/tombstone.h"

#include <stdatomic.h>

#define DAY_NS           ((int64_t)86400 * 1000000000)
#define DAY_HOUR_NS      ((int64_t)3600 * 1000000000)
#define DAY_SLOT_NS      ((int64_t)300 * 1000000000) /* of the five-minute roll-ups */
#define DAY_SLOTS        12
#define DAY_MAX_READERS  2  /* at a time: each may take its share of memory; others wait */
#define DAY_NAME_BYTES   11 /* "2026-11-15" and a NUL */
#define DAY_BLOCK_FAMILY "block"

/* What all days of a store share. */
struct day_context {
    struct kv_shared *kv;
    uint64_t seed;
    struct dictionary_share hashes;
    size_t idcache_bytes;    /* of a day open for writing */
    uint64_t memtable_bytes; /* likewise */
    size_t close_bytes;      /* memory of closing an hour */
    size_t read_bytes;       /* memory of one reader */
    size_t recent_bytes;     /* memory of recents.h, of a day open for writing */
    enum store_wal_sync wal_sync;
    double close_cpu_share;  /* 0 = all of it */
    struct slotcache *slots; /* roll-ups and windows of open hours; NULL = none (slotcache.h) */
    struct sumcache *sums;   /* of closed hours; NULL = none (sumcache.h) */
    struct label_limits labels;
    const char *scratch_dir; /* on the same file system as the days */
    uint32_t (*max_series)(void *store, struct slice tenant);
    void *store;
    struct storemetrics metrics;
    struct lock_mutex readers_lock;
    struct lock_condition readers_left;
    /* guarded by readers_lock */
    uint32_t n_readers;                     /* scans that go on now: at most DAY_MAX_READERS */
    uint64_t readers_came, readers_went_in; /* who comes first reads first */
    _Atomic uint64_t n_damaged;             /* values skipped while reading */
    _Atomic uint64_t sst_bytes;             /* written by closing hours */
    _Atomic uint32_t scratch_number;
    atomic_bool is_stopping; /* long work gives up */
};

struct day_head {
    uint8_t hour;
    uint32_t number;
    uint32_t family;
    uint32_t n_readers;
    bool is_frozen;      /* no new rows: being closed */
    bool is_covered;     /* a marker has it: hidden, to be dropped */
    bool is_damaged;     /* part of it cannot be read: it stays open */
    bool has_recents;    /* recents.h, N1 */
    bool is_left_out;    /* damage was met when its rows were added up: nobody tries again (slotfill.c) */
    uint64_t last_group; /* the last group commit that put rows in */
    int64_t made_ns;     /* 0 = before the day was opened */
};

struct day {
    struct day_context *context;
    char *path;
    char name[DAY_NAME_BYTES];
    int64_t start_ns;
    enum kv_mode mode;
    struct kv *kv;
    uint32_t block_family;
    struct idcache idcache;
    bool is_recovering; /* damage is passed by, see dayload.h: while it is loaded, or until readers of it are done */
    uint32_t n_lost;    /* how much could not be read of what is loaded */
    uint32_t ids_from;  /* ids of all kinds are not given below it: a salvage may have lost whose they were */

    struct lock_mutex work; /* Y4; taken before `lock` */
    uint32_t bad_hours;     /* bit per hour that could not be written anew; guarded by work */
    uint32_t cleared[24];   /* of each hour: closings with lower numbers have no values left; guarded by work */
    struct lock_mutex lock;
    struct lock_condition committed;

    /* guarded by lock */
    struct error failure; /* Y2 */
    struct tenants tenants;
    VEC(struct day_head) heads;
    VEC(struct marker) markers;
    VEC(struct tombstone) tombstones;
    uint32_t next_sequence;
    bool has_deletions; /* rows were deleted at some time: series may be empty */
    uint32_t n_views;
    int64_t slots_until_ns; /* what starts before it may be in a roll-up of an open hour: whoever adds a row drops it */
    uint64_t late_group;    /* the last group that rows joined which start before it */
    struct recents recents;
    uint64_t written_bytes; /* to disk before it was opened, and by closing hours since */
    int64_t write_mono_ns;  /* of the newest write */
    struct {
        struct kv_batch *batch; /* rows and ids that wait */
        struct hash_set ids;    /* profile ids among them */
        struct kv_batch *spare; /* the batch being written by the leader */
        struct hash_set spare_ids;
        struct buffer scratch;
        uint64_t open;   /* number of the group that rows join */
        uint64_t done;   /* all groups up to this one are in the WAL */
        uint64_t unsure; /* the group whose write failed: it may be in the WAL or not; 0 = none */
        bool has_leader;
    } group;

    /* guarded by the lock of the store's list of days (dayset.c) */
    uint32_t n_users;
    int64_t used_mono_ns;
    bool is_used; /* by somebody else than the upkeep */
};

/* Opens the day at `path`; `name` is its date. In KV_WRITE it is made if missing, and a damaged WAL is salvaged, after
 * a copy was set aside under `quarantine_dir` (NULL = fail). Errors: those of kv.h. */
MUST_CHECK int day_open(struct day_context *context, const char *path, const char *name, enum kv_mode mode,
                        const char *quarantine_dir, struct day **ret_day, struct error *err);
/* Opens a day of which not everything can be read (dayload.h, L2), as it is. In KV_WRITE what was worked out is written
 * down. Errors: those of kv.h, when too little can be read for even that. */
MUST_CHECK int day_open_recovering(struct day_context *context, const char *path, const char *name, enum kv_mode mode,
                                   struct day **ret_day, struct error *err);
/* Nobody may use it any more. Accepts NULL. */
void day_close(struct day *day);

/* "2026-11-15" of the day that holds `time_ns`; and back: false if it is no date. */
const char *day_name(int64_t time_ns, char ret_name[static DAY_NAME_BYTES]);
bool day_parse_name(const char *name, int64_t *ret_start_ns);
static inline int64_t day_start(int64_t time_ns)
{
    return time_ns - ((time_ns % DAY_NS) + DAY_NS) % DAY_NS;
}
static inline uint8_t day_hour(const struct day *day, int64_t time_ns)
{
    return (uint8_t)((time_ns - day->start_ns) / DAY_HOUR_NS);
}

/* The id of a tenant, or 0. Thread: any. */
uint32_t day_find_tenant(struct day *day, struct slice name);
/* Under lock: the tenant, ready for writing, made if it is new; NULL on failure. Adds its record to the open group. */
struct tenant *day_tenant_for_write(struct day *day, struct slice name, struct error *err);

/* Entries of the index without which nothing else can be read, names of tenants, series and tombstones, are written
 * twice: also into the family of blocks, so that no one damaged file takes them. */
void day_put_twice(struct day *day, struct kv_batch *batch, const struct storekey *key, struct slice value);
void day_delete_twice(struct day *day, struct kv_batch *batch, const struct storekey *key);

/* The WAL to the disk; for the sync mode "each second". Does nothing if nothing was written since. */
MUST_CHECK int day_sync(struct day *day, struct error *err);
/* Forgets what writers know of tenants nobody wrote for since `idle_since_mono_ns`. */
void day_unload_idle(struct day *day, int64_t idle_since_mono_ns);

/* What a reader looks at: heads and blocks of one moment. */
struct day_view {
    struct day *day;
    struct kv_snapshot *snapshot;
    bool has_deletions;
    uint64_t n_commits;               /* all group commits up to this one are in it, perhaps the next one, too */
    VEC(uint32_t) heads;              /* places in day->heads, whose n_readers we hold */
    VEC(struct day_head) head_copies; /* as they were */
    VEC(struct marker) markers;       /* those that count (M2) */
    VEC(struct tombstone) tombstones; /* of the tenant; selectors borrowed from the day */
};
/* `tenant` 0 = tombstones of all. Errors: ERR_MEMORY, those of kv.h. */
MUST_CHECK int day_view_open(struct day *day, uint32_t tenant, struct day_view *view, struct error *err);
/* The same under the day's lock. */
MUST_CHECK int day_view_open_locked(struct day *day, uint32_t tenant, struct day_view *view, struct error *err);
void day_view_close(struct day_view *view);
/* Whether blocks of `hour` with `number` count. */
bool day_view_has_block(const struct day_view *view, uint8_t hour, uint32_t number);
/* Whether every deletion of the view that could touch the hour is applied in the closing. */
bool day_view_is_clean(const struct day_view *view, const struct marker *marker);
/* Drops covered heads that nobody reads. Errors: those of kv.h. */
MUST_CHECK int day_drop_covered(struct day *day, struct error *err);

/* Adds a tombstone: rows written so far that match. */
MUST_CHECK int day_delete(struct day *day, struct slice tenant, const struct selector *selector, int64_t from_ns,
                          int64_t until_ns, struct error *err);

/* Adds files written outside RocksDB to the count of bytes written to disk, and writes it down. */
MUST_CHECK int day_count_written(struct day *day, uint64_t bytes, struct error *err);
/* All bytes written to disk for this day, ever (but what a crash made us forget). */
uint64_t day_written_bytes(struct day *day);

/* Under the lock: nobody may write to the day any more (Y2). */
void day_stop(struct day *day, const struct error *err);
/* Under the lock: 0, or -1 with ERR_CLOSED (ERR_FULL on a full disk) when the day must be opened again (Y2). */
MUST_CHECK int day_check(const struct day *day, struct error *err);

/* Damage that wants a salvage (ERR_CORRUPT; other errors do nothing): nobody writes any more, and whoever may opens the
 * day again. */
void day_note_unreadable(struct day *day, const struct error *err);
/* Damage met while reading: counted and logged. */
void day_damage(struct day *day, const char *what, const struct error *err);
