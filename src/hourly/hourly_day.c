// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/clock.h"
#include "base/fs.h"
#include "hourly/hourly_internal.h"

#include <stdio.h>

enum { NAME_BYTES = 32, MAX_CLOSINGS = 1 << 22 };

static const uint64_t old_memtable_bytes = 1 << 20;

/* --- opening --- */

/* Today and yesterday share half of the memory; the cache has the other half. */
static uint64_t memtable_bytes(const struct hourly_day *day)
{
    bool is_recent = day->start_ns + 2 * HOURLY_DAY_NS > clock_now_ns();

    return is_recent ? day->hourly->options.memory_bytes / 4 : old_memtable_bytes;
}

static int open_database(struct hourly_day *day, enum kv_recovery recovery, struct error *err)
{
    char path[HOURLY_PATH_BYTES], secondary[HOURLY_PATH_BYTES];
    struct kv_options options = { .mode = day->mode, .recovery = recovery, .memtable_bytes = memtable_bytes(day) };

    hourly_days_path(day->hourly, day->start_ns, path);
    if (day->mode == KV_SECONDARY) {
        snprintf(secondary, sizeof(secondary), "%s/%s", day->hourly->scratch, day->name);
        if (fs_make_directories(secondary, 0700, err) < 0)
            return -1;
        options.secondary_dir = secondary;
    }
    if (kv_open(day->hourly->kv, path, &options, &day->kv, err) < 0)
        return -1;
    day->block_family = kv_family_find(day->kv, HOURLY_BLOCK_FAMILY);
    if (day->block_family == KV_NO_FAMILY)
        return error_set(err, ERR_NOT_FOUND, "'%s' is being made", path);
    /* RocksDB syncs what is in its directory, but not the name of the directory itself. */
    return day->mode == KV_WRITE ? fs_sync_parent(path, err) : 0;
}

void hourly_day_marker_key(struct hourly_number closing, char ret_key[static HOURLY_MARKER_BYTES])
{
    ret_key[0] = HOURLY_MARKER_KIND;
    ret_key[1] = (char)closing.hour;
    bytes_put_be32(ret_key + 2, closing.number);
}

static int add_marker(struct hourly_day *day, struct slice key, struct error *err)
{
    struct hourly_number *closing;

    if (key.len != HOURLY_MARKER_BYTES || (uint8_t)key.ptr[1] > 23)
        return error_set(err, ERR_CORRUPT, "day %s of %s has a marker of %zu bytes that is none", day->name,
                         day->hourly->options.kind->name, key.len);
    closing = VEC_PUSH(&day->closings, MAX_CLOSINGS, err);
    if (!closing)
        return -1;
    *closing = (struct hourly_number){ .hour = (uint8_t)key.ptr[1], .number = bytes_get_be32(key.ptr + 2) };
    day->next_number = MAX(day->next_number, closing->number + 1);
    return 0;
}

/* To see where markers end, RocksDB looks at what is behind them: that may be damaged without one of them being lost. So
 * nothing that matters hangs on whether all of them were read: see is_covered and load_number. */
static int load_markers(struct hourly_day *day, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    char last[HOURLY_MARKER_BYTES] = { HOURLY_MARKER_KIND };
    bool has = true;

    if (kv_iterator_new(day->kv, day->block_family, NULL, slice_of(last, 1), false, &iterator, err) < 0)
        return -1;
    while (has) {
        for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
            if (add_marker(day, kv_iterator_key(iterator), err) < 0)
                return -1;
            memcpy(last, kv_iterator_key(iterator).ptr, sizeof(last));
        }
        if (kv_iterator_check(iterator, err) == 0)
            return 0;
        if (err->code != ERR_CORRUPT || kv_iterator_pass_damage(iterator, slice_of(last, sizeof(last)), &has, err) < 0)
            return -1;
    }
    return 0;
}

