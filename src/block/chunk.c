// SPDX-License-Identifier: Apache-2.0
#include "block/chunk.h"

#include "base/bytes.h"
#include "pack/varint.h"
#include "profile/content.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define VERSION          1
#define HASH_BYTES       16u
#define DELTA_BYTES      5u /* a difference of two 32-bit ids has 33 bits, its varint at most five bytes */
#define SYSTEM_NAME_NONE 0u /* in place of a function's system name; else it is the id + 1 */
#define SYSTEM_NAME_SAME 1u

static const char *const kind_names[CHUNK_KINDS] = {
    [CHUNK_STRING] = "string", [CHUNK_MAPPING] = "mapping", [CHUNK_FUNCTION] = "function",
    [CHUNK_FRAME] = "frame",   [CHUNK_STACK] = "stack",     [CHUNK_LABEL_SET] = "label set",
};

/* The fewest bytes that an entry can have, so that a count can be held against the bytes that are there. */
static const uint8_t least_bytes[CHUNK_KINDS] = {
    [CHUNK_STRING] = 1,    [CHUNK_MAPPING] = 8, [CHUNK_FUNCTION] = 4, [CHUNK_FRAME] = 5, [CHUNK_STACK] = HASH_BYTES + 1,
    [CHUNK_LABEL_SET] = 1,
};
#define LEAST_LINE_BYTES  3
#define LEAST_LABEL_BYTES 3

/* Kinds come from keys, so that one may be any byte. */
static bool is_kind(enum chunk_kind kind)
{
    return kind >= CHUNK_STRING && kind < CHUNK_KINDS;
}

const char *chunk_kind_name(enum chunk_kind kind)
{
    return is_kind(kind) ? kind_names[kind] : "unknown";
}

static bool has_text(uint32_t label_kind)
{
    return label_kind == LABEL_STRING || label_kind == LABEL_BYTES || label_kind == LABEL_JSON;
}

/* --- writing --- */

void chunk_writer_init(struct chunk_writer *writer, enum chunk_kind kind, size_t max_bytes)
{
    ASSERT(is_kind(kind));
    *writer = (struct chunk_writer){ .kind = kind };
    buffer_init(&writer->hashes, max_bytes);
    buffer_init(&writer->entries, max_bytes);
}

void chunk_writer_done(struct chunk_writer *writer)
{
    buffer_done(&writer->hashes);
    buffer_done(&writer->entries);
    writer->n = 0;
}

void chunk_writer_clear(struct chunk_writer *writer)
{
    buffer_clear(&writer->hashes);
    buffer_clear(&writer->entries);
    writer->n = 0;
}

/* Room for an entry of at most `max_bytes`, or NULL once the chunk has failed. Whoever puts an entry asks once and then
 * writes without looking. */
static char *begin_entry(struct chunk_writer *writer, enum chunk_kind kind, size_t max_bytes)
{
    ASSERT(writer->kind == kind);
    if (UNLIKELY(writer->n >= CHUNK_MAX_ENTRIES)) {
        if (writer->entries.failure.code == ERR_OK)
            error_set(&writer->entries.failure, ERR_LIMIT, "more than %u entries in a %s chunk", CHUNK_MAX_ENTRIES,
                      kind_names[kind]);
        return NULL;
    }
    return buffer_reserve(&writer->entries, max_bytes);
}

static void end_entry(struct chunk_writer *writer, const char *start, const char *end)
{
    buffer_commit(&writer->entries, (size_t)(end - start));
    writer->n++;
}

static char *put_ints(char *at, const uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at = varint_put(at, values[i]);
    return at;
}

void chunk_put_string(struct chunk_writer *writer, struct slice text)
{
    char *start = begin_entry(writer, CHUNK_STRING, VARINT_MAX_BYTES + text.len);
    char *at;

    if (!start)
        return;
    at = varint_put(start, text.len);
    if (text.len > 0)
        memcpy(at, text.ptr, text.len);
    end_entry(writer, start, at + text.len);
}

