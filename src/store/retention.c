// SPDX-License-Identifier: Apache-2.0
#include "store/retention.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "block/storekey.h"
#include "store/hour.h"

#include <dirent.h>
#include <stdio.h>

enum { PATH_BYTES = 4096, MAX_DEPTH = 16 };

static bool is_wal(const char *name)
{
    size_t len = strlen(name);

    return len > 4 && strcmp(name + len - 4, ".log") == 0;
}

static uint64_t tree_bytes(const char *path, bool with_wal, unsigned depth)
{
    char below[PATH_BYTES];
    uint64_t total = 0;
    struct dirent *entry;
    struct stat info;
    DIR *directory;

    if (lstat(path, &info) < 0)
        return 0;
    if (!S_ISDIR(info.st_mode))
        return (uint64_t)info.st_size;
    directory = depth < MAX_DEPTH ? opendir(path) : NULL;
    if (!directory)
        return 0;
    while ((entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            (!with_wal && is_wal(entry->d_name)) ||
            (size_t)snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) >= sizeof(below))
            continue;
        total += tree_bytes(below, with_wal, depth + 1);
    }
    closedir(directory);
    return total;
}

uint64_t retention_disk_bytes(const char *path)
{
    return tree_bytes(path, true, 0);
}

/* What the limit on bytes counts: the write-ahead log and files on their way come and go, and no day need die
 * for them. */
static uint64_t lasting_bytes(const char *path)
{
    return tree_bytes(path, false, 0);
}

/* --- kept ranges --- */

static bool is_kept(const struct keeps *keeps, int64_t start_ns)
{
    for (size_t i = 0; i < keeps->items.n; i++)
        if (keeps->items.items[i].from_ns < start_ns + DAY_NS && keeps->items.items[i].until_ns > start_ns)
            return true;
    return false;
}

/* A number that changes with the list of kept ranges of a day. */
static uint64_t keeps_hash(const struct keeps *keeps, int64_t start_ns)
{
    struct hash128 hash = { 1, 1 };

    for (size_t i = 0; i < keeps->items.n; i++) {
        const struct keep *keep = &keeps->items.items[i];
        struct hash128 name = hash_bytes(slice_from(keep->name), 1), tenant = hash_bytes(slice_from(keep->tenant), 2);
        struct hash128 text = hash_bytes(slice_from(keep->text), 3);

        if (keep->from_ns >= start_ns + DAY_NS || keep->until_ns <= start_ns)
            continue;
        hash = hash_fold(hash, name.a, tenant.a);
        hash = hash_fold(hash, text.a, text.b);
        hash = hash_fold(hash, (uint64_t)keep->from_ns, (uint64_t)keep->until_ns);
    }
    return hash.a;
}

/* Whether the day was reduced to these ranges before. */
static int is_reduced(struct day *day, uint64_t wanted, bool *ret_is_reduced, struct error *err)
{
    struct storekey key = storekey_counter("kept");
    struct buffer value;
    int result;

    buffer_init(&value, 0);
    result = kv_get(day->kv, KV_DEFAULT, storekey_slice(&key), &value, ret_is_reduced, err);
    *ret_is_reduced = !result && *ret_is_reduced && value.len == 8 && bytes_get_le64(value.data) == wanted;
    buffer_done(&value);
    return result;
}

static int note_reduced(struct day *day, uint64_t wanted, struct error *err)
{
    struct storekey kept = storekey_counter("kept"), deleted = storekey_counter("deleted");
    struct kv_batch *batch;
    char value[8];
    int result;

    if (kv_batch_new(&batch, err) < 0)
        return -1;
    bytes_put_le64(value, wanted);
    kv_batch_put(batch, day->kv, KV_DEFAULT, storekey_slice(&kept), slice_of(value, sizeof(value)));
    kv_batch_put(batch, day->kv, KV_DEFAULT, storekey_slice(&deleted), slice_of("", 0));
    result = kv_write(day->kv, batch, true, err);
    kv_batch_free(batch);
    return result;
}

