// SPDX-License-Identifier: Apache-2.0
#include "store/day.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "block/storekey.h"
#include "store/commit.h"
#include "store/dayload.h"
#include "store/recover.h"
#include "store/slotcache.h"

#include <stdio.h>

enum { PATH_BYTES = 4096 };

/* --- dates --- */

const char *day_name(int64_t time_ns, char ret_name[static DAY_NAME_BYTES])
{
    char text[CLOCK_TEXT_BYTES];

    clock_format(time_ns, CLOCK_ZONE_UTC, 0, text);
    memcpy(ret_name, text, DAY_NAME_BYTES - 1);
    ret_name[DAY_NAME_BYTES - 1] = '\0';
    return ret_name;
}

bool day_parse_name(const char *name, int64_t *ret_start_ns)
{
    struct error err;

    return clock_parse_date(slice_from(name), ret_start_ns, &err) == 0;
}

void day_damage(struct day *day, const char *what, const struct error *err)
{
    /* Relaxed: a count. */
    atomic_fetch_add_explicit(&day->context->n_damaged, 1, memory_order_relaxed);
    storemetrics_add(&day->context->metrics, STOREMETRIC_DAMAGED, 1);
    LOG_EVERY(10, LOG_WARN, "store", "day %s: %s: damaged, skipped: %s", day->name, what, err->text);
}

void day_stop(struct day *day, const struct error *err)
{
    if (day->failure.code == ERR_OK)
        day->failure = *err;
    lock_condition_wake_all(&day->committed);
}

int day_check(const struct day *day, struct error *err)
{
    if (day->failure.code == ERR_OK)
        return 0;
    *err = day->failure;
    if (err->code != ERR_FULL)
        err->code = ERR_CLOSED;
    return error_wrap(err, "day %s stopped writing", day->name);
}

/* --- opening --- */

/* Copies the WAL files of a damaged day, so that a person can still look at them. */
static int set_wal_aside(const struct day *day, const char *quarantine_dir, struct error *err)
{
    struct arena arena;
    struct fs_listing listing;
    struct buffer content;
    int result;

    arena_init(&arena, 0);
    buffer_init(&content, 0);
    result = fs_list(day->path, &arena, &listing, err);
    for (size_t i = 0; !result && i < listing.n; i++) {
        const char *name = listing.names[i], *from, *to;
        size_t len = strlen(name);

        if (len < 5 || strcmp(name + len - 4, ".log") != 0)
            continue;
        buffer_clear(&content);
        from = arena_printf(&arena, err, "%s/%s", day->path, name);
        to = from ? arena_printf(&arena, err, "%s/%s-%s", quarantine_dir, day->name, name) : NULL;
        if (!to || fs_make_directories(quarantine_dir, 0700, err) < 0 || fs_read_file(from, 0, &content, err) < 0 ||
            fs_write_file(to, buffer_slice(&content), err) < 0)
            result = -1;
    }
    buffer_done(&content);
    arena_done(&arena);
    return result;
}