static int is_covered(struct hourly_day *day, const struct hourly_head *head, bool *ret_is_covered, struct error *err)
{
    AUTO(buffer_done) struct buffer value;
    char key[HOURLY_MARKER_BYTES];

    buffer_init(&value, 0);
    hourly_day_marker_key((struct hourly_number){ head->hour, head->number }, key);
    return kv_get(day->kv, day->block_family, slice_of(key, sizeof(key)), &value, ret_is_covered, err);
}

/* The number that was given last: of a head that is closed and dropped perhaps nothing else tells it. */
static int load_number(struct hourly_day *day, struct error *err)
{
    AUTO(buffer_done) struct buffer value;
    bool is_there;

    buffer_init(&value, 0);
    if (kv_get(day->kv, KV_DEFAULT, HOURLY_NUMBER_KEY, &value, &is_there, err) < 0)
        return -1;
    if (is_there && value.len == sizeof(uint32_t))
        day->next_number = MAX(day->next_number, bytes_get_be32(value.data) + 1);
    return 0;
}

/* In the log before the head is made, and on the disk before a closing of it. */
static int note_number(struct hourly_day *day, uint32_t number, struct error *err)
{
    struct kv_batch *batch;
    char value[sizeof(number)];
    int result;

    if (kv_batch_new(&batch, err) < 0)
        return -1;
    bytes_put_be32(value, number);
    kv_batch_put(batch, day->kv, KV_DEFAULT, HOURLY_NUMBER_KEY, slice_of(value, sizeof(value)));
    result = kv_write(day->kv, batch, false, err);
    kv_batch_free(batch);
    return result;
}

/* "head-07-12" -> 7, 12. */
static bool parse_head_name(const char *name, uint8_t *ret_hour, uint32_t *ret_number)
{
    struct slice rest = slice_from(name), part;
    uint64_t hour, number;

    if (!slice_starts_with(rest, SLICE(HOURLY_HEAD_BEGINNING)))
        return false;
    rest = slice_sub(rest, strlen(HOURLY_HEAD_BEGINNING), SIZE_MAX);
    if (!slice_next_part(&rest, '-', &part) || !slice_to_u64(part, &hour) || hour > 23 ||
        !slice_to_u64(rest, &number) || number >= UINT32_MAX)
        return false;
    *ret_hour = (uint8_t)hour;
    *ret_number = (uint32_t)number;
    return true;
}

static uint64_t measure_head(struct hourly_day *day, uint32_t family)
{
    return kv_family_bytes(day->kv, family) + kv_property(day->kv, family, "rocksdb.cur-size-all-mem-tables");
}

/* A new row, in its order. */
static struct hourly_place *add_place(struct hourly_day *day, const struct hourly_head *head, struct error *err)
{
    size_t at = 0;

    if (!VEC_PUSH(&day->places, HOURLY_MAX_HEADS, err))
        return NULL;
    while (at + 1 < day->places.n &&
           (day->places.items[at].head.hour < head->hour ||
            (day->places.items[at].head.hour == head->hour && day->places.items[at].head.number < head->number)))
        at++;
    memmove(&day->places.items[at + 1], &day->places.items[at], (day->places.n - 1 - at) * sizeof(*day->places.items));
    day->places.items[at] = (struct hourly_place){ .head = *head };
    return &day->places.items[at];
}

static int load_heads(struct hourly_day *day, struct error *err)
{
    for (uint32_t family = 0; family < kv_families(day->kv); family++) {
        const char *name = kv_family_name(day->kv, family);
        struct hourly_head head = { .family = family };
        struct hourly_place *place;

        if (!name || !parse_head_name(name, &head.hour, &head.number))
            continue;
        head.bytes = measure_head(day, family);
        place = add_place(day, &head, err);
        if (!place || is_covered(day, &head, &place->is_covered, err) < 0)
            return -1;
        day->next_number = MAX(day->next_number, head.number + 1);
    }
    return 0;
}

