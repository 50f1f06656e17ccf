// SPDX-License-Identifier: Apache-2.0
/* Reading OTLP requests, protobuf with canonical or older field numbers, into a batch, in three steps:
 *
 *   document     finds the dictionary and the layout, and counts what is in the tables, so that arrays get their size
 *   dictionary   strings, attributes, mappings, functions, links, locations, stacks: an index of the request is an id
 *                of ours but for an offset, so that checking a reference is one comparison
 *   profiles     samples become rows; their lists of attributes are interned as bytes
 *
 * Indexes are signed varints; a negative one arrives as a huge unsigned value, and is out of range as any other. */
#pragma once

#include "base/hash.h"
#include "wire/otlp_document_internal.h"
#include "wire/otlp_packed_internal.h"

/* How the indexes of one table become ids. */
struct otlp_index {
    uint32_t n;
    uint32_t offset;
    bool has_none; /* index 0 means none; else it is an entry as any other */
};

static inline bool otlp_index_find(const struct otlp_index *index, uint64_t raw, uint32_t *ret_id)
{
    if (raw == 0 && index->has_none) {
        *ret_id = 0;
        return true;
    }
    if (UNLIKELY(raw >= index->n))
        return false;
    *ret_id = index->offset + (uint32_t)raw;
    return true;
}

/* What an attribute is for, by its key. */
enum otlp_meaning {
    OTLP_PLAIN,
    OTLP_FRAME_TYPE,
    OTLP_IS_FOLDED,
    OTLP_BUILD_ID_GNU,
    OTLP_BUILD_ID_GO,
    OTLP_BUILD_ID_HASH,
    OTLP_HAS_FUNCTIONS,
    OTLP_HAS_FILENAMES,
    OTLP_HAS_LINE_NUMBERS,
    OTLP_HAS_INLINE_FRAMES,
    OTLP_COMMENT,
    OTLP_DROP_FRAMES,
    OTLP_KEEP_FRAMES,
    OTLP_DOC_URL,
    OTLP_DEFAULT_SAMPLE_TYPE,
    OTLP_SAMPLE_TYPE_ORDER,
};

/* An entry of the attribute table: one label, or one for each item of a list. */
struct otlp_attribute {
    uint32_t first; /* of the decoder's attribute_labels */
    uint32_t n;
    enum otlp_meaning meaning;
    enum frame_kind frame_kind; /* of OTLP_FRAME_TYPE */
};

/* A list of attributes of at most eight bytes, as all but a few are, and its label set. */
struct otlp_set_memo {
    uint64_t bytes;
    uint32_t len; /* 0 = nothing here */
    uint32_t set;
};
#define OTLP_SET_MEMOS 256

/* Arrays in the arena that grow as they are filled; see otlp_read_reserve. */
struct otlp_capacities {
    uint32_t strings, lines, labels, label_sets, stacks, stack_frames, attribute_labels, known_sets, known_stacks;
};

struct otlp_decoder {
    struct batch *batch;
    struct tables *tables;
    struct arena *arena;
    struct report *report;
    struct otlp_capacities capacity;
    struct error failure; /* of lines, which are added where there is no way to tell; code ERR_OK while all is well */

    /* of the request being read */
    const struct otlp_document *document;
    struct otlp_index strings, mappings, functions, locations, links, stacks, attribute_index;
    struct otlp_attribute *attributes;
    struct label *attribute_labels;
    uint32_t n_attribute_labels;
    struct hash_set set_hashes; /* attribute lists met so far, as bytes; the n-th is label set known_sets[n] */
    uint32_t *known_sets;
    struct otlp_set_memo memo[OTLP_SET_MEMOS]; /* short lists met lately */
    struct hash_set stack_hashes;              /* L7: stacks met so far; the n-th is stack known_stacks[n] */
    uint32_t *known_stacks;

    uint8_t *bad_stacks;   /* a bit for each stack that refers to a missing location */
    uint32_t n_bad_stacks; /* bits; stacks behind them are good */
    uint64_t n_samples;    /* of all profiles so far */
    struct buffer text;    /* scratch */
};

/* How long a list or map may be as JSON: a few bytes can refer to a long string many times. */
#define OTLP_MAX_JSON_BYTES (1 << 20)

/* Reads the requests into `batch`, which is empty. */
MUST_CHECK int otlp_read(struct otlp_document *documents, uint32_t n, struct batch *batch, struct error *err);

/* --- pieces that the parts share --- */

/* Sets ERR_CORRUPT for what a reader of the document met; returns -1. By value, so that readers in hot loops need no
 * address. */
int otlp_read_failed(const struct otlp_decoder *decoder, struct protobuf_reader failed, struct error *err);

/* Room for `needed` items in an array that lives in the arena. */
MUST_CHECK int otlp_read_reserve(struct arena *arena, void **items, uint32_t *capacity, uint64_t needed,
                                 size_t item_bytes, struct error *err);
#define OTLP_RESERVE(decoder, items, which, needed, err)                                                               \
    ((needed) <= (decoder)->capacity.which                                                                             \
         ? 0                                                                                                           \
         : otlp_read_reserve((decoder)->arena, (void **)&(items), &(decoder)->capacity.which, (needed),                \
                             sizeof(*(items)), (err)))