/* The name of a file in the day's directory that says: something of it may be lost, and nobody has looked what. */
static void name_mark(const struct day *day, char path[static PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/SALVAGE", day->path);
}

/* What an opening that salvages the log has to do afterwards is done by the next one, should this one not get there. */
static int mark_salvage(const struct day *day, struct error *err)
{
    char path[PATH_BYTES];

    name_mark(day, path);
    return fs_write_file(path, SLICE("ids and sequences are to be left out\n"), err);
}

static bool is_marked(const struct day *day)
{
    char path[PATH_BYTES];
    struct stat info;
    struct error err;

    name_mark(day, path);
    return fs_stat(path, &info, &err) == 0;
}

static int finish_recovery(struct day *day, struct error *err)
{
    char path[PATH_BYTES];

    /* What was worked out about heads is written down by dropping those that are covered. */
    if (recover_settle(day, err) < 0 || day_drop_covered(day, err) < 0)
        return -1;
    day->is_recovering = false;
    name_mark(day, path);
    return fs_remove_tree(path, err);
}

/* Whoever syncs each write has none that could follow one that was not written whole. */
static enum kv_recovery choose_recovery(const struct day *day)
{
    if (day->is_recovering)
        return KV_SALVAGE;
    return day->context->wal_sync == STORE_SYNC_ALWAYS ? KV_STRICT : KV_PREFIX;
}

static int open_database(struct day *day, const char *quarantine_dir, struct error *err)
{
    struct kv_options options = { .mode = day->mode,
                                  .recovery = choose_recovery(day),
                                  .memtable_bytes = day->context->memtable_bytes };
    char secondary[PATH_BYTES];
    int result;

    if (day->mode == KV_SECONDARY) {
        snprintf(secondary, sizeof(secondary), "%s/secondary-%s", day->context->scratch_dir, day->name);
        if (fs_make_directories(secondary, 0700, err) < 0)
            return -1;
        options.secondary_dir = secondary;
    }
    result = kv_open(day->context->kv, day->path, &options, &day->kv, err);
    if (!result || err->code != ERR_CORRUPT || day->mode != KV_WRITE || !quarantine_dir)
        return result;
    log_warn("store", "day %s: its write-ahead log is damaged; keeping a copy in '%s' and taking what can be read: %s",
             day->name, quarantine_dir, err->text);
    if (set_wal_aside(day, quarantine_dir, err) < 0 || mark_salvage(day, err) < 0)
        return -1;
    options.recovery = KV_SALVAGE;
    if (kv_open(day->context->kv, day->path, &options, &day->kv, err) < 0)
        return -1;
    atomic_fetch_add_explicit(&day->context->n_damaged, 1, memory_order_relaxed);
    return 0;
}

static int load(struct day *day, struct error *err)
{
    if (day->mode == KV_WRITE && is_marked(day))
        day->is_recovering = true;
    if (dayload(day, err) < 0)
        return -1;
    if (day->mode != KV_WRITE)
        return 0;
    if (day->is_recovering && finish_recovery(day, err) < 0)
        return -1;
    if (idcache_init(&day->idcache, day->context->idcache_bytes, err) < 0 || kv_batch_new(&day->group.batch, err) < 0 ||
        kv_batch_new(&day->group.spare, err) < 0)
        return -1;
    /* RocksDB syncs what is in its directory, but not the name of the directory itself. */
    if (fs_sync_parent(day->path, err) < 0)
        return -1;
    return day_drop_covered(day, err);
}

static int open_day(struct day_context *context, const char *path, const char *name, enum kv_mode mode,
                    bool is_recovering, const char *quarantine_dir, struct day **ret_day, struct error *err)
{
    struct day *day = MEMORY_NEW(struct day, err);

    if (!day)
        return -1;
    day->context = context;
    day->mode = mode;
    day->is_recovering = is_recovering;
    snprintf(day->name, sizeof(day->name), "%s", name);
    lock_mutex_init(&day->work, LOCK_STORE_WORK);
    lock_mutex_init(&day->lock, LOCK_STORE_DAY);
    lock_condition_init(&day->committed);
    tenants_init(&day->tenants, context->seed);
    recents_init(&day->recents, context->recent_bytes);
    hash_set_init(&day->group.ids, 0);
    hash_set_init(&day->group.spare_ids, 0);
    buffer_init(&day->group.scratch, 0);
    day->group.open = 1;
    day->path = memory_alloc(strlen(path) + 1, err);
    if (!day->path)
        goto fail;
    strcpy(day->path, path);
    if (!day_parse_name(name, &day->start_ns)) {
        error_set(err, ERR_INVALID, "'%s' is no date", name);
        goto fail;
    }
    day->slots_until_ns = day->start_ns;
    if (open_database(day, quarantine_dir, err) < 0 || load(day, err) < 0) {
        error_wrap(err, "opening day '%s'", path);
        goto fail;
    }
    *ret_day = day;
    return 0;
fail:
    day_close(day);
    return -1;
}

int day_open(struct day_context *context, const char *path, const char *name, enum kv_mode mode,
             const char *quarantine_dir, struct day **ret_day, struct error *err)
{
    return open_day(context, path, name, mode, false, quarantine_dir, ret_day, err);
}

int day_open_recovering(struct day_context *context, const char *path, const char *name, enum kv_mode mode,
                        struct day **ret_day, struct error *err)
{
    return open_day(context, path, name, mode, true, NULL, ret_day, err);
}

/* What is in files need not be read from the WAL again when the day is opened the next time. */
static void flush(struct day *day)
{
    struct error err;

    if (!day->kv || day->mode != KV_WRITE || day->failure.code != ERR_OK || !day->group.batch)
        return;
    if (day_count_written(day, 0, &err) < 0 || kv_flush(day->kv, KV_NO_FAMILY, &err) < 0)
        log_warn("store", "day %s: closing: %s", day->name, err.text);
}

void day_close(struct day *day)
{
    if (!day)
        return;
    slotcache_forget_day(day->context->slots, day);
    flush(day);
    for (size_t i = 0; i < day->tombstones.n; i++)
        tombstone_done(&day->tombstones.items[i]);
    tenants_done(&day->tenants);
    recents_done(&day->recents);
    VEC_DONE(&day->heads);
    VEC_DONE(&day->markers);
    VEC_DONE(&day->tombstones);
    kv_batch_free(day->group.batch);
    kv_batch_free(day->group.spare);
    hash_set_done(&day->group.ids);
    hash_set_done(&day->group.spare_ids);
    buffer_done(&day->group.scratch);
    idcache_done(&day->idcache);
    kv_close(day->kv);
    lock_condition_done(&day->committed);
    lock_mutex_done(&day->lock);
    lock_mutex_done(&day->work);
    memory_free(day->path);
    memory_free(day);
}

/* --- tenants --- */

uint32_t day_find_tenant(struct day *day, struct slice name)
{
    const struct tenant_entry *entry;

    LOCK_SCOPE(&day->lock);
    entry = tenants_find(&day->tenants, name);
    return entry ? entry->id : 0;
}

static struct tenant_entry *new_tenant(struct day *day, struct slice name, struct error *err)
{
    struct storekey key = storekey_tenant(day->tenants.next_id);

    if (tenants_add(&day->tenants, day->tenants.next_id, name, err) < 0)
        return NULL;
    day_put_twice(day, day->group.batch, &key, name);
    return tenants_find(&day->tenants, name);
}

static int add_known_series(struct day *day, struct tenant *tenant, uint32_t id, const struct seriesinfo *info,
                            struct error *err)
{
    struct hash128 hash = seriesinfo_hash(info, day->context->seed);
    struct hash128 group_hash = seriesinfo_group_hash(info, day->context->seed);
    struct tenant_series *series;
    uint32_t place, *group;
    bool is_new;

    tenant->next_series = MAX(tenant->next_series, id + 1);
    if (hash_set_add(&tenant->series, hash, &place, &is_new, err) < 0)
        return -1;
    if (is_new) {
        series = VEC_PUSH(&tenant->series_ids, UINT32_MAX, err);
        if (!series)
            return -1;
        *series = (struct tenant_series){ id, info->group };
    }
    if (hash_set_add(&tenant->groups, group_hash, &place, &is_new, err) < 0)
        return -1;
    if (is_new) {
        group = VEC_PUSH(&tenant->group_ids, UINT32_MAX, err);
        if (!group)
            return -1;
        *group = info->group;
    }
    return 0;
}

static int load_series(struct day *day, struct tenant *tenant, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct storekey prefix = storekey_series(tenant->id, 0);
    struct arena arena;
    int result = 0;

    tenant->next_series = 1;
    if (kv_iterator_new(day->kv, KV_DEFAULT, NULL, slice_of(prefix.bytes, prefix.len - 4), false, &iterator, err) < 0)
        return -1;
    arena_init(&arena, 0);
    for (; !result && kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        struct seriesinfo info;
        uint32_t tenant_id, id;

        arena_reset(&arena);
        if (!storekey_parse_series(kv_iterator_key(iterator), &tenant_id, &id))
            result = error_set(err, ERR_CORRUPT, "the key of a series is damaged");
        else if (seriesinfo_decode(kv_iterator_value(iterator), &arena, &info, err) < 0) {
            if (err->code == ERR_CORRUPT) {
                /* Its rows can be read by nobody; the id stays taken. */
                day_damage(day, "series", err);
                tenant->next_series = MAX(tenant->next_series, id + 1);
            } else
                result = -1;
        } else
            result = add_known_series(day, tenant, id, &info, err);
    }
    arena_done(&arena);
    if (!result)
        result = kv_iterator_check(iterator, err);
    tenant->next_series = MAX(tenant->next_series, day->ids_from);
    return result;
}

/* What a writer has to know of a tenant. */
static struct tenant *load_tenant(struct day *day, struct tenant_entry *entry, struct error *err)
{
    struct tenant *tenant = tenants_load(&day->tenants, entry, err);

    if (!tenant)
        return NULL;
    if (load_series(day, tenant, err) == 0 &&
        dictionary_init(&tenant->dictionary, day->kv, tenant->id, day->context->seed, &day->context->hashes,
                        &day->idcache, day->ids_from, err) == 0)
        return tenant;
    tenants_unload(&day->tenants, tenant);
    /* Whoever opens the day the next time salvages it. */
    if (err->code == ERR_CORRUPT) {
        day_stop(day, err);
        IGNORE(day_check(day, err), "it fails: the day was just stopped");
    }
    return NULL;
}

struct tenant *day_tenant_for_write(struct day *day, struct slice name, struct error *err)
{
    struct tenant_entry *entry = tenants_find(&day->tenants, name);

    if (!entry)
        entry = new_tenant(day, name, err);
    if (!entry)
        return NULL;
    if (entry->loaded) {
        tenants_touch(&day->tenants, entry->loaded);
        return entry->loaded;
    }
    return load_tenant(day, entry, err);
}

void day_put_twice(struct day *day, struct kv_batch *batch, const struct storekey *key, struct slice value)
{
    struct storekey copy = storekey_copy(key);

    kv_batch_put(batch, day->kv, KV_DEFAULT, storekey_slice(key), value);
    kv_batch_put(batch, day->kv, day->block_family, storekey_slice(&copy), value);
}

void day_delete_twice(struct day *day, struct kv_batch *batch, const struct storekey *key)
{
    struct storekey copy = storekey_copy(key);

    kv_batch_delete(batch, day->kv, KV_DEFAULT, storekey_slice(key));
    kv_batch_delete(batch, day->kv, day->block_family, storekey_slice(&copy));
}

void day_note_unreadable(struct day *day, const struct error *err)
{
    LOCK_SCOPE(&day->lock);
    if (err->code == ERR_CORRUPT)
        day_stop(day, err);
}

void day_unload_idle(struct day *day, int64_t idle_since_mono_ns)
{
    LOCK_SCOPE(&day->lock);
    tenants_unload_idle(&day->tenants, idle_since_mono_ns, day->group.done);
}

/* --- writing small things --- */

int day_sync(struct day *day, struct error *err)
{
    return kv_sync(day->kv, err);
}

uint64_t day_written_bytes(struct day *day)
{
    struct kv_io io = day->mode == KV_WRITE ? kv_io(day->kv) : (struct kv_io){ 0 };

    LOCK_SCOPE(&day->lock);
    return day->written_bytes + io.wal_bytes + io.flush_bytes + io.compaction_bytes;
}

int day_count_written(struct day *day, uint64_t bytes, struct error *err)
{
    struct storekey key = storekey_counter("written");
    struct kv_batch *batch;
    char value[8];
    int result;

    if (kv_batch_new(&batch, err) < 0)
        return -1;
    lock_mutex_acquire(&day->lock);
    day->written_bytes += bytes;
    lock_mutex_release(&day->lock);
    bytes_put_le64(value, day_written_bytes(day));
    kv_batch_put(batch, day->kv, KV_DEFAULT, storekey_slice(&key), slice_of(value, sizeof(value)));
    result = kv_write(day->kv, batch, false, err);
    kv_batch_free(batch);
    return result;
}

int day_delete(struct day *day, struct slice tenant_name, const struct selector *selector, int64_t from_ns,
               int64_t until_ns, struct error *err)
{
    struct tombstone *tombstone;
    struct buffer text, value;
    struct storekey key;
    uint32_t number = 1;
    const struct tenant_entry *tenant;
    int result = -1;

    LOCK_SCOPE(&day->lock);
    tenant = tenants_find(&day->tenants, tenant_name);
    if (!tenant)
        return 0;
    /* Rows that are on their way have lower sequences and count as written before. */
    for (size_t i = 0; i < day->tombstones.n; i++)
        number = MAX(number, day->tombstones.items[i].number + 1);
    for (size_t i = 0; i < day->markers.n; i++)
        number = MAX(number, day->markers.items[i].tombstone);
    tombstone = VEC_PUSH(&day->tombstones, DAYLOAD_MAX_TOMBSTONES, err);
    if (!tombstone)
        return -1;
    *tombstone = (struct tombstone){ .tenant = tenant->id,
                                     .number = number,
                                     .sequence = day->next_sequence,
                                     .from_ns = from_ns,
                                     .until_ns = until_ns,
                                     .made_ns = clock_now_ns() };
    buffer_init(&text, 0);
    buffer_init(&value, 0);
    if (selector)
        selector_text(selector, &text);
    if (buffer_check(&text, err) == 0 &&
        (!selector || selector_new(buffer_slice(&text), &tombstone->selector, err) == 0)) {
        tombstone_encode(tombstone, &value);
        key = storekey_tombstone(tenant->id, number);
        result = buffer_check(&value, err);
        if (!result) {
            day_put_twice(day, day->group.batch, &key, buffer_slice(&value));
            key = storekey_counter("deleted");
            kv_batch_put(day->group.batch, day->kv, KV_DEFAULT, storekey_slice(&key), slice_of("", 0));
            day->has_deletions = true;
            result = commit_wait(day, day->group.open, err);
        }
    }
    /* Readers may have copied it already; without effect it stays in memory until the day is closed. Others may stand
     * behind it by now. */
    for (size_t i = 0; i < day->tombstones.n && result < 0; i++)
        if (day->tombstones.items[i].number == number)
            day->tombstones.items[i].sequence = 0;
    buffer_done(&text);
    buffer_done(&value);
    return result;
}

/* --- views --- */

/* Whether a later marker of the hour took the place of this one. */
static bool is_replaced(const struct day *day, const struct marker *marker)
{
    for (size_t i = 0; i < day->markers.n; i++)
        if (day->markers.items[i].hour == marker->hour && marker->number < day->markers.items[i].replaces_below)
            return true;
    return false;
}

static int fill_view(struct day_view *view, uint32_t tenant, struct error *err)
{
    struct day *day = view->day;

    if (VEC_RESERVE(&view->heads, day->heads.n, UINT32_MAX, err) < 0 ||
        VEC_RESERVE(&view->head_copies, day->heads.n, UINT32_MAX, err) < 0 ||
        VEC_RESERVE(&view->markers, day->markers.n, DAYLOAD_MAX_MARKERS, err) < 0 ||
        VEC_RESERVE(&view->tombstones, day->tombstones.n, DAYLOAD_MAX_TOMBSTONES, err) < 0)
        return -1;
    if (day->mode == KV_WRITE && kv_snapshot_new(day->kv, &view->snapshot, err) < 0)
        return -1;
    view->has_deletions = day->has_deletions;
    view->n_commits = day->group.done;
    for (size_t i = 0; i < day->heads.n; i++) {
        struct day_head *head = &day->heads.items[i];

        if (head->is_covered || head->family == KV_NO_FAMILY)
            continue;
        head->n_readers++;
        view->heads.items[view->heads.n++] = (uint32_t)i;
        view->head_copies.items[view->head_copies.n++] = *head;
    }
    for (size_t i = 0; i < day->markers.n; i++)
        if (!is_replaced(day, &day->markers.items[i]))
            view->markers.items[view->markers.n++] = day->markers.items[i];
    for (size_t i = 0; i < day->tombstones.n; i++)
        if (!tenant || day->tombstones.items[i].tenant == tenant)
            view->tombstones.items[view->tombstones.n++] = day->tombstones.items[i];
    return 0;
}

/* Under the lock. The snapshot goes first: without views the day may be closed. */
static void let_go(struct day_view *view)
{
    for (size_t i = 0; i < view->heads.n; i++)
        view->day->heads.items[view->heads.items[i]].n_readers--;
    view->day->n_views--;
}

static void free_lists(struct day_view *view)
{
    VEC_DONE(&view->heads);
    VEC_DONE(&view->head_copies);
    VEC_DONE(&view->markers);
    VEC_DONE(&view->tombstones);
    *view = (struct day_view){ 0 };
}

int day_view_open_locked(struct day *day, uint32_t tenant, struct day_view *view, struct error *err)
{
    *view = (struct day_view){ .day = day };
    day->n_views++;
    if (fill_view(view, tenant, err) == 0)
        return 0;
    kv_snapshot_free(view->snapshot);
    let_go(view);
    free_lists(view);
    return -1;
}

int day_view_open(struct day *day, uint32_t tenant, struct day_view *view, struct error *err)
{
    LOCK_SCOPE(&day->lock);
    return day_view_open_locked(day, tenant, view, err);
}

void day_view_close(struct day_view *view)
{
    struct day *day = view->day;

    if (!day)
        return;
    kv_snapshot_free(view->snapshot);
    lock_mutex_acquire(&day->lock);
    let_go(view);
    lock_mutex_release(&day->lock);
    free_lists(view);
}

bool day_view_is_clean(const struct day_view *view, const struct marker *marker)
{
    int64_t from_ns = view->day->start_ns + marker->hour * DAY_HOUR_NS;

    for (size_t i = 0; i < view->tombstones.n; i++)
        if (view->tombstones.items[i].number >= marker->tombstone &&
            tombstone_overlaps(&view->tombstones.items[i], from_ns, from_ns + DAY_HOUR_NS))
            return false;
    return true;
}

bool day_view_has_block(const struct day_view *view, uint8_t hour, uint32_t number)
{
    for (size_t i = 0; i < view->markers.n; i++)
        if (view->markers.items[i].hour == hour && view->markers.items[i].number == number)
            return true;
    return false;
}

/* Places of heads stay what they are, since views hold them: a dropped one keeps its row. */
int day_drop_covered(struct day *day, struct error *err)
{
    for (size_t i = 0;; i++) {
        uint32_t family = KV_NO_FAMILY;

        lock_mutex_acquire(&day->lock);
        if (i >= day->heads.n) {
            lock_mutex_release(&day->lock);
            return 0;
        }
        if (day->heads.items[i].is_covered && !day->heads.items[i].n_readers) {
            family = day->heads.items[i].family;
            day->heads.items[i].family = KV_NO_FAMILY;
        }
        lock_mutex_release(&day->lock);
        if (family == KV_NO_FAMILY || kv_family_drop(day->kv, family, err) == 0)
            continue;
        /* Opening the day again tells whether it is gone; until then the marker that covers it must stay. */
        lock_mutex_acquire(&day->lock);
        day->heads.items[i].family = family;
        day_stop(day, err);
        lock_mutex_release(&day->lock);
        return -1;
    }
}
