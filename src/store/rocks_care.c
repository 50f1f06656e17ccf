// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/log.h"
#include "store/backup.h"
#include "store/daystats.h"
#include "store/hour.h"
#include "store/retention.h"
#include "store/rocks_internal.h"
#include "store/sumcache.h"
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

    if (rocks_check_writable(rocks, err) < 0 || store_check_tenant(stored.tenant, err) < 0)
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
    struct store_backup *backup;
    struct backup_counts counts;
};

/* A name for a checkpoint that nobody has yet. */
static void name_scratch(struct backing_up *backing, char path[static ROCKS_PATH_BYTES])
{
    uint32_t number = atomic_fetch_add_explicit(&backing->rocks->context.scratch_number, 1, memory_order_relaxed);

    snprintf(path, ROCKS_PATH_BYTES, "%s/backup-%u", backing->rocks->datadir.scratch, number);
}

/* Brings the checkpoint at `scratch` of the database at `from` to where `name` is in the backup. */
static int bring(struct backing_up *backing, const char *from, const char *scratch, const char *name, struct error *err)
{
    char to[ROCKS_PATH_BYTES], previous[ROCKS_PATH_BYTES];

    snprintf(to, sizeof(to), "%s/%s", backing->path, name);
    if (backing->previous)
        snprintf(previous, sizeof(previous), "%s/%s", backing->previous, name);
    return backup_bring(from, scratch, to, backing->previous ? previous : NULL, &backing->counts, err);
}

/* The day is held only while the checkpoint is made: copying may take long, and the day may have to be opened again. */
static int backup_day(struct backing_up *backing, int64_t start_ns, struct error *err)
{
    char name[64], date[DAY_NAME_BYTES], scratch[ROCKS_PATH_BYTES], from[ROCKS_PATH_BYTES];
    struct day *day;
    int result;

    if (dayset_acquire(&backing->rocks->days, start_ns, DAYSET_WRITE, &day, err) < 0)
        return -1;
    if (!day)
        return 0;
    name_scratch(backing, scratch);
    result = backup_checkpoint(day->kv, scratch, err);
    dayset_release(&backing->rocks->days, day);
    if (result < 0)
        return -1;
    dayset_path(&backing->rocks->days, start_ns, from, sizeof(from));
    snprintf(name, sizeof(name), "profiles/%s", day_name(start_ns, date));
    return bring(backing, from, scratch, name, err);
}

