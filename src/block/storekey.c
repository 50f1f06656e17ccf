// SPDX-License-Identifier: Apache-2.0
#include "block/storekey.h"

#include <stdio.h>

#define HOURS       24u
#define SIGN_BIT    ((uint64_t)1 << 63)
#define MARKER_KIND 'c' /* stands where blocks have their kind */

/* How long each key is, all fields counted. */
enum {
    TENANT_BYTES = 1 + 4,
    SERIES_BYTES = 1 + 4 + 4,
    CHUNK_BYTES = 1 + 4 + 1 + 4,
    TOMBSTONE_BYTES = 1 + 4 + 4,
    ROW_BYTES = 4 + 4 + 4 + 8 + 4,
    MARKER_BYTES = 1 + 1 + 4,
    BLOCK_BYTES = 1 + 1 + 4 + 4 + 4 + 4 + 4,
};

static void put_byte(struct storekey *key, uint8_t byte)
{
    key->bytes[key->len++] = (char)byte;
}

static void put_be32(struct storekey *key, uint32_t value)
{
    bytes_put_be32(key->bytes + key->len, value);
    key->len += 4;
}

static void put_bytes(struct storekey *key, const void *bytes, size_t len)
{
    ASSERT(len <= sizeof(key->bytes) - key->len);
    memcpy(key->bytes + key->len, bytes, len);
    key->len += len;
}

/* The beginning that all keys of the index share, except counters. */
static struct storekey begin_index(char letter, uint32_t tenant)
{
    struct storekey key = { .len = 0 };

    put_byte(&key, (uint8_t)letter);
    put_be32(&key, tenant);
    return key;
}

static bool is_index(struct slice key, char letter, size_t len)
{
    return key.len == len && key.ptr[0] == letter;
}

struct storekey storekey_tenant(uint32_t tenant)
{
    return begin_index('n', tenant);
}

struct storekey storekey_copy(const struct storekey *key)
{
    struct storekey copy = { .len = 0 };

    put_byte(&copy, (uint8_t)STOREKEY_COPY[0]);
    ASSERT(key->len < sizeof(copy.bytes));
    memcpy(copy.bytes + copy.len, key->bytes, key->len);
    copy.len += key->len;
    return copy;
}

struct storekey storekey_series(uint32_t tenant, uint32_t series)
{
    struct storekey key = begin_index('s', tenant);

    put_be32(&key, series);
    return key;
}

struct storekey storekey_chunk(uint32_t tenant, uint8_t kind, uint32_t first_id)
{
    struct storekey key = begin_index('d', tenant);

    put_byte(&key, kind);
    put_be32(&key, first_id);
    return key;
}

struct storekey storekey_generation(uint32_t tenant)
{
    return begin_index('g', tenant);
}

struct storekey storekey_profile_id(uint32_t tenant, const uint8_t id[static 16])
{
    struct storekey key = begin_index('i', tenant);

    put_bytes(&key, id, 16);
    return key;
}

struct storekey storekey_tombstone(uint32_t tenant, uint32_t number)
{
    struct storekey key = begin_index('t', tenant);

    put_be32(&key, number);
    return key;
}

struct storekey storekey_counter(const char *name)
{
    struct storekey key = { .len = 0 };

    put_byte(&key, 'm');
    put_bytes(&key, name, strlen(name));
    return key;
}

bool storekey_parse_tenant(struct slice key, uint32_t *ret_tenant)
{
    if (!is_index(key, 'n', TENANT_BYTES))
        return false;
    *ret_tenant = bytes_get_be32(key.ptr + 1);
    return true;
}

bool storekey_parse_series(struct slice key, uint32_t *ret_tenant, uint32_t *ret_series)
{
    if (!is_index(key, 's', SERIES_BYTES))
        return false;
    *ret_tenant = bytes_get_be32(key.ptr + 1);
    *ret_series = bytes_get_be32(key.ptr + 5);
    return true;
}

bool storekey_parse_chunk(struct slice key, uint32_t *ret_tenant, uint8_t *ret_kind, uint32_t *ret_first_id)
{
    if (!is_index(key, 'd', CHUNK_BYTES))
        return false;
    *ret_tenant = bytes_get_be32(key.ptr + 1);
    *ret_kind = (uint8_t)key.ptr[5];
    *ret_first_id = bytes_get_be32(key.ptr + 6);
    return true;
}

bool storekey_parse_tombstone(struct slice key, uint32_t *ret_tenant, uint32_t *ret_number)
{
    if (!is_index(key, 't', TOMBSTONE_BYTES))
        return false;
    *ret_tenant = bytes_get_be32(key.ptr + 1);
    *ret_number = bytes_get_be32(key.ptr + 5);
    return true;
}

/* Signed times sort as bytes once their sign bit is flipped: then the earliest is all zeros. */
struct storekey storekey_row(uint32_t tenant, uint32_t group, uint32_t series, int64_t start_ns, uint32_t sequence)
{
    struct storekey key = { .len = ROW_BYTES };

