// SPDX-License-Identifier: Apache-2.0
#include "store/retention.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "block/storekey.h"
#include "store/hour.h"

#include <dirent.h>
#include <stdio.h>

enum { PATH_BYTES = 4096, MAX_DEPTH = 16, MAX_DAYS = 1 << 20 };

/* What a day holds of a tenant with limits of its own. */
struct holding {
    bool is_there; /* the tenant is known in the day */
    bool has_data;
    uint64_t bytes;
};

/* What is known of a day, as long as nobody opens it for writing. */
struct retention_day {
    int64_t start_ns;
    uint32_t n_openings; /* when that was found out */
    bool is_measured;    /* holdings are known */
    bool has_no_others;  /* tenants without limits have no data in it, or keep it: ranges with this hash */
    uint64_t others_hash;
    bool is_reduced; /* to the kept ranges with this hash */
    uint64_t kept_hash;
    struct holding *holdings; /* of each tenant with limits */
};

/* Retention at work. */
struct forgetting {
    struct dayset *days;
    const struct retention *retention;
    struct retention_memory *memory;
    int64_t now_ns;
    uint32_t n_dropped;
};

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

/* --- what is known of days --- */

static void forget_known(struct retention_memory *memory, size_t place)
{
    memory_free(memory->days.items[place].holdings);
    memory->days.items[place] = memory->days.items[--memory->days.n];
}

void retention_memory_done(struct retention_memory *memory)
{
    while (memory->days.n)
        forget_known(memory, memory->days.n - 1);
    VEC_DONE(&memory->days);
}

static bool is_listed(const struct dayset_list *list, int64_t start_ns)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->starts_ns[i] == start_ns)
            return true;
    return false;
}

/* Days that are gone need not be known. */
static void forget_gone(struct retention_memory *memory, const struct dayset_list *list)
{
    for (size_t i = memory->days.n; i-- > 0;)
        if (!is_listed(list, memory->days.items[i].start_ns))
            forget_known(memory, i);
}

/* What is known of a day; nothing, if it was opened for writing since. NULL on failure. Valid until the next call. */
static struct retention_day *recall(struct forgetting *work, int64_t start_ns, struct error *err)
{
    uint32_t n_openings = dayset_openings(work->days, start_ns);
    struct retention_day *known = NULL;

    VEC_EACH (&work->memory->days, day)
        if (day->start_ns == start_ns)
            known = day;
    if (!known) {
        known = VEC_PUSH(&work->memory->days, MAX_DAYS, err);
        if (!known)
            return NULL;
        known->start_ns = start_ns;
    }
    if (!known->holdings)
        known->holdings = memory_alloc_zero((work->retention->n_tenants + (size_t)1) * sizeof(*known->holdings), err);
    if (!known->holdings)
        return NULL;
    if (known->n_openings != n_openings)
        *known = (struct retention_day){ .start_ns = start_ns, .n_openings = n_openings, .holdings = known->holdings };
    return known;
}