void chunk_put_mapping(struct chunk_writer *writer, const struct mapping *mapping)
{
    const uint64_t values[] = {
        mapping->start,       mapping->limit - mapping->start, mapping->offset, mapping->file, mapping->build_id,
        mapping->build_id_go, mapping->build_id_hash,          mapping->flags,
    };
    char *start = begin_entry(writer, CHUNK_MAPPING, ARRAY_LEN(values) * VARINT_MAX_BYTES);

    if (start)
        end_entry(writer, start, put_ints(start, values, ARRAY_LEN(values)));
}

static uint64_t system_name_code(const struct function *function)
{
    if (function->system_name == 0)
        return SYSTEM_NAME_NONE;
    return function->system_name == function->name ? SYSTEM_NAME_SAME : (uint64_t)function->system_name + 1;
}

void chunk_put_function(struct chunk_writer *writer, const struct function *function)
{
    const uint64_t values[] = { function->name, system_name_code(function), function->file, function->start_line };
    char *start = begin_entry(writer, CHUNK_FUNCTION, ARRAY_LEN(values) * VARINT_MAX_BYTES);

    if (start)
        end_entry(writer, start, put_ints(start, values, ARRAY_LEN(values)));
}

void chunk_put_frame(struct chunk_writer *writer, const struct frame *frame, const struct line *lines)
{
    size_t max_bytes = 2 + (3 + (size_t)frame->n_lines * 3) * VARINT_MAX_BYTES;
    char *start = begin_entry(writer, CHUNK_FRAME, max_bytes);
    char *at = start;

    if (!start)
        return;
    *at++ = (char)frame->kind;
    *at++ = (char)frame->flags;
    at = varint_put(at, frame->mapping);
    at = varint_put(at, frame->address);
    at = varint_put(at, frame->n_lines);
    for (uint32_t i = 0; i < frame->n_lines; i++) {
        at = varint_put(at, lines[i].function);
        at = varint_put(at, lines[i].line);
        at = varint_put(at, lines[i].column);
    }
    end_entry(writer, start, at);
}

void chunk_put_stack(struct chunk_writer *writer, struct hash128 hash, const uint32_t *frames, uint32_t depth)
{
    char *hash_at = buffer_reserve(&writer->hashes, HASH_BYTES);
    char *start = begin_entry(writer, CHUNK_STACK, depth * (size_t)DELTA_BYTES + 2 * VARINT_MAX_BYTES);
    char *at;
    int64_t before = 0;

    ASSERT(depth <= CONTENT_MAX_DEPTH);
    if (!hash_at || !start)
        return;
    bytes_put_le64(hash_at, hash.a);
    bytes_put_le64(hash_at + 8, hash.b);
    buffer_commit(&writer->hashes, HASH_BYTES);
    at = varint_put(start, depth);
    for (uint32_t i = depth; i-- > 0;) {
        at = varint_put(at, varint_zigzag(frames[i] - before));
        before = frames[i];
    }
    end_entry(writer, start, at);
}

void chunk_put_label_set(struct chunk_writer *writer, const struct label *labels, uint32_t n)
{
    size_t max_bytes = VARINT_MAX_BYTES + n * (size_t)(1 + 3 * VARINT_MAX_BYTES);
    char *start = begin_entry(writer, CHUNK_LABEL_SET, max_bytes);
    char *at;

    if (!start)
        return;
    at = varint_put(start, n);
    for (uint32_t i = 0; i < n; i++) {
        at = varint_put(at, labels[i].key);
        *at++ = (char)labels[i].kind;
        if (has_text(labels[i].kind)) {
            at = varint_put(at, labels[i].text);
        } else {
            at = varint_put(at, varint_zigzag(labels[i].number));
            at = varint_put(at, labels[i].unit);
        }
    }
    end_entry(writer, start, at);
}

void chunk_writer_finish(const struct chunk_writer *writer, struct buffer *out)
{
    struct error err;

    if (buffer_check(out, &err) < 0)
        return;
    if (buffer_check(&writer->entries, &err) < 0 || buffer_check(&writer->hashes, &err) < 0) {
        out->failure = err;
        return;
    }
    buffer_append_byte(out, VERSION);
    varint_append(out, writer->n);
    buffer_append_slice(out, buffer_slice(&writer->hashes));
    buffer_append_slice(out, buffer_slice(&writer->entries));
}

/* --- reading --- */

