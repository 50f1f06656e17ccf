// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "store/commit.h"
#include "store/knownid.h"
#include "store/rocks_internal.h"

#include <stdlib.h>
#include <sys/statvfs.h>

static const int64_t disk_period_ns = CLOCK_NS_PER_SECOND / 5;

/* --- the disk --- */

/* Looks at the free space, at most a few times a second, and says whether writing may go on. */
int rocks_check_disk(struct rocks *rocks, bool is_forced, struct error *err)
{
    int64_t now = clock_mono_ns();
    struct statvfs info;
    bool was_full;

    LOCK_SCOPE(&rocks->lock);
    if (is_forced || now - rocks->disk_checked_mono_ns >= disk_period_ns || !rocks->disk_checked_mono_ns) {
        rocks->disk_checked_mono_ns = now;
        if (statvfs(rocks->datadir.path, &info) == 0) {
            rocks->free_bytes = (uint64_t)info.f_bavail * info.f_frsize;
            was_full = rocks->is_full;
            /* Once full, a little more must be free before writing begins again, or it would flutter. */
            rocks->is_full =
                rocks->free_bytes < rocks->options.min_free_bytes + (was_full ? rocks->options.min_free_bytes / 8 : 0);
            if (rocks->is_full && !was_full)
                log_error("store",
                          "only %llu MiB are free on the disk of '%s' (min-free %llu MiB): nothing more is "
                          "accepted until there is room",
                          (unsigned long long)rocks->free_bytes >> 20, rocks->datadir.path,
                          (unsigned long long)rocks->options.min_free_bytes >> 20);
            else if (!rocks->is_full && was_full)
                log_info("store", "there is room on the disk again: accepting");
        }
    }
    storemetrics_set(&rocks->context.metrics, STOREMETRIC_FULL, rocks->is_full);
    if (rocks->is_full)
        return error_set(err, ERR_FULL, "the disk of '%s' has less than %llu MiB free: free some, or lower --min-free",
                         rocks->datadir.path, (unsigned long long)rocks->options.min_free_bytes >> 20);
    return 0;
}

/* --- writing --- */

static struct scratch *take_scratch(struct rocks *rocks, struct error *err)
{
    struct scratch *scratch;

    lock_mutex_acquire(&rocks->lock);
    scratch = rocks->scratches;
    if (scratch) {
        rocks->scratches = scratch->next;
        rocks->n_scratches--;
    }
    lock_mutex_release(&rocks->lock);
    if (scratch)
        return scratch;
    scratch = MEMORY_NEW(struct scratch, err);
    if (scratch) {
        arena_init(&scratch->content, 0);
        arena_init(&scratch->plan, 0);
    }
    return scratch;
}

static void free_scratch(struct scratch *scratch)
{
    arena_done(&scratch->content);
    arena_done(&scratch->plan);
    memory_free(scratch);
}

static void give_scratch(struct rocks *rocks, struct scratch *scratch)
{
    /* A huge batch leaves huge arenas, which need not stay. */
    bool is_kept = scratch->content.used_bytes + scratch->plan.used_bytes < rocks->budget.total_bytes / 64;

    arena_reset(&scratch->content);
    arena_reset(&scratch->plan);
    lock_mutex_acquire(&rocks->lock);
    is_kept = is_kept && rocks->n_scratches < MAX_SCRATCHES;
    if (is_kept) {
        scratch->next = rocks->scratches;
        rocks->scratches = scratch;
        rocks->n_scratches++;
    }
    lock_mutex_release(&rocks->lock);
    if (!is_kept)
        free_scratch(scratch);
}

/* A write on its way. */
struct writing {
    struct rocks *rocks;
    const struct store_write *write;
    struct slice tenant;
    struct content content;
    struct scratch *scratch;
    int64_t *starts_ns; /* of each profile; INT64_MIN = refused */
    struct store_receipt *receipt;
};

static bool is_zero_id(const uint8_t *id)
{
    static const uint8_t zero[16];

    return memcmp(id, zero, sizeof(zero)) == 0;
}

