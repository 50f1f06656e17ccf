// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/log.h"
#include "store/backup.h"
#include "store/daystats.h"
#include "store/hour.h"
#include "store/retention.h"
#include "store/rocks_internal.h"
#include "store/verify.h"

#include <errno.h>
#include <stdio.h>

/* --- deleting, keeping --- */

struct deleting {
    const struct store_query *query;
    uint32_t n_days;
};

static int delete_from(void *context, struct day *day, struct error *err)
{
    struct deleting *deleting = context;
    const struct store_query *query = deleting->query;

    if (!day_find_tenant(day, query->tenant))
        return 0;
    deleting->n_days++;
    return day_delete(day, query->tenant, query->selector, query->from_ns, query->until_ns, err);
}

int rocks_delete(struct store *store, const struct store_query *query, uint32_t *ret_n_days, struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    struct deleting deleting = { .query = query };

    if (rocks_check_writable(rocks, err) < 0 ||
        dayset_each(&rocks->days, query->from_ns, query->until_ns, DAYSET_WRITE, delete_from, &deleting, err) < 0)
        return -1;
    *ret_n_days = deleting.n_days;
    return 0;
}

int rocks_keep(struct store *store, const struct store_keep *keep, struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    struct store_keep stored = *keep;

    if (rocks_check_writable(rocks, err) < 0 || rocks_check_tenant(stored.tenant, err) < 0)
        return -1;
    if (!stored.made_ns)
        stored.made_ns = clock_now_ns();
    /* Not while retention decides by the list as it was. */
    LOCK_SCOPE(&rocks->keeping);
    return rocks_use_meta(rocks, err) < 0 ? -1 : keeps_put(rocks->meta, &stored, err);
}

int rocks_unkeep(struct store *store, struct slice tenant, struct slice name, struct error *err)
{
    struct rocks *rocks = rocks_of(store);

    if (rocks_check_writable(rocks, err) < 0)
        return -1;
    LOCK_SCOPE(&rocks->keeping);
    return rocks_use_meta(rocks, err) < 0 ? -1 : keeps_remove(rocks->meta, tenant, name, err);
}

int rocks_each_keep(struct store *store, int (*visit)(void *context, const struct store_keep *keep, struct error *err),
                    void *context, struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    struct keeps keeps;
    int result;

    lock_mutex_acquire(&rocks->keeping);
    result = rocks_load_keeps(rocks, &keeps, err);
    lock_mutex_release(&rocks->keeping);
    if (result < 0)
        return -1;
    for (size_t i = 0; i < keeps.items.n && !result; i++) {
        const struct keep *keep = &keeps.items.items[i];
        struct store_keep shown = { .name = slice_from(keep->name),
                                    .selector = slice_from(keep->text),
                                    .tenant = slice_from(keep->tenant),
                                    .from_ns = keep->from_ns,
                                    .until_ns = keep->until_ns,
                                    .made_ns = keep->made_ns };

        result = visit(context, &shown, err);
    }
    keeps_done(&keeps);
    return result;
}

/* --- care --- */

struct compacting {
    struct rocks *rocks;
    int result;
    struct error failure; /* the first */
};

/* A day that fails does not keep the others from being compacted. */
static int compact_one(void *context, struct day *day, struct error *err)
{
    struct compacting *compacting = context;
    int64_t due_ns = clock_now_ns() - compacting->rocks->options.close_delay_ns;
    struct error failure;

    if (hour_close_due(day, due_ns, &failure) < 0 || hour_rewrite_all(day, &failure) < 0 ||
        kv_compact(day->kv, day->block_family, &failure) < 0 || kv_compact(day->kv, KV_DEFAULT, &failure) < 0) {
        error_wrap(&failure, "compacting day %s", day->name);
        rocks_note_failure(&compacting->result, &failure, &compacting->failure);
    }
    return 0;
}

int rocks_compact(struct store *store, struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    struct compacting compacting = { .rocks = rocks };
    double share;
    int result;

    if (rocks_check_writable(rocks, err) < 0)
        return -1;
    LOCK_SCOPE(&rocks->maintaining);
    share = rocks->context.close_cpu_share;
    rocks->context.close_cpu_share = 0;
    result = dayset_each(&rocks->days, INT64_MIN, INT64_MAX, DAYSET_WRITE, compact_one, &compacting, err);
    rocks->context.close_cpu_share = share;
    if (!result && compacting.result < 0) {
        *err = compacting.failure;
        result = -1;
    }
    return result;
}