/* The entry being read: the reader itself moves on only when the entry is whole. */
struct cursor {
    struct chunk_reader *reader;
    const char *at, *end;
    struct error *err;
};

static struct cursor begin_reading(struct chunk_reader *reader, struct error *err)
{
    ASSERT(reader->at < reader->n);
    return (struct cursor){ reader, reader->rest.ptr, reader->rest.ptr + reader->rest.len, err };
}

/* Says which entry is damaged, and where in the chunk. */
static PRINTF(2, 3) void set_damage(const struct cursor *cursor, const char *fmt, ...)
{
    const struct chunk_reader *reader = cursor->reader;
    char what[160];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    error_set(cursor->err, ERR_CORRUPT, "%s %u of %u, at byte %zu: %s", kind_names[reader->kind], reader->at + 1,
              reader->n, (size_t)(cursor->at - reader->whole.ptr), what);
}
/* The -1 is in sight of the compiler, which would else take outputs for uninitialised. */
#define FAIL(cursor, ...) (set_damage((cursor), __VA_ARGS__), -1)

static int end_reading(const struct cursor *cursor)
{
    struct chunk_reader *reader = cursor->reader;

    if (UNLIKELY(reader->at + 1 == reader->n && cursor->at != cursor->end))
        return FAIL(cursor, "%zu bytes follow the last entry", (size_t)(cursor->end - cursor->at));
    reader->rest = slice_of(cursor->at, (size_t)(cursor->end - cursor->at));
    reader->at++;
    return 0;
}

static inline int read_int(struct cursor *cursor, const char *field, uint64_t max, uint64_t *ret_value)
{
    uint64_t value;
    const char *next = varint_get(cursor->at, cursor->end, &value);

    if (UNLIKELY(!next))
        return FAIL(cursor, "%s cut off, or too large for 64 bits", field);
    if (UNLIKELY(value > max))
        return FAIL(cursor, "%s %" PRIu64 ", the most is %" PRIu64, field, value, max);
    cursor->at = next;
    *ret_value = value;
    return 0;
}

static inline int read_id(struct cursor *cursor, const char *field, uint32_t *ret_value)
{
    uint64_t value;

    if (read_int(cursor, field, UINT32_MAX, &value) < 0)
        return -1;
    *ret_value = (uint32_t)value;
    return 0;
}

static inline int read_byte(struct cursor *cursor, const char *field, uint8_t max, uint8_t *ret_value)
{
    if (UNLIKELY(cursor->at == cursor->end))
        return FAIL(cursor, "%s cut off", field);
    if (UNLIKELY((uint8_t)*cursor->at > max))
        return FAIL(cursor, "%s %u, the most is %u", field, (uint8_t)*cursor->at, max);
    *ret_value = (uint8_t)*cursor->at++;
    return 0;
}

/* How many things of at least `item_bytes` follow: at most `max`, and no more than there are bytes for. */
static inline int read_count(struct cursor *cursor, const char *field, uint32_t max, size_t item_bytes, uint32_t *ret_n)
{
    uint64_t n;

    if (read_int(cursor, field, max, &n) < 0)
        return -1;
    if (UNLIKELY(n > (size_t)(cursor->end - cursor->at) / item_bytes))
        return FAIL(cursor, "%s %" PRIu64 ", but only %zu bytes follow", field, n, (size_t)(cursor->end - cursor->at));
    *ret_n = (uint32_t)n;
    return 0;
}

