// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_packed_internal.h"

/* Appends a chunk to what is gathered so far, moving it out of the input first. */
static int gather(struct arena *arena, struct otlp_packed *packed, struct slice chunk, struct error *err)
{
    size_t needed = packed->len + chunk.len;

    if (needed > packed->capacity) {
        size_t wanted = MAX(needed, MAX(packed->capacity * 2, 64));
        uint8_t *room = packed->capacity
                            ? arena_resize(arena, (void *)(uintptr_t)packed->ptr, packed->capacity, wanted, err)
                            : arena_alloc(arena, wanted, err);

        if (!room)
            return -1;
        if (packed->capacity == 0)
            memcpy(room, packed->ptr, packed->len);
        packed->ptr = room;
        packed->capacity = wanted;
    }
    memcpy((uint8_t *)(uintptr_t)packed->ptr + packed->len, chunk.ptr, chunk.len);
    packed->len = needed;
    return 0;
}

/* Packed varints that will be read from a copy must be good already: problems are told by their place in the input. */
static void check_varints(struct protobuf_reader *r, struct slice chunk)
{
    struct protobuf_reader inner = protobuf_reader_of(chunk);

    while (protobuf_more(&inner))
        (void)protobuf_varint(&inner);
    protobuf_leave(r, &inner);
}

int otlp_packed_add(struct arena *arena, struct otlp_packed *packed, struct protobuf_reader *r,
                    enum protobuf_wire element, uint32_t wire, struct error *err)
{
    const uint8_t *start = r->at;
    struct slice chunk;

    if (wire == PROTOBUF_BYTES) {
        chunk = protobuf_bytes(r);
    } else {
        protobuf_skip(r, PROTOBUF_TAG(1, element));
        chunk = slice_of(start, r->bad ? 0 : (size_t)(r->at - start));
    }
    if (element == PROTOBUF_FIXED64 && chunk.len % 8 != 0) {
        r->at = start;
        protobuf_fail(r, PROTOBUF_VALUE_CUT);
        return 0;
    }
    if (chunk.len == 0)
        return 0;
    if (packed->len == 0) {
        *packed = (struct otlp_packed){ (const uint8_t *)chunk.ptr, chunk.len, 0 };
        return 0;
    }
    if (element == PROTOBUF_VARINT) {
        if (packed->capacity == 0)
            check_varints(r, slice_of(packed->ptr, packed->len));
        check_varints(r, chunk);
    }
    return gather(arena, packed, chunk, err);
}
