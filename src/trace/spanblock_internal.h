// SPDX-License-Identifier: Apache-2.0
/* What writers and readers of blocks share, and what the writer gathers (docs/format-traces.md). */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "trace/spanblock.h"
#include "trace/spantexts_internal.h"

#define SPANBLOCK_VERSION        1
#define SPANBLOCK_HEADER_VERSION 1

/* The sections of a body, in their order. On disk. */
enum spanblock_section {
    SPANBLOCK_IDS,       /* of traces and spans, and of parents that are not in the block */
    SPANBLOCK_TIMES,     /* starts and durations */
    SPANBLOCK_MEMBERS,   /* runs, classes, parents */
    SPANBLOCK_TABLES,    /* texts, services, scopes, shapes, classes, and where columns of attributes end */
    SPANBLOCK_RESOURCES, /* their attributes */
    SPANBLOCK_NUMBERS,   /* of attributes: columns, */
    SPANBLOCK_LETTERS,   /* texts, */
    SPANBLOCK_BYTES_OF,  /* and ids */
    SPANBLOCK_EXTRA,     /* what few spans have */
};
#define SPANBLOCK_SECTION_COUNT (SPANBLOCK_EXTRA + 1)

/* How a section is kept. */
enum spanblock_packing { SPANBLOCK_STORED, SPANBLOCK_PACKED };

/* The parents of spans, in SPANBLOCK_MEMBERS. */
enum {
    SPANBLOCK_NO_PARENT,
    SPANBLOCK_FOREIGN_PARENT, /* its id is the next of SPANBLOCK_IDS */
    SPANBLOCK_NEAR_PARENT,    /* plus the distance, zigzag: from the parent's place in the run to the span's */
};

/* What extras of a span there are: a byte in front of them. */
enum {
    SPANBLOCK_HAS_MESSAGE = 1,
    SPANBLOCK_HAS_STATE = 2,
    SPANBLOCK_HAS_DROPPED = 4, /* attributes */
    SPANBLOCK_HAS_EVENTS = 8,  /* or links */
    SPANBLOCK_EXTRA_MASK = 15,
};

/* Whether values of a kind are texts. */
static inline bool spanblock_is_text(enum span_value_kind kind)
{
    return kind == SPAN_VALUE_TEXT || kind == SPAN_VALUE_BYTES || kind == SPAN_VALUE_JSON;
}

/* --- what a writer gathers --- */

struct spanblock_row {
    uint8_t trace_id[SPAN_TRACE_ID_BYTES];
    uint8_t span_id[SPAN_ID_BYTES];
    uint8_t parent_id[SPAN_ID_BYTES];
    int64_t start_ns, duration_ns;
    uint32_t class_id;
    uint32_t first_value;
    uint32_t extra_start, extra_len;
};

struct spanblock_resource_item {
    uint32_t service; /* text */
    struct slice attributes;
};
struct spanblock_scope_item {
    uint32_t name, version; /* texts */
};
struct spanblock_key_item {
    uint32_t key; /* text */
    uint32_t kind;
};
struct spanblock_shape_item {
    uint32_t first_key, n_keys;
};
struct spanblock_class_item {
    uint32_t shape, resource, name, kind, status, flags, scope; /* name is a text; scope 0 = none */
};

struct spanblock_writer {
    struct arena arena; /* texts and attributes of resources */
    struct hash_set text_set, resource_set, scope_set, shape_set, class_set;
    VEC(struct slice) texts;
    VEC(struct spanblock_resource_item) resources;
    VEC(struct spanblock_scope_item) scopes;
    VEC(struct spanblock_key_item) keys;
    VEC(struct spanblock_shape_item) shapes;
    VEC(struct spanblock_class_item) classes;
    VEC(struct spanblock_row) rows;
    VEC(uint64_t) values; /* of attributes: texts by number, the others as bits */
    VEC(uint64_t) prefixes;
    size_t text_bytes; /* of all values that are texts */
    struct buffer extras;
    struct buffer scratch;
    /* Of finishing. */
    struct arena work;
    struct spantexts_out columns;
    struct buffer section, tables;
};

/* Appends the header of what was gathered; `work` has room for a while. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int spanblock_header_encode(struct spanblock_writer *writer, uint32_t n_runs, struct packer *packer,
                                       struct buffer *out, struct error *err);

/* Appends `content`, compressed in pieces of `piece_bytes`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int spanblock_pack(struct slice content, size_t piece_bytes, struct packer *packer, struct buffer *out,
                              struct error *err);

/* --- what a reader has --- */

/* A column of one attribute of one shape: values of its spans in the order of classes. */
struct spanblock_column {
    struct slice key;
    enum span_value_kind kind;
    struct spantexts_in streams; /* its parts of the sections, once those are inflated */
    size_t ends[3];              /* of numbers, letters and bytes within them */
    bool is_read;
    uint32_t n_texts;
    const struct slice *texts; /* of kinds that are texts, */
    const uint32_t *indexes;   /* and which of them each value is; NULL = its own, or the only one */
    const uint64_t *numbers;   /* of the others */
};

struct spanblock_shape {
    struct spanblock_column *columns;
    uint32_t n_columns;
    uint32_t first, n_spans; /* its spans in the order of classes */
};

/* Extras of a span, by place. */
struct spanblock_extra {
    uint32_t span;
    struct slice bytes;
};

struct spanblock_inside {
    struct arena *arena;
    struct unpacker *unpacker;
    struct {
        struct slice bytes; /* as they are on disk */
        size_t len;         /* inflated */
        enum spanblock_packing packing;
    } sections[SPANBLOCK_SECTION_COUNT];
    struct span_resource *resources; /* with services; attributes once they were asked for */
    uint32_t n_resources;
    bool has_resources;
    struct span_scope *scopes;
    uint32_t n_scopes;
    struct spanblock_shape *shapes;
    uint32_t n_shapes;
    bool has_columns;      /* the streams of columns are set */
    const uint32_t *ranks; /* the place of each span in the order of classes; NULL until asked for */
    bool has_extras;
    const struct spanblock_extra *extras; /* by span */
    uint32_t n_extras;
};

/* Inflates a section into the arena. Errors: ERR_CORRUPT, ERR_LIMIT (of the arena), ERR_MEMORY. */
MUST_CHECK int spanblock_load_section(struct spanblock_inside *inside, enum spanblock_section section,
                                      struct slice *ret_content, struct error *err);
/* Reads TABLES: classes, shapes, services, scopes. */
MUST_CHECK int spanblock_read_tables(struct spanblock *block, struct error *err);
/* The attributes of a span, from the arena. */
MUST_CHECK int spanblock_read_attributes(struct spanblock *block, uint32_t span, struct span_attributes *ret_attributes,
                                         struct error *err);
/* As spanblock_find_attribute, without the resource. */
MUST_CHECK int spanblock_find_own_attribute(struct spanblock *block, uint32_t span, struct slice key, bool *ret_has,
                                            struct span_value *ret_value, struct error *err);
