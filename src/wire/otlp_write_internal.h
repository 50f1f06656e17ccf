// SPDX-License-Identifier: Apache-2.0
/* Writing OTLP, layout L10.
 *
 * Tables are built while the profiles are written, from what they refer to: each entry is encoded, and entries of equal
 * bytes are one. So nothing is there twice and nothing is there in vain, whatever the tables of the batch hold. */
#pragma once

#include "base/hash.h"
#include "wire/otlp_read_internal.h"

#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Appends all profiles of the batch as one ProfilesData message. */
MUST_CHECK int otlp_write(const struct batch *batch, struct buffer *out, struct error *err);
/* Appends the bytes as the options ask: compressed or not. */
MUST_CHECK int otlp_write_packed(struct slice plain, const struct format_write_options *options, struct buffer *out,
                                 struct error *err);

/* A table of the dictionary in the making: its entries as fields of the dictionary, one behind the other. */
struct otlp_writer_table {
    struct buffer fields;
    struct hash_set hashes;
};

struct otlp_writer {
    const struct tables *tables; /* of the batch */
    struct arena arena;
    struct otlp_writer_table out[OTLP_TABLE_COUNT];
    struct error failure; /* the first one; code ERR_OK while all is well */

    /* Index in the new table of each entry of the batch's tables; OTLP_NOT_MET = it has none yet. */
    uint32_t *strings, *mappings, *functions, *frames, *stacks, *links;
    struct slice *label_sets; /* their attribute indexes, packed; ptr NULL = not met yet */

    /* Scratch: a text being repaired, an attribute value, the indexes of a label set, and the entry made of those. */
    struct buffer text, value, indexes, entry;

    /* Keys and texts of resources and scopes are indexes into the string table, also inside lists and maps. The
     * collector demands it: it takes an index of 0 for one, and so loses plain keys. Values of the attribute table, on
     * the other hand, are plain. */
    bool uses_indexes;
};

#define OTLP_NOT_MET UINT32_MAX

MUST_CHECK int otlp_writer_init(struct otlp_writer *writer, const struct batch *batch, struct error *err);
void otlp_writer_done(struct otlp_writer *writer);
/* 0, or the first failure of the writer and its tables. */
MUST_CHECK int otlp_writer_check(const struct otlp_writer *writer, struct error *err);
/* Appends the fields of the dictionary. */
void otlp_writer_put_dictionary(const struct otlp_writer *writer, struct buffer *out);

/* Indexes in the new tables, each added if it is new. A writer that has failed gives 0. */
uint32_t otlp_writer_string(struct otlp_writer *writer, uint32_t id);
uint32_t otlp_writer_stack(struct otlp_writer *writer, uint32_t id);
uint32_t otlp_writer_link(struct otlp_writer *writer, uint32_t id);
/* The attribute indexes of a label set, packed; valid as long as the writer. */
struct slice otlp_writer_label_set(struct otlp_writer *writer, uint32_t id);
/* An attribute of one text (a string of the batch). */
uint32_t otlp_writer_text_attribute(struct otlp_writer *writer, enum otlp_meaning meaning, uint32_t string);
/* An attribute that is a list of texts. */
uint32_t otlp_writer_list_attribute(struct otlp_writer *writer, enum otlp_meaning meaning, const uint32_t *strings,
                                    uint32_t n);

/* Appends the labels of a set as KeyValue messages of a resource or scope in field `field`. */
void otlp_writer_put_key_values(struct otlp_writer *writer, struct buffer *out, uint32_t field, uint32_t label_set);
/* Appends the key of a KeyValue, or the text of an AnyValue, of a resource or scope. */
void otlp_writer_put_key(struct otlp_writer *writer, struct buffer *out, struct slice key);
void otlp_writer_put_string(struct otlp_writer *writer, struct buffer *out, struct slice text);
/* Appends a bytes field that holds text, repaired where it is not UTF-8. */
void otlp_writer_put_text(struct otlp_writer *writer, struct buffer *out, uint32_t field, struct slice text);
