// SPDX-License-Identifier: Apache-2.0
#include "store/outset.h"

#include "base/fs.h"
#include "base/log.h"

#include <stdio.h>

static const char kind_order[OUTSET_KINDS] = { '5', 'c', 'h', 'r', 's', 't', 'w', 'x' };

void outset_init(struct outset *outset, struct day *day, uint8_t hour, size_t spill_bytes)
{
    *outset = (struct outset){ .day = day, .hour = hour, .spill_bytes = spill_bytes };
    for (size_t i = 0; i < OUTSET_KINDS; i++) {
        outset->kinds[i].kind = kind_order[i];
        buffer_init(&outset->kinds[i].data, 0);
    }
}

static void remove_file(char *path)
{
    struct error err;

    if (path)
        IGNORE(fs_remove_tree(path, &err), "the scratch directory is emptied at the next start");
    memory_free(path);
}

void outset_done(struct outset *outset)
{
    for (size_t i = 0; i < OUTSET_KINDS; i++) {
        kv_sst_free(outset->kinds[i].sst);
        remove_file(outset->kinds[i].path);
        buffer_done(&outset->kinds[i].data);
        VEC_DONE(&outset->kinds[i].values);
    }
    remove_file(outset->path);
}

/* A new name in the scratch directory. */
static char *new_path(struct outset *outset, struct error *err)
{
    struct day_context *context = outset->day->context;
    /* Relaxed: only that no two are equal matters. */
    uint32_t number = atomic_fetch_add_explicit(&context->scratch_number, 1, memory_order_relaxed);
    size_t size = strlen(context->scratch_dir) + 64;
    char *path = memory_alloc(size, err);

    if (path)
        snprintf(path, size, "%s/hour-%s-%02u-%u.sst", context->scratch_dir, outset->day->name, outset->hour, number);
    return path;
}

static int open_file(struct outset *outset, char **ret_path, struct kv_sst **ret_sst, struct error *err)
{
    *ret_path = new_path(outset, err);
    if (!*ret_path)
        return -1;
    return kv_sst_new(outset->day->kv, outset->day->block_family, *ret_path, ret_sst, err);
}

/* Puts what a kind holds in memory into a file. */
static int write_held(struct outset_kind *kind, struct kv_sst *sst, struct error *err)
{
    for (size_t i = 0; i < kind->values.n; i++) {
        const struct outset_value *value = &kind->values.items[i];

        if (kv_sst_put(sst, storekey_slice(&value->key), slice_of(kind->data.data + value->offset, value->len), err) <
            0)
            return -1;
    }
    return 0;
}

static int spill(struct outset *outset, struct error *err)
{
    outset->is_spilled = true;
    for (size_t i = 0; i < OUTSET_KINDS; i++) {
        struct outset_kind *kind = &outset->kinds[i];

        if (!kind->values.n)
            continue;
        if (open_file(outset, &kind->path, &kind->sst, err) < 0 || write_held(kind, kind->sst, err) < 0)
            return -1;
        buffer_done(&kind->data);
        buffer_init(&kind->data, 0);
        VEC_DONE(&kind->values);
    }
    return 0;
}

int outset_put(struct outset *outset, const struct storekey *key, struct slice value, struct error *err)
{
    struct outset_kind *kind = outset->kinds;
    struct outset_value *held;

    while (kind->kind != key->bytes[1])
        kind++;
    outset->bytes += key->len + value.len;
    outset->largest = MAX(outset->largest, value.len);
    if (!kind->first.len)
        kind->first = *key;
    kind->last = *key;
    if (!outset->is_spilled && outset->held_bytes + value.len > outset->spill_bytes && spill(outset, err) < 0)
        return -1;
    if (outset->is_spilled) {
        if (!kind->sst && open_file(outset, &kind->path, &kind->sst, err) < 0)
            return -1;
        return kv_sst_put(kind->sst, storekey_slice(key), value, err);
    }
    held = VEC_PUSH(&kind->values, UINT32_MAX, err);
    if (!held)
        return -1;
    *held = (struct outset_value){ .key = *key, .offset = kind->data.len, .len = value.len };
    buffer_append_slice(&kind->data, value);
    outset->held_bytes += value.len + sizeof(*held);
    return buffer_check(&kind->data, err);
}

static int finish_file(struct kv_sst *sst, const char *path, const char **paths, size_t *n, uint64_t *file_bytes,
                       struct error *err)
{
    uint64_t bytes;

    if (kv_sst_finish(sst, &bytes, err) < 0)
        return -1;
    *file_bytes += bytes;
    paths[(*n)++] = path;
    return 0;
}

static int check_key(struct outset *outset, const struct storekey *key, struct buffer *value, struct error *err)
{
    bool is_found;

    buffer_clear(value);
    if (kv_get(outset->day->kv, outset->day->block_family, storekey_slice(key), value, &is_found, err) < 0)
        return -1;
    return is_found ? 0 : error_set(err, ERR_IO, "a file was taken in, but what it holds is not there");
}

/* RocksDB 7.8 takes a file in with the wrong bounds, and says nothing, when it cannot read its first or last block. */
static int check_taken_in(struct outset *outset, struct buffer *value, struct error *err)
{
    int result = 0;

    for (size_t i = 0; i < OUTSET_KINDS && !result; i++)
        if (outset->kinds[i].first.len)
            result = check_key(outset, &outset->kinds[i].first, value, err) < 0
                         ? -1
                         : check_key(outset, &outset->kinds[i].last, value, err);
    return result;
}

int outset_ingest(struct outset *outset, uint64_t *ret_file_bytes, bool *ret_is_unsure, struct error *err)
{
    const char *paths[OUTSET_KINDS];
    struct kv_sst *sst = NULL;
    struct buffer value;
    uint64_t file_bytes = 0;
    size_t n = 0;
    int result = 0;

    if (!outset->is_spilled) {
        result = open_file(outset, &outset->path, &sst, err);
        for (size_t i = 0; i < OUTSET_KINDS && !result; i++)
            result = write_held(&outset->kinds[i], sst, err);
        if (!result)
            result = finish_file(sst, outset->path, paths, &n, &file_bytes, err);
        kv_sst_free(sst);
    }
    for (size_t i = 0; i < OUTSET_KINDS && outset->is_spilled && !result; i++)
        if (outset->kinds[i].sst)
            result = finish_file(outset->kinds[i].sst, outset->kinds[i].path, paths, &n, &file_bytes, err);
    *ret_is_unsure = false;
    /* Memory for looking at it afterwards is had before: there is no way back then. */
    buffer_init(&value, 0);
    if (!result && !buffer_reserve(&value, outset->largest + 1))
        result = buffer_check(&value, err);
    if (!result && kv_ingest_all(outset->day->kv, outset->day->block_family, paths, n, err) < 0) {
        result = -1;
        *ret_is_unsure = true;
    }
    if (!result && check_taken_in(outset, &value, err) < 0) {
        result = -1;
        *ret_is_unsure = true;
        kv_drop_keyless_files(outset->day->kv);
    }
    buffer_done(&value);
    if (!result)
        *ret_file_bytes = file_bytes;
    return result;
}