int chunk_reader_init(struct chunk_reader *reader, enum chunk_kind kind, struct slice bytes, struct error *err)
{
    struct slice rest = slice_sub(bytes, 1, SIZE_MAX);
    const char *name = chunk_kind_name(kind);
    uint64_t n;
    size_t hash_bytes;

    if (!is_kind(kind))
        return error_set(err, ERR_CORRUPT, "a chunk has kind %u, known are 1 to %u", (unsigned)kind, CHUNK_KINDS - 1);
    if (bytes.len == 0)
        return error_set(err, ERR_CORRUPT, "a %s chunk is empty, without its version", name);
    if (bytes.ptr[0] != VERSION)
        return error_set(err, ERR_VERSION, "a %s chunk has version %u, this hearth reads version %u", name,
                         (unsigned)(uint8_t)bytes.ptr[0], VERSION);
    if (!varint_next(&rest, &n))
        return error_set(err, ERR_CORRUPT, "a %s chunk of %zu bytes: the count at byte 1 is cut off, or too large",
                         name, bytes.len);
    if (n > CHUNK_MAX_ENTRIES || n > rest.len / least_bytes[kind])
        return error_set(err, ERR_CORRUPT,
                         "a %s chunk claims %" PRIu64
                         " entries at byte 1, but at most %u are allowed and %zu bytes follow",
                         name, n, CHUNK_MAX_ENTRIES, rest.len);
    if (n == 0 && rest.len > 0)
        return error_set(err, ERR_CORRUPT, "a %s chunk without entries has %zu bytes behind byte %zu", name, rest.len,
                         bytes.len - rest.len);
    hash_bytes = kind == CHUNK_STACK ? n * HASH_BYTES : 0;
    *reader = (struct chunk_reader){
        .kind = kind,
        .n = (uint32_t)n,
        .hashes = kind == CHUNK_STACK ? rest.ptr : NULL,
        .whole = bytes,
        .rest = slice_sub(rest, hash_bytes, SIZE_MAX),
    };
    return 0;
}

struct hash128 chunk_stack_hash(const struct chunk_reader *reader, uint32_t i)
{
    const char *at = reader->hashes + (size_t)i * HASH_BYTES;

    ASSERT(reader->kind == CHUNK_STACK && i < reader->n);
    return (struct hash128){ bytes_get_le64(at), bytes_get_le64(at + 8) };
}

int chunk_next_string(struct chunk_reader *reader, struct slice *ret_text, struct error *err)
{
    struct cursor cursor = begin_reading(reader, err);
    struct slice text;
    uint32_t len;

    ASSERT(reader->kind == CHUNK_STRING);
    if (read_count(&cursor, "length", UINT32_MAX, 1, &len) < 0)
        return -1;
    text = slice_of(cursor.at, len);
    cursor.at += len;
    if (end_reading(&cursor) < 0)
        return -1;
    *ret_text = text;
    return 0;
}

int chunk_next_mapping(struct chunk_reader *reader, struct mapping *ret_mapping, struct error *err)
{
    struct cursor cursor = begin_reading(reader, err);
    struct mapping mapping = { 0 };
    uint64_t size;

    ASSERT(reader->kind == CHUNK_MAPPING);
    if (read_int(&cursor, "start", UINT64_MAX, &mapping.start) < 0 ||
        read_int(&cursor, "size", UINT64_MAX, &size) < 0 ||
        read_int(&cursor, "offset", UINT64_MAX, &mapping.offset) < 0 || read_id(&cursor, "file", &mapping.file) < 0 ||
        read_id(&cursor, "build id", &mapping.build_id) < 0 ||
        read_id(&cursor, "Go build id", &mapping.build_id_go) < 0 ||
        read_id(&cursor, "build id hash", &mapping.build_id_hash) < 0 ||
        read_id(&cursor, "flags", &mapping.flags) < 0 || end_reading(&cursor) < 0)
        return -1;
    mapping.limit = mapping.start + size;
    *ret_mapping = mapping;
    return 0;
}

static int read_system_name(struct cursor *cursor, uint32_t name, uint32_t *ret_system_name)
{
    uint64_t code;

    if (read_int(cursor, "system name", (uint64_t)UINT32_MAX + 1, &code) < 0)
        return -1;
    *ret_system_name = code == SYSTEM_NAME_NONE ? 0 : code == SYSTEM_NAME_SAME ? name : (uint32_t)(code - 1);
    return 0;
}

int chunk_next_function(struct chunk_reader *reader, struct function *ret_function, struct error *err)
{
    struct cursor cursor = begin_reading(reader, err);
    struct function function;

    ASSERT(reader->kind == CHUNK_FUNCTION);
    if (read_id(&cursor, "name", &function.name) < 0 ||
        read_system_name(&cursor, function.name, &function.system_name) < 0 ||
        read_id(&cursor, "file", &function.file) < 0 || read_id(&cursor, "start line", &function.start_line) < 0 ||
        end_reading(&cursor) < 0)
        return -1;
    *ret_function = function;
    return 0;
}

