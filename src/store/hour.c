// SPDX-License-Identifier: Apache-2.0
#include "store/hour.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/closing.h"
#include "store/commit.h"

enum {
    MAX_CLOSINGS = 8, /* of an hour, before it is written anew as one */
};
static const int64_t deletion_wait_ns = 60 * CLOCK_NS_PER_SECOND; /* before an hour is written anew for a deletion */

/* Freezes the head and waits until all its rows are written. */
static int freeze(struct day *day, uint32_t place, struct day_head *ret_head, struct error *err)
{
    LOCK_SCOPE(&day->lock);
    if (day_check(day, err) < 0)
        return -1;
    day->heads.items[place].is_frozen = true;
    if (commit_wait(day, day->heads.items[place].last_group, err) < 0)
        return -1;
    *ret_head = day->heads.items[place];
    return 0;
}

static int close_frozen(struct day *day, uint32_t place, const struct day_head *head, struct error *err)
{
    struct rowstream_filter strict = { .is_strict = true };
    struct rowstream *stream;
    struct rowmerge rows;
    struct closing closing;
    struct day_view view;
    int result;

    if (day_view_open(day, 0, &view, err) < 0)
        return -1;
    rowmerge_init(&rows);
    result = closing_init(&closing, day, head->hour, err);
    closing.marker.head = head->number;
    closing_number(&closing, &view);
    if (!result)
        result = rowstream_new_head(&view, head, &strict, &stream, err);
    if (!result)
        result = rowmerge_add(&rows, stream, err);
    if (!result)
        result = closing_add_rows(&closing, &view, &rows, err);
    rowmerge_done(&rows);
    rowfilter_free(TAKE(closing.filter));
    day_view_close(&view);
    if (!result)
        result = closing_publish(&closing, place, err);
    closing_done(&closing);
    return result;
}

static int close_head(struct day *day, uint32_t place, struct error *err)
{
    struct day_head head;

    if (freeze(day, place, &head, err) < 0)
        return -1;
    if (close_frozen(day, place, &head, err) < 0)
        return error_wrap(err, "closing hour %02u of %s", head.hour, day->name);
    storemetrics_add(&day->context->metrics, STOREMETRIC_HOURS_CLOSED, 1);
    log_debug("store", "day %s: hour %02u closed", day->name, head.hour);
    return day_drop_covered(day, err);
}

int hour_close(struct day *day, uint32_t place, struct error *err)
{
    LOCK_SCOPE(&day->work);
    return close_head(day, place, err);
}

/* Which heads are to be closed. */
struct due {
    int64_t ended_ns; /* their hour ended by then */
    int64_t made_ns;  /* they were made by then */
};

static bool is_due(struct day *day, uint32_t place, const struct due *due)
{
    const struct day_head *head;

    LOCK_SCOPE(&day->lock);
    head = &day->heads.items[place];
    return !head->is_covered && !head->is_damaged && head->made_ns <= due->made_ns &&
           day->start_ns + (head->hour + 1) * DAY_HOUR_NS <= due->ended_ns;
}

static void note_damage(struct day *day, uint32_t place, const struct error *failure)
{
    day_damage(day, "head", failure);
    LOCK_SCOPE(&day->lock);
    day->heads.items[place].is_damaged = true;
}

static size_t count_heads(struct day *day)
{
    LOCK_SCOPE(&day->lock);
    return day->heads.n;
}

static int close_due(struct day *day, const struct due *due, struct error *err)
{
    size_t n;
    int result = 0;

    LOCK_SCOPE(&day->work);
    /* Not those that writers add meanwhile: each closed one may be followed by another at once. */
    n = count_heads(day);
    for (uint32_t place = 0; place < n; place++) {
        struct error failure;

        if (!is_due(day, place, due) || close_head(day, place, &failure) == 0)
            continue;
        if (failure.code == ERR_CORRUPT)
            note_damage(day, place, &failure);
        if (!result)
            *err = failure;
        result = -1;
        if (failure.code == ERR_CLOSED)
            break;
    }
    if (!result)
        result = day_drop_covered(day, err);
    return result;
}

int hour_close_due(struct day *day, int64_t due_ns, struct error *err)
{
    return close_due(day, &(struct due){ .ended_ns = due_ns, .made_ns = INT64_MAX }, err);
}

int hour_close_settled(struct day *day, int64_t due_ns, struct error *err)
{
    return close_due(day, &(struct due){ .ended_ns = due_ns, .made_ns = due_ns }, err);
}

/* --- merging --- */