static int reduce_open_day(const struct retention *retention, struct day *day, struct error *err)
{
    const struct keeps *keeps = retention->keeps;
    struct hour_range *ranges = memory_alloc_zero((keeps->items.n + 1) * sizeof(*ranges), err);
    size_t n = 0;
    int result;

    if (!ranges)
        return -1;
    for (size_t i = 0; i < keeps->items.n; i++) {
        const struct keep *keep = &keeps->items.items[i];
        uint32_t tenant = day_find_tenant(day, slice_from(keep->tenant));

        if (tenant)
            ranges[n++] = (struct hour_range){
                .tenant = tenant, .selector = keep->selector, .from_ns = keep->from_ns, .until_ns = keep->until_ns
            };
    }
    result = hour_close_due(day, INT64_MAX, err);
    if (!result)
        result = hour_reduce(day, ranges, n, err);
    if (!result)
        result = kv_compact(day->kv, day->block_family, err);
    if (!result)
        result = note_reduced(day, keeps_hash(keeps, day->start_ns), err);
    memory_free(ranges);
    return result;
}

static int reduce(struct dayset *days, const struct retention *retention, int64_t start_ns, bool *ret_is_done,
                  struct error *err)
{
    uint64_t wanted = keeps_hash(retention->keeps, start_ns);
    struct day *day;
    bool is_done = false;
    int result;

    *ret_is_done = false;
    if (dayset_acquire(days, start_ns, DAYSET_READ, &day, err) < 0)
        return -1;
    if (!day)
        return 0;
    result = is_reduced(day, wanted, &is_done, err);
    dayset_release(days, day);
    if (result < 0 || is_done)
        return result;
    if (dayset_acquire(days, start_ns, DAYSET_WRITE, &day, err) < 0)
        return -1;
    if (!day)
        return 0;
    result = reduce_open_day(retention, day, err);
    dayset_release(days, day);
    if (result < 0)
        return error_wrap(err, "reducing a day to its kept ranges");
    *ret_is_done = true;
    return 0;
}

/* --- days --- */

/* Drops the day, or what of it is not kept. `*ret_is_gone` says that it takes no room any more than it must. */
static int forget(struct dayset *days, const struct retention *retention, int64_t start_ns, const char *why,
                  uint32_t *n_dropped, struct error *err)
{
    char name[DAY_NAME_BYTES];
    bool is_done = true;

    if (is_kept(retention->keeps, start_ns)) {
        if (reduce(days, retention, start_ns, &is_done, err) < 0)
            return -1;
        if (is_done)
            log_info("store", "day %s reduced to its kept ranges: %s", day_name(start_ns, name), why);
    } else {
        if (dayset_drop(days, start_ns, err) < 0)
            return error_wrap(err, "dropping day %s", day_name(start_ns, name));
        log_info("store", "day %s dropped: %s", day_name(start_ns, name), why);
    }
    *n_dropped += is_done;
    return 0;
}

/* Remembers the first failure and goes on. */
static void note_failure(int *result, const struct error *failure, struct error *err)
{
    if (!*result)
        *err = *failure;
    *result = -1;
}

static int apply_bytes(struct dayset *days, const struct retention *retention, const struct dayset_list *list,
                       int64_t now_ns, uint32_t *n_dropped, struct error *err)
{
    uint64_t total = retention->max_bytes ? lasting_bytes(days->directory) : 0;
    int result = 0;

    for (size_t i = 0; i < list->n && total > retention->max_bytes; i++) {
        char path[PATH_BYTES];
        uint64_t before, after;
        struct error failure;

        /* Today is never dropped, nor is the newest day. */
        if (list->starts_ns[i] + DAY_NS > now_ns || i + 1 == list->n)
            break;
        dayset_path(days, list->starts_ns[i], path, sizeof(path));
        before = lasting_bytes(path);
        if (!before)
            continue;
        if (forget(days, retention, list->starts_ns[i], "the limit on bytes is reached", n_dropped, &failure) < 0) {
            note_failure(&result, &failure, err);
            continue;
        }
        after = lasting_bytes(path);
        total -= MIN(total, before - MIN(before, after));
    }
    return result;
}

/* --- tenants --- */

struct tenant_day {
    struct slice name;
    uint64_t bytes;
    bool has_data;
};

/* What a closing holds of the tenant; `*ret_bytes` is what its tally itself takes, 0 if there is none. */
static int find_tally(struct day *day, const struct marker *marker, uint32_t tenant, struct tally *ret_tally,
                      uint64_t *ret_bytes, struct error *err)
{
    struct storekey key = storekey_block((struct storekey_block){
        .hour = marker->hour, .kind = STOREKEY_TALLY, .tenant = tenant, .number = marker->number });
    struct buffer value;
    bool is_found;
    int result;

    *ret_bytes = 0;
    buffer_init(&value, 0);
    result = kv_get(day->kv, day->block_family, storekey_slice(&key), &value, &is_found, err);
    if (!result && is_found && tally_decode(buffer_slice(&value), ret_tally, err) == 0)
        *ret_bytes = key.len + value.len;
    buffer_done(&value);
    return result;
}