static int read_lines(struct cursor *cursor, struct line *lines, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (read_id(cursor, "function of a line", &lines[i].function) < 0 ||
            read_id(cursor, "line", &lines[i].line) < 0 || read_id(cursor, "column", &lines[i].column) < 0)
            return -1;
    return 0;
}

int chunk_next_frame(struct chunk_reader *reader, struct arena *arena, struct frame *ret_frame, struct line **ret_lines,
                     struct error *err)
{
    struct cursor cursor = begin_reading(reader, err);
    struct frame frame = { 0 };
    struct line *lines;
    uint32_t n;

    ASSERT(reader->kind == CHUNK_FRAME);
    if (read_byte(&cursor, "kind", UINT8_MAX, &frame.kind) < 0 ||
        read_byte(&cursor, "flags", UINT8_MAX, &frame.flags) < 0 || read_id(&cursor, "mapping", &frame.mapping) < 0 ||
        read_int(&cursor, "address", UINT64_MAX, &frame.address) < 0 ||
        read_count(&cursor, "line count", UINT16_MAX, LEAST_LINE_BYTES, &n) < 0)
        return -1;
    lines = ARENA_ARRAY(arena, struct line, n, err);
    if (!lines || read_lines(&cursor, lines, n) < 0 || end_reading(&cursor) < 0)
        return -1;
    if (frame.kind > FRAME_ABORT_MARKER)
        frame.kind = FRAME_UNKNOWN; /* a kind that a newer hearth knows */
    frame.n_lines = (uint16_t)n;
    *ret_frame = frame;
    *ret_lines = lines;
    return 0;
}

int chunk_next_stack(struct chunk_reader *reader, struct arena *arena, uint32_t **ret_frames, uint32_t *ret_depth,
                     struct error *err)
{
    struct cursor cursor = begin_reading(reader, err);
    uint64_t frame = 0;
    uint32_t depth;
    uint32_t *frames;

    ASSERT(reader->kind == CHUNK_STACK);
    if (read_count(&cursor, "depth", CONTENT_MAX_DEPTH, 1, &depth) < 0)
        return -1;
    frames = ARENA_ARRAY(arena, uint32_t, depth, err);
    if (!frames)
        return -1;
    for (uint32_t i = depth; i-- > 0;) {
        uint64_t delta;
        const char *next = varint_get(cursor.at, cursor.end, &delta);

        if (UNLIKELY(!next))
            return FAIL(&cursor, "frame cut off, or too large for 64 bits");
        frame += (uint64_t)varint_unzigzag(delta); /* a sum below 0 wraps to a large one */
        if (UNLIKELY(frame > UINT32_MAX))
            return FAIL(&cursor, "frame id does not fit 32 bits");
        cursor.at = next;
        frames[i] = (uint32_t)frame;
    }
    if (end_reading(&cursor) < 0)
        return -1;
    *ret_frames = frames;
    *ret_depth = depth;
    return 0;
}

static int read_label(struct cursor *cursor, struct label *label)
{
    uint64_t number;
    uint8_t kind;

    if (read_id(cursor, "label key", &label->key) < 0 || read_byte(cursor, "label kind", LABEL_JSON, &kind) < 0)
        return -1;
    label->kind = kind;
    if (has_text(kind))
        return read_id(cursor, "label text", &label->text);
    if (read_int(cursor, "label number", UINT64_MAX, &number) < 0)
        return -1;
    label->number = varint_unzigzag(number);
    return read_id(cursor, "label unit", &label->unit);
}

int chunk_next_label_set(struct chunk_reader *reader, struct arena *arena, struct label **ret_labels, uint32_t *ret_n,
                         struct error *err)
{
    struct cursor cursor = begin_reading(reader, err);
    struct label *labels;
    uint32_t n;

    ASSERT(reader->kind == CHUNK_LABEL_SET);
    if (read_count(&cursor, "label count", UINT32_MAX, LEAST_LABEL_BYTES, &n) < 0)
        return -1;
    labels = ARENA_ARRAY(arena, struct label, n, err);
    if (!labels)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        labels[i] = (struct label){ 0 };
        if (read_label(&cursor, &labels[i]) < 0)
            return -1;
    }
    if (end_reading(&cursor) < 0)
        return -1;
    *ret_labels = labels;
    *ret_n = n;
    return 0;
}

