// SPDX-License-Identifier: Apache-2.0
#include "block/idrecord.h"

#include "pack/varint.h"

enum { IDRECORD_VERSION = 1 };

void idrecord_encode(const struct idrecord *record, struct buffer *out)
{
    buffer_append_byte(out, IDRECORD_VERSION);
    varint_append(out, varint_zigzag(record->start_ns));
    varint_append(out, record->sequence);
    varint_append(out, record->n_rows);
    varint_encode_u32(record->series, record->n_rows, out);
}

int idrecord_decode(struct slice bytes, struct arena *arena, struct idrecord *ret_record, struct error *err)
{
    uint64_t start, sequence, n_rows;
    struct idrecord record;

    if (!bytes.len)
        return error_set(err, ERR_CORRUPT, "the record of a profile id is empty");
    if (bytes.ptr[0] != IDRECORD_VERSION)
        return error_set(err, ERR_VERSION, "the record of a profile id has version %d, this program knows %d",
                         bytes.ptr[0], IDRECORD_VERSION);
    bytes = slice_of(bytes.ptr + 1, bytes.len - 1);
    if (!varint_next(&bytes, &start) || !varint_next(&bytes, &sequence) || !varint_next(&bytes, &n_rows) || !n_rows ||
        n_rows > bytes.len || sequence > UINT32_MAX || n_rows - 1 > UINT32_MAX - sequence)
        return error_set(err, ERR_CORRUPT, "the record of a profile id is cut off or damaged");
    record = (struct idrecord){ varint_unzigzag(start), (uint32_t)sequence, (uint32_t)n_rows, NULL };
    record.series = ARENA_ARRAY(arena, uint32_t, record.n_rows, err);
    if (!record.series)
        return -1;
    if (varint_decode_u32(&bytes, record.series, record.n_rows, err) < 0)
        return error_wrap(err, "the series of a profile id");
    if (bytes.len)
        return error_set(err, ERR_CORRUPT, "%zu bytes follow the record of a profile id", bytes.len);
    *ret_record = record;
    return 0;
}

bool idrecord_has_row(const struct idrecord *record, int64_t start_ns, uint32_t sequence)
{
    return start_ns == record->start_ns && sequence >= record->sequence && sequence - record->sequence < record->n_rows;
}

bool idrecord_has_series(const struct idrecord *record, uint32_t series)
{
    for (uint32_t i = 0; i < record->n_rows; i++)
        if (record->series[i] == series)
            return true;
    return false;
}