/* About what series, dictionary and ids of a tenant take. */
static uint64_t index_bytes(struct day *day, uint32_t tenant)
{
    static const char letters[] = "sdi";
    uint64_t total = 0;

    for (const char *letter = letters; *letter; letter++) {
        struct storekey from = storekey_tenant(tenant), until = storekey_tenant(tenant + 1);

        from.bytes[0] = until.bytes[0] = *letter;
        total += kv_range_bytes(day->kv, KV_DEFAULT, storekey_slice(&from), storekey_slice(&until));
    }
    return total;
}

/* Whether an open hour has rows of the tenant; `*has_rows` stays true if it was. */
static int find_rows(const struct day_view *view, const struct day_head *head, uint32_t tenant, bool *has_rows,
                     struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct storekey key = storekey_row(tenant, 0, 0, 0, 0);

    if (kv_iterator_new(view->day->kv, head->family, view->snapshot, slice_of(key.bytes, 4), false, &iterator, err) < 0)
        return -1;
    *has_rows |= kv_iterator_is_valid(iterator);
    return kv_iterator_check(iterator, err);
}

/* What a day holds of a tenant: its index, and the blocks of closed hours by their tallies. */
static int measure_tenant(void *context, struct day *day, struct error *err)
{
    struct tenant_day *measure = context;
    uint32_t tenant = day_find_tenant(day, measure->name);
    struct day_view view;
    int result = 0;

    if (!tenant)
        return 0;
    if (day_view_open(day, tenant, &view, err) < 0)
        return -1;
    for (size_t i = 0; i < view.head_copies.n && !result; i++)
        result = find_rows(&view, &view.head_copies.items[i], tenant, &measure->has_data, err);
    measure->bytes += index_bytes(day, tenant);
    for (size_t i = 0; i < view.markers.n && !result; i++) {
        struct tally tally;
        uint64_t bytes;

        result = find_tally(day, &view.markers.items[i], tenant, &tally, &bytes, err);
        if (!result && bytes) {
            measure->bytes += tally.bytes;
            measure->has_data = true;
        }
    }
    day_view_close(&view);
    return result;
}

/* Markers count what is there: without the tenant that is less. */
static int recount_marker(struct day *day, struct marker marker, uint32_t tenant, struct kv_batch *batch,
                          struct error *err)
{
    struct storekey key = storekey_marker(marker.hour, marker.number);
    struct buffer value;
    struct tally tally;
    uint64_t bytes;
    int result;

    if (find_tally(day, &marker, tenant, &tally, &bytes, err) < 0)
        return -1;
    if (!bytes)
        return 0;
    marker.n_rows -= MIN(marker.n_rows, tally.n_rows);
    marker.n_samples -= MIN(marker.n_samples, tally.n_samples);
    marker.bytes -= MIN(marker.bytes, tally.bytes + bytes);
    buffer_init(&value, 0);
    marker_encode(&marker, &value);
    result = buffer_check(&value, err);
    if (!result)
        kv_batch_put(batch, day->kv, day->block_family, storekey_slice(&key), buffer_slice(&value));
    buffer_done(&value);
    return result;
}

static int recount_markers(struct day *day, uint32_t tenant, struct kv_batch *batch, struct error *err)
{
    struct day_view view;
    int result = 0;

    if (day_view_open(day, tenant, &view, err) < 0)
        return -1;
    for (size_t i = 0; i < view.markers.n && !result; i++)
        result = recount_marker(day, view.markers.items[i], tenant, batch, err);
    day_view_close(&view);
    return result;
}

