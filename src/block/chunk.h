// SPDX-License-Identifier: Apache-2.0
/* Dictionary chunks: the strings, mappings, functions, frames, stacks and label sets that rows refer to, in the order
 * in which they were given ids.
 *
 * A chunk holds entries of one kind with dense ids: its key names the first (storekey.h), the others follow. Ids of a
 * kind begin at 1 in each tenant and day; 0 is "none". An entry refers only to entries of lower kinds, in its own
 * chunk's write or an earlier one. The same content may occur under several ids (the caches of writers are bounded):
 * whoever compares must compare content; stacks carry their content hash for that.
 *
 * As bytes: byte 1 (the version), int n, then n entries (varints; signed ones zigzag):
 *   string     int length, the bytes
 *   mapping    int start, limit - start, offset, file, build_id, build_id_go, build_id_hash, flags
 *   function   int name, system_name (0 = none, 1 = as name, else id + 1), file, start_line
 *   frame      byte kind, byte flags, int mapping, int address, int n_lines, n_lines * (int function, int line,
 *              int column)
 *   stack      first n * 16 bytes: the hashes (a, b little endian); then per stack int depth, depth * signed (frame -
 *              frame before), ROOT FIRST, the first from 0
 *   label set  int n, n * (int key, byte kind, then text: int text; number: signed number, int unit)
 * Kinds LABEL_STRING, LABEL_BYTES and LABEL_JSON have text, the others a number. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/hash.h"
#include "profile/tables.h"

enum chunk_kind {
    CHUNK_STRING = 1,
    CHUNK_MAPPING,
    CHUNK_FUNCTION,
    CHUNK_FRAME,
    CHUNK_STACK,
    CHUNK_LABEL_SET,
};
#define CHUNK_KINDS       7 /* one more than the last */
#define CHUNK_MAX_ENTRIES (1u << 24)

/* "string", "mapping" ... in the singular; "unknown" for anything else. */
const char *chunk_kind_name(enum chunk_kind kind);

/* A chunk being made. Entries are appended in id order; chunk_writer_finish puts header and entries together. */
struct chunk_writer {
    enum chunk_kind kind;
    uint32_t n;
    struct buffer hashes; /* stacks only */
    struct buffer entries;
};
/* At most about `max_bytes` of entries (0 = no limit): an entry is taken when its longest form has room. Allocates
 * nothing yet. Thread: one at a time. */
void chunk_writer_init(struct chunk_writer *writer, enum chunk_kind kind, size_t max_bytes);
void chunk_writer_done(struct chunk_writer *writer);
/* Empty again, also after a failure; keeps the memory. */
void chunk_writer_clear(struct chunk_writer *writer);
/* Each is for writers of its kind alone. */
void chunk_put_string(struct chunk_writer *writer, struct slice text);
void chunk_put_mapping(struct chunk_writer *writer, const struct mapping *mapping);
void chunk_put_function(struct chunk_writer *writer, const struct function *function);
void chunk_put_frame(struct chunk_writer *writer, const struct frame *frame, const struct line *lines);
/* `frames` leaf first, as in tables.h; at most CONTENT_MAX_DEPTH of them. */
void chunk_put_stack(struct chunk_writer *writer, struct hash128 hash, const uint32_t *frames, uint32_t depth);
void chunk_put_label_set(struct chunk_writer *writer, const struct label *labels, uint32_t n);
/* An entry of whatever kind; the parts of other kinds stay zero. */
struct chunk_entry {
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
/* The entry, by the writer's kind. */
void chunk_put(struct chunk_writer *writer, const struct chunk_entry *entry);
/* Appends the whole chunk to `out`. What went wrong, if anything, here or while entries were put, says buffer_check of
 * `out`. */
void chunk_writer_finish(const struct chunk_writer *writer, struct buffer *out);

/* A chunk being read, entry by entry. The reader borrows `bytes`. */
struct chunk_reader {
    enum chunk_kind kind;
    uint32_t n;         /* entries in all */
    uint32_t at;        /* the entry that comes next, from 0 */
    const char *hashes; /* stacks only: n * 16 bytes */
    struct slice whole, rest;
};
/* Errors: ERR_CORRUPT, ERR_VERSION. */
MUST_CHECK int chunk_reader_init(struct chunk_reader *reader, enum chunk_kind kind, struct slice bytes,
                                 struct error *err);
/* The hash of stack `i` of the chunk (0 <= i < n). */
struct hash128 chunk_stack_hash(const struct chunk_reader *reader, uint32_t i);
/* The next entry. Not to be called when at == n, or for another kind. Ids inside are the dictionary's, unchecked but
 * within 32 bits. Lines, frames and labels are written to `arena`; strings borrow the bytes. A frame kind that is not
 * known becomes FRAME_UNKNOWN. On failure the reader stands where it stood. Errors: ERR_CORRUPT with entry and offset
 * (also for bytes behind the last entry), ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int chunk_next_string(struct chunk_reader *reader, struct slice *ret_text, struct error *err);
MUST_CHECK int chunk_next_mapping(struct chunk_reader *reader, struct mapping *ret_mapping, struct error *err);
MUST_CHECK int chunk_next_function(struct chunk_reader *reader, struct function *ret_function, struct error *err);
MUST_CHECK int chunk_next_frame(struct chunk_reader *reader, struct arena *arena, struct frame *ret_frame,
                                struct line **ret_lines, struct error *err);
/* `ret_frames` leaf first. */
MUST_CHECK int chunk_next_stack(struct chunk_reader *reader, struct arena *arena, uint32_t **ret_frames,
                                uint32_t *ret_depth, struct error *err);
MUST_CHECK int chunk_next_label_set(struct chunk_reader *reader, struct arena *arena, struct label **ret_labels,
                                    uint32_t *ret_n, struct error *err);
/* The next entry of whatever kind the reader has; stacks with their hashes. Errors: those of its kind. */
MUST_CHECK int chunk_next(struct chunk_reader *reader, struct arena *arena, struct chunk_entry *ret_entry,
                          struct error *err);
/* Skips the next entry, of any kind, without decoding more than it must: what can be read is skipped to the same place,
 * but not all that is skipped could be read. Errors: ERR_CORRUPT. */
MUST_CHECK int chunk_skip(struct chunk_reader *reader, struct error *err);
