// SPDX-License-Identifier: Apache-2.0
#include "store/dayload.h"

#include "base/bytes.h"
#include "block/storekey.h"
#include "store/recover.h"

/* --- walking --- */

/* Whether the day goes on without what could not be read. */
static bool forgive(struct day *day, const char *what, const struct error *err)
{
    if (!day->is_recovering || err->code != ERR_CORRUPT)
        return false;
    day->n_lost++;
    day_damage(day, what, err);
    return true;
}

int dayload_each(struct day *day, uint32_t family, struct slice prefix, const char *what,
                 int (*take)(void *context, struct slice key, struct slice value, struct error *err), void *context,
                 struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    char last[KV_PASS_KEY_BYTES];
    size_t last_len = MIN(prefix.len, sizeof(last));

    memcpy(last, prefix.ptr, last_len);
    if (kv_iterator_new(day->kv, family, NULL, prefix, false, &iterator, err) < 0)
        return -1;
    for (;; kv_iterator_next(iterator)) {
        bool has = kv_iterator_is_valid(iterator);
        struct slice key;

        if (!has && kv_iterator_check(iterator, err) < 0 &&
            (!forgive(day, what, err) || kv_iterator_pass_damage(iterator, slice_of(last, last_len), &has, err) < 0))
            return -1;
        if (!has)
            return 0;
        key = kv_iterator_key(iterator);
        last_len = MIN(key.len, sizeof(last));
        memcpy(last, key.ptr, last_len);
        if (take(context, key, kv_iterator_value(iterator), err) < 0 && !forgive(day, what, err))
            return -1;
    }
}

/* --- counters --- */

/* The counter `name`; one that cannot be read is as good as none. */
static int get_counter(struct day *day, const char *name, struct buffer *value, bool *ret_found, struct error *err)
{
    struct storekey key = storekey_counter(name);

    buffer_clear(value);
    if (kv_get(day->kv, KV_DEFAULT, storekey_slice(&key), value, ret_found, err) == 0)
        return 0;
    *ret_found = false;
    return forgive(day, "counter", err) ? 0 : -1;
}

static int load_counters(struct day *day, struct error *err)
{
    AUTO(buffer_done) struct buffer value;
    uint32_t n_lost = day->n_lost;
    bool is_found;

    buffer_init(&value, 0);
    if (get_counter(day, "sequence", &value, &is_found, err) < 0)
        return -1;
    if (is_found && value.len == 4)
        day->next_sequence = bytes_get_le32(value.data);
    if (get_counter(day, "written", &value, &is_found, err) < 0)
        return -1;
    if (is_found && value.len == 8)
        day->written_bytes = bytes_get_le64(value.data);
    if (get_counter(day, "ids_from", &value, &is_found, err) < 0)
        return -1;
    if (is_found && value.len == 4)
        day->ids_from = bytes_get_le32(value.data);
    day->tenants.next_id = MAX(day->tenants.next_id, day->ids_from);
    if (get_counter(day, "deleted", &value, &day->has_deletions, err) < 0)
        return -1;
    /* Whoever does not know looks closer. */
    day->has_deletions |= day->n_lost > n_lost;
    return 0;
}

/* --- tenants --- */

static bool is_tenant_name(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && !strchr("._-", c))
            return false;
    }
    return name.len > 0 && name.len <= STORE_TENANT_MAX_BYTES;
}

static int take_tenant(void *context, struct slice key, struct slice name, struct error *err)
{
    struct day *day = context;
    bool has = false;
    uint32_t id;

    if (!storekey_parse_tenant(key, &id) || !is_tenant_name(name))
        return error_set(err, ERR_CORRUPT, "the list of tenants is damaged");
    if (day->is_recovering && tenants_has_id(&day->tenants, id, &has, err) < 0)
        return -1;
    return has ? 0 : tenants_add(&day->tenants, id, name, err);
}

static int take_tenant_copy(void *context, struct slice key, struct slice name, struct error *err)
{
    return take_tenant(context, slice_sub(key, 1, SIZE_MAX), name, err);
}

/* --- markers and heads --- */