/* All of one tenant in a day: everything with its id in the keys. */
static int drop_tenant_from(struct day *day, uint32_t tenant, struct error *err)
{
    static const char index_letters[] = "sdgit";
    static const enum storekey_kind kinds[] = { STOREKEY_GROUP_SLOT, STOREKEY_GROUP_HOUR, STOREKEY_SUMS,
                                                STOREKEY_SAMPLES,    STOREKEY_TALLY,      STOREKEY_WINDOWS,
                                                STOREKEY_SPANS };
    struct kv_batch *batch;
    int result;

    if (kv_batch_new(&batch, err) < 0)
        return -1;
    for (const char *letter = index_letters; *letter; letter++) {
        struct storekey from = storekey_tenant(tenant), until = storekey_tenant(tenant + 1);

        from.bytes[0] = until.bytes[0] = *letter;
        kv_batch_delete_range(batch, day->kv, KV_DEFAULT, storekey_slice(&from), storekey_slice(&until));
    }
    for (uint8_t hour = 0; hour < 24; hour++)
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
            struct storekey from =
                storekey_block((struct storekey_block){ .hour = hour, .kind = kinds[i], .tenant = tenant });
            struct storekey until =
                storekey_block((struct storekey_block){ .hour = hour, .kind = kinds[i], .tenant = tenant + 1 });

            kv_batch_delete_range(batch, day->kv, day->block_family, storekey_slice(&from), storekey_slice(&until));
        }
    result = recount_markers(day, tenant, batch, err);
    if (!result)
        result = kv_write(day->kv, batch, true, err);
    kv_batch_free(batch);
    return result;
}

/* What writers know of a tenant will be wrong: nothing more is written before the day is opened anew. False, and nothing
 * done, if rows are in heads. */
static bool stop_without_heads(struct day *day)
{
    LOCK_SCOPE(&day->lock);
    for (size_t i = 0; i < day->heads.n; i++)
        if (!day->heads.items[i].is_covered)
            return false;
    if (day->failure.code == ERR_OK)
        error_set(&day->failure, ERR_CLOSED, "a tenant was dropped from it");
    return true;
}

static int forget_tenant(struct dayset *days, const struct retention *retention, int64_t start_ns, struct slice name,
                         const char *why, uint32_t *n_dropped, struct error *err)
{
    char text[DAY_NAME_BYTES];
    struct day *day;
    uint32_t tenant;
    int result = 0;

    for (size_t i = 0; i < retention->keeps->items.n; i++) {
        const struct keep *keep = &retention->keeps->items.items[i];

        if (slice_equal(slice_from(keep->tenant), name) && keep->from_ns < start_ns + DAY_NS &&
            keep->until_ns > start_ns)
            return 0; /* kept ranges of a tenant keep its whole day, until the day itself is past its time */
    }
    if (dayset_acquire(days, start_ns, DAYSET_WRITE, &day, err) < 0)
        return -1;
    tenant = day ? day_find_tenant(day, name) : 0;
    if (tenant) {
        result = hour_close_due(day, INT64_MAX, err);
        if (!result && !stop_without_heads(day))
            tenant = 0; /* somebody wrote meanwhile: the next time, then */
        if (!result && tenant)
            result = drop_tenant_from(day, tenant, err);
        if (!result && tenant)
            result = kv_compact(day->kv, day->block_family, err);
    }
    dayset_release(days, day);
    if (result < 0)
        return error_wrap(err, "dropping a day of tenant '%.*s'", (int)name.len, name.ptr);
    if (!tenant)
        return 0;
    (*n_dropped)++;
    log_info("store", "day %s of tenant '%.*s' dropped: %s", day_name(start_ns, text), (int)name.len, name.ptr, why);
    return 0;
}

static const struct store_tenant_limits *find_limits(const struct retention *retention, const char *tenant)
{
    for (uint32_t i = 0; i < retention->n_tenants; i++)
        if (strcmp(retention->tenants[i].tenant, tenant) == 0)
            return &retention->tenants[i];
    return NULL;
}

static bool outlives(const struct retention *retention, const char *tenant, int64_t age_ns)
{
    const struct store_tenant_limits *limits = find_limits(retention, tenant);

    return limits && limits->retention_ns > age_ns;
}

/* The tenants of a day: those whose own retention is not over, and the others. */
struct tenants_of_day {
    const struct retention *retention;
    int64_t age_ns;
    struct arena *arena;
    const char **others;
    size_t n_others, n_alive;
};

static int sort_tenants(void *context, struct day *day, struct error *err)
{
    struct tenants_of_day *tenants = context;

    LOCK_SCOPE(&day->lock);
    tenants->others = ARENA_ARRAY(tenants->arena, const char *, day->tenants.n, err);
    if (!tenants->others)
        return -1;
    for (size_t i = 0; i < day->tenants.n; i++) {
        const char *name = day->tenants.items[i].name;

        if (outlives(tenants->retention, name, tenants->age_ns)) {
            tenants->n_alive++;
            continue;
        }
        name = arena_copy(tenants->arena, slice_from(name), err).ptr;
        if (!name)
            return -1;
        tenants->others[tenants->n_others++] = name;
    }
    return 0;
}