/* A day that is open for writing may change at any moment: what was found out holds for now. */
static void doubt(struct retention_day *known, const struct day *day)
{
    if (day->mode == KV_WRITE)
        known->n_openings = UINT32_MAX;
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

/* Whether the day holds nothing but kept ranges, and need not be opened. */
static int look_whether_reduced(struct forgetting *work, int64_t start_ns, uint64_t wanted, bool *ret_is_reduced,
                                struct error *err)
{
    struct retention_day *known = recall(work, start_ns, err);
    struct day *day;
    int result;

    if (!known)
        return -1;
    *ret_is_reduced = known->is_reduced && known->kept_hash == wanted;
    if (*ret_is_reduced)
        return 0;
    if (dayset_borrow(work->days, start_ns, DAYSET_READ, &day, err) < 0)
        return -1;
    *ret_is_reduced = true;
    if (!day)
        return 0;
    result = is_reduced(day, wanted, ret_is_reduced, err);
    known->is_reduced = !result && *ret_is_reduced;
    known->kept_hash = wanted;
    doubt(known, day);
    dayset_give_back(work->days, day);
    return result;
}

static int reduce(struct forgetting *work, int64_t start_ns, bool *ret_is_done, struct error *err)
{
    struct day *day;
    bool is_done;
    int result;

    *ret_is_done = false;
    if (look_whether_reduced(work, start_ns, keeps_hash(work->retention->keeps, start_ns), &is_done, err) < 0)
        return -1;
    if (is_done)
        return 0;
    if (dayset_borrow(work->days, start_ns, DAYSET_WRITE, &day, err) < 0)
        return -1;
    if (!day)
        return 0;
    result = reduce_open_day(work->retention, day, err);
    dayset_give_back(work->days, day);
    if (result < 0)
        return error_wrap(err, "reducing a day to its kept ranges");
    *ret_is_done = true;
    return 0;
}

/* --- days --- */

/* Drops the day, or what of it is not kept. `*ret_is_gone` says that it takes no room any more than it must. */
static int forget(struct forgetting *work, int64_t start_ns, const char *why, struct error *err)
{
    char name[DAY_NAME_BYTES];
    bool is_done = true;

    if (is_kept(work->retention->keeps, start_ns)) {
        if (reduce(work, start_ns, &is_done, err) < 0)
            return -1;
        if (is_done)
            log_info("store", "day %s reduced to its kept ranges: %s", day_name(start_ns, name), why);
    } else {
        if (dayset_drop(work->days, start_ns, err) < 0)
            return error_wrap(err, "dropping day %s", day_name(start_ns, name));
        log_info("store", "day %s dropped: %s", day_name(start_ns, name), why);
    }
    work->n_dropped += is_done;
    return 0;
}

/* Remembers the first failure and goes on. */
static void note_failure(int *result, const struct error *failure, struct error *err)
{
    if (!*result)
        *err = *failure;
    *result = -1;
}

/* What the limit on bytes counts: the days, and what was set aside. */
static uint64_t counted_bytes(const struct dayset *days)
{
    return lasting_bytes(days->directory) + (days->quarantine_dir ? lasting_bytes(days->quarantine_dir) : 0);
}

static int apply_bytes(struct forgetting *work, const struct dayset_list *list, struct error *err)
{
    const struct retention *retention = work->retention;
    bool is_limited = retention->max_bytes || retention->missing_bytes;
    uint64_t total = is_limited ? counted_bytes(work->days) : 0;
    uint64_t given_bytes = retention->max_bytes ? retention->max_bytes : UINT64_MAX;
    uint64_t max_bytes = MIN(given_bytes, total - MIN(total, retention->missing_bytes));
    const char *why = max_bytes < given_bytes ? "the disk is getting full" : "the limit on bytes is reached";
    int result = 0;

    for (size_t i = 0; i < list->n && total > max_bytes; i++) {
        char path[PATH_BYTES];
        uint64_t before, after;
        struct error failure;

        /* Today is never dropped, nor is the newest day. */
        if (list->starts_ns[i] + DAY_NS > work->now_ns || i + 1 == list->n)
            break;
        dayset_path(work->days, list->starts_ns[i], path, sizeof(path));
        before = lasting_bytes(path);
        if (!before)
            continue;
        if (forget(work, list->starts_ns[i], why, &failure) < 0) {
            note_failure(&result, &failure, err);
            continue;
        }
        after = lasting_bytes(path);
        total -= MIN(total, before - MIN(before, after));
    }
    return result;
}

/* --- tenants --- */

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
static int measure_tenant(struct day *day, struct slice name, struct holding *ret_holding, struct error *err)
{
    uint32_t tenant = day_find_tenant(day, name);
    struct holding holding = { .is_there = tenant != 0 };
    struct day_view view;
    int result = 0;

    *ret_holding = holding;
    if (!tenant)
        return 0;
    if (day_view_open(day, tenant, &view, err) < 0)
        return -1;
    for (size_t i = 0; i < view.head_copies.n && !result; i++)
        result = find_rows(&view, &view.head_copies.items[i], tenant, &holding.has_data, err);
    holding.bytes = index_bytes(day, tenant);
    for (size_t i = 0; i < view.markers.n && !result; i++) {
        struct tally tally;
        uint64_t bytes;

        result = find_tally(day, &view.markers.items[i], tenant, &tally, &bytes, err);
        if (!result && bytes) {
            holding.bytes += tally.bytes;
            holding.has_data = true;
        }
    }
    day_view_close(&view);
    if (!result)
        *ret_holding = holding;
    return result;
}

/* What is known of the day, with what it holds of all tenants with limits. The day is opened for that if need be; when that
 * fails it must stop us, for whoever thinks that it holds nothing would drop it. */
static struct retention_day *measure_day(struct forgetting *work, int64_t start_ns, struct error *err)
{
    struct retention_day *known = recall(work, start_ns, err);
    struct day *day;
    int result = 0;

    if (!known || known->is_measured)
        return known;
    if (dayset_borrow(work->days, start_ns, DAYSET_READ, &day, err) < 0)
        return NULL;
    for (uint32_t i = 0; i < work->retention->n_tenants && !result; i++) {
        known->holdings[i] = (struct holding){ 0 };
        if (day)
            result = measure_tenant(day, slice_from(work->retention->tenants[i].tenant), &known->holdings[i], err);
    }
    known->is_measured = !result;
    if (day)
        doubt(known, day);
    dayset_give_back(work->days, day);
    return result ? NULL : known;
}

/* Markers count what is there: without the tenant that is less. */
static int recount_marker(struct day *day, struct marker *marker, uint32_t tenant, struct kv_batch *batch,
                          struct error *err)
{
    struct storekey key = storekey_marker(marker->hour, marker->number);
    struct buffer value;
    struct tally tally;
    uint64_t bytes;
    int result;

    if (find_tally(day, marker, tenant, &tally, &bytes, err) < 0)
        return -1;
    if (!bytes)
        return 0;
    marker->n_rows -= MIN(marker->n_rows, tally.n_rows);
    marker->n_samples -= MIN(marker->n_samples, tally.n_samples);
    marker->bytes -= MIN(marker->bytes, tally.bytes + bytes);
    buffer_init(&value, 0);
    marker_encode(marker, &value);
    result = buffer_check(&value, err);
    if (!result)
        kv_batch_put(batch, day->kv, day->block_family, storekey_slice(&key), buffer_slice(&value));
    buffer_done(&value);
    return result;
}

static int recount_markers(struct day_view *view, uint32_t tenant, struct kv_batch *batch, struct error *err)
{
    for (size_t i = 0; i < view->markers.n; i++)
        if (recount_marker(view->day, &view->markers.items[i], tenant, batch, err) < 0)
            return -1;
    return 0;
}

/* The day knows its markers as they are in the database: the next tenant is subtracted from these. */
static void take_markers(const struct day_view *view)
{
    struct day *day = view->day;

    LOCK_SCOPE(&day->lock);
    for (size_t i = 0; i < day->markers.n; i++)
        for (size_t k = 0; k < view->markers.n; k++)
            if (day->markers.items[i].hour == view->markers.items[k].hour &&
                day->markers.items[i].number == view->markers.items[k].number)
                day->markers.items[i] = view->markers.items[k];
}

/* All of one tenant in a day: everything with its id in the keys. */
static int drop_tenant_from(struct day *day, uint32_t tenant, struct error *err)
{
    static const char index_letters[] = "sdgit";
    static const enum storekey_kind kinds[] = { STOREKEY_GROUP_SLOT, STOREKEY_GROUP_HOUR, STOREKEY_SUMS,
                                                STOREKEY_SAMPLES,    STOREKEY_TALLY,      STOREKEY_WINDOWS,
                                                STOREKEY_SPANS };
    struct kv_batch *batch;
    struct day_view view;
    int result;

    if (kv_batch_new(&batch, err) < 0)
        return -1;
    for (const char *letter = index_letters; *letter; letter++) {
        struct storekey from = storekey_tenant(tenant), until = storekey_tenant(tenant + 1);

        from.bytes[0] = until.bytes[0] = *letter;
        kv_batch_delete_range(batch, day->kv, KV_DEFAULT, storekey_slice(&from), storekey_slice(&until));
        from = storekey_copy(&from);
        until = storekey_copy(&until);
        kv_batch_delete_range(batch, day->kv, day->block_family, storekey_slice(&from), storekey_slice(&until));
    }
    for (uint8_t hour = 0; hour < 24; hour++)
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
            struct storekey from =
                storekey_block((struct storekey_block){ .hour = hour, .kind = kinds[i], .tenant = tenant });
            struct storekey until =
                storekey_block((struct storekey_block){ .hour = hour, .kind = kinds[i], .tenant = tenant + 1 });

            kv_batch_delete_range(batch, day->kv, day->block_family, storekey_slice(&from), storekey_slice(&until));
        }
    result = day_view_open(day, tenant, &view, err);
    if (!result)
        result = recount_markers(&view, tenant, batch, err);
    if (!result)
        result = kv_write(day->kv, batch, true, err);
    if (!result)
        take_markers(&view);
    day_view_close(&view);
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

/* Tenants of a day that go. */
struct doomed {
    const char *tenant;
    const char *why;
};

/* Kept ranges of a tenant keep its whole day, until the day itself is past its time. */
static bool is_tenant_kept(const struct retention *retention, int64_t start_ns, const char *tenant)
{
    for (size_t i = 0; i < retention->keeps->items.n; i++) {
        const struct keep *keep = &retention->keeps->items.items[i];

        if (strcmp(keep->tenant, tenant) == 0 && keep->from_ns < start_ns + DAY_NS && keep->until_ns > start_ns)
            return true;
    }
    return false;
}

static int drop_tenants(struct forgetting *work, struct day *day, const struct doomed *doomed, size_t n,
                        struct error *err)
{
    if (hour_close_due(day, INT64_MAX, err) < 0)
        return -1;
    if (!stop_without_heads(day))
        return 0; /* somebody wrote meanwhile: the next time, then */
    for (size_t i = 0; i < n; i++) {
        uint32_t tenant = day_find_tenant(day, slice_from(doomed[i].tenant));

        if (!tenant)
            continue;
        if (drop_tenant_from(day, tenant, err) < 0)
            return error_wrap(err, "dropping a day of tenant '%s'", doomed[i].tenant);
        work->n_dropped++;
        log_info("store", "day %s of tenant '%s' dropped: %s", day->name, doomed[i].tenant, doomed[i].why);
    }
    return kv_compact(day->kv, day->block_family, err);
}

static int forget_tenants(struct forgetting *work, int64_t start_ns, const struct doomed *doomed, size_t n,
                          struct error *err)
{
    struct day *day;
    int result = 0;

    if (!n)
        return 0;
    if (dayset_borrow(work->days, start_ns, DAYSET_WRITE, &day, err) < 0)
        return -1;
    if (day)
        result = drop_tenants(work, day, doomed, n, err);
    dayset_give_back(work->days, day);
    return result;
}

static const struct store_tenant_limits *find_limits(const struct retention *retention, const char *tenant)
{
    for (uint32_t i = 0; i < retention->n_tenants; i++)
        if (strcmp(retention->tenants[i].tenant, tenant) == 0)
            return &retention->tenants[i];
    return NULL;
}

/* The tenants without limits that have data in the day, in `arena`. */
static int list_others(struct forgetting *work, struct day *day, struct arena *arena, struct doomed *ret_others,
                       size_t *ret_n, struct error *err)
{
    size_t n = 0;

    for (size_t i = 0;; i++) {
        struct holding holding;
        struct slice name;

        lock_mutex_acquire(&day->lock);
        name = i < day->tenants.n ? slice_from(day->tenants.items[i].name) : (struct slice){ 0 };
        lock_mutex_release(&day->lock);
        if (!name.ptr)
            break;
        if (find_limits(work->retention, name.ptr) || is_tenant_kept(work->retention, day->start_ns, name.ptr))
            continue;
        if (measure_tenant(day, name, &holding, err) < 0)
            return -1;
        name = holding.has_data ? arena_copy(arena, name, err) : name;
        if (!name.ptr)
            return -1;
        if (holding.has_data)
            ret_others[n++] = (struct doomed){ name.ptr, "its retention is over" };
    }
    *ret_n = n;
    return 0;
}

/* Drops those from the day whose retention is the common one. */
static int forget_others(struct forgetting *work, struct retention_day *known, struct error *err)
{
    uint64_t hash = keeps_hash(work->retention->keeps, known->start_ns);
    struct doomed *others = NULL;
    struct arena arena;
    struct day *day;
    size_t n = 0;
    int result = 0;

    if (known->has_no_others && known->others_hash == hash)
        return 0;
    if (dayset_borrow(work->days, known->start_ns, DAYSET_READ, &day, err) < 0)
        return -1;
    arena_init(&arena, 0);
    if (day) {
        lock_mutex_acquire(&day->lock);
        others = ARENA_ARRAY(&arena, struct doomed, day->tenants.n, err);
        lock_mutex_release(&day->lock);
        result = others ? list_others(work, day, &arena, others, &n, err) : -1;
        known->has_no_others = !result && !n;
        known->others_hash = hash;
        doubt(known, day);
    }
    dayset_give_back(work->days, day);
    if (!result)
        result = forget_tenants(work, known->start_ns, others, n, err);
    arena_done(&arena);
    return result;
}

/* A day past the common retention: it goes, unless a tenant's own is longer; then only the others go. */
static int forget_old_day(struct forgetting *work, int64_t start_ns, struct error *err)
{
    const struct retention *retention = work->retention;
    int64_t age_ns = work->now_ns - start_ns - DAY_NS;
    struct retention_day *known = NULL;
    bool is_alive = false;

    if (retention->n_tenants && !(known = measure_day(work, start_ns, err)))
        return -1;
    for (uint32_t i = 0; i < retention->n_tenants; i++)
        is_alive |= known->holdings[i].is_there && retention->tenants[i].retention_ns > age_ns;
    return is_alive ? forget_others(work, known, err) : forget(work, start_ns, "its retention is over", err);
}

static int apply_age(struct forgetting *work, const struct dayset_list *list, struct error *err)
{
    int result = 0;

    for (size_t i = 0; i < list->n; i++) {
        struct error failure;

        if (list->starts_ns[i] + DAY_NS <= work->now_ns - work->retention->max_age_ns &&
            forget_old_day(work, list->starts_ns[i], &failure) < 0)
            note_failure(&result, &failure, err);
    }
    return result;
}

/* One day for all tenants with limits. `totals` are the bytes of each in this day and later ones, `doomed` is room. */
static int apply_tenants_to(struct forgetting *work, int64_t start_ns, uint64_t *totals, struct doomed *doomed,
                            struct error *err)
{
    const struct retention_day *known = measure_day(work, start_ns, err);
    size_t n = 0;

    if (!known)
        return -1;
    for (uint32_t i = 0; i < work->retention->n_tenants; i++) {
        const struct store_tenant_limits *limits = &work->retention->tenants[i];
        int64_t age_ns = limits->retention_ns ? limits->retention_ns : work->retention->max_age_ns;
        bool is_old = start_ns + DAY_NS <= work->now_ns - age_ns, is_over;

        totals[i] += known->holdings[i].bytes;
        is_over = limits->retention_bytes && totals[i] > limits->retention_bytes && start_ns + DAY_NS <= work->now_ns;
        if (known->holdings[i].has_data && (is_old || is_over) &&
            !is_tenant_kept(work->retention, start_ns, limits->tenant))
            doomed[n++] = (struct doomed){ limits->tenant,
                                           is_old ? "its retention is over" : "the limit on its bytes is reached" };
    }
    return forget_tenants(work, start_ns, doomed, n, err);
}

/* Days are the outer loop, so that each is opened once, if at all; the newest first, so that bytes add up. */
static int apply_tenants(struct forgetting *work, const struct dayset_list *list, struct arena *arena,
                         struct error *err)
{
    uint32_t n = work->retention->n_tenants;
    uint64_t *totals = arena_alloc_zero(arena, (n + (size_t)1) * sizeof(*totals), err);
    struct doomed *doomed = totals ? ARENA_ARRAY(arena, struct doomed, n, err) : NULL;
    int result = 0;

    if (!doomed)
        return -1;
    for (size_t i = list->n; n && i-- > 0;) {
        struct error failure;

        if (apply_tenants_to(work, list->starts_ns[i], totals, doomed, &failure) < 0)
            note_failure(&result, &failure, err);
    }
    return result;
}

int retention_apply(struct dayset *days, const struct retention *retention, struct retention_memory *memory,
                    int64_t now_ns, uint32_t *ret_n_dropped, struct error *err)
{
    struct forgetting work = { .days = days, .retention = retention, .memory = memory, .now_ns = now_ns };
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
    forget_gone(memory, &list);
    if (apply_age(&work, &list, &failure) < 0)
        note_failure(&result, &failure, err);
    if (apply_bytes(&work, &list, &failure) < 0)
        note_failure(&result, &failure, err);
    if (apply_tenants(&work, &list, &arena, &failure) < 0)
        note_failure(&result, &failure, err);
    *ret_n_dropped = work.n_dropped;
    arena_done(&arena);
    return result;
}
