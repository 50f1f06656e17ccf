// SPDX-License-Identifier: Apache-2.0
#include "store/verify.h"

#include "base/fs.h"
#include "block/idrecord.h"
#include "store/verify_internal.h"

#include <stdio.h>

enum { MAX_TENANTS = 1 << 20, MAX_CLOSINGS = 1 << 20 };

/* A value that nobody can make sense of: told, and set aside. */
static int reject(const struct verify_walk *walk, const char *what, struct error *err)
{
    verify_find(walk->run, "%s", what);
    verify_mended(walk->run);
    return verify_set_aside(walk->run, walk->family, verify_walk_key(walk), verify_walk_value(walk), err);
}

/* --- tenants --- */

static int add_tenant(struct verify_run *run, const struct verify_walk *walk, struct error *err)
{
    struct slice name = verify_walk_value(walk);
    struct verify_tenant_name *tenant;
    uint32_t id;

    if (!storekey_parse_tenant(verify_walk_key(walk), &id) || id == 0 || name.len == 0 ||
        name.len > STORE_TENANT_MAX_BYTES)
        return reject(walk, "the name of a tenant is damaged", err);
    tenant = VEC_PUSH(&run->tenants, MAX_TENANTS, err);
    if (!tenant)
        return -1;
    tenant->id = id;
    memcpy(tenant->name, name.ptr, name.len);
    return 0;
}

static int load_tenants(struct verify_run *run, struct error *err)
{
    struct verify_walk walk;
    int result = verify_walk_open(&walk, run, KV_DEFAULT, SLICE("n"), err);

    while (!result && walk.is_valid) {
        run->verify->n_values++;
        result = add_tenant(run, &walk, err);
        if (!result)
            result = verify_walk_next(&walk, err);
    }
    verify_walk_close(&walk);
    return result;
}