/* A day past the common retention: it goes, unless a tenant's own is longer; then only the others go. */
static int forget_old_day(struct dayset *days, const struct retention *retention, int64_t start_ns, int64_t now_ns,
                          uint32_t *n_dropped, struct error *err)
{
    struct arena arena;
    struct tenants_of_day tenants = { .retention = retention, .age_ns = now_ns - start_ns - DAY_NS, .arena = &arena };
    struct day *day = NULL;
    int result = 0;

    arena_init(&arena, 0);
    /* Not by dayset_each, which goes on without days that cannot be opened: here that must stop us. */
    if (retention->n_tenants && dayset_acquire(days, start_ns, DAYSET_READ, &day, err) < 0)
        result = -1;
    else if (day)
        result = sort_tenants(&tenants, day, err);
    dayset_release(days, day);
    if (!result && !tenants.n_alive)
        result = forget(days, retention, start_ns, "its retention is over", n_dropped, err);
    for (size_t i = 0; !result && tenants.n_alive && i < tenants.n_others; i++) {
        struct tenant_day measure = { .name = slice_from(tenants.others[i]) };

        result = dayset_each(days, start_ns, start_ns + 1, DAYSET_READ, measure_tenant, &measure, err);
        if (!result && measure.has_data)
            result = forget_tenant(days, retention, start_ns, measure.name, "its retention is over", n_dropped, err);
    }
    arena_done(&arena);
    return result;
}

static int apply_age(struct dayset *days, const struct retention *retention, const struct dayset_list *list,
                     int64_t now_ns, uint32_t *n_dropped, struct error *err)
{
    int result = 0;

    for (size_t i = 0; i < list->n; i++) {
        struct error failure;

        if (list->starts_ns[i] + DAY_NS <= now_ns - retention->max_age_ns &&
            forget_old_day(days, retention, list->starts_ns[i], now_ns, n_dropped, &failure) < 0)
            note_failure(&result, &failure, err);
    }
    return result;
}

static int apply_tenant(struct dayset *days, const struct retention *retention,
                        const struct store_tenant_limits *limits, const struct dayset_list *list, int64_t now_ns,
                        uint32_t *n_dropped, struct error *err)
{
    uint64_t total = 0;

    for (size_t i = list->n; i-- > 0;) {
        struct tenant_day measure = { .name = slice_from(limits->tenant) };
        bool is_old, is_over;

        if (dayset_each(days, list->starts_ns[i], list->starts_ns[i] + 1, DAYSET_READ, measure_tenant, &measure, err) <
            0)
            return -1;
        total += measure.bytes;
        is_old = limits->retention_ns && list->starts_ns[i] + DAY_NS <= now_ns - limits->retention_ns;
        is_over = limits->retention_bytes && total > limits->retention_bytes && list->starts_ns[i] + DAY_NS <= now_ns;
        if (measure.has_data && (is_old || is_over) &&
            forget_tenant(days, retention, list->starts_ns[i], measure.name,
                          is_old ? "its retention is over" : "the limit on its bytes is reached", n_dropped, err) < 0)
            return -1;
    }
    return 0;
}

int retention_apply(struct dayset *days, const struct retention *retention, int64_t now_ns, uint32_t *ret_n_dropped,
                    struct error *err)
{
    struct dayset_list list;
    struct arena arena;
    struct error failure;
    int result = 0;

    *ret_n_dropped = 0;
    arena_init(&arena, 0);
    if (dayset_list(days, &arena, &list, err) < 0) {
        arena_done(&arena);
        return -1;
    }
    if (apply_age(days, retention, &list, now_ns, ret_n_dropped, &failure) < 0)
        note_failure(&result, &failure, err);
    if (apply_bytes(days, retention, &list, now_ns, ret_n_dropped, &failure) < 0)
        note_failure(&result, &failure, err);
    for (uint32_t i = 0; i < retention->n_tenants; i++)
        if (apply_tenant(days, retention, &retention->tenants[i], &list, now_ns, ret_n_dropped, &failure) < 0)
            note_failure(&result, &failure, err);
    arena_done(&arena);
    return result;
}
