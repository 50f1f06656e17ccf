// SPDX-License-Identifier: Apache-2.0
/* One OTLP request before it is read: where its tables lie, and in which layout it is. */
#pragma once

#include "wire/otlp_schema_internal.h"

/* Where the entries of one table lie; fields of other numbers may stand between them. */
struct otlp_range {
    const uint8_t *from;
    const uint8_t *to;
    uint32_t n;
    uint32_t tag; /* of the entries, as it is on the wire */
};

static inline struct protobuf_reader otlp_range_reader(const struct otlp_range *range)
{
    return (struct protobuf_reader){ .at = range->from, .end = range->to };
}

/* The next entry of the table that a reader of its range goes through; false at the end. */
static inline bool otlp_range_next(const struct otlp_range *range, struct protobuf_reader *reader,
                                   struct protobuf_reader *ret_entry)
{
    uint32_t tag;

    while (protobuf_next(reader, &tag)) {
        if (LIKELY(tag == range->tag)) {
            *ret_entry = protobuf_message(reader);
            return true;
        }
        protobuf_skip(reader, tag);
    }
    return false;
}

struct otlp_document {
    struct slice bytes;                     /* set by the caller, */
    const struct otlp_numbering *numbering; /* and so is this where it is known; else NULL, and found out */
    struct slice dictionary;
    bool has_dictionary;
    bool has_tables_at_top;                     /* L6; then nothing is known of the tables */
    struct otlp_range tables[OTLP_TABLE_COUNT]; /* by number in the dictionary; canonical once numbering is known */
    uint64_t n_stack_frames;                    /* at most */
    uint32_t n_profiles;
};

/* Finds the dictionary, its tables, and the numbering. Errors: ERR_CORRUPT, ERR_VERSION (L4, L6), ERR_MEMORY. */
MUST_CHECK int otlp_document_prepare(struct otlp_document *document, struct error *err);
/* The first half of it, which leaves the layout open. */
MUST_CHECK int otlp_document_survey(struct otlp_document *document, struct error *err);
