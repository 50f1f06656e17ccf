// SPDX-License-Identifier: Apache-2.0
#include "pack/compress.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/units.h"
#include "pack/compress_internal.h"

#include <inttypes.h>

#define MAGIC_ZSTD           0xfd2fb528u
#define MAGIC_LZ4            0x184d2204u
#define MAGIC_SKIPPABLE      0x184d2a50u
#define MAGIC_SKIPPABLE_MASK 0xfffffff0u
#define SKIPPABLE_HEADER     8u
#define LEAST_GUESS_BYTES    ((size_t)64 << 10)

const char *compress_kind_name(enum pack_kind kind)
{
    switch (kind) {
    case PACK_NONE: return "none";
    case PACK_GZIP: return "gzip";
    case PACK_ZLIB: return "zlib";
    case PACK_ZSTD: return "zstd";
    case PACK_LZ4: return "lz4";
    }
    ASSERT(!"a kind of compression that does not exist");
    return NULL;
}

bool compress_is_skippable(struct slice in)
{
    return in.len >= 4 && (bytes_get_le32(in.ptr) & MAGIC_SKIPPABLE_MASK) == MAGIC_SKIPPABLE;
}

int compress_skip_frame(enum pack_kind kind, struct slice in, size_t *at, struct error *err)
{
    struct slice rest = slice_sub(in, *at, SIZE_MAX);

    if (rest.len < SKIPPABLE_HEADER || rest.len - SKIPPABLE_HEADER < bytes_get_le32(rest.ptr + 4))
        return compress_error_truncated(kind, in.len, err);
    *at += SKIPPABLE_HEADER + bytes_get_le32(rest.ptr + 4);
    return 0;
}

enum pack_kind compress_sniff(struct slice in)
{
    struct error cut_off;
    size_t at = 0;

    if (slice_starts_with(in, SLICE("\x1f\x8b")))
        return PACK_GZIP;
    while (compress_is_skippable(slice_sub(in, at, 4)))
        if (compress_skip_frame(PACK_ZSTD, in, &at, &cut_off) < 0)
            return PACK_ZSTD;
    if (in.len - at >= 4 && bytes_get_le32(in.ptr + at) == MAGIC_LZ4)
        return PACK_LZ4;
    if (at > 0 || (in.len >= 4 && bytes_get_le32(in.ptr) == MAGIC_ZSTD))
        return PACK_ZSTD;
    return PACK_NONE;
}

static int append_to_buffer(void *context, struct slice bytes, struct error *err)
{
    struct buffer *out = context;

    buffer_append_slice(out, bytes);
    return buffer_check(out, err);
}

struct compress_sink compress_sink_to_buffer(struct buffer *out)
{
    return (struct compress_sink){ append_to_buffer, out };
}

char *compress_reserve(struct buffer *out, size_t n, struct error *err)
{
    char *at = buffer_reserve(out, n + COMPRESS_SPARE_BYTES);

    if (!at)
        IGNORE(buffer_check(out, err), "it fails, and fills err");
    return at;
}

size_t compress_guess_size(size_t in_bytes)
{
    return MAX(in_bytes < SIZE_MAX / 4 ? in_bytes * 4 : in_bytes, LEAST_GUESS_BYTES);
}

size_t compress_room(const struct buffer *out)
{
    size_t room = out->capacity - out->len;

    return room > COMPRESS_SPARE_BYTES ? room - COMPRESS_SPARE_BYTES : 0;
}

int compress_error_limit(enum pack_kind kind, size_t max_bytes, struct error *err)
{
    return error_set(err, ERR_LIMIT, "%s: inflates to more than the limit of %s", compress_kind_name(kind),
                     units_human_bytes((int64_t)max_bytes).text);
}

int compress_error_truncated(enum pack_kind kind, uint64_t in_bytes, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "%s: truncated after %" PRIu64 " bytes", compress_kind_name(kind), in_bytes);
}

int compress_error_garbage(enum pack_kind kind, uint64_t offset, struct error *err)
{
    const char *name = compress_kind_name(kind);

    if (offset == 0)
        return error_set(err, ERR_CORRUPT, "%s: does not begin with the magic bytes of %s", name, name);
    return error_set(err, ERR_CORRUPT, "%s: data ends at byte %" PRIu64 ", but something else follows it", name,
                     offset);
}

int compress_error_memory(enum pack_kind kind, struct error *err)
{
    return error_set(err, ERR_MEMORY, "%s: out of memory", compress_kind_name(kind));
}

int compress_error_level(enum pack_kind kind, int level, int min, int max, struct error *err)
{
    return error_set(err, ERR_INVALID, "%s: level %d does not exist, levels are %d to %d", compress_kind_name(kind),
                     level, min, max);
}

void *compress_alloc(void *unused, size_t size_bytes)
{
    struct error out_of_memory; /* the library reports it in its own way */

    return memory_alloc(size_bytes, &out_of_memory);
}

void compress_free(void *unused, void *ptr)
{
    memory_free(ptr);
}