int hourly_day_open(struct hourly *hourly, int64_t start_ns, enum kv_mode mode, enum kv_recovery recovery,
                    struct hourly_day **ret_day, struct error *err)
{
    struct hourly_day *day = MEMORY_NEW(struct hourly_day, err);

    if (!day)
        return -1;
    *day = (struct hourly_day){ .hourly = hourly, .start_ns = start_ns, .mode = mode, .next_number = 1 };
    hourly_day_name(start_ns, day->name);
    lock_mutex_init(&day->lock, LOCK_HOURLY_DAY);
    lock_condition_init(&day->released);
    if (open_database(day, recovery, err) < 0 || load_markers(day, err) < 0 || load_number(day, err) < 0 ||
        load_heads(day, err) < 0 || (mode == KV_WRITE && hourly_day_drop_covered(day, err) < 0)) {
        hourly_day_close(day);
        return -1;
    }
    if (mode == KV_WRITE)
        atomic_fetch_add(&hourly->generation, 1);
    *ret_day = day;
    return 0;
}

void hourly_day_close(struct hourly_day *day)
{
    struct error err;

    if (!day)
        return;
    if (day->has_unsynced)
        IGNORE(kv_sync(day->kv, &err), "it is in the log; only a machine that dies now could lose it");
    kv_close(day->kv);
    VEC_DONE(&day->places);
    VEC_DONE(&day->closings);
    lock_condition_done(&day->released);
    lock_mutex_done(&day->lock);
    memory_free(day);
}

/* --- writing --- */

void hourly_day_fail(struct hourly_day *day, const struct error *err)
{
    LOCK_SCOPE(&day->lock);
    if (day->failure.code == ERR_OK)
        day->failure = *err;
}

static int check_locked(const struct hourly_day *day, struct error *err)
{
    if (day->failure.code == ERR_OK)
        return 0;
    *err = day->failure;
    if (err->code != ERR_FULL)
        err->code = ERR_CLOSED;
    return error_wrap(err, "day %s of %s stopped writing", day->name, day->hourly->options.kind->name);
}

int hourly_day_check(struct hourly_day *day, struct error *err)
{
    LOCK_SCOPE(&day->lock);
    return check_locked(day, err);
}

struct hourly_place *hourly_day_find_place(struct hourly_day *day, uint32_t number)
{
    VEC_EACH (&day->places, place)
        if (place->head.number == number)
            return place;
    return NULL;
}

static struct hourly_place *find_writable(struct hourly_day *day, uint8_t hour)
{
    VEC_EACH (&day->places, place) {
        if (place->head.hour != hour || place->is_full || place->is_closing || place->is_covered || place->is_damaged)
            continue;
        if (place->head.bytes < day->hourly->options.max_head_bytes)
            return place;
        place->is_full = true;
    }
    return NULL;
}

static struct hourly_place *make_head(struct hourly_day *day, uint8_t hour, struct error *err)
{
    struct hourly_head head = { .hour = hour, .number = day->next_number };
    struct hourly_place *place;
    char name[NAME_BYTES];

    if (VEC_RESERVE(&day->places, 1, HOURLY_MAX_HEADS, err) < 0)
        return NULL;
    snprintf(name, sizeof(name), HOURLY_HEAD_BEGINNING "%02u-%u", hour, head.number);
    if (note_number(day, head.number, err) < 0 || kv_family_create(day->kv, name, &head.family, err) < 0) {
        if (day->failure.code == ERR_OK)
            day->failure = *err;
        return NULL;
    }
    day->next_number++;
    place = add_place(day, &head, err);
    place->made_ns = clock_now_ns();
    return place;
}

int hourly_day_hold_head(struct hourly_day *day, uint8_t hour, struct hourly_head *ret_head, struct error *err)
{
    struct hourly_place *place;

    LOCK_SCOPE(&day->lock);
    if (check_locked(day, err) < 0)
        return -1;
    place = find_writable(day, hour);
    if (!place)
        place = make_head(day, hour, err);
    if (!place)
        return -1;
    place->n_writers++;
    *ret_head = place->head;
    return 0;
}

