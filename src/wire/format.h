// SPDX-License-Identifier: Apache-2.0
/* The formats hearth reads and writes, as one table: bytes in, batch out, and back.
 *
 * A format is found by content, never by file name alone. Adding one is adding a row in format.c with its functions. */
#pragma once

#include "base/buffer.h"
#include "pack/unpacker.h"
#include "profile/profile.h"

struct format_write_options {
    enum pack_kind pack; /* how to compress; PACK_NONE leaves it to the custom of the format (pprof: gzip) */
    int level;           /* 0 = the default of the compression */
    bool plain;          /* no compression, whatever the custom */
    uint32_t type;       /* for formats with one value per stack: which; PROFILE_NO_TYPE = the default type */
    struct slice title;  /* for formats that people look at: what it is; may be empty */
};

struct format {
    const char *name;       /* "pprof" */
    const char *summary;    /* one line for --help and docs */
    const char *extensions; /* for choosing the output by name: "pb.gz pprof prof" */
    /* How likely the plain (already decompressed) bytes are of this format: 0 = no, 100 = surely. Looks, never fails.
     */
    int (*recognise)(struct slice bytes);
    /* Decodes plain bytes into `batch` (empty). Strings of the batch may point into `bytes`, which must outlive it.
     * Recoverable damage is dropped and told in batch->report. On failure the batch must be reset before reuse. */
    int (*decode)(struct slice bytes, struct batch *batch, struct error *err);
    /* Appends the batch in this format; NULL = reading only. A format that holds one profile gets a batch of one. */
    int (*encode)(const struct batch *batch, const struct format_write_options *options, struct buffer *out,
                  struct error *err);
    enum pack_kind custom_pack; /* how its files are compressed by custom */
    bool is_binary;             /* not for a terminal */
    bool holds_many;            /* several profiles in one file (OTLP); else encode wants exactly one */
    bool holds_one_type;        /* one value for each stack */
};

/* The table, ended by a row without a name. */
extern const struct format formats[];

/* By name ("pprof"), or NULL. */
const struct format *format_find(struct slice name);
/* By the ending of a file name ("x.pb.gz"), or NULL. */
const struct format *format_find_by_path(struct slice path);
/* Whether a file name has an ending of this one, with that of a compression behind it or without. */
bool format_has_ending(const struct format *format, struct slice path);

/* Reads bytes of any known format (or of `format`, if not NULL): unwraps compression within the limits of the batch,
 * finds the format, decodes. `unpacker` owns the decompressed bytes, which must outlive the batch.
 * Errors: ERR_UNSUPPORTED naming what the bytes look like and what is known; ERR_CORRUPT, ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int format_read(struct slice bytes, const struct format *format, struct unpacker *unpacker,
                           struct batch *batch, const struct format **ret_format, struct error *err);