static int backup_days(struct backing_up *backing, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct dayset_list list;

    arena_init(&arena, 0);
    if (dayset_list(&backing->rocks->days, &arena, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < list.n; i++)
        if (backup_day(backing, list.starts_ns[i], err) < 0)
            return -1;
    return 0;
}

static int backup_meta(struct backing_up *backing, struct error *err)
{
    struct rocks *rocks = backing->rocks;
    char scratch[ROCKS_PATH_BYTES];
    int result;

    name_scratch(backing, scratch);
    lock_mutex_acquire(&rocks->keeping);
    result = rocks_use_meta(rocks, err) < 0 ? -1 : backup_checkpoint(rocks->meta, scratch, err);
    lock_mutex_release(&rocks->keeping);
    return result < 0 ? -1 : bring(backing, rocks->datadir.meta, scratch, "meta", err);
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
    if (backup_days(backing, err) < 0 || backup_meta(backing, err) < 0 ||
        (backing->backup->add &&
         backing->backup->add(backing->backup->context, backing->backup, backing->previous, err) < 0))
        return -1;
    snprintf(to, sizeof(to), "%s/BACKUP", backing->path);
    return fs_write_file(to, SLICE("complete\n"), err);
}

static int tell_exists(const char *path, struct error *err)
{
    char mark[ROCKS_PATH_BYTES];
    struct stat info;

    snprintf(mark, sizeof(mark), "%s/BACKUP", path);
    if (fs_stat(mark, &info, err) == 0)
        return error_set(err, ERR_EXISTS, "'%s' is there already; a backup is a new directory", path);
    return error_set(err, ERR_EXISTS,
                     "'%s' is there already, and no whole backup (it has no file BACKUP): remove it, or name another",
                     path);
}

int rocks_backup(struct store *store, struct store_backup *backup, struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    const char *path = backup->path;
    struct backing_up backing = { .rocks = rocks, .path = path, .backup = backup };
    const char *slash = strrchr(path, '/');
    const char *parent;
    struct stat info;
    struct arena arena;
    struct error none;
    int result;

    if (rocks_check_writable(rocks, err) < 0)
        return -1;
    if (fs_stat(path, &info, err) == 0)
        return tell_exists(path, err);
    arena_init(&arena, 0);
    parent = slash ? arena_printf(&arena, err, "%.*s", (int)MAX(slash - path, 1), path) : ".";
    result = parent ? backup_find_newest(parent, &arena, &backing.previous, err) : -1;
    if (!result) {
        backup_tell_unfinished(parent);
        result = backup_all(&backing, err);
    }
    if (result < 0)
        IGNORE(fs_remove_tree(path, &none), "the failure is told; without BACKUP nobody takes it for one");
    arena_done(&arena);
    if (result < 0)
        return error_wrap(err, "backing up to '%s'", path);
    backup->copied_bytes += backing.counts.copied_bytes;
    backup->linked_bytes += backing.counts.linked_bytes;
    return 0;
}

/* --- looking --- */

static void tell(const struct store_verify *verify, const char *line)
{
    if (verify->tell)
        verify->tell(verify->context, line);
}

/* Files of the day cannot be read: what can is put in its place, and checked. */
static int salvage(struct rocks *rocks, int64_t start_ns, struct store_verify *verify, struct error *err)
{
    char line[ROCKS_PATH_BYTES + 100];
    struct day *day;
    int result;

    if (dayset_salvage(&rocks->days, start_ns, err) < 0 ||
        dayset_acquire(&rocks->days, start_ns, DAYSET_WRITE, &day, err) < 0)
        return -1;
    if (!day)
        return 0;
    snprintf(line, sizeof(line), "%s: its files were set aside in '%s', what can be read is in place", day->name,
             rocks->datadir.quarantine);
    tell(verify, line);
    result = verify_day(day, rocks->datadir.quarantine, verify, err);
    dayset_release(&rocks->days, day);
    return result;
}

static int verify_one(struct rocks *rocks, int64_t start_ns, struct store_verify *verify, struct error *err)
{
    char name[DAY_NAME_BYTES], line[ROCKS_PATH_BYTES + 200];
    struct error failure = { .text = "it was set aside" };
    uint32_t n_aside = atomic_load_explicit(&rocks->days.n_set_aside, memory_order_relaxed);
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
    if (atomic_load_explicit(&rocks->days.n_set_aside, memory_order_relaxed) > n_aside) {
        verify->n_bad_days++;
        snprintf(line, sizeof(line),
                 "%s: could not be opened; its files were set aside in '%s', what can be read is in place", day->name,
                 rocks->datadir.quarantine);
        tell(verify, line);
    }
    n_bad_days = verify->n_bad_days;
    result = verify_day(day, rocks->datadir.quarantine, verify, err);
    /* Of a day that was opened in spite of damage, what is left may be sound. */
    if (day->is_recovering && verify->n_bad_days == n_bad_days)
        verify->n_bad_days++;
    dayset_release(&rocks->days, day);
    if (result < 0 || verify->n_bad_days == n_bad_days)
        return result;
    if (verify->is_repairing)
        return salvage(rocks, start_ns, verify, err);
    snprintf(line, sizeof(line),
             "%s: has files that cannot be read; --repair puts what can be read in its place and keeps the old files",
             day_name(start_ns, name));
    tell(verify, line);
    return 0;
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
    if (verify->is_repairing)
        sumcache_forget_all(rocks->context.sums);
    verify->n_repaired += atomic_load_explicit(&rocks->days.n_set_aside, memory_order_relaxed) - before;
    return result;
}

struct stats_context {
    struct servicecosts *services;
    struct store_stats *stats;
};

static int stats_of_one(void *context, struct day *day, struct error *err)
{
    struct stats_context *counting = context;

    return daystats_add(day, counting->services, counting->stats, err);
}

int rocks_stats(struct store *store, struct servicecosts *services, struct store_stats *ret_stats, struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    struct store_stats *stats = ret_stats;
    struct stats_context context = { services, stats };
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
        result = dayset_each(&rocks->days, INT64_MIN, INT64_MAX, DAYSET_READ, stats_of_one, &context, err);
    }
    arena_done(&arena);
    stats->n_open_days = dayset_n_open(&rocks->days);
    /* Others keep things in the directory, too. */
    stats->quarantine_bytes = retention_disk_bytes(rocks->datadir.quarantine);
    stats->disk_bytes = retention_disk_bytes(rocks->datadir.profiles) + retention_disk_bytes(rocks->datadir.meta) +
                        stats->quarantine_bytes;
    stats->n_damaged += atomic_load_explicit(&rocks->context.n_damaged, memory_order_relaxed);
    return result;
}