static int take_marker(void *context, struct slice key, struct slice value, struct error *err)
{
    struct day *day = context;
    struct marker marker, *slot;
    uint32_t number;
    uint8_t hour;

    if (!storekey_parse_marker(key, &hour, &number))
        return error_set(err, ERR_CORRUPT, "the key of a marker is damaged");
    if (marker_decode(value, &marker, err) < 0)
        return -1;
    marker.hour = hour;
    marker.number = number;
    slot = VEC_PUSH(&day->markers, DAYLOAD_MAX_MARKERS, err);
    if (!slot)
        return -1;
    *slot = marker;
    return 0;
}

static int load_markers(struct day *day, struct error *err)
{
    for (unsigned hour = 0; hour < 24; hour++) {
        struct storekey prefix = storekey_marker((uint8_t)hour, 0);

        if (dayload_each(day, day->block_family, slice_of(prefix.bytes, prefix.len - 4), "marker", take_marker, day,
                         err) < 0)
            return -1;
    }
    return 0;
}

static int load_heads(struct day *day, struct error *err)
{
    for (uint32_t family = 0; family < kv_families(day->kv); family++) {
        const char *name = kv_family_name(day->kv, family);
        struct day_head *head;
        uint32_t number;
        uint8_t hour;

        if (!name || !storekey_parse_head_name(name, &hour, &number))
            continue;
        head = VEC_PUSH(&day->heads, UINT32_MAX, err);
        if (!head)
            return -1;
        head->hour = hour;
        head->number = number;
        head->family = family;
        for (size_t i = 0; i < day->markers.n; i++)
            head->is_covered |= day->markers.items[i].hour == hour && day->markers.items[i].head == number;
    }
    return 0;
}

/* --- tombstones --- */

static int take_tombstone(void *context, struct slice key, struct slice value, struct error *err)
{
    struct day *day = context;
    struct tombstone tombstone, *slot;
    uint32_t tenant, number;

    if (!storekey_parse_tombstone(key, &tenant, &number))
        return error_set(err, ERR_CORRUPT, "the key of a tombstone is damaged");
    for (size_t i = 0; i < day->tombstones.n && day->is_recovering; i++)
        if (day->tombstones.items[i].tenant == tenant && day->tombstones.items[i].number == number)
            return 0;
    if (tombstone_decode(value, &tombstone, err) < 0) {
        /* A selector that was accepted once and is none now. */
        if (err->code == ERR_INVALID)
            err->code = ERR_CORRUPT;
        return -1;
    }
    slot = VEC_PUSH(&day->tombstones, DAYLOAD_MAX_TOMBSTONES, err);
    if (!slot) {
        tombstone_done(&tombstone);
        return -1;
    }
    tombstone.tenant = tenant;
    tombstone.number = number;
    *slot = tombstone;
    return 0;
}

static int take_tombstone_copy(void *context, struct slice key, struct slice value, struct error *err)
{
    return take_tombstone(context, slice_sub(key, 1, SIZE_MAX), value, err);
}

/* --- all of it --- */

int dayload(struct day *day, struct error *err)
{
    day->block_family = kv_family_find(day->kv, DAY_BLOCK_FAMILY);
    if (day->block_family == KV_NO_FAMILY)
        return error_set(err, ERR_CORRUPT, "the family '%s' is missing", DAY_BLOCK_FAMILY);
    if (load_counters(day, err) < 0 ||
        dayload_each(day, KV_DEFAULT, SLICE("n"), "name of a tenant", take_tenant, day, err) < 0 ||
        load_markers(day, err) < 0 || load_heads(day, err) < 0 ||
        dayload_each(day, KV_DEFAULT, SLICE("t"), "deletion", take_tombstone, day, err) < 0)
        return -1;
    if (!day->is_recovering)
        return 0;
    if (dayload_each(day, day->block_family, SLICE(STOREKEY_COPY "n"), "name of a tenant", take_tenant_copy, day, err) <
            0 ||
        dayload_each(day, day->block_family, SLICE(STOREKEY_COPY "t"), "deletion", take_tombstone_copy, day, err) < 0)
        return -1;
    return recover_day(day, err);
}
