// SPDX-License-Identifier: Apache-2.0
/* Dictionary chunks; the first byte of the input is the kind. Any bytes give entries or ERR_CORRUPT; skipping an entry
 * ends where reading it ends; entries that were read, written again, are read as the same. */
#include "block/chunk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An entry of whatever kind; the parts of other kinds stay zero. */
struct entry {
    struct slice text;
    struct mapping mapping;
    struct function function;
    struct frame frame;
    struct line *lines;
    struct hash128 hash;
    uint32_t *frames;
    struct label *labels;
    uint32_t n; /* frames or labels */
};

static int read_entry(struct chunk_reader *reader, struct arena *arena, struct entry *entry, struct error *err)
{
    *entry = (struct entry){ .n = 0 };
    switch (reader->kind) {
    case CHUNK_STRING: return chunk_next_string(reader, &entry->text, err);
    case CHUNK_MAPPING: return chunk_next_mapping(reader, &entry->mapping, err);
    case CHUNK_FUNCTION: return chunk_next_function(reader, &entry->function, err);
    case CHUNK_FRAME: return chunk_next_frame(reader, arena, &entry->frame, &entry->lines, err);
    case CHUNK_STACK:
        entry->hash = chunk_stack_hash(reader, reader->at);
        return chunk_next_stack(reader, arena, &entry->frames, &entry->n, err);
    case CHUNK_LABEL_SET: return chunk_next_label_set(reader, arena, &entry->labels, &entry->n, err);
    }
    return error_set(err, ERR_INVALID, "no such kind");
}

static void put_entry(struct chunk_writer *writer, const struct entry *entry)
{
    switch (writer->kind) {
    case CHUNK_STRING: chunk_put_string(writer, entry->text); break;
    case CHUNK_MAPPING: chunk_put_mapping(writer, &entry->mapping); break;
    case CHUNK_FUNCTION: chunk_put_function(writer, &entry->function); break;
    case CHUNK_FRAME: chunk_put_frame(writer, &entry->frame, entry->lines); break;
    case CHUNK_STACK: chunk_put_stack(writer, entry->hash, entry->frames, entry->n); break;
    case CHUNK_LABEL_SET: chunk_put_label_set(writer, entry->labels, entry->n); break;
    }
}

static void check_equal(const struct entry *a, const struct entry *b)
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
    struct entry entry;
    struct error err;

    while (reader.at < reader.n) {
        if (read_entry(&reader, arena, &entry, &err) < 0) {
            ASSERT(err.code == ERR_CORRUPT);
            return false;
        }
        ASSERT(chunk_skip(&skipping, &err) == 0);
        ASSERT(skipping.at == reader.at && skipping.rest.ptr == reader.rest.ptr &&
               skipping.rest.len == reader.rest.len);
        put_entry(writer, &entry);
        arena_reset(arena);
    }
    return true;
}

static void check_copy(struct chunk_reader reader, const struct buffer *copy, struct arena *arena)
{
    struct chunk_reader copied;
    struct entry entry, other;
    struct error err;

    ASSERT(chunk_reader_init(&copied, reader.kind, buffer_slice(copy), &err) == 0 && copied.n == reader.n);
    while (reader.at < reader.n) {
        ASSERT(read_entry(&reader, arena, &entry, &err) == 0 && read_entry(&copied, arena, &other, &err) == 0);
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