/* Whether writing the hour anew gains anything: several closings, or deletions that are not applied. */
static bool is_worth_it(const struct day_view *view, uint8_t hour)
{
    int64_t from_ns = view->day->start_ns + hour * DAY_HOUR_NS;
    uint32_t n = 0, applied = UINT32_MAX;

    for (size_t i = 0; i < view->markers.n; i++)
        if (view->markers.items[i].hour == hour) {
            n++;
            applied = MIN(applied, view->markers.items[i].tombstone);
        }
    for (size_t i = 0; i < view->tombstones.n; i++)
        if (n && view->tombstones.items[i].number >= applied &&
            tombstone_overlaps(&view->tombstones.items[i], from_ns, from_ns + DAY_HOUR_NS))
            return true;
    return n > 1;
}

static bool has_blocks(const struct day_view *view, uint8_t hour)
{
    for (size_t i = 0; i < view->markers.n; i++)
        if (view->markers.items[i].hour == hour)
            return true;
    return false;
}

static int open_blocks(const struct day_view *view, uint8_t hour, struct rowmerge *rows, struct error *err)
{
    struct rowstream_filter strict = { .is_strict = true };

    for (size_t i = 0; i < view->markers.n; i++) {
        struct rowstream *stream;

        if (view->markers.items[i].hour != hour)
            continue;
        if (rowstream_new_block(view, hour, view->markers.items[i].number, &strict, &stream, err) < 0 ||
            rowmerge_add(rows, stream, err) < 0)
            return -1;
    }
    return 0;
}

/* Under the lock: whether the head that a marker covers is still on the disk, so that the marker must stay. */
static bool is_needed(const struct day *day, const struct marker *marker)
{
    for (size_t i = 0; i < day->heads.n; i++)
        if (day->heads.items[i].hour == marker->hour && day->heads.items[i].number == marker->head &&
            day->heads.items[i].family != KV_NO_FAMILY)
            return true;
    return false;
}

/* Takes the markers of an hour that were replaced, and whose heads are gone, out of the list and into the batch. */
static void remove_markers(struct day *day, uint8_t hour, uint32_t below, struct kv_batch *batch)
{
    size_t n = 0;

    LOCK_SCOPE(&day->lock);
    for (size_t i = 0; i < day->markers.n; i++) {
        const struct marker *marker = &day->markers.items[i];
        struct storekey key = storekey_marker(marker->hour, marker->number);

        if (marker->hour == hour && marker->number < below && !is_needed(day, marker))
            kv_batch_delete(batch, day->kv, day->block_family, storekey_slice(&key));
        else
            day->markers.items[n++] = *marker;
    }
    day->markers.n = n;
}

