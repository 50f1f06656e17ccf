// SPDX-License-Identifier: Apache-2.0
#include "store/keeps.h"

#include "base/log.h"
#include "pack/varint.h"

#define LOST_KEY "l"

enum { KEEP_VERSION = 1, MAX_KEEPS = 1 << 16, MAX_NAME = 256 };

void keeps_encode(const struct store_keep *keep, struct buffer *out)
{
    buffer_append_byte(out, KEEP_VERSION);
    varint_append(out, varint_zigzag(keep->from_ns));
    varint_append(out, varint_zigzag(keep->until_ns));
    varint_append(out, varint_zigzag(keep->made_ns));
    buffer_append_slice(out, keep->selector);
}

int keeps_decode(struct slice bytes, struct store_keep *ret_keep, struct error *err)
{
    uint64_t from, until, made;

    if (!bytes.len)
        return error_set(err, ERR_CORRUPT, "a kept range is empty");
    if (bytes.ptr[0] != KEEP_VERSION)
        return error_set(err, ERR_VERSION, "a kept range has version %d, this program knows %d", bytes.ptr[0],
                         KEEP_VERSION);
    bytes = slice_of(bytes.ptr + 1, bytes.len - 1);
    if (!varint_next(&bytes, &from) || !varint_next(&bytes, &until) || !varint_next(&bytes, &made))
        return error_set(err, ERR_CORRUPT, "a kept range is cut off");
    *ret_keep = (struct store_keep){ .selector = bytes,
                                     .from_ns = varint_unzigzag(from),
                                     .until_ns = varint_unzigzag(until),
                                     .made_ns = varint_unzigzag(made) };
    return 0;
}

static void make_key(struct slice tenant, struct slice name, struct buffer *key)
{
    buffer_append_byte(key, 'k');
    buffer_append_slice(key, tenant);
    buffer_append_byte(key, '\0');
    buffer_append_slice(key, name);
}