struct backing_up {
    struct rocks *rocks;
    const char *path;     /* of this backup */
    const char *previous; /* the one before, or NULL */
    struct backup_counts counts;
};

static int backup_one(struct backing_up *backing, struct kv *kv, const char *name, struct error *err)
{
    char scratch[ROCKS_PATH_BYTES], to[ROCKS_PATH_BYTES], previous[ROCKS_PATH_BYTES];
    uint32_t number = atomic_fetch_add_explicit(&backing->rocks->context.scratch_number, 1, memory_order_relaxed);

    snprintf(scratch, sizeof(scratch), "%s/backup-%u", backing->rocks->datadir.scratch, number);
    snprintf(to, sizeof(to), "%s/%s", backing->path, name);
    if (backing->previous)
        snprintf(previous, sizeof(previous), "%s/%s", backing->previous, name);
    return backup_database(kv, scratch, to, backing->previous ? previous : NULL, &backing->counts, err);
}

static int backup_day(void *context, struct day *day, struct error *err)
{
    char name[64];

    snprintf(name, sizeof(name), "profiles/%s", day->name);
    return backup_one(context, day->kv, name, err);
}

static int backup_all(struct backing_up *backing, struct error *err)
{
    struct rocks *rocks = backing->rocks;
    char from[ROCKS_PATH_BYTES], to[ROCKS_PATH_BYTES];
    uint64_t bytes;

    snprintf(to, sizeof(to), "%s/profiles", backing->path);
    if (fs_make_directories(to, 0700, err) < 0)
        return -1;
    snprintf(from, sizeof(from), "%s/FORMAT", rocks->datadir.path);
    snprintf(to, sizeof(to), "%s/FORMAT", backing->path);
    if (backup_copy_file(from, to, &bytes, err) < 0)
        return -1;
    backing->counts.copied_bytes += bytes;
    if (dayset_each(&rocks->days, INT64_MIN, INT64_MAX, DAYSET_WRITE, backup_day, backing, err) < 0)
        return -1;
    LOCK_SCOPE(&rocks->keeping);
    if (rocks_use_meta(rocks, err) < 0 || backup_one(backing, rocks->meta, "meta", err) < 0)
        return -1;
    snprintf(to, sizeof(to), "%s/BACKUP", backing->path);
    return fs_write_file(to, SLICE("complete\n"), err);
}

int rocks_backup(struct store *store, const char *path, uint64_t *ret_copied_bytes, uint64_t *ret_linked_bytes,
                 struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    struct backing_up backing = { .rocks = rocks, .path = path };
    const char *slash = strrchr(path, '/');
    const char *parent;
    struct stat info;
    struct arena arena;
    int result;

    if (rocks_check_writable(rocks, err) < 0)
        return -1;
    if (fs_stat(path, &info, err) == 0)
        return error_set(err, ERR_EXISTS, "'%s' is there already; a backup is a new directory", path);
    arena_init(&arena, 0);
    parent = slash ? arena_printf(&arena, err, "%.*s", (int)MAX(slash - path, 1), path) : ".";
    result = parent ? backup_find_newest(parent, &arena, &backing.previous, err) : -1;
    if (!result)
        result = backup_all(&backing, err);
    arena_done(&arena);
    if (result < 0)
        return error_wrap(err, "backing up to '%s'", path);
    *ret_copied_bytes = backing.counts.copied_bytes;
    *ret_linked_bytes = backing.counts.linked_bytes;
    return 0;
}

/* --- looking --- */

static void tell(const struct store_verify *verify, const char *line)
{
    if (verify->tell)
        verify->tell(verify->context, line);
}

#define SALVAGED ".salvaged"

/* What an interrupted salvage left: the copy takes the place of a day that was set aside already, else it goes. */
int rocks_finish_salvage(struct rocks *rocks, struct error *err)
{
    struct fs_listing listing;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = fs_list(rocks->datadir.profiles, &arena, &listing, err);
    for (size_t i = 0; i < listing.n && !result; i++) {
        struct slice name = slice_from(listing.names[i]);
        char from[ROCKS_PATH_BYTES], place[ROCKS_PATH_BYTES];
        struct stat info;
        struct error none;

        if (!slice_ends_with(name, SLICE(SALVAGED)))
            continue;
        snprintf(from, sizeof(from), "%s/%s", rocks->datadir.profiles, listing.names[i]);
        snprintf(place, sizeof(place), "%.*s", (int)(strlen(from) - strlen(SALVAGED)), from);
        if (fs_stat(place, &info, &none) == 0)
            result = fs_remove_tree(from, err);
        else if (rename(from, place) < 0)
            result = error_set_errno(err, errno, "putting the salvaged day '%s' in place", from);
        else
            result = fs_sync_parent(place, err);
    }
    arena_done(&arena);
    return result;
}