    bytes_put_be32(key.bytes, tenant);
    bytes_put_be32(key.bytes + 4, group);
    bytes_put_be32(key.bytes + 8, series);
    bytes_put_be64(key.bytes + 12, (uint64_t)start_ns ^ SIGN_BIT);
    bytes_put_be32(key.bytes + 20, sequence);
    return key;
}

bool storekey_parse_row(struct slice key, uint32_t *ret_tenant, uint32_t *ret_group, uint32_t *ret_series,
                        int64_t *ret_start_ns, uint32_t *ret_sequence)
{
    if (key.len != ROW_BYTES)
        return false;
    *ret_tenant = bytes_get_be32(key.ptr);
    *ret_group = bytes_get_be32(key.ptr + 4);
    *ret_series = bytes_get_be32(key.ptr + 8);
    *ret_start_ns = (int64_t)(bytes_get_be64(key.ptr + 12) ^ SIGN_BIT);
    *ret_sequence = bytes_get_be32(key.ptr + 20);
    return true;
}

static struct storekey begin_block(uint8_t hour, char kind)
{
    struct storekey key = { .len = 0 };

    ASSERT(hour < HOURS);
    put_byte(&key, hour);
    put_byte(&key, (uint8_t)kind);
    return key;
}

static bool is_block(struct slice key, size_t len)
{
    return key.len == len && (uint8_t)key.ptr[0] < HOURS;
}

struct storekey storekey_marker(uint8_t hour, uint32_t number)
{
    struct storekey key = begin_block(hour, MARKER_KIND);

    put_be32(&key, number);
    return key;
}

bool storekey_parse_marker(struct slice key, uint8_t *ret_hour, uint32_t *ret_number)
{
    if (!is_block(key, MARKER_BYTES) || key.ptr[1] != MARKER_KIND)
        return false;
    *ret_hour = (uint8_t)key.ptr[0];
    *ret_number = bytes_get_be32(key.ptr + 2);
    return true;
}

static bool is_kind(uint8_t byte)
{
    switch ((enum storekey_kind)byte) {
    case STOREKEY_GROUP_SLOT:
    case STOREKEY_GROUP_HOUR:
    case STOREKEY_SUMS:
    case STOREKEY_SAMPLES:
    case STOREKEY_TALLY:
    case STOREKEY_WINDOWS:
    case STOREKEY_SPANS: return true;
    }
    return false;
}

struct storekey storekey_block(struct storekey_block block)
{
    struct storekey key = begin_block(block.hour, (char)block.kind);

    put_be32(&key, block.tenant);
    put_be32(&key, block.group);
    put_be32(&key, block.series);
    put_be32(&key, block.number);
    put_be32(&key, block.part);
    return key;
}

bool storekey_parse_block(struct slice key, struct storekey_block *ret_block)
{
    if (!is_block(key, BLOCK_BYTES) || !is_kind((uint8_t)key.ptr[1]))
        return false;
    *ret_block = (struct storekey_block){
        .hour = (uint8_t)key.ptr[0],
        .kind = (enum storekey_kind)key.ptr[1],
        .tenant = bytes_get_be32(key.ptr + 2),
        .group = bytes_get_be32(key.ptr + 6),
        .series = bytes_get_be32(key.ptr + 10),
        .number = bytes_get_be32(key.ptr + 14),
        .part = bytes_get_be32(key.ptr + 18),
    };
    return true;
}

const char *storekey_head_name(uint8_t hour, uint32_t number, char ret_name[static STOREKEY_HEAD_NAME_BYTES])
{
    ASSERT(hour < HOURS);
    snprintf(ret_name, STOREKEY_HEAD_NAME_BYTES, STOREKEY_HEAD_BEGINNING "%02u-%u", (unsigned)hour, number);
    return ret_name;
}

/* Only the one way of writing a name that storekey_head_name has: an hour of two digits, a number without needless
 * zeros. */
bool storekey_parse_head_name(const char *name, uint8_t *ret_hour, uint32_t *ret_number)
{
    struct slice text = slice_from(name);
    struct slice digits = slice_sub(text, sizeof("head-HH-") - 1, SIZE_MAX);
    uint64_t hour, number;

    if (!slice_starts_with(text, SLICE(STOREKEY_HEAD_BEGINNING)) || digits.len == 0 || digits.ptr[-1] != '-' ||
        (digits.ptr[0] == '0' && digits.len > 1))
        return false;
    if (!slice_to_u64(slice_sub(text, sizeof(STOREKEY_HEAD_BEGINNING) - 1, 2), &hour) ||
        !slice_to_u64(digits, &number) || hour >= HOURS || number > UINT32_MAX)
        return false;
    *ret_hour = (uint8_t)hour;
    *ret_number = (uint32_t)number;
    return true;
}
