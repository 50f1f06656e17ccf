// SPDX-License-Identifier: Apache-2.0
#include "block/rowid.h"

#include "base/bytes.h"
#include "base/hash.h"

static const int64_t hour_ns = (int64_t)3600 * 1000000000;

/* The 122 bits that are ours are 96 of content and these. */
static uint32_t check_of(const struct rowid *row)
{
    return (uint32_t)(hash_mix64(hash_mix64((uint64_t)(uint32_t)row->hour << 32 | row->series) + row->sequence) >> 38);
}

/*     0   hour (32), series (16)           custom_a of RFC 9562
 *     6   8 (4), series (12)               the version, custom_b
 *     8   2 (2), series (4), sequence (32), check (26)     the variant, custom_c */
void rowid_encode(const struct rowid *row, uint8_t ret_id[static ROWID_BYTES])
{
    uint64_t hour = (uint32_t)row->hour ^ 0x80000000u, series = row->series;
    uint64_t high = hour << 32 | (series >> 16) << 16 | 0x8000 | (series >> 4 & 0xfff);
    uint64_t low = (uint64_t)2 << 62 | (series & 0xf) << 58 | (uint64_t)row->sequence << 26 | check_of(row);

    bytes_put_be64(ret_id, high);
    bytes_put_be64(ret_id + 8, low);
}

bool rowid_decode(const uint8_t id[static ROWID_BYTES], struct rowid *ret_row)
{
    uint64_t high = bytes_get_be64(id), low = bytes_get_be64(id + 8);
    struct rowid row = { .hour = (int32_t)((uint32_t)(high >> 32) ^ 0x80000000u),
                         .series = (uint32_t)((high >> 16 & 0xffff) << 16 | (high & 0xfff) << 4 | (low >> 58 & 0xf)),
                         .sequence = (uint32_t)(low >> 26) };

    if ((high >> 12 & 0xf) != 8 || low >> 62 != 2 || (low & 0x3ffffff) != check_of(&row))
        return false;
    *ret_row = row;
    return true;
}

int32_t rowid_hour(int64_t time_ns)
{
    int64_t hour = time_ns / hour_ns;

    return (int32_t)(hour - (hour * hour_ns > time_ns));
}