/* Puts the values of an hour whose numbers were replaced into the batch that deletes them. */
static int remove_values(struct day *day, uint8_t hour, uint32_t below, struct kv_batch *batch, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    char prefix = (char)hour;

    if (kv_iterator_new(day->kv, day->block_family, NULL, slice_of(&prefix, 1), true, &iterator, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        struct storekey_block key;

        if (storekey_parse_block(kv_iterator_key(iterator), &key) && key.number < below)
            kv_batch_delete(batch, day->kv, day->block_family, kv_iterator_key(iterator));
    }
    return kv_iterator_check(iterator, err);
}

/* Removes the values of an hour whose numbers were replaced, and their markers. */
static int remove_replaced(struct day *day, uint8_t hour, uint32_t below, struct error *err)
{
    char prefix = (char)hour, next = (char)(hour + 1);
    bool has_values = day->cleared[hour] < below;
    struct kv_batch *batch;
    int result = 0;

    if (kv_batch_new(&batch, err) < 0)
        return -1;
    /* Values go at once; a marker may have to stay for its head, and comes by here again. */
    if (has_values)
        result = remove_values(day, hour, below, batch, err);
    if (!result) {
        remove_markers(day, hour, below, batch);
        result = kv_write(day->kv, batch, false, err);
    }
    if (!result)
        day->cleared[hour] = MAX(day->cleared[hour], below);
    kv_batch_free(batch);
    /* Files that hold nothing else any more would stay for long: hours do not overlap, so nothing makes RocksDB look. */
    if (!result && has_values)
        result = kv_compact_range(day->kv, day->block_family, slice_of(&prefix, 1), slice_of(&next, 1), err);
    return result;
}

/* RocksDB can lose the error of a damaged table, and with it the rest of a level, when it steps from one table to the
 * next. Whoever would replace closings with less than they hold does not. (Heads have no such levels.) */
static int check_is_all(const struct closing *closing, const struct day_view *view, struct error *err)
{
    uint64_t n_rows = 0;

    for (size_t i = 0; i < view->markers.n; i++)
        if (view->markers.items[i].hour == closing->hour)
            n_rows += view->markers.items[i].n_rows;
    if (closing->n_read >= n_rows)
        return 0;
    return error_set(err, ERR_CORRUPT, "of %llu rows only %llu can be read", (unsigned long long)n_rows,
                     (unsigned long long)closing->n_read);
}

static int rewrite(struct day *day, uint8_t hour, const struct hour_range *ranges, size_t n_ranges, struct error *err)
{
    struct rowmerge rows;
    struct closing closing;
    struct day_view view;
    int result = 0;

    if (day_view_open(day, 0, &view, err) < 0)
        return -1;
    if (ranges ? !has_blocks(&view, hour) : !is_worth_it(&view, hour)) {
        day_view_close(&view);
        return 0;
    }
    rowmerge_init(&rows);
    result = closing_init(&closing, day, hour, err);
    closing.ranges = ranges;
    closing.n_ranges = n_ranges;
    if (!result && ranges) {
        closing.tenant_ranges = memory_alloc((n_ranges + 1) * sizeof(*closing.tenant_ranges), err);
        result = closing.tenant_ranges ? 0 : -1;
    }
    closing_number(&closing, &view);
    closing.marker.head = MARKER_NO_HEAD;
    closing.marker.replaces_below = closing.number;
    if (!result)
        result = open_blocks(&view, hour, &rows, err);
    if (!result)
        result = closing_add_rows(&closing, &view, &rows, err);
    if (!result)
        result = check_is_all(&closing, &view, err);
    rowmerge_done(&rows);
    rowfilter_free(TAKE(closing.filter));
    day_view_close(&view);
    if (!result)
        result = closing_publish(&closing, UINT32_MAX, err);
    if (!result)
        result = remove_replaced(day, hour, closing.number, err);
    closing_done(&closing);
    return result < 0 ? error_wrap(err, "writing hour %02u of %s anew", hour, day->name) : 0;
}

/* Whether the hour should be written anew by itself: it has many closings, or deletions wait for long. */
static bool is_overdue(struct day *day, uint8_t hour, int64_t now_ns, int64_t due_ns)
{
    int64_t from_ns = day->start_ns + hour * DAY_HOUR_NS, until_ns = from_ns + DAY_HOUR_NS;
    uint32_t n = 0, applied = UINT32_MAX;

    LOCK_SCOPE(&day->lock);
    for (size_t i = 0; i < day->markers.n; i++)
        if (day->markers.items[i].hour == hour) {
            n++;
            applied = MIN(applied, day->markers.items[i].tombstone);
        }
    if (until_ns <= due_ns && n > MAX_CLOSINGS)
        return true;
    for (size_t i = 0; i < day->tombstones.n && n; i++) {
        const struct tombstone *tombstone = &day->tombstones.items[i];

        if (tombstone->number >= applied && tombstone->made_ns < now_ns - deletion_wait_ns &&
            tombstone_overlaps(tombstone, from_ns, until_ns))
            return true;
    }
    return false;
}

/* The number below which closings of the hour were replaced but something of them is left that can go: an earlier
 * rewrite was interrupted, or a head had to go first. 0 = none. */
static uint32_t find_leftovers(struct day *day, uint8_t hour)
{
    uint32_t below = 0, lowest = UINT32_MAX;

    LOCK_SCOPE(&day->lock);
    for (size_t i = 0; i < day->markers.n; i++)
        if (day->markers.items[i].hour == hour)
            below = MAX(below, day->markers.items[i].replaces_below);
    for (size_t i = 0; i < day->markers.n; i++) {
        const struct marker *marker = &day->markers.items[i];

        if (marker->hour == hour && (day->cleared[hour] < below || !is_needed(day, marker)))
            lowest = MIN(lowest, marker->number);
    }
    return lowest < below ? below : 0;
}

/* Writes the hour anew if `is_due`, after leftovers of the last time are removed. Damage is remembered, so that an hour
 * that has some is neither tried for ever nor in the way of others. */
static int care_for_hour(struct day *day, uint8_t hour, bool is_due, struct error *err)
{
    uint32_t below = find_leftovers(day, hour);

    if (day->bad_hours & 1u << hour)
        return 0;
    if (below && remove_replaced(day, hour, below, err) < 0)
        return -1;
    if (!is_due || rewrite(day, hour, NULL, 0, err) == 0)
        return 0;
    if (err->code == ERR_CORRUPT || err->code == ERR_VERSION) {
        day->bad_hours |= 1u << hour;
        error_wrap(err, "`hearth verify --repair` sets damage aside");
    }
    return -1;
}

/* All hours, as far as it goes; the first failure is returned. */
static int care_for_hours(struct day *day, bool is_forced, int64_t now_ns, int64_t due_ns, struct error *err)
{
    int result = 0;

    for (uint8_t hour = 0; hour < 24; hour++) {
        struct error failure;

        if (care_for_hour(day, hour, is_forced || is_overdue(day, hour, now_ns, due_ns), &failure) == 0)
            continue;
        if (!result)
            *err = failure;
        result = -1;
        if (failure.code == ERR_CLOSED)
            break;
    }
    return result;
}

int hour_rewrite(struct day *day, uint8_t hour, struct error *err)
{
    LOCK_SCOPE(&day->work);
    return rewrite(day, hour, NULL, 0, err);
}

/* Under the lock: whether no head could have rows that the deletion concerns, and every closing that it could concern has
 * it applied. */
static bool is_done(const struct day *day, const struct tombstone *tombstone)
{
    for (size_t i = 0; i < day->heads.n; i++) {
        const struct day_head *head = &day->heads.items[i];
        int64_t from_ns = day->start_ns + head->hour * DAY_HOUR_NS;

        if (!head->is_covered && tombstone_overlaps(tombstone, from_ns, from_ns + DAY_HOUR_NS))
            return false;
    }
    for (size_t i = 0; i < day->markers.n; i++) {
        const struct marker *marker = &day->markers.items[i];
        int64_t from_ns = day->start_ns + marker->hour * DAY_HOUR_NS;
        bool is_replaced = false;

        if (marker->tombstone > tombstone->number || !tombstone_overlaps(tombstone, from_ns, from_ns + DAY_HOUR_NS))
            continue;
        for (size_t k = 0; k < day->markers.n; k++)
            is_replaced |=
                day->markers.items[k].hour == marker->hour && marker->number < day->markers.items[k].replaces_below;
        if (!is_replaced)
            return false;
    }
    return true;
}

/* Puts the removal of all deletions that have done their work into the batch. */
static void gather_done(struct day *day, struct kv_batch *batch)
{
    LOCK_SCOPE(&day->lock);
    for (size_t i = 0; i < day->tombstones.n; i++) {
        const struct tombstone *tombstone = &day->tombstones.items[i];
        struct storekey key = storekey_tombstone(tombstone->tenant, tombstone->number);

        if (is_done(day, tombstone))
            day_delete_twice(day, batch, &key);
    }
}

/* Takes them out of the list, unless somebody may be looking at them: then they do no harm there. */
static void forget_done(struct day *day)
{
    size_t n = 0;

    LOCK_SCOPE(&day->lock);
    if (day->n_views)
        return;
    for (size_t i = 0; i < day->tombstones.n; i++)
        if (is_done(day, &day->tombstones.items[i]))
            tombstone_done(&day->tombstones.items[i]);
        else
            day->tombstones.items[n++] = day->tombstones.items[i];
    day->tombstones.n = n;
}

/* Forgets deletions that have done their work. */
static int remove_tombstones(struct day *day, struct error *err)
{
    struct kv_batch *batch;
    int result = 0;

    if (kv_batch_new(&batch, err) < 0)
        return -1;
    gather_done(day, batch);
    if (kv_batch_count(batch)) {
        result = kv_write(day->kv, batch, false, err);
        if (!result)
            forget_done(day);
    }
    kv_batch_free(batch);
    return result;
}

int hour_rewrite_due(struct day *day, int64_t now_ns, int64_t due_ns, struct error *err)
{
    LOCK_SCOPE(&day->work);
    if (care_for_hours(day, false, now_ns, due_ns, err) < 0)
        return -1;
    return remove_tombstones(day, err);
}

int hour_rewrite_all(struct day *day, struct error *err)
{
    LOCK_SCOPE(&day->work);
    day->bad_hours = 0;
    if (care_for_hours(day, true, 0, 0, err) < 0)
        return -1;
    return remove_tombstones(day, err);
}

int hour_reduce(struct day *day, const struct hour_range *ranges, size_t n, struct error *err)
{
    LOCK_SCOPE(&day->work);
    lock_mutex_acquire(&day->lock);
    day->has_deletions = true;
    lock_mutex_release(&day->lock);
    for (uint8_t hour = 0; hour < 24; hour++)
        if (rewrite(day, hour, ranges, n, err) < 0)
            return -1;
    return 0;
}
