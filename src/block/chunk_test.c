// SPDX-License-Identifier: Apache-2.0
#include "block/chunk.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/test.h"
#include "profile/content.h"

#include <stdio.h>

#define MAX_LINES  12
#define MAX_DEPTH  40
#define MAX_LABELS 8

/* One entry of each kind, made from a number alone. */
struct entry {
    char bytes[64];
    struct slice text;
    struct mapping mapping;
    struct function function;
    struct frame frame;
    struct line lines[MAX_LINES];
    struct hash128 hash;
    uint32_t frames[MAX_DEPTH];
    uint32_t depth;
    struct label labels[MAX_LABELS];
    uint32_t n_labels;
};

static uint64_t next_random(uint64_t *state)
{
    return hash_mix64(*state += 0x9e3779b97f4a7c15u);
}

/* Numbers of every magnitude, edges among them. */
static uint64_t random_wide(uint64_t *state)
{
    uint64_t shift = next_random(state) % 70;

    return shift < 64 ? next_random(state) >> shift : shift < 67 ? UINT64_MAX : 0;
}

static uint32_t random_id(uint64_t *state)
{
    uint64_t shift = next_random(state) % 36;

    return shift < 32 ? (uint32_t)next_random(state) >> shift : shift < 34 ? UINT32_MAX : 0;
}

static struct mapping random_mapping(uint64_t *state)
{
    return (struct mapping){
        .start = random_wide(state),
        .limit = random_wide(state), /* also before the start */
        .offset = random_wide(state),
        .file = random_id(state),
        .build_id = random_id(state),
        .build_id_go = random_id(state),
        .build_id_hash = random_id(state),
        .flags = random_id(state),
    };
}

static struct function random_function(uint64_t *state)
{
    struct function function = { random_id(state), random_id(state), random_id(state), random_id(state) };

    if (next_random(state) % 3 == 0)
        function.system_name = next_random(state) % 2 ? function.name : 0;
    return function;
}

static struct label random_label(uint64_t *state)
{
    struct label label = { .key = random_id(state), .kind = next_random(state) % (LABEL_JSON + 1) };

    switch ((enum label_kind)label.kind) {
    case LABEL_STRING:
    case LABEL_BYTES:
    case LABEL_JSON: label.text = random_id(state); break;
    case LABEL_NUMBER:
    case LABEL_BOOL:
    case LABEL_DOUBLE:
        label.number = (int64_t)random_wide(state);
        label.unit = random_id(state);
        break;
    }
    return label;
}

static void make_entry(struct entry *entry, uint64_t seed)
{
    uint64_t state = seed;

    *entry = (struct entry){ .mapping = random_mapping(&state), .function = random_function(&state) };
    entry->text = slice_of(entry->bytes, next_random(&state) % sizeof(entry->bytes));
    for (size_t i = 0; i < entry->text.len; i++)
        entry->bytes[i] = (char)next_random(&state);
    entry->frame = (struct frame){
        .address = random_wide(&state),
        .mapping = random_id(&state),
        .n_lines = (uint16_t)(next_random(&state) % (MAX_LINES + 1)),
        .kind = (uint8_t)(next_random(&state) % (FRAME_ABORT_MARKER + 1)),
        .flags = (uint8_t)next_random(&state),
    };
    for (uint32_t i = 0; i < entry->frame.n_lines; i++)
        entry->lines[i] = (struct line){ random_id(&state), random_id(&state), random_id(&state) };
    entry->hash = (struct hash128){ next_random(&state), next_random(&state) | 1 };
    entry->depth = (uint32_t)(next_random(&state) % (MAX_DEPTH + 1));
    for (uint32_t i = 0; i < entry->depth; i++)
        entry->frames[i] = random_id(&state);
    entry->n_labels = (uint32_t)(next_random(&state) % (MAX_LABELS + 1));
    for (uint32_t i = 0; i < entry->n_labels; i++)
        entry->labels[i] = random_label(&state);
}

static void put_entry(struct chunk_writer *writer, struct entry *entry)
{
    bool is_stack = writer->kind == CHUNK_STACK;

    chunk_put(writer, &(struct chunk_entry){ .text = entry->text,
                                             .mapping = entry->mapping,
                                             .function = entry->function,
                                             .frame = entry->frame,
                                             .lines = entry->lines,
                                             .hash = entry->hash,
                                             .frames = entry->frames,
                                             .labels = entry->labels,
                                             .n = is_stack ? entry->depth : entry->n_labels });
}