void hourly_day_release_head(struct hourly_day *day, uint32_t number, uint64_t more_bytes)
{
    struct hourly_place *place;

    LOCK_SCOPE(&day->lock);
    place = hourly_day_find_place(day, number);
    place->head.bytes += more_bytes;
    if (--place->n_writers == 0)
        lock_condition_wake_all(&day->released);
}

/* --- views --- */

static int copy_lists(struct hourly_day *day, struct hourly_view *view, struct error *err)
{
    struct hourly_head *heads = memory_alloc((day->places.n + 1) * sizeof(*heads), err);
    struct hourly_number *closings = heads ? memory_alloc((day->closings.n + 1) * sizeof(*closings), err) : NULL;

    view->heads = heads;
    view->closings = closings;
    if (!closings)
        return -1;
    VEC_EACH (&day->places, place)
        if (!place->is_covered)
            heads[view->n_heads++] = place->head;
    VEC_EACH (&day->closings, closing)
        closings[view->n_closings++] = *closing;
    return 0;
}

static void free_lists(struct hourly_view *view)
{
    memory_free((void *)view->heads);
    memory_free((void *)view->closings);
}

int hourly_day_view(struct hourly_day *day, struct hourly_view *ret_view, struct error *err)
{
    struct hourly_view view = { .start_ns = day->start_ns, .kv = day->kv, .block_family = day->block_family };

    /* Blocks come in under this lock, too: so either the head or its blocks are in the snapshot. */
    LOCK_SCOPE(&day->lock);
    if (copy_lists(day, &view, err) < 0 || kv_snapshot_new(day->kv, &view.snapshot, err) < 0) {
        free_lists(&view);
        return -1;
    }
    for (size_t i = 0; i < view.n_heads; i++)
        hourly_day_find_place(day, view.heads[i].number)->n_readers++;
    *ret_view = view;
    return 0;
}

void hourly_day_view_done(struct hourly_day *day, struct hourly_view *view)
{
    kv_snapshot_free(view->snapshot);
    lock_mutex_acquire(&day->lock);
    for (size_t i = 0; i < view->n_heads; i++)
        hourly_day_find_place(day, view->heads[i].number)->n_readers--;
    lock_mutex_release(&day->lock);
    free_lists(view);
}

/* --- closings --- */

void hourly_day_add_closing(struct hourly_day *day, struct hourly_number closing)
{
    size_t at = day->closings.n++;

    for (; at > 0; at--) {
        const struct hourly_number *before = &day->closings.items[at - 1];

        if (before->hour < closing.hour || (before->hour == closing.hour && before->number < closing.number))
            break;
        day->closings.items[at] = *before;
    }
    day->closings.items[at] = closing;
}

/* Takes a head that can go out of the list: its family, or KV_NO_FAMILY. */
static uint32_t take_covered(struct hourly_day *day)
{
    LOCK_SCOPE(&day->lock);
    for (size_t i = 0; i < day->places.n; i++) {
        struct hourly_place *place = &day->places.items[i];
        uint32_t family = place->head.family;

        if (!place->is_covered || place->n_readers)
            continue;
        day->places.n--;
        memmove(place, place + 1, (day->places.n - i) * sizeof(*place));
        return family;
    }
    return KV_NO_FAMILY;
}

int hourly_day_drop_covered(struct hourly_day *day, struct error *err)
{
    uint32_t family;

    while ((family = take_covered(day)) != KV_NO_FAMILY)
        if (kv_family_drop(day->kv, family, err) < 0)
            return -1;
    return 0;
}

bool hourly_day_has_heads(struct hourly_day *day)
{
    LOCK_SCOPE(&day->lock);
    VEC_EACH (&day->places, place)
        if (!place->is_damaged)
            return true;
    return false;
}