/* Adds a text that is not in the string table; the empty one is string 0. */
MUST_CHECK int otlp_read_add_string(struct otlp_decoder *decoder, struct slice text, uint32_t *ret_id,
                                    struct error *err);
/* A string by its index; what is out of range is reported and empty. */
uint32_t otlp_read_missing_string(struct otlp_decoder *decoder, uint64_t index);
static inline uint32_t otlp_read_string(struct otlp_decoder *decoder, uint64_t index)
{
    uint32_t id;

    return LIKELY(otlp_index_find(&decoder->strings, index, &id)) ? id : otlp_read_missing_string(decoder, index);
}
/* A value type from a ValueType message. */
struct value_type otlp_read_value_type(struct otlp_decoder *decoder, struct protobuf_reader *reader);

/* --- otlp_dictionary.c --- */

/* Tables with nothing but their "none" entries, and room for the dictionaries of all documents. */
MUST_CHECK int otlp_dictionary_allocate(struct otlp_decoder *decoder, const struct otlp_document *documents, uint32_t n,
                                        struct error *err);
MUST_CHECK int otlp_dictionary_read(struct otlp_decoder *decoder, struct error *err);

/* --- otlp_frames.c, otlp_stacks.c --- */

/* The location table. */
MUST_CHECK int otlp_frames_read(struct otlp_decoder *decoder, bool has_none, struct error *err);
/* The stack table. */
MUST_CHECK int otlp_stacks_read(struct otlp_decoder *decoder, bool has_none, struct error *err);
/* L7, which has none: the stack of `depth` frames, made if it is new. */
MUST_CHECK int otlp_stacks_add(struct otlp_decoder *decoder, const uint32_t *frames, uint32_t depth,
                               uint32_t *ret_stack, struct error *err);
/* Whether a stack refers to a location that does not exist. */
static inline bool otlp_stacks_is_bad(const struct otlp_decoder *decoder, uint32_t stack)
{
    return stack < decoder->n_bad_stacks && (decoder->bad_stacks[stack / 8] >> stack % 8 & 1) != 0;
}

/* --- otlp_attributes.c --- */

/* What the attributes of a scope say about the profiles in it. */
struct otlp_scope_hints {
    uint32_t default_type; /* string; 0 = not said */
    uint32_t n_order;
    int64_t order[PROFILE_MAX_TYPES]; /* profile i of the scope was sample type order[i] */
};

/* The key of a meaning other than OTLP_PLAIN. */
const char *otlp_attributes_key(enum otlp_meaning meaning);
/* Reads the attribute table of the document. */
MUST_CHECK int otlp_attributes_read(struct otlp_decoder *decoder, struct error *err);
/* The label set of the KeyValue messages in field `field` of `message`. With `hints`, those meant for it go there. */
MUST_CHECK int otlp_attributes_of(struct otlp_decoder *decoder, struct slice message, uint32_t field,
                                  struct otlp_scope_hints *hints, uint32_t *ret_set, struct error *err);
/* The label set of a list of attribute indexes; equal lists get equal ids. */
MUST_CHECK int otlp_attributes_set(struct otlp_decoder *decoder, const struct otlp_packed *indexes, uint32_t *ret_set,
                                   struct error *err);
/* The attributes of a profile: those that have a field in the model go there, the others become a label set. */
MUST_CHECK int otlp_attributes_of_profile(struct otlp_decoder *decoder, const struct otlp_packed *indexes,
                                          struct profile *profile, struct error *err);
/* Attribute `index`, or NULL, which is reported unless it means none. `where` names whose it is. */
const struct otlp_attribute *otlp_attributes_get(struct otlp_decoder *decoder, uint64_t index, const char *where);
static inline const struct label *otlp_attributes_label(const struct otlp_decoder *decoder,
                                                        const struct otlp_attribute *attribute)
{
    return &decoder->attribute_labels[attribute->first];
}

/* --- otlp_samples.c --- */

/* L7: what the location indices of a profile refer to. */
struct otlp_locations {
    const uint32_t *frames; /* OTLP_NO_FRAME where there is no such location */
    uint32_t n;
};
#define OTLP_NO_FRAME UINT32_MAX

/* Reads the samples of a profile, whose types are known, into its columns. `number` names it in reports. */
MUST_CHECK int otlp_samples_read(struct otlp_decoder *decoder, struct profile *profile, uint32_t number,
                                 const struct otlp_range *range, const struct otlp_locations *locations,
                                 struct error *err);

/* --- otlp_profiles.c --- */

/* Reads the resources, scopes and profiles of the document; adds to batch->profiles. */
MUST_CHECK int otlp_profiles_read(struct otlp_decoder *decoder, struct error *err);

/* --- otlp_join.c --- */

/* Puts the `n` profiles of one scope into the order that the hints tell, and makes one of them where they are the
 * columns of one: same window, same rows. Returns in `ret_n` how many there are now. */
MUST_CHECK int otlp_join(struct otlp_decoder *decoder, const struct otlp_scope_hints *hints, struct profile *profiles,
                         uint32_t n, uint32_t *ret_n, struct error *err);
