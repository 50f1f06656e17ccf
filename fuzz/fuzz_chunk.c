// SPDX-License-Identifier: Apache-2.0
/* Dictionary chunks; the first byte of the input is the kind. Any bytes give entries or ERR_CORRUPT; skipping an entry
 * ends where reading it ends; entries that were read, written again, are read as the same. */
#include "block/chunk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_equal(const struct chunk_entry *a, const struct chunk_entry *b)
{
    ASSERT(slice_equal(a->text, b->text));
    ASSERT(memcmp(&a->mapping, &b->mapping, sizeof(a->mapping)) == 0);
    ASSERT(memcmp(&a->function, &b->function, sizeof(a->function)) == 0);
    ASSERT(memcmp(&a->frame, &b->frame, sizeof(a->frame)) == 0);
    ASSERT(a->frame.n_lines == 0 || memcmp(a->lines, b->lines, a->frame.n_lines * sizeof(*a->lines)) == 0);
    ASSERT(hash_equal(a->hash, b->hash) && a->n == b->n);
    ASSERT(!a->frames || memcmp(a->frames, b->frames, a->n * sizeof(*a->frames)) == 0);
    ASSERT(!a->labels || memcmp(a->labels, b->labels, a->n * sizeof(*a->labels)) == 0);
}

/* Writes the entries of a chunk until one is damaged, and passes over each beside reading it. True if all are good. */
static bool copy_entries(struct chunk_reader reader, struct chunk_writer *writer, struct arena *arena)
{
    struct chunk_reader skipping = reader;
    struct chunk_entry entry;
    struct error err;

    while (reader.at < reader.n) {
        if (chunk_next(&reader, arena, &entry, &err) < 0) {
            ASSERT(err.code == ERR_CORRUPT);
            return false;
        }
        ASSERT(chunk_skip(&skipping, &err) == 0);
        ASSERT(skipping.at == reader.at && skipping.rest.ptr == reader.rest.ptr &&
               skipping.rest.len == reader.rest.len);
        chunk_put(writer, &entry);
        arena_reset(arena);
    }
    return true;
}

static void check_copy(struct chunk_reader reader, const struct buffer *copy, struct arena *arena)
{
    struct chunk_reader copied;
    struct chunk_entry entry, other;
    struct error err;

    ASSERT(chunk_reader_init(&copied, reader.kind, buffer_slice(copy), &err) == 0 && copied.n == reader.n);
    while (reader.at < reader.n) {
        ASSERT(chunk_next(&reader, arena, &entry, &err) == 0 && chunk_next(&copied, arena, &other, &err) == 0);
        check_equal(&entry, &other);
        arena_reset(arena);
    }
    ASSERT(copied.rest.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena arena;
    AUTO(buffer_done) struct buffer copy;
    struct chunk_reader reader;
    struct chunk_writer writer;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&copy, 0);
    if (size == 0)
        return 0;
    if (chunk_reader_init(&reader, (enum chunk_kind)data[0], slice_of(data + 1, size - 1), &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_VERSION);
        return 0;
    }
    chunk_writer_init(&writer, reader.kind, 0);
    if (copy_entries(reader, &writer, &arena)) {
        chunk_writer_finish(&writer, &copy);
        ASSERT(buffer_check(&copy, &err) == 0);
        check_copy(reader, &copy, &arena);
    }
    chunk_writer_done(&writer);
    return 0;
}