/* A day with files that RocksDB cannot read: what can be read goes to a new database in its place, the old one aside.
 * Takes the use of the day over. */
static int salvage(struct rocks *rocks, struct day *take_day, struct store_verify *verify, struct error *err)
{
    int64_t start_ns = take_day->start_ns;
    char path[ROCKS_PATH_BYTES], place[ROCKS_PATH_BYTES];
    uint64_t n_values;
    struct day *day;
    int result;

    /* Beside the day, not in the scratch directory: should we die before it is in place, the next start puts it there. */
    snprintf(path, sizeof(path), "%s/%s" SALVAGED, rocks->datadir.profiles, take_day->name);
    result = verify_salvage(take_day, path, &n_values, err);
    dayset_release(&rocks->days, take_day);
    if (result < 0 || dayset_set_aside(&rocks->days, start_ns, err) < 0)
        return -1;
    dayset_path(&rocks->days, start_ns, place, sizeof(place));
    if (rename(path, place) < 0)
        return error_set_errno(err, errno, "putting the salvaged day in place");
    if (fs_sync_parent(place, err) < 0 || dayset_acquire(&rocks->days, start_ns, DAYSET_WRITE, &day, err) < 0)
        return -1;
    result = verify_day(day, rocks->datadir.quarantine, verify, err);
    dayset_release(&rocks->days, day);
    return result;
}

static int verify_one(struct rocks *rocks, int64_t start_ns, struct store_verify *verify, struct error *err)
{
    char name[DAY_NAME_BYTES], line[512];
    struct error failure = { .text = "it was set aside" };
    struct day *day = NULL;
    uint64_t n_bad_days;
    int result;

    verify->n_days++;
    if (dayset_acquire(&rocks->days, start_ns, verify->is_repairing ? DAYSET_WRITE : DAYSET_READ, &day, &failure) < 0 ||
        !day) {
        verify->n_bad_days++;
        snprintf(line, sizeof(line), "day %s cannot be opened: %s", day_name(start_ns, name), failure.text);
        tell(verify, line);
        return 0;
    }
    n_bad_days = verify->n_bad_days;
    result = verify_day(day, rocks->datadir.quarantine, verify, err);
    if (!result && verify->is_repairing && verify->n_bad_days > n_bad_days)
        return salvage(rocks, day, verify, err);
    dayset_release(&rocks->days, day);
    return result;
}

int rocks_verify(struct store *store, struct store_verify *verify, struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    uint32_t before = atomic_load_explicit(&rocks->days.n_set_aside, memory_order_relaxed);
    struct dayset_list list;
    struct arena arena;
    int result;

    if (verify->is_repairing && rocks_check_writable(rocks, err) < 0)
        return -1;
    arena_init(&arena, 0);
    result = dayset_list(&rocks->days, &arena, &list, err);
    for (size_t i = 0; i < list.n && !result; i++)
        result = verify_one(rocks, list.starts_ns[i], verify, err);
    arena_done(&arena);
    verify->n_repaired += atomic_load_explicit(&rocks->days.n_set_aside, memory_order_relaxed) - before;
    return result;
}

static int stats_of_one(void *context, struct day *day, struct error *err)
{
    return daystats_add(day, context, err);
}

int rocks_stats(struct store *store, struct store_stats *ret_stats, struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    struct store_stats *stats = ret_stats;
    struct fs_listing listing;
    struct dayset_list list;
    struct arena arena;
    struct error none;
    int result;

    memset(stats, 0, sizeof(*stats));
    arena_init(&arena, 0);
    result = dayset_list(&rocks->days, &arena, &list, err);
    if (!result) {
        stats->n_days = (uint32_t)list.n;
        if (fs_list(rocks->datadir.quarantine, &arena, &listing, &none) == 0)
            stats->n_quarantined = (uint32_t)listing.n;
        result = dayset_each(&rocks->days, INT64_MIN, INT64_MAX, DAYSET_READ, stats_of_one, stats, err);
    }
    arena_done(&arena);
    stats->n_open_days = dayset_n_open(&rocks->days);
    stats->disk_bytes = retention_disk_bytes(rocks->datadir.path);
    stats->n_damaged += atomic_load_explicit(&rocks->context.n_damaged, memory_order_relaxed);
    return result;
}