static bool is_tenant(const struct verify_run *run, uint32_t id)
{
    size_t low = 0, high = run->tenants.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (run->tenants.items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < run->tenants.n && run->tenants.items[low].id == id;
}

/* --- markers --- */

static int add_closing(struct verify_run *run, const struct verify_walk *walk, struct error *err)
{
    struct verify_closing *closing;
    struct marker marker;
    struct error damage;
    uint32_t number;
    uint8_t hour;
    char what[320];

    if (!storekey_parse_marker(verify_walk_key(walk), &hour, &number))
        return reject(walk, "the key of a marker is damaged", err);
    if (marker_decode(verify_walk_value(walk), &marker, &damage) < 0) {
        snprintf(what, sizeof(what), "hour %02u: closing %u: %s", hour, number, damage.text);
        return reject(walk, what, err);
    }
    closing = VEC_PUSH(&run->closings, MAX_CLOSINGS, err);
    if (!closing)
        return -1;
    closing->marker = marker;
    closing->marker.hour = hour;
    closing->marker.number = number;
    return 0;
}

/* V4 and M2, among the closings of one hour. */
static void compare_closings(struct verify_run *run)
{
    for (size_t i = 0; i < run->closings.n; i++)
        for (size_t k = 0; k < run->closings.n; k++) {
            struct verify_closing *a = &run->closings.items[i];
            const struct marker *b = &run->closings.items[k].marker;

            if (a->marker.hour != b->hour)
                continue;
            a->is_replaced |= a->marker.number < b->replaces_below;
            if (k > i && a->marker.head != MARKER_NO_HEAD && a->marker.head == b->head)
                verify_find(run, "hour %02u: closings %u and %u cover the same head, number %u", b->hour,
                            a->marker.number, b->number, b->head);
        }
}

static int load_closings(struct verify_run *run, struct error *err)
{
    for (unsigned hour = 0; hour < 24; hour++) {
        struct storekey prefix = storekey_marker((uint8_t)hour, 0);
        struct verify_walk walk;
        int result = verify_walk_open(&walk, run, run->day->block_family, slice_of(prefix.bytes, 2), err);

        while (!result && walk.is_valid) {
            run->verify->n_values++;
            result = add_closing(run, &walk, err);
            if (!result)
                result = verify_walk_next(&walk, err);
        }
        verify_walk_close(&walk);
        if (result < 0)
            return -1;
    }
    compare_closings(run);
    return 0;
}

static int replace_marker(struct verify_run *run, const struct marker *marker, struct error *err)
{
    struct storekey key = storekey_marker(marker->hour, marker->number);

    buffer_clear(&run->scratch);
    marker_encode(marker, &run->scratch);
    if (buffer_check(&run->scratch, err) < 0)
        return -1;
    verify_replace(run, run->day->block_family, storekey_slice(&key), buffer_slice(&run->scratch));
    return 0;
}

/* All tenants were counted: markers must say the same. Where values were bad, they are made to. */
static int check_counts(struct verify_run *run, struct error *err)
{
    for (size_t i = 0; i < run->closings.n && !run->is_unreadable; i++) {
        struct verify_closing *closing = &run->closings.items[i];
        struct marker *marker = &closing->marker;

        if (closing->is_replaced || closing->is_unsure ||
            (marker->n_rows == closing->n_rows && marker->n_samples == closing->n_samples &&
             marker->bytes == closing->bytes))
            continue;
        if (!closing->is_cut) {
            verify_find(run, "hour %02u: the marker of closing %u does not count what is there", marker->hour,
                        marker->number);
            verify_mended(run);
            closing->is_cut = true;
        }
        marker->n_rows = closing->n_rows;
        marker->n_samples = closing->n_samples;
        marker->bytes = closing->bytes;
        if (run->verify->is_repairing && replace_marker(run, marker, err) < 0)
            return -1;
    }
    return 0;
}

/* The day in memory learns the new counts. */
static void adopt_counts(struct verify_run *run)
{
    struct day *day = run->day;

    LOCK_SCOPE(&day->lock);
    VEC_EACH (&run->closings, closing)
        for (size_t i = 0; i < day->markers.n && closing->is_cut; i++)
            if (day->markers.items[i].hour == closing->marker.hour &&
                day->markers.items[i].number == closing->marker.number)
                day->markers.items[i] = closing->marker;
}

/* --- open hours --- */

static int decode_row(struct verify_run *run, const struct day_head *head, const struct verify_walk *walk,
                      uint32_t *ret_series, struct headrow *row, struct error *err)
{
    int64_t from_ns = run->day->start_ns + head->hour * DAY_HOUR_NS, start_ns;
    uint32_t tenant, group, sequence;
    const struct verify_series *series;

    if (!storekey_parse_row(verify_walk_key(walk), &tenant, &group, ret_series, &start_ns, &sequence))
        return error_set(err, ERR_CORRUPT, "its key is damaged");
    series = verify_find_series(&run->tenant, *ret_series);
    if (!series)
        return error_set(err, ERR_CORRUPT, "there is no such series");
    if (start_ns < from_ns || start_ns >= from_ns + DAY_HOUR_NS)
        return error_set(err, ERR_CORRUPT, "it does not start in the hour");
    arena_reset(&run->arena);
    if (headrow_decode(verify_walk_value(walk), &run->arena, row, err) < 0)
        return -1;
    if (series->group != group || series->n_types != row->n_types)
        return error_set(err, ERR_CORRUPT, "group %u with %u types, the series is of group %u and has %u", group,
                         row->n_types, series->group, series->n_types);
    return 0;
}

static int check_row(struct verify_run *run, const struct day_head *head, const struct verify_walk *walk,
                     struct error *err)
{
    struct verify_missing missing = { 0 };
    struct headrow row;
    struct error damage;
    uint32_t series = 0;
    bool is_certain;
    char what[STORE_TENANT_MAX_BYTES + 100];
    int result = decode_row(run, head, walk, &series, &row, &damage);

    snprintf(what, sizeof(what), "hour %02u of tenant '%s', still open: a row of series %u", head->hour,
             run->tenant.name, series);
    if (result == 0) {
        run->verify->n_rows++;
        run->verify->n_samples += row.n_samples;
        if (verify_check_row(run, &row, &missing, err) < 0)
            return -1;
        verify_tell_missing(run, what, &missing);
        return 0;
    }
    if (!verify_is_bad(&damage, &is_certain)) {
        *err = damage;
        return -1;
    }
    verify_find(run, "%s: %s", what, damage.text);
    if (!is_certain)
        return 0;
    verify_mended(run);
    return verify_set_aside(run, walk->family, verify_walk_key(walk), verify_walk_value(walk), err);
}

/* A closing may have covered the head since the view was made: then its rows are counted there. */
static bool is_covered(const struct verify_run *run, const struct day_head *head)
{
    for (size_t i = 0; i < run->closings.n; i++)
        if (run->closings.items[i].marker.hour == head->hour && run->closings.items[i].marker.head == head->number)
            return true;
    return false;
}

static int check_head(struct verify_run *run, const struct day_head *head, struct error *err)
{
    struct storekey prefix = storekey_row(run->tenant.id, 0, 0, 0, 0);
    struct verify_walk walk;
    int result;

    if (is_covered(run, head))
        return 0;
    result = verify_walk_open(&walk, run, head->family, slice_of(prefix.bytes, 4), err);
    while (!result && walk.is_valid) {
        run->verify->n_values++;
        result = check_row(run, head, &walk, err);
        if (!result)
            result = verify_walk_next(&walk, err);
    }
    verify_walk_close(&walk);
    return result;
}

/* --- one tenant --- */

static int has_hour(struct verify_run *run, uint8_t hour, bool *ret_has, struct error *err)
{
    struct verify_walk walk;
    char prefix = (char)hour;
    int result = verify_walk_open(&walk, run, run->day->block_family, slice_of(&prefix, 1), err);

    *ret_has = walk.is_valid;
    verify_walk_close(&walk);
    return result;
}

static int check_tenant(struct verify_run *run, const struct verify_tenant_name *tenant, struct error *err)
{
    run->tenant.id = tenant->id;
    memcpy(run->tenant.name, tenant->name, sizeof(run->tenant.name));
    if (verify_names(run, err) < 0)
        return -1;
    for (size_t i = 0; i < run->view.head_copies.n; i++)
        if (check_head(run, &run->view.head_copies.items[i], err) < 0)
            return -1;
    for (uint8_t hour = 0; hour < 24; hour++) {
        bool has;

        if (has_hour(run, hour, &has, err) < 0 || (has && verify_blocks(run, hour, err) < 0))
            return -1;
    }
    return verify_names_mend(run, err);
}

/* --- what belongs to nobody --- */

/* Goes on behind all keys that begin with `len` bytes of the present one. */
static int leap(struct verify_walk *walk, size_t len, struct error *err)
{
    char next[VERIFY_KEY_BYTES];

    memcpy(next, verify_walk_key(walk).ptr, len);
    while (len && (uint8_t)next[len - 1] == 0xff)
        len--;
    if (!len) {
        walk->is_valid = false;
        return 0;
    }
    next[len - 1]++;
    return verify_walk_seek(walk, slice_of(next, len), err);
}

/* The tenant at `at` of a key, or 0. */
static uint32_t tenant_at(struct slice key, size_t at)
{
    return key.len >= at + 4 ? bytes_get_be32(key.ptr + at) : 0;
}

static int check_index_value(struct verify_run *run, const struct verify_walk *walk, struct error *err)
{
    struct slice key = verify_walk_key(walk), value = verify_walk_value(walk);
    struct tombstone tombstone;
    struct idrecord record;
    struct error damage;
    uint32_t id, number;

    run->verify->n_values++;
    arena_reset(&run->arena);
    switch (key.ptr[0]) {
    case 'g':
        if (key.len != 5 || value.len != 4)
            return reject(walk, "the generation of a dictionary is damaged", err);
        break;
    case 'i':
        if (key.len != 21)
            return reject(walk, "a profile id is damaged", err);
        if (value.len && idrecord_decode(value, &run->arena, &record, &damage) < 0) {
            if (damage.code != ERR_MEMORY)
                return reject(walk, damage.text, err);
            *err = damage;
            return -1;
        }
        break;
    case 'm':
        if ((slice_is(key, "msequence") && value.len != 4) || (slice_is(key, "mwritten") && value.len != 8))
            return reject(walk, "a counter is damaged", err);
        return 0;
    case 't':
        if (!storekey_parse_tombstone(key, &id, &number))
            return reject(walk, "the key of a tombstone is damaged", err);
        if (tombstone_decode(value, &tombstone, &damage) < 0) {
            if (damage.code != ERR_MEMORY)
                return reject(walk, damage.text, err);
            *err = damage;
            return -1;
        }
        tombstone_done(&tombstone);
        break;
    case 'd':
    case 's': break;
    default: return reject(walk, "a key of the index is of no known kind", err);
    }
    return is_tenant(run, tenant_at(key, 1)) ? 0 : reject(walk, "a key of the index belongs to no tenant", err);
}

/* The index, but for names, dictionaries and series, which were checked with their tenants. */
static int check_index(struct verify_run *run, struct error *err)
{
    struct verify_walk walk;
    int result = verify_walk_open(&walk, run, KV_DEFAULT, SLICE(""), err);

    while (!result && walk.is_valid) {
        struct slice key = verify_walk_key(&walk);
        char kind = key.len ? key.ptr[0] : '\0';

        if (kind == 'n')
            result = leap(&walk, 1, err);
        else if ((kind == 'd' || kind == 's') && is_tenant(run, tenant_at(key, 1)))
            result = leap(&walk, 5, err);
        else if (!key.len)
            result = reject(&walk, "a key of the index is empty", err) < 0 ? -1 : verify_walk_next(&walk, err);
        else
            result = check_index_value(run, &walk, err) < 0 ? -1 : verify_walk_next(&walk, err);
    }
    verify_walk_close(&walk);
    return result;
}

static int check_foreign_rows(struct verify_run *run, const struct day_head *head, struct error *err)
{
    struct verify_walk walk;
    int result;

    if (is_covered(run, head))
        return 0;
    result = verify_walk_open(&walk, run, head->family, SLICE(""), err);
    while (!result && walk.is_valid) {
        if (is_tenant(run, tenant_at(verify_walk_key(&walk), 0)))
            result = leap(&walk, 4, err);
        else {
            run->verify->n_values++;
            result = reject(&walk, "a row of an open hour belongs to no tenant", err);
            if (!result)
                result = verify_walk_next(&walk, err);
        }
    }
    verify_walk_close(&walk);
    return result;
}

/* How many bytes of a key of the block family lead to values that were checked; 0 = none. */
static size_t checked_prefix(const struct verify_run *run, struct slice key)
{
    if (slice_starts_with(key, SLICE(STOREKEY_COPY)))
        return 1;
    if (key.len < 2 || key.ptr[0] < 0 || key.ptr[0] > 23)
        return 0;
    if (key.ptr[1] == 'c')
        return 2;
    return memchr("5hrstwx", key.ptr[1], 7) && is_tenant(run, tenant_at(key, 2)) ? 6 : 0;
}

static int check_foreign_blocks(struct verify_run *run, struct error *err)
{
    struct verify_walk walk;
    int result = verify_walk_open(&walk, run, run->day->block_family, SLICE(""), err);

    while (!result && walk.is_valid) {
        size_t checked = checked_prefix(run, verify_walk_key(&walk));

        if (checked)
            result = leap(&walk, checked, err);
        else {
            run->verify->n_values++;
            /* Whose bytes they were nobody can say. */
            VEC_EACH (&run->closings, closing)
                closing->is_cut = true;
            result = reject(&walk, "a value of a closed hour belongs to no tenant", err);
            if (!result)
                result = verify_walk_next(&walk, err);
        }
    }
    verify_walk_close(&walk);
    return result;
}

/* --- a day --- */

static int run_init(struct verify_run *run, struct error *err)
{
    arena_init(&run->arena, run->day->context->read_bytes);
    buffer_init(&run->scratch, 0);
    if (unpacker_new(&run->unpacker, err) < 0 || day_view_open(run->day, 0, &run->view, err) < 0)
        return -1;
    return run->verify->is_repairing ? kv_batch_new(&run->repairs, err) : 0;
}

static void run_done(struct verify_run *run)
{
    struct error err;

    fd_closep(&run->aside_fd);
    /* Nothing was taken away, so nothing needs to be kept. */
    if (run->aside_path && !run->has_repaired)
        IGNORE(fs_remove_tree(run->aside_path, &err), "a copy too many does no harm");
    memory_free(run->aside_path);
    verify_tenant_done(&run->tenant);
    VEC_DONE(&run->tenants);
    VEC_DONE(&run->closings);
    kv_batch_free(run->repairs);
    unpacker_free(run->unpacker);
    arena_done(&run->arena);
    buffer_done(&run->scratch);
    day_view_close(&run->view);
}

static int check_all(struct verify_run *run, struct error *err)
{
    if (load_tenants(run, err) < 0 || load_closings(run, err) < 0)
        return -1;
    for (size_t i = 0; i < run->tenants.n; i++) {
        int result = check_tenant(run, &run->tenants.items[i], err);

        verify_tenant_done(&run->tenant);
        if (result < 0)
            return -1;
    }
    for (size_t i = 0; i < run->view.head_copies.n; i++)
        if (check_foreign_rows(run, &run->view.head_copies.items[i], err) < 0)
            return -1;
    if (check_index(run, err) < 0 || check_foreign_blocks(run, err) < 0 || check_counts(run, err) < 0)
        return -1;
    return verify_apply(run, err);
}

int verify_day(struct day *day, const char *quarantine_dir, struct store_verify *verify, struct error *err)
{
    struct verify_run run = { .day = day, .verify = verify, .quarantine_dir = quarantine_dir, .aside_fd = -1 };
    int result = run_init(&run, err);

    if (!result)
        result = check_all(&run, err);
    if (!result && run.has_repaired)
        adopt_counts(&run);
    run_done(&run);
    return result < 0 ? error_wrap(err, "checking day %s", day->name) : 0;
}