/* The entries of `seed` and the numbers behind it. */
static void put_entries(struct chunk_writer *writer, uint64_t seed, uint32_t n)
{
    struct entry entry;

    for (uint32_t i = 0; i < n; i++) {
        make_entry(&entry, seed + i);
        put_entry(writer, &entry);
    }
}

static void make_chunk(enum chunk_kind kind, uint64_t seed, uint32_t n, struct buffer *out)
{
    struct chunk_writer writer;
    struct error err;

    chunk_writer_init(&writer, kind, 0);
    put_entries(&writer, seed, n);
    chunk_writer_finish(&writer, out);
    CHECK_OK(buffer_check(out, &err), &err);
    chunk_writer_done(&writer);
}

/* The next entry into `ret_entry`, whatever its kind, copied. */
static int read_entry(struct chunk_reader *reader, struct arena *arena, struct entry *ret_entry, struct error *err)
{
    struct chunk_entry read;

    *ret_entry = (struct entry){ .text = { NULL, 0 } };
    if (chunk_next(reader, arena, &read, err) < 0)
        return -1;
    ret_entry->text = read.text;
    ret_entry->mapping = read.mapping;
    ret_entry->function = read.function;
    ret_entry->frame = read.frame;
    ret_entry->hash = read.hash;
    if (reader->kind == CHUNK_FRAME)
        memcpy(ret_entry->lines, read.lines, MIN(read.frame.n_lines, MAX_LINES) * sizeof(*read.lines));
    if (reader->kind == CHUNK_STACK) {
        ret_entry->depth = read.n;
        memcpy(ret_entry->frames, read.frames, MIN(read.n, MAX_DEPTH) * sizeof(*read.frames));
    }
    if (reader->kind == CHUNK_LABEL_SET) {
        ret_entry->n_labels = read.n;
        memcpy(ret_entry->labels, read.labels, MIN(read.n, MAX_LABELS) * sizeof(*read.labels));
    }
    return 0;
}

static bool is_equal(enum chunk_kind kind, const struct entry *a, const struct entry *b)
{
    switch (kind) {
    case CHUNK_STRING: return slice_equal(a->text, b->text);
    case CHUNK_MAPPING: return memcmp(&a->mapping, &b->mapping, sizeof(a->mapping)) == 0;
    case CHUNK_FUNCTION: return memcmp(&a->function, &b->function, sizeof(a->function)) == 0;
    case CHUNK_FRAME:
        return memcmp(&a->frame, &b->frame, sizeof(a->frame)) == 0 && memcmp(a->lines, b->lines, sizeof(a->lines)) == 0;
    case CHUNK_STACK:
        return hash_equal(a->hash, b->hash) && a->depth == b->depth &&
               memcmp(a->frames, b->frames, sizeof(a->frames)) == 0;
    case CHUNK_LABEL_SET: return a->n_labels == b->n_labels && memcmp(a->labels, b->labels, sizeof(a->labels)) == 0;
    }
    return false;
}

static void check_round_trip(enum chunk_kind kind, uint64_t seed, uint32_t n)
{
    AUTO(buffer_done) struct buffer out;
    AUTO(arena_done) struct arena arena;
    struct chunk_reader reader, skipping;
    struct entry wanted, got;
    struct error err;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    make_chunk(kind, seed, n, &out);
    CHECK_OK(chunk_reader_init(&reader, kind, buffer_slice(&out), &err), &err);
    CHECK_OK(chunk_reader_init(&skipping, kind, buffer_slice(&out), &err), &err);
    CHECK_EQ(reader.n, n);
    for (uint32_t i = 0; i < n; i++) {
        make_entry(&wanted, seed + i);
        CHECK_OK(read_entry(&reader, &arena, &got, &err), &err);
        CHECK(is_equal(kind, &got, &wanted));
        CHECK_OK(chunk_skip(&skipping, &err), &err);
        CHECK_EQ(skipping.rest.len, reader.rest.len);
        CHECK_EQ(skipping.at, i + 1);
        CHECK_EQ(reader.at, i + 1);
    }
    CHECK_EQ(reader.rest.len, 0);
}