/* The id of profile `i`: its own, or one made of the upload's. */
static const uint8_t *find_id(const struct writing *writing, uint32_t i, uint8_t made[static 16])
{
    const struct profile *profile = &writing->write->batch->profiles[i];
    struct hash128 hash;

    if (!is_zero_id(profile->profile_id))
        return profile->profile_id;
    if (!writing->write->upload_id.len)
        return NULL;
    hash = hash_fold(hash_bytes(writing->write->upload_id, writing->rocks->datadir.seed), i, 1);
    memcpy(made, &hash.a, 8);
    memcpy(made + 8, &hash.b, 8);
    return made;
}

static int64_t find_start(const struct writing *writing, const struct profile *profile, int64_t now_ns)
{
    if (profile->start_ns)
        return profile->start_ns;
    if (writing->write->time_ns)
        return writing->write->time_ns;
    return now_ns - MAX(profile->duration_ns, 0);
}

static void refuse(struct writing *writing, int64_t start_ns, int64_t edge_ns, bool is_old)
{
    char start[CLOCK_TEXT_BYTES], edge[CLOCK_TEXT_BYTES];

    if (writing->receipt->n_refused++)
        return;
    error_set(&writing->receipt->refusal, ERR_INVALID,
              is_old ? "the profile starts at %s, which is too old: the oldest start accepted now is %s (--max-age)"
                     : "the profile starts at %s, which is too far ahead: the latest start accepted now is %s "
                       "(--max-ahead); is the clock of the sender right?",
              clock_format(start_ns, CLOCK_ZONE_UTC, 3, start), clock_format(edge_ns, CLOCK_ZONE_UTC, 3, edge));
}

/* Whether a profile without a time of its own was kept on the day before: sent again after midnight it would
 * seem new. */
static int is_known_yesterday(struct writing *writing, uint32_t i, int64_t start_ns, bool *ret_is_known,
                              struct error *err)
{
    const struct store_write *write = writing->write;
    uint8_t made[16];
    const uint8_t *id = find_id(writing, i, made);
    struct knownid known = { 0 };
    struct day *day;
    uint32_t tenant;
    int result = 0;

    *ret_is_known = false;
    if (!id || write->batch->profiles[i].start_ns || write->time_ns)
        return 0;
    if (dayset_acquire(&writing->rocks->days, day_start(start_ns) - DAY_NS, DAYSET_READ, &day, err) < 0)
        return -1;
    tenant = day ? day_find_tenant(day, writing->tenant) : 0;
    if (tenant)
        result = knownid_find(day, tenant, id, &known, err);
    dayset_release(&writing->rocks->days, day);
    *ret_is_known = known.is_known;
    return result;
}

/* Finds the start of each profile, and refuses what lies outside. */
static int place_profiles(struct writing *writing, struct error *err)
{
    const struct batch *batch = writing->write->batch;
    const struct rocks *rocks = writing->rocks;
    const struct store_tenant_limits *limits = rocks_find_limits(rocks, writing->tenant);
    int64_t now_ns = clock_now_ns(), max_age_ns = rocks->options.max_age_ns;
    int64_t oldest_ns, latest_ns = now_ns + rocks->options.max_ahead_ns;

    if (limits && limits->retention_ns)
        max_age_ns =
            max_age_ns == rocks->options.retention_ns ? limits->retention_ns : MIN(max_age_ns, limits->retention_ns);
    oldest_ns = now_ns - max_age_ns;
    writing->starts_ns = ARENA_ARRAY(&writing->scratch->content, int64_t, batch->n_profiles, err);
    if (!writing->starts_ns)
        return -1;
    for (uint32_t i = 0; i < batch->n_profiles; i++) {
        int64_t start_ns = find_start(writing, &batch->profiles[i], now_ns);

        bool is_known;

        if (is_known_yesterday(writing, i, start_ns, &is_known, err) < 0)
            return -1;
        writing->receipt->n_duplicate += is_known;
        writing->starts_ns[i] = is_known ? INT64_MIN : start_ns;
        if (is_known)
            continue;
        if (start_ns >= oldest_ns && start_ns <= latest_ns)
            continue;
        refuse(writing, start_ns, start_ns < oldest_ns ? oldest_ns : latest_ns, start_ns < oldest_ns);
        writing->starts_ns[i] = INT64_MIN;
    }
    return 0;
}