static char *copy_text(struct slice text, struct error *err)
{
    char *copy = memory_alloc_zero(text.len + 1, err);

    if (copy && text.len)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

static void keep_done(struct keep *keep)
{
    memory_free(keep->tenant);
    memory_free(keep->name);
    memory_free(keep->text);
    selector_free(keep->selector);
    *keep = (struct keep){ 0 };
}

static int load_one(struct slice key, struct slice value, struct keep *keep, struct error *err)
{
    size_t end = 1;
    struct store_keep stored;

    while (end < key.len && key.ptr[end])
        end++;
    if (end >= key.len)
        return error_set(err, ERR_CORRUPT, "the key of a kept range is damaged");
    if (keeps_decode(value, &stored, err) < 0)
        return -1;
    keep->tenant = copy_text(slice_of(key.ptr + 1, end - 1), err);
    keep->name = keep->tenant ? copy_text(slice_of(key.ptr + end + 1, key.len - end - 1), err) : NULL;
    keep->text = keep->name ? copy_text(stored.selector, err) : NULL;
    if (!keep->text || selector_new(slice_from(keep->text), &keep->selector, err) < 0)
        return -1;
    keep->from_ns = stored.from_ns;
    keep->until_ns = stored.until_ns;
    keep->made_ns = stored.made_ns;
    return 0;
}

/* Whether the list was lost and nobody changed it since. */
static int find_lost(struct kv *meta, bool *ret_is_lost, struct error *err)
{
    struct buffer value;
    int result;

    buffer_init(&value, 0);
    result = kv_get(meta, KV_DEFAULT, SLICE(LOST_KEY), &value, ret_is_lost, err);
    buffer_done(&value);
    return result;
}

/* The list is taken for whole again by the first change: whoever makes it should know. */
static void warn_of_lost(bool was_lost)
{
    if (was_lost)
        log_warn("store",
                 "the list of kept ranges had been lost, and other ranges may be missing from it: name them now, "
                 "days are forgotten again from here on");
}

int keeps_load(struct kv *meta, struct keeps *ret_keeps, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct keeps keeps = { 0 };
    bool is_lost = false;

    if (kv_iterator_new(meta, KV_DEFAULT, NULL, SLICE("k"), false, &iterator, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator)) {
        struct keep *keep = VEC_PUSH(&keeps.items, MAX_KEEPS, err);

        if (keep && load_one(kv_iterator_key(iterator), kv_iterator_value(iterator), keep, err) == 0)
            continue;
        if (!keep || err->code == ERR_MEMORY || err->code == ERR_LIMIT) {
            keeps_done(&keeps);
            return -1;
        }
        LOG_EVERY(600, LOG_ERROR, "store",
                  "a kept range cannot be read; nothing is forgotten until it is named again: %s", err->text);
        keeps.is_unsure = true;
        keep_done(keep);
        keeps.items.n--;
    }
    if (kv_iterator_check(iterator, err) < 0 || find_lost(meta, &is_lost, err) < 0) {
        keeps_done(&keeps);
        return -1;
    }
    keeps.is_unsure |= is_lost;
    *ret_keeps = keeps;
    return 0;
}

int keeps_note_lost(struct kv *meta, struct error *err)
{
    struct kv_batch *batch;
    int result;

    if (kv_batch_new(&batch, err) < 0)
        return -1;
    kv_batch_put(batch, meta, KV_DEFAULT, SLICE(LOST_KEY), slice_of("", 0));
    result = kv_write(meta, batch, true, err);
    kv_batch_free(batch);
    return result;
}

void keeps_done(struct keeps *keeps)
{
    for (size_t i = 0; i < keeps->items.n; i++)
        keep_done(&keeps->items.items[i]);
    VEC_DONE(&keeps->items);
}

static int check_keep(const struct store_keep *keep, struct error *err)
{
    struct selector *selector;

    if (!keep->name.len || keep->name.len > MAX_NAME || memchr(keep->name.ptr, '\0', keep->name.len))
        return error_set(err, ERR_INVALID, "a kept range needs a name of 1 to %d bytes, such as v1.2.3", MAX_NAME);
    if (keep->from_ns >= keep->until_ns)
        return error_set(err, ERR_INVALID, "the range to keep ends before it begins");
    if (selector_new(keep->selector, &selector, err) < 0)
        return -1;
    selector_free(selector);
    return 0;
}

int keeps_put(struct kv *meta, const struct store_keep *keep, struct error *err)
{
    struct buffer key, value;
    struct kv_batch *batch = NULL;
    bool was_lost = false;
    int result;

    if (check_keep(keep, err) < 0 || find_lost(meta, &was_lost, err) < 0)
        return -1;
    buffer_init(&key, 0);
    buffer_init(&value, 0);
    make_key(keep->tenant, keep->name, &key);
    keeps_encode(keep, &value);
    result = buffer_check(&key, err) < 0 || buffer_check(&value, err) < 0 ? -1 : kv_batch_new(&batch, err);
    if (!result) {
        kv_batch_put(batch, meta, KV_DEFAULT, buffer_slice(&key), buffer_slice(&value));
        kv_batch_delete(batch, meta, KV_DEFAULT, SLICE(LOST_KEY));
        result = kv_write(meta, batch, true, err);
    }
    warn_of_lost(!result && was_lost);
    kv_batch_free(batch);
    buffer_done(&key);
    buffer_done(&value);
    return result;
}

int keeps_remove(struct kv *meta, struct slice tenant, struct slice name, struct error *err)
{
    struct buffer key, value;
    struct kv_batch *batch = NULL;
    bool is_found = false, was_lost = false;
    int result;

    buffer_init(&key, 0);
    buffer_init(&value, 0);
    make_key(tenant, name, &key);
    result = buffer_check(&key, err);
    if (!result)
        result = kv_get(meta, KV_DEFAULT, buffer_slice(&key), &value, &is_found, err);
    if (!result)
        result = find_lost(meta, &was_lost, err);
    if (!result)
        result = kv_batch_new(&batch, err);
    if (!result) {
        kv_batch_delete(batch, meta, KV_DEFAULT, buffer_slice(&key));
        kv_batch_delete(batch, meta, KV_DEFAULT, SLICE(LOST_KEY));
        result = kv_write(meta, batch, true, err);
    }
    warn_of_lost(!result && was_lost);
    if (!result && !is_found)
        result =
            error_set(err, ERR_NOT_FOUND, "no range is kept under the name '%.*s'", (int)MIN(name.len, 100u), name.ptr);
    kv_batch_free(batch);
    buffer_done(&key);
    buffer_done(&value);
    return result;
}