TEST(chunk_gives_back_what_was_put_and_skips_as_much)
{
    for (enum chunk_kind kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++) {
        for (uint64_t seed = 1; seed <= 40; seed++)
            check_round_trip(kind, seed * 1000, (uint32_t)seed * 3);
        check_round_trip(kind, 7, 0);
    }
}

/* A chunk of one kind from one entry that `put` made. */
#define CHECK_BYTES(chunk_kind, put, wanted)                                                                           \
    do {                                                                                                               \
        struct chunk_writer writer;                                                                                    \
        struct buffer out;                                                                                             \
        struct error err;                                                                                              \
        chunk_writer_init(&writer, chunk_kind, 0);                                                                     \
        buffer_init(&out, 0);                                                                                          \
        put;                                                                                                           \
        chunk_writer_finish(&writer, &out);                                                                            \
        CHECK_OK(buffer_check(&out, &err), &err);                                                                      \
        CHECK_TEXT(buffer_slice(&out), SLICE(wanted));                                                                 \
        chunk_writer_done(&writer);                                                                                    \
        buffer_done(&out);                                                                                             \
    } while (0)

TEST(chunk_writes_the_bytes_of_the_format)
{
    struct mapping mapping = { .start = 300, .limit = 301, .offset = 2, .file = 3, .build_id = 4, .flags = 15 };
    struct frame frame = { .address = 300, .mapping = 2, .n_lines = 1, .kind = FRAME_GO, .flags = FRAME_IS_FOLDED };
    struct line line = { 5, 6, 7 };
    struct hash128 hash = { 0x0807060504030201, 0x100f0e0d0c0b0a09 };
    uint32_t frames[] = { 9, 12, 10 }; /* leaf first */
    struct label labels[] = { { .key = 1, .kind = LABEL_STRING, .text = 2 },
                              { .key = 3, .kind = LABEL_NUMBER, .number = -2, .unit = 4 } };

    CHECK_BYTES(CHUNK_STRING, (chunk_put_string(&writer, SLICE("main")), chunk_put_string(&writer, SLICE(""))),
                "\1\2\4main\0");
    CHECK_BYTES(CHUNK_MAPPING, chunk_put_mapping(&writer, &mapping), "\1\1\xac\2\1\2\3\4\0\0\17");
    CHECK_BYTES(CHUNK_FUNCTION, chunk_put_function(&writer, &(struct function){ 7, 0, 3, 1 }), "\1\1\7\0\3\1");
    CHECK_BYTES(CHUNK_FUNCTION, chunk_put_function(&writer, &(struct function){ 7, 7, 3, 1 }), "\1\1\7\1\3\1");
    CHECK_BYTES(CHUNK_FUNCTION, chunk_put_function(&writer, &(struct function){ 7, 8, 3, 1 }), "\1\1\7\11\3\1");
    CHECK_BYTES(CHUNK_FRAME, chunk_put_frame(&writer, &frame, &line), "\1\1\3\1\2\xac\2\1\5\6\7");
    CHECK_BYTES(CHUNK_STACK, chunk_put_stack(&writer, hash, frames, 3),
                "\1\1\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\3\24\4\5");
    CHECK_BYTES(CHUNK_LABEL_SET, chunk_put_label_set(&writer, labels, 2), "\1\1\2\1\0\2\3\1\3\4");
}

TEST(chunk_keeps_hashes_of_all_stacks_in_front)
{
    AUTO(buffer_done) struct buffer out;
    struct chunk_reader reader;
    struct entry entry;
    struct error err;

    buffer_init(&out, 0);
    make_chunk(CHUNK_STACK, 100, 50, &out);
    CHECK_OK(chunk_reader_init(&reader, CHUNK_STACK, buffer_slice(&out), &err), &err);
    for (uint32_t i = 50; i-- > 0;) {
        make_entry(&entry, 100 + i);
        CHECK(hash_equal(chunk_stack_hash(&reader, i), entry.hash));
    }
}

TEST(chunk_names_its_kinds)
{
    CHECK_TEXT(chunk_kind_name(CHUNK_STRING), "string");
    CHECK_TEXT(chunk_kind_name(CHUNK_LABEL_SET), "label set");
    CHECK_TEXT(chunk_kind_name((enum chunk_kind)0), "unknown");
    CHECK_TEXT(chunk_kind_name((enum chunk_kind)CHUNK_KINDS), "unknown");
}

