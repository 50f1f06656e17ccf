// SPDX-License-Identifier: Apache-2.0
/* What the codecs of this room share: output space, errors, skippable frames, and our heap as their allocator. */
#pragma once

#include "pack/compress.h"

#define COMPRESS_SPARE_BYTES 16 /* readable and zero behind every unpacked content */

/* Space for `n` bytes of content and the spare bytes at the end of `out`; NULL with ERR_MEMORY. */
MUST_CHECK char *compress_reserve(struct buffer *out, size_t n, struct error *err);
/* How large the content of `in_bytes` compressed bytes may well be; a guess, never 0. */
size_t compress_guess_size(size_t in_bytes);
/* How many bytes of content fit behind what is in `out` now, the spare bytes set apart. */
size_t compress_room(const struct buffer *out);

/* Each fills `err` and returns -1. Offsets count from the start of the compressed input. */
int compress_error_limit(enum pack_kind kind, size_t max_bytes, struct error *err);
int compress_error_truncated(enum pack_kind kind, uint64_t in_bytes, struct error *err);
int compress_error_garbage(enum pack_kind kind, uint64_t offset, struct error *err);
int compress_error_memory(enum pack_kind kind, struct error *err);
int compress_error_level(enum pack_kind kind, int level, int min, int max, struct error *err);

/* Skippable frames: 4 bytes of magic 184d2a5?, 4 bytes of length, then bytes that nobody reads. */
bool compress_is_skippable(struct slice in);
/* Moves `at` behind the skippable frame that begins there. Errors: ERR_CORRUPT when it is cut off. */
MUST_CHECK int compress_skip_frame(enum pack_kind kind, struct slice in, size_t *at, struct error *err);

/* memory_alloc and memory_free in the shape that the libraries ask for. */
void *compress_alloc(void *unused, size_t size_bytes);
void compress_free(void *unused, void *ptr);