static void count_profiles(struct store_receipt *receipt, const struct commit *commit)
{
    if (commit->n_refused && !receipt->n_refused)
        receipt->refusal = commit->refusal;
    receipt->n_refused += commit->n_refused;
    for (size_t i = 0; i < commit->profiles.n; i++) {
        const struct commit_profile *profile = &commit->profiles.items[i];

        receipt->n_duplicate += profile->is_duplicate;
        if (profile->is_duplicate)
            continue;
        receipt->n_written++;
        receipt->n_samples += profile->n_samples;
        receipt->n_series += profile->n_rows;
    }
    receipt->labels.names_repaired += commit->counts.names_repaired;
    receipt->labels.names_cut += commit->counts.names_cut;
    receipt->labels.values_cut += commit->counts.values_cut;
    receipt->labels.values_repaired += commit->counts.values_repaired;
    receipt->labels.moved_to_samples += commit->counts.moved_to_samples;
    receipt->labels.splits_moved += commit->counts.splits_moved;
}

static int commit_day(struct writing *writing, struct day *day, struct error *err)
{
    const struct batch *batch = writing->write->batch;
    struct commit commit;
    int result = commit_init(&commit, day, writing->tenant, &batch->tables, &writing->content,
                             &writing->scratch->content, &writing->scratch->plan, err);

    commit.labels = writing->write->labels;
    commit.n_labels = writing->write->n_labels;
    for (uint32_t i = 0; i < batch->n_profiles && !result; i++) {
        uint8_t made[16];

        if (writing->starts_ns[i] != INT64_MIN && day_start(writing->starts_ns[i]) == day->start_ns)
            result = commit_add(&commit, &batch->profiles[i], writing->starts_ns[i], find_id(writing, i, made), err);
    }
    if (!result)
        result = commit_finish(&commit, err);
    if (!result)
        count_profiles(writing->receipt, &commit);
    commit_done(&commit);
    return result;
}

/* Remembers an old day for close_hours; today and yesterday stay open. */
void rocks_note_late(struct rocks *rocks, int64_t start_ns)
{
    if (start_ns + 2 * DAY_NS > clock_now_ns())
        return;
    LOCK_SCOPE(&rocks->lock);
    if (rocks_late_days_have(&rocks->late, start_ns))
        return;
    if (rocks->late.n < MAX_LATE_DAYS)
        rocks->late.starts_ns[rocks->late.n++] = start_ns;
    else
        rocks->late.has_more = true;
}