/* Reads all of `bytes`, or skips through them, from memory that ends where they end. */
static int walk(enum chunk_kind kind, struct slice bytes, bool is_skipping, struct error *err)
{
    AUTO(memory_freep) char *copy = memory_alloc(bytes.len, err);
    AUTO(arena_done) struct arena arena;
    struct chunk_reader reader;
    struct entry entry;

    arena_init(&arena, 0);
    CHECK(copy);
    if (bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    if (chunk_reader_init(&reader, kind, slice_of(copy, bytes.len), err) < 0)
        return -1;
    while (reader.at < reader.n) {
        struct chunk_reader before = reader;

        if ((is_skipping ? chunk_skip(&reader, err) : read_entry(&reader, &arena, &entry, err)) < 0) {
            CHECK(reader.at == before.at && reader.rest.ptr == before.rest.ptr);
            return -1;
        }
    }
    return 0;
}

TEST(chunk_refuses_every_truncation)
{
    for (enum chunk_kind kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++) {
        AUTO(buffer_done) struct buffer out;
        struct error err;

        buffer_init(&out, 0);
        make_chunk(kind, 500, 20, &out);
        for (size_t len = 0; len < out.len; len++) {
            CHECK_ERROR(walk(kind, slice_of(out.data, len), false, &err), &err, ERR_CORRUPT);
            CHECK_ERROR(walk(kind, slice_of(out.data, len), true, &err), &err, ERR_CORRUPT);
        }
        CHECK_OK(walk(kind, buffer_slice(&out), false, &err), &err);
    }
}

TEST(chunk_refuses_bytes_behind_the_last_entry)
{
    for (enum chunk_kind kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++) {
        for (uint32_t n = 0; n <= 2; n++) {
            AUTO(buffer_done) struct buffer out;
            struct error err;

            buffer_init(&out, 0);
            make_chunk(kind, 600, n, &out);
            buffer_append_byte(&out, 0);
            CHECK_ERROR(walk(kind, buffer_slice(&out), false, &err), &err, ERR_CORRUPT);
            CHECK_HAS(err.text, n == 0 ? "has 1 bytes behind byte 2" : "1 bytes follow the last entry");
            CHECK_ERROR(walk(kind, buffer_slice(&out), true, &err), &err, ERR_CORRUPT);
        }
    }
}

TEST(chunk_refuses_other_versions_and_kinds)
{
    struct chunk_reader reader = { .n = 77 };
    struct error err;

    CHECK_ERROR(chunk_reader_init(&reader, CHUNK_FRAME, SLICE("\2\0"), &err), &err, ERR_VERSION);
    CHECK_TEXT(err.text, "a frame chunk has version 2, this hearth reads version 1");
    CHECK_ERROR(chunk_reader_init(&reader, CHUNK_FRAME, SLICE(""), &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "a frame chunk is empty, without its version");
    CHECK_ERROR(chunk_reader_init(&reader, CHUNK_FRAME, (struct slice){ NULL, 0 }, &err), &err, ERR_CORRUPT);
    CHECK_ERROR(chunk_reader_init(&reader, (enum chunk_kind)0, SLICE("\1\0"), &err), &err, ERR_CORRUPT);
    CHECK_ERROR(chunk_reader_init(&reader, (enum chunk_kind)255, SLICE("\1\0"), &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "a chunk has kind 255, known are 1 to 6");
    CHECK_EQ(reader.n, 77);
}

#define CHECK_DAMAGE(kind, bytes, words)                                                                               \
    do {                                                                                                               \
        struct error err;                                                                                              \
        CHECK_ERROR(walk((kind), SLICE(bytes), false, &err), &err, ERR_CORRUPT);                                       \
        CHECK_TEXT(err.text, words);                                                                                   \
    } while (0)

TEST(chunk_trusts_no_count)
{
    CHECK_DAMAGE(CHUNK_STRING, "\1\3\0\0",
                 "a string chunk claims 3 entries at byte 1, but at most 16777216 are allowed and 2 bytes follow");
    CHECK_DAMAGE(CHUNK_STACK, "\1\1ABCDEFGHIJKLMNOP",
                 "a stack chunk claims 1 entries at byte 1, but at most 16777216 are allowed and 16 bytes follow");
    CHECK_DAMAGE(CHUNK_STRING, "\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0\0",
                 "a string chunk claims 18446744073709551615 entries at byte 1, but at most 16777216 are allowed and 2 "
                 "bytes follow");
    CHECK_DAMAGE(CHUNK_STRING, "\1\2\1a\2b", "string 2 of 2, at byte 5: length 2, but only 1 bytes follow");
    CHECK_DAMAGE(CHUNK_STACK, "\1\1ABCDEFGHIJKLMNOP\3\1\1",
                 "stack 1 of 1, at byte 19: depth 3, but only 2 bytes follow");
    CHECK_DAMAGE(CHUNK_STACK, "\1\1ABCDEFGHIJKLMNOP\x81\x20", "stack 1 of 1, at byte 18: depth 4097, the most is 4096");
    CHECK_DAMAGE(CHUNK_FRAME, "\1\1\0\0\0\0\1\1\1", "frame 1 of 1, at byte 7: line count 1, but only 2 bytes follow");
    CHECK_DAMAGE(CHUNK_FRAME, "\1\1\0\0\0\0\x80\x80\4", "frame 1 of 1, at byte 6: line count 65536, the most is 65535");
    CHECK_DAMAGE(CHUNK_LABEL_SET, "\1\1\2\1\0\1\1\0",
                 "label set 1 of 1, at byte 3: label count 2, but only 5 bytes follow");
}

TEST(chunk_names_entry_and_offset_of_what_is_damaged)
{
    CHECK_DAMAGE(CHUNK_MAPPING, "\1\1\0\0\0\0\0\0\0\x80",
                 "mapping 1 of 1, at byte 9: flags cut off, or too large for 64 bits");
    CHECK_DAMAGE(CHUNK_MAPPING, "\1\1\0\0\0\x80\x80\x80\x80\x10\0\0\0\0",
                 "mapping 1 of 1, at byte 5: file 4294967296, the most is 4294967295");
    CHECK_DAMAGE(CHUNK_FUNCTION, "\1\2\1\0\1\1\1\x81\x80\x80\x80\x10\1\1",
                 "function 2 of 2, at byte 7: system name 4294967297, the most is 4294967296");
    CHECK_DAMAGE(CHUNK_STACK, "\1\1ABCDEFGHIJKLMNOP\2\2\3",
                 "stack 1 of 1, at byte 20: frame id does not fit 32 bits"); /* 1, then 1 - 2 */
    CHECK_DAMAGE(CHUNK_STACK, "\1\1ABCDEFGHIJKLMNOP\1\x80\x80\x80\x80\x20",
                 "stack 1 of 1, at byte 19: frame id does not fit 32 bits"); /* 2^32 */
    CHECK_DAMAGE(CHUNK_STACK, "\1\1ABCDEFGHIJKLMNOP\1\x80",
                 "stack 1 of 1, at byte 19: frame cut off, or too large for 64 bits");
    CHECK_DAMAGE(CHUNK_LABEL_SET, "\1\1\1\1\6\1", "label set 1 of 1, at byte 4: label kind 6, the most is 5");
}

TEST(chunk_reads_frame_kinds_of_a_newer_hearth_as_unknown)
{
    AUTO(arena_done) struct arena arena;
    struct chunk_reader reader;
    struct frame frame;
    struct line *lines;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(chunk_reader_init(&reader, CHUNK_FRAME, SLICE("\1\1\x10\1\2\3\0"), &err), &err);
    CHECK_OK(chunk_next_frame(&reader, &arena, &frame, &lines, &err), &err);
    CHECK_EQ(frame.kind, FRAME_UNKNOWN);
    CHECK_EQ(frame.flags, FRAME_IS_FOLDED);
    CHECK_EQ(frame.mapping, 2);
    CHECK_EQ(frame.address, 3);
}

TEST(chunk_takes_the_deepest_stack_and_the_most_lines)
{
    static uint32_t frames[CONTENT_MAX_DEPTH];
    static struct line lines[UINT16_MAX];
    AUTO(arena_done) struct arena arena;
    AUTO(buffer_done) struct buffer out;
    struct frame frame = { .n_lines = UINT16_MAX };
    struct chunk_writer writer;
    struct chunk_reader reader;
    struct line *lines_back;
    uint32_t *frames_back, depth;
    struct error err;

    for (uint32_t i = 0; i < CONTENT_MAX_DEPTH; i++)
        frames[i] = i % 2 ? UINT32_MAX : 0; /* the widest differences */
    for (uint32_t i = 0; i < UINT16_MAX; i++)
        lines[i] = (struct line){ UINT32_MAX, UINT32_MAX - i, i };
    arena_init(&arena, 0);
    buffer_init(&out, 0);
    chunk_writer_init(&writer, CHUNK_STACK, 0);
    chunk_put_stack(&writer, (struct hash128){ 1, 3 }, frames, CONTENT_MAX_DEPTH);
    chunk_writer_finish(&writer, &out);
    chunk_writer_done(&writer);
    CHECK_OK(chunk_reader_init(&reader, CHUNK_STACK, buffer_slice(&out), &err), &err);
    CHECK_OK(chunk_next_stack(&reader, &arena, &frames_back, &depth, &err), &err);
    CHECK_EQ(depth, CONTENT_MAX_DEPTH);
    CHECK(memcmp(frames, frames_back, sizeof(frames)) == 0);

    buffer_clear(&out);
    chunk_writer_init(&writer, CHUNK_FRAME, 0);
    chunk_put_frame(&writer, &frame, lines);
    chunk_writer_finish(&writer, &out);
    chunk_writer_done(&writer);
    CHECK_OK(chunk_reader_init(&reader, CHUNK_FRAME, buffer_slice(&out), &err), &err);
    CHECK_OK(chunk_next_frame(&reader, &arena, &frame, &lines_back, &err), &err);
    CHECK_EQ(frame.n_lines, UINT16_MAX);
    CHECK(memcmp(lines, lines_back, sizeof(lines)) == 0);
}

TEST(chunk_writer_starts_afresh_when_cleared)
{
    for (enum chunk_kind kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++) {
        AUTO(buffer_done) struct buffer fresh, again;
        struct chunk_writer writer;

        buffer_init(&fresh, 0);
        buffer_init(&again, 0);
        make_chunk(kind, 900, 10, &fresh);
        chunk_writer_init(&writer, kind, 0);
        put_entries(&writer, 1, 17);
        chunk_writer_clear(&writer);
        put_entries(&writer, 900, 10);
        chunk_writer_finish(&writer, &again);
        CHECK_TEXT(buffer_slice(&again), buffer_slice(&fresh));
        chunk_writer_done(&writer);
    }
}

TEST(chunk_writer_hands_its_failure_to_the_buffer)
{
    for (enum chunk_kind kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++) {
        AUTO(buffer_done) struct buffer out;
        struct chunk_writer writer;
        struct error err;

        buffer_init(&out, 0);
        chunk_writer_init(&writer, kind, 300);
        put_entries(&writer, 1, 200);
        chunk_writer_finish(&writer, &out);
        CHECK_ERROR(buffer_check(&out, &err), &err, ERR_LIMIT);
        CHECK_HAS(err.text, "limit of 300 bytes");
        CHECK_EQ(out.len, 0);
        buffer_clear(&out);
        chunk_writer_clear(&writer);
        chunk_writer_finish(&writer, &out);
        CHECK_TEXT(buffer_slice(&out), SLICE("\1\0"));
        chunk_writer_done(&writer);
    }
}

TEST(chunk_writer_stops_at_the_most_entries_a_chunk_may_have)
{
    AUTO(buffer_done) struct buffer out;
    struct chunk_writer writer;
    struct error err;

    buffer_init(&out, 0);
    chunk_writer_init(&writer, CHUNK_STRING, 0);
    for (uint32_t i = 0; i < CHUNK_MAX_ENTRIES; i++)
        chunk_put_string(&writer, SLICE(""));
    CHECK_OK(buffer_check(&writer.entries, &err), &err);
    chunk_put_string(&writer, SLICE(""));
    chunk_put_string(&writer, SLICE(""));
    chunk_writer_finish(&writer, &out);
    CHECK_ERROR(buffer_check(&out, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "more than 16777216 entries in a string chunk");
    chunk_writer_done(&writer);
}

TEST(chunk_keeps_the_first_failure_of_the_buffer)
{
    AUTO(buffer_done) struct buffer out;
    struct chunk_writer writer;
    struct error err;

    buffer_init(&out, 3);
    buffer_append_text(&out, "four");
    chunk_writer_init(&writer, CHUNK_STRING, 1);
    chunk_put_string(&writer, SLICE("longer than a byte"));
    chunk_writer_finish(&writer, &out);
    CHECK_ERROR(buffer_check(&out, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "limit of 3 bytes");
    chunk_writer_done(&writer);
}

TEST(chunk_reports_the_limit_of_the_arena)
{
    static const enum chunk_kind kinds[] = { CHUNK_FRAME, CHUNK_STACK, CHUNK_LABEL_SET };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        AUTO(buffer_done) struct buffer out;
        AUTO(arena_done) struct arena arena;
        struct chunk_reader reader;
        struct entry entry;
        struct error err;
        int result = 0;

        buffer_init(&out, 0);
        arena_init(&arena, 64);
        make_chunk(kinds[i], 40, 30, &out);
        CHECK_OK(chunk_reader_init(&reader, kinds[i], buffer_slice(&out), &err), &err);
        while (result == 0 && reader.at < reader.n)
            result = read_entry(&reader, &arena, &entry, &err);
        CHECK_ERROR(result, &err, ERR_LIMIT);
    }
}

/* Writes and reads a chunk; the kind is the context. */
static int write_and_read(void *context, struct error *err)
{
    AUTO(buffer_done) struct buffer out;
    struct chunk_writer writer;
    int result;

    buffer_init(&out, 0);
    chunk_writer_init(&writer, *(enum chunk_kind *)context, 0);
    put_entries(&writer, 4, 30);
    chunk_writer_finish(&writer, &out);
    chunk_writer_done(&writer);
    result = buffer_check(&out, err);
    if (result == 0) {
        AUTO(arena_done) struct arena arena;
        struct chunk_reader reader;
        struct entry entry;

        arena_init(&arena, 0);
        CHECK_OK(chunk_reader_init(&reader, *(enum chunk_kind *)context, buffer_slice(&out), err), err);
        CHECK_EQ(reader.n, 30);
        while (result == 0 && reader.at < reader.n)
            result = read_entry(&reader, &arena, &entry, err);
    }
    return result;
}

TEST(chunk_survives_every_failing_allocation)
{
    for (enum chunk_kind kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++) {
        test_each_allocation_failing(write_and_read, &kind);
    }
}

static void read_as_another_kind(void)
{
    struct chunk_reader reader;
    struct slice text;
    struct error err;

    IGNORE(chunk_reader_init(&reader, CHUNK_MAPPING, SLICE("\1\1\0\0\0\0\0\0\0\0"), &err), "good bytes");
    IGNORE(chunk_next_string(&reader, &text, &err), "aborts");
}

static void read_behind_the_end(void)
{
    struct chunk_reader reader;
    struct error err;

    IGNORE(chunk_reader_init(&reader, CHUNK_STRING, SLICE("\1\0"), &err), "good bytes");
    IGNORE(chunk_skip(&reader, &err), "aborts");
}

static void put_another_kind(void)
{
    struct chunk_writer writer;

    chunk_writer_init(&writer, CHUNK_STACK, 0);
    chunk_put_string(&writer, SLICE("main"));
}

static void put_too_deep_a_stack(void)
{
    static uint32_t frames[CONTENT_MAX_DEPTH + 1];
    struct chunk_writer writer;

    chunk_writer_init(&writer, CHUNK_STACK, 0);
    chunk_put_stack(&writer, (struct hash128){ 1, 1 }, frames, CONTENT_MAX_DEPTH + 1);
}

TEST(chunk_aborts_on_wrong_use)
{
    CHECK_ABORTS(read_as_another_kind, "reader->kind == CHUNK_STRING");
    CHECK_ABORTS(read_behind_the_end, "reader->at < reader->n");
    CHECK_ABORTS(put_another_kind, "writer->kind == kind");
    CHECK_ABORTS(put_too_deep_a_stack, "depth <= CONTENT_MAX_DEPTH");
}
