// SPDX-License-Identifier: Apache-2.0
/* Builds a batch piece by piece: everything is interned by content, so equal things get one id, and equal samples
 * (same stack, labels and link) become one row whose values add up.
 *
 * B1  Nothing fails at the call: on the first failure (memory, a limit) the builder turns "failed", ids become 0, and
 *     builder_finish reports it. So building code has no error paths.
 * B2  Strings are copied. Nothing given to the builder is kept.
 * B3  Ids handed out are those of the finished batch.
 * B4  At half of `max_memory_bytes` (so that the last doubling of a table still fits) a builder with `overflow` set goes
 *     on without growing: samples with new stacks are added to the stack "[overflow]", new labels and links are left
 *     off. Totals stay exact, and the report says how many. Without `overflow` the builder fails: ERR_LIMIT. */
#pragma once

#include "profile/content.h"
#include "profile/profile.h"

struct builder;

struct builder_options {
    struct profile_limits limits; /* zeros = the defaults */
    bool keep_addresses;          /* frames with equal lines but other addresses stay apart, as pprof does */
    bool overflow;                /* B4 */
    uint64_t seed;                /* of the content hashes */
};

/* A new builder with the "none" entries. `options` may be NULL. Errors: ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int builder_new(const struct builder_options *options, struct builder **ret_builder, struct error *err);
void builder_free(struct builder *builder);
void builder_freep(struct builder **builder);

/* Interning. String ids inside the structs are the builder's own. */
uint32_t builder_string(struct builder *builder, struct slice text);
uint32_t builder_mapping(struct builder *builder, const struct mapping *mapping);
uint32_t builder_function(struct builder *builder, const struct function *function);
/* `lines` has frame->n_lines entries, innermost first; frame->first_line is ignored. */
uint32_t builder_frame(struct builder *builder, const struct frame *frame, const struct line *lines);
/* `frames` leaf first; deeper than the limit is cut at the root end and reported. */
uint32_t builder_stack(struct builder *builder, const uint32_t *frames, uint32_t depth);
/* The order of labels matters; sort them where it should not. */
uint32_t builder_label_set(struct builder *builder, const struct label *labels, uint32_t n);
uint32_t builder_link(struct builder *builder, const struct link *link);

/* What is in the builder so far, for code that looks at what it made. Valid until the next call that adds. */
const struct tables *builder_tables(const struct builder *builder);

/* Starts a profile; samples go to the newest one. Header fields are set through the pointer, which stays valid until
 * the next builder_profile: types (through builder_type), period_type, start_ns, labels, ...; leave the columns alone.
 * NULL never: a failed builder gives a scratch profile. */
struct profile *builder_profile(struct builder *builder);
/* Adds a value type to the newest profile and returns its index; an equal one (type and unit) is found again. Rows
 * added before get 0 in the new column. */
uint32_t builder_type(struct builder *builder, struct value_type type);
/* Adds a sample to the newest profile: `values` has one entry per type. Equal rows add up, saturating (reported).
 * `count` is how many raw samples it stands for, 0 = unknown (then the profile has no counts column). */
void builder_sample(struct builder *builder, uint32_t stack, uint32_t label_set, uint32_t link, const int64_t *values,
                    uint64_t count);

/* Warnings gathered on the way; callers add their own. */
struct report *builder_report(struct builder *builder);

/* Moves everything into `batch` (initialised and empty; its arena and limits are used). Afterwards the builder can
 * only be freed. Errors: the first failure of the builder. */
MUST_CHECK int builder_finish(struct builder *builder, struct batch *batch, struct error *err);

/* Importing from other tables by id: each distinct thing is translated once, found by content hash.
 * An import borrows `tables`; free it before they go. NULL and a failed builder when memory runs out (B1). */
struct builder_import;
struct builder_import *builder_import_new(struct builder *builder, const struct tables *tables);
void builder_import_free(struct builder_import *import);
uint32_t builder_import_string(struct builder_import *import, uint32_t id);
uint32_t builder_import_mapping(struct builder_import *import, uint32_t id);
uint32_t builder_import_function(struct builder_import *import, uint32_t id);
uint32_t builder_import_frame(struct builder_import *import, uint32_t id);
uint32_t builder_import_stack(struct builder_import *import, uint32_t id);
uint32_t builder_import_label_set(struct builder_import *import, uint32_t id);
uint32_t builder_import_link(struct builder_import *import, uint32_t id);
/* Starts a profile with the header of `profile` (types, period, window, labels, comments...) but none of its samples.
 */
struct profile *builder_import_header(struct builder_import *import, const struct profile *profile);
