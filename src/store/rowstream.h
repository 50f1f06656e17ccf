// SPDX-License-Identifier: Apache-2.0
/* The rows of one source of one hour, a head or the blocks of one closing, in the order of their keys: tenant, group,
 * series, start, sequence. What is damaged is skipped and counted (day_damage). */
#pragma once

#include "pack/unpacker.h"
#include "store/day.h"
#include "store/idfilter.h"

struct rowstream;

/* Where rows are in a head. */
struct rowstream_place {
    uint32_t tenant, group, series;
    int64_t start_ns;
};
/* Moves to the place behind all rows of the series, or of the group; false if there is none. */
bool rowstream_pass_series(struct rowstream_place *place);
bool rowstream_pass_group(struct rowstream_place *place);

/* What to leave out. Zeros leave out nothing. */
struct rowstream_filter {
    uint32_t tenant;           /* 0 = all */
    int64_t from_ns, until_ns; /* starts of windows; until 0 = no limit */
    /* Whether rows of a series are wanted; NULL = all. */
    bool (*wants)(void *context, uint32_t tenant, uint32_t series);
    /* Heads alone, in place of all that stands above: moves `*place` on to the first one, at it or behind it, that rows are
     * wanted from; false in `*ret_has` if there is none. It need not know which rows there are, and is asked again where
     * the next one lies. */
    int (*seek)(void *context, struct rowstream_place *place, bool *ret_has, struct error *err);
    void *context;  /* of both */
    bool is_sparse; /* likewise: `seek` wants few of the rows */
    /* Leaves out rows, parts and series, as far as that saves work, in which it takes nothing: what comes must still be given
     * to it. NULL = all. Not together with is_strict. */
    struct idfilter *ids;
    bool is_strict; /* damage is an error instead of being skipped: for whoever drops the source afterwards */
};

struct rowstream_item {
    uint32_t tenant, group, series;
    struct headrow row; /* valid until the next call */
};

/* Both borrow `view`. Errors: ERR_MEMORY, those of kv.h. Thread: one at a time. */
MUST_CHECK int rowstream_new_head(const struct day_view *view, const struct day_head *head,
                                  const struct rowstream_filter *filter, struct rowstream **ret_stream,
                                  struct error *err);
MUST_CHECK int rowstream_new_block(const struct day_view *view, uint8_t hour, uint32_t number,
                                   const struct rowstream_filter *filter, struct rowstream **ret_stream,
                                   struct error *err);
/* The rows of a head with these keys, in this order, as far as they are in the view. Borrows the list, too. */
MUST_CHECK int rowstream_new_list(const struct day_view *view, const struct day_head *head,
                                  const struct recents_list *list, struct rowstream **ret_stream, struct error *err);
void rowstream_free(struct rowstream *stream);
void rowstream_freep(struct rowstream **stream);

/* Moves to the next row; false in `*ret_has` at the end. Errors: ERR_IO, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int rowstream_next(struct rowstream *stream, bool *ret_has, struct error *err);
/* The row it stands on. */
struct rowstream_item *rowstream_item(struct rowstream *stream);
/* How many bytes of rows and parts it has read so far, as they are kept. */
uint64_t rowstream_n_bytes(const struct rowstream *stream);

/* Several streams as one, in order. Takes the streams over. */
struct rowmerge {
    struct rowstream **streams;
    bool *has;
    size_t n;
    bool is_started;
    size_t current;
};
void rowmerge_init(struct rowmerge *merge);
MUST_CHECK int rowmerge_add(struct rowmerge *merge, struct rowstream *take_stream, struct error *err);
void rowmerge_done(struct rowmerge *merge);
/* The next row of all, or NULL in `*ret_item` at the end. */
MUST_CHECK int rowmerge_next(struct rowmerge *merge, struct rowstream_item **ret_item, struct error *err);
