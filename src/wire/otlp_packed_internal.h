// SPDX-License-Identifier: Apache-2.0
/* Repeated integers of one field, which may come packed, one by one, or mixed. */
#pragma once

#include "base/arena.h"
#include "wire/protobuf.h"

/* They are kept as packed bytes, however they came: one chunk is borrowed, several are gathered in the arena. */
struct otlp_packed {
    const uint8_t *ptr;
    size_t len;
    size_t capacity; /* 0 = borrowed */
};

/* Takes the value of a field that repeats `element` (PROTOBUF_VARINT or PROTOBUF_FIXED64): one of them, or packed ones
 * where `wire` is PROTOBUF_BYTES. */
MUST_CHECK int otlp_packed_add(struct arena *arena, struct otlp_packed *packed, struct protobuf_reader *reader,
                               enum protobuf_wire element, uint32_t wire, struct error *err);

/* As otlp_packed_add, quick where one packed chunk of varints is all there is. The address of the reader stays here, so
 * that one in a hot loop can live in registers. */
static inline int otlp_packed_take(struct arena *arena, struct otlp_packed *packed, struct protobuf_reader *reader,
                                   enum protobuf_wire element, uint32_t wire, struct error *err)
{
    if (UNLIKELY(wire != PROTOBUF_BYTES || packed->len > 0 || element != PROTOBUF_VARINT)) {
        struct protobuf_reader copy = *reader;
        int result = otlp_packed_add(arena, packed, &copy, element, wire, err);

        *reader = copy;
        return result;
    } else {
        struct slice chunk = protobuf_bytes(reader);

        packed->ptr = (const uint8_t *)chunk.ptr;
        packed->len = chunk.len;
        return 0;
    }
}

static inline struct protobuf_reader otlp_packed_reader(const struct otlp_packed *packed)
{
    return protobuf_reader_of(slice_of(packed->ptr, packed->len));
}

static inline size_t otlp_packed_count(const struct otlp_packed *packed)
{
    return packed->len ? protobuf_count_varints(slice_of(packed->ptr, packed->len)) : 0;
}
