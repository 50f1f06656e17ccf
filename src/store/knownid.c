// SPDX-License-Identifier: Apache-2.0
#include "store/knownid.h"

#include "block/storekey.h"
#include "store/scan.h"

struct hash128 knownid_hash(const struct day *day, struct slice value)
{
    return hash_bytes(value, day->context->seed);
}

static bool has_deletions(struct day *day)
{
    LOCK_SCOPE(&day->lock);
    return day->has_deletions;
}

static int read_record(const struct day *day, struct slice value, struct arena *arena, struct idrecord *ret_record,
                       struct error *err)
{
    if (idrecord_decode(value, arena, ret_record, err) < 0)
        return -1;
    if (day_start(ret_record->start_ns) != day->start_ns)
        return error_set(err, ERR_CORRUPT, "it tells of a profile of another day");
    return 0;
}

/* Whether anything of the profile is left. A record that cannot be read tells nothing: then it counts as there. */
static int is_left(struct day *day, uint32_t tenant, struct slice value, bool *ret_is_left, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct idrecord record;

    arena_init(&arena, day->context->read_bytes);
    *ret_is_left = true;
    if (!value.len || !has_deletions(day))
        return 0;
    if (read_record(day, value, &arena, &record, err) == 0)
        return scan_finds_profile(day, tenant, &record, ret_is_left, err);
    if (err->code != ERR_CORRUPT && err->code != ERR_VERSION)
        return -1;
    day_damage(day, "the record of a profile id", err);
    return 0;
}

int knownid_find(struct day *day, uint32_t tenant, const uint8_t id[static 16], struct knownid *ret_known,
                 struct error *err)
{
    struct storekey key = storekey_profile_id(tenant, id);
    AUTO(buffer_done) struct buffer value;
    struct knownid known = { 0 };
    bool is_there;

    buffer_init(&value, 0);
    if (kv_get(day->kv, KV_DEFAULT, storekey_slice(&key), &value, &is_there, err) < 0)
        return -1;
    if (is_there) {
        if (is_left(day, tenant, buffer_slice(&value), &known.is_known, err) < 0)
            return -1;
        known.is_forgotten = !known.is_known;
        known.value = knownid_hash(day, buffer_slice(&value));
    }
    *ret_known = known;
    return 0;
}