/* Writes the profiles of one day. A day that had to stop meanwhile is opened again once. */
static int write_day(struct writing *writing, int64_t start_ns, struct error *err)
{
    struct dayset *days = &writing->rocks->days;

    for (unsigned attempt = 0;; attempt++) {
        struct day *day;
        int result;

        if (dayset_acquire(days, start_ns, DAYSET_CREATE, &day, err) < 0)
            return -1;
        result = commit_day(writing, day, err);
        dayset_release(days, day);
        rocks_note_late(writing->rocks, start_ns);
        if (!result || err->code != ERR_CLOSED || attempt)
            return result;
    }
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* The distinct days of the profiles. */
static int list_days(struct writing *writing, int64_t **ret_days, uint32_t *ret_n, struct error *err)
{
    uint32_t n_profiles = writing->write->batch->n_profiles, n = 0, unique = 0;
    int64_t *days = ARENA_ARRAY(&writing->scratch->content, int64_t, n_profiles, err);

    if (!days)
        return -1;
    for (uint32_t i = 0; i < n_profiles; i++) {
        int64_t start_ns = writing->starts_ns[i];

        if (start_ns != INT64_MIN && (!n || days[n - 1] != day_start(start_ns)))
            days[n++] = day_start(start_ns);
    }
    qsort(days, n, sizeof(*days), by_time);
    for (uint32_t i = 0; i < n; i++)
        if (!unique || days[unique - 1] != days[i])
            days[unique++] = days[i];
    *ret_days = days;
    *ret_n = unique;
    return 0;
}

static int check_any_is_left(const struct writing *writing, struct error *err)
{
    uint32_t n_profiles = writing->write->batch->n_profiles;

    if (!n_profiles || writing->receipt->n_refused < n_profiles)
        return 0;
    *err = writing->receipt->refusal;
    return -1;
}

static int write_all(struct writing *writing, struct error *err)
{
    const struct batch *batch = writing->write->batch;
    uint32_t n_days;
    int64_t *days;

    if (place_profiles(writing, err) < 0 || check_any_is_left(writing, err) < 0)
        return -1;
    if (list_days(writing, &days, &n_days, err) < 0 ||
        content_hash(&batch->tables, writing->rocks->datadir.seed, false, &writing->scratch->content, &writing->content,
                     err) < 0)
        return -1;
    for (uint32_t i = 0; i < n_days; i++)
        if (write_day(writing, days[i], err) < 0)
            return -1;
    return check_any_is_left(writing, err);
}

static void count_receipt(struct rocks *rocks, const struct store_receipt *receipt, bool has_failed)
{
    struct storemetrics *metrics = &rocks->context.metrics;

    storemetrics_add(metrics, STOREMETRIC_FAILED_WRITES, has_failed);
    storemetrics_add(metrics, STOREMETRIC_REFUSED, receipt->n_refused);
    if (has_failed)
        return;
    storemetrics_add(metrics, STOREMETRIC_WRITTEN, receipt->n_written);
    storemetrics_add(metrics, STOREMETRIC_SAMPLES, receipt->n_samples);
    storemetrics_add(metrics, STOREMETRIC_DUPLICATES, receipt->n_duplicate);
    storemetrics_add(metrics, STOREMETRIC_NAMES_REPAIRED, receipt->labels.names_repaired);
    storemetrics_add(metrics, STOREMETRIC_NAMES_CUT, receipt->labels.names_cut);
    storemetrics_add(metrics, STOREMETRIC_VALUES_CUT, receipt->labels.values_cut);
    storemetrics_add(metrics, STOREMETRIC_VALUES_REPAIRED, receipt->labels.values_repaired);
    storemetrics_add(metrics, STOREMETRIC_LABELS_MOVED, receipt->labels.moved_to_samples);
    storemetrics_add(metrics, STOREMETRIC_SPLITS_MOVED, receipt->labels.splits_moved);
}

int rocks_write(struct store *store, const struct store_write *write, struct store_receipt *ret_receipt,
                struct error *err)
{
    struct rocks *rocks = rocks_of(store);
    struct store_receipt receipt = { 0 };
    struct writing writing = { .rocks = rocks, .write = write, .tenant = write->tenant, .receipt = &receipt };
    int result;

    if (rocks->options.is_read_only)
        return error_set(err, ERR_DENIED, "the store is open for reading only");
    if (store_check_tenant(writing.tenant, err) < 0 || rocks_check_disk(rocks, false, err) < 0)
        return -1;
    /* Relaxed: only whether it changes is looked at. */
    atomic_fetch_add_explicit(&rocks->n_writes, 1, memory_order_relaxed);
    writing.scratch = take_scratch(rocks, err);
    if (!writing.scratch)
        return -1;
    result = write_all(&writing, err);
    give_scratch(rocks, writing.scratch);
    count_receipt(rocks, &receipt, result < 0);
    if (!result)
        *ret_receipt = receipt;
    return result;
}

void rocks_free_scratches(struct rocks *rocks)
{
    while (rocks->scratches) {
        struct scratch *next = rocks->scratches->next;

        free_scratch(rocks->scratches);
        rocks->scratches = next;
    }
}