/* --- skipping --- */

static int skip_bytes(struct cursor *cursor, size_t n)
{
    if ((size_t)(cursor->end - cursor->at) < n)
        return FAIL(cursor, "cut off");
    cursor->at += n;
    return 0;
}

/* Passes over `n` varints, whatever they hold: each ends with its first byte below 0x80. */
static int skip_ints(struct cursor *cursor, uint32_t n)
{
    const char *at = cursor->at;

    for (; n > 0 && at < cursor->end; at++)
        n -= (uint8_t)*at < 0x80;
    if (n > 0)
        return FAIL(cursor, "cut off");
    cursor->at = at;
    return 0;
}

static int skip_string(struct cursor *cursor)
{
    uint32_t len;

    if (read_count(cursor, "length", UINT32_MAX, 1, &len) < 0)
        return -1;
    return skip_bytes(cursor, len);
}

static int skip_frame(struct cursor *cursor)
{
    uint32_t n;

    if (skip_bytes(cursor, 2) < 0 || skip_ints(cursor, 2) < 0 ||
        read_count(cursor, "line count", UINT16_MAX, LEAST_LINE_BYTES, &n) < 0)
        return -1;
    return skip_ints(cursor, 3 * n);
}

static int skip_stack(struct cursor *cursor)
{
    uint32_t depth;

    if (read_count(cursor, "depth", CONTENT_MAX_DEPTH, 1, &depth) < 0)
        return -1;
    return skip_ints(cursor, depth);
}

static int skip_label_set(struct cursor *cursor)
{
    uint32_t n;
    uint8_t kind;

    if (read_count(cursor, "label count", UINT32_MAX, LEAST_LABEL_BYTES, &n) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (skip_ints(cursor, 1) < 0 || read_byte(cursor, "label kind", LABEL_JSON, &kind) < 0 ||
            skip_ints(cursor, has_text(kind) ? 1 : 2) < 0)
            return -1;
    return 0;
}

static int skip_any(struct cursor *cursor)
{
    switch (cursor->reader->kind) {
    case CHUNK_STRING: return skip_string(cursor);
    case CHUNK_MAPPING: return skip_ints(cursor, 8);
    case CHUNK_FUNCTION: return skip_ints(cursor, 4);
    case CHUNK_FRAME: return skip_frame(cursor);
    case CHUNK_STACK: return skip_stack(cursor);
    case CHUNK_LABEL_SET: return skip_label_set(cursor);
    }
    return FAIL(cursor, "the kind is unknown");
}

int chunk_skip(struct chunk_reader *reader, struct error *err)
{
    struct cursor cursor = begin_reading(reader, err);

    return skip_any(&cursor) < 0 ? -1 : end_reading(&cursor);
}

void chunk_put(struct chunk_writer *writer, const struct chunk_entry *entry)
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

int chunk_next(struct chunk_reader *reader, struct arena *arena, struct chunk_entry *ret_entry, struct error *err)
{
    *ret_entry = (struct chunk_entry){ .n = 0 };
    switch (reader->kind) {
    case CHUNK_STRING: return chunk_next_string(reader, &ret_entry->text, err);
    case CHUNK_MAPPING: return chunk_next_mapping(reader, &ret_entry->mapping, err);
    case CHUNK_FUNCTION: return chunk_next_function(reader, &ret_entry->function, err);
    case CHUNK_FRAME: return chunk_next_frame(reader, arena, &ret_entry->frame, &ret_entry->lines, err);
    case CHUNK_STACK:
        ret_entry->hash = chunk_stack_hash(reader, reader->at);
        return chunk_next_stack(reader, arena, &ret_entry->frames, &ret_entry->n, err);
    case CHUNK_LABEL_SET: return chunk_next_label_set(reader, arena, &ret_entry->labels, &ret_entry->n, err);
    }
    return error_set(err, ERR_CORRUPT, "there is no kind %d of entries", (int)reader->kind);
}
